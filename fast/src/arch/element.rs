//! The types whose values some kernels move as bytes.

use super::stream::LINE;

/// An element type whose values may be loaded and stored as bytes, whole elements at a time. The trait is
/// sealed: nothing outside this directory can name it.
///
/// # Safety
/// The type has no padding, so all of its bytes are initialised. Its size divides a cache line. `Bits` has
/// the same size and alignment.
pub(super) unsafe trait Element: Copy + 'static {
    /// The unsigned type for which the kernels are compiled that only move values.
    type Bits: Bits;
}

/// An unsigned type for which kernels are compiled that only move values.
pub(super) trait Bits: Element {
    /// `if c { a } else { b }`, by a mask. Of a plain `if` over three slices, the compiler makes a load from
    /// one of two addresses, and no vectors: that takes up to 24 times as long (`benches/sweep`).
    fn select(c: bool, a: Self, b: Self) -> Self;
}

macro_rules! bits {
    ($($type:ident)*) => { $(
        impl Bits for $type {
            #[inline(always)]
            fn select(c: bool, a: $type, b: $type) -> $type {
                b ^ (a ^ b) & $type::from(c).wrapping_neg()
            }
        }
    )* };
}
bits! { u64 u32 u16 u8 }

/// An integer, of which every pattern of bits is a value.
pub(super) trait Integer: Element {}

macro_rules! elements {
    ($($type:ty: $bytes:literal $bits:ty;)*) => { $(
        const _: () = assert!(size_of::<$type>() == $bytes && LINE.is_multiple_of($bytes));
        const _: () = assert!(size_of::<$bits>() == $bytes && align_of::<$bits>() == align_of::<$type>());
        // SAFETY: all bytes of a primitive type belong to its value, and the assertions check the sizes.
        // Kernels move whole elements unchanged. So a bool, for which only two patterns of bits are valid,
        // stays valid; of the numbers, every pattern is.
        unsafe impl Element for $type {
            type Bits = $bits;
        }
    )* };
}
elements! {
    f64: 8 u64; f32: 4 u32;
    i64: 8 u64; i32: 4 u32; i16: 2 u16; i8: 1 u8;
    u64: 8 u64; u32: 4 u32; u16: 2 u16; u8: 1 u8;
    bool: 1 u8;
}

macro_rules! integers { ($($type:ty)*) => { $(impl Integer for $type {})* } }
integers! { i64 i32 i16 i8 u64 u32 u16 u8 }
