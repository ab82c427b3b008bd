//! How operands are aligned with a result. This is what a rule set decides, and all that the rest of the
//! crate needs.

use broadcheck_spec::Shape;

/// How the operands are aligned with the result. It depends on shapes and attributes alone (clause G-4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// The shape of the result.
    pub shape: Shape,
    /// For each operand and each of its axes, the axis of the result that it is aligned with; `None` for an
    /// axis of length 1 that the rule set drops (clauses PDPD-3 and REPEAT-2).
    pub axes: Vec<Vec<Option<usize>>>,
    /// xla: the shape of the lower operand after the in-dim step (clause XLA-8); `None` at equal ranks.
    pub intermediate: Option<Shape>,
    /// theano: the flags of the result (clause THEANO-4).
    pub broadcastable: Option<Vec<bool>>,
}

impl Alignment {
    /// An alignment that maps every axis of every operand to an axis of the result, without further outputs.
    pub(crate) fn new(shape: Shape, axes: Vec<Vec<usize>>) -> Alignment {
        let axes = axes.into_iter().map(|axes| axes.into_iter().map(Some).collect()).collect();
        Alignment { shape, axes, intermediate: None, broadcastable: None }
    }

    /// The index of the operand's element that is read at an index of the result: on each axis, the position
    /// on the result's axis that it is aligned with, modulo the operand's length. That is 0 for a length of
    /// 1, and the position itself for the result's length.
    ///
    /// # Panics
    /// If there is no such operand, if it has a length of 0, or if the rank of the index differs from that of
    /// the result.
    pub fn operand_index(&self, operand: usize, operand_shape: &Shape, result_index: &[usize]) -> Vec<usize> {
        assert_eq!(result_index.len(), self.shape.rank(), "an index of the result");
        let mut index = Vec::with_capacity(operand_shape.rank());
        for (&length, &axis) in operand_shape.iter().zip(&self.axes[operand]) {
            index.push(match axis {
                Some(axis) => result_index[axis] % length,
                None => 0,
            });
        }
        index
    }
}
