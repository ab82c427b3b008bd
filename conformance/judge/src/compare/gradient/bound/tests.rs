//! Checks the parts of the bound by hand arithmetic.

use super::*;
use broadcheck_spec::half::f16;
use broadcheck_spec::{DType, Data, Function, Operand, Operation, Rules};

const INF: f64 = f64::INFINITY;

fn op(place: usize) -> Expression {
    Expression::operand(place)
}

fn call(function: Function, arguments: impl IntoIterator<Item = Expression>) -> Expression {
    Expression::call(function, arguments).expect("the right arity")
}

/// A function of the operands 0, 1, ….
fn of_operands(function: Function) -> Expression {
    call(function, (0..function.arity()).map(op))
}

fn dense(name: &str, shape: &[usize], values: impl Into<Data>) -> Operand {
    Operand::dense(name, shape, values).expect("a dense operand")
}

fn gradient_of(expression: Expression, wrt: usize, operands: Vec<Operand>) -> Request {
    Request::new(Rules::Numpy, Operation::Gradient { expression, wrt }, operands).expect("well-formed")
}

/// What is known of the first element of a gradient.
fn first(request: &Request) -> Element {
    let Operation::Gradient { expression, wrt } = request.operation() else { panic!("expected a gradient") };
    let reading = Reading::of(request).expect("accepted");
    elements(&reading, expression, *wrt, Limits::of(request.operands()[*wrt].dtype()))[0]
}

/// What is known of the gradient by operand `wrt` of an expression of f64 scalars.
fn one(expression: Expression, wrt: usize, arguments: &[f64]) -> Element {
    let operands = arguments.iter().zip(["a", "b", "c", "d"]);
    let operands = operands.map(|(&value, name)| dense(name, &[], vec![value])).collect();
    first(&gradient_of(expression, wrt, operands))
}

/// What is known of the gradient by the first operand of an expression of f32 scalars.
fn single(expression: Expression, arguments: &[f32]) -> Element {
    let operands = arguments.iter().zip(["a", "b", "c", "d"]);
    let operands = operands.map(|(&value, name)| dense(name, &[], vec![value])).collect();
    first(&gradient_of(expression, 0, operands))
}

/// The interval of a sum before it is rounded.
fn reach(element: &Element, limits: Limits) -> Option<Interval> {
    let Sum { hull, rounding, .. } = element.sum(limits)?;
    Some(Interval { low: hull.low - rounding, high: hull.high + rounding })
}

/// Half the width of the interval of a sum.
fn radius(element: &Element, dtype: DType) -> Option<f64> {
    reach(element, Limits::of(dtype)).map(|Interval { low, high }| (high - low) / 2.0)
}

#[test]
fn there_is_an_interval_per_element_of_an_accepted_request() {
    // The gradient of a * b by a, of shape (2,1): 1 + 2 and 3 + 4, which are exact.
    let halves = |values: &[f32]| values.iter().map(|&value| f16::from_f32(value)).collect::<Vec<f16>>();
    let operands =
        vec![dense("a", &[2, 1], halves(&[1.0, 1.0])), dense("b", &[2, 2], halves(&[1.0, 2.0, 3.0, 4.0]))];
    let bounds = gradient_bounds(&gradient_of(of_operands(Function::Multiply), 0, operands)).unwrap();
    assert_eq!(bounds, [Some(Interval::point(3.0)), Some(Interval::point(7.0))]);
    let operands = vec![dense("a", &[2], vec![1.0, 2.0]), dense("b", &[3], vec![1f32; 3])];
    let refused = gradient_bounds(&gradient_of(of_operands(Function::Multiply), 0, operands));
    assert!(refused.is_err());
}

#[test]
fn terms_are_counted_per_index_per_occurrence_and_per_part() {
    // w * w + w: three occurrences, 2 + 2 + 1
    let square = || call(Function::Multiply, [op(0), op(0)]);
    let found = one(call(Function::Add, [square(), op(0)]), 0, &[2.0]);
    assert_eq!((found.value, found.terms, found.magnitude), (5.0, 3, 5.0));
    // w - w: 1 and -1
    let found = one(call(Function::Subtract, [op(0), op(0)]), 0, &[2.0]);
    assert_eq!((found.value, found.terms, found.magnitude), (0.0, 2, 2.0));
    // -3 * tanh(w) at infinity: -3 * (1 - 1), in parts 3 and 3
    let tanh = || call(Function::Tanh, [op(0)]);
    let found = one(call(Function::Multiply, [op(1), tanh()]), 0, &[INF, -3.0]);
    assert_eq!(found.value, 0.0);
    assert_eq!((found.terms, found.magnitude), (2, 6.0));
    // tanh(tanh(w)) at 0: (1 - 0)(1 - 0), four parts written out
    let found = one(call(Function::Tanh, [tanh()]), 0, &[0.0]);
    assert_eq!((found.value, found.terms, found.magnitude), (1.0, 4, 1.0));
}

