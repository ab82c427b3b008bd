//! Any words after `broadcheck explain`: they are drawn, or a message says what is expected.

#![no_main]

use broadcheck_cli::command::untrusted::judge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| broadcheck_fuzz::holds("explain", judge("explain", bytes)));
