//! The reference against the fast engine: every rule set, every operation.

#![no_main]

use broadcheck_search::generate::AnyRequest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|request: AnyRequest| broadcheck_fuzz::judge("differential", &request));