#[test]
fn what_f32_cannot_hold_on_the_way_widens_the_interval() {
    let times = |left, right| call(Function::Multiply, [left, right]);
    let [large, small] = [2f32.powi(100), 2f32.powi(-100)];
    // a * 2^100 * 2^-100, and the like: f is 2 or 3.
    let two = |b, c| single(times(times(op(0), op(1)), op(2)), &[1.0, b, c]);
    let three = |b, c, d| single(times(times(times(op(0), op(1)), op(2)), op(3)), &[1.0, b, c, d]);
    assert_eq!(reach(&two(large, small), Limits::of(DType::F32)), Some(Interval::ONE), "nothing rounds");
    // Underflow: 2^-200 on the way; 2^-149 times what is above 1. The rest, (1 + 8 * 3) 2^-123, is less.
    let under = three(small, small, large);
    assert_eq!(under.value, 2f64.powi(-100));
    near(radius(&under, DType::F32).unwrap(), 2f64.powi(-49));
    // Overflow: 2^200 on the way to 2^100, in one order and in the other.
    assert_eq!(three(large, large, small).sum(Limits::of(DType::F32)), None);
    assert_eq!(three(small, large, large).sum(Limits::of(DType::F32)), None);
    // A value beyond the range of f32 is infinite for every implementation.
    let beyond = two(large, large);
    assert_eq!((beyond.value, beyond.overflow), (2f64.powi(200), false));
    let rounded = beyond.sum(Limits::of(DType::F32)).unwrap().rounded(0.0, Limits::of(DType::F32));
    assert_eq!(rounded, Interval::point(INF));
    // A factor of 0 is lost to no underflow, but meets an overflow.
    let half = single(times(times(op(0), op(1)), op(2)), &[1.0, small, 0.0]);
    assert_eq!(reach(&half, Limits::of(DType::F32)), Some(Interval::ZERO));
    assert!(three(large, large, 0.0).overflow && !three(0.0, f32::INFINITY, large).overflow);
    // f64 has room for all of it.
    let operands = [1.0, 2f64.powi(100), 2f64.powi(100), 2f64.powi(-100)];
    let wide = one(times(times(times(op(0), op(1)), op(2)), op(3)), 0, &operands);
    assert_eq!(reach(&wide, Limits::of(DType::F64)), Some(Interval::point(2f64.powi(100))));
}

/// Whether two numbers are the same but for a few roundings.
#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-14 * expected, "{found} is {expected}");
}

#[test]
fn what_does_not_round_is_a_point() {
    let limits = Limits::of(DType::F64);
    let exact = |function, wrt, arguments: &[f64]| {
        let Interval { low, high } = reach(&one(of_operands(function), wrt, arguments), limits).unwrap();
        low == high
    };
    // A quotient is exact in every formula if the divisor is a power of two.
    assert!(exact(Function::Divide, 0, &[3.0, 4.0]) && !exact(Function::Divide, 0, &[3.0, 5.0]));
    assert!(exact(Function::Divide, 1, &[3.0, 4.0]) && !exact(Function::Divide, 1, &[9.0, 3.0]));
    assert!(exact(Function::Sqrt, 0, &[16.0]) && !exact(Function::Sqrt, 0, &[9.0]));
    assert!(!exact(Function::Sqrt, 0, &[8.0]));
    // No function of V-4 is exact.
    assert!(!exact(Function::Exp, 0, &[0.0]) && !exact(Function::Power, 0, &[2.0, 3.0]));
    // A product is exact if the dtype can hold it: (1 + 2^-52) * 3 cannot be held, and times 0 it need not
    // be.
    let chain = |b: f64, c: f64| {
        let product = call(Function::Multiply, [call(Function::Multiply, [op(0), op(1)]), op(2)]);
        reach(&one(product, 0, &[1.0, b, c]), limits).unwrap()
    };
    assert_eq!(chain(1.5, 3.0), Interval::point(4.5));
    let Interval { low, high } = chain(1.0 + f64::EPSILON, 3.0);
    assert!(low < 3.0 && high > 3.0 + 3.0 * f64::EPSILON);
    let zero = single(
        call(
            Function::Multiply,
            [call(Function::Multiply, [op(0), call(Function::Divide, [op(1), op(2)])]), op(3)],
        ),
        &[1.0, 1.0, 3.0, 0.0],
    );
    assert_eq!(reach(&zero, Limits::of(DType::F32)), Some(Interval::ZERO));
}

