//! burn on its flex backend, the one in plain Rust that it recommends for the CPU.

use broadcheck_adapters::{burn::Burn, serve};
use burn_tensor::Device;
use std::process::ExitCode;

fn main() -> ExitCode {
    serve(&Burn::new("burn", Device::flex(), "Device::flex()", &[], usize::MAX))
}
