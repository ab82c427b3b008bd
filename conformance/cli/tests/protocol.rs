//! The protocol: the command as a runner and as a harness, the page PROTOCOL.md, and the schema.

#![cfg(unix)]

use broadcheck::run::{Status, run_cases, run_inferences};
use broadcheck_harness::{Options, open, serve, serve_batches};
use broadcheck_search::subjects::builtin;
use broadcheck_spec::{Implementation, Suite, json};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Loaded once for all tests.
static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::builtin().expect("the shipped suite"));

const PROGRAM: &str = env!("CARGO_BIN_EXE_broadcheck");

fn bad(name: &str, argument: Option<&Path>) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/bad_harnesses").join(name);
    let program = if name.ends_with(".py") { "python3" } else { "sh" };
    let argument = argument.map(|path| format!(" '{}'", path.display())).unwrap_or_default();
    format!("{program} '{}'{argument}", file.display())
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

fn broadcheck(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[track_caller]
fn ends(status: i32, arguments: &[&str]) -> String {
    let output = broadcheck(arguments).output().expect("the program starts");
    let text = text(&output);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}\n{text}");
    text
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

#[track_caller]
fn assert_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "expected {part:?} in:\n{text}");
    }
}

/// A case file of twelve sums for the bad harnesses.
fn cases(directory: &Path) -> String {
    let case = |value: usize| {
        format!(
            "  - id: numpy/mine/sum-{value}\n    title: A sum.\n    clause: NUMPY-3\n    source: [{{url: \"https://numpy.org/doc/stable/user/basics.broadcasting.html\"}}]\n    origin: hand\n    expression: [add, a, b]\n    operands:\n      - {{name: a, dtype: i32, shape: [1], values: [{value}]}}\n      - {{name: b, dtype: i32, shape: [1], values: [0]}}\n    result: {{dtype: i32, shape: [1], values: [{value}]}}\n"
        )
    };
    let file = directory.join("cases.yaml");
    let text: String = (1..=12).map(case).collect();
    std::fs::write(&file, format!("format: 1\nrules: numpy\ncases:\n{text}")).expect("written");
    file.to_str().expect("UTF-8").to_owned()
}

#[test]
fn the_suite_has_the_same_results_through_serve() {
    // A part of the cases, because those next to each other are alike. Ndarray is there for the requests
    // that it skips.
    for (name, step, fewest) in [("reference", 2, 300), ("ndarray", 5, 100)] {
        let all: Vec<_> = SUITE.cases.iter().step_by(step).collect();
        let inside = builtin(name).expect("built in");
        let outside =
            open(&format!("'{PROGRAM}' serve --impl {name}"), Options::default()).expect("it serves");
        assert_eq!((outside.name(), outside.version()), (inside.name(), inside.version()));
        let one = run_cases(inside.as_ref(), &all, None);
        let other = run_cases(&outside, &all, None);
        let mut passed = 0;
        for ((case, one), other) in all.iter().zip(&one).zip(&other) {
            assert_eq!(one.status, other.status, "{}: {}", case.id, other.detail);
            assert_eq!(one.outcome, other.outcome, "{}", case.id);
            passed += usize::from(other.status == Status::Passed);
        }
        assert!(passed > fewest, "{name}: {passed} passed");
        let all: Vec<_> = SUITE.inferences.iter().collect();
        let one = run_inferences(inside.as_ref(), &all, None, true);
        let other = run_inferences(&outside, &all, None, true);
        for ((case, one), other) in all.iter().zip(&one).zip(&other) {
            assert_eq!(one.status, other.status, "{}: {}", case.id, other.detail);
            assert_eq!(one.outcome, other.outcome, "{}", case.id);
            let expected =
                if name == "reference" { [Status::Passed, Status::Agrees] } else { [Status::Skipped; 2] };
            assert!(expected.contains(&other.status), "{}: {}", case.id, other.detail);
        }
    }
}

