//! Attributes that name axes: `axis` of pdpd, `broadcast_dimensions` of xla.

use super::report;
use crate::engine::pdpd::trimmed;
use crate::engine::shapes::common;
use crate::{Class, Fault};

fn suffix(lower: usize, higher: usize) -> Vec<usize> {
    (higher.saturating_sub(lower)..higher).collect()
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "axis/ignored",
        class: Class::Axis,
        title: "B is aligned with the last axes of A, whatever axis is.",
        reports: &[report("openvino", "https://github.com/openvinotoolkit/openvino/issues/4209")],
        plant: |d| d.pdpd.start = |_, a, b, _| Some(a.saturating_sub(b)),
    },
    Fault {
        id: "axis/first-eight-only",
        class: Class::Axis,
        title: "axis is stored in three bits, so B starts eight axes too early beyond the eighth.",
        reports: &[],
        plant: |d| {
            d.pdpd.start = |axis, a, b, _| match axis {
                None | Some(-1) => Some(a.saturating_sub(b)),
                Some(axis) => usize::try_from(axis).ok().map(|axis| if axis < a { axis % 8 } else { axis }),
            };
        },
    },
    Fault {
        id: "axis/for-vectors-only",
        class: Class::Axis,
        title: "axis is only used if B has rank 1.",
        reports: &[report("openvino", "https://github.com/openvinotoolkit/openvino/pull/4462")],
        plant: |d| {
            d.pdpd.start = |axis, a, b, _| match axis {
                Some(axis) if axis >= 0 && b == 1 => usize::try_from(axis).ok(),
                _ => Some(a.saturating_sub(b)),
            };
        },
    },
    Fault {
        id: "axis/absent-is-zero",
        class: Class::Axis,
        title: "An absent axis is taken as 0.",
        reports: &[report("AMDMIGraphX", "https://github.com/ROCm/AMDMIGraphX/pull/159")],
        plant: |d| {
            d.pdpd.start = |axis, a, b, _| match axis {
                Some(-1) => Some(a.saturating_sub(b)),
                axis => usize::try_from(axis.unwrap_or(0)).ok(),
            };
        },
    },
    Fault {
        id: "axis/dropped-in-conversion",
        class: Class::Axis,
        title: "B is padded with trailing ones to A's rank, whatever axis is, so it starts at the first axis of A.",
        reports: &[report(
            "onnx",
            "https://github.com/onnx/onnx/blob/main/onnx/version_converter/adapters/broadcast_forward_compatibility.h",
        )],
        plant: |d| {
            d.pdpd.start = |axis, a, b, _| match axis {
                None | Some(-1) => Some(a.saturating_sub(b)),
                Some(axis) => usize::try_from(axis).ok().map(|_| 0),
            };
        },
    },
    Fault {
        id: "axis/default-after-trimming",
        class: Class::Axis,
        title: "The default axis is computed from the rank of B without its trailing ones.",
        reports: &[],
        plant: |d| {
            d.pdpd.start = |axis, a, _, kept| match axis {
                None | Some(-1) => Some(a.saturating_sub(kept)),
                Some(axis) => usize::try_from(axis).ok(),
            };
        },
    },
    Fault {
        id: "axis/minus-one-is-the-last",
        class: Class::Axis,
        title: "An axis of -1 means the last axis of A.",
        reports: &[],
        plant: |d| {
            d.pdpd.start = |axis, a, b, _| match axis {
                None => Some(a.saturating_sub(b)),
                Some(-1) => Some(a.saturating_sub(1)),
                Some(axis) => usize::try_from(axis).ok(),
            };
        },
    },
    Fault {
        id: "axis/negative-from-the-end",
        class: Class::Axis,
        title: "A negative axis other than -1 counts from the end of A.",
        reports: &[],
        plant: |d| {
            d.pdpd.start = |axis, a, b, _| match axis {
                None | Some(-1) => Some(a.saturating_sub(b)),
                Some(axis) if axis < 0 => a.checked_add_signed(isize::try_from(axis).ok()?),
                Some(axis) => usize::try_from(axis).ok(),
            };
        },
    },
    Fault {
        id: "axis/trailing-ones-kept",
        class: Class::Axis,
        title: "Trailing ones of B are not dropped before it is aligned with A.",
        reports: &[],
        plant: |d| d.pdpd.kept = <[usize]>::len,
    },
    Fault {
        id: "axis/one-trailing-one-dropped",
        class: Class::Axis,
        title: "Only the last of several trailing ones of B is dropped.",
        reports: &[],
        plant: |d| d.pdpd.kept = |b| trimmed(b).max(b.len().saturating_sub(1)),
    },
    Fault {
        id: "axis/room-for-one-more",
        class: Class::Axis,
        title: "B may reach one axis beyond A.",
        reports: &[],
        plant: |d| d.pdpd.room = |start, kept, a| start.checked_add(kept).is_some_and(|end| end <= a + 1),
    },
    Fault {
        id: "axis/no-room-at-the-end",
        class: Class::Axis,
        title: "A scalar B is refused if axis is the rank of A.",
        reports: &[],
        plant: |d| {
            d.pdpd.room =
                |start, kept, a| start.checked_add(kept).is_some_and(|end| end <= a) && (start < a || a == 0);
        },
    },
    Fault {
        id: "axis/dimensions-ignored",
        class: Class::Axis,
        title: "The lower operand is aligned with the last axes, whatever broadcast_dimensions is.",
        reports: &[report("jax (Metal)", "https://github.com/jax-ml/jax/issues/16420")],
        plant: |d| d.xla.lies_on = |named, higher| suffix(named.len(), higher),
    },
    Fault {
        id: "axis/dimensions-from-zero",
        class: Class::Axis,
        title: "The lower operand is aligned with the first axes, whatever broadcast_dimensions is.",
        reports: &[],
        plant: |d| d.xla.lies_on = |named, _| (0..named.len()).collect(),
    },
    Fault {
        id: "axis/dimensions-guessed",
        class: Class::Axis,
        title: "Different ranks without broadcast_dimensions are right-aligned instead of refused.",
        reports: &[],
        plant: |d| {
            d.xla.absent = |lower, higher| {
                suffix(lower, higher).into_iter().map(|axis| i64::try_from(axis).ok()).collect()
            };
        },
    },
    Fault {
        id: "axis/dimensions-from-the-end",
        class: Class::Axis,
        title: "A negative broadcast dimension counts from the end.",
        reports: &[],
        plant: |d| {
            d.xla.axis = |dimension, higher| {
                let counted =
                    if dimension < 0 { dimension.checked_add_unsigned(higher as u64)? } else { dimension };
                usize::try_from(counted).ok().filter(|&axis| axis < higher)
            };
        },
    },
    Fault {
        id: "axis/dimensions-in-any-order",
        class: Class::Axis,
        title: "Decreasing broadcast_dimensions are treated as a transposition.",
        reports: &[],
        plant: |d| d.xla.increasing = |before, after| before != after,
    },
    Fault {
        id: "axis/dimensions-repeated",
        class: Class::Axis,
        title: "Two axes of the lower operand may map to the same axis.",
        reports: &[],
        plant: |d| d.xla.increasing = |before, after| before <= after,
    },
    Fault {
        id: "axis/too-few-dimensions",
        class: Class::Axis,
        title: "Fewer broadcast_dimensions than the lower operand has axes are accepted.",
        reports: &[],
        plant: |d| d.xla.count = |found, lower| found <= lower,
    },
    Fault {
        id: "axis/permutation-at-equal-ranks",
        class: Class::Axis,
        title: "broadcast_dimensions are ignored for equal ranks.",
        reports: &[],
        plant: |d| d.xla.identity = |_, _| true,
    },
    Fault {
        id: "axis/identity-refused",
        class: Class::Axis,
        title: "For equal ranks, the identity as broadcast_dimensions is refused.",
        reports: &[],
        plant: |d| d.xla.identity = |dimensions, _| dimensions.is_empty(),
    },
    Fault {
        id: "axis/in-dim-wants-equal-lengths",
        class: Class::Axis,
        title: "The in-dim step does not stretch a 1, as XLA's text says but its own example contradicts.",
        reports: &[],
        plant: |d| d.xla.in_dim = |a, b| (a == b).then_some(a),
    },
    Fault {
        id: "axis/intermediate-already-stretched",
        class: Class::Axis,
        title: "The shape after the in-dim step has the lengths of the result.",
        reports: &[],
        plant: |d| {
            d.xla.intermediate = |higher, lower, axes| {
                let mut shape = higher.to_vec();
                for (&length, &axis) in lower.iter().zip(axes) {
                    shape[axis] = common(length, shape[axis]).unwrap_or(length);
                }
                shape
            };
        },
    },
];
