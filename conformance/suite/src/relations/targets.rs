//! Bringing an operand to a shape: `bidirectional`, and `numpy`'s operation `broadcast`.

use super::ask::{Answer, ask, broadcast, dense, elementwise, of, operand};
use super::{Held, Instance};
use broadcheck_spec::{Function, Implementation, Rules};

/// BIDI-3: `array(x) * ones(t)`.
pub(super) fn bidirectional_is_times_ones(
    implementation: &dyn Implementation,
    instance: &Instance,
) -> Result<Held, String> {
    let [x, target] = &instance.shapes[..] else { return Err("an instance without two shapes".into()) };
    let bidirectional = ask(implementation, &broadcast(Rules::Bidirectional, operand(x, 0), target))?;
    let ones = dense(target.clone(), vec![1.0; target.iter().product()], 1);
    let product = elementwise(Rules::Numpy, of(Function::Multiply, 0, 1), vec![operand(x, 0), ones]);
    let numpy = ask(implementation, &product)?;
    if bidirectional.same_result(&numpy) {
        return Ok(Held::Compared);
    }
    Err(format!("bidirectional {}, numpy times ones {}", bidirectional.describe(), numpy.describe()))
}

/// NUMPY-5 against BIDI-2.
pub(super) fn broadcast_is_bidirectional_onto_the_target(
    implementation: &dyn Implementation,
    instance: &Instance,
) -> Result<Held, String> {
    let [x, target] = &instance.shapes[..] else { return Err("an instance without two shapes".into()) };
    let numpy = ask(implementation, &broadcast(Rules::Numpy, operand(x, 0), target))?;
    let bidirectional = ask(implementation, &broadcast(Rules::Bidirectional, operand(x, 0), target))?;
    let onto_target = bidirectional.tensor().is_some_and(|tensor| tensor.shape() == target);
    let agree = match &numpy {
        Answer::Accepted(_) => onto_target && numpy.same_result(&bidirectional),
        Answer::Refused(_) => !onto_target,
    };
    if agree {
        return Ok(Held::Compared);
    }
    Err(format!("numpy {}, bidirectional {}", numpy.describe(), bidirectional.describe()))
}
