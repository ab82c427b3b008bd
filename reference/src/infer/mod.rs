//! Shape inference: what is known of the result before the run (clauses INFER-1 to INFER-14).
//!
//! A rule set decides axis by axis, and no axis depends on another. So the possible results are a product of
//! sets, one per axis, and each set is an interval again: nothing is lost by stating its bounds. `repeat` is
//! the exception, in a file of its own.

#![warn(clippy::wildcard_enum_match_arm)]

mod lengths;
mod repeat;

use crate::rules::{
    align_shapes, broadcast_shape, check_operand_count, pdpd_start, xla_axes, xla_target_axes,
};
use crate::types::result_dtype;
use broadcheck_spec::{
    Accepts, Asked, DType, Inference, Length, OperandType, PartialShape, Refusal, RefusalKind, RuleSet,
    Rules, Shape, Signature,
};
use lengths::{Axis, equal, stretched, stretched_onto};

/// What is known of the result of a signature before the run.
///
/// # Errors
/// The refusal of the signature, if every run would be refused (clause INFER-11).
///
/// ```
/// use broadcheck_reference::infer;
/// use broadcheck_spec::{Accepts, Asked, DType, Expression, OperandType, PartialShape, Rules, Signature};
/// let shape = |text: &str| text.parse::<PartialShape>().unwrap();
/// let operand = OperandType::new("a", DType::F32, shape("?"))?;
/// let signature = Signature::new(Rules::Numpy, Asked::TargetShape(shape("3")), vec![operand])?;
/// let inference = infer(&signature).unwrap();
/// assert_eq!(inference.shape, shape("3"));
/// assert_eq!(inference.accepts, Some(Accepts::Depends));
/// # Ok::<(), broadcheck_spec::Malformed>(())
/// ```
pub fn infer(signature: &Signature) -> Result<Inference, Refusal> {
    let set = signature.rules().set();
    check_operand_count(set, signature.operands().len())?;
    // INFER-12. Types are checked before shapes.
    let dtypes: Vec<DType> = signature.operands().iter().map(OperandType::dtype).collect();
    let dtype = match signature.asked() {
        Asked::Expression(expression) => result_dtype(expression, &dtypes)?,
        Asked::TargetShape(_) => dtypes[0],
    };
    let result = match signature.asked() {
        Asked::Expression(_) => elementwise(signature)?,
        Asked::TargetShape(target) => broadcast(signature.rules(), signature.operands()[0].shape(), target)?,
    };
    if signature.is_known() {
        check_known(signature)?;
    }
    let accepts = if result.always { Accepts::Always } else { Accepts::Depends };
    Ok(Inference { dtype, shape: result.shape, accepts: Some(accepts), broadcastable: result.flags })
}

/// What a rule set says of the result.
struct Known {
    shape: PartialShape,
    always: bool,
    flags: Option<Vec<bool>>,
}

impl Known {
    fn of(axes: &[Axis]) -> Known {
        let shape = PartialShape::Ranked(axes.iter().map(|axis| axis.length).collect());
        Known { shape, always: axes.iter().all(|axis| axis.always), flags: None }
    }
}

/// INFER-1. If every length is known, the refusals are those of the operation, `too_large` included.
fn check_known(signature: &Signature) -> Result<(), Refusal> {
    let shapes: Vec<Shape> = signature.shapes().filter_map(PartialShape::known).collect();
    match signature.asked() {
        Asked::Expression(_) => {
            let flags: Vec<Option<&[bool]>> =
                signature.operands().iter().map(OperandType::broadcastable).collect();
            align_shapes(signature.rules(), &shapes, &flags).map(|_| ())
        }
        Asked::TargetShape(_) => broadcast_shape(signature.rules(), &shapes[0], &shapes[1]).map(|_| ()),
    }
}

fn elementwise(signature: &Signature) -> Result<Known, Refusal> {
    let operands = signature.operands();
    let shapes: Vec<&PartialShape> = operands.iter().map(OperandType::shape).collect();
    match (signature.rules(), &shapes[..]) {
        (Rules::None, _) => none(&shapes),
        (Rules::Numpy, _) => numpy(&shapes),
        (Rules::Theano, _) => theano(operands),
        (Rules::Leading, _) => leading(&shapes),
        (Rules::Repeat, [a, b]) => repeat::onto(b, a),
        (Rules::Repeat, _) => repeat::alone(shapes[0]),
        (Rules::Pdpd { axis }, [a, b]) => pdpd(a, b, *axis),
        (Rules::Xla { broadcast_dimensions }, [lhs, rhs]) => {
            xla(ranked(lhs), ranked(rhs), broadcast_dimensions.as_deref().unwrap_or(&[]))
        }
        // G-5. With one operand the result has its shape.
        (Rules::Pdpd { .. } | Rules::Xla { .. }, _) => {
            Ok(Known { shape: shapes[0].clone(), always: true, flags: None })
        }
        (Rules::Bidirectional, _) => Err(no_such_inference(RuleSet::Bidirectional)),
    }
}

