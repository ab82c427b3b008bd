//! Shapes and attributes that a rule set accepts by construction: the result first, then the operands that
//! give it.

use super::bytes::MAX_OPERANDS;
use super::choices::Choices;
use super::lengths::{Size, shape};
use super::profile::{Limits, RuleOperation};
use broadcheck_spec::{OperationKind, RuleSet, Rules};

/// The skeleton of a request: its shapes and the attributes of its rule set, without dtypes and values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Skeleton {
    pub(super) set: RuleSet,
    pub(super) operation: OperationKind,
    /// One per operand.
    pub(super) shapes: Vec<Vec<usize>>,
    /// For theano: one list per operand, or `None`.
    pub(super) flags: Vec<Option<Vec<bool>>>,
    /// For pdpd.
    pub(super) axis: Option<i64>,
    /// For xla.
    pub(super) dimensions: Option<Vec<i64>>,
    /// For `broadcast`.
    pub(super) target: Vec<usize>,
}

impl Skeleton {
    /// The rule set with its attributes.
    pub(super) fn rules(&self) -> Rules {
        match Rules::from(self.set) {
            Rules::Pdpd { .. } => Rules::Pdpd { axis: self.axis },
            Rules::Xla { .. } => Rules::Xla { broadcast_dimensions: self.dimensions.clone() },
            bare @ (Rules::None
            | Rules::Numpy
            | Rules::Bidirectional
            | Rules::Theano
            | Rules::Leading
            | Rules::Repeat) => bare,
        }
    }
}

/// A skeleton that is accepted. The rank of its result is within this range.
pub(super) fn accepted(
    choices: &mut dyn Choices,
    (set, operation): RuleOperation,
    ranks: (usize, usize),
    size: Size,
    limits: Limits,
) -> Skeleton {
    let ranks = match set {
        RuleSet::Repeat => (ranks.0.min(REPEATED_AXES), ranks.1.min(REPEATED_AXES)),
        RuleSet::None
        | RuleSet::Numpy
        | RuleSet::Pdpd
        | RuleSet::Bidirectional
        | RuleSet::Xla
        | RuleSet::Theano
        | RuleSet::Leading => ranks,
    };
    let result = shape(choices, ranks, size);
    let mut skeleton = Skeleton {
        set,
        operation,
        shapes: Vec::new(),
        flags: Vec::new(),
        axis: None,
        dimensions: None,
        target: Vec::new(),
    };
    // A target may have another rank than the operand.
    let onto = Limits { equal_ranks: false, ..limits };
    match (set, operation) {
        (RuleSet::Numpy, OperationKind::Broadcast) => {
            skeleton.shapes.push(part(choices, &result, onto));
            skeleton.target = result;
        }
        (RuleSet::Bidirectional, _) => {
            skeleton.shapes.push(part(choices, &result, onto));
            skeleton.target = part(choices, &result, onto);
        }
        (RuleSet::Leading, OperationKind::Broadcast) => {
            skeleton.shapes.push(first_part(choices, &result, onto));
            skeleton.target = result;
        }
        (RuleSet::Leading, _) => {
            let count = count(choices, size, limits);
            skeleton.shapes = (0..count).map(|_| first_part(choices, &result, limits)).collect();
        }
        (RuleSet::Repeat, OperationKind::Broadcast) => {
            let (a, b) = repeated(choices, result, (onto, ranks.1), size);
            skeleton.shapes.push(b);
            skeleton.target = a;
        }
        (RuleSet::Repeat, _) if choices.chance(1, 16) || limits.max_operands < 2 => {
            skeleton.shapes.push(result);
        }
        (RuleSet::Repeat, _) => {
            let (a, b) = repeated(choices, result, (limits, ranks.1), size);
            skeleton.shapes = vec![a, b];
        }
        (RuleSet::None, _) => skeleton.shapes = vec![result; count(choices, size, limits)],
        (RuleSet::Numpy, _) => skeleton.shapes = parts(choices, &result, size, limits),
        (RuleSet::Pdpd, _) => pdpd(choices, &mut skeleton, result, limits),
        (RuleSet::Xla, OperationKind::Broadcast) => in_dim(choices, &mut skeleton, result, limits),
        (RuleSet::Xla, _) => xla(choices, &mut skeleton, &result, limits),
        (RuleSet::Theano, _) => theano(choices, &mut skeleton, &result, size, limits),
    }
    skeleton.flags.resize(skeleton.shapes.len(), None);
    skeleton
}

