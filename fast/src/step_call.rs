//! A result of one tile that is one chain with numbers among its arguments, one choice, or one call with an
//! operand that is repeated along a short inner axis: many a gradient by an operand that is not stretched,
//! `select(c, x, y)`, a rectifier or (n,3) + (3). Everything but the addresses of the buffers is decided when
//! it is planned, so a run is one call of a kernel. The loops over tiles and steps took at least a fifth of
//! the time of the gradient of a `select` over 1,024 elements.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::arch::{CallKernel, ChainKind, ChainOp, Pairing, Repeat, Rule, Table};
use crate::buffers::{Input, Output};
use crate::dispatch::by_float_bank;
use crate::execute::Links;
use crate::fold::Place;
use crate::given::{Find, Given, GivenLinks, Numbers, RunArguments};
use crate::program::{Program, Source, Target, Work};
use crate::scratch::{BankCall, Float, FloatBank};
use crate::tiling::Tiling;

/// A step.
#[derive(Debug)]
pub(crate) struct StepCall {
    bank: FloatBank,
    /// The numbers among the arguments.
    numbers: Numbers,
    value: Value,
}

/// What is computed.
#[derive(Debug)]
enum Value {
    Chain { kind: ChainKind, first: Given, links: GivenLinks },
    Choice { rule: Rule, arguments: [Given; 5] },
    Select { kernel: BankCall, condition: Place, branches: [Given; 2] },
    Pair { pairing: Pairing, whole: Place, part: Place, repeat: Repeat },
}

impl StepCall {
    /// The step that a program is over a tiling of one tile. `used` are the operands of the accesses.
    pub(crate) fn of_program(program: &Program, tiling: &Tiling, used: &[u32]) -> Option<StepCall> {
        let (last, before) = program.steps.split_last()?;
        let count = tiling.only().filter(|_| last.target == Target::Output)?;
        let mut find = Find::new(before, tiling, used, (1, count))?;
        let (bank, value) = value(&mut find, &last.work, program)?;
        Some(StepCall { bank, numbers: find.numbers, value })
    }

    /// Whether it is a call with a repeated operand.
    pub(crate) fn is_pair(&self) -> bool {
        matches!(self.value, Value::Pair { .. })
    }

    /// Computes the result.
    pub(crate) fn run(&self, table: &Table, inputs: &[Input<'_>], output: &mut Output<'_>) {
        by_float_bank!(self.bank, T => self.compute::<T>(table, inputs, output));
    }

    #[inline(always)]
    fn compute<T: Float>(&self, table: &Table, inputs: &[Input<'_>], output: &mut Output<'_>) {
        let arguments = RunArguments::<T>::new(&self.numbers, inputs);
        let (kernels, out) = (T::float_kernels(table), T::output(output));
        match &self.value {
            Value::Chain { kind, first, links } => {
                let first = arguments.link(ChainOp::Add, first);
                let mut given: Links<'_, T> = Links::new();
                for (op, argument) in links {
                    given.push(arguments.link(*op, argument));
                }
                // What one tile reads is in the caches.
                T::kernels(table).chains().of(*kind).run(&first, (&mut given, false), 1, out);
            }
            Value::Choice { rule, arguments: given } => {
                kernels.choose.run(*rule, &arguments.each(given), 1, None, out);
            }
            Value::Select { kernel, condition, branches } => {
                let [chosen, other] = arguments.each(branches).map(|branch| branch.values);
                let condition = arguments.operand::<bool>(condition);
                let Some(CallKernel::Select(kernel)) = T::from_bank(*kernel) else {
                    unreachable!("the kernel is that of a select of the same bank")
                };
                kernel.run(condition.values, chosen, other, out);
            }
            Value::Pair { pairing, whole, part, repeat } => {
                let [whole, part] = [whole, part].map(|place| arguments.operand(place).values);
                kernels.paired.run(*pairing, whole, part, *repeat, None, out);
            }
        }
    }
}

/// The bank and the value of a step.
fn value(find: &mut Find<'_>, work: &Work, program: &Program) -> Option<(FloatBank, Value)> {
    if let Work::Chain { bank, first, start, end, width: 0 } = *work {
        let links = find.links(&program.links[start as usize..end as usize])?;
        let kind = ChainKind::of(links.iter().map(|&(op, _)| op));
        return Some((FloatBank::of(bank)?, Value::Chain { kind, first: find.given(first)?, links }));
    }
    if let Work::Choose { rule, bank, arguments } = *work {
        return Some((bank, Value::Choice { rule, arguments: find.each(arguments)? }));
    }
    if let Work::Pair { pairing, bank, whole, part, repeat } = *work {
        let whole = find.operand(Source::Operand { access: whole, scalar: false })?;
        return Some((bank, Value::Pair { pairing, whole, part: find.repeated(part, repeat), repeat }));
    }
    let Work::Call { kernel, arguments: [condition, chosen, other] } = *work else { return None };
    let bank = if let BankCall::F64(CallKernel::Select(_)) = kernel {
        FloatBank::F64
    } else if let BankCall::F32(CallKernel::Select(_)) = kernel {
        FloatBank::F32
    } else {
        return None;
    };
    // The kernel is for a condition of as many values as the tile has.
    let condition = find.operand(condition).filter(|condition| !condition.scalar)?;
    Some((bank, Value::Select { kernel, condition, branches: find.each([chosen, other])? }))
}
