//! Why there is no plan, or why a plan does not run on these buffers.

use broadcheck_spec::{DEFAULT_MAX_ELEMENTS, DType, Refusal};
use std::fmt;

/// Why a request has no plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoPlan {
    /// The rule set refuses it.
    Refused(Refusal),
    /// It is accepted, but something to be computed has more elements than this engine makes (clause G-1).
    TooManyElements {
        /// The number of elements.
        found: usize,
    },
}

impl fmt::Display for NoPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoPlan::Refused(refusal) => refusal.fmt(f),
            NoPlan::TooManyElements { found } => {
                write!(f, "{found} elements: more than the limit of {DEFAULT_MAX_ELEMENTS}")
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

/// Why a plan does not run on these buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrongBuffers {
    /// Another number of operands than planned for.
    Operands {
        /// How many there are.
        found: usize,
        /// How many were planned for.
        expected: usize,
    },
    /// An operand of another dtype than planned for.
    DType {
        /// The operand's place.
        operand: usize,
        /// The buffer's dtype.
        found: DType,
        /// The dtype that was planned for.
        expected: DType,
    },
    /// A buffer that does not hold all that the operand reads.
    Length {
        /// The operand's place.
        operand: usize,
        /// The values in the buffer.
        found: usize,
        /// The fewest that will do.
        expected: usize,
    },
    /// An output that is not the result's.
    Output {
        /// What is there.
        found: (DType, usize),
        /// The result's dtype and number of elements.
        expected: (DType, usize),
    },
}

impl fmt::Display for WrongBuffers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WrongBuffers::Operands { found, expected } => {
                write!(f, "{found} operands: expected {expected}")
            }
            WrongBuffers::DType { operand, found, expected } => {
                write!(f, "operand {operand} of {found}: expected {expected}")
            }
            WrongBuffers::Length { operand, found, expected } => {
                write!(f, "operand {operand} with {found} values: expected at least {expected}")
            }
            WrongBuffers::Output { found, expected } => {
                let ((found, places), (dtype, count)) = (found, expected);
                write!(f, "an output of {places} {found}: expected {count} {dtype}")
            }
        }
    }
}

impl std::error::Error for WrongBuffers {}
