//! The rule sets and the facts about each: its operations, number of operands, attributes and clauses. Which
//! shapes a rule set accepts, and with which result, is computed by each engine.
//!
//! To add a rule set, add a row to the table below and a variant to [`Rules`]; the compiler demands the rest.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::OperationKind;
use crate::clauses::{self, Clause};
use std::fmt;
use std::str::FromStr;

macro_rules! rule_sets {
    ($($variant:ident $name:literal [$($operation:ident)*] $operands:ident [$($attribute:ident)*] $doc:literal;)*) => {
        /// A set of broadcasting rules, by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum RuleSet { $(#[doc = $doc] $variant,)* }

        impl RuleSet {
            /// Every rule set, in the order used in all tables.
            pub const ALL: [RuleSet; [$(RuleSet::$variant),*].len()] = [$(RuleSet::$variant),*];

            /// The name in case files, in the protocol and on the command line.
            pub fn name(self) -> &'static str {
                match self { $(RuleSet::$variant => $name,)* }
            }

            /// The operations, those on expressions first.
            pub fn operations(self) -> &'static [OperationKind] {
                match self { $(RuleSet::$variant => &[$(OperationKind::$operation),*],)* }
            }

            /// How many operands a request may have (clause G-5). A `broadcast` always has one.
            pub fn operands(self) -> OperandCount {
                match self { $(RuleSet::$variant => OperandCount::$operands,)* }
            }

            /// The attributes that a request may have in addition to its operands' shapes.
            pub fn attributes(self) -> &'static [Attribute] {
                match self { $(RuleSet::$variant => &[$(Attribute::$attribute),*],)* }
            }
        }
    };
}

rule_sets! {
    None "none" [Elementwise Gradient] OneOrMore []
        "All shapes are equal (OpenVINO's `none`).";
    Numpy "numpy" [Elementwise Gradient Broadcast] OneOrMore []
        "Right-aligned, in both directions, any number of operands.";
    Pdpd "pdpd" [Elementwise Gradient] OneOrTwo [Axis]
        "B onto A from a start axis (OpenVINO's and Paddle's `pdpd`).";
    Bidirectional "bidirectional" [Broadcast] One []
        "One operand to a target shape, in both directions (OpenVINO's Broadcast).";
    Xla "xla" [Elementwise Gradient Broadcast] OneOrTwo [BroadcastDimensions]
        "Explicit `broadcast_dimensions`, then degenerate dimensions (XLA).";
    Theano "theano" [Elementwise Gradient] OneOrMore [Broadcastable]
        "One static flag per axis (Theano, Aesara, PyTensor).";
    Leading "leading" [Elementwise Gradient Broadcast] OneOrMore []
        "Aligned at the first axis, in both directions, any number of operands (Octave, PDL).";
    Repeat "repeat" [Elementwise Gradient Broadcast] OneOrTwo []
        "B repeated onto A, whose lengths are multiples of B's (ggml).";
}

impl RuleSet {
    /// Whether the rule set has this operation.
    pub fn has(self, operation: OperationKind) -> bool {
        self.operations().contains(&operation)
    }

    /// Whether the rule set has this attribute.
    pub fn has_attribute(self, attribute: Attribute) -> bool {
        self.attributes().contains(&attribute)
    }

    /// Every rule set with each of its operations, rule set by rule set.
    pub fn with_operations() -> impl Iterator<Item = (RuleSet, OperationKind)> {
        RuleSet::ALL
            .into_iter()
            .flat_map(|set| set.operations().iter().map(move |&operation| (set, operation)))
    }

    /// The rule sets that have this operation.
    pub fn having(operation: OperationKind) -> impl Iterator<Item = RuleSet> {
        RuleSet::ALL.into_iter().filter(move |set| set.has(operation))
    }

