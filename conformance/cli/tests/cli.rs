//! The command `broadcheck` as a process: its exit statuses and output.

#[path = "cli/exports.rs"]
mod exports;

use broadcheck_search::subjects::NAMES;
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

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

#[test]
fn help_and_version_succeed() {
    let help = ends(0, &["--help"]);
    for name in ["check", "list", "show", "explain", "diverge", "exhaust", "validate", "export"] {
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
fn a_success_is_a_table() {
    let ran = ends(0, &["check", "--rules", "numpy,xla", "--filter", "*/zero/*"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].starts_with(concat!("broadcheck ", env!("CARGO_PKG_VERSION"), ": ")), "{}", lines[0]);
    let row = |name: &str| -> Vec<usize> {
        let line = lines.iter().find(|line| line.starts_with(name)).expect(name);
        line[name.len()..].split_whitespace().map(|count| count.parse().unwrap()).collect()
    };
    let (numpy, xla, total) = (row("numpy"), row("xla"), row("total"));
    let width = 3 * NAMES.len();
    assert_eq!(numpy.len(), width);
    assert!(numpy[0] > 30 && numpy[1] == 0 && xla[0] > 30 && xla[width - 3] == 0, "{}", ran.out);
    assert!((0..width).all(|column| total[column] == numpy[column] + xla[column]), "{}", ran.out);
    assert!(lines.last().unwrap().starts_with("ok: "), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'), "no colour outside of a terminal");
}

#[test]
fn a_filter_is_an_id_a_prefix_or_a_glob() {
    let listed = |args: &[&str]| -> Vec<String> {
        let ran = ends(0, args);
        ran.out.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let all = listed(&["list"]);
    assert!(all.len() > 500);
    let one = &all[0];
    assert_eq!(listed(&["list", "--filter", one]), std::slice::from_ref(one));
    let zero = listed(&["list", "--filter", "numpy/zero"]);
    assert!(zero.len() > 3 && zero.iter().all(|id| id.starts_with("numpy/zero")));
    let views = listed(&["list", "--filter", "*/views/*"]);
    assert!(views.len() > 10 && views.iter().all(|id| id.contains("/views/")));
    for nothing in ["no/such", "*no-such*", "umpy/zero"] {
        complains("found nothing among", &["list", "--filter", nothing]);
    }
    complains("found nothing among", &["check", "--filter", "no/such"]);
    for empty in [&["--filter", ""][..], &["--filter="]] {
        complains("--filter: found an empty text", &[&["check"], empty].concat());
    }
    complains("--rules xla: found nothing", &["check", "--filter", "numpy/*", "--rules", "xla"]);
}

#[test]
fn cases_are_listed_by_nature_and_convention() {
    let listed = |args: &[&str]| -> Vec<Value> {
        let ran = ends(0, &[&["list", "--format", "json"], args].concat());
        serde_json::from_str::<Vec<Value>>(&ran.out).unwrap()
    };
    let order = listed(&["--convention", "refusal-order"]);
    assert!(order.len() > 5 && order.iter().all(|line| line["convention"] == "refusal-order"));
    let natures = ["rule", "arithmetic", "convention"].map(|nature| {
        let lines = listed(&["--nature", nature]);
        assert!(lines.iter().all(|line| line["nature"] == nature));
        lines.len()
    });
    assert!(natures.iter().all(|&count| count > 100), "{natures:?}");
    assert_eq!(natures.iter().sum::<usize>(), listed(&[]).len());
    let text = ends(0, &["list", "--convention", "zero-signs"]).out;
    assert!(text.lines().all(|line| line.contains("  V-3  ") && line.contains("  zero-signs  ")), "{text}");
    complains("`promotion` is not a convention", &["list", "--convention", "promotion"]);
    complains("with all of these properties", &["list", "--nature", "rule", "--convention", "zero-signs"]);

    let shown = ends(0, &["show", order[0]["id"].as_str().unwrap()]).out;
    assert!(shown.contains("  nature     convention refusal-order: Of several faults"), "{shown}");
}

#[test]
fn how_much_must_be_asked_can_be_required() {
    let gradients = ["check", "--impl", "ndarray", "--rules", "numpy", "--sample-sweeps", "1"];
    let ran = ends(0, &gradients);
    assert!(
        ran.out.contains("no gradient") && ran.out.lines().last().unwrap().starts_with("ok: "),
        "{}",
        ran.out
    );
    let ran = ends(1, &[&gradients[..], &["--min-asked", "100"]].concat());
    assert!(ran.out.contains("shape cases of numpy were asked"), "{}", ran.out);
    assert!(ran.out.contains("expected at least 100 % (--min-asked)"), "{}", ran.out);
    complains("--min-asked", &["check", "--min-asked", "101"]);
}

#[test]
fn the_matrix_is_made_from_reports() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.json");
    let report = report.to_str().unwrap();
    let check =
        ["check", "--impl", "reference", "--impl", "ndarray", "--filter", "*/zero/*", "--format", "json"];
    ends(0, &[&check[..], &["--out", report]].concat());
    let table = ends(0, &["matrix", report]).out;
    assert!(table.starts_with("| system | rule set | asked | passed |"), "{table}");
    assert!(table.contains("\n| reference 0.1.0 | numpy | all "), "{table}");
    assert!(
        table.contains("\n|  | xla | all ") && table.contains("\n| ndarray 0.17.2 | numpy | "),
        "{table}"
    );
    let page = write(directory.path(), "page.md", "a\n<!-- begin: matrix -->\n<!-- end: matrix -->\nb\n");
    ends(0, &["matrix", "--into", &page, report]);
    let text = fs::read_to_string(&page).unwrap();
    assert_eq!(text, format!("a\n<!-- begin: matrix -->\n\n{table}\n<!-- end: matrix -->\nb\n"));
    let other = write(directory.path(), "other.md", "a\n");
    complains("other.md: found no line `<!-- begin: matrix -->`", &["matrix", "--into", &other, report]);
    complains("matrix", &["matrix"]);
}

#[test]
fn zero_passed_is_1() {
    let ran = ends(1, &["check", "--impl", "ndarray", "--filter", "xla/examples"]);
    assert!(ran.out.contains("ndarray 0.17"), "{}", ran.out);
    assert!(ran.out.contains("passed no case"), "{}", ran.out);
    assert!(ran.out.lines().last().unwrap().starts_with("FAILED: "), "{}", ran.out);
    // An implementation that is named must pass something, even beside another that does; otherwise it need
    // not.
    ends(1, &["check", "--impl", "reference", "--impl", "ndarray", "--filter", "xla/examples"]);
    ends(0, &["check", "--filter", "xla/examples"]);
}

#[test]
fn a_wrong_value_fails_with_its_index_and_both_bit_patterns() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = write(directory.path(), "wrong.yaml", &case_file("37"));
    let ran = ends(1, &["check", "--cases", &wrong]);
    for words in [
        "FAILED  numpy/mine/sum  (reference)",
        "FAILED  numpy/mine/sum  (ndarray)",
        "A row is added to a matrix.",
        "numpy, elementwise [add, a, b]",
        "f64 (2,3) [11.0, 22.0, 33.0, 14.0, 25.0, 37.0]",
        "wrong values: element (1,2): expected 37.0 (0x4042800000000000), got 36.0 (0x4042000000000000)",
        "1 of 6 elements wrong",
        "openvino, lines 23",
        "wrong.yaml:4",
    ] {
        assert!(ran.out.contains(words), "{words}\n{}", ran.out);
    }
    let rerun = format!("broadcheck check --cases {wrong} --impl ndarray --filter numpy/mine/sum");
    assert!(ran.out.contains(&rerun), "{}", ran.out);

    let right = write(directory.path(), "right.yaml", &case_file("36"));
    let ran = ends(0, &["check", "--cases", &right]);
    let count = NAMES.len();
    let closing = format!("ok: 1 case, {count} implementations: {count} passed\n");
    assert!(ran.out.ends_with(&closing), "{}", ran.out);
}

#[test]
fn the_rerun_command_runs_the_case() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = write(directory.path(), "wrong it is.yaml", &case_file("37"));
    let ran = ends(1, &["check", "--impl", "ndarray", "--cases", &wrong]);
    let line = ran.out.lines().find_map(|line| line.trim().strip_prefix("rerun")).expect("a rerun line");
    let shell = line.trim().replacen("broadcheck", env!("CARGO_BIN_EXE_broadcheck"), 1);
    let again = Command::new("sh").arg("-c").arg(&shell).output().unwrap();
    assert_eq!(again.status.code(), Some(1), "{shell}");
    assert!(String::from_utf8(again.stdout).unwrap().contains("FAILED: 1 case, 1 implementation"));
}

#[test]
fn json_matches_its_schema() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "wrong.yaml", &case_file("37"));
    let cases = directory.path().to_str().unwrap();
    let schema: Value = serde_json::from_str(include_str!("../../schema/report.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let suite = ends(0, &["check", "--format", "json", "--rules", "theano"]);
    let wrong = ends(1, &["check", "--format", "json", "--cases", cases]);
    for text in [&suite.out, &wrong.out] {
        let report: Value = serde_json::from_str(text).unwrap();
        let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        for implementation in report["implementations"].as_array().unwrap() {
            let total = |counts: &Value| -> u64 {
                counts.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
            };
            let counted = total(&implementation["summary"]);
            let natures = implementation["by_nature"].as_object().unwrap();
            assert_eq!(natures.values().map(total).sum::<u64>(), counted);
            let selected = |what: &str| report["suite"][what].as_u64().unwrap();
            assert_eq!(counted, selected("cases") + selected("sweeps"));
            let entries = implementation["cases"].as_array().unwrap();
            assert_eq!(counted, entries.len() as u64);
            let sweeps = entries.iter().filter(|entry| entry["sweep"] == true).count();
            assert_eq!(sweeps as u64, selected("sweeps"));
        }
    }
    // The same numbers as in the text.
    let report: Value = serde_json::from_str(&suite.out).unwrap();
    let (cases, sweeps) = (&report["suite"]["cases"], &report["suite"]["sweeps"]);
    assert!(cases.as_u64().unwrap() > 50 && sweeps.as_u64().unwrap() > 1, "{cases} {sweeps}");
    let text = ends(0, &["check", "--rules", "theano"]).out;
    assert!(text.contains(&format!(": {cases} cases and {sweeps} sweeps, ")), "{text}");
    let report: Value = serde_json::from_str(&wrong.out).unwrap();
    assert_eq!((&report["suite"]["cases"], &report["suite"]["sweeps"]), (&Value::from(1), &Value::from(0)));
    let case = &report["implementations"][0]["cases"][0];
    assert_eq!(case["status"], "failed");
    assert_eq!(case["difference"], "wrong values");
    assert!(case["detail"].as_str().unwrap().contains("element (1,2)"));
}

#[test]
fn markdown_collapses_failures() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = write(directory.path(), "wrong.yaml", &case_file("37"));
    let ran = ends(1, &["check", "--format", "markdown", "--impl", "reference", "--cases", &wrong]);
    assert!(ran.out.starts_with("<!-- broadcheck report -->\n### broadcheck "), "{}", ran.out);
    assert!(ran.out.contains("| numpy | 0 / 1 / 0 |"), "{}", ran.out);
    assert!(ran.out.contains("| **total** | **0 / 1 / 0** |"), "{}", ran.out);
    let details =
        "<details><summary><code>numpy/mine/sum</code> (reference): A row is added to a matrix.</summary>";
    assert!(ran.out.contains(details), "{}", ran.out);
    assert_eq!(ran.out.matches("<details>").count(), ran.out.matches("</details>").count());
}

