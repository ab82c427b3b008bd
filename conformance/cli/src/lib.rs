//! The command `broadcheck` as a library, for its binary and its tests only.

pub mod command;
pub mod embedded;
pub mod report;
