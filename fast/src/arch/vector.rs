//! Vectors of each level, behind one trait: what is written over it is compiled for every level, and keeps its values in
//! registers where plain loops would send them through memory.
//!
//! Making a vector is unsafe: it asks for the level's instructions. Whoever holds one may use them, so that everything
//! that is done with vectors is safe.

/// How many entries a table has that vectors look up.
pub(crate) const ENTRIES: usize = 16;

/// A vector of a level.
pub(crate) trait Vector: Copy {
    type Element: Copy;
    const WIDTH: usize;
    /// How many are worked on at once: half of the level's registers.
    const MANY: usize;
    /// How many are worked on at once where a function takes registers of its own: 2 or 4.
    const FEW: usize;
    /// Whether there are stores past the caches.
    const STREAMS: bool;

    /// # Safety
    /// The level's instructions are there, and `WIDTH` elements.
    unsafe fn load(from: *const Self::Element) -> Self;
    /// # Safety
    /// The level's instructions are there.
    unsafe fn splat(value: Self::Element) -> Self;
    /// # Safety
    /// There are `WIDTH` places.
    unsafe fn store(self, to: *mut Self::Element);
    /// Past the caches.
    ///
    /// # Safety
    /// There are `WIDTH` places, and `to` stands on a boundary of the vector's size.
    unsafe fn stream(self, to: *mut Self::Element);

    /// One value in every place; `self` is not looked at.
    fn like(self, value: Self::Element) -> Self;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn divide(self, other: Self) -> Self;
    fn negate(self) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// `if self > most { most } else { self }`: a NaN stays.
    fn at_most(self, most: Self) -> Self;
    /// `if self < least { least } else { self }`: a NaN stays.
    fn at_least(self, least: Self) -> Self;
    /// `if self > limit { above } else { other }`.
    fn choose(self, limit: Self, above: Self, other: Self) -> Self;
    /// Whether any place is above the limit.
    fn any_above(self, limit: Self) -> bool;
    /// The bits of each place, moved to the left.
    fn shift_left(self, by: i32) -> Self;
    /// The bits of each place, moved to the right.
    fn shift_right(self, by: i32) -> Self;
    fn and_bits(self, other: Self) -> Self;
    fn or_bits(self, other: Self) -> Self;
    /// Sums of the bits as integers.
    fn add_bits(self, other: Self) -> Self;
    /// Differences of the bits as integers.
    fn subtract_bits(self, other: Self) -> Self;
    /// The entry that the last bits of each place name.
    fn look_up(self, table: &[Self::Element; ENTRIES]) -> Self;
    /// e^x, of several at once.
    fn exp<const U: usize>(x: [Self; U]) -> [Self; U];
}

/// An expression for each of several vectors, or place by place of several lists of them. A macro, for a closure that the compiler leaves by
/// itself is compiled without the level's instructions.
macro_rules! each {
    ($first:ident $(, $more:ident)* => $body:expr) => {{
        let mut all = $first;
        for k in 0..all.len() {
            let $first = all[k];
            $(let $more = $more[k];)*
            all[k] = $body;
        }
        all
    }};
}
pub(crate) use each;

/// Whether any place of several vectors is further from 0 than a limit; a NaN is not.
#[inline(always)]
pub(crate) fn any_beyond<V: Vector, const U: usize>(x: [V; U], zero: V, limit: V) -> bool {
    let mut most = zero;
    for x in x {
        most = most.at_least(x.abs());
    }
    most.any_above(limit)
}

