//! The operations of the vectors of x86-64 that compare: the larger and the smaller of two, choices, also by
//! conditions that are stored, and whether any element is out of a range.

use std::arch::x86_64::*;

/// The functions that compare, below AVX-512, where a mask is a vector.
///
/// An instruction for a maximum or minimum returns its second argument if the two are equal or there is a
/// NaN. Equal numbers have the same bits, except for zeros of different signs: +0 has the bits that both
/// have, and -0 those that either has.
macro_rules! comparisons_by_vectors {
    ($larger:ident, $smaller:ident, $choose_equal:ident, $choose_at_least:ident, $choose:ident,
     $any_above:ident, $any_outside:ident {
        vector: $vector:ident,
        maximum: $maximum:ident,
        minimum: $minimum:ident,
        unordered: $unordered:expr,
        equal: $equal:expr,
        unequal: $unequal:expr,
        greater: $greater:expr,
        at_least: $at_least:expr,
        and: $and:ident,
        and_not: $and_not:ident,
        or: $or:ident,
        sign_bits: $sign_bits:ident == $all:literal,
    }) => {
        #[inline(always)]
        pub(super) fn $larger(a: $vector, b: $vector) -> $vector {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe {
                let larger = $and($maximum(a, b), $or(a, $unequal(a, b)));
                let nan = $unordered(a, a);
                $or($and(nan, a), $and_not(nan, larger))
            }
        }

        #[inline(always)]
        pub(super) fn $smaller(a: $vector, b: $vector) -> $vector {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe {
                let smaller = $or($minimum(a, b), $and(a, $equal(a, b)));
                let nan = $unordered(a, a);
                $or($and(nan, a), $and_not(nan, smaller))
            }
        }

        comparisons_by_vectors! { @choose $choose_equal $vector, $equal, $and, $and_not, $or }
        comparisons_by_vectors! { @choose $choose_at_least $vector, $at_least, $and, $and_not, $or }
        comparisons_by_vectors! { @choose $choose $vector, $greater, $and, $and_not, $or }

        #[inline(always)]
        pub(super) fn $any_above(x: $vector, limit: $vector) -> bool {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe { $sign_bits($greater(x, limit)) != 0 }
        }

        #[inline(always)]
        pub(super) fn $any_outside(x: $vector, least: $vector, most: $vector) -> bool {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe { $sign_bits($and($at_least(x, least), $at_least(most, x))) != $all }
        }
    };
    // `if x op limit { chosen } else { other }`.
    (@choose $choose:ident $vector:ident, $compare:expr, $and:ident, $and_not:ident, $or:ident) => {
        #[inline(always)]
        pub(super) fn $choose(x: $vector, limit: $vector, chosen: $vector, other: $vector) -> $vector {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe {
                let mask = $compare(x, limit);
                $or($and(mask, chosen), $and_not(mask, other))
            }
        }
    };
}

comparisons_by_vectors! {
    larger_sse2_f64, smaller_sse2_f64, choose_equal_sse2_f64, choose_at_least_sse2_f64, choose_sse2_f64,
    any_above_sse2_f64, any_outside_sse2_f64 {
        vector: __m128d,
        maximum: _mm_max_pd,
        minimum: _mm_min_pd,
        unordered: _mm_cmpunord_pd,
        equal: _mm_cmpeq_pd,
        unequal: _mm_cmpneq_pd,
        greater: _mm_cmpgt_pd,
        at_least: _mm_cmpge_pd,
        and: _mm_and_pd,
        and_not: _mm_andnot_pd,
        or: _mm_or_pd,
        sign_bits: _mm_movemask_pd == 0b11,
    }
}

comparisons_by_vectors! {
    larger_sse2_f32, smaller_sse2_f32, choose_equal_sse2_f32, choose_at_least_sse2_f32, choose_sse2_f32,
    any_above_sse2_f32, any_outside_sse2_f32 {
        vector: __m128,
        maximum: _mm_max_ps,
        minimum: _mm_min_ps,
        unordered: _mm_cmpunord_ps,
        equal: _mm_cmpeq_ps,
        unequal: _mm_cmpneq_ps,
        greater: _mm_cmpgt_ps,
        at_least: _mm_cmpge_ps,
        and: _mm_and_ps,
        and_not: _mm_andnot_ps,
        or: _mm_or_ps,
        sign_bits: _mm_movemask_ps == 0b1111,
    }
}

