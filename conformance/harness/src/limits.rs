//! How large an answer will be, by arithmetic: what is larger than an implementation makes is skipped (clause G-1).

use broadcheck_reference::align;
use broadcheck_spec::{Operation, Request, Shape};

/// How many elements the answer to a request may hold, with those of an intermediate.
///
/// # Errors
/// Why the request is skipped: an accepted one whose result, or what is underneath it, has too high a rank or too
/// many elements. A refusal is always asked for.
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
