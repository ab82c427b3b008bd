//! The values that an expression may take at one index if it contains `exp log tanh power` (clause V-4b), or
//! a `maximum` or `minimum` of two zeros (clause V-3).
//!
//! Each node has the set of values that a correct implementation may compute there. Exact functions map sets
//! to sets; a function that is allowed a few ULPs widens its image by them, and an extreme of a +0 and a -0
//! may be either. A set of floats is split at 0 and at infinity: on each part every function is monotone in
//! each argument, and so is rounding, so the corners bound the image. Two nodes are treated as independent
//! even if they share an operand, so the set may be larger than necessary, but never smaller.

use super::ranges::{Floats, Piece, ValueRange, ZEROS};
use super::ulp::{from_key, key};
use broadcheck_reference::apply;
use broadcheck_spec::{DType, Exactness, Expression, Function, Node, Scalar};

/// Sets of more integers than this become `Anything`.
const MOST_POINTS: usize = 64;

/// The admissible values of one element.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Admissible {
    /// Booleans and integers: each possible value.
    Points(Vec<Scalar>),
    Floats(Floats),
    /// Too many possibilities to track: any value is admissible.
    Anything,
}

impl Admissible {
    /// Exactly one value.
    pub(super) fn exactly(value: Scalar) -> Admissible {
        if value.dtype().is_float() {
            Admissible::Floats(Floats::exactly(value))
        } else {
            Admissible::Points(vec![value])
        }
    }

    /// Whether a value is admissible.
    pub(super) fn contains(&self, value: Scalar) -> bool {
        match self {
            Admissible::Points(points) => points.contains(&value),
            Admissible::Floats(floats) => floats.contains(value),
            Admissible::Anything => true,
        }
    }

    /// Like [`contains`](Admissible::contains), but a zero matches zeros of either sign (`zero_sign: any`).
    pub(super) fn contains_up_to_zero_sign(&self, value: Scalar) -> bool {
        let zero = value.as_f64() == Some(0.0);
        self.contains(value) || matches!(self, Admissible::Floats(floats) if zero && floats.holds_zero())
    }

    /// The set that also holds the other zero if it holds one and `any` is true: what
    /// [`contains_up_to_zero_sign`](Admissible::contains_up_to_zero_sign) finds in it.
    pub(super) fn up_to_zero_sign(self, any: bool) -> Admissible {
        match self {
            Admissible::Floats(mut floats) if any && floats.holds_zero() => {
                let [low, high] = ZEROS;
                floats.ranges.push(ValueRange { low, high });
                Admissible::Floats(floats.merged())
            }
            set => set,
        }
    }

    /// Whether more than one value is admissible.
    pub(super) fn is_open(&self) -> bool {
        match self {
            Admissible::Points(points) => points.len() > 1,
            Admissible::Floats(Floats { ranges, nan, .. }) => {
                // mutant: replace > with ==; replace > with <: only called for truth values
                // mutant: replace > with >=; replace + with *; delete !: only called for truth values
                ranges.len() + usize::from(*nan) > 1 || ranges.iter().any(|range| !range.is_point())
            }
            Admissible::Anything => true,
        }
    }

    fn points(points: impl IntoIterator<Item = Scalar>) -> Admissible {
        let mut kept: Vec<Scalar> = Vec::new();
        for point in points {
            if !kept.contains(&point) {
                kept.push(point);
            }
            if kept.len() > MOST_POINTS {
                return Admissible::Anything;
            }
        }
        Admissible::Points(kept)
    }
}

/// How far the value of each inexact function may be from the exact one, in ULPs.
#[derive(Clone, Copy)]
pub(super) enum Ulps {
    /// From the correctly rounded value, which the reference knows up to its own error.
    FromTrue(u32),
    /// From the reference's value.
    FromReference(u32),
}

/// What the clauses allow at each function.
#[derive(Clone, Copy)]
pub(super) struct Allowed {
    /// At each inexact function (clause V-4).
    pub(super) ulps: Ulps,
    /// At each `maximum` and `minimum` of a +0 and a -0: either (clause V-3).
    pub(super) any_zero_of_extremes: bool,
}

impl From<u32> for Allowed {
    fn from(ulp: u32) -> Allowed {
        Allowed { ulps: Ulps::FromTrue(ulp), any_zero_of_extremes: false }
    }
}

impl Ulps {
    /// How far from the reference's value, in ULPs.
    fn at(self, function: Function, dtype: DType) -> u32 {
        match self {
            Ulps::FromTrue(ulp) => ulp.saturating_add(uncertainty(function, dtype)),
            Ulps::FromReference(ulp) => ulp,
        }
    }
}

/// The set at the root of an expression, for these operand values at the index. A number allows that many
/// ULPs at every inexact function.
pub(super) fn admissible(
    expression: &Expression,
    operands: &[Scalar],
    allowed: impl Into<Allowed>,
) -> Admissible {
    admissible_nodes(expression, operands, allowed).pop().expect("an expression has a root")
}

