//! Which function accepts which dtype, and what can be differentiated: clauses G-3, V-2 and GRAD-3.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::problem::Problem;
use broadcheck_spec::{DType, Expression, Function, Node, Refusal, RefusalKind};
use smallvec::SmallVec;

/// The dtype of the (underlying) result, or the first refusal in post-order. A gradient is then checked for
/// differentiability.
pub(super) fn check(problem: &Problem<'_>) -> Result<DType, Refusal> {
    let operands = problem.operands();
    let Some(expression) = problem.expression() else { return Ok(operands[0].dtype) };
    let root = expression_dtype(expression, |place| operands[place].dtype)?;
    if let Some(wrt) = problem.wrt() {
        differentiable(root, wrt.dtype)?;
    }
    Ok(root)
}

/// The dtype of an expression, from the dtypes of its operands, or the first refusal in post-order.
pub(crate) fn expression_dtype(
    expression: &Expression,
    operand: impl Fn(usize) -> DType,
) -> Result<DType, Refusal> {
    let mut dtypes: SmallVec<[DType; 32]> = SmallVec::new();
    for node in expression.nodes() {
        let dtype = match node {
            Node::Operand(place) => operand(*place),
            Node::Call(call) => {
                let mut arguments = [DType::Bool; 3];
                let places = call.arguments();
                for (argument, &place) in arguments.iter_mut().zip(places) {
                    *argument = dtypes[place];
                }
                call_dtype(call.function(), &arguments[..places.len()])?
            }
        };
        dtypes.push(dtype);
    }
    Ok(dtypes[dtypes.len() - 1])
}

/// The dtype of a call, from the dtypes of its arguments, or the refusal.
pub(crate) fn call_dtype(function: Function, arguments: &[DType]) -> Result<DType, Refusal> {
    use Function as F;
    let alike = match function {
        F::Select => arguments[0] == DType::Bool && arguments[1] == arguments[2],
        F::Add
        | F::Subtract
        | F::Multiply
        | F::Divide
        | F::Power
        | F::Maximum
        | F::Minimum
        | F::Negate
        | F::Abs
        | F::Sqrt
        | F::Exp
        | F::Log
        | F::Tanh
        | F::Equal
        | F::NotEqual
        | F::Less
        | F::LessEqual
        | F::Greater
        | F::GreaterEqual
        | F::LogicalAnd
        | F::LogicalOr
        | F::LogicalNot => arguments.iter().all(|&dtype| dtype == arguments[0]),
    };
    if !alike {
        let message =
            format!("{function} of {}", arguments.iter().map(|d| d.name()).collect::<Vec<_>>().join(", "));
        return Err(Refusal::new(RefusalKind::DTypeMismatch, message));
    }
    let dtype = arguments[arguments.len() - 1];
    let (defined, answer) = match function {
        F::Add | F::Subtract | F::Multiply | F::Maximum | F::Minimum | F::Negate | F::Abs => {
            (dtype != DType::Bool, dtype)
        }
        F::Divide | F::Power | F::Sqrt | F::Exp | F::Log | F::Tanh => (dtype.is_float(), dtype),
        F::Less | F::LessEqual | F::Greater | F::GreaterEqual => (dtype != DType::Bool, DType::Bool),
        F::Equal | F::NotEqual => (true, DType::Bool),
        F::LogicalAnd | F::LogicalOr | F::LogicalNot => (dtype == DType::Bool, DType::Bool),
        F::Select => (true, dtype),
    };
    if defined { Ok(answer) } else { Err(unsupported(format!("{function} of {dtype}"))) }
}

fn unsupported(message: String) -> Refusal {
    Refusal::new(RefusalKind::UnsupportedFunction, message)
}

/// Clause GRAD-3: root and w are floats. Nothing else is needed: only a condition turns the bool of a
/// comparison or a logical function into a float root, and conditions contribute nothing.
pub(crate) fn differentiable(root: DType, own: DType) -> Result<(), Refusal> {
    if root.is_float() && own.is_float() {
        return Ok(());
    }
    Err(unsupported(format!("the gradient of a {root} result by a {own} operand")))
}
