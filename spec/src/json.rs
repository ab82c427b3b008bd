//! JSON: requests and answers of the protocol, and the JSON twin of a case.
//!
//! What JSON numbers cannot express is a string: `"nan"`, `"inf"`, `"-inf"`, `"-0.0"`, and integers beyond
//! 2^53: values, lengths, strides, offsets, axes and dimensions. Readers accept both the string and the
//! number.
//!
//! With serde_json's feature `preserve_order`, objects have their fields in the order of the format; without
//! it, serde_json sorts them by name. Only the command enables it: it adds four packages to a build, and the
//! order matters to human readers alone.

mod answer;
mod case;

pub use answer::{inferred_from_str, inferred_to_value, outcome_from_str, outcome_to_value};
pub use case::{admitted_to_value, case_to_json, file_to_json, inference_case_to_json, sweep_to_json};

use crate::assemble::{self, Parts, Spelling};
use crate::lint::{message, shortened};
use crate::raw::{RawRequest, RawSignature};
use crate::signature::INFER;
use crate::{
    Asked, Expression, Inference, Length, Malformed, Node, Operand, OperandType, PartialShape, RefusalKind,
    Request, RuleSet, Rules, Scalar, Shape, Signature, Tensor,
};
use serde_json::{Map, Value};

/// Integers up to this size are JSON numbers: every reader represents them exactly.
const SAFE: i128 = 1 << 53;

/// A request as the protocol writes it.
///
/// ```
/// use broadcheck_spec::{Operand, Expression, Operation, Request, Rules, json};
/// let operation = Operation::Elementwise { expression: Expression::operand(0) };
/// let operand = Operand::dense("a", [2], vec![1.5f32, -0.0]).unwrap();
/// let request = Request::new(Rules::Numpy, operation, vec![operand]).unwrap();
/// let text = json::request_to_value(&request).to_string();
/// let operand = r#"{"name":"a","dtype":"f32","shape":[2],"values":[1.5,"-0.0"]}"#;
/// assert_eq!(
///     text,
///     format!(r#"{{"rules":"numpy","operation":"elementwise","expression":"a","operands":[{operand}]}}"#)
/// );
/// assert_eq!(json::request_from_str(&text).unwrap(), request);
/// ```
pub fn request_to_value(request: &Request) -> Value {
    let mut map = Map::new();
    map.insert("rules".into(), request.rules().set().name().into());
    insert_request(&mut map, request);
    Value::Object(map)
}

/// The fields of a request, without its rule set.
fn insert_request(map: &mut Map<String, Value>, request: &Request) {
    let operation = request.operation();
    map.insert("operation".into(), operation.kind().name().into());
    let target = operation.target_shape();
    if let (Some(expression), None) = (operation.expression(), target) {
        map.insert("expression".into(), expression_to_value(expression, &request.names()));
    }
    let destination = request.destination().map(Operand::name);
    let operands = request.with_values().map(|operand| operand_to_value(operand, destination));
    map.insert("operands".into(), operands.collect());
    if let Some(target) = target {
        map.insert("target_shape".into(), lengths_to_value(target));
    }
    if let Some(declared) = request.declared_target() {
        map.insert("declared_target_shape".into(), partial_shape_to_value(declared));
    }
    if let Some(wrt) = operation.wrt() {
        map.insert("wrt".into(), request.operands()[wrt].name().into());
    }
    if let Some(cotangent) = operation.cotangent() {
        map.insert("cotangent".into(), cotangent.name().into());
    }
    if let Some(destination) = request.destination() {
        map.insert("into".into(), destination.name().into());
    }
    insert_attributes(map, request.rules());
}

fn insert_attributes(map: &mut Map<String, Value>, rules: &Rules) {
    match rules {
        Rules::Pdpd { axis: Some(axis) } => {
            map.insert("axis".into(), integer_to_value((*axis).into()));
        }
        Rules::Xla { broadcast_dimensions: Some(dimensions) } => {
            map.insert("broadcast_dimensions".into(), integers_to_value(dimensions));
        }
        Rules::Pdpd { axis: None } | Rules::Xla { broadcast_dimensions: None } => {}
        Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => {}
    }
}

