//! Known failures: cases that an implementation is known to fail, each with its reason. They still run; one
//! that passes, or an entry that matches nothing, is a failure of its own.

use crate::suite::{Judged, Status};
use globset::{Glob, GlobMatcher};
use serde::Deserialize;
use std::path::Path;

/// The file's largest size in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A known-failures file.
pub struct Known {
    /// The implementation that the file is about.
    pub implementation: String,
    entries: Vec<Entry>,
}

/// One line of it.
pub struct Entry {
    /// A case id, or a glob over ids.
    pub case: String,
    /// Why the implementation fails it.
    pub reason: String,
    /// Where that is written: the system's document, source or issue.
    pub url: Option<String>,
    matcher: GlobMatcher,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    implementation: String,
    known: Vec<RawEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    case: String,
    reason: String,
    url: Option<String>,
}

impl Known {
    /// Reads a known-failures file.
    ///
    /// # Errors
    /// A sentence with the file, what was found and what was expected.
    pub fn load(path: &Path) -> Result<Known, String> {
        let name = path.display();
        let size = std::fs::metadata(path).map_err(|error| format!("{name}: {error}"))?;
        if !size.is_file() || size.len() > MAX_BYTES {
            return Err(format!("{name}: not a regular file of at most {MAX_BYTES} bytes"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        Known::parse(&text).map_err(|error| format!("{name}: {error}"))
    }

    /// Reads the text of a known-failures file.
    ///
    /// # Errors
    /// What is wrong with it, with the line where the parser gives one.
    pub fn parse(text: &str) -> Result<Known, String> {
        let raw: RawFile = serde_yaml::from_str(text).map_err(|error| {
            format!("{error}: expected `implementation: NAME` and `known: [{{case, reason, url}}]`")
        })?;
        let entries = raw.known.into_iter().map(Entry::try_from).collect::<Result<_, _>>()?;
        Ok(Known { implementation: raw.implementation, entries })
    }

    /// The first entry that lists a case.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.matches(id))
    }

    /// The entries that list none of these cases: leftovers.
    pub fn unmatched<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Vec<&Entry> {
        let ids: Vec<&str> = ids.collect();
        self.entries.iter().filter(|entry| !ids.iter().any(|id| entry.matches(id))).collect()
    }
}

impl TryFrom<RawEntry> for Entry {
    type Error = String;

    fn try_from(raw: RawEntry) -> Result<Entry, String> {
        let glob = Glob::new(&raw.case).map_err(|error| format!("case `{}`: {error}", raw.case))?;
        if raw.reason.trim().is_empty() {
            return Err(format!("case `{}`: found no reason, expected why it fails", raw.case));
        }
        Ok(Entry { case: raw.case, reason: raw.reason, url: raw.url, matcher: glob.compile_matcher() })
    }
}

impl Entry {
    fn matches(&self, id: &str) -> bool {
        self.case == id || self.matcher.is_match(id)
    }

    /// What becomes of a listed case's result.
    pub(crate) fn applied_to(&self, judged: Judged) -> Judged {
        match judged.status {
            Status::Failed | Status::Errored => {
                let detail = format!("known: {} ({})", self.reason, judged.detail);
                Judged { status: Status::KnownFailure, detail, ..judged }
            }
            Status::Passed => {
                let detail =
                    format!("passes, but `{}` is listed as a known failure: {}", self.case, self.reason);
                Judged { status: Status::UnexpectedPass, detail, ..judged }
            }
            _ => judged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "implementation: mine\nknown:\n  - {case: numpy/zero/*, reason: takes the maximum}\n";

    #[test]
    fn entries_are_ids_or_globs() {
        let known = Known::parse(FILE).unwrap();
        assert!(known.entry("numpy/zero/a").is_some());
        assert!(known.entry("numpy/ones/a").is_none());
        assert_eq!(known.unmatched(["xla/a"].into_iter()).len(), 1);
        assert!(known.unmatched(["numpy/zero/b"].into_iter()).is_empty());
    }

    #[test]
    fn a_listed_case_that_passes_is_a_failure() {
        let known = Known::parse(FILE).unwrap();
        let entry = known.entry("numpy/zero/a").unwrap();
        assert_eq!(entry.applied_to(Judged::new(Status::Passed, "")).status, Status::UnexpectedPass);
        assert_eq!(entry.applied_to(Judged::new(Status::Failed, "")).status, Status::KnownFailure);
        assert_eq!(entry.applied_to(Judged::new(Status::Errored, "")).status, Status::KnownFailure);
        assert_eq!(entry.applied_to(Judged::new(Status::Skipped, "")).status, Status::Skipped);
    }

    #[test]
    fn a_bad_file_says_what_is_expected() {
        for bad in [
            "",
            "known: []",
            "implementation: a\nknown:\n  - {case: a, reason: ''}",
            "[",
            "implementation: a\nknown: []\nextra: 1",
        ] {
            assert!(Known::parse(bad).is_err(), "{bad}");
        }
    }
}
