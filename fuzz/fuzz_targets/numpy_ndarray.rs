//! The reference's rule set `numpy` against the crate ndarray.

#![no_main]

use broadcheck_search::generate::AnyRequest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|request: AnyRequest| broadcheck_fuzz::judge("numpy_ndarray", &request));
