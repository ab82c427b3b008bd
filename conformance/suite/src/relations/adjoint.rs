//! Broadcasting and summing are adjoint (GRAD-1): for a product of all operands, Σ result = Σ w · gradient by
//! w for each operand w. If the product is refused, so are its gradients (GRAD-2).
//!
//! The check uses the shapes, attributes and views of the request. It also uses the values if every sum of
//! their products is exact in f64 (or f32, in a sweep in f32); otherwise it replaces them with integers.

use super::original::{Ended, Original};
use super::rewrite::{MOST_COPIED, elements, largest_integer, under, with_integers};
use broadcheck_judge::compare::{Latitude, Verdict, compare_outcomes};
use broadcheck_spec::{
    DType, Data, Expression, Function, Operand, Operation, Outcome, Request, Rules, Scalar, Tensor,
};

/// A product of more operands than this might not be exact.
const MOST_OPERANDS: usize = 12;

/// The dtype of the operands, and an upper bound of the integers that it represents without a gap.
#[derive(Clone, Copy)]
struct Exact {
    dtype: DType,
    below: f64,
}

impl Exact {
    const F64: Exact = Exact { dtype: DType::F64, below: (1u64 << 53) as f64 };
    const F32: Exact = Exact { dtype: DType::F32, below: (1u64 << 24) as f64 };

    fn of(original: &Original<'_>) -> Exact {
        if original.dtype() == DType::F32 { Exact::F32 } else { Exact::F64 }
    }
}

/// Small enough for the products of [`MOST_OPERANDS`] operands over 2^33 elements of a result.
const LEAST: f64 = 3.0;

pub(super) fn adjoint(original: &Original<'_>, _: u128) -> Result<(), Ended> {
    let request = original.request();
    if request.operands().len() > MOST_OPERANDS {
        return Err(Ended::Vacuous);
    }
    let replaced;
    let exact = Exact::of(original);
    let operands = if exact.holds(request.operands()) {
        request.operands()
    } else {
        let most = exact.largest_factor(request.operands());
        let operands = request.operands().iter().enumerate();
        let integers: Option<Vec<Operand>> =
            operands.map(|(place, operand)| with_integers(operand, exact.dtype, place, most)).collect();
        replaced = integers.ok_or(Ended::Vacuous)?;
        &replaced
    };
    match request.operation() {
        Operation::Broadcast { .. } | Operation::Vjp { target_shape: Some(_), .. } => {
            broadcast(original, exact, operands)
        }
        Operation::Elementwise { .. } => product(original, operands, 0),
        // Its operands may be one buffer, whose values cannot be replaced one by one.
        Operation::Into { .. } => Err(Ended::Vacuous),
        Operation::Vjp { wrt, .. } => product(original, operands, *wrt),
        Operation::Gradient { wrt, .. } => product(original, operands, *wrt),
    }
}

impl Exact {
    /// Whether every sum of products of the operands' elements is an integer below the bound.
    fn holds(self, operands: &[Operand]) -> bool {
        let bound = operands.iter().try_fold(1.0, |bound, operand| {
            Some(bound * largest_integer(operand, self.dtype)? * count(operand))
        });
        bound.is_some_and(|bound| bound < self.below)
    }

    /// The largest integer whose products, one factor from each operand, have an exact sum over the result.
    fn largest_factor(self, operands: &[Operand]) -> usize {
        let results: f64 = operands.iter().map(count).product();
        // Broadcasting multiplies its only operand by another.
        #[allow(clippy::cast_precision_loss, reason = "at most 12")]
        let factors = operands.len().max(2) as f64;
        self.whole((self.below / results).powf(1.0 / factors))
    }

    /// A bound on factors as an integer, at least [`LEAST`].
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 3 and 2^53")]
    fn whole(self, bound: f64) -> usize {
        bound.clamp(LEAST, self.below) as usize
    }
}

/// The number of elements of an operand, at least 1.
#[allow(clippy::cast_precision_loss, reason = "an estimate")]
fn count(operand: &Operand) -> f64 {
    operand.shape().count().map_or(f64::INFINITY, |count| count.max(1) as f64)
}

/// `[multiply, [multiply, a, b], c]`.
pub(super) fn product_of(operands: usize) -> Expression {
    (1..operands).fold(Expression::operand(0), |product, place| {
        let factors = [product, Expression::operand(place)];
        Expression::call(Function::Multiply, factors).expect("two arguments")
    })
}

/// Checks the product and its gradient by each operand, starting with the operand `first`.
fn product(original: &Original<'_>, operands: &[Operand], first: usize) -> Result<(), Ended> {
    let expression = product_of(operands.len());
    let rules = original.request().rules();
    let operation = Operation::Elementwise { expression: expression.clone() };
    let forward = under(rules.clone(), &operation, operands.to_vec()).ok_or(Ended::Vacuous)?;
    let product = original.ask(&forward)?;
    let (mut compared, mut not_asked) = (false, None);
    let others = (0..operands.len()).filter(|&place| place != first);
    for wrt in std::iter::once(first).chain(others) {
        let operation = Operation::Gradient { expression: expression.clone(), wrt };
        let gradient = under(rules.clone(), &operation, operands.to_vec()).ok_or(Ended::Vacuous)?;
        let back = match original.ask(&gradient) {
            // A later operand may still have a gradient.
            Err(Ended::Vacuous) => continue,
            Err(Ended::NotAsked(reason)) => {
                not_asked.get_or_insert(reason);
                continue;
            }
            answer => answer?,
        };
        compared = true;
        agree(original, &product, &gradient, back, |_| 1.0)?;
    }
    match not_asked {
        _ if compared => Ok(()),
        Some(reason) => Err(Ended::NotAsked(reason)),
        None => Err(Ended::Vacuous),
    }
}

