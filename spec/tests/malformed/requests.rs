//! Operands, values, expressions, operations and attributes.

use crate::{GOOD, lines, refused};

#[test]
fn operands() {
    refused(
        "4, 5, 6]",
        "4, 5]",
        "f.yaml:12:54: case numpy/x: operands[0].values: found 5 values for shape (2,3), expected 6",
    );
    refused(
        "shape: [3]",
        "shape: []",
        "f.yaml:13:50: case numpy/x: operands[1].values: found 3 values for shape (), expected 1",
    );
    refused(
        "shape: [3]",
        "shape: [-3]",
        "f.yaml:13:39: case numpy/x: operands[1].shape[0]: found integer `-3`, expected an integer, 0 or more",
    );
    refused(
        "shape: [3]",
        "shape: [1000000000, 1000000000]",
        "f.yaml:13:72: case numpy/x: operands[1].values: found 3 values for shape (1000000000,1000000000), expected 1000000000000000000",
    );
    refused(
        "dtype: f64",
        "dtype: float64",
        "f.yaml:12:26: case numpy/x: operands[0].dtype: found `float64`, expected one of f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool",
    );
    refused(
        "name: a",
        "name: A",
        "f.yaml:12:16: case numpy/x: operands[0].name: found `A`, expected a name of the form [a-z][a-z0-9_]*",
    );
    refused(
        "name: a",
        "name: exp",
        "f.yaml:12:16: case numpy/x: operands[0].name: found `exp`, expected a name that is not a function",
    );
    let twice =
        "f.yaml:13:16: case numpy/x: operands[1].name: found the name `a` twice, expected unique names";
    assert_eq!(
        lines(&GOOD.replace("name: b", "name: a")),
        ["f.yaml:10:26: case numpy/x: expression[2]: found `b`, expected an operand's name: a a", twice]
    );
    assert_eq!(lines(&GOOD.replace("name: b", "name: a").replace("add, a, b", "add, a, a")), [twice]);
    refused(
        "shape: [2, 3], values",
        "shape: [2, 3], shapes: 1, values",
        "f.yaml:12:46: case numpy/x: operands[0].shapes: found unknown field `shapes`, expected one of `name`, `dtype`, `shape`, `values`, `of`, `strides`, `offset`, `broadcastable`, `declared`, `constant`, `same`",
    );
    refused(
        "name: a, ",
        "",
        "f.yaml:12:9: case numpy/x: operands[0]: found no field `name`, expected one: it is required",
    );
    refused(
        "shape: [2, 3], values",
        "shape: [2, 3], strides: [3, 2], values",
        "f.yaml:12:9: case numpy/x: operands[0]: found a view that reaches positions 0 to 7, expected positions inside its buffer of 6 values",
    );
    refused(
        "shape: [2, 3], values",
        "shape: [2, 3], strides: [3], values",
        "f.yaml:12:55: case numpy/x: operands[0].strides: found 1 stride for shape (2,3), expected 2",
    );
    refused(
        "shape: [2, 3], values",
        "shape: [2, 3], offset: -1, values",
        "f.yaml:12:54: case numpy/x: operands[0].offset: found integer `-1`, expected an integer, 0 or more",
    );
    let none = "format: 1\nrules: numpy\ncases:\n  - id: numpy/x\n    title: T.\n    clause: G-5\n    origin: hand\n    expression: a\n    operands: []\n    refusal: {kind: any}\n";
    assert_eq!(lines(none), ["f.yaml:9:15: case numpy/x: operands: found no operand, expected one or more"]);
}

#[test]
fn values() {
    let bad = |dtype: &str, value: &str, rest: &str| {
        let text = GOOD
            .replace("name: b, dtype: f64", &format!("name: b, dtype: {dtype}"))
            .replace("[7, 8, 9]", &format!("[{value}]"))
            .replace("shape: [3]", "shape: [1]");
        let column = 50 + dtype.len() - 3;
        let expected = format!("f.yaml:13:{}: case numpy/x: operands[1].values[0]: found {rest}", column + 2);
        assert_eq!(lines(&text), [expected], "{dtype} {value}");
    };
    bad("i8", "128", "128, expected an integer from -128 to 127 for i8");
    bad("u8", "-1", "-1, expected an integer from 0 to 255 for u8");
    bad("i32", "8.0", "8.0, expected an integer from -2147483648 to 2147483647 for i32");
    bad(
        "u64",
        "18446744073709551616",
        "1.8446744073709552e+19, expected an integer from 0 to 18446744073709551615 for u64",
    );
    bad("bool", "1", "1, expected `true` or `false` for bool");
    bad("bool", "\"true\"", "the string \"true\", expected `true` or `false` for bool");
    bad("f32", "0.1", "0.1, expected a value that f32 holds exactly: the nearest is 0.10000000149011612");
    bad("f32", "1.0e+39", "1.0e+39, expected a value within the range of f32");
    bad("f16", "65520", "65520, expected a value within the range of f16");
    bad("f16", "2049", "2049, expected a value that f16 holds exactly: the nearest is 2048.0");
    bad("bf16", "257", "257, expected a value that bf16 holds exactly: the nearest is 256.0");
    bad("f64", "true", "true, expected a value of f64");
    bad("f64", "\"Infinity\"", "the string \"Infinity\", expected a value of f64");
    bad("i64", ".inf", ".inf, expected an integer from -9223372036854775808 to 9223372036854775807 for i64");
}

