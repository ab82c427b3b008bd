//! Searches for wrong broadcasting: requests drawn at random or enumerated, oracles that judge any answer
//! without an expected value, and a shrinker that turns what they find into a small case.
//!
//! - [`generate`] draws requests;
//! - [`oracle`] judges the answers to any request;
//! - [`exhaustive`] enumerates every small request;
//! - [`inference`] enumerates every small signature and judges what is inferred from it;
//! - [`shrink`] reduces a failing request to a minimal one and writes it as a case;
//! - [`fuzzing`] compares two implementations over random requests;
//! - [`diverge`] finds where rule sets disagree;
//! - [`subjects`] contains the implementations that come with broadcheck.

pub mod diverge;
pub mod exhaustive;
pub mod fuzzing;
pub mod generate;
pub mod inference;
pub mod oracle;
pub mod shrink;
pub mod subjects;