comparisons_by_vectors! {
    larger_avx2_f64, smaller_avx2_f64, choose_equal_avx2_f64, choose_at_least_avx2_f64, choose_avx2_f64,
    any_above_avx2_f64, any_outside_avx2_f64 {
        vector: __m256d,
        maximum: _mm256_max_pd,
        minimum: _mm256_min_pd,
        unordered: _mm256_cmp_pd::<_CMP_UNORD_Q>,
        equal: _mm256_cmp_pd::<_CMP_EQ_OQ>,
        unequal: _mm256_cmp_pd::<_CMP_NEQ_UQ>,
        greater: _mm256_cmp_pd::<_CMP_GT_OQ>,
        at_least: _mm256_cmp_pd::<_CMP_GE_OQ>,
        and: _mm256_and_pd,
        and_not: _mm256_andnot_pd,
        or: _mm256_or_pd,
        sign_bits: _mm256_movemask_pd == 0b1111,
    }
}

comparisons_by_vectors! {
    larger_avx2_f32, smaller_avx2_f32, choose_equal_avx2_f32, choose_at_least_avx2_f32, choose_avx2_f32,
    any_above_avx2_f32, any_outside_avx2_f32 {
        vector: __m256,
        maximum: _mm256_max_ps,
        minimum: _mm256_min_ps,
        unordered: _mm256_cmp_ps::<_CMP_UNORD_Q>,
        equal: _mm256_cmp_ps::<_CMP_EQ_OQ>,
        unequal: _mm256_cmp_ps::<_CMP_NEQ_UQ>,
        greater: _mm256_cmp_ps::<_CMP_GT_OQ>,
        at_least: _mm256_cmp_ps::<_CMP_GE_OQ>,
        and: _mm256_and_ps,
        and_not: _mm256_andnot_ps,
        or: _mm256_or_ps,
        sign_bits: _mm256_movemask_ps == 0b1111_1111,
    }
}

/// What `range` returns: the larger or the smaller of two values, with its own sign.
const LARGER: i32 = 0b01_01;
const SMALLER: i32 = 0b01_00;

/// What `fix_up` returns, by the class of its second argument, four bits for each: the second argument for
/// both kinds of NaN, which are the first classes, and otherwise the first argument.
const NANS: i32 = 0x11;

/// The same of AVX-512, where a mask has one bit per element. There is an instruction that knows that +0 is
/// larger than -0, but of a number and a NaN it returns the number, so NaNs are put back, last those of the
/// first argument.
macro_rules! comparisons_by_masks {
    ($larger:ident, $smaller:ident, $choose_equal:ident, $choose_at_least:ident, $choose:ident,
     $any_above:ident, $any_outside:ident {
        vector: $vector:ident,
        range: $range:ident,
        fix_up: $fix_up:ident,
        table: $table:expr,
        compare: $compare:ident,
        compare_some: $compare_some:ident,
        blend: $blend:ident,
        all: $all:literal,
    }) => {
        #[inline(always)]
        pub(super) fn $larger(a: $vector, b: $vector) -> $vector {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe {
                let table = $table;
                $fix_up::<0>($fix_up::<0>($range::<LARGER>(a, b), b, table), a, table)
            }
        }

        #[inline(always)]
        pub(super) fn $smaller(a: $vector, b: $vector) -> $vector {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe {
                let table = $table;
                $fix_up::<0>($fix_up::<0>($range::<SMALLER>(a, b), b, table), a, table)
            }
        }

        #[inline(always)]
        pub(super) fn $choose_equal(x: $vector, limit: $vector, equal: $vector, other: $vector) -> $vector {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe { $blend($compare::<_CMP_EQ_OQ>(x, limit), other, equal) }
        }

        #[inline(always)]
        pub(super) fn $choose_at_least(
            x: $vector,
            limit: $vector,
            above: $vector,
            other: $vector,
        ) -> $vector {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe { $blend($compare::<_CMP_GE_OQ>(x, limit), other, above) }
        }

        #[inline(always)]
        pub(super) fn $choose(x: $vector, limit: $vector, above: $vector, other: $vector) -> $vector {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe { $blend($compare::<_CMP_GT_OQ>(x, limit), other, above) }
        }

        #[inline(always)]
        pub(super) fn $any_above(x: $vector, limit: $vector) -> bool {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe { $compare::<_CMP_GT_OQ>(x, limit) != 0 }
        }

        #[inline(always)]
        pub(super) fn $any_outside(x: $vector, least: $vector, most: $vector) -> bool {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe { $compare_some::<_CMP_LE_OQ>($compare::<_CMP_GE_OQ>(x, least), x, most) != $all }
        }
    };
}

