//! Gradients with a cotangent: which cotangents fit, how they are read, and what becomes of their product
//! with the contributions; and the way back of a transposing broadcast.

use super::invented;
use crate::engine::adjoint::{elements, weight_shape};
use crate::engine::convert::as_f64;
use crate::{Class, Fault};
use broadcheck_spec::RefusalKind;

/// The lengths of a square matrix.
fn side(result: &[usize]) -> Option<usize> {
    match result {
        [rows, columns] if rows == columns => Some(*rows),
        _ => None,
    }
}

/// Weights of which the first so many are read again and again.
fn from_the_start_after(most: usize, weights: &[f64]) -> Vec<f64> {
    (0..weights.len()).map(|place| weights[place % most]).collect()
}

pub(super) static FAULTS: &[Fault] = &[
    invented(
        "gradient/cotangent-square-not-turned-back",
        Class::Gradient,
        "The gradient of a broadcast that transposes a square is not transposed back.",
        |d| d.adjoint.turned = |lengths, _| side(lengths).is_none(),
    ),
    invented(
        "gradient/cotangent-never-turned-back",
        Class::Gradient,
        "The gradient of a broadcast that transposes keeps the order of the target's axes.",
        |d| d.adjoint.turned = |_, _| false,
    ),
    invented(
        "gradient/cotangent-ignored",
        Class::Gradient,
        "The cotangent is taken to be 1 everywhere.",
        |d| {
            d.adjoint.at_root = |_| Some(1.0);
        },
    ),
    invented(
        "gradient/cotangent-weighs-paths-not-taken",
        Class::Gradient,
        "The sum of the contributions at an index is weighed, also if it has none: infinity times 0 is NaN.",
        |d| {
            d.adjoint.at_root = |_| Some(1.0);
            d.adjoint.summed_at = |total, weight| total * weight;
        },
    ),
    invented(
        "gradient/cotangent-added",
        Class::Gradient,
        "The cotangent is added to the contributions.",
        |d| {
            d.adjoint.at_root = |_| Some(1.0);
            d.adjoint.summed_at = |total, weight| total + weight - 1.0;
        },
    ),
    invented(
        "gradient/cotangent-zero-masks",
        Class::Gradient,
        "Where the cotangent is 0 there is no contribution, also if the derivative is infinite or NaN.",
        |d| {
            d.adjoint.at_root = |weight| (weight != 0.0).then_some(weight);
        },
    ),
    invented(
        "gradient/cotangent-first-element-everywhere",
        Class::Gradient,
        "The first element of the cotangent weighs every contribution.",
        |d| {
            d.adjoint.spread = |weights, _| {
                let first = weights.first().copied().unwrap_or(1.0);
                vec![first; weights.len()]
            };
        },
    ),
    invented("gradient/cotangent-transposed", Class::Gradient, "A square cotangent is transposed.", |d| {
        d.adjoint.spread = |weights, result| match side(result) {
            Some(side) => {
                (0..weights.len()).map(|place| weights[place % side * side + place / side]).collect()
            }
            None => weights,
        };
    }),
    invented("gradient/cotangent-reversed", Class::Gradient, "The cotangent is read backwards.", |d| {
        d.adjoint.spread = |mut weights, _| {
            weights.reverse();
            weights
        };
    }),
    invented(
        "gradient/cotangent-one-row-for-all",
        Class::Gradient,
        "The first row of a cotangent of rank 2 or more weighs every row.",
        |d| {
            d.adjoint.spread = |weights, result| match result.last() {
                Some(&row) if result.len() > 1 && row > 0 => {
                    (0..weights.len()).map(|place| weights[place % row]).collect()
                }
                _ => weights,
            };
        },
    ),
    invented(
        "gradient/cotangent-second-8192-reads-the-first",
        Class::Gradient,
        "After 8192 elements of a cotangent, its first elements are read again.",
        |d| d.adjoint.spread = |weights, _| from_the_start_after(8192, &weights),
    ),
    invented(
        "gradient/cotangent-place-in-16-bits",
        Class::Gradient,
        "A position in a cotangent is stored in 16 bits, and wraps.",
        |d| d.adjoint.spread = |weights, _| from_the_start_after(1 << 16, &weights),
    ),
    invented(
        "gradient/cotangent-rest-after-1024-ignored",
        Class::Gradient,
        "The elements of a cotangent after its last whole 1024 are taken to be 1.",
        |d| {
            d.adjoint.spread = |mut weights, _| {
                let whole = weights.len() / 1024 * 1024;
                if whole > 0 {
                    weights[whole..].fill(1.0);
                }
                weights
            };
        },
    ),
    invented(
        "gradient/cotangent-view-read-as-dense",
        Class::Gradient,
        "The elements of a cotangent are those of its buffer, in its order, also for a view.",
        |d| {
            d.adjoint.weights = |cotangent| match cotangent.strides() {
                Some(_) => cotangent.values().iter().map(as_f64).collect(),
                None => elements(cotangent),
            };
        },
    ),
    invented(
        "gradient/cotangent-as-many-elements",
        Class::Gradient,
        "A cotangent with as many elements as the result is accepted, whatever its shape.",
        |d| {
            d.adjoint.weight_shape = |weights, result| {
                let count = |shape: &[usize]| shape.iter().product::<usize>();
                if count(weights) == count(result) { None } else { weight_shape(weights, result) }
            };
        },
    ),
    invented(
        "gradient/cotangent-one-stretched",
        Class::Gradient,
        "A cotangent of one element is stretched to the result.",
        |d| {
            d.adjoint.weight_shape = |weights, result| {
                let one = weights.len() == result.len() && weights.iter().all(|&length| length == 1);
                if one { None } else { weight_shape(weights, result) }
            };
            d.adjoint.spread = |weights, result| match weights[..] {
                [only] => vec![only; result.iter().product()],
                _ => weights,
            };
        },
    ),
    invented(
        "gradient/cotangent-mismatch-at-the-last-axis",
        Class::Gradient,
        "Of several axes on which the cotangent does not fit, the last one is reported.",
        |d| {
            d.adjoint.weight_shape = |weights, result| {
                let (kind, axis) = weight_shape(weights, result)?;
                let last = weights.iter().zip(result).rposition(|(one, other)| one != other);
                Some((kind, axis.and(last)))
            };
        },
    ),
    invented(
        "gradient/cotangent-ranks-are-lengths",
        Class::Gradient,
        "A cotangent of another rank is refused as one of another length.",
        |d| {
            d.adjoint.weight_shape = |weights, result| {
                let (_, axis) = weight_shape(weights, result)?;
                Some((RefusalKind::DimensionMismatch, Some(axis.unwrap_or(0))))
            };
        },
    ),
    invented(
        "gradient/cotangent-dtype-not-checked",
        Class::Gradient,
        "A cotangent may have any dtype.",
        |d| {
            d.adjoint.weight_dtype = |_, _| true;
        },
    ),
];
