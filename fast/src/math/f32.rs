//! `exp`, `log` and `tanh` of f32, as in `f64.rs`, but computed in f32, so that a vector holds twice as many
//! elements.

use super::vector::{ENTRIES, Vector, any_beyond, each};

const LOG2_E: f32 = std::f32::consts::LOG2_E;
/// The first 15 bits of ln 2. Its product with an integer of 9 bits is exact.
const LN2_HI: f32 = f32::from_bits(0x3f31_7200);
/// ln 2 - `LN2_HI`.
const LN2_LO: f32 = f32::from_bits(0x35bf_be8e);
/// Adding this to a number of at most 2^22 leaves the nearest integer, plus 254, in the low bits of the sum.
const ROUND: f32 = 12_582_912.0 + 254.0;
const MANTISSA: u32 = 0x007f_ffff;
/// The bits of sqrt(1/2).
const SQRT_HALF: u32 = 0x3f35_04f3;
const ONE: u32 = 0x3f80_0000;

/// e^r as an unevaluated sum: 1 + r rounded, and the rest.
#[inline(always)]
fn exp_reduced(r: f32) -> (f32, f32) {
    let r2 = r * r;
    let c01 = 0.49999994 + r * 0.1666652;
    let c23 = 0.0416684 + r * 0.008368851;
    let tail = c01 + r2 * (c23 + r2 * 0.001381432);
    // mutant: replace + with -: the other part then is 2r more, and tanh adds both: within 1 ULP all the same
    let high = 1.0 + r;
    (high, ((1.0 - high) + r) + r2 * tail)
}

/// x as n ln 2 + r with |r| <= ln(2)/2: n + `ROUND`, and r.
#[inline(always)]
fn reduce(x: f32) -> (f32, f32) {
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    (shifted, (x - n * LN2_HI) - n * LN2_LO)
}

/// 8 log2(e).
const EIGHT_LOG2_E: f32 = 11.54156;
/// The first 12 bits of ln(2)/8. Its product with an integer of 11 bits is exact.
const EIGHTH_HI: f32 = f32::from_bits(0x3db1_7000);
/// ln(2)/8 - `EIGHTH_HI`.
const EIGHTH_LO: f32 = f32::from_bits(0x3685_fdf4);
/// Adding this to a number of at most 2^22 leaves the nearest integer, plus 8 times the bias, in the low bits
/// of the sum.
const EXP_ROUND: f32 = 12_582_912.0 + 8.0 * 127.0;
/// Up to this |x|, neither e^x nor any intermediate value is infinite or subnormal.
const EXP_SAFE: f32 = 80.0;
/// ln(1 + j/8) - j ln(2)/8, twice: one vector of eight holds all eight values.
static EXP_TABLE: [f32; ENTRIES] = [
    0.0,
    0.031139638,
    0.049856756,
    0.05852354,
    0.058891516,
    0.052290827,
    0.039755404,
    0.022104876,
    0.0,
    0.031139638,
    0.049856756,
    0.05852354,
    0.058891516,
    0.052290827,
    0.039755404,
    0.022104876,
];

/// As in `f64.rs`, with s = 2^n (1 + j/8) and r between -0.103 and 0.044. Returns 8 n + j + `EXP_ROUND`,
/// whose bits shifted left by 20 are those of s, and e^r - 1 within 2^-29.
#[inline(always)]
fn exp_parts<V: Vector<Element = f32>, const U: usize>(x: [V; U]) -> ([V; U], [V; U]) {
    let v = x[0];
    let shifted = each!(x => x.multiply(v.like(EIGHT_LOG2_E)).add(v.like(EXP_ROUND)));
    let n = each!(shifted => shifted.subtract(v.like(EXP_ROUND)));
    let over = each!(shifted => shifted.look_up(&EXP_TABLE));
    let high = each!(x, n => x.subtract(n.multiply(v.like(EIGHTH_HI))));
    let low = each!(n, over => n.multiply(v.like(EIGHTH_LO)).add(over));
    let r = each!(high, low => high.subtract(low));
    let r2 = each!(r => r.multiply(r));
    let c23 = each!(r => v.like(0.50000197).add(r.multiply(v.like(0.1666611))));
    let tail = each!(c23, r2 => c23.add(r2.multiply(v.like(0.040600777))));
    (shifted, each!(r, r2, tail => r.add(r2.multiply(tail))))
}