/// A harness that knows nothing of a result whose lengths are not all known.
#[test]
fn answers_that_are_wider_pass_unless_they_must_be_exact() {
    if !python() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("infer.yaml");
    let case = |number: usize, length: &str| {
        format!(
            "  - id: none/mine/infer-{number}\n    title: A length is known.\n    clause: INFER-5\n    origin: hand\n    source: [{{url: \"https://example.org\"}}]\n    operation: infer\n    expression: [add, a, b]\n    operands:\n      - {{name: a, dtype: f64, shape: [{length}]}}\n      - {{name: b, dtype: f64, shape: [2]}}\n    inferred: {{dtype: f64, shape: [2], accepts: {}}}\n",
            if length == "2" { "always" } else { "depends" }
        )
    };
    let text = format!("format: 1\nrules: none\ncases:\n{}{}", case(1, "2"), case(2, "\"?\""));
    std::fs::write(&file, text.replace("[add, a, b]", "a")).expect("written");
    let (cases, harness) = (file.to_str().expect("UTF-8"), bad("infers.py", Some(Path::new("wider"))));
    let check = ["check", "--cases", cases, "--impl", &harness, "--timeout", "60s"];
    let text = ends(0, &check);
    assert_parts(
        &text,
        &[
            "2 agree with a convention, 1 of them wider than exact",
            "none/mine/infer-2: expected f64 (2), depends, got f64 (?)",
        ],
    );
    let text = ends(1, &[&check[..], &["--exact"]].concat());
    assert_parts(
        &text,
        &["FAILED  none/mine/infer-2", "wider than exact: ", "--filter none/mine/infer-2 --exact"],
    );
    let text = ends(0, &[&check[..], &["--impl-name", "mine"]].concat());
    assert_parts(&text, &["2 agree with a convention, 1 of them wider than exact"]);
    let json: Value =
        serde_json::from_str(&ends(0, &[&check[..], &["--format", "json"]].concat())).expect("JSON");
    let run = &json["implementations"][0];
    assert_eq!((&run["wider"], &run["cases"][1]["inference"]), (&json!(1), &json!(true)));
}

