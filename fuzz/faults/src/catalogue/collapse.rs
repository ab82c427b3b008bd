//! Loops made one, or left out.

use crate::engine::collapse::{Axis, even, joined};
use crate::{Class, Fault};

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "collapse/by-the-first-operand",
        class: Class::Collapse,
        title: "Axes are collapsed where the first operand walks on evenly, whatever the others do.",
        reports: &[],
        plant: |d| d.collapse.merges = |even| even.first().is_none_or(|&even| even),
    },
    Fault {
        id: "collapse/by-any-operand",
        class: Class::Collapse,
        title: "Axes are collapsed where any operand walks on evenly.",
        reports: &[],
        plant: |d| d.collapse.merges = |even| even.iter().any(|&even| even),
    },
    Fault {
        id: "collapse/still-outer-axis",
        class: Class::Collapse,
        title: "An outer axis along which an operand stands still is collapsed with one along which it walks.",
        reports: &[],
        plant: |d| {
            d.collapse.even =
                |outer, inner, operand| outer.strides[operand] == 0 || even(outer, inner, operand);
        },
    },
    Fault {
        id: "collapse/still-inner-axis",
        class: Class::Collapse,
        title: "An inner axis along which an operand stands still is collapsed with one along which it walks.",
        reports: &[],
        plant: |d| {
            d.collapse.even =
                |outer, inner, operand| inner.strides[operand] == 0 || even(outer, inner, operand);
        },
    },
    Fault {
        id: "collapse/length-of-the-outer-axis",
        class: Class::Collapse,
        title: "Whether an operand walks on evenly is reckoned with the outer axis' length.",
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
        title: "A reversed axis is collapsed with one that runs forwards.",
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
        title: "Axes with the same step are collapsed, as in a view whose windows overlap.",
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
        title: "Two axes made one are walked with the steps of the outer.",
        reports: &[],
        plant: |d| {
            d.collapse.joined =
                |outer, inner| Axis { strides: outer.strides.clone(), ..joined(outer, inner) };
        },
    },
    Fault {
        id: "collapse/still-axis-dropped",
        class: Class::Collapse,
        title: "An axis along which no operand walks is left out, and what should repeat is left at zero.",
        reports: &[],
        plant: |d| d.collapse.drops = |axis| axis.length == 1 || axis.strides.iter().all(|&step| step == 0),
    },
];
