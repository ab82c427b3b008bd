//! What an implementation supports, and the trait of everything that answers requests.

use crate::{
    Asked, Convention, DType, ErrorKind, Expression, Function, Inference, Length, Operand, OperandType,
    OperationKind, Outcome, PartialShape, Request, RuleSet, Rules, Scalar, Shape, Signature,
};
use std::collections::BTreeMap;
use std::fmt;
use std::iter;
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
    /// Whether a view may have a negative stride along an axis of more than one element.
    pub negative_strides: bool,
    /// Whether it answers `broadcast` under `xla` (clauses XLA-9 to XLA-13). The rule set and the operation
    /// alone do not mean that: they were declared together before `xla` had a `broadcast`.
    pub broadcast_in_dim: bool,
    /// Whether the dimensions of that `broadcast` need not increase (clause XLA-11).
    pub permuted: bool,
    /// Whether a gradient may have a cotangent (clause GRAD-4), and be that of a `broadcast`.
    pub cotangent: bool,
    /// Whether `elementwise` may write into an operand (clauses INTO-1 to INTO-4).
    pub into: bool,
    /// Whether it answers the operation `infer` ([`Implementation::infer`]).
    pub infer: bool,
    /// Whether it builds ahead: it can be told less of a shape than the run has (clause DECL-2).
    pub declared: bool,
    /// Whether operands may be constants of what is built ([`Operand::is_constant`]).
    pub constants: bool,
    /// Whether two operands may be the same array ([`Operand::same`]).
    pub same: bool,
    /// What may be unknown of a shape before the run.
    pub unknown: Vec<Unknown>,
    /// The rule sets under which it does not answer `infer`, though it has them.
    pub without_infer: Vec<RuleSet>,
    /// The rule sets under which it cannot be told a declared shape, though it has them.
    pub without_declared: Vec<RuleSet>,
    /// What may be unknown of a declared shape; `None` if that is all of `unknown`.
    pub declared_unknown: Option<Vec<Unknown>>,
    /// Whether, before a run under `theano`, an axis must have the flag true if its length is known to be 1,
    /// and false otherwise.
    pub static_flags: bool,
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
    /// Whether, under `pdpd` and `repeat`, a request has at most the operands A and B, and a function of both
    /// takes A, or what has the shape of A, on the left and B on the right.
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
    /// `max_elements`, such as a view that repeats one element 2^63 times (clause G-1), and a signature a
    /// bound, or known lengths whose product is, beyond 2^63-1.
    pub large_sizes: bool,
    /// The float dtypes whose subnormal numbers are treated as zero.
    pub flushed_subnormals: Vec<DType>,
    /// The conventions that it follows. A case that tests any other one cannot fail.
    pub conventions: Vec<Convention>,
}

