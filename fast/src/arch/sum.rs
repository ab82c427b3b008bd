//! Sums: of rows that are stored, and of rows of values that are added up while they are computed: those of
//! a [`chain`](super::chain) or of a [`choice`](super::choice).
//!
//! Element `i` of a row is added to partial sum `i % LANES`. Then the upper half of the partial sums is added
//! to the lower half, until one is left. This order is part of the result, and the same on every level. A
//! short row needs fewer partial sums: the others would be 0.
//!
//! ```text
//!       row     [ v ][ v ][ v ][ v ]  [ v ][ v ][ v ][ v ]  [ v ][ v ][ r     four vectors are LANES
//!                 |    |    |    |      |    |    |    |      |    |    |     elements here
//!       lanes   [ + ][ + ][ + ][ + ]--[ + ][ + ][ + ][ + ]--[ + ][ + ][ +     in registers
//! ```

use super::chain::{LANES, Link};
use super::group::{ahead, compute, counted, fetch};
use super::simd::{Section, Simd};
use super::vector::{Vector, each};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

/// Adds the sum of each row to its element of `sums`. All rows have the same length. `A`, `B` and `C` vectors
/// are a quarter of the partial sums, half of them, and all.
///
/// A call for each row would take longer than a short row itself (the gradients of 1,024 elements in
/// `benches/sweep`).
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn of_rows<V: Vector, const A: usize, const B: usize, const C: usize>(
    sums: &mut [V::Element],
    values: &[V::Element],
) {
    const { assert!(4 * A == C && 2 * B == C && C * V::WIDTH == LANES) }
    let width = values.len().checked_div(sums.len()).unwrap_or(0);
    // `width * sums.len()` is at most the number of values, so it does not overflow.
    assert!(width * sums.len() == values.len(), "rows of different lengths");
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        match width {
            0 => {}
            _ if width <= LANES / 4 => each_row::<V, A>(sums, values, width),
            _ if width <= LANES / 2 => each_row::<V, B>(sums, values, width),
            _ => each_row::<V, C>(sums, values, width),
        }
    }
}

/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn each_row<V: Vector, const N: usize>(sums: &mut [V::Element], values: &[V::Element], width: usize) {
    for (sum, row) in sums.iter_mut().zip(values.chunks_exact(width)) {
        // SAFETY: the caller guarantees the instructions.
        *sum = sum.add(unsafe { of_row::<V, N>(row) });
    }
}

/// The sum of a row in `N` vectors of partial sums.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn of_row<V: Vector, const N: usize>(row: &[V::Element]) -> V::Element {
    let (from, count) = (row.as_ptr(), row.len());
    let mut at = 0;
    // SAFETY: the caller guarantees the instructions. Every vector is inside the row, and the last one has as
    // many elements as are left.
    unsafe {
        let mut lanes = [V::splat(V::Element::default()); N];
        while count - at >= N * V::WIDTH {
            counted!(k in N => {
                lanes[k] = lanes[k].add(V::load(from.add(at + k * V::WIDTH)));
            });
            at += N * V::WIDTH;
        }
        let left = count - at;
        // With constant indices, the lanes stay in registers.
        counted!(k in N => {
            if left >= (k + 1) * V::WIDTH {
                lanes[k] = lanes[k].add(V::load(from.add(at + k * V::WIDTH)));
            } else if left > k * V::WIDTH {
                lanes[k] = lanes[k].add(V::load_first(from.add(at + k * V::WIDTH), left - k * V::WIDTH));
            }
        });
        total(lanes)
    }
}

/// The sum of partial sums: the upper half is added to the lower half until one is left.
#[inline(always)]
fn total<V: Vector, const N: usize>(mut lanes: [V; N]) -> V::Element {
    const { assert!(N.is_power_of_two() && N <= LANES) }
    // The lengths are literals, so that each step is unrolled.
    macro_rules! add_halves {
        ($($half:literal)*) => { $(
            if N > $half {
                counted!(lane in $half => {
                    lanes[lane] = lanes[lane].add(lanes[(lane + $half) % N]);
                });
            }
        )* };
    }
    add_halves!(32 16 8 4 2 1);
    lanes[0].sum_of_lanes()
}

