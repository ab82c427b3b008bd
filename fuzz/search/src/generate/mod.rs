//! Generates the requests that the fuzzer sends.
//!
//! A request is drawn by construction. First comes a skeleton that its rule set accepts: a result shape,
//! operands that give it, and the attributes that say how. In a share of requests, each fault then takes one
//! step over one boundary, for any refusal kind. Dtypes, an expression over them, values, and the views that
//! hold them follow.
//!
//! - [`request`] draws from any source of [`Choices`]: a seed ([`Seeded`]) or a fuzzer's bytes;
//! - [`signature`] draws what a compiler knows of a request before the run, for the operation `infer`;
//! - a [`Profile`] specifies what may be drawn;
//! - [`decode`] turns any bytes into a request, and [`encode`] finds bytes for a request, so that cases can
//!   be seeds of a corpus;
//! - [`Statistics`] counts what was drawn.

#![warn(clippy::wildcard_enum_match_arm)]

#[cfg(feature = "arbitrary")]
mod any;
pub mod bytes;
mod choices;
mod destinations;
mod draw;
pub(crate) mod expressions;
mod faults;
mod lengths;
mod near;
mod neighbours;
mod planes;
mod profile;
pub mod seeds;
mod shapes;
mod signatures;
mod statistics;
mod values;
mod views;

#[cfg(feature = "arbitrary")]
pub use any::{AnyRequest, AnySignature};
pub use bytes::{decode, decode_signature, encode};
pub use choices::{Choices, Seeded};
pub use draw::request;
pub(crate) use near::is_near;
pub(crate) use neighbours::neighbours;
pub use profile::{MAX_ELEMENTS, MAX_RANK, Profile, Rewrites, Signatures};
pub use signatures::signature;
pub use statistics::Statistics;
