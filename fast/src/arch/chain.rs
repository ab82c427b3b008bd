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
//! Rows of at most two groups are computed four at a time, each with a quarter of a group; those of fewer
//! vectors eight or sixteen at a time:
//!
//! ```text
//!       row r      [ v ][ v ]...      one group = the first vectors of four rows, then the next ones
//!       row r + 1  [ v ][ v ]...
//!       row r + 2  [ v ][ v ]...
//!       row r + 3  [ v ][ v ]...
//! ```

use super::extent::Extent;
use super::group::compute;
use super::vector::Vector;

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
    /// `-a`
    Negate,
    /// `|a|`
    Abs,
    /// The square root of `a`.
    Sqrt,
    /// `e^a`
    Exp,
}

impl ChainOp {
    /// Whether there is no `b`.
    pub(crate) fn is_unary(self) -> bool {
        matches!(self, ChainOp::Negate | ChainOp::Abs | ChainOp::Sqrt | ChainOp::Exp)
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
            | ChainOp::Negate
            | ChainOp::Abs
            | ChainOp::Sqrt
            | ChainOp::Exp => None,
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
            | ChainOp::Negate
            | ChainOp::Abs
            | ChainOp::Sqrt
            | ChainOp::Exp => false,
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
    fn is_long_enough(&self, rows: usize, width: usize) -> bool {
        let last = Extent::of(if self.scalar { 1 } else { width });
        // Of one row, the step does not matter, and a short chain is noticeably faster without it.
        if rows == 1 {
            last.is_within(self.values)
        } else {
            last.repeated(rows, self.step).is_within(self.values)
        }
    }

    /// Moves on by `rows` rows, after which there is another row. So `rows * step` does not overflow in a
    /// link that is long enough.
    #[inline(always)]
    fn advance(&mut self, rows: usize) {
        if self.step != 0 {
            self.values = &self.values[rows * self.step..];
        }
    }
}

/// Which operations a chain contains: code that is compiled for fewer of them is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChainKind {
    /// Additions only.
    Sums,
    /// Binary operations only.
    Arithmetic,
    /// Unary operations as well.
    Functions,
}

