//! Chains: left folds `((x0 op x1) op x2) op …` computed in one pass, with the value in registers throughout.
//!
//! Each argument is a vector or one value for the whole row, which the code distinguishes by a branch on a
//! pattern that repeats. So one loop serves all 2^n - 1 broadcasting patterns of n operands. A link may also
//! be a function of the value alone, such as exp.
//!
//! This is how [`run`] computes `(x0 + x1) * x2` with a group of four vectors. `x1` is a scalar in every row:
//!
//! ```text
//!               at             at + 4 * WIDTH
//!               |              |
//!       x0  ....[ v  v  v  v ].[ v  v  v  v ]...[ v  v  v  v ]..   load
//!                 |  |  |  |
//!       x1  s --> +  +  +  +        link 1: Add, scalar            splat, once per group
//!                 |  |  |  |
//!       x2  ....[ *  *  *  * ].[ v  v  v  v ]...[ v  v  v  v ]..   link 2: Multiply, vector: load
//!                 |  |  |  |
//!       out ....[ a  a  a  a ].[            ]...[            ]..   store
//!               '----+-------'                   '---- the last group ends with the row and overlaps
//!                    group: the value `a` of all its elements stays in registers from x0 to out
//! ```
//!
//! The outer loop goes over the groups of a row and the inner one over the links, so that the branch on a
//! link's operation is paid once per group. What does not fill a whole group is done by smaller groups, or by
//! one group that ends with the row and computes a few elements again. Non-temporal stores must not be
//! repeated and must be aligned, so there the first and last elements are computed one at a time.
//!
//! Frequent chains have loops of their own over all rows ([`frequent`]). Of the others, rows shorter than two
//! groups are computed four at a time, each with a quarter of a group, and what is left of them, and rows of
//! fewer vectors, eight or sixteen at a time, unless [`splits_lines`] says that this is slower:
//!
//! ```text
//!       row r      [ v ][ v ]...      one group = the first vectors of four rows, then the next ones
//!       row r + 1  [ v ][ v ]...
//!       row r + 2  [ v ][ v ]...
//!       row r + 3  [ v ][ v ]...
//! ```

use super::clip::Clip;
use super::extent::Extent;
use super::frequent;
use super::group::{ChainVector, ahead, compute, counted, fetch};
use super::processor::is_intel;
use super::simd::{Section, Simd};
use super::stream::LINE;
use std::marker::PhantomData;
use std::ops::Range;

/// The number of partial sums in a sum. It determines the result's bits, so it is the same on every level.
pub(crate) const LANES: usize = 64;

/// What a link does with the value so far, `a`, and its argument, `b`. They are in the order of their
/// [`ChainKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChainOp {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `b - a`
    SubtractFrom,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `b / a`
    DivideInto,
    /// The larger of `a` and `b` (clause V-3).
    Maximum,
    /// The smaller of `a` and `b`.
    Minimum,
    /// `b + c` in place of the next link's argument, which is `c`.
    PlusNext,
    /// `b - c`, likewise.
    MinusNext,
    /// `b * c`, likewise.
    TimesNext,
    /// `a * a`
    Square,
    /// `-a`
    Negate,
    /// `|a|`
    Abs,
    /// The square root of `a`.
    Sqrt,
    /// `e^a`
    Exp,
    /// The hyperbolic tangent of `a`.
    Tanh,
}

impl ChainOp {
    /// Whether there is no `b`.
    pub(crate) fn is_unary(self) -> bool {
        self.is_function() || matches!(self, ChainOp::Square | ChainOp::Negate | ChainOp::Abs | ChainOp::Sqrt)
    }

    /// Whether it is a function that takes much longer than arithmetic.
    pub(crate) const fn is_function(self) -> bool {
        matches!(self, ChainOp::Exp | ChainOp::Tanh)
    }

    /// Whether it takes several times as long as the other operations that are not functions.
    pub(crate) fn is_slow(self) -> bool {
        matches!(self, ChainOp::Divide | ChainOp::DivideInto | ChainOp::Sqrt)
    }

