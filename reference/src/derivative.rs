//! The partial derivatives of each function with respect to each argument (clause GRAD-3), in f64 for every
//! dtype.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::functions::{Binary, Kind, Unary, kind, log, power};
use broadcheck_spec::{Function, Scalar};

/// A partial derivative at a point, in the form of the formula in clause GRAD-3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Derivative {
    /// One number.
    Number(f64),
    /// A product of two.
    Product(f64, f64),
    /// A difference of two.
    Difference(f64, f64),
}

use Derivative::{Difference, Number, Product};

impl Derivative {
    /// The value of the formula.
    pub fn value(self) -> f64 {
        match self {
            Number(value) => value,
            Product(left, right) => left * right,
            Difference(left, right) => left - right,
        }
    }
}

/// The partial derivatives with respect to each argument in turn, at these values of the arguments; `result`
/// is the function's value there. `None` for an argument that contributes nothing: a condition, the branch
/// that `select` does not choose, the losing side of `maximum` and `minimum`.
///
/// # Panics
/// If the function has no derivative, or an argument other than a condition is not a float.
pub fn derivatives(function: Function, arguments: &[Scalar], result: Scalar) -> Vec<Option<Derivative>> {
    let float = |scalar: Scalar| scalar.as_f64().expect("a function with a derivative takes floats");
    match (kind(function), arguments) {
        (Kind::Unary(function), &[x]) => vec![Some(unary(function, float(x), float(result)))],
        (Kind::Binary(function), &[a, b]) => binary(function, float(a), float(b), float(result)).to_vec(),
        (Kind::Select, &[condition, _, _]) => {
            let one = Some(Number(1.0));
            if condition == Scalar::Bool(true) { vec![None, one, None] } else { vec![None, None, one] }
        }
        (Kind::Unary(_) | Kind::Binary(_) | Kind::Select, _) => {
            panic!("{function} of {} arguments", arguments.len())
        }
        (Kind::Comparison(_) | Kind::Logic(_) | Kind::Not, _) => panic!("{function} has no derivative"),
    }
}

fn unary(function: Unary, x: f64, r: f64) -> Derivative {
    match function {
        Unary::Negate => Number(-1.0),
        Unary::Exp => Number(r),
        Unary::Log => Number(1.0 / x),
        Unary::Sqrt => Number(1.0 / (2.0 * r)),
        Unary::Tanh => Difference(1.0, r * r),
        // The sign: 0 at ±0, NaN at NaN.
        Unary::Abs => Number(if x == 0.0 || x.is_nan() { x.abs() } else { x.signum() }),
    }
}

fn binary(function: Binary, a: f64, b: f64, r: f64) -> [Option<Derivative>; 2] {
    match function {
        Binary::Add => [Number(1.0), Number(1.0)].map(Some),
        Binary::Subtract => [Number(1.0), Number(-1.0)].map(Some),
        Binary::Multiply => [Number(b), Number(a)].map(Some),
        Binary::Divide => [Number(1.0 / b), Number(-r / b)].map(Some),
        Binary::Power => [power_by_base(a, b), power_by_exponent(a, b, r)].map(Some),
        Binary::Maximum => extreme(a, b, a > b),
        Binary::Minimum => extreme(a, b, a < b),
    }
}

/// NaN for both if either is NaN, half each if they compare equal, otherwise 1 for the winner.
fn extreme(a: f64, b: f64, first_wins: bool) -> [Option<Derivative>; 2] {
    if a.is_nan() || b.is_nan() {
        [Some(Number(f64::NAN)); 2]
    } else if a == b {
        [Some(Number(0.5)); 2]
    } else if first_wins {
        [Some(Number(1.0)), None]
    } else {
        [None, Some(Number(1.0))]
    }
}

/// The derivative of a^b with respect to a: b a^(b-1), and 0 if b is 0.
fn power_by_base(a: f64, b: f64) -> Derivative {
    if b == 0.0 { Number(0.0) } else { Product(b, power_of_one_less(a, b)) }
}

/// The derivative of a^b with respect to b: r log a, and 0 if a is 0 and b is not negative.
fn power_by_exponent(a: f64, b: f64, r: f64) -> Derivative {
    if a == 0.0 && b >= 0.0 { Number(0.0) } else { Product(r, log(a)) }
}

/// a^(b-1), including b so large or so small that f64 rounds b - 1. From 2^53 on, b is even, so the power has
/// the sign of a. For b close to 0, b - 1 rounds to -1, although a negative a has no such power.
fn power_of_one_less(a: f64, b: f64) -> f64 {
    if b.is_finite() && b.abs() >= 2f64.powi(53) {
        power(a.abs(), b).copysign(a)
    } else if a.is_finite() && a < 0.0 && b.is_finite() && b.fract() != 0.0 {
        f64::NAN
    } else {
        power(a, b - 1.0)
    }
}