impl Capabilities {
    /// Everything that can be asked of a run, except for `broadcast` under `xla`, cotangents and
    /// destinations, with the default size limit and no convention; nothing that can be asked before a run.
    pub fn all() -> Capabilities {
        Capabilities {
            rules: RuleSet::ALL.to_vec(),
            operations: OperationKind::ALL.to_vec(),
            strided: true,
            negative_strides: true,
            broadcast_in_dim: false,
            permuted: false,
            cotangent: false,
            into: false,
            infer: false,
            declared: false,
            constants: false,
            same: false,
            unknown: Vec::new(),
            without_infer: Vec::new(),
            without_declared: Vec::new(),
            declared_unknown: None,
            static_flags: false,
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

    /// Whether an operation is supported under a rule set, as far as its name goes: `broadcast` under `xla`
    /// needs [`Capabilities::broadcast_in_dim`] too.
    pub fn has_operation(&self, rules: RuleSet, operation: OperationKind) -> bool {
        self.rules.contains(&rules)
            && self.operations.contains(&operation)
            && self.rule_operations.get(&rules).is_none_or(|operations| operations.contains(&operation))
    }

    /// Whether results of an operation are inferred under a rule set, if any are. An implementation without
    /// operations infers those of all of them.
    fn infers(&self, rules: RuleSet, operation: OperationKind) -> bool {
        (self.operations.is_empty() || self.operations.contains(&operation))
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
        let target = request.operation().target_shape();
        if request.cotangent().is_some() && !self.cotangent {
            return Err("no cotangents".into());
        }
        if request.destination().is_some() && !self.into {
            return Err("no destinations".into());
        }
        self.covers_given(request)?;
        if target.is_some() && !self.has_operation(rules, OperationKind::Broadcast) {
            return Err(format!("no {} under {rules}", OperationKind::Broadcast));
        }
        self.covers_dimensions(request.rules(), target.is_some())?;
        request.cotangent().map_or(Ok(()), |cotangent| self.covers_operand(cotangent))?;
        request.operands().iter().try_for_each(|operand| self.covers_operand(operand))?;
        self.covers_operands_together(request)?;
        self.covers_declared(request)?;
        if let Some(target) = target {
            self.covers_rank(target.rank())?;
            self.covers_size(target)?;
        }
        let Some(expression) = request.operation().expression() else { return Ok(()) };
        let operands = request.operands();
        self.covers_order(rules, expression, operands.len())?;
        self.covers_calls(rules, expression, |operand| operands[operand].dtype())
    }

    /// How the operands are given.
    fn covers_given(&self, request: &Request) -> Result<(), String> {
        if !self.constants && request.operands().iter().any(Operand::is_constant) {
            return Err("no constants".into());
        }
        if !self.same && request.operands().iter().any(|operand| operand.same().is_some()) {
            return Err("no array given twice".into());
        }
        Ok(())
    }

    /// Whether a signature is supported, as far as it shows.
    ///
    /// # Errors
    /// The first thing that is not supported, as for [`Capabilities::covers`].
    pub fn covers_signature(&self, signature: &Signature) -> Result<(), String> {
        if !self.infer {
            return Err("no infer".into());
        }
        let rules = signature.rules().set();
        if !self.rules.contains(&rules) {
            return Err(format!("no rule set {rules}"));
        }
        let operation = signature.asked().operation();
        if self.without_infer.contains(&rules) {
            return Err(format!("no infer under {rules}"));
        }
        if !self.infers(rules, operation) {
            return Err(format!("no {operation} under {rules}"));
        }
        self.covers_dimensions(signature.rules(), operation == OperationKind::Broadcast)?;
        let operands = signature.operands();
        if let Some(operand) = operands.iter().find(|operand| !self.dtypes.contains(&operand.dtype())) {
            return Err(format!("no {}", operand.dtype()));
        }
        covers_unknown(&self.unknown, signature.shapes())?;
        for shape in signature.shapes() {
            shape.rank().map_or(Ok(()), |rank| self.covers_rank(rank))?;
            shape.known().map_or(Ok(()), |shape| self.covers_size(&shape))?;
            self.covers_bounds(shape)?;
        }
        let known = |operand: &OperandType| has_static_flags(operand.shape(), operand.broadcastable());
        self.covers_flags(rules, operands.iter().all(known))?;
        self.covers_number(operands.len())?;
        let rank = |operand: &OperandType| operand.shape().rank();
        if self.equal_ranks && operands.iter().any(|operand| rank(operand) != rank(&operands[0])) {
            return Err("no operands of different ranks".into());
        }
        if !self.unused_operands && signature.has_unused_operand() {
            return Err("no unused operands".into());
        }
        let Asked::Expression(expression) = signature.asked() else { return Ok(()) };
        self.covers_order(rules, expression, operands.len())?;
        self.covers_calls(rules, expression, |operand| operands[operand].dtype())
    }

    /// The dimensions that place an operand on a target (clauses XLA-9 to XLA-11).
    fn covers_dimensions(&self, rules: &Rules, target: bool) -> Result<(), String> {
        let Rules::Xla { broadcast_dimensions } = rules else { return Ok(()) };
        if !target {
            return Ok(());
        }
        if !self.broadcast_in_dim {
            return Err(format!("no {} under {}", OperationKind::Broadcast, rules.set()));
        }
        let dimensions = broadcast_dimensions.as_deref().unwrap_or(&[]);
        if !self.permuted && dimensions.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err("no broadcast_dimensions that decrease".into());
        }
        Ok(())
    }

    /// Without large sizes, neither a bound nor the product of the known lengths other than 0 is beyond
    /// 2^63-1.
    fn covers_bounds(&self, shape: &PartialShape) -> Result<(), String> {
        let lengths = shape.lengths().unwrap_or(&[]);
        let known = Shape::new(lengths.iter().filter_map(|length| length.number()).collect());
        let bounds = lengths.iter().map(|length| Shape::from([length.max().unwrap_or(length.min())]));
        if !self.large_sizes && iter::once(known).chain(bounds).any(|shape| shape.count().is_none()) {
            return Err("no sizes beyond memory".into());
        }
        Ok(())
    }

    fn covers_declared(&self, request: &Request) -> Result<(), String> {
        if request.declared().next().is_none() {
            return Ok(());
        }
        if !self.declared {
            return Err("no declared shapes".into());
        }
        let rules = request.rules().set();
        if self.without_declared.contains(&rules) {
            return Err(format!("no declared shapes under {rules}"));
        }
        covers_unknown(self.declared_unknown.as_ref().unwrap_or(&self.unknown), request.declared())?;
        let told = |operand: &Operand| {
            let shape = operand.declared().cloned().unwrap_or_else(|| PartialShape::from(operand.shape()));
            has_static_flags(&shape, operand.broadcastable())
        };
        self.covers_flags(rules, request.operands().iter().all(told))
    }

    fn covers_flags(&self, rules: RuleSet, are_static: bool) -> Result<(), String> {
        if self.static_flags && rules == RuleSet::Theano && !are_static {
            return Err("no flags that differ from static lengths of 1".into());
        }
        Ok(())
    }

    fn covers_number(&self, operands: usize) -> Result<(), String> {
        match self.max_operands {
            Some(most) if operands > most => Err(format!("no more than {}", counted(most, "operand"))),
            _ => Ok(()),
        }
    }

    fn covers_operand(&self, operand: &Operand) -> Result<(), String> {
        let dtype = operand.dtype();
        if !self.dtypes.contains(&dtype) {
            return Err(format!("no {dtype}"));
        }
        if operand.strides().is_some() && !self.strided {
            return Err("no strided views".into());
        }
        if !self.negative_strides && has_negative_stride(operand) {
            return Err("no negative strides".into());
        }
        if self.flushed_subnormals.contains(&dtype) && operand.values().iter().any(Scalar::is_subnormal) {
            return Err(format!("no subnormal {dtype}"));
        }
        self.covers_rank(operand.rank())?;
        self.covers_size(operand.shape())
    }

    fn covers_operands_together(&self, request: &Request) -> Result<(), String> {
        let operands = request.operands();
        self.covers_number(operands.len())?;
        if self.equal_ranks && operands.iter().any(|operand| operand.rank() != operands[0].rank()) {
            return Err("no operands of different ranks".into());
        }
        if !self.unused_operands && request.has_unused_operand() {
            return Err("no unused operands".into());
        }
        Ok(())
    }

    fn covers_order(&self, rules: RuleSet, expression: &Expression, operands: usize) -> Result<(), String> {
        if !self.ordered_operands || !matches!(rules, RuleSet::Pdpd | RuleSet::Repeat) {
            return Ok(());
        }
        if operands > 2 {
            return Err(format!("no third operand under {rules}"));
        }
        // The operand whose shape a part of the expression has.
        let call = |_: Function, arguments: &[usize]| match arguments {
            [0, 1] => Ok(0),
            [first, others @ ..] if others.iter().all(|other| other == first) => Ok(*first),
            _ => Err(format!("no order other than A, B under {rules}")),
        };
        expression.try_values(|operand| operand, call).map(|_| ())
    }

    fn covers_calls(
        &self,
        rules: RuleSet,
        expression: &Expression,
        dtype_of: impl Fn(usize) -> DType,
    ) -> Result<(), String> {
        if let Some(most) = self.max_calls.filter(|&most| expression.calls().count() > most) {
            return Err(format!("no more than {}", counted(most, "call")));
        }
        let rule_functions = self.rule_functions.get(&rules);
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

/// Whether an operand is a view that is read backwards. The stride of an axis of one element is never used.
fn has_negative_stride(operand: &Operand) -> bool {
    let strides = operand.strides().unwrap_or(&[]);
    strides.iter().zip(operand.shape().iter()).any(|(&stride, &length)| stride < 0 && length > 1)
}

/// Whether these shapes have nothing unknown that is not listed.
fn covers_unknown<'a>(
    listed: &[Unknown],
    mut shapes: impl Iterator<Item = &'a PartialShape>,
) -> Result<(), String> {
    let unknown = shapes.find_map(|shape| Unknown::of(shape).find(|unknown| !listed.contains(unknown)));
    unknown.map_or(Ok(()), |unknown| Err(format!("no {}", unknown.described())))
}

/// Whether the flags are true where the length is known to be 1, and nowhere else.
fn has_static_flags(shape: &PartialShape, flags: Option<&[bool]>) -> bool {
    let lengths = shape.lengths().unwrap_or(&[]);
    let flag = |axis: usize| flags.is_some_and(|flags| flags[axis]);
    lengths.iter().enumerate().all(|(axis, length)| flag(axis) == (length.number() == Some(1)))
}

/// What may be unknown of a shape before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Unknown {
    /// A length of which nothing is known: `?`.
    Length,
    /// A length with an upper bound alone: `..3`.
    Bound,
    /// A length with a lower bound: `1..3` or `2..`.
    Interval,
    /// The rank: `...`.
    Rank,
}

impl Unknown {
    /// Everything that may be unknown.
    pub const ALL: [Unknown; 4] = [Unknown::Length, Unknown::Bound, Unknown::Interval, Unknown::Rank];

