//! Visits all pairs of shapes in parallel. Findings are kept in the order of the pairs, whichever thread
//! finds them.

use super::bounds::check_work;
use super::report::{AnswerCount, ExhaustReport, GroupCount, RelationCount};
use super::{Bounds, Finding, FindingKind, Progress};
use crate::oracle::{Differential, Judgement};
use broadcheck::relations::{Original, RELATION_SWEEPS, REQUESTS, RelationSweep, Requests, Satisfied};
use broadcheck::run::run_caught;
use broadcheck_spec::{DType, ErrorKind, Implementation, Outcome, Request, Shape};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Runs every request and every relation within bounds.
///
/// The other implementations are compared with the first that declares the request. An implementation gets
/// only requests that it declares.
///
/// # Errors
/// No implementation, or more than 10^10 answers and checks of relations.
pub fn exhaust(
    bounds: &Bounds,
    implementations: &[&dyn Implementation],
    progress: &Progress<'_>,
) -> Result<ExhaustReport, String> {
    if implementations.is_empty() {
        return Err("no implementation to run".into());
    }
    let started = Instant::now();
    let workload = Workload::new(bounds, implementations);
    let total = workload.work()?;
    let shapes = bounds.extent().shapes();
    let done = AtomicU64::new(0);
    let pairs = (0..shapes.len() * shapes.len()).into_par_iter();
    let tally = pairs
        .fold(
            || Tally::new(&workload),
            |mut tally, pair| {
                if !progress.stopped() {
                    let before = tally.work();
                    workload.run_pair(&shapes, pair / shapes.len(), pair % shapes.len(), &mut tally);
                    let step = tally.work() - before;
                    (progress.report)(done.fetch_add(step, Ordering::Relaxed) + step, total);
                }
                tally
            },
        )
        .reduce(|| Tally::new(&workload), Tally::then);
    if tally.work() != total && !progress.stopped() && !tally.interrupted {
        return Err(format!("{} answers and checks of relations, expected {total}", tally.work()));
    }
    let complete = tally.work() == total && !tally.interrupted;
    let mut report = workload.report(tally);
    report.complete = complete;
    report.elapsed = started.elapsed();
    Ok(report)
}

/// The work of a run: the requests with the implementations that declare them, and each relation with one
/// implementation.
struct Workload<'a> {
    bounds: &'a Bounds,
    groups: Vec<Group<'a>>,
    /// Each relation with an implementation and the dtype in which that is asked.
    relations: Vec<(&'static RelationSweep, &'a dyn Implementation, DType)>,
    skipped: Vec<RelationCount>,
}

/// The requests of one rule set and operation, and the implementations that answer them.
struct Group<'a> {
    requests: Requests,
    implementations: Vec<&'a dyn Implementation>,
}

