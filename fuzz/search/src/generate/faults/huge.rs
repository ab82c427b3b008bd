//! Results of more than 2^63 - 1 elements, and of exactly as many as are allowed.

use super::super::choices::Choices;
use super::super::profile::Profile;
use super::super::shapes::Skeleton;
use broadcheck_spec::{OperationKind, RuleSet};

/// Pairs of lengths. The products of the first three exceed 2^63 - 1, by as little as possible; that of the
/// last does not.
const PAIRS: [(usize, usize); 4] =
    [(1 << 32, 1 << 31), ((1 << 62) + 1, 2), (1 << 40, 1 << 40), (1 << 32, (1 << 31) - 1)];

/// Makes the result too large. A request can express that only by `broadcast`, by views, or by an operand
/// without elements.
pub(super) fn too_large(choices: &mut dyn Choices, skeleton: &mut Skeleton, profile: &Profile) {
    if profile.max_rank < 2 {
        return;
    }
    let (long, wide) = choices.one_of(&PAIRS);
    if skeleton.operation == OperationKind::Broadcast {
        let operand = &mut skeleton.shapes[0];
        *operand = vec![1; operand.len().min(2)];
        skeleton.target = vec![long, wide];
        skeleton.dimensions = skeleton.dimensions.is_some().then(|| (0..).take(operand.len()).collect());
        if profile.max_rank > 2 && choices.chance(1, 4) {
            skeleton.target.insert(choices.index(3), 0);
        }
        return;
    }
    // Lengths are checked even if there are no elements.
    let empty = profile.max_rank > 2 && (!profile.strided || choices.chance(1, 2));
    if !empty && !profile.strided {
        return;
    }
    let mut shape = vec![long, wide];
    if empty {
        shape.insert(choices.index(3), 0);
    }
    let split = profile.strided
        && matches!(skeleton.set, RuleSet::Numpy | RuleSet::Xla | RuleSet::Leading)
        && skeleton.shapes.len() > 1;
    skeleton.axis = None;
    skeleton.dimensions = None;
    skeleton.flags.fill(None);
    skeleton.shapes.fill(shape.clone());
    // Neither operand is too large, but the result is.
    if split && choices.chance(1, 2) {
        let axis = choices.index(shape.len());
        skeleton.shapes[0] =
            shape.iter().enumerate().map(|(at, &length)| if at == axis { length } else { 1 }).collect();
        skeleton.shapes[1][axis] = 1;
    }
}
