//! Destinations: which fit, in which order elements are read and written, and where they go.

use super::{invented, report};
use crate::engine::adjoint::weight_shape;
use crate::engine::blocks::unravel;
use crate::engine::into::{Fit, blocks, neighbours, place, row_major};
use crate::{Class, Fault};
use broadcheck_spec::{Operand, RefusalKind};

/// The refusal of a destination that does not fit, unless it has the length 1 there.
fn longer_than_one(fit: &Fit<'_>) -> Option<(RefusalKind, Option<usize>)> {
    match weight_shape(fit.destination, fit.common) {
        Some((RefusalKind::DimensionMismatch, Some(axis))) if fit.destination[axis] == 1 => None,
        other => other,
    }
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "into/element-by-element",
        class: Class::Into,
        title: "Each element is written before the next is computed, also if an operand overlaps the destination.",
        reports: &[report("numpy", "https://github.com/numpy/numpy/issues/1683")],
        plant: |d| d.into.parts = |writing| neighbours(writing.count, 1),
    },
    invented(
        "into/backwards",
        Class::Into,
        "Each element is written before the one in front of it is computed.",
        |d| {
            d.into.parts = |writing| {
                let mut parts = neighbours(writing.count, 1);
                parts.reverse();
                parts
            };
        },
    ),
    invented(
        "into/vectors-of-four",
        Class::Into,
        "Four elements are written before the next four are computed.",
        |d| d.into.parts = |writing| neighbours(writing.count, 4),
    ),
    invented(
        "into/row-by-row",
        Class::Into,
        "A row is written before the next is computed: right for an operand that overlaps itself within rows.",
        |d| {
            d.into.parts = |writing| match writing.result {
                [_, .., row] => neighbours(writing.count, *row),
                _ => vec![(0..writing.count).collect()],
            };
        },
    ),
    invented(
        "into/overlap-by-first-element",
        Class::Into,
        "Operands overlap the destination only if they begin at the same element.",
        |d| {
            d.into.parts = |writing| {
                let first = writing.destination.offset();
                if writing.sharing().any(|operand| operand.offset() == first) {
                    vec![(0..writing.count).collect()]
                } else {
                    neighbours(writing.count, 1)
                }
            };
        },
    ),
    invented(
        "into/forwards-if-the-operand-is-behind",
        Class::Into,
        "The order of a memory move: backwards if the operand begins before the destination, otherwise forwards.",
        |d| {
            d.into.parts = |writing| {
                let first = writing.destination.offset();
                let is_before = writing.sharing().any(|operand| operand.offset() < first);
                let mut parts = neighbours(writing.count, 1);
                if is_before {
                    parts.reverse();
                }
                parts
            };
        },
    ),
    invented(
        "into/blocks-of-8192",
        Class::Into,
        "A block of 8192 elements is written before the next is computed.",
        |d| d.into.parts = |writing| blocks(writing.count, 8192),
    ),
    invented(
        "into/blocks-of-1024-backwards",
        Class::Into,
        "A block of 1024 elements is written before the one in front of it is computed.",
        |d| {
            d.into.parts = |writing| {
                let mut parts = blocks(writing.count, 1024);
                parts.reverse();
                parts
            };
        },
    ),
    invented(
        "into/blocks-for-an-operand-backwards",
        Class::Into,
        "If an operand reads the buffer backwards, 8192 elements are written before the next are computed.",
        |d| {
            d.into.parts = |writing| {
                let is_backwards = |operand: &Operand| {
                    operand.strides().is_some_and(|strides| strides.iter().any(|&stride| stride < 0))
                };
                let most = if writing.sharing().any(is_backwards) { 8192 } else { writing.count };
                blocks(writing.count, most)
            };
        },
    ),
    invented(
        "into/rest-after-1024-not-written",
        Class::Into,
        "The elements after the last whole 1024 are not written.",
        |d| {
            d.into.parts = |writing| {
                let whole = writing.count / 1024 * 1024;
                vec![(0..if whole == 0 { writing.count } else { whole }).collect()]
            };
        },
    ),
    invented(
        "into/second-8192-over-the-first",
        Class::Into,
        "Beyond 8192 elements, the places of the first ones are written again.",
        |d| {
            d.into.place = |destination, index| {
                let lengths = destination.shape().lengths();
                let number =
                    index.iter().zip(lengths).fold(0, |number, (&step, &length)| number * length + step);
                if number < 8192 {
                    place(destination, index)
                } else {
                    place(destination, &unravel(number % 8192, lengths))
                }
            };
        },
    ),
    invented(
        "into/strides-ignored",
        Class::Into,
        "The destination is written as a dense array from its first element on.",
        |d| {
            d.into.place = |destination, index| {
                let steps = index.iter().zip(row_major(destination));
                let steps = steps.map(|(&step, stride)| step as i128 * i128::from(stride)).sum::<i128>();
                usize::try_from(destination.offset() as i128 + steps).ok()
            };
        },
    ),
    invented(
        "into/offset-ignored",
        Class::Into,
        "The destination is written from the start of its buffer.",
        |d| {
            d.into.place = |destination, index| place(destination, index)?.checked_sub(destination.offset());
        },
    ),
    invented(
        "into/negative-strides-positive",
        Class::Into,
        "A destination with negative strides is written forwards.",
        |d| {
            d.into.place = |destination, index| {
                let strides = destination.strides()?.iter().map(|stride| i128::from(*stride).abs());
                let steps =
                    index.iter().zip(strides).map(|(&step, stride)| step as i128 * stride).sum::<i128>();
                usize::try_from(destination.offset() as i128 + steps).ok()
            };
        },
    ),
    invented(
        "into/transposed-square",
        Class::Into,
        "A destination of as many rows as columns is written transposed.",
        |d| {
            d.into.place = |destination, index| match (destination.shape().lengths(), index) {
                ([rows, columns], &[row, column]) if rows == columns => place(destination, &[column, row]),
                _ => place(destination, index),
            };
        },
    ),
    invented(
        "into/gaps-cleared",
        Class::Into,
        "The places of the buffer between the elements of the destination become those of its first element.",
        |d| {
            d.into.finished = |_, mut after, places| {
                let (Some(&low), Some(&high)) = (places.iter().min(), places.iter().max()) else {
                    return after;
                };
                let first = after[places[0]];
                for (place, slot) in after.iter_mut().enumerate().take(high).skip(low) {
                    if !places.contains(&place) {
                        *slot = first;
                    }
                }
                after
            };
        },
    ),
    invented(
        "into/one-place-too-far",
        Class::Into,
        "A whole vector is stored at the end, which changes the place after the last element.",
        |d| {
            d.into.finished = |_, mut after, places| {
                if let Some(&high) = places.iter().max()
                    && high + 1 < after.len()
                {
                    after[high + 1] = after[high];
                }
                after
            };
        },
    ),
    invented("into/last-element-missing", Class::Into, "The last element is not written.", |d| {
        d.into.finished = |before, mut after, places| {
            if let Some(&last) = places.last() {
                after[last] = before[last];
            }
            after
        };
    }),
    invented("into/not-written", Class::Into, "The destination stays as it was.", |d| {
        d.into.parts = |_| Vec::new();
    }),
    Fault {
        id: "into/destination-stretched",
        class: Class::Into,
        title: "A destination of length 1 takes a longer result, of which the last element stays.",
        reports: &[report("libgpuarray", "https://github.com/Theano/libgpuarray/issues/205")],
        plant: |d| {
            d.into.shape = longer_than_one;
            d.into.place = |destination, index| {
                let lengths = destination.shape().iter();
                let inside: Vec<usize> =
                    index.iter().zip(lengths).map(|(&step, &length)| step.min(length.max(1) - 1)).collect();
                place(destination, &inside)
            };
        },
    },
    Fault {
        id: "into/result-cut",
        class: Class::Into,
        title: "A destination of length 1 takes a longer result, of which the first element is written.",
        reports: &[report("numba", "https://github.com/numba/numba/issues/9166")],
        plant: |d| {
            d.into.shape = longer_than_one;
            d.into.place = |destination, index| {
                let is_inside =
                    index.iter().zip(destination.shape().iter()).all(|(step, length)| step < length);
                if is_inside { place(destination, index) } else { None }
            };
        },
    },
    invented(
        "into/leading-ones-dropped",
        Class::Into,
        "A result with more axes than the destination is accepted if they have length 1, as in an assignment.",
        |d| {
            d.into.shape = |fit| {
                let more = fit.common.len() - fit.destination.len();
                let (leading, rest) = fit.common.split_at(more);
                if rest == fit.destination && leading.iter().all(|&length| length == 1) {
                    None
                } else {
                    weight_shape(fit.destination, fit.common)
                }
            };
            d.into.place =
                |destination, index| place(destination, &index[index.len() - destination.rank()..]);
        },
    ),
    invented(
        "into/takes-no-part",
        Class::Into,
        "The destination must have the common shape of the other operands, and may not be larger.",
        |d| {
            d.into.shape = |fit| {
                let alone = fit.others.is_empty();
                weight_shape(fit.destination, if alone { fit.common } else { fit.others })
            };
        },
    ),
    invented(
        "into/mismatch-at-the-last-axis",
        Class::Into,
        "Of several axes on which the destination does not fit, the last one is reported.",
        |d| {
            d.into.shape = |fit| {
                let (kind, axis) = weight_shape(fit.destination, fit.common)?;
                let last = fit.destination.iter().zip(fit.common).rposition(|(one, other)| one != other);
                Some((kind, axis.and(last)))
            };
        },
    ),
    invented("into/dtype-not-checked", Class::Into, "A destination may have any dtype.", |d| {
        d.into.dtype = |_, _| true;
    }),
];
