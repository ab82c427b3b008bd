//! A gradient of one tile that is one sum: of a chain, or of choices. Everything but the addresses of the
//! buffers is decided when it is planned, so a run is one call of a kernel. The loops over tiles and steps
//! took more than a third of the time of x*y over 1,024 elements.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::arch::{Argument, ChainOp, Comparison, Link, Reduction, Table};
use crate::buffers::{Input, Output};
use crate::dispatch::by_float_bank;
use crate::execute::{Links, reduction};
use crate::fold::Argument as Operand;
use crate::inline_capacity::LINKS;
use crate::program::{Program, Source, Step, Target, Work};
use crate::scratch::{Float, FloatBank};
use crate::tiling::Tiling;
use smallvec::SmallVec;
use std::ops::Range;

/// A sum.
#[derive(Debug)]
pub(crate) struct SumCall {
    bank: FloatBank,
    /// The numbers among the arguments.
    numbers: SmallVec<[f64; NUMBERS]>,
    summed: Summed,
    reduction: Reduction,
    /// The elements of the gradient to which it is added.
    sums: Range<usize>,
}

/// Numbers of a sum that needs no allocation.
const NUMBERS: usize = 2;

/// What is added up.
#[derive(Debug)]
enum Summed {
    Chain { first: Given, links: SmallVec<[(ChainOp, Given); LINKS]> },
    Choice { comparison: Comparison, arguments: [Given; 4] },
    Select { condition: Operand, branches: [Given; 2] },
}

/// An argument: an operand, or one of the numbers.
#[derive(Clone, Copy, Debug)]
enum Given {
    Operand(Operand),
    Number(usize),
}

impl SumCall {
    /// The sum that a program is over a tiling of one tile. `used` are the operands of the accesses.
    pub(crate) fn of_program(program: &Program, tiling: &Tiling, used: &[u32]) -> Option<SumCall> {
        let (last, numbers) = program.steps.split_last()?;
        let (bank, onto) = last.work.sum()?;
        if tiling.tiles != 1 {
            return None;
        }
        let (rows, width) = onto.rows(tiling.full);
        let mut find = Find { steps: numbers, numbers: SmallVec::new(), tiling, used, rows, width };
        let summed = find.summed(&last.work, program)?;
        let (reduction, count) = reduction(tiling, onto, (rows, width));
        let start = tiling.accesses[onto.access as usize].offset;
        Some(SumCall { bank, numbers: find.numbers, summed, reduction, sums: start..start + count })
    }

    /// Adds to the gradient.
    pub(crate) fn run(&self, table: &Table, inputs: &[Input<'_>], output: &mut Output<'_>) {
        by_float_bank!(self.bank, T => self.compute::<T>(table, inputs, output));
    }

    #[inline(always)]
    fn compute<T: Float>(&self, table: &Table, inputs: &[Input<'_>], output: &mut Output<'_>) {
        let mut numbers: SmallVec<[T; NUMBERS]> = SmallVec::new();
        for &number in &self.numbers {
            numbers.push(T::of_number(number));
        }
        let argument = |given: Given| match given {
            Given::Operand(at) => {
                Argument { values: at.values::<T>(inputs), step: at.step, scalar: at.scalar }
            }
            Given::Number(at) => Argument { values: &numbers[at..=at], step: 0, scalar: true },
        };
        let link = |op: ChainOp, given: Given| {
            let Argument { values, step, scalar } = argument(given);
            Link { op, values, step, scalar }
        };
        let (kernels, sums) = (T::float_kernels(table), &mut T::output(output)[self.sums.clone()]);
        match &self.summed {
            &Summed::Chain { first, ref links } => {
                let first = link(ChainOp::Add, first);
                let mut given: Links<'_, T> = SmallVec::new();
                for &(op, argument) in links {
                    given.push(link(op, argument));
                }
                kernels.chain_sum.run(&first, (&mut given, false), self.reduction, sums);
            }
            &Summed::Choice { comparison, arguments } => {
                kernels.choice_sum.run(comparison, (arguments.map(argument), false), self.reduction, sums);
            }
            Summed::Select { condition: at, branches } => {
                let condition =
                    Argument { values: at.values::<bool>(inputs), step: at.step, scalar: at.scalar };
                kernels.select_sum.run(condition, (branches.map(argument), false), self.reduction, sums);
            }
        }
    }
}

/// Finds the arguments of a step.
struct Find<'a> {
    /// The steps before it, all of which must be numbers.
    steps: &'a [Step],
    /// The numbers that have been found.
    numbers: SmallVec<[f64; NUMBERS]>,
    tiling: &'a Tiling,
    used: &'a [u32],
    rows: usize,
    width: usize,
}

impl Find<'_> {
    fn summed(&mut self, work: &Work, program: &Program) -> Option<Summed> {
        if !self.steps.iter().all(|step| matches!(step.work, Work::Constant { .. })) {
            return None;
        }
        if let Work::ChainSum { first, start, end, .. } = *work {
            let mut links = SmallVec::new();
            for &(op, source) in &program.links[start as usize..end as usize] {
                let given = match source {
                    Some(source) => self.given(source)?,
                    None => Given::Operand(Operand::NONE),
                };
                links.push((op, given));
            }
            return Some(Summed::Chain { first: self.given(first)?, links });
        }
        if let Work::ChoiceSum { comparison, arguments: [x, limit, chosen, other], .. } = *work {
            let arguments = [self.given(x)?, self.given(limit)?, self.given(chosen)?, self.given(other)?];
            return Some(Summed::Choice { comparison, arguments });
        }
        if let Work::SelectSum { condition, branches: [then, other], .. } = *work {
            let branches = [self.given(then)?, self.given(other)?];
            return Some(Summed::Select { condition: self.operand(condition)?, branches });
        }
        None
    }

    fn given(&mut self, source: Source) -> Option<Given> {
        let Source::Scalar(register) = source else { return self.operand(source).map(Given::Operand) };
        let is_source = |step: &&Step| step.target == Target::Scalar(register);
        let Work::Constant { bits, .. } = self.steps.iter().find(is_source)?.work else { return None };
        self.numbers.push(f64::from_bits(bits));
        Some(Given::Number(self.numbers.len() - 1))
    }

    fn operand(&self, source: Source) -> Option<Operand> {
        let (access, scalar, step) = match source {
            Source::Operand { access, scalar } => (access, scalar, if scalar { 0 } else { self.width }),
            Source::Rows { access, scalar } => {
                (access, scalar, usize::try_from(self.tiling.pattern(access as usize)[0].1).ok()?)
            }
            Source::Vector(_) | Source::Panel(_) | Source::Scalar(_) => return None,
        };
        let offset = self.tiling.accesses[access as usize].offset;
        Some(Operand::new(self.used[access as usize], offset, scalar, step, (self.rows, self.width)))
    }
}