/// A request of the operation `infer` as the protocol writes it.
///
/// ```
/// use broadcheck_spec::{Asked, DType, OperandType, PartialShape, Rules, Signature, json};
/// let shape = |text: &str| text.parse::<PartialShape>().unwrap();
/// let operand = OperandType::new("a", DType::F32, shape("?x1..3"))?;
/// let signature = Signature::new(Rules::Numpy, Asked::TargetShape(shape("...")), vec![operand])?;
/// let text = json::signature_to_value(&signature).to_string();
/// let operand = r#"{"name":"a","dtype":"f32","shape":["?",{"min":1,"max":3}]}"#;
/// assert_eq!(
///     text,
///     format!(r#"{{"rules":"numpy","operation":"infer","operands":[{operand}],"target_shape":"..."}}"#)
/// );
/// assert_eq!(json::signature_from_str(&text)?, signature);
/// # Ok::<(), broadcheck_spec::Malformed>(())
/// ```
pub fn signature_to_value(signature: &Signature) -> Value {
    let mut map = Map::new();
    map.insert("rules".into(), signature.rules().set().name().into());
    insert_signature(&mut map, signature);
    Value::Object(map)
}

/// The fields of a request of the operation `infer`, without its rule set.
fn insert_signature(map: &mut Map<String, Value>, signature: &Signature) {
    map.insert("operation".into(), INFER.into());
    if let Asked::Expression(expression) = signature.asked() {
        map.insert("expression".into(), expression_to_value(expression, &signature.names()));
    }
    map.insert("operands".into(), signature.operands().iter().map(operand_type_to_value).collect());
    if let Asked::TargetShape(target) = signature.asked() {
        map.insert("target_shape".into(), partial_shape_to_value(target));
    }
    insert_attributes(map, signature.rules());
}

fn operand_type_to_value(operand: &OperandType) -> Value {
    let mut map = Map::new();
    map.insert("name".into(), operand.name().into());
    map.insert("dtype".into(), operand.dtype().name().into());
    map.insert("shape".into(), partial_shape_to_value(operand.shape()));
    if let Some(flags) = operand.broadcastable() {
        map.insert("broadcastable".into(), flags.into());
    }
    Value::Object(map)
}

fn partial_shape_to_value(shape: &PartialShape) -> Value {
    match shape.lengths() {
        Some(lengths) => lengths.iter().map(|&length| partial_length_to_value(length)).collect(),
        None => "...".into(),
    }
}

fn partial_length_to_value(length: Length) -> Value {
    if let Some(number) = length.number() {
        return length_to_value(number);
    }
    if length == Length::UNKNOWN {
        return "?".into();
    }
    let mut bounds = Map::new();
    if length.min() != 0 {
        bounds.insert("min".into(), length_to_value(length.min()));
    }
    if let Some(max) = length.max() {
        bounds.insert("max".into(), length_to_value(max));
    }
    bounds.into()
}

fn inference_to_value(inference: &Inference) -> Value {
    let mut map = Map::new();
    map.insert("dtype".into(), inference.dtype.name().into());
    map.insert("shape".into(), partial_shape_to_value(&inference.shape));
    if let Some(accepts) = inference.accepts {
        map.insert("accepts".into(), accepts.name().into());
    }
    if let Some(flags) = &inference.broadcastable {
        map.insert("broadcastable".into(), flags.clone().into());
    }
    map.into()
}

fn expression_to_value(expression: &Expression, names: &[&str]) -> Value {
    expression.fold(|_, node, mut list: Vec<Value>| match node {
        Node::Operand(place) => names[place].into(),
        Node::Call(call) => {
            list.insert(0, call.function().name().into());
            Value::Array(list)
        }
    })
}

