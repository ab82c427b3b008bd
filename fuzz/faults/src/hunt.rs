//! Finds what catches a fault: the cases of the suite, the first sweep, and the first request of the
//! generator.
//!
//! An engine that remembers earlier requests is asked everything in one order by one thread, so that what
//! catches it does not depend on scheduling: the cases in the suite's order, then, as a fresh engine, the
//! sweeps, and as another one the requests.
//!
//! A fault of what is inferred before the run is asked the cases of the operation `infer`, and the
//! generator's signatures in place of requests: its answers are judged by the runs of a signature alone.

use super::{Class, Fault, Faulty, capabilities};
use broadcheck::parallel::set_threads;
use broadcheck::relations::RelationSweep;
use broadcheck::run::{infer_caught, run_case, run_caught, run_inferences};
use broadcheck::sweeps::run_sweep;
use broadcheck_judge::inferred::Inferred;
use broadcheck_reference::Reference;
use broadcheck_search::fuzzing::drawn_signature;
use broadcheck_search::generate::{Profile, Seeded, request};
use broadcheck_search::inference::Relation;
use broadcheck_search::oracle::{Judgement, differential};
use broadcheck_spec::{
    Capabilities, Case, Expectation, Implementation, InferenceCase, Outcome, Request, Suite, Sweep,
};
use rayon::prelude::*;

/// The seed that the table and the tests use.
pub const SEED: u64 = 5334;

/// The most requests that a fault may survive: 17,000 for each rule set.
pub const LIMIT: u64 = 120_000;

/// How many requests are drawn and then judged at a time.
const BATCH: u64 = 512;

/// The profile for faults: everything, except results so large that they show no more than those of some
/// thousand elements.
pub fn profile() -> Profile {
    Profile::within(&capabilities()).with_max_elements(1 << 12)
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

/// The size by which cases of `infer` are ordered: axes, then operands, then the id.
fn inference_size(case: &InferenceCase) -> (usize, usize, &str) {
    let axes = case.request.shapes().map(|shape| shape.rank().unwrap_or(1)).sum();
    (axes, case.request.operands().len(), &case.id)
}

/// The cases in two orders.
pub struct Cases<'a> {
    /// In the suite's order.
    pub listed: Vec<&'a Case>,
    /// The smallest first.
    pub by_size: Vec<&'a Case>,
    /// Those of the operation `infer`, the smallest first.
    pub inferences: Vec<&'a InferenceCase>,
}

impl<'a> Cases<'a> {
    /// The cases of a suite.
    pub fn new(suite: &'a Suite) -> Cases<'a> {
        let mut inferences: Vec<&InferenceCase> = suite.inferences.iter().collect();
        inferences.sort_by_key(|case| inference_size(case));
        Cases { listed: suite.cases.iter().collect(), by_size: by_size(&suite.cases), inferences }
    }
}

/// The cases, ordered by size.
fn by_size(cases: &[Case]) -> Vec<&Case> {
    let mut cases: Vec<&Case> = cases.iter().collect();
    cases.sort_by_key(|case| size(case));
    cases
}

fn catches(faulty: &Faulty, case: &Case) -> bool {
    run_case(faulty, case, None).status.is_failure()
}

fn catches_inference(faulty: &Faulty, case: &InferenceCase) -> bool {
    run_inferences(faulty, &[case], None, true).iter().any(|judged| judged.status.is_failure())
}

/// The id of a case that catches the fault: the smallest, or the first in the suite's order if the order
/// matters.
pub fn first_case<'a>(fault: &Fault, cases: &Cases<'a>) -> Option<&'a str> {
    let faulty = Faulty::new(fault);
    if fault.class == Class::Infer {
        let mut all = cases.inferences.iter().copied();
        return all.find(|case| catches_inference(&faulty, case)).map(|case| case.id.as_str());
    }
    let order = if faulty.remembers() { &cases.listed } else { &cases.by_size };
    order.iter().copied().find(|case| catches(&faulty, case)).map(|case| case.id.as_str())
}

/// The ids of all of these cases that catch the fault, the smallest first.
pub fn all_cases<'a>(fault: &Fault, cases: &Cases<'a>) -> Vec<&'a str> {
    let faulty = Faulty::new(fault);
    if fault.class == Class::Infer {
        let all = cases.inferences.iter().copied();
        return all.filter(|case| catches_inference(&faulty, case)).map(|case| case.id.as_str()).collect();
    }
    let ids = |cases: Vec<&'a Case>| cases.into_iter().map(|case| case.id.as_str()).collect();
    if !faulty.remembers() {
        return ids(cases.by_size.par_iter().copied().filter(|case| catches(&faulty, case)).collect());
    }
    let mut caught: Vec<&Case> = cases.listed.iter().copied().filter(|case| catches(&faulty, case)).collect();
    caught.sort_by_key(|case| size(case));
    ids(caught)
}

/// Sweeps of more cases than this are not run for each fault: they would take hours.
const MAX_CASES_OF_A_SWEEP: u64 = 10_000;

