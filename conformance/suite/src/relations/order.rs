//! The order of operands, and the order of axes.

use super::as_numpy::unplaced;
use super::original::{Ended, Original, Refusals};
use super::placement::{axes_of, row_major};
use super::rewrite::{MOST_COPIED, elements, gathered, positions, under, with_operands};
use super::space::factorial;
use broadcheck_spec::{
    Data, Expression, Operand, Operation, OperationKind, Outcome, Request, RuleSet, Rules, Shape, Tensor,
};

/// Lists the operands in the opposite order; the expression reads the same ones as before (NUMPY-2, NONE-2,
/// THEANO-3, XLA-8). Not for pdpd and repeat, whose two operands have different roles.
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
    if count < 2 || matches!(request.rules().set(), RuleSet::Pdpd | RuleSet::Repeat) {
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
        Operation::Into { expression, destination } => {
            Operation::Into { expression: moved(expression), destination: last - destination }
        }
        Operation::Gradient { expression, wrt } => {
            Operation::Gradient { expression: moved(expression), wrt: last - wrt }
        }
        Operation::Vjp { expression, wrt, target_shape: None, cotangent } => Operation::Vjp {
            expression: moved(expression),
            wrt: last - wrt,
            target_shape: None,
            cotangent: cotangent.clone(),
        },
        Operation::Broadcast { .. } | Operation::Vjp { target_shape: Some(_), .. } => return None,
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
        // The missing axes are added on the left below.
        Rules::None | Rules::Leading | Rules::Repeat => one_rank,
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

/// `broadcast` under `xla`: dimensions in any order give what the same dimensions in increasing order give
/// for the operand with its axes in that order (XLA-11).
pub(super) fn dimensions_sorted(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let (Rules::Xla { broadcast_dimensions: Some(list) }, Operation::Broadcast { .. }) =
        (request.rules(), request.operation())
    else {
        return Err(Ended::Vacuous);
    };
    let operand = &request.operands()[0];
    if list.is_sorted() || list.len() != operand.rank() {
        return Err(Ended::Vacuous);
    }
    let mut order: Vec<usize> = (0..list.len()).collect();
    order.sort_by_key(|&axis| list[axis]);
    let sorted = order.iter().map(|&axis| list[axis]).collect();
    let operand = transposed(operand, &order).ok_or(Ended::Vacuous)?;
    let rules = Rules::Xla { broadcast_dimensions: Some(sorted) };
    let variation = under(rules, request.operation(), vec![operand]).ok_or(Ended::Vacuous)?;
    original.compare(&variation, Refusals::Place, |outcome| outcome)
}

/// `broadcast` under `xla`: one step gives what two give, the first onto the target with its axes rotated,
/// the second from there onto the target (XLA-13).
pub(super) fn in_two_steps(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let (Rules::Xla { .. }, Operation::Broadcast { target_shape }) = (request.rules(), request.operation())
    else {
        return Err(Ended::Vacuous);
    };
    let axes = axes_of(request, 0).ok_or_else(|| unplaced(original))?;
    target_shape.count().filter(|&count| count <= MOST_COPIED).ok_or(Ended::Vacuous)?;
    let rank = target_shape.rank();
    // Axis i of the target is axis i + 1 between the steps, and the last one is the first.
    let between = |axis: usize| (axis + 1) % rank;
    let rotated = (0..rank).map(|axis| target_shape[(axis + rank - 1) % rank]).collect();
    let step = |dimensions: Vec<usize>, operand: &Operand, target_shape: Shape| {
        let list = dimensions.iter().map(|&axis| i64::try_from(axis).ok()).collect::<Option<Vec<i64>>>();
        let rules = Rules::Xla { broadcast_dimensions: Some(list?) };
        under(rules, &Operation::Broadcast { target_shape }, vec![operand.clone()])
    };
    let operand = &request.operands()[0];
    let first = step(axes.into_iter().map(between).collect(), operand, Shape::new(rotated));
    let first = first.ok_or(Ended::Vacuous)?;
    original.answer()?;
    let (middle, shape) = match original.ask(&first)? {
        Outcome::Success(success) => {
            let (shape, values) = success.tensor.into_parts();
            (Operand::dense(operand.name(), shape.clone(), values).map_err(|_| Ended::Vacuous)?, shape)
        }
        refused => return original.agrees(&first, Refusals::Refused, refused),
    };
    if shape.rank() != rank {
        let detail = format!("a result of rank {} for a target of rank {rank}", shape.rank());
        return Err(original.violated(detail, Some(&first), original.outcome().clone()));
    }
    let back = (0..rank).map(|axis| (axis + rank - 1) % rank).collect();
    let second = step(back, &middle, target_shape.clone()).ok_or(Ended::Vacuous)?;
    original.compare(&second, Refusals::Refused, |outcome| outcome)
}

/// An operand with its axes in another order: `order[new]` is the old axis.
pub(super) fn transposed(operand: &Operand, order: &[usize]) -> Option<Operand> {
    match operand.strides() {
        Some(strides) => {
            let shape = Shape::new(order.iter().map(|&axis| operand.shape()[axis]).collect());
            let strides = order.iter().map(|&axis| strides[axis]).collect();
            let values = operand.values().clone();
            Operand::view(operand.name(), shape, values, Some(strides), operand.offset()).ok()
        }
        None => {
            let (shape, values) = permute(operand.shape(), operand.values(), order)?;
            Operand::dense(operand.name(), shape, values).ok()
        }
    }
}

/// A result with its axes in the opposite order.
pub(super) fn axes_reversed(outcome: Outcome) -> Outcome {
    let Outcome::Success(success) = outcome else { return outcome };
    let found = success.tensor;
    let order: Vec<usize> = (0..found.shape().rank()).rev().collect();
    let turned = permute(found.shape(), found.values(), &order);
    let tensor = turned.and_then(|(shape, values)| Tensor::new(shape, values).ok());
    Outcome::Success(tensor.unwrap_or(found).into())
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
    fn operands_are_transposed() {
        let dense = Operand::dense("a", [2, 3], vec![1i8, 2, 3, 4, 5, 6]).unwrap();
        let turned = transposed(&dense, &[1, 0]).unwrap();
        assert_eq!((turned.shape(), turned.values()), (&[3, 2].into(), &vec![1i8, 4, 2, 5, 3, 6].into()));
        let view = Operand::view("a", [2, 3], vec![1i8, 2, 3], Some(vec![0, -1]), 2).unwrap();
        let turned = transposed(&view, &[1, 0]).unwrap();
        assert_eq!((turned.strides(), turned.offset()), (Some(&[-1, 0][..]), 2));
        assert_eq!(elements(&turned), Some(Data::from(vec![3i8, 3, 2, 2, 1, 1])));
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
