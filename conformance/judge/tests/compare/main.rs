//! Tests every verdict that the judge can give, with its message, and every fault that it must catch.

mod gradients;

use broadcheck_judge::compare::{
    Difference, DifferenceKind, Latitude, Verdict, compare_outcomes, expectation_of, judge,
};
use broadcheck_reference::Reference;
use broadcheck_spec::half::f16;
use broadcheck_spec::{
    Data, Expectation, ExpectedRefusal, ExpectedResult, Expression, Function, Implementation, Operand,
    Operation, Outcome, Refusal, RefusalKind, Request, Rules, Success, Tensor,
};

fn operand(place: usize) -> Expression {
    Expression::operand(place)
}

fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
    Expression::call(function, arguments).unwrap()
}

/// A request under numpy over operands a, b, c of these shapes and values.
fn request(operation: Operation, operands: &[(&[usize], Data)]) -> Request {
    let named = ["a", "b", "c"].iter().zip(operands);
    let operands = named.map(|(name, (shape, data))| Operand::dense(*name, *shape, data.clone()).unwrap());
    Request::new(Rules::Numpy, operation, operands.collect()).unwrap()
}

fn elementwise(expression: Expression, operands: &[(&[usize], Data)]) -> Request {
    request(Operation::Elementwise { expression }, operands)
}

fn tensor(shape: &[usize], data: impl Into<Data>) -> Tensor {
    Tensor::new(shape, data).unwrap()
}

fn expected(tensor: Tensor) -> Expectation {
    Expectation::Result(ExpectedResult::from(tensor))
}

fn answered(tensor: Tensor) -> Outcome {
    Outcome::Success(Success::from(tensor))
}

fn difference(verdict: Verdict) -> Difference {
    match verdict {
        Verdict::Failed(difference) => difference,
        other => panic!("{other:?}"),
    }
}

/// The judge's message about an answer if only the request and the expected tensor matter.
fn complaint(request: &Request, want: Tensor, got: Tensor) -> String {
    difference(judge(request, &expected(want), &answered(got), Latitude::ANY)).to_string()
}

fn matrix_plus_row() -> Request {
    let a: Data = vec![1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0].into();
    elementwise(
        call(Function::Add, [operand(0), operand(1)]),
        &[(&[2, 3], a), (&[3], vec![7.0f64, 8.0, 9.0].into())],
    )
}

fn sum() -> Vec<f64> {
    vec![8.0, 10.0, 12.0, 11.0, 13.0, 15.0]
}

#[test]
fn a_wrong_element_is_named_with_its_bits_and_counted() {
    let want = tensor(&[2, 3], sum());
    let verdict = judge(&matrix_plus_row(), &expected(want.clone()), &answered(want.clone()), Latitude::ANY);
    assert_eq!(verdict, Verdict::Passed);
    let mut wrong = sum();
    (wrong[1], wrong[5]) = (11.0, 16.0);
    assert_eq!(
        complaint(&matrix_plus_row(), want.clone(), tensor(&[2, 3], wrong)),
        "wrong values: element (0,1): expected 10.0 (0x4024000000000000), got 11.0 (0x4026000000000000) \
         (2 of 6 elements wrong)"
    );
    let mut next = sum();
    next[0] = 8.0f64.next_up();
    assert!(
        complaint(&matrix_plus_row(), want, tensor(&[2, 3], next)).contains("(0x4020000000000001)"),
        "one ULP"
    );
}

#[test]
fn transposed_values_are_caught() {
    let bare = elementwise(operand(0), &[(&[2, 2], vec![1i32, 2, 3, 4].into())]);
    assert_eq!(
        complaint(&bare, tensor(&[2, 2], vec![1i32, 2, 3, 4]), tensor(&[2, 2], vec![1i32, 3, 2, 4])),
        "wrong values: element (0,1): expected 2 (0x00000002), got 3 (0x00000003) (2 of 4 elements wrong)"
    );
}

