//! A request: a rule set with its attributes, an operation and operands. Every [`Request`] is well-formed.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::destination::check_destination;
use crate::given::check_given;
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
    /// Evaluates the expression at every index of the common shape, and writes the result into an operand
    /// (clauses INTO-1 to INTO-4). It is an operation `elementwise` with the field `into`.
    Into {
        /// What is computed at each index.
        expression: Expression,
        /// The destination's position in the request's list. It takes part in the common shape.
        destination: usize,
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
    /// The gradient of the sum of the result times a cotangent, element by element (clause GRAD-4): a
    /// vector-Jacobian product. It is an operation `gradient` with the field `cotangent`.
    Vjp {
        /// What is computed at each index. With a target, the only operand alone.
        expression: Expression,
        /// The operand's position in the request's list.
        wrt: usize,
        /// The target, if the operation that is differentiated is `broadcast`.
        target_shape: Option<Shape>,
        /// An operand of the result's shape and dtype. It is not in the request's list, and takes no part in
        /// the common shape; in files and in the protocol it is the last of the operands.
        cotangent: Box<Operand>,
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
            Operation::Elementwise { .. } | Operation::Into { .. } => OperationKind::Elementwise,
            Operation::Broadcast { .. } => OperationKind::Broadcast,
            Operation::Gradient { .. } | Operation::Vjp { .. } => OperationKind::Gradient,
        }
    }

    /// The expression, if the operation has one.
    pub fn expression(&self) -> Option<&Expression> {
        match self {
            Operation::Elementwise { expression }
            | Operation::Into { expression, .. }
            | Operation::Gradient { expression, .. }
            | Operation::Vjp { expression, .. } => Some(expression),
            Operation::Broadcast { .. } => None,
        }
    }

    /// The target, of a `broadcast` or of the gradient of one.
    pub fn target_shape(&self) -> Option<&Shape> {
        match self {
            Operation::Broadcast { target_shape } => Some(target_shape),
            Operation::Vjp { target_shape, .. } => target_shape.as_ref(),
            Operation::Elementwise { .. } | Operation::Into { .. } | Operation::Gradient { .. } => None,
        }
    }

    /// The position of the operand into which the result is written, if there is one (clause INTO-1).
    pub fn destination(&self) -> Option<usize> {
        match self {
            Operation::Into { destination, .. } => Some(*destination),
            Operation::Elementwise { .. }
            | Operation::Broadcast { .. }
            | Operation::Gradient { .. }
            | Operation::Vjp { .. } => None,
        }
    }

    /// Of a gradient: the expression, the position of the operand with respect to which it is differentiated,
    /// and the cotangent, if there is one.
    pub fn differentiated(&self) -> Option<(&Expression, usize, Option<&Operand>)> {
        match self {
            Operation::Gradient { expression, wrt } => Some((expression, *wrt, None)),
            Operation::Vjp { expression, wrt, cotangent, .. } => Some((expression, *wrt, Some(cotangent))),
            Operation::Elementwise { .. } | Operation::Into { .. } | Operation::Broadcast { .. } => None,
        }
    }

    /// Of a gradient: the position of the operand with respect to which it is differentiated.
    pub fn wrt(&self) -> Option<usize> {
        self.differentiated().map(|(_, wrt, _)| wrt)
    }

    /// The cotangent, if there is one.
    pub fn cotangent(&self) -> Option<&Operand> {
        self.differentiated().and_then(|(_, _, cotangent)| cotangent)
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
    /// `bidirectional`, `numpy` and `xla`, `bidirectional` with another operation, flags under a rule set
    /// other than `theano`, an expression with `axis` or `broadcast_dimensions` and a single operand (clause
    /// G-5), or a declared shape of unknown rank under `xla` or `theano` (clause DECL-1); of a gradient with
    /// a cotangent, also for a cotangent with the name of an operand, with flags or with a declared shape,
    /// and for a target under a rule set without `broadcast`, or with another expression than its only
    /// operand (clause GRAD-4); with a destination, also for another rule set than `numpy`, for a destination
    /// that does not exist or of which two elements share a place, for an operand of another buffer that
    /// claims to read the destination's, and for declared shapes (clause INTO-4); without one, for an operand
    /// that reads the destination's buffer; for a constant that is declared, differentiated or written; for
    /// an operand that is to be the array of another and differs from it, or does not follow it.
    pub fn new(rules: Rules, operation: Operation, operands: Vec<Operand>) -> Result<Request, Malformed> {
        check_names(operands.iter().map(Operand::name))?;
        check_operation(&rules, &operation, operands.len())?;
        check_attributes(&rules, &operation, &operands)?;
        check_cotangent(&rules, &operation, &operands)?;
        check_destination(rules.set(), operation.destination(), &operands)?;
        check_declared_ranks(rules.set(), &operands)?;
        check_given(&operation, &operands)?;
        Ok(Request { rules, operation, operands, declared_target: None })
    }

    /// The same request, of whose target an implementation that builds ahead is told only this shape before
    /// the run (clause DECL-1).
    ///
    /// # Errors
    /// [`Malformed`] if the operation is not `broadcast`, if the target is not among the shapes that the
    /// declared one admits, or for an unknown rank under `xla`.
    pub fn with_declared_target(mut self, declared: PartialShape) -> Result<Request, Malformed> {
        const FIELD: &str = "declared_target_shape";
        match &self.operation {
            Operation::Broadcast { target_shape } => check_declared(FIELD, &declared, target_shape)?,
            Operation::Elementwise { .. }
            | Operation::Into { .. }
            | Operation::Gradient { .. }
            | Operation::Vjp { .. } => {
                let found = format!("`{FIELD}` with the operation `{}`", self.operation.kind());
                return Err(Malformed::new(FIELD, found, "no such field"));
            }
        }
        if has_ranks(self.rules.set()) && declared == PartialShape::Unranked {
            return Err(unranked(self.rules.set(), FIELD));
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

    /// The cotangent of a gradient, if there is one (clause GRAD-4). It is not among the [operands][1].
    ///
    /// [1]: Request::operands
    pub fn cotangent(&self) -> Option<&Operand> {
        self.operation.cotangent()
    }

    /// The operand into which the result is written, if there is one (clause INTO-1).
    pub fn destination(&self) -> Option<&Operand> {
        self.operation.destination().map(|place| &self.operands[place])
    }

    /// The operands, then the cotangent: everything that has values.
    pub fn with_values(&self) -> impl Iterator<Item = &Operand> + Clone {
        self.operands.iter().chain(self.cotangent())
    }

    /// Whether the expression leaves an operand out (clause G-5). A destination is used in any case.
    pub fn has_unused_operand(&self) -> bool {
        let Some(expression) = self.operation.expression() else { return false };
        let destination = self.operation.destination();
        (0..self.operands.len()).any(|operand| !expression.reads(operand) && destination != Some(operand))
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
    // The gradient of a broadcast exists where the broadcast does.
    let target = operation.target_shape().is_some();
    let kind = if target { OperationKind::Broadcast } else { operation.kind() };
    check_operands(rules.set(), kind, highest, operands)?;
    operation.wrt().map_or(Ok(()), |wrt| check_place("wrt", wrt, operands))
}

fn check_cotangent(rules: &Rules, operation: &Operation, operands: &[Operand]) -> Result<(), Malformed> {
    let Operation::Vjp { expression, target_shape, cotangent, .. } = operation else { return Ok(()) };
    let name = cotangent.name();
    let place = |field: &str| format!("operands.{name}.{field}");
    if operands.iter().any(|operand| operand.name() == name) {
        return Err(Malformed::new("operands.name", format!("the name `{name}` twice"), "unique names"));
    }
    if cotangent.broadcastable().is_some() {
        let found = format!("flags of a cotangent under the rule set `{}`", rules.set());
        return Err(Malformed::new(
            place("broadcastable"),
            found,
            "none: it is not broadcast (clause GRAD-4)",
        ));
    }
    if cotangent.declared().is_some() {
        let expected = "none: it has the shape of the result (clause GRAD-4)";
        return Err(Malformed::new(place("declared"), "a declared shape of a cotangent", expected));
    }
    if target_shape.is_some() && *expression != Expression::operand(0) {
        return Err(Malformed::new("expression", "an expression with a target", "the only operand alone"));
    }
    Ok(())
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

pub(crate) fn check_place(place: &str, operand: usize, operands: usize) -> Result<(), Malformed> {
    if operand < operands {
        return Ok(());
    }
    let found = format!("operand {operand} of {operands}");
    Err(Malformed::new(place, found, "an operand of the request"))
}

/// Whether all shapes of a rule set have ranks, also before the run.
pub(crate) fn has_ranks(set: RuleSet) -> bool {
    match set {
        RuleSet::None
        | RuleSet::Numpy
        | RuleSet::Pdpd
        | RuleSet::Bidirectional
        | RuleSet::Leading
        | RuleSet::Repeat => false,
        RuleSet::Xla | RuleSet::Theano => true,
    }
}

/// The error for an unknown rank under a rule set that has none.
pub(crate) fn unranked(set: RuleSet, place: impl Into<String>) -> Malformed {
    Malformed::new(place, format!("an unknown rank under the rule set `{set}`"), "a known rank")
}

fn check_declared_ranks(set: RuleSet, operands: &[Operand]) -> Result<(), Malformed> {
    let unknown = operands.iter().find(|operand| operand.declared() == Some(&PartialShape::Unranked));
    match unknown {
        Some(operand) if has_ranks(set) => {
            Err(unranked(set, format!("operands.{}.declared", operand.name())))
        }
        Some(_) | None => Ok(()),
    }
}

fn check_attributes(rules: &Rules, operation: &Operation, operands: &[Operand]) -> Result<(), Malformed> {
    let set = rules.set();
    if !set.has_attribute(Attribute::Broadcastable)
        && let Some(operand) = operands.iter().find(|operand| operand.broadcastable().is_some())
    {
        let place = format!("operands.{}.broadcastable", operand.name());
        return Err(Attribute::Broadcastable.misplaced(set, place));
    }
    check_alone(rules, operation.target_shape().is_some(), operands.len())
}

/// Clause G-5: an expression of a single operand has nothing to be placed on. A `broadcast` has its target.
pub(crate) fn check_alone(rules: &Rules, target: bool, operands: usize) -> Result<(), Malformed> {
    match rules.given_attribute() {
        Some(attribute) if operands == 1 && !target => Err(attribute.superfluous()),
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

    /// The error for an expression with this attribute and a single operand (clause G-5).
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
        let dimensions = Rules::Xla { broadcast_dimensions: Some(vec![0]) };
        assert!(Request::new(dimensions, broadcast(), vec![operand("a")]).is_ok());
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
    fn a_cotangent_is_an_operand_apart() {
        let vjp = |expression: Expression, target: Option<Shape>, cotangent: Operand| Operation::Vjp {
            expression,
            wrt: 0,
            target_shape: target,
            cotangent: Box::new(cotangent),
        };
        let bare = || Expression::operand(0);
        let negated = Expression::call(Function::Negate, [bare()]).unwrap();
        let target = || Some(Shape::from([2]));
        let request =
            Request::new(Rules::Numpy, vjp(bare(), target(), operand("g")), vec![operand("a")]).unwrap();
        assert_eq!(request.operation().kind(), OperationKind::Gradient);
        assert_eq!((request.names(), request.cotangent().map(Operand::name)), (vec!["a"], Some("g")));
        assert!(
            Request::new(Rules::Bidirectional, vjp(bare(), target(), operand("g")), vec![operand("a")])
                .is_ok()
        );
        let refused = |rules, operation| error(rules, operation, vec![operand("a")]);
        assert!(refused(Rules::Theano, vjp(bare(), target(), operand("g"))).contains("of `theano`"));
        assert!(
            refused(Rules::Bidirectional, vjp(bare(), None, operand("g"))).contains("of `bidirectional`")
        );
        assert!(refused(Rules::Numpy, vjp(bare(), None, operand("a"))).contains("`a` twice"));
        assert!(
            refused(Rules::Numpy, vjp(negated, target(), operand("g"))).contains("the only operand alone")
        );
        let flagged = operand("g").with_broadcastable(vec![false]).unwrap();
        assert!(refused(Rules::Theano, vjp(bare(), None, flagged)).contains("GRAD-4"));
    }

    #[test]
    fn wrt_is_an_operand() {
        let expression = Expression::operand(0);
        let gradient = Operation::Gradient { expression, wrt: 1 };
        assert!(error(Rules::Numpy, gradient, vec![operand("a")]).starts_with("wrt: found operand 1"));
    }
}
