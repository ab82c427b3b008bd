//! `broadcheck diverge` and `exhaust`.

use super::*;

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
fn exhaust_infer_counts_what_is_inferred() {
    let ran = ends(0, &["exhaust", "--infer", "--max-rank", "1", "--max-dim", "1", "--rules", "numpy,pdpd"]);
    let last = ran.out.lines().last().unwrap();
    assert!(last.starts_with("ok: ") && last.contains(" 0 of them wider, 0 differences, "), "{last}");
    assert!(ran.out.starts_with("ranks 0 to 1 and unknown, lengths 0 to 1 and unknown\n"), "{}", ran.out);
    assert!(ran.out.contains("\npdpd ") && !ran.out.contains("\nxla "), "{}", ran.out);
    // The crate ndarray infers nothing: alone it is not tested.
    let ran = ends(1, &["exhaust", "--infer", "--max-rank", "0", "--impl", "ndarray"]);
    assert!(ran.out.contains("ndarray was not tested: it declares no signature"), "{}", ran.out);
    complains("signatures, expected at most", &["exhaust", "--infer", "--max-rank", "30"]);
    complains("--infer", &["exhaust", "--exact"]);
}

/// Waits until a process handles SIGINT, or where it cannot be seen, for a second.
#[cfg(unix)]
fn wait_for_interrupt_handler(process: u32) {
    // The signals that are caught, as a mask in hexadecimal: SIGINT is the second.
    let handles = |status: String| {
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        Some(u64::from_str_radix(caught.trim(), 16).ok()? & 2 != 0)
    };
    for _ in 0..100 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        if fs::read_to_string(format!("/proc/{process}/status")).ok().and_then(handles) == Some(true) {
            return;
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
    // The work takes minutes.
    wait_for_interrupt_handler(child.id());
    let sent = Command::new("kill").arg("-INT").arg(child.id().to_string()).status().unwrap();
    assert!(sent.success());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let out = String::from_utf8(ended.stdout).unwrap();
    assert!(out.lines().last().unwrap().starts_with("interrupted: "), "{out}");
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
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
