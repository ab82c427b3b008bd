//! One call of different operands over one tile, which is what most small requests are: it needs no program, no registers
//! and no cursor, so that planning it takes little more than deciding whether its operands go together.

use crate::arch::{Scalars, Table};
use crate::buffers::{Input, Output, Stored};
use crate::execute::by_bank;
use crate::fill::fill;
use crate::program::{bank_of, is_comparison, is_slow};
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
