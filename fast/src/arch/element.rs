//! The types whose values some kernels move as bytes.

use super::stream::LINE;

/// An element type whose values may be loaded and stored as bytes, whole elements at a time. The trait is
/// sealed: nothing outside this directory can name it.
///
/// # Safety
/// The type has no padding, so all of its bytes are initialised. Its size divides a cache line.
pub(super) unsafe trait Element: Copy + 'static {}

macro_rules! elements {
    ($($type:ty: $bytes:literal)*) => { $(
        const _: () = assert!(size_of::<$type>() == $bytes && LINE.is_multiple_of($bytes));
        // SAFETY: all bytes of a primitive type belong to its value, and the assertion checks the size.
        // Kernels move whole elements unchanged. So a bool, for which only two patterns of bits are valid,
        // stays valid; of the numbers, every pattern is.
        unsafe impl Element for $type {}
    )* };
}
elements! { f64: 8 f32: 4 i64: 8 i32: 4 i16: 2 i8: 1 u64: 8 u32: 4 u16: 2 u8: 1 bool: 1 }
