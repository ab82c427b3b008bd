//! What is known of a shape, from what serde read: its lengths, in the spellings that are accepted.

use super::MAX_VALUE_ERRORS;
use crate::lint::shortened;
use crate::literal::{Literal, whole};
use crate::raw::{RawLength, RawShape};
use crate::request::Malformed;
use crate::{Length, PartialShape};

/// Which spellings of a length are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// One for each length: in case files.
    Canonical,
    /// All, with integers as strings too: in the protocol.
    Any,
}

/// What is known of a shape.
pub(crate) fn partial_shape(
    raw: &RawShape,
    field: &str,
    spelling: Spelling,
    errors: &mut Vec<Malformed>,
) -> Option<PartialShape> {
    let lengths = match raw {
        RawShape::Lengths(lengths) => lengths,
        RawShape::Text(text) if text == "..." => return Some(PartialShape::Unranked),
        RawShape::Text(text) => {
            let found = format!("`{}`", shortened(text));
            errors.push(Malformed::new(field, found, "a list of lengths, or \"...\" for an unknown rank"));
            return None;
        }
    };
    let read = |(place, raw): (usize, &RawLength)| {
        let length = length(raw, spelling);
        length
            .map_err(|(found, expected)| {
                if errors.len() < MAX_VALUE_ERRORS {
                    errors.push(Malformed::new(format!("{field}[{place}]"), found, expected));
                }
            })
            .ok()
    };
    // Each wrong length is reported, so all are read.
    let read: Vec<Option<Length>> = lengths.iter().enumerate().map(read).collect();
    read.into_iter().collect::<Option<Vec<Length>>>().map(PartialShape::Ranked)
}

fn length(raw: &RawLength, spelling: Spelling) -> Result<Length, (String, &'static str)> {
    const EXPECTED: &str = "an integer, 0 or more, \"?\", or bounds such as {min: 1, max: 3}";
    let bounds = match raw {
        RawLength::Literal(Literal::Text(text)) if text == "?" => return Ok(Length::UNKNOWN),
        RawLength::Literal(literal) => {
            return natural(literal, spelling).map(Length::exactly).ok_or((literal.to_string(), EXPECTED));
        }
        RawLength::Bounds(bounds) => bounds,
    };
    let bound = |name: &str| match bounds.get(name) {
        Some(literal) => match natural(literal, spelling) {
            Some(number) => Ok(Some(number)),
            None => Err((format!("{name}: {literal}"), "an integer, 0 or more")),
        },
        None => Ok(None),
    };
    let (min, max) = (bound("min")?, bound("max")?);
    if spelling == Spelling::Canonical {
        check_canonical(bounds.keys(), min, max)?;
    }
    Length::bounded(min.unwrap_or(0), max).ok_or_else(|| {
        let found = format!("bounds from {} to {}", min.unwrap_or(0), max.unwrap_or(0));
        (found, "a `max` that is not below `min`")
    })
}

/// In a case file, a length is written in one way only.
fn check_canonical<'a>(
    mut names: impl Iterator<Item = &'a String>,
    min: Option<usize>,
    max: Option<usize>,
) -> Result<(), (String, &'static str)> {
    if let Some(name) = names.find(|name| !["min", "max"].contains(&name.as_str())) {
        return Err((format!("the field `{}`", shortened(name)), "`min` or `max`"));
    }
    match (min, max) {
        (None, None) => Err(("bounds without `min` and `max`".into(), "\"?\" for an unknown length")),
        (Some(0), _) => Err(("`min: 0`".into(), "no `min`: a length is 0 or more")),
        (Some(min), Some(max)) if min == max => {
            Err((format!("bounds from {min} to {max}"), "the number instead of equal bounds"))
        }
        _ => Ok(()),
    }
}

fn natural(literal: &Literal, spelling: Spelling) -> Option<usize> {
    match (literal, spelling) {
        (Literal::Int(value), _) => usize::try_from(*value).ok(),
        (Literal::Text(text), Spelling::Any) => whole(text).and_then(|value| usize::try_from(value).ok()),
        (Literal::Bool(_) | Literal::Float(_) | Literal::Text(_), _) => None,
    }
}
