//! One of two values by a comparison of two others, stored in rows. There are loops for what is known of the
//! arguments: a value that is compared and chosen is read once, and one value in a row stays in a register.
//! (The time is measured in `benches/sweep`.)
//!
//! The last vector of a row overlaps the one before, unless stores are non-temporal.

use super::choice::{Argument, Choice, Comparison, GROUP, Wins};
use super::group::counted;
use super::ops::{Equal, Greater, GreaterEqual};
use super::stream::NonTemporal;
use super::vector::Vector;
use std::marker::PhantomData;
use std::ops::Range;

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
    // SAFETY: the caller guarantees the instructions. By the assertions, a row has elements, and each
    // argument that the rule reads has those of all rows.
    unsafe {
        match stores {
            Some(_) => choose_by::<V, true>(rule, arguments, width, out),
            None => choose_by::<V, false>(rule, arguments, width, out),
        }
    }
}

/// [`choose`], with whole vectors stored non-temporally or none.
///
/// # Safety
/// As for [`all_of`], but what it knows of the arguments.
#[inline(always)]
unsafe fn choose_by<V: Vector, const NON_TEMPORAL: bool>(
    rule: Rule,
    arguments: &[Argument<'_, V::Element>; 5],
    width: usize,
    out: &mut [V::Element],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match rule {
            Rule::By(Comparison::Greater) => by::<V, Greater, NON_TEMPORAL>(arguments, width, out),
            Rule::By(Comparison::GreaterEqual) => by::<V, GreaterEqual, NON_TEMPORAL>(arguments, width, out),
            Rule::By(Comparison::Equal) => {
                // Which of both values is x does not matter.
                let [x, limit, chosen, other, factor] = *arguments;
                let exchanged = [limit, x, chosen, other, factor];
                let arguments = if x.scalar { &exchanged } else { arguments };
                by::<V, Equal, NON_TEMPORAL>(arguments, width, out);
            }
            Rule::By(Comparison::Wins) => wins::<V, NON_TEMPORAL>(arguments, width, out),
            Rule::Scaled { or_equal: false, branch: Branch::Chosen } => {
                scaled::<V, ChosenTimes<Greater>, NON_TEMPORAL>(arguments, width, out);
            }
            Rule::Scaled { or_equal: true, branch: Branch::Chosen } => {
                scaled::<V, ChosenTimes<GreaterEqual>, NON_TEMPORAL>(arguments, width, out);
            }
            Rule::Scaled { or_equal: false, branch: Branch::Other } => {
                scaled::<V, OtherTimes<Greater>, NON_TEMPORAL>(arguments, width, out);
            }
            Rule::Scaled { or_equal: true, branch: Branch::Other } => {
                scaled::<V, OtherTimes<GreaterEqual>, NON_TEMPORAL>(arguments, width, out);
            }
        }
    }
}

/// What a loop knows about the arguments and the result.
trait Known {
    /// Whether whole vectors of the result are stored non-temporally. What else is known of the arguments
    /// then saves nothing, because the loop waits for memory.
    const NON_TEMPORAL: bool;
    /// Which of x and the limit `chosen` is, and which `other` is, so that it is not read again.
    const PICKED: [Option<usize>; 2];
    /// Whether each argument is one value in a row, so that it stays in a register.
    const ONE: Option<[bool; 5]>;
}

/// Nothing about the arguments.
struct Nothing<const NON_TEMPORAL: bool>;
/// Whether x and the limit are one value, and what `chosen` and `other` are.
struct Kinds<const X: bool, const LIMIT: bool, const CHOSEN: u8, const OTHER: u8>;
/// Both values are x, of which one is multiplied by the factor, as in a leaky rectifier. The limit and the
/// factor are one value. If it is mirrored, x and the limit are exchanged.
struct Once<const MIRRORED: bool>;

/// `chosen` or `other` has a value for each element.
const VECTOR: u8 = 0;
/// It is one value.
const ONE: u8 = 1;
/// It has a value for each element, and is x.
const THE_X: u8 = 2;
/// It has a value for each element, and is the limit.
const THE_LIMIT: u8 = 3;

/// Which of x and the limit a value of some kind is.
const fn picked(kind: u8) -> Option<usize> {
    match kind {
        THE_X => Some(0),
        THE_LIMIT => Some(1),
        _ => None,
    }
}

impl<const NON_TEMPORAL: bool> Known for Nothing<NON_TEMPORAL> {
    const NON_TEMPORAL: bool = NON_TEMPORAL;
    const PICKED: [Option<usize>; 2] = [None; 2];
    const ONE: Option<[bool; 5]> = None;
}

