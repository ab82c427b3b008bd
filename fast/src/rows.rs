//! One call of two operands over rows: in each row, an operand is contiguous or is one value. The kernel of
//! the call runs once for each row, on the operands' own memory.
//!
//! Gathering a column first takes as long as the call itself: the worst shape of a comparison took 1.9 to 3
//! times as long as a loop for it, and now 1.5 to 1.8 times (`benches/sweep`).

use crate::arch::{CallKernel, Table};
use crate::buffers::{Input, Output, Stored};
use crate::dispatch::by_call;
use crate::program::{Half, bank_of, bytes, kernel};
use crate::scratch::{BankCall, Lane};
use crate::tiling::Axes;
use broadcheck_spec::{DType, Function};
use smallvec::SmallVec;

/// The bytes of the shortest row. Shorter ones are gathered: what is left of a vector at the end of each row
/// would take longer.
const SHORTEST_ROW: usize = 256;

/// The most elements of a result, so many that one thread takes them all.
const MOST: usize = 1 << 19;

/// A call over rows.
#[derive(Debug)]
pub(crate) struct RowsCall {
    kernel: BankCall,
    width: usize,
    operands: [RowOperand; 2],
    /// The axes over the rows, innermost first.
    axes: SmallVec<[RowAxis; 3]>,
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

/// An axis over rows, with the step of each operand.
#[derive(Clone, Copy, Debug)]
struct RowAxis {
    length: usize,
    steps: [i64; 2],
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
        let is_long = width * bytes(bank) >= SHORTEST_ROW;
        let (&[a @ (0 | 1), b @ (0 | 1)], true) = (inner, is_long) else { return None };
        if a | b == 0 {
            return None;
        }
        let mut over: SmallVec<[RowAxis; 3]> = SmallVec::new();
        let mut count = width;
        while let Some((length, &[x, y])) = axes.axis(over.len() + 1) {
            over.push(RowAxis { length, steps: [x, y] });
            count = count.saturating_mul(length);
        }
        if over.is_empty() || count > MOST {
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
    pub(crate) fn run(&self, inputs: &[Input<'_>], output: Output<'_>) {
        by_call!(self.kernel, kernel => self.compute(kernel, inputs, output));
    }

    fn compute<T: Lane>(&self, kernel: CallKernel<T>, inputs: &[Input<'_>], mut output: Output<'_>) {
        let [a, b] = self.operands.map(|operand| T::input(&inputs[operand.input]));
        match kernel {
            CallKernel::Binary(kernel) => {
                self.each(a, b, T::output(&mut output), |a, b, out| kernel.run(a, b, out));
            }
            CallKernel::Comparison(kernel) => {
                self.each(a, b, bool::output(&mut output), |a, b, out| kernel.run(a, b, out));
            }
            CallKernel::Unary(_) | CallKernel::Select(_) => {
                unreachable!("a call over rows has two operands")
            }
        }
    }

    /// Calls `row` for each row of the output.
    #[inline(always)]
    fn each<T, R>(&self, a: &[T], b: &[T], out: &mut [R], row: impl Fn(&[T], &[T], &mut [R])) {
        let [first, second] = self.operands;
        let (mut x, mut y) = (first.offset, second.offset);
        let mut done: SmallVec<[usize; 3]> = SmallVec::from_elem(0, self.axes.len());
        for out in out.chunks_exact_mut(self.width) {
            row(&a[x..x + first.count], &b[y..y + second.count], out);
            // To the next row: the innermost axis that has one, after the axes inside it began again.
            for (axis, done) in self.axes.iter().zip(&mut done) {
                *done += 1;
                let ended = *done == axis.length;
                let steps = if ended { 1 - i64::try_from(axis.length).unwrap_or(i64::MAX) } else { 1 };
                x = moved(x, steps * axis.steps[0]);
                y = moved(y, steps * axis.steps[1]);
                if !ended {
                    break;
                }
                *done = 0;
            }
        }
    }
}

/// A position moved by a number of elements. Every row of the output has its elements in the operands, so
/// only between rows can a position be outside.
#[inline(always)]
fn moved(position: usize, by: i64) -> usize {
    position.wrapping_add_signed(isize::try_from(by).unwrap_or(0))
}
