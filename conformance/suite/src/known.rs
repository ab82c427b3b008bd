//! Known failures: cases that an implementation is known to fail, each with its reason. They still run; one
//! that passes, or an entry that matches nothing, is a failure of its own. What fails only now and then is listed as such.

mod versions;

use crate::globs::{Glob, matcher};
use crate::run::{Judged, Status};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use versions::Versions;

/// The file's largest size in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A known-failures file.
pub struct Known {
    /// The implementation that the file is about.
    pub implementation: String,
    /// Its versions.
    versions: Versions,
    entries: Vec<Entry>,
}

/// One line of it.
pub struct Entry {
    /// A case id, or a glob over ids.
    pub case: String,
    /// Why the implementation fails it.
    pub reason: String,
    /// Where that is written: the system's document, source or issue.
    pub url: String,
    /// Whether it passes now and then, by chance: it is then no failure that it does.
    pub sometimes: bool,
    matcher: Glob,
}

/// What a file is.
const FILE: &str = "`implementation: NAME` and `known:`, a list of `{case, reason, url}`";

/// The fields of an entry: `cases` is a list, for several cases with one reason.
const FIELDS: &str = "expected `case` or `cases`, `reason`, `url`, and perhaps `sometimes`";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a known-failures file")]
struct Contents {
    format: Option<u32>,
    implementation: String,
    #[serde(default)]
    versions: Versions,
    known: Entries,
}

/// Entries whose cases differ. They are read one by one, so that an error has the line of its entry.
struct Entries(Vec<Entry>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Entries;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of `{case, reason, url}`")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Entries, A::Error> {
                let mut seen = HashSet::new();
                let mut entries = Vec::new();
                while let Some(those) = items.next_element_seed(OneEntry { seen: &mut seen })? {
                    entries.extend(those);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// An entry, after those whose cases are given: one for each case that it lists.
struct OneEntry<'a> {
    seen: &'a mut HashSet<String>,
}

impl<'de> DeserializeSeed<'de> for OneEntry<'_> {
    type Value = Vec<Entry>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Entry>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OneEntry<'_> {
    type Value = Vec<Entry>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an entry `{case, reason, url}`")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Vec<Entry>, A::Error> {
        let (mut case, mut cases, mut reason, mut url, mut sometimes) = (None, None, None, None, None);
        while let Some(field) = fields.next_key::<String>()? {
            let twice = match field.as_str() {
                "case" => case.replace(fields.next_value::<String>()?).is_some(),
                "cases" => cases.replace(fields.next_value::<Vec<String>>()?).is_some(),
                "reason" => reason.replace(fields.next_value::<String>()?).is_some(),
                "url" => url.replace(fields.next_value::<String>()?).is_some(),
                "sometimes" => sometimes.replace(fields.next_value::<bool>()?).is_some(),
                other => return Err(Error::custom(format!("found the field `{other}`, {FIELDS}"))),
            };
            if twice {
                return Err(Error::custom(format!("found the field `{field}` twice, expected it once")));
            }
        }
        let cases = match (case, cases) {
            (Some(case), None) => vec![case],
            (None, Some(cases)) if !cases.is_empty() => cases,
            (None, Some(_)) => return Err(Error::custom("found no case in `cases`, expected one at least")),
            (Some(_), Some(_)) => {
                return Err(Error::custom("found `case` and `cases`, expected one of them"));
            }
            (None, None) => {
                return Err(Error::custom("found no `case`, expected its id, or a glob over ids"));
            }
        };
        let sometimes = sometimes.unwrap_or(false);
        let entry = |case| {
            let entry = entry(case, reason.as_deref(), url.as_deref(), self.seen).map_err(Error::custom)?;
            Ok(Entry { sometimes, ..entry })
        };
        cases.into_iter().map(entry).collect()
    }
}

