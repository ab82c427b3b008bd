//! Transposition, for operands whose columns are contiguous in memory while the result needs rows. Square
//! blocks are transposed in registers, so that each cache line is read once for all rows.

#[cfg(target_arch = "x86_64")]
use super::element::Element;
use super::extent::Extent;

/// The largest number of rows that are taken at once.
pub(crate) const ROWS: usize = 16;

/// The number of columns in `rows`. Checks that `from` has an element of each column for every row; columns
/// begin `step` elements apart.
fn columns<T>(from: &[T], step: usize, rows: &[&mut [T]]) -> usize {
    let count = rows.first().map_or(0, |row| row.len());
    let reach = Extent::of(rows.len()).repeated(count, step);
    assert!(reach.is_within(from), "the source has fewer columns than the rows need");
    assert!(rows.iter().all(|row| row.len() == count), "rows of different lengths");
    count
}

/// `rows[r][c] = from[c * step + r]`, by plain loops.
pub(super) fn plain<T: Copy>(from: &[T], step: usize, rows: &mut [&mut [T]]) {
    for at in 0..columns(from, step, rows) {
        let column = &from[at * step..][..rows.len()];
        for (row, &value) in rows.iter_mut().zip(column) {
            row[at] = value;
        }
    }
}

/// The same, in square blocks.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn squares<T: Element>(from: &[T], step: usize, rows: &mut [&mut [T]]) {
    let count = columns(from, step, rows);
    let side = match const { size_of::<T>() } {
        4 => 8,
        8 => 4,
        _ => return plain(from, step, rows),
    };
    let (high, wide) = (rows.len() / side * side, count / side * side);
    for left in (0..wide).step_by(side) {
        for (top, rows) in (0..).step_by(side).zip(rows[..high].chunks_exact_mut(side)) {
            let mut places = [std::ptr::null_mut::<u8>(); 8];
            for (place, row) in places.iter_mut().zip(rows) {
                *place = row[left..].as_mut_ptr().cast();
            }
            // SAFETY: this function has the instructions. `columns` asserted that `from` has a column of
            // `rows.len()` elements for each of `count` places, and that each row has `count` places. So
            // there are `side` columns from `left` on with `side` elements each from `top` on, and `side`
            // rows with as many places from `left` on. Since there is more than one column, `step` is at most
            // the length of `from`, and its bytes do not overflow. T has 4 or 8 bytes without padding, which
            // are moved unchanged.
            unsafe {
                let from = from.as_ptr().add(left * step + top).cast::<u8>();
                if side == 8 {
                    transpose_eight(from, step * 4, places);
                } else {
                    transpose_four(from, step * 8, [places[0], places[1], places[2], places[3]]);
                }
            }
        }
    }
    // What no square covers: the rows below, then the columns at the end.
    for at in 0..count {
        let first = if at < wide { high } else { 0 };
        for (row, out) in rows.iter_mut().enumerate().skip(first) {
            out[at] = from[at * step + row];
        }
    }
}

/// Transposes eight by eight elements of 4 bytes.
///
/// # Safety
/// `from` points to 32 readable bytes, and so does each of the seven next multiples of `step` bytes. Each of
/// `rows` points to 32 writable bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn transpose_eight(from: *const u8, step: usize, rows: [*mut u8; 8]) {
    use std::arch::x86_64::*;
    // SAFETY: guaranteed by the caller.
    let load = |k: usize| unsafe { _mm256_loadu_ps(from.add(k * step).cast()) };
    let column = [load(0), load(1), load(2), load(3), load(4), load(5), load(6), load(7)];
    let low = |k: usize| _mm256_unpacklo_ps(column[k], column[k + 1]);
    let high = |k: usize| _mm256_unpackhi_ps(column[k], column[k + 1]);
    let pairs = [low(0), high(0), low(2), high(2), low(4), high(4), low(6), high(6)];
    let first = |k: usize| _mm256_shuffle_ps::<0x44>(pairs[k], pairs[k + 2]);
    let second = |k: usize| _mm256_shuffle_ps::<0xee>(pairs[k], pairs[k + 2]);
    let fours = [first(0), second(0), first(1), second(1), first(4), second(4), first(5), second(5)];
    for k in 0..4 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            _mm256_storeu_ps(rows[k].cast(), _mm256_permute2f128_ps::<0x20>(fours[k], fours[k + 4]));
            _mm256_storeu_ps(rows[k + 4].cast(), _mm256_permute2f128_ps::<0x31>(fours[k], fours[k + 4]));
        }
    }
}

/// Transposes four by four elements of 8 bytes.
///
/// # Safety
/// `from` points to 32 readable bytes, and so does each of the three next multiples of `step` bytes. Each of
/// `rows` points to 32 writable bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn transpose_four(from: *const u8, step: usize, rows: [*mut u8; 4]) {
    use std::arch::x86_64::*;
    // SAFETY: guaranteed by the caller.
    let load = |k: usize| unsafe { _mm256_loadu_pd(from.add(k * step).cast()) };
    let column = [load(0), load(1), load(2), load(3)];
    let low = |k: usize| _mm256_unpacklo_pd(column[k], column[k + 1]);
    let high = |k: usize| _mm256_unpackhi_pd(column[k], column[k + 1]);
    let pairs = [low(0), high(0), low(2), high(2)];
    for k in 0..2 {
        // SAFETY: guaranteed by the caller.
        unsafe {
            _mm256_storeu_pd(rows[k].cast(), _mm256_permute2f128_pd::<0x20>(pairs[k], pairs[k + 2]));
            _mm256_storeu_pd(rows[k + 2].cast(), _mm256_permute2f128_pd::<0x31>(pairs[k], pairs[k + 2]));
        }
    }
}
