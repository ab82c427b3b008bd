//! Rule set `bidirectional`: broadcasts an operand to a shape, in both directions. OpenVINO, "Bidirectional
//! Broadcast Rules" (`openvino`), lines 61 to 89.

use super::{common_length, right_aligned_axes, right_aligned_length};
use crate::Alignment;
use broadcheck_spec::{Refusal, RefusalKind, Shape};

pub(super) fn broadcast(operand: &Shape, target: &Shape) -> Result<Alignment, Refusal> {
    // BIDI-1. Step 1: "right alignment".
    let rank = operand.rank().max(target.rank());
    let mut result = Vec::with_capacity(rank);
    for axis in 0..rank {
        let length = right_aligned_length(operand, rank, axis);
        let wanted = right_aligned_length(target, rank, axis);
        // BIDI-1. Step 3: "must have the same value, or one of them is equal to 1".
        let Some(common) = common_length(length, wanted) else {
            let message =
                format!("length {length} of the operand and {wanted} of the target: neither equal nor 1");
            return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
        };
        // BIDI-2. Steps 2 and 4: the shape of array(input) * ones(target_shape), which need not be the
        // target.
        result.push(common);
    }
    // BIDI-3. Step 2: the values are the operand's, because multiplying by ones changes nothing.
    Ok(Alignment::new(Shape::new(result), vec![right_aligned_axes(operand, rank)]))
}
