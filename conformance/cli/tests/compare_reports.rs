//! `compare-reports` as a process: what broke, what was fixed, and errors for invalid input.

use jsonschema::validator_for;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A report of one implementation with these cases, statuses and details.
fn report(name: &str, version: &str, cases: &[(&str, &str, &str)]) -> Value {
    let case = |(id, status, detail): &(&str, &str, &str)| {
        json!({"id": format!("numpy/mine/{id}"), "status": status, "detail": detail, "rules": "numpy",
               "clause": "NUMPY-2", "title": format!("About {id}."), "source": [], "location": "a.yaml:1"})
    };
    let cases: Vec<Value> = cases.iter().map(case).collect();
    let summary = json!({"passed": 0, "failed": 0, "skipped": 0, "errored": 0, "known": 0});
    json!({"suite": {"version": "0.1.0", "cases": cases.len(), "sweeps": 0}, "interrupted": false,
           "implementations": [{"name": name, "version": version, "summary": summary, "known_without_case": [],
                                "cases": cases}]})
}

fn write(directory: &Path, name: &str, report: &Value) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, report.to_string()).unwrap();
    path
}

/// The exit status, standard output and standard error.
fn compare(old: &Path, new: &Path, format: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_broadcheck"));
    let output = command
        .arg("compare-reports")
        .args([old, new])
        .args(["--format", format])
        .output()
        .expect("it starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("no signal"), text(output.stdout), text(output.stderr))
}

/// Compares two reports in every format, and expects the same exit status from each.
fn compared(old: &Value, new: &Value) -> (i32, Value, String, String) {
    let directory = tempfile::tempdir().unwrap();
    let (old, new) = (write(directory.path(), "old.json", old), write(directory.path(), "new.json", new));
    let [text, markdown, json] = ["text", "markdown", "json"].map(|format| compare(&old, &new, format));
    assert!(text.0 == markdown.0 && text.0 == json.0, "{text:?}");
    let value: Value = serde_json::from_str(&json.1).unwrap_or_else(|error| panic!("{error}: {json:?}"));
    let schema: Value = serde_json::from_str(include_str!("../../schema/comparison.schema.json")).unwrap();
    let schema = validator_for(&schema).unwrap();
    let errors: Vec<String> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    (text.0, value, text.1, markdown.1)
}

#[test]
fn an_inference_that_becomes_wider_is_a_change() {
    let exact = report("mine", "1", &[("infer", "passed", "")]);
    let mut wider = exact.clone();
    wider["implementations"][0]["cases"][0]["wider"] = "expected f32 (2), got f32 (?)".into();
    let (status, value, text, _) = compared(&exact, &wider);
    assert_eq!((status, changes(&value)), (0, vec![("infer".into(), "changed".into())]));
    assert!(text.contains("passed, differently") && text.contains("got f32 (?)"), "{text}");
    assert_eq!(changes(&compared(&wider, &wider).1), []);
}

/// The change of each case, by the last part of its id.
fn changes(value: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let changes = value["implementations"][0]["changes"].as_array().unwrap();
    changes.iter().map(|one| (text(&one["id"]).replace("numpy/mine/", ""), text(&one["change"]))).collect()
}

#[test]
fn a_case_that_was_right_and_no_longer_is_counts_as_broken() {
    let old = report(
        "mine",
        "1.0",
        &[
            ("stays", "passed", ""),
            ("breaks", "passed", ""),
            ("crashes", "passed", ""),
            ("listed", "unexpected_pass", "passes"),
            ("withdrawn", "passed", ""),
            ("unlisted", "passed", ""),
            ("mends", "failed", "wrong values: 1"),
            ("answers", "skipped", "no f16"),
            ("worse", "skipped", "no f16"),
            ("other", "failed", "wrong values: 1"),
            ("same", "failed", "wrong values: 1"),
            ("gone", "passed", ""),
        ],
    );
    let new = report(
        "mine",
        "2.0",
        &[
            ("stays", "passed", ""),
            ("breaks", "failed", "wrong shape: <b>\n```"),
            ("crashes", "errored", "signal 11"),
            ("listed", "known_failure", "known: so"),
            ("withdrawn", "skipped", "no f16"),
            ("unlisted", "unexpected_pass", "passes"),
            ("mends", "passed", ""),
            ("answers", "passed", ""),
            ("worse", "failed", "wrong values: 2"),
            ("other", "failed", "wrong values: 3"),
            ("same", "failed", "wrong values: 1"),
            ("new", "failed", "wrong values: 4"),
        ],
    );
    let (status, value, text, markdown) = compared(&old, &new);
    assert_eq!(status, 1);
    let expected = [
        ("breaks", "broken"),
        ("crashes", "broken"),
        ("listed", "broken"),
        ("withdrawn", "broken"),
        ("mends", "mended"),
        ("answers", "mended"),
        ("worse", "changed"),
        ("other", "changed"),
        ("new", "new"),
        ("gone", "gone"),
    ];
    assert_eq!(changes(&value), expected.map(|(id, change)| (id.into(), change.into())));
    assert_eq!(value["broken"], 4);
    assert!(
        text.contains("mine 1.0 -> 2.0: 4 broken, 2 fixed, 2 changed, 1 new, 1 gone, 3 as before"),
        "{text}"
    );
    assert!(text.contains(
        "broken   numpy/mine/breaks  (passed -> failed)\n  About breaks.\n  now:    wrong shape: <b>"
    ));
    assert!(text.ends_with("\nBROKEN: 4 broken, 2 fixed, 2 changed, 1 new, 1 gone, 3 as before\n"), "{text}");
    assert!(markdown.contains("| mine 1.0 -&gt; 2.0 | 4 | 2 | 2 | 1 | 1 | 3 |"), "{markdown}");
    assert!(markdown.contains("\n````text\nAbout breaks."), "a fence longer than theirs: {markdown}");
}

#[test]
fn a_convention_is_not_broken() {
    let old = [
        ("was-known", "known_failure", "known: so"),
        ("was-right", "passed", ""),
        ("agreed", "agrees", ""),
        ("now-agrees", "passed", ""),
        ("now-right", "differs", "differs: 1"),
        ("same", "differs", "differs: 1"),
        ("otherwise", "differs", "differs: 1"),
    ];
    let new = [
        ("was-known", "differs", "differs: 1"),
        ("was-right", "differs", "differs: 1"),
        ("agreed", "differs", "differs: 1"),
        ("now-agrees", "agrees", ""),
        ("now-right", "agrees", ""),
        ("same", "differs", "differs: 1"),
        ("otherwise", "differs", "differs: 2"),
    ];
    let (status, value, text, _) = compared(&report("mine", "1", &old), &report("mine", "2", &new));
    assert_eq!((status, &value["broken"]), (0, &json!(0)), "{text}");
    let changed = ["was-known", "was-right", "agreed", "now-right", "otherwise"];
    assert_eq!(changes(&value), changed.map(|id| (id.into(), "changed".into())));
    assert!(text.contains("agreed  (agrees with a convention -> differs from a convention)"), "{text}");

    // What a convention does not excuse is still a defect.
    let (status, value, ..) = compared(
        &report("mine", "1", &[("a", "differs", "differs: 1"), ("b", "agrees", "")]),
        &report("mine", "2", &[("a", "errored", "signal 11"), ("b", "failed", "wrong")]),
    );
    assert_eq!((status, &value["broken"]), (1, &json!(2)));
}

#[test]
fn the_same_report_twice_is_0() {
    let same = report("mine", "1.0", &[("a", "passed", ""), ("b", "failed", "wrong")]);
    let (status, value, text, _) = compared(&same, &same);
    assert_eq!((status, changes(&value).len()), (0, 0));
    assert!(text.contains("mine 1.0 (the same version): 2 as before"), "{text}");
    assert!(text.ends_with("ok: 0 broken, 2 as before\n"), "{text}");
}

#[test]
fn missing_results_are_not_a_success() {
    let old = report("mine", "1.0", &[("a", "passed", "")]);
    let mut interrupted = old.clone();
    interrupted["interrupted"] = true.into();
    let (status, _, text, _) = compared(&old, &interrupted);
    assert_eq!(status, 1);
    assert!(text.contains("NEW was interrupted"), "{text}");
    assert_eq!(compared(&interrupted, &old).0, 0);

    let mut both = old.clone();
    let other = report("other", "3", &[("a", "passed", "")])["implementations"][0].clone();
    both["implementations"].as_array_mut().unwrap().push(other);
    let (status, value, text, _) = compared(&both, &old);
    assert_eq!((status, &value["gone_implementations"]), (1, &json!(["other 3"])));
    assert!(text.contains("implementations gone: other 3"), "{text}");
    assert_eq!(compared(&old, &both).0, 0);

    let mut later = old.clone();
    later["suite"]["version"] = "0.2.0".into();
    later["field of a later version"] = 1.into();
    let (status, _, text, _) = compared(&old, &later);
    assert_eq!(status, 0);
    assert!(text.contains("the suites differ: broadcheck 0.1.0 and 0.2.0"), "{text}");
}

#[test]
fn missing_cases_are_not_a_success() {
    let old = report("mine", "1.0", &[("a", "passed", ""), ("b", "passed", ""), ("c", "failed", "wrong")]);
    let (status, value, text, _) = compared(&old, &report("mine", "1.0", &[]));
    assert_eq!((status, &value["held"]), (1, &json!(false)));
    assert!(text.contains("mine: no case is in both reports"), "{text}");
    assert!(text.ends_with("\nBROKEN: 0 broken, 3 gone, 0 as before\n"), "{text}");
    let none = report("mine", "1.0", &[]);
    assert_eq!(compared(&none, &none).0, 1);

    // No case that was right may be missing; cases that were wrong may.
    let without = |lacking: usize| {
        let mut new = old.clone();
        new["implementations"][0]["cases"].as_array_mut().unwrap().remove(lacking);
        new
    };
    let (status, _, text, _) = compared(&old, &without(0));
    assert_eq!(status, 1);
    assert!(text.contains("1 case no longer answered, but right before"), "{text}");
    assert_eq!(compared(&old, &without(2)).0, 0);
    // Another version of the suite may have removed it.
    let mut later = without(0);
    later["suite"]["version"] = "0.2.0".into();
    assert_eq!(compared(&old, &later).0, 0);
}

#[test]
fn a_byte_order_mark_is_ignored() {
    let directory = tempfile::tempdir().unwrap();
    let report = report("mine", "1.0", &[("a", "passed", "")]);
    let marked = directory.path().join("marked.json");
    fs::write(&marked, format!("\u{feff}{report}")).unwrap();
    let (status, _, err) = compare(&marked, &marked, "text");
    assert_eq!(status, 0, "{err}");
}

#[test]
fn terminal_codes_of_reports_are_escaped() {
    let old = report("mi\u{1b}[31mne", "1.0", &[("a", "passed", "")]);
    let new = report("mi\u{1b}[31mne", "1.0", &[("a", "failed", "\u{1b}]0;owned\u{7}")]);
    let (_, _, text, markdown) = compared(&old, &new);
    for face in [text, markdown] {
        assert!(!face.contains(['\u{1b}', '\u{7}']) && face.contains("\\u{1b}]0;owned\\u{7}"), "{face}");
    }
}

#[test]
fn errors_name_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let good = write(directory.path(), "good.json", &report("mine", "1", &[("a", "passed", "")]));
    let bad = directory.path().join("bad.json");
    let complains = |content: &str, words: &str| {
        fs::write(&bad, content).unwrap();
        let (status, out, err) = compare(&good, &bad, "text");
        assert_eq!((status, out.as_str()), (2, ""), "{content}: {err}");
        assert!(err.contains("bad.json") && err.contains(words), "{content}: {err}");
    };
    complains("", "found an empty file, expected a report written by `broadcheck check --format json`");
    complains(
        "not JSON",
        "found text that is not JSON (expected ident at line 1 column 2), expected a report",
    );
    complains("[1]", "expected a report");
    complains("{}", "missing field `suite`");
    complains("{\"suite\":{\"version\":\"1\"},\"implementations\":[]}", "found no implementation");
    let with = |cases: &[(&str, &str, &str)]| report("mine", "1", cases).to_string();
    complains(&with(&[("a", "broke", "")]), "found the status `broke`, expected one of passed failed");
    complains(&with(&[("a", "passed", ""), ("a", "passed", "")]), "found the case `numpy/mine/a` twice");
    complains(
        &report("other", "2", &[("a", "passed", "")]).to_string(),
        "found mine 1 in OLD and other 2 in NEW, expected an implementation that is in both",
    );
    let (status, _, err) = compare(&good, &directory.path().join("missing.json"), "text");
    assert_eq!(status, 2);
    assert!(err.contains("missing.json: "), "{err}");
    let (status, _, err) = compare(&good, directory.path(), "text");
    assert!(status == 2 && err.contains("other than a regular file"), "{err}");
}
