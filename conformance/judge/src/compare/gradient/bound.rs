//! The interval of clause V-6: where the answers of correct implementations are for an element of a gradient,
//! which is a sum in any order.
//!
//! This follows the reference's chain rule once more. Each contribution to an element has an interval
//! ([`Term`]); the intervals are added, and the sum is rounded to the dtype.

use super::super::elements::Reading;
use super::super::place_of;
use super::interval::Interval;
use super::limits::{Limits, Sums};
use super::term::{Room, Term, last_place};
use broadcheck_reference::{Link, apply, contributions, round_to};
use broadcheck_spec::{Expression, Refusal, Request};

/// For each element of a gradient, in row-major order, the interval of correct answers (clause V-6); `None`
/// if every answer is right because an implementation that computes in the dtype may overflow. The ends are
/// values of the dtype. For an element that is NaN, so are both ends.
///
/// What the ULPs of inner functions cause (clause V-4b) is not included.
///
/// # Errors
/// The refusal, if the rules refuse the request.
///
/// # Panics
/// If the operation is not a gradient.
pub fn gradient_bounds(request: &Request) -> Result<Vec<Option<Interval>>, Refusal> {
    let Some((expression, wrt, _)) = request.operation().differentiated() else {
        panic!("expected a gradient, found the operation {}", request.operation().kind());
    };
    let reading = Reading { request, alignment: broadcheck_reference::align(request)? };
    let limits = Limits::of(request.operands()[wrt].dtype());
    let elements = elements(&reading, expression, wrt, limits);
    Ok(elements.iter().map(|element| Some(element.sum(limits)?.rounded(0.0, limits))).collect())
}

/// What bounds the error of each element.
pub(super) fn elements(
    reading: &Reading<'_>,
    expression: &Expression,
    wrt: usize,
    limits: Limits,
) -> Vec<Element> {
    let operand_shape = reading.request.operands()[wrt].shape();
    let mut elements = vec![Element::default(); operand_shape.count().unwrap_or(0)];
    if !expression.reads(wrt) {
        return elements;
    }
    let room = Room::of(expression, reading.request.cotangent().is_some(), limits);
    for index in reading.indices() {
        let operands = reading.values_at(&index);
        let values = expression.values(|operand| operands[operand], apply);
        let element = &mut elements[place_of(&reading.operand_index(wrt, &index), operand_shape)];
        let through = |term: Term, link: &Link<'_>| term.through(link, limits);
        let root = values[values.len() - 1];
        let start =
            reading.cotangent_at(&index).map_or(Term::ONE, |weight| Term::weighted(root, weight, limits));
        for term in contributions(expression, wrt, &values, start, through) {
            element.add(term, room, limits);
        }
    }
    for element in &mut elements {
        element.overflow |= element.sums.overflow(element.value, limits);
    }
    elements
}

/// What bounds the error of an element of a gradient.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    /// The element, in f64.
    value: f64,
    /// n: the number of terms. There is one for each index of the result that reads the element and for each
    /// occurrence of w; both parts of a difference in a formula count, and the parts multiply along a path,
    /// as they do when the product is written out.
    terms: u64,
    /// Σ|t|: the sum of the absolute values of the terms.
    magnitude: f64,
    /// The sum of the intervals of the terms.
    hull: Interval,
    /// The power of two of which every term is a multiple; 0 if a term is not exact.
    unit: f64,
    /// Whether an implementation that computes in the dtype may overflow on the way to an element within
    /// range, or overflow to both infinities. Then its answer may be anything.
    overflow: bool,
    /// The infinity that the element is if a term overflows because every result is rounded to the dtype.
    infinity: Option<f64>,
    sums: Sums,
}

impl Default for Element {
    /// A sum of no terms.
    fn default() -> Element {
        Element {
            value: 0.0,
            terms: 0,
            magnitude: 0.0,
            hull: Interval::ZERO,
            unit: f64::INFINITY,
            overflow: false,
            infinity: None,
            sums: Sums::default(),
        }
    }
}

