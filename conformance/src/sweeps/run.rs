//! Runs a sweep against an implementation: one line of the report for all its cases.

use super::together::check_together;
use super::{Expansion, expand};
use crate::known::Known;
use crate::relations::{Extent, Held, Instance, Relation};
use crate::suite::{Judged, Status, run_cases};
use broadcheck_spec::{Case, Implementation, Sweep};
use rayon::prelude::*;
use std::mem::take;

/// How many failures are described.
const DESCRIBED: usize = 5;

/// What became of a sweep's cases.
#[derive(Clone, Debug)]
pub struct SweepReport {
    /// How many cases there are.
    pub cases: u64,
    /// Cases that passed. Of a relation: instances in which two answers were compared, and agreed.
    pub passed: u64,
    /// Cases that failed.
    pub failed: u64,
    /// Cases outside what the implementation declares.
    pub skipped: u64,
    /// Instances of a relation in which there was nothing to compare: never counted as passed.
    pub vacuous: u64,
    /// The first failures.
    pub failures: Vec<SweepFailure>,
    /// The sweep as one case: passed where some cases passed and none failed.
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
/// sweep's own id.
pub fn run_sweep(implementation: &dyn Implementation, sweep: &Sweep, known: Option<&Known>) -> SweepReport {
    let mut report = match expand(sweep) {
        Ok(Expansion::Cases(cases)) => run_all(implementation, &cases),
        Ok(Expansion::Relation { relation, extent }) => run_relation(implementation, relation, extent),
        Err(reason) => {
            let mut report = Tally::default().report(0, None);
            report.judged = Judged::new(Status::Failed, reason);
            return report;
        }
    };
    if let Some(entry) = known.and_then(|known| known.entry(&sweep.id)) {
        report.judged = entry.applied_to(report.judged);
    }
    report
}

#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
    vacuous: u64,
    failures: Vec<SweepFailure>,
}

impl Tally {
    fn fail(&mut self, what: impl Into<String>, detail: impl Into<String>) {
        self.failed += 1;
        if self.failures.len() < DESCRIBED {
            self.failures.push(SweepFailure { what: what.into(), detail: detail.into() });
        }
    }

    fn judge(&mut self, relation: &Relation, held: Result<Held, String>) {
        match held {
            Ok(Held::Compared) => self.passed += 1,
            Ok(Held::Vacuous) => self.vacuous += 1,
            Err(violation) => self.fail(relation.name, violation),
        }
    }

    /// `self` stands before `later` in the order of the cases: the first failures stay the first.
    fn then(mut self, later: Tally) -> Tally {
        self.passed += later.passed;
        self.failed += later.failed;
        self.skipped += later.skipped;
        self.vacuous += later.vacuous;
        self.failures.extend(later.failures);
        self.failures.truncate(DESCRIBED);
        self
    }

    fn report(self, cases: u64, skip: Option<String>) -> SweepReport {
        let Tally { passed, failed, skipped, vacuous, failures } = self;
        let judged = if failed > 0 {
            let first: Vec<String> =
                failures.iter().map(|failure| format!("{}: {}", failure.what, failure.detail)).collect();
            Judged::new(Status::Failed, format!("{failed} of {cases} failed\n{}", first.join("\n")))
        } else if passed + failed + skipped + vacuous != cases {
            let found = passed + failed + skipped + vacuous;
            Judged::new(Status::Failed, format!("{found} cases were run, expected {cases}"))
        } else if skipped == cases && cases > 0 {
            Judged::new(Status::Skipped, skip.unwrap_or_else(|| "outside what it declares".into()))
        } else if passed == 0 {
            Judged::new(Status::Failed, format!("nothing was compared in any of {cases} cases"))
        } else {
            Judged::new(Status::Passed, "")
        };
        SweepReport { cases, passed, failed, skipped, vacuous, failures, judged }
    }
}

fn run_all(implementation: &dyn Implementation, cases: &[Case]) -> SweepReport {
    let judged = run_cases(implementation, &cases.iter().collect::<Vec<_>>(), None);
    let mut tally = Tally::default();
    let mut skip = None;
    for (case, judged) in cases.iter().zip(judged) {
        match judged.status {
            Status::Passed => tally.passed += 1,
            Status::Skipped => {
                tally.skipped += 1;
                skip.get_or_insert(judged.detail);
            }
            _ => tally.fail(&case.id, judged.detail),
        }
    }
    tally.report(cases.len() as u64, skip)
}

fn run_relation(
    implementation: &dyn Implementation,
    relation: &'static Relation,
    extent: Extent,
) -> SweepReport {
    let cases = u64::try_from(relation.count(&extent)).unwrap_or(u64::MAX);
    if let Err(reason) = relation.covered_by(implementation.capabilities(), &extent) {
        return Tally { skipped: cases, ..Tally::default() }.report(cases, Some(reason));
    }
    let shapes = extent.shapes();
    // Where many requests are answered faster together, the instances of many pairs of shapes are checked together.
    let batch = implementation.batch().max(1);
    let pairs = (0..shapes.len() * shapes.len()).into_par_iter().with_min_len(batch);
    let check = |tally: &mut Tally, instances: &[Instance]| {
        for held in check_together(implementation, relation, instances) {
            tally.judge(relation, held);
        }
    };
    let tally = pairs
        .fold(<(Tally, Vec<Instance>)>::default, |(mut tally, mut waiting), place| {
            let (first, second) = (place / shapes.len(), place % shapes.len());
            relation.each(&shapes, first, second, &mut |instance| {
                if batch == 1 {
                    return tally.judge(relation, relation.check(implementation, instance));
                }
                waiting.push(instance.clone());
                if waiting.len() == batch {
                    check(&mut tally, &take(&mut waiting));
                }
            });
            (tally, waiting)
        })
        .map(|(mut tally, waiting)| {
            check(&mut tally, &waiting);
            tally
        })
        .reduce(Tally::default, Tally::then);
    tally.report(cases, None)
}
