//! Long runs into a destination: what is written block by block must be as if every operand had been read
//! before (clauses INTO-1 to INTO-4).
//!
//! A short result fits into one block or buffer, where everything is read before anything is written. Here
//! operands read what other blocks write, before and behind the block, and by more than a block's length. The
//! places of the buffer between the elements of a destination must keep their values.
//!
//! As in `long.rs`, the values are residues of the position in a buffer, and the expected ones are computed
//! from the positions that each element reads.

use super::long::{Arrangement, RequestAndResult, a, b, count, fold, from, residue, strided_view, tensor};
use super::views::signed;
use broadcheck_spec::{Data, Element, Expression, Function, Operand, Operation, Request, Rules};

/// No other operand reads the destination's buffer.
pub(super) static SEPARATE: &[Arrangement] = &[
    ("in-place", |n| difference([d(&[n]), b(&[n])], &[n], |p| p, |p| p)),
    ("in-place-from-the-right", |n| {
        let [d, b] = [d(&[n]), b(&[n])];
        let values = from(n, |p| count(p, 2039, 4096) - count(p, 4093, 1));
        into(difference_of([1, 0]), vec![d, b], 0, &[n], values)
    }),
    ("in-place-row", |n| difference([d(&[n, 3]), b(&[3])], &[n, 3], |p| p, |p| p % 3)),
    ("in-place-column", |n| difference([d(&[n, 3]), b(&[n, 1])], &[n, 3], |p| p, |p| p / 3)),
    ("in-place-scalar", |n| difference([d(&[n]), b(&[])], &[n], |p| p, |_| 0)),
    ("in-place-reversed", |n| {
        let d = strided_view(&d(&[n + 2]), &[n], &[-1], n);
        difference([d, b(&[n])], &[n], move |p| n - p, |p| p)
    }),
    ("in-place-every-second", |n| {
        let d = strided_view(&d(&[2 * n + 1]), &[n], &[2], 1);
        difference([d, b(&[n])], &[n], |p| 2 * p + 1, |p| p)
    }),
    ("in-place-transposed", |n| {
        let d = strided_view(&d(&[n, 3]), &[3, n], &[1, 3], 0);
        difference([d, b(&[n])], &[3, n], move |p| p % n * 3 + p / n, move |p| p % n)
    }),
    ("out", |n| out(unwritten(&[n]), [a(&[n]), b(&[n])], |p| p, |p| p)),
    ("out-of-column-and-row", |n| out(unwritten(&[n, 3]), [a(&[n, 1]), b(&[3])], |p| p / 3, |p| p % 3)),
    ("out-stretched", |n| out(unwritten(&[n, 3]), [a(&[1, 3]), b(&[])], |p| p % 3, |_| 0)),
    ("out-reversed", |n| {
        let d = strided_view(&unwritten(&[n + 2]), &[n], &[-1], n);
        out(d, [a(&[n]), b(&[n])], |p| p, |p| p)
    }),
    ("out-every-third", |n| {
        let d = strided_view(&unwritten(&[3 * n]), &[n], &[3], 1);
        out(d, [a(&[n]), b(&[n])], |p| p, |p| p)
    }),
    ("out-rows-with-gaps", |n| {
        let d = strided_view(&unwritten(&[n, 5]), &[n, 3], &[5, 1], 1);
        out(d, [a(&[n, 3]), b(&[n, 1])], |p| p, |p| p / 3)
    }),
    ("out-transposed", |n| {
        let d = strided_view(&unwritten(&[n, 3]), &[3, n], &[1, 3], 0);
        out(d, [a(&[3, n]), b(&[n])], |p| p, move |p| p % n)
    }),
    ("less-out-reversed", |n| {
        let d = operand("d", &[n], vec![false; n]);
        let d = strided_view(&d, &[n], &[-1], n - 1);
        let limit = operand("b", &[], vec![64.0]);
        let less = Expression::call(Function::Less, [0, 1].map(Expression::operand)).expect("two arguments");
        into(less, vec![a(&[n]), limit, d], 2, &[n], from(n, |p| p % 4093 < 63))
    }),
    ("f32-in-place", |n| {
        let d = operand("d", &[n], from(n, |p| f32::from(residue(p, 4093))));
        let b = operand("b", &[n], from(n, |p| f32::from(residue(p, 2039)) * 4096.0));
        let values = from(n, |p| f32::from(residue(p, 4093)) - f32::from(residue(p, 2039)) * 4096.0);
        into(difference_of([0, 1]), vec![d, b], 0, &[n], values)
    }),
    ("i32-out-reversed", |n| {
        let [high, low] = [32_749, 4093].map(|modulus| move |p: usize| i32::from(residue(p, modulus)));
        let values = from(n, |p| (high(p) << 15) - low(p));
        let [a, b] = [operand("a", &[n], from(n, |p| high(p) << 15)), operand("b", &[n], from(n, low))];
        let d = strided_view(&operand("d", &[n], vec![-1; n]), &[n], &[-1], n - 1);
        into(difference_of([0, 1]), vec![a, b, d], 2, &[n], values)
    }),
    ("u8-in-place-every-second", |n| {
        let byte = |p, modulus| u8::try_from(residue(p, modulus)).unwrap_or(0);
        let d = operand("d", &[2 * n], from(2 * n, |k| byte(k, 113) + 128));
        let d = strided_view(&d, &[n], &[2], 0);
        let b = operand("b", &[n], from(n, |k| byte(k, 127)));
        let values = from(n, |p| byte(2 * p, 113) + 128 - byte(p, 127));
        into(difference_of([0, 1]), vec![d, b], 0, &[n], values)
    }),
];