#[test]
fn known_failures_are_counted_separately() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = write(directory.path(), "wrong.yaml", &case_file("37"));
    let right = write(directory.path(), "right.yaml", &case_file("36"));
    let known = |name: &str, text: &str| write(directory.path(), name, text);
    let lists = known(
        "k1",
        "implementation: ndarray\nknown:\n  - {case: \"numpy/mine/*\", reason: a test, url: \"https://example.org/1\"}\n",
    );
    let ran = ends(1, &["check", "--impl", "ndarray", "--cases", &wrong, "--known", &lists]);
    assert!(ran.out.contains("1 known to fail"), "{}", ran.out);
    assert!(ran.out.contains("passed no case"), "known failures alone are not a pass: {}", ran.out);

    let ran = ends(1, &["check", "--impl", "ndarray", "--cases", &right, "--known", &lists]);
    assert!(ran.out.contains("passes, but `numpy/mine/*` is listed as a known failure"), "{}", ran.out);

    let two = known(
        "k2",
        "implementation: ndarray\nknown:\n  - {case: numpy/gone, reason: a test, url: \"https://example.org/1\"}\n",
    );
    let ran = ends(1, &["check", "--impl", "ndarray", "--cases", &right, "--known", &two]);
    assert!(ran.out.contains("the known failure `numpy/gone` of ndarray matches no case"), "{}", ran.out);
    assert!(ran.out.contains(", 1 known-failure entry without a case\n"), "{}", ran.out);

    complains("`ndarray`, which does not run", &["check", "--impl", "reference", "--known", &two]);
    complains("a second file for `ndarray`", &["check", "--known", &lists, "--known", &two]);
    let bad = known("k3", "implementation: ndarray\nknown: 7\n");
    complains("expected a list of `{case, reason, finding}`", &["check", "--known", &bad]);
    complains("No such file", &["check", "--known", "/no/such/file"]);
}

