//! Other rule sets agree with `numpy` once each operand is reshaped to the axes on which the rule set places
//! it.

use super::cut::cut;
use super::order::{axes_reversed, transposed};
use super::original::{Ended, Original, Refusals};
use super::placement::{axes_of, result_rank, spread};
use super::rewrite::{MOST_COPIED, one, reshaped, under, unflagged, with_shape};
use broadcheck_spec::{
    DType, Data, Expression, Function, Operand, Operation, Outcome, Refusal, Request, RuleSet, Rules, Shape,
};

/// Checks what `none` and `theano` accept (NONE-1, NONE-2, THEANO-5), what `pdpd` and `xla` accept or refuse
/// if the operands can be placed (PDPD-3 to PDPD-6, XLA-1, XLA-7, XLA-8, XLA-11 to XLA-13), and what
/// `broadcast` accepts (BIDI-1, NUMPY-5), `leading` with its shapes reversed (LEADING-5), and `repeat` with
/// its axes cut in two (REPEAT-7).
pub(super) fn as_numpy(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let operation = request.operation();
    match (request.rules(), operation) {
        (Rules::Numpy | Rules::Bidirectional, Operation::Broadcast { target_shape }) => {
            original.success()?;
            let operand = &request.operands()[0];
            let ones = ones(operand, target_shape, original.takes_views()).ok_or(Ended::Vacuous)?;
            // The expression does not read the ones.
            let operation = Operation::Elementwise { expression: Expression::operand(0) };
            let variation = under(Rules::Numpy, &operation, vec![operand.clone(), ones]);
            let variation = variation.ok_or(Ended::Vacuous)?;
            original.compare(&variation, Refusals::Unspecified, |outcome| outcome)
        }
        (Rules::Numpy | Rules::Bidirectional, _) => Err(Ended::Vacuous),
        (Rules::None | Rules::Theano, _) => {
            original.success()?;
            let variation = without_flags(request).ok_or(Ended::Vacuous)?;
            original.compare(&variation, Refusals::Unspecified, |outcome| outcome)
        }
        (Rules::Pdpd { .. } | Rules::Xla { .. }, _) => placed(original),
        (Rules::Leading, _) => reversed(original),
        (Rules::Repeat, _) => cut(original),
    }
}

/// LEADING-5: the same under `numpy`, with the axes of every shape in the opposite order.
fn reversed(original: &Original<'_>) -> Result<(), Ended> {
    let request = original.request();
    let shape = |shape: &Shape| Shape::new(shape.iter().rev().copied().collect());
    let turned = |operand: &Operand| {
        let order: Vec<usize> = (0..operand.rank()).rev().collect();
        let copied = if operand.strides().is_none() { operand.values().len() } else { 0 };
        if copied > MOST_COPIED { None } else { transposed(operand, &order) }
    };
    let operation = match request.operation() {
        Operation::Broadcast { target_shape } => Operation::Broadcast { target_shape: shape(target_shape) },
        Operation::Vjp { expression, wrt, target_shape, cotangent } => Operation::Vjp {
            expression: expression.clone(),
            wrt: *wrt,
            target_shape: target_shape.as_ref().map(shape),
            cotangent: Box::new(turned(cotangent).ok_or(Ended::Vacuous)?),
        },
        others @ (Operation::Elementwise { .. } | Operation::Gradient { .. } | Operation::Into { .. }) => {
            others.clone()
        }
    };
    let operands: Option<Vec<Operand>> = request.operands().iter().map(turned).collect();
    let variation = operands.and_then(|operands| under(Rules::Numpy, &operation, operands));
    original.compare(&variation.ok_or(Ended::Vacuous)?, Refusals::Refused, axes_reversed)
}

/// THEANO-3 with exactly the axes of length 1 flagged.
pub(super) fn ones_flagged_as_numpy(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let exactly = |operand: &Operand| {
        let flags = operand.broadcastable();
        let flag = |axis: usize| flags.is_some_and(|flags| flags[axis]);
        operand.shape().iter().enumerate().all(|(axis, &length)| flag(axis) == (length == 1))
    };
    if request.rules().set() != RuleSet::Theano || !request.operands().iter().all(exactly) {
        return Err(Ended::Vacuous);
    }
    let variation = without_flags(request).ok_or(Ended::Vacuous)?;
    original.compare(&variation, Refusals::Refused, |outcome| outcome)
}

fn without_flags(request: &Request) -> Option<Request> {
    let operands: Option<Vec<Operand>> = request.operands().iter().map(unflagged).collect();
    under(Rules::Numpy, request.operation(), operands?)
}

