//! Reads JSON reports, as far as a comparison, the matrix and a merged report need. Unknown fields are
//! ignored, so that reports of later versions can be read; fields that earlier versions did not write are
//! optional.

use super::{Declares, clean};
use broadcheck::run::Status;
use broadcheck_judge::compare::DifferenceKind;
use broadcheck_spec::{Convention, DType, Nature, RuleSet};
use serde::Deserialize;
use serde::de::{Error as _, SeqAccess, Visitor};
use std::fmt::{self, Display};
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::str::FromStr;

/// The largest report that is read, in bytes. A report of the whole suite has about 1 MB per implementation.
const MAX_BYTES: u64 = 1 << 26;

/// The most implementations of a report.
const MAX_IMPLEMENTATIONS: usize = 1 << 16;

/// What a file should be, for error messages.
const EXPECTED: &str = "a report written by `broadcheck check --format json`";

/// The kinds of difference that a report may name.
const KINDS: [DifferenceKind; 8] = [
    DifferenceKind::Values,
    DifferenceKind::Shape,
    DifferenceKind::DType,
    DifferenceKind::WronglyAccepted,
    DifferenceKind::WronglyRefused,
    DifferenceKind::Refusal,
    DifferenceKind::Extra,
    DifferenceKind::Optimiser,
];

/// A report that was read from a file.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// The suite that was run.
    pub(crate) suite: RecordedSuite,
    /// Whether the run was interrupted.
    #[serde(default)]
    pub(crate) interrupted: bool,
    /// One per implementation.
    #[serde(deserialize_with = "runs")]
    pub(crate) implementations: Vec<RecordedRun>,
}

/// The suite of a report.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct RecordedSuite {
    /// The version of broadcheck.
    pub(crate) version: String,
    /// The maximum number of cases run of each sweep, if not all.
    #[serde(default)]
    pub(crate) sweep_sample: Option<u64>,
}

/// The results of one implementation.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct RecordedRun {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// What it declares besides rule sets and conventions. Earlier versions did not write it.
    #[serde(default)]
    pub(crate) declares: Option<Declares>,
    /// The declared rule sets of which a case was selected.
    #[serde(default)]
    pub(crate) asked: Vec<RecordedAsked>,
    /// The conventions of which a case was asked.
    #[serde(default)]
    pub(crate) conventions: Vec<RecordedConvention>,
    /// Entries of the known-failures file that match no case.
    #[serde(default)]
    pub(crate) known_without_case: Vec<RecordedLeftover>,
    /// The cases and sweeps.
    pub(crate) cases: Vec<RecordedCase>,
}

/// A rule set that an implementation declares.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct RecordedAsked {
    /// The rule set.
    #[serde(deserialize_with = "parsed")]
    pub(crate) rules: RuleSet,
}

/// A convention, and whether an implementation declares it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct RecordedConvention {
    /// The convention.
    #[serde(deserialize_with = "parsed")]
    pub(crate) name: Convention,
    /// Whether the implementation declares it.
    pub(crate) declared: bool,
}

/// An entry of a known-failures file that matches no case.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct RecordedLeftover {
    /// The id or glob.
    pub(crate) case: String,
    /// The reason that the file gives.
    pub(crate) reason: String,
}

/// A case or sweep. A report has up to a million: the texts take no more than their bytes.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct RecordedCase {
    /// Its id.
    pub(crate) id: Box<str>,
    /// How it ended.
    #[serde(deserialize_with = "status")]
    pub(crate) status: Status,
    /// The reason; empty for a pass.
    pub(crate) detail: Box<str>,
    /// What must hold.
    #[serde(default)]
    pub(crate) title: Box<str>,
    /// The clause that it cites.
    #[serde(default)]
    pub(crate) clause: Box<str>,
    /// The kind of difference, if the outcome is wrong.
    #[serde(default, deserialize_with = "difference")]
    pub(crate) difference: Option<DifferenceKind>,
    /// Whether it is a sweep.
    #[serde(default)]
    pub(crate) sweep: bool,
    /// The rule set; `None` for a sweep over several.
    #[serde(default, deserialize_with = "parsed_or_null")]
    pub(crate) rules: Option<RuleSet>,
    /// Its nature.
    #[serde(default, deserialize_with = "nature")]
    pub(crate) nature: Option<Nature>,
    /// The convention that it tests.
    #[serde(default, deserialize_with = "parsed_or_null")]
    pub(crate) convention: Option<Convention>,
    /// The dtype in which it was asked, if not in its own.
    #[serde(default, deserialize_with = "parsed_or_null")]
    pub(crate) retyped: Option<DType>,
    /// Whether it is a case of the operation `infer`.
    #[serde(default)]
    pub(crate) inference: bool,
    /// How a passed inference is wider than exact.
    #[serde(default)]
    pub(crate) wider: Option<Box<str>>,
    /// The number of the finding that describes a known failure.
    #[serde(default)]
    pub(crate) finding: Option<u32>,
}

impl RecordedCase {
    /// The reason; for a passed inference that is wider than exact, how it is wider.
    pub(crate) fn reason(&self) -> &str {
        self.wider.as_deref().unwrap_or(&self.detail)
    }
}

