//! What is known of a result before the run (clauses INFER-1 to INFER-14): a small engine of its own, with
//! decisions about the lengths on one axis, about ranks, and about the answer as a whole.

use super::leading::Leading;
use super::repeat::Repeat;
use super::types::Types;
use super::xla::Xla;
use broadcheck_spec::{
    Accepts, Asked, DType, Inference, Length, OperandType, Outcome, PartialShape, Refusal, RefusalKind,
    Rules, Signature,
};

/// What lengths on one axis give.
#[derive(Clone, Copy)]
pub(crate) struct Axis {
    pub(crate) length: Length,
    pub(crate) always: bool,
}

/// Combines lengths on one axis; `None` if no run is accepted.
pub(crate) type Together = fn(&[Length]) -> Option<Axis>;

/// Combines the length of a target, or of A, with the one that is stretched onto it.
pub(crate) type Onto = fn(Length, Length) -> Option<Axis>;

/// The decisions about inference.
#[derive(Clone)]
pub(crate) struct Infer {
    /// What is asked instead.
    pub(crate) asked: fn(&Signature) -> Option<Signature>,
    /// INFER-4, under numpy and bidirectional.
    pub(crate) stretched: Together,
    /// INFER-9, under xla.
    pub(crate) in_dim: Together,
    /// INFER-5.
    pub(crate) equal: Together,
    /// INFER-8: the axes flagged False.
    pub(crate) fixed: Together,
    /// INFER-6: A and B.
    pub(crate) onto_a: Onto,
    /// INFER-7: the target and the operand.
    pub(crate) onto_target: Onto,
    /// INFER-8: whether a length on an axis flagged True is a violation, and whether it never is one.
    pub(crate) flagged: fn(Length) -> (bool, bool),
    /// INFER-6: whether a length of B beyond A is out of range, and whether it never is.
    pub(crate) beyond: fn(Length) -> (bool, bool),
    /// INFER-10: the shape and whether all is accepted, of the common axes and the number of unknown ranks.
    pub(crate) unknown_rank: fn(&[Axis], usize) -> (PartialShape, bool),
    /// INFER-5: the result of an operand of unknown rank with others.
    pub(crate) other_rank: fn(Vec<Length>) -> PartialShape,
    /// INFER-11: the axis that is reported, of those that no run complies with.
    pub(crate) reported: fn(&[usize]) -> usize,
    /// What becomes of a refusal.
    pub(crate) refused: fn(&Signature, Refusal) -> Result<Inference, Refusal>,
    /// What becomes of an answer.
    pub(crate) answered: fn(&Signature, Inference) -> Inference,
}

impl Default for Infer {
    fn default() -> Infer {
        Infer {
            asked: |_| None,
            stretched,
            in_dim: stretched,
            equal,
            fixed: equal,
            onto_a: onto,
            onto_target: onto,
            flagged: |length| (!length.admits(1), is_one(length)),
            beyond: |length| (!length.admits(1), is_one(length)),
            unknown_rank: |axes, unknown| {
                let all_one = axes.iter().all(|axis| is_one(axis.length));
                (PartialShape::Unranked, all_one && unknown == 1)
            },
            other_rank: PartialShape::Ranked,
            reported: |broken| broken[0],
            refused: |_, refusal| Err(refusal),
            answered: |_, inference| inference,
        }
    }
}

/// Whether a length is the number 1.
pub(crate) fn is_one(length: Length) -> bool {
    length.number() == Some(1)
}

/// INFER-4.
pub(crate) fn stretched(lengths: &[Length]) -> Option<Axis> {
    let never_one: Vec<Length> = lengths.iter().copied().filter(|length| !length.admits(1)).collect();
    let length = if never_one.is_empty() { hull(lengths) } else { intersection(&never_one)? };
    Some(Axis { length, always: always_stretched(lengths) })
}

