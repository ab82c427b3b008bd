//! What a harness declares beside its capabilities: batches, and a switch for its optimiser.

use super::*;

/// A harness that does this wrong, if there is a Python to run it.
fn declares(way: &str) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness/tests/bad_harnesses/declares.py");
    has_python().then(|| format!("python3 '{}' {way}", script.display()))
}

/// A case in which a zero stretches the other operand.
const STRETCHED: &str = r#"format: 1
rules: numpy
cases:
  - id: numpy/mine/zeros
    title: Zeros stretch the other operand.
    clause: NUMPY-3
    source:
      - {document: openvino, lines: "23"}
    origin: hand
    expression: [add, a, b]
    operands:
      - {name: a, dtype: f64, shape: [1], values: [7]}
      - {name: b, dtype: f64, shape: [2], values: [0, 0]}
    result: {dtype: f64, shape: [2], values: [7, 7]}
"#;

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn an_optimiser_that_changes_an_answer_is_caught() {
    let Some(right) = declares("right") else { return };
    let folds = declares("folds").unwrap();
    let directory = scratch();
    let cases = write(directory.path(), "mine.yaml", STRETCHED);
    let check = |harness: &str, position: &str, status: i32| {
        ends(status, &["check", "--impl", harness, "--cases", &cases, "--optimiser", position])
    };
    for position in ["off", "on", "both"] {
        check(&right, position, 0);
    }
    check(&folds, "off", 0);
    let on = check(&folds, "on", 1);
    assert!(on.out.contains("wrong shape: expected shape (2), got (1)"), "{}", on.out);
    let both = check(&folds, "both", 1);
    let changed = "changed by the optimiser: off: passed; on: wrong shape: expected shape (2), got (1)";
    assert!(both.out.contains(changed), "{}", both.out);
    assert!(
        both.out.contains("check --cases ") && both.out.contains(" --optimiser both --impl"),
        "{}",
        both.out
    );
    let dies = check(&declares("dies").unwrap(), "both", 1);
    assert!(dies.out.contains("changed by the optimiser: off: passed; on: the process "), "{}", dies.out);
}

#[test]
fn known_failures_are_about_a_position() {
    let Some(folds) = declares("folds") else { return };
    let directory = scratch();
    let cases = write(directory.path(), "mine.yaml", STRETCHED);
    let known = "implementation: declares\nknown:\n  - {case: numpy/mine/zeros, optimiser: \"on\", reason: it folds, \
                 url: 'https://example.org/1'}\n";
    let known = write(directory.path(), "known.yaml", known);
    let check = |position: &[&str], status: i32| {
        let args = ["check", "--impl", &folds, "--cases", &cases, "--known", &known];
        ends(status, &[&args[..], position].concat()).out
    };
    // Nothing passes where the only case is known to fail.
    for position in ["on", "both"] {
        assert!(check(&["--optimiser", position], 1).contains("1 known to fail"), "{position}");
    }
    for position in [&[][..], &["--optimiser", "off"]] {
        assert!(check(position, 0).contains("1 passed"), "{position:?}");
    }
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn two_positions_are_compared_on_small_shapes_and_on_random_requests() {
    let Some(folds) = declares("folds") else { return };
    let bounds = ["--rules", "numpy", "--max-rank", "1", "--max-dim", "2"];
    let exhaust = |harness: &str, status: i32| {
        let args = ["exhaust", "--impl", harness, "--optimiser", "both"];
        ends(status, &[&args[..], &bounds].concat())
    };
    let right = declares("right").unwrap();
    exhaust(&right, 0);
    let found = exhaust(&declares("shifts").unwrap(), 1);
    assert!(found.out.contains("DIFFERENCE  ") && found.out.contains("optimiser on"), "{}", found.out);
    let fuzz = |harness: &str, position: &str, status: i32| {
        let sides = ["fuzz", "--left", harness, "--left-optimiser", "off", "--right", harness];
        let rest = ["--right-optimiser", position, "--requests", "400", "--jobs", "1", "--rewrites", "never"];
        ends(status, &[&sides[..], &rest].concat())
    };
    fuzz(&folds, "off", 0);
    let found = fuzz(&folds, "on", 1);
    assert!(found.out.contains("optimiser on"), "{}", found.out);
}

#[test]
fn a_position_needs_a_switch() {
    complains(
        "found reference, which has no optimiser",
        &["check", "--impl", "reference", "--optimiser", "on"],
    );
    let left = "error: --left-optimiser: found reference, which has no optimiser, expected --left with";
    complains(left, &["fuzz", "--left-optimiser", "on"]);
    complains("expected off, on or both", &["check", "--optimiser", "aggressive"]);
    complains("expected off or on", &["fuzz", "--right-optimiser", "both"]);
    let Some(mute) = declares("mute") else { return };
    complains("it declares no optimiser", &["check", "--impl", &mute, "--optimiser", "off"]);
    let deaf = declares("deaf").unwrap();
    let stays = "found the optimiser off in the answer to `start`, expected on";
    complains(stays, &["check", "--impl", &deaf, "--optimiser", "on"]);
    let both = ["check", "--impl", &deaf, "--optimiser", "both", "--given", "again"];
    complains("found --given or --declared beside it", &both);
    let right = declares("right").unwrap();
    let several = ["exhaust", "--impl", &right, "--impl", &deaf, "--optimiser", "both"];
    complains("found several commands without a name, expected --impl-name NAME after each --impl", &several);
}

#[test]
#[ignore = "takes about a second or more: .ci/run runs it"]
fn smoke_sends_a_batch_and_switches_the_optimiser() {
    if !has_python() {
        return;
    }
    let smoke = |way: &str, status: i32| ends(status, &["smoke", "--impl", &declares(way).unwrap()]).out;
    let right = smoke("right", 0);
    for words in [
        "optimiser   off, with a switch",
        "ok        4 requests in one message are answered in their order",
        "ok        it starts with the optimiser off",
        "ok        it starts with the optimiser on",
    ] {
        assert!(right.contains(words), "{words}: {right}");
    }
    for (way, status, words) in [
        ("short", 1, "found 3 answers, expected 4"),
        ("reversed", 1, "answer 1: wrong shape: expected shape (1), got (3)"),
        ("unbatched", 0, "it cannot build them together"),
        ("repeats", 1, "WRONG     4 requests in one message are answered in their order"),
        ("deaf", 1, "WRONG     it starts with the optimiser on"),
    ] {
        let out = smoke(way, status);
        assert!(out.contains(words), "{way}: {out}");
    }
}

#[test]
fn results_in_batches_are_those_without() {
    let some = cases_of(&["numpy-align", "numpy-gradient", "numpy-zero", "xla-examples", "theano-flags"]);
    let served = format!("'{}' serve --impl fast --batch 40", env!("CARGO_BIN_EXE_broadcheck"));
    let check = ["check", "--impl", &served, "--impl-name", "served", "--format", "json"];
    let report = |batch: &[&str]| ends(0, &with(&[&check[..], batch].concat(), &some)).out;
    let together = report(&[]);
    assert!(together.contains("\"passed\""), "{together}");
    for batch in ["off", "7"] {
        assert_eq!(report(&["--batch", batch]), together, "{batch}");
    }
    let fuzz = ["fuzz", "--left", &served, "--requests", "100", "--jobs", "1"];
    let timeless = |batch: &[&str]| {
        let out = ends(0, &[&fuzz[..], batch].concat()).out;
        out.lines().filter(|line| !line.starts_with("ok: ")).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(timeless(&["--batch", "off"]), timeless(&[]));
}
