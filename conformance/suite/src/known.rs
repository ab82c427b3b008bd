//! Known failures: cases that an implementation is known to fail, each with a reason. They still run. A
//! listed case that passes, or an entry that matches no case, is itself a failure. Cases that fail only
//! sometimes are marked.

pub mod draft;
mod versions;

use crate::given::Mode;
use crate::globs::Glob;
use crate::optimiser::Optimiser;
use crate::run::{Judged, Status};
use broadcheck_spec::{Convention, Document, LoadError, LoadErrors, Suite};
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;
use std::io::Read as _;
use std::path::Path;
use versions::Versions;

/// The file's largest size in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// The largest length of all globs of a file together, in bytes: every glob is matched with every id.
const MAX_GLOBS: usize = 4 << 10;

/// A known-failures file.
pub struct Known {
    /// The implementation that the file is about.
    pub implementation: String,
    /// The versions of it that the file covers.
    versions: Versions,
    entries: Vec<Entry>,
    /// The positions of the optimiser that were asked for.
    positions: Vec<Optimiser>,
}

/// One entry of the file.
pub struct Entry {
    /// A case id, or a glob over ids.
    pub case: String,
    /// Why the implementation fails it.
    pub reason: String,
    /// The number of the finding in broadcheck's FINDINGS.md that describes the defect.
    pub finding: Option<u32>,
    /// Where the defect is reported or documented: an issue, the system's documentation or its source.
    pub url: Option<String>,
    /// Whether the case passes sometimes, by chance, so that passing is not a failure.
    pub sometimes: bool,
    /// The mode of `check --given` in which it fails, if it passes as it is written.
    pub given: Option<Mode>,
    /// The position of the optimiser in which it fails, if it passes in the one that the system's adapter
    /// chooses.
    pub optimiser: Option<Optimiser>,
    glob: Glob,
}

/// Describes the file in error messages.
const FILE: &str =
    "a known-failures file: `implementation: NAME` and `known:`, a list of `{case, reason, finding}`";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `implementation: NAME` and `known:`")]
struct Contents {
    format: Option<u32>,
    implementation: String,
    #[serde(default)]
    versions: Versions,
    known: Entries,
}

/// The number of entries. They are read one by one, so that all errors are reported together.
struct Entries(usize);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Entries;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of `{case, reason, finding}`")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Entries, A::Error> {
                let mut count = 0;
                while items.next_element::<IgnoredAny>()?.is_some() {
                    count += 1;
                }
                Ok(Entries(count))
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// An entry as written. `cases` is a list of cases with the same reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an entry `{case, reason, finding}`")]
struct RawEntry {
    case: Option<String>,
    cases: Option<Vec<String>>,
    reason: Option<String>,
    finding: Option<u32>,
    url: Option<String>,
    #[serde(default)]
    sometimes: bool,
    given: Option<String>,
    optimiser: Option<String>,
}

/// A file that is being read.
struct Reader {
    document: Document,
    seen: HashSet<String>,
    /// The length of the globs so far, in bytes.
    globs: usize,
    errors: Vec<LoadError>,
}

impl Reader {
    fn error(&mut self, path: &str, case: Option<&str>, finding: &str, expectation: &str) {
        let error = self.document.error(path, finding, expectation);
        self.errors.push(LoadError { case: case.map(str::to_owned), ..error });
    }

    fn read<T: DeserializeOwned>(&mut self, path: &str) -> Option<T> {
        self.document.read(path).map_err(|errors| self.errors.extend_from_slice(errors.errors())).ok()
    }

    fn known(&mut self) -> Option<Known> {
        let Contents { format, implementation, versions, known } = self.read("")?;
        if let Some(format) = format.filter(|&format| format != 1) {
            self.error("format", None, &format.to_string(), "1");
        }
        if let Err((finding, expectation)) = versions.check() {
            self.error("versions", None, &finding, expectation);
        }
        let entries = (0..known.0).flat_map(|place| self.entries(&format!("known[{place}]"))).collect();
        Some(Known { implementation, versions, entries, positions: Vec::new() })
    }

