//! The common length of two lengths, and the shape built from common lengths.

use super::report;
use crate::engine::Decisions;
use crate::engine::shapes::{Common, common};
use crate::{Class, Fault};

/// Replaces the common length everywhere two lengths are compared.
fn everywhere(decisions: &mut Decisions, length: Common) {
    decisions.shapes.common = length;
    decisions.shapes.toward = length;
    decisions.xla.in_dim = length;
    decisions.xla.degenerate = length;
}

fn larger(a: usize, b: usize) -> Option<usize> {
    common(a, b).map(|_| a.max(b))
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "lengths/maximum",
        class: Class::Lengths,
        title: "The common length under numpy is the larger of the two, so 0 with 1 gives 1.",
        reports: &[report("burn", "https://github.com/tracel-ai/burn/issues/5334")],
        plant: |d| d.shapes.common = larger,
    },
    Fault {
        id: "lengths/maximum-in-xla",
        class: Class::Lengths,
        title: "The degenerate step of xla takes the larger length, as XLA's document says.",
        reports: &[],
        plant: |d| d.xla.degenerate = larger,
    },
    Fault {
        id: "lengths/maximum-with-the-target",
        class: Class::Lengths,
        title: "A 1 broadcast to a target of 0 gives 1.",
        reports: &[report("openvino", "https://github.com/openvinotoolkit/openvino/issues/31049")],
        plant: |d| d.shapes.toward = larger,
    },
    Fault {
        id: "lengths/maximum-under-a-flag",
        class: Class::Lengths,
        title: "A flagged 1 against a length of 0 gives 1.",
        reports: &[],
        plant: |d| {
            d.theano.length = |fixed, all| {
                let same = fixed.iter().all(|length| *length == fixed[0]);
                same.then(|| all.iter().map(|axis| axis.length).max().unwrap_or(1))
            };
        },
    },
    Fault {
        id: "lengths/zero-refuses-one",
        class: Class::Lengths,
        title: "A length of 0 is not compatible with 1.",
        reports: &[
            report("onnxruntime", "https://github.com/microsoft/onnxruntime/pull/25663"),
            report("rten", "https://github.com/robertknight/rten/pull/1369"),
        ],
        plant: |d| everywhere(d, |a, b| common(a, b).filter(|&length| length != 0 || a == b)),
    },
    Fault {
        id: "lengths/zero-stretches",
        class: Class::Lengths,
        title: "A length of 0 is stretched as if it were a 1.",
        reports: &[report("tinygrad", "https://github.com/tinygrad/tinygrad/pull/3097")],
        plant: |d| everywhere(d, |a, b| if a.min(b) == 0 { Some(a.max(b)) } else { common(a, b) }),
    },
    Fault {
        id: "lengths/zero-target-refused",
        class: Class::Lengths,
        title: "Only a 0 can be broadcast to a target of 0.",
        reports: &[report("aesara", "https://github.com/aesara-devs/aesara/pull/509")],
        plant: |d| {
            d.shapes.onto = |length, wanted| match wanted {
                0 => (length == 0).then_some(0),
                _ => (length == wanted || length == 1).then_some(wanted),
            };
        },
    },
    Fault {
        id: "lengths/mismatch-accepted",
        class: Class::Lengths,
        title: "The result's length is the larger of any two; whether they are compatible is never checked.",
        reports: &[report("pytensor", "https://github.com/pymc-devs/pytensor/issues/152")],
        plant: |d| everywhere(d, |a, b| Some(a.max(b))),
    },
    Fault {
        id: "lengths/shorter-of-two",
        class: Class::Lengths,
        title: "Different lengths are cut to the shorter, as when two lists are zipped.",
        reports: &[],
        plant: |d| everywhere(d, |a, b| common(a, b).or(Some(a.min(b)))),
    },
    Fault {
        id: "lengths/multiple-tiles",
        class: Class::Lengths,
        title: "A length is compatible with its multiples and is tiled.",
        reports: &[],
        plant: |d| {
            everywhere(d, |a, b| {
                let multiple = a.min(b) > 0 && a.max(b).is_multiple_of(a.min(b));
                common(a, b).or(multiple.then_some(a.max(b)))
            });
        },
    },
    Fault {
        id: "lengths/all-ones-unset",
        class: Class::Lengths,
        title: "If all lengths are 1, none is copied to the result, whose length is 0.",
        reports: &[report("aesara", "https://github.com/aesara-devs/aesara/pull/526")],
        plant: |d| {
            d.shapes.all = |lengths, common| {
                let others = lengths.iter().filter(|&&length| length != 1);
                others.copied().map(Some).reduce(|a, b| common(a?, b?)).unwrap_or(Some(0))
            };
        },
    },
    Fault {
        id: "lengths/of-the-first-operand",
        class: Class::Lengths,
        title: "The result has the lengths of the first operand on the axes that it has.",
        reports: &[report("mlx", "https://github.com/ml-explore/mlx/issues/4124")],
        plant: |d| {
            d.shapes.result = |mut lengths, shapes| {
                let missing = lengths.len().saturating_sub(shapes[0].len());
                for (length, &first) in lengths[missing..].iter_mut().zip(&shapes[0]) {
                    *length = first;
                }
                lengths
            };
        },
    },
    Fault {
        id: "lengths/leading-from-the-first-operand",
        class: Class::Lengths,
        title: "Axes that the first operand lacks take the lengths of its own first axes.",
        reports: &[report("nd4j", "https://github.com/deeplearning4j/nd4j/issues/1101")],
        plant: |d| {
            d.shapes.result = |mut lengths, shapes| {
                let missing = lengths.len().saturating_sub(shapes[0].len());
                for (length, &first) in lengths[..missing].iter_mut().zip(&shapes[0]) {
                    *length = first;
                }
                lengths
            };
        },
    },
    Fault {
        id: "lengths/exchanged-beside-a-one",
        class: Class::Lengths,
        title: "The two lengths of the result are swapped if an operand has a single element.",
        reports: &[report("XNNPACK", "https://github.com/google/XNNPACK/pull/10650")],
        plant: |d| {
            d.shapes.result = |mut lengths, shapes| {
                if lengths.len() == 2 && shapes.iter().any(|shape| shape == &[1]) {
                    lengths.swap(0, 1);
                }
                lengths
            };
        },
    },
    Fault {
        id: "lengths/none-stretches",
        class: Class::Lengths,
        title: "Under none, a 1 is compatible with any length.",
        reports: &[],
        plant: |d| {
            d.shapes.equal_lengths = |lengths| {
                let mut others = lengths.iter().filter(|&&length| length != 1);
                others.clone().next().is_none_or(|first| others.all(|length| length == first))
            };
        },
    },
];
