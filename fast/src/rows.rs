//! One call of two operands over rows: in each row, an operand is contiguous or is one value. The kernel of
//! the call runs over all rows of an axis, on the operands' own memory, or once for each row if an operand is
//! reversed along that axis.
//!
//! Gathering a column first takes as long as the call itself (`benches/sweep`, rows and columns of 20 and
//! 100), but for short rows that are not whole vectors ([`are_ragged`]).
#![deny(clippy::wildcard_enum_match_arm)]

use crate::Level;
use crate::arch::{Binary, CallKernel, Rows, Table};
use crate::buffers::{Input, Output, Stored};
use crate::dispatch::by_call;
use crate::program::{Half, bank_of, bytes, is_comparison, kernel};
use crate::scratch::{BankCall, FloatBank, Lane};
use crate::tiling::Axes;
use broadcheck_spec::{DType, Function};
use smallvec::SmallVec;
use std::ops::Range;

/// The bytes of the shortest row, half a block of the kernels. Shorter ones are gathered: what is left of a
/// block at the end of each row would take longer.
const SHORTEST_ROW: usize = 32;

/// The same for functions whose kernels have no halves of a block: those of f16 that round, and the larger or
/// smaller of two floats. A product of integers of 64 bits takes so long that those which a block computes
/// twice cost more than gathering.
const SHORTEST_ROW_OF_BLOCKS: usize = 64;

/// The same for [`Function::Divide`] of floats, whose kernel has no blocks.
const SHORTEST_PLAIN_ROW: usize = 256;

/// The bytes of the shortest row of a function. `half` is the format of halves whose bits are the elements.
fn shortest_row(function: Function, (dtype, half): (DType, Option<Half>)) -> usize {
    use Function as F;
    let bank = bank_of(dtype);
    match (function, half, FloatBank::of(bank)) {
        (F::Divide, None, Some(_)) => SHORTEST_PLAIN_ROW,
        (F::Add | F::Subtract | F::Multiply | F::Divide, Some(Half::F16), _)
        | (F::Maximum | F::Minimum, None, Some(_)) => SHORTEST_ROW_OF_BLOCKS,
        (F::Multiply, None, None) if bytes(bank) == 8 => SHORTEST_ROW_OF_BLOCKS,
        (
            F::Divide
            | F::Maximum
            | F::Minimum
            | F::Add
            | F::Subtract
            | F::Multiply
            | F::Power
            | F::Negate
            | F::Abs
            | F::Sqrt
            | F::Exp
            | F::Log
            | F::Tanh
            | F::Equal
            | F::NotEqual
            | F::Less
            | F::LessEqual
            | F::Greater
            | F::GreaterEqual
            | F::LogicalAnd
            | F::LogicalOr
            | F::LogicalNot
            | F::Select,
            _,
            _,
        ) => SHORTEST_ROW,
    }
}

/// Rows of this many bytes or more are not ragged if the shorter operand is one row. (With rows of 400 bytes,
/// gathering makes no difference.)
const LONGEST_RAGGED_ROW: usize = 320;

/// The same for elements of one or two bytes. (Over rows of 40 i16, gathering takes 1.3 times as long.)
const LONGEST_RAGGED_ROW_OF_SMALL: usize = 80;

/// The same if the shorter operand has one value in each row, for elements of four bytes. Columns of others
/// take up to three times as long to gather, and comparisons up to 1.8 times.
const LONGEST_RAGGED_ROW_BY_COLUMN: usize = 136;

