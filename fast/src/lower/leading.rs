//! The rule set `leading`: clauses LEADING-1 to LEADING-3, and LEADING-4 for `broadcast`.

use super::{Lowered, Shapes, common, mismatch};
use broadcheck_spec::{Refusal, RefusalKind};

pub(super) fn lower(shapes: &Shapes<'_>, into: &mut Lowered) -> Result<(), Refusal> {
    let rank = shapes.highest_rank();
    // Axis by axis, so that the first mismatch is the leftmost.
    for axis in 0..rank {
        let mut whole = 1;
        for &length in shapes.iter().filter_map(|shape| shape.get(axis)) {
            whole = common(whole, length).ok_or_else(|| mismatch(axis, whole, length))?;
        }
        into.shape.push(whole);
    }
    for shape in shapes.iter() {
        push(shape, into);
    }
    Ok(())
}

/// One operand broadcast to exactly this shape (clause LEADING-4).
pub(super) fn onto(shape: &[usize], target: &[usize], into: &mut Lowered) -> Result<(), Refusal> {
    if shape.len() > target.len() {
        let message = format!("rank {} cannot be broadcast to rank {}", shape.len(), target.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    let fits = |(&length, &whole): (&usize, &usize)| length == 1 || length == whole;
    if let Some(axis) = shape.iter().zip(target).position(|pair| !fits(pair)) {
        return Err(mismatch(axis, shape[axis], target[axis]));
    }
    into.shape = target.into();
    push(shape, into);
    Ok(())
}

/// Adds an operand whose axes are the first of the result. One whose length differs is stretched.
fn push(shape: &[usize], into: &mut Lowered) {
    let result = &into.shape;
    into.maps
        .push(result.len(), |axis| shape.get(axis).filter(|&&length| length == result[axis]).map(|_| axis));
}
