//! The values of functions at the edges: infinities, zeros, NaN, integer limits.

use crate::engine::convert::as_f64;
use crate::{Class, Fault};
use broadcheck_reference::apply;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{Function, Scalar};

fn is_nan(value: Scalar) -> bool {
    value.as_f64().is_some_and(f64::is_nan)
}

/// The nearest integer of the same dtype as `like`.
fn saturated(value: i128, like: Scalar) -> Scalar {
    macro_rules! saturated {
        ($($variant:ident $type:ty),*) => {
            match like {
                $(Scalar::$variant(_) => {
                    let bounded = value.clamp(<$type>::MIN.into(), <$type>::MAX.into());
                    Scalar::$variant(<$type>::try_from(bounded).unwrap_or_default())
                })*
                Scalar::F64(_) | Scalar::F32(_) | Scalar::F16(_) | Scalar::Bf16(_) | Scalar::Bool(_) => like,
            }
        };
    }
    saturated!(I64 i64, I32 i32, I16 i16, I8 i8, U64 u64, U32 u32, U16 u16, U8 u8)
}

fn saturating(function: Function, values: &[Scalar]) -> Scalar {
    let integers: Option<Vec<i128>> = values.iter().map(|value| value.as_i128()).collect();
    match (function, integers.as_deref()) {
        (Function::Add, Some(&[a, b])) => saturated(a + b, values[0]),
        (Function::Subtract, Some(&[a, b])) => saturated(a - b, values[0]),
        (Function::Multiply, Some(&[a, b])) => saturated(a.saturating_mul(b), values[0]),
        (Function::Negate, Some(&[a])) => saturated(-a, values[0]),
        _ => apply(function, values),
    }
}

/// Replaces a subnormal by the zero of its sign.
fn flushed(value: Scalar) -> Scalar {
    match value {
        Scalar::F64(v) if v.is_subnormal() => Scalar::F64(0f64.copysign(v)),
        Scalar::F32(v) if v.is_subnormal() => Scalar::F32(0f32.copysign(v)),
        Scalar::F16(v) if v.to_f64() != 0.0 && v.to_f64().abs() < f16::MIN_POSITIVE.to_f64() => {
            Scalar::F16(if v.is_sign_negative() { f16::NEG_ZERO } else { f16::ZERO })
        }
        Scalar::Bf16(v) if v.to_f64() != 0.0 && v.to_f64().abs() < bf16::MIN_POSITIVE.to_f64() => {
            Scalar::Bf16(if v.is_sign_negative() { bf16::NEG_ZERO } else { bf16::ZERO })
        }
        Scalar::F64(_) | Scalar::F32(_) | Scalar::F16(_) | Scalar::Bf16(_) | Scalar::Bool(_) => value,
        Scalar::I64(_) | Scalar::I32(_) | Scalar::I16(_) | Scalar::I8(_) => value,
        Scalar::U64(_) | Scalar::U32(_) | Scalar::U16(_) | Scalar::U8(_) => value,
    }
}