impl<const X: bool, const LIMIT: bool, const CHOSEN: u8, const OTHER: u8> Known
    for Kinds<X, LIMIT, CHOSEN, OTHER>
{
    const NON_TEMPORAL: bool = false;
    const PICKED: [Option<usize>; 2] = [picked(CHOSEN), picked(OTHER)];
    const ONE: Option<[bool; 5]> = Some([X, LIMIT, CHOSEN == ONE, OTHER == ONE, false]);
}

impl<const MIRRORED: bool> Known for Once<MIRRORED> {
    const NON_TEMPORAL: bool = false;
    const PICKED: [Option<usize>; 2] = [Some(MIRRORED as usize); 2];
    const ONE: Option<[bool; 5]> = Some([MIRRORED, !MIRRORED, MIRRORED, MIRRORED, true]);
}

/// Whether argument `n` is read.
const fn reads<R: Ruled, K: Known>(n: usize) -> bool {
    match n {
        0 | 1 => true,
        2 | 3 => K::PICKED[n - 2].is_none(),
        _ => R::SCALED,
    }
}

/// Whether argument `n`, which is read, is one value in a row, if that is known.
const fn is_one<K: Known>(n: usize) -> Option<bool> {
    match K::ONE {
        Some(ones) => Some(ones[n]),
        None => None,
    }
}

impl<T> Argument<'_, T> {
    /// Whether this is the same argument as another one.
    #[inline(always)]
    fn is(&self, other: &Self) -> bool {
        self.values.as_ptr() == other.values.as_ptr()
            && (self.step, self.scalar) == (other.step, other.scalar)
    }
}

/// [`choose`] by a comparison alone. There are loops for most kinds of arguments: not for two vectors that
/// choose between two values, or between one of them and something else.
///
/// # Safety
/// As for [`all_of`], but what it knows of the arguments.
#[inline(always)]
unsafe fn by<V: Vector, C: Choice, const NON_TEMPORAL: bool>(
    arguments: &[Argument<'_, V::Element>; 5],
    width: usize,
    out: &mut [V::Element],
) {
    let [x, limit, chosen, other, _] = arguments;
    let kind = |value: &Argument<'_, V::Element>| {
        if value.scalar {
            ONE
        } else if value.is(x) {
            THE_X
        } else if value.is(limit) {
            THE_LIMIT
        } else {
            VECTOR
        }
    };
    // Calls the loop for what is known, if it is in the list.
    macro_rules! loops {
        ($($x:literal $limit:literal: $([$chosen:ident $other:ident])*;)*) => {
            match (x.scalar, limit.scalar, kind(chosen), kind(other)) {
                $($(
                    ($x, $limit, $chosen, $other) => {
                        all_of::<V, By<C>, Kinds<$x, $limit, $chosen, $other>>(arguments, width, out);
                    }
                )*)*
                _ => all_of::<V, By<C>, Nothing<false>>(arguments, width, out),
            }
        };
    }
    // SAFETY: guaranteed by the caller. What the loops know of the arguments was compared.
    unsafe {
        if NON_TEMPORAL {
            return all_of::<V, By<C>, Nothing<true>>(arguments, width, out);
        }
        loops! {
            false false:
                [VECTOR VECTOR] [THE_X THE_LIMIT] [THE_LIMIT THE_X] [VECTOR ONE] [ONE VECTOR];
            false true:
                [VECTOR VECTOR] [THE_X ONE] [ONE THE_X] [VECTOR ONE] [ONE VECTOR] [ONE ONE]
                [THE_X VECTOR] [VECTOR THE_X];
            true false:
                [VECTOR VECTOR] [THE_LIMIT ONE] [ONE THE_LIMIT] [VECTOR ONE] [ONE VECTOR] [ONE ONE]
                [THE_LIMIT VECTOR] [VECTOR THE_LIMIT];
        }
    }
}

