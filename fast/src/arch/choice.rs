//! Choices among floats, in vectors: the larger or the smaller of two, and one of two by a comparison of two
//! others. The compiler makes no vectors of a few elements that take several choices each, so the end of a
//! row would be computed one element at a time.
//!
//! The last vector of a row overlaps the one before, as in [`generic`](super::generic). Choices that are
//! added up are [`Values`] of a [`sum`](super::sum), and those that are stored are in
//! [`choose`](super::choose).

use super::extent::Extent;
use super::grid::{self, GridOperand};
use super::group::{counted, fetch};
use super::halves::VectorOp;
use super::level_vector::LevelVector;
use super::ops::{Equal, Greater, GreaterEqual};
use super::rows::{EachRow, Rows};
use super::sum::{Reduction, Values};
use super::vector::Vector;
use std::marker::PhantomData;

/// The vectors that are computed together.
pub(super) const GROUP: usize = 4;

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
pub(super) trait Choice {
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
pub(super) struct Wins;

impl Choice for Wins {
    #[inline(always)]
    fn of<V: Vector>(x: V, limit: V, chosen: V, half: V) -> V {
        // A sum with a NaN is one.
        let loses = limit.choose(x, x.like(V::Element::default()), x.add(limit));
        x.choose(limit, chosen, x.choose_equal(limit, chosen.multiply(half), loses))
    }
}

/// An argument: for each row, as many values as the row has elements, or one value.
#[derive(Clone, Copy)]
pub(crate) struct Argument<'a, T> {
    /// From the first value of the first row to the last value of the last row.
    pub(crate) values: &'a [T],
    /// The distance between the starts of successive rows, in elements.
    pub(crate) step: usize,
    /// Whether a row has one value.
    pub(crate) scalar: bool,
}

impl<T> Argument<'_, T> {
    /// Whether there are values for `rows` rows of `width` elements, which are not 0.
    #[inline(always)]
    pub(super) fn is_long_enough(&self, rows: usize, width: usize) -> bool {
        let last = Extent::of(if self.scalar { 1 } else { width });
        last.repeated(rows, self.step).is_within(self.values)
    }

    /// Moves on by one row, after which there is another one. So `step` is inside of an argument that is long
    /// enough.
    #[inline(always)]
    fn advance(&mut self) {
        self.values = &self.values[self.step..];
    }
}

impl<T: Vector<Element = T>> Argument<'_, T> {
    /// Prefetches what [`Argument::read`] reads. Neither the row nor the elements need exist.
    #[inline(always)]
    fn fetch<V: Vector<Element = T>, const U: usize>(self, from: [usize; 2]) {
        fetch::<V, U>((self.values, self.step, self.scalar), from);
    }

    /// `U` vectors from element `at` of a row on.
    ///
    /// # Safety
    /// The machine has the instructions of `V`. If the argument is one value in a row, there is one;
    /// otherwise the row has the elements of the vectors.
    #[inline(always)]
    unsafe fn read<V: Vector<Element = T>, const U: usize>(self, [row, at]: [usize; 2]) -> [V; U] {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let from = self.values.as_ptr().add(row * self.step);
            let mut vectors = [V::splat(*from); U];
            if !self.scalar {
                counted!(k in U => {
                    vectors[k] = V::load(from.add(at + k * V::WIDTH));
                });
            }
            vectors
        }
    }
}

/// The arguments of a choice by a comparison: `x`, `limit`, `chosen` and `other`. If they are not in the
/// caches, `fetches` is set.
struct Chosen<'a, T, C> {
    arguments: [Argument<'a, T>; 4],
    fetches: bool,
    choice: PhantomData<C>,
}

impl<T: Vector<Element = T> + Default, C: Choice> Values for Chosen<'_, T, C> {
    type Element = T;

    #[inline(always)]
    fn are_enough(&self, rows: usize, width: usize) -> bool {
        self.arguments.iter().all(|argument| argument.is_long_enough(rows, width))
    }

    #[inline(always)]
    unsafe fn read<V: Vector<Element = T>, const U: usize>(&self, from: [usize; 2]) -> [V; U] {
        let [x, limit, chosen, other] = self.arguments;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let (mut x, limit) = (x.read::<V, U>(from), limit.read::<V, U>(from));
            let (chosen, other) = (chosen.read::<V, U>(from), other.read::<V, U>(from));
            counted!(k in U => {
                x[k] = C::of(x[k], limit[k], chosen[k], other[k]);
            });
            x
        }
    }

    #[inline(always)]
    fn are_far(&self) -> bool {
        self.fetches
    }

    #[inline(always)]
    fn fetch<V: Vector<Element = T>, const U: usize>(&self, from: [usize; 2]) {
        self.arguments.iter().for_each(|argument| argument.fetch::<V, U>(from));
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.arguments.iter_mut().for_each(Argument::advance);
    }
}

