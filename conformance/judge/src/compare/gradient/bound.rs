//! The bound of clause V-6: how far an answer may be from an element of a gradient, which is a sum in any
//! order.
//!
//! This follows the reference's chain rule once more and tracks, for each contribution to an element, the
//! possible effects of rounding, underflow and overflow.

use super::super::elements::Reading;
use super::super::place_of;
use super::limits::{Factors, Limits, Sums};
use broadcheck_reference::{Derivative, Link, apply, contributions};
use broadcheck_spec::{Expression, Function, Operation, Refusal, Request, Scalar};

/// For each element of a gradient, in row-major order, how far an answer may be from it (clause V-6); `None`
/// if every answer is right because an implementation that computes in the dtype may overflow.
///
/// # Errors
/// The refusal, if the rules refuse the request.
///
/// # Panics
/// If the operation is not a gradient.
pub fn gradient_bounds(request: &Request) -> Result<Vec<Option<f64>>, Refusal> {
    let Operation::Gradient { expression, wrt } = request.operation() else {
        panic!("expected a gradient, found the operation {}", request.operation().kind());
    };
    let reading = Reading { request, alignment: broadcheck_reference::align(request)? };
    Ok(bounds(&reading, expression, *wrt))
}

pub(super) fn bounds(reading: &Reading<'_>, expression: &Expression, wrt: usize) -> Vec<Option<f64>> {
    let limits = Limits::of(reading.request.operands()[wrt].dtype());
    let functions = expression.calls().count();
    elements(reading, expression, wrt, limits)
        .iter()
        .map(|element| element.bound(limits, functions))
        .collect()
}

/// What bounds the error of each element.
fn elements(reading: &Reading<'_>, expression: &Expression, wrt: usize, limits: Limits) -> Vec<Element> {
    let operand_shape = reading.request.operands()[wrt].shape();
    let mut elements = vec![Element::default(); operand_shape.count().unwrap_or(0)];
    if !expression.reads(wrt) {
        return elements;
    }
    for index in reading.indices() {
        let operands = reading.values_at(&index);
        let values = expression.values(|operand| operands[operand], apply);
        let element = &mut elements[place_of(&reading.operand_index(wrt, &index), operand_shape)];
        for term in contributions(expression, wrt, &values, Term::ONE, Term::through) {
            element.add(term, limits);
        }
    }
    for element in &mut elements {
        element.overflow |= element.sums.overflow(element.value, limits);
    }
    elements
}

/// What bounds the error of an element of a gradient.
#[derive(Clone, Copy, Debug, Default)]
struct Element {
    /// The element, in f64.
    value: f64,
    /// n: the number of terms. There is one for each index of the result that reads the element and for each
    /// occurrence of w; both parts of a difference in a formula count, and the parts multiply along a path,
    /// as they do when the product is written out.
    terms: u64,
    /// Σ|t|: the sum of the absolute values of the terms.
    magnitude: f64,
    /// The error due to the rounding of y - 1 in x^(y-1), in units of eps: the sum of |t| times |y - 1| |log
    /// x|, for each `power` whose base is on the path.
    amplified: f64,
    /// The error due to underflow: for each term whose derivatives below 1 multiply to less than the smallest
    /// normal number, the smallest subnormal times the derivatives above 1.
    underflow: f64,
    /// Whether an implementation that computes in the dtype may overflow on the way to an element within
    /// range, or overflow to both infinities. Then its answer may be anything.
    overflow: bool,
    sums: Sums,
}

impl Element {
    fn add(&mut self, term: Term, limits: Limits) {
        self.value += term.value;
        self.terms = self.terms.saturating_add(term.parts);
        self.magnitude += term.magnitude;
        self.amplified += term.magnitude * term.amplified;
        self.underflow += term.factors.underflow(limits);
        self.overflow |= term.factors.overflow(term.value, limits);
        self.sums.add(term.value);
    }

    /// The bound of clause V-6 for an expression with this many functions; `None` if every answer is right.
    fn bound(&self, limits: Limits, functions: usize) -> Option<f64> {
        let counted = (self.terms as f64 + 8.0 * functions as f64) * self.magnitude;
        let rounding = (counted + self.amplified) * limits.epsilon;
        (!self.overflow).then_some(rounding + self.underflow + limits.smallest)
    }
}

/// The product of the derivatives on a path, and what bounds its error.
#[derive(Clone, Copy, Debug)]
struct Term {
    value: f64,
    /// The number of terms when the product is written out.
    parts: u64,
    /// The sum of their absolute values.
    magnitude: f64,
    amplified: f64,
    factors: Factors,
}

impl Term {
    /// The derivative of the root with respect to itself.
    const ONE: Term = Term { value: 1.0, parts: 1, magnitude: 1.0, amplified: 0.0, factors: Factors::NONE };

    /// The chain rule, one link further down the path.
    fn through(self, link: &Link<'_>) -> Term {
        let value = link.derivative.value();
        let (parts, magnitude, factors) = match link.derivative {
            Derivative::Number(_) => (1, value.abs(), Factors::of(value)),
            Derivative::Product(left, right) => (1, value.abs(), Factors::of(left).times(Factors::of(right))),
            Derivative::Difference(left, right) => (2, left.abs() + right.abs(), Factors::of(value)),
        };
        Term {
            value: self.value * value,
            parts: self.parts.saturating_mul(parts),
            magnitude: self.magnitude * magnitude,
            amplified: self.amplified + amplified(link),
            factors: self.factors.times(factors),
        }
    }
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
mod tests;