    /// The name in the protocol.
    pub fn name(self) -> &'static str {
        match self {
            Unknown::Length => "length",
            Unknown::Bound => "bound",
            Unknown::Interval => "interval",
            Unknown::Rank => "rank",
        }
    }

    /// What is unknown of a shape, axis by axis.
    pub fn of(shape: &PartialShape) -> impl Iterator<Item = Unknown> {
        let of_length = |length: &Length| match (length.number(), length.min(), length.max()) {
            (Some(_), _, _) => None,
            (None, 0, None) => Some(Unknown::Length),
            (None, 0, Some(_)) => Some(Unknown::Bound),
            (None, _, _) => Some(Unknown::Interval),
        };
        let rank = shape.rank().is_none().then_some(Unknown::Rank);
        rank.into_iter().chain(shape.lengths().unwrap_or(&[]).iter().filter_map(of_length))
    }

    fn described(self) -> &'static str {
        match self {
            Unknown::Length => "unknown lengths",
            Unknown::Bound => "lengths with an upper bound",
            Unknown::Interval => "lengths with a lower bound",
            Unknown::Rank => "unknown ranks",
        }
    }
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
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

    /// Answers the operation `infer`: what is known of the result before the run (clauses INFER-1 to
    /// INFER-12). Asked only if [`Capabilities::infer`] is set.
    fn infer(&self, signature: &Signature) -> Outcome<Inference> {
        Outcome::Skipped {
            reason: format!("{} does not infer under {}", self.name(), signature.rules().set()),
        }
    }

    /// Whether an inference that is wider than exact is a failure (clause INFER-3).
    fn is_exact(&self) -> bool {
        false
    }

    /// The preferred number of requests per call of `run_many`. More than one if batches are faster, as for a
    /// process that receives several requests before it answers the first.
    fn batch(&self) -> usize {
        1
    }

    /// Answers several requests, with one outcome each, in order.
    fn run_many(&self, requests: &[&Request]) -> Vec<Outcome> {
        requests.iter().map(|request| self.run(request)).collect()
    }

    /// Answers several signatures, with one outcome each, in order.
    fn infer_many(&self, signatures: &[&Signature]) -> Vec<Outcome<Inference>> {
        signatures.iter().map(|signature| self.infer(signature)).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A signature of the negation of a vector, or of its broadcast, with a flag under theano.
    fn signature(rules: RuleSet, broadcast: bool, length: &str, flag: Option<bool>) -> Signature {
        let vector = OperandType::new("a", DType::F64, length.parse::<PartialShape>().unwrap()).unwrap();
        let vector = match flag {
            Some(flag) => vector.with_broadcastable(vec![flag]).unwrap(),
            None => vector,
        };
        let asked = if broadcast {
            Asked::TargetShape("2".parse().unwrap())
        } else {
            Asked::Expression(Expression::call(Function::Negate, [Expression::operand(0)]).unwrap())
        };
        Signature::new(Rules::from(rules), asked, vec![vector]).unwrap()
    }

    #[test]
    fn a_rule_set_may_be_without_inference() {
        let able = Capabilities {
            operations: vec![],
            infer: true,
            unknown: vec![Unknown::Length],
            without_infer: vec![RuleSet::Pdpd],
            rule_operations: [(RuleSet::Numpy, vec![OperationKind::Elementwise])].into(),
            ..Capabilities::all()
        };
        let covers = |rules, broadcast| able.covers_signature(&signature(rules, broadcast, "?", None));
        assert_eq!(covers(RuleSet::Numpy, false), Ok(()), "without operations, infer is of all of them");
        assert_eq!(covers(RuleSet::Bidirectional, true), Ok(()));
        assert_eq!(covers(RuleSet::Numpy, true), Err("no broadcast under numpy".into()));
        assert_eq!(covers(RuleSet::Pdpd, false), Err("no infer under pdpd".into()));
        let runs = Capabilities { operations: vec![OperationKind::Broadcast], ..able };
        let found = runs.covers_signature(&signature(RuleSet::None, false, "?", None));
        assert_eq!(found, Err("no elementwise under none".into()));
    }

    #[test]
    fn a_flag_may_be_a_static_length_of_one() {
        let able = Capabilities {
            infer: true,
            unknown: Unknown::ALL.to_vec(),
            static_flags: true,
            ..Capabilities::all()
        };
        let covers = |length, flag| able.covers_signature(&signature(RuleSet::Theano, false, length, flag));
        for (length, flag) in
            [("1", Some(true)), ("?", Some(false)), ("?", None), ("3", None), ("1..2", Some(false))]
        {
            assert_eq!(covers(length, flag), Ok(()), "{length} {flag:?}");
        }
        for (length, flag) in
            [("1", Some(false)), ("1", None), ("?", Some(true)), ("3", Some(true)), ("..1", Some(true))]
        {
            let reason = "no flags that differ from static lengths of 1";
            assert_eq!(covers(length, flag), Err(reason.into()), "{length} {flag:?}");
        }
        let numpy = able.covers_signature(&signature(RuleSet::Numpy, false, "1", None));
        assert_eq!(numpy, Ok(()), "flags are theano's");
    }

    #[test]
    fn bounds_beyond_signed_integers_are_large_sizes() {
        let able = Capabilities {
            infer: true,
            unknown: Unknown::ALL.to_vec(),
            large_sizes: false,
            ..Capabilities::all()
        };
        let covers = |length| able.covers_signature(&signature(RuleSet::Numpy, false, length, None));
        for length in ["..9223372036854775807", "9223372036854775807..", "?", "..4"] {
            assert_eq!(covers(length), Ok(()), "{length}");
        }
        for length in ["..9223372036854775808", "9223372036854775808..", "1..18446744073709551615"] {
            assert_eq!(covers(length), Err("no sizes beyond memory".into()), "{length}");
        }
    }
}
