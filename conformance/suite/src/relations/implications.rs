//! What a rule set accepts, `numpy` accepts with the same result, once the operands lie as the rule set says.

use super::ask::{Answer, ask, dense, difference, flagged, operand, values};
use super::placing::{in_dim_axes, pdpd_start, spread, trimmed};
use super::{Attributes, Held, Instance};
use broadcheck_spec::{Implementation, Operand, Rules, Shape};

type Checked = Result<Held, String>;

fn operands(instance: &Instance) -> Vec<Operand> {
    instance.shapes.iter().enumerate().map(|(place, shape)| operand(shape, place)).collect()
}

fn flagged_operands(instance: &Instance) -> Vec<Operand> {
    let all = operands(instance).into_iter().enumerate();
    all.map(|(place, operand)| match instance.flags(place) {
        Some(flags) => flagged(operand, flags),
        None => operand,
    })
    .collect()
}

/// Both answers accept with the same result, or both refuse.
fn alike(rules: &Rules, one: &Answer, other: &Answer) -> Checked {
    if one.same_result(other) {
        return Ok(Held::Compared);
    }
    Err(format!("{} {}, numpy {}", rules.set(), one.describe(), other.describe()))
}

/// Where the one accepts, the other gives the same.
fn implied(rules: &Rules, one: &Answer, other: impl FnOnce() -> Result<Answer, String>) -> Checked {
    match one {
        Answer::Refused(_) => Ok(Held::Vacuous),
        Answer::Accepted(_) => alike(rules, one, &other()?),
    }
}

/// NONE-1 and NONE-2 against NUMPY-2.
pub(super) fn none_is_numpy(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let none = ask(implementation, &difference(Rules::None, operands(instance)))?;
    implied(&Rules::None, &none, || ask(implementation, &difference(Rules::Numpy, operands(instance))))
}

/// THEANO-5.
pub(super) fn theano_is_numpy(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let theano = ask(implementation, &difference(Rules::Theano, flagged_operands(instance)))?;
    implied(&Rules::Theano, &theano, || ask(implementation, &difference(Rules::Numpy, operands(instance))))
}

/// THEANO-3 with every axis of length 1 flagged.
pub(super) fn theano_with_ones_flagged(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let ones = |operand: Operand| {
        let flags: Vec<bool> = operand.shape().iter().map(|&length| length == 1).collect();
        flagged(operand, &flags)
    };
    let theano = difference(Rules::Theano, operands(instance).into_iter().map(ones).collect());
    let numpy = difference(Rules::Numpy, operands(instance));
    alike(&Rules::Theano, &ask(implementation, &theano)?, &ask(implementation, &numpy)?)
}

/// XLA-1 at equal ranks; XLA-7 and XLA-8 with the last axes of the higher operand.
pub(super) fn xla_is_numpy(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let rules = instance.rules();
    let xla = ask(implementation, &difference(rules.clone(), operands(instance)))?;
    alike(&rules, &xla, &ask(implementation, &difference(Rules::Numpy, operands(instance)))?)
}

/// XLA-8: the in-dim step is a reshape of the lower operand, and the degenerate step is numpy's.
pub(super) fn xla_in_dim_is_numpy(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let Attributes::Dimensions(Some(list)) = &instance.attributes else {
        return Err("an instance without dimensions".into());
    };
    let rules = instance.rules();
    let ranks = [instance.shapes[0].rank(), instance.shapes[1].rank()];
    let lower = usize::from(ranks[1] < ranks[0]);
    let mut reshaped = operands(instance);
    let wide = spread(&instance.shapes[lower], &in_dim_axes(list), ranks[0].max(ranks[1]));
    reshaped[lower] = dense(wide, values(&instance.shapes[lower], lower), lower);
    let xla = ask(implementation, &difference(rules.clone(), operands(instance)))?;
    alike(&rules, &xla, &ask(implementation, &difference(Rules::Numpy, reshaped))?)
}

/// PDPD-3 to PDPD-6. Where B has a place on A, the converse holds as well: numpy refuses, or its result has
/// another shape than A, where pdpd refuses.
pub(super) fn pdpd_is_numpy(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let Attributes::Axis(axis) = instance.attributes else {
        return Err("an instance without axis".into());
    };
    let rules = instance.rules();
    let [a, b] = &instance.shapes[..] else { return Err("an instance without two shapes".into()) };
    let pdpd = ask(implementation, &difference(rules, operands(instance)))?;
    let Some(start) = pdpd_start(a, b, axis) else {
        return match pdpd {
            Answer::Refused(_) => Ok(Held::Vacuous),
            Answer::Accepted(_) => Err(format!("pdpd {}, but B has no place on A there", pdpd.describe())),
        };
    };
    let kept = trimmed(b);
    let places: Vec<usize> = (start..start + kept.len()).collect();
    let placed = dense(spread(&Shape::from(kept), &places, a.rank()), values(b, 1), 1);
    let numpy = ask(implementation, &difference(Rules::Numpy, vec![operand(a, 0), placed]))?;
    let onto_a = numpy.tensor().is_some_and(|tensor| tensor.shape() == a);
    let agree = if onto_a { pdpd.same_result(&numpy) } else { pdpd.tensor().is_none() };
    if agree {
        return Ok(Held::Compared);
    }
    Err(format!("pdpd {}, numpy with B placed on A {}", pdpd.describe(), numpy.describe()))
}
