//! A process and its descendants: a process group that is killed as a whole.

use super::{descendants, guard};
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

/// A running process. Dropping this kills its group, and on Linux what else it started, if the command line
/// asked for that.
pub(super) struct Group {
    child: Child,
    /// What distinguishes its descendants.
    mark: String,
    /// The exit status, once the process was waited for.
    status: Option<ExitStatus>,
    ended: bool,
}

/// Starts a command in its own group, watched by the guard.
fn launch(command: &mut Command) -> io::Result<Group> {
    let mark = descendants::new_mark();
    command.env(descendants::VARIABLE, descendants::value(&mark));
    apart(command);
    guard::prepare();
    let child = descendants::spawn(command)?;
    guard::watch(child.id());
    Ok(Group { child, mark, status: None, ended: false })
}

/// Runs a command to its end.
pub(super) fn run(command: &mut Command) -> io::Result<ExitStatus> {
    let mut group = launch(command.stdin(Stdio::null()))?;
    loop {
        if let Some(status) = group.wait(Duration::from_secs(3600)) {
            return Ok(status);
        }
    }
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
        let mut group = launch(&mut command)?;
        let child = &mut group.child;
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = streams else {
            return Err(io::Error::other("the process has no standard streams"));
        };
        Ok((group, Streams { stdin, stdout, stderr }))
    }

    /// The exit status, if the process has ended. What is left of its group is then killed: its id and that
    /// of the group may belong to others once it was waited for.
    pub(super) fn exited(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() && has_ended(&self.child) {
            kill_group(&self.child);
            self.status = self.child.try_wait().ok().flatten();
            descendants::forget(self.child.id());
            guard::forget(self.child.id());
            descendants::end_marked(&self.mark);
        }
        self.status
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

    /// Kills the process, its group, and on Linux its other descendants, if they are contained.
    pub(super) fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) || self.exited().is_some() {
            return;
        }
        kill_group(&self.child);
        // It may have left its group.
        let _ = self.child.kill();
        self.wait(DEATH);
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

/// Whether a process has ended, without waiting for it.
#[cfg(unix)]
fn has_ended(child: &Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let id = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    id.is_some_and(|id| matches!(waitid(WaitId::Pid(id), options), Ok(Some(_))))
}

/// There are no groups, so the process may just as well be waited for.
#[cfg(not(unix))]
fn has_ended(_: &Child) -> bool {
    true
}

/// `ended with exit status 3`, `was killed by signal 11 (SIGSEGV)`.
pub(super) fn describe(status: ExitStatus) -> String {
    let text = status.to_string();
    match text.strip_prefix("signal: ") {
        Some(signal) => format!("was killed by signal {signal}"),
        None => format!("ended with {}", text.replacen(": ", " ", 1)),
    }
}
