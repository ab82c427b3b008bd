//! Blocks and their tails, runs, chunks, and what is kept in registers between them.

use super::report;
use crate::engine::blocks::{At, BLOCK, CHUNK, Path, Piece, Source, Visit, at, pieces, step, unravel};
use crate::{Class, Fault};

fn path(stride: i64) -> Path {
    match stride {
        0 => Path::Splat,
        1 => Path::Dense,
        _ => Path::Strided,
    }
}

/// The blocks of a run with a changed tail. A run of a single block has no tail.
fn with_tail(length: usize, tail: fn(Piece) -> Piece) -> Vec<Piece> {
    let mut pieces = pieces(length);
    if let [_, .., last] = &mut pieces[..]
        && last.count < BLOCK
    {
        *last = tail(*last);
    }
    pieces
}

/// The pieces of a run, with those from a position on changed.
fn from_place(length: usize, place: usize, change: fn(Piece) -> Piece) -> Vec<Piece> {
    let changed = |piece: Piece| if piece.store >= place { change(piece) } else { piece };
    pieces(length).into_iter().map(changed).collect()
}

/// How far an element of a tail is from that of the first of four rows.
fn tail_of_a_band(place: &At<'_>) -> i64 {
    let Some((&row, axis)) = place.index.last().zip(place.nest.axes.iter().rev().nth(1)) else { return 0 };
    if place.visit.block == 0 || place.visit.piece.count == BLOCK {
        return 0;
    }
    axis.strides[place.operand] * (row % 4) as i64
}

/// How far a column's element is from that of the row before, if its vector of eight began in that row.
fn in_the_vector_of_the_row_before(place: &At<'_>) -> i64 {
    let Visit { path, run, length, .. } = place.visit;
    let Some((&row, axis)) = place.index.last().zip(place.nest.axes.iter().rev().nth(1)) else { return 0 };
    let shared = run * length % 8;
    if path != Path::Splat || row == 0 || length <= 8 || shared == 0 || shared + place.place >= 8 {
        return 0;
    }
    axis.strides[place.operand]
}

/// How far the last sixteen values of a longer column are from those before.
fn before_the_end_of_a_column(place: &At<'_>) -> i64 {
    let Some((&row, axis)) = place.index.last().zip(place.nest.axes.iter().rev().nth(1)) else { return 0 };
    let is_copied = axis.length > 16 && row + 16 >= axis.length;
    if place.visit.path == Path::Splat && is_copied { axis.strides[place.operand] } else { 0 }
}

/// How many elements of the result are in whole vectors of eight, and the number of this one, if it comes
/// after those and the innermost axis has two to four elements.
fn after_the_last_vector(place: &At<'_>) -> Option<(usize, usize)> {
    let Visit { run, length, .. } = place.visit;
    let elements = length * place.nest.axes.iter().rev().skip(1).map(|axis| axis.length).product::<usize>();
    let (whole, number) = (elements / 8 * 8, run * length + place.place);
    ((2..=4).contains(&length) && whole > 0 && number >= whole).then_some((whole, number))
}

/// How far a value that is repeated along a short axis is from that which the element after the last vector
/// would have if a repetition began there.
fn repetition_begun_by_the_tail(place: &At<'_>) -> i64 {
    let Some((&row, axis)) = place.index.last().zip(place.nest.axes.iter().rev().nth(1)) else { return 0 };
    let Some((whole, number)) = after_the_last_vector(place) else { return 0 };
    let length = place.visit.length;
    let begun = whole / length + (number - whole) / length;
    if place.visit.path == Path::Splat && row > 0 && begun < number / length {
        axis.strides[place.operand]
    } else {
        0
    }
}

/// How far an element of a short row is from that which the element after the last vector would have if the
/// row began there.
fn row_begun_by_the_tail(place: &At<'_>) -> i64 {
    let Some((whole, number)) = after_the_last_vector(place) else { return 0 };
    let begun = (number - whole) % place.visit.length;
    let still = place.nest.axes.iter().rev().nth(1).is_some_and(|axis| axis.strides[place.operand] == 0);
    if still { place.step * (place.place as i64 - begun as i64) } else { 0 }
}

/// Whether an operand is one row for all, and another one has one value in each row.
fn is_row_beside_a_column(place: &At<'_>) -> bool {
    let [.., outer, inner] = &place.nest.axes[..] else { return false };
    let mut columns =
        inner.strides.iter().zip(&outer.strides).map(|(&inner, &outer)| inner == 0 && outer != 0);
    let is_row = inner.strides[place.operand] != 0 && outer.strides[place.operand] == 0;
    is_row && inner.strides.len() > 2 && columns.any(|is_column| is_column)
}

