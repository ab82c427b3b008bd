//! The requests of the smoke test: each probe uses the first request that the implementation declares.

use broadcheck_spec::{Capabilities, DType, OperationKind, Request, RuleSet, json};
use serde_json::{Value, json};

/// Something to check with a request.
pub(super) struct Probe {
    pub(super) name: String,
    /// The request; `None` if the implementation declares no suitable one.
    pub(super) request: Option<Request>,
    pub(super) hint: &'static str,
}

/// The number of elements in the long line, which exceeds the line buffers of common languages.
const LONG: usize = 20_000;

/// The rule sets that have this operation, the most common one first.
pub(super) fn rule_sets(operation: OperationKind) -> impl Iterator<Item = RuleSet> {
    let others = RuleSet::having(operation).filter(|&rules| rules != RuleSet::Numpy);
    [RuleSet::Numpy].into_iter().filter(move |rules| rules.has(operation)).chain(others)
}

/// The probes that are sent one at a time, in order.
pub(super) fn probes(able: &Capabilities) -> Vec<Probe> {
    let mut all = vec![
        probe(
            able,
            "the simplest request",
            plain(&number(able, 3)),
            "compute the expression over the operands",
        ),
        probe(
            able,
            "a refusal",
            refused(able),
            "answer {\"seq\":N,\"refusal\":{\"message\":\"…\"}}, and go on",
        ),
        probe(
            able,
            "a request after the refusal",
            plain(&number(able, 2)),
            "a refusal must not affect later requests",
        ),
        probe(
            able,
            "a scalar",
            plain(&scalar(able)),
            "rank 0 is \"shape\":[] with one value in \"values\"; if the library has no scalars, add \"scalars\":false to the answer to `start`",
        ),
        probe(
            able,
            "a shape with a zero",
            plain(&empty(able)),
            "an array without elements has \"values\":[] and its whole shape",
        ),
        probe(
            able,
            "truth values",
            plain(&value("bool", &[2], json!([true, false]))),
            "bool values are true and false, not 1 and 0",
        ),
        probe(
            able,
            "minus zero",
            floats(&|dtype| value(dtype, &[2], json!(["-0.0", 0.5]))),
            "if the JSON writer loses the sign of zero, write the string \"-0.0\"; read that string too",
        ),
        probe(
            able,
            "infinities and NaN",
            floats(&|dtype| value(dtype, &[3], json!(["nan", "inf", "-inf"]))),
            "JSON has no such numbers: read and write the strings \"nan\", \"inf\" and \"-inf\"",
        ),
        probe(
            able,
            "all digits of an f64",
            plain(&value(
                "f64",
                &[3],
                json!([0.1, 2.225_073_858_507_201_4e-308, 1.797_693_134_862_315_7e308]),
            )),
            "write floats with enough digits to restore the same bits: 17 for f64",
        ),
        probe(
            able,
            "all digits of an f32",
            plain(&value("f32", &[2], json!([0.100_000_001_490_116_12, 16_777_215]))),
            "write floats with enough digits to restore the same bits: 9 for f32",
        ),
        probe(
            able,
            "integers beyond 2^53",
            big_integers(),
            "they are strings, because many JSON readers convert every number to f64",
        ),
        probe(
            able,
            "a long line",
            plain(&number(able, LONG)),
            "read lines of any length: some readers stop at 64 KiB",
        ),
        probe(
            able,
            "a view",
            views(able),
            "element i is at offset + Σ i_k · strides_k of values; if the library has no strided views, remove \"strided\" from `operations`; if none whose strides are negative, add \"negative_strides\":false to the answer to `start`",
        ),
    ];
    all.extend(able.rules.iter().map(|&rules| {
        let request = of_rules(rules, &number(able, 2));
        probe(able, &format!("the rule set {rules}"), request, "it is among the declared rules")
    }));
    all.extend(able.operations.iter().map(|&operation| {
        let requests = of_operation(operation, able);
        probe(able, &format!("the operation {operation}"), requests, "it is among the declared operations")
    }));
    if able.broadcast_in_dim {
        all.push(probe(
            able,
            "a broadcast on a named axis",
            in_dim(able, &[0]),
            "the operand lies on axis broadcast_dimensions[0] of target_shape; otherwise remove \"broadcast_in_dim\" from `operations`",
        ));
    }
    if able.broadcast_in_dim && able.permuted {
        all.push(probe(
            able,
            "a broadcast that transposes",
            in_dim(able, &[1, 0]),
            "axis i of the operand lies on axis broadcast_dimensions[i] of target_shape; if they must increase, remove \"permuted\" from `operations`",
        ));
    }
    if able.cotangent {
        all.push(probe(
            able,
            "a gradient with a cotangent",
            weighted(),
            "it is the gradient of the sum of the result times the operand in `cotangent`; otherwise remove \"cotangent\" from `operations`",
        ));
    }
    if able.into {
        all.push(probe(
            able,
            "a sum into its first operand",
            in_place(able),
            "the result is written into the operand in `into`; answer with that operand's elements, or remove \"into\" from `operations`",
        ));
        all.push(probe(
            able,
            "a sum of an operand and itself reversed, in place",
            reversed_in_place(able),
            "the operand with `of` reads the buffer of the operand in `into`; the result is as if both had been read before anything is written",
        ));
    }
    if able.constants {
        all.push(probe(
            able,
            "a sum with a constant",
            given(able, "constant", &json!(true)),
            "the operand with `constant` is a constant of what is built, not a parameter; otherwise remove \"constants\" from `operations`",
        ));
    }
    if able.same {
        all.push(probe(
            able,
            "a sum of one array, given twice",
            given(able, "same", &json!("a")),
            "the operand with `same` is the very array of the operand named there; otherwise remove \"same\" from `operations`",
        ));
    }
    all.extend(able.dtypes.iter().map(|&dtype| {
        let one = if dtype == DType::Bool { json!([true]) } else { json!([1]) };
        let requests = plain(&value(dtype.name(), &[1], one));
        probe(able, &format!("the dtype {dtype}"), requests, "it is among the declared dtypes")
    }));
    all
}

