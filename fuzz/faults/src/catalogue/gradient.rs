//! Gradients: the sum to an operand's shape, and the chain rule.

use super::report;
use crate::engine::adjoint::{Partials, Spread, partials};
use crate::engine::blocks::BLOCK;
use crate::engine::convert::{as_f64, convert};
use crate::engine::strides::row_major;
use crate::{Class, Fault};
use broadcheck_spec::{DType, Function, Operand, Scalar};

/// Axes of the result that w does not have.
fn lacking(spread: &Spread<'_>) -> Vec<usize> {
    (0..spread.result.len()).filter(|&axis| spread.own(axis).is_none()).collect()
}

/// Axes of the result that w has with length 1.
fn ones(spread: &Spread<'_>) -> Vec<usize> {
    let one = |axis: &usize| spread.own(*axis).is_some_and(|own| spread.lengths[own] == 1);
    (0..spread.result.len()).filter(one).collect()
}

/// The elements in the order of w's buffer, if w is a view that is a permutation.
fn in_memory_order(values: Vec<f64>, operand: &Operand) -> Vec<f64> {
    let Some(strides) = operand.strides() else { return values };
    let mut axes: Vec<usize> = (0..strides.len()).collect();
    axes.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
    let lengths: Vec<usize> = axes.iter().map(|&axis| operand.shape()[axis]).collect();
    let dense = row_major(operand.shape());
    let place = |number: usize| {
        let index = crate::engine::blocks::unravel(number, &lengths);
        let steps = axes.iter().zip(index).map(|(&axis, at)| dense[axis] * at as i64);
        usize::try_from(steps.sum::<i64>()).unwrap_or(0)
    };
    (0..values.len()).map(|number| values[place(number)]).collect()
}

fn with(function: Function, arguments: &[f64], r: f64, of: Function, other: Partials) -> Partials {
    if function == of { other } else { partials(function, arguments, r) }
}

fn is_tie(function: Function, arguments: &[f64]) -> bool {
    matches!(function, Function::Maximum | Function::Minimum)
        && arguments[0].partial_cmp(&arguments[1]) == Some(std::cmp::Ordering::Equal)
}

/// The sum of some values in an accumulator of this dtype.
fn narrow<'a>(values: impl IntoIterator<Item = &'a f64>, dtype: DType) -> f64 {
    values.into_iter().fold(0.0, |sum, value| as_f64(convert(Scalar::F64(sum + value), dtype)))
}

