//! `power`. For f64, the logarithm and the product are computed to twice the precision; for f32, in f64. The
//! steps follow the method of FreeBSD's `e_pow.c` (log by s = (m-1)/(m+1) in two parts, exact products of
//! halves); the code is our own.

use super::f64::{LN2_HI, LN2_LO, LOG2_E, ROUND, exp_reduced, reduce, scale, split};
use std::f64::consts::LN_2;

/// 2^70. As an exponent, this or any larger number gives only 0, 1 and infinity. (A NaN is not larger.)
const LARGEST_EXPONENT: f64 = 1_180_591_620_717_411_303_424.0;

/// The first 26 bits: the product of two such numbers is exact.
#[inline(always)]
fn first(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & 0xffff_ffff_f800_0000)
}

/// 2/3 in two parts, of which the first has 26 bits.
const TWO_THIRDS: f64 = 2.0 / 3.0;
const TWO_THIRDS_HI: f64 = f64::from_bits(TWO_THIRDS.to_bits() & 0xffff_ffff_f800_0000);
/// 2/3 = TWO_THIRDS + 2^-54 * 2/3.
const TWO_THIRDS_LO: f64 = (TWO_THIRDS - TWO_THIRDS_HI) + TWO_THIRDS / 18_014_398_509_481_984.0;

/// log x for finite x > 0: the first 26 bits, and the rest. Their sum is within 2^-65.
#[inline(always)]
pub(super) fn log_parts(x: f64) -> (f64, f64) {
    let (k, m) = split(x);
    // Divide by the nearest of 3/4, 1 and 5/4, so that |s| < 0.072. Its logarithm is a multiple of 2^-32, and
    // a rest.
    let (below, above) = (m < 0.866_025_403_784_438_6, m > 1.118_033_988_749_895);
    let near = if below {
        0.75
    } else if above {
        1.25
    } else {
        1.0
    };
    let near_hi = if below {
        -0.28768207249231637
    } else if above {
        0.22314355126582086
    } else {
        0.0
    };
    let near_lo = if below {
        4.053543780278539e-11
    } else if above {
        4.838889490356316e-11
    } else {
        0.0
    };
    // s = (m - near)/(m + near) as s_hi + s_lo.
    let f = m - near;
    let t = m + near;
    let t_hi = first(t);
    let t_lo = m - (t_hi - near);
    let v = 1.0 / t;
    let s = f * v;
    let s_hi = first(s);
    let s_lo = v * ((f - s_hi * t_hi) - s_hi * t_lo);
    // atanh(s) = s/3 (3 + s^2 + s^4 W(s^2)), W within 2^-78 of all that.
    let z = s * s;
    let z2 = z * z;
    let w01 = 0.6 + z * 0.428571428571501;
    let w23 = 0.3333333332226184 + z * 0.2727273428010663;
    let w45 = 0.23074782788569093 + z * 0.20313767731733437;
    let w = w01 + z2 * (w23 + z2 * w45);
    let tail = z2 * w + s_lo * (s_hi + s);
    let square = s_hi * s_hi;
    let b_hi = first(3.0 + square + tail);
    let b_lo = tail - ((b_hi - 3.0) - square);
    let u = s_hi * b_hi;
    let rest = s_lo * b_hi + b_lo * s;
    let p_hi = first(u + rest);
    let p_lo = rest - (p_hi - u);
    // log m = log near + 2/3 (p_hi + p_lo), log x = k ln 2 + log m.
    let q_hi = TWO_THIRDS_HI * p_hi;
    let q_lo = TWO_THIRDS_LO * p_hi + TWO_THIRDS * p_lo;
    let a = k * LN2_HI + near_hi;
    let high = a + q_hi;
    let low = (q_hi - (high - a)) + ((k * LN2_LO + near_lo) + q_lo);
    let l_hi = first(high + low);
    (l_hi, low - (l_hi - high))
}

/// x^y by IEEE 754-2019 `pow`.
#[inline(always)]
pub(super) fn power_f64(x: f64, y: f64) -> f64 {
    power_of_log(x, y, log_parts(x.abs()))
}

