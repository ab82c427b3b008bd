//! Gradients: of the sum of all elements of a result by one operand (clauses GRAD-1 to GRAD-3, V-6).
//!
//! At each index of the result the chain rule is followed from the root down every path that ends at w. What
//! arrives there is one contribution to the element of w that is read at this index.

use crate::evaluate::node_values;
use crate::functions::round_to;
use crate::indices::Indices;
use crate::limits::{Factors, Limits, Sums};
use crate::partial::{Partial, partials};
use crate::{Alignment, align};
use broadcheck_spec::{
    DType, Data, Expression, Node, Operand, Operation, Refusal, Request, Scalar, Shape, Tensor,
};

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
    /// What the rounding of y - 1 makes of x^(y-1): the sum of |t| times |y - 1| |log x|, for each `power` on a path by
    /// its base. In units of eps.
    pub amplified: f64,
    /// What an underflow on the way may have come to: where the derivatives below 1 on a path multiply to less than
    /// the smallest normal number, the smallest subnormal times those above 1. Summed over such contributions.
    pub underflow: f64,
    /// Whether an implementation that keeps derivatives and sums in the dtype may overflow on the way to an element
    /// that is within range, or overflow both ways: then nothing is known of its answer.
    pub overflow: bool,
}

impl GradientElement {
    /// How far an answer in `dtype` may be from the value, where the expression has so many functions (clause V-6);
    /// `None` where no answer is wrong.
    ///
    /// # Panics
    /// Where the dtype is no float: there are no such gradients.
    pub fn bound(&self, dtype: DType, functions: usize) -> Option<f64> {
        let limits = Limits::of(dtype);
        let counted = (self.terms as f64 + 8.0 * functions as f64) * self.magnitude;
        let rounding = (counted + self.amplified) * limits.epsilon;
        (!self.overflow).then_some(rounding + self.underflow + limits.smallest)
    }
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
    let limits = Limits::of(operand.dtype());
    let mut sums = vec![Element::default(); count];
    if expression.reads(*wrt) {
        for index in Indices::new(&alignment.shape) {
            let element = position(operand, *wrt, &alignment, &index);
            let values = node_values(expression, request.operands(), &alignment, &index);
            for contribution in contributions(expression, *wrt, &values) {
                sums[element].add(contribution, limits);
            }
        }
    }

    // V-5, V-6. The sum was taken in f64 and is rounded once.
    let element = |sum: &Element| GradientElement {
        value: round_to(operand.dtype(), sum.value),
        terms: sum.terms,
        magnitude: sum.magnitude,
        amplified: sum.amplified,
        underflow: sum.underflow,
        overflow: sum.overflow || sum.sums.overflow(sum.value, limits),
    };
    let elements: Vec<GradientElement> = sums.iter().map(element).collect();
    let values = Data::from_scalars(operand.dtype(), elements.iter().map(|element| element.value));
    let values = values.expect("each was rounded to the operand's dtype");
    let tensor = Tensor::new(operand.shape().clone(), values).expect("one sum per element");
    Ok((tensor, elements))
}

/// An element of the gradient while its contributions are added up.
#[derive(Clone, Copy, Debug, Default)]
struct Element {
    value: f64,
    terms: u64,
    magnitude: f64,
    amplified: f64,
    underflow: f64,
    overflow: bool,
    sums: Sums,
}

impl Element {
    fn add(&mut self, contribution: Contribution, limits: Limits) {
        self.value += contribution.value;
        self.terms = self.terms.saturating_add(contribution.terms);
        self.magnitude += contribution.magnitude;
        self.amplified += contribution.magnitude * contribution.amplified;
        self.underflow += contribution.factors.underflow(limits);
        self.overflow |= contribution.factors.overflow(contribution.value, limits);
        self.sums.add(contribution.value);
    }
}

/// What arrives at a node on the way from the root, and at the end a contribution to an element.
#[derive(Clone, Copy, Debug)]
struct Contribution {
    value: f64,
    terms: u64,
    magnitude: f64,
    amplified: f64,
    factors: Factors,
}

impl Contribution {
    /// The derivative of the root by itself.
    const ONE: Contribution =
        Contribution { value: 1.0, terms: 1, magnitude: 1.0, amplified: 0.0, factors: Factors::NONE };

    /// The chain rule: one function further down the path.
    fn through(self, partial: Partial) -> Contribution {
        Contribution {
            value: self.value * partial.value,
            terms: self.terms.saturating_mul(partial.parts),
            magnitude: self.magnitude * partial.magnitude,
            amplified: self.amplified + partial.amplified,
            factors: self.factors.times(partial.factors),
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
    if let Some(root) = arriving.last_mut() {
        *root = Some(Contribution::ONE);
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
