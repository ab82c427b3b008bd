//! The shape of cases and requests as serde reads them, before anything is known about what they mean.

use crate::literal::Literal;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_yaml::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A case. Everything is optional here, so that all that is missing is reported together; the parts with parts of
/// their own are read one by one, for the same reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping: a case")]
pub(crate) struct RawCase {
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) clause: Option<String>,
    pub(crate) example: Option<Vec<String>>,
    pub(crate) source: Option<Vec<Value>>,
    pub(crate) origin: Option<String>,
    pub(crate) rules: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) expression: Option<RawExpression>,
    pub(crate) operands: Option<Vec<Value>>,
    pub(crate) wrt: Option<String>,
    pub(crate) target_shape: Option<Vec<Natural>>,
    pub(crate) axis: Option<i64>,
    pub(crate) broadcast_dimensions: Option<Vec<i64>>,
    pub(crate) result: Option<Value>,
    pub(crate) refusal: Option<Value>,
    pub(crate) note: Option<String>,
}

/// A sweep.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping: a sweep")]
pub(crate) struct RawSweep {
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) clause: Option<String>,
    pub(crate) example: Option<Vec<String>>,
    pub(crate) source: Option<Vec<Value>>,
    pub(crate) sweep: Option<String>,
    pub(crate) with: Option<BTreeMap<String, Natural>>,
    pub(crate) expect: Option<RawExpect>,
    pub(crate) note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `cases`")]
pub(crate) struct RawExpect {
    pub(crate) cases: Natural,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping of `document` and `lines`, or of `url`")]
pub(crate) struct RawSource {
    pub(crate) document: Option<String>,
    pub(crate) lines: Option<String>,
    pub(crate) url: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping of `dtype`, `shape` and `values`")]
pub(crate) struct RawResult {
    pub(crate) dtype: String,
    pub(crate) shape: Vec<Natural>,
    pub(crate) values: Vec<Literal>,
    pub(crate) intermediate: Option<RawIntermediate>,
    pub(crate) broadcastable: Option<Vec<bool>>,
    pub(crate) tolerance: Option<RawTolerance>,
    pub(crate) zero_sign: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping of `shape` and `values`")]
pub(crate) struct RawIntermediate {
    pub(crate) shape: Vec<Natural>,
    pub(crate) values: Vec<Literal>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `ulp`")]
pub(crate) struct RawTolerance {
    pub(crate) ulp: Natural,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping with `kind`")]
pub(crate) struct RawRefusal {
    pub(crate) kind: String,
    pub(crate) axis: Option<Natural>,
    pub(crate) operand: Option<NameOrPlace>,
}

macro_rules! operand {
    ($(#[$attribute:meta])* $name:ident) => {
        #[derive(Deserialize)]
        $(#[$attribute])*
        pub(crate) struct $name {
            pub(crate) name: String,
            pub(crate) dtype: String,
            pub(crate) shape: Vec<Natural>,
            pub(crate) values: Vec<Literal>,
            pub(crate) strides: Option<Vec<i64>>,
            pub(crate) offset: Option<Natural>,
            pub(crate) broadcastable: Option<Vec<bool>>,
        }
    };
}

operand! {
    /// An operand of the protocol, where unknown fields are ignored.
    RawOperand
}

operand! {
    /// An operand of a case.
    #[serde(deny_unknown_fields, expecting = "a mapping: an operand")]
    StrictOperand
}

impl From<StrictOperand> for RawOperand {
    fn from(strict: StrictOperand) -> RawOperand {
        let StrictOperand { name, dtype, shape, values, strides, offset, broadcastable } = strict;
        RawOperand { name, dtype, shape, values, strides, offset, broadcastable }
    }
}

/// A request of the protocol.
#[derive(Deserialize)]
pub(crate) struct RawRequest {
    pub(crate) rules: String,
    pub(crate) operation: Option<String>,
    pub(crate) expression: Option<RawExpression>,
    pub(crate) operands: Vec<RawOperand>,
    pub(crate) wrt: Option<String>,
    pub(crate) target_shape: Option<Vec<Natural>>,
    pub(crate) axis: Option<i64>,
    pub(crate) broadcast_dimensions: Option<Vec<i64>>,
}

/// A length, a count or a place: an integer that is not negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Natural(pub(crate) u64);

impl<'de> Deserialize<'de> for Natural {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;
        impl Visitor<'_> for Whole {
            type Value = Natural;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an integer, 0 or more")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Natural, E> {
                Ok(Natural(value))
            }
        }
        deserializer.deserialize_any(Whole)
    }
}

/// An operand by its name, or by its place in the list.
pub(crate) enum NameOrPlace {
    Name(String),
    Place(u64),
}

impl<'de> Deserialize<'de> for NameOrPlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = NameOrPlace;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an operand's name, or its place in the list, from 0")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<NameOrPlace, E> {
                Ok(NameOrPlace::Place(value))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<NameOrPlace, E> {
                Ok(NameOrPlace::Name(value.into()))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// `a`, or `[function, argument, …]`.
pub(crate) enum RawExpression {
    Leaf(String),
    List(Vec<RawExpression>),
}

impl<'de> Deserialize<'de> for RawExpression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Nested;
        impl<'de> Visitor<'de> for Nested {
            type Value = RawExpression;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an operand's name or a list `[function, argument, …]`")
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<RawExpression, E> {
                Ok(RawExpression::Leaf(value.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawExpression, A::Error> {
                let mut list = Vec::new();
                while let Some(item) = items.next_element()? {
                    list.push(item);
                }
                Ok(RawExpression::List(list))
            }
        }
        deserializer.deserialize_any(Nested)
    }
}
