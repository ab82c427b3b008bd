//! The walk over all pairs of shapes, in parallel. Findings are kept in the order of the pairs, whatever thread
//! finds them.

use super::bounds::check_work;
use super::judge::{breakage, difference};
use super::report::{AnswerCount, ExhaustReport, FamilyCount, RelationCount};
use super::requests::{FAMILIES, Family};
use super::{Bounds, Finding, Progress};
use broadcheck::relations::{Held, RELATIONS, Relation, covers_basics};
use broadcheck::run::run_caught;
use broadcheck_judge::compare::Latitude;
use broadcheck_spec::{Implementation, Outcome, Request, Shape};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Runs every request and every relation within bounds.
///
/// The first implementation is the one that the others are judged against; where it does not declare a rule set
/// or operation, the first that does. What an implementation does not declare is not asked of it.
///
/// # Errors
/// No implementation, or more work than [`MAX_WORK`](super::MAX_WORK).
pub fn exhaust(
    bounds: &Bounds,
    implementations: &[&dyn Implementation],
    progress: &Progress<'_>,
) -> Result<ExhaustReport, String> {
    if implementations.is_empty() {
        return Err("no implementation to run".into());
    }
    let started = Instant::now();
    let plan = Plan::new(bounds, implementations);
    let total = plan.work()?;
    let shapes = bounds.extent().shapes();
    let done = AtomicU64::new(0);
    let pairs = (0..shapes.len() * shapes.len()).into_par_iter();
    let tally = pairs
        .fold(
            || Tally::new(&plan),
            |mut tally, pair| {
                if !progress.stopped() {
                    let before = tally.work();
                    plan.run_pair(&shapes, pair / shapes.len(), pair % shapes.len(), &mut tally);
                    let step = tally.work() - before;
                    (progress.report)(done.fetch_add(step, Ordering::Relaxed) + step, total);
                }
                tally
            },
        )
        .reduce(|| Tally::new(&plan), Tally::then);
    if tally.work() != total && !progress.stopped() {
        return Err(format!("{} answers and instances were walked, expected {total}", tally.work()));
    }
    let complete = tally.work() == total;
    let mut report = plan.report(tally);
    report.complete = complete;
    report.elapsed = started.elapsed();
    Ok(report)
}

/// What is run: the families with the implementations that declare them, and the relations with one each.
struct Plan<'a> {
    bounds: &'a Bounds,
    families: Vec<(Family, Vec<&'a dyn Implementation>)>,
    relations: Vec<(&'static Relation, &'a dyn Implementation)>,
    skipped: Vec<RelationCount>,
}

impl<'a> Plan<'a> {
    fn new(bounds: &'a Bounds, implementations: &[&'a dyn Implementation]) -> Plan<'a> {
        let extent = bounds.extent();
        let allowed = FAMILIES.into_iter().filter(|family| bounds.allows(&[family.rules]));
        let declares = |family: &Family, implementation: &dyn Implementation| {
            let capabilities = implementation.capabilities();
            capabilities.rules.contains(&family.rules)
                && capabilities.operations.contains(&family.operation)
                && covers_basics(capabilities, &extent).is_ok()
        };
        let families = allowed
            .map(|family| {
                let of_family = implementations.iter().copied();
                (family, of_family.filter(|implementation| declares(&family, *implementation)).collect())
            })
            .collect();
        let (mut relations, mut skipped) = (Vec::new(), Vec::new());
        for relation in RELATIONS.iter().filter(|relation| bounds.allows(relation.rules)) {
            for &implementation in implementations {
                match relation.covered_by(implementation.capabilities(), &extent) {
                    Ok(()) => relations.push((relation, implementation)),
                    Err(reason) => skipped.push(RelationCount {
                        skipped: Some(reason),
                        ..relation_count(relation, implementation, &[0; 3])
                    }),
                }
            }
        }
        Plan { bounds, families, relations, skipped }
    }

    /// The answers and the instances of relations in all, by arithmetic.
    fn work(&self) -> Result<u64, String> {
        let extent = self.bounds.extent();
        let answers = self
            .families
            .iter()
            .map(|(family, of_family)| family.count(&extent).saturating_mul(of_family.len() as u128));
        let instances = self.relations.iter().map(|(relation, _)| relation.count(&extent));
        let work = answers.chain(instances).fold(0, u128::saturating_add);
        check_work(&extent, work)?;
        u64::try_from(work).map_err(|error| error.to_string())
    }

    fn run_pair(&self, shapes: &[Shape], first: usize, second: usize, tally: &mut Tally) {
        for (place, (family, implementations)) in self.families.iter().enumerate() {
            if !implementations.is_empty() {
                family.each(&shapes[first], &shapes[second], &mut |request| {
                    tally.run(place, request, implementations);
                });
            }
        }
        for (place, (relation, implementation)) in self.relations.iter().enumerate() {
            relation.each(shapes, first, second, &mut |instance| {
                let [compared, vacuous, violated] = &mut tally.relations[place];
                match relation.check(*implementation, instance) {
                    Ok(Held::Compared) => *compared += 1,
                    Ok(Held::Vacuous) => *vacuous += 1,
                    Err(detail) => {
                        *compared += 1;
                        *violated += 1;
                        tally.find(|| Finding::Violation {
                            implementation: implementation.name().into(),
                            relation: relation.name,
                            instance: instance.clone(),
                            detail,
                        });
                    }
                }
            });
        }
    }

    fn report(self, tally: Tally) -> ExhaustReport {
        let families = self.families.iter().zip(&tally.families);
        let families: Vec<FamilyCount> = families
            .map(|((family, implementations), counts)| FamilyCount {
                rules: family.rules,
                operation: family.operation,
                requests: counts.requests,
                accepted: counts.accepted,
                refused: counts.refused,
                implementations: implementations
                    .iter()
                    .zip(&counts.answers)
                    .map(|(implementation, &[compared, findings])| AnswerCount {
                        implementation: implementation.name().into(),
                        compared,
                        findings,
                    })
                    .collect(),
            })
            .collect();
        let run = self.relations.iter().zip(&tally.relations);
        let mut relations: Vec<RelationCount> = run
            .map(|((relation, implementation), counts)| relation_count(relation, *implementation, counts))
            .collect();
        let compared =
            |counts: &FamilyCount| -> u64 { counts.implementations.iter().map(|one| one.compared).sum() };
        let checks = families.iter().map(compared).sum::<u64>()
            + relations.iter().map(|relation| relation.compared).sum::<u64>();
        relations.extend(self.skipped);
        ExhaustReport {
            extent: self.bounds.extent(),
            checks,
            answers: families
                .iter()
                .map(|family| family.requests * family.implementations.len() as u64)
                .sum(),
            families,
            relations,
            finding_count: tally.finding_count,
            findings: tally.findings,
            complete: true,
            elapsed: std::time::Duration::ZERO,
        }
    }
}