    /// The entries at a path: one for each of its cases.
    fn entries(&mut self, path: &str) -> Vec<Entry> {
        let Some(raw) = self.read::<RawEntry>(path) else { return Vec::new() };
        let cases = match (&raw.case, &raw.cases) {
            (Some(case), None) => std::slice::from_ref(case),
            (None, Some(cases)) => cases,
            (Some(_), Some(_)) => {
                self.error(path, None, "`case` and `cases`", "one of them");
                return Vec::new();
            }
            (None, None) => {
                self.error(path, None, "no `case`", "its id, or a glob over ids");
                return Vec::new();
            }
        };
        if cases.is_empty() {
            self.error(&format!("{path}.cases"), None, "an empty list", "at least one case");
        }
        cases.iter().filter_map(|case| self.entry(path, case, &raw)).collect()
    }

    fn entry(&mut self, path: &str, case: &str, raw: &RawEntry) -> Option<Entry> {
        let errors = self.errors.len();
        let given = raw.given.as_deref().map(str::parse::<Mode>).transpose();
        if let Err(unknown) = &given {
            let (found, expected) = unknown.parts();
            self.error(&format!("{path}.given"), Some(case), &found, &expected);
        }
        let given = given.ok().flatten();
        let mode = given.map_or("", Mode::name);
        let optimiser = raw.optimiser.as_deref().and_then(Optimiser::named);
        if let (Some(found), None) = (&raw.optimiser, optimiser) {
            self.error(&format!("{path}.optimiser"), Some(case), &format!("`{found}`"), "off or on");
        }
        let position = optimiser.map_or("", Optimiser::name);
        if !self.seen.insert(format!("{case} {mode} {position}")) {
            self.error(path, Some(case), "a second entry", "one");
        }
        let glob = Glob::new(case)
            .map_err(|error| self.error(path, Some(case), &error.finding, &error.expectation))
            .ok();
        if glob.as_ref().is_some_and(|glob| !glob.is_literal()) {
            let before = self.globs;
            self.globs += case.len();
            if before <= MAX_GLOBS && self.globs > MAX_GLOBS {
                let found = format!("globs of more than {MAX_GLOBS} bytes together");
                self.error(path, None, &found, "fewer or shorter globs, or ids in their place");
            }
        }
        let reason = raw.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
        if reason.is_none() {
            self.error(&format!("{path}.reason"), Some(case), "no reason", "why it fails");
        }
        let at = format!("{path}.url");
        match &raw.url {
            None if raw.finding.is_none() => {
                let expected = "one of them: the number of a finding, or where the defect is reported";
                self.error(path, Some(case), "no `finding` and no `url`", expected);
            }
            Some(url) if !is_address(url) => {
                self.error(&at, Some(case), &format!("`{url}`"), "a url such as \"https://...\"");
            }
            None | Some(_) => {}
        }
        let (glob, reason) = (glob?, reason?.to_owned());
        (self.errors.len() == errors).then(|| Entry {
            case: case.to_owned(),
            reason,
            finding: raw.finding,
            url: raw.url.clone(),
            sometimes: raw.sometimes,
            given,
            optimiser,
            glob,
        })
    }
}

fn is_address(url: &str) -> bool {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty()) && !url.contains(char::is_whitespace)
}

