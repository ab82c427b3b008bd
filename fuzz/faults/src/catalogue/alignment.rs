//! Which axis of the result an operand's axis is aligned with, if no attribute specifies it.

use super::report;
use crate::{Class, Fault};

/// The first position from the left at which the operand's lengths equal those of the highest operand;
/// otherwise right-aligned.
fn first_that_matches(shapes: &[Vec<usize>], operand: usize, rank: usize) -> usize {
    let (own, missing) = (&shapes[operand], rank.saturating_sub(shapes[operand].len()));
    let Some(highest) = shapes.iter().find(|shape| shape.len() == rank) else { return missing };
    let matches = |place: &usize| own.iter().zip(&highest[*place..]).all(|(a, b)| a == b);
    (0..=missing).find(matches).unwrap_or(missing)
}

/// The second axis of the highest operand if a vector's length equals that one; otherwise right-aligned.
fn on_the_channels(shapes: &[Vec<usize>], operand: usize, rank: usize) -> usize {
    let (own, missing) = (&shapes[operand], rank.saturating_sub(shapes[operand].len()));
    let Some(highest) = shapes.iter().find(|shape| shape.len() == rank) else { return missing };
    let fits = rank > 2 && matches!(own[..], [length] if length != 1 && length == highest[1]);
    if fits { 1 } else { missing }
}

/// The last axis that is neither the first nor the last one, and that a vector fits as it fits the last one.
fn inner_axis_that_fits_too(shapes: &[Vec<usize>], operand: usize, rank: usize) -> usize {
    let (own, missing) = (&shapes[operand], rank.saturating_sub(shapes[operand].len()));
    let Some(highest) = shapes.iter().find(|shape| shape.len() == rank) else { return missing };
    let ([length], [_, inner @ .., last]) = (&own[..], &highest[..]) else { return missing };
    if *length == 1 || length != last {
        return missing;
    }
    inner.iter().rposition(|other| other == length).map_or(missing, |place| place + 1)
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "alignment/left",
        class: Class::Alignment,
        title: "Shapes are aligned on the left.",
        reports: &[report("openvino", "https://github.com/openvinotoolkit/openvino/pull/21950")],
        plant: |d| d.shapes.missing = |_, _, _| 0,
    },
    Fault {
        id: "alignment/left-for-two-missing",
        class: Class::Alignment,
        title: "At most one missing axis is added on the left; the others are added on the right.",
        reports: &[],
        plant: |d| {
            d.shapes.missing = |shapes, operand, rank| rank.saturating_sub(shapes[operand].len()).min(1);
        },
    },
    Fault {
        id: "alignment/where-lengths-match",
        class: Class::Alignment,
        title: "An operand of lower rank is aligned with the first axes that have the same lengths.",
        reports: &[report("xtensor", "https://github.com/xtensor-stack/xtensor/issues/1345")],
        plant: |d| d.shapes.missing = first_that_matches,
    },
    Fault {
        id: "alignment/vector-on-the-channels",
        class: Class::Alignment,
        title: "A vector that fits the second axis is aligned with it, as if that were the axis of channels.",
        reports: &[report("openvino", "https://github.com/openvinotoolkit/openvino/issues/35958")],
        plant: |d| d.shapes.missing = on_the_channels,
    },
    Fault {
        id: "alignment/inner-axis-that-fits-too",
        class: Class::Alignment,
        title: "A vector that fits the last axis is aligned with an inner axis of the same length.",
        reports: &[report("openvino", "https://github.com/openvinotoolkit/openvino/pull/37490")],
        plant: |d| d.shapes.missing = inner_axis_that_fits_too,
    },
    Fault {
        id: "alignment/rank-of-the-first-operand",
        class: Class::Alignment,
        title: "The result has the rank of the first operand.",
        reports: &[],
        plant: |d| d.shapes.rank = |shapes| shapes[0].len(),
    },
    Fault {
        id: "alignment/ones-lose-their-rank",
        class: Class::Alignment,
        title: "An operand with only lengths of 1 is treated as a scalar, so the result loses rank.",
        reports: &[report("openvino", "https://github.com/openvinotoolkit/openvino/pull/35566")],
        plant: |d| {
            d.shapes.rank = |shapes| {
                let counted = shapes.iter().filter(|shape| shape.iter().any(|&length| length != 1));
                counted.map(Vec::len).max().unwrap_or(shapes[0].len())
            };
        },
    },
    Fault {
        id: "alignment/none-takes-a-scalar",
        class: Class::Alignment,
        title: "Under none, a scalar is compatible with any shape.",
        reports: &[],
        plant: |d| {
            d.shapes.equal_ranks = |shapes| {
                let mut ranks = shapes.iter().map(Vec::len).filter(|&rank| rank != 0);
                ranks.clone().next().is_none_or(|first| ranks.all(|rank| rank == first))
            };
        },
    },
];
