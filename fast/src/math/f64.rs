//! `exp`, `log` and `tanh` of f64. Each is one fixed sequence of IEEE additions, multiplications, divisions,
//! bit operations and selects, without a fused multiply-add, so that every level gives the bits of the scalar
//! function. exp is written over vectors. The others are written for one element, without branches or tables,
//! so that the compiler vectorises loops over them. Polynomials are minimax fits (Remez exchange, 220 bits).

use super::vector::{ENTRIES, Vector, any_beyond, each};

/// log2(e).
pub(super) const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// The first 32 bits of ln 2. Its product with an integer of 11 bits is exact.
pub(super) const LN2_HI: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
/// ln 2 - `LN2_HI`.
pub(super) const LN2_LO: f64 = f64::from_bits(0x3dea_39ef_3579_3c76);
/// Adding this to a number of at most 2^51 leaves the nearest integer, plus 2046, in the low bits of the sum.
pub(super) const ROUND: f64 = 6_755_399_441_055_744.0 + 2046.0;
const MANTISSA: u64 = 0x000f_ffff_ffff_ffff;
/// The bits of sqrt(1/2).
const SQRT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
const ONE: u64 = 0x3ff0_0000_0000_0000;

/// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2; multiplied by r^2, within 2^-57.9 of e^r.
#[inline(always)]
fn exp_tail(r: f64, r2: f64) -> f64 {
    let c01 = 0.5000000000000011 + r * 0.16666666666666408;
    let c23 = 0.0416666666665281 + r * 0.008333333333496928;
    let c45 = 0.001388888894424927 + r * 0.00019841269502732196;
    let c67 = 2.4801492388201276e-05 + r * 2.755758842941503e-06;
    let c89 = 2.7630523500905356e-07 + r * 2.499985560931945e-08;
    let r4 = r2 * r2;
    (c01 + r2 * c23) + r4 * ((c45 + r2 * c67) + r4 * c89)
}

/// e^r as an unevaluated sum: 1 + r rounded, and the rest.
#[inline(always)]
pub(super) fn exp_reduced(r: f64) -> (f64, f64) {
    let r2 = r * r;
    let high = 1.0 + r;
    (high, ((1.0 - high) + r) + r2 * exp_tail(r, r2))
}

/// x as n ln 2 + r with |r| <= ln(2)/2: n + `ROUND`, and r as an unevaluated difference.
#[inline(always)]
pub(super) fn reduce(x: f64) -> (f64, f64, f64) {
    let shifted = x * LOG2_E + ROUND;
    let n = shifted - ROUND;
    (shifted, x - n * LN2_HI, n * LN2_LO)
}

/// value * 2^n, rounded once, for the n in `shifted`, |n| <= 2000. There are two factors, so that neither
/// overflows before the product does and a subnormal result is rounded only by the second.
#[inline(always)]
pub(super) fn scale(value: f64, shifted: f64) -> f64 {
    let bits = shifted.to_bits();
    let half = bits >> 1;
    value * f64::from_bits(half << 52) * f64::from_bits(bits.wrapping_sub(half) << 52)
}

/// 16 log2(e).
const SIXTEEN_LOG2_E: f64 = f64::from_bits(0x4037_1547_652b_82fe);
/// The first 36 bits of ln(2)/16. Its product with an integer of 15 bits is exact.
const SIXTEENTH_HI: f64 = f64::from_bits(0x3fa6_2e42_fefa_0000);
/// ln(2)/16 - `SIXTEENTH_HI`.
const SIXTEENTH_LO: f64 = f64::from_bits(0x3d3c_f79a_bc9e_3b3a);
/// Adding this to a number of at most 2^51 leaves the nearest integer, plus 16 times the bias, in the low
/// bits of the sum.
const EXP_ROUND: f64 = 6_755_399_441_055_744.0 + 16.0 * 1023.0;
/// Up to this |x|, neither e^x nor any intermediate value is infinite or subnormal.
const EXP_SAFE: f64 = 700.0;
/// ln(1 + j/16) - j ln(2)/16.
static EXP_TABLE: [f64; ENTRIES] = [
    0.0,
    0.01730292303143826,
    0.03113963808639029,
    0.04188516057166948,
    0.04985675617422343,
    0.05532522155865885,
    0.05852353840855513,
    0.05965360219439238,
    0.05889151782819173,
    0.05639181356345027,
    0.05229082793173499,
    0.046709457129585435,
    0.0397554025154637,
    0.031525023541737224,
    0.022104876432421993,
    0.01157300047041628,
];

/// e^x = s e^r, where s = 2^n (1 + j/16) is exact and r is between -0.082 and 0.022. Returns 16 n + j +
/// `EXP_ROUND`, whose bits shifted left by 48 are those of s, and e^r - 1 within 2^-55.8.
#[inline(always)]
fn exp_parts<V: Vector<Element = f64>, const U: usize>(x: [V; U]) -> ([V; U], [V; U]) {
    let v = x[0];
    let shifted = each!(x => x.multiply(v.like(SIXTEEN_LOG2_E)).add(v.like(EXP_ROUND)));
    let n = each!(shifted => shifted.subtract(v.like(EXP_ROUND)));
    let over = each!(shifted => shifted.look_up(&EXP_TABLE));
    let high = each!(x, n => x.subtract(n.multiply(v.like(SIXTEENTH_HI))));
    let low = each!(n, over => n.multiply(v.like(SIXTEENTH_LO)).add(over));
    let r = each!(high, low => high.subtract(low));
    let r2 = each!(r => r.multiply(r));
    let c67 = each!(r => v.like(0.0013884672940243613).add(r.multiply(v.like(0.000192885355078062))));
    let c45 = each!(r => v.like(0.041666666781363).add(r.multiply(v.like(0.008333322900969501))));
    let c23 = each!(r => v.like(0.5000000000000101).add(r.multiply(v.like(0.1666666666727207))));
    let tail = each!(r2, c45, c67 => c45.add(r2.multiply(c67)));
    let tail = each!(r2, c23, tail => c23.add(r2.multiply(tail)));
    (shifted, each!(r, r2, tail => r.add(r2.multiply(tail))))
}

