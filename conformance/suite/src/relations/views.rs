//! Reading an operand through strides gives, at every index of the result, the element that the rule names:
//! an operand that is given as a view of the result's shape, with stride 0 where it is broadcast, changes
//! nothing.

use super::ask::{Answer, ask, broadcast, difference, elementwise, flagged, operand};
use super::placing::{in_dim_axes, last_axes, pdpd_start, trimmed, view_strides};
use super::{Attributes, Held, Instance};
use broadcheck_spec::{Expression, Implementation, Operand, Rules, Shape};

type Checked = Result<Held, String>;

/// The operand at `place` as a view of the result's shape.
fn view(dense: &Operand, place: usize, axes: &[usize], result: &Shape) -> Result<Operand, String> {
    let none = || format!("the result has shape {result}, which no view of {} can have", dense.shape());
    let kept = &dense.shape()[..axes.len()];
    let strides = view_strides(kept, axes, result).ok_or_else(none)?;
    let name = if place == 0 { "a" } else { "b" };
    let view = Operand::view(name, result.clone(), dense.values().clone(), Some(strides), 0);
    view.map_err(|error| format!("{}: {error}", none()))
}

/// The axes of the result on which the operand at `place` lies.
fn axes_of(instance: &Instance, place: usize, rank: usize) -> Vec<usize> {
    let shape = &instance.shapes[place];
    match &instance.attributes {
        Attributes::Axis(axis) if place == 1 => {
            let start = pdpd_start(&instance.shapes[0], shape, *axis).unwrap_or(0);
            (start..start + trimmed(shape).len()).collect()
        }
        Attributes::Dimensions(Some(list)) if shape.rank() < instance.shapes[1 - place].rank() => {
            in_dim_axes(list)
        }
        _ => last_axes(shape.rank().min(rank), rank),
    }
}

/// A rule set's answer over dense operands is its answer over views of equal shapes, which need no rule.
pub(super) fn operands_as_views(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let dense = |place: usize| operand(&instance.shapes[place], place);
    let given = |place: usize| match instance.flags(place) {
        Some(flags) => flagged(dense(place), flags),
        None => dense(place),
    };
    let rule = ask(implementation, &difference(instance.rules(), vec![given(0), given(1)]))?;
    let Answer::Accepted(accepted) = &rule else { return Ok(Held::Vacuous) };
    let result = accepted.tensor.shape();
    let seen = |place: usize| view(&dense(place), place, &axes_of(instance, place, result.rank()), result);
    let rules = match instance.rules() {
        Rules::Pdpd { .. } => Rules::Pdpd { axis: None },
        Rules::Xla { .. } => Rules::Xla { broadcast_dimensions: None },
        other => other,
    };
    let views = ask(implementation, &difference(rules, vec![seen(0)?, seen(1)?]))?;
    if rule.same_result(&views) {
        return Ok(Held::Compared);
    }
    Err(format!("over dense operands it {}, over views {}", rule.describe(), views.describe()))
}

/// numpy's `broadcast` is the view itself.
pub(super) fn broadcast_as_view(implementation: &dyn Implementation, instance: &Instance) -> Checked {
    let x = operand(&instance.shapes[0], 0);
    let wide = ask(implementation, &broadcast(Rules::Numpy, x.clone(), &instance.shapes[1]))?;
    let Answer::Accepted(accepted) = &wide else { return Ok(Held::Vacuous) };
    let result = accepted.tensor.shape();
    let view = view(&x, 0, &axes_of(instance, 0, result.rank()), result)?;
    let bare = ask(implementation, &elementwise(Rules::Numpy, Expression::operand(0), vec![view]))?;
    if wide.same_result(&bare) {
        return Ok(Held::Compared);
    }
    Err(format!("broadcast {}, the view {}", wide.describe(), bare.describe()))
}
