//! Runs a sweep against an implementation: one line of the report for all its cases.

use super::batched::check_batch;
use super::part::Part;
use super::sequences::rules_of;
use super::{Expansion, Sequence, expand_part, is_in_its_dtype};
use crate::known::Known;
use crate::parallel::over_ranges;
use crate::relations::{Extent, Original, RelationSweep, Satisfied, Violation};
use crate::run::{Judged, Status, run_batch, run_once};
use broadcheck_judge::describe::summarize_request;
use broadcheck_judge::text::plural;
use broadcheck_spec::{Case, DType, Implementation, Request, Sweep};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem::take;
use std::ops::Range;

/// The result of checking a relation for one request.
type Checked = Result<Satisfied, Box<Violation>>;

/// The number of failures that are described.
const DESCRIBED: usize = 5;

/// The results of a sweep's cases.
#[derive(Clone, Debug)]
pub struct SweepReport {
    /// The number of cases.
    pub cases: u64,
    /// Cases outside the sample.
    pub left_out: u64,
    /// Cases that passed. For a relation: requests whose answers were compared and agree.
    pub passed: u64,
    /// Cases that failed.
    pub failed: u64,
    /// Cases outside what the implementation declares.
    pub skipped: u64,
    /// Why cases were skipped, with the number of cases of each reason.
    pub reasons: BTreeMap<String, u64>,
    /// Requests of a relation with nothing to compare: never counted as passed.
    pub vacuous: u64,
    /// The first failures.
    pub failures: Vec<SweepFailure>,
    /// The sweep as one case: passed if some cases passed and none failed.
    pub judged: Judged,
}

/// One failure inside a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepFailure {
    /// The case's id, or the relation.
    pub what: String,
    /// Why it failed.
    pub detail: String,
}

/// Runs every case of a sweep, in parallel, and takes the known failures into account: an entry lists the
/// sweep's id.
pub fn run_sweep(implementation: &dyn Implementation, sweep: &Sweep, known: Option<&Known>) -> SweepReport {
    run_sample(implementation, sweep, known, u64::MAX)
}

/// [`run_sweep`] for a slow implementation. If a sweep has more than `most` cases, it runs about `most` of
/// them, spread over the whole sweep and always the same ones.
pub fn run_sample(
    implementation: &dyn Implementation,
    sweep: &Sweep,
    known: Option<&Known>,
    most: u64,
) -> SweepReport {
    let part = Part::sample(sweep.expected_cases, most);
    let expansion = expand_part(sweep, implementation.capabilities(), part);
    run_expanded(implementation, sweep, known, part, expansion.as_ref())
}

/// [`run_sample`] of a sweep that is already expanded for the implementation, as far as the sample reaches.
pub(crate) fn run_expanded(
    implementation: &dyn Implementation,
    sweep: &Sweep,
    known: Option<&Known>,
    part: Part,
    expansion: Result<&Expansion, &String>,
) -> SweepReport {
    let mut report = match expansion {
        Ok(Expansion::Cases(cases)) => {
            let mut report = run_all(implementation, cases, sweep.expected_cases, part);
            // Patterns and many operands are expanded in a dtype of the implementation: in f64 if it has
            // that.
            let dtype = cases.first().map(|case| case.request.operands()[0].dtype());
            if is_in_its_dtype(sweep) && report.judged.status != Status::Skipped {
                report.judged.retyped = dtype.filter(|&dtype| dtype != DType::F64);
            }
            report
        }
        Ok(Expansion::Sequences(sequences)) => match lacks_rules(implementation, sweep) {
            // Some requests of other rule sets are between those of this one.
            Some(reason) => {
                let all = sequences.len() as u64;
                Tally { skipped: [(reason, all)].into(), ..Tally::default() }.report(all)
            }
            None => run_sequences(implementation, sequences, part),
        },
        Ok(Expansion::Relation { relation, extent }) => run_relation(implementation, relation, *extent, part),
        Err(reason) => {
            let mut report = Tally::default().report(0);
            report.judged = Judged::new(Status::Failed, reason.clone());
            return report;
        }
    };
    // The cases that a known failure is about may not be in the sample.
    let passed_in_part = report.left_out > 0 && report.judged.status == Status::Passed;
    if let Some(entry) = known.and_then(|known| known.entry(&sweep.id))
        && !passed_in_part
    {
        report.judged = entry.applied_to(report.judged);
    }
    report
}

#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: BTreeMap<String, u64>,
    vacuous: u64,
    left_out: u64,
    failures: Vec<SweepFailure>,
}

