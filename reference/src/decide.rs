//! Decides whether a request is accepted, with checks in the order of clause G-6.

use crate::Alignment;
use crate::rules::{align_shapes, broadcast_shape, check_operand_count};
use crate::types::{check_differentiable, result_dtype};
use broadcheck_spec::{
    DEFAULT_MAX_ELEMENTS, DType, Operand, Operation, Refusal, RefusalKind, Request, Shape,
};

/// How the operands of a request are aligned with its result.
///
/// # Errors
/// The first refusal in the order of clause G-6: the number of operands, the types function by function,
/// derivatives, the clauses of the rule set, the size, the cotangent or the destination.
pub fn align(request: &Request) -> Result<Alignment, Refusal> {
    let (set, operands) = (request.rules().set(), request.operands());
    check_operand_count(set, operands.len())?;
    let dtypes: Vec<DType> = operands.iter().map(Operand::dtype).collect();
    match request.operation() {
        Operation::Broadcast { target_shape } => {
            return broadcast_shape(request.rules(), operands[0].shape(), target_shape);
        }
        Operation::Elementwise { expression } | Operation::Into { expression, .. } => {
            result_dtype(expression, &dtypes)?;
        }
        Operation::Gradient { expression, wrt } | Operation::Vjp { expression, wrt, .. } => {
            result_dtype(expression, &dtypes)?;
            check_differentiable(expression, &dtypes, *wrt)?;
        }
    }
    let shapes: Vec<Shape> = operands.iter().map(|operand| operand.shape().clone()).collect();
    let flags: Vec<Option<&[bool]>> = operands.iter().map(Operand::broadcastable).collect();
    let alignment = match request.operation().target_shape() {
        Some(target) => broadcast_shape(request.rules(), &shapes[0], target)?,
        None => align_shapes(request.rules(), &shapes, &flags)?,
    };
    check_cotangent(request, &dtypes, &alignment.shape)?;
    check_destination(request, &dtypes, &alignment.shape)?;
    Ok(alignment)
}

/// GRAD-4: after everything else, the cotangent has the dtype and the shape of the result.
fn check_cotangent(request: &Request, dtypes: &[DType], result: &Shape) -> Result<(), Refusal> {
    let Operation::Vjp { expression, cotangent, .. } = request.operation() else { return Ok(()) };
    check_form("a cotangent", cotangent, result_dtype(expression, dtypes)?, result)
}

/// INTO-2 and INTO-1: after everything else, the destination has the dtype of the result, and the common
/// shape, of which it is a part.
fn check_destination(request: &Request, dtypes: &[DType], common: &Shape) -> Result<(), Refusal> {
    let Operation::Into { expression, destination } = request.operation() else { return Ok(()) };
    check_form("a destination", &request.operands()[*destination], result_dtype(expression, dtypes)?, common)
}

/// Whether operands of this common shape, the destination's own included, may be written into a destination
/// of this shape (clause INTO-1).
///
/// # Errors
/// `rank_mismatch`, or `dimension_mismatch` at the leftmost axis on which the lengths differ.
pub fn check_destination_shape(destination: &Shape, common: &Shape) -> Result<(), Refusal> {
    check_lengths("a destination", destination, common)
}

/// Checks that an operand has the dtype, the rank and the lengths of the result, in this order.
fn check_form(what: &str, operand: &Operand, dtype: DType, result: &Shape) -> Result<(), Refusal> {
    if operand.dtype() != dtype {
        let message = format!("{what} of {} for a result of {dtype}", operand.dtype());
        return Err(Refusal::new(RefusalKind::DTypeMismatch, message));
    }
    check_lengths(what, operand.shape(), result)
}

/// Checks that a shape is the result's.
fn check_lengths(what: &str, shape: &Shape, result: &Shape) -> Result<(), Refusal> {
    if shape.rank() != result.rank() {
        let message = format!("{what} of rank {} for a result of rank {}", shape.rank(), result.rank());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    for (axis, (length, wanted)) in shape.iter().zip(result.iter()).enumerate() {
        if length != wanted {
            let message = format!("{what} of length {length} for {wanted} of the result");
            return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
        }
    }
    Ok(())
}

/// If an accepted request is too large to compute, the reason: its result, or for a gradient the result of
/// the expression, has more than [`DEFAULT_MAX_ELEMENTS`] elements (clause G-1).
pub fn exceeds_limit(request: &Request, alignment: &Alignment) -> Option<String> {
    let mut shapes = vec![&alignment.shape];
    if let Some(wrt) = request.operation().wrt() {
        // The gradient has the operand's shape, which may be large even if the result is empty.
        shapes.push(request.operands()[wrt].shape());
    }
    let too_many = |shape: &&Shape| shape.count().is_none_or(|count| count > DEFAULT_MAX_ELEMENTS);
    let shape = shapes.into_iter().find(too_many)?;
    Some(format!("a result of shape {shape} has more than {DEFAULT_MAX_ELEMENTS} elements"))
}
