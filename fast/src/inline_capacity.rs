//! Capacities of the short lists that a plan stores inline, so that planning over few operands of few axes
//! allocates nothing.
//!
//! A plan is moved after it is built, so every element of capacity costs time, used or not. The capacities of
//! lists that are part of a plan suffice for three operands of rank 3. Lists that exist only during planning
//! are not moved and have more.

use smallvec::{Array, SmallVec};

/// Operands of a plan.
pub(crate) const OPERANDS: usize = 3;

/// Positions of operands at a run. They are moved when it begins, so there is no room for many.
pub(crate) const POSITIONS: usize = 6;

/// Loops over tiles in a plan.
pub(crate) const LOOPS: usize = 3;

/// Steps of those loops in a plan, one for each operand and loop.
pub(crate) const LOOP_STEPS: usize = 6;

/// Axes in the patterns of a plan's operands within a tile.
pub(crate) const PATTERN_AXES: usize = 8;

/// Steps of a plan's program.
pub(crate) const STEPS: usize = 3;

/// Links of the chains of a plan's program.
pub(crate) const LINKS: usize = 4;

/// Links of a chain that runs without an allocation.
pub(crate) const CHAIN_LINKS: usize = 12;

/// Arguments of a nested expression that runs without an allocation.
pub(crate) const NESTED_ARGUMENTS: usize = 6;

/// Operands times axes during planning: four operands of rank 3, or three of rank 4.
pub(crate) const OPERAND_AXES: usize = 12;

/// Axes during planning.
pub(crate) const AXES: usize = 4;

/// Values of an expression during planning, including its operands.
pub(crate) const VALUES: usize = 8;

/// A list of `count` copies of a value.
#[inline]
pub(crate) fn filled<T: Copy, const N: usize>(value: T, count: usize) -> SmallVec<[T; N]>
where
    [T; N]: Array<Item = T>,
{
    if count <= N { SmallVec::from_buf_and_len([value; N], count) } else { SmallVec::from_elem(value, count) }
}
