//! Traverses the loop nest: runs of the innermost loop, in blocks with a tail. Each operand is gathered into
//! a register.

use super::collapse::LoopNest;
use super::convert::{convert, zero};
use broadcheck_spec::{DType, Data, Scalar};

/// The elements of a block: few, so that even small shapes have several blocks and a tail.
pub(crate) const BLOCK: usize = 4;
/// The runs of the innermost loop per chunk. At the start of a chunk the index is computed anew, as by a
/// thread; within it the index is incremented.
pub(crate) const CHUNK: usize = 4;

/// The values of a block.
pub(crate) type Register = [Scalar; BLOCK];

/// A block of a run: where it is read and written, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) load: usize,
    pub(crate) store: usize,
    pub(crate) count: usize,
}

/// How an operand is gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// The same element for all lanes.
    Splat,
    /// Contiguous elements.
    Dense,
    /// Elements with a stride.
    Strided,
}

/// A position in the loop nest at which a register is filled.
#[derive(Clone, Copy)]
pub(crate) struct Visit {
    pub(crate) path: Path,
    /// The number of the run, from 0.
    pub(crate) run: usize,
    /// The number of the block in its run, from 0.
    pub(crate) block: usize,
    pub(crate) piece: Piece,
    /// The elements of the run.
    pub(crate) length: usize,
}

/// A block of the result, as evaluation sees it.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    /// The position in the result.
    pub(crate) at: usize,
    /// The number of elements.
    pub(crate) count: usize,
    /// The position in the run.
    pub(crate) place: usize,
    /// The elements of the run.
    pub(crate) length: usize,
    /// The number of the run, from 0.
    pub(crate) run: usize,
}

/// An element that is read.
pub(crate) struct At<'a> {
    /// The loop nest.
    pub(crate) nest: &'a LoopNest,
    /// The index of the operand.
    pub(crate) operand: usize,
    /// The index in the outer loops.
    pub(crate) index: &'a [usize],
    /// The stride of the innermost loop.
    pub(crate) step: i64,
    /// The position of the first element of the run.
    pub(crate) base: i64,
    /// The position in the run.
    pub(crate) place: usize,
    /// The block.
    pub(crate) visit: Visit,
}

