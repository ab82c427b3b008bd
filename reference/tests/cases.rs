//! The suite's cases, compared by simple means: kinds and shapes exactly, values bit by bit.
//!
//! The judge (`broadcheck-judge`) knows what the clauses leave open, but takes many seconds to build and
//! run. This test runs once per mutant: it requires the same bits, or a number within a few steps where the
//! interpreter is not correctly rounded.

use broadcheck_reference::Reference;
use broadcheck_spec::{
    Case, DType, Exactness, Expectation, ExpectedRefusal, ExpectedResult, Expression, Implementation,
    InferenceCase, Operation, Outcome, Refusal, Scalar, Success, Suite, Tensor,
};

/// How much a value may differ from the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Room {
    /// The same bits, or a NaN for a NaN.
    None,
    /// The same number, where +0 equals -0 (clause V-6).
    ZeroSign,
    /// At most this many steps from one number to the next (clause V-4).
    Steps(u64),
    /// Any value.
    Any,
}

/// The cases whose values only the intervals of clause V-4b can check: only their shapes are compared.
const BY_INTERVALS: [&str; 2] = ["numpy/values/difference-of-two-exps", "numpy/values/condition-at-the-edge"];

/// Steps per inexact function: one for the interpreter, one for the arithmetic that follows.
const STEPS: u64 = 2;

impl Room {
    fn of(case: &Case, expected: &ExpectedResult) -> Room {
        let operation = case.request.operation();
        let gradient = matches!(operation, Operation::Gradient { .. });
        let inexact = |expression: &Expression| {
            expression.calls().filter(|call| call.function().exactness() == Exactness::Ulp).count()
        };
        let count = operation.expression().map_or(0, inexact);
        match expected.tolerance_ulp {
            _ if BY_INTERVALS.contains(&case.id.as_str()) => Room::Any,
            _ if count == 0 && gradient => Room::ZeroSign,
            _ if count == 0 => Room::None,
            Some(steps) => Room::Steps(steps.into()),
            None => Room::Steps(STEPS * count as u64),
        }
    }

    fn admits(self, expected: Scalar, found: Scalar) -> bool {
        let (one, other) = (expected.as_f64(), found.as_f64());
        let same = one.is_some_and(f64::is_nan) && other.is_some_and(f64::is_nan) || expected == found;
        same || match self {
            Room::None => false,
            Room::ZeroSign => one.is_some() && one == other,
            Room::Any => true,
            Room::Steps(steps) => {
                place(expected).zip(place(found)).is_some_and(|(a, b)| a.abs_diff(b) <= steps)
            }
        }
    }
}

/// The position of a float among the numbers of its dtype, with neighbours 1 apart; `None` for NaN and other
/// dtypes.
fn place(value: Scalar) -> Option<i64> {
    if value.as_f64()?.is_nan() {
        return None;
    }
    let sign = match value.dtype() {
        DType::F64 => 1 << 63,
        DType::F32 => 1 << 31,
        _ => 1u64 << 15,
    };
    let size = (value.to_bits() & (sign - 1)).cast_signed();
    Some(if value.to_bits() & sign == 0 { size } else { -size })
}

fn judged(case: &Case, room: Room) -> Result<(), String> {
    match (&case.expectation, Reference::new().run(&case.request)) {
        (Expectation::Result(expected), Outcome::Success(found)) => results(room, expected, &found),
        (Expectation::Refusal(expected), Outcome::Refusal(found)) => refusals(expected, &found),
        (_, other) => Err(format!("{other:?}")),
    }
}

fn refusals(expected: &ExpectedRefusal, found: &Refusal) -> Result<(), String> {
    let fits = (expected.kind.is_none() || expected.kind == found.kind)
        && (expected.axis.is_none() || expected.axis == found.axis)
        && (expected.operand.is_none() || expected.operand == found.operand);
    if fits { Ok(()) } else { Err(format!("expected {expected:?}, found {found:?}")) }
}

fn results(room: Room, expected: &ExpectedResult, found: &Success) -> Result<(), String> {
    tensors(room, &expected.tensor, &found.tensor)?;
    if let Some(intermediate) = &expected.intermediate {
        let found = found.intermediate.as_ref().ok_or("no intermediate")?;
        tensors(Room::None, intermediate, found)?;
    }
    match &expected.broadcastable {
        Some(flags) if found.broadcastable.as_ref() != Some(flags) => {
            Err(format!("flags {flags:?}, found {:?}", found.broadcastable))
        }
        _ => Ok(()),
    }
}

fn tensors(room: Room, expected: &Tensor, found: &Tensor) -> Result<(), String> {
    if (expected.dtype(), expected.shape()) != (found.dtype(), found.shape()) {
        return Err(format!("expected {expected:?}, found {found:?}"));
    }
    let mut pairs = expected.values().iter().zip(found.values().iter());
    match pairs.position(|(expected, found)| !room.admits(expected, found)) {
        Some(at) => Err(format!(
            "element {at}: expected {:?}, found {:?}",
            expected.values().get(at),
            found.values().get(at)
        )),
        None => Ok(()),
    }
}

#[test]
fn every_case_has_its_required_outcome() {
    let suite = Suite::builtin().expect("the cases load");
    let mut wrong = Vec::new();
    for case in &suite.cases {
        let room = match &case.expectation {
            Expectation::Result(expected) => Room::of(case, expected),
            Expectation::Refusal(_) => Room::None,
        };
        if let Err(complaint) = judged(case, room) {
            wrong.push(format!("{} {room:?}: {complaint}", case.id));
        }
    }
    assert!(BY_INTERVALS.iter().all(|id| suite.get(id).is_some()), "these cases exist");
    assert!(suite.cases.len() > 1300, "{} cases", suite.cases.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// The cases of the operation `infer`: no answer may be wider than the case's.
#[test]
fn every_inference_is_the_required_one() {
    let judged = |case: &InferenceCase| match (&case.expectation, Reference::new().infer(&case.request)) {
        (Expectation::Result(expected), Outcome::Success(found)) if *expected == found => Ok(()),
        (Expectation::Refusal(expected), Outcome::Refusal(found)) => refusals(expected, &found),
        (expected, found) => Err(format!("expected {expected:?}, found {found:?}")),
    };
    let suite = Suite::builtin().expect("the cases load");
    let complain = |case: &InferenceCase| Some(format!("{}: {}", case.id, judged(case).err()?));
    let wrong: Vec<String> = suite.inferences.iter().filter_map(complain).collect();
    assert!(suite.inferences.len() > 480, "{} cases", suite.inferences.len());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