    /// The clauses specific to this rule set, in the order of SEMANTICS.md. The general clauses (`G`, `GRAD`,
    /// `INFER`, `DECL`, `V`) belong to all rule sets.
    pub fn clauses(self) -> impl Iterator<Item = &'static Clause> {
        let prefix = match self {
            RuleSet::None => "NONE",
            RuleSet::Numpy => "NUMPY",
            RuleSet::Pdpd => "PDPD",
            RuleSet::Bidirectional => "BIDI",
            RuleSet::Xla => "XLA",
            RuleSet::Theano => "THEANO",
            RuleSet::Leading => "LEADING",
            RuleSet::Repeat => "REPEAT",
        };
        clauses::ALL
            .iter()
            .filter(move |clause| clause.id.rsplit_once('-').is_some_and(|(set, _)| set == prefix))
    }
}

/// How many operands a rule set takes (clause G-5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperandCount {
    /// Exactly one.
    One,
    /// One or two.
    OneOrTwo,
    /// One or more.
    OneOrMore,
}

impl OperandCount {
    /// The largest number, if there is one.
    pub fn most(self) -> Option<usize> {
        match self {
            OperandCount::One => Some(1),
            OperandCount::OneOrTwo => Some(2),
            OperandCount::OneOrMore => None,
        }
    }

    /// Whether this many operands are allowed.
    pub fn allows(self, count: usize) -> bool {
        count >= 1 && self.most().is_none_or(|most| count <= most)
    }
}

/// `one`, `one or two`, `one or more`.
impl fmt::Display for OperandCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            OperandCount::One => "one",
            OperandCount::OneOrTwo => "one or two",
            OperandCount::OneOrMore => "one or more",
        })
    }
}

/// What a request may specify in addition to shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// pdpd: the axis of A at which B starts.
    Axis,
    /// xla: the axis of the higher operand for each axis of the lower; for `broadcast`, the axis of the
    /// target for each axis of the operand.
    BroadcastDimensions,
    /// theano, on each operand: a flag per axis.
    Broadcastable,
}

impl Attribute {
    /// Every attribute.
    pub const ALL: [Attribute; 3] =
        [Attribute::Axis, Attribute::BroadcastDimensions, Attribute::Broadcastable];

    /// The name of the field in case files and in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Attribute::Axis => "axis",
            Attribute::BroadcastDimensions => "broadcast_dimensions",
            Attribute::Broadcastable => "broadcastable",
        }
    }
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is not the name of a rule set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRuleSet(pub String);

impl fmt::Display for UnknownRuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = RuleSet::ALL.map(RuleSet::name).join(" ");
        write!(f, "`{}` is not a rule set: expected one of {names}", self.0)
    }
}

impl std::error::Error for UnknownRuleSet {}

impl FromStr for RuleSet {
    type Err = UnknownRuleSet;
    fn from_str(name: &str) -> Result<Self, UnknownRuleSet> {
        RuleSet::ALL.into_iter().find(|rules| rules.name() == name).ok_or_else(|| UnknownRuleSet(name.into()))
    }
}

/// A rule set with its attributes. The flags of `theano` are attributes of each operand
/// ([`Operand`](crate::Operand)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rules {
    /// See [`RuleSet::None`].
    None,
    /// See [`RuleSet::Numpy`].
    Numpy,
    /// See [`RuleSet::Pdpd`].
    Pdpd {
        /// The axis of A at which B starts; absent means -1, the default (clause PDPD-2).
        axis: Option<i64>,
    },
    /// See [`RuleSet::Bidirectional`].
    Bidirectional,
    /// See [`RuleSet::Xla`].
    Xla {
        /// The axis of the higher operand for each axis of the lower; absent means not given (clause XLA-2).
        /// For `broadcast`, the axis of the target for each axis of the operand (clause XLA-9).
        broadcast_dimensions: Option<Vec<i64>>,
    },
    /// See [`RuleSet::Theano`].
    Theano,
    /// See [`RuleSet::Leading`].
    Leading,
    /// See [`RuleSet::Repeat`].
    Repeat,
}

