//! The history of a system: what each of its releases answered, in a file that grows.
//! `conformance/schema/history.schema.json` describes the file.
//!
//! A file has the ids of its cases once, in the order in which they were first asked, and new ones come last.
//! Each release has a letter per case, so that the letters of a release remain valid when the suite grows.

pub mod changes;
mod outcomes;
pub mod since;
pub mod table;
pub mod versions;

pub use outcomes::{Outcome, Outcomes};

use self::versions::Order;

use crate::embedded;
use crate::report::clean;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::Read as _;
use std::path::Path;

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 24;

/// The most releases of a history.
const MAX_VERSIONS: usize = 500;

/// The most cases of a history.
pub(crate) const MAX_CASES: usize = 1 << 14;

/// The most wrong answers of all releases of a history together. OpenVINO has 260 in a release.
const MAX_WRONG: usize = 1 << 17;

/// The most releases of a package index.
const MAX_LISTED: usize = 1 << 12;

/// The longest id, version or name, in bytes.
const MAX_ID: usize = 200;

/// The longest reason that is kept, in characters.
const MAX_REASON: usize = 160;

/// What a file should be, for error messages.
const EXPECTED: &str = "a history of a system as conformance/schema/history.schema.json describes it";

/// A history.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct History {
    /// The name by which the system's reports call it.
    pub system: String,
    /// The releases that the package index had when it was asked last, the oldest first.
    #[serde(default)]
    pub listed: Vec<Listed>,
    /// The releases that were judged, the oldest first.
    pub versions: Vec<Release>,
    /// The releases that could not be installed or started.
    #[serde(default)]
    pub unable: Vec<Unable>,
    /// The ids of the cases that some release was asked.
    #[serde(default)]
    pub cases: Vec<String>,
}

/// A release of the package index.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct Listed {
    /// Its version.
    pub version: String,
    /// The day of its first file, if the index says so.
    #[serde(default)]
    pub date: Option<String>,
}

/// A release that was judged.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Release {
    /// Its version.
    pub version: String,
    /// The day of the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The suite whose cases it was asked last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<SuiteId>,
    /// About how many cases of each sweep were run, if not all: the smallest number of several runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep_sample: Option<u64>,
    /// The version of Python.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    /// The packages that were installed beside it, each with its version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// The number of cases with each result.
    pub counts: Counts,
    /// The outcome of each case of [`History::cases`], as far as it was asked. Empty in a file that has only
    /// failures.
    #[serde(default, skip_serializing_if = "Outcomes::is_empty")]
    pub outcomes: Outcomes,
    /// The cases that it answered wrongly, each with the reason. A file leaves out those whose reason is that
    /// of the release before.
    #[serde(default)]
    pub failures: BTreeMap<String, String>,
}

/// The suite that a release was asked.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub struct SuiteId {
    /// The version of broadcheck.
    pub version: String,
    /// The first digits of the SHA-256 of the ids of its cases and sweeps, sorted, each with a line break.
    pub ids: String,
}

/// How many cases had each result.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub struct Counts {
    /// As expected, conventions included.
    pub passed: u32,
    /// Otherwise, known or not.
    pub failed: u32,
    /// Cases of a convention that it does not share.
    #[serde(default)]
    pub differs: u32,
    /// Not asked.
    #[serde(default)]
    pub skipped: u32,
}

/// A release that could not be judged.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Unable {
    /// Its version.
    pub version: String,
    /// Why.
    pub reason: String,
}

