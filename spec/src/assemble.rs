//! Builds a request from what serde read: resolves names, reads literals, puts the parts together. Used for
//! case files and for the protocol.

mod lengths;
mod operands;

use crate::lint::shortened;
use crate::literal::{Literal, Reading};
use crate::raw::{Natural, RawExpression, RawOperandType, RawShape};
use crate::request::Malformed;
use crate::signature::INFER;
use crate::{
    Accepts, Asked, Attribute, DType, Data, Expression, Function, Inference, Operand, OperandType, Operation,
    OperationKind, Request, RuleSet, Rules, Shape, Signature, Tensor,
};
use std::collections::HashMap;
use std::fmt::Display;

pub(crate) use lengths::{Spelling, partial_shape};
pub(crate) use operands::{Given, given};
use operands::{below, operands, short};

/// How deep an expression may nest: `[exp, a]` is 1 deep.
pub const MAX_EXPRESSION_DEPTH: usize = 100;

/// The parts of a request, not yet validated.
pub(crate) struct Parts<S = Vec<Natural>> {
    pub(crate) rules: RuleSet,
    pub(crate) operation: Option<String>,
    pub(crate) expression: Option<RawExpression>,
    pub(crate) wrt: Option<String>,
    pub(crate) cotangent: Option<String>,
    pub(crate) into: Option<String>,
    pub(crate) target_shape: Option<S>,
    pub(crate) declared_target_shape: Option<RawShape>,
    pub(crate) axis: Option<i64>,
    pub(crate) broadcast_dimensions: Option<Vec<i64>>,
}

/// Builds a request, or reports everything that is wrong with it.
pub(crate) fn request(
    mut parts: Parts,
    given: Vec<Given>,
    spelling: Spelling,
) -> Result<Request, Vec<Malformed>> {
    let mut errors = Vec::new();
    let mut operands = operands(given, parts.into.as_deref())?;
    let declared = parts.declared_target_shape.take();
    let declared =
        declared.and_then(|raw| partial_shape(&raw, "declared_target_shape", spelling, &mut errors));
    let names = Names::new(operands.iter().map(Operand::name));
    names.repeated(&mut errors);
    let rules = rules(&parts, &mut errors);
    let operation = operation(parts, &names, &mut operands, &mut errors);
    match operation {
        Some(operation) if errors.is_empty() => {
            let made = Request::new(rules, operation, operands).and_then(|request| match declared {
                Some(declared) => request.with_declared_target(declared),
                None => Ok(request),
            });
            made.map_err(|error| vec![placed(error, &names)])
        }
        _ => Err(errors),
    }
}

fn rules<S>(parts: &Parts<S>, errors: &mut Vec<Malformed>) -> Rules {
    let set = parts.rules;
    let given = [
        (Attribute::Axis, parts.axis.is_some()),
        (Attribute::BroadcastDimensions, parts.broadcast_dimensions.is_some()),
    ];
    for (attribute, given) in given {
        if given && !set.has_attribute(attribute) {
            errors.push(attribute.misplaced(set, attribute.name()));
        }
    }
    match Rules::from(set) {
        Rules::Pdpd { .. } => Rules::Pdpd { axis: parts.axis },
        Rules::Xla { .. } => Rules::Xla { broadcast_dimensions: parts.broadcast_dimensions.clone() },
        bare @ (Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat) => bare,
    }
}

/// The operation of a run with this name.
pub(crate) fn operation_kind(name: &str) -> Result<OperationKind, Malformed> {
    OperationKind::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
        let all = OperationKind::ALL.map(OperationKind::name).join(" ");
        Malformed::new("operation", format!("`{name}`"), format!("one of {all} {INFER}"))
    })
}

