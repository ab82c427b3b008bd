//! The operands of a request, from what serde read. One may read the buffer of the destination, which must be
//! known before.

use super::{Spelling, dtype, partial_shape, shape, values};
use crate::lint::shortened;
use crate::literal::{Literal, Reading};
use crate::raw::{Natural, RawOperand};
use crate::request::Malformed;
use crate::{Data, Operand, PartialShape};

/// An operand as it was read.
pub(crate) enum Given {
    /// One with values.
    Complete(Operand),
    /// One that reads the buffer of the operand `of`, and its field.
    Reading { of: String, raw: RawOperand, field: String },
}

/// The operand at `field`, as far as it can be made before the others are known.
pub(crate) fn given(
    mut raw: RawOperand,
    field: &str,
    spelling: Spelling,
    errors: &mut Vec<Malformed>,
) -> Option<Given> {
    let mut wrong = |found: &str, expected: &str| {
        errors.push(Malformed::new(field, found, expected));
        None
    };
    match (raw.of.take(), raw.values.take()) {
        (None, Some(values)) => operand(raw, &values, field, spelling, errors).map(Given::Complete),
        (Some(of), None) => Some(Given::Reading { of, raw, field: field.to_owned() }),
        (Some(_), Some(_)) => wrong("both `values` and `of`", "one of them"),
        (None, None) => wrong("no field `values`", "one: it is required"),
    }
}

/// The operands of a request, of which some may read the buffer of the destination, which is named `into`.
pub(super) fn operands(given: Vec<Given>, into: Option<&str>) -> Result<Vec<Operand>, Vec<Malformed>> {
    let complete = |given: &Given| match given {
        Given::Complete(operand) if Some(operand.name()) == into => Some(operand.clone()),
        Given::Complete(_) | Given::Reading { .. } => None,
    };
    // A clone of an operand shares its buffer.
    let destination = given.iter().find_map(complete);
    let mut errors = Vec::new();
    let mut made = Vec::new();
    for given in given {
        made.extend(match given {
            Given::Complete(operand) => Some(operand),
            Given::Reading { of, raw, field } => {
                reading(&of, raw, &field, (into, destination.as_ref()), &mut errors)
            }
        });
    }
    if errors.is_empty() { Ok(made) } else { Err(errors) }
}

/// The operand at `field`, which reads the buffer of the operand `of`.
fn reading(
    of: &str,
    mut raw: RawOperand,
    field: &str,
    (into, destination): (Option<&str>, Option<&Operand>),
    errors: &mut Vec<Malformed>,
) -> Option<Operand> {
    let before = errors.len();
    let place = format!("{field}.of");
    let mut wrong = |found: String, expected: &str| {
        errors.push(Malformed::new(place.as_str(), found, expected));
        None
    };
    if into.is_none() {
        return wrong("`of` in a request without `into`".into(), "`values`");
    }
    let Some(destination) = destination.filter(|_| into == Some(of)) else {
        return wrong(
            format!("`{}`", shortened(of)),
            "the destination's name, and `values` in the destination",
        );
    };
    if raw.dtype != destination.dtype().name() {
        let found =
            format!("a buffer of {} for an operand of {}", destination.dtype(), shortened(&raw.dtype));
        return wrong(found, "one dtype");
    }
    if raw.declared.is_some() {
        return wrong("a declared shape in a request with `into`".into(), "none (clause INTO-4)");
    }
    let how = how_given(&mut raw);
    let shape = shape(&raw.shape, format_args!("{field}.shape"), errors)?;
    let offset = raw.offset.map(|Natural(given)| usize::try_from(given).unwrap_or(usize::MAX));
    let made = finished(
        Operand::of(destination, raw.name, shape, raw.strides, offset),
        raw.broadcastable,
        None,
        field,
        before,
        errors,
    );
    made.map(how)
}

/// Gives an operand as its fields say: as a constant, as the array of another.
fn how_given(raw: &mut RawOperand) -> impl FnOnce(Operand) -> Operand + use<> {
    let (constant, same) = (raw.constant.unwrap_or(false), raw.same.take());
    move |operand| {
        let operand = if constant { operand.as_constant() } else { operand };
        match same {
            Some(name) => operand.same_as(name),
            None => operand,
        }
    }
}

/// The operand at `field`, which has these values.
fn operand(
    mut raw: RawOperand,
    literals: &[Literal],
    field: &str,
    spelling: Spelling,
    errors: &mut Vec<Malformed>,
) -> Option<Operand> {
    let before = errors.len();
    let how = how_given(&mut raw);
    let dtype = dtype(&raw.dtype, format_args!("{field}.dtype"), errors);
    let shape = shape(&raw.shape, format_args!("{field}.shape"), errors);
    let data = dtype
        .and_then(|dtype| values(literals, dtype, Reading::Exact, format_args!("{field}.values"), errors));
    let declared =
        raw.declared.and_then(|raw| partial_shape(&raw, &format!("{field}.declared"), spelling, errors));
    let mut offset = 0;
    if let Some(Natural(given)) = raw.offset {
        offset = usize::try_from(given).unwrap_or(usize::MAX);
    }
    // Wrong values are replaced by placeholders, so that a wrong number of values is reported too.
    let data = data.or_else(|| dtype.map(|_| Data::Bool(vec![false; literals.len()])))?;
    let made = if raw.strides.is_some() || raw.offset.is_some() {
        Operand::view(raw.name, shape?, data, raw.strides, offset)
    } else {
        Operand::dense(raw.name, shape?, data)
    };
    finished(made, raw.broadcastable, declared, field, before, errors).map(how)
}

/// Adds what is left to an operand. `before` is how many errors there were before those of the operand.
fn finished(
    made: Result<Operand, Malformed>,
    broadcastable: Option<Vec<bool>>,
    declared: Option<PartialShape>,
    field: &str,
    before: usize,
    errors: &mut Vec<Malformed>,
) -> Option<Operand> {
    let flagged = made.and_then(|operand| match broadcastable {
        Some(flags) => operand.with_broadcastable(flags),
        None => Ok(operand),
    });
    let made = flagged.and_then(|operand| match declared {
        Some(declared) => operand.with_declared(declared),
        None => Ok(operand),
    });
    match made {
        Ok(operand) => (errors.len() == before).then_some(operand),
        Err(error) => {
            let error = short(error);
            errors.push(Malformed { place: below(&error.place, field), ..error });
            None
        }
    }
}

/// `operands.NAME.values` as `FIELD.values`.
pub(super) fn below(place: &str, field: &str) -> String {
    let rest = place.strip_prefix("operands.").unwrap_or(place);
    match rest.split_once('.') {
        Some((_, rest)) => format!("{field}.{rest}"),
        None if rest == "name" => format!("{field}.name"),
        None => field.to_owned(),
    }
}

pub(super) fn short(error: Malformed) -> Malformed {
    let expected =
        error.expected.trim_end_matches(", one per element").trim_end_matches(", one per axis").to_owned();
    let found = ["value", "stride", "flag"].iter().find_map(|what| {
        let rest = error.found.strip_prefix(&format!("1 {what}s "))?;
        Some(format!("1 {what} {rest}"))
    });
    Malformed { place: error.place, found: found.unwrap_or(error.found), expected }
}
