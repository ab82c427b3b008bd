//! The loops, written once. Each is inlined into an entry point of every level (see [`simd`](super::simd))
//! and compiled there with the level's instructions.

use super::bounds::Bounded;
use super::choice::Argument;
use super::element::Bits;
use super::ops::{Op1, Op2};
use super::rows::{EachRow, Rows};

/// The bytes of a block, which the compiler turns into a few vectors of any level.
const BLOCK: usize = 64;

/// The bytes of a block of short rows that have no whole one.
const HALF: usize = BLOCK / 2;

/// Calls a loop over blocks with as many elements of a type as are in a block.
macro_rules! by_width {
    ($type:ty, $function:ident($($argument:expr),*)) => {
        by_width!($type, BLOCK, $function[]($($argument),*))
    };
    ($type:ty, $bytes:ident, $function:ident[$($generic:ident),*]($($argument:expr),*)) => {
        match const { size_of::<$type>() } {
            1 => Blocks::<$bytes>::$function::<$($generic),*>($($argument),*),
            2 => Blocks::<{ $bytes / 2 }>::$function::<$($generic),*>($($argument),*),
            4 => Blocks::<{ $bytes / 4 }>::$function::<$($generic),*>($($argument),*),
            _ => Blocks::<{ $bytes / 8 }>::$function::<$($generic),*>($($argument),*),
        }
    };
}

/// `out = f(a)`, element by element.
#[inline(always)]
fn map<A: Copy, R>(a: &[A], out: &mut [R], f: impl Fn(A) -> R) {
    for (out, &a) in out.iter_mut().zip(a) {
        *out = f(a);
    }
}

/// `out = f(a, b)`, element by element.
#[inline(always)]
fn zip<A: Copy, B: Copy, R>((a, b): (&[A], &[B]), out: &mut [R], f: impl Fn(A, B) -> R) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = f(a, b);
    }
}

/// `out = if c { a } else { b }`, element by element.
#[inline(always)]
fn select<T: Bits>(c: &[bool], (a, b): (&[T], &[T]), out: &mut [T]) {
    for (((out, &c), &a), &b) in out.iter_mut().zip(c).zip(a).zip(b) {
        *out = T::select(c, a, b);
    }
}

/// Loops over blocks of `N` elements. The last block overlaps the one before it, so no element is left over.
///
/// The compiler unrolls a plain loop so far that a row of a hundred narrow elements never reaches its body,
/// and is computed one element at a time. In blocks, a sum of 100 u16 takes 0.4 of the time, and one of 1000
/// the same (`benches/sweep` has rows and columns of 100).
struct Blocks<const N: usize>;

impl<const N: usize> Blocks<N> {
    /// `out = f(a)`.
    #[inline(always)]
    fn map<A: Copy, R>(a: &[A], out: &mut [R], f: impl Fn(A) -> R + Copy) {
        let count = out.len().min(a.len());
        let (a, out) = (&a[..count], &mut out[..count]);
        if count < N {
            return map(a, out, f);
        }
        let steps = count - count % (4 * N);
        if steps > 0 {
            map(&a[..steps], &mut out[..steps], f);
        }
        let (blocks, rest) = out[steps..].as_chunks_mut::<N>();
        for (out, a) in blocks.iter_mut().zip(a[steps..].as_chunks::<N>().0) {
            map(a, out, f);
        }
        if rest.is_empty() {
            return;
        }
        if let (Some(out), Some(a)) = (out.last_chunk_mut::<N>(), a.last_chunk::<N>()) {
            map(a, out, f);
        }
    }

    /// `out = f(a, b)`.
    #[inline(always)]
    fn zip<A: Copy, B: Copy, R>((a, b): (&[A], &[B]), out: &mut [R], f: impl Fn(A, B) -> R + Copy) {
        let count = out.len().min(a.len()).min(b.len());
        let (a, b, out) = (&a[..count], &b[..count], &mut out[..count]);
        if count < N {
            return zip((a, b), out, f);
        }
        let steps = count - count % (4 * N);
        if steps > 0 {
            zip((&a[..steps], &b[..steps]), &mut out[..steps], f);
        }
        let (blocks, rest) = out[steps..].as_chunks_mut::<N>();
        let (x, y) = (a[steps..].as_chunks::<N>().0, b[steps..].as_chunks::<N>().0);
        for ((out, a), b) in blocks.iter_mut().zip(x).zip(y) {
            zip((a, b), out, f);
        }
        if rest.is_empty() {
            return;
        }
        if let (Some(out), Some(a), Some(b)) =
            (out.last_chunk_mut::<N>(), a.last_chunk::<N>(), b.last_chunk::<N>())
        {
            zip((a, b), out, f);
        }
    }

