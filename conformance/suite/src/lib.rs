//! The conformance suite for array broadcasting, as the tests of a tensor library.
//!
//! [`Tests`] turns the suite into named tests under `cargo test`. The parts of it are public for the
//! command `broadcheck` and the fuzzer:
//!
//! - [`run`] runs cases against an [`Implementation`];
//! - [`sweeps`] expands and runs families that are too large to list;
//! - [`relations`] checks what must hold between several answers, whatever the right ones are;
//! - [`retype`] asks cases in a dtype that the library has;
//! - [`declare`] asks cases with shapes that are not known before the run;
//! - [`given`] asks cases with their operands given in other ways, such as constants;
//! - [`asked`] counts how much of the suite an implementation was asked;
//! - [`known`] reads files of known failures;
//! - [`globs`] matches ids;
//! - [`files`] writes files, each whole or not at all;
//! - [`parallel`] spreads work over threads.

pub mod asked;
pub mod declare;
pub mod files;
pub mod given;
pub mod globs;
pub mod known;
pub mod optimiser;
pub mod relations;
pub mod retype;
pub mod run;
pub mod sweeps;
pub mod testing;

pub use broadcheck_spec as spec;
pub use broadcheck_spec::{Implementation, parallel};
pub use testing::Tests;
