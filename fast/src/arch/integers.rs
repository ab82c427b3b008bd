//! The vectors of which [`chain`](super::chain)s of integers are made: sums, differences and products, which
//! wrap around (clause V-2) and so give the same bits whether the integers have signs or not. They are
//! unsigned here.

use super::chain::{ChainOp, Link};
use super::few;
use super::group::{ChainVector, fold, fold_shared, fold_two, read};
use super::vector::each;

/// A vector of one level, of unsigned integers. A single integer is a vector too, of width 1.
pub(super) trait IntegerVector: ChainVector {
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn negate(self) -> Self;
}

/// The values of `U` vectors of a chain, as [`ChainVector::compute`] has it. An operation that chains of
/// integers do not have leaves the values alone.
///
/// # Safety
/// As for [`ChainVector::compute`].
#[inline(always)]
unsafe fn compute<V: IntegerVector, const U: usize, const ROWS: usize>(
    first: &Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    from: [usize; 2],
) -> [V; U] {
    // SAFETY: the caller guarantees that all offsets are inside.
    unsafe {
        let mut a = read::<V, U, ROWS>(first, from);
        let mut rest = links;
        while let [link, others @ ..] = rest {
            rest = others;
            match (link.op, link.scalar) {
                (ChainOp::Add, false) => fold_shared::<V, U, ROWS>(&mut a, link, from, V::add),
                (ChainOp::Add, true) => fold::<V, U, ROWS, true>(&mut a, link, from, V::add),
                (ChainOp::Subtract, false) => fold_shared::<V, U, ROWS>(&mut a, link, from, V::subtract),
                (ChainOp::Subtract, true) => fold::<V, U, ROWS, true>(&mut a, link, from, V::subtract),
                (ChainOp::SubtractFrom, false) => {
                    fold::<V, U, ROWS, false>(&mut a, link, from, |a, b| b.subtract(a));
                }
                (ChainOp::SubtractFrom, true) => {
                    fold::<V, U, ROWS, true>(&mut a, link, from, |a, b| b.subtract(a));
                }
                (ChainOp::Multiply, false) => fold_shared::<V, U, ROWS>(&mut a, link, from, V::multiply),
                (ChainOp::Multiply, true) => fold::<V, U, ROWS, true>(&mut a, link, from, V::multiply),
                (ChainOp::PlusNext | ChainOp::MinusNext | ChainOp::TimesNext, _) => {
                    // A unary link may have no argument.
                    if let [next, others @ ..] = others
                        && !next.op.is_unary()
                    {
                        fold_two::<V, U, ROWS>(&mut a, link, next, from);
                        rest = others;
                    }
                }
                (ChainOp::Negate, _) => a = each!(a => a.negate()),
                (
                    ChainOp::Divide
                    | ChainOp::DivideInto
                    | ChainOp::Maximum
                    | ChainOp::Minimum
                    | ChainOp::Abs
                    | ChainOp::Sqrt
                    | ChainOp::Exp,
                    _,
                ) => {}
            }
        }
        a
    }
}

