//! Another axis of length 1 in front.

use super::original::{Ended, Original, Refusals};
use super::rewrite::{under, with_axis_in_front, with_operands, with_shape};
use broadcheck_spec::{Operand, Operation, Outcome, Request, RuleSet, Rules, Shape, Success, Tensor};

/// Adds an axis of length 1: in front of every operand if the rule set aligns on one side, and in front of
/// the higher-rank operand only if an attribute specifies where the other one goes.
pub(super) fn unit_axis_in_front(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let variation = lifted(request).ok_or(Ended::Vacuous)?;
    let gradient = request.operation().wrt().map(|wrt| request.operands()[wrt].shape());
    // THEANO-1: a flag violation names an axis of an operand, to which an axis may or may not have been
    // added.
    let refusals = if request.rules().set() == RuleSet::Theano { Refusals::Kind } else { Refusals::Place };
    original.compare(&variation, refusals, |outcome| match outcome {
        Outcome::Refusal(mut refusal) => {
            refusal.axis = refusal.axis.map(|axis| axis.saturating_sub(1));
            Outcome::Refusal(refusal)
        }
        Outcome::Success(success) => lowered(success, gradient),
        other => other,
    })
}

fn lifted(request: &Request) -> Option<Request> {
    let operands = request.operands();
    let all = || operands.iter().map(with_axis_in_front).collect::<Option<Vec<Operand>>>();
    let ranks: Vec<usize> = operands.iter().map(Operand::rank).collect();
    let target = request.operation().target_shape().map(Shape::rank);
    if request.rules().set() == RuleSet::Repeat {
        let all: Vec<usize> = ranks.iter().copied().chain(target).collect();
        let (whole, part) =
            if target.is_some() { (all.last(), all.first()) } else { (all.first(), all.last()) };
        // REPEAT-1: there is no fifth axis. REPEAT-2: an axis that only B has would be compared with one of
        // A's.
        if all.contains(&4) || part > whole {
            return None;
        }
    }
    match (request.rules(), request.operation(), &ranks[..]) {
        // The cotangent has the rank of the result.
        (_, Operation::Vjp { .. }, _) => None,
        (rules, Operation::Broadcast { target_shape }, _) => {
            let target: Vec<usize> = std::iter::once(1).chain(target_shape.iter().copied()).collect();
            let operation = Operation::Broadcast { target_shape: Shape::new(target) };
            match rules {
                // The target alone gets another axis.
                Rules::Xla { broadcast_dimensions } => {
                    let list = broadcast_dimensions.as_ref().map(|list| list.iter().map(moved).collect());
                    under(Rules::Xla { broadcast_dimensions: list }, &operation, operands.to_vec())
                }
                others => Request::new(others.clone(), operation, all()?).ok(),
            }
        }
        (Rules::Theano, ..) => {
            // THEANO-1: absent flags are all false, but the new axis must be flagged True.
            let lifted = |operand: &Operand| {
                let flags =
                    operand.broadcastable().map_or_else(|| vec![false; operand.rank()], <[bool]>::to_vec);
                with_axis_in_front(&operand.clone().with_broadcastable(flags).ok()?)
            };
            let operands: Option<Vec<Operand>> = operands.iter().map(lifted).collect();
            with_operands(request, operands?)
        }
        (Rules::None | Rules::Numpy | Rules::Leading | Rules::Repeat, ..) | (_, _, [_]) => {
            with_operands(request, all()?)
        }
        (Rules::Pdpd { axis }, operation, [a, b]) if b <= a => {
            let axis = axis.map(|axis| if axis >= 0 { axis.saturating_add(1) } else { axis });
            let operands = vec![with_axis_in_front(&operands[0])?, operands[1].clone()];
            under(Rules::Pdpd { axis }, operation, operands)
        }
        (Rules::Xla { broadcast_dimensions: given }, operation, &[left, right]) => {
            let counts_up = |list: &[i64]| list.iter().zip(0..).all(|(&axis, place)| axis == place);
            let identity = |list: &[i64]| list.len() == left && counts_up(list);
            let given = match given {
                Some(list) if left == right && identity(list) => {
                    // The identity over one more axis; for rank 0 the empty list, which is the same as none.
                    let next = i64::try_from(left).ok()?;
                    Some(if list.is_empty() {
                        Vec::new()
                    } else {
                        list.iter().copied().chain([next]).collect()
                    })
                }
                // Not the identity here, but the identity once there is one more axis.
                Some(list) if left == right && list.len() == left + 1 && counts_up(list) => return None,
                Some(list) if left != right => Some(list.iter().map(moved).collect()),
                given => given.clone(),
            };
            let place = |at: usize, higher: bool| {
                if higher { with_axis_in_front(&operands[at]) } else { Some(operands[at].clone()) }
            };
            let operands = vec![place(0, left >= right)?, place(1, right >= left)?];
            under(Rules::Xla { broadcast_dimensions: given }, operation, operands)
        }
        _ => None,
    }
}

/// A dimension in front of whose axis another one was added. A negative dimension stays out of range.
fn moved(&axis: &i64) -> i64 {
    if axis >= 0 { axis.saturating_add(1) } else { axis }
}

/// A result without its first axis; a gradient in its operand's shape.
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
        buffer: success.buffer,
    })
}
