//! Value literals: converts the text of a file or an answer to a value of a dtype.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::{DType, NumberKind, Scalar};
use half::{bf16, f16};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use std::fmt;

/// A value as written, before its dtype is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Literal {
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Bool(value) => write!(f, "{value}"),
            Literal::Int(value) => write!(f, "{value}"),
            Literal::Float(value) => write!(f, "{}", Scalar::F64(*value)),
            Literal::Text(text) => write!(f, "the string {:?}", crate::lint::shortened(text)),
        }
    }
}

impl<'de> Deserialize<'de> for Literal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Literal;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, `true`, `false`, or a string such as \"nan\"")
            }
            fn visit_bool<E: Error>(self, value: bool) -> Result<Literal, E> {
                Ok(Literal::Bool(value))
            }
            fn visit_i64<E: Error>(self, value: i64) -> Result<Literal, E> {
                Ok(Literal::Int(value.into()))
            }
            fn visit_u64<E: Error>(self, value: u64) -> Result<Literal, E> {
                Ok(Literal::Int(value.into()))
            }
            fn visit_f64<E: Error>(self, value: f64) -> Result<Literal, E> {
                Ok(Literal::Float(value))
            }
            fn visit_str<E: Error>(self, value: &str) -> Result<Literal, E> {
                Ok(Literal::Text(value.into()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// How exact a literal must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// In cases and requests: the dtype must represent the literal exactly.
    Exact,
    /// In answers: floats are rounded to the dtype, and an integer may be written `8.0`.
    Answer,
}

impl Literal {
    /// The value of the literal in a dtype.
    ///
    /// # Errors
    /// What was expected instead.
    pub(crate) fn read(&self, dtype: DType, reading: Reading) -> Result<Scalar, String> {
        match dtype.kind() {
            NumberKind::Truth => match self {
                Literal::Bool(value) => Ok(Scalar::Bool(*value)),
                Literal::Int(_) | Literal::Float(_) | Literal::Text(_) => {
                    Err("`true` or `false` for bool".into())
                }
            },
            NumberKind::Integer => self.read_integer(dtype, reading),
            NumberKind::Float => match self.as_float(reading) {
                Some(value) => float(dtype, value, reading),
                None => Err(format!("a value of {dtype}")),
            },
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "a literal denotes the nearest f64")]
    fn as_float(&self, reading: Reading) -> Option<f64> {
        match self {
            Literal::Bool(_) => None,
            Literal::Int(value) => Some(*value as f64),
            Literal::Float(value) => Some(*value),
            Literal::Text(text) => match text.as_str() {
                "nan" => Some(f64::NAN),
                "inf" => Some(f64::INFINITY),
                "-inf" => Some(f64::NEG_INFINITY),
                "-0.0" => Some(-0.0),
                other => match whole(other) {
                    Some(value) => Some(value as f64),
                    None if reading == Reading::Answer => decimal(other),
                    None => None,
                },
            },
        }
    }

    fn read_integer(&self, dtype: DType, reading: Reading) -> Result<Scalar, String> {
        let value = match self {
            Literal::Int(value) => Some(*value),
            Literal::Text(text) => whole(text),
            Literal::Float(value) if reading == Reading::Answer => whole_float(*value),
            Literal::Float(_) | Literal::Bool(_) => None,
        };
        value.and_then(|value| integer(dtype, value)).ok_or_else(|| {
            let (low, high) = bounds(dtype);
            format!("an integer from {low} to {high} for {dtype}")
        })
    }
}

/// An integer as the format writes it in a string: only digits, no leading zero, not `-0`.
pub(crate) fn whole(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.is_empty()
        && (digits == "0" || !digits.starts_with('0'))
        && text != "-0";
    if canonical { text.parse().ok() } else { None }
}

/// A decimal in a string of an answer. Words that Rust parses as numbers, such as `infinity`, are errors.
fn decimal(text: &str) -> Option<f64> {
    let plausible = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    let value: f64 = if plausible { text.parse().ok()? } else { return None };
    value.is_finite().then_some(value)
}

#[allow(clippy::cast_possible_truncation, reason = "the value is whole and below 2^127")]
fn whole_float(value: f64) -> Option<i128> {
    // mutant: replace < with <=: 10^38 and above are beyond every integer type
    (value.fract() == 0.0 && value.abs() < 1e38).then_some(value as i128)
}

fn bounds(dtype: DType) -> (i128, i128) {
    match dtype {
        DType::I64 => (i64::MIN.into(), i64::MAX.into()),
        DType::I32 => (i32::MIN.into(), i32::MAX.into()),
        DType::I16 => (i16::MIN.into(), i16::MAX.into()),
        DType::I8 => (i8::MIN.into(), i8::MAX.into()),
        DType::U64 => (0, u64::MAX.into()),
        DType::U32 => (0, u32::MAX.into()),
        DType::U16 => (0, u16::MAX.into()),
        DType::U8 => (0, u8::MAX.into()),
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::Bool => (0, 0),
    }
}

fn integer(dtype: DType, value: i128) -> Option<Scalar> {
    match dtype {
        DType::I64 => value.try_into().ok().map(Scalar::I64),
        DType::I32 => value.try_into().ok().map(Scalar::I32),
        DType::I16 => value.try_into().ok().map(Scalar::I16),
        DType::I8 => value.try_into().ok().map(Scalar::I8),
        DType::U64 => value.try_into().ok().map(Scalar::U64),
        DType::U32 => value.try_into().ok().map(Scalar::U32),
        DType::U16 => value.try_into().ok().map(Scalar::U16),
        DType::U8 => value.try_into().ok().map(Scalar::U8),
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 | DType::Bool => None,
    }
}

/// The float of a dtype nearest to `value`.
fn float(dtype: DType, value: f64, reading: Reading) -> Result<Scalar, String> {
    let rounded = round(dtype, value);
    let back = rounded.as_f64().unwrap_or(f64::NAN);
    if value.is_finite() && back.is_infinite() {
        return Err(format!("a value within the range of {dtype}"));
    }
    if reading == Reading::Exact && !value.is_nan() && back.to_bits() != value.to_bits() {
        return Err(format!("a value that {dtype} holds exactly: the nearest is {rounded}"));
    }
    Ok(rounded)
}

#[allow(clippy::cast_possible_truncation, reason = "rounding is the purpose")]
fn round(dtype: DType, value: f64) -> Scalar {
    match dtype {
        DType::F32 => Scalar::F32(value as f32),
        DType::F16 => {
            let near = f16::from_f64(value).to_bits();
            Scalar::F16(f16::from_bits(nearest(value, near, |bits| f16::from_bits(bits).to_f64(), 65520.0)))
        }
        DType::Bf16 => {
            let near = bf16::from_f64(value).to_bits();
            // Half a ULP beyond the largest finite number: 2^128 - 2^119.
            let beyond = 2f64.powi(128) - 2f64.powi(119);
            Scalar::Bf16(bf16::from_bits(nearest(value, near, |bits| bf16::from_bits(bits).to_f64(), beyond)))
        }
        DType::F64 => Scalar::F64(value),
        DType::I64 | DType::I32 | DType::I16 | DType::I8 => panic!("{dtype} is not a float"),
        DType::U64 | DType::U32 | DType::U16 | DType::U8 | DType::Bool => panic!("{dtype} is not a float"),
    }
}

/// The bits of the nearest half float, ties to even, starting from bits that are at most one off. `half`
/// converts through f32 on some machines, which rounds twice. Values of `beyond` and above round to infinity.
fn nearest(value: f64, bits: u16, to_f64: impl Fn(u16) -> f64, beyond: f64) -> u16 {
    let start = to_f64(bits);
    // mutant: replace || with &&: a shortcut; such a value comes out of the search unchanged
    if !value.is_finite() || start.is_finite() && start == value {
        return bits;
    }
    // mutant: replace < with ==; replace < with >: the search below finds the largest finite number as well
    // mutant: replace < with <=: the first half of the condition has decided where the two are equal
    if value.abs() >= beyond || start.is_infinite() && value.abs() < beyond {
        // The bits of infinity are one above those of the largest finite number.
        let sign = bits & 0x8000;
        let infinity = (1..=0x7fffu16).find(|&bits| to_f64(bits).is_infinite()).unwrap_or(0x7fff);
        // mutant: replace | with ^; replace | with ^: the bits of the sign and of the number never overlap
        return if value.abs() >= beyond { sign | infinity } else { sign | (infinity - 1) };
    }
    let candidates = [bits, bits.wrapping_add(1), bits.wrapping_sub(1)];
    // mutant: replace && with ||: a neighbour that is not finite is infinitely far and never the nearest
    let usable = |bits: &u16| to_f64(*bits).is_finite() && bits & 0x8000 == candidates[0] & 0x8000;
    let distance = |bits: u16| (to_f64(bits) - value).abs();
    candidates
        .into_iter()
        .filter(usable)
        // mutant: replace & with |; replace & with ^: the conversion at the start has decided a tie
        .min_by(|&left, &right| distance(left).total_cmp(&distance(right)).then((left & 1).cmp(&(right & 1))))
        .unwrap_or(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(literal: &Literal, dtype: DType) -> Result<Scalar, String> {
        literal.read(dtype, Reading::Exact)
    }

    fn answer(literal: &Literal, dtype: DType) -> Result<Scalar, String> {
        literal.read(dtype, Reading::Answer)
    }

    fn text(text: &str) -> Literal {
        Literal::Text(text.into())
    }

    #[test]
    fn integers_have_their_range() {
        assert_eq!(exact(&Literal::Int(-128), DType::I8), Ok(Scalar::I8(-128)));
        let error = exact(&Literal::Int(128), DType::I8).unwrap_err();
        assert_eq!(error, "an integer from -128 to 127 for i8");
        assert!(exact(&Literal::Int(-1), DType::U64).is_err());
        assert_eq!(exact(&text("18446744073709551615"), DType::U64), Ok(Scalar::U64(u64::MAX)));
        for bad in ["08", "-0", "", "-", "1.0", "+1", " 1", "nan"] {
            assert!(exact(&text(bad), DType::I64).is_err(), "{bad}");
        }
    }

    #[test]
    fn only_answers_may_write_an_integer_as_8_0() {
        assert!(exact(&Literal::Float(8.0), DType::I32).is_err());
        assert_eq!(answer(&Literal::Float(8.0), DType::I32), Ok(Scalar::I32(8)));
        assert!(answer(&Literal::Float(8.5), DType::I32).is_err());
        assert!(answer(&Literal::Float(f64::NAN), DType::I32).is_err());
        assert!(answer(&Literal::Float(1e300), DType::I64).is_err());
    }

    #[test]
    fn a_bool_is_true_or_false() {
        assert_eq!(exact(&Literal::Bool(true), DType::Bool), Ok(Scalar::Bool(true)));
        for bad in [Literal::Int(1), Literal::Float(1.0), text("true")] {
            assert!(answer(&bad, DType::Bool).is_err());
            assert!(exact(&Literal::Bool(true), DType::F64).is_err());
        }
    }

    #[test]
    fn floats_are_exact_in_cases_and_rounded_in_answers() {
        assert_eq!(exact(&Literal::Float(0.1), DType::F64), Ok(Scalar::F64(0.1)));
        let error = exact(&Literal::Float(0.1), DType::F32).unwrap_err();
        assert_eq!(error, "a value that f32 holds exactly: the nearest is 0.10000000149011612");
        assert_eq!(answer(&Literal::Float(0.1), DType::F32), Ok(Scalar::F32(0.1)));
        assert_eq!(exact(&Literal::Float(f64::from(0.1f32)), DType::F32), Ok(Scalar::F32(0.1)));
        assert!(exact(&Literal::Int(16_777_217), DType::F32).is_err());
        assert!(exact(&Literal::Float(1e39), DType::F32).unwrap_err().contains("range of f32"));
        assert!(answer(&Literal::Float(1e39), DType::F32).is_err());
        assert!(answer(&Literal::Float(65520.0), DType::F16).is_err());
        assert_eq!(answer(&Literal::Float(65519.0), DType::F16), Ok(Scalar::F16(f16::MAX)));
    }

    #[test]
    fn strings_denote_what_json_numbers_cannot_express() {
        assert_eq!(exact(&text("nan"), DType::F16), Ok(Scalar::F16(f16::NAN)));
        assert_eq!(exact(&text("-inf"), DType::Bf16), Ok(Scalar::Bf16(bf16::NEG_INFINITY)));
        assert_eq!(exact(&text("-0.0"), DType::F32), Ok(Scalar::F32(-0.0)));
        assert!(exact(&text("1.5"), DType::F64).is_err());
        assert_eq!(answer(&text("1.5"), DType::F64), Ok(Scalar::F64(1.5)));
        for bad in ["NaN", "infinity", "", "1e400", "1_0", "0x1"] {
            assert!(answer(&text(bad), DType::F64).is_err(), "{bad}");
        }
    }

    #[test]
    fn halves_round_once() {
        // Half a ULP of f16 above 1, plus a little: rounding to f32 first would make it a tie.
        let value = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(answer(&Literal::Float(value), DType::F16), Ok(Scalar::F16(f16::from_bits(0x3c01))));
        let value = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(answer(&Literal::Float(value), DType::Bf16), Ok(Scalar::Bf16(bf16::from_bits(0x3f81))));
        let tie = 1.0 + 2f64.powi(-11);
        assert_eq!(answer(&Literal::Float(tie), DType::F16), Ok(Scalar::F16(f16::ONE)));
        let tiny = 2f64.powi(-25) * 1.01;
        assert_eq!(answer(&Literal::Float(tiny), DType::F16), Ok(Scalar::F16(f16::from_bits(1))));
    }

    #[test]
    fn every_half_is_read_back() {
        for bits in 0..=u16::MAX {
            let half = Scalar::F16(f16::from_bits(bits));
            let value = half.as_f64().unwrap();
            assert_eq!(exact(&Literal::Float(value), DType::F16), Ok(half));
            let brain = Scalar::Bf16(bf16::from_bits(bits));
            let value = brain.as_f64().unwrap();
            assert_eq!(exact(&Literal::Float(value), DType::Bf16), Ok(brain));
        }
    }
}