/// Implements [`ChainVector`] for an [`IntegerVector`], by its width and by how it is made and stored.
macro_rules! chain_vector {
    (
        $vector:ty, $element:ident, $width:literal,
        read: |$from:ident| $read:expr,
        spread: |$value:ident| $spread:expr,
        write: |$self:ident, $to:ident| $write:expr,
        write_non_temporal: |$that:ident, $target:ident| $write_non_temporal:expr
    ) => {
        impl ChainVector for $vector {
            type Element = $element;
            const WIDTH: usize = $width;

            #[inline(always)]
            unsafe fn read($from: *const $element) -> Self {
                // SAFETY: the caller guarantees the instructions and the elements. No alignment is needed.
                unsafe { $read }
            }
            #[inline(always)]
            unsafe fn spread($value: $element) -> Self {
                // SAFETY: the caller guarantees the instructions.
                #[allow(unused_unsafe, reason = "a single integer needs no instructions")]
                unsafe {
                    $spread
                }
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
            unsafe fn compute<const U: usize, const ROWS: usize, const KIND: u8>(
                first: &Link<'_, $element>,
                links: &[Link<'_, $element>],
                from: [usize; 2],
            ) -> [Self; U] {
                // SAFETY: guaranteed by the caller.
                unsafe { compute::<Self, U, ROWS>(first, links, from) }
            }
            #[inline(always)]
            unsafe fn begin_row<const KIND: u8>(
                first: &Link<'_, $element>,
                links: &[Link<'_, $element>],
                _fetches: bool,
                out: &mut [$element],
            ) -> usize {
                // With vectors of 64 bytes, of which there are more for each jump, the loops are no faster.
                if size_of::<Self>() == 64 {
                    return 0;
                }
                // SAFETY: guaranteed by the caller.
                unsafe { few::row::<Self>(first, links, out) }
            }
            #[inline(always)]
            fn two<const N: usize>(op: ChainOp, b: [Self; N], c: [Self; N]) -> [Self; N] {
                match op {
                    ChainOp::PlusNext => each!(b, c => b.add(c)),
                    ChainOp::MinusNext => each!(b, c => b.subtract(c)),
                    ChainOp::TimesNext => each!(b, c => b.multiply(c)),
                    ChainOp::Add
                    | ChainOp::Subtract
                    | ChainOp::SubtractFrom
                    | ChainOp::Multiply
                    | ChainOp::Divide
                    | ChainOp::DivideInto
                    | ChainOp::Maximum
                    | ChainOp::Minimum
                    | ChainOp::Negate
                    | ChainOp::Abs
                    | ChainOp::Sqrt
                    | ChainOp::Exp => b,
                }
            }
            #[inline(always)]
            fn take<const N: usize>(op: ChainOp, a: [Self; N], b: [Self; N]) -> [Self; N] {
                match op {
                    ChainOp::Add => each!(a, b => a.add(b)),
                    ChainOp::Subtract => each!(a, b => a.subtract(b)),
                    ChainOp::SubtractFrom => each!(a, b => b.subtract(a)),
                    ChainOp::Multiply => each!(a, b => a.multiply(b)),
                    ChainOp::Divide
                    | ChainOp::DivideInto
                    | ChainOp::Maximum
                    | ChainOp::Minimum
                    | ChainOp::PlusNext
                    | ChainOp::MinusNext
                    | ChainOp::TimesNext
                    | ChainOp::Negate
                    | ChainOp::Abs
                    | ChainOp::Sqrt
                    | ChainOp::Exp => a,
                }
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
            write_non_temporal: |value, to| *to = value
        }
        impl IntegerVector for $element {
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn negate(self) -> Self {
                self.wrapping_neg()
            }
        }
    )* };
}
single! { u64 u32 u16 u8 }

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::Lanes;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::*;
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
                write_non_temporal: |vector, to| $store_non_temporal(to.cast(), vector.0)
            }
            impl IntegerVector for Lanes<$element, $register> {
                #[inline(always)]
                fn add(self, other: Self) -> Self {
                    // SAFETY: a vector exists, so the machine has the instructions.
                    Lanes(unsafe { $add(self.0, other.0) }, PhantomData)
                }
                #[inline(always)]
                fn subtract(self, other: Self) -> Self {
                    // SAFETY: as in `add`.
                    Lanes(unsafe { $subtract(self.0, other.0) }, PhantomData)
                }
                #[inline(always)]
                fn multiply(self, other: Self) -> Self {
                    // SAFETY: as in `add`.
                    Lanes(unsafe { $multiply(self.0, other.0) }, PhantomData)
                }
                #[inline(always)]
                fn negate(self) -> Self {
                    // SAFETY: as in `add`.
                    Lanes(unsafe { $subtract($zero(), self.0) }, PhantomData)
                }
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
}
