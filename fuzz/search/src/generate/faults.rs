//! Faults that make an accepted skeleton refused: for each refusal kind, one step over one boundary.

use super::choices::Choices;
use super::profile::{Profile, RuleOperation};
use super::shapes::{REPEATED_AXES, Skeleton};
use broadcheck_spec::{OperationKind, RefusalKind, RuleSet};

mod dimensions;
mod huge;
mod types;

pub(super) use types::in_types;

/// The refusal kind that a fault aims for.
pub(super) type Fault = RefusalKind;

/// The refusal kinds of each rule set, apart from those of types. A kind that is listed more often is drawn
/// more often.
fn kinds((set, operation): RuleOperation) -> &'static [RefusalKind] {
    use RefusalKind as K;
    match (set, operation) {
        (RuleSet::None, _) => &[K::DimensionMismatch, K::RankMismatch, K::TooLarge],
        (RuleSet::Numpy | RuleSet::Leading, OperationKind::Broadcast) => {
            &[K::DimensionMismatch, K::DimensionMismatch, K::RankMismatch, K::TooLarge]
        }
        (RuleSet::Numpy | RuleSet::Leading, _) => {
            &[K::DimensionMismatch, K::DimensionMismatch, K::DimensionMismatch, K::TooLarge]
        }
        (RuleSet::Repeat, OperationKind::Broadcast) => {
            &[K::DimensionMismatch, K::DimensionMismatch, K::RankMismatch, K::TooLarge]
        }
        (RuleSet::Repeat, _) => &[
            K::DimensionMismatch,
            K::DimensionMismatch,
            K::DimensionMismatch,
            K::RankMismatch,
            K::OperandCount,
            K::TooLarge,
        ],
        (RuleSet::Pdpd, _) => &[
            K::DimensionMismatch,
            K::DimensionMismatch,
            K::RankMismatch,
            K::AxisOutOfRange,
            K::AxisOutOfRange,
            K::OperandCount,
            K::TooLarge,
        ],
        (RuleSet::Bidirectional, _) => &[K::DimensionMismatch, K::DimensionMismatch, K::TooLarge],
        (RuleSet::Xla, OperationKind::Broadcast) => &[
            K::DimensionMismatch,
            K::DimensionMismatch,
            K::BroadcastDimensionsCount,
            K::BroadcastDimensionOutOfRange,
            K::BroadcastDimensionsNotDistinct,
            K::TooLarge,
        ],
        (RuleSet::Xla, _) => &[
            K::DimensionMismatch,
            K::DimensionMismatch,
            K::RankMismatch,
            K::BroadcastDimensionsCount,
            K::BroadcastDimensionOutOfRange,
            K::BroadcastDimensionsNotIncreasing,
            K::BroadcastDimensionsNotIdentity,
            K::OperandCount,
            K::TooLarge,
        ],
        (RuleSet::Theano, _) => &[
            K::FlagViolation,
            K::FlagViolation,
            K::NotBroadcastable,
            K::NotBroadcastable,
            K::NotBroadcastable,
            K::TooLarge,
        ],
    }
}

/// The faults of a request: mostly none, and mostly one if there are any.
pub(super) fn drawn(
    choices: &mut dyn Choices,
    profile: &Profile,
    rule_operation: RuleOperation,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    if choices.chance(profile.refused.into(), 16) {
        faults.extend(one(choices, profile, rule_operation));
        if choices.chance(1, 8) {
            faults.extend(one(choices, profile, rule_operation));
        }
        faults.retain(|fault| least_rank(&[*fault]) <= profile.max_rank);
        // Without views, a huge operand has no elements, and another fault might give it some.
        if !profile.strided && faults.contains(&RefusalKind::TooLarge) {
            faults = vec![RefusalKind::TooLarge];
        }
    }
    faults
}

/// A fault that the profile allows, if there is one.
fn one(choices: &mut dyn Choices, profile: &Profile, rule_operation: RuleOperation) -> Option<Fault> {
    const TYPES: [RefusalKind; 2] = [RefusalKind::DTypeMismatch, RefusalKind::UnsupportedFunction];
    let aimed = |kinds: &[RefusalKind]| -> Vec<RefusalKind> {
        kinds.iter().copied().filter(|&kind| profile.aims_at(kind)).collect()
    };
    let types = rule_operation.1 != OperationKind::Broadcast && choices.chance(1, 5);
    let mut left = if types { aimed(&TYPES) } else { Vec::new() };
    if left.is_empty() {
        left = aimed(kinds(rule_operation));
    }
    (!left.is_empty()).then(|| choices.one_of(&left))
}

