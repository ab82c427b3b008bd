//! What is kept between requests: plans and results under keys that lack something, buffers that are not
//! cleared, attributes that remain.

use super::invented;
use crate::engine::convert::{as_f64, convert, zero};
use crate::engine::rewrite::Term;
use crate::engine::state::{Memory, Part, key};
use crate::{Class, Fault};
use broadcheck_spec::{
    Data, Operation, OperationKind, Outcome, Refusal, Request, RuleSet, Rules, Scalar, Shape, Success, Tensor,
};
use std::hash::{DefaultHasher, Hash, Hasher};

const S: Class = Class::State;

/// A cache of plans. Plans do not depend on values.
macro_rules! plans {
    (|$request:ident| $key:expr) => {
        |d| {
            d.state.remembers = true;
            d.state.plan = |$request| Some($key);
        }
    };
}

/// A cache of results.
macro_rules! results {
    (|$request:ident| $key:expr) => {
        |d| {
            d.state.remembers = true;
            d.state.result = |$request| Some($key);
        }
    };
}

/// What remains from the request before.
macro_rules! remains {
    (|$memory:ident, $request:ident| $body:expr) => {
        |d| {
            d.state.remembers = true;
            d.state.before = |$memory, $request| $body;
        }
    };
}

/// A change of an answer by what was answered before.
macro_rules! answers {
    (|$memory:ident, $request:ident, $outcome:ident| $body:expr) => {
        |d| {
            d.state.remembers = true;
            d.state.after = |$memory, $request, $outcome| {
                let changed: Option<Outcome> = (|| $body)();
                changed.unwrap_or($outcome)
            };
        }
    };
}

