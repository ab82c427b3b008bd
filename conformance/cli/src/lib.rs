//! The command `broadcheck`, as a library for its own program and tests.

pub mod command;
pub mod report;
