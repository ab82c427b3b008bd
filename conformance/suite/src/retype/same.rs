//! Whether a request and the same request in another dtype have the same answer, step by step.

use super::{indices, numbers};
use broadcheck_reference::{Alignment, Reference, align, apply, exceeds_limit, read};
use broadcheck_spec::{
    Case, Expectation, ExpectedRefusal, ExpectedResult, Expression, Function, Implementation as _, Operation,
    OperationKind, Outcome, Refusal, Request, Scalar, Success, Tensor,
};

/// Whether the reference interpreter gives the expected answer to a retyped case, and computes the same
/// number for every function of the expression as for the request as written.
pub(super) fn answer(written: &Request, retyped: &Case) -> bool {
    let other = &retyped.request;
    match (&retyped.expectation, align(other)) {
        (Expectation::Refusal(expected), Err(refusal)) => {
            is_expected(&refusal, expected)
                && align(written).is_err_and(|first| place(&first) == place(&refusal))
        }
        (Expectation::Result(expected), Ok(alignment)) => {
            exceeds_limit(other, &alignment).is_none()
                && (is_long_and_exact(other, &alignment)
                    || (has_result(other, expected) && has_same_steps(written, other, &alignment)))
        }
        (Expectation::Refusal(_), Ok(_)) | (Expectation::Result(_), Err(_)) => false,
    }
}

/// A result of more elements than this is not computed again if a bound shows that no step is rounded or
/// wraps.
const LONG: usize = 1 << 12;

/// Whether the result is long, all values are integers, and every step of the expression stays between the
/// integers that the dtype represents without a gap. Then each step is the same number in every dtype.
fn is_long_and_exact(request: &Request, alignment: &Alignment) -> bool {
    if alignment.shape.count().is_none_or(|count| count <= LONG) {
        return false;
    }
    let bounds = |operand: usize| {
        let values = request.operands()[operand].values();
        let mut numbers = values.iter().map(numbers::whole);
        numbers
            .try_fold((0, 0), |(low, high), number| number.map(|number| (number.min(low), number.max(high))))
    };
    let Operation::Elementwise { expression } = request.operation() else { return false };
    let dtype = request.operands()[0].dtype();
    let (least, largest) = numbers::integers(dtype);
    let step = |function: Function, arguments: &[Option<(i128, i128)>]| {
        let &[Some((low, high)), Some((other_low, other_high))] = arguments else { return None };
        let (low, high) = match function {
            Function::Add => (low + other_low, high + other_high),
            Function::Subtract => (low - other_high, high - other_low),
            _ => return None,
        };
        (low >= least.into() && high <= largest.into()).then_some((low, high))
    };
    request.operands().iter().all(|operand| operand.dtype() == dtype)
        && expression.values(bounds, step).into_iter().all(|bounds| bounds.is_some())
}

/// What is compared of a refusal: all but its message.
fn place(refusal: &Refusal) -> impl PartialEq + use<> {
    (refusal.kind, refusal.axis, refusal.operand)
}

fn is_expected(refusal: &Refusal, expected: &ExpectedRefusal) -> bool {
    let ExpectedRefusal { kind, axis, operand } = *expected;
    (kind.is_none() || kind == refusal.kind)
        && (axis.is_none() || axis == refusal.axis)
        && (operand.is_none() || operand == refusal.operand)
}

fn has_result(request: &Request, expected: &ExpectedResult) -> bool {
    let Outcome::Success(Success { tensor, intermediate, broadcastable, .. }) = Reference::new().run(request)
    else {
        return false;
    };
    let exact = match request.operation().kind() {
        OperationKind::Elementwise | OperationKind::Broadcast => tensor == expected.tensor,
        // V-6: the sign of a zero is not specified in gradients.
        OperationKind::Gradient => equal_numbers(&tensor, &expected.tensor),
    };
    exact
        && (expected.intermediate.is_none() || expected.intermediate == intermediate)
        && (expected.broadcastable.is_none() || expected.broadcastable == broadcastable)
}

fn equal_numbers(one: &Tensor, other: &Tensor) -> bool {
    let equal = |(one, other): (Scalar, Scalar)| one == other || one.as_f64() == other.as_f64();
    one.shape() == other.shape()
        && one.dtype() == other.dtype()
        && one.values().iter().zip(other.values().iter()).all(equal)
}

/// Whether every function has the same value in both requests at every index. The reference's answer shows it
/// for the last function; the others could be rounded, or wrap and wrap back.
fn has_same_steps(written: &Request, other: &Request, alignment: &Alignment) -> bool {
    let Some(expression) = written.operation().expression() else { return true };
    let is_gradient = written.operation().wrt().is_some();
    if expression.calls().count() <= usize::from(!is_gradient) {
        return true;
    }
    indices(&alignment.shape).all(|index| {
        let steps = |request| steps(expression, request, alignment, &index);
        steps(written).into_iter().zip(steps(other)).all(|(one, other)| is_same(one, other))
    })
}

fn steps(expression: &Expression, request: &Request, alignment: &Alignment, index: &[usize]) -> Vec<Scalar> {
    let element = |place: usize| {
        let operand = &request.operands()[place];
        read(operand, &alignment.operand_index(place, operand.shape(), index))
    };
    expression.values(element, apply)
}

fn is_same(one: Scalar, other: Scalar) -> bool {
    one == other || numbers::number(one, other.dtype()) == Some(other)
}
