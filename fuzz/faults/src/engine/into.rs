//! Writing into a destination (clauses INTO-1 to INTO-4).

use super::adjoint::{RefusedAt, weight_shape};
use super::blocks::unravel;
use super::convert::convert;
use super::{Decisions, Plan, tensor};
use broadcheck_spec::{
    DType, Data, ErrorKind, Operand, Outcome, Refusal, RefusalKind, Request, Scalar, Success,
};
use std::ops::Range;

/// The shapes that a destination has to fit.
pub(crate) struct Fit<'a> {
    pub(crate) destination: &'a [usize],
    /// The common shape of all operands.
    pub(crate) common: &'a [usize],
    /// That of the others.
    pub(crate) others: &'a [usize],
}

/// What is written.
pub(crate) struct Writing<'a> {
    pub(crate) destination: &'a Operand,
    pub(crate) operands: &'a [Operand],
    /// The lengths of the result.
    pub(crate) result: &'a [usize],
    /// The number of its elements.
    pub(crate) count: usize,
}

impl Writing<'_> {
    /// The operands that read the destination's buffer.
    pub(crate) fn sharing(&self) -> impl Iterator<Item = &Operand> {
        self.operands.iter().filter(|operand| operand.reads_destination())
    }
}

/// The buffer in the end, from that before the write, that after it, and the places of the destination.
pub(crate) type Finish = fn(&[Scalar], Vec<Scalar>, &[usize]) -> Vec<Scalar>;