fn operation(
    parts: Parts,
    names: &Names,
    operands: &mut Vec<Operand>,
    errors: &mut Vec<Malformed>,
) -> Option<Operation> {
    let kind = match parts.operation.as_deref().map_or(Ok(OperationKind::Elementwise), operation_kind) {
        Ok(kind) => kind,
        Err(error) => {
            errors.push(error);
            return None;
        }
    };
    let mut foreign = |name: &str, given: bool, belongs: bool| {
        if given && !belongs {
            let found = format!("`{name}` with the operation `{kind}`");
            errors.push(Malformed::new(name, found, "no such field"));
        }
    };
    foreign("expression", parts.expression.is_some(), kind != OperationKind::Broadcast);
    foreign("wrt", parts.wrt.is_some(), kind == OperationKind::Gradient);
    foreign("cotangent", parts.cotangent.is_some(), kind == OperationKind::Gradient);
    foreign("target_shape", parts.target_shape.is_some(), kind != OperationKind::Elementwise);
    foreign("into", parts.into.is_some(), kind == OperationKind::Elementwise);
    let missing = |name: &str| Malformed::new(name, format!("no `{name}`"), format!("one for `{kind}`"));
    if kind == OperationKind::Broadcast {
        let Some(target) = parts.target_shape else {
            errors.push(missing("target_shape"));
            return None;
        };
        return shape(&target, "target_shape", errors)
            .map(|target_shape| Operation::Broadcast { target_shape });
    }
    if let Some(target) = parts.target_shape.as_deref().filter(|_| kind == OperationKind::Gradient) {
        return gradient_of_broadcast(&parts, target, names, operands, errors);
    }
    let expression = match &parts.expression {
        Some(raw) => expression(raw, names, &mut "expression".to_owned(), 0, errors),
        None => {
            errors.push(missing("expression"));
            None
        }
    };
    if kind == OperationKind::Elementwise {
        let Some(name) = &parts.into else {
            return expression.map(|expression| Operation::Elementwise { expression });
        };
        let destination = names.place(name, "into", errors);
        return Some(Operation::Into { expression: expression?, destination: destination? });
    }
    let wrt = match &parts.wrt {
        Some(name) => names.place(name, "wrt", errors),
        None => {
            errors.push(missing("wrt"));
            None
        }
    };
    let given = parts.cotangent.as_ref();
    let cotangent = given.map(|name| take_cotangent(name, wrt, expression.as_ref(), names, operands, errors));
    let (expression, wrt) = (expression?, wrt?);
    Some(match cotangent {
        Some(cotangent) => {
            Operation::Vjp { expression, wrt, target_shape: None, cotangent: Box::new(cotangent?) }
        }
        None => Operation::Gradient { expression, wrt },
    })
}

/// The gradient of a `broadcast`: it has a target in place of an expression, and needs a cotangent.
fn gradient_of_broadcast(
    parts: &Parts,
    target: &[Natural],
    names: &Names,
    operands: &mut Vec<Operand>,
    errors: &mut Vec<Malformed>,
) -> Option<Operation> {
    if parts.expression.is_some() {
        let found = "both `expression` and `target_shape`";
        errors.push(Malformed::new("target_shape", found, "one of them"));
    }
    let mut required = |name: &'static str, given: Option<&String>| {
        if given.is_none() {
            let expected = "one for the gradient of a broadcast";
            errors.push(Malformed::new(name, format!("no `{name}`"), expected));
        }
        given.cloned()
    };
    let (wrt, cotangent) =
        (required("wrt", parts.wrt.as_ref()), required("cotangent", parts.cotangent.as_ref()));
    let target_shape = shape(target, "target_shape", errors);
    let wrt = names.place(&wrt?, "wrt", errors);
    let cotangent = take_cotangent(&cotangent?, wrt, None, names, operands, errors)?;
    Some(Operation::Vjp {
        expression: Expression::operand(0),
        wrt: wrt?,
        target_shape: Some(target_shape?),
        cotangent: Box::new(cotangent),
    })
}

