//! Gathers the elements of an operand for a tile into a register, and the reverse: adds a tile to a gradient.

use crate::arch::FloatKernels;

/// Converts the first `out.len()` elements of a pattern that starts at `start`.
///
/// Repeated rows are copied by doubling, repeated elements are expanded, and everything else is copied or
/// gathered.
pub(crate) fn fill<S: Copy, D: Copy>(
    source: &[S],
    start: usize,
    pattern: &[(usize, i64)],
    out: &mut [D],
    convert: impl Fn(S) -> D + Copy,
) {
    match *pattern {
        [] => {
            for out in out {
                *out = convert(source[start]);
            }
        }
        [(_, 0)] => out.fill(convert(source[start])),
        [(_, 1)] => {
            let source = &source[start..start + out.len()];
            for (out, &value) in out.iter_mut().zip(source) {
                *out = convert(value);
            }
        }
        [(_, stride)] => strided(source, start, stride, out, convert),
        [(_, 1), (2, 0)] => expand::<2, _, _>(source, start, out, convert),
        [(_, 1), (3, 0)] => expand::<3, _, _>(source, start, out, convert),
        [(_, 1), (4, 0)] => expand::<4, _, _>(source, start, out, convert),
        [(_, stride), (length, 0)] => {
            for (at, out) in (0i64..).zip(out.chunks_mut(length)) {
                out.fill(convert(source[moved(start, at * stride)]));
            }
        }
        // Rows that are adjacent in memory: what is read together is written to all of them. (The last tile
        // may have fewer.)
        [(2, 1), (length, stride)] if stride > 1 && out.len() == 2 * length => {
            across::<2, _, _>(source, start, (length, stride), out, convert);
        }
        [(3, 1), (length, stride)] if stride > 2 && out.len() == 3 * length => {
            across::<3, _, _>(source, start, (length, stride), out, convert);
        }
        [(4, 1), (length, stride)] if stride > 3 && out.len() == 4 * length => {
            across::<4, _, _>(source, start, (length, stride), out, convert);
        }
        [(_, 0), ref inner @ ..] => {
            let period = inner.iter().map(|&(length, _)| length).product::<usize>().min(out.len());
            fill(source, start, inner, &mut out[..period], convert);
            let mut done = period;
            while done < out.len() {
                let more = done.min(out.len() - done);
                out.copy_within(..more, done);
                done += more;
            }
        }
        [(_, stride), ref inner @ ..] => {
            let period = inner.iter().map(|&(length, _)| length).product();
            for (at, out) in (0i64..).zip(out.chunks_mut(period)) {
                fill(source, moved(start, at * stride), inner, out, convert);
            }
        }
    }
}

/// Copies the elements under rows of `length` one by one; `along` is the stride from row to row and `across`
/// that from element to element.
///
/// Of few elements, this takes less time than [`fill`], which first finds out how rows are repeated: a call
/// of (2,3) + (3) with a plan takes 0.8 of the time, and one of (4,1) + (3) 0.6 (`benches/quick`: a tiny call
/// with a plan).
#[inline]
pub(crate) fn fill_rows<T: Copy>(
    source: &[T],
    start: usize,
    [along, across]: [i64; 2],
    length: usize,
    out: &mut [T],
) {
    let mut row = start;
    for out in out.chunks_mut(length) {
        let mut at = row;
        for out in out {
            *out = source[at];
            at = moved(at, across);
        }
        row = moved(row, along);
    }
}

/// Elements at a constant stride.
fn strided<S: Copy, D: Copy>(
    source: &[S],
    start: usize,
    stride: i64,
    out: &mut [D],
    convert: impl Fn(S) -> D + Copy,
) {
    let step = usize::try_from(stride.unsigned_abs()).unwrap_or(usize::MAX).max(1);
    let span = out.len().saturating_sub(1) * step;
    if stride > 0 {
        for (out, &value) in out.iter_mut().zip(source[start..=start + span].iter().step_by(step)) {
            *out = convert(value);
        }
    } else {
        for (out, &value) in out.iter_mut().zip(source[start - span..=start].iter().rev().step_by(step)) {
            *out = convert(value);
        }
    }
}

/// `N` rows from columns whose elements are adjacent, with a constant stride between columns.
fn across<const N: usize, S: Copy, D: Copy>(
    source: &[S],
    start: usize,
    (length, stride): (usize, i64),
    out: &mut [D],
    convert: impl Fn(S) -> D + Copy,
) {
    let step = usize::try_from(stride).unwrap_or(usize::MAX);
    let mut rows = out.chunks_exact_mut(length);
    let mut rows: [&mut [D]; N] = std::array::from_fn(|_| rows.next().unwrap_or_default());
    let source = &source[start..start + (length - 1) * step + N];
    for (at, column) in source.chunks(step).enumerate() {
        for (row, &value) in rows.iter_mut().zip(&column[..N]) {
            row[at] = convert(value);
        }
    }
}

/// Repeats each element `N` times.
#[inline]
fn expand<const N: usize, S: Copy, D: Copy>(
    source: &[S],
    start: usize,
    out: &mut [D],
    convert: impl Fn(S) -> D + Copy,
) {
    let (groups, _) = out.as_chunks_mut::<N>();
    let source = &source[start..start + groups.len()];
    for (group, &value) in groups.iter_mut().zip(source) {
        *group = [convert(value); N];
    }
}

/// A position moved by a stride. Plans stay inside their buffers; indexing would catch a position outside.
#[inline]
fn moved(start: usize, by: i64) -> usize {
    start.wrapping_add_signed(isize::try_from(by).unwrap_or(isize::MAX))
}

/// Rows shorter than this are added several at once.
const SHORT: usize = 64;

/// Adds the elements of a tile to the elements of a gradient that the pattern selects: the reverse of
/// [`fill`].
pub(crate) fn gather_sum<T: Copy + Default>(
    kernels: &FloatKernels<T>,
    sums: &mut [T],
    start: usize,
    pattern: &[(usize, i64)],
    tile: &[T],
) {
    match *pattern {
        [] => kernels.add_to.run(&mut sums[start..=start], tile),
        [(_, 0)] => kernels.sum_rows.run(&mut sums[start..=start], tile),
        [(_, 1)] => kernels.add_to.run(&mut sums[start..start + tile.len()], tile),
        [(_, stride)] => {
            for (at, value) in (0i64..).zip(tile) {
                let place = moved(start, at * stride);
                kernels.add_to.run(&mut sums[place..=place], std::slice::from_ref(value));
            }
        }
        [(_, 0), (length, 1)] if length < SHORT => {
            // Several short rows form a long one, which is reduced at the end.
            let mut lanes = [T::default(); 2 * SHORT];
            let lanes = &mut lanes[..2 * SHORT / length * length];
            kernels.add_rows.run(lanes, tile);
            kernels.add_rows.run(&mut sums[start..start + length], lanes);
        }
        [(_, 0), (length, 1)] => kernels.add_rows.run(&mut sums[start..start + length], tile),
        [(_, 1), (length, 0)] if tile.len().is_multiple_of(length) => {
            kernels.sum_rows.run(&mut sums[start..start + tile.len() / length], tile);
        }
        [(_, stride), ref inner @ ..] => {
            let period = inner.iter().map(|&(length, _)| length).product();
            for (at, tile) in (0i64..).zip(tile.chunks(period)) {
                gather_sum(kernels, sums, moved(start, at * stride), inner, tile);
            }
        }
    }
}
