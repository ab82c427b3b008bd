//! Explains why shapes are compatible or not: the decision of a rule set with its clause, and a drawing of
//! the operands aligned under the result, axis by axis, as the documents draw them.
//!
//! ```
//! use broadcheck_judge::explain::{Explanation, ShapeQuery};
//! use broadcheck_spec::{Rules, Shape};
//!
//! let shapes = vec![Shape::from([2, 1, 5]), Shape::from([4, 1])];
//! let query = ShapeQuery::elementwise(Rules::Numpy, shapes, vec![None, None]).unwrap();
//! let explanation = Explanation::new(query);
//! assert_eq!(explanation.clause, "NUMPY-3");
//! assert!(explanation.draw(100).to_string().starts_with("numpy: (2,1,5) + (4,1) => (2,4,5)\n"));
//! ```

#![warn(clippy::wildcard_enum_match_arm)]

mod clause;
mod columns;
mod drawing;
mod inference;
mod row;

pub use clause::heading;
pub use drawing::{Drawing, Mark, Span};
pub use inference::InferenceExplanation;

use crate::text::plural;
use broadcheck_reference::{
    Alignment, align, align_shapes, broadcast_shape, check_destination_shape, result_dtype,
};
use broadcheck_spec::{
    Attribute, DType, Malformed, Operand, OperationKind, Refusal, RefusalKind, Request, RuleSet, Rules, Shape,
};

/// Shapes and attributes for a rule set to decide on.
#[derive(Clone, Debug)]
pub struct ShapeQuery {
    rules: Rules,
    shapes: Vec<Shape>,
    /// The operands' names in the drawing.
    labels: Vec<String>,
    flags: Vec<Option<Vec<bool>>>,
    target: Option<Shape>,
    bound: Option<Bound>,
}

/// A shape that must be the result's, which is checked after everything else.
#[derive(Clone, Debug)]
enum Bound {
    /// The position of the operand into which the result is written (INTO-1), and whether the expression
    /// reads it.
    Destination { place: usize, read: bool },
    /// The cotangent of a gradient, which is not an operand (GRAD-4).
    Cotangent { label: String, shape: Shape },
}

impl ShapeQuery {
    /// The operands of an elementwise operation. `flags` are those of `theano`, one list per operand.
    ///
    /// # Errors
    /// [`Malformed`] if this is not a valid request: no operand, an attribute of another rule set or with a
    /// single operand, a number of flags that differs from the number of axes, or `bidirectional`.
    pub fn elementwise(
        rules: Rules,
        shapes: Vec<Shape>,
        flags: Vec<Option<Vec<bool>>>,
    ) -> Result<ShapeQuery, Malformed> {
        let set = rules.set();
        check_elementwise(set, shapes.len())?;
        if let (Some(attribute), [_]) = (rules.given_attribute(), &shapes[..]) {
            return Err(attribute.superfluous());
        }
        check_flags(set, shapes.iter().map(|shape| (shape, Some(shape.rank()))), &flags)?;
        let labels = labels(set, shapes.len());
        Ok(ShapeQuery { rules, shapes, labels, flags, target: None, bound: None })
    }

    /// The operands of an elementwise operation under `numpy` whose result is written into a destination, as
    /// with `out=` (clause INTO-1).
    ///
    /// # Errors
    /// [`Malformed`] if there is no operand.
    pub fn into_destination(shapes: Vec<Shape>, destination: Shape) -> Result<ShapeQuery, Malformed> {
        let flags = vec![None; shapes.len()];
        let mut query = ShapeQuery::elementwise(Rules::Numpy, shapes, flags)?;
        query.bound = Some(Bound::Destination { place: query.shapes.len(), read: false });
        query.shapes.push(destination);
        query.labels.push("into".into());
        query.flags.push(None);
        Ok(query)
    }

    /// An operand to broadcast to a target shape.
    ///
    /// # Errors
    /// [`Malformed`] under a rule set without the operation `broadcast`.
    pub fn broadcast(
        rules: impl Into<Rules>,
        operand: Shape,
        target: Shape,
    ) -> Result<ShapeQuery, Malformed> {
        let rules = rules.into();
        check_broadcast(rules.set())?;
        let labels = vec!["operand".into()];
        let shapes = vec![operand];
        Ok(ShapeQuery { rules, shapes, labels, flags: vec![None], target: Some(target), bound: None })
    }

