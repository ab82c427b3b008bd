//! Requests for the faults of an optimiser.

use super::support::{DTYPES, data, dense, highest, is_defined, mixed, numpy};
use broadcheck_spec::{DType, Data, Request};

/// Expressions of vectors, and of vectors whose last operands are scalars.
const TERMS: [(&str, usize); 88] = [
    ("subtract a a", 0),
    ("multiply a b", 1),
    ("multiply b a", 1),
    ("divide a a", 0),
    ("add a b", 1),
    ("subtract b a", 1),
    ("subtract a b", 1),
    ("divide b a", 1),
    ("divide a b", 1),
    ("add add a b c", 0),
    ("add add a b c", 2),
    ("multiply multiply a b c", 0),
    ("multiply multiply a b c", 2),
    ("add multiply a b multiply a c", 0),
    ("multiply a add b c", 0),
    ("subtract add a b b", 0),
    ("divide multiply a b b", 0),
    ("multiply divide a b b", 0),
    ("divide divide a b c", 0),
    ("add subtract a b subtract b c", 0),
    ("divide b divide b a", 1),
    ("divide a sqrt b", 0),
    ("negate subtract a b", 0),
    ("negate add a b", 0),
    ("logical_not less a b", 0),
    ("less a b", 0),
    ("equal a b", 0),
    ("equal a a", 0),
    ("not_equal a a", 0),
    ("less_equal a a", 0),
    ("greater_equal abs a b", 1),
    ("less abs a b", 1),
    ("abs multiply a a", 0),
    ("less add a c add b c", 0),
    ("less negate a negate b", 0),
    ("equal multiply a c multiply b c", 0),
    ("logical_and less a b less b c", 0),
    ("logical_or less a b greater a b", 0),
    ("logical_or less a b greater_equal a b", 0),
    ("logical_not logical_and less a b less b c", 0),
    ("logical_or less a b less b c", 0),
    ("select greater a b a b", 0),
    ("select less_equal a b c b", 0),
    ("select less a b a b", 0),
    ("select less a b negate a a", 1),
    ("select equal a a a b", 0),
    ("select equal a b a b", 0),
    ("select logical_not less a b a c", 0),
    ("select less a b a select less a b b c", 0),
    ("select less a b select less b c a b c", 0),
    ("select less a b less a c less d d", 2),
    ("select greater a b a multiply a c", 0),
    ("multiply multiply subtract a b subtract a b c", 0),
    ("multiply add a b a", 0),
    ("multiply subtract a b add a b", 0),
    ("select greater a b b a", 0),
    ("select logical_or less a b less b c a c", 0),
    ("divide subtract a b add a b", 0),
    ("tanh add a b", 0),
    ("maximum a minimum a b", 0),
    ("minimum maximum a b c", 2),
    ("subtract subtract a b subtract b a", 0),
    ("subtract add a b multiply a b", 0),
    ("add multiply a b multiply a c", 0),
    ("add b multiply a c", 2),
    ("subtract a c", 2),
    ("subtract b c", 2),
    ("divide b c", 2),
    ("subtract divide b c b", 2),
    ("less b a", 1),
    ("power b a", 1),
    ("power a b", 1),
    ("power a b", 0),
    ("sqrt multiply a a", 0),
    ("multiply sqrt a sqrt a", 0),
    ("multiply sqrt a sqrt b", 0),
    ("exp log a", 0),
    ("log exp a", 0),
    ("log power a b", 0),
    ("multiply exp a exp b", 0),
    ("add log a log b", 0),
    ("subtract c multiply a b", 0),
    ("subtract multiply a b multiply b c", 0),
    ("multiply add a b subtract a c", 0),
    ("subtract multiply add a b c d", 0),
    ("logical_and less_equal a b less b c", 0),
    ("logical_or less a b less c multiply a b", 0),
    ("logical_and less_equal b a less a c", 2),
];

