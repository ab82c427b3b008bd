//! The rule set `repeat`: what is repeated, in which order, and what does not fit.

use super::invented;
use crate::engine::infer::onto;
use crate::{Class, Fault};

pub(super) static FAULTS: &[Fault] = &[
    invented(
        "alignment/repeat-each-element-in-turn",
        Class::Alignment,
        "Under repeat, each element of B is repeated before the next one, as in numpy.repeat.",
        |d| d.repeat.inner = |whole, length| (whole / length, false),
    ),
    invented(
        "lengths/repeat-of-ones-only",
        Class::Lengths,
        "Under repeat, a length of B other than 1 must be A's.",
        |d| d.repeat.fits = |whole, length| length == 1 || length == whole,
    ),
    invented(
        "lengths/repeat-compares-the-wrong-way",
        Class::Lengths,
        "Under repeat, an A of length 0 takes only a B of length 0 or 1.",
        |d| {
            d.repeat.fits = |whole, length| match (whole, length) {
                (0, length) => length <= 1,
                (_, 0) => false,
                (whole, length) => whole % length == 0,
            };
        },
    ),
    invented(
        "refusal/repeat-rightmost-mismatch-reported",
        Class::Refusal,
        "Under repeat, a refusal names the last axis that fails.",
        |d| d.repeat.reported = |failing| failing[failing.len() - 1],
    ),
    invented(
        "direction/repeat-takes-a-fifth-axis",
        Class::Direction,
        "Under repeat, tensors of any rank are accepted.",
        |d| d.repeat.rank = |_| true,
    ),
    invented(
        "direction/repeat-refuses-a-higher-rank",
        Class::Direction,
        "Under repeat, a B of a higher rank than A's is refused, although its first lengths are 1.",
        |d| d.repeat.beyond = <[usize]>::is_empty,
    ),
    invented(
        "direction/repeat-drops-the-first-axes-of-b",
        Class::Direction,
        "Under repeat, the axes that only B has are dropped, whatever their lengths.",
        |d| d.repeat.beyond = |lengths| !lengths.contains(&0),
    ),
    invented(
        "lengths/repeat-compares-without-elements",
        Class::Lengths,
        "Under repeat, the lengths of A and B are compared even if neither has elements.",
        |d| d.repeat.empty = |_, _| false,
    ),
    invented(
        "lengths/repeat-never-compares-onto-nothing",
        Class::Lengths,
        "Under repeat, every B is accepted for an A without elements.",
        |d| d.repeat.empty = |a, _| a,
    ),
    invented(
        "infer/repeat-inferred-like-numpy",
        Class::Infer,
        "Under repeat, what is inferred before the run is what numpy's rules say.",
        |d| d.repeat.inferred = |whole, length| onto(whole, length).map(|axis| axis.length),
    ),
];
