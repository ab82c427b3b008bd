//! The values that [`judge`](super::judge) admits at each element, for consumers that cannot call it: an
//! export lists them in `result.admitted`.

#![warn(clippy::wildcard_enum_match_arm)]

use super::admissible::Admissible;
use super::elements::{Rule, elements};
use super::ranges::{ValueRange, ZEROS};
use super::ulp::from_key;
use super::{Difference, Latitude};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{Admitted, DType, ExpectedResult, Request, Scalar};
use std::collections::BTreeMap;

/// The right values of each element of a result that has more than one, by the element's position in
/// row-major order. An answer of the expected dtype and shape passes [`judge`](super::judge) with the same
/// latitude if each element is admitted by one of its entries or, where it has none, equals the expected
/// value by clause V-1. The intermediate and the flags of a result have no latitude.
///
/// # Errors
/// The first expected value that is itself wrong, so that `judge` rejects every answer.
pub fn admitted(
    request: &Request,
    expected: &ExpectedResult,
    latitude: Latitude,
) -> Result<BTreeMap<usize, Vec<Admitted>>, Difference> {
    let rule = Rule::of(request, expected, latitude);
    let tensor = &expected.tensor;
    elements(tensor, tensor, &rule)?;
    let mut admitted = BTreeMap::new();
    for (place, value) in tensor.values().iter().enumerate() {
        let entries = entries(&rule.right(place, tensor.shape(), value), value.dtype());
        if entries != [Admitted::Value(value)] {
            admitted.insert(place, entries);
        }
    }
    Ok(admitted)
}

/// A set as a list, in ascending order; NaN comes last.
fn entries(set: &Admissible, dtype: DType) -> Vec<Admitted> {
    match set {
        Admissible::Points(points) => {
            let mut points = points.clone();
            points.sort_by_key(|point| point.as_i128().unwrap_or_else(|| point.to_bits().into()));
            points.into_iter().map(Admitted::Value).collect()
        }
        Admissible::Floats(floats) => {
            let nan = floats.nan.then(|| Admitted::Value(nan_of(dtype)));
            floats.ranges.iter().flat_map(|&range| numbers(range, dtype)).chain(nan).collect()
        }
        Admissible::Anything => everything(dtype),
    }
}

/// The two zeros, which an interval cannot tell apart, are listed as two values.
fn numbers(range: ValueRange, dtype: DType) -> Vec<Admitted> {
    let ends @ [lower, upper] = [range.low, range.high].map(|key| from_key(dtype, key));
    if range.is_point() {
        vec![Admitted::Value(lower)]
    } else if [range.low, range.high] == ZEROS {
        ends.map(Admitted::Value).to_vec()
    } else {
        vec![Admitted::Between { lower, upper }]
    }
}

/// Every value of a dtype.
fn everything(dtype: DType) -> Vec<Admitted> {
    let [lower, upper] = match dtype {
        DType::F64 | DType::F32 | DType::F16 | DType::Bf16 => {
            let whole = numbers(ValueRange::whole(dtype), dtype);
            return whole.into_iter().chain([Admitted::Value(nan_of(dtype))]).collect();
        }
        DType::Bool => return [false, true].map(|value| Admitted::Value(Scalar::Bool(value))).to_vec(),
        DType::I64 => [i64::MIN, i64::MAX].map(Scalar::I64),
        DType::I32 => [i32::MIN, i32::MAX].map(Scalar::I32),
        DType::I16 => [i16::MIN, i16::MAX].map(Scalar::I16),
        DType::I8 => [i8::MIN, i8::MAX].map(Scalar::I8),
        DType::U64 => [u64::MIN, u64::MAX].map(Scalar::U64),
        DType::U32 => [u32::MIN, u32::MAX].map(Scalar::U32),
        DType::U16 => [u16::MIN, u16::MAX].map(Scalar::U16),
        DType::U8 => [u8::MIN, u8::MAX].map(Scalar::U8),
    };
    vec![Admitted::Between { lower, upper }]
}