/// The decisions about the traversal.
#[derive(Clone)]
pub(crate) struct Blocks {
    /// The index of a run among these outer lengths.
    pub(crate) unravel: fn(usize, &[usize]) -> Vec<usize>,
    /// The index after this one.
    pub(crate) step: fn(&mut [usize], &[usize]),
    /// The runs of a chunk, from its number and the total number of runs.
    pub(crate) runs: fn(usize, usize) -> std::ops::Range<usize>,
    /// The blocks of a run of this length.
    pub(crate) pieces: fn(usize) -> Vec<Piece>,
    /// How elements with this stride are gathered.
    pub(crate) path: fn(i64) -> Path,
    /// Whether a register is filled here; otherwise it keeps its values.
    pub(crate) loads: fn(Visit) -> bool,
    /// What happens before the loops: nothing, unless a fault changes it.
    pub(crate) prepares: fn(&[Source<'_>]),
    /// The register of an operand, by its index.
    pub(crate) register: fn(usize) -> usize,
    /// The position of an element in its buffer.
    pub(crate) at: fn(&At<'_>) -> i64,
    /// A position in a buffer, as it is stored.
    pub(crate) place: fn(i64) -> i64,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks {
            unravel,
            step,
            runs: |chunk, runs| chunk * CHUNK..runs.min((chunk + 1) * CHUNK),
            pieces,
            path: |stride| match stride {
                0 => Path::Splat,
                1 => Path::Dense,
                _ => Path::Strided,
            },
            loads: |visit| visit.path != Path::Splat || visit.block == 0,
            prepares: |_| (),
            register: |operand| operand,
            at,
            place: |place| place,
        }
    }
}

/// The start of the run, and as many steps as the element is away from it.
pub(crate) fn at(at: &At<'_>) -> i64 {
    at.base + at.step * at.place as i64
}

/// The index of a run. The last axis varies fastest.
pub(crate) fn unravel(run: usize, lengths: &[usize]) -> Vec<usize> {
    let mut rest = run;
    let mut index = vec![0; lengths.len()];
    for (slot, &length) in index.iter_mut().zip(lengths).rev() {
        *slot = rest % length.max(1);
        rest /= length.max(1);
    }
    index
}

/// Increments the last axis, and carries to the left.
pub(crate) fn step(index: &mut [usize], lengths: &[usize]) {
    for (slot, &length) in index.iter_mut().zip(lengths).rev() {
        *slot += 1;
        if *slot < length {
            return;
        }
        *slot = 0;
    }
}

/// Whole blocks, then the remainder.
pub(crate) fn pieces(length: usize) -> Vec<Piece> {
    let piece = |at| Piece { load: at, store: at, count: BLOCK.min(length - at) };
    (0..length).step_by(BLOCK).map(piece).collect()
}

/// What is read: an operand's buffer, and the dtype in which its values are computed.
pub(crate) struct Source<'a> {
    pub(crate) data: &'a Data,
    pub(crate) dtype: DType,
}

impl Blocks {
    /// Traverses the nest. `consume` gets each block and the registers.
    pub(super) fn walk(
        &self,
        nest: &LoopNest,
        sources: &[Source<'_>],
        mut consume: impl FnMut(Block, &mut [Register]),
    ) {
        (self.prepares)(sources);
        if nest.axes.iter().any(|axis| axis.length == 0) {
            return;
        }
        let (outer, inner) = match nest.axes.split_last() {
            Some((inner, outer)) => (outer, Some(inner)),
            None => (&nest.axes[..], None),
        };
        let length = inner.map_or(1, |inner| inner.length);
        let lengths: Vec<usize> = outer.iter().map(|axis| axis.length).collect();
        let runs: usize = lengths.iter().product();
        let pieces = (self.pieces)(length);
        let mut registers: Vec<Register> = sources.iter().map(|source| [zero(source.dtype); BLOCK]).collect();
        for chunk in 0..runs.div_ceil(CHUNK) {
            let range = (self.runs)(chunk, runs);
            let mut index = (self.unravel)(range.start, &lengths);
            for run in range {
                for (block, &piece) in pieces.iter().enumerate() {
                    for (operand, source) in sources.iter().enumerate() {
                        let step = inner.map_or(0, |inner| inner.strides[operand]);
                        let visit = Visit { path: (self.path)(step), run, block, piece, length };
                        if (self.loads)(visit) {
                            let steps =
                                outer.iter().zip(&index).map(|(axis, &at)| axis.strides[operand] * at as i64);
                            let base = nest.offsets[operand] + steps.sum::<i64>();
                            let at = At { nest, operand, index: &index, step, base, place: 0, visit };
                            self.gather(&mut registers[(self.register)(operand)], source, at);
                        }
                    }
                    let (at, place) = (run * length + piece.store, piece.load);
                    consume(Block { at, count: piece.count, place, length, run }, &mut registers);
                }
                (self.step)(&mut index, &lengths);
            }
        }
    }

    fn gather(&self, register: &mut Register, source: &Source<'_>, mut at: At<'_>) {
        at.step = match at.visit.path {
            Path::Splat => 0,
            Path::Dense => 1,
            Path::Strided => at.step,
        };
        for (lane, slot) in register.iter_mut().enumerate() {
            if lane < at.visit.piece.count || at.visit.path == Path::Splat {
                at.place = at.visit.piece.load + lane;
                *slot = self.read(source, (self.at)(&at));
            }
        }
    }

    /// Reads an element. If a fault reads outside the buffer, this returns some other element: what a real
    /// system would read is just as wrong, and a crash would be easier to detect.
    fn read(&self, source: &Source<'_>, place: i64) -> Scalar {
        let length = i64::try_from(source.data.len()).unwrap_or(i64::MAX).max(1);
        let place = usize::try_from((self.place)(place).rem_euclid(length)).unwrap_or(0);
        source.data.get(place).map_or(zero(source.dtype), |value| convert(value, source.dtype))
    }
}