impl Known {
    /// Reads a known-failures file.
    ///
    /// # Errors
    /// The file, what was found and what was expected.
    pub fn load(path: &Path) -> Result<Known, String> {
        let name = path.display();
        let size = std::fs::metadata(path).map_err(|error| format!("{name}: {error}, expected {FILE}"))?;
        if !size.is_file() || size.len() > MAX_BYTES {
            let expected = format!("expected a regular file of at most {MAX_BYTES} bytes");
            return Err(format!("{name}: found something else, or a larger file, {expected}"));
        }
        // Some special files report a length of 0 although they have content, and reading them may block
        // forever.
        if size.len() == 0 {
            return Err(format!("{name}: found an empty file, expected {FILE}"));
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
        // The file may grow while it is read.
        file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(|error| format!("{name}: {error}"))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let place = error.utf8_error().valid_up_to();
            format!("{name}: found bytes that are not UTF-8, from byte {place} on, expected {FILE}")
        })?;
        Known::parse(&text, &name.to_string())
    }

    /// Reads the text of a known-failures file, which error messages call `name`. It is checked as strictly
    /// as a case file.
    ///
    /// # Errors
    /// All errors, one per line, each with its line and column.
    pub fn parse(text: &str, name: &str) -> Result<Known, String> {
        if text.trim().is_empty() {
            return Err(format!("{name}: found an empty file, expected {FILE}"));
        }
        let document = Document::parse(text, name).map_err(|errors| errors.to_string())?;
        let mut reader = Reader { document, seen: HashSet::new(), globs: 0, errors: Vec::new() };
        let known = reader.known();
        LoadErrors::none(reader.errors).map_err(|errors| errors.to_string())?;
        known.ok_or_else(|| format!("{name}: found nothing to read, expected {FILE}"))
    }

    /// Whether the file covers this version of its implementation.
    pub fn covers(&self, version: &str) -> bool {
        self.versions.contain(version)
    }

    /// Checks that each entry describes a defect: it matches a case that does not test a convention as a
    /// whole. An implementation that does not follow a convention does not declare it, and then cannot fail
    /// its cases.
    ///
    /// # Errors
    /// The entries whose every case tests a convention as a whole, one per line.
    pub fn check_against(&self, suite: &Suite) -> Result<(), String> {
        let conventional = |entry: &&Entry| {
            let mut cases = suite.cases.iter().filter(|case| entry.matches(&case.id)).peekable();
            cases.peek().is_some()
                && cases.all(|case| case.convention.is_some_and(decides_everything))
                && !suite.sweeps.iter().any(|sweep| entry.matches(&sweep.id))
        };
        let errors: Vec<String> = self
            .entries
            .iter()
            .filter(conventional)
            .map(|entry| {
                let convention = suite.get(&entry.case).and_then(|case| case.convention);
                let convention = convention.map_or("conventions".into(), |name| format!("`{name}`"));
                format!(
                    "known failure `{}` of {}: found only cases that test {convention}, expected a defect: leave the \
                     convention out of the declared ones, and the entry out of this file",
                    entry.case, self.implementation
                )
            })
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
    }

    /// Removes the entries that match none of these cases, for a file about the whole suite if only a part of
    /// the suite (or another one) is run.
    pub fn keep_only<'a>(&mut self, ids: impl Iterator<Item = &'a str>) {
        let ids: Vec<&str> = ids.collect();
        self.entries.retain(|entry| ids.iter().any(|id| entry.matches(id)));
    }

    /// Every entry, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry that matches a case as it is written: the first about a position of the optimiser that was
    /// asked for, otherwise the first about any.
    pub fn entry(&self, id: &str) -> Option<&Entry> {
        let of_position = |entry: &&Entry| entry.optimiser.is_some_and(|one| self.positions.contains(&one));
        let matching = || self.entries.iter().filter(|entry| entry.given.is_none() && entry.matches(id));
        matching().find(of_position).or_else(|| matching().find(|entry| entry.optimiser.is_none()))
    }

    /// The entry about a case in a position of the optimiser: the first that names it, otherwise the first
    /// that names none.
    pub(crate) fn entry_at(&self, id: &str, position: Optimiser) -> Option<&Entry> {
        let matching = || self.entries.iter().filter(|entry| entry.given.is_none() && entry.matches(id));
        let at = |of: Option<Optimiser>| matching().find(|entry| entry.optimiser == of);
        at(Some(position)).or_else(|| at(None))
    }

    /// Makes the file one about a system whose optimiser is in these positions, because it was asked for. The
    /// entries about one of them then count, and the cases of those that do not name one may pass.
    pub fn ask_optimiser(&mut self, positions: &[Optimiser]) {
        self.positions = positions.to_vec();
        self.entries
            .iter_mut()
            .filter(|entry| entry.optimiser.is_none())
            .for_each(|entry| entry.sometimes = true);
    }

    /// The first entry that matches a case in one of these modes.
    pub fn entry_given(&self, id: &str, modes: &[Mode]) -> Option<&Entry> {
        let in_a_mode = |entry: &&Entry| entry.given.is_some_and(|mode| modes.contains(&mode));
        self.entries.iter().filter(in_a_mode).find(|entry| entry.matches(id))
    }

    /// The entries that match none of these cases.
    pub fn unmatched<'a>(&self, ids: impl Iterator<Item = &'a str>) -> Vec<&Entry> {
        let ids: Vec<&str> = ids.collect();
        self.entries.iter().filter(|entry| !ids.iter().any(|id| entry.matches(id))).collect()
    }
}

