//! Gradients are the adjoint of broadcasting, and agree with central differences.

#![no_main]

use broadcheck_search::generate::AnyRequest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|request: AnyRequest| broadcheck_fuzz::judge("gradient", &request));
