//! `broadcheck history` with a system of several releases: the script that installs them is a program that
//! makes the reference answer, except that some releases get some requests wrong.
#![cfg(unix)]

use broadcheck_cli::history::History;
use broadcheck_cli::history::table::markdown;
use jsonschema::Validator;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_broadcheck");

/// Ten releases. `1.5` cannot be installed and `1.6` does not start. From `1.3` on, a refusal that names no
/// axis is answered for additions, and from `1.7` on no more. Each installation adds a line to `installed`.
const SCRIPT: &str = r##"#!/usr/bin/env python3
import json, os, pathlib, sys
HERE = pathlib.Path(__file__).parent
words, work = sys.argv[1:-1], pathlib.Path(sys.argv[-1])
if os.environ.get("NO_INDEX") == words[0]:
    print("the package index does not answer", file=sys.stderr)
    sys.exit(3)
if words[0] == "list":
    print(json.dumps([{"version": "1.%d" % minor, "date": "2020-01-0%d" % (minor + 1)} for minor in range(9)]))
    sys.exit()
version = words[2]
minor = int(version[2:])
with open(HERE / "installed", "a") as log:
    log.write(version + "\n")
if minor == 5:
    print("WARNING: many words\nno wheel for %s/release" % work, file=sys.stderr)
    sys.exit(1)
program = HERE / "system.py"
wrong = "yes" if 3 <= minor < 7 else "no"
command = ["false"] if minor == 6 else [sys.executable, str(program), version, wrong]
print(json.dumps({"command": command, "python": "3.11", "beside": ["numpy 2.0"]}))
"##;

/// Passes every line on to the reference, and spoils the answers to additions of f64 if told to.
const SYSTEM: &str = r##"
import json, subprocess, sys
version, wrong = sys.argv[1:3]
inner = subprocess.Popen([PROGRAM, "serve", "--impl", "reference"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for line in sys.stdin:
    inner.stdin.write(line)
    inner.stdin.flush()
    asked = json.loads(line)
    if asked["cmd"] == "stop":
        break
    answer = json.loads(inner.stdout.readline())
    if asked["cmd"] == "start":
        # Few cases: those of one rule set.
        answer["implementation"].update(name="mine", version=version, window=1, rules=["none"])
    elif wrong == "yes" and asked["request"].get("expression", [""])[0] == "add" and "shape" in answer.get("result", {}):
        answer["result"]["shape"] = ["7", *answer["result"]["shape"]]
        answer["result"]["values"] = answer["result"]["values"] * 7
    print(json.dumps(answer), flush=True)
"##;

/// A checkout with one adapter, `mine`.
struct Fixture {
    root: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        let fixture = Fixture { root: tempfile::tempdir().unwrap() };
        for directory in ["adapters", "history", "temporary"] {
            fs::create_dir(fixture.path(directory)).unwrap();
        }
        for file in ["protocol.py", "mine_adapter.py"] {
            fs::write(fixture.path("adapters").join(file), "").unwrap();
        }
        fs::write(fixture.path("adapters/requirements-mine.txt"), "# python: 3.11\nmine==1.8\n").unwrap();
        fs::write(fixture.path("adapters/releases.py"), SCRIPT).unwrap();
        let system = SYSTEM.replace("PROGRAM", &format!("{PROGRAM:?}"));
        fs::write(fixture.path("adapters/system.py"), system).unwrap();
        fixture
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.path().join(file)
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command.arg("history").args(args).stdin(Stdio::null());
        command.env("BROADCHECK_ADAPTERS", self.path("adapters")).env("TMPDIR", self.path("temporary"));
        command.current_dir(self.root.path());
        command
    }

    /// Exit status, standard output, standard error.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        ended(self.command(args))
    }

    fn judge(&self, args: &[&str]) -> (i32, String, String) {
        self.run(&[&["mine", "--sample-sweeps", "1", "--jobs", "1"], args].concat())
    }

    fn history(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path("history/mine.json")).unwrap()).unwrap()
    }

    /// The releases that were installed, in their order.
    fn installed(&self) -> String {
        let text = fs::read_to_string(self.path("adapters/installed")).unwrap_or_default();
        text.lines().collect::<Vec<_>>().join(" ")
    }
}

fn ended(mut command: Command) -> (i32, String, String) {
    let output = command.output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal ended it"), text(output.stdout), text(output.stderr))
}

