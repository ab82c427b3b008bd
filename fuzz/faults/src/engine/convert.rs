//! Converts values between dtypes: what no rule asks for, but many faults do.

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Scalar};

/// A value cast to another dtype as in C: floats round, integers wrap.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "that is what a cast does")]
pub(crate) fn convert(value: Scalar, dtype: DType) -> Scalar {
    if value.dtype() == dtype {
        return value;
    }
    let float = as_f64(value);
    let integer = value.as_i128().unwrap_or(float as i128);
    match dtype {
        DType::F64 => Scalar::F64(float),
        DType::F32 => Scalar::F32(float as f32),
        DType::F16 => Scalar::F16(f16::from_f64(float)),
        DType::Bf16 => Scalar::Bf16(bf16::from_f64(float)),
        DType::I64 => Scalar::I64(integer as i64),
        DType::I32 => Scalar::I32(integer as i32),
        DType::I16 => Scalar::I16(integer as i16),
        DType::I8 => Scalar::I8(integer as i8),
        DType::U64 => Scalar::U64(integer as u64),
        DType::U32 => Scalar::U32(integer as u32),
        DType::U16 => Scalar::U16(integer as u16),
        DType::U8 => Scalar::U8(integer as u8),
        DType::Bool => Scalar::Bool(float != 0.0),
    }
}

/// Any value as an f64. A boolean is 0 or 1.
#[allow(clippy::cast_precision_loss, reason = "the nearest f64 is intended")]
pub(crate) fn as_f64(value: Scalar) -> f64 {
    if let Scalar::Bool(truth) = value {
        return f64::from(u8::from(truth));
    }
    value.as_f64().or(value.as_i128().map(|integer| integer as f64)).unwrap_or(0.0)
}

/// The zero of a dtype.
pub(crate) fn zero(dtype: DType) -> Scalar {
    convert(Scalar::Bool(false), dtype)
}

/// The dtype to which two dtypes are promoted, if a fault promotes.
pub(super) fn wider(a: DType, b: DType) -> DType {
    let rank = |dtype| DType::ALL.iter().rev().position(|&other| other == dtype);
    if rank(a) >= rank(b) { a } else { b }
}
