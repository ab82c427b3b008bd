//! The library to judge. The judge in main.rs knows of the library only what is public here.

pub use naive::{Array, Refused, Value};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::collections::HashMap;

/// The rule set that the library follows.
pub const RULES: &str = "numpy";

/// What the library would need to express the request in a case.
pub fn lacks(case: &Json) -> Option<&str> {
    let mut dtypes = case["operands"].as_array()?.iter().filter_map(|operand| operand["dtype"].as_str());
    let dtype = dtypes.find(|dtype| !naive::DTYPES.contains(dtype));
    dtype.or((case["operation"] == "gradient").then_some("gradients"))
}

/// The library's answer to the request in a case.
pub fn run(case: &Json) -> Result<Array, Refused> {
    let mut operands = HashMap::new();
    for operand in case["operands"].as_array().expect("operands") {
        let dtype = text(&operand["dtype"]);
        let values =
            operand["values"].as_array().expect("values").iter().map(|value| literal(dtype, value)).collect();
        let array = match operand.get("strides") {
            None => Array::dense(dtype, read(&operand["shape"]), values)?,
            // A view of the buffer `values`; strides and offset are counted in elements.
            Some(strides) => {
                Array::view(dtype, read(&operand["shape"]), values, read(strides), read(&operand["offset"]))?
            }
        };
        operands.insert(text(&operand["name"]), array);
    }
    match case.get("target_shape") {
        Some(target) => operands[text(&case["operands"][0]["name"])].broadcast_to(&read::<Vec<_>>(target)),
        None => evaluate(&case["expression"], &operands),
    }
}

/// An expression is the name of an operand, or a function and its arguments: ["add", "a", ["exp", "b"]].
fn evaluate(expression: &Json, operands: &HashMap<&str, Array>) -> Result<Array, Refused> {
    match expression {
        Json::String(name) => Ok(operands[name.as_str()].clone()),
        Json::Array(call) => {
            let arguments: Result<Vec<_>, _> =
                call[1..].iter().map(|part| evaluate(part, operands)).collect();
            naive::apply(text(&call[0]), &arguments?)
        }
        other => panic!("{other} is not an expression"),
    }
}

fn text(json: &Json) -> &str {
    json.as_str().expect("a string")
}

/// A shape, strides or an offset.
fn read<T: DeserializeOwned>(json: &Json) -> T {
    serde_json::from_value(json.clone()).expect("lengths that fit a usize")
}

/// A value in a case: a bool, an integer (beyond 2^53 a string) or a float, which may be "nan", "inf", "-inf"
/// or "-0.0". The judge compares it with an element of the answer.
pub fn literal(dtype: &str, json: &Json) -> Value {
    let text = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
    match dtype {
        "bool" => Value::Bool(text.parse().unwrap()),
        dtype if dtype.contains('f') => Value::Float(text.parse().unwrap()), // an f64 holds every float
        _ => Value::Int(text.parse().unwrap()),
    }
}
