//! Gradients of expressions in which the result of `exp log tanh power` goes into another function.
//!
//! Each of them may be a few ULP off (V-4), and the next function may make much of that: power(a, exp(a)) is as many
//! times as far off as its exponent is large. What counts functions does not know of it. The enclosure of the
//! derivative, with the ULPs of every function followed through, does: two honest values lie in it.

use super::super::elements::Reading;
use super::super::place_of;
use super::enclosure::{Precision, enclose};
use super::interval::Interval;
use broadcheck_spec::{Call, Exactness, Expression, Node};
use std::cell::OnceCell;

/// Larger results are not followed.
const MOST_ELEMENTS: usize = 1 << 18;

/// How far apart the ULPs of inner functions may bring two honest values of each element.
pub(super) struct Nested<'a> {
    reading: Reading<'a>,
    expression: &'a Expression,
    wrt: usize,
    precision: Precision,
    /// Made when it is first asked for: most answers need no more than the plain bound.
    widths: OnceCell<Vec<Width>>,
}

/// What is known of one element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Width {
    /// Honest values lie at most so far apart.
    Known(f64),
    /// They may lie anywhere: a pole, a branch or the end of the numbers is within reach.
    Unknown,
}

impl<'a> Nested<'a> {
    /// `None` where no inexact function feeds another, or the result is too large to be followed.
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

    /// Of the element at `place` of the gradient.
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

    /// Of the contribution at an index of the result.
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
