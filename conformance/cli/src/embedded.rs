//! What the command contains of the repository, so that it needs no checkout: adapters, findings, histories,
//! known failures and consumers. `build.rs` makes the table from the directory `embedded`.

/// Each file with its path, such as `adapters/numpy_adapter.py`, sorted by path.
const FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// The commit of the source, in hexadecimal; `unknown` if the source was neither a checkout nor a package.
pub const COMMIT: &str = env!("BROADCHECK_COMMIT");

/// The files of a directory (`adapters`, `consumers`, `findings`, `history` or `known`) with their paths in
/// it, sorted by path.
///
/// ```
/// let mut known = broadcheck_cli::embedded::files("known");
/// assert!(known.any(|(path, text)| path == "numpy.yaml" && !text.is_empty()));
/// ```
pub fn files(directory: &str) -> impl Iterator<Item = (&'static str, &'static [u8])> {
    FILES.iter().filter_map(move |&(path, bytes)| {
        let inside = path.strip_prefix(directory)?.strip_prefix('/')?;
        Some((inside, bytes))
    })
}