/// How rows of values are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reduction {
    /// Each row of so many values is added to one sum. There are as many rows as sums.
    Across { width: usize },
    /// So many rows are added to one row of sums, which has their width.
    Down { rows: usize },
}

/// Values that are added up while they are computed: rows of them, some vectors at a time.
pub(super) trait Values {
    type Element: Vector<Element = Self::Element> + Default;

    /// Whether there are so many rows of so many values. Neither is 0.
    fn are_enough(&self, rows: usize, width: usize) -> bool;

    /// `U` vectors of a row, from element `at` on. Rows are counted from the one that was moved on to.
    ///
    /// # Safety
    /// The machine has the instructions of `V`. The row has the elements.
    unsafe fn read<V: Vector<Element = Self::Element>, const U: usize>(&self, from: [usize; 2]) -> [V; U];

    /// Whether the values are not in the caches, so that it pays off to prefetch them.
    fn are_far(&self) -> bool;

    /// Prefetches what [`Values::read`] reads. Neither the row nor the elements need exist.
    fn fetch<V: Vector<Element = Self::Element>, const U: usize>(&self, from: [usize; 2]);

    /// Moves on to the next row, which exists.
    fn advance(&mut self);
}

/// The values of a chain, of any operations or of all but functions: `KIND` is `WITH_FUNCTIONS` or
/// `ARITHMETIC`. If its operands are not in the caches, `fetches` is set.
pub(super) struct Folded<'a, 'b, 'c, T, const KIND: u8> {
    pub(super) first: Link<'a, T>,
    pub(super) links: &'b mut [Link<'c, T>],
    pub(super) fetches: bool,
}

impl<T: Vector<Element = T> + Default, const KIND: u8> Values for Folded<'_, '_, '_, T, KIND> {
    type Element = T;

    #[inline(always)]
    fn are_enough(&self, rows: usize, width: usize) -> bool {
        let enough = |link: &Link<'_, T>| link.op.is_unary() || link.is_long_enough(rows, width);
        self.first.is_long_enough(rows, width) && self.links.iter().all(enough)
    }

    #[inline(always)]
    unsafe fn read<V: Vector<Element = T>, const U: usize>(&self, from: [usize; 2]) -> [V; U] {
        // SAFETY: guaranteed by the caller.
        unsafe { compute::<V, U, 1, KIND>(&self.first, self.links, from) }
    }

    #[inline(always)]
    fn are_far(&self) -> bool {
        self.fetches
    }

    #[inline(always)]
    fn fetch<V: Vector<Element = T>, const U: usize>(&self, from: [usize; 2]) {
        for link in std::iter::once(&self.first).chain(&*self.links) {
            fetch::<V, U>((link.values, link.step, link.scalar), from);
        }
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.first.advance();
        self.links.iter_mut().for_each(Link::advance);
    }
}

/// Adds rows of values to `sums`. Rows that are added up themselves are computed in groups of `U` vectors, or
/// of `S` if they are short; `ACC` vectors are all partial sums and `HALF` half of them. Rows that are added
/// to one row are computed in groups of `D` vectors.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn of_values<
    L: Simd,
    V: Vector,
    P: Values<Element = V::Element>,
    const U: usize,
    const S: usize,
    const ACC: usize,
    const HALF: usize,
    const D: usize,
>(
    values: P,
    reduction: Reduction,
    sums: &mut [V::Element],
) {
    const {
        assert!(<V::Element as Vector>::WIDTH == 1 && V::WIDTH <= WIDEST);
        assert!(ACC * V::WIDTH == LANES && 2 * HALF == ACC);
        assert!((ACC.is_multiple_of(U) || U.is_multiple_of(ACC)) && HALF.is_multiple_of(S));
        assert!(U * V::WIDTH <= MOST_LEFT && D <= U);
    }
    let (rows, width) = match reduction {
        Reduction::Across { width } => (sums.len(), width),
        Reduction::Down { rows } => (rows, sums.len()),
    };
    if rows == 0 || width == 0 {
        return;
    }
    assert!(values.are_enough(rows, width), "an argument is shorter than the rows that are added up");
    // SAFETY: the caller guarantees the instructions, and the assertion the elements of every row.
    unsafe {
        match reduction {
            Reduction::Across { width } if width <= LANES / 2 => {
                L::section(Across::<V, P, S, HALF> { values, sums, width, vectors: PhantomData });
            }
            Reduction::Across { width } => {
                L::section(Across::<V, P, U, ACC> { values, sums, width, vectors: PhantomData });
            }
            Reduction::Down { rows } => {
                L::section(Down::<V, P, U, D> { values, sums, rows, vectors: PhantomData });
            }
        }
    }
}

