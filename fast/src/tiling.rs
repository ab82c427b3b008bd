//! Collapsing axes and cutting the result into tiles.
//!
//! A tile is a contiguous range of the result: some entries of one axis, and everything inside that axis. So an
//! operand lies under every tile in the same pattern and only its start moves: which of direct, splat or
//! gathered it is, is decided once per plan. Tiles are taken in the result's order, or in panels: some rows of tiles
//! column by column, so that what a column has in common is still at hand in the next row.

use crate::few::{AXES, CELLS, LOOPS, MOVES, OPERANDS, PIECES, VALUES, filled};
use crate::lower::STRETCHED;
use smallvec::SmallVec;
use std::ops::Range;

/// An operand as it lies under a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lying<'a> {
    pub(crate) offset: usize,
    /// What a step along each of its own axes adds to its position; nothing for a row-major tensor.
    pub(crate) strides: Option<&'a [i64]>,
    /// For each axis of the result its own.
    pub(crate) map: &'a [u32],
}

impl Lying<'_> {
    /// The stride under an axis of the result of which the map says `own`. Axes are asked for from the innermost one
    /// outwards; `dense` is the stride that a row-major operand has on its next axis, at first 1.
    #[inline]
    fn stride(&self, own: u32, length: usize, dense: &mut i64) -> i64 {
        match (own, self.strides) {
            (STRETCHED, _) => 0,
            (own, Some(strides)) => strides[own as usize],
            (_, None) => {
                let stride = *dense;
                *dense = stride.saturating_mul(i64::try_from(length).unwrap_or(i64::MAX));
                stride
            }
        }
    }
}

/// Whether a stride is that of a step over an axis of some length and stride.
#[inline]
fn is_even((length, stride): (usize, i64), outer: i64) -> bool {
    i64::try_from(length).ok().and_then(|length| stride.checked_mul(length)) == Some(outer)
}

/// What an operand is within a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Contiguous: kernels read it where it stands.
    Direct,
    /// One element for the whole tile.
    Splat,
    /// Anything else: gathered into a register.
    Gather,
}

/// How one operand is read, tile by tile.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) offset: usize,
    /// The loops that move it, as bits.
    pub(crate) varies: u64,
    /// Where its pattern begins and ends in the tiling's.
    pattern: (u32, u32),
    pub(crate) kind: Kind,
}

/// The loops over tiles; none for a result without elements.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tiling {
    /// How often each loop goes round, outermost first.
    pub(crate) loops: SmallVec<[usize; LOOPS]>,
    /// The elements of a tile.
    pub(crate) full: usize,
    /// The elements of the last tile of the innermost loop.
    pub(crate) last: usize,
    /// The number of tiles.
    pub(crate) tiles: usize,
    /// How many rounds of the last loop but one are taken together, tile by tile of the innermost one: an operand
    /// that lies across the result finds its cache lines again. 0 where tiles are taken in order.
    pub(crate) panel: usize,
    pub(crate) accesses: SmallVec<[Access; OPERANDS]>,
    /// For each loop, what one step of it adds to the position of each access.
    steps: SmallVec<[i64; MOVES]>,
    /// Lengths and strides of the accesses within a tile, outermost first, merged as far as they go.
    patterns: SmallVec<[(usize, i64); PIECES]>,
}

impl Tiling {
    /// Whether a value that these loops move is the same for successive tiles.
    #[inline]
    pub(crate) fn is_stationary(&self, varies: u64) -> bool {
        match self.loops.len().checked_sub(if self.panel == 0 { 1 } else { 2 }) {
            Some(innermost) => varies & (1 << innermost) == 0,
            None => false,
        }
    }

    /// Whether a value that these loops move is another in the last tile of the innermost one.
    #[inline]
    pub(crate) fn is_cut(&self, varies: u64) -> bool {
        self.loops.len().checked_sub(1).is_some_and(|innermost| varies & (1 << innermost) != 0)
    }

    /// A tile near a given one before which the result can be parted.
    pub(crate) fn parting(&self, tile: usize) -> usize {
        match self.loops.last() {
            Some(rounds) if self.panel != 0 => tile - tile % rounds,
            _ => tile,
        }
    }

    /// Takes tiles in panels where an operand's neighbours in a tile are far apart, but near from row to row; or
    /// where something dear, for which the loops that move it are given, is the same in every row.
    pub(crate) fn choose_panel(&mut self, mut dear: impl Iterator<Item = u64>) {
        let Some(down) = self.loops.len().checked_sub(2) else { return };
        let is_kept = |varies: u64| varies >> down & 3 == 2;
        let crosses = |access: usize| {
            let step = self.steps(down)[access].unsigned_abs();
            let inner = self.pattern(access).last().map_or(0, |&(_, stride)| stride.unsigned_abs());
            (1..=NEAR).contains(&step) && inner > NEAR
        };
        if (0..self.accesses.len()).any(crosses) || dear.any(is_kept) {
            self.panel = PANEL;
        }
    }

