//! The partial derivatives of each function by each argument (clause GRAD-3), in f64 whatever the dtype.

use crate::functions::{log, power};
use crate::limits::Factors;
use broadcheck_spec::{Function, Scalar};

/// A partial derivative at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Partial {
    pub(crate) value: f64,
    /// In how many parts clause V-6 counts it: a difference has two.
    pub(crate) parts: u64,
    /// The sum of the absolute values of the parts.
    pub(crate) magnitude: f64,
    /// What it is a product of.
    pub(crate) factors: Factors,
    /// By how many eps more than a function's own rounding it may be off: what the rounding of y - 1 does to x^(y-1).
    pub(crate) amplified: f64,
}

impl Partial {
    fn of(value: f64) -> Option<Partial> {
        Some(Partial { value, parts: 1, magnitude: value.abs(), factors: Factors::of(value), amplified: 0.0 })
    }

    fn product(left: f64, right: f64) -> Option<Partial> {
        let factors = Factors::of(left).times(Factors::of(right));
        Partial::of(left * right).map(|partial| Partial { factors, ..partial })
    }

    fn difference(left: f64, right: f64) -> Option<Partial> {
        let value = left - right;
        let magnitude = left.abs() + right.abs();
        Some(Partial { value, parts: 2, magnitude, factors: Factors::of(value), amplified: 0.0 })
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

/// The derivative of a^b by a where b is not 0.
fn by_base(a: f64, b: f64) -> Option<Partial> {
    let amplified = (b - 1.0).abs() * log(a.abs()).abs();
    let amplified = if amplified.is_finite() { amplified } else { 0.0 };
    Partial::product(b, power_of_one_less(a, b)).map(|partial| Partial { amplified, ..partial })
}

/// a^(b-1), also where b - 1 is not there in f64. From 2^53 on b is even, so that the power has the sign of a; near 0
/// it may round to -1, where a negative a has no power.
fn power_of_one_less(a: f64, b: f64) -> f64 {
    if b.is_finite() && b.abs() >= 2f64.powi(53) {
        power(a.abs(), b).copysign(a)
    } else if a.is_finite() && a < 0.0 && b.is_finite() && b.fract() != 0.0 {
        f64::NAN
    } else {
        power(a, b - 1.0)
    }
}

fn binary(function: Function, a: f64, b: f64, r: f64) -> [Option<Partial>; 2] {
    match function {
        Function::Add => [Partial::of(1.0), Partial::of(1.0)],
        Function::Subtract => [Partial::of(1.0), Partial::of(-1.0)],
        Function::Multiply => [Partial::of(b), Partial::of(a)],
        Function::Divide => [Partial::of(1.0 / b), Partial::of(-r / b)],
        Function::Power => {
            let by_base = if b == 0.0 { Partial::of(0.0) } else { by_base(a, b) };
            let by_exponent =
                if a == 0.0 && b >= 0.0 { Partial::of(0.0) } else { Partial::product(r, log(a)) };
            [by_base, by_exponent]
        }
        // NaN for both where an operand is NaN, half each where they compare equal, else 1 for the winner.
        Function::Maximum | Function::Minimum if a.is_nan() || b.is_nan() => {
            [Partial::of(f64::NAN), Partial::of(f64::NAN)]
        }
        Function::Maximum | Function::Minimum if a == b => [Partial::of(0.5), Partial::of(0.5)],
        // mutant: replace > with >=: the arm above takes equal arguments
        Function::Maximum if a > b => [Partial::of(1.0), None],
        // mutant: replace < with <=: the arm above takes equal arguments
        Function::Minimum if a < b => [Partial::of(1.0), None],
        Function::Maximum | Function::Minimum => [None, Partial::of(1.0)],
        other => panic!("{other} has no derivative by two arguments"),
    }
}
