//! What an implementation supports, and the trait of everything that answers requests.

use crate::{
    Convention, DType, ErrorKind, Function, Operand, Operation, OperationKind, Outcome, Request, RuleSet,
    Scalar, Shape,
};
use std::collections::BTreeMap;
use std::time::Instant;

/// The default size limit of an implementation, in elements of the result: 2^28 (clause G-1).
pub const DEFAULT_MAX_ELEMENTS: usize = 1 << 28;

/// What an implementation supports. A request outside of it is not asked, and counted with the reason.
///
/// Start from [`Capabilities::all`] and state what is missing, so that a new field needs no change:
///
/// ```
/// use broadcheck_spec::{Capabilities, Convention, DType, Function, RuleSet};
///
/// let mine = Capabilities {
///     rules: vec![RuleSet::Numpy],
///     dtypes: vec![DType::F32, DType::I32, DType::U8],
///     function_dtypes: [(Function::Negate, vec![DType::F32, DType::I32])].into(),
///     max_rank: Some(8),
///     conventions: vec![Convention::UnusedOperands],
///     ..Capabilities::all()
/// };
/// assert!(mine.has(Function::Negate, DType::I32) && !mine.has(Function::Negate, DType::U8));
/// ```
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
    /// The dtypes of operands.
    pub dtypes: Vec<DType>,
    /// The dtypes of a function's arguments, for each function that has fewer of them than `dtypes`. The
    /// condition of `select` does not count.
    pub function_dtypes: BTreeMap<Function, Vec<DType>>,
    /// The operations of a rule set, for each that has fewer of them than `operations`.
    pub rule_operations: BTreeMap<RuleSet, Vec<OperationKind>>,
    /// The functions of a rule set, for each that has fewer of them than `functions`.
    pub rule_functions: BTreeMap<RuleSet, Vec<Function>>,
    /// Whether, under `pdpd`, a request has at most the operands A and B, and a function of both takes A, or
    /// what has the shape of A, on the left and B on the right.
    pub ordered_operands: bool,
    /// The lowest rank of an operand or target other than a scalar.
    pub min_rank: usize,
    /// The highest rank of an operand, the target or the result; `None` if there is no limit.
    pub max_rank: Option<usize>,
    /// Whether the operands of a request must all have the same rank.
    pub equal_ranks: bool,
    /// Whether operands and targets of rank 0 are supported.
    pub scalars: bool,
    /// The largest number of operands in a request; `None` if there is no limit.
    pub max_operands: Option<usize>,
    /// The largest number of function calls in an expression; `None` if there is no limit.
    pub max_calls: Option<usize>,
    /// Whether an expression may leave operands out (clause G-5).
    pub unused_operands: bool,
    /// The largest result, in elements.
    pub max_elements: usize,
    /// Whether a request may contain or produce a shape whose lengths other than 0 multiply to more than
    /// `max_elements`, such as a view that repeats one element 2^63 times (clause G-1).
    pub large_sizes: bool,
    /// The float dtypes whose subnormal numbers are treated as zero.
    pub flushed_subnormals: Vec<DType>,
    /// The conventions that it follows. A case that tests any other one cannot fail.
    pub conventions: Vec<Convention>,
}

impl Capabilities {
    /// Everything that the format can express, with the default size limit and no convention.
    pub fn all() -> Capabilities {
        Capabilities {
            rules: RuleSet::ALL.to_vec(),
            operations: OperationKind::ALL.to_vec(),
            strided: true,
            functions: Function::ALL.to_vec(),
            dtypes: DType::ALL.to_vec(),
            function_dtypes: BTreeMap::new(),
            rule_operations: BTreeMap::new(),
            rule_functions: BTreeMap::new(),
            ordered_operands: false,
            min_rank: 0,
            max_rank: None,
            equal_ranks: false,
            scalars: true,
            max_operands: None,
            max_calls: None,
            unused_operands: true,
            max_elements: DEFAULT_MAX_ELEMENTS,
            large_sizes: true,
            flushed_subnormals: Vec::new(),
            conventions: Vec::new(),
        }
    }

    /// [`Capabilities::all`], with every convention.
    pub fn with_all_conventions() -> Capabilities {
        Capabilities { conventions: Convention::ALL.to_vec(), ..Capabilities::all() }
    }

    /// Whether it follows a convention.
    pub fn follows(&self, convention: Convention) -> bool {
        self.conventions.contains(&convention)
    }

    /// Whether a function is supported for arguments of a dtype, if it supports the dtype at all. The
    /// arguments of a function may have a dtype that no operand has, such as the bool result of `less`.
    pub fn has(&self, function: Function, dtype: DType) -> bool {
        self.functions.contains(&function)
            && self.function_dtypes.get(&function).is_none_or(|dtypes| dtypes.contains(&dtype))
    }

    /// Whether an operation is supported under a rule set.
    pub fn has_operation(&self, rules: RuleSet, operation: OperationKind) -> bool {
        self.rules.contains(&rules)
            && self.operations.contains(&operation)
            && self.rule_operations.get(&rules).is_none_or(|operations| operations.contains(&operation))
    }

