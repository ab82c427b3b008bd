//! A left fold as one superinstruction: `((x0 op x1) op x2) op …` with the value in registers throughout. Each
//! argument is a vector or one value, which is a branch on a pattern that repeats: one loop for all 2^n - 1
//! broadcasting patterns of n operands.
//!
//! Written once over a small vector trait, which each level implements with its intrinsics: plain loops would keep
//! the value in memory between links.

use super::stream::{LINE, prefetch};

/// How far ahead of a streamed result its operands are asked for, in bytes.
const AHEAD: usize = 4096;

/// What a link does with the value so far, `a`, and its argument, `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// An argument of a chain: as many values as the output has places, or one.
#[derive(Clone, Copy)]
pub(crate) struct Link<'a, T> {
    pub(crate) op: ChainOp,
    pub(crate) values: &'a [T],
    pub(crate) scalar: bool,
}

/// A vector of a level. All methods need the level's instructions; `load` and `store` need `WIDTH` elements.
pub(super) trait Vector: Copy {
    type Element: Copy;
    const WIDTH: usize;
    /// How many are worked on at once: half of the level's registers.
    const MANY: usize;
    unsafe fn load(from: *const Self::Element) -> Self;
    unsafe fn store(self, to: *mut Self::Element);
    /// Past the caches; `to` stands on a boundary of the vector's size.
    unsafe fn stream(self, to: *mut Self::Element);
    unsafe fn splat(value: Self::Element) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn subtract(self, other: Self) -> Self;
    unsafe fn multiply(self, other: Self) -> Self;
    unsafe fn divide(self, other: Self) -> Self;
}

/// A vector of one: the rest of a chain that fills no vector, with the same operations.
macro_rules! single {
    ($($type:ty)*) => { $(
        impl Vector for $type {
            type Element = $type;
            const WIDTH: usize = 1;
            const MANY: usize = 8;
            #[inline(always)]
            unsafe fn load(from: *const $type) -> $type {
                // SAFETY: the caller's: one element stands there.
                unsafe { *from }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $type) {
                // SAFETY: the caller's: one place stands there.
                unsafe { *to = self }
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut $type) {
                // SAFETY: the caller's: one place stands there.
                unsafe { *to = self }
            }
            #[inline(always)]
            unsafe fn splat(value: $type) -> $type { value }
            #[inline(always)]
            unsafe fn add(self, other: $type) -> $type { self + other }
            #[inline(always)]
            unsafe fn subtract(self, other: $type) -> $type { self - other }
            #[inline(always)]
            unsafe fn multiply(self, other: $type) -> $type { self * other }
            #[inline(always)]
            unsafe fn divide(self, other: $type) -> $type { self / other }
        }
    )* };
}
single! { f64 f32 }

#[cfg(target_arch = "x86_64")]
macro_rules! vectors {
    ($($vector:ident $type:ty, $width:literal by $many:literal, $load:ident $store:ident $stream:ident $splat:ident $add:ident $sub:ident $mul:ident $div:ident;)*) => {
        use std::arch::x86_64::*;
        $(impl Vector for $vector {
            type Element = $type;
            const WIDTH: usize = $width;
            const MANY: usize = $many;
            #[inline(always)]
            unsafe fn load(from: *const $type) -> Self {
                // SAFETY: the caller's: the instructions are there, and so many elements. No alignment is asked.
                unsafe { $load(from) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $type) {
                // SAFETY: the caller's: the instructions are there, and so many places. No alignment is asked.
                unsafe { $store(to, self) }
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut $type) {
                // SAFETY: the caller's: the instructions are there, and so many places, on such a boundary.
                unsafe { $stream(to, self) }
            }
            #[inline(always)]
            unsafe fn splat(value: $type) -> Self {
                // SAFETY: the caller's: the instructions are there.
                unsafe { $splat(value) }
            }
            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: the caller's: the instructions are there.
                unsafe { $add(self, other) }
            }
            #[inline(always)]
            unsafe fn subtract(self, other: Self) -> Self {
                // SAFETY: the caller's: the instructions are there.
                unsafe { $sub(self, other) }
            }
            #[inline(always)]
            unsafe fn multiply(self, other: Self) -> Self {
                // SAFETY: the caller's: the instructions are there.
                unsafe { $mul(self, other) }
            }
            #[inline(always)]
            unsafe fn divide(self, other: Self) -> Self {
                // SAFETY: the caller's: the instructions are there.
                unsafe { $div(self, other) }
            }
        })*
    };
}