/// Checks Σ broadcast(x) · y = Σ x · (gradient of x · y by x), where y has the result's shape.
#[allow(clippy::cast_precision_loss, reason = "at most 2^16")]
fn broadcast(original: &Original<'_>, exact: Exact, operands: &[Operand]) -> Result<(), Ended> {
    let request = original.request();
    let x = operands[0].clone();
    let target = request.operation().target_shape().ok_or(Ended::Vacuous)?;
    let operation = Operation::Broadcast { target_shape: target.clone() };
    let forward = under(request.rules().clone(), &operation, operands.to_vec()).ok_or(Ended::Vacuous)?;
    let wide = original.ask(&forward)?;
    let Outcome::Success(success) = &wide else { return Err(Ended::Vacuous) };
    let shape = success.tensor.shape();
    // NUMPY-5, XLA-13, LEADING-4, REPEAT-6. Under the bidirectional rules the result may be larger than the
    // target.
    if *request.rules() != Rules::Bidirectional && shape != target {
        let detail = format!("the result has shape {shape}, expected {target}");
        return Err(original.violated(detail, Some(&forward), wide));
    }
    let count = shape.count().filter(|&count| count <= MOST_COPIED).ok_or(Ended::Vacuous)?;
    let name = if x.name() == "weight" { "other" } else { "weight" };
    let y = Operand::dense(name, shape.clone(), Data::F64(vec![0.0; count])).ok();
    let largest = largest_integer(&x, exact.dtype).ok_or(Ended::Vacuous)?;
    let most = exact.whole(exact.below / (largest * count as f64) - 1.0);
    let y = y.and_then(|y| with_integers(&y, exact.dtype, 1, most));
    let y = y.ok_or(Ended::Vacuous)?;
    let gradient = match request.rules() {
        // GRAD-4: only a cotangent says on which axes the operand lies.
        rules @ Rules::Xla { .. } => {
            let target_shape = Some(target.clone());
            let (expression, cotangent) = (Expression::operand(0), Box::new(y.clone()));
            let operation = Operation::Vjp { expression, wrt: 0, target_shape, cotangent };
            under(rules.clone(), &operation, vec![x])
        }
        Rules::None | Rules::Numpy | Rules::Pdpd { .. } | Rules::Bidirectional | Rules::Theano => {
            let operation = Operation::Gradient { expression: product_of(2), wrt: 0 };
            under(Rules::Numpy, &operation, vec![x, y.clone()])
        }
        // The operand is B, the second one.
        Rules::Repeat => {
            let operation = Operation::Gradient { expression: product_of(2), wrt: 1 };
            under(Rules::Repeat, &operation, vec![y.clone(), x])
        }
        Rules::Leading => {
            let operation = Operation::Gradient { expression: product_of(2), wrt: 0 };
            under(Rules::Leading, &operation, vec![x, y.clone()])
        }
    };
    let gradient = gradient.ok_or(Ended::Vacuous)?;
    let back = original.ask(&gradient)?;
    agree(original, &wide, &gradient, back, |place| {
        y.values().get(place).and_then(Scalar::as_f64).unwrap_or(0.0)
    })
}

/// Checks Σ result · y = Σ w · gradient by w.
fn agree(
    original: &Original<'_>,
    forward: &Outcome,
    gradient: &Request,
    back: Outcome,
    y: impl Fn(usize) -> f64,
) -> Result<(), Ended> {
    let wrt = gradient.operation().wrt().ok_or(Ended::Vacuous)?;
    let w = &gradient.operands()[wrt];
    let name = w.name();
    let detail = match (forward, &back) {
        (Outcome::Success(_), Outcome::Success(back)) if back.tensor.shape() != w.shape() => {
            format!("the gradient by {name} has shape {}, expected {}", back.tensor.shape(), w.shape())
        }
        (Outcome::Success(forward), Outcome::Success(back)) => {
            let gathered;
            let elements = if w.strides().is_none() {
                w.values()
            } else {
                gathered = elements(w).ok_or(Ended::Vacuous)?;
                &gathered
            };
            let element = |place| elements.get(place).and_then(Scalar::as_f64).unwrap_or(0.0);
            let (forward, backward) = (dot(&forward.tensor, y), dot(&back.tensor, element));
            #[allow(clippy::float_cmp, reason = "both sums are exact")]
            if forward == backward {
                return Ok(());
            }
            format!("Σ result is {forward}, Σ {name} · gradient by {name} is {backward}")
        }
        (Outcome::Refusal(_), Outcome::Refusal(_)) if !original.orders_refusals() => return Ok(()),
        (Outcome::Refusal(_), Outcome::Refusal(_)) => {
            match compare_outcomes(gradient, forward, &back, Latitude::ANY) {
                Verdict::Failed(difference) => difference.to_string(),
                _ => return Ok(()),
            }
        }
        _ => format!("the product {}, its gradient by {name} {}", describe(forward), describe(&back)),
    };
    Err(original.violated(detail, Some(gradient), back))
}

fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Success(success) => format!("has shape {}", success.tensor.shape()),
        Outcome::Refusal(refusal) => format!("is refused ({refusal})"),
        Outcome::Skipped { reason } => format!("is skipped ({reason})"),
        Outcome::Errored { message, .. } => format!("fails ({message})"),
    }
}

fn dot(tensor: &Tensor, weight: impl Fn(usize) -> f64) -> f64 {
    let value = |value: Scalar| value.as_f64().unwrap_or(f64::NAN);
    tensor.values().iter().enumerate().fold(0.0, |sum, (place, element)| sum + value(element) * weight(place))
}
