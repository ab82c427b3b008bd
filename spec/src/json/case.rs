//! The JSON twins of cases, sweeps and case files.

use super::{
    inference_to_value, insert_extras, insert_refusal, insert_request, insert_signature, scalar_to_value,
    tensor_to_value,
};
use crate::{Admitted, Case, CaseFile, Expectation, InferenceCase, RuleSet, Source, Sweep};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

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
