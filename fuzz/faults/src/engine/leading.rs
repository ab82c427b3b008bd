//! Aligns operands at the first axis, for the rule set `leading`. The decisions about lengths are those of
//! `shapes`.

use super::Aligned;
use super::shapes::Shapes;
use broadcheck_spec::Refusal;

/// The decisions about alignment at the first axis.
#[derive(Clone)]
pub(crate) struct Leading {
    /// LEADING-1: how many axes of the result are left of an operand's axes, from the shapes, the operand's
    /// index and the rank.
    pub(crate) missing: fn(&[Vec<usize>], usize, usize) -> usize,
    /// LEADING-3: the result, from the common lengths and the shapes.
    pub(crate) result: fn(Vec<usize>, &[Vec<usize>]) -> Vec<usize>,
    /// G-6: the axis that a refusal names, from all that fail and the rank of the result.
    pub(crate) reported: fn(&[usize], usize) -> usize,
    /// LEADING-4: whether an operand of the first rank can be broadcast to a target of the second.
    pub(crate) rank_onto: fn(usize, usize) -> bool,
    /// INFER-13: the axis of a shape of the first rank on an axis of a result of the second.
    pub(crate) inferred: fn(usize, usize, usize) -> Option<usize>,
}

impl Default for Leading {
    fn default() -> Leading {
        Leading {
            missing: |_, _, _| 0,
            result: |lengths, _| lengths,
            reported: |failing, _| failing[0],
            rank_onto: |rank, target| rank <= target,
            inferred: |axis, own, _| (axis < own).then_some(axis),
        }
    }
}

impl Leading {
    pub(super) fn align(&self, shapes: &Shapes, operands: &[Vec<usize>]) -> Result<Aligned, Refusal> {
        self.with(shapes).numpy(operands)
    }

    pub(super) fn onto_target(
        &self,
        shapes: &Shapes,
        shape: &[usize],
        target: &[usize],
    ) -> Result<Aligned, Refusal> {
        self.with(shapes).onto_target(shape, target)
    }

    /// The decisions of `numpy`, except those about the side.
    fn with(&self, shapes: &Shapes) -> Shapes {
        Shapes {
            missing: self.missing,
            result: self.result,
            reported: self.reported,
            rank_onto: self.rank_onto,
            ..shapes.clone()
        }
    }
}
