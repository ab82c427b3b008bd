//! What a rule set accepts, `numpy` accepts with the same result, once the operands lie as the rule set says.

use super::super::remade::{elements, reshaped, under, unflagged};
use super::{Refusals, Variation, with_shape};
use broadcheck_reference::{Alignment, align};
use broadcheck_spec::{
    Data, Expression, Implementation, Operand, Operation, Request, RuleSet, Rules, Scalar, Shape,
};

/// The request under `numpy`. The reference says on which axes the operands lie; where it refuses, nothing is said.
pub(super) fn as_numpy(implementation: &dyn Implementation, request: &Request) -> Option<Variation> {
    let alignment = align(request).ok()?;
    let made = match request.operation() {
        Operation::Broadcast { target_shape } => {
            broadcast(implementation, &request.operands()[0], target_shape)?
        }
        operation => match request.rules().set() {
            RuleSet::Numpy => return None,
            RuleSet::None => under(Rules::Numpy, operation, request.operands().to_vec())?,
            RuleSet::Theano => {
                let operands: Option<Vec<Operand>> = request.operands().iter().map(unflagged).collect();
                under(Rules::Numpy, operation, operands?)?
            }
            _ => under(Rules::Numpy, operation, placed(request, &alignment)?)?,
        },
    };
    let shape = match request.operation() {
        Operation::Gradient { wrt, .. } => request.operands()[*wrt].shape().clone(),
        _ => alignment.shape,
    };
    let gradient = matches!(request.operation(), Operation::Gradient { .. });
    let back = move |outcome| if gradient { with_shape(outcome, &shape) } else { outcome };
    Some(Variation { name: "as-numpy", request: made, refusals: Refusals::Nothing, back: Box::new(back) })
}

/// BIDI-1 and NUMPY-5: the operand beside another of the target's shape, which the expression does not read.
fn broadcast(implementation: &dyn Implementation, operand: &Operand, target: &Shape) -> Option<Request> {
    let name = if operand.name() == "target" { "other" } else { "target" };
    let one = |count: usize| {
        Data::from_scalars(operand.dtype(), std::iter::repeat_n(first(operand.dtype()), count))
    };
    let beside = if implementation.capabilities().strided && !target.contains(&0) {
        Operand::view(name, target.clone(), one(1).ok()?, Some(vec![0; target.rank()]), 0).ok()?
    } else {
        let count = target.count().filter(|&count| count <= super::super::remade::MOST_COPIED)?;
        Operand::dense(name, target.clone(), one(count).ok()?).ok()?
    };
    let operation = Operation::Elementwise { expression: Expression::operand(0) };
    under(Rules::Numpy, &operation, vec![operand.clone(), beside])
}

/// Any value of a dtype.
fn first(dtype: broadcheck_spec::DType) -> Scalar {
    use broadcheck_spec::DType;
    use broadcheck_spec::half::{bf16, f16};
    match dtype {
        DType::F64 => Scalar::F64(1.0),
        DType::F32 => Scalar::F32(1.0),
        DType::F16 => Scalar::F16(f16::ONE),
        DType::Bf16 => Scalar::Bf16(bf16::ONE),
        DType::I64 => Scalar::I64(1),
        DType::I32 => Scalar::I32(1),
        DType::I16 => Scalar::I16(1),
        DType::I8 => Scalar::I8(1),
        DType::U64 => Scalar::U64(1),
        DType::U32 => Scalar::U32(1),
        DType::U16 => Scalar::U16(1),
        DType::U8 => Scalar::U8(1),
        DType::Bool => Scalar::Bool(true),
    }
}

/// The operands of pdpd or xla, each on the axes of the result on which it lies, with 1 on the others.
fn placed(request: &Request, alignment: &Alignment) -> Option<Vec<Operand>> {
    let place = |(operand, axes): (&Operand, &Vec<Option<usize>>)| {
        let mut shape = vec![1; alignment.shape.rank()];
        for (&length, axis) in operand.shape().iter().zip(axes) {
            if let Some(axis) = axis {
                shape[*axis] = length;
            }
        }
        elements(operand)?;
        reshaped(operand, shape)
    };
    request.operands().iter().zip(&alignment.axes).map(place).collect()
}
