//! Long runs of gradients with a cotangent: sums in which each contribution has a weight of its own.
//!
//! With weights of 1, a kernel that takes the weights of one block for another gives the same sums. Here
//! element p of the cotangent is p modulo 61, plus 1, and element p of the factor is p modulo 1009, plus 1.
//! The weights at the same place of two blocks differ, for blocks of any length that is no multiple of 61.

use super::long::{
    Arrangement, RequestAndResult, b, fixed, flagged, fold, from, pdpd, residue, strided_view, tensor, xla,
};
use super::views::signed;
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules, Shape};

pub(super) static NUMPY: &[Arrangement] = &[
    ("by-vector", |n| weighted(Rules::Numpy, [&[n], &[n]], |p| p)),
    ("by-row", |n| weighted(Rules::Numpy, [&[n, 3], &[3]], |p| p % 3)),
    ("by-column", |n| weighted(Rules::Numpy, [&[n, 3], &[n, 1]], |p| p / 3)),
    ("by-long-row", |n| weighted(Rules::Numpy, [&[3, n], &[n]], move |p| p % n)),
    ("by-short-column", |n| weighted(Rules::Numpy, [&[3, n], &[3, 1]], move |p| p / n)),
    ("by-one-for-both-axes", |n| weighted(Rules::Numpy, [&[n, 3], &[1, 1]], |_| 0)),
    ("by-scalar", |n| weighted(Rules::Numpy, [&[n], &[]], |_| 0)),
    ("by-middle", |n| weighted(Rules::Numpy, [&[2, n, 3], &[n, 1]], move |p| p / 3 % n)),
    ("by-row-reversed", |n| {
        let weights = strided_view(&cotangent(&[n, 3]), &[n, 3], &[-3, -1], 3 * n - 1);
        product(Rules::Numpy, [a(&[n, 3]), b(&[3])], weights, move |p| 3 * n - 1 - p, |p| p % 3)
    }),
    ("by-column-transposed", |n| {
        let weights = strided_view(&cotangent(&[3, n]), &[n, 3], &[1, signed(n)], 0);
        product(Rules::Numpy, [a(&[n, 3]), b(&[n, 1])], weights, move |p| p % 3 * n + p / 3, |p| p / 3)
    }),
    ("of-row", |n| gathered(Rules::Numpy, &[3], [&[n, 3], &[n, 3]], |p| p % 3)),
    ("of-column", |n| gathered(Rules::Numpy, &[n, 1], [&[n, 3], &[n, 3]], |p| p / 3)),
    ("of-long-row", |n| gathered(Rules::Numpy, &[n], [&[3, n], &[3, n]], move |p| p % n)),
];

pub(super) static PDPD: &[Arrangement] = &[
    ("by-column", |n| weighted(pdpd(Some(0)), [&[n, 3], &[n]], |p| p / 3)),
    ("by-row", |n| weighted(pdpd(Some(-1)), [&[n, 3], &[3]], |p| p % 3)),
    ("by-middle", |n| weighted(pdpd(Some(1)), [&[2, n, 3], &[n]], move |p| p / 3 % n)),
];

pub(super) static BIDIRECTIONAL: &[Arrangement] = &[
    ("of-column", |n| gathered(Rules::Bidirectional, &[n, 1], [&[1, 3], &[n, 3]], |p| p / 3)),
    ("of-row", |n| gathered(Rules::Bidirectional, &[3], [&[n, 1], &[n, 3]], |p| p % 3)),
    ("of-long-row", |n| gathered(Rules::Bidirectional, &[n], [&[3, 1], &[3, n]], move |p| p % n)),
    ("of-matrix", |n| gathered(Rules::Bidirectional, &[n, 3], [&[3], &[n, 3]], |p| p)),
];

