//! How operands are given: as constants, or two as the same array. That changes no outcome, so a request with
//! it has the answer that it has without.

use crate::{Malformed, Operand, Operation};

/// Checks which operands are constants, and which are the same array as another.
pub(crate) fn check_given(operation: &Operation, operands: &[Operand]) -> Result<(), Malformed> {
    if let Some(cotangent) = operation.cotangent()
        && (cotangent.is_constant() || cotangent.same().is_some())
    {
        let field = if cotangent.is_constant() { "constant" } else { "same" };
        let place = format!("operands.{}.{field}", cotangent.name());
        return Err(Malformed::new(place, format!("`{field}` in a cotangent"), "none"));
    }
    operands.iter().enumerate().try_for_each(|(place, operand)| {
        check_constant(operation, operand, place)?;
        check_same(operation, operands, place)
    })
}

fn check_constant(operation: &Operation, operand: &Operand, place: usize) -> Result<(), Malformed> {
    if !operand.is_constant() {
        return Ok(());
    }
    let wrong = if operand.declared().is_some() {
        "a constant with a declared shape"
    } else if operation.wrt() == Some(place) {
        "a constant as the operand of `wrt`"
    } else if operation.destination() == Some(place) {
        "a constant as the destination"
    } else if operand.reads_destination() {
        "a constant that reads the destination's buffer"
    } else {
        return Ok(());
    };
    Err(Malformed::new(format!("operands.{}.constant", operand.name()), wrong, "a parameter"))
}

fn check_same(operation: &Operation, operands: &[Operand], place: usize) -> Result<(), Malformed> {
    let operand = &operands[place];
    let Some(name) = operand.same() else { return Ok(()) };
    let wrong = |found: String, expected: &str| {
        Err(Malformed::new(format!("operands.{}.same", operand.name()), found, expected))
    };
    if operation.destination().is_some() {
        return wrong("`same` in a request with `into`".into(), "`of`");
    }
    let Some(first) = operands[..place].iter().find(|first| first.name() == name) else {
        return wrong(format!("`{}`", shortened(name)), "the name of an operand before this one");
    };
    if first.same().is_some() {
        return wrong(format!("`{name}`, which has `same` itself"), "the first operand of the same array");
    }
    match difference(first, operand) {
        Some(what) => wrong(format!("another {what} than that of `{name}`"), "an operand equal to it"),
        None => Ok(()),
    }
}

/// In what two operands differ that cannot be the same array.
fn difference(first: &Operand, second: &Operand) -> Option<&'static str> {
    let differs = [
        (first.dtype() != second.dtype(), "dtype"),
        (first.shape() != second.shape(), "shape"),
        (first.strides() != second.strides() || first.offset() != second.offset(), "layout"),
        (first.broadcastable() != second.broadcastable(), "flag"),
        (first.declared() != second.declared(), "declared shape"),
        (first.is_constant() != second.is_constant(), "`constant`"),
        (!first.has_buffer_of(second), "list of values"),
    ];
    differs.into_iter().find(|(differs, _)| *differs).map(|(_, what)| what)
}

/// The beginning of a name that may be very long.
fn shortened(name: &str) -> String {
    name.chars().take(crate::MAX_OPERAND_NAME).collect()
}
