//! Which cases test a convention, and what a convention excuses.

use broadcheck_judge::compare::Latitude;
use broadcheck_judge::conventions::{excuses, has_gradient_tie};
use broadcheck_spec::{
    Case, Convention, Expectation, FILES, Function, Node, Outcome, Refusal, RefusalKind, Scalar, Success,
    Suite, Tensor,
};

fn suite() -> Suite {
    Suite::builtin().expect("the cases load")
}

/// The convention that a case tests, from what it requires.
fn expected(case: &Case) -> Option<Convention> {
    let inferred = Convention::of(&case.clause, &case.request, &case.expectation);
    let accepted = matches!(case.expectation, Expectation::Result(_));
    inferred
        .or_else(|| (accepted && has_gradient_tie(&case.request)).then_some(Convention::GradientTies))
        .or_else(|| requires_sign_of_zero(case).then_some(Convention::ZeroSigns))
}

/// Whether `maximum` or `minimum` is the root and the case requires the sign of a zero that it returns.
fn requires_sign_of_zero(case: &Case) -> bool {
    let Expectation::Result(result) = &case.expectation else { return false };
    let root = case.request.operation().expression().and_then(|expression| expression.nodes().last());
    let chooses = matches!(root, Some(Node::Call(call))
        if matches!(call.function(), Function::Maximum | Function::Minimum));
    let zero = |value: Scalar| value.as_f64() == Some(0.0);
    let zeros = |operand: usize| case.request.operands()[operand].values().iter().any(zero);
    chooses
        && !result.any_zero_sign
        && case.request.operands().len() == 2
        && result.tensor.values().iter().any(zero)
        && case.request.operation().kind() == broadcheck_spec::OperationKind::Elementwise
        && zeros(0)
        && zeros(1)
        && case.clause == "V-3"
}

#[test]
fn each_case_names_the_convention_that_it_tests() {
    let missing: Vec<String> = suite()
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
    let suite = suite();
    let case = suite.get(id).unwrap_or_else(|| panic!("{id}"));
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
    let suite = suite();
    let case = suite.get("numpy/gradient/abs").expect("the case");
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
