//! Element counts, and what a refusal names.

use super::report;
use crate::{Class, Fault};

fn others(lengths: &[usize]) -> impl Iterator<Item = u64> + '_ {
    lengths.iter().filter(|&&length| length != 0).map(|&length| length as u64)
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "sizes/count-wraps",
        class: Class::Sizes,
        title: "The number of elements wraps at 2^64, and the wrapped number is accepted.",
        reports: &[
            report("tensorflow", "https://github.com/tensorflow/tensorflow/issues/124949"),
            report("ndarray", "https://github.com/rust-ndarray/ndarray/pull/173"),
        ],
        plant: |d| d.sizes.count = |lengths| Some(others(lengths).fold(1, u64::wrapping_mul)),
    },
    Fault {
        id: "sizes/count-in-32-bits",
        class: Class::Sizes,
        title: "More than 2^31-1 elements are refused.",
        reports: &[report("tensorflow", "https://github.com/tensorflow/tensorflow/issues/41499")],
        plant: |d| d.sizes.bound = (1 << 31) - 1,
    },
    Fault {
        id: "sizes/bound-one-too-high",
        class: Class::Sizes,
        title: "2^63 elements are accepted.",
        reports: &[],
        plant: |d| d.sizes.bound = 1 << 63,
    },
    Fault {
        id: "sizes/zero-hides-the-others",
        class: Class::Sizes,
        title: "If a length is 0, the other lengths are not counted.",
        reports: &[],
        plant: |d| {
            d.sizes.count = |lengths| match lengths.contains(&0) {
                true => Some(0),
                false => others(lengths).try_fold(1, u64::checked_mul),
            };
        },
    },
    Fault {
        id: "sizes/underneath-not-counted",
        class: Class::Sizes,
        title: "For a gradient, the elements of the underlying result are not counted.",
        reports: &[],
        plant: |d| d.sizes.underneath = false,
    },
    Fault {
        id: "sizes/product-of-the-operands",
        class: Class::Sizes,
        title: "The product of the element counts of all operands is limited.",
        reports: &[],
        plant: |d| {
            d.sizes.together = |counts| counts.iter().try_fold(1, |all: u64, &count| all.checked_mul(count));
        },
    },
    Fault {
        id: "sizes/before-shapes",
        class: Class::Sizes,
        title: "The size of an operand is checked before its lengths are compared.",
        reports: &[],
        plant: |d| d.sizes.last = false,
    },
    Fault {
        id: "refusal/axis-from-the-right",
        class: Class::Refusal,
        title: "The axis in a refusal is counted from the right.",
        reports: &[],
        plant: |d| d.shapes.reported = |failing, rank| rank - 1 - failing[0],
    },
    Fault {
        id: "refusal/rightmost-axis",
        class: Class::Refusal,
        title: "If several axes fail, the refusal names the rightmost.",
        reports: &[],
        plant: |d| d.shapes.reported = |failing, _| failing[failing.len() - 1],
    },
];
