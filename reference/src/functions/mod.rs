//! What each function does to values (clauses V-1 to V-5). Types were checked before: see `types.rs`.

mod floats;
mod integers;
mod transcendental;

pub(crate) use floats::round_to;
pub(crate) use transcendental::{log, power};

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{Function, Scalar};
use std::cmp::Ordering;

/// One function on values.
///
/// # Panics
/// Where the function does not take arguments of these dtypes or of this number; [`result_dtype`] tells
/// beforehand.
///
/// [`result_dtype`]: crate::result_dtype
pub fn apply(function: Function, arguments: &[Scalar]) -> Scalar {
    use Scalar::{Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let answer = match *arguments {
        [Bool(condition), then, otherwise] if function == Function::Select => {
            Some(if condition { then } else { otherwise })
        }
        [F64(x)] => floats::unary_f64(function, x).map(F64),
        [F32(x)] => floats::unary_f32(function, x).map(F32),
        [F16(x)] => floats::unary_half(function, x.to_f32()).map(|value| F16(f16::from_f32(value))),
        [Bf16(x)] => floats::unary_half(function, x.to_f32()).map(|value| Bf16(bf16::from_f32(value))),
        [I64(x)] => integers::unary_i64(function, x).map(I64),
        [I32(x)] => integers::unary_i32(function, x).map(I32),
        [I16(x)] => integers::unary_i16(function, x).map(I16),
        [I8(x)] => integers::unary_i8(function, x).map(I8),
        [U64(x)] => integers::unary_u64(function, x).map(U64),
        [U32(x)] => integers::unary_u32(function, x).map(U32),
        [U16(x)] => integers::unary_u16(function, x).map(U16),
        [U8(x)] => integers::unary_u8(function, x).map(U8),
        [Bool(x)] if function == Function::LogicalNot => Some(Bool(!x)),
        [a, b] => match compare(function, a, b) {
            Some(truth) => Some(Bool(truth)),
            None => match (a, b) {
                (F64(a), F64(b)) => floats::binary_f64(function, a, b).map(F64),
                (F32(a), F32(b)) => floats::binary_f32(function, a, b).map(F32),
                (F16(a), F16(b)) => floats::binary_half(function, a.to_f32(), b.to_f32())
                    .map(|value| F16(f16::from_f32(value))),
                (Bf16(a), Bf16(b)) => floats::binary_half(function, a.to_f32(), b.to_f32())
                    .map(|value| Bf16(bf16::from_f32(value))),
                (I64(a), I64(b)) => integers::binary_i64(function, a, b).map(I64),
                (I32(a), I32(b)) => integers::binary_i32(function, a, b).map(I32),
                (I16(a), I16(b)) => integers::binary_i16(function, a, b).map(I16),
                (I8(a), I8(b)) => integers::binary_i8(function, a, b).map(I8),
                (U64(a), U64(b)) => integers::binary_u64(function, a, b).map(U64),
                (U32(a), U32(b)) => integers::binary_u32(function, a, b).map(U32),
                (U16(a), U16(b)) => integers::binary_u16(function, a, b).map(U16),
                (U8(a), U8(b)) => integers::binary_u8(function, a, b).map(U8),
                _ => None,
            },
        },
        _ => None,
    };
    answer.unwrap_or_else(|| panic!("{function} does not take {arguments:?}"))
}

/// Comparisons and logic: what gives a truth value (clause V-2). `None` for other functions.
fn compare(function: Function, a: Scalar, b: Scalar) -> Option<bool> {
    if let (Scalar::Bool(a), Scalar::Bool(b)) = (a, b) {
        return match function {
            Function::LogicalAnd => Some(a && b),
            Function::LogicalOr => Some(a || b),
            Function::Equal => Some(a == b),
            Function::NotEqual => Some(a != b),
            _ => None,
        };
    }
    assert_eq!(a.dtype(), b.dtype(), "{function} of two dtypes");
    // Floats as f64, integers as i128: both hold every value exactly. IEEE 754: NaN is unordered and differs
    // from everything, and the zeros are equal.
    let order = match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => Some(a.as_i128()?.cmp(&b.as_i128()?)),
    };
    match function {
        Function::Equal => Some(order.is_some_and(Ordering::is_eq)),
        Function::NotEqual => Some(order.is_none_or(Ordering::is_ne)),
        Function::Less => Some(order.is_some_and(Ordering::is_lt)),
        Function::LessEqual => Some(order.is_some_and(Ordering::is_le)),
        Function::Greater => Some(order.is_some_and(Ordering::is_gt)),
        Function::GreaterEqual => Some(order.is_some_and(Ordering::is_ge)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
