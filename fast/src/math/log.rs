//! The natural logarithm. With x = 2^k m and c near 1/m from a table, ln x = k ln 2 - ln c + ln(1 + r), where
//! r = m c - 1 is exact. Around 1, c is 1 and k is 0, so that nothing cancels.

use super::real::{Real, polynomial};
use super::vector::{Vector, each};

/// The parts of the logarithm of normal positive numbers.
pub(super) struct Parts<V, const U: usize> {
    /// k ln 2 - ln c, of which the first part is exact.
    pub(super) high: [V; U],
    pub(super) low: [V; U],
    pub(super) r: [V; U],
}

/// The parts of the logarithm of 2^-`raised` x.
#[inline(always)]
pub(super) fn parts<V: Vector<Element: Real>, const U: usize>(
    x: [V; U],
    raised: Option<[V; U]>,
) -> Parts<V, U> {
    let (v, bits) = (x[0], V::Element::MANTISSA_BITS);
    let moved = each!(x => x.add_bits(v.like(V::Element::ONE_LESS_LOW)));
    let whole = each!(moved => moved.shift_right(bits).or_bits(v.like(V::Element::WHOLE)));
    let k = each!(whole => whole.subtract(v.like(V::Element::WHOLE_BIAS)));
    let k = if let Some(raised) = raised { each!(k, raised => k.subtract(raised)) } else { k };
    let m = each!(moved => moved.and_bits(v.like(V::Element::MANTISSA)).add_bits(v.like(V::Element::LOW)));
    let index = each!(moved => moved.shift_right(bits - 4));
    let c = each!(index => index.look_up_whole(V::Element::LOG_INVERSE));
    let r = each!(m, c => m.multiply_add(c, v.like(V::Element::ONE).negate()));
    let high = each!(index => index.look_up_whole(V::Element::LOG_HIGH));
    let high = each!(k, high => k.multiply_add(v.like(V::Element::LN2_HI), high));
    let low = each!(index => index.look_up_whole(V::Element::LOG_LOW));
    let low = each!(k, low => k.multiply_add(v.like(V::Element::LN2_LO), low));
    Parts { high, low, r }
}

/// The sum of the parts, rounded.
#[inline(always)]
fn whole<V: Vector<Element: Real>, const U: usize>(Parts { high, low, r }: Parts<V, U>) -> [V; U] {
    let tail = each!(r => polynomial(r, V::Element::LOG_TAIL));
    let sum = each!(high, r => high.add(r));
    let lost = each!(high, sum, r, low => high.subtract(sum).add(r).add(low));
    each!(sum, r, tail, lost => sum.add(r.multiply(r).multiply_add(tail, lost)))
}

/// The natural logarithm.
#[inline(always)]
pub(crate) fn log<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U] {
    let v = x[0];
    let mut beyond = false;
    for x in x {
        beyond |= x.any_outside(v.like(V::Element::LEAST), v.like(V::Element::MOST));
    }
    if beyond { beyond_normal(x) } else { whole(parts(x, None)) }
}

/// Numbers below the smallest normal one as 2^-`raised` times normal ones, and the others with a `raised` of
/// 0.
#[inline(always)]
pub(super) fn raise<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> ([V; U], [V; U]) {
    let v = x[0];
    let least = v.like(V::Element::LEAST);
    let normal = each!(x => least.choose(x, x.multiply(v.like(V::Element::RAISE)), x));
    (normal, each!(x => least.choose(x, v.like(V::Element::RAISED), v.like(V::Element::ZERO))))
}

/// The logarithm where some x is not a normal positive number.
#[cold]
#[inline(always)]
fn beyond_normal<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U] {
    let v = x[0];
    let zero = v.like(V::Element::ZERO);
    let (normal, raised) = raise(x);
    let value = whole(parts(normal, Some(raised)));
    each!(value, x => {
        let positive = x.choose(zero, value, zero.choose(x, v.like(V::Element::NAN), v.like(V::Element::INFINITY).negate()));
        // x - x is 0 or, for an infinity or a NaN, a NaN.
        x.choose(v.like(V::Element::MOST), x, positive.add(x.subtract(x)))
    })
}
