//! The hyperbolic tangent. tanh a = (e^2a - 1) / (e^2a + 1), where the numerator, the denominator and the
//! quotient are computed to more than the precision, so that only the last operation rounds noticeably.

use super::real::{Real, polynomial};
use super::vector::{Vector, each};

/// The hyperbolic tangent.
#[inline(always)]
pub(crate) fn tanh<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U] {
    let (v, bits) = (x[0], V::Element::MANTISSA_BITS);
    let one = v.like(V::Element::ONE);
    let twice = each!(x => {
        let a = x.abs().at_most(v.like(V::Element::TANH_ONE));
        a.add(a)
    });
    // 2a = n ln 2 + high + low, s = 2^n.
    let shifted = each!(twice => twice.multiply_add(v.like(V::Element::LOG2_E), v.like(V::Element::ROUND)));
    let minus_n = each!(shifted => v.like(V::Element::ROUND).subtract(shifted));
    let high = each!(twice, minus_n => minus_n.multiply_add(v.like(V::Element::LN2_HI), twice));
    let low = each!(minus_n => minus_n.multiply(v.like(V::Element::LN2_LO)));
    let s = each!(shifted => shifted.shift_left(bits));
    // e^(high + low) - 1 = p + p_rest. In the small terms, the sum may be rounded.
    let r = each!(high, low => high.add(low));
    let tail = each!(r => polynomial(r, V::Element::EXPM1_TAIL));
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
    each!(value, x => value.or_bits(x.and_bits(v.like(V::Element::ZERO).negate())))
}