impl<'a> Workload<'a> {
    fn new(bounds: &'a Bounds, implementations: &[&'a dyn Implementation]) -> Workload<'a> {
        let extent = bounds.extent();
        let declares = |requests: &Requests, implementation: &dyn Implementation| {
            requests.covered_by(implementation.capabilities(), &extent).is_ok()
        };
        let group = |requests: Requests| {
            let all = implementations.iter().copied();
            let implementations = all.filter(|one| declares(&requests, *one)).collect();
            Group { requests, implementations }
        };
        let allowed = REQUESTS.into_iter().filter(|requests| bounds.allows([requests.rules]));
        let groups = allowed.map(group).collect();
        let (mut relations, mut skipped) = (Vec::new(), Vec::new());
        for relation in RELATION_SWEEPS.iter().filter(|relation| bounds.allows(relation.rules())) {
            for &implementation in implementations {
                match relation.covered_by(implementation.capabilities(), &extent) {
                    Ok(dtype) => relations.push((relation, implementation, dtype)),
                    Err(reason) => skipped.push(RelationCount {
                        skipped: Some(reason),
                        ..relation_count(relation, implementation, &RelationTally::default())
                    }),
                }
            }
        }
        Workload { bounds, groups, relations, skipped }
    }

    /// The number of answers and of checks of relations, by arithmetic.
    fn work(&self) -> Result<u64, String> {
        let extent = self.bounds.extent();
        let answers = self
            .groups
            .iter()
            .map(|group| group.requests.count(&extent).saturating_mul(group.implementations.len() as u128));
        let checks = self.relations.iter().map(|(relation, ..)| relation.count(&extent));
        let work = answers.chain(checks).fold(0, u128::saturating_add);
        check_work(&extent, work)?;
        u64::try_from(work).map_err(|error| error.to_string())
    }

    fn run_pair(&self, shapes: &[Shape], first: usize, second: usize, tally: &mut Tally) {
        for (place, group) in self.groups.iter().enumerate() {
            if !group.implementations.is_empty() {
                group.requests.each(shapes, first, second, &mut |request| tally.run(place, request, group));
            }
        }
        for (place, &(sweep, implementation, dtype)) in self.relations.iter().enumerate() {
            sweep.each_in(dtype, shapes, first, second, &mut |request, variation| {
                tally.check(
                    place,
                    sweep,
                    &Original::strict(implementation, request),
                    variation,
                    implementation,
                );
            });
        }
    }

    fn report(self, tally: Tally) -> ExhaustReport {
        let groups = self.groups.iter().zip(&tally.groups);
        let groups: Vec<GroupCount> = groups
            .map(|(group, counts)| GroupCount {
                rules: group.requests.rules,
                operation: group.requests.operation(),
                requests: counts.requests,
                accepted: counts.accepted,
                refused: counts.refused,
                implementations: group
                    .implementations
                    .iter()
                    .zip(&counts.answers)
                    .map(|(implementation, count)| AnswerCount {
                        implementation: implementation.name().into(),
                        ..count.clone()
                    })
                    .collect(),
            })
            .collect();
        let run = self.relations.iter().zip(&tally.relations);
        let mut relations: Vec<RelationCount> = run
            .map(|((relation, implementation, _), counts)| relation_count(relation, *implementation, counts))
            .collect();
        let compared =
            |counts: &GroupCount| -> u64 { counts.implementations.iter().map(|one| one.compared).sum() };
        let checks = groups.iter().map(compared).sum::<u64>()
            + relations.iter().map(|relation| relation.compared).sum::<u64>();
        relations.extend(self.skipped);
        ExhaustReport {
            extent: self.bounds.extent(),
            checks,
            answers: groups.iter().map(GroupCount::answers).sum(),
            groups,
            relations,
            finding_count: tally.finding_count,
            findings: tally.findings,
            complete: true,
            elapsed: std::time::Duration::ZERO,
        }
    }
}

fn relation_count(
    relation: &RelationSweep,
    implementation: &dyn Implementation,
    &RelationTally { compared, vacuous, violated, not_asked }: &RelationTally,
) -> RelationCount {
    let implementation = implementation.name().into();
    RelationCount {
        relation: relation.name,
        implementation,
        compared,
        vacuous,
        violated,
        not_asked,
        skipped: None,
    }
}

/// The counts and findings of a range of pairs.
struct Tally {
    groups: Vec<GroupTally>,
    /// The checks of each relation of the workload.
    relations: Vec<RelationTally>,
    keep: usize,
    findings: Vec<Finding>,
    finding_count: u64,
    /// Whether the interrupt key ended a request: its outcome is not a finding, and the run is not complete.
    interrupted: bool,
}

#[derive(Clone, Default)]
struct GroupTally {
    requests: u64,
    accepted: u64,
    refused: u64,
    /// The answers of each implementation, which is not named here.
    answers: Vec<AnswerCount>,
}

/// The checks of a relation.
#[derive(Clone, Copy, Default)]
struct RelationTally {
    /// Violations included.
    compared: u64,
    vacuous: u64,
    violated: u64,
    /// Outside what the implementation declares.
    not_asked: u64,
}

