//! Loops that are merged or removed.

use super::report;
use crate::engine::collapse::{Axis, even, joined};
use crate::{Class, Fault};

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "collapse/by-the-first-operand",
        class: Class::Collapse,
        title: "Axes are collapsed if the first operand allows it, whatever the others do.",
        reports: &[],
        plant: |d| d.collapse.merges = |even| even.first().is_none_or(|&even| even),
    },
    Fault {
        id: "collapse/by-any-operand",
        class: Class::Collapse,
        title: "Axes are collapsed if any operand allows it.",
        reports: &[],
        plant: |d| d.collapse.merges = |even| even.iter().any(|&even| even),
    },
    Fault {
        id: "collapse/still-outer-axis",
        class: Class::Collapse,
        title: "An outer axis with stride 0 is collapsed with an inner axis with another stride.",
        reports: &[],
        plant: |d| {
            d.collapse.even =
                |outer, inner, operand| outer.strides[operand] == 0 || even(outer, inner, operand);
        },
    },
    Fault {
        id: "collapse/still-inner-axis",
        class: Class::Collapse,
        title: "An inner axis with stride 0 is collapsed with an outer axis with another stride.",
        reports: &[],
        plant: |d| {
            d.collapse.even =
                |outer, inner, operand| inner.strides[operand] == 0 || even(outer, inner, operand);
        },
    },
    Fault {
        id: "collapse/length-of-the-outer-axis",
        class: Class::Collapse,
        title: "Whether axes can be collapsed is computed from the length of the outer axis.",
        reports: &[],
        plant: |d| {
            d.collapse.even = |outer, inner, operand| {
                let walked = i128::from(inner.strides[operand]) * outer.length as i128;
                i128::from(outer.strides[operand]) == walked
            };
        },
    },
    Fault {
        id: "collapse/sign-lost",
        class: Class::Collapse,
        title: "A reversed axis is collapsed with a forward one.",
        reports: &[],
        plant: |d| {
            d.collapse.even = |outer, inner, operand| {
                let walked = i128::from(inner.strides[operand]) * inner.length as i128;
                i128::from(outer.strides[operand]).abs() == walked.abs()
            };
        },
    },
    Fault {
        id: "collapse/equal-steps",
        class: Class::Collapse,
        title: "Axes with equal strides are collapsed, as in a view with overlapping windows.",
        reports: &[],
        plant: |d| {
            d.collapse.even = |outer, inner, operand| {
                outer.strides[operand] == inner.strides[operand] || even(outer, inner, operand)
            };
        },
    },
    Fault {
        id: "collapse/steps-of-the-outer-axis",
        class: Class::Collapse,
        title: "Collapsed axes are traversed with the stride of the outer axis.",
        reports: &[],
        plant: |d| {
            d.collapse.joined =
                |outer, inner| Axis { strides: outer.strides.clone(), ..joined(outer, inner) };
        },
    },
    Fault {
        id: "collapse/kernel-by-the-rank",
        class: Class::Collapse,
        title: "Beyond five axes, a kernel expects lengths before strides, but gets none if few axes remain.",
        reports: &[report("mlx", "https://github.com/ml-explore/mlx/issues/583")],
        plant: |d| {
            d.collapse.passed = |strides, before, after| {
                let mut strides = strides.to_vec();
                if before > 5 && (2..=3).contains(&after) {
                    // Each operand is read with the strides of the next.
                    strides.rotate_left(1);
                }
                strides
            };
        },
    },
    Fault {
        id: "collapse/still-axis-dropped",
        class: Class::Collapse,
        title: "An axis along which every operand has stride 0 is dropped, and the elements that should repeat stay zero.",
        reports: &[],
        plant: |d| d.collapse.drops = |axis| axis.length == 1 || axis.strides.iter().all(|&step| step == 0),
    },
];
