//! The hyperbolic tangent: in f64 by the exponential function, in f32 by a polynomial for each of eight
//! intervals. Eight entries are what one instruction of AVX2 looks up, and f64 would need many more.

use super::real::{Real, polynomial};
use super::vector::{ENTRIES, Vector, each};
use std::f64::consts::LOG2_E;

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U] {
    V::Element::tanh_of(x)
}

/// Adding this to a number leaves the nearest integer, plus the bias of exponents, in the low bits.
const ROUND: f64 = ((3_u64 << (f64::MANTISSA_BITS - 1)) + 1023) as f64;

/// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2. Within 2^-61.7 of e^r - 1.
static EXPM1_TAIL: [f64; 11] = [
    0.5,
    0.16666666666666677,
    0.0416666666666667,
    0.008333333333321532,
    0.0013888888888866568,
    0.0001984126988640145,
    2.480158736105145e-05,
    2.755724391131049e-06,
    2.7557242356578564e-07,
    2.510914751918635e-08,
    2.0924563681140176e-09,
];

/// (e^2a - 1) / (e^2a + 1), where the numerator, the denominator and the quotient are computed to more than
/// the precision, so that only the last operation rounds noticeably.
#[inline(always)]
pub(crate) fn tanh_f64<V: Vector<Element = f64>, const U: usize>(x: [V; U]) -> [V; U] {
    let (v, bits) = (x[0], f64::MANTISSA_BITS);
    let one = v.like(1.0);
    let twice = each!(x => {
        // From here on, tanh rounds to 1.
        let a = x.abs().at_most(v.like(20.0));
        a.add(a)
    });
    // 2a = n ln 2 + high + low, s = 2^n.
    let shifted = each!(twice => twice.multiply_add(v.like(LOG2_E), v.like(ROUND)));
    let minus_n = each!(shifted => v.like(ROUND).subtract(shifted));
    let high = each!(twice, minus_n => minus_n.multiply_add(v.like(f64::LN2_HI), twice));
    let low = each!(minus_n => minus_n.multiply(v.like(f64::LN2_LO)));
    let s = each!(shifted => shifted.shift_left(bits));
    // e^(high + low) - 1 = p + p_rest. In the small terms, the sum may be rounded.
    let r = each!(high, low => high.add(low));
    let tail = each!(r => polynomial(r, &EXPM1_TAIL));
    let tail = each!(r, tail, low => r.multiply(r).multiply_add(tail, low));
    let p = each!(high, tail => high.add(tail));
    let p_rest = each!(high, p, tail => high.subtract(p).add(tail));
    // s (1 + p) - 1 and s (1 + p) + 1, each with what its rounding lost. Near the end s - 1 is rounded too.
    let less = each!(s => s.subtract(one));
    let below = each!(s, p, less => s.multiply_add(p, less));
    let lost = each!(s, less => s.subtract(less).subtract(one));
    let lost = each!(less, below, lost => less.subtract(below).add(lost));
    let below_rest = each!(s, p, lost => s.multiply_add(p, lost));
    let below_rest = each!(s, p_rest, below_rest => s.multiply_add(p_rest, below_rest));
    let above = each!(s, p => s.multiply_add(p, s.add(one)));
    let above_rest = each!(s, p, above => s.multiply_add(p, s.subtract(above).add(one)));
    let above_rest = each!(s, p_rest, above_rest => s.multiply_add(p_rest, above_rest));
    // The quotient, corrected by its remainder.
    let inverse = each!(above => one.divide(above));
    let quotient = each!(below, inverse => below.multiply(inverse));
    let minus = each!(quotient => quotient.negate());
    let remainder = each!(minus, above, below => minus.multiply_add(above, below));
    let remainder = each!(minus, above_rest, remainder => minus.multiply_add(above_rest, remainder));
    let remainder = each!(remainder, below_rest => remainder.add(below_rest));
    let value = each!(remainder, inverse, quotient => remainder.multiply_add(inverse, quotient));
    each!(value, x => value.or_bits(x.and_bits(v.like(0.0).negate())))
}