    /// Whether chains of integers have it: it gives the same bits whether the integers have signs or not.
    pub(crate) const fn is_of_integers(self) -> bool {
        match self {
            ChainOp::Add
            | ChainOp::Subtract
            | ChainOp::SubtractFrom
            | ChainOp::Multiply
            | ChainOp::PlusNext
            | ChainOp::MinusNext
            | ChainOp::TimesNext
            | ChainOp::Square
            | ChainOp::Negate => true,
            ChainOp::Divide
            | ChainOp::DivideInto
            | ChainOp::Maximum
            | ChainOp::Minimum
            | ChainOp::Abs
            | ChainOp::Sqrt
            | ChainOp::Exp
            | ChainOp::Tanh => false,
        }
    }

    /// Whether it leaves `a` alone and makes the next link's argument of two.
    pub(super) fn is_for_the_next(self) -> bool {
        matches!(self, ChainOp::PlusNext | ChainOp::MinusNext | ChainOp::TimesNext)
    }

    /// The operation that makes the next link's argument as this one makes `a`, if there is one.
    pub(crate) fn for_the_next(self) -> Option<ChainOp> {
        match self {
            ChainOp::Add => Some(ChainOp::PlusNext),
            ChainOp::Subtract => Some(ChainOp::MinusNext),
            ChainOp::Multiply => Some(ChainOp::TimesNext),
            ChainOp::SubtractFrom
            | ChainOp::Divide
            | ChainOp::DivideInto
            | ChainOp::Maximum
            | ChainOp::Minimum
            | ChainOp::PlusNext
            | ChainOp::MinusNext
            | ChainOp::TimesNext
            | ChainOp::Square
            | ChainOp::Negate
            | ChainOp::Abs
            | ChainOp::Sqrt
            | ChainOp::Exp
            | ChainOp::Tanh => None,
        }
    }

    /// Whether its argument may be made of two. Each operation is compiled for every size of group, so
    /// quotients are left out.
    pub(crate) fn may_take_two(self) -> bool {
        match self {
            ChainOp::Add
            | ChainOp::Subtract
            | ChainOp::SubtractFrom
            | ChainOp::Multiply
            | ChainOp::Maximum
            | ChainOp::Minimum => true,
            ChainOp::Divide
            | ChainOp::DivideInto
            | ChainOp::PlusNext
            | ChainOp::MinusNext
            | ChainOp::TimesNext
            | ChainOp::Square
            | ChainOp::Negate
            | ChainOp::Abs
            | ChainOp::Sqrt
            | ChainOp::Exp
            | ChainOp::Tanh => false,
        }
    }
}

/// A link of a chain with its argument: for each row of the output as many values as the row has elements, or
/// one value; none if the operation is unary.
#[derive(Clone, Copy)]
pub(crate) struct Link<'a, T> {
    pub(crate) op: ChainOp,
    /// From the first value of the first row to the last value of the last row.
    pub(crate) values: &'a [T],
    /// The distance between the starts of successive rows, in elements.
    pub(crate) step: usize,
    /// Whether a row has one value.
    pub(crate) scalar: bool,
}

impl<T> Link<'_, T> {
    /// Whether there are values for `rows` rows of `width` elements.
    #[inline(always)]
    pub(super) fn is_long_enough(&self, rows: usize, width: usize) -> bool {
        let last = Extent::of(if self.scalar { 1 } else { width });
        last.repeated(rows, self.step).is_within(self.values)
    }

    /// Whether both links have the same argument, in the row that was moved on to or in all rows from there
    /// on. Where one begins where the other does, the values may still differ, as those of a row and of its
    /// first element.
    #[inline(always)]
    pub(super) fn is_same(&self, other: &Self, in_this_row: bool) -> bool {
        std::ptr::eq(self.values.as_ptr(), other.values.as_ptr())
            && (in_this_row || self.step == other.step)
            && self.scalar == other.scalar
    }

    /// Moves on by one row, after which there is another one. So `step` is inside of a link that is long
    /// enough.
    #[inline(always)]
    pub(super) fn advance(&mut self) {
        if self.step != 0 {
            self.values = &self.values[self.step..];
        }
    }
}

