//! Collapsing axes and cutting the result into tiles.
//!
//! A tile is a contiguous range of the result: some entries of one axis, and everything inside that axis. So an
//! operand lies under every tile in the same pattern and only its start moves: which of direct, splat or
//! gathered it is, is decided once per plan.

use smallvec::{SmallVec, smallvec};

/// How one operand is read: its first element and a stride per axis of the result.
#[derive(Clone, Debug)]
pub(crate) struct Strided {
    pub(crate) offset: usize,
    pub(crate) strides: SmallVec<[i64; 6]>,
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

/// Lengths and strides of an operand within a tile, outermost first, merged as far as they go.
pub(crate) type Pattern = SmallVec<[(usize, i64); 3]>;

/// How one operand is read, tile by tile.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) offset: usize,
    pub(crate) kind: Kind,
    pub(crate) pattern: Pattern,
    /// What one step of each loop over tiles adds to its position.
    pub(crate) steps: SmallVec<[i64; 4]>,
    /// The loops that move it, as bits.
    pub(crate) varies: u64,
}

/// The loops over tiles.
#[derive(Clone, Debug)]
pub(crate) struct Tiling {
    /// How often each loop goes round, outermost first.
    pub(crate) loops: SmallVec<[usize; 4]>,
    /// The elements of a tile.
    pub(crate) full: usize,
    /// The elements of the last tile of the innermost loop.
    pub(crate) last: usize,
    /// The number of tiles.
    pub(crate) tiles: usize,
    pub(crate) accesses: SmallVec<[Access; 4]>,
}

impl Tiling {
    /// Whether a value that these loops move is the same for successive tiles of the innermost one.
    pub(crate) fn is_stationary(&self, varies: u64) -> bool {
        match self.loops.len().checked_sub(1) {
            Some(innermost) => varies & (1 << innermost) == 0,
            None => false,
        }
    }

    /// The first element of the result that a tile holds.
    pub(crate) fn start(&self, tile: usize) -> usize {
        let round = self.loops.last().copied().unwrap_or(1).max(1);
        let per_round = (round - 1) * self.full + self.last;
        tile / round * per_round + tile % round * self.full
    }
}

struct Axis {
    length: usize,
    strides: SmallVec<[i64; 4]>,
}

/// Axes of length 1 are dropped; neighbours are merged where every operand steps through them evenly.
///
/// No product here overflows: a stride that is not 0 belongs to an axis of at least two elements whose last one
/// lies in its buffer, and lengths multiply to less than 2^63.
fn collapse(lengths: &[usize], operands: &[Strided]) -> SmallVec<[Axis; 4]> {
    let mut axes: SmallVec<[Axis; 4]> = SmallVec::new();
    for (at, &length) in lengths.iter().enumerate().filter(|&(_, &length)| length != 1) {
        let strides: SmallVec<[i64; 4]> = operands.iter().map(|operand| operand.strides[at]).collect();
        if let Some(outer) = axes.last_mut() {
            let even = outer.strides.iter().zip(&strides).all(|(&outer, &inner)| {
                i64::try_from(length).ok().and_then(|length| inner.checked_mul(length)) == Some(outer)
            });
            if even {
                outer.length *= length;
                outer.strides = strides;
                continue;
            }
        }
        axes.push(Axis { length, strides });
    }
    axes
}