/// The elements of the widest vector.
const WIDEST: usize = 16;

/// The most elements that groups of vectors leave of a row.
const MOST_LEFT: usize = 2 * LANES;

/// Adds the sum of each row to its element of `sums`, in `N` vectors of partial sums and groups of `U`.
///
/// A row ends inside of a round of groups. Where the elements that follow it can be read, because they are
/// those of the next row, the round is computed as a whole, and what is not of the row is left out.
///
/// There are as many rows as `sums`, and `width` is not 0.
struct Across<'a, V: Vector, P, const U: usize, const N: usize> {
    values: P,
    sums: &'a mut [V::Element],
    width: usize,
    vectors: PhantomData<V>,
}

impl<V: Vector, P: Values<Element = V::Element>, const U: usize, const N: usize> Section
    for Across<'_, V, P, U, N>
{
    type Result = ();

    #[inline(always)]
    unsafe fn compute(self) {
        let Across { values, sums, width, .. } = self;
        let round = const { (if U > N { U } else { N }) * V::WIDTH };
        let (whole, left) = (width - width % round, width % round);
        let end =
            if left < round / 4 { 0 } else { rows_with(&values, sums.len(), whole.saturating_add(round)) };
        let (far, ahead) = (values.are_far(), const { ahead::<V::Element>() });
        let mut taken = [false; MOST_LEFT];
        if end > 0 {
            taken[..left].fill(true);
        }
        for (row, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the caller guarantees the instructions and the elements, and `rows_with` those of the
            // round that goes on behind the row. A round has at most as many elements as `taken`.
            unsafe {
                let mut lanes = [V::splat(V::Element::default()); N];
                let (mut at, in_rounds) = (0, if row < end { width } else { whole });
                while at < in_rounds {
                    let mut done = 0;
                    while done < round && at + done < in_rounds {
                        if far {
                            values.fetch::<V, U>([row, at + done + ahead]);
                        }
                        let mut a = values.read::<V, U>([row, at + done]);
                        if at == whole {
                            counted!(k in U => {
                                let taken = taken.as_ptr().add(done + k * V::WIDTH);
                                a[k] = V::select(taken, a[k], a[k].like(V::Element::default()));
                            });
                        }
                        counted!(k in U => {
                            let lane = (done / V::WIDTH + k) % N;
                            lanes[lane] = lanes[lane].add(a[k]);
                        });
                        done += U * V::WIDTH;
                    }
                    at += round;
                }
                if in_rounds < width {
                    add_left::<V, P, N>(&values, (row, whole..width), &mut lanes);
                }
                *sum = sum.add(total(lanes));
            }
        }
    }
}

/// How many rows, from the first one on, have so many elements; or fewer, if many rows have less.
#[inline(always)]
fn rows_with<P: Values>(values: &P, rows: usize, width: usize) -> usize {
    const FEW: usize = 8;
    (rows.saturating_sub(FEW).max(1)..=rows).rev().find(|&rows| values.are_enough(rows, width)).unwrap_or(0)
}

