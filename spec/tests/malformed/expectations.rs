//! Results, refusals and sweeps.

use crate::{GOOD, lines, refused};
use broadcheck_spec::load_str;

#[test]
fn expectations() {
    let result = "    result: {dtype: f64, shape: [2, 3], values: [8, 10, 12, 11, 13, 15]}\n";
    let with = |fields: &str| result.replace("15]}", &format!("15], {fields}}}"));
    let refusal = |fields: &str| format!("    refusal: {{{fields}}}\n");
    refused(
        result,
        "",
        "f.yaml:4:5: case numpy/x: found neither `result` nor `refusal`, expected exactly one of them",
    );
    refused(
        result,
        &format!("{result}{}", refusal("kind: any")),
        "f.yaml:15:14: case numpy/x: refusal: found both `result` and `refusal`, expected exactly one of them",
    );
    refused(
        "13, 15]",
        "13]",
        "f.yaml:14:49: case numpy/x: result.values: found 5 values for shape (2,3), expected 6",
    );
    refused(
        "result: {dtype: f64",
        "result: {dtype: u2",
        "f.yaml:14:21: case numpy/x: result.dtype: found `u2`, expected one of f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8 bool",
    );
    refused(
        result,
        "    result: ask\n",
        "f.yaml:14:13: case numpy/x: result: found string \"ask\", expected a mapping of `dtype`, `shape` and `values`",
    );
    refused(
        result,
        &with("tolerance: {ulp: 2}"),
        "f.yaml:14:85: case numpy/x: result.tolerance: found a tolerance for an exact expression, expected none: only exp, log, tanh and power may differ (clause V-4)",
    );
    refused(
        result,
        &with("zero_sign: any"),
        "f.yaml:14:85: case numpy/x: result.zero_sign: found `any` for an expression whose zeros have one sign, expected no such field: only maximum and minimum (V-3) and exp, log, tanh and power (V-4) leave the sign open",
    );
    refused(
        result,
        &with("zero_sign: plus"),
        "f.yaml:14:85: case numpy/x: result.zero_sign: found `plus`, expected `any`, or no such field",
    );
    refused(
        result,
        &with("broadcastable: [true, false]"),
        "f.yaml:14:89: case numpy/x: result.broadcastable: found `broadcastable` under the rule set `numpy`, expected `broadcastable` only under `theano`",
    );
    refused(
        result,
        &with("intermediate: {shape: [1], values: [1]}"),
        "f.yaml:14:88: case numpy/x: result.intermediate: found an intermediate, expected none: only `xla` with operands of different ranks has one",
    );
    refused(
        result,
        &refusal("kind: no"),
        "f.yaml:14:21: case numpy/x: refusal.kind: found `no`, expected `true` or `false`, or a quoted string: YAML 1.1 reads this word as a boolean",
    );
    refused(
        result,
        &refusal("kind: never"),
        "f.yaml:14:21: case numpy/x: refusal.kind: found `never`, expected `any` or one of rank_mismatch dimension_mismatch axis_out_of_range broadcast_dimensions_count broadcast_dimension_out_of_range broadcast_dimensions_not_increasing broadcast_dimensions_not_identity broadcast_dimensions_not_distinct flag_violation not_broadcastable dtype_mismatch unsupported_function operand_count too_large",
    );
    refused(
        result,
        &refusal("kind: rank_mismatch, axis: 0"),
        "f.yaml:14:42: case numpy/x: refusal.axis: found `axis` in a refusal of kind `rank_mismatch`, expected no such field",
    );
    refused(
        result,
        &refusal("kind: any, axis: 0"),
        "f.yaml:14:32: case numpy/x: refusal.axis: found `axis` in a refusal of kind `any`, expected no such field",
    );
    refused(
        result,
        &refusal("kind: dimension_mismatch, operand: a"),
        "f.yaml:14:50: case numpy/x: refusal.operand: found `operand` in a refusal of kind `dimension_mismatch`, expected no such field",
    );
    refused(
        result,
        &refusal("kind: dimension_mismatch, axis: 2"),
        "f.yaml:14:47: case numpy/x: refusal.axis: found 2, expected an axis below the rank 2",
    );
    refused(
        result,
        &refusal("kind: flag_violation, operand: c"),
        "f.yaml:14:46: case numpy/x: refusal.operand: found `c`, expected an operand's name: a b",
    );
    refused(
        result,
        &refusal("kind: flag_violation, operand: 2"),
        "f.yaml:14:46: case numpy/x: refusal.operand: found 2, expected a position from 0 to 1",
    );
    refused(
        result,
        &refusal("kind: flag_violation, operand: true"),
        "f.yaml:14:46: case numpy/x: refusal.operand: found boolean `true`, expected an operand's name, or its position in the list, from 0",
    );
}