/// The lowest rank of the result for which these faults are possible.
pub(super) fn least_rank(faults: &[Fault]) -> usize {
    let least = |fault: &Fault| match fault {
        RefusalKind::DTypeMismatch | RefusalKind::UnsupportedFunction | RefusalKind::OperandCount => 0,
        RefusalKind::BroadcastDimensionsNotIncreasing => 3,
        RefusalKind::BroadcastDimensionsCount
        | RefusalKind::BroadcastDimensionOutOfRange
        | RefusalKind::BroadcastDimensionsNotDistinct
        | RefusalKind::TooLarge => 2,
        RefusalKind::DimensionMismatch
        | RefusalKind::RankMismatch
        | RefusalKind::AxisOutOfRange
        | RefusalKind::BroadcastDimensionsNotIdentity
        | RefusalKind::FlagViolation
        | RefusalKind::NotBroadcastable
        | _ => 1,
    };
    faults.iter().map(least).max().unwrap_or(0)
}

/// Applies the faults of shapes and attributes.
pub(super) fn in_skeleton(
    choices: &mut dyn Choices,
    skeleton: &mut Skeleton,
    faults: &[Fault],
    profile: &Profile,
) {
    for fault in faults {
        match fault {
            RefusalKind::DimensionMismatch => mismatch(choices, skeleton),
            RefusalKind::RankMismatch => ranks(choices, skeleton, profile.max_rank),
            RefusalKind::AxisOutOfRange => axis(choices, skeleton),
            RefusalKind::FlagViolation => violation(choices, skeleton),
            RefusalKind::NotBroadcastable => not_broadcastable(choices, skeleton),
            RefusalKind::OperandCount => more_operands(choices, skeleton),
            RefusalKind::TooLarge => huge::too_large(choices, skeleton, profile),
            RefusalKind::BroadcastDimensionsCount
            | RefusalKind::BroadcastDimensionOutOfRange
            | RefusalKind::BroadcastDimensionsNotIncreasing
            | RefusalKind::BroadcastDimensionsNotDistinct
            | RefusalKind::BroadcastDimensionsNotIdentity => dimensions::fault(choices, skeleton, *fault),
            // Left to [`in_types`].
            RefusalKind::DTypeMismatch | RefusalKind::UnsupportedFunction | _ => {}
        }
    }
}

/// A length that is incompatible with this one, mostly a neighbour.
fn off(choices: &mut dyn Choices, length: usize) -> usize {
    match length {
        0 => choices.one_of(&[2, 3]),
        1 => choices.one_of(&[2, 0, 3]),
        2 => choices.one_of(&[3, 0, 4]),
        _ => choices.one_of(&[length + 1, length - 1, length + 1, length - 1, 0, 2 * length]),
    }
}

/// Gives two shapes different lengths, neither of them 1, on one axis on which the rule set aligns them: at
/// the first axis under `leading`, otherwise at the right. Returns the axis of each.
fn clash(
    choices: &mut dyn Choices,
    set: RuleSet,
    one: &mut Vec<usize>,
    other: &mut Vec<usize>,
) -> (usize, usize) {
    for shape in [&mut *one, &mut *other] {
        if shape.is_empty() {
            shape.push(2);
        }
    }
    let nth = choices.index(one.len().min(other.len()));
    let (left, right) = match set {
        RuleSet::Leading => (nth, nth),
        RuleSet::None
        | RuleSet::Numpy
        | RuleSet::Pdpd
        | RuleSet::Bidirectional
        | RuleSet::Xla
        | RuleSet::Theano
        | RuleSet::Repeat => (one.len() - 1 - nth, other.len() - 1 - nth),
    };
    let length = [one[left], other[right], 2].into_iter().find(|&length| length != 1).unwrap_or(2);
    one[left] = length;
    other[right] = off(choices, length);
    (left, right)
}

/// Two different indices into a list of two or more.
fn pair(choices: &mut dyn Choices, count: usize) -> (usize, usize) {
    let one = choices.index(count);
    (one, (one + 1 + choices.index(count - 1)) % count)
}

/// Two operands to change. A skeleton of one operand gets a second.
fn two<'a>(choices: &mut dyn Choices, skeleton: &'a mut Skeleton) -> [&'a mut Vec<usize>; 2] {
    if skeleton.shapes.len() < 2 {
        let same = skeleton.shapes[0].clone();
        skeleton.shapes.push(same);
        skeleton.flags.push(None);
    }
    let (one, other) = pair(choices, skeleton.shapes.len());
    skeleton.shapes.get_disjoint_mut([one, other]).expect("two different indices")
}

