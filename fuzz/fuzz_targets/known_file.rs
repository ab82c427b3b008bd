//! Any bytes as a known-failures file: no panic, and its entries survive a round trip.

#![no_main]

use broadcheck_cli::command::untrusted::judge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| broadcheck_fuzz::holds("known_file", judge("known_file", bytes)));