fn broadcast(rules: &Rules, operand: &PartialShape, target: &PartialShape) -> Result<Known, Refusal> {
    match rules {
        Rules::Numpy => numpy_broadcast(operand, target),
        // BIDI-1 and BIDI-2: as if the target were an operand.
        Rules::Bidirectional => numpy(&[operand, target]),
        Rules::Leading => leading_broadcast(operand, target),
        Rules::Repeat => repeat::onto(operand, target),
        Rules::Xla { broadcast_dimensions } => {
            xla_broadcast(ranked(operand), ranked(target), broadcast_dimensions.as_deref().unwrap_or(&[]))
        }
        Rules::None | Rules::Pdpd { .. } | Rules::Theano => Err(no_such_inference(rules.set())),
    }
}

fn no_such_inference(set: RuleSet) -> Refusal {
    Refusal { message: format!("{set} has no such operation"), ..Refusal::default() }
}

/// The lengths under a rule set whose shapes have ranks.
fn ranked(shape: &PartialShape) -> &[Length] {
    shape.lengths().expect("a signature of `xla` or `theano` has known ranks")
}

/// INFER-5.
fn none(shapes: &[&PartialShape]) -> Result<Known, Refusal> {
    let known: Vec<&[Length]> = shapes.iter().filter_map(|shape| shape.lengths()).collect();
    let alone = shapes.len() == 1;
    let Some(first) = known.first() else {
        return Ok(Known { shape: PartialShape::Unranked, always: alone, flags: None });
    };
    if let Some(other) = known.iter().find(|lengths| lengths.len() != first.len()) {
        let message = format!("ranks {} and {}: `none` requires equal ranks", first.len(), other.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    let axis = |axis: usize| {
        let lengths: Vec<Length> = known.iter().map(|lengths| lengths[axis]).collect();
        equal(&lengths).ok_or_else(|| mismatch(&lengths).at_axis(axis))
    };
    let axes = (0..first.len()).map(axis).collect::<Result<Vec<Axis>, Refusal>>()?;
    let result = Known::of(&axes);
    // The unknown rank takes the others', and may turn out to be another.
    Ok(Known { always: result.always && known.len() == shapes.len(), ..result })
}

/// INFER-4, and INFER-10 for an unknown rank.
fn numpy(shapes: &[&PartialShape]) -> Result<Known, Refusal> {
    let known: Vec<&[Length]> = shapes.iter().filter_map(|shape| shape.lengths()).collect();
    let unknown = shapes.len() - known.len();
    let rank = known.iter().map(|lengths| lengths.len()).max().unwrap_or(0);
    let mut axes = Vec::with_capacity(rank);
    for axis in 0..rank {
        let lengths: Vec<Length> = known.iter().map(|shape| right_aligned(shape, rank, axis)).collect();
        let refusal = || {
            let refusal = mismatch(&lengths);
            // An axis is counted from the left of the result, whose rank is then unknown.
            if unknown == 0 { refusal.at_axis(axis) } else { refusal }
        };
        axes.push(stretched(&lengths).ok_or_else(refusal)?);
    }
    if unknown == 0 {
        return Ok(Known::of(&axes));
    }
    let all_one = known.iter().copied().flatten().all(|length| length.number() == Some(1));
    Ok(Known { shape: PartialShape::Unranked, always: unknown == 1 && all_one, flags: None })
}

/// INFER-7.
fn numpy_broadcast(operand: &PartialShape, target: &PartialShape) -> Result<Known, Refusal> {
    let (operand, target) = match (operand.lengths(), target.lengths()) {
        (Some(operand), Some(target)) => (operand, target),
        // Only a scalar fits a target of every rank.
        (Some(operand), None) => {
            let always = operand.is_empty();
            return Ok(Known { shape: PartialShape::Unranked, always, flags: None });
        }
        (None, _) => return Ok(Known { shape: target.clone(), always: false, flags: None }),
    };
    if operand.len() > target.len() {
        let message = format!("ranks {} and {}: the target's rank is lower", operand.len(), target.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    let axis = |(axis, &wanted): (usize, &Length)| {
        let length = right_aligned(operand, target.len(), axis);
        stretched_onto(wanted, length).ok_or_else(|| mismatch(&[length, wanted]).at_axis(axis))
    };
    let axes = target.iter().enumerate().map(axis).collect::<Result<Vec<Axis>, Refusal>>()?;
    Ok(Known::of(&axes))
}

/// INFER-13: INFER-4 on each axis from the first, and INFER-10 for an unknown rank.
fn leading(shapes: &[&PartialShape]) -> Result<Known, Refusal> {
    let known: Vec<&[Length]> = shapes.iter().filter_map(|shape| shape.lengths()).collect();
    let unknown = shapes.len() - known.len();
    let rank = known.iter().map(|lengths| lengths.len()).max().unwrap_or(0);
    let mut axes = Vec::with_capacity(rank);
    for axis in 0..rank {
        let lengths: Vec<Length> = known.iter().map(|shape| left_aligned(shape, axis)).collect();
        axes.push(stretched(&lengths).ok_or_else(|| mismatch(&lengths).at_axis(axis))?);
    }
    if unknown == 0 {
        return Ok(Known::of(&axes));
    }
    let all_one = known.iter().copied().flatten().all(|length| length.number() == Some(1));
    Ok(Known { shape: PartialShape::Unranked, always: unknown == 1 && all_one, flags: None })
}

/// INFER-13: INFER-7 on each axis from the first.
fn leading_broadcast(operand: &PartialShape, target: &PartialShape) -> Result<Known, Refusal> {
    let (operand, target) = match (operand.lengths(), target.lengths()) {
        (Some(operand), Some(target)) => (operand, target),
        // Only a scalar fits a target of every rank.
        (Some(operand), None) => {
            let always = operand.is_empty();
            return Ok(Known { shape: PartialShape::Unranked, always, flags: None });
        }
        (None, _) => return Ok(Known { shape: target.clone(), always: false, flags: None }),
    };
    if operand.len() > target.len() {
        let message = format!("ranks {} and {}: the target's rank is lower", operand.len(), target.len());
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    let axis = |(axis, &wanted): (usize, &Length)| {
        let length = left_aligned(operand, axis);
        stretched_onto(wanted, length).ok_or_else(|| mismatch(&[length, wanted]).at_axis(axis))
    };
    let axes = target.iter().enumerate().map(axis).collect::<Result<Vec<Axis>, Refusal>>()?;
    Ok(Known::of(&axes))
}

/// INFER-6.
fn pdpd(a: &PartialShape, b: &PartialShape, axis: Option<i64>) -> Result<Known, Refusal> {
    let (a, b) = match (a.lengths(), b.lengths()) {
        (Some(a), Some(b)) => (a, b),
        (Some(a), None) => return pdpd_with_unknown_b(a, axis),
        (None, b) => return pdpd_with_unknown_a(b, axis),
    };
    let start = pdpd_start(a.len(), b.len(), axis)?;
    // PDPD-4. The axes of B beyond A must be 1.
    let room = a.len().checked_sub(start).ok_or_else(|| beyond(start, b.len(), a.len()))?;
    let outside = b.get(room..).unwrap_or(&[]);
    if outside.iter().any(|length| !length.admits(1)) {
        return Err(beyond(start, b.len(), a.len()));
    }
    let within = outside.iter().all(|length| length.number() == Some(1));
    // PDPD-5 and PDPD-6. A's lengths where B has no axis.
    let mut axes = Vec::with_capacity(a.len());
    for (axis, &own) in a.iter().enumerate() {
        let length = axis.checked_sub(start).and_then(|i| b.get(i)).copied().unwrap_or(Length::exactly(1));
        axes.push(stretched_onto(own, length).ok_or_else(|| mismatch(&[own, length]).at_axis(axis))?);
    }
    let result = Known::of(&axes);
    Ok(Known { always: result.always && within, ..result })
}

/// INFER-6: A's shape. A scalar is accepted wherever an axis is, and other shapes are not.
fn pdpd_with_unknown_b(a: &[Length], axis: Option<i64>) -> Result<Known, Refusal> {
    let start = pdpd_start(a.len(), 0, axis)?;
    if start > a.len() {
        return Err(beyond(start, 0, a.len()));
    }
    Ok(Known { shape: PartialShape::Ranked(a.to_vec()), always: false, flags: None })
}

/// INFER-6: nothing is known of the result. Only a scalar B that starts at A's first axis, or at its end,
/// goes with every A.
fn pdpd_with_unknown_a(b: Option<&[Length]>, axis: Option<i64>) -> Result<Known, Refusal> {
    // A negative axis other than -1 is refused at every rank.
    pdpd_start(usize::MAX, b.map_or(0, <[Length]>::len), axis)?;
    let always = b.is_some_and(<[Length]>::is_empty) && matches!(axis, None | Some(-1 | 0));
    Ok(Known { shape: PartialShape::Unranked, always, flags: None })
}

fn beyond(start: usize, axes: usize, rank: usize) -> Refusal {
    let message = format!("axis {start} and {axes} axes of B exceed the rank of A, {rank}");
    Refusal::new(RefusalKind::AxisOutOfRange, message)
}

/// INFER-9.
fn xla(lhs: &[Length], rhs: &[Length], dimensions: &[i64]) -> Result<Known, Refusal> {
    let (lower, higher) = if lhs.len() <= rhs.len() { (lhs, rhs) } else { (rhs, lhs) };
    let named = xla_axes(lower.len(), higher.len(), dimensions)?;
    // Axes that are not named keep the higher operand's lengths.
    let mut axes: Vec<Axis> = higher.iter().map(|&length| Axis { length, always: true }).collect();
    // XLA-6: the named axes increase, so the first mismatch is the leftmost.
    for (&length, &axis) in lower.iter().zip(&named) {
        let both = [length, higher[axis]];
        axes[axis] = stretched(&both).ok_or_else(|| mismatch(&both).at_axis(axis))?;
    }
    Ok(Known::of(&axes))
}

/// INFER-9, with a target: INFER-7 on the named axes.
fn xla_broadcast(operand: &[Length], target: &[Length], dimensions: &[i64]) -> Result<Known, Refusal> {
    let named = xla_target_axes(operand.len(), target.len(), dimensions)?;
    let axis = |(axis, &wanted): (usize, &Length)| {
        // An axis that is not named keeps the target's length, as one onto which a 1 is stretched.
        let own = named.iter().position(|&named| named == axis);
        let length = own.map_or(Length::exactly(1), |own| operand[own]);
        stretched_onto(wanted, length).ok_or_else(|| mismatch(&[length, wanted]).at_axis(axis))
    };
    let axes = target.iter().enumerate().map(axis).collect::<Result<Vec<Axis>, Refusal>>()?;
    Ok(Known::of(&axes))
}

/// INFER-8.
fn theano(operands: &[OperandType]) -> Result<Known, Refusal> {
    let flag = |operand: &OperandType, axis: usize| operand.broadcastable().is_some_and(|flags| flags[axis]);
    // THEANO-1.
    let mut always = true;
    for (place, operand) in operands.iter().enumerate() {
        for (axis, length) in ranked(operand.shape()).iter().enumerate() {
            if flag(operand, axis) && !length.admits(1) {
                let message = format!("length {length} on an axis flagged broadcastable");
                let refusal = Refusal::new(RefusalKind::FlagViolation, message);
                return Err(refusal.of_operand(place).at_axis(axis));
            }
            always &= !flag(operand, axis) || length.number() == Some(1);
        }
    }
    // THEANO-2 to THEANO-4.
    let rank = operands.iter().map(|operand| ranked(operand.shape()).len()).max().unwrap_or(0);
    let (mut axes, mut flags) = (Vec::with_capacity(rank), Vec::with_capacity(rank));
    for axis in 0..rank {
        let fixed: Vec<Length> = operands
            .iter()
            .filter_map(|operand| {
                let lengths = ranked(operand.shape());
                let own = axis.checked_sub(rank - lengths.len())?;
                if flag(operand, own) { None } else { Some(lengths[own]) }
            })
            .collect();
        flags.push(fixed.is_empty());
        axes.push(if fixed.is_empty() {
            Axis { length: Length::exactly(1), always: true }
        } else {
            let message = || format!("lengths {} of axes flagged False have none in common", listed(&fixed));
            let refusal = || Refusal::new(RefusalKind::NotBroadcastable, message()).at_axis(axis);
            equal(&fixed).ok_or_else(refusal)?
        });
    }
    let result = Known::of(&axes);
    Ok(Known { always: result.always && always, flags: Some(flags), ..result })
}

/// The length of a right-aligned shape on an axis of a result of this rank; 1 if it has no such axis.
fn right_aligned(lengths: &[Length], rank: usize, axis: usize) -> Length {
    axis.checked_sub(rank - lengths.len()).map_or(Length::exactly(1), |own| lengths[own])
}

/// The length of a shape that is aligned at the first axis; 1 if it has no such axis.
fn left_aligned(lengths: &[Length], axis: usize) -> Length {
    lengths.get(axis).copied().unwrap_or(Length::exactly(1))
}

fn mismatch(lengths: &[Length]) -> Refusal {
    let message = format!("lengths {}: no run would be accepted", listed(lengths));
    Refusal::new(RefusalKind::DimensionMismatch, message)
}

fn listed(lengths: &[Length]) -> String {
    crate::rules::listed(lengths)
}

#[cfg(test)]
mod tests;