/// The set at each node.
pub(super) fn admissible_nodes(
    expression: &Expression,
    operands: &[Scalar],
    allowed: impl Into<Allowed>,
) -> Vec<Admissible> {
    let allowed = allowed.into();
    let mut sets: Vec<Admissible> = Vec::with_capacity(expression.nodes().len());
    for node in expression.nodes() {
        let set = match node {
            Node::Operand(operand) => Admissible::exactly(operands[*operand]),
            Node::Call(call) => {
                let arguments: Vec<&Admissible> =
                    call.arguments().iter().map(|&place| &sets[place]).collect();
                called(call.function(), &arguments, allowed)
            }
        };
        sets.push(set);
    }
    sets
}

fn called(function: Function, arguments: &[&Admissible], allowed: Allowed) -> Admissible {
    match arguments {
        [Admissible::Points(conditions), then, other] => selected(conditions, then, other),
        [Admissible::Floats(set)] => Admissible::Floats(unary(function, set, allowed.ulps)),
        [Admissible::Floats(left), Admissible::Floats(right)] => match image(function) {
            Image::Comparison => compared(function, left, right),
            Image::Corners => Admissible::Floats(binary(function, left, right, allowed)),
            Image::Choice | Image::Points => Admissible::Anything,
        },
        [Admissible::Points(points)] => {
            Admissible::points(points.iter().map(|&point| apply(function, &[point])))
        }
        [Admissible::Points(left), Admissible::Points(right)] => {
            let pairs = left.iter().flat_map(|&a| right.iter().map(move |&b| [a, b]));
            Admissible::points(pairs.map(|pair| apply(function, &pair)))
        }
        _ if is_comparison(function) => Admissible::Points(vec![Scalar::Bool(false), Scalar::Bool(true)]),
        _ => Admissible::Anything,
    }
}

/// If the condition is open, both branches are admissible.
fn selected(conditions: &[Scalar], then: &Admissible, other: &Admissible) -> Admissible {
    match (conditions.contains(&Scalar::Bool(true)), conditions.contains(&Scalar::Bool(false)), then, other) {
        (true, false, ..) => then.clone(),
        (false, true, ..) => other.clone(),
        (_, _, Admissible::Points(then), Admissible::Points(other)) => {
            Admissible::points(then.iter().chain(other).copied())
        }
        (_, _, Admissible::Floats(then), Admissible::Floats(other)) => {
            let mut both = then.clone();
            both.join(other);
            Admissible::Floats(both.merged())
        }
        _ => Admissible::Anything,
    }
}

fn unary(function: Function, set: &Floats, ulp: Ulps) -> Floats {
    let mut image = Floats::empty(set.dtype);
    for piece in set.pieces(&[]) {
        let images = piece.ends(set.dtype).map(|end| apply(function, &[end]));
        image.join(&hull(function, set.dtype, &images, ulp, piece.is_special(set.dtype)));
    }
    image.merged()
}

fn binary(function: Function, left: &Floats, right: &Floats, allowed: Allowed) -> Floats {
    let (dtype, ulp) = (left.dtype, allowed.ulps);
    // pow(1, y) is exactly 1 for every y, so 1 is a special value here.
    let one = one(dtype);
    let cuts: &[i64] = if function == Function::Power { &[one] } else { &[] };
    let is_one = |piece| function == Function::Power && piece == Piece::Keys(ValueRange::point(one));
    let mut image = Floats::empty(dtype);
    let bases = left.pieces(cuts);
    let exponents = right.pieces(&[]);
    for &a in &bases {
        for &b in &exponents {
            let exact = a.is_special(dtype) || b.is_special(dtype) || is_one(a);
            let part = match (function, a.negative(), b) {
                (Function::Power, Some(base), Piece::Keys(exponent)) if !exponent.is_point() => {
                    negative_base(dtype, base, exponent, ulp, exact)
                }
                (Function::Maximum | Function::Minimum, ..)
                    if allowed.any_zero_of_extremes && are_opposite_zeros(a, b) =>
                {
                    Floats { dtype, ranges: ZEROS.map(ValueRange::point).to_vec(), nan: false }
                }
                _ => hull(function, dtype, &corners(function, dtype, a, b), ulp, exact),
            };
            image.join(&part);
        }
    }
    image.merged()
}

/// Whether one is +0 and the other -0.
fn are_opposite_zeros(a: Piece, b: Piece) -> bool {
    let [minus, plus] = ZEROS.map(|zero| Piece::Keys(ValueRange::point(zero)));
    (a == minus && b == plus) || (a == plus && b == minus)
}