    /// The first element of the result that a tile holds.
    pub(crate) fn start(&self, tile: usize) -> usize {
        let round = self.loops.last().copied().unwrap_or(1).max(1);
        let per_round = (round - 1) * self.full + self.last;
        tile / round * per_round + tile % round * self.full
    }
}

/// How far apart elements are at most that share a cache line, more or less.
const NEAR: u64 = 8;

/// The rows that are taken together: a line or two of an operand that lies across.
pub(crate) const PANEL: usize = crate::arch::ROWS;

/// The axes of a result, innermost first: those of length 1 dropped, neighbours merged where every operand steps
/// through them evenly.
#[derive(Debug)]
pub(crate) struct Axes {
    operands: usize,
    lengths: SmallVec<[usize; AXES]>,
    /// For each axis the stride of each operand.
    strides: SmallVec<[i64; CELLS]>,
}

impl Axes {
    /// The axes of a shape under which operands lie.
    ///
    /// No product here overflows: a stride that is not 0 belongs to an axis of at least two elements whose last one
    /// lies in its buffer, and lengths multiply to less than 2^63.
    pub(crate) fn of(lengths: &[usize], operands: &[Lying<'_>]) -> Axes {
        let count = operands.len();
        let mut axes = Axes { operands: count, lengths: SmallVec::new(), strides: SmallVec::new() };
        // The stride that each row-major operand has on its next axis.
        let mut dense: SmallVec<[i64; VALUES]> = filled(1, count);
        for (at, &length) in lengths.iter().enumerate().rev().filter(|&(_, &length)| length != 1) {
            for (operand, dense) in operands.iter().zip(&mut dense) {
                axes.strides.push(operand.stride(operand.map[at], length, dense));
            }
            if axes.is_even() {
                let merged = axes.lengths.len() - 1;
                axes.lengths[merged] *= length;
                axes.strides.truncate((merged + 1) * count);
            } else {
                axes.lengths.push(length);
            }
        }
        axes
    }

    /// The length of an axis, counted from the innermost one, and the stride of each operand.
    pub(crate) fn axis(&self, at: usize) -> Option<(usize, &[i64])> {
        Some((*self.lengths.get(at)?, self.strides(at)))
    }

    /// The length of the innermost axis.
    pub(crate) fn innermost(&self) -> usize {
        self.lengths.first().copied().unwrap_or(1)
    }

    /// Whether the strides at the end are those of a step over the last axis.
    fn is_even(&self) -> bool {
        // mutant: replace Axes::is_even -> bool with false: costs time only; axes are not merged
        let Some(&length) = self.lengths.last() else { return false };
        let (inner, outer) = self.strides[(self.lengths.len() - 1) * self.operands..].split_at(self.operands);
        inner.iter().zip(outer).all(|(&inner, &outer)| is_even((length, inner), outer))
    }

    fn strides(&self, axis: usize) -> &[i64] {
        &self.strides[axis * self.operands..(axis + 1) * self.operands]
    }
}

impl Tiling {
    /// The tiles of a result that is not empty, of at most `block` elements each; of at most `wide` where a tile is
    /// a part of one axis. Operand k begins at `offset(k)`.
    pub(crate) fn cut(&mut self, axes: &Axes, offset: impl Fn(usize) -> usize, block: usize, wide: usize) {
        *self = Tiling::default();
        // The innermost axes that fit into a tile whole, and how much of the next one does.
        let (mut whole, mut inside) = (1, 0);
        while inside < axes.lengths.len() && whole * axes.lengths[inside] <= block {
            whole *= axes.lengths[inside];
            inside += 1;
        }
        let mut chunk = 1;
        (self.tiles, self.last) = (1, whole);
        for axis in (inside..axes.lengths.len()).rev() {
            let (mut rounds, mut step) = (axes.lengths[axis], 1);
            if axis == inside {
                chunk = entries(rounds, whole, if whole == 1 { wide } else { block });
                self.last = (rounds - 1) % chunk * whole + whole;
                (rounds, step) = (rounds.div_ceil(chunk), i64::try_from(chunk).unwrap_or(i64::MAX));
            }
            self.loops.push(rounds);
            self.tiles *= rounds;
            self.steps.extend(axes.strides(axis).iter().map(|stride| stride * step));
        }
        self.full = chunk * whole;
        for operand in 0..axes.operands {
            self.access(axes, operand, offset(operand), inside, chunk);
        }
    }

    /// How an operand is read where tiles have `chunk` entries of an axis, and all of those inside it.
    fn access(&mut self, axes: &Axes, operand: usize, offset: usize, inside: usize, chunk: usize) {
        let first = self.patterns.len();
        let axis = |axis: usize| axes.strides[axis * axes.operands + operand];
        if chunk > 1 {
            self.patterns.push((chunk, axis(inside)));
        }
        for inner in (0..inside).rev() {
            let (length, stride) = (axes.lengths[inner], axis(inner));
            match self.patterns[first..].last_mut() {
                Some(outer) if is_even((length, stride), outer.1) => *outer = (outer.0 * length, stride),
                _ => self.patterns.push((length, stride)),
            }
        }
        let steps = self.steps.iter().skip(operand).step_by(axes.operands);
        let varies = steps.enumerate().fold(0, |bits, (at, &step)| bits | (u64::from(step != 0) << at));
        self.put(offset, varies, first);
    }

