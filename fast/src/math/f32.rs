//! `exp` of f32, as in `f64.rs`, but computed in f32, so that a vector holds twice as many elements.

use super::vector::{ENTRIES, Vector, any_beyond, each};

const MANTISSA: u32 = 0x007f_ffff;

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
pub(crate) const EXP_SAFE: f32 = 80.0;
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
pub(crate) fn exp_parts<V: Vector<Element = f32>, const U: usize>(
    x: [V; U],
    rest: Option<[V; U]>,
) -> ([V; U], [V; U]) {
    let v = x[0];
    let shifted = each!(x => x.multiply_add(v.like(EIGHT_LOG2_E), v.like(EXP_ROUND)));
    let n = each!(shifted => shifted.subtract(v.like(EXP_ROUND)));
    let over = each!(shifted => shifted.look_up(&EXP_TABLE));
    let over = if let Some(rest) = rest { each!(over, rest => over.subtract(rest)) } else { over };
    let high = each!(x, n => n.multiply_add(v.like(-EIGHTH_HI), x));
    let low = each!(n, over => n.multiply_add(v.like(EIGHTH_LO), over));
    let r = each!(high, low => high.subtract(low));
    let r2 = each!(r => r.multiply(r));
    let c23 = each!(r => r.multiply_add(v.like(0.1666611), v.like(0.50000197)));
    let tail = each!(c23, r2 => r2.multiply_add(v.like(0.040600777), c23));
    (shifted, each!(r, r2, tail => r2.multiply_add(tail, r)))
}

/// As in `f64.rs`.
#[inline(always)]
pub(crate) fn exp_whole<V: Vector<Element = f32>, const U: usize>(shifted: [V; U], p: [V; U]) -> [V; U] {
    each!(shifted, p => {
        let s = shifted.shift_left(20);
        s.multiply_add(p, s)
    })
}

/// As in `f64.rs`.
#[inline(always)]
pub(crate) fn exp_scaled<V: Vector<Element = f32>, const U: usize>(shifted: [V; U], p: [V; U]) -> [V; U] {
    let v = p[0];
    each!(shifted, p => {
        let s = shifted.shift_left(20).and_bits(v.like(f32::from_bits(MANTISSA))).or_bits(v.like(1.0));
        let n = shifted.shift_right(3).add_bits(v.like(f32::from_bits(127)));
        let half = n.shift_right(1);
        let (one, other) = (half.shift_left(23), n.subtract_bits(half).shift_left(23));
        s.multiply_add(p, s).multiply(one).multiply(other)
    })
}

/// e^x.
#[inline(always)]
pub(crate) fn exp<V: Vector<Element = f32>, const U: usize>(x: [V; U]) -> [V; U] {
    let v = x[0];
    let (shifted, p) = exp_parts(x, None);
    let value = exp_whole(shifted, p);
    if any_beyond(x, v.like(0.0), v.like(EXP_SAFE)) { exp_beyond(x, value) } else { value }
}

/// e^x for elements beyond `EXP_SAFE`; `known` has the values of the others.
#[cold]
#[inline(always)]
fn exp_beyond<V: Vector<Element = f32>, const U: usize>(x: [V; U], known: [V; U]) -> [V; U] {
    let v = x[0];
    // Outside this range the result is infinite or rounds to 0.
    let (shifted, p) = exp_parts(each!(x => x.at_most(v.like(89.0)).at_least(v.like(-104.5))), None);
    let value = exp_scaled(shifted, p);
    each!(value, x, known => x.abs().choose(v.like(EXP_SAFE), value, known))
}
