//! Which calls are a value against bounds: a clip, such as `min(max(x, 0), 255)`, a range check, such as
//! `(low <= x) & (x < high)`, or a choice, such as `select(x < low, 0, x)`. The bounds, and the other value
//! of a choice, are one value in each tile.
#![deny(clippy::wildcard_enum_match_arm)]

use super::chain::Facts;
use super::graph::{Graph, order};
use crate::arch::{Bounds, Order};
use broadcheck_spec::{DType, Function};

/// A value against two bounds.
pub(super) struct Bounded {
    /// The value that it computes.
    pub(super) end: u32,
    pub(super) bounds: Bounds,
    /// The value and the bounds.
    pub(super) arguments: [u32; 3],
}

impl Bounded {
    /// The number of calls.
    pub(super) fn calls(&self) -> usize {
        match self.bounds {
            Bounds::Clip { .. } | Bounds::Keep { .. } => 2,
            Bounds::Check { .. } => 3,
        }
    }
}

/// The value and the bounds that a call is of, if it is such a call.
pub(super) fn bounded(graph: &Graph, facts: &[Facts], readers: &[u32], end: u32) -> Option<Bounded> {
    let is_one = |at: u32| facts[at as usize].scalar;
    let is_inside = |at: u32| {
        let (fact, whole) = (facts[at as usize], facts[end as usize]);
        readers[at as usize] == 1 && !fact.scalar && fact.stationary == whole.stationary
    };
    let (last, [a, b, c]) = graph.call(end)?;
    let (bounds, arguments) = match part(last) {
        Part::Clips { minimum } if graph.dtype(end).is_integer() => {
            let (inner, second) = if is_inside(a) { (a, b) } else { (b, a) };
            let (function, [p, q, _]) = graph.call(inner).filter(|_| is_inside(inner) && is_one(second))?;
            let (x, first) = if is_one(p) { (q, p) } else { (p, q) };
            if !is_one(first) || part(function) != (Part::Clips { minimum: !minimum }) {
                return None;
            }
            (Bounds::Clip { minimum_first: !minimum }, [x, first, second])
        }
        Part::Joins { either } if is_inside(a) && is_inside(b) => {
            let (one, other) = (side(graph, is_one, a)?, side(graph, is_one, b)?);
            let (above, below) = if one.above { (one, other) } else { (other, one) };
            if above.x != below.x || !above.above || below.above {
                return None;
            }
            let or_equal = [above.or_equal, below.or_equal];
            (Bounds::Check { either, or_equal }, [above.x, above.bound, below.bound])
        }
        Part::Chooses if graph.are_integers(end) && is_inside(a) => {
            let Side { x, bound, above, or_equal } = side(graph, is_one, a)?;
            match (b == x && is_one(c), c == x && is_one(b)) {
                (true, _) => (Bounds::Keep { above, or_equal }, [x, bound, c]),
                // The value is kept where the comparison does not hold: integers are ordered.
                (_, true) => (Bounds::Keep { above: !above, or_equal: !or_equal }, [x, bound, b]),
                (false, false) => return None,
            }
        }
        Part::Clips { .. } | Part::Joins { .. } | Part::Chooses | Part::Other => return None,
    };
    Some(Bounded { end, bounds, arguments })
}

/// The dtype of the value, if a call may be of a value against two bounds.
pub(crate) fn compared(graph: &Graph, end: u32) -> Option<DType> {
    let (last, [a, _, _]) = graph.call(end)?;
    match part(last) {
        Part::Clips { .. } | Part::Chooses => Some(graph.dtype(end)).filter(|dtype| dtype.is_integer()),
        Part::Joins { .. } => {
            let (function, [x, _, _]) = graph.call(a)?;
            order(function).map(|_| graph.dtype(x))
        }
        Part::Other => None,
    }
}

/// A comparison of a value with one value.
struct Side {
    x: u32,
    bound: u32,
    /// Whether x is above the bound.
    above: bool,
    or_equal: bool,
}

fn side(graph: &Graph, is_one: impl Fn(u32) -> bool, at: u32) -> Option<Side> {
    let (function, [a, b, _]) = graph.call(at)?;
    let order = order(function)?;
    let (x, bound, order) = match (is_one(a), is_one(b)) {
        (false, true) => (a, b, order),
        (true, false) => (b, a, order.mirrored()),
        (true, true) | (false, false) => return None,
    };
    let above = matches!(order, Order::Greater | Order::GreaterEqual);
    let or_equal = matches!(order, Order::LessEqual | Order::GreaterEqual);
    Some(Side { x, bound, above, or_equal })
}

/// What a function is here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// It is the smaller or the larger one.
    Clips {
        minimum: bool,
    },
    /// It joins comparisons, and one of them may be enough.
    Joins {
        either: bool,
    },
    /// It is a choice by its first argument.
    Chooses,
    Other,
}

fn part(function: Function) -> Part {
    use Function as F;
    match function {
        F::Maximum => Part::Clips { minimum: false },
        F::Minimum => Part::Clips { minimum: true },
        F::LogicalAnd => Part::Joins { either: false },
        F::LogicalOr => Part::Joins { either: true },
        F::Add
        | F::Subtract
        | F::Multiply
        | F::Divide
        | F::Power
        | F::Negate
        | F::Abs
        | F::Sqrt
        | F::Exp
        | F::Log
        | F::Tanh
        | F::Equal
        | F::NotEqual
        | F::Less
        | F::LessEqual
        | F::Greater
        | F::GreaterEqual
        | F::LogicalNot => Part::Other,
        F::Select => Part::Chooses,
    }
}
