//! Ctrl-C: the first press makes the command finish with the results so far, the second ends it at once.

use super::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// Installs the handler.
pub(super) fn listen() -> Result<(), String> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    };
    ctrlc::set_handler(handler).map_err(|error| format!("cannot handle interrupts: {error}"))
}

/// Whether Ctrl-C was pressed.
pub(super) fn pressed() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// The same, as a flag for long computations.
pub(super) fn flag() -> &'static AtomicBool {
    &STOP
}
