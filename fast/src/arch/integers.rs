//! The vectors of which [`chain`](super::chain)s of integers are made: sums, differences and products, which
//! wrap around (clause V-2) and so give the same bits whether the integers have signs or not. They are
//! unsigned here.

use super::chain::{self, ARITHMETIC, How, Link};
use super::few;
use super::group::ChainVector;
use super::simd::{Portable, Simd};

/// Implements [`ChainVector`] for a vector of unsigned integers, by how it is made, stored and computed with.
macro_rules! chain_vector {
    (
        $vector:ty, $element:ident, $width:literal,
        read: |$from:ident| $read:expr,
        spread: |$value:ident| $spread:expr,
        write: |$self:ident, $to:ident| $write:expr,
        write_non_temporal: |$that:ident, $target:ident| $write_non_temporal:expr,
        add: |$a:ident, $b:ident| $add:expr,
        subtract: |$c:ident, $d:ident| $subtract:expr,
        multiply: |$e:ident, $f:ident| $multiply:expr,
        negate: |$g:ident| $negate:expr
    ) => {
        #[allow(unused_unsafe, reason = "a single integer needs no instructions")]
        impl ChainVector for $vector {
            type Element = $element;
            const WIDTH: usize = $width;
            const ARE_FLOATS: bool = false;

            #[inline(always)]
            unsafe fn read($from: *const $element) -> Self {
                // SAFETY: the caller guarantees the instructions and the elements. No alignment is needed.
                unsafe { $read }
            }
            #[inline(always)]
            unsafe fn spread($value: $element) -> Self {
                // SAFETY: the caller guarantees the instructions.
                unsafe { $spread }
            }
            #[inline(always)]
            unsafe fn write(self, $to: *mut $element) {
                let $self = self;
                // SAFETY: the caller guarantees the writable elements. No alignment is needed.
                unsafe { $write }
            }
            #[inline(always)]
            unsafe fn write_non_temporal(self, $target: *mut $element) {
                let $that = self;
                // SAFETY: the caller guarantees the writable elements and their alignment.
                unsafe { $write_non_temporal }
            }
            #[inline(always)]
            unsafe fn begin_row<L: Simd, const KIND: u8>(
                first: &Link<'_, $element>,
                links: &[Link<'_, $element>],
                _fetches: bool,
                out: &mut [$element],
            ) -> usize {
                // With vectors of 64 bytes, of which there are more for each jump, these loops are no faster.
                if const { size_of::<Self>() == 64 } {
                    return 0;
                }
                match few::Row::<Self>::of(first, links, out) {
                    // SAFETY: guaranteed by the caller.
                    Some(row) => unsafe { L::section(row) },
                    None => 0,
                }
            }
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                let ($a, $b) = (self, b);
                // SAFETY: a vector exists, so the machine has the instructions.
                unsafe { $add }
            }
            #[inline(always)]
            fn subtract(self, b: Self) -> Self {
                let ($c, $d) = (self, b);
                // SAFETY: as in `add`.
                unsafe { $subtract }
            }
            #[inline(always)]
            fn multiply(self, b: Self) -> Self {
                let ($e, $f) = (self, b);
                // SAFETY: as in `add`.
                unsafe { $multiply }
            }
            #[inline(always)]
            fn negate(self) -> Self {
                let $g = self;
                // SAFETY: as in `add`.
                unsafe { $negate }
            }
            #[inline(always)]
            fn divide(self, _: Self) -> Self {
                self
            }
            #[inline(always)]
            fn maximum(self, _: Self) -> Self {
                self
            }
            #[inline(always)]
            fn minimum(self, _: Self) -> Self {
                self
            }
            #[inline(always)]
            fn at_least(self, _: Self) -> Self {
                self
            }
            #[inline(always)]
            fn at_most(self, _: Self) -> Self {
                self
            }
            #[inline(always)]
            fn is_limit(_: $element) -> bool {
                false
            }
            #[inline(always)]
            fn is_zero(_: $element) -> bool {
                false
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self
            }
            #[inline(always)]
            fn exp<const U: usize>(a: [Self; U]) -> [Self; U] {
                a
            }
            #[inline(always)]
            fn tanh<const U: usize>(a: [Self; U]) -> [Self; U] {
                a
            }
        }
    };
}

/// Single integers.
macro_rules! single {
    ($($element:ident)*) => { $(
        chain_vector! {
            $element, $element, 1,
            read: |from| *from,
            spread: |value| value,
            write: |value, to| *to = value,
            write_non_temporal: |value, to| *to = value,
            add: |a, b| a.wrapping_add(b),
            subtract: |a, b| a.wrapping_sub(b),
            multiply: |a, b| a.wrapping_mul(b),
            negate: |a| a.wrapping_neg()
        }
    )* };
}
single! { u64 u32 u16 u8 }