/// A known failure of a case that the filter leaves out is not an unmatched entry.
#[test]
fn known_failures_are_matched_against_the_unfiltered_suite() {
    let directory = tempfile::tempdir().unwrap();
    let other = case_file("37").replace("numpy/mine/sum", "numpy/other/sum");
    let two = case_file("36") + other.split_once("cases:\n").unwrap().1;
    let cases = write(directory.path(), "two.yaml", &two);
    let known = write(
        directory.path(),
        "known",
        "implementation: ndarray\nknown:\n  - {case: numpy/other/sum, reason: a test, url: \"https://example.org/1\"}\n",
    );
    let all = ["check", "--impl", "ndarray", "--cases", &cases, "--known", &known];
    ends(0, &all);
    ends(0, &[&all[..], &["--filter", "numpy/mine"]].concat());
}

#[test]
fn a_file_that_is_not_a_report_is_not_overwritten() {
    let directory = tempfile::tempdir().unwrap();
    let right = write(directory.path(), "right.yaml", &case_file("36"));
    let notes = write(directory.path(), "notes.txt", "broadcheck is what I want to try\n");
    complains("which is not overwritten", &["check", "--cases", &right, "--out", &notes]);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "broadcheck is what I want to try\n");
    let json = write(directory.path(), "other.json", "{\"suite\": 1}");
    complains("which is not overwritten", &["check", "--cases", &right, "--format", "json", "--out", &json]);

    // A report is replaced, by the same format only.
    let report = directory.path().join("report");
    let report = report.to_str().unwrap();
    let check = ["check", "--cases", &right, "--out", report];
    let ran = ends(0, &check);
    assert!(ran.out.contains("written: "), "{}", ran.out);
    assert!(fs::read_to_string(report).unwrap().ends_with(&format!("{} passed\n", NAMES.len())));
    ends(0, &check);
    complains("which is not overwritten", &[&check[..], &["--format", "json"]].concat());
    complains("does not exist", &["check", "--cases", &right, "--out", "/no/such/directory/report"]);
    complains("other than a regular file", &["check", "--cases", &right, "--out", "/dev/null"]);
}

