//! A `select` by a condition with one value for each row, such as a mask of rows: in each row, all elements
//! are those of the same operand, so they are copied from there.
//!
//! Otherwise the conditions are expanded into one for each element, which takes longer than the copies
//! (`benches/expressions`).
#![deny(clippy::wildcard_enum_match_arm)]

use crate::buffers::{Input, Output, Stored};
use crate::dispatch::by_bank;
use crate::program::{bank_of, bytes};
use crate::rows::{MOST, RowAxes};
use crate::scratch::Bank;
use crate::tiling::Axes;
use broadcheck_spec::DType;

/// The bytes of the shortest row that is copied. A copy takes some 4 ns, and to expand the conditions of
/// shorter rows takes less. (On an AMD EPYC, rows of 80 to 1,000 bytes take 0.45 to 0.9 of the time that
/// expanding takes, rows of 32 0.65 to 1.1, and shorter rows of f32 and u8 up to 1.4.)
const SHORTEST_ROW: usize = 32;

/// A `select` over rows.
#[derive(Debug)]
pub(crate) struct SelectCall {
    bank: Bank,
    width: usize,
    condition: SelectOperand,
    /// What is copied if the condition holds, and otherwise.
    branches: [SelectOperand; 2],
    axes: RowAxes<3>,
}

/// An operand of a `select` over rows.
#[derive(Clone, Copy, Debug)]
struct SelectOperand {
    /// Its index among the inputs.
    input: usize,
    /// The position of its first element.
    offset: usize,
    /// Whether it has one value in each row.
    one: bool,
}

impl SelectCall {
    /// The call over the axes of the condition and the two branches, which are `(input, offset)`, if the
    /// condition has one value in each row, and each branch as well or contiguous ones.
    pub(crate) fn of(dtype: DType, axes: &Axes, operands: [(usize, usize); 3]) -> Option<SelectCall> {
        let (width, &[0, a @ (0 | 1), b @ (0 | 1)]) = axes.axis(0)? else { return None };
        let (over, rows) = RowAxes::of(axes)?;
        let bank = bank_of(dtype);
        if width.saturating_mul(bytes(bank)) < SHORTEST_ROW || width.saturating_mul(rows) > MOST {
            return None;
        }
        let operand = |place: usize, step: i64| {
            let (input, offset) = operands[place];
            SelectOperand { input, offset, one: step == 0 }
        };
        let branches = [operand(1, a), operand(2, b)];
        Some(SelectCall { bank, width, condition: operand(0, 0), branches, axes: over })
    }

    /// Computes the call.
    pub(crate) fn run(&self, inputs: &[Input<'_>], output: &mut Output<'_>) {
        by_bank!(self.bank, T => self.copy::<T>(inputs, output));
    }

    fn copy<T: Stored + Copy>(&self, inputs: &[Input<'_>], output: &mut Output<'_>) {
        let conditions = bool::input(&inputs[self.condition.input]);
        let branches = self.branches.map(|branch| T::input(&inputs[branch.input]));
        let starts = [self.condition.offset, self.branches[0].offset, self.branches[1].offset];
        let mut rows = T::output(output).chunks_exact_mut(self.width);
        self.axes.each(starts, |[condition, chosen, other]| {
            let Some(out) = rows.next() else { return };
            let (which, start) = if conditions[condition] { (0, chosen) } else { (1, other) };
            match self.branches[which].one {
                true => out.fill(branches[which][start]),
                false => out.copy_from_slice(&branches[which][start..start + out.len()]),
            }
        });
    }
}
