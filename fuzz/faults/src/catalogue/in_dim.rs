//! Broadcasts on named axes: how many dimensions, which axes they name, in which order, and what fits there.

use super::invented;
use crate::engine::shapes::common;
use crate::{Class, Fault};

fn is_falling(dimensions: &[i64]) -> bool {
    dimensions.windows(2).any(|pair| pair[0] > pair[1])
}

/// These dimensions, if there are as many as axes.
fn counted(given: &[i64], rank: usize) -> Option<Vec<i64>> {
    (given.len() == rank).then(|| given.to_vec())
}

/// The axes from one on, one for each axis of the operand.
fn axes_from(start: usize, rank: usize) -> Option<Vec<i64>> {
    Some((i64::try_from(start).ok()?..).take(rank).collect())
}

pub(super) static FAULTS: &[Fault] = &[
    invented(
        "axis/in-dim-square-not-transposed",
        Class::Axis,
        "A broadcast of a square onto its own shape returns it as it is, also if the dimensions fall.",
        |d| {
            d.xla.seats = |named, shape, target| {
                if shape.len() == 2 && shape == target { (0..shape.len()).collect() } else { named }
            };
        },
    ),
    invented(
        "axis/in-dim-own-shape-is-returned",
        Class::Axis,
        "A broadcast onto the operand's own shape returns it as it is, at any rank.",
        |d| {
            d.xla.seats = |named, shape, target| {
                if shape == target { (0..shape.len()).collect() } else { named }
            };
        },
    ),
    invented(
        "axis/in-dim-dimensions-sorted",
        Class::Axis,
        "Dimensions that fall are sorted, so that nothing is transposed.",
        |d| {
            d.xla.of_target = |given, rank, _| {
                let mut sorted = counted(given, rank)?;
                sorted.sort_unstable();
                Some(sorted)
            };
        },
    ),
    invented(
        "axis/in-dim-dimensions-reversed",
        Class::Axis,
        "Dimensions that fall anywhere reverse all axes, which is right for matrices alone.",
        |d| {
            d.xla.of_target = |given, rank, _| {
                let mut list = counted(given, rank)?;
                if is_falling(&list) {
                    list.sort_unstable();
                    list.reverse();
                }
                Some(list)
            };
        },
    ),
    invented(
        "axis/in-dim-inverse-order",
        Class::Axis,
        "A list that permutes all axes is applied backwards: axis dims[i] of the operand lies on axis i.",
        |d| {
            d.xla.of_target = |given, rank, target| {
                let list = counted(given, rank)?;
                let inverse = |axis: i64| list.iter().position(|&named| named == axis);
                let axes: Option<Vec<usize>> = (0..).take(rank).map(inverse).collect();
                match axes {
                    Some(axes) if rank == target => {
                        axes.into_iter().map(|axis| i64::try_from(axis).ok()).collect()
                    }
                    _ => Some(list),
                }
            };
        },
    ),
    invented(
        "axis/in-dim-falling-refused",
        Class::Axis,
        "Dimensions that fall are refused, as XLA's builder does, although the implementation declares them.",
        |d| d.xla.distinct = |axes| axes.windows(2).all(|pair| pair[0] < pair[1]),
    ),
    invented(
        "axis/in-dim-dimension-twice",
        Class::Axis,
        "A dimension may occur twice, as in OpenVINO's explicit mode.",
        |d| d.xla.distinct = |_| true,
    ),
    invented(
        "axis/in-dim-dimension-twice-unless-neighbours",
        Class::Axis,
        "A dimension may occur twice if another is in between.",
        |d| d.xla.distinct = |axes| axes.windows(2).all(|pair| pair[0] != pair[1]),
    ),
    invented(
        "axis/in-dim-dimension-from-the-end",
        Class::Axis,
        "A negative dimension of a broadcast counts from the end of the target.",
        |d| {
            d.xla.target_axis = |dimension, rank| {
                let rank = i64::try_from(rank).ok()?;
                let axis = if dimension < 0 { dimension.checked_add(rank)? } else { dimension };
                usize::try_from(axis).ok().filter(|_| axis < rank)
            };
        },
    ),
    invented(
        "axis/in-dim-dimension-in-32-bits",
        Class::Axis,
        "Dimensions of a broadcast are read as 32-bit integers.",
        |d| {
            d.xla.target_axis = |dimension, rank| {
                let low = dimension & 0xffff_ffff;
                usize::try_from(low).ok().filter(|&axis| axis < rank)
            };
        },
    ),
    invented(
        "axis/in-dim-absent-is-suffix",
        Class::Axis,
        "Without dimensions, the operand lies on the last axes of the target, as under numpy.",
        |d| {
            d.xla.of_target = |given, rank, target| match given {
                [] => axes_from(target.saturating_sub(rank), rank),
                given => counted(given, rank),
            };
        },
    ),
    invented(
        "axis/in-dim-absent-is-identity-at-equal-ranks",
        Class::Axis,
        "Without dimensions, a target of the operand's rank is taken axis by axis, as of two operands.",
        |d| {
            d.xla.of_target = |given, rank, target| match given {
                [] if rank == target => axes_from(0, rank),
                given => counted(given, rank),
            };
        },
    ),
    invented(
        "axis/in-dim-more-dimensions-ignored",
        Class::Axis,
        "Dimensions beyond the operand's rank are ignored.",
        |d| d.xla.of_target = |given, rank, _| given.get(..rank).map(<[i64]>::to_vec),
    ),
    invented(
        "axis/in-dim-one-not-stretched",
        Class::Axis,
        "A length of 1 is not stretched onto the target.",
        |d| d.xla.onto = |length, wanted| (length == wanted).then_some(wanted),
    ),
    invented(
        "axis/in-dim-one-onto-zero-refused",
        Class::Axis,
        "A length of 1 is refused onto a target of 0.",
        |d| {
            d.xla.onto = |length, wanted| (length == wanted || length == 1 && wanted != 0).then_some(wanted);
        },
    ),
    invented(
        "axis/in-dim-target-stretched",
        Class::Axis,
        "A target of 1 is stretched to the operand's length, as of two operands.",
        |d| d.xla.onto = common,
    ),
    invented(
        "axis/in-dim-axis-in-the-order-of-the-operand",
        Class::Axis,
        "Of several mismatches, that of the operand's first axis is reported, not the leftmost in the target.",
        |d| d.xla.reported = |axes| axes[0],
    ),
];
