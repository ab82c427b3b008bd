//! Requests that are computed in one tile without registers, program steps or a cursor, which is what most
//! small requests are: a single call, and a single chain. Planning a call takes little longer than deciding
//! whether its operands can be broadcast together.

use crate::arch::{CallKernel, ChainOp, Link, Table};
use crate::buffers::{Input, Output, Stored};
use crate::dispatch::{by_call, by_float_bank};
use crate::execute::{Links, Run};
use crate::fill::fill;
use crate::math::MathFunction;
use crate::program::{Half, Program, Source, Step, Target, Work, bank_of, kernel};
use crate::scratch::{BankCall, Float, FloatBank, Lane};
use crate::tiling::{Access, AccessKind, Tiling};
use broadcheck_spec::{DType, Expression, Function, Node};
use smallvec::SmallVec;
use std::ops::Range;

/// The most elements of a tile into which an operand is gathered without registers.
pub(crate) const MAX_GATHERED: usize = 64;

/// The most elements of a tile whose operands are read in place, in the first-level cache or the second.
pub(crate) const MAX_IN_PLACE: usize = 32 << 10;

/// Axes in the patterns of a call's operands.
pub(crate) const READ_AXES: usize = 4;

/// A call of one or two different operands over one tile.
#[derive(Debug)]
pub(crate) struct SingleCall {
    kernel: BankCall,
    /// The elements of the tile.
    count: usize,
    /// The operands. Of a call of one operand, only the first is read.
    reads: [Read; 2],
}

/// How an operand is read.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// Its index among the inputs.
    pub(crate) operand: usize,
    /// The position of its first element.
    pub(crate) offset: usize,
    pub(crate) kind: AccessKind,
    /// The lengths and strides of its axes, outermost first, if it is gathered.
    pub(crate) pattern: SmallVec<[(usize, i64); READ_AXES]>,
}

impl Default for Read {
    fn default() -> Read {
        Read { operand: 0, offset: 0, kind: AccessKind::Direct, pattern: SmallVec::new() }
    }
}

impl Read {
    /// How an access of a tiling reads its operand.
    fn of(tiling: &Tiling, access: usize, operand: u32) -> Read {
        let Access { offset, kind, .. } = tiling.accesses[access];
        let pattern = match kind {
            AccessKind::Gather => SmallVec::from_slice(tiling.pattern(access)),
            AccessKind::Direct | AccessKind::Splat => SmallVec::new(),
        };
        Read { operand: operand as usize, offset, kind, pattern }
    }
}

/// The function and the arguments of an expression that is one call of one or two different operands and is
/// computed by one kernel.
#[inline]
pub(crate) fn as_call(expression: &Expression) -> Option<(Function, &[Node])> {
    let (Node::Call(call), arguments) = expression.nodes().split_last()? else { return None };
    let is_single = match arguments {
        // mutant: delete match arm [Node::Operand(_)]: costs time only; the call goes through the tiles
        [Node::Operand(_)] => true,
        [Node::Operand(a), Node::Operand(b)] => a != b,
        _ => false,
    };
    (is_single && MathFunction::of(call.function()).is_none()).then_some((call.function(), arguments))
}

/// The kernel of a call of one or two operands over one tile of `count` elements, if the tile is small
/// enough. `half` is the format of halves whose bits are the elements.
#[inline]
pub(crate) fn single_kernel(
    function: Function,
    (dtype, half): (DType, Option<Half>),
    table: &Table,
    count: usize,
    kinds: [AccessKind; 2],
) -> Option<BankCall> {
    let kinds = &kinds[..function.arity()];
    let is = |which: usize, kind: AccessKind| kinds.get(which).is_some_and(|&own| own == kind);
    let gathers = is(0, AccessKind::Gather) || is(1, AccessKind::Gather);
    let splats = [is(0, AccessKind::Splat), is(1, AccessKind::Splat), false];
    // Kernels treat two scalars as vectors of length 1.
    if count > if gathers { MAX_GATHERED } else { MAX_IN_PLACE }
        || splats.starts_with(&[true, true][..kinds.len()])
    {
        return None;
    }
    kernel((table, half), bank_of(dtype), function, splats)
}

