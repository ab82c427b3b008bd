//! One call of two operands of which one is transposed: its columns are contiguous where the result needs
//! rows. It is transposed block by block and used at once.
//!
//! A block is as high as it is wide and fits into the first-level cache, so that few pages are in use at a
//! time and a cache line is read once. Tiles of 16 whole rows touch a page for every column. If stores are
//! non-temporal, little of the operands is in the caches, and longer parts of rows take less time: then a
//! block is wider and fits into the second-level cache.

use crate::arch::{CACHE_LINE, CallKernel, NonTemporal, Table, fenced};
use crate::buffers::{Input, Output, Stored};
use crate::dispatch::by_call;
use crate::parallel::by_rows;
use crate::program::{Half, bank_of, kernel};
use crate::scratch::{BankCall, Lane};
use crate::tiling::Axes;
use broadcheck_spec::{DType, Function};
use smallvec::SmallVec;
use std::ops::Range;

/// The rows of a block, and the columns of one without non-temporal stores.
const SIDE: usize = 64;

/// The bytes of a row of a block with non-temporal stores. (On an AMD EPYC, a sum with a transposed operand
/// of 2000x2000 and 4000x4000 takes 0.5 to 0.7 of the time in f32 and 0.85 to 1.0 in f64 that it takes in
/// squares, `benches/shapes`.)
const WIDE_BYTES: usize = 2048;

/// A call with a transposed operand.
#[derive(Debug)]
pub(crate) struct TurnedCall {
    kernel: BankCall,
    rows: usize,
    width: usize,
    /// The operand whose rows are contiguous.
    whole: Strips,
    /// The operand whose columns are contiguous.
    turned: Strips,
    /// Whether the transposed operand is the first argument.
    swapped: bool,
    non_temporal: bool,
}

/// An operand of contiguous strips.
#[derive(Clone, Copy, Debug)]
struct Strips {
    /// Its index among the inputs.
    input: usize,
    /// The position of its first element.
    offset: usize,
    /// The distance between the starts of successive strips.
    step: usize,
}

/// Elements that begin a cache line.
#[repr(align(64))]
struct Aligned<A>(A);

/// `count` elements that begin a cache line, of as many and [`CACHE_LINE`] more.
fn from_a_line<T>(elements: &mut [T], count: usize) -> &mut [T] {
    let start = elements.as_ptr().align_offset(CACHE_LINE);
    &mut elements[start..start + count]
}

impl TurnedCall {
    /// The call of a function over the axes of its operands, which are `(input, offset)`, if they are two
    /// long axes and one operand is transposed. `half` is the format of halves whose bits are the elements.
    pub(crate) fn of(
        function: Function,
        (dtype, half): (DType, Option<Half>),
        table: &Table,
        axes: &Axes,
        operands: [(usize, usize); 2],
        non_temporal: bool,
    ) -> Option<TurnedCall> {
        // mutant: replace TurnedCall::of -> Option<TurnedCall> with None: costs time only
        let ((width, across), (rows, down), None) = (axes.axis(0)?, axes.axis(1)?, axes.axis(2)) else {
            return None;
        };
        // mutant: replace < with <=: costs time only; a call of this size goes through tiles
        if width < SIDE || rows < SIDE {
            return None;
        }
        let swapped = match (across, down) {
            (&[1, step], &[_, 1]) if step > 1 => false,
            (&[step, 1], &[1, _]) if step > 1 => true,
            _ => return None,
        };
        let [first, second] = operands;
        let (whole, turned) = if swapped { (second, first) } else { (first, second) };
        let strips = |(input, offset): (usize, usize), step: i64| {
            Some(Strips { input, offset, step: usize::try_from(step).ok()? })
        };
        Some(TurnedCall {
            kernel: kernel((table, half), bank_of(dtype), function, [false; 3])?,
            rows,
            width,
            whole: strips(whole, down[usize::from(swapped)])?,
            turned: strips(turned, across[usize::from(!swapped)])?,
            swapped,
            non_temporal,
        })
    }

