//! The rule set `numpy`: clauses NUMPY-1 to NUMPY-4, and NUMPY-5 for `broadcast`.

use super::{Lowered, Maps, Shapes, mismatch};
use crate::inline_capacity::filled;
use broadcheck_spec::{Refusal, RefusalKind};

pub(super) fn lower(shapes: &Shapes<'_>, into: &mut Lowered) -> Result<(), Refusal> {
    let rank = shapes.highest_rank();
    into.shape = filled(1, rank);
    let result = &mut into.shape[..];
    // The leftmost axis on which two lengths differ and neither is 1, over all operands.
    let mut wrong: Option<(usize, usize, usize)> = None;
    for shape in shapes.iter() {
        let lead = rank - shape.len();
        for (axis, (&length, common)) in (lead..).zip(shape.iter().zip(&mut result[lead..])) {
            if length == 1 || length == *common {
                continue;
            }
            if *common == 1 {
                *common = length;
            } else if wrong.is_none_or(|(leftmost, ..)| axis < leftmost) {
                wrong = Some((axis, *common, length));
            }
        }
    }
    if let Some((axis, one, other)) = wrong {
        return Err(mismatch(axis, one, other));
    }
    into.maps = Maps::stretched(shapes.len(), rank);
    for (operand, shape) in shapes.iter().enumerate() {
        into.maps.right_align(operand, shape, result);
    }
    Ok(())
}

/// One operand broadcast to exactly this shape (clause NUMPY-5).
pub(super) fn onto(shape: &[usize], target: &[usize], into: &mut Lowered) -> Result<(), Refusal> {
    let Some(lead) = target.len().checked_sub(shape.len()) else {
        let message = format!("rank {} cannot be broadcast to rank {}", shape.len(), target.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    };
    for (own, &length) in shape.iter().enumerate() {
        if length != 1 && length != target[own + lead] {
            return Err(mismatch(own + lead, length, target[own + lead]));
        }
    }
    into.shape = target.into();
    into.maps = Maps::stretched(1, target.len());
    into.maps.right_align(0, shape, target);
    Ok(())
}