impl History {
    /// A history without releases.
    pub fn new(system: &str) -> History {
        History {
            system: system.into(),
            listed: Vec::new(),
            versions: Vec::new(),
            unable: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Reads a history from a file.
    ///
    /// # Errors
    /// The file, what was found and what was expected.
    pub fn load(path: &Path) -> Result<History, String> {
        let name = path.display();
        let wrong = |found: String| format!("{name}: found {found}, expected {EXPECTED}");
        let metadata = fs::metadata(path).map_err(|error| format!("{name}: {error}, expected {EXPECTED}"))?;
        if !metadata.is_file() {
            return Err(wrong("something other than a regular file".into()));
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("{name}: {error}"))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(wrong(format!("more than {MAX_BYTES} bytes")));
        }
        History::parse(&bytes).map_err(wrong)
    }

    /// The histories that the command contains, sorted by system.
    pub fn shipped() -> Vec<History> {
        let files = embedded::files("history").filter(|(path, _)| path.ends_with(".json"));
        // A test reads every file.
        files.filter_map(|(_, bytes)| History::parse(bytes).ok()).collect()
    }

    /// Reads the text of a history.
    ///
    /// # Errors
    /// What was found.
    pub fn parse(bytes: &[u8]) -> Result<History, String> {
        let mut history: History = serde_json::from_slice(bytes).map_err(|error| match error.is_data() {
            true => error.to_string(),
            false => format!("text that is not JSON ({error})"),
        })?;
        // What differs only in what cannot be shown is the same, so the texts are cleaned first.
        history.clean();
        history.check()?;
        history.complete_reasons();
        Ok(history)
    }

    fn check(&self) -> Result<(), String> {
        let releases = self.versions.len() + self.unable.len();
        if releases == 0 || self.versions.len().max(self.unable.len()) > MAX_VERSIONS {
            return Err(format!("{releases} versions (from 1 to {MAX_VERSIONS})"));
        }
        if self.cases.len() > MAX_CASES {
            return Err(format!("{} cases (at most {MAX_CASES})", self.cases.len()));
        }
        if self.listed.len() > MAX_LISTED {
            return Err(format!("{} releases in `listed` (at most {MAX_LISTED})", self.listed.len()));
        }
        let wrong_of = |release: &Release| {
            release.failures.len() + release.outcomes.iter().filter(|outcome| outcome.is_wrong()).count()
        };
        let wrong: usize = self.versions.iter().map(wrong_of).sum();
        if wrong > MAX_WRONG {
            return Err(format!("{wrong} wrong answers of all versions (at most {MAX_WRONG})"));
        }
        let ids = self.cases.iter().chain(self.versions.iter().flat_map(|release| release.failures.keys()));
        if let Some(length) = ids.map(String::len).find(|length| *length > MAX_ID) {
            return Err(format!("an id of {length} bytes (at most {MAX_ID})"));
        }
        if let Some(length) = self.names().map(str::len).find(|length| *length > MAX_ID) {
            return Err(format!("a version or another name of {length} bytes (at most {MAX_ID})"));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = self.cases.iter().find(|id| !seen.insert(id.as_str())) {
            return Err(format!("the case `{twice}` twice"));
        }
        let judged = self.versions.iter().map(|release| &release.version);
        let mut seen = HashSet::new();
        if let Some(twice) =
            judged.chain(self.unable.iter().map(|one| &one.version)).find(|v| !seen.insert(*v))
        {
            return Err(format!("the version `{twice}` twice"));
        }
        let more = |release: &&Release| release.outcomes.len() > self.cases.len();
        if let Some(Release { version, outcomes, .. }) = self.versions.iter().find(more) {
            let (found, cases) = (outcomes.len(), self.cases.len());
            return Err(format!("{found} outcomes of {version} (at most {cases}, one for each of `cases`)"));
        }
        Ok(())
    }

    /// The versions, dates and names.
    fn names(&self) -> impl Iterator<Item = &str> {
        let listed = self.listed.iter().flat_map(|one| [Some(&one.version), one.date.as_ref()]);
        let released = self.versions.iter().flat_map(|one| {
            let plain = [Some(&one.version), one.date.as_ref(), one.python.as_ref()];
            plain.into_iter().chain(one.beside.iter().map(Some))
        });
        let unable = self.unable.iter().map(|one| Some(&one.version));
        let all = std::iter::once(Some(&self.system)).chain(listed).chain(released).chain(unable);
        all.flatten().map(String::as_str)
    }

    /// Makes the texts safe to show: a file may contain anything.
    fn clean(&mut self) {
        self.system = clean::one_line(&self.system);
        for listed in &mut self.listed {
            listed.version = clean::one_line(&listed.version);
            listed.date = listed.date.as_deref().map(clean::one_line);
        }
        for release in &mut self.versions {
            release.version = clean::one_line(&release.version);
            release.date = release.date.as_deref().map(clean::one_line);
            release.python = release.python.as_deref().map(clean::one_line);
            release.beside.iter_mut().for_each(|text| *text = clean::one_line(text));
            for reason in release.failures.values_mut() {
                *reason = shown_reason(reason);
            }
        }
        for one in &mut self.unable {
            one.version = clean::one_line(&one.version);
            one.reason = shown_reason(&one.reason);
        }
        for id in self.cases.iter_mut().filter(|id| !clean::is_visible(id) || id.contains('\n')) {
            *id = clean::one_line(id);
        }
    }

    /// Adds the reasons that the file leaves out.
    fn complete_reasons(&mut self) {
        let mut before: BTreeMap<String, String> = BTreeMap::new();
        for release in &mut self.versions {
            if !release.outcomes.is_empty() {
                let wrong =
                    release.outcomes.iter().zip(&self.cases).filter(|(outcome, _)| outcome.is_wrong());
                for (_, id) in wrong {
                    let reason = || before.get(id).cloned().unwrap_or_default();
                    release.failures.entry(id.clone()).or_insert_with(reason);
                }
            }
            before.clone_from(&release.failures);
        }
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut short = self.clone();
        for (place, release) in short.versions.iter_mut().enumerate() {
            let before = place.checked_sub(1).map(|before| &self.versions[before].failures);
            // A reason that is in neither release is empty.
            let default = |id: &str| before.and_then(|before| before.get(id)).map_or("", String::as_str);
            if !release.outcomes.is_empty() {
                release.failures.retain(|id, reason| default(id) != reason);
            }
        }
        serde_json::to_string_pretty(&short).expect("a history can be written as JSON") + "\n"
    }

    /// The text of the file, if [`History::load`] reads it.
    ///
    /// # Errors
    /// The limit that the history exceeds.
    pub(crate) fn readable_text(&self) -> Result<String, String> {
        let text = self.text();
        if text.len() as u64 > MAX_BYTES {
            return Err(format!("more than {MAX_BYTES} bytes"));
        }
        History::parse(text.as_bytes()).map(|_| text)
    }

    /// The release that was judged, if it was.
    pub fn release(&self, version: &str) -> Option<&Release> {
        self.versions.iter().find(|release| release.version == version)
    }

    /// Adds a release that was judged, or replaces what the file has of it.
    pub(crate) fn add(&mut self, release: Release) {
        let of = |version: &str| version == release.version;
        self.unable.retain(|one| !of(&one.version));
        self.versions.retain(|one| !of(&one.version));
        self.versions.push(release);
        self.versions.sort_by_cached_key(|release| Order::of(&release.version));
    }

    /// Adds a release that could not be judged. What the file has of an earlier run stays.
    pub(crate) fn add_unable(&mut self, version: &str, reason: &str) {
        self.unable.retain(|one| one.version != version);
        if self.release(version).is_none() {
            self.unable.push(Unable { version: version.into(), reason: reason.into() });
            self.unable.sort_by_cached_key(|one| Order::of(&one.version));
        }
    }
}

/// The first line of a reason, shortened.
pub(crate) fn shown_reason(reason: &str) -> String {
    let line = clean::one_line(reason.lines().next().unwrap_or_default());
    // What was shortened is not shortened again.
    match line.char_indices().nth(MAX_REASON - 1) {
        Some((end, last)) if end + last.len_utf8() < line.len() => format!("{}…", &line[..end]),
        Some(_) | None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"{"system": "mine", "cases": ["a/b", "a/c", "a/d"], "versions": [
        {"version": "1", "counts": {"passed": 1, "failed": 2}, "outcomes": "pfe",
         "failures": {"a/c": "wrong", "a/d": "crashed"}},
        {"version": "2", "date": "2026-01-02", "counts": {"passed": 1, "failed": 1}, "outcomes": "pf"}]}"#;

    #[test]
    fn a_file_is_read_and_written_again() {
        let history = History::parse(SAMPLE.as_bytes()).unwrap();
        assert_eq!(history.versions[1].failures["a/c"], "wrong", "as in the release before");
        let text = history.text();
        assert_eq!(text.matches("wrong").count(), 1, "{text}");
        assert_eq!(History::parse(text.as_bytes()).unwrap().text(), text);
    }

    #[test]
    fn a_file_with_as_many_wrong_answers_as_allowed_is_written_again() {
        let cases: Vec<String> = (0..MAX_CASES).map(|number| format!("a/{number}")).collect();
        let release = |version: usize| {
            let counts = serde_json::json!({ "passed": 0, "failed": MAX_CASES });
            serde_json::json!({ "version": version.to_string(), "counts": counts, "outcomes": "16384f" })
        };
        let versions: Vec<serde_json::Value> = (0..MAX_WRONG / MAX_CASES).map(release).collect();
        let text = serde_json::json!({ "system": "mine", "cases": cases, "versions": versions }).to_string();
        let history = History::parse(text.as_bytes()).unwrap();
        assert_eq!(history.versions[7].failures.len(), MAX_CASES);
        assert_eq!(history.readable_text().unwrap(), history.text());
    }

    #[test]
    fn a_reason_is_shortened_once() {
        let long = shown_reason(&"é".repeat(MAX_REASON + 1));
        assert_eq!(long.chars().count(), MAX_REASON);
        assert!(long.ends_with("é…") && shown_reason(&long) == long, "{long}");
        let fits = "é".repeat(MAX_REASON);
        assert_eq!(shown_reason(&format!("{fits}\nmore")), fits);
    }

    #[test]
    fn a_release_is_put_in_its_place() {
        let mut history = History::parse(SAMPLE.as_bytes()).unwrap();
        history.add_unable("1.10", "no wheel");
        history.add_unable("1.9", "no wheel");
        history.add_unable("2", "kept as it was");
        let unable: Vec<&str> = history.unable.iter().map(|one| &*one.version).collect();
        assert_eq!(unable, ["1.9", "1.10"]);
        history.add(Release { version: "1.10".into(), ..history.versions[0].clone() });
        let versions: Vec<&str> = history.versions.iter().map(|one| &*one.version).collect();
        assert_eq!((&versions[..], history.unable.len()), (&["1", "1.10", "2"][..], 1));
    }

    #[test]
    fn what_cannot_be_read_again_has_no_text() {
        let mut history = History::parse(SAMPLE.as_bytes()).unwrap();
        assert_eq!(history.readable_text().unwrap(), history.text());
        for place in 0..MAX_VERSIONS {
            history.add_unable(&format!("3.{place}"), "no wheel");
        }
        assert!(history.readable_text().is_ok());
        history.add_unable("4", "no wheel");
        assert_eq!(history.readable_text().unwrap_err(), "503 versions (from 1 to 500)");
        history.unable.clear();
        history.versions[0].beside = vec![" ".repeat(1 << 20); 17];
        assert_eq!(history.readable_text().unwrap_err(), "more than 16777216 bytes");
    }

    #[test]
    fn other_files_are_refused() {
        for (from, to, expected) in [
            ("", "", "text that is not JSON (EOF while parsing"),
            (SAMPLE, "[]", "invalid length 0"),
            (SAMPLE, "{}", "missing field `system`"),
            (SAMPLE, r#"{"system": "a", "versions": []}"#, "0 versions (from 1 to 500)"),
            ("\"failed\": 2", "\"failed\": -2", "invalid value: integer `-2`"),
            ("\"2\"", "\"1\"", "the version `1` twice"),
            ("a/c\", \"a/d\"]", "a/b\"]", "the case `a/b` twice"),
            ("\"pf\"", "\"3pf\"", "4 outcomes of 2 (at most 3, one for each of `cases`)"),
            ("\"a/b\"", &format!("\"{}\"", "a".repeat(201)), "an id of 201 bytes (at most 200)"),
            ("\"pf\"", "\"px\"", "`x` in `outcomes`"),
            (
                "\"2\"",
                &format!("\"2.{}\"", "0".repeat(199)),
                "a version or another name of 201 bytes (at most 200)",
            ),
            ("a/c\", \"a/d\"]", "a\\n\", \"a \"]", "the case `a ` twice"),
        ] {
            let text = match from {
                "" => SAMPLE[..SAMPLE.len() / 2].to_owned(),
                _ => SAMPLE.replace(from, to),
            };
            let error = History::parse(text.as_bytes()).unwrap_err();
            assert!(error.contains(expected), "{expected}: {error}");
        }
    }

    #[test]
    fn every_history_of_the_command_is_read() {
        let files = embedded::files("history").filter(|(path, _)| path.ends_with(".json"));
        for (path, bytes) in files {
            let history = History::parse(bytes).unwrap_or_else(|error| panic!("{path}: found {error}"));
            assert_eq!(path, format!("{}.json", history.system));
            assert!(history.text().as_bytes() == bytes, "{path}: expected the text that the command writes");
        }
    }
}
