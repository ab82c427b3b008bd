//! Aligns operands with the result, for the rule sets that align on the right (`none`, `numpy`,
//! `bidirectional`), and makes the decisions that all rule sets share: the number of operands, the common
//! length.

use super::Aligned;
use broadcheck_spec::{Operand, Refusal, RefusalKind, RuleSet};

/// The common length of two lengths.
pub(crate) type Common = fn(usize, usize) -> Option<usize>;

/// The shapes of the operands, from these and whether the expression uses each.
pub(crate) type Given = fn(Vec<Vec<usize>>, &[bool]) -> Vec<Vec<usize>>;

/// The decisions about shapes.
#[derive(Clone)]
pub(crate) struct Shapes {
    /// G-5: whether the rule set accepts this many operands.
    pub(crate) operand_count: fn(RuleSet, usize) -> bool,
    /// The lengths of an operand's axes.
    pub(crate) lengths: fn(&Operand) -> Vec<usize>,
    /// G-5: whether an operand counts for the common shape, from whether the expression uses it.
    pub(crate) takes_part: fn(bool) -> bool,
    /// The shapes that are aligned, from those of the operands and whether the expression uses each.
    pub(crate) given: Given,
    /// Whether these shapes can be compatible at all.
    pub(crate) possible: fn(&[Vec<usize>]) -> bool,
    /// G-2: the common length of two lengths.
    pub(crate) common: Common,
    /// NUMPY-2: the common length of all operands on an axis.
    pub(crate) all: fn(&[usize], Common) -> Option<usize>,
    /// The rank of the result.
    pub(crate) rank: fn(&[Vec<usize>]) -> usize,
    /// NUMPY-1: how many axes of the result are left of an operand's axes, from the shapes, the operand's
    /// index and the rank.
    pub(crate) missing: fn(&[Vec<usize>], usize, usize) -> usize,
    /// NUMPY-3: the result, from the common lengths and the shapes.
    pub(crate) result: fn(Vec<usize>, &[Vec<usize>]) -> Vec<usize>,
    /// G-6: the axis that a refusal names, from all that fail and the rank of the result.
    pub(crate) reported: fn(&[usize], usize) -> usize,
    /// NONE-1: whether the ranks of these shapes are compatible.
    pub(crate) equal_ranks: fn(&[Vec<usize>]) -> bool,
    /// NONE-2: whether these lengths are compatible.
    pub(crate) equal_lengths: fn(&[usize]) -> bool,
    /// NUMPY-5: whether an operand of the first rank can be broadcast to a target of the second.
    pub(crate) rank_onto: fn(usize, usize) -> bool,
    /// NUMPY-5: the length of the result, from a length and the target's.
    pub(crate) onto: Common,
    /// BIDI-1, BIDI-2: the length of the result, from a length and the target's.
    pub(crate) toward: Common,
}

impl Default for Shapes {
    fn default() -> Shapes {
        Shapes {
            operand_count: |set, count| set.operands().allows(count),
            lengths: |operand| operand.shape().to_vec(),
            takes_part: |_| true,
            given: |shapes, _| shapes,
            possible: |_| true,
            common,
            all: |lengths, common| lengths.iter().try_fold(1, |so_far, &length| common(so_far, length)),
            rank: |shapes| shapes.iter().map(Vec::len).max().unwrap_or(0),
            missing: |shapes, operand, rank| rank.saturating_sub(shapes[operand].len()),
            result: |lengths, _| lengths,
            reported: |failing, _| failing[0],
            equal_ranks: |shapes| shapes.iter().all(|shape| shape.len() == shapes[0].len()),
            equal_lengths: |lengths| lengths.iter().all(|&length| length == lengths[0]),
            rank_onto: |rank, target| rank <= target,
            onto: |length, wanted| (length == wanted || length == 1).then_some(wanted),
            toward: common,
        }
    }
}

/// G-2: the lengths are equal, or one is 1 and the other is taken.
pub(crate) fn common(a: usize, b: usize) -> Option<usize> {
    match (a, b) {
        _ if a == b || b == 1 => Some(a),
        (1, _) => Some(b),
        _ => None,
    }
}

