//! The runner against faulty implementations.

use broadcheck::known::Known;
use broadcheck::run::{Judged, Status, run_case, run_cases};
use broadcheck_spec::{
    Capabilities, Case, Expectation, ExpectedRefusal, ExpectedResult, Expression, Function, Implementation,
    Location, Operand, Operation, Origin, Outcome, Refusal, RefusalKind, Request, RuleSet, Rules, Scalar,
    Success, Tensor,
};
use std::cell::Cell;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::time::Duration;

struct Subject<F> {
    capabilities: Capabilities,
    answer: F,
}

impl<F: Fn(&Request) -> Outcome + Sync> Implementation for Subject<F> {
    fn name(&self) -> &'static str {
        "subject"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, request: &Request) -> Outcome {
        (self.answer)(request)
    }
}

fn subject<F: Fn(&Request) -> Outcome + Sync>(answer: F) -> Subject<F> {
    Subject { capabilities: Capabilities::all(), answer }
}

/// a + a over one element, under numpy: twice the number.
fn case(number: i32) -> Case {
    let expression = Expression::call(Function::Add, [0, 0].map(Expression::operand)).unwrap();
    let operand = Operand::dense("a", [1], vec![number]).unwrap();
    Case {
        id: format!("numpy/double/{number}"),
        title: "A number is added to itself.".into(),
        clause: "V-1".into(),
        convention: None,
        examples: Vec::new(),
        sources: Vec::new(),
        origin: Origin::Hand,
        request: Request::new(Rules::Numpy, Operation::Elementwise { expression }, vec![operand]).unwrap(),
        expectation: Expectation::Result(ExpectedResult::from(one(2 * number))),
        note: None,
        location: Location::default(),
    }
}

fn refused_case() -> Case {
    let kind = Some(RefusalKind::RankMismatch);
    Case {
        expectation: Expectation::Refusal(ExpectedRefusal { kind, ..ExpectedRefusal::default() }),
        ..case(1)
    }
}

fn one(value: i32) -> Tensor {
    Tensor::new([1], vec![value]).unwrap()
}

fn number(request: &Request) -> i32 {
    let value = request.operands()[0].values().get(0).and_then(Scalar::as_i128);
    i32::try_from(value.expect("an integer")).unwrap()
}

fn right(request: &Request) -> Outcome {
    Outcome::Success(Success::from(one(2 * number(request))))
}

fn status(implementation: &dyn Implementation, case: &Case) -> (Status, String) {
    let Judged { status, detail, .. } = run_case(implementation, case, None);
    (status, detail)
}

thread_local! {
    /// The number of panics of this thread that were printed.
    static WRITTEN: Cell<u32> = const { Cell::new(0) };
}

/// Counts printed panics. Installed before the hook of the runner.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            WRITTEN.set(WRITTEN.get() + 1);
            before(info);
        }));
        let fine = subject(right);
        assert_eq!(status(&fine, &case(1)).0, Status::Passed);
    });
}

#[test]
fn a_panic_fails_its_case_and_prints_nothing() {
    count_panics();
    let panics = subject(|request: &Request| {
        if number(request) == 2 {
            panic!("index {} out of bounds", 7);
        }
        right(request)
    });
    let judged = run_cases(&panics, &[&case(1), &case(2), &case(3)], None);
    let found: Vec<Status> = judged.iter().map(|judged| judged.status).collect();
    assert_eq!(found, [Status::Passed, Status::Errored, Status::Passed]);
    assert_eq!(judged[1].detail, "panicked: index 7 out of bounds");
    assert!(matches!(judged[1].outcome, Some(Outcome::Errored { .. })));

    WRITTEN.set(0);
    let static_text = subject(|_: &Request| -> Outcome { panic!("no words") });
    assert_eq!(status(&static_text, &case(1)), (Status::Errored, "panicked: no words".into()));
    assert_eq!(status(&static_text, &refused_case()).0, Status::Errored, "a panic is not a refusal");
    let mute = subject(|_: &Request| -> Outcome { std::panic::panic_any(7) });
    assert_eq!(status(&mute, &case(1)).1, "panicked: without a message");
    assert_eq!(WRITTEN.get(), 0, "caught and reported");
    assert!(catch_unwind(|| panic!("of the test itself")).is_err());
    assert_eq!(WRITTEN.get(), 1, "panics of others are written as ever");
}