impl Rules {
    /// The rule set without its attributes.
    pub fn set(&self) -> RuleSet {
        match self {
            Rules::None => RuleSet::None,
            Rules::Numpy => RuleSet::Numpy,
            Rules::Pdpd { .. } => RuleSet::Pdpd,
            Rules::Bidirectional => RuleSet::Bidirectional,
            Rules::Xla { .. } => RuleSet::Xla,
            Rules::Theano => RuleSet::Theano,
            Rules::Leading => RuleSet::Leading,
            Rules::Repeat => RuleSet::Repeat,
        }
    }

    /// The attribute that is given, if any. Flags are not included: they belong to the operands.
    pub fn given_attribute(&self) -> Option<Attribute> {
        match self {
            Rules::Pdpd { axis: Some(_) } => Some(Attribute::Axis),
            Rules::Xla { broadcast_dimensions: Some(_) } => Some(Attribute::BroadcastDimensions),
            Rules::Pdpd { axis: None } | Rules::Xla { broadcast_dimensions: None } => None,
            Rules::None
            | Rules::Numpy
            | Rules::Bidirectional
            | Rules::Theano
            | Rules::Leading
            | Rules::Repeat => None,
        }
    }
}

/// The rule set with no attribute given.
impl From<RuleSet> for Rules {
    fn from(set: RuleSet) -> Rules {
        match set {
            RuleSet::None => Rules::None,
            RuleSet::Numpy => Rules::Numpy,
            RuleSet::Pdpd => Rules::Pdpd { axis: None },
            RuleSet::Bidirectional => Rules::Bidirectional,
            RuleSet::Xla => Rules::Xla { broadcast_dimensions: None },
            RuleSet::Theano => Rules::Theano,
            RuleSet::Leading => Rules::Leading,
            RuleSet::Repeat => Rules::Repeat,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use OperationKind::{Broadcast, Elementwise, Gradient};

    #[test]
    fn names_parse_back() {
        for set in RuleSet::ALL {
            assert_eq!(set.name().parse(), Ok(set));
            assert_eq!(Rules::from(set).set(), set);
            assert_eq!(Rules::from(set).given_attribute(), None);
        }
        let error = "onnx".parse::<RuleSet>().unwrap_err().to_string();
        assert_eq!(
            error,
            "`onnx` is not a rule set: expected one of none numpy pdpd bidirectional xla theano leading repeat"
        );
    }

    #[test]
    fn operations_on_expressions_come_first() {
        assert_eq!(RuleSet::Numpy.operations(), [Elementwise, Gradient, Broadcast]);
        assert_eq!(RuleSet::Xla.operations(), [Elementwise, Gradient, Broadcast]);
        assert_eq!(RuleSet::Bidirectional.operations(), [Broadcast]);
        assert_eq!(RuleSet::with_operations().count(), 19);
        let broadcasting =
            [RuleSet::Numpy, RuleSet::Bidirectional, RuleSet::Xla, RuleSet::Leading, RuleSet::Repeat];
        assert!(RuleSet::having(Broadcast).eq(broadcasting));
    }

    #[test]
    fn operand_counts_follow_clause_g5() {
        let allowed = |set: RuleSet| [0, 1, 2, 3, 1000].map(|count| set.operands().allows(count));
        assert_eq!(allowed(RuleSet::Theano), [false, true, true, true, true]);
        assert_eq!(allowed(RuleSet::Pdpd), [false, true, true, false, false]);
        assert_eq!(allowed(RuleSet::Bidirectional), [false, true, false, false, false]);
    }

    #[test]
    fn every_clause_belongs_to_one_rule_set_or_to_all() {
        let own: usize = RuleSet::ALL.into_iter().map(|set| set.clauses().count()).sum();
        let general = |clause: &&Clause| {
            ["G-", "GRAD-", "INTO-", "INFER-", "DECL-", "V-"].iter().any(|start| clause.id.starts_with(start))
        };
        assert_eq!(own + clauses::ALL.iter().filter(general).count(), clauses::ALL.len());
        assert!(RuleSet::ALL.into_iter().all(|set| set.clauses().count() > 0));
    }
}