/// e^x.
#[inline(always)]
pub(crate) fn exp<V: Vector<Element = f32>, const U: usize>(x: [V; U]) -> [V; U] {
    let v = x[0];
    let (shifted, p) = exp_parts(x);
    let value = each!(shifted, p => {
        let s = shifted.shift_left(20);
        s.add(s.multiply(p))
    });
    if any_beyond(x, v.like(0.0), v.like(EXP_SAFE)) { exp_beyond(x, value) } else { value }
}

/// e^x for elements beyond `EXP_SAFE`; `known` has the values of the others.
#[cold]
#[inline(always)]
fn exp_beyond<V: Vector<Element = f32>, const U: usize>(x: [V; U], known: [V; U]) -> [V; U] {
    let v = x[0];
    // Outside this range the result is infinite or rounds to 0.
    let (shifted, p) = exp_parts(each!(x => x.at_most(v.like(89.0)).at_least(v.like(-104.5))));
    // Multiplies by two powers of two, as in `f64.rs`.
    let value = each!(shifted, p => {
        let s = shifted.shift_left(20).and_bits(v.like(f32::from_bits(MANTISSA))).or_bits(v.like(1.0));
        let n = shifted.shift_right(3).add_bits(v.like(f32::from_bits(127)));
        let half = n.shift_right(1);
        let (one, other) = (half.shift_left(23), n.subtract_bits(half).shift_left(23));
        s.add(s.multiply(p)).multiply(one).multiply(other)
    });
    each!(value, x, known => x.abs().choose(v.like(EXP_SAFE), value, known))
}

/// The natural logarithm.
#[inline(always)]
pub(super) fn log(x: f32) -> f32 {
    let subnormal = x < f32::MIN_POSITIVE;
    let normal = if subnormal { x * 33_554_432.0 } else { x };
    let bias = if subnormal { 127 + 25 } else { 127 };
    let moved = normal.to_bits().wrapping_add(ONE - SQRT_HALF);
    let k = ((moved >> 23).cast_signed() - bias) as f32;
    let f = f32::from_bits((moved & MANTISSA).wrapping_add(SQRT_HALF)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    // (log((1+s)/(1-s)) - 2s) / s; divided by z, within 2^-30.
    let tail = z * (0.66666776 + z * (0.39977357 + z * 0.29877114));
    let half = 0.5 * f * f;
    // k ln 2 + f - f^2/2 exactly, then the small terms.
    let a = k * LN2_HI;
    let b = a + f;
    let high = b - half;
    let lost = (f - (b - a)) + ((b - high) - half);
    let value = high + ((lost + k * LN2_LO) + s * (half + tail));
    let below = if x == 0.0 { f32::NEG_INFINITY } else { f32::NAN };
    let value = if x > 0.0 { value } else { below };
    if x == f32::INFINITY { x } else { value }
}

/// The hyperbolic tangent.
#[inline(always)]
pub(super) fn tanh(x: f32) -> f32 {
    let a = x.abs();
    // From 9.1 on the result rounds to 1.
    let a = if a > 10.0 { 10.0 } else { a };
    // Up to a little above atanh(1/2): a + a y P(y) with y = a^2, within 2^-29.
    let y = a * a;
    let c12 = 0.13332611 + y * -0.053854648;
    let c34 = 0.021080377 + y * -0.006285497;
    let near = a + a * (y * (-0.3333332 + y * (c12 + (y * y) * c34)));
    // Above: 1 - 2/(e^2a + 1), with the denominator to twice the precision.
    let (shifted, r) = reduce(a + a);
    let (high, low) = exp_reduced(r);
    let power = f32::from_bits(shifted.to_bits().wrapping_sub(127) << 23);
    let whole = high + low;
    let (high, low) = (whole * power, ((high - whole) + low) * power);
    let sum = high + 1.0;
    let lost = ((high - sum) + 1.0) + low;
    let quotient = 2.0 / sum;
    let main = 1.0 - quotient;
    let far = main + (((1.0 - main) - quotient) + quotient * (quotient * (0.5 * lost)));
    if a < 0.5494 { near } else { far }.copysign(x)
}
