//! Any bytes as the manifest of a kit, or as the journal of an interrupted export.

#![no_main]

use broadcheck_cli::command::untrusted::judge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| broadcheck_fuzz::holds("manifest", judge("manifest", bytes)));
