//! Judges gradients, which are sums in any order, by how far two correct answers may be apart (clause V-6).

mod bound;
mod enclosure;
mod interval;
mod limits;
mod nested;

use super::admissible::{Admissible, admissible_nodes, compared};
use super::elements::Reading;
use super::place_of;
use super::ranges::{Floats, Piece};
pub use bound::gradient_bounds;
use broadcheck_spec::{Call, Expression, Function, Scalar};
pub use enclosure::{Precision, enclose};
pub use interval::Interval;
use nested::{Nested, Width};

/// For each element of a gradient, in row-major order, how far an answer may be from the expected one.
pub(super) struct Bounds<'a> {
    elements: Vec<Bound>,
    /// Set if the result of an inexact function is an argument of another function.
    nested: Option<Nested<'a>>,
}

/// How one element is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// (n + 8f)·eps·Σ|t|, plus the largest effect of underflow and the smallest subnormal.
    Within(f64),
    /// Any answer is admissible. Either an inexact function decides which branch the derivative follows, and
    /// both are within its ULPs: the gradient then admits either branch, as clause V-4b does for the value.
    /// Or an implementation that computes in the dtype may overflow on the way.
    Open,
}

impl<'a> Bounds<'a> {
    /// `None` if there is nothing to bound: the request is refused, or the dtype is not a float.
    pub(super) fn of(
        reading: Reading<'a>,
        expression: &'a Expression,
        wrt: usize,
        ulp: u32,
    ) -> Option<Bounds<'a>> {
        let dtype = reading.request.operands()[wrt].dtype();
        if !dtype.is_float() {
            return None;
        }
        let bounds = bound::bounds(&reading, expression, wrt).into_iter();
        let mut elements: Vec<Bound> = bounds.map(|bound| bound.map_or(Bound::Open, Bound::Within)).collect();
        if !expression.is_exact() {
            for place in open_elements(&reading, expression, wrt, ulp) {
                elements[place] = Bound::Open;
            }
        }
        let nested = Nested::of(reading, expression, wrt, Precision::of(dtype, ulp));
        Some(Bounds { elements, nested })
    }

    /// `None` if the element is within its bound; otherwise why it is wrong. -0 equals +0 here, and a value
    /// that is not finite must be matched exactly.
    pub(super) fn complaint(&self, place: usize, expected: Scalar, found: Scalar) -> Option<String> {
        let bound = match self.elements.get(place) {
            Some(Bound::Within(bound)) => *bound,
            Some(Bound::Open) => return None,
            None => 0.0,
        };
        let (want, got) = (expected.as_f64()?, found.as_f64()?);
        if want == got || (want.is_nan() && got.is_nan()) {
            return None;
        }
        if !want.is_finite() || !got.is_finite() {
            return Some(format!("expected {expected}, got {found}"));
        }
        let error = (want - got).abs();
        if error <= bound {
            return None;
        }
        let bound = match self.nested.as_ref().map(|nested| nested.width(place)) {
            Some(Width::Unknown) => return None,
            Some(Width::Known(width)) => bound + width,
            None => bound,
        };
        let within = error <= bound;
        (!within).then(|| format!("expected {expected}, got {found}: off by {error:e}, allowed {bound:e}"))
    }
}

/// The positions of the elements with a contribution whose branch is open.
fn open_elements(reading: &Reading<'_>, expression: &Expression, wrt: usize, ulp: u32) -> Vec<usize> {
    let operand_shape = reading.request.operands()[wrt].shape();
    let holds = expression.holds(wrt);
    let mut open = Vec::new();
    for index in reading.indices() {
        let sets = admissible_nodes(expression, &reading.values_at(&index), ulp);
        let undefined = sets.iter().zip(&holds).any(|(set, holds)| *holds && may_be_undefined(set));
        if undefined || expression.calls().any(|call| is_branch_open(call, &holds, &sets)) {
            open.push(place_of(&reading.operand_index(wrt, &index), operand_shape));
        }
    }
    open
}

/// Whether a value on a path to w may be either NaN or a number, as (-1)^y is if y is within an ULP of an
/// integer.
fn may_be_undefined(set: &Admissible) -> bool {
    matches!(set, Admissible::Floats(set) if set.nan && !set.ranges.is_empty())
}

/// Whether the derivative of a function of w has branches here, and it is open which one is followed.
fn is_branch_open(call: &Call, holds: &[bool], sets: &[Admissible]) -> bool {
    let arguments: Vec<&Admissible> = call.arguments().iter().map(|&place| &sets[place]).collect();
    let differentiated = |places: &[usize]| places.iter().any(|&place| holds[place]);
    match (call.function(), &arguments[..]) {
        (Function::Select, [condition, ..]) => differentiated(&call.arguments()[1..]) && condition.is_open(),
        (Function::Maximum | Function::Minimum, [Admissible::Floats(a), Admissible::Floats(b)]) => {
            differentiated(call.arguments()) && is_winner_open(a, b)
        }
        (Function::Abs, [Admissible::Floats(set)]) => differentiated(call.arguments()) && is_sign_open(set),
        _ => false,
    }
}

/// Whether more than one of these is possible: one is larger, the other is, neither is. If one may be NaN, so
/// may the result, which [`may_be_undefined`] detects.
fn is_winner_open(a: &Floats, b: &Floats) -> bool {
    [Function::Less, Function::Greater].iter().any(|&order| compared(order, a, b).is_open())
}

/// Whether more than one of these is possible: negative, zero, positive, NaN.
fn is_sign_open(set: &Floats) -> bool {
    let sign = |piece: Piece| piece.ends(set.dtype)[0].as_f64().and_then(|value| value.partial_cmp(&0.0));
    let mut signs = set.pieces(&[]).into_iter().map(sign);
    let first = signs.next();
    signs.any(|sign| Some(sign) != first)
}
