//! `a * b + c`, rounded once, for the portable level of x86-64, whose instructions round after the product:
//! the same bits as a fused multiply-add, by exact products and sums. It takes some forty instructions in f64
//! and some twenty-five in f32, so exp, log, tanh and power are slow there. It is for the few machines
//! without FMA.

use std::arch::x86_64::*;

/// `a + b` rounded, and the error of that, which is exact if nothing overflows (Knuth).
#[inline(always)]
fn sum_and_error(a: __m128d, b: __m128d) -> (__m128d, __m128d) {
    // SAFETY: SSE2 belongs to x86-64.
    unsafe {
        let sum = _mm_add_pd(a, b);
        let part = _mm_sub_pd(sum, a);
        (sum, _mm_add_pd(_mm_sub_pd(a, _mm_sub_pd(sum, part)), _mm_sub_pd(b, part)))
    }
}

/// `a + b` rounded to odd: a sum that is not exact becomes the one of its two neighbours whose last bit is 1.
/// Rounded again to at least two bits fewer, that gives the exact sum rounded once (Boldo and Melquiond).
#[inline(always)]
fn sum_to_odd(a: __m128d, b: __m128d) -> __m128d {
    let (sum, error) = sum_and_error(a, b);
    // SAFETY: SSE2 belongs to x86-64.
    unsafe {
        let bits = _mm_castpd_si128(sum);
        // All ones where the last bit is 0.
        let even = _mm_sub_epi64(_mm_and_si128(bits, _mm_set1_epi64x(1)), _mm_set1_epi64x(1));
        // The error with a sign that says whether it points away from zero.
        let outward = _mm_xor_pd(error, _mm_and_pd(sum, _mm_set1_pd(-0.0)));
        let zero = _mm_setzero_pd();
        let up = _mm_and_si128(_mm_castpd_si128(_mm_cmpgt_pd(outward, zero)), even);
        let down = _mm_and_si128(_mm_castpd_si128(_mm_cmplt_pd(outward, zero)), even);
        _mm_castsi128_pd(_mm_add_epi64(_mm_sub_epi64(bits, up), down))
    }
}

/// `a * b + c` for f32. The product is exact in f64.
///
/// # Safety
/// None: SSE2 belongs to x86-64. It is unsafe like the intrinsics of the other levels.
#[inline(always)]
pub(super) unsafe fn multiply_add_f32(a: __m128, b: __m128, c: __m128) -> __m128 {
    // SAFETY: SSE2 belongs to x86-64.
    unsafe {
        let upper = |x: __m128| _mm_cvtps_pd(_mm_movehl_ps(x, x));
        let (low_product, low_c) = (_mm_mul_pd(_mm_cvtps_pd(a), _mm_cvtps_pd(b)), _mm_cvtps_pd(c));
        let (high_product, high_c) = (_mm_mul_pd(upper(a), upper(b)), upper(c));
        let (low, high) = (_mm_add_pd(low_product, low_c), _mm_add_pd(high_product, high_c));
        let value = _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
        // Rounding the sum to f64 first matters only if that is halfway between two f32, or if the f32 is
        // subnormal and so has fewer bits.
        let last = _mm_castps_si128(_mm_shuffle_ps::<0b10_00_10_00>(_mm_castpd_ps(low), _mm_castpd_ps(high)));
        let dropped = _mm_and_si128(last, _mm_set1_epi32(0x1fff_ffff));
        let halfway = _mm_castsi128_ps(_mm_cmpeq_epi32(dropped, _mm_set1_epi32(0x1000_0000)));
        let size = _mm_andnot_ps(_mm_set1_ps(-0.0), value);
        let small = _mm_cmple_ps(size, _mm_set1_ps(f32::MIN_POSITIVE));
        if _mm_movemask_ps(_mm_or_ps(halfway, small)) == 0 {
            value
        } else {
            rounded_to_odd([low_product, low_c], [high_product, high_c])
        }
    }
}

/// The sums of two vectors each, rounded to f32.
#[cold]
#[inline(never)]
fn rounded_to_odd([a, b]: [__m128d; 2], [c, d]: [__m128d; 2]) -> __m128 {
    // SAFETY: SSE2 belongs to x86-64.
    unsafe { _mm_movelh_ps(_mm_cvtpd_ps(sum_to_odd(a, b)), _mm_cvtpd_ps(sum_to_odd(c, d))) }
}

/// The first 26 bits, rounded, and the rest, which has at most 26 (Veltkamp).
#[inline(always)]
fn halves(x: __m128d) -> (__m128d, __m128d) {
    // SAFETY: SSE2 belongs to x86-64.
    unsafe {
        let scaled = _mm_mul_pd(x, _mm_set1_pd(134_217_729.0));
        let high = _mm_sub_pd(scaled, _mm_sub_pd(scaled, x));
        (high, _mm_sub_pd(x, high))
    }
}