/// Takes the cotangent out of the operands, of which it is the last.
fn take_cotangent(
    name: &str,
    wrt: Option<usize>,
    expression: Option<&Expression>,
    names: &Names,
    operands: &mut Vec<Operand>,
    errors: &mut Vec<Malformed>,
) -> Option<Operand> {
    let place = names.place(name, "cotangent", errors)?;
    let mut wrong = |found: String, expected: &str| errors.push(Malformed::new("cotangent", found, expected));
    if place + 1 != operands.len() {
        wrong(format!("`{name}`, which is not the last operand"), "the last of the operands (clause GRAD-4)");
        return None;
    }
    if wrt == Some(place) {
        wrong(format!("`{name}`, which is also `wrt`"), "an operand that is not differentiated by");
        return None;
    }
    if expression.is_some_and(|expression| expression.reads(place)) {
        wrong(format!("`{name}`, which the expression uses"), "an operand that the expression does not use");
        return None;
    }
    operands.pop()
}

/// Builds a signature, or reports everything that is wrong with it.
pub(crate) fn signature(
    parts: &Parts<RawShape>,
    operands: Vec<OperandType>,
    spelling: Spelling,
) -> Result<Signature, Vec<Malformed>> {
    let mut errors = Vec::new();
    let names = Names::new(operands.iter().map(OperandType::name));
    names.repeated(&mut errors);
    let rules = rules(parts, &mut errors);
    if parts.declared_target_shape.is_some() {
        let found = format!("`declared_target_shape` with the operation `{INFER}`");
        errors.push(Malformed::new("declared_target_shape", found, "no such field"));
    }
    if parts.wrt.is_some() {
        let found = format!("`wrt` with the operation `{INFER}`");
        errors.push(Malformed::new("wrt", found, "no such field: a gradient has no inference (INFER-1)"));
    }
    if parts.cotangent.is_some() {
        let found = format!("`cotangent` with the operation `{INFER}`");
        errors.push(Malformed::new(
            "cotangent",
            found,
            "no such field: a gradient has no inference (INFER-1)",
        ));
    }
    if parts.into.is_some() {
        let found = format!("`into` with the operation `{INFER}`");
        errors.push(Malformed::new("into", found, "no such field: it asks for no values"));
    }
    let asked = match (&parts.expression, &parts.target_shape) {
        (Some(raw), None) => {
            expression(raw, &names, &mut "expression".to_owned(), 0, &mut errors).map(Asked::Expression)
        }
        (None, Some(raw)) => {
            partial_shape(raw, "target_shape", spelling, &mut errors).map(Asked::TargetShape)
        }
        (Some(_), Some(_)) => {
            errors.push(Malformed::new(
                "target_shape",
                "both `expression` and `target_shape`",
                "one of them",
            ));
            None
        }
        (None, None) => {
            let found = "neither `expression` nor `target_shape`";
            errors.push(Malformed::new("expression", found, format!("one of them for `{INFER}`")));
            None
        }
    };
    match asked {
        Some(asked) if errors.is_empty() => {
            Signature::new(rules, asked, operands).map_err(|error| vec![placed(error, &names)])
        }
        _ => Err(errors),
    }
}

/// The operand of a signature at `field`.
pub(crate) fn operand_type(
    raw: RawOperandType,
    field: &str,
    spelling: Spelling,
    errors: &mut Vec<Malformed>,
) -> Option<OperandType> {
    let before = errors.len();
    let dtype = dtype(&raw.dtype, format_args!("{field}.dtype"), errors);
    let shape = partial_shape(&raw.shape, &format!("{field}.shape"), spelling, errors);
    let made = OperandType::new(raw.name, dtype?, shape?);
    let flagged = made.and_then(|operand| match raw.broadcastable {
        Some(flags) => operand.with_broadcastable(flags),
        None => Ok(operand),
    });
    match flagged {
        Ok(operand) => (errors.len() == before).then_some(operand),
        Err(error) => {
            let error = short(error);
            errors.push(Malformed { place: below(&error.place, field), ..error });
            None
        }
    }
}

