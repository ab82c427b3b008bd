//! The command `broadcheck` as a library, for its binary and its tests only.

pub(crate) mod adapters;
pub mod command;
pub mod embedded;
pub mod history;
pub mod report;

/// The built-in suite, loaded once for all unit tests.
#[cfg(test)]
static SUITE: std::sync::LazyLock<broadcheck_spec::Suite> = std::sync::LazyLock::new(|| {
    broadcheck_spec::Suite::builtin().unwrap_or_else(|errors| panic!("{errors}"))
});