comparisons_by_masks! {
    larger_avx512_f64, smaller_avx512_f64, choose_equal_avx512_f64, choose_at_least_avx512_f64, choose_avx512_f64,
    any_above_avx512_f64, any_outside_avx512_f64 {
        vector: __m512d,
        range: _mm512_range_pd,
        fix_up: _mm512_fixupimm_pd,
        table: _mm512_set1_epi64(NANS as i64),
        compare: _mm512_cmp_pd_mask,
        compare_some: _mm512_mask_cmp_pd_mask,
        blend: _mm512_mask_blend_pd,
        all: 0xff,
    }
}

comparisons_by_masks! {
    larger_avx512_f32, smaller_avx512_f32, choose_equal_avx512_f32, choose_at_least_avx512_f32, choose_avx512_f32,
    any_above_avx512_f32, any_outside_avx512_f32 {
        vector: __m512,
        range: _mm512_range_ps,
        fix_up: _mm512_fixupimm_ps,
        table: _mm512_set1_epi32(NANS),
        compare: _mm512_cmp_ps_mask,
        compare_some: _mm512_mask_cmp_ps_mask,
        blend: _mm512_mask_blend_ps,
        all: 0xffff,
    }
}

/// `if condition { then } else { other }`, for each element, where a condition is a byte that is 0 or 1.
///
/// # Safety
/// The machine has SSE2, and `condition` points to two values.
#[inline(always)]
pub(super) unsafe fn select_sse2_f64(condition: *const bool, then: __m128d, other: __m128d) -> __m128d {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mask = _mm_set_epi64x(-i64::from(*condition.add(1)), -i64::from(*condition));
        let mask = _mm_castsi128_pd(mask);
        _mm_or_pd(_mm_and_pd(mask, then), _mm_andnot_pd(mask, other))
    }
}

/// # Safety
/// As for [`select_sse2_f64`], with four values.
#[inline(always)]
pub(super) unsafe fn select_sse2_f32(condition: *const bool, then: __m128, other: __m128) -> __m128 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (zero, bytes) =
            (_mm_setzero_si128(), _mm_cvtsi32_si128(condition.cast::<i32>().read_unaligned()));
        let wide = _mm_unpacklo_epi16(_mm_unpacklo_epi8(bytes, zero), zero);
        let mask = _mm_castsi128_ps(_mm_cmpgt_epi32(wide, zero));
        _mm_or_ps(_mm_and_ps(mask, then), _mm_andnot_ps(mask, other))
    }
}

/// # Safety
/// As for [`select_sse2_f64`], with AVX2 and four values.
#[inline(always)]
pub(super) unsafe fn select_avx2_f64(condition: *const bool, then: __m256d, other: __m256d) -> __m256d {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let wide = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(condition.cast::<i32>().read_unaligned()));
        let mask = _mm256_cmpgt_epi64(wide, _mm256_setzero_si256());
        _mm256_blendv_pd(other, then, _mm256_castsi256_pd(mask))
    }
}

/// # Safety
/// As for [`select_sse2_f64`], with AVX2 and eight values.
#[inline(always)]
pub(super) unsafe fn select_avx2_f32(condition: *const bool, then: __m256, other: __m256) -> __m256 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(condition.cast()));
        let mask = _mm256_cmpgt_epi32(wide, _mm256_setzero_si256());
        _mm256_blendv_ps(other, then, _mm256_castsi256_ps(mask))
    }
}

/// # Safety
/// As for [`select_sse2_f64`], with AVX-512 (BW, VL) and eight values.
#[inline(always)]
pub(super) unsafe fn select_avx512_f64(condition: *const bool, then: __m512d, other: __m512d) -> __m512d {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let bytes = _mm_loadl_epi64(condition.cast());
        // The upper bytes are 0.
        let mask = (_mm_test_epi8_mask(bytes, bytes) & 0xff) as u8;
        _mm512_mask_blend_pd(mask, other, then)
    }
}

