//! The vectors of x86-64: SSE2 for the portable level, AVX2 and AVX-512.

use super::compare::*;
use super::fused;
use super::vector::{ENTRIES, Vector};
use std::arch::x86_64::*;

/// Implements [`Vector`] for a vector type by naming the intrinsic of each operation.
macro_rules! vector {
    (
        $(#[features($features:literal)])?
        impl Vector for $vector:ident {
            element: $element:ident,
            width: $width:literal,
            exp_group: $exp_group:literal,
            load: $load:ident,
            splat: $splat:ident,
            store: $store:ident,
            store_non_temporal: $store_non_temporal:ident,
            add: $add:ident,
            subtract: $subtract:ident,
            multiply: $multiply:ident,
            divide: $divide:ident,
            multiply_add: $multiply_add:path,
            sqrt: $sqrt:ident,
            minimum: $minimum:ident,
            maximum: $maximum:ident,
            to_integer: $to_integer:ident,
            from_integer: $from_integer:ident,
            magnitude_mask: $splat_integer:ident($magnitude:expr),
            shift_left: $shift_left:ident,
            shift_right: $shift_right:ident,
            and: $and:ident,
            or: $or:ident,
            xor: $xor:ident,
            add_bits: $add_bits:ident,
            subtract_bits: $subtract_bits:ident,
            larger: $larger:ident,
            smaller: $smaller:ident,
            choose_equal: $choose_equal:ident,
            choose_at_least: $choose_at_least:ident,
            choose: $choose:ident,
            select: $select:ident,
            store_conditions: $store_conditions:ident,
            any_above: $any_above:ident,
            any_outside: $any_outside:ident,
            look_up: $look_up:ident,
            look_up_whole: $look_up_whole:ident,
            load_first: $load_first:ident,
            sum_of_lanes: $sum_of_lanes:ident,
            exp: $exp:path,
            tanh: $tanh:path,
        }
    ) => {
        impl Vector for $vector {
            type Element = $element;
            const WIDTH: usize = $width;
            const EXP_GROUP: usize = $exp_group;
            const HOLDS: Self::Element = 1.0;

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: the caller guarantees the instructions and the elements. No alignment is needed.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn load_first(from: *const $element, count: usize) -> Self {
                // SAFETY: the caller guarantees the instructions and the elements.
                unsafe { $load_first(from, count) }
            }
            #[inline(always)]
            unsafe fn splat(value: $element) -> Self {
                // SAFETY: the caller guarantees the instructions.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: the caller guarantees the writable elements. No alignment is needed.
                unsafe { $store(to, self) }
            }
            #[inline(always)]
            unsafe fn store_non_temporal(self, to: *mut $element) {
                // SAFETY: the caller guarantees the writable elements and their alignment.
                unsafe { $store_non_temporal(to, self) }
            }
            #[inline(always)]
            fn like(self, value: $element) -> Self {
                // SAFETY: a vector exists, so the machine has the instructions.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $add(self, other) }
            }
            #[inline(always)]
            fn subtract(self, other: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $subtract(self, other) }
            }
            #[inline(always)]
            fn multiply(self, other: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $multiply(self, other) }
            }
            #[inline(always)]
            fn divide(self, other: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $divide(self, other) }
            }
            #[inline(always)]
            fn multiply_add(self, by: Self, other: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $multiply_add(self, by, other) }
            }
            #[inline(always)]
            fn negate(self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $from_integer($xor($to_integer(self), $to_integer($splat(-0.0)))) }
            }
            #[inline(always)]
            fn abs(self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $from_integer($and($to_integer(self), $splat_integer($magnitude))) }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $sqrt(self) }
            }
            // If either argument is a NaN, a minimum or maximum returns the second one.
            #[inline(always)]
            fn at_most(self, most: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $minimum(most, self) }
            }
            #[inline(always)]
            fn at_least(self, least: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $maximum(least, self) }
            }
            #[inline(always)]
            fn maximum(self, other: Self) -> Self {
                $larger(self, other)
            }
            #[inline(always)]
            fn minimum(self, other: Self) -> Self {
                $smaller(self, other)
            }
            #[inline(always)]
            fn choose_equal(self, limit: Self, equal: Self, other: Self) -> Self {
                $choose_equal(self, limit, equal, other)
            }
            #[inline(always)]
            fn choose_at_least(self, limit: Self, above: Self, other: Self) -> Self {
                $choose_at_least(self, limit, above, other)
            }
            #[inline(always)]
            fn choose(self, limit: Self, above: Self, other: Self) -> Self {
                $choose(self, limit, above, other)
            }
            #[inline(always)]
            unsafe fn select(condition: *const bool, then: Self, other: Self) -> Self {
                // SAFETY: the caller guarantees the values.
                unsafe { $select(condition, then, other) }
            }
            #[inline(always)]
            unsafe fn store_conditions(self, to: *mut bool) {
                // SAFETY: the caller guarantees the values.
                unsafe { $store_conditions(self, to) }
            }
            #[inline(always)]
            fn sum_of_lanes(self) -> $element {
                $sum_of_lanes(self)
            }
            #[inline(always)]
            fn any_above(self, limit: Self) -> bool {
                $any_above(self, limit)
            }
            #[inline(always)]
            fn any_outside(self, least: Self, most: Self) -> bool {
                $any_outside(self, least, most)
            }
            #[inline(always)]
            fn shift_left(self, by: i32) -> Self {
                // SAFETY: as in `like`.
                unsafe { $from_integer($shift_left($to_integer(self), _mm_cvtsi32_si128(by))) }
            }
            #[inline(always)]
            fn shift_right(self, by: i32) -> Self {
                // SAFETY: as in `like`.
                unsafe { $from_integer($shift_right($to_integer(self), _mm_cvtsi32_si128(by))) }
            }
            #[inline(always)]
            fn and_bits(self, other: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $from_integer($and($to_integer(self), $to_integer(other))) }
            }
            #[inline(always)]
            fn or_bits(self, other: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $from_integer($or($to_integer(self), $to_integer(other))) }
            }
            #[inline(always)]
            fn add_bits(self, other: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $from_integer($add_bits($to_integer(self), $to_integer(other))) }
            }
            #[inline(always)]
            fn subtract_bits(self, other: Self) -> Self {
                // SAFETY: as in `like`.
                unsafe { $from_integer($subtract_bits($to_integer(self), $to_integer(other))) }
            }
            #[inline(always)]
            fn look_up(self, table: &[$element; ENTRIES]) -> Self {
                $look_up(self, table)
            }
            #[inline(always)]
            fn look_up_whole(self, table: &[$element; ENTRIES]) -> Self {
                $look_up_whole(self, table)
            }
            #[inline(always)]
            fn exp<const U: usize>(x: [Self; U]) -> [Self; U] {
                $exp(x)
            }
            #[inline(always)]
            fn tanh<const U: usize>(mut x: [Self; U]) -> [Self; U] {
                // A function of its own: inlined, it takes registers from the other links of a chain. (The
                // gradient of exp(x*y) over the columns of 32x32 in f64 took 1.7 times as long, and that of
                // tanh(x+y) 1.3 times. But gelu takes 0.97 of the time with it
                // inlined.)
                $(#[target_feature(enable = $features)])?
                #[inline(never)]
                unsafe fn of_all<const U: usize>(x: &mut [$vector; U]) {
                    *x = $tanh(*x);
                }
                // SAFETY: a vector exists, so the machine has the instructions.
                unsafe { of_all(&mut x) };
                x
            }
        }
    };
}

