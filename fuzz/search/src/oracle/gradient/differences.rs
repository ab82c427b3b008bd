//! Compares a gradient with central differences of the same implementation's results, within what the
//! enclosure of the derivative and the rounding of the results allow.

#![warn(clippy::wildcard_enum_match_arm)]

use super::{Checked, Complaint};
use crate::oracle::Answer;
use broadcheck::relations::rewrite::{dense, elements, flagged};
use broadcheck::run::run_caught;
use broadcheck_judge::compare::{Interval, Precision, enclose, gradient_bounds, index_of, place_of};
use broadcheck_reference::{Alignment, align, read};
use broadcheck_spec::{
    DType, Data, Expression, Implementation, Operand, Operation, Outcome, Request, Scalar, Shape, Tensor,
};

/// Larger results are left to the other oracles, because each element costs two evaluations of the whole.
const MOST_ELEMENTS: usize = 4096;

/// How far an operand's element is moved to either side, relative to its size: so that rounding and the
/// curvature of the function contribute about the same error.
const STEP: f64 = 1.0 / (1u64 << 24) as f64;

pub(super) fn check(implementation: &dyn Implementation, request: &Request) -> Checked {
    // Differences are of the sum of the result's elements, without weights.
    let Operation::Gradient { expression, wrt } = request.operation() else { return None };
    let w = &request.operands()[*wrt];
    let alignment = align(request).ok()?;
    if w.dtype() != DType::F64 || alignment.shape.count()? > MOST_ELEMENTS {
        return None;
    }
    let forward = Request::new(
        request.rules().clone(),
        Operation::Elementwise { expression: expression.clone() },
        request.operands().to_vec(),
    );
    let forward = forward.ok()?;
    for asked in [request, &forward] {
        implementation.capabilities().covers(asked).ok()?;
    }
    let Outcome::Success(gradient) = run_caught(implementation, request) else { return None };
    if gradient.tensor.shape() != w.shape() {
        return None;
    }
    let bounds = gradient_bounds(request).ok()?;
    let count = w.shape().count()?;
    let mut chosen = vec![0, count / 2, count.saturating_sub(1)];
    chosen.dedup();
    let mut compared = false;
    for place in chosen.into_iter().filter(|&place| place < count) {
        let found = gradient.tensor.values().get(place).and_then(Scalar::as_f64)?;
        let Some(interval) = bounds[place] else { continue };
        let moved = Moved { implementation, forward: &forward, expression, wrt: *wrt, alignment: &alignment };
        let Some(quotient) = moved.quotient(place) else { continue };
        let allowed = quotient.allowed + interval.width() + f64::MIN_POSITIVE;
        // A quotient that is no larger than its uncertainty shows nothing.
        if !found.is_finite() || allowed > quotient.value.abs().max(1e-6) / 2.0 {
            continue;
        }
        compared = true;
        let error = (found - quotient.value).abs();
        if error > allowed {
            let index = Shape::from(index_of(place, w.shape()));
            let detail = format!(
                "element {index} of the gradient by {}: {found}, the central difference {}: {error:e} apart, allowed {allowed:e}",
                w.name(),
                quotient.value
            );
            let outcome = Outcome::Success(gradient);
            return Some(Err(Complaint { name: "central-difference", detail, outcome }));
        }
    }
    compared.then_some(Ok(Answer::Accepted))
}

/// The forward request with one element of w moved.
struct Moved<'a> {
    implementation: &'a dyn Implementation,
    forward: &'a Request,
    expression: &'a Expression,
    wrt: usize,
    alignment: &'a Alignment,
}

/// A difference quotient, and how far the gradient may be from it.
struct Quotient {
    value: f64,
    allowed: f64,
}

impl Moved<'_> {
    fn quotient(&self, place: usize) -> Option<Quotient> {
        let w = &self.forward.operands()[self.wrt];
        let at = elements(w)?.get(place)?.as_f64().filter(|value| value.is_finite())?;
        let step = at.abs().max(1.0 / 1024.0) * STEP;
        let (low, high) = (at - step, at + step);
        let [below, above] = [self.results(place, low)?, self.results(place, high)?];
        let range = Interval { low, high };
        let precision = Precision::of(DType::F64, self.implementation.allowed_ulp());
        let (mut derivative, mut error, mut rise, mut sizes, mut terms) =
            (Interval::ZERO, 0.0, 0.0, 0.0, 0.0);
        for result_place in self.reading(place) {
            let index = index_of(result_place, &self.alignment.shape);
            let values = self.values_at(&index);
            let root = enclose(self.expression, self.wrt, range, &values, precision)?;
            derivative = derivative.plus(root.derivative);
            error += 2.0 * root.error;
            let value = |tensor: &Tensor| tensor.values().get(result_place).and_then(Scalar::as_f64);
            let difference = value(&above)? - value(&below)?;
            rise += difference;
            sizes += difference.abs();
            terms += 1.0;
        }
        let run = high - low;
        let summing = (terms + 2.0) * f64::EPSILON * sizes;
        let allowed = derivative.width() + (error + summing) / run + derivative.size() * 4.0 * f64::EPSILON;
        let quotient = Quotient { value: rise / run, allowed };
        (quotient.value.is_finite() && allowed.is_finite()).then_some(quotient)
    }

    /// The result if the element has this value.
    fn results(&self, place: usize, value: f64) -> Option<Tensor> {
        let mut operands = self.forward.operands().to_vec();
        let w = dense(&operands[self.wrt])?;
        let Data::F64(mut values) = w.values().clone() else { return None };
        *values.get_mut(place)? = value;
        let made = Operand::dense(w.name(), w.shape().clone(), values).ok()?;
        operands[self.wrt] = flagged(made, w.broadcastable().map(<[bool]>::to_vec))?;
        let (rules, operation) = (self.forward.rules().clone(), self.forward.operation().clone());
        let request = Request::new(rules, operation, operands).ok()?;
        match run_caught(self.implementation, &request) {
            Outcome::Success(success) if *success.tensor.shape() == self.alignment.shape => {
                Some(success.tensor)
            }
            Outcome::Success(_) | Outcome::Refusal(_) | Outcome::Skipped { .. } | Outcome::Errored { .. } => {
                None
            }
        }
    }

    /// The positions of the result that read the element.
    fn reading(&self, place: usize) -> Vec<usize> {
        let shape = self.forward.operands()[self.wrt].shape();
        let reads = |result: &usize| {
            let index = index_of(*result, &self.alignment.shape);
            let index = self.alignment.operand_index(self.wrt, shape, &index);
            place_of(&index, shape) == place
        };
        (0..self.alignment.shape.count().unwrap_or(0)).filter(reads).collect()
    }

    fn values_at(&self, index: &[usize]) -> Vec<Scalar> {
        let operands = self.forward.operands().iter().enumerate();
        operands
            .map(|(place, operand)| {
                read(operand, &self.alignment.operand_index(place, operand.shape(), index))
            })
            .collect()
    }
}
