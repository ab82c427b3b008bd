//! The rule set `bidirectional`: clauses BIDI-1 and BIDI-2.

use super::{Lengths, Lowered, common, mismatch, right_aligned};
use broadcheck_spec::Refusal;
use smallvec::smallvec;

pub(super) fn lower(shape: &[usize], target: &[usize]) -> Result<Lowered, Refusal> {
    let rank = shape.len().max(target.len());
    let at = |lengths: &[usize], axis: usize| match (axis + lengths.len()).checked_sub(rank) {
        Some(own) => lengths[own],
        None => 1,
    };
    let mut result = Lengths::new();
    for axis in 0..rank {
        let (own, asked) = (at(shape, axis), at(target, axis));
        result.push(common(own, asked).ok_or_else(|| mismatch(axis, own, asked))?);
    }
    let under = right_aligned(shape, &result);
    Ok(Lowered::new(result, smallvec![under]))
}