/// The tiles of a result that is not empty, of at most `block` elements each; of at most `wide` where a tile is a
/// part of one axis.
pub(crate) fn tile(lengths: &[usize], operands: &[Strided], block: usize, wide: usize) -> Tiling {
    let axes = collapse(lengths, operands);
    // The innermost axes that fit into a tile whole, and how much of the next one does.
    let mut whole = 1;
    let mut outer = axes.len();
    while outer > 0 && whole * axes[outer - 1].length <= block {
        outer -= 1;
        whole *= axes[outer].length;
    }
    let cut = outer
        .checked_sub(1)
        .map(|cut| (cut, entries(axes[cut].length, whole, if whole == 1 { wide } else { block })));
    let (chunk, rounds) = match cut {
        Some((cut, chunk)) => (chunk, axes[cut].length.div_ceil(chunk)),
        None => (1, 1),
    };
    let mut loops: SmallVec<[usize; 4]> = axes[..outer].iter().map(|axis| axis.length).collect();
    let mut last = chunk * whole;
    if let (Some((cut, chunk)), Some(innermost)) = (cut, loops.last_mut()) {
        *innermost = rounds;
        last = (axes[cut].length - (rounds - 1) * chunk) * whole;
    }
    let accesses = operands
        .iter()
        .enumerate()
        .map(|(place, operand)| access(place, operand.offset, &axes, outer, chunk))
        .collect();
    let tiles = loops.iter().product();
    Tiling { loops, full: chunk * whole, last, tiles, accesses }
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

fn access(place: usize, offset: usize, axes: &[Axis], outer: usize, chunk: usize) -> Access {
    let mut steps: SmallVec<[i64; 4]> = axes[..outer].iter().map(|axis| axis.strides[place]).collect();
    let mut pattern: Pattern = SmallVec::new();
    if let Some(cut) = steps.last_mut() {
        if chunk > 1 {
            pattern.push((chunk, *cut));
        }
        *cut *= i64::try_from(chunk).unwrap_or(i64::MAX);
    }
    for axis in &axes[outer..] {
        merge(&mut pattern, axis.length, axis.strides[place]);
    }
    let varies = steps.iter().enumerate().fold(0, |bits, (at, &step)| bits | (u64::from(step != 0) << at));
    let kind = match pattern[..] {
        [] | [(_, 1)] => Kind::Direct,
        [(_, 0)] => Kind::Splat,
        _ => Kind::Gather,
    };
    Access { offset, kind, pattern, steps, varies }
}

fn merge(pattern: &mut Pattern, length: usize, stride: i64) {
    if let Some(outer) = pattern.last_mut()
        && i64::try_from(length).ok().and_then(|length| stride.checked_mul(length)) == Some(outer.1)
    {
        *outer = (outer.0 * length, stride);
        return;
    }
    pattern.push((length, stride));
}

/// The position of every operand at some tile, and what moves from one tile to the next.
pub(crate) struct Cursor<'a> {
    tiling: &'a Tiling,
    index: SmallVec<[usize; 4]>,
    positions: SmallVec<[i64; 16]>,
    /// The loops that moved since the last tile, as bits.
    moved: u64,
    first: bool,
}

impl<'a> Cursor<'a> {
    /// The cursor at a tile.
    pub(crate) fn new(tiling: &'a Tiling, tile: usize) -> Cursor<'a> {
        let mut index: SmallVec<[usize; 4]> = smallvec![0; tiling.loops.len()];
        let mut rest = tile;
        for (index, &length) in index.iter_mut().zip(&tiling.loops).rev() {
            (*index, rest) = (rest % length, rest / length);
        }
        let position = |access: &Access| {
            let offset = i64::try_from(access.offset).unwrap_or(i64::MAX);
            let walked = access
                .steps
                .iter()
                .zip(&index)
                .map(|(&step, &index)| step * i64::try_from(index).unwrap_or(i64::MAX));
            offset + walked.sum::<i64>()
        };
        let positions = tiling.accesses.iter().map(position).collect();
        Cursor { tiling, index, positions, moved: u64::MAX, first: true }
    }

    /// Where an operand's first element of the tile stands.
    #[inline]
    pub(crate) fn position(&self, access: usize) -> usize {
        usize::try_from(self.positions[access]).unwrap_or(usize::MAX)
    }

    /// The number of elements in the tile.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        match (self.index.last(), self.tiling.loops.last()) {
            (Some(&at), Some(&rounds)) if at + 1 == rounds => self.tiling.last,
            _ => self.tiling.full,
        }
    }

    /// Whether a value that these loops move is another than at the tile before; at the first tile all are.
    #[inline]
    pub(crate) fn is_new(&self, varies: u64) -> bool {
        self.first || varies & self.moved != 0
    }

    /// On to the next tile.
    #[inline]
    pub(crate) fn advance(&mut self) {
        self.first = false;
        for at in (0..self.index.len()).rev() {
            self.index[at] += 1;
            let back = self.index[at] == self.tiling.loops[at];
            let rounds = if back { i64::try_from(self.index[at]).unwrap_or(i64::MAX) - 1 } else { 0 };
            for (position, access) in self.positions.iter_mut().zip(&self.tiling.accesses) {
                *position += if back { -access.steps[at] * rounds } else { access.steps[at] };
            }
            if !back {
                self.moved = u64::MAX << at;
                return;
            }
            self.index[at] = 0;
        }
    }
}
