//! One call of different operands over one tile, which is what most small requests are: it needs no program, no registers
//! and no cursor, so that planning it takes little more than deciding whether its operands go together. One chain over one
//! tile, which reads its operands where they stand: of a program it has the links alone. And one call over many tiles of which an operand is repeated under a short inner axis: it is one step, which brings nothing together.

use crate::Level;
use crate::arch::{ChainOp, Link, MOST, Pairing, Repeat, Scalars, Table};
use crate::buffers::{Input, Output, Stored};
use crate::execute::{Links, Run, by_bank};
use crate::fill::fill;
use crate::program::{Program, Source, Step, Target, Work, bank_of, is_comparison, is_slow};
use crate::scratch::{BankOf, Lane, MAX_BLOCK};
use crate::tiling::{Kind, Tiling};
use broadcheck_spec::{DType, Expression, Function, Node, Operand};
use smallvec::SmallVec;
use std::ops::Range;

/// The most elements of a tile into which an operand is gathered without registers.
const FEW: usize = 64;

/// The function of an expression that is one call, and its arguments, where those are different operands, and one kernel
/// does the whole.
#[inline]
pub(crate) fn call<'a>(expression: &'a Expression, operands: &[Operand]) -> Option<(Function, &'a [Node])> {
    let (Node::Call(call), arguments) = expression.nodes().split_last()? else { return None };
    let first = match arguments {
        // mutant: delete match arm [Node::Operand(a)]: costs time only; the call goes through the tiles
        [Node::Operand(a)] => a,
        [Node::Operand(a), Node::Operand(b)] if a != b => a,
        _ => return None,
    };
    let is_half = matches!(operands[*first].dtype(), DType::F16 | DType::Bf16);
    (!is_half && !is_slow(call.function())).then_some((call.function(), arguments))
}

/// Whether a tiling is small enough to be run by [`run`].
#[inline]
pub(crate) fn is_small(tiling: &Tiling) -> bool {
    let gathers = tiling.accesses.iter().any(|access| access.kind == Kind::Gather);
    // Of nothing but scalars there would be one element.
    let scalars = tiling.accesses.iter().all(|access| access.kind == Kind::Splat);
    !scalars && tiling.full <= if gathers { FEW } else { MAX_BLOCK }
}

/// Computes a call over a tiling of one tile; `used` are the operands of its accesses.
pub(crate) fn run(
    function: Function,
    table: &Table,
    tiling: &Tiling,
    used: &[u32],
    inputs: &[Input<'_>],
    output: Output<'_>,
) {
    let Some(first) = used.first() else { return };
    by_bank!(bank_of(inputs[*first as usize].dtype()), T => {
        compute::<T>(function, table, tiling, |access| T::input(&inputs[used[access] as usize]), output);
    });
}

#[inline]
fn compute<'a, T: Lane>(
    function: Function,
    table: &Table,
    tiling: &Tiling,
    source: impl Fn(usize) -> &'a [T],
    mut output: Output<'_>,
) {
    let kernels = T::kernels(table);
    let (mut first, mut second);
    let a = match standing(tiling, 0, source(0)) {
        Some(a) => a,
        None => {
            first = [T::default(); FEW];
            gathered(tiling, 0, source(0), &mut first)
        }
    };
    if tiling.accesses.len() == 1 {
        if let Some(kernel) = kernels.unary(function) {
            kernel.run(a, T::output(&mut output));
        }
        return;
    }
    let b = match standing(tiling, 1, source(1)) {
        Some(b) => b,
        None => {
            second = [T::default(); FEW];
            gathered(tiling, 1, source(1), &mut second)
        }
    };
    let scalars = match (tiling.accesses[0].kind, tiling.accesses[1].kind) {
        (_, Kind::Splat) => Scalars::Second,
        (Kind::Splat, _) => Scalars::First,
        _ => Scalars::Neither,
    };
    if is_comparison(function) {
        if let Some(kernel) = kernels.comparison(function, scalars) {
            kernel.run(a, b, bool::output(&mut output));
        }
    } else if let Some(kernel) = kernels.binary(function, scalars) {
        kernel.run(a, b, T::output(&mut output));
    }
}

