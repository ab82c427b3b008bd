//! Judges implementations of array broadcasting.
//!
//! - [`suite`] runs the cases of `broadcheck-spec` against an [`Implementation`];
//! - [`compare`] is the one place that judges an outcome;
//! - [`known`] holds what an implementation is known to fail;
//! - `harness` (feature `harness`) speaks the protocol with implementations in other processes, and answers it;
//! - [`explain`] draws why shapes go together or do not;
//! - `report` (feature `cli`) holds what a run found, as text, JSON and markdown;
//! - [`words`] is wording that they share;
//! - [`subjects`] are the implementations that come with the product.

pub mod compare;
pub mod diverge;
pub mod exhaustive;
pub mod explain;
#[cfg(feature = "harness")]
pub mod harness;
pub mod known;
pub mod relations;
#[cfg(feature = "cli")]
pub mod report;
pub mod subjects;
pub mod suite;
pub mod sweeps;
pub mod words;

pub use broadcheck_spec as spec;
pub use broadcheck_spec::Implementation;
