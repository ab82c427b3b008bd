//! Decides whether a request is accepted, with checks in the order of clause G-6.

use crate::Alignment;
use crate::rules::{align_shapes, broadcast_shape, check_operand_count};
use crate::types::{check_differentiable, result_dtype};
use broadcheck_spec::{DEFAULT_MAX_ELEMENTS, DType, Operand, Operation, Refusal, Request, Shape};

/// How the operands of a request are aligned with its result.
///
/// # Errors
/// The first refusal in the order of clause G-6: the number of operands, the types function by function,
/// derivatives, the clauses of the rule set, the size.
pub fn align(request: &Request) -> Result<Alignment, Refusal> {
    let (set, operands) = (request.rules().set(), request.operands());
    check_operand_count(set, operands.len())?;
    let dtypes: Vec<DType> = operands.iter().map(Operand::dtype).collect();
    match request.operation() {
        Operation::Broadcast { target_shape } => {
            return broadcast_shape(set, operands[0].shape(), target_shape);
        }
        Operation::Elementwise { expression } => {
            result_dtype(expression, &dtypes)?;
        }
        Operation::Gradient { expression, wrt } => {
            result_dtype(expression, &dtypes)?;
            check_differentiable(expression, &dtypes, *wrt)?;
        }
    }
    let shapes: Vec<Shape> = operands.iter().map(|operand| operand.shape().clone()).collect();
    let flags: Vec<Option<&[bool]>> = operands.iter().map(Operand::broadcastable).collect();
    align_shapes(request.rules(), &shapes, &flags)
}

/// If an accepted request is too large to compute, the reason: its result, or for a gradient the result of
/// the expression, has more than [`DEFAULT_MAX_ELEMENTS`] elements (clause G-1).
pub fn exceeds_limit(request: &Request, alignment: &Alignment) -> Option<String> {
    let mut shapes = vec![&alignment.shape];
    if let Operation::Gradient { wrt, .. } = request.operation() {
        // The gradient has the operand's shape, which may be large even if the result is empty.
        shapes.push(request.operands()[*wrt].shape());
    }
    let too_many = |shape: &&Shape| shape.count().is_none_or(|count| count > DEFAULT_MAX_ELEMENTS);
    let shape = shapes.into_iter().find(too_many)?;
    Some(format!("a result of shape {shape} has more than {DEFAULT_MAX_ELEMENTS} elements"))
}