/// The sum of some values in this many accumulators of the dtype, which are added without rounding.
fn narrow_lanes(values: &[f64], lanes: usize, dtype: DType) -> f64 {
    (0..lanes).map(|lane| narrow(values.iter().skip(lane).step_by(lanes), dtype)).sum()
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::Bf16)
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "gradient/keeps-the-broadcast-shape",
        class: Class::Gradient,
        title: "The gradient has the shape of the result, not that of the operand.",
        reports: &[
            report("burn", "https://github.com/tracel-ai/burn/issues/181"),
            report("tt-metal", "https://github.com/tenstorrent/tt-metal/issues/40008"),
        ],
        plant: |d| {
            d.adjoint.summed = |_| Vec::new();
            d.adjoint.removed = |_| Vec::new();
        },
    },
    Fault {
        id: "gradient/stretched-axis-not-summed",
        class: Class::Gradient,
        title: "The gradient is summed over axes that the operand lacks, but not over those where its 1 was stretched.",
        reports: &[
            report("nd4j", "https://github.com/deeplearning4j/nd4j/issues/2424"),
            report("aesara", "https://github.com/aesara-devs/aesara/issues/1089"),
        ],
        plant: |d| d.adjoint.summed = lacking,
    },
    Fault {
        id: "gradient/missing-axis-not-summed",
        class: Class::Gradient,
        title: "The gradient is summed over stretched axes, but not over those that the operand lacks.",
        reports: &[],
        plant: |d| {
            d.adjoint.summed = ones;
            d.adjoint.removed = |_| Vec::new();
        },
    },
    Fault {
        id: "gradient/axes-not-shifted",
        class: Class::Gradient,
        title: "Stretched axes are numbered as in the operand, although the result has more axes on the left.",
        reports: &[report("Odyssey", "https://github.com/HomericIntelligence/Odyssey/pull/2080")],
        plant: |d| {
            d.adjoint.summed = |spread| {
                let own = (0..spread.lengths.len()).filter(|&axis| spread.lengths[axis] == 1);
                let mut axes: Vec<usize> = lacking(spread).into_iter().chain(own).collect();
                axes.sort_unstable();
                axes.dedup();
                axes.retain(|&axis| axis < spread.result.len());
                axes
            };
        },
    },
    Fault {
        id: "gradient/leading-ones-stay",
        class: Class::Gradient,
        title: "Axes that the operand lacks stay in its gradient if their length is 1.",
        reports: &[report("oneflow", "https://github.com/Oneflow-Inc/oneflow/pull/8379")],
        plant: |d| {
            d.adjoint.removed =
                |spread| lacking(spread).into_iter().filter(|&axis| spread.result[axis] != 1).collect();
        },
    },
    Fault {
        id: "gradient/one-axis-only",
        class: Class::Gradient,
        title: "The gradient is summed over the first stretched axis only; along the others, the first element is taken.",
        reports: &[],
        plant: |d| {
            d.adjoint.summed = |spread| {
                let mut axes = ones(spread);
                axes.truncate(1);
                axes.extend(lacking(spread));
                axes.sort_unstable();
                axes
            };
        },
    },
    Fault {
        id: "gradient/first-instead-of-sum",
        class: Class::Gradient,
        title: "The first contribution is taken instead of the sum.",
        reports: &[report("tvm", "https://github.com/apache/tvm/pull/2465")],
        plant: |d| d.adjoint.sum = |values, _| values.first().copied().unwrap_or(0.0),
    },
    Fault {
        id: "gradient/last-instead-of-sum",
        class: Class::Gradient,
        title: "Contributions overwrite each other instead of being added.",
        reports: &[],
        plant: |d| d.adjoint.sum = |values, _| values.last().copied().unwrap_or(0.0),
    },
    Fault {
        id: "gradient/averaged",
        class: Class::Gradient,
        title: "The gradient with respect to a broadcast operand is averaged.",
        reports: &[],
        plant: |d| {
            #[allow(clippy::cast_precision_loss, reason = "no sum has 2^53 contributions")]
            let mean = |values: &[f64], _| values.iter().sum::<f64>() / values.len().max(1) as f64;
            d.adjoint.sum = mean;
        },
    },
    Fault {
        id: "gradient/first-times-count",
        class: Class::Gradient,
        title: "The first contribution is multiplied by the number of contributions, as if all were equal.",
        reports: &[],
        plant: |d| {
            #[allow(clippy::cast_precision_loss, reason = "no sum has 2^53 contributions")]
            let product = |values: &[f64], _| values.first().map_or(0.0, |first| first * values.len() as f64);
            d.adjoint.sum = product;
        },
    },
    Fault {
        id: "gradient/sum-without-tail",
        class: Class::Gradient,
        title: "Sums are computed in whole blocks, and the remainder is not added.",
        reports: &[],
        plant: |d| {
            d.adjoint.sum = |values, _| match values.len() {
                0..BLOCK => values.iter().sum(),
                count => values[..count - count % BLOCK].iter().sum(),
            };
        },
    },
    Fault {
        id: "gradient/narrow-accumulator-f16",
        class: Class::Gradient,
        title: "Sums of f16 are kept in f16: they stall at 2048.",
        reports: &[],
        plant: |d| {
            d.adjoint.sum =
                |values, dtype| if dtype == DType::F16 { narrow(values, dtype) } else { values.iter().sum() };
        },
    },
    Fault {
        id: "gradient/narrow-accumulator-bf16",
        class: Class::Gradient,
        title: "Sums of bf16 are kept in bf16: they stall at 256.",
        reports: &[],
        plant: |d| {
            d.adjoint.sum = |values, dtype| {
                if dtype == DType::Bf16 { narrow(values, dtype) } else { values.iter().sum() }
            };
        },
    },
    Fault {
        id: "gradient/narrow-accumulator-backwards",
        class: Class::Gradient,
        title: "Sums of f16 and bf16 are kept in the dtype and begin at the last element.",
        reports: &[],
        plant: |d| {
            d.adjoint.sum = |values, dtype| {
                if is_half(dtype) { narrow(values.iter().rev(), dtype) } else { values.iter().sum() }
            };
        },
    },
    Fault {
        id: "gradient/narrow-lanes",
        class: Class::Gradient,
        title: "Sums of f16 and bf16 are kept in the dtype, in 8 lanes of a vector.",
        reports: &[],
        plant: |d| {
            d.adjoint.sum = |values, dtype| {
                if is_half(dtype) { narrow_lanes(values, 8, dtype) } else { values.iter().sum() }
            };
        },
    },
    Fault {
        id: "gradient/long-sum-of-halves-without-one",
        class: Class::Gradient,
        title: "Sums of at least 64 elements of f16 and bf16 lack the first one.",
        reports: &[],
        plant: |d| {
            d.adjoint.sum = |values, dtype| {
                let lost = usize::from(values.len() >= 64 && is_half(dtype));
                values[lost..].iter().sum()
            };
        },
    },
    Fault {
        id: "gradient/empty-sum-is-nan",
        class: Class::Gradient,
        title: "A sum of no contributions is NaN.",
        reports: &[],
        plant: |d| d.adjoint.sum = |values, _| if values.is_empty() { f64::NAN } else { values.iter().sum() },
    },
    Fault {
        id: "gradient/one-occurrence",
        class: Class::Gradient,
        title: "Only the last of several uses of an operand counts.",
        reports: &[],
        plant: |d| d.adjoint.occurrences = |_, next| next,
    },
    Fault {
        id: "gradient/in-memory-order",
        class: Class::Gradient,
        title: "The gradient with respect to a transposed view has the order of the buffer.",
        reports: &[],
        plant: |d| d.adjoint.ordered = in_memory_order,
    },
    Fault {
        id: "gradient/sign-of-the-subtrahend",
        class: Class::Gradient,
        title: "The gradient with respect to the subtrahend lacks its minus sign.",
        reports: &[report("mxnet", "https://github.com/apache/mxnet/pull/5216")],
        plant: |d| {
            d.adjoint.partials = |f, x, r| with(f, x, r, Function::Subtract, [Some(1.0), Some(1.0), None]);
        },
    },
    Fault {
        id: "gradient/product-by-the-factor-itself",
        class: Class::Gradient,
        title: "The gradient with respect to a factor is that factor, not the other one.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| match (f, x) {
                (Function::Multiply, &[a, b]) => [Some(a), Some(b), None],
                _ => partials(f, x, r),
            };
        },
    },
    Fault {
        id: "gradient/quotient-without-the-square",
        class: Class::Gradient,
        title: "The gradient with respect to a divisor is the negated quotient, not divided by the divisor.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| match (f, x) {
                (Function::Divide, &[_, b]) => [Some(1.0 / b), Some(-r), None],
                _ => partials(f, x, r),
            };
        },
    },
    Fault {
        id: "gradient/tie-goes-to-both",
        class: Class::Gradient,
        title: "If the arguments of maximum or minimum are equal, each gets the full gradient.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials =
                |f, x, r| if is_tie(f, x) { [Some(1.0), Some(1.0), None] } else { partials(f, x, r) };
        },
    },
    Fault {
        id: "gradient/tie-goes-to-the-first",
        class: Class::Gradient,
        title: "If the arguments of maximum or minimum are equal, the first gets the full gradient.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials =
                |f, x, r| if is_tie(f, x) { [Some(1.0), None, None] } else { partials(f, x, r) };
        },
    },
    Fault {
        id: "gradient/branch-not-taken-times-zero",
        class: Class::Gradient,
        title: "The branch that select does not take is multiplied by 0, so an infinity there becomes NaN.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| {
                let chosen = partials(f, x, r);
                if f == Function::Select { chosen.map(|partial| partial.or(Some(0.0))) } else { chosen }
            };
        },
    },
    Fault {
        id: "gradient/power-at-zero",
        class: Class::Gradient,
        title: "The gradient of a power with exponent 0 is 0 times infinity.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| match (f, x) {
                (Function::Power, &[a, b]) => [Some(b * a.powf(b - 1.0)), Some(r * a.ln()), None],
                _ => partials(f, x, r),
            };
        },
    },
    Fault {
        id: "gradient/power-of-the-absolute-base",
        class: Class::Gradient,
        title: "The gradient of a power by a negative base is that by its absolute value.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| match (f, x) {
                (Function::Power, &[a, _]) if a < 0.0 => partials(f, &[-a, x[1]], r.abs()),
                _ => partials(f, x, r),
            };
        },
    },
    Fault {
        id: "gradient/power-of-an-even-exponent",
        class: Class::Gradient,
        title: "The gradient of a power with an exponent that has no ones digit lacks the sign of the base.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| match (f, x) {
                (Function::Power, &[a, b]) if a < 0.0 && b.abs() >= 2f64.powi(53) => {
                    let [_, by_exponent, _] = partials(f, x, r);
                    let [by_base, ..] = partials(f, &[-a, b], r);
                    [by_base, by_exponent, None]
                }
                _ => partials(f, x, r),
            };
        },
    },
    Fault {
        id: "gradient/loser-times-zero",
        class: Class::Gradient,
        title: "The argument that a maximum or minimum does not take is multiplied by 0, so an infinity becomes NaN.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| match f {
                Function::Maximum | Function::Minimum => {
                    partials(f, x, r).map(|partial| partial.or(Some(0.0)))
                }
                _ => partials(f, x, r),
            };
        },
    },
    Fault {
        id: "gradient/loser-beside-a-nan",
        class: Class::Gradient,
        title: "A maximum or minimum with a NaN passes no gradient on, because neither argument is taken.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| match f {
                Function::Maximum | Function::Minimum if x.iter().any(|x| x.is_nan()) => [None; 3],
                _ => partials(f, x, r),
            };
        },
    },
    Fault {
        id: "gradient/abs-at-zero",
        class: Class::Gradient,
        title: "The gradient of abs at 0 is 1.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| {
                let sign = if x[0].is_nan() { x[0] } else { 1f64.copysign(x[0]) };
                with(f, x, r, Function::Abs, [Some(sign), None, None])
            };
        },
    },
    Fault {
        id: "gradient/of-comparisons",
        class: Class::Gradient,
        title: "The gradient of a comparison is 0 instead of a refusal.",
        reports: &[],
        plant: |d| d.types.smooth_root = |dtype| dtype.is_float() || dtype == DType::Bool,
    },
    Fault {
        id: "gradient/condition-of-the-operand-refused",
        class: Class::Gradient,
        title: "A select whose condition contains the operand is refused.",
        reports: &[],
        plant: |d| d.types.condition_of_w = false,
    },
    Fault {
        id: "gradient/condition-as-a-number",
        class: Class::Gradient,
        title: "The condition of select is differentiated as if it were a number, and a comparison as a difference.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| {
                let chosen = partials(f, x, r);
                if f == Function::Select {
                    [Some(x[1] - x[2]), chosen[1], chosen[2]]
                } else if matches!(f, Function::Less | Function::LessEqual) {
                    [Some(-1.0), Some(1.0), None]
                } else if matches!(f, Function::Greater | Function::GreaterEqual) {
                    [Some(1.0), Some(-1.0), None]
                } else {
                    chosen
                }
            };
        },
    },
    Fault {
        id: "gradient/select-takes-both-branches",
        class: Class::Gradient,
        title: "The gradient of select reaches both branches, whatever the condition is.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| with(f, x, r, Function::Select, [None, Some(1.0), Some(1.0)]);
        },
    },
    Fault {
        id: "gradient/select-of-the-operand-alone",
        class: Class::Gradient,
        title: "The gradient of select only reaches the branch that is taken if the condition is true.",
        reports: &[],
        plant: |d| {
            d.adjoint.partials = |f, x, r| {
                let taken = (x[0] != 0.0).then_some(1.0);
                with(f, x, r, Function::Select, [None, taken, None])
            };
        },
    },
];
