//! The results of a run of the suite, and the formats of the report: [`text`] for a terminal, `json` for
//! programs, [`junit`] for continuous integration, [`markdown`] for a pull request, [`html`] as a page,
//! [`badge`] for a README. [`output`] writes them to files, and overwrites nothing but reports.

pub mod badge;
pub(crate) mod clean;
pub(crate) mod compare;
mod declares;
pub(crate) mod divergence;
pub mod html;
pub(crate) mod issue;
pub(crate) mod json;
pub mod junit;
pub mod known_draft;
pub mod markdown;
pub(crate) mod matrix;
pub mod output;
pub(crate) mod read;
pub(crate) mod site;
mod table;
#[cfg(test)]
mod tests;
pub mod text;
mod verdict;

pub(crate) use broadcheck_judge::describe::{
    describe_expectation, describe_expected_inference, describe_request, describe_signature,
};
pub(crate) use broadcheck_judge::text::plural;
pub use declares::Declares;
pub(crate) use verdict::{Shared, shared};

use broadcheck::run::Status;
use broadcheck_judge::compare::DifferenceKind;
use broadcheck_spec::{Convention, DType, Nature, RuleSet};

/// The product with its version: the first words of every report.
pub const PRODUCT: &str = concat!("broadcheck ", env!("CARGO_PKG_VERSION"));

const AGREE: &str = "agree with a convention";

/// A run of cases and sweeps against implementations.
#[derive(Clone, Debug)]
pub struct Report {
    /// The number of selected cases.
    pub cases: usize,
    /// The number of selected sweeps.
    pub sweeps: usize,
    /// The maximum number of cases run of each sweep; `None` for all.
    pub sample: Option<u64>,
    /// The percentage of the shape cases of each declared rule set that must be asked.
    pub min_asked: Option<u8>,
    /// One per implementation.
    pub runs: Vec<Run>,
    /// Whether the run was interrupted: missing cases were not judged.
    pub interrupted: bool,
}

/// The results of one implementation.
#[derive(Clone, Debug)]
pub struct Run {
    /// The implementation's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether the command line names it: then it must pass some case.
    pub named: bool,
    /// The rule sets that it declares.
    pub rules: Vec<RuleSet>,
    /// The conventions that it declares.
    pub conventions: Vec<Convention>,
    /// What it declares besides; `None` if a report does not say.
    pub declares: Option<Declares>,
    /// The results, in the order of the suite.
    pub results: Vec<Entry>,
    /// Entries of the known-failures file that match no case of the suite.
    pub leftovers: Vec<Leftover>,
}

/// An entry of a known-failures file that matches no case.
#[derive(Clone, Debug)]
pub struct Leftover {
    /// The id or glob.
    pub case: String,
    /// The reason that the file gives.
    pub reason: String,
}

/// The result of one case or sweep.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The id.
    pub id: String,
    /// Whether it is a sweep.
    pub sweep: bool,
    /// Whether it is a case of the operation `infer`.
    pub inference: bool,
    /// The rule set; `None` for a sweep over several.
    pub rules: Option<RuleSet>,
    /// The clause of SEMANTICS.md.
    pub clause: String,
    /// Why it holds.
    pub nature: Nature,
    /// The convention that it tests.
    pub convention: Option<Convention>,
    /// The dtype in which it was asked, if not in its own.
    pub retyped: Option<DType>,
    /// The number of the finding that describes a known failure.
    pub finding: Option<u32>,
    /// What must hold.
    pub title: String,
    /// How it ended.
    pub status: Status,
    /// The kind of difference, if the outcome is wrong.
    pub kind: Option<DifferenceKind>,
    /// The reason; empty for a pass.
    pub detail: String,
    /// How a passed inference is wider than exact, in words.
    pub wider: Option<String>,
    /// The lines of the request; empty unless it failed.
    pub request: Vec<String>,
    /// The lines of the expectation; empty unless it failed.
    pub expectation: Vec<String>,
    /// The sources of the expectation.
    pub sources: Vec<String>,
    /// Its file and line.
    pub location: String,
    /// The command that reruns it alone, for this implementation.
    pub rerun: String,
}

/// The number of results with each status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The outcome was the expected one. Cases of conventions are counted apart.
    pub passed: usize,
    /// It was not; includes unexpected passes.
    pub failed: usize,
    /// The implementation does not declare the case.
    pub skipped: usize,
    /// The implementation crashed, hung or gave an invalid answer.
    pub errored: usize,
    /// It failed as listed in the known-failures file.
    pub known: usize,
    /// The case tests a convention, and the outcome was the expected one.
    pub agrees: usize,
    /// The case tests a convention that the implementation does not declare, and the outcome was another one.
    pub differs: usize,
    /// Of those that passed or agreed: inferences that are wider than exact (clause INFER-3).
    pub wider: usize,
}

impl Summary {
    /// The counts of these results.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Summary {
        let mut summary = Summary::default();
        for entry in entries {
            *match entry.status {
                Status::Passed => &mut summary.passed,
                Status::Failed | Status::UnexpectedPass => &mut summary.failed,
                Status::Skipped => &mut summary.skipped,
                Status::Errored => &mut summary.errored,
                Status::KnownFailure => &mut summary.known,
                Status::Agrees => &mut summary.agrees,
                Status::Differs => &mut summary.differs,
            } += 1;
            summary.wider += usize::from(entry.wider.is_some());
        }
        summary
    }
}