    /// `out = if c { a } else { b }`.
    #[inline(always)]
    fn select<T: Bits>(c: &[bool], (a, b): (&[T], &[T]), out: &mut [T]) {
        let count = out.len().min(c.len()).min(a.len()).min(b.len());
        let (c, a, b, out) = (&c[..count], &a[..count], &b[..count], &mut out[..count]);
        if count < N {
            return select(c, (a, b), out);
        }
        let steps = count - count % (4 * N);
        if steps > 0 {
            select(&c[..steps], (&a[..steps], &b[..steps]), &mut out[..steps]);
        }
        let (blocks, rest) = out[steps..].as_chunks_mut::<N>();
        let (x, y) = (a[steps..].as_chunks::<N>().0, b[steps..].as_chunks::<N>().0);
        for (((out, c), x), y) in blocks.iter_mut().zip(c[steps..].as_chunks::<N>().0).zip(x).zip(y) {
            select(c, (x, y), out);
        }
        if rest.is_empty() {
            return;
        }
        if let (Some(out), Some(c), Some(a), Some(b)) =
            (out.last_chunk_mut::<N>(), c.last_chunk::<N>(), a.last_chunk::<N>(), b.last_chunk::<N>())
        {
            select(c, (a, b), out);
        }
    }
}

impl<const N: usize> Blocks<N> {
    /// `out = f(row, a)` over contiguous rows that are shorter than a block. A block begins with each row,
    /// and the next row overwrites what is beyond the end. Returns how many rows it computed: all but the
    /// last ones, whose blocks would end beyond the output. (With rows of 33 bytes, values against bounds
    /// take a third of the time.)
    #[inline(always)]
    fn rows_of_one_block<A: Copy, R, G: Fn(A) -> R>(
        a: &[A],
        width: usize,
        out: &mut [R],
        f: impl Fn(usize) -> G,
    ) -> usize {
        if width >= N {
            return 0;
        }
        let mut row = 0;
        while let (Some(a), Some(out)) = (
            a.get(row * width..).and_then(|a| a.first_chunk::<N>()),
            out.get_mut(row * width..).and_then(|out| out.first_chunk_mut::<N>()),
        ) {
            map(a, out, f(row));
            row += 1;
        }
        row
    }

    /// `out = f(a, b)` over short rows. With `ONE_A` or `ONE_B`, that argument has one value in each row.
    #[inline(always)]
    fn short_rows<A: Copy, R, const ONE_A: bool, const ONE_B: bool>(
        (a, b): (&[A], &[A]),
        rows: &Rows,
        out: &mut [R],
        f: impl Fn(A, A) -> R + Copy,
    ) {
        let Rows { width, steps: [along, across] } = *rows;
        assert!(width >= N && rows.fit(a, b, [ONE_A, ONE_B], out.len()), "an argument has too few rows");
        let (last, count) = (width - N, out.len() / width);
        let (a, b, out) = (a.as_ptr(), b.as_ptr(), out.as_mut_ptr());
        for row in 0..count {
            let mut at = 0;
            loop {
                // SAFETY: `out` has `count` rows of `width` elements, and `at` is at most `last`, so a block
                // fits there. By the assertion, the arguments have as many rows, whose starts are `along` and
                // `across` apart, of as many elements or of one. Blocks of elements have their alignment.
                unsafe {
                    let out = &mut *out.add(row * width + at).cast::<[R; N]>();
                    let (a, b) = (a.add(row * along), b.add(row * across));
                    match (ONE_A, ONE_B) {
                        (false, false) => {
                            zip((&*a.add(at).cast::<[A; N]>(), &*b.add(at).cast::<[A; N]>()), out, f);
                        }
                        (false, true) => map(&*a.add(at).cast::<[A; N]>(), out, |a| f(a, *b)),
                        (true, false) => map(&*b.add(at).cast::<[A; N]>(), out, |b| f(*a, b)),
                        (true, true) => map(&[*a; N], out, |a| f(a, *b)),
                    }
                }
                if at == last {
                    break;
                }
                at = (at + N).min(last);
            }
        }
    }
}

/// Computes rows that are made of a few blocks, or of a few halves of one. Returns whether it did.
#[inline(always)]
fn try_short_rows<T: Copy, R, O: Op2<T, R>, const ONE_A: bool, const ONE_B: bool>(
    arguments: (&[T], &[T]),
    rows: Option<&Rows>,
    out: &mut [R],
) -> bool {
    let Some(rows) = rows else { return false };
    let bytes = rows.width.saturating_mul(size_of::<T>());
    if (BLOCK..4 * BLOCK).contains(&bytes) {
        by_width!(T, BLOCK, short_rows[T, R, ONE_A, ONE_B](arguments, rows, out, O::of));
        return true;
    }
    if (HALF..BLOCK).contains(&bytes) {
        by_width!(T, HALF, short_rows[T, R, ONE_A, ONE_B](arguments, rows, out, O::of));
        return true;
    }
    false
}

