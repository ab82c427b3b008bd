//! Gradients of expressions in which the result of `exp log tanh power` is an argument of another function.
//!
//! Each of them may be a few ULPs off (V-4), which the next function may amplify: the relative error of
//! power(a, exp(a)) is that of its exponent times the exponent. A bound that counts functions ignores this.
//! The enclosure of the derivative, which tracks the ULPs of every function, contains all correct values.

use super::super::elements::Reading;
use super::super::place_of;
use super::enclosure::{Precision, enclose};
use super::interval::Interval;
use broadcheck_spec::{Call, Exactness, Expression, Node};

/// The largest result, in elements, that is tracked.
const MOST_ELEMENTS: usize = 1 << 18;

/// What is known of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Width {
    /// Correct values differ by at most this much.
    Known(f64),
    /// Correct values may be anything: a pole, a branch or the limit of the range is within reach.
    Unknown,
}

/// The width of each element of the gradient. `None` if no inexact function is an argument of another one, or
/// the result is too large to track.
pub(super) fn widths(
    reading: &Reading<'_>,
    expression: &Expression,
    wrt: usize,
    precision: Precision,
) -> Option<Vec<Width>> {
    let followed = reading.alignment.shape.count().is_some_and(|count| count <= MOST_ELEMENTS);
    if !followed || !feeds_another(expression) {
        return None;
    }
    let operand = &reading.request.operands()[wrt];
    let mut widths = vec![Width::Known(0.0); operand.shape().count().unwrap_or(0)];
    for index in reading.indices() {
        let element = place_of(&reading.operand_index(wrt, &index), operand.shape());
        if let Some(width) = widths.get_mut(element) {
            *width = width.plus(width_at(reading, expression, wrt, precision, &index));
        }
    }
    Some(widths)
}

/// The width of the contribution at an index of the result.
fn width_at(
    reading: &Reading<'_>,
    expression: &Expression,
    wrt: usize,
    precision: Precision,
    index: &[usize],
) -> Width {
    let values = reading.values_at(index);
    let at = values[wrt].as_f64().map(Interval::point);
    let root = at.and_then(|at| enclose(expression, wrt, at, &values, precision));
    let weight = reading.cotangent_at(index).and_then(broadcheck_spec::Scalar::as_f64).map_or(1.0, f64::abs);
    let width = root.map(|root| root.derivative.width() * weight).filter(|width| width.is_finite());
    width.map_or(Width::Unknown, Width::Known)
}

impl Width {
    fn plus(self, other: Width) -> Width {
        match (self, other) {
            (Width::Known(one), Width::Known(other)) => Width::Known((one + other).next_up()),
            _ => Width::Unknown,
        }
    }
}

/// Whether an inexact function's result is an argument of another function.
fn feeds_another(expression: &Expression) -> bool {
    let nodes = expression.nodes();
    expression.calls().flat_map(Call::arguments).any(|&place| match &nodes[place] {
        Node::Call(inner) => inner.function().exactness() == Exactness::Ulp,
        Node::Operand(_) => false,
    })
}
