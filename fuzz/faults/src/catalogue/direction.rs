//! One-way and two-way broadcasting.

use super::report;
use crate::engine::shapes::common;
use crate::{Class, Fault};

/// Whether each of the first two shapes is stretched by the other, on different axes.
fn mutual(shapes: &[Vec<usize>]) -> bool {
    let [a, b, ..] = shapes else { return false };
    let stretched = |a: &[usize], b: &[usize]| {
        a.iter().rev().zip(b.iter().rev()).any(|(&length, &other)| length == 1 && other != 1)
    };
    stretched(a, b) && stretched(b, a)
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "direction/mutual-refused",
        class: Class::Direction,
        title: "Two operands that stretch each other are refused.",
        reports: &[
            report("libdynd", "https://github.com/libdynd/libdynd/pull/406"),
            report("openvino", "https://github.com/openvinotoolkit/openvino/pull/35566"),
        ],
        plant: |d| d.shapes.possible = |shapes| !mutual(shapes),
    },
    Fault {
        id: "direction/mutual-in-one-order-only",
        class: Class::Direction,
        title: "Of two operands that stretch each other, the one with the leading 1 must be second.",
        reports: &[report("keanu", "https://github.com/improbable-research/keanu/pull/187")],
        plant: |d| d.shapes.possible = |shapes| !(mutual(shapes) && shapes[0].first() == Some(&1)),
    },
    Fault {
        id: "direction/second-onto-first-only",
        class: Class::Direction,
        title: "The second operand is stretched to the first, but never the first to the second.",
        reports: &[report("Paddle", "https://github.com/PaddlePaddle/Paddle/issues/18325")],
        plant: |d| {
            d.shapes.all = |lengths, _| {
                lengths.iter().all(|&length| length == lengths[0] || length == 1).then_some(lengths[0])
            };
        },
    },
    Fault {
        id: "direction/broadcast-exceeds-its-target",
        class: Class::Direction,
        title: "One-way broadcast also stretches the target, so the result does not have the requested shape.",
        reports: &[report("jax", "https://github.com/jax-ml/jax/issues/1522")],
        plant: |d| d.shapes.onto = common,
    },
    Fault {
        id: "direction/broadcast-takes-a-higher-rank",
        class: Class::Direction,
        title: "One-way broadcast accepts an operand of a higher rank than the target's.",
        reports: &[report("jax", "https://github.com/jax-ml/jax/issues/1522")],
        plant: |d| d.shapes.rank_onto = |_, _| true,
    },
    Fault {
        id: "direction/bidirectional-is-one-way",
        class: Class::Direction,
        title: "bidirectional refuses an operand that is longer than a target of 1.",
        reports: &[],
        plant: |d| d.shapes.toward = |length, wanted| (length == wanted || length == 1).then_some(wanted),
    },
    Fault {
        id: "direction/bidirectional-gives-the-target",
        class: Class::Direction,
        title: "bidirectional accepts a target of 1 for any length, and returns the target's length.",
        reports: &[],
        plant: |d| d.shapes.toward = |length, wanted| common(length, wanted).map(|_| wanted),
    },
    Fault {
        id: "direction/pdpd-stretches-a",
        class: Class::Direction,
        title: "Under pdpd, a 1 of A is stretched to B.",
        reports: &[],
        plant: |d| d.pdpd.length = common,
    },
    Fault {
        id: "direction/pdpd-reads-part-of-b",
        class: Class::Direction,
        title: "Under pdpd, a B longer than A's 1 is accepted, and the result keeps A's shape.",
        reports: &[report(
            "openvino (FakeQuantize)",
            "https://github.com/openvinotoolkit/openvino/blob/master/src/core/shape_inference/include/fake_quantize.hpp",
        )],
        plant: |d| d.pdpd.length = |a, b| (b == 1 || b == a || a == 1).then_some(a),
    },
    Fault {
        id: "direction/pdpd-refuses-one-onto-zero",
        class: Class::Direction,
        title: "Under pdpd, a 1 of B is not compatible with a 0 of A.",
        reports: &[],
        plant: |d| d.pdpd.length = |a, b| ((b == 1 && a != 0) || b == a).then_some(a),
    },
    Fault {
        id: "direction/pdpd-takes-a-higher-b",
        class: Class::Direction,
        title: "Under pdpd, a B of a higher rank with leading ones is not refused for its rank.",
        reports: &[],
        plant: |d| d.pdpd.ranks = |_, _| true,
    },
];
