//! Tests the exhaustive run within small bounds: it finds nothing wrong in correct implementations, its
//! counts agree with combinatorics, and planted faults are caught, both by comparing answers and by relations
//! alone.

use crate::faulty::altered::Altered;
use crate::faulty::{FAULTS, Fault, Faulty};
use broadcheck::relations::{Extent, RELATION_SWEEPS};
use broadcheck_reference::Reference;
use broadcheck_search::exhaustive::{Bounds, ExhaustReport, FindingKind, Progress, exhaust};
use broadcheck_search::subjects::Ndarray;
use broadcheck_spec::{Capabilities, ErrorKind, Implementation, Outcome, Request, RuleSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn run(max_rank: usize, max_length: usize, implementations: &[&dyn Implementation]) -> ExhaustReport {
    let bounds = Bounds::new(max_rank, max_length).unwrap();
    exhaust(&bounds, implementations, &Progress::silent()).unwrap()
}

fn findings(report: &ExhaustReport) -> String {
    let lines: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Sums over the ranks of two shapes. Written independently here, so that the test does not use the library's
/// arithmetic.
fn sum(max_rank: u32, of: impl Fn(u32, u32) -> u64) -> u64 {
    (0..=max_rank).map(|a| (0..=max_rank).map(|b| of(a, b)).sum::<u64>()).sum()
}

fn binomial(n: u32, k: u32) -> u64 {
    (0..u64::from(k)).fold(1, |product, step| product * (u64::from(n) - step) / (step + 1))
}

#[test]
fn the_reference_and_ndarray_agree_over_all_small_shapes() {
    let (reference, ndarray) = (Reference::new(), Ndarray::new());
    for (max_rank, max_length) in [(0, 0), (1, 4), (2, 3), (3, 1)] {
        let report = run(max_rank, max_length, &[&reference, &ndarray]);
        assert!(report.held(), "{}", findings(&report));
        for relation in RELATION_SWEEPS {
            let mut counts = report.relations.iter().filter(|count| count.relation == relation.name);
            let count = counts.find(|count| count.implementation == "reference").expect("every relation");
            let instances = u128::from(count.compared + count.vacuous);
            assert_eq!(instances, relation.count(&Extent::new(max_rank, max_length)), "{}", relation.name);
            assert!(count.skipped.is_none() == (instances > 0) && count.violated == 0, "{count:?}");
            // Dimensions decrease from rank 2 on.
            let least = if relation.name == "xla-broadcast-sorted" { 2 } else { 1 };
            assert!(count.compared > 0 || max_rank < least, "{} compares nothing", relation.name);
        }
    }
}

#[test]
fn the_number_of_requests_agrees_with_combinatorics() {
    let reference = Reference::new();
    for (rank, length) in [(2u32, 3u64), (3, 1)] {
        let bounds = Bounds::new(rank as usize, usize::try_from(length).unwrap()).unwrap();
        let report = exhaust(&bounds, &[&reference], &Progress::silent()).unwrap();
        // There are (length + 1)^rank shapes of a rank.
        let pairs = |a: u32, b: u32| (length + 1).pow(a + b);
        let requests = |rules| report.of_rules(rules)[0];
        assert_eq!(requests(RuleSet::None), sum(rank, pairs));
        assert_eq!(requests(RuleSet::Numpy), 2 * sum(rank, pairs));
        assert_eq!(requests(RuleSet::Leading), 2 * sum(rank, pairs));
        assert_eq!(requests(RuleSet::Repeat), 2 * sum(rank, pairs));
        assert_eq!(requests(RuleSet::Bidirectional), sum(rank, pairs));
        assert_eq!(requests(RuleSet::Pdpd), 10 * sum(rank, pairs));
        // Every combination of flags, and no flags.
        assert_eq!(requests(RuleSet::Theano), sum(rank, |a, b| pairs(a, b) * (2u64.pow(a + b) + 1)));
        // Absent, and lists of 0 to lower + 1 of the higher + 2 numbers from -1 to the higher rank.
        let lists = |a: u32, b: u32| {
            1 + (0..=a.min(b) + 1).map(|count| u64::from(a.max(b) + 2).pow(count)).sum::<u64>()
        };
        // Onto a target: the same of numbers up to the target's rank.
        let onto = |x: u32, t: u32| 1 + (0..=x + 1).map(|count| u64::from(t + 2).pow(count)).sum::<u64>();
        assert_eq!(requests(RuleSet::Xla), sum(rank, |a, b| pairs(a, b) * (lists(a, b) + onto(a, b))));
        let answers: u64 = RuleSet::ALL.iter().map(|&rules| report.of_rules(rules)[0]).sum();
        assert_eq!(report.answers, answers);
    }
}

#[test]
fn the_number_of_accepted_requests_agrees_with_combinatorics() {
    assert_accepted(&[(2, 3), (3, 1)]);
}

#[test]
#[ignore = "takes a second: .ci/run runs it"]
fn the_number_of_accepted_requests_of_rank_three_agrees_with_combinatorics() {
    assert_accepted(&[(3, 2)]);
}

/// The number of requests that each rule set accepts, counted axis by axis: the rules restated as arithmetic.
fn assert_accepted(bounds: &[(u32, u64)]) {
    let reference = Reference::new();
    for &(rank, length) in bounds {
        let bounds = Bounds::new(rank as usize, usize::try_from(length).unwrap()).unwrap();
        let bounds = bounds.with_rules(&RuleSet::ALL);
        let report = exhaust(&bounds, &[&reference], &Progress::silent()).unwrap();
        for &rules in &RuleSet::ALL {
            let [requests, accepted, refused] = report.of_rules(rules);
            assert_eq!(requests, accepted + refused, "{rules}");
        }
        let accepted = |rules| report.of_rules(rules)[1];
        // `all`: lengths of an axis; `both`: pairs of lengths that are equal or one of which is 1; `onto`:
        // pairs of which only the first may be 1 against another.
        let (all, both, onto) = (length + 1, 3 * length + 1, 2 * length + 1);
        let (low, gap) = (|a: u32, b: u32| a.min(b), |a: u32, b: u32| a.abs_diff(b));
        let numpy = |a, b| both.pow(low(a, b)) * all.pow(gap(a, b));
        let broadcast = |x: u32, t: u32| if x <= t { onto.pow(x) * all.pow(t - x) } else { 0 };
        assert_eq!(accepted(RuleSet::None), sum(rank, |a, b| if a == b { all.pow(a) } else { 0 }));
        assert_eq!(accepted(RuleSet::Numpy), sum(rank, |a, b| numpy(a, b) + broadcast(a, b)));
        assert_eq!(accepted(RuleSet::Bidirectional), sum(rank, numpy));
        // Per common axis: equal and unflagged, or one flagged 1 against any length, or both flagged; per
        // further axis: any length unflagged, or a flagged 1. Without flags: equal lengths.
        let theano =
            |a: u32, b: u32| (3 * all + 1).pow(low(a, b)) * (all + 1).pow(gap(a, b)) + all.pow(a.max(b));
        assert_eq!(accepted(RuleSet::Theano), sum(rank, theano));
        // Equal ranks: absent, empty, identity. A scalar: absent, empty. Otherwise the increasing lists.
        let xla = |a: u32, b: u32| match (low(a, b), gap(a, b)) {
            (0, gap) => 2 * all.pow(gap),
            (low, 0) => 3 * both.pow(low),
            (low, gap) => binomial(low + gap, low) * both.pow(low) * all.pow(gap),
        };
        // Onto a target: each list of different axes. For a scalar, absent and empty.
        let placed = |x: u32, t: u32| (0..u64::from(x)).map(|step| u64::from(t) - step).product::<u64>();
        let named = |x: u32, t: u32| match x {
            0 => 2 * all.pow(t),
            _ if x > t => 0,
            _ => placed(x, t) * onto.pow(x) * all.pow(t - x),
        };
        assert_eq!(accepted(RuleSet::Xla), sum(rank, |a, b| xla(a, b) + named(a, b)));
        // B, trimmed to rank t, ends in a length other than 1 that A has as well; its other lengths are 1 or
        // A's. Absent and -1 always fit; of 0 to 5, those up to rank(A) - t.
        let pdpd = |a: u32, b: u32| {
            if b > a {
                return 0;
            }
            let trimmed = |t: u32| if t == 0 { 1 } else { onto.pow(t - 1) * length };
            let axes = |t: u32| 2 + u64::from((a - t).min(5)) + 1;
            (0..=b).map(|t| trimmed(t) * all.pow(a - t) * axes(t)).sum()
        };
        assert_eq!(accepted(RuleSet::Pdpd), sum(rank, pdpd));
    }
}

#[test]
fn planted_faults_are_caught_by_comparing_answers() {
    assert_caught_by_comparing(FAULTS.iter().step_by(3));
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn every_planted_fault_is_caught() {
    assert_caught_by_comparing(FAULTS);
    assert_caught_by_relations(FAULTS);
}

fn assert_caught_by_comparing(faults: impl IntoIterator<Item = &'static Fault>) {
    let reference = Reference::new();
    for fault in faults {
        let faulty = Faulty::new(fault);
        let report = run(2, 2, &[&reference, &faulty]);
        assert!(!report.held(), "{}", fault.name);
        let answers = report.groups.iter().map(|group| {
            assert_eq!(group.implementations[0].findings, 0, "the reference is correct");
            group.implementations[1].findings
        });
        assert_eq!(answers.sum::<u64>() > 0, fault.differs, "{}: {}", fault.name, findings(&report));
        let violations = report.relations.iter().filter(|count| count.violated > 0);
        let all: Vec<_> = violations
            .inspect(|count| assert_eq!(count.implementation, faulty.name(), "the reference is correct"))
            .map(|count| count.relation)
            .collect();
        let missed: Vec<_> = fault.violates.iter().filter(|name| !all.contains(name)).collect();
        assert!(missed.is_empty(), "{}: not {missed:?}, but {all:?}", fault.name);
        assert_eq!(all.is_empty(), fault.violates.is_empty(), "{}: {all:?}", fault.name);
    }
}

#[test]
fn planted_faults_are_caught_by_relations_alone() {
    assert_caught_by_relations(FAULTS.iter().step_by(5));
}

/// Without another implementation, only relations are checked.
fn assert_caught_by_relations(faults: impl IntoIterator<Item = &'static Fault>) {
    for fault in faults {
        let faulty = Faulty::new(fault);
        let report = run(2, 2, &[&faulty]);
        assert_eq!(report.held(), fault.violates.is_empty(), "{}: {}", fault.name, findings(&report));
    }
}

#[test]
fn a_run_reports_any_answer() {
    assert_reported([Altered::scalar_for_empty(), Altered::at_random(5, 1)]);
}

#[test]
#[ignore = "takes a second: .ci/run runs it"]
fn a_run_reports_more_answers() {
    assert_reported([0, 1, 2, 3].map(|seed| Altered::at_random(1, seed)));
}

/// Expects that a run against an implementation with altered answers ends with a report.
fn assert_reported(all: impl IntoIterator<Item = Altered>) {
    let reference = Reference::new();
    for altered in all {
        let report = run(2, 2, &[&reference, &altered]);
        assert!(report.complete && !report.held());
        let violated = report.relations.iter().filter(|count| count.violated > 0);
        assert!(violated.count() > 5);
        // As the first implementation, it sets the expectation for the reference.
        assert!(run(2, 1, &[&altered, &reference]).complete);
    }
}

#[test]
fn a_finding_describes_the_request_and_the_difference() {
    let (reference, fault) =
        (Reference::new(), FAULTS.iter().find(|fault| fault.name == "none takes a scalar"));
    let faulty = Faulty::new(fault.unwrap());
    let report = run(1, 1, &[&reference, &faulty]);
    // A scalar with (0) and with (1), in both orders.
    assert_eq!(report.finding_count, 4);
    assert!(matches!(report.findings[0].kind, FindingKind::Difference { .. }), "{}", findings(&report));
    assert_eq!(report.findings[0].request.rules().set(), RuleSet::None);
    let text = report.findings[0].to_string();
    assert!(
        text.starts_with("none takes a scalar against reference: none [subtract, a, b] a () b (0): accepted"),
        "{text}"
    );
}

#[test]
fn findings_do_not_depend_on_the_number_of_threads() {
    let reference = Reference::new();
    let faulty = Faulty::new(&FAULTS[0]);
    let in_threads = |count: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().unwrap();
        let bounds = Bounds::new(2, 2).unwrap().keeping(7);
        pool.install(|| exhaust(&bounds, &[&reference, &faulty], &Progress::silent()).unwrap())
    };
    let (one, three) = (in_threads(1), in_threads(3));
    assert_eq!(one.findings.len(), 7);
    assert!(one.finding_count > 7);
    assert_eq!(one.findings, three.findings);
    assert_eq!((one.finding_count, one.checks), (three.finding_count, three.checks));
    assert_eq!((one.groups, one.relations), (three.groups, three.relations));
}

#[test]
fn progress_reaches_its_end_and_a_stopped_run_does_not_pass() {
    let reference = Reference::new();
    let bounds = Bounds::new(1, 2).unwrap();
    let highest = AtomicU64::new(0);
    let (never, at_once) = (AtomicBool::new(false), AtomicBool::new(true));
    let report = |done: u64, total: u64| {
        assert!(done <= total && u128::from(total) == bounds.work());
        highest.fetch_max(done, Ordering::Relaxed);
    };
    let whole = exhaust(&bounds, &[&reference], &Progress { report: &report, stop: &never }).unwrap();
    assert!(whole.complete && whole.held());
    assert_eq!(u128::from(highest.into_inner()), bounds.work());
    let none = exhaust(&bounds, &[&reference], &Progress { report: &|_, _| (), stop: &at_once }).unwrap();
    assert!(!none.complete && !none.held() && none.checks == 0);
}

#[test]
fn a_run_without_checks_does_not_pass() {
    let ndarray = Ndarray::new();
    let bounds = Bounds::new(1, 1).unwrap().with_rules(&[RuleSet::Xla]);
    let report = exhaust(&bounds, &[&ndarray], &Progress::silent()).unwrap();
    assert!(report.complete && report.checks == 0 && !report.held());
    assert!(exhaust(&bounds, &[], &Progress::silent()).is_err());
}

#[test]
fn rule_sets_can_be_chosen() {
    let (reference, ndarray) = (Reference::new(), Ndarray::new());
    let bounds = Bounds::new(2, 2).unwrap().with_rules(&[RuleSet::Numpy]);
    let report = exhaust(&bounds, &[&reference, &ndarray], &Progress::silent()).unwrap();
    assert!(report.held(), "{}", findings(&report));
    assert!(report.groups.iter().all(|group| group.rules == RuleSet::Numpy));
    // 13 shapes: both operations for every pair, judged for ndarray.
    let compared: u64 = report.groups.iter().map(|group| group.implementations[1].compared).sum();
    assert_eq!(compared, 2 * 13 * 13);
    assert!(report.relations.iter().all(|count| count.relation.starts_with("numpy-")));
}

/// The reference, whose process the interrupt key ends at a request of two axes.
struct Interrupted(Reference);

impl Implementation for Interrupted {
    fn name(&self) -> &str {
        "interrupted"
    }
    fn version(&self) -> &str {
        "0"
    }
    fn capabilities(&self) -> &Capabilities {
        self.0.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        if request.operands().iter().any(|operand| operand.rank() == 2) {
            return Outcome::Errored { kind: ErrorKind::Interrupted, message: "interrupted".into() };
        }
        self.0.run(request)
    }
}

#[test]
fn an_interrupted_request_is_not_a_finding() {
    let (reference, interrupted) = (Reference::new(), Interrupted(Reference::new()));
    let [first, second]: [&dyn Implementation; 2] = [&interrupted, &reference];
    for implementations in [&[first][..], &[first, second], &[second, first]] {
        let report = run(2, 1, implementations);
        assert_eq!(report.finding_count, 0, "{}", findings(&report));
        assert!(!report.complete && !report.held());
    }
}

/// The reference, with operands of equal ranks only.
struct EqualRanks(Capabilities);

impl Implementation for EqualRanks {
    fn name(&self) -> &str {
        "equal-ranks"
    }
    fn version(&self) -> &str {
        "0"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.0
    }
    fn run(&self, request: &Request) -> Outcome {
        match self.0.covers(request) {
            Ok(()) => Reference::new().run(request),
            Err(reason) => Outcome::Errored { kind: ErrorKind::Panicked, message: reason },
        }
    }
}

#[test]
fn requests_outside_the_capabilities_are_not_sent() {
    let equal = EqualRanks(Capabilities { equal_ranks: true, ..Capabilities::all() });
    let reference = Reference::new();
    let [first, second]: [&dyn Implementation; 2] = [&equal, &reference];
    for implementations in [&[first][..], &[first, second], &[second, first]] {
        let report = run(2, 2, implementations);
        assert!(report.held(), "{}", findings(&report));
        let numpy = report.groups.iter().find(|group| group.rules == RuleSet::Numpy).unwrap();
        let count = numpy.implementations.iter().find(|one| one.implementation == "equal-ranks").unwrap();
        // 1, 3 and 9 shapes of ranks 0, 1 and 2: 1 + 3² + 9² of 13² pairs have equal ranks.
        assert_eq!((numpy.requests, count.not_asked), (13 * 13, 13 * 13 - 1 - 9 - 81));
        let relations = report.relations.iter().filter(|one| one.implementation == "equal-ranks");
        assert!(relations.map(|one| one.not_asked).sum::<u64>() > 100);
        assert!(!report.asked_nothing("equal-ranks"));
    }
    let divergences = broadcheck_search::diverge::diverge(&Extent::new(2, 2), 0, &equal).unwrap();
    assert!(divergences.iter().filter_map(|one| one.smallest.as_ref()).count() > 5);
}