/// The NaN that stands for all: quiet, without a sign and a payload.
fn nan_of(dtype: DType) -> Scalar {
    match dtype {
        DType::F64 => Scalar::F64(f64::NAN),
        DType::F32 => Scalar::F32(f32::NAN),
        DType::F16 => Scalar::F16(f16::NAN),
        DType::Bf16 => Scalar::Bf16(bf16::NAN),
        other @ (DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U64
        | DType::U32
        | DType::U16
        | DType::U8
        | DType::Bool) => unreachable!("{other} is not a float"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_reference::Reference;
    use broadcheck_spec::{
        Data, Expression, Function, Implementation, Operand, Operation, Outcome, Rules, Tensor,
    };

    fn op(place: usize) -> Expression {
        Expression::operand(place)
    }

    fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
        Expression::call(function, arguments).expect("the right arity")
    }

    fn request(operation: Operation, values: &[Data]) -> Request {
        let operand = |(place, data): (usize, &Data)| Operand::dense(format!("o{place}"), [], data.clone());
        let operands: Result<_, _> = values.iter().enumerate().map(operand).collect();
        Request::new(Rules::Numpy, operation, operands.expect("operands")).expect("a request")
    }

    /// What the reference answers.
    fn expected(request: &Request) -> ExpectedResult {
        let Outcome::Success(success) = Reference::new().run(request) else { panic!("{request:?}") };
        ExpectedResult::from(success.tensor)
    }

    /// The entries of a scalar, where the reference's value is expected.
    fn entries_of(request: &Request, latitude: Latitude) -> Vec<Admitted> {
        admitted(request, &expected(request), latitude).unwrap().remove(&0).unwrap_or_default()
    }

    fn elementwise(expression: Expression, values: &[Data]) -> Vec<Admitted> {
        entries_of(&request(Operation::Elementwise { expression }, values), Latitude::ANY)
    }

    /// Of the gradient by o0.
    fn gradient(expression: Expression, values: &[Data]) -> Vec<Admitted> {
        entries_of(&request(Operation::Gradient { expression, wrt: 0 }, values), Latitude::ANY)
    }

    fn values(values: &[f64]) -> Vec<Admitted> {
        values.iter().map(|&value| Admitted::Value(Scalar::F64(value))).collect()
    }

    fn f64s(values: &[f64]) -> Vec<Data> {
        values.iter().map(|&value| vec![value].into()).collect()
    }

    fn between(lower: f64, upper: f64) -> Admitted {
        Admitted::Between { lower: Scalar::F64(lower), upper: Scalar::F64(upper) }
    }

    /// `log(o0) - o1`.
    fn near_zero() -> Expression {
        call(Function::Subtract, [call(Function::Log, [op(0)]), op(1)])
    }

    #[test]
    fn an_inexact_function_admits_4_ulps_on_both_sides_of_the_correctly_rounded_value() {
        // e is 0x402df854 in f32.
        let exp = || call(Function::Exp, [op(0)]);
        let [lower, upper] = [0x402d_f850, 0x402d_f858].map(|bits| Scalar::F32(f32::from_bits(bits)));
        assert_eq!(elementwise(exp(), &[vec![1f32].into()]), [Admitted::Between { lower, upper }]);
        // exp(0) is exactly 1 (V-4).
        assert_eq!(elementwise(exp(), &[vec![0f32].into()]), []);
        // exp(-104) is 0.486 of the smallest subnormal, so it rounds to 0: 4 subnormals on both sides.
        let [lower, upper] = [0x8000_0004, 4].map(|bits| Scalar::F32(f32::from_bits(bits)));
        assert_eq!(elementwise(exp(), &[vec![-104f32].into()]), [Admitted::Between { lower, upper }]);
    }

    #[test]
    fn an_extreme_of_two_zeros_is_either_and_all_that_follows() {
        let maximum = || call(Function::Maximum, [op(0), op(1)]);
        let zeros = f64s(&[0.0, -0.0, 1.0]);
        assert_eq!(elementwise(maximum(), &zeros[..2]), values(&[-0.0, 0.0]));
        let quotient = call(Function::Divide, [op(2), maximum()]);
        assert_eq!(elementwise(quotient, &zeros), values(&[f64::NEG_INFINITY, f64::INFINITY]));
        let request = request(Operation::Elementwise { expression: maximum() }, &zeros[..2]);
        let ordered = Latitude { any_zero_of_extremes: false, ..Latitude::ANY };
        assert_eq!(entries_of(&request, ordered), []);
    }

    #[test]
    fn a_zero_of_a_case_with_any_sign_has_both() {
        let exp = call(Function::Multiply, [call(Function::Exp, [op(0)]), op(1)]);
        let request = request(Operation::Elementwise { expression: exp }, &f64s(&[1.0, 0.0]));
        let expected = ExpectedResult { any_zero_sign: true, ..expected(&request) };
        let list = |expected| admitted(&request, &expected, Latitude::ANY).unwrap();
        assert_eq!(list(expected.clone())[&0], values(&[-0.0, 0.0]));
        // Also where nothing but the expected value is known, because its shape is another one.
        let tensor = Tensor::new([2], vec![0.0, 1.0]).unwrap();
        assert_eq!(list(ExpectedResult { tensor, ..expected }), [(0, values(&[-0.0, 0.0]))].into());
    }

    #[test]
    fn everything_is_an_interval_of_the_dtype_and_nan_or_both_booleans() {
        // The derivative of |log(o0) - o1| at the borderline is of either sign, or undefined.
        let edge = f64s(&[2.0, 2f64.ln()]);
        let abs = call(Function::Abs, [near_zero()]);
        let [numbers, Admitted::Value(nan)] = gradient(abs, &edge)[..] else { panic!("an interval and NaN") };
        assert_eq!(numbers, between(f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!(nan.to_bits(), f64::NAN.to_bits());
        // 1/maximum(0, -0) is an infinity of either sign.
        let quotient = call(Function::Divide, [op(0), call(Function::Maximum, [op(1), op(2)])]);
        assert_eq!(gradient(quotient, &f64s(&[1.0, 0.0, -0.0])), everything(DType::F64));
        let less = call(Function::Less, [call(Function::Log, [op(0)]), op(1)]);
        assert_eq!(elementwise(less, &edge), [false, true].map(|value| Admitted::Value(Scalar::Bool(value))));
        let limits = |dtype| match everything(dtype)[..] {
            [Admitted::Between { lower, upper }] => (lower, upper),
            ref other => panic!("{other:?}"),
        };
        assert_eq!(limits(DType::I8), (Scalar::I8(-128), Scalar::I8(127)));
        assert_eq!(limits(DType::U64), (Scalar::U64(0), Scalar::U64(u64::MAX)));
        let half = [f16::NEG_INFINITY, f16::INFINITY].map(Scalar::F16);
        let [lower, upper] = half;
        let both = [Admitted::Between { lower, upper }, Admitted::Value(Scalar::F16(f16::NAN))];
        assert_eq!(everything(DType::F16), both);
    }

    #[test]
    fn integers_are_listed_in_ascending_order() {
        // o2 if log(o0) < o1, else o3.
        let less = call(Function::Less, [call(Function::Log, [op(0)]), op(1)]);
        let select = call(Function::Select, [less, op(2), op(3)]);
        let operands = |two: i32, three: i32| {
            let mut operands = f64s(&[2.0, 2f64.ln()]);
            operands.extend([two, three].map(|value| Data::from(vec![value])));
            operands
        };
        let both = [-7, 5].map(|value| Admitted::Value(Scalar::I32(value)));
        assert_eq!(elementwise(select.clone(), &operands(-7, 5)), both);
        assert_eq!(elementwise(select.clone(), &operands(5, -7)), both);
        assert_eq!(elementwise(select, &operands(5, 5)), []);
    }

    #[test]
    fn a_gradient_admits_its_interval_and_both_zeros() {
        let product = || call(Function::Multiply, [op(0), op(1)]);
        assert_eq!(gradient(product(), &f64s(&[3.0, 5.0])), []);
        assert_eq!(gradient(product(), &f64s(&[3.0, 0.0])), values(&[-0.0, 0.0]));
        assert_eq!(gradient(product(), &f64s(&[3.0, f64::NAN])), []);
        // A pole within the ULPs of the logarithm, beside it and at it: all.
        let quotient = call(Function::Divide, [op(2), near_zero()]);
        for limit in [2f64.ln().next_up(), 2f64.ln()] {
            assert_eq!(gradient(quotient.clone(), &f64s(&[2.0, limit, 1.0])), everything(DType::F64));
        }
        // The base of a root has a pole, and that of a square has none.
        let power = call(Function::Power, [near_zero(), op(2)]);
        let of_power = |exponent| gradient(power.clone(), &f64s(&[2.0, 2f64.ln(), exponent]));
        assert_eq!(of_power(-1.0), everything(DType::F64));
        assert_eq!(of_power(2.0), [between(-f64::MAX, f64::MAX)]);
        // Where nothing but the operands is 0, the pole is certain.
        let root = call(Function::Sqrt, [call(Function::Multiply, [op(0), call(Function::Exp, [op(1)])])]);
        assert_eq!(gradient(root, &f64s(&[0.0, 1.0])), []);
        // A pole that two answers together may reach: every finite number, and no other.
        let further = (0..6).fold(2f64.ln(), |limit, _| limit.next_up());
        assert_eq!(gradient(quotient, &f64s(&[2.0, further, 1.0])), [between(-f64::MAX, f64::MAX)]);
        // The derivative of 1/o0 at 3 is -1/9; one function gives 8 eps·|t| on both sides (V-6).
        let inverse = call(Function::Divide, [op(1), op(0)]);
        let [Admitted::Between { lower, upper }] = gradient(inverse, &f64s(&[3.0, 1.0]))[..] else {
            panic!("an interval")
        };
        let room = 8.0 * f64::EPSILON / 9.0;
        let [below, above] = [lower, upper].map(|end| (end.as_f64().unwrap() + 1.0 / 9.0).abs());
        assert!((0.99 * room..1.3 * room).contains(&below) && (0.99 * room..1.3 * room).contains(&above));
    }

    #[test]
    fn a_wrong_expected_value_is_an_error_or_the_only_right_one() {
        let of = |expression: Expression, operands: &[f64], value: f64| {
            let request = request(Operation::Elementwise { expression }, &f64s(operands));
            let mut expected = expected(&request);
            expected.tensor = Tensor::new([], vec![value]).unwrap();
            admitted(&request, &expected, Latitude::ANY)
        };
        let error = of(call(Function::Exp, [op(0)]), &[1.0], 2.71).unwrap_err();
        assert!(error.detail.contains("expected 2.71, which is itself not within 2 ULP"), "{error}");
        let maximum = call(Function::Maximum, [op(0), op(1)]);
        assert!(of(maximum, &[0.0, -0.0], 1.0).unwrap().is_empty());
        // For a gradient as well.
        let operation = Operation::Gradient { expression: call(Function::Exp, [op(0)]), wrt: 0 };
        let request = request(operation, &f64s(&[1.0]));
        let wrong = ExpectedResult::from(Tensor::new([], vec![2.71]).unwrap());
        assert!(admitted(&request, &wrong, Latitude::ANY).unwrap().is_empty());
        let of_another_dtype = ExpectedResult::from(Tensor::new([], vec![2.71f32]).unwrap());
        assert!(admitted(&request, &of_another_dtype, Latitude::ANY).unwrap().is_empty());
    }
}
