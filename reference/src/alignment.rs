//! How operands lie under a result: what every rule set decides, and all that the rest of the crate knows of it.

use broadcheck_spec::Shape;

/// How the operands lie under the result: decided on shapes and attributes alone (clause G-4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alignment {
    /// The shape of the result.
    pub shape: Shape,
    /// For each operand, for each of its axes, the axis of the result that it lies on; `None` for a trailing
    /// axis of length 1 that the rule set drops (clause PDPD-3).
    pub axes: Vec<Vec<Option<usize>>>,
    /// xla: the shape of the lower operand after the in-dim step (clause XLA-8); `None` at equal ranks.
    pub intermediate: Option<Shape>,
    /// theano: the flags of the result (clause THEANO-4).
    pub broadcastable: Option<Vec<bool>>,
}

impl Alignment {
    /// The alignment of operands whose axes all lie on axes of the result, with nothing else to report.
    pub(crate) fn new(shape: Shape, axes: Vec<Vec<usize>>) -> Alignment {
        let axes = axes.into_iter().map(|axes| axes.into_iter().map(Some).collect()).collect();
        Alignment { shape, axes, intermediate: None, broadcastable: None }
    }

    /// The index at which the element of an operand stands that is read at an index of the result: on each
    /// axis the place on the result's axis below which it lies, and 0 where the operand's length is 1.
    ///
    /// # Panics
    /// Where there is no such operand, or an index of another rank than the result's is given.
    pub fn operand_index(&self, operand: usize, operand_shape: &Shape, result_index: &[usize]) -> Vec<usize> {
        assert_eq!(result_index.len(), self.shape.rank(), "an index of the result");
        let mut index = Vec::with_capacity(operand_shape.rank());
        for (&length, &axis) in operand_shape.iter().zip(&self.axes[operand]) {
            index.push(match axis {
                Some(axis) if length != 1 => result_index[axis],
                _ => 0,
            });
        }
        index
    }
}