impl SingleCall {
    /// The call of a function over a tiling of one tile, if that is small enough and has a kernel. `used` are
    /// the operands of the tiling's accesses and `dtype` is their dtype; if it is that of the bits of halves,
    /// `half` is their format.
    pub(crate) fn of(
        function: Function,
        dtype: (DType, Option<Half>),
        table: &Table,
        tiling: &Tiling,
        mut used: impl Iterator<Item = u32>,
    ) -> Option<SingleCall> {
        let kind =
            |access: usize| tiling.accesses.get(access).map_or(AccessKind::Direct, |access| access.kind);
        let kernel = single_kernel(function, dtype, table, tiling.full, [kind(0), kind(1)])?;
        let mut read = |access: usize| match used.next() {
            Some(operand) => Read::of(tiling, access, operand),
            None => Read::default(),
        };
        Some(SingleCall::new(kernel, tiling.full, [read(0), read(1)]))
    }

    /// The call of a kernel over one tile of `count` elements.
    #[inline(always)]
    pub(crate) fn new(kernel: BankCall, count: usize, reads: [Read; 2]) -> SingleCall {
        SingleCall { kernel, count, reads }
    }

    /// Computes the call.
    pub(crate) fn run(&self, inputs: &[Input<'_>], output: Output<'_>) {
        by_call!(self.kernel, kernel => self.compute(kernel, inputs, output));
    }

    #[inline]
    fn compute<T: Lane>(&self, kernel: CallKernel<T>, inputs: &[Input<'_>], mut output: Output<'_>) {
        let source = |which: usize| T::input(&inputs[self.reads[which].operand]);
        let (mut first, mut second);
        let a = match self.in_place(0, source(0)) {
            Some(a) => a,
            None => {
                first = [T::default(); MAX_GATHERED];
                self.gathered(0, source(0), &mut first)
            }
        };
        if let CallKernel::Unary(kernel) = kernel {
            return kernel.run(a, T::output(&mut output));
        }
        let b = match self.in_place(1, source(1)) {
            Some(b) => b,
            None => {
                second = [T::default(); MAX_GATHERED];
                self.gathered(1, source(1), &mut second)
            }
        };
        match kernel {
            CallKernel::Binary(kernel) => kernel.run(a, b, T::output(&mut output)),
            CallKernel::Comparison(kernel) => kernel.run(a, b, bool::output(&mut output)),
            CallKernel::Unary(_) | CallKernel::Select(_) | CallKernel::Linked(_) => {
                unreachable!("a single call has one or two operands")
            }
        }
    }

    /// The elements of an operand under the tile, if they can be read in place.
    #[inline]
    fn in_place<'a, T>(&self, which: usize, source: &'a [T]) -> Option<&'a [T]> {
        let read = &self.reads[which];
        match read.kind {
            AccessKind::Direct => Some(&source[read.offset..read.offset + self.count]),
            AccessKind::Splat => Some(&source[read.offset..=read.offset]),
            AccessKind::Gather => None,
        }
    }

    /// The elements of an operand under the tile, gathered into `places`.
    #[inline]
    fn gathered<'a, T: Copy>(
        &self,
        which: usize,
        source: &[T],
        places: &'a mut [T; MAX_GATHERED],
    ) -> &'a [T] {
        let (read, places) = (&self.reads[which], &mut places[..self.count]);
        fill(source, read.offset, &read.pattern, places, |value| value);
        places
    }
}

/// The chain that is the whole of a program, if it is one: its bank, its first argument and its links.
#[inline]
pub(crate) fn whole_chain(program: &Program) -> Option<(FloatBank, Source, Range<usize>)> {
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
    (bank, first, links): (FloatBank, Source, Range<usize>),
    output: Output<'_>,
) {
    by_float_bank!(bank, T => chain::<T>(run, first, links, output));
}

fn chain<T: Float>(run: &Run<'_>, first: Source, links: Range<usize>, mut output: Output<'_>) {
    let first = link::<T>(run, ChainOp::Add, Some(first));
    let mut given: Links<'_, T> = SmallVec::new();
    for &(op, source) in &run.program.links[links] {
        given.push(link(run, op, source));
    }
    T::float_kernels(run.table).chain.run(first, &mut given, 1, T::output(&mut output));
}

/// A link with its argument. That is an operand if there is one, because the program has no other step that
/// could have written to a register.
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
