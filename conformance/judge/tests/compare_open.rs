//! Tests what an inexact function leaves open and what it does not: borderline conditions, integers that
//! depend on them, zeros of either sign, and powers of negative numbers (clauses V-3, V-4, V-4b).

use broadcheck_judge::compare::{DifferenceKind, Latitude, Verdict, compare_outcomes, judge, same_outcome};
use broadcheck_reference::{Reference, apply};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    Capabilities, DType, Data, Expectation, ExpectedResult, Expression, Function, Implementation, Operand,
    Operation, Outcome, Refusal, RefusalKind, Request, Rules, Scalar, Success, Tensor,
};

fn op(place: usize) -> Expression {
    Expression::operand(place)
}

fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
    Expression::call(function, arguments).expect("the right arity")
}

/// A request over scalars.
fn scalars(operation: Operation, values: Vec<Data>) -> Request {
    let operand =
        |(place, data): (usize, Data)| Operand::dense(format!("o{place}"), [], data).expect("an operand");
    Request::new(Rules::Numpy, operation, values.into_iter().enumerate().map(operand).collect())
        .expect("a request")
}

fn elementwise(expression: Expression, values: Vec<Data>) -> Request {
    scalars(Operation::Elementwise { expression }, values)
}

fn scalar(data: impl Into<Data>) -> Tensor {
    Tensor::new([], data).expect("one value")
}

/// Whether an answer passes if the reference's answer is expected.
fn passes(request: &Request, answer: impl Into<Data>) -> bool {
    let success = match Reference::new().run(request) {
        Outcome::Success(success) => success,
        other => panic!("{other:?}"),
    };
    passes_against(request, ExpectedResult::from(success.tensor), answer)
}

fn passes_against(request: &Request, expected: ExpectedResult, answer: impl Into<Data>) -> bool {
    let answer = Outcome::Success(Success::from(scalar(answer)));
    match judge(request, &Expectation::Result(expected), &answer, Latitude::ANY) {
        Verdict::Passed => true,
        Verdict::Failed(_) => false,
        other => panic!("{other:?}"),
    }
}

fn f64s(values: &[f64]) -> Vec<Data> {
    values.iter().map(|&value| vec![value].into()).collect()
}

fn i32s(values: &[i32]) -> Vec<Data> {
    values.iter().map(|&value| vec![value].into()).collect()
}

#[test]
fn only_zeros_of_either_sign_pass_if_the_case_says_so() {
    let tanh = |x: f64| elementwise(call(Function::Tanh, [op(0)]), f64s(&[x]));
    let any = |x: f64, answer: f64| {
        let expected = ExpectedResult { any_zero_sign: true, ..ExpectedResult::from(scalar(vec![x.tanh()])) };
        passes_against(&tanh(x), expected, vec![answer])
    };
    assert!(any(-0.0, -0.0) && any(-0.0, 0.0));
    assert!(!any(-0.0, 1.0) && !any(-0.0, f64::NAN));
    assert!(any(0.5, 0.5f64.tanh()) && !any(0.5, 0.0));
    assert!(!passes(&tanh(-0.0), vec![0.0]), "without `zero_sign: any` the sign is exact");
}

/// A number of a float dtype that each of them can represent.
fn float(dtype: DType, value: f64) -> Data {
    let number = match dtype {
        DType::F64 => Scalar::F64(value),
        #[allow(clippy::cast_possible_truncation, reason = "the value is exact in f32")]
        DType::F32 => Scalar::F32(value as f32),
        DType::F16 => Scalar::F16(f16::from_f64(value)),
        _ => Scalar::Bf16(bf16::from_f64(value)),
    };
    Data::from_scalars(dtype, [number]).expect("a number of the dtype")
}

const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::Bf16];
const INF: f64 = f64::INFINITY;

