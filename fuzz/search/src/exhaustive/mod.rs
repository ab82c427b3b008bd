//! Runs the oracles over every small request: an [enumeration](broadcheck::relations::Requests) in place of
//! the fuzzer's random requests.
//!
//! For every pair of shapes up to a rank and a length, with all attributes, the answers of all
//! implementations are compared with those of the first. The requests are differences of two operands whose
//! elements are all distinct, so that a result shows which elements were read. Each implementation is also
//! checked against the [relations](broadcheck::relations::RELATION_SWEEPS), which need no other
//! implementation.
//!
//! A *check* is one answer compared with the first implementation's, or one relation of one request in which
//! answers were compared. Answers without a counterpart, and relations with nothing to compare, are counted,
//! but not as checks.

mod bounds;
mod finding;
mod report;
mod walk;

pub use bounds::Bounds;
pub use finding::{Finding, FindingKind};
pub use report::{AnswerCount, ExhaustReport, GroupCount, RelationCount};
pub use walk::exhaust;

use std::sync::atomic::{AtomicBool, Ordering};

/// Reports the progress of a run, and ends it early.
pub struct Progress<'a> {
    /// Called now and then, from any thread, with the work done and the total.
    pub report: &'a (dyn Fn(u64, u64) + Sync),
    /// Set to end the run early, with a report of what was done so far.
    pub stop: &'a AtomicBool,
}

impl Progress<'static> {
    /// Reports nothing and does not end the run early.
    pub fn silent() -> Progress<'static> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        Progress { report: &|_, _| (), stop: &NEVER }
    }
}

impl Progress<'_> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
