//! Compares two reports: what an upgrade of an implementation broke, and what it fixed.
//!
//! An answer is right (passed, whether or not listed as a known failure; agrees with a convention),
//! acceptable (differs from a convention), wrong (failed, errored, known failure) or missing (skipped). A
//! case is broken if it was right and is wrong or missing, or was acceptable and is wrong. It is fixed if it
//! was wrong or missing and is right. It has changed if it is wrong but was missing before, is wrong in
//! another way, or has become or is no longer acceptable: a convention is nobody's defect. A case that only
//! the old report has is gone: if it was right, the comparison fails, because nobody knows whether it still
//! is. Another version of broadcheck may have removed the case; then it is only counted.

mod render;

pub(crate) use render::{json, markdown, text};

use super::read::{Recorded, RecordedCase, RecordedRun};
use broadcheck::run::Status;
use broadcheck_judge::text::plural;
use std::collections::HashMap;

/// The number of implementations that a message lists.
const LISTED: usize = 20;

/// The change of a case between two reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Change {
    /// It was right or acceptable and is no longer.
    Broken,
    /// It is right and was not.
    Fixed,
    /// It was not right, is not now, and has another status or another difference.
    Changed,
    /// Only the new report has it.
    New,
    /// Only the old report has it.
    Gone,
}

impl Change {
    /// Every change, in the order of the output.
    pub(crate) const ALL: [Change; 5] =
        [Change::Broken, Change::Fixed, Change::Changed, Change::New, Change::Gone];

    /// The name in text and markdown.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Change::Broken => "broken",
            Change::Fixed => "fixed",
            Change::Changed => "changed",
            Change::New => "new",
            Change::Gone => "gone",
        }
    }

    /// The name in JSON, whose format says `mended` for fixed.
    pub(crate) fn json_name(self) -> &'static str {
        if self == Change::Fixed { "mended" } else { self.name() }
    }
}

/// The comparison of two reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Comparison<'a> {
    /// The implementations of both reports, in the order of the new one.
    pub(crate) runs: Vec<RunComparison<'a>>,
    /// Names with versions that only the new report has.
    pub(crate) new_runs: Vec<String>,
    /// Names with versions that only the old report has.
    pub(crate) gone_runs: Vec<String>,
    /// The versions of broadcheck: old and new.
    pub(crate) suites: [&'a str; 2],
    /// Whether the old and the new run were interrupted: cases missing from them were not judged.
    pub(crate) interrupted: [bool; 2],
}

/// An implementation that both reports have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunComparison<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its versions: old and new.
    pub(crate) versions: [&'a str; 2],
    /// The cases that differ, by change, then in the order of the reports.
    pub(crate) changes: Vec<CaseChange<'a>>,
    /// The number of cases that are the same.
    pub(crate) same: usize,
}

/// A case that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CaseChange<'a> {
    /// The kind of change.
    pub(crate) change: Change,
    /// The case in the report that has its current id and title: the new one, unless it is gone.
    pub(crate) case: &'a RecordedCase,
    /// The case in the old report.
    pub(crate) old: Option<&'a RecordedCase>,
    /// The case in the new report.
    pub(crate) new: Option<&'a RecordedCase>,
}

