//! Reads a tree into types that derive `Deserialize`: a serde deserializer over the tree.

use crate::convert::sentence;
use crate::tree::{Kind, Node};
use serde::Deserialize;
use serde::de::value::{Error, MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Unexpected, Visitor};

/// An error of serde, at a path below the node that was read. The path is empty for the node itself.
pub(crate) struct ReadError {
    pub(crate) path: String,
    pub(crate) finding: String,
    pub(crate) expectation: String,
}

impl ReadError {
    /// The path with a prefix: `operands[0]` before `shape[1]`.
    pub(crate) fn below(&self, outer: &str) -> String {
        match (outer, self.path.as_str()) {
            (outer, "") => outer.to_owned(),
            ("", inner) => inner.to_owned(),
            (outer, inner) if inner.starts_with('[') => format!("{outer}{inner}"),
            (outer, inner) => format!("{outer}.{inner}"),
        }
    }
}

/// Reads a node and all below it.
///
/// # Errors
/// The first thing that `T` does not accept, with its path.
pub(crate) fn read<'a, T: Deserialize<'a>>(node: &'a Node) -> Result<T, ReadError> {
    // Keeping track of the path takes as long as reading, so it is done only if there is an error.
    if let Ok(read) = T::deserialize(node) {
        return Ok(read);
    }
    serde_path_to_error::deserialize(node).map_err(|error| {
        let path = error.path().to_string();
        let (finding, expectation) = sentence(&error.into_inner().to_string());
        ReadError { path: if path == "." { String::new() } else { path }, finding, expectation }
    })
}

impl<'de> IntoDeserializer<'de, Error> for &'de Node {
    type Deserializer = &'de Node;

    fn into_deserializer(self) -> &'de Node {
        self
    }
}

/// Every node has a known kind, so almost all hints are ignored. The tree has no null: a node that exists is
/// `Some`.
impl<'de> Deserializer<'de> for &'de Node {
    type Error = Error;

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an Int fits one of the two")]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.kind {
            Kind::Text(text) => visitor.visit_borrowed_str(text),
            Kind::Bool(value) => visitor.visit_bool(*value),
            // mutant: replace < with <=: 0 is the same number signed and unsigned
            Kind::Int(value) if *value < 0 => visitor.visit_i64(*value as i64),
            Kind::Int(value) => visitor.visit_u64(*value as u64),
            Kind::Float(value) => visitor.visit_f64(*value),
            Kind::List(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Kind::Map(entries) => {
                visitor.visit_map(MapDeserializer::new(entries.iter().map(|(key, node)| (&*key.name, node))))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.kind {
            Kind::Text(text) => visitor.visit_enum(StrDeserializer::new(text)),
            _ => self.deserialize_any(visitor),
        }
    }

    /// Structs must be mappings: serde would also accept a list, with the fields in order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.kind {
            Kind::List(_) => Err(serde::de::Error::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::parse;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, expecting = "a mapping: a part")]
    struct Part {
        name: Option<String>,
        sizes: Vec<u8>,
        #[serde(default)]
        bounds: BTreeMap<String, i64>,
        kind: Option<Kinds>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kinds {
        Good,
    }

    fn part(text: &str) -> Result<Part, String> {
        let root = parse(text).root.expect("a tree");
        read(&root).map_err(|error| format!("{}: {}, {}", error.path, error.finding, error.expectation))
    }

    #[test]
    fn a_tree_is_read_by_field_names() {
        let read =
            part("{name: a, sizes: [1, 255], bounds: {low: -9223372036854775808}, kind: good}").unwrap();
        let bounds = BTreeMap::from([("low".to_owned(), i64::MIN)]);
        let expected = Part { name: Some("a".into()), sizes: vec![1, 255], bounds, kind: Some(Kinds::Good) };
        assert_eq!(read, expected);
    }

    #[test]
    fn a_path_is_appended_to_its_prefix() {
        for (outer, inner, path) in [
            ("", "", ""),
            ("a[0]", "", "a[0]"),
            ("", "b[1]", "b[1]"),
            ("a[0]", "b", "a[0].b"),
            ("a", "[1].b", "a[1].b"),
        ] {
            let error = ReadError { path: inner.into(), finding: String::new(), expectation: String::new() };
            assert_eq!(error.below(outer), path);
        }
    }

    #[test]
    fn an_error_has_its_path() {
        for (text, expected) in [
            ("[a, [1]]", ": sequence, a mapping: a part"),
            ("a", ": string \"a\", a mapping: a part"),
            ("{name: a}", ": no field `sizes`, one: it is required"),
            ("{sizes: [1, 256]}", "sizes[1]: integer `256`, u8"),
            ("{sizes: [1.5]}", "sizes[0]: floating point `1.5`, u8"),
            ("{sizes: [true]}", "sizes[0]: boolean `true`, u8"),
            ("{sizes: {}}", "sizes: map, a sequence"),
            ("{sizes: [], name: [b]}", "name: sequence, a string"),
            (
                "{sizes: [], bounds: {low: 9223372036854775808}}",
                "bounds.low: integer `9223372036854775808`, i64",
            ),
            ("{sizes: [], kind: bad}", "kind: unknown variant `bad`, `good`"),
            ("{sizes: [], kind: {good: 1}}", "kind: map, "),
            ("{sizes: [], size: 1}", "size: unknown field `size`, one of `name`, `sizes`, `bounds`, `kind`"),
        ] {
            let error = part(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