vector! {
    impl Vector for __m128d {
        element: f64,
        width: 2,
        exp_group: 4,
        load: _mm_loadu_pd,
        splat: _mm_set1_pd,
        store: _mm_storeu_pd,
        store_non_temporal: _mm_stream_pd,
        add: _mm_add_pd,
        subtract: _mm_sub_pd,
        multiply: _mm_mul_pd,
        divide: _mm_div_pd,
        multiply_add: fused::multiply_add_f64,
        sqrt: _mm_sqrt_pd,
        minimum: _mm_min_pd,
        maximum: _mm_max_pd,
        to_integer: _mm_castpd_si128,
        from_integer: _mm_castsi128_pd,
        magnitude_mask: _mm_set1_epi64x(i64::MAX),
        shift_left: _mm_sll_epi64,
        shift_right: _mm_srl_epi64,
        and: _mm_and_si128,
        or: _mm_or_si128,
        xor: _mm_xor_si128,
        add_bits: _mm_add_epi64,
        subtract_bits: _mm_sub_epi64,
        larger: larger_sse2_f64,
        smaller: smaller_sse2_f64,
        choose_equal: choose_equal_sse2_f64,
        choose_at_least: choose_at_least_sse2_f64,
        choose: choose_sse2_f64,
        select: select_sse2_f64,
        store_conditions: store_conditions_sse2_f64,
        any_above: any_above_sse2_f64,
        any_outside: any_outside_sse2_f64,
        look_up: look_up_sse2_f64,
        look_up_whole: look_up_sse2_f64,
        load_first: load_first_sse2_f64,
        sum_of_lanes: sum_of_lanes_sse2_f64,
        exp: super::f64::exp,
        tanh: super::tanh::tanh_f64,
    }
}