/// Checks which answers pass, in every float dtype: for an implementation that may return either zero, and
/// for one that orders them.
#[track_caller]
fn admits(expression: &Expression, operands: &[f64], free: &[f64], ordered: f64) {
    let candidates = [0.0, -0.0, 1.0, -1.0, 2.0, 3.0, -3.0, 5.0, INF, -INF, f64::NAN];
    let same = |one: f64, other: f64| one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan());
    for dtype in FLOATS {
        let values = operands.iter().map(|&value| float(dtype, value)).collect();
        let request = elementwise(expression.clone(), values);
        let Outcome::Success(right) = Reference::new().run(&request) else { panic!("{request:?}") };
        assert!(same(right.tensor.values().get(0).and_then(Scalar::as_f64).unwrap(), ordered));
        let expectation = Expectation::Result(ExpectedResult::from(right.tensor.clone()));
        for answer in candidates {
            let outcome = Outcome::Success(Success::from(scalar(float(dtype, answer))));
            for (admitted, any_zero_of_extremes) in [(free, true), (&[ordered][..], false)] {
                let latitude = Latitude { any_zero_of_extremes, ..Latitude::ANY };
                let verdict = judge(&request, &expectation, &outcome, latitude);
                let due = admitted.iter().any(|&one| same(one, answer));
                assert_eq!(verdict == Verdict::Passed, due, "{dtype} {answer} free: {any_zero_of_extremes}");
                // Two implementations are compared by the same rule, in either order.
                let first = Outcome::Success(right.clone());
                assert_eq!(compare_outcomes(&request, &first, &outcome, latitude) == Verdict::Passed, due);
                assert_eq!(compare_outcomes(&request, &outcome, &first, latitude) == Verdict::Passed, due);
            }
        }
    }
}

#[test]
fn an_extreme_of_two_zeros_is_either_and_all_that_follows() {
    let divided = |function| call(Function::Divide, [op(2), call(function, [op(0), op(1)])]);
    for (function, zero) in [(Function::Maximum, 0.0), (Function::Minimum, -0.0)] {
        let extreme = || call(function, [op(0), op(1)]);
        for zeros in [[0.0, -0.0], [-0.0, 0.0]] {
            let with = |more: &[f64]| [&zeros[..], more].concat();
            admits(&extreme(), &with(&[]), &[0.0, -0.0], zero);
            admits(&divided(function), &with(&[1.0]), &[INF, -INF], 1.0 / zero);
            // 0/0 is NaN whatever the sign, and the sign of a zero is lost in a sum with +0.
            admits(&divided(function), &with(&[0.0]), &[f64::NAN], f64::NAN);
            admits(&call(Function::Add, [extreme(), op(2)]), &with(&[0.0]), &[0.0], 0.0);
            admits(&call(Function::Add, [op(2), extreme()]), &with(&[-0.0]), &[0.0, -0.0], zero + -0.0);
            admits(&call(Function::Abs, [extreme()]), &with(&[]), &[0.0], 0.0);
            // Each extreme chooses by itself: max - max is -0 if the first is -0 and the second +0.
            let difference = call(Function::Subtract, [extreme(), extreme()]);
            admits(&difference, &with(&[]), &[0.0, -0.0], zero - zero);
            // A select decides by what follows, and a comparison of zeros decides nothing.
            let below = call(Function::Less, [divided(function), op(2)]);
            let chosen = call(Function::Select, [below, op(3), op(4)]);
            let ordered = if 1.0 / zero < 1.0 { 3.0 } else { 5.0 };
            admits(&chosen, &with(&[1.0, 3.0, 5.0]), &[3.0, 5.0], ordered);
            let equal = call(Function::Equal, [extreme(), op(2)]);
            let chosen = call(Function::Select, [equal, op(3), op(4)]);
            admits(&chosen, &with(&[0.0, 3.0, 5.0]), &[3.0], 3.0);
            // An extreme of an extreme, and one that a select hides.
            let nested = call(Function::Maximum, [extreme(), op(2)]);
            admits(&nested, &with(&[-0.0]), &[0.0, -0.0], zero);
            let hidden = call(Function::Select, [call(Function::Less, [op(2), op(3)]), op(3), extreme()]);
            admits(&hidden, &with(&[1.0, 3.0]), &[3.0], 3.0);
            // The exact values of inexact functions follow too.
            admits(&call(Function::Exp, [extreme()]), &with(&[]), &[1.0], 1.0);
            admits(&call(Function::Tanh, [extreme()]), &with(&[]), &[0.0, -0.0], zero);
        }
    }
}

