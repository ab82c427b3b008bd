//! The values that [`judge`](super::judge) admits at each element, for consumers that cannot call it: an
//! export lists them in `result.admitted`.

#![warn(clippy::wildcard_enum_match_arm)]

use super::admissible::Admissible;
use super::elements::{Rule, elements};
use super::ranges::{ValueRange, ZEROS};
use super::ulp::from_key;
use super::{Difference, Latitude};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{Admitted, DType, ExpectedResult, Request, Scalar};
use std::collections::BTreeMap;

/// The right values of each element of a result that has more than one, by the element's position in
/// row-major order. An answer of the expected dtype and shape passes [`judge`](super::judge) with the same
/// latitude if each element is admitted by one of its entries or, where it has none, equals the expected
/// value by clause V-1. The intermediate and the flags of a result have no latitude.
///
/// # Errors
/// The first expected value that is itself wrong, so that `judge` rejects every answer.
pub fn admitted(
    request: &Request,
    expected: &ExpectedResult,
    latitude: Latitude,
) -> Result<BTreeMap<usize, Vec<Admitted>>, Difference> {
    let rule = Rule::of(request, expected, latitude);
    let tensor = &expected.tensor;
    elements(tensor, tensor, &rule)?;
    let mut admitted = BTreeMap::new();
    for (place, value) in tensor.values().iter().enumerate() {
        let entries = entries(&rule.right(place, tensor.shape(), value), value.dtype());
        if entries != [Admitted::Value(value)] {
            admitted.insert(place, entries);
        }
    }
    Ok(admitted)
}

/// A set as a list, in ascending order; NaN comes last.
fn entries(set: &Admissible, dtype: DType) -> Vec<Admitted> {
    match set {
        Admissible::Points(points) => {
            let mut points = points.clone();
            points.sort_by_key(|point| point.as_i128().unwrap_or_else(|| point.to_bits().into()));
            points.into_iter().map(Admitted::Value).collect()
        }
        Admissible::Floats(floats) => {
            let nan = floats.nan.then(|| Admitted::Value(nan_of(dtype)));
            floats.ranges.iter().flat_map(|&range| numbers(range, dtype)).chain(nan).collect()
        }
        Admissible::Anything => everything(dtype),
    }
}

/// The two zeros, which an interval cannot tell apart, are listed as two values.
fn numbers(range: ValueRange, dtype: DType) -> Vec<Admitted> {
    let ends @ [lower, upper] = [range.low, range.high].map(|key| from_key(dtype, key));
    if range.is_point() {
        vec![Admitted::Value(lower)]
    } else if [range.low, range.high] == ZEROS {
        ends.map(Admitted::Value).to_vec()
    } else {
        vec![Admitted::Between { lower, upper }]
    }
}

/// Every value of a dtype.
fn everything(dtype: DType) -> Vec<Admitted> {
    let [lower, upper] = match dtype {
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 => {
            let whole = numbers(ValueRange::whole(dtype), dtype);
            return whole.into_iter().chain([Admitted::Value(nan_of(dtype))]).collect();
        }
        DType::Bool => return [false, true].map(|value| Admitted::Value(Scalar::Bool(value))).to_vec(),
        DType::I64 => [i64::MIN, i64::MAX].map(Scalar::I64),
        DType::I32 => [i32::MIN, i32::MAX].map(Scalar::I32),
        DType::I16 => [i16::MIN, i16::MAX].map(Scalar::I16),
        DType::I8 => [i8::MIN, i8::MAX].map(Scalar::I8),
        DType::U64 => [u64::MIN, u64::MAX].map(Scalar::U64),
        DType::U32 => [u32::MIN, u32::MAX].map(Scalar::U32),
        DType::U16 => [u16::MIN, u16::MAX].map(Scalar::U16),
        DType::U8 => [u8::MIN, u8::MAX].map(Scalar::U8),
    };
    vec![Admitted::Between { lower, upper }]
}

/// The NaN that stands for all: quiet, without a sign and a payload.
fn nan_of(dtype: DType) -> Scalar {
    match dtype {
        DType::F64 => Scalar::F64(f64::NAN),
        DType::F32 => Scalar::F32(f32::NAN),
        DType::F16 => Scalar::F16(f16::NAN),
        DType::Bf16 => Scalar::Bf16(bf16::NAN),
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