/// A vector of integers with the loops that depend on its level.
///
/// # Safety
/// The methods of [`ChainVector`] need no other instructions than those of `Level`.
pub(super) unsafe trait LevelIntegers: ChainVector {
    /// The level of the vector. Only the entry points of this level accept the vector.
    type Level: Simd;

    /// [`chain::run`].
    ///
    /// # Safety
    /// The machine has the level's instructions.
    unsafe fn chain<const NON_TEMPORAL: bool>(
        first: &Link<'_, Self::Element>,
        links: &mut [Link<'_, Self::Element>],
        rows: usize,
        out: &mut [Self::Element],
    );
}

/// Implements [`LevelIntegers`] for the vectors of a level, whose instructions they use: `group` is the
/// number of vectors in a group of a chain, half of the level's registers, and `non_temporal` is
/// `NON_TEMPORAL` if the level has non-temporal stores, otherwise `false`.
macro_rules! level_integers {
    ($level:ident, group: $group:literal, non_temporal: $non_temporal:tt, $($vector:ty),*) => { $(
        // SAFETY: the use of this macro names the level whose instructions the vector uses.
        unsafe impl LevelIntegers for $vector {
            type Level = $level;

            #[inline(always)]
            unsafe fn chain<const NON_TEMPORAL: bool>(
                first: &Link<'_, Self::Element>,
                links: &mut [Link<'_, Self::Element>],
                rows: usize,
                out: &mut [Self::Element],
            ) {
                let how = How::new($non_temporal, false);
                // SAFETY: the caller guarantees that the machine has the level's instructions, and so those
                // of this vector.
                unsafe {
                    chain::run::<$level, Self, $group, ARITHMETIC, $non_temporal>(first, (links, how), rows, out);
                }
            }
        }
    )* };
}

#[cfg(not(target_arch = "x86_64"))]
level_integers! { Portable, group: 8, non_temporal: false, u64, u32, u16, u8 }

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::Lanes;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::*;
    use crate::arch::simd::{Avx2, Avx512};
    use std::arch::x86_64::*;
    use std::marker::PhantomData;

    /// A register of integers of a type.
    #[derive(Clone, Copy)]
    #[repr(transparent)]
    pub(crate) struct Lanes<T, R>(R, PhantomData<T>);

    /// The vectors of integers of a register, by the intrinsics of each operation.
    macro_rules! vectors {
        (
            $register:ident, load: $load:ident, store: $store:ident,
            store_non_temporal: $store_non_temporal:ident, zero: $zero:ident;
            $($element:ident: $width:literal $splat:ident $add:ident $subtract:ident $multiply:path;)*
        ) => { $(
            chain_vector! {
                Lanes<$element, $register>, $element, $width,
                read: |from| Lanes($load(from.cast()), PhantomData),
                spread: |value| Lanes($splat(value.cast_signed()), PhantomData),
                write: |vector, to| $store(to.cast(), vector.0),
                write_non_temporal: |vector, to| $store_non_temporal(to.cast(), vector.0),
                add: |a, b| Lanes($add(a.0, b.0), PhantomData),
                subtract: |a, b| Lanes($subtract(a.0, b.0), PhantomData),
                multiply: |a, b| Lanes($multiply(a.0, b.0), PhantomData),
                negate: |a| Lanes($subtract($zero(), a.0), PhantomData)
            }
        )* };
    }

    /// The products of registers of bytes, by those of 16 bits: of the even bytes, and of the odd ones.
    ///
    /// The function is unsafe to call: the machine must have the instructions that are named.
    macro_rules! multiply_bytes {
        ($name:ident, $register:ident, $multiply:ident, $shift:ident, $splat:ident, $and:ident, $or:ident) => {
            /// # Safety
            /// The machine has the instructions of the register.
            #[inline(always)]
            unsafe fn $name(a: $register, b: $register) -> $register {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    let even = $and($multiply(a, b), $splat(0xff));
                    // The lower byte of the second factor is 0, and so is that of the product.
                    let odd = $multiply($shift::<8>(a), $and(b, $splat(0xff00u16.cast_signed())));
                    $or(even, odd)
                }
            }
        };
    }
    multiply_bytes! {
        multiply_8_sse2, __m128i, _mm_mullo_epi16, _mm_srli_epi16, _mm_set1_epi16, _mm_and_si128, _mm_or_si128
    }
    multiply_bytes! {
        multiply_8_avx2, __m256i, _mm256_mullo_epi16, _mm256_srli_epi16, _mm256_set1_epi16, _mm256_and_si256,
        _mm256_or_si256
    }
    multiply_bytes! {
        multiply_8_avx512, __m512i, _mm512_mullo_epi16, _mm512_srli_epi16, _mm512_set1_epi16,
        _mm512_and_si512, _mm512_or_si512
    }