#[test]
fn an_extreme_of_anything_but_two_zeros_leaves_no_sign_open() {
    for function in [Function::Maximum, Function::Minimum] {
        let extreme = || call(function, [op(0), op(1)]);
        let product = call(Function::Multiply, [extreme(), op(2)]);
        for pair in [[1.0, 2.0], [2.0, 1.0]] {
            admits(&product, &[pair[0], pair[1], -0.0], &[-0.0], -0.0);
        }
        admits(&product, &[-3.0, -1.0, -0.0], &[0.0], 0.0);
        // Zeros of one sign, and a zero beside a number.
        for zero in [0.0, -0.0] {
            admits(&extreme(), &[zero, zero], &[zero], zero);
            admits(
                &call(Function::Divide, [op(2), extreme()]),
                &[zero, zero, 1.0],
                &[1.0 / zero],
                1.0 / zero,
            );
        }
        let loser = if function == Function::Maximum { -3.0 } else { 3.0 };
        admits(&extreme(), &[-0.0, loser], &[-0.0], -0.0);
        admits(&extreme(), &[loser, 0.0], &[0.0], 0.0);
        admits(&extreme(), &[-0.0, f64::NAN], &[f64::NAN], f64::NAN);
    }
}

#[test]
fn both_outcomes_must_follow_from_some_zero() {
    // A wrong first outcome is not excused by a second one that is right.
    let request = elementwise(call(Function::Maximum, [op(0), op(1)]), f64s(&[0.0, -0.0]));
    let outcome = |value: f64| Outcome::Success(Success::from(scalar(vec![value])));
    let verdict = |one, other| compare_outcomes(&request, &outcome(one), &outcome(other), Latitude::ANY);
    assert_eq!(verdict(0.0, -0.0), Verdict::Passed);
    assert!(
        matches!(verdict(5.0, 0.0), Verdict::Failed(_)) && matches!(verdict(0.0, 5.0), Verdict::Failed(_))
    );
}

#[test]
fn an_element_of_a_gradient_is_open_if_it_depends_on_the_sign_of_a_free_zero() {
    // a / max(b, c) by a, for b (2) and c (2): 1/max is infinite in the first column, where b is 0 and c is
    // -0, and 1/2 in the other.
    let expression = call(Function::Divide, [op(0), call(Function::Maximum, [op(1), op(2)])]);
    let operand = |name, values: Vec<f64>| Operand::dense(name, [2], values).expect("an operand");
    let operands =
        vec![operand("a", vec![1.0, 1.0]), operand("b", vec![0.0, 2.0]), operand("c", vec![-0.0, 1.0])];
    let request = |wrt| {
        let operation = Operation::Gradient { expression: expression.clone(), wrt };
        Request::new(Rules::Numpy, operation, operands.clone()).expect("a request")
    };
    let passes = |wrt, values: [f64; 2], any_zero_of_extremes| {
        let request = request(wrt);
        let Outcome::Success(right) = Reference::new().run(&request) else { panic!("{request:?}") };
        let answer = Tensor::new([2], values.to_vec()).expect("two values");
        let latitude = Latitude { any_zero_of_extremes, ..Latitude::ANY };
        let expectation = Expectation::Result(ExpectedResult::from(right.tensor));
        judge(&request, &expectation, &Outcome::Success(Success::from(answer)), latitude) == Verdict::Passed
    };
    for free in [false, true] {
        assert!(passes(0, [INF, 0.5], free));
        assert_eq!(passes(0, [-INF, 0.5], free), free);
        assert!(!passes(0, [INF, 0.25], free), "the other column does not depend on a zero");
    }
}

/// `exp(o0) > o1`: open if o1 is e and o0 is 1, and true if o1 is 2.
fn above() -> Expression {
    call(Function::Greater, [call(Function::Exp, [op(0)]), op(1)])
}

/// o2 or o3.
fn choice(then: usize, other: usize) -> Expression {
    call(Function::Select, [above(), op(then), op(other)])
}

const E: f64 = std::f64::consts::E;

