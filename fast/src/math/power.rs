//! `power`: e^(y ln x), with the logarithm and the product to more than twice the bits that the result needs.

use super::log::{Parts, parts, raise};
use super::real::{Real, polynomial};
use super::vector::{Vector, each};

/// ln x as a rounded sum and the rest, given the parts of the logarithm. With w = (ln(1 + r) - r) / r^2,
/// which is -1/2 + r/3 and small terms, the square of r and its product with w are exact sums of two numbers.
#[inline(always)]
fn logarithm<V: Vector<Element: Real>, const U: usize>(
    Parts { high, low, r }: Parts<V, U>,
) -> ([V; U], [V; U]) {
    let v = r[0];
    let minus_half = v.like(V::Element::HALF).negate();
    let square = each!(r => r.multiply(r));
    let square_rest = each!(r, square => r.multiply_add(r, square.negate()));
    let w = each!(r => r.multiply_add(v.like(V::Element::THIRD), minus_half));
    let w_rest = each!(r, w => r.multiply_add(v.like(V::Element::THIRD), minus_half.subtract(w)));
    let w_rest = each!(r, w_rest => r.multiply_add(v.like(V::Element::THIRD_REST), w_rest));
    let tail = each!(r => polynomial(r, V::Element::POWER_TAIL));
    let w_rest = each!(square, tail, w_rest => square.multiply_add(tail, w_rest));
    let curve = each!(square, w => square.multiply(w));
    let curve_rest = each!(square, w, curve => square.multiply_add(w, curve.negate()));
    let curve_rest = each!(square_rest, w, curve_rest => square_rest.multiply_add(w, curve_rest));
    let curve_rest = each!(square, w_rest, curve_rest => square.multiply_add(w_rest, curve_rest));
    // Each of the larger parts is 0 or not much smaller than the next one.
    let line = each!(high, r => high.add(r));
    let line_rest = each!(high, r, line => high.subtract(line).add(r));
    let sum = each!(line, curve => line.add(curve));
    let sum_rest = each!(line, curve, sum => line.subtract(sum).add(curve));
    let rest = each!(low, line_rest, sum_rest => low.add(line_rest.add(sum_rest)));
    let rest = each!(rest, curve_rest => rest.add(curve_rest));
    // The rest times y must not move e^(y ln x) out of the range of its polynomial.
    let rounded = each!(sum, rest => sum.add(rest));
    (rounded, each!(sum, rounded, rest => sum.subtract(rounded).add(rest)))
}

/// The logarithms of some x, for [`power`].
pub(crate) struct Logarithm<V, const U: usize> {
    sum: [V; U],
    rest: [V; U],
    /// Whether some x is not a normal positive number.
    beyond: bool,
}

impl<V: Copy, const U: usize> Logarithm<V, U> {
    /// For a variable that is assigned the logarithms of x before it is read.
    #[inline(always)]
    pub(crate) fn placeholder(any: [V; U]) -> Self {
        Logarithm { sum: any, rest: any, beyond: false }
    }
}

/// The logarithms of x, for [`power`].
#[inline(always)]
pub(crate) fn logarithm_of<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> Logarithm<V, U> {
    let v = x[0];
    let mut beyond = false;
    for x in x {
        beyond |= x.any_outside(v.like(V::Element::LEAST), v.like(V::Element::MOST));
    }
    let (sum, rest) = if beyond { logarithm_of_size(x) } else { logarithm(parts(x, None)) };
    Logarithm { sum, rest, beyond }
}

/// The logarithms of |x| where some x is not a normal positive number. Those of zeros, infinities and NaNs
/// are any numbers.
#[cold]
#[inline(always)]
fn logarithm_of_size<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> ([V; U], [V; U]) {
    let (normal, raised) = raise(each!(x => x.abs()));
    logarithm(parts(normal, Some(raised)))
}

/// |x|^y, and whether some element needs [`Real::power_of_size`], given the logarithms of |x|.
#[inline(always)]
pub(crate) fn power<V: Vector<Element: Real>, const U: usize>(
    Logarithm { sum, rest, beyond }: &Logarithm<V, U>,
    y: [V; U],
) -> ([V; U], bool) {
    let (v, sum, rest) = (y[0], *sum, *rest);
    let product = each!(y, sum => y.multiply(sum));
    // An infinite or large y leads to a product that is large or a NaN, or x is 1 and the product 0.
    let mut beyond = *beyond;
    let safe = v.like(V::Element::EXP_SAFE);
    for product in product {
        beyond |= product.any_outside(safe.negate(), safe);
    }
    if beyond {
        return (power_beyond(sum, rest, y), true);
    }
    let product_rest = each!(y, sum, product => y.multiply_add(sum, product.negate()));
    let product_rest = each!(y, rest, product_rest => y.multiply_add(rest, product_rest));
    let (shifted, p) = V::Element::exp_parts(product, Some(product_rest));
    (V::Element::exp_whole(shifted, p), false)
}

/// |x|^y where it or an intermediate value may be infinite or subnormal.
#[cold]
#[inline(always)]
fn power_beyond<V: Vector<Element: Real>, const U: usize>(sum: [V; U], rest: [V; U], y: [V; U]) -> [V; U] {
    let v = y[0];
    let (limit, largest) = (v.like(V::Element::EXP_LIMIT), v.like(V::Element::LARGEST_EXPONENT));
    let y = each!(y => y.at_most(largest).at_least(largest.negate()));
    let product = each!(y, sum => y.multiply(sum));
    let product_rest = each!(y, sum, product => y.multiply_add(sum, product.negate()));
    let product_rest = each!(y, rest, product_rest => y.multiply_add(rest, product_rest));
    let zero = v.like(V::Element::ZERO);
    let product_rest = each!(product_rest, product => product.abs().choose(limit, zero, product_rest));
    let product = each!(product => product.at_most(limit).at_least(limit.negate()));
    // The same element has the same bits where it is in a group that needs none of this: of a normal result,
    // both powers of two are exact.
    let (shifted, p) = V::Element::exp_parts(product, Some(product_rest));
    V::Element::exp_scaled(shifted, p)
}
