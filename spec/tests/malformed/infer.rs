//! Cases of the operation `infer`: spellings of lengths, fields of a run, and required answers.

use crate::lines;
use broadcheck_spec::{PartialShape, load_str};

/// A valid case of an expression. Each test changes one thing.
const GOOD: &str = r#"format: 1
rules: numpy
cases:
  - id: numpy/x
    title: A title.
    clause: INFER-4
    origin: hand
    operation: infer
    expression: [add, a, b]
    operands:
      - {name: a, dtype: f32, shape: ["?", 3]}
      - {name: b, dtype: f32, shape: [{max: 2}, 1]}
    inferred: {dtype: f32, shape: ["?", 3], accepts: depends}
"#;

const INFERRED: &str = "    inferred: {dtype: f32, shape: [\"?\", 3], accepts: depends}\n";

#[track_caller]
fn refused(from: &str, to: &str, expected: &str) {
    assert!(GOOD.contains(from), "nothing to replace: {from}");
    assert_eq!(lines(&GOOD.replacen(from, to, 1)), [expected], "{from} -> {to}");
}

#[track_caller]
fn loads(text: &str) {
    let file = load_str(text, "f.yaml").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    assert_eq!((file.cases.len(), file.inferences.len()), (0, 1));
}

#[test]
fn the_good_case_loads() {
    loads(GOOD);
    loads(&GOOD.replace("expression: [add, a, b]", "expression: a"));
    loads(&GOOD.replace(r#"["?", 3]"#, r#""...""#).replace("expression", "note: x\n    expression"));
    loads(&GOOD.replace(INFERRED, "    refusal: {kind: dimension_mismatch, axis: 1}\n"));
    let file = load_str(GOOD, "f.yaml").unwrap();
    assert_eq!(file.inferences[0].location.to_string(), "f.yaml:4");
    assert_eq!(file.inferences[0].request.operands()[1].shape().to_string(), "(..2,1)");
}

#[test]
fn every_spelling_of_a_length_that_is_right() {
    for (length, shown) in [
        ("0", "(0,1)"),
        ("18446744073709551615", "(18446744073709551615,1)"),
        ("\"?\"", "(?,1)"),
        ("'?'", "(?,1)"),
        ("{max: 0}", "(0,1)"),
        ("{max: 1}", "(..1,1)"),
        ("{min: 1}", "(1..,1)"),
        ("{max: 3, min: 2}", "(2..3,1)"),
        ("{max: 18446744073709551615}", "(..18446744073709551615,1)"),
    ] {
        let text = GOOD.replace("{max: 2}", length);
        let file = load_str(&text, "f.yaml");
        let shape = file.map(|file| file.inferences[0].request.operands()[1].shape().to_string());
        assert_eq!(shape.as_deref(), Ok(shown), "{length}");
    }
}

#[test]
fn a_length_has_one_spelling() {
    const AT: &str = "f.yaml:12:39: case numpy/x: operands[1].shape[0]: found";
    for (length, expected) in [
        ("{min: 0, max: 3}", "`min: 0`, expected no `min`: a length is 0 or more"),
        ("{min: 0}", "`min: 0`, expected no `min`: a length is 0 or more"),
        ("{min: 2, max: 2}", "bounds from 2 to 2, expected the number instead of equal bounds"),
        ("{}", "bounds without `min` and `max`, expected \"?\" for an unknown length"),
        ("{min: 3, max: 2}", "bounds from 3 to 2, expected a `max` that is not below `min`"),
        ("{most: 2}", "the field `most`, expected `min` or `max`"),
        ("{min: 1, max: 2, step: 1}", "the field `step`, expected `min` or `max`"),
        ("{max: 18446744073709551616}", "max: 1.8446744073709552e+19, expected an integer, 0 or more"),
        ("{max: -1}", "max: -1, expected an integer, 0 or more"),
        ("{max: \"2\"}", "max: the string \"2\", expected an integer, 0 or more"),
        ("{max: \"?\"}", "max: the string \"?\", expected an integer, 0 or more"),
        (
            "\"..2\"",
            "the string \"..2\", expected an integer, 0 or more, \"?\", or bounds such as {min: 1, max: 3}",
        ),
        (
            "\"2\"",
            "the string \"2\", expected an integer, 0 or more, \"?\", or bounds such as {min: 1, max: 3}",
        ),
        (
            "rows",
            "the string \"rows\", expected an integer, 0 or more, \"?\", or bounds such as {min: 1, max: 3}",
        ),
    ] {
        refused("{max: 2}", length, &format!("{AT} {expected}"));
    }
    for length in ["-1", "1.5", "true", "[2]", "18446744073709551616"] {
        let found = lines(&GOOD.replace("{max: 2}", length));
        let right = found.len() == 1 && found[0].contains("operands[1].shape[0]: found ");
        assert!(right, "{length}: {found:?}");
        assert!(found[0].ends_with("\"?\", or bounds such as {min: 1, max: 3}"), "{length}: {found:?}");
    }
}

/// In a required answer and in a target, too.
#[test]
fn a_length_has_one_spelling_everywhere() {
    refused(
        INFERRED,
        &INFERRED.replace("\"?\"", "{min: 2, max: 2}"),
        "f.yaml:13:36: case numpy/x: inferred.shape[0]: found bounds from 2 to 2, expected the number instead of equal bounds",
    );
    let target = GOOD.replace("expression: [add, a, b]", "target_shape: [{min: 0, max: 3}]").replacen(
        "      - {name: b, dtype: f32, shape: [{max: 2}, 1]}\n",
        "",
        1,
    );
    assert_eq!(
        lines(&target),
        [
            "f.yaml:9:20: case numpy/x: target_shape[0]: found `min: 0`, expected no `min`: a length is 0 or more"
        ]
    );
    loads(&target.replace("{min: 0, max: 3}", "{max: 3}"));
}

#[test]
fn what_is_asked() {
    refused(
        "    expression: [add, a, b]\n",
        "",
        "f.yaml:4:5: case numpy/x: expression: found neither `expression` nor `target_shape`, expected one of them for `infer`",
    );
    refused(
        "expression: [add, a, b]",
        "expression: [add, a, b]\n    target_shape: [2]",
        "f.yaml:10:19: case numpy/x: target_shape: found both `expression` and `target_shape`, expected one of them",
    );
    refused(
        "expression: [add, a, b]",
        "expression: [add, a, b]\n    wrt: a",
        "f.yaml:10:10: case numpy/x: wrt: found `wrt` with the operation `infer`, expected no such field: a gradient has no inference (INFER-1)",
    );
    refused(
        "expression: [add, a, b]",
        "target_shape: [2]",
        "f.yaml:11:7: case numpy/x: operands: found 2 operands of `broadcast`, expected exactly one",
    );
    refused(
        "expression: [add, a, b]",
        "expression: [add, a, c]",
        "f.yaml:9:26: case numpy/x: expression[2]: found `c`, expected an operand's name: a b",
    );
    // What else is wrong with it as a run is not reported.
    refused(
        "operation: infer",
        "operation: inference",
        "f.yaml:8:16: case numpy/x: operation: found `inference`, expected one of elementwise broadcast gradient infer",
    );
}

#[test]
fn fields_of_a_run() {
    for field in ["values: [1, 2]", "strides: [1, 1]", "offset: 0"] {
        let name = field.split(':').next().unwrap();
        refused(
            "shape: [{max: 2}, 1]",
            &format!("shape: [{{max: 2}}, 1], {field}"),
            &format!(
                "f.yaml:12:53: case numpy/x: operands[1].{name}: found unknown field `{name}`, expected one of `name`, `dtype`, `shape`, `broadcastable`"
            ),
        );
    }
    let found = lines(&GOOD.replace("    operation: infer\n", ""));
    assert!(
        found.iter().any(|line| line.contains("operands[0].shape[0]: found string \"?\", expected")),
        "{found:?}"
    );
    let broadcast = GOOD.replace("operation: infer", "operation: broadcast");
    let found = lines(&broadcast.replace("expression: [add, a, b]", "target_shape: [\"?\"]"));
    assert!(
        found.iter().any(|line| line.contains("target_shape[0]: found string \"?\", expected")),
        "{found:?}"
    );
}

#[test]
fn required_answers() {
    let result = "    result: {dtype: f32, shape: [2, 3], values: [1, 2, 3, 4, 5, 6]}\n";
    refused(
        INFERRED,
        result,
        "f.yaml:13:13: case numpy/x: result: found `result` with the operation `infer`, expected `inferred` or `refusal`",
    );
    refused(
        INFERRED,
        "",
        "f.yaml:4:5: case numpy/x: found neither `inferred` nor `refusal`, expected exactly one of them",
    );
    refused(
        INFERRED,
        &format!("{INFERRED}    refusal: {{kind: any}}\n"),
        "f.yaml:14:14: case numpy/x: refusal: found both `inferred` and `refusal`, expected exactly one of them",
    );
    refused(
        ", accepts: depends",
        "",
        "f.yaml:13:15: case numpy/x: inferred: found no field `accepts`, expected one: it is required",
    );
    refused(
        "accepts: depends",
        "accepts: never",
        "f.yaml:13:54: case numpy/x: inferred.accepts: found `never`, expected always or depends",
    );
    refused(
        "inferred: {dtype: f32",
        "inferred: {dtype: f33",
        "f.yaml:13:23: case numpy/x: inferred.dtype: found `f33`, expected one of f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool",
    );
    refused(
        "accepts: depends",
        "accepts: depends, values: [1]",
        "f.yaml:13:63: case numpy/x: inferred.values: found unknown field `values`, expected one of `dtype`, `shape`, `accepts`, `broadcastable`",
    );
    refused(
        "accepts: depends",
        "accepts: depends, broadcastable: [false, false]",
        "f.yaml:13:78: case numpy/x: inferred.broadcastable: found `broadcastable` under the rule set `numpy`, expected `broadcastable` only under `theano`",
    );
    refused(
        "shape: [\"?\", 3], accepts",
        "shape: \"..\", accepts",
        "f.yaml:13:35: case numpy/x: inferred.shape: found `..`, expected a list of lengths, or \"...\" for an unknown rank",
    );
    refused(
        INFERRED,
        "    refusal: {kind: dimension_mismatch, axis: 2}\n",
        "f.yaml:13:47: case numpy/x: refusal.axis: found 2, expected an axis below the rank 2",
    );
}

/// `inferred` is the answer to `infer` alone.
#[test]
fn an_inferred_shape_without_infer() {
    let run = crate::GOOD.replacen("    result: {", "    inferred: {", 1);
    assert_eq!(
        lines(&run),
        [
            "f.yaml:14:15: case numpy/x: inferred: found `inferred` without the operation `infer`, expected `result` or `refusal`"
        ]
    );
}

#[test]
fn ranks_and_flags() {
    for (rules, flags) in [("xla", ""), ("theano", "")] {
        let text = GOOD.replace("rules: numpy", &format!("rules: {rules}"));
        let text = text.replace("shape: [{max: 2}, 1]", &format!("shape: \"...\"{flags}"));
        assert_eq!(
            lines(&text),
            [format!(
                "f.yaml:12:38: case numpy/x: operands[1].shape: found an unknown rank under the rule set `{rules}`, expected a known rank"
            )]
        );
    }
    for rules in ["none", "pdpd"] {
        let text = GOOD.replace("rules: numpy", &format!("rules: {rules}"));
        loads(&text.replace("shape: [{max: 2}, 1]", "shape: \"...\""));
    }
    let flagged = |rules: &str, flags: &str| {
        let text = GOOD.replace("rules: numpy", &format!("rules: {rules}"));
        text.replace("shape: [{max: 2}, 1]", &format!("shape: [{{max: 2}}, 1], broadcastable: {flags}"))
    };
    loads(&flagged("theano", "[false, true]"));
    assert_eq!(
        lines(&flagged("theano", "[false]")),
        ["f.yaml:12:68: case numpy/x: operands[1].broadcastable: found 1 flag for shape (..2,1), expected 2"]
    );
    assert_eq!(
        lines(&flagged("numpy", "[false, true]")),
        [
            "f.yaml:12:68: case numpy/x: operands[1].broadcastable: found `broadcastable` under the rule set `numpy`, expected `broadcastable` only under `theano`"
        ]
    );
    assert_eq!("...".parse(), Ok(PartialShape::Unranked));
}

#[test]
fn attributes() {
    refused(
        "operation: infer",
        "operation: infer\n    axis: 0",
        "f.yaml:9:11: case numpy/x: axis: found `axis` under the rule set `numpy`, expected `axis` only under `pdpd`",
    );
    let alone = GOOD
        .replace("rules: numpy", "rules: pdpd")
        .replace("expression: [add, a, b]", "expression: a\n    axis: 0")
        .replace("      - {name: b, dtype: f32, shape: [{max: 2}, 1]}\n", "");
    let found = lines(&alone);
    assert!(found.len() == 1 && found[0].contains("axis: found `axis` with a single operand"), "{found:?}");
}
