//! The operations of the vectors of x86-64 that compare: the larger and the smaller of two, choices, and
//! whether any element is out of a range.

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

/// The same of AVX-512, where a mask has one bit per element.
macro_rules! comparisons_by_masks {
    ($larger:ident, $smaller:ident, $choose_equal:ident, $choose_at_least:ident, $choose:ident,
     $any_above:ident, $any_outside:ident {
        vector: $vector:ident,
        maximum: $maximum:ident,
        minimum: $minimum:ident,
        and_some: $and_some:ident,
        or_some: $or_some:ident,
        compare: $compare:ident,
        compare_some: $compare_some:ident,
        blend: $blend:ident,
        all: $all:literal,
    }) => {
        #[inline(always)]
        pub(super) fn $larger(a: $vector, b: $vector) -> $vector {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe {
                let larger = $maximum(a, b);
                let larger = $and_some(larger, $compare::<_CMP_EQ_OQ>(a, b), larger, a);
                $blend($compare::<_CMP_UNORD_Q>(a, a), larger, a)
            }
        }

        #[inline(always)]
        pub(super) fn $smaller(a: $vector, b: $vector) -> $vector {
            // SAFETY: a vector exists, so the machine has the instructions.
            unsafe {
                let smaller = $minimum(a, b);
                let smaller = $or_some(smaller, $compare::<_CMP_EQ_OQ>(a, b), smaller, a);
                $blend($compare::<_CMP_UNORD_Q>(a, a), smaller, a)
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
        maximum: _mm512_max_pd,
        minimum: _mm512_min_pd,
        and_some: _mm512_mask_and_pd,
        or_some: _mm512_mask_or_pd,
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
        maximum: _mm512_max_ps,
        minimum: _mm512_min_ps,
        and_some: _mm512_mask_and_ps,
        or_some: _mm512_mask_or_ps,
        compare: _mm512_cmp_ps_mask,
        compare_some: _mm512_mask_cmp_ps_mask,
        blend: _mm512_mask_blend_ps,
        all: 0xffff,
    }
}
