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
        title: "The number of elements wraps at 2^64, and what is left is let through.",
        reports: &[
            report("tensorflow", "https://github.com/tensorflow/tensorflow/issues/124949"),
            report("ndarray", "https://github.com/rust-ndarray/ndarray/pull/173"),
        ],
        plant: |d| d.sizes.count = |lengths| Some(others(lengths).fold(1, u64::wrapping_mul)),
    },
    Fault {
        id: "sizes/count-in-32-bits",
        class: Class::Sizes,
        title: "No more than 2^31-1 elements are counted.",
        reports: &[report("tensorflow", "https://github.com/tensorflow/tensorflow/issues/41499")],
        plant: |d| d.sizes.bound = (1 << 31) - 1,
    },
    Fault {
        id: "sizes/bound-one-too-high",
        class: Class::Sizes,
        title: "2^63 elements are let through.",
        reports: &[],
        plant: |d| d.sizes.bound = 1 << 63,
    },
    Fault {
        id: "sizes/zero-hides-the-others",
        class: Class::Sizes,
        title: "A length of 0 excuses the others from being counted.",
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
        title: "For a gradient the result underneath is not counted.",
        reports: &[],
        plant: |d| d.sizes.underneath = false,
    },
    Fault {
        id: "sizes/before-shapes",
        class: Class::Sizes,
        title: "An operand is refused for its size before its lengths are compared.",
        reports: &[],
        plant: |d| d.sizes.last = false,
    },
    Fault {
        id: "refusal/axis-from-the-right",
        class: Class::Refusal,
        title: "The axis that a refusal names is counted from the right.",
        reports: &[],
        plant: |d| d.shapes.reported = |failing, rank| rank - 1 - failing[0],
    },
    Fault {
        id: "refusal/rightmost-axis",
        class: Class::Refusal,
        title: "Of several axes that fail the rightmost is named.",
        reports: &[],
        plant: |d| d.shapes.reported = |failing, _| failing[failing.len() - 1],
    },
];