/// For each fault, the first of these sweeps that catches it, the smallest first and relations last. Sweeps
/// of more than 10,000 cases are left out.
pub fn first_sweeps<'a>(faults: &[&Fault], sweeps: &'a [Sweep]) -> Vec<Option<&'a Sweep>> {
    // One thread per fault, and not several per sweep.
    set_threads(1);
    let mut sweeps: Vec<&Sweep> =
        sweeps.iter().filter(|sweep| sweep.expected_cases <= MAX_CASES_OF_A_SWEEP).collect();
    sweeps.sort_by_key(|sweep| (is_relation(sweep), sweep.expected_cases));
    let found = faults
        .par_iter()
        .map(|fault| {
            let faulty = Faulty::new(fault);
            sweeps.iter().copied().find(|sweep| run_sweep(&faulty, sweep, None).judged.status.is_failure())
        })
        .collect();
    set_threads(0);
    found
}

fn is_relation(sweep: &Sweep) -> bool {
    RelationSweep::named(&sweep.sweep).is_some()
}

/// For each fault, the number of the generator's first request that distinguishes it from the reference,
/// counted from 1; `None` if none of the first `limit` does. For a fault of what is inferred, that of the
/// first [signature](first_signatures).
pub fn requests(faults: &[&Fault], seed: u64, limit: u64) -> Vec<Option<u64>> {
    let engines = |inference: bool| -> Vec<Faulty> {
        let wanted = faults.iter().filter(|fault| (fault.class == Class::Infer) == inference);
        wanted.map(|fault| Faulty::new(fault)).collect()
    };
    let mut of_requests = first_requests(&engines(false), seed, limit).into_iter();
    let mut of_signatures = first_signatures(&engines(true), seed, limit).into_iter();
    let next = |fault: &&Fault| {
        let found = if fault.class == Class::Infer { of_signatures.next() } else { of_requests.next() };
        found.flatten()
    };
    faults.iter().map(next).collect()
}

/// The most runs of a signature that are tried.
const RUNS: usize = 6_000;

/// For each engine, the number of the generator's first signature whose runs contradict its answer, counted
/// from 1; `None` if none of the first `limit` does. An answer that is wider than exact contradicts them,
/// too.
pub fn first_signatures(engines: &[Faulty], seed: u64, limit: u64) -> Vec<Option<u64>> {
    let profile = profile();
    let mut found: Vec<Option<u64>> = vec![None; engines.len()];
    let mut asked = 0;
    while asked < limit && found.contains(&None) {
        let numbers: Vec<u64> = (asked + 1..=limit.min(asked + BATCH)).collect();
        let alive: Vec<usize> = (0..engines.len()).filter(|&place| found[place].is_none()).collect();
        let contradicted = |relation: &mut Relation, number: u64| -> Vec<usize> {
            let Some(signature) = drawn_signature(seed, number, &profile) else { return Vec::new() };
            let runs = relation.runs(&signature);
            let wrong = |engine: &Faulty| {
                runs.judge(&signature, &infer_caught(engine, &signature)) != Inferred::Exact
            };
            alive.iter().copied().filter(|&place| wrong(&engines[place])).collect()
        };
        let caught: Vec<Vec<usize>> = numbers
            .par_iter()
            .map_init(|| Relation::trying(RUNS), |relation, &number| contradicted(relation, number))
            .collect();
        for (&number, places) in numbers.iter().zip(caught) {
            for place in places {
                found[place].get_or_insert(number);
            }
        }
        asked += numbers.len() as u64;
    }
    found
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
        let (ordered, alive): (Vec<usize>, Vec<usize>) = (0..engines.len())
            .filter(|&place| found[place].is_none())
            .partition(|&place| engines[place].remembers());
        let expected: Vec<Answered<'_>> =
            batch.par_iter().map(|request| Answered::by(&Reference, request)).collect();
        let distinguished: Vec<Vec<usize>> = batch
            .par_iter()
            .zip(&expected)
            .map(|(request, expected)| {
                alive.iter().copied().filter(|&place| differs(request, expected, &engines[place])).collect()
            })
            .collect();
        for (number, places) in (drawn + 1..).zip(distinguished) {
            for place in places {
                found[place].get_or_insert(number);
            }
        }
        let first = |&place: &usize| {
            let mut numbered = (drawn + 1..).zip(batch.iter().zip(&expected));
            let found = numbered.find(|(_, (request, expected))| differs(request, expected, &engines[place]));
            (place, found.map(|(number, _)| number))
        };
        for (place, number) in ordered.par_iter().map(first).collect::<Vec<_>>() {
            found[place] = number;
        }
        drawn += batch.len() as u64;
    }
    found
}

/// Whether a request distinguishes the engine from the reference.
fn differs(request: &Request, expected: &Answered<'_>, engine: &Faulty) -> bool {
    let found = Answered::by(engine, request);
    // Answers that are equal to the bit need no judgement.
    found.outcome != expected.outcome
        && matches!(differential(expected, &found, request), Judgement::Disagreement(_))
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