impl Shapes {
    pub(super) fn numpy(&self, shapes: &[Vec<usize>]) -> Result<Aligned, Refusal> {
        self.right_aligned(shapes, &|lengths| (self.all)(lengths, self.common))
    }

    pub(super) fn none(&self, shapes: &[Vec<usize>]) -> Result<Aligned, Refusal> {
        if !(self.equal_ranks)(shapes) {
            return Err(Refusal::new(RefusalKind::RankMismatch, "none requires equal ranks"));
        }
        // Only a scalar can lack an axis here, and only if a fault accepted it.
        let own = |lengths: &[usize]| -> Vec<usize> {
            shapes
                .iter()
                .zip(lengths)
                .filter(|(shape, _)| !shape.is_empty())
                .map(|(_, &length)| length)
                .collect()
        };
        let longest = |lengths: &[usize]| lengths.iter().copied().find(|&length| length != 1).unwrap_or(1);
        self.right_aligned(shapes, &|lengths| (self.equal_lengths)(&own(lengths)).then(|| longest(lengths)))
    }

    /// NUMPY-5: `broadcast` in one direction.
    pub(super) fn onto_target(&self, shape: &[usize], target: &[usize]) -> Result<Aligned, Refusal> {
        if !(self.rank_onto)(shape.len(), target.len()) {
            return Err(Refusal::new(RefusalKind::RankMismatch, "the target has the lower rank"));
        }
        self.with_target(shape, target, self.onto)
    }

    /// BIDI-1: `broadcast` in both directions.
    pub(super) fn toward_target(&self, shape: &[usize], target: &[usize]) -> Result<Aligned, Refusal> {
        self.with_target(shape, target, self.toward)
    }

    fn with_target(&self, shape: &[usize], target: &[usize], length: Common) -> Result<Aligned, Refusal> {
        let shapes = [shape.to_vec(), target.to_vec()];
        let mut aligned = self.right_aligned(&shapes, &|lengths| length(lengths[0], lengths[1]))?;
        aligned.axes.truncate(1);
        Ok(aligned)
    }

    /// Aligns operands at their last axes.
    fn right_aligned(
        &self,
        shapes: &[Vec<usize>],
        common: &dyn Fn(&[usize]) -> Option<usize>,
    ) -> Result<Aligned, Refusal> {
        if !(self.possible)(shapes) {
            return Err(Refusal::new(RefusalKind::DimensionMismatch, "these shapes are not compatible"));
        }
        let rank = (self.rank)(shapes);
        let axes: Vec<Vec<Option<usize>>> = (0..shapes.len())
            .map(|operand| {
                let missing = (self.missing)(shapes, operand, rank);
                (0..shapes[operand].len())
                    .map(|axis| Some(missing + axis).filter(|&axis| axis < rank))
                    .collect()
            })
            .collect();
        let (mut lengths, mut failing) = (Vec::with_capacity(rank), Vec::new());
        for axis in 0..rank {
            let meeting = lengths_on(axis, shapes, &axes);
            match common(&meeting) {
                Some(length) => lengths.push(length),
                None => failing.push(axis),
            }
        }
        if !failing.is_empty() {
            let axis = (self.reported)(&failing, rank);
            return Err(Refusal::new(RefusalKind::DimensionMismatch, "lengths differ").at_axis(axis));
        }
        Ok(Aligned::new((self.result)(lengths, shapes), axes))
    }
}

/// The lengths on an axis of the result: 1 if a shape lacks the axis.
pub(super) fn lengths_on(axis: usize, shapes: &[Vec<usize>], axes: &[Vec<Option<usize>>]) -> Vec<usize> {
    let length = |(shape, axes): (&Vec<usize>, &Vec<Option<usize>>)| {
        axes.iter().position(|&place| place == Some(axis)).map_or(1, |place| shape[place])
    };
    shapes.iter().zip(axes).map(length).collect()
}