/// What is known of a result, with its fields at `field`.
pub(crate) fn inference(
    parts: (&str, &RawShape, Option<&str>, Option<Vec<bool>>),
    field: &str,
    spelling: Spelling,
    errors: &mut Vec<Malformed>,
) -> Option<Inference> {
    let (name, raw, accepted, broadcastable) = parts;
    let before = errors.len();
    let dtype = dtype(name, format_args!("{field}.dtype"), errors);
    let shape = partial_shape(raw, &format!("{field}.shape"), spelling, errors);
    let accepts = accepted.and_then(|name| {
        let found = Accepts::ALL.into_iter().find(|accepts| accepts.name() == name);
        if found.is_none() {
            let all = Accepts::ALL.map(Accepts::name).join(" or ");
            errors.push(Malformed::new(format!("{field}.accepts"), format!("`{}`", shortened(name)), all));
        }
        found
    });
    let (dtype, shape) = (dtype?, shape?);
    if let Some(flags) = &broadcastable
        && shape.rank() != Some(flags.len())
    {
        let found = format!("{} for shape {shape}", counted(flags.len(), "flag"));
        let expected = shape.rank().map_or_else(|| "no flags".to_owned(), |rank| rank.to_string());
        errors.push(Malformed::new(format!("{field}.broadcastable"), found, expected));
    }
    (errors.len() == before).then_some(Inference { dtype, shape, accepts, broadcastable })
}

/// The names of operands with their positions.
pub(crate) struct Names {
    list: Vec<String>,
    places: HashMap<String, usize>,
}

impl Names {
    pub(crate) fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Names {
        let list: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let mut places = HashMap::new();
        for (place, name) in list.iter().enumerate() {
            places.entry(name.clone()).or_insert(place);
        }
        Names { list, places }
    }

    /// Reports each name that an earlier operand already has.
    fn repeated(&self, errors: &mut Vec<Malformed>) {
        for (place, name) in self.list.iter().enumerate() {
            if self.places.get(name) != Some(&place) && errors.len() < MAX_NAMES {
                let found = format!("the name `{}` twice", shortened(name));
                let expected = "unique names";
                errors.push(Malformed::new(format!("operands[{place}].name"), found, expected));
            }
        }
    }

    /// The position of an operand, by its name.
    pub(crate) fn place(&self, name: &str, field: &str, errors: &mut Vec<Malformed>) -> Option<usize> {
        let found = self.places.get(name).copied();
        if found.is_none() {
            let dots = if self.list.len() > MAX_NAMES { " …" } else { "" };
            let known = self.list.iter().take(MAX_NAMES).map(String::as_str).collect::<Vec<_>>().join(" ");
            let found = format!("`{}`", shortened(name));
            errors.push(Malformed::new(field, found, format!("an operand's name: {known}{dots}")));
        }
        found
    }
}

/// How many names a message lists, and how many repeated names are reported.
const MAX_NAMES: usize = 10;

/// Checking an expression stops after this many errors.
const MAX_EXPRESSION_ERRORS: usize = 20;

fn expression(
    raw: &RawExpression,
    names: &Names,
    field: &mut String,
    depth: usize,
    errors: &mut Vec<Malformed>,
) -> Option<Expression> {
    let list = match raw {
        RawExpression::Leaf(name) => return names.place(name, field, errors).map(Expression::operand),
        RawExpression::List(list) => list,
    };
    if errors.len() >= MAX_EXPRESSION_ERRORS {
        return None;
    }
    if depth == MAX_EXPRESSION_DEPTH {
        let found = format!("an expression nested more than {MAX_EXPRESSION_DEPTH} deep");
        let expected = format!("at most {MAX_EXPRESSION_DEPTH} levels");
        errors.push(Malformed::new(field.clone(), found, expected));
        return None;
    }
    let Some(RawExpression::Leaf(name)) = list.first() else {
        let found = if list.is_empty() { "an empty list" } else { "a list that begins with a list" };
        errors.push(Malformed::new(field.clone(), found, "`[function, argument, …]`"));
        return None;
    };
    let function = match name.parse::<Function>() {
        Ok(function) => Some(function),
        Err(_) => {
            let all: Vec<&str> = Function::ALL.iter().map(|function| function.name()).collect();
            let expected = format!("a function: {}", all.join(" "));
            errors.push(Malformed::new(format!("{field}[0]"), format!("`{name}`"), expected));
            None
        }
    };
    let length = field.len();
    if let Some(function) = function
        && list.len() - 1 != function.arity()
    {
        let found = format!("`{function}` with {}", counted(list.len() - 1, "argument"));
        errors.push(Malformed::new(field.clone(), found, format!("{}", function.arity())));
        return None;
    }
    let mut arguments = Vec::new();
    for (place, argument) in list.iter().enumerate().skip(1).take(3) {
        field.push_str(&format!("[{place}]"));
        arguments.push(expression(argument, names, field, depth + 1, errors));
        field.truncate(length);
    }
    let function = function?;
    Expression::call(function, arguments.into_iter().collect::<Option<Vec<_>>>()?).ok()
}

