//! The rule set `leading`: the side on which shapes are aligned, and ones at the end.

use super::invented;
use crate::{Class, Fault};

pub(super) static FAULTS: &[Fault] = &[
    invented(
        "alignment/leading-aligned-at-the-right",
        Class::Alignment,
        "Under leading, shapes are aligned at the right, as under numpy.",
        |d| d.leading.missing = |shapes, operand, rank| rank.saturating_sub(shapes[operand].len()),
    ),
    invented(
        "alignment/leading-vector-is-a-row",
        Class::Alignment,
        "Under leading, a vector is aligned with the second axis, as a row of a matrix.",
        |d| {
            d.leading.missing = |shapes, operand, rank| usize::from(shapes[operand].len() == 1 && rank > 1);
        },
    ),
    invented(
        "alignment/leading-one-missing-axis-only",
        Class::Alignment,
        "Under leading, one missing axis is added at the end, and the others in front.",
        |d| {
            d.leading.missing =
                |shapes, operand, rank| rank.saturating_sub(shapes[operand].len()).saturating_sub(1);
        },
    ),
    invented(
        "alignment/leading-last-ones-dropped",
        Class::Alignment,
        "Under leading, the result loses its last axes of length 1, as in arrays without them.",
        |d| {
            d.leading.result = |lengths, _| {
                let kept = lengths.iter().rposition(|&length| length != 1).map_or(0, |last| last + 1);
                lengths[..kept].to_vec()
            };
        },
    ),
    invented(
        "alignment/leading-scalar-is-a-matrix",
        Class::Alignment,
        "Under leading, scalars give a matrix of one element, because every array has two axes or more.",
        |d| d.leading.result = |lengths, _| if lengths.is_empty() { vec![1, 1] } else { lengths },
    ),
    invented(
        "refusal/leading-rightmost-mismatch-reported",
        Class::Refusal,
        "Under leading, a refusal names the last axis that fails, the leftmost of the reversed shapes.",
        |d| d.leading.reported = |failing, _| failing[failing.len() - 1],
    ),
    invented(
        "refusal/leading-axis-counted-from-the-end",
        Class::Refusal,
        "Under leading, the axis of a refusal is counted from the last one, as in the reversed shapes.",
        |d| d.leading.reported = |failing, rank| rank - 1 - failing[0],
    ),
    invented(
        "direction/leading-broadcast-takes-a-higher-rank",
        Class::Direction,
        "Under leading, one-way broadcast accepts an operand of a higher rank than the target's.",
        |d| d.leading.rank_onto = |_, _| true,
    ),
    invented(
        "infer/leading-inferred-at-the-right",
        Class::Infer,
        "Under leading, what is inferred before the run is aligned at the right.",
        |d| d.leading.inferred = |axis, own, rank| (axis + own).checked_sub(rank),
    ),
];