/// Panics like an out-of-bounds access, but prints nothing.
fn crash_where_empty(sources: &[Source<'_>]) {
    if sources.iter().any(|source| source.data.is_empty()) {
        std::panic::resume_unwind(Box::new("read outside a buffer"));
    }
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "blocks/tail-dropped",
        class: Class::Blocks,
        title: "The remainder after the last whole block is not computed.",
        reports: &[],
        plant: |d| d.blocks.pieces = |length| with_tail(length, |tail| Piece { count: 0, ..tail }),
    },
    Fault {
        id: "blocks/tail-read-from-the-start",
        class: Class::Blocks,
        title: "The tail is computed from the first elements of the run.",
        reports: &[],
        plant: |d| d.blocks.pieces = |length| with_tail(length, |tail| Piece { load: 0, ..tail }),
    },
    Fault {
        id: "blocks/tail-overlaps",
        class: Class::Blocks,
        title: "The last block is moved back to be whole when it is written, but not when it is read.",
        reports: &[],
        plant: |d| {
            d.blocks.pieces = |length| {
                with_tail(length, |tail| Piece {
                    store: tail.store + tail.count - BLOCK,
                    count: BLOCK,
                    ..tail
                })
            };
        },
    },
    Fault {
        id: "blocks/tail-one-short",
        class: Class::Blocks,
        title: "The last element of a tail of odd length is not computed.",
        reports: &[],
        plant: |d| {
            d.blocks.pieces = |length| with_tail(length, |tail| Piece { count: tail.count & !1, ..tail });
        },
    },
    Fault {
        id: "blocks/last-whole-block-dropped",
        class: Class::Blocks,
        title: "A run of several whole blocks lacks its last block.",
        reports: &[],
        plant: |d| {
            d.blocks.pieces = |length| {
                let mut pieces = pieces(length);
                if pieces.len() > 1 && length.is_multiple_of(BLOCK) {
                    pieces.pop();
                }
                pieces
            };
        },
    },
    Fault {
        id: "blocks/stale-tail",
        class: Class::Blocks,
        title: "In the tail, a strided operand keeps the values of the previous block.",
        reports: &[],
        plant: |d| {
            d.blocks.loads = |visit| match visit.path {
                Path::Splat => visit.block == 0,
                Path::Dense => true,
                Path::Strided => visit.block == 0 || visit.piece.count == BLOCK,
            };
        },
    },
    Fault {
        id: "blocks/rest-after-256-dropped",
        class: Class::Blocks,
        title: "The elements of a run after its last whole 256 are not computed.",
        reports: &[],
        plant: |d| {
            d.blocks.pieces = |length| {
                let whole = if length > 256 { length / 256 * 256 } else { length };
                from_place(length, whole, |piece| Piece { count: 0, ..piece })
            };
        },
    },
    Fault {
        id: "blocks/second-1024-reads-the-first",
        class: Class::Blocks,
        title: "After 1024 elements of a run, its first elements are read again.",
        reports: &[],
        plant: |d| {
            d.blocks.pieces =
                |length| from_place(length, 1024, |piece| Piece { load: piece.load % 1024, ..piece });
        },
    },
    Fault {
        id: "blocks/rest-after-1024-dropped",
        class: Class::Blocks,
        title: "The elements of a run after its last whole 1024 are not computed.",
        reports: &[],
        plant: |d| {
            d.blocks.pieces = |length| {
                let whole = if length > 1024 { length / 1024 * 1024 } else { length };
                from_place(length, whole, |piece| Piece { count: 0, ..piece })
            };
        },
    },
    Fault {
        id: "blocks/splat-kept-between-runs",
        class: Class::Blocks,
        title: "An operand with stride 0 in the inner loop is read once for all runs.",
        reports: &[],
        plant: |d| d.blocks.loads = |visit| visit.path != Path::Splat || (visit.block == 0 && visit.run == 0),
    },
    Fault {
        id: "blocks/splat-kept-within-a-chunk",
        class: Class::Blocks,
        title: "An operand with stride 0 in the inner loop is read once for each chunk of runs.",
        reports: &[],
        plant: |d| {
            d.blocks.loads =
                |visit| visit.path != Path::Splat || (visit.block == 0 && visit.run.is_multiple_of(CHUNK));
        },
    },
    Fault {
        id: "blocks/tail-of-a-band-from-its-first-row",
        class: Class::Blocks,
        title: "The tails of four rows are computed together, each with the values of the first of them.",
        reports: &[],
        plant: |d| d.blocks.at = |place| at(place) - tail_of_a_band(place),
    },
    Fault {
        id: "blocks/column-ends-with-its-vector",
        class: Class::Blocks,
        title: "A column is expanded in vectors of eight, and the last one of a row goes on into the next row.",
        reports: &[],
        plant: |d| {
            d.blocks.loads = |_| true;
            d.blocks.at = |place| at(place) - in_the_vector_of_the_row_before(place);
        },
    },
    Fault {
        id: "blocks/copy-of-the-end-of-a-column",
        class: Class::Blocks,
        title: "A column of more than sixteen is read from a copy of its last ones, which begins one too early.",
        reports: &[],
        plant: |d| {
            d.blocks.loads = |_| true;
            d.blocks.at = |place| at(place) - before_the_end_of_a_column(place);
        },
    },
    Fault {
        id: "blocks/tail-begins-a-repetition",
        class: Class::Blocks,
        title: "After the last whole vector of eight, a column along an axis of two to four begins a repetition.",
        reports: &[],
        plant: |d| {
            d.blocks.loads = |_| true;
            d.blocks.at = |place| at(place) - repetition_begun_by_the_tail(place);
        },
    },
    Fault {
        id: "blocks/tail-begins-a-row",
        class: Class::Blocks,
        title: "After the last whole vector of eight, a row of two to four elements is read from its first one on.",
        reports: &[],
        plant: |d| d.blocks.at = |place| at(place) - row_begun_by_the_tail(place),
    },
    Fault {
        id: "blocks/row-beside-a-column-read-once",
        class: Class::Blocks,
        title: "What depends on a row and a column is computed first, once in each row, as if on the column alone.",
        reports: &[],
        plant: |d| {
            d.blocks.at = |place| if is_row_beside_a_column(place) { place.base } else { at(place) };
        },
    },
    Fault {
        id: "blocks/row-kept-between-runs",
        class: Class::Blocks,
        title: "Runs of one block are assumed to be the same row, which is read once for each chunk.",
        reports: &[],
        plant: |d| {
            d.blocks.loads = |Visit { path, run, block, piece, .. }| match path {
                Path::Splat => block == 0,
                Path::Strided => true,
                Path::Dense => block > 0 || piece.count < BLOCK || run.is_multiple_of(CHUNK),
            };
        },
    },
    Fault {
        id: "blocks/splat-read-as-dense",
        class: Class::Blocks,
        title: "The loop for dense operands is used for one with stride 0.",
        reports: &[],
        plant: |d| d.blocks.path = |stride| if stride == 0 { Path::Dense } else { path(stride) },
    },
    Fault {
        id: "blocks/strided-read-as-dense",
        class: Class::Blocks,
        title: "The loop for dense operands is used for one with a stride above 1.",
        reports: &[],
        plant: |d| d.blocks.path = |stride| if stride > 1 { Path::Dense } else { path(stride) },
    },
    Fault {
        id: "blocks/reversed-read-as-dense",
        class: Class::Blocks,
        title: "The loop for dense operands is used for one with a stride of -1.",
        reports: &[],
        plant: |d| d.blocks.path = |stride| if stride == -1 { Path::Dense } else { path(stride) },
    },
    Fault {
        id: "blocks/no-carry",
        class: Class::Blocks,
        title: "At the end of an axis the index returns to its start, but the next outer axis does not advance.",
        reports: &[],
        plant: |d| {
            d.blocks.step = |index, lengths| {
                let last = index.len().saturating_sub(1);
                step(&mut index[last..], &lengths[last..]);
            };
        },
    },
    Fault {
        id: "blocks/carry-over-one-axis",
        class: Class::Blocks,
        title: "The index carries over one axis, but not over two.",
        reports: &[],
        plant: |d| {
            d.blocks.step = |index, lengths| {
                let last = index.len().saturating_sub(2);
                step(&mut index[last..], &lengths[last..]);
            };
        },
    },
    Fault {
        id: "blocks/chunk-index-column-major",
        class: Class::Blocks,
        title: "The index at which a chunk begins is computed with the first axis varying fastest.",
        reports: &[],
        plant: |d| {
            d.blocks.unravel = |run, lengths| {
                let reversed: Vec<usize> = lengths.iter().rev().copied().collect();
                unravel(run, &reversed).into_iter().rev().collect()
            };
        },
    },
    Fault {
        id: "blocks/chunk-begins-late",
        class: Class::Blocks,
        title: "Every chunk except the first begins one run late.",
        reports: &[],
        plant: |d| {
            d.blocks.runs = |chunk, runs| {
                let late = usize::from(chunk > 0);
                (chunk * CHUNK + late).min(runs)..runs.min((chunk + 1) * CHUNK)
            };
        },
    },
    Fault {
        id: "blocks/last-chunk-dropped",
        class: Class::Blocks,
        title: "The runs after the last whole chunk are not computed.",
        reports: &[],
        plant: |d| {
            d.blocks.runs = |chunk, runs| {
                let whole = runs < CHUNK || (chunk + 1) * CHUNK <= runs;
                chunk * CHUNK..if whole { runs.min((chunk + 1) * CHUNK) } else { chunk * CHUNK }
            };
        },
    },
    Fault {
        id: "blocks/condition-of-the-first-lane",
        class: Class::Blocks,
        title: "select uses the condition of a block's first element for the whole block.",
        reports: &[],
        plant: |d| d.evaluate.condition = |_| 0,
    },
    Fault {
        id: "blocks/empty-read-ahead",
        class: Class::Blocks,
        title: "The first element is read before checking that there is one, and the process crashes.",
        reports: &[report("onnx", "https://github.com/onnx/onnx/issues/6294")],
        plant: |d| d.blocks.prepares = crash_where_empty,
    },
    Fault {
        id: "blocks/place-in-eight-bits",
        class: Class::Blocks,
        title: "A position in a buffer is stored in too few bits, and wraps.",
        reports: &[report("mlx", "https://github.com/ml-explore/mlx/issues/124")],
        plant: |d| d.blocks.place = |place| place & 0xff,
    },
];