#[test]
fn shape_and_dtype_come_before_values() {
    let want = tensor(&[2, 3], sum());
    assert_eq!(
        complaint(&matrix_plus_row(), want.clone(), tensor(&[2, 4], vec![0.0f64; 8])),
        "wrong shape: expected shape (2,3), got (2,4)"
    );
    assert_eq!(
        complaint(&matrix_plus_row(), want.clone(), tensor(&[6], sum())),
        "wrong shape: expected shape (2,3), got (6)"
    );
    let narrow: Vec<f32> = vec![8.0, 10.0, 12.0, 11.0, 13.0, 15.0];
    assert_eq!(
        complaint(&matrix_plus_row(), want, tensor(&[2, 3], narrow)),
        "wrong dtype: expected dtype f64, got f32"
    );
    let empty = elementwise(operand(0), &[(&[0, 3], Vec::<i8>::new().into())]);
    assert_eq!(
        complaint(&empty, tensor(&[0, 3], Vec::<i8>::new()), tensor(&[3, 0], Vec::<i8>::new())),
        "wrong shape: expected shape (0,3), got (3,0)"
    );
}

#[test]
fn every_dtype_is_shown_in_its_bits() {
    let scalar = |data: Data| tensor(&[], data);
    let message = |want: Data, got: Data| {
        complaint(&elementwise(operand(0), &[(&[], want.clone())]), scalar(want), scalar(got))
    };
    assert_eq!(
        message(vec![f16::ONE].into(), vec![f16::NAN].into()),
        "wrong values: element (): expected 1.0 (0x3c00), got .nan (0x7e00) (1 of 1 elements wrong)"
    );
    assert!(message(vec![1i8].into(), vec![-1i8].into()).contains("expected 1 (0x01), got -1 (0xff)"));
    assert!(message(vec![true].into(), vec![false].into()).contains("expected true, got false (1 of 1"));
    assert!(
        message(vec![0.0f32].into(), vec![-0.0f32].into())
            .contains("0.0 (0x00000000), got -0.0 (0x80000000)")
    );
}

#[test]
fn nans_are_equal_whatever_their_payload() {
    let bare = elementwise(operand(0), &[(&[1], vec![f64::NAN].into())]);
    let other = f64::from_bits(f64::NAN.to_bits() | 1 | 1 << 63);
    let want = expected(tensor(&[1], vec![f64::NAN]));
    let verdict = |value: f64| judge(&bare, &want, &answered(tensor(&[1], vec![value])), Latitude::ANY);
    assert_eq!(verdict(other), Verdict::Passed);
    assert_eq!(difference(verdict(1.0)).kind, DifferenceKind::Values);
}

#[test]
fn the_sign_of_zero_counts_unless_the_function_leaves_it_open() {
    let zeros = |function| {
        let operands: [(&[usize], Data); 2] = [(&[], vec![0.0f64].into()), (&[], vec![-0.0f64].into())];
        elementwise(call(function, [operand(0), operand(1)]), &operands)
    };
    let verdict = |function, any_zero_sign, latitude| {
        let want = ExpectedResult { any_zero_sign, ..ExpectedResult::from(tensor(&[], vec![0.0f64])) };
        judge(&zeros(function), &Expectation::Result(want), &answered(tensor(&[], vec![-0.0f64])), latitude)
    };
    let strict = Latitude { any_zero_of_extremes: false, ..Latitude::ANY };
    assert_eq!(difference(verdict(Function::Add, false, Latitude::ANY)).kind, DifferenceKind::Values);
    for any_zero_sign in [false, true] {
        let maximum = |latitude| verdict(Function::Maximum, any_zero_sign, latitude);
        assert_eq!(maximum(Latitude::ANY), Verdict::Passed);
        // Who orders zeros must return this one, whatever the case allows others.
        assert_eq!(difference(maximum(strict)).kind, DifferenceKind::Values);
    }
}

