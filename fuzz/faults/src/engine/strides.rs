//! Computes strides over the result from aligned operands: 0 along stretched axes.

use super::Aligned;
use super::collapse::{Axis, LoopNest};
use broadcheck_spec::Operand;

/// An operand as it is read.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// The lengths of its axes.
    pub(crate) lengths: Vec<usize>,
    /// The lengths of the result on its axes; its own length for an axis without one.
    pub(crate) common: Vec<usize>,
    /// The strides in its buffer.
    pub(crate) strides: Vec<i64>,
    /// The offset in its buffer.
    pub(crate) offset: i64,
    /// Whether it is a view.
    pub(crate) view: bool,
}

/// The decisions about strides.
#[derive(Clone)]
pub(crate) struct Strides {
    /// The strides of a dense operand, from its lengths and those of the result on its axes.
    pub(crate) dense: fn(&[usize], &[usize]) -> Vec<i64>,
    /// The strides and the offset of a view.
    pub(crate) view: fn(&Operand, &[i64]) -> (Vec<i64>, i64),
    /// Changes how operands are read, knowing all of them.
    pub(crate) read: fn(&mut [Reading], &[&Operand]),
    /// The strides over the result of an operand, by its index.
    pub(crate) over_result: fn(&[Reading], usize) -> Vec<i64>,
    /// Whether all operands can be read linearly for a result of this shape.
    pub(crate) flat: fn(&[Reading], &[usize]) -> bool,
    /// The loop nest that is used, from the one that was computed.
    pub(crate) lowered: fn(LoopNest, &[Reading]) -> LoopNest,
}

impl Default for Strides {
    fn default() -> Strides {
        Strides {
            dense: |lengths, _| row_major(lengths),
            view: |operand, strides| (strides.to_vec(), position(operand.offset())),
            read: |_, _| (),
            over_result: |readings, operand| stretched(&readings[operand]),
            flat: |readings, shape| {
                let flat =
                    |reading: &Reading| reading.lengths == shape && reading.strides == row_major(shape);
                readings.iter().all(flat)
            },
            lowered: |nest, _| nest,
        }
    }
}

/// The strides of a dense tensor, in row-major order.
pub(crate) fn row_major(lengths: &[usize]) -> Vec<i64> {
    let mut step = 1i64;
    let mut strides = vec![0; lengths.len()];
    for (stride, &length) in strides.iter_mut().zip(lengths).rev() {
        *stride = step;
        step = step.wrapping_mul(position(length.max(1)));
    }
    strides
}

/// The strides, 0 along stretched axes.
pub(crate) fn stretched(reading: &Reading) -> Vec<i64> {
    let step = |(&length, &stride): (&usize, &i64)| if length == 1 { 0 } else { stride };
    reading.lengths.iter().zip(&reading.strides).map(step).collect()
}

/// A position in a buffer. No buffer exceeds the range of i64.
pub(crate) fn position(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

impl Strides {
    /// Lowers operands to a loop nest for a result, not yet collapsed.
    pub(super) fn lower(&self, operands: &[&Operand], shapes: &[Vec<usize>], aligned: &Aligned) -> LoopNest {
        let mut readings: Vec<Reading> = operands
            .iter()
            .zip(shapes.iter().zip(&aligned.axes))
            .map(|(operand, (lengths, axes))| self.reading(operand, lengths, axes, &aligned.shape))
            .collect();
        (self.read)(&mut readings, operands);
        let offsets = readings.iter().map(|reading| reading.offset).collect();
        // Dimensions of xla may place axes in another order (XLA-11), also onto the operand's own shape.
        let in_order = aligned.axes.iter().all(|axes| axes.iter().flatten().is_sorted());
        if in_order && (self.flat)(&readings, &aligned.shape) {
            let axis = Axis { length: aligned.shape.iter().product(), strides: vec![1; operands.len()] };
            return (self.lowered)(LoopNest { axes: vec![axis], offsets }, &readings);
        }
        let mut nest: Vec<Axis> =
            aligned.shape.iter().map(|&length| Axis { length, strides: vec![0; operands.len()] }).collect();
        for (operand, axes) in aligned.axes.iter().enumerate() {
            for (step, axis) in (self.over_result)(&readings, operand).into_iter().zip(axes) {
                if let Some(axis) = *axis {
                    nest[axis].strides[operand] += step;
                }
            }
        }
        (self.lowered)(LoopNest { axes: nest, offsets }, &readings)
    }

    fn reading(
        &self,
        operand: &Operand,
        lengths: &[usize],
        axes: &[Option<usize>],
        shape: &[usize],
    ) -> Reading {
        let common: Vec<usize> = lengths
            .iter()
            .zip(axes)
            .map(|(&length, axis)| axis.and_then(|axis| shape.get(axis).copied()).unwrap_or(length))
            .collect();
        let (strides, offset) = match operand.strides() {
            Some(strides) => (self.view)(operand, strides),
            None => ((self.dense)(lengths, &common), 0),
        };
        Reading { lengths: lengths.to_vec(), common, strides, offset, view: operand.strides().is_some() }
    }
}
