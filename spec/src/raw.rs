//! Cases and requests as serde reads them, before they are interpreted.

use crate::literal::{Literal, whole};
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// A case. All fields are optional here, so that all missing fields are reported together. Fields that are
/// ignored here are mappings or lists of mappings: they are read one by one, for the same reason.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping: a case")]
pub(crate) struct RawCase<S = Vec<Natural>> {
    pub(crate) id: Option<String>,
    pub(crate) title: Option<String>,
    pub(crate) clause: Option<String>,
    pub(crate) convention: Option<String>,
    pub(crate) example: Option<Vec<String>>,
    #[serde(rename = "source")]
    _source: Option<Vec<IgnoredAny>>,
    pub(crate) origin: Option<String>,
    pub(crate) rules: Option<String>,
    pub(crate) operation: Option<String>,
    pub(crate) expression: Option<RawExpression>,
    #[serde(rename = "operands")]
    _operands: Option<Vec<IgnoredAny>>,
    pub(crate) wrt: Option<String>,
    pub(crate) cotangent: Option<String>,
    pub(crate) into: Option<String>,
    pub(crate) target_shape: Option<S>,
    pub(crate) declared_target_shape: Option<RawShape>,
    pub(crate) axis: Option<i64>,
    pub(crate) broadcast_dimensions: Option<Vec<i64>>,
    #[serde(rename = "result")]
    _result: Option<IgnoredAny>,
    #[serde(rename = "inferred")]
    _inferred: Option<IgnoredAny>,
    #[serde(rename = "refusal")]
    _refusal: Option<IgnoredAny>,
    pub(crate) retyped_from: Option<String>,
    #[serde(rename = "since")]
    _since: Option<String>,
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
    #[serde(rename = "source")]
    _source: Option<Vec<IgnoredAny>>,
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
    /// Follows from the rest: the judge computes it again.
    #[serde(rename = "admitted")]
    _admitted: Option<IgnoredAny>,
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

/// An operand of the protocol, where unknown fields are ignored.
#[derive(Deserialize)]
pub(crate) struct RawOperand {
    pub(crate) name: String,
    pub(crate) dtype: String,
    #[serde(deserialize_with = "wide::list")]
    pub(crate) shape: Vec<Natural>,
    pub(crate) values: Option<Vec<Literal>>,
    pub(crate) of: Option<String>,
    #[serde(default, deserialize_with = "wide::some_list")]
    pub(crate) strides: Option<Vec<i64>>,
    #[serde(default, deserialize_with = "wide::some")]
    pub(crate) offset: Option<Natural>,
    pub(crate) broadcastable: Option<Vec<bool>>,
    pub(crate) declared: Option<RawShape>,
    pub(crate) constant: Option<bool>,
    pub(crate) same: Option<String>,
}

/// An operand of a case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping: an operand")]
pub(crate) struct StrictOperand {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) shape: Vec<Natural>,
    pub(crate) values: Option<Vec<Literal>>,
    pub(crate) of: Option<String>,
    pub(crate) strides: Option<Vec<i64>>,
    pub(crate) offset: Option<Natural>,
    pub(crate) broadcastable: Option<Vec<bool>>,
    pub(crate) declared: Option<RawShape>,
    pub(crate) constant: Option<bool>,
    pub(crate) same: Option<String>,
}

impl From<StrictOperand> for RawOperand {
    fn from(strict: StrictOperand) -> RawOperand {
        let StrictOperand { name, dtype, shape, values, of, strides, offset, .. } = strict;
        let StrictOperand { broadcastable, declared, constant, same, .. } = strict;
        RawOperand {
            name,
            dtype,
            shape,
            values,
            of,
            strides,
            offset,
            broadcastable,
            declared,
            constant,
            same,
        }
    }
}

/// An operand of the operation `infer` in a case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping: an operand without values")]
pub(crate) struct StrictOperandType {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) shape: RawShape,
    pub(crate) broadcastable: Option<Vec<bool>>,
}

/// An operand of the operation `infer` in the protocol, where unknown fields are ignored.
#[derive(Deserialize)]
pub(crate) struct RawOperandType {
    pub(crate) name: String,
    pub(crate) dtype: String,
    pub(crate) shape: RawShape,
    pub(crate) broadcastable: Option<Vec<bool>>,
}

impl From<StrictOperandType> for RawOperandType {
    fn from(strict: StrictOperandType) -> RawOperandType {
        let StrictOperandType { name, dtype, shape, broadcastable } = strict;
        RawOperandType { name, dtype, shape, broadcastable }
    }
}

/// The required answer of a case of the operation `infer`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mapping of `dtype`, `shape` and `accepts`")]
pub(crate) struct RawInferred {
    pub(crate) dtype: String,
    pub(crate) shape: RawShape,
    pub(crate) accepts: String,
    pub(crate) broadcastable: Option<Vec<bool>>,
}

/// A list of lengths, known or not, or the text `...`.
pub(crate) enum RawShape {
    Lengths(Vec<RawLength>),
    Text(String),
}