impl Tally {
    fn fail(&mut self, what: impl Into<String>, detail: impl Into<String>) {
        self.failed += 1;
        if self.failures.len() < DESCRIBED {
            self.failures.push(SweepFailure { what: what.into(), detail: detail.into() });
        }
    }

    fn skip(&mut self, reason: String, cases: u64) {
        *self.skipped.entry(reason).or_default() += cases;
    }

    fn count(&mut self, relation: &RelationSweep, request: &Request, held: Checked) {
        match held {
            Ok(Satisfied::Compared) => self.passed += 1,
            Ok(Satisfied::Vacuous) => self.vacuous += 1,
            Ok(Satisfied::NotAsked(reason)) => self.skip(reason, 1),
            Err(violation) => {
                let violation = violation.describe(relation.relation);
                self.fail(relation.name, format!("{}: {violation}", summarize_request(request)));
            }
        }
    }

    /// A sequence passes if none of its requests fails and at least two were judged: the others are outside
    /// what the implementation declares.
    fn count_sequence(&mut self, sequence: &Sequence, judged: &[Judged]) {
        let is_judged = |judged: &&Judged| matches!(judged.status, Status::Passed | Status::Agrees);
        let name = |place: usize| sequence.cases[place].id.rsplit('/').next().unwrap_or_default();
        if let Some(place) = judged.iter().position(|judged| judged.status.is_failure()) {
            let sent = (0..place).filter(|&place| judged[place].outcome.is_some());
            let before: Vec<&str> = sent.map(name).collect();
            let before = match &before[..] {
                [] => "as the first request".to_owned(),
                all => format!("after {}", all.join(", ")),
            };
            self.fail(&sequence.id, format!("{}, {before}: {}", name(place), judged[place].detail));
        } else if judged.iter().filter(is_judged).count() > 1 {
            self.passed += 1;
        } else {
            let skipped = judged.iter().find(|judged| !is_judged(judged));
            self.skip(skipped.map_or_else(String::new, |judged| judged.detail.clone()), 1);
        }
    }

    /// `self` comes before `later` in the order of the cases, so that the first failures stay first.
    fn then(mut self, later: Tally) -> Tally {
        self.passed += later.passed;
        self.failed += later.failed;
        later.skipped.into_iter().for_each(|(reason, cases)| self.skip(reason, cases));
        self.vacuous += later.vacuous;
        self.left_out += later.left_out;
        self.failures.extend(later.failures);
        self.failures.truncate(DESCRIBED);
        self
    }

    fn report(self, cases: u64) -> SweepReport {
        let Tally { passed, failed, skipped: reasons, vacuous, left_out, failures } = self;
        let skipped: u64 = reasons.values().sum();
        let asked = cases.saturating_sub(left_out);
        let judged = if failed > 0 {
            let first: Vec<String> =
                failures.iter().map(|failure| format!("{}: {}", failure.what, failure.detail)).collect();
            Judged::new(Status::Failed, format!("{failed} of {asked} failed\n{}", first.join("\n")))
        } else if passed + failed + skipped + vacuous != asked {
            let found = passed + failed + skipped + vacuous;
            Judged::new(Status::Failed, format!("{found} cases were run, expected {asked}"))
        } else if skipped == asked && asked > 0 {
            Judged::new(Status::Skipped, all_reasons(&reasons))
        } else if passed == 0 && skipped > 0 {
            let rest = format!("nothing was compared in the {} asked", plural(asked - skipped, "case"));
            Judged::new(Status::Skipped, format!("{rest}; {}", not_asked(skipped, &reasons)))
        } else if passed == 0 && left_out > 0 {
            let nothing = "is too small: nothing was compared in any of them";
            Judged::new(Status::Skipped, format!("a sample of {asked} of {cases} cases {nothing}"))
        } else if passed == 0 {
            Judged::new(Status::Failed, format!("nothing was compared in any of {asked} cases"))
        } else {
            let sample = (left_out > 0).then(|| format!("a sample: {asked} of {cases} cases"));
            let limits = (skipped > 0).then(|| not_asked(skipped, &reasons));
            let notes: Vec<String> = sample.into_iter().chain(limits).collect();
            Judged::new(Status::Passed, notes.join("; "))
        };
        SweepReport { cases, left_out, passed, failed, skipped, reasons, vacuous, failures, judged }
    }
}

/// `12 not asked: 10 no scalars, 2 no rank above 2`, the most frequent reason first.
fn not_asked(skipped: u64, reasons: &BTreeMap<String, u64>) -> String {
    format!("{skipped} not asked: {}", all_reasons(reasons))
}

