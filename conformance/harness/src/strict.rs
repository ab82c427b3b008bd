//! Reads untrusted JSON: error messages, and rejection of duplicate fields.

use super::lines::shortened;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Error, Map, Value};
use std::fmt;

/// The maximum length of an error message, in characters: it may quote the input.
const LONGEST: usize = 300;

/// The fields of the answer to `start`. Unknown fields are ignored, as in other answers, even if they appear
/// twice.
const FIELDS: [&str; 14] = [
    "dtypes",
    "errored",
    "functions",
    "implementation",
    "language",
    "max_elements",
    "max_rank",
    "message",
    "name",
    "operations",
    "rules",
    "seq",
    "version",
    "window",
];

/// The error message for a line that cannot be parsed: what was found and what was expected.
pub(super) fn complaint(error: &Error) -> String {
    let text = shortened(error.to_string().as_bytes(), LONGEST);
    if error.classify() != Category::Data {
        return format!("found text that is not JSON ({text}), expected a JSON object in one line");
    }
    let text = text.strip_prefix("invalid type: ").unwrap_or(&text);
    if text.contains(", expected ") {
        return format!("found {text}");
    }
    format!("found {text}, expected a JSON object in one line")
}

/// A value in which no object has a known field twice, which would be ambiguous.
pub(super) struct Unique(pub(super) Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Unique, D::Error> {
        reader.deserialize_any(Builder).map(Unique)
    }
}

struct Builder;

impl<'de> Visitor<'de> for Builder {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if map.contains_key(&name) && FIELDS.contains(&name.as_str()) {
                return Err(A::Error::custom(format!("duplicate field `{name}`")));
            }
            let Unique(value) = fields.next_value()?;
            map.insert(name, value);
        }
        Ok(map.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, String> {
        serde_json::from_str(text).map(|Unique(value)| value).map_err(|error| complaint(&error))
    }

    #[test]
    fn values_without_duplicates_are_read_unchanged() {
        let text = r#"{"a":[null,true,-1,18446744073709551615,0.1,"x"],"name":{"name":{}}}"#;
        assert_eq!(read(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert!(read(r#"{"elapsed":1,"elapsed":2}"#).is_ok(), "an unknown field");
    }

    #[test]
    fn messages_are_short_and_contain_the_expectation() {
        let expected = ", expected a JSON object in one line";
        let twice = read(r#"{"implementation":{"name":1,"name":2}}"#).unwrap_err();
        assert!(twice.starts_with("found duplicate field `name` at line 1"), "{twice}");
        assert!(twice.ends_with(expected), "{twice}");
        let bare = "found text that is not JSON (expected value at line 1 column 1)";
        assert_eq!(read("NaN").unwrap_err(), format!("{bare}{expected}"));
        let quoted: Error = serde_json::from_str::<bool>(&format!("\"{}\"", "x".repeat(9999))).unwrap_err();
        let text = complaint(&quoted);
        assert!(text.starts_with("found string \"xxx") && text.len() < 500, "{text}");
    }
}