impl<'de> Deserialize<'de> for RawShape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = RawShape;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of lengths, or \"...\" for an unknown rank")
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<RawShape, E> {
                Ok(RawShape::Text(value.into()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<RawShape, A::Error> {
                let mut lengths = Vec::new();
                while let Some(length) = items.next_element()? {
                    lengths.push(length);
                }
                Ok(RawShape::Lengths(lengths))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A length: a number, a text such as `?`, or bounds by their names.
pub(crate) enum RawLength {
    Literal(Literal),
    Bounds(BTreeMap<String, Literal>),
}

impl<'de> Deserialize<'de> for RawLength {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = RawLength;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a length: an integer, \"?\", or bounds such as {min: 1, max: 3}")
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<RawLength, E> {
                Ok(RawLength::Literal(Literal::Int(value.into())))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<RawLength, E> {
                Ok(RawLength::Literal(Literal::Text(value.into())))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<RawLength, A::Error> {
                let mut bounds = BTreeMap::new();
                while let Some((name, bound)) = entries.next_entry()? {
                    bounds.insert(name, bound);
                }
                Ok(RawLength::Bounds(bounds))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A request of the operation `infer` in the protocol.
#[derive(Deserialize)]
pub(crate) struct RawSignature {
    pub(crate) rules: String,
    pub(crate) expression: Option<RawExpression>,
    pub(crate) operands: Vec<RawOperandType>,
    pub(crate) wrt: Option<String>,
    pub(crate) cotangent: Option<String>,
    pub(crate) into: Option<String>,
    pub(crate) target_shape: Option<RawShape>,
    #[serde(default, deserialize_with = "wide::some")]
    pub(crate) axis: Option<i64>,
    #[serde(default, deserialize_with = "wide::some_list")]
    pub(crate) broadcast_dimensions: Option<Vec<i64>>,
}

/// A request of the protocol.
#[derive(Deserialize)]
pub(crate) struct RawRequest {
    pub(crate) rules: String,
    pub(crate) operation: Option<String>,
    pub(crate) expression: Option<RawExpression>,
    pub(crate) operands: Vec<RawOperand>,
    pub(crate) wrt: Option<String>,
    pub(crate) cotangent: Option<String>,
    pub(crate) into: Option<String>,
    #[serde(default, deserialize_with = "wide::some_list")]
    pub(crate) target_shape: Option<Vec<Natural>>,
    pub(crate) declared_target_shape: Option<RawShape>,
    #[serde(default, deserialize_with = "wide::some")]
    pub(crate) axis: Option<i64>,
    #[serde(default, deserialize_with = "wide::some_list")]
    pub(crate) broadcast_dimensions: Option<Vec<i64>>,
}

/// Integers of the protocol: JSON numbers, or strings for integers beyond 2^53.
pub(crate) mod wide {
    use super::{Deserialize, Deserializer, Error, Natural, Visitor, fmt, whole};
    use std::marker::PhantomData;

    /// An integer that may be written as a string.
    pub(crate) trait Integer: Sized {
        /// The expectation in the error message.
        const EXPECTED: &'static str;
        fn from_whole(value: i128) -> Option<Self>;
    }

    impl Integer for Natural {
        const EXPECTED: &'static str = "an integer, 0 or more";
        fn from_whole(value: i128) -> Option<Natural> {
            value.try_into().ok().map(Natural)
        }
    }

    impl Integer for i64 {
        const EXPECTED: &'static str = "an integer from -2^63 to 2^63-1";
        fn from_whole(value: i128) -> Option<i64> {
            value.try_into().ok()
        }
    }

    struct Wide<T>(T);

    impl<'de, T: Integer> Deserialize<'de> for Wide<T> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Either<T>(PhantomData<T>);
            impl<T: Integer> Visitor<'_> for Either<T> {
                type Value = Wide<T>;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(T::EXPECTED)
                }
                fn visit_i64<E: Error>(self, value: i64) -> Result<Wide<T>, E> {
                    let read = T::from_whole(value.into()).map(Wide);
                    read.ok_or_else(|| E::invalid_type(serde::de::Unexpected::Signed(value), &self))
                }
                fn visit_u64<E: Error>(self, value: u64) -> Result<Wide<T>, E> {
                    let read = T::from_whole(value.into()).map(Wide);
                    read.ok_or_else(|| E::invalid_type(serde::de::Unexpected::Unsigned(value), &self))
                }
                fn visit_str<E: Error>(self, value: &str) -> Result<Wide<T>, E> {
                    let read = whole(value).and_then(T::from_whole).map(Wide);
                    read.ok_or_else(|| E::invalid_type(serde::de::Unexpected::Str(value), &self))
                }
            }
            deserializer.deserialize_any(Either(PhantomData))
        }
    }

    pub(crate) fn list<'de, T: Integer, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
        let list: Vec<Wide<T>> = Deserialize::deserialize(from)?;
        Ok(list.into_iter().map(|Wide(value)| value).collect())
    }

    pub(crate) fn some_list<'de, T: Integer, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Vec<T>>, D::Error> {
        let list: Option<Vec<Wide<T>>> = Deserialize::deserialize(from)?;
        Ok(list.map(|list| list.into_iter().map(|Wide(value)| value).collect()))
    }

    pub(crate) fn some<'de, T: Integer, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
        let value: Option<Wide<T>> = Deserialize::deserialize(from)?;
        Ok(value.map(|Wide(value)| value))
    }
}

/// A length, a count or a position: a non-negative integer.
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

/// An operand, given by its name or by its position in the list.
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
                f.write_str("an operand's name, or its position in the list, from 0")
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