/// The second half of INFER-4.
pub(crate) fn always_stretched(lengths: &[Length]) -> bool {
    let varying: Vec<Length> = lengths.iter().copied().filter(|&length| !is_one(length)).collect();
    let only = |length: Length| match (length.min(), length.max()) {
        (1, Some(2)) => Some(2),
        (0, Some(1)) => Some(0),
        (min, max) => max.filter(|&max| max == min),
    };
    let numbers: Vec<Option<usize>> = varying.iter().map(|&length| only(length)).collect();
    varying.len() <= 1 || numbers.iter().all(|number| number.is_some() && *number == numbers[0])
}

/// INFER-5.
pub(crate) fn equal(lengths: &[Length]) -> Option<Axis> {
    let length = intersection(lengths)?;
    let one_number =
        length.number().is_some() && lengths.iter().all(|other| other.number() == length.number());
    Some(Axis { length, always: lengths.len() == 1 || one_number })
}

/// INFER-6 and INFER-7.
pub(crate) fn onto(target: Length, length: Length) -> Option<Axis> {
    let result = if length.admits(1) { target } else { intersection(&[target, length])? };
    let always = match (length.min(), length.max()) {
        (1, Some(1)) => true,
        (1, Some(2)) => target.number() == Some(2),
        (0, Some(1)) => target.number() == Some(0),
        (min, max) => max == Some(min) && target.number() == max,
    };
    Some(Axis { length: result, always })
}

/// What every one of the lengths admits.
pub(crate) fn intersection(lengths: &[Length]) -> Option<Length> {
    let low = lengths.iter().map(|length| length.min()).max()?;
    Length::bounded(low, lengths.iter().filter_map(|length| length.max()).min())
}

/// From the lowest to the highest bound.
pub(crate) fn hull(lengths: &[Length]) -> Length {
    let low = lengths.iter().map(|length| length.min()).min().unwrap_or(0);
    let open = lengths.iter().any(|length| length.max().is_none());
    let high = lengths.iter().filter_map(|length| length.max()).max().filter(|_| !open);
    Length::bounded(low, high).unwrap_or(Length::UNKNOWN)
}

/// The axis of a shape on an axis of the result, if it has one, from that axis and the two ranks.
type Own = fn(usize, usize, usize) -> Option<usize>;

/// The axes of a shape are the last of the result.
fn at_the_right(axis: usize, own: usize, rank: usize) -> Option<usize> {
    (axis + own).checked_sub(rank)
}

/// What a rule set gives: the shape, whether all runs are accepted, and flags.
pub(super) type Known = (PartialShape, bool, Option<Vec<bool>>);

fn of_axes(axes: &[Axis]) -> Known {
    let shape = axes.iter().map(|axis| axis.length).collect();
    (PartialShape::Ranked(shape), axes.iter().all(|axis| axis.always), None)
}

impl Infer {
    /// The answer to a signature.
    pub(crate) fn answer(
        &self,
        types: &Types,
        xla: &Xla,
        (leading, repeat): (&Leading, &Repeat),
        signature: &Signature,
    ) -> Outcome<Inference> {
        let replaced = (self.asked)(signature);
        let asked = replaced.as_ref().unwrap_or(signature);
        match self
            .known(types, (xla, leading, repeat), asked)
            .or_else(|refusal| (self.refused)(asked, refusal))
        {
            Ok(inference) => Outcome::Success((self.answered)(asked, inference)),
            Err(refusal) => Outcome::Refusal(refusal),
        }
    }

