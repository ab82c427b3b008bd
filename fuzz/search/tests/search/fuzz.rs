//! Tests a run of the fuzzer: it counts, it finds each planted fault once, it survives implementations that
//! fail, and it reports the same for the same seed.

use broadcheck::given::Mode;
use broadcheck_reference::Reference;
use broadcheck_search::fuzzing::{Campaign, Found, FuzzReport, common, drawn, fuzz};
use broadcheck_search::generate::{Profile, encode};
use broadcheck_search::oracle::{Breakage, Kind, Side, target};
use broadcheck_spec::{
    Capabilities, Implementation, Inference, Operand, Outcome, Request, RuleSet, Signature,
};
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

fn campaign<'a>(
    left: &'a dyn Implementation,
    right: &'a dyn Implementation,
    stop: &'a AtomicBool,
) -> Campaign<'a> {
    let both = common(left.capabilities(), right.capabilities()).expect("the capabilities overlap");
    Campaign {
        left,
        right,
        profile: Profile::within(&both).with_large(0),
        seed: 5,
        requests: Some(2_000),
        time: None,
        jobs: 1,
        skips: false,
        exact: false,
        statistics: false,
        shrinking: (2_000, Duration::from_secs(30)),
        shrink_time: None,
        store: None,
        earlier: None,
        stop,
    }
}

fn run(campaign: &Campaign<'_>) -> FuzzReport {
    fuzz(campaign, &mut |_| ()).unwrap()
}

static GO_ON: AtomicBool = AtomicBool::new(false);

#[test]
fn agreeing_requests_are_counted_and_nothing_is_found() {
    let reference = Reference::new();
    let report = run(&Campaign { statistics: true, jobs: 2, ..campaign(&reference, &reference, &GO_ON) });
    assert!(report.findings.is_empty() && report.complete);
    let counts = report.counts;
    assert_eq!((counts.requests, counts.disagreeing), (2_000, 0));
    assert_eq!(counts.accepted + counts.refused + counts.vacuous, 2_000);
    assert!(counts.accepted > 800 && counts.refused > 200 && counts.repeated >= 60, "{counts:?}");
    assert_eq!(report.statistics.map(|statistics| statistics.requests()), Some(2_000));
}

#[test]
fn a_fault_is_found_and_one_defect_is_few_findings() {
    let fault = crate::faulty::FAULTS.iter().find(|fault| fault.name == "pdpd ignores axis").unwrap();
    let (reference, faulty) = (Reference::new(), crate::faulty::Faulty::new(fault));
    let campaign = Campaign { requests: Some(1_000), ..campaign(&reference, &faulty, &GO_ON) };
    let report = run(&campaign);
    assert!(report.counts.disagreeing > 10 && !report.findings.is_empty());
    assert!(report.findings.len() as u64 <= report.counts.disagreeing / 2, "{}", report.findings.len());
    for found in &report.findings {
        assert_eq!(found.shrunk.disagreement.signature.rules, RuleSet::Pdpd);
        assert!(found.shrunk.reproduced());
    }
    // The results are the same for the same seed.
    let again = run(&campaign);
    let signatures = |report: &FuzzReport| -> Vec<(String, u64, u64)> {
        let one = |found: &broadcheck_search::fuzzing::Found| {
            (found.shrunk.disagreement.signature.to_string(), found.number, found.hits)
        };
        report.findings.iter().map(one).collect()
    };
    assert_eq!(signatures(&report), signatures(&again));
}

/// Keeps its results under a key without the values and the strides: either the last one, or all.
struct Caching {
    all: bool,
    kept: Mutex<HashMap<String, Outcome>>,
}

impl Implementation for Caching {
    fn name(&self) -> &'static str {
        "caching"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        let operand = |operand: &Operand| format!("{} {}", operand.shape(), operand.dtype());
        let operands: Vec<String> = request.operands().iter().map(operand).collect();
        let key = format!("{:?} {:?} {operands:?}", request.rules(), request.operation());
        let mut kept = self.kept.lock().unwrap();
        if let Some(outcome) = kept.get(&key) {
            return outcome.clone();
        }
        if !self.all {
            kept.clear();
        }
        kept.entry(key).or_insert_with(|| Reference.run(request)).clone()
    }
    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        Reference.infer(signature)
    }
}

#[test]
fn an_answer_that_depends_on_the_request_before_it_is_found() {
    let reference = Reference::new();
    for all in [false, true] {
        let caching = Caching { all, kept: Mutex::default() };
        let report = run(&Campaign { requests: Some(1_200), ..campaign(&reference, &caching, &GO_ON) });
        assert!(report.counts.neighbours > 60, "{:?}", report.counts);
        let condition = "This happens only right after another request:";
        let depends = |found: &&Found| found.shrunk.disagreement.detail.contains(condition);
        let found = report.findings.iter().find(depends);
        assert!(found.is_some() || all, "{:?}", report.findings);
        assert!(!report.findings.is_empty());
    }
}

