//! Batches: several requests in a message. A failure affects only the request that causes it.

#![cfg(unix)]

use broadcheck_harness::{Options, open};
use broadcheck_spec::{
    ErrorKind, Expression, Function, Implementation, Operand, Operation, Outcome, Request, Rules,
};
use std::path::Path;
use std::time::Duration;

/// The number of requests: one batch of 8, and one of 4.
const COUNT: i32 = 12;

fn requests() -> Vec<Request> {
    let request = |value| {
        let sum = Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]);
        let operation = Operation::Elementwise { expression: sum.expect("two arguments") };
        let operand = |name, value| Operand::dense(name, [1], vec![value]).expect("one value");
        Request::new(Rules::Numpy, operation, vec![operand("a", value), operand("b", 0)]).expect("a request")
    };
    (1..=COUNT).map(request).collect()
}

/// The outcomes of a harness that fails in this way, and the sizes of the messages that it got.
fn asked(way: &str, options: Options) -> (Vec<Outcome>, Vec<usize>) {
    asked_of(&requests(), way, options)
}

/// The same of these requests.
fn asked_of(requests: &[Request], way: &str, options: Options) -> (Vec<Outcome>, Vec<usize>) {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let process = open(&command(way, 8, log.path()), options).expect("it starts");
    let outcomes = process.run_many(&requests.iter().collect::<Vec<_>>());
    (outcomes, logged(log.path()))
}

/// Starts a harness that fails in this way and takes up to this number of requests in a message.
fn command(way: &str, batch: usize, log: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_harnesses/batches.py");
    format!("python3 '{}' {way} '{}' {batch}", script.display(), log.display())
}

/// The sizes of the messages that a harness got.
fn logged(log: &Path) -> Vec<usize> {
    let sizes = std::fs::read_to_string(log).expect("the log");
    sizes.lines().map(|line| line.parse().expect("a number")).collect()
}

/// The kind of error of the request with the value 5. The other requests must be answered.
fn kind_of_fifth(outcomes: &[Outcome]) -> Option<ErrorKind> {
    let mut kind = None;
    for (value, outcome) in (1..).zip(outcomes) {
        match outcome {
            Outcome::Errored { kind: found, .. } if value == 5 => kind = Some(*found),
            Outcome::Success(success) => assert_eq!(success.tensor.shape().to_string(), "(1)"),
            other => panic!("the request with the value {value}: {other:?}"),
        }
    }
    kind
}