/// `count` different requests.
pub(super) fn several(able: &Capabilities, count: usize) -> Vec<Request> {
    let requests = (1..=count).filter_map(|length| {
        let candidates = plain(&number(able, length));
        candidates.into_iter().find(|request| able.covers(request).is_ok())
    });
    requests.collect()
}

fn probe(able: &Capabilities, name: &str, candidates: Vec<Request>, hint: &'static str) -> Probe {
    let request = candidates.into_iter().find(|request| able.covers(request).is_ok());
    Probe { name: name.into(), request, hint }
}

/// The dtype, shape and values of an operand.
#[derive(Clone)]
pub(super) struct Like {
    pub(super) dtype: String,
    pub(super) shape: Vec<usize>,
    pub(super) values: Value,
}

pub(super) fn value(dtype: &str, shape: &[usize], values: Value) -> Like {
    Like { dtype: dtype.into(), shape: shape.to_vec(), values }
}

/// The dtype with the simplest numbers.
pub(super) fn easy(able: &Capabilities) -> &'static str {
    let preferred = [DType::F64, DType::F32, DType::I64, DType::I32];
    let dtype = preferred.iter().chain(&able.dtypes).find(|dtype| able.dtypes.contains(dtype));
    dtype.map_or("f64", |dtype| dtype.name())
}

pub(super) fn number(able: &Capabilities, length: usize) -> Like {
    let values = (0..length).map(|place| if easy(able) == "bool" { json!(true) } else { json!(place % 100) });
    value(easy(able), &[length], values.collect())
}

fn scalar(able: &Capabilities) -> Like {
    let one = if easy(able) == "bool" { json!([true]) } else { json!([7]) };
    value(easy(able), &[], one)
}

fn empty(able: &Capabilities) -> Like {
    value(easy(able), &[2, 0], json!([]))
}

/// Requests whose result contains the values of an operand: the sum with a neutral element, the operand
/// alone, and the operand broadcast to its own shape.
pub(super) fn plain(like: &Like) -> Vec<Request> {
    let deeper = |ones: usize| Like { shape: [vec![1; ones], like.shape.clone()].concat(), ..like.clone() };
    let most = if like.shape.contains(&LONG) { 0 } else { MOST_ONES };
    (0..=most).flat_map(|ones| as_it_is(&deeper(ones))).collect()
}

/// The most axes of length 1 that are put in front for libraries without low ranks.
const MOST_ONES: usize = 4;

fn as_it_is(like: &Like) -> Vec<Request> {
    let sums = rule_sets(OperationKind::Elementwise).filter_map(|rules| sum(rules, like));
    let bare = rule_sets(OperationKind::Elementwise).filter_map(|rules| bare(rules, like));
    let whole =
        rule_sets(OperationKind::Broadcast).filter_map(|rules| request(rules, broadcast(like, &like.shape)));
    sums.chain(bare).chain(whole).collect()
}

fn of_rules(rules: RuleSet, like: &Like) -> Vec<Request> {
    let whole = request(rules, broadcast(like, &like.shape));
    sum(rules, like).into_iter().chain(bare(rules, like)).chain(whole).collect()
}

