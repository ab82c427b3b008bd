//! Drafts a known-failures file from a run: an entry for each failure, with its outcome as the reason. A
//! person fills in each `url`; until then the loader rejects the file.

use super::MAX_BYTES;
use crate::files;
use crate::given::Mode;
use crate::optimiser::Optimiser;
use broadcheck_spec::hides;
use broadcheck_spec::write::quoted;
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// The maximum length of a reason, in characters.
const MAX_REASON: usize = 300;

/// A failure to list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The id of the case or sweep.
    pub id: String,
    /// What must hold.
    pub title: String,
    /// How it ended; the first line that is not empty becomes the entry's reason.
    pub detail: String,
    /// The mode of `check --given` in which it failed, if it was asked in one.
    #[serde(skip)]
    pub given: Option<Mode>,
    /// The position of the optimiser in which it failed, if one was asked for.
    #[serde(skip)]
    pub optimiser: Option<Optimiser>,
}

/// A known-failures file to write: what failed, and in which run.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    /// The command or option that drafts the file: `broadcheck check --write-known`.
    pub by: &'a str,
    /// The implementation's name.
    pub implementation: &'a str,
    /// Its version.
    pub version: &'a str,
    /// The number of cases and sweeps of the run.
    pub results: usize,
    /// The failures, in the order of the file.
    pub failures: &'a [Failure],
}

impl Draft<'_> {
    /// The text of the file.
    pub fn render(&self) -> String {
        let Draft { by, implementation, version, results, failures } = self;
        let mut text = format!(
            "# Drafted by `{by}` from a run of {}: {} of {results} failed.\n\
             #\n\
             # Check each entry: does the implementation differ, or is the case wrong? Explain the failure in `reason`, and\n\
             # link the system's documentation, its source or an issue in `url`. The file is rejected until every url is\n\
             # filled in. A glob can replace several entries: \"numpy/zero/*\". `versions` can have an upper bound:\n\
             # {{from: \"2.4\", before: \"2.5\"}}.\n\
             implementation: {}\n\
             {}known:{}\n",
            plain(&format!("{implementation} {version}")),
            failures.len(),
            quoted(implementation),
            versions(version),
            if failures.is_empty() { " []" } else { "" },
        );
        for failure in *failures {
            let _ = write!(
                text,
                "  # {}\n  - case: {}\n{}    reason: {}\n    url: \"\"\n",
                plain(&failure.title),
                quoted(&failure.id),
                how(failure),
                quoted(&reason(&failure.detail))
            );
        }
        text
    }

    /// Writes the file, which must not exist, and returns a message about it.
    ///
    /// # Errors
    /// The file exists or cannot be written. The message begins with the path.
    pub fn write(&self, path: &Path) -> Result<String, String> {
        let name = path.display();
        let count = self.failures.len();
        if count == 0 {
            return Ok(format!("--write-known: found no new failure, so {name} is not written"));
        }
        let failed = |error: std::io::Error| format!("{name}: {error}");
        let text = self.render();
        files::create(path, text.as_bytes()).map_err(failed)?;
        let entries = if count == 1 { "1 entry".into() } else { format!("{count} entries") };
        let hint = match text.len() as u64 > MAX_BYTES {
            true => format!("replace entries by globs: a file has at most {MAX_BYTES} bytes"),
            false => "fill in each url before you use it".into(),
        };
        Ok(format!("written: {name}: {entries}; {hint}"))
    }
}

/// Checks before a run that a draft can be written afterwards.
///
/// # Errors
/// The file exists, or its directory does not. The message begins with the path.
pub fn may_write(path: &Path) -> Result<(), String> {
    let name = path.display();
    if fs::symlink_metadata(path).is_ok() {
        return Err(format!("{name}: found a file, expected a name that is not taken"));
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if path.file_name().is_none() || parent.is_some_and(|parent| !parent.is_dir()) {
        return Err(format!("{name}: found no directory for it, expected one"));
    }
    Ok(())
}

/// The lines that say how a failure was asked.
fn how(failure: &Failure) -> String {
    let given = failure.given.map(|mode| format!("    given: {}\n", mode.name()));
    // A plain `on` or `off` is a truth value to some readers of YAML.
    let optimiser = failure.optimiser.map(|position| format!("    optimiser: {}\n", quoted(position.name())));
    [given, optimiser].into_iter().flatten().collect()
}

/// Text for a comment: on one line.
fn plain(text: &str) -> String {
    text.replace(|char: char| char.is_control() || hides(char), " ")
}

/// The line with the first version; empty if the version does not begin with a digit.
fn versions(version: &str) -> String {
    match version.starts_with(|first: char| first.is_ascii_digit()) {
        true => format!("versions: {{from: {}}}\n", quoted(version)),
        false => String::new(),
    }
}

/// The outcome in one line.
fn reason(detail: &str) -> String {
    let line = detail.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or("failed");
    match line.char_indices().nth(MAX_REASON) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line.to_owned(),
    }
}