    /// An access whose pattern begins at `first` and is the last one so far.
    #[inline]
    fn put(&mut self, offset: usize, varies: u64, first: usize) {
        let kind = match self.patterns[first..] {
            // mutant: delete match arm [] |[(_, 1)]: costs time only; contiguous operands are gathered
            [] | [(_, 1)] => Kind::Direct,
            [(_, 0)] => Kind::Splat,
            _ => Kind::Gather,
        };
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let pattern = (place(first), place(self.patterns.len()));
        self.accesses.push(Access { offset, varies, pattern, kind });
    }

    /// The whole of a result of `count` elements as one tile: what [`Tiling::cut`] comes to where all axes fit into a
    /// tile, without working out which of them all operands step through evenly. The tiling is a new one.
    pub(crate) fn whole<'a>(
        &mut self,
        shape: &[usize],
        count: usize,
        operands: impl Iterator<Item = Lying<'a>>,
    ) {
        (self.full, self.last, self.tiles) = (count, count, 1);
        for operand in operands {
            let first = self.patterns.len();
            let (mut dense, mut inner) = (1, None);
            for (&length, &own) in shape.iter().zip(operand.map).rev().filter(|&(&length, _)| length != 1) {
                let stride = operand.stride(own, length, &mut dense);
                inner = match inner {
                    Some((within, step)) if is_even((within, step), stride) => Some((within * length, step)),
                    _ => {
                        if let Some(inner) = inner {
                            self.patterns.push(inner);
                        }
                        Some((length, stride))
                    }
                };
            }
            if let Some(inner) = inner {
                self.patterns.push(inner);
            }
            self.patterns[first..].reverse();
            self.put(operand.offset, 0, first);
        }
    }

    /// Lengths and strides of an operand within a tile, outermost first.
    #[inline]
    pub(crate) fn pattern(&self, access: usize) -> &[(usize, i64)] {
        let (start, end) = self.accesses[access].pattern;
        &self.patterns[start as usize..end as usize]
    }

    /// The outermost loop that moves an access, and by how much a step.
    pub(crate) fn mover(&self, access: usize) -> Option<(usize, usize)> {
        let at = (0..self.loops.len()).find(|&at| self.steps(at)[access] != 0)?;
        Some((at, usize::try_from(self.steps(at)[access]).ok()?))
    }

    /// The tiles of some rounds of one loop.
    pub(crate) fn part(&self, at: usize, rounds: Range<usize>) -> Tiling {
        let mut part = self.clone();
        if at + 1 == self.loops.len() && rounds.end != self.loops[at] {
            part.last = part.full;
        }
        part.loops[at] = rounds.len();
        part.tiles = self.tiles / self.loops[at] * rounds.len();
        let skipped = isize::try_from(rounds.start).unwrap_or(isize::MAX);
        for (access, &step) in part.accesses.iter_mut().zip(self.steps(at)) {
            access.offset = access.offset.wrapping_add_signed(isize::try_from(step).unwrap_or(0) * skipped);
        }
        part
    }

    /// How far apart the columns of an access are, where the rows of a panel are neighbours in it.
    pub(crate) fn column_step(&self, access: usize) -> Option<usize> {
        let [(_, stride)] = *self.pattern(access) else { return None };
        let down = self.loops.len().checked_sub(2)?;
        (self.panel != 0 && self.steps(down)[access] == 1).then(|| usize::try_from(stride).ok())?
    }

    /// What one step of the innermost loop adds to the position of an access; 0 where there is none, or a step
    /// backwards.
    pub(crate) fn inner_step(&self, access: usize) -> usize {
        let steps = self.loops.len().checked_sub(1).map_or(0, |at| self.steps(at)[access]);
        usize::try_from(steps).unwrap_or(0)
    }

    /// Whether no access goes backwards from tile to tile of the innermost loop.
    pub(crate) fn goes_forwards(&self) -> bool {
        self.loops.len().checked_sub(1).is_none_or(|at| self.steps(at).iter().all(|&step| step >= 0))
    }

    /// What one step of a loop adds to the position of each access.
    #[inline]
    pub(crate) fn steps(&self, at: usize) -> &[i64] {
        &self.steps[at * self.accesses.len()..(at + 1) * self.accesses.len()]
    }
}

/// How many entries of an axis go into a tile: about equal shares, and whole cache lines where that is possible.
fn entries(length: usize, whole: usize, block: usize) -> usize {
    let most = (block / whole).max(1);
    // As many entries as make the tile's elements a multiple of 32: no kernel has a rest to do, and tiles of an
    // output that starts on a cache line do so too.
    let unit = 32 >> whole.trailing_zeros().min(5);
    let unit = if unit <= most { unit } else { 1 };
    let most = most - most % unit;
    let share = length.div_ceil(length.div_ceil(most)).next_multiple_of(unit);
    share.min(most)
}