pub(super) static XLA: &[Arrangement] = &[
    ("by-column", |n| weighted(xla(&[0]), [&[n, 3], &[n]], |p| p / 3)),
    ("by-row", |n| weighted(xla(&[1]), [&[n, 3], &[3]], |p| p % 3)),
    ("by-long-row", |n| weighted(xla(&[1]), [&[3, n], &[n]], move |p| p % n)),
    ("of-column", |n| gathered(xla(&[0]), &[n], [&[n, 3], &[n, 3]], |p| p / 3)),
    ("of-long-row", |n| gathered(xla(&[1]), &[n], [&[3, n], &[3, n]], move |p| p % n)),
    ("of-transposed", |n| gathered(xla(&[1, 0]), &[3, n], [&[n, 3], &[n, 3]], move |p| p % 3 * n + p / 3)),
];

pub(super) static THEANO: &[Arrangement] = &[
    ("by-flagged-row", |n| flagged_product(n, flagged(b(&[1, 3]), 0), |p| p % 3)),
    ("by-flagged-column", |n| flagged_product(n, flagged(b(&[n, 1]), 1), |p| p / 3)),
];

pub(super) static LEADING: &[Arrangement] = &[
    ("by-column", |n| weighted(Rules::Leading, [&[n, 3], &[n]], |p| p / 3)),
    ("by-row", |n| weighted(Rules::Leading, [&[n, 3], &[1, 3]], |p| p % 3)),
    ("by-long-row", |n| weighted(Rules::Leading, [&[3, n], &[1, n]], move |p| p % n)),
    ("by-short-column", |n| weighted(Rules::Leading, [&[3, n], &[3]], move |p| p / n)),
    ("by-scalar", |n| weighted(Rules::Leading, [&[n], &[]], |_| 0)),
    ("of-column", |n| gathered(Rules::Leading, &[n], [&[n, 3], &[n, 3]], |p| p / 3)),
    ("of-long-row", |n| gathered(Rules::Leading, &[1, n], [&[3, n], &[3, n]], move |p| p % n)),
];

pub(super) static REPEAT: &[Arrangement] = &[
    ("by-scalar", |n| weighted(Rules::Repeat, [&[n], &[]], |_| 0)),
    ("by-triple", |n| weighted(Rules::Repeat, [&[3 * n], &[3]], |p| p % 3)),
    ("by-a-third", |n| weighted(Rules::Repeat, [&[3 * n], &[n]], move |p| p % n)),
    ("by-column", |n| weighted(Rules::Repeat, [&[n, 3], &[n, 1]], |p| p / 3)),
    ("by-columns-twice", |n| weighted(Rules::Repeat, [&[2 * n, 3], &[n, 1]], move |p| p / 3 % n)),
    ("of-a-third", |n| gathered(Rules::Repeat, &[n], [&[3 * n], &[3 * n]], move |p| p % n)),
    ("of-row", |n| gathered(Rules::Repeat, &[3], [&[n, 3], &[n, 3]], |p| p % 3)),
];

/// Element k of the factor.
fn factor(k: usize) -> f64 {
    f64::from(residue(k, 1009)) + 1.0
}

/// Element k of the cotangent.
fn weight(k: usize) -> f64 {
    f64::from(residue(k, 61)) + 1.0
}

/// The factor, which has the shape of the result.
fn a(shape: &[usize]) -> Operand {
    Operand::dense("a", shape, from(shape.iter().product(), factor)).expect("one value per element")
}

fn cotangent(shape: &[usize]) -> Operand {
    Operand::dense("g", shape, from(shape.iter().product(), weight)).expect("one value per element")
}