#[test]
fn a_sum_rounds_once_it_does_not_fit_into_the_accumulator() {
    // Each term is a multiple of the unit; up to 2^24 units f32 adds them without a rounding.
    let sum = |values: &[f32]| {
        let operands = vec![dense("a", &[1], vec![1f32]), dense("b", &[values.len()], values.to_vec())];
        radius(&first(&gradient_of(of_operands(Function::Multiply), 0, operands)), DType::F32)
    };
    let large = 2f32.powi(24);
    assert_eq!(sum(&[large - 1.0, 1.0]), Some(0.0));
    assert_eq!(sum(&[large, -1.0]), Some(2.0 * 2f64.powi(-23) * (2f64.powi(24) + 1.0)));
    assert_eq!(sum(&[0.0, 0.0]), Some(0.0));
}

#[test]
fn halves_admit_both_conventions_for_a_term_and_round_the_sum_once() {
    let halves = |values: &[f32]| values.iter().map(|&value| f16::from_f32(value)).collect::<Vec<f16>>();
    let product = || call(Function::Multiply, [call(Function::Multiply, [op(0), op(1)]), op(2)]);
    let of = |b: &[f32], c: &[f32]| {
        let operands = vec![
            dense("a", &[1], halves(&[1.0])),
            dense("b", &[b.len()], halves(b)),
            dense("c", &[c.len()], halves(c)),
        ];
        first(&gradient_of(product(), 0, operands))
    };
    let limits = Limits::of(DType::F16);
    // 2049 is a tie between 2048 and 2050: two terms, no rounding before the last.
    let tie = of(&[2048.0, 1.0], &[1.0]).sum(limits).unwrap();
    assert_eq!((tie.hull, tie.rounding), (Interval::point(2049.0), 0.0));
    assert_eq!(tie.rounded(0.0, limits), Interval::point(2048.0));
    assert_eq!(tie.rounded(0.5, limits), Interval { low: 2048.0, high: 2050.0 });
    // (2^5 + 1)^2 = 1089 fits into f16; (2^6 + 1)^2 = 4225 rounds to 4224. Two functions: 4 * 2^-10 * 4225.
    assert_eq!(reach(&of(&[33.0], &[33.0]), limits), Some(Interval::point(1089.0)));
    let hull = of(&[65.0], &[65.0]).sum(limits).unwrap().hull;
    let room = 4.0 * 2f64.powi(-10) * 4225.0 + 2f64.powi(-24);
    assert_eq!(hull, Interval { low: 4224.0, high: 4225.0 }.widened(room));
}

#[test]
fn a_term_may_overflow_in_a_half() {
    // a * 2^-6 * 512 * 512 by a: 4096, by way of 2^18.
    let halves = |value: f32| vec![f16::from_f32(value)];
    let times = |left, right| call(Function::Multiply, [left, right]);
    let product = times(times(times(op(0), op(1)), op(2)), op(3));
    let operands = [("a", 1.0), ("b", 0.015_625), ("c", 512.0), ("d", 512.0)];
    let operands = operands.map(|(name, value)| dense(name, &[1], halves(value))).to_vec();
    let limits = Limits::of(DType::F16);
    let sum = first(&gradient_of(product, 0, operands)).sum(limits).unwrap();
    let admits = |value: f64| sum.admits(value, 0.0, limits);
    assert!(admits(4096.0) && admits(INF), "{sum:?}");
    assert!(!admits(8192.0) && !admits(-INF) && !admits(f64::NAN) && !admits(0.0), "{sum:?}");
}