#[test]
fn a_skip_within_the_capabilities_is_a_failure() {
    count_panics();
    let skips = subject(|_: &Request| Outcome::Skipped { reason: "not today".into() });
    let due = (Status::Failed, "skipped although declared: not today".to_owned());
    assert_eq!(status(&skips, &case(1)), due);
    assert_eq!(status(&skips, &refused_case()), due);
}

#[test]
fn a_result_beyond_the_declared_limit_may_be_skipped_and_a_refusal_may_not() {
    count_panics();
    let none = |_: &Request| Outcome::Skipped { reason: "too many elements".into() };
    let capabilities = Capabilities { max_elements: 0, ..Capabilities::all() };
    let small = Subject { capabilities, answer: none };
    assert_eq!(status(&small, &case(1)), (Status::Skipped, "too many elements".into()));
    assert_eq!(status(&small, &refused_case()).0, Status::Failed);
    // The gradient has one element, the underlying result five.
    let add = Expression::call(Function::Add, [0, 1].map(Expression::operand)).unwrap();
    let operands = vec![
        Operand::dense("a", [1], vec![1.0f64]).unwrap(),
        Operand::dense("b", [5], vec![1.0f64; 5]).unwrap(),
    ];
    let operation = Operation::Gradient { expression: add, wrt: 0 };
    let gradient = Case {
        request: Request::new(Rules::Numpy, operation, operands).unwrap(),
        expectation: Expectation::Result(ExpectedResult::from(Tensor::new([1], vec![5.0f64]).unwrap())),
        ..case(1)
    };
    for (max_elements, due) in [(4, Status::Skipped), (5, Status::Failed)] {
        let capabilities = Capabilities { max_elements, ..Capabilities::all() };
        assert_eq!(status(&Subject { capabilities, answer: none }, &gradient).0, due, "{max_elements}");
    }
}

#[test]
fn undeclared_cases_are_skipped_and_never_passed() {
    count_panics();
    let asked = |_: &Request| -> Outcome { panic!("must not be asked") };
    let nothing = Capabilities { rules: Vec::new(), ..Capabilities::all() };
    let judged =
        run_cases(&Subject { capabilities: nothing, answer: asked }, &[&case(1), &refused_case()], None);
    assert!(judged.iter().all(|judged| judged.status == Status::Skipped && judged.outcome.is_none()));
    assert_eq!(judged[0].detail, "no rule set numpy");
    let other = Capabilities { rules: vec![RuleSet::Xla], functions: Vec::new(), ..Capabilities::all() };
    assert_eq!(status(&Subject { capabilities: other, answer: asked }, &case(1)).0, Status::Skipped);
    let few = Capabilities { functions: vec![Function::Exp], ..Capabilities::all() };
    assert_eq!(status(&Subject { capabilities: few, answer: asked }, &case(1)).1, "no add");
}

#[test]
fn errors_and_wrong_results_are_failures() {
    count_panics();
    let errs = subject(|_: &Request| Outcome::errored(broadcheck_spec::ErrorKind::Reported, "no device"));
    assert_eq!(status(&errs, &case(1)), (Status::Errored, "no device".into()));
    let lies = subject(|_: &Request| Outcome::Success(Success::from(one(5))));
    let (found, detail) = status(&lies, &case(1));
    assert_eq!(found, Status::Failed);
    assert_eq!(
        detail,
        "wrong values: element (0): expected 2 (0x00000002), got 5 (0x00000005) (1 of 1 elements wrong)"
    );
    assert!(
        status(&lies, &refused_case()).1.starts_with("accepted, must be refused: expected rank_mismatch")
    );
    let refuses = subject(|_: &Request| Outcome::Refusal(Refusal::default()));
    assert!(status(&refuses, &case(1)).1.starts_with("refused, must be accepted: "));
    assert_eq!(status(&refuses, &refused_case()).0, Status::Passed, "a refusal without kind meets any");
}