/// Expressions without a pattern of their own.
const OTHERS: [(&str, usize); 9] = [
    ("add negate multiply a b multiply a b", 0),
    ("negate negate negate a", 0),
    (
        "subtract a subtract a subtract a subtract a subtract a subtract a subtract a subtract a subtract a \
         subtract a subtract a b",
        0,
    ),
    ("tanh a", 0),
    ("exp a", 0),
    ("multiply negate a b", 0),
    ("select less d d less a b less d d", 2),
    ("add subtract a b add subtract b c add subtract c a add multiply a c multiply a b", 0),
    (
        "add add a b multiply add b c multiply add c a multiply add a c multiply add b a multiply add c b \
         multiply add a a multiply add b b add c c",
        0,
    ),
];

/// Scalars that a term is asked with: two at a time.
const SCALARS: [[f64; 2]; 9] = [
    [0.0, -0.0],
    [-0.0, 0.0],
    [1.0, 3.0],
    [0.5, 1.5],
    [3.0, 7.0],
    [-2.0, 0.1],
    [-1.0, 1e300],
    [0.1, 0.7],
    [1.0, 1.000000001],
];

pub(super) fn rewrites() -> Vec<Request> {
    let mut requests = Vec::new();
    for dtype in DTYPES {
        for (text, scalars) in TERMS.into_iter().chain(OTHERS) {
            if !is_defined(text, dtype) {
                continue;
            }
            let operands = highest(text) + 1;
            let pairs = scalars == 0 && matches!(dtype, DType::F64 | DType::F32 | DType::I8);
            let length = if pairs { 529 } else { 46 };
            let sets = if scalars > 0 { &SCALARS[..] } else { &SCALARS[..1] };
            for set in sets {
                let operand = |place: usize| match (place + scalars).checked_sub(operands) {
                    Some(scalar) => dense(place, &[], data(dtype, &set[scalar..=scalar])),
                    None => dense(place, &[length], mixed(dtype, place, length)),
                };
                requests.push(numpy(text, (0..operands).map(operand).collect()));
            }
        }
    }
    // A condition with one element, and the branch that it takes with one, too.
    let branches = [dense(1, &[1], vec![2.0].into()), dense(2, &[3], vec![3.0, 4.0, 5.0].into())];
    let condition = dense(0, &[], Data::from(vec![true]));
    requests.push(numpy("select a b c", [vec![condition], branches.into()].concat()));
    // Values that the palette lacks.
    let vector = |operand: usize, values: &[f64]| dense(operand, &[values.len()], data(DType::F64, values));
    let scalar = |operand: usize, value: f64| dense(operand, &[], data(DType::F64, &[value]));
    requests.push(numpy("power a b", vec![vector(0, &[2f64.powi(515), 3.0]), scalar(1, -2.0)]));
    requests.push(numpy("power a b", vec![vector(0, &[1.1, 1.7, 3.1, 0.3]), scalar(1, 63.0)]));
    requests.push(numpy("power a b", vec![vector(0, &[-1.0]), vector(1, &[1e10])]));
    requests.push(numpy("subtract a b", vec![scalar(0, 0.1), scalar(1, 0.3)]));
    let single = |operand: usize, value: f64| dense(operand, &[], data(DType::F32, &[value]));
    requests.push(numpy("subtract add a b c", vec![single(0, 1.0), single(1, 1e-8), single(2, 1.0)]));
    let wide = |operand: usize, value: i64| dense(operand, &[], Data::from(vec![value]));
    requests.push(numpy("add a b", vec![wide(0, (1 << 53) + 1), wide(1, 0)]));
    let truths = |operand: usize, values: &[f64]| dense(operand, &[4], data(DType::Bool, values));
    let both = || vec![truths(0, &[0.0, 0.0, 1.0, 1.0]), truths(1, &[0.0, 1.0, 0.0, 1.0])];
    let mut three = both();
    three.push(dense(2, &[], data(DType::Bool, &[0.0])));
    for text in ["logical_or a b", "logical_not logical_and a b"] {
        requests.push(numpy(text, both()));
    }
    requests.push(numpy("select a b c", three));
    requests
}