#[test]
fn a_condition_that_is_decided_admits_one_branch() {
    let request = |edge: f64| elementwise(choice(2, 3), f64s(&[1.0, edge, 10.0, 20.0]));
    assert!(passes(&request(2.0), vec![10.0]) && !passes(&request(2.0), vec![20.0]));
    assert!(passes(&request(3.0), vec![20.0]) && !passes(&request(3.0), vec![10.0]));
    assert!(passes(&request(E), vec![10.0]) && passes(&request(E), vec![20.0]), "both on the borderline");
    assert!(!passes(&request(E), vec![15.0]));
}

#[test]
fn equality_with_a_distant_value_is_false() {
    let equal =
        |x: f64| elementwise(call(Function::Equal, [call(Function::Exp, [op(0)]), op(1)]), f64s(&[1.0, x]));
    for far in [2.0, 3.0] {
        assert!(passes(&equal(far), vec![false]) && !passes(&equal(far), vec![true]));
    }
    assert!(passes(&equal(E), vec![false]) && passes(&equal(E), vec![true]));
}

/// A sum of `count` choices between a power of two and 0. If `edge` is e, each of them is open.
fn sum_of_choices(count: usize, edge: f64) -> (Expression, Vec<Data>) {
    let mut values = f64s(&[1.0, edge]);
    values.extend(i32s(&[0]));
    values.extend((0..count).map(|place| Data::from(vec![1i32 << place])));
    let sum = (1..count).fold(choice(3, 2), |sum, place| call(Function::Add, [sum, choice(3 + place, 2)]));
    (sum, values)
}

#[test]
fn integers_that_depend_on_conditions_are_tracked() {
    let sum = |count: usize, edge: f64| {
        let (expression, values) = sum_of_choices(count, edge);
        elementwise(expression, values)
    };
    assert!(passes(&sum(2, 2.0), vec![3i32]) && !passes(&sum(2, 2.0), vec![2i32]), "nothing is open");
    assert!((0..4).all(|answer| passes(&sum(2, E), vec![answer])) && !passes(&sum(2, E), vec![4i32]));
    // Up to 64 possibilities are tracked.
    assert!(passes(&sum(6, E), vec![63i32]) && !passes(&sum(6, E), vec![64i32]));
    assert!(passes(&sum(7, E), vec![1000i32]), "too many to track");
}

#[test]
fn too_many_possibilities_still_compare_to_true_or_false() {
    let (sum, mut values) = sum_of_choices(7, E);
    let twice = elementwise(call(Function::Add, [sum.clone(), sum.clone()]), values.clone());
    assert!(passes(&twice, vec![1000i32]), "a sum of anything is anything");
    let place = values.len();
    values.extend(i32s(&[5, 6, 7]));
    let equal = call(Function::Equal, [sum, op(place)]);
    let request = elementwise(call(Function::Select, [equal, op(place + 1), op(place + 2)]), values);
    assert!(passes(&request, vec![6i32]) && passes(&request, vec![7i32]) && !passes(&request, vec![5i32]));
}

#[test]
fn a_negative_number_to_a_fractional_power_is_nan() {
    let power = call(Function::Power, [op(0), call(Function::Exp, [op(1)])]);
    let request = elementwise(power, f64s(&[-2.0, 0.5]));
    let value = 2f64.powf(0.5f64.exp());
    assert!(
        passes(&request, vec![f64::NAN]) && !passes(&request, vec![value]) && !passes(&request, vec![-value])
    );
}

#[test]
fn a_negative_number_to_a_power_near_an_integer_is_tracked_closely() {
    // By hand: log(e²) is within 4 ULPs of 2, which becomes at most 6 ULPs of 4. The power itself may be off
    // by 4 ULPs, and by 1 of the reference's: 9 above 4 are possible, 12 are not.
    let power = call(Function::Power, [op(0), call(Function::Log, [op(1)])]);
    let request = elementwise(power, f64s(&[-2.0, 2f64.exp()]));
    let four = |steps: u64| f64::from_bits(4f64.to_bits() + steps);
    assert!(
        passes(&request, vec![four(9)])
            && passes(&request, vec![-four(9)])
            && passes(&request, vec![f64::NAN])
    );
    assert!(!passes(&request, vec![four(12)]) && !passes(&request, vec![-four(12)]));
}

/// The reference, declaring that it may return zeros of either sign.
struct Careless;

