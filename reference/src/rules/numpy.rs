//! Rule set `numpy`: right-aligned, in both directions, any number of operands. OpenVINO, "Broadcast Rules
//! For Elementwise Operations" (`openvino`), lines 13 and 19 to 39.

use super::{common_length, listed, right_aligned_axes, right_aligned_length};
use crate::Alignment;
use broadcheck_spec::{Refusal, RefusalKind, Shape};

pub(super) fn align(shapes: &[Shape]) -> Result<Alignment, Refusal> {
    // NUMPY-1. Steps 1 and 2: "Right aligned dimensions […] are compared elementwise", "Smaller tensor is
    // prepended with dimension(s) of size 1".
    // NUMPY-4. Step 5: if all ranks are 0 there is no axis to visit, and the result is a scalar.
    let rank = shapes.iter().map(Shape::rank).max().unwrap_or(0);
    let mut result = Vec::with_capacity(rank);
    for axis in 0..rank {
        // NUMPY-2. Step 3: "compatible when both are equal or one of the dimensions is 1".
        // NUMPY-3. Step 4: a 1 is stretched; the common length of all operands is the result's.
        let lengths = || shapes.iter().map(|shape| right_aligned_length(shape, rank, axis));
        let Some(common) = lengths().try_fold(1, common_length) else {
            let message = format!("lengths {}: those other than 1 differ", listed(lengths()));
            return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
        };
        result.push(common);
    }
    let axes = shapes.iter().map(|shape| right_aligned_axes(shape, rank)).collect();
    Ok(Alignment::new(Shape::new(result), axes))
}

/// NUMPY-5: in one direction only, like NumPy's `broadcast_to`. Not in the documents.
pub(super) fn broadcast(operand: &Shape, target: &Shape) -> Result<Alignment, Refusal> {
    if operand.rank() > target.rank() {
        let message = format!("ranks {} and {}: the target's rank is lower", operand.rank(), target.rank());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    for (axis, &wanted) in target.iter().enumerate() {
        let length = right_aligned_length(operand, target.rank(), axis);
        if length != wanted && length != 1 {
            let message = format!("length {length} onto {wanted}: only a length 1 is stretched");
            return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
        }
    }
    Ok(Alignment::new(target.clone(), vec![right_aligned_axes(operand, target.rank())]))
}
