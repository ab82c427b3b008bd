//! Rule set `xla`: explicit `broadcast_dimensions`, then degenerate dimensions. XLA, "Broadcasting
//! semantics": `xla-en` lines 34 to 204, `xla-zh` lines 22 to 126, `xla-id` lines 23 to 122.

use super::{common_length, listed};
use crate::Alignment;
use broadcheck_spec::{Refusal, RefusalKind, Shape};

pub(super) fn align(lhs: &Shape, rhs: &Shape, dimensions: Option<&[i64]>) -> Result<Alignment, Refusal> {
    // XLA-2. Absent dimensions and empty dimensions mean the same.
    let dimensions = dimensions.unwrap_or(&[]);
    // "broadcasting a lower-rank array onto a higher-rank array" (xla-en 46, 58 to 61): the lower operand may
    // be either of the two.
    let lower_is_lhs = lhs.rank() <= rhs.rank();
    let (lower, higher) = if lower_is_lhs { (lhs, rhs) } else { (rhs, lhs) };
    let named = axes(lower.rank(), higher.rank(), dimensions)?;
    if lower.rank() == higher.rank() {
        return Ok(Alignment::new(degenerate(lhs, rhs)?, vec![named.clone(), named]));
    }
    check_named_lengths(lower, higher, &named)?;

    // XLA-8. The in-dim step (xla-en 176 to 181, 198 to 203): the lengths of the lower operand on the named
    // axes, those of the higher operand elsewhere.
    let mut intermediate = higher.to_vec();
    for (i, &axis) in named.iter().enumerate() {
        intermediate[axis] = lower[i];
    }
    let intermediate = Shape::new(intermediate);

    // XLA-8. Then degenerate dimensions (xla-en 188 to 189).
    let shape = degenerate(&intermediate, higher)?;
    let axes_of_higher = (0..higher.rank()).collect();
    let axes = if lower_is_lhs { vec![named, axes_of_higher] } else { vec![axes_of_higher, named] };
    Ok(Alignment { intermediate: Some(intermediate), ..Alignment::new(shape, axes) })
}

/// The axes of the higher operand with which those of the lower are aligned, by the ranks alone.
pub(crate) fn axes(lower: usize, higher: usize, dimensions: &[i64]) -> Result<Vec<usize>, Refusal> {
    if lower == higher { identity(lower, dimensions) } else { named_axes(lower, higher, dimensions) }
}

/// XLA-1: "Broadcasting similar-rank arrays with degenerate dimensions" (xla-en 141 to 165).
fn identity(rank: usize, dimensions: &[i64]) -> Result<Vec<usize>, Refusal> {
    let identity = dimensions.len() == rank && dimensions.iter().copied().eq(0..rank as i64);
    if !dimensions.is_empty() && !identity {
        let message = format!(
            "broadcast_dimensions ({}) with equal ranks of {rank}: expected none or the identity",
            listed(dimensions)
        );
        return Err(Refusal::new(RefusalKind::BroadcastDimensionsNotIdentity, message));
    }
    Ok((0..rank).collect())
}

/// XLA-2 to XLA-6: the axes of a higher operand.
fn named_axes(lower: usize, higher: usize, dimensions: &[i64]) -> Result<Vec<usize>, Refusal> {
    if dimensions.is_empty() {
        // XLA-2. "Scalars can always be broadcast over arrays without an explicit specification" (xla-en 48).
        if lower == 0 {
            return Ok(Vec::new());
        }
        // XLA-3. "explicit broadcasting specifications on operations between arrays of different ranks is
        // required" (xla-en 42 to 43, 64 to 65).
        let message = format!("ranks {lower} and {higher} without broadcast_dimensions");
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }

    // XLA-4. "The first element in the tuple says which dimension in the higher-rank array has to match
    // dimension 0 in the lower-rank array. The second element for dimension 1, and so on." (xla-en 133 to
    // 137)
    if dimensions.len() != lower {
        let message = format!(
            "{} broadcast_dimensions for a lower operand of rank {lower}: expected one per axis",
            dimensions.len()
        );
        return Err(Refusal::new(RefusalKind::BroadcastDimensionsCount, message));
    }

    // XLA-5. Each must be a dimension of the higher operand (xla-en 109 to 110).
    let mut named = Vec::with_capacity(dimensions.len());
    for &dimension in dimensions {
        match usize::try_from(dimension) {
            Ok(axis) if axis < higher => named.push(axis),
            _ => {
                let message = format!(
                    "broadcast dimension {dimension} is out of range for a higher operand of rank {higher}"
                );
                return Err(Refusal::new(RefusalKind::BroadcastDimensionOutOfRange, message));
            }
        }
    }

    // XLA-6. "The order of broadcast dimensions has to be strictly increasing." (xla-en 137 to 139)
    if let Some(pair) = named.windows(2).find(|pair| pair[0] >= pair[1]) {
        let message =
            format!("broadcast dimension {} before {}: they must increase strictly", pair[0], pair[1]);
        return Err(Refusal::new(RefusalKind::BroadcastDimensionsNotIncreasing, message));
    }
    Ok(named)
}

