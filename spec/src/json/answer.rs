//! Answers of the protocol, written and read.

use super::{
    first, inference_to_value, insert_extras, insert_refusal, scalar_to_value, syntax, tensor_to_value, typed,
};
use crate::assemble::{self, Names, Spelling};
use crate::expect::lower_dtype;
use crate::lint::shortened;
use crate::literal::{Literal, Reading};
use crate::raw::{NameOrPlace, Natural, RawShape, wide};
use crate::{
    ErrorKind, Inference, Malformed, Operand, Outcome, Refusal, RefusalKind, Request, Signature, Success,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

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
