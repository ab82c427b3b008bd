//! How much work a request is, computed from its shapes.

use broadcheck_spec::{DEFAULT_MAX_ELEMENTS, OperationKind, RuleSet};

/// What the amount of work depends on.
pub(super) struct Shapes<'a> {
    pub(super) set: RuleSet,
    pub(super) operation: OperationKind,
    pub(super) operands: &'a [Vec<usize>],
    pub(super) target: &'a [usize],
    pub(super) dimensions: Option<&'a [i64]>,
    pub(super) wrt: usize,
    /// The number of nodes of the expression.
    pub(super) nodes: usize,
}

/// Whether computing the request takes at most `most` function results. This holds if it is too large to be
/// computed at all.
pub(super) fn is_within(shapes: &Shapes<'_>, most: usize) -> bool {
    let fits =
        |elements: usize| elements > DEFAULT_MAX_ELEMENTS || elements.saturating_mul(shapes.nodes) <= most;
    computed(shapes).into_iter().all(fits)
}

/// An upper bound on the elements of each tensor that is computed.
fn computed(shapes: &Shapes<'_>) -> Vec<usize> {
    let mut all: Vec<&[usize]> = shapes.operands.iter().map(Vec::as_slice).collect();
    let mut counts = Vec::with_capacity(3);
    if shapes.operation == OperationKind::Broadcast {
        all.push(shapes.target);
    }
    if shapes.operation == OperationKind::Gradient {
        counts.push(count(all[shapes.wrt].iter().copied()));
    }
    if shapes.set == RuleSet::Xla && shapes.operation == OperationKind::Broadcast {
        counts.push(count(shapes.target.iter().copied()));
    } else if shapes.set == RuleSet::Xla && all.len() == 2 && all[0].len() != all[1].len() {
        counts.extend(in_dim(all[0], all[1], shapes.dimensions.unwrap_or_default()));
    } else {
        let rank = all.iter().map(|shape| shape.len()).max().unwrap_or(0);
        let own = |axis: usize, shape: &[usize]| match shapes.set {
            RuleSet::Leading => Some(axis),
            RuleSet::None
            | RuleSet::Numpy
            | RuleSet::Pdpd
            | RuleSet::Bidirectional
            | RuleSet::Xla
            | RuleSet::Theano
            | RuleSet::Repeat => (axis + shape.len()).checked_sub(rank),
        };
        let longest = |axis: usize| {
            let lengths = all.iter().filter_map(|shape| shape.get(own(axis, shape)?));
            lengths.copied().max().unwrap_or(1)
        };
        // Under pdpd and repeat the result has A's shape.
        counts.push(if matches!(shapes.set, RuleSet::Pdpd | RuleSet::Repeat) {
            count(all[0].iter().copied())
        } else {
            count((0..rank).map(longest))
        });
    }
    counts
}

/// Under xla with different ranks: the result, and the lower operand after the in-dim step.
fn in_dim(one: &[usize], other: &[usize], dimensions: &[i64]) -> [usize; 2] {
    let (low, high) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let (mut result, mut lower) = (high.to_vec(), high.to_vec());
    for (&length, &axis) in low.iter().zip(dimensions) {
        if let Some(axis) = usize::try_from(axis).ok().filter(|&axis| axis < high.len()) {
            result[axis] = high[axis].max(length);
            lower[axis] = length;
        }
    }
    [count(result.into_iter()), count(lower.into_iter())]
}

/// The product, with an empty axis counted as 1 because it need not stay empty.
fn count(lengths: impl Iterator<Item = usize>) -> usize {
    lengths.fold(1, |count, length| count.saturating_mul(length.max(1)))
}