fn mismatch(choices: &mut dyn Choices, skeleton: &mut Skeleton) {
    match (skeleton.set, skeleton.operation) {
        (RuleSet::None, _) => {
            let [one, _] = two(choices, skeleton);
            if !one.is_empty() {
                let axis = choices.index(one.len());
                one[axis] = if one[axis] != 1 && choices.chance(1, 3) { 1 } else { off(choices, one[axis]) };
            }
        }
        (RuleSet::Xla, OperationKind::Broadcast) => dimensions::target_mismatch(choices, skeleton),
        (_, OperationKind::Broadcast) => {
            let (operand, target) = (&mut skeleton.shapes[0], &mut skeleton.target);
            let (_, axis) = clash(choices, skeleton.set, operand, target);
            // A target of 1: accepted in two directions, refused in one.
            if skeleton.set != RuleSet::Bidirectional && choices.chance(1, 3) {
                target[axis] = 1;
            }
        }
        (RuleSet::Pdpd, _) => pdpd_mismatch(choices, skeleton),
        (RuleSet::Repeat, _) => {
            two(choices, skeleton);
            let [a, b] = &mut skeleton.shapes[..] else { return };
            let (of_a, of_b) = clash(choices, RuleSet::Repeat, a, b);
            // B's length is a multiple of A's, or one more than a divisor.
            match choices.index(3) {
                0 => b[of_b] = a[of_a].saturating_mul(2).max(2),
                1 => a[of_a] = b[of_b].saturating_mul(2).saturating_add(1),
                _ => {}
            }
        }
        (RuleSet::Xla, _) => dimensions::mismatch(choices, skeleton),
        (RuleSet::Numpy | RuleSet::Bidirectional | RuleSet::Theano | RuleSet::Leading, _) => {
            let set = skeleton.set;
            let [one, other] = two(choices, skeleton);
            clash(choices, set, one, other);
        }
    }
}

#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
fn pdpd_mismatch(choices: &mut dyn Choices, skeleton: &mut Skeleton) {
    two(choices, skeleton);
    let [a, b] = &mut skeleton.shapes[..] else { return };
    if a.is_empty() || b.len() > a.len() {
        return;
    }
    let default = a.len() - b.len();
    let start = skeleton.axis.and_then(|axis| usize::try_from(axis).ok()).unwrap_or(default);
    let under = a.len().saturating_sub(start).min(b.len());
    let (at, onto) = if under == 0 {
        let onto = choices.index(a.len());
        skeleton.axis = Some(onto as i64);
        *b = vec![1];
        (0, onto)
    } else {
        let at = choices.index(under);
        (at, start + at)
    };
    // A 1 of A is not stretched either.
    if a[onto] != 1 && choices.chance(1, 3) {
        b[at] = if a[onto] == 0 { 2 } else { a[onto] };
        a[onto] = 1;
    } else {
        b[at] = off(choices, a[onto]);
    }
}

/// Under `repeat`: one axis more than there can be, or one that only B has.
fn too_many_axes(choices: &mut dyn Choices, a: &mut Vec<usize>, b: &mut Vec<usize>, max_rank: usize) {
    if max_rank > REPEATED_AXES && choices.chance(1, 2) {
        let longer = if choices.chance(1, 2) { a } else { b };
        longer.splice(0..0, vec![1; (REPEATED_AXES + 1).saturating_sub(longer.len())]);
    } else {
        a.truncate(max_rank.min(REPEATED_AXES).saturating_sub(1));
        b.splice(0..0, vec![1; (a.len() + 1).saturating_sub(b.len())]);
        b[0] = 2;
    }
}

