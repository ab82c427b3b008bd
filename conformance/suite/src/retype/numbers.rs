//! The same numbers in another dtype.

#![warn(clippy::wildcard_enum_match_arm)]

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Data, Scalar};

/// The least and the largest integer of those that a dtype represents without a gap; at most those of f64.
pub(crate) fn integers(dtype: DType) -> (i64, i64) {
    let around_zero = |most: i64| (-most, most);
    match dtype {
        DType::F64 | DType::I64 => around_zero(1 << 53),
        DType::F32 => around_zero(1 << 24),
        DType::F16 => around_zero(1 << 11),
        DType::Bf16 => around_zero(1 << 8),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::U64 => (0, 1 << 53),
        DType::U32 => (0, u32::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::Bool => (0, 0),
    }
}

/// Integers in a dtype.
///
/// # Panics
/// If the dtype does not represent one of them.
pub(crate) fn data(dtype: DType, values: impl IntoIterator<Item = i64>) -> Data {
    let value = |value| number(Scalar::I64(value), dtype).expect("an integer that the dtype represents");
    Data::from_scalars(dtype, values.into_iter().map(value)).expect("scalars of the dtype")
}

/// The same numbers in another dtype; `None` if it does not represent all of them, or if one is NaN, infinite
/// or -0.
pub(super) fn converted(values: &Data, to: DType) -> Option<Data> {
    let mut found = Data::empty(to);
    for value in values.iter() {
        found.push(number(value, to)?).ok()?;
    }
    Some(found)
}

/// The same numbers in another dtype, where only the numbers at the positions `read` (sorted) have to be
/// representable. Each other one that is not is replaced by a number that is not read: a larger one if
/// possible, so that it shows in sums and maxima.
pub(super) fn with_replacements(values: &Data, read: &[usize], to: DType) -> Option<Data> {
    let mut found = vec![None; values.len()];
    for (place, value) in found.iter_mut().zip(values.iter()) {
        *place = number(value, to);
    }
    let read: Option<Vec<Scalar>> = read.iter().map(|&place| found.get(place).copied().flatten()).collect();
    let spare = unused(&read?, to)?;
    Data::from_scalars(to, found.into_iter().map(|value| value.unwrap_or(spare))).ok()
}

/// An integer that is none of these numbers: the next above the largest, or else the largest below it.
fn unused(taken: &[Scalar], to: DType) -> Option<Scalar> {
    /// Every numeric dtype represents the integers up to here.
    const HIGHEST: u8 = 127;
    let candidate = |value: u8| number(Scalar::U8(value), to);
    let largest =
        (0..=HIGHEST).rev().find(|&value| candidate(value).is_some_and(|value| taken.contains(&value)));
    let above = largest.map_or(1, |largest| largest + 1);
    let free = |value: &Scalar| !taken.contains(value);
    (above..=HIGHEST).chain((0..above).rev()).filter_map(candidate).find(free)
}

/// The same number in another dtype; `None` if it is not exactly representable, or NaN, infinite or -0. A
/// bool is not a number.
pub(super) fn number(value: Scalar, to: DType) -> Option<Scalar> {
    match to {
        DType::F64 => float(value).map(Scalar::F64),
        DType::F32 => narrowed(value, |value| Scalar::F32(as_f32(value))),
        DType::F16 => narrowed(value, |value| Scalar::F16(f16::from_f64(value))),
        DType::Bf16 => narrowed(value, |value| Scalar::Bf16(bf16::from_f64(value))),
        DType::I64 => whole(value)?.try_into().ok().map(Scalar::I64),
        DType::I32 => whole(value)?.try_into().ok().map(Scalar::I32),
        DType::I16 => whole(value)?.try_into().ok().map(Scalar::I16),
        DType::I8 => whole(value)?.try_into().ok().map(Scalar::I8),
        DType::U64 => whole(value)?.try_into().ok().map(Scalar::U64),
        DType::U32 => whole(value)?.try_into().ok().map(Scalar::U32),
        DType::U16 => whole(value)?.try_into().ok().map(Scalar::U16),
        DType::U8 => whole(value)?.try_into().ok().map(Scalar::U8),
        DType::Bool => None,
    }
}

fn narrowed(value: Scalar, round: impl Fn(f64) -> Scalar) -> Option<Scalar> {
    let value = float(value)?;
    let rounded = round(value);
    (rounded.as_f64()?.to_bits() == value.to_bits()).then_some(rounded)
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the caller compares the rounded number with the original"
)]
fn as_f32(value: f64) -> f32 {
    value as f32
}

/// The number as an f64, if it is one: finite and not -0.
fn float(value: Scalar) -> Option<f64> {
    if let Some(value) = value.as_f64() {
        return (value.is_finite() && !(value == 0.0 && value.is_sign_negative())).then_some(value);
    }
    let value = value.as_i128()?;
    #[allow(clippy::cast_precision_loss, reason = "the next line tests that nothing was lost")]
    let float = value as f64;
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a float of an integer of 64 bits is whole and below 2^65"
    )]
    let back = float as i128;
    (back == value).then_some(float)
}

/// The number as an integer, if it is one.
pub(super) fn whole(value: Scalar) -> Option<i128> {
    /// 2^64: no dtype has a larger integer.
    const LIMIT: f64 = 18_446_744_073_709_551_616.0;
    if let Some(value) = value.as_i128() {
        return Some(value);
    }
    let value = float(value)?;
    #[allow(clippy::cast_possible_truncation, reason = "the value is whole and below 2^64")]
    (value.fract() == 0.0 && value.abs() < LIMIT).then_some(value as i128)
}
