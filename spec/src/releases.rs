//! The released versions of the suite: which ids each of them had. An id is never changed and never reused,
//! so the first release that has an id is the version since which the case exists.

use std::collections::HashMap;
use std::sync::OnceLock;

/// The version and the text of every file `spec/releases/<version>.txt`, oldest first.
const RELEASES: &[(&str, &str)] = &[("0.1.0", include_str!("../releases/0.1.0.txt"))];

const WITHDRAWN: &str = include_str!("../releases/withdrawn.txt");

/// The version of the suite: all crates of the workspace share it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The released versions, oldest first.
///
/// ```
/// assert_eq!(broadcheck_spec::releases::versions().next(), Some("0.1.0"));
/// ```
pub fn versions() -> impl Iterator<Item = &'static str> {
    RELEASES.iter().map(|&(version, _)| version)
}

/// The ids of the cases and sweeps of a released version; none of a version that was not released.
pub fn ids(version: &str) -> impl Iterator<Item = &'static str> {
    let release = RELEASES.iter().find(|(known, _)| *known == version);
    release.into_iter().flat_map(|(_, text)| lines(text))
}

/// The ids that a release had and that were withdrawn. They are never reused.
pub fn withdrawn() -> impl Iterator<Item = &'static str> {
    lines(WITHDRAWN)
}

/// The version of the suite in which this id first appeared: that of the first release that has it, and
/// otherwise the current one.
///
/// ```
/// use broadcheck_spec::releases;
/// assert_eq!(releases::since("numpy/examples/vector-onto-matrix"), "0.1.0");
/// assert_eq!(releases::since("numpy/not-released-yet"), releases::VERSION);
/// ```
pub fn since(id: &str) -> &'static str {
    static FIRST: OnceLock<HashMap<&str, &str>> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        // Later entries replace earlier ones, so the oldest release comes last.
        let newest_first = RELEASES.iter().rev();
        newest_first.flat_map(|(version, text)| lines(text).map(move |id| (id, *version))).collect()
    });
    first.get(id).copied().unwrap_or(VERSION)
}

fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}
