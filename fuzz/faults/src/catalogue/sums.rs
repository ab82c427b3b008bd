//! How a gradient is reduced: which axes, in which blocks, in which dtype, and what contributes.

use super::invented;
use crate::engine::adjoint::{Along, Partials, Spread, partials};
use crate::engine::convert::{as_f64, convert};
use crate::{Class, Fault};
use broadcheck_spec::{DType, Function, Scalar};

const G: Class = Class::Sums;

/// A fault in a sum along an axis: the terms that are summed, from all of them.
macro_rules! terms {
    (|$values:ident, $along:pat_param| $terms:expr) => {
        |d| {
            d.adjoint.along = |$values, sum, along| {
                let $along = along;
                let terms: Vec<f64> = $terms;
                sum(&terms, along.dtype)
            }
        }
    };
}

/// A fault in the derivatives of one function.
macro_rules! derivative {
    ($of:pat, |$arguments:ident, $r:ident| $body:expr) => {
        |d| {
            d.adjoint.partials = |function, $arguments, $r| {
                let other: Option<Partials> = match function {
                    $of => (|| $body)(),
                    _ => None,
                };
                other.unwrap_or_else(|| partials(function, $arguments, $r))
            }
        }
    };
}

fn rounded(value: f64, dtype: DType) -> f64 {
    as_f64(convert(Scalar::F64(value), dtype))
}

/// Sums in a dtype.
fn accumulated(values: &[f64], dtype: DType) -> f64 {
    values.iter().fold(0.0, |so_far, &value| rounded(so_far + value, dtype))
}

/// The elements after the axis.
fn columns(along: &Along<'_>) -> usize {
    along.shape[along.axis + 1..].iter().product()
}

/// The rows before the axis.
fn rows(along: &Along<'_>) -> usize {
    along.shape[..along.axis].iter().product()
}

fn is_wide(spread: &Spread<'_>) -> bool {
    spread.lengths.iter().filter(|&&length| length > 1).count() > 1
}

