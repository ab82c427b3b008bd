//! Judges an array library by the broadcasting cases of this kit. Each case is one test, named by its id.
//!
//!     cargo test
//!     cargo test --test broadcasting -- numpy/zero     # only the cases whose id contains this text
//!
//! The cases are read from ../../json, or from the directory in the environment variable BROADCHECK_JSON. To
//! judge your own library, change the first section; the others know only its types `Value` and `Refused`.

use serde_json::Value as Json;
use std::collections::HashMap;
use std::panic::{catch_unwind, set_hook};

// ---- The library ------------------------------------------------------------------------------------------

use naive::{Array, Refused, Value};

const RULES: &str = "numpy"; // the rule set that it follows

/// Why the library cannot express the request in a case.
fn inexpressible(case: &Json) -> Option<String> {
    let mut dtypes = list(&case["operands"]).iter().map(|operand| text(&operand["dtype"]));
    match dtypes.find(|dtype| !naive::DTYPES.contains(dtype)) {
        Some(other) => Some(format!("the library has no {other}")),
        None => (case["operation"] == "gradient").then(|| "the library has no gradients".to_owned()),
    }
}

/// The library's answer to the request: an array with a dtype, a shape and, in row-major order, values.
fn run(case: &Json) -> Result<Array, Refused> {
    let mut operands = HashMap::new();
    for operand in list(&case["operands"]) {
        let (dtype, shape) = (text(&operand["dtype"]), lengths(&operand["shape"]));
        let values = list(&operand["values"]).iter().map(|value| literal(dtype, value)).collect();
        let array = match operand.get("strides") {
            None => Array::dense(dtype, shape, values)?,
            // A view of the buffer `values`; strides and offset are counted in elements.
            Some(strides) => {
                Array::view(dtype, shape, values, lengths(strides), lengths(&operand["offset"]))?
            }
        };
        operands.insert(text(&operand["name"]), array);
    }
    match case.get("target_shape") {
        Some(target) => operands[text(&case["operands"][0]["name"])].broadcast_to(&lengths::<Vec<_>>(target)),
        None => evaluate(&case["expression"], &operands),
    }
}

/// An expression is the name of an operand, or a function and its arguments: ["add", "a", ["exp", "b"]].
fn evaluate(expression: &Json, operands: &HashMap<&str, Array>) -> Result<Array, Refused> {
    if let Some(name) = expression.as_str() {
        return Ok(operands[name].clone());
    }
    let [function, arguments @ ..] = list(expression) else { panic!("an empty expression") };
    let arguments: Result<Vec<_>, _> =
        arguments.iter().map(|argument| evaluate(argument, operands)).collect();
    naive::apply(text(function), &arguments?)
}

// ---- The literals -----------------------------------------------------------------------------------------

fn text(json: &Json) -> &str {
    json.as_str().expect("a string")
}

fn list(json: &Json) -> &[Json] {
    json.as_array().expect("a list")
}

/// A shape, strides or an offset.
fn lengths<T: serde::de::DeserializeOwned>(json: &Json) -> T {
    serde_json::from_value(json.clone()).expect("lengths that fit a usize")
}

/// A bool, an integer (beyond 2^53 a string) or a float, which may be "nan", "inf", "-inf" or "-0.0".
fn literal(dtype: &str, json: &Json) -> Value {
    let text = json.as_str().map_or_else(|| json.to_string(), str::to_owned);
    match dtype {
        "bool" => Value::Bool(text.parse().unwrap()),
        dtype if dtype.contains('f') => Value::Float(text.parse().unwrap()), // an f64 holds every float
        _ => Value::Int(text.parse().unwrap()),
    }
}

// ---- The judge --------------------------------------------------------------------------------------------

/// Equal to the bit, except that any NaN is NaN.
fn same(a: Value, b: Value) -> bool {
    match (a, b) {
        (Value::Float(x), Value::Float(y)) => x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()),
        _ => a == b,
    }
}

fn admits(entry: &Json, dtype: &str, got: Value) -> bool {
    match entry.get("value") {
        Some(value) => same(got, literal(dtype, value)),
        None => literal(dtype, &entry["lower"]) <= got && got <= literal(dtype, &entry["upper"]),
    }
}