/// The number of operands: mostly two, up to 12, and rarely about as many as implementations fold at a time
/// or as a word has bits. Large results have at most three, because their operands are large as well.
fn count(choices: &mut dyn Choices, size: Size, limits: Limits) -> usize {
    if size.large {
        return choices.one_of(&[2, 2, 3, 1]).min(limits.max_operands);
    }
    let count = match choices.index(16) {
        0..=9 => 2,
        10..=12 => 3,
        13 => 1,
        14 if choices.chance(1, 8) => choices.in_range(31, MAX_OPERANDS),
        _ => choices.in_range(4, 12),
    };
    count.min(limits.max_operands)
}

fn parts(choices: &mut dyn Choices, result: &[usize], size: Size, limits: Limits) -> Vec<Vec<usize>> {
    (0..count(choices, size, limits)).map(|_| part(choices, result, limits)).collect()
}

/// A shape that numpy's rules stretch to this result: some lengths are 1, some leading axes are missing.
fn part(choices: &mut dyn Choices, result: &[usize], limits: Limits) -> Vec<usize> {
    let most = if limits.equal_ranks { 0 } else { result.len().saturating_sub(limits.least_rank) };
    let lead = if choices.chance(1, 4) { choices.index(most + 1) } else { 0 };
    stretched(choices, &result[lead..])
}

/// A shape that the rules of `leading` stretch to this result: some lengths are 1, some last axes are
/// missing.
fn first_part(choices: &mut dyn Choices, result: &[usize], limits: Limits) -> Vec<usize> {
    let most = if limits.equal_ranks { 0 } else { result.len().saturating_sub(limits.least_rank) };
    let missing = if choices.chance(1, 4) { choices.index(most + 1) } else { 0 };
    stretched(choices, &result[..result.len() - missing])
}

/// REPEAT-1: the axes of a tensor under `repeat`.
pub(super) const REPEATED_AXES: usize = 4;

/// An A and a B that is repeated onto it: a part of A, most of whose lengths A then has several times. Rarely
/// both have no elements, and anything goes; or B has ones in front of A.
fn repeated(
    choices: &mut dyn Choices,
    mut a: Vec<usize>,
    (limits, max_rank): (Limits, usize),
    size: Size,
) -> (Vec<usize>, Vec<usize>) {
    let mut b = part(choices, &a, limits);
    let lead = a.len() - b.len();
    for (axis, &length) in b.iter().enumerate() {
        if !size.large && length > 1 && a[lead + axis] <= 16 && choices.chance(2, 3) {
            a[lead + axis] = length * choices.one_of(&[2, 2, 3, 1, 4]);
        }
    }
    if !a.is_empty() && !b.is_empty() && choices.chance(1, 24) {
        let (of_a, of_b) = (choices.index(a.len()), choices.index(b.len()));
        a[of_a] = 0;
        b[of_b] = 0;
    } else if !limits.equal_ranks && b.len() == a.len() && b.len() < max_rank && choices.chance(1, 8) {
        b.insert(0, 1);
    }
    (a, b)
}

/// The lengths, with a pattern of ones.
fn stretched(choices: &mut dyn Choices, lengths: &[usize]) -> Vec<usize> {
    let (rank, mut part) = (lengths.len(), lengths.to_vec());
    match choices.index(8) {
        // No ones: neighbouring axes collapse.
        0..=2 => {}
        3 => {
            if let Some(single) = (rank > 0).then(|| choices.index(rank)) {
                part[single] = 1;
            }
        }
        // Ones on one side: two loops at most.
        4 => part[choices.index(rank + 1)..].fill(1),
        5 => part[..choices.index(rank + 1)].fill(1),
        // Every other axis: nothing collapses.
        6 => part.iter_mut().skip(choices.index(2)).step_by(2).for_each(|length| *length = 1),
        _ => {
            let ones = choices.below(1 << rank.min(16));
            part.iter_mut()
                .enumerate()
                .filter(|(axis, _)| ones >> axis & 1 == 1)
                .for_each(|(_, length)| *length = 1);
        }
    }
    part
}