/// `1 value`, `2 values`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The lengths of a shape.
pub(crate) fn shape(lengths: &[Natural], field: impl Display, errors: &mut Vec<Malformed>) -> Option<Shape> {
    let fits = |length: &Natural| usize::try_from(length.0).ok();
    if let Some(long) = lengths.iter().find(|length| fits(length).is_none()) {
        errors.push(Malformed::new(
            field.to_string(),
            format!("the length {}", long.0),
            "a length that this machine can address",
        ));
    }
    lengths.iter().map(fits).collect::<Option<Vec<usize>>>().map(Shape::new)
}

/// How many values of one list are reported.
const MAX_VALUE_ERRORS: usize = 8;

/// The values of a list.
pub(crate) fn values(
    literals: &[Literal],
    dtype: DType,
    reading: Reading,
    field: impl Display,
    errors: &mut Vec<Malformed>,
) -> Option<Data> {
    let mut data = Data::empty(dtype);
    let mut wrong = 0;
    for (place, literal) in literals.iter().enumerate() {
        match literal.read(dtype, reading) {
            Ok(scalar) => data.push(scalar).ok()?,
            Err(expected) => {
                wrong += 1;
                if wrong <= MAX_VALUE_ERRORS {
                    errors.push(Malformed::new(format!("{field}[{place}]"), literal.to_string(), expected));
                }
            }
        }
    }
    (wrong == 0).then_some(data)
}

pub(crate) fn dtype(name: &str, field: impl Display, errors: &mut Vec<Malformed>) -> Option<DType> {
    let found = name.parse().ok();
    if found.is_none() {
        let all = DType::ALL.map(DType::name).join(" ");
        errors.push(Malformed::new(field.to_string(), format!("`{name}`"), format!("one of {all}")));
    }
    found
}

/// A tensor whose parts are at `field`. An empty `field` means the top level.
pub(crate) fn tensor(
    dtype: DType,
    lengths: &[Natural],
    literals: &[Literal],
    reading: Reading,
    field: &str,
    errors: &mut Vec<Malformed>,
) -> Option<Tensor> {
    let shape = shape(lengths, format_args!("{field}.shape"), errors);
    let values = values(literals, dtype, reading, format_args!("{field}.values"), errors);
    let shape = shape?;
    match shape.count() {
        Some(count) if count == literals.len() => Tensor::new(shape, values?).ok(),
        Some(count) => {
            let found = format!("{} for shape {shape}", counted(literals.len(), "value"));
            errors.push(Malformed::new(format!("{field}.values"), found, count.to_string()));
            None
        }
        None => {
            let (found, expected) = match reading {
                Reading::Exact => (shape.to_string(), "lengths other than 0 that multiply to at most 2^63-1"),
                Reading::Answer => (
                    format!("a result of shape {shape}, which is too large to be a tensor"),
                    "lengths other than 0 that multiply to at most 2^63-1, or the refusal `too_large` (clause G-1)",
                ),
            };
            errors.push(Malformed::new(format!("{field}.shape"), found, expected));
            None
        }
    }
}

/// An error about a whole request, with the operand given by its position instead of its name.
fn placed(error: Malformed, names: &Names) -> Malformed {
    let Some(rest) = error.place.strip_prefix("operands.") else { return error };
    let name = rest.split('.').next().unwrap_or(rest);
    let place = match names.places.get(name) {
        Some(place) => below(&error.place, &format!("operands[{place}]")),
        None => "operands".to_owned(),
    };
    Malformed { place, ..error }
}