/// One axis of length 1 too many, or one axis too few.
fn ranks(choices: &mut dyn Choices, skeleton: &mut Skeleton, max_rank: usize) {
    match (skeleton.set, skeleton.operation) {
        (RuleSet::None, _) => {
            let [one, _] = two(choices, skeleton);
            if one.len() < max_rank && choices.chance(1, 2) {
                one.insert(choices.index(one.len() + 1), 1);
            } else if !one.is_empty() {
                one.remove(choices.index(one.len()));
            }
        }
        // Axes that only the operand has are accepted if they are ones.
        (RuleSet::Repeat, OperationKind::Broadcast) => {
            too_many_axes(choices, &mut skeleton.target, &mut skeleton.shapes[0], max_rank);
        }
        (_, OperationKind::Broadcast) => {
            let (operand, target) = (&mut skeleton.shapes[0], &mut skeleton.target);
            if target.len() >= max_rank {
                target.remove(0);
            }
            while operand.len() <= target.len() {
                operand.insert(0, 1);
            }
        }
        (RuleSet::Pdpd, _) => {
            two(choices, skeleton);
            let [a, b] = &mut skeleton.shapes[..] else { return };
            if a.len() >= max_rank {
                a.remove(choices.index(a.len()));
            }
            let trailing = choices.chance(1, 2);
            while b.len() <= a.len() {
                b.insert(if trailing { b.len() } else { 0 }, 1);
            }
        }
        (RuleSet::Xla, _) => dimensions::ranks(choices, skeleton, max_rank),
        (RuleSet::Repeat, _) => {
            two(choices, skeleton);
            let [a, b] = &mut skeleton.shapes[..] else { return };
            too_many_axes(choices, a, b, max_rank);
        }
        // Any ranks are compatible.
        (RuleSet::Numpy | RuleSet::Bidirectional | RuleSet::Theano | RuleSet::Leading, _) => {}
    }
}

#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
fn axis(choices: &mut dyn Choices, skeleton: &mut Skeleton) {
    two(choices, skeleton);
    let [a, b] = &skeleton.shapes[..] else { return };
    let kept = b.iter().rposition(|&length| length != 1).map_or(0, |last| last + 1);
    let beyond = (a.len() + 1).saturating_sub(kept) as i64;
    skeleton.axis =
        Some(choices.one_of(&[beyond, beyond, beyond, -2, -2, beyond + 1, -3, i64::MAX, i64::MIN]));
}

/// The flags of an operand; absent ones become explicit.
fn flags(skeleton: &mut Skeleton, operand: usize) -> &mut Vec<bool> {
    let rank = skeleton.shapes[operand].len();
    skeleton.flags[operand].get_or_insert_with(|| vec![false; rank])
}

/// Sets a flag on an axis whose length is not 1.
fn violation(choices: &mut dyn Choices, skeleton: &mut Skeleton) {
    let operands: Vec<usize> =
        (0..skeleton.shapes.len()).filter(|&at| !skeleton.shapes[at].is_empty()).collect();
    if operands.is_empty() {
        return;
    }
    let operand = choices.one_of(&operands);
    let shape = &mut skeleton.shapes[operand];
    let long: Vec<usize> = (0..shape.len()).filter(|&axis| shape[axis] != 1).collect();
    let axis = if long.is_empty() {
        let axis = choices.index(shape.len());
        shape[axis] = choices.one_of(&[2, 0]);
        axis
    } else {
        choices.one_of(&long)
    };
    flags(skeleton, operand)[axis] = true;
}

/// Removes a flag from an axis that must be stretched, or makes lengths differ.
fn not_broadcastable(choices: &mut dyn Choices, skeleton: &mut Skeleton) {
    let mut set: Vec<(usize, usize)> = Vec::new();
    for (operand, flags) in skeleton.flags.iter().enumerate() {
        let axes = flags.iter().flatten().enumerate().filter(|&(_, &flag)| flag);
        set.extend(axes.map(|(axis, _)| (operand, axis)));
    }
    if !set.is_empty() && choices.chance(1, 2) {
        let (operand, axis) = choices.one_of(&set);
        flags(skeleton, operand)[axis] = false;
        return;
    }
    if skeleton.shapes.len() < 2 {
        two(choices, skeleton);
    }
    let (one, other) = pair(choices, skeleton.shapes.len());
    let [left, right] = skeleton.shapes.get_disjoint_mut([one, other]).expect("two different indices");
    let (left, right) = clash(choices, skeleton.set, left, right);
    for (operand, axis) in [(one, left), (other, right)] {
        let rank = skeleton.shapes[operand].len();
        let flags = flags(skeleton, operand);
        flags.resize(rank, false);
        flags[axis] = false;
    }
}

fn more_operands(choices: &mut dyn Choices, skeleton: &mut Skeleton) {
    while skeleton.shapes.len() < 3 {
        let same = skeleton.shapes[choices.index(skeleton.shapes.len())].clone();
        skeleton.shapes.push(if choices.chance(1, 4) { Vec::new() } else { same });
    }
    skeleton.flags.resize(skeleton.shapes.len(), None);
}
