//! The loops, written once. Each is inlined into an entry point of every level (see [`simd`](super::simd))
//! and compiled there with the level's instructions.

use super::chain::LANES;
use super::ops::{Op1, Op2};

/// `out = f(a)`.
#[inline(always)]
pub(super) fn unary<T: Copy, O: Op1<T>>(a: &[T], out: &mut [T]) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = O::of(a);
    }
}

/// `out = f(a, b)` for two vectors.
#[inline(always)]
pub(super) fn vector_vector<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], out: &mut [R]) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = O::of(a, b);
    }
}

/// `out = f(a, b)` for a vector and one value.
#[inline(always)]
pub(super) fn vector_scalar<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], out: &mut [R]) {
    if let Some(&b) = b.first() {
        for (out, &a) in out.iter_mut().zip(a) {
            *out = O::of(a, b);
        }
    }
}

/// `out = f(a, b)` for one value and a vector.
#[inline(always)]
pub(super) fn scalar_vector<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], out: &mut [R]) {
    if let Some(&a) = a.first() {
        for (out, &b) in out.iter_mut().zip(b) {
            *out = O::of(a, b);
        }
    }
}

/// `out = if c { a } else { b }` for two vectors.
#[inline(always)]
pub(super) fn select_vectors<T: Copy>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
    for (((out, &c), &a), &b) in out.iter_mut().zip(c).zip(a).zip(b) {
        *out = if c { a } else { b };
    }
}

/// `out = if c { a } else { b }` where `a` is one value.
#[inline(always)]
pub(super) fn select_scalar_vector<T: Copy>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
    if let Some(&a) = a.first() {
        for ((out, &c), &b) in out.iter_mut().zip(c).zip(b) {
            *out = if c { a } else { b };
        }
    }
}

/// `out = if c { a } else { b }` where `b` is one value.
#[inline(always)]
pub(super) fn select_vector_scalar<T: Copy>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
    if let Some(&b) = b.first() {
        for ((out, &c), &a) in out.iter_mut().zip(c).zip(a) {
            *out = if c { a } else { b };
        }
    }
}

/// `out = if c { a } else { b }` for two values.
#[inline(always)]
pub(super) fn select_scalars<T: Copy>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
    if let (Some(&a), Some(&b)) = (a.first(), b.first()) {
        for (out, &c) in out.iter_mut().zip(c) {
            *out = if c { a } else { b };
        }
    }
}

/// The sum of the elements, in [`LANES`] partial sums that are then added in halves. The order is part of the
/// result and the same on every level.
#[inline(always)]
pub(super) fn sum<T: Copy + Default, O: Op2<T, T>>(a: &[T]) -> T {
    let mut lanes = [T::default(); LANES];
    let (chunks, rest) = a.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &a) in lanes.iter_mut().zip(chunk) {
            *lane = O::of(*lane, a);
        }
    }
    for (lane, &a) in lanes.iter_mut().zip(rest) {
        *lane = O::of(*lane, a);
    }
    /// Adds the upper half of the lanes to the lower half, in steps whose lengths are literals, so that each
    /// one is unrolled.
    macro_rules! halve {
        ($($width:literal)*) => { $(
            for lane in 0..$width {
                lanes[lane] = O::of(lanes[lane], lanes[lane + $width]);
            }
        )* };
    }
    halve!(32 16 8 4 2 1);
    lanes[0]
}

/// `a += b`.
#[inline(always)]
pub(super) fn add_to<T: Copy, O: Op2<T, T>>(a: &mut [T], b: &[T]) {
    for (a, &b) in a.iter_mut().zip(b) {
        *a = O::of(*a, b);
    }
}

/// Adds rows to `a` one after another. Eight are added in one pass, in the order of one row at a time.
#[inline(always)]
pub(super) fn add_rows<T: Copy, O: Op2<T, T>>(a: &mut [T], rows: &[T]) {
    let width = a.len().max(1);
    let mut eights = rows.chunks_exact(8 * width);
    for eight in &mut eights {
        let (low, high) = eight.split_at(4 * width);
        let ((low, more), (high, most)) = (low.split_at(2 * width), high.split_at(2 * width));
        let ((s, t), (u, v)) = (low.split_at(width), more.split_at(width));
        let ((w, x), (y, z)) = (high.split_at(width), most.split_at(width));
        for (at, a) in a.iter_mut().enumerate() {
            let low = O::of(O::of(O::of(O::of(*a, s[at]), t[at]), u[at]), v[at]);
            *a = O::of(O::of(O::of(O::of(low, w[at]), x[at]), y[at]), z[at]);
        }
    }
    for row in eights.remainder().chunks(width) {
        for (a, &b) in a.iter_mut().zip(row) {
            *a = O::of(*a, b);
        }
    }
}

/// `a = f(a)`.
#[inline(always)]
pub(super) fn in_place<T: Copy, O: Op1<T>>(a: &mut [T]) {
    for a in a {
        *a = O::of(*a);
    }
}
