//! A function of two over a grid of short rows: in each row an argument stands as it is, or has one value. Nothing is
//! brought together beforehand, which for short rows takes longer than the function.

use super::expand::Pairing;
use super::vector::Vector;

/// Rows are at least so many bytes, and those that are stored past the caches a multiple of it, from such a boundary on:
/// a line, which is no less than a vector of any level.
pub const LINE: usize = 64;

/// An argument under a grid: blocks of rows, one after the other.
#[derive(Clone, Copy)]
pub struct Lie<'a, T> {
    /// From the first block's first value on.
    pub values: &'a [T],
    /// How far apart the values of successive blocks begin, and those of successive rows.
    pub steps: [usize; 2],
    /// Whether a row has one value.
    pub scalar: bool,
}

impl<'a, T> Lie<'a, T> {
    /// The rows of one block from some row on.
    pub fn from(self, block: usize, row: usize) -> Self {
        let values = &self.values[block * self.steps[0] + row * self.steps[1]..];
        Lie { values, ..self }
    }

    /// Whether there are values for so many blocks, rows and places, each more than 0.
    fn is_enough(&self, blocks: usize, rows: usize, width: usize) -> bool {
        let last = if self.scalar { 1 } else { width };
        let [block, row] = [(blocks - 1).checked_mul(self.steps[0]), (rows - 1).checked_mul(self.steps[1])];
        let end = block.zip(row).and_then(|(block, row)| block.checked_add(row)?.checked_add(last));
        end.is_some_and(|end| end <= self.values.len())
    }
}

/// `out = f(a, b)`, where `out` is blocks of rows, so many of such a width; in `a` rows stand as they are. `past` the
/// caches where that is asked.
///
/// # Safety
/// The instructions of `V` are there.
#[inline(always)]
pub(super) unsafe fn run<V: Vector>(
    pairing: Pairing,
    a: Lie<'_, V::Element>,
    b: Lie<'_, V::Element>,
    (rows, width): (usize, usize),
    past: bool,
    out: &mut [V::Element],
) {
    let block = rows * width;
    let bytes = width * size_of::<V::Element>();
    assert!(
        block > 0 && bytes >= LINE && out.len().is_multiple_of(block) && !a.scalar,
        "whole blocks of rows"
    );
    let blocks = out.len() / block;
    assert!(
        blocks == 0 || a.is_enough(blocks, rows, width) && b.is_enough(blocks, rows, width),
        "arguments are as long as the output asks"
    );
    let line = out.as_ptr().align_offset(LINE) == 0 && bytes.is_multiple_of(LINE);
    assert!(line || !past, "rows that are stored past the caches are whole lines");
    // SAFETY: the instructions are there by this function's contract, and everything else by the assertions.
    unsafe {
        match (pairing, past) {
            (Pairing::Add, false) => each_row::<V, false>(a, b, (rows, width), out, V::add),
            (Pairing::Add, true) => each_row::<V, true>(a, b, (rows, width), out, V::add),
            (Pairing::Subtract, false) => each_row::<V, false>(a, b, (rows, width), out, V::subtract),
            (Pairing::Subtract, true) => each_row::<V, true>(a, b, (rows, width), out, V::subtract),
            (Pairing::SubtractFrom, false) => {
                each_row::<V, false>(a, b, (rows, width), out, |a, b| b.subtract(a));
            }
            (Pairing::SubtractFrom, true) => {
                each_row::<V, true>(a, b, (rows, width), out, |a, b| b.subtract(a));
            }
            (Pairing::Multiply, false) => each_row::<V, false>(a, b, (rows, width), out, V::multiply),
            (Pairing::Multiply, true) => each_row::<V, true>(a, b, (rows, width), out, V::multiply),
        }
    }
}

/// # Safety
/// The instructions of `V` are there. `out` is whole blocks of rows, of at least a vector's width, and both arguments have
/// the values that they ask for. With `PAST`, rows are whole vectors, and `out` begins on a vector's boundary.
#[inline(always)]
unsafe fn each_row<V: Vector, const PAST: bool>(
    a: Lie<'_, V::Element>,
    b: Lie<'_, V::Element>,
    (rows, width): (usize, usize),
    out: &mut [V::Element],
    f: impl Fn(V, V) -> V + Copy,
) {
    let blocks = out.len() / (rows * width);
    let mut to = out.as_mut_ptr();
    // SAFETY: the caller's: every row of the arguments and of `out` lies inside them.
    unsafe {
        for block in 0..blocks {
            let (x, y) =
                (a.values.as_ptr().add(block * a.steps[0]), b.values.as_ptr().add(block * b.steps[0]));
            for row in 0..rows {
                let (x, y) = (x.add(row * a.steps[1]), y.add(row * b.steps[1]));
                if b.scalar {
                    line::<V, true, PAST>(x, y, width, to, f);
                } else {
                    line::<V, false, PAST>(x, y, width, to, f);
                }
                to = to.add(width);
            }
        }
    }
}

/// One row, whose last vector overlaps the one before where it is no whole vectors.
///
/// # Safety
/// As [`each_row`]'s, for a row.
#[inline(always)]
unsafe fn line<V: Vector, const SCALAR: bool, const PAST: bool>(
    x: *const V::Element,
    y: *const V::Element,
    width: usize,
    to: *mut V::Element,
    f: impl Fn(V, V) -> V,
) {
    let last = width - V::WIDTH;
    let mut at = 0;
    // SAFETY: the caller's: from `at` on there is a vector, for `at` is no more than `last`.
    unsafe {
        let one = V::splat(*y);
        loop {
            let value = f(V::load(x.add(at)), if SCALAR { one } else { V::load(y.add(at)) });
            if PAST {
                value.stream(to.add(at));
            } else {
                value.store(to.add(at));
            }
            if at == last {
                return;
            }
            at = (at + V::WIDTH).min(last);
        }
    }
}
