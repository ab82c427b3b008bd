//! `repeat` agrees with `numpy` once each axis of A on which B is repeated is cut in two: the repetitions,
//! and the length of B (REPEAT-7).

use super::as_numpy::unplaced;
use super::original::{Ended, Original, Refusals};
use super::rewrite::{MOST_COPIED, elements, under, with_shape};
use broadcheck_spec::{Operand, Operation, Request, Rules, Shape};

/// REPEAT-1.
const MOST_AXES: usize = 4;

pub(super) fn cut(original: &Original<'_>) -> Result<(), Ended> {
    let request = original.request();
    let (a, b) = placed(request).ok_or(Ended::Vacuous)?;
    if a.rank() > MOST_AXES || b.rank() > MOST_AXES {
        return Err(unplaced(original));
    }
    let is_empty = |shape: &Shape| shape.contains(&0);
    if is_empty(a) && is_empty(b) {
        // REPEAT-4. `numpy` refuses some of these.
        return match original.success()?.tensor.shape() {
            shape if request.operation().wrt().is_none() && shape != a => {
                let detail = format!("the result has shape {shape}, expected {a}");
                Err(original.violated(detail, None, original.outcome().clone()))
            }
            _ => Err(Ended::Vacuous),
        };
    }
    let Some(pieces) = pieces(a, b) else { return Err(unplaced(original)) };
    let variation = variation(request, &pieces).ok_or(Ended::Vacuous)?;
    let shape = request.operation().wrt().map_or(a, |wrt| request.operands()[wrt].shape());
    original.compare(&variation, Refusals::Unspecified, |outcome| with_shape(outcome, shape))
}

/// The shapes of A and B. A destination of `elementwise` keeps its axes.
fn placed(request: &Request) -> Option<(&Shape, &Shape)> {
    match (request.operation(), request.operands()) {
        (Operation::Into { .. }, _) => None,
        (operation, [b]) => Some((operation.target_shape()?, b.shape())),
        (_, [a, b]) => Some((a.shape(), b.shape())),
        _ => None,
    }
}

/// For each axis of A, the repetitions and B's length. `None` if B cannot be repeated onto A.
fn pieces(a: &Shape, b: &Shape) -> Option<Vec<[usize; 2]>> {
    let beyond = b.rank().saturating_sub(a.rank());
    if b[..beyond].iter().any(|&length| length != 1) {
        return None;
    }
    let missing = a.rank() - (b.rank() - beyond);
    let own = std::iter::repeat_n(&1, missing).chain(&b[beyond..]);
    a.iter()
        .zip(own)
        .map(|(&whole, &length)| match length {
            0 => (whole == 0).then_some([1, 0]),
            length => (whole % length == 0).then_some([whole / length, length]),
        })
        .collect()
}

/// The request under `numpy`, with two axes for each axis of A.
fn variation(request: &Request, pieces: &[[usize; 2]]) -> Option<Request> {
    let whole: Shape = Shape::new(pieces.concat());
    let part: Shape = Shape::new(pieces.iter().flat_map(|&[_, length]| [1, length]).collect());
    let onto = |operand: &Operand, shape: &Shape| {
        let count = operand.shape().count().filter(|&count| count <= MOST_COPIED)?;
        debug_assert_eq!(shape.count(), Some(count), "the same elements");
        Operand::dense(operand.name(), shape.clone(), elements(operand)?).ok()
    };
    let operation = match request.operation() {
        Operation::Broadcast { .. } => Operation::Broadcast { target_shape: whole.clone() },
        Operation::Vjp { expression, wrt, target_shape, cotangent } => Operation::Vjp {
            expression: expression.clone(),
            wrt: *wrt,
            target_shape: target_shape.as_ref().map(|_| whole.clone()),
            cotangent: Box::new(onto(cotangent, &whole)?),
        },
        others @ (Operation::Elementwise { .. } | Operation::Gradient { .. } | Operation::Into { .. }) => {
            others.clone()
        }
    };
    let shapes: &[&Shape] = if request.operands().len() == 1 { &[&part] } else { &[&whole, &part] };
    let operands: Option<Vec<Operand>> =
        request.operands().iter().zip(shapes).map(|(operand, shape)| onto(operand, shape)).collect();
    under(Rules::Numpy, &operation, operands?)
}