/// `out = f(a)`.
#[inline(always)]
pub(super) fn unary<T: Copy, O: Op1<T>>(a: &[T], out: &mut [T]) {
    by_width!(T, map(a, out, O::of));
}

/// `out = f(a, b)` for two vectors, in each row.
#[inline(always)]
pub(super) fn vector_vector<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], rows: Option<&Rows>, out: &mut [R]) {
    if const { O::IN_BLOCKS } && try_short_rows::<T, R, O, false, false>((a, b), rows, out) {
        return;
    }
    for (a, b, out) in EachRow::new(a, b, rows, out) {
        if const { O::IN_BLOCKS } {
            by_width!(T, zip((a, b), out, O::of));
        } else {
            zip((a, b), out, O::of);
        }
    }
}

/// `out = f(a, b)` for a vector and one value, in each row.
#[inline(always)]
pub(super) fn vector_scalar<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], rows: Option<&Rows>, out: &mut [R]) {
    if const { O::IN_BLOCKS } && try_short_rows::<T, R, O, false, true>((a, b), rows, out) {
        return;
    }
    for (a, b, out) in EachRow::new(a, b, rows, out) {
        let Some(&b) = b.first() else { return };
        if const { O::IN_BLOCKS } {
            by_width!(T, map(a, out, |a| O::of(a, b)));
        } else {
            map(a, out, |a| O::of(a, b));
        }
    }
}

/// `out = f(a, b)` for one value and a vector, in each row.
#[inline(always)]
pub(super) fn scalar_vector<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], rows: Option<&Rows>, out: &mut [R]) {
    if const { O::IN_BLOCKS } && try_short_rows::<T, R, O, true, false>((a, b), rows, out) {
        return;
    }
    for (a, b, out) in EachRow::new(a, b, rows, out) {
        let Some(&a) = a.first() else { return };
        if const { O::IN_BLOCKS } {
            by_width!(T, map(b, out, |b| O::of(a, b)));
        } else {
            map(b, out, |b| O::of(a, b));
        }
    }
}

/// `out = f(x, a, b)`, where `a` and `b` are one value, in each of `rows` rows.
///
/// # Panics
/// If the output is not made of whole rows, or an argument is shorter.
#[inline(always)]
pub(super) fn bounded<T: Copy, R, O: Bounded<T, R>>(
    x: &Argument<'_, T>,
    [a, b]: [&Argument<'_, T>; 2],
    rows: usize,
    out: &mut [R],
) {
    if out.is_empty() {
        return;
    }
    let width = out.len().checked_div(rows).unwrap_or(0);
    assert!(width != 0 && out.len().is_multiple_of(rows), "the output is not made of whole rows");
    assert!(a.scalar && b.scalar && !x.scalar, "a bound is not one value in a row, or x is");
    let at = |step: usize, row: usize| step.saturating_mul(row);
    let bounds = |row: usize| [a.values[at(a.step, row)], b.values[at(b.step, row)]];
    // With blocks of rows of wider elements beside the loop below, the compiler makes no vectors of some.
    let short = if const { size_of::<T>() == 1 } && x.step == width && rows > 1 {
        Blocks::<BLOCK>::rows_of_one_block(x.values, width, out, |row| {
            let bounds = bounds(row);
            move |x| O::of(x, bounds)
        })
    } else {
        0
    };
    for (row, out) in out.chunks_exact_mut(width).enumerate().skip(short) {
        let bounds = bounds(row);
        let x = &x.values[at(x.step, row)..][..width];
        // Of 32 elements of two bytes, which it writes out one by one, the compiler makes no vectors: 1000 of
        // them took three times as long. With blocks of half a line beside these, it makes none of others,
        // either.
        if const { size_of::<T>() == 2 } {
            Blocks::<BLOCK>::map(x, out, |x| O::of(x, bounds));
        } else {
            by_width!(T, map(x, out, |x| O::of(x, bounds)));
        }
    }
}

/// `out = if c { a } else { b }` for two vectors.
#[inline(always)]
pub(super) fn select_vectors<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
    by_width!(T, select(c, (a, b), out));
}

/// `out = if c { a } else { b }` where `a` is one value.
#[inline(always)]
pub(super) fn select_scalar_vector<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
    if let Some(&a) = a.first() {
        by_width!(T, zip((c, b), out, |c, b| T::select(c, a, b)));
    }
}

/// `out = if c { a } else { b }` where `b` is one value.
#[inline(always)]
pub(super) fn select_vector_scalar<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
    if let Some(&b) = b.first() {
        by_width!(T, zip((c, a), out, |c, a| T::select(c, a, b)));
    }
}

/// `out = if c { a } else { b }` for two values.
#[inline(always)]
pub(super) fn select_scalars<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
    if let (Some(&a), Some(&b)) = (a.first(), b.first()) {
        by_width!(T, map(c, out, |c| T::select(c, a, b)));
    }
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