vector! {
    impl Vector for __m128 {
        element: f32,
        width: 4,
        exp_group: 2,
        load: _mm_loadu_ps,
        splat: _mm_set1_ps,
        store: _mm_storeu_ps,
        store_non_temporal: _mm_stream_ps,
        add: _mm_add_ps,
        subtract: _mm_sub_ps,
        multiply: _mm_mul_ps,
        divide: _mm_div_ps,
        multiply_add: fused::multiply_add_f32,
        sqrt: _mm_sqrt_ps,
        minimum: _mm_min_ps,
        maximum: _mm_max_ps,
        to_integer: _mm_castps_si128,
        from_integer: _mm_castsi128_ps,
        magnitude_mask: _mm_set1_epi32(i32::MAX),
        shift_left: _mm_sll_epi32,
        shift_right: _mm_srl_epi32,
        and: _mm_and_si128,
        or: _mm_or_si128,
        xor: _mm_xor_si128,
        add_bits: _mm_add_epi32,
        subtract_bits: _mm_sub_epi32,
        larger: larger_sse2_f32,
        smaller: smaller_sse2_f32,
        choose_equal: choose_equal_sse2_f32,
        choose_at_least: choose_at_least_sse2_f32,
        choose: choose_sse2_f32,
        select: select_sse2_f32,
        store_conditions: store_conditions_sse2_f32,
        any_above: any_above_sse2_f32,
        any_outside: any_outside_sse2_f32,
        look_up: look_up_sse2_f32,
        look_up_whole: look_up_sse2_f32,
        load_first: load_first_sse2_f32,
        sum_of_lanes: sum_of_lanes_sse2_f32,
        exp: super::f32::exp,
        tanh: super::tanh::tanh_f32,
    }
}

vector! {
    #[features("avx2,fma")]
    impl Vector for __m256d {
        element: f64,
        width: 4,
        exp_group: 4,
        load: _mm256_loadu_pd,
        splat: _mm256_set1_pd,
        store: _mm256_storeu_pd,
        store_non_temporal: _mm256_stream_pd,
        add: _mm256_add_pd,
        subtract: _mm256_sub_pd,
        multiply: _mm256_mul_pd,
        divide: _mm256_div_pd,
        multiply_add: _mm256_fmadd_pd,
        sqrt: _mm256_sqrt_pd,
        minimum: _mm256_min_pd,
        maximum: _mm256_max_pd,
        to_integer: _mm256_castpd_si256,
        from_integer: _mm256_castsi256_pd,
        magnitude_mask: _mm256_set1_epi64x(i64::MAX),
        shift_left: _mm256_sll_epi64,
        shift_right: _mm256_srl_epi64,
        and: _mm256_and_si256,
        or: _mm256_or_si256,
        xor: _mm256_xor_si256,
        add_bits: _mm256_add_epi64,
        subtract_bits: _mm256_sub_epi64,
        larger: larger_avx2_f64,
        smaller: smaller_avx2_f64,
        choose_equal: choose_equal_avx2_f64,
        choose_at_least: choose_at_least_avx2_f64,
        choose: choose_avx2_f64,
        select: select_avx2_f64,
        store_conditions: store_conditions_avx2_f64,
        any_above: any_above_avx2_f64,
        any_outside: any_outside_avx2_f64,
        look_up: look_up_avx2_f64,
        look_up_whole: look_up_avx2_f64,
        load_first: load_first_avx2_f64,
        sum_of_lanes: sum_of_lanes_avx2_f64,
        exp: super::f64::exp,
        tanh: super::tanh::tanh_f64,
    }
}

