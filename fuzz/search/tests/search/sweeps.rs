//! Tests the shipped sweeps: they are complete and valid, the reference passes them, planted faults fail
//! them; and invalid sweeps are refused.

use crate::faulty::altered::Altered;
use crate::faulty::{FAULTS, Faulty};
use broadcheck::relations::{Extent, RELATION_SWEEPS, RelationSweep};
use broadcheck::run::Status;
use broadcheck::sweeps::{Expansion, SweepReport, expand, names, run_sample, run_sweep, validate};
use broadcheck_reference::Reference;
use broadcheck_search::subjects::Ndarray;
use broadcheck_spec::{Capabilities, DType, Data, Implementation, Outcome, Request, Suite, Sweep, Tensor};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex};

/// Loaded once for all tests.
static SHIPPED: LazyLock<Vec<Sweep>> =
    LazyLock::new(|| Suite::builtin().unwrap_or_else(|errors| panic!("{errors}")).sweeps);

fn shipped(id: &str) -> &'static Sweep {
    SHIPPED.iter().find(|sweep| sweep.id == id).unwrap_or_else(|| panic!("no sweep {id}"))
}

fn sweep(id: &str, name: &str, with: &[(&str, u64)], cases: u64) -> Sweep {
    Sweep {
        id: id.into(),
        title: "It holds.".into(),
        clause: "NUMPY-2".into(),
        examples: vec![],
        sources: vec![],
        sweep: name.into(),
        with: with.iter().map(|&(key, value)| (key.to_owned(), value)).collect::<BTreeMap<_, _>>(),
        expected_cases: cases,
        note: None,
        location: Default::default(),
    }
}

#[test]
fn every_family_is_shipped_and_valid() {
    for sweep in SHIPPED.iter() {
        assert_eq!(validate(sweep), Ok(()), "{}", sweep.id);
    }
    // The lanes of these rule sets are shipped for some dtypes only.
    let is_partial = |name: &str| {
        ["none", "pdpd", "leading", "repeat"].iter().any(|rules| name.starts_with(&format!("{rules}-lanes-")))
    };
    for name in names().filter(|name| !is_partial(name)) {
        assert!(SHIPPED.iter().any(|sweep| sweep.sweep == name), "{name}");
    }
    for rules in ["numpy", "theano"] {
        let name = format!("{rules}-patterns");
        let counts: Vec<u64> =
            SHIPPED.iter().filter(|sweep| sweep.sweep == name).map(|sweep| sweep.expected_cases).collect();
        assert_eq!(counts, [1, 3, 7, 15, 31, 63, 127, 255, 511, 1023], "{rules}");
    }
    let families: Vec<&str> = names().filter(|name| name.contains("-long")).collect();
    assert_eq!(families.len(), 28);
    for family in families {
        let asking = |length: u64| {
            let holds = |sweep: &&Sweep| {
                sweep.sweep == family && (sweep.with["from"]..=sweep.with["to"]).contains(&length)
            };
            SHIPPED.iter().filter(holds).count()
        };
        // Every tail of a vector, both sides of the sizes of blocks and buffers, and a position beyond 16
        // bits, which 17 rows reach at 8191.
        let lengths = (1..=130).chain([1023, 1024, 1025, 8191, 8192, 8193]);
        let mut lengths = lengths.chain((family != "numpy-long-across").then_some(65_537));
        assert_eq!(lengths.find(|&length| asking(length) != 1), None, "{family}");
    }
    // Under numpy, every tail of a dtype up to two vectors of 64 bytes.
    for (bytes, dtypes) in [
        (8, &["f64", "i64", "u64"][..]),
        (4, &["f32", "i32", "u32"]),
        (2, &["f16", "bf16", "i16", "u16"]),
        (1, &["i8", "u8", "bool"]),
    ] {
        for dtype in dtypes {
            let id = format!("numpy/lanes/{dtype}");
            let sweep = SHIPPED.iter().find(|sweep| sweep.id == id).unwrap();
            assert_eq!(sweep.with["tails"], 2 * 64 / bytes, "{id}");
        }
    }
}

