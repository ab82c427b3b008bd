//! Shared by the adapters in Rust: the protocol over the standard streams, the evaluation of an expression,
//! the possible outcomes of a request, and requests as programs.
//!
//! `broadcheck_harness::serve` reads and writes the messages, and skips what an adapter does not declare.
//! Nothing here computes a rule: an adapter passes a request to its system unchanged, or skips it.

use broadcheck_harness as harness;
use broadcheck_spec::{
    ErrorKind, Expression, Function, Node, Outcome, Refusal, RefusalKind, Request, Success, Tensor,
};
use programs::Programs;
use std::any::Any;
use std::env;
use std::io::{self, Read as _};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::ExitCode;

#[cfg(any(feature = "burn", feature = "burn-ndarray"))]
pub mod burn;
pub mod programs;

/// A larger result is skipped before it is allocated.
pub const MAX_ELEMENTS: usize = 1 << 28;

/// Why there is no result.
#[derive(Debug)]
pub enum NoResult {
    /// The system says that the request is invalid.
    Refused(Refusal),
    /// The request cannot be expressed in the system.
    Skipped(String),
    /// The system or the adapter failed.
    Errored(String),
}

impl NoResult {
    /// A refusal in the system's own words, with a kind only if these are unambiguous.
    pub fn refused(kind: Option<RefusalKind>, message: impl Into<String>) -> NoResult {
        NoResult::Refused(Refusal { kind, message: message.into(), ..Refusal::default() })
    }

    /// A request that cannot be expressed in the system.
    pub fn skipped(reason: impl Into<String>) -> NoResult {
        NoResult::Skipped(reason.into())
    }
}

/// The outcome that the protocol reports.
pub fn outcome(answer: Result<Tensor, NoResult>) -> Outcome {
    match answer {
        Ok(tensor) => Outcome::Success(Success::from(tensor)),
        Err(NoResult::Refused(refusal)) => Outcome::Refusal(refusal),
        Err(NoResult::Skipped(reason)) => Outcome::Skipped { reason },
        Err(NoResult::Errored(message)) => Outcome::errored(ErrorKind::Reported, message),
    }
}

/// Evaluates an expression, function by function, with the system's functions on the system's tensors.
///
/// # Errors
/// The first error that a function returns.
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

/// Whether a result depends on an operand other than through conditions. If not, the operand is in no graph
/// of the system, which has no gradient for it; it is 0.
pub fn is_differentiable(expression: &Expression, operand: usize) -> bool {
    let depends = |function: Function, arguments: &[bool]| match function {
        Function::Select => arguments[1] || arguments[2],
        function => !function.is_predicate() && arguments.contains(&true),
    };
    expression.values(|place| place == operand, depends).last() == Some(&true)
}

/// The position of the operand that a gradient is taken with respect to.
pub fn gradient_operand(request: &Request) -> Option<usize> {
    request.operation().wrt()
}

/// Skips a shape that is too large to allocate. A shape without elements is never too large.
///
/// # Errors
/// A skip.
pub fn limit(shape: &[usize]) -> Result<(), NoResult> {
    let count = shape.iter().try_fold(1usize, |count, &length| count.checked_mul(length));
    if shape.contains(&0) || count.is_some_and(|count| count <= MAX_ELEMENTS) {
        return Ok(());
    }
    Err(NoResult::Skipped(format!("no shape of more than {MAX_ELEMENTS} elements")))
}

/// Calls a system that refuses by panicking. A panic whose text `refuses` recognises becomes a refusal; any
/// other continues, and is an error of the system.
///
/// # Errors
/// The refusal, or the error that `call` returns.
pub fn catching_refusals<T>(
    refuses: impl FnOnce(&str) -> Option<Option<RefusalKind>>,
    call: impl FnOnce() -> Result<T, NoResult>,
) -> Result<T, NoResult> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let text = panic_text(&*panic).to_owned();
        match refuses(&text) {
            Some(kind) => Err(NoResult::refused(kind, shortened(&text))),
            None => resume_unwind(panic),
        }
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("")
}

/// A message as one line.
pub fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(600).collect()
}

/// The version of a package that this program was built with.
///
/// # Panics
/// If the lock file contains no such package.
pub fn version_of(package: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let version = lock.split("[[package]]").find_map(|entry| {
        let fields = entry.trim_start().strip_prefix(&format!("name = \"{package}\""))?;
        fields.trim_start().strip_prefix("version = \"")?.split('"').next()
    });
    version.unwrap_or_else(|| panic!("found no package {package} in Cargo.lock"))
}

/// Answers requests on standard input until there are no more; with the one argument `--program`, writes one
/// as a program.
pub fn serve(system: &dyn Programs) -> ExitCode {
    if env::args().skip(1).eq(["--program"]) {
        return print_program(system);
    }
    match harness::serve(system, &mut io::stdin().lock(), &mut io::stdout().lock()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Prints the program of the request on standard input. The exit status is 2, with a message, if there is
/// none.
fn print_program(system: &dyn Programs) -> ExitCode {
    let mut text = String::new();
    let read = io::stdin().lock().read_to_string(&mut text).map_err(|error| error.to_string());
    match read.and_then(|_| programs::program_of(system, &text)) {
        Ok(program) => {
            print!("{program}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