#[test]
fn a_report_in_a_directory_has_a_fixed_name() {
    let directory = tempfile::tempdir().unwrap();
    let right = write(directory.path(), "right.yaml", &case_file("36"));
    let out = directory.path().to_str().unwrap();
    ends(0, &["check", "--cases", &right, "--format", "markdown", "--out", out]);
    assert!(fs::read_to_string(directory.path().join("report.md")).unwrap().contains("**ok: 1 case"));
}

#[test]
fn several_formats_need_a_directory() {
    let directory = tempfile::tempdir().unwrap();
    let right = write(directory.path(), "right.yaml", &case_file("36"));
    let out = directory.path().join("a/b");
    let args = ["check", "--cases", &right, "--format", "text,json,markdown", "--out", out.to_str().unwrap()];
    ends(0, &args);
    ends(0, &args);
    let mut names: Vec<String> =
        fs::read_dir(&out).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["report.json", "report.md", "report.txt"], "no temporary file is left");
}

#[test]
fn invalid_case_files_are_2_with_every_error() {
    let directory = tempfile::tempdir().unwrap();
    let bad = case_file("36").replace("NUMPY-3", "NUMPY-99").replace("[10, 20, 30]", "[10, 20]");
    let path = write(directory.path(), "bad.yaml", &bad);
    complains("bad.yaml:6:", &["check", "--cases", &path]);
    let ran = ends(2, &["validate", &path]);
    assert!(ran.out.contains("bad.yaml:6:") && ran.out.contains("NUMPY-99"), "{}", ran.out);
    assert!(ran.out.contains("bad.yaml:13:") && ran.out.contains("2 values for shape (3)"), "{}", ran.out);
    assert!(ran.err.contains("2 errors"), "{}", ran.err);

    let right = write(directory.path(), "right.yaml", &case_file("36"));
    assert_eq!(ends(0, &["validate", &right]).out, "ok: 1 case and 0 sweeps\n");
    let twice = write(directory.path(), "twice.yaml", &case_file("36"));
    let ran = ends(2, &["validate", &right, &twice]);
    assert!(ran.out.contains("numpy/mine/sum"), "{}", ran.out);
    ends(2, &["validate", "/no/such/file"]);
    let sweep = "format: 1\nsweeps:\n  - {id: numpy/mine, title: A sweep., clause: NUMPY-1, sweep: no-such, \
                 source: [{document: openvino, lines: \"19\"}], with: {max_rank: 1}, expect: {cases: 1}}\n";
    let sweep = write(directory.path(), "sweep.yaml", sweep);
    let ran = ends(2, &["validate", &sweep]);
    assert!(ran.out.contains("found `no-such`"), "{}", ran.out);
    ends(2, &["check", "--cases", &sweep]);
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
fn list_selects_clauses_and_examples() {
    let ran = ends(0, &["list", "--example", "X18", "--format", "json"]);
    let lines: Value = serde_json::from_str(&ran.out).unwrap();
    let lines = lines.as_array().unwrap();
    assert!(!lines.is_empty());
    for line in lines {
        assert_eq!(line["rules"], "xla");
        assert!(line["examples"].as_array().unwrap().contains(&Value::from("X18")));
    }
    let ran = ends(0, &["list", "--clause", "PDPD-3"]);
    assert!(ran.out.lines().all(|line| line.split_whitespace().nth(1) == Some("PDPD-3")), "{}", ran.out);
}

#[test]
fn show_prints_a_case_that_can_be_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let id = {
        let ran = ends(0, &["list", "--example", "X18"]);
        ran.out.split_whitespace().next().unwrap().to_owned()
    };
    let ran = ends(0, &["show", &id]);
    assert!(ran.out.starts_with(&format!("{id}\n")), "{}", ran.out);
    assert!(ran.out.contains("after step 1"), "{}", ran.out);
    let yaml: Vec<&str> = ran
        .out
        .lines()
        .skip_while(|line| *line != "  format: 1")
        .take_while(|line| !line.is_empty())
        .map(|line| &line[2..])
        .collect();
    let path = write(directory.path(), "shown.yaml", &yaml.join("\n"));
    ends(0, &["check", "--impl", "reference", "--cases", &path]);

    let ran = ends(0, &["show", "numpy/patterns/one-operand"]);
    assert!(ran.out.contains("(length 3, operands 1): 1 case\n"), "{}", ran.out);
    let ran = ends(2, &["show", &format!("{id}s")]);
    assert!(ran.err.contains(&format!("\n  {id}\n")), "{}", ran.err);
}