/// One of these in turn in a sample; otherwise all of them.
fn in_turn<T>(sample: bool, turn: usize, all: &[T]) -> &[T] {
    let place = turn % all.len();
    if sample { &all[place..=place] } else { all }
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn every_sweep_has_the_same_properties() {
    assert_long_sweeps_fail(1);
    assert_sampled(1);
    assert_skipped_one_by_one(false);
    assert_same_in_batches(false);
    assert_reported(false);
}

/// The reference with other capabilities, or with one element of every long result corrupted.
struct Changed {
    inner: Reference,
    capabilities: Capabilities,
    spoilt: Option<usize>,
}

impl Changed {
    fn new() -> Changed {
        let inner = Reference::new();
        let capabilities = inner.capabilities().clone();
        Changed { inner, capabilities, spoilt: None }
    }
}

impl Implementation for Changed {
    fn name(&self) -> &str {
        "changed"
    }
    fn version(&self) -> &str {
        "0"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }
    fn run(&self, request: &Request) -> Outcome {
        let mut outcome = self.inner.run(request);
        if let (Outcome::Success(success), Some(place)) = (&mut outcome, self.spoilt) {
            let (shape, values) = success.tensor.clone().into_parts();
            let mut scalars: Vec<_> = values.iter().collect();
            if let Some([.., before, at]) = scalars.get_mut(..=place) {
                *at = *before;
            }
            let values = Data::from_scalars(values.dtype(), scalars).unwrap();
            success.tensor = Tensor::new(shape, values).unwrap();
        }
        outcome
    }
}

#[test]
fn long_sweeps_fail_if_one_distant_element_is_wrong() {
    assert_long_sweeps_fail(2);
}

/// Expects that one long sweep in this many fails.
fn assert_long_sweeps_fail(one_in: usize) {
    // Only the shorter ones: the longer ones are made in the same way and take seconds.
    let is_long = |sweep: &&Sweep| sweep.sweep.contains("-long") && sweep.with["to"] < 2000;
    for sweep in SHIPPED.iter().filter(is_long).step_by(one_in) {
        let place = usize::try_from(sweep.with["from"]).unwrap().max(2) - 1;
        let report = run_sweep(&Changed { spoilt: Some(place), ..Changed::new() }, sweep, None);
        assert_eq!(report.judged.status, Status::Failed, "{}", sweep.id);
        // Some arrangements have short results, other dtypes, or equal neighbours.
        assert!(3 * report.failed > report.cases, "{}: {} of {}", sweep.id, report.failed, report.cases);
    }
}

#[test]
fn an_implementation_with_one_dtype_runs_only_its_cases() {
    let sweep = shipped("numpy/long-dtypes/around-1024");
    let mut implementation = Changed::new();
    let all = run_sweep(&implementation, sweep, None);
    implementation.capabilities.dtypes = vec![DType::F32];
    let one_dtype = run_sweep(&implementation, sweep, None);
    assert_eq!((all.passed, all.skipped, one_dtype.passed, one_dtype.skipped), (15, 0, 3, 12));
    assert_eq!(one_dtype.judged.status, Status::Passed);
}

#[test]
fn patterns_expand_to_separate_cases() {
    for sweep in SHIPPED.iter().filter(|sweep| sweep.sweep.ends_with("-patterns")) {
        let Ok(Expansion::Cases(cases)) = expand(sweep) else { panic!("{}", sweep.id) };
        assert_eq!(cases.len() as u64, sweep.expected_cases);
        let mut ids: Vec<&str> = cases.iter().map(|case| case.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), cases.len(), "{}", sweep.id);
        assert!(ids.iter().all(|id| id.starts_with(&sweep.id)));
    }
}

#[test]
fn a_sample_covers_the_whole_sweep_and_is_reported_as_one() {
    assert_sampled(9);
}

