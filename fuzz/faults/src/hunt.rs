//! Finds what catches a fault: the smallest case of the suite, and the first request of the generator.

use super::{Fault, Faulty};
use broadcheck::run::{run_case, run_caught};
use broadcheck_reference::Reference;
use broadcheck_search::generate::{Profile, Seeded, request};
use broadcheck_search::oracle::{Judgement, differential};
use broadcheck_spec::{Capabilities, Case, Expectation, Implementation, Outcome, Request};
use rayon::prelude::*;

/// The seed that the table and the tests use.
pub const SEED: u64 = 5334;

/// The most requests that a fault may survive.
pub const LIMIT: u64 = 100_000;

/// How many requests are drawn and then judged at a time.
const BATCH: u64 = 512;

/// The profile for faults: everything, except results so large that they show no more than those of some
/// thousand elements.
pub fn profile() -> Profile {
    Profile::all().with_max_elements(1 << 12)
}

/// The size by which cases are ordered: elements of the result and of the operands' buffers, then operands,
/// then the id.
pub fn size(case: &Case) -> (usize, usize, &str) {
    let operands = case.request.operands();
    let result = match &case.expectation {
        Expectation::Result(result) => result.tensor.values().len(),
        Expectation::Refusal(_) => 0,
    };
    let values = operands.iter().map(|operand| operand.values().len());
    (result + values.sum::<usize>(), operands.len(), &case.id)
}

/// The cases, ordered by size.
pub fn by_size(cases: &[Case]) -> Vec<&Case> {
    let mut cases: Vec<&Case> = cases.iter().collect();
    cases.sort_by_key(|case| size(case));
    cases
}

fn catches(faulty: &Faulty, case: &Case) -> bool {
    run_case(faulty, case, None).status.is_failure()
}

/// The first of these cases that catches the fault.
pub fn first_case<'a>(fault: &Fault, cases: &[&'a Case]) -> Option<&'a Case> {
    let faulty = Faulty::new(fault);
    cases.iter().copied().find(|case| catches(&faulty, case))
}

/// All of these cases that catch the fault, in their order.
pub fn all_cases<'a>(fault: &Fault, cases: &[&'a Case]) -> Vec<&'a Case> {
    let faulty = Faulty::new(fault);
    cases.par_iter().copied().filter(|case| catches(&faulty, case)).collect()
}

/// For each fault, the number of the generator's first request that distinguishes it from the reference,
/// counted from 1; `None` if none of the first `limit` does.
pub fn requests(faults: &[&Fault], seed: u64, limit: u64) -> Vec<Option<u64>> {
    let faulty: Vec<Faulty> = faults.iter().map(|fault| Faulty::new(fault)).collect();
    first_requests(&faulty, seed, limit)
}

/// Like [`requests`], for engines. No request may distinguish an engine without a fault from the reference.
pub fn first_requests(engines: &[Faulty], seed: u64, limit: u64) -> Vec<Option<u64>> {
    let profile = profile();
    let mut choices = Seeded::new(seed);
    let mut found: Vec<Option<u64>> = vec![None; engines.len()];
    let mut drawn = 0;
    while drawn < limit && found.contains(&None) {
        let batch: Vec<Request> =
            (0..BATCH.min(limit - drawn)).map(|_| request(&mut choices, &profile)).collect();
        let alive: Vec<usize> = (0..engines.len()).filter(|&place| found[place].is_none()).collect();
        let distinguished: Vec<Vec<usize>> =
            batch.par_iter().map(|request| distinguishes(request, engines, &alive)).collect();
        for (request, places) in (drawn + 1..).zip(distinguished) {
            for place in places {
                found[place].get_or_insert(request);
            }
        }
        drawn += batch.len() as u64;
    }
    found
}

/// Which of the engines a request distinguishes from the reference.
fn distinguishes(request: &Request, engines: &[Faulty], alive: &[usize]) -> Vec<usize> {
    let expected = Answered::by(&Reference, request);
    let differs = |place: &usize| {
        let found = Answered::by(&engines[*place], request);
        // Answers that are equal to the bit need no judgement.
        found.outcome != expected.outcome
            && matches!(differential(&expected, &found, request), Judgement::Disagreement(_))
    };
    alive.iter().copied().filter(differs).collect()
}

/// An implementation with a fixed answer. The oracle runs each side again, but one answer of the reference
/// serves for all engines.
struct Answered<'a> {
    by: &'a dyn Implementation,
    outcome: Outcome,
}

impl<'a> Answered<'a> {
    fn by(implementation: &'a dyn Implementation, request: &Request) -> Answered<'a> {
        Answered { by: implementation, outcome: run_caught(implementation, request) }
    }
}

impl Implementation for Answered<'_> {
    fn name(&self) -> &str {
        self.by.name()
    }

    fn version(&self) -> &str {
        self.by.version()
    }

    fn capabilities(&self) -> &Capabilities {
        self.by.capabilities()
    }

    fn run(&self, _: &Request) -> Outcome {
        self.outcome.clone()
    }

    fn allowed_ulp(&self) -> u32 {
        self.by.allowed_ulp()
    }
}