/// The reasons: one alone as it is, several with their numbers, the most frequent first.
fn all_reasons(reasons: &BTreeMap<String, u64>) -> String {
    let mut reasons: Vec<(&String, &u64)> = reasons.iter().collect();
    if let [(reason, _)] = reasons[..] {
        return reason.clone();
    }
    reasons.sort_by_key(|&(reason, &cases)| (Reverse(cases), reason));
    reasons.iter().map(|(reason, cases)| format!("{cases} {reason}")).collect::<Vec<_>>().join(", ")
}

/// Runs the cases of a part of a sweep that has this number of cases.
fn run_all(implementation: &dyn Implementation, asked: &[Case], cases: u64, part: Part) -> SweepReport {
    let asked: Vec<&Case> = asked.iter().collect();
    let judged = run_once(implementation, &asked, None);
    let left_out = if part.is_whole() { 0 } else { cases.saturating_sub(asked.len() as u64) };
    let mut tally = Tally { left_out, ..Tally::default() };
    let retyped = judged.iter().find_map(|judged| judged.retyped);
    for (case, judged) in asked.into_iter().zip(judged) {
        match judged.status {
            Status::Passed | Status::Agrees => tally.passed += 1,
            Status::Skipped | Status::Differs => tally.skip(judged.detail, 1),
            _ => tally.fail(&case.id, judged.detail),
        }
    }
    let mut report = tally.report(cases);
    report.judged.retyped = retyped;
    report
}

/// Why an implementation is not asked the sequences of a rule set.
fn lacks_rules(implementation: &dyn Implementation, sweep: &Sweep) -> Option<String> {
    let rules = rules_of(&sweep.sweep)?;
    let declared = implementation.capabilities().rules.contains(&rules);
    (!declared).then(|| format!("no rule set {rules}"))
}

/// Asks the sequences in their order, on this thread. A process gets whole sequences, in one batch, so that
/// all requests of a sequence reach the same process unless it breaks.
fn run_sequences(implementation: &dyn Implementation, sequences: &[Sequence], part: Part) -> SweepReport {
    let asked: Vec<&Sequence> = part.of(sequences).collect();
    let mut tally = Tally { left_out: (sequences.len() - asked.len()) as u64, ..Tally::default() };
    for sequence in asked {
        let cases: Vec<&Case> = sequence.cases.iter().collect();
        let judged = run_batch(implementation, &cases, None);
        tally.count_sequence(sequence, &judged);
    }
    tally.report(sequences.len() as u64)
}

fn run_relation(
    implementation: &dyn Implementation,
    relation: &'static RelationSweep,
    extent: Extent,
    part: Part,
) -> SweepReport {
    let cases = u64::try_from(relation.count(&extent)).unwrap_or(u64::MAX);
    let dtype = match relation.covered_by(implementation.capabilities(), &extent) {
        Ok(dtype) => dtype,
        Err(reason) => {
            return Tally { skipped: [(reason, cases)].into(), ..Tally::default() }.report(cases);
        }
    };
    let shapes = extent.shapes();
    // If the implementation answers batches faster, the requests of many pairs of shapes are checked
    // together.
    let batch = implementation.batch().max(1);
    let check = |tally: &mut Tally, waiting: Vec<(Request, u128)>| {
        let held = check_batch(implementation, relation.relation, &waiting);
        for ((request, _), held) in waiting.iter().zip(held) {
            tally.count(relation, request, held);
        }
    };
    let judge = |pairs: Range<usize>| {
        let (mut tally, mut waiting) = <(Tally, Vec<(Request, u128)>)>::default();
        for place in pairs {
            let (first, second) = (place / shapes.len(), place % shapes.len());
            let mut within = 0;
            relation.each_in(dtype, &shapes, first, second, &mut |request, variation| {
                within += 1;
                if !part.takes(place, within) {
                    tally.left_out += 1;
                    return;
                }
                if batch == 1 {
                    let original = Original::strict(implementation, request);
                    return tally.count(relation, request, relation.relation.check(&original, variation));
                }
                waiting.push((request.clone(), variation));
                if waiting.len() == batch {
                    check(&mut tally, take(&mut waiting));
                }
            });
        }
        check(&mut tally, waiting);
        tally
    };
    let tallies = over_ranges(shapes.len() * shapes.len(), batch, judge);
    let mut report = tallies.into_iter().fold(Tally::default(), Tally::then).report(cases);
    if report.judged.status != Status::Skipped {
        report.judged.retyped = Some(dtype).filter(|&dtype| dtype != DType::F64);
    }
    report
}
