//! One chain over rows, in each of which every operand is contiguous or one value: sums of many operands,
//! `(x - m) * r * g + b` and the like. Everything but the addresses of the buffers is decided when it is
//! planned, so a run is one call of a kernel.
//!
//! There are two ways to such a plan. From an expression of which each operand is read once it takes one pass
//! over the nodes: the scheduler would find the same chain, but after a search for common values, for readers
//! and for registers, which took most of the time of planning a sum of ten (`benches/quick`). From a program
//! of the scheduler it takes one over the links.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::Level;
use crate::arch::{ChainKind, ChainOp, Link, Table, is_intel};
use crate::buffers::{Input, Output, Stored};
use crate::dispatch::by_bank;
use crate::execute::Links;
use crate::inline_capacity::LINKS;
use crate::parallel::is_short;
use crate::program::{Program, Source, Step, Target, Work, bank_of, bytes as bytes_of, chain_op, swapped};
use crate::route::{are_beyond_caches, size_of_dtype};
use crate::scratch::{Bank, Lane};
use crate::tiling::{AccessKind, Axes, Tiling};
use broadcheck_spec::{DType, Expression, Node};
use smallvec::SmallVec;

/// The bytes of the shortest row over which a chain runs in place, instead of gathering several rows. It is
/// the largest vector.
pub(crate) const SHORTEST_ROW: usize = 64;

/// Whether a chain of a dtype takes rows of so many bytes in place. Of integers of 8 or 16 bits, whose calls
/// are cheap, a row should fill most of its vectors: what its last vector has in common with the one before
/// is computed twice. (By a column, over 300x33 with vectors of 64 bytes, (x*y-x)*y of u16 takes 1.4 of the
/// time in place and of u32 0.8. Over 500x20 of u32, it takes the same, and x*x+y*y half.)
pub(crate) fn takes_rows(level: Level, dtype: DType, bytes: usize) -> bool {
    let vectors = bytes.div_ceil(level.vector_bytes()).saturating_mul(level.vector_bytes());
    let is_mostly_full = vectors.saturating_sub(bytes) <= bytes / 5 * 2;
    bytes >= SHORTEST_ROW && (bytes_of(bank_of(dtype)) >= 4 || is_mostly_full)
}

/// The bytes of the rows from which on the chain of an expression with functions is not left to the
/// scheduler, which gathers a row once for all tiles. (With rows of 400 bytes, exp(x*y) and |x-y| then take
/// 0.8 of the time.)
const LONG_ROW_OF_FUNCTIONS: usize = 1024;

/// Nodes of an expression that needs no allocation.
const NODES: usize = 24;

/// A chain over rows.
#[derive(Debug)]
pub(crate) struct FoldCall {
    bank: Bank,
    kind: ChainKind,
    pub(crate) rows: usize,
    first: Place,
    links: SmallVec<[(ChainOp, Place); LINKS]>,
}

/// Where an argument is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The operand's index among the inputs.
    operand: u32,
    /// Whether it is one value in each row.
    pub(crate) scalar: bool,
    /// The position of the first value of the first row.
    offset: usize,
    /// The values from there to the last one of the last row. 0 for a link without an argument.
    length: usize,
    /// The distance between the starts of successive rows.
    pub(crate) step: usize,
}

impl Place {
    /// Of a link without an argument.
    pub(crate) const NONE: Place = Place { operand: 0, scalar: true, offset: 0, length: 0, step: 0 };

    /// Of an operand under `rows` rows of `width` elements.
    #[inline(always)]
    pub(crate) fn new(
        operand: u32,
        offset: usize,
        scalar: bool,
        step: usize,
        (rows, width): (usize, usize),
    ) -> Place {
        let last = if scalar { 1 } else { width };
        Place { operand, scalar, offset, length: (rows - 1) * step + last, step }
    }

    /// Its values; of [`Place::NONE`] none, whatever the dtype of the first operand is.
    #[inline(always)]
    pub(crate) fn values<'a, T: Stored>(&self, inputs: &[Input<'a>]) -> &'a [T] {
        match self.length {
            0 => &[],
            length => &T::input(&inputs[self.operand as usize])[self.offset..self.offset + length],
        }
    }
}

