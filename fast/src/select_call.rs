//! A `select` by a condition with one value for each row, such as a mask of rows: in each row, all elements
//! are those of the same operand, so they are copied from there.
//!
//! Otherwise the conditions are expanded into one for each element, which takes longer than the copies
//! (`benches/expressions`).
#![deny(clippy::wildcard_enum_match_arm)]

use crate::buffers::{Input, Output, Stored};
use crate::dispatch::by_bank;
use crate::parallel::by_rows;
use crate::program::{bank_of, bytes};
use crate::rows::{MOST, RowAxes};
use crate::scratch::Bank;
use crate::tiling::Axes;
use broadcheck_spec::DType;
use std::ops::Range;

/// The bytes of the shortest row that is copied. A copy takes some 4 ns, and to expand the conditions of
/// shorter rows takes less. (On an AMD EPYC, rows of 80 to 1,000 bytes take 0.45 to 0.9 of the time that
/// expanding takes, rows of 32 0.65 to 1.1, and shorter rows of f32 and u8 up to 1.4.)
const SHORTEST_ROW: usize = 32;

/// The same for results of more than [`MOST`] elements, which threads share. (On one thread of an AMD EPYC,
/// 1000x1000 takes 0.85 of the time in f64 and 0.54 in f32, and 2000x2000 0.9. Shorter rows of such results
/// were not measured, nor was this on Intel.)
const SHORTEST_ROW_OF_LARGE: usize = 4000;

/// A `select` over rows.
#[derive(Debug)]
pub(crate) struct SelectCall {
    bank: Bank,
    width: usize,
    condition: SelectOperand,
    /// What is copied if the condition holds, and otherwise.
    branches: [SelectOperand; 2],
    axes: RowAxes<3>,
    /// The rows, along one axis, if threads share them because there are many elements.
    shared: Option<usize>,
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
    /// condition has one value in each row, and each branch as well or contiguous ones. `None` if rows are
    /// too short, or if a large result has more than one axis over the rows.
    pub(crate) fn of(dtype: DType, axes: &Axes, operands: [(usize, usize); 3]) -> Option<SelectCall> {
        let (width, &[0, a @ (0 | 1), b @ (0 | 1)]) = axes.axis(0)? else { return None };
        let (over, rows) = RowAxes::of(axes)?;
        let bank = bank_of(dtype);
        let shared = (width.saturating_mul(rows) > MOST).then_some(rows);
        let shortest = if shared.is_some() { SHORTEST_ROW_OF_LARGE } else { SHORTEST_ROW };
        if width.saturating_mul(bytes(bank)) < shortest || shared.is_some() && !over.are_one() {
            return None;
        }
        let operand = |place: usize, step: i64| {
            let (input, offset) = operands[place];
            SelectOperand { input, offset, one: step == 0 }
        };
        let branches = [operand(1, a), operand(2, b)];
        Some(SelectCall { bank, width, condition: operand(0, 0), branches, axes: over, shared })
    }

    /// Computes the call.
    pub(crate) fn run(&self, inputs: &[Input<'_>], output: &mut Output<'_>) {
        by_bank!(self.bank, T => self.copy::<T>(inputs, output));
    }

    fn copy<T: Stored + Copy>(&self, inputs: &[Input<'_>], output: &mut Output<'_>) {
        let conditions = bool::input(&inputs[self.condition.input]);
        let branches = self.branches.map(|branch| T::input(&inputs[branch.input]));
        let copy = |out: &mut [T], [condition, chosen, other]: [usize; 3]| {
            let (which, start) = if conditions[condition] { (0, chosen) } else { (1, other) };
            match self.branches[which].one {
                true => out.fill(branches[which][start]),
                false => out.copy_from_slice(&branches[which][start..start + out.len()]),
            }
        };
        let starts = [self.condition.offset, self.branches[0].offset, self.branches[1].offset];
        if let Some(count) = self.shared {
            let some = |rows: Range<usize>, mut output: Output<'_>| {
                let out = T::output(&mut output).chunks_exact_mut(self.width);
                self.axes.rows(starts, rows).zip(out).for_each(|(positions, out)| copy(out, positions));
            };
            return by_rows((count, self.width), 1, output.all(), &some);
        }
        let mut rows = T::output(output).chunks_exact_mut(self.width);
        self.axes.each(starts, |positions| {
            let Some(out) = rows.next() else { return };
            copy(out, positions);
        });
    }
}

#[cfg(test)]
mod tests {
    use broadcheck_spec::{Data, Expression, Function, Operand, Operation, Request, Rules};

    /// The route and the result of a `select` of bytes by a condition for each row. It takes every second row
    /// from `a`, which is read backwards, and the others from `b`, which has one row.
    fn selected(rows: usize, width: usize) -> (&'static str, Vec<u8>) {
        let byte = |at: usize| u8::try_from(at % 251).unwrap();
        let conditions: Vec<bool> = (0..rows).map(|row| row % 2 == 0).collect();
        let backwards = Some(vec![-i64::try_from(width).unwrap(), 1]);
        let a: Vec<u8> = (0..rows * width).map(byte).collect();
        let b: Vec<u8> = (0..width).map(|at| byte(at + 7)).collect();
        let operands = vec![
            Operand::dense("c", [rows, 1], conditions).unwrap(),
            Operand::view("a", [rows, width], a, backwards, (rows - 1) * width).unwrap(),
            Operand::dense("b", [width], b).unwrap(),
        ];
        let expression = Expression::call(Function::Select, [0, 1, 2].map(Expression::operand)).unwrap();
        let request = Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap();
        let plan = crate::Plan::new(&request).unwrap();
        let result = plan.run(&crate::plan::inputs(&request)).unwrap();
        let Data::U8(values) = result.values().clone() else { panic!("the result is not u8") };
        (plan.route_name(), values)
    }

    /// Threads share the rows of a large result, unless they are short or over several axes.
    #[test]
    fn rows_of_large_results_are_copied() {
        for (rows, width, way) in
            [(40, 130, "select of rows"), (151, 4000, "select of rows"), (2000, 400, "tiles")]
        {
            let (found, values) = selected(rows, width);
            assert_eq!(found, way, "{rows}x{width}");
            for (at, &value) in values.iter().enumerate() {
                let (row, column) = (at / width, at % width);
                let place = if row % 2 == 0 { (rows - 1 - row) * width + column } else { column + 7 };
                assert_eq!(usize::from(value), place % 251, "{rows}x{width}: element {at}");
            }
        }
        let branch =
            |name, shape: &[usize]| Operand::dense(name, shape, vec![1u8; shape.iter().product()]).unwrap();
        let condition = Operand::dense("c", [13, 13, 1], vec![true; 169]).unwrap();
        let operands = vec![condition, branch("a", &[13, 13, 4000]), branch("b", &[13, 1, 4000])];
        let expression = Expression::call(Function::Select, [0, 1, 2].map(Expression::operand)).unwrap();
        let request = Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap();
        assert_eq!(crate::Plan::new(&request).unwrap().route_name(), "tiles");
    }
}
