//! One term of a gradient's element: the product of the derivatives on a path from the root to w, and where
//! another correct implementation's product may be (clause V-6, step 1).

#![warn(clippy::wildcard_enum_match_arm)]

use super::interval::Interval;
use super::limits::{Factors, Limits};
use broadcheck_reference::{Derivative, Link, apply};
use broadcheck_spec::{DType, Exactness, Expression, Function, Scalar};

/// How much room the functions of an expression give to each term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The room of a term that is not exact, in units of eps·|t|.
    units: f64,
    /// Whether every function is exact (V-1). If not, no term is.
    exact: bool,
}

impl Room {
    /// 8 for each function; for f16 and bf16, whose eps is large, 2 for each exact function: the four
    /// roundings, of half an ULP each, of a formula other than that of GRAD-3, as -a/(b*b) is.
    /// The product with a cotangent is one more function.
    pub(super) fn of(expression: &Expression, weighted: bool, limits: Limits) -> Room {
        let units = |function: Function| match function.exactness() {
            Exactness::Exact if limits.is_half() => 2.0,
            Exactness::Exact | Exactness::Ulp => 8.0,
        };
        let weight = weighted.then_some(Function::Multiply);
        let units = expression.calls().map(broadcheck_spec::Call::function).chain(weight).map(units).sum();
        Room { units, exact: expression.is_exact() }
    }
}

/// The product of the derivatives on a path, and what bounds its error.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    /// The product in f64.
    pub(super) value: f64,
    /// For f16 and bf16, the product with every result on the path rounded to the dtype.
    rounded: f64,
    /// Whether no result on the path rounds, whatever formula computes it.
    exact: bool,
    /// The number of terms when the product is written out.
    pub(super) parts: u64,
    /// The sum of their absolute values.
    pub(super) magnitude: f64,
    /// The error due to the rounding of y - 1 in x^(y-1), in units of eps·|t|: |y - 1| |log |x|| for each
    /// `power` whose base is on the path.
    amplified: f64,
    pub(super) factors: Factors,
}

impl Term {
    /// The derivative of the root with respect to itself.
    pub(super) const ONE: Term = Term {
        value: 1.0,
        rounded: 1.0,
        exact: true,
        parts: 1,
        magnitude: 1.0,
        amplified: 0.0,
        factors: Factors::NONE,
    };

    /// The derivative of the root times an element of a cotangent with respect to the root (clause GRAD-4).
    pub(super) fn weighted(root: Scalar, weight: Scalar, limits: Limits) -> Term {
        let link = Link {
            function: Function::Multiply,
            arguments: &[root, weight],
            by: 0,
            derivative: Derivative::Number(weight.as_f64().unwrap_or(f64::NAN)),
        };
        Term::ONE.through(&link, limits)
    }

    /// The chain rule, one link further down the path.
    pub(super) fn through(self, link: &Link<'_>, limits: Limits) -> Term {
        let value = link.derivative.value();
        let (parts, magnitude, factors) = match link.derivative {
            Derivative::Number(_) => (1, value.abs(), Factors::of(value)),
            Derivative::Product(left, right) => (1, value.abs(), Factors::of(left).times(Factors::of(right))),
            Derivative::Difference(left, right) => (2, left.abs() + right.abs(), Factors::of(value)),
        };
        let exact_factor = is_exact(link) && limits.represents(value);
        Term {
            value: self.value * value,
            rounded: self.rounded_through(link.derivative, limits),
            exact: (self.exact && exact_factor && is_exact_product(self.value, value, limits))
                || self.is_zero_through(value, exact_factor),
            parts: self.parts.saturating_mul(parts),
            magnitude: self.magnitude * magnitude,
            amplified: self.amplified + amplified(link),
            factors: self.factors.times(factors),
        }
    }

    fn rounded_through(self, derivative: Derivative, limits: Limits) -> f64 {
        if !limits.is_half() {
            return self.value * derivative.value();
        }
        let round = |value| limits.round(value);
        let factor = match derivative {
            Derivative::Number(value) => value,
            Derivative::Product(left, right) => round(left) * round(right),
            Derivative::Difference(left, right) => round(left) - round(right),
        };
        round(self.rounded * round(factor))
    }

    /// Whether the product is 0 because a factor is exactly 0: then it does not matter how the other rounds.
    fn is_zero_through(self, value: f64, exact_factor: bool) -> bool {
        let so_far = self.exact && self.value == 0.0 && value.is_finite();
        let now = exact_factor && value == 0.0 && self.rounded.is_finite();
        so_far || now
    }

