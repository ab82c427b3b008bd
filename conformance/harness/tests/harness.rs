//! Deliberately bad harnesses: each affects only the case that it fails.
//!
//! The bad harnesses are scripts in `tests/bad_harnesses`. They fail the case with the value 5.

#![cfg(unix)]

use broadcheck_harness::smoke::{Ending, Found, smoke};
use broadcheck_harness::{Options, Process, open};
use broadcheck_judge::compare::{Difference, DifferenceKind, Latitude, Verdict, expectation_of, judge};
use broadcheck_spec::{
    Asked, DType, ErrorKind, Expression, Function, Implementation, Operand, OperandType, Operation, Outcome,
    PartialShape, Request, Rules, Signature, Tensor,
};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// The number of requests.
const COUNT: i32 = 12;

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_harnesses").join(name)
}

fn command(name: &str, arguments: &[&Path]) -> String {
    let program = if name.ends_with(".py") { "python3" } else { "sh" };
    let file = script(name);
    assert!(file.exists(), "{}", file.display());
    let words = std::iter::once(file.as_path()).chain(arguments.iter().copied());
    words.fold(program.to_owned(), |text, word| format!("{text} '{}'", word.display()))
}

/// Whether there is a Python. Without one, a test is skipped with a message.
fn python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        println!("LEFT OUT: there is no python3");
        assert!(std::env::var_os("CI").is_none(), "python3 is needed in CI");
    }
    found
}

fn requests(count: i32) -> Vec<Request> {
    let request = |value| {
        let sum = Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]);
        let operation = Operation::Elementwise { expression: sum.expect("two arguments") };
        let operand = |name, value| Operand::dense(name, [1], vec![value]).expect("one value");
        Request::new(Rules::Numpy, operation, vec![operand("a", value), operand("b", 0)]).expect("a request")
    };
    (1..=count).map(request).collect()
}

fn process(name: &str, options: Options) -> Process {
    open(&command(name, &[]), options).unwrap_or_else(|message| panic!("{name}: {message}"))
}

fn outcomes(process: &Process) -> Vec<Outcome> {
    outcomes_of(process, COUNT)
}

/// Runs this number of requests.
fn outcomes_of(process: &Process, count: i32) -> Vec<Outcome> {
    let requests = requests(count);
    process.run_many(&requests.iter().collect::<Vec<_>>())
}

fn right(value: i32) -> Outcome {
    Outcome::Success(Tensor::new([1], vec![value]).expect("one value").into())
}

/// Runs all requests and expects right answers, except for an error for `value`. Returns its message.
fn one_error(process: &Process, value: i32) -> String {
    let mut message = None;
    for (place, outcome) in (1..=COUNT).zip(outcomes(process)) {
        match outcome {
            Outcome::Errored { message: found, .. } if place == value => message = Some(found),
            other if place != value => assert_eq!(other, right(place), "the case {place}"),
            other => panic!("the case {place}: {other:?}"),
        }
    }
    message.expect("an error")
}

fn quick() -> Options {
    Options::within(Duration::from_millis(700))
}

#[track_caller]
fn assert_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "expected {part:?} in:\n{text}");
    }
}

/// Runs all of these at the same time, because each mostly waits for a process.
fn at_once<T: Send, R: Send>(all: impl IntoIterator<Item = T>, run: impl Fn(T) -> R + Sync) -> Vec<R> {
    let run = &run;
    scope(|threads| {
        let running: Vec<_> = all.into_iter().map(|one| threads.spawn(move || run(one))).collect();
        running.into_iter().map(|one| one.join().expect("no panic")).collect()
    })
}

#[test]
fn a_good_harness_answers_everything() {
    let process = process("good.sh", Options::default());
    assert_eq!((process.name(), process.version()), ("bad", "1.0"));
    let all: Vec<Outcome> = (1..=COUNT).map(right).collect();
    assert_eq!(outcomes(&process), all);
    assert_eq!(outcomes(&process), all);
}

#[test]
fn wrong_answers_are_passed_on() {
    let found = outcomes(&process("wrong.sh", Options::default()));
    assert_eq!(found, (2..=COUNT + 1).map(right).collect::<Vec<_>>());
}

