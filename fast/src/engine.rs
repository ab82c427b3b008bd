//! The engine as an implementation of the trait that all implementations share.

use crate::declared;
use crate::lower::{flags, intermediate};
use crate::plan::{Plan, inputs};
use crate::problem::Problem;
use crate::{Input, Level, NoPlan, Output, infer};
use broadcheck_spec::{
    Capabilities, Data, ErrorKind, Implementation, Inference, Operand, OperationKind, Outcome, Request,
    Rules, Signature, Success, Tensor, Unknown,
};
use std::fmt;
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

/// The fast engine. It supports everything that the format can express.
#[derive(Clone, Copy, Debug)]
pub struct Fast {
    level: Level,
    name: &'static str,
}

/// The error for a level that this machine does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unavailable(pub Level);

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this machine does not have the SIMD level {}", self.0)
    }
}

impl std::error::Error for Unavailable {}

impl Fast {
    /// The engine at the level of [`Level::detect`].
    pub fn new() -> Fast {
        Fast { level: Level::detect(), name: "fast" }
    }

    /// The engine at a level, named `fast@LEVEL`.
    ///
    /// # Errors
    /// [`Unavailable`], if the machine does not have the level.
    pub fn with_level(level: Level) -> Result<Fast, Unavailable> {
        let name = match level {
            Level::Portable => "fast@portable",
            Level::Avx2 => "fast@avx2",
            Level::Avx512 => "fast@avx512",
        };
        if level.is_available() { Ok(Fast { level, name }) } else { Err(Unavailable(level)) }
    }

    /// The level.
    pub fn level(&self) -> Level {
        self.level
    }

    fn answer(self, request: &Request) -> Result<Success, NoPlan> {
        let problem = Problem::of(request);
        let run = |plan: &Plan, inputs: &[Input<'_>]| -> Tensor {
            plan.run(inputs)
                .unwrap_or_else(|error| unreachable!("the plan was made for these operands: {error}"))
        };
        let (tensor, buffer) = if request.declared().next().is_some() {
            (declared::answer(request, self.level)?, None)
        } else {
            let plan = Plan::of_problem(&problem, self.level)?;
            let buffer = request.destination().map(|destination| written(&plan, request, destination));
            (run(&plan, &inputs(request)), buffer)
        };
        let is_elementwise = request.operation().kind() == OperationKind::Elementwise;
        let lower = match intermediate(&problem) {
            Some(lower) if is_elementwise => {
                let copy = Plan::of_copy(
                    &problem.operands()[lower.operand],
                    &lower.shape,
                    lower.maps.of(0),
                    self.level,
                )?;
                Some((copy, &request.operands()[lower.operand]))
            }
            Some(_) | None => None,
        };
        let has_flags = is_elementwise && *request.rules() == Rules::Theano;
        let broadcastable = has_flags.then(|| flags(&problem));
        let intermediate = lower.map(|(copy, operand)| run(&copy, &[operand.values().into()]));
        Ok(Success { tensor, intermediate, broadcastable, buffer })
    }
}

/// The destination's buffer after the plan has been run in place (clause INTO-4).
fn written(plan: &Plan, request: &Request, destination: &Operand) -> Data {
    let mut buffer = destination.values().clone();
    let own = |operand: &&Operand| operand.name() != destination.name() && !operand.reads_destination();
    let others: Vec<Input<'_>> =
        request.operands().iter().filter(own).map(|operand| operand.values().into()).collect();
    plan.run_in_place(&others, Output::from(&mut buffer))
        .unwrap_or_else(|error| unreachable!("the plan was made for these operands: {error}"));
    buffer
}

impl Default for Fast {
    fn default() -> Fast {
        Fast::new()
    }
}

impl Implementation for Fast {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &'static str {
        env!("CARGO_PKG_VERSION")
    }

    fn capabilities(&self) -> &Capabilities {
        &CAPABILITIES
    }

    fn run(&self, request: &Request) -> Outcome {
        match self.answer(request) {
            Ok(success) => Outcome::Success(success),
            Err(NoPlan::Refused(refusal)) => Outcome::Refusal(refusal),
            Err(skipped @ NoPlan::TooManyElements { .. }) => Outcome::Skipped { reason: skipped.to_string() },
            Err(defect @ (NoPlan::NoKernel(_) | NoPlan::NoOperand { .. })) => {
                Outcome::errored(ErrorKind::Reported, defect.to_string())
            }
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

    /// The bound of the kernels (clause V-4).
    fn allowed_ulp(&self) -> u32 {
        1
    }
}