/// The operands of an expression in the order of its nodes.
pub(crate) fn operands(expression: &Expression) -> impl Iterator<Item = usize> {
    expression.nodes().iter().filter_map(|node| match node {
        Node::Operand(place) => Some(*place),
        Node::Call(_) => None,
    })
}

/// Whether all calls of an expression can be links of a chain of a dtype, there are two at least, and no
/// operand occurs twice.
#[inline]
pub(crate) fn may_fold(expression: &Expression, dtype: DType) -> bool {
    let (mut seen, mut calls) = (0u64, 0);
    for node in expression.nodes() {
        match node {
            Node::Operand(place) => {
                let bit =
                    u32::try_from(*place).ok().and_then(|place| 1u64.checked_shl(place)).unwrap_or(seen);
                if seen & bit != 0 {
                    return false;
                }
                seen |= bit;
            }
            Node::Call(call) if chain_op(call.function(), dtype).is_some() => calls += 1,
            Node::Call(_) => return false,
        }
    }
    calls > 1
}

impl FoldCall {
    /// The chain of such an expression. Its operands, in the order of its nodes, are those of `axes`, and
    /// each begins at `offset`. `None` if it is not one chain, starts with one value or is long enough for
    /// several threads, or if an operand is neither contiguous nor one value in each row.
    pub(crate) fn of_expression(
        expression: &Expression,
        (level, dtype): (Level, DType),
        axes: &Axes,
        offset: impl Fn(usize) -> usize,
    ) -> Option<FoldCall> {
        let (width, inner) = axes.axis(0)?;
        let (rows, outer) = axes.axis(1).unwrap_or((1, &[]));
        let bytes = width.saturating_mul(size_of_dtype(dtype));
        let is_long = rows == 1 || takes_rows(level, dtype, bytes);
        let has_short_rows = rows > 1 && bytes < LONG_ROW_OF_FUNCTIONS;
        let nodes = expression.nodes();
        let count = rows.checked_mul(width)?;
        if !is_long || axes.axis(2).is_some() || !is_short(count, 1, nodes.len() - inner.len()) {
            return None;
        }
        let argument = |at: u32, node: &Node| {
            let (at, Node::Operand(operand)) = (at as usize, node) else { return None };
            let step = usize::try_from(outer.get(at).copied().unwrap_or(0)).ok()?;
            let scalar = match inner[at] {
                0 => true,
                1 => false,
                _ => return None,
            };
            Some(Place::new(u32::try_from(*operand).ok()?, offset(at), scalar, step, (rows, width)))
        };
        let mut links: SmallVec<[(ChainOp, Place); LINKS]> = SmallVec::new();
        links.reserve_exact(nodes.len() - inner.len());
        // Which operand each node is, in the order of the nodes; the calls have the number of no operand.
        let mut order: SmallVec<[u32; NODES]> = SmallVec::new();
        let (mut operands, mut chain, mut first, mut is_same) = (0, None, None, true);
        for (at, node) in nodes.iter().enumerate() {
            let call = match node {
                Node::Operand(_) => {
                    order.push(operands);
                    operands += 1;
                    continue;
                }
                Node::Call(call) => call,
            };
            let op = chain_op(call.function(), dtype)?;
            let (op, value, other) = match *call.arguments() {
                [a, b] if chain == Some(b) => (swapped(op), b, Some(a)),
                [a, b] => (op, a, Some(b)),
                [a] => (op, a, None),
                _ => return None,
            };
            match chain {
                None => first = Some(argument(order[value], &nodes[value])?).filter(|first| !first.scalar),
                Some(chain) if chain == value => {}
                Some(_) => return None,
            }
            let other = match other {
                Some(other) => argument(order[other], &nodes[other])?,
                None => Place::NONE,
            };
            if has_short_rows && op.is_unary() {
                return None;
            }
            // A value that is the same in every row is computed once, which takes a register.
            is_same &= first?.step == 0 && other.step == 0;
            if is_same && rows > 1 {
                return None;
            }
            links.push((op, other));
            order.push(u32::MAX);
            chain = Some(at);
        }
        let kind = ChainKind::of(links.iter().map(|&(op, _)| op));
        Some(FoldCall { bank: bank_of(dtype), kind, rows, first: first?, links })
    }

