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
use std::cell::OnceCell;

/// The largest result, in elements, that is tracked.
const MOST_ELEMENTS: usize = 1 << 18;

/// How far apart the ULPs of inner functions may move two correct values of each element.
pub(super) struct Nested<'a> {
    reading: Reading<'a>,
    expression: &'a Expression,
    wrt: usize,
    precision: Precision,
    /// Computed on demand, because the plain bound is sufficient for most answers.
    widths: OnceCell<Vec<Width>>,
}

/// What is known of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Width {
    /// Correct values differ by at most this much.
    Known(f64),
    /// Correct values may be anything: a pole, a branch or the limit of the range is within reach.
    Unknown,
}

impl<'a> Nested<'a> {
    /// `None` if no inexact function is an argument of another one, or the result is too large to track.
    pub(super) fn of(
        reading: Reading<'a>,
        expression: &'a Expression,
        wrt: usize,
        precision: Precision,
    ) -> Option<Nested<'a>> {
        let followed = reading.alignment.shape.count().is_some_and(|count| count <= MOST_ELEMENTS);
        (followed && feeds_another(expression)).then(|| Nested {
            reading,
            expression,
            wrt,
            precision,
            widths: OnceCell::new(),
        })
    }

    /// The width of the element at `place` of the gradient.
    pub(super) fn width(&self, place: usize) -> Width {
        self.widths.get_or_init(|| self.widths()).get(place).copied().unwrap_or(Width::Unknown)
    }

    fn widths(&self) -> Vec<Width> {
        let operand = &self.reading.request.operands()[self.wrt];
        let mut widths = vec![Width::Known(0.0); operand.shape().count().unwrap_or(0)];
        for index in self.reading.indices() {
            let element = place_of(&self.reading.operand_index(self.wrt, &index), operand.shape());
            if let Some(width) = widths.get_mut(element) {
                *width = width.plus(self.width_at(&index));
            }
        }
        widths
    }

    /// The width of the contribution at an index of the result.
    fn width_at(&self, index: &[usize]) -> Width {
        let values = self.reading.values_at(index);
        let at = values[self.wrt].as_f64().map(Interval::point);
        let root = at.and_then(|at| enclose(self.expression, self.wrt, at, &values, self.precision));
        root.map_or(Width::Unknown, |root| Width::Known(root.derivative.width()))
    }
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
