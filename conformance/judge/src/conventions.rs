//! What a case that tests a convention still requires of an implementation that does not follow it.
//!
//! A convention excuses another answer, but not any answer: operands of different dtypes may be promoted, but
//! the result has the shape that the rule set gives; of two faults either may be reported, but not none.

use crate::compare::{Latitude, Verdict, expectation_of, index_of, judge, place_of};
use broadcheck_reference::{Reference, align, align_shapes, broadcast_shape};
use broadcheck_spec::{
    Convention, Data, Expectation, Expression, Function, Implementation, Node, Operand, Operation, Outcome,
    RefusalKind, Request, Rules, Scalar, Shape, Success, Tensor,
};
use std::collections::BTreeSet;

/// Whether an outcome that is not the expected one is correct for an implementation that does not follow the
/// convention.
pub fn excuses(
    convention: Convention,
    request: &Request,
    expectation: &Expectation,
    outcome: &Outcome,
    latitude: Latitude,
) -> bool {
    match convention {
        // Systems that do not check sizes fail in every way, also by running out of memory.
        Convention::CheckedSizes => true,
        Convention::SeparateDtypes | Convention::UndefinedFunctions | Convention::GradientRefusals => {
            match outcome {
                Outcome::Success(success) => has_shape_of(request, success),
                Outcome::Refusal(_) => true,
                Outcome::Skipped { .. } | Outcome::Errored { .. } => false,
            }
        }
        Convention::UnusedOperands => match outcome {
            Outcome::Success(success) => is_answer_without_unused(request, success, latitude),
            Outcome::Refusal(_) => true,
            Outcome::Skipped { .. } | Outcome::Errored { .. } => false,
        },
        // A case of a run does not test the second.
        Convention::RefusalOrder | Convention::InferredRefusals => matches!(outcome, Outcome::Refusal(_)),
        Convention::GradientTies => match (expectation, outcome) {
            (Expectation::Result(expected), Outcome::Success(success)) => {
                let agreed = with_expected_at(&success.tensor, &expected.tensor, &tied_elements(request));
                agreed.is_some_and(|tensor| {
                    let outcome = Outcome::Success(Success { tensor, ..success.clone() });
                    judge(request, expectation, &outcome, latitude) == Verdict::Passed
                })
            }
            _ => false,
        },
        Convention::ZeroSigns => {
            let lenient = Latitude { any_zero_of_extremes: true, ..latitude };
            judge(request, expectation, outcome, lenient) == Verdict::Passed
        }
    }
}

/// Whether a result has the shape that the operands' shapes and the attributes give, whatever the dtypes are.
fn has_shape_of(request: &Request, success: &Success) -> bool {
    let operands = request.operands();
    let shapes: Vec<Shape> = operands.iter().map(|operand| operand.shape().clone()).collect();
    let flags: Vec<Option<&[bool]>> = operands.iter().map(Operand::broadcastable).collect();
    let alignment = match request.operation().target_shape() {
        Some(target) => broadcast_shape(request.rules(), &shapes[0], target),
        None => align_shapes(request.rules(), &shapes, &flags),
    };
    match (alignment, request.operation().wrt()) {
        (Ok(_), Some(wrt)) => success.tensor.shape() == operands[wrt].shape(),
        (Ok(alignment), None) => *success.tensor.shape() == alignment.shape,
        (Err(refusal), _) => refusal.kind == Some(RefusalKind::TooLarge),
    }
}

/// Whether a result is the answer to the request without the operands that the expression does not use.
fn is_answer_without_unused(request: &Request, success: &Success, latitude: Latitude) -> bool {
    let Some(reduced) = without_unused(request) else {
        // The gradient by an operand that the expression does not use.
        let Some(wrt) = request.operation().wrt() else { return false };
        return success.tensor.shape() == request.operands()[wrt].shape();
    };
    let Some(expectation) = expectation_of(&Reference::new().run(&reduced)) else { return false };
    let outcome = Outcome::Success(success.clone());
    judge(&reduced, &expectation, &outcome, latitude) == Verdict::Passed
}