/// `a + b` with a neutral `b`: -0.0 for floats, which keeps the sign of a zero, and 0 for integers.
fn sum(rules: RuleSet, like: &Like) -> Option<Request> {
    if like.dtype == "bool" {
        return None;
    }
    let float = like.dtype.contains('f');
    let count: usize = like.shape.iter().product();
    let neutral: Vec<Value> = vec![if float { json!("-0.0") } else { json!(0) }; count];
    let zeros = value(&like.dtype, &like.shape, neutral.into());
    request(
        rules,
        json!({
            "operation": "elementwise", "expression": ["add", "a", "b"],
            "operands": [operand("a", like), operand("b", &zeros)],
        }),
    )
}

pub(super) fn bare(rules: RuleSet, like: &Like) -> Option<Request> {
    request(rules, json!({ "operation": "elementwise", "expression": "a", "operands": [operand("a", like)] }))
}

fn broadcast(like: &Like, target: &[usize]) -> Value {
    json!({ "operation": "broadcast", "operands": [operand("a", like)], "target_shape": target })
}

/// A vector of 2, or a square, placed by these dimensions on a square.
fn in_dim(able: &Capabilities, dimensions: &[i64]) -> Vec<Request> {
    let numbers = number(able, 1 << dimensions.len());
    let like = Like { shape: vec![2; dimensions.len()], ..numbers };
    let mut fields = broadcast(&like, &[2, 2]);
    fields["broadcast_dimensions"] = dimensions.into();
    request(RuleSet::Xla, fields).into_iter().collect()
}

/// The gradient of a sum, weighted by 3 and 5, in each float dtype; or that of a broadcast.
fn weighted() -> Vec<Request> {
    let of_dtype = |dtype: &'static str| {
        let (one, weights) = (value(dtype, &[2], json!([1, 2])), value(dtype, &[2], json!([3, 5])));
        let sum = json!({
            "operation": "gradient", "expression": ["add", "a", "b"], "wrt": "a", "cotangent": "g",
            "operands": [operand("a", &one), operand("b", &one), operand("g", &weights)],
        });
        let whole = json!({
            "operation": "gradient", "target_shape": [2], "wrt": "a", "cotangent": "g",
            "operands": [operand("a", &one), operand("g", &weights)],
        });
        let sums = rule_sets(OperationKind::Gradient).filter_map(move |rules| request(rules, sum.clone()));
        let wholes =
            rule_sets(OperationKind::Broadcast).filter_map(move |rules| request(rules, whole.clone()));
        sums.chain(wholes).collect::<Vec<_>>()
    };
    ["f64", "f32", "f16", "bf16"].into_iter().flat_map(of_dtype).collect()
}

/// A sum whose second operand is equal to the first, with a field that says how it is given.
fn given(able: &Capabilities, field: &str, value: &Value) -> Vec<Request> {
    let one = number(able, 3);
    let mut other = operand("b", &one);
    other[field] = value.clone();
    let operands = json!([operand("a", &one), other]);
    let sum = json!({ "operation": "elementwise", "expression": ["add", "a", "b"], "operands": operands });
    rule_sets(OperationKind::Elementwise).filter_map(|rules| request(rules, sum.clone())).collect()
}

/// `a += b`.
fn in_place(able: &Capabilities) -> Vec<Request> {
    let (one, other) = (number(able, 3), number(able, 3));
    let fields = json!({
        "expression": ["add", "a", "b"], "into": "a", "operands": [operand("a", &one), operand("b", &other)],
    });
    request(RuleSet::Numpy, fields).into_iter().collect()
}

/// `a += a[::-1]`.
fn reversed_in_place(able: &Capabilities) -> Vec<Request> {
    let whole = operand("a", &number(able, 3));
    let reversed = json!({
        "name": "b", "dtype": whole["dtype"], "shape": [3], "strides": [-1], "offset": 2, "of": "a",
    });
    let fields = json!({ "expression": ["add", "a", "b"], "into": "a", "operands": [whole, reversed] });
    request(RuleSet::Numpy, fields).into_iter().collect()
}

/// Shapes (2) and (3), which no rule set can broadcast.
pub(super) fn refused(able: &Capabilities) -> Vec<Request> {
    let (two, three) = (number(able, 2), number(able, 3));
    let both = json!([operand("a", &two), operand("b", &three)]);
    let sum = json!({ "operation": "elementwise", "expression": ["add", "a", "b"], "operands": both });
    let alone = json!({ "operation": "elementwise", "expression": "a", "operands": both });
    let sums = rule_sets(OperationKind::Elementwise).filter_map(|rules| request(rules, sum.clone()));
    let bare = rule_sets(OperationKind::Elementwise).filter_map(|rules| request(rules, alone.clone()));
    let whole = rule_sets(OperationKind::Broadcast).filter_map(|rules| request(rules, broadcast(&two, &[3])));
    sums.chain(bare).chain(whole).collect()
}