impl<'a> Comparison<'a> {
    /// Compares two reports.
    ///
    /// # Errors
    /// No implementation is in both reports, or a report contains a name twice.
    pub(crate) fn of(old: &'a Recorded, new: &'a Recorded) -> Result<Comparison<'a>, String> {
        let (before, after) = (by_name("OLD", old)?, by_name("NEW", new)?);
        let mut runs = Vec::new();
        let mut new_runs = Vec::new();
        for run in &new.implementations {
            match before.get(&*run.name) {
                Some(old) => runs.push(RunComparison::of(old, run)),
                None => new_runs.push(title(run)),
            }
        }
        let gone = old.implementations.iter().filter(|run| !after.contains_key(&*run.name));
        let gone_runs: Vec<String> = gone.map(title).collect();
        if runs.is_empty() {
            return Err(format!(
                "found {} in OLD and {} in NEW, expected an implementation that is in both",
                some(&gone_runs),
                some(&new_runs)
            ));
        }
        let suites = [old, new].map(|report| &*report.suite.version);
        let interrupted = [old.interrupted, new.interrupted];
        Ok(Comparison { runs, new_runs, gone_runs, suites, interrupted })
    }

    /// Whether nothing broke: no case is broken, no case that was right and no implementation is gone, the
    /// new run was not interrupted, and some case of each implementation was compared.
    pub(crate) fn held(&self) -> bool {
        let broken = |run: &RunComparison<'_>| run.count(Change::Broken) > 0 || run.compared() == 0;
        !self.runs.iter().any(broken)
            && self.unanswered() == 0
            && self.gone_runs.is_empty()
            && !self.interrupted[1]
    }

    /// The number of cases that were right and are gone, although the suite still contains them.
    fn unanswered(&self) -> usize {
        if self.suites[0] != self.suites[1] {
            return 0;
        }
        let was_right = |one: &&CaseChange<'_>| one.old.is_some_and(|case| is_right(case.status));
        let gone = self.runs.iter().flat_map(|run| &run.changes).filter(|one| one.change == Change::Gone);
        gone.filter(was_right).count()
    }

    /// The closing line.
    pub(crate) fn closing(&self) -> String {
        let total = |change: Change| self.runs.iter().map(|run| run.count(change)).sum::<usize>();
        let same: usize = self.runs.iter().map(|run| run.same).sum();
        let mut counts: Vec<String> = Change::ALL
            .into_iter()
            .filter(|&change| change == Change::Broken || total(change) > 0)
            .map(|change| format!("{} {}", total(change), change.name()))
            .collect();
        counts.push(format!("{same} as before"));
        for (runs, what) in [(&self.gone_runs, "gone"), (&self.new_runs, "new")] {
            if !runs.is_empty() {
                counts.push(format!("implementations {what}: {}", some(runs)));
            }
        }
        let verdict = if self.held() { "ok" } else { "BROKEN" };
        format!("{verdict}: {}", counts.join(", "))
    }

    /// Remarks about the reports as a whole.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        for (interrupted, which) in self.interrupted.iter().zip(["OLD", "NEW"]) {
            if *interrupted {
                remarks.push(format!("{which} was interrupted: cases missing from it were not judged"));
            }
        }
        let unlike = || self.runs.iter().filter(|run| run.compared() == 0);
        for run in unlike().take(LISTED) {
            remarks.push(format!("{}: no case is in both reports", run.name));
        }
        match unlike().count().saturating_sub(LISTED) {
            0 => {}
            more => remarks
                .push(format!("{}, too: no case is in both reports", plural(more, "other implementation"))),
        }
        match self.unanswered() {
            0 => {}
            count => {
                remarks.push(format!("{} no longer answered, but right before", plural(count, "case")));
            }
        }
        if self.suites[0] != self.suites[1] {
            let [old, new] = &self.suites;
            remarks.push(format!("the suites differ: broadcheck {old} and {new}"));
        }
        remarks
    }
}

/// The first names of a list, and how many others there are.
fn some(names: &[String]) -> String {
    let first = names[..names.len().min(LISTED)].join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

/// The implementations of a report by name. An error if two have the same.
fn by_name<'a>(which: &str, report: &'a Recorded) -> Result<HashMap<&'a str, &'a RecordedRun>, String> {
    let mut by_name = HashMap::new();
    for run in &report.implementations {
        if by_name.insert(&*run.name, run).is_some() {
            return Err(format!("{which}: found two implementations `{}`, expected one", run.name));
        }
    }
    Ok(by_name)
}

