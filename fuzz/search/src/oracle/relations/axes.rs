//! Axes: one more of length 1, and all of them in the other order.

use super::super::remade::{self, elements, gathered, positions, with_axis_in_front, with_operands};
use super::{Refusals, Variation, with_shape};
use broadcheck_reference::align;
use broadcheck_spec::{
    Data, Implementation, Operand, Operation, OperationKind, Outcome, Request, RuleSet, Rules, Shape,
    Success, Tensor,
};

/// One more axis of length 1, in front of every operand where ranks count from the right, and in front of the
/// operand of the higher rank where the rule set says on which axes of it the other lies.
pub(super) fn in_front(_: &dyn Implementation, request: &Request) -> Option<Variation> {
    let made = lifted(request)?;
    let gradient = match request.operation() {
        Operation::Gradient { wrt, .. } => Some(request.operands()[*wrt].shape().clone()),
        _ => None,
    };
    let back = move |outcome| match outcome {
        Outcome::Refusal(mut refusal) => {
            refusal.axis = refusal.axis.map(|axis| axis.saturating_sub(1));
            Outcome::Refusal(refusal)
        }
        Outcome::Success(success) => lowered(success, gradient.as_ref()),
        other => other,
    };
    // THEANO-1: a flag violation has the axis of an operand, which got one more or did not.
    let refusals = if request.rules().set() == RuleSet::Theano { Refusals::Kind } else { Refusals::All };
    Some(Variation { name: "unit-axis-in-front", request: made, refusals, back: Box::new(back) })
}

fn lifted(request: &Request) -> Option<Request> {
    let operands = request.operands();
    let all = || operands.iter().map(with_axis_in_front).collect::<Option<Vec<Operand>>>();
    let ranks: Vec<usize> = operands.iter().map(Operand::rank).collect();
    match (request.rules(), request.operation(), &ranks[..]) {
        (rules, Operation::Broadcast { target_shape }, _) => {
            let target: Vec<usize> = std::iter::once(1).chain(target_shape.iter().copied()).collect();
            let operation = Operation::Broadcast { target_shape: Shape::new(target) };
            Request::new(rules.clone(), operation, all()?).ok()
        }
        (Rules::Theano, ..) => {
            // THEANO-1: without flags all are false, and the new axis needs a true one.
            let lifted = |operand: &Operand| {
                let flags =
                    operand.broadcastable().map_or_else(|| vec![false; operand.rank()], <[bool]>::to_vec);
                with_axis_in_front(&operand.clone().with_broadcastable(flags).ok()?)
            };
            let operands: Option<Vec<Operand>> = operands.iter().map(lifted).collect();
            with_operands(request, operands?)
        }
        (Rules::None | Rules::Numpy, ..) | (_, _, [_]) => with_operands(request, all()?),
        (Rules::Pdpd { axis }, operation, [a, b]) if b <= a => {
            let axis = axis.map(|axis| if axis >= 0 { axis.saturating_add(1) } else { axis });
            let operands = vec![with_axis_in_front(&operands[0])?, operands[1].clone()];
            remade::under(Rules::Pdpd { axis }, operation, operands)
        }
        (Rules::Xla { broadcast_dimensions: given }, operation, &[left, right]) => {
            let counts_up = |list: &[i64]| list.iter().zip(0..).all(|(&axis, place)| axis == place);
            let identity = |list: &[i64]| list.len() == left && counts_up(list);
            let given = match given {
                Some(list) if left == right && identity(list) => {
                    // The identity over one more axis; over none it is the empty list, which says nothing.
                    let next = i64::try_from(left).ok()?;
                    Some(if list.is_empty() {
                        Vec::new()
                    } else {
                        list.iter().copied().chain([next]).collect()
                    })
                }
                // No identity here, and one over one more axis.
                Some(list) if left == right && list.len() == left + 1 && counts_up(list) => return None,
                Some(list) if left != right => {
                    let moved = |&axis: &i64| if axis >= 0 { axis.saturating_add(1) } else { axis };
                    Some(list.iter().map(moved).collect())
                }
                given => given.clone(),
            };
            let place = |at: usize, higher: bool| {
                if higher { with_axis_in_front(&operands[at]) } else { Some(operands[at].clone()) }
            };
            let operands = vec![place(0, left >= right)?, place(1, right >= left)?];
            remade::under(Rules::Xla { broadcast_dimensions: given }, operation, operands)
        }
        _ => None,
    }
}

/// A result without its first axis, where that has length 1; a gradient in its operand's shape.
fn lowered(success: Success, gradient: Option<&Shape>) -> Outcome {
    let without = |tensor: Tensor| {
        let shape = Shape::new(tensor.shape().get(1..).unwrap_or_default().to_vec());
        match with_shape(Outcome::Success(tensor.clone().into()), &shape) {
            Outcome::Success(success) => success.tensor,
            _ => tensor,
        }
    };
    if let Some(shape) = gradient {
        return with_shape(Outcome::Success(success), shape);
    }
    Outcome::Success(Success {
        tensor: without(success.tensor),
        intermediate: success.intermediate.map(without),
        broadcastable: success.broadcastable.map(|flags| flags.get(1..).unwrap_or_default().to_vec()),
    })
}

/// All axes in the other order, once the ranks are equal (NUMPY-1, NUMPY-2, NONE-2).
pub(super) fn reversed(_: &dyn Implementation, request: &Request) -> Option<Variation> {
    let flat = matches!(request.rules(), Rules::None | Rules::Numpy);
    let elementwise = request.operation().kind() == OperationKind::Elementwise;
    let rank = request.operands().iter().map(Operand::rank).max()?;
    if !flat || !elementwise || rank < 2 {
        return None;
    }
    if request.rules().set() == RuleSet::None
        && request.operands().iter().any(|operand| operand.rank() != rank)
    {
        return None;
    }
    align(request).ok()?;
    let turned = |operand: &Operand| -> Option<Operand> {
        let mut shape = vec![1; rank - operand.rank()];
        shape.extend(operand.shape().iter());
        let (shape, values) = transposed(&Shape::new(shape), &elements(operand)?)?;
        Operand::dense(operand.name(), shape, values).ok()
    };
    let operands: Option<Vec<Operand>> = request.operands().iter().map(turned).collect();
    let made = with_operands(request, operands?)?;
    let back = |outcome| match outcome {
        Outcome::Success(success) => {
            let found = success.tensor.clone();
            let (shape, values) = success.tensor.into_parts();
            let turned =
                transposed(&shape, &values).and_then(|(shape, values)| Tensor::new(shape, values).ok());
            Outcome::Success(turned.unwrap_or(found).into())
        }
        other => other,
    };
    Some(Variation {
        name: "axes-reversed",
        request: made,
        refusals: Refusals::Nothing,
        back: Box::new(back),
    })
}

/// Row-major values with the axes in the other order.
fn transposed(shape: &Shape, values: &Data) -> Option<(Shape, Data)> {
    let mut strides = vec![1i64; shape.rank()];
    for axis in (1..shape.rank()).rev() {
        strides[axis - 1] = strides[axis].checked_mul(i64::try_from(shape[axis].max(1)).ok()?)?;
    }
    strides.reverse();
    let turned = Shape::new(shape.iter().rev().copied().collect());
    let positions = positions(&turned, &strides, 0, values.len());
    Some((turned, gathered(values, &positions)?))
}
