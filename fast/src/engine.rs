//! The engine as an implementation of the trait that all implementations share.

use crate::lower::{flags, intermediate};
use crate::plan::{Plan, inputs};
use crate::{Level, NoPlan, infer};
use broadcheck_spec::{
    Capabilities, ErrorKind, Implementation, Inference, Operation, Outcome, Request, Rules, Signature,
    Success, Tensor, Unknown,
};
use std::fmt;
use std::sync::LazyLock;

static CAPABILITIES: LazyLock<Capabilities> = LazyLock::new(|| Capabilities {
    infer: true,
    declared: true,
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
        let plan = Plan::with_level(request, self.level)?;
        let is_elementwise = matches!(request.operation(), Operation::Elementwise { .. });
        let lower = match intermediate(request) {
            Some(lower) if is_elementwise => {
                let operand = &request.operands()[lower.operand];
                Some((Plan::of_copy(operand, &lower.shape, lower.maps.of(0), self.level)?, operand))
            }
            Some(_) | None => None,
        };
        let has_flags = is_elementwise && *request.rules() == Rules::Theano;
        let broadcastable = has_flags.then(|| flags(request));
        let run = |plan: &Plan, inputs: &[crate::Input<'_>]| -> Tensor {
            plan.run(inputs)
                .unwrap_or_else(|error| unreachable!("the plan was made for these operands: {error}"))
        };
        let intermediate = lower.map(|(copy, operand)| run(&copy, &[operand.values().into()]));
        let tensor = run(&plan, &inputs(request));
        Ok(Success { tensor, intermediate, broadcastable })
    }
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
            Err(defect @ NoPlan::NoKernel(_)) => Outcome::errored(ErrorKind::Reported, defect.to_string()),
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