#[cfg(target_arch = "x86_64")]
vectors! {
    __m128d f64, 2 by 8, _mm_loadu_pd _mm_storeu_pd _mm_stream_pd _mm_set1_pd _mm_add_pd _mm_sub_pd _mm_mul_pd _mm_div_pd;
    __m128 f32, 4 by 8, _mm_loadu_ps _mm_storeu_ps _mm_stream_ps _mm_set1_ps _mm_add_ps _mm_sub_ps _mm_mul_ps _mm_div_ps;
    __m256d f64, 4 by 8, _mm256_loadu_pd _mm256_storeu_pd _mm256_stream_pd _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd;
    __m256 f32, 8 by 8, _mm256_loadu_ps _mm256_storeu_ps _mm256_stream_ps _mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps;
    __m512d f64, 8 by 16, _mm512_loadu_pd _mm512_storeu_pd _mm512_stream_pd _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd;
    __m512 f32, 16 by 16, _mm512_loadu_ps _mm512_storeu_ps _mm512_stream_ps _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps;
}

/// The chain over `out.len()` places, `MANY` vectors at a time, which is `V::MANY`. `ADD`: every link adds. `PAST`:
/// stored past the caches.
///
/// # Safety
/// The instructions of `V` are there.
#[inline(always)]
pub(super) unsafe fn run<
    V: Vector,
    S: Vector<Element = V::Element>,
    const MANY: usize,
    const ADD: bool,
    const PAST: bool,
>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    out: &mut [V::Element],
) {
    let count = out.len();
    let enough = |link: &Link<'_, V::Element>| link.values.len() >= if link.scalar { 1 } else { count };
    assert!(enough(&first) && links.iter().all(enough), "a chain's arguments are as long as its output");
    // Scalars at the start are folded once.
    let scalars = if first.scalar { links.iter().take_while(|link| link.scalar).count() } else { 0 };
    let (folded, links) = links.split_at(scalars);
    let mut head = [first.values[0]];
    for link in folded {
        let before = head;
        let first = Link { values: &before, ..first };
        // SAFETY: the instructions of `S` are among those of `V`; each scalar has one element, and `head` one place.
        unsafe { group::<S, 1, ADD, false>(first, &[*link], 0, &mut head) };
    }
    let first = if first.scalar { Link { values: &head, ..first } } else { first };
    let mut at = 0;
    let boundary = out.as_ptr().align_offset(size_of::<V>());
    // SAFETY: the instructions of `V` are there by this function's contract; every group lies inside `out`, and
    // so inside every argument, by the assertion above. Groups that are stored past the caches start at `boundary`,
    // and go on by whole vectors.
    unsafe {
        while PAST && at < boundary.min(count) {
            group::<S, 1, ADD, false>(first, links, at, out);
            at += 1;
        }
        // Past the caches few at once: stores in long bursts wait for one another.
        while PAST && links.len() <= 2 && at + 2 * V::WIDTH <= count {
            group::<V, 2, ADD, PAST>(first, links, at, out);
            at += 2 * V::WIDTH;
        }
        while !PAST && at + MANY * V::WIDTH <= count {
            group::<V, MANY, ADD, PAST>(first, links, at, out);
            at += MANY * V::WIDTH;
        }
        // A rest is the end of one more whole group, so long as there was one; additions have little to save.
        if !PAST && !ADD && at > 0 && at < count {
            return group::<V, MANY, ADD, PAST>(first, links, count - MANY * V::WIDTH, out);
        }
        while at + 4 * V::WIDTH <= count {
            group::<V, 4, ADD, PAST>(first, links, at, out);
            at += 4 * V::WIDTH;
        }
        while at + V::WIDTH <= count {
            group::<V, 1, ADD, PAST>(first, links, at, out);
            at += V::WIDTH;
        }
        while at < count {
            group::<S, 1, ADD, false>(first, links, at, out);
            at += 1;
        }
    }
}

