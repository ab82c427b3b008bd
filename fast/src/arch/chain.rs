//! A left fold as one superinstruction: `((x0 op x1) op x2) op …` with the value in registers throughout. Each
//! argument is a vector or one value, which is a branch on a pattern that repeats: one loop for all 2^n - 1
//! broadcasting patterns of n operands. A link may be a function of the value alone, exp among them.

use super::stream::{LINE, prefetch};
use super::vector::{Vector, each};

/// How many partial sums a sum has. It is part of the result: the same on every level.
pub const LANES: usize = 64;

/// How far ahead operands are asked for, in bytes: by a chain that computes much, and by one that is stored past the
/// caches, whose operands come from memory.
const AHEAD: usize = 2048;
const FAR_AHEAD: usize = 1024;

/// What a link does with the value so far, `a`, and its argument, `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainOp {
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
    pub fn is_unary(self) -> bool {
        matches!(self, ChainOp::Negate | ChainOp::Abs | ChainOp::Sqrt | ChainOp::Exp)
    }
}

/// An argument of a chain: for each row of the output as many values as it has places, or one; none for a function of
/// one.
#[derive(Clone, Copy)]
pub struct Link<'a, T> {
    pub op: ChainOp,
    /// From the first row's values to the last row's.
    pub values: &'a [T],
    /// How far apart the values of successive rows begin.
    pub step: usize,
    pub scalar: bool,
}

impl<T> Link<'_, T> {
    /// Whether there are values for so many rows, more than 0, of so many places.
    fn is_enough(&self, rows: usize, width: usize) -> bool {
        let last = if self.scalar { 1 } else { width };
        self.values.len() >= (rows - 1).saturating_mul(self.step).saturating_add(last)
    }

    /// On by so many rows, after which there is another.
    #[inline(always)]
    fn advance(&mut self, rows: usize) {
        if self.step != 0 {
            self.values = &self.values[rows * self.step..];
        }
    }
}

/// What links a chain has: code that is compiled for few of them is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Sums,
    Arithmetic,
    Functions,
}

