//! Which operand is the first argument of a function that is not commutative.

use super::report;
use crate::{Class, Fault};

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "operand-order/lower-rank-goes-second",
        class: Class::OperandOrder,
        title: "Arguments are swapped if the first has the lower rank.",
        reports: &[
            report("archimedes", "https://github.com/PineTreeLabs/archimedes/pull/122"),
            report("onnx2tf", "https://github.com/PINTO0309/onnx2tf/pull/109"),
        ],
        plant: |d| {
            d.evaluate.exchanged = |site| match *site.ranks {
                [Some(first), Some(second)] => first < second,
                _ => false,
            };
        },
    },
    Fault {
        id: "operand-order/splat-goes-second",
        class: Class::OperandOrder,
        title: "The loop for a vector and a constant is also used for a constant and a vector.",
        reports: &[],
        plant: |d| d.evaluate.exchanged = |site| *site.splats == [Some(true), Some(false)],
    },
    Fault {
        id: "operand-order/list-goes-before-expression",
        class: Class::OperandOrder,
        title: "Arguments are taken in the order of the list of operands, not of the expression.",
        reports: &[],
        plant: |d| {
            d.evaluate.exchanged = |site| match *site.operands {
                [Some(first), Some(second)] => first > second,
                _ => false,
            };
        },
    },
    Fault {
        id: "operand-order/operand-goes-first",
        class: Class::OperandOrder,
        title: "If one argument is the result of a function and the other an operand, the operand goes first.",
        reports: &[],
        plant: |d| d.evaluate.exchanged = |site| matches!(*site.operands, [None, Some(_)]),
    },
];