/// `a * b + c` for f64: the product and the sum as two numbers each (Dekker), whose small parts are added
/// first.
///
/// # Safety
/// None: SSE2 belongs to x86-64. It is unsafe like the intrinsics of the other levels.
#[inline(always)]
pub(super) unsafe fn multiply_add_f64(a: __m128d, b: __m128d, c: __m128d) -> __m128d {
    // SAFETY: SSE2 belongs to x86-64.
    unsafe {
        let product = _mm_mul_pd(a, b);
        let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
        // The product less a * b.
        let excess = _mm_sub_pd(product, _mm_mul_pd(a_high, b_high));
        let excess = _mm_sub_pd(excess, _mm_mul_pd(a_high, b_low));
        let excess = _mm_sub_pd(excess, _mm_mul_pd(a_low, b_high));
        let excess = _mm_sub_pd(excess, _mm_mul_pd(a_low, b_low));
        let (sum, lost) = sum_and_error(product, c);
        let value = _mm_sub_pd(sum, _mm_sub_pd(excess, lost));
        if is_moderate(product, c, value) && is_settled(excess, lost) {
            value
        } else {
            carefully([a, b, c], sum, [excess, lost])
        }
    }
}

/// Whether nothing has overflowed, which would have led to an infinity or a NaN, and the product or `c` is at
/// least 2^-800. A product below 2^-900, whose excess may not be exact, does not matter beside such a `c`.
#[inline(always)]
fn is_moderate(product: __m128d, c: __m128d, value: __m128d) -> bool {
    const LARGE: f64 = f64::from_bits((1023 + 1000) << 52);
    const SMALL: f64 = f64::from_bits((1023 - 800) << 52);
    // SAFETY: SSE2 belongs to x86-64.
    unsafe {
        let abs = |x: __m128d| _mm_andnot_pd(_mm_set1_pd(-0.0), x);
        let finite = _mm_cmplt_pd(abs(value), _mm_set1_pd(LARGE));
        let normal = _mm_cmpge_pd(_mm_max_pd(abs(product), abs(c)), _mm_set1_pd(SMALL));
        _mm_movemask_pd(_mm_and_pd(finite, normal)) == 0b11
    }
}

/// Whether the rest, `excess - lost`, is exact because one of them is 0, or rounding it has not made it half
/// of a last place of the sum, which is a power of two.
#[inline(always)]
fn is_settled(excess: __m128d, lost: __m128d) -> bool {
    const MANTISSA: f64 = f64::from_bits((1 << 52) - 1);
    // SAFETY: SSE2 belongs to x86-64.
    unsafe {
        let (zero, one) = (_mm_setzero_pd(), _mm_set1_pd(1.0));
        let exact = _mm_or_pd(_mm_cmpeq_pd(excess, zero), _mm_cmpeq_pd(lost, zero));
        let mantissa = _mm_and_pd(_mm_sub_pd(excess, lost), _mm_set1_pd(MANTISSA));
        let settled = _mm_or_pd(exact, _mm_cmpneq_pd(_mm_or_pd(mantissa, one), one));
        _mm_movemask_pd(settled) == 0b11
    }
}

/// `a * b + c` from the parts in [`multiply_add_f64`], with the rest rounded to odd, or by the standard
/// library.
#[cold]
#[inline(never)]
fn carefully([a, b, c]: [__m128d; 3], sum: __m128d, [excess, lost]: [__m128d; 2]) -> __m128d {
    // SAFETY: SSE2 belongs to x86-64.
    unsafe {
        let value = _mm_add_pd(sum, sum_to_odd(lost, _mm_sub_pd(_mm_setzero_pd(), excess)));
        if is_moderate(_mm_mul_pd(a, b), c, value) { value } else { one_by_one(a, b, c) }
    }
}

