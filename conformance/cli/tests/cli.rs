//! The command `broadcheck` as a process: its exit statuses and output.

#[path = "cli/check.rs"]
mod check;
#[path = "cli/declares.rs"]
mod declares;
#[path = "cli/documentation.rs"]
mod documentation;
#[path = "cli/exports.rs"]
mod exports;
#[path = "cli/issue.rs"]
mod issue;
#[path = "cli/known.rs"]
mod known;
#[path = "cli/list.rs"]
mod list;
#[path = "cli/reports.rs"]
mod reports;
#[path = "cli/search.rs"]
mod search;
#[path = "cli/site.rs"]
mod site;

use broadcheck_search::subjects::NAMES;
use broadcheck_spec::Suite;
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// The suite, loaded once for all tests.
static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::builtin().unwrap());

/// The output and exit status of a run.
struct Ran {
    status: i32,
    out: String,
    err: String,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadcheck"));
    // Tests run under cargo, but users may not.
    command.args(args).env_remove("CARGO").env_remove("CARGO_MANIFEST_DIR").stdin(Stdio::null());
    command
}

#[track_caller]
fn run(args: &[&str]) -> Ran {
    let output = command(args).output().expect("the program starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    let ran = Ran {
        status: output.status.code().expect("no signal ended it"),
        out: text(output.stdout),
        err: text(output.stderr),
    };
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
    ran
}

/// Runs the command and expects this exit status.
#[track_caller]
fn ends(status: i32, args: &[&str]) -> Ran {
    let ran = run(args);
    assert_eq!(ran.status, status, "{args:?}\n{}\n{}", ran.out, ran.err);
    ran
}

/// Expects an error message with these words, and nothing on standard output.
#[track_caller]
fn complains(words: &str, args: &[&str]) {
    let ran = ends(2, args);
    assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    assert_eq!(ran.out, "", "{args:?}");
}

fn write(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().into()
}

/// A case file with one addition, whose last value is given.
fn case_file(last: &str) -> String {
    format!(
        r#"format: 1
rules: numpy
cases:
  - id: numpy/mine/sum
    title: A row is added to a matrix.
    clause: NUMPY-3
    source:
      - {{document: openvino, lines: "23"}}
    origin: hand
    expression: [add, a, b]
    operands:
      - {{name: a, dtype: f64, shape: [2, 3], values: [1, 2, 3, 4, 5, 6]}}
      - {{name: b, dtype: f64, shape: [3], values: [10, 20, 30]}}
    result: {{dtype: f64, shape: [2, 3], values: [11, 22, 33, 14, 25, {last}]}}
"#
    )
}

/// A temporary directory, in memory where there is such a file system: an export syncs each of its files to
/// the disk.
fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// `--cases` for some files of the suite, which are read in a fraction of the time.
fn cases_of(files: &[&str]) -> Vec<String> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/cases");
    let path = |file: &&str| cases.join(format!("{file}.yaml")).to_str().unwrap().to_owned();
    files.iter().flat_map(|file| ["--cases".to_owned(), path(file)]).collect()
}

/// These arguments after those.
fn with<'a>(first: &[&'a str], more: &'a [String]) -> Vec<&'a str> {
    first.iter().copied().chain(more.iter().map(String::as_str)).collect()
}

