//! A gradient of one tile that is one sum: of a chain, or of choices. Everything but the addresses of the
//! buffers is decided when it is planned, so a run is one call of a kernel. The loops over tiles and steps
//! took more than a third of the time of x*y over 1,024 elements.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::arch::{ChainOp, Comparison, Reduction, Table};
use crate::buffers::{Input, Output};
use crate::dispatch::by_float_bank;
use crate::execute::{Links, reduction};
use crate::fold::Place;
use crate::given::{Find, Given, GivenLinks, Numbers, RunArguments};
use crate::program::{Program, Work};
use crate::scratch::{Float, FloatBank};
use crate::tiling::Tiling;
use std::ops::Range;

/// A sum.
#[derive(Debug)]
pub(crate) struct SumCall {
    bank: FloatBank,
    /// The numbers among the arguments.
    numbers: Numbers,
    summed: Summed,
    reduction: Reduction,
    /// The elements of the gradient to which it is added.
    sums: Range<usize>,
}

/// What is added up.
#[derive(Debug)]
enum Summed {
    Chain { first: Given, links: GivenLinks, has_function: bool },
    Choice { comparison: Comparison, arguments: [Given; 4] },
    Select { condition: Place, branches: [Given; 2] },
}

impl SumCall {
    /// The sum that a program is over a tiling of one tile. `used` are the operands of the accesses.
    pub(crate) fn of_program(program: &Program, tiling: &Tiling, used: &[u32]) -> Option<SumCall> {
        let (last, before) = program.steps.split_last()?;
        let (bank, onto) = last.work.sum()?;
        let rows = onto.rows(tiling.only()?);
        let mut find = Find::new(before, tiling, used, rows)?;
        let summed = summed(&mut find, &last.work, program)?;
        let (reduction, count) = reduction(tiling, onto, rows);
        let start = tiling.accesses[onto.access as usize].offset;
        Some(SumCall { bank, numbers: find.numbers, summed, reduction, sums: start..start + count })
    }

    /// Adds to the gradient.
    pub(crate) fn run(&self, table: &Table, inputs: &[Input<'_>], output: &mut Output<'_>) {
        by_float_bank!(self.bank, T => self.compute::<T>(table, inputs, output));
    }

    #[inline(always)]
    fn compute<T: Float>(&self, table: &Table, inputs: &[Input<'_>], output: &mut Output<'_>) {
        let arguments = RunArguments::<T>::new(&self.numbers, inputs);
        let (kernels, sums) = (T::float_kernels(table), &mut T::output(output)[self.sums.clone()]);
        match &self.summed {
            Summed::Chain { first, links, has_function } => {
                let first = arguments.link(ChainOp::Add, first);
                let mut given: Links<'_, T> = Links::new();
                for (op, argument) in links {
                    given.push(arguments.link(*op, argument));
                }
                kernels.chain_sum(*has_function).run(&first, (&mut given, false), self.reduction, sums);
            }
            Summed::Choice { comparison, arguments: given } => {
                kernels.choice_sum.run(*comparison, (arguments.each(given), false), self.reduction, sums);
            }
            Summed::Select { condition, branches } => {
                let condition = arguments.operand::<bool>(condition);
                kernels.select_sum.run(condition, (arguments.each(branches), false), self.reduction, sums);
            }
        }
    }
}

fn summed(find: &mut Find<'_>, work: &Work, program: &Program) -> Option<Summed> {
    if let Work::ChainSum { first, start, end, .. } = *work {
        let links = find.links(&program.links[start as usize..end as usize])?;
        let has_function = links.iter().any(|&(op, _)| op.is_function());
        return Some(Summed::Chain { first: find.given(first)?, links, has_function });
    }
    if let Work::ChoiceSum { comparison, arguments, .. } = *work {
        return Some(Summed::Choice { comparison, arguments: find.each(arguments)? });
    }
    if let Work::SelectSum { condition, branches, .. } = *work {
        return Some(Summed::Select { condition: find.operand(condition)?, branches: find.each(branches)? });
    }
    None
}