/// The verdict on a run as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A success.
    Ok,
    /// A success, but less than half of the shape cases of a declared rule set were asked.
    LittleAsked,
    /// Something failed.
    Failed,
    /// The run was interrupted.
    Interrupted,
}

impl Verdict {
    /// The words in the closing line.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::LittleAsked => "ok, but little was asked",
            Verdict::Failed => "FAILED",
            Verdict::Interrupted => "interrupted",
        }
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Ok => "ok",
            Verdict::LittleAsked => "little_asked",
            Verdict::Failed => "failed",
            Verdict::Interrupted => "interrupted",
        }
    }
}

impl Run {
    /// The counts over all rule sets.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.results)
    }

    /// The name with the version.
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

impl Report {
    /// Whether the run is a success: nothing failed, each implementation named on the command line passed a
    /// case, and as much was asked as required.
    pub fn held(&self) -> bool {
        let fine = |run: &Run| run.leftovers.is_empty() && !run.results.iter().any(|e| e.status.is_failure());
        self.runs.iter().all(fine)
            && self.silent().is_empty()
            && self.too_little().is_empty()
            && !self.interrupted
    }

    /// The implementations that neither failed nor answered a case acceptably although they had to: those
    /// named on the command line; all, if none of them did. Another answer to a convention is acceptable.
    pub fn silent(&self) -> Vec<&Run> {
        let answered = |run: &Run| {
            let Summary { passed, agrees, differs, .. } = run.summary();
            passed + agrees + differs > 0
        };
        let failed = |run: &Run| run.results.iter().any(|entry| entry.status.is_failure());
        let nobody = !self.runs.iter().any(answered);
        self.runs.iter().filter(|run| !answered(run) && !failed(run) && (nobody || run.named)).collect()
    }

    /// The failures with their implementations, silent wrong answers first.
    pub fn failures(&self) -> Vec<(&Run, &Entry)> {
        let mut failures: Vec<(&Run, &Entry)> = self
            .runs
            .iter()
            .flat_map(|run| run.results.iter().map(move |entry| (run, entry)))
            .filter(|(_, entry)| entry.status.is_failure())
            .collect();
        failures.sort_by_key(|(_, entry)| severity(entry));
        failures
    }

    /// The rule sets of the results, in the order of the tables; last `None`, for sweeps over several rule
    /// sets.
    pub fn rule_sets(&self) -> Vec<Option<RuleSet>> {
        let occurs =
            |set: &Option<RuleSet>| self.runs.iter().flat_map(|run| &run.results).any(|e| e.rules == *set);
        RuleSet::ALL.into_iter().map(Some).chain([None]).filter(occurs).collect()
    }

    /// The verdict on the run as a whole.
    pub fn verdict(&self) -> Verdict {
        match self.held() {
            _ if self.interrupted => Verdict::Interrupted,
            false => Verdict::Failed,
            true if self.little().is_empty() => Verdict::Ok,
            true => Verdict::LittleAsked,
        }
    }

    /// The closing line.
    pub fn closing(&self) -> String {
        let all = Summary::of(self.runs.iter().flat_map(|run| &run.results));
        let mut counts = vec![format!("{} passed", all.passed)];
        let entries = || self.runs.iter().flat_map(|run| &run.results);
        let wider = |status: Status| {
            let count = entries().filter(|entry| entry.wider.is_some() && entry.status == status).count();
            (count > 0).then(|| format!("{count} of them wider than exact"))
        };
        counts.extend(wider(Status::Passed));
        for (count, what) in [
            (all.failed, "failed"),
            (all.errored, "errored"),
            (all.known, "known to fail"),
            (all.agrees, AGREE),
            (all.differs, "differ from a convention"),
            (all.skipped, "skipped"),
        ] {
            if count > 0 {
                counts.push(format!("{count} {what}"));
            }
            if what == AGREE {
                counts.extend(wider(Status::Agrees));
            }
        }
        match self.runs.iter().map(|run| run.leftovers.len()).sum() {
            0 => {}
            1 => counts.push("1 known-failure entry without a case".into()),
            count => counts.push(format!("{count} known-failure entries without a case")),
        }
        match self.too_little().len() {
            0 => {}
            1 => counts.push("1 rule set asked too little".into()),
            count => counts.push(format!("{count} rule sets asked too little")),
        }
        format!(
            "{}: {}, {}: {}",
            self.verdict().words(),
            self.scope(),
            plural(self.runs.len(), "implementation"),
            counts.join(", ")
        )
    }

    /// `612 cases and 14 sweeps`, or `612 cases and 14 sweeps, sampled (at most 400 cases of each)`.
    fn scope(&self) -> String {
        let cases = plural(self.cases, "case");
        let sampled = self
            .sample
            .map(|most| format!(", sampled (at most {} of each)", plural(most, "case")))
            .unwrap_or_default();
        match self.sweeps {
            0 => cases,
            sweeps => format!("{cases} and {}{sampled}", plural(sweeps, "sweep")),
        }
    }
}

/// The order of failures in the report: wrong outcomes by kind of difference, then errors, then declared
/// cases that were skipped, then unexpected passes.
fn severity(entry: &Entry) -> (u8, Option<DifferenceKind>) {
    let rank = match (entry.status, entry.kind) {
        (Status::Failed, Some(_)) => 0,
        (Status::Errored, _) => 1,
        (Status::Failed, None) => 2,
        _ => 3,
    };
    (rank, entry.kind)
}

/// Breaks a line at spaces into parts that are at most this wide if possible.
pub(crate) fn wrapped(line: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in line.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= width {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}
