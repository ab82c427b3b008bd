//! What must not matter: the order of operands, how they are grouped, the order of axes.

use super::ask::{
    Answer, ask, dense, difference, elementwise, flagged, from_tensor, of, operand, same_tensor, values,
};
use super::placing::{last_axes, row_major, spread};
use super::{Attributes, Held, Instance};
use broadcheck_spec::{Expression, Function, Implementation, Operand, Rules, Scalar, Shape, Tensor};

type Checked = Result<Held, String>;

/// The same difference a - b, with the operands listed in either order.
fn both_orders(implementation: &dyn Implementation, instance: &Instance) -> Result<[Answer; 2], String> {
    let operand = |place: usize| -> Operand {
        let operand = operand(&instance.shapes[place], place);
        match instance.flags(place) {
            Some(flags) => flagged(operand, flags),
            None => operand,
        }
    };
    let listed = difference(instance.rules(), vec![operand(0), operand(1)]);
    let turned = of(Function::Subtract, 1, 0);
    let turned = elementwise(instance.rules(), turned, vec![operand(1), operand(0)]);
    Ok([ask(implementation, &listed)?, ask(implementation, &turned)?])
}

fn orders_differ(answers: &[Answer; 2]) -> String {
    let [listed, turned] = answers;
    format!("in this order it {}, with the operands exchanged {}", listed.describe(), turned.describe())
}

/// NUMPY-2, THEANO-3: acceptance, shape and elements. The axis of a refusal may be another.
pub(super) fn order_of_operands(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let answers = both_orders(implementation, instance)?;
    if answers[0].same_result(&answers[1]) { Ok(Held::Compared) } else { Err(orders_differ(&answers)) }
}

/// XLA-8: the refusal's kind and axis as well, which speak of the lower and the higher operand.
pub(super) fn xla_order_of_operands(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let answers = both_orders(implementation, instance)?;
    if answers[0].same_result(&answers[1]) && answers[0].same_refusal(&answers[1]) {
        return Ok(Held::Compared);
    }
    Err(orders_differ(&answers))
}

/// (a + b) + c, a + (b + c) and the three at once: accepted together, with one result.
pub(super) fn grouping(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let operand = |place: usize| operand(&instance.shapes[place], place);
    let sum = |operands| ask(implementation, &elementwise(Rules::Numpy, of(Function::Add, 0, 1), operands));
    let pair = of(Function::Add, 0, 1);
    let all = Expression::call(Function::Add, [pair, Expression::operand(2)]).expect("two arguments");
    let all = elementwise(Rules::Numpy, all, vec![operand(0), operand(1), operand(2)]);
    let at_once = ask(implementation, &all)?;
    let left = match sum(vec![operand(0), operand(1)])? {
        Answer::Accepted(first) => sum(vec![from_tensor(first.tensor, 0), operand(2)])?,
        refused @ Answer::Refused(_) => refused,
    };
    let right = match sum(vec![operand(1), operand(2)])? {
        Answer::Accepted(last) => sum(vec![operand(0), from_tensor(last.tensor, 1)])?,
        refused @ Answer::Refused(_) => refused,
    };
    if at_once.same_result(&left) && at_once.same_result(&right) {
        return Ok(Held::Compared);
    }
    Err(format!(
        "three at once {}, the first two before {}, the last two before {}",
        at_once.describe(),
        left.describe(),
        right.describe()
    ))
}

/// NUMPY-1 and NUMPY-2: once the ranks are equal, axes may be permuted before or after.
pub(super) fn order_of_axes(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let Attributes::Order(order) = &instance.attributes else {
        return Err("an instance without an order of axes".into());
    };
    let operands = (0..2).map(|place| operand(&instance.shapes[place], place)).collect();
    let plain = ask(implementation, &difference(Rules::Numpy, operands))?;
    let permuted = |place: usize| {
        let shape = &instance.shapes[place];
        let padded = spread(shape, &last_axes(shape.rank(), order.len()), order.len());
        let (shape, values) = permute(&padded, &values(shape, place), order);
        dense(shape, values, place)
    };
    let turned = ask(implementation, &difference(Rules::Numpy, vec![permuted(0), permuted(1)]))?;
    let agree = match (&plain, &turned) {
        (Answer::Accepted(plain), Answer::Accepted(turned)) => {
            permute_tensor(&plain.tensor, order).is_some_and(|plain| same_tensor(&plain, &turned.tensor))
        }
        (Answer::Refused(_), Answer::Refused(_)) => true,
        _ => false,
    };
    if agree {
        return Ok(Held::Compared);
    }
    Err(format!("it {}, with the axes of both permuted {}", plain.describe(), turned.describe()))
}

/// A dense tensor with its axes in another order.
fn permute(shape: &Shape, values: &[f64], order: &[usize]) -> (Shape, Vec<f64>) {
    let strides = row_major(shape);
    let lengths: Vec<usize> = order.iter().map(|&axis| shape[axis]).collect();
    let steps: Vec<usize> =
        order.iter().map(|&axis| usize::try_from(strides[axis]).expect("a dense stride")).collect();
    let position = |mut place: usize| {
        let mut position = 0;
        for (&length, &step) in lengths.iter().zip(&steps).rev() {
            position += place % length * step;
            place /= length;
        }
        position
    };
    let permuted = (0..values.len()).map(|place| values[position(place)]).collect();
    (Shape::new(lengths.clone()), permuted)
}

fn permute_tensor(tensor: &Tensor, order: &[usize]) -> Option<Tensor> {
    if tensor.shape().rank() != order.len() {
        return None;
    }
    let values: Option<Vec<f64>> = tensor.values().iter().map(Scalar::as_f64).collect();
    let (shape, values) = permute(tensor.shape(), &values?, order);
    Tensor::new(shape, values).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_are_permuted() {
        let (shape, values) = permute(&Shape::from([2, 3]), &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1, 0]);
        assert_eq!(shape, Shape::from([3, 2]));
        assert_eq!(values, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        let (shape, values) = permute(&Shape::from([0, 3]), &[], &[1, 0]);
        assert_eq!((shape, values), (Shape::from([3, 0]), vec![]));
    }
}