/// What is answered to `infer` is right, or says what is wrong with the request.
#[test]
fn serve_answers_signatures() {
    let line = |shape: &str, more: &str| {
        format!(
            r#"{{"cmd":"run","seq":1,"request":{{"rules":"numpy","operation":"infer","expression":["add","a","b"],"operands":[{{"name":"a","dtype":"f32","shape":{shape}}},{{"name":"b","dtype":"f32","shape":[2]{more}}}]}}}}"#
        )
    };
    let answer = |line: String| served(&line).1.remove(0);
    let inferred = |shape: Value| json!({"dtype": "f32", "shape": shape, "accepts": "depends"});
    assert_eq!(answer(line(r#"["?"]"#, ""))["inferred"], inferred(json!([2])));
    assert_eq!(answer(line(r#"[{"max":1},{"min":1}]"#, ""))["inferred"], inferred(json!([{"max": 1}, 2])));
    assert_eq!(answer(line(r#""...""#, ""))["inferred"], inferred(json!("...")));
    assert_eq!(answer(line(r#"[{"min":3}]"#, ""))["refusal"]["kind"], "dimension_mismatch");
    assert_eq!(answer(line(r#"["18446744073709551615"]"#, ""))["refusal"]["kind"], "dimension_mismatch");
    for (shape, more, why) in [
        (r#"[{"min":3,"max":2}]"#, "", "max"),
        ("[-1]", "", "-1"),
        (r#"["18446744073709551616"]"#, "", "18446744073709551616"),
        (r#""?""#, "", "shape"),
        (r#"[["?"]]"#, "", "shape"),
        ("[2.5]", "", "2.5"),
        ("[2]", r#","broadcastable":[true]"#, "theano"),
    ] {
        let answer = answer(line(shape, more));
        let message = answer["errored"]["message"].as_str().unwrap_or_else(|| panic!("{shape}: {answer}"));
        assert!(message.contains(why), "{shape}: {message}");
    }
}

fn served(lines: &str) -> (Result<(), String>, Vec<Value>) {
    let mut output = Vec::new();
    let reference = builtin("reference").expect("built in");
    let ended = serve(reference.as_ref(), &mut lines.as_bytes(), &mut output);
    let text = String::from_utf8(output).expect("UTF-8");
    (ended, text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect())
}

#[test]
fn a_batch_has_at_most_the_declared_requests_and_a_line_of_results() {
    let served = |batch: usize, requests: &[String]| -> Value {
        let line = format!("{{\"cmd\":\"batch\",\"requests\":[{}]}}\n", requests.join(","));
        let mut output = Vec::new();
        let reference = builtin("reference").expect("built in");
        serve_batches(reference.as_ref(), batch, &mut line.as_bytes(), &mut output).expect("it serves");
        serde_json::from_slice(&output).expect("one line of JSON")
    };
    let wide = |seq: usize, length: usize| {
        format!(
            r#"{{"seq":{seq},"request":{{"rules":"numpy","operation":"broadcast","target_shape":[{length}],"operands":[{{"name":"a","dtype":"f64","shape":[],"values":[1]}}]}}}}"#
        )
    };
    let answers = served(2, &[wide(1, 2), "0".into()]);
    assert_eq!(answers["answers"][0]["result"]["values"], json!([1.0, 1.0]));
    assert_eq!(answers["answers"].as_array().map(Vec::len), Some(2));
    for (batch, count, most) in [(0, 2, 1), (1, 2, 1), (2, 3, 2), (1_000, 257, 256)] {
        let why = format!("requests: found {count}, expected at most {most}, the declared batch");
        assert_eq!(served(batch, &vec!["0".into(); count])["errored"]["message"], why);
    }
    let too_large = served(2, &[wide(1, 1 << 20), wide(2, 1)]);
    let why = "results of 1048577 elements together, and a line has at most 1048576";
    assert_eq!(too_large, json!({ "unbatched": { "message": why } }));
}

#[test]
fn smoke_sends_a_batch() {
    let smoke = |command: &str| {
        let output = Command::new(PROGRAM).args(["smoke", "--impl", command]).output().expect("it starts");
        (output.status.code(), String::from_utf8(output.stdout).expect("UTF-8"))
    };
    let (status, text) = smoke(&format!("'{PROGRAM}' serve --batch 4"));
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("4 requests in one message are answered in their order"), "{text}");
    // It declares a batch, and answers none.
    let declared = r#"s/"implementation":{/&"batch":4,/"#;
    let (status, text) =
        smoke(&format!("sh -c \"'{PROGRAM}' serve | sed -u '{}'\"", declared.replace('"', "\\\"")));
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("found neither answers nor unbatched, expected one of them"), "{text}");
}

#[test]
fn serve_answers_every_line() {
    let deep =
        format!("{{\"cmd\":\"run\",\"seq\":7,\"request\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = r#"{"cmd":"run","seq":8,"request":{"rules":"bidirectional","operation":"broadcast","target_shape":[2000,2000],"operands":[{"name":"a","dtype":"f64","shape":[],"values":[1]}]}}"#;
    let lines = [
        "",
        "  ",
        "{",
        "null",
        "[]",
        "7",
        "\"start\"",
        "{}",
        r#"{"cmd":"dance","seq":3}"#,
        r#"{"cmd":"run"}"#,
        r#"{"cmd":"run","seq":4}"#,
        r#"{"cmd":"run","seq":5,"request":{}}"#,
        r#"{"cmd":"run","seq":"6","request":{}}"#,
        &deep,
        huge,
        r#"{"cmd":"start","version":1}"#,
        r#"{"cmd":"stop"}"#,
        r#"{"cmd":"start","version":1}"#,
    ];
    let (ended, answers) = served(&lines.join("\n"));
    assert_eq!(ended, Ok(()));
    assert_eq!(answers.len(), 14, "{answers:?}");
    let errors = answers.iter().filter(|answer| answer["errored"]["message"].is_string()).count();
    assert_eq!(errors, 12, "{answers:?}");
    let numbers: Vec<&Value> = answers.iter().filter_map(|answer| answer.get("seq")).collect();
    assert_eq!(numbers, [&json!(3), &json!(4), &json!(5), &json!(8)]);
    assert_eq!(answers[12]["skipped"]["reason"], "no result of more than 1048576 elements");
    assert_eq!(answers[13]["implementation"]["name"], "reference");

    let (ended, answers) = served("{\"cmd\":\"start\",\"version\":2}\n{\"cmd\":\"start\",\"version\":1}\n");
    let why = "start: found version 2 of the protocol, expected version 1";
    assert_eq!(ended, Err(why.into()));
    assert_eq!(answers, [json!({ "version": 1, "errored": { "message": why } })]);
    assert_eq!(served("{\"cmd\":\"stop\"}").0, Ok(()), "half a line is a line");

    let values = format!("{{\"cmd\":\"run\",\"seq\":1,\"request\":[{}1]}}", "1,".repeat(3 << 20));
    let error = &served(&values).1[0]["errored"]["message"];
    assert_eq!(error, "found a line of more than 2098176 values, expected one of at most that");
    let lists = format!("{{\"cmd\":\"run\",\"seq\":1,\"request\":[{}1]}}", "{\"\":[0]},".repeat(1 << 16));
    let error = &served(&lists).1[0]["errored"]["message"];
    assert_eq!(error, "found a line of more than 65536 lists and objects, expected one of at most that");

    let mut bytes: &[u8] = b"\xff\xfe\n\0\n";
    let reference = builtin("reference").expect("built in");
    assert_eq!(serve(reference.as_ref(), &mut bytes, &mut std::io::sink()), Ok(()));
}

#[test]
fn every_message_matches_the_schema() {
    let parsed = |text| serde_json::from_str::<Value>(text).expect("JSON");
    let schema = parsed(include_str!("../../../spec/schema/protocol.schema.json"));
    let request = parsed(include_str!("../../../spec/schema/request.schema.json"));
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    let id = |schema: &Value| schema["$id"].as_str().expect("an id").to_owned();
    let registry = jsonschema::Registry::new()
        .add(id(&schema), &schema)
        .and_then(|registry| registry.add(id(&request), &request))
        .and_then(jsonschema::RegistryBuilder::prepare)
        .expect("two schemas");
    let of = |part: &str| {
        let part = json!({ "$ref": format!("{}#/$defs/{part}", id(&schema)) });
        jsonschema::options().with_registry(&registry).build(&part).expect("a schema")
    };
    let (sent, answered) = (of("sent"), of("answered"));

    let mut lines = vec![json!({ "cmd": "start", "version": 1 })];
    lines.extend(SUITE.cases.iter().enumerate().map(|(place, case)| {
        json!({ "cmd": "run", "seq": place + 1, "request": json::request_to_value(&case.request), "new": 1 })
    }));
    let first = lines.len();
    lines.extend(SUITE.inferences.iter().enumerate().map(|(place, case)| {
        let request = json::signature_to_value(&case.request);
        json!({ "cmd": "run", "seq": first + place, "request": request, "new": 1 })
    }));
    lines.push(json!({ "cmd": "stop" }));
    let valid = |validator: &jsonschema::Validator, message: &Value| {
        if let Err(error) = validator.validate(message) {
            panic!("{error} in {message}");
        }
    };
    lines.iter().for_each(|line| valid(&sent, line));
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let (_, answers) = served(&text.join("\n"));
    assert_eq!(answers.len(), SUITE.number_of_cases() + 1);
    answers.iter().for_each(|answer| valid(&answered, answer));

    for text in [
        r#"{"cmd":"start"}"#,
        r#"{"cmd":"start","version":2}"#,
        r#"{"cmd":"run","seq":0,"request":{}}"#,
        r#"{"cmd":"run","seq":1,"request":{"rules":"numpi","operands":[]}}"#,
        r#"{"cmd":"go"}"#,
    ] {
        assert!(!sent.is_valid(&parsed(text)), "{text}");
    }
    for text in [
        r#"{"seq":1}"#,
        r#"{"seq":0,"skipped":{}}"#,
        r#"{"result":{"dtype":"f64","shape":[],"values":[1]}}"#,
        r#"{"seq":1,"skipped":{},"errored":{}}"#,
        r#"{"seq":1,"refusal":{"kind":"bad"}}"#,
        r#"{"seq":1,"result":{"dtype":"f64","shape":[-1],"values":[]}}"#,
        r#"{"seq":1,"result":{"dtype":"f64","shape":[1],"values":["NaN"]}}"#,
        r#"{"version":1,"implementation":{"name":"x","version":"1"}}"#,
        r#"{"version":1,"implementation":{"name":"","version":"1","rules":[],"operations":[],"functions":[],"dtypes":[]}}"#,
    ] {
        assert!(!answered.is_valid(&parsed(text)), "{text}");
    }
    // The examples of the page are valid too.
    for line in include_str!("../../PROTOCOL.md").lines() {
        if let Some(text) = line.strip_prefix("-> ") {
            valid(&sent, &parsed(text));
        } else if let Some(text) = line.strip_prefix("<- ") {
            valid(&answered, &parsed(text));
        }
    }
}

/// Writes the program of PROTOCOL.md to a file.
fn page_program(directory: &Path) -> PathBuf {
    let page = include_str!("../../PROTOCOL.md");
    let (_, rest) = page.split_once("```python\n").expect("a program");
    let (program, _) = rest.split_once("```").expect("its end");
    let file = directory.join("harness.py");
    std::fs::write(&file, program).expect("written");
    file
}

#[test]
fn the_program_on_the_page_works() {
    if !python() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let command = format!("python3 '{}'", page_program(directory.path()).display());
    let text = ends(0, &["smoke", "--impl", &command]);
    assert_parts(&text, &["plain-python 3.", "ok        minus zero", "ok        truth values", "0 failed"]);
    let text = ends(0, &["check", "--impl", &command, "--rules", "none"]);
    // It declares a few functions and two dtypes.
    assert_parts(&text, &["plain-python 3.", "ok, but little was asked: ", "asked        none: "]);
}

#[test]
fn smoke_sends_signatures_to_a_harness_that_infers() {
    let text = ends(0, &["smoke", "--impl", &format!("'{PROGRAM}' serve --impl fast")]);
    assert_parts(
        &text,
        &[
            "unknown     length bound interval rank",
            "infer from known lengths",
            "infer that every run is refused",
            "infer from an unknown length",
            "infer from a length with an upper bound",
            "infer from a length with a lower bound",
            "infer from an unknown rank",
        ],
    );
    if !python() {
        return;
    }
    let infers = |mode: &str| bad("infers.py", Some(Path::new(mode)));
    let text = ends(0, &["smoke", "--impl", &infers("wider")]);
    assert_parts(&text, &["wider than exact: ", "add bound, interval, rank to `unknown`"]);
    let text = ends(1, &["smoke", "--impl", &infers("narrow")]);
    assert_parts(&text, &["unsound: expected ", "\"unknown\":[]"]);
    let text = ends(1, &["smoke", "--impl", &infers("refuses")]);
    assert_parts(&text, &["infer from an unknown length", "\"unknown\":[]"]);
}

#[test]
fn smoke_reports_what_is_wrong() {
    let text = ends(1, &["smoke", "--impl", &bad("good.sh", None)]);
    assert_parts(
        &text,
        &["WRONG     a scalar", "\"shape\":[]", "hint      rank 0 is", "left out  minus zero"],
    );
    let text = ends(2, &["smoke", "--impl", &bad("dies_at_start.sh", None)]);
    assert_parts(
        &text,
        &["WRONG     it answers `start`", "exit status 7", "a module is missing", "cannot start"],
    );
    let text = ends(2, &["smoke", "--impl", "no-such-program"]);
    assert_parts(&text, &["WRONG     it starts", "No such file"]);
    assert_parts(&ends(2, &["smoke", "--impl", "sh '"]), &["missing closing quote"]);
    let text = ends(1, &["smoke", "--impl", &bad("chatters_after_stop.sh", None)]);
    assert_parts(&text, &["WRONG     it ends after `stop`", "found     the line `goodbye`"]);
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn smoke_reports_a_harness_that_ignores_stop() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = ends(1, &["smoke", "--impl", &bad("ignores_stop.sh", Some(&directory.path().join("id")))]);
    assert_parts(&text, &["WRONG     it ends after `stop`", "the process still runs 2 s after `stop`"]);
}

#[test]
fn smoke_shows_advice_apart_from_failures() {
    if !python() {
        return;
    }
    let text = ends(0, &["smoke", "--impl", &bad("limited.py", None)]);
    assert_parts(
        &text,
        &[
            "advice    conventions that are not declared",
            "add \"conventions\":[\"refusal-order\"] to the answer to `start`",
            "differs from the convention `separate-dtypes`, which it does not declare",
            "0 failed",
            " with advice",
        ],
    );
    let text = ends(1, &["smoke", "--impl", &bad("limited.py", Some(Path::new("ranks")))]);
    assert_parts(
        &text,
        &["WRONG     operands of different ranks", "errored: unsupported: ranks", "\"equal_ranks\":true"],
    );
}

#[test]
fn smoke_distinguishes_a_greeting_from_an_answer() {
    let text = ends(2, &["smoke", "--impl", &bad("greets.sh", None)]);
    assert_parts(&text, &["WRONG     it answers `start`", "the line: `bad 1.0, at your service`"]);
    assert_parts(
        &text,
        &["something else was printed before the answer", "print everything else to standard error"],
    );
    assert!(!text.contains("flush stdout"), "{text}");
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn smoke_finds_a_buffer_that_is_not_flushed() {
    if !python() {
        return;
    }
    // The answer to `start` stays in a buffer, so the test waits for the time limit of `start`.
    let command = bad("never_flushes.py", None);
    let began = Instant::now();
    let options = Options { start_limit: Duration::from_millis(1500), ..Options::default() };
    let mut hints = Vec::new();
    let ending = broadcheck_harness::smoke::smoke(&command, &options, &mut |step| {
        if let broadcheck_harness::smoke::Found::Wrong(wrong) = &step.found {
            hints.push(wrong.hint.clone());
        }
    });
    assert_eq!(ending, Ok(broadcheck_harness::smoke::Ending::NotStarted));
    assert_eq!(hints.len(), 1);
    assert_parts(&hints[0], &["came only when stdin was closed: flush stdout after every line"]);
    assert!(began.elapsed() < Duration::from_secs(8));
}

#[test]
fn check_judges_a_command_and_goes_on_after_a_crash() {
    let directory = tempfile::tempdir().expect("a directory");
    let cases = cases(directory.path());
    let check = |status, name: &str, more: &[&str]| {
        let command = bad(name, None);
        ends(status, &[&["check", "--cases", &cases, "--impl", &command], more].concat())
    };
    assert_parts(&check(0, "good.sh", &[]), &["bad 1.0", "12 passed"]);
    assert_parts(&check(1, "wrong.sh", &[]), &["12 failed", "wrong values", "numpy/mine/sum-12"]);
    // Under numpy there is no intermediate, and there are no flags.
    let text = check(1, "reports_more.sh", &[]);
    assert_parts(&text, &["10 passed", "2 failed", "wrong intermediate or flags"]);
    assert_parts(
        &text,
        &["intermediate: found one of shape (1), expected none: only `elementwise` under `xla`"],
    );
    assert_parts(
        &text,
        &["broadcastable: found [true], expected none: only `elementwise` under `theano` has flags"],
    );
    let text = check(1, "exits.sh", &[]);
    assert_parts(
        &text,
        &["11 passed", "1 errored", "numpy/mine/sum-5", "ended with exit status 3", "gave up"],
    );
    let rerun = "exits.sh'\\'''  --filter numpy/mine/sum-5".replace("  ", " ");
    assert_parts(&text, &[&rerun]);
    assert_parts(&check(1, "hangs.sh", &["--timeout", "1s"]), &["11 passed", "no answer within 1 s"]);
    assert_parts(&check(1, "lies.sh", &[]), &["11 passed", "skipped although declared: no i32 after all"]);
    assert_parts(
        &check(2, "other_version.sh", &[]),
        &["speaks version 2 of the protocol, expected version 1"],
    );
    assert_parts(&check(2, "good.sh", &["--timeout", "10"]), &["expected a time from 1ms to 24h"]);
}

/// `check` while a case hangs, and the process id of the harness.
fn hanging(directory: &Path) -> (Child, String) {
    let (cases, file) = (cases(directory), directory.join("id"));
    let command = bad("stubborn.sh", Some(&file));
    let child = broadcheck(&["check", "--cases", &cases, "--impl", &command, "--timeout", "60s"]).spawn();
    let began = Instant::now();
    loop {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        if let Some((id, "hangs\n")) = text.split_once('\n') {
            // Time to read the answers to the cases before it.
            std::thread::sleep(Duration::from_millis(100));
            return (child.expect("the program starts"), id.to_owned());
        }
        assert!(began.elapsed() < Duration::from_secs(20), "no process came to the case");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Expects a process to end. A zombie has ended.
#[track_caller]
fn assert_ends(id: &str) {
    let began = Instant::now();
    loop {
        let output = Command::new("ps").args(["-o", "stat=", "-p", id]).output().expect("ps runs");
        let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if state.is_empty() || state.starts_with('Z') {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(5), "the process {id} still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn signal(name: &str, child: &Child) {
    let sent = Command::new("kill").args(["-s", name, &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

#[test]
fn an_interrupt_ends_the_run_with_the_report_so_far() {
    let directory = tempfile::tempdir().expect("a directory");
    let (child, id) = hanging(directory.path());
    let began = Instant::now();
    signal("INT", &child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let text = text(&output);
    assert_parts(&text, &["4 passed"]);
    assert!(!text.contains("errored"), "{text}");
    assert_ends(&id);
}

#[test]
fn no_process_outlives_a_killed_command() {
    let directory = tempfile::tempdir().expect("a directory");
    let (mut child, id) = hanging(directory.path());
    signal("KILL", &child);
    child.wait().expect("it ends");
    assert_ends(&id);
}

/// Not even a daemon, in its own session, without standard files and with another environment.
#[cfg(target_os = "linux")]
#[test]
fn no_daemon_outlives_the_run() {
    if !python() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("ids");
    let harness = bad("daemons.py", Some(&file));
    let text = ends(1, &["check", "--cases", &cases(directory.path()), "--impl", &harness]);
    assert_parts(&text, &["11 passed", "1 errored", "ended with exit status 3"]);
    let ids = std::fs::read_to_string(&file).expect("the daemons' ids");
    assert!(ids.lines().count() >= 4, "two for each process: {ids}");
    for id in ids.lines() {
        assert!(!Path::new("/proc").join(id).exists(), "the daemon {id} still runs");
    }
}

#[test]
fn an_interrupt_while_a_harness_starts_leaves_a_report() {
    let directory = tempfile::tempdir().expect("a directory");
    let (started, report) = (directory.path().join("started"), directory.path().join("report.json"));
    let harness = format!("sh -c 'echo > {}; sleep 100'", started.display());
    let arguments =
        ["check", "--impl", &harness, "--format", "json", "--out", report.to_str().expect("UTF-8")];
    let child = broadcheck(&arguments).spawn().expect("the program starts");
    let began = Instant::now();
    while !started.exists() {
        assert!(began.elapsed() < Duration::from_secs(20), "the harness does not start");
        std::thread::sleep(Duration::from_millis(5));
    }
    signal("TERM", &child);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output));
    let report: Value = serde_json::from_slice(&std::fs::read(report).expect("a report")).expect("JSON");
    assert_eq!((&report["interrupted"], &report["implementations"]), (&json!(true), &json!([])));
}
