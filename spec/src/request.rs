//! A request: a rule set with its attributes, an operation and operands. Every [`Request`] is well-formed.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::operand::check_declared;
use crate::{Attribute, Expression, Operand, PartialShape, RuleSet, Rules, Shape};
use std::fmt;

/// What is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Evaluates the expression at every index of the common shape.
    Elementwise {
        /// What is computed at each index.
        expression: Expression,
    },
    /// Broadcasts the only operand to a shape.
    Broadcast {
        /// The target shape.
        target_shape: Shape,
    },
    /// The gradient of the sum of the expression's elements with respect to one operand (clause GRAD-1).
    Gradient {
        /// What is computed at each index.
        expression: Expression,
        /// The operand's position in the request's list.
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

    /// The expression, if the operation has one.
    pub fn expression(&self) -> Option<&Expression> {
        match self {
            Operation::Elementwise { expression } | Operation::Gradient { expression, .. } => {
                Some(expression)
            }
            Operation::Broadcast { .. } => None,
        }
    }
}

/// The error for an input that is not a valid request. It is not a refusal: only rule sets refuse requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// The field, as a path separated by dots.
    pub place: String,
    /// What was found there.
    pub found: String,
    /// What was expected there.
    pub expected: String,
}

impl Malformed {
    /// Creates an error from its three parts.
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

/// A well-formed request to an implementation.
///
/// A rule set may still refuse a well-formed request: that is what the suite tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    rules: Rules,
    operation: Operation,
    operands: Vec<Operand>,
    declared_target: Option<PartialShape>,
}

impl Request {
    /// Creates a request.
    ///
    /// # Errors
    /// [`Malformed`] for no operand, a repeated name, an expression or `wrt` that refers to an operand that
    /// does not exist, `broadcast` with a number of operands other than one or under a rule set other than
    /// `bidirectional` and `numpy`, `bidirectional` with another operation, flags under a rule set other than
    /// `theano`, `axis` or `broadcast_dimensions` with a single operand (clause G-5), or a declared shape of
    /// unknown rank under `xla` or `theano` (clause DECL-1).
    pub fn new(rules: Rules, operation: Operation, operands: Vec<Operand>) -> Result<Request, Malformed> {
        check_names(operands.iter().map(Operand::name))?;
        check_operation(&rules, &operation, operands.len())?;
        check_attributes(&rules, &operands)?;
        check_declared_ranks(rules.set(), &operands)?;
        Ok(Request { rules, operation, operands, declared_target: None })
    }

    /// The same request, of whose target an implementation that builds ahead is told only this shape before
    /// the run (clause DECL-1).
    ///
    /// # Errors
    /// [`Malformed`] if the operation is not `broadcast`, or if the target is not among the shapes that the
    /// declared one admits.
    pub fn with_declared_target(mut self, declared: PartialShape) -> Result<Request, Malformed> {
        const FIELD: &str = "declared_target_shape";
        match &self.operation {
            Operation::Broadcast { target_shape } => check_declared(FIELD, &declared, target_shape)?,
            Operation::Elementwise { .. } | Operation::Gradient { .. } => {
                let found = format!("`{FIELD}` with the operation `{}`", self.operation.kind());
                return Err(Malformed::new(FIELD, found, "no such field"));
            }
        }
        self.declared_target = Some(declared);
        Ok(self)
    }

    /// What an implementation that builds ahead is told of the target before the run, if not the target
    /// itself (clause DECL-1).
    pub fn declared_target(&self) -> Option<&PartialShape> {
        self.declared_target.as_ref()
    }

    /// The declared shapes: those of the operands that have one, then that of the target.
    pub fn declared(&self) -> impl Iterator<Item = &PartialShape> {
        self.operands.iter().filter_map(Operand::declared).chain(&self.declared_target)
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

    /// Whether the expression leaves an operand out (clause G-5).
    pub fn has_unused_operand(&self) -> bool {
        let Some(expression) = self.operation.expression() else { return false };
        (0..self.operands.len()).any(|operand| !expression.reads(operand))
    }

    /// The operand whose axes `xla` places on the other's: the one of lower rank. `None` if the ranks are
    /// equal, with another number of operands, and under other rule sets. Only a request that has one has an
    /// intermediate (clause XLA-8).
    pub fn lower_operand(&self) -> Option<&Operand> {
        match (&self.rules, &self.operands[..]) {
            (Rules::Xla { .. }, [left, right]) if left.rank() != right.rank() => {
                // mutant: replace < with <=: the guard of the arm excludes equal ranks
                Some(if left.rank() < right.rank() { left } else { right })
            }
            _ => None,
        }
    }

    /// Splits the request into its parts, for building another one from them. A declared target is dropped.
    pub fn into_parts(self) -> (Rules, Operation, Vec<Operand>) {
        (self.rules, self.operation, self.operands)
    }
}

/// Checks that there are operands, each with its own name.
pub(crate) fn check_names<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), Malformed> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            let found = format!("the name `{name}` twice");
            return Err(Malformed::new("operands.name", found, "unique names"));
        }
    }
    if seen.is_empty() { Err(Malformed::new("operands", "no operand", "one or more")) } else { Ok(()) }
}

