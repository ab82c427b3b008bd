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
mod batch;
mod broken;
mod descendants;
mod fatal;
mod group;
mod guard;
mod lines;
mod optimiser;
mod process;
mod question;
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
pub use serve::{serve, serve_batches};

use broadcheck::optimiser::Optimiser;
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Makes this process responsible for everything that implementations start, also for daemons. For a program
/// that starts no other processes: call it first, and [`end_descendants`] last.
///
/// On Linux, this process becomes a "child subreaper": it gets the orphans among its descendants. That is a
/// property of the whole process, so a test suite or a library should not call this. Without it, the end of
/// an implementation kills its process group. What left the group is killed when this process has ended, if
/// it kept its environment. On other systems this does nothing.
pub fn contain_descendants() {
    descendants::contain();
}

/// Kills every process that implementations have started and that still runs, and waits for them, for up to
/// two seconds. Implementations must have been dropped.
///
/// Processes of others are left alone: those that this process had before [`contain_descendants`], and their
/// descendants.
pub fn end_descendants() {
    // Otherwise the guard looks for what is left, as soon as this process has ended.
    if descendants::end_all() {
        guard::dismiss();
    }
}

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
    /// When to stop as if the user had interrupted the run.
    pub deadline: Option<Instant>,
    /// The maximum number of requests in a message, if it is less than what the process declares.
    pub batch: Option<usize>,
    /// The position of the process's optimiser; `None` for the one that the process chooses.
    pub optimiser: Option<Optimiser>,
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
            deadline: None,
            batch: None,
            optimiser: None,
        }
    }

    /// The number of requests in a message to a process that declares this.
    fn batch(&self, declared: &start::Declared) -> usize {
        self.batch.map_or(declared.batch, |most| most.clamp(1, declared.batch))
    }

    fn interrupted(&self) -> bool {
        self.interrupt.is_some_and(|flag| flag.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// Runs a program to its end. If this process ends first, however it ends, the program is killed with
/// everything that it started. The program cannot read from the terminal.
///
/// # Errors
/// The program cannot be started.
pub fn run_guarded(command: &mut Command) -> io::Result<ExitStatus> {
    group::run(command)
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
