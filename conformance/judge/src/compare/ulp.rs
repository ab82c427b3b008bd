//! Orders floats: each value has a key, and the keys of neighbours differ by one (clause V-4).
//!
//! -0 is just below +0, and infinity is one step beyond the largest finite number.

#![warn(clippy::wildcard_enum_match_arm)]

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Scalar};

/// The key of a float; `None` for NaN and for values that are not floats.
pub(super) fn key(scalar: Scalar) -> Option<i64> {
    if scalar.as_f64()?.is_nan() {
        return None;
    }
    let sign_bit = sign_bit(scalar.dtype());
    let bits = scalar.to_bits();
    let magnitude = (bits & (sign_bit - 1)).cast_signed();
    Some(if bits & sign_bit == 0 { magnitude } else { -1 - magnitude })
}

/// The float of a key; infinity for keys beyond it.
pub(super) fn from_key(dtype: DType, key: i64) -> Scalar {
    let infinity = infinity_key(dtype);
    let key = key.clamp(-1 - infinity, infinity);
    // mutant: replace | with ^: a magnitude never has the sign bit
    let bits = if key >= 0 { key.cast_unsigned() } else { (-1 - key).cast_unsigned() | sign_bit(dtype) };
    let narrow32 = || u32::try_from(bits).expect("the bits of a narrower float");
    let narrow16 = || u16::try_from(bits).expect("the bits of a half");
    match dtype {
        DType::F64 => Scalar::F64(f64::from_bits(bits)),
        DType::F32 => Scalar::F32(f32::from_bits(narrow32())),
        DType::F16 => Scalar::F16(f16::from_bits(narrow16())),
        DType::Bf16 => Scalar::Bf16(bf16::from_bits(narrow16())),
        other @ (DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U64
        | DType::U32
        | DType::U16
        | DType::U8
        | DType::Bool) => unreachable!("{other} is not a float"),
    }
}

/// The key of +infinity: all keys of the dtype are between it and its mirror image.
pub(super) fn infinity_key(dtype: DType) -> i64 {
    match dtype {
        DType::F64 => f64::INFINITY.to_bits().cast_signed(),
        DType::F32 => f32::INFINITY.to_bits().into(),
        DType::F16 => f16::INFINITY.to_bits().into(),
        DType::Bf16 => bf16::INFINITY.to_bits().into(),
        other @ (DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U64
        | DType::U32
        | DType::U16
        | DType::U8
        | DType::Bool) => unreachable!("{other} is not a float"),
    }
}

/// The number of steps from one value to another, counting the two zeros as one point.
pub(super) fn distance(one: i64, other: i64) -> u64 {
    let (low, high) = (one.min(other), one.max(other));
    high.abs_diff(low) - u64::from(low < 0 && high >= 0)
}

fn sign_bit(dtype: DType) -> u64 {
    match dtype {
        DType::F64 => 1 << 63,
        DType::F32 => 1 << 31,
        DType::F16 | DType::Bf16 => 1 << 15,
        other @ (DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U64
        | DType::U32
        | DType::U16
        | DType::U8
        | DType::Bool) => unreachable!("{other} is not a float"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip_and_neighbours_differ_by_one() {
        for value in [0.0, -0.0, 1.0, -1.0, f64::MAX, f64::NEG_INFINITY, 5e-324] {
            let scalar = Scalar::F64(value);
            assert_eq!(from_key(DType::F64, key(scalar).unwrap()), scalar);
        }
        assert_eq!(key(Scalar::F32(0.0)), Some(0));
        assert_eq!(key(Scalar::F32(-0.0)), Some(-1));
        let largest = key(Scalar::F16(f16::MAX)).unwrap();
        assert_eq!(from_key(DType::F16, largest + 1), Scalar::F16(f16::INFINITY));
        assert_eq!(from_key(DType::F16, largest + 9), Scalar::F16(f16::INFINITY));
        assert_eq!(from_key(DType::Bf16, -infinity_key(DType::Bf16) - 9), Scalar::Bf16(bf16::NEG_INFINITY));
        assert_eq!(key(Scalar::F64(f64::NAN)), None);
        assert_eq!(key(Scalar::I8(1)), None);
    }

    #[test]
    fn there_is_no_step_between_the_zeros() {
        let distance = |a, b| distance(key(Scalar::F32(a)).unwrap(), key(Scalar::F32(b)).unwrap());
        assert_eq!(distance(0.0, -0.0), 0);
        assert_eq!(distance(f32::from_bits(2), -f32::from_bits(1)), 3);
        assert_eq!(distance(-1.0, (-1.0f32).next_up()), 1);
        assert_eq!(distance(f32::NEG_INFINITY, f32::INFINITY), 2 * 0x7f80_0000);
    }
}
