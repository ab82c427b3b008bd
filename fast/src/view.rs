//! An operand of one run of a [`SignaturePlan`](crate::SignaturePlan): a buffer, and the lengths that are
//! known only now.

use crate::buffers::Input;
use crate::lower::count;
use crate::problem::Form;
use crate::signature::Layout;
use broadcheck_spec::{DType, Operand, Shape};

/// A borrowed operand: a buffer with a shape and, if it is not dense, with strides and an offset.
///
/// ```
/// use broadcheck_fast::View;
///
/// let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let matrix = View::dense(&values[..], &[2, 3]);
/// let transposed = View::strided(&values[..], &[3, 2], &[1, 3], 0);
/// assert_eq!((matrix.shape(), transposed.shape()), (&[2, 3][..], &[3, 2][..]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    values: Input<'a>,
    shape: &'a [usize],
    strides: Option<&'a [i64]>,
    offset: usize,
}

impl<'a> View<'a> {
    /// A row-major tensor of this shape, which is the beginning of the buffer.
    #[inline]
    pub fn dense(values: impl Into<Input<'a>>, shape: &'a [usize]) -> View<'a> {
        View { values: values.into(), shape, strides: None, offset: 0 }
    }

    /// A strided view: the element at index i is at position `offset` + Σ i_k · `strides`_k, in elements. A
    /// stride may be negative or 0. A run checks that no position is outside the buffer.
    #[inline]
    pub fn strided(
        values: impl Into<Input<'a>>,
        shape: &'a [usize],
        strides: &'a [i64],
        offset: usize,
    ) -> View<'a> {
        View { values: values.into(), shape, strides: Some(strides), offset }
    }

    /// An operand of this shape whose buffer is empty, for planning alone.
    pub(crate) fn empty(dtype: DType, shape: &'a Shape) -> View<'a> {
        View { values: Input::empty(dtype), shape, strides: None, offset: 0 }
    }

    /// The dtype of the values.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// The lengths of the axes, outermost first.
    #[inline]
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    #[inline]
    pub(crate) fn values(&self) -> Input<'a> {
        self.values
    }

    #[inline]
    pub(crate) fn strides(&self) -> Option<&'a [i64]> {
        self.strides
    }

    #[inline]
    pub(crate) fn layout(&self) -> Layout<'a> {
        (self.dtype(), self.shape, self.strides.map(|strides| (strides, self.offset)))
    }

    /// The lowest position that a view with elements reaches.
    pub(crate) fn lowest(&self) -> i128 {
        let mut lowest = self.offset as i128;
        if self.shape.contains(&0) {
            return lowest;
        }
        for (&length, &stride) in self.shape.iter().zip(self.strides.unwrap_or(&[])) {
            let steps = (length as i128 - 1).saturating_mul(stride.min(0).into());
            lowest = lowest.saturating_add(steps);
        }
        lowest
    }

    /// What planning reads of the view.
    pub(crate) fn form(&self, broadcastable: Option<&'a [bool]>) -> Form<'a> {
        Form {
            dtype: self.dtype(),
            shape: self.shape,
            strides: self.strides,
            offset: self.offset,
            // A shape without a count is refused before this is used.
            values: count(self.shape).unwrap_or(usize::MAX),
            counted: false,
            broadcastable,
            reads_destination: false,
        }
    }
}

/// The operand without its declared shape and its flags, which belong to the signature.
impl<'a> From<&'a Operand> for View<'a> {
    fn from(operand: &'a Operand) -> View<'a> {
        View {
            values: operand.values().into(),
            shape: operand.shape().lengths(),
            strides: operand.strides(),
            offset: operand.offset(),
        }
    }
}
