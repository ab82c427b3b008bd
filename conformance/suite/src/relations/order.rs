//! The order of operands, and the order of axes.

use super::original::{Ended, Original, Refusals};
use super::placement::row_major;
use super::rewrite::{elements, gathered, positions, with_operands};
use super::space::factorial;
use broadcheck_spec::{
    Data, Expression, Operand, Operation, OperationKind, Outcome, Request, RuleSet, Rules, Shape, Tensor,
};

/// Lists the operands in the opposite order; the expression reads the same ones as before (NUMPY-2, NONE-2,
/// THEANO-3, XLA-8). Not for pdpd, whose two operands have different roles.
pub(super) fn operands_reversed(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    // THEANO-1: a flag violation names the first offending operand in the list.
    let theano = original.request().rules().set() == RuleSet::Theano;
    compare_reversed(original, if theano { Refusals::Kind } else { Refusals::Place })
}

/// Like [`operands_reversed`], but any two refusals agree: both orders are accepted with the same result, or
/// both are refused.
pub(super) fn operands_reversed_results(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    compare_reversed(original, Refusals::Refused)
}

fn compare_reversed(original: &Original<'_>, refusals: Refusals) -> Result<(), Ended> {
    let request = original.request();
    let count = request.operands().len();
    if count < 2 || request.rules().set() == RuleSet::Pdpd {
        return Err(Ended::Vacuous);
    }
    let variation = reversed(request).ok_or(Ended::Vacuous)?;
    original.compare(&variation, refusals, |outcome| match outcome {
        Outcome::Refusal(mut refusal) => {
            refusal.operand = refusal.operand.map(|place| count - 1 - place.min(count - 1));
            Outcome::Refusal(refusal)
        }
        other => other,
    })
}

fn reversed(request: &Request) -> Option<Request> {
    let last = request.operands().len() - 1;
    let moved = |expression: &Expression| expression.with_operands(|place| last - place);
    let operation = match request.operation() {
        Operation::Elementwise { expression } => Operation::Elementwise { expression: moved(expression) },
        Operation::Gradient { expression, wrt } => {
            Operation::Gradient { expression: moved(expression), wrt: last - wrt }
        }
        Operation::Broadcast { .. } => return None,
    };
    let operands = request.operands().iter().rev().cloned().collect();
    Request::new(request.rules().clone(), operation, operands).ok()
}

/// Permutes the axes of all operands, once the ranks are equal (NUMPY-1, NUMPY-2, NONE-2). The variations are
/// the permutations in lexicographic order: the last reverses the axes.
pub(super) fn axes_permuted(original: &Original<'_>, variation: u128) -> Result<(), Ended> {
    let request = original.request();
    let operands = request.operands();
    let rank = operands.iter().map(Operand::rank).max().unwrap_or(0);
    let one_rank = operands.iter().all(|operand| operand.rank() == rank);
    let applies = match request.rules() {
        Rules::Numpy => true,
        Rules::None => one_rank,
        Rules::Pdpd { .. } | Rules::Bidirectional | Rules::Xla { .. } | Rules::Theano => false,
    };
    if !applies || request.operation().kind() != OperationKind::Elementwise {
        return Err(Ended::Vacuous);
    }
    let order = permutation(rank, variation);
    let permuted = |operand: &Operand| -> Option<Operand> {
        let mut shape = vec![1; rank - operand.rank()];
        shape.extend(operand.shape().iter());
        let (shape, values) = permute(&shape, &elements(operand)?, &order)?;
        Operand::dense(operand.name(), shape, values).ok()
    };
    let operands: Option<Vec<Operand>> = operands.iter().map(permuted).collect();
    let variation = operands.and_then(|operands| with_operands(request, operands)).ok_or(Ended::Vacuous)?;
    original.compare(&variation, Refusals::Refused, |outcome| match outcome {
        Outcome::Success(success) if success.tensor.shape().rank() == rank => {
            let mut back = vec![0; rank];
            for (to, &from) in order.iter().enumerate() {
                back[from] = to;
            }
            let found = success.tensor;
            let tensor = permute(found.shape(), found.values(), &back)
                .and_then(|(shape, values)| Tensor::new(shape, values).ok());
            Outcome::Success(tensor.unwrap_or(found).into())
        }
        other => other,
    })
}

/// A permutation of the axes, by its number in lexicographic order.
fn permutation(rank: usize, number: u128) -> Vec<usize> {
    if number + 1 == factorial(rank) {
        return (0..rank).rev().collect();
    }
    let mut left: Vec<usize> = (0..rank).collect();
    let mut number = number;
    (0..rank)
        .map(|place| {
            let block = factorial(rank - 1 - place);
            let at = usize::try_from(number / block).unwrap_or(usize::MAX).min(left.len() - 1);
            number %= block;
            left.remove(at)
        })
        .collect()
}

/// Row-major values with permuted axes: `order[new]` is the old axis.
fn permute(shape: &[usize], values: &Data, order: &[usize]) -> Option<(Shape, Data)> {
    let strides = row_major(shape)?;
    let lengths = Shape::new(order.iter().map(|&axis| shape[axis]).collect());
    let steps: Vec<i64> = order.iter().map(|&axis| strides[axis]).collect();
    let positions = positions(&lengths, &steps, 0, values.len());
    Some((lengths, gathered(values, &positions)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_permuted() {
        let values = Data::from(vec![1i8, 2, 3, 4, 5, 6]);
        let permuted = permute(&[2, 3], &values, &[1, 0]);
        assert_eq!(permuted, Some((Shape::from([3, 2]), Data::from(vec![1i8, 4, 2, 5, 3, 6]))));
        let empty = Data::from(Vec::<i8>::new());
        assert_eq!(permute(&[0, 3], &empty, &[1, 0]), Some((Shape::from([3, 0]), empty)));
    }

    #[test]
    fn permutations_are_counted_in_lexicographic_order() {
        let all: Vec<Vec<usize>> = (0..factorial(4)).map(|number| permutation(4, number)).collect();
        assert!(all.is_sorted_by(|one, next| one < next));
        assert_eq!((&all[0], &all[23]), (&vec![0, 1, 2, 3], &vec![3, 2, 1, 0]));
        assert_eq!(permutation(0, 0), [0usize; 0]);
        assert_eq!(permutation(70, factorial(70) - 1), (0..70).rev().collect::<Vec<usize>>());
    }
}