/// Adds what is left of a row, less than a round, to the partial sums. The last vector ends with the row: it
/// computes some elements again, which are not added again.
///
/// # Safety
/// The machine has the instructions of `V`. The row has the elements, of which the first is at a multiple of
/// `LANES`. There are at most [`MOST_LEFT`] of them.
#[inline(always)]
unsafe fn add_left<V: Vector, P: Values<Element = V::Element>, const N: usize>(
    values: &P,
    (row, range): (usize, Range<usize>),
    lanes: &mut [V; N],
) {
    let (mut at, count) = (range.start, range.end);
    // The elements, after room for those that the last vector computes again. The others of their last vector
    // are zeros.
    let mut left = MaybeUninit::<[V::Element; WIDEST + MOST_LEFT]>::uninit();
    let last = range.len() / V::WIDTH * V::WIDTH;
    // SAFETY: the caller guarantees the instructions and the elements. `left` has room for one vector before
    // the range, and for whole vectors up to its end, all of which are written before they are read.
    unsafe {
        let start = left.as_mut_ptr().cast::<V::Element>();
        let to = start.add(WIDEST);
        if last < range.len() {
            V::splat(V::Element::default()).store(to.add(last));
        }
        if count < V::WIDTH {
            for at in range.clone() {
                let [a] = values.read::<V::Element, 1>([row, at]);
                a.store(to.add(at - range.start));
            }
        } else {
            while at < count {
                let here = at.min(count - V::WIDTH);
                let [a] = values.read::<V, 1>([row, here]);
                a.store(start.add(WIDEST + here - range.start));
                at += V::WIDTH;
            }
        }
        for k in 0..range.len().div_ceil(V::WIDTH) {
            lanes[k % N] = lanes[k % N].add(V::load(to.add(k * V::WIDTH)));
        }
    }
}

/// The rows that are added to sums in registers, if rows are long. Sums of short rows stay in registers for
/// all rows: a processor waits until it can read what it has just written.
const BAND: usize = 4;

/// Adds rows of values to a row of as many sums, in groups of `U` vectors, of `D` and of one.
///
/// There are `rows` rows of as many elements as there are sums.
struct Down<'a, V: Vector, P, const U: usize, const D: usize> {
    values: P,
    sums: &'a mut [V::Element],
    rows: usize,
    vectors: PhantomData<V>,
}

impl<V: Vector, P: Values<Element = V::Element>, const U: usize, const D: usize> Section
    for Down<'_, V, P, U, D>
{
    type Result = ();

    #[inline(always)]
    unsafe fn compute(self) {
        let Down { mut values, sums, rows, .. } = self;
        let count = sums.len();
        let most = if count <= LANES { rows } else { BAND };
        // A group of choices costs as much as its vectors, while one of a chain pays for each link, too.
        let rest = if D > 1 { D + 1 } else { U };
        let overlaps = !count.is_multiple_of(V::WIDTH) || D > 1 && count > D * V::WIDTH;
        let mut before = 0;
        while before < rows {
            let (band, mut at) = (most.min(rows - before), 0);
            // SAFETY: the caller guarantees the instructions and the elements. `overlaps` is false only if no
            // group overlaps another one. If `D` is 1, only groups of one vector do, because `rest` is `U`.
            // Otherwise `last` has enough for each size, because `D` is at most `U`.
            unsafe {
                // Reading what was stored in other pieces takes long, so it is only as much as may be needed.
                let last = if !overlaps {
                    Last::none()
                } else if D == 1 {
                    Last::of::<V, 1>(sums)
                } else {
                    Last::of::<V, U>(sums)
                };
                let _ = add_groups::<V, P, U>(&values, (band, rest), &mut at, (&last, sums))
                    || D > 1 && add_groups::<V, P, D>(&values, (band, D / 2), &mut at, (&last, sums))
                    || add_groups::<V, P, 1>(&values, (band, 0), &mut at, (&last, sums))
                    || add_groups::<V::Element, P, 1>(&values, (band, 0), &mut at, (&last, sums));
            }
            before += band;
            if before < rows {
                (0..band).for_each(|_| values.advance());
            }
        }
    }
}

/// The last sums as they are before a band of rows is added.
struct Last<T>(MaybeUninit<[T; MOST_LEFT]>);

impl<T: Copy> Last<T> {
    #[inline(always)]
    fn none() -> Last<T> {
        Last(MaybeUninit::uninit())
    }

