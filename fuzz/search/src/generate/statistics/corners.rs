//! Finds the special values of the dtypes.

use broadcheck_spec::{DType, Data, Scalar};

/// The special values.
pub(super) const NAMES: [&str; 9] = [
    "nan",
    "nan with another payload",
    "-0",
    "subnormal",
    "infinity",
    "largest or least",
    "all distinct",
    "true",
    "false",
];

/// The special values among a buffer's first values, as indices into [`NAMES`].
pub(super) fn found(values: &Data) -> impl Iterator<Item = usize> {
    let mut found = [false; NAMES.len()];
    let first: Vec<Scalar> = values.iter().take(64).collect();
    for scalar in &first {
        if let Some(number) = scalar.as_f64() {
            found[0] |= number.is_nan();
            found[1] |= number.is_nan() && !is_plain_nan(*scalar);
            found[2] |= number == 0.0 && number.is_sign_negative();
            found[3] |= number != 0.0 && number.abs() < least_normal(scalar.dtype());
            found[4] |= number.is_infinite();
        }
        if let Scalar::Bool(value) = scalar {
            found[if *value { 7 } else { 8 }] = true;
        }
        found[5] |= is_extreme(*scalar);
    }
    let mut bits: Vec<u64> = first.iter().map(|scalar| scalar.to_bits()).collect();
    bits.sort_unstable();
    found[6] = bits.len() > 3 && bits.windows(2).all(|pair| pair[0] != pair[1]);
    (0..NAMES.len()).filter(move |&place| found[place])
}

/// A NaN with the default payload, of either sign.
fn is_plain_nan(scalar: Scalar) -> bool {
    let (quiet, sign) = match scalar.dtype() {
        DType::F64 => (f64::NAN.to_bits(), 1 << 63),
        DType::F32 => (f32::NAN.to_bits().into(), 1 << 31),
        DType::F16 => (0x7e00, 1 << 15),
        DType::Bf16 => (0x7fc0, 1 << 15),
        DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U64
        | DType::U32
        | DType::U16
        | DType::U8
        | DType::Bool => return false,
    };
    scalar.to_bits() & !sign == quiet & !sign
}

fn least_normal(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => f64::MIN_POSITIVE,
        DType::F16 => 2f64.powi(-14),
        DType::F32 | DType::Bf16 => f32::MIN_POSITIVE.into(),
        // Integers and booleans have no subnormals.
        DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U64
        | DType::U32
        | DType::U16
        | DType::U8
        | DType::Bool => 0.0,
    }
}

fn is_extreme(scalar: Scalar) -> bool {
    match scalar {
        Scalar::I64(value) => value == i64::MIN || value == i64::MAX,
        Scalar::I32(value) => value == i32::MIN || value == i32::MAX,
        Scalar::I16(value) => value == i16::MIN || value == i16::MAX,
        Scalar::I8(value) => value == i8::MIN || value == i8::MAX,
        Scalar::U64(value) => value == u64::MAX,
        Scalar::U32(value) => value == u32::MAX,
        Scalar::U16(value) => value == u16::MAX,
        Scalar::U8(value) => value == u8::MAX,
        Scalar::F64(value) => value.abs() == f64::MAX,
        Scalar::F32(value) => value.abs() == f32::MAX,
        Scalar::F16(_) | Scalar::Bf16(_) | Scalar::Bool(_) => false,
    }
}
