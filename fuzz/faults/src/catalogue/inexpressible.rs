//! Reported bugs that no request can show, and why: what the suite does not claim to find.

use super::report;
use crate::Report;

/// A reported bug that no request can express.
#[derive(Debug)]
pub struct Inexpressible {
    /// What went wrong.
    pub title: &'static str,
    /// Which system had it.
    pub report: Report,
    /// Why no request can show it.
    pub reason: &'static str,
}

const IN_PLACE: &str = "a request has no output operand";
const SYMBOLIC: &str = "every length of a request is known";

/// The reported bugs that are not in the catalogue.
pub static INEXPRESSIBLE: &[Inexpressible] = &[
    Inexpressible {
        title: "An in-place output aliases a broadcast operand.",
        report: report("numpy", "https://github.com/numpy/numpy/issues/2705"),
        reason: IN_PLACE,
    },
    Inexpressible {
        title: "An in-place operation on an expanded tensor applies once per alias.",
        report: report("pytorch", "https://github.com/pytorch/pytorch/issues/957"),
        reason: IN_PLACE,
    },
    Inexpressible {
        title: "An in-place write through a view of stride 0 mixes rows.",
        report: report("pytorch", "https://github.com/pytorch/pytorch/issues/17185"),
        reason: IN_PLACE,
    },
    Inexpressible {
        title: "An in-place add on an expanded scalar accumulates.",
        report: report("pytorch", "https://github.com/pytorch/pytorch/issues/4664"),
        reason: IN_PLACE,
    },
    Inexpressible {
        title: "Generated in-place code writes through a stride of 0.",
        report: report("pytorch (inductor)", "https://github.com/pytorch/pytorch/issues/183986"),
        reason: IN_PLACE,
    },
    Inexpressible {
        title: "An in-place destination may be smaller than the result.",
        report: report("libgpuarray", "https://github.com/Theano/libgpuarray/issues/205"),
        reason: IN_PLACE,
    },
    Inexpressible {
        title: "An in-place operation does not check shapes and accesses memory out of bounds.",
        report: report("numba", "https://github.com/numba/numba/issues/9166"),
        reason: IN_PLACE,
    },
    Inexpressible {
        title: "The second-order gradient with respect to a broadcast operand has the wrong shape.",
        report: report("Paddle", "https://github.com/PaddlePaddle/Paddle/issues/54742"),
        reason: "gradients are of first order",
    },
    Inexpressible {
        title: "axis is resolved differently if a length is unknown.",
        report: report("Paddle", "https://github.com/PaddlePaddle/Paddle/pull/23913"),
        reason: SYMBOLIC,
    },
    Inexpressible {
        title: "The common length of a symbolic and a known length is inferred wrongly.",
        report: report("tvm", "https://github.com/apache/tvm/pull/15345"),
        reason: SYMBOLIC,
    },
    Inexpressible {
        title: "A 1 is combined wrongly with an unknown length.",
        report: report("dace", "https://github.com/spcl/dace/pull/431"),
        reason: SYMBOLIC,
    },
    Inexpressible {
        title: "Symbolic lengths are assumed equal, and a broadcast is missed.",
        report: report("pytorch", "https://github.com/pytorch/pytorch/issues/136640"),
        reason: SYMBOLIC,
    },
    Inexpressible {
        title: "A negative target length is accepted.",
        report: report("tensorflow", "https://github.com/tensorflow/tensorflow/issues/125545"),
        reason: "a negative length is a malformed request, which the loader refuses",
    },
];