/// Compares with `numpy` on the operands of `pdpd` or `xla`, each with ones inserted around its axes unless
/// they are already aligned with the last axes of the result, as numpy aligns them.
fn placed(original: &Original<'_>) -> Result<(), Ended> {
    let request = original.request();
    let (first, rank) = (request.operands()[0].shape(), result_rank(request));
    let pdpd = request.rules().set() == RuleSet::Pdpd;
    let mut transposed_any = false;
    let mut operands = Vec::with_capacity(request.operands().len());
    for (place, operand) in request.operands().iter().enumerate() {
        match axes_of(request, place) {
            Some(axes) if axes.iter().copied().eq(rank - operand.rank()..rank) => {
                operands.push(operand.clone());
            }
            Some(axes) => {
                transposed_any |= !axes.is_sorted();
                let placed = in_order(operand, axes)
                    .and_then(|(operand, axes)| reshaped(&operand, spread(operand.shape(), &axes, rank)));
                operands.push(placed.ok_or(Ended::Vacuous)?);
            }
            None => return Err(unplaced(original)),
        }
    }
    let variation = under(Rules::Numpy, request.operation(), operands).ok_or(Ended::Vacuous)?;
    match request.operation().wrt() {
        // The gradient of an operand that was transposed has other axes.
        Some(_) if transposed_any => Err(Ended::Vacuous),
        Some(wrt) => {
            let shape = request.operands()[wrt].shape();
            original.compare(&variation, Refusals::Unspecified, |outcome| with_shape(outcome, shape))
        }
        // PDPD-5: A is not broadcast.
        _ if pdpd => original.compare(&variation, Refusals::Refused, |outcome| only_of_shape(outcome, first)),
        _ => original.compare(&variation, Refusals::Refused, |outcome| outcome),
    }
}

/// The operand with its axes in the order of the axes of the result on which they lie, and those (XLA-11).
fn in_order(operand: &Operand, mut axes: Vec<usize>) -> Option<(Operand, Vec<usize>)> {
    if axes.is_sorted() {
        return Some((operand.clone(), axes));
    }
    let mut order: Vec<usize> = (0..axes.len()).collect();
    order.sort_by_key(|&own| axes[own]);
    axes.sort_unstable();
    Some((transposed(operand, &order)?, axes))
}

/// A request whose operands do not fit on each other, or not on the target, must be refused (PDPD-4, XLA-1,
/// XLA-3 to XLA-6, XLA-9 to XLA-11).
pub(super) fn unplaced(original: &Original<'_>) -> Ended {
    let outcome = match original.answer() {
        Ok(outcome @ Outcome::Success(_)) => outcome.clone(),
        Ok(_) => return Ended::Vacuous,
        Err(ended) => return ended,
    };
    let detail = match original.request().rules() {
        Rules::Pdpd { .. } => "accepted, although B does not fit on A at this axis",
        Rules::Xla { .. } => "accepted, although broadcast_dimensions do not place the operand",
        // Their operands are aligned with the last axes, or with the first.
        Rules::Repeat => "accepted, although A's lengths are no multiples of B's",
        Rules::None | Rules::Numpy | Rules::Bidirectional | Rules::Theano | Rules::Leading => {
            return Ended::Vacuous;
        }
    };
    original.violated(detail, None, outcome)
}

/// Turns a result of another shape into a refusal.
fn only_of_shape(outcome: Outcome, shape: &Shape) -> Outcome {
    match outcome {
        Outcome::Success(success) if success.tensor.shape() != shape => Outcome::Refusal(Refusal::default()),
        other => other,
    }
}

/// An operand of ones, with another name: dense, or a view of a single element if it is large.
fn ones(operand: &Operand, shape: &Shape, views: bool) -> Option<Operand> {
    let name = if operand.name() == "target" { "other" } else { "target" };
    let dtype = operand.dtype();
    let ones = |count: usize| Data::from_scalars(dtype, std::iter::repeat_n(one(dtype), count)).ok();
    match shape.count() {
        Some(count) if count <= MOST_COPIED => Operand::dense(name, shape.clone(), ones(count)?).ok(),
        _ if !views => None,
        _ => Operand::view(name, shape.clone(), ones(1)?, Some(vec![0; shape.rank()]), 0).ok(),
    }
}

/// BIDI-3: `array(x) * ones(t)`.
pub(super) fn broadcast_times_ones(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let (Rules::Bidirectional, Operation::Broadcast { target_shape }) =
        (request.rules(), request.operation())
    else {
        return Err(Ended::Vacuous);
    };
    let operand = &request.operands()[0];
    // Booleans cannot be multiplied.
    if operand.dtype() == DType::Bool {
        return Err(Ended::Vacuous);
    }
    let both = [Expression::operand(0), Expression::operand(1)];
    let expression = Expression::call(Function::Multiply, both).map_err(|_| Ended::Vacuous)?;
    let ones = ones(operand, target_shape, original.takes_views()).ok_or(Ended::Vacuous)?;
    let operands = vec![operand.clone(), ones];
    let variation = under(Rules::Numpy, &Operation::Elementwise { expression }, operands);
    original.compare(&variation.ok_or(Ended::Vacuous)?, Refusals::Refused, |outcome| outcome)
}

/// NUMPY-5 and BIDI-2: `broadcast` accepts exactly if the bidirectional result has the target's shape.
pub(super) fn broadcast_as_bidirectional(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let (Rules::Numpy, Operation::Broadcast { target_shape }) = (request.rules(), request.operation()) else {
        return Err(Ended::Vacuous);
    };
    let variation = under(Rules::Bidirectional, request.operation(), request.operands().to_vec());
    original.compare(&variation.ok_or(Ended::Vacuous)?, Refusals::Refused, |outcome| {
        only_of_shape(outcome, target_shape)
    })
}