/// XLA-9 to XLA-13: the operation `broadcast`, like StableHLO's and JAX's `broadcast_in_dim`. Not in the
/// documents.
pub(super) fn broadcast(
    operand: &Shape,
    target: &Shape,
    dimensions: Option<&[i64]>,
) -> Result<Alignment, Refusal> {
    let named = target_axes(operand.rank(), target.rank(), dimensions.unwrap_or(&[]))?;

    // XLA-12. The axis is one of the target, and the leftmost there: the dimensions may be in any order.
    for (axis, &wanted) in target.iter().enumerate() {
        for (&length, &own) in operand.iter().zip(&named) {
            if own == axis && length != wanted && length != 1 {
                let message = format!("length {length} onto {wanted}: only a length 1 is stretched");
                return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
            }
        }
    }

    // XLA-13. Axis i of the operand is aligned with axis dims[i] of the target.
    Ok(Alignment::new(target.clone(), vec![named]))
}

/// XLA-9 to XLA-11: the axes of a target with which those of an operand are aligned, by the ranks alone.
pub(crate) fn target_axes(operand: usize, target: usize, dimensions: &[i64]) -> Result<Vec<usize>, Refusal> {
    // XLA-9.
    if dimensions.len() != operand {
        let message = format!(
            "{} broadcast_dimensions for an operand of rank {operand}: expected one per axis",
            dimensions.len()
        );
        return Err(Refusal::new(RefusalKind::BroadcastDimensionsCount, message));
    }

    // XLA-10.
    let mut named = Vec::with_capacity(dimensions.len());
    for &dimension in dimensions {
        match usize::try_from(dimension) {
            Ok(axis) if axis < target => named.push(axis),
            _ => {
                let message =
                    format!("broadcast dimension {dimension} is out of range for a target of rank {target}");
                return Err(Refusal::new(RefusalKind::BroadcastDimensionOutOfRange, message));
            }
        }
    }

    // XLA-11.
    for (i, axis) in named.iter().enumerate() {
        if named[..i].contains(axis) {
            let message = format!("broadcast dimension {axis} twice: two axes cannot lie on one");
            return Err(Refusal::new(RefusalKind::BroadcastDimensionsNotDistinct, message));
        }
    }
    Ok(named)
}

/// XLA-7. "T has to be equal to the matching dimension" (xla-en 120), or either is 1: the examples of
/// "Broadcast composition" (xla-en 167 to 204) stretch a 1 on either side.
fn check_named_lengths(lower: &Shape, higher: &Shape, named: &[usize]) -> Result<(), Refusal> {
    for (&length, &axis) in lower.iter().zip(named) {
        if common_length(length, higher[axis]).is_none() {
            let message = format!(
                "length {length} of the lower operand onto {} of the higher: neither equal nor 1",
                higher[axis]
            );
            return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
        }
    }
    Ok(())
}

/// Two shapes of one rank: "They are equal, or one of them is 1" (xla-en 148 to 149), with the common length
/// of clause G-2 for "the maximum among the two" (xla-en 151).
fn degenerate(a: &Shape, b: &Shape) -> Result<Shape, Refusal> {
    let mut result = Vec::with_capacity(a.rank());
    for (axis, (&left, &right)) in a.iter().zip(b.iter()).enumerate() {
        let Some(common) = common_length(left, right) else {
            let message = format!("lengths {left} and {right}: neither equal nor 1");
            return Err(Refusal::new(RefusalKind::DimensionMismatch, message).at_axis(axis));
        };
        result.push(common);
    }
    Ok(Shape::new(result))
}
