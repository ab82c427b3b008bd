//! Operands as views: transposed, reversed, sliced, with stride 0, overlapping, at an offset.

use super::choices::Choices;
use broadcheck_spec::Shape;

/// The layout of a view in its buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// One per axis, in elements.
    pub(super) strides: Vec<i64>,
    /// The position of the first element.
    pub(super) offset: usize,
    /// The length of the buffer.
    pub(super) length: usize,
}

/// How an axis is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Axis {
    Plain,
    Reversed,
    /// Every other element.
    Sliced,
    /// The same element repeatedly.
    Zero,
    /// A window that moves by less than its width.
    Overlapping,
}

/// How far a view of a few elements may reach; beyond that, no more gaps are left.
const ROOM: i64 = 1 << 9;

/// A shape with more elements than this is read from a single element.
const HUGE: usize = 1 << 20;

/// Draws a layout for this shape.
pub(super) fn layout(choices: &mut dyn Choices, shape: &[usize]) -> Layout {
    if shape.contains(&0) {
        return nothing(choices, shape);
    }
    let Some(count) = Shape::from(shape).count().filter(|&count| count <= HUGE) else {
        return Layout { strides: vec![0; shape.len()], offset: 0, length: 1 };
    };
    let room = ROOM.max(i64::try_from(4 * count).unwrap_or(ROOM));
    let mut strides = vec![0; shape.len()];
    let mut step = 1;
    let kind = choices.index(8);
    for &axis in &order(choices, shape.len(), kind) {
        let treated = treatment(choices, kind);
        let (stride, next) = placed(treated, step, shape[axis], room);
        strides[axis] = stride;
        step = next;
    }
    // The stride of an axis of length 1 is never used, so it may be anything.
    if choices.chance(1, 8)
        && let Some(single) = shape.iter().position(|&length| length == 1)
    {
        strides[single] = choices.one_of(&[i64::MAX, i64::MIN, -1, 0, 7]);
    }
    fitted(choices, shape, strides)
}

/// The order of the axes in memory, the innermost first.
fn order(choices: &mut dyn Choices, rank: usize, kind: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank).rev().collect();
    match kind {
        0 => order.reverse(),
        5..=7 => (1..rank).for_each(|at| order.swap(at, choices.index(at + 1))),
        _ => {}
    }
    order
}

fn treatment(choices: &mut dyn Choices, kind: usize) -> Axis {
    let only = match kind {
        0 | 5 => Axis::Plain,
        1 => Axis::Reversed,
        2 => Axis::Sliced,
        3 => Axis::Zero,
        4 => Axis::Overlapping,
        _ => choices.one_of(&[Axis::Plain, Axis::Reversed, Axis::Sliced, Axis::Zero, Axis::Overlapping]),
    };
    if kind <= 5 && kind != 0 && choices.chance(1, 3) { Axis::Plain } else { only }
}

/// The stride of an axis, and the step of the next axis outwards.
fn placed(treated: Axis, step: i64, length: usize, room: i64) -> (i64, i64) {
    let across = step.saturating_mul(i64::try_from(length).unwrap_or(1));
    match treated {
        Axis::Plain => (step, across),
        Axis::Reversed => (-step, across),
        Axis::Sliced if across > room => (step, across),
        Axis::Sliced => (2 * step, 2 * across),
        Axis::Zero => (0, step),
        Axis::Overlapping => (step, step),
    }
}

/// The offset and the buffer length for these strides, with some room before and after.
pub(super) fn fitted(choices: &mut dyn Choices, shape: &[usize], strides: Vec<i64>) -> Layout {
    let reach = |below: bool| -> usize {
        let axes =
            shape.iter().zip(&strides).filter(|&(&length, &stride)| length > 1 && (stride < 0) == below);
        axes.map(|(&length, &stride)| (length - 1) * usize::try_from(stride.unsigned_abs()).unwrap_or(0))
            .sum()
    };
    let offset = reach(true) + choices.index(3);
    let length = offset + reach(false) + 1 + choices.index(2);
    Layout { strides, offset, length }
}

/// A view without elements reads nothing, whatever its strides.
fn nothing(choices: &mut dyn Choices, shape: &[usize]) -> Layout {
    let strides = shape.iter().map(|_| choices.one_of(&[1, 0, -1, 3, i64::MAX, i64::MIN])).collect();
    Layout { strides, offset: choices.one_of(&[0, 1, 5]), length: choices.index(3) }
}
