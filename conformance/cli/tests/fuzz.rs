//! `broadcheck fuzz` and `broadcheck reproduce` as processes.

use broadcheck_search::fuzzing::drawn;
use broadcheck_search::generate::{Profile, encode};
use broadcheck_spec::load_str;
use serde_json::Value;
#[cfg(unix)]
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn broadcheck(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadcheck"));
    command.args(args).env_remove("CARGO").env_remove("CARGO_MANIFEST_DIR").stdin(Stdio::null());
    command.output().expect("the program starts")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// The output without the line that contains times.
fn timeless(output: &Output) -> String {
    let text = text(output);
    text.lines().filter(|line| !line.contains(" per second")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_run_without_disagreements_succeeds() {
    let args = [
        "fuzz",
        "--right",
        "ndarray",
        "--rules",
        "numpy",
        "--requests",
        "600",
        "--jobs",
        "1",
        "--statistics",
    ];
    let output = broadcheck(&args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let text = text(&output);
    let head = concat!("ndarray 0.17.2 against reference ", env!("CARGO_PKG_VERSION"), ", seed 0");
    assert!(text.contains(head), "{text}");
    assert!(text.contains("\nok: 600 requests in "), "{text}");
    assert_eq!(timeless(&output), timeless(&broadcheck(&args)));
}

#[test]
fn operands_are_given_in_other_ways() {
    let args = ["fuzz", "--requests", "300", "--jobs", "1", "--given", "all"];
    let output = broadcheck(&args);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(timeless(&output), timeless(&broadcheck(&args)));
    // More is asked after the requests: each is followed by others of other shapes.
    let neighbours = |output: &Output| -> u64 {
        let text = text(output);
        let after = text.split(" neighbours").next().unwrap_or_default().to_owned();
        let digits: Vec<&str> = after.split_whitespace().filter(|word| word.parse::<u64>().is_ok()).collect();
        digits.last().and_then(|count| count.parse().ok()).unwrap_or(0)
    };
    let plain = broadcheck(&["fuzz", "--requests", "300", "--jobs", "1"]);
    assert!(neighbours(&output) > 4 * neighbours(&plain), "{} {}", text(&output), text(&plain));
}

#[test]
fn a_side_is_compared_with_itself() {
    let only = ["fuzz", "--requests", "300", "--jobs", "1", "--rewrites", "only"];
    let output = broadcheck(&only);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(timeless(&output), timeless(&broadcheck(&only)));
    let rewritten = |when: &str| -> u64 {
        let args = ["fuzz", "--requests", "300", "--jobs", "1", "--format", "json", "--rewrites", when];
        let report: Value = serde_json::from_slice(&broadcheck(&args).stdout).unwrap();
        report["counts"]["rewritten"].as_u64().unwrap()
    };
    let [never, some, only] = ["never", "some", "only"].map(rewritten);
    assert!(never == 0 && (20..=38).contains(&some) && only > 250, "{never}, {some}, {only}");
}

#[test]
fn invalid_command_lines_are_rejected() {
    for (args, said) in [
        (&["fuzz", "--impl", "ndarray", "--rules", "xla"][..], "no combination that both sides declare"),
        (&["fuzz", "--without", "sleep"], "expected unused, corners, views, or a kind of refusal: rank_m"),
        (&["fuzz", "--given", "twice"], "expected all, or some of constants, values, same, again"),
        (&["fuzz", "--operation", "multiply"], "expected one of elementwise, broadcast, gradient, infer"),
        (&["fuzz", "--right", "ndarray", "--operation", "infer"], "no rule set under which both sides infer"),
        (&["fuzz", "--resume", "x", "--exact"], "cannot be used with"),
        (&["fuzz", "--resume", "x", "--rewrites", "only"], "cannot be used with"),
        (&["fuzz", "--rewrites", "always"], "[possible values: never, some, only]"),
        (&["fuzz", "--rewrites", "only", "--operation", "infer"], "expected elementwise or gradient"),
        (&["fuzz", "--left", "no-such-program-here"], "--left no-such-program-here"),
        (&["reproduce", "nothing", "x"], "found no such fuzz target, expected one of"),
        (&["reproduce", "differential", "no/such/file"], "no/such/file"),
    ] {
        let output = broadcheck(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output));
        assert!(text(&output).contains(said), "{args:?}: {}", text(&output));
    }
}

/// Signatures are mixed in, or asked alone; both are counted.
#[test]
fn signatures_are_asked_and_counted() {
    let asked = |operation: &str| {
        let options = ["--operation", operation, "--requests", "160", "--jobs", "1", "--format", "json"];
        let output = broadcheck(&[&["fuzz"][..], &options].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        fitting(&output)["counts"].clone()
    };
    let count = |counts: &Value, name: &str| counts[name].as_u64().unwrap();
    let alone = asked("infer");
    assert_eq!((count(&alone, "requests"), count(&alone["inferred"], "signatures")), (0, 160));
    let shares = ["always", "depends", "refused"].map(|name| count(&alone["inferred"], name));
    assert!(shares.iter().all(|&share| share > 8) && shares.iter().sum::<u64>() == 160, "{shares:?}");
    let mixed = asked("broadcast,infer");
    assert_eq!((count(&mixed, "requests"), count(&mixed["inferred"], "signatures")), (160, 20));
    assert!(count(&mixed, "declared") > 0);
    let without = asked("elementwise");
    assert_eq!(count(&without["inferred"], "signatures"), 0);
}

/// A harness whose inferences are wrong is found, and each finding is a case that fails like it.
#[test]
#[cfg(unix)]
fn wrong_inferences_of_a_process_are_written_as_cases() {
    let Some(harness) = harness("infers_wrongly.py") else { return };
    let root = tempfile::tempdir().unwrap();
    let out = root.path().join("findings");
    let directory = out.to_str().unwrap();
    let options = ["--operation", "infer", "--requests", "150", "--jobs", "1", "--out", directory];
    let output = broadcheck(&[&["fuzz", "--right", &harness, "--right-name", "mine"][..], &options].concat());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let said = text(&output);
    assert!(said.contains("infer-mine: accepts too much"), "{said}");
    assert!(said.contains("no smaller signature shows this"), "{said}");
    assert!(files(&out)["findings.txt"].contains(": signature "), "{said}");
    let validated = broadcheck(&["validate", directory]);
    assert_eq!(validated.status.code(), Some(0), "{}", text(&validated));
    let checked = broadcheck(&["check", "--cases", directory, "--impl", &harness]);
    assert_eq!(checked.status.code(), Some(1), "{}", text(&checked));
    let passed = text(&checked);
    assert!(passed.contains(" 0 passed") || !passed.contains(" passed"), "each case fails: {passed}");
    // The whole run can be continued, and finds nothing else.
    let resumed = broadcheck(&["fuzz", "--resume", directory, "--right", &harness]);
    assert_eq!(timeless(&resumed).matches("DISAGREEMENT").count(), said.matches("DISAGREEMENT").count());
}

#[test]
fn an_artifact_that_draws_a_signature_succeeds() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("crash-1");
    std::fs::write(&path, [7, 200, 31, 5, 90, 18, 66, 3, 250, 41, 77, 12, 160, 9]).unwrap();
    let output = broadcheck(&["reproduce", "infer", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("ok: "), "{}", text(&output));
}

#[test]
fn an_artifact_without_a_disagreement_succeeds() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("crash-1");
    std::fs::write(&path, encode(&drawn(1, 3, &Profile::all().with_large(0)))).unwrap();
    let output = broadcheck(&["reproduce", "differential", path.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(text(&output).contains("ok: "), "{}", text(&output));
}

/// The command of a harness, with a token on its command line; `None` without Python.
#[cfg(unix)]
fn harness(name: &str) -> Option<String> {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("LEFT OUT: there is no python3");
        assert!(std::env::var_os("CI").is_none(), "python3 is needed in CI");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/bad_harnesses").join(name);
    Some(format!("python3 '{}' --token={TOKEN}", script.display()))
}

#[cfg(unix)]
const TOKEN: &str = "s3cret-t0ken";

/// The names and contents of the files of a directory.
#[cfg(unix)]
fn files(directory: &Path) -> BTreeMap<String, String> {
    let paths = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(&path).unwrap())
    };
    paths.map(named).collect()
}

/// A run that is killed leaves whole files, and `--resume` finds what an uninterrupted run finds.
#[test]
#[cfg(unix)]
fn a_killed_run_is_continued() {
    let Some(harness) = harness("maximum.py") else { return };
    let root = tempfile::tempdir().unwrap();
    let out = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    let (whole, killed) = (out("whole"), out("killed"));
    let args = |out: &str| -> Vec<String> {
        let limits = ["--requests", "300", "--jobs", "1", "--timeout", "5s"];
        let args = [&["fuzz", "--right", &harness, "--out", out][..], &limits[..]].concat();
        args.into_iter().map(String::from).collect()
    };
    let broadcheck_owned = |args: &[String]| broadcheck(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let mut child = Command::new(env!("CARGO_BIN_EXE_broadcheck"))
        .args(args(&killed))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Killed as soon as a disagreement and the first state are on disk.
    let found = || {
        let entries = std::fs::read_dir(&killed).into_iter().flatten().flatten();
        let paths: Vec<std::path::PathBuf> = entries.map(|entry| entry.path()).collect();
        ["yaml", "state"]
            .iter()
            .all(|&end| paths.iter().any(|path| path.extension().is_some_and(|one| one == end)))
    };
    while !found() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(files(Path::new(&killed)).contains_key("fuzz.state"));

    // The command is shown, and has to be given again.
    let output = broadcheck(&["fuzz", "--resume", &killed]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    let said = text(&output);
    assert!(
        said.contains("fuzz.state: found a run with the command python3 ") && said.contains(TOKEN),
        "{said}"
    );
    let output = broadcheck_owned(&args(&killed));
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("found a run that has not finished"), "{}", text(&output));
    let output = broadcheck(&["fuzz", "--resume", &killed, "--right", "ndarray"]);
    assert!(text(&output).contains("expected ndarray, as on the command line"), "{}", text(&output));

    let output = broadcheck(&["fuzz", "--resume", &killed, "--right", &harness]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let said = text(&output);
    assert!(said.contains(": 300 requests in ") && said.contains("\n  written: "), "{said}");
    assert_eq!(broadcheck_owned(&args(&whole)).status.code(), Some(1));
    // A kill may leave a draft, whose name begins with a dot.
    let names = |out: &str| {
        files(Path::new(out)).into_keys().filter(|name| !name.starts_with('.')).collect::<Vec<_>>()
    };
    assert_eq!(names(&killed), names(&whole));
    // Without a limit of requests or time that is left, nothing more is asked.
    let again = broadcheck(&["fuzz", "--resume", &killed, "--right", &harness]);
    assert!(text(&again).contains(": 300 requests in "), "{}", text(&again));
    // The list of findings, and the report for programs.
    let list = |out: &str| files(Path::new(out))["findings.txt"].clone();
    assert_eq!(list(&killed), list(&whole));
    let output = broadcheck(&["fuzz", "--resume", &killed, "--right", &harness, "--format", "json"]);
    let report = fitting(&output);
    assert_eq!((&report["verdict"], &report["counts"]["requests"]), (&"failed".into(), &300.into()));
    let first = Path::new(report["read_first"].as_str().unwrap());
    assert!(first.is_file(), "{report}");
    let read_first = format!("\nRead first: {}\n", first.file_name().unwrap().to_str().unwrap());
    assert!(list(&killed).contains(&read_first), "{report}");
    let groups = report["groups"].as_array().unwrap();
    let findings = groups.iter().map(|group| group["findings"].as_array().unwrap().len()).sum::<usize>();
    assert_eq!(report["counts"]["distinct"], findings);
}

/// The JSON report, which fits its schema.
fn fitting(output: &Output) -> Value {
    let report = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(output)));
    let schema = serde_json::from_str(include_str!("../../schema/fuzz.schema.json")).unwrap();
    let errors: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(&report)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    report
}

/// A run ends in time also if every request ends a process.
#[test]
#[cfg(unix)]
#[ignore = "takes seconds: .ci/run runs it"]
fn the_time_limit_holds_for_a_harness_that_crashes_at_every_request() {
    let directory = tempfile::tempdir().unwrap();
    let common = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/bad_harnesses/common.sh");
    let script = directory.path().join("crashes.sh");
    let answer = "answer() {\n    sleep 0.1\n    kill -s SEGV $$\n}\nserve\n";
    std::fs::write(&script, format!(". '{}'\n{answer}", common.display())).unwrap();
    let harness = format!("sh '{}'", script.display());
    let limits = ["--time", "1s", "--shrink-time", "500ms", "--timeout", "1s", "--jobs", "1"];
    let began = std::time::Instant::now();
    let output = broadcheck(&[&["fuzz", "--right", &harness, "--format", "json"][..], &limits].concat());
    // What --help states: both times, three times the limit of a request, and 5 s.
    let most = std::time::Duration::from_millis(1000 + 500 + 3 * 1000 + 5000);
    assert!(began.elapsed() < most, "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let report = fitting(&output);
    assert!(report["counts"]["disagreeing"].as_u64().unwrap() > 0, "{report}");
    assert!(
        report["read_first"].is_null() && report["groups"][0]["findings"][0]["case"].is_string(),
        "{report}"
    );
}

/// With a name, no output contains the command: neither its path nor its token.
#[test]
#[cfg(unix)]
#[ignore = "takes seconds: .ci/run runs it"]
fn a_name_replaces_a_command_everywhere() {
    let Some(harness) = harness("maximum.py") else { return };
    let root = tempfile::tempdir().unwrap();
    let out = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
    let [reports, exhaust, fuzz] = ["reports", "exhaust", "fuzz"].map(out);
    for directory in [&reports, &exhaust, &fuzz] {
        std::fs::create_dir(directory).unwrap();
    }
    let named = ["--impl", &harness, "--impl-name", "mine"];
    let known = out("known.yaml");
    let mut all = String::new();
    for (status, args) in
        [
            (
                1,
                [
                    &[
                        "check",
                        "--filter",
                        "numpy/reported",
                        "--format",
                        "text,json,junit,markdown,html,badge",
                    ][..],
                    &["--out", &reports, "--write-known", &known],
                    &named,
                ]
                .concat(),
            ),
            (1, [&["check", "--filter", "numpy/reported"][..], &named].concat()),
            (
                1,
                [
                    &["exhaust", "--max-rank", "1", "--max-dim", "1", "--rules", "numpy", "--out", &exhaust]
                        [..],
                    &["--impl", "reference"],
                    &named,
                ]
                .concat(),
            ),
            (0, [&["smoke"][..], &named].concat()),
            (2, vec!["smoke", "--impl", "/no/such/s3cret-t0ken", "--impl-name", "mine"]),
            (2, vec!["check", "--impl", "/no/such/s3cret-t0ken", "--impl-name", "mine"]),
            (
                1,
                [
                    &[
                        "fuzz",
                        "--right",
                        &harness,
                        "--right-name",
                        "mine",
                        "--requests",
                        "300",
                        "--jobs",
                        "1",
                    ][..],
                    &["--out", &fuzz],
                ]
                .concat(),
            ),
            (2, vec!["fuzz", "--resume", &fuzz]),
            (1, vec!["fuzz", "--resume", &fuzz, "--right", &harness]),
        ]
    {
        let output = broadcheck(&args);
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output));
        assert!(args[0] == "smoke" || text(&output).contains("mine"), "{args:?}: {}", text(&output));
        all += &text(&output);
    }
    for directory in [&reports, &exhaust, &fuzz] {
        let files = files(Path::new(directory));
        assert!(!files.is_empty(), "{directory}");
        all.extend(files.into_iter().map(|(name, text)| format!("{name}\n{text}")));
    }
    all += &std::fs::read_to_string(known).unwrap();
    for secret in [TOKEN, "maximum.py", "bad_harnesses"] {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
    assert!(all.contains("--impl 'the command of mine' --impl-name mine --filter"), "{all}");
}

#[test]
fn names_belong_to_implementations() {
    for (args, said) in [
        (&["check", "--impl-name", "a"][..], "--impl-name a: found no --impl before it"),
        (
            &["check", "--impl", "fast", "--impl-name", "a", "--impl-name", "b"],
            "a second name for one --impl",
        ),
        (
            &["exhaust", "--impl", "fast", "--impl-name", "a", "--impl", "ndarray", "--impl-name", "a"],
            "--impl-name a: found the name twice",
        ),
        (
            &["check", "--impl", "fast", "--impl-name", "ndarray", "--impl", "ndarray"],
            "--impl-name ndarray: found another implementation of this name",
        ),
        (&["check", "--impl", "fast", "--impl-name", ""], "expected 1 to 80 visible characters"),
        (&["check", "--impl", "fast", "--impl-name", "a\u{7}"], "expected 1 to 80 visible characters"),
        (&["fuzz", "--left-name", "a", "--right-name", "a"], "found the name of --left, expected another"),
        (&["fuzz", "--resume", "x", "--seed", "1"], "cannot be used with"),
        (&["fuzz", "--resume", "no/such"], "fuzz.state: found no such file"),
    ] {
        let output = broadcheck(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output));
        assert!(text(&output).contains(said), "{args:?}: {}", text(&output));
    }
    let output = broadcheck(&["check", "--filter", "numpy/zero", "--impl", "fast", "--impl-name", "mine"]);
    assert!(text(&output).contains("mine") && output.status.success(), "{}", text(&output));
}

/// A harness that answers every request with the same result is found, shrunk and written as cases.
#[test]
#[cfg(unix)]
fn disagreements_of_a_process_are_written_as_cases() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("LEFT OUT: there is no python3");
        assert!(std::env::var_os("CI").is_none(), "python3 is needed in CI");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/bad_harnesses/ones.py");
    let harness = format!("python3 '{}'", script.display());
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("findings");
    let args = [
        "fuzz",
        "--right",
        &harness,
        "--requests",
        "12",
        "--jobs",
        "1",
        "--timeout",
        "2s",
        "--out",
        out.to_str().unwrap(),
    ];
    let output = broadcheck(&args);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let said = text(&output);
    assert!(said.contains("right accepts dimension_mismatch") && said.contains("right crashed"), "{said}");
    let mut files: Vec<_> = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| !file.ends_with("fuzz.state") && !file.ends_with("findings.txt"));
    assert!(files.len() >= 2, "{said}");
    for file in &files {
        let yaml = std::fs::read_to_string(file).unwrap();
        load_str(&yaml, "found.yaml").unwrap_or_else(|errors| panic!("{errors}\n{yaml}"));
    }
    let validated = broadcheck(&["validate", out.to_str().unwrap()]);
    assert_eq!(validated.status.code(), Some(0), "{}", text(&validated));
}