/// The request with the used operands only; `None` if the operation needs another one.
fn without_unused(request: &Request) -> Option<Request> {
    let expression = request.operation().expression()?;
    let is_used =
        |&operand: &usize| expression.reads(operand) || request.operation().destination() == Some(operand);
    let used: Vec<usize> = (0..request.operands().len()).filter(is_used).collect();
    let place = |operand: usize| used.iter().position(|&kept| kept == operand);
    let reduced: Expression = expression.with_operands(|operand| place(operand).unwrap_or(operand));
    let operation = match request.operation() {
        Operation::Elementwise { .. } => Operation::Elementwise { expression: reduced },
        Operation::Gradient { wrt, .. } => Operation::Gradient { expression: reduced, wrt: place(*wrt)? },
        Operation::Vjp { wrt, target_shape, cotangent, .. } => Operation::Vjp {
            expression: reduced,
            wrt: place(*wrt)?,
            target_shape: target_shape.clone(),
            cotangent: cotangent.clone(),
        },
        Operation::Into { destination, .. } => {
            Operation::Into { expression: reduced, destination: place(*destination)? }
        }
        Operation::Broadcast { .. } => return None,
    };
    // Attributes place one operand on another; with a single one they are malformed.
    let rules = if used.len() == 1 { Rules::from(request.rules().set()) } else { request.rules().clone() };
    let operands = used.iter().map(|&operand| request.operands()[operand].clone()).collect();
    Request::new(rules, operation, operands).ok()
}

/// Whether an accepted gradient contains a tie on the way to its operand: equal arguments of `maximum` or
/// `minimum`, or a zero in `abs` (clause GRAD-3).
pub fn has_gradient_tie(request: &Request) -> bool {
    !tied_elements(request).is_empty()
}

/// The elements of a gradient, in row-major order, to which a tie contributes.
fn tied_elements(request: &Request) -> BTreeSet<usize> {
    let Some((expression, wrt, _)) = request.operation().differentiated() else { return BTreeSet::new() };
    let holds = expression.holds(wrt);
    let mut elements = BTreeSet::new();
    for (place, node) in expression.nodes().iter().enumerate() {
        let Node::Call(call) = node else { continue };
        let part = |argument: usize| expression.part(call.arguments()[argument]);
        let (left, right) = match call.function() {
            Function::Maximum | Function::Minimum => (part(0), part(1)),
            Function::Abs => (part(0), zero_like(part(0))),
            _ => continue,
        };
        if holds[place] {
            elements.extend(elements_where_equal(request, wrt, left, right));
        }
    }
    elements
}

/// An expression that is zero wherever this one is finite.
fn zero_like(part: Expression) -> Expression {
    Expression::call(Function::Subtract, [part.clone(), part]).expect("two arguments")
}

/// The elements of an operand, in row-major order, that are read at an index where two expressions are equal.
fn elements_where_equal(
    request: &Request,
    operand: usize,
    left: Expression,
    right: Expression,
) -> BTreeSet<usize> {
    let expression = Expression::call(Function::Equal, [left, right]).expect("two arguments");
    let (rules, _, operands) = request.clone().into_parts();
    let operation = Operation::Elementwise { expression };
    let Ok(request) = Request::new(rules, operation, operands) else { return BTreeSet::new() };
    let (Ok(alignment), Outcome::Success(answer)) = (align(&request), Reference::new().run(&request)) else {
        return BTreeSet::new();
    };
    let shape = request.operands()[operand].shape();
    let equal = answer.tensor.values().iter().enumerate().filter(|&(_, value)| value == Scalar::Bool(true));
    equal
        .map(|(place, _)| {
            let index = index_of(place, &alignment.shape);
            place_of(&alignment.operand_index(operand, shape, &index), shape)
        })
        .collect()
}

/// A tensor with the expected elements at these places; `None` if the dtypes or shapes differ.
fn with_expected_at(found: &Tensor, expected: &Tensor, places: &BTreeSet<usize>) -> Option<Tensor> {
    if found.dtype() != expected.dtype() || found.shape() != expected.shape() {
        return None;
    }
    let elements = found.values().iter().zip(expected.values().iter()).enumerate();
    let chosen =
        elements.map(|(place, (found, expected))| if places.contains(&place) { expected } else { found });
    let data = Data::from_scalars(found.dtype(), chosen).ok()?;
    Tensor::new(found.shape().clone(), data).ok()
}