#[test]
fn the_exponent_of_a_power_widens_the_interval() {
    let power = |base: Expression, exponent: usize| call(Function::Power, [base, op(exponent)]);
    // In units of eps * |t|: 1 for the sum, 8 for the function, |y - 1| |log |x|| for the exponent.
    let amplified = |expression: Expression, arguments: &[f32], functions: f64| {
        let found = single(expression, arguments);
        let radius = radius(&found, DType::F32).unwrap() - 2f64.powi(-149);
        radius / 2f64.powi(-23) / found.magnitude - 8.0 * functions - 1.0
    };
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-6, "{found} is {expected}");
    close(amplified(power(op(0), 1), &[4.0, 3.0], 1.0), 2.0 * 4f64.ln());
    close(amplified(power(op(0), 1), &[-4.0, 3.0], 1.0), 2.0 * 4f64.ln());
    close(amplified(power(op(0), 1), &[0.25, 0.5], 1.0), 0.5 * 4f64.ln());
    close(amplified(power(op(0), 1), &[4.0, 1.0], 1.0), 0.0);
    // By the exponent there is none.
    close(amplified(power(op(1), 0), &[3.0, 4.0], 1.0), 0.0);
    // Two powers on a path, (a^2)^3 by a: 2 log 16 of the outer, log 4 of the inner.
    close(amplified(power(power(op(0), 1), 2), &[4.0, 2.0, 3.0], 2.0), 5.0 * 4f64.ln());
    // At 0 the logarithm is not finite, and the term is 0.
    let zero = one(power(op(0), 1), 0, &[0.0, 2.0]);
    assert!(radius(&zero, DType::F64).unwrap() < 1e-300);
}

#[test]
fn the_factors_of_a_derivative_underflow_one_by_one() {
    // a^b by b at a = 2^-140 and b = 1: 2^-140 is below the normal numbers of f32, log a is 140 log 2. The
    // room for rounding is smaller, (1 + 8) 2^-23 of 2^-140 * 97.
    let power = call(Function::Power, [op(1), op(0)]);
    let found = single(power, &[1.0, 2f32.powi(-140)]);
    let rounding = (9.0 * 2f64.powi(-23)) * found.magnitude + 2f64.powi(-149);
    let underflow = 2f64.powi(-149) * 140.0 * 2f64.ln();
    let found = radius(&found, DType::F32).unwrap();
    assert!((found - rounding - underflow).abs() < 1e-9 * underflow, "{found}");
    // Two contributions, each of 2^-200 times 2^100 on the way: the room of both.
    let [large, small] = [2f32.powi(100), 2f32.powi(-100)];
    let times = |left, right| call(Function::Multiply, [left, right]);
    let operands = vec![
        dense("a", &[1], vec![1f32]),
        dense("b", &[2], vec![small, small]),
        dense("c", &[1], vec![small]),
        dense("d", &[1], vec![large]),
    ];
    let product = times(times(times(op(0), op(1)), op(2)), op(3));
    let found = first(&gradient_of(product, 0, operands));
    near(radius(&found, DType::F32).unwrap(), 2.0 * 2f64.powi(-149) * 2f64.powi(100));
}

#[test]
fn sums_that_f32_cannot_hold_are_not_judged() {
    // The gradient of a * b by a, over several b: their sum.
    let sum = |values: &[f32]| {
        let operands = vec![dense("a", &[1], vec![1f32]), dense("b", &[values.len()], values.to_vec())];
        let request = gradient_of(of_operands(Function::Multiply), 0, operands);
        first(&request)
    };
    let largest = f32::MAX;
    assert!(!sum(&[largest]).overflow && !sum(&[largest / 2.0, largest / 2.0]).overflow);
    // 2 MAX - MAX: infinite in one order, MAX in another.
    assert!(sum(&[largest, largest, -largest]).overflow);
    // Infinite whatever the order.
    assert!(!sum(&[largest, largest]).overflow && !sum(&[largest, largest, -1.0]).overflow);
    assert!(!sum(&[f32::INFINITY, -largest]).overflow);
    // Both ways: either infinity, or NaN.
    assert!(sum(&[largest, largest, largest, -largest, -largest]).overflow);
    assert!(sum(&[f32::INFINITY, -largest, -largest]).overflow);
    // NaN for every implementation.
    assert!(
        !sum(&[f32::INFINITY, f32::NEG_INFINITY]).overflow && !sum(&[f32::NAN, largest, largest]).overflow
    );
}
