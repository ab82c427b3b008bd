//! Any bytes as the requests that `broadcheck serve` reads.

#![no_main]

use broadcheck_cli::command::untrusted::judge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| broadcheck_fuzz::holds("serve", judge("serve", bytes)));