#[test]
fn refusals_are_judged_by_kind_axis_and_operand() {
    let request = matrix_plus_row();
    let flags = |operand, axis| {
        Refusal::new(RefusalKind::FlagViolation, "length 2").of_operand(operand).at_axis(axis)
    };
    let due = ExpectedRefusal { kind: Some(RefusalKind::FlagViolation), axis: Some(0), operand: Some(1) };
    let verdict = |expected: &ExpectedRefusal, refusal: Refusal| {
        judge(&request, &Expectation::Refusal(expected.clone()), &Outcome::Refusal(refusal), Latitude::ANY)
    };
    assert_eq!(verdict(&due, flags(1, 0)), Verdict::Passed);
    for wrong in [flags(0, 0), flags(1, 1), Refusal::new(RefusalKind::RankMismatch, "")] {
        assert_eq!(difference(verdict(&due, wrong)).kind, DifferenceKind::Refusal);
    }
    assert_eq!(
        difference(verdict(&due, flags(0, 1))).to_string(),
        "wrong refusal: expected flag_violation of operand b at axis 0, got flag_violation of operand a at axis 1: \
         length 2"
    );
    assert_eq!(
        verdict(&due, Refusal::new(RefusalKind::FlagViolation, "")),
        Verdict::Passed,
        "no fields to judge"
    );
    assert_eq!(verdict(&due, Refusal::default()), Verdict::Passed, "no kind to judge");
    let kind_only = ExpectedRefusal { kind: Some(RefusalKind::FlagViolation), ..ExpectedRefusal::default() };
    assert_eq!(verdict(&kind_only, flags(0, 1)), Verdict::Passed, "no fields expected");
    assert_eq!(verdict(&ExpectedRefusal::default(), flags(0, 1)), Verdict::Passed, "any kind");
}

#[test]
fn wrong_acceptance_and_refusal_are_reported() {
    let request = matrix_plus_row();
    let refusal = Refusal::new(RefusalKind::DimensionMismatch, "lengths 2 and 3").at_axis(1);
    let verdict =
        judge(&request, &expected(tensor(&[2, 3], sum())), &Outcome::Refusal(refusal), Latitude::ANY);
    assert_eq!(
        difference(verdict).to_string(),
        "refused, must be accepted: expected a result of shape (2,3), got dimension_mismatch at axis 1: lengths 2 \
         and 3"
    );
    let due = ExpectedRefusal { kind: Some(RefusalKind::DimensionMismatch), axis: Some(1), operand: None };
    let accepted = answered(tensor(&[2, 3], sum()));
    assert_eq!(
        difference(judge(&request, &Expectation::Refusal(due), &accepted, Latitude::ANY)).to_string(),
        "accepted, must be refused: expected dimension_mismatch at axis 1, got a result of shape (2,3)"
    );
    let any = Expectation::Refusal(ExpectedRefusal::default());
    assert!(
        difference(judge(&request, &any, &accepted, Latitude::ANY)).detail.contains("a refusal of any kind")
    );
}

/// a and b, added under a rule set; flagged under theano.
fn sum_under(rules: Rules, shapes: [&[usize]; 2]) -> Request {
    let operands = ["a", "b"].iter().zip(shapes).map(|(name, shape)| {
        let operand = Operand::dense(*name, shape, vec![5i32; shape.iter().product()]).unwrap();
        match rules {
            Rules::Theano => operand.with_broadcastable(vec![false; shape.len()]).unwrap(),
            _ => operand,
        }
    });
    let operands = operands.collect();
    let expression = call(Function::Add, [operand(0), operand(1)]);
    Request::new(rules, Operation::Elementwise { expression }, operands).unwrap()
}

fn xla() -> Rules {
    Rules::Xla { broadcast_dimensions: Some(vec![1]) }
}

