//! Which elements of a gradient depend on the sign of a zero that `maximum` or `minimum` returns (clause
//! V-3): the derivative of 1/z is infinite at a zero, with a sign that depends on the zero's.

use super::elements::Reading;
use super::place_of;
use broadcheck_reference::{Link, apply, contributions};
use broadcheck_spec::{Expression, Function, Request, Scalar};
use std::cell::OnceCell;

/// The gradient of an expression whose extremes of a +0 and a -0 may be either.
pub(super) struct FreeZeros<'a> {
    request: &'a Request,
    expression: &'a Expression,
    wrt: usize,
    /// For each element, whether such a zero matters. Computed on demand, for the first wrong element.
    matter: OnceCell<Vec<bool>>,
}

impl<'a> FreeZeros<'a> {
    pub(super) fn of(request: &'a Request, expression: &'a Expression, wrt: usize) -> FreeZeros<'a> {
        FreeZeros { request, expression, wrt, matter: OnceCell::new() }
    }

    /// Whether a contribution to the element at `place` depends on the sign of such a zero.
    pub(super) fn matter_to(&self, place: usize) -> bool {
        self.matter.get_or_init(|| self.elements()).get(place).copied().unwrap_or(false)
    }

    fn elements(&self) -> Vec<bool> {
        let shape = self.request.operands()[self.wrt].shape();
        let mut elements = vec![false; shape.count().unwrap_or(0)];
        let Some(reading) = Reading::of(self.request) else { return elements };
        for index in reading.indices() {
            if self.matter_at(&reading.values_at(&index)) {
                elements[place_of(&reading.operand_index(self.wrt, &index), shape)] = true;
            }
        }
        elements
    }

    /// Whether the contributions change if one of the zeros has the other sign.
    fn matter_at(&self, operands: &[Scalar]) -> bool {
        let (ordered, count) = self.contributions(operands, None);
        (0..count).any(|place| {
            let (turned, _) = self.contributions(operands, Some(place));
            ordered.iter().zip(&turned).any(|(one, other)| one != other && !(one.is_nan() && other.is_nan()))
        })
    }

    /// The contributions, and the number of extremes of a +0 and a -0. The one at this position among them
    /// returns the other zero.
    fn contributions(&self, operands: &[Scalar], turned: Option<usize>) -> (Vec<f64>, usize) {
        let mut count = 0;
        let values = self.expression.values(
            |operand| operands[operand],
            |function, arguments| {
                let value = apply(function, arguments);
                if !are_opposite_zeros(function, arguments) {
                    return value;
                }
                count += 1;
                let [one, other] = [arguments[0], arguments[1]];
                match turned {
                    Some(place) if place + 1 == count => {
                        if value == one {
                            other
                        } else {
                            one
                        }
                    }
                    _ => value,
                }
            },
        );
        let through = |arriving: f64, link: &Link<'_>| arriving * link.derivative.value();
        (contributions(self.expression, self.wrt, &values, 1.0, through), count)
    }
}

fn are_opposite_zeros(function: Function, arguments: &[Scalar]) -> bool {
    let extreme = matches!(function, Function::Maximum | Function::Minimum);
    extreme && arguments.iter().all(|one| one.as_f64() == Some(0.0)) && arguments[0] != arguments[1]
}