    /// Whether a request is supported, as far as the request itself shows.
    ///
    /// # Errors
    /// The first thing that is not supported, without details of the request, so that equal reasons can be
    /// counted: `no f16`, `no rank above 8`.
    pub fn covers(&self, request: &Request) -> Result<(), String> {
        let rules = request.rules().set();
        if !self.rules.contains(&rules) {
            return Err(format!("no rule set {rules}"));
        }
        let operation = request.operation().kind();
        if !self.operations.contains(&operation) {
            return Err(format!("no {operation}"));
        }
        if !self.has_operation(rules, operation) {
            return Err(format!("no {operation} under {rules}"));
        }
        request.operands().iter().try_for_each(|operand| self.covers_operand(operand))?;
        self.covers_operands_together(request)?;
        if let Operation::Broadcast { target_shape } = request.operation() {
            self.covers_rank(target_shape.rank())?;
            self.covers_size(target_shape)?;
        }
        self.covers_order(request)?;
        self.covers_calls(request)
    }

    fn covers_operand(&self, operand: &Operand) -> Result<(), String> {
        let dtype = operand.dtype();
        if !self.dtypes.contains(&dtype) {
            return Err(format!("no {dtype}"));
        }
        if operand.strides().is_some() && !self.strided {
            return Err("no strided views".into());
        }
        if self.flushed_subnormals.contains(&dtype) && operand.values().iter().any(Scalar::is_subnormal) {
            return Err(format!("no subnormal {dtype}"));
        }
        self.covers_rank(operand.rank())?;
        self.covers_size(operand.shape())
    }

    fn covers_operands_together(&self, request: &Request) -> Result<(), String> {
        let operands = request.operands();
        if let Some(most) = self.max_operands.filter(|&most| operands.len() > most) {
            return Err(format!("no more than {}", counted(most, "operand")));
        }
        if self.equal_ranks && operands.iter().any(|operand| operand.rank() != operands[0].rank()) {
            return Err("no operands of different ranks".into());
        }
        if !self.unused_operands && request.has_unused_operand() {
            return Err("no unused operands".into());
        }
        Ok(())
    }

    fn covers_order(&self, request: &Request) -> Result<(), String> {
        if !self.ordered_operands || request.rules().set() != RuleSet::Pdpd {
            return Ok(());
        }
        if request.operands().len() > 2 {
            return Err("no third operand under pdpd".into());
        }
        let Some(expression) = request.operation().expression() else { return Ok(()) };
        // The operand whose shape a part of the expression has.
        let call = |_: Function, arguments: &[usize]| match arguments {
            [0, 1] => Ok(0),
            [first, others @ ..] if others.iter().all(|other| other == first) => Ok(*first),
            _ => Err("no order other than A, B under pdpd".to_owned()),
        };
        expression.try_values(|operand| operand, call).map(|_| ())
    }

    fn covers_calls(&self, request: &Request) -> Result<(), String> {
        let Some(expression) = request.operation().expression() else { return Ok(()) };
        if let Some(most) = self.max_calls.filter(|&most| expression.calls().count() > most) {
            return Err(format!("no more than {}", counted(most, "call")));
        }
        let rules = request.rules().set();
        let rule_functions = self.rule_functions.get(&rules);
        let dtype_of = |operand: usize| request.operands()[operand].dtype();
        let call = |function: Function, arguments: &[DType]| {
            if !self.functions.contains(&function) {
                return Err(format!("no {function}"));
            }
            if rule_functions.is_some_and(|functions| !functions.contains(&function)) {
                return Err(format!("no {function} under {rules}"));
            }
            let values = function.values_of(arguments);
            match values.iter().find(|&&dtype| !self.has(function, dtype)) {
                Some(dtype) => Err(format!("no {function} of {dtype}")),
                None if function.is_predicate() => Ok(DType::Bool),
                None => Ok(values[0]),
            }
        };
        expression.try_values(dtype_of, call).map(|_| ())
    }

    fn covers_rank(&self, rank: usize) -> Result<(), String> {
        if rank == 0 {
            return if self.scalars { Ok(()) } else { Err("no scalars".into()) };
        }
        if rank < self.min_rank {
            return Err(format!("no rank below {}", self.min_rank));
        }
        match self.max_rank {
            Some(limit) if rank > limit => Err(format!("no rank above {limit}")),
            _ => Ok(()),
        }
    }

    fn covers_size(&self, shape: &Shape) -> Result<(), String> {
        if self.large_sizes || shape.extent() <= self.max_elements as u128 {
            return Ok(());
        }
        Err("no sizes beyond memory".into())
    }
}

/// `1 operand`, `2 operands`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
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

    /// The same until a deadline. A request that has no answer by then is [`ErrorKind::Interrupted`].
    ///
    /// By default, an implementation that prefers batches ignores the deadline: override this if a batch may
    /// take long.
    fn run_many_until(&self, requests: &[&Request], deadline: Instant) -> Vec<Outcome> {
        if self.batch() > 1 {
            return self.run_many(requests);
        }
        let run = |request: &&Request| match Instant::now() < deadline {
            true => self.run(request),
            false => Outcome::errored(ErrorKind::Interrupted, "the time is over"),
        };
        requests.iter().map(run).collect()
    }

    /// The allowed error of `exp`, `log`, `tanh` and `power`, in ULP from the correctly rounded value (clause
    /// V-4).
    fn allowed_ulp(&self) -> u32 {
        4
    }
}