/// Whether a convention decides the whole answer to its cases. Others decide single values of a result, whose
/// other values and dtype can still be wrong.
fn decides_everything(convention: Convention) -> bool {
    match convention {
        Convention::CheckedSizes
        | Convention::SeparateDtypes
        | Convention::UnusedOperands
        | Convention::RefusalOrder
        | Convention::GradientRefusals
        | Convention::UndefinedFunctions
        | Convention::InferredRefusals => true,
        Convention::GradientTies | Convention::ZeroSigns => false,
    }
}

impl Entry {
    fn matches(&self, id: &str) -> bool {
        self.case == id || self.glob.matches(id)
    }

    /// The result of a listed case. A case that fails sometimes is a known failure either way: a pass by
    /// chance does not count as a pass.
    pub(crate) fn applied_to<T>(&self, judged: Judged<T>) -> Judged<T> {
        match judged.status {
            Status::Failed | Status::Errored => {
                let known = if self.sometimes { "known to fail sometimes" } else { "known" };
                let detail = format!("{known}: {} ({})", self.reason, judged.detail);
                Judged { status: Status::KnownFailure, detail, finding: self.finding, ..judged }
            }
            Status::Passed | Status::Agrees | Status::Differs if self.sometimes => {
                let detail = format!("known to fail sometimes: {} (this time it passes)", self.reason);
                Judged { status: Status::KnownFailure, detail, finding: self.finding, ..judged }
            }
            Status::Passed | Status::Agrees => {
                let detail =
                    format!("passes, but `{}` is listed as a known failure: {}", self.case, self.reason);
                Judged { status: Status::UnexpectedPass, detail, ..judged }
            }
            Status::Differs => {
                let detail = format!(
                    "{}, which is no failure, but `{}` is listed as one: {}",
                    judged.detail, self.case, self.reason
                );
                Judged { status: Status::UnexpectedPass, detail, ..judged }
            }
            Status::Skipped | Status::KnownFailure | Status::UnexpectedPass => judged,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "implementation: mine\nknown:\n  - {case: numpy/zero/*, reason: takes the maximum, url: 'https://example.org/1'}\n";

    #[test]
    fn entries_are_ids_or_globs() {
        let known = Known::parse(FILE, "known.yaml").unwrap();
        assert!(known.entry("numpy/zero/a").is_some());
        assert!(known.entry("numpy/ones/a").is_none());
        assert_eq!(known.unmatched(["xla/a"].into_iter()).len(), 1);
        assert!(known.unmatched(["numpy/zero/b"].into_iter()).is_empty());
    }

    #[test]
    fn several_cases_share_a_reason() {
        let text =
            "implementation: mine\nknown:\n  - {cases: [a, b/*], reason: c, url: 'https://example.org/1'}\n";
        let known = Known::parse(text, "known.yaml").unwrap();
        assert_eq!(known.entry("b/c").unwrap().reason, "c");
        let unmatched = known.unmatched(["b/c"].into_iter());
        assert_eq!(unmatched.iter().map(|entry| entry.case.as_str()).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn entries_for_other_cases_are_removed() {
        let mut known = Known::parse(FILE, "known.yaml").unwrap();
        known.keep_only(["numpy/zero/a"].into_iter());
        assert!(known.entry("numpy/zero/a").is_some());
        known.keep_only(["xla/a"].into_iter());
        assert!(known.entry("numpy/zero/a").is_none());
    }

    #[test]
    fn a_listed_case_that_passes_is_a_failure() {
        let known = Known::parse(FILE, "known.yaml").unwrap();
        let entry = known.entry("numpy/zero/a").unwrap();
        assert_eq!(entry.applied_to(Judged::<()>::new(Status::Passed, "")).status, Status::UnexpectedPass);
        assert_eq!(entry.applied_to(Judged::<()>::new(Status::Failed, "")).status, Status::KnownFailure);
        assert_eq!(entry.applied_to(Judged::<()>::new(Status::Errored, "")).status, Status::KnownFailure);
        assert_eq!(entry.applied_to(Judged::<()>::new(Status::Skipped, "")).status, Status::Skipped);
        let agrees = entry.applied_to(Judged::<()>::new(Status::Agrees, ""));
        assert_eq!(agrees.status, Status::UnexpectedPass);
        let differs =
            entry.applied_to(Judged::<()>::new(Status::Differs, "differs from the convention zero-signs"));
        assert_eq!(differs.status, Status::UnexpectedPass);
        assert!(
            differs.detail.starts_with("differs from the convention zero-signs, which is no failure, but `")
        );
    }

    #[test]
    fn a_case_that_fails_sometimes_is_a_known_failure_either_way() {
        let file = FILE.replace("url:", "sometimes: true, url:");
        let known = Known::parse(&file, "known.yaml").unwrap();
        let entry = known.entry("numpy/zero/a").unwrap();
        let passed = entry.applied_to(Judged::<()>::new(Status::Passed, ""));
        assert_eq!(passed.status, Status::KnownFailure);
        assert_eq!(passed.detail, "known to fail sometimes: takes the maximum (this time it passes)");
        let failed = entry.applied_to(Judged::<()>::new(Status::Errored, "it died"));
        assert_eq!(failed.status, Status::KnownFailure);
        assert_eq!(failed.detail, "known to fail sometimes: takes the maximum (it died)");
        assert_eq!(entry.applied_to(Judged::<()>::new(Status::Skipped, "")).status, Status::Skipped);
        let never = Known::parse(&FILE.replace("url:", "sometimes: false, url:"), "known.yaml").unwrap();
        let passed = never.entry("numpy/zero/a").unwrap().applied_to(Judged::<()>::new(Status::Passed, ""));
        assert_eq!(passed.status, Status::UnexpectedPass);
    }

    #[test]
    fn errors_state_the_place_and_the_expectation() {
        let with = |entry: &str| format!("{FILE}  - {entry}\n");
        let url = "url: 'https://example.org/2'";
        for (bad, expected) in [
            (String::new(), " found an empty file, expected a known-failures file: `implementation: NAME`"),
            ("known: []".into(), "1:1: found no field `implementation`, expected one"),
            ("- a".into(), "1:1: found sequence, expected a mapping with `implementation: NAME` and"),
            ("implementation: [".into(), "2:1: implementation[0]: found a syntax error"),
            (
                "implementation: mine\nknown: 7".into(),
                "2:8: known: found integer `7`, expected a list of `{case, reason, finding}`",
            ),
            (format!("{FILE}extra: 1"), "4:1: extra: found unknown field `extra`, expected one of `format`"),
            (format!("format: 2\n{FILE}"), "1:9: format: found 2, expected 1"),
            (
                format!("versions: {{from: x}}\n{FILE}"),
                "1:11: versions: found `x`, expected versions that begin with a number, such as \"2.4\"",
            ),
            (
                format!("versions: {{from: '2', before: '1.9'}}\n{FILE}"),
                "1:11: versions: found no version from 2 and before 1.9, expected at least one",
            ),
            (
                format!("versions: {{until: '2'}}\n{FILE}"),
                "1:12: versions.until: found unknown field `until`, expected `from` or `before`",
            ),
            (
                with(&format!("{{case: a, reason: '', {url}}}")),
                "4:23: case a: known[1].reason: found no reason, expected why it fails",
            ),
            (
                with("{case: a, reason: b}"),
                "4:5: case a: known[1]: found no `finding` and no `url`, expected one of them: the number",
            ),
            (
                with("{case: a, reason: b, finding: seven}"),
                "4:35: known[1].finding: found string \"seven\", expected u32",
            ),
            (
                with("{case: a, reason: b, url: here}"),
                "4:31: case a: known[1].url: found `here`, expected a url such as \"https://...\"",
            ),
            (with(&format!("{{reason: b, {url}}}")), "4:5: known[1]: found no `case`, expected its id"),
            (
                with(&format!("{{case: numpy/zero/*, reason: b, {url}}}")),
                "4:5: case numpy/zero/*: known[1]: found a second entry, expected one",
            ),
            (
                with("{case: a, cause: b}"),
                "4:15: known[1].cause: found unknown field `cause`, expected one of",
            ),
            (
                with("{case: a, case: b}"),
                "4:15: known[1]: found the key `case` twice, expected each key once",
            ),
            (
                with(&format!("{{case: 'a[', reason: b, {url}}}")),
                "4:5: case a[: known[1]: found `[` without `]`, expected",
            ),
            (
                with(&format!("{{cases: [], reason: b, {url}}}")),
                "4:13: known[1].cases: found an empty list, expected at least one case",
            ),
            (
                with(&format!("{{cases: [a], case: b, reason: c, {url}}}")),
                "4:5: known[1]: found `case` and `cases`, expected one of them",
            ),
            (
                with(&format!("{{cases: [a, b, a], reason: c, {url}}}")),
                "4:5: case a: known[1]: found a second entry, expected one",
            ),
            (
                with("{case: a, sometimes: maybe}"),
                "4:26: known[1].sometimes: found string \"maybe\", expected a boolean",
            ),
            (with("{case: [a]}"), "4:12: known[1].case: found sequence, expected a string"),
            (with("x"), "4:5: known[1]: found string \"x\", expected an entry `{case, reason, finding}`"),
            (
                with("{case: a, reason: no}"),
                "4:23: known[1].reason: found `no`, expected `true` or `false`, or",
            ),
        ] {
            let told = Known::parse(&bad, "known.yaml").err().unwrap_or_else(|| panic!("{bad}"));
            assert!(told.starts_with(&format!("known.yaml:{expected}")), "{bad}: {told}");
        }
        assert!(Known::parse(&format!("format: 1\n{FILE}"), "known.yaml").is_ok());
        let found = Known::parse(&with("{case: a, reason: b, finding: 35}"), "known.yaml").unwrap();
        let entry = found.entry("a").unwrap();
        assert_eq!((entry.finding, entry.url.as_deref()), (Some(35), None));
    }

    #[test]
    fn globs_are_limited_together_because_every_id_is_matched_with_each() {
        let file = |count: usize| {
            let entry = |place| {
                let stars = "*a".repeat(45);
                format!("  - {{case: '{stars}{place:06}', reason: b, finding: 1}}\n")
            };
            format!("implementation: mine\nknown:\n{}", (0..count).map(entry).collect::<String>())
        };
        assert!(Known::parse(&file(42), "known.yaml").is_ok());
        let errors = Known::parse(&file(50), "known.yaml").err().unwrap();
        let expected =
            "found globs of more than 4096 bytes together, expected fewer or shorter globs, or ids";
        assert!(errors.contains(expected) && errors.starts_with("known.yaml:45:"), "{errors}");
        let ids: String =
            (0..2000).map(|id| format!("  - {{case: a{id}, reason: b, finding: 1}}\n")).collect();
        assert!(Known::parse(&format!("implementation: mine\nknown:\n{ids}"), "known.yaml").is_ok());
    }

    #[test]
    fn an_entry_is_a_defect_and_not_a_convention() {
        let suite = Suite::builtin().unwrap();
        let checked = |case: &str| {
            let text =
                format!("implementation: mine\nknown:\n  - {{case: '{case}', reason: b, finding: 1}}\n");
            Known::parse(&text, "known.yaml").unwrap().check_against(&suite)
        };
        let error = checked("numpy/dtypes/add-of-bool").unwrap_err();
        assert!(
            error.starts_with(
                "known failure `numpy/dtypes/add-of-bool` of mine: found only cases that test `undefined-functions`,"
            ),
            "{error}"
        );
        assert!(checked("numpy/dtypes/add-of-*").is_err());
        assert_eq!(checked("numpy/zero/*"), Ok(()));
        assert_eq!(checked("numpy/dtypes/*"), Ok(()), "a glob over other cases too");
        assert_eq!(checked("numpy/relations/adjoint"), Ok(()), "a sweep");
        assert_eq!(checked("numpy/gradient/maximum-of-f32"), Ok(()), "its dtype can still be wrong");
        assert_eq!(checked("numpy/no-such-case"), Ok(()), "reported as matching no case");
    }

    #[test]
    fn all_errors_are_reported_together() {
        let text = "implementation: mine\nformat: 3\nknown:\n  - {case: a}\n  - {case: b, cause: c}\n";
        let told = Known::parse(text, "known.yaml").err().unwrap();
        assert_eq!(
            told.lines().map(|line| line.split(", expected").next().unwrap()).collect::<Vec<_>>(),
            [
                "known.yaml:2:9: format: found 3",
                "known.yaml:4:5: case a: known[0].reason: found no reason",
                "known.yaml:4:5: case a: known[0]: found no `finding` and no `url`",
                "known.yaml:5:15: known[1].cause: found unknown field `cause`",
            ]
        );
        let many = format!("implementation: mine\nknown:\n{}", "  - {case: a}\n".repeat(200));
        let told = Known::parse(&many, "known.yaml").err().unwrap();
        assert!(
            told.ends_with("and 499 more: correct these to see them") && told.lines().count() == 101,
            "{told}"
        );
    }
}