impl Element {
    fn add(&mut self, term: Term, room: Room, limits: Limits) {
        self.value += term.value;
        self.terms = self.terms.saturating_add(term.parts);
        self.magnitude += term.magnitude;
        let Interval { low, high } = term.interval(room, limits);
        self.hull = Interval { low: self.hull.low + low, high: self.hull.high + high };
        if let Some(infinity) = term.overflow() {
            // Infinities of both signs add up to NaN.
            let same = self.infinity.is_none_or(|other| other == infinity);
            self.overflow |= infinity.is_nan() || !same;
            self.infinity = Some(infinity);
        }
        self.unit = self.unit.min(if term.is_exact(room, limits) { last_place(term.value) } else { 0.0 });
        self.overflow |= term.factors.overflow(term.value, limits);
        self.sums.add(term.value);
    }

    /// Where the sum is before it is rounded; `None` if every answer is right.
    pub(super) fn sum(&self, limits: Limits) -> Option<Sum> {
        if self.overflow {
            return None;
        }
        // Partial sums are multiples of the unit, so no order of summation rounds.
        let exact = self.unit > 0.0 && self.magnitude <= limits.sum_integers * self.unit;
        let rounding = self.terms as f64 * limits.sum_epsilon * self.magnitude;
        let (hull, rounding) = if exact || !self.value.is_finite() {
            (Interval::point(self.value), 0.0)
        } else {
            (self.hull, rounding)
        };
        Some(Sum { terms: self.terms, hull, rounding, infinity: self.infinity })
    }
}

/// A sum of terms before it is rounded to the dtype (clause V-6, step 2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sum {
    /// n.
    terms: u64,
    /// The sum of the terms' intervals.
    hull: Interval,
    /// What the additions may lose: n·u·Σ|t|, or 0 if they are exact.
    rounding: f64,
    /// The infinity that is right as well, because a term may overflow.
    infinity: Option<f64>,
}

impl Sum {
    /// Whether an answer is right. `more` widens the sum on both sides.
    pub(super) fn admits(self, value: f64, more: f64, limits: Limits) -> bool {
        let Interval { low, high } = self.rounded(more, limits);
        (low <= value && value <= high) || self.infinity == Some(value)
    }

    /// The parts of what [`admits`](Sum::admits) finds right.
    pub(super) fn admitted(self, more: f64, limits: Limits) -> impl Iterator<Item = Interval> {
        [self.rounded(more, limits)].into_iter().chain(self.infinity.map(Interval::point))
    }

    /// The interval of correct answers: both ends rounded to the dtype (clause V-6, step 3). `more` widens
    /// the sum on both sides.
    pub(super) fn rounded(self, more: f64, limits: Limits) -> Interval {
        let reach = self.rounding + more;
        let Interval { low, high } = if reach > 0.0 { self.hull.widened(reach) } else { self.hull };
        Interval { low: limits.round(low), high: limits.round(high) }
    }

    /// In words, with what [`rounded`](Sum::rounded) gives for the same `more`.
    pub(super) fn describe(self, more: f64, limits: Limits) -> String {
        let Sum { terms, hull: Interval { low, high }, rounding, infinity } = self;
        let admitted = self.rounded(more, limits);
        let [least, most] = [admitted.low, admitted.high].map(|end| round_to(limits.dtype, end));
        let sum = if low == high { format!("{low:?}") } else { format!("{low:?} to {high:?}") };
        let reach =
            if rounding + more > 0.0 { format!(" ± {:.2e}", rounding + more) } else { String::new() };
        let range = if least == most { format!("only {least}") } else { format!("{least} to {most}") };
        let or = infinity.map_or(String::new(), |infinity| format!(" or {infinity}"));
        format!("V-6 admits {range}{or} (n = {terms}, sum {sum}{reach})")
    }
}

#[cfg(test)]
mod tests;