pub(super) static FAULTS: &[Fault] = &[
    invented(
        "sums/beyond-64",
        G,
        "A sum has 64 threads, each of which takes one term; further terms are lost.",
        terms!(|values, _| values.iter().copied().take(64).collect()),
    ),
    invented(
        "sums/second-level-lost",
        G,
        "Partial sums of 32 terms are themselves summed 32 at a time, and only the first of those sums is returned.",
        terms!(|values, _| values.iter().copied().take(1024).collect()),
    ),
    invented(
        "sums/power-of-two",
        G,
        "A sum by halves takes the largest power of two of the terms, if there are more than four.",
        terms!(|values, _| {
            let count = if values.len() > 4 { 1 << values.len().ilog2() } else { values.len() };
            values[..count].to_vec()
        }),
    ),
    invented(
        "sums/odd-middle",
        G,
        "A sum by halves leaves out the middle of an odd number of terms, if there are more than eight.",
        terms!(|values, _| {
            let middle = values.len() / 2;
            let odd = values.len() > 8 && values.len() % 2 == 1;
            values.iter().enumerate().filter(|&(place, _)| !odd || place != middle).map(|(_, &v)| v).collect()
        }),
    ),
    invented(
        "sums/tail-twice",
        G,
        "A tail of one term after vectors of eight is added twice.",
        terms!(|values, _| {
            let twice = values.len() > 8 && values.len() % 8 == 1;
            let again = values.last().copied().filter(|_| twice);
            values.iter().copied().chain(again).collect()
        }),
    ),
    invented(
        "sums/end-of-a-row-again",
        G,
        "A sum ends with a vector of eight that overlaps the one before, whose terms are added again.",
        terms!(|values, _| {
            let (count, rest) = (values.len(), values.len() % 8);
            let again = if count > 8 && rest > 0 { &values[count - 8..count - rest] } else { &[] };
            values.iter().chain(again).copied().collect()
        }),
    ),
    invented(
        "sums/end-of-a-row-from-the-next",
        G,
        "A sum along the last axis reads vectors of eight, the last of which goes on into the next row: its first terms are added, too.",
        |d| {
            d.adjoint.arrived = |mut values, spread| {
                let Some((&length, outer)) = spread.result.split_last() else { return values };
                let missing = length.next_multiple_of(8) - length;
                if spread.is_summed(outer.len()) && length > 8 {
                    for end in (length..values.len()).step_by(length) {
                        // Fewer than eight terms, so never the last one of the next row, which changes, too.
                        values[end - 1] += values[end..end + missing].iter().sum::<f64>();
                    }
                }
                values
            };
        },
    ),
    invented(
        "sums/end-of-nothing-summed-again",
        G,
        "A gradient that nothing is summed for is added to zeros, and its last vector of eight overlaps the one before.",
        |d| {
            d.adjoint.arrived = |mut values, spread| {
                let (count, rest) = (values.len(), values.len() % 8);
                let mut axes = spread.result.iter().enumerate();
                let any = axes.any(|(axis, &length)| spread.is_summed(axis) && length > 1);
                if !any && count > 8 && rest > 0 {
                    values[count - 8..count - rest].iter_mut().for_each(|value| *value += *value);
                }
                values
            };
        },
    ),
    invented(
        "sums/tail-of-rows",
        G,
        "If the summed axis is the first, rows are added four at a time, and the remaining ones are lost.",
        terms!(|values, along| {
            let whole = values.len() / 4 * 4;
            let applies = along.axis == 0 && columns(along) > 1 && whole > 0;
            values[..if applies { whole } else { values.len() }].to_vec()
        }),
    ),
    invented(
        "sums/tail-of-columns",
        G,
        "If the summed axis is not the last, the columns after the last whole eight have only their first term.",
        terms!(|values, along| {
            let whole = columns(along) / 8 * 8;
            let applies = whole > 0 && along.inner >= whole;
            values[..if applies { 1.min(values.len()) } else { values.len() }].to_vec()
        }),
    ),
    invented(
        "sums/beyond-sixteen-rows",
        G,
        "Of the sums along the last axis, those after the sixteenth are not computed.",
        terms!(|values, along| if along.outer < 16 { values.to_vec() } else { Vec::new() }),
    ),
    invented(
        "sums/rows-in-pairs",
        G,
        "Sums along the last axis are computed two at a time, and the last of an odd number is the one before.",
        |d| {
            d.adjoint.finished = |mut values, spread| {
                let last = spread.lengths.last() == Some(&1) && spread.result.last().is_some_and(|&n| n > 1);
                if let [.., before, value] = &mut values[..]
                    && last
                    && spread.lengths.len() == spread.result.len()
                    && spread.lengths.iter().product::<usize>() % 2 == 1
                {
                    *value = *before;
                }
                values
            };
        },
    ),
    invented(
        "sums/third-axis-not-summed",
        G,
        "A sum takes at most two axes; along a third, the first element is returned.",
        terms!(|values, along| {
            let beyond = along.before >= 2;
            values[..if beyond { 1.min(values.len()) } else { values.len() }].to_vec()
        }),
    ),
    invented(
        "sums/middle-axis-by-its-neighbour",
        G,
        "A sum along an axis in the middle has as many terms as the next axis is long, if that is shorter.",
        terms!(|values, along| {
            let next = along.shape.get(along.axis + 1).copied().unwrap_or(usize::MAX);
            let middle = along.axis > 0 && rows(along) > 1 && next > 1;
            values[..if middle { next.min(values.len()) } else { values.len() }].to_vec()
        }),
    ),
    invented(
        "sums/stretched-and-missing",
        G,
        "If axes are both missing and stretched, the last term along each stretched axis is lost.",
        terms!(|values, along| {
            let lost = along.own && along.before > 0 && values.len() > 1;
            values[..values.len() - usize::from(lost)].to_vec()
        }),
    ),
    invented(
        "sums/axes-exchanged",
        G,
        "The two axes around a summed axis are exchanged if they are of equal length.",
        |d| {
            d.adjoint.finished = |values, spread| match *spread.lengths {
                [n, 1, m] if n == m && n > 1 && values.len() == n * m => {
                    (0..n * m).map(|place| values[place % n * n + place / n]).collect()
                }
                _ => values,
            };
        },
    ),
    invented(
        "sums/first-row-only",
        G,
        "If the first axis is summed over and two axes remain, only the first row receives its sum.",
        |d| {
            d.adjoint.finished = |mut values, spread| {
                let missing = spread.lengths.len() < spread.result.len();
                let columns = spread.lengths.last().copied().unwrap_or(1);
                if missing && is_wide(spread) {
                    values.iter_mut().skip(columns).for_each(|value| *value = 0.0);
                }
                values
            };
        },
    ),
    invented("sums/accumulated-in-f32", G, "The sums of f64 are accumulated in f32.", |d| {
        d.adjoint.along = |values, sum, along| match along.dtype {
            DType::F64 => accumulated(values, DType::F32),
            _ => sum(values, along.dtype),
        };
    }),
    invented("sums/accumulated-in-bf16", G, "The sums of f32 are accumulated in bf16.", |d| {
        d.adjoint.along = |values, sum, along| match along.dtype {
            DType::F32 => accumulated(values, DType::Bf16),
            _ => sum(values, along.dtype),
        };
    }),
    invented(
        "sums/accumulated-in-f16",
        G,
        "The sums of bf16 are accumulated in f16, which overflows.",
        |d| {
            d.adjoint.along = |values, sum, along| match along.dtype {
                DType::Bf16 => accumulated(values, DType::F16),
                _ => sum(values, along.dtype),
            };
        },
    ),
    invented(
        "sums/accumulated-in-integers",
        G,
        "Sums of more than 32 terms are accumulated in fixed point with 8 bits after the point.",
        |d| {
            d.adjoint.along = |values, sum, along| match values.len() {
                33.. => values.iter().map(|value| (value * 256.0).round() / 256.0).sum(),
                _ => sum(values, along.dtype),
            };
        },
    ),
    invented("sums/empty-is-one", G, "A sum of no contributions is 1, as for a product.", |d| {
        d.adjoint.sum = |values, _| if values.is_empty() { 1.0 } else { values.iter().sum() }
    }),
    invented(
        "sums/nan-skipped",
        G,
        "NaN is skipped in sums of several terms.",
        terms!(|values, _| values
            .iter()
            .copied()
            .filter(|value| values.len() < 2 || !value.is_nan())
            .collect()),
    ),
    invented(
        "sums/masked-sum",
        G,
        "Infinite contributions are masked in sums of several terms.",
        terms!(|values, _| {
            values.iter().copied().filter(|value| values.len() < 2 || !value.is_infinite()).collect()
        }),
    ),
    invented(
        "sums/cancelled-contributions",
        G,
        "Equal contributions of two uses of an operand are added once.",
        |d| {
            d.adjoint.occurrences = |so_far, next| {
                if so_far.to_bits() == next.to_bits() { so_far } else { so_far + next }
            };
        },
    ),
    invented(
        "sums/larger-contribution",
        G,
        "Of the contributions of two uses of an operand, the later one is subtracted if it is larger.",
        |d| {
            d.adjoint.occurrences = |so_far, next| {
                if so_far != 0.0 && next.abs() > so_far.abs() { so_far - next } else { so_far + next }
            };
        },
    ),
    invented(
        "sums/second-branch-of-select",
        G,
        "The second branch of select receives no gradient.",
        derivative!(Function::Select, |arguments, _r| (arguments[0] == 0.0).then_some([None; 3])),
    ),
    invented(
        "sums/minimum-with-the-mask-of-maximum",
        G,
        "The gradient of minimum flows to the larger argument.",
        derivative!(Function::Minimum, |arguments, r| {
            let different = arguments[0].partial_cmp(&arguments[1]).is_some_and(std::cmp::Ordering::is_ne);
            different.then(|| partials(Function::Maximum, arguments, r))
        }),
    ),
    invented(
        "sums/nan-extreme-without-gradient",
        G,
        "If an argument of maximum or minimum is NaN, neither receives a gradient.",
        derivative!(Function::Maximum | Function::Minimum, |arguments, _r| {
            arguments.iter().any(|argument| argument.is_nan()).then_some([Some(0.0), Some(0.0), None])
        }),
    ),
    invented(
        "sums/root-at-zero",
        G,
        "The gradient of sqrt at 0 is 0 instead of infinity.",
        derivative!(Function::Sqrt, |arguments, _r| (arguments[0] == 0.0).then_some([Some(0.0), None, None])),
    ),
    invented(
        "sums/tanh-from-its-argument",
        G,
        "The gradient of tanh is computed from its argument instead of its result.",
        derivative!(Function::Tanh, |arguments, _r| {
            Some([Some(1.0 - arguments[0] * arguments[0]), None, None])
        }),
    ),
    invented(
        "sums/power-by-quotient",
        G,
        "The gradient of a power is b * r / a, which is NaN for the base 0.",
        derivative!(Function::Power, |arguments, r| {
            let [a, b] = arguments[..] else { return None };
            let [_, by_b, _] = partials(Function::Power, arguments, r);
            (a == 0.0).then_some([Some(b * r / a), by_b, None])
        }),
    ),
    invented(
        "sums/exponent-at-zero",
        G,
        "The gradient of a power with respect to its exponent is NaN for the base 0.",
        derivative!(Function::Power, |arguments, r| {
            let [by_a, _, _] = partials(Function::Power, arguments, r);
            (arguments[0] == 0.0).then_some([by_a, Some(r * arguments[0].ln()), None])
        }),
    ),
    invented(
        "sums/exponent-below-zero-at-zero",
        G,
        "The gradient of a power with respect to its exponent is 0 for the base 0, also if the exponent is negative.",
        derivative!(Function::Power, |arguments, r| {
            let [by_a, _, _] = partials(Function::Power, arguments, r);
            (arguments[0] == 0.0).then_some([by_a, Some(0.0), None])
        }),
    ),
    invented(
        "sums/logarithm-of-the-size",
        G,
        "The gradient of a power with respect to its exponent has the logarithm of the base without its sign.",
        derivative!(Function::Power, |arguments, r| {
            let [by_a, _, _] = partials(Function::Power, arguments, r);
            (arguments[0] < 0.0).then_some([by_a, Some(r * arguments[0].abs().ln()), None])
        }),
    ),
    invented(
        "sums/divisor-squared",
        G,
        "The gradient of a divisor is computed from its square, which overflows.",
        derivative!(Function::Divide, |arguments, _r| {
            let [a, b] = arguments[..] else { return None };
            Some([Some(1.0 / b), Some(-a / (b * b)), None])
        }),
    ),
    invented(
        "sums/abs-of-negative-zero",
        G,
        "The gradient of abs at -0 is -1.",
        derivative!(Function::Abs, |arguments, _r| {
            (arguments[0].to_bits() == (-0.0f64).to_bits()).then_some([Some(-1.0), None, None])
        }),
    ),
];