/// Which operations a chain contains: code that is compiled for fewer of them is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainKind {
    /// Additions only.
    Sums,
    /// Any operations but functions.
    Arithmetic,
    /// Any operations.
    WithFunctions,
}

impl ChainKind {
    /// The narrowest kind that covers all operations.
    #[inline(always)]
    pub(crate) fn of(ops: impl Iterator<Item = ChainOp>) -> ChainKind {
        match ops.max() {
            None | Some(ChainOp::Add) => ChainKind::Sums,
            Some(op) if op.is_function() => ChainKind::WithFunctions,
            Some(_) => ChainKind::Arithmetic,
        }
    }
}

/// [`ChainKind`] as const parameters of the code that is compiled for it.
pub(super) const SUMS: u8 = ChainKind::Sums as u8;
pub(super) const ARITHMETIC: u8 = ChainKind::Arithmetic as u8;
pub(super) const WITH_FUNCTIONS: u8 = ChainKind::WithFunctions as u8;

/// The chain over the rows of `out`, in groups of `GROUP` vectors. If a link is not of the kind `KIND`, the
/// values are wrong, and it needs an argument nevertheless. Stores may be non-temporal only with
/// `NON_TEMPORAL`.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn run<
    L: Simd,
    V: ChainVector,
    const GROUP: usize,
    const KIND: u8,
    const NON_TEMPORAL: bool,
