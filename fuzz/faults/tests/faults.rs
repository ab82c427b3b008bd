//! Tests the planted faults: the engine is correct without one, and each fault is caught by the cases alone
//! and by the generator alone. A sample of the faults is hunted here, since `broadcheck faults` hunts all.

use broadcheck::run::{Status, run_cases, run_inferences};
use broadcheck_faults::hunt::{
    Cases, LIMIT, SEED, first_case, first_requests, first_signatures, first_sweeps, profile, requests,
};
use broadcheck_faults::{CATALOGUE, Class, Escape, Fault, Faulty, INEXPRESSIBLE, SURVIVORS};
use broadcheck_judge::describe::describe_signature;
use broadcheck_reference::Reference;
use broadcheck_search::fuzzing::{Campaign, drawn_signature, fuzz};
use broadcheck_search::generate::{Rewrites, Signatures};
use broadcheck_search::shrink::propose_question;
use broadcheck_spec::json::Question;
use broadcheck_spec::{Case, Implementation as _, InferenceCase, Signature, Suite, Sweep, load_str};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

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

/// The first signature whose runs contradict the engine without a fault, and its answer.
fn contradicted(limit: u64) -> Option<String> {
    let number = first_signatures(&[Faulty::sound()], SEED, limit)[0]?;
    let signature = drawn_signature(SEED, number, &profile())?;
    let (asked, answer) = (describe_signature(&signature).join("; "), Faulty::sound().infer(&signature));
    Some(format!("signature {number}, {asked}: {answer:?}"))
}

