//! The trait for implementations of broadcasting: a name, what it supports, and an answer to each request.

use crate::{DType, Function, Node, Operand, Operation, OperationKind, Outcome, Request, RuleSet};

/// The default size limit of an implementation, in elements of the result: 2^28 (clause G-1).
pub const DEFAULT_MAX_ELEMENTS: usize = 1 << 28;

/// What an implementation supports. Requests beyond it are skipped and counted as such, never as passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The rule sets.
    pub rules: Vec<RuleSet>,
    /// The operations.
    pub operations: Vec<OperationKind>,
    /// Whether strided views are supported as operands.
    pub strided: bool,
    /// The functions.
    pub functions: Vec<Function>,
    /// The dtypes.
    pub dtypes: Vec<DType>,
    /// The highest rank of an operand, the target or the result; `None` if there is no limit.
    pub max_rank: Option<usize>,
    /// The largest result, in elements.
    pub max_elements: usize,
}

impl Capabilities {
    /// Everything that the format can express, with the default size limit.
    pub fn all() -> Capabilities {
        Capabilities {
            rules: RuleSet::ALL.to_vec(),
            operations: OperationKind::ALL.to_vec(),
            strided: true,
            functions: Function::ALL.to_vec(),
            dtypes: DType::ALL.to_vec(),
            max_rank: None,
            max_elements: DEFAULT_MAX_ELEMENTS,
        }
    }

    /// Whether a request is supported, as far as the request itself shows.
    ///
    /// # Errors
    /// The first thing that is not supported: the reason for skipping.
    pub fn covers(&self, request: &Request) -> Result<(), String> {
        let rules = request.rules().set();
        if !self.rules.contains(&rules) {
            return Err(format!("no rule set {rules}"));
        }
        let operation = request.operation().kind();
        if !self.operations.contains(&operation) {
            return Err(format!("no operation {operation}"));
        }
        request.operands().iter().try_for_each(|operand| self.covers_operand(operand))?;
        if let Operation::Broadcast { target_shape } = request.operation() {
            self.covers_rank(target_shape.rank())?;
        }
        for node in request.operation().expression().map_or(&[][..], |expression| expression.nodes()) {
            if let Node::Call(call) = node
                && !self.functions.contains(&call.function())
            {
                return Err(format!("no function {}", call.function()));
            }
        }
        Ok(())
    }

    fn covers_operand(&self, operand: &Operand) -> Result<(), String> {
        if !self.dtypes.contains(&operand.dtype()) {
            return Err(format!("no dtype {}", operand.dtype()));
        }
        if operand.strides().is_some() && !self.strided {
            return Err("no strided operands".into());
        }
        self.covers_rank(operand.rank())
    }

    fn covers_rank(&self, rank: usize) -> Result<(), String> {
        match self.max_rank {
            Some(limit) if rank > limit => Err(format!("rank {rank} is above the limit {limit}")),
            _ => Ok(()),
        }
    }
}

/// Something that answers requests: a library under test, or one of broadcheck's engines.
///
/// ```
/// use broadcheck_spec::{Capabilities, Implementation, Outcome, Request};
///
/// struct Mine(Capabilities);
///
/// impl Implementation for Mine {
///     fn name(&self) -> &str { "mine" }
///     fn version(&self) -> &str { "0.1.0" }
///     fn capabilities(&self) -> &Capabilities { &self.0 }
///     fn run(&self, request: &Request) -> Outcome {
///         // Build the library's own arrays from `request.operands()`, call it, and return its answer.
///         Outcome::Skipped { reason: format!("{} is not wired up yet", request.rules().set()) }
///     }
/// }
/// # let _ = Mine(Capabilities::all());
/// ```
pub trait Implementation: Sync {
    /// The name in reports and on the command line.
    fn name(&self) -> &str;

    /// The version of the library under test.
    fn version(&self) -> &str;

    /// What it supports.
    fn capabilities(&self) -> &Capabilities;

    /// Answers one request. The runner catches a panic and counts the case as failed.
    fn run(&self, request: &Request) -> Outcome;

    /// The preferred number of requests per call of `run_many`. More than one if batches are faster, as for a
    /// process that receives several requests before it answers the first.
    fn batch(&self) -> usize {
        1
    }

    /// Answers several requests, with one outcome each, in order.
    fn run_many(&self, requests: &[&Request]) -> Vec<Outcome> {
        requests.iter().map(|request| self.run(request)).collect()
    }

    /// The allowed error of `exp`, `log`, `tanh` and `power`, in ULP from the correctly rounded value (clause
    /// V-4).
    fn allowed_ulp(&self) -> u32 {
        4
    }

    /// Whether `maximum` and `minimum` order -0 below +0. If not, a zero of either sign is correct in an
    /// expression that contains one of them (clause V-3).
    fn orders_zeros(&self) -> bool {
        false
    }
}