    /// The chain that a program is over a tiling, if it is one and is too short for several threads. `used`
    /// are the operands of the accesses.
    pub(crate) fn of_program(program: &Program, tiling: &Tiling, used: &[u32]) -> Option<FoldCall> {
        let [Step { work: Work::Chain { bank, first, start, end, .. }, target: Target::Output, .. }] =
            program.steps[..]
        else {
            return None;
        };
        let count = tiling.tiles.checked_mul(tiling.full)?;
        if !is_short(count, 1, program.links.len()) {
            return None;
        }
        let shape = rows_of(tiling)?;
        let argument = |source: Source| place_of(source, tiling, used, shape);
        let mut links: SmallVec<[(ChainOp, Place); LINKS]> = SmallVec::new();
        for &(op, source) in &program.links[start as usize..end as usize] {
            links.push((op, source.map_or(Some(Place::NONE), argument)?));
        }
        let kind = ChainKind::of(links.iter().map(|&(op, _)| op));
        Some(FoldCall { bank, kind, rows: shape.0, first: argument(first)?, links })
    }

    /// Computes the chain.
    pub(crate) fn run(&self, table: &Table, inputs: &[Input<'_>], output: &mut Output<'_>) {
        by_bank!(self.bank, T => self.compute::<T>(table, inputs, output));
    }

    #[inline(always)]
    fn compute<T: Lane>(&self, table: &Table, inputs: &[Input<'_>], output: &mut Output<'_>) {
        let link = |op: ChainOp, argument: &Place| {
            let &Place { scalar, step, .. } = argument;
            Link { op, values: argument.values::<T>(inputs), step, scalar }
        };
        let first = link(ChainOp::Add, &self.first);
        let mut links: Links<'_, T> = SmallVec::new();
        for (op, argument) in &self.links {
            links.push(link(*op, argument));
        }
        let kernel = T::kernels(table).chains().of(self.kind);
        let out = T::output(output);
        // Only chains with functions prefetch, on Intel, and only these are asked how much there is to read
        // and to write.
        let fetches = self.kind == ChainKind::WithFunctions && is_intel() && {
            let read = inputs.iter().map(Input::bytes).sum::<usize>();
            are_beyond_caches(read.saturating_add(size_of_val(out)))
        };
        kernel.run(&first, (&mut links, fetches), self.rows, out);
    }
}

/// Where an argument is read that is an operand, over the rows of a tiling and their width.
pub(crate) fn place_of(
    source: Source,
    tiling: &Tiling,
    used: &[u32],
    shape: (usize, usize),
) -> Option<Place> {
    match source {
        Source::Operand { access, scalar } => {
            let step = if shape.0 == 1 { 0 } else { tiling.inner_step(access as usize) };
            let offset = tiling.accesses[access as usize].offset;
            Some(Place::new(used[access as usize], offset, scalar, step, shape))
        }
        Source::Vector(_) | Source::Panel(_) | Source::Scalar(_) | Source::Rows { .. } => None,
    }
}

/// The rows of a tiling and their width: one row if each operand goes on where it ended in the tile before.
/// `None` if there are several loops or panels, an operand goes backwards, or the last tile is shorter than
/// the others.
pub(crate) fn rows_of(tiling: &Tiling) -> Option<(usize, usize)> {
    if tiling.loops.len() > 1 || tiling.panel != 0 || !tiling.goes_forwards() {
        return None;
    }
    let goes_on = |(at, access): (usize, &crate::tiling::Access)| match access.kind {
        AccessKind::Direct => tiling.inner_step(at) == tiling.full,
        AccessKind::Splat => tiling.inner_step(at) == 0,
        AccessKind::Gather => false,
    };
    if tiling.tiles == 1 || tiling.accesses.iter().enumerate().all(goes_on) {
        return Some((1, (tiling.tiles - 1) * tiling.full + tiling.last));
    }
    (tiling.last == tiling.full).then_some((tiling.tiles, tiling.full))
}
