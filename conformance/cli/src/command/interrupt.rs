//! The interrupt key: the first time it asks the command to end with what it has, the second time it ends it.

use super::INTERRUPTED;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// Listens from now on.
pub(super) fn listen() -> Result<(), String> {
    let handler = || {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    };
    ctrlc::set_handler(handler).map_err(|error| format!("the interrupt key cannot be listened to: {error}"))
}

/// Whether it was pressed.
pub(super) fn pressed() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// The same as a flag that a long computation looks at.
pub(super) fn flag() -> &'static AtomicBool {
    &STOP
}