impl Implementation for Careless {
    fn name(&self) -> &'static str {
        "careless"
    }
    fn version(&self) -> &'static str {
        "0"
    }
    fn capabilities(&self) -> &Capabilities {
        static ALL: std::sync::LazyLock<Capabilities> = std::sync::LazyLock::new(Capabilities::all);
        &ALL
    }
    fn run(&self, request: &Request) -> Outcome {
        Reference::new().run(request)
    }
}

#[test]
fn latitude_is_what_an_implementation_asks_for() {
    let (strict, careless) = (Latitude::of(&Reference::new()), Latitude::of(&Careless));
    assert_eq!(strict, Latitude { ulp: 1, any_zero_of_extremes: false });
    assert_eq!(careless, Latitude { ulp: 4, any_zero_of_extremes: true });
    assert_eq!(Latitude::of_both(&Reference::new(), &Careless), careless);
    assert_eq!(Latitude::of_both(&Careless, &Reference::new()), careless);
    assert_eq!(Latitude::of_both(&Reference::new(), &Reference::new()), strict);
}

#[test]
fn gradients_of_extremes_of_zeros_are_compared() {
    let a = Operand::dense("a", [2, 1], vec![0.0, 1.0]).expect("an operand");
    let b = Operand::dense("b", [3], vec![-0.0, 0.0, 2.0]).expect("an operand");
    let expression = call(Function::Maximum, [op(0), op(1)]);
    let operation = Operation::Gradient { expression, wrt: 1 };
    let request = Request::new(Rules::Numpy, operation, vec![a, b]).expect("a request");
    let answer =
        |values: Vec<f64>| Outcome::Success(Success::from(Tensor::new([3], values).expect("three values")));
    // By hand: there are two zeros in two columns, half each; in the second row a wins twice, and b wins in
    // the last column.
    let right = answer(vec![0.5, 0.5, 2.0]);
    assert_eq!(
        compare_outcomes(&request, &right, &Reference::new().run(&request), Latitude::ANY),
        Verdict::Passed
    );
    let wrong = compare_outcomes(&request, &right, &answer(vec![1.5, 0.5, 2.0]), Latitude::ANY);
    assert!(matches!(wrong, Verdict::Failed(_)), "{wrong:?}");
}

/// A number some steps above another one.
fn above_by(value: f64, steps: u64) -> Outcome {
    Outcome::Success(Success::from(scalar(vec![f64::from_bits(value.to_bits() + steps)])))
}

#[test]
fn the_first_side_has_the_latitude_that_both_ask_for() {
    let passes = |function: Function, argument: f64, steps: u64, ulp: u32| {
        let request = elementwise(call(function, [op(0)]), f64s(&[argument]));
        let value = match apply(function, &[Scalar::F64(argument)]) {
            Scalar::F64(value) => value,
            other => panic!("{other}"),
        };
        let latitude = Latitude { ulp, any_zero_of_extremes: false };
        let (one, other) = (above_by(value, steps), above_by(value, 0));
        compare_outcomes(&request, &one, &other, latitude) == Verdict::Passed
    };
    assert!(passes(Function::Exp, 1.0, 4, 4), "as wide as requested");
    assert!(!passes(Function::Exp, 1.0, 3, 2), "an expected value's 2 ULPs, from the reference's value");
    assert!(passes(Function::Log, 2.0, 2, 1), "never less than those 2 ULPs");
    assert!(!passes(Function::Log, 2.0, 3, 1));
}

#[test]
fn refusals_are_equal_by_kind_axis_and_operand() {
    let refusal = |kind, axis, operand, message: &str| {
        Outcome::Refusal(Refusal { kind: Some(kind), axis, operand, message: message.into() })
    };
    let one = refusal(RefusalKind::FlagViolation, Some(1), Some(0), "so");
    assert!(same_outcome(&one, &refusal(RefusalKind::FlagViolation, Some(1), Some(0), "or so")));
    assert!(!same_outcome(&one, &refusal(RefusalKind::NotBroadcastable, Some(1), Some(0), "so")));
    assert!(!same_outcome(&one, &refusal(RefusalKind::FlagViolation, Some(2), Some(0), "so")));
    assert!(!same_outcome(&one, &refusal(RefusalKind::FlagViolation, Some(1), Some(1), "so")));
    assert!(!same_outcome(&one, &above_by(1.0, 0)));
}