#[test]
fn extras_that_the_request_does_not_have_are_passed_on_and_judged() {
    let requests = requests(COUNT);
    let found = outcomes(&process("reports_more.sh", Options::default()));
    for (value, (request, outcome)) in (1..).zip(requests.iter().zip(&found)) {
        let Outcome::Success(success) = outcome else { panic!("{outcome:?}") };
        let extras = (success.intermediate.is_some(), success.broadcastable.is_some());
        assert_eq!(extras, (value == 3, value == 5));
        let expectation = expectation_of(&right(value)).expect("a result");
        let verdict = judge(request, &expectation, outcome, Latitude::ANY);
        match verdict {
            Verdict::Passed => assert_eq!(extras, (false, false)),
            Verdict::Failed(Difference { kind, .. }) => {
                assert_eq!((kind, extras.0 || extras.1), (DifferenceKind::Extra, true));
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_hanging_harness_is_killed() {
    let began = Instant::now();
    let message = one_error(&process("hangs.sh", quick()), 5);
    assert_eq!(message, "no answer within 0.7 s");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[test]
fn an_exit_is_reported_with_status_and_stderr() {
    let message = one_error(&process("exits.sh", Options::default()), 5);
    assert_eq!(message, "the process ended with exit status 3\nits stderr ends:\n  the library gave up");
}

#[test]
fn a_crash_is_reported_with_its_signal() {
    let message = one_error(&process("crashes.sh", Options::default()), 5);
    assert_parts(&message, &["the process was killed by signal 11 (SIGSEGV)"]);
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn a_crash_with_several_requests_in_flight_is_reported() {
    if !python() {
        return;
    }
    let asking = |window: &str| {
        let command = command("dies_in_flight.py", &[Path::new(window)]);
        open(&command, Options::default()).expect("it starts")
    };
    let message = one_error(&asking("16"), 1);
    let how =
        "not reproduced alone: with 12 requests unanswered, the process was killed by signal 6 (SIGABRT)";
    assert_parts(&message, &[how]);
    assert_eq!(outcomes(&asking("1")), (1..=COUNT).map(right).collect::<Vec<_>>(), "one by one");
}

#[test]
fn a_crash_after_an_answer_is_reported_for_the_next_request() {
    let message = one_error(&process("dies_after.sh", Options::default()), 6);
    let how = "with 1 request unanswered after the one before it was answered, the process ended with exit status 3";
    assert_eq!(message, format!("not reproduced alone: {how}"));
}

/// Runs this number of requests with a bad harness whose first argument is the file for its starts. Expects
/// an error of this kind for these values and right answers for the others. Returns the number of starts and
/// the messages.
fn starts(name: &str, word: &str, count: i32, kind: ErrorKind, values: &[i32]) -> (usize, Vec<String>) {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("starts");
    let command = format!("{} {word}", command(name, &[&file]));
    let process = open(&command, Options::default()).expect("it starts");
    let mut messages = Vec::new();
    for (value, outcome) in (1..=count).zip(outcomes_of(&process, count)) {
        match outcome {
            Outcome::Errored { kind: found, message } if values.contains(&value) => {
                assert_eq!(found, kind, "the case {value}: {message}");
                messages.push(message);
            }
            other => assert_eq!(other, right(value), "the case {value}"),
        }
    }
    assert_eq!(messages.len(), values.len());
    (std::fs::read_to_string(file).expect("the starts").lines().count(), messages)
}

/// As [`starts`], for a harness that aborts at these values and no others.
fn starts_if_it_dies_at(count: i32, values: &[i32]) -> usize {
    let words = values.iter().map(i32::to_string).collect::<Vec<_>>().join(" ");
    let (starts, messages) = starts("dies_at.sh", &words, count, ErrorKind::Crashed, values);
    assert!(messages.iter().all(|text| text == ABORTED), "{messages:?}");
    starts
}

const ABORTED: &str = "the process was killed by signal 6 (SIGABRT)";

#[test]
fn a_crash_takes_one_start_to_confirm_and_one_to_continue() {
    assert_eq!(starts_if_it_dies_at(COUNT, &[]), 1);
    assert_eq!(starts_if_it_dies_at(COUNT, &[5]), 1 + 2);
    // Two within one window.
    assert_eq!(starts_if_it_dies_at(COUNT, &[5, 8]), 1 + 2 * 2);
    assert_eq!(starts_if_it_dies_at(40, &[5, 15, 25]), 1 + 2 * 3);
}

#[test]
fn after_three_confirmed_crashes_each_takes_one_start() {
    let apart: Vec<i32> = (1..=32).map(|number| number * 6).collect();
    assert_eq!(starts_if_it_dies_at(200, &apart), 1 + 2 * 3 + 29);
}

#[test]
fn crashes_in_a_row_take_one_start_each() {
    let row: Vec<i32> = (7..39).collect();
    assert_eq!(starts_if_it_dies_at(200, &row), 1 + 1 + 32);
    let all: Vec<i32> = (1..=40).collect();
    // No request is left for a process after the last one.
    assert_eq!(starts_if_it_dies_at(40, &all), 1 + 40);
}

#[test]
fn a_request_that_ended_two_processes_is_not_sent_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("starts");
    let command = format!("{} 5 9", command("dies_at.sh", &[&file]));
    let process = open(&command, Options::default()).expect("it starts");
    let starts = || std::fs::read_to_string(&file).expect("the starts").lines().count();
    let first = outcomes_of(&process, COUNT);
    assert_eq!(starts(), 1 + 2 * 2);
    for _ in 0..3 {
        assert_eq!(outcomes_of(&process, COUNT), first);
    }
    assert_eq!(starts(), 1 + 2 * 2);
    assert!(matches!(&first[4], Outcome::Errored { kind: ErrorKind::Crashed, .. }));

    // Four times in one batch: one start to confirm the first, one to continue.
    std::fs::remove_file(&file).expect("the starts");
    let process = open(&command, Options::default()).expect("it starts");
    let repeated = requests(COUNT).into_iter().cycle().take(4 * requests(COUNT).len()).collect::<Vec<_>>();
    let outcomes = process.run_many(&repeated.iter().collect::<Vec<_>>());
    assert_eq!(outcomes, first.iter().cycle().take(outcomes.len()).cloned().collect::<Vec<_>>());
    assert_eq!(starts(), 1 + 2 * 2);
}

#[test]
fn a_crash_before_earlier_answers_arrive_is_traced_to_its_request() {
    if !python() {
        return;
    }
    at_once(["read", "answer"], |mode| {
        let (starts, messages) = starts("dies_ahead.py", mode, COUNT, ErrorKind::Crashed, &[5]);
        assert_eq!(messages, [ABORTED], "{mode}");
        // One that answers up to the request, one for the request alone, one for the rest. A harness that
        // reads less at once needs one fewer.
        assert!(starts <= 4, "{mode}: {starts}");
    });
}

#[test]
fn a_crash_after_an_answer_that_was_lost_is_not_reproduced() {
    if !python() {
        return;
    }
    let (starts, messages) = starts("dies_ahead.py", "later", COUNT, ErrorKind::NotReproduced, &[6]);
    assert_parts(&messages[0], &["not reproduced alone: with ", ABORTED]);
    assert!(starts <= 3, "{starts}");
}

#[test]
fn a_crash_that_depends_on_earlier_requests_is_not_reproduced() {
    // The first process answers 1 to 7. The second answers 8 to 14 one at a time. The third answers 15 to 21,
    // and so on.
    let (starts, messages) = starts("dies_at_eighth.sh", "", 40, ErrorKind::NotReproduced, &[15, 29, 36]);
    let how = "not reproduced alone: with 1 request unanswered after others were answered";
    assert_eq!(messages[..2], [(); 2].map(|()| format!("{how}, {ABORTED}")));
    let how = "not reproduced alone: with 5 requests unanswered after the one before them was answered";
    assert_eq!(messages[2], format!("{how}, {ABORTED}"));
    assert_eq!(starts, 6);
}

#[test]
fn requests_beyond_the_limits_are_not_sent() {
    let process = process("small.sh", Options::default());
    let skipped = |shape: &[usize]| {
        let count = shape.iter().product();
        let operand = Operand::dense("a", shape.to_vec(), vec![7; count]).expect("one value each");
        let operation = Operation::Elementwise { expression: Expression::operand(0) };
        match process.run(&Request::new(Rules::Numpy, operation, vec![operand]).expect("a request")) {
            Outcome::Skipped { reason } => reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(skipped(&[2]), "no result of more than 1 element");
    assert_eq!(skipped(&[1, 1]), "no rank above 1");
    assert_eq!(outcomes(&process), (1..=COUNT).map(right).collect::<Vec<_>>());
}

#[test]
fn a_flooding_harness_is_killed() {
    // The first answer is right. The second is read as the answer to the next request, with a wrong number.
    let message = one_error(&process("floods.sh", Options::default()), 6);
    assert_parts(&message, &["no valid answer: found seq 5, expected seq 6\nthe line: `{\"seq\":5,"]);
}

#[test]
fn an_endless_line_is_bounded() {
    let message = one_error(&process("endless_line.sh", Options::default()), 5);
    assert_parts(&message, &["a line of more than 10", " bytes, which is longer than any answer"]);
}

#[test]
fn answers_out_of_order_are_invalid() {
    let message = one_error(&process("disorder.sh", Options::default()), 5);
    assert_parts(&message, &["found seq 6, expected seq 5"]);
}

#[test]
fn repeated_answers_are_invalid() {
    let message = one_error(&process("repeats.sh", Options::default()), 6);
    assert_parts(&message, &["found seq 5, expected seq 6"]);
}

#[test]
fn invalid_json_is_reported() {
    let message = one_error(&process("invalid_json.sh", Options::default()), 5);
    let why = "no valid answer: found text that is not JSON (expected value at line 1 column ";
    assert_parts(&message, &[why, "), expected a JSON object in one line", "[NaN]"]);
}

#[test]
fn a_list_as_seq_is_invalid() {
    let message = one_error(&process("list_as_seq.sh", Options::default()), 5);
    assert_parts(&message, &["no valid answer: found sequence, expected a whole number as seq"]);
}

#[test]
fn an_incomplete_line_is_not_an_answer() {
    let message = one_error(&process("half_line.sh", Options::default()), 5);
    assert_parts(
        &message,
        &["ended with exit status 0", "it had written half a line: `{\"seq\":", "\"resu`"],
    );
    let message = one_error(&process("half_line_and_hangs.sh", quick()), 5);
    assert_parts(&message, &["no answer within 0.7 s: it wrote ", " bytes, and no line feed"]);
}

#[test]
fn a_harness_that_closes_its_output_is_killed() {
    let message = one_error(&process("closes_stdout.sh", Options::default()), 5);
    assert_eq!(message, "the process closed its stdout and did not end");
}

#[test]
fn skipped_and_errored_answers_are_passed_on() {
    for (name, expected) in [
        ("lies.sh", Outcome::Skipped { reason: "no i32 after all".into() }),
        ("confesses.sh", Outcome::errored(ErrorKind::Reported, "out of luck")),
    ] {
        let found = outcomes(&process(name, Options::default()));
        assert_eq!(found[4], expected);
        assert_eq!(found[5], right(6));
    }
}

#[test]
fn much_stderr_does_not_block_and_its_end_is_shown() {
    let message = one_error(&process("much_stderr.sh", Options::default()), 5);
    assert_parts(&message, &["exit status 3\nits stderr ends:\n  eee", "\n  these are the last words"]);
    assert!(message.len() < 2000, "{} bytes", message.len());
}

#[test]
fn failed_starts_are_reported() {
    let failed = |command: &str, options| open(command, options).err().expect("it cannot be used");
    let of = |name, options| failed(&command(name, &[]), options);
    assert_parts(
        &of("other_version.sh", Options::default()),
        &["it speaks version 2 of the protocol, expected version 1"],
    );
    assert_parts(
        &of("misspelt.sh", Options::default()),
        &["implementation.dtypes: found \"float64\", expected names among f64 f32"],
    );
    assert_parts(
        &of("twice.sh", Options::default()),
        &[
            "the answer to `start` is not valid: found duplicate field `rules` at line 1",
            "expected a JSON object",
        ],
    );
    let many = of("many_misspelt.sh", Options::default());
    assert_parts(
        &many,
        &[
            "functions: found \"nonesuch\", expected names among add ",
            "; and 4091 more: correct these to see them\n",
        ],
    );
    assert!(many.len() < 3000, "{} bytes", many.len());
    let impatient = Options { start_limit: Duration::from_millis(300), ..Options::default() };
    assert_eq!(of("silent.sh", impatient), "`start` was not answered: no answer within 0.3 s");
    assert_parts(
        &of("dies_at_start.sh", Options::default()),
        &["`start` was not answered: the process ended with exit status 7", "a module is missing"],
    );
    assert_parts(
        &failed("no-such-program --at all", Options::default()),
        &["cannot be started: No such file"],
    );
    assert_parts(&failed("", Options::default()), &["the command is empty"]);
    assert_parts(
        &failed("sh 'unclosed", Options::default()),
        &["cannot split the command into words: missing closing quote"],
    );
}

#[test]
fn repeated_failed_starts_end_the_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let command = command("starts_once.sh", &[&directory.path().join("mark")]);
    let found = outcomes(&open(&command, Options::default()).expect("it starts once"));
    assert_eq!(found[3], right(4));
    for (place, outcome) in found.iter().enumerate().skip(4) {
        let Outcome::Errored { message, .. } = outcome else { panic!("the case {place}: {outcome:?}") };
        let part = match place {
            4 => "ended with exit status 3",
            // The case 4 was repeated too.
            5..=6 => {
                "it could not be started again: `start` was not answered: the process ended with exit status 9"
            }
            _ => "not started again after 3 failed starts",
        };
        assert_parts(message, &[part]);
    }
}

/// Whether a process runs. A zombie does not.
fn runs(id: &str) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", id]).output().expect("ps runs");
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

#[track_caller]
fn assert_ends(id: &str) {
    let began = Instant::now();
    while runs(id) {
        assert!(began.elapsed() < Duration::from_secs(5), "the process {id} still runs");
        sleep(Duration::from_millis(20));
    }
}

/// The process id that a process writes to a file.
fn id_in(file: &Path) -> String {
    let began = Instant::now();
    loop {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        if text.ends_with('\n') {
            return text.trim().to_owned();
        }
        assert!(began.elapsed() < Duration::from_secs(10), "no process wrote {}", file.display());
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn children_are_killed_with_the_harness() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("id");
    let process = open(&command("grandchildren.sh", &[&file]), Options::default()).expect("it starts");
    let message = one_error(&process, 5);
    assert_parts(&message, &["the process ended with exit status 3"]);
    assert_ends(&id_in(&file));
}

#[test]
fn a_harness_that_leaves_its_group_is_killed() {
    if !python() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("id");
    let began = Instant::now();
    let process = open(&command("leaves_group.py", &[&file]), quick()).expect("it starts");
    assert_eq!(one_error(&process, 5), "no answer within 0.7 s");
    assert_ends(&id_in(&directory.path().join("id.hangs")));
    drop(process);
    assert_ends(&id_in(&file));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_harness_that_ignores_stop_is_killed() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("id");
    let options = Options { stop_limit: Duration::from_millis(300), ..Options::default() };
    let process = open(&command("ignores_stop.sh", &[&file]), options).expect("it starts");
    let id = id_in(&file);
    assert!(runs(&id));
    let began = Instant::now();
    drop(process);
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert_ends(&id);
}

#[test]
fn a_good_harness_stops_at_once() {
    let process = process("good.sh", Options { stop_limit: Duration::from_secs(20), ..Options::default() });
    outcomes(&process);
    let began = Instant::now();
    drop(process);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

/// The steps of the smoke test of `limited.py` that found something, as words, with what they say.
fn limited(lacks: &str, declares: &str) -> (Ending, Vec<(&'static str, String, String)>) {
    let command = format!("{} '{lacks}' '{{{declares}}}'", command("limited.py", &[]));
    let mut steps = Vec::new();
    let ending = smoke(&command, &Options::default(), &mut |step| match &step.found {
        Found::Passed(_) | Found::LeftOut(_) => {}
        Found::Advised(text) => steps.push(("advice", step.name.clone(), text.clone())),
        Found::Wrong(wrong) => steps.push(("WRONG", step.name.clone(), wrong.hint.clone())),
    });
    (ending.expect("a command"), steps)
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn smoke_teaches_the_field_for_each_thing_that_a_library_lacks() {
    if !python() {
        return;
    }
    let lessons = [
        ("scalars", "a scalar", r#""scalars":false"#),
        ("ranks", "operands of different ranks", r#""equal_ranks":true"#),
        ("calls", "two calls", r#""max_calls":1"#),
        ("operands", "three operands", r#""max_operands":2"#),
        ("unused", "an operand that the expression does not use", r#""unused_operands":false"#),
        ("subnormals", "subnormal f32 numbers", r#""flushed_subnormals":["f32"]"#),
        (
            "functions",
            "every declared function of every declared dtype",
            r#""function_dtypes":{"sqrt":["f64"]}"#,
        ),
    ];
    // In two halves, so that one step lacks one thing; each run starts many processes.
    at_once([&lessons[..2], &lessons[2..]], |lessons| {
        let lacks = lessons.iter().map(|(lacks, ..)| *lacks).collect::<Vec<_>>().join(" ");
        let (ending, steps) = limited(&lacks, "");
        assert_eq!(ending, Ending::Failed, "{lacks}");
        for (lacks, name, field) in lessons {
            let taught = |(word, step, hint): &(&str, String, String)| {
                *word == "WRONG"
                    && step == name
                    && hint.contains(&format!("add {field} to the answer to `start`"))
            };
            assert!(steps.iter().any(taught), "{lacks}: {steps:#?}");
        }
        let fields = lessons.iter().map(|(.., field)| *field).collect::<Vec<_>>().join(",");
        let (ending, steps) = limited(&lacks, &fields);
        assert_eq!(ending, Ending::Passed, "{fields}: {steps:#?}");
    });
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn smoke_advises_on_conventions_that_are_not_declared() {
    if !python() {
        return;
    }
    let follows = "conventions that are not declared";
    let declared = r#""conventions":["separate-dtypes","refusal-order"]"#;
    let runs = [("", ""), ("sizes", ""), ("sizes", r#""large_sizes":false"#), ("", declared)];
    let found = at_once(runs, |(lacks, declares)| limited(lacks, declares));
    let [undeclared, sizes, without_sizes, conventions] = &found[..] else { panic!("{}", found.len()) };
    let (ending, steps) = undeclared;
    assert_eq!(*ending, Ending::Passed);
    let advised = steps.iter().find(|(word, name, _)| *word == "advice" && name == follows);
    let advised =
        advised.is_some_and(|(.., text)| text.contains(r#"add "conventions":["refusal-order"] to"#));
    assert!(advised, "{steps:#?}");
    // A library that runs out of memory need not fail.
    let (ending, steps) = sizes;
    assert_eq!(*ending, Ending::Passed);
    assert_eq!((steps[0].0, steps[0].1.as_str()), ("advice", "a length of 2^63, which is a string"));
    assert!(steps[0].2.contains(r#"add "large_sizes":false to the answer"#), "{steps:#?}");
    let (_, steps) = without_sizes;
    assert_eq!(steps.len(), 1, "{steps:#?}");
    // What is declared is required.
    let (ending, steps) = conventions;
    assert_eq!(*ending, Ending::Failed);
    let wrong: Vec<_> = steps.iter().filter(|(word, ..)| *word == "WRONG").collect();
    let [(_, name, text)] = &wrong[..] else { panic!("{steps:#?}") };
    assert_eq!(name, "operands of different dtypes");
    assert!(text.contains("it declares the convention `separate-dtypes`: remove it"), "{text}");
}

/// The signature of a vector of unknown length and one of length 2, under `none`.
fn signature() -> Signature {
    let operand = |name, shape: &str| {
        let shape: PartialShape = shape.parse().expect("a shape");
        OperandType::new(name, DType::F64, shape).expect("a name")
    };
    let operands = vec![operand("a", "?"), operand("b", "2")];
    Signature::new(Rules::None, Asked::Expression(Expression::operand(0)), operands).expect("a signature")
}

#[test]
fn hostile_answers_to_infer_are_errors_that_name_the_place() {
    if !python() {
        return;
    }
    let answers = [
        (r#"{"inferred":{"dtype":"f64","shape":[2],"accepts":"depends"}}"#, None),
        (r#"{"inferred":{"dtype":"f64","shape":[{"min":2,"max":2}]}}"#, None),
        (r#"{"inferred":{"dtype":"f64","shape":["18446744073709551615"]}}"#, None),
        (r#"{"inferred":{"dtype":"f64","shape":["18446744073709551616"]}}"#, Some("shape")),
        (r#"{"inferred":{"dtype":"f64","shape":[18446744073709551616]}}"#, Some("shape")),
        (r#"{"inferred":{"dtype":"f64","shape":[{"max":18446744073709551616}]}}"#, Some("shape")),
        (r#"{"inferred":{"dtype":"f64","shape":[-1]}}"#, Some("shape")),
        (r#"{"inferred":{"dtype":"f64","shape":[{"min":-1}]}}"#, Some("shape")),
        (r#"{"inferred":{"dtype":"f64","shape":[{"min":3,"max":2}]}}"#, Some("shape")),
        (r#"{"inferred":{"dtype":"f64","shape":[2.5]}}"#, Some("shape")),
        (r#"{"inferred":{"dtype":"f64","shape":"?"}}"#, Some("shape")),
        (r#"{"inferred":{"dtype":"f64","shape":[["?"]]}}"#, Some("shape")),
        (r#"{"inferred":{"dtype":"f65","shape":[2]}}"#, Some("dtype")),
        (r#"{"inferred":{"dtype":"f64"}}"#, Some("shape")),
        (r#"{"inferred":{"dtype":"f64","shape":[2],"accepts":"never"}}"#, Some("accepts")),
        (r#"{"inferred":{"dtype":"f64","shape":[2],"broadcastable":[true,false]}}"#, Some("broadcastable")),
        (r#"{"inferred":{"dtype":"f64","shape":[2],"broadcastable":"T"}}"#, Some("broadcastable")),
        (r#"{"inferred":[]}"#, Some("inferred")),
        (r#"{"result":{"dtype":"f64","shape":[2],"values":[1,2]}}"#, Some("expected")),
        (r#"{"inferred":{"dtype":"f64","shape":[2]},"refusal":{"message":""}}"#, Some("expected")),
    ];
    at_once(answers, |(answer, place)| {
        let found = open(&format!("{} '{answer}'", command("infers.py", &[])), Options::default())
            .unwrap_or_else(|message| panic!("{answer}: {message}"))
            .infer(&signature());
        match (found, place) {
            (Outcome::Success(_), None) => {}
            (Outcome::Errored { message, .. }, Some(place)) => {
                assert_parts(&message, &[place, "\nthe line: "]);
            }
            (other, _) => panic!("{answer}: {other:?}"),
        }
    });
}

#[test]
fn signatures_beyond_what_is_declared_are_not_sent() {
    if !python() {
        return;
    }
    let process = open(&command("infers.py", &[]), Options::default()).expect("it starts");
    let one = |shape: &str| {
        let shape: PartialShape = shape.parse().expect("a shape");
        let operand = OperandType::new("a", DType::F64, shape).expect("a name");
        let asked = Asked::Expression(Expression::operand(0));
        process.infer(&Signature::new(Rules::None, asked, vec![operand]).expect("a signature"))
    };
    assert!(matches!(one("2"), Outcome::Success(_)));
    for (shape, reason) in [
        ("..2", "an upper bound"),
        ("2..", "a lower bound"),
        ("1..3", "a lower bound"),
        ("...", "unknown ranks"),
    ] {
        match one(shape) {
            Outcome::Skipped { reason: found } => assert!(found.contains(reason), "{shape}: {found}"),
            other => panic!("{shape}: {other:?}"),
        }
    }
}
