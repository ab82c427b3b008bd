//! Gradients of expressions in which the result of `exp log tanh power` goes into another function.
//!
//! Each of them may be a few ULP off (V-4), and the next function may make much of that: power(a, exp(a)) is as many
//! times as far off as its exponent is large. The bound of clause V-6 counts functions and does not know of it. Two
//! gradients that lie apart by no more than the enclosure of the derivative, with the ULPs of every function followed
//! through, are both right as far as anybody can tell: there is nothing to compare.

use super::enclosure::{Precision, enclose};
use super::interval::Interval;
use crate::compare::{index_of, precision};
use broadcheck_reference::{align, gradient, read};
use broadcheck_spec::{Call, Exactness, Expression, Node, Operation, Outcome, Request, Scalar};

/// Larger results are not followed.
const MOST_ELEMENTS: usize = 1 << 14;

/// Whether two gradients differ by no more than the ULPs of inexact functions inside others can make of them.
pub(in crate::oracle) fn within_nested_ulps(request: &Request, left: &Outcome, right: &Outcome) -> bool {
    let (Operation::Gradient { expression, wrt }, Outcome::Success(left), Outcome::Success(right)) =
        (request.operation(), left, right)
    else {
        return false;
    };
    if !feeds_another(expression) || left.tensor.shape() != right.tensor.shape() {
        return false;
    }
    let Some(allowed) = allowed(request, expression, *wrt) else { return false };
    let pairs = left.tensor.values().iter().zip(right.tensor.values().iter());
    pairs.zip(allowed).all(|((one, other), allowed)| {
        one == other
            || one.as_f64().zip(other.as_f64()).is_some_and(|(one, other)| {
                // What is not finite on one side only is never excused.
                (one - other).is_finite() && allowed.is_none_or(|allowed| (one - other).abs() <= allowed)
            })
    })
}

/// Whether an inexact function's result is an argument of another function.
fn feeds_another(expression: &Expression) -> bool {
    let nodes = expression.nodes();
    expression.calls().flat_map(Call::arguments).any(|&place| match nodes[place] {
        Node::Call(inner) => inner.function().exactness() == Exactness::Ulp,
        Node::Operand(_) => false,
    })
}

/// How far two honest values of each element may lie apart; no bound where nothing can be said. `None` where the
/// request is too large to look at.
fn allowed(request: &Request, expression: &Expression, wrt: usize) -> Option<Vec<Option<f64>>> {
    let alignment = align(request).ok()?;
    let count = alignment.shape.count().filter(|&count| count <= MOST_ELEMENTS)?;
    let operand = &request.operands()[wrt];
    let (epsilon, smallest) = precision(operand.dtype())?;
    let functions = expression.calls().count() as f64;
    let (_, elements) = gradient(request).ok()?;
    let of_v6 = elements.iter().map(|element| {
        Some((element.terms as f64 + 8.0 * functions) * epsilon * element.magnitude + smallest)
    });
    let mut allowed: Vec<Option<f64>> = of_v6.collect();
    for place in 0..count {
        let index = index_of(place, &alignment.shape);
        let value = |(at, operand)| read(operand, &alignment.operand_index(at, operand.shape(), &index));
        let values: Vec<Scalar> = request.operands().iter().enumerate().map(value).collect();
        let element = alignment.operand_index(wrt, operand.shape(), &index);
        let element =
            element.iter().zip(operand.shape().iter()).fold(0, |at, (step, length)| at * length + step);
        let at = values[wrt].as_f64().filter(|value| value.is_finite());
        let root = at.and_then(|at| {
            enclose(expression, wrt, Interval::point(at), &values, Precision { epsilon, smallest })
        });
        let width = root.map(|root| root.derivative.width());
        if let Some(slot) = allowed.get_mut(element) {
            *slot = slot.zip(width).map(|(slot, width)| slot + width);
        }
    }
    Some(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_spec::{Function, Operand, Rules, Tensor};

    /// The gradient by a of power(a, exp(a)), or of power(a, a), which holds nothing inside another function.
    fn request(nested: bool) -> Request {
        let a = || Expression::operand(0);
        let exponent = if nested { Expression::call(Function::Exp, [a()]).unwrap() } else { a() };
        let expression = Expression::call(Function::Power, [a(), exponent]).unwrap();
        let operand = Operand::dense("a", [1], vec![3.625]).unwrap();
        Request::new(Rules::Numpy, Operation::Gradient { expression, wrt: 0 }, vec![operand]).unwrap()
    }

    fn result(value: f64) -> Outcome {
        Outcome::Success(Tensor::new([1], vec![value]).unwrap().into())
    }

    #[test]
    fn what_an_inner_ulp_makes_is_excused_and_no_more() {
        // Two implementations, each within an ULP of exp: 42 · 1.3 times as many at the root.
        let (one, other) = (result(5.706288778747983e22), result(5.706288778748036e22));
        assert!(within_nested_ulps(&request(true), &one, &other));
        assert!(!within_nested_ulps(&request(false), &one, &other));
        assert!(!within_nested_ulps(&request(true), &one, &result(5.7062887e22)));
        assert!(!within_nested_ulps(&request(true), &one, &result(f64::NAN)));
    }
}
