//! Gradients: of the sum of all elements of a result by one operand (clauses GRAD-1 to GRAD-3, V-6).
//!
//! At each index of the result the chain rule is followed from the root down every path that ends at w. What
//! arrives there is one contribution to the element of w that is read at this index.

use crate::evaluate::node_values;
use crate::functions::round_to;
use crate::indices::Indices;
use crate::partial::{Partial, partials};
use crate::{Alignment, align};
use broadcheck_spec::{Data, Expression, Node, Operand, Operation, Refusal, Request, Scalar, Shape, Tensor};

/// An element of a gradient, with what clause V-6 judges it by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GradientElement {
    /// The element, rounded once to w's dtype.
    pub value: Scalar,
    /// n: the number of contributions, at every index of the result that reads the element and for every
    /// occurrence of w. The parts of a difference in a formula count separately: two for tanh, and the parts
    /// multiply along a path, as they do when the product is written out.
    pub terms: u64,
    /// Σ|t|: the sum of the absolute values of those contributions.
    pub magnitude: f64,
}

/// The gradient of a request, and how well each element is determined.
///
/// It computes whatever its size: [`exceeds_limit`] tells beforehand.
///
/// # Errors
/// The refusal, as from [`align`].
///
/// # Panics
/// Where the operation is no gradient.
///
/// [`exceeds_limit`]: crate::exceeds_limit
pub fn gradient(request: &Request) -> Result<(Tensor, Vec<GradientElement>), Refusal> {
    let Operation::Gradient { expression, wrt } = request.operation() else {
        panic!("{} is no gradient", request.operation().kind());
    };
    let alignment = align(request)?;
    let operand = &request.operands()[*wrt];
    let count = operand.shape().count().expect("an accepted operand has a count");

    // GRAD-1. An element that no index reads is +0; element j is the sum over the indices that read j.
    let mut sums = vec![Contribution { value: 0.0, terms: 0, magnitude: 0.0 }; count];
    if expression.reads(*wrt) {
        for index in Indices::new(&alignment.shape) {
            let element = position(operand, *wrt, &alignment, &index);
            let values = node_values(expression, request.operands(), &alignment, &index);
            for contribution in contributions(expression, *wrt, &values) {
                sums[element].add(contribution);
            }
        }
    }

    // V-5, V-6. The sum was taken in f64 and is rounded once.
    let element = |sum: &Contribution| GradientElement {
        value: round_to(operand.dtype(), sum.value),
        terms: sum.terms,
        magnitude: sum.magnitude,
    };
    let elements: Vec<GradientElement> = sums.iter().map(element).collect();
    let values = Data::from_scalars(operand.dtype(), elements.iter().map(|element| element.value));
    let values = values.expect("each was rounded to the operand's dtype");
    let tensor = Tensor::new(operand.shape().clone(), values).expect("one sum per element");
    Ok((tensor, elements))
}

/// A contribution to an element of the gradient, or a sum of them.
#[derive(Clone, Copy, Debug)]
struct Contribution {
    value: f64,
    terms: u64,
    magnitude: f64,
}

impl Contribution {
    fn add(&mut self, other: Contribution) {
        self.value += other.value;
        self.terms = self.terms.saturating_add(other.terms);
        self.magnitude += other.magnitude;
    }

    /// The chain rule: one function further down the path.
    fn through(self, partial: Partial) -> Contribution {
        Contribution {
            value: self.value * partial.value,
            terms: self.terms.saturating_mul(partial.parts),
            magnitude: self.magnitude * partial.magnitude,
        }
    }
}

/// GRAD-3: what arrives at the occurrences of w at one index of the result, where the nodes have these values.
/// A path that ends at another operand, or that a select or a maximum did not take, is left out: nothing is
/// multiplied by 0 to be rid of it.
fn contributions(expression: &Expression, wrt: usize, values: &[Scalar]) -> Vec<Contribution> {
    let nodes = expression.nodes();
    let mut arriving: Vec<Option<Contribution>> = vec![None; nodes.len()];
    let mut found = Vec::new();
    // The derivative of the root by itself.
    if let Some(root) = arriving.last_mut() {
        *root = Some(Contribution { value: 1.0, terms: 1, magnitude: 1.0 });
    }
    // Each node is the argument of one call, which stands after it: from the end, all is there when it is needed.
    for (place, node) in nodes.iter().enumerate().rev() {
        let Some(contribution) = arriving[place] else { continue };
        match node {
            Node::Operand(operand) if *operand == wrt => found.push(contribution),
            Node::Operand(_) => {}
            Node::Call(call) => {
                let arguments: Vec<Scalar> = call.arguments().iter().map(|&place| values[place]).collect();
                let partials = partials(call.function(), &arguments, values[place]);
                for (&argument, partial) in call.arguments().iter().zip(partials) {
                    arriving[argument] = partial.map(|partial| contribution.through(partial));
                }
            }
        }
    }
    found
}

/// The place, row-major, of the element of w that is read at an index of the result.
fn position(operand: &Operand, wrt: usize, alignment: &Alignment, index: &[usize]) -> usize {
    let shape: &Shape = operand.shape();
    let index = alignment.operand_index(wrt, shape, index);
    index.iter().zip(shape.iter()).fold(0, |position, (place, length)| position * length + place)
}