/// The elements of an operand under the tile, where they can be read as they stand.
#[inline]
fn standing<'a, T>(tiling: &Tiling, access: usize, source: &'a [T]) -> Option<&'a [T]> {
    let lies = &tiling.accesses[access];
    match lies.kind {
        Kind::Direct => Some(&source[lies.offset..lies.offset + tiling.full]),
        Kind::Splat => Some(&source[lies.offset..=lies.offset]),
        Kind::Gather => None,
    }
}

/// The elements of an operand under the tile, brought together.
#[inline]
fn gathered<'a, T: Copy>(tiling: &Tiling, access: usize, source: &[T], places: &'a mut [T; FEW]) -> &'a [T] {
    let places = &mut places[..tiling.full];
    fill(source, tiling.accesses[access].offset, tiling.pattern(access), places, |value| value);
    places
}

/// The chain that a program is, where it is nothing else: its bank, its first argument and its links.
#[inline]
pub(crate) fn whole_chain(program: &Program) -> Option<(BankOf, Source, Range<usize>)> {
    match program.steps[..] {
        [Step { work: Work::Chain { bank, first, start, end }, target: Target::Output, .. }] => {
            Some((bank, first, start as usize..end as usize))
        }
        _ => None,
    }
}

/// Computes such a chain over a tiling of one tile.
pub(crate) fn run_chain(
    run: &Run<'_>,
    (bank, first, links): (BankOf, Source, Range<usize>),
    output: Output<'_>,
) {
    match bank {
        BankOf::F64 => chain::<f64>(run, first, links, output),
        _ => chain::<f32>(run, first, links, output),
    }
}

fn chain<T: Lane>(run: &Run<'_>, first: Source, links: Range<usize>, mut output: Output<'_>) {
    let first = link::<T>(run, ChainOp::Add, Some(first));
    let mut given: Links<'_, T> = SmallVec::new();
    for &(op, source) in &run.program.links[links] {
        given.push(link(run, op, source));
    }
    if let Some(parts) = T::kernels(run.table).float() {
        parts.chain.run(first, &mut given, 1, T::output(&mut output));
    }
}

/// A link with its argument, which is an operand where it has one: no step has written to a register.
#[inline(always)]
fn link<'a, T: Lane>(run: &Run<'a>, op: ChainOp, source: Option<Source>) -> Link<'a, T> {
    let Some(Source::Operand { access, scalar }) = source else {
        return Link { op, values: &[], step: 0, scalar: true };
    };
    let start = run.tiling.accesses[access as usize].offset;
    let count = if scalar { 1 } else { run.tiling.last };
    let operand = &run.inputs[run.used[access as usize] as usize];
    Link { op, values: &T::input(operand)[start..start + count], step: 0, scalar }
}

/// The step that is a call of two operands, where one of them lies as the result does and the other is repeated under a
/// short inner axis; or, for a result that is stored past the caches, lies so too, or is one value. `dtype` is theirs.
pub(crate) fn pair(function: Function, dtype: DType, tiling: &Tiling, stream: bool) -> Option<Work> {
    let (whole, part) = match (tiling.accesses.first()?.kind, tiling.accesses.get(1)?.kind) {
        (Kind::Direct, _) => (0, 1),
        (_, Kind::Direct) => (1, 0),
        _ => return None,
    };
    let repeat = match *tiling.pattern(part as usize) {
        [(_, 1)] if stream => Repeat::Each(1),
        [(_, 0)] if stream => Repeat::All(1),
        [(_, 1), (times @ 2..=MOST, 0)] => Repeat::Each(times),
        [(_, 0), (period @ 2..=MOST, 1)] => Repeat::All(period),
        _ => return None,
    };
    let pairing = Pairing::of(function, part)?;
    let bank = match dtype {
        DType::F64 => BankOf::F64,
        DType::F32 => BankOf::F32,
        _ => return None,
    };
    Some(Work::Pair { pairing, bank, whole, part, repeat })
}

/// Whether [`pair`] is the faster way: permutations are, and stores past the caches need them.
pub(crate) fn is_worth(work: &Work, level: Level, stream: bool) -> bool {
    // mutant: replace && with ||: costs time only; a function of two goes through registers
    level == Level::Avx512 || !stream && matches!(work, Work::Pair { repeat: Repeat::Each(_), .. })
}
