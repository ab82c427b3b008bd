//! Which axis of the result an operand's axis lies on, where no attribute says it.

use super::report;
use crate::{Class, Fault};

/// The first place from the left at which the lengths of an operand are those of the highest; else that on the right.
fn first_that_matches(shapes: &[Vec<usize>], operand: usize, rank: usize) -> usize {
    let (own, missing) = (&shapes[operand], rank.saturating_sub(shapes[operand].len()));
    let Some(highest) = shapes.iter().find(|shape| shape.len() == rank) else { return missing };
    let matches = |place: &usize| own.iter().zip(&highest[*place..]).all(|(a, b)| a == b);
    (0..=missing).find(matches).unwrap_or(missing)
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
        title: "At most one axis is added on the left, the others on the right.",
        reports: &[],
        plant: |d| {
            d.shapes.missing = |shapes, operand, rank| rank.saturating_sub(shapes[operand].len()).min(1);
        },
    },
    Fault {
        id: "alignment/where-lengths-match",
        class: Class::Alignment,
        title: "An operand of lower rank is laid on the first axes of its lengths.",
        reports: &[report("xtensor", "https://github.com/xtensor-stack/xtensor/issues/1345")],
        plant: |d| d.shapes.missing = first_that_matches,
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
        title: "An operand of ones only counts as a scalar, and the result loses its rank.",
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
        title: "Under none a scalar goes with any shape.",
        reports: &[],
        plant: |d| {
            d.shapes.equal_ranks = |shapes| {
                let mut ranks = shapes.iter().map(Vec::len).filter(|&rank| rank != 0);
                ranks.clone().next().is_none_or(|first| ranks.all(|rank| rank == first))
            };
        },
    },
];
