//! Tests the shrinker: planted disagreements become as small as a person would make them, and become cases
//! that load.

use broadcheck_judge::compare::Latitude;
use broadcheck_judge::limits::is_as_cheap;
use broadcheck_reference::Reference;
use broadcheck_search::generate::Profile;
use broadcheck_search::oracle::{Differential, Disagreement, Judgement, Kind, Oracle, Side};
use broadcheck_search::shrink::{Limits, Shrunk, Sides, Written, propose, shrink, write_case};
use broadcheck_spec::{
    Capabilities, DType, Data, Expression, Function, Implementation, MAX_TITLE, Operand, Operation,
    OperationKind, Outcome, Refusal, RefusalKind, Request, RuleSet, Rules, Success, Tensor, load_str,
};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The reference with changed answers.
struct Planted(fn(&Request, Outcome) -> Outcome);

impl Implementation for Planted {
    fn name(&self) -> &'static str {
        "planted"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        static ALL: LazyLock<Capabilities> = LazyLock::new(Capabilities::with_all_conventions);
        &ALL
    }
    fn run(&self, request: &Request) -> Outcome {
        (self.0)(request, Reference.run(request))
    }
    fn allowed_ulp(&self) -> u32 {
        1
    }
}

/// The first request of a seed that shows a planted fault, and the oracle's disagreement.
fn first(oracle: &dyn Oracle) -> (Request, Disagreement) {
    let profile =
        Profile::all().with_large(0).with_operations(&[OperationKind::Elementwise, OperationKind::Broadcast]);
    (0..200_000)
        .find_map(|number| {
            let request = broadcheck_search::fuzzing::drawn(3, number, &profile);
            Some((oracle.judge(&request).disagreement()?, request))
        })
        .map(|(found, request)| (request, found))
        .expect("some request shows the fault")
}

fn shrunk(planted: &Planted) -> Shrunk {
    let oracle = Differential::new(&Reference, planted);
    let (request, found) = first(&oracle);
    let kind = found.signature.kind.clone();
    let shrunk =
        shrink(&oracle, &request, found, &Limits { time: Duration::from_secs(60), ..Limits::default() });
    assert!(shrunk.reproduced() && shrunk.minimal, "after {} steps: {:#?}", shrunk.steps, shrunk.request);
    assert_eq!(shrunk.disagreement.signature.kind, kind);
    shrunk
}

fn changed_first_element(outcome: Outcome) -> Outcome {
    let Outcome::Success(success) = outcome else { return outcome };
    let (shape, values) = success.tensor.into_parts();
    let mut all: Vec<_> = values.iter().collect();
    if let [first, .., last] = &mut all[..] {
        std::mem::swap(first, last);
    }
    let values = Data::from_scalars(values.dtype(), all).unwrap();
    Outcome::Success(Success::from(Tensor::new(shape, values).unwrap()))
}

#[test]
fn a_fault_of_views_shrinks_to_a_view_of_two_elements() {
    let planted = Planted(|request, outcome| {
        let reversed = |operand: &Operand| {
            operand.strides().is_some_and(|strides| strides.iter().any(|&stride| stride < 0))
        };
        if request.operands().iter().any(reversed) { changed_first_element(outcome) } else { outcome }
    });
    let Shrunk { request, .. } = shrunk(&planted);
    let [operand] = request.operands() else { panic!("one operand: {request:#?}") };
    assert!(operand.strides().is_some_and(|strides| strides.contains(&-1)), "{request:#?}");
    assert_eq!(operand.shape().count(), Some(2), "{request:#?}");
    assert_eq!(operand.name(), "a");
}

#[test]
fn a_fault_of_one_dtype_and_a_long_axis_keeps_both() {
    let planted = Planted(|request, outcome| {
        let long = |operand: &Operand| {
            operand.dtype() == DType::I16 && operand.shape().iter().any(|&length| length > 6)
        };
        if request.operands().iter().any(long) { changed_first_element(outcome) } else { outcome }
    });
    let Shrunk { request, .. } = shrunk(&planted);
    assert!(request.operands().iter().any(|operand| operand.dtype() == DType::I16), "{request:#?}");
    let lengths: Vec<usize> =
        request.operands().iter().flat_map(|operand| operand.shape().to_vec()).collect();
    assert!(lengths.iter().max() == Some(&7), "{request:#?}");
    assert!(lengths.len() <= 2 && request.operands().len() <= 2, "{request:#?}");
}

