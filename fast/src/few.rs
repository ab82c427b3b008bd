//! Short lists that stand where they are used, without an allocation.

use smallvec::{Array, SmallVec};

/// A list of `count` times the same value.
#[inline]
pub(crate) fn filled<T: Copy, const N: usize>(value: T, count: usize) -> SmallVec<[T; N]>
where
    [T; N]: Array<Item = T>,
{
    if count <= N { SmallVec::from_buf_and_len([value; N], count) } else { SmallVec::from_elem(value, count) }
}
