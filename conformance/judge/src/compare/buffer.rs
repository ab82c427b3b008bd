//! The destination's buffer after the write (clause INTO-4). It needs no expected values: it follows from the
//! buffer before the write and the result, which is judged by itself.

use super::{Difference, DifferenceKind, difference, index_of};
use broadcheck_reference::position;
use broadcheck_spec::{Data, Operand, Request, Success};

/// Judges the buffer of an answer whose result has the expected dtype and shape, if it gives one.
pub(super) fn buffer(request: &Request, success: &Success) -> Result<(), Difference> {
    let Some(found) = &success.buffer else { return Ok(()) };
    let Some(destination) = request.destination() else {
        let detail =
            format!("buffer: found {} values, expected none: the request has no `into`", found.len());
        return difference(DifferenceKind::Extra, detail);
    };
    let before = destination.values();
    if found.len() != before.len() {
        let detail =
            format!("buffer: found {} values, expected {}, as before the write", found.len(), before.len());
        return difference(DifferenceKind::Values, detail);
    }
    untouched(destination, success, found)
}

/// Each place of the destination has the result's element, and every other place the value from before.
fn untouched(destination: &Operand, success: &Success, found: &Data) -> Result<(), Difference> {
    let mut written = vec![None; found.len()];
    for element in 0..success.tensor.values().len() {
        written[position(destination, &index_of(element, destination.shape()))] = Some(element);
    }
    for (place, (found, before)) in found.iter().zip(destination.values().iter()).enumerate() {
        let element = written[place];
        let expected = element.and_then(|element| success.tensor.values().get(element)).unwrap_or(before);
        if expected != found {
            let why = match element {
                Some(element) => format!("the result at {:?}", index_of(element, destination.shape())),
                None => "as before: it is outside the destination".into(),
            };
            let (found, expected) = (found.literal(), expected.literal());
            let detail = format!(
                "buffer: at position {place} found {found}, expected {expected}, {why} (clause INTO-4)"
            );
            return difference(DifferenceKind::Values, detail);
        }
    }
    Ok(())
}