impl ChainKind {
    /// The narrowest kind that covers all links.
    #[inline(always)]
    pub(super) fn of<T>(links: &[Link<'_, T>]) -> ChainKind {
        match links.iter().map(|link| link.op).max() {
            None | Some(ChainOp::Add) => ChainKind::Sums,
            Some(op) if op.is_unary() => ChainKind::Functions,
            Some(_) => ChainKind::Arithmetic,
        }
    }
}

/// [`ChainKind`] as const parameters of the code that is compiled for it.
pub(super) const SUMS: u8 = ChainKind::Sums as u8;
pub(super) const ARITHMETIC: u8 = ChainKind::Arithmetic as u8;
pub(super) const FUNCTIONS: u8 = ChainKind::Functions as u8;

/// The chain over the rows of `out`, in groups of `GROUP` vectors.
///
/// # Safety
/// The machine has the instructions of `V`. The links are of the kind `KIND`.
#[inline(always)]
pub(super) unsafe fn run<V: Vector, const GROUP: usize, const KIND: u8, const NON_TEMPORAL: bool>(
    mut first: Link<'_, V::Element>,
    links: &mut [Link<'_, V::Element>],
    rows: usize,
    out: &mut [V::Element],
) {
    const {
        assert!(<V::Element as Vector>::WIDTH == 1 && (KIND == FUNCTIONS || GROUP == 8 || GROUP == 16));
    }
    if out.is_empty() {
        return;
    }
    // `rows * width` is at most the length of `out`, so it does not overflow.
    let width = if rows == 1 { out.len() } else { out.len().checked_div(rows).unwrap_or(0) };
    assert!(rows * width == out.len(), "the output of a chain is not made of whole rows");
    let enough = first.is_long_enough(rows, width)
        && links.iter().all(|link| link.op.is_unary() || link.is_long_enough(rows, width));
    assert!(enough, "an argument of a chain is shorter than its output");
    if !NON_TEMPORAL && KIND != FUNCTIONS && V::WIDTH > 1 && width <= 2 * GROUP * V::WIDTH {
        let vectors = width / V::WIDTH;
        // SAFETY: as below, for each of the rows. There are as many rows as an arm names, and a row has the
        // vectors that a group takes of it.
        unsafe {
            if vectors >= GROUP / 4 && rows >= 4 {
                return short_rows::<V, GROUP, 4, KIND>(first, links, rows, out);
            }
            if vectors >= GROUP / 8 && rows >= 8 {
                return short_rows::<V, GROUP, 8, KIND>(first, links, rows, out);
            }
            if GROUP >= 16 && vectors >= GROUP / 16 && rows >= 16 {
                return short_rows::<V, GROUP, 16, KIND>(first, links, rows, out);
            }
        }
    }
    let mut rest = out;
    loop {
        let (out, others) = rest.split_at_mut(width);
        // SAFETY: the caller guarantees the instructions of `V` and the kind. By the assertions, `width` is
        // not 0, and every argument has the values of the rows that are left.
        unsafe { row::<V, GROUP, KIND, NON_TEMPORAL>(first, links, out) };
        if others.is_empty() {
            return;
        }
        rest = others;
        first.advance(1);
        links.iter_mut().for_each(|link| link.advance(1));
    }
}

/// The chain over short rows, `ROWS` at a time. A part of each makes up a group, so that the branch on a link
/// is paid once for all of them. The last group of a row overlaps the one before, and so do the last rows.
///
/// # Safety
/// The machine has the instructions of `V`. The links are of the kind `KIND`. `out` has `rows` rows, at least
/// `ROWS`, each of at least as many elements as a group takes of it. For each row, every vector argument has
/// as many elements and every scalar has one.
#[inline(always)]
unsafe fn short_rows<V: Vector, const GROUP: usize, const ROWS: usize, const KIND: u8>(
    mut first: Link<'_, V::Element>,
    links: &mut [Link<'_, V::Element>],
    rows: usize,
    out: &mut [V::Element],
) {
    let width = out.len() / rows;
    let step = GROUP / ROWS * V::WIDTH;
    let (mut rest, mut left) = (out, rows);
    loop {
        let block = &mut rest[..ROWS * width];
        let (mut at, last) = (0, width - step);
        loop {
            // SAFETY: guaranteed by the caller; `at` is at most `last`.
            unsafe { group::<V, GROUP, ROWS, KIND, false>(first, links, at, block) };
            if at == last {
                break;
            }
            at = (at + step).min(last);
        }
        let further = (left - ROWS).min(ROWS);
        if further == 0 {
            return;
        }
        rest = &mut rest[further * width..];
        left -= further;
        first.advance(further);
        links.iter_mut().for_each(|link| link.advance(further));
    }
}

/// The chain over one row.
///
/// # Safety
/// The machine has the instructions of `V`. The links are of the kind `KIND`. `out` is not empty; every
/// vector argument has as many elements, and every scalar has one.
#[inline(always)]
unsafe fn row<V: Vector, const GROUP: usize, const KIND: u8, const NON_TEMPORAL: bool>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    out: &mut [V::Element],
) {
    let count = out.len();
    // Leading scalars are folded once per row.
    let alone = |link: &&Link<'_, V::Element>| link.scalar && !link.op.is_for_the_next();
    let scalars = if first.scalar { links.iter().take_while(alone).count() } else { 0 };
    let (folded, links) = links.split_at(scalars);
    let mut head = [first.values[0]];
    if !folded.is_empty() {
        // SAFETY: a vector of width 1 needs no instructions. Each scalar has one element, and so has `head`.
        unsafe { group::<V::Element, 1, 1, KIND, false>(first, folded, 0, &mut head) };
    }
    let first = if first.scalar { Link { values: &head, ..first } } else { first };
    let mut at = 0;
    let boundary = out.as_ptr().align_offset(size_of::<V>());
    // SAFETY: the caller guarantees the instructions of `V`. Every group is inside `out`, and so inside every
    // argument. Groups with non-temporal stores start at `boundary` and advance by whole vectors.
    unsafe {
        while NON_TEMPORAL && at < boundary.min(count) {
            group::<V::Element, 1, 1, KIND, false>(first, links, at, out);
            at += 1;
        }
        // Long bursts of non-temporal stores wait for one another, so groups are small. Functions take longer
        // than their stores and need no small groups.
        let bursts = NON_TEMPORAL && KIND != FUNCTIONS;
        while bursts && links.len() <= 2 && at + 2 * V::WIDTH <= count {
            group::<V, 2, 1, KIND, NON_TEMPORAL>(first, links, at, out);
            at += 2 * V::WIDTH;
        }
        while bursts && at + 4 * V::WIDTH <= count {
            group::<V, 4, 1, KIND, NON_TEMPORAL>(first, links, at, out);
            at += 4 * V::WIDTH;
        }
        while at + GROUP * V::WIDTH <= count {
            group::<V, GROUP, 1, KIND, NON_TEMPORAL>(first, links, at, out);
            at += GROUP * V::WIDTH;
        }
        if GROUP > 8 && rest::<V, GROUP, 8, KIND, NON_TEMPORAL>(first, links, &mut at, out) {
            return;
        }
        if GROUP > 4 && rest::<V, 8, 4, KIND, NON_TEMPORAL>(first, links, &mut at, out) {
            return;
        }
        if rest::<V, 4, 1, KIND, NON_TEMPORAL>(first, links, &mut at, out) {
            return;
        }
        while at + V::WIDTH <= count {
            group::<V, 1, 1, KIND, NON_TEMPORAL>(first, links, at, out);
            at += V::WIDTH;
        }
        if !NON_TEMPORAL && at < count && count >= V::WIDTH {
            return group::<V, 1, 1, KIND, NON_TEMPORAL>(first, links, count - V::WIDTH, out);
        }
        while at < count {
            group::<V::Element, 1, 1, KIND, false>(first, links, at, out);
            at += 1;
        }
    }
}

/// The elements from `at` on, which are fewer than a group of `U` vectors. If there are more than `HALF`
/// vectors and the row is long enough, they are the end of one more whole group. Otherwise a group of `HALF`
/// is computed, if there are enough elements. Returns whether the row is finished.
///
/// # Safety
/// As for [`group`], for the elements of `out`.
#[inline(always)]
unsafe fn rest<V: Vector, const U: usize, const HALF: usize, const KIND: u8, const NON_TEMPORAL: bool>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    at: &mut usize,
    out: &mut [V::Element],
) -> bool {
    let count = out.len();
    // SAFETY: both groups are inside `out`.
    unsafe {
        if !NON_TEMPORAL && count - *at > HALF * V::WIDTH && count >= U * V::WIDTH {
            group::<V, U, 1, KIND, NON_TEMPORAL>(first, links, count - U * V::WIDTH, out);
            return true;
        }
        if HALF > 1 && count - *at >= HALF * V::WIDTH {
            group::<V, HALF, 1, KIND, NON_TEMPORAL>(first, links, *at, out);
            *at += HALF * V::WIDTH;
        }
    }
    *at == count
}

/// `U` vectors of the chain: from element `at` on, the same number of each of `ROWS` rows.
///
/// # Safety
/// The machine has the instructions of `V`. The links are of the kind `KIND`. From `at` on, each row of `out`
/// and of every vector argument has `U / ROWS * V::WIDTH` elements; a scalar has one. With `NON_TEMPORAL`,
/// `out[at]` is aligned to a vector.
#[inline(always)]
unsafe fn group<V: Vector, const U: usize, const ROWS: usize, const KIND: u8, const NON_TEMPORAL: bool>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    at: usize,
    out: &mut [V::Element],
) {
    // SAFETY: the caller guarantees that all offsets are inside.
    unsafe {
        let a = compute::<V, U, ROWS, KIND, NON_TEMPORAL>(first, links, at);
        let width = out.len() / ROWS;
        for (k, a) in a.into_iter().enumerate() {
            let (row, k) = (k / (U / ROWS), k % (U / ROWS));
            let to = out.as_mut_ptr().add(row * width + at + k * V::WIDTH);
            if NON_TEMPORAL { a.store_non_temporal(to) } else { a.store(to) }
        }
    }
}