/// A vector of one: the rest that fills no vector, with the same operations.
macro_rules! single {
    ($($type:ident $bits:ident $exp:path;)*) => { $(
        #[allow(clippy::cast_possible_truncation, reason = "the last four bits are left")]
        impl Vector for $type {
            type Element = $type;
            const WIDTH: usize = 1;
            const MANY: usize = 8;
            const FEW: usize = 4;
            const STREAMS: bool = false;
            #[inline(always)]
            unsafe fn load(from: *const $type) -> $type {
                // SAFETY: the caller's: one element stands there.
                unsafe { *from }
            }
            #[inline(always)]
            unsafe fn splat(value: $type) -> $type { value }
            #[inline(always)]
            unsafe fn store(self, to: *mut $type) {
                // SAFETY: the caller's: one place stands there.
                unsafe { *to = self }
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut $type) {
                // SAFETY: the caller's: one place stands there.
                unsafe { *to = self }
            }
            #[inline(always)]
            fn like(self, value: $type) -> $type { value }
            #[inline(always)]
            fn add(self, other: $type) -> $type { self + other }
            #[inline(always)]
            fn subtract(self, other: $type) -> $type { self - other }
            #[inline(always)]
            fn multiply(self, other: $type) -> $type { self * other }
            #[inline(always)]
            fn divide(self, other: $type) -> $type { self / other }
            #[inline(always)]
            fn negate(self) -> $type { -self }
            #[inline(always)]
            fn abs(self) -> $type { $type::abs(self) }
            #[inline(always)]
            fn sqrt(self) -> $type { $type::sqrt(self) }
            #[inline(always)]
            fn at_most(self, most: $type) -> $type { if self > most { most } else { self } }
            #[inline(always)]
            fn at_least(self, least: $type) -> $type { if self < least { least } else { self } }
            #[inline(always)]
            fn choose(self, limit: $type, above: $type, other: $type) -> $type {
                if self > limit { above } else { other }
            }
            #[inline(always)]
            fn any_above(self, limit: $type) -> bool { self > limit }
            #[inline(always)]
            fn shift_left(self, by: i32) -> $type { $type::from_bits(self.to_bits() << by) }
            #[inline(always)]
            fn shift_right(self, by: i32) -> $type { $type::from_bits(self.to_bits() >> by) }
            #[inline(always)]
            fn and_bits(self, other: $type) -> $type { $type::from_bits(self.to_bits() & other.to_bits()) }
            #[inline(always)]
            fn or_bits(self, other: $type) -> $type { $type::from_bits(self.to_bits() | other.to_bits()) }
            #[inline(always)]
            fn add_bits(self, other: $type) -> $type {
                $type::from_bits(self.to_bits().wrapping_add(other.to_bits()))
            }
            #[inline(always)]
            fn subtract_bits(self, other: $type) -> $type {
                $type::from_bits(self.to_bits().wrapping_sub(other.to_bits()))
            }
            #[inline(always)]
            fn look_up(self, table: &[$type; ENTRIES]) -> $type {
                table[self.to_bits() as usize % ENTRIES]
            }
            #[inline(always)]
            fn exp<const U: usize>(x: [$type; U]) -> [$type; U] { $exp(x) }
        }
    )* };
}
single! {
    f64 u64 super::double::exp;
    f32 u32 super::single::exp;
}

