//! A request: a rule set with its attributes, an operation, operands. Well-formed by construction.

use crate::{Expression, Operand, Shape};
use std::fmt;
use std::str::FromStr;

/// The name of a set of broadcasting rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleSet {
    /// All shapes equal (OpenVINO's `none`).
    None,
    /// Right-aligned, both directions, any number of operands.
    Numpy,
    /// B onto A from a start axis (OpenVINO's and Paddle's `pdpd`).
    Pdpd,
    /// One operand onto a target shape, in both directions (OpenVINO's Broadcast).
    Bidirectional,
    /// Explicit `broadcast_dimensions`, then degenerate dimensions (XLA).
    Xla,
    /// One static flag per axis (Theano, Aesara, PyTensor).
    Theano,
}

impl RuleSet {
    /// Every rule set, in the order of the product's tables.
    pub const ALL: [RuleSet; 6] =
        [RuleSet::None, RuleSet::Numpy, RuleSet::Pdpd, RuleSet::Bidirectional, RuleSet::Xla, RuleSet::Theano];

    /// The name in case files, in the protocol and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            RuleSet::None => "none",
            RuleSet::Numpy => "numpy",
            RuleSet::Pdpd => "pdpd",
            RuleSet::Bidirectional => "bidirectional",
            RuleSet::Xla => "xla",
            RuleSet::Theano => "theano",
        }
    }
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no rule set's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownRuleSet(pub String);

impl fmt::Display for UnknownRuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = RuleSet::ALL.map(RuleSet::name).join(" ");
        write!(f, "`{}` is no rule set: expected one of {names}", self.0)
    }
}

impl std::error::Error for UnknownRuleSet {}

impl FromStr for RuleSet {
    type Err = UnknownRuleSet;
    fn from_str(name: &str) -> Result<Self, UnknownRuleSet> {
        RuleSet::ALL.into_iter().find(|rules| rules.name() == name).ok_or_else(|| UnknownRuleSet(name.into()))
    }
}

/// A rule set with its attributes. The flags of `theano` stand on the operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rules {
    /// See [`RuleSet::None`].
    None,
    /// See [`RuleSet::Numpy`].
    Numpy,
    /// See [`RuleSet::Pdpd`].
    Pdpd {
        /// The axis of A on which B starts; absent means -1, the default (clause PDPD-2).
        axis: Option<i64>,
    },
    /// See [`RuleSet::Bidirectional`].
    Bidirectional,
    /// See [`RuleSet::Xla`].
    Xla {
        /// The axis of the higher operand for each axis of the lower; absent means not given (clause XLA-2).
        broadcast_dimensions: Option<Vec<i64>>,
    },
    /// See [`RuleSet::Theano`].
    Theano,
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
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The expression at every index of the common shape.
    Elementwise {
        /// What is computed at each index.
        expression: Expression,
    },
    /// The one operand brought to a shape.
    Broadcast {
        /// The shape that is asked for.
        target_shape: Shape,
    },
    /// The gradient of the sum of the expression's elements by one operand (clause GRAD-1).
    Gradient {
        /// What is computed at each index.
        expression: Expression,
        /// The place of the operand in the request's list.
        wrt: usize,
    },
}

/// The name of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationKind {
    /// See [`Operation::Elementwise`].
    Elementwise,
    /// See [`Operation::Broadcast`].
    Broadcast,
    /// See [`Operation::Gradient`].
    Gradient,
}

impl OperationKind {
    /// Every operation.
    pub const ALL: [OperationKind; 3] =
        [OperationKind::Elementwise, OperationKind::Broadcast, OperationKind::Gradient];

    /// The name in case files and in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            OperationKind::Elementwise => "elementwise",
            OperationKind::Broadcast => "broadcast",
            OperationKind::Gradient => "gradient",
        }
    }
}

impl fmt::Display for OperationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Operation {
    /// The operation without its fields.
    pub fn kind(&self) -> OperationKind {
        match self {
            Operation::Elementwise { .. } => OperationKind::Elementwise,
            Operation::Broadcast { .. } => OperationKind::Broadcast,
            Operation::Gradient { .. } => OperationKind::Gradient,
        }
    }

