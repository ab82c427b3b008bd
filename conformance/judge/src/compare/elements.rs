//! Judges results element by element: by bits, by the admissible values, or by the bound for gradients.

use super::admissible::{Admissible, Allowed, Ulps, admissible};
use super::gradient::Bounds;
use super::zeros::FreeZeros;
use super::{Difference, DifferenceKind, EXPECTED_ULP, Latitude, index_of, ulp};
use broadcheck_reference::{Alignment, align, read};
use broadcheck_spec::{
    DType, ExpectedResult, Expression, Function, Operation, Request, Scalar, Shape, Tensor,
};

/// How elements are judged.
pub(super) enum Rule<'a> {
    /// The same bits; any NaN is NaN (clause V-1).
    Bits { any_zero_sign: bool },
    /// A value that a correct implementation may return (clauses V-3 and V-4b).
    Admissible(Several<'a>),
    /// Within the bound of clause V-6. The element is open if it depends on the sign of a zero that is free.
    Gradient(Bounds<'a>, Option<FreeZeros<'a>>),
}

/// The operands of an accepted request, with the element that each index of the result reads.
pub(super) struct Reading<'a> {
    pub(super) request: &'a Request,
    pub(super) alignment: Alignment,
}

/// What determines the admissible values at an index, of which there may be several.
pub(super) struct Several<'a> {
    reading: Reading<'a>,
    expression: &'a Expression,
    /// Whether the expression has no inexact function. Then few elements have several values.
    is_exact: bool,
    ulp: u32,
    /// Clause V-3: whether an extreme of two zeros has either sign.
    any_zero_of_extremes: bool,
    /// Clause V-4: whether a zero of the result has either sign.
    any_zero_sign: bool,
    /// The case's own tolerance, if it has one. An expected value outside it, or outside the tolerance of any
    /// expected value, is itself wrong, whatever the implementation is allowed.
    expected_ulp: Option<u32>,
}

impl<'a> Rule<'a> {
    pub(super) fn of(request: &'a Request, expected: &ExpectedResult, latitude: Latitude) -> Rule<'a> {
        let extremes = request.operation().expression().is_some_and(holds_extremes);
        let any_zero_of_extremes = latitude.any_zero_of_extremes && extremes;
        let ulp = expected.tolerance_ulp.unwrap_or(latitude.ulp);
        match (request.operation(), Reading::of(request)) {
            (Operation::Elementwise { expression } | Operation::Into { expression, .. }, Some(reading))
                if (any_zero_of_extremes || !expression.is_exact())
                    && reading.alignment.shape == *expected.tensor.shape() =>
            {
                let is_exact = expression.is_exact();
                Rule::Admissible(Several {
                    reading,
                    expression,
                    is_exact,
                    ulp,
                    any_zero_of_extremes,
                    any_zero_sign: expected.any_zero_sign && !is_exact,
                    expected_ulp: expected.tolerance_ulp,
                })
            }
            (
                Operation::Gradient { expression, wrt } | Operation::Vjp { expression, wrt, .. },
                Some(reading),
            ) if request.operands()[*wrt].dtype() == expected.tensor.dtype() => {
                let zeros = any_zero_of_extremes.then(|| FreeZeros::of(request, expression, *wrt));
                Bounds::of(reading, expression, *wrt, ulp)
                    .map_or(Rule::Bits { any_zero_sign: true }, |bounds| Rule::Gradient(bounds, zeros))
            }
            // Ordered zeros have one sign. If the rules refuse the request or give another shape or dtype,
            // nothing is known about its values except the expected ones.
            _ => Rule::Bits { any_zero_sign: expected.any_zero_sign && latitude.any_zero_of_extremes },
        }
    }

    /// The right values of an element, where the expected one is right: those for which
    /// [`complaint`](Rule::complaint) has none.
    pub(super) fn right(&self, place: usize, shape: &Shape, expected: Scalar) -> Admissible {
        match self {
            Rule::Bits { any_zero_sign } => Admissible::exactly(expected).up_to_zero_sign(*any_zero_sign),
            Rule::Admissible(several) => several.right(&index_of(place, shape), expected),
            Rule::Gradient(_, Some(zeros)) if zeros.matter_to(place) => Admissible::Anything,
            Rule::Gradient(bounds, _) => bounds.right(place, expected),
        }
    }

    /// Whether every element is right that is equal to the expected one.
    fn takes_equal(&self) -> bool {
        // mutant: replace Rule<'_>::takes_equal -> bool with false: costs time only; each element is judged
        match self {
            Rule::Bits { .. } => true,
            Rule::Admissible(several) => several.is_exact,
            Rule::Gradient(..) => false,
        }
    }

    /// `None` if the element is right; otherwise why it is wrong.
    fn complaint(&self, place: usize, shape: &Shape, expected: Scalar, found: Scalar) -> Option<String> {
        match self {
            Rule::Bits { any_zero_sign } => {
                let zeros = *any_zero_sign && expected.as_f64() == Some(0.0) && found.as_f64() == Some(0.0);
                (expected != found && !zeros).then(|| with_bits(expected, found))
            }
            // The common case, without an index.
            Rule::Admissible(several) if several.is_exact && expected == found => None,
            Rule::Admissible(several) => several.complaint(&index_of(place, shape), expected, found),
            Rule::Gradient(bounds, zeros) => bounds
                .complaint(place, expected, found)
                .filter(|_| !zeros.as_ref().is_some_and(|zeros| zeros.matter_to(place))),
        }
    }
}

fn holds_extremes(expression: &Expression) -> bool {
    expression.calls().any(|call| matches!(call.function(), Function::Maximum | Function::Minimum))
}

impl<'a> Reading<'a> {
    /// `None` if the rules refuse the request.
    pub(super) fn of(request: &'a Request) -> Option<Reading<'a>> {
        align(request).ok().map(|alignment| Reading { request, alignment })
    }

    /// The indices of the result in row-major order.
    pub(super) fn indices(&self) -> impl Iterator<Item = Vec<usize>> {
        let shape = &self.alignment.shape;
        (0..shape.count().unwrap_or(0)).map(|place| index_of(place, shape))
    }

    /// The operands' values at an index of the result.
    pub(super) fn values_at(&self, index: &[usize]) -> Vec<Scalar> {
        let operands = self.request.operands().iter().enumerate();
        operands.map(|(place, operand)| read(operand, &self.operand_index(place, index))).collect()
    }

    /// The cotangent's value at an index of the result, if there is one.
    pub(super) fn cotangent_at(&self, index: &[usize]) -> Option<Scalar> {
        self.request.cotangent().map(|cotangent| read(cotangent, index))
    }

    /// The index of an operand's element that an index of the result reads.
    pub(super) fn operand_index(&self, operand: usize, index: &[usize]) -> Vec<usize> {
        self.alignment.operand_index(operand, self.request.operands()[operand].shape(), index)
    }
}

impl Several<'_> {
    fn complaint(&self, index: &[usize], expected: Scalar, found: Scalar) -> Option<String> {
        if self.is_exact {
            return self.complaint_of_exact(index, expected, found);
        }
        let values = self.reading.values_at(index);
        // The reference's value is within 1 ULP of the correctly rounded one. An expected value that is
        // right, or as close to it, is therefore within 2 ULPs of the reference's.
        let near = self.expected_ulp.map_or(Ulps::FromReference(EXPECTED_ULP), Ulps::FromTrue);
        if !self.holds(&self.admissible(&values, near), expected) {
            return Some(format!(
                "expected {expected}, which is itself not within {} ULP per inexact function of what the operands give",
                self.expected_ulp.unwrap_or(EXPECTED_ULP)
            ));
        }
        let right = self.admissible(&values, Ulps::FromTrue(self.ulp));
        (!self.holds(&right, found)).then(|| {
            let distance = match (ulp::key(expected), ulp::key(found)) {
                (Some(a), Some(b)) => format!("{} ULP apart, ", ulp::distance(a, b)),
                _ => String::new(),
            };
            format!(
                "expected {expected}, got {found}: {distance}{} ULP allowed per inexact function",
                self.ulp
            )
        })
    }

