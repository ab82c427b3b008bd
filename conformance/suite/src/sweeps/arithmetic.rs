//! The functions of single values, for the expected values of sweeps: Rust's own arithmetic, not an engine's.
//!
//! Floats are computed in f64 and rounded to their dtype. For `add subtract multiply divide sqrt` this is the
//! correctly rounded result in every narrower dtype, because f64 has more than twice as many bits. For `exp
//! log tanh power` it is within 1 ULP.

#![warn(clippy::wildcard_enum_match_arm)]

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Expression, Function, Scalar};
use std::cmp::Ordering;

/// The value of every node of an expression, for one value of each operand.
///
/// # Panics
/// If V-2 does not define a function for its arguments.
pub(super) fn evaluate(expression: &Expression, operands: &[Scalar]) -> Vec<Scalar> {
    expression.values(|operand| operands[operand], apply)
}

/// A number in a dtype: rounded to the nearest, or wrapped.
#[allow(clippy::cast_possible_truncation, reason = "rounding and wrapping are meant")]
pub(super) fn number(dtype: DType, value: f64) -> Scalar {
    match dtype {
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 => rounded(dtype, value),
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => wrapped(dtype, value as i128),
        DType::U64 | DType::U32 | DType::U16 | DType::U8 | DType::Bool => wrapped(dtype, value as i128),
    }
}