    /// The expression, where the operation has one.
    pub fn expression(&self) -> Option<&Expression> {
        match self {
            Operation::Elementwise { expression } | Operation::Gradient { expression, .. } => {
                Some(expression)
            }
            Operation::Broadcast { .. } => None,
        }
    }
}

/// An input that is no request. Never a refusal: no rule set was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The field, as a path with dots.
    pub place: String,
    /// What stands there.
    pub found: String,
    /// What should stand there.
    pub expected: String,
}

impl Malformed {
    /// An error from its three parts.
    pub fn new(place: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Malformed {
        Malformed { place: place.into(), found: found.into(), expected: expected.into() }
    }
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: found {}, expected {}", self.place, self.found, self.expected)
    }
}

impl std::error::Error for Malformed {}

/// A well-formed question to an implementation.
///
/// Well-formed says nothing about whether the rule set accepts it: that is what the request asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    rules: Rules,
    operation: Operation,
    operands: Vec<Operand>,
}

impl Request {
    /// Puts a request together.
    ///
    /// # Errors
    /// [`Malformed`] for no operand, a repeated name, an expression or `wrt` that names an operand that is not
    /// there, `broadcast` with other than one operand or under a rule set other than `bidirectional` and
    /// `numpy`, `bidirectional` with another operation, flags outside `theano`, or `axis` or
    /// `broadcast_dimensions` with a single operand (clause G-5).
    pub fn new(rules: Rules, operation: Operation, operands: Vec<Operand>) -> Result<Request, Malformed> {
        check_operands(&operands)?;
        check_operation(&rules, &operation, operands.len())?;
        check_attributes(&rules, &operands)?;
        Ok(Request { rules, operation, operands })
    }

    /// The rule set with its attributes.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The operation with its fields.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// The operands in order: the first is A, or the left-hand side.
    pub fn operands(&self) -> &[Operand] {
        &self.operands
    }

    /// The operands' names in order.
    pub fn names(&self) -> Vec<&str> {
        self.operands.iter().map(Operand::name).collect()
    }

    /// Takes the request apart, to build another from the parts.
    pub fn into_parts(self) -> (Rules, Operation, Vec<Operand>) {
        (self.rules, self.operation, self.operands)
    }
}

fn check_operands(operands: &[Operand]) -> Result<(), Malformed> {
    if operands.is_empty() {
        return Err(Malformed::new("operands", "no operand", "one or more"));
    }
    let mut seen = std::collections::HashSet::new();
    for operand in operands {
        if !seen.insert(operand.name()) {
            let found = format!("the name `{}` twice", operand.name());
            return Err(Malformed::new("operands.name", found, "names that are unique in the request"));
        }
    }
    Ok(())
}

fn check_operation(rules: &Rules, operation: &Operation, operands: usize) -> Result<(), Malformed> {
    let set = rules.set();
    match operation {
        Operation::Broadcast { .. } => {
            if !matches!(set, RuleSet::Bidirectional | RuleSet::Numpy) {
                let found = format!("`broadcast` under the rule set `{set}`");
                return Err(Malformed::new(
                    "operation",
                    found,
                    "`broadcast` under `bidirectional` or `numpy`",
                ));
            }
            if operands != 1 {
                let found = format!("{operands} operands of `broadcast`");
                return Err(Malformed::new("operands", found, "exactly one"));
            }
        }
        other if set == RuleSet::Bidirectional => {
            let found = format!("`{}` under the rule set `bidirectional`", other.kind());
            return Err(Malformed::new(
                "operation",
                found,
                "`broadcast`: it is not for elementwise operations",
            ));
        }
        Operation::Elementwise { .. } | Operation::Gradient { .. } => {}
    }
    let highest = operation.expression().map_or(0, Expression::highest_operand);
    let wrt = if let Operation::Gradient { wrt, .. } = operation { *wrt } else { 0 };
    for (place, operand) in [("expression", highest), ("wrt", wrt)] {
        if operand >= operands {
            let found = format!("operand {operand} of {operands}");
            return Err(Malformed::new(place, found, "an operand of the request"));
        }
    }
    Ok(())
}