/// What is wrong with the library's answer.
fn judge(case: &Json) -> Result<(), String> {
    match (run(case), case.get("refusal")) {
        (Ok(got), None) => compare(&got, &case["result"]),
        (Ok(got), Some(wanted)) => Err(format!("found shape {:?}, expected a refusal {wanted}", got.shape())),
        (Err(refused), None) => Err(format!("found {refused:?}, expected a result")),
        (Err(refused), Some(wanted)) => {
            // The fields are compared only where the library reports them.
            let kind = wanted["kind"] == "any" || wanted["kind"] == refused.kind;
            let axis = wanted.get("axis").is_none_or(|axis| refused.axis.is_none_or(|own| *axis == own));
            (kind && axis).then_some(()).ok_or_else(|| format!("found {refused:?}, expected {wanted}"))
        }
    }
}

fn compare(got: &Array, wanted: &Json) -> Result<(), String> {
    let (dtype, shape, values) =
        (text(&wanted["dtype"]), lengths::<Vec<usize>>(&wanted["shape"]), got.values());
    if got.dtype() != dtype || got.shape() != shape || values.len() != list(&wanted["values"]).len() {
        return Err(format!("found {} {:?}, expected {dtype} {shape:?}", got.dtype(), got.shape()));
    }
    for (i, (got, value)) in values.into_iter().zip(list(&wanted["values"])).enumerate() {
        // `admitted` has the elements of which more than the one in `values` is right.
        let entries = wanted["admitted"].get(i.to_string());
        let admitted =
            entries.is_some_and(|entries| list(entries).iter().any(|entry| admits(entry, dtype, got)));
        if !same(got, literal(dtype, value)) && !admitted {
            return Err(format!("element {i} is {got:?}, expected {value} or {entries:?}"));
        }
    }
    Ok(())
}

// ---- The cases --------------------------------------------------------------------------------------------

/// The files of the kit. The directory `extreme` is left out: lengths in it may be strings.
fn files(kit: &str) -> Vec<std::path::PathBuf> {
    let directories = [".", "optional", "sweeps"].map(|name| std::fs::read_dir(format!("{kit}/{name}")));
    let paths = directories.into_iter().flatten().flatten().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
    files.sort();
    files
}

fn main() {
    let kit = std::env::var("BROADCHECK_JSON").unwrap_or_else(|_| "../../json".to_owned());
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    let (mut passed, mut failed, mut skipped, mut agree, mut differ) = (0, 0, 0, 0, 0);
    set_hook(Box::new(|_| ())); // a panic is a failure of its test
    for file in files(&kit) {
        let file: Json = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        for case in list(&file["cases"]).iter().filter(|case| case["rules"] == RULES) {
            let (id, convention) = (text(&case["id"]), case.get("convention"));
            if !id.contains(&filter) {
                continue;
            }
            let verdict = || catch_unwind(|| judge(case)).unwrap_or_else(|_| Err("panicked".to_owned()));
            let (count, said) = match (inexpressible(case), convention) {
                (Some(reason), _) => (&mut skipped, format!("ignored, {reason}")),
                (None, None) => match verdict() {
                    Ok(()) => (&mut passed, "ok".to_owned()),
                    Err(wrong) => (&mut failed, format!("FAILED\n    {wrong}")),
                },
                // Implementations may differ in a case about a convention.
                (None, Some(convention)) => match verdict() {
                    Ok(()) => (&mut agree, "ok".to_owned()),
                    Err(wrong) => (&mut differ, format!("ignored, differs from {convention}: {wrong}")),
                },
            };
            *count += 1;
            println!("test {id} ... {said}");
        }
    }
    println!(
        "\n{passed} passed, {failed} failed, {skipped} skipped; conventions: {agree} agree, {differ} differ"
    );
    if passed + failed + agree + differ == 0 {
        println!("no case was judged: set BROADCHECK_JSON to the kit's directory json");
    }
    std::process::exit(i32::from(failed > 0 || passed + agree + differ == 0));
}
