//! Faults of xla: dimensions that do not name the axes of the lower operand.

use super::super::choices::Choices;
use super::super::shapes::Skeleton;
use super::{clash, off, two};
use broadcheck_spec::{OperationKind, RefusalKind, RuleSet};

/// The indices of the lower and the higher operand.
fn places(skeleton: &Skeleton) -> (usize, usize) {
    if skeleton.shapes[0].len() <= skeleton.shapes[1].len() { (0, 1) } else { (1, 0) }
}

/// Changes a skeleton to two operands of different ranks, the lower at least `least`, with valid dimensions.
/// Returns whether there is room for that.
#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
fn differing(choices: &mut dyn Choices, skeleton: &mut Skeleton, least: usize) -> bool {
    two(choices, skeleton);
    if skeleton.shapes.len() != 2 {
        return false;
    }
    let (low, high) = places(skeleton);
    let rank = skeleton.shapes[high].len();
    if rank <= least {
        return false;
    }
    let valid = skeleton.dimensions.as_ref().is_some_and(|list| list.len() == skeleton.shapes[low].len());
    if skeleton.shapes[low].len() == rank {
        let gone = choices.index(rank);
        skeleton.shapes[low].remove(gone);
        skeleton.dimensions = Some((0..rank).filter(|&axis| axis != gone).map(|axis| axis as i64).collect());
    } else if skeleton.shapes[low].len() < least || !valid {
        skeleton.shapes[low] = skeleton.shapes[high][..least].to_vec();
        skeleton.dimensions = Some((0..least as i64).collect());
    }
    true
}

/// Applies one of the faults that only xla has.
#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
pub(super) fn fault(choices: &mut dyn Choices, skeleton: &mut Skeleton, kind: RefusalKind) {
    if skeleton.operation == OperationKind::Broadcast {
        return of_a_target(choices, skeleton, kind);
    }
    if kind == RefusalKind::BroadcastDimensionsNotIdentity {
        return not_identity(choices, skeleton);
    }
    let least = match kind {
        RefusalKind::BroadcastDimensionsNotIncreasing => 2,
        RefusalKind::BroadcastDimensionOutOfRange => 1,
        RefusalKind::RankMismatch
        | RefusalKind::DimensionMismatch
        | RefusalKind::AxisOutOfRange
        | RefusalKind::BroadcastDimensionsCount
        | RefusalKind::BroadcastDimensionsNotIdentity
        | RefusalKind::BroadcastDimensionsNotDistinct
        | RefusalKind::FlagViolation
        | RefusalKind::NotBroadcastable
        | RefusalKind::OperandCount
        | RefusalKind::DTypeMismatch
        | RefusalKind::UnsupportedFunction
        | RefusalKind::TooLarge
        | _ => 0,
    };
    if !differing(choices, skeleton, least) {
        return;
    }
    let rank = skeleton.shapes[places(skeleton).1].len() as i64;
    let list = skeleton.dimensions.get_or_insert_default();
    match kind {
        RefusalKind::BroadcastDimensionsCount => {
            if !list.is_empty() && choices.chance(1, 2) {
                list.remove(choices.index(list.len()));
            } else {
                list.push(rank - 1);
            }
            // An empty list would be another fault: the axes would have no place.
            if list.is_empty() {
                list.extend([0, 1]);
            }
        }
        RefusalKind::BroadcastDimensionOutOfRange => {
            if choices.chance(1, 3) {
                list[0] = choices.one_of(&[-1, -1, -rank, i64::MIN]);
            } else if let Some(last) = list.last_mut() {
                *last = choices.one_of(&[rank, rank, rank, rank + 1, i64::MAX]);
            }
        }
        RefusalKind::BroadcastDimensionsNotIncreasing => {
            let at = choices.index(list.len() - 1);
            if choices.chance(1, 2) {
                list.swap(at, at + 1);
            } else {
                list[at + 1] = list[at];
            }
        }
        // Not faults of dimensions.
        RefusalKind::BroadcastDimensionsNotIdentity
        | RefusalKind::RankMismatch
        | RefusalKind::DimensionMismatch
        | RefusalKind::AxisOutOfRange
        | RefusalKind::FlagViolation
        | RefusalKind::NotBroadcastable
        | RefusalKind::OperandCount
        | RefusalKind::DTypeMismatch
        | RefusalKind::UnsupportedFunction
        | RefusalKind::TooLarge
        | _ => {}
    }
}

