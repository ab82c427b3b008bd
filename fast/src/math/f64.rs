//! `exp` of f64, over vectors, as one fixed sequence of IEEE operations with fused multiply-adds, so that
//! every level gives the bits of the scalar function. Polynomials are minimax fits (Remez exchange, 220
//! bits).

use super::vector::{ENTRIES, Vector, any_beyond, each};

const MANTISSA: u64 = 0x000f_ffff_ffff_ffff;

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
pub(crate) const EXP_SAFE: f64 = 700.0;
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
pub(crate) fn exp_parts<V: Vector<Element = f64>, const U: usize>(
    x: [V; U],
    rest: Option<[V; U]>,
) -> ([V; U], [V; U]) {
    let v = x[0];
    let shifted = each!(x => x.multiply_add(v.like(SIXTEEN_LOG2_E), v.like(EXP_ROUND)));
    let n = each!(shifted => shifted.subtract(v.like(EXP_ROUND)));
    let over = each!(shifted => shifted.look_up(&EXP_TABLE));
    let over = if let Some(rest) = rest { each!(over, rest => over.subtract(rest)) } else { over };
    let high = each!(x, n => n.multiply_add(v.like(-SIXTEENTH_HI), x));
    let low = each!(n, over => n.multiply_add(v.like(SIXTEENTH_LO), over));
    let r = each!(high, low => high.subtract(low));
    let r2 = each!(r => r.multiply(r));
    let c67 = each!(r => r.multiply_add(v.like(0.000192885355078062), v.like(0.0013884672940243613)));
    let c45 = each!(r => r.multiply_add(v.like(0.008333322900969501), v.like(0.041666666781363)));
    let c23 = each!(r => r.multiply_add(v.like(0.1666666666727207), v.like(0.5000000000000101)));
    let tail = each!(r2, c45, c67 => r2.multiply_add(c67, c45));
    let tail = each!(r2, c23, tail => r2.multiply_add(tail, c23));
    (shifted, each!(r, r2, tail => r2.multiply_add(tail, r)))
}

/// s (1 + p) for the results of [`exp_parts`], if that is neither infinite nor subnormal.
#[inline(always)]
pub(crate) fn exp_whole<V: Vector<Element = f64>, const U: usize>(shifted: [V; U], p: [V; U]) -> [V; U] {
    each!(shifted, p => {
        let s = shifted.shift_left(48);
        s.multiply_add(p, s)
    })
}

/// s (1 + p) multiplied by two powers of two, so that neither overflows before the product does and a
/// subnormal result is rounded only by the second.
#[inline(always)]
pub(crate) fn exp_scaled<V: Vector<Element = f64>, const U: usize>(shifted: [V; U], p: [V; U]) -> [V; U] {
    let v = p[0];
    each!(shifted, p => {
        let s = shifted.shift_left(48).and_bits(v.like(f64::from_bits(MANTISSA))).or_bits(v.like(1.0));
        let n = shifted.shift_right(4).add_bits(v.like(f64::from_bits(1023)));
        let half = n.shift_right(1);
        let (one, other) = (half.shift_left(52), n.subtract_bits(half).shift_left(52));
        s.multiply_add(p, s).multiply(one).multiply(other)
    })
}

/// e^x.
#[inline(always)]
pub(crate) fn exp<V: Vector<Element = f64>, const U: usize>(x: [V; U]) -> [V; U] {
    let v = x[0];
    let (shifted, p) = exp_parts(x, None);
    let value = exp_whole(shifted, p);
    if any_beyond(x, v.like(0.0), v.like(EXP_SAFE)) { exp_beyond(x, value) } else { value }
}

/// e^x for elements beyond `EXP_SAFE`; `known` has the values of the others.
#[cold]
#[inline(always)]
fn exp_beyond<V: Vector<Element = f64>, const U: usize>(x: [V; U], known: [V; U]) -> [V; U] {
    let v = x[0];
    // Outside this range the result is infinite or rounds to 0.
    let (shifted, p) = exp_parts(each!(x => x.at_most(v.like(710.0)).at_least(v.like(-746.0))), None);
    let value = exp_scaled(shifted, p);
    each!(value, x, known => x.abs().choose(v.like(EXP_SAFE), value, known))
}