#[test]
fn explain_draws_one_rule_set_or_all() {
    let ran = ends(0, &["explain", "2x3", "3"]);
    for row in [
        "none           refused   rank_mismatch      NONE-1",
        "numpy          accepted  (2,3)              NUMPY-3",
        "xla            refused   rank_mismatch      XLA-3",
    ] {
        assert!(ran.out.contains(row), "{row}\n{}", ran.out);
    }
    let ran = ends(0, &["explain", "2", "2", "2"]);
    assert!(
        ran.out.contains("bidirectional  not applicable  it takes one operand and a target"),
        "{}",
        ran.out
    );
    assert!(ran.out.contains("operand_count"), "{}", ran.out);
    let dims = |name: &str| ends(0, &["explain", "--rules", "xla", name, "0", "4", "1x2"]).out;
    assert!(dims("--dims").contains("(4) + (1,2) => (4,2)"));
    assert_eq!(dims("--dims"), dims("--broadcast-dimensions"));
    let ran = ends(0, &["explain", "--rules", "xla", "--dims", "-1", "4", "1x2"]);
    assert!(ran.out.contains("broadcast_dimension_out_of_range"), "{}", ran.out);
    let ran = ends(0, &["explain", "--rules", "pdpd", "--axis", "-2", "4x2", "2"]);
    assert!(ran.out.contains("PDPD-2"), "{}", ran.out);
    let ran = ends(0, &["explain", "--rules", "theano", "--broadcastable", "t,f", "1", "10"]);
    assert!(ran.out.contains("(1) + (10) => (10)"), "{}", ran.out);
    let ran = ends(0, &["explain", "--rules", "theano", "--broadcastable", "f,()", "7", "()"]);
    assert!(ran.out.contains("(7) + () => (7)"), "{}", ran.out);
    let ran = ends(0, &["explain", "--rules", "bidirectional", "5", "1"]);
    assert!(ran.out.contains("(5) to (1) => (5)"), "{}", ran.out);
}

