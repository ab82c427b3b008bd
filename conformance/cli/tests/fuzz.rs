//! `broadcheck fuzz` and `broadcheck reproduce` as processes.

use broadcheck_search::fuzzing::drawn;
use broadcheck_search::generate::{Profile, encode};
use broadcheck_spec::load_str;
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
fn invalid_command_lines_are_rejected() {
    for (args, said) in [
        (&["fuzz", "--right", "ndarray", "--rules", "xla"][..], "no combination that both sides declare"),
        (&["fuzz", "--without", "sleep"], "expected unused, corners, views, or a kind of refusal: rank_m"),
        (&["fuzz", "--operation", "multiply"], "expected one of elementwise, broadcast, gradient"),
        (&["fuzz", "--left", "no-such-program-here"], "--left no-such-program-here"),
        (&["reproduce", "nothing", "x"], "found no such fuzz target, expected one of"),
        (&["reproduce", "differential", "no/such/file"], "no/such/file"),
    ] {
        let output = broadcheck(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output));
        assert!(text(&output).contains(said), "{args:?}: {}", text(&output));
    }
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
    let files: Vec<_> = std::fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 2, "{said}");
    for file in &files {
        let yaml = std::fs::read_to_string(file).unwrap();
        load_str(&yaml, "found.yaml").unwrap_or_else(|errors| panic!("{errors}\n{yaml}"));
    }
    let validated = broadcheck(&["validate", out.to_str().unwrap()]);
    assert_eq!(validated.status.code(), Some(0), "{}", text(&validated));
}
