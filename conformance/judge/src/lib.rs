//! Judges outcomes: compares an answer with what is expected, as tightly as arithmetic allows, and describes
//! requests, shapes and refusals in words.
//!
//! - [`compare`] is the only place that judges an outcome, by clauses V-1 to V-6 of `spec/SEMANTICS.md`;
//! - [`conventions`] judges an answer that does not follow a convention of the suite;
//! - [`explain`] draws why shapes are compatible or not;
//! - [`describe`] describes requests and expectations for failure messages;
//! - [`inferred`] judges what is inferred before the run, by clauses INFER-2, INFER-3 and INFER-11;
//! - [`limits`] predicts the size of an answer;
//! - [`text`] contains the wording and layout that these share.

pub mod compare;
pub mod conventions;
pub mod describe;
pub mod explain;
pub mod inferred;
pub mod limits;
pub mod text;
