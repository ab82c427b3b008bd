//! JSON: requests and answers of the protocol, and the JSON twin of a case.
//!
//! What JSON numbers cannot express is a string: `"nan"`, `"inf"`, `"-inf"`, `"-0.0"`, and integers beyond
//! 2^53: values, lengths, strides, offsets, axes and dimensions. Readers accept both the string and the
//! number.
//!
//! With serde_json's feature `preserve_order`, objects have their fields in the order of the format; without
//! it, serde_json sorts them by name. Only the command enables it: it adds four packages to a build, and the
//! order matters to human readers alone.

use crate::assemble::{self, Names, Parts, Spelling};
use crate::expect::lower_dtype;
use crate::lint::{message, shortened};
use crate::literal::{Literal, Reading};
use crate::raw::{NameOrPlace, Natural, RawRequest, RawShape, RawSignature, wide};
use crate::signature::INFER;
use crate::{
    Admitted, Asked, Case, CaseFile, ErrorKind, Expectation, Expression, Inference, InferenceCase, Length,
    Malformed, Node, Operand, OperandType, Outcome, PartialShape, Refusal, RefusalKind, Request, RuleSet,
    Rules, Scalar, Shape, Signature, Source, Success, Sweep, Tensor,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

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
        Rules::None | Rules::Numpy | Rules::Bidirectional | Rules::Theano | Rules::Leading => {}
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

/// An answer as the protocol writes it, without its `seq`.
pub fn outcome_to_value(request: &Request, outcome: &Outcome) -> Value {
    answer_to_value(&request.names(), outcome, |success| {
        let mut result = tensor_to_value(&success.tensor, true);
        insert_extras(&mut result, success.intermediate.as_ref(), success.broadcastable.as_deref());
        if let Some(buffer) = &success.buffer {
            result["buffer"] = buffer.iter().map(scalar_to_value).collect();
        }
        ("result", result)
    })
}

/// An answer to the operation `infer` as the protocol writes it, without its `seq`.
pub fn inferred_to_value(signature: &Signature, outcome: &Outcome<Inference>) -> Value {
    answer_to_value(&signature.names(), outcome, |inference| ("inferred", inference_to_value(inference)))
}

fn answer_to_value<T>(
    names: &[&str],
    outcome: &Outcome<T>,
    success: impl FnOnce(&T) -> (&'static str, Value),
) -> Value {
    match outcome {
        Outcome::Success(answer) => {
            let (field, value) = success(answer);
            json!({ field: value })
        }
        Outcome::Refusal(refusal) => {
            let mut map = Map::new();
            map.insert("message".into(), refusal.message.clone().into());
            insert_refusal(&mut map, refusal.kind, refusal.axis, refusal.operand, names);
            json!({ "refusal": map })
        }
        Outcome::Skipped { reason } => json!({ "skipped": { "reason": reason } }),
        Outcome::Errored { message, .. } => json!({ "errored": { "message": message } }),
    }
}

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

#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Answer {
    result: Option<AnswerResult>,
    refusal: Option<AnswerRefusal>,
    skipped: Option<Skipped>,
    errored: Option<Errored>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct AnswerResult {
    dtype: String,
    #[serde(deserialize_with = "wide::list")]
    shape: Vec<Natural>,
    values: Vec<Literal>,
    intermediate: Option<AnswerIntermediate>,
    broadcastable: Option<Vec<bool>>,
    buffer: Option<Vec<Literal>>,
}

/// An answer to the operation `infer`.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct InferAnswer {
    inferred: Option<AnswerInferred>,
    refusal: Option<AnswerRefusal>,
    skipped: Option<Skipped>,
    errored: Option<Errored>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct AnswerInferred {
    dtype: String,
    shape: RawShape,
    accepts: Option<String>,
    broadcastable: Option<Vec<bool>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct AnswerIntermediate {
    #[serde(deserialize_with = "wide::list")]
    shape: Vec<Natural>,
    values: Vec<Literal>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct AnswerRefusal {
    message: Option<String>,
    kind: Option<String>,
    #[serde(default, deserialize_with = "wide::some")]
    axis: Option<Natural>,
    operand: Option<NameOrPlace>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Skipped {
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Errored {
    message: Option<String>,
}

/// Reads an answer to a request. Unknown fields, including `seq`, are ignored; a float is rounded to the
/// dtype; an integer may be written `8.0`.
///
/// # Errors
/// The first thing that makes the answer invalid.
///
/// ```
/// use broadcheck_spec::{Expression, Operand, Operation, Outcome, Request, Rules, Tensor, json};
/// let operation = Operation::Elementwise { expression: Expression::operand(0) };
/// let operands = vec![Operand::dense("a", [1], vec![8i32]).unwrap()];
/// let request = Request::new(Rules::Numpy, operation, operands).unwrap();
/// let line = r#"{"seq":1,"result":{"dtype":"i32","shape":[1],"values":[8.0]},"elapsed":3}"#;
/// let outcome = json::outcome_from_str(&request, line).unwrap();
/// assert_eq!(outcome, Outcome::Success(Tensor::new([1], vec![8i32]).unwrap().into()));
/// let line = r#"{"seq":1,"result":{"dtype":"i32","shape":[2],"values":[8]}}"#;
/// let error = json::outcome_from_str(&request, line);
/// assert_eq!(error.unwrap_err().to_string(), "result.values: found 1 value for shape (2), expected 2");
/// ```
pub fn outcome_from_str(request: &Request, text: &str) -> Result<Outcome, Malformed> {
    let Answer { result, refusal, skipped, errored } = answer(text)?;
    let found = Outcomes { success: result, refusal, skipped, errored };
    found.only("result", &request.names(), |result| success(request, &result))
}

/// Reads an answer to the operation `infer`. Unknown fields, including `seq`, are ignored; a length may have
/// any spelling, such as `{"min":2,"max":2}` for 2.
///
/// # Errors
/// The first thing that makes the answer invalid.
///
/// ```
/// use broadcheck_spec::{Asked, DType, OperandType, Outcome, PartialShape, Rules, Signature, json};
/// let shape = |text: &str| text.parse::<PartialShape>().unwrap();
/// let operand = OperandType::new("a", DType::F32, shape("?"))?;
/// let signature = Signature::new(Rules::Numpy, Asked::TargetShape(shape("3")), vec![operand])?;
/// let line = r#"{"seq":1,"inferred":{"dtype":"f32","shape":[{"min":3,"max":3}]}}"#;
/// let Outcome::Success(inference) = json::inferred_from_str(&signature, line)? else { panic!() };
/// assert_eq!(inference.shape, shape("3"));
/// # Ok::<(), broadcheck_spec::Malformed>(())
/// ```
pub fn inferred_from_str(signature: &Signature, text: &str) -> Result<Outcome<Inference>, Malformed> {
    let InferAnswer { inferred, refusal, skipped, errored } = answer(text)?;
    let found = Outcomes { success: inferred, refusal, skipped, errored };
    found.only("inferred", &signature.names(), |raw| {
        let mut errors = Vec::new();
        let parts = (raw.dtype.as_str(), &raw.shape, raw.accepts.as_deref(), raw.broadcastable);
        let inference = assemble::inference(parts, "inferred", Spelling::Any, &mut errors);
        inference.ok_or_else(|| first(errors))
    })
}

fn answer<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, Malformed> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let answer = serde_path_to_error::deserialize(&mut reader).map_err(|error| typed(&error))?;
    reader.end().map_err(|error| syntax(&error))?;
    Ok(answer)
}

/// The outcomes that an answer has, of which there must be one.
struct Outcomes<T> {
    success: Option<T>,
    refusal: Option<AnswerRefusal>,
    skipped: Option<Skipped>,
    errored: Option<Errored>,
}

impl<T> Outcomes<T> {
    /// The only outcome. `field` is where a success is.
    fn only<S>(
        self,
        field: &str,
        names: &[&str],
        success: impl FnOnce(T) -> Result<S, Malformed>,
    ) -> Result<Outcome<S>, Malformed> {
        let one_of = |found: &str| {
            let expected = format!("exactly one of `{field}`, `refusal`, `skipped`, `errored`");
            Malformed::new("answer", found, expected)
        };
        match self {
            Outcomes { success: Some(answer), refusal: None, skipped: None, errored: None } => {
                success(answer).map(Outcome::Success)
            }
            Outcomes { success: None, refusal: Some(refusal), skipped: None, errored: None } => {
                refused(names, refusal).map(Outcome::Refusal)
            }
            Outcomes { success: None, refusal: None, skipped: Some(skipped), errored: None } => {
                Ok(Outcome::Skipped { reason: skipped.reason.unwrap_or_default() })
            }
            Outcomes { success: None, refusal: None, skipped: None, errored: Some(errored) } => {
                Ok(Outcome::errored(ErrorKind::Reported, errored.message.unwrap_or_default()))
            }
            Outcomes { success: None, refusal: None, skipped: None, errored: None } => {
                Err(one_of("no outcome"))
            }
            Outcomes { .. } => Err(one_of("several outcomes")),
        }
    }
}

fn success(request: &Request, raw: &AnswerResult) -> Result<Success, Malformed> {
    let mut errors = Vec::new();
    let dtype = assemble::dtype(&raw.dtype, "result.dtype", &mut errors);
    let tensor = dtype.and_then(|dtype| {
        assemble::tensor(dtype, &raw.shape, &raw.values, Reading::Answer, "result", &mut errors)
    });
    let intermediate = raw.intermediate.as_ref().and_then(|raw| {
        // Without a lower operand there should be no intermediate, which the judge reports.
        let dtype = lower_dtype(request).or(dtype)?;
        let field = "result.intermediate";
        assemble::tensor(dtype, &raw.shape, &raw.values, Reading::Answer, field, &mut errors)
    });
    let buffer = raw.buffer.as_ref().and_then(|literals| {
        // Without a destination there should be no buffer, which the judge reports.
        let dtype = request.destination().map(Operand::dtype).or(dtype)?;
        assemble::values(literals, dtype, Reading::Answer, "result.buffer", &mut errors)
    });
    match tensor {
        Some(tensor) if errors.is_empty() => {
            Ok(Success { tensor, intermediate, broadcastable: raw.broadcastable.clone(), buffer })
        }
        _ => Err(first(errors)),
    }
}

fn refused(names: &[&str], raw: AnswerRefusal) -> Result<Refusal, Malformed> {
    let kind = match raw.kind {
        None => None,
        Some(name) => Some(name.parse::<RefusalKind>().map_err(|_| {
            let all: Vec<&str> = RefusalKind::ALL.iter().map(|kind| kind.name()).collect();
            Malformed::new(
                "refusal.kind",
                format!("`{}`", shortened(&name)),
                format!("one of {}", all.join(" ")),
            )
        })?),
    };
    let whole = |Natural(number): Natural| usize::try_from(number).unwrap_or(usize::MAX);
    let operand = match raw.operand {
        None => None,
        Some(NameOrPlace::Place(place)) => Some(whole(Natural(place))),
        Some(NameOrPlace::Name(name)) => {
            let names = Names::new(names.iter().copied());
            let mut errors = Vec::new();
            let place = names.place(&name, "refusal.operand", &mut errors);
            if place.is_none() {
                return Err(first(errors));
            }
            place
        }
    };
    Ok(Refusal { kind, axis: raw.axis.map(whole), operand, message: raw.message.unwrap_or_default() })
}

/// The JSON twin of a case: the fields of the case file, including the rule set.
pub fn case_to_json(case: &Case) -> Value {
    let insert = |map: &mut Map<String, Value>| insert_request(map, &case.request);
    whole_case(case, case.request.rules().set(), &case.request.names(), insert, |expected| {
        let mut result = tensor_to_value(&expected.tensor, true);
        insert_extras(&mut result, expected.intermediate.as_ref(), expected.broadcastable.as_deref());
        if let Some(ulp) = expected.tolerance_ulp {
            result["tolerance"] = json!({ "ulp": ulp });
        }
        if expected.any_zero_sign {
            result["zero_sign"] = "any".into();
        }
        ("result", result)
    })
}

/// The JSON twin of a case of the operation `infer`.
pub fn inference_case_to_json(case: &InferenceCase) -> Value {
    let signature = &case.request;
    let insert = |map: &mut Map<String, Value>| insert_signature(map, signature);
    whole_case(case, signature.rules().set(), &signature.names(), insert, |inference| {
        ("inferred", inference_to_value(inference))
    })
}

fn whole_case<R, T>(
    case: &Case<R, T>,
    rules: RuleSet,
    names: &[&str],
    insert_request: impl FnOnce(&mut Map<String, Value>),
    success: impl FnOnce(&T) -> (&'static str, Value),
) -> Value {
    let mut map = head(&case.id, &case.title, &case.clause, &case.examples, &case.sources);
    if let Some(convention) = case.convention {
        map.insert("convention".into(), convention.name().into());
    }
    map.insert("origin".into(), case.origin.to_string().into());
    map.insert("rules".into(), rules.name().into());
    insert_request(&mut map);
    match &case.expectation {
        Expectation::Result(expected) => {
            let (field, value) = success(expected);
            map.insert(field.into(), value);
        }
        Expectation::Refusal(expected) => {
            let mut refusal = Map::new();
            if expected.kind.is_none() {
                refusal.insert("kind".into(), "any".into());
            }
            insert_refusal(&mut refusal, expected.kind, expected.axis, expected.operand, names);
            map.insert("refusal".into(), refusal.into());
        }
    }
    insert_note(&mut map, case.note.as_ref());
    Value::Object(map)
}

/// The field `admitted` of a result: from the position of an element to its entries.
///
/// ```
/// use broadcheck_spec::{Admitted, Scalar, json};
/// let interval = Admitted::Between { lower: Scalar::F32(1.0), upper: Scalar::F32(1.5) };
/// let nan = Admitted::Value(Scalar::F32(f32::NAN));
/// assert_eq!(
///     json::admitted_to_value(&[(3, vec![interval, nan])].into()),
///     serde_json::json!({"3": [
///         {"lower": 1.0, "upper": 1.5, "lower_bits": "0x3f800000", "upper_bits": "0x3fc00000"},
///         {"value": "nan", "bits": "0x7fc00000"},
///     ]})
/// );
/// ```
pub fn admitted_to_value(admitted: &BTreeMap<usize, Vec<Admitted>>) -> Value {
    let entries =
        |entries: &[Admitted]| entries.iter().map(|&entry| entry_to_value(entry)).collect::<Value>();
    admitted.iter().map(|(place, list)| (place.to_string(), entries(list))).collect()
}

fn entry_to_value(entry: Admitted) -> Value {
    match entry {
        Admitted::Value(value) => {
            json!({ "value": scalar_to_value(value), "bits": value.bits_in_hexadecimal() })
        }
        Admitted::Between { lower, upper } => json!({
            "lower": scalar_to_value(lower),
            "upper": scalar_to_value(upper),
            "lower_bits": lower.bits_in_hexadecimal(),
            "upper_bits": upper.bits_in_hexadecimal(),
        }),
    }
}

/// The JSON twin of a sweep.
pub fn sweep_to_json(sweep: &Sweep) -> Value {
    let mut map = head(&sweep.id, &sweep.title, &sweep.clause, &sweep.examples, &sweep.sources);
    map.insert("sweep".into(), sweep.sweep.clone().into());
    if !sweep.with.is_empty() {
        map.insert(
            "with".into(),
            sweep.with.iter().map(|(name, bound)| (name.clone(), Value::from(*bound))).collect(),
        );
    }
    map.insert("expect".into(), json!({ "cases": sweep.expected_cases }));
    insert_note(&mut map, sweep.note.as_ref());
    Value::Object(map)
}

/// The JSON twin of a case file.
pub fn file_to_json(file: &CaseFile) -> Value {
    let mut map = Map::new();
    map.insert("format".into(), crate::FORMAT.into());
    let cases: Vec<Value> = file
        .cases
        .iter()
        .map(case_to_json)
        .chain(file.inferences.iter().map(inference_case_to_json))
        .collect();
    if !cases.is_empty() {
        map.insert("cases".into(), cases.into());
    }
    if !file.sweeps.is_empty() {
        map.insert("sweeps".into(), file.sweeps.iter().map(sweep_to_json).collect());
    }
    Value::Object(map)
}

fn head(id: &str, title: &str, clause: &str, examples: &[String], sources: &[Source]) -> Map<String, Value> {
    let mut map = Map::new();
    map.insert("id".into(), id.into());
    map.insert("title".into(), title.into());
    map.insert("clause".into(), clause.into());
    if !examples.is_empty() {
        map.insert("example".into(), examples.into());
    }
    if !sources.is_empty() {
        map.insert("source".into(), sources.iter().map(source_to_value).collect());
    }
    map
}

fn insert_note(map: &mut Map<String, Value>, note: Option<&String>) {
    if let Some(note) = note {
        map.insert("note".into(), note.clone().into());
    }
}

fn source_to_value(source: &Source) -> Value {
    match source {
        Source::Document { key, lines } => json!({ "document": key, "lines": lines }),
        Source::Url(url) => json!({ "url": url }),
    }
}
