//! The only place that judges an outcome against an expectation (clauses V-1 to V-6).
//!
//! Refusals are judged by kind, axis and operand; results by dtype, shape, then every element. Elements are
//! compared bit by bit if the expression has one value, against the set of admissible values if it contains
//! `exp log tanh power` or a `maximum` or `minimum` whose zeros may have either sign (`admissible`), and
//! within the bound of clause V-6 for gradients.

mod admissible;
#[cfg(test)]
mod admissible_tests;
mod admitted;
mod buffer;
mod elements;
mod gradient;
mod outcomes;
mod ranges;
mod ulp;
mod zeros;

pub use admitted::admitted;
use broadcheck_spec::{
    Convention, Expectation, ExpectedRefusal, ExpectedResult, Implementation, OperationKind, Outcome,
    Refusal, Request, RuleSet, Shape, Success, Tensor,
};
use elements::{Rule, elements};
pub use gradient::{Interval, Precision, enclose, gradient_bounds};
pub use outcomes::{compare_outcomes, same_outcome};
use std::fmt;

/// The ULPs that an implementation is allowed for `exp log tanh power` unless it specifies otherwise (clause
/// V-4).
pub const DEFAULT_ULP: u32 = 4;

/// How far an expected value may be from the reference's value, in ULPs per inexact function (clause V-4b).
/// An expected value is correctly rounded, or comes from a real system of known quality, so it gets less room
/// than an answer. A case that is less certain of its value specifies its `tolerance`.
pub const EXPECTED_ULP: u32 = 2;

/// How much latitude the clauses leave to an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latitude {
    /// ULPs for `exp log tanh power` (clause V-4). A case's own `tolerance` takes precedence.
    pub ulp: u32,
    /// Whether `maximum` and `minimum` of a +0 and a -0 may return either (clause V-3). A case's `zero_sign:
    /// any` does not take precedence: it says where this may matter.
    pub any_zero_of_extremes: bool,
}

impl Latitude {
    /// The latitude that any implementation has.
    pub const ANY: Latitude = Latitude { ulp: DEFAULT_ULP, any_zero_of_extremes: true };

    /// The latitude that an implementation asks for.
    pub fn of(implementation: &dyn Implementation) -> Latitude {
        let any_zero_of_extremes = !implementation.capabilities().follows(Convention::ZeroSigns);
        Latitude { ulp: implementation.allowed_ulp(), any_zero_of_extremes }
    }
}

/// The judgement of one outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The outcome is the expected one.
    Passed,
    /// The outcome differs from the expected one.
    Failed(Difference),
    /// The implementation does not support the request.
    Skipped(String),
    /// The implementation failed to answer.
    Errored(String),
}

/// How an outcome differs from the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The kind of difference.
    pub kind: DifferenceKind,
    /// The difference in words, with the first wrong element if there is one.
    pub detail: String,
}

/// The kinds of difference, worst first: silent wrong answers before loud ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    /// The shape is right, but elements are wrong.
    Values,
    /// The result has another shape.
    Shape,
    /// The result has another dtype.
    DType,
    /// A result although a refusal is expected.
    WronglyAccepted,
    /// A refusal although a result is expected.
    WronglyRefused,
    /// A refusal of another kind, axis or operand.
    Refusal,
    /// The intermediate shape or values, or the result's flags.
    Extra,
    /// The answers with the optimiser off and on differ, and not both are right. [`judge`], which judges one
    /// answer, never finds it.
    Optimiser,
}

impl fmt::Display for DifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            DifferenceKind::Values => "wrong values",
            DifferenceKind::Shape => "wrong shape",
            DifferenceKind::DType => "wrong dtype",
            DifferenceKind::WronglyAccepted => "accepted, must be refused",
            DifferenceKind::WronglyRefused => "refused, must be accepted",
            DifferenceKind::Refusal => "wrong refusal",
            DifferenceKind::Extra => "wrong intermediate or flags",
            DifferenceKind::Optimiser => "changed by the optimiser",
        })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.detail)
    }
}