>(
    first: &Link<'_, V::Element>,
    (links, how): (&mut [Link<'_, V::Element>], How),
    rows: usize,
    out: &mut [V::Element],
) {
    const {
        assert!(
            <V::Element as ChainVector>::WIDTH == 1 && (KIND == WITH_FUNCTIONS || GROUP == 8 || GROUP == 16)
        );
    }
    if out.is_empty() {
        return;
    }
    // `rows * width` is at most the length of `out`, so it does not overflow.
    let width = if rows == 1 { out.len() } else { out.len().checked_div(rows).unwrap_or(0) };
    assert!(rows * width == out.len(), "the output of a chain is not made of whole rows");
    let enough =
        |link: &Link<'_, V::Element>| KIND != SUMS && link.op.is_unary() || link.is_long_enough(rows, width);
    // The first argument is read whatever its operation is.
    assert!(
        first.is_long_enough(rows, width) && links.iter().all(enough),
        "an argument of a chain is shorter than its output"
    );
    // SAFETY: the caller guarantees the instructions of `V`. By the assertions, `width` is not 0, and every
    // argument has the values of all rows.
    unsafe {
        if const { !NON_TEMPORAL && KIND == ARITHMETIC && V::WIDTH > 1 }
            && width >= V::WIDTH
            && frequent::rows::<L, V, false>(first, links, (rows, width), out)
        {
            return;
        }
        if const { !NON_TEMPORAL && KIND == ARITHMETIC && V::WIDTH > 1 && V::ARE_FLOATS }
            && width >= V::WIDTH
            && Clip::<V>::is(first, links)
        {
            return L::section(Clip::<V>::new(first, links, (rows, width), out));
        }
        // Long rows are prefetched and stored non-temporally by the loop over groups, where that is wanted.
        if const { KIND == WITH_FUNCTIONS && V::WIDTH > 1 }
            && width >= V::WIDTH
            && (!how.fetches && !how.non_temporal || width < const { SHORT_ROW / size_of::<V::Element>() })
            && frequent::rows::<L, V, true>(first, links, (rows, width), out)
        {
            return;
        }
        if const { !NON_TEMPORAL && KIND != WITH_FUNCTIONS && V::WIDTH > 1 }
            && width < 2 * GROUP * V::WIDTH
            && !splits_lines::<V, GROUP>(width, out.len())
        {
            let fewest = fewest_rows::<V, GROUP>(width);
            if rows >= fewest {
                return L::section(ShortRows::<V, GROUP, KIND> {
                    chain: (first, links),
                    rows,
                    width,
                    fewest,
                    out,
                });
            }
        }
        let mut first = Link { op: first.op, values: first.values, step: first.step, scalar: first.scalar };
        let how = How { small: GROUP > 4 && KIND == WITH_FUNCTIONS && divides(links), ..how };
        let mut rest = out;
        loop {
            let (out, others) = rest.split_at_mut(width);
            row::<L, V, GROUP, KIND, NON_TEMPORAL>((&first, links), how, out);
            if others.is_empty() {
                return;
            }
            rest = others;
            first.advance();
            links.iter_mut().for_each(Link::advance);
        }
    }
}

/// How the rows of a chain are computed.
#[derive(Clone, Copy)]
pub(super) struct How {
    /// Whether stores are non-temporal.
    non_temporal: bool,
    /// Whether a chain with functions prefetches its operands, unless stores are non-temporal. (In the
    /// caches, exp(x*y) of f32 takes 0.91 to 0.95 of the time without that, and 0.85 to 0.88 on AVX2,
    /// `benches/quick`.)
    fetches: bool,
    /// Whether groups have at most four vectors.
    small: bool,
}

impl How {
    #[inline(always)]
    pub(super) fn new(non_temporal: bool, fetches: bool) -> How {
        How { non_temporal, fetches, small: false }
    }
}

/// A chain with functions. Its code is large, and whether stores are non-temporal is decided for each group:
/// next to a function, that costs nothing.
pub(super) struct ChainWithFunctions<'a, 'b, L, V: ChainVector, const GROUP: usize> {
    pub(super) first: &'a Link<'a, V::Element>,
    pub(super) links: &'a mut [Link<'b, V::Element>],
    pub(super) how: How,
    pub(super) rows: usize,
    pub(super) out: &'a mut [V::Element],
    pub(super) level: PhantomData<L>,
}

impl<L: Simd, V: ChainVector, const GROUP: usize> Section for ChainWithFunctions<'_, '_, L, V, GROUP> {
    type Result = ();

    #[inline(always)]
    unsafe fn compute(self) {
        let ChainWithFunctions { first, links, how, rows, out, .. } = self;
        // SAFETY: guaranteed by the caller.
        unsafe { run::<L, V, GROUP, WITH_FUNCTIONS, true>(first, (links, how), rows, out) }
    }
}

/// Whether a chain has a quotient. Quotients of vectors of 512 bits take 10 cycles each, and those of f64 16,
/// in which the processor computes only what it sees ahead: with groups of four vectors, the exp of the next
/// group. (x/(1+exp(-x)) of f64 takes 0.88 to 0.90 of the time, `benches/quick`. In f32 it takes 0.82 on an
/// Intel Xeon of model 106, and 1.05 to 1.09 on one of model 207, which sees further ahead.)
#[inline(always)]
fn divides<T>(links: &[Link<'_, T>]) -> bool {
    links.iter().any(|link| matches!(link.op, ChainOp::Divide | ChainOp::DivideInto))
}

/// Whether rows take longer together than one after another. If they are not whole cache lines, most stores
/// of 64 bytes go to two lines. Beyond the first-level cache, such a store takes up to 9 cycles if its
/// neighbours in the row are stored later, and 5.5 if they are stored next. That is worth more than a jump
/// for each link as soon as a row has a whole group. (Before it had a loop of its own, (x-m)*r*g+b took 0.97
/// of the time one row after another over 256x264, 0.92 over 256x300, and in f64 0.89 over 256x150,
/// `benches/quick`. In the cache it took up to 1.7 times as long. Results there begin at a cache line.) That
/// was on Intel. On an AMD EPYC, one row after another took as long in f64 and 1.3 times as long over 300x300
/// in f32 (`benches/expressions`), so there, rows of smaller elements are computed together. Integers of one
/// to four bytes were not measured.
#[inline(always)]
fn splits_lines<V: ChainVector, const GROUP: usize>(width: usize, count: usize) -> bool {
    let bytes = |elements: usize| elements.saturating_mul(size_of::<V::Element>());
    size_of::<V>() == LINE
        && width >= GROUP * V::WIDTH
        && !bytes(width).is_multiple_of(LINE)
        && bytes(count) >= FIRST_LEVEL
        && (size_of::<V::Element>() == 8 || is_intel())
}

/// The bytes of the shortest row of a chain with functions that is prefetched or stored non-temporally.
const SHORT_ROW: usize = 512;

/// Results of this many bytes do not fit into a first-level cache beside an operand.
const FIRST_LEVEL: usize = 32 << 10;

/// The rows of the smallest band that can be computed together, if a row is so wide: of each row, a group
/// takes the same number of vectors. No number of rows is enough for rows of less than a vector.
#[inline(always)]
fn fewest_rows<V: ChainVector, const GROUP: usize>(width: usize) -> usize {
    match width / V::WIDTH {
        0 => usize::MAX,
        vectors if vectors >= GROUP / 4 => 4,
        vectors if vectors >= GROUP / 8 => 8,
        _ => GROUP,
    }
}

/// The chain over short rows, in bands of `GROUP` rows. The last rows are the end of a smaller band, of
/// `fewest` rows at least, which overlaps the one before.
///
/// `out` has `rows` rows of `width` elements. There are at least `fewest` rows, which is [`fewest_rows`]. For
/// each row, every vector argument has as many elements and every scalar has one.
struct ShortRows<'a, V: ChainVector, const GROUP: usize, const KIND: u8> {
    chain: (&'a Link<'a, V::Element>, &'a [Link<'a, V::Element>]),
    rows: usize,
    width: usize,
    fewest: usize,
    out: &'a mut [V::Element],
}

