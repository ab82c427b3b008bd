//! Checks enclosures against derivatives and errors computed by hand. They use f16, whose spacing is so wide
//! that an omitted or doubled error is visible beside the rounding of the intervals.

use super::*;

/// The spacing of f16 at 1.
const EPS: f64 = 1.0 / 1024.0;
/// The smallest subnormal of f16.
const SMALLEST: f64 = EPS / 16384.0;
/// The error of `exp log tanh power`: 4 ULPs in either direction.
const INEXACT: f64 = 8.0 * EPS;

fn op(place: usize) -> Expression {
    Expression::operand(place)
}

fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
    Expression::call(function, arguments).expect("the right arity")
}

/// The root if operand 0 varies within a range and the others are constant.
fn within(expression: &Expression, low: f64, high: f64, others: &[f64]) -> Option<Moving> {
    let operands: Vec<Scalar> = [low].iter().chain(others).map(|&value| Scalar::F64(value)).collect();
    enclose(expression, 0, Interval { low, high }, &operands, Precision::of(DType::F16, 4))
}

/// The root if operand 0 is a point.
fn at(expression: &Expression, values: &[f64]) -> Option<Moving> {
    within(expression, values[0], values[0], &values[1..])
}

/// Checks the derivative and the error, to within far less than one ULP of an argument would contribute.
#[track_caller]
fn is(found: Option<Moving>, derivative: f64, error: f64) {
    let found = found.expect("the enclosure is known");
    let Interval { low, high } = found.derivative;
    assert!(low <= derivative && derivative <= high, "{derivative} in {found:?}");
    assert!(found.derivative.width() <= 1e-6 * derivative.abs() + 1e-300, "{found:?} is too wide");
    assert!((found.error - error).abs() <= 1e-6 * error, "{} is the error {error}", found.error);
}

#[test]
fn a_function_has_its_derivative_and_its_rounding() {
    let unary = |function: Function| call(function, [op(0)]);
    let binary = |function: Function| call(function, [op(0), op(1)]);
    is(at(&op(0), &[3.0]), 1.0, 0.0);
    is(at(&unary(Function::Negate), &[3.0]), -1.0, 0.0);
    is(at(&unary(Function::Abs), &[3.0]), 1.0, 0.0);
    is(at(&unary(Function::Abs), &[-3.0]), -1.0, 0.0);
    let e = 1f64.exp();
    is(at(&unary(Function::Exp), &[1.0]), e, e * INEXACT + SMALLEST);
    is(at(&unary(Function::Log), &[8.0]), 0.125, 8f64.ln() * INEXACT + SMALLEST);
    is(at(&unary(Function::Sqrt), &[16.0]), 0.125, 4.0 * EPS + SMALLEST);
    let tanh = 0.5f64.tanh();
    is(at(&unary(Function::Tanh), &[0.5]), 1.0 - tanh * tanh, tanh * INEXACT + SMALLEST);
    is(at(&binary(Function::Add), &[3.0, 5.0]), 1.0, 8.0 * EPS + SMALLEST);
    is(at(&binary(Function::Subtract), &[3.0, 5.0]), 1.0, 2.0 * EPS + SMALLEST);
    is(at(&call(Function::Subtract, [op(1), op(0)]), &[3.0, 5.0]), -1.0, 2.0 * EPS + SMALLEST);
    is(at(&binary(Function::Multiply), &[3.0, 5.0]), 5.0, 15.0 * EPS + SMALLEST);
    is(at(&binary(Function::Divide), &[3.0, 4.0]), 0.25, 0.75 * EPS + SMALLEST);
    is(at(&call(Function::Divide, [op(1), op(0)]), &[4.0, 3.0]), -0.1875, 0.75 * EPS + SMALLEST);
    is(at(&binary(Function::Power), &[3.0, 2.0]), 6.0, 9.0 * INEXACT + SMALLEST);
    let by_exponent = call(Function::Power, [op(1), op(0)]);
    is(at(&by_exponent, &[2.0, 3.0]), 9.0 * 3f64.ln(), 9.0 * INEXACT + SMALLEST);
}