vector! {
    #[features("avx2,fma")]
    impl Vector for __m256 {
        element: f32,
        width: 8,
        exp_group: 2,
        load: _mm256_loadu_ps,
        splat: _mm256_set1_ps,
        store: _mm256_storeu_ps,
        store_non_temporal: _mm256_stream_ps,
        add: _mm256_add_ps,
        subtract: _mm256_sub_ps,
        multiply: _mm256_mul_ps,
        divide: _mm256_div_ps,
        multiply_add: _mm256_fmadd_ps,
        sqrt: _mm256_sqrt_ps,
        minimum: _mm256_min_ps,
        maximum: _mm256_max_ps,
        to_integer: _mm256_castps_si256,
        from_integer: _mm256_castsi256_ps,
        magnitude_mask: _mm256_set1_epi32(i32::MAX),
        shift_left: _mm256_sll_epi32,
        shift_right: _mm256_srl_epi32,
        and: _mm256_and_si256,
        or: _mm256_or_si256,
        xor: _mm256_xor_si256,
        add_bits: _mm256_add_epi32,
        subtract_bits: _mm256_sub_epi32,
        larger: larger_avx2_f32,
        smaller: smaller_avx2_f32,
        choose_equal: choose_equal_avx2_f32,
        choose_at_least: choose_at_least_avx2_f32,
        choose: choose_avx2_f32,
        select: select_avx2_f32,
        store_conditions: store_conditions_avx2_f32,
        any_above: any_above_avx2_f32,
        any_outside: any_outside_avx2_f32,
        look_up: look_up_avx2_f32,
        look_up_whole: look_up_avx2_f32_whole,
        load_first: load_first_avx2_f32,
        sum_of_lanes: sum_of_lanes_avx2_f32,
        exp: super::f32::exp,
        tanh: super::tanh::tanh_f32,
    }
}

vector! {
    #[features("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    impl Vector for __m512d {
        element: f64,
        width: 8,
        exp_group: 4,
        load: _mm512_loadu_pd,
        splat: _mm512_set1_pd,
        store: _mm512_storeu_pd,
        store_non_temporal: _mm512_stream_pd,
        add: _mm512_add_pd,
        subtract: _mm512_sub_pd,
        multiply: _mm512_mul_pd,
        divide: _mm512_div_pd,
        multiply_add: _mm512_fmadd_pd,
        sqrt: _mm512_sqrt_pd,
        minimum: _mm512_min_pd,
        maximum: _mm512_max_pd,
        to_integer: _mm512_castpd_si512,
        from_integer: _mm512_castsi512_pd,
        magnitude_mask: _mm512_set1_epi64(i64::MAX),
        shift_left: _mm512_sll_epi64,
        shift_right: _mm512_srl_epi64,
        and: _mm512_and_si512,
        or: _mm512_or_si512,
        xor: _mm512_xor_si512,
        add_bits: _mm512_add_epi64,
        subtract_bits: _mm512_sub_epi64,
        larger: larger_avx512_f64,
        smaller: smaller_avx512_f64,
        choose_equal: choose_equal_avx512_f64,
        choose_at_least: choose_at_least_avx512_f64,
        choose: choose_avx512_f64,
        select: select_avx512_f64,
        store_conditions: store_conditions_avx512_f64,
        any_above: any_above_avx512_f64,
        any_outside: any_outside_avx512_f64,
        look_up: look_up_avx512_f64,
        look_up_whole: look_up_avx512_f64,
        load_first: load_first_avx512_f64,
        sum_of_lanes: sum_of_lanes_avx512_f64,
        exp: super::f64::exp,
        tanh: super::tanh::tanh_f64,
    }
}

vector! {
    #[features("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    impl Vector for __m512 {
        element: f32,
        width: 16,
        exp_group: 4,
        load: _mm512_loadu_ps,
        splat: _mm512_set1_ps,
        store: _mm512_storeu_ps,
        store_non_temporal: _mm512_stream_ps,
        add: _mm512_add_ps,
        subtract: _mm512_sub_ps,
        multiply: _mm512_mul_ps,
        divide: _mm512_div_ps,
        multiply_add: _mm512_fmadd_ps,
        sqrt: _mm512_sqrt_ps,
        minimum: _mm512_min_ps,
        maximum: _mm512_max_ps,
        to_integer: _mm512_castps_si512,
        from_integer: _mm512_castsi512_ps,
        magnitude_mask: _mm512_set1_epi32(i32::MAX),
        shift_left: _mm512_sll_epi32,
        shift_right: _mm512_srl_epi32,
        and: _mm512_and_si512,
        or: _mm512_or_si512,
        xor: _mm512_xor_si512,
        add_bits: _mm512_add_epi32,
        subtract_bits: _mm512_sub_epi32,
        larger: larger_avx512_f32,
        smaller: smaller_avx512_f32,
        choose_equal: choose_equal_avx512_f32,
        choose_at_least: choose_at_least_avx512_f32,
        choose: choose_avx512_f32,
        select: select_avx512_f32,
        store_conditions: store_conditions_avx512_f32,
        any_above: any_above_avx512_f32,
        any_outside: any_outside_avx512_f32,
        look_up: look_up_avx512_f32,
        look_up_whole: look_up_avx512_f32,
        load_first: load_first_avx512_f32,
        sum_of_lanes: sum_of_lanes_avx512_f32,
        exp: super::f32::exp,
        tanh: super::tanh::tanh_f32,
    }
}