/// [`choose`] by [`Comparison::Wins`], where the half is one value.
///
/// # Safety
/// As for [`all_of`], but what it knows of the arguments.
#[inline(always)]
unsafe fn wins<V: Vector, const NON_TEMPORAL: bool>(
    arguments: &[Argument<'_, V::Element>; 5],
    width: usize,
    out: &mut [V::Element],
) {
    let [x, limit, chosen, half, _] = arguments;
    let is_usual = !NON_TEMPORAL && half.scalar && !chosen.scalar;
    // SAFETY: guaranteed by the caller. What the loops know of the arguments was compared.
    unsafe {
        match (is_usual, [x.scalar, limit.scalar]) {
            (true, [false, false]) => {
                all_of::<V, By<Wins>, Kinds<false, false, VECTOR, ONE>>(arguments, width, out);
            }
            (true, [false, true]) => {
                all_of::<V, By<Wins>, Kinds<false, true, VECTOR, ONE>>(arguments, width, out);
            }
            (true, [true, false]) => {
                all_of::<V, By<Wins>, Kinds<true, false, VECTOR, ONE>>(arguments, width, out);
            }
            _ => all_of::<V, By<Wins>, Nothing<NON_TEMPORAL>>(arguments, width, out),
        }
    }
}

/// [`choose`] with a factor.
///
/// # Safety
/// As for [`all_of`], but what it knows of the arguments.
#[inline(always)]
unsafe fn scaled<V: Vector, R: Ruled, const NON_TEMPORAL: bool>(
    arguments: &[Argument<'_, V::Element>; 5],
    width: usize,
    out: &mut [V::Element],
) {
    let [x, limit, chosen, other, factor] = arguments;
    let is_once = |value: &Argument<'_, V::Element>, limit: &Argument<'_, V::Element>| {
        let are_ones = [value.scalar, limit.scalar, factor.scalar] == [false, true, true];
        !NON_TEMPORAL && are_ones && chosen.is(value) && other.is(value)
    };
    // SAFETY: guaranteed by the caller. What the loops know of the arguments was compared.
    unsafe {
        if is_once(x, limit) {
            all_of::<V, R, Once<false>>(arguments, width, out);
        } else if is_once(limit, x) {
            all_of::<V, R, Once<true>>(arguments, width, out);
        } else {
            all_of::<V, R, Nothing<NON_TEMPORAL>>(arguments, width, out);
        }
    }
}

/// The arguments of one row.
struct Row<T> {
    from: [*const T; 5],
    /// No bits for an argument that is one value, of which there is a group of vectors, otherwise all bits.
    /// Only of arguments of which it is not known.
    masks: [usize; 5],
}

impl<T: Vector<Element = T>> Row<T> {
    /// From where the elements of a group are read, the first of which is `at`, of each argument of which it
    /// is not known whether it is one value.
    ///
    /// # Safety
    /// The row has the element, unless the argument is one value.
    #[inline(always)]
    unsafe fn at<R: Ruled, K: Known>(&self, at: usize) -> [*const T; 5] {
        let mut from = self.from;
        counted!(n in 5 => {
            if reads::<R, K>(n) && is_one::<K>(n).is_none() {
                // SAFETY: guaranteed by the caller.
                from[n] = unsafe { from[n].add(at & self.masks[n]) };
            }
        });
        from
    }
}

/// Vector `k` of argument `n` from element `at` on, or the vector of its value, which is `ones[n]`. `from` is
/// what [`Row::at`] returned.
///
/// # Safety
/// The machine has the instructions of `V`, and the elements are there, or `ones[n]` is.
#[inline(always)]
unsafe fn read<V: Vector, K: Known>(
    from: &[*const V::Element; 5],
    ones: &[V; 5],
    n: usize,
    [at, k]: [usize; 2],
) -> V {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match is_one::<K>(n) {
            Some(true) => ones[n],
            Some(false) => V::load(from[n].add(at + k * V::WIDTH)),
            None => V::load(from[n].add(k * V::WIDTH)),
        }
    }
}

/// [`choose`] by one rule.
///
/// # Safety
/// The machine has the instructions of `V`. `out` is made of rows of `width` elements, and each argument that
/// the rule reads has the values of all of them. The arguments are as `K` says.
#[inline(always)]
unsafe fn all_of<V: Vector, R: Ruled, K: Known>(
    arguments: &[Argument<'_, V::Element>; 5],
    width: usize,
    out: &mut [V::Element],
) {
    // Without `map`, which is compiled for every rule, and takes longer than all that it does here.
    let mut starts = [arguments[0].values.as_ptr(); 5];
    counted!(n in 5 => {
        starts[n] = arguments[n].values.as_ptr();
    });
    // SAFETY: the caller guarantees the instructions.
    let none = unsafe { V::splat(V::Element::default()) };
    let (mut ones, mut spread) = ([none; 5], [[none; GROUP]; 5]);
    let spread = spread.as_mut_ptr();
    for out in out.chunks_exact_mut(width) {
        let mut row = Row { from: starts, masks: [usize::MAX; 5] };
        // SAFETY: guaranteed by the caller, as the row has a value of each argument that is read, and there
        // are five groups of vectors.
        unsafe {
            counted!(n in 5 => {
                if reads::<R, K>(n) {
                    match is_one::<K>(n) {
                        Some(true) => ones[n] = V::splat(*starts[n]),
                        None if arguments[n].scalar => {
                            spread.add(n).write([V::splat(*starts[n]); GROUP]);
                            (row.from[n], row.masks[n]) = (spread.add(n).cast(), 0);
                        }
                        Some(false) | None => {}
                    }
                }
                starts[n] = starts[n].wrapping_add(arguments[n].step);
            });
            choose_in_row::<V, R, K>(&row, &ones, out);
        }
    }
}

/// [`choose`] in one row.
///
/// # Safety
/// The machine has the instructions of `V`. Each argument that is read has as many elements as `out`, or is
/// one value.
#[inline(always)]
unsafe fn choose_in_row<V: Vector, R: Ruled, K: Known>(
    row: &Row<V::Element>,
    ones: &[V; 5],
    out: &mut [V::Element],
) {
    let (count, mut at) = (out.len(), 0);
    let to = out.as_mut_ptr();
    // SAFETY: guaranteed by the caller; every vector ends at `count` or before. Non-temporal stores begin at
    // the boundary and advance by whole vectors.
    unsafe {
        if K::NON_TEMPORAL {
            let boundary = to.align_offset(size_of::<V>()).min(count);
            one_by_one::<V, R, K>(row, 0..boundary, to);
            at = boundary;
        }
        while count - at >= GROUP * V::WIDTH {
            chosen::<V, R, K, GROUP>(row, ones, at, to);
            at += GROUP * V::WIDTH;
        }
        // The last vector ends with the row, unless stores are non-temporal, which must not be repeated.
        let repeats = !K::NON_TEMPORAL && count >= V::WIDTH;
        let end = if repeats { count } else { count - (count - at) % V::WIDTH };
        while at < end {
            let here = if repeats { at.min(count - V::WIDTH) } else { at };
            chosen::<V, R, K, 1>(row, ones, here, to);
            at += V::WIDTH;
        }
        if !repeats {
            one_by_one::<V, R, K>(row, at..count, to);
        }
    }
}

/// Some elements of a row of the result, `to`.
///
/// # Safety
/// As for [`choose_in_row`]. The row has the elements.
#[inline(always)]
unsafe fn one_by_one<V: Vector, R: Ruled, K: Known>(
    row: &Row<V::Element>,
    elements: Range<usize>,
    to: *mut V::Element,
) {
    if elements.is_empty() {
        return;
    }
    let mut ones = [V::Element::default(); 5];
    // SAFETY: guaranteed by the caller.
    unsafe {
        counted!(n in 5 => {
            if is_one::<K>(n) == Some(true) && reads::<R, K>(n) {
                ones[n] = *row.from[n];
            }
        });
        for at in elements {
            chosen::<V::Element, R, K, 1>(row, &ones, at, to);
        }
    }
}

/// `U` vectors of a row of the result, `to`, from element `at` on.
///
/// # Safety
/// As for [`choose_in_row`]. The row has the elements, and `U` is at most [`GROUP`]. If vectors are stored
/// non-temporally, element `at` is aligned to a vector.
#[inline(always)]
unsafe fn chosen<V: Vector, R: Ruled, K: Known, const U: usize>(
    row: &Row<V::Element>,
    ones: &[V; 5],
    at: usize,
    to: *mut V::Element,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let from = row.at::<R, K>(at);
        counted!(k in U => {
            let compared = [read::<V, K>(&from, ones, 0, [at, k]), read::<V, K>(&from, ones, 1, [at, k])];
            let [chosen, other] = [
                match K::PICKED[0] {
                    Some(picked) => compared[picked],
                    None => read::<V, K>(&from, ones, 2, [at, k]),
                },
                match K::PICKED[1] {
                    Some(picked) => compared[picked],
                    None => read::<V, K>(&from, ones, 3, [at, k]),
                },
            ];
            let factor = if R::SCALED { read::<V, K>(&from, ones, 4, [at, k]) } else { other };
            let value = R::of(compared[0], compared[1], chosen, other, factor);
            let to = to.add(at + k * V::WIDTH);
            if K::NON_TEMPORAL && V::WIDTH > 1 { value.store_non_temporal(to) } else { value.store(to) }
        });
    }
}
