//! Which cases run last, one at a time: those for which a wrong rule may take all memory.

use broadcheck_spec::{Case, Expectation, RefusalKind, Request, Shape};

/// A case runs last if the result may take more bytes than this in a library that aligns or sizes it wrongly.
const MUCH_MEMORY: f64 = (1u64 << 30) as f64;

/// Whether a case asks for more memory than a machine has, in a library that takes it: a result too large to
/// exist, or one that a wrong rule would make large, such as an empty one if 0 is not broadcast.
pub(super) fn may_exhaust_memory(case: &Case) -> bool {
    let too_large = |kind| matches!(kind, Some(RefusalKind::TooLarge));
    matches!(&case.expectation, Expectation::Refusal(refusal) if too_large(refusal.kind))
        || largest_result(&case.request) > MUCH_MEMORY
}

/// The bytes of the largest result that a wrong rule may give: along each axis, the longest operand, with the
/// operands aligned at the last axis or at the first.
fn largest_result(request: &Request) -> f64 {
    let mut shapes: Vec<&[usize]> =
        request.operands().iter().map(|operand| operand.shape().lengths()).collect();
    shapes.extend(request.operation().target_shape().map(Shape::lengths));
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let longest = |at: &dyn Fn(&[usize]) -> Option<usize>| {
        shapes.iter().filter_map(|shape| at(shape)).max().unwrap_or(1).max(1) as f64
    };
    let from_first = (0..rank).map(|axis| longest(&|shape| shape.get(axis).copied())).product::<f64>();
    let from_last =
        (0..rank).map(|axis| longest(&|shape| shape.iter().rev().nth(axis).copied())).product::<f64>();
    // The widest dtype has 8 bytes.
    8.0 * from_first.max(from_last)
}
