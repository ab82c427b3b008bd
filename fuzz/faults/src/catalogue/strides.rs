//! Strides: of dense operands, of views, of stretched axes.

use super::report;
use crate::engine::strides::{Reading, position, row_major, stretched};
use crate::{Class, Fault};
use broadcheck_spec::{DType, Operand};

fn dense(operand: &Operand) -> Vec<i64> {
    row_major(operand.shape())
}

/// The strides over the result, if a 1 at such an axis of such a rank is treated as a dense axis.
fn dense_ones(reading: &Reading, dense: fn(usize, usize) -> bool) -> Vec<i64> {
    let rank = reading.lengths.len();
    let right = stretched(reading);
    let walks = |axis: usize| reading.lengths[axis] == 1 && dense(axis, rank);
    (0..rank).map(|axis| if walks(axis) { reading.strides[axis] } else { right[axis] }).collect()
}

/// Whether an operand is stretched to a length of the result.
fn is_stretched(reading: &Reading) -> bool {
    reading.lengths != reading.common
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "strides/integers-of-eight-axes",
        class: Class::Strides,
        title: "Kernels for integers have eight axes: beyond, the outermost axes of an operand are merged.",
        reports: &[],
        plant: |d| {
            d.shapes.lengths = |operand| {
                let shape = operand.shape().to_vec();
                let merged = shape.len().saturating_sub(7);
                // A view cannot be reshaped, and flags would no longer belong to their axes.
                let dense = operand.strides().is_none() && operand.broadcastable().is_none();
                if !dense || operand.dtype().is_float() || operand.dtype() == DType::Bool || merged < 2 {
                    return shape;
                }
                let outer: usize = shape[..merged].iter().product();
                [&[outer], &shape[merged..]].concat()
            };
        },
    },
    Fault {
        id: "strides/view-read-as-dense",
        class: Class::Strides,
        title: "The strides of a view are ignored.",
        reports: &[],
        plant: |d| d.strides.view = |operand, _| (dense(operand), position(operand.offset())),
    },
    Fault {
        id: "strides/zero-stride-read-as-dense",
        class: Class::Strides,
        title: "An expanded view, with a stride of 0, is read as if its elements were contiguous.",
        reports: &[
            report("candle", "https://github.com/huggingface/candle/issues/3253"),
            report("nvfuser", "https://github.com/csarofeen/pytorch/issues/1514"),
        ],
        plant: |d| {
            d.strides.view = |operand, strides| {
                let expanded = strides
                    .iter()
                    .zip(operand.shape().iter())
                    .any(|(&step, &length)| step == 0 && length > 1);
                let strides = if expanded { dense(operand) } else { strides.to_vec() };
                (strides, position(operand.offset()))
            };
        },
    },
    Fault {
        id: "strides/zero-batch-stride-misread",
        class: Class::Strides,
        title: "A first stride of 0 is replaced by the size of a batch.",
        reports: &[report("candle", "https://github.com/huggingface/candle/issues/3744")],
        plant: |d| {
            d.strides.view = |operand, strides| {
                let mut strides = strides.to_vec();
                if let (Some(first), Some(&batch)) = (strides.first_mut(), dense(operand).first())
                    && *first == 0
                {
                    *first = batch;
                }
                (strides, position(operand.offset()))
            };
        },
    },
    Fault {
        id: "strides/zero-stride-counts-as-length-one",
        class: Class::Strides,
        title: "An axis with a stride of 0 is treated as one of length 1, and stretched.",
        reports: &[report("slinky", "https://github.com/dsharlet/slinky/pull/824")],
        plant: |d| {
            d.shapes.lengths = |operand| {
                let still = |axis: usize| operand.strides().is_some_and(|strides| strides[axis] == 0);
                let length =
                    |(axis, &length): (usize, &usize)| if still(axis) && length > 1 { 1 } else { length };
                operand.shape().iter().enumerate().map(length).collect()
            };
        },
    },
    Fault {
        id: "strides/offset-ignored",
        class: Class::Strides,
        title: "A view starts at the beginning of its buffer, whatever its offset.",
        reports: &[],
        plant: |d| d.strides.view = |_, strides| (strides.to_vec(), 0),
    },
    Fault {
        id: "strides/sign-lost",
        class: Class::Strides,
        title: "A negative stride is treated as positive.",
        reports: &[],
        plant: |d| {
            d.strides.view = |operand, strides| {
                let strides = strides.iter().map(|stride| stride.saturating_abs()).collect();
                (strides, position(operand.offset()))
            };
        },
    },
    Fault {
        id: "strides/transposed-taken-for-dense",
        class: Class::Strides,
        title: "A view that fills its buffer without gaps is treated as dense, although its axes are permuted.",
        reports: &[],
        plant: |d| {
            d.strides.view = |operand, strides| {
                let (mut given, mut wanted) = (strides.to_vec(), dense(operand));
                given.sort_unstable();
                wanted.sort_unstable();
                let full = operand.shape().count() == Some(operand.values().len());
                let strides = if full && given == wanted { dense(operand) } else { strides.to_vec() };
                (strides, position(operand.offset()))
            };
        },
    },
    Fault {
        id: "strides/slice-taken-for-dense",
        class: Class::Strides,
        title: "A view whose last stride is 1 is treated as dense, although there are gaps between its rows.",
        reports: &[],
        plant: |d| {
            d.strides.view = |operand, strides| {
                let strides = if strides.last() == Some(&1) { dense(operand) } else { strides.to_vec() };
                (strides, position(operand.offset()))
            };
        },
    },
    Fault {
        id: "strides/one-of-a-view-walks",
        class: Class::Strides,
        title: "A length of 1 is stretched with the stride that the view specifies for it.",
        reports: &[],
        plant: |d| {
            d.strides.over_result = |readings, operand| match &readings[operand] {
                reading if reading.view => reading.strides.clone(),
                reading => stretched(reading),
            };
        },
    },
    Fault {
        id: "strides/interior-one-read-as-dense",
        class: Class::Strides,
        title: "A 1 between other axes is treated as a dense axis.",
        reports: &[
            report("AITemplate", "https://github.com/facebookincubator/AITemplate/pull/693"),
            report("aiter", "https://github.com/ROCm/aiter/pull/288"),
        ],
        plant: |d| {
            d.strides.over_result =
                |readings, operand| dense_ones(&readings[operand], |axis, rank| axis > 0 && axis + 1 < rank);
        },
    },
    Fault {
        id: "strides/column-read-as-dense",
        class: Class::Strides,
        title: "A 1 on the last axis is treated as a dense axis.",
        reports: &[report("pythran", "https://github.com/serge-sans-paille/pythran/pull/2434")],
        plant: |d| {
            d.strides.over_result =
                |readings, operand| dense_ones(&readings[operand], |axis, rank| axis + 1 == rank);
        },
    },
    Fault {
        id: "strides/leading-one-walks",
        class: Class::Strides,
        title: "An explicit leading 1 is treated as a dense axis.",
        reports: &[report("numba", "https://github.com/numba/numba/issues/3729")],
        plant: |d| {
            d.strides.over_result =
                |readings, operand| dense_ones(&readings[operand], |axis, rank| axis == 0 && rank > 1);
        },
    },
    Fault {
        id: "strides/first-one-only",
        class: Class::Strides,
        title: "Only the first of several ones is stretched.",
        reports: &[report("tt-mlir", "https://github.com/tenstorrent/tt-mlir/issues/1247")],
        plant: |d| {
            d.strides.over_result = |readings, operand| {
                let reading = &readings[operand];
                let differs = |axis: &usize| reading.lengths[*axis] != reading.common[*axis];
                let first = (0..reading.lengths.len()).find(differs);
                let mut strides = reading.strides.clone();
                if let Some(first) = first {
                    strides[first] = 0;
                }
                strides
            };
        },
    },
    Fault {
        id: "strides/bias-read-as-a-row",
        class: Class::Strides,
        title: "A matrix as the second operand is treated as a row: its other rows are never read.",
        reports: &[report("FlagGems", "https://github.com/flagos-ai/FlagGems/pull/553")],
        plant: |d| {
            d.strides.over_result = |readings, operand| {
                let mut strides = stretched(&readings[operand]);
                if let (1, [first, _]) = (operand, &mut strides[..]) {
                    *first = 0;
                }
                strides
            };
        },
    },
    Fault {
        id: "strides/mutual-reads-the-second-as-dense",
        class: Class::Strides,
        title: "If two operands stretch each other, the second is traversed as if it had the shape of the result.",
        reports: &[report("tt-metal", "https://github.com/tenstorrent/tt-metal/issues/14710")],
        plant: |d| {
            d.strides.over_result = |readings, operand| {
                let mutual = readings.len() == 2 && readings.iter().all(is_stretched);
                if mutual && operand == 1 {
                    readings[1].strides.clone()
                } else {
                    stretched(&readings[operand])
                }
            };
        },
    },
    Fault {
        id: "strides/of-the-result",
        class: Class::Strides,
        title: "An operand's strides are computed from the result's lengths instead of its own.",
        reports: &[report("nntrainer", "https://github.com/nntrainer/nntrainer/pull/560")],
        plant: |d| d.strides.dense = |_, common| row_major(common),
    },
    Fault {
        id: "strides/column-major",
        class: Class::Strides,
        title: "A dense operand is read with its first axis varying fastest.",
        reports: &[],
        plant: |d| {
            d.strides.dense = |lengths, _| {
                let reversed: Vec<usize> = lengths.iter().rev().copied().collect();
                row_major(&reversed).into_iter().rev().collect()
            };
        },
    },
    Fault {
        id: "strides/flat-where-counts-agree",
        class: Class::Strides,
        title: "Operands with equal numbers of elements are read linearly, whatever their shapes.",
        reports: &[report("Paddle", "https://github.com/PaddlePaddle/Paddle/pull/21898")],
        plant: |d| {
            d.strides.flat = |readings, _| {
                let count = |reading: &Reading| reading.lengths.iter().product::<usize>();
                readings.len() > 1
                    && readings.iter().all(|reading| !reading.view && count(reading) == count(&readings[0]))
            };
        },
    },
];