/// Eight entries for [`Vector::look_up`].
const fn twice(entries: [f32; 8]) -> [f32; ENTRIES] {
    let [a, b, c, d, e, f, g, h] = entries;
    [a, b, c, d, e, f, g, h, a, b, c, d, e, f, g, h]
}

/// |x| is in one of eight intervals, which the exponent and one more bit of 1 + `SPREAD` |x| select: up to
/// 0.34, 0.67, 1.34, 2.01, 3.36, 4.7, 7.38 and 10. The first two are the last two entries of the tables.
const SPREAD: f32 = 1.49;
/// From here on, tanh rounds to 1.
const TANH_ONE: f32 = 10.0;
/// A number near the centre of each interval, whose tanh and its derivative are nearly floats; 0 for the
/// first interval.
#[rustfmt::skip]
static CENTRES: [f32; ENTRIES] = twice([
    1.0073572, 1.6784499, 2.6826377, 4.017389, 6.0487833, 8.664492, 0.0, 0.50278276,
]);
/// The polynomial of each interval in |x| less its centre, from the constant on, within 0.18 ULP. That of the
/// first interval is tanh a - a.
#[rustfmt::skip]
static COEFFICIENTS: [[f32; ENTRIES]; 8] = [
    twice([
        0.76466674, 0.9326601, 0.9906912, 0.9993522, 0.99998885, 0.99999994, 0.0, 0.46430284,
    ]),
    twice([
        0.41528478, 0.13014513, 0.018530976, 0.0012951469, 2.2291984e-5, 1.1917307e-7, 0.0, 0.7844229,
    ]),
    twice([
        -0.31755608, -0.121380925, -0.018358352, -0.0012943714, -2.2370574e-5, -1.1945484e-7, -2.4313908e-7,
        -0.36420977,
    ]),
    twice([
        0.10439694, 0.06982557, 0.012010077, 0.0008617609, 1.4909621e-5, 7.9535276e-8, -0.33331946,
        -0.09237083,
    ]),
    twice([
        0.026114836, -0.024676736, -0.005781109, -0.00042889558, -7.1510194e-6, -3.8479904e-8,
        -0.00026267988, 0.16428791,
    ]),
    twice([
        -0.045540106, 0.0026229143, 0.0021387758, 0.00017089622, 2.859727e-6, 1.5616298e-8, 0.13557567,
        -0.028032983,
    ]),
    twice([
        0.017618151, 0.0032901587, -0.0005890158, -5.972139e-5, -1.2574568e-6, -6.6128165e-9, -0.009211479,
        -0.049494244,
    ]),
    twice([
        0.002877717, -0.0025115793, 9.133423e-5, 1.6323746e-5, 3.6065674e-7, 1.7890526e-9, -0.038162842,
        0.027698146,
    ]),
];

/// A polynomial of degree 7 for each interval, of which only the last two operations round noticeably.
#[inline(always)]
pub(crate) fn tanh_f32<V: Vector<Element = f32>, const U: usize>(x: [V; U]) -> [V; U] {
    let v = x[0];
    let a = each!(x => x.abs().at_most(v.like(TANH_ONE)));
    let spread = each!(a => a.multiply_add(v.like(SPREAD), v.like(1.0)));
    let index = each!(spread => spread.shift_right(22));
    let y = each!(a, index => a.subtract(index.look_up(&CENTRES)));
    let [constants, others @ .., last] = &COEFFICIENTS;
    let mut value = each!(index => index.look_up(last));
    for coefficients in others.iter().rev() {
        value = each!(value, y, index => value.multiply_add(y, index.look_up(coefficients)));
    }
    // In the first interval, a is added instead of a constant.
    let start = each!(index => index.look_up(constants));
    let start = each!(start, spread, a => spread.choose_at_least(v.like(1.5), start, a));
    let value = each!(value, y, start => value.multiply_add(y, start));
    each!(value, x => value.or_bits(x.and_bits(v.like(-0.0))))
}
