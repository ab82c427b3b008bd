//! Declared shapes: what an implementation that builds ahead is told before the run (clause DECL-1).

use crate::{GOOD, lines, refused};
use broadcheck_spec::{PartialShape, json, load_str, write};

const TO: &str = "shape: [2, 3], declared: ";

fn wrong(declared: &str, expected: &str) {
    refused("shape: [2, 3]", &format!("{TO}{declared}"), expected);
}

#[test]
fn a_declared_shape_admits_the_shape_of_the_run() {
    let at = "f.yaml:12:56: case numpy/x: operands[0].declared: found";
    wrong("[\"?\"]", &format!("{at} (?), expected a shape that admits (2,3) (DECL-1)"));
    wrong("[2, 4]", &format!("{at} (2,4), expected a shape that admits (2,3) (DECL-1)"));
    wrong("[{min: 3}, 3]", &format!("{at} (3..,3), expected a shape that admits (2,3) (DECL-1)"));
    wrong("[{max: 1}, \"?\"]", &format!("{at} (..1,?), expected a shape that admits (2,3) (DECL-1)"));
    wrong("\"?\"", &format!("{at} `?`, expected a list of lengths, or \"...\" for an unknown rank"));
    let length = "an integer, 0 or more, \"?\", or bounds such as {min: 1, max: 3}";
    wrong(
        "[\"2\", 3]",
        &format!(
            "f.yaml:12:57: case numpy/x: operands[0].declared[0]: found the string \"2\", expected {length}"
        ),
    );
    wrong(
        "[{min: 0, max: 2}, 3]",
        "f.yaml:12:57: case numpy/x: operands[0].declared[0]: found `min: 0`, expected no `min`: a length is 0 or more",
    );
}

#[test]
fn only_a_target_may_be_declared_besides_operands() {
    let text = GOOD.replace("expression:", "declared_target_shape: [\"?\", 3]\n    expression:");
    let found = "found `declared_target_shape` with the operation `elementwise`, expected no such field";
    assert_eq!(lines(&text), [format!("f.yaml:10:28: case numpy/x: declared_target_shape: {found}")]);
}

#[test]
fn ranks_are_known_under_xla_and_theano() {
    for rules in ["xla", "theano"] {
        let text = GOOD.replace("rules: numpy", &format!("rules: {rules}"));
        let text = text.replacen("shape: [2, 3], values", "shape: [2, 3], declared: \"...\", values", 1);
        let found = format!("found an unknown rank under the rule set `{rules}`, expected a known rank");
        assert_eq!(lines(&text), [format!("f.yaml:12:56: case numpy/x: operands[0].declared: {found}")]);
    }
}

#[test]
fn what_is_declared_survives_yaml_and_json() {
    let text =
        GOOD.replacen("shape: [2, 3], values", "shape: [2, 3], declared: [{max: 4}, \"?\"], values", 1);
    let file = load_str(&text, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
    let case = &file.cases[0];
    let declared: PartialShape = "..4x?".parse().unwrap();
    assert_eq!(case.request.operands()[0].declared(), Some(&declared));
    assert_eq!(case.request.declared().count(), 1);
    let again = load_str(&write::case_to_yaml(case), "again.yaml").unwrap();
    assert_eq!(again.cases[0].request, case.request);
    let line = json::request_to_value(&case.request).to_string();
    assert!(line.contains(r#""declared":[{"max":4},"?"]"#), "{line}");
    assert_eq!(json::request_from_str(&line).as_ref(), Ok(&case.request));
    let wide = line.replace(r#"{"max":4}"#, r#"{"min":0,"max":"4"}"#);
    assert_eq!(json::request_from_str(&wide).as_ref(), Ok(&case.request));
}

#[test]
fn a_target_may_be_declared() {
    let text = r#"format: 1
rules: numpy
cases:
  - id: numpy/x
    title: A title.
    clause: NUMPY-5
    origin: hand
    operation: broadcast
    operands:
      - {name: a, dtype: f64, shape: [1], values: [1]}
    target_shape: [2, 1]
    declared_target_shape: "..."
    result: {dtype: f64, shape: [2, 1], values: [1, 1]}
"#;
    let file = load_str(text, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
    let request = &file.cases[0].request;
    assert_eq!(request.declared_target(), Some(&PartialShape::Unranked));
    let again = load_str(&write::case_to_yaml(&file.cases[0]), "again.yaml").unwrap();
    assert_eq!(again.cases[0].request, *request);
    let line = json::request_to_value(request).to_string();
    assert_eq!(json::request_from_str(&line).as_ref(), Ok(request));
    let wrong = text.replace("\"...\"", "[2]");
    let found = "declared_target_shape: found (2), expected a shape that admits (2,1) (DECL-1)";
    assert_eq!(lines(&wrong), [format!("f.yaml:12:28: case numpy/x: {found}")]);
}
