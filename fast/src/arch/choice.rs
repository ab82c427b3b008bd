//! Choices among floats, in vectors: the larger or the smaller of two, and one of two by a comparison of two
//! others. The compiler makes no vectors of a few elements that take several choices each, so the end of a
//! row would be computed one element at a time.
//!
//! The last vector of a row overlaps the one before, as in [`generic`](super::generic).

use super::grid::{self, GridOperand};
use super::halves::VectorOp;
use super::ops::{Equal, Greater, GreaterEqual};
use super::rows::{EachRow, Rows};
use super::vector::Vector;

/// The vectors that are computed together.
const GROUP: usize = 4;

/// A comparison that decides between two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Greater,
    GreaterEqual,
    Equal,
    /// The derivative of a maximum: the argument after `chosen` is one half, by which that is multiplied
    /// if x and the limit are equal. It is 0 if x is smaller, and a NaN if x or the limit is.
    Wins,
}

/// The choice by a comparison.
trait Choice {
    /// `if x op limit { chosen } else { other }`, or what the comparison says.
    fn of<V: Vector>(x: V, limit: V, chosen: V, other: V) -> V;
}

macro_rules! choices {
    ($($op:ident $method:ident)*) => { $(
        impl Choice for $op {
            #[inline(always)]
            fn of<V: Vector>(x: V, limit: V, chosen: V, other: V) -> V {
                x.$method(limit, chosen, other)
            }
        }
    )* };
}
choices! { Greater choose GreaterEqual choose_at_least Equal choose_equal }

/// [`Comparison::Wins`].
struct Wins;

impl Choice for Wins {
    #[inline(always)]
    fn of<V: Vector>(x: V, limit: V, chosen: V, half: V) -> V {
        // A sum with a NaN is one.
        let loses = limit.choose(x, x.like(V::Element::default()), x.add(limit));
        x.choose(limit, chosen, x.choose_equal(limit, chosen.multiply(half), loses))
    }
}

/// An argument: a vector, or one value.
#[derive(Clone, Copy)]
struct Argument<'a, T> {
    values: &'a [T],
    one: bool,
}

impl<T: Vector<Element = T>> Argument<'_, T> {
    /// `U` vectors from element `at` on.
    ///
    /// # Safety
    /// The machine has the instructions of `V`. If the argument is one value, there is one; otherwise it has
    /// the elements of the vectors.
    #[inline(always)]
    unsafe fn read<V: Vector<Element = T>, const U: usize>(self, at: usize) -> [V; U] {
        let from = self.values.as_ptr();
        // SAFETY: guaranteed by the caller.
        unsafe {
            let mut vectors = [V::splat(*from); U];
            if !self.one {
                for (k, vector) in vectors.iter_mut().enumerate() {
                    *vector = V::load(from.add(at + k * V::WIDTH));
                }
            }
            vectors
        }
    }
}

/// `out = f(a, b)` in each row, for the elements that all slices have. With `ONE_A` or `ONE_B`, that argument
/// is its first value.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn binary<V: Vector, O: VectorOp, const ONE_A: bool, const ONE_B: bool>(
    a: &[V::Element],
    b: &[V::Element],
    rows: Option<&Rows>,
    out: &mut [V::Element],
) {
    let is_short = |rows: &&Rows| (V::WIDTH..=2 * GROUP * V::WIDTH).contains(&rows.width);
    // SAFETY: guaranteed by the caller.
    unsafe {
        let Some(rows) = rows.filter(is_short) else {
            for (a, b, out) in EachRow::new(a, b, rows, out) {
                row::<V, O, ONE_A, ONE_B>(a, b, out);
            }
            return;
        };
        let operand =
            |values, which: usize, scalar| GridOperand { values, steps: [0, rows.steps[which]], scalar };
        let (a, b) = (operand(a, 0, ONE_A), operand(b, 1, ONE_B));
        if ONE_A {
            grid::short_rows::<V>(b, a, rows.width, out, |b, a| O::of(a, b));
        } else {
            grid::short_rows::<V>(a, b, rows.width, out, O::of);
        }
    }
}