    /// Computes the call.
    pub(crate) fn run(&self, table: &Table, inputs: &[Input<'_>], output: Output<'_>) {
        by_rows((self.rows, self.width), SIDE, output, &|rows, output| {
            fenced(self.non_temporal, |stores| {
                by_call!(self.kernel, kernel => self.compute(table, kernel, inputs, rows, output, stores));
            });
        });
    }

    fn compute<T: Lane>(
        &self,
        table: &Table,
        kernel: CallKernel<T>,
        inputs: &[Input<'_>],
        rows: Range<usize>,
        mut output: Output<'_>,
        stores: Option<&NonTemporal>,
    ) {
        match kernel {
            CallKernel::Binary(kernel) if self.swapped => {
                self.blocks::<T, T>(table, inputs, rows, T::output(&mut output), stores, |a, b, out| {
                    kernel.run(b, a, out);
                });
            }
            CallKernel::Binary(kernel) => {
                self.blocks::<T, T>(table, inputs, rows, T::output(&mut output), stores, |a, b, out| {
                    kernel.run(a, b, out);
                });
            }
            CallKernel::Comparison(kernel) if self.swapped => {
                self.blocks::<T, bool>(
                    table,
                    inputs,
                    rows,
                    bool::output(&mut output),
                    stores,
                    |a, b, out| {
                        kernel.run(b, a, out);
                    },
                );
            }
            CallKernel::Comparison(kernel) => {
                self.blocks::<T, bool>(
                    table,
                    inputs,
                    rows,
                    bool::output(&mut output),
                    stores,
                    |a, b, out| {
                        kernel.run(a, b, out);
                    },
                );
            }
            CallKernel::Unary(_)
            | CallKernel::Select(_)
            | CallKernel::Condition(_)
            | CallKernel::Clip(_)
            | CallKernel::Check(_) => {
                unreachable!("a call with a transposed operand has two operands")
            }
        }
    }

    /// Computes some rows of the result, which are `out`, block by block. `call` gets a part of a row of the
    /// operand with contiguous rows, and of the transposed one.
    fn blocks<T: Lane, R: Lane>(
        &self,
        table: &Table,
        inputs: &[Input<'_>],
        rows: Range<usize>,
        out: &mut [R],
        stores: Option<&NonTemporal>,
        call: impl Fn(&[T], &[T], &mut [R]),
    ) {
        let [whole, turned] = [self.whole, self.turned].map(|strips| T::input(&inputs[strips.input]));
        let across = T::kernels(table).across;
        let transpose = |lines: &mut [&mut [T]], top: usize, left: usize| {
            let from = self.turned.offset + left * self.turned.step + top;
            across.run(&turned[from..], self.turned.step, lines);
        };
        let part = |row: usize, columns: &Range<usize>| {
            let from = self.whole.offset + row * self.whole.step;
            &whole[from + columns.start..from + columns.end]
        };
        let place = |row: usize, columns: &Range<usize>| {
            let from = (row - rows.start) * self.width;
            from + columns.start..from + columns.end
        };
        if let Some(stores) = stores {
            let wide = WIDE_BYTES / size_of::<T>();
            let mut block = vec![T::default(); SIDE * wide + CACHE_LINE];
            let mut made = vec![R::default(); wide + CACHE_LINE];
            let block = from_a_line(&mut block, SIDE * wide);
            self.each_block(&rows, (block, wide), transpose, |row, columns, line| {
                let made = from_a_line(&mut made, columns.len());
                call(part(row, &columns), line, made);
                R::kernels(table).copy.run(stores, made, &mut out[place(row, &columns)]);
            });
        } else {
            let mut block = Aligned([T::default(); SIDE * SIDE]);
            self.each_block(&rows, (&mut block.0, SIDE), transpose, |row, columns, line| {
                call(part(row, &columns), line, &mut out[place(row, &columns)]);
            });
        }
    }

    /// Calls `transpose` with the lines of each block, the first row of the block and its first column, and
    /// then `each` with each row, its columns and its line. A block has `SIDE` rows, of which each is a line
    /// of `wide` elements in `block`, or fewer at the ends.
    fn each_block<T>(
        &self,
        rows: &Range<usize>,
        (block, wide): (&mut [T], usize),
        transpose: impl Fn(&mut [&mut [T]], usize, usize),
        mut each: impl FnMut(usize, Range<usize>, &[T]),
    ) {
        for top in rows.clone().step_by(SIDE) {
            for left in (0..self.width).step_by(wide) {
                let (height, count) = (SIDE.min(rows.end - top), wide.min(self.width - left));
                let lines = block.chunks_exact_mut(wide).take(height).map(|line| &mut line[..count]);
                let mut lines: SmallVec<[&mut [T]; SIDE]> = lines.collect();
                transpose(&mut lines, top, left);
                for (row, line) in (top..).zip(&lines) {
                    each(row, left..left + count, line);
                }
            }
        }
    }
}
