//! Judges what is inferred before the run (clauses INFER-2, INFER-3 and INFER-11).
//!
//! An answer is unsound if it excludes a run that is accepted, and wider than exact if it admits more than
//! the accepted runs give. The first is an error; the second is not, and is counted apart.

use crate::compare::{Difference, DifferenceKind, describe_answer, describe_refusal, refusals};
use broadcheck_spec::{
    Accepts, Convention, Expectation, ExpectedRefusal, Inference, Outcome, RefusalKind, Signature,
};

/// The judgement of an answer to a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inferred {
    /// The answer is exact.
    Exact,
    /// The answer excludes no accepted run, and admits more than the accepted runs give. In words.
    Wider(String),
    /// The answer is wrong.
    Failed(Difference),
    /// The implementation does not support the signature.
    Skipped(String),
    /// The implementation failed to answer.
    Errored(String),
}

/// Judges an answer to a signature by the exact one.
///
/// ```
/// use broadcheck_judge::inferred::{Inferred, judge_inferred};
/// use broadcheck_spec::{
///     Accepts, Asked, DType, Expectation, Inference, OperandType, Outcome, PartialShape, Rules, Signature,
/// };
/// let shape = |text: &str| text.parse::<PartialShape>().unwrap();
/// let inference = |text: &str| Inference {
///     dtype: DType::F32,
///     shape: shape(text),
///     accepts: Some(Accepts::Depends),
///     broadcastable: None,
/// };
/// let operand = OperandType::new("a", DType::F32, shape("?"))?;
/// let signature = Signature::new(Rules::Numpy, Asked::TargetShape(shape("2..3")), vec![operand])?;
/// let exact = Expectation::Result(inference("2..3"));
/// let judge = |text| judge_inferred(&signature, &exact, &Outcome::Success(inference(text)));
/// assert_eq!(judge("2..3"), Inferred::Exact);
/// assert!(matches!(judge("?"), Inferred::Wider(_)));
/// assert!(matches!(judge("2"), Inferred::Failed(_)));
/// # Ok::<(), broadcheck_spec::Malformed>(())
/// ```
pub fn judge_inferred(
    signature: &Signature,
    expectation: &Expectation<Inference>,
    outcome: &Outcome<Inference>,
) -> Inferred {
    let names = signature.names();
    match (expectation, outcome) {
        (_, Outcome::Skipped { reason }) => Inferred::Skipped(reason.clone()),
        (_, Outcome::Errored { message, .. }) => Inferred::Errored(message.clone()),
        (Expectation::Result(exact), Outcome::Success(found)) => inferences(signature, exact, found),
        (Expectation::Refusal(expected), Outcome::Refusal(refusal)) => {
            refusals(&names, expected, refusal).map_or_else(Inferred::Failed, |()| Inferred::Exact)
        }
        (Expectation::Result(exact), Outcome::Refusal(refusal)) => failed(
            DifferenceKind::WronglyRefused,
            format!("unsound: expected {exact}, got {}", describe_answer(&names, refusal)),
        ),
        (Expectation::Refusal(expected), Outcome::Success(found)) => {
            let detail = format!("expected {}, got {found}", describe_refusal(&names, expected));
            if is_of_types(expected) || signature.is_known() {
                failed(DifferenceKind::WronglyAccepted, detail)
            } else {
                Inferred::Wider(format!("no run is accepted: {detail}"))
            }
        }
    }
}

/// Whether an answer that is not the exact one is correct for an implementation that does not follow the
/// convention.
pub fn excuses_inferred(convention: Convention, outcome: &Outcome<Inference>) -> bool {
    match convention {
        Convention::CheckedSizes => true,
        Convention::SeparateDtypes | Convention::UndefinedFunctions | Convention::UnusedOperands => {
            matches!(outcome, Outcome::Success(_) | Outcome::Refusal(_))
        }
        Convention::RefusalOrder | Convention::InferredRefusals => matches!(outcome, Outcome::Refusal(_)),
        // These are about values and gradients, which no signature has.
        Convention::GradientRefusals | Convention::GradientTies | Convention::ZeroSigns => false,
    }
}

/// Types are checked before shapes (clause INFER-12), so such a refusal does not depend on lengths.
fn is_of_types(expected: &ExpectedRefusal) -> bool {
    matches!(
        expected.kind,
        Some(RefusalKind::DTypeMismatch | RefusalKind::UnsupportedFunction | RefusalKind::OperandCount)
    )
}

fn inferences(signature: &Signature, exact: &Inference, found: &Inference) -> Inferred {
    let differs = |what: &str| format!("{what}expected {exact}, got {found}");
    if exact.dtype != found.dtype {
        return failed(DifferenceKind::DType, differs(""));
    }
    if !found.shape.contains(&exact.shape) {
        return failed(DifferenceKind::Shape, differs("unsound: "));
    }
    if (exact.accepts, found.accepts) == (Some(Accepts::Depends), Some(Accepts::Always)) {
        return failed(DifferenceKind::WronglyAccepted, differs("unsound: some runs are refused: "));
    }
    if let (Some(expected), Some(flags)) = (&exact.broadcastable, &found.broadcastable)
        && expected != flags
    {
        return failed(DifferenceKind::Extra, format!("broadcastable: expected {expected:?}, got {flags:?}"));
    }
    let unsure = (exact.accepts, found.accepts) == (Some(Accepts::Always), Some(Accepts::Depends));
    if exact.shape == found.shape && !unsure {
        return Inferred::Exact;
    }
    if signature.is_known() {
        // INFER-1. With all lengths known the answer is that of the operation.
        return failed(DifferenceKind::Shape, differs("all lengths are known: "));
    }
    Inferred::Wider(differs(""))
}

fn failed(kind: DifferenceKind, detail: String) -> Inferred {
    Inferred::Failed(Difference { kind, detail })
}
