//! Rule set `none`: the shapes are the same. OpenVINO, "Broadcast Rules For Elementwise Operations"
//! (`openvino`), line 11.

use super::listed;
use crate::Alignment;
use broadcheck_spec::{Refusal, RefusalKind, Shape};

pub(super) fn align(shapes: &[Shape]) -> Result<Alignment, Refusal> {
    let first = &shapes[0];

    // NONE-1. "Input tensors dimensions must match": their number first.
    if shapes.iter().any(|shape| shape.rank() != first.rank()) {
        let ranks = listed(shapes.iter().map(Shape::rank));
        let message = format!("ranks {ranks}: `none` requires equal ranks, even with a scalar");
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }

    // NONE-2. "No implicit broadcast rule is applied": all lengths must be equal, and 1 is not an exception.
    for axis in 0..first.rank() {
        if shapes.iter().any(|shape| shape[axis] != first[axis]) {
            let lengths = listed(shapes.iter().map(|shape| shape[axis]));
            let message = format!("lengths {lengths}: `none` requires equal lengths");
            return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
        }
    }

    let axes = shapes.iter().map(|shape| (0..shape.rank()).collect()).collect();
    Ok(Alignment::new(first.clone(), axes))
}