/// Samples one sweep in this many.
fn assert_sampled(one_in: usize) {
    let reference = Reference::new();
    let short = SHIPPED.iter().filter(|sweep| sweep.with.get("to").is_none_or(|&to| to < 2000));
    for sweep in short.step_by(one_in) {
        let report = run_sample(&reference, sweep, None, 400);
        assert_eq!(report.judged.status, Status::Passed, "{}: {}", sweep.id, report.judged.detail);
        let asked = report.passed + report.vacuous;
        assert_eq!(asked + report.left_out, sweep.expected_cases);
        if sweep.expected_cases <= 400 {
            assert_eq!((report.left_out, report.judged.detail.as_str()), (0, ""));
        } else {
            assert!((150..=480).contains(&asked), "{}: {asked}", sweep.id);
            assert!(report.judged.detail.starts_with("a sample: "), "{}", report.judged.detail);
        }
    }
}

#[test]
fn a_sample_catches_most_planted_faults() {
    let is_seen = |fault: &&&'static crate::faulty::Fault| {
        let faulty = Faulty::new(fault);
        fault.violates.iter().any(|name| {
            let sweep = SHIPPED.iter().find(|sweep| sweep.sweep == *name).unwrap();
            run_sample(&faulty, sweep, None, 400).failed > 0
        })
    };
    let planted: Vec<&'static crate::faulty::Fault> =
        FAULTS.iter().filter(|fault| !fault.violates.is_empty()).collect();
    let seen = planted.iter().filter(is_seen).count();
    assert!(10 * seen >= 9 * planted.len(), "{seen} of {}", planted.len());
}

#[test]
fn undeclared_requests_are_skipped_rather_than_passed() {
    let ndarray = Ndarray::new();
    let status = |id: &str| {
        let report = run_sweep(&ndarray, shipped(id), None);
        (report.judged.status, report.passed, report.skipped, report.judged.detail)
    };
    assert_eq!(status("numpy/patterns/two-operands"), (Status::Passed, 3, 0, String::new()));
    assert_eq!(status("numpy/relations/order-of-operands").0, Status::Passed);
    assert_eq!(status("theano/patterns/two-operands"), (Status::Skipped, 0, 3, "no rule set theano".into()));
    assert_eq!(status("xla/relations/views"), (Status::Skipped, 0, 15_329, "no rule set xla".into()));
}

/// An implementation that declares less than another, and skips what it does not declare.
struct Limited<'a> {
    inner: &'a dyn Implementation,
    capabilities: Capabilities,
    /// Whether it skips a request that it declares.
    lazy: bool,
}

impl Implementation for Limited<'_> {
    fn name(&self) -> &'static str {
        "limited"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }
    fn run(&self, request: &Request) -> Outcome {
        match self.capabilities.covers(request) {
            Ok(()) if self.lazy => Outcome::Skipped { reason: "tired".into() },
            Ok(()) => self.inner.run(request),
            Err(reason) => Outcome::Errored {
                kind: broadcheck_spec::ErrorKind::Panicked,
                message: format!("asked what it does not declare: {reason}"),
            },
        }
    }
}

#[test]
fn requests_outside_the_capabilities_are_skipped_one_by_one() {
    assert_skipped_one_by_one(true);
}