/// One case with its reason and its place, or what is wrong with them.
fn entry(
    case: String,
    reason: Option<&str>,
    url: Option<&str>,
    seen: &mut HashSet<String>,
) -> Result<Entry, String> {
    let complaint = |what: &str| format!("case `{case}`: {what}");
    if !seen.insert(case.clone()) {
        return Err(complaint("found a second entry, expected one"));
    }
    let matcher = matcher(&case).map_err(|what| complaint(&what))?;
    let reason = reason.filter(|reason| !reason.trim().is_empty());
    let reason = reason.ok_or_else(|| complaint("found no reason, expected why it fails"))?;
    let url = url.ok_or_else(|| complaint("found no `url`, expected where that is written"))?;
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if rest.is_none_or(str::is_empty) || url.contains(char::is_whitespace) {
        return Err(complaint(&format!("found the url `{url}`, expected one such as \"https://...\"")));
    }
    Ok(Entry { matcher, reason: reason.trim().into(), url: url.into(), case, sometimes: false })
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
        // Some files say that they are empty and are not: to read such a one may wait for ever.
        if size.len() == 0 {
            return Err(format!("{name}: found an empty file, expected {FILE}"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| format!("{name}: {error}"))?;
        Known::parse(&text).map_err(|error| format!("{name}: {error}"))
    }

    /// Reads the text of a known-failures file.
    ///
    /// # Errors
    /// What is wrong with it, with its line and column.
    pub fn parse(text: &str) -> Result<Known, String> {
        if text.trim().is_empty() {
            return Err(format!("found an empty file, expected {FILE}"));
        }
        let contents: Contents = serde_yaml::from_str(text).map_err(|error| {
            let said = error.to_string();
            match error.location() {
                Some(place) => {
                    let said = said.split(" at line ").next().unwrap_or(&said);
                    format!(
                        "line {}, column {}: {said} (a known-failures file is {FILE})",
                        place.line(),
                        place.column()
                    )
                }
                None => format!("{said} (a known-failures file is {FILE})"),
            }
        })?;
        if let Some(format) = contents.format
            && format != 1
        {
            return Err(format!("format: found {format}, expected 1"));
        }
        contents.versions.check()?;
        let Contents { implementation, versions, known, .. } = contents;
        Ok(Known { implementation, versions, entries: known.0 })
    }

    /// Whether the file is about this version of its implementation.
    pub fn covers(&self, version: &str) -> bool {
        self.versions.contain(version)
    }

    /// Leaves out the entries that list none of these cases: of a file about the whole suite, where only a part of
    /// it, or another one, is there.
    pub fn keep_only<'a>(&mut self, ids: impl Iterator<Item = &'a str>) {
        let ids: Vec<&str> = ids.collect();
        self.entries.retain(|entry| ids.iter().any(|id| entry.matches(id)));
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

impl Entry {
    fn matches(&self, id: &str) -> bool {
        self.case == id || self.matcher.is_match(id)
    }

    /// What becomes of a listed case's result. One that fails sometimes is a known failure either way: a pass by
    /// chance is not counted as one.
    pub(crate) fn applied_to(&self, judged: Judged) -> Judged {
        match judged.status {
            Status::Failed | Status::Errored => {
                let known = if self.sometimes { "known to fail sometimes" } else { "known" };
                let detail = format!("{known}: {} ({})", self.reason, judged.detail);
                Judged { status: Status::KnownFailure, detail, ..judged }
            }
            Status::Passed if self.sometimes => {
                let detail = format!("known to fail sometimes: {} (this time it passes)", self.reason);
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

    const FILE: &str = "implementation: mine\nknown:\n  - {case: numpy/zero/*, reason: takes the maximum, url: 'https://example.org/1'}\n";

    #[test]
    fn entries_are_ids_or_globs() {
        let known = Known::parse(FILE).unwrap();
        assert!(known.entry("numpy/zero/a").is_some());
        assert!(known.entry("numpy/ones/a").is_none());
        assert_eq!(known.unmatched(["xla/a"].into_iter()).len(), 1);
        assert!(known.unmatched(["numpy/zero/b"].into_iter()).is_empty());
    }

    #[test]
    fn several_cases_share_a_reason() {
        let text =
            "implementation: mine\nknown:\n  - {cases: [a, b/*], reason: c, url: 'https://example.org/1'}\n";
        let known = Known::parse(text).unwrap();
        assert_eq!(known.entry("b/c").unwrap().reason, "c");
        let unmatched = known.unmatched(["b/c"].into_iter());
        assert_eq!(unmatched.iter().map(|entry| entry.case.as_str()).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn entries_of_other_cases_are_left_out() {
        let mut known = Known::parse(FILE).unwrap();
        known.keep_only(["numpy/zero/a"].into_iter());
        assert!(known.entry("numpy/zero/a").is_some());
        known.keep_only(["xla/a"].into_iter());
        assert!(known.entry("numpy/zero/a").is_none());
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
    fn what_fails_sometimes_is_known_either_way_and_shown_as_such() {
        let file = FILE.replace("url:", "sometimes: true, url:");
        let known = Known::parse(&file).unwrap();
        let entry = known.entry("numpy/zero/a").unwrap();
        let passed = entry.applied_to(Judged::new(Status::Passed, ""));
        assert_eq!(passed.status, Status::KnownFailure);
        assert_eq!(passed.detail, "known to fail sometimes: takes the maximum (this time it passes)");
        let failed = entry.applied_to(Judged::new(Status::Errored, "it died"));
        assert_eq!(failed.status, Status::KnownFailure);
        assert_eq!(failed.detail, "known to fail sometimes: takes the maximum (it died)");
        assert_eq!(entry.applied_to(Judged::new(Status::Skipped, "")).status, Status::Skipped);
        let never = Known::parse(&FILE.replace("url:", "sometimes: false, url:")).unwrap();
        let passed = never.entry("numpy/zero/a").unwrap().applied_to(Judged::new(Status::Passed, ""));
        assert_eq!(passed.status, Status::UnexpectedPass);
    }

    #[test]
    fn a_bad_file_says_what_is_expected_and_where() {
        let with = |entry: &str| format!("{FILE}  - {entry}\n");
        let url = "url: 'https://example.org/2'";
        for (bad, expected) in [
            (String::new(), "found an empty file, expected `implementation: NAME` and `known:`"),
            ("known: []".into(), "line 1, column 1: missing field `implementation`"),
            ("- a".into(), "line 1, column 1: invalid type: sequence, expected a known-failures file"),
            ("implementation: [".into(), "line 1, column 17: "),
            (format!("{FILE}extra: 1"), "line 4, column 1: unknown field `extra`"),
            (format!("format: 2\n{FILE}"), "format: found 2, expected 1"),
            (format!("versions: {{from: x}}\n{FILE}"), "versions: found `x`, expected a version such as"),
            (
                format!("versions: {{from: '2', before: '1.9'}}\n{FILE}"),
                "versions: found none from 2 and before 1.9, expected some",
            ),
            (
                format!("versions: {{until: '2'}}\n{FILE}"),
                "line 1, column 12: versions: unknown field `until`",
            ),
            (with(&format!("{{case: a, reason: '', {url}}}")), "line 4, column 5: case `a`: found no reason"),
            (with("{case: a, reason: b}"), "line 4, column 5: case `a`: found no `url`, expected where"),
            (with("{case: a, reason: b, url: here}"), "line 4, column 5: case `a`: found the url `here`"),
            (with(&format!("{{reason: b, {url}}}")), "line 4, column 5: found no `case`"),
            (
                with(&format!("{{case: numpy/zero/*, reason: b, {url}}}")),
                "line 4, column 5: case `numpy/zero/*`: found a second entry, expected one",
            ),
            (with("{case: a, cause: b}"), "line 4, column 5: found the field `cause`"),
            (with("{case: a, case: b}"), "line 4, column 5: found the field `case` twice"),
            (
                with(&format!("{{case: 'a[', reason: b, {url}}}")),
                "line 4, column 5: case `a[`: found no glob",
            ),
            (with(&format!("{{cases: [], reason: b, {url}}}")), "line 4, column 5: found no case in `cases`"),
            (
                with(&format!("{{cases: [a], case: b, reason: c, {url}}}")),
                "line 4, column 5: found `case` and `cases`, expected one of them",
            ),
            (
                with(&format!("{{cases: [a, b, a], reason: c, {url}}}")),
                "line 4, column 5: case `a`: found a second entry, expected one",
            ),
            (with("{case: a, sometimes: maybe}"), "line 4, column 26: invalid type: string \"maybe\""),
            (
                with("{case: a, sometimes: true, sometimes: true}"),
                "line 4, column 5: found the field `sometimes` twice",
            ),
            (with("{case: [a]}"), "line 4, column 12: invalid type: sequence, expected a string"),
            (with("x"), "line 4, column 5: invalid type: string \"x\", expected an entry"),
        ] {
            let told = Known::parse(&bad).err().unwrap_or_else(|| panic!("{bad}"));
            let told = ["", ".case", ".sometimes"]
                .iter()
                .fold(told, |told, field| told.replace(&format!("known[1]{field}: "), ""));
            assert!(told.starts_with(expected), "{bad}: {told}");
        }
        assert!(Known::parse(&format!("format: 1\n{FILE}")).is_ok());
    }
}
