//! Collapsing axes and cutting the result into tiles.
//!
//! A tile is a contiguous range of the result: some entries of one axis, and everything inside that axis. So
//! an operand has the same pattern under every tile and only its start moves. Whether it is read directly,
//! splat or gathered is decided once per plan. Tiles are computed in the order of the result, or in panels:
//! several rows of tiles, column by column, so that what a column has in common is still in the cache for the
//! next row.

use crate::inline_capacity::{AXES, LOOP_STEPS, LOOPS, OPERAND_AXES, OPERANDS, PATTERN_AXES, VALUES, filled};
use crate::lower::STRETCHED;
use smallvec::SmallVec;
use std::ops::Range;

/// The layout of an operand under a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OperandLayout<'a> {
    pub(crate) offset: usize,
    /// The strides of its own axes; `None` for a row-major tensor whose axes are in the order of the
    /// result's.
    pub(crate) strides: Option<&'a [i64]>,
    /// For each axis of the result, the operand's own axis.
    pub(crate) map: &'a [u32],
}

impl OperandLayout<'_> {
    /// The stride under an axis of the result that maps to `own`. Axes are visited from the innermost
    /// outwards. `dense` is the stride of a row-major operand on its next axis, initially 1.
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

    /// Whether its elements are those of a nonempty result with these lengths, in their order.
    pub(crate) fn is_whole(&self, lengths: &[usize]) -> bool {
        let (mut dense, mut inside) = (1, 1usize);
        lengths.iter().zip(self.map).rev().filter(|&(&length, _)| length != 1).all(|(&length, &own)| {
            let stride = self.stride(own, length, &mut dense);
            let goes_on = usize::try_from(stride) == Ok(inside);
            inside = inside.saturating_mul(length);
            goes_on
        })
    }
}

/// Whether the stride `outer` continues an inner axis of the given length and stride.
#[inline]
fn is_even((length, stride): (usize, i64), outer: i64) -> bool {
    i64::try_from(length).ok().and_then(|length| stride.checked_mul(length)) == Some(outer)
}

/// How an operand is read within a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessKind {
    /// Contiguous: kernels read it in place.
    Direct,
    /// One element for the whole tile.
    Splat,
    /// Anything else: gathered into a register.
    Gather,
}

/// How one operand is read from tile to tile.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) offset: usize,
    /// The loops that move it, as bits.
    pub(crate) varies: u64,
    /// The range of its pattern in the patterns of the tiling.
    pattern: (u32, u32),
    pub(crate) kind: AccessKind,
}

/// The loops over tiles.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tiling {
    /// The number of iterations of each loop, outermost first.
    pub(crate) loops: SmallVec<[usize; LOOPS]>,
    /// The elements of a tile.
    pub(crate) full: usize,
    /// The elements of the last tile of the innermost loop.
    pub(crate) last: usize,
    /// The number of tiles.
    pub(crate) tiles: usize,
    /// How many iterations of the second innermost loop are taken together, for one tile of the innermost
    /// loop after another. A transposed operand then reuses its cache lines. 0 if tiles are taken in order.
    pub(crate) panel: usize,
    pub(crate) accesses: SmallVec<[Access; OPERANDS]>,
    /// For each loop, what one iteration adds to the position of each access.
    steps: SmallVec<[i64; LOOP_STEPS]>,
    /// The lengths and strides of the accesses within a tile, outermost first, merged where possible.
    patterns: SmallVec<[(usize, i64); PATTERN_AXES]>,
}

impl Tiling {
    /// Whether a value that these loops change is the same for successive tiles.
    #[inline]
    pub(crate) fn is_stationary(&self, varies: u64) -> bool {
        match self.loops.len().checked_sub(if self.panel == 0 { 1 } else { 2 }) {
            Some(innermost) => varies & (1 << innermost) == 0,
            None => false,
        }
    }

    /// Whether a value that these loops change differs in the last tile of the innermost loop.
    #[inline]
    pub(crate) fn is_cut(&self, varies: u64) -> bool {
        self.loops.len().checked_sub(1).is_some_and(|innermost| varies & (1 << innermost) != 0)
    }

    /// The nearest tile, at or before the given one, at which the result can be split.
    pub(crate) fn split_point(&self, tile: usize) -> usize {
        match self.loops.last() {
            Some(iterations) if self.panel != 0 => tile - tile % iterations,
            _ => tile,
        }
    }

