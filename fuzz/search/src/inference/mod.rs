//! Tests the operation `infer` without expected values.
//!
//! An inference states what the runs of a signature can give. So each unknown length and rank is replaced by
//! numbers and small shapes, and the clauses of the rule set decide on each of these *concretisations*
//! ([`Relation`]). The accepted results are what an exact answer admits (clauses INFER-2 and INFER-3), and
//! the refusals show which one to report (clause INFER-11). The reference's own inference has no part in
//! this.
//!
//! [`exhaust`] does it for every small signature, and compares implementations with each other. [`Both`] does
//! it for any signature, such as those that the fuzzer draws. [`shrink()`] and [`propose`] make a case of
//! what they find.

mod both;
mod bounds;
mod case;
mod enumerate;
mod finding;
mod numbers;
mod relation;
mod report;
mod shrink;
mod walk;

pub use both::{Accepted, Both, Verdict};
pub use bounds::Bounds;
pub use case::propose;
pub(crate) use case::propose_as;
pub(crate) use finding::WORDS;
pub use finding::{Finding, FindingKind};
pub use relation::{Relation, Runs};
pub use report::{AnswerCount, InferReport, RulesCount};
pub use shrink::shrink;
pub(crate) use shrink::{Cost, cost, shrink_while};
pub use walk::exhaust;
