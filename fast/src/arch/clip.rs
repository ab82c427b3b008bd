//! Clips of floats between bounds that are one value in each row: chains of a maximum and a minimum, as one
//! loop over all rows. By a bound that is a number and not 0, the larger of two is one instruction, where
//! NaNs and zeros take more; so a row with such bounds has a loop of its own.

use super::chain::{ChainOp, Link};
use super::frequent::GROUP;
use super::group::{ChainVector, counted};
use super::simd::Section;

/// The rows of a clip.
///
/// `out` has `rows` rows of `width` elements, at least those of a vector. For each row, `x` has as many
/// elements, and each bound has one.
pub(super) struct Clip<'a, V: ChainVector> {
    x: &'a Link<'a, V::Element>,
    /// In the order in which they are applied.
    bounds: [&'a Link<'a, V::Element>; 2],
    minimum_first: bool,
    rows: usize,
    width: usize,
    out: &'a mut [V::Element],
}

impl<'a, V: ChainVector> Clip<'a, V> {
    /// Whether a chain is a clip.
    #[inline(always)]
    pub(super) fn is(first: &Link<'_, V::Element>, links: &[Link<'_, V::Element>]) -> bool {
        let [a, b] = links else { return false };
        let is_pair = matches!(
            (a.op, b.op),
            (ChainOp::Maximum, ChainOp::Minimum) | (ChainOp::Minimum, ChainOp::Maximum)
        );
        is_pair && a.scalar && b.scalar && !first.scalar
    }

    /// The rows of a chain that is a clip.
    #[inline(always)]
    pub(super) fn new(
        x: &'a Link<'a, V::Element>,
        links: &'a [Link<'a, V::Element>],
        (rows, width): (usize, usize),
        out: &'a mut [V::Element],
    ) -> Self {
        let bounds = [&links[0], &links[1]];
        Clip { x, bounds, minimum_first: links[0].op == ChainOp::Minimum, rows, width, out }
    }
}

/// What is known of the bounds of a row.
const ANY: u8 = 0;
/// Both are numbers and not 0.
const LIMITS: u8 = 1;
/// The lower one is 0, and the upper one is a number and not 0.
const FROM_ZERO: u8 = 2;

impl<V: ChainVector> Section for Clip<'_, V> {
    type Result = ();

    #[inline(always)]
    unsafe fn compute(self) {
        let Clip { x, bounds, minimum_first, rows, width, out } = self;
        let mut from = x.values.as_ptr();
        let mut at = [bounds[0].values.as_ptr(), bounds[1].values.as_ptr()];
        let mut to = out.as_mut_ptr();
        for _ in 0..rows {
            // SAFETY: guaranteed by the caller. The pointers are those of the row.
            unsafe {
                let ones = [*at[0], *at[1]];
                let [least, most] = if minimum_first { [ones[1], ones[0]] } else { ones };
                let kind = match (V::is_limit(most), V::is_limit(least), V::is_zero(least)) {
                    (true, true, _) => LIMITS,
                    (true, _, true) => FROM_ZERO,
                    _ => ANY,
                };
                match (minimum_first, kind) {
                    (false, LIMITS) => row::<V, false, LIMITS>(from, ones, width, to),
                    (false, FROM_ZERO) => row::<V, false, FROM_ZERO>(from, ones, width, to),
                    (false, _) => row::<V, false, ANY>(from, ones, width, to),
                    (true, LIMITS) => row::<V, true, LIMITS>(from, ones, width, to),
                    (true, FROM_ZERO) => row::<V, true, FROM_ZERO>(from, ones, width, to),
                    (true, _) => row::<V, true, ANY>(from, ones, width, to),
                }
            }
            from = from.wrapping_add(x.step);
            counted!(n in 2 => {
                at[n] = at[n].wrapping_add(bounds[n].step);
            });
            to = to.wrapping_add(width);
        }
    }
}

/// One row of `width` elements. The last vector ends with the row.
///
/// # Safety
/// The machine has the instructions of `V`. There are `width` elements at `from` and writable ones at `to`,
/// at least those of a vector. The bounds are as `KIND` says.
#[inline(always)]
unsafe fn row<V: ChainVector, const MINIMUM_FIRST: bool, const KIND: u8>(
    from: *const V::Element,
    bounds: [V::Element; 2],
    width: usize,
    to: *mut V::Element,
) {
    // SAFETY: guaranteed by the caller. Every vector is inside the row.
    unsafe {
        let bounds = [V::spread(bounds[0]), V::spread(bounds[1])];
        let mut at = 0;
        while width - at >= GROUP * V::WIDTH {
            counted!(k in GROUP => {
                let here = at + k * V::WIDTH;
                clipped::<V, MINIMUM_FIRST, KIND>(V::read(from.add(here)), bounds).write(to.add(here));
            });
            at += GROUP * V::WIDTH;
        }
        while at < width {
            let here = at.min(width - V::WIDTH);
            clipped::<V, MINIMUM_FIRST, KIND>(V::read(from.add(here)), bounds).write(to.add(here));
            at += V::WIDTH;
        }
    }
}

/// A vector between two bounds, which are as `KIND` says.
#[inline(always)]
fn clipped<V: ChainVector, const MINIMUM_FIRST: bool, const KIND: u8>(x: V, [a, b]: [V; 2]) -> V {
    let minimum = |x: V, most: V| if KIND == ANY { x.minimum(most) } else { x.at_most(most) };
    let maximum = |x: V, least: V| match KIND {
        LIMITS => x.at_least(least),
        // Of two zeros, `at_least` keeps the first; their sum is the larger one.
        FROM_ZERO => x.at_least(least).add(least),
        _ => x.maximum(least),
    };
    if MINIMUM_FIRST { maximum(minimum(x, a), b) } else { minimum(maximum(x, a), b) }
}