impl<V: ChainVector, const GROUP: usize, const KIND: u8> Section for ShortRows<'_, V, GROUP, KIND> {
    type Result = ();

    #[inline(always)]
    unsafe fn compute(self) {
        let ShortRows { chain, rows, width, fewest, out } = self;
        let mut done = 0;
        while done < rows {
            let (left, mut band) = (rows - done, GROUP);
            while band > fewest && band / 2 >= left {
                band /= 2;
            }
            // There may be fewer rows than are in the band.
            while band > rows {
                band /= 2;
            }
            let from = done.min(rows - band);
            // SAFETY: guaranteed by the caller. The band is inside `out`; it has `GROUP` rows or a power of
            // two of them, at least `fewest`.
            unsafe { self::band::<V, GROUP, KIND>(chain, (from, band), width, out) };
            done = from + band;
        }
    }
}

/// The chain over a band of `count` rows from `row` on. Groups of four rows take most of each row. What is
/// left of it, less than they take, is computed by groups of eight rows and of sixteen, which take a half
/// and a quarter as much of each: a group that overlaps more computes more elements again. (With groups of
/// four rows alone, 100x100 took 1.1 times as long, `benches/quick`.)
///
/// # Safety
/// The machine has the instructions of `V`. `out` has the rows, of `width` elements. `count` is `GROUP` or
/// half or a quarter of it, and at least 4 and [`fewest_rows`]. For each row, every vector argument has
/// `width` elements and every scalar has one.
#[inline(always)]
unsafe fn band<V: ChainVector, const GROUP: usize, const KIND: u8>(
    chain: (&Link<'_, V::Element>, &[Link<'_, V::Element>]),
    (row, count): (usize, usize),
    width: usize,
    out: &mut [V::Element],
) {
    // The elements that a group takes of each of four, eight and sixteen rows.
    let (four, eight, sixteen) = (GROUP / 4 * V::WIDTH, GROUP / 8 * V::WIDTH, GROUP / 16 * V::WIDTH);
    let mut at = 0;
    // SAFETY: guaranteed by the caller. Groups of as many rows begin at multiples of them from `row` on,
    // and end at `width` or before, because `width` is at least what they take of a row.
    unsafe {
        if width >= four {
            let whole = width - width % four;
            // Another group that overlaps, if that is all there is, or takes no longer than what follows.
            let end = if count == 4 || width - whole > four - V::WIDTH { width } else { whole };
            for row in (row..row + count).step_by(4) {
                at = 0;
                while at < end {
                    let here = at.min(width - four);
                    group::<V, GROUP, 4, KIND>(chain, [row, here], [row * width + here, width], (out, false));
                    at += four;
                }
            }
        }
        if count >= 8 && width >= eight {
            let end = if count == 8 { width } else { width - V::WIDTH };
            let from = at;
            for row in (row..row + count).step_by(8) {
                at = from;
                while at < end {
                    let here = at.min(width - eight);
                    group::<V, GROUP, 8, KIND>(chain, [row, here], [row * width + here, width], (out, false));
                    at += eight;
                }
            }
        }
        if const { GROUP >= 16 } {
            while at < width {
                let here = at.min(width - sixteen);
                group::<V, GROUP, 16, KIND>(chain, [row, here], [row * width + here, width], (out, false));
                at += sixteen;
            }
        }
    }
}

