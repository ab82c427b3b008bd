//! Short lists that stand where they are used, without an allocation: what is planned over few operands of few axes takes
//! none at all.

use smallvec::{Array, SmallVec};

/// So many operands have their places in a plan.
pub(crate) const OPERANDS: usize = 5;

/// So many loops over tiles, which is as many as a result has axes.
pub(crate) const LOOPS: usize = 4;

/// So many operands times axes: four operands of rank 3, or three of rank 4.
pub(crate) const CELLS: usize = 12;

/// So many values of an expression, its operands among them.
pub(crate) const VALUES: usize = 8;

/// So many steps of a program, and links of its chains.
pub(crate) const STEPS: usize = 6;

/// A list of `count` times the same value.
#[inline]
pub(crate) fn filled<T: Copy, const N: usize>(value: T, count: usize) -> SmallVec<[T; N]>
where
    [T; N]: Array<Item = T>,
{
    if count <= N { SmallVec::from_buf_and_len([value; N], count) } else { SmallVec::from_elem(value, count) }
}
