//! Conventions: points on which real systems differ, and which the suite decided so that a case has one
//! answer. Also the nature of a clause or case: a rule, arithmetic, or a convention.

use crate::{Expectation, Inference, OperationKind, RefusalKind, Request, Signature};
use std::fmt;
use std::str::FromStr;

macro_rules! conventions {
    ($($variant:ident $name:literal $clause:literal $summary:literal;)*) => {
        /// A decision of the suite on which real systems differ. A case that tests one fails only an
        /// implementation that declares the convention; for any other the case counts as *agrees* or
        /// *differs*.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Convention { $(#[doc = $summary] $variant,)* }

        impl Convention {
            /// Every convention, in the order of their clauses in SEMANTICS.md.
            pub const ALL: [Convention; [$(Convention::$variant),*].len()] = [$(Convention::$variant),*];

            /// The name in case files, in the protocol and in reports.
            pub fn name(self) -> &'static str {
                match self { $(Convention::$variant => $name,)* }
            }

            /// The clause of SEMANTICS.md that contains it.
            pub fn clause(self) -> &'static str {
                match self { $(Convention::$variant => $clause,)* }
            }

            /// What an implementation that follows it does, in one sentence.
            pub fn summary(self) -> &'static str {
                match self { $(Convention::$variant => $summary,)* }
            }
        }
    };
}

conventions! {
    CheckedSizes "checked-sizes" "G-1"
        "A shape of more than 2^63-1 elements is refused by arithmetic, before memory is requested.";
    SeparateDtypes "separate-dtypes" "G-3"
        "Arguments of different dtypes are refused, not promoted.";
    UnusedOperands "unused-operands" "G-5"
        "An operand that the expression does not use takes part in the common shape.";
    RefusalOrder "refusal-order" "G-6"
        "Of several faults in a request, the first by the order of precedence is reported, at its leftmost axis.";
    GradientRefusals "gradient-refusals" "GRAD-3"
        "A gradient of a result or by an operand that is not a float is refused.";
    GradientTies "gradient-ties" "GRAD-3"
        "Equal arguments of `maximum` and `minimum` get one half each, and the derivative of `abs` at zero is 0.";
    UndefinedFunctions "undefined-functions" "V-2"
        "A function is refused for a dtype for which V-2 does not define it.";
    ZeroSigns "zero-signs" "V-3"
        "`maximum` and `minimum` order -0 below +0.";
    InferredRefusals "inferred-refusals" "INFER-11"
        "Of several faults of a signature, the first by the order of precedence that no run escapes is reported.";
}

impl Convention {
    /// The convention that a case tests, as far as its request and its required outcome show it.
    /// [`Convention::GradientTies`] and [`Convention::ZeroSigns`] depend on values: a case file states them.
    pub fn of(clause: &str, request: &Request, expectation: &Expectation) -> Option<Convention> {
        if let Expectation::Refusal(refusal) = expectation
            && let Some(kind) = refusal.kind
            && let Some(convention) = Convention::of_kind(kind, request.operation().kind())
        {
            return Some(convention);
        }
        if clause == Convention::RefusalOrder.clause() {
            return Some(Convention::RefusalOrder);
        }
        request.has_unused_operand().then_some(Convention::UnusedOperands)
    }

    /// The convention that a case of the operation `infer` tests, as far as it shows.
    pub fn of_inference(
        clause: &str,
        signature: &Signature,
        expectation: &Expectation<Inference>,
    ) -> Option<Convention> {
        let operation = signature.asked().operation();
        if let Expectation::Refusal(refusal) = expectation
            && let Some(convention) = refusal.kind.and_then(|kind| Convention::of_kind(kind, operation))
        {
            return Some(convention);
        }
        if clause == Convention::InferredRefusals.clause() {
            return Some(Convention::InferredRefusals);
        }
        signature.has_unused_operand().then_some(Convention::UnusedOperands)
    }

    /// The convention that a refusal of this kind follows; `None` if the rule set itself demands it.
    fn of_kind(kind: RefusalKind, operation: OperationKind) -> Option<Convention> {
        match kind {
            RefusalKind::DTypeMismatch => Some(Convention::SeparateDtypes),
            RefusalKind::UnsupportedFunction => Some(match operation {
                OperationKind::Gradient => Convention::GradientRefusals,
                OperationKind::Elementwise | OperationKind::Broadcast => Convention::UndefinedFunctions,
            }),
            RefusalKind::TooLarge => Some(Convention::CheckedSizes),
            RefusalKind::RankMismatch
            | RefusalKind::DimensionMismatch
            | RefusalKind::AxisOutOfRange
            | RefusalKind::BroadcastDimensionsCount
            | RefusalKind::BroadcastDimensionOutOfRange
            | RefusalKind::BroadcastDimensionsNotIncreasing
            | RefusalKind::BroadcastDimensionsNotIdentity
            | RefusalKind::BroadcastDimensionsNotDistinct
            | RefusalKind::FlagViolation
            | RefusalKind::NotBroadcastable
            | RefusalKind::OperandCount => None,
        }
    }
}

impl fmt::Display for Convention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not the name of a convention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownConvention(pub String);

impl fmt::Display for UnknownConvention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Convention::ALL.map(Convention::name).join(" ");
        write!(f, "`{}` is not a convention: expected one of {names}", self.0)
    }
}

impl std::error::Error for UnknownConvention {}

impl FromStr for Convention {
    type Err = UnknownConvention;
    fn from_str(name: &str) -> Result<Self, UnknownConvention> {
        let found = Convention::ALL.into_iter().find(|convention| convention.name() == name);
        found.ok_or_else(|| UnknownConvention(name.into()))
    }
}

/// Why a clause or a case holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Nature {
    /// A document states it, or every system that has the rule set does it.
    Rule,
    /// IEEE 754 or two's complement arithmetic demands it.
    Arithmetic,
    /// Systems differ, and the suite decided.
    Convention,
}

impl Nature {
    /// Every nature, in the order of reports.
    pub const ALL: [Nature; 3] = [Nature::Rule, Nature::Arithmetic, Nature::Convention];

    /// The name in reports: `rule`.
    pub fn name(self) -> &'static str {
        match self {
            Nature::Rule => "rule",
            Nature::Arithmetic => "arithmetic",
            Nature::Convention => "convention",
        }
    }
}

impl fmt::Display for Nature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clauses;

    #[test]
    fn names_parse_back_and_each_convention_has_a_clause() {
        for convention in Convention::ALL {
            assert_eq!(convention.name().parse(), Ok(convention));
            assert!(clauses::get(convention.clause()).is_some(), "{convention}");
        }
        let error = "promotion".parse::<Convention>().unwrap_err().to_string();
        assert!(
            error.starts_with("`promotion` is not a convention: expected one of checked-sizes "),
            "{error}"
        );
    }
}
