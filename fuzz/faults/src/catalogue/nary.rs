//! More than two operands, and operands that are used several times or not at all.

use super::report;
use crate::engine::strides::stretched;
use crate::{Class, Fault};
use broadcheck_spec::RuleSet;

/// The first 32, and then as many as fit beside the result so far.
fn blocks_of_32(lengths: &[usize]) -> impl Iterator<Item = &[usize]> {
    let (first, others) = lengths.split_at(lengths.len().min(32));
    std::iter::once(first).chain(others.chunks(31))
}

pub(super) static FAULTS: &[Fault] = &[
    Fault {
        id: "nary/two-at-most",
        class: Class::Nary,
        title: "numpy accepts at most two operands.",
        reports: &[],
        plant: |d| {
            d.shapes.operand_count =
                |set, count| set.operands().allows(count) && !(set == RuleSet::Numpy && count > 2);
        },
    },
    Fault {
        id: "nary/each-against-the-first",
        class: Class::Nary,
        title: "Each operand is compared only with the first: (1), (2), (3) are accepted.",
        reports: &[],
        plant: |d| {
            d.shapes.all = |lengths, common| {
                let pairs = lengths.iter().map(|&length| common(lengths[0], length));
                pairs.collect::<Option<Vec<usize>>>()?.into_iter().find(|&length| length != 1).or(Some(1))
            };
        },
    },
    Fault {
        id: "nary/each-against-the-one-before",
        class: Class::Nary,
        title: "Each operand is compared only with the one before it: (2), (1), (3) are accepted.",
        reports: &[],
        plant: |d| {
            d.shapes.all = |lengths, common| {
                lengths.windows(2).try_for_each(|pair| common(pair[0], pair[1]).map(|_| ()))?;
                lengths.iter().copied().find(|&length| length != 1).or(Some(1))
            };
        },
    },
    Fault {
        id: "nary/length-of-the-last-pair",
        class: Class::Nary,
        title: "The result has the common length of the last two operands.",
        reports: &[],
        plant: |d| {
            d.shapes.all = |lengths, common| {
                lengths.iter().try_fold(1, |so_far, &length| common(so_far, length))?;
                let last = &lengths[lengths.len().saturating_sub(2)..];
                last.iter().try_fold(1, |so_far, &length| common(so_far, length))
            };
        },
    },
    Fault {
        id: "nary/blocks-of-32",
        class: Class::Nary,
        title: "Shapes are folded in blocks of 32 operands, and each block forgets the ones before it.",
        reports: &[report("numpy", "https://github.com/numpy/numpy/issues/5862")],
        plant: |d| {
            d.shapes.all = |lengths, common| {
                let mut folded = Some(1);
                for block in blocks_of_32(lengths) {
                    folded = block.iter().try_fold(1, |so_far, &length| common(so_far, length));
                    folded?;
                }
                folded
            };
        },
    },
    Fault {
        id: "nary/blocks-not-compared",
        class: Class::Nary,
        title: "Lengths are compared within blocks of 32 operands, but not between them.",
        reports: &[],
        plant: |d| {
            d.shapes.all = |lengths, common| {
                let of_block =
                    |block: &[usize]| block.iter().try_fold(1, |so_far, &length| common(so_far, length));
                let folded: Vec<usize> = blocks_of_32(lengths).map(of_block).collect::<Option<_>>()?;
                folded.into_iter().find(|&length| length != 1).or(Some(1))
            };
        },
    },
    Fault {
        id: "nary/32-take-part",
        class: Class::Nary,
        title: "Which operands take part is stored in 32 bits, and later operands are ignored for the common shape.",
        reports: &[],
        plant: |d| {
            d.shapes.all = |lengths, common| {
                lengths.iter().take(32).try_fold(1, |so_far, &length| common(so_far, length))
            };
        },
    },
    Fault {
        id: "nary/unread-takes-no-part",
        class: Class::Nary,
        title: "An operand that the expression does not use is ignored for the common shape.",
        reports: &[],
        plant: |d| d.shapes.takes_part = |read| read,
    },
    Fault {
        id: "nary/third-not-stretched",
        class: Class::Nary,
        title: "From the third operand on, a stretched 1 is traversed as if it were long.",
        reports: &[],
        plant: |d| {
            d.strides.over_result = |readings, operand| match operand {
                0 | 1 => stretched(&readings[operand]),
                _ => readings[operand].strides.clone(),
            };
        },
    },
    Fault {
        id: "nary/eight-registers",
        class: Class::Nary,
        title: "There are eight registers, and the ninth operand is loaded into the first.",
        reports: &[],
        plant: |d| d.blocks.register = |operand| operand % 8,
    },
    Fault {
        id: "nary/collapse-looks-at-two",
        class: Class::Nary,
        title: "Axes are collapsed by the strides of only the first two operands.",
        reports: &[],
        plant: |d| d.collapse.merges = |even| even.iter().take(2).all(|&even| even),
    },
    Fault {
        id: "nary/name-used-twice",
        class: Class::Nary,
        title: "A function overwrites the register of its first operand, which is stale if the operand is used again.",
        reports: &[],
        plant: |d| d.evaluate.overwrites = |_| true,
    },
];
