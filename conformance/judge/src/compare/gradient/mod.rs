//! Judges gradients, which are sums in any order, by how far two correct answers may be apart (clause V-6).

mod bound;
mod enclosure;
mod interval;
mod limits;
mod nested;
mod term;

use super::admissible::{Admissible, admissible_nodes, compared};
use super::elements::Reading;
use super::place_of;
use super::ranges::{Floats, Piece, ValueRange};
use bound::Sum;
pub use bound::gradient_bounds;
use broadcheck_spec::{Call, Expression, Function, Scalar};
pub use enclosure::{Precision, enclose};
pub use interval::Interval;
use limits::Limits;
use nested::Width;
use std::cell::OnceCell;

/// Which answers are right for each element of a gradient. Computed on demand, because most answers are equal
/// to the expected ones.
pub(super) struct Bounds<'a> {
    reading: Reading<'a>,
    expression: &'a Expression,
    wrt: usize,
    /// The ULPs that an inexact function is allowed.
    ulp: u32,
    limits: Limits,
    /// In row-major order.
    elements: OnceCell<Vec<Bound>>,
    /// How far the ULPs of inner functions may move each element; `None` if there are none. The plain bound
    /// is sufficient for most answers.
    widths: OnceCell<Option<Vec<Width>>>,
}

/// How one element is judged.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// The answer lies where this sum may be rounded to.
    Within(Sum),
    /// Any answer is admissible. Either an inexact function decides which branch the derivative follows, and
    /// both are within its ULPs: the gradient then admits either branch, as clause V-4b does for the value.
    /// Or an implementation that computes in the dtype may overflow on the way.
    Open,
}

impl<'a> Bounds<'a> {
    /// `None` if there is nothing to bound: the dtype is not a float.
    pub(super) fn of(
        reading: Reading<'a>,
        expression: &'a Expression,
        wrt: usize,
        ulp: u32,
    ) -> Option<Bounds<'a>> {
        let dtype = reading.request.operands()[wrt].dtype();
        dtype.is_float().then(|| Bounds {
            reading,
            expression,
            wrt,
            ulp,
            limits: Limits::of(dtype),
            elements: OnceCell::new(),
            widths: OnceCell::new(),
        })
    }

    /// `None` if the element is right; otherwise why it is wrong. -0 equals +0 here. The expected value is
    /// judged too: it may come from another implementation.
    pub(super) fn complaint(&self, place: usize, expected: Scalar, found: Scalar) -> Option<String> {
        let (want, got) = (expected.as_f64()?, found.as_f64()?);
        if want == got || (want.is_nan() && got.is_nan()) {
            return None;
        }
        let elements = self.elements.get_or_init(|| self.elements());
        let sum = match elements.get(place) {
            Some(Bound::Within(sum)) => *sum,
            Some(Bound::Open) => return None,
            // The expected gradient does not have w's shape.
            None => return Some(format!("expected {expected}, got {found}")),
        };
        let holds = |value: f64, more: f64| sum.admits(value, more, self.limits);
        if holds(got, 0.0) && holds(want, 0.0) {
            return None;
        }
        let more = match self.width(place) {
            Some(Width::Unknown) if want.is_finite() && got.is_finite() => return None,
            Some(Width::Known(width)) => width,
            Some(Width::Unknown) | None => 0.0,
        };
        let admits = sum.describe(more, self.limits);
        if !holds(got, more) {
            Some(format!("expected {expected}, got {found}: {admits}"))
        } else if !holds(want, more) {
            Some(format!("expected {expected}, which is itself wrong, got {found}: {admits}"))
        } else {
            None
        }
    }

    /// The right values of an element: those for which [`complaint`](Bounds::complaint) has none.
    pub(in super::super) fn right(&self, place: usize, expected: Scalar) -> Admissible {
        let Some(want) = expected.as_f64() else { return Admissible::Anything };
        let elements = self.elements.get_or_init(|| self.elements());
        let sum = match elements.get(place) {
            Some(Bound::Within(sum)) => Some(*sum),
            Some(Bound::Open) => return Admissible::Anything,
            None => None,
        };
        let (width, unknown) = match self.width(place) {
            Some(Width::Known(width)) => (width, false),
            Some(Width::Unknown) => (0.0, true),
            None => (0.0, false),
        };
        // A sum that does not hold the expected value leaves only that value.
        let reaches = [0.0, width].into_iter();
        let sums = sum.into_iter().flat_map(|sum| {
            let holding = reaches.clone().filter(move |&more| sum.admits(want, more, self.limits));
            holding.flat_map(move |more| sum.admitted(more, self.limits))
        });
        let dtype = self.limits.dtype;
        let ranges = sums.chain([Interval::point(want)]).filter_map(|part| ValueRange::within(part, dtype));
        let finite = (sum.is_some() && unknown && want.is_finite()).then(|| ValueRange::finite(dtype));
        let ranges = ranges.chain(finite).collect();
        Admissible::Floats(Floats { dtype, ranges, nan: want.is_nan() }.merged())
    }

    fn elements(&self) -> Vec<Bound> {
        let Bounds { reading, expression, wrt, ulp, limits, .. } = self;
        let elements = bound::elements(reading, expression, *wrt, *limits).into_iter();
        let bound = |element: bound::Element| element.sum(*limits).map_or(Bound::Open, Bound::Within);
        let mut bounds: Vec<Bound> = elements.map(bound).collect();
        if !expression.is_exact() {
            for place in open_elements(reading, expression, *wrt, *ulp) {
                bounds[place] = Bound::Open;
            }
        }
        bounds
    }

    fn width(&self, place: usize) -> Option<Width> {
        let precision = Precision::of(self.limits.dtype, self.ulp);
        let widths =
            self.widths.get_or_init(|| nested::widths(&self.reading, self.expression, self.wrt, precision));
        widths.as_ref().map(|widths| widths.get(place).copied().unwrap_or(Width::Unknown))
    }
}