/// An operand reads the buffer of the destination.
pub(super) static OVERLAPS: &[Arrangement] = &[
    ("ahead-by-one", |n| overlap(n + 1, Function::Add, [(&[n], &[1], 1), (&[n], &[1], 0)], |p| p + 1, |p| p)),
    ("behind-by-one", |n| {
        overlap(n + 1, Function::Add, [(&[n], &[1], 0), (&[n], &[1], 1)], |p| p, |p| p + 1)
    }),
    ("ahead-by-1000", |n| {
        let views: [View<'_>; 2] = [(&[n], &[1], 1000), (&[n], &[1], 0)];
        overlap(n + 1000, Function::Add, views, |p| p + 1000, |p| p)
    }),
    ("behind-by-1000", |n| {
        let views: [View<'_>; 2] = [(&[n], &[1], 0), (&[n], &[1], 1000)];
        overlap(n + 1000, Function::Add, views, |p| p, |p| p + 1000)
    }),
    ("negated-ahead", |n| negated(n, [1, 0])),
    ("negated-behind", |n| negated(n, [0, 1])),
    ("reversed", |n| {
        let views: [View<'_>; 2] = [(&[n], &[1], 0), (&[n], &[-1], n - 1)];
        overlap(n, Function::Subtract, views, |p| p, move |p| n - 1 - p)
    }),
    ("reversed-destination", |n| {
        let views: [View<'_>; 2] = [(&[n], &[-1], n - 1), (&[n], &[1], 0)];
        overlap(n, Function::Subtract, views, move |p| n - 1 - p, |p| p)
    }),
    ("both-reversed-ahead", |n| {
        let views: [View<'_>; 2] = [(&[n], &[-1], n), (&[n], &[-1], n - 1)];
        overlap(n + 1, Function::Add, views, move |p| n - p, move |p| n - 1 - p)
    }),
    ("both-reversed-behind", |n| {
        let views: [View<'_>; 2] = [(&[n], &[-1], n - 1), (&[n], &[-1], n)];
        overlap(n + 1, Function::Add, views, move |p| n - 1 - p, move |p| n - p)
    }),
    ("every-second-into-the-first-half", |n| {
        overlap(2 * n, Function::Add, [(&[n], &[1], 0), (&[n], &[2], 0)], |p| p, |p| 2 * p)
    }),
    ("first-half-into-every-second", |n| {
        overlap(2 * n, Function::Add, [(&[n], &[2], 0), (&[n], &[1], 0)], |p| 2 * p, |p| p)
    }),
    ("every-second-beside", |n| {
        overlap(2 * n, Function::Add, [(&[n], &[2], 1), (&[n], &[2], 0)], |p| 2 * p + 1, |p| 2 * p)
    }),
    ("first-element", |n| overlap(n, Function::Subtract, [(&[n], &[1], 0), (&[], &[], 0)], |p| p, |_| 0)),
    ("last-element", |n| {
        overlap(n, Function::Subtract, [(&[n], &[1], 0), (&[], &[], n - 1)], |p| p, move |_| n - 1)
    }),
    ("first-row", |n| {
        let views: [View<'_>; 2] = [(&[n, 3], &[3, 1], 0), (&[3], &[1], 0)];
        overlap(3 * n, Function::Subtract, views, |p| p, |p| p % 3)
    }),
    ("last-row", |n| {
        let views: [View<'_>; 2] = [(&[n, 3], &[3, 1], 0), (&[3], &[1], 3 * n - 3)];
        overlap(3 * n, Function::Subtract, views, |p| p, move |p| 3 * n - 3 + p % 3)
    }),
    ("first-column", |n| {
        let views: [View<'_>; 2] = [(&[n, 3], &[3, 1], 0), (&[n, 1], &[3, 1], 0)];
        overlap(3 * n, Function::Subtract, views, |p| p, |p| p / 3 * 3)
    }),
    ("transposed", |n| {
        let views: [View<'_>; 2] = [(&[3, n], &[signed(n), 1], 0), (&[3, n], &[1, 3], 0)];
        overlap(3 * n, Function::Subtract, views, |p| p, move |p| p % n * 3 + p / n)
    }),
    ("transposed-destination", |n| {
        let views: [View<'_>; 2] = [(&[3, n], &[1, 3], 0), (&[3, n], &[signed(n), 1], 0)];
        overlap(3 * n, Function::Subtract, views, move |p| p % n * 3 + p / n, |p| p)
    }),
    ("f32-ahead-by-one", |n| {
        let element = |k| f32::from(residue(k, 4093));
        overlapping(from(n + 1, element), [(&[n], &[1], 1), (&[n], &[1], 0)], Function::Add, |p| {
            element(p + 1) + element(p)
        })
    }),
    ("i32-reversed", |n| {
        let element = |k| i32::from(residue(k, 32_749)) << 10;
        overlapping(from(n, element), [(&[n], &[1], 0), (&[n], &[-1], n - 1)], Function::Subtract, |p| {
            element(p) - element(n - 1 - p)
        })
    }),
    ("u8-behind-by-one", |n| {
        let element = |k| u8::try_from(residue(k, 113)).unwrap_or(0);
        overlapping(from(n + 1, element), [(&[n], &[1], 0), (&[n], &[1], 1)], Function::Add, |p| {
            element(p) + element(p + 1)
        })
    }),
    ("bool-ahead-by-one", |n| {
        let element = |k: usize| k % 7 < 5;
        overlapping(from(n + 1, element), [(&[n], &[1], 1), (&[n], &[1], 0)], Function::LogicalAnd, |p| {
            element(p + 1) && element(p)
        })
    }),
];

/// The shape, the strides and the offset of a view.
type View<'a> = (&'a [usize], &'a [i64], usize);

fn operand<T>(name: &str, shape: &[usize], values: Vec<T>) -> Operand
where
    Data: From<Vec<T>>,
{
    Operand::dense(name, shape, values).expect("one value per element")
}

/// A destination that the expression reads.
fn d(shape: &[usize]) -> Operand {
    operand("d", shape, from(shape.iter().product(), |k| count(k, 4093, 1)))
}

/// A destination that it does not read.
fn unwritten(shape: &[usize]) -> Operand {
    operand("d", shape, from(shape.iter().product(), |k| -count(k, 4093, 1)))
}

/// The difference of two operands.
fn difference_of(operands: [usize; 2]) -> Expression {
    Expression::call(Function::Subtract, operands.map(Expression::operand)).expect("two arguments")
}

fn into(
    expression: Expression,
    operands: Vec<Operand>,
    destination: usize,
    shape: &[usize],
    values: impl Into<Data>,
) -> RequestAndResult {
    let operation = Operation::Into { expression, destination };
    let request = Request::new(Rules::Numpy, operation, operands).expect("a well-formed request");
    (request, tensor(shape, values))
}

/// d -= b, where element p of the result reads places `left(p)` and `right(p)` of the buffers.
fn difference(
    operands: [Operand; 2],
    shape: &[usize],
    left: impl Fn(usize) -> usize,
    right: impl Fn(usize) -> usize,
) -> RequestAndResult {
    let values = from(shape.iter().product(), |p| count(left(p), 4093, 1) - count(right(p), 2039, 4096));
    into(fold(Function::Subtract, 2), operands.into(), 0, shape, values)
}

/// d = a - b.
fn out(
    destination: Operand,
    [a, b]: [Operand; 2],
    left: impl Fn(usize) -> usize,
    right: impl Fn(usize) -> usize,
) -> RequestAndResult {
    let shape = destination.shape().to_vec();
    let values = from(shape.iter().product(), |p| count(left(p), 4093, 1) - count(right(p), 2039, 4096));
    into(fold(Function::Subtract, 2), vec![a, b, destination], 2, &shape, values)
}

/// Two views of a buffer of these values: the first, the destination, is replaced by a function of both.
fn overlapping<T: Element>(
    buffer: Vec<T>,
    [(shape, strides, offset), (own_shape, own_strides, own_offset)]: [View<'_>; 2],
    function: Function,
    value: impl Fn(usize) -> T,
) -> RequestAndResult
where
    Data: From<Vec<T>>,
{
    let values = from(shape.iter().product(), value);
    let whole = operand("d", &[buffer.len()], buffer);
    let d = strided_view(&whole, shape, strides, offset);
    let o = Operand::of(&d, "o", own_shape, Some(own_strides.to_vec()), Some(own_offset));
    into(fold(function, 2), vec![d, o.expect("a view inside")], 0, shape, values)
}

/// The sum or the difference of two views of one buffer, where element p of the result reads places `left(p)`
/// and `right(p)`.
fn overlap(
    length: usize,
    function: Function,
    views: [View<'_>; 2],
    left: impl Fn(usize) -> usize,
    right: impl Fn(usize) -> usize,
) -> RequestAndResult {
    let sign = if function == Function::Add { 1.0 } else { -1.0 };
    let element = |k| count(k, 4093, 1);
    overlapping(from(length, element), views, function, |p| element(left(p)) + sign * element(right(p)))
}

/// d = -o, where both begin at offsets of one buffer.
fn negated(n: usize, [destination, own]: [usize; 2]) -> RequestAndResult {
    let d = strided_view(&d(&[n + 1]), &[n], &[1], destination);
    let o = Operand::of(&d, "o", [n], Some(vec![1]), Some(own)).expect("a view inside");
    let negated = Expression::call(Function::Negate, [Expression::operand(1)]).expect("one argument");
    into(negated, vec![d, o], 0, &[n], from(n, |p| -count(own + p, 4093, 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_written(arrangements: &[Arrangement], name: &str, shape: &[usize], expected: &[f64]) {
        let arrangement = arrangements.iter().find(|(found, _)| *found == name).unwrap();
        assert_eq!(arrangement.1(3).1, tensor(shape, expected.to_vec()), "{name}");
    }

    #[test]
    fn arrangements_by_hand() {
        // The buffer is 1, 2, 3 and so on.
        assert_written(OVERLAPS, "ahead-by-one", &[3], &[3.0, 5.0, 7.0]);
        assert_written(OVERLAPS, "behind-by-one", &[3], &[3.0, 5.0, 7.0]);
        assert_written(OVERLAPS, "negated-ahead", &[3], &[-1.0, -2.0, -3.0]);
        assert_written(OVERLAPS, "negated-behind", &[3], &[-2.0, -3.0, -4.0]);
        assert_written(OVERLAPS, "reversed", &[3], &[-2.0, 0.0, 2.0]);
        assert_written(OVERLAPS, "first-half-into-every-second", &[3], &[2.0, 5.0, 8.0]);
        assert_written(OVERLAPS, "last-element", &[3], &[-2.0, -1.0, 0.0]);
        // The transposition of 1, 2, 3; 4, 5, 6; 7, 8, 9.
        let transposed = [0.0, -2.0, -4.0, 2.0, 0.0, -2.0, 4.0, 2.0, 0.0];
        assert_written(OVERLAPS, "transposed", &[3, 3], &transposed);
        // 2, 4, 6 less 1, 2, 3 times 4096.
        assert_written(SEPARATE, "in-place-every-second", &[3], &[-4094.0, -8188.0, -12282.0]);
        // 1, 2, 3 less 4096.
        let row = [-4095.0, -4094.0, -4093.0];
        assert_written(SEPARATE, "out-stretched", &[3, 3], &[row, row, row].concat());
    }
}