#[test]
fn intermediate_and_flags_are_judged_if_both_sides_have_them() {
    let result = tensor(&[1, 1], vec![10i32]);
    let verdict = |request: &Request, want: &ExpectedResult, intermediate, broadcastable| {
        let success = Success { tensor: result.clone(), intermediate, broadcastable, buffer: None };
        let want = Expectation::Result(want.clone());
        judge(request, &want, &Outcome::Success(success), Latitude::ANY)
    };
    let message = |verdict| difference(verdict).to_string();
    let placed = sum_under(xla(), [&[1], &[1, 1]]);
    let step = tensor(&[1, 1], vec![5i32]);
    let want = ExpectedResult { intermediate: Some(step.clone()), ..ExpectedResult::from(result.clone()) };
    assert_eq!(verdict(&placed, &want, None, None), Verdict::Passed);
    assert_eq!(verdict(&placed, &want, Some(step), None), Verdict::Passed);
    assert_eq!(
        message(verdict(&placed, &want, Some(tensor(&[1], vec![5i32])), None)),
        "wrong intermediate or flags: intermediate: expected shape (1,1), got (1)"
    );
    let other = Some(tensor(&[1, 1], vec![6i32]));
    assert!(
        message(verdict(&placed, &want, other.clone(), None))
            .contains("intermediate: element (0,0): expected 5")
    );
    let unspecified = ExpectedResult::from(result.clone());
    assert_eq!(verdict(&placed, &unspecified, other, None), Verdict::Passed, "nothing to compare with");
    let flagged = sum_under(Rules::Theano, [&[1, 1], &[1, 1]]);
    let want =
        ExpectedResult { broadcastable: Some(vec![true, false]), ..ExpectedResult::from(result.clone()) };
    assert_eq!(verdict(&flagged, &want, None, Some(vec![true, false])), Verdict::Passed);
    assert_eq!(
        message(verdict(&flagged, &want, None, Some(vec![false, false]))),
        "wrong intermediate or flags: broadcastable: expected [true, false], got [false, false]"
    );
}

#[test]
fn an_intermediate_or_flags_where_there_are_none_are_wrong() {
    let intermediate = |request: &Request| given(request, Some(tensor(&[1], vec![5i32])), None);
    let flags = |request: &Request| given(request, None, Some(vec![true]));
    let none = sum_under(Rules::None, [&[1], &[1]]);
    assert_eq!(
        difference(intermediate(&none)).to_string(),
        "wrong intermediate or flags: intermediate: found one of shape (1), expected none: only `elementwise` under \
         `xla` with operands of different ranks has one, and this is `elementwise` under `none`"
    );
    assert_eq!(
        difference(flags(&none)).to_string(),
        "wrong intermediate or flags: broadcastable: found [true], expected none: only `elementwise` under `theano` has \
         flags, and this is `elementwise` under `none`"
    );
    let numpy = sum_under(Rules::Numpy, [&[1], &[1, 1]]);
    let pdpd = sum_under(Rules::Pdpd { axis: None }, [&[1, 1], &[1]]);
    let theano = sum_under(Rules::Theano, [&[1], &[1]]);
    let equal = sum_under(Rules::Xla { broadcast_dimensions: None }, [&[1], &[1]]);
    let placed = sum_under(xla(), [&[1], &[1, 1]]);
    let (rules, _, operands) = tensors_of_floats(&placed).into_parts();
    let expression = call(Function::Add, [operand(0), operand(1)]);
    let gradient = Request::new(rules, Operation::Gradient { expression, wrt: 0 }, operands).unwrap();
    for request in [&numpy, &pdpd, &theano, &equal, &gradient] {
        assert_eq!(difference(intermediate(request)).kind, DifferenceKind::Extra, "{request:?}");
    }
    for request in [&numpy, &pdpd, &equal, &placed, &gradient] {
        assert_eq!(difference(flags(request)).kind, DifferenceKind::Extra, "{request:?}");
    }
    assert_eq!(intermediate(&placed), Verdict::Passed);
    assert_eq!(flags(&theano), Verdict::Passed);
}

/// The judge's verdict on the reference's answer to a request, with these extras: once as a case, and once
/// against the bare answer of another implementation.
fn given(request: &Request, intermediate: Option<Tensor>, broadcastable: Option<Vec<bool>>) -> Verdict {
    let bare = match Reference::new().run(request) {
        Outcome::Success(success) => Success::from(success.tensor),
        other => panic!("{other:?}"),
    };
    let outcome = Outcome::Success(Success { intermediate, broadcastable, ..bare.clone() });
    let verdict = judge(request, &expected(bare.tensor.clone()), &outcome, Latitude::ANY);
    assert_eq!(compare_outcomes(request, &Outcome::Success(bare), &outcome, Latitude::ANY), verdict);
    verdict
}

