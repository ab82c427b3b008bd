//! One answer against the first implementation's. The common case, where they are the same, allocates nothing.

use broadcheck_judge::compare::{Latitude, Verdict, expectation_of, judge};
use broadcheck_spec::{DType, Outcome, Refusal, Request, Success};

/// Why an answer is none: it broke, was skipped inside what the implementation declares, or has a dtype that no
/// operand has.
pub(super) fn breakage(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Refusal(_) => None,
        Outcome::Success(success) if success.tensor.dtype() == DType::F64 => None,
        Outcome::Success(success) => {
            Some(format!("a result of dtype {}, expected f64", success.tensor.dtype()))
        }
        Outcome::Skipped { reason } => Some(format!("skipped inside what it declares: {reason}")),
        Outcome::Errored { message, .. } => Some(message.clone()),
    }
}

/// How an answer differs from the first implementation's, which is not broken.
pub(super) fn difference(
    request: &Request,
    first: &Outcome,
    other: &Outcome,
    latitude: Latitude,
) -> Option<String> {
    if same(first, other) {
        return None;
    }
    match judge(request, &expectation_of(first)?, other, latitude) {
        Verdict::Passed => None,
        Verdict::Failed(difference) => Some(difference.to_string()),
        Verdict::Skipped(reason) | Verdict::Errored(reason) => Some(reason),
    }
}

fn same(first: &Outcome, other: &Outcome) -> bool {
    match (first, other) {
        (Outcome::Refusal(first), Outcome::Refusal(other)) => same_refusal(first, other),
        (Outcome::Success(first), Outcome::Success(other)) => same_success(first, other),
        _ => false,
    }
}

fn same_refusal(first: &Refusal, other: &Refusal) -> bool {
    first.kind == other.kind && first.axis == other.axis && first.operand == other.operand
}

fn same_success(first: &Success, other: &Success) -> bool {
    first.tensor == other.tensor
        && first.intermediate == other.intermediate
        && first.broadcastable == other.broadcastable
}