/// select as arithmetic: the branch not taken is multiplied by 0.
fn blended(function: Function, values: &[Scalar]) -> Scalar {
    if let (Function::Select, [Scalar::Bool(condition), then, otherwise]) = (function, values)
        && let (Scalar::F64(then), Scalar::F64(otherwise)) = (then, otherwise)
    {
        let taken = f64::from(u8::from(*condition));
        return Scalar::F64(taken * then + (1.0 - taken) * otherwise);
    }
    apply(function, values)
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "dtypes/integers-saturate",
        class: Class::Dtypes,
        title: "Integers saturate instead of wrapping.",
        reports: &[],
        plant: |d| d.evaluate.apply = saturating,
    },
    Fault {
        id: "dtypes/absolute-minimum",
        class: Class::Dtypes,
        title: "abs of the smallest integer is the largest.",
        reports: &[],
        plant: |d| {
            d.evaluate.apply = |function, values| match (function, values[0].as_i128()) {
                (Function::Abs, Some(value)) => saturated(value.abs(), values[0]),
                _ => apply(function, values),
            };
        },
    },
    Fault {
        id: "dtypes/nan-loses",
        class: Class::Dtypes,
        title: "maximum and minimum return the other argument if one is NaN.",
        reports: &[],
        plant: |d| {
            d.evaluate.apply = |function, values| match (function, values) {
                (Function::Maximum | Function::Minimum, &[a, b]) if is_nan(a) => b,
                (Function::Maximum | Function::Minimum, &[a, b]) if is_nan(b) => a,
                _ => apply(function, values),
            };
        },
    },
    Fault {
        id: "dtypes/nan-if-first",
        class: Class::Dtypes,
        title: "maximum is a > b ? a : b, which returns b if a is NaN.",
        reports: &[],
        plant: |d| {
            d.evaluate.apply = |function, values| match (function, values) {
                (Function::Maximum | Function::Minimum, &[a, b]) if is_nan(a) && !is_nan(b) => b,
                _ => apply(function, values),
            };
        },
    },
    Fault {
        id: "dtypes/nan-equals-itself",
        class: Class::Dtypes,
        title: "NaN equals NaN.",
        reports: &[],
        plant: |d| {
            d.evaluate.apply = |function, values| match (function, values) {
                (Function::Equal, &[a, b]) if is_nan(a) && is_nan(b) => Scalar::Bool(true),
                _ => apply(function, values),
            };
        },
    },
    Fault {
        id: "dtypes/not-equal-is-less-or-greater",
        class: Class::Dtypes,
        title: "not_equal is computed as less or greater, which is false for NaN.",
        reports: &[],
        plant: |d| {
            d.evaluate.apply = |function, values| match (function, values) {
                (Function::NotEqual, &[a, b]) if is_nan(a) || is_nan(b) => Scalar::Bool(false),
                _ => apply(function, values),
            };
        },
    },
    Fault {
        id: "dtypes/zeros-unordered",
        class: Class::Dtypes,
        title: "maximum and minimum return the first of two zeros.",
        reports: &[],
        plant: |d| {
            d.evaluate.apply = |function, values| match (function, values) {
                (Function::Maximum | Function::Minimum, &[a, b]) if as_f64(a) == 0.0 && as_f64(b) == 0.0 => a,
                _ => apply(function, values),
            };
        },
    },
    Fault {
        id: "dtypes/negate-subtracts",
        class: Class::Dtypes,
        title: "negate is computed as 0 - x, which gives +0 for +0.",
        reports: &[],
        plant: |d| {
            d.evaluate.apply = |function, values| match (function, values) {
                (Function::Negate, &[x]) if x.as_f64() == Some(0.0) => apply(Function::Abs, values),
                _ => apply(function, values),
            };
        },
    },
    Fault {
        id: "dtypes/subnormals-flushed",
        class: Class::Dtypes,
        title: "A subnormal result is flushed to zero.",
        reports: &[],
        plant: |d| d.evaluate.apply = |function, values| flushed(apply(function, values)),
    },
    Fault {
        id: "dtypes/divide-by-reciprocal",
        class: Class::Dtypes,
        title: "divide multiplies by the reciprocal, which rounds twice.",
        reports: &[],
        plant: |d| {
            d.evaluate.apply = |function, values| match (function, values) {
                (Function::Divide, &[Scalar::F64(a), Scalar::F64(b)]) => Scalar::F64(a * (1.0 / b)),
                (Function::Divide, &[Scalar::F32(a), Scalar::F32(b)]) => Scalar::F32(a * (1.0 / b)),
                _ => apply(function, values),
            };
        },
    },
    Fault {
        id: "dtypes/multiply-add-contracted",
        class: Class::Dtypes,
        title: "A multiplication and the addition that uses it are rounded only once.",
        reports: &[],
        plant: |d| {
            d.evaluate.contracts = |outer, inner| outer == Function::Add && inner == Function::Multiply;
        },
    },
    Fault {
        id: "dtypes/select-blends",
        class: Class::Dtypes,
        title: "select multiplies the branch that it does not take by 0, so an infinity there becomes NaN.",
        reports: &[],
        plant: |d| d.evaluate.apply = blended,
    },
    Fault {
        id: "dtypes/bfloat-truncated",
        class: Class::Dtypes,
        title: "A result is truncated to bf16 instead of rounded.",
        reports: &[],
        plant: |d| {
            d.evaluate.apply = |function, values| match (function, values) {
                (Function::Add, &[Scalar::Bf16(a), Scalar::Bf16(b)]) => truncated(a.to_f32() + b.to_f32()),
                (Function::Subtract, &[Scalar::Bf16(a), Scalar::Bf16(b)]) => {
                    truncated(a.to_f32() - b.to_f32())
                }
                (Function::Multiply, &[Scalar::Bf16(a), Scalar::Bf16(b)]) => {
                    truncated(a.to_f32() * b.to_f32())
                }
                _ => apply(function, values),
            };
        },
    },
];

#[allow(clippy::cast_possible_truncation, reason = "the upper half has 16 bits")]
fn truncated(value: f32) -> Scalar {
    Scalar::Bf16(if value.is_nan() { bf16::NAN } else { bf16::from_bits((value.to_bits() >> 16) as u16) })
}
