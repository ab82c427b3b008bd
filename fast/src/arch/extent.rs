//! How far a kernel reaches into a slice. A kernel that uses pointers compares its extents with the lengths
//! of its slices before it touches memory, in release builds too.

/// One more than the largest index that a kernel reads or writes in a slice, or 0 if it touches nothing.
///
/// It is computed here alone, by arithmetic that cannot wrap: an extent beyond `usize::MAX` saturates, and no
/// slice has that many elements. If an extent is within a slice, then no index and no offset in bytes on the
/// way to one of its elements overflows, because no slice has more than `isize::MAX` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent(usize);

impl Extent {
    /// `count` adjacent elements.
    #[inline(always)]
    pub(super) fn of(count: usize) -> Extent {
        Extent(count)
    }

    /// `count` of these, each of which starts `step` elements after the one before.
    #[inline(always)]
    pub(super) fn repeated(self, count: usize, step: usize) -> Extent {
        match count {
            0 => Extent(0),
            // The step does not matter, and a short chain is noticeably faster without it.
            1 => self,
            _ => Extent((count - 1).saturating_mul(step).saturating_add(self.0)),
        }
    }

    /// The number of elements up to the last one, or `None` if that overflows.
    #[inline(always)]
    pub(super) fn elements(self) -> Option<usize> {
        (self.0 != usize::MAX).then_some(self.0)
    }

    /// Whether a slice has all of the elements.
    #[inline(always)]
    pub(super) fn is_within<T>(self, slice: &[T]) -> bool {
        const { assert!(size_of::<T>() != 0, "a slice of these can have `usize::MAX` elements") };
        self.0 <= slice.len()
    }
}
