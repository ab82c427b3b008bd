//! The rule set `xla`: clauses XLA-1 to XLA-8. The lower operand is laid on named axes of the higher one, then
//! lengths of 1 are stretched on both sides.

use super::{Intermediate, Lengths, Lowered, Shapes, Under, common, identity, mismatch};
use broadcheck_spec::{Refusal, RefusalKind};
use smallvec::{SmallVec, smallvec};

pub(super) fn lower(shapes: &Shapes<'_>, dimensions: &[i64]) -> Result<Lowered, Refusal> {
    let left = shapes.of(0);
    if shapes.len() == 1 {
        return Ok(Lowered::new(left.into(), smallvec![identity(left.len())]));
    }
    let right = shapes.of(1);
    if left.len() == right.len() {
        return equal_ranks(left, right, dimensions);
    }
    let lower = usize::from(left.len() > right.len());
    let (low, high) = if lower == 0 { (left, right) } else { (right, left) };
    let named = in_dim(low.len(), high.len(), dimensions)?;

    // Both are read under the result: the higher one axis by axis, the lower one on the named axes.
    let mut result: Lengths = high.into();
    let mut placed: Under = smallvec![None; high.len()];
    let mut intermediate: Lengths = high.into();
    for (own, &at) in named.iter().enumerate() {
        result[at] = common(low[own], high[at]).ok_or_else(|| mismatch(at, high[at], low[own]))?;
        intermediate[at] = low[own];
        placed[at] = Some(own);
    }
    let stretched = |own: usize, length: usize, at: usize| (length == result[at]).then_some(own);
    let low_under: Under =
        placed.iter().enumerate().map(|(at, own)| own.and_then(|own| stretched(own, low[own], at))).collect();
    let high_under: Under = (0..high.len()).map(|at| stretched(at, high[at], at)).collect();
    let mut operands: SmallVec<[Under; 4]> = smallvec![low_under, high_under];
    operands.rotate_left(lower);
    let intermediate = Some(Intermediate { operand: lower, shape: intermediate, under: placed });
    Ok(Lowered { intermediate, ..Lowered::new(result, operands) })
}

/// Clause XLA-1: degenerate dimensions alone.
fn equal_ranks(left: &[usize], right: &[usize], dimensions: &[i64]) -> Result<Lowered, Refusal> {
    let rank = left.len();
    let is_identity = || {
        dimensions.len() == rank
            && dimensions.iter().enumerate().all(|(axis, &named)| usize::try_from(named) == Ok(axis))
    };
    if !dimensions.is_empty() && !is_identity() {
        let message = format!("dimensions {dimensions:?} between operands of rank {rank}");
        return Err(Refusal::new(RefusalKind::BroadcastDimensionsNotIdentity, message));
    }
    let mut result = Lengths::new();
    for axis in 0..rank {
        let length = common(left[axis], right[axis]);
        result.push(length.ok_or_else(|| mismatch(axis, left[axis], right[axis]))?);
    }
    let under = |shape: &[usize]| -> Under {
        (0..rank).map(|axis| (shape[axis] == result[axis]).then_some(axis)).collect()
    };
    let operands = smallvec![under(left), under(right)];
    Ok(Lowered::new(result, operands))
}

/// Clauses XLA-2 to XLA-6: the axes of the higher operand that the lower one's axes lie on.
fn in_dim(low: usize, high: usize, dimensions: &[i64]) -> Result<Lengths, Refusal> {
    if dimensions.is_empty() {
        if low == 0 {
            return Ok(Lengths::new());
        }
        let message = format!("ranks {low} and {high} without broadcast_dimensions");
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    if dimensions.len() != low {
        let message = format!("{} dimensions for a lower operand of rank {low}", dimensions.len());
        return Err(Refusal::new(RefusalKind::BroadcastDimensionsCount, message));
    }
    let mut named = Lengths::new();
    for &dimension in dimensions {
        match usize::try_from(dimension) {
            Ok(axis) if axis < high => named.push(axis),
            _ => {
                let message = format!("dimension {dimension} of a higher operand of rank {high}");
                return Err(Refusal::new(RefusalKind::BroadcastDimensionOutOfRange, message));
            }
        }
    }
    if named.windows(2).any(|pair| pair[0] >= pair[1]) {
        let message = format!("dimensions {dimensions:?} do not increase");
        return Err(Refusal::new(RefusalKind::BroadcastDimensionsNotIncreasing, message));
    }
    Ok(named)
}
