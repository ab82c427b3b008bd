//! The functions on values (clauses V-1 to V-5). `types.rs` has checked the dtypes before.

#![warn(clippy::wildcard_enum_match_arm)]

mod floats;
mod integers;
mod kind;
mod transcendental;

pub use floats::round_to;
pub(crate) use kind::{Binary, Kind, Unary, kind};
pub(crate) use transcendental::{log, power};

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{Function, Scalar};
use kind::{Comparison, Logic};
use std::cmp::Ordering;

/// Applies a function to values.
///
/// # Panics
/// If the function does not accept arguments of these dtypes or this number of arguments. Check the dtypes
/// with [`result_dtype`] first.
///
/// [`result_dtype`]: crate::result_dtype
pub fn apply(function: Function, arguments: &[Scalar]) -> Scalar {
    let value = match (kind(function), arguments) {
        (Kind::Unary(function), &[x]) => unary(function, x),
        (Kind::Binary(function), &[a, b]) => binary(function, a, b),
        (Kind::Comparison(comparison), &[a, b]) => compare(comparison, a, b).map(Scalar::Bool),
        (Kind::Logic(Logic::And), &[Scalar::Bool(a), Scalar::Bool(b)]) => Some(Scalar::Bool(a && b)),
        (Kind::Logic(Logic::Or), &[Scalar::Bool(a), Scalar::Bool(b)]) => Some(Scalar::Bool(a || b)),
        (Kind::Not, &[Scalar::Bool(x)]) => Some(Scalar::Bool(!x)),
        (Kind::Select, &[Scalar::Bool(condition), then, other]) => Some(if condition { then } else { other }),
        // Arguments that the function does not accept. Every kind is listed, so that a new one is not
        // forgotten above.
        (
            Kind::Unary(_)
            | Kind::Binary(_)
            | Kind::Comparison(_)
            | Kind::Logic(_)
            | Kind::Not
            | Kind::Select,
            _,
        ) => None,
    };
    value.unwrap_or_else(|| panic!("{function} does not take {arguments:?}"))
}

fn unary(function: Unary, x: Scalar) -> Option<Scalar> {
    use Scalar::{Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    match x {
        F64(x) => Some(F64(floats::unary_f64(function, x))),
        F32(x) => Some(F32(floats::unary_f32(function, x))),
        F16(x) => Some(F16(f16::from_f32(floats::unary_half(function, x.to_f32())))),
        Bf16(x) => Some(Bf16(bf16::from_f32(floats::unary_half(function, x.to_f32())))),
        I64(x) => integers::unary_i64(function, x).map(I64),
        I32(x) => integers::unary_i32(function, x).map(I32),
        I16(x) => integers::unary_i16(function, x).map(I16),
        I8(x) => integers::unary_i8(function, x).map(I8),
        U64(x) => integers::unary_u64(function, x).map(U64),
        U32(x) => integers::unary_u32(function, x).map(U32),
        U16(x) => integers::unary_u16(function, x).map(U16),
        U8(x) => integers::unary_u8(function, x).map(U8),
        Bool(_) => None,
    }
}

/// `None` for arguments of different dtypes, or of a dtype that the function does not accept.
fn binary(function: Binary, a: Scalar, b: Scalar) -> Option<Scalar> {
    use Scalar::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    match (a, b) {
        (F64(a), F64(b)) => Some(F64(floats::binary_f64(function, a, b))),
        (F32(a), F32(b)) => Some(F32(floats::binary_f32(function, a, b))),
        (F16(a), F16(b)) => Some(F16(f16::from_f32(floats::binary_half(function, a.to_f32(), b.to_f32())))),
        (Bf16(a), Bf16(b)) => {
            Some(Bf16(bf16::from_f32(floats::binary_half(function, a.to_f32(), b.to_f32()))))
        }
        (I64(a), I64(b)) => integers::binary_i64(function, a, b).map(I64),
        (I32(a), I32(b)) => integers::binary_i32(function, a, b).map(I32),
        (I16(a), I16(b)) => integers::binary_i16(function, a, b).map(I16),
        (I8(a), I8(b)) => integers::binary_i8(function, a, b).map(I8),
        (U64(a), U64(b)) => integers::binary_u64(function, a, b).map(U64),
        (U32(a), U32(b)) => integers::binary_u32(function, a, b).map(U32),
        (U16(a), U16(b)) => integers::binary_u16(function, a, b).map(U16),
        (U8(a), U8(b)) => integers::binary_u8(function, a, b).map(U8),
        _ => None,
    }
}

/// V-2. `None` for an ordering of bools, which are only equal or not equal.
fn compare(comparison: Comparison, a: Scalar, b: Scalar) -> Option<bool> {
    if let (Scalar::Bool(a), Scalar::Bool(b)) = (a, b) {
        return match comparison {
            Comparison::Equal => Some(a == b),
            Comparison::NotEqual => Some(a != b),
            Comparison::Less | Comparison::LessEqual | Comparison::Greater | Comparison::GreaterEqual => None,
        };
    }
    assert_eq!(a.dtype(), b.dtype(), "{comparison:?} of two dtypes");
    // Floats as f64 and integers as i128 are exact. IEEE 754: NaN is unordered and differs from everything,
    // and the zeros are equal.
    let order = match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => Some(a.as_i128()?.cmp(&b.as_i128()?)),
    };
    Some(match comparison {
        Comparison::Equal => order.is_some_and(Ordering::is_eq),
        Comparison::NotEqual => order.is_none_or(Ordering::is_ne),
        Comparison::Less => order.is_some_and(Ordering::is_lt),
        Comparison::LessEqual => order.is_some_and(Ordering::is_le),
        Comparison::Greater => order.is_some_and(Ordering::is_gt),
        Comparison::GreaterEqual => order.is_some_and(Ordering::is_ge),
    })
}

#[cfg(test)]
mod tests;