    fn known(
        &self,
        types: &Types,
        (xla, leading, repeat): (&Xla, &Leading, &Repeat),
        signature: &Signature,
    ) -> Result<Inference, Refusal> {
        let operands = signature.operands();
        if !signature.rules().set().operands().allows(operands.len()) {
            return Err(Refusal::new(RefusalKind::OperandCount, "too many operands"));
        }
        let dtypes: Vec<DType> = operands.iter().map(OperandType::dtype).collect();
        let dtype = match signature.asked() {
            Asked::Expression(expression) => types.of_expression(expression, &dtypes)?,
            Asked::TargetShape(_) => dtypes[0],
        };
        let shapes: Vec<&PartialShape> = signature.shapes().collect();
        let (shape, always, broadcastable) = match (signature.rules(), &shapes[..]) {
            (Rules::None, _) => self.none(&shapes)?,
            (Rules::Numpy, [operand, target]) if matches!(signature.asked(), Asked::TargetShape(_)) => {
                self.to_target(operand, target, at_the_right)?
            }
            (Rules::Leading, [operand, target]) if matches!(signature.asked(), Asked::TargetShape(_)) => {
                self.to_target(operand, target, leading.inferred)?
            }
            (Rules::Numpy | Rules::Bidirectional, _) => self.aligned(&shapes, at_the_right, false)?,
            (Rules::Leading, _) => self.aligned(&shapes, leading.inferred, true)?,
            (Rules::Repeat, [b, a]) if matches!(signature.asked(), Asked::TargetShape(_)) => {
                repeat.infer(a, b)?
            }
            (Rules::Repeat, [a, b]) => repeat.infer(a, b)?,
            (Rules::Repeat, _) => repeat.infer_alone(shapes[0])?,
            (Rules::Pdpd { axis }, [a, b]) => self.pdpd(a, b, *axis)?,
            (Rules::Xla { broadcast_dimensions }, [operand, target])
                if matches!(signature.asked(), Asked::TargetShape(_)) =>
            {
                self.xla_to_target(xla, operand, target, broadcast_dimensions.as_deref().unwrap_or(&[]))?
            }
            (Rules::Xla { broadcast_dimensions }, [left, right]) => {
                self.xla(xla, left, right, broadcast_dimensions.as_deref().unwrap_or(&[]))?
            }
            (Rules::Pdpd { .. } | Rules::Xla { .. }, _) => (shapes[0].clone(), true, None),
            (Rules::Theano, _) => self.theano(operands)?,
        };
        if signature.is_known() && signature.shapes().chain([&shape]).any(is_too_large) {
            return Err(Refusal::new(RefusalKind::TooLarge, "too many elements"));
        }
        let accepts = Some(if always { Accepts::Always } else { Accepts::Depends });
        Ok(Inference { dtype, shape, accepts, broadcastable })
    }

    /// The axes that are combined, or the refusal for one of those that cannot be.
    fn all(&self, axes: Vec<Option<Axis>>, from: usize, kind: RefusalKind) -> Result<Vec<Axis>, Refusal> {
        let broken: Vec<usize> = axes
            .iter()
            .enumerate()
            .filter(|(_, axis)| axis.is_none())
            .map(|(place, _)| from + place)
            .collect();
        if broken.is_empty() {
            return Ok(axes.into_iter().flatten().collect());
        }
        Err(Refusal::new(kind, "no run is accepted").at_axis((self.reported)(&broken)))
    }

    fn none(&self, shapes: &[&PartialShape]) -> Result<Known, Refusal> {
        let known: Vec<&[Length]> = shapes.iter().filter_map(|shape| shape.lengths()).collect();
        let Some(&first) = known.first() else {
            return Ok((PartialShape::Unranked, shapes.len() == 1, None));
        };
        if known.iter().any(|lengths| lengths.len() != first.len()) {
            return Err(Refusal::new(RefusalKind::RankMismatch, "different ranks"));
        }
        let axes = (0..first.len())
            .map(|axis| (self.equal)(&known.iter().map(|lengths| lengths[axis]).collect::<Vec<_>>()))
            .collect();
        let axes = self.all(axes, 0, RefusalKind::DimensionMismatch)?;
        if known.len() == shapes.len() {
            return Ok(of_axes(&axes));
        }
        Ok(((self.other_rank)(axes.iter().map(|axis| axis.length).collect()), false, None))
    }