fn relation_count(
    relation: &Relation,
    implementation: &dyn Implementation,
    &[compared, vacuous, violated]: &[u64; 3],
) -> RelationCount {
    let implementation = implementation.name().into();
    RelationCount { relation: relation.name, implementation, compared, vacuous, violated, skipped: None }
}

/// What was counted and found in a stretch of pairs.
struct Tally {
    families: Vec<FamilyTally>,
    /// Compared, vacuous and violated instances of each relation of the plan.
    relations: Vec<[u64; 3]>,
    keep: usize,
    findings: Vec<Finding>,
    finding_count: u64,
}

#[derive(Clone, Default)]
struct FamilyTally {
    requests: u64,
    accepted: u64,
    refused: u64,
    /// Compared answers and findings of each implementation.
    answers: Vec<[u64; 2]>,
}

impl Tally {
    fn new(plan: &Plan<'_>) -> Tally {
        let family = |implementations: &Vec<_>| FamilyTally {
            answers: vec![[0; 2]; implementations.len()],
            ..FamilyTally::default()
        };
        Tally {
            families: plan.families.iter().map(|(_, implementations)| family(implementations)).collect(),
            relations: vec![[0; 3]; plan.relations.len()],
            keep: plan.bounds.keep(),
            findings: Vec::new(),
            finding_count: 0,
        }
    }

    /// The answers asked for and the instances visited.
    fn work(&self) -> u64 {
        let answers = self.families.iter().map(|family| family.requests * family.answers.len() as u64);
        answers.sum::<u64>()
            + self.relations.iter().map(|[compared, vacuous, _]| compared + vacuous).sum::<u64>()
    }

    fn find(&mut self, finding: impl FnOnce() -> Finding) {
        self.finding_count += 1;
        if self.findings.len() < self.keep {
            self.findings.push(finding());
        }
    }

    /// Has every implementation answer a request, and judges the answers against the first one's.
    fn run(&mut self, place: usize, request: &Request, implementations: &[&dyn Implementation]) {
        let first = run_caught(implementations[0], request);
        let counts = &mut self.families[place];
        counts.requests += 1;
        match first {
            Outcome::Success(_) => counts.accepted += 1,
            Outcome::Refusal(_) => counts.refused += 1,
            Outcome::Skipped { .. } | Outcome::Errored { .. } => {}
        }
        let name = |implementation: &dyn Implementation| implementation.name().to_owned();
        let broken = breakage(&first);
        let usable = broken.is_none();
        if let Some(detail) = broken {
            self.families[place].answers[0][1] += 1;
            let implementation = name(implementations[0]);
            self.find(|| Finding::Broken { implementation, request: request.clone(), detail });
        }
        for (other, &implementation) in implementations.iter().enumerate().skip(1) {
            let answer = run_caught(implementation, request);
            let finding = if usable {
                self.families[place].answers[other][0] += 1;
                difference(request, &first, &answer, Latitude::of(implementation)).map(|detail| {
                    let against = name(implementations[0]);
                    let implementation = name(implementation);
                    Finding::Difference { implementation, against, request: request.clone(), detail }
                })
            } else {
                breakage(&answer).map(|detail| {
                    let implementation = name(implementation);
                    Finding::Broken { implementation, request: request.clone(), detail }
                })
            };
            if let Some(finding) = finding {
                self.families[place].answers[other][1] += 1;
                self.find(|| finding);
            }
        }
    }

    /// `self` stands before `later` in the order of the pairs: the first findings stay the first.
    fn then(mut self, later: Tally) -> Tally {
        for (one, other) in self.families.iter_mut().zip(later.families) {
            one.requests += other.requests;
            one.accepted += other.accepted;
            one.refused += other.refused;
            for (one, other) in one.answers.iter_mut().zip(other.answers) {
                one[0] += other[0];
                one[1] += other[1];
            }
        }
        for (one, other) in self.relations.iter_mut().zip(later.relations) {
            one.iter_mut().zip(other).for_each(|(one, other)| *one += other);
        }
        self.findings.extend(later.findings);
        self.findings.truncate(self.keep);
        self.finding_count += later.finding_count;
        self
    }
}