/// [`binary`] over one row.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn row<V: Vector, O: VectorOp, const ONE_A: bool, const ONE_B: bool>(
    a: &[V::Element],
    b: &[V::Element],
    out: &mut [V::Element],
) {
    let (a, b) = (Argument { values: a, one: ONE_A }, Argument { values: b, one: ONE_B });
    let Some(count) = common(&[a, b], out.len()) else { return };
    /// `U` vectors of the result from element `at` on.
    ///
    /// # Safety
    /// As for [`Argument::read`], and `out` has the elements.
    #[inline(always)]
    unsafe fn group<V: Vector, O: VectorOp, const U: usize>(
        [a, b]: [Argument<'_, V::Element>; 2],
        at: usize,
        out: &mut [V::Element],
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (a, b) = (a.read::<V, U>(at), b.read::<V, U>(at));
            for k in 0..U {
                O::of(a[k], b[k]).store(out.as_mut_ptr().add(at + k * V::WIDTH));
            }
        }
    }
    let mut at = 0;
    // SAFETY: the caller guarantees the instructions. Every vector ends at `count` or before, and `count` is
    // at most the length of `out` and of each argument that is not one value. One value is there.
    unsafe {
        while count - at >= GROUP * V::WIDTH {
            group::<V, O, GROUP>([a, b], at, out);
            at += GROUP * V::WIDTH;
        }
        while count - at >= V::WIDTH {
            group::<V, O, 1>([a, b], at, out);
            at += V::WIDTH;
        }
        if at < count && count >= V::WIDTH {
            return group::<V, O, 1>([a, b], count - V::WIDTH, out);
        }
        while at < count {
            group::<V::Element, O, 1>([a, b], at, out);
            at += 1;
        }
    }
}

/// `out = if x op limit { chosen } else { other }`, for the elements that all slices have. `ones` says which
/// of the four arguments are their first value.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn choose<V: Vector>(
    comparison: Comparison,
    arguments: [&[V::Element]; 4],
    ones: [bool; 4],
    out: &mut [V::Element],
) {
    let mut all = arguments.map(|values| Argument { values, one: false });
    for (argument, one) in all.iter_mut().zip(ones) {
        argument.one = one;
    }
    let Some(count) = common(&all, out.len()) else { return };
    // SAFETY: the caller guarantees the instructions, and `common` the elements.
    unsafe {
        match comparison {
            Comparison::Greater => all_of::<V, Greater>(&all, count, out),
            Comparison::GreaterEqual => all_of::<V, GreaterEqual>(&all, count, out),
            Comparison::Equal => all_of::<V, Equal>(&all, count, out),
            Comparison::Wins => all_of::<V, Wins>(&all, count, out),
        }
    }
}

/// The number of elements that the output and all arguments have, or `None` if an argument has none.
#[inline(always)]
fn common<T>(arguments: &[Argument<'_, T>], of_output: usize) -> Option<usize> {
    let mut count = of_output;
    for argument in arguments {
        if argument.values.is_empty() {
            return None;
        }
        if !argument.one {
            count = count.min(argument.values.len());
        }
    }
    Some(count)
}

/// [`choose`] by one comparison.
///
/// # Safety
/// The machine has the instructions of `V`. `out` has `count` elements, as has each argument that is not one
/// value; one value is there.
#[inline(always)]
unsafe fn all_of<V: Vector, C: Choice>(
    arguments: &[Argument<'_, V::Element>; 4],
    count: usize,
    out: &mut [V::Element],
) {
    let mut at = 0;
    // SAFETY: guaranteed by the caller; every vector ends at `count` or before.
    unsafe {
        while count - at >= GROUP * V::WIDTH {
            chosen::<V, C, GROUP>(arguments, at, out);
            at += GROUP * V::WIDTH;
        }
        while count - at >= V::WIDTH {
            chosen::<V, C, 1>(arguments, at, out);
            at += V::WIDTH;
        }
        if at < count && count >= V::WIDTH {
            return chosen::<V, C, 1>(arguments, count - V::WIDTH, out);
        }
        while at < count {
            chosen::<V::Element, C, 1>(arguments, at, out);
            at += 1;
        }
    }
}

/// `U` vectors of the result from element `at` on.
///
/// # Safety
/// As for [`Argument::read`], and `out` has the elements.
#[inline(always)]
unsafe fn chosen<V: Vector, C: Choice, const U: usize>(
    &[x, limit, chosen, other]: &[Argument<'_, V::Element>; 4],
    at: usize,
    out: &mut [V::Element],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (x, limit) = (x.read::<V, U>(at), limit.read::<V, U>(at));
        let (chosen, other) = (chosen.read::<V, U>(at), other.read::<V, U>(at));
        for k in 0..U {
            C::of(x[k], limit[k], chosen[k], other[k]).store(out.as_mut_ptr().add(at + k * V::WIDTH));
        }
    }
}
