//! The rule set `xla`: clauses XLA-1 to XLA-8. The axes of the lower-rank operand are mapped to the given
//! axes of the higher-rank one, then lengths of 1 are stretched on both sides. For `broadcast` (clauses XLA-9
//! to XLA-13), the operand's axes are mapped to those of the target, in any order.

use super::{Intermediate, Lengths, Lowered, Maps, Shapes, common, mismatch};
use crate::inline_capacity::filled;
use crate::problem::Problem;
use broadcheck_spec::{Refusal, RefusalKind, Rules};
use smallvec::SmallVec;

pub(super) fn lower(shapes: &Shapes<'_>, dimensions: &[i64], into: &mut Lowered) -> Result<(), Refusal> {
    let left = shapes.of(0);
    if shapes.len() == 1 {
        into.shape = left.into();
        into.maps.push(left.len(), Some);
        return Ok(());
    }
    let right = shapes.of(1);
    if left.len() == right.len() {
        return equal_ranks(left, right, dimensions, into);
    }
    let lower = usize::from(left.len() > right.len());
    let (low, high) = if lower == 0 { (left, right) } else { (right, left) };
    let named = in_dim(low.len(), high.len(), dimensions)?;

    // The higher-rank operand maps axis by axis, the lower-rank one to the named axes.
    let mut result: Lengths = high.into();
    for (own, &at) in named.iter().enumerate() {
        result[at] = common(low[own], high[at]).ok_or_else(|| mismatch(at, high[at], low[own]))?;
    }
    let placed = |at: usize| named.iter().position(|&named| named == at);
    for operand in 0..2 {
        if operand == lower {
            into.maps.push(high.len(), |at| placed(at).filter(|&own| low[own] == result[at]));
        } else {
            into.maps.push(high.len(), |at| (high[at] == result[at]).then_some(at));
        }
    }
    into.shape = result;
    Ok(())
}

/// The lower-rank operand of an accepted problem after the in-dim step, if the ranks differ (clause XLA-8).
pub(crate) fn intermediate(problem: &Problem<'_>) -> Option<Intermediate> {
    let (Rules::Xla { broadcast_dimensions }, [left, right]) = (problem.rules, problem.operands()) else {
        return None;
    };
    let (left, right) = (left.shape, right.shape);
    if left.len() == right.len() {
        return None;
    }
    let operand = usize::from(left.len() > right.len());
    let (low, high) = if operand == 0 { (left, right) } else { (right, left) };
    let named = in_dim(low.len(), high.len(), broadcast_dimensions.as_deref().unwrap_or(&[])).ok()?;
    let mut shape: Lengths = high.into();
    for (&at, &length) in named.iter().zip(low) {
        shape[at] = length;
    }
    let mut maps = Maps::default();
    maps.push(high.len(), |at| named.iter().position(|&named| named == at));
    Some(Intermediate { operand, shape, maps })
}

/// Clause XLA-1: equal ranks, where only degenerate dimensions are stretched.
fn equal_ranks(
    left: &[usize],
    right: &[usize],
    dimensions: &[i64],
    into: &mut Lowered,
) -> Result<(), Refusal> {
    let rank = left.len();
    identity(rank, dimensions)?;
    for axis in 0..rank {
        let length = common(left[axis], right[axis]);
        into.shape.push(length.ok_or_else(|| mismatch(axis, left[axis], right[axis]))?);
    }
    for shape in [left, right] {
        into.maps.push(rank, |axis| (shape[axis] == into.shape[axis]).then_some(axis));
    }
    Ok(())
}

/// Clause XLA-1: equal ranks name no axes, or all of them in order.
fn identity(rank: usize, dimensions: &[i64]) -> Result<(), Refusal> {
    let in_order = |(axis, &named): (usize, &i64)| usize::try_from(named) == Ok(axis);
    if dimensions.is_empty() || dimensions.len() == rank && dimensions.iter().enumerate().all(in_order) {
        return Ok(());
    }
    let message =
        format!("dimensions {dimensions:?} for two operands of rank {rank}, expected none or the identity");
    Err(Refusal::new(RefusalKind::BroadcastDimensionsNotIdentity, message))
}

/// One operand broadcast to exactly this shape, on the axes named (clauses XLA-9 to XLA-13).
pub(super) fn onto(
    shape: &[usize],
    target: &[usize],
    dimensions: &[i64],
    into: &mut Lowered,
) -> Result<(), Refusal> {
    let mut axes = seats(shape.len(), target.len(), dimensions)?;
    for (axis, (seat, &whole)) in axes.iter_mut().zip(target).enumerate() {
        match seat.map(|own| shape[own]) {
            Some(length) if length == whole => {}
            Some(1) => *seat = None,
            Some(length) => return Err(mismatch(axis, length, whole)),
            None => {}
        }
    }
    into.shape = target.into();
    into.maps.place(shape, &axes);
    Ok(())
}

/// Clauses XLA-9 to XLA-11: for each axis of a target, the operand's axis that takes it.
pub(crate) fn seats(
    rank: usize,
    target: usize,
    dimensions: &[i64],
) -> Result<SmallVec<[Option<usize>; 6]>, Refusal> {
    if dimensions.len() != rank {
        let message = format!("{} dimensions for an operand of rank {rank}", dimensions.len());
        return Err(Refusal::new(RefusalKind::BroadcastDimensionsCount, message));
    }
    let mut seats: SmallVec<[Option<usize>; 6]> = filled(None, target);
    let mut taken = None;
    for (own, &dimension) in dimensions.iter().enumerate() {
        let seat = usize::try_from(dimension).ok().and_then(|axis| seats.get_mut(axis));
        let Some(seat) = seat else {
            let message = format!("dimension {dimension} is out of range for a target of rank {target}");
            return Err(Refusal::new(RefusalKind::BroadcastDimensionOutOfRange, message));
        };
        // A dimension out of range comes first, wherever it is in the list.
        if seat.replace(own).is_some() {
            taken = Some(dimension);
        }
    }
    match taken {
        Some(dimension) => {
            let message = format!("dimension {dimension} is named more than once");
            Err(Refusal::new(RefusalKind::BroadcastDimensionsNotDistinct, message))
        }
        None => Ok(seats),
    }
}

/// Clauses XLA-1 to XLA-6: the axis of the higher-rank operand for each axis of the lower-rank one.
pub(crate) fn in_dim(low: usize, high: usize, dimensions: &[i64]) -> Result<Lengths, Refusal> {
    if low == high {
        identity(low, dimensions)?;
        return Ok((0..low).collect());
    }
    if dimensions.is_empty() {
        if low == 0 {
            return Ok(Lengths::new());
        }
        let message = format!("ranks {low} and {high} need broadcast_dimensions");
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    if dimensions.len() != low {
        let message = format!("{} dimensions for a lower-rank operand of rank {low}", dimensions.len());
        return Err(Refusal::new(RefusalKind::BroadcastDimensionsCount, message));
    }
    let mut named = Lengths::new();
    for &dimension in dimensions {
        match usize::try_from(dimension) {
            Ok(axis) if axis < high => named.push(axis),
            _ => {
                let message =
                    format!("dimension {dimension} is out of range for a higher-rank operand of rank {high}");
                return Err(Refusal::new(RefusalKind::BroadcastDimensionOutOfRange, message));
            }
        }
    }
    if named.windows(2).any(|pair| pair[0] >= pair[1]) {
        let message = format!("dimensions {dimensions:?} are not strictly increasing");
        return Err(Refusal::new(RefusalKind::BroadcastDimensionsNotIncreasing, message));
    }
    Ok(named)
}