/// Whether it is faster to gather the shorter operand than to run a kernel over rows of a few vectors and a
/// rest, which takes as long as a vector or two. (By a row of 33 f32, x + y takes 0.7 of the time, by one of
/// 17 0.55.) Measured with vectors of 64 bytes; `size` is that of an element.
pub(crate) fn are_ragged(axes: &Axes, function: Function, size: usize, level: Level) -> bool {
    let (Some((width, inner)), Some((_, outer)), None) = (axes.axis(0), axes.axis(1), axes.axis(2)) else {
        return false;
    };
    let longest = match (inner, outer) {
        ([1, 1], [0, _] | [_, 0]) if size >= 4 => LONGEST_RAGGED_ROW,
        ([1, 1], [0, _] | [_, 0]) => LONGEST_RAGGED_ROW_OF_SMALL,
        ([0, 1] | [1, 0], _) if size == 4 && !is_comparison(function) => LONGEST_RAGGED_ROW_BY_COLUMN,
        _ => 0,
    };
    let bytes = width.saturating_mul(size);
    level == Level::Avx512 && bytes < longest && !bytes.is_multiple_of(64)
}

/// The most elements of a result that one thread computes. Threads share a larger `select`.
pub(crate) const MOST: usize = 1 << 19;

/// A call over rows.
#[derive(Debug)]
pub(crate) struct RowsCall {
    kernel: BankCall,
    width: usize,
    operands: [RowOperand; 2],
    axes: RowAxes<2>,
}

/// An operand of a call over rows.
#[derive(Clone, Copy, Debug)]
struct RowOperand {
    /// Its index among the inputs.
    input: usize,
    /// The position of its first element.
    offset: usize,
    /// The elements of a row: the width or 1.
    count: usize,
}

/// The axes over the rows of `N` operands, innermost first. There is one at least.
#[derive(Debug)]
pub(crate) struct RowAxes<const N: usize>(SmallVec<[RowAxis<N>; 3]>);

/// An axis over rows, with the step of each operand.
#[derive(Clone, Copy, Debug)]
struct RowAxis<const N: usize> {
    length: usize,
    steps: [i64; N],
}

impl<const N: usize> RowAxes<N> {
    /// All axes but the innermost one, which is that of a row, and the number of rows. `None` if there is no
    /// other axis.
    pub(crate) fn of(axes: &Axes) -> Option<(RowAxes<N>, usize)> {
        let mut over: SmallVec<[RowAxis<N>; 3]> = SmallVec::new();
        let mut rows: usize = 1;
        while let Some((length, steps)) = axes.axis(over.len() + 1) {
            over.push(RowAxis { length, steps: steps.try_into().ok()? });
            rows = rows.saturating_mul(length);
        }
        (!over.is_empty()).then_some((RowAxes(over), rows))
    }

    /// Whether there is only one axis.
    pub(crate) fn are_one(&self) -> bool {
        self.0.len() == 1
    }

    /// The position of each operand for some of the rows along the innermost axis.
    pub(crate) fn rows(&self, starts: [usize; N], rows: Range<usize>) -> impl Iterator<Item = [usize; N]> {
        let steps = self.0.first().map_or([0; N], |axis| axis.steps);
        let row = |at: usize| i64::try_from(at).unwrap_or(i64::MAX);
        rows.map(move |at| std::array::from_fn(|k| moved(starts[k], row(at).wrapping_mul(steps[k]))))
    }

    /// Calls `row` with the position of each operand for every row, in the order of the rows.
    pub(crate) fn each(&self, starts: [usize; N], mut row: impl FnMut([usize; N])) {
        let Some(inner) = self.0.first() else { return };
        self.blocks(starts, |mut positions| {
            for _ in 0..inner.length {
                row(positions);
                positions = std::array::from_fn(|k| moved(positions[k], inner.steps[k]));
            }
        });
    }

    /// Calls `block` for every block of rows along the innermost axis.
    fn blocks(&self, starts: [usize; N], mut block: impl FnMut([usize; N])) {
        let Some((_, outer)) = self.0.split_first() else { return };
        let mut positions = starts;
        let mut done: SmallVec<[usize; 2]> = SmallVec::from_elem(0, outer.len());
        // A result with outer axes has at most [`MOST`] elements.
        for _ in 0..outer.iter().map(|axis| axis.length).product() {
            block(positions);
            // To the next block: the innermost axis that has one, after the axes inside it began again.
            for (axis, done) in outer.iter().zip(&mut done) {
                *done += 1;
                let ended = *done == axis.length;
                let steps = if ended { 1 - i64::try_from(axis.length).unwrap_or(i64::MAX) } else { 1 };
                positions = std::array::from_fn(|k| moved(positions[k], steps * axis.steps[k]));
                if !ended {
                    break;
                }
                *done = 0;
            }
        }
    }
}