#[test]
fn errors_propagate_through_the_next_function_and_add_up() {
    let exp = || call(Function::Exp, [op(0)]);
    let e = 1f64.exp();
    let one = e * INEXACT + SMALLEST;
    let sum = at(&call(Function::Add, [exp(), exp()]), &[1.0]).expect("known");
    // Rounding counts with the size of the widest interval.
    let widest = 2.0 * (e + one);
    let expected = 2.0 * one + widest * EPS + SMALLEST;
    assert!((sum.error - expected).abs() < 1e-6 * expected, "{} is {expected}", sum.error);
    let twice = at(&call(Function::Exp, [exp()]), &[1.0]).expect("known");
    let widest = (e + one).exp();
    let expected = widest * one + widest * INEXACT + SMALLEST;
    assert!((twice.error - expected).abs() < 1e-6 * expected, "{} is {expected}", twice.error);
    // exp(exp(x)) exp(x): both factors vary within their errors.
    let high = widest + widest * one + widest * INEXACT;
    assert!(twice.derivative.high < high * (e + one) && twice.derivative.high > widest * e, "{twice:?}");
    assert!(twice.derivative.low > 0.0 && twice.derivative.low < (e - one).exp() * e, "{twice:?}");
}

#[test]
fn the_precision_depends_on_the_dtype_and_is_at_least_4_ulps() {
    let values = [Scalar::F64(16.0), Scalar::F64(0.0)];
    let of = |dtype: DType, ulp: u32, expression: Expression| {
        enclose(&expression, 0, Interval::point(16.0), &values, Precision::of(dtype, ulp))
            .expect("known")
            .error
    };
    let is = |found: f64, expected: f64| {
        assert!(
            found >= expected && found <= expected * 1.000_001 + f64::from_bits(2),
            "{found}, {expected}"
        );
    };
    for (dtype, epsilon, smallest) in
        [(DType::F64, -52, -1074), (DType::F32, -23, -149), (DType::F16, -10, -24), (DType::Bf16, -7, -133)]
    {
        is(of(dtype, 4, call(Function::Sqrt, [op(0)])), 4.0 * 2f64.powi(epsilon) + 2f64.powi(smallest));
        is(of(dtype, 4, call(Function::Multiply, [op(0), op(1)])), 2f64.powi(smallest));
    }
    let log = || call(Function::Log, [op(0)]);
    for (ulp, allowed) in [(1, 8.0), (4, 8.0), (10, 20.0)] {
        is(of(DType::F32, ulp, log()), 16f64.ln() * allowed * 2f64.powi(-23));
    }
}

#[test]
fn constants_are_exact_except_for_inexact_functions() {
    let times = |factor: Expression| call(Function::Multiply, [op(0), factor]);
    is(at(&times(call(Function::Add, [op(1), op(2)])), &[1.0, 3.0, 4.0]), 7.0, 7.0 * EPS + SMALLEST);
    let exp = || times(call(Function::Exp, [op(1)]));
    // exp is exact at 0 and at infinity (V-4).
    is(at(&exp(), &[1.0, 0.0]), 1.0, EPS + SMALLEST);
    is(at(&exp(), &[1.0, f64::NEG_INFINITY]), 0.0, SMALLEST);
    let moved = at(&exp(), &[1.0, 1.0]).expect("known").error;
    assert!(moved > 1f64.exp() * INEXACT, "{moved}");
}