impl Sort {
    /// The narrowest that all links are of.
    pub(super) fn of<T>(links: &[Link<'_, T>]) -> Sort {
        if links.iter().all(|link| link.op == ChainOp::Add) {
            Sort::Sums
        } else if links.iter().any(|link| link.op.is_unary()) {
            Sort::Functions
        } else {
            Sort::Arithmetic
        }
    }
}

/// The rows that are taken at once where each gives a part of a group.
const TOGETHER: usize = 4;

/// [`Sort`], as constants of the code that is compiled for it.
pub(super) const SUMS: u8 = Sort::Sums as u8;
pub(super) const ARITHMETIC: u8 = Sort::Arithmetic as u8;
pub(super) const FUNCTIONS: u8 = Sort::Functions as u8;

/// The chain over the rows of `out`, `MANY` vectors at a time; its links are of the sort `SORT`. `PAST`: stored past
/// the caches.
///
/// # Safety
/// The instructions of `V` are there.
#[inline(always)]
pub(super) unsafe fn run<
    V: Vector,
    S: Vector<Element = V::Element>,
    const MANY: usize,
    const SORT: u8,
    const PAST: bool,
>(
    mut first: Link<'_, V::Element>,
    links: &mut [Link<'_, V::Element>],
    rows: usize,
    out: &mut [V::Element],
) {
    if out.is_empty() {
        return;
    }
    let width = if rows == 1 { out.len() } else { out.len() / rows };
    let enough = first.is_enough(rows, width)
        && links.iter().all(|link| link.op.is_unary() || link.is_enough(rows, width));
    assert!(enough && rows * width == out.len(), "a chain's arguments are as long as its output");
    let mut rest = out;
    let is_short = (MANY / TOGETHER * V::WIDTH..=2 * MANY * V::WIDTH).contains(&width);
    while !PAST && SORT != FUNCTIONS && V::WIDTH > 1 && is_short && rest.len() >= TOGETHER * width {
        let (out, others) = rest.split_at_mut(TOGETHER * width);
        // SAFETY: as below, for each of the rows.
        unsafe { several::<V, MANY, SORT>(first, links, width, out) };
        if others.is_empty() {
            return;
        }
        rest = others;
        first.advance(TOGETHER);
        links.iter_mut().for_each(|link| link.advance(TOGETHER));
    }
    loop {
        let (out, others) = rest.split_at_mut(width);
        // SAFETY: the instructions of `V` are there by this function's contract, and the values of a row by the
        // assertion.
        unsafe { row::<V, S, MANY, SORT, PAST>(first, links, out) };
        if others.is_empty() {
            return;
        }
        rest = others;
        first.advance(1);
        links.iter_mut().for_each(|link| link.advance(1));
    }
}

/// The chain over several rows: a part of each makes a group, so that what a link costs beside its arithmetic is paid once
/// for all of them. The last group overlaps the one before.
///
/// # Safety
/// The instructions of `V` are there. `out` has [`TOGETHER`] rows of `width` places, which is as many as a group takes of each or
/// more, and for each row every argument has so many elements; a scalar has one.
#[inline(always)]
unsafe fn several<V: Vector, const MANY: usize, const SORT: u8>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    width: usize,
    out: &mut [V::Element],
) {
    let step = MANY / TOGETHER * V::WIDTH;
    let (mut at, last) = (0, width - step);
    loop {
        // SAFETY: this function's contract; `at` is at most `last`.
        unsafe { group::<V, MANY, TOGETHER, SORT, false>(first, links, at, out) };
        if at == last {
            return;
        }
        at = (at + step).min(last);
    }
}

/// The chain over one row.
///
/// # Safety
/// The instructions of `V` are there. Every argument that is no scalar has as many elements as `out`, which has some; a
/// scalar has one.
#[inline(always)]
unsafe fn row<
    V: Vector,
    S: Vector<Element = V::Element>,
    const MANY: usize,
    const SORT: u8,
    const PAST: bool,
>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    out: &mut [V::Element],
) {
    let count = out.len();
    // Scalars at the start are folded once.
    let scalars = if first.scalar { links.iter().take_while(|link| link.scalar).count() } else { 0 };
    let (folded, links) = links.split_at(scalars);
    let mut head = [first.values[0]];
    if !folded.is_empty() {
        // SAFETY: the instructions of `S` are among those of `V`; each scalar has one element, and `head` one place.
        unsafe { group::<S, 1, 1, SORT, false>(first, folded, 0, &mut head) };
    }
    let first = if first.scalar { Link { values: &head, ..first } } else { first };
    let mut at = 0;
    let boundary = out.as_ptr().align_offset(size_of::<V>());
    // SAFETY: the instructions of `V` are there by this function's contract; every group lies inside `out`, and
    // so inside every argument. Groups that are stored past the caches start at `boundary`, and go on by whole vectors.
    unsafe {
        while PAST && at < boundary.min(count) {
            group::<S, 1, 1, SORT, false>(first, links, at, out);
            at += 1;
        }
        // Past the caches few at once: stores in long bursts wait for one another. Functions take longer than their stores.
        let bursts = PAST && SORT != FUNCTIONS;
        while bursts && links.len() <= 2 && at + 2 * V::WIDTH <= count {
            group::<V, 2, 1, SORT, PAST>(first, links, at, out);
            at += 2 * V::WIDTH;
        }
        while bursts && at + 4 * V::WIDTH <= count {
            group::<V, 4, 1, SORT, PAST>(first, links, at, out);
            at += 4 * V::WIDTH;
        }
        while at + MANY * V::WIDTH <= count {
            group::<V, MANY, 1, SORT, PAST>(first, links, at, out);
            at += MANY * V::WIDTH;
        }
        if MANY > 8 && rest::<V, MANY, 8, SORT, PAST>(first, links, &mut at, out) {
            return;
        }
        if MANY > 4 && rest::<V, 8, 4, SORT, PAST>(first, links, &mut at, out) {
            return;
        }
        if rest::<V, 4, 1, SORT, PAST>(first, links, &mut at, out) {
            return;
        }
        while at + V::WIDTH <= count {
            group::<V, 1, 1, SORT, PAST>(first, links, at, out);
            at += V::WIDTH;
        }
        if !PAST && at < count && count >= V::WIDTH {
            return group::<V, 1, 1, SORT, PAST>(first, links, count - V::WIDTH, out);
        }
        while at < count {
            group::<S, 1, 1, SORT, false>(first, links, at, out);
            at += 1;
        }
    }
}

