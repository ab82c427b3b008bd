//! Why a request has no plan, or why a plan cannot run on given buffers.

use broadcheck_spec::{DEFAULT_MAX_ELEMENTS, DType, Refusal};
use std::fmt;

/// Why a request has no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoPlan {
    /// The rule set refuses it.
    Refused(Refusal),
    /// The rule set accepts it, but a result or intermediate has more elements than this engine computes
    /// (clause G-1).
    TooManyElements {
        /// The number of elements.
        found: usize,
    },
    /// The engine has no kernel for an operation. This is a defect of the engine.
    NoKernel(NoKernel),
}

impl fmt::Display for NoPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPlan::Refused(refusal) => refusal.fmt(f),
            NoPlan::TooManyElements { found } => {
                write!(f, "{found} elements exceed the limit of {DEFAULT_MAX_ELEMENTS}")
            }
            NoPlan::NoKernel(missing) => missing.fmt(f),
        }
    }
}

impl std::error::Error for NoPlan {}

impl From<Refusal> for NoPlan {
    fn from(refusal: Refusal) -> NoPlan {
        NoPlan::Refused(refusal)
    }
}

/// An operation for which the engine has no kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoKernel {
    /// The name of the function, or what else was to be computed.
    pub operation: &'static str,
    /// The dtype of the value.
    pub dtype: DType,
}

impl fmt::Display for NoKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no kernel computes {} of {}", self.operation, self.dtype)
    }
}

impl std::error::Error for NoKernel {}

impl From<NoKernel> for NoPlan {
    fn from(missing: NoKernel) -> NoPlan {
        NoPlan::NoKernel(missing)
    }
}

/// Why a plan cannot run on given buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrongBuffers {
    /// The number of operands is not the planned one.
    Operands {
        /// The number of buffers.
        found: usize,
        /// The planned number.
        expected: usize,
    },
    /// An operand's dtype is not the planned one.
    DType {
        /// The index of the operand.
        operand: usize,
        /// The dtype of the buffer.
        found: DType,
        /// The planned dtype.
        expected: DType,
    },
    /// A buffer is shorter than what the operand reads.
    Length {
        /// The index of the operand.
        operand: usize,
        /// The number of values in the buffer.
        found: usize,
        /// The smallest sufficient number.
        expected: usize,
    },
    /// The output does not match the result.
    Output {
        /// The dtype and number of places of the output.
        found: (DType, usize),
        /// The dtype and number of elements of the result.
        expected: (DType, usize),
    },
}

impl fmt::Display for WrongBuffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongBuffers::Operands { found, expected } => {
                write!(f, "found {found} operand buffers, expected {expected}")
            }
            WrongBuffers::DType { operand, found, expected } => {
                write!(f, "operand {operand}: found dtype {found}, expected {expected}")
            }
            WrongBuffers::Length { operand, found, expected } => {
                write!(f, "operand {operand}: found {found} values, expected at least {expected}")
            }
            WrongBuffers::Output { found, expected } => {
                let ((found, places), (dtype, count)) = (found, expected);
                write!(f, "output: found {places} values of {found}, expected {count} of {dtype}")
            }
        }
    }
}

impl std::error::Error for WrongBuffers {}
