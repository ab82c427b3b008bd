//! Choices among floats, in vectors: the larger or the smaller of two, and one of two by a comparison of two
//! others. The compiler makes no vectors of a few elements that take several choices each, so the end of a
//! row would be computed one element at a time.
//!
//! The last vector of a row overlaps the one before, as in [`generic`](super::generic). Choices that are
//! added up are [`Values`] of a [`sum`](super::sum).

use super::extent::Extent;
use super::grid::{self, GridOperand};
use super::group::{counted, fetch};
use super::halves::VectorOp;
use super::level_vector::LevelVector;
use super::ops::{Equal, Greater, GreaterEqual};
use super::rows::{EachRow, Rows};
use super::stream::NonTemporal;
use super::sum::{Reduction, Values};
use super::vector::Vector;
use std::marker::PhantomData;

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

/// How a value is computed from `x`, `limit`, `chosen`, `other` and `factor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// By a comparison alone. The factor is not read.
    By(Comparison),
    /// By [`Comparison::Greater`] or [`Comparison::GreaterEqual`], where one of the two values is multiplied
    /// by the factor first, as in a leaky rectifier.
    Scaled { or_equal: bool, branch: Branch },
}

/// One of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branch {
    Chosen,
    Other,
}

/// A [`Rule`].
trait Ruled {
    const SCALED: bool;
    fn of<V: Vector>(x: V, limit: V, chosen: V, other: V, factor: V) -> V;
}

/// [`Rule::By`]
struct By<C>(PhantomData<C>);

impl<C: Choice> Ruled for By<C> {
    const SCALED: bool = false;

    #[inline(always)]
    fn of<V: Vector>(x: V, limit: V, chosen: V, other: V, _: V) -> V {
        C::of(x, limit, chosen, other)
    }
}

/// [`Branch::Chosen`] of [`Rule::Scaled`]
struct ChosenTimes<C>(PhantomData<C>);

impl<C: Choice> Ruled for ChosenTimes<C> {
    const SCALED: bool = true;

    #[inline(always)]
    fn of<V: Vector>(x: V, limit: V, chosen: V, other: V, factor: V) -> V {
        C::of(x, limit, chosen.multiply(factor), other)
    }
}

/// [`Branch::Other`] of [`Rule::Scaled`]
struct OtherTimes<C>(PhantomData<C>);

impl<C: Choice> Ruled for OtherTimes<C> {
    const SCALED: bool = true;

