//! The rule sets, one file each, and what they share: clauses G-1, G-2 and G-5.

#![warn(clippy::wildcard_enum_match_arm)]

mod bidirectional;
mod leading;
mod none;
mod numpy;
mod pdpd;
mod repeat;
mod theano;
mod xla;

pub(crate) use pdpd::start as pdpd_start;
pub(crate) use repeat::{check_rank as repeat_rank, is_multiple};
pub(crate) use xla::{axes as xla_axes, target_axes as xla_target_axes};

use crate::Alignment;
use broadcheck_spec::{OperationKind, Refusal, RefusalKind, RuleSet, Rules, Shape};

/// How operands of these shapes are aligned with their result, for an elementwise operation or a gradient.
///
/// `flags` are those of `theano`, one list per operand; a missing list means that all flags are false.
/// Checks the number of operands, the clauses of the rule set and the size, in that order (clause G-6).
///
/// # Errors
/// The refusal of the rule set. `bidirectional` has no elementwise operation (see [`broadcast_shape`]), so it
/// returns a refusal without a kind.
///
/// # Panics
/// If an operand has flags and their number differs from its rank.
pub fn align_shapes(
    rules: &Rules,
    shapes: &[Shape],
    flags: &[Option<&[bool]>],
) -> Result<Alignment, Refusal> {
    check_operand_count(rules.set(), shapes.len())?;
    let alignment = match (rules, shapes) {
        (Rules::None, _) => none::align(shapes),
        (Rules::Numpy, _) => numpy::align(shapes),
        (Rules::Theano, _) => theano::align(shapes, flags),
        (Rules::Leading, _) => leading::align(shapes),
        (Rules::Pdpd { axis }, [a, b]) => pdpd::align(a, b, *axis),
        (Rules::Xla { broadcast_dimensions }, [lhs, rhs]) => {
            xla::align(lhs, rhs, broadcast_dimensions.as_deref())
        }
        (Rules::Repeat, [a, b]) => repeat::align(a, b),
        (Rules::Repeat, _) => repeat::check_ranks(shapes).map(|()| alone(&shapes[0])),
        (Rules::Pdpd { .. } | Rules::Xla { .. }, _) => Ok(alone(&shapes[0])),
        (Rules::Bidirectional, _) => {
            Err(no_such_operation(RuleSet::Bidirectional, OperationKind::Elementwise))
        }
    }?;
    check_sizes(shapes.iter().chain([&alignment.shape]))?;
    Ok(alignment)
}

/// How an operand is aligned with the result when it is broadcast to a target shape, under `bidirectional`,
/// `numpy`, `xla`, `leading` or `repeat`.
///
/// # Errors
/// The refusal of the rule set. Other rule sets have no such operation and return a refusal without a kind.
pub fn broadcast_shape(rules: &Rules, operand: &Shape, target: &Shape) -> Result<Alignment, Refusal> {
    let alignment = match rules {
        Rules::Numpy => numpy::broadcast(operand, target),
        Rules::Bidirectional => bidirectional::broadcast(operand, target),
        Rules::Leading => leading::broadcast(operand, target),
        Rules::Repeat => repeat::broadcast(operand, target),
        Rules::Xla { broadcast_dimensions } => {
            xla::broadcast(operand, target, broadcast_dimensions.as_deref())
        }
        Rules::None | Rules::Pdpd { .. } | Rules::Theano => {
            Err(no_such_operation(rules.set(), OperationKind::Broadcast))
        }
    }?;
    check_sizes([operand, target, &alignment.shape])?;
    Ok(alignment)
}

/// G-5: how many operands the rule set takes.
pub(crate) fn check_operand_count(set: RuleSet, count: usize) -> Result<(), Refusal> {
    let expected = set.operands();
    if expected.allows(count) {
        return Ok(());
    }
    let message = format!("{count} operands: {set} takes {expected}");
    Err(Refusal::new(RefusalKind::OperandCount, message))
}

/// G-5: with one operand the result has its shape.
fn alone(shape: &Shape) -> Alignment {
    Alignment::new(shape.clone(), vec![(0..shape.rank()).collect()])
}

/// G-1: in no operand, target or result do the lengths other than 0 multiply to more than 2^63-1.
fn check_sizes<'a>(shapes: impl IntoIterator<Item = &'a Shape>) -> Result<(), Refusal> {
    for shape in shapes {
        if shape.count().is_none() {
            let message =
                format!("shape {shape}: the lengths other than 0 multiply to more than 2^63-1 elements");
            return Err(Refusal::new(RefusalKind::TooLarge, message));
        }
    }
    Ok(())
}

fn no_such_operation(set: RuleSet, operation: OperationKind) -> Refusal {
    Refusal { message: format!("{set} has no operation {operation}"), ..Refusal::default() }
}

/// G-2: the common length of two lengths: equal lengths have that length; if one is 1, it is the other.
///
/// So the common length of 1 and 0 is 0, which is not their maximum.
fn common_length(a: usize, b: usize) -> Option<usize> {
    if a == b {
        Some(a)
    } else if a == 1 {
        Some(b)
    } else if b == 1 {
        Some(a)
    } else {
        None
    }
}

/// The length of a right-aligned shape on an axis of a higher-rank result; 1 if the shape has no such axis.
fn right_aligned_length(shape: &Shape, rank: usize, axis: usize) -> usize {
    let missing = rank - shape.rank();
    if axis < missing { 1 } else { shape[axis - missing] }
}

/// The axes of a result of this rank with which the axes of a right-aligned shape are aligned.
fn right_aligned_axes(shape: &Shape, rank: usize) -> Vec<usize> {
    (rank - shape.rank()..rank).collect()
}

/// `1, 2 and 3`.
pub(crate) fn listed<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    let mut texts: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match texts.pop() {
        Some(last) if !texts.is_empty() => format!("{} and {last}", texts.join(", ")),
        Some(only) => only,
        None => "none".into(),
    }
}

#[cfg(test)]
mod tests;
