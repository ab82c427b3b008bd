//! The field `admitted` of a result: the values that are right besides the listed one, so that a consumer
//! needs no judge.

use broadcheck_judge::compare::{self, Latitude};
use broadcheck_spec::{Case, Expectation, json};
use serde_json::Value;

/// The elements of the result that may have other values than the listed one; `None` if there are none.
///
/// # Errors
/// The judge rejects the case's own result.
pub(super) fn of(case: &Case) -> Result<Option<Value>, String> {
    let Expectation::Result(expected) = &case.expectation else { return Ok(None) };
    let admitted = compare::admitted(&case.request, expected, Latitude::ANY)
        .map_err(|difference| format!("{}: its own result is not admitted: {difference:?}", case.id))?;
    Ok((!admitted.is_empty()).then(|| json::admitted_to_value(&admitted)))
}
