//! In which banks of registers dtypes are computed, and what is rounded.
#![deny(clippy::wildcard_enum_match_arm)]

use super::steps::Half;
use crate::scratch::{Bank, FloatBank};
use broadcheck_spec::{DType, Function};

/// The bank in which a dtype is computed.
pub(crate) fn bank_of(dtype: DType) -> Bank {
    match dtype {
        DType::F64 => Bank::F64,
        DType::F32 | DType::F16 | DType::Bf16 => Bank::F32,
        DType::I64 => Bank::I64,
        DType::I32 => Bank::I32,
        DType::I16 => Bank::I16,
        DType::I8 => Bank::I8,
        DType::U64 => Bank::U64,
        DType::U32 => Bank::U32,
        DType::U16 => Bank::U16,
        DType::U8 => Bank::U8,
        DType::Bool => Bank::Bool,
    }
}

/// The bytes of an element of a bank.
pub(crate) fn bytes(bank: Bank) -> usize {
    match bank {
        Bank::F64 | Bank::I64 | Bank::U64 => 8,
        Bank::F32 | Bank::I32 | Bank::U32 => 4,
        Bank::I16 | Bank::U16 => 2,
        Bank::I8 | Bank::U8 | Bank::Bool => 1,
    }
}

/// The half that a dtype is, if it is one.
pub(crate) fn half(dtype: DType) -> Option<Half> {
    match dtype {
        DType::F16 => Some(Half::F16),
        DType::Bf16 => Some(Half::Bf16),
        DType::F64
        | DType::F32
        | DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U64
        | DType::U32
        | DType::U16
        | DType::U8
        | DType::Bool => None,
    }
}

/// Whether a dtype is a float that is computed as it is stored.
pub(super) fn is_plain_float(dtype: DType) -> bool {
    FloatBank::of(bank_of(dtype)).is_some() && half(dtype).is_none()
}

/// The half to which a function's result is rounded. A result that is one of the arguments, or differs from
/// one only in its sign, needs no rounding.
pub(super) fn rounding(function: Function, dtype: DType) -> Option<Half> {
    use Function as F;
    match function {
        F::Add | F::Subtract | F::Multiply | F::Divide | F::Power | F::Sqrt | F::Exp | F::Log | F::Tanh => {
            half(dtype)
        }
        F::Maximum
        | F::Minimum
        | F::Negate
        | F::Abs
        | F::Equal
        | F::NotEqual
        | F::Less
        | F::LessEqual
        | F::Greater
        | F::GreaterEqual
        | F::LogicalAnd
        | F::LogicalOr
        | F::LogicalNot
        | F::Select => None,
    }
}