    /// The rule set, with its attributes.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    fn decide(&self) -> Result<Alignment, Refusal> {
        let alignment = self.align()?;
        if let Some(destination) = self.destination() {
            check_destination_shape(&self.shapes[destination], &alignment.shape)?;
        }
        Ok(alignment)
    }

    /// The position of the operand into which the result is written.
    fn destination(&self) -> Option<usize> {
        match self.bound {
            Some(Bound::Destination { place, .. }) => Some(place),
            Some(Bound::Cotangent { .. }) | None => None,
        }
    }

    /// The decision of the rule set alone, before the destination or the cotangent is checked.
    fn align(&self) -> Result<Alignment, Refusal> {
        if let Some(target) = &self.target {
            return broadcast_shape(&self.rules, &self.shapes[0], target);
        }
        let flags: Vec<Option<&[bool]>> = self.flags.iter().map(Option::as_deref).collect();
        align_shapes(&self.rules, &self.shapes, &flags)
    }
}

fn check_elementwise(set: RuleSet, operands: usize) -> Result<(), Malformed> {
    if operands == 0 {
        return Err(Malformed::new("shapes", "no operand", "one or more"));
    }
    if !set.has(OperationKind::Elementwise) {
        let found = format!("`{set}` for an elementwise operation");
        let expected = format!("an operand and a target shape: `{set}` is not for elementwise operations");
        return Err(Malformed::new("rules", found, expected));
    }
    Ok(())
}

fn check_broadcast(set: RuleSet) -> Result<(), Malformed> {
    if !set.has(OperationKind::Broadcast) {
        let found = format!("a target shape under the rule set `{set}`");
        return Err(Malformed::new(
            "target",
            found,
            "one under `numpy`, `bidirectional`, `xla`, `leading` or `repeat`",
        ));
    }
    Ok(())
}

/// Checks the flags of shapes, each with its rank if that is known.
fn check_flags<S: std::fmt::Display>(
    set: RuleSet,
    shapes: impl ExactSizeIterator<Item = (S, Option<usize>)>,
    flags: &[Option<Vec<bool>>],
) -> Result<(), Malformed> {
    if !set.has_attribute(Attribute::Broadcastable) && flags.iter().any(Option::is_some) {
        let found = format!("flags under the rule set `{set}`");
        return Err(Malformed::new("broadcastable", found, "flags only under `theano`"));
    }
    if flags.len() != shapes.len() {
        let found =
            format!("{} of flags for {}", plural(flags.len(), "list"), plural(shapes.len(), "operand"));
        return Err(Malformed::new("broadcastable", found, "one list per operand"));
    }
    for ((shape, rank), flags) in shapes.zip(flags) {
        let Some(rank) = rank else { continue };
        if let Some(flags) = flags.as_ref().filter(|flags| flags.len() != rank) {
            let found = format!("{} for shape {shape}", plural(flags.len(), "flag"));
            return Err(Malformed::new("broadcastable", found, format!("{rank}, one per axis")));
        }
    }
    Ok(())
}

/// The operand names that the documents use: `lhs` and `rhs`, or `A`, `B`, `C`.
fn labels(set: RuleSet, count: usize) -> Vec<String> {
    if set == RuleSet::Xla && count == 2 {
        return vec!["lhs".into(), "rhs".into()];
    }
    let letter =
        |place: usize| u8::try_from(place).ok().filter(|&place| place < 26).map(|p| char::from(b'A' + p));
    (0..count).map(|place| letter(place).map_or_else(|| format!("#{}", place + 1), String::from)).collect()
}

impl From<&Request> for ShapeQuery {
    fn from(request: &Request) -> ShapeQuery {
        let target = request.operation().target_shape().cloned();
        let operands = request.operands();
        let cotangent = request.cotangent().map(|cotangent| Bound::Cotangent {
            label: cotangent.name().to_owned(),
            shape: cotangent.shape().clone(),
        });
        let destination = request.operation().destination().map(|place| Bound::Destination {
            place,
            read: request.operation().expression().is_some_and(|expression| expression.reads(place)),
        });
        let bound = destination.or(cotangent);
        ShapeQuery {
            rules: request.rules().clone(),
            shapes: operands.iter().map(|operand| operand.shape().clone()).collect(),
            labels: operands.iter().map(|operand| operand.name().to_owned()).collect(),
            flags: operands.iter().map(|operand| operand.broadcastable().map(<[bool]>::to_vec)).collect(),
            target,
            bound,
        }
    }
}

