//! Which cases test a convention, and what a convention excuses.

use broadcheck_judge::compare::{Latitude, index_of};
use broadcheck_judge::conventions::{excuses, has_gradient_tie};
use broadcheck_reference::{align, apply, read};
use broadcheck_spec::{
    Case, Convention, Expectation, Expression, FILES, Function, Operation, Outcome, Refusal, RefusalKind,
    Scalar, Success, Suite, Tensor,
};
use std::sync::LazyLock;

/// Loaded once for all tests.
static SUITE: LazyLock<Suite> = LazyLock::new(|| Suite::builtin().expect("the cases load"));

/// The convention that a case tests, from what it requires. Which of the cases that depend on the sign of a
/// zero test `zero-signs` is up to the case: the others count either zero as passed.
fn expected(case: &Case) -> Option<Convention> {
    let inferred = Convention::of(&case.clause, &case.request, &case.expectation);
    let accepted = matches!(case.expectation, Expectation::Result(_));
    inferred
        .or_else(|| (accepted && has_gradient_tie(&case.request)).then_some(Convention::GradientTies))
        .or_else(|| case.convention.filter(|&stated| stated == Convention::ZeroSigns))
}

/// Whether the result changes if one `maximum` or `minimum` of a +0 and a -0 returns the other zero: clause
/// V-3 then leaves several answers open.
fn depends_on_the_sign_of_a_zero(case: &Case) -> bool {
    let Operation::Elementwise { expression } = case.request.operation() else { return false };
    if !expression.calls().any(|call| is_extreme(call.function())) {
        return false;
    }
    let Ok(alignment) = align(&case.request) else { return false };
    let operands = case.request.operands();
    let indices = 0..alignment.shape.count().unwrap_or(0);
    indices.map(|place| index_of(place, &alignment.shape)).any(|index| {
        let element = |operand: usize| {
            let own = alignment.operand_index(operand, operands[operand].shape(), &index);
            read(&operands[operand], &own)
        };
        let (ordered, count) = with_one_turned(expression, element, None);
        (0..count).any(|turned| with_one_turned(expression, element, Some(turned)).0 != ordered)
    })
}

/// The root's value, and the number of extremes of a +0 and a -0, of which one returns the other zero.
fn with_one_turned(
    expression: &Expression,
    element: impl Fn(usize) -> Scalar,
    turned: Option<usize>,
) -> (Option<Scalar>, usize) {
    let mut count = 0;
    let values = expression.values(element, |function, arguments| {
        let value = apply(function, arguments);
        let zeros = arguments.iter().all(|one| one.as_f64() == Some(0.0));
        if !is_extreme(function) || !zeros || arguments[0] == arguments[1] {
            return value;
        }
        count += 1;
        match turned {
            Some(place) if place + 1 == count && value == arguments[0] => arguments[1],
            Some(place) if place + 1 == count => arguments[0],
            _ => value,
        }
    });
    (values.last().copied(), count)
}

fn is_extreme(function: Function) -> bool {
    matches!(function, Function::Maximum | Function::Minimum)
}

#[test]
fn cases_say_where_v3_leaves_the_sign_of_a_zero_open() {
    let mut open = 0;
    for case in &SUITE.cases {
        let Expectation::Result(result) = &case.expectation else { continue };
        let exact = case.request.operation().expression().is_none_or(Expression::is_exact);
        let depends = depends_on_the_sign_of_a_zero(case);
        open += usize::from(depends);
        // Of an inexact function, V-4 leaves the sign open as well.
        let agree = if exact { result.any_zero_sign == depends } else { result.any_zero_sign || !depends };
        assert!(agree, "{}: zero_sign: any is {}, expected {depends}", case.id, result.any_zero_sign);
        let tests = case.convention == Some(Convention::ZeroSigns);
        assert!(!tests || depends, "{}: the convention zero-signs decides nothing", case.id);
    }
    assert!(open >= 10, "{open}");
}

