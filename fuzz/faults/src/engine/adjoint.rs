//! Gradients: the chain rule at every index of the result, then the sum to w's shape.

use super::blocks::unravel;
use super::convert::as_f64;
use super::evaluate::Values;
use super::rewrite::{Program, Step};
use super::strides::row_major;
use super::{Aligned, within_limit};
use broadcheck_spec::{DType, Function, Operand, Refusal, RefusalKind};

/// Why something is refused, and the axis of the result, if one is reported.
pub(crate) type RefusedAt = (RefusalKind, Option<usize>);

/// The derivatives of a function with respect to each argument; `None` if nothing propagates to it.
pub(crate) type Partials = [Option<f64>; 3];

/// How w is aligned with the result.
pub(crate) struct Spread<'a> {
    pub(crate) result: &'a [usize],
    pub(crate) lengths: &'a [usize],
    /// For each axis of w, the axis of the result.
    pub(crate) axes: &'a [Option<usize>],
}

impl Spread<'_> {
    /// The axis of w that is aligned with an axis of the result.
    pub(crate) fn own(&self, axis: usize) -> Option<usize> {
        self.axes.iter().position(|&place| place == Some(axis))
    }

    /// Whether an axis of the result is summed over (clause GRAD-1).
    pub(crate) fn is_summed(&self, axis: usize) -> bool {
        self.own(axis).is_none_or(|own| self.lengths[own] == 1)
    }
}

/// A sum along an axis: which one, and of what.
pub(crate) struct Along<'a> {
    /// The axis of the result.
    pub(crate) axis: usize,
    /// The lengths of the result; 1 for axes that have been summed over.
    pub(crate) shape: &'a [usize],
    /// The elements before and after the axis, of the sum.
    pub(crate) outer: usize,
    pub(crate) inner: usize,
    /// Whether w has the axis, with length 1.
    pub(crate) own: bool,
    /// The number of axes that have been summed over before this one.
    pub(crate) before: usize,
    /// The dtype of w.
    pub(crate) dtype: DType,
}

/// A sum of terms.
pub(crate) type Sum = fn(&[f64], DType) -> f64;