    /// Takes tiles in panels if an operand's neighbours within a tile are far apart but close from row to
    /// row, or if an expensive value is the same in every row. `expensive` has the loops that change each
    /// such value.
    pub(crate) fn choose_panel(&mut self, mut expensive: impl Iterator<Item = u64>) {
        let Some(down) = self.loops.len().checked_sub(2) else { return };
        let is_kept = |varies: u64| varies >> down & 3 == 2;
        let crosses = |access: usize| {
            let step = self.steps(down)[access].unsigned_abs();
            let inner = self.pattern(access).last().map_or(0, |&(_, stride)| stride.unsigned_abs());
            (1..=NEAR).contains(&step) && inner > NEAR
        };
        if (0..self.accesses.len()).any(crosses) || expensive.any(is_kept) {
            self.panel = PANEL;
        }
    }

    /// The index of a tile's first element in the result.
    pub(crate) fn start(&self, tile: usize) -> usize {
        let iterations = self.loops.last().copied().unwrap_or(1).max(1);
        let elements = (iterations - 1) * self.full + self.last;
        tile / iterations * elements + tile % iterations * self.full
    }
}

/// The approximate distance within which elements share a cache line.
const NEAR: u64 = 8;

/// The number of rows in a panel: a cache line or two of a transposed operand.
pub(crate) const PANEL: usize = crate::arch::ROWS;

/// The axes of a result, innermost first. Axes of length 1 are dropped, and neighbours are merged if each
/// operand has a constant stride over both.
#[derive(Debug)]
pub(crate) struct Axes {
    operands: usize,
    lengths: SmallVec<[usize; AXES]>,
    /// For each axis, the stride of each operand.
    strides: SmallVec<[i64; OPERAND_AXES]>,
}

