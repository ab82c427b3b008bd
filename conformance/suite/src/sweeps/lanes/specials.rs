//! The special values of each dtype.

use super::super::arithmetic::{Format, float, integer, power_of_two};
use broadcheck_spec::{DType, NumberKind, Scalar};

/// The values at which kernels go wrong, without subnormals: NaN, infinities, zeros, the ends of the range
/// and their neighbours, powers of two and their neighbours, and numbers that are not exact reciprocals.
pub(in super::super) fn specials(dtype: DType) -> Vec<Scalar> {
    match dtype.kind() {
        NumberKind::Float => floats(dtype),
        NumberKind::Integer => integers(dtype),
        NumberKind::Truth => vec![Scalar::Bool(false), Scalar::Bool(true)],
    }
}

/// Subnormal numbers, and what they meet at the ends of their range; empty for a dtype other than a float.
pub(in super::super) fn subnormals(dtype: DType) -> Vec<Scalar> {
    if !dtype.is_float() {
        return Vec::new();
    }
    let format = Format::of(dtype);
    let smallest = power_of_two(format.smallest());
    let normal = power_of_two(format.lowest());
    let most = normal - smallest;
    let middle = 5.0 * smallest;
    let subnormal = [smallest, -smallest, most, -most, middle];
    let others =
        [normal, -normal, normal + smallest, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, f64::INFINITY, f64::NAN];
    subnormal.into_iter().chain(others).chain([format.largest()]).map(|value| float(dtype, value)).collect()
}

fn floats(dtype: DType) -> Vec<Scalar> {
    let format = Format::of(dtype);
    let one = power_of_two(1 - format.digits);
    // The integers from here on are not all represented.
    let integer = power_of_two(format.digits);
    let normal = power_of_two(format.lowest());
    let root = power_of_two(format.highest.midpoint(1));
    let (largest, infinity) = (format.largest(), f64::INFINITY);
    let values = [
        [f64::NAN, -f64::NAN, infinity, -infinity],
        [0.0, -0.0, 1.0, -1.0],
        [normal, -normal, largest, -largest],
        [1.0 + one, 1.0 - one / 2.0, 0.5, -0.5],
        [integer, integer - 1.0, integer + 2.0, root],
        [2.0, -2.0, 3.0, -7.0],
        [10.0, 49.0, 1.5, 1.0 / 3.0],
    ];
    values.into_iter().flatten().map(|value| float(dtype, value)).collect()
}

fn integers(dtype: DType) -> Vec<Scalar> {
    let bits: u32 = match dtype {
        DType::I64 | DType::U64 => 64,
        DType::I32 | DType::U32 => 32,
        DType::I16 | DType::U16 => 16,
        _ => 8,
    };
    // As a pattern of bits, so that the same list is about the sign, the carry and the halves of both kinds.
    let power = |exponent: u32| 1i128 << exponent;
    let (end, half, quarter, root) = (power(bits), power(bits - 1), power(bits - 2), power(bits / 2));
    let mut values = vec![0, 1, 2, 3, 10, 100, end - 1, end - 2, end - 3, half, half - 1, half + 1, half - 2];
    values.extend([quarter, quarter - 1, quarter + 1, end - quarter, root, root - 1, root + 1, end - root]);
    values.extend([end / 3, end / 3 * 2]);
    // The limits of the narrower dtypes, and of the integers that f32 and f64 represent.
    let narrower = [7, 8, 15, 16, 24, 31, 32, 53].into_iter().filter(|&exponent| exponent + 1 < bits);
    values.extend(narrower.flat_map(|exponent| [power(exponent), power(exponent) - 1]));
    values.extend((bits == 32).then_some(power(24) + 1));
    values.extend((bits == 64).then_some(power(53) + 1));
    let mut found: Vec<Scalar> = Vec::new();
    for value in values {
        let value = integer(dtype, value);
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}
