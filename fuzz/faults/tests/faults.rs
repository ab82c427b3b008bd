//! Tests the planted faults: the engine is correct without one, and each fault is caught by the cases alone
//! and by the generator alone. A sample of the faults is hunted here, since `broadcheck faults` hunts all.

use broadcheck::run::{Status, run_cases, run_inferences};
use broadcheck_faults::hunt::{Cases, LIMIT, SEED, first_case, first_requests, first_signatures, requests};
use broadcheck_faults::{CATALOGUE, Class, Escape, Fault, Faulty, INEXPRESSIBLE, SURVIVORS};
use broadcheck_spec::{Case, InferenceCase, Suite};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Loaded once for all tests.
static SUITE: LazyLock<Suite> =
    LazyLock::new(|| Suite::builtin().unwrap_or_else(|errors| panic!("{errors}")));

/// The faults that are hunted here: every tenth that is not listed as a survivor of this. `broadcheck faults`
/// hunts all of them.
fn hunted(escapes: Escape) -> Vec<&'static Fault> {
    CATALOGUE.iter().copied().step_by(10).filter(|fault| !fault.is_listed(escapes)).collect()
}

#[test]
fn without_a_fault_the_engine_passes_every_case() {
    let cases: Vec<&Case> = SUITE.cases.iter().collect();
    let judged = run_cases(&Faulty::sound(), &cases, None);
    let failed: Vec<String> = cases
        .iter()
        .zip(&judged)
        .filter(|(_, judged)| !matches!(judged.status, Status::Passed | Status::Agrees))
        .map(|(case, judged)| format!("{}: {}", case.id, judged.detail))
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn without_a_fault_no_request_distinguishes_the_engine_from_the_reference() {
    assert_eq!(first_requests(&[Faulty::sound()], SEED, LIMIT / 10), [None]);
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn without_a_fault_no_request_up_to_the_limit_distinguishes_the_engine_from_the_reference() {
    assert_eq!(first_requests(&[Faulty::sound()], SEED, LIMIT), [None]);
}

#[test]
fn without_a_fault_every_inference_is_exact() {
    let cases: Vec<&InferenceCase> = SUITE.inferences.iter().collect();
    for (case, judged) in cases.iter().zip(run_inferences(&Faulty::sound(), &cases, None, true)) {
        assert!(matches!(judged.status, Status::Passed | Status::Agrees), "{}: {}", case.id, judged.detail);
    }
    assert_eq!(first_signatures(&[Faulty::sound()], LIMIT), [None]);
}

#[test]
fn every_fault_of_inference_is_caught_by_the_runs_alone() {
    let faults: Vec<&Fault> = CATALOGUE.iter().copied().filter(|fault| fault.class == Class::Infer).collect();
    let found = requests(&faults, SEED, LIMIT);
    let survivors: Vec<&str> =
        faults.iter().zip(found).filter(|(_, found)| found.is_none()).map(|(fault, _)| fault.id).collect();
    assert!(survivors.is_empty(), "no signature catches {survivors:#?}");
}

#[test]
fn every_fault_that_is_not_listed_is_caught_by_the_cases_alone() {
    let cases = Cases::new(&SUITE);
    let faults = hunted(Escape::Cases);
    let survivors: Vec<&str> =
        faults.par_iter().filter(|fault| first_case(fault, &cases).is_none()).map(|fault| fault.id).collect();
    assert!(survivors.is_empty(), "no case catches {survivors:#?}");
}

#[test]
fn every_fault_that_is_not_listed_is_caught_by_the_generator_alone() {
    let faults = hunted(Escape::Generator);
    let found = requests(&faults, SEED, LIMIT);
    let survivors: Vec<&str> =
        faults.iter().zip(found).filter(|(_, found)| found.is_none()).map(|(fault, _)| fault.id).collect();
    assert!(survivors.is_empty(), "none of {LIMIT} requests catches {survivors:#?}");
}

#[test]
fn the_catalogue_is_well_formed() {
    let ids: BTreeSet<&str> = CATALOGUE.iter().map(|fault| fault.id).collect();
    assert_eq!(ids.len(), CATALOGUE.len(), "ids are unique");
    for fault in CATALOGUE.iter() {
        assert!(fault.id.starts_with(&format!("{}/", fault.class)), "{}", fault.id);
        assert!(fault.title.ends_with('.'), "{}", fault.id);
        assert!(fault.reports.iter().all(|report| report.url.starts_with("https://")), "{}", fault.id);
        assert!(Fault::named(fault.id).is_some_and(|found| found.id == fault.id));
    }
    assert!(CATALOGUE.len() >= 75, "{} faults", CATALOGUE.len());
    let inside = CATALOGUE.iter().filter(|fault| fault.class.is_inside()).count();
    assert!(inside * 2 >= CATALOGUE.len(), "{inside} of {} are inside", CATALOGUE.len());
    for class in Class::ALL {
        assert!(CATALOGUE.iter().any(|fault| fault.class == class), "no fault of {class}");
    }
}

#[test]
fn the_page_has_every_fault() {
    let page = include_str!("../../../conformance/FAULTS.md");
    let count = page.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(count, CATALOGUE.len(), "rows of FAULTS.md, which `broadcheck faults --sweeps` writes");
    for fault in CATALOGUE.iter() {
        assert!(page.contains(&format!("\n| `{}` | {} |", fault.id, fault.title)), "{}", fault.id);
    }
}

#[test]
fn the_survivors_are_faults() {
    let unique: BTreeSet<(&str, bool)> =
        SURVIVORS.iter().map(|survivor| (survivor.id, survivor.escapes == Escape::Cases)).collect();
    assert_eq!(unique.len(), SURVIVORS.len(), "a survivor is listed once");
    for survivor in SURVIVORS {
        assert!(Fault::named(survivor.id).is_some(), "{}", survivor.id);
        assert!(survivor.reason.ends_with('.'), "{}", survivor.id);
    }
}

#[test]
fn no_report_is_both_in_the_catalogue_and_inexpressible() {
    let caught: BTreeSet<&str> =
        CATALOGUE.iter().flat_map(|fault| fault.reports).map(|report| report.url).collect();
    for bug in INEXPRESSIBLE {
        assert!(!caught.contains(bug.report.url), "{} is both", bug.report.url);
    }
}
