//! Requests over operands whose elements all differ, and what comes back, for the relations and the sweeps.
//!
//! Operand `place` holds the numbers 1, 2, 3, … shifted by 17 · `place` bits, so that each element of a sum or
//! a difference tells which element of each operand was read, and every value is exact in f64.

use crate::run::run_caught;
use broadcheck_spec::{
    Expression, Function, Implementation, Operand, Operation, Outcome, Refusal, Request, Rules, Scalar,
    Shape, Success, Tensor,
};

/// The largest number of elements per operand that keeps all values apart and exact.
pub const MAX_ELEMENTS: u128 = 1 << 16;

/// The operands' names by place.
const NAMES: [&str; 3] = ["a", "b", "c"];

/// An accepted or refused request; the others have ended in an error already.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Accepted(Success),
    Refused(Refusal),
}

impl Answer {
    pub(crate) fn tensor(&self) -> Option<&Tensor> {
        match self {
            Answer::Accepted(success) => Some(&success.tensor),
            Answer::Refused(_) => None,
        }
    }

    /// Accepted or refused alike, and the same result.
    pub(crate) fn same_result(&self, other: &Answer) -> bool {
        match (self, other) {
            (Answer::Accepted(one), Answer::Accepted(other)) => same_tensor(&one.tensor, &other.tensor),
            (Answer::Refused(_), Answer::Refused(_)) => true,
            _ => false,
        }
    }

    /// The same refusal, as far as both sides say which.
    pub(crate) fn same_refusal(&self, other: &Answer) -> bool {
        let (Answer::Refused(one), Answer::Refused(other)) = (self, other) else { return true };
        let differ = |one: Option<usize>, other: Option<usize>| one.zip(other).is_some_and(|(a, b)| a != b);
        one.kind.zip(other.kind).is_none_or(|(a, b)| a == b) && !differ(one.axis, other.axis)
    }

    /// The answer in a few words.
    pub(crate) fn describe(&self) -> String {
        match self {
            Answer::Refused(refusal) => format!("refuses ({refusal})"),
            Answer::Accepted(success) => format!("gives {}", describe_tensor(&success.tensor)),
        }
    }
}

/// `(2,3) [1.0, 2.0, …]`.
fn describe_tensor(tensor: &Tensor) -> String {
    let values: Vec<String> = tensor.values().iter().take(12).map(Scalar::literal).collect();
    let more = if tensor.values().len() > 12 { ", …" } else { "" };
    format!("{} [{}{more}]", tensor.shape(), values.join(", "))
}

pub(crate) fn same_tensor(one: &Tensor, other: &Tensor) -> bool {
    one.shape() == other.shape() && one.values() == other.values()
}

/// Asks an implementation. Word that it skipped or broke is an error: only what it declares is asked.
pub(crate) fn ask(implementation: &dyn Implementation, request: &Request) -> Result<Answer, String> {
    match run_caught(implementation, request) {
        Outcome::Success(success) => Ok(Answer::Accepted(success)),
        Outcome::Refusal(refusal) => Ok(Answer::Refused(refusal)),
        Outcome::Skipped { reason } => Err(format!("skipped inside what it declares: {reason}")),
        Outcome::Errored { message, .. } => Err(message),
    }
}

/// The elements of the operand at `place`, row-major.
#[allow(clippy::cast_precision_loss, reason = "small integers")]
pub(crate) fn values(shape: &[usize], place: usize) -> Vec<f64> {
    let count: usize = shape.iter().product();
    (1..=count).map(|number| (number << (17 * place)) as f64).collect()
}

/// The dense operand at `place`, all elements distinct from each other and from the other operands'.
pub fn operand(shape: &Shape, place: usize) -> Operand {
    dense(shape.clone(), values(shape, place), place)
}

/// A dense operand of these values.
pub fn dense(shape: Shape, values: Vec<f64>, place: usize) -> Operand {
    Operand::dense(NAMES[place], shape, values).expect("one value per element")
}

/// An operand that is the result of another request.
pub(crate) fn from_tensor(tensor: Tensor, place: usize) -> Operand {
    let (shape, values) = tensor.into_parts();
    Operand::dense(NAMES[place], shape, values).expect("one value per element")
}

/// A function of two operands, by their places.
pub fn of(function: Function, left: usize, right: usize) -> Expression {
    let arguments = [Expression::operand(left), Expression::operand(right)];
    Expression::call(function, arguments).expect("a function of two arguments")
}

/// `elementwise` over these operands.
pub fn elementwise(rules: Rules, expression: Expression, operands: Vec<Operand>) -> Request {
    Request::new(rules, Operation::Elementwise { expression }, operands).expect("a well-formed request")
}

/// The first operand minus the second, wherever they stand.
pub fn difference(rules: Rules, operands: Vec<Operand>) -> Request {
    elementwise(rules, of(Function::Subtract, 0, 1), operands)
}

/// `broadcast` of an operand to a shape.
pub fn broadcast(rules: Rules, operand: Operand, target: &Shape) -> Request {
    let operation = Operation::Broadcast { target_shape: target.clone() };
    Request::new(rules, operation, vec![operand]).expect("a well-formed request")
}

/// The gradient of the sum of `expression` by an operand.
pub(crate) fn gradient(rules: Rules, expression: Expression, operands: Vec<Operand>, wrt: usize) -> Request {
    let operation = Operation::Gradient { expression, wrt };
    Request::new(rules, operation, operands).expect("a well-formed request")
}

/// An operand with flags.
pub fn flagged(operand: Operand, flags: &[bool]) -> Operand {
    operand.with_broadcastable(flags.to_vec()).expect("one flag per axis")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_elements_has_a_difference_of_its_own() {
        let (a, b) = (values(&[9, 9], 0), values(&[9, 9], 1));
        let mut all: Vec<i64> = Vec::new();
        for left in &a {
            #[allow(clippy::cast_possible_truncation, reason = "small integers")]
            all.extend(b.iter().map(|right| (left - right) as i64));
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 81 * 81);
    }
}