/// An integer in an integer dtype, modulo a power of two.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "wrapping is meant")]
pub(super) fn wrapped(dtype: DType, value: i128) -> Scalar {
    match dtype {
        DType::I64 => Scalar::I64(value as i64),
        DType::I32 => Scalar::I32(value as i32),
        DType::I16 => Scalar::I16(value as i16),
        DType::I8 => Scalar::I8(value as i8),
        DType::U64 => Scalar::U64(value as u64),
        DType::U32 => Scalar::U32(value as u32),
        DType::U16 => Scalar::U16(value as u16),
        DType::U8 => Scalar::U8(value as u8),
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::Bool => {
            unreachable!("{dtype} is not an integer dtype")
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "rounding is meant")]
fn rounded(dtype: DType, value: f64) -> Scalar {
    match dtype {
        DType::F64 => Scalar::F64(value),
        DType::F32 => Scalar::F32(value as f32),
        DType::F16 => Scalar::F16(f16::from_f32(value as f32)),
        DType::Bf16 => Scalar::Bf16(bf16::from_f32(value as f32)),
        DType::I64 | DType::I32 | DType::I16 | DType::I8 | DType::Bool => {
            unreachable!("{dtype} is not a float dtype")
        }
        DType::U64 | DType::U32 | DType::U16 | DType::U8 => unreachable!("{dtype} is not a float dtype"),
    }
}

fn apply(function: Function, arguments: &[Scalar]) -> Scalar {
    match *arguments {
        [Scalar::Bool(condition), then, other] => {
            if condition {
                then
            } else {
                other
            }
        }
        [Scalar::Bool(a)] => Scalar::Bool(truth(function, a, a)),
        [Scalar::Bool(a), Scalar::Bool(b)] => Scalar::Bool(truth(function, a, b)),
        [a] => numeric(function, a, a),
        [a, b] => numeric(function, a, b),
        _ => unreachable!("{function} of {arguments:?}"),
    }
}

fn truth(function: Function, a: bool, b: bool) -> bool {
    match function {
        Function::LogicalAnd => a && b,
        Function::LogicalOr => a || b,
        Function::LogicalNot => !a,
        Function::Equal => a == b,
        Function::NotEqual => a != b,
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Maximum
        | Function::Minimum
        | Function::Power
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::Negate
        | Function::Abs
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh
        | Function::Select => unreachable!("{function} of bools"),
    }
}

fn numeric(function: Function, a: Scalar, b: Scalar) -> Scalar {
    let dtype = a.dtype();
    assert_eq!(dtype, b.dtype(), "{function} of one dtype");
    match (a.as_f64().zip(b.as_f64()), a.as_i128().zip(b.as_i128())) {
        (Some((a, b)), _) => {
            compared(function, a.partial_cmp(&b)).unwrap_or_else(|| rounded(dtype, float(function, a, b)))
        }
        (_, Some((a, b))) => {
            compared(function, Some(a.cmp(&b))).unwrap_or_else(|| wrapped(dtype, integer(function, a, b)))
        }
        (None, None) => unreachable!("{function} of a bool and a number"),
    }
}

/// The result of a comparison; `None` for other functions. NaN has no order.
fn compared(function: Function, order: Option<Ordering>) -> Option<Scalar> {
    let holds = match function {
        Function::Equal => order == Some(Ordering::Equal),
        Function::NotEqual => order != Some(Ordering::Equal),
        Function::Less => order == Some(Ordering::Less),
        Function::LessEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Function::Greater => order == Some(Ordering::Greater),
        Function::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Maximum
        | Function::Minimum
        | Function::Power
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::Negate
        | Function::Abs
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh
        | Function::LogicalNot
        | Function::Select => return None,
    };
    Some(Scalar::Bool(holds))
}

fn float(function: Function, a: f64, b: f64) -> f64 {
    match function {
        Function::Add => a + b,
        Function::Subtract => a - b,
        Function::Multiply => a * b,
        Function::Divide => a / b,
        Function::Maximum | Function::Minimum if a.is_nan() || b.is_nan() => f64::NAN,
        // Zeros by their sign: V-3.
        Function::Maximum => {
            if a > b || (a == b && b.is_sign_negative()) {
                a
            } else {
                b
            }
        }
        Function::Minimum => {
            if a < b || (a == b && a.is_sign_negative()) {
                a
            } else {
                b
            }
        }
        Function::Power => a.powf(b),
        Function::Negate => -a,
        Function::Abs => a.abs(),
        Function::Sqrt => a.sqrt(),
        Function::Exp => a.exp(),
        Function::Log => a.ln(),
        Function::Tanh => a.tanh(),
        Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::LogicalNot
        | Function::Select => unreachable!("{function} of floats"),
    }
}

fn integer(function: Function, a: i128, b: i128) -> i128 {
    match function {
        Function::Add => a + b,
        Function::Subtract => a - b,
        // The product of two u64 does not fit, but its low 64 bits are right.
        Function::Multiply => a.wrapping_mul(b),
        Function::Maximum => a.max(b),
        Function::Minimum => a.min(b),
        Function::Negate => -a,
        Function::Abs => a.abs(),
        Function::Divide
        | Function::Power
        | Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh
        | Function::LogicalNot
        | Function::Select => unreachable!("{function} of integers"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        let i8 = |value| Scalar::I8(value);
        assert_eq!(apply(Function::Add, &[i8(127), i8(1)]), i8(-128));
        assert_eq!(apply(Function::Abs, &[i8(-128)]), i8(-128));
        assert_eq!(apply(Function::Negate, &[Scalar::U8(1)]), Scalar::U8(255));
        let most = Scalar::U64(u64::MAX);
        assert_eq!(apply(Function::Multiply, &[most, most]), Scalar::U64(1));
        let zeros = [Scalar::F64(-0.0), Scalar::F64(0.0)];
        assert_eq!(apply(Function::Maximum, &zeros), Scalar::F64(0.0));
        assert_eq!(apply(Function::Minimum, &zeros), Scalar::F64(-0.0));
        assert_eq!(apply(Function::Equal, &zeros), Scalar::Bool(true));
        let nan = [Scalar::F64(f64::NAN), Scalar::F64(1.0)];
        assert_eq!(apply(Function::Minimum, &nan), Scalar::F64(f64::NAN));
        assert_eq!(apply(Function::NotEqual, &nan), Scalar::Bool(true));
        assert_eq!(apply(Function::LessEqual, &nan), Scalar::Bool(false));
        // V-5: a tie, to even.
        let half = |value| Scalar::F16(f16::from_f32(value));
        assert_eq!(apply(Function::Add, &[half(2048.0), half(1.0)]), half(2048.0));
        assert_eq!(number(DType::U8, -1.0), Scalar::U8(255));
    }
}
