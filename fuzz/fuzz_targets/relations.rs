//! The relations between requests and between rule sets.

#![no_main]

use broadcheck_search::generate::AnyRequest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|request: AnyRequest| broadcheck_fuzz::judge("relations", &request));
