//! The answer to a request: a result, a refusal of a named kind, or why there is neither.

use crate::{Data, Tensor};
use std::fmt;
use std::str::FromStr;

macro_rules! kinds {
    ($($variant:ident $name:literal $doc:literal;)*) => {
        /// Why a rule set refuses a request. Clause G-6 also defines which kind is reported if several apply.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum RefusalKind { $(#[doc = $doc] $variant,)* }

        impl RefusalKind {
            /// Every kind, in the order of clause G-6.
            pub const ALL: &'static [RefusalKind] = &[$(RefusalKind::$variant,)*];

            /// The name in case files and in the protocol.
            pub fn name(self) -> &'static str {
                match self { $(RefusalKind::$variant => $name,)* }
            }
        }
    };
}

kinds! {
    RankMismatch "rank_mismatch" "The ranks are incompatible.";
    DimensionMismatch "dimension_mismatch" "Two lengths are incompatible; has an axis.";
    AxisOutOfRange "axis_out_of_range" "`axis` is less than -1, or B would extend beyond A (pdpd).";
    BroadcastDimensionsCount "broadcast_dimensions_count" "Not one dimension per axis of the lower operand, or of the only one (xla).";
    BroadcastDimensionOutOfRange "broadcast_dimension_out_of_range" "A dimension is not an axis of the higher operand, or of the target (xla).";
    BroadcastDimensionsNotIncreasing "broadcast_dimensions_not_increasing" "The dimensions do not increase strictly (xla).";
    BroadcastDimensionsNotIdentity "broadcast_dimensions_not_identity" "Equal ranks with dimensions other than the identity (xla).";
    BroadcastDimensionsNotDistinct "broadcast_dimensions_not_distinct" "A dimension occurs twice (xla, `broadcast`).";
    FlagViolation "flag_violation" "A flag is true on an axis whose length is not 1 (theano); has an operand and its axis.";
    NotBroadcastable "not_broadcastable" "Lengths differ on axes that never broadcast (theano); has an axis.";
    DTypeMismatch "dtype_mismatch" "The arguments of a function have different dtypes.";
    UnsupportedFunction "unsupported_function" "The function is not defined for the dtype, or has no derivative.";
    OperandCount "operand_count" "The rule set does not take this many operands.";
    TooLarge "too_large" "More than 2^63-1 elements.";
}

impl RefusalKind {
    /// Whether a refusal of this kind names an axis.
    pub fn has_axis(self) -> bool {
        matches!(
            self,
            RefusalKind::DimensionMismatch | RefusalKind::FlagViolation | RefusalKind::NotBroadcastable
        )
    }

    /// Whether a refusal of this kind names an operand.
    pub fn has_operand(self) -> bool {
        self == RefusalKind::FlagViolation
    }
}

impl fmt::Display for RefusalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not the name of a refusal kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRefusalKind(pub String);

impl fmt::Display for UnknownRefusalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = RefusalKind::ALL.iter().map(|kind| kind.name()).collect();
        write!(f, "`{}` is not a refusal kind: expected one of {}", self.0, names.join(" "))
    }
}

impl std::error::Error for UnknownRefusalKind {}

impl FromStr for RefusalKind {
    type Err = UnknownRefusalKind;
    fn from_str(name: &str) -> Result<Self, UnknownRefusalKind> {
        let found = RefusalKind::ALL.iter().find(|kind| kind.name() == name);
        found.copied().ok_or_else(|| UnknownRefusalKind(name.into()))
    }
}

/// A refusal: the rule set does not allow the request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    /// The kind; `None` if the implementation does not report one.
    pub kind: Option<RefusalKind>,
    /// The axis, if the kind has one: an axis of the result (so of A under pdpd, of the higher operand under
    /// xla, and of the target for `broadcast` under numpy and xla), or, for `flag_violation`, of the operand.
    pub axis: Option<usize>,
    /// The operand's position in the request's list, if the kind has one.
    pub operand: Option<usize>,
    /// For human readers; never compared.
    pub message: String,
}

impl Refusal {
    /// A refusal of a kind, with a message for human readers.
    pub fn new(kind: RefusalKind, message: impl Into<String>) -> Refusal {
        Refusal { kind: Some(kind), axis: None, operand: None, message: message.into() }
    }

    /// The same refusal at an axis.
    #[must_use]
    pub fn at_axis(self, axis: usize) -> Refusal {
        Refusal { axis: Some(axis), ..self }
    }

    /// The same refusal of an operand.
    #[must_use]
    pub fn of_operand(self, operand: usize) -> Refusal {
        Refusal { operand: Some(operand), ..self }
    }
}

/// `dimension_mismatch at axis 1: lengths 2 and 3`.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.map_or("a refusal without a kind", RefusalKind::name))?;
        if let Some(operand) = self.operand {
            write!(f, " of operand {operand}")?;
        }
        if let Some(axis) = self.axis {
            write!(f, " at axis {axis}")?;
        }
        if self.message.is_empty() { Ok(()) } else { write!(f, ": {}", self.message) }
    }
}

/// The answer to an accepted request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Success {
    /// The result.
    pub tensor: Tensor,
    /// xla: the lower operand after the in-dim step (clause XLA-8), if the implementation reports it.
    pub intermediate: Option<Tensor>,
    /// theano: the flags of the result (clause THEANO-4), if the implementation reports them.
    pub broadcastable: Option<Vec<bool>>,
    /// With a destination: its buffer after the write (clause INTO-4), if the implementation reports it.
    pub buffer: Option<Data>,
}

impl From<Tensor> for Success {
    fn from(tensor: Tensor) -> Success {
        Success { tensor, intermediate: None, broadcastable: None, buffer: None }
    }
}

/// An implementation's answer to a request. To a [`Signature`](crate::Signature), it is an
/// `Outcome<Inference>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome<T = Success> {
    /// Accepted, with the result.
    Success(T),
    /// Not allowed by the rule set.
    Refusal(Refusal),
    /// Not answered because the implementation does not support such requests. Counted as skipped, never as
    /// passed.
    Skipped {
        /// The reason.
        reason: String,
    },
    /// Not answered because something broke. Counted as failed.
    Errored {
        /// What broke.
        kind: ErrorKind,
        /// A description for human readers; never parsed.
        message: String,
    },
}

/// Why a request was not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorKind {
    /// The implementation reported an error: in the protocol, the answer `errored`.
    Reported,
    /// The implementation panicked.
    Panicked,
    /// The process of the implementation ended.
    Crashed,
    /// The implementation did not answer within the time limit.
    TimedOut,
    /// The answer was not valid.
    InvalidAnswer,
    /// The process ended, but not when the requests that it had not answered were sent one at a time.
    NotReproduced,
    /// The process could not be started again, so the request was not sent.
    NotStarted,
    /// The run was interrupted.
    Interrupted,
}

impl<T> Outcome<T> {
    /// A request that was not answered because something broke.
    pub fn errored(kind: ErrorKind, message: impl Into<String>) -> Outcome<T> {
        Outcome::Errored { kind, message: message.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        assert_eq!(RefusalKind::ALL.len(), 14);
        for &kind in RefusalKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert!("too_small".parse::<RefusalKind>().is_err());
    }

    #[test]
    fn a_refusal_reads_as_a_sentence() {
        let refusal = Refusal::new(RefusalKind::FlagViolation, "length 2").of_operand(1).at_axis(0);
        assert_eq!(refusal.to_string(), "flag_violation of operand 1 at axis 0: length 2");
        assert_eq!(Refusal::default().to_string(), "a refusal without a kind");
    }
}
