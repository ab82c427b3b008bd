//! Visits all signatures in parallel. Findings are kept in the order of the signatures, whichever thread
//! finds them.

use super::enumerate::Family;
use super::report::{AnswerCount, InferReport, RulesCount};
use super::{Bounds, Finding, FindingKind, Relation, Runs};
use crate::exhaustive::Progress;
use broadcheck::run::infer_caught;
use broadcheck_judge::inferred::{Inferred, excuses_inferred, judge_inferred};
use broadcheck_spec::{
    Accepts, Convention, ErrorKind, Expectation, ExpectedRefusal, Implementation, Inference, Outcome,
    RuleSet, Signature,
};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Asks for the inference of every signature within bounds.
///
/// Each answer is judged by the [runs](Relation) of its signature, and compared with that of the first
/// implementation whose answers are exact. An implementation gets only signatures that it declares.
///
/// # Errors
/// No implementation.
pub fn exhaust(
    bounds: &Bounds,
    implementations: &[&dyn Implementation],
    progress: &Progress<'_>,
) -> Result<InferReport, String> {
    if implementations.is_empty() {
        return Err("no implementation to ask".into());
    }
    let started = Instant::now();
    let families = bounds.families();
    let total = u64::try_from(bounds.signatures()).map_err(|error| error.to_string())?;
    let parts = parts(&families, bounds.nth());
    let done = AtomicU64::new(0);
    let tally = parts
        .par_iter()
        .fold(
            || Tally::new(bounds, implementations),
            |mut tally, part| {
                if !progress.stop.load(Ordering::Relaxed) {
                    let before = tally.visited;
                    let visit = &mut |signature: &Signature| tally.ask(signature, implementations);
                    part.family.each(part.first, part.from, bounds.nth(), visit);
                    let step = tally.visited - before;
                    (progress.report)(done.fetch_add(step, Ordering::Relaxed) + step, total);
                }
                tally
            },
        )
        .reduce(|| Tally::new(bounds, implementations), Tally::then);
    Ok(InferReport {
        bounds: bounds.clone(),
        complete: tally.visited == total && !tally.interrupted,
        rules: tally.rules,
        finding_count: tally.finding_count,
        findings: tally.findings,
        wider: tally.wider,
        elapsed: started.elapsed(),
    })
}

/// The signatures of a family with one shape in the first place.
struct Part<'a> {
    family: &'a Family,
    first: usize,
    /// The number of the first signature of the sample.
    from: usize,
}

fn parts(families: &[Family], nth: usize) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for family in families {
        let mut from = 0;
        for first in 0..family.firsts() {
            parts.push(Part { family, first, from });
            let others = usize::try_from(family.count()).unwrap_or(usize::MAX) / family.firsts();
            let visited = others.saturating_sub(from).div_ceil(nth);
            from = from + visited * nth - others;
        }
    }
    parts
}

/// The counts and findings of a range of signatures.
struct Tally {
    relation: Relation,
    exact: bool,
    keep: usize,
    visited: u64,
    rules: Vec<RulesCount>,
    findings: Vec<Finding>,
    finding_count: u64,
    wider: Vec<Finding>,
    /// Whether the interrupt key ended a request: its outcome is not a finding, and the run is not complete.
    interrupted: bool,
}

impl Tally {
    fn new(bounds: &Bounds, implementations: &[&dyn Implementation]) -> Tally {
        let answers = |implementation: &&dyn Implementation| AnswerCount {
            implementation: implementation.name().into(),
            ..AnswerCount::default()
        };
        let count = |&rules: &RuleSet| RulesCount {
            rules,
            signatures: 0,
            always: 0,
            depends: 0,
            refused: 0,
            runs: 0,
            sampled: 0,
            inexpressible: 0,
            implementations: implementations.iter().map(answers).collect(),
        };
        Tally {
            relation: Relation::default(),
            exact: bounds.exact(),
            keep: bounds.keep(),
            visited: 0,
            rules: bounds.rules().iter().map(count).collect(),
            findings: Vec::new(),
            finding_count: 0,
            wider: Vec::new(),
            interrupted: false,
        }
    }

    /// Asks every implementation that declares the signature.
    fn ask(&mut self, signature: &Signature, implementations: &[&dyn Implementation]) {
        self.visited += 1;
        let place = self.rules.iter().position(|count| count.rules == signature.rules().set());
        let place = place.expect("a family of each rule set of the bounds");
        let runs = self.relation.runs(signature);
        count_runs(&mut self.rules[place], &runs);
        let mut first: Option<(&str, Expectation<Inference>)> = None;
        for (whose, &implementation) in implementations.iter().enumerate() {
            let counts = |tally: &mut Tally, add: fn(&mut AnswerCount)| {
                add(&mut tally.rules[place].implementations[whose]);
            };
            if implementation.capabilities().covers_signature(signature).is_err() {
                counts(self, |count| count.not_asked += 1);
                continue;
            }
            let outcome = infer_caught(implementation, signature);
            if matches!(outcome, Outcome::Errored { kind: ErrorKind::Interrupted, .. }) {
                self.interrupted = true;
                return;
            }
            let exact = self.exact || implementation.is_exact();
            let mut found = judged(implementation, signature, &runs, &outcome, exact);
            if let (Found::Exact, Some((against, expectation))) = (&found, &first) {
                counts(self, |count| count.compared += 1);
                found = compared(implementation, signature, against, expectation, &outcome);
            }
            match found {
                Found::Exact => {
                    counts(self, |count| count.exact += 1);
                    if first.is_none() && implementation.is_exact() {
                        first =
                            expectation_of(&outcome).map(|expectation| (implementation.name(), expectation));
                    }
                }
                Found::Convention => counts(self, |count| count.conventions += 1),
                Found::Wider(detail) => {
                    counts(self, |count| count.wider += 1);
                    if self.wider.len() < self.keep {
                        self.wider.push(finding(implementation, FindingKind::Wider, signature, detail));
                    }
                }
                Found::Finding(kind, detail) => {
                    counts(self, |count| count.failed += 1);
                    self.finding_count += 1;
                    if self.findings.len() < self.keep {
                        self.findings.push(finding(implementation, kind, signature, detail));
                    }
                }
            }
        }
    }