    pub(super) fn is_exact(self, room: Room, limits: Limits) -> bool {
        room.exact && self.exact && self.factors.underflow(limits) == 0.0
    }

    /// Where the terms of correct implementations are, apart from an [`overflow`](Term::overflow).
    pub(super) fn interval(self, room: Room, limits: Limits) -> Interval {
        if self.is_exact(room, limits) {
            return Interval::point(self.value);
        }
        let rounding = (room.units + self.amplified) * limits.epsilon * self.magnitude;
        let room = rounding + self.factors.underflow(limits) + limits.smallest;
        let rounded = if self.rounded.is_finite() { self.rounded } else { self.value };
        Interval { low: self.value.min(rounded), high: self.value.max(rounded) }.widened(room)
    }

    /// What a term becomes if it is within range but overflows because every result is rounded to the dtype:
    /// an infinity or NaN.
    pub(super) fn overflow(self) -> Option<f64> {
        (self.value.is_finite() && !self.rounded.is_finite()).then_some(self.rounded)
    }
}

/// Whether the derivative is a number that every formula gives: an argument, 1, -1 or one half, or a quotient
/// whose divisor is a power of two.
fn is_exact(link: &Link<'_>) -> bool {
    let is_power_of_two = |place: usize| {
        link.arguments.get(place).and_then(|argument| argument.as_f64()).is_some_and(power_of_two)
    };
    match link.function {
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Maximum
        | Function::Minimum
        | Function::Negate
        | Function::Abs
        | Function::Select => true,
        Function::Divide => is_power_of_two(1),
        // sqrt(2^k) is a power of two for even k.
        Function::Sqrt => is_power_of_two(0) && power_of_two(link.derivative.value()),
        Function::Power | Function::Exp | Function::Log | Function::Tanh => false,
        Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::LogicalNot => false,
    }
}

fn power_of_two(value: f64) -> bool {
    value != 0.0 && value.is_finite() && last_place(value) == value.abs()
}

/// The largest power of two of which a number is a multiple; infinity for 0.
pub(super) fn last_place(value: f64) -> f64 {
    if value == 0.0 {
        return f64::INFINITY;
    }
    // The number without its last bit that is set, and the same number: their difference is that bit.
    let rest = f64::from_bits(value.to_bits() & (value.to_bits() - 1));
    let mantissa = value.to_bits() & ((1 << 52) - 1);
    if mantissa == 0 { value.abs() } else { (value - rest).abs() }
}

/// Whether a product of two numbers of the dtype is one too.
fn is_exact_product(left: f64, right: f64, limits: Limits) -> bool {
    let product = left * right;
    // The product of two f32 is exact in f64, and 1 is a factor of every first link.
    let exact = limits.dtype != DType::F64 || left == 1.0 || left.mul_add(right, -product) == 0.0;
    exact && limits.represents(product)
}

/// For x^y by x: |y - 1| |log |x||, by which the rounding of y - 1 is amplified; 0 if that is not finite.
fn amplified(link: &Link<'_>) -> f64 {
    let (Function::Power, 0, [base, exponent]) = (link.function, link.by, link.arguments) else { return 0.0 };
    let (Some(base), Some(exponent)) = (base.as_f64(), exponent.as_f64()) else { return 0.0 };
    let Some(logarithm) = apply(Function::Log, &[Scalar::F64(base.abs())]).as_f64() else { return 0.0 };
    let amplified = (exponent - 1.0).abs() * logarithm.abs();
    if exponent != 0.0 && amplified.is_finite() { amplified } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_place_of_a_number() {
        for (value, place) in [
            (1.0, 1.0),
            (-6.0, 2.0),
            (0.75, 0.25),
            (257.0, 1.0),
            (1.0 + f64::EPSILON, f64::EPSILON),
            (f64::from_bits(6), f64::from_bits(2)),
            (f64::MIN_POSITIVE, f64::MIN_POSITIVE),
            (0.0, f64::INFINITY),
        ] {
            assert_eq!(last_place(value), place, "{value}");
        }
        assert!(power_of_two(-0.125) && !power_of_two(0.0) && !power_of_two(3.0) && !power_of_two(f64::NAN));
        assert!(!power_of_two(f64::INFINITY));
    }
}
