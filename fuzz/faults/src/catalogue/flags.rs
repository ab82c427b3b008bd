//! The flags of `theano`.

use super::report;
use crate::{Class, Fault};

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "flags/one-stretches-without",
        class: Class::Flags,
        title: "A length of 1 is stretched although its flag is false.",
        reports: &[report("aesara", "https://github.com/aesara-devs/aesara/issues/335")],
        plant: |d| d.theano.stretches = |axis, _| axis.flag || axis.length == 1,
    },
    Fault {
        id: "flags/first-operand-not-checked",
        class: Class::Flags,
        title: "The check misses a 1 without a flag in the first operand, with which the others are compared.",
        reports: &[report("pytensor", "https://github.com/pymc-devs/pytensor/pull/372")],
        plant: |d| d.theano.stretches = |axis, _| axis.flag || (axis.length == 1 && axis.operand == 0),
    },
    Fault {
        id: "flags/absent-taken-from-the-lengths",
        class: Class::Flags,
        title: "Absent flags are inferred from the lengths: a 1 becomes true.",
        reports: &[report("pytensor", "https://github.com/pymc-devs/pytensor/issues/408")],
        plant: |d| {
            d.theano.absent = |operand| operand.shape().iter().map(|&length| length == 1).collect();
        },
    },
    Fault {
        id: "flags/not-checked-across-ranks",
        class: Class::Flags,
        title: "A 1 without a flag is stretched if the operand also lacks axes, as when it is broadcast to a shape.",
        reports: &[report("pytensor", "https://github.com/pymc-devs/pytensor/issues/379")],
        plant: |d| d.theano.stretches = |axis, _| axis.flag || (axis.length == 1 && axis.own && axis.lacks),
    },
    Fault {
        id: "flags/violation-accepted",
        class: Class::Flags,
        title: "A flag on an axis longer than 1 is accepted.",
        reports: &[],
        plant: |d| d.theano.valid = |_| true,
    },
    Fault {
        id: "flags/zero-under-a-flag-accepted",
        class: Class::Flags,
        title: "A flag on an axis of length 0 is accepted.",
        reports: &[],
        plant: |d| d.theano.valid = |length| length <= 1,
    },
    Fault {
        id: "flags/violation-of-the-other-operand",
        class: Class::Flags,
        title: "A flag violation names the wrong operand.",
        reports: &[],
        plant: |d| d.theano.violator = |place, operands| operands - 1 - place,
    },
    Fault {
        id: "flags/added-axes-do-not-stretch",
        class: Class::Flags,
        title: "Axes that are added on the left are not flagged.",
        reports: &[],
        plant: |d| d.theano.added = false,
    },
    Fault {
        id: "flags/result-flag-of-any",
        class: Class::Flags,
        title: "The result's flag is true if any operand's is.",
        reports: &[],
        plant: |d| d.theano.result = |axes| axes.iter().any(|axis| axis.flag),
    },
    Fault {
        id: "flags/result-flag-by-length",
        class: Class::Flags,
        title: "The result's flag is true if its length is 1.",
        reports: &[],
        plant: |d| d.theano.result = |axes| axes.iter().all(|axis| axis.length == 1),
    },
    Fault {
        id: "flags/flagged-axis-squeezed",
        class: Class::Flags,
        title: "An axis whose flag is true is dropped, and those on its left move to the right.",
        reports: &[],
        plant: |d| {
            d.theano.laid = |flags| (0..flags.len()).filter(|&axis| !flags[axis]).collect();
        },
    },
    Fault {
        id: "flags/flag-ignored",
        class: Class::Flags,
        title: "A 1 whose flag is true is not stretched if the operand has the axis.",
        reports: &[],
        plant: |d| d.theano.stretches = |axis, _| !axis.own,
    },
];