    /// `self` comes before `later` in the order of the signatures, so that the first findings stay first.
    fn then(mut self, later: Tally) -> Tally {
        self.visited += later.visited;
        for (one, other) in self.rules.iter_mut().zip(later.rules) {
            one.signatures += other.signatures;
            one.always += other.always;
            one.depends += other.depends;
            one.refused += other.refused;
            one.runs += other.runs;
            one.sampled += other.sampled;
            one.inexpressible += other.inexpressible;
            for (one, other) in one.implementations.iter_mut().zip(other.implementations) {
                one.exact += other.exact;
                one.wider += other.wider;
                one.conventions += other.conventions;
                one.failed += other.failed;
                one.compared += other.compared;
                one.not_asked += other.not_asked;
            }
        }
        self.findings.extend(later.findings);
        self.findings.truncate(self.keep);
        self.finding_count += later.finding_count;
        self.wider.extend(later.wider);
        self.wider.truncate(self.keep);
        self.interrupted |= later.interrupted;
        self
    }
}

fn count_runs(count: &mut RulesCount, runs: &Runs) {
    count.signatures += 1;
    count.runs += runs.tried;
    count.sampled += u64::from(!runs.complete);
    count.inexpressible += u64::from(!runs.expressible);
    match &runs.expectation {
        Expectation::Refusal(_) => count.refused += 1,
        Expectation::Result(result) if result.accepts == Some(Accepts::Always) => count.always += 1,
        Expectation::Result(_) => count.depends += 1,
    }
}

fn finding(
    implementation: &dyn Implementation,
    kind: FindingKind,
    signature: &Signature,
    detail: String,
) -> Finding {
    Finding { implementation: implementation.name().into(), kind, signature: signature.clone(), detail }
}

/// How an answer was judged.
pub(super) enum Found {
    Exact,
    Wider(String),
    /// It differs by a convention that the implementation does not declare.
    Convention,
    Finding(FindingKind, String),
}

/// Judges an answer by the runs of its signature. With `exact`, one that is wider is a finding.
pub(super) fn judged(
    implementation: &dyn Implementation,
    signature: &Signature,
    runs: &Runs,
    outcome: &Outcome<Inference>,
    exact: bool,
) -> Found {
    let verdict = runs.judge(signature, outcome);
    if matches!(verdict, Inferred::Failed(_) | Inferred::Errored(_) | Inferred::Skipped(_))
        && is_free(implementation, signature, &runs.expectation, outcome)
    {
        return Found::Convention;
    }
    match verdict {
        Inferred::Exact => Found::Exact,
        Inferred::Wider(detail) if exact => Found::Finding(FindingKind::Wider, detail),
        Inferred::Wider(detail) => Found::Wider(detail),
        Inferred::Failed(difference) => Found::Finding(FindingKind::of(difference.kind), difference.detail),
        Inferred::Skipped(reason) => {
            Found::Finding(FindingKind::Broken, format!("skipped although declared: {reason}"))
        }
        Inferred::Errored(message) => Found::Finding(FindingKind::Broken, message),
    }
}

/// Compares an answer that agrees with the runs with another implementation's.
pub(super) fn compared(
    implementation: &dyn Implementation,
    signature: &Signature,
    against: &str,
    expectation: &Expectation<Inference>,
    outcome: &Outcome<Inference>,
) -> Found {
    match judge_inferred(signature, expectation, outcome) {
        Inferred::Exact | Inferred::Wider(_) => Found::Exact,
        Inferred::Failed(_) if is_free(implementation, signature, expectation, outcome) => Found::Convention,
        Inferred::Failed(difference) => {
            Found::Finding(FindingKind::Difference { against: against.into() }, difference.to_string())
        }
        Inferred::Skipped(detail) | Inferred::Errored(detail) => Found::Finding(FindingKind::Broken, detail),
    }
}

/// Whether the implementation may answer otherwise, because it does not declare a convention.
fn is_free(
    implementation: &dyn Implementation,
    signature: &Signature,
    expectation: &Expectation<Inference>,
    outcome: &Outcome<Inference>,
) -> bool {
    // Which of several refusals is reported is a convention of its own before the run.
    let which = if signature.is_known() { Convention::RefusalOrder } else { Convention::InferredRefusals };
    let of_case = Convention::of_inference("", signature, expectation);
    let of_refusal = matches!(expectation, Expectation::Refusal(_)).then_some(which);
    of_case.into_iter().chain(of_refusal).any(|convention| {
        !implementation.capabilities().follows(convention) && excuses_inferred(convention, outcome)
    })
}

/// An answer as an expectation of others.
pub(super) fn expectation_of(outcome: &Outcome<Inference>) -> Option<Expectation<Inference>> {
    match outcome {
        Outcome::Success(inference) => Some(Expectation::Result(inference.clone())),
        Outcome::Refusal(refusal) => Some(Expectation::Refusal(ExpectedRefusal {
            kind: refusal.kind,
            axis: refusal.axis,
            operand: refusal.operand,
        })),
        Outcome::Skipped { .. } | Outcome::Errored { .. } => None,
    }
}