#[test]
fn results_are_equal_by_shape_values_and_the_extras_of_both() {
    let result = |shape: &[usize], intermediate: Option<f64>, flags: Option<bool>| {
        Outcome::Success(Success {
            tensor: Tensor::new(shape, vec![1.0]).expect("one value"),
            intermediate: intermediate.map(|value| scalar(vec![value])),
            broadcastable: flags.map(|flag| vec![flag]),
            buffer: None,
        })
    };
    let one = result(&[1], Some(1.0), Some(true));
    assert!(same_outcome(&one, &one) && same_outcome(&one, &result(&[1], None, None)));
    assert!(!same_outcome(&one, &result(&[1, 1], Some(1.0), Some(true))));
    assert!(!same_outcome(&one, &result(&[1], Some(2.0), Some(true))));
    assert!(!same_outcome(&one, &result(&[1], Some(1.0), Some(false))));
    let a = Operand::dense("a", [1], vec![1.0]).expect("an operand");
    let request = Request::new(Rules::Theano, Operation::Elementwise { expression: op(0) }, vec![a])
        .expect("a request");
    let other = compare_outcomes(&request, &one, &result(&[1], None, Some(false)), Latitude::ANY);
    assert!(matches!(&other, Verdict::Failed(found) if found.kind == DifferenceKind::Extra), "{other:?}");
}

/// Whether an answer to the gradient by o0 passes if the reference's is expected.
fn gradient_passes(expression: Expression, values: &[f64], answer: f64) -> bool {
    passes(&scalars(Operation::Gradient { expression, wrt: 0 }, f64s(values)), vec![answer])
}

/// `log(o0) - o1`: near 0, of either sign, if o1 is the logarithm of o0.
fn near_zero() -> Expression {
    call(Function::Subtract, [call(Function::Log, [op(0)]), op(1)])
}

#[test]
fn the_derivative_of_abs_is_open_if_the_sign_is() {
    let abs = || call(Function::Abs, [near_zero()]);
    let edge = 2f64.ln();
    assert!(gradient_passes(abs(), &[2.0, edge], 0.5) && gradient_passes(abs(), &[2.0, edge], -0.5));
    assert!(gradient_passes(abs(), &[2.0, 0.0], 0.5) && !gradient_passes(abs(), &[2.0, 0.0], -0.5));
    assert!(gradient_passes(abs(), &[2.0, 1.0], -0.5) && !gradient_passes(abs(), &[2.0, 1.0], 0.5));
}

#[test]
fn the_derivative_of_a_root_of_abs_is_open_if_the_sign_is() {
    // By hand: at a distance d from 0 the derivative is 1/4 of 1/√d, of either sign, and at 0 it is
    // undefined.
    let root = || call(Function::Sqrt, [call(Function::Abs, [near_zero()])]);
    for answer in [0.25e8, -0.25e8, f64::NAN] {
        assert!(gradient_passes(root(), &[2.0, 2f64.ln()], answer), "{answer}");
    }
    assert!(!gradient_passes(root(), &[2.0, 0.0], f64::NAN));
}