/// x^y, given the logarithm of |x|.
#[inline(always)]
pub(super) fn power_of_log(x: f64, y: f64, (l_hi, l_lo): (f64, f64)) -> f64 {
    let ax = x.abs();
    let yc = if y > LARGEST_EXPONENT { LARGEST_EXPONENT } else { y };
    let yc = if yc < -LARGEST_EXPONENT { -LARGEST_EXPONENT } else { yc };
    let y_hi = first(yc);
    let y_lo = yc - y_hi;
    let p_hi = y_hi * l_hi;
    let p_lo = y_lo * l_hi + yc * l_lo;
    // Above e^800 the result overflows, below e^-800 it rounds to 0.
    let p_lo = if p_hi.abs() > 800.0 { 0.0 } else { p_lo };
    let p_hi = if p_hi > 800.0 { 800.0 } else { p_hi };
    let p_hi = if p_hi < -800.0 { -800.0 } else { p_hi };
    let (shifted, r_hi, n_lo) = reduce(p_hi);
    let r_lo = p_lo - n_lo;
    let r = r_hi + r_lo;
    let c = (r_hi - r) + r_lo;
    let (high, low) = exp_reduced(r);
    let size = scale(high + (low + (c + c * r)), shifted);

    // 2^52 + |y|, or |y| if that is larger. The last bit is the parity of an integer y below 2^53.
    let ay = y.abs();
    let fine = ay < 4_503_599_627_370_496.0;
    let whole = if fine { ay + 4_503_599_627_370_496.0 } else { ay };
    let integer = !fine | (whole - 4_503_599_627_370_496.0 == ay);
    let parity = if integer & (ay < 9_007_199_254_740_992.0) { whole.to_bits() << 63 } else { 0 };
    let edge = if (ax == 0.0) == (y < 0.0) { f64::INFINITY } else { 0.0 };
    let at_edge = (ax == 0.0) | (ax == f64::INFINITY);
    let size = if at_edge { edge } else { size };
    let signed = f64::from_bits(size.to_bits() ^ (x.to_bits() & parity));
    let signed = if (x < 0.0) & !integer & !at_edge { f64::NAN } else { signed };
    let signed = if x.is_nan() | y.is_nan() { f64::NAN } else { signed };
    if (y == 0.0) | (x == 1.0) { 1.0 } else { signed }
}

/// The logarithm of a positive f32 in f64, within 2^-44. The second part is empty; it matches that of
/// `log_parts`.
#[inline(always)]
pub(super) fn log_wide(x: f32) -> (f64, ()) {
    let (k, m) = split(f64::from(x));
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let c01 = 0.6666666667598744 + z * 0.3999999555055722;
    let c23 = 0.28572117467003527 + z * 0.22175812594463337;
    let z2 = z * z;
    let tail = c01 + z2 * (c23 + z2 * 0.19589951652230567);
    (k * LN_2 + (s + s + s * (z * tail)), ())
}

/// x^y by IEEE 754-2019 `pow`, in f64 with about 15 extra bits, rounded once.
#[inline(always)]
pub(super) fn power_f32(x: f32, y: f32) -> f32 {
    power_of_log_f32(x, y, log_wide(x.abs()))
}

/// x^y, given the logarithm of |x|.
#[inline(always)]
pub(super) fn power_of_log_f32(x: f32, y: f32, (log, ()): (f64, ())) -> f32 {
    let yc = f64::from(y);
    let yc = if yc > LARGEST_EXPONENT { LARGEST_EXPONENT } else { yc };
    let yc = if yc < -LARGEST_EXPONENT { -LARGEST_EXPONENT } else { yc };
    // Outside this range the result overflows or rounds to 0.
    let p = yc * log;
    let p = if p > 92.0 { 92.0 } else { p };
    let p = if p < -110.0 { -110.0 } else { p };
    let shifted = p * LOG2_E + ROUND;
    let r = p - (shifted - ROUND) * LN_2;
    let r2 = r * r;
    // (e^r - 1 - r) / r^2; multiplied by r^2, within 2^-34 of e^r.
    let c01 = 0.5000000068433241 + r * 0.16666665859747468;
    let c23 = 0.04166629217352623 + r * 0.008333498341698076;
    let c45 = 0.0013944868520070566 + r * 0.00019790135029895198;
    let value = 1.0 + (r + r2 * (c01 + r2 * (c23 + r2 * c45)));
    #[expect(clippy::cast_possible_truncation, reason = "the only rounding")]
    let size = (value * f64::from_bits(shifted.to_bits().wrapping_sub(1023) << 52)) as f32;

    // As in `power_of_log`, with 2^23.
    let (ax, ay) = (x.abs(), y.abs());
    let fine = ay < 8_388_608.0;
    let whole = if fine { ay + 8_388_608.0 } else { ay };
    let integer = !fine | (whole - 8_388_608.0 == ay);
    let parity = if integer & (ay < 16_777_216.0) { whole.to_bits() << 31 } else { 0 };
    let edge = if (ax == 0.0) == (y < 0.0) { f32::INFINITY } else { 0.0 };
    let at_edge = (ax == 0.0) | (ax == f32::INFINITY);
    let size = if at_edge { edge } else { size };
    let signed = f32::from_bits(size.to_bits() ^ (x.to_bits() & parity));
    let signed = if (x < 0.0) & !integer & !at_edge { f32::NAN } else { signed };
    let signed = if x.is_nan() | y.is_nan() { f32::NAN } else { signed };
    if (y == 0.0) | (x == 1.0) { 1.0 } else { signed }
}