#[test]
fn comparisons_are_decided_if_the_intervals_are_disjoint() {
    use std::cmp::Ordering::{Equal, Greater, Less};
    for (function, answers) in [
        (Function::Equal, [false, true, false]),
        (Function::NotEqual, [true, false, true]),
        (Function::Less, [true, false, false]),
        (Function::LessEqual, [true, true, false]),
        (Function::Greater, [false, false, true]),
        (Function::GreaterEqual, [false, true, true]),
    ] {
        assert_eq!([Less, Equal, Greater].map(|order| holds(function, order)), answers, "{function}");
    }
    // x if it is below operand 1, else -x.
    let negated = call(Function::Negate, [op(0)]);
    let choice = call(Function::Select, [call(Function::Less, [op(0), op(1)]), op(0), negated]);
    is(within(&choice, 1.0, 1.5, &[2.0]), 1.0, 0.0);
    is(within(&choice, 2.5, 3.0, &[2.0]), -1.0, 0.0);
    is(within(&choice, 2.0, 2.0, &[2.0]), -1.0, 0.0);
    for (low, high) in [(1.0, 2.0), (2.0, 3.0), (1.0, 3.0)] {
        assert!(within(&choice, low, high, &[2.0]).is_none(), "{low} to {high}");
    }
}

#[test]
fn the_winner_of_a_maximum_has_the_derivative() {
    let of = |function: Function| call(function, [op(0), op(1)]);
    for (function, sides) in [(Function::Maximum, [0.0, 1.0]), (Function::Minimum, [1.0, 0.0])] {
        is(at(&of(function), &[2.0, 3.0]), sides[0], 0.0);
        is(at(&of(function), &[3.0, 2.0]), sides[1], 0.0);
        is(at(&of(function), &[2.0, 2.0]), 0.5, 0.0);
        assert!(within(&of(function), 1.0, 3.0, &[2.0]).is_none());
    }
}

#[test]
fn a_pole_is_known_until_it_wins() {
    let beside = |function: Function| call(Function::Maximum, [call(function, [op(0)]), op(1)]);
    is(at(&beside(Function::Log), &[0.0, -1.0]), 0.0, 0.0);
    is(at(&beside(Function::Sqrt), &[0.0, 1.0]), 0.0, 0.0);
    assert!(at(&beside(Function::Sqrt), &[0.0, -1.0]).is_none());
    assert!(at(&call(Function::Log, [op(0)]), &[0.0]).is_none());
}

#[test]
fn outside_the_domain_nothing_is_known() {
    for (low, high) in [(-1.0, 1.0), (0.0, 1.0), (-1.0, 0.0), (0.0, 0.0)] {
        let abs = within(&call(Function::Abs, [op(0)]), low, high, &[]);
        assert!(abs.is_none(), "{low} to {high}: {abs:?}");
        let power = within(&call(Function::Power, [op(0), op(1)]), low, high, &[2.0]);
        assert!(power.is_none(), "{low} to {high}: {power:?}");
    }
    assert!(at(&call(Function::Log, [op(0)]), &[-1.5]).is_none());
    assert!(at(&call(Function::Sqrt, [op(0)]), &[-1.5]).is_none());
    assert!(at(&call(Function::Divide, [op(1), op(0)]), &[0.0, 1.0]).is_none());
}

#[test]
fn a_negative_number_has_powers_with_constant_integer_exponents() {
    let power = call(Function::Power, [op(0), op(1)]);
    is(at(&power, &[-2.0, 3.0]), 12.0, 8.0 * INEXACT + SMALLEST);
    is(at(&power, &[-2.0, 2.0]), -4.0, 4.0 * INEXACT + SMALLEST);
    is(at(&power, &[-2.0, -1.0]), -0.25, 0.5 * INEXACT + SMALLEST);
    assert!(at(&power, &[-2.0, 2.5]).is_none());
    assert!(
        at(&call(Function::Power, [op(1), op(0)]), &[2.0, -2.0]).is_none(),
        "with respect to the exponent"
    );
    let constant =
        |value: f64| Moving { value: Interval::point(value), derivative: Interval::ZERO, error: 0.0 };
    let base = Moving { derivative: Interval::ONE, ..constant(-2.0) };
    let by = |exponent: Moving| negative_base(base, exponent, Precision::of(DType::F16, 4));
    assert!(by(constant(2.0)).is_some());
    assert!(by(Moving { value: Interval { low: 2.0, high: 2.5 }, ..constant(2.0) }).is_none());
    assert!(by(Moving { derivative: Interval::ONE, ..constant(2.0) }).is_none());
    assert!(by(Moving { error: SMALLEST, ..constant(2.0) }).is_none());
}