impl Axes {
    /// The axes of a shape with its operands.
    ///
    /// No product here overflows: a nonzero stride belongs to an axis of at least two elements, the last of
    /// which is in its buffer, and the product of the lengths is less than 2^63.
    pub(crate) fn of(lengths: &[usize], operands: &[OperandLayout<'_>]) -> Axes {
        let count = operands.len();
        let mut axes = Axes { operands: count, lengths: SmallVec::new(), strides: SmallVec::new() };
        // The stride of each row-major operand on its next axis.
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

    /// The length of an axis, counted from the innermost, and the stride of each operand.
    pub(crate) fn axis(&self, at: usize) -> Option<(usize, &[i64])> {
        Some((*self.lengths.get(at)?, self.strides(at)))
    }

    /// The length of the innermost axis.
    pub(crate) fn innermost(&self) -> usize {
        self.lengths.first().copied().unwrap_or(1)
    }

    /// Whether the strides at the end of the list continue the last axis.
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
    /// Cuts a nonempty result into tiles of at most `block` elements, or at most `wide` if a tile is all or
    /// part of the innermost axis. Operand k starts at `offset(k)`. `line` is the number of elements of a
    /// cache line.
    pub(crate) fn cut(
        &mut self,
        axes: &Axes,
        offset: impl Fn(usize) -> usize,
        (block, wide): (usize, usize),
        line: usize,
    ) {
        *self = Tiling::default();
        // The innermost axes that fit into a tile as a whole, and then the part of the next one that does.
        let (mut whole, mut inside) = (1, 0);
        while let Some(&length) = axes.lengths.get(inside)
            && whole * length <= if inside == 0 { wide } else { block }
        {
            whole *= length;
            inside += 1;
        }
        let mut chunk = 1;
        (self.tiles, self.last) = (1, whole);
        for axis in (inside..axes.lengths.len()).rev() {
            let (mut iterations, mut step) = (axes.lengths[axis], 1);
            if axis == inside {
                chunk = entries(iterations, whole, if whole == 1 { wide } else { block }, line);
                self.last = (iterations - 1) % chunk * whole + whole;
                (iterations, step) = (iterations.div_ceil(chunk), i64::try_from(chunk).unwrap_or(i64::MAX));
            }
            self.loops.push(iterations);
            self.tiles *= iterations;
            self.steps.extend(axes.strides(axis).iter().map(|stride| stride * step));
        }
        self.full = chunk * whole;
        for operand in 0..axes.operands {
            self.access(axes, operand, offset(operand), inside, chunk);
        }
    }

    /// The elements of the tile, if there is only one. It may be shorter than a full one.
    pub(crate) fn only(&self) -> Option<usize> {
        (self.tiles == 1).then_some(self.last)
    }

    /// Adds the access of an operand to tiles that have `chunk` entries of an axis and everything inside it.
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

    /// Adds an access whose pattern starts at `first` and goes to the end of the patterns.
    #[inline]
    fn put(&mut self, offset: usize, varies: u64, first: usize) {
        let kind = match self.patterns[first..] {
            // mutant: delete match arm [] |[(_, 1)]: costs time only; contiguous operands are gathered
            [] | [(_, 1)] => AccessKind::Direct,
            [(_, 0)] => AccessKind::Splat,
            _ => AccessKind::Gather,
        };
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let pattern = (place(first), place(self.patterns.len()));
        self.accesses.push(Access { offset, varies, pattern, kind });
    }

    /// A result of `count` elements as one tile: what [`Tiling::cut`] does if all axes fit into a tile, but
    /// without merging the axes of all operands.
    #[inline]
    pub(crate) fn whole<'a>(
        shape: &[usize],
        count: usize,
        operands: impl Iterator<Item = OperandLayout<'a>>,
    ) -> Tiling {
        let mut tiling = Tiling { full: count, last: count, tiles: 1, ..Tiling::default() };
        let least = operands.size_hint().0;
        tiling.accesses.reserve_exact(least);
        tiling.patterns.reserve(least);
        tiling.fill_whole(shape, operands);
        tiling
    }

    fn fill_whole<'a>(&mut self, shape: &[usize], operands: impl Iterator<Item = OperandLayout<'a>>) {
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

    /// The lengths and strides of an operand within a tile, outermost first.
    #[inline]
    pub(crate) fn pattern(&self, access: usize) -> &[(usize, i64)] {
        let (start, end) = self.accesses[access].pattern;
        &self.patterns[start as usize..end as usize]
    }

    /// The outermost loop that moves an access, and by how much per iteration.
    pub(crate) fn mover(&self, access: usize) -> Option<(usize, usize)> {
        let at = (0..self.loops.len()).find(|&at| self.steps(at)[access] != 0)?;
        Some((at, usize::try_from(self.steps(at)[access]).ok()?))
    }

    /// The tiles of some iterations of one loop.
    pub(crate) fn part(&self, at: usize, iterations: Range<usize>) -> Tiling {
        let mut part = self.clone();
        if at + 1 == self.loops.len() && iterations.end != self.loops[at] {
            part.last = part.full;
        }
        part.loops[at] = iterations.len();
        part.tiles = self.tiles / self.loops[at] * iterations.len();
        let skipped = isize::try_from(iterations.start).unwrap_or(isize::MAX);
        for (access, &step) in part.accesses.iter_mut().zip(self.steps(at)) {
            access.offset = access.offset.wrapping_add_signed(isize::try_from(step).unwrap_or(0) * skipped);
        }
        part
    }

    /// The distance between the columns of an access if the rows of a panel are adjacent in it.
    pub(crate) fn column_step(&self, access: usize) -> Option<usize> {
        let [(_, stride)] = *self.pattern(access) else { return None };
        let down = self.loops.len().checked_sub(2)?;
        (self.panel != 0 && self.steps(down)[access] == 1).then(|| usize::try_from(stride).ok())?
    }

    /// What one iteration of the innermost loop adds to the position of an access. 0 if there is no loop or
    /// it goes backwards.
    pub(crate) fn inner_step(&self, access: usize) -> usize {
        let steps = self.loops.len().checked_sub(1).map_or(0, |at| self.steps(at)[access]);
        usize::try_from(steps).unwrap_or(0)
    }

    /// Whether no access goes backwards in the innermost loop.
    pub(crate) fn goes_forwards(&self) -> bool {
        self.loops.len().checked_sub(1).is_none_or(|at| self.steps(at).iter().all(|&step| step >= 0))
    }

    /// What one iteration of a loop adds to the position of each access.
    #[inline]
    pub(crate) fn steps(&self, at: usize) -> &[i64] {
        &self.steps[at * self.accesses.len()..(at + 1) * self.accesses.len()]
    }
}

/// How many entries of an axis go into a tile: about equal shares, and whole cache lines where possible.
/// `whole` is the number of elements of an entry, and `line` that of a cache line, a power of two.
fn entries(length: usize, whole: usize, block: usize, line: usize) -> usize {
    let most = (block / whole).max(1);
    // A tile is a multiple of four, two or one cache lines, unless it becomes much smaller: kernels then
    // process whole vectors only, and the tiles of an aligned output are aligned. (Over 300x33 and a column,
    // select(x<y,x,y) of f64 takes 0.6 of the time in tiles of 24 rows in place of 30, `benches/sweep`.)
    let units = [4, 2, 1].map(|lines: usize| 1.max((line * lines) >> whole.trailing_zeros()));
    let leaves_most = |&unit: &usize| most / unit * unit >= most - most / 4;
    let unit = units.into_iter().find(leaves_most).unwrap_or(1);
    let most = most - most % unit;
    let share = length.div_ceil(length.div_ceil(most)).next_multiple_of(unit);
    share.min(most)
}
