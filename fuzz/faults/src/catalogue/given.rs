//! Faults of how operands are given: equal scalars, constants, one array twice, a call after another. The
//! cases as they are written do not show them; `--given` does.

use super::invented;
use crate::{Class, Fault};
use broadcheck::given::Mode;
use broadcheck_spec::{Data, Operand, Operation, Outcome, Request, Shape, Success, Tensor};

/// A fault that a mode shows.
pub struct GivenFault {
    /// The fault. It is not in the catalogue, whose faults requests show as they are.
    pub fault: Fault,
    /// The mode.
    pub mode: Mode,
}

const fn shown_by(mode: Mode, fault: Fault) -> GivenFault {
    GivenFault { fault, mode }
}

/// The gradient of the same expression with other operands in place of some, by their positions.
fn reading(request: &Request, moved: impl Fn(usize) -> usize) -> Option<Request> {
    let operation = match request.operation() {
        Operation::Gradient { expression, wrt } => {
            Operation::Gradient { expression: expression.with_operands(&moved), wrt: *wrt }
        }
        Operation::Vjp { expression, wrt, target_shape: None, cotangent } => Operation::Vjp {
            expression: expression.with_operands(&moved),
            wrt: *wrt,
            target_shape: None,
            cotangent: cotangent.clone(),
        },
        Operation::Elementwise { .. }
        | Operation::Into { .. }
        | Operation::Broadcast { .. }
        | Operation::Vjp { target_shape: Some(_), .. } => return None,
    };
    Request::new(request.rules().clone(), operation, request.operands().to_vec()).ok()
}

/// The gradient in which every operand that is one node with that of `wrt` counts, too.
fn with_one_node(request: &Request, is_one: impl Fn(&Operand, &Operand) -> bool) -> Option<Request> {
    let wrt = request.operation().wrt()?;
    let (operands, first) = (request.operands(), &request.operands()[wrt]);
    reading(request, |place| if is_one(first, &operands[place]) { wrt } else { place })
}

/// Whether two operands are scalars of one dtype and value.
fn are_equal_scalars(first: &Operand, second: &Operand) -> bool {
    first.rank() == 0 && second.rank() == 0 && first.values() == second.values()
}

/// The answer of a folder that counts a length of 0 as 1.
fn folded(request: &Request, outcome: Outcome) -> Outcome {
    let constants = request.operands().iter().filter(|operand| operand.is_constant()).count();
    let Outcome::Success(success) = &outcome else { return outcome };
    if constants < 2 || !success.tensor.shape().contains(&0) {
        return outcome;
    }
    let shape = Shape::new(success.tensor.shape().iter().map(|&length| length.max(1)).collect());
    let one = |data: &Data| data.get(0);
    let value = request.operands().iter().find_map(|operand| one(operand.values()));
    let count = shape.count().filter(|&count| count <= 1 << 12);
    let made = value.zip(count).and_then(|(value, count)| {
        let values = Data::from_scalars(value.dtype(), std::iter::repeat_n(value, count)).ok()?;
        Tensor::new(shape, values).ok()
    });
    made.map_or(outcome, |tensor| Outcome::Success(Success::from(tensor)))
}

/// The faults, each with the mode that shows it.
pub static GIVEN_FAULTS: &[GivenFault] = &[
    shown_by(
        Mode::Values,
        invented(
            "gradient/equal-scalars-are-one-node",
            Class::Gradient,
            "Scalars with equal values become one node of the graph, and the gradient by one counts the others.",
            |d| {
                d.state.remembers = true;
                d.state.before = |_, request| with_one_node(request, are_equal_scalars);
            },
        ),
    ),
    shown_by(
        Mode::Same,
        invented(
            "gradient/one-array-is-one-node",
            Class::Gradient,
            "An array that is given twice becomes one node of the graph, and its gradient counts both.",
            |d| {
                d.state.remembers = true;
                d.state.before = |_, request| {
                    with_one_node(request, |first, second| {
                        second.same() == Some(first.name()) || first.same() == Some(second.name())
                    })
                };
            },
        ),
    ),
    shown_by(
        Mode::Constants,
        invented(
            "rewrites/constants-fold-empty-as-one",
            Class::Rewrites,
            "The folder of constants counts a length of 0 as 1.",
            |d| {
                d.state.remembers = true;
                d.state.after = |_, request, outcome| folded(request, outcome);
            },
        ),
    ),
    shown_by(
        Mode::Again,
        invented(
            "state/keeps-the-empty-shape",
            Class::State,
            "An expression whose call gave an empty result gives the same result to the next call of the same ranks.",
            |d| {
                d.state.remembers = true;
                d.state.after = |memory, request, outcome| {
                    let before = memory.request.as_ref().zip(memory.outcome.as_ref());
                    let Some((earlier, Outcome::Success(success))) = before else { return outcome };
                    let is_empty = success.tensor.shape().contains(&0);
                    let ranks =
                        |request: &Request| request.operands().iter().map(Operand::rank).collect::<Vec<_>>();
                    let is_alike = earlier.operation() == request.operation()
                        && earlier.rules() == request.rules()
                        && ranks(earlier) == ranks(request);
                    if is_empty && is_alike { Outcome::Success(success.clone()) } else { outcome }
                };
            },
        ),
    ),
];
