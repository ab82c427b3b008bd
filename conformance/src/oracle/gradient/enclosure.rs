//! Everything that the derivative of an expression can be while one operand moves within an interval, and how far the
//! computed value of the expression may be from the true one: forward-mode differentiation over intervals.
//!
//! By the mean value theorem the difference quotient over the interval is a value of the derivative somewhere inside
//! it, so that both it and the gradient lie in the enclosure: nothing here is a guess.

use super::interval::Interval;
use broadcheck_reference::apply;
use broadcheck_spec::{Call, Exactness, Expression, Function, Node, Scalar};

/// The spacing of a dtype's floats at 1, and the smallest of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Precision {
    pub(super) epsilon: f64,
    pub(super) smallest: f64,
}

impl Precision {
    /// Of f64.
    pub(super) const DOUBLE: Precision = Precision { epsilon: f64::EPSILON, smallest: f64::from_bits(1) };
}

/// What is known of a node while w moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moving {
    /// Everything that the node can be, computed or true.
    value: Interval,
    /// Everything that its derivative by w can be.
    pub(super) derivative: Interval,
    /// How far its computed value may be from the true one.
    pub(super) error: f64,
}

/// A node: one that w does not reach stands still.
#[derive(Clone, Copy, Debug)]
enum Known {
    Still(Scalar, Exactness),
    Moving(Moving),
}

/// The root of an expression at one index: w is somewhere in `range`, the other operands have these values. `None`
/// where nothing can be said: a branch, a pole or the end of the numbers is within reach.
pub(super) fn enclose(
    expression: &Expression,
    wrt: usize,
    range: Interval,
    operands: &[Scalar],
    precision: Precision,
) -> Option<Moving> {
    let mut nodes: Vec<Known> = Vec::with_capacity(expression.nodes().len());
    for node in expression.nodes() {
        nodes.push(match node {
            Node::Operand(place) if *place == wrt => {
                Known::Moving(Moving { value: range, derivative: Interval::ONE, error: 0.0 })
            }
            Node::Operand(place) => Known::Still(operands[*place], Exactness::Exact),
            Node::Call(call) => called(call, &nodes, precision)?,
        });
    }
    match nodes.pop()? {
        Known::Moving(moving) => Some(moving),
        still @ Known::Still(..) => moving(still),
    }
}

fn called(call: &Call, nodes: &[Known], precision: Precision) -> Option<Known> {
    let arguments: Vec<Known> = call.arguments().iter().map(|&place| nodes[place]).collect();
    if let Some(still) = standing(call, &arguments) {
        return Some(still);
    }
    if call.function() == Function::Select {
        // A condition that a few ULP may turn says nothing.
        return match arguments[0] {
            Known::Still(Scalar::Bool(taken), Exactness::Exact) => Some(arguments[if taken { 1 } else { 2 }]),
            _ => None,
        };
    }
    let made = match arguments[..] {
        [a] => unary(call.function(), moving(a)?, precision),
        [a, b] => binary(call.function(), moving(a)?, moving(b)?, precision),
        _ => None,
    }?;
    let finite = made.value.is_finite() && made.derivative.is_finite() && made.error.is_finite();
    finite.then_some(Known::Moving(made))
}

/// A function of what stands still, where it has one value: an exact one, or a truth value that is not sure.
fn standing(call: &Call, arguments: &[Known]) -> Option<Known> {
    let mut values = Vec::with_capacity(arguments.len());
    let mut exactness = call.function().exactness();
    for known in arguments {
        let Known::Still(value, of_argument) = known else { return None };
        if *of_argument == Exactness::Ulp {
            exactness = Exactness::Ulp;
        }
        values.push(*value);
    }
    let value = apply(call.function(), &values);
    let sure = exactness == Exactness::Exact || !value.dtype().is_float();
    sure.then_some(Known::Still(value, exactness))
}

/// A node that stands still, as one that moves by nothing.
fn moving(known: Known) -> Option<Moving> {
    match known {
        Known::Moving(moving) => Some(moving),
        Known::Still(_, Exactness::Ulp) => None,
        Known::Still(value, Exactness::Exact) => {
            let value = value.as_f64().filter(|value| value.is_finite())?;
            Some(Moving { value: Interval::point(value), derivative: Interval::ZERO, error: 0.0 })
        }
    }
}

/// A result with its rounding: `ulps` of what it is at most, and the arguments' errors times how fast it moves.
fn rounded(value: Interval, derivative: Interval, error: f64, ulps: f64, precision: Precision) -> Moving {
    let rounding = value.size() * ulps * precision.epsilon + precision.smallest;
    let error = (error + rounding).next_up();
    Moving { value: value.widened(error), derivative, error }
}

fn unary(function: Function, a: Moving, precision: Precision) -> Option<Moving> {
    let positive = a.value.low > 0.0;
    let (value, slope, ulps) = match function {
        Function::Negate => {
            return Some(Moving {
                value: a.value.negated(),
                derivative: a.derivative.negated(),
                error: a.error,
            });
        }
        Function::Abs if positive => return Some(a),
        Function::Abs if a.value.high < 0.0 => return unary(Function::Negate, a, precision),
        Function::Exp => {
            let value = a.value.rising(f64::exp);
            (value, value, 8.0)
        }
        Function::Log if positive => (a.value.rising(f64::ln), Interval::ONE.over(a.value)?, 8.0),
        Function::Sqrt if positive => {
            let value = a.value.rising(f64::sqrt);
            (value, Interval::point(0.5).over(value)?, 1.0)
        }
        Function::Tanh => {
            let value = a.value.rising(f64::tanh);
            (value, Interval::ONE.minus(value.times(value)), 8.0)
        }
        _ => return None,
    };
    Some(rounded(value, slope.times(a.derivative), slope.size() * a.error, ulps, precision))
}

fn binary(function: Function, a: Moving, b: Moving, precision: Precision) -> Option<Moving> {
    let slopes = |value: Interval, by_a: Interval, by_b: Interval, ulps: f64| {
        let derivative = by_a.times(a.derivative).plus(by_b.times(b.derivative));
        Some(rounded(value, derivative, by_a.size() * a.error + by_b.size() * b.error, ulps, precision))
    };
    let one = Interval::ONE;
    match function {
        Function::Add => slopes(a.value.plus(b.value), one, one, 1.0),
        Function::Subtract => slopes(a.value.minus(b.value), one, one.negated(), 1.0),
        Function::Multiply => slopes(a.value.times(b.value), b.value, a.value, 1.0),
        Function::Divide => {
            let value = a.value.over(b.value)?;
            slopes(value, one.over(b.value)?, value.over(b.value)?.negated(), 1.0)
        }
        Function::Power if a.value.low > 0.0 => {
            let logarithm = a.value.rising(f64::ln);
            let value = b.value.times(logarithm).rising(f64::exp);
            slopes(value, b.value.times(value).over(a.value)?, value.times(logarithm), 8.0)
        }
        Function::Maximum if a.value.low > b.value.high => Some(a),
        Function::Maximum if b.value.low > a.value.high => Some(b),
        Function::Minimum if a.value.high < b.value.low => Some(a),
        Function::Minimum if b.value.high < a.value.low => Some(b),
        _ => None,
    }
}