/// # Safety
/// As for [`select_sse2_f64`], with AVX-512 (BW, VL) and sixteen values.
#[inline(always)]
pub(super) unsafe fn select_avx512_f32(condition: *const bool, then: __m512, other: __m512) -> __m512 {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let bytes = _mm_loadu_si128(condition.cast());
        _mm512_mask_blend_ps(_mm_test_epi8_mask(bytes, bytes), other, then)
    }
}

/// Stores whether each element is not 0.
///
/// # Safety
/// The machine has SSE2, and `to` points to two writable values.
#[inline(always)]
pub(super) unsafe fn store_conditions_sse2_f64(a: __m128d, to: *mut bool) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let bits = _mm_movemask_pd(_mm_cmpneq_pd(a, _mm_setzero_pd()));
        to.write(bits & 1 != 0);
        to.add(1).write(bits & 2 != 0);
    }
}

/// # Safety
/// As for [`store_conditions_sse2_f64`], with four values.
#[inline(always)]
pub(super) unsafe fn store_conditions_sse2_f32(a: __m128, to: *mut bool) {
    // SAFETY: guaranteed by the caller.
    unsafe { store_four(_mm_castps_si128(_mm_cmpneq_ps(a, _mm_setzero_ps())), to) }
}

/// Stores whether each of four elements of 32 bits is -1 and not 0.
///
/// # Safety
/// As for [`store_conditions_sse2_f64`], with four values.
#[inline(always)]
unsafe fn store_four(mask: __m128i, to: *mut bool) {
    // SAFETY: guaranteed by the caller. Each byte is 0 or 1.
    unsafe {
        let bytes = _mm_packs_epi16(_mm_packs_epi32(mask, mask), mask);
        let bytes = _mm_cvtsi128_si32(_mm_and_si128(bytes, _mm_set1_epi8(1)));
        to.cast::<i32>().write_unaligned(bytes);
    }
}

/// # Safety
/// As for [`store_conditions_sse2_f64`], with AVX2 and four values.
#[inline(always)]
pub(super) unsafe fn store_conditions_avx2_f64(a: __m256d, to: *mut bool) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mask = _mm256_castpd_ps(_mm256_cmp_pd::<_CMP_NEQ_UQ>(a, _mm256_setzero_pd()));
        let (low, high) = (_mm256_castps256_ps128(mask), _mm256_extractf128_ps::<1>(mask));
        // The lower half of each element.
        store_four(_mm_castps_si128(_mm_shuffle_ps::<0b10_00_10_00>(low, high)), to);
    }
}

/// # Safety
/// As for [`store_conditions_sse2_f64`], with AVX2 and eight values.
#[inline(always)]
pub(super) unsafe fn store_conditions_avx2_f32(a: __m256, to: *mut bool) {
    // SAFETY: guaranteed by the caller. Each byte is 0 or 1.
    unsafe {
        let mask = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_NEQ_UQ>(a, _mm256_setzero_ps()));
        let (low, high) = (_mm256_castsi256_si128(mask), _mm256_extracti128_si256::<1>(mask));
        let bytes = _mm_packs_epi16(_mm_packs_epi32(low, high), low);
        _mm_storel_epi64(to.cast(), _mm_and_si128(bytes, _mm_set1_epi8(1)));
    }
}

/// # Safety
/// As for [`store_conditions_sse2_f64`], with AVX-512 (BW, VL) and eight values.
#[inline(always)]
pub(super) unsafe fn store_conditions_avx512_f64(a: __m512d, to: *mut bool) {
    // SAFETY: guaranteed by the caller. Each byte is 0 or 1.
    unsafe {
        let mask = _mm512_cmp_pd_mask::<_CMP_NEQ_UQ>(a, _mm512_setzero_pd());
        _mm_storel_epi64(to.cast(), _mm_maskz_set1_epi8(u16::from(mask), 1));
    }
}

/// # Safety
/// As for [`store_conditions_sse2_f64`], with AVX-512 (BW, VL) and sixteen values.
#[inline(always)]
pub(super) unsafe fn store_conditions_avx512_f32(a: __m512, to: *mut bool) {
    // SAFETY: guaranteed by the caller. Each byte is 0 or 1.
    unsafe {
        let mask = _mm512_cmp_ps_mask::<_CMP_NEQ_UQ>(a, _mm512_setzero_ps());
        _mm_storeu_si128(to.cast(), _mm_maskz_set1_epi8(mask, 1));
    }
}
