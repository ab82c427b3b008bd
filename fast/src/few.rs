//! Short lists that stand where they are used, without an allocation: what is planned over few operands of few axes takes
//! none at all.

use smallvec::{Array, SmallVec};

/// So many operands have their places in a plan.
///
/// A plan is moved when it is made, so that every place in it takes time, used or not: there are as many as three operands
/// of rank 3 ask for. What is made on the way and not moved has more.
pub(crate) const OPERANDS: usize = 3;

/// So many loops over tiles stand in a plan.
pub(crate) const LOOPS: usize = 3;

/// So many steps of those loops, one for each operand and loop.
pub(crate) const MOVES: usize = 6;

/// So many pieces of what operands look like in a tile.
pub(crate) const PIECES: usize = 8;

/// So many steps of a program.
pub(crate) const STEPS: usize = 3;

/// So many links of its chains.
pub(crate) const LINKS: usize = 4;

/// So many operands times axes, on the way to a plan: four operands of rank 3, or three of rank 4.
pub(crate) const CELLS: usize = 12;

/// So many axes, on the way to a plan.
pub(crate) const AXES: usize = 4;

/// So many values of an expression, its operands among them, on the way to a plan.
pub(crate) const VALUES: usize = 8;

/// A list of `count` times the same value.
#[inline]
pub(crate) fn filled<T: Copy, const N: usize>(value: T, count: usize) -> SmallVec<[T; N]>
where
    [T; N]: Array<Item = T>,
{
    if count <= N { SmallVec::from_buf_and_len([value; N], count) } else { SmallVec::from_elem(value, count) }
}
