//! The rule set `numpy`: clauses NUMPY-1 to NUMPY-4, and NUMPY-5 for `broadcast`.

use super::{Lengths, Lowered, Shapes, mismatch, right_aligned};
use broadcheck_spec::{Refusal, RefusalKind};
use smallvec::smallvec;

pub(super) fn lower(shapes: &Shapes<'_>) -> Result<Lowered, Refusal> {
    let rank = shapes.highest_rank();
    let mut result: Lengths = smallvec![1; rank];
    // The leftmost axis on which two lengths other than 1 differ, over all operands.
    let mut wrong: Option<(usize, usize, usize)> = None;
    for shape in shapes.iter() {
        let lead = rank - shape.len();
        for (axis, &length) in shape.iter().enumerate().map(|(own, length)| (own + lead, length)) {
            if length == 1 || length == result[axis] {
                continue;
            }
            if result[axis] == 1 {
                result[axis] = length;
            } else if wrong.is_none_or(|(leftmost, ..)| axis < leftmost) {
                wrong = Some((axis, result[axis], length));
            }
        }
    }
    if let Some((axis, one, other)) = wrong {
        return Err(mismatch(axis, one, other));
    }
    let operands = shapes.iter().map(|shape| right_aligned(shape, &result)).collect();
    Ok(Lowered::new(result, operands))
}

/// One operand brought to exactly this shape (clause NUMPY-5).
pub(super) fn onto(shape: &[usize], target: &[usize]) -> Result<Lowered, Refusal> {
    let Some(lead) = target.len().checked_sub(shape.len()) else {
        let message = format!("rank {} cannot be brought to rank {}", shape.len(), target.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    };
    for (own, &length) in shape.iter().enumerate() {
        if length != 1 && length != target[own + lead] {
            return Err(mismatch(own + lead, length, target[own + lead]));
        }
    }
    Ok(Lowered::new(target.into(), smallvec![right_aligned(shape, target)]))
}