/// The request with operands of ones in f64.
fn tensors_of_floats(request: &Request) -> Request {
    let (rules, operation, operands) = request.clone().into_parts();
    let ones = |operand: &Operand| {
        Operand::dense(operand.name(), operand.shape().clone(), vec![1.0f64; operand.values().len()]).unwrap()
    };
    Request::new(rules, operation, operands.iter().map(ones).collect()).unwrap()
}

#[test]
fn a_request_without_an_answer_does_not_pass() {
    let (request, want) = (matrix_plus_row(), expected(tensor(&[2, 3], sum())));
    let skipped = Outcome::Skipped { reason: "no f64".into() };
    let errored = Outcome::errored(broadcheck_spec::ErrorKind::Reported, "broke");
    assert_eq!(judge(&request, &want, &skipped, Latitude::ANY), Verdict::Skipped("no f64".into()));
    assert_eq!(judge(&request, &want, &errored, Latitude::ANY), Verdict::Errored("broke".into()));
    assert_eq!(expectation_of(&skipped), None);
    assert_eq!(expectation_of(&errored), None);
}

/// The verdict on an answer to an expression with an inexact function, over scalars of f64.
fn inexact(expression: Expression, operands: &[f64], want: impl Into<Data>, got: impl Into<Data>) -> Verdict {
    let operands: Vec<(&[usize], Data)> =
        operands.iter().map(|&value| (&[][..], vec![value].into())).collect();
    let want = expected(tensor(&[], want));
    judge(&elementwise(expression, &operands), &want, &answered(tensor(&[], got)), Latitude::ANY)
}

/// e, correctly rounded (2.71828182845904523536...), and its neighbours.
fn e(steps: i64) -> Vec<f64> {
    vec![f64::from_bits(0x4005_bf0a_8b14_5769u64.wrapping_add_signed(steps))]
}

/// log 3 (1.09861228866810969139...), correctly rounded, and its neighbours.
fn log3(steps: i64) -> Vec<f64> {
    vec![f64::from_bits(0x3ff1_93ea_7aad_030bu64.wrapping_add_signed(steps))]
}

#[test]
fn exactly_four_ulps_are_allowed_for_an_inexact_function() {
    let log = || call(Function::Log, [operand(0)]);
    let exp = || call(Function::Exp, [operand(0)]);
    for steps in [-4, -1, 0, 4] {
        assert_eq!(inexact(log(), &[3.0], log3(0), log3(steps)), Verdict::Passed, "{steps}");
        assert_eq!(inexact(exp(), &[1.0], e(0), e(steps)), Verdict::Passed, "{steps}");
    }
    for steps in [-7, -5, 5, 7] {
        let verdict = inexact(log(), &[3.0], log3(0), log3(steps));
        assert_eq!(difference(verdict).kind, DifferenceKind::Values, "{steps}");
    }
    for steps in [-7, 7] {
        assert_eq!(
            difference(inexact(exp(), &[1.0], e(0), e(steps))).kind,
            DifferenceKind::Values,
            "{steps}"
        );
    }
    assert_eq!(
        difference(inexact(log(), &[3.0], log3(0), log3(5))).detail,
        format!(
            "element (): expected 1.0986122886681098, got {:?}: 5 ULP apart, 4 ULP allowed per inexact function (1 \
             of 1 elements wrong)",
            log3(5)[0]
        )
    );
    let one = vec![1.0f64];
    let verdict = inexact(exp(), &[0.0], one, vec![1.0f64.next_up()]);
    assert_eq!(difference(verdict).kind, DifferenceKind::Values, "exact at 0");
    assert!(
        difference(inexact(exp(), &[1.0], e(0), vec![f64::NAN])).detail.contains("got .nan: 4 ULP allowed")
    );
}