#[test]
fn tolerances_and_zero_signs_are_allowed_where_clauses_leave_room() {
    let tolerance =
        GOOD.replace("[add, a, b]", "[power, a, b]").replace("15]}", "15], tolerance: {ulp: 1000}}");
    let file = load_str(&tolerance, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
    let broadcheck_spec::Expectation::Result(result) = &file.cases[0].expectation else { panic!("a result") };
    assert_eq!(result.tolerance_ulp, Some(1000));
    let more = tolerance.replace("1000", "1001");
    assert_eq!(
        lines(&more),
        ["f.yaml:14:91: case numpy/x: result.tolerance.ulp: found 1001, expected at most 1000"]
    );
    let gradient = tolerance.replace("    origin", "    operation: gradient\n    wrt: a\n    origin");
    assert_eq!(
        lines(&gradient),
        [
            "f.yaml:16:85: case numpy/x: result.tolerance: found a tolerance for a gradient, expected none: gradients are judged within the bound of clause V-6"
        ]
    );
    let sign = GOOD.replace("[add, a, b]", "[maximum, a, b]").replace("15]}", "15], zero_sign: any}");
    assert!(load_str(&sign, "f.yaml").is_ok());
    let theano = GOOD.replace("rules: numpy", "rules: theano").replace("15]}", "15], broadcastable: [true]}");
    assert_eq!(
        lines(&theano),
        ["f.yaml:14:89: case numpy/x: result.broadcastable: found 1 flag for shape (2,3), expected 2"]
    );
    let flags = GOOD
        .replace("rules: numpy", "rules: theano")
        .replace("[3], values", "[3], broadcastable: [true, false], values");
    assert_eq!(
        lines(&flags),
        ["f.yaml:13:58: case numpy/x: operands[1].broadcastable: found 2 flags for shape (3), expected 1"]
    );
}

#[test]
fn an_intermediate_has_one_value_per_element() {
    let xla = GOOD
        .replace("rules: numpy", "rules: xla")
        .replace("    origin", "    broadcast_dimensions: [1]\n    origin");
    let short = xla.replace("15]}", "15], intermediate: {shape: [1, 3], values: [7, 8]}}");
    assert_eq!(
        lines(&short),
        [
            "f.yaml:15:112: case numpy/x: result.intermediate.values: found 2 values for shape (1,3), expected 3"
        ]
    );
    assert!(load_str(&short.replace("7, 8]", "7, 8, 9]"), "f.yaml").is_ok());
}

#[test]
fn sweeps() {
    let good = "format: 1\nsweeps:\n  - {id: s/x, title: T., clause: G-2, sweep: patterns, with: {rank: 3}, expect: {cases: 7}}\n";
    let file = load_str(good, "f.yaml").unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!((file.sweeps[0].expected_cases, file.sweeps[0].with["rank"]), (7, 3));
    let line = |from: &str, to: &str| lines(&good.replace(from, to));
    assert_eq!(
        line("cases: 7", "cases: 0"),
        ["f.yaml:3:89: case s/x: expect.cases: found 0, expected 1 or more: an empty sweep tests nothing"]
    );
    assert_eq!(
        line(", expect: {cases: 7}", ""),
        ["f.yaml:3:5: case s/x: found no field `expect`, expected one: it is required"]
    );
    assert_eq!(
        line("rank: 3", "rank: x"),
        ["f.yaml:3:69: case s/x: with.rank: found string \"x\", expected an integer, 0 or more"]
    );
    assert_eq!(
        line("cases: 7", "count: 7"),
        ["f.yaml:3:82: case s/x: expect.count: found unknown field `count`, expected `cases`"]
    );
    assert_eq!(
        line("sweep: patterns, ", ""),
        ["f.yaml:3:5: case s/x: found no field `sweep`, expected one: it is required"]
    );
}
