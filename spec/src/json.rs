//! JSON: requests and answers of the protocol, and the JSON twin of a case.
//!
//! What JSON numbers cannot express is a string: `"nan"`, `"inf"`, `"-inf"`, `"-0.0"`, and integers beyond
//! 2^53: values, lengths, strides, offsets, axes and dimensions. Readers accept both the string and the
//! number.
//!
//! With serde_json's feature `preserve_order`, objects have their fields in the order of the format; without
//! it, serde_json sorts them by name. Only the command enables it: it adds four packages to a build, and the
//! order matters to human readers alone.

use crate::assemble::{self, Names, Parts};
use crate::expect::lower_dtype;
use crate::lint::{message, shortened};
use crate::literal::{Literal, Reading};
use crate::raw::{NameOrPlace, Natural, RawRequest, wide};
use crate::{
    Admitted, Case, CaseFile, ErrorKind, Expectation, Expression, Malformed, Node, Operand, Operation,
    Outcome, Refusal, RefusalKind, Request, RuleSet, Rules, Scalar, Shape, Source, Success, Sweep, Tensor,
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
    if let Some(expression) = operation.expression() {
        map.insert("expression".into(), expression_to_value(expression, request));
    }
    map.insert("operands".into(), request.operands().iter().map(operand_to_value).collect());
    match operation {
        Operation::Elementwise { .. } => {}
        Operation::Broadcast { target_shape } => {
            map.insert("target_shape".into(), lengths_to_value(target_shape));
        }
        Operation::Gradient { wrt, .. } => {
            map.insert("wrt".into(), request.operands()[*wrt].name().into());
        }
    }
    match request.rules() {
        Rules::Pdpd { axis: Some(axis) } => {
            map.insert("axis".into(), integer_to_value((*axis).into()));
        }
        Rules::Xla { broadcast_dimensions: Some(dimensions) } => {
            map.insert("broadcast_dimensions".into(), integers_to_value(dimensions));
        }
        Rules::Pdpd { axis: None } | Rules::Xla { broadcast_dimensions: None } => {}
        Rules::None | Rules::Numpy | Rules::Bidirectional | Rules::Theano => {}
    }
}

fn expression_to_value(expression: &Expression, request: &Request) -> Value {
    expression.fold(|_, node, mut list: Vec<Value>| match node {
        Node::Operand(place) => request.operands()[place].name().into(),
        Node::Call(call) => {
            list.insert(0, call.function().name().into());
            Value::Array(list)
        }
    })
}

fn operand_to_value(operand: &Operand) -> Value {
    let mut map = Map::new();
    map.insert("name".into(), operand.name().into());
    map.insert("dtype".into(), operand.dtype().name().into());
    map.insert("shape".into(), lengths_to_value(operand.shape()));
    if let Some(strides) = operand.strides() {
        map.insert("strides".into(), integers_to_value(strides));
        map.insert("offset".into(), length_to_value(operand.offset()));
    }
    if let Some(flags) = operand.broadcastable() {
        map.insert("broadcastable".into(), flags.into());
    }
    map.insert("values".into(), operand.values().iter().map(scalar_to_value).collect());
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
    let rules: RuleSet = raw.rules.parse().map_err(|_| {
        let expected = format!("one of {}", RuleSet::ALL.map(RuleSet::name).join(" "));
        Malformed::new("rules", format!("`{}`", shortened(&raw.rules)), expected)
    })?;
    let mut errors = Vec::new();
    let mut operands = Vec::new();
    for (place, operand) in raw.operands.into_iter().enumerate() {
        operands.extend(assemble::operand(operand, &format!("operands[{place}]"), &mut errors));
    }
    if !errors.is_empty() {
        return Err(first(errors));
    }
    let parts = Parts {
        rules,
        operation: raw.operation,
        expression: raw.expression,
        wrt: raw.wrt,
        target_shape: raw.target_shape,
        axis: raw.axis,
        broadcast_dimensions: raw.broadcast_dimensions,
    };
    assemble::request(parts, operands).map_err(first)
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
    match outcome {
        Outcome::Success(success) => {
            let mut result = tensor_to_value(&success.tensor, true);
            insert_extras(&mut result, success.intermediate.as_ref(), success.broadcastable.as_deref());
            json!({ "result": result })
        }
        Outcome::Refusal(refusal) => {
            let mut map = Map::new();
            map.insert("message".into(), refusal.message.clone().into());
            insert_refusal(&mut map, refusal.kind, refusal.axis, refusal.operand, request);
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
    request: &Request,
) {
    if let Some(kind) = kind {
        map.insert("kind".into(), kind.name().into());
    }
    if let Some(axis) = axis {
        map.insert("axis".into(), length_to_value(axis));
    }
    if let Some(operand) = operand.and_then(|place| request.operands().get(place)) {
        map.insert("operand".into(), operand.name().into());
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
    let mut reader = serde_json::Deserializer::from_str(text);
    let answer: Answer = serde_path_to_error::deserialize(&mut reader).map_err(|error| typed(&error))?;
    reader.end().map_err(|error| syntax(&error))?;
    match answer {
        Answer { result: Some(result), refusal: None, skipped: None, errored: None } => {
            success(request, &result).map(Outcome::Success)
        }
        Answer { result: None, refusal: Some(refusal), skipped: None, errored: None } => {
            refused(request, refusal).map(Outcome::Refusal)
        }
        Answer { result: None, refusal: None, skipped: Some(skipped), errored: None } => {
            Ok(Outcome::Skipped { reason: skipped.reason.unwrap_or_default() })
        }
        Answer { result: None, refusal: None, skipped: None, errored: Some(errored) } => {
            Ok(Outcome::errored(ErrorKind::Reported, errored.message.unwrap_or_default()))
        }
        Answer { result: None, refusal: None, skipped: None, errored: None } => Err(one_of("no outcome")),
        Answer { .. } => Err(one_of("several outcomes")),
    }
}

fn one_of(found: &str) -> Malformed {
    Malformed::new("answer", found, "exactly one of `result`, `refusal`, `skipped`, `errored`")
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
    match tensor {
        Some(tensor) if errors.is_empty() => {
            Ok(Success { tensor, intermediate, broadcastable: raw.broadcastable.clone() })
        }
        _ => Err(first(errors)),
    }
}

fn refused(request: &Request, raw: AnswerRefusal) -> Result<Refusal, Malformed> {
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
            let names = Names::new(request.names());
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
    let mut map = head(&case.id, &case.title, &case.clause, &case.examples, &case.sources);
    if let Some(convention) = case.convention {
        map.insert("convention".into(), convention.name().into());
    }
    map.insert("origin".into(), case.origin.to_string().into());
    map.insert("rules".into(), case.request.rules().set().name().into());
    insert_request(&mut map, &case.request);
    match &case.expectation {
        Expectation::Result(expected) => {
            let mut result = tensor_to_value(&expected.tensor, true);
            insert_extras(&mut result, expected.intermediate.as_ref(), expected.broadcastable.as_deref());
            if let Some(ulp) = expected.tolerance_ulp {
                result["tolerance"] = json!({ "ulp": ulp });
            }
            if expected.any_zero_sign {
                result["zero_sign"] = "any".into();
            }
            map.insert("result".into(), result);
        }
        Expectation::Refusal(expected) => {
            let mut refusal = Map::new();
            if expected.kind.is_none() {
                refusal.insert("kind".into(), "any".into());
            }
            insert_refusal(&mut refusal, expected.kind, expected.axis, expected.operand, &case.request);
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
    if !file.cases.is_empty() {
        map.insert("cases".into(), file.cases.iter().map(case_to_json).collect());
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
