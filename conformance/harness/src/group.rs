//! A process and its descendants: a process group that is killed as a whole.

use super::guard;
use std::io;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long to wait for a killed process. A process that the system cannot end is abandoned.
const DEATH: Duration = Duration::from_secs(2);

/// Makes the command run in a new process group, so that Ctrl-C does not reach it and it can be killed with
/// all its children.
pub(super) fn apart(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// A running process. Dropping this kills its group.
pub(super) struct Group {
    child: Child,
    ended: bool,
}

/// The three streams of a process.
pub(super) struct Streams {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Group {
    /// Starts a program with its arguments, without a shell.
    pub(super) fn start(words: &[String]) -> io::Result<(Group, Streams)> {
        let (program, arguments) = words.split_first().ok_or_else(|| io::Error::other("no program"))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        apart(&mut command);
        let mut child = command.spawn()?;
        guard::watch(child.id());
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let group = Group { child, ended: false };
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(io::Error::other("the process has no standard streams"));
        };
        Ok((group, Streams { stdin, stdout, stderr }))
    }

    /// The exit status, if the process has ended.
    pub(super) fn exited(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Waits for the exit status up to a time limit.
    pub(super) fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let deadline = Instant::now() + limit;
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = self.exited() {
                return Some(status);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Kills the process and its group.
    pub(super) fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        // Even if the process has ended by itself: its children may still run.
        kill_group(&self.child);
        // It may have left its group.
        let _ = self.child.kill();
        if self.wait(DEATH).is_some() {
            guard::forget(self.child.id());
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(unix)]
fn kill_group(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // Not an error: all of them may have ended.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

#[cfg(not(unix))]
fn kill_group(_: &Child) {}

/// `ended with exit status 3`, `was killed by signal 11 (SIGSEGV)`.
pub(super) fn describe(status: ExitStatus) -> String {
    let text = status.to_string();
    match text.strip_prefix("signal: ") {
        Some(signal) => format!("was killed by signal {signal}"),
        None => format!("ended with {}", text.replacen(": ", " ", 1)),
    }
}
