//! Compares two implementations' outcomes without an expected value. The common case, where they are equal to
//! the bit, allocates nothing, and only elements that differ are judged.

use super::elements::{Rule, elements_that_differ};
use super::{
    Difference, EXPECTED_ULP, Latitude, Verdict, consistent, expectation_of, extras, judge,
    same_dtype_and_shape,
};
use broadcheck_spec::{
    Data, Expectation, ExpectedResult, Implementation, Outcome, Refusal, Request, Success, Tensor,
};

impl Latitude {
    /// The latitude for comparing two implementations: the wider of what each asks for.
    pub fn of_both(one: &dyn Implementation, other: &dyn Implementation) -> Latitude {
        let (one, other) = (Latitude::of(one), Latitude::of(other));
        Latitude {
            ulp: one.ulp.max(other.ulp),
            any_zero_of_extremes: one.any_zero_of_extremes || other.any_zero_of_extremes,
        }
    }
}

/// Judges another implementation's outcome by the first one's, which is a result or a refusal. `latitude` is
/// what both ask for ([`Latitude::of_both`]). If it is wider than an expected value's ([`EXPECTED_ULP`]), it
/// also applies to the first one's values.
pub fn compare_outcomes(request: &Request, first: &Outcome, other: &Outcome, latitude: Latitude) -> Verdict {
    if same_outcome(first, other) {
        let Outcome::Success(other) = other else { return Verdict::Passed };
        return consistent(request, other).map_or_else(Verdict::Failed, |()| Verdict::Passed);
    }
    if let (Outcome::Success(one), Outcome::Success(other)) = (first, other) {
        return results(request, one, other, latitude).map_or_else(Verdict::Failed, |()| Verdict::Passed);
    }
    match expectation_of(first) {
        Some(expectation) => judge(request, &expectation, other, latitude),
        None => Verdict::Errored("the first implementation gave no outcome to compare with".into()),
    }
}

fn results(request: &Request, one: &Success, other: &Success, latitude: Latitude) -> Result<(), Difference> {
    same_dtype_and_shape("", &one.tensor, &other.tensor)?;
    let expected = expected(request, one, latitude);
    let rule = Rule::of(request, &expected, latitude);
    elements_that_differ(&one.tensor, &other.tensor, &rule)?;
    extras(request, &expected, other)
}

/// The first one's result as an expected one. If the latitude is wider than an expected value's, it becomes
/// its tolerance.
fn expected(request: &Request, success: &Success, latitude: Latitude) -> ExpectedResult {
    let inexact = request.operation().expression().is_some_and(|expression| !expression.is_exact());
    match expectation_of(&Outcome::Success(success.clone())) {
        Some(Expectation::Result(expected)) if inexact && latitude.ulp > EXPECTED_ULP => {
            ExpectedResult { tolerance_ulp: Some(latitude.ulp), ..expected }
        }
        Some(Expectation::Result(expected)) => expected,
        _ => ExpectedResult::from(success.tensor.clone()),
    }
}

/// Whether two outcomes are equal to the bit: both results, or both refusals (whose messages may differ).
pub fn same_outcome(first: &Outcome, other: &Outcome) -> bool {
    match (first, other) {
        (Outcome::Refusal(first), Outcome::Refusal(other)) => same_refusal(first, other),
        (Outcome::Success(first), Outcome::Success(other)) => {
            same_tensor(&first.tensor, &other.tensor)
                && same_or_absent(first.intermediate.as_ref(), other.intermediate.as_ref(), same_tensor)
                && same_or_absent(first.broadcastable.as_ref(), other.broadcastable.as_ref(), Vec::eq)
        }
        _ => false,
    }
}

fn same_refusal(first: &Refusal, other: &Refusal) -> bool {
    first.kind == other.kind && first.axis == other.axis && first.operand == other.operand
}

/// Extras are compared only if both sides have them.
fn same_or_absent<T>(one: Option<&T>, other: Option<&T>, same: impl Fn(&T, &T) -> bool) -> bool {
    one.zip(other).is_none_or(|(one, other)| same(one, other))
}

fn same_tensor(one: &Tensor, other: &Tensor) -> bool {
    one.shape() == other.shape() && same_values(one.values(), other.values())
}

/// Whether two buffers hold the same values by clause V-1, in one loop per dtype.
fn same_values(one: &Data, other: &Data) -> bool {
    macro_rules! by_dtype {
        ($(($($variant:ident)*) $same:expr;)*) => {
            match (one, other) {
                $($((Data::$variant(one), Data::$variant(other)) => {
                    one.len() == other.len() && one.iter().zip(other).all($same)
                })*)*
                _ => false,
            }
        };
    }
    by_dtype! {
        (F64) |(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        (F32) |(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        (F16 Bf16) |(a, b)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        (I64 I32 I16 I8 U64 U32 U16 U8 Bool) |(a, b)| a == b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_spec::half::{bf16, f16};
    use broadcheck_spec::{Expression, Function, Operand, Operation, Rules};

    fn request(function: Function, values: [f64; 2]) -> Request {
        let both = [Expression::operand(0), Expression::operand(1)];
        let root = Expression::call(function, both).unwrap();
        let one = Expression::call(Function::Divide, [Expression::operand(2), root]).unwrap();
        let operand = |name, value| Operand::dense(name, [1], vec![value]).unwrap();
        let operands = vec![operand("a", values[0]), operand("b", values[1]), operand("c", 1.0)];
        Request::new(Rules::Numpy, Operation::Elementwise { expression: one }, operands).unwrap()
    }

    fn result(value: f64) -> Outcome {
        Outcome::Success(Tensor::new([1], vec![value]).unwrap().into())
    }

    #[test]
    fn buffers_are_compared_by_v1() {
        assert!(same_values(&Data::from(vec![f16::NAN]), &Data::from(vec![-f16::NAN])));
        assert!(!same_values(&Data::from(vec![0.0f64]), &Data::from(vec![-0.0f64])));
        assert!(!same_values(&Data::from(vec![bf16::ONE]), &Data::from(vec![bf16::ONE; 2])));
        assert!(!same_values(&Data::from(vec![1u8]), &Data::from(vec![1i8])));
    }

    #[test]
    fn results_of_a_maximum_of_two_zeros_are_excused_if_the_sign_is_free() {
        let (plus, minus) = (result(f64::INFINITY), result(f64::NEG_INFINITY));
        let free = Latitude::ANY;
        let strict = Latitude { any_zero_of_extremes: false, ..free };
        let zeros = request(Function::Maximum, [0.0, -0.0]);
        assert_eq!(compare_outcomes(&zeros, &plus, &minus, free), Verdict::Passed);
        assert!(matches!(compare_outcomes(&zeros, &plus, &minus, strict), Verdict::Failed(_)));
        let alike = request(Function::Maximum, [0.0, 0.0]);
        assert!(matches!(compare_outcomes(&alike, &plus, &minus, free), Verdict::Failed(_)));
    }

    #[test]
    fn an_errored_outcome_agrees_with_no_other() {
        let broken = Outcome::errored(broadcheck_spec::ErrorKind::Panicked, "panicked");
        let zeros = request(Function::Maximum, [0.0, -0.0]);
        assert!(!same_outcome(&broken, &broken));
        assert_eq!(
            compare_outcomes(&zeros, &result(1.0), &broken, Latitude::ANY),
            Verdict::Errored("panicked".into())
        );
        assert!(matches!(
            compare_outcomes(&zeros, &broken, &result(1.0), Latitude::ANY),
            Verdict::Errored(_)
        ));
    }
}
