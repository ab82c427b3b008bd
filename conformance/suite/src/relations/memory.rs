//! The layout of operands in memory, dense or as views, does not change the answer.

use super::as_numpy::unplaced;
use super::original::{Ended, Original, Refusals};
use super::placement::{axes_of, view_of};
use super::rewrite::{self, with_operands};
use broadcheck_spec::{Data, Expression, Operand, Operation, Request, RuleSet, Rules};

/// Replaces every view by the dense operand that it shows.
pub(super) fn dense_operands(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    if request.operands().iter().all(|operand| operand.strides().is_none()) {
        return Err(Ended::Vacuous);
    }
    let operands: Option<Vec<Operand>> = request.operands().iter().map(rewrite::dense).collect();
    let variation = operands.and_then(|operands| with_operands(request, operands));
    original.compare(&variation.ok_or(Ended::Vacuous)?, Refusals::Place, |outcome| outcome)
}

/// Replaces every dense operand by a reversed view with a gap after each element.
pub(super) fn strided_operands(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    if request.operands().iter().all(|operand| operand.strides().is_some()) {
        return Err(Ended::Vacuous);
    }
    let operands: Option<Vec<Operand>> = request.operands().iter().map(backwards).collect();
    let variation = operands.and_then(|operands| with_operands(request, operands));
    original.compare(&variation.ok_or(Ended::Vacuous)?, Refusals::Place, |outcome| outcome)
}

/// A dense operand as a view that starts at the end of its buffer; a view unchanged.
fn backwards(operand: &Operand) -> Option<Operand> {
    if operand.strides().is_some() || operand.values().is_empty() {
        return Some(operand.clone());
    }
    let values = rewrite::elements(operand)?;
    let count = values.len();
    // Element k is at 2 · (count - 1 - k); the gaps hold the first element.
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
    rewrite::flagged(view.ok()?, operand.broadcastable().map(<[bool]>::to_vec))
}

/// Replaces every operand by a view of the result's shape, with stride 0 on broadcast axes. The shapes are
/// then equal, so no broadcasting rule applies.
pub(super) fn operands_as_views(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let expression = match request.operation() {
        Operation::Elementwise { expression } => expression.clone(),
        Operation::Broadcast { .. } => Expression::operand(0),
        Operation::Into { .. } | Operation::Gradient { .. } | Operation::Vjp { .. } => {
            return Err(Ended::Vacuous);
        }
    };
    let result = original.success()?.tensor.shape();
    let mut operands = Vec::with_capacity(request.operands().len());
    for (place, operand) in request.operands().iter().enumerate() {
        let axes = axes_of(request, place);
        // REPEAT-5. No stride reads the elements of an axis again.
        if request.rules().set() == RuleSet::Repeat {
            let strided =
                |(&length, &axis): (&usize, &usize)| length == 1 || result.get(axis) == Some(&length);
            match &axes {
                Some(axes) if operand.shape().iter().zip(axes).all(strided) => {}
                Some(_) | None => return Err(Ended::Vacuous),
            }
        }
        let axes = axes.ok_or_else(|| unplaced(original))?;
        let Some(view) = view_of(operand, &axes, result) else {
            let detail =
                format!("the result has shape {result}, to which {} cannot be expanded", operand.shape());
            return Err(original.violated(detail, None, original.outcome().clone()));
        };
        operands.push(view);
    }
    let rules = match request.rules().set() {
        RuleSet::Bidirectional => Rules::Numpy,
        set @ (RuleSet::None
        | RuleSet::Numpy
        | RuleSet::Pdpd
        | RuleSet::Xla
        | RuleSet::Theano
        | RuleSet::Leading
        | RuleSet::Repeat) => set.into(),
    };
    let variation = Request::new(rules, Operation::Elementwise { expression }, operands);
    original.compare(&variation.map_err(|_| Ended::Vacuous)?, Refusals::Unspecified, |outcome| outcome)
}
