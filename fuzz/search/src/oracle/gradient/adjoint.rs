//! Σ of a product of all operands = Σ w · its gradient by w, for each operand w; and a refusal is one of the
//! gradient too (GRAD-1, GRAD-2). All numbers are small integers, exact in f64 in any order of summation.

use super::{Checked, Complaint};
use crate::oracle::Asked;
use crate::oracle::remade::{MOST_COPIED, elements, flagged};
use broadcheck::run::run_caught;
use broadcheck_judge::compare::same_outcome;
use broadcheck_spec::{
    Data, Expression, Function, Implementation, Operand, Operation, Outcome, Request, Rules, Scalar, Tensor,
};

/// More operands than this could make a product that is not exact.
const MOST_OPERANDS: usize = 12;

pub(super) fn check(implementation: &dyn Implementation, request: &Request) -> Checked {
    if request.operands().len() > MOST_OPERANDS {
        return None;
    }
    let operands: Option<Vec<Operand>> =
        request.operands().iter().enumerate().map(|(place, operand)| with_integers(operand, place)).collect();
    let operands = operands?;
    match request.operation() {
        Operation::Broadcast { .. } => broadcast(implementation, request, &operands),
        _ => product(implementation, request.rules(), &operands),
    }
}

/// The operand over small integers, none of them 0.
fn with_integers(operand: &Operand, place: usize) -> Option<Operand> {
    const NUMBERS: [f64; 5] = [2.0, -1.0, 3.0, 1.0, -2.0];
    let count = operand.values().len();
    if count > 4 * MOST_COPIED {
        return None;
    }
    let numbers = (0..count).map(|at| NUMBERS[(at * 7 + at / 5 + place) % NUMBERS.len()]);
    let values: Vec<f64> = numbers.collect();
    let (name, shape) = (operand.name(), operand.shape().clone());
    let made = match operand.strides() {
        None => Operand::dense(name, shape, values).ok()?,
        Some(strides) => Operand::view(name, shape, values, Some(strides.to_vec()), operand.offset()).ok()?,
    };
    flagged(made, operand.broadcastable().map(<[bool]>::to_vec))
}

/// Asks, where the implementation declares the request; `None` where it gives no answer.
fn ask(implementation: &dyn Implementation, request: &Request) -> Option<Outcome> {
    implementation.capabilities().covers(request).ok()?;
    match run_caught(implementation, request) {
        Outcome::Skipped { .. } => None,
        outcome => Some(outcome),
    }
}

fn product(implementation: &dyn Implementation, rules: &Rules, operands: &[Operand]) -> Checked {
    let mut expression = Expression::operand(0);
    for place in 1..operands.len() {
        expression = Expression::call(Function::Multiply, [expression, Expression::operand(place)]).ok()?;
    }
    let elementwise = Operation::Elementwise { expression: expression.clone() };
    let forward = Request::new(rules.clone(), elementwise, operands.to_vec()).ok()?;
    let forward = ask(implementation, &forward)?;
    let mut asked = None;
    for (wrt, operand) in operands.iter().enumerate() {
        let operation = Operation::Gradient { expression: expression.clone(), wrt };
        let request = Request::new(rules.clone(), operation, operands.to_vec()).ok()?;
        let Some(back) = ask(implementation, &request) else { continue };
        if let Some(detail) = disagreement(&forward, &back, operand, |_| 1.0) {
            return Some(Err(Complaint { name: "adjoint", detail, outcome: back }));
        }
        asked = Some(if matches!(back, Outcome::Refusal(_)) { Asked::Refused } else { Asked::Accepted });
    }
    asked.map(Ok)
}

/// Why a result and the gradient by w do not belong together: Σ result · y = Σ w · gradient.
fn disagreement(forward: &Outcome, back: &Outcome, w: &Operand, y: impl Fn(usize) -> f64) -> Option<String> {
    let name = w.name();
    match (forward, back) {
        (Outcome::Success(forward), Outcome::Success(back)) => {
            if back.tensor.shape() != w.shape() {
                let (found, shape) = (back.tensor.shape(), w.shape());
                return Some(format!("the gradient by {name} has shape {found}, the operand {shape}"));
            }
            let forward = dot(&forward.tensor, y);
            let elements = elements(w)?;
            let backward =
                dot(&back.tensor, |place| elements.get(place).and_then(Scalar::as_f64).unwrap_or(0.0));
            let equal = forward.to_bits() == backward.to_bits() || (forward == 0.0 && backward == 0.0);
            (!equal).then(|| format!("Σ result is {forward}, Σ {name} · gradient by {name} is {backward}"))
        }
        (Outcome::Refusal(_), Outcome::Refusal(_)) if same_outcome(forward, back) => None,
        _ => Some(format!("the product {}, its gradient by {name} {}", words(forward), words(back))),
    }
}

fn words(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Success(success) => format!("has shape {}", success.tensor.shape()),
        Outcome::Refusal(refusal) => format!("is refused ({refusal})"),
        Outcome::Skipped { reason } => format!("is skipped ({reason})"),
        Outcome::Errored { message, .. } => format!("breaks ({message})"),
    }
}

fn dot(tensor: &Tensor, weight: impl Fn(usize) -> f64) -> f64 {
    let value = |value: Scalar| value.as_f64().unwrap_or(f64::NAN);
    tensor.values().iter().enumerate().fold(0.0, |sum, (place, element)| sum + value(element) * weight(place))
}

/// Σ broadcast(x) · y = Σ x · gradient by x of the product of x with y, which has the result's shape.
fn broadcast(implementation: &dyn Implementation, request: &Request, operands: &[Operand]) -> Checked {
    let wide = Request::new(request.rules().clone(), request.operation().clone(), operands.to_vec()).ok()?;
    let wide = ask(implementation, &wide)?;
    let Outcome::Success(success) = &wide else { return None };
    let (x, shape) = (&operands[0], success.tensor.shape());
    let count = shape.count().filter(|&count| count <= MOST_COPIED)?;
    let name = if x.name() == "weight" { "other" } else { "weight" };
    let y = Operand::dense(name, shape.clone(), Data::F64(vec![0.0; count])).ok()?;
    let y = with_integers(&y, 1)?;
    let expression =
        Expression::call(Function::Multiply, [Expression::operand(0), Expression::operand(1)]).ok()?;
    let operation = Operation::Gradient { expression, wrt: 0 };
    let back = Request::new(Rules::Numpy, operation, vec![x.clone(), y.clone()]).ok()?;
    let back = ask(implementation, &back)?;
    let weight = |place: usize| y.values().get(place).and_then(Scalar::as_f64).unwrap_or(0.0);
    Some(match disagreement(&wide, &back, x, weight) {
        Some(detail) => Err(Complaint { name: "adjoint", detail, outcome: back }),
        None => Ok(Asked::Accepted),
    })
}
