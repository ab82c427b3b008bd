//! Tests of the ways to give operands, with hand-made requests.

use super::*;
use broadcheck_spec::{Expression, Operation, Rules, Suite};

fn request(functions: &[Function], operands: Vec<Operand>) -> Request {
    Request::new(Rules::Numpy, Operation::Elementwise { expression: chain(functions) }, operands).unwrap()
}

/// `f(g(a, b), c)` for the functions g, f.
fn chain(functions: &[Function]) -> Expression {
    functions.iter().enumerate().fold(Expression::operand(0), |whole, (place, &function)| {
        Expression::call(function, [whole, Expression::operand(place + 1)]).unwrap()
    })
}

fn operand(name: &str, shape: &[usize], values: &[f32]) -> Operand {
    Operand::dense(name, shape.to_vec(), values.to_vec()).unwrap()
}

fn ways(mode: Mode, request: &Request) -> Vec<String> {
    mode.variants(request).into_iter().map(|variant| variant.how).collect()
}

#[test]
fn every_subset_of_three_operands_is_constant() {
    let three = |name| operand(name, &[2], &[1.0, 2.0]);
    let sum = request(&[Function::Add, Function::Add], vec![three("a"), three("b"), three("c")]);
    let expected = [
        "a as a constant",
        "b as a constant",
        "a, b as constants",
        "c as a constant",
        "a, c as constants",
        "b, c as constants",
        "a, b, c as constants",
    ];
    assert_eq!(ways(Mode::Constants, &sum), expected);
    let more = request(&[Function::Add; 3], vec![three("a"), three("b"), three("c"), three("d")]);
    assert_eq!(ways(Mode::Constants, &more).len(), 5);
    let constants = |variant: &Variant| -> Vec<bool> {
        variant.steps[0].request.operands().iter().map(Operand::is_constant).collect()
    };
    assert_eq!(constants(&Mode::Constants.variants(&sum)[4]), [true, false, true]);
}

#[test]
fn what_is_differentiated_is_no_constant() {
    let operation = Operation::Gradient { expression: chain(&[Function::Multiply]), wrt: 0 };
    let operands = vec![operand("a", &[1], &[2.0]), operand("b", &[1], &[3.0])];
    let gradient = Request::new(Rules::Numpy, operation, operands).unwrap();
    assert_eq!(ways(Mode::Constants, &gradient), ["b as a constant"]);
    assert_eq!(ways(Mode::Same, &gradient), ["a and b as the same array"]);
}

#[test]
fn values_become_equal_and_scalars_special() {
    let sum = request(
        &[Function::Add, Function::Add],
        vec![
            operand("a", &[2], &[7.0, 8.0]),
            operand("b", &[3], &[1.0, 2.0, 3.0]),
            operand("c", &[], &[9.0]),
        ],
    );
    let expected = [
        "equal values",
        "0 in place of scalars",
        "1 in place of scalars",
        "2 in place of scalars",
        "-1 in place of scalars",
        "0.5 in place of scalars",
    ];
    assert_eq!(ways(Mode::Values, &sum), expected);
    let all = Mode::Values.variants(&sum);
    let values = |way: usize, place: usize| all[way].steps[0].request.operands()[place].values().clone();
    assert_eq!(values(0, 1), Data::from(vec![7.0f32, 8.0, 7.0]));
    assert_eq!((values(0, 2), values(5, 2)), (Data::from(vec![7.0f32]), Data::from(vec![0.5f32])));
    assert_eq!(values(5, 0), Data::from(vec![7.0f32, 8.0]));
    let unsigned = Operand::dense("a", [1], vec![3u8]).unwrap();
    let other = Operand::dense("b", [1], vec![4u8]).unwrap();
    let expected =
        ["equal values", "0 in place of scalars", "1 in place of scalars", "2 in place of scalars"];
    assert_eq!(ways(Mode::Values, &request(&[Function::Add], vec![unsigned, other])), expected);
}