/// `a * b + c` by the standard library, which may take long, unless the product is 0.
fn one_by_one(a: __m128d, b: __m128d, c: __m128d) -> __m128d {
    let one = |a: f64, b: f64, c: f64| if a == 0.0 || b == 0.0 { a * b + c } else { a.mul_add(b, c) };
    // SAFETY: SSE2 belongs to x86-64.
    unsafe {
        let upper = |x: __m128d| _mm_cvtsd_f64(_mm_unpackhi_pd(x, x));
        let low = one(_mm_cvtsd_f64(a), _mm_cvtsd_f64(b), _mm_cvtsd_f64(c));
        _mm_set_pd(one(upper(a), upper(b), upper(c)), low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers with few or many bits, of moderate and of extreme exponents, and special ones.
    #[allow(clippy::cast_possible_truncation, reason = "a remainder")]
    fn numbers(state: &mut u64) -> f64 {
        let mut random = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *state >> 11
        };
        let (kind, bits) = (random() % 8, random());
        let exponent = |range: u64, bits: u64| (1023 - range / 2 + bits % range) << 52;
        let sign = bits << 63;
        match kind {
            0 => f64::from_bits(bits << 11 | bits >> 40),
            1 => {
                [0.0, -0.0, f64::INFINITY, 1.0, -1.0, f64::MIN_POSITIVE, f64::NAN, 5e-324][bits as usize % 8]
            }
            2 | 3 => f64::from_bits(sign | exponent(8, bits >> 20) | (bits >> 1 & 0xf) << 48),
            4 => f64::from_bits(sign | exponent(120, bits >> 20) | bits >> 1 & 0x3f),
            _ => f64::from_bits(sign | exponent(60, bits >> 30) | random() >> 1),
        }
    }

    #[test]
    fn f64_has_the_bits_of_the_standard_library() {
        let mut state = 1;
        for _ in 0..200_000 {
            let [a, b, c] = std::array::from_fn(|_| numbers(&mut state));
            // Also sums that cancel all but the error of the product, or end halfway between two numbers.
            for c in [c, -(a * b), a * b * 9_007_199_254_740_992.0, a * b / 9_007_199_254_740_992.0] {
                // SAFETY: SSE2 belongs to x86-64.
                let got = unsafe {
                    _mm_cvtsd_f64(multiply_add_f64(_mm_set1_pd(a), _mm_set1_pd(b), _mm_set1_pd(c)))
                };
                // A product that is 0 is exact. In valgrind, `mul_add` then loses the sign of a zero.
                let want = if a == 0.0 || b == 0.0 { a * b + c } else { a.mul_add(b, c) };
                assert!(
                    got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{a:e} * {b:e} + {c:e}: found {got:e}, expected {want:e}"
                );
            }
        }
    }

    #[test]
    #[allow(clippy::cast_possible_truncation, reason = "the nearest f32 is intended")]
    fn f32_has_the_bits_of_the_standard_library() {
        let mut state = 2;
        for _ in 0..200_000 {
            let [a, b, c] = std::array::from_fn(|_| numbers(&mut state) as f32);
            for c in [c, -(a * b), a * b * 16_777_216.0, a * b / 16_777_216.0] {
                // SAFETY: SSE2 belongs to x86-64.
                let got = unsafe {
                    _mm_cvtss_f32(multiply_add_f32(_mm_set1_ps(a), _mm_set1_ps(b), _mm_set1_ps(c)))
                };
                let want = a.mul_add(b, c);
                assert!(
                    got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(),
                    "{a:e} * {b:e} + {c:e}: found {got:e}, expected {want:e}"
                );
            }
        }
    }

    /// An odd c near 2^-126 plus the product (1 + 2^-23) (1 - 2^-23) 2^-150, which is a little less than half
    /// of the last place of c: the sum in f64 is halfway, from where c + 2^-149 is the even neighbour.
    #[test]
    fn a_subnormal_f32_is_rounded_once() {
        let scale = f32::from_bits((127 - 75) << 23);
        let (a, b) = ((1.0 + f32::EPSILON) * scale, (1.0 - f32::EPSILON) * scale);
        let c = f32::from_bits((1 << 23) - 1);
        // SAFETY: SSE2 belongs to x86-64.
        let got = unsafe { multiply_add_f32(_mm_set1_ps(a), _mm_set1_ps(b), _mm_set1_ps(c)) };
        // SAFETY: as above.
        assert_eq!(unsafe { _mm_cvtss_f32(got) }.to_bits(), c.to_bits());
    }

    #[test]
    fn a_sum_to_odd_is_exact_or_an_odd_neighbour() {
        let mut state = 3;
        for _ in 0..200_000 {
            let [a, b] = std::array::from_fn(|_| numbers(&mut state));
            let sum = a + b;
            if !sum.is_finite() {
                continue;
            }
            // SAFETY: SSE2 belongs to x86-64.
            let (got, error) = unsafe {
                let (a, b) = (_mm_set1_pd(a), _mm_set1_pd(b));
                (_mm_cvtsd_f64(sum_to_odd(a, b)), _mm_cvtsd_f64(sum_and_error(a, b).1))
            };
            if error == 0.0 || sum.to_bits() % 2 == 1 {
                assert_eq!(got.to_bits(), sum.to_bits(), "{a:e} + {b:e}");
            } else {
                let next = if error > 0.0 { sum.next_up() } else { sum.next_down() };
                assert_eq!(got.to_bits(), next.to_bits(), "{a:e} + {b:e}");
            }
        }
    }
}