/// The relative paths of all files below a directory.
fn files_below(directory: &Path) -> Vec<String> {
    let mut open = vec![directory.to_path_buf()];
    let mut files = Vec::new();
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                files.push(path.strip_prefix(directory).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

/// Whether there is a Python to run harnesses.
fn has_python() -> bool {
    if Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return true;
    }
    println!("LEFT OUT: there is no python3");
    assert!(std::env::var_os("CI").is_none(), "python3 is needed in CI");
    false
}

/// A harness that broadcasts 0 and 1 to 1, if there is a Python to run it.
fn maximum() -> Option<String> {
    if !has_python() {
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/bad_harnesses/maximum.py");
    Some(format!("python3 '{}'", script.display()))
}

#[test]
fn help_and_version_succeed() {
    let help = ends(0, &["--help"]);
    for name in [
        "check",
        "list",
        "show",
        "explain",
        "diverge",
        "exhaust",
        "validate",
        "export",
        "compare-exports",
        "vendor-check",
        "compare-exports",
        "vendor-check",
    ] {
        assert!(help.out.contains(&format!("  {name} ")), "{name}");
        let help = ends(0, &[name, "--help"]);
        assert!(help.out.contains("Example"), "{name}: {}", help.out);
    }
    let check = ends(0, &["check", "--help"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["'python3 my_harness.py'", "`conformance/adapters/setup NAME` installs it"] {
        assert!(check.contains(words), "{words}: {check}");
    }
    for name in NAMES {
        assert!(check.contains(&format!("`{name}`")), "{name}: {check}");
        for command in ["exhaust", "serve"] {
            let help = ends(0, &[command, "--help"]).out;
            assert!(help.contains(&format!(" {name}")), "{command} {name}: {help}");
        }
    }
    assert_eq!(ends(0, &["--version"]).out, format!("broadcheck {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn an_invalid_command_line_is_2() {
    complains("Usage", &[]);
    complains("unrecognized subcommand", &["chek"]);
    complains("unexpected argument", &["check", "--imp", "reference"]);
    complains("expected one of none numpy", &["check", "--rules", "numpie"]);
    complains(
        &format!("expected one of {}, adapter:NAME, or a command", NAMES.join(", ")),
        &["check", "--impl", "tensorflow"],
    );
    complains("expected a number of threads", &["check", "--jobs", "0"]);
    complains(
        "--seed <N>: found `abc`, expected a whole number from 0 to 2^64-1",
        &["fuzz", "--seed", "abc"],
    );
    complains(
        "--axis <N>: found `x`, expected a whole number such as 1 or -1",
        &["explain", "--axis", "x", "3"],
    );
    complains(
        "--sample-sweeps <N>: found `1.5`, expected a whole number from 1 to 2^64-1",
        &["check", "--sample-sweeps", "1.5"],
    );
    complains("several formats", &["check", "--format", "json,text"]);
    complains("--filter: found `[` without `]`, expected `]` after it", &["check", "--filter", "["]);
    complains("found no such clause", &["list", "--clause", "XLA-99"]);
    complains("found no such example", &["list", "--example", "X99"]);
}

#[test]
fn a_closed_pipe_ends_it_quietly() {
    let mut child =
        command(&["list", "--format", "json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 64];
    let mut out = child.stdout.take().unwrap();
    out.read_exact(&mut some).unwrap();
    drop(out);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
}

#[test]
fn exhaust_names_implementations_that_were_not_tested() {
    let small = ["exhaust", "--max-rank", "1", "--max-dim", "1", "--rules", "xla"];
    let line = "\nndarray was not tested: it declares no request within the bounds\n";
    let named = ends(1, &[&small[..], &["--impl", "reference", "--impl", "ndarray"]].concat()).out;
    assert!(named.contains(line) && named.lines().last().unwrap().starts_with("FAILED: "), "{named}");
    // As with `check`, an implementation that is not named may cover nothing; it is still reported.
    let all = ends(0, &small).out;
    assert!(all.contains(line) && !all.contains("fast was not tested"), "{all}");
}

/// Terminal codes in file names, cases and arguments are escaped.
#[cfg(unix)]
#[test]
fn terminal_codes_of_files_are_escaped() {
    const EVIL: &str = "\u{1b}[31mEVIL\u{7}\u{202e}";
    let directory = tempfile::tempdir().unwrap();
    let title = r#"title: "\e[31mEVIL\a\u202e""#;
    let cases = case_file("0").replace("title: A row is added to a matrix.", title);
    let cases = write(directory.path(), &format!("{EVIL}.yaml"), &cases);
    let wrong = write(directory.path(), &format!("{EVIL}-wrong.yaml"), "format: 2\n");
    let known = format!("implementation: \"{}\"\nknown: []\n", r"\e[31mEVIL\a\u202e");
    let known = write(directory.path(), "known.yaml", &known);
    for (status, args) in [
        (1, &["check", "--cases", &cases, "--impl", "reference"][..]),
        (1, &["check", "--cases", &cases, "--impl", "reference", "--format", "json"]),
        (2, &["check", "--cases", &cases, "--impl", "reference", "--known", &known]),
        (0, &["list", "--cases", &cases]),
        (0, &["list", "--cases", &cases, "--format", "json"]),
        (0, &["show", "--cases", &cases, "numpy/mine/sum"]),
        (2, &["validate", &wrong]),
        (2, &["check", "--rules", EVIL]),
        (2, &["smoke", "--impl", EVIL]),
    ] {
        let mut command = command(args);
        // Otherwise the stream would remove the codes.
        let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{args:?}");
        for text in [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()) {
            assert!(
                !text.contains("\u{1b}[31mEVIL") && !text.contains(['\u{7}', '\u{202e}']),
                "{args:?}: {text}"
            );
        }
    }
}

/// Terminal codes in the name, version and messages of a harness are escaped. Colours of the command stay.
#[test]
fn terminal_codes_of_harnesses_are_escaped() {
    let Some(maximum) = maximum() else { return };
    let harness = maximum.replace("maximum.py", "codes.py");
    let directory = tempfile::tempdir().unwrap();
    let known = write(directory.path(), "known.yaml", "implementation: numpy\nknown: []\n");
    let cases = &cases_of(&["numpy-zero"])[1];
    for (status, args) in [
        (1, &["smoke", "--impl", &harness][..]),
        (1, &["fuzz", "--right", &harness, "--requests", "20", "--jobs", "1"]),
        (1, &["exhaust", "--max-rank", "1", "--max-dim", "1", "--impl", "reference", "--impl", &harness]),
        (1, &["check", "--cases", cases, "--impl", &harness]),
        (2, &["check", "--cases", cases, "--impl", &harness, "--known", &known]),
    ] {
        let output = command(args).env("CLICOLOR_FORCE", "1").output().unwrap();
        let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(output.status.code(), Some(status), "{args:?}\n{out}\n{err}");
        let all = out + &err;
        assert!(all.contains("EVIL"), "{args:?}: {all}");
        assert!(!all.contains("\u{1b}[31mEVIL") && !all.contains(['\u{7}', '\u{202e}']), "{args:?}: {all}");
        assert!(args[0] != "smoke" || all.contains("\u{1b}[1m\u{1b}[31mWRONG"), "{all}");
        // A printed case can be loaded.
        if args[0] == "fuzz" {
            assert!(all.contains(r"\u001B[31mEVIL\u0007\u202E"), "{all}");
        }
    }
}