#[test]
fn a_case_may_specify_its_tolerance_and_its_value_is_checked() {
    let request = elementwise(call(Function::Log, [operand(0)]), &[(&[], vec![3.0f64].into())]);
    let verdict = |tolerance_ulp, want, got, latitude| {
        let want = ExpectedResult { tolerance_ulp, ..ExpectedResult::from(tensor(&[], log3(want))) };
        judge(&request, &Expectation::Result(want), &answered(tensor(&[], log3(got))), latitude)
    };
    assert_eq!(verdict(Some(1), 0, 1, Latitude::ANY), Verdict::Passed);
    assert!(matches!(verdict(Some(1), 0, 2, Latitude::ANY), Verdict::Failed(_)));
    assert_eq!(verdict(Some(9), 0, 9, Latitude::ANY), Verdict::Passed);
    let close = Latitude { ulp: 1, ..Latitude::ANY };
    assert!(matches!(verdict(None, 0, 2, close), Verdict::Failed(_)));
    for wrong in [-6, -3, 3, 6] {
        for latitude in [Latitude::ANY, close] {
            let message = difference(verdict(None, wrong, 0, latitude)).detail;
            assert!(message.contains("which is itself not within 2 ULP"), "{wrong}: {message}");
        }
    }
    for right in [-2, 2] {
        assert_eq!(verdict(None, right, 0, close), Verdict::Passed, "{right}");
    }
    assert_eq!(verdict(Some(6), 6, 0, close), Verdict::Passed, "less certain, and specifies it");
}

/// The judge knows exp in f64 only to within 1 ULP. A value within 1 ULP of the right one is within its 2
/// ULPs, and a value that is 4 ULPs off never is.
#[test]
fn an_expected_exp_of_4_ulps_is_wrong() {
    for (steps, right) in [(-4, false), (-1, true), (0, true), (1, true), (4, false)] {
        let verdict = inexact(call(Function::Exp, [operand(0)]), &[1.0], e(steps), e(0));
        assert_eq!(verdict == Verdict::Passed, right, "{steps}: {verdict:?}");
    }
}

#[test]
fn ulps_after_a_cancellation_are_those_of_the_terms() {
    let log = |place| call(Function::Log, [operand(place)]);
    let expression = call(Function::Subtract, [log(0), log(1)]);
    let ulp = 2f64.powi(-52);
    // By hand: each log 3 may be 4 ULPs off, so the difference may be 8 ULPs off in either direction.
    for steps in [0.0, -0.0, 3.0, 8.0, -8.0] {
        let verdict = inexact(expression.clone(), &[3.0, 3.0], vec![0.0f64], vec![steps * ulp]);
        assert_eq!(verdict, Verdict::Passed, "{steps}");
    }
    for steps in [9.0, -9.0] {
        let verdict = inexact(expression.clone(), &[3.0, 3.0], vec![0.0f64], vec![steps * ulp]);
        assert_eq!(difference(verdict).kind, DifferenceKind::Values, "{steps}");
    }
}

#[test]
fn an_inexact_zero_may_have_either_sign() {
    let log = || call(Function::Log, [operand(0)]);
    let zero = || vec![0.0f64];
    assert_eq!(inexact(log(), &[1.0], zero(), vec![-0.0f64]), Verdict::Passed);
    assert_eq!(inexact(log(), &[1.0], zero(), vec![-4.0 * f64::from_bits(1)]), Verdict::Passed);
    assert!(matches!(inexact(log(), &[1.0], zero(), vec![5.0 * f64::from_bits(1)]), Verdict::Failed(_)));
    let tanh = call(Function::Tanh, [operand(0)]);
    assert!(matches!(inexact(tanh, &[0.0], zero(), vec![-0.0f64]), Verdict::Failed(_)), "exact at 0");
}

#[test]
fn only_a_condition_within_the_ulps_admits_both_branches() {
    let less = || call(Function::Less, [call(Function::Exp, [operand(0)]), operand(1)]);
    let choice = || call(Function::Select, [less(), operand(0), operand(1)]);
    for truth in [true, false] {
        assert_eq!(inexact(less(), &[1.0, e(0)[0]], vec![false], vec![truth]), Verdict::Passed);
    }
    assert!(matches!(inexact(less(), &[1.0, 3.0], vec![true], vec![false]), Verdict::Failed(_)));
    for branch in [1.0, e(2)[0]] {
        assert_eq!(inexact(choice(), &[1.0, e(2)[0]], vec![1.0f64], vec![branch]), Verdict::Passed);
    }
    assert!(matches!(inexact(choice(), &[1.0, 3.0], vec![1.0f64], vec![3.0f64]), Verdict::Failed(_)));
    assert!(matches!(inexact(choice(), &[1.0, e(2)[0]], vec![1.0f64], vec![2.0f64]), Verdict::Failed(_)));
}