/// What fills no group of `U` vectors from place `at` on. A rest of more than `HALF` vectors is the end of one more whole
/// group, where the row is long enough; otherwise a group of `HALF` is done, if the rest has one. Whether that is all.
///
/// # Safety
/// As [`group`]'s, for the places that `out` has.
#[inline(always)]
unsafe fn rest<V: Vector, const U: usize, const HALF: usize, const SORT: u8, const PAST: bool>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    at: &mut usize,
    out: &mut [V::Element],
) -> bool {
    let count = out.len();
    // SAFETY: both groups lie inside `out`.
    unsafe {
        if !PAST && count - *at > HALF * V::WIDTH && count >= U * V::WIDTH {
            group::<V, U, 1, SORT, PAST>(first, links, count - U * V::WIDTH, out);
            return true;
        }
        if HALF > 1 && count - *at >= HALF * V::WIDTH {
            group::<V, HALF, 1, SORT, PAST>(first, links, *at, out);
            *at += HALF * V::WIDTH;
        }
    }
    *at == count
}

/// `U` vectors of the chain, as many from place `at` of each of `ROWS` rows on.
///
/// # Safety
/// The instructions of `V` are there; from `at` on each row of `out` has `U / ROWS * V::WIDTH` places, and every argument that
/// is no scalar as many elements for it; a scalar has one. With `PAST`, `out[at]` stands on a boundary of the vector's size.
#[inline(always)]
unsafe fn group<V: Vector, const U: usize, const ROWS: usize, const SORT: u8, const PAST: bool>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    at: usize,
    out: &mut [V::Element],
) {
    // SAFETY: the caller's: all offsets are inside.
    unsafe {
        let a = compute::<V, U, ROWS, SORT, PAST>(first, links, at);
        let width = out.len() / ROWS;
        for (k, a) in a.into_iter().enumerate() {
            let (row, k) = (k / (U / ROWS), k % (U / ROWS));
            let to = out.as_mut_ptr().add(row * width + at + k * V::WIDTH);
            if PAST { a.stream(to) } else { a.store(to) }
        }
    }
}

/// The chain over `count` places, added up in lanes: a place goes to the lane that it is by the number of lanes, so that
/// the order of each lane's sum is that of the places on every level.
///
/// # Safety
/// The instructions of `V` are there; `U` of it are no more than the lanes, and divide them.
#[inline(always)]
pub(super) unsafe fn sum<V: Vector, S: Vector<Element = V::Element>, const U: usize>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    count: usize,
    lanes: &mut [V::Element; LANES],
) {
    let enough =
        |link: &Link<'_, V::Element>| link.values.len() >= if link.scalar { 1 } else { count.max(1) };
    assert!(
        enough(&first) && links.iter().all(|link| link.op.is_unary() || enough(link)),
        "a chain's arguments are as long as what is added up"
    );
    let mut at = 0;
    // SAFETY: the instructions of `V` are there by this function's contract, and the places of a group by the
    // assertion; groups of `U`, of one vector and of one element begin at lanes from which they fit.
    unsafe {
        while at + U * V::WIDTH <= count {
            add_up::<V, U>(first, links, at, lanes);
            at += U * V::WIDTH;
        }
        while at + V::WIDTH <= count {
            add_up::<V, 1>(first, links, at, lanes);
            at += V::WIDTH;
        }
        while at < count {
            add_up::<S, 1>(first, links, at, lanes);
            at += 1;
        }
    }
}

/// `U` vectors of the chain from place `at` on, added to their lanes.
///
/// # Safety
/// As [`group`]'s, for the arguments; from `at` by the number of lanes on there are `U * V::WIDTH` lanes.
#[inline(always)]
unsafe fn add_up<V: Vector, const U: usize>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    at: usize,
    lanes: &mut [V::Element; LANES],
) {
    // SAFETY: the caller's.
    unsafe {
        let a = compute::<V, U, 1, FUNCTIONS, false>(first, links, at);
        for (k, a) in a.into_iter().enumerate() {
            let lane = lanes.as_mut_ptr().add(at % LANES + k * V::WIDTH);
            V::load(lane).add(a).store(lane);
        }
    }
}

