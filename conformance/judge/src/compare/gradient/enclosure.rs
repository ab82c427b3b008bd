//! Encloses everything that the derivative of an expression can be while one operand varies within an
//! interval, and how far the computed value of the expression may be from the true one: forward-mode
//! differentiation over intervals.
//!
//! By the mean value theorem, the difference quotient over the interval equals the derivative somewhere
//! inside it. Both the quotient and the gradient are therefore in the enclosure; this is not a heuristic.

#![warn(clippy::wildcard_enum_match_arm)]

use super::interval::Interval;
use crate::compare::DEFAULT_ULP;
use broadcheck_reference::apply;
use broadcheck_spec::{Call, DType, Exactness, Expression, Function, Node, Scalar};
use std::cmp::Ordering;

/// The precision with which an implementation computes a node.
#[derive(Clone, Copy, Debug)]
pub struct Precision {
    /// The spacing of the dtype's floats at 1.
    epsilon: f64,
    /// The smallest positive float.
    smallest: f64,
    /// The error of an inexact function in units of `epsilon`. It is doubled because two answers may err in
    /// opposite directions.
    inexact: f64,
}

impl Precision {
    /// The precision of a float dtype, if an inexact function may be off by `ulp` ULPs.
    pub fn of(dtype: DType, ulp: u32) -> Precision {
        let (epsilon, smallest) = match dtype {
            DType::F32 => (2f64.powi(-23), 2f64.powi(-149)),
            DType::F16 => (2f64.powi(-10), 2f64.powi(-24)),
            DType::Bf16 => (2f64.powi(-7), 2f64.powi(-133)),
            DType::F64 => (f64::EPSILON, f64::from_bits(1)),
            other @ (DType::I64
            | DType::I32
            | DType::I16
            | DType::I8
            | DType::U64
            | DType::U32
            | DType::U16
            | DType::U8
            | DType::Bool) => {
                unreachable!("{other} is not a float")
            }
        };
        Precision { epsilon, smallest, inexact: 2.0 * f64::from(ulp.max(DEFAULT_ULP)) }
    }
}

/// What is known about a node while w varies.
#[derive(Clone, Copy, Debug)]
pub struct Moving {
    /// Everything that the node can be, computed or exact.
    value: Interval,
    /// Everything that its derivative with respect to w can be.
    pub derivative: Interval,
    /// How far its computed value may be from the exact one.
    pub error: f64,
}

impl Moving {
    /// Nothing is known.
    const UNKNOWN: Moving =
        Moving { value: Interval::UNKNOWN, derivative: Interval::UNKNOWN, error: f64::NAN };

    /// At a pole of the derivative, where the value is exact.
    fn at_pole(value: f64) -> Moving {
        Moving { value: Interval::point(value), derivative: Interval::UNKNOWN, error: 0.0 }
    }
}

/// A node. It is constant if it does not depend on w and no ULPs change it.
#[derive(Clone, Copy, Debug)]
enum Known {
    Constant(Scalar),
    Moving(Moving),
}

/// Encloses the root of an expression at one index, where w is somewhere in `range` and the other operands
/// have these values. `None` if nothing is known: a branch, a pole or the limit of the range is within reach.
pub fn enclose(
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
            Node::Operand(place) => Known::Constant(operands[*place]),
            Node::Call(call) => called(call, &nodes, precision).unwrap_or(Known::Moving(Moving::UNKNOWN)),
        });
    }
    // An unknown node may have lost to another branch on the way.
    moving(nodes.pop()?).filter(|root| root.derivative.is_finite())
}

/// `None` if nothing is known.
fn called(call: &Call, nodes: &[Known], precision: Precision) -> Option<Known> {
    let arguments: Vec<Known> = call.arguments().iter().map(|&place| nodes[place]).collect();
    if let Some(value) = constant(call.function(), &arguments) {
        return Some(Known::Constant(value));
    }
    let made = match arguments[..] {
        [Known::Constant(Scalar::Bool(taken)), then, other] => {
            return Some(if taken { then } else { other });
        }
        [a] => unary(call.function(), moving(a)?, precision),
        [a, b] if is_comparison(call.function()) => {
            let holds = holds(call.function(), order(moving(a)?.value, moving(b)?.value)?);
            return Some(Known::Constant(Scalar::Bool(holds)));
        }
        [a, b] => binary(call.function(), moving(a)?, moving(b)?, precision),
        _ => None,
    };
    made.map(Known::Moving)
}

/// A function of constants, if it is exact: all except four are, and those are for special arguments (V-4).
fn constant(function: Function, arguments: &[Known]) -> Option<Scalar> {
    let mut values = Vec::with_capacity(arguments.len());
    for known in arguments {
        let Known::Constant(value) = known else { return None };
        values.push(*value);
    }
    let special = |value: &Scalar| value.as_f64().is_some_and(|value| value == 0.0 || !value.is_finite());
    let exact = function.exactness() == Exactness::Exact || values.iter().any(special);
    exact.then(|| apply(function, &values))
}