/// The decisions about destinations.
#[derive(Clone)]
pub(crate) struct Into {
    /// INTO-2: whether a destination may have this dtype, for a result of that one.
    pub(crate) dtype: fn(DType, DType) -> bool,
    /// INTO-1: why a destination is refused.
    pub(crate) shape: fn(&Fit<'_>) -> Option<RefusedAt>,
    /// INTO-3: the parts of the result, each of which is written before the next is computed.
    pub(crate) parts: fn(&Writing<'_>) -> Vec<Vec<usize>>,
    /// INTO-4: the place of the element at an index.
    pub(crate) place: fn(&Operand, &[usize]) -> Option<usize>,
    /// INTO-4: what becomes of the buffer.
    pub(crate) finished: Finish,
}

impl Default for Into {
    fn default() -> Into {
        Into {
            dtype: |destination, result| destination == result,
            shape: |fit| weight_shape(fit.destination, fit.common),
            parts: |writing| vec![(0..writing.count).collect()],
            place,
            finished: |_, after, _| after,
        }
    }
}

/// The place of an element in its buffer.
pub(crate) fn place(operand: &Operand, index: &[usize]) -> Option<usize> {
    let dense = row_major(operand);
    let strides = operand.strides().unwrap_or(&dense);
    let mut place = operand.offset() as i128;
    for (&step, &stride) in index.iter().zip(strides) {
        place += step as i128 * i128::from(stride);
    }
    usize::try_from(place).ok()
}

/// The strides of a row-major operand of these lengths.
pub(crate) fn row_major(operand: &Operand) -> Vec<i64> {
    let mut strides = vec![0; operand.rank()];
    let mut step: i64 = 1;
    for (stride, &length) in strides.iter_mut().zip(operand.shape().iter()).rev() {
        *stride = step;
        step = step.saturating_mul(i64::try_from(length).unwrap_or(i64::MAX));
    }
    strides
}

/// Parts of at most this many neighbours, if the result is small enough to be computed once for each.
pub(crate) fn neighbours(count: usize, most: usize) -> Vec<Vec<usize>> {
    const LARGEST: usize = 512;
    parts(count, if count > LARGEST { count } else { most })
}

/// Blocks of this many neighbours, if they are few: the result is computed once for each.
pub(crate) fn blocks(count: usize, block: usize) -> Vec<Vec<usize>> {
    const MOST: usize = 16;
    parts(count, if count > MOST * block { count } else { block })
}

fn parts(count: usize, most: usize) -> Vec<Vec<usize>> {
    let most = most.max(1);
    (0..count.div_ceil(most))
        .map(|part| part * most..(part * most + most).min(count))
        .map(Range::collect)
        .collect()
}

impl Decisions {
    pub(super) fn check_destination(
        &self,
        request: &Request,
        place: usize,
        dtype: DType,
        common: &[usize],
    ) -> Result<(), Refusal> {
        let destination = &request.operands()[place];
        if !(self.into.dtype)(destination.dtype(), dtype) {
            return Err(Refusal::new(RefusalKind::DTypeMismatch, "the destination's dtype"));
        }
        let others: Vec<Vec<usize>> = (0..request.operands().len())
            .filter(|&other| other != place)
            .map(|other| request.operands()[other].shape().to_vec())
            .collect();
        let others = self.shapes.numpy(&others).map_or_else(|_| Vec::new(), |aligned| aligned.shape);
        let fit = Fit { destination: destination.shape(), common, others: &others };
        match (self.into.shape)(&fit) {
            Some((kind, axis)) => {
                let refusal = Refusal::new(kind, "the destination's shape");
                Err(axis.map_or(refusal.clone(), |axis| refusal.at_axis(axis)))
            }
            None => Ok(()),
        }
    }

    /// Computes the result part by part, and writes each part into the destination's buffer. The answer is
    /// read from there.
    pub(super) fn written(&self, request: &Request, place: usize, plan: &Plan) -> Outcome {
        let (destination, result) = (&request.operands()[place], &plan.aligned.shape);
        let before: Vec<Scalar> = destination.values().iter().collect();
        let (mut buffer, mut operands) = (before.clone(), request.operands().to_vec());
        let count = result.iter().product();
        let writing = Writing { destination, operands: request.operands(), result, count };
        for part in (self.into.parts)(&writing) {
            let read: Vec<&Operand> = operands.iter().collect();
            let values = self.computed(&plan.program, &read, &plan.nest, &plan.aligned, plan.dtype);
            for element in part {
                let target = (self.into.place)(destination, &unravel(element, result));
                if let (Some(target), Some(&value)) = (target, values.get(element))
                    && let Some(slot) = buffer.get_mut(target)
                {
                    *slot = convert(value, destination.dtype());
                }
            }
            match over(request, place, &buffer) {
                Some(changed) => operands = changed,
                None => return Outcome::errored(ErrorKind::Reported, "the buffer has another dtype"),
            }
        }
        let places = places(destination);
        let buffer = (self.into.finished)(&before, buffer, &places);
        let elements: Vec<Scalar> = places.iter().filter_map(|&place| buffer.get(place).copied()).collect();
        let after = Data::from_scalars(destination.dtype(), buffer);
        match (tensor(destination.dtype(), destination.shape(), elements), after) {
            (Ok(tensor), Ok(after)) => {
                Outcome::Success(Success { buffer: Some(after), ..Success::from(tensor) })
            }
            (Err(message), _) => Outcome::errored(ErrorKind::Reported, message),
            (_, Err(_)) => Outcome::errored(ErrorKind::Reported, "the buffer has another dtype"),
        }
    }
}

/// The places of a destination's elements, row-major.
fn places(destination: &Operand) -> Vec<usize> {
    let count = destination.shape().iter().product();
    (0..count).filter_map(|element| place(destination, &unravel(element, destination.shape()))).collect()
}

/// The operands of a request, with another buffer of its destination.
fn over(request: &Request, place: usize, buffer: &[Scalar]) -> Option<Vec<Operand>> {
    let old = &request.operands()[place];
    let data = Data::from_scalars(old.dtype(), buffer.iter().copied()).ok()?;
    let (name, shape) = (old.name(), old.shape().clone());
    let destination = match old.strides() {
        Some(strides) => Operand::view(name, shape, data, Some(strides.to_vec()), old.offset()).ok()?,
        None => Operand::dense(name, shape, data).ok()?,
    };
    let changed = |(at, operand): (usize, &Operand)| {
        if at == place {
            return Some(destination.clone());
        }
        if !operand.reads_destination() {
            return Some(operand.clone());
        }
        let strides = operand.strides().map(<[i64]>::to_vec);
        let offset = strides.is_some().then(|| operand.offset());
        Operand::of(&destination, operand.name(), operand.shape().clone(), strides, offset).ok()
    };
    request.operands().iter().enumerate().map(changed).collect()
}