impl Tally {
    fn new(workload: &Workload<'_>) -> Tally {
        let tally = |group: &Group<'_>| GroupTally {
            answers: vec![AnswerCount::default(); group.implementations.len()],
            ..GroupTally::default()
        };
        Tally {
            groups: workload.groups.iter().map(tally).collect(),
            relations: vec![RelationTally::default(); workload.relations.len()],
            keep: workload.bounds.keep(),
            findings: Vec::new(),
            finding_count: 0,
            interrupted: false,
        }
    }

    /// The answers and the checks of relations so far, with those that were not asked.
    fn work(&self) -> u64 {
        let answers = self.groups.iter().map(|group| group.requests * group.answers.len() as u64);
        answers.sum::<u64>()
            + self.relations.iter().map(|one| one.compared + one.vacuous + one.not_asked).sum::<u64>()
    }

    fn find(&mut self, finding: impl FnOnce() -> Finding) {
        self.finding_count += 1;
        if self.findings.len() < self.keep {
            self.findings.push(finding());
        }
    }

    /// Sends a request to every implementation that declares it, and compares the answers with the first
    /// one's.
    fn run(&mut self, place: usize, request: &Request, group: &Group<'_>) {
        let implementations = &group.implementations;
        self.groups[place].requests += 1;
        let mut asked = Vec::with_capacity(implementations.len());
        for (whose, implementation) in implementations.iter().enumerate() {
            match implementation.capabilities().covers(request) {
                Ok(()) => asked.push(whose),
                Err(_) => self.groups[place].answers[whose].not_asked += 1,
            }
        }
        let Some((&against, others)) = asked.split_first() else { return };
        let first = run_caught(implementations[against], request);
        let counts = &mut self.groups[place];
        match first {
            Outcome::Success(_) => counts.accepted += 1,
            Outcome::Refusal(_) => counts.refused += 1,
            Outcome::Skipped { .. } | Outcome::Errored { .. } => {}
        }
        if is_interrupted(&first) {
            self.interrupted = true;
            return;
        }
        let broken = breakage(&first);
        let usable = broken.is_none();
        if let Some(detail) = broken {
            self.find_answer(place, against, FindingKind::Broken, request, implementations, detail);
        }
        for &other in others {
            let answer = run_caught(implementations[other], request);
            if is_interrupted(&answer) {
                self.interrupted = true;
            } else if usable {
                let oracle = Differential::new(implementations[against], implementations[other]);
                let counts = &mut self.groups[place].answers[other];
                counts.compared += 1;
                match oracle.compare(request, &first, &answer) {
                    Judgement::Agreed(_) | Judgement::Vacuous(_) => {}
                    Judgement::Convention(_) => counts.conventions += 1,
                    Judgement::Disagreement(found) => {
                        let kind =
                            FindingKind::Difference { against: implementations[against].name().into() };
                        self.find_answer(place, other, kind, request, implementations, found.detail);
                    }
                }
            } else if let Some(detail) = breakage(&answer) {
                self.find_answer(place, other, FindingKind::Broken, request, implementations, detail);
            }
        }
    }

    fn find_answer(
        &mut self,
        place: usize,
        whose: usize,
        kind: FindingKind,
        request: &Request,
        implementations: &[&dyn Implementation],
        detail: String,
    ) {
        self.groups[place].answers[whose].findings += 1;
        let implementation = implementations[whose].name().into();
        self.find(|| Finding { implementation, kind, request: request.clone(), detail });
    }

    /// Checks a relation.
    fn check(
        &mut self,
        place: usize,
        sweep: &RelationSweep,
        original: &Original<'_>,
        variation: u128,
        implementation: &dyn Implementation,
    ) {
        let counts = &mut self.relations[place];
        match sweep.relation.check(original, variation) {
            Ok(Satisfied::Compared) => counts.compared += 1,
            Ok(Satisfied::Vacuous) => counts.vacuous += 1,
            Ok(Satisfied::NotAsked(_)) => counts.not_asked += 1,
            Err(violation)
                if [&violation.left, &violation.right, &violation.broken]
                    .into_iter()
                    .flatten()
                    .any(is_interrupted) =>
            {
                counts.vacuous += 1;
                self.interrupted = true;
            }
            Err(violation) => {
                counts.compared += 1;
                counts.violated += 1;
                self.find(|| Finding {
                    implementation: implementation.name().into(),
                    kind: FindingKind::Violation { sweep: sweep.name },
                    request: original.request().clone(),
                    detail: violation.describe(sweep.relation),
                });
            }
        }
    }

    /// `self` comes before `later` in the order of the pairs, so that the first findings stay first.
    fn then(mut self, later: Tally) -> Tally {
        for (one, other) in self.groups.iter_mut().zip(later.groups) {
            one.requests += other.requests;
            one.accepted += other.accepted;
            one.refused += other.refused;
            for (one, other) in one.answers.iter_mut().zip(other.answers) {
                one.compared += other.compared;
                one.findings += other.findings;
                one.conventions += other.conventions;
                one.not_asked += other.not_asked;
            }
        }
        for (one, other) in self.relations.iter_mut().zip(later.relations) {
            one.compared += other.compared;
            one.vacuous += other.vacuous;
            one.violated += other.violated;
            one.not_asked += other.not_asked;
        }
        self.findings.extend(later.findings);
        self.findings.truncate(self.keep);
        self.finding_count += later.finding_count;
        self.interrupted |= later.interrupted;
        self
    }
}

/// Whether the interrupt key ended the request.
fn is_interrupted(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Errored { kind: ErrorKind::Interrupted, .. })
}

/// Why there is no answer to a request over f64.
fn breakage(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Refusal(_) => None,
        Outcome::Success(success) if success.tensor.dtype() == DType::F64 => None,
        Outcome::Success(success) => {
            Some(format!("a result of dtype {}, expected f64", success.tensor.dtype()))
        }
        Outcome::Skipped { reason } => Some(format!("skipped although declared: {reason}")),
        Outcome::Errored { message, .. } => Some(message.clone()),
    }
}