#[test]
fn each_case_names_the_convention_that_it_tests() {
    let missing: Vec<String> = SUITE
        .cases
        .iter()
        .filter(|case| {
            let field = expected(case).map(|convention| format!("    convention: {convention}\n"));
            let (_, text) =
                FILES.iter().find(|(name, _)| case.location.file.ends_with(name)).expect("its file");
            let start = text.lines().take(case.location.line - 1).map(|line| line.len() + 1).sum::<usize>();
            let item = text[start..].split("\n  - ").next().unwrap_or_default();
            // A refused case of another clause may have several faults as well. Its file says so.
            let refused = matches!(case.expectation, Expectation::Refusal(_));
            match field {
                Some(field) => !item.contains(&field),
                None if refused && case.convention == Some(Convention::RefusalOrder) => false,
                None => item.contains("\n    convention: "),
            }
        })
        .map(|case| format!("{} {} {:?}", case.location, case.id, expected(case).map(Convention::name)))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Whether a convention excuses this answer to the case.
fn excused(id: &str, outcome: &Outcome) -> bool {
    let case = SUITE.get(id).unwrap_or_else(|| panic!("{id}"));
    let convention = case.convention.expect("a convention");
    excuses(convention, &case.request, &case.expectation, outcome, Latitude::ANY)
}

fn result(tensor: Tensor) -> Outcome {
    Outcome::Success(Success::from(tensor))
}

fn zeros(shape: &[usize]) -> Outcome {
    result(Tensor::new(shape.to_vec(), vec![0.0; shape.iter().product()]).unwrap())
}

fn crash() -> Outcome {
    Outcome::errored(broadcheck_spec::ErrorKind::Crashed, "signal 11")
}

#[test]
fn a_promoted_result_has_the_common_shape() {
    // Both operands have shape (2).
    let id = "numpy/dtypes/add-of-f64-and-f32";
    assert!(excused(id, &zeros(&[2])));
    assert!(excused(id, &Outcome::Refusal(Refusal::new(RefusalKind::UnsupportedFunction, ""))));
    assert!(!excused(id, &zeros(&[1])), "not the shape of the operands");
    assert!(!excused(id, &crash()), "a crash is not a promotion");
}

#[test]
fn of_several_faults_one_is_reported() {
    let id = "numpy/nary/leftmost-over-all-operands";
    assert!(excused(id, &Outcome::Refusal(Refusal::new(RefusalKind::RankMismatch, ""))));
    assert!(!excused(id, &zeros(&[2, 2])));
}

#[test]
fn sizes_may_fail_in_any_way() {
    assert!(excused("numpy/sizes/operand-of-two-to-the-63", &crash()));
}

#[test]
fn an_unused_operand_may_be_ignored_but_the_rest_must_be_right() {
    // -a with a of shape (3), and an operand of shape (2,1) that the expression does not use.
    let id = "numpy/nary/unused-operand-adds-rows";
    let vector = |values: [f64; 3]| result(Tensor::new([3], values.to_vec()).unwrap());
    assert!(excused(id, &vector([-1.0, -2.0, -3.0])));
    assert!(!excused(id, &vector([-1.0, -2.0, -4.0])));
    assert!(!excused(id, &zeros(&[2, 1])));
}

#[test]
fn only_elements_with_a_tie_are_open() {
    // The derivative of abs: the zeros are ties.
    let case = SUITE.get("numpy/gradient/abs").expect("the case");
    let Expectation::Result(expected) = &case.expectation else { panic!("a result") };
    let values = case.request.operands()[0].values();
    let mut seen = [false; 2];
    for place in 0..values.len() {
        let tied = values.get(place).and_then(Scalar::as_f64) == Some(0.0);
        let changed = expected
            .tensor
            .values()
            .iter()
            .enumerate()
            .map(|(other, value)| if other == place { 0.25 } else { value.as_f64().expect("a float") });
        let tensor = Tensor::new([values.len()], changed.collect::<Vec<f64>>()).unwrap();
        assert_eq!(excused(&case.id, &result(tensor)), tied, "element {place}");
        seen[usize::from(tied)] = true;
    }
    assert_eq!(seen, [true, true], "the case has elements of both kinds");
}

#[test]
fn without_zero_signs_what_follows_from_either_zero_is_excused() {
    // By hand: 1/max for the pairs (0,0), (0,-0), (-0,0), (-0,-0).
    let id = "numpy/values/reciprocal-of-a-maximum-of-zeros";
    let (inf, minus) = (f64::INFINITY, f64::NEG_INFINITY);
    let answer = |values: [f64; 4]| result(Tensor::new([2, 2], values.to_vec()).unwrap());
    for mixed in [[inf, minus], [minus, inf], [minus, minus]] {
        assert!(excused(id, &answer([inf, mixed[0], mixed[1], minus])), "{mixed:?}");
    }
    assert!(!excused(id, &answer([minus, inf, inf, minus])), "both arguments are +0");
    assert!(!excused(id, &answer([inf, inf, inf, inf])), "both arguments are -0");
    assert!(!excused(id, &answer([inf, f64::NAN, inf, minus])));
}
