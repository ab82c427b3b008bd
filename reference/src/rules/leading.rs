//! Rule set `leading`: aligned at the first axis, in both directions, any number of operands. Octave's and
//! PDL's rule (clauses LEADING-1 to LEADING-4); not in the documents.

use super::{common_length, listed};
use crate::Alignment;
use broadcheck_spec::{Refusal, RefusalKind, Shape};

pub(super) fn align(shapes: &[Shape]) -> Result<Alignment, Refusal> {
    // LEADING-1. Axes are compared from the first; a shape of lower rank has ones at its end.
    let rank = shapes.iter().map(Shape::rank).max().unwrap_or(0);
    let mut result = Vec::with_capacity(rank);
    for axis in 0..rank {
        // LEADING-2. The lengths other than 1 are equal.
        // LEADING-3. A 1 is stretched; the common length of all operands is the result's.
        let lengths = || shapes.iter().map(|shape| left_aligned_length(shape, axis));
        let Some(common) = lengths().try_fold(1, common_length) else {
            let message = format!("lengths {}: those other than 1 differ", listed(lengths()));
            return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
        };
        result.push(common);
    }
    let axes = shapes.iter().map(own_axes).collect();
    Ok(Alignment::new(Shape::new(result), axes))
}

/// LEADING-4: in one direction only.
pub(super) fn broadcast(operand: &Shape, target: &Shape) -> Result<Alignment, Refusal> {
    if operand.rank() > target.rank() {
        let message = format!("ranks {} and {}: the target's rank is lower", operand.rank(), target.rank());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    for (axis, &wanted) in target.iter().enumerate() {
        let length = left_aligned_length(operand, axis);
        if length != wanted && length != 1 {
            let message = format!("length {length} onto {wanted}: only a length 1 is stretched");
            return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
        }
    }
    Ok(Alignment::new(target.clone(), vec![own_axes(operand)]))
}

/// The length of a shape on an axis of the result; 1 if the shape has no such axis.
fn left_aligned_length(shape: &Shape, axis: usize) -> usize {
    if axis < shape.rank() { shape[axis] } else { 1 }
}

/// Each axis of a shape is aligned with the axis of the result that has the same number.
fn own_axes(shape: &Shape) -> Vec<usize> {
    (0..shape.rank()).collect()
}
