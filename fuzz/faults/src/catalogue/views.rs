//! How views are handled: which are contiguous, tiles of transposed matrices, offsets, signs of strides,
//! descriptors that are too small.

use super::invented;
use crate::engine::blocks::At;
use crate::engine::collapse::{Axis, LoopNest, joined};
use crate::engine::strides::{Reading, position, row_major, stretched};
use crate::{Class, Fault};
use broadcheck_spec::Operand;

const V: Class = Class::Views;

/// A fault in how each view is read.
macro_rules! views {
    (|$reading:ident, $operand:pat_param| $body:expr) => {
        |d| {
            d.strides.read = |readings, operands| {
                for ($reading, $operand) in readings.iter_mut().zip(operands) {
                    if $reading.view {
                        $body
                    }
                }
            }
        }
    };
}

/// A fault in where elements are read: the position, from the correct one.
macro_rules! position {
    (|$at:ident, $correct:ident| $body:expr) => {
        |d| {
            d.blocks.at = |$at| {
                let $correct = crate::engine::blocks::at($at);
                $body
            }
        }
    };
}

fn product(lengths: &[usize]) -> i64 {
    lengths.iter().map(|&length| position(length)).product()
}

/// The strides of the axes that are longer than 1.
fn long(reading: &Reading) -> Vec<(usize, i64)> {
    let axes = reading.lengths.iter().copied().zip(reading.strides.iter().copied());
    axes.filter(|&(length, _)| length > 1).collect()
}

/// Whether the absolute strides are those of a dense tensor.
fn is_dense_up_to_signs(reading: &Reading) -> bool {
    let axes = long(reading);
    let lengths: Vec<usize> = axes.iter().map(|&(length, _)| length).collect();
    axes.iter().map(|&(_, stride)| stride.abs()).eq(row_major(&lengths))
}

/// The number of the axis in memory: 0 for the largest stride.
fn order(strides: &[i64]) -> Vec<usize> {
    let mut axes: Vec<usize> = (0..strides.len()).collect();
    axes.sort_by_key(|&axis| std::cmp::Reverse(strides[axis].abs()));
    axes
}

fn is_transposed(at: &At<'_>) -> bool {
    let outer: Vec<i64> = at.nest.axes.iter().map(|axis| axis.strides[at.operand]).collect();
    matches!(outer[..], [.., rows, columns] if rows == 1 && columns > 1)
}

/// The outer length and the index in it.
fn row(at: &At<'_>) -> (usize, usize) {
    let axes = &at.nest.axes;
    match axes.len().checked_sub(2) {
        Some(outer) => (axes[outer].length, at.index[outer]),
        None => (1, 0),
    }
}

/// Whether two operands read the same values.
fn same_buffer(one: &Operand, other: &Operand) -> bool {
    one.values() == other.values() && one.shape() == other.shape()
}

fn merged(mut nest: LoopNest, outer: usize) -> LoopNest {
    let both: Axis = joined(&nest.axes[outer], &nest.axes[outer + 1]);
    nest.axes.splice(outer..outer + 2, [both]);
    nest
}

