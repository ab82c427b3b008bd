//! One call of different operands over one tile, which is what most small requests are: it needs no program, no registers
//! and no cursor, so that planning it takes little more than deciding whether its operands go together. And one call over
//! many tiles of which an operand is repeated under a short inner axis: it is one step, which brings nothing together.

use crate::Level;
use crate::arch::{MOST, Pairing, Repeat, Scalars, Table};
use crate::buffers::{Input, Output, Stored};
use crate::execute::by_bank;
use crate::fill::fill;
use crate::program::{Work, bank_of, is_comparison, is_slow};
use crate::scratch::{BankOf, Lane, MAX_BLOCK};
use crate::tiling::{Kind, Tiling};
use broadcheck_spec::{DType, Expression, Function, Node, Operand};

/// The most elements of a tile into which an operand is gathered without registers.
const FEW: usize = 64;

/// The function of an expression that is one call, and its arguments, where those are different operands, and one kernel
/// does the whole.
#[inline]
pub(crate) fn call<'a>(expression: &'a Expression, operands: &[Operand]) -> Option<(Function, &'a [Node])> {
    let (Node::Call(call), arguments) = expression.nodes().split_last()? else { return None };
    let first = match arguments {
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
    level == Level::Avx512 || !stream && matches!(work, Work::Pair { repeat: Repeat::Each(_), .. })
}