/// The positions of the elements with a contribution whose branch is open, or which is at a pole for some
/// admissible values and not for others.
fn open_elements(reading: &Reading<'_>, expression: &Expression, wrt: usize, ulp: u32) -> Vec<usize> {
    let operand_shape = reading.request.operands()[wrt].shape();
    let holds = expression.holds(wrt);
    let mut open = Vec::new();
    for index in reading.indices() {
        let sets = admissible_nodes(expression, &reading.values_at(&index), ulp);
        let undefined = sets.iter().zip(&holds).any(|(set, holds)| *holds && may_be_undefined(set));
        let is_open = |call| is_branch_open(call, &holds, &sets) || is_pole_open(call, &holds, &sets);
        if undefined || expression.calls().any(is_open) {
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

/// Whether the derivative of a function of w may be infinite or undefined here, and may be a number: a
/// divisor, the argument of `log` or `sqrt` or the base of a power below 1 may be 0 and may be another
/// number.
fn is_pole_open(call: &Call, holds: &[bool], sets: &[Admissible]) -> bool {
    let reaches_zero = |set: &Admissible| match set {
        Admissible::Floats(set) => set.holds_zero() && is_sign_open(set),
        Admissible::Points(_) | Admissible::Anything => false,
    };
    let is_below_one = |piece: Piece, dtype| piece.ends(dtype)[0].as_f64().is_some_and(|least| least < 1.0);
    let may_be_below_one = |set: &Admissible| match set {
        Admissible::Floats(set) => set.pieces(&[]).into_iter().any(|piece| is_below_one(piece, set.dtype)),
        Admissible::Points(_) | Admissible::Anything => false,
    };
    let arguments = call.arguments();
    let differentiated = arguments.iter().any(|&place| holds[place]);
    let at = match call.function() {
        Function::Divide => arguments[1],
        Function::Log | Function::Sqrt => arguments[0],
        Function::Power if may_be_below_one(&sets[arguments[1]]) => arguments[0],
        Function::Power
        | Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Maximum
        | Function::Minimum
        | Function::Negate
        | Function::Abs
        | Function::Exp
        | Function::Tanh
        | Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::LogicalNot
        | Function::Select => return false,
    };
    differentiated && reaches_zero(&sets[at])
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
