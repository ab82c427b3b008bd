//! Known failures: how they are matched, counted and drafted.

use super::*;

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

    let check = ["check", "--cases", &right, "--known"];
    let complains = |words: &str, more: &[&str]| complains(words, &[&check[..], more].concat());
    complains("`ndarray`, which does not run", &[&two, "--impl", "reference"]);
    complains("a second file for `ndarray`", &[&lists, "--known", &two]);
    let bad = known("k3", "implementation: ndarray\nknown: 7\n");
    complains("expected a list of `{case, reason, finding}`", &[&bad]);
    complains("No such file", &["/no/such/file"]);
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
#[ignore = "takes about a second or more: .ci/run runs it"]
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
