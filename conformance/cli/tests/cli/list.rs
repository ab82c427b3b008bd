//! `broadcheck list`, `show` and `explain`: what they select and print.

use super::*;

#[test]
fn a_filter_is_an_id_a_prefix_or_a_glob() {
    let listed = |args: &[&str]| -> Vec<String> {
        let ran = ends(0, args);
        ran.out.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
    };
    let all = listed(&["list"]);
    assert!(all.len() > 500);
    let some = cases_of(&["numpy-zero", "numpy-views", "xla-zero", "xla-views"]);
    let filtered = |filter| listed(&with(&["list", "--filter", filter], &some));
    let one = "numpy/zero/zero-with-zero-on-the-first-axis";
    assert!(all.iter().any(|id| id == one));
    assert_eq!(filtered(one), [one]);
    let zero = filtered("numpy/zero");
    assert!(zero.len() > 3 && zero.iter().all(|id| id.starts_with("numpy/zero")));
    let views = filtered("*/views/*");
    assert!(views.len() > 10 && views.iter().all(|id| id.contains("/views/")));
    assert!(views.iter().any(|id| id.starts_with("xla/")));
    for nothing in ["no/such", "*no-such*", "umpy/zero"] {
        complains("found nothing among", &with(&["list", "--filter", nothing], &some));
    }
    complains("found nothing among", &with(&["check", "--filter", "no/such"], &some));
    for empty in [&["--filter", ""][..], &["--filter="]] {
        complains("--filter: found an empty text", &[&["check"], empty].concat());
    }
    // What is wrong with the other options is reported before the cases are read.
    complains("--filter: found `[`", &["check", "--filter", "[", "--cases", "missing.yaml"]);
    complains("--impl fast@sse9", &["check", "--impl", "fast@sse9", "--cases", "missing.yaml"]);
    let conflicting = ["check", "--filter", "numpy/*", "--rules", "xla"];
    complains("--rules xla: found nothing", &with(&conflicting, &some));
}

#[test]
fn cases_are_listed_by_nature_and_convention() {
    let some = cases_of(&["numpy-nary", "numpy-values-choice", "xla-dimensions"]);
    let listed = |args: &[&str]| -> Vec<Value> {
        let ran = ends(0, &with(&[&["list", "--format", "json"], args].concat(), &some));
        serde_json::from_str::<Vec<Value>>(&ran.out).unwrap()
    };
    let order = listed(&["--convention", "refusal-order"]);
    assert!(order.len() > 5 && order.iter().all(|line| line["convention"] == "refusal-order"));
    let natures = ["rule", "arithmetic", "convention"].map(|nature| {
        let lines = listed(&["--nature", nature]);
        assert!(lines.iter().all(|line| line["nature"] == nature));
        lines.len()
    });
    assert!(natures.iter().all(|&count| count > 5), "{natures:?}");
    assert_eq!(natures.iter().sum::<usize>(), listed(&[]).len());
    let text = ends(0, &with(&["list", "--convention", "zero-signs"], &some)).out;
    assert!(
        !text.is_empty()
            && text.lines().all(|line| line.contains("  V-3  ") && line.contains("  zero-signs  ")),
        "{text}"
    );
    complains("`promotion` is not a convention", &["list", "--convention", "promotion"]);
    let both = ["list", "--nature", "rule", "--convention", "zero-signs"];
    complains("with all of these properties", &with(&both, &some));

    let shown = ends(0, &with(&["show", order[0]["id"].as_str().unwrap()], &some)).out;
    assert!(shown.contains("  nature     convention refusal-order: Of several faults"), "{shown}");
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
    let some = cases_of(&["pdpd-axis", "pdpd-trim", "pdpd-one-way"]);
    let ran = ends(0, &with(&["list", "--clause", "PDPD-3"], &some));
    assert!(
        !ran.out.is_empty() && ran.out.lines().all(|line| line.split_whitespace().nth(1) == Some("PDPD-3")),
        "{}",
        ran.out
    );
}

