//! burn on its ndarray backend, which it deprecated in 0.22 and still ships.

use broadcheck_adapters::{burn::Burn, serve};
use broadcheck_spec::DType;
use burn_tensor::Device;
use std::process::ExitCode;

fn main() -> ExitCode {
    #[expect(deprecated, reason = "people still use it")]
    let device = Device::ndarray();
    serve(&Burn::new("burn-ndarray", device, "Device::ndarray()", &[DType::F16, DType::Bf16], 6))
}