#[test]
fn the_derivative_of_a_maximum_is_open_if_the_winner_is() {
    let maximum = || call(Function::Maximum, [call(Function::Log, [op(0)]), op(1)]);
    let edge = 2f64.ln();
    assert!(gradient_passes(maximum(), &[2.0, edge], 0.5) && gradient_passes(maximum(), &[2.0, edge], 0.0));
    assert!(gradient_passes(maximum(), &[2.0, 0.0], 0.5) && !gradient_passes(maximum(), &[2.0, 0.0], 0.0));
    assert!(gradient_passes(maximum(), &[2.0, 1.0], 0.0) && !gradient_passes(maximum(), &[2.0, 1.0], 0.5));
    assert!(!gradient_passes(maximum(), &[2.0, f64::NAN], 0.0), "NaN for both if one is NaN");
    // A number or NaN: if it is a number, it is 0 and equals o2.
    let root = call(Function::Multiply, [call(Function::Sqrt, [near_zero()]), op(2)]);
    for answer in [42.0, f64::INFINITY, f64::NAN] {
        assert!(gradient_passes(call(Function::Maximum, [root.clone(), op(2)]), &[2.0, edge, 0.0], answer));
    }
    // The same for another operand: o0 is 0, compared with 0 or NaN. By hand, half of 1, or NaN.
    let near_zero = call(Function::Subtract, [call(Function::Log, [op(1)]), op(2)]);
    let root = call(Function::Multiply, [call(Function::Sqrt, [near_zero]), op(3)]);
    for arguments in [[op(0), root.clone()], [root, op(0)]] {
        for answer in [0.5, f64::NAN] {
            let maximum = call(Function::Maximum, arguments.clone());
            assert!(gradient_passes(maximum, &[0.0, 2.0, edge, 0.0], answer), "{answer}");
        }
    }
    // An open function that is not differentiated leaves nothing open: whether o1 wins does not depend on o0.
    let beside = call(Function::Multiply, [op(0), call(Function::Abs, [call(Function::Exp, [op(1)])])]);
    assert!(!gradient_passes(beside, &[2.0, 0.5], 3.0));
    let near_zero = call(Function::Subtract, [call(Function::Log, [op(1)]), op(2)]);
    let beside = call(Function::Multiply, [op(0), call(Function::Abs, [near_zero])]);
    assert!(!gradient_passes(beside, &[1.0, 2.0, edge], f64::INFINITY));
}

#[test]
fn an_open_branch_admits_values_that_are_not_finite() {
    // By hand: multiplied by infinity, the derivative is infinite on one side of the branch, and 0 or the
    // opposite infinity on the other.
    let infinite = |branch: Expression, values: &[f64], answer: f64| {
        let values: Vec<f64> = values.iter().copied().chain([f64::INFINITY]).collect();
        let factor = op(values.len() - 1);
        gradient_passes(call(Function::Multiply, [branch, factor]), &values, answer)
    };
    let edge = 2f64.ln();
    let abs = || call(Function::Abs, [near_zero()]);
    let maximum = || call(Function::Maximum, [call(Function::Log, [op(0)]), op(1)]);
    let minimum = || call(Function::Minimum, [op(1), call(Function::Log, [op(0)])]);
    for branch in [abs(), maximum(), minimum()] {
        for answer in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0] {
            assert!(infinite(branch.clone(), &[2.0, edge], answer), "{answer}");
        }
    }
    for (branch, below, above) in [
        (abs(), f64::INFINITY, f64::NEG_INFINITY),
        (maximum(), f64::INFINITY, 0.0),
        (minimum(), 0.0, f64::INFINITY),
    ] {
        // The logarithm is between 0 and 1.
        for (edge, right, wrong) in [(0.0, below, above), (1.0, above, below)] {
            assert!(infinite(branch.clone(), &[2.0, edge], right), "{right} at {edge}");
            assert!(!infinite(branch.clone(), &[2.0, edge], wrong), "{wrong} at {edge}");
        }
    }
}

#[test]
fn a_branch_left_open_by_another_operand_admits_values_that_are_not_finite() {
    // o0 times infinity if log o1 is above o2, else o2: the gradient by o0 is infinite or 0.
    let condition = || call(Function::Greater, [call(Function::Log, [op(1)]), op(2)]);
    let chosen = || call(Function::Multiply, [call(Function::Select, [condition(), op(0), op(2)]), op(3)]);
    let passes = |edge: f64, answer: f64| gradient_passes(chosen(), &[1.0, 2.0, edge, f64::INFINITY], answer);
    assert!(passes(2f64.ln(), f64::INFINITY) && passes(2f64.ln(), 0.0));
    assert!(passes(0.0, f64::INFINITY) && !passes(0.0, 0.0));
    assert!(passes(1.0, 0.0) && !passes(1.0, f64::INFINITY));
    // Open parts that are not differentiated do not matter: the choice does not depend on o0.
    let beside = call(Function::Select, [condition(), op(2), op(3)]);
    let beside = call(Function::Multiply, [op(0), call(Function::Negate, [beside])]);
    let finite = |answer: f64| gradient_passes(beside.clone(), &[1.0, 2.0, 0.0, 5.0], answer);
    assert!(finite(0.0) && !finite(f64::INFINITY) && !finite(-5.0));
}

