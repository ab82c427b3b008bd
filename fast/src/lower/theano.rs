//! The rule set `theano`: clauses THEANO-1 to THEANO-4.

use super::{Lengths, Lowered, Shapes};
use crate::inline_capacity::filled;
use broadcheck_spec::{Operand, Refusal, RefusalKind, Request};
use smallvec::SmallVec;

pub(super) fn lower(request: &Request, into: &mut Lowered) -> Result<(), Refusal> {
    let operands = request.operands();
    for (place, operand) in operands.iter().enumerate() {
        let flags = operand.broadcastable().unwrap_or(&[]);
        let lengths = operand.shape().lengths();
        if let Some(axis) = (0..flags.len()).find(|&axis| flags[axis] && lengths[axis] != 1) {
            let message =
                format!("an axis of length {} is flagged broadcastable, expected length 1", lengths[axis]);
            return Err(Refusal::new(RefusalKind::FlagViolation, message).of_operand(place).at_axis(axis));
        }
    }
    let rank = Shapes(request).highest_rank();
    let mut result: Lengths = filled(1, rank);
    let mut flags: SmallVec<[bool; 8]> = filled(true, rank);
    let mut wrong: Option<(usize, usize, usize)> = None;
    for operand in operands {
        let lead = rank - operand.rank();
        for (own, &length) in operand.shape().iter().enumerate() {
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
        let lead = rank - operand.rank();
        into.maps.push(rank, |axis| axis.checked_sub(lead).filter(|&own| fixed(operand, own)));
    }
    into.shape = result;
    Ok(())
}

/// Whether an axis of an operand is not flagged broadcastable.
fn fixed(operand: &Operand, own: usize) -> bool {
    !operand.broadcastable().is_some_and(|flags| flags[own])
}

/// The flags of the result of an accepted request (clause THEANO-4).
pub(crate) fn flags(request: &Request) -> Vec<bool> {
    let rank = Shapes(request).highest_rank();
    let mut flags = vec![true; rank];
    for operand in request.operands() {
        let lead = rank - operand.rank();
        for own in (0..operand.rank()).filter(|&own| fixed(operand, own)) {
            flags[lead + own] = false;
        }
    }
    flags
}