    /// For two different values: both must be among the right ones.
    fn complaint_of_exact(&self, index: &[usize], expected: Scalar, found: Scalar) -> Option<String> {
        let right = self.admissible(&self.reading.values_at(index), Ulps::FromTrue(0));
        let both = right.contains(expected) && right.contains(found);
        (!both).then(|| with_bits(expected, found))
    }

    fn right(&self, index: &[usize], expected: Scalar) -> Admissible {
        let right = self.admissible(&self.reading.values_at(index), Ulps::FromTrue(self.ulp));
        // An exact value that the operands do not give is right where it is expected.
        if self.is_exact && !right.contains(expected) {
            return Admissible::exactly(expected);
        }
        right.up_to_zero_sign(self.any_zero_sign)
    }

    fn admissible(&self, values: &[Scalar], ulps: Ulps) -> Admissible {
        let allowed = Allowed { ulps, any_zero_of_extremes: self.any_zero_of_extremes };
        admissible(self.expression, values, allowed)
    }

    fn holds(&self, set: &Admissible, value: Scalar) -> bool {
        if self.any_zero_sign { set.contains_up_to_zero_sign(value) } else { set.contains(value) }
    }
}

/// Judges every element. Reports the first wrong one and how many there are.
pub(super) fn elements(expected: &Tensor, found: &Tensor, rule: &Rule<'_>) -> Result<(), Difference> {
    // By far the most results are equal to the expected ones, and comparing whole buffers is quick.
    if rule.takes_equal() && expected.values() == found.values() {
        return Ok(());
    }
    judged(expected, found, |place, shape, want, got| rule.complaint(place, shape, want, got))
}

/// Judges only the elements that differ.
pub(super) fn elements_that_differ(
    expected: &Tensor,
    found: &Tensor,
    rule: &Rule<'_>,
) -> Result<(), Difference> {
    judged(
        expected,
        found,
        |place, shape, want, got| {
            if want == got { None } else { rule.complaint(place, shape, want, got) }
        },
    )
}

fn judged(
    expected: &Tensor,
    found: &Tensor,
    complaint: impl Fn(usize, &Shape, Scalar, Scalar) -> Option<String>,
) -> Result<(), Difference> {
    let shape = expected.shape();
    let mut wrong = 0usize;
    let mut first = None;
    for (place, (want, got)) in expected.values().iter().zip(found.values().iter()).enumerate() {
        if let Some(complaint) = complaint(place, shape, want, got) {
            wrong += 1;
            first.get_or_insert((place, complaint));
        }
    }
    let Some((place, complaint)) = first else { return Ok(()) };
    let index = Shape::from(index_of(place, shape));
    let total = expected.values().len();
    let detail = format!("element {index}: {complaint} ({wrong} of {total} elements wrong)");
    Err(Difference { kind: DifferenceKind::Values, detail })
}

fn with_bits(expected: Scalar, found: Scalar) -> String {
    if expected.dtype() == DType::Bool {
        return format!("expected {expected}, got {found}");
    }
    let bits = Scalar::bits_in_hexadecimal;
    format!("expected {expected} ({}), got {found} ({})", bits(expected), bits(found))
}
