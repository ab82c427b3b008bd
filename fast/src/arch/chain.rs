//! A left fold as one superinstruction: `((x0 op x1) op x2) op …` with the value in registers throughout. Each
//! argument is a vector or one value, which is a branch on a pattern that repeats: one loop for all 2^n - 1
//! broadcasting patterns of n operands.
//!
//! Written once over a small vector trait, which each level implements with its intrinsics: plain loops would keep
//! the value in memory between links.

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
    ($($vector:ident $type:ty, $width:literal, $load:ident $store:ident $stream:ident $splat:ident $add:ident $sub:ident $mul:ident $div:ident;)*) => {
        use std::arch::x86_64::*;
        $(impl Vector for $vector {
            type Element = $type;
            const WIDTH: usize = $width;
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
    __m128d f64, 2, _mm_loadu_pd _mm_storeu_pd _mm_stream_pd _mm_set1_pd _mm_add_pd _mm_sub_pd _mm_mul_pd _mm_div_pd;
    __m128 f32, 4, _mm_loadu_ps _mm_storeu_ps _mm_stream_ps _mm_set1_ps _mm_add_ps _mm_sub_ps _mm_mul_ps _mm_div_ps;
    __m256d f64, 4, _mm256_loadu_pd _mm256_storeu_pd _mm256_stream_pd _mm256_set1_pd _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd;
    __m256 f32, 8, _mm256_loadu_ps _mm256_storeu_ps _mm256_stream_ps _mm256_set1_ps _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps;
    __m512d f64, 8, _mm512_loadu_pd _mm512_storeu_pd _mm512_stream_pd _mm512_set1_pd _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd;
    __m512 f32, 16, _mm512_loadu_ps _mm512_storeu_ps _mm512_stream_ps _mm512_set1_ps _mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps;
}

/// The chain over `out.len()` places, eight vectors at a time. `ADD`: every link adds. `PAST`: stored past the caches.
///
/// # Safety
/// The instructions of `V` are there.
#[inline(always)]
pub(super) unsafe fn run<V: Vector, S: Vector<Element = V::Element>, const ADD: bool, const PAST: bool>(
    first: Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    out: &mut [V::Element],
) {
    let count = out.len();
    let enough = |link: &Link<'_, V::Element>| link.values.len() >= if link.scalar { 1 } else { count };
    assert!(enough(&first) && links.iter().all(enough), "a chain's arguments are as long as its output");
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
        while at + 8 * V::WIDTH <= count {
            group::<V, 8, ADD, PAST>(first, links, at, out);
            at += 8 * V::WIDTH;
        }
        while at + 4 * V::WIDTH <= count {
            group::<V, 4, ADD, PAST>(first, links, at, out);
            at += 4 * V::WIDTH;
        }
        while at + V::WIDTH <= count {
            group::<V, 1, ADD, false>(first, links, at, out);
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
        let read = |link: &Link<'_, V::Element>| -> [V; U] {
            let from = link.values.as_ptr();
            if link.scalar {
                [V::splat(*from); U]
            } else {
                std::array::from_fn(|k| V::load(from.add(at + k * V::WIDTH)))
            }
        };
        let mut a = read(&first);
        for link in links {
            let b = read(link);
            let op = if ADD { ChainOp::Add } else { link.op };
            match op {
                ChainOp::Add => (0..U).for_each(|k| a[k] = a[k].add(b[k])),
                ChainOp::Subtract => (0..U).for_each(|k| a[k] = a[k].subtract(b[k])),
                ChainOp::SubtractFrom => (0..U).for_each(|k| a[k] = b[k].subtract(a[k])),
                ChainOp::Multiply => (0..U).for_each(|k| a[k] = a[k].multiply(b[k])),
                ChainOp::Divide => (0..U).for_each(|k| a[k] = a[k].divide(b[k])),
                ChainOp::DivideInto => (0..U).for_each(|k| a[k] = b[k].divide(a[k])),
            }
        }
        for (k, a) in a.into_iter().enumerate() {
            let to = out.as_mut_ptr().add(at + k * V::WIDTH);
            if PAST { a.stream(to) } else { a.store(to) }
        }
    }
}