/// What `U` vectors of the chain come to, as many from place `at` of each of `ROWS` rows on.
///
/// # Safety
/// As [`group`]'s, for the arguments.
#[inline(always)]
unsafe fn compute<V: Vector, const U: usize, const ROWS: usize, const SORT: u8, const PAST: bool>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    at: usize,
) -> [V; U] {
    // SAFETY: the caller's: all offsets are inside.
    unsafe {
        if PAST || SORT == FUNCTIONS {
            fetch::<V, U>(&first, at, if PAST { FAR_AHEAD } else { AHEAD });
            for link in links {
                fetch::<V, U>(link, at, if PAST { FAR_AHEAD } else { AHEAD });
            }
        }
        let mut a = read::<V, U, ROWS>(&first, at);
        let mut rest = links;
        if SORT == SUMS && U <= 8 && ROWS == 1 && V::WIDTH > 1 {
            // Three at once: one branch for three links, which is worth it where few vectors share the branch.
            let (threes, left) = links.as_chunks::<3>();
            rest = left;
            for links in threes {
                match (links[0].scalar, links[1].scalar, links[2].scalar) {
                    (false, false, false) => add_three::<V, U, false, false, false>(&mut a, links, at),
                    (false, false, true) => add_three::<V, U, false, false, true>(&mut a, links, at),
                    (false, true, false) => add_three::<V, U, false, true, false>(&mut a, links, at),
                    (false, true, true) => add_three::<V, U, false, true, true>(&mut a, links, at),
                    (true, false, false) => add_three::<V, U, true, false, false>(&mut a, links, at),
                    (true, false, true) => add_three::<V, U, true, false, true>(&mut a, links, at),
                    (true, true, false) => add_three::<V, U, true, true, false>(&mut a, links, at),
                    (true, true, true) => add_three::<V, U, true, true, true>(&mut a, links, at),
                }
            }
        }
        while SORT == SUMS && !rest.is_empty() {
            // A loop for each kind of argument: of two branches the compiler would make one, with all arguments in registers.
            while let [link, others @ ..] = rest
                && !link.scalar
            {
                fold::<V, U, ROWS, false>(&mut a, link, at, V::add);
                rest = others;
            }
            while let [link, others @ ..] = rest
                && link.scalar
            {
                fold::<V, U, ROWS, true>(&mut a, link, at, V::add);
                rest = others;
            }
        }
        for link in if SORT == SUMS { &[] } else { rest } {
            // One jump for an operation and what its argument is.
            match (link.op, link.scalar) {
                (ChainOp::Add, false) => fold::<V, U, ROWS, false>(&mut a, link, at, V::add),
                (ChainOp::Add, true) => fold::<V, U, ROWS, true>(&mut a, link, at, V::add),
                (ChainOp::Subtract, false) => fold::<V, U, ROWS, false>(&mut a, link, at, V::subtract),
                (ChainOp::Subtract, true) => fold::<V, U, ROWS, true>(&mut a, link, at, V::subtract),
                (ChainOp::SubtractFrom, false) => {
                    fold::<V, U, ROWS, false>(&mut a, link, at, |a, b| b.subtract(a));
                }
                (ChainOp::SubtractFrom, true) => {
                    fold::<V, U, ROWS, true>(&mut a, link, at, |a, b| b.subtract(a));
                }
                (ChainOp::Multiply, false) => fold::<V, U, ROWS, false>(&mut a, link, at, V::multiply),
                (ChainOp::Multiply, true) => fold::<V, U, ROWS, true>(&mut a, link, at, V::multiply),
                (ChainOp::Divide, false) => fold::<V, U, ROWS, false>(&mut a, link, at, V::divide),
                (ChainOp::Divide, true) => fold::<V, U, ROWS, true>(&mut a, link, at, V::divide),
                (ChainOp::DivideInto, false) => {
                    fold::<V, U, ROWS, false>(&mut a, link, at, |a, b| b.divide(a));
                }
                (ChainOp::DivideInto, true) => fold::<V, U, ROWS, true>(&mut a, link, at, |a, b| b.divide(a)),
                (op, _) if SORT == FUNCTIONS => function(&mut a, op),
                _ => {}
            }
        }
        a
    }
}