/// Runs each small sweep with each restriction, in batches and one by one; in a sample, a third of the sweeps
/// with each, in turn.
fn assert_skipped_one_by_one(sample: bool) {
    let all = Capabilities::all();
    let reference = Reference::new();
    let small = small_sweeps();
    let limits = [
        ("equal ranks", Capabilities { equal_ranks: true, ..all.clone() }),
        ("no scalars", Capabilities { scalars: false, ..all.clone() }),
        ("two operands", Capabilities { max_operands: Some(2), ..all.clone() }),
        ("one operand", Capabilities { max_operands: Some(1), ..all.clone() }),
        ("one call", Capabilities { max_calls: Some(1), ..all.clone() }),
        ("ranks to 1", Capabilities { max_rank: Some(1), ..all.clone() }),
        ("ranks from 2", Capabilities { min_rank: 2, ..all.clone() }),
        ("every operand", Capabilities { unused_operands: false, ..all.clone() }),
        ("results of 2 elements", Capabilities { max_elements: 2, ..all.clone() }),
        ("no large sizes", Capabilities { large_sizes: false, ..all.clone() }),
        (
            "subtract of f32",
            Capabilities {
                function_dtypes: [(broadcheck_spec::Function::Subtract, vec![DType::F32])].into(),
                ..all.clone()
            },
        ),
        ("no multiply", {
            let mut functions = all.functions.clone();
            functions.retain(|&function| function != broadcheck_spec::Function::Multiply);
            Capabilities { functions, ..all.clone() }
        }),
    ];
    for (turn, (name, capabilities)) in limits.into_iter().enumerate() {
        let limited = Limited { inner: &reference, capabilities, lazy: false };
        let batching = Batching::new(&limited, 16);
        let each = [&limited as &dyn Implementation, &batching];
        let one_in = if sample { 3 } else { 1 };
        for (place, sweep) in small.iter().enumerate().skip(turn % one_in).step_by(one_in) {
            for &implementation in in_turn(sample, turn + place, &each) {
                let report = run_sweep(implementation, sweep, None);
                let detail = &report.judged.detail;
                assert!(!report.judged.status.is_failure(), "{name}, {}: {detail}", sweep.sweep);
                assert_eq!(report.passed + report.skipped + report.vacuous, report.cases, "{}", sweep.sweep);
                assert_eq!(report.reasons.values().sum::<u64>(), report.skipped);
                if report.passed == 0 {
                    assert_eq!(report.judged.status, Status::Skipped, "{name}, {}: {detail}", sweep.sweep);
                }
            }
        }
    }
}

#[test]
fn a_skipped_request_has_its_reason() {
    let reference = Reference::new();
    let equal = Limited {
        inner: &reference,
        capabilities: Capabilities { equal_ranks: true, ..Capabilities::all() },
        lazy: false,
    };
    let named = |name: &str| small_sweeps().into_iter().find(|sweep| sweep.sweep == name).unwrap();
    let report = run_sweep(&equal, &named("numpy-order-of-operands"), None);
    assert_eq!(report.judged.status, Status::Passed);
    // The shapes of ranks 0, 1 and 2 are 1, 3 and 9: of 91 pairs, 1 + 6 + 45 have equal ranks.
    assert_eq!((report.passed + report.vacuous, report.skipped), (52, 39));
    assert_eq!(report.judged.detail, "39 not asked: no operands of different ranks");
    let report = run_sweep(&equal, &named("xla-in-dim-is-numpy"), None);
    assert_eq!(report.judged.status, Status::Skipped);
    assert_eq!(report.judged.detail, "no operands of different ranks");
    // Skipping what is declared is a failure.
    let lazy = Limited { lazy: true, ..equal };
    let report = run_sweep(&lazy, &named("numpy-order-of-operands"), None);
    assert_eq!(report.judged.status, Status::Failed);
    assert!(report.judged.detail.contains("skipped although declared: tired"), "{}", report.judged.detail);
}

#[test]
fn planted_faults_fail_the_sweeps_that_they_violate() {
    for fault in FAULTS {
        let faulty = Faulty::new(fault);
        for name in fault.violates {
            let mut sweep = SHIPPED.iter().find(|sweep| sweep.sweep == *name).unwrap().clone();
            // Rank 2 and length 2 are sufficient.
            sweep.with = [("max_rank".to_owned(), 2), ("max_length".to_owned(), 2)].into();
            let extent = Extent::new(2, 2);
            let relation = RelationSweep::named(name).unwrap();
            sweep.expected_cases = u64::try_from(relation.count(&extent)).unwrap();
            let report = run_sweep(&faulty, &sweep, None);
            assert_eq!(report.judged.status, Status::Failed, "{}: {name}", fault.name);
            assert!(report.failed > 0 && !report.failures.is_empty());
            assert_eq!(report.passed + report.failed + report.vacuous, report.cases);
        }
    }
}

/// An implementation that asks for batches, and records how it is called.
struct Batching<'a> {
    inner: &'a dyn Implementation,
    batch: usize,
    /// The number of requests in each call of `run_many`.
    calls: Mutex<Vec<usize>>,
    alone: AtomicUsize,
    /// Whether `run_many` panics.
    panics: bool,
}

