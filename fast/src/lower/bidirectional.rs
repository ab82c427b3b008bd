//! The rule set `bidirectional`: clauses BIDI-1 and BIDI-2.

use super::{Lowered, Maps, common, mismatch};
use broadcheck_spec::Refusal;

pub(super) fn lower(shape: &[usize], target: &[usize], into: &mut Lowered) -> Result<(), Refusal> {
    let rank = shape.len().max(target.len());
    let at = |lengths: &[usize], axis: usize| match (axis + lengths.len()).checked_sub(rank) {
        Some(own) => lengths[own],
        None => 1,
    };
    for axis in 0..rank {
        let (own, asked) = (at(shape, axis), at(target, axis));
        into.shape.push(common(own, asked).ok_or_else(|| mismatch(axis, own, asked))?);
    }
    into.maps = Maps::stretched(1, rank);
    into.maps.right_align(0, shape, &into.shape);
    Ok(())
}
