//! Implementations in other processes: the protocol over their standard streams.
//!
//! `conformance/PROTOCOL.md` explains the protocol to authors of harnesses, and
//! `spec/schema/protocol.schema.json` describes every message. This crate implements both sides: [`open`]
//! makes an [`Implementation`](broadcheck_spec::Implementation) of a command, [`serve`] answers requests like
//! a harness, and [`smoke`] checks a harness step by step.
//!
//! A process may hang, crash, flood its output or send invalid answers. Each affects only the case that
//! caused it.

mod answer;
mod fatal;
mod group;
mod guard;
mod lines;
mod process;
mod schedule;
mod serve;
mod session;
pub mod smoke;
mod spares;
mod start;
mod stderr;
mod strict;
pub mod transcript;

pub use process::{Process, open};
pub use serve::serve;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The message of a case that was not answered because the user interrupted the run.
pub const INTERRUPTED: &str = "interrupted";

/// Time limits for a process.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// For the answer to a request, counted from when it is the oldest unanswered one.
    pub time_limit: Duration,
    /// For the answer to `start`, before which interpreters load large libraries.
    pub start_limit: Duration,
    /// For the end of the process after `stop`.
    pub stop_limit: Duration,
    /// Set when the user interrupts the run.
    pub interrupt: Option<&'static AtomicBool>,
}

impl Default for Options {
    fn default() -> Options {
        Options::within(Duration::from_secs(10))
    }
}

impl Options {
    /// All limits, for this time limit of a request.
    pub fn within(time_limit: Duration) -> Options {
        Options {
            time_limit,
            start_limit: (time_limit * 3).max(Duration::from_secs(10)),
            stop_limit: Duration::from_secs(2),
            interrupt: None,
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

/// Splits a command into words as a shell would.
fn words(command: &str) -> Result<Vec<String>, String> {
    let words = shell_words::split(command)
        .map_err(|error| format!("cannot split the command into words: {error}"))?;
    if words.first().is_none_or(String::is_empty) {
        return Err("the command is empty, expected a program and its arguments".into());
    }
    Ok(words)
}
