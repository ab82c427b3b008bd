//! The innermost loop of a vectorised kernel: instructions that are almost the right ones, whole vectors that
//! differ from the tail, and variants for an argument that is the same for all lanes.

/// A fault in the values of lanes: `None` leaves the value as it is.
macro_rules! lanes {
    (|$lane:ident| $body:expr) => {
        |d| d.lanes.value = |$lane, value| (|| $body)().unwrap_or(value)
    };
    (|$lane:ident, $value:ident| $body:expr) => {
        |d| d.lanes.value = |$lane, $value| (|| $body)().unwrap_or($value)
    };
}

pub(super) mod instructions;
pub(super) mod loops;

use super::invented;
use crate::engine::convert::{as_f64, convert, zero};
use crate::engine::lanes::Lane;
use crate::{Class, Fault};
use broadcheck_reference::apply;
use broadcheck_spec::Function as F;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Scalar};

const K: Class = Class::Kernels;

impl Lane<'_> {
    /// Whether this is a call of the function with arguments of the dtype.
    fn is(&self, function: F, dtype: DType) -> bool {
        self.function == function && self.dtype() == dtype
    }

    /// The arguments as integers.
    fn integers<const N: usize>(&self) -> Option<[i128; N]> {
        let values: Option<Vec<i128>> = self.arguments.iter().map(|value| value.as_i128()).collect();
        values?.try_into().ok()
    }

    /// The arguments as floats.
    fn floats<const N: usize>(&self) -> Option<[f64; N]> {
        let values: Option<Vec<f64>> = self.arguments.iter().map(|value| value.as_f64()).collect();
        values?.try_into().ok()
    }

    /// A number in the dtype of the arguments. Integers wrap.
    fn number(&self, value: f64) -> Scalar {
        convert(Scalar::F64(value), self.dtype())
    }

    /// The elements of a vector of this many bytes.
    fn width(&self, bytes: usize) -> usize {
        let size = match self.dtype() {
            DType::F64 | DType::I64 | DType::U64 => 8,
            DType::F32 | DType::I32 | DType::U32 => 4,
            DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 2,
            DType::I8 | DType::U8 | DType::Bool => 1,
        };
        bytes / size
    }

    /// Whether the element is in a whole vector of this many bytes.
    fn in_bytes(&self, bytes: usize) -> bool {
        self.in_vector(self.width(bytes))
    }

    fn is_float(&self) -> bool {
        self.dtype().is_float()
    }

    /// The value of the call with exchanged arguments.
    fn exchanged(&self) -> Scalar {
        apply(self.function, &[self.arguments[1], self.arguments[0]])
    }
}

/// An integer of a dtype, wrapped.
fn integer(value: i128, dtype: DType) -> Scalar {
    #[allow(clippy::cast_possible_truncation, reason = "the bits that remain are those that are compared")]
    convert(Scalar::I64(value as i64), dtype)
}

/// The range of a narrow integer dtype.
fn range(dtype: DType) -> Option<(i128, i128)> {
    match dtype {
        DType::I8 => Some((-128, 127)),
        DType::U8 => Some((0, 255)),
        DType::I16 => Some((-32768, 32767)),
        DType::U16 => Some((0, 65535)),
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::Bool => None,
        DType::I64 | DType::I32 | DType::U64 | DType::U32 => None,
    }
}

/// Integers of at most 32 bits, in the signed dtype of the same width.
fn as_signed(dtype: DType) -> Option<DType> {
    match dtype {
        DType::U8 => Some(DType::I8),
        DType::U16 => Some(DType::I16),
        DType::U32 => Some(DType::I32),
        DType::U64 => Some(DType::I64),
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::Bool => None,
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => None,
    }
}

/// The call with its unsigned arguments taken as signed.
fn signed(lane: &Lane<'_>) -> Option<Scalar> {
    let dtype = as_signed(lane.dtype())?;
    let [a, b] = lane.integers()?;
    let value = apply(lane.function, &[integer(a, dtype), integer(b, dtype)]);
    Some(match value.as_i128() {
        Some(number) => integer(number, lane.dtype()),
        None => value,
    })
}

fn is_order(function: F) -> bool {
    matches!(function, F::Less | F::LessEqual | F::Greater | F::GreaterEqual)
}

fn is_extreme(function: F) -> bool {
    matches!(function, F::Maximum | F::Minimum)
}

fn is_arithmetic(function: F) -> bool {
    matches!(function, F::Add | F::Subtract | F::Multiply | F::Divide)
}

/// The exact result of arithmetic on narrow floats.
fn exact(lane: &Lane<'_>) -> Option<f64> {
    let [a, b] = lane.floats()?;
    match lane.function {
        F::Add => Some(a + b),
        F::Subtract => Some(a - b),
        F::Multiply => Some(a * b),
        _ => None,
    }
}

/// The nearest f16, ties away from zero.
fn away(value: f64) -> f16 {
    let nearest = f16::from_f64(value);
    if !nearest.is_finite() || nearest.to_f64().abs() >= value.abs() {
        return nearest;
    }
    let next = f16::from_bits(nearest.to_bits() + 1);
    let is_tie = (next.to_f64() - value).abs().to_bits() == (value - nearest.to_f64()).abs().to_bits();
    if is_tie { next } else { nearest }
}
