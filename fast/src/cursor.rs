//! Iteration over tiles, in the order of the result or in panels. Within a panel, the tiles of one column
//! come before those of the next.

use crate::inline_capacity::{LOOPS, POSITIONS, filled};
use crate::tiling::Tiling;
use smallvec::SmallVec;
use std::ops::Range;

/// The position of every operand at the current tile.
pub(crate) struct Cursor<'a> {
    tiling: &'a Tiling,
    index: SmallVec<[usize; LOOPS]>,
    /// Empty if there is one tile: the positions are the offsets.
    positions: SmallVec<[i64; POSITIONS]>,
    /// The loops that have moved since the previous tile, as bits.
    moved: u64,
    first: bool,
    /// The rows of tiles in the range, if they are in panels: how many in total, before the current panel and
    /// in it, and the current row in the panel.
    all: usize,
    before: usize,
    rows: usize,
    row: usize,
}

impl<'a> Cursor<'a> {
    /// The cursor at the first tile of all. It is made where it is used, and then moved to where it begins: a
    /// processor waits for what was just written in other pieces than it is copied.
    #[inline(always)]
    pub(crate) fn new(tiling: &'a Tiling) -> Cursor<'a> {
        let (index, positions) = (SmallVec::new(), SmallVec::new());
        Cursor { tiling, index, positions, moved: u64::MAX, first: true, all: 0, before: 0, rows: 0, row: 0 }
    }

    /// Moves to the first tile of a range, and ends there.
    #[inline]
    pub(crate) fn begin(&mut self, tiles: &Range<usize>) {
        if !self.tiling.loops.is_empty() {
            self.begin_loops(tiles);
        }
    }

    fn begin_loops(&mut self, tiles: &Range<usize>) {
        let tiling = self.tiling;
        self.index = filled(0, tiling.loops.len());
        let mut rest = tiles.start;
        for (index, &length) in self.index.iter_mut().zip(&tiling.loops).rev() {
            (*index, rest) = (rest % length, rest / length);
        }
        self.positions = filled(0, tiling.accesses.len());
        for (position, access) in self.positions.iter_mut().zip(&tiling.accesses) {
            *position = i64::try_from(access.offset).unwrap_or(i64::MAX);
        }
        for (at, &index) in self.index.iter().enumerate().filter(|&(_, &index)| index != 0) {
            let index = i64::try_from(index).unwrap_or(i64::MAX);
            for (position, step) in self.positions.iter_mut().zip(tiling.steps(at)) {
                *position += step * index;
            }
        }
        if let ([.., down, iterations], [.., at, _]) = (&tiling.loops[..], &self.index[..])
            && tiling.panel != 0
        {
            self.all = tiles.len() / iterations;
            self.rows = tiling.panel.min(down - at).min(self.all);
        }
    }

    /// The start of the tile in the result. `end` is the end of the previous tile.
    #[inline]
    pub(crate) fn start(&self, end: usize) -> usize {
        if self.tiling.panel == 0 { end } else { self.start_in_panel() }
    }

    fn start_in_panel(&self) -> usize {
        let (Some(&at), Some(&iterations)) = (self.index.last(), self.tiling.loops.last()) else { return 0 };
        let row = (iterations - 1) * self.tiling.full + self.tiling.last;
        (self.before + self.row) * row + at * self.tiling.full
    }

    /// The position of an operand's first element of the tile.
    #[inline]
    pub(crate) fn position(&self, access: usize) -> usize {
        match self.positions.get(access) {
            Some(&position) => usize::try_from(position).unwrap_or(usize::MAX),
            None => self.tiling.accesses[access].offset,
        }
    }

    /// The number of elements in the tile.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        match (self.index.last(), self.tiling.loops.last()) {
            (Some(&at), Some(&iterations)) if at + 1 == iterations => self.tiling.last,
            _ => self.tiling.full,
        }
    }

    /// The tile's row in its panel, and the number of rows of the panel. Both are 0 without panels.
    pub(crate) fn in_panel(&self) -> (usize, usize) {
        (self.row, self.rows)
    }

    /// The number of remaining tiles of the innermost loop that are as long as this one, which is included. 1
    /// in panels.
    pub(crate) fn alike(&self) -> usize {
        let (Some(&at), Some(&iterations)) = (self.index.last(), self.tiling.loops.last()) else { return 1 };
        let cut = usize::from(self.tiling.last != self.tiling.full);
        if self.tiling.panel == 0 { (iterations - at - cut).max(1) } else { 1 }
    }

    /// Skips tiles of the innermost loop. More of them must be left.
    pub(crate) fn skip(&mut self, tiles: usize) {
        if tiles != 0 {
            self.walk(self.index.len() - 1, i64::try_from(tiles).unwrap_or(i64::MAX));
        }
    }

    /// Whether a value that these loops change differs from that of the previous tile. At the first tile
    /// every value does.
    #[inline]
    pub(crate) fn is_new(&self, varies: u64) -> bool {
        // mutant: replace & with |: costs time only; what does not change is computed again
        self.first || varies & self.moved != 0
    }

    /// Moves to the next tile.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.first = false;
        if self.tiling.panel == 0 { self.carry() } else { self.advance_in_panel() }
    }

    /// Moves down a column of tiles, then to the next column, then to the next panel.
    fn advance_in_panel(&mut self) {
        let inner = self.index.len() - 1;
        if self.row + 1 < self.rows {
            self.row += 1;
            self.walk(inner - 1, 1);
            self.moved = 1 << (inner - 1);
        } else if self.index[inner] + 1 < self.tiling.loops[inner] {
            self.walk(inner - 1, 1 - i64::try_from(self.rows).unwrap_or(i64::MAX));
            self.walk(inner, 1);
            self.row = 0;
            self.moved = 3 << (inner - 1);
        } else {
            self.before += self.rows;
            self.carry();
            let left = self.tiling.loops[inner - 1] - self.index[inner - 1];
            self.rows = self.tiling.panel.min(left).min(self.all - self.before);
            self.row = 0;
        }
    }

    /// Moves one loop by some iterations, forwards or backwards.
    fn walk(&mut self, at: usize, iterations: i64) {
        for (position, step) in self.positions.iter_mut().zip(self.tiling.steps(at)) {
            *position += step * iterations;
        }
        self.index[at] = self.index[at].wrapping_add_signed(isize::try_from(iterations).unwrap_or(0));
    }

    /// Moves to the next tile in order.
    #[inline]
    fn carry(&mut self) {
        for at in (0..self.index.len()).rev() {
            self.index[at] += 1;
            let back = self.index[at] == self.tiling.loops[at];
            let iterations = if back { i64::try_from(self.index[at]).unwrap_or(i64::MAX) - 1 } else { 0 };
            for (position, step) in self.positions.iter_mut().zip(self.tiling.steps(at)) {
                *position += if back { -step * iterations } else { *step };
            }
            if !back {
                self.moved = u64::MAX << at;
                return;
            }
            self.index[at] = 0;
        }
    }
}
