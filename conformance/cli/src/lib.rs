//! The command `broadcheck` as a library, for its binary and its tests only.

pub(crate) mod adapters;
pub mod command;
pub mod embedded;
pub mod history;
pub mod report;