fn versions(history: &Value, list: &str) -> String {
    let versions =
        history[list].as_array().unwrap().iter().map(|release| release["version"].as_str().unwrap());
    versions.collect::<Vec<_>>().join(" ")
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn a_change_is_bisected_to_its_first_release_and_nothing_runs_twice() {
    let fixture = Fixture::new();
    let (status, out, err) = fixture.judge(&["--versions", "1.0,1.8"]);
    assert_eq!((status, fixture.installed().as_str()), (0, "1.0 1.8"), "{out}{err}");
    assert!(!out.contains("newly wrong:"), "both releases are right: {out}");

    // 1.4 is wrong: two changes, between which 1.5 and 1.6 cannot be judged.
    let (status, out, err) = fixture.judge(&["--versions", "1.4", "--bisect"]);
    assert_eq!((status, fixture.installed().as_str()), (1, "1.0 1.8 1.4 1.2 1.3 1.6 1.7 1.5"), "{out}{err}");
    let history = fixture.history();
    assert_eq!(versions(&history, "versions"), "1.0 1.2 1.3 1.4 1.7 1.8");
    assert_eq!(versions(&history, "unable"), "1.5 1.6");
    assert_eq!(
        history["unable"][0]["reason"], "no wheel for /release",
        "without the place of the environment"
    );
    assert!(out.contains("\n1.3\n  newly wrong: "), "{out}");
    assert!(out.contains("\nafter 1.4, by 1.7 (what is between cannot be judged)\n  fixed: "), "{out}");
    assert!(err.contains("mine 1.5: not judged: no wheel for /release"), "{err}");

    // Everything is in the file: nothing is installed, and the table is the same without any run.
    let again = fixture.judge(&["--versions", "1.0,1.3..1.4,1.8", "--bisect"]);
    assert_eq!((again.0, again.1.as_str(), fixture.installed().len()), (0, out.as_str(), 31), "{}", again.2);
    let mut printed = fixture.command(&["mine"]);
    printed.env("NO_INDEX", "list");
    assert_eq!(ended(printed), (0, out, String::new()));
    let left = fs::read_dir(fixture.path("temporary")).unwrap().count();
    assert_eq!(left, 0, "every environment was deleted");
    is_valid(&history);
}

#[test]
fn the_histories_of_the_repository_are_valid() {
    for history in History::shipped() {
        is_valid(&serde_json::from_str(&history.text()).unwrap());
    }
}

/// The schema accepts the file.
fn is_valid(history: &Value) {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/history.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator: Validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(history).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn a_release_that_was_asked_an_earlier_suite_is_asked_the_new_cases_only() {
    let fixture = Fixture::new();
    fixture.judge(&["--versions", "1.3"]);
    let whole = fixture.history();
    // As an earlier suite would have left it: without the last 100 cases, and with passes that no run gives.
    let mut earlier = whole.clone();
    let count = whole["cases"].as_array().unwrap().len();
    earlier["cases"].as_array_mut().unwrap().truncate(count - 100);
    earlier["versions"][0]["outcomes"] = format!("{}p", count - 100).into();
    earlier["versions"][0]["failures"] = Value::Object(serde_json::Map::new());
    earlier["versions"][0]["suite"]["ids"] = "earlier".into();
    fs::write(fixture.path("history/mine.json"), earlier.to_string()).unwrap();
    let (status, out, err) =
        fixture.run(&["mine", "--sample-sweeps", "2", "--jobs", "1", "--versions", "1.3"]);
    assert_eq!((status, fixture.installed().as_str()), (0, "1.3 1.3"), "{out}{err}");
    let grown = fixture.history();
    assert_eq!(grown["versions"][0]["sweep_sample"], 1, "of the sweeps that were asked before");
    let ids = |history: &Value| -> std::collections::BTreeSet<String> {
        history["cases"].as_array().unwrap().iter().map(|id| id.as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&grown), ids(&whole));
    assert_eq!(grown["versions"][0]["suite"], whole["versions"][0]["suite"]);
    let outcomes = grown["versions"][0]["outcomes"].as_str().unwrap();
    let digits: String = outcomes.chars().take_while(char::is_ascii_digit).collect();
    let kept: usize = digits.parse().unwrap();
    assert!(
        outcomes[digits.len()..].starts_with('p') && kept >= count - 100,
        "the earlier answers stay: {outcomes}"
    );
    let failed = |history: &Value| history["versions"][0]["counts"]["failed"].as_u64().unwrap();
    assert!(failed(&grown) < failed(&whole), "{outcomes}");
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn what_another_run_adds_meanwhile_is_kept() {
    let other = Fixture::new();
    other.judge(&["--versions", "1.4"]);
    let fixture = Fixture::new();
    let arguments = ["mine", "--sample-sweeps", "1", "--jobs", "2", "--versions", "1.2,1.5"];
    let mut slow = fixture.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while fixture.installed().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // It has read the file, which was not there, and judges its first release.
    fs::copy(other.path("history/mine.json"), fixture.path("history/mine.json")).unwrap();
    assert_eq!(slow.wait().unwrap().code(), Some(1), "1.5 cannot be installed");
    let history = fixture.history();
    let versions = |list: &str| -> Vec<String> {
        let all = history[list].as_array().unwrap();
        all.iter().map(|one| one["version"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        (versions("versions"), versions("unable")),
        (vec!["1.2".into(), "1.4".into()], vec!["1.5".into()])
    );
    let read = History::load(&fixture.path("history/mine.json")).unwrap();
    let failed =
        |version: &str| read.versions.iter().find(|one| one.version == version).unwrap().counts.failed;
    assert!(failed("1.2") == 0 && failed("1.4") > 0);
}

/// What rewrites the tables of HISTORY.md.
const COMMAND: &str = "BROADCHECK_BLESS=1 cargo test -p broadcheck-cli --test history";

#[test]
fn the_tables_of_the_page_are_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../HISTORY.md");
    let page = fs::read_to_string(&path).unwrap();
    let generated = "<!-- Generated from history/*.json; do not edit below this line. To rewrite: ";
    let (header, _) = page.split_once(generated).expect("the line after which the page is generated");
    let mut expected = format!("{header}{generated}{COMMAND} -->\n");
    for history in History::shipped() {
        let (system, table) = (&history.system, markdown(&history));
        expected += &format!("\n## {system}\n\n{table}");
    }
    if std::env::var_os("BROADCHECK_BLESS").is_some() {
        fs::write(&path, expected).unwrap();
    } else {
        assert!(page == expected, "HISTORY.md is out of date; run `{COMMAND}`");
    }
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn an_interrupt_keeps_what_was_finished() {
    let fixture = Fixture::new();
    fixture.judge(&["--versions", "1.0"]);
    let before = fs::read(fixture.path("history/mine.json")).unwrap();
    let mut running = fixture.command(&["mine", "--versions", "1.1"]);
    let mut child = running.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !fixture.installed().contains("1.1") {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(fs::read(fixture.path("history/mine.json")).unwrap() == before);
    assert_eq!(fs::read_dir(fixture.path("temporary")).unwrap().count(), 0);
}

#[test]
fn other_files_are_refused_and_left_as_they_are() {
    let fixture = Fixture::new();
    let file = fixture.path("history/mine.json");
    let cut = r#"{"system": "mine", "versions": [{"version": "1.0", "counts": {"pas"#;
    for (text, expected) in [
        ("", "found text that is not JSON (EOF while parsing a value"),
        (cut, "found text that is not JSON (EOF while parsing a string"),
        ("no history", "found text that is not JSON (expected ident"),
        (
            r#"{"system": "theirs", "versions": [], "unable": [{"version": "1", "reason": ""}]}"#,
            "found the history of theirs, expected that of mine",
        ),
        (
            r#"{"system": "mine", "versions": [{"version": "1", "counts": {"passed": 1, "failed": 0}, "outcomes": "9999999999p"}]}"#,
            "found `9999999999` in `outcomes`, expected 1 or more, and at most 16384 in all",
        ),
    ] {
        fs::write(&file, text).unwrap();
        for args in [&["mine"][..], &["mine", "--versions", "1.0"]] {
            let (status, out, err) = fixture.run(args);
            assert_eq!((status, out.as_str()), (2, ""), "{text}: {err}");
            assert!(err.contains("mine.json: found ") && err.contains(expected), "{err}");
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    assert_eq!(fixture.installed(), "");
}

#[test]
fn wrong_arguments_say_what_is_expected() {
    let fixture = Fixture::new();
    for (args, expected) in [
        (&["mine"][..], "mine.json: found no history of mine, expected --versions LIST"),
        (&["theirs", "--versions", "1"], "found no adapter `theirs`, expected one of mine"),
        (&["../mine", "--versions", "1"], "found the system `../mine`, expected the name of an adapter"),
        (&["mine", "--versions", "2.0"], "--versions 2.0: found no such release, expected a release of the"),
        (&["mine", "--versions", "1", "--file", "adapters/protocol.py"], "found text that is not JSON"),
    ] {
        let (status, out, err) = fixture.run(args);
        assert_eq!((status, out.as_str()), (2, ""), "{args:?}: {err}");
        assert!(err.contains(expected), "{args:?}: {err}");
    }
}

#[test]
fn an_index_that_does_not_answer_is_a_failure() {
    let fixture = Fixture::new();
    for word in ["list", "install"] {
        let mut command = fixture.command(&["mine", "--versions", "1.0,1.1"]);
        command.env("NO_INDEX", word);
        let (status, out, err) = ended(command);
        assert_eq!((status, out.as_str(), fixture.installed().as_str()), (1, "", ""), "{err}");
        assert_eq!(err.matches("the package index does not answer").count(), 1, "{err}");
        assert!(!fixture.path("history/mine.json").exists());
    }
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn failures_of_a_file_without_outcomes_are_those_of_the_run() {
    let fixture = Fixture::new();
    fixture.judge(&["--versions", "1.0"]);
    let mut failures = fixture.history();
    let id = failures["cases"][0].as_str().unwrap().to_owned();
    failures["versions"][0]["failures"] = serde_json::json!({ id: "an earlier run" });
    for field in ["outcomes", "suite"] {
        failures["versions"][0].as_object_mut().unwrap().remove(field);
    }
    fs::write(fixture.path("history/mine.json"), failures.to_string()).unwrap();
    let (status, out, err) = fixture.judge(&["--versions", "1.0"]);
    assert_eq!(
        (status, &fixture.history()["versions"][0]["failures"]),
        (0, &serde_json::json!({})),
        "{out}{err}"
    );
}
