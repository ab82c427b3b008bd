//! Implementations in other processes: the protocol over their standard streams.
//!
//! `conformance/PROTOCOL.md` is the page for those who write the other side, and
//! `spec/schema/protocol.schema.json` describes every message. Here are both sides of it: [`open`] makes an
//! [`Implementation`](broadcheck_spec::Implementation) of a command, [`serve`] answers as one, and [`smoke`] tells the
//! writer of a harness what is wrong with it.
//!
//! A process may hang, crash, flood, lie or speak nonsense: each harms only the case that brought it out.

mod answer;
mod group;
mod guard;
mod limits;
mod lines;
mod process;
mod schedule;
mod serve;
mod session;
pub mod smoke;
mod start;
mod stderr;
mod strict;
pub mod transcript;

pub use process::{Process, open};
pub use serve::serve;
pub use start::{VERSION, WINDOW};

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The message of a case that was not answered because the person at the terminal wanted no more.
pub const INTERRUPTED: &str = "interrupted";

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// A request, from when it is the oldest unanswered one.
    pub time_limit: Duration,
    /// The answer to `start`: interpreters load large libraries.
    pub start_limit: Duration,
    /// The end after `stop`.
    pub stop_limit: Duration,
    /// Set by somebody who wants no more.
    pub interrupt: Option<&'static AtomicBool>,
}

impl Default for Options {
    fn default() -> Options {
        Options::within(Duration::from_secs(10))
    }
}

impl Options {
    /// The limits that go with this time for a request.
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

/// The words of a command, as a shell would split it.
fn words(command: &str) -> Result<Vec<String>, String> {
    let words = shell_words::split(command).map_err(|error| format!("the command has no words: {error}"))?;
    if words.first().is_none_or(String::is_empty) {
        return Err("the command is empty, expected a program and its arguments".into());
    }
    Ok(words)
}