fn difference(kind: DifferenceKind, detail: impl Into<String>) -> Result<(), Difference> {
    Err(Difference { kind, detail: detail.into() })
}

/// Judges an outcome.
pub fn judge(request: &Request, expectation: &Expectation, outcome: &Outcome, latitude: Latitude) -> Verdict {
    let names = request.names();
    let judged = match (expectation, outcome) {
        (_, Outcome::Skipped { reason }) => return Verdict::Skipped(reason.clone()),
        (_, Outcome::Errored { message, .. }) => return Verdict::Errored(message.clone()),
        (Expectation::Result(expected), Outcome::Success(success)) => {
            results(request, expected, success, latitude)
        }
        (Expectation::Refusal(expected), Outcome::Refusal(refusal)) => refusals(&names, expected, refusal),
        (Expectation::Result(expected), Outcome::Refusal(refusal)) => difference(
            DifferenceKind::WronglyRefused,
            format!(
                "expected a result of shape {}, got {}",
                expected.tensor.shape(),
                describe_answer(&names, refusal)
            ),
        ),
        (Expectation::Refusal(expected), Outcome::Success(success)) => difference(
            DifferenceKind::WronglyAccepted,
            format!(
                "expected {}, got a result of shape {}",
                describe_refusal(&names, expected),
                success.tensor.shape()
            ),
        ),
    };
    judged.map_or_else(Verdict::Failed, |()| Verdict::Passed)
}

/// The expectation that one implementation's outcome sets for another's; `None` if it was skipped or failed.
///
/// The outcome becomes an expected value and is checked as one ([`EXPECTED_ULP`]). For an implementation that
/// is allowed more, set the result's `tolerance_ulp`.
pub fn expectation_of(outcome: &Outcome) -> Option<Expectation> {
    match outcome {
        Outcome::Success(success) => Some(Expectation::Result(ExpectedResult {
            intermediate: success.intermediate.clone(),
            broadcastable: success.broadcastable.clone(),
            ..ExpectedResult::from(success.tensor.clone())
        })),
        Outcome::Refusal(refusal) => Some(Expectation::Refusal(ExpectedRefusal {
            kind: refusal.kind,
            axis: refusal.axis,
            operand: refusal.operand,
        })),
        Outcome::Skipped { .. } | Outcome::Errored { .. } => None,
    }
}

/// A refusal without a kind matches any expected refusal. If it has a kind, the kind must be the expected
/// one, and so must the axis and operand if it gives them.
pub(crate) fn refusals(
    names: &[&str],
    expected: &ExpectedRefusal,
    refusal: &Refusal,
) -> Result<(), Difference> {
    let (Some(expected_kind), Some(kind)) = (expected.kind, refusal.kind) else { return Ok(()) };
    let other = |expected: Option<usize>, found: Option<usize>| {
        expected.zip(found).is_some_and(|(expected, found)| expected != found)
    };
    if expected_kind == kind
        && !other(expected.axis, refusal.axis)
        && !other(expected.operand, refusal.operand)
    {
        return Ok(());
    }
    difference(
        DifferenceKind::Refusal,
        format!("expected {}, got {}", describe_refusal(names, expected), describe_answer(names, refusal)),
    )
}

/// A refusal in words, with the operand's name and the refusal's message.
pub(crate) fn describe_answer(names: &[&str], refusal: &Refusal) -> String {
    let mut text = match refusal.kind {
        Some(_) => {
            let Refusal { kind, axis, operand, .. } = *refusal;
            describe_refusal(names, &ExpectedRefusal { kind, axis, operand })
        }
        None => "a refusal without a kind".into(),
    };
    if !refusal.message.is_empty() {
        text += &format!(": {}", refusal.message);
    }
    text
}

/// An expected refusal in words: `flag_violation of operand b at axis 0`.
pub(crate) fn describe_refusal(names: &[&str], expected: &ExpectedRefusal) -> String {
    let mut text = expected.kind.map_or("a refusal of any kind", |kind| kind.name()).to_owned();
    if let Some(operand) = expected.operand {
        text += &format!(" of operand {}", names.get(operand).copied().unwrap_or("?"));
    }
    if let Some(axis) = expected.axis {
        text += &format!(" at axis {axis}");
    }
    text
}

