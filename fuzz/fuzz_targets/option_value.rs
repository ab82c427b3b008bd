//! Any text as a value of an option: a time, a size, a glob, a shape, a name.

#![no_main]

use broadcheck_cli::command::untrusted::judge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| broadcheck_fuzz::holds("option_value", judge("option_value", bytes)));