#[allow(clippy::cast_possible_truncation, reason = "only the low four bits are used")]
#[inline(always)]
fn look_up_sse2_f64(x: __m128d, table: &[f64; ENTRIES]) -> __m128d {
    let entry = |bits: i64| table[bits.cast_unsigned() as usize % ENTRIES];
    // SAFETY: a vector exists, so the machine has the instructions.
    unsafe {
        let bits = _mm_castpd_si128(x);
        _mm_set_pd(entry(_mm_cvtsi128_si64(_mm_unpackhi_epi64(bits, bits))), entry(_mm_cvtsi128_si64(bits)))
    }
}

#[inline(always)]
fn look_up_sse2_f32(x: __m128, table: &[f32; ENTRIES]) -> __m128 {
    let mut bits = [0u32; 4];
    // SAFETY: a vector exists, so the machine has the instructions. `bits` has room for its four elements.
    unsafe { _mm_storeu_si128(bits.as_mut_ptr().cast(), _mm_castps_si128(x)) };
    let [a, b, c, d] = bits.map(|bits| table[bits as usize % ENTRIES]);
    // SAFETY: a vector exists, so the machine has the instructions.
    unsafe { _mm_set_ps(d, c, b, a) }
}

#[inline(always)]
fn look_up_avx2_f64(x: __m256d, table: &[f64; ENTRIES]) -> __m256d {
    // SAFETY: a vector exists, so the machine has the instructions.
    unsafe {
        let (low, high) = (_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x));
        _mm256_set_m128d(look_up_sse2_f64(high, table), look_up_sse2_f64(low, table))
    }
}

/// Tables of f32 have eight entries; the second half repeats the first.
#[inline(always)]
fn look_up_avx2_f32(x: __m256, table: &[f32; ENTRIES]) -> __m256 {
    // SAFETY: a vector exists, so the machine has the instructions. The table has more than eight entries.
    unsafe { _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr()), _mm256_castps_si256(x)) }
}

#[inline(always)]
fn look_up_avx2_f32_whole(x: __m256, table: &[f32; ENTRIES]) -> __m256 {
    // SAFETY: a vector exists, so the machine has the instructions. The table has twice eight entries.
    unsafe {
        let index = _mm256_castps_si256(x);
        let low = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr()), index);
        let high = _mm256_permutevar8x32_ps(_mm256_loadu_ps(table.as_ptr().add(8)), index);
        // The fourth bit becomes the sign bit, which is the one that selects.
        _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32::<28>(index)))
    }
}

#[inline(always)]
fn look_up_avx512_f64(x: __m512d, table: &[f64; ENTRIES]) -> __m512d {
    // SAFETY: a vector exists, so the machine has the instructions. The table has twice eight entries.
    unsafe {
        let (low, high) = (_mm512_loadu_pd(table.as_ptr()), _mm512_loadu_pd(table.as_ptr().add(8)));
        _mm512_permutex2var_pd(low, _mm512_castpd_si512(x), high)
    }
}

#[inline(always)]
fn look_up_avx512_f32(x: __m512, table: &[f32; ENTRIES]) -> __m512 {
    // SAFETY: a vector exists, so the machine has the instructions. The table has sixteen entries.
    unsafe { _mm512_permutexvar_ps(_mm512_castps_si512(x), _mm512_loadu_ps(table.as_ptr())) }
}

/// # Safety
/// The machine has the instructions, and `from` points to `count` elements.
#[inline(always)]
unsafe fn load_first_sse2_f64(from: *const f64, count: usize) -> __m128d {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match count {
            0 => _mm_setzero_pd(),
            1 => _mm_load_sd(from),
            _ => _mm_loadu_pd(from),
        }
    }
}

