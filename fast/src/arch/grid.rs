//! A binary function over a grid of short rows. In each row, an operand is either read contiguously or is one
//! value. Nothing is gathered first, which for short rows would take longer than the function itself.

use super::expand::Pairing;
use super::extent::Extent;
use super::stream::{LINE, NonTemporal};
use super::vector::Vector;

/// An operand of a grid: blocks of rows, one after another.
#[derive(Clone, Copy)]
pub(crate) struct GridOperand<'a, T> {
    /// From the first value of the first block on.
    pub(crate) values: &'a [T],
    /// The distance between the starts of successive blocks, and of successive rows, in elements.
    pub(crate) steps: [usize; 2],
    /// Whether a row has one value.
    pub(crate) scalar: bool,
}

impl<'a, T> GridOperand<'a, T> {
    /// The rows of one block, starting at `row`.
    pub(crate) fn from(self, block: usize, row: usize) -> Self {
        let values = &self.values[block * self.steps[0] + row * self.steps[1]..];
        GridOperand { values, ..self }
    }

    /// Whether there are values for all blocks, rows and columns.
    fn is_long_enough(&self, blocks: usize, rows: usize, width: usize) -> bool {
        let last = if self.scalar { 1 } else { width };
        let block = Extent::of(last).repeated(rows, self.steps[1]);
        block.repeated(blocks, self.steps[0]).is_within(self.values)
    }
}

/// `out = f(a, b)`, where `out` consists of blocks of `rows` rows of `width` elements, and the rows of `a`
/// are contiguous. A row has at least a cache line, which is at least as large as a vector of any level. Rows
/// written with non-temporal stores are whole, aligned lines.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn run<V: Vector>(
    pairing: Pairing,
    a: GridOperand<'_, V::Element>,
    b: GridOperand<'_, V::Element>,
    (rows, width): (usize, usize),
    stores: Option<&NonTemporal>,
    out: &mut [V::Element],
) {
    const { assert!(size_of::<V>() <= LINE && V::WIDTH * size_of::<V::Element>() == size_of::<V>()) };
    let non_temporal = stores.is_some();
    let line = LINE / size_of::<V::Element>();
    let block = Extent::of(width).repeated(rows, width).elements();
    let block = block.expect("the number of elements in a block of rows overflows");
    assert!(
        block > 0 && width >= line && out.len().is_multiple_of(block),
        "the output is not made of whole blocks of rows"
    );
    let blocks = out.len() / block;
    assert!(!a.scalar, "the rows of the first argument are not contiguous");
    assert!(
        a.is_long_enough(blocks, rows, width) && b.is_long_enough(blocks, rows, width),
        "an argument is shorter than the output needs"
    );
    let whole_lines = out.as_ptr().align_offset(LINE) == 0 && width.is_multiple_of(line);
    assert!(whole_lines || !non_temporal, "rows with non-temporal stores are not whole cache lines");
    // SAFETY: the caller guarantees the instructions. By the assertions, `out` is `blocks` times `block`
    // elements, where `block` is `rows * width` without overflow; a row is at least as long as a cache line,
    // and so as a vector; both arguments have values for every row; and rows with non-temporal stores are
    // whole, aligned cache lines, and so whole, aligned vectors.
    unsafe {
        match (pairing, non_temporal) {
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

/// `out = f(a, b)` over rows of `width` elements, at least as many as a vector has. The rows of `a` are
/// contiguous.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn short_rows<V: Vector>(
    a: GridOperand<'_, V::Element>,
    b: GridOperand<'_, V::Element>,
    width: usize,
    out: &mut [V::Element],
    f: impl Fn(V, V) -> V + Copy,
) {
    assert!(
        width >= V::WIDTH && out.len().is_multiple_of(width) && !a.scalar,
        "the output is not made of whole rows, or those of the first argument are not contiguous"
    );
    let rows = out.len() / width;
    assert!(
        a.is_long_enough(1, rows, width) && b.is_long_enough(1, rows, width),
        "an argument is shorter than the output needs"
    );
    if rows > 0 {
        // SAFETY: the caller guarantees the instructions. By the assertions, `out` is `rows * width`
        // elements, a row is at least as long as a vector, and both arguments have values for every row.
        unsafe { each_row::<V, false>(a, b, (rows, width), out, f) }
    }
}

/// # Safety
/// The machine has the instructions of `V`. `rows * width` is not 0 and does not overflow. `out` consists of
/// whole blocks of that many elements. Its rows are at least as wide as a vector, and both arguments have
/// values for all of them. With `NON_TEMPORAL`, rows are whole vectors and `out` is aligned to a vector.
#[inline(always)]
unsafe fn each_row<V: Vector, const NON_TEMPORAL: bool>(
    a: GridOperand<'_, V::Element>,
    b: GridOperand<'_, V::Element>,
    (rows, width): (usize, usize),
    out: &mut [V::Element],
    f: impl Fn(V, V) -> V + Copy,
) {
    let blocks = out.len() / (rows * width);
    let mut to = out.as_mut_ptr();
    // SAFETY: the caller guarantees that every row of the arguments and of `out` is inside them.
    unsafe {
        for block in 0..blocks {
            let (x, y) =
                (a.values.as_ptr().add(block * a.steps[0]), b.values.as_ptr().add(block * b.steps[0]));
            for row in 0..rows {
                let (x, y) = (x.add(row * a.steps[1]), y.add(row * b.steps[1]));
                if b.scalar {
                    line::<V, true, NON_TEMPORAL>(x, y, width, to, f);
                } else {
                    line::<V, false, NON_TEMPORAL>(x, y, width, to, f);
                }
                to = to.add(width);
            }
        }
    }
}

/// One row. If it is not made of whole vectors, its last vector overlaps the one before.
///
/// # Safety
/// As for [`each_row`], for one row.
#[inline(always)]
unsafe fn line<V: Vector, const SCALAR: bool, const NON_TEMPORAL: bool>(
    x: *const V::Element,
    y: *const V::Element,
    width: usize,
    to: *mut V::Element,
    f: impl Fn(V, V) -> V,
) {
    let last = width - V::WIDTH;
    let mut at = 0;
    // SAFETY: the caller guarantees the row. `at` is at most `last`, so a vector fits there.
    unsafe {
        let one = V::splat(*y);
        loop {
            let value = f(V::load(x.add(at)), if SCALAR { one } else { V::load(y.add(at)) });
            if NON_TEMPORAL {
                value.store_non_temporal(to.add(at));
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