/// A constant node as one whose derivative is 0.
fn moving(known: Known) -> Option<Moving> {
    match known {
        Known::Moving(moving) => Some(moving),
        Known::Constant(value) => {
            let value = value.as_f64()?;
            Some(Moving { value: Interval::point(value), derivative: Interval::ZERO, error: 0.0 })
        }
    }
}

fn is_comparison(function: Function) -> bool {
    use Function as F;
    matches!(function, F::Equal | F::NotEqual | F::Less | F::LessEqual | F::Greater | F::GreaterEqual)
}

/// How two numbers compare wherever they are in their intervals; `None` if it depends on where.
fn order(a: Interval, b: Interval) -> Option<Ordering> {
    if a.high < b.low {
        Some(Ordering::Less)
    } else if a.low > b.high {
        Some(Ordering::Greater)
    } else {
        (a.low == b.high && a.high == b.low).then_some(Ordering::Equal)
    }
}

fn holds(comparison: Function, order: Ordering) -> bool {
    match comparison {
        Function::Equal => order.is_eq(),
        Function::NotEqual => order.is_ne(),
        Function::Less => order.is_lt(),
        Function::LessEqual => order.is_le(),
        Function::Greater => order.is_gt(),
        Function::GreaterEqual => order.is_ge(),
        other @ (Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Power
        | Function::Maximum
        | Function::Minimum
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::LogicalNot
        | Function::Negate
        | Function::Abs
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh
        | Function::Select) => {
            unreachable!("{other} is not a comparison")
        }
    }
}

/// A result with its error: `ulps` ULPs of its value at most, plus the arguments' errors times the slopes.
fn rounded(value: Interval, derivative: Interval, error: f64, ulps: f64, precision: Precision) -> Moving {
    let rounding = value.size() * ulps * precision.epsilon + precision.smallest;
    let error = (error + rounding).next_up();
    Moving { value: value.widened(error), derivative, error }
}

fn unary(function: Function, a: Moving, precision: Precision) -> Option<Moving> {
    let (positive, inexact) = (a.value.low > 0.0, precision.inexact);
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
            (value, value, inexact)
        }
        Function::Log | Function::Sqrt if a.value == Interval::ZERO && a.error == 0.0 => {
            return Some(Moving::at_pole(if function == Function::Log { f64::NEG_INFINITY } else { 0.0 }));
        }
        Function::Log if positive => (a.value.rising(f64::ln), Interval::ONE.over(a.value)?, inexact),
        // mutant: replace match guard positive with true: NaN at one end leaves nothing known, as before
        Function::Sqrt if positive => {
            let value = a.value.rising(f64::sqrt);
            (value, Interval::point(0.5).over(value)?, 1.0)
        }
        Function::Tanh => {
            let value = a.value.rising(f64::tanh);
            (value, Interval::ONE.minus(value.times(value)), inexact)
        }
        // At a pole or outside the domain.
        Function::Abs | Function::Log | Function::Sqrt => return None,
        // Not functions of one number.
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Power
        | Function::Maximum
        | Function::Minimum
        | Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::LogicalNot
        | Function::Select => return None,
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
        // mutant: replace > with >=: `over` gives None below for a base that reaches 0
        Function::Power if a.value.low > 0.0 => {
            let logarithm = a.value.rising(f64::ln);
            let value = b.value.times(logarithm).rising(f64::exp);
            let by_base = b.value.times(value).over(a.value)?;
            slopes(value, by_base, value.times(logarithm), precision.inexact)
        }
        Function::Power if a.value.high < 0.0 => negative_base(a, b, precision),
        Function::Maximum | Function::Minimum => match (function, order(a.value, b.value)?) {
            (Function::Maximum, Ordering::Greater) | (Function::Minimum, Ordering::Less) => Some(a),
            (_, Ordering::Equal) => {
                let half = Interval::point(0.5);
                let derivative = half.times(a.derivative).plus(half.times(b.derivative));
                Some(Moving { derivative, ..a })
            }
            _ => Some(b),
        },
        // The base may be 0.
        Function::Power => None,
        // Not functions of two numbers that give a number.
        Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::LogicalNot
        | Function::Negate
        | Function::Abs
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh
        | Function::Select => None,
    }
}

/// The power of a negative number with a constant integer exponent: the power of its absolute value, with the
/// sign of the parity.
fn negative_base(a: Moving, b: Moving, precision: Precision) -> Option<Moving> {
    let exponent = b.value.low;
    let moves = b.value.high != exponent || b.derivative != Interval::ZERO || b.error > 0.0;
    if moves || exponent.fract() != 0.0 {
        return None;
    }
    let size = binary(Function::Power, unary(Function::Negate, a, precision)?, b, precision)?;
    if exponent % 2.0 == 0.0 { Some(size) } else { unary(Function::Negate, size, precision) }
}

#[cfg(test)]
mod tests;