#[test]
fn requests_are_asked_in_batches() {
    let (outcomes, sizes) = asked("good", Options::default());
    assert_eq!((kind_of_fifth(&outcomes), sizes), (None, vec![8, 4]));
    for (most, expected) in [(5, vec![5, 5, 2]), (1, vec![1; 12]), (99, vec![8, 4])] {
        let (alone, sizes) = asked("good", Options { batch: Some(most), ..Options::default() });
        assert_eq!((&alone, sizes), (&outcomes, expected));
    }
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn a_batch_that_breaks_is_asked_again_by_halves() {
    for (way, kind) in [
        ("dies", ErrorKind::Crashed),
        ("too_few", ErrorKind::InvalidAnswer),
        ("too_many", ErrorKind::InvalidAnswer),
        ("swapped", ErrorKind::InvalidAnswer),
        ("twice", ErrorKind::InvalidAnswer),
    ] {
        let (outcomes, sizes) = asked(way, Options::default());
        assert_eq!(kind_of_fifth(&outcomes), Some(kind), "{way}");
        assert_eq!(sizes[..2], [8, 4], "{way}");
        let alone = asked(way, Options { batch: Some(1), ..Options::default() }).0;
        assert_eq!(kind_of_fifth(&alone), Some(kind), "{way}, alone");
    }
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn a_batch_that_hangs_is_asked_again_by_halves() {
    let (outcomes, sizes) = asked("hangs", Options::within(Duration::from_millis(500)));
    assert_eq!(kind_of_fifth(&outcomes), Some(ErrorKind::TimedOut));
    assert_eq!(sizes[..2], [8, 4]);
}

#[test]
fn an_error_in_a_batch_is_asked_again_alone() {
    let (outcomes, sizes) = asked("errored", Options::default());
    assert!(kind_of_fifth(&outcomes).is_some());
    assert_eq!(sizes, [8, 1, 4]);
}

#[test]
fn a_harness_may_ask_for_smaller_batches() {
    let (outcomes, sizes) = asked("refuses_batches", Options::default());
    assert_eq!(kind_of_fifth(&outcomes), None);
    assert_eq!(sizes, [8, 4, 4, 2, 1, 1, 2, 4]);
}

/// The crash of a batch is reported for its oldest request, the one at this place. No other request fails.
fn is_accused(outcomes: &[Outcome], place: usize, count: usize) {
    for (at, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Outcome::Errored { kind: ErrorKind::NotReproduced, message } if at == place => {
                let expected = format!("not reproduced alone: in a batch of {count} requests, ");
                assert!(message.starts_with(&expected), "{message}");
            }
            Outcome::Success(_) if at != place => {}
            other => panic!("request {at}: {other:?}"),
        }
    }
}

#[test]
fn a_crash_of_a_batch_whose_requests_are_all_answered_is_reported() {
    is_accused(&asked("dies_together", Options::default()).0, 0, 8);
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn a_crash_of_a_part_of_a_batch_is_reported_too() {
    // Eight requests are refused together, or take too long. Of the halves, the second has the value 5.
    is_accused(&asked("refuses_then_dies", Options::default()).0, 4, 4);
    is_accused(&asked("hangs_then_dies", Options::within(Duration::from_millis(500))).0, 4, 4);
}

#[test]
fn a_crash_of_another_part_of_a_batch_is_reported_too() {
    // The request with the value 5 is the cause of one crash. Another one is of the last two together.
    let outcomes = asked("another_dies", Options::default()).0;
    let errored = |(place, outcome): (usize, &Outcome)| match outcome {
        Outcome::Errored { kind, message } => {
            Some((place, *kind, message.contains("in a batch of 2 requests")))
        }
        _ => None,
    };
    let errored: Vec<(usize, ErrorKind, bool)> = outcomes.iter().enumerate().filter_map(errored).collect();
    assert_eq!(errored, [(4, ErrorKind::Crashed, false), (6, ErrorKind::NotReproduced, true)]);
}

/// What a harness does that crashes on every batch, and takes up to this number of requests in one. It is
/// asked these numbers of requests, one after the other: the sizes of its messages, and how many fail.
fn of_crashing(batch: usize, counts: &[usize]) -> Vec<(Vec<usize>, usize)> {
    let log = tempfile::NamedTempFile::new().expect("a file");
    let process = open(&command("all_die", batch, log.path()), Options::default()).expect("it starts");
    let asked = |&count: &usize| {
        std::fs::write(log.path(), "").expect("the log");
        let one = requests().remove(0);
        let outcomes = process.run_many(&vec![&one; count]);
        let failed = outcomes.iter().filter(|outcome| !matches!(outcome, Outcome::Success(_))).count();
        (logged(log.path()), failed)
    };
    counts.iter().map(asked).collect()
}

#[test]
fn a_harness_that_crashes_on_every_batch_gets_smaller_ones() {
    let found = of_crashing(8, &[4, 4, 4]);
    // A batch and its parts, then two smaller batches, each of which is reported once, then none.
    let (first, second) = (vec![4, 2, 1, 1, 2, 1, 1], vec![2, 1, 1, 2, 1, 1]);
    assert_eq!(found, [(first, 1), (second, 2), (vec![1; 4], 0)]);
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn a_harness_that_crashes_on_every_batch_is_rarely_started() {
    let found = of_crashing(256, &[256, 256]);
    let batches = |sizes: &[usize]| sizes.iter().filter(|size| **size > 1).count();
    let counts: Vec<(usize, usize)> = found.iter().map(|(sizes, failed)| (batches(sizes), *failed)).collect();
    assert_eq!(counts, [(16, 1), (0, 0)]);
}

#[test]
fn large_requests_are_not_asked_together() {
    let many = |count: usize| {
        let operand = |name| Operand::dense(name, [count], vec![1i32; count]).expect("as many values");
        let sum = Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]);
        let operation = Operation::Elementwise { expression: sum.expect("two arguments") };
        Request::new(Rules::Numpy, operation, vec![operand("a"), operand("b")]).expect("a request")
    };
    // Each has as many elements in its two operands as two times its answer has.
    let sizes = asked_of(&[many(1), many(1 << 18), many(1 << 18), many(1)], "good", Options::default()).1;
    assert_eq!(sizes, [2, 2]);
}