#[test]
fn show_prints_a_case_that_can_be_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let some = cases_of(&["xla-examples"]);
    let id = {
        let ran = ends(0, &with(&["list", "--example", "X18"], &some));
        ran.out.split_whitespace().next().unwrap().to_owned()
    };
    let ran = ends(0, &with(&["show", &id], &some));
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
        "none           refused   rank_mismatch               NONE-1",
        "numpy          accepted  (2,3)                       NUMPY-3",
        "xla            refused   rank_mismatch               XLA-3",
        "leading        refused   dimension_mismatch, axis 0  LEADING-2",
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
fn inferences_are_listed_and_shown() {
    let some = cases_of(&["numpy-infer", "numpy-nary"]);
    let listed = |args: &[&str]| -> Vec<Value> {
        let ran = ends(0, &with(&[&["list", "--format", "json"], args].concat(), &some));
        serde_json::from_str::<Vec<Value>>(&ran.out).unwrap()
    };
    let inferences = listed(&["--operation", "infer"]);
    assert!(inferences.len() > 50 && inferences.iter().all(|line| line["operation"] == "infer"));
    let runs = listed(&["--operation", "elementwise"]);
    assert!(!runs.is_empty() && runs.iter().all(|line| line["operation"] == "elementwise"));
    assert!(listed(&[]).len() >= inferences.len() + runs.len());
    complains(
        "`inferred` is not an operation: expected one of elementwise broadcast gradient infer",
        &["list", "--operation", "inferred"],
    );
    let id = inferences[0]["id"].as_str().unwrap();
    let shown = ends(0, &with(&["show", id], &some)).out;
    for words in [id, "    operation: infer\n", "shape: [", "INFER-"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let ran = ends(2, &with(&["show", &format!("{id}s")], &some));
    assert!(ran.err.contains(&format!("\n  {id}\n")), "{}", ran.err);
    let only = cases_of(&["numpy-infer"]);
    let valid = ends(0, &["validate", &only[1]]).out;
    assert!(valid.starts_with(&format!("ok: {} cases and 0 sweeps", inferences.len())), "{valid}");
    let counted = ends(0, &["clause", "INFER-4", "--format", "json"]).out;
    let counted: Value = serde_json::from_str(&counted).unwrap();
    assert!(counted[0]["cases"].as_u64().unwrap() > 30, "{counted}");
}

#[test]
fn explain_infers_from_unknown_lengths() {
    let ran = ends(0, &["explain", "?x3", "2x1..3"]);
    for row in [
        "none           depends  (2,3)              INFER-5",
        "numpy          depends  (2,3)              INFER-4",
        "pdpd           depends  (2,3)              INFER-6",
    ] {
        assert!(ran.out.contains(row), "{row}\n{}", ran.out);
    }
    let ran = ends(0, &["explain", "...", "1"]);
    for row in ["xla            not applicable  its shapes have known ranks", "numpy          always"] {
        assert!(ran.out.contains(row), "{row}\n{}", ran.out);
    }
    let ran = ends(0, &["explain", "--rules", "numpy", "--target", "1", "4..8"]);
    assert!(ran.out.contains("numpy: (4..8) to (1) => refused"), "{}", ran.out);
    let ran = ends(0, &["explain", "--rules", "bidirectional", "2", "?"]);
    assert!(ran.out.contains("bidirectional: (2) to (?) => (2)"), "{}", ran.out);
    let ran = ends(0, &["explain", "--rules", "theano", "--broadcastable", "t,f", "?", "?"]);
    assert!(
        ran.out.contains("axis 0: the length of A must be 1") || ran.out.contains("flagged True"),
        "{}",
        ran.out
    );
    let ran = ends(0, &["explain", "--rules", "pdpd", "--axis", "1", "2x3", "?"]);
    assert!(ran.out.contains("axis 1: the length of B must be 1 or 3"), "{}", ran.out);
    let ran = ends(0, &["explain", "--rules", "xla", "--dims", "0", "?", "2x3"]);
    assert!(ran.out.contains("axis 0: the length of lhs must be 1 or 2"), "{}", ran.out);

    for bad in ["??", "3..2", "2x...", "1..", "..", "2x-1..3", "18446744073709551616..", "?x"] {
        let ran = run(&["explain", "--rules", "numpy", "--", bad]);
        assert_eq!(ran.status, if bad == "1.." { 0 } else { 2 }, "{bad}: {}", ran.err);
        assert!(
            bad == "1.." || ran.err.contains("`?`, `..3`, `2..` or `1..3` for an unknown length"),
            "{}",
            ran.err
        );
    }
    complains("found an unknown rank under the rule set `xla`", &["explain", "--rules", "xla", "...", "2"]);
    complains(
        "found 1 flag for shape (?,2)",
        &["explain", "--rules", "theano", "--broadcastable", "f", "?x2"],
    );
    let wide = ["?"; 60_000].join("x");
    complains("expected at most 100000 lengths to draw", &["explain", "--rules", "none", &wide, &wide]);
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
    complains(
        "under `numpy`, `bidirectional`, `xla`, `leading` or `repeat`",
        &["explain", "--rules", "theano", "--target", "2", "2"],
    );
    let great = format!("{0}x{0}", i64::MAX);
    assert!(ends(0, &["explain", "--rules", "numpy", &great]).out.contains("too_large"));
}

#[test]
fn no_width_is_too_large() {
    // 65,999 characters: the formatter's own widths end at 65,535.
    let shape = ["1"; 33_000].join("x");
    ends(0, &["explain", "--rules", "numpy", &shape, "3"]);
}

#[test]
fn invalid_globs_are_2() {
    let nested = "{a,".repeat(200) + "b" + &"}".repeat(200);
    complains("found braces 200 deep, expected at most 10", &["check", "--filter", &nested]);
    complains("found braces 200 deep, expected at most 10", &["faults", "--filter", &nested]);
    complains("found a glob of 2000 bytes", &["list", "--filter", &"a?".repeat(1000)]);
}
