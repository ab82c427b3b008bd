//! Which dtypes each function accepts (clauses G-3 and V-2), and which expressions have a derivative (clause
//! GRAD-3).

#![warn(clippy::wildcard_enum_match_arm)]

use crate::functions::{Kind, kind};
use broadcheck_spec::{DType, Expression, Function, Refusal, RefusalKind};

/// The dtypes that a function is defined for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Domain {
    /// Any dtype.
    Any,
    /// Floats and integers.
    Numbers,
    /// Floats only.
    Floats,
    /// bool only.
    Truth,
}

fn domain(function: Function) -> Domain {
    match function {
        Function::Equal | Function::NotEqual | Function::Select => Domain::Any,
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Maximum
        | Function::Minimum
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::Negate
        | Function::Abs => Domain::Numbers,
        Function::Divide
        | Function::Power
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh => Domain::Floats,
        Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot => Domain::Truth,
    }
}

/// Whether a function returns a bool. If so, it has no derivative.
fn gives_bool(function: Function) -> bool {
    match kind(function) {
        Kind::Comparison(_) | Kind::Logic(_) | Kind::Not => true,
        Kind::Unary(_) | Kind::Binary(_) | Kind::Select => false,
    }
}

/// The dtype of an expression over operands of these dtypes.
///
/// # Errors
/// The refusal of the first function, in post-order, that does not accept its arguments: `dtype_mismatch` if
/// that applies, otherwise `unsupported_function` (clause G-6).
///
/// # Panics
/// If the expression reads an operand that has no dtype in the list.
pub fn result_dtype(expression: &Expression, dtypes: &[DType]) -> Result<DType, Refusal> {
    let found = expression.try_values(|operand| dtypes[operand], call_dtype)?;
    Ok(*found.last().expect("an expression has a root"))
}

fn call_dtype(function: Function, arguments: &[DType]) -> Result<DType, Refusal> {
    // G-3. All arguments have the same dtype, except for select: its condition is bool, and the other two
    // agree.
    let alike = if function == Function::Select {
        if arguments[0] != DType::Bool {
            let message = format!("the condition of select is {}: expected bool", arguments[0]);
            return Err(Refusal::new(RefusalKind::DTypeMismatch, message));
        }
        &arguments[1..]
    } else {
        arguments
    };
    let dtype = alike[0];
    if let Some(other) = alike.iter().find(|&&other| other != dtype) {
        let message = format!("{function} of {dtype} and {other}: expected the same dtype");
        return Err(Refusal::new(RefusalKind::DTypeMismatch, message));
    }
    // V-2. The function must be defined for the dtype.
    let defined = match domain(function) {
        Domain::Any => true,
        Domain::Numbers => dtype != DType::Bool,
        Domain::Floats => dtype.is_float(),
        Domain::Truth => dtype == DType::Bool,
    };
    if !defined {
        let message = format!("{function} is not defined for {dtype}");
        return Err(Refusal::new(RefusalKind::UnsupportedFunction, message));
    }
    Ok(if gives_bool(function) { DType::Bool } else { dtype })
}

/// GRAD-3: the root and w must be floats. Between them there are only functions with a derivative and
/// conditions: a comparison or a logical function returns a bool, which becomes a float only as the condition
/// of a `select`, and a condition contributes nothing.
pub(crate) fn check_differentiable(
    expression: &Expression,
    dtypes: &[DType],
    wrt: usize,
) -> Result<(), Refusal> {
    let refuse = |message: String| Err(Refusal::new(RefusalKind::UnsupportedFunction, message));
    let root = result_dtype(expression, dtypes)?;
    if !root.is_float() {
        return refuse(format!("the gradient of a result of dtype {root}: expected a float"));
    }
    if !dtypes[wrt].is_float() {
        return refuse(format!(
            "the gradient with respect to an operand of dtype {}: expected a float",
            dtypes[wrt]
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