impl<'a> Batching<'a> {
    fn new(inner: &'a dyn Implementation, batch: usize) -> Batching<'a> {
        Batching { inner, batch, calls: Mutex::default(), alone: AtomicUsize::new(0), panics: false }
    }
}

impl Implementation for Batching<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn version(&self) -> &str {
        self.inner.version()
    }
    fn capabilities(&self) -> &Capabilities {
        self.inner.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        self.alone.fetch_add(1, Ordering::Relaxed);
        self.inner.run(request)
    }
    fn batch(&self) -> usize {
        self.batch
    }
    fn run_many(&self, requests: &[&Request]) -> Vec<Outcome> {
        assert!(!self.panics, "panics on a batch");
        self.calls.lock().unwrap().push(requests.len());
        requests.iter().map(|request| self.inner.run(request)).collect()
    }
}

/// The sweeps of relations within rank 2 and length 2, and small patterns.
fn small_sweeps() -> Vec<Sweep> {
    let extent = Extent::new(2, 2);
    let small = |relation: &RelationSweep| {
        let count = u64::try_from(relation.count(&extent)).unwrap();
        let id = format!("{}/small", relation.requests.rules);
        sweep(&id, relation.name, &[("max_rank", 2), ("max_length", 2)], count)
    };
    let patterns = sweep("numpy/patterns/x", "numpy-patterns", &[("operands", 6), ("length", 3)], 63);
    RELATION_SWEEPS.iter().map(small).chain([patterns]).collect()
}

#[test]
fn batches_give_the_same_report() {
    assert_same_in_batches(true);
}

/// Runs each small sweep on the reference and on each planted fault; in a sample, on some of the faults a
/// third of the sweeps.
fn assert_same_in_batches(sample: bool) {
    let same = |inner: &dyn Implementation, together: &Batching<'_>, sweep: &Sweep| {
        let (one, other) = (run_sweep(inner, sweep, None), run_sweep(together, sweep, None));
        let counts = |report: &SweepReport| {
            (report.cases, report.passed, report.failed, report.skipped, report.vacuous)
        };
        assert_eq!(counts(&one), counts(&other), "{}", sweep.sweep);
        assert_eq!(one.failures, other.failures, "{}", sweep.sweep);
        assert_eq!(one.judged.status, other.judged.status);
        assert_eq!(one.judged.detail, other.judged.detail);
    };
    let reference = Reference::new();
    for (place, sweep) in small_sweeps().into_iter().enumerate() {
        let together = Batching::new(&reference, 16);
        same(&reference, &together, &sweep);
        let calls = together.calls.into_inner().unwrap();
        // The last of a sweep may be alone.
        let alone = together.alone.into_inner();
        assert!(calls.iter().all(|&requests| requests <= 16), "{}: {calls:?}", sweep.sweep);
        let requests = alone + calls.iter().sum::<usize>();
        let asked = alone + calls.len();
        assert!(asked * 4 < requests, "{}: {requests} in {asked} calls", sweep.sweep);
        if sample && place % 3 > 0 {
            continue;
        }
        // A panic in a batch is not a failure of each of its requests.
        let panics = Batching { panics: true, ..Batching::new(&reference, 16) };
        same(&reference, &panics, &sweep);
        assert_eq!(panics.alone.into_inner(), requests, "{}", sweep.sweep);
    }
    let small = small_sweeps();
    let (faults, sweeps) = if sample { (6, 3) } else { (1, 1) };
    for (turn, fault) in FAULTS.iter().step_by(faults).enumerate() {
        let faulty = Faulty::new(fault);
        for sweep in small.iter().skip(turn % sweeps).step_by(sweeps) {
            same(&faulty, &Batching::new(&faulty, 7), sweep);
        }
    }
}

#[test]
fn every_sweep_reports_any_answer() {
    assert_reported(true);
}

/// Runs each small sweep on altered answers, in batches and one by one; in a sample, half of the sweeps on
/// each, in turn.
fn assert_reported(sample: bool) {
    let altered = [Altered::scalar_for_empty(), Altered::at_random(1, 0), Altered::at_random(5, 1)];
    for (turn, altered) in altered.iter().enumerate() {
        let batching = Batching::new(altered, 16);
        let each = [altered as &dyn Implementation, &batching];
        let one_in = if sample { 2 } else { 1 };
        for (place, sweep) in small_sweeps().iter().enumerate().skip(turn % one_in).step_by(one_in) {
            for &implementation in in_turn(sample, turn + place, &each) {
                let report = run_sweep(implementation, sweep, None);
                assert_eq!(report.passed + report.failed + report.vacuous, report.cases, "{}", sweep.sweep);
            }
        }
    }
}

