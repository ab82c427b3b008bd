//! Any words as a command line: it is parsed, or a message says what is expected; nothing is run.

#![no_main]

use broadcheck_cli::command::untrusted::judge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| broadcheck_fuzz::holds("command_line", judge("command_line", bytes)));
