//! Predicts the size of an answer. Requests whose answer exceeds the limits of the implementation are skipped (clause
//! G-1).

use broadcheck_reference::align;
use broadcheck_spec::{Operation, Request, Shape};

/// The maximum number of elements in the answer to a request, including those of an intermediate.
///
/// # Errors
/// The request is valid, but its result, or the result underneath a gradient, exceeds the maximum rank or number of
/// elements. A request that must be refused is never skipped.
pub(super) fn elements(
    request: &Request,
    max_rank: Option<usize>,
    max_elements: usize,
) -> Result<usize, String> {
    let Ok(alignment) = align(request) else { return Ok(0) };
    let mut shapes: Vec<&Shape> = vec![&alignment.shape];
    shapes.extend(&alignment.intermediate);
    if let Operation::Gradient { wrt, .. } = request.operation() {
        shapes.push(request.operands()[*wrt].shape());
    }
    let mut all = 0usize;
    for shape in shapes {
        if let Some(limit) = max_rank.filter(|&limit| shape.rank() > limit) {
            return Err(format!("rank {} is above the limit {limit}", shape.rank()));
        }
        match shape.count() {
            Some(count) if count <= max_elements => all = all.saturating_add(count),
            _ => return Err(format!("a result of shape {shape} has more than {max_elements} elements")),
        }
    }
    Ok(all)
}
