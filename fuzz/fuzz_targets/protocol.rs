//! Any bytes as the output of an implementation that speaks the protocol.

#![no_main]

use broadcheck_search::oracle::protocol::protocol;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| broadcheck_fuzz::holds("protocol", protocol(bytes)));