/// A view of one element costs nothing as long as the request is refused for another operand's sake.
#[test]
fn no_step_asks_an_expensive_request() {
    static EXPENSIVE: AtomicU32 = AtomicU32::new(0);
    fn refused() -> Request {
        let view = Operand::view("a", [1 << 11, 1 << 11], vec![1.0], Some(vec![0, 0]), 0).unwrap();
        let operands = vec![view, Operand::dense("b", [3], vec![1.0, 2.0, 3.0]).unwrap()];
        let expression =
            Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
        Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap()
    }
    let planted = Planted(|request, outcome| {
        EXPENSIVE.fetch_add(u32::from(!is_as_cheap(request, &refused())), Ordering::Relaxed);
        match outcome {
            Outcome::Refusal(_) => Outcome::Refusal(Refusal::new(RefusalKind::OperandCount, "planted")),
            other => other,
        }
    });
    let oracle = Differential::new(&Reference, &planted);
    let found = oracle.judge(&refused()).disagreement().expect("the refusal has another kind");
    let shrunk = shrink(&oracle, &refused(), found, &Limits::default());
    assert!(shrunk.minimal, "after {} steps: {:#?}", shrunk.steps, shrunk.request);
    assert!(shrunk.request.operands().iter().all(|operand| operand.rank() <= 1), "{:#?}", shrunk.request);
    assert_eq!(EXPENSIVE.load(Ordering::Relaxed), 0);
}

#[test]
fn a_fault_of_three_operands_keeps_three() {
    let planted = Planted(|request, outcome| match outcome {
        Outcome::Success(_) if request.operands().len() >= 3 => Outcome::Refusal(Default::default()),
        outcome => outcome,
    });
    let Shrunk { request, disagreement, .. } = shrunk(&planted);
    assert_eq!(disagreement.signature.kind, Kind::Acceptance { accepts: Side::Left, refusal: None });
    assert_eq!(request.operands().len(), 3);
    for operand in request.operands() {
        assert_eq!((operand.rank(), operand.dtype()), (0, DType::F64), "{request:#?}");
    }
    assert!(
        matches!(request.operation(), Operation::Elementwise { expression } if expression.nodes().len() == 1)
    );
}

#[test]
fn attributes_are_removed_unless_they_are_needed() {
    let planted = Planted(|request, outcome| match request.rules() {
        Rules::Xla { broadcast_dimensions: Some(list) } if list.len() > 1 => changed_first_element(outcome),
        _ => outcome,
    });
    let Shrunk { request, .. } = shrunk(&planted);
    let Rules::Xla { broadcast_dimensions: Some(list) } = request.rules() else { panic!("{request:#?}") };
    assert_eq!(list, &[0, 1], "{request:#?}");
    let without = Planted(|request, outcome| match request.rules().set() {
        RuleSet::Xla => changed_first_element(outcome),
        _ => outcome,
    });
    let Shrunk { request, .. } = shrunk(&without);
    assert_eq!(request.rules(), &Rules::Xla { broadcast_dimensions: None }, "{request:#?}");
}

#[test]
fn a_panic_is_shrunk_as_any_other_disagreement() {
    let planted = Planted(|request, outcome| {
        assert!(request.operands().iter().all(|operand| operand.rank() < 3), "on purpose");
        outcome
    });
    let Shrunk { request, .. } = shrunk(&planted);
    assert_eq!(request.operands().iter().map(Operand::rank).max(), Some(3));
    assert!(request.operands().iter().all(|operand| operand.shape().iter().all(|&length| length == 1)));
}

#[test]
fn shrinking_is_deterministic() {
    let planted = Planted(|request, outcome| match request.rules().set() {
        RuleSet::Theano => changed_first_element(outcome),
        _ => outcome,
    });
    assert_eq!(shrunk(&planted).request, shrunk(&planted).request);
}

#[test]
fn a_proposal_loads_and_is_never_overwritten() {
    let planted = Planted(|request, outcome| match request.rules().set() {
        RuleSet::Pdpd => changed_first_element(outcome),
        _ => outcome,
    });
    let shrunk = shrunk(&planted);
    let sides = Sides::of(&Reference, &planted, "a test");
    let proposal = propose(&shrunk, &sides).unwrap();
    assert!(proposal.decided);
    let file = load_str(&proposal.yaml, "proposal.yaml").unwrap();
    let [case] = &file.cases[..] else { panic!("one case") };
    assert_eq!((&case.request, &case.id), (&shrunk.request, &proposal.id));
    assert!(case.id.starts_with("pdpd/reference-planted/values/"), "{}", case.id);
    assert!(case.origin.to_string().ends_with(", to be confirmed"));

    let directory = tempfile::tempdir().unwrap();
    let Written::New(path) = write_case(directory.path(), &proposal).unwrap() else { panic!("a new file") };
    assert_eq!(write_case(directory.path(), &proposal), Ok(Written::Existing(path.clone())));
    let edited = std::fs::read_to_string(&path).unwrap() + "# mine\n";
    std::fs::write(&path, &edited).unwrap();
    assert_eq!(write_case(directory.path(), &proposal), Ok(Written::Existing(path.clone())), "edited");
    // A file of the same name with something else.
    std::fs::write(&path, "mine").unwrap();
    let Written::New(second) = write_case(directory.path(), &proposal).unwrap() else { panic!("a new file") };
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let file = load_str(&std::fs::read_to_string(&second).unwrap(), "second.yaml").unwrap();
    assert_eq!(file.cases[0].id, format!("{}-2", proposal.id));
    assert_eq!(write_case(directory.path(), &proposal), Ok(Written::Existing(second)));
    let blocked = write_case(&path, &proposal).unwrap_err();
    assert!(blocked.contains("expected a directory"), "{blocked}");
}