#[test]
fn explain_rejects_invalid_input() {
    complains("expected lengths", &["explain", "2xa"]);
    complains("expected lengths", &["explain", "--", "-1x2"]);
    complains("expected lengths", &["explain", "3", "-1x2"]);
    complains("lengths of 0 or more", &["explain", "18446744073709551616"]);
    complains("expected lengths", &["explain", "99999999999999999999999"]);
    complains("an attribute of pdpd under numpy", &["explain", "--rules", "numpy", "--axis", "1", "2", "2"]);
    complains("expected whole numbers", &["explain", "--rules", "xla", "--dims", "a", "2", "2x2"]);
    complains("a letter t or f", &["explain", "--rules", "theano", "--broadcastable", "x", "2"]);
    complains(
        "2 lists of flags for 1 operand,",
        &["explain", "--rules", "theano", "--broadcastable", "f,f", "2"],
    );
    complains(
        "1 list of flags for 2 operands",
        &["explain", "--rules", "theano", "--broadcastable", "f", "2", "2"],
    );
    complains("1 flag for shape (2,2)", &["explain", "--rules", "theano", "--broadcastable", "f", "2x2"]);
    complains("found 1 shape, expected two", &["explain", "--rules", "bidirectional", "2"]);
    complains("under `bidirectional` or `numpy`", &["explain", "--rules", "xla", "--target", "2", "2"]);
    let great = format!("{0}x{0}", i64::MAX);
    assert!(ends(0, &["explain", "--rules", "numpy", &great]).out.contains("too_large"));
}

