//! The partial derivatives of each function by each argument (clause GRAD-3), in f64 whatever the dtype.

use crate::functions::{log, power};
use broadcheck_spec::{Function, Scalar};

/// A partial derivative at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Partial {
    pub(crate) value: f64,
    /// In how many parts clause V-6 counts it: a difference has two.
    pub(crate) parts: u64,
    /// The sum of the absolute values of the parts.
    pub(crate) magnitude: f64,
}

impl Partial {
    fn of(value: f64) -> Option<Partial> {
        Some(Partial { value, parts: 1, magnitude: value.abs() })
    }

    fn difference(left: f64, right: f64) -> Option<Partial> {
        Some(Partial { value: left - right, parts: 2, magnitude: left.abs() + right.abs() })
    }
}

/// The partial derivatives by each argument in turn, where the arguments have these values and the forward
/// result is `result`; `None` for an argument that contributes nothing: a condition, the branch that select
/// does not take, the losing side of maximum and minimum.
pub(crate) fn partials(function: Function, arguments: &[Scalar], result: Scalar) -> Vec<Option<Partial>> {
    if let (Function::Select, [condition, ..]) = (function, arguments) {
        let one = Partial::of(1.0);
        return if *condition == Scalar::Bool(true) { vec![None, one, None] } else { vec![None, None, one] };
    }
    let float = |scalar: Scalar| scalar.as_f64().expect("on a path that holds w all values are floats");
    let r = float(result);
    match *arguments {
        [x] => vec![unary(function, float(x), r)],
        [a, b] => binary(function, float(a), float(b), r).to_vec(),
        _ => panic!("{function} of {} arguments", arguments.len()),
    }
}

fn unary(function: Function, x: f64, r: f64) -> Option<Partial> {
    match function {
        Function::Negate => Partial::of(-1.0),
        Function::Exp => Partial::of(r),
        Function::Log => Partial::of(1.0 / x),
        Function::Sqrt => Partial::of(1.0 / (2.0 * r)),
        Function::Tanh => Partial::difference(1.0, r * r),
        // The sign: 0 at ±0, NaN at NaN.
        Function::Abs => Partial::of(if x == 0.0 || x.is_nan() { x.abs() } else { x.signum() }),
        other => panic!("{other} has no derivative by one argument"),
    }
}

fn binary(function: Function, a: f64, b: f64, r: f64) -> [Option<Partial>; 2] {
    match function {
        Function::Add => [Partial::of(1.0), Partial::of(1.0)],
        Function::Subtract => [Partial::of(1.0), Partial::of(-1.0)],
        Function::Multiply => [Partial::of(b), Partial::of(a)],
        Function::Divide => [Partial::of(1.0 / b), Partial::of(-r / b)],
        Function::Power => {
            let by_base = if b == 0.0 { 0.0 } else { b * power(a, b - 1.0) };
            let by_exponent = if a == 0.0 && b >= 0.0 { 0.0 } else { r * log(a) };
            [Partial::of(by_base), Partial::of(by_exponent)]
        }
        // NaN for both where an operand is NaN, half each where they compare equal, else 1 for the winner.
        Function::Maximum | Function::Minimum if a.is_nan() || b.is_nan() => {
            [Partial::of(f64::NAN), Partial::of(f64::NAN)]
        }
        Function::Maximum | Function::Minimum if a == b => [Partial::of(0.5), Partial::of(0.5)],
        Function::Maximum if a > b => [Partial::of(1.0), None],
        Function::Minimum if a < b => [Partial::of(1.0), None],
        Function::Maximum | Function::Minimum => [None, Partial::of(1.0)],
        other => panic!("{other} has no derivative by two arguments"),
    }
}
