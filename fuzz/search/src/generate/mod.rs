//! Requests from choices: what the fuzzer asks.
//!
//! A request is drawn by construction. First a frame that its rule set accepts: a result shape and operands that make
//! it, attributes that name how. Then, in a share of cases, one step over one boundary, for each refusal kind. Then
//! dtypes, an expression over them, values, and views in which they lie.
//!
//! - [`request`] draws from any source of [`Choices`]: a seed ([`Seeded`]) or a fuzzer's bytes ([`Bytes`]);
//! - a [`Profile`] says what may be drawn;
//! - [`decode`] makes a request of any bytes, and [`encode`] finds bytes for a request, so that cases are seeds of a
//!   corpus;
//! - [`Statistics`] counts what was drawn.

#[cfg(feature = "arbitrary")]
mod any;
pub mod bytes;
mod choices;
mod draw;
mod expressions;
mod faults;
mod lengths;
mod near;
mod profile;
pub mod seeds;
mod shapes;
mod statistics;
mod values;
mod views;

#[cfg(feature = "arbitrary")]
pub use any::AnyRequest;
pub use bytes::{decode, encode};
pub use choices::{Bytes, Choices, Seeded};
pub use draw::request;
pub use profile::{MAX_ELEMENTS, MAX_RANK, Profile};
pub use statistics::Statistics;
