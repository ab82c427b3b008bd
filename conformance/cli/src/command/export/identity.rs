//! What the manifest knows of an id: since which version it exists, and digests that show whether a case
//! changed in what is judged, or only in its words.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The fields of a case that an implementation is asked, and by which its answer is judged. `admitted`, in
/// `result`, has a digest of its own.
const JUDGED: [&str; 14] = [
    "rules",
    "operation",
    "expression",
    "operands",
    "target_shape",
    "wrt",
    "cotangent",
    "into",
    "axis",
    "broadcast_dimensions",
    "convention",
    "result",
    "inferred",
    "refusal",
];

/// Fields that are neither judged nor words about the case.
const APART: [&str; 3] = ["id", "since", "retyped_from"];

/// The entries of `ids` in a manifest.
pub(in super::super) type Identities = BTreeMap<String, Identity>;

/// An id in a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct Identity {
    /// The version of the suite in which the id first appeared. Kits of the first format do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<String>,
    /// Of the request and its expected outcome.
    pub(super) digest: String,
    /// Of the values that are admitted besides the listed ones. Kits of the first format do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) admitted: Option<String>,
    /// Of the title, the clause, the sources and the note.
    pub(super) text: String,
    /// The number of cases, if this is a sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cases: Option<usize>,
}

impl Identity {
    /// Of a case in JSON.
    pub(super) fn of_case(case: &Value) -> Identity {
        let field = |name: &str| case.get(name).map(|value| (name.to_owned(), value.clone()));
        let mut judged: Map<String, Value> = JUDGED.iter().filter_map(|name| field(name)).collect();
        let result = judged.get_mut("result").and_then(Value::as_object_mut);
        let admitted = result.and_then(|result| result.remove("admitted"));
        let fields = case.as_object().into_iter().flatten();
        let words =
            fields.filter(|(name, _)| !JUDGED.contains(&name.as_str()) && !APART.contains(&name.as_str()));
        let words: Map<String, Value> = words.map(|(name, value)| (name.clone(), value.clone())).collect();
        Identity {
            since: case.get("since").and_then(Value::as_str).map(str::to_owned),
            digest: digest(&canonical(&judged.into()), 16),
            admitted: admitted.map(|admitted| digest(&canonical(&admitted), 8)),
            text: digest(&canonical(&words.into()), 8),
            cases: None,
        }
    }

    /// Of a sweep with these cases.
    pub(super) fn of_sweep(cases: &[Identity]) -> Identity {
        let joined = |part: fn(&Identity) -> &str| cases.iter().map(part).collect::<Vec<_>>().join(" ");
        Identity {
            since: cases.first().and_then(|case| case.since.clone()),
            digest: digest(&joined(|case| &case.digest), 16),
            admitted: None,
            text: digest(&joined(|case| &case.text), 8),
            cases: Some(cases.len()),
        }
    }
}

/// JSON with the fields of every object in alphabetical order.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<&String, &Value> = fields.iter().collect();
            let fields: Vec<String> =
                sorted.into_iter().map(|(name, value)| format!("{name:?}:{}", canonical(value))).collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(","))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

/// The first digits of the SHA-256.
fn digest(text: &str, digits: usize) -> String {
    let mut whole = hash(text.as_bytes());
    whole.truncate(digits);
    whole
}

/// The SHA-256, in hexadecimal.
pub(super) fn hash(content: &[u8]) -> String {
    Sha256::digest(content).iter().fold(String::new(), |mut digits, byte| {
        write!(digits, "{byte:02x}").expect("writing to a string does not fail");
        digits
    })
}
