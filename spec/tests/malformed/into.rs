//! Destinations, and operands that read their buffers (clauses INTO-1 to INTO-4).

use crate::{GOOD, lines};
use broadcheck_spec::{Operand, json, load_str, write};

/// The good case with a destination.
fn into(fields: &str) -> String {
    GOOD.replace("origin: hand", &format!("{fields}\n    origin: hand"))
}

/// A case whose second operand has these fields beside name, dtype and shape.
fn shared(second: &str, fields: &str) -> String {
    format!(
        "format: 1\nrules: numpy\ncases:\n  - id: numpy/x\n    title: A title.\n    clause: INTO-3\n    \
         origin: hand\n    expression: [add, a, b]\n    operands:\n      - {{name: a, dtype: f64, shape: [2], \
         values: [1, 2]}}\n      - {{name: b, {second}}}\n    {fields}\n    result: {{dtype: f64, shape: [2], \
         values: [3, 3]}}\n"
    )
}

const REVERSED: &str = "dtype: f64, shape: [2], strides: [-1], offset: 1, of: a";

#[test]
fn a_destination_is_an_operand_under_numpy() {
    let all = lines(&into("into: c"));
    assert!(all[0].contains("into: found `c`, expected an operand's name: a b"), "{all:?}");
    let all = lines(&into("into: a").replace("rules: numpy", "rules: none"));
    assert!(
        all[0].contains("`into` under the rule set `none`, expected `into` only under `numpy`"),
        "{all:?}"
    );
    let all = lines(&into("operation: gradient\n    wrt: a\n    into: a"));
    assert!(all[0].contains("`into` with the operation `gradient`, expected no such field"), "{all:?}");
}

#[test]
fn an_operand_reads_the_destinations_buffer_or_has_values() {
    for (second, fields, expected) in [
        (REVERSED, "note: \"\"", "operands[1].of: found `of` in a request without `into`, expected `values`"),
        (
            REVERSED,
            "into: b",
            "operands[1].of: found `a`, expected the destination's name, and `values` in the destination",
        ),
        (
            "dtype: f64, shape: [2]",
            "into: a",
            "operands[1]: found no field `values`, expected one: it is required",
        ),
        (
            "dtype: f64, shape: [2], of: a, values: [1, 2]",
            "into: a",
            "operands[1]: found both `values` and `of`, expected one of them",
        ),
        (
            "dtype: f32, shape: [2], of: a",
            "into: a",
            "operands[1].of: found a buffer of f64 for an operand of f32, expected one dtype",
        ),
        (
            "dtype: f64, shape: [3], of: a",
            "into: a",
            "operands[1].values: found 2 values for shape (3), expected 3",
        ),
        (
            "dtype: f64, shape: [2], strides: [1], offset: 1, of: a",
            "into: a",
            "positions inside its buffer of 2 values",
        ),
        (
            "dtype: f64, shape: [2], declared: [\"?\"], of: a",
            "into: a",
            "operands[1].of: found a declared shape in a request with `into`, expected none (clause INTO-4)",
        ),
    ] {
        let all = lines(&shared(second, fields));
        assert!(all.iter().any(|line| line.contains(expected)), "{second}: {all:?}");
    }
}

#[test]
fn elements_of_a_destination_do_not_share_places() {
    let text = shared("dtype: f64, shape: [2], values: [1, 2]", "into: a");
    let text = text.replacen("shape: [2], values: [1, 2]", "shape: [2], strides: [0], values: [1]", 1);
    let all = lines(&text);
    let expected = "operands[0].strides: found a destination of which two elements share a place";
    assert!(all.iter().any(|line| line.contains(expected)), "{all:?}");
}

#[test]
fn a_destination_survives_yaml_and_json() {
    for text in [
        into("into: a"),
        into("into: b"),
        shared(REVERSED, "into: a"),
        shared("dtype: f64, shape: [2], of: a", "into: a"),
    ] {
        let file = load_str(&text, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
        let request = &file.cases[0].request;
        assert!(request.destination().is_some());
        let again = load_str(&write::case_to_yaml(&file.cases[0]), "again.yaml").unwrap();
        assert_eq!(again.cases[0].request, *request);
        let value = json::request_to_value(request);
        let reads = request.operands()[1].reads_destination();
        assert_eq!(value["operands"][1].get("of").is_some(), reads);
        assert_eq!(value["operands"][1].get("values").is_some(), !reads);
        assert_eq!(json::request_from_value(value).as_ref(), Ok(request));
    }
}

#[test]
fn many_operands_share_one_buffer() {
    let values = vec!["1"; 1 << 16].join(", ");
    let reading: Vec<String> = (0..2000)
        .map(|place| {
            format!("{{\"name\":\"b{place}\",\"dtype\":\"u8\",\"shape\":[1],\"strides\":[0],\"of\":\"a\"}}")
        })
        .collect();
    let text = format!(
        "{{\"rules\":\"numpy\",\"expression\":\"a\",\"into\":\"a\",\"operands\":[{{\"name\":\"a\",\"dtype\":\"u8\",\
         \"shape\":[65536],\"values\":[{values}]}},{}]}}",
        reading.join(",")
    );
    let request = json::request_from_str(&text).unwrap();
    let buffers: std::collections::HashSet<*const broadcheck_spec::Data> =
        request.operands().iter().map(|operand| std::ptr::from_ref(operand.values())).collect();
    assert_eq!((request.operands().len(), buffers.len()), (2001, 1));
    assert!(request.operands().iter().skip(1).all(Operand::reads_destination));
}
