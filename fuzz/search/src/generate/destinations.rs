//! Destinations (clauses INTO-1 to INTO-4): an operand into which the result goes, and operands that read its
//! buffer.

use super::choices::Choices;
use super::profile::Profile;
use super::values::{ValueMix, values};
use super::views::layout;
use broadcheck_reference::{align, result_dtype};
use broadcheck_spec::{DType, Operand, Operation, Request, Shape};

/// The largest destination that is drawn beside the operands, in elements.
const MOST_ELEMENTS: usize = 1 << 16;

/// The elementwise request with a destination, which mostly fits.
pub(super) fn destined(choices: &mut dyn Choices, profile: &Profile, request: &Request) -> Option<Request> {
    let (rules, operation, mut operands) = request.clone().into_parts();
    let Operation::Elementwise { expression } = operation else { return None };
    let common = align(request).map_or_else(|_| operands[0].shape().clone(), |alignment| alignment.shape);
    let dtypes: Vec<DType> = operands.iter().map(Operand::dtype).collect();
    let dtype = result_dtype(&expression, &dtypes).ok()?;
    let fitting: Vec<usize> = (0..operands.len())
        .filter(|&place| *operands[place].shape() == common && dtypes[place] == dtype)
        .collect();
    let destination = if !fitting.is_empty() && choices.chance(2, 3) {
        choices.one_of(&fitting)
    } else if choices.chance(1, 12) {
        // Any operand: it has another shape or another dtype.
        choices.index(operands.len())
    } else if operands.len() < profile.limits.max_operands {
        operands.push(another(choices, profile, &common, dtype, operands.len())?);
        operands.len() - 1
    } else {
        return None;
    };
    for place in 0..operands.len() {
        let shares = place != destination && operands[place].dtype() == operands[destination].dtype();
        if shares && profile.strided && choices.chance(1, 2) {
            let shared = overlapping(choices, &operands[destination], &operands[place]);
            operands[place] = shared.unwrap_or_else(|| operands[place].clone());
        }
    }
    Request::new(rules, Operation::Into { expression, destination }, operands).ok()
}

/// An operand of the common shape, or of a larger one, or of one that does not fit.
fn another(
    choices: &mut dyn Choices,
    profile: &Profile,
    common: &Shape,
    dtype: DType,
    place: usize,
) -> Option<Operand> {
    let mut lengths = common.to_vec();
    match choices.index(12) {
        0 if lengths.len() < profile.max_rank => lengths.insert(0, 2),
        1 => lengths.iter_mut().filter(|length| **length == 1).for_each(|length| *length = 3),
        2 => lengths.iter_mut().for_each(|length| *length = 1),
        3 if !lengths.is_empty() => {
            lengths.remove(0);
        }
        _ => {}
    }
    let shape = Shape::new(lengths);
    let count = shape.count().filter(|&count| count <= MOST_ELEMENTS)?;
    let place = (place, place + 1);
    if profile.strided && choices.chance(1, 3) {
        let layout = layout(choices, &shape);
        let values = values(choices, dtype, layout.length, place, ValueMix::Any);
        let values = profile.without_flushed(values);
        return Operand::view("out", shape, values, Some(layout.strides), layout.offset).ok();
    }
    let values = profile.without_flushed(values(choices, dtype, count, place, ValueMix::Any));
    Operand::dense("out", shape, values).ok()
}

/// An operand of this operand's name and shape that reads the destination's buffer: along the same axes,
/// perhaps shifted, reversed or repeated.
fn overlapping(choices: &mut dyn Choices, destination: &Operand, operand: &Operand) -> Option<Operand> {
    let shape = operand.shape();
    let own = strides(destination);
    let mut taken = vec![0i64; shape.rank()];
    for (stride, &own) in taken.iter_mut().rev().zip(own.iter().rev()) {
        *stride = match choices.index(6) {
            0 => own.checked_neg()?,
            1 => 0,
            _ => own,
        };
    }
    if shape.contains(&0) {
        return Operand::of(destination, operand.name(), shape.clone(), Some(taken), Some(0)).ok();
    }
    let (mut low, mut high) = (0i64, 0i64);
    for (&length, &stride) in shape.iter().zip(&taken) {
        let reach = i64::try_from(length - 1).ok()?.checked_mul(stride)?;
        low = low.checked_add(reach.min(0))?;
        high = high.checked_add(reach.max(0))?;
    }
    let room = i64::try_from(destination.values().len()).ok()?.checked_sub(high.checked_sub(low)?)?;
    let room = usize::try_from(room).ok().filter(|&room| room > 0)?;
    let first = usize::try_from(low.checked_neg()?).ok()?;
    let offset = match first <= destination.offset() && destination.offset() < first + room {
        true if choices.chance(1, 2) => destination.offset(),
        _ => first + choices.index(room),
    };
    Operand::of(destination, operand.name(), shape.clone(), Some(taken), Some(offset)).ok()
}

/// The strides of an operand, also of a dense one.
fn strides(operand: &Operand) -> Vec<i64> {
    if let Some(strides) = operand.strides() {
        return strides.to_vec();
    }
    let mut step = 1i64;
    let mut strides: Vec<i64> = Vec::with_capacity(operand.rank());
    for &length in operand.shape().iter().rev() {
        strides.push(step);
        step = step.saturating_mul(i64::try_from(length).unwrap_or(i64::MAX));
    }
    strides.reverse();
    strides
}
