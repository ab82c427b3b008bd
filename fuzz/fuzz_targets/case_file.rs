//! Any bytes as a case file: no panic, bounded memory, and what loads survives a round trip.

#![no_main]

use broadcheck_search::oracle::case_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| broadcheck_fuzz::holds("case_file", case_file(bytes)));