/// An implementation that skips every request, although it declares them.
struct Idle;

impl Implementation for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        static ALL: std::sync::LazyLock<Capabilities> =
            std::sync::LazyLock::new(Capabilities::with_all_conventions);
        &ALL
    }
    fn run(&self, request: &Request) -> Outcome {
        Outcome::Skipped { reason: format!("too lazy for {} operands", request.operands().len()) }
    }
}

#[test]
fn a_skipped_request_is_a_finding_unless_skips_are_allowed() {
    let reference = Reference::new();
    let strict = Campaign { requests: Some(50), ..campaign(&reference, &Idle, &GO_ON) };
    let report = run(&strict);
    assert!(report.counts.disagreeing > 40 && !report.findings.is_empty(), "{:?}", report.counts);
    let report = run(&Campaign { skips: true, ..strict });
    assert_eq!((report.counts.vacuous, report.findings.len()), (50, 0));
    assert_eq!(report.counts.compared(), 0);
    // A few are beyond the limits of the reference.
    let lazy = report.reasons.get("idle skipped what it declares: too lazy for # operands");
    assert!(lazy.is_some_and(|&count| count > 40), "{:?}", report.reasons);
    assert_eq!(report.reasons.values().sum::<u64>(), 50, "{:?}", report.reasons);
}

#[test]
fn a_run_ends_by_time_and_by_interruption() {
    let reference = Reference::new();
    let time = Some(Duration::from_millis(200));
    let report = run(&Campaign { requests: None, time, ..campaign(&reference, &reference, &GO_ON) });
    assert!(report.complete && report.counts.requests > 0);
    assert!(report.elapsed < Duration::from_secs(20));
    static STOPPED: AtomicBool = AtomicBool::new(true);
    let report = run(&campaign(&reference, &reference, &STOPPED));
    assert!(!report.complete && report.counts.requests < 2_000);
}

#[test]
fn a_seed_and_a_number_identify_a_request() {
    let profile = Profile::all();
    assert_eq!(drawn(7, 11, &profile), drawn(7, 11, &profile));
    assert_ne!(drawn(7, 11, &profile), drawn(7, 12, &profile));
    assert_ne!(drawn(7, 11, &profile), drawn(8, 11, &profile));
}

#[test]
fn operands_are_given_in_every_mode() {
    let able = Capabilities { constants: true, same: true, ..Capabilities::all() };
    let plain = Profile::within(&able).with_large(0);
    let given = plain.clone().with_given(&Mode::ALL);
    let requests: Vec<Request> = (0..600).map(|number| drawn(3, number, &given)).collect();
    let count = |holds: &dyn Fn(&Request) -> bool| requests.iter().filter(|request| holds(request)).count();
    let any = |request: &Request, holds: &dyn Fn(&Operand) -> bool| request.operands().iter().any(holds);
    assert!(count(&|request| any(request, &Operand::is_constant)) > 100);
    assert!(count(&|request| any(request, &|operand| operand.same().is_some())) > 10);
    let changed = |number: u64| drawn(3, number, &plain) != drawn(3, number, &given);
    assert!((0..600).filter(|&number| changed(number)).count() > 250);
    // What the two sides cannot be given is not sent.
    let neither = Profile::within(&Capabilities::all()).with_large(0).with_given(&Mode::ALL);
    for number in 0..300 {
        let request = drawn(3, number, &neither);
        assert!(!any(&request, &|operand| operand.is_constant() || operand.same().is_some()));
    }
}

#[test]
fn sides_need_something_in_common() {
    let all = Capabilities::all();
    let none = Capabilities { rules: vec![RuleSet::None], max_rank: Some(3), ..all.clone() };
    let xla = Capabilities { rules: vec![RuleSet::Xla], strided: false, ..all.clone() };
    assert!(common(&none, &xla).unwrap_err().contains("no rule set in common"));
    let both = common(&all, &none).unwrap();
    assert_eq!((both.rules, both.max_rank), (vec![RuleSet::None], Some(3)));
    assert!(!common(&xla, &all).unwrap().strided);
}

#[test]
fn kinds_of_breakage_are_distinguished() {
    let crashed = Kind::Broke(Side::Right, Breakage::Crashed);
    assert_ne!(crashed, Kind::Broke(Side::Right, Breakage::TimedOut));
    assert_eq!(crashed.to_string(), "right crashed");
}

#[test]
fn every_target_accepts_any_bytes() {
    let profile = Profile::all().with_large(0);
    for name in broadcheck_search::oracle::TARGETS {
        let oracle = target(name).unwrap();
        for number in 0..50 {
            let request = drawn(1, number, &profile);
            let decoded = broadcheck_search::generate::decode(&encode(&request));
            assert!(oracle.judge(&decoded).disagreement().is_none(), "{name}: request {number}");
        }
    }
    assert!(target("case_file").is_none());
}
