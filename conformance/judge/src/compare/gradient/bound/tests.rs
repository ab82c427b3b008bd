//! Checks the parts of the bound by hand arithmetic.

use super::*;
use broadcheck_spec::half::f16;
use broadcheck_spec::{DType, Data, Operand, Rules};

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

#[test]
fn there_is_a_bound_per_element_of_an_accepted_request() {
    // The gradient of a * b by a, of shape (2,1): each element has two terms, 1 + 2 and 3 + 4, and there is
    // one function.
    let halves = |values: &[f32]| values.iter().map(|&value| f16::from_f32(value)).collect::<Vec<f16>>();
    let operands =
        vec![dense("a", &[2, 1], halves(&[1.0, 1.0])), dense("b", &[2, 2], halves(&[1.0, 2.0, 3.0, 4.0]))];
    let bounds = gradient_bounds(&gradient_of(of_operands(Function::Multiply), 0, operands)).unwrap();
    let bound = |magnitude: f64| Some((2.0 + 8.0) * magnitude * 2f64.powi(-10) + 2f64.powi(-24));
    assert_eq!(bounds, [bound(3.0), bound(7.0)]);
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
fn what_f32_cannot_hold_on_the_way_widens_the_bound() {
    let times = |left, right| call(Function::Multiply, [left, right]);
    let [large, small] = [2f32.powi(100), 2f32.powi(-100)];
    // a * 2^100 * 2^-100, and the like: f is 2 or 3, and the bound (1 + 8f) 2^-23 |t| + 2^-149.
    let two = |b, c| single(times(times(op(0), op(1)), op(2)), &[1.0, b, c]);
    let three = |b, c, d| single(times(times(times(op(0), op(1)), op(2)), op(3)), &[1.0, b, c, d]);
    let plain =
        |functions: f64, value: f64| Some((1.0 + 8.0 * functions) * 2f64.powi(-23) * value + 2f64.powi(-149));
    assert_eq!(two(large, small).bound(Limits::of(DType::F32), 2), plain(2.0, 1.0));
    // Underflow: 2^-200 on the way; 2^-149 times what is above 1.
    let under = three(small, small, large);
    assert_eq!(under.value, 2f64.powi(-100));
    let room = 2f64.powi(-149) * 2f64.powi(100);
    assert_eq!(under.bound(Limits::of(DType::F32), 3), plain(3.0, 2f64.powi(-100)).map(|bound| bound + room));
    // Overflow: 2^200 on the way to 2^100, in one order and in the other.
    assert_eq!(three(large, large, small).bound(Limits::of(DType::F32), 3), None);
    assert_eq!(three(small, large, large).bound(Limits::of(DType::F32), 3), None);
    // A value beyond the range of f32 is infinite for every implementation.
    let beyond = two(large, large);
    assert_eq!((beyond.value, beyond.overflow), (2f64.powi(200), false));
    // A factor of 0 is lost to no underflow, but meets an overflow.
    let half = single(times(times(op(0), op(1)), op(2)), &[1.0, small, 0.0]);
    assert_eq!((half.underflow, half.overflow), (0.0, false));
    assert!(three(large, large, 0.0).overflow && !three(0.0, f32::INFINITY, large).overflow);
    // f64 has room for all of it.
    let operands = [1.0, 2f64.powi(100), 2f64.powi(100), 2f64.powi(-100)];
    let wide = one(times(times(times(op(0), op(1)), op(2)), op(3)), 0, &operands);
    assert_eq!((wide.underflow, wide.overflow), (0.0, false));
}

/// Whether two numbers are the same but for a few roundings.
#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-14 * expected, "{found} is {expected}");
}

#[test]
fn the_bound_adds_up_rounding_underflow_and_the_smallest_number() {
    // Powers of two, of which each part is seen: f16 has a spacing of 2^-10 at 1 and the smallest subnormal
    // 2^-24.
    let element = Element {
        value: 1.0,
        terms: 8,
        magnitude: 2f64.powi(-12),
        amplified: 2f64.powi(-9),
        underflow: 2f64.powi(-26),
        overflow: false,
        sums: Sums::default(),
    };
    let rounding = (24.0 * 2f64.powi(-12) + 2f64.powi(-9)) * 2f64.powi(-10);
    assert_eq!(element.bound(Limits::of(DType::F16), 2), Some(rounding + 2f64.powi(-26) + 2f64.powi(-24)));
    let nothing = Element { magnitude: 0.0, amplified: 0.0, underflow: 0.0, ..element };
    assert_eq!(
        nothing.bound(Limits::of(DType::F16), 2),
        Some(2f64.powi(-24)),
        "a result may be rounded to a subnormal"
    );
    assert_eq!(Element { overflow: true, ..element }.bound(Limits::of(DType::F16), 2), None);
}

#[test]
fn the_exponent_of_a_power_widens_the_bound() {
    let power = |base: Expression, exponent: usize| call(Function::Power, [base, op(exponent)]);
    // |y - 1| |log |x|| |t|, by hand: of 4^3 and its negative, 2 log 4 times 48; of 1/4 to 1/2, log 4 / 2 times 1.
    near(one(power(op(0), 1), 0, &[4.0, 3.0]).amplified, 96.0 * 4f64.ln());
    near(one(power(op(0), 1), 0, &[-4.0, 3.0]).amplified, 96.0 * 4f64.ln());
    near(one(power(op(0), 1), 0, &[0.25, 0.5]).amplified, 0.5 * 4f64.ln());
    assert_eq!(one(power(op(0), 1), 0, &[4.0, 1.0]).amplified, 0.0);
    assert_eq!(one(power(op(0), 1), 0, &[0.0, 2.0]).amplified, 0.0, "log 0 is not there");
    assert_eq!(one(power(op(0), 1), 1, &[4.0, 3.0]).amplified, 0.0, "by the exponent there is none");
    // Two powers on a path, (a^2)^3 by a is 6 a^5: 2 log 16 of the outer, log 4 of the inner.
    let twice = one(power(power(op(0), 1), 2), 0, &[4.0, 2.0, 3.0]);
    near(twice.amplified, 6144.0 * 5.0 * 4f64.ln());
    near(twice.bound(Limits::of(DType::F64), 2).unwrap(), (17.0 * 6144.0 + twice.amplified) * f64::EPSILON);
    // Two indices that read the element.
    let operands = vec![dense("a", &[1], vec![4.0]), dense("b", &[2], vec![3.0, 2.0])];
    let request = gradient_of(of_operands(Function::Power), 0, operands);
    near(first(&request).amplified, (96.0 + 8.0) * 4f64.ln());
}

#[test]
fn the_factors_of_a_derivative_underflow_one_by_one() {
    // a^b by b at a = 2^-140 and b = 1: 2^-140 is below the normal numbers of f32, log a is 140 log 2.
    let power = call(Function::Power, [op(1), op(0)]);
    near(single(power, &[1.0, 2f32.powi(-140)]).underflow, 2f64.powi(-149) * 140.0 * 2f64.ln());
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
    assert_eq!(found.underflow, 2.0 * 2f64.powi(-149) * 2f64.powi(100));
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
