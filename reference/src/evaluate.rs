//! Elementwise operations and `broadcast`: computes the elements of the result one by one.

use crate::indices::Indices;
use crate::{Alignment, apply, position, read, result_dtype};
use broadcheck_spec::{
    DEFAULT_MAX_ELEMENTS, DType, Data, Expression, Operand, Operation, Request, Scalar, Shape, Success,
    Tensor,
};

/// The result of an accepted request, except for gradients.
pub(crate) fn evaluate(request: &Request, alignment: &Alignment) -> Success {
    let operands = request.operands();
    match request.operation() {
        Operation::Elementwise { expression }
        | Operation::Into { expression, .. }
        | Operation::Gradient { expression, .. }
        | Operation::Vjp { expression, .. } => {
            let dtypes: Vec<DType> = operands.iter().map(Operand::dtype).collect();
            let dtype = result_dtype(expression, &dtypes).expect("the types of an accepted request agree");
            let root = |index: &[usize]| {
                *node_values(expression, operands, alignment, index).last().expect("an expression has a root")
            };
            // INTO-3. Nothing is written before every element has been computed.
            let tensor = tensor(dtype, &alignment.shape, root);
            Success {
                buffer: request.destination().map(|destination| written(destination, &tensor)),
                tensor,
                intermediate: intermediate(operands, alignment),
                broadcastable: alignment.broadcastable.clone(),
            }
        }
        // BIDI-3, NUMPY-5. The values are those of the operand, whatever its dtype.
        Operation::Broadcast { .. } => {
            let value = |index: &[usize]| element(operands, 0, alignment, index);
            Success::from(tensor(operands[0].dtype(), &alignment.shape, value))
        }
    }
}

/// The value of every node of an expression at one index of the result. Each function rounds (clause V-5).
pub(crate) fn node_values(
    expression: &Expression,
    operands: &[Operand],
    alignment: &Alignment,
    index: &[usize],
) -> Vec<Scalar> {
    expression.values(|operand| element(operands, operand, alignment, index), apply)
}

/// The operand's element that is read at an index of the result.
fn element(operands: &[Operand], operand: usize, alignment: &Alignment, index: &[usize]) -> Scalar {
    let operand_index = alignment.operand_index(operand, operands[operand].shape(), index);
    read(&operands[operand], &operand_index)
}

/// XLA-8: the lower operand after the in-dim step. Omitted if it would be huge although the result is small.
fn intermediate(operands: &[Operand], alignment: &Alignment) -> Option<Tensor> {
    let shape = alignment.intermediate.as_ref()?;
    shape.count().filter(|&count| count <= DEFAULT_MAX_ELEMENTS)?;
    // mutant: replace < with <=: operands of equal ranks have no intermediate and have returned above
    let lower = if operands[0].rank() < operands[1].rank() { 0 } else { 1 };
    let value = |index: &[usize]| element(operands, lower, alignment, index);
    Some(tensor(operands[lower].dtype(), shape, value))
}

/// INTO-4: the destination's buffer, with the result at the places of the destination's elements.
fn written(destination: &Operand, result: &Tensor) -> Data {
    let mut buffer: Vec<Scalar> = destination.values().iter().collect();
    for (index, value) in Indices::new(result.shape()).zip(result.values().iter()) {
        buffer[position(destination, &index)] = value;
    }
    Data::from_scalars(destination.dtype(), buffer).expect("the result has the destination's dtype (INTO-2)")
}

/// Builds a tensor from its value at each index.
pub(crate) fn tensor(dtype: DType, shape: &Shape, value: impl Fn(&[usize]) -> Scalar) -> Tensor {
    let mut data = Data::empty(dtype);
    for index in Indices::new(shape) {
        data.push(value(&index)).expect("values of the result's dtype");
    }
    Tensor::new(shape.clone(), data).expect("one value per index")
}
