//! Finds what a process of an implementation leaves behind: children that left its process group, and
//! daemons.
//!
//! Linux gives orphans to the nearest ancestor that asked for them. After [`contain`], that is this process,
//! so that everything that an implementation started is a child of this process once its own parent has
//! ended. Only children of this process are killed: the system does not use the id of a child again before
//! its parent has waited for it, so the id cannot belong to another process.
//!
//! Every process gets an environment variable that its descendants inherit. It shows which process started an
//! orphan, and lets the guard find daemons after this process was killed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

/// The environment variable with the marks: those of this process, if it has some, and one more.
pub(super) const VARIABLE: &str = "BROADCHECK_PROCESS";

/// What the marks of this run begin with. The time distinguishes it from an earlier run with the same id.
pub(super) fn run_mark() -> &'static str {
    static RUN: OnceLock<String> = OnceLock::new();
    RUN.get_or_init(|| {
        let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
        format!(":{}-{time}.", std::process::id())
    })
}

/// A mark for one process.
pub(super) fn new_mark() -> String {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    format!("{}{}:", run_mark(), NUMBER.fetch_add(1, Ordering::Relaxed))
}

/// The value of [`VARIABLE`] for a process with this mark.
pub(super) fn value(mark: &str) -> String {
    std::env::var(VARIABLE).unwrap_or_default() + mark
}

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::{contain, end_all, end_marked, forget, spawn};
#[cfg(target_os = "linux")]
pub(super) use linux::{contain, end_all, end_marked, forget, spawn};

#[cfg(target_os = "linux")]
mod linux {
    use super::run_mark;
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid};
    use std::fs;
    use std::io::{self, ErrorKind};
    use std::process::{Child, Command};
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
    use std::thread;
    use std::time::{Duration, Instant};

    /// How long to go on killing. A process that the system cannot end, or that forks faster than it can be
    /// killed, is abandoned.
    const LIMIT: Duration = Duration::from_secs(2);

    /// The children that other code waits for. Locked while one is started, so that none is missing.
    static OURS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

    /// Whether [`contain`] was called.
    static WANTED: AtomicBool = AtomicBool::new(false);

    /// How to recognise what may be killed. Set before the first process is started, if [`contain`] was
    /// called.
    static CONTAINED: OnceLock<Contained> = OnceLock::new();

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Contained {
        /// Every child that is not in [`OURS`] was started by an implementation.
        All,
        /// Only what has a mark: this process has children of an earlier program, as after `exec` in a shell,
        /// or is the first process of a container, which gets everybody's orphans.
        Marked,
    }

    fn ours() -> MutexGuard<'static, Vec<u32>> {
        OURS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in super::super) fn contain() {
        WANTED.store(true, Ordering::Relaxed);
    }

    fn begin() -> Contained {
        let strangers = children().is_none_or(|children| !children.is_empty());
        // Without it, orphans go to the first process of the system, and the guard looks for them.
        let _ = set_child_subreaper(Some(getpid()));
        if strangers || getpid().is_init() { Contained::Marked } else { Contained::All }
    }

    pub(in super::super) fn spawn(command: &mut Command) -> io::Result<Child> {
        let mut ours = ours();
        if WANTED.load(Ordering::Relaxed) {
            CONTAINED.get_or_init(begin);
        }
        let child = command.spawn()?;
        ours.push(child.id());
        Ok(child)
    }

    pub(in super::super) fn forget(child: u32) {
        ours().retain(|&other| other != child);
    }

    pub(in super::super) fn end_marked(mark: &str) {
        if CONTAINED.get().is_some() {
            // What cannot be found now is looked for again at the end of the run.
            end(|child| child.has_mark(mark));
        }
    }

    pub(in super::super) fn end_all() -> bool {
        match CONTAINED.get() {
            Some(Contained::All) => end(|_| Some(true)),
            Some(Contained::Marked) => end(|child| child.has_mark(run_mark())),
            None => true,
        }
    }

    /// Kills the children that `is_meant` accepts, then those that become children because of that, until
    /// none is left. Returns false if they could not be found, because the system reported an error twice.
    fn end(is_meant: impl Fn(&Orphan) -> Option<bool>) -> bool {
        let deadline = Instant::now() + LIMIT;
        let mut pause = Duration::from_millis(1);
        let mut has_failed = false;
        loop {
            match end_once(&is_meant) {
                Some(false) => return true,
                Some(true) => {}
                None if has_failed => return false,
                None => has_failed = true,
            }
            if Instant::now() >= deadline {
                return true;
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    }

    /// Kills the children that `is_meant` accepts, and waits for every other child that has ended. Returns
    /// whether one was killed; `None` if the system reported an error, so that some may be missing.
    fn end_once(is_meant: impl Fn(&Orphan) -> Option<bool>) -> Option<bool> {
        let ours = ours();
        let (mut left, mut complete) = (false, true);
        for child in children()? {
            if ours.contains(&child.0.as_raw_nonzero().get().unsigned_abs()) || child.has_ended() {
                continue;
            }
            let meant = is_meant(&child);
            complete &= meant.is_some();
            // An error means that it belongs to another user.
            left |= meant == Some(true) && kill_process(child.0, Signal::KILL).is_ok();
        }
        complete.then_some(left)
    }

    /// A child of this process.
    struct Orphan(Pid);

    impl Orphan {
        /// Waits for it, if it has ended.
        fn has_ended(&self) -> bool {
            match waitpid(Some(self.0), WaitOptions::NOHANG) {
                Ok(ended) => ended.is_some(),
                Err(error) => error == Errno::CHILD,
            }
        }

        /// `None` if the system reported an error.
        fn has_mark(&self, mark: &str) -> Option<bool> {
            let environment = read(&format!("/proc/{}/environ", self.0.as_raw_nonzero()))?;
            Some(environment.windows(mark.len()).any(|part| part == mark.as_bytes()))
        }
    }

    /// The content of a file about a process, empty if the process has ended or is hidden from this user.
    /// `None` if the system reported another error, such as too many open files.
    fn read(path: &str) -> Option<Vec<u8>> {
        match fs::read(path) {
            Ok(content) => Some(content),
            Err(error) => {
                let ended = error.raw_os_error() == Some(Errno::SRCH.raw_os_error());
                let hidden = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied);
                (ended || hidden).then(Vec::new)
            }
        }
    }

    /// The children of this process; `None` without /proc, or if the system reported an error.
    fn children() -> Option<Vec<Orphan>> {
        let me = getpid().as_raw_nonzero().get().to_string();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").ok()? {
            let name = entry.ok()?.file_name();
            let Some(id) = name.to_str().and_then(|name| name.parse().ok()).and_then(Pid::from_raw) else {
                continue;
            };
            // The name of the program, in parentheses, may contain anything.
            let stat = read(&format!("/proc/{}/stat", id.as_raw_nonzero()))?;
            let stat = String::from_utf8_lossy(&stat);
            let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1));
            if parent == Some(me.as_str()) {
                found.push(Orphan(id));
            }
        }
        Some(found)
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::io;
    use std::process::{Child, Command};

    pub(in super::super) fn contain() {}

    pub(in super::super) fn spawn(command: &mut Command) -> io::Result<Child> {
        command.spawn()
    }

    pub(in super::super) fn forget(_: u32) {}

    pub(in super::super) fn end_marked(_: &str) {}

    pub(in super::super) fn end_all() -> bool {
        true
    }
}
