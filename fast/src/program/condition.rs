//! Which calls are a condition of two comparisons of floats that are computed together, such as
//! `(low < x) & (x < high)`. A value of the second comparison may be a sum, a difference or a product itself.
#![deny(clippy::wildcard_enum_match_arm)]

use super::chain::{Facts, link};
use super::graph::{Graph, order};
use crate::arch::{ChainOp, Condition, Order};
use broadcheck_spec::{DType, Function};
use smallvec::SmallVec;

/// A condition whose comparisons nobody else reads.
pub(super) struct Conditional {
    /// The value that it computes.
    pub(super) end: u32,
    pub(super) condition: Condition,
    /// The values of the first comparison, then those of the second.
    pub(super) arguments: SmallVec<[u32; 5]>,
}

impl Conditional {
    /// The number of calls.
    pub(super) fn calls(&self) -> usize {
        3 + usize::from(self.condition.made.is_some())
    }
}

/// The condition that a call is, if it is one.
pub(super) fn condition(graph: &Graph, facts: &[Facts], readers: &[u32], end: u32) -> Option<Conditional> {
    let (function, [first, second, _]) = graph.call(end)?;
    let or = function == Function::LogicalOr;
    if !or && function != Function::LogicalAnd {
        return None;
    }
    let inside = |at: u32| {
        let (fact, whole) = (facts[at as usize], facts[end as usize]);
        readers[at as usize] == 1 && !fact.scalar && fact.stationary == whole.stationary
    };
    if first == second || !inside(first) || !inside(second) {
        return None;
    }
    let compared = |at: u32| {
        let (function, [x, y, _]) = graph.call(at)?;
        Some((order(function)?, x, y))
    };
    let (one, other) = (compared(first)?, compared(second)?);
    let dtype = graph.dtype(one.1);
    if !matches!(dtype, DType::F64 | DType::F32) || graph.dtype(other.1) != dtype {
        return None;
    }
    let made = |at: u32| {
        let (op, p, q) = link(graph, at).filter(|_| inside(at))?;
        let is_simple = matches!(op, ChainOp::Add | ChainOp::Subtract | ChainOp::Multiply);
        Some((op, p, q?)).filter(|_| is_simple)
    };
    // Either comparison may be the second one, and either of its values the first.
    for ((first, a, b), (second, x, y)) in [(one, other), (other, one)] {
        for (second, x, y) in [(second, x, y), (second.mirrored(), y, x)] {
            if let Some((op, p, q)) = made(x) {
                let (first, a, b) = upwards(first, a, b);
                let condition = Condition { or, first, made: Some(op), second };
                return Some(Conditional {
                    end,
                    condition,
                    arguments: [a, b, p, q, y].into_iter().collect(),
                });
            }
        }
    }
    let ((first, a, b), (second, x, y)) = (upwards(one.0, one.1, one.2), upwards(other.0, other.1, other.2));
    let condition = Condition { or, first, made: None, second };
    Some(Conditional { end, condition, arguments: [a, b, x, y].into_iter().collect() })
}

/// A comparison as "less" or "less or equal".
fn upwards(order: Order, x: u32, y: u32) -> (Order, u32, u32) {
    match order {
        Order::Less | Order::LessEqual => (order, x, y),
        Order::Greater | Order::GreaterEqual => (order.mirrored(), y, x),
    }
}
