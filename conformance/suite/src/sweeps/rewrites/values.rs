//! The special values that the operands of rewrites have, and which of them an optimiser may treat as
//! constants.

use super::super::arithmetic::{integer, number};
use broadcheck_spec::half::bf16;
use broadcheck_spec::{DType, Scalar};

/// As many elements as every vector has at least; more for dtypes of one byte.
pub(super) fn least_length(dtype: DType) -> usize {
    match dtype {
        DType::I8 | DType::U8 | DType::Bool => 70,
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::I64 | DType::I32 | DType::I16 => 35,
        DType::U64 | DType::U32 | DType::U16 => 35,
    }
}

/// As many elements as a row of a matrix has at least: a vector of 16, and one more.
pub(super) const LEAST_ROW: usize = 17;

/// The special values of a dtype.
pub(super) fn values(dtype: DType) -> Vec<Scalar> {
    // `inexact` is not the reciprocal of its rounded reciprocal.
    let floats = |digits: i32, large: f64, most: f64, inexact: f64| {
        // Half an ULP of 1: added to 1, it is lost.
        let tiny = 0.5f64.powi(digits);
        let finite = [0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 0.5, 0.1, tiny, large, -large, most];
        let all = finite.into_iter().chain([f64::INFINITY, f64::NEG_INFINITY, f64::NAN, inexact]);
        all.map(|value| number(dtype, value)).collect()
    };
    let signed = |bits: u32| {
        let end = 1i128 << (bits - 1);
        let root = 1i128 << (bits / 2);
        // The least number whose square wraps to a negative one.
        let wraps = end.isqrt() + 1;
        [0, 1, -1, 2, -3, 7, root, -root, end - 1, -end, 1 - end, wraps]
            .map(|value| integer(dtype, value))
            .to_vec()
    };
    let unsigned = |bits: u32| {
        let end = 1i128 << bits;
        let root = 1i128 << (bits / 2);
        [0, 1, 2, 3, 7, root, end / 2, end / 2 - 1, end - 2, end - 3, end - 1, root - 1]
            .map(|value| integer(dtype, value))
            .to_vec()
    };
    match dtype {
        DType::F64 => floats(53, 2f64.powi(1000), f64::MAX, 49.0),
        DType::F32 => floats(24, 2f64.powi(100), f32::MAX.into(), 13.0),
        DType::F16 => floats(11, 2f64.powi(10), 65_504.0, 49.0),
        DType::Bf16 => floats(8, 2f64.powi(100), bf16::MAX.into(), 13.0),
        DType::I64 => signed(64),
        DType::I32 => signed(32),
        DType::I16 => signed(16),
        DType::I8 => signed(8),
        DType::U64 => unsigned(64),
        DType::U32 => unsigned(32),
        DType::U16 => unsigned(16),
        DType::U8 => unsigned(8),
        DType::Bool => [false, true].map(Scalar::Bool).to_vec(),
    }
}

/// The places in [`values`] of those that an optimiser may treat as constants: 0, -0, 1 and infinity; 0, 1
/// and the largest or the least; both bools.
pub(super) fn constants(dtype: DType) -> &'static [usize] {
    match dtype {
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 => &[0, 1, 2, 12],
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => &[0, 1, 2, 9],
        DType::U64 | DType::U32 | DType::U16 | DType::U8 => &[0, 1, 2, 10],
        DType::Bool => &[0, 1],
    }
}

/// The place of 1 in [`values`].
pub(super) const ONE: usize = 2;

/// Values of two scalars beside a vector, as places in [`values`]: two whose sum or product is rounded, or
/// wraps, otherwise than one after the other; and two that cancel, or are far apart.
pub(super) const PAIRS: [fn(DType) -> [usize; 2]; 2] = [
    |dtype| match dtype.is_float() {
        true => [8, 8],
        false => [8, 1],
    },
    |dtype| match dtype.is_float() {
        true => [9, 9],
        false => [9, 2],
    },
];
