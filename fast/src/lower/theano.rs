//! The rule set `theano`: clauses THEANO-1 to THEANO-4.

use super::{Lengths, Lowered, Shapes};
use crate::inline_capacity::filled;
use crate::problem::{Form, Problem};
use broadcheck_spec::{Refusal, RefusalKind};
use smallvec::SmallVec;

pub(super) fn lower(problem: &Problem<'_>, into: &mut Lowered) -> Result<(), Refusal> {
    let operands = problem.operands();
    for (place, operand) in operands.iter().enumerate() {
        let flags = operand.broadcastable.unwrap_or(&[]);
        let lengths = operand.shape;
        if let Some(axis) = (0..flags.len()).find(|&axis| flags[axis] && lengths[axis] != 1) {
            let message =
                format!("an axis of length {} is flagged broadcastable, expected length 1", lengths[axis]);
            return Err(Refusal::new(RefusalKind::FlagViolation, message).of_operand(place).at_axis(axis));
        }
    }
    let rank = Shapes(problem.operands()).highest_rank();
    let mut result: Lengths = filled(1, rank);
    let mut flags: SmallVec<[bool; 8]> = filled(true, rank);
    let mut wrong: Option<(usize, usize, usize)> = None;
    for operand in operands {
        let lead = rank - operand.shape.len();
        for (own, &length) in operand.shape.iter().enumerate() {
            let axis = own + lead;
            if !fixed(operand, own) {
                continue;
            }
            if flags[axis] {
                (flags[axis], result[axis]) = (false, length);
            } else if length != result[axis] && wrong.is_none_or(|(leftmost, ..)| axis < leftmost) {
                wrong = Some((axis, result[axis], length));
            }
        }
    }
    if let Some((axis, one, other)) = wrong {
        let message = format!("lengths {one} and {other} differ and neither axis is flagged broadcastable");
        return Err(Refusal::new(RefusalKind::NotBroadcastable, message).at_axis(axis));
    }
    for operand in operands {
        let lead = rank - operand.shape.len();
        into.maps.push(rank, |axis| axis.checked_sub(lead).filter(|&own| fixed(operand, own)));
    }
    into.shape = result;
    Ok(())
}

/// Whether an axis of an operand is not flagged broadcastable.
fn fixed(operand: &Form<'_>, own: usize) -> bool {
    !operand.broadcastable.is_some_and(|flags| flags[own])
}

/// The flags of the result of an accepted problem (clause THEANO-4).
pub(crate) fn flags(problem: &Problem<'_>) -> Vec<bool> {
    let rank = Shapes(problem.operands()).highest_rank();
    let mut flags = vec![true; rank];
    for operand in problem.operands() {
        let lead = rank - operand.shape.len();
        for own in (0..operand.shape.len()).filter(|&own| fixed(operand, own)) {
            flags[lead + own] = false;
        }
    }
    flags
}