/// e^x.
#[inline(always)]
pub(crate) fn exp<V: Vector<Element = f64>, const U: usize>(x: [V; U]) -> [V; U] {
    let v = x[0];
    let (shifted, p) = exp_parts(x);
    let value = each!(shifted, p => {
        let s = shifted.shift_left(48);
        s.add(s.multiply(p))
    });
    if any_beyond(x, v.like(0.0), v.like(EXP_SAFE)) { exp_beyond(x, value) } else { value }
}

/// e^x for elements beyond `EXP_SAFE`; `known` has the values of the others.
#[cold]
#[inline(always)]
fn exp_beyond<V: Vector<Element = f64>, const U: usize>(x: [V; U], known: [V; U]) -> [V; U] {
    let v = x[0];
    // Outside this range the result is infinite or rounds to 0.
    let (shifted, p) = exp_parts(each!(x => x.at_most(v.like(710.0)).at_least(v.like(-746.0))));
    // Multiplies by two powers of two, so that neither overflows before the product does and a subnormal
    // result is rounded only by the second.
    let value = each!(shifted, p => {
        let s = shifted.shift_left(48).and_bits(v.like(f64::from_bits(MANTISSA))).or_bits(v.like(1.0));
        let n = shifted.shift_right(4).add_bits(v.like(f64::from_bits(1023)));
        let half = n.shift_right(1);
        let (one, other) = (half.shift_left(52), n.subtract_bits(half).shift_left(52));
        s.add(s.multiply(p)).multiply(one).multiply(other)
    });
    each!(value, x, known => x.abs().choose(v.like(EXP_SAFE), value, known))
}

/// A finite x > 0 as 2^k m with sqrt(1/2) <= m < sqrt(2): (k, m).
#[inline(always)]
pub(super) fn split(x: f64) -> (f64, f64) {
    let subnormal = x < f64::MIN_POSITIVE;
    let normal = if subnormal { x * 18_014_398_509_481_984.0 } else { x };
    let bias =
        if subnormal { 4_503_599_627_370_496.0 + (1023.0 + 54.0) } else { 4_503_599_627_370_496.0 + 1023.0 };
    let moved = normal.to_bits().wrapping_add(ONE - SQRT_HALF);
    // 2^52 + the biased exponent, as a float. AVX2 cannot convert 64-bit integers.
    let k = f64::from_bits((moved >> 52) | 0x4330_0000_0000_0000) - bias;
    (k, f64::from_bits((moved & MANTISSA).wrapping_add(SQRT_HALF)))
}

/// The natural logarithm.
#[inline(always)]
pub(super) fn log(x: f64) -> f64 {
    let (k, m) = split(x);
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    // (log((1+s)/(1-s)) - 2s) / s; divided by z, within 2^-59.
    let z2 = z * z;
    let c01 = 0.6666666666666736 + z * 0.39999999999400204;
    let c23 = 0.28571428745914157 + z * 0.22222198182087072;
    let c45 = 0.18183586075410185 + z * 0.15313459666978257;
    let tail = z * (c01 + z2 * (c23 + z2 * (c45 + z2 * 0.14802189792942022)));
    let half = 0.5 * f * f;
    // k ln 2 + f - f^2/2 exactly, then the small terms.
    let a = k * LN2_HI;
    let b = a + f;
    let high = b - half;
    let lost = (f - (b - a)) + ((b - high) - half);
    let value = high + ((lost + k * LN2_LO) + s * (half + tail));
    let below = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    let value = if x > 0.0 { value } else { below };
    if x == f64::INFINITY { x } else { value }
}

/// The hyperbolic tangent.
#[inline(always)]
pub(super) fn tanh(x: f64) -> f64 {
    let a = x.abs();
    // From 19.1 on the result rounds to 1.
    let a = if a > 20.0 { 20.0 } else { a };
    let small = a < 0.5494;
    // Up to a little above atanh(1/2): a + a y P(y)/Q(y) with y = a^2; P/Q is within 2^-62.
    let y = a * a;
    let p = y * (-0.3333333333333333 + y * (-0.02050038829486256 + y * -0.00019924846304621963));
    let q = 1.0 + y * (0.4615011648845839 + y * (0.023293449438298548 + y * 0.00020660916344427424));
    // Above: 1 - 2/(e^2a + 1), with the denominator to twice the precision.
    let (shifted, r, low) = reduce(a + a);
    let (high, low) = exp_reduced(r - low);
    let power = f64::from_bits(shifted.to_bits().wrapping_sub(1023) << 52);
    let whole = high + low;
    let (high, low) = (whole * power, ((high - whole) + low) * power);
    let sum = high + 1.0;
    let lost = ((high - sum) + 1.0) + low;
    let quotient = if small { p } else { 2.0 } / if small { q } else { sum };
    let near = a + a * quotient;
    let main = 1.0 - quotient;
    let far = main + (((1.0 - main) - quotient) + quotient * (quotient * (0.5 * lost)));
    if small { near } else { far }.copysign(x)
}
