//! A destination does not change the result.

use super::original::{Ended, Original, Refusals};
use super::rewrite::unflagged;
use broadcheck_spec::{Operand, Operation, Request};

/// INTO-3: the result is that of the same request without a destination, in which every operand has a buffer
/// of its own. Where a destination is refused, the request without it may be accepted.
pub(super) fn without_destination(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let Operation::Into { expression, .. } = request.operation() else { return Err(Ended::Vacuous) };
    original.success()?;
    let operands: Option<Vec<Operand>> = request.operands().iter().map(unflagged).collect();
    let operation = Operation::Elementwise { expression: expression.clone() };
    let variation = Request::new(request.rules().clone(), operation, operands.ok_or(Ended::Vacuous)?);
    original.compare(&variation.map_err(|_| Ended::Vacuous)?, Refusals::Unspecified, |outcome| outcome)
}
