//! What a run of the suite found, and its faces: [`text`] for a terminal, [`json`] for programs, [`junit`] for
//! continuous integration, [`markdown`] for a pull request, [`html`] as a page, [`badge`] for a README. [`output`]
//! writes them to files without ever destroying one that is not a report.

pub mod badge;
pub mod clean;
pub mod compare;
pub mod divergence;
pub mod html;
pub mod json;
pub mod junit;
pub mod known_draft;
pub mod markdown;
pub mod output;
pub mod read;
mod table;
#[cfg(test)]
mod tests;
pub mod text;

pub use broadcheck_judge::describe::{describe_expectation, describe_request};
pub use broadcheck_judge::text::plural;

use broadcheck::run::Status;
use broadcheck_judge::compare::DifferenceKind;
use broadcheck_spec::RuleSet;

/// The name of the product with its version: the first words of every report.
pub const PRODUCT: &str = concat!("broadcheck ", env!("CARGO_PKG_VERSION"));

/// A run of cases and sweeps against implementations.
#[derive(Clone, Debug)]
pub struct Report {
    /// How many cases were selected.
    pub cases: usize,
    /// How many sweeps were selected.
    pub sweeps: usize,
    /// How many cases of a sweep were asked at most; `None` for all.
    pub sample: Option<u64>,
    /// One per implementation.
    pub runs: Vec<Run>,
    /// Whether the run was ended before its end: what is missing was not judged.
    pub interrupted: bool,
}

/// One implementation's part of it.
#[derive(Clone, Debug)]
pub struct Run {
    /// The implementation's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether it was asked for by name: then it must pass something.
    pub named: bool,
    /// The results, in the order of the suite.
    pub results: Vec<Entry>,
    /// Entries of the known-failures file that list nothing in the suite.
    pub leftovers: Vec<Leftover>,
}

/// An entry of a known-failures file that lists nothing.
#[derive(Clone, Debug)]
pub struct Leftover {
    /// The id or glob.
    pub case: String,
    /// The reason that the file gives.
    pub reason: String,
}

/// One case or sweep, judged.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The id.
    pub id: String,
    /// Whether it is a sweep.
    pub sweep: bool,
    /// The rule set; `None` for a sweep over several.
    pub rules: Option<RuleSet>,
    /// The clause of SEMANTICS.md.
    pub clause: String,
    /// What must hold.
    pub title: String,
    /// How it ended.
    pub status: Status,
    /// What sort of difference it is, where the outcome is a wrong one.
    pub kind: Option<DifferenceKind>,
    /// Why, in words; empty for a pass.
    pub detail: String,
    /// The request in lines; empty for what did not fail.
    pub request: Vec<String>,
    /// What was expected, in lines; empty for what did not fail.
    pub expectation: Vec<String>,
    /// Where it comes from.
    pub sources: Vec<String>,
    /// Where it stands.
    pub location: String,
    /// The command that judges only this, for this implementation.
    pub rerun: String,
}

/// How many ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// As expected.
    pub passed: usize,
    /// Not as expected; an unexpected pass is one of them.
    pub failed: usize,
    /// Outside what the implementation declares.
    pub skipped: usize,
    /// The implementation broke.
    pub errored: usize,
    /// Failed, and listed as known.
    pub known: usize,
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
            } += 1;
        }
        summary
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
    /// Whether everything held: nothing failed, and each implementation that was asked for passed something.
    pub fn held(&self) -> bool {
        let fine = |run: &Run| run.leftovers.is_empty() && !run.results.iter().any(|e| e.status.is_failure());
        self.runs.iter().all(fine) && self.silent().is_empty() && !self.interrupted
    }

    /// The implementations without a failure that passed nothing although they had to: those asked for by name;
    /// all, where no other passed anything either.
    pub fn silent(&self) -> Vec<&Run> {
        let passed = |run: &Run| run.summary().passed > 0;
        let failed = |run: &Run| run.results.iter().any(|entry| entry.status.is_failure());
        let nobody = !self.runs.iter().any(passed);
        self.runs.iter().filter(|run| !passed(run) && !failed(run) && (nobody || run.named)).collect()
    }

    /// What failed, with its implementation: silent wrong answers first.
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

    /// The rule sets that occur, in the order of the tables; `None` for sweeps over several, last.
    pub fn rule_sets(&self) -> Vec<Option<RuleSet>> {
        let occurs =
            |set: &Option<RuleSet>| self.runs.iter().flat_map(|run| &run.results).any(|e| e.rules == *set);
        RuleSet::ALL.into_iter().map(Some).chain([None]).filter(occurs).collect()
    }

    /// The closing line.
    pub fn closing(&self) -> String {
        let all = Summary::of(self.runs.iter().flat_map(|run| &run.results));
        let mut counts = vec![format!("{} passed", all.passed)];
        for (count, what) in [
            (all.failed, "failed"),
            (all.errored, "errored"),
            (all.known, "known to fail"),
            (all.skipped, "skipped"),
        ] {
            if count > 0 {
                counts.push(format!("{count} {what}"));
            }
        }
        match self.runs.iter().map(|run| run.leftovers.len()).sum() {
            0 => {}
            1 => counts.push("1 known-failure entry without a case".into()),
            count => counts.push(format!("{count} known-failure entries without a case")),
        }
        let verdict = if self.interrupted {
            "interrupted"
        } else if self.held() {
            "ok"
        } else {
            "FAILED"
        };
        format!(
            "{verdict}: {}, {}: {}",
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

/// The place of a failure in the report: the sorts of difference in their order, then what broke, what was
/// skipped inside what is declared, and what passes although it is listed as known.
fn severity(entry: &Entry) -> (u8, Option<DifferenceKind>) {
    let rank = match (entry.status, entry.kind) {
        (Status::Failed, Some(_)) => 0,
        (Status::Errored, _) => 1,
        (Status::Failed, None) => 2,
        _ => 3,
    };
    (rank, entry.kind)
}
