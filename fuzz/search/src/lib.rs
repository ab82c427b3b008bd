//! Searches for wrong broadcasting: requests drawn at random or enumerated one by one, oracles that judge any answer
//! without an expected value, and a shrinker that turns what they find into a small case.
//!
//! - [`generate`] draws requests;
//! - [`oracle`] judges the answers to any request;
//! - [`exhaustive`] asks every small request;
//! - [`shrink`] makes a request that fails as small as it can, and writes it as a case;
//! - [`fuzzing`] compares two implementations over random requests;
//! - [`diverge`] finds where rule sets disagree;
//! - [`subjects`] holds the implementations that come with broadcheck, and finds the adapters.

pub mod diverge;
pub mod exhaustive;
pub mod fuzzing;
pub mod generate;
pub mod oracle;
pub mod shrink;
pub mod subjects;