#[test]
fn results_have_the_order_of_the_cases() {
    count_panics();
    let cases: Vec<Case> = (0..64).map(case).collect();
    let cases: Vec<&Case> = cases.iter().collect();
    let uneven = subject(|request: &Request| {
        let number = number(request);
        std::thread::sleep(Duration::from_micros(u64::from((number * 37 % 11).unsigned_abs()) * 200));
        if number % 5 == 0 { Outcome::Success(Success::from(one(-1))) } else { right(request) }
    });
    let told =
        || run_cases(&uneven, &cases, None).into_iter().map(|judged| judged.detail).collect::<Vec<String>>();
    let first = told();
    for (number, detail) in first.iter().enumerate() {
        let due = if number % 5 == 0 { format!("expected {} (", 2 * number) } else { String::new() };
        assert!(detail.contains(&due) && detail.is_empty() == due.is_empty(), "{number}: {detail}");
    }
    assert_eq!(told(), first);
}

/// Takes several requests at a time, and answers the second of them wrongly, alone or not.
struct WrongTogether {
    capabilities: Capabilities,
    also_alone: bool,
}

impl Implementation for WrongTogether {
    fn name(&self) -> &'static str {
        "wrong together"
    }

    fn version(&self) -> &'static str {
        "1"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn batch(&self) -> usize {
        4
    }

    fn run(&self, request: &Request) -> Outcome {
        if self.also_alone && number(request) == 2 {
            Outcome::Success(Success::from(one(-1)))
        } else {
            right(request)
        }
    }

    fn run_many(&self, requests: &[&Request]) -> Vec<Outcome> {
        let wrong =
            |place: usize| if place == 1 { Some(Outcome::Success(Success::from(one(-1)))) } else { None };
        let answer = |(place, request): (usize, &&Request)| wrong(place).unwrap_or_else(|| right(request));
        requests.iter().enumerate().map(answer).collect()
    }
}

#[test]
fn a_failure_that_does_not_come_alone_is_marked() {
    count_panics();
    let cases: Vec<Case> = (1..=4).map(case).collect();
    let cases: Vec<&Case> = cases.iter().collect();
    for also_alone in [false, true] {
        let subject = WrongTogether { capabilities: Capabilities::all(), also_alone };
        let judged = run_cases(&subject, &cases, None);
        let failed: Vec<bool> = judged.iter().map(|judged| judged.status == Status::Failed).collect();
        assert_eq!(failed, [false, true, false, false]);
        assert_eq!(judged[1].detail.contains("\nasked again by itself, the case does not fail"), !also_alone);
        let alone = run_cases(&subject, &cases[1..2], None);
        assert_eq!(alone[0].status == Status::Failed, also_alone);
    }
}

fn known(entries: &str) -> Known {
    Known::parse(&format!("implementation: subject\nknown:\n{entries}"), "known.yaml").unwrap()
}

#[test]
fn a_known_failure_that_passes_is_a_failure() {
    count_panics();
    let wrong_at_two = subject(|request: &Request| match number(request) {
        2 => Outcome::Success(Success::from(one(0))),
        3 => panic!("three"),
        4 => Outcome::Skipped { reason: "four".into() },
        _ => right(request),
    });
    let known = known("  - {case: numpy/double/*, reason: doubles badly, url: 'https://example.org/1'}\n");
    let cases = [1, 2, 3, 4].map(case);
    let judged = run_cases(&wrong_at_two, &cases.each_ref(), Some(&known));
    let found: Vec<Status> = judged.iter().map(|judged| judged.status).collect();
    let expected = [Status::UnexpectedPass, Status::KnownFailure, Status::KnownFailure, Status::KnownFailure];
    assert_eq!(found, expected);
    assert!(found[0].is_failure() && !found[1].is_failure());
    assert!(judged[0].detail.contains("`numpy/double/*` is listed as a known failure: doubles badly"));
    assert!(judged[1].detail.starts_with("known: doubles badly (wrong values: element (0): expected 4"));
    let other = Case { id: "numpy/other".into(), ..case(2) };
    assert_eq!(run_case(&wrong_at_two, &other, Some(&known)).status, Status::Failed, "not listed");
}

#[test]
fn entries_that_match_no_case_are_found() {
    let known = known(
        "  - {case: numpy/double/1, reason: a, url: 'https://example.org/1'}\n  - {case: xla/*, reason: b, url: 'https://example.org/2'}\n",
    );
    let ids = ["numpy/double/1", "numpy/double/10"];
    let leftover: Vec<&str> =
        known.unmatched(ids.into_iter()).iter().map(|entry| entry.case.as_str()).collect();
    assert_eq!(leftover, ["xla/*"]);
    assert!(known.entry("numpy/double/10").is_none(), "an id is not a prefix");
}