impl RecordedRun {
    /// The rule sets that a report declares. A report of an earlier version does not: then those of which a
    /// case was asked.
    pub(crate) fn declared_rules(&self) -> Vec<RuleSet> {
        if !self.asked.is_empty() {
            return self.asked.iter().map(|asked| asked.rules).collect();
        }
        let any = |rules: &RuleSet| {
            self.cases.iter().any(|case| case.rules == Some(*rules) && case.status != Status::Skipped)
        };
        RuleSet::ALL.into_iter().filter(any).collect()
    }
}

/// The implementations, unless they are too many.
fn runs<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<RecordedRun>, D::Error> {
    struct Runs;

    impl<'de> Visitor<'de> for Runs {
        type Value = Vec<RecordedRun>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MAX_IMPLEMENTATIONS} implementations")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut runs = Vec::new();
            while let Some(run) = items.next_element()? {
                if runs.len() == MAX_IMPLEMENTATIONS {
                    return Err(A::Error::invalid_length(MAX_IMPLEMENTATIONS + 1, &self));
                }
                runs.push(run);
            }
            Ok(runs)
        }
    }

    deserializer.deserialize_seq(Runs)
}

/// A status by its name in reports.
fn status<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Status, D::Error> {
    let name = String::deserialize(deserializer)?;
    Status::ALL.into_iter().find(|status| status.name() == name).ok_or_else(|| {
        let names = Status::ALL.map(Status::name).join(" ");
        serde::de::Error::custom(format!("found the status `{name}`, expected one of {names}"))
    })
}

/// A value by its name.
fn parsed<'de, D: serde::Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

/// A value by its name, or null.
fn parsed_or_null<'de, D: serde::Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let name = Option::<String>::deserialize(deserializer)?;
    name.map(|name| name.parse()).transpose().map_err(serde::de::Error::custom)
}

/// A nature by its name.
fn nature<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Nature>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let found = Nature::ALL.into_iter().find(|nature| nature.name() == name);
    found.map(Some).ok_or_else(|| {
        let names = Nature::ALL.map(Nature::name).join(" ");
        serde::de::Error::custom(format!("found the nature `{name}`, expected one of {names}"))
    })
}

/// A kind of difference by its words.
fn difference<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<DifferenceKind>, D::Error> {
    let words = String::deserialize(deserializer)?;
    let found = KINDS.into_iter().find(|kind| kind.to_string() == words);
    found.map(Some).ok_or_else(|| {
        let all = KINDS.map(|kind| format!("`{kind}`")).join(", ");
        serde::de::Error::custom(format!("found the difference `{words}`, expected one of {all}"))
    })
}

impl Recorded {
    /// Reads a report from a file.
    ///
    /// # Errors
    /// The file, what was found and what was expected.
    pub(crate) fn load(path: &Path) -> Result<Recorded, String> {
        let name = path.display();
        let metadata = fs::metadata(path).map_err(|error| format!("{name}: {error}, expected {EXPECTED}"))?;
        if !metadata.is_file() {
            return Err(format!("{name}: found something other than a regular file, expected {EXPECTED}"));
        }
        let too_large = || format!("{name}: found more than {MAX_BYTES} bytes, expected {EXPECTED}");
        if metadata.len() > MAX_BYTES {
            return Err(too_large());
        }
        let mut bytes = Vec::new();
        let file = fs::File::open(path).map_err(|error| format!("{name}: {error}"))?;
        // The file may grow while it is read.
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| format!("{name}: {error}"))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(too_large());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let place = error.utf8_error().valid_up_to();
            format!("{name}: found bytes that are not UTF-8, from byte {place} on, expected {EXPECTED}")
        })?;
        Recorded::parse(&text).map_err(|error| format!("{name}: {error}"))
    }

    /// Reads the text of a report.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub(crate) fn parse(text: &str) -> Result<Recorded, String> {
        // Some editors and shells write a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim().is_empty() {
            return Err(format!("found an empty file, expected {EXPECTED}"));
        }
        let mut recorded: Recorded = serde_json::from_str(text).map_err(|error| {
            let found = if error.is_data() { error.to_string() } else { not_json(&error) };
            format!("found {found}, expected {EXPECTED}")
        })?;
        if recorded.implementations.is_empty() {
            return Err(format!("found no implementation, expected {EXPECTED}"));
        }
        for run in &recorded.implementations {
            let mut ids: Vec<&str> = run.cases.iter().map(|case| &*case.id).collect();
            ids.sort_unstable();
            if let Some(twice) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(format!("{}: found the case `{}` twice, expected it once", run.name, twice[0]));
            }
        }
        recorded.clean();
        Ok(recorded)
    }

    /// Makes the texts safe to show: a file may contain anything.
    fn clean(&mut self) {
        self.suite.version = clean::name(&self.suite.version);
        for run in &mut self.implementations {
            run.name = clean::name(&run.name);
            run.version = clean::name(&run.version);
            for case in &mut run.cases {
                let texts = [&mut case.id, &mut case.detail, &mut case.title, &mut case.clause];
                for text in texts.into_iter().chain(&mut case.wider) {
                    if !clean::is_visible(text) {
                        *text = clean::visible(text).into();
                    }
                }
            }
        }
    }
}

/// Without these words, the parser's `expected value` would read as what was found.
fn not_json(error: &serde_json::Error) -> String {
    format!("text that is not JSON ({error})")
}
