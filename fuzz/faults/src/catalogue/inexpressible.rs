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

const SHARED_PLACES: &str = "a destination whose elements share a place of its buffer is malformed (INTO-4)";

/// The reported bugs that are not in the catalogue.
pub static INEXPRESSIBLE: &[Inexpressible] = &[
    Inexpressible {
        title: "An in-place addition to a broadcast array adds once for each place of its memory.",
        report: report("numpy", "https://github.com/numpy/numpy/issues/2705"),
        reason: SHARED_PLACES,
    },
    Inexpressible {
        title: "An in-place operation on an expanded tensor applies once per alias.",
        report: report("pytorch", "https://github.com/pytorch/pytorch/issues/957"),
        reason: SHARED_PLACES,
    },
    Inexpressible {
        title: "An in-place write through a view of stride 0 mixes rows.",
        report: report("pytorch", "https://github.com/pytorch/pytorch/issues/17185"),
        reason: SHARED_PLACES,
    },
    Inexpressible {
        title: "An in-place add on an expanded scalar accumulates.",
        report: report("pytorch", "https://github.com/pytorch/pytorch/issues/4664"),
        reason: SHARED_PLACES,
    },
    Inexpressible {
        title: "Generated in-place code writes through a stride of 0.",
        report: report("pytorch (inductor)", "https://github.com/pytorch/pytorch/issues/183986"),
        reason: SHARED_PLACES,
    },
    Inexpressible {
        title: "The second-order gradient with respect to a broadcast operand has the wrong shape.",
        report: report("Paddle", "https://github.com/PaddlePaddle/Paddle/issues/54742"),
        reason: "gradients are of first order",
    },
    Inexpressible {
        title: "A negative target length is accepted.",
        report: report("tensorflow", "https://github.com/tensorflow/tensorflow/issues/125545"),
        reason: "a negative length is a malformed request, which the loader refuses",
    },
];
