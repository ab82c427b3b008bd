//! Rule set `theano`: one static flag per axis. "Broadcasting in aesara" (`aesara`), lines 16 to 43.

use super::{listed, right_aligned_axes, right_aligned_length};
use crate::Alignment;
use broadcheck_spec::{Refusal, RefusalKind, Shape};

pub(super) fn align(shapes: &[Shape], flags: &[Option<&[bool]>]) -> Result<Alignment, Refusal> {
    // THEANO-1. An attribute `broadcastable` "specifies for each axis of the Variable if broadcasting is
    // allowed to occur in that axis" (lines 16 to 19). Absent flags are false.
    let flags: Vec<Vec<bool>> = shapes.iter().enumerate().map(|(k, s)| flags_of(s, flags.get(k))).collect();

    // THEANO-1. "If the flag is True for an axis, this means that the only valid length of that axis was 1"
    // (lines 20 to 22).
    for (operand, (shape, flags)) in shapes.iter().zip(&flags).enumerate() {
        for (axis, (&length, &flag)) in shape.iter().zip(flags).enumerate() {
            if flag && length != 1 {
                let message = format!("length {length} on an axis flagged broadcastable");
                let refusal = Refusal::new(RefusalKind::FlagViolation, message);
                return Err(refusal.of_operand(operand).at_axis(axis));
            }
        }
    }

    let rank = shapes.iter().map(Shape::rank).max().unwrap_or(0);
    let mut result = Vec::with_capacity(rank);
    let mut result_flags = Vec::with_capacity(rank);
    for axis in 0..rank {
        // THEANO-2. Axes flagged True are added on the left until the ranks are equal.
        // THEANO-3. "If the flag is False, the length of that axis could be arbitrary (including 1), but
        // theano would never broadcast that axis" (lines 23 to 24): the lengths flagged False are all equal.
        let mut fixed = shapes
            .iter()
            .zip(&flags)
            .filter(|(shape, flags)| !right_aligned_flag(flags, shape, rank, axis))
            .map(|(shape, _)| right_aligned_length(shape, rank, axis));
        let first = fixed.clone().next();
        if fixed.any(|length| Some(length) != first) {
            let lengths = listed(shapes.iter().map(|shape| right_aligned_length(shape, rank, axis)));
            let message = format!(
                "lengths {lengths}: those of axes flagged False differ, and such axes are never stretched"
            );
            return Err(Refusal::new(RefusalKind::NotBroadcastable, message).at_axis(axis));
        }
        // THEANO-3. The result has that length, or 1 if all flags are True.
        result.push(first.unwrap_or(1));
        // THEANO-4. The result's flag is True if all flags are.
        result_flags.push(first.is_none());
    }
    let axes = shapes.iter().map(|shape| right_aligned_axes(shape, rank)).collect();
    Ok(Alignment { broadcastable: Some(result_flags), ..Alignment::new(Shape::new(result), axes) })
}

fn flags_of(shape: &Shape, flags: Option<&Option<&[bool]>>) -> Vec<bool> {
    let flags = flags.copied().flatten().map_or_else(|| vec![false; shape.rank()], <[bool]>::to_vec);
    assert_eq!(flags.len(), shape.rank(), "one flag per axis of shape {shape}");
    flags
}

fn right_aligned_flag(flags: &[bool], shape: &Shape, rank: usize, axis: usize) -> bool {
    let missing = rank - shape.rank();
    axis < missing || flags[axis - missing]
}