impl RowsCall {
    /// The call of a function over the axes of its operands, which are `(input, offset)`, if it has long rows
    /// in which each operand is contiguous or one value. `half` is the format of halves whose bits are the
    /// elements.
    pub(crate) fn of(
        function: Function,
        (dtype, half): (DType, Option<Half>),
        table: &Table,
        axes: &Axes,
        operands: [(usize, usize); 2],
    ) -> Option<RowsCall> {
        // mutant: replace RowsCall::of -> Option<RowsCall> with None: costs time only
        let (width, inner) = axes.axis(0)?;
        let bank = bank_of(dtype);
        let is_long = width.saturating_mul(bytes(bank)) >= shortest_row(function, (dtype, half));
        let is_ragged = half.is_none() && are_ragged(axes, function, bytes(bank), table.level);
        let (&[a @ (0 | 1), b @ (0 | 1)], true) = (inner, is_long && !is_ragged) else { return None };
        if a | b == 0 {
            return None;
        }
        let (over, rows) = RowAxes::of(axes)?;
        if width.saturating_mul(rows) > MOST {
            return None;
        }
        let kernel = kernel((table, half), bank, function, [a == 0, b == 0, false])?;
        let operand = |(input, offset): (usize, usize), step: i64| RowOperand {
            input,
            offset,
            count: if step == 0 { 1 } else { width },
        };
        let operands = [operand(operands[0], a), operand(operands[1], b)];
        Some(RowsCall { kernel, width, operands, axes: over })
    }

    /// Computes the call.
    pub(crate) fn run(&self, inputs: &[Input<'_>], output: &mut Output<'_>) {
        by_call!(self.kernel, kernel => self.compute(kernel, inputs, output));
    }

    fn compute<T: Lane>(&self, kernel: CallKernel<T>, inputs: &[Input<'_>], output: &mut Output<'_>) {
        let [a, b] = self.operands.map(|operand| T::input(&inputs[operand.input]));
        match kernel {
            CallKernel::Binary(kernel) => self.each(kernel, a, b, T::output(output)),
            CallKernel::Comparison(kernel) => self.each(kernel, a, b, bool::output(output)),
            CallKernel::Unary(_)
            | CallKernel::Select(_)
            | CallKernel::Condition(_)
            | CallKernel::Clip(_)
            | CallKernel::Check(_) => {
                unreachable!("a call over rows has two operands")
            }
        }
    }

    /// Runs the kernel over each row of the output.
    fn each<T, R>(&self, kernel: Binary<T, R>, a: &[T], b: &[T], out: &mut [R]) {
        let [first, second] = self.operands;
        let Some(inner) = self.axes.0.first() else { return };
        let mut blocks = out.chunks_exact_mut(self.width * inner.length);
        self.axes.blocks([first.offset, second.offset], |[x, y]| {
            let Some(block) = blocks.next() else { return };
            match inner.steps.map(usize::try_from) {
                [Ok(along), Ok(across)] => {
                    let rows = Rows { width: self.width, steps: [along, across] };
                    kernel.run_rows(&a[x..], &b[y..], &rows, block);
                }
                _ => {
                    let (mut p, mut q) = (x, y);
                    for out in block.chunks_exact_mut(self.width) {
                        kernel.run(&a[p..p + first.count], &b[q..q + second.count], out);
                        (p, q) = (moved(p, inner.steps[0]), moved(q, inner.steps[1]));
                    }
                }
            }
        });
    }
}

/// A position moved by a number of elements. Every row of the output has its elements in the operands, so
/// only between rows can a position be outside.
#[inline(always)]
fn moved(position: usize, by: i64) -> usize {
    position.wrapping_add_signed(isize::try_from(by).unwrap_or(0))
}