/// The clause that refuses a destination or a cotangent that does not have the dtype and shape of the result.
fn bound_clause(query: &ShapeQuery, refusal: &Refusal) -> Option<&'static str> {
    let of_dtype = refusal.kind == Some(RefusalKind::DTypeMismatch);
    match &query.bound {
        Some(Bound::Destination { .. }) => Some(if of_dtype { "INTO-2" } else { "INTO-1" }),
        Some(Bound::Cotangent { .. }) => Some("GRAD-4"),
        None => None,
    }
}

/// Whether the types of the expression are right by themselves.
fn types_fit(request: &Request) -> bool {
    let dtypes: Vec<DType> = request.operands().iter().map(Operand::dtype).collect();
    request.operation().expression().is_none_or(|expression| result_dtype(expression, &dtypes).is_ok())
}

/// A function is unsupported either for its dtypes or because it has no derivative.
fn type_clause(request: &Request) -> &'static str {
    if types_fit(request) { "GRAD-3" } else { "V-2" }
}

/// A query with the rule set's decision.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The query.
    pub query: ShapeQuery,
    /// How the operands align under the result, or why they do not.
    pub decision: Result<Alignment, Refusal>,
    /// The deciding clause of SEMANTICS.md.
    pub clause: &'static str,
    /// Whether the rule set accepts the operands, and the destination or the cotangent is what is refused.
    of_bound: bool,
}

impl Explanation {
    /// Applies the rule set to the query.
    pub fn new(query: ShapeQuery) -> Explanation {
        let decision = query.decide();
        Explanation::with(query, decision, None, true)
    }

    /// Applies the rule set to a whole request, including its dtypes.
    pub fn of_request(request: &Request) -> Explanation {
        let query = ShapeQuery::from(request);
        let decision = align(request);
        let of_types = match &decision {
            Err(refusal) if refusal.kind == Some(RefusalKind::UnsupportedFunction) => {
                Some(type_clause(request))
            }
            _ => None,
        };
        Explanation::with(query, decision, of_types, types_fit(request))
    }

    fn with(
        query: ShapeQuery,
        decision: Result<Alignment, Refusal>,
        of_types: Option<&'static str>,
        types_fit: bool,
    ) -> Explanation {
        let of_bound = match &decision {
            Err(refusal) if of_types.is_none() && types_fit && query.align().is_ok() => {
                bound_clause(&query, refusal)
            }
            _ => None,
        };
        let clause = of_types.or(of_bound).unwrap_or_else(|| clause::deciding(&query, &decision));
        Explanation { query, decision, clause, of_bound: of_bound.is_some() }
    }

    /// `(2,3) + (3) => (2,3)`; with a target, `(5) to (1) => (5)`; with a destination,
    /// `(3) + (1) into (2,3) => (2,3)`.
    fn equation(&self) -> String {
        let query = &self.query;
        let shapes: Vec<String> = query.shapes.iter().map(ToString::to_string).collect();
        let left = match (&query.target, &query.bound) {
            (Some(target), _) => format!("{} to {target}", shapes[0]),
            (None, Some(Bound::Destination { place, read })) => {
                let others = (0..shapes.len()).filter(|other| *read || other != place);
                let others: Vec<&str> = others.map(|other| &shapes[other][..]).collect();
                format!("{} into {}", others.join(" + "), shapes[*place])
            }
            (None, Some(Bound::Cotangent { .. }) | None) => shapes.join(" + "),
        };
        match &self.decision {
            Ok(alignment) => format!("{left} => {}", alignment.shape),
            Err(_) => format!("{left} => refused"),
        }
    }

    /// The operands under the result, axis by axis, in lines of at most this width if possible.
    pub fn draw(&self, width: usize) -> Drawing {
        drawing::draw(self, width)
    }
}
