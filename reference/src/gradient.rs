//! Gradients of the sum of a result's elements, or of their products with those of a cotangent, with respect
//! to one operand w (clauses GRAD-1 to GRAD-4).
//!
//! At each index of the result, the chain rule is applied from the root of the expression down every path
//! that ends at w. Each path contributes one term to the element of w that is read at this index.

use crate::derivative::{Derivative, derivatives};
use crate::evaluate::node_values;
use crate::functions::round_to;
use crate::indices::Indices;
use crate::{Alignment, align, read};
use broadcheck_spec::{Data, Expression, Function, Node, Operand, Refusal, Request, Scalar, Shape, Tensor};

/// The gradient of a request, regardless of its size: check it with [`exceeds_limit`] first.
///
/// # Errors
/// The refusal, as from [`align`].
///
/// # Panics
/// If the operation is not a gradient.
///
/// [`exceeds_limit`]: crate::exceeds_limit
pub fn gradient(request: &Request) -> Result<Tensor, Refusal> {
    let Some((expression, wrt, cotangent)) = request.operation().differentiated() else {
        panic!("expected a gradient, found the operation {}", request.operation().kind());
    };
    let alignment = align(request)?;
    let w = &request.operands()[wrt];
    let count = w.shape().count().expect("an accepted operand has a count");

    // GRAD-1. Element j is the sum over the indices that read j: +0 if no index does.
    let mut sums = vec![0f64; count];
    if expression.reads(wrt) {
        for index in Indices::new(&alignment.shape) {
            let values = node_values(expression, request.operands(), &alignment, &index);
            let element = position(w, wrt, &alignment, &index);
            // GRAD-4. The derivative of the sum of result * cotangent by the result is the cotangent.
            let weight = cotangent.map_or(1.0, |cotangent| weight_at(cotangent, &index));
            let through = |arriving: f64, link: &Link<'_>| arriving * link.derivative.value();
            for contribution in contributions(expression, wrt, &values, weight, through) {
                sums[element] += contribution;
            }
        }
    }

    // V-5, V-6. The sum is taken in f64 and rounded once.
    let rounded = sums.iter().map(|&sum| round_to(w.dtype(), sum));
    let values = Data::from_scalars(w.dtype(), rounded).expect("each was rounded to w's dtype");
    Ok(Tensor::new(w.shape().clone(), values).expect("one sum per element"))
}

/// The cotangent's element at an index of the result, whose shape it has.
fn weight_at(cotangent: &Operand, index: &[usize]) -> f64 {
    read(cotangent, index).as_f64().expect("a cotangent has the dtype of the result, which is a float")
}

/// A link of the chain: a function on a path to w, and its derivative with respect to the argument on the
/// path.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// The function.
    pub function: Function,
    /// The values of its arguments.
    pub arguments: &'a [Scalar],
    /// The argument on the path, counted from 0.
    pub by: usize,
    /// The derivative with respect to this argument.
    pub derivative: Derivative,
}

/// GRAD-3: the contributions of the paths from the root to w, at an index where the nodes, in post-order,
/// have these values. `one` is the derivative of the root with respect to itself; `through` applies the chain
/// rule for one more link.
///
/// A path that ends at another operand, or that `select`, `maximum` or `minimum` did not choose, is skipped.
/// It is not multiplied by 0, because 0 times infinity is NaN.
pub fn contributions<T: Copy>(
    expression: &Expression,
    wrt: usize,
    values: &[Scalar],
    one: T,
    through: impl Fn(T, &Link<'_>) -> T,
) -> Vec<T> {
    let nodes = expression.nodes();
    let mut arriving: Vec<Option<T>> = vec![None; nodes.len()];
    if let Some(root) = arriving.last_mut() {
        *root = Some(one);
    }
    let mut found = Vec::new();
    // Each node is the argument of one call, which comes after it: in reverse order, the call is visited
    // first.
    for (place, node) in nodes.iter().enumerate().rev() {
        let Some(at_node) = arriving[place] else { continue };
        match node {
            Node::Operand(operand) if *operand == wrt => found.push(at_node),
            Node::Operand(_) => {}
            Node::Call(call) => {
                let function = call.function();
                let arguments: Vec<Scalar> = call.arguments().iter().map(|&place| values[place]).collect();
                for (by, derivative) in
                    derivatives(function, &arguments, values[place]).into_iter().enumerate()
                {
                    let link = |derivative| Link { function, arguments: &arguments, by, derivative };
                    arriving[call.arguments()[by]] =
                        derivative.map(|derivative| through(at_node, &link(derivative)));
                }
            }
        }
    }
    found
}

/// The row-major position of w's element that is read at an index of the result.
fn position(w: &Operand, wrt: usize, alignment: &Alignment, index: &[usize]) -> usize {
    let shape: &Shape = w.shape();
    let index = alignment.operand_index(wrt, shape, index);
    index.iter().zip(shape.iter()).fold(0, |position, (step, length)| position * length + step)
}