    /// The common lengths of shapes whose axes are placed by `own`. `counted` says whether an axis has its
    /// number although a rank is unknown.
    fn aligned(&self, shapes: &[&PartialShape], own: Own, counted: bool) -> Result<Known, Refusal> {
        let known: Vec<&[Length]> = shapes.iter().filter_map(|shape| shape.lengths()).collect();
        let rank = known.iter().map(|lengths| lengths.len()).max().unwrap_or(0);
        let on_axis = |axis: usize| -> Vec<Length> {
            known.iter().filter_map(|lengths| Some(lengths[own(axis, lengths.len(), rank)?])).collect()
        };
        let axes = (0..rank).map(|axis| (self.stretched)(&on_axis(axis))).collect();
        let unknown = shapes.len() - known.len();
        let axes = self.all(axes, 0, RefusalKind::DimensionMismatch);
        if unknown == 0 {
            return Ok(of_axes(&axes?));
        }
        let axes = axes.map_err(|refusal| match counted {
            true => refusal,
            // The rank of the result is unknown, so no axis is counted from its left.
            false => Refusal { axis: None, ..refusal },
        })?;
        let (shape, always) = (self.unknown_rank)(&axes, unknown);
        Ok((shape, always, None))
    }

    fn to_target(&self, operand: &PartialShape, target: &PartialShape, own: Own) -> Result<Known, Refusal> {
        let Some(lengths) = operand.lengths() else { return Ok((target.clone(), false, None)) };
        let Some(wanted) = target.lengths() else {
            return Ok((PartialShape::Unranked, lengths.is_empty(), None));
        };
        if lengths.len() > wanted.len() {
            return Err(Refusal::new(RefusalKind::RankMismatch, "the target has a lower rank"));
        }
        let on_axis = |(axis, &length): (usize, &Length)| match own(axis, lengths.len(), wanted.len()) {
            Some(own) => (self.onto_target)(length, lengths[own]),
            None => Some(Axis { length, always: true }),
        };
        let axes = wanted.iter().enumerate().map(on_axis).collect();
        Ok(of_axes(&self.all(axes, 0, RefusalKind::DimensionMismatch)?))
    }

    fn pdpd(&self, a: &PartialShape, b: &PartialShape, axis: Option<i64>) -> Result<Known, Refusal> {
        let outside = || Refusal::new(RefusalKind::AxisOutOfRange, "no such axis of A");
        if let (Some(a), Some(b)) = (a.rank(), b.rank())
            && b > a
        {
            return Err(Refusal::new(RefusalKind::RankMismatch, "B has a higher rank"));
        }
        let given = match axis.filter(|&axis| axis != -1) {
            Some(axis) => Some(usize::try_from(axis).map_err(|_| outside())?),
            None => None,
        };
        let Some(a) = a.lengths() else {
            return Ok((PartialShape::Unranked, b.rank() == Some(0) && given.unwrap_or(0) == 0, None));
        };
        if given.is_some_and(|start| start > a.len()) {
            return Err(outside());
        }
        let Some(b) = b.lengths() else { return Ok((PartialShape::Ranked(a.to_vec()), false, None)) };
        let start = given.unwrap_or(a.len() - b.len());
        let within = b.len().min(a.len() - start);
        let beyond: Vec<(bool, bool)> = b[within..].iter().map(|&length| (self.beyond)(length)).collect();
        if beyond.iter().any(|&(out, _)| out) {
            return Err(outside());
        }
        let axes = a[start..].iter().zip(&b[..within]).map(|(&a, &b)| (self.onto_a)(a, b)).collect();
        let axes = self.all(axes, start, RefusalKind::DimensionMismatch)?;
        let mut result: Vec<Axis> = a.iter().map(|&length| Axis { length, always: true }).collect();
        result[start..start + within].copy_from_slice(&axes);
        let (shape, always, _) = of_axes(&result);
        Ok((shape, always && beyond.iter().all(|&(_, never)| never), None))
    }

