//! What the adapters in Rust share: the protocol over the standard streams, the walk through an expression, and what
//! may come of a request.
//!
//! The messages themselves are those of `broadcheck_harness::serve`, which also skips what an adapter does not
//! declare. Nothing here computes a rule: an adapter puts a request to its system as it stands, or skips it.

use broadcheck_harness as harness;
use broadcheck_spec::{
    Expression, Function, Implementation, Node, Operation, Outcome, Refusal, RefusalKind, Request, Success,
    Tensor,
};
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;

#[cfg(any(feature = "burn", feature = "burn-ndarray"))]
pub mod burn;

/// A larger result is skipped before it is made.
pub const MAX_ELEMENTS: usize = 1 << 28;

/// Why there is no result.
#[derive(Debug)]
pub enum Stop {
    /// The system says that the request is not allowed.
    Refused(Refusal),
    /// The system has no way to be asked this.
    Skipped(String),
    /// The system, or the adapter, broke.
    Errored(String),
}

impl Stop {
    /// A refusal in the system's own words, with a kind only where these are plain.
    pub fn refused(kind: Option<RefusalKind>, message: impl Into<String>) -> Stop {
        Stop::Refused(Refusal { kind, message: message.into(), ..Refusal::default() })
    }

    /// Something that the system cannot be asked.
    pub fn skipped(reason: impl Into<String>) -> Stop {
        Stop::Skipped(reason.into())
    }
}

/// What is answered.
pub fn outcome(answer: Result<Tensor, Stop>) -> Outcome {
    match answer {
        Ok(tensor) => Outcome::Success(Success::from(tensor)),
        Err(Stop::Refused(refusal)) => Outcome::Refusal(refusal),
        Err(Stop::Skipped(reason)) => Outcome::Skipped { reason },
        Err(Stop::Errored(message)) => Outcome::errored(ErrorKind::Reported, message),
    }
}

/// The value of an expression, function by function, by the system's own functions on the system's own tensors.
///
/// # Errors
/// The first that a function gives.
pub fn evaluate<T: Clone, E>(
    expression: &Expression,
    operands: &[T],
    mut call: impl FnMut(Function, &[T]) -> Result<T, E>,
) -> Result<T, E> {
    let mut values: Vec<T> = Vec::new();
    for node in expression.nodes() {
        let value = match node {
            Node::Operand(place) => operands[*place].clone(),
            Node::Call(node) => {
                let arguments = values.split_off(values.len() - node.function().arity());
                call(node.function(), &arguments)?
            }
        };
        values.push(value);
    }
    Ok(values.pop().expect("an expression has a root"))
}

/// Whether an operand is not in the expression. A broadcast has none, and reads its operand.
pub fn leaves_out_an_operand(request: &Request) -> bool {
    let expression = request.operation().expression();
    expression.is_some_and(|expression| (0..request.operands().len()).any(|place| !expression.reads(place)))
}

/// The place of the operand by which a gradient is taken.
pub fn derived_by(request: &Request) -> Option<usize> {
    match request.operation() {
        Operation::Gradient { wrt, .. } => Some(*wrt),
        _ => None,
    }
}

/// Skips what is too large to be made. What has no elements is not.
///
/// # Errors
/// A skip, with the shape.
pub fn limit(shape: &[usize]) -> Result<(), Stop> {
    let count = shape.iter().try_fold(1usize, |count, &length| count.checked_mul(length));
    if shape.contains(&0) || count.is_some_and(|count| count <= MAX_ELEMENTS) {
        return Ok(());
    }
    Err(Stop::Skipped(format!("a shape {shape:?} has more than {MAX_ELEMENTS} elements")))
}

/// Asks a system that refuses by a panic. A panic whose text `refuses` knows as the refusal of a request is one; any
/// other goes on, and is an error of the system.
///
/// # Errors
/// The refusal, or what the system was stopped by.
pub fn asking<T>(
    refuses: impl FnOnce(&str) -> Option<Option<RefusalKind>>,
    ask: impl FnOnce() -> Result<T, Stop>,
) -> Result<T, Stop> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|panic| {
        let text = panic_text(&*panic).to_owned();
        match refuses(&text) {
            Some(kind) => Err(Stop::refused(kind, shortened(&text))),
            None => resume_unwind(panic),
        }
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("")
}

/// A message in one line.
pub fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(600).collect()
}

/// The version of a package that this program was built with.
///
/// # Panics
/// Where the lock file holds no such package.
pub fn version_of(package: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let version = lock.split("[[package]]").find_map(|entry| {
        let fields = entry.trim_start().strip_prefix(&format!("name = \"{package}\""))?;
        fields.trim_start().strip_prefix("version = \"")?.split('"').next()
    });
    version.unwrap_or_else(|| panic!("found no package {package} in Cargo.lock"))
}

/// Answers requests on standard input until there are no more.
pub fn serve(system: &dyn Implementation) -> ExitCode {
    match harness::serve(system, &mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