/// A link that has no argument.
#[inline(always)]
fn function<V: Vector, const U: usize>(a: &mut [V; U], op: ChainOp) {
    let before = *a;
    match op {
        ChainOp::Negate => *a = each!(before => before.negate()),
        ChainOp::Abs => *a = each!(before => before.abs()),
        ChainOp::Sqrt => *a = each!(before => before.sqrt()),
        _ => *a = V::exp(before),
    }
}

/// Asks for what a group some way ahead will read: the hardware stops asking at the end of every page, and where much is
/// computed it does not look far enough ahead.
#[inline(always)]
fn fetch<V: Vector, const U: usize>(link: &Link<'_, V::Element>, at: usize, ahead: usize) {
    if !link.scalar {
        let from = link.values.as_ptr().wrapping_add(at).cast::<u8>().wrapping_add(ahead);
        for line in 0..(U * size_of::<V>()).div_ceil(LINE) {
            prefetch(from.wrapping_add(line * LINE));
        }
    }
}

/// `U` vectors of an argument, from place `at` of each row on.
///
/// # Safety
/// As [`group`]'s.
#[inline(always)]
unsafe fn read<V: Vector, const U: usize, const ROWS: usize>(
    link: &Link<'_, V::Element>,
    at: usize,
) -> [V; U] {
    let from = link.values.as_ptr();
    // SAFETY: the caller's: all offsets are inside.
    unsafe {
        let mut a = [V::splat(*from); U];
        if !link.scalar {
            for (k, a) in a.iter_mut().enumerate() {
                let (row, k) = (k / (U / ROWS), k % (U / ROWS));
                *a = V::load(from.add(row * link.step + at + k * V::WIDTH));
            }
        } else if ROWS > 1 {
            for (k, a) in a.iter_mut().enumerate() {
                *a = V::splat(*from.add(k / (U / ROWS) * link.step));
            }
        }
        a
    }
}

/// One link, whose argument is a scalar or not.
///
/// # Safety
/// As [`group`]'s.
#[inline(always)]
unsafe fn fold<V: Vector, const U: usize, const ROWS: usize, const SCALAR: bool>(
    a: &mut [V; U],
    link: &Link<'_, V::Element>,
    at: usize,
    op: impl Fn(V, V) -> V,
) {
    let from = link.values.as_ptr();
    // SAFETY: the caller's: all offsets are inside.
    unsafe {
        for (k, a) in a.iter_mut().enumerate() {
            let (row, k) = (k / (U / ROWS), k % (U / ROWS));
            let from = from.add(row * link.step);
            *a = op(*a, if SCALAR { V::splat(*from) } else { V::load(from.add(at + k * V::WIDTH)) });
        }
    }
}

/// Adds three links, of which `X`, `Y` and `Z` say whether they are scalars.
///
/// # Safety
/// As [`group`]'s.
#[inline(always)]
unsafe fn add_three<V: Vector, const U: usize, const X: bool, const Y: bool, const Z: bool>(
    a: &mut [V; U],
    links: &[Link<'_, V::Element>; 3],
    at: usize,
) {
    let (x, y, z) = (links[0].values.as_ptr(), links[1].values.as_ptr(), links[2].values.as_ptr());
    // SAFETY: the caller's: all offsets are inside.
    unsafe {
        let (one, two, three) = (V::splat(*x), V::splat(*y), V::splat(*z));
        for (k, a) in a.iter_mut().enumerate() {
            let at = at + k * V::WIDTH;
            let b = if X { one } else { V::load(x.add(at)) };
            let c = if Y { two } else { V::load(y.add(at)) };
            let d = if Z { three } else { V::load(z.add(at)) };
            *a = a.add(b).add(c).add(d);
        }
    }
}