/// The decisions about gradients.
#[derive(Clone)]
pub(crate) struct Adjoint {
    /// GRAD-3: the derivatives of a function, from its arguments and its result.
    pub(crate) partials: fn(Function, &[f64], f64) -> Partials,
    /// Combines the contributions of several occurrences of w at one index: so far, and the next.
    pub(crate) occurrences: fn(f64, f64) -> f64,
    /// GRAD-1: the axes of the result to sum over.
    pub(crate) summed: fn(&Spread<'_>) -> Vec<usize>,
    /// The axes that are then removed.
    pub(crate) removed: fn(&Spread<'_>) -> Vec<usize>,
    /// The sum along an axis, for a gradient of this dtype.
    pub(crate) sum: Sum,
    /// The sum along an axis, from the one that is correct for all of them.
    pub(crate) along: fn(&[f64], Sum, &Along<'_>) -> f64,
    /// The elements of w's dense gradient, with the sums complete.
    pub(crate) finished: fn(Vec<f64>, &Spread<'_>) -> Vec<f64>,
    /// The contributions before they are summed.
    pub(crate) arrived: fn(Vec<f64>, &Spread<'_>) -> Vec<f64>,
    /// Orders the elements of a complete gradient as w's elements.
    pub(crate) ordered: fn(Vec<f64>, &Operand) -> Vec<f64>,
    /// XLA-11: whether the axes of a gradient are brought into w's order, from w's lengths and the axes of
    /// the result on which they lie.
    pub(crate) turned: fn(&[usize], &[usize]) -> bool,
    /// GRAD-4: whether a cotangent may have this dtype, for a result of that one.
    pub(crate) weight_dtype: fn(DType, DType) -> bool,
    /// GRAD-4: why a cotangent of this shape is refused for a result of that one.
    pub(crate) weight_shape: fn(&[usize], &[usize]) -> Option<RefusedAt>,
    /// The elements of a cotangent, row-major.
    pub(crate) weights: fn(&Operand) -> Vec<f64>,
    /// GRAD-4: the weights at each index of the result, from those elements and the result.
    pub(crate) spread: fn(Vec<f64>, &[usize]) -> Vec<f64>,
    /// GRAD-4: what arrives at the root of the expression, from the weight of the index; `None` if nothing
    /// does.
    pub(crate) at_root: fn(f64) -> Option<f64>,
    /// The sum of the contributions at an index, from that sum and the weight of the index.
    pub(crate) summed_at: fn(f64, f64) -> f64,
}

/// GRAD-4: the ranks, then the lengths.
pub(crate) fn weight_shape(weights: &[usize], result: &[usize]) -> Option<RefusedAt> {
    if weights.len() != result.len() {
        return Some((RefusalKind::RankMismatch, None));
    }
    let axis = weights.iter().zip(result).position(|(one, other)| one != other)?;
    Some((RefusalKind::DimensionMismatch, Some(axis)))
}

/// The elements of an operand, row-major.
pub(crate) fn elements(operand: &Operand) -> Vec<f64> {
    let dense = row_major(operand.shape());
    let strides = operand.strides().unwrap_or(&dense);
    let element = |number: usize| {
        let index = unravel(number, operand.shape());
        let steps: i64 = index.iter().zip(strides).map(|(&at, &stride)| at as i64 * stride).sum();
        let place = usize::try_from(operand.offset() as i64 + steps).ok();
        place.and_then(|place| operand.values().get(place)).map_or(f64::NAN, as_f64)
    };
    (0..operand.shape().iter().product()).map(element).collect()
}

impl Default for Adjoint {
    fn default() -> Adjoint {
        Adjoint {
            partials,
            occurrences: |so_far, next| so_far + next,
            summed: |spread| (0..spread.result.len()).filter(|&axis| spread.is_summed(axis)).collect(),
            removed: |spread| (0..spread.result.len()).filter(|&axis| spread.own(axis).is_none()).collect(),
            sum: |values, _| values.iter().sum(),
            along: |values, sum, along| sum(values, along.dtype),
            finished: |values, _| values,
            arrived: |values, _| values,
            ordered: |values, _| values,
            turned: |_, _| true,
            weight_dtype: |weight, result| weight == result,
            weight_shape,
            weights: elements,
            spread: |weights, _| weights,
            at_root: Some,
            summed_at: |total, _| total,
        }
    }
}

/// a^(b-1), even if b - 1 is not representable. `r` is a^b.
fn power_of_one_less(a: f64, b: f64, r: f64) -> f64 {
    let no_ones = 2.0 / f64::EPSILON;
    if a < 0.0 && r.is_nan() {
        f64::NAN
    } else if b.is_finite() && b.abs() >= no_ones {
        a.abs().powf(b) * 1f64.copysign(a)
    } else {
        a.powf(b - 1.0)
    }
}

/// The derivatives of GRAD-3.
pub(crate) fn partials(function: Function, arguments: &[f64], r: f64) -> Partials {
    use Function as F;
    let (a, b) = (arguments[0], arguments.get(1).copied().unwrap_or(0.0));
    let one = |value| [Some(value), None, None];
    let two = |by_a, by_b| [Some(by_a), Some(by_b), None];
    match function {
        F::Add => two(1.0, 1.0),
        F::Subtract => two(1.0, -1.0),
        F::Multiply => two(b, a),
        F::Divide => two(1.0 / b, -r / b),
        F::Power => {
            let by_a = if b == 0.0 { 0.0 } else { b * power_of_one_less(a, b, r) };
            let by_b = if a == 0.0 && b >= 0.0 { 0.0 } else { r * a.ln() };
            two(by_a, by_b)
        }
        F::Maximum | F::Minimum if a.is_nan() || b.is_nan() => two(f64::NAN, f64::NAN),
        F::Maximum | F::Minimum if a.partial_cmp(&b) == Some(std::cmp::Ordering::Equal) => two(0.5, 0.5),
        F::Maximum | F::Minimum if (a > b) == (function == F::Maximum) => one(1.0),
        F::Maximum | F::Minimum => [None, Some(1.0), None],
        F::Select if a != 0.0 => [None, Some(1.0), None],
        F::Select => [None, None, Some(1.0)],
        F::Negate => one(-1.0),
        F::Exp => one(r),
        F::Log => one(1.0 / a),
        F::Sqrt => one(1.0 / (2.0 * r)),
        F::Tanh => one(1.0 - r * r),
        F::Abs if a == 0.0 || a.is_nan() => one(a.abs()),
        F::Abs => one(a.signum()),
        // Comparisons and logical functions have no derivatives.
        F::Equal | F::NotEqual | F::Less | F::LessEqual | F::Greater | F::GreaterEqual => [None; 3],
        F::LogicalAnd | F::LogicalOr | F::LogicalNot => [None; 3],
    }
}

impl Adjoint {
    /// The contribution to w at one lane of a block, with the weight of its index.
    pub(super) fn lane(
        &self,
        program: &Program,
        wrt: usize,
        values: &Values,
        lane: usize,
        weight: f64,
    ) -> f64 {
        let steps = &program.steps;
        let value = |step: usize| as_f64(values.registers[values.place[step]][lane]);
        let mut arriving: Vec<Option<f64>> = vec![None; steps.len()];
        arriving[steps.len() - 1] = (self.at_root)(weight);
        let mut total = 0.0;
        for (place, step) in steps.iter().enumerate().rev() {
            let Some(adjoint) = arriving[place] else { continue };
            match step {
                Step::Operand(operand) if *operand == wrt => total = (self.occurrences)(total, adjoint),
                Step::Operand(_) | Step::Constant(_) => {}
                Step::Call { function, arguments: from, .. } => {
                    let arguments: Vec<f64> = from.iter().map(|&argument| value(argument)).collect();
                    let partials = (self.partials)(*function, &arguments, value(place));
                    for (&argument, partial) in from.iter().zip(partials) {
                        arriving[argument] = partial.map(|partial| adjoint * partial);
                    }
                }
            }
        }
        (self.summed_at)(total, weight)
    }

    /// Checks the cotangent of a result of this dtype and shape.
    pub(super) fn check_cotangent(
        &self,
        cotangent: &Operand,
        dtype: DType,
        result: &[usize],
    ) -> Result<(), Refusal> {
        if !(self.weight_dtype)(cotangent.dtype(), dtype) {
            return Err(Refusal::new(RefusalKind::DTypeMismatch, "the cotangent has another dtype"));
        }
        match (self.weight_shape)(cotangent.shape(), result) {
            None => Ok(()),
            Some((kind, axis)) => {
                Err(Refusal { axis, ..Refusal::new(kind, "the cotangent has another shape") })
            }
        }
    }

    /// GRAD-4: the weight at each index of the result: 1 without a cotangent.
    pub(super) fn weights_of(&self, cotangent: Option<&Operand>, result: &[usize]) -> Vec<f64> {
        match cotangent {
            Some(cotangent) => (self.spread)((self.weights)(cotangent), result),
            None => vec![1.0; result.iter().product()],
        }
    }

    /// The contributions at every index, summed to w's shape.
    pub(super) fn sum_to_shape(
        &self,
        arrived: Vec<f64>,
        operand: &Operand,
        aligned: &Aligned,
        wrt: usize,
    ) -> (Vec<usize>, Vec<f64>) {
        let axes = &aligned.axes[wrt];
        let spread = Spread { result: &aligned.shape, lengths: operand.shape(), axes };
        let (mut shape, mut values) = (aligned.shape.clone(), (self.arrived)(arrived, &spread));
        let is_empty = shape.contains(&0);
        let summed = (self.summed)(&spread);
        for (before, &axis) in summed.iter().enumerate() {
            // Without contributions there is nothing to sum, however long the other axes are.
            if !is_empty {
                let along = Along {
                    axis,
                    shape: &shape,
                    outer: 0,
                    inner: 0,
                    own: spread.own(axis).is_some(),
                    before,
                    dtype: operand.dtype(),
                };
                values = self.sum_axis(&values, along);
            }
            shape[axis] = 1;
        }
        values = (self.finished)(values, &spread);
        if is_empty && within_limit(&shape) {
            values = vec![(self.sum)(&[], operand.dtype()); shape.iter().product()];
        }
        let removed = (self.removed)(&spread);
        let kept = |(axis, length): (usize, usize)| (!removed.contains(&axis)).then_some(length);
        let mut shape: Vec<usize> = shape.into_iter().enumerate().filter_map(kept).collect();
        // Axes of w that are aligned with no axis of the result, all of length 1 (clause PDPD-3).
        for (axis, place) in axes.iter().enumerate() {
            if place.is_none() && shape.len() >= axis {
                shape.insert(axis, 1);
            }
        }
        (shape, values) = self.in_order(shape, values, axes, operand.shape());
        if shape == operand.shape().lengths() {
            values = (self.ordered)(values, operand);
        }
        (shape, values)
    }

    /// A sum whose axes are in the order of the result's, with its axes in the order of w's.
    fn in_order(
        &self,
        shape: Vec<usize>,
        values: Vec<f64>,
        axes: &[Option<usize>],
        lengths: &[usize],
    ) -> (Vec<usize>, Vec<f64>) {
        let on: Vec<usize> = axes.iter().flatten().copied().collect();
        let mut sorted = on.clone();
        sorted.sort_unstable();
        let complete = on.len() == axes.len() && shape.len() == on.len();
        if on == sorted || !complete || !(self.turned)(lengths, &on) {
            return (shape, values);
        }
        // For each axis of w, its place among the axes of the sum.
        let places: Vec<usize> =
            on.iter().map(|axis| sorted.iter().position(|other| other == axis).unwrap_or(0)).collect();
        let turned: Vec<usize> = places.iter().map(|&place| shape[place]).collect();
        let strides = row_major(&shape);
        let value = |number: usize| {
            let index = unravel(number, &turned);
            let steps: i64 = index.iter().zip(&places).map(|(&at, &place)| at as i64 * strides[place]).sum();
            values.get(usize::try_from(steps).unwrap_or(usize::MAX)).copied().unwrap_or(f64::NAN)
        };
        let values = (0..turned.iter().product()).map(value).collect();
        (turned, values)
    }

    fn sum_axis(&self, values: &[f64], along: Along<'_>) -> Vec<f64> {
        let (axis, shape) = (along.axis, along.shape);
        let (before, length) = (shape[..axis].iter().product::<usize>(), shape[axis]);
        let after: usize = shape[axis + 1..].iter().product();
        let mut along = along;
        let mut sums = Vec::with_capacity(before * after);
        for outer in 0..before {
            for inner in 0..after {
                (along.outer, along.inner) = (outer, inner);
                let terms = (0..length).map(|place| values[(outer * length + place) * after + inner]);
                sums.push((self.along)(&terms.collect::<Vec<f64>>(), self.sum, &along));
            }
        }
        sums
    }
}