/// An operand. `destination` is the name of the request's destination, if it has one.
fn operand_to_value(operand: &Operand, destination: Option<&str>) -> Value {
    let mut map = Map::new();
    map.insert("name".into(), operand.name().into());
    map.insert("dtype".into(), operand.dtype().name().into());
    map.insert("shape".into(), lengths_to_value(operand.shape()));
    if let Some(declared) = operand.declared() {
        map.insert("declared".into(), partial_shape_to_value(declared));
    }
    if let Some(strides) = operand.strides() {
        map.insert("strides".into(), integers_to_value(strides));
        map.insert("offset".into(), length_to_value(operand.offset()));
    }
    if let Some(flags) = operand.broadcastable() {
        map.insert("broadcastable".into(), flags.into());
    }
    if operand.is_constant() {
        map.insert("constant".into(), true.into());
    }
    if let Some(name) = operand.same() {
        map.insert("same".into(), name.into());
    }
    match destination.filter(|_| operand.reads_destination()) {
        Some(name) => map.insert("of".into(), name.into()),
        None => map.insert("values".into(), operand.values().iter().map(scalar_to_value).collect()),
    };
    Value::Object(map)
}

/// A value as JSON writes it.
fn scalar_to_value(scalar: Scalar) -> Value {
    if let Some(value) = scalar.as_f64() {
        return match value {
            value if value.is_nan() => "nan".into(),
            f64::INFINITY => "inf".into(),
            f64::NEG_INFINITY => "-inf".into(),
            value if value == 0.0 && value.is_sign_negative() => "-0.0".into(),
            value => value.into(),
        };
    }
    match (scalar, scalar.as_i128()) {
        (Scalar::Bool(value), _) => value.into(),
        (_, Some(value)) => integer_to_value(value),
        (other, None) => other.literal().into(),
    }
}

/// An integer as JSON writes it: as a string if it is beyond 2^53.
fn integer_to_value(value: i128) -> Value {
    match i64::try_from(value) {
        Ok(small) if value.abs() <= SAFE => small.into(),
        _ => value.to_string().into(),
    }
}

fn integers_to_value(values: &[i64]) -> Value {
    values.iter().map(|&value| integer_to_value(value.into())).collect()
}

fn length_to_value(length: usize) -> Value {
    integer_to_value(i128::try_from(length).unwrap_or(i128::MAX))
}

fn lengths_to_value(shape: &Shape) -> Value {
    shape.lengths().iter().map(|&length| length_to_value(length)).collect()
}

fn tensor_to_value(tensor: &Tensor, with_dtype: bool) -> Value {
    let mut map = Map::new();
    if with_dtype {
        map.insert("dtype".into(), tensor.dtype().name().into());
    }
    map.insert("shape".into(), lengths_to_value(tensor.shape()));
    map.insert("values".into(), tensor.values().iter().map(scalar_to_value).collect());
    Value::Object(map)
}

fn insert_extras(map: &mut Value, intermediate: Option<&Tensor>, flags: Option<&[bool]>) {
    if let Some(intermediate) = intermediate {
        map["intermediate"] = tensor_to_value(intermediate, false);
    }
    if let Some(flags) = flags {
        map["broadcastable"] = flags.into();
    }
}

/// Reads a request of the protocol. Unknown fields are ignored.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn request_from_str(text: &str) -> Result<Request, Malformed> {
    request_from_value(serde_json::from_str(text).map_err(|error| syntax(&error))?)
}

/// Reads a request of the protocol from a parsed object. Unknown fields are ignored.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn request_from_value(value: Value) -> Result<Request, Malformed> {
    let raw: RawRequest = serde_path_to_error::deserialize(value).map_err(|error| typed(&error))?;
    let rules = rule_set(&raw.rules)?;
    let mut errors = Vec::new();
    let mut operands = Vec::new();
    for (place, operand) in raw.operands.into_iter().enumerate() {
        let field = format!("operands[{place}]");
        operands.extend(assemble::given(operand, &field, Spelling::Any, &mut errors));
    }
    if !errors.is_empty() {
        return Err(first(errors));
    }
    let parts = Parts {
        rules,
        operation: raw.operation,
        expression: raw.expression,
        wrt: raw.wrt,
        cotangent: raw.cotangent,
        into: raw.into,
        target_shape: raw.target_shape,
        declared_target_shape: raw.declared_target_shape,
        axis: raw.axis,
        broadcast_dimensions: raw.broadcast_dimensions,
    };
    assemble::request(parts, operands, Spelling::Any).map_err(first)
}

