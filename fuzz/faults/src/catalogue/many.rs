//! Three or more operands, and high ranks: what is right for two operands and wrong for the next.

use super::invented;
use crate::engine::strides::stretched;
use crate::{Class, Fault};

const M: Class = Class::ManyOperands;

pub(super) static FAULTS: &[Fault] = &[
    invented(
        "many-operands/fourth-length-unchecked",
        M,
        "Lengths are compared for the first three operands only.",
        |d| {
            d.shapes.all = |lengths, common| {
                let checked = lengths.iter().take(3).try_fold(1, |so_far, &length| common(so_far, length))?;
                Some(
                    lengths
                        .iter()
                        .skip(3)
                        .fold(checked, |so_far, &length| common(so_far, length).unwrap_or(so_far)),
                )
            };
        },
    ),
    invented(
        "many-operands/fifth-does-not-stretch",
        M,
        "The result has the common lengths of the first four operands, although a fifth is longer.",
        |d| {
            d.shapes.all = |lengths, common| {
                lengths.iter().try_fold(1, |so_far, &length| common(so_far, length))?;
                lengths.iter().take(4).try_fold(1, |so_far, &length| common(so_far, length))
            };
        },
    ),
    invented(
        "many-operands/zero-among-three",
        M,
        "With three or more operands, a length of 0 is skipped like a 1.",
        |d| {
            d.shapes.all = |lengths, common| {
                let others = lengths.iter().filter(|&&length| length != 0 || lengths.len() < 3);
                let found = others.copied().try_fold(1, common)?;
                if found == 1 { lengths.iter().copied().try_fold(1, common) } else { Some(found) }
            };
        },
    ),
    invented(
        "many-operands/unused-beyond-the-second",
        M,
        "An operand after the second that the expression does not use is ignored for the common shape.",
        |d| {
            d.shapes.given = |mut shapes, used| {
                for (place, shape) in shapes.iter_mut().enumerate().skip(2) {
                    if !used[place] {
                        shape.clear();
                    }
                }
                shapes
            };
        },
    ),
    invented(
        "many-operands/unused-between-others",
        M,
        "An unused operand between two used ones is ignored for the common shape.",
        |d| {
            d.shapes.given = |mut shapes, used| {
                for place in 1..shapes.len().saturating_sub(1) {
                    if !used[place] {
                        shapes[place].clear();
                    }
                }
                shapes
            };
        },
    ),
    invented(
        "many-operands/third-aligned-on-the-left",
        M,
        "The third of three operands is aligned on the left.",
        |d| {
            d.shapes.missing = |shapes, operand, rank| match operand {
                2 => 0,
                _ => rank.saturating_sub(shapes[operand].len()),
            };
        },
    ),
    invented(
        "many-operands/rank-of-the-first-two",
        M,
        "The axes of a third operand of a higher rank are dropped if their lengths are 1.",
        |d| {
            d.shapes.given = |mut shapes, _| {
                let rank = shapes.iter().take(2).map(Vec::len).max().unwrap_or(0);
                for shape in shapes.iter_mut().skip(2) {
                    while shape.len() > rank && shape[0] == 1 {
                        shape.remove(0);
                    }
                }
                shapes
            };
        },
    ),
    invented(
        "many-operands/none-checks-three-ranks",
        M,
        "none compares the ranks of the first three operands.",
        |d| {
            d.shapes.equal_ranks = |shapes| shapes.iter().take(3).all(|shape| shape.len() == shapes[0].len());
        },
    ),
    invented(
        "many-operands/none-checks-neighbours",
        M,
        "none compares the lengths of the first with the second operand and of the third with the fourth.",
        |d| {
            d.shapes.equal_lengths =
                |lengths| lengths.chunks(2).all(|pair| pair.iter().all(|&a| a == pair[0]));
        },
    ),
    invented(
        "many-operands/theano-flag-of-the-fourth",
        M,
        "Under theano, the flags of the result are those of the first three operands.",
        |d| d.theano.result = |axes| axes.iter().take(3).all(|axis| axis.flag),
    ),
    invented(
        "many-operands/theano-violator-of-three",
        M,
        "With three or more operands, a flag violation names the first operand.",
        |d| d.theano.violator = |operand, count| if count > 2 { 0 } else { operand },
    ),
    invented(
        "many-operands/theano-fourth-is-stretched",
        M,
        "Under theano, a 1 of the fourth operand is stretched whatever its flag is.",
        |d| {
            d.theano.stretches = |flagged, _| flagged.flag || (flagged.operand >= 3 && flagged.length == 1);
        },
    ),
    invented(
        "many-operands/linear-if-three-are",
        M,
        "All operands are read linearly if the first three can be.",
        |d| {
            d.strides.flat = |readings, shape| {
                let dense = crate::engine::strides::row_major(shape);
                readings.iter().take(3).all(|reading| reading.lengths == shape && reading.strides == dense)
            };
        },
    ),
    invented(
        "many-operands/merged-if-three-are-even",
        M,
        "Axes are merged if the strides of the first three operands allow it.",
        |d| d.collapse.merges = |even| even.iter().take(3).all(|&even| even),
    ),
    invented(
        "many-operands/fourth-splat-read-as-dense",
        M,
        "From the fourth operand on, the loop for dense operands is used for one with stride 0.",
        |d| {
            d.blocks.at = |at| {
                let correct = crate::engine::blocks::at(at);
                if at.operand >= 3 && at.step == 0 { correct + at.place as i64 } else { correct }
            };
        },
    ),
    invented(
        "many-operands/third-outer-stride",
        M,
        "In the outermost of three loops, the third operand advances like the second.",
        |d| {
            d.collapse.finished = |mut nest| {
                if nest.axes.len() >= 3 && nest.offsets.len() >= 3 {
                    nest.axes[0].strides[2] = nest.axes[0].strides[1];
                }
                nest
            };
        },
    ),
    invented(
        "many-operands/offset-of-the-fourth",
        M,
        "From the fourth operand on, views are read from the beginning of their buffers.",
        |d| {
            d.strides.read = |readings, _| readings.iter_mut().skip(3).for_each(|reading| reading.offset = 0);
        },
    ),
    invented(
        "many-operands/sixteen-registers",
        M,
        "There are sixteen registers, and the seventeenth operand is loaded into the first.",
        |d| d.blocks.register = |operand| operand % 16,
    ),
    invented(
        "many-operands/fifth-register-shared",
        M,
        "From the fifth operand on, all operands share a register.",
        |d| d.blocks.register = |operand| operand.min(4),
    ),
    invented(
        "many-operands/five-axes",
        M,
        "The index has five axes; outer loops beyond them are not advanced for the second operand.",
        |d| {
            d.strides.lowered = |mut nest, _| {
                let beyond = nest.axes.len().saturating_sub(5);
                for axis in &mut nest.axes[..beyond] {
                    axis.strides.iter_mut().skip(1).for_each(|stride| *stride = 0);
                }
                nest
            };
        },
    ),
    invented(
        "many-operands/eight-axes",
        M,
        "The index has eight axes; outer loops beyond them are not advanced.",
        |d| {
            d.strides.lowered = |mut nest, _| {
                let beyond = nest.axes.len().saturating_sub(8);
                nest.axes[..beyond].iter_mut().for_each(|axis| axis.strides.fill(0));
                nest
            };
        },
    ),
    invented(
        "many-operands/ones-of-the-third",
        M,
        "If a third operand has several ones, only the last of them is stretched.",
        |d| {
            d.strides.over_result = |readings, operand| {
                let reading = &readings[operand];
                let mut strides = stretched(reading);
                let ones: Vec<usize> =
                    (0..strides.len()).filter(|&axis| reading.lengths[axis] == 1).collect();
                if operand >= 2
                    && let [first, .., _] = ones[..]
                {
                    strides[first] = reading.strides[first];
                }
                strides
            };
        },
    ),
];