/// The gradient of the weighted sum of a · b by b, where element p of the result multiplies element p of a by
/// element `place(p)` of b, and element `read(p)` of the cotangent's buffer is its weight.
fn product(
    rules: Rules,
    operands: [Operand; 2],
    cotangent: Operand,
    read: impl Fn(usize) -> usize,
    place: impl Fn(usize) -> usize,
) -> RequestAndResult {
    let [large, small] = &operands;
    let mut sums = vec![0.0; small.shape().iter().product()];
    for p in 0..large.shape().iter().product() {
        sums[place(p)] += factor(p) * weight(read(p));
    }
    let gradient = tensor(small.shape(), sums);
    let operation = Operation::Vjp {
        expression: fold(Function::Multiply, 2),
        wrt: 1,
        target_shape: None,
        cotangent: Box::new(cotangent),
    };
    (Request::new(rules, operation, operands.into()).expect("a well-formed request"), gradient)
}

/// [`product`] with a dense cotangent.
fn weighted(rules: Rules, [large, small]: [&[usize]; 2], place: impl Fn(usize) -> usize) -> RequestAndResult {
    product(rules, [a(large), b(small)], cotangent(large), |p| p, place)
}

/// [`product`] with a flagged operand, for a result of the shape (n, 3).
fn flagged_product(n: usize, small: Operand, place: impl Fn(usize) -> usize) -> RequestAndResult {
    product(Rules::Theano, [fixed(a(&[n, 3])), small], cotangent(&[n, 3]), |p| p, place)
}

/// The gradient of a broadcast, where element p of the result is element `place(p)` of the operand.
fn gathered(
    rules: Rules,
    operand: &[usize],
    [target, shape]: [&[usize]; 2],
    place: impl Fn(usize) -> usize,
) -> RequestAndResult {
    let mut sums = vec![0.0; operand.iter().product()];
    for p in 0..shape.iter().product() {
        sums[place(p)] += weight(p);
    }
    let operation = Operation::Vjp {
        expression: Expression::operand(0),
        wrt: 0,
        target_shape: Some(Shape::from(target)),
        cotangent: Box::new(cotangent(shape)),
    };
    let request = Request::new(rules, operation, vec![a(operand)]).expect("a well-formed request");
    (request, tensor(operand, sums))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_gradient(
        arrangements: &[Arrangement],
        name: &str,
        n: usize,
        shape: &[usize],
        expected: &[f64],
    ) {
        let arrangement = arrangements.iter().find(|(found, _)| *found == name).unwrap();
        assert_eq!(arrangement.1(n).1, tensor(shape, expected.to_vec()), "{name}");
    }

    #[test]
    fn arrangements_by_hand() {
        // The factors and the weights are both 1 to 6, by rows: the products are 1, 4, 9, 16, 25, 36.
        assert_gradient(NUMPY, "by-row", 2, &[3], &[17.0, 29.0, 45.0]);
        assert_gradient(NUMPY, "by-column", 2, &[2, 1], &[14.0, 77.0]);
        assert_gradient(NUMPY, "by-one-for-both-axes", 2, &[1, 1], &[91.0]);
        // The weights 6 to 1: the products are 6, 10, 12, 12, 10, 6.
        assert_gradient(NUMPY, "by-row-reversed", 2, &[3], &[18.0, 20.0, 18.0]);
        // The weights 1, 3, 5 and 2, 4, 6: the products are 1, 6, 15, 8, 20, 36.
        assert_gradient(NUMPY, "by-column-transposed", 2, &[2, 1], &[22.0, 64.0]);
        // 1 + 4, 2 + 5, 3 + 6.
        assert_gradient(NUMPY, "of-row", 2, &[3], &[5.0, 7.0, 9.0]);
        // The weights of the result (2,3) are 1, 2, 3 and 4, 5, 6; the operand is its transposition.
        assert_gradient(XLA, "of-transposed", 2, &[3, 2], &[1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        assert_gradient(THEANO, "by-flagged-row", 2, &[1, 3], &[17.0, 29.0, 45.0]);
        // 1 + 9 + 25, 4 + 16 + 36: b is repeated twice along the axis, and 2n = 4 rows of 3.
        assert_gradient(REPEAT, "by-a-third", 2, &[2], &[35.0, 56.0]);
    }
}