fn rule_set(name: &str) -> Result<RuleSet, Malformed> {
    name.parse().map_err(|_| {
        let expected = format!("one of {}", RuleSet::ALL.map(RuleSet::name).join(" "));
        Malformed::new("rules", format!("`{}`", shortened(name)), expected)
    })
}

/// Reads a request of the operation `infer`. Unknown fields are ignored.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn signature_from_str(text: &str) -> Result<Signature, Malformed> {
    signature_from_value(serde_json::from_str(text).map_err(|error| syntax(&error))?)
}

/// Reads a request of the operation `infer` from a parsed object. Unknown fields are ignored.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn signature_from_value(value: Value) -> Result<Signature, Malformed> {
    let raw: RawSignature = serde_path_to_error::deserialize(value).map_err(|error| typed(&error))?;
    let rules = rule_set(&raw.rules)?;
    let mut errors = Vec::new();
    let mut operands = Vec::new();
    for (place, operand) in raw.operands.into_iter().enumerate() {
        let field = format!("operands[{place}]");
        operands.extend(assemble::operand_type(operand, &field, Spelling::Any, &mut errors));
    }
    if !errors.is_empty() {
        return Err(first(errors));
    }
    let parts = Parts {
        rules,
        operation: None,
        expression: raw.expression,
        wrt: raw.wrt,
        cotangent: raw.cotangent,
        into: raw.into,
        target_shape: raw.target_shape,
        declared_target_shape: None,
        axis: raw.axis,
        broadcast_dimensions: raw.broadcast_dimensions,
    };
    assemble::signature(&parts, operands, Spelling::Any).map_err(first)
}

/// A request of the protocol: of a run, or of the operation `infer`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// A request with values.
    Run(Request),
    /// A request of the operation `infer`.
    Infer(Signature),
}

/// Reads a request of the protocol of any operation. Unknown fields are ignored.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn question_from_value(value: Value) -> Result<Question, Malformed> {
    if value.get("operation").and_then(Value::as_str) == Some(INFER) {
        signature_from_value(value).map(Question::Infer)
    } else {
        request_from_value(value).map(Question::Run)
    }
}

fn first(errors: Vec<Malformed>) -> Malformed {
    let first = errors.into_iter().next().unwrap_or_else(|| Malformed::new("request", "no request", "one"));
    limited(&first.place, &first.found, &first.expected)
}

/// An error with short texts, however long the line is.
fn limited(place: &str, found: &str, expected: &str) -> Malformed {
    Malformed::new(message(place), message(found), message(expected))
}

fn syntax(error: &serde_json::Error) -> Malformed {
    Malformed::new("line", error.to_string(), "a JSON object")
}

fn typed(error: &serde_path_to_error::Error<serde_json::Error>) -> Malformed {
    let (found, expected) = crate::convert::sentence(&error.inner().to_string());
    limited(&error.path().to_string(), &found, &expected)
}

/// The fields of a refusal, in answers and in cases.
fn insert_refusal(
    map: &mut Map<String, Value>,
    kind: Option<RefusalKind>,
    axis: Option<usize>,
    operand: Option<usize>,
    names: &[&str],
) {
    if let Some(kind) = kind {
        map.insert("kind".into(), kind.name().into());
    }
    if let Some(axis) = axis {
        map.insert("axis".into(), length_to_value(axis));
    }
    if let Some(&name) = operand.and_then(|place| names.get(place)) {
        map.insert("operand".into(), name.into());
    }
}