#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
fn pdpd(choices: &mut dyn Choices, skeleton: &mut Skeleton, a: Vec<usize>, limits: Limits) {
    if choices.chance(1, 16) || limits.max_operands < 2 {
        return skeleton.shapes.push(a);
    }
    let least = if limits.equal_ranks { a.len() } else { limits.least_rank.min(a.len()) };
    let start = choices.index(a.len() - least + 1);
    let end = choices.in_range(start + least, a.len());
    let mut b = stretched(choices, &a[start..end]);
    // Dropped ones may reach beyond A's last axis.
    if choices.chance(1, 4) {
        b.resize(choices.in_range(b.len(), a.len()), 1);
    }
    skeleton.axis = match choices.index(4) {
        0 | 1 if start == a.len() - b.len() => choices.one_of(&[None, Some(-1)]),
        _ => Some(start as i64),
    };
    skeleton.shapes = vec![a, b];
}

#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
fn xla(choices: &mut dyn Choices, skeleton: &mut Skeleton, result: &[usize], limits: Limits) {
    let high = stretched(choices, result);
    let rank = high.len();
    let kind = match choices.index(16) {
        _ if limits.max_operands < 2 => 0,
        5 if limits.least_rank > 0 => 1,
        kind if kind > 0 && limits.equal_ranks => 1,
        kind => kind,
    };
    let (low, dimensions) = match kind {
        0 => return skeleton.shapes.push(high),
        // Equal ranks.
        1..=4 => (stretched(choices, result), choices.one_of(&[None, Some(true), Some(false)])),
        // A scalar.
        5 => (Vec::new(), choices.one_of(&[None, Some(false)])),
        _ => {
            let named = choices.below(1 << rank.min(16));
            let named: Vec<usize> = (0..rank).filter(|axis| named >> axis & 1 == 1).collect();
            let under: Vec<usize> = named.iter().map(|&axis| result[axis]).collect();
            skeleton.dimensions = Some(named.iter().map(|&axis| axis as i64).collect());
            (stretched(choices, &under), None)
        }
    };
    if let Some(identity) = dimensions {
        skeleton.dimensions = Some((0..if identity { low.len() as i64 } else { 0 }).collect());
    }
    skeleton.shapes = if choices.chance(1, 2) { vec![low, high] } else { vec![high, low] };
}

/// An operand on some axes of a target, in any order.
#[allow(clippy::cast_possible_wrap, reason = "ranks are small")]
fn in_dim(choices: &mut dyn Choices, skeleton: &mut Skeleton, mut target: Vec<usize>, limits: Limits) {
    let rank = target.len();
    // With equal lengths only the values show the order of the axes.
    let shortest = target.iter().copied().min().unwrap_or(0);
    if shortest > 1 && choices.chance(1, 3) {
        target.fill(shortest);
    }
    let named = if choices.chance(1, 4) { u64::MAX } else { choices.below(1 << rank.min(16)) };
    let mut named: Vec<usize> = (0..rank).filter(|axis| named >> axis.min(&63) & 1 == 1).collect();
    if limits.permuted && choices.chance(1, 2) {
        for last in (1..named.len()).rev() {
            named.swap(last, choices.index(last + 1));
        }
    }
    let under: Vec<usize> = named.iter().map(|&axis| target[axis]).collect();
    let list = named.iter().map(|&axis| axis as i64).collect();
    // An empty list is the same as none.
    skeleton.dimensions = if named.is_empty() && choices.chance(1, 2) { None } else { Some(list) };
    skeleton.shapes.push(stretched(choices, &under));
    skeleton.target = target;
}

fn theano(choices: &mut dyn Choices, skeleton: &mut Skeleton, result: &[usize], size: Size, limits: Limits) {
    skeleton.shapes = parts(choices, result, size, limits);
    skeleton.flags = flags(choices, &skeleton.shapes);
}

/// The flags of operands that are accepted under `theano`.
pub(super) fn flags(choices: &mut dyn Choices, shapes: &[Vec<usize>]) -> Vec<Option<Vec<bool>>> {
    let rank = shapes.iter().map(Vec::len).max().unwrap_or(0);
    let mut all = Vec::with_capacity(shapes.len());
    for shape in shapes {
        let lead = rank - shape.len();
        let is_stretched = |axis: usize| {
            shape[axis] == 1
                && shapes.iter().any(|other| {
                    (axis + lead).checked_sub(rank - other.len()).is_some_and(|axis| other[axis] != 1)
                })
        };
        let mut needed = false;
        let mut flags = Vec::with_capacity(shape.len());
        for (axis, &length) in shape.iter().enumerate() {
            let stretched = is_stretched(axis);
            needed |= stretched;
            flags.push(stretched || length == 1 && choices.chance(1, 2));
        }
        let absent = !needed && choices.chance(1, 2);
        all.push(if absent { None } else { Some(flags) });
    }
    all
}