fn combined(parts: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

fn success(outcome: &Outcome) -> Option<&Success> {
    match outcome {
        Outcome::Success(success) => Some(success),
        Outcome::Refusal(_) | Outcome::Skipped { .. } | Outcome::Errored { .. } => None,
    }
}

fn previous(memory: &Memory) -> Option<&Success> {
    success(memory.outcome.as_ref()?)
}

/// The same answer with other values.
fn revalued(success: &Success, value: impl Fn(usize, Scalar) -> Scalar) -> Option<Outcome> {
    let values = success.tensor.values().iter().enumerate().map(|(place, old)| value(place, old));
    let data = Data::from_scalars(success.tensor.dtype(), values).ok()?;
    let tensor = Tensor::new(success.tensor.shape().clone(), data).ok()?;
    Some(Outcome::Success(Success { tensor, ..success.clone() }))
}

fn with_rules(request: &Request, rules: Rules) -> Option<Request> {
    let (_, operation, operands) = request.clone().into_parts();
    Request::new(rules, operation, operands).ok()
}

fn sum(a: Scalar, b: Scalar) -> Scalar {
    convert(Scalar::F64(as_f64(a) + as_f64(b)), a.dtype())
}

/// The bits of a value, with one zero.
fn by_value(value: Scalar) -> u64 {
    if as_f64(value) == 0.0 { zero(value.dtype()).to_bits() } else { value.to_bits() }
}

/// The values of all operands, as a key sees them.
fn values(request: &Request, each: fn(Scalar) -> u64, most: usize) -> Vec<u64> {
    let values = |operand: &broadcheck_spec::Operand| -> Vec<u64> {
        operand.values().iter().take(most).map(each).collect()
    };
    request.operands().iter().flat_map(values).collect()
}

pub(super) static FAULTS: &[Fault] = &[
    invented(
        "state/plan-without-dtypes",
        S,
        "A plan is kept without the dtypes, and later results have the dtype of the first.",
        plans!(|request| key(request, &[Part::Values, Part::DTypes])),
    ),
    invented(
        "state/plan-without-strides",
        S,
        "A plan is kept without the strides of views.",
        plans!(|request| key(request, &[Part::Values, Part::Strides])),
    ),
    invented(
        "state/plan-without-offsets",
        S,
        "A plan is kept without the offsets of views.",
        plans!(|request| key(request, &[Part::Values, Part::Offsets])),
    ),
    invented(
        "state/plan-without-attributes",
        S,
        "A plan is kept without axis and broadcast_dimensions.",
        plans!(|request| key(request, &[Part::Values, Part::Attribute])),
    ),
    invented(
        "state/plan-without-flags",
        S,
        "A plan is kept without the flags of theano.",
        plans!(|request| key(request, &[Part::Values, Part::Flags])),
    ),
    invented(
        "state/plan-without-functions",
        S,
        "A plan is kept with the form of the expression, but without its functions.",
        plans!(|request| key(request, &[Part::Values, Part::Functions])),
    ),
    invented(
        "state/plan-without-order",
        S,
        "A plan is kept without which operand is which argument.",
        plans!(|request| key(request, &[Part::Values, Part::Order])),
    ),
    invented(
        "state/plan-without-rules",
        S,
        "A plan is kept without the rule set.",
        plans!(|request| key(request, &[Part::Values, Part::RuleSet])),
    ),
    invented(
        "state/plan-without-target",
        S,
        "A plan for broadcast is kept without the lengths of the target.",
        plans!(|request| key(request, &[Part::Values, Part::Target])),
    ),
    invented(
        "state/plan-by-count",
        S,
        "A plan is kept with the ranks and the numbers of elements, but without the shapes.",
        plans!(|request| {
            let counts: Vec<Option<usize>> =
                request.operands().iter().map(|operand| operand.shape().count()).collect();
            combined((key(request, &[Part::Values, Part::Lengths]), counts))
        }),
    ),
    invented(
        "state/plan-by-the-sum-of-lengths",
        S,
        "The hash of a shape is the sum of its lengths, and plans with equal hashes are not compared.",
        plans!(|request| {
            let sums: Vec<u128> = request
                .operands()
                .iter()
                .map(|operand| operand.shape().iter().map(|&length| length as u128).sum())
                .collect();
            combined((key(request, &[Part::Values, Part::Lengths]), sums))
        }),
    ),
    invented(
        "state/plan-by-the-first-operand",
        S,
        "A plan is kept with the shape of only the first operand, and the ranks of the others.",
        plans!(|request| {
            let first = request.operands()[0].shape();
            combined((key(request, &[Part::Values, Part::Lengths]), first))
        }),
    ),
    invented(
        "state/plan-with-baked-scalars",
        S,
        "The values of scalars are compiled into a plan that is kept without values.",
        |d| {
            d.rewrite.rule = |term, facts| match (&term, facts.constant(&term)) {
                (Term::Operand(_), Some(value)) if !facts.gradient => Term::Constant(value),
                _ => term,
            };
            d.state.remembers = true;
            d.state.plan = |request| Some(key(request, &[Part::Values]));
        },
    ),
    invented(
        "state/plan-under-eight-bits",
        S,
        "Plans are kept under eight bits of their hash, and those with equal bits are not compared.",
        plans!(|request| {
            let ranks: Vec<usize> = request.operands().iter().map(broadcheck_spec::Operand::rank).collect();
            let kind = request.operation().kind();
            combined((key(request, &[Part::Values]) & 0xff, ranks, kind, request.rules().set()))
        }),
    ),
    invented(
        "state/result-without-values",
        S,
        "A result is kept without the values of the operands.",
        results!(|request| key(request, &[Part::Values])),
    ),
    invented(
        "state/result-by-the-first-values",
        S,
        "A result is kept with the first two values of each operand.",
        results!(|request| combined((key(request, &[Part::Values]), values(request, Scalar::to_bits, 2)))),
    ),
    invented(
        "state/result-by-the-first-eight-values",
        S,
        "A result is kept with the first eight values of each operand.",
        results!(|request| combined((key(request, &[Part::Values]), values(request, Scalar::to_bits, 8)))),
    ),
    invented(
        "state/result-with-one-zero",
        S,
        "A result is kept with values that are compared as numbers, so -0 finds the result for 0.",
        results!(|request| combined((key(request, &[Part::Values]), values(request, by_value, usize::MAX)))),
    ),
    invented(
        "state/result-without-wrt",
        S,
        "A gradient is kept without the operand that it is taken with respect to.",
        results!(|request| key(request, &[Part::Wrt])),
    ),
    invented(
        "state/result-without-kind",
        S,
        "A gradient finds the result of the same expression.",
        results!(|request| key(request, &[Part::Kind, Part::Wrt])),
    ),
    invented(
        "state/result-without-offsets",
        S,
        "A result is kept without the offsets of views.",
        results!(|request| key(request, &[Part::Offsets])),
    ),
    invented(
        "state/result-without-strides",
        S,
        "A result is kept with the values in the buffer, but without the strides of views.",
        results!(|request| key(request, &[Part::Strides])),
    ),
    invented(
        "state/result-without-attributes",
        S,
        "A result is kept without axis and broadcast_dimensions.",
        results!(|request| key(request, &[Part::Attribute])),
    ),
    invented(
        "state/result-without-rules",
        S,
        "A result is kept without the rule set.",
        results!(|request| key(request, &[Part::RuleSet, Part::Attribute])),
    ),
    invented(
        "state/result-without-order",
        S,
        "A result is kept without which operand is which argument.",
        results!(|request| key(request, &[Part::Order])),
    ),
    invented(
        "state/result-without-functions",
        S,
        "A result is kept with the form of the expression, but without its functions.",
        results!(|request| key(request, &[Part::Functions])),
    ),
    invented(
        "state/result-without-dtypes",
        S,
        "A result is kept with the bits of the values, but without their dtypes.",
        results!(|request| key(request, &[Part::DTypes])),
    ),
    invented(
        "state/result-without-flags",
        S,
        "A result is kept without the flags of theano.",
        results!(|request| key(request, &[Part::Flags])),
    ),
    invented(
        "state/axis-remains",
        S,
        "Without axis, pdpd uses that of the request before.",
        remains!(|memory, request| {
            let Rules::Pdpd { axis: None } = request.rules() else { return None };
            let Rules::Pdpd { axis: Some(axis) } = memory.request.as_ref()?.rules() else { return None };
            with_rules(request, Rules::Pdpd { axis: Some(*axis) })
        }),
    ),
    invented(
        "state/dimensions-remain",
        S,
        "Without broadcast_dimensions, xla uses those of the request before.",
        remains!(|memory, request| {
            let Rules::Xla { broadcast_dimensions: None } = request.rules() else { return None };
            let found = memory.request.as_ref()?.rules();
            let Rules::Xla { broadcast_dimensions: Some(_) } = found else { return None };
            with_rules(request, found.clone())
        }),
    ),
    invented(
        "state/flags-remain",
        S,
        "Under theano, an operand without flags has those of the same operand of the request before.",
        remains!(|memory, request| {
            let before = memory.request.as_ref().filter(|_| request.rules().set() == RuleSet::Theano)?;
            let (rules, operation, operands) = request.clone().into_parts();
            let flagged = |(place, operand): (usize, broadcheck_spec::Operand)| {
                let flags = before.operands().get(place).and_then(|before| before.broadcastable());
                match (operand.broadcastable(), flags) {
                    (None, Some(flags)) if flags.len() == operand.rank() => {
                        operand.clone().with_broadcastable(flags.to_vec()).unwrap_or(operand)
                    }
                    _ => operand,
                }
            };
            Request::new(rules, operation, operands.into_iter().enumerate().map(flagged).collect()).ok()
        }),
    ),
    invented(
        "state/strides-remain",
        S,
        "A dense operand after a view of the same shape and buffer length is read with the strides of the view.",
        remains!(|memory, request| {
            let before = memory.request.as_ref()?;
            let (rules, operation, operands) = request.clone().into_parts();
            let viewed = |(place, operand): (usize, broadcheck_spec::Operand)| {
                let view = before.operands().get(place).filter(|view| view.shape() == operand.shape());
                let strides = view.and_then(|view| view.strides().map(<[i64]>::to_vec));
                if operand.strides().is_some() || operand.broadcastable().is_some() || strides.is_none() {
                    return operand;
                }
                let (name, shape) = (operand.name(), operand.shape().clone());
                let data = operand.values().clone();
                broadcheck_spec::Operand::view(name, shape, data, strides, 0).unwrap_or(operand)
            };
            Request::new(rules, operation, operands.into_iter().enumerate().map(viewed).collect()).ok()
        }),
    ),
    invented(
        "state/gradients-accumulate",
        S,
        "A gradient is added to the one before if both have the same shape and dtype.",
        answers!(|memory, request, outcome| {
            let (now, before) = (success(&outcome)?, previous(memory)?);
            let kind = memory.request.as_ref()?.operation().kind();
            let gradients = [kind, request.operation().kind()] == [OperationKind::Gradient; 2];
            let same =
                now.tensor.shape() == before.tensor.shape() && now.tensor.dtype() == before.tensor.dtype();
            let add = |place: usize, value: Scalar| {
                before.tensor.values().get(place).map_or(value, |other| sum(value, other))
            };
            (gradients && same).then(|| revalued(now, add))?
        }),
    ),
    invented(
        "state/tail-of-the-result-before",
        S,
        "The last element of a result of odd length is that of the result before, if that was longer.",
        answers!(|memory, _request, outcome| {
            let (now, before) = (success(&outcome)?, previous(memory)?);
            let length = now.tensor.values().len();
            let applies = length > 1 && length % 2 == 1 && before.tensor.values().len() > length;
            let same = now.tensor.dtype() == before.tensor.dtype();
            let stale = before.tensor.values().get(length.checked_sub(1)?)?;
            let value = |place, value| if place + 1 == length { stale } else { value };
            (applies && same).then(|| revalued(now, value))?
        }),
    ),
    invented(
        "state/empty-sums-keep-the-buffer",
        S,
        "A gradient without contributions has the values of the result before.",
        answers!(|memory, request, outcome| {
            let (now, before) = (success(&outcome)?, previous(memory)?);
            let Operation::Gradient { expression, wrt } = request.operation() else { return None };
            let empty = request.operands().iter().any(|operand| operand.shape().contains(&0));
            let same = now.tensor.dtype() == before.tensor.dtype();
            let stale = |place, value| before.tensor.values().get(place).unwrap_or(value);
            (same && (empty || !expression.reads(*wrt))).then(|| revalued(now, stale))?
        }),
    ),
    invented(
        "state/refusal-remains-for-empty-results",
        S,
        "After a refusal, a request with an empty result is refused for the same reason.",
        answers!(|memory, _request, outcome| {
            let now = success(&outcome)?;
            let Some(Outcome::Refusal(refusal)) = &memory.outcome else { return None };
            let refusal = Refusal::new(refusal.kind?, "as before");
            now.tensor.values().is_empty().then_some(Outcome::Refusal(refusal))
        }),
    ),
    invented(
        "state/first-after-a-refusal",
        S,
        "The first result after a refusal lacks its first element, as the buffer was not prepared.",
        answers!(|memory, _request, outcome| {
            let now = success(&outcome)?;
            let refused = matches!(memory.outcome, Some(Outcome::Refusal(_)));
            let value = |place, value: Scalar| if place == 0 { zero(value.dtype()) } else { value };
            (refused && now.tensor.values().len() > 1).then(|| revalued(now, value))?
        }),
    ),
    invented(
        "state/second-identical-request",
        S,
        "A request that is asked twice in a row adds its result to the buffer that holds it already.",
        answers!(|memory, request, outcome| {
            let (now, before) = (success(&outcome)?, previous(memory)?);
            let same = memory.request.as_ref()? == request;
            let add = |place: usize, value: Scalar| {
                before.tensor.values().get(place).map_or(value, |other| sum(value, other))
            };
            same.then(|| revalued(now, add))?
        }),
    ),
    invented(
        "state/flush-mode-remains",
        S,
        "A request of f32 leaves the processor in a mode that flushes the subnormal results of the next one.",
        answers!(|memory, _request, outcome| {
            let now = success(&outcome)?;
            let single = memory.request.as_ref()?.operands()[0].dtype() == broadcheck_spec::DType::F32;
            let flushed = |_, value: Scalar| match value.is_subnormal() {
                true => convert(Scalar::F64(0f64.copysign(as_f64(value))), value.dtype()),
                false => value,
            };
            single.then(|| revalued(now, flushed))?
        }),
    ),
    invented(
        "state/buffer-ring",
        S,
        "There are sixteen result buffers in a ring, and the last one overlaps the one before by an element.",
        answers!(|memory, _request, outcome| {
            let (now, before) = (success(&outcome)?, previous(memory)?);
            let last = memory.asked % 16 == 15 && now.tensor.dtype() == before.tensor.dtype();
            let length = before.tensor.values().len();
            let stale = before.tensor.values().get(length.checked_sub(1)?)?;
            let value = |place, value| if place == 0 { stale } else { value };
            last.then(|| revalued(now, value))?
        }),
    ),
    invented(
        "state/largest-rank-remains",
        S,
        "The index has the largest rank so far, and a scalar result after a result of three or more axes has an axis.",
        answers!(|memory, _request, outcome| {
            let now = success(&outcome)?;
            memory.number = memory.number.max(now.tensor.shape().rank());
            let scalar = now.tensor.shape().rank() == 0 && memory.number >= 3;
            let (_, data) = now.tensor.clone().into_parts();
            let tensor = Tensor::new(Shape::from([1]), data).ok()?;
            scalar.then(|| Outcome::Success(Success::from(tensor)))
        }),
    ),
];