#[test]
fn one_implementations_outcome_can_be_expected_of_another() {
    let outcome = Reference::new().run(&matrix_plus_row());
    let demanded = expectation_of(&outcome).expect("answered");
    assert_eq!(judge(&matrix_plus_row(), &demanded, &outcome, Latitude::ANY), Verdict::Passed);
    // The intermediate and the flags are expected as well.
    let Outcome::Success(success) = &outcome else { panic!("{outcome:?}") };
    let more = Success {
        intermediate: Some(success.tensor.clone()),
        broadcastable: Some(vec![true, false]),
        ..success.clone()
    };
    let Some(Expectation::Result(demanded)) = expectation_of(&Outcome::Success(more.clone())) else {
        panic!("a result")
    };
    assert_eq!((demanded.intermediate, demanded.broadcastable), (more.intermediate, more.broadcastable));
    let refusal = Outcome::Refusal(Refusal::new(RefusalKind::DimensionMismatch, "").at_axis(1));
    let demanded = expectation_of(&refusal).expect("refused");
    assert_eq!(judge(&matrix_plus_row(), &demanded, &refusal, Latitude::ANY), Verdict::Passed);
    assert!(matches!(judge(&matrix_plus_row(), &demanded, &outcome, Latitude::ANY), Verdict::Failed(_)));
}

#[test]
fn the_buffer_of_a_destination_follows_from_the_result() {
    let buffer = vec![1.0, 2.0, f64::NAN, -0.0, 5.0];
    let view = Operand::view("d", [2], buffer, Some(vec![-2]), 3).unwrap();
    let negated = call(Function::Negate, [operand(0)]);
    let operation = Operation::Into { expression: negated.clone(), destination: 0 };
    let request = Request::new(Rules::Numpy, operation, vec![view]).unwrap();
    // The elements are -0.0 at position 3 and 2.0 at position 1.
    let right = tensor(&[2], vec![0.0, -2.0]);
    let with = |buffer: Vec<f64>| {
        Outcome::Success(Success { buffer: Some(buffer.into()), ..Success::from(right.clone()) })
    };
    let verdict = |outcome: &Outcome| judge(&request, &expected(right.clone()), outcome, Latitude::ANY);
    assert_eq!(verdict(&answered(right.clone())), Verdict::Passed, "a buffer is optional");
    let after = with(vec![1.0, -2.0, -f64::NAN, 0.0, 5.0]);
    assert_eq!(verdict(&after), Verdict::Passed);
    assert_eq!(compare_outcomes(&request, &after, &after, Latitude::ANY), Verdict::Passed);
    let wrong = |outcome: &Outcome, kind: DifferenceKind, detail: &str| {
        let found = difference(verdict(outcome));
        assert_eq!((found.kind, found.detail.as_str()), (kind, detail));
        let found = difference(compare_outcomes(&request, &answered(right.clone()), outcome, Latitude::ANY));
        assert_eq!((found.kind, found.detail.as_str()), (kind, detail));
    };
    wrong(
        &with(vec![1.0, -2.0, f64::NAN, 0.0, 6.0]),
        DifferenceKind::Values,
        "buffer: at position 4 found 6.0, expected 5.0, as before: it is outside the destination (clause INTO-4)",
    );
    wrong(
        &with(vec![1.0, -2.0, f64::NAN, -0.0, 5.0]),
        DifferenceKind::Values,
        "buffer: at position 3 found -0.0, expected 0.0, the result at [0] (clause INTO-4)",
    );
    wrong(
        &with(vec![1.0, -2.0]),
        DifferenceKind::Values,
        "buffer: found 2 values, expected 5, as before the write",
    );
    let plain = elementwise(negated, &[(&[2], vec![0.0, 2.0].into())]);
    let found = difference(judge(&plain, &expected(right.clone()), &after, Latitude::ANY));
    assert_eq!(
        (found.kind, found.detail.as_str()),
        (DifferenceKind::Extra, "buffer: found 5 values, expected none: the request has no `into`")
    );
}
