//! What the reference and the fast engine infer from shapes with unknown lengths, against the runs.

#![no_main]

use broadcheck_search::generate::AnySignature;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|signature: AnySignature| broadcheck_fuzz::infer(&signature));