/// Applies a fault to the dimensions that place an operand on a target.
#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
fn of_a_target(choices: &mut dyn Choices, skeleton: &mut Skeleton, kind: RefusalKind) {
    let (operand, target) = (&mut skeleton.shapes[0], &skeleton.target);
    let list = skeleton.dimensions.get_or_insert_default();
    if kind == RefusalKind::BroadcastDimensionsCount {
        if !list.is_empty() && choices.chance(1, 2) {
            list.remove(choices.index(list.len()));
        } else {
            list.push(choices.index(target.len().max(1)) as i64);
        }
        return;
    }
    let twice = kind == RefusalKind::BroadcastDimensionsNotDistinct;
    while list.len() < 1 + usize::from(twice) {
        list.push(choices.index(target.len().max(1)) as i64);
        operand.resize(list.len(), 1);
    }
    let at = choices.index(list.len());
    if twice {
        let other = (at + 1 + choices.index(list.len() - 1)) % list.len();
        list[at] = list[other];
    } else {
        let rank = target.len() as i64;
        list[at] = choices.one_of(&[-1, -1, rank, rank, rank + 1, -rank, i64::MIN, i64::MAX]);
    }
}

/// A length that is neither 1 nor the target's, with valid dimensions.
#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
pub(super) fn target_mismatch(choices: &mut dyn Choices, skeleton: &mut Skeleton) {
    let (operand, target) = (&mut skeleton.shapes[0], &mut skeleton.target);
    let list = skeleton.dimensions.get_or_insert_default();
    if target.is_empty() {
        return;
    }
    if operand.is_empty() {
        operand.push(1);
        *list = vec![choices.index(target.len()) as i64];
    }
    let at = choices.index(operand.len());
    let onto = list.get(at).and_then(|&axis| usize::try_from(axis).ok()).filter(|&axis| axis < target.len());
    let Some(onto) = onto else { return };
    // A target of 1 is not stretched either.
    if target[onto] != 1 && choices.chance(1, 3) {
        operand[at] = if target[onto] == 0 { 2 } else { target[onto] };
        target[onto] = 1;
    } else {
        let length = if target[onto] == 1 { 2 } else { target[onto] };
        target[onto] = length;
        operand[at] = match off(choices, length) {
            1 => 0,
            other => other,
        };
    }
}

/// Equal ranks, and dimensions that are almost 0, 1, 2, …
#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
fn not_identity(choices: &mut dyn Choices, skeleton: &mut Skeleton) {
    two(choices, skeleton);
    if skeleton.shapes.len() != 2 {
        return;
    }
    let (low, high) = places(skeleton);
    let rank = skeleton.shapes[high].len();
    if skeleton.shapes[low].len() != rank {
        skeleton.shapes[low] = skeleton.shapes[high].clone();
    }
    let mut list: Vec<i64> = (0..rank as i64).collect();
    match choices.index(4) {
        0 | 1 if rank > 1 => {
            let at = choices.index(rank - 1);
            list.swap(at, at + 1);
        }
        2 if rank > 1 => {
            list.remove(choices.index(rank));
        }
        3 if rank > 0 => list[choices.index(rank)] = choices.one_of(&[-1, rank as i64]),
        _ => list.push(rank as i64),
    }
    skeleton.dimensions = Some(list);
}

/// Incompatible lengths, with valid dimensions.
#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
pub(super) fn mismatch(choices: &mut dyn Choices, skeleton: &mut Skeleton) {
    two(choices, skeleton);
    if skeleton.shapes.len() != 2 {
        return;
    }
    let (low, high) = places(skeleton);
    let [low, high] = skeleton.shapes.get_disjoint_mut([low, high]).expect("two operands");
    if low.len() == high.len() {
        clash(choices, RuleSet::Xla, low, high);
        return;
    }
    let list = skeleton.dimensions.get_or_insert_default();
    if low.is_empty() {
        low.push(1);
        *list = vec![choices.index(high.len()) as i64];
    }
    let at = choices.index(low.len());
    let onto = list.get(at).and_then(|&axis| usize::try_from(axis).ok()).filter(|&axis| axis < high.len());
    let Some(onto) = onto else { return };
    let length = [high[onto], low[at], 2].into_iter().find(|&length| length != 1).unwrap_or(2);
    high[onto] = length;
    low[at] = off(choices, length);
}

/// Different ranks, neither of them 0, without dimensions.
pub(super) fn ranks(choices: &mut dyn Choices, skeleton: &mut Skeleton, max_rank: usize) {
    two(choices, skeleton);
    if skeleton.shapes.len() != 2 {
        return;
    }
    let (low, high) = places(skeleton);
    if skeleton.shapes[low].is_empty() {
        skeleton.shapes[low].push(1);
    }
    if skeleton.shapes[low].len() >= skeleton.shapes[high].len() {
        if skeleton.shapes[low].len() >= max_rank {
            skeleton.shapes[low].pop();
        }
        while skeleton.shapes[low].len() >= skeleton.shapes[high].len() {
            skeleton.shapes[high].insert(0, 1);
        }
    }
    skeleton.dimensions = if choices.chance(1, 2) { Some(Vec::new()) } else { None };
}