/// A request that is not shrunk may be described in more characters than a title may have.
#[test]
fn a_proposal_of_a_long_expression_loads() {
    let planted = Planted(|_, outcome| changed_first_element(outcome));
    let oracle = Differential::new(&Reference, &planted);
    let call = |function, arguments| Expression::call(function, arguments).unwrap();
    let square = || call(Function::Multiply, vec![Expression::operand(0), Expression::operand(0)]);
    let sum = |so_far, _| call(Function::Add, vec![so_far, square()]);
    let expression = (0..90).fold(Expression::operand(0), sum);
    let operand = Operand::dense("a", [2], vec![1.0, 2.0]).unwrap();
    let request = Request::new(Rules::Numpy, Operation::Elementwise { expression }, vec![operand]).unwrap();
    let found = oracle.judge(&request).disagreement().unwrap();
    let shrunk = shrink(&oracle, &request, found, &Limits { steps: 1, ..Limits::default() });
    let sides = Sides::of(&Reference, &planted, "a test");
    let file = load_str(&propose(&shrunk, &sides).unwrap().yaml, "proposal.yaml").unwrap();
    let [case] = &file.cases[..] else { panic!("one case") };
    assert_eq!(case.request, shrunk.request);
    assert!(case.title.chars().count() == MAX_TITLE && case.title.ends_with('…'), "{}", case.title);
}

/// If the reference agrees with neither side, the file has both answers.
#[test]
fn an_undecided_expectation_is_left_to_a_person() {
    let one = Planted(|_, outcome| changed_first_element(outcome));
    let other = Planted(|_, outcome| match outcome {
        Outcome::Success(_) => Outcome::Refusal(Default::default()),
        outcome => outcome,
    });
    let oracle = Differential::new(&one, &other);
    let (request, found) = first(&oracle);
    let shrunk = shrink(&oracle, &request, found, &Limits::default());
    // With a single element the exchange changes nothing, so that side agrees with the reference.
    let expected = if shrunk.request.operands()[0].shape().count() == Some(1) { 1 } else { 2 };
    let sides = Sides { latitude: Latitude::ANY, ..Sides::of(&one, &other, "a test") };
    let proposal = propose(&shrunk, &sides).unwrap();
    let file = load_str(&proposal.yaml, "proposal.yaml").unwrap();
    assert_eq!(file.cases.len(), expected, "{}", proposal.yaml);
}

#[test]
fn limits_are_kept_and_unreproducible_disagreements_are_reported() {
    static ASKED: AtomicU32 = AtomicU32::new(0);
    let once = Planted(|_, outcome| match ASKED.fetch_add(1, Ordering::Relaxed) {
        0 => Outcome::errored(broadcheck_spec::ErrorKind::Reported, "once"),
        _ => outcome,
    });
    let oracle = Differential::new(&Reference, &once);
    let (request, found) = first(&oracle);
    let shrunk = shrink(&oracle, &request, found, &Limits::default());
    assert!(!shrunk.reproduced() && shrunk.request == request);

    let slow = Planted(|request, _| {
        std::thread::sleep(Duration::from_millis(20));
        assert!(request.operands().len() < 2, "on purpose");
        Reference.run(request)
    });
    let oracle = Differential::new(&Reference, &slow);
    let (request, found) = first(&oracle);
    let began = Instant::now();
    let limits = Limits { time: Duration::from_millis(200), ..Limits::default() };
    let shrunk = shrink(&oracle, &request, found.clone(), &limits);
    assert!(!shrunk.minimal && began.elapsed() < Duration::from_secs(5));
    let few = shrink(&oracle, &request, found, &Limits { steps: 3, ..Limits::default() });
    assert!(!few.minimal && few.steps <= 4);
}

/// The faults of the other tests are all found by drawing requests, and shrink to requests that still show
/// them.
#[test]
fn the_faults_of_the_other_tests_are_found_and_shrunk() {
    let mut found_some = 0;
    // Only some of them, because each needs many requests.
    for fault in crate::faulty::FAULTS.iter().filter(|fault| fault.differs).step_by(3) {
        let subject = crate::faulty::Faulty::new(fault);
        let oracle = Differential::new(&Reference, &subject);
        let (request, found) = first(&oracle);
        let shrunk = shrink(&oracle, &request, found, &Limits::default());
        assert!(shrunk.reproduced(), "{}", fault.name);
        assert!(matches!(oracle.judge(&shrunk.request), Judgement::Disagreement(_)), "{}", fault.name);
        let elements: usize =
            shrunk.request.operands().iter().filter_map(|operand| operand.shape().count()).sum();
        assert!(elements <= 16, "{}: {:#?}", fault.name, shrunk.request);
        found_some += 1;
    }
    assert!(found_some > 2);
}