    fn xla(
        &self,
        xla: &Xla,
        left: &PartialShape,
        right: &PartialShape,
        dimensions: &[i64],
    ) -> Result<Known, Refusal> {
        let (left, right) = (left.lengths().unwrap_or(&[]), right.lengths().unwrap_or(&[]));
        let (low, high) = if left.len() <= right.len() { (left, right) } else { (right, left) };
        let named = xla.named(low.len(), high.len(), dimensions)?;
        let mut axes: Vec<Axis> = high.iter().map(|&length| Axis { length, always: true }).collect();
        let mut broken = Vec::new();
        for (&own, &axis) in low.iter().zip(&named) {
            match (self.in_dim)(&[own, high[axis]]) {
                Some(common) => axes[axis] = common,
                None => broken.push(axis),
            }
        }
        if broken.is_empty() {
            return Ok(of_axes(&axes));
        }
        let refusal = Refusal::new(RefusalKind::DimensionMismatch, "no run is accepted");
        Err(refusal.at_axis((self.reported)(&broken)))
    }

    fn xla_to_target(
        &self,
        xla: &Xla,
        operand: &PartialShape,
        target: &PartialShape,
        dimensions: &[i64],
    ) -> Result<Known, Refusal> {
        let (own, wanted) = (operand.lengths().unwrap_or(&[]), target.lengths().unwrap_or(&[]));
        let named = xla.named_of_target(own.len(), wanted.len(), dimensions)?;
        let mut axes: Vec<Option<Axis>> =
            wanted.iter().map(|&length| Some(Axis { length, always: true })).collect();
        for (&length, &axis) in own.iter().zip(&named) {
            axes[axis] = (self.onto_target)(wanted[axis], length);
        }
        Ok(of_axes(&self.all(axes, 0, RefusalKind::DimensionMismatch)?))
    }

    fn theano(&self, operands: &[OperandType]) -> Result<Known, Refusal> {
        let flagged =
            |operand: &OperandType, axis: usize| operand.broadcastable().is_some_and(|flags| flags[axis]);
        let mut always = true;
        for (place, operand) in operands.iter().enumerate() {
            for (axis, &length) in operand.shape().lengths().unwrap_or(&[]).iter().enumerate() {
                if flagged(operand, axis) {
                    let (violated, never) = (self.flagged)(length);
                    if violated {
                        let refusal = Refusal::new(RefusalKind::FlagViolation, "flagged, and never 1");
                        return Err(refusal.of_operand(place).at_axis(axis));
                    }
                    always &= never;
                }
            }
        }
        let rank = operands.iter().filter_map(|operand| operand.shape().rank()).max().unwrap_or(0);
        let on_axis = |axis: usize| -> Vec<Length> {
            let fixed = |operand: &OperandType| {
                let lengths = operand.shape().lengths()?;
                let own = (axis + lengths.len()).checked_sub(rank)?;
                (!flagged(operand, own)).then_some(lengths[own])
            };
            operands.iter().filter_map(fixed).collect()
        };
        let fixed: Vec<Vec<Length>> = (0..rank).map(on_axis).collect();
        let one = Axis { length: Length::exactly(1), always: true };
        let axes = fixed.iter().map(|fixed| if fixed.is_empty() { Some(one) } else { (self.fixed)(fixed) });
        let axes = self.all(axes.collect(), 0, RefusalKind::NotBroadcastable)?;
        let (shape, all, _) = of_axes(&axes);
        Ok((shape, all && always, Some(fixed.iter().map(Vec::is_empty).collect())))
    }
}

/// G-1: whether the lengths other than 0 multiply to more than 2^63-1.
fn is_too_large(shape: &PartialShape) -> bool {
    let lengths = shape.lengths().unwrap_or(&[]).iter().filter_map(|length| length.number());
    let count = lengths.filter(|&length| length != 0).try_fold(1u64, |count, length| {
        count.checked_mul(length as u64).filter(|&count| i64::try_from(count).is_ok())
    });
    count.is_none()
}