#[test]
fn ties_have_no_derivative_that_systems_share() {
    let operation = Operation::Gradient { expression: chain(&[Function::Maximum]), wrt: 0 };
    let operands = vec![operand("a", &[1], &[2.0]), operand("b", &[1], &[3.0])];
    let gradient = Request::new(Rules::Numpy, operation, operands).unwrap();
    assert!(Mode::Values.variants(&gradient).is_empty() && Mode::Same.variants(&gradient).is_empty());
}

#[test]
fn the_same_array_has_the_values_of_the_first() {
    let sum = request(
        &[Function::Subtract, Function::Add],
        vec![operand("a", &[2], &[7.0, 8.0]), operand("b", &[2], &[1.0, 2.0]), operand("c", &[], &[9.0])],
    );
    let all = Mode::Same.variants(&sum);
    assert_eq!(all.len(), 1);
    let second = &all[0].steps[0].request.operands()[1];
    assert_eq!((second.same(), second.values()), (Some("a"), &Data::from(vec![7.0f32, 8.0])));
}

#[test]
fn a_request_is_asked_before_and_after_another_shape() {
    let sum =
        request(&[Function::Add], vec![operand("a", &[2], &[1.0, 2.0]), operand("b", &[2], &[3.0, 4.0])]);
    let all = Mode::Again.variants(&sum);
    let shapes = |variant: &Variant| -> Vec<String> {
        let shown = |request: &Request| -> Vec<String> {
            request.operands().iter().map(|operand| operand.shape().to_string()).collect()
        };
        variant.steps.iter().map(|step| shown(&step.request).concat()).collect()
    };
    assert_eq!(shapes(&all[0]), ["(2)(2)", "(3)(3)", "(2)(2)"]);
    assert_eq!(shapes(&all[1])[1], "(3)(2)");
    assert_eq!(shapes(&all[2])[1], "(1)(2)");
    assert_eq!(shapes(&all[3])[1], "(0)(0)");
    assert!(Mode::Again.variants(&request(&[], vec![operand("a", &[1], &[1.0])])).is_empty());
}

#[test]
#[ignore = "takes seconds: .ci/run runs it"]
fn the_reference_passes_every_mode() {
    let suite = Suite::builtin().unwrap();
    let cases: Vec<&Case> = suite.cases.iter().collect();
    for mode in Mode::ALL {
        let judged = run_given(&Reference::new(), &cases, None, &[mode]);
        let failed = judged.iter().zip(&cases).find(|(judged, _)| judged.status.is_failure());
        assert!(failed.is_none(), "{mode}: {:?}", failed.map(|(judged, case)| (&case.id, &judged.detail)));
        let passed = judged.iter().filter(|judged| judged.status == Status::Passed).count();
        assert!(passed > 300, "{mode}: {passed}");
    }
}

#[test]
fn a_known_failure_of_a_mode_is_one_in_this_mode_alone() {
    let file = "implementation: mine\nknown:\n  - {case: numpy/a, given: same, reason: r, url: 'https://example.org/1'}\n";
    let known = Known::parse(file, "known.yaml").unwrap();
    assert!(known.entry("numpy/a").is_none());
    assert!(known.entry_given("numpy/a", &[Mode::Values]).is_none());
    assert!(known.entry_given("numpy/a", &[Mode::Values, Mode::Same]).is_some());
    let misspelt = Known::parse(&file.replace("same", "sane"), "known.yaml").map(|_| ()).unwrap_err();
    assert!(misspelt.contains("found `sane`, expected one of constants, values, same, again"), "{misspelt}");
}

#[test]
fn names_parse_back() {
    for mode in Mode::ALL {
        assert_eq!(mode.name().parse(), Ok(mode));
    }
    let error = "constant".parse::<Mode>().unwrap_err().to_string();
    assert_eq!(error, "found `constant`, expected one of constants, values, same, again");
}
