//! Any bytes as one or two JSON reports, which are compared and put into a matrix.

#![no_main]

use broadcheck_cli::command::untrusted::judge;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| broadcheck_fuzz::holds("report", judge("report", bytes)));
