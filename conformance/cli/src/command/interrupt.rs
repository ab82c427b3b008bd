//! Interrupts: Ctrl-C (SIGINT), SIGTERM, and SIGHUP, which a closed terminal sends. The first one makes a
//! command finish with the results so far, the second one ends it at once. The exit status is 130 for all of
//! them.

use super::INTERRUPTED;
use broadcheck::files;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);
static AT_ONCE: AtomicBool = AtomicBool::new(false);

/// Installs the handler. The first thing that the program does, so that no interrupt is missed.
pub(super) fn listen() -> Result<(), String> {
    handle(|| {
        if STOP.swap(true, Ordering::SeqCst) || AT_ONCE.load(Ordering::SeqCst) {
            end();
        }
    })
}

/// Lets the first interrupt end the program: the command has no results to finish with.
pub(super) fn end_at_once() {
    AT_ONCE.store(true, Ordering::SeqCst);
    if pressed() {
        end();
    }
}

/// Whether the program was interrupted.
pub(super) fn pressed() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// The same, as a flag for long computations.
pub(super) fn flag() -> &'static AtomicBool {
    &STOP
}

/// Ends the program. The guard of the harnesses ends those that run.
fn end() -> ! {
    // No other thread begins a file after this.
    let _drafts = files::remove_drafts();
    std::process::exit(INTERRUPTED.into());
}

#[cfg(unix)]
fn handle(mut interrupted: impl FnMut() + Send + 'static) -> Result<(), String> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let failed = |error: std::io::Error| format!("cannot handle interrupts: {error}");
    let mut caught = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        caught.push(SIGHUP);
    }
    let mut signals = signal_hook::iterator::Signals::new(caught).map_err(failed)?;
    let listen = move || signals.forever().for_each(|_| interrupted());
    std::thread::Builder::new().spawn(listen).map(drop).map_err(failed)
}

/// Whether this signal was ignored when the program started, as SIGHUP is under `nohup`. Known on Linux only.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}

#[cfg(not(unix))]
fn handle(interrupted: impl FnMut() + Send + 'static) -> Result<(), String> {
    ctrlc::set_handler(interrupted).map_err(|error| format!("cannot handle interrupts: {error}"))
}