/// The chain over one row, into its elements, `out`.
///
/// # Safety
/// The machine has the instructions of `V`. `out` is not empty. In its row, every vector argument has as many
/// elements, and every scalar has one.
#[inline(always)]
unsafe fn row<L: Simd, V: ChainVector, const GROUP: usize, const KIND: u8, const NON_TEMPORAL: bool>(
    (first, links): (&Link<'_, V::Element>, &[Link<'_, V::Element>]),
    how: How,
    out: &mut [V::Element],
) {
    let count = out.len();
    // Leading scalars are folded once per row.
    let alone = |link: &&Link<'_, V::Element>| link.scalar && !link.op.is_for_the_next();
    let scalars = if first.scalar { links.iter().take_while(alone).count() } else { 0 };
    let (folded, links) = links.split_at(scalars);
    let mut head = [first.values[0]];
    if !folded.is_empty() {
        // SAFETY: the caller guarantees the instructions. Each scalar has one element, and so has `head`.
        unsafe { L::section(OneByOne::<V, KIND> { chain: (first, folded), range: 0..1, out: &mut head }) };
    }
    // A copy, field by field, which stays in registers.
    let first = match first.scalar {
        true => Link { op: first.op, values: &head[..], step: 0, scalar: true },
        false => Link { op: first.op, values: first.values, step: 0, scalar: false },
    };
    let (chain, mut at) = ((&first, links), 0);
    let non_temporal = NON_TEMPORAL && how.non_temporal;
    let boundary = out.as_ptr().align_offset(size_of::<V>()).min(count);
    // SAFETY: the caller guarantees the instructions of `V`. Every group is inside `out`, and so inside every
    // argument. Groups with non-temporal stores start at `boundary` and advance by whole vectors.
    unsafe {
        if non_temporal {
            if boundary > 0 {
                L::section(OneByOne::<V, KIND> { chain, range: 0..boundary, out });
                at = boundary;
            }
        } else {
            at = V::begin_row::<L, KIND>(chain.0, chain.1, how.fetches, out);
        }
        // Long bursts of non-temporal stores wait for one another, so groups are small. A function takes
        // longer than its stores and needs no small groups.
        if const { NON_TEMPORAL && KIND != WITH_FUNCTIONS } {
            while links.len() <= 2 && at + 2 * V::WIDTH <= count {
                group::<V, 2, 1, KIND>(chain, [0, at], [at, 0], (out, non_temporal));
                at += 2 * V::WIDTH;
            }
            while at + 4 * V::WIDTH <= count {
                group::<V, 4, 1, KIND>(chain, [0, at], [at, 0], (out, non_temporal));
                at += 4 * V::WIDTH;
            }
        } else {
            let large = !how.small;
            let done = const { GROUP > 8 }
                && large
                && groups::<V, GROUP, 8, KIND, NON_TEMPORAL>(chain, how, &mut at, out)
                || const { GROUP > 4 }
                    && large
                    && groups::<V, 8, 4, KIND, NON_TEMPORAL>(chain, how, &mut at, out)
                || groups::<V, 4, 1, KIND, NON_TEMPORAL>(chain, how, &mut at, out);
            if done {
                return;
            }
        }
        // Less than four vectors are left.
        let done = groups::<V, 1, 0, KIND, NON_TEMPORAL>(chain, how, &mut at, out);
        if done {
            return;
        }
        if at < count {
            L::section(OneByOne::<V, KIND> { chain, range: at..count, out });
        }
    }
}

