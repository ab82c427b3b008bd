//! `broadcheck check`: the table, failures, and invalid arguments.

use super::*;

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
fn how_much_must_be_asked_can_be_required() {
    let some = cases_of(&["numpy-align", "numpy-nary", "numpy-views", "numpy-zero", "numpy-gradient"]);
    let some = with(&["check", "--impl", "ndarray"], &some);
    let ran = ends(0, &some);
    assert!(
        ran.out.contains("no gradient") && ran.out.lines().last().unwrap().starts_with("ok: "),
        "{}",
        ran.out
    );
    let ran = ends(1, &[&some[..], &["--min-asked", "100"]].concat());
    assert!(ran.out.contains("shape cases of numpy were asked"), "{}", ran.out);
    assert!(ran.out.contains("expected at least 100 % (--min-asked)"), "{}", ran.out);
    complains("--min-asked", &["check", "--min-asked", "101"]);
}

#[test]
fn operands_are_given_in_other_ways() {
    let some = cases_of(&["numpy-zero", "numpy-gradient"]);
    let reference = with(&["check", "--impl", "reference"], &some);
    ends(0, &[&reference[..], &["--given", "all"]].concat());
    let ran = ends(0, &[&reference[..], &["--given", "constants"]].concat());
    assert!(ran.out.contains("no operand that could be a constant"), "{}", ran.out);
    complains("expected all, or some of constants, values", &["check", "--given", "constant"]);
    complains("cannot be used with", &["check", "--given", "same", "--declared=lengths"]);

    let directory = tempfile::tempdir().unwrap();
    let wrong = write(directory.path(), "wrong.yaml", &case_file("37"));
    let ran = ends(1, &["check", "--cases", &wrong, "--impl", "reference", "--given", "same,constants"]);
    assert!(ran.out.contains("given a as a constant: wrong values: element (1,2)"), "{}", ran.out);
    assert!(ran.out.contains("(3 of 3 ways)"), "{}", ran.out);
    let rerun = format!(
        "broadcheck check --cases {wrong} --given constants,same --impl reference --filter numpy/mine/sum"
    );
    assert!(ran.out.contains(&rerun), "{}", ran.out);
}

#[test]
fn zero_passed_is_1() {
    let some = cases_of(&["xla-examples"]);
    let ran = ends(1, &with(&["check", "--impl", "ndarray"], &some));
    assert!(ran.out.contains("ndarray 0.17"), "{}", ran.out);
    assert!(ran.out.contains("passed no case"), "{}", ran.out);
    assert!(ran.out.lines().last().unwrap().starts_with("FAILED: "), "{}", ran.out);
    // An implementation that is named must pass something, even beside another that does; otherwise it need
    // not.
    ends(1, &with(&["check", "--impl", "reference", "--impl", "ndarray"], &some));
    ends(0, &with(&["check"], &some));
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
fn a_missing_simd_level_is_an_error() {
    let some = cases_of(&["none-examples"]);
    let ran = ends(0, &with(&["check", "--impl", "fast@portable"], &some));
    assert!(ran.out.contains("fast@portable"), "{}", ran.out);
    complains(
        "found no such SIMD level, expected one of this machine: fast@portable",
        &["check", "--impl", "fast@sse9"],
    );
    let forced = |level: &str| {
        let arguments = with(&["check", "--impl", "fast"], &some);
        command(&arguments).env("BROADCHECK_SIMD", level).output().expect("the program starts")
    };
    assert_eq!(forced("portable").status.code(), Some(0));
    let unknown = forced("sse9");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("BROADCHECK_SIMD: found `sse9`, expected"));
}
