//! The innermost loop as a vectorised kernel sees it: where an element lies among whole vectors and the tail,
//! and which arguments are the same for all lanes.

use broadcheck_spec::{DType, Function, Scalar};

/// One element of a call in the innermost loop.
pub(crate) struct Lane<'a> {
    /// The function.
    pub(crate) function: Function,
    /// The arguments.
    pub(crate) arguments: &'a [Scalar],
    /// For each argument that is an operand, whether its stride in the innermost loop is 0.
    pub(crate) splats: &'a [Option<bool>],
    /// The position in the run.
    pub(crate) place: usize,
    /// The elements of the run.
    pub(crate) length: usize,
    /// The number of the run, from 0.
    pub(crate) run: usize,
}

impl Lane<'_> {
    /// The dtype of the values: that of the last argument.
    pub(crate) fn dtype(&self) -> DType {
        self.arguments[self.arguments.len() - 1].dtype()
    }

    /// Whether the element is in a whole vector of this width.
    pub(crate) fn in_vector(&self, width: usize) -> bool {
        self.place < self.length / width * width
    }

    /// Whether the element is in the tail after at least one whole vector.
    pub(crate) fn in_tail(&self, width: usize) -> bool {
        self.length > width && !self.in_vector(width)
    }

    /// Whether the argument at a position is an operand that is the same for all lanes.
    pub(crate) fn is_splat(&self, argument: usize) -> bool {
        self.splats.get(argument).copied().flatten() == Some(true)
    }

    /// Whether no argument is a splat.
    pub(crate) fn is_dense(&self) -> bool {
        !self.splats.contains(&Some(true))
    }
}

/// The decision about kernels.
#[derive(Clone)]
pub(crate) struct Lanes {
    /// The value of a lane, from the correct one.
    pub(crate) value: fn(&Lane<'_>, Scalar) -> Scalar,
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes { value: |_, value| value }
    }
}
