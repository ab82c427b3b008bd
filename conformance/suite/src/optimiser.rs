//! Asks a case with the optimiser of a system off and on, and compares the two answers.
//!
//! A system that builds a graph, a function or a program rewrites it before it runs it. A rewrite that is
//! right for most operands is wrong for some: an axis of length 0, a NaN, a flag, a second operand of another
//! dtype. The case says which answer is right; the other position of the switch says whose fault a wrong one
//! is.

use crate::known::{Entry, Known};
use crate::retype::{Asked, asked};
use crate::run::{Judged, Status, judged, run_together};
use broadcheck_judge::compare::{DifferenceKind, Latitude, Verdict, expectation_of, judge};
use broadcheck_spec::{Case, Implementation, Outcome, Request};
use std::fmt;

/// Whether a system optimises what it builds before it runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Optimiser {
    /// What is built runs as it was asked.
    Off,
    /// What is built is rewritten, as it is for a user of the system.
    On,
}

impl Optimiser {
    /// Both positions.
    pub const ALL: [Optimiser; 2] = [Optimiser::Off, Optimiser::On];

    /// The name in the protocol and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Optimiser::Off => "off",
            Optimiser::On => "on",
        }
    }

    /// The position of this name.
    pub fn named(name: &str) -> Option<Optimiser> {
        Optimiser::ALL.into_iter().find(|position| position.name() == name)
    }
}

impl fmt::Display for Optimiser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// One system twice: with its optimiser off, and on.
#[derive(Clone, Copy)]
pub struct Switched<'a> {
    /// With the optimiser off.
    pub off: &'a dyn Implementation,
    /// With the optimiser on.
    pub on: &'a dyn Implementation,
}

/// Runs each case in both positions, and applies the known failures. A case passes if both answers are
/// right. If only one is, or if two wrong answers differ, it fails as [`DifferenceKind::Optimiser`]. The
/// results have the order of the cases.
pub fn run_switched(both: Switched<'_>, cases: &[&Case], known: Option<&Known>) -> Vec<Judged> {
    let all: Vec<Result<Asked<'_>, String>> = cases.iter().map(|case| asked_of_both(both, case)).collect();
    let requests: Vec<&Request> = all.iter().flatten().map(|asked| &asked.case.request).collect();
    let mut off = run_together(both.off, &requests).into_iter();
    let mut on = run_together(both.on, &requests).into_iter();
    let judge = |(case, asked): (&&Case, Result<Asked<'_>, String>)| {
        let (judged, wrong) = match asked {
            Err(reason) => return Judged::new(Status::Skipped, reason),
            Ok(asked) => match (off.next(), on.next()) {
                (Some(off), Some(on)) => compared(both, &asked, off, on),
                (_, _) => (Judged::new(Status::Errored, "found no answer"), &Optimiser::ALL[..]),
            },
        };
        match known.and_then(|known| entry(known, case, wrong)) {
            Some(entry) => entry.applied_to(judged),
            None => judged,
        }
    };
    cases.iter().zip(all).map(judge).collect()
}

/// The entry of the known failures about a case that is wrong in these positions: each of them must be known.
/// A case that is right in both is only one that must not pass if its entry names a position, because the
/// others are about the position that the system's adapter chooses.
fn entry<'a>(known: &'a Known, case: &Case, wrong: &[Optimiser]) -> Option<&'a Entry> {
    let at = |position: &Optimiser| known.entry_at(&case.id, *position);
    if wrong.is_empty() {
        return Optimiser::ALL.iter().filter_map(at).find(|entry| entry.optimiser.is_some());
    }
    let entries: Option<Vec<&Entry>> = wrong.iter().map(at).collect();
    entries?.first().copied()
}

/// The case as both are asked it: in a dtype that both have.
fn asked_of_both<'a>(both: Switched<'_>, case: &'a Case) -> Result<Asked<'a>, String> {
    let asked = asked(case, both.off.capabilities())?;
    both.on.capabilities().covers(&asked.case.request)?;
    Ok(asked)
}

/// The judgement of two answers, and the positions whose answers are wrong.
fn compared(
    both: Switched<'_>,
    asked: &Asked<'_>,
    off: Outcome,
    on: Outcome,
) -> (Judged, &'static [Optimiser]) {
    let differs = difference(&asked.case.request, &off, &on);
    let off = judged(both.off, asked, off);
    let on = judged(both.on, asked, on);
    let wrong: &[Optimiser] = match (off.status.is_failure(), on.status.is_failure()) {
        (true, false) => &[Optimiser::Off],
        (false, true) => &[Optimiser::On],
        (true, true) => &Optimiser::ALL,
        (false, false) => &[],
    };
    let changed = match (off.status.is_failure(), on.status.is_failure()) {
        (true, true) => differs.is_some(),
        (true, false) | (false, true) => true,
        // Where a convention leaves both free, values may differ, but no shape, dtype or refusal.
        (false, false) if off.status == Status::Differs || on.status == Status::Differs => {
            differs.is_some_and(|kind| kind != DifferenceKind::Values)
        }
        (false, false) => false,
    };
    let detail = format!("{}: off: {}; on: {}", DifferenceKind::Optimiser, words(&off), words(&on));
    let is_right = |judged: &Judged| !judged.status.is_failure() && judged.status != Status::Differs;
    let judged = if is_right(&on) { off } else { on };
    if changed {
        // Two answers that are right and differ make both wrong.
        let wrong = if wrong.is_empty() { &Optimiser::ALL } else { wrong };
        let kind = Some(DifferenceKind::Optimiser);
        return (Judged { status: Status::Failed, kind, detail, ..judged }, wrong);
    }
    (judged, wrong)
}

/// How the answer with the optimiser on differs from the one without, by the bounds of the clauses.
fn difference(request: &Request, off: &Outcome, on: &Outcome) -> Option<DifferenceKind> {
    let expectation = expectation_of(off)?;
    match judge(request, &expectation, on, Latitude::ANY) {
        Verdict::Failed(difference) => Some(difference.kind),
        Verdict::Passed | Verdict::Skipped(_) | Verdict::Errored(_) => None,
    }
}

/// A judgement in words: `passed`, or what is wrong.
fn words(judged: &Judged) -> String {
    if judged.detail.is_empty() { judged.status.name().to_owned() } else { judged.detail.clone() }
}

#[cfg(test)]
mod tests;
