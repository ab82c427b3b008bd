//! Judges outcomes: compares an answer with what is expected, as tightly as arithmetic allows, and puts requests, shapes and
//! refusals into words.
//!
//! - [`compare`] is the one place that judges an outcome, by clauses V-1 to V-6 of `spec/SEMANTICS.md`;
//! - [`explain`] draws why shapes fit together or do not;
//! - [`describe`] writes requests and expectations in lines, for failure messages;
//! - [`words`] and [`pad`] hold wording and layout that these share.

pub mod compare;
pub mod describe;
pub mod explain;
pub mod pad;
pub mod words;