/// A negative base (or -0, or -infinity) to a power that is not known exactly. The sign depends on whether
/// the exponent is an odd integer, and a negative number has a power only if the exponent is an integer.
fn negative_base(dtype: DType, base: ValueRange, exponent: ValueRange, ulp: Ulps, exact: bool) -> Floats {
    let magnitudes = corners(Function::Power, dtype, Piece::Keys(base.mirrored()), Piece::Keys(exponent));
    let mut image = hull(Function::Power, dtype, &magnitudes, ulp, exact);
    if holds_whole_number(dtype, exponent) {
        let mirrored: Vec<ValueRange> = image.ranges.iter().map(|range| range.mirrored()).collect();
        image.ranges.extend(mirrored);
    } else if !exact {
        image.ranges.clear();
    }
    image.nan |= !exact;
    image
}

fn holds_whole_number(dtype: DType, range: ValueRange) -> bool {
    let value = |key| from_key(dtype, key).as_f64().expect("a float");
    value(range.low).ceil() <= value(range.high)
}

/// The key of 1, which is exp(0).
fn one(dtype: DType) -> i64 {
    key(apply(Function::Exp, &[from_key(dtype, 0)])).expect("1 is a number")
}

/// The values at the four corners of two pieces.
fn corners(function: Function, dtype: DType, a: Piece, b: Piece) -> [Scalar; 4] {
    let ([a0, a1], [b0, b1]) = (a.ends(dtype), b.ends(dtype));
    [[a0, b0], [a0, b1], [a1, b0], [a1, b1]].map(|pair| apply(function, &pair))
}

/// Everything between the smallest and the largest of some images, widened by the allowed ULPs.
fn hull(function: Function, dtype: DType, images: &[Scalar], ulp: Ulps, exact: bool) -> Floats {
    let keys: Vec<i64> = images.iter().filter_map(|&image| key(image)).collect();
    let range = keys.iter().min().zip(keys.iter().max()).map(|(&low, &high)| ValueRange { low, high });
    let widened = range.map(|range| match function.exactness() {
        Exactness::Ulp if !exact => range.widened(ulp.at(function, dtype), dtype),
        Exactness::Ulp | Exactness::Exact => range,
    });
    // On a piece, a function is NaN either everywhere or nowhere.
    debug_assert!(keys.is_empty() || keys.len() == images.len(), "{function} is NaN at some of {images:?}");
    Floats { dtype, ranges: widened.into_iter().collect(), nan: keys.is_empty() }
}

/// How far the reference's value may be from the correctly rounded one, in ULPs; the allowed ULPs count from
/// the latter (clause V-4). The reference's exp and power of f64 are within 1 ULP and everything else is
/// correctly rounded, as its accuracy tests measure. Without this, a correct answer could be rejected.
fn uncertainty(function: Function, dtype: DType) -> u32 {
    u32::from(dtype == DType::F64 && matches!(function, Function::Exp | Function::Power))
}

/// How the image of a set under a function is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Image {
    /// From the corners: on each side of 0 and of infinity the function is monotone in each argument.
    Corners,
    /// A boolean that both sets of floats decide together.
    Comparison,
    /// The choice of a branch.
    Choice,
    /// From each point: the arguments are booleans.
    Points,
}

/// Which of these a function has. A function that is not monotone between 0 and infinity needs a row of its
/// own.
fn image(function: Function) -> Image {
    match function {
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Power
        | Function::Maximum
        | Function::Minimum
        | Function::Negate
        | Function::Abs
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh => Image::Corners,
        Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual => Image::Comparison,
        Function::Select => Image::Choice,
        Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot => Image::Points,
    }
}

fn is_comparison(function: Function) -> bool {
    image(function) == Image::Comparison
}

/// The outcomes of a comparison: both, if the ranges leave it open.
pub(super) fn compared(function: Function, left: &Floats, right: &Floats) -> Admissible {
    let dtype = left.dtype;
    let holds = |function, x: i64, y: i64| {
        apply(function, &[from_key(dtype, x), from_key(dtype, y)]) == Scalar::Bool(true)
    };
    let mut outcomes = Vec::new();
    // With NaN on either side, only not_equal holds.
    if left.nan || right.nan {
        outcomes.push(function == Function::NotEqual);
    }
    let pairs = left.ranges.iter().flat_map(|&a| right.ranges.iter().map(move |&b| (a, b)));
    for (a, b) in pairs {
        let (can_hold, can_fail) = match function {
            Function::Less | Function::LessEqual => {
                (holds(function, a.low, b.high), !holds(function, a.high, b.low))
            }
            Function::Greater | Function::GreaterEqual => {
                (holds(function, a.high, b.low), !holds(function, a.low, b.high))
            }
            _ => {
                let meet =
                    holds(Function::LessEqual, a.low, b.high) && holds(Function::LessEqual, b.low, a.high);
                let same = holds(Function::Equal, a.low, b.high) && holds(Function::Equal, a.high, b.low);
                if function == Function::Equal { (meet, !same) } else { (!same, meet) }
            }
        };
        outcomes.extend(
            [(can_hold, true), (can_fail, false)].into_iter().filter_map(|(can, it)| can.then_some(it)),
        );
    }
    Admissible::points(outcomes.into_iter().map(Scalar::Bool))
}