/// A choice by a condition that has a value for each element of a row.
struct Selected<'a, T> {
    condition: Argument<'a, bool>,
    branches: [Argument<'a, T>; 2],
    fetches: bool,
}

impl<T: Vector<Element = T> + Default> Values for Selected<'_, T> {
    type Element = T;

    #[inline(always)]
    fn are_enough(&self, rows: usize, width: usize) -> bool {
        self.condition.is_long_enough(rows, width)
            && self.branches.iter().all(|branch| branch.is_long_enough(rows, width))
    }

    #[inline(always)]
    unsafe fn read<V: Vector<Element = T>, const U: usize>(&self, from: [usize; 2]) -> [V; U] {
        let [then, other] = self.branches;
        // SAFETY: guaranteed by the caller. The condition is a vector, so it has the elements.
        unsafe {
            let (mut then, other) = (then.read::<V, U>(from), other.read::<V, U>(from));
            let [row, at] = from;
            let conditions = self.condition.values.as_ptr().add(row * self.condition.step + at);
            counted!(k in U => {
                let condition = conditions.add(k * V::WIDTH);
                then[k] = V::select(condition, then[k], other[k]);
            });
            then
        }
    }

    #[inline(always)]
    fn are_far(&self) -> bool {
        self.fetches
    }

    #[inline(always)]
    fn fetch<V: Vector<Element = T>, const U: usize>(&self, from: [usize; 2]) {
        self.branches.iter().for_each(|branch| branch.fetch::<V, U>(from));
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.condition.advance();
        self.branches.iter_mut().for_each(Argument::advance);
    }
}

/// Adds rows of choices by a comparison to `sums`.
///
/// # Safety
/// The machine has the level's instructions.
#[inline(always)]
pub(super) unsafe fn choice_sum<V: LevelVector>(
    comparison: Comparison,
    (arguments, fetches): ([Argument<'_, V::Element>; 4], bool),
    reduction: Reduction,
    sums: &mut [V::Element],
) {
    /// # Safety
    /// As for [`choice_sum`].
    #[inline(always)]
    unsafe fn by<V: LevelVector, C: Choice>(
        (arguments, fetches): ([Argument<'_, V::Element>; 4], bool),
        reduction: Reduction,
        sums: &mut [V::Element],
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe { V::choice_sum(Chosen { arguments, fetches, choice: PhantomData::<C> }, reduction, sums) }
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        match comparison {
            Comparison::Greater => by::<V, Greater>((arguments, fetches), reduction, sums),
            Comparison::GreaterEqual => by::<V, GreaterEqual>((arguments, fetches), reduction, sums),
            Comparison::Equal => by::<V, Equal>((arguments, fetches), reduction, sums),
            Comparison::Wins => by::<V, Wins>((arguments, fetches), reduction, sums),
        }
    }
}

/// Adds rows of choices by a condition to `sums`.
///
/// # Safety
/// The machine has the level's instructions.
#[inline(always)]
pub(super) unsafe fn select_sum<V: LevelVector>(
    condition: Argument<'_, bool>,
    (branches, fetches): ([Argument<'_, V::Element>; 2], bool),
    reduction: Reduction,
    sums: &mut [V::Element],
) {
    assert!(!condition.scalar, "the condition of a row is one value");
    // SAFETY: guaranteed by the caller.
    unsafe { V::choice_sum(Selected { condition, branches, fetches }, reduction, sums) }
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
    let argument = |values, scalar| Argument { values, step: 0, scalar };
    let (a, b) = (argument(a, ONE_A), argument(b, ONE_B));
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
            let (a, b) = (a.read::<V, U>([0, at]), b.read::<V, U>([0, at]));
            counted!(k in U => {
                O::of(a[k], b[k]).store(out.as_mut_ptr().add(at + k * V::WIDTH));
            });
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

/// The number of elements that the output and all arguments have, or `None` if an argument has none.
#[inline(always)]
fn common<T>(arguments: &[Argument<'_, T>], of_output: usize) -> Option<usize> {
    let mut count = of_output;
    for argument in arguments {
        if argument.values.is_empty() {
            return None;
        }
        if !argument.scalar {
            count = count.min(argument.values.len());
        }
    }
    Some(count)
}
