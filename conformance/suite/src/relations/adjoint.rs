//! Broadcasting and summing back are adjoint: Σ broadcast(x) · y = Σ x · sum_to_shape(y).
//!
//! The gradient of the sum of x · y by x is y summed to x's shape. All numbers are small integers, exact in f64
//! in any order of summation.

use super::ask::{Answer, ask, broadcast, dense, elementwise, flagged, gradient, of};
use super::{Held, Instance};
use broadcheck_spec::{Function, Implementation, Operand, Rules, Scalar, Shape, Tensor};

type Checked = Result<Held, String>;

/// Odd numbers in the one operand, squares in the other: an element that is summed to a wrong place shows.
#[allow(clippy::cast_precision_loss, reason = "small integers")]
fn factor(shape: &Shape, place: usize) -> Operand {
    let count: usize = shape.iter().product();
    let number = |number: usize| if place == 0 { 2 * number + 1 } else { (number + 2) * (number + 2) };
    dense(shape.clone(), (0..count).map(|place| number(place) as f64).collect(), place)
}

/// Σ over the elements of a tensor, each times a weight. Folded from +0: an empty sum is +0.
fn dot(tensor: &Tensor, weights: impl Iterator<Item = Scalar>) -> f64 {
    let number = |value: Scalar| value.as_f64().unwrap_or(f64::NAN);
    tensor.values().iter().zip(weights).fold(0.0, |sum, (a, b)| sum + number(a) * number(b))
}

/// The gradient of Σ x · y by the operand at `wrt`, which has that operand's shape.
fn summed(
    implementation: &dyn Implementation,
    rules: Rules,
    operands: &[Operand],
    wrt: usize,
) -> Result<Answer, String> {
    let request = gradient(rules, of(Function::Multiply, 0, 1), operands.to_vec(), wrt);
    let answer = ask(implementation, &request)?;
    match answer.tensor() {
        Some(tensor) if tensor.shape() != operands[wrt].shape() => Err(format!(
            "the gradient by {} has shape {}, its operand {}",
            operands[wrt].name(),
            tensor.shape(),
            operands[wrt].shape()
        )),
        _ => Ok(answer),
    }
}

/// With numpy's `broadcast` of x to y's shape. The shapes are those of x and of y.
pub(super) fn broadcast_adjoint(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let (x, y) = (factor(&instance.shapes[0], 0), factor(&instance.shapes[1], 1));
    let wide = ask(implementation, &broadcast(Rules::Numpy, x.clone(), y.shape()))?;
    let Answer::Accepted(wide) = wide else { return Ok(Held::Vacuous) };
    let operands = [x, y];
    let back = summed(implementation, Rules::Numpy, &operands, 0)?;
    let Answer::Accepted(back) = back else {
        return Err(format!("broadcast accepts, the gradient {}", back.describe()));
    };
    let [x, y] = &operands;
    let (forward, backward) = (dot(&wide.tensor, y.values().iter()), dot(&back.tensor, x.values().iter()));
    if wide.tensor.shape() == y.shape() && forward.to_bits() == backward.to_bits() {
        return Ok(Held::Compared);
    }
    Err(format!("Σ broadcast(x) · y is {forward}, Σ x · sum_to_shape(y) is {backward}"))
}

/// Under any rule set: Σ of the product = Σ x · gradient by x = Σ y · gradient by y. A refusal is one of the
/// gradient too, of the same kind and at the same axis (GRAD-2).
pub(super) fn product_adjoint(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let factor = |place: usize| {
        let factor = factor(&instance.shapes[place], place);
        match instance.flags(place) {
            Some(flags) => flagged(factor, flags),
            None => factor,
        }
    };
    let operands = [factor(0), factor(1)];
    let product = elementwise(instance.rules(), of(Function::Multiply, 0, 1), operands.to_vec());
    let product = ask(implementation, &product)?;
    for wrt in 0..2 {
        let back = summed(implementation, instance.rules(), &operands, wrt)?;
        match (&product, &back) {
            (Answer::Refused(_), Answer::Refused(_)) if product.same_refusal(&back) => {}
            (Answer::Accepted(product), Answer::Accepted(back)) => {
                let forward = dot(&product.tensor, std::iter::repeat(Scalar::F64(1.0)));
                let backward = dot(&back.tensor, operands[wrt].values().iter());
                if forward.to_bits() != backward.to_bits() {
                    let name = operands[wrt].name();
                    return Err(format!("Σ a · b is {forward}, Σ {name} · gradient by {name} is {backward}"));
                }
            }
            _ => return Err(format!("a · b {}, its gradient {}", product.describe(), back.describe())),
        }
    }
    Ok(Held::Compared)
}