#[test]
fn expressions_and_operations() {
    let at = "f.yaml:10";
    refused(
        "[add, a, b]",
        "[add, a, c]",
        &format!("{at}:26: case numpy/x: expression[2]: found `c`, expected an operand's name: a b"),
    );
    refused(
        "[add, a, b]",
        "[add, a]",
        &format!("{at}:17: case numpy/x: expression: found `add` with 1 argument, expected 2"),
    );
    refused(
        "[add, a, b]",
        "[add, a, b, a]",
        &format!("{at}:17: case numpy/x: expression: found `add` with 3 arguments, expected 2"),
    );
    refused(
        "[add, a, b]",
        "[]",
        &format!(
            "{at}:17: case numpy/x: expression: found an empty list, expected `[function, argument, …]`"
        ),
    );
    refused(
        "[add, a, b]",
        "[[add, a, b]]",
        &format!(
            "{at}:17: case numpy/x: expression: found a list that begins with a list, expected `[function, argument, …]`"
        ),
    );
    refused(
        "[add, a, b]",
        "[add, a, 1]",
        &format!(
            "{at}:26: case numpy/x: expression[2]: found integer `1`, expected an operand's name or a list `[function, argument, …]`"
        ),
    );
    refused(
        "[add, a, b]",
        "[plus, a, b]",
        &format!(
            "{at}:18: case numpy/x: expression[0]: found `plus`, expected a function: add subtract multiply divide maximum minimum power equal not_equal less less_equal greater greater_equal logical_and logical_or negate abs sqrt exp log tanh logical_not select"
        ),
    );
    refused(
        "    expression: [add, a, b]\n",
        "",
        "f.yaml:4:5: case numpy/x: expression: found no `expression`, expected one for `elementwise`",
    );
    refused(
        "    expression: [add, a, b]",
        "    expression: [add, a, b]\n    operation: map",
        "f.yaml:11:16: case numpy/x: operation: found `map`, expected one of elementwise broadcast gradient infer",
    );
    refused(
        "    expression: [add, a, b]",
        "    expression: [add, a, b]\n    wrt: a",
        "f.yaml:11:10: case numpy/x: wrt: found `wrt` with the operation `elementwise`, expected no such field",
    );
    refused(
        "    expression: [add, a, b]",
        "    expression: [add, a, b]\n    target_shape: [3]",
        "f.yaml:11:19: case numpy/x: target_shape: found `target_shape` with the operation `elementwise`, expected no such field",
    );
    refused(
        "    expression: [add, a, b]",
        "    expression: [add, a, b]\n    operation: gradient",
        "f.yaml:4:5: case numpy/x: wrt: found no `wrt`, expected one for `gradient`",
    );
    refused(
        "    expression: [add, a, b]",
        "    expression: [add, a, b]\n    operation: gradient\n    wrt: c",
        "f.yaml:12:10: case numpy/x: wrt: found `c`, expected an operand's name: a b",
    );
    refused(
        "    expression: [add, a, b]",
        "    operation: broadcast\n    target_shape: [3]",
        "f.yaml:13:7: case numpy/x: operands: found 2 operands of `broadcast`, expected exactly one",
    );
    assert_eq!(
        lines(&GOOD.replace("    origin: hand", "    origin: hand\n    operation: broadcast")),
        [
            "f.yaml:4:5: case numpy/x: target_shape: found no `target_shape`, expected one for `broadcast`",
            "f.yaml:11:17: case numpy/x: expression: found `expression` with the operation `broadcast`, expected no such field",
        ]
    );
    refused(
        "    origin: hand",
        "    origin: hand\n    axis: 1",
        "f.yaml:10:11: case numpy/x: axis: found `axis` under the rule set `numpy`, expected `axis` only under `pdpd`",
    );
    refused(
        "    origin: hand",
        "    origin: hand\n    broadcast_dimensions: []",
        "f.yaml:10:27: case numpy/x: broadcast_dimensions: found `broadcast_dimensions` under the rule set `numpy`, expected `broadcast_dimensions` only under `xla`",
    );
    refused(
        "shape: [3], values",
        "shape: [3], broadcastable: [false], values",
        "f.yaml:13:58: case numpy/x: operands[1].broadcastable: found `broadcastable` under the rule set `numpy`, expected `broadcastable` only under `theano`",
    );
}

/// Example B09 of the documents: bidirectional is not for elementwise operations.
#[test]
fn bidirectional_is_for_broadcast_alone() {
    refused(
        "rules: numpy",
        "rules: bidirectional",
        "f.yaml:4:5: case numpy/x: operation: found `elementwise` under the rule set `bidirectional`, expected an operation of `bidirectional`: `broadcast`",
    );
}

#[test]
fn attributes_with_a_single_operand() {
    let one = GOOD
        .replace("rules: numpy", "rules: xla")
        .replace("[add, a, b]", "[negate, a]\n    broadcast_dimensions: []")
        .replace("      - {name: b, dtype: f64, shape: [3], values: [7, 8, 9]}\n", "");
    assert_eq!(
        lines(&one),
        [
            "f.yaml:11:27: case numpy/x: broadcast_dimensions: found `broadcast_dimensions` with a single operand, expected no `broadcast_dimensions`: there is nothing to broadcast onto (clause G-5)"
        ]
    );
    let pdpd = one.replace("rules: xla", "rules: pdpd").replace("broadcast_dimensions: []", "axis: -1");
    assert_eq!(
        lines(&pdpd),
        [
            "f.yaml:11:11: case numpy/x: axis: found `axis` with a single operand, expected no `axis`: there is nothing to broadcast onto (clause G-5)"
        ]
    );
}
