//! A line of an implementation, as the answer to a request.

use super::lines::excerpt;
use broadcheck_spec::{Outcome, Request, json};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Numbered {
    seq: Option<Value>,
}

/// The outcome that a line holds.
///
/// # Errors
/// Why it is no valid answer to the request of this number, with the beginning of the line.
pub(super) fn read(request: &Request, seq: u64, line: &[u8]) -> Result<Outcome, String> {
    let invalid = |why: String| format!("no valid answer: {why}\nthe line: {}", excerpt(line));
    let text = std::str::from_utf8(line).map_err(|error| invalid(format!("{error}, expected UTF-8")))?;
    let numbered: Numbered = serde_json::from_str(text)
        .map_err(|error| invalid(format!("found {error}, expected a JSON object in one line")))?;
    match numbered.seq {
        Some(found) if found.as_u64() == Some(seq) => {}
        Some(found) => return Err(invalid(format!("found seq {found}, expected seq {seq}"))),
        None => return Err(invalid(format!("found no seq, expected seq {seq}"))),
    }
    json::outcome_from_str(request, text).map_err(|error| invalid(error.to_string()))
}