fn results(
    request: &Request,
    expected: &ExpectedResult,
    success: &Success,
    latitude: Latitude,
) -> Result<(), Difference> {
    same_dtype_and_shape("", &expected.tensor, &success.tensor)?;
    let rule = Rule::of(request, expected, latitude);
    elements(&expected.tensor, &success.tensor, &rule)?;
    extras(request, expected, success)
}

/// Checks that the dtypes and shapes are equal.
fn same_dtype_and_shape(what: &str, expected: &Tensor, found: &Tensor) -> Result<(), Difference> {
    if expected.dtype() != found.dtype() {
        let detail = format!("{what}expected dtype {}, got {}", expected.dtype(), found.dtype());
        return difference(DifferenceKind::DType, detail);
    }
    if expected.shape() != found.shape() {
        let detail = format!("{what}expected shape {}, got {}", expected.shape(), found.shape());
        return difference(DifferenceKind::Shape, detail);
    }
    Ok(())
}

/// Judges the intermediate and the flags: they are wrong where the request has none, and are compared exactly
/// if both sides have them.
fn extras(request: &Request, expected: &ExpectedResult, success: &Success) -> Result<(), Difference> {
    consistent(request, success)?;
    let extra = |difference: Difference| Difference { kind: DifferenceKind::Extra, ..difference };
    if let (Some(expected), Some(found)) = (&expected.intermediate, &success.intermediate) {
        same_dtype_and_shape("intermediate: ", expected, found).map_err(extra)?;
        elements(expected, found, &Rule::Bits { any_zero_sign: false }).map_err(|error| {
            extra(Difference { detail: format!("intermediate: {}", error.detail), ..error })
        })?;
    }
    match (&expected.broadcastable, &success.broadcastable) {
        (Some(expected), Some(found)) if expected != found => {
            difference(DifferenceKind::Extra, format!("broadcastable: expected {expected:?}, got {found:?}"))
        }
        _ => Ok(()),
    }
}

/// Judges what an answer must have whatever is expected: no extras where the request has none, and a buffer
/// that follows from the result.
fn consistent(request: &Request, success: &Success) -> Result<(), Difference> {
    misplaced(request, success)?;
    buffer::buffer(request, success)
}

/// An intermediate exists only where `xla` places an operand on one of a higher rank (clause XLA-8), and
/// flags only under `theano` (clause THEANO-4). The answer to a gradient has neither.
fn misplaced(request: &Request, success: &Success) -> Result<(), Difference> {
    let (rules, operation) = (request.rules().set(), request.operation().kind());
    let elementwise = operation == OperationKind::Elementwise;
    if let Some(found) = &success.intermediate
        && !(elementwise && request.lower_operand().is_some())
    {
        let detail = format!(
            "intermediate: found one of shape {}, expected none: only `elementwise` under `xla` with operands of \
             different ranks has one, and this is `{operation}` under `{rules}`",
            found.shape()
        );
        return difference(DifferenceKind::Extra, detail);
    }
    match &success.broadcastable {
        Some(found) if !(elementwise && rules == RuleSet::Theano) => {
            let detail = format!(
                "broadcastable: found {found:?}, expected none: only `elementwise` under `theano` has flags, and \
                 this is `{operation}` under `{rules}`"
            );
            difference(DifferenceKind::Extra, detail)
        }
        _ => Ok(()),
    }
}

/// The index of the element at `place` in row-major order.
pub fn index_of(place: usize, shape: &Shape) -> Vec<usize> {
    let mut rest = place;
    let mut index = vec![0; shape.rank()];
    for (slot, &length) in index.iter_mut().zip(shape.iter()).rev() {
        *slot = rest % length.max(1);
        rest /= length.max(1);
    }
    index
}

/// The place of an index in row-major order.
pub fn place_of(index: &[usize], shape: &Shape) -> usize {
    index.iter().zip(shape.iter()).fold(0, |place, (step, length)| place * length + step)
}