/// `U` vectors of the chain from place `at` on.
///
/// # Safety
/// The instructions of `V` are there; from `at` on `out` has `U * V::WIDTH` places, and every argument that is no
/// scalar as many elements; a scalar has one. With `PAST`, `out[at]` stands on a boundary of the vector's size.
#[inline(always)]
unsafe fn group<V: Vector, const U: usize, const ADD: bool, const PAST: bool>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    at: usize,
    out: &mut [V::Element],
) {
    // SAFETY: the caller's: all offsets are inside.
    unsafe {
        if PAST {
            std::iter::once(&first).chain(links).for_each(|link| fetch::<V, U>(link, at));
        }
        let mut a = read::<V, U>(&first, at);
        let mut rest = links;
        if ADD {
            // Three at once: one branch for three links.
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
        for link in rest {
            // One jump for an operation and what its argument is.
            match (if ADD { ChainOp::Add } else { link.op }, link.scalar) {
                (ChainOp::Add, false) => fold::<V, U, false>(&mut a, link, at, |a, b| a.add(b)),
                (ChainOp::Add, true) => fold::<V, U, true>(&mut a, link, at, |a, b| a.add(b)),
                (ChainOp::Subtract, false) => fold::<V, U, false>(&mut a, link, at, |a, b| a.subtract(b)),
                (ChainOp::Subtract, true) => fold::<V, U, true>(&mut a, link, at, |a, b| a.subtract(b)),
                (ChainOp::SubtractFrom, false) => fold::<V, U, false>(&mut a, link, at, |a, b| b.subtract(a)),
                (ChainOp::SubtractFrom, true) => fold::<V, U, true>(&mut a, link, at, |a, b| b.subtract(a)),
                (ChainOp::Multiply, false) => fold::<V, U, false>(&mut a, link, at, |a, b| a.multiply(b)),
                (ChainOp::Multiply, true) => fold::<V, U, true>(&mut a, link, at, |a, b| a.multiply(b)),
                (ChainOp::Divide, false) => fold::<V, U, false>(&mut a, link, at, |a, b| a.divide(b)),
                (ChainOp::Divide, true) => fold::<V, U, true>(&mut a, link, at, |a, b| a.divide(b)),
                (ChainOp::DivideInto, false) => fold::<V, U, false>(&mut a, link, at, |a, b| b.divide(a)),
                (ChainOp::DivideInto, true) => fold::<V, U, true>(&mut a, link, at, |a, b| b.divide(a)),
            }
        }
        for (k, a) in a.into_iter().enumerate() {
            let to = out.as_mut_ptr().add(at + k * V::WIDTH);
            if PAST { a.stream(to) } else { a.store(to) }
        }
    }
}

/// Asks for what a group some way ahead will read: a large result's operands are large too, and the hardware stops
/// asking at the end of every page.
#[inline(always)]
fn fetch<V: Vector, const U: usize>(link: &Link<'_, V::Element>, at: usize) {
    if !link.scalar {
        let from = link.values.as_ptr().wrapping_add(at).cast::<u8>().wrapping_add(AHEAD);
        (0..U * size_of::<V>()).step_by(LINE).for_each(|byte| prefetch(from.wrapping_add(byte)));
    }
}

/// `U` vectors of an argument from place `at` on.
///
/// # Safety
/// As [`group`]'s.
#[inline(always)]
unsafe fn read<V: Vector, const U: usize>(link: &Link<'_, V::Element>, at: usize) -> [V; U] {
    let from = link.values.as_ptr();
    // SAFETY: the caller's: all offsets are inside.
    unsafe {
        if link.scalar {
            [V::splat(*from); U]
        } else {
            std::array::from_fn(|k| V::load(from.add(at + k * V::WIDTH)))
        }
    }
}

/// One link, whose argument is a scalar or not.
///
/// # Safety
/// As [`group`]'s.
#[inline(always)]
unsafe fn fold<V: Vector, const U: usize, const SCALAR: bool>(
    a: &mut [V; U],
    link: &Link<'_, V::Element>,
    at: usize,
    op: impl Fn(V, V) -> V,
) {
    let from = link.values.as_ptr();
    // SAFETY: the caller's: all offsets are inside.
    unsafe {
        let one = V::splat(*from);
        for (k, a) in a.iter_mut().enumerate() {
            *a = op(*a, if SCALAR { one } else { V::load(from.add(at + k * V::WIDTH)) });
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