#[test]
fn diverge_finds_the_smallest_of_each_pair() {
    let ran = ends(0, &["diverge", "--max-rank", "2", "--max-dim", "2"]);
    let row = |one: &str, other: &str| -> String {
        let line = ran.out.lines().find(|line| {
            let mut words = line.split_whitespace();
            words.next() == Some(one) && words.next() == Some(other)
        });
        line.unwrap_or_else(|| panic!("{one} {other}: {}", ran.out))
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(row("numpy", "theano"), "numpy theano (0) and (1) (0) not_broadcastable");
    assert_eq!(row("numpy", "bidirectional"), "numpy bidirectional they agree");
    complains("pairs of shapes", &["diverge", "--max-rank", "20"]);
    // Without a length between the bounds there is nothing to compare.
    let empty = "found the minimum length 4 and the maximum length 3, expected a minimum of at most 3";
    complains(empty, &["diverge", "--min-dim", "4", "--max-dim", "3"]);
    ends(0, &["diverge", "--min-dim", "2", "--max-dim", "2", "--max-rank", "1"]);
}

#[test]
fn exhaust_counts_its_checks() {
    let ran = ends(0, &["exhaust", "--max-rank", "2", "--max-dim", "2"]);
    let last = ran.out.lines().last().unwrap();
    assert!(
        last.starts_with("ok: ") && last.contains(" checks, ") && last.contains(" 0 differences, "),
        "{last}"
    );
    assert!(ran.out.contains("\nxla "), "{}", ran.out);
    assert_eq!(ran.err, "", "no progress bar outside of a terminal");
    let ran = ends(0, &["exhaust", "--max-rank", "1", "--max-dim", "2", "--rules", "xla"]);
    assert!(!ran.out.contains("\nnumpy "), "{}", ran.out);
    complains("expected at most", &["exhaust", "--max-rank", "30"]);
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

#[test]
fn no_width_is_too_large() {
    // 65,999 characters: the formatter's own widths end at 65,535.
    let shape = ["1"; 33_000].join("x");
    ends(0, &["explain", "--rules", "numpy", &shape, "3"]);
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
        (2, &["check", "--impl", "reference", "--known", &known]),
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

/// Ctrl-C prints the results so far and exits with 130.
#[cfg(unix)]
#[test]
fn an_interrupt_is_130_with_the_report_so_far() {
    let child = command(&["exhaust", "--max-rank", "4", "--max-dim", "3", "--jobs", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // The handler is installed at once; the work takes minutes.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let sent = Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap();
    assert!(sent.success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let out = String::from_utf8(ended.stdout).unwrap();
    assert!(out.lines().last().unwrap().starts_with("interrupted: "), "{out}");
}

#[test]
fn a_missing_simd_level_is_an_error() {
    let ran = ends(0, &["check", "--impl", "fast@portable", "--filter", "none/examples"]);
    assert!(ran.out.contains("fast@portable"), "{}", ran.out);
    complains(
        "found no such SIMD level, expected one of this machine: fast@portable",
        &["check", "--impl", "fast@sse9"],
    );
    let forced = |level: &str| {
        let arguments = ["check", "--impl", "fast", "--filter", "none/examples"];
        command(&arguments).env("BROADCHECK_SIMD", level).output().expect("the program starts")
    };
    assert_eq!(forced("portable").status.code(), Some(0));
    let unknown = forced("sse9");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("BROADCHECK_SIMD: found `sse9`, expected"));
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

/// A harness that broadcasts 0 and 1 to 1, if there is a Python to run it.
fn maximum() -> Option<String> {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("LEFT OUT: there is no python3");
        assert!(std::env::var_os("CI").is_none(), "python3 is needed in CI");
        return None;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/bad_harnesses/maximum.py");
    Some(format!("python3 '{}'", script.display()))
}

#[test]
fn exhaust_writes_a_case_for_each_kind_of_difference() {
    let Some(harness) = maximum() else { return };
    let directory = tempfile::tempdir().unwrap();
    let out = directory.path().join("cases");
    let small = ["exhaust", "--max-rank", "1", "--max-dim", "2", "--rules", "numpy", "--impl", "reference"];
    let arguments = |rest: &[&str]| -> Vec<String> {
        small.iter().chain(rest).map(|&argument| argument.to_owned()).collect()
    };
    let judged = arguments(&["--impl", &harness, "--out", out.to_str().unwrap()]);
    let judged: Vec<&str> = judged.iter().map(String::as_str).collect();
    let ran = ends(1, &judged);
    assert!(ran.out.contains("\nDISAGREEMENT  ") && ran.out.contains("\n  written: "), "{}", ran.out);
    // Both orders of (0) and (1) are one kind of difference.
    let files = files_below(&out);
    assert_eq!(files.len(), 1, "{files:?}");
    let suite = broadcheck_spec::Suite::from_paths(std::slice::from_ref(&out)).unwrap();
    let shapes: Vec<Vec<usize>> =
        suite.cases[0].request.operands().iter().map(|operand| operand.shape().to_vec()).collect();
    assert!(shapes.contains(&vec![0]) && shapes.contains(&vec![1]), "{shapes:?}");
    // The case fails for the harness alone, and a second run does not change it.
    let cases = out.to_str().unwrap();
    ends(0, &["check", "--cases", cases, "--impl", "reference"]);
    ends(1, &["check", "--cases", cases, "--impl", &harness]);
    assert!(ends(1, &judged).out.contains("exists already, not changed"));
    // Alone the harness is checked by relations, and a violation becomes a case as well.
    let alone = directory.path().join("alone");
    let bounds = ["exhaust", "--max-rank", "1", "--max-dim", "2", "--rules", "numpy"];
    let ran = ends(1, &[&bounds[..], &["--impl", &harness, "--out", alone.to_str().unwrap()]].concat());
    assert!(ran.out.contains("maximum: numpy-grouping: numpy [add, [add, a, b], c]"), "{}", ran.out);
    let cases = alone.to_str().unwrap();
    assert!(!files_below(&alone).is_empty(), "{}", ran.out);
    ends(0, &["check", "--cases", cases, "--impl", "reference"]);
    ends(1, &["check", "--cases", cases, "--impl", &harness]);
    // A directory that cannot be created is reported before the work.
    let file = write(directory.path(), "file", "mine");
    let wrong = arguments(&["--out", &file]);
    complains("expected a directory for cases", &wrong.iter().map(String::as_str).collect::<Vec<_>>());
    complains("expected a directory for cases", &["fuzz", "--requests", "10", "--out", &file]);
}

/// Terminal codes in the name, version and messages of a harness are escaped. Colours of the command stay.
#[test]
fn terminal_codes_of_harnesses_are_escaped() {
    let Some(maximum) = maximum() else { return };
    let harness = maximum.replace("maximum.py", "codes.py");
    let directory = tempfile::tempdir().unwrap();
    let known = write(directory.path(), "known.yaml", "implementation: numpy\nknown: []\n");
    for (status, args) in [
        (1, &["smoke", "--impl", &harness][..]),
        (1, &["fuzz", "--right", &harness, "--requests", "20", "--jobs", "1"]),
        (1, &["exhaust", "--max-rank", "1", "--max-dim", "1", "--impl", "reference", "--impl", &harness]),
        (1, &["check", "--filter", "numpy/zero", "--impl", &harness]),
        (2, &["check", "--impl", &harness, "--known", &known]),
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

#[test]
fn fuzz_distinguishes_known_failures_from_new_ones() {
    let Some(harness) = maximum() else { return };
    let directory = tempfile::tempdir().unwrap();
    let known = |implementation: &str| {
        let entry = "case: numpy/reported/onnx-6294\n    reason: takes the greater length\n    url: https://example.org";
        let text = format!("implementation: {implementation}\nknown:\n  - {entry}\n");
        write(directory.path(), &format!("{implementation}.yaml"), &text)
    };
    let search = ["fuzz", "--right", &harness, "--requests", "300", "--jobs", "1"];
    let with = |file: &str, status: i32| ends(status, &[&search[..], &["--known", file]].concat()).out;
    let new = ends(1, &search).out;
    assert!(new.contains("\nDISAGREEMENT  ") && new.contains("\nFAILED, 1 disagreement: "), "{new}");
    let told = with(&known("maximum"), 0);
    assert!(told.contains("\nKNOWN  ") && told.contains("\nok: "), "{told}");
    assert!(told.contains("like the case numpy/reported/onnx-6294, which is known to fail"), "{told}");
    // A file about another implementation excuses nothing.
    assert!(with(&known("minimum"), 1).contains("\nFAILED, 1 disagreement: "));
    let gone = directory.path().join("gone.yaml");
    complains("gone.yaml", &[&search[..], &["--known", gone.to_str().unwrap()]].concat());
}

#[test]
fn invalid_globs_are_2() {
    let nested = "{a,".repeat(200) + "b" + &"}".repeat(200);
    complains("found braces 200 deep, expected at most 10", &["check", "--filter", &nested]);
    complains("found braces 200 deep, expected at most 10", &["faults", "--filter", &nested]);
    complains("found a glob of 2000 bytes", &["list", "--filter", &"a?".repeat(1000)]);
}

#[cfg(unix)]
#[test]
fn a_report_is_written_through_a_symbolic_link() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let directory = tempfile::tempdir().expect("a directory");
    let (target, link) = (directory.path().join("target"), directory.path().join("link"));
    fs::write(&target, "").expect("a file");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).expect("a mode");
    symlink(&target, &link).expect("a link");
    let out = link.to_str().expect("UTF-8");
    let check =
        ["check", "--impl", "reference", "--filter", "none/shapes/scalars", "--format", "json", "--out"];
    ends(0, &[&check[..], &[out]].concat());
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&target).expect("a report").contains("none/shapes/scalars"));
    assert_eq!(target.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    let dangling = directory.path().join("dangling");
    symlink(directory.path().join("nothing"), &dangling).expect("a link");
    complains("found a broken symbolic link", &[&check[..], &[dangling.to_str().expect("UTF-8")]].concat());
    assert!(dangling.is_symlink());
}

#[test]
fn a_draft_that_cannot_be_written_is_reported_before_the_run() {
    let directory = tempfile::tempdir().expect("a directory");
    let missing = directory.path().join("missing").join("known.yaml");
    let check = ["check", "--impl", "reference", "--write-known", missing.to_str().expect("UTF-8")];
    let ran = ends(2, &check);
    assert!(ran.err.contains("does not exist") && ran.out.is_empty(), "{} {}", ran.err, ran.out);
    let report = directory.path().join("same");
    let report = report.to_str().expect("UTF-8");
    complains(
        "found the file of a report, expected another file",
        &["check", "--impl", "reference", "--format", "json", "--out", report, "--write-known", report],
    );
}
