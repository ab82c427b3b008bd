//! Judges implementations of array broadcasting.
//!
//! - [`suite`] runs the cases of `broadcheck-spec` against an [`Implementation`];
//! - [`compare`] is the one place that judges an outcome;
//! - [`known`] holds what an implementation is known to fail;
//! - [`subjects`] are the implementations that come with the product.

pub mod compare;
pub mod known;
pub mod subjects;
pub mod suite;

pub use broadcheck_spec as spec;
pub use broadcheck_spec::Implementation;