/// What intrinsics give, behind the trait. The names come in the order of the trait's methods.
#[cfg(target_arch = "x86_64")]
macro_rules! vectors {
    ($(
        $vector:ident $type:ident, $width:literal by $many:literal $few:literal, $exp:path;
        $load:ident $splat:ident $store:ident $stream:ident;
        $add:ident $subtract:ident $multiply:ident $divide:ident $sqrt:ident $at_most:ident $at_least:ident;
        $as_integer:ident $as_float:ident $splat_bits:ident $bits:ident;
        $left:ident $right:ident $and:ident $or:ident $xor:ident $add_bits:ident $subtract_bits:ident;
        $choose:ident $any_above:ident $look_up:ident;
    )*) => { $(
        impl Vector for $vector {
            type Element = $type;
            const WIDTH: usize = $width;
            const MANY: usize = $many;
            const FEW: usize = $few;
            const STREAMS: bool = true;
            #[inline(always)]
            unsafe fn load(from: *const $type) -> Self {
                // SAFETY: the caller's: the instructions are there, and so many elements. No alignment is asked.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn splat(value: $type) -> Self {
                // SAFETY: the caller's: the instructions are there.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $type) {
                // SAFETY: the caller's: so many places. No alignment is asked.
                unsafe { $store(to, self) }
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut $type) {
                // SAFETY: the caller's: so many places, on such a boundary.
                unsafe { $stream(to, self) }
            }
            #[inline(always)]
            fn like(self, value: $type) -> Self {
                // SAFETY: there is a vector, so the instructions are there.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            fn negate(self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $as_float($xor($as_integer(self), $as_integer($splat(-0.0)))) }
            }
            #[inline(always)]
            fn abs(self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $as_float($and($as_integer(self), $splat_bits($bits::MAX))) }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $sqrt(self) }
            }
            #[inline(always)]
            fn shift_left(self, by: i32) -> Self {
                // SAFETY: as in `like`.
                unsafe { $as_float($left($as_integer(self), _mm_cvtsi32_si128(by))) }
            }
            #[inline(always)]
            fn shift_right(self, by: i32) -> Self {
                // SAFETY: as in `like`.
                unsafe { $as_float($right($as_integer(self), _mm_cvtsi32_si128(by))) }
            }
            #[inline(always)]
            fn choose(self, limit: Self, above: Self, other: Self) -> Self { $choose(self, limit, above, other) }
            #[inline(always)]
            fn any_above(self, limit: Self) -> bool { $any_above(self, limit) }
            #[inline(always)]
            fn look_up(self, table: &[$type; ENTRIES]) -> Self { $look_up(self, table) }
            #[inline(always)]
            fn exp<const U: usize>(x: [Self; U]) -> [Self; U] { $exp(x) }
            vectors! { @ floats add $add, subtract $subtract, multiply $multiply, divide $divide }
            vectors! { @ reversed at_most $at_most, at_least $at_least }
            vectors! { @ integers $as_integer $as_float, and_bits $and, or_bits $or, add_bits $add_bits,
                subtract_bits $subtract_bits }
        }
    )* };
    (@ floats $($name:ident $intrinsic:ident),*) => { $(
        #[inline(always)]
        fn $name(self, other: Self) -> Self {
            // SAFETY: as in `like`.
            unsafe { $intrinsic(self, other) }
        }
    )* };
    // A minimum or maximum with a NaN is its second argument.
    (@ reversed $($name:ident $intrinsic:ident),*) => { $(
        #[inline(always)]
        fn $name(self, bound: Self) -> Self {
            // SAFETY: as in `like`.
            unsafe { $intrinsic(bound, self) }
        }
    )* };
    (@ integers $as_integer:ident $as_float:ident, $($name:ident $intrinsic:ident),*) => { $(
        #[inline(always)]
        fn $name(self, other: Self) -> Self {
            // SAFETY: as in `like`.
            unsafe { $as_float($intrinsic($as_integer(self), $as_integer(other))) }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

#[cfg(target_arch = "x86_64")]
vectors! {
    __m128d f64, 2 by 8 4, super::double::exp;
    _mm_loadu_pd _mm_set1_pd _mm_storeu_pd _mm_stream_pd;
    _mm_add_pd _mm_sub_pd _mm_mul_pd _mm_div_pd _mm_sqrt_pd _mm_min_pd _mm_max_pd;
    _mm_castpd_si128 _mm_castsi128_pd _mm_set1_epi64x i64;
    _mm_sll_epi64 _mm_srl_epi64 _mm_and_si128 _mm_or_si128 _mm_xor_si128 _mm_add_epi64 _mm_sub_epi64;
    choose_2 any_above_2 look_up_2;

    __m128 f32, 4 by 8 2, super::single::exp;
    _mm_loadu_ps _mm_set1_ps _mm_storeu_ps _mm_stream_ps;
    _mm_add_ps _mm_sub_ps _mm_mul_ps _mm_div_ps _mm_sqrt_ps _mm_min_ps _mm_max_ps;
    _mm_castps_si128 _mm_castsi128_ps _mm_set1_epi32 i32;
    _mm_sll_epi32 _mm_srl_epi32 _mm_and_si128 _mm_or_si128 _mm_xor_si128 _mm_add_epi32 _mm_sub_epi32;
    choose_4 any_above_4 look_up_4;

    __m256d f64, 4 by 8 4, super::double::exp;
    _mm256_loadu_pd _mm256_set1_pd _mm256_storeu_pd _mm256_stream_pd;
    _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_sqrt_pd _mm256_min_pd _mm256_max_pd;
    _mm256_castpd_si256 _mm256_castsi256_pd _mm256_set1_epi64x i64;
    _mm256_sll_epi64 _mm256_srl_epi64 _mm256_and_si256 _mm256_or_si256 _mm256_xor_si256 _mm256_add_epi64 _mm256_sub_epi64;
    choose_256d any_above_256d look_up_256d;

    __m256 f32, 8 by 8 2, super::single::exp;
    _mm256_loadu_ps _mm256_set1_ps _mm256_storeu_ps _mm256_stream_ps;
    _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_sqrt_ps _mm256_min_ps _mm256_max_ps;
    _mm256_castps_si256 _mm256_castsi256_ps _mm256_set1_epi32 i32;
    _mm256_sll_epi32 _mm256_srl_epi32 _mm256_and_si256 _mm256_or_si256 _mm256_xor_si256 _mm256_add_epi32 _mm256_sub_epi32;
    choose_256 any_above_256 look_up_256;

    __m512d f64, 8 by 16 4, super::double::exp;
    _mm512_loadu_pd _mm512_set1_pd _mm512_storeu_pd _mm512_stream_pd;
    _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_sqrt_pd _mm512_min_pd _mm512_max_pd;
    _mm512_castpd_si512 _mm512_castsi512_pd _mm512_set1_epi64 i64;
    _mm512_sll_epi64 _mm512_srl_epi64 _mm512_and_si512 _mm512_or_si512 _mm512_xor_si512 _mm512_add_epi64 _mm512_sub_epi64;
    choose_512d any_above_512d look_up_512d;

    __m512 f32, 16 by 16 4, super::single::exp;
    _mm512_loadu_ps _mm512_set1_ps _mm512_storeu_ps _mm512_stream_ps;
    _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_sqrt_ps _mm512_min_ps _mm512_max_ps;
    _mm512_castps_si512 _mm512_castsi512_ps _mm512_set1_epi32 i32;
    _mm512_sll_epi32 _mm512_srl_epi32 _mm512_and_si512 _mm512_or_si512 _mm512_xor_si512 _mm512_add_epi32 _mm512_sub_epi32;
    choose_512 any_above_512 look_up_512;
}

/// Comparisons and tables of the levels below AVX-512: masks are vectors.
#[cfg(target_arch = "x86_64")]
macro_rules! by_vectors {
    ($($vector:ident, $choose:ident $any_above:ident, $greater:expr, $and:ident $andnot:ident $or:ident $any:ident;)*) => { $(
        #[inline(always)]
        fn $choose(x: $vector, limit: $vector, above: $vector, other: $vector) -> $vector {
            // SAFETY: there is a vector, so the instructions are there.
            unsafe {
                let mask = $greater(x, limit);
                $or($and(mask, above), $andnot(mask, other))
            }
        }
        #[inline(always)]
        fn $any_above(x: $vector, limit: $vector) -> bool {
            // SAFETY: as above.
            unsafe { $any($greater(x, limit)) != 0 }
        }
    )* };
}
#[cfg(target_arch = "x86_64")]
by_vectors! {
    __m128d, choose_2 any_above_2, _mm_cmpgt_pd, _mm_and_pd _mm_andnot_pd _mm_or_pd _mm_movemask_pd;
    __m128, choose_4 any_above_4, _mm_cmpgt_ps, _mm_and_ps _mm_andnot_ps _mm_or_ps _mm_movemask_ps;
    __m256d, choose_256d any_above_256d, _mm256_cmp_pd::<_CMP_GT_OQ>, _mm256_and_pd _mm256_andnot_pd _mm256_or_pd _mm256_movemask_pd;
    __m256, choose_256 any_above_256, _mm256_cmp_ps::<_CMP_GT_OQ>, _mm256_and_ps _mm256_andnot_ps _mm256_or_ps _mm256_movemask_ps;
}

/// Comparisons and tables of AVX-512: masks are bits, and a table lies in one or two registers.
#[cfg(target_arch = "x86_64")]
macro_rules! by_masks {
    ($($vector:ident, $choose:ident $any_above:ident, $greater:ident $blend:ident;)*) => { $(
        #[inline(always)]
        fn $choose(x: $vector, limit: $vector, above: $vector, other: $vector) -> $vector {
            // SAFETY: there is a vector, so the instructions are there.
            unsafe { $blend($greater::<_CMP_GT_OQ>(x, limit), other, above) }
        }
        #[inline(always)]
        fn $any_above(x: $vector, limit: $vector) -> bool {
            // SAFETY: as above.
            unsafe { $greater::<_CMP_GT_OQ>(x, limit) != 0 }
        }
    )* };
}
#[cfg(target_arch = "x86_64")]
by_masks! {
    __m512d, choose_512d any_above_512d, _mm512_cmp_pd_mask _mm512_mask_blend_pd;
    __m512, choose_512 any_above_512, _mm512_cmp_ps_mask _mm512_mask_blend_ps;
}

#[cfg(target_arch = "x86_64")]
#[allow(clippy::cast_possible_truncation, reason = "the last four bits are left")]
#[inline(always)]
fn look_up_2(x: __m128d, table: &[f64; ENTRIES]) -> __m128d {
    let at = |bits: i64| table[bits.cast_unsigned() as usize % ENTRIES];
    // SAFETY: there is a vector, so the instructions are there.
    unsafe {
        let bits = _mm_castpd_si128(x);
        _mm_set_pd(at(_mm_cvtsi128_si64(_mm_unpackhi_epi64(bits, bits))), at(_mm_cvtsi128_si64(bits)))
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn look_up_4(x: __m128, table: &[f32; ENTRIES]) -> __m128 {
    let mut bits = [0u32; 4];
    // SAFETY: there is a vector, so the instructions are there; four places hold its bits.
    unsafe { _mm_storeu_si128(bits.as_mut_ptr().cast(), _mm_castps_si128(x)) };
    let [a, b, c, d] = bits.map(|bits| table[bits as usize % ENTRIES]);
    // SAFETY: as above.
    unsafe { _mm_set_ps(d, c, b, a) }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn look_up_256d(x: __m256d, table: &[f64; ENTRIES]) -> __m256d {
    // SAFETY: there is a vector, so the instructions are there.
    unsafe {
        let (low, high) = (_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
        _mm256_set_m128d(look_up_2(high, table), look_up_2(low, table))
    }
}

/// The second half of the table repeats the first.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn look_up_256(x: __m256, table: &[f32; ENTRIES]) -> __m256 {
    // SAFETY: there is a vector, so the instructions are there; the table has more than eight entries.
    unsafe { _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr()), _mm256_castps_si256(x)) }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn look_up_512d(x: __m512d, table: &[f64; ENTRIES]) -> __m512d {
    // SAFETY: there is a vector, so the instructions are there; the table has twice eight entries.
    unsafe {
        let (low, high) = (_mm512_loadu_pd(table.as_ptr()), _mm512_loadu_pd(table.as_ptr().add(8)));
        _mm512_permutex2var_pd(low, _mm512_castpd_si512(x), high)
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn look_up_512(x: __m512, table: &[f32; ENTRIES]) -> __m512 {
    // SAFETY: there is a vector, so the instructions are there; the table has sixteen entries.
    unsafe { _mm512_permutexvar_ps(_mm512_castps_si512(x), _mm512_loadu_ps(table.as_ptr())) }
}