/// The chain over some elements of a row, one at a time.
///
/// In its row, every vector argument has as many elements as `out`, the range is inside of them, and every
/// scalar has one element.
struct OneByOne<'a, V: ChainVector, const KIND: u8> {
    chain: (&'a Link<'a, V::Element>, &'a [Link<'a, V::Element>]),
    range: Range<usize>,
    out: &'a mut [V::Element],
}

impl<V: ChainVector, const KIND: u8> Section for OneByOne<'_, V, KIND> {
    type Result = ();

    #[inline(always)]
    unsafe fn compute(self) {
        let OneByOne { chain, range, out } = self;
        let mut at = range.start;
        while at < range.end {
            // SAFETY: guaranteed by the caller.
            unsafe { group::<V::Element, 1, 1, KIND>(chain, [0, at], [at, 0], (out, false)) };
            at += 1;
        }
    }
}

/// The elements from `at` on in groups of `U` vectors, as many as there are. At most `REST` vectors are left
/// to smaller groups: if there are more and the row is long enough, one more group ends with the row. One
/// loop computes all groups, because each copy of the code of a group takes long to compile. Returns whether
/// the row is finished.
///
/// # Safety
/// As for [`group`], for the elements of `out`.
#[inline(always)]
unsafe fn groups<
    V: ChainVector,
    const U: usize,
    const REST: usize,
    const KIND: u8,
    const NON_TEMPORAL: bool,
>(
    chain: (&Link<'_, V::Element>, &[Link<'_, V::Element>]),
    how: How,
    at: &mut usize,
    out: &mut [V::Element],
) -> bool {
    let (count, size) = (out.len(), U * V::WIDTH);
    let Some(last) = count.checked_sub(size) else { return false };
    let left = (count - *at) % size;
    let non_temporal = NON_TEMPORAL && how.non_temporal;
    let end = if !non_temporal && left > REST * V::WIDTH { count } else { count - left };
    while *at < end {
        let here = last.min(*at);
        if const { KIND == WITH_FUNCTIONS } && how.fetches && !non_temporal {
            let ahead = here + const { ahead::<V::Element>() };
            fetch::<V, U>((chain.0.values, 0, chain.0.scalar), [0, ahead]);
            for link in chain.1 {
                fetch::<V, U>((link.values, 0, link.scalar), [0, ahead]);
            }
        }
        // SAFETY: the group is inside `out`.
        unsafe { group::<V, U, 1, KIND>(chain, [0, here], [here, 0], (out, non_temporal)) };
        *at += size;
    }
    *at >= count
}

/// `U` vectors of the chain: from element `at` on, the same number of each of `ROWS` rows from `row` on.
/// They go to `out`, the first of them to `to`, and those of each further row `width` elements behind.
///
/// # Safety
/// The machine has the instructions of `V`. For each of the rows, every vector argument has
/// `U / ROWS * V::WIDTH` elements from `at` on, and so has `out` at the place of the row; a scalar has one.
/// If `non_temporal` is set, `out[to]` is aligned to a vector. Unless `KIND` is `SUMS`, unary links need no
/// argument.
#[inline(always)]
unsafe fn group<V: ChainVector, const U: usize, const ROWS: usize, const KIND: u8>(
    (first, links): (&Link<'_, V::Element>, &[Link<'_, V::Element>]),
    from: [usize; 2],
    [to, width]: [usize; 2],
    (out, non_temporal): (&mut [V::Element], bool),
) {
    // SAFETY: the caller guarantees that all offsets are inside.
    unsafe {
        let a = compute::<V, U, ROWS, KIND>(first, links, from);
        let to = out.as_mut_ptr().add(to);
        counted!(k in U => {
            let (row, column) = (k / (U / ROWS), k % (U / ROWS));
            let to = to.add(row * width + column * V::WIDTH);
            if non_temporal { a[k].write_non_temporal(to) } else { a[k].write(to) }
        });
    }
}