    #[inline(always)]
    fn of<V: Vector>(x: V, limit: V, chosen: V, other: V, factor: V) -> V {
        C::of(x, limit, chosen, other.multiply(factor))
    }
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
    fn is_long_enough(&self, rows: usize, width: usize) -> bool {
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

/// `out = if x op limit { chosen } else { other }`, or what the rule says, in each of `rows` rows. Whole
/// vectors are stored non-temporally if that is allowed.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn choose<V: Vector>(
    rule: Rule,
    arguments: &[Argument<'_, V::Element>; 5],
    rows: usize,
    stores: Option<&NonTemporal>,
    out: &mut [V::Element],
) {
    if out.is_empty() {
        return;
    }
    let width = if rows == 1 { out.len() } else { out.len().checked_div(rows).unwrap_or(0) };
    let enough = |argument: &Argument<'_, V::Element>| argument.is_long_enough(rows, width);
    assert!(rows * width == out.len(), "the output of a choice is not made of whole rows");
    let read = match rule {
        Rule::By(_) => &arguments[..4],
        Rule::Scaled { .. } => &arguments[..],
    };
    assert!(read.iter().all(enough), "an argument of a choice is shorter than its output");
    let stored = (width, stores.is_some());
    // SAFETY: the caller guarantees the instructions. By the assertions, a row has elements, and each
    // argument that the rule reads has those of all rows.
    unsafe {
        match rule {
            Rule::By(Comparison::Greater) => all_of::<V, By<Greater>>(arguments, stored, out),
            Rule::By(Comparison::GreaterEqual) => all_of::<V, By<GreaterEqual>>(arguments, stored, out),
            Rule::By(Comparison::Equal) => all_of::<V, By<Equal>>(arguments, stored, out),
            Rule::By(Comparison::Wins) => all_of::<V, By<Wins>>(arguments, stored, out),
            Rule::Scaled { or_equal: false, branch: Branch::Chosen } => {
                all_of::<V, ChosenTimes<Greater>>(arguments, stored, out);
            }
            Rule::Scaled { or_equal: true, branch: Branch::Chosen } => {
                all_of::<V, ChosenTimes<GreaterEqual>>(arguments, stored, out);
            }
            Rule::Scaled { or_equal: false, branch: Branch::Other } => {
                all_of::<V, OtherTimes<Greater>>(arguments, stored, out);
            }
            Rule::Scaled { or_equal: true, branch: Branch::Other } => {
                all_of::<V, OtherTimes<GreaterEqual>>(arguments, stored, out);
            }
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

/// [`choose`] by one rule.
///
/// # Safety
/// The machine has the instructions of `V`. `out` is made of rows of `width` elements, and each argument that
/// the rule reads has the values of all of them.
#[inline(always)]
unsafe fn all_of<V: Vector, R: Ruled>(
    arguments: &[Argument<'_, V::Element>; 5],
    (width, non_temporal): (usize, bool),
    out: &mut [V::Element],
) {
    let (mut row, mut rest) = (*arguments, out);
    loop {
        let (out, others) = rest.split_at_mut(width);
        // SAFETY: guaranteed by the caller.
        unsafe { choose_in_row::<V, R>(&row, non_temporal, out) };
        if others.is_empty() {
            return;
        }
        rest = others;
        let read = if R::SCALED { &mut row[..] } else { &mut row[..4] };
        read.iter_mut().for_each(Argument::advance);
    }
}

/// [`choose`] in one row.
///
/// # Safety
/// The machine has the instructions of `V`. The first row of each argument that the rule reads has as many
/// elements as `out`, or one value.
#[inline(always)]
unsafe fn choose_in_row<V: Vector, R: Ruled>(
    arguments: &[Argument<'_, V::Element>; 5],
    non_temporal: bool,
    out: &mut [V::Element],
) {
    let (count, mut at) = (out.len(), 0);
    let boundary = if non_temporal { out.as_ptr().align_offset(size_of::<V>()).min(count) } else { 0 };
    // SAFETY: guaranteed by the caller; every vector ends at `count` or before. Non-temporal stores begin at
    // the boundary and advance by whole vectors.
    unsafe {
        while at < boundary {
            chosen::<V::Element, R, 1>(arguments, at, (out, false));
            at += 1;
        }
        while count - at >= GROUP * V::WIDTH {
            chosen::<V, R, GROUP>(arguments, at, (out, non_temporal));
            at += GROUP * V::WIDTH;
        }
        while count - at >= V::WIDTH {
            chosen::<V, R, 1>(arguments, at, (out, non_temporal));
            at += V::WIDTH;
        }
        // Non-temporal stores must not be repeated.
        if !non_temporal && at < count && count >= V::WIDTH {
            return chosen::<V, R, 1>(arguments, count - V::WIDTH, (out, false));
        }
        while at < count {
            chosen::<V::Element, R, 1>(arguments, at, (out, false));
            at += 1;
        }
    }
}

/// `U` vectors of a row of the result, `out`, from element `at` on.
///
/// # Safety
/// As for [`Argument::read`], for the arguments that the rule reads, and `out` has the elements. If
/// `non_temporal` is set, `out[at]` is aligned to a vector.
#[inline(always)]
unsafe fn chosen<V: Vector, R: Ruled, const U: usize>(
    &[x, limit, chosen, other, factor]: &[Argument<'_, V::Element>; 5],
    at: usize,
    (out, non_temporal): (&mut [V::Element], bool),
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let (x, limit) = (x.read::<V, U>([0, at]), limit.read::<V, U>([0, at]));
        let (chosen, other) = (chosen.read::<V, U>([0, at]), other.read::<V, U>([0, at]));
        // A factor that the rule does not read is another argument.
        let factor = if R::SCALED { factor.read::<V, U>([0, at]) } else { other };
        counted!(k in U => {
            let value = R::of(x[k], limit[k], chosen[k], other[k], factor[k]);
            let to = out.as_mut_ptr().add(at + k * V::WIDTH);
            if non_temporal { value.store_non_temporal(to) } else { value.store(to) }
        });
    }
}
