//! Reports: their formats, the files that they are written to, and `broadcheck matrix`.

use super::*;

#[test]
fn the_matrix_is_made_from_reports() {
    let directory = tempfile::tempdir().unwrap();
    let report = directory.path().join("report.json");
    let report = report.to_str().unwrap();
    let some = cases_of(&["numpy-zero", "xla-zero"]);
    let check = ["check", "--impl", "reference", "--impl", "ndarray", "--format", "json", "--out", report];
    ends(0, &with(&check, &some));
    let table = ends(0, &["matrix", report]).out;
    assert!(table.starts_with("| system | rule set | asked | passed |"), "{table}");
    let row = concat!("\n| reference ", env!("CARGO_PKG_VERSION"), " | numpy | all ");
    assert!(table.contains(row), "{table}");
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
fn json_matches_its_schema() {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), "wrong.yaml", &case_file("37"));
    let cases = directory.path().to_str().unwrap();
    let schema: Value = serde_json::from_str(include_str!("../../../schema/report.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let some = cases_of(&["theano-examples", "theano-flags", "theano-broadcasting", "theano-sweeps"]);
    let some = with(&["check", "--sample-sweeps", "5"], &some);
    let suite = ends(0, &[&some[..], &["--format", "json"]].concat());
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
    let text = ends(0, &some).out;
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
fn case_files_are_given_with_an_option_or_without() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = write(directory.path(), "wrong.yaml", &case_file("37"));
    let right = write(directory.path(), "right.yaml", &case_file("36").replace("mine/sum", "mine/right"));
    let by_option = ends(1, &["check", "--impl", "reference", "--cases", &right, "--cases", &wrong]);
    let without = ends(1, &["check", &right, "--impl", "reference", &wrong]);
    assert!(without.out.contains(": 1 passed, 1 failed"), "{}", without.out);
    // The time of a run is not part of its output.
    assert_eq!(without.out, by_option.out);
    assert_eq!(ends(0, &["list", &wrong]).out, ends(0, &["list", "--cases", &wrong]).out);
    complains("numpy/zero", &["check", "numpy/zero"]);
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
    let some = cases_of(&["none-shapes"]);
    let check = with(&["check", "--impl", "reference", "--format", "json"], &some);
    let check = [&check[..], &["--out"]].concat();
    ends(0, &[&check[..], &[out]].concat());
    assert!(link.is_symlink());
    assert!(fs::read_to_string(&target).expect("a report").contains("none/shapes/scalars"));
    assert_eq!(target.metadata().expect("a file").permissions().mode() & 0o777, 0o600);
    let dangling = directory.path().join("dangling");
    symlink(directory.path().join("nothing"), &dangling).expect("a link");
    complains("found a broken symbolic link", &[&check[..], &[dangling.to_str().expect("UTF-8")]].concat());
    assert!(dangling.is_symlink());
}
