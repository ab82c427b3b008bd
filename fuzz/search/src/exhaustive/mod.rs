//! Every pair of shapes up to a rank and a length, with all attributes: implementations against the first of
//! them, and each of them against the relations.
//!
//! Requests are differences of two operands whose elements all differ, so that a result shows which elements
//! were read; the answers of the further implementations are judged against the first one's on kind, axis,
//! operand, shape and values. With one implementation there is nothing to judge its answers against, so they
//! are only looked at for breakage, and what is checked are the relations.
//!
//! One *check* is one answer judged against the first implementation's, or one instance of a relation in which
//! two answers were compared. Answers without a counterpart and instances in which there was nothing to compare
//! are counted, but not as checks.

mod bounds;
mod finding;
mod judge;
mod report;
mod requests;
mod walk;

pub use bounds::{Bounds, MAX_WORK};
pub use finding::Finding;
pub use report::{AnswerCount, ExhaustReport, FamilyCount, RelationCount};
pub use requests::{FAMILIES, Family};
pub use walk::exhaust;

use std::sync::atomic::{AtomicBool, Ordering};

/// Word of how far a run is, and a way to end it early.
pub struct Progress<'a> {
    /// Called now and then, from any thread, with the work done and the work in all.
    pub report: &'a (dyn Fn(u64, u64) + Sync),
    /// Set to end the run early: the report is then of what was done so far.
    pub stop: &'a AtomicBool,
}

impl Progress<'static> {
    /// Says nothing and does not end early.
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