    /// The last `U` vectors of `sums`, or all sums, if there are fewer.
    ///
    /// # Safety
    /// The machine has the instructions of `V`.
    #[inline(always)]
    unsafe fn of<V: Vector<Element = T>, const U: usize>(sums: &[T]) -> Last<T> {
        const { assert!(U * V::WIDTH <= MOST_LEFT) }
        let mut last = Last::none();
        let count = sums.len().min(U * V::WIDTH);
        // SAFETY: the caller guarantees the instructions. `last` has room for `count` elements at its end,
        // and `sums` has as many.
        unsafe {
            let from = sums.as_ptr().add(sums.len() - count);
            let to = last.0.as_mut_ptr().cast::<T>().add(MOST_LEFT - count);
            if count == U * V::WIDTH {
                counted!(k in U => {
                    V::load(from.add(k * V::WIDTH)).store(to.add(k * V::WIDTH));
                });
            } else {
                from.copy_to_nonoverlapping(to, count);
            }
        }
        last
    }

    /// The last `count` sums.
    ///
    /// # Safety
    /// `count` is at most the number of sums that are here.
    #[inline(always)]
    unsafe fn end(&self, count: usize) -> *const T {
        // SAFETY: guaranteed by the caller. They are at most `MOST_LEFT`.
        unsafe { self.0.as_ptr().cast::<T>().add(MOST_LEFT - count) }
    }
}

/// Adds `band` rows of values to the sums from `at` on in groups of `U` vectors, as many as there are. At
/// most `rest` vectors are left to smaller groups: if there are more and there are enough sums, one more
/// group ends with them. It computes some sums again, from what they were before. Returns whether all sums
/// are complete.
///
/// # Safety
/// The machine has the instructions of `V`. Each row has as many elements as there are sums. If the last
/// group overlaps the one before, `last` has its sums.
#[inline(always)]
unsafe fn add_groups<V: Vector, P: Values<Element = V::Element>, const U: usize>(
    values: &P,
    (band, rest): (usize, usize),
    at: &mut usize,
    (last, sums): (&Last<V::Element>, &mut [V::Element]),
) -> bool {
    let (count, size) = (sums.len(), U * V::WIDTH);
    let Some(end) = count.checked_sub(size) else { return false };
    let left = (count - *at) % size;
    let stop = if left > rest * V::WIDTH { count } else { count - left };
    while *at < stop {
        let here = end.min(*at);
        // SAFETY: the caller guarantees the instructions and the elements, and the sums in `last`. The group
        // is inside the row.
        unsafe {
            let before = if here < *at { last.end(size) } else { sums.as_ptr().add(here) };
            let all = add_columns::<V, P, U>(values, (band, count), here, load_sums(before));
            counted!(k in U => {
                all[k].store(sums.as_mut_ptr().add(here + k * V::WIDTH));
            });
        }
        *at += size;
    }
    *at >= count
}

/// `U` vectors of sums, and the values of `rows` rows of `width` elements, from element `at` on.
///
/// # Safety
/// As for [`Values::read`].
#[inline(always)]
unsafe fn add_columns<V: Vector, P: Values<Element = V::Element>, const U: usize>(
    values: &P,
    (rows, width): (usize, usize),
    at: usize,
    mut all: [V; U],
) -> [V; U] {
    if values.are_far() {
        // After the end of these rows come those of the next band.
        let ahead = at + const { ahead::<V::Element>() };
        let (skipped, ahead) = if ahead < width { (0, ahead) } else { (rows, ahead - width) };
        for row in 0..rows {
            values.fetch::<V, U>([row + skipped, ahead]);
        }
    }
    for row in 0..rows {
        // SAFETY: guaranteed by the caller.
        let a = unsafe { values.read::<V, U>([row, at]) };
        all = each!(all, a => all.add(a));
    }
    all
}

/// `U` vectors of sums.
///
/// # Safety
/// The machine has the instructions of `V`. From the address on, there are sums for the elements.
#[inline(always)]
unsafe fn load_sums<V: Vector, const U: usize>(from: *const V::Element) -> [V; U] {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut all = [V::splat(V::Element::default()); U];
        counted!(k in U => {
            all[k] = V::load(from.add(k * V::WIDTH));
        });
        all
    }
}