/// Adds the values of the chain over `count` elements to `lanes`. Element `i` is added to lane `i % LANES`,
/// so each lane adds its elements in the same order on every level.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn sum<V: Vector, const U: usize>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    count: usize,
    lanes: &mut [V::Element; LANES],
) {
    const {
        assert!(<V::Element as Vector>::WIDTH == 1);
        assert!(V::WIDTH.is_power_of_two() && LANES.is_multiple_of(U * V::WIDTH));
    }
    let enough = |link: &Link<'_, V::Element>| link.is_long_enough(1, count.max(1));
    assert!(
        enough(&first) && links.iter().all(|link| link.op.is_unary() || enough(link)),
        "an argument of a chain is shorter than the range that is added up"
    );
    let mut at = 0;
    // SAFETY: the caller guarantees the instructions of `V`, and the assertion the elements of a group.
    // Groups of `U` vectors, of one vector and of one element start at lanes from which they fit. `at` is at
    // most `count`, which is not limited if all arguments are scalars, so nothing is added to `at` before the
    // comparison.
    unsafe {
        while count - at >= U * V::WIDTH {
            add_up::<V, U>(first, links, at, lanes);
            at += U * V::WIDTH;
        }
        while count - at >= V::WIDTH {
            add_up::<V, 1>(first, links, at, lanes);
            at += V::WIDTH;
        }
        while at < count {
            add_up::<V::Element, 1>(first, links, at, lanes);
            at += 1;
        }
    }
}

/// Adds `U` vectors of the chain, from element `at` on, to their lanes.
///
/// # Safety
/// As for [`group`], for the arguments. From lane `at % LANES` on there are `U * V::WIDTH` lanes.
#[inline(always)]
unsafe fn add_up<V: Vector, const U: usize>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    at: usize,
    lanes: &mut [V::Element; LANES],
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let a = compute::<V, U, 1, FUNCTIONS, false>(first, links, at);
        for (k, a) in a.into_iter().enumerate() {
            let lane = lanes.as_mut_ptr().add(at % LANES + k * V::WIDTH);
            V::load(lane).add(a).store(lane);
        }
    }
}
