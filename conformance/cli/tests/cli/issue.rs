//! `broadcheck show --program` and `broadcheck issue`, with a harness that writes programs.

use super::{SUITE, case_file, complains, ends, has_python, scratch, write};
use std::path::Path;

/// Adds two operands of equal shapes, or a row to a matrix. With the argument `wrong`, each sum is too large
/// by one. It writes programs, unless it has the argument `mute`.
const HARNESS: &str = r##"
import json, sys

wrong = "wrong" in sys.argv
if "--program" in sys.argv:
    request = json.load(sys.stdin)
    if "mute" in sys.argv:
        sys.exit(0)
    if len(request["operands"]) != 2:
        sys.exit("cannot be written because it has no two operands")
    print("import fake\nprint(fake.add(%s))" % request["operands"][0]["values"])
    print("# " + request["expected"])
    sys.exit(0)
START = {"version": 1, "implementation": {"name": "fake", "version": "7", "rules": ["numpy"], "operations": ["elementwise"],
         "functions": ["add"], "dtypes": ["f64"]}}
for line in sys.stdin:
    message = json.loads(line)
    if message["cmd"] == "stop":
        break
    answer = START
    if message["cmd"] == "run":
        a, b = (operand["values"] for operand in message["request"]["operands"])
        values = [x + b[place % len(b)] + wrong for place, x in enumerate(a)]
        shape = message["request"]["operands"][0]["shape"]
        answer = {"seq": message["seq"], "result": {"dtype": "f64", "shape": shape, "values": values}}
    print(json.dumps(answer), flush=True)
"##;

/// The command of the harness, and a file with one case.
fn harness(directory: &Path, words: &str) -> (String, String) {
    let script = write(directory, "harness.py", HARNESS);
    (format!("python3 {script} {words}"), write(directory, "case.yaml", &case_file("36")))
}

#[test]
fn a_case_is_shown_as_a_program_that_says_what_is_expected() {
    if !has_python() {
        return;
    }
    let directory = scratch();
    let (command, file) = harness(directory.path(), "");
    let shown =
        |command: &str| ["show", "numpy/mine/sum", "--cases", &file, "--program", command].map(str::to_owned);
    let arguments = shown(&command);
    let program = ends(0, &arguments.each_ref().map(String::as_str)).out;
    assert_eq!(
        program,
        "import fake\nprint(fake.add([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))\n\
         # expected: f64 (2,3) [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]\n"
    );
    let arguments = shown(&(command + " mute"));
    complains("it writes no programs", &arguments.each_ref().map(String::as_str));
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn what_cannot_be_written_is_an_error_with_the_reason() {
    complains("built-in implementation", &["show", "numpy/align/scalar-minus-vector", "--program", "fast"]);
    complains("found no such case", &["show", "numpy/align/scalar-minus", "--program", "fast"]);
    complains("found a case of the operation infer", &["show", &inference(), "--program", "fast"]);
    complains("cannot be started", &["show", "numpy/align/scalar-minus-vector", "--program", "./missing"]);
    if !has_python() {
        return;
    }
    let directory = scratch();
    let (command, _) = harness(directory.path(), "");
    let one = ["show", "numpy/broadcast-to/scalar-to-scalar", "--program", &command];
    complains("cannot be written because it has no two operands", &one);
}

/// The id of a case of `infer`.
fn inference() -> String {
    SUITE.inferences[0].id.clone()
}

#[test]
fn an_issue_has_the_program_the_clause_and_what_was_answered() {
    if !has_python() {
        return;
    }
    let directory = scratch();
    let (command, file) = harness(directory.path(), "wrong");
    let text = ends(0, &["issue", &file, "--impl", &command]).out;
    for part in [
        "# fake 7: A row is added to a matrix\n",
        "## Program\n\n```python\nimport fake\n",
        "# expected: f64 (2,3) [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]\n```\n",
        "## Expected\n\n```text\nf64 (2,3) [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]\n```\n",
        "## Got\n\n```text\nwrong values: element (0,0): expected 11.0",
        "**NUMPY-3. ",
        "> **Rule.** ",
        "The case comes from openvino, lines 23.\n",
        "- System: fake 7\n",
        "Not known: no report of another system was given",
    ] {
        assert!(text.contains(part), "{part}\nin\n{text}");
    }
    // The reader has neither the file nor the harness.
    assert!(!text.contains("broadcheck show") && !text.contains(&command), "{text}");
    let right = command.replace(" wrong", "");
    let passed = ends(1, &["issue", &file, "--impl", &right]).out;
    assert_eq!(passed, "fake 7 passes numpy/mine/sum: there is nothing to report\n");
}

#[test]
fn reports_say_what_a_system_and_its_neighbours_answered() {
    if !has_python() {
        return;
    }
    let directory = scratch();
    let (command, file) = harness(directory.path(), "wrong");
    let report = directory.path().join("report.json").display().to_string();
    let run =
        ["check", "--cases", &file, "--impl", "reference", "--impl", &command, "--format", "json", "--out"];
    ends(1, &[&run[..], &[&report]].concat());
    // The report has the answer, so that the system is not asked; there is no adapter for a program.
    let text = ends(0, &["issue", &file, "--report", &report]).out;
    assert!(text.contains("## Got\n\n```text\nwrong values: element (0,0): expected 11.0"), "{text}");
    assert!(text.contains("There is no program: found no adapter \\`fake\\`"), "{text}");
    assert!(text.contains("## The same in other systems\n\n- reference "), "{text}");
    assert!(text.contains(": passed\n") && !text.contains("Platform"), "{text}");
    let passed = ends(1, &["issue", &file, "--impl", "reference", "--report", &report]).out;
    assert!(passed.contains("in the report: there is nothing to report"), "{passed}");
}

#[test]
fn an_issue_about_a_finding_is_its_page() {
    let ran = ends(0, &["issue", "121"]);
    let text = ran.out;
    assert!(text.starts_with("# In place, an operand that overlaps the destination is read"), "{text}");
    for part in [
        "**Expected:** ",
        "```python\nimport torch\n",
        "**INTO-3. ",
        "- System: PyTorch 2.15.0\n",
        "- numba: listed as",
    ] {
        assert!(text.contains(part), "{part}\nin\n{text}");
    }
    assert!(!text.contains("](../") && !text.contains("- torch: "), "{text}");
    assert!(ran.err.contains("finding 121 is reported"), "{}", ran.err);
    let of_code = ends(0, &["issue", "165"]).out;
    assert!(of_code.starts_with("# `negative` ignores a stride of 4 elements"), "{of_code}");
}

#[test]
fn issues_without_a_case_or_a_system_are_errors() {
    complains("found no such finding, expected a number from 1 to ", &["issue", "99999"]);
    complains("found no such finding", &["issue", "99999999999999999999"]);
    complains("--impl: found it beside a finding", &["issue", "121", "--impl", "fast"]);
    complains("found no such case, expected an id such as", &["issue", "numpy/nothing"]);
    complains("found no --impl, and 0 systems", &["issue", "numpy/align/scalar-minus-vector"]);
    complains("missing.yaml", &["issue", "missing.yaml", "--impl", "fast"]);
    complains("a report written by", &["issue", "121", "--report", "Cargo.toml"]);
    complains("cannot be asked this", &["issue", "theano/dtypes/bool", "--impl", "ndarray"]);
}