pub(super) static FAULTS: &[Fault] = &[
    invented(
        "views/permutation-inverted",
        V,
        "A view with three or more permuted axes is read through the inverse permutation.",
        views!(|reading, _| {
            let axes = order(&reading.strides);
            let dense = axes.len() > 2 && reading.strides.iter().all(|&stride| stride > 0);
            if dense {
                let sorted: Vec<i64> = axes.iter().map(|&axis| reading.strides[axis]).collect();
                reading.strides = axes.iter().map(|&axis| sorted[axis]).collect();
            }
        }),
    ),
    invented(
        "views/reversed-is-contiguous",
        V,
        "A view that fills its buffer without gaps is read forward from its lowest position, although it is reversed.",
        views!(|reading, _| {
            if is_dense_up_to_signs(reading) {
                for (&length, stride) in reading.lengths.iter().zip(&mut reading.strides) {
                    if *stride < 0 && length > 1 {
                        reading.offset += (position(length) - 1) * *stride;
                    }
                    *stride = stride.abs();
                }
            }
        }),
    ),
    invented(
        "views/inner-stride-unchecked",
        V,
        "A view is contiguous if each stride is the next one times its length, whatever the last one is.",
        views!(|reading, _| {
            let axes = long(reading);
            let even = axes.windows(2).all(|pair| pair[0].1 == pair[1].1 * position(pair[1].0));
            if even && axes.last().is_some_and(|&(_, stride)| stride > 1) {
                reading.strides = row_major(&reading.lengths);
            }
        }),
    ),
    invented(
        "views/outer-gap-unchecked",
        V,
        "A view of three or more axes is contiguous if its last two axes are.",
        views!(|reading, _| {
            let dense = row_major(&reading.lengths);
            let inner = reading.lengths.len().saturating_sub(2);
            if inner > 0 && reading.strides[inner..] == dense[inner..] {
                reading.strides = dense;
            }
        }),
    ),
    invented(
        "views/one-breaks-contiguity",
        V,
        "The stride of an axis of length 1 stands for the gap between the rows outside it.",
        views!(|reading, _| {
            for axis in 1..reading.lengths.len() {
                let gap = reading.strides[axis];
                if reading.lengths[axis] == 1
                    && reading.lengths[axis - 1] > 1
                    && gap > reading.strides[axis - 1]
                {
                    reading.strides[axis - 1] = gap;
                }
            }
        }),
    ),
    invented(
        "views/offset-aligned",
        V,
        "The offset of a contiguous view is rounded down to a multiple of 4.",
        views!(|reading, _| {
            if reading.strides == row_major(&reading.lengths) {
                reading.offset &= !3;
            }
        }),
    ),
    invented(
        "views/offset-in-words",
        V,
        "The offset of a view of elements of 2 bytes is counted in elements of 4 bytes.",
        views!(|reading, operand| {
            use broadcheck_spec::DType as D;
            if matches!(operand.dtype(), D::F16 | D::Bf16 | D::I16 | D::U16) {
                reading.offset /= 2;
            }
        }),
    ),
    invented(
        "views/offset-of-an-expanded-scalar",
        V,
        "A view whose strides are all 0 reads the first element of its buffer, whatever its offset.",
        views!(|reading, _| {
            if !reading.strides.is_empty() && reading.strides.iter().all(|&stride| stride == 0) {
                reading.offset = 0;
            }
        }),
    ),
    invented(
        "views/offset-of-a-scalar",
        V,
        "A view of rank 0 reads the first element of its buffer, whatever its offset.",
        views!(|reading, _| {
            if reading.lengths.is_empty() {
                reading.offset = 0;
            }
        }),
    ),
    invented(
        "views/offset-in-rows",
        V,
        "The offset of a view of padded rows is rounded down to the start of a row.",
        views!(|reading, _| {
            if let [.., rows, 1] = reading.strides[..]
                && rows > 1
                && row_major(&reading.lengths) != reading.strides
            {
                reading.offset -= reading.offset.rem_euclid(rows);
            }
        }),
    ),
    invented(
        "views/offset-of-the-first-view",
        V,
        "If two operands are views, both are read from the offset of the first.",
        |d| {
            d.strides.read = |readings, _| {
                if let [first, second, ..] = readings
                    && first.view
                    && second.view
                {
                    second.offset = first.offset;
                }
            };
        },
    ),
    invented(
        "views/reversed-from-the-end",
        V,
        "A reversed vector starts at the end of its buffer, whatever its offset.",
        views!(|reading, operand| {
            if reading.strides[..] == [-1] {
                reading.offset = position(operand.values().len()) - 1;
            }
        }),
    ),
    invented(
        "views/reversed-within-vectors",
        V,
        "With a stride of -1, whole vectors of four are loaded from the right address, but their lanes are not reversed.",
        position!(|at, correct| {
            let vector = at.place < at.visit.length / 4 * 4;
            if at.step == -1 && vector {
                at.base + at.step * (at.place / 4 * 4 + 3 - at.place % 4) as i64
            } else {
                correct
            }
        }),
    ),
    invented(
        "views/reversed-tail-forward",
        V,
        "With a negative stride, the tail is read forward.",
        position!(|at, correct| {
            let whole = at.visit.length / 4 * 4;
            if at.step < 0 && at.place > whole && whole > 0 {
                at.base + at.step * whole as i64 - at.step * (at.place - whole) as i64
            } else {
                correct
            }
        }),
    ),
    invented(
        "views/reversed-rows-merged",
        V,
        "Two reversed axes are merged, whatever the gap between the rows is.",
        |d| {
            d.collapse.even = |outer, inner, operand| {
                let reversed = outer.strides[operand] < 0 && inner.strides[operand] < 0;
                reversed || crate::engine::collapse::even(outer, inner, operand)
            };
        },
    ),
    invented(
        "views/reversed-and-stretched",
        V,
        "A stretched axis with a negative stride starts at its last element.",
        views!(|reading, _| {
            for axis in 0..reading.lengths.len() {
                let (length, common) = (reading.lengths[axis], reading.common[axis]);
                if length == 1 && common > 1 && reading.strides[axis] < 0 {
                    reading.offset += reading.strides[axis];
                }
            }
        }),
    ),
    invented(
        "views/tile-corner-not-transposed",
        V,
        "A transposed matrix is read in tiles of 4 by 4, and the corner where both lengths leave a remainder is not transposed.",
        position!(|at, correct| {
            let (rows, row) = row(at);
            let corner = row >= rows / 4 * 4 && at.place >= at.visit.length / 4 * 4;
            let tiled = rows > 4 && at.visit.length > 4;
            if is_transposed(at) && tiled && corner {
                let start = at.base - row as i64;
                start + at.place as i64 + at.step * row as i64
            } else {
                correct
            }
        }),
    ),
    invented(
        "views/tile-rows-left-over",
        V,
        "A transposed matrix is read in tiles of 4 by 4, and the remaining rows are the last whole row again.",
        position!(|at, correct| {
            let (rows, row) = row(at);
            let whole = rows / 4 * 4;
            if is_transposed(at) && whole > 0 && row >= whole {
                at.base - (row + 1 - whole) as i64 + at.step * at.place as i64
            } else {
                correct
            }
        }),
    ),
    invented(
        "views/tile-of-eight-twice",
        V,
        "A transposed matrix is read in tiles of 8 columns, and the second tile is the first again.",
        position!(|at, correct| {
            let second = at.place / 8 == 1 && at.visit.length >= 16;
            if is_transposed(at) && second { correct - 8 * at.step } else { correct }
        }),
    ),
    invented(
        "views/windows-set-apart",
        V,
        "A view whose rows overlap is read as if they did not.",
        views!(|reading, _| {
            if let ([.., rows], [.., outer, inner]) = (&reading.lengths[..], &mut reading.strides[..])
                && *outer > 0
                && *inner > 0
                && *outer < *inner * position(*rows)
                && *outer <= *inner
            {
                *outer = *inner * position(*rows);
            }
        }),
    ),
    invented(
        "views/zero-strides-moved-last",
        V,
        "The strides of an expanded view are assigned to its axes in order, with the zeros last.",
        views!(|reading, _| {
            let mut strides: Vec<i64> = reading.strides.clone();
            strides.sort_by_key(|&stride| stride == 0);
            reading.strides = strides;
        }),
    ),
    invented(
        "views/stretched-axis-of-a-permuted-view",
        V,
        "A stretched axis between the axes of a permuted view has the stride of the next axis.",
        |d| {
            d.strides.over_result = |readings, operand| {
                let reading = &readings[operand];
                let mut strides = stretched(reading);
                let permuted = reading.strides.windows(2).any(|pair| pair[0] < pair[1]);
                for axis in 1..strides.len().saturating_sub(1) {
                    if reading.view && permuted && reading.lengths[axis] == 1 {
                        strides[axis] = strides[axis + 1];
                    }
                }
                strides
            };
        },
    ),
    invented(
        "views/equal-buffers-share-strides",
        V,
        "Two operands with equal buffers and shapes are one operand, with the strides and the offset of the first.",
        |d| {
            d.strides.read = |readings, operands| {
                for second in 1..readings.len() {
                    let first = (0..second).find(|&first| same_buffer(operands[first], operands[second]));
                    if let Some(first) = first {
                        readings[second] = readings[first].clone();
                    }
                }
            };
        },
    ),
    invented(
        "views/equal-buffers-share-the-offset",
        V,
        "Two views of equal buffers are read from one offset.",
        |d| {
            d.strides.read = |readings, operands| {
                for second in 1..readings.len() {
                    let same = |first: &usize| operands[*first].values() == operands[second].values();
                    if let Some(first) = (0..second).find(same) {
                        readings[second].offset = readings[first].offset;
                    }
                }
            };
        },
    ),
    invented(
        "views/dense-operand-takes-the-layout",
        V,
        "A dense operand of the same shape as a transposed one is read with the other's strides.",
        |d| {
            d.strides.read = |readings, _| {
                let layout = |reading: &&Reading| {
                    let strides = &reading.strides;
                    let permuted = reading.view && product(&reading.lengths) > 1;
                    let mut sorted = strides.clone();
                    sorted.sort_by_key(|&stride| std::cmp::Reverse(stride));
                    permuted && *strides != sorted && sorted == row_major_sorted(reading)
                };
                let Some(found) = readings.iter().find(layout).cloned() else { return };
                for reading in readings.iter_mut().filter(|reading| !reading.view) {
                    if reading.lengths == found.lengths {
                        reading.strides.clone_from(&found.strides);
                    }
                }
            };
        },
    ),
    invented(
        "views/beyond-six-axes",
        V,
        "The descriptor of a view has six axes; those before the last six are not advanced.",
        views!(|reading, _| {
            let beyond = reading.strides.len().saturating_sub(6);
            reading.strides[..beyond].fill(0);
        }),
    ),
    invented(
        "views/beyond-four-axes",
        V,
        "A view of more than four axes is read as if it were dense.",
        views!(|reading, _| {
            if reading.strides.len() > 4 {
                reading.strides = row_major(&reading.lengths);
            }
        }),
    ),
    invented(
        "views/strides-in-16-bits",
        V,
        "The strides of a view are stored in 16 bits.",
        views!(|reading, _| {
            for stride in &mut reading.strides {
                *stride = (*stride + 0x8000).rem_euclid(0x1_0000) - 0x8000;
            }
        }),
    ),
    invented(
        "views/strides-in-8-bits",
        V,
        "The strides of a view are stored in 8 bits.",
        views!(|reading, _| {
            for stride in &mut reading.strides {
                *stride = (*stride + 0x80).rem_euclid(0x100) - 0x80;
            }
        }),
    ),
    invented(
        "views/collapse-compares-one-byte",
        V,
        "Whether axes can be merged is decided from the last bytes of the strides.",
        |d| {
            d.collapse.even = |outer, inner, operand| {
                let walked = i128::from(inner.strides[operand]) * inner.length as i128;
                (i128::from(outer.strides[operand]) - walked) % 256 == 0
            };
        },
    ),
    invented(
        "views/outermost-of-four-merged",
        V,
        "If four loops remain, the two outermost are merged without a check.",
        |d| {
            d.collapse.finished = |nest| if nest.axes.len() >= 4 { merged(nest, 0) } else { nest };
        },
    ),
    invented(
        "views/shuffle-for-stride-two",
        V,
        "With a stride of 2, the upper two lanes of each whole vector of four are exchanged.",
        position!(|at, correct| {
            let vector = at.place < at.visit.length / 4 * 4;
            match at.place % 4 {
                2 if at.step == 2 && vector => correct + at.step,
                3 if at.step == 2 && vector => correct - at.step,
                _ => correct,
            }
        }),
    ),
    invented(
        "views/stride-by-a-shift",
        V,
        "A stride above 4 is rounded down to a power of two, as it is applied by a shift.",
        position!(|at, correct| {
            if at.step > 4 {
                let shift = at.step.ilog2();
                at.base + ((at.place as i64) << shift)
            } else {
                correct
            }
        }),
    ),
    invented(
        "views/negative-stride-of-three",
        V,
        "A negative stride other than -1 and -2 is used for the first vector only; the next ones use -1.",
        position!(|at, correct| {
            if at.step < -2 && at.place >= 4 {
                at.base + at.step * 3 - (at.place as i64 - 3)
            } else {
                correct
            }
        }),
    ),
    invented(
        "views/second-view-without-its-gap",
        V,
        "If both operands are views with gaps between their rows, the second has the gap of the first.",
        |d| {
            d.strides.read = |readings, _| {
                if let [first, second, ..] = readings
                    && first.view
                    && second.view
                    && first.lengths == second.lengths
                    && let (&[outer, 1], [rows, 1]) = (&first.strides[..], &mut second.strides[..])
                {
                    *rows = outer;
                }
            };
        },
    ),
];

/// The strides of the view's axes in the order of memory, if it had no gaps.
fn row_major_sorted(reading: &Reading) -> Vec<i64> {
    let axes = order(&reading.strides);
    let lengths: Vec<usize> = axes.iter().map(|&axis| reading.lengths[axis]).collect();
    row_major(&lengths)
}