    /// The products of registers of 64 bits, by those of 32 bits: the product of the lower halves, and, 32
    /// bits higher, the lower halves of the mixed products.
    macro_rules! multiply_quads {
        ($name:ident, $register:ident, $multiply:ident, $add:ident, $right:ident, $left:ident) => {
            /// # Safety
            /// The machine has the instructions of the register.
            #[inline(always)]
            unsafe fn $name(a: $register, b: $register) -> $register {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    let mixed = $add($multiply($right::<32>(a), b), $multiply(a, $right::<32>(b)));
                    $add($multiply(a, b), $left::<32>(mixed))
                }
            }
        };
    }
    multiply_quads! {
        multiply_64_sse2, __m128i, _mm_mul_epu32, _mm_add_epi64, _mm_srli_epi64, _mm_slli_epi64
    }
    multiply_quads! {
        multiply_64_avx2, __m256i, _mm256_mul_epu32, _mm256_add_epi64, _mm256_srli_epi64, _mm256_slli_epi64
    }

    /// The products of registers of 32 bits, of which SSE2 has only those of every second one, with 64 bits.
    ///
    /// # Safety
    /// The machine has SSE2.
    #[inline(always)]
    unsafe fn multiply_32_sse2(a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let even = _mm_mul_epu32(a, b);
            let odd = _mm_mul_epu32(_mm_srli_epi64::<32>(a), _mm_srli_epi64::<32>(b));
            let (even, odd) = (_mm_shuffle_epi32::<0b1000>(even), _mm_shuffle_epi32::<0b1000>(odd));
            _mm_unpacklo_epi32(even, odd)
        }
    }

    vectors! {
        __m128i, load: _mm_loadu_si128, store: _mm_storeu_si128, store_non_temporal: _mm_stream_si128,
        zero: _mm_setzero_si128;
        u64: 2 _mm_set1_epi64x _mm_add_epi64 _mm_sub_epi64 multiply_64_sse2;
        u32: 4 _mm_set1_epi32 _mm_add_epi32 _mm_sub_epi32 multiply_32_sse2;
        u16: 8 _mm_set1_epi16 _mm_add_epi16 _mm_sub_epi16 _mm_mullo_epi16;
        u8: 16 _mm_set1_epi8 _mm_add_epi8 _mm_sub_epi8 multiply_8_sse2;
    }
    vectors! {
        __m256i, load: _mm256_loadu_si256, store: _mm256_storeu_si256,
        store_non_temporal: _mm256_stream_si256, zero: _mm256_setzero_si256;
        u64: 4 _mm256_set1_epi64x _mm256_add_epi64 _mm256_sub_epi64 multiply_64_avx2;
        u32: 8 _mm256_set1_epi32 _mm256_add_epi32 _mm256_sub_epi32 _mm256_mullo_epi32;
        u16: 16 _mm256_set1_epi16 _mm256_add_epi16 _mm256_sub_epi16 _mm256_mullo_epi16;
        u8: 32 _mm256_set1_epi8 _mm256_add_epi8 _mm256_sub_epi8 multiply_8_avx2;
    }
    vectors! {
        __m512i, load: _mm512_loadu_si512, store: _mm512_storeu_si512,
        store_non_temporal: _mm512_stream_si512, zero: _mm512_setzero_si512;
        u64: 8 _mm512_set1_epi64 _mm512_add_epi64 _mm512_sub_epi64 _mm512_mullo_epi64;
        u32: 16 _mm512_set1_epi32 _mm512_add_epi32 _mm512_sub_epi32 _mm512_mullo_epi32;
        u16: 32 _mm512_set1_epi16 _mm512_add_epi16 _mm512_sub_epi16 _mm512_mullo_epi16;
        u8: 64 _mm512_set1_epi8 _mm512_add_epi8 _mm512_sub_epi8 multiply_8_avx512;
    }

    level_integers! {
        Portable, group: 8, non_temporal: NON_TEMPORAL,
        Lanes<u64, __m128i>, Lanes<u32, __m128i>, Lanes<u16, __m128i>, Lanes<u8, __m128i>
    }
    level_integers! {
        Avx2, group: 8, non_temporal: NON_TEMPORAL,
        Lanes<u64, __m256i>, Lanes<u32, __m256i>, Lanes<u16, __m256i>, Lanes<u8, __m256i>
    }
    level_integers! {
        Avx512, group: 16, non_temporal: NON_TEMPORAL,
        Lanes<u64, __m512i>, Lanes<u32, __m512i>, Lanes<u16, __m512i>, Lanes<u8, __m512i>
    }
}