/// # Safety
/// As for [`load_first_sse2_f64`].
#[inline(always)]
unsafe fn load_first_sse2_f32(from: *const f32, count: usize) -> __m128 {
    let element = |at: usize| {
        // SAFETY: the caller guarantees `count` elements.
        if at < count { unsafe { *from.add(at) } } else { 0.0 }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { _mm_set_ps(element(3), element(2), element(1), element(0)) }
}

/// # Safety
/// As for [`load_first_sse2_f64`].
#[inline(always)]
unsafe fn load_first_avx2_f64(from: *const f64, count: usize) -> __m256d {
    let count = i64::try_from(count).unwrap_or(4);
    // SAFETY: guaranteed by the caller. Elements of which the mask is 0 are not read.
    unsafe {
        let mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_set_epi64x(3, 2, 1, 0));
        _mm256_maskload_pd(from, mask)
    }
}

/// # Safety
/// As for [`load_first_sse2_f64`].
#[inline(always)]
unsafe fn load_first_avx2_f32(from: *const f32, count: usize) -> __m256 {
    let count = i32::try_from(count).unwrap_or(8);
    // SAFETY: guaranteed by the caller. Elements of which the mask is 0 are not read.
    unsafe {
        let mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
        _mm256_maskload_ps(from, mask)
    }
}

/// # Safety
/// As for [`load_first_sse2_f64`].
#[inline(always)]
unsafe fn load_first_avx512_f64(from: *const f64, count: usize) -> __m512d {
    let mask = if count == 0 { 0 } else { u8::MAX >> 8usize.saturating_sub(count) };
    // SAFETY: guaranteed by the caller. Elements of which the mask is 0 are not read.
    unsafe { _mm512_maskz_loadu_pd(mask, from) }
}

/// # Safety
/// As for [`load_first_sse2_f64`].
#[inline(always)]
unsafe fn load_first_avx512_f32(from: *const f32, count: usize) -> __m512 {
    let mask = if count == 0 { 0 } else { u16::MAX >> 16usize.saturating_sub(count) };
    // SAFETY: guaranteed by the caller. Elements of which the mask is 0 are not read.
    unsafe { _mm512_maskz_loadu_ps(mask, from) }
}

#[inline(always)]
fn sum_of_lanes_sse2_f64(x: __m128d) -> f64 {
    // SAFETY: a vector exists, so the machine has the instructions.
    unsafe { _mm_cvtsd_f64(_mm_add_sd(x, _mm_unpackhi_pd(x, x))) }
}

#[inline(always)]
fn sum_of_lanes_sse2_f32(x: __m128) -> f32 {
    // SAFETY: a vector exists, so the machine has the instructions.
    unsafe {
        let two = _mm_add_ps(x, _mm_movehl_ps(x, x));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
    }
}

#[inline(always)]
fn sum_of_lanes_avx2_f64(x: __m256d) -> f64 {
    // SAFETY: a vector exists, so the machine has the instructions.
    sum_of_lanes_sse2_f64(unsafe { _mm_add_pd(_mm256_castpd256_pd128(x), _mm256_extractf128_pd::<1>(x)) })
}

#[inline(always)]
fn sum_of_lanes_avx2_f32(x: __m256) -> f32 {
    // SAFETY: a vector exists, so the machine has the instructions.
    sum_of_lanes_sse2_f32(unsafe { _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps::<1>(x)) })
}

#[inline(always)]
fn sum_of_lanes_avx512_f64(x: __m512d) -> f64 {
    // SAFETY: a vector exists, so the machine has the instructions.
    sum_of_lanes_avx2_f64(unsafe { _mm256_add_pd(_mm512_castpd512_pd256(x), _mm512_extractf64x4_pd::<1>(x)) })
}

#[inline(always)]
fn sum_of_lanes_avx512_f32(x: __m512) -> f32 {
    // SAFETY: a vector exists, so the machine has the instructions. The upper half is moved as f64, because
    // to move it as f32 takes other instructions than those of the level.
    sum_of_lanes_avx2_f32(unsafe {
        let high = _mm512_extractf64x4_pd::<1>(_mm512_castps_pd(x));
        _mm256_add_ps(_mm512_castps512_ps256(x), _mm256_castpd_ps(high))
    })
}