fn title(run: &RecordedRun) -> String {
    format!("{} {}", run.name, run.version)
}

impl<'a> RunComparison<'a> {
    fn of(old: &'a RecordedRun, new: &'a RecordedRun) -> RunComparison<'a> {
        // What remains of the old report is gone.
        let mut before: HashMap<&str, &RecordedCase> =
            old.cases.iter().map(|case| (&*case.id, case)).collect();
        let mut changes = Vec::new();
        let mut same = 0;
        for case in &new.cases {
            let old = before.remove(&*case.id);
            match change(old, case) {
                Some(change) => changes.push(CaseChange { change, case, old, new: Some(case) }),
                None => same += 1,
            }
        }
        let gone = old.cases.iter().filter(|case| before.contains_key(&*case.id));
        let gone = gone.map(|case| CaseChange { change: Change::Gone, case, old: Some(case), new: None });
        changes.extend(gone);
        changes.sort_by_key(|change| change.change);
        let versions = [old, new].map(|run| &*run.version);
        RunComparison { name: &new.name, versions, changes, same }
    }

    /// The number of cases with this change.
    pub(crate) fn count(&self, change: Change) -> usize {
        self.changes.iter().filter(|one| one.change == change).count()
    }

    /// The number of cases that are in both reports.
    fn compared(&self) -> usize {
        self.same + self.changes.iter().filter(|one| one.old.is_some() && one.new.is_some()).count()
    }

    /// `numpy 2.3.1 -> 2.4.6`.
    pub(crate) fn title(&self) -> String {
        let [old, new] = &self.versions;
        if old == new {
            format!("{} {new} (the same version)", self.name)
        } else {
            format!("{} {old} -> {new}", self.name)
        }
    }
}

impl CaseChange<'_> {
    /// `passed -> failed`.
    pub(crate) fn statuses(&self) -> String {
        let words = |ended: Option<&RecordedCase>| ended.map(|case| word(case.status));
        match (words(self.old), words(self.new)) {
            (Some(old), Some(new)) if old == new => format!("{new}, differently"),
            (Some(old), Some(new)) => format!("{old} -> {new}"),
            (Some(one), None) | (None, Some(one)) => one.into(),
            (None, None) => String::new(),
        }
    }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::KnownFailure => "known failure",
        Status::UnexpectedPass => "passed, listed as known failure",
        Status::Agrees => "agrees with a convention",
        Status::Differs => "differs from a convention",
        other => other.name(),
    }
}

fn change(old: Option<&RecordedCase>, new: &RecordedCase) -> Option<Change> {
    let Some(old) = old else { return Some(Change::New) };
    match (worth(old.status), worth(new.status)) {
        // An inference that was exact and is wider now, or the other way round.
        (Worth::Right, Worth::Right) if old.wider.is_some() != new.wider.is_some() => Some(Change::Changed),
        (Worth::Right, Worth::Right) => None,
        (Worth::Right, Worth::Wrong | Worth::Missing) | (Worth::Acceptable, Worth::Wrong) => {
            Some(Change::Broken)
        }
        (Worth::Wrong | Worth::Missing, Worth::Right) => Some(Change::Fixed),
        _ if old.status == new.status && old.detail == new.detail => None,
        _ => Some(Change::Changed),
    }
}

/// What a result is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
    /// The expected outcome.
    Right,
    /// Another outcome than that of a convention which the implementation does not declare.
    Acceptable,
    /// A defect.
    Wrong,
    /// Not asked.
    Missing,
}

fn worth(status: Status) -> Worth {
    match status {
        Status::Passed | Status::Agrees | Status::UnexpectedPass => Worth::Right,
        Status::Differs => Worth::Acceptable,
        Status::Failed | Status::Errored | Status::KnownFailure => Worth::Wrong,
        Status::Skipped => Worth::Missing,
    }
}

fn is_right(status: Status) -> bool {
    worth(status) == Worth::Right
}