fn check_attributes(rules: &Rules, operands: &[Operand]) -> Result<(), Malformed> {
    if rules.set() != RuleSet::Theano
        && let Some(operand) = operands.iter().find(|operand| operand.broadcastable().is_some())
    {
        let place = format!("operands.{}.broadcastable", operand.name());
        let found = format!("flags under the rule set `{}`", rules.set());
        return Err(Malformed::new(place, found, "flags only under `theano`"));
    }
    let attribute = match rules {
        Rules::Pdpd { axis: Some(_) } => "axis",
        Rules::Xla { broadcast_dimensions: Some(_) } => "broadcast_dimensions",
        _ => return Ok(()),
    };
    if operands.len() == 1 {
        let expected = "no such attribute: there is nothing to broadcast onto (clause G-5)";
        return Err(Malformed::new(attribute, format!("`{attribute}` with a single operand"), expected));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Function;

    fn operand(name: &str) -> Operand {
        Operand::dense(name, [2], vec![1.0f64, 2.0]).unwrap()
    }

    fn add() -> Operation {
        let expression =
            Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
        Operation::Elementwise { expression }
    }

    fn error(rules: Rules, operation: Operation, operands: Vec<Operand>) -> String {
        Request::new(rules, operation, operands).expect_err("malformed").to_string()
    }

    #[test]
    fn a_request_has_operands_with_unique_names() {
        assert!(Request::new(Rules::Numpy, add(), vec![operand("a"), operand("b")]).is_ok());
        let bare = Operation::Elementwise { expression: Expression::operand(0) };
        assert!(error(Rules::Numpy, bare, vec![]).contains("no operand"));
        assert!(error(Rules::Numpy, add(), vec![operand("a"), operand("a")]).contains("`a` twice"));
        assert!(error(Rules::Numpy, add(), vec![operand("a")]).contains("operand 1 of 1"));
    }

    #[test]
    fn broadcast_and_bidirectional_belong_together() {
        let broadcast = || Operation::Broadcast { target_shape: Shape::from([2]) };
        assert!(Request::new(Rules::Bidirectional, broadcast(), vec![operand("a")]).is_ok());
        assert!(Request::new(Rules::Numpy, broadcast(), vec![operand("a")]).is_ok());
        assert!(error(Rules::Theano, broadcast(), vec![operand("a")]).contains("under `bidirectional` or"));
        assert!(error(Rules::Numpy, broadcast(), vec![operand("a"), operand("b")]).contains("exactly one"));
        let both = vec![operand("a"), operand("b")];
        assert!(error(Rules::Bidirectional, add(), both).contains("not for elementwise"));
    }

    #[test]
    fn attributes_belong_to_their_rule_set() {
        let bare = || Operation::Elementwise { expression: Expression::operand(0) };
        let flagged = || operand("a").with_broadcastable(vec![false]).unwrap();
        assert!(Request::new(Rules::Theano, bare(), vec![flagged()]).is_ok());
        assert!(error(Rules::Numpy, bare(), vec![flagged()]).contains("only under `theano`"));
        assert!(error(Rules::Pdpd { axis: Some(-1) }, bare(), vec![operand("a")]).contains("single operand"));
        assert!(Request::new(Rules::Pdpd { axis: None }, bare(), vec![operand("a")]).is_ok());
        let dims = Rules::Xla { broadcast_dimensions: Some(vec![]) };
        assert!(error(dims, bare(), vec![operand("a")]).contains("single operand"));
    }

    #[test]
    fn wrt_is_an_operand() {
        let expression = Expression::operand(0);
        let gradient = Operation::Gradient { expression, wrt: 1 };
        assert!(error(Rules::Numpy, gradient, vec![operand("a")]).starts_with("wrt: found operand 1"));
    }
}
