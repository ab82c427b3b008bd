//! Any bytes as the history of a system: it is drawn, and survives a round trip.

#![no_main]

use broadcheck_cli::command::untrusted::judge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| broadcheck_fuzz::holds("history_file", judge("history_file", bytes)));
