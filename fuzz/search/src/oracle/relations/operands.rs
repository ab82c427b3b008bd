//! The order of operands, and how they lie in memory.

use super::super::remade::{self, with_operands};
use super::{Refusals, Variation, unchanged};
use broadcheck_spec::{
    Data, Expression, Implementation, Node, Operand, Operation, Outcome, Request, RuleSet,
};

/// The operands listed in the other order, and read where they now stand (NUMPY-2, NONE-2, THEANO-3, XLA-8). The
/// operands of `pdpd` have parts of their own.
pub(super) fn reversed(_: &dyn Implementation, request: &Request) -> Option<Variation> {
    let count = request.operands().len();
    if count < 2 || request.rules().set() == RuleSet::Pdpd {
        return None;
    }
    let moved = |expression: &Expression| replaced(expression, &|place| count - 1 - place);
    let operation = match request.operation() {
        Operation::Elementwise { expression } => Operation::Elementwise { expression: moved(expression)? },
        Operation::Gradient { expression, wrt } => {
            Operation::Gradient { expression: moved(expression)?, wrt: count - 1 - wrt }
        }
        Operation::Broadcast { .. } => return None,
    };
    let operands: Vec<Operand> = request.operands().iter().rev().cloned().collect();
    let request = Request::new(request.rules().clone(), operation, operands).ok()?;
    let theano = request.rules().set() == RuleSet::Theano;
    let back = move |outcome| match outcome {
        Outcome::Refusal(mut refusal) => {
            refusal.operand = refusal.operand.map(|place| count - 1 - place.min(count - 1));
            Outcome::Refusal(refusal)
        }
        other => other,
    };
    // A flag violation names the first operand in the list.
    let refusals = if theano { Refusals::Kind } else { Refusals::All };
    Some(Variation { name: "operands-reversed", request, refusals, back: Box::new(back) })
}

/// The expression with its operands at other places.
pub(super) fn replaced(expression: &Expression, place: &dyn Fn(usize) -> usize) -> Option<Expression> {
    let mut built: Vec<Expression> = Vec::new();
    for node in expression.nodes() {
        let made = match node {
            Node::Operand(operand) => Expression::operand(place(*operand)),
            Node::Call(call) => {
                let arguments = built.split_off(built.len() - call.arguments().len());
                Expression::call(call.function(), arguments).ok()?
            }
        };
        built.push(made);
    }
    built.pop()
}

/// Every view as the dense operand that it shows.
pub(super) fn dense_operands(_: &dyn Implementation, request: &Request) -> Option<Variation> {
    if request.operands().iter().all(|operand| operand.strides().is_none()) {
        return None;
    }
    let operands: Option<Vec<Operand>> = request.operands().iter().map(remade::dense).collect();
    let request = with_operands(request, operands?)?;
    Some(Variation { name: "dense-operands", request, refusals: Refusals::All, back: unchanged() })
}

/// Every dense operand as a view: backwards, with a gap behind each element.
pub(super) fn strided_operands(implementation: &dyn Implementation, request: &Request) -> Option<Variation> {
    if !implementation.capabilities().strided
        || request.operands().iter().all(|operand| operand.strides().is_some())
    {
        return None;
    }
    let operands: Option<Vec<Operand>> = request.operands().iter().map(backwards).collect();
    let request = with_operands(request, operands?)?;
    Some(Variation { name: "strided-operands", request, refusals: Refusals::All, back: unchanged() })
}

/// A dense operand as a view from the end of a buffer; a view as it is.
fn backwards(operand: &Operand) -> Option<Operand> {
    if operand.strides().is_some() || operand.values().is_empty() {
        return Some(operand.clone());
    }
    let values = remade::elements(operand)?;
    let count = values.len();
    // Element k stands at 2 · (count - 1 - k); between them stands the first element.
    let spread = (0..2 * count - 1).map(|place| {
        let element = if place % 2 == 0 { count - 1 - place / 2 } else { 0 };
        values.get(element)
    });
    let buffer = Data::from_scalars(operand.dtype(), spread.flatten()).ok()?;
    let mut strides = vec![0i64; operand.rank()];
    let mut step = -2i64;
    for (stride, &length) in strides.iter_mut().zip(operand.shape().iter()).rev() {
        *stride = step;
        step = step.checked_mul(i64::try_from(length).ok()?)?;
    }
    let view = Operand::view(operand.name(), operand.shape().clone(), buffer, Some(strides), 2 * (count - 1));
    remade::flagged(view.ok()?, operand.broadcastable().map(<[bool]>::to_vec))
}
