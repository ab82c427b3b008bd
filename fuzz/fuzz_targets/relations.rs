//! The answers to a request agree with those to its variations, under its rule set and under others.

#![no_main]

use broadcheck_search::generate::AnyRequest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|request: AnyRequest| broadcheck_fuzz::judge("relations", &request));