#[test]
fn without_a_fault_every_inference_is_exact() {
    let cases: Vec<&InferenceCase> = SUITE.inferences.iter().collect();
    for (case, judged) in cases.iter().zip(run_inferences(&Faulty::sound(), &cases, None, true)) {
        assert!(matches!(judged.status, Status::Passed | Status::Agrees), "{}: {}", case.id, judged.detail);
    }
    assert_eq!(contradicted(LIMIT / 50), None);
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn without_a_fault_every_inference_up_to_the_limit_is_exact() {
    assert_eq!(contradicted(LIMIT), None);
}

/// The most signatures that a fault of inference survives.
const MOST_SIGNATURES: u64 = 5_000;

#[test]
fn every_fault_of_inference_is_caught_by_the_runs_alone() {
    let faults: Vec<&Fault> = CATALOGUE.iter().copied().filter(|fault| fault.class == Class::Infer).collect();
    let found = requests(&faults, SEED, LIMIT);
    for (fault, found) in faults.iter().zip(&found) {
        println!("{found:?} {}", fault.id);
    }
    let mut numbers: Vec<u64> = found.iter().flatten().copied().collect();
    numbers.sort_unstable();
    println!("{} of {}, median {:?}", numbers.len(), faults.len(), numbers.get(numbers.len() / 2));
    let survivors: Vec<&str> =
        faults.iter().zip(found).filter(|(_, found)| found.is_none()).map(|(fault, _)| fault.id).collect();
    assert!(survivors.is_empty(), "no signature catches {survivors:#?}");
}

/// The smallest signature that the fuzzer finds for a fault of inference, and its case.
fn smallest(fault: &Fault) -> (Signature, String) {
    static GO_ON: AtomicBool = AtomicBool::new(false);
    let faulty = Faulty::new(fault);
    // Up to the first signature that shows it.
    let first = requests(&[fault], SEED, MOST_SIGNATURES)[0].unwrap_or(MOST_SIGNATURES);
    let campaign = Campaign {
        left: &Reference,
        right: &faulty,
        profile: profile().with_signatures(Signatures::Only),
        seed: SEED,
        requests: Some(first + 1),
        time: None,
        jobs: 1,
        skips: false,
        exact: true,
        statistics: false,
        shrinking: (3_000, Duration::from_secs(60)),
        shrink_time: None,
        store: None,
        earlier: None,
        stop: &GO_ON,
    };
    let report = fuzz(&campaign, &mut |_| ()).unwrap();
    let groups = report.groups();
    let found = groups.first().unwrap_or_else(|| panic!("{} is not found", fault.id)).findings[0];
    assert!(found.shrunk.reproduced() && found.shrunk.minimal, "{}", fault.id);
    let sides = campaign.sides(&found.shrunk, found.number);
    let proposal = propose_question(&found.shrunk, &sides).unwrap_or_else(|error| panic!("{error}"));
    let Question::Infer(signature) = &found.shrunk.request else { panic!("{}: a signature", fault.id) };
    (signature.clone(), proposal.yaml)
}

/// The fuzzer finds each of these faults and shrinks it to a case that shows it.
fn become_small_cases(faults: &[&Fault]) {
    let shrunk: Vec<(&Fault, (Signature, String))> =
        faults.par_iter().map(|fault| (*fault, smallest(fault))).collect();
    for (fault, (signature, yaml)) in shrunk {
        let axes: usize = signature.shapes().map(|shape| shape.rank().unwrap_or(1)).sum();
        println!("{}: {axes} axes, {}", fault.id, describe_signature(&signature).join("; "));
        assert!(axes <= 5 && signature.operands().len() <= 3, "{}: {yaml}", fault.id);
        let file = load_str(&yaml, "case.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        let cases: Vec<&InferenceCase> = file.inferences.iter().collect();
        let shows = |engine: &Faulty| {
            run_inferences(engine, &cases, None, true).iter().any(|judged| judged.status.is_failure())
        };
        assert!(shows(&Faulty::new(fault)) && !shows(&Faulty::sound()), "{}: {yaml}", fault.id);
    }
}

#[test]
fn some_faults_of_inference_become_small_cases() {
    let faults: Vec<&Fault> = CATALOGUE.iter().copied().filter(|fault| fault.class == Class::Infer).collect();
    become_small_cases(&faults.into_iter().step_by(9).collect::<Vec<_>>());
}

#[test]
#[ignore = "takes a minute: .ci/run runs it"]
fn every_fault_of_inference_becomes_a_small_case() {
    let faults: Vec<&Fault> = CATALOGUE.iter().copied().filter(|fault| fault.class == Class::Infer).collect();
    become_small_cases(&faults);
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

/// Of the faults of what is kept of a signature, none needs more than a short session.
#[test]
fn faults_of_signatures_are_caught_by_sessions() {
    let sessions: Vec<Sweep> =
        SUITE.sweeps.iter().filter(|sweep| sweep.id.ends_with("/sessions/short")).cloned().collect();
    let of_signatures = |fault: &&Fault| {
        fault.id.starts_with("state/signature-") || fault.id.starts_with("state/unknown-length-")
    };
    let faults: Vec<&Fault> = CATALOGUE.iter().copied().filter(of_signatures).collect();
    assert_eq!((sessions.len(), faults.len()), (8, 8));
    for (fault, sweep) in faults.iter().zip(first_sweeps(&faults, &sessions)) {
        assert!(sweep.is_some(), "no session catches {}", fault.id);
    }
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

/// Faults of longer programs, and of algebra that only some forms of an expression meet.
const PROGRAMS: [&str; 9] = [
    "rewrites/negated-in-place",
    "rewrites/twelve-reads",
    "rewrites/split-chain-exchanges-arguments",
    "rewrites/same-part-by-size",
    "rewrites/negation-of-a-part-by-difference",
    "rewrites/three-negations",
    "rewrites/shape-of-the-branch",
    "gradient/shared-part-counts-once",
    "gradient/ten-calls-deep",
];

#[test]
fn longer_programs_are_caught_by_the_generator() {
    let faults: Vec<&Fault> = PROGRAMS.iter().map(|id| Fault::named(id).unwrap()).collect();
    let found = requests(&faults, SEED, LIMIT / 4);
    for (fault, found) in faults.iter().zip(&found) {
        println!("{found:?} {}", fault.id);
    }
    assert!(found.iter().all(Option::is_some));
}

/// How many of so many requests disagree with another form of themselves, whatever the answer should be.
fn contradicting_itself(engine: &Faulty, requests: u64) -> u64 {
    static GO_ON: AtomicBool = AtomicBool::new(false);
    let campaign = Campaign {
        left: &Reference,
        right: engine,
        profile: profile().with_rewrites(Rewrites::Only),
        seed: SEED,
        requests: Some(requests),
        time: None,
        jobs: 1,
        skips: false,
        exact: false,
        statistics: false,
        shrinking: (0, Duration::ZERO),
        shrink_time: Some(Duration::ZERO),
        store: None,
        earlier: None,
        stop: &GO_ON,
    };
    fuzz(&campaign, &mut |_| ()).unwrap().counts.disagreeing
}

#[test]
fn rewrites_find_faults_without_a_reference() {
    // The shape of a branch is wrong in both forms.
    let ids = PROGRAMS.iter().copied().filter(|id| *id != "rewrites/shape-of-the-branch").chain([
        "rewrites/minus-negative-zero",
        "rewrites/zero-minus",
        "rewrites/negated-comparison",
        "rewrites/negated-conjunction",
        "rewrites/difference-sorted",
    ]);
    let faults: Vec<&Fault> = ids.map(|id| Fault::named(id).unwrap()).collect();
    let found: Vec<u64> =
        faults.par_iter().map(|fault| contradicting_itself(&Faulty::new(fault), 6_000)).collect();
    for (fault, found) in faults.iter().zip(&found) {
        println!("{found} {}", fault.id);
    }
    assert!(found.iter().all(|&found| found > 0));
}

#[test]
fn the_sound_engine_agrees_with_every_form_of_itself() {
    assert_eq!(contradicting_itself(&Faulty::sound(), 6_000), 0);
}