/// The same values in every float dtype, of which the first declared one is used.
fn floats(like: &dyn Fn(&str) -> Like) -> Vec<Request> {
    ["f64", "f32", "f16", "bf16"].into_iter().flat_map(|dtype| plain(&like(dtype))).collect()
}

fn big_integers() -> Vec<Request> {
    let signed = value("i64", &[2], json!(["9007199254740993", "-9223372036854775808"]));
    let unsigned = value("u64", &[2], json!(["9007199254740993", "18446744073709551615"]));
    plain(&signed).into_iter().chain(plain(&unsigned)).collect()
}

/// A transposed view, with a negative stride along its last axis if that is declared.
fn views(able: &Capabilities) -> Vec<Request> {
    let like = number(able, 6);
    let (strides, offset) = if able.negative_strides { ([1, -3], 3) } else { ([1, 3], 0) };
    let view = json!({
        "name": "a", "dtype": like.dtype, "shape": [3, 2], "strides": strides, "offset": offset, "values": like.values,
    });
    let bare = json!({ "operation": "elementwise", "expression": "a", "operands": [view] });
    let whole = json!({ "operation": "broadcast", "target_shape": [3, 2], "operands": [view] });
    let bare = rule_sets(OperationKind::Elementwise).filter_map(|rules| request(rules, bare.clone()));
    let whole = rule_sets(OperationKind::Broadcast).filter_map(|rules| request(rules, whole.clone()));
    bare.chain(whole).collect()
}

fn of_operation(operation: OperationKind, able: &Capabilities) -> Vec<Request> {
    let like = number(able, 2);
    match operation {
        OperationKind::Elementwise => rule_sets(operation).flat_map(|rules| of_rules(rules, &like)).collect(),
        OperationKind::Broadcast => {
            rule_sets(operation).filter_map(|rules| request(rules, broadcast(&like, &like.shape))).collect()
        }
        OperationKind::Gradient => {
            let sum = |dtype: &str, rules| {
                let like = value(dtype, &[2], json!([1, 2]));
                let operands = json!([operand("a", &like), operand("b", &like)]);
                let fields = json!({
                    "operation": "gradient", "expression": ["add", "a", "b"], "wrt": "a", "operands": operands,
                });
                request(rules, fields)
            };
            let dtypes = ["f64", "f32", "f16", "bf16"];
            let sums = |dtype| rule_sets(operation).filter_map(move |rules| sum(dtype, rules));
            dtypes.into_iter().flat_map(sums).collect()
        }
    }
}

pub(super) fn operand(name: &str, like: &Like) -> Value {
    json!({ "name": name, "dtype": like.dtype, "shape": like.shape, "values": like.values })
}

/// The request of these fields; `None` if it is not valid under this rule set. Under `xla`, the axes of an
/// operand are the first ones of the target, unless `broadcast_dimensions` is given.
pub(super) fn request(rules: RuleSet, mut fields: Value) -> Option<Request> {
    fields["rules"] = rules.name().into();
    if rules == RuleSet::Xla && !fields["target_shape"].is_null() && fields["broadcast_dimensions"].is_null()
    {
        let rank = fields["operands"][0]["shape"].as_array().map_or(0, Vec::len);
        fields["broadcast_dimensions"] = (0..rank).collect();
    }
    json::request_from_value(fields).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_probe_has_a_request_for_full_capabilities() {
        let able = Capabilities::all();
        for Probe { name, request, .. } in probes(&able) {
            assert!(request.is_some(), "{name}");
        }
        assert_eq!(several(&able, 16).len(), 16);
        let named = Capabilities {
            broadcast_in_dim: true,
            permuted: true,
            cotangent: true,
            into: true,
            constants: true,
            same: true,
            ..able
        };
        let probes = probes(&named);
        for name in [
            "a broadcast on a named axis",
            "a broadcast that transposes",
            "a gradient with a cotangent",
            "a sum into its first operand",
            "a sum of an operand and itself reversed, in place",
            "a sum with a constant",
            "a sum of one array, given twice",
        ] {
            assert!(probes.iter().any(|probe| probe.name == name && probe.request.is_some()), "{name}");
        }
    }

    #[test]
    fn undeclared_requests_are_left_out() {
        let able = Capabilities {
            rules: vec![RuleSet::Bidirectional],
            operations: vec![OperationKind::Broadcast],
            functions: vec![],
            dtypes: vec![DType::F16],
            strided: false,
            ..Capabilities::all()
        };
        let missing: Vec<String> =
            probes(&able).into_iter().filter(|q| q.request.is_none()).map(|q| q.name).collect();
        let expected = [
            "truth values",
            "all digits of an f64",
            "all digits of an f32",
            "integers beyond 2^53",
            "a view",
        ];
        assert_eq!(missing, expected);
    }
}