#[test]
fn an_open_branch_affects_only_its_element() {
    // By hand: the last element of each row of a is on the borderline, where half of 1/a is expected; the
    // first element wins, 1/4, and the third loses.
    let a = Operand::dense("a", [2, 2], vec![4.0, 2.0, 1.0, 5.0]).expect("an operand");
    let b = Operand::dense("b", [2, 1], vec![2f64.ln(), 5f64.ln()]).expect("an operand");
    let expression = call(Function::Maximum, [call(Function::Log, [op(0)]), op(1)]);
    let request = Request::new(Rules::Numpy, Operation::Gradient { expression, wrt: 0 }, vec![a, b])
        .expect("a request");
    let right = [0.25, 0.25, 0.0, 0.1];
    let expected =
        Expectation::Result(ExpectedResult::from(Tensor::new([2, 2], right.to_vec()).expect("four")));
    for (place, by) in (0..4).flat_map(|place| [(place, 7.0), (place, f64::INFINITY)]) {
        let mut wrong = right;
        wrong[place] += by;
        let answer = Outcome::Success(Success::from(Tensor::new([2, 2], wrong.to_vec()).expect("four")));
        let verdict = judge(&request, &expected, &answer, Latitude::ANY);
        assert_eq!(verdict == Verdict::Passed, place % 2 == 1, "element {place}: {verdict:?}");
    }
}

#[test]
fn an_inner_ulp_widens_only_its_element() {
    // By hand, for power(a, exp(a)) by a: at 3.625 one ULP of exp(a), 37.5, moves the power by 37.5
    // log(3.625) = 48 ULPs, and 8 are allowed in either direction. At 1, where log is 0, it moves only the
    // factor exp(a): 200 ULPs are too many.
    let a = Operand::dense("a", [2, 2], vec![1.0, 1.0, 1.0, 3.625]).expect("an operand");
    let expression = call(Function::Power, [op(0), call(Function::Exp, [op(0)])]);
    let request =
        Request::new(Rules::Numpy, Operation::Gradient { expression, wrt: 0 }, vec![a]).expect("a request");
    let Outcome::Success(success) = Reference::new().run(&request) else { panic!("accepted") };
    let right: Vec<f64> = success.tensor.values().iter().filter_map(Scalar::as_f64).collect();
    let expected = Expectation::Result(ExpectedResult::from(success.tensor));
    for place in 0..4 {
        let mut other = right.clone();
        other[place] *= 1.0 + 200.0 * f64::EPSILON;
        let answer = Outcome::Success(Success::from(Tensor::new([2, 2], other).expect("four")));
        let verdict = judge(&request, &expected, &answer, Latitude::ANY);
        assert_eq!(verdict == Verdict::Passed, place == 3, "element {place}: {verdict:?}");
    }
}

#[test]
fn the_bound_of_a_gradient_depends_on_its_dtype() {
    // By hand, for tanh at 0.5 in bf16: f = 1, and |t| is 1 + tanh² = 1.2135: 8 · 2^-7 · 1.2135 = 0.0758.
    let expression = || call(Function::Tanh, [op(0)]);
    let gradient = |answer: f32| {
        let operation = Operation::Gradient { expression: expression(), wrt: 0 };
        let request = scalars(operation, vec![vec![bf16::from_f32(0.5)].into()]);
        passes(&request, vec![bf16::from_f32(answer)])
    };
    assert!(gradient(0.7864) && gradient(0.7864 + 0.07) && gradient(0.7864 - 0.07));
    assert!(!gradient(0.7864 + 0.09) && !gradient(0.7864 - 0.09));
    // Where nothing rounds there is no room.
    let half = |answer: f16| {
        let operation = Operation::Gradient { expression: call(Function::Multiply, [op(0), op(1)]), wrt: 0 };
        let one = |x: f32| -> Data { vec![f16::from_f32(x)].into() };
        passes(&scalars(operation, vec![one(1.0), one(0.0)]), vec![answer])
    };
    assert!(half(f16::ZERO) && half(f16::NEG_ZERO) && !half(f16::from_bits(1)));
}
