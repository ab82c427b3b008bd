//! A nested expression over rows, in each of which every operand is contiguous or one value. Everything but
//! the addresses of the buffers is decided when it is planned, so a run is one call of a kernel. (The loops
//! over tiles and steps took up to a fifth of the time of 1,000 elements.)
#![deny(clippy::wildcard_enum_match_arm)]

use crate::arch::{Argument, NestedProgram, NestedResult, Table};
use crate::buffers::{Input, Output, Stored};
use crate::dispatch::by_float_bank;
use crate::execute::NestedArguments;
use crate::fold::{Place, place_of, rows_of};
use crate::given::{Find, Given, Numbers, RunArguments};
use crate::inline_capacity::OPERANDS;
use crate::parallel::is_short;
use crate::program::{Program, Source, Target, Work};
use crate::scratch::{Float, FloatBank};
use crate::tiling::Tiling;
use smallvec::SmallVec;

/// The steps that a nested expression is as long as.
const STEPS: usize = 8;

/// A nested expression.
#[derive(Debug)]
pub(crate) struct NestedCall {
    bank: FloatBank,
    rows: usize,
    /// The numbers among the values that it reads.
    numbers: Numbers,
    program: NestedProgram,
    /// Whether the result is that of a condition.
    is_condition: bool,
    values: SmallVec<[Given; OPERANDS]>,
    bools: SmallVec<[Place; 1]>,
}

impl NestedCall {
    /// The call that a program is over a tiling, if it is one and is too short for several threads. `used`
    /// are the operands of the accesses.
    pub(crate) fn of_program(program: &Program, tiling: &Tiling, used: &[u32]) -> Option<NestedCall> {
        let (last, before) = program.steps.split_last()?;
        let Work::Nested { bank, which } = last.work else { return None };
        let nested = &program.nested[which as usize];
        let count = tiling.tiles.checked_mul(tiling.full)?;
        if last.target != Target::Output || !is_short(count, STEPS, 0) {
            return None;
        }
        let shape = rows_of(tiling)?;
        let mut find = Find::new(before, tiling, used, shape)?;
        let operand = |source: Source| place_of(source, tiling, used, shape);
        let mut values = SmallVec::new();
        for &source in &nested.values {
            let is_number = matches!(source, Source::Scalar(_));
            values.push(if is_number { find.given(source)? } else { Given::Operand(operand(source)?) });
        }
        let mut bools = SmallVec::new();
        for &source in &nested.bools {
            bools.push(operand(source)?);
        }
        let (program, is_condition) = (nested.program.clone(), nested.is_condition);
        Some(NestedCall { bank, rows: shape.0, numbers: find.numbers, program, is_condition, values, bools })
    }

    /// Computes the call.
    pub(crate) fn run(&self, table: &Table, inputs: &[Input<'_>], output: &mut Output<'_>) {
        by_float_bank!(self.bank, T => self.compute::<T>(table, inputs, output));
    }

    #[inline(always)]
    fn compute<T: Float>(&self, table: &Table, inputs: &[Input<'_>], output: &mut Output<'_>) {
        let arguments = RunArguments::<T>::new(&self.numbers, inputs);
        let mut values: NestedArguments<'_, T> = SmallVec::new();
        for given in &self.values {
            let Argument { values: found, step, scalar } = arguments.get(given);
            values.push(Argument { values: found, step, scalar });
        }
        let mut bools: NestedArguments<'_, bool> = SmallVec::new();
        for place in &self.bools {
            bools.push(arguments.operand(place));
        }
        let out = if self.is_condition {
            NestedResult::Conditions(bool::output(output))
        } else {
            NestedResult::Numbers(T::output(output))
        };
        T::float_kernels(table).nested.run(&self.program, (&values, &bools), self.rows, out);
    }
}
