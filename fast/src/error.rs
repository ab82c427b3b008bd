//! Why a request or a signature has no plan, or why a plan cannot run on given buffers or views.

use broadcheck_spec::{DEFAULT_MAX_ELEMENTS, DType, Length, Refusal};
use std::fmt;

/// Why a request or a signature has no plan.
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
    /// The operand with respect to which a signature is to be differentiated does not exist.
    NoOperand {
        /// The position of the operand.
        found: usize,
        /// The number of operands.
        operands: usize,
    },
}

impl fmt::Display for NoPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPlan::Refused(refusal) => refusal.fmt(f),
            NoPlan::TooManyElements { found } => {
                write!(f, "{found} elements exceed the limit of {DEFAULT_MAX_ELEMENTS}")
            }
            NoPlan::NoKernel(missing) => missing.fmt(f),
            NoPlan::NoOperand { found, operands } => {
                write!(
                    f,
                    "found a gradient with respect to operand {found}, expected one of {operands} operands"
                )
            }
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
    /// The plan's request has no destination (clause INTO-1).
    NoDestination,
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
            WrongBuffers::NoDestination => {
                f.write_str("found a plan of a request without `into`, expected one with a destination")
            }
        }
    }
}

impl std::error::Error for WrongBuffers {}

/// Why a [`SignaturePlan`](crate::SignaturePlan) cannot run on given views.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfit {
    /// The number of views, a dtype, a buffer or the output.
    Buffers(WrongBuffers),
    /// A rank is not the one of the signature.
    Rank {
        /// The index of the operand; `None` for the target.
        operand: Option<usize>,
        /// The rank of the view.
        found: usize,
        /// The rank in the signature.
        expected: usize,
    },
    /// A length is not among those that the signature admits.
    Length {
        /// The index of the operand; `None` for the target.
        operand: Option<usize>,
        /// The axis of the operand or of the target.
        axis: usize,
        /// The length of the view.
        found: usize,
        /// What the signature admits.
        expected: Length,
    },
    /// A view has another number of strides than axes.
    Strides {
        /// The index of the operand.
        operand: usize,
        /// The number of strides.
        found: usize,
        /// The number of axes.
        expected: usize,
    },
    /// A view reaches a position below 0.
    BelowBuffer {
        /// The index of the operand.
        operand: usize,
        /// The lowest position that it reaches.
        lowest: i128,
    },
    /// A target is missing, or given where the signature has none.
    Target {
        /// Whether the signature has a target.
        expected: bool,
    },
    /// The rule set refuses these lengths, or the engine cannot compute the result.
    NoPlan(NoPlan),
}

/// `operand 1`, or `target`.
fn place(operand: Option<usize>) -> String {
    operand.map_or_else(|| "target".to_owned(), |operand| format!("operand {operand}"))
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Misfit::Buffers(ref wrong) => wrong.fmt(f),
            Misfit::Rank { operand, found, expected } => {
                write!(f, "{}: found rank {found}, expected {expected}", place(operand))
            }
            Misfit::Length { operand, axis, found, expected } => {
                write!(f, "{}, axis {axis}: found length {found}, expected {expected}", place(operand))
            }
            Misfit::Strides { operand, found, expected } => {
                write!(f, "operand {operand}: found {found} strides, expected {expected}, one per axis")
            }
            Misfit::BelowBuffer { operand, lowest } => {
                write!(f, "operand {operand}: found position {lowest}, expected none below 0")
            }
            Misfit::Target { expected: true } => {
                f.write_str("target: found none, expected one, because the signature does not know all of it")
            }
            Misfit::Target { expected: false } => {
                f.write_str("target: found one, expected none, because the signature has an expression")
            }
            Misfit::NoPlan(ref none) => none.fmt(f),
        }
    }
}

impl std::error::Error for Misfit {}

impl From<WrongBuffers> for Misfit {
    fn from(wrong: WrongBuffers) -> Misfit {
        Misfit::Buffers(wrong)
    }
}

impl From<NoPlan> for Misfit {
    fn from(none: NoPlan) -> Misfit {
        Misfit::NoPlan(none)
    }
}