#[test]
fn patterns_fail_if_the_wrong_elements_are_read() {
    struct FirstElement(Reference);
    impl Implementation for FirstElement {
        fn name(&self) -> &str {
            "reads the first element only"
        }
        fn version(&self) -> &str {
            "0"
        }
        fn capabilities(&self) -> &broadcheck_spec::Capabilities {
            self.0.capabilities()
        }
        fn run(&self, request: &broadcheck_spec::Request) -> broadcheck_spec::Outcome {
            use broadcheck_spec::{Operand, Request};
            let frozen = |operand: &Operand| {
                let strides = Some(vec![0; operand.rank()]);
                Operand::view(operand.name(), operand.shape().clone(), operand.values().clone(), strides, 0)
                    .unwrap()
            };
            let operands = request.operands().iter().map(frozen).collect();
            self.0.run(&Request::new(request.rules().clone(), request.operation().clone(), operands).unwrap())
        }
    }
    let report = run_sweep(
        &FirstElement(Reference::new()),
        &sweep("numpy/patterns/x", "numpy-patterns", &[("operands", 4), ("length", 3)], 15),
        None,
    );
    assert_eq!((report.judged.status, report.failed, report.passed), (Status::Failed, 15, 0));
    assert_eq!(report.failures[0].what, "numpy/patterns/x/0001");
    assert!(report.failures[0].detail.contains("expected 2111.0"), "{}", report.failures[0].detail);
}

#[test]
fn invalid_sweeps_are_refused_before_expansion() {
    let rank = |max_rank, max_length| [("max_rank", max_rank), ("max_length", max_length)];
    let error = |sweep: &Sweep| {
        let error = validate(sweep).expect_err("a bad sweep");
        let report = run_sweep(&Reference::new(), sweep, None);
        assert_eq!((report.judged.status, report.passed), (Status::Failed, 0), "{error}");
        assert_eq!(report.judged.detail, error);
        assert_eq!(expand(sweep).err(), Some(error.clone()));
        error
    };
    let unknown = error(&sweep("numpy/a", "numpy-relations", &rank(2, 2), 9));
    assert!(
        unknown.starts_with("sweep: found `numpy-relations`, expected one of numpy-patterns "),
        "{unknown}"
    );
    let keys = error(&sweep("none/a", "none-is-numpy", &[("max_rank", 2)], 169));
    assert_eq!(keys, "with: found {max_rank}, expected {max_rank, max_length}");
    let more_keys = [("max_rank", 2), ("max_length", 2), ("seed", 1)];
    assert!(
        error(&sweep("none/a", "none-is-numpy", &more_keys, 169))
            .starts_with("with: found {max_length, max_rank, seed}")
    );
    let count = error(&sweep("none/a", "none-is-numpy", &rank(2, 2), 168));
    assert_eq!(count, "expect: found 168 cases, expected 169, as many as these bounds have");
    let large = error(&sweep("xla/a", "xla-order-of-operands", &rank(4, 3), 1));
    assert!(large.ends_with("expected at most 2000000"), "{large}");
    assert!(error(&sweep("none/a", "none-is-numpy", &rank(u64::MAX, u64::MAX), 1)).contains("at most"));
    assert!(error(&sweep("none/a", "none-is-numpy", &rank(60, 0), 1)).contains("expect: "));
    let patterns = [("operands", 64), ("length", 3)];
    assert_eq!(
        error(&sweep("numpy/a", "numpy-patterns", &patterns, 1)),
        "with.operands: found 64, expected 1 to 10"
    );
    let id = error(&sweep("numpy/a", "none-is-numpy", &rank(2, 2), 169));
    assert_eq!(id, "id: found `numpy/a`, expected one that begins with `none/`");
}
