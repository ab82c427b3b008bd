//! What an engine that builds ahead keeps of a signature: plans for the lengths of an earlier run, answers to
//! it, and checks that are left out.

use super::invented;
use crate::engine::state::{Memory, Part, key};
use crate::{Class, Fault};
use broadcheck_spec::{Data, Length, Operand, Outcome, PartialShape, Request, Success, Tensor};
use std::hash::{DefaultHasher, Hash, Hasher};

const S: Class = Class::State;

/// A change of the answer to a request with declared shapes that follows another one of its signature.
macro_rules! follows {
    (|$before:ident, $request:ident, $outcome:ident| $body:expr) => {
        |d| {
            d.state.remembers = true;
            d.state.after = |memory, $request, $outcome| {
                let changed = before(memory, $request).and_then(|$before| $body);
                changed.unwrap_or($outcome)
            };
        }
    };
}

/// A cache of plans of signatures, with these further parts of a request in the key.
macro_rules! kept_with {
    (|$request:ident| $parts:expr) => {
        |d| {
            d.state.remembers = true;
            d.state.plan = |$request| Some(combined(signature($request)?, $parts));
        }
    };
}

fn combined(signature: u64, parts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (signature, parts).hash(&mut hasher);
    hasher.finish()
}

/// A request's signature, with the ranks of the run; `None` if nothing is declared.
fn signature(request: &Request) -> Option<u64> {
    let declared: Vec<Option<&PartialShape>> = request.operands().iter().map(Operand::declared).collect();
    request.declared().next()?;
    let run = key(request, &[Part::Values, Part::Lengths, Part::Target]);
    Some(combined(run, (declared, request.declared_target())))
}

/// The answer to the request before, if that has the same signature.
fn before<'a>(memory: &'a Memory, request: &Request) -> Option<&'a Outcome> {
    let same = signature(request)? == signature(memory.request.as_ref()?)?;
    memory.outcome.as_ref().filter(|_| same)
}

/// A dense operand without flags, as a view that stays in place along the axes of unknown length.
fn in_place(operand: &Operand) -> Option<Operand> {
    let lengths = operand.declared()?.lengths()?;
    let mut strides = Vec::new();
    let mut step: i64 = 1;
    for (&length, declared) in operand.shape().iter().zip(lengths).rev() {
        strides.push(if declared.number().is_some() { step } else { 0 });
        step = step.checked_mul(i64::try_from(length).ok()?)?;
    }
    strides.reverse();
    if operand.strides().is_some() || operand.broadcastable().is_some() {
        return None;
    }
    let (shape, values) = (operand.shape().clone(), operand.values().clone());
    Operand::view(operand.name(), shape, values, Some(strides), 0).ok()
}

fn with_operands(request: &Request, changed: impl Fn(&Operand) -> Option<Operand>) -> Option<Request> {
    let (rules, operation, operands) = request.clone().into_parts();
    let operands = operands.iter().map(|operand| changed(operand).unwrap_or_else(|| operand.clone()));
    Request::new(rules, operation, operands.collect()).ok()
}

/// Whether an operand has an axis of length 1 whose length is not declared.
fn has_unknown_one(operand: &Operand) -> bool {
    let lengths = operand.declared().and_then(PartialShape::lengths).unwrap_or(&[]);
    let unknown = |(&length, declared): (&usize, &Length)| length == 1 && declared.number().is_none();
    operand.shape().iter().zip(lengths).any(unknown)
}

pub(super) static FAULTS: &[Fault] = &[
    invented(
        "state/signature-keeps-its-answer",
        S,
        "A run whose lengths do not fit is answered with the run before, of the same declared shapes.",
        follows!(|before, _request, outcome| {
            let refused = matches!(outcome, Outcome::Refusal(_));
            (refused && matches!(before, Outcome::Success(_))).then(|| before.clone())
        }),
    ),
    invented(
        "state/signature-keeps-its-refusal",
        S,
        "After a run whose lengths do not fit, the next of the same declared shapes is refused, too.",
        follows!(|before, _request, _outcome| matches!(before, Outcome::Refusal(_)).then(|| before.clone())),
    ),
    invented(
        "state/signature-is-checked-once",
        S,
        "Only the first run of a signature is checked; the others give an empty tensor if they do not fit.",
        follows!(|_before, request, outcome| {
            let refused = matches!(outcome, Outcome::Refusal(_));
            let empty = Tensor::new([0], Data::empty(request.operands()[0].dtype())).ok()?;
            refused.then(|| Outcome::Success(Success::from(empty)))
        }),
    ),
    invented(
        "state/signature-compares-ranks",
        S,
        "The plan of a signature is used again for all lengths of the same ranks.",
        kept_with!(|request| ()),
    ),
    invented(
        "state/signature-compares-the-first-operand",
        S,
        "The plan of a signature is used again if the first operand has the lengths of the run before.",
        kept_with!(|request| request.operands()[0].shape()),
    ),
    invented(
        "state/signature-compares-counts",
        S,
        "The plan of a signature is used again for operands with the same numbers of elements.",
        kept_with!(|request| {
            let counts = request.operands().iter().map(|operand| operand.shape().count());
            counts.collect::<Vec<_>>()
        }),
    ),
    invented(
        "state/unknown-length-as-one",
        S,
        "An operand does not advance along an axis of unknown length.",
        |d| {
            d.state.remembers = true;
            d.state.before = |_, request| {
                signature(request)?;
                with_operands(request, in_place)
            };
        },
    ),
    invented(
        "state/unknown-length-is-not-one",
        S,
        "A length that was unknown and is 1 at the run is not stretched: the request is refused.",
        |d| {
            d.state.remembers = true;
            d.state.after = |_, request, outcome| match &outcome {
                Outcome::Success(success) => {
                    let whole = success.tensor.shape();
                    let stretched = |operand: &Operand| {
                        has_unknown_one(operand) && operand.shape().count() < whole.count()
                    };
                    if request.operands().iter().any(stretched) {
                        Outcome::Refusal(broadcheck_spec::Refusal::default())
                    } else {
                        outcome
                    }
                }
                Outcome::Refusal(_) | Outcome::Skipped { .. } | Outcome::Errored { .. } => outcome,
            };
        },
    ),
];