fn check_operation(rules: &Rules, operation: &Operation, operands: usize) -> Result<(), Malformed> {
    let highest = operation.expression().map(Expression::highest_operand);
    check_operands(rules.set(), operation.kind(), highest, operands)?;
    match operation {
        Operation::Gradient { wrt, .. } => check_place("wrt", *wrt, operands),
        Operation::Elementwise { .. } | Operation::Broadcast { .. } => Ok(()),
    }
}

/// Checks that the rule set has the operation, and that the operation has its operands. `highest` is the
/// highest operand that its expression reads.
pub(crate) fn check_operands(
    set: RuleSet,
    kind: OperationKind,
    highest: Option<usize>,
    operands: usize,
) -> Result<(), Malformed> {
    if !set.has(kind) {
        let found = format!("`{kind}` under the rule set `{set}`");
        let own = listed(set.operations().iter().map(|kind| kind.name()));
        return Err(Malformed::new("operation", found, format!("an operation of `{set}`: {own}")));
    }
    if kind == OperationKind::Broadcast && operands != 1 {
        return Err(Malformed::new("operands", format!("{operands} operands of `broadcast`"), "exactly one"));
    }
    highest.map_or(Ok(()), |highest| check_place("expression", highest, operands))
}

fn check_place(place: &str, operand: usize, operands: usize) -> Result<(), Malformed> {
    if operand < operands {
        return Ok(());
    }
    let found = format!("operand {operand} of {operands}");
    Err(Malformed::new(place, found, "an operand of the request"))
}

/// The shapes of `xla` and `theano` have ranks.
fn check_declared_ranks(set: RuleSet, operands: &[Operand]) -> Result<(), Malformed> {
    let ranked = match set {
        RuleSet::None | RuleSet::Numpy | RuleSet::Pdpd | RuleSet::Bidirectional => return Ok(()),
        RuleSet::Xla | RuleSet::Theano => "a known rank",
    };
    match operands.iter().find(|operand| operand.declared() == Some(&PartialShape::Unranked)) {
        Some(operand) => {
            let place = format!("operands.{}.declared", operand.name());
            Err(Malformed::new(place, format!("an unknown rank under the rule set `{set}`"), ranked))
        }
        None => Ok(()),
    }
}

fn check_attributes(rules: &Rules, operands: &[Operand]) -> Result<(), Malformed> {
    let set = rules.set();
    if !set.has_attribute(Attribute::Broadcastable)
        && let Some(operand) = operands.iter().find(|operand| operand.broadcastable().is_some())
    {
        let place = format!("operands.{}.broadcastable", operand.name());
        return Err(Attribute::Broadcastable.misplaced(set, place));
    }
    match rules.given_attribute() {
        Some(attribute) if operands.len() == 1 => Err(attribute.superfluous()),
        Some(_) | None => Ok(()),
    }
}

impl Attribute {
    /// The error for a request that has this attribute at `place` under a rule set without such an attribute.
    pub fn misplaced(self, set: RuleSet, place: impl Into<String>) -> Malformed {
        let owners = RuleSet::ALL.into_iter().filter(|set| set.has_attribute(self)).map(RuleSet::name);
        let found = format!("`{self}` under the rule set `{set}`");
        Malformed::new(place, found, format!("`{self}` only under {}", listed(owners)))
    }

    /// The error for a request that has this attribute and a single operand (clause G-5).
    pub fn superfluous(self) -> Malformed {
        let found = format!("`{self}` with a single operand");
        let expected = format!("no `{self}`: there is nothing to broadcast onto (clause G-5)");
        Malformed::new(self.name(), found, expected)
    }
}

/// `` `a` ``, `` `a` or `b` ``, `` `a`, `b` or `c` ``.
fn listed(names: impl IntoIterator<Item = &'static str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => String::new(),
    }
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
    fn each_rule_set_has_its_operations() {
        let broadcast = || Operation::Broadcast { target_shape: Shape::from([2]) };
        assert!(Request::new(Rules::Bidirectional, broadcast(), vec![operand("a")]).is_ok());
        assert!(Request::new(Rules::Numpy, broadcast(), vec![operand("a")]).is_ok());
        assert!(
            error(Rules::Theano, broadcast(), vec![operand("a")])
                .contains("of `theano`: `elementwise` or `gradient`")
        );
        assert!(error(Rules::Numpy, broadcast(), vec![operand("a"), operand("b")]).contains("exactly one"));
        let both = vec![operand("a"), operand("b")];
        assert!(error(Rules::Bidirectional, add(), both).contains("of `bidirectional`: `broadcast`"));
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
