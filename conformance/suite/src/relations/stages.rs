//! Expressions in stages: one function's result stored, and used as an operand of the rest.

use super::original::{Ended, Original, Refusals};
use super::rewrite::{flagged, largest_integer, under, with_integers};
use crate::retype::integers;
use broadcheck_spec::{
    Expression, Function, Node, Operand, Operation, Outcome, Request, RuleSet, Rules, Tensor,
};

/// Stores the result of one function and uses it as an operand. This changes nothing, because a fused
/// expression rounds at every function as if each result had been stored (V-4b). Only for exact expressions,
/// and rule sets that take any number of operands.
pub(super) fn in_stages(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let Operation::Elementwise { expression } = request.operation() else { return Err(Ended::Vacuous) };
    let many = request.rules().set().operands().most().is_none();
    if !many || !expression.is_exact() || expression.calls().count() < 2 {
        return Err(Ended::Vacuous);
    }
    original.success()?;
    let call = |node: &Node| matches!(node, Node::Call(_));
    let place = expression.nodes().iter().position(call).ok_or(Ended::Vacuous)?;
    let operation = Operation::Elementwise { expression: expression.part(place) };
    let stage = under(request.rules().clone(), &operation, request.operands().to_vec());
    let Outcome::Success(success) = original.ask(&stage.ok_or(Ended::Vacuous)?)? else {
        return Err(Ended::Vacuous);
    };
    let variation = with_stored(request, expression, place, success.tensor).ok_or(Ended::Vacuous)?;
    original.compare(&variation, Refusals::Unspecified, |outcome| outcome)
}

/// The request with a stored result, as an additional operand, in place of a call.
fn with_stored(request: &Request, expression: &Expression, place: usize, stored: Tensor) -> Option<Request> {
    let name =
        (0..).map(|number| format!("stage{number}")).find(|name| !request.names().contains(&&name[..]))?;
    let (shape, values) = stored.into_parts();
    let theano = request.rules().set() == RuleSet::Theano;
    let flags = theano.then(|| shape.iter().map(|&length| length == 1).collect());
    let stored = flagged(Operand::dense(name, shape, values).ok()?, flags)?;
    let mut operands = request.operands().to_vec();
    operands.push(stored);
    let stage = Expression::operand(operands.len() - 1);
    let expression = expression.rewrite(|at, node| if at == place { stage.clone() } else { node });
    under(request.rules().clone(), &Operation::Elementwise { expression }, operands)
}

/// GRAD-4: the gradient with a cotangent is the gradient of the product with it, where any number of operands
/// are aligned so that one of the result's shape stays as it is.
pub(super) fn cotangent_as_factor(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let (
        Rules::None | Rules::Numpy | Rules::Leading,
        Operation::Vjp { expression, wrt, target_shape: None, cotangent },
    ) = (request.rules(), request.operation())
    else {
        return Err(Ended::Vacuous);
    };
    let mut operands = request.operands().to_vec();
    operands.push((**cotangent).clone());
    let factors = [expression.clone(), Expression::operand(operands.len() - 1)];
    let expression = Expression::call(Function::Multiply, factors).map_err(|_| Ended::Vacuous)?;
    let operation = Operation::Gradient { expression, wrt: *wrt };
    let variation = under(request.rules().clone(), &operation, operands).ok_or(Ended::Vacuous)?;
    original.compare(&variation, Refusals::Unspecified, |outcome| outcome)
}

/// numpy gives the same sum for three operands at once, for the first two added first, and for the last two
/// added first. The check uses the request's shapes. Values that are not integers are replaced by small
/// integers, whose addition is associative.
pub(super) fn operands_grouped(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    let (Rules::Numpy, Operation::Elementwise { expression }, [a, b, c, ..]) =
        (request.rules(), request.operation(), request.operands())
    else {
        return Err(Ended::Vacuous);
    };
    let at_once = sum_of(3);
    let dtype = original.dtype();
    let (_, most) = integers(dtype);
    let largest =
        [a, b, c].into_iter().try_fold(0.0, |sum, operand| Some(sum + largest_integer(operand, dtype)?));
    #[allow(clippy::cast_precision_loss, reason = "at most 2^53")]
    let exact = largest.is_some_and(|largest| largest < most as f64);
    if request.operands().len() == 3 && *expression == at_once && exact {
        return grouped(original, [a, b, c]);
    }
    let operands = [a, b, c].into_iter().enumerate();
    // The sum of three integers up to an eighth of the largest is exact.
    let most = usize::try_from(most / 8).map_err(|_| Ended::Vacuous)?;
    let operands: Option<Vec<Operand>> =
        operands.map(|(place, operand)| with_integers(operand, dtype, place, most)).collect();
    let sum = sum(operands.ok_or(Ended::Vacuous)?).ok_or(Ended::Vacuous)?;
    let [a, b, c] = sum.operands() else { return Err(Ended::Vacuous) };
    grouped(&original.of_variation(&sum)?, [a, b, c])
}

fn grouped(original: &Original<'_>, [a, b, c]: [&Operand; 3]) -> Result<(), Ended> {
    original.answer()?;
    let sum = |operands: [&Operand; 2]| sum(operands.map(Clone::clone).to_vec()).ok_or(Ended::Vacuous);
    let stored = |tensor: Tensor, operand: &Operand| {
        let (shape, values) = tensor.into_parts();
        Operand::dense(operand.name(), shape, values).map_err(|_| Ended::Vacuous)
    };
    let first = sum([a, b])?;
    let (left, outcome) = match original.ask(&first)? {
        Outcome::Success(success) => {
            let last = sum([&stored(success.tensor, a)?, c])?;
            let outcome = original.ask(&last)?;
            (last, outcome)
        }
        refused => (first, refused),
    };
    original.agrees(&left, Refusals::Refused, outcome)?;
    let last = sum([b, c])?;
    let (right, outcome) = match original.ask(&last)? {
        Outcome::Success(success) => {
            let first = sum([a, &stored(success.tensor, b)?])?;
            let outcome = original.ask(&first)?;
            (first, outcome)
        }
        refused => (last, refused),
    };
    original.agrees(&right, Refusals::Refused, outcome)
}

/// The sum of operands under numpy.
fn sum(operands: Vec<Operand>) -> Option<Request> {
    under(Rules::Numpy, &Operation::Elementwise { expression: sum_of(operands.len()) }, operands)
}

/// `[add, [add, a, b], c]`.
pub(super) fn sum_of(operands: usize) -> Expression {
    (1..operands).fold(Expression::operand(0), |sum, place| {
        Expression::call(Function::Add, [sum, Expression::operand(place)]).expect("two arguments")
    })
}
