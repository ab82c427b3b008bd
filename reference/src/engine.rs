//! The interpreter behind the trait that all implementations share.

use crate::evaluate::evaluate;
use crate::{align, exceeds_limit, gradient, infer};
use broadcheck_spec::{
    Capabilities, Implementation, Inference, Operation, Outcome, Request, Signature, Success, Unknown,
};
use std::sync::LazyLock;

static CAPABILITIES: LazyLock<Capabilities> = LazyLock::new(|| Capabilities {
    broadcast_in_dim: true,
    permuted: true,
    cotangent: true,
    into: true,
    infer: true,
    declared: true,
    constants: true,
    same: true,
    unknown: Unknown::ALL.to_vec(),
    ..Capabilities::with_all_conventions()
});

/// The reference interpreter. It supports everything that the format can express.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reference;

impl Reference {
    /// Creates an interpreter.
    pub fn new() -> Reference {
        Reference
    }
}

impl Implementation for Reference {
    fn name(&self) -> &'static str {
        "reference"
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn run(&self, request: &Request) -> Outcome {
        let alignment = match align(request) {
            Ok(alignment) => alignment,
            Err(refusal) => return Outcome::Refusal(refusal),
        };
        if let Some(reason) = exceeds_limit(request, &alignment) {
            return Outcome::Skipped { reason };
        }
        match request.operation() {
            Operation::Elementwise { .. } | Operation::Into { .. } | Operation::Broadcast { .. } => {
                Outcome::Success(evaluate(request, &alignment))
            }
            Operation::Gradient { .. } | Operation::Vjp { .. } => match gradient(request) {
                Ok(tensor) => Outcome::Success(Success::from(tensor)),
                Err(refusal) => Outcome::Refusal(refusal),
            },
        }
    }

    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        match infer(signature) {
            Ok(inference) => Outcome::Success(inference),
            Err(refusal) => Outcome::Refusal(refusal),
        }
    }

    fn is_exact(&self) -> bool {
        true
    }

    /// Half of this 1 ULP is rounding. The accuracy tests state the measured errors (clause V-4).
    fn allowed_ulp(&self) -> u32 {
        1
    }
}
