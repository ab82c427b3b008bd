//! Cases that travel, cases that do not, and why.

use super::*;
use broadcheck_spec::{
    Data, Expression, Function, Location, Operand, Origin, PartialShape, RefusalKind, Rules, Scalar,
};

/// One function of dense operands under numpy.
fn case(function: Function, operands: Vec<Operand>, expectation: impl Into<Tensor>) -> Case {
    let arguments = (0..operands.len()).map(Expression::operand);
    let expression = Expression::call(function, arguments).unwrap();
    case_of(Operation::Elementwise { expression }, operands, expectation)
}

fn case_of(operation: Operation, operands: Vec<Operand>, expected: impl Into<Tensor>) -> Case {
    Case {
        convention: None,
        id: "numpy/a-case".into(),
        title: "A case.".into(),
        clause: "NUMPY-2".into(),
        examples: Vec::new(),
        sources: Vec::new(),
        origin: Origin::Hand,
        request: Request::new(Rules::Numpy, operation, operands).unwrap(),
        expectation: Expectation::Result(ExpectedResult::from(expected.into())),
        note: None,
        location: Location::default(),
    }
}

fn operand(name: &str, values: impl Into<Data>) -> Operand {
    let values = values.into();
    Operand::dense(name, [values.len()], values).unwrap()
}

fn tensor(values: impl Into<Data>) -> Tensor {
    let values = values.into();
    Tensor::new([values.len()], values).unwrap()
}

fn sum(a: impl Into<Data>, b: impl Into<Data>, expected: impl Into<Data>) -> Case {
    case(Function::Add, vec![operand("a", a), operand("b", b)], tensor(expected))
}

/// The dtypes that a case can be retyped to.
fn travels_to(case: &Case) -> Vec<DType> {
    ORDER.into_iter().filter(|&dtype| retyped(case, dtype).is_some()).collect()
}

#[test]
fn small_integers_travel_to_every_other_dtype() {
    let case = sum(vec![1.0, 2.0], vec![10.0], vec![11.0, 12.0]);
    assert_eq!(travels_to(&case), ORDER[1..]);
    let found = retyped(&case, DType::U8).unwrap();
    assert_eq!(found, Case { id: case.id.clone(), ..sum(vec![1u8, 2], vec![10u8], vec![11u8, 12]) });
    assert!(retyped(&case, DType::Bool).is_none());
    assert_eq!(travels_to(&sum(vec![1i32, 2], vec![10i32], vec![11i32, 12])).len(), 11);
}

#[test]
fn the_declared_shape_of_the_target_remains() {
    let operation = Operation::Broadcast { target_shape: Shape::from([2]) };
    let mut case = case_of(operation, vec![operand("a", vec![7.0])], tensor(vec![7.0, 7.0]));
    let declared: PartialShape = "?".parse().unwrap();
    case.request = case.request.with_declared_target(declared.clone()).unwrap();
    for dtype in travels_to(&case) {
        assert_eq!(retyped(&case, dtype).unwrap().request.declared_target(), Some(&declared), "{dtype}");
    }
    assert_eq!(travels_to(&case), ORDER[1..]);
}

#[test]
fn a_number_must_be_exact_in_the_other_dtype() {
    use DType::{Bf16, F16, F32, I32, I64, U32, U64};
    let product = |a: f64, b: f64| {
        case(Function::Multiply, vec![operand("a", vec![a]), operand("b", vec![b])], tensor(vec![a * b]))
    };
    assert_eq!(travels_to(&product(0.5, 1.0)), [F32, F16, Bf16]);
    assert_eq!(travels_to(&product(0.1, 1.0)), []);
    assert_eq!(travels_to(&product(-1.0, 2.0)), [F32, I64, I32, F16, Bf16, DType::I16, DType::I8]);
    assert_eq!(travels_to(&product(257.0, 1.0)), [F32, I64, I32, F16, DType::I16, U64, U32, DType::U16]);
    assert_eq!(travels_to(&product(65536.0, 1.0)), [F32, I64, I32, Bf16, U64, U32]);
    for special in [f64::NAN, f64::INFINITY, -0.0] {
        assert_eq!(travels_to(&product(special, 1.0)), [], "{special}");
    }
    let wide = case(
        Function::Multiply,
        vec![operand("a", vec![i64::MAX]), operand("b", vec![1i64])],
        tensor(vec![i64::MAX]),
    );
    assert_eq!(travels_to(&wide), [U64]);
}

#[test]
fn what_does_not_fit_is_renumbered() {
    // 1 to 3 in rows, minus 100 and 200 in a column.
    let operands = vec![
        operand("a", vec![1.0, 2.0, 3.0]),
        Operand::view("b", [2, 1], vec![100.0, 999.0, 200.0], Some(vec![2, 1]), 0).unwrap(),
    ];
    let expected = Tensor::new([2, 3], vec![-99.0, -98.0, -97.0, -199.0, -198.0, -197.0]).unwrap();
    let case = case(Function::Subtract, operands, expected);
    let found = retyped(&case, DType::U8).unwrap();
    // The labels of a are 0 to 2, with distance 1; those of b are 0 and 1, with distance 3. All numbers begin
    // at 1, and a is larger by the 4 that is subtracted at most.
    assert_eq!(found.request.operands()[0].values(), &Data::from(vec![5u8, 6, 7]));
    assert_eq!(found.request.operands()[1].values(), &Data::from(vec![1u8, 5, 4]), "5 is not read");
    let Expectation::Result(result) = &found.expectation else { panic!("a result") };
    let expected = Tensor::new([2, 3], vec![4u8, 5, 6, 1, 2, 3]).unwrap();
    assert_eq!(result.tensor, expected);
    assert!(found.note.is_some_and(|note| note.contains("smaller")));
    // What fits is not renumbered.
    let found = retyped(&case, DType::I16).unwrap();
    assert_eq!(found.request.operands()[0].values(), &Data::from(vec![1i16, 2, 3]));
    assert_eq!(found.note, None);
}

#[test]
fn where_there_is_little_room_the_numbers_of_each_operand_still_differ() {
    let (a, b): (Vec<f64>, Vec<f64>) =
        ((0..100).map(f64::from).collect(), (0..20).map(|n| f64::from(n) * 1e3).collect());
    let values: Vec<f64> = (0..2000).map(|place| a[place / 20] + b[place % 20]).collect();
    let operands = vec![Operand::dense("a", [100, 1], a).unwrap(), operand("b", b)];
    let case = case(Function::Add, operands, Tensor::new([100, 20], values).unwrap());
    for dtype in [DType::U8, DType::I8, DType::Bf16] {
        let found = retyped(&case, dtype).unwrap();
        for operand in found.request.operands() {
            let values: Vec<Scalar> = operand.values().iter().collect();
            assert!(
                values.iter().enumerate().all(|(place, value)| !values[..place].contains(value)),
                "{dtype}"
            );
        }
    }
}

#[test]
fn a_result_that_may_be_read_in_two_ways_is_not_renumbered() {
    // 300 is 100 + 200 and 200 + 100.
    let case = sum(vec![100.0, 200.0], vec![200.0, 100.0], vec![300.0, 300.0]);
    assert!(!travels_to(&case).contains(&DType::U8));
    // 300 is not a sum of these at all.
    assert_eq!(travels_to(&sum(vec![100.0], vec![100.0], vec![300.0])), []);
}

#[test]
fn what_is_rounded_or_wraps_in_between_does_not_travel() {
    // (a - b) + b: 1 - 2 wraps in unsigned dtypes and wraps back. With b twice, it is not renumbered.
    let [a, b] = [0, 1].map(Expression::operand);
    let difference = Expression::call(Function::Subtract, [a, b.clone()]).unwrap();
    let expression = Expression::call(Function::Add, [difference, b]).unwrap();
    let operands = vec![operand("a", vec![1.0]), operand("b", vec![2.0])];
    let case = case_of(Operation::Elementwise { expression }, operands, tensor(vec![1.0]));
    let found = travels_to(&case);
    assert!(found.contains(&DType::I8) && !found.contains(&DType::U8), "{found:?}");

    // (a * a) / a: 300 * 300 is not an f16.
    let a = || Expression::operand(0);
    let square = Expression::call(Function::Multiply, [a(), a()]).unwrap();
    let expression = Expression::call(Function::Divide, [square, a()]).unwrap();
    let operands = vec![operand("a", vec![300.0])];
    let case = case_of(Operation::Elementwise { expression }, operands, tensor(vec![300.0]));
    assert_eq!(travels_to(&case), [DType::F32], "300 is not a bf16, and integers do not divide");
}

#[test]
fn a_wrong_expected_value_does_not_travel() {
    assert_eq!(travels_to(&sum(vec![1.0], vec![1.0], vec![3.0])), []);
}

#[test]
fn a_long_result_is_not_computed_again_if_a_bound_shows_that_it_is_exact() {
    let ones = |count: usize| vec![1.0; count];
    let long = |count: usize, expected: f64| sum(ones(count), ones(count), vec![expected; count]);
    assert_eq!(travels_to(&long(5000, 2.0)), ORDER[1..]);
    // Only a short one is computed, so only there does a wrong expected value show.
    assert_eq!(travels_to(&long(50, 3.0)), []);
    assert_eq!(travels_to(&long(5000, 3.0)), ORDER[1..]);
    // 200 + 100 may be an element for all that a bound shows; the computed elements decide.
    let mut case = sum([ones(5000), vec![200.0]].concat(), [ones(5000), vec![1.0]].concat(), vec![2.0; 5001]);
    let Expectation::Result(result) = &mut case.expectation else { panic!("a result") };
    result.tensor = tensor([vec![2.0; 5000], vec![201.0]].concat());
    assert!(travels_to(&case).contains(&DType::U8));
}

#[test]
fn cases_about_dtypes_do_not_travel() {
    let case = sum(vec![1.0], vec![1.0], vec![2.0]);
    for clause in ["V-1", "V-2", "V-4b", "G-3"] {
        assert_eq!(travels_to(&Case { clause: clause.into(), ..case.clone() }), [], "{clause}");
    }
    let tolerant = ExpectedResult { tolerance_ulp: Some(1), ..ExpectedResult::from(tensor(vec![2.0])) };
    assert_eq!(travels_to(&Case { expectation: Expectation::Result(tolerant), ..case }), []);
    let mixed = vec![operand("a", vec![1i8]), operand("b", vec![1i16])];
    let unused = Operation::Elementwise { expression: Expression::operand(0) };
    assert_eq!(travels_to(&case_of(unused, mixed, tensor(vec![1i8]))), []);
}

#[test]
fn bool_masks_and_results_stay_bool() {
    let operands = vec![operand("c", vec![true, false]), operand("a", vec![1.0]), operand("b", vec![2.0])];
    let select = case(Function::Select, operands, tensor(vec![1.0, 2.0]));
    let found = retyped(&select, DType::I16).unwrap();
    assert_eq!(
        found.request.operands().iter().map(Operand::dtype).collect::<Vec<_>>(),
        [DType::Bool, DType::I16, DType::I16]
    );
    let less = case(
        Function::Less,
        vec![operand("a", vec![1.0]), operand("b", vec![1.0, 2.0])],
        tensor(vec![false, true]),
    );
    let Expectation::Result(result) = retyped(&less, DType::U8).unwrap().expectation else { panic!() };
    assert_eq!(result.tensor, tensor(vec![false, true]));
    let not = case(Function::LogicalNot, vec![operand("a", vec![true])], tensor(vec![false]));
    assert_eq!(travels_to(&not), []);
}

#[test]
fn gradients_travel_to_floats_alone() {
    let expression = Expression::call(Function::Add, [0, 1].map(Expression::operand)).unwrap();
    let operands = vec![operand("x", vec![1.0]), operand("y", vec![1.0, 2.0, 3.0])];
    let case = case_of(Operation::Gradient { expression, wrt: 0 }, operands, tensor(vec![3.0]));
    assert_eq!(travels_to(&case), [DType::F32, DType::F16, DType::Bf16]);
}

/// Every second number of a buffer, with `between` as the others.
fn strided(between: f64) -> Case {
    let buffer = vec![1.0, between, 2.0, between];
    let view = Operand::view("a", [2], buffer, Some(vec![2]), 0).unwrap();
    case(Function::Negate, vec![view], tensor(vec![-1.0, -2.0]))
}

#[test]
fn a_number_that_is_not_read_is_replaced_only_if_it_does_not_fit() {
    let values = |between: f64, to: DType| {
        let case = retyped(&strided(between), to).unwrap();
        case.request.operands()[0].values().clone()
    };
    assert_eq!(values(9.0, DType::I8), Data::from(vec![1i8, 9, 2, 9]));
    assert_eq!(values(999.0, DType::I8), Data::from(vec![1i8, 3, 2, 3]));
    assert_eq!(values(f64::NAN, DType::F32), Data::from(vec![1f32, 3.0, 2.0, 3.0]));
    // Nothing is above 127 in every dtype, so the number is below.
    let found = numbers::with_replacements(&Data::from(vec![1e9, 127.0]), &[1], DType::U8);
    assert_eq!(found, Some(Data::from(vec![126u8, 127])));
}

#[test]
fn the_numbers_of_a_refused_request_do_not_matter() {
    let refusal =
        |kind, axis| Expectation::Refusal(ExpectedRefusal { kind: Some(kind), axis, operand: None });
    let clash = Case {
        expectation: refusal(RefusalKind::DimensionMismatch, Some(0)),
        ..sum(vec![1e9, -0.5], vec![1.0, 2.0, 3.0], vec![0.0])
    };
    assert_eq!(travels_to(&clash), ORDER[1..]);
    let elsewhere = Case { expectation: refusal(RefusalKind::DimensionMismatch, Some(1)), ..clash.clone() };
    assert_eq!(travels_to(&elsewhere), [], "the reference refuses it at axis 0");
    let unsupported = Case { expectation: refusal(RefusalKind::UnsupportedFunction, None), ..clash };
    assert_eq!(travels_to(&unsupported), []);
}

#[test]
fn views_keep_their_strides_and_operands_their_flags() {
    let view = Operand::view("a", [2, 3], vec![1.0, 2.0, 3.0], Some(vec![0, -1]), 2).unwrap();
    let flagged = view.clone().with_broadcastable(vec![false, true]).unwrap();
    let found = with_values(&flagged, vec![4i8, 5, 6]).unwrap();
    assert_eq!((found.strides(), found.offset()), (Some(&[0, -1][..]), 2));
    assert_eq!(found.broadcastable(), Some(&[false, true][..]));
    assert_eq!(positions(&view), Some(vec![0, 1, 2]));
    let long = Operand::view("a", [usize::MAX, 2], vec![0.0; 5], Some(vec![0, 3]), 1).unwrap();
    assert_eq!(positions(&long), Some(vec![1, 4]));
    let empty = Operand::view("a", [0], vec![0.0], Some(vec![1]), 7).unwrap();
    assert_eq!(positions(&empty), Some(vec![]));
}

#[test]
fn a_case_is_asked_as_written_where_that_is_possible() {
    let case = sum(vec![1.0], vec![1.0], vec![2.0]);
    let having = |dtypes: &[DType]| Capabilities { dtypes: dtypes.to_vec(), ..Capabilities::all() };
    let name = |dtypes: &[DType]| asked(&case, &having(dtypes)).map(|asked| asked.name());
    assert_eq!(name(&DType::ALL).unwrap(), "numpy/a-case");
    assert_eq!(name(&[DType::U8, DType::F16, DType::I32]).unwrap(), "numpy/a-case as i32");
    assert_eq!(name(&[DType::Bool]).unwrap_err(), "no f64");
    let no_numpy = Capabilities { rules: vec![], ..having(&[DType::F32]) };
    assert_eq!(asked(&case, &no_numpy).map(|asked| asked.name()).unwrap_err(), "no rule set numpy");
    let no_add = Capabilities { functions: vec![], ..having(&[DType::F32]) };
    assert_eq!(asked(&case, &no_add).map(|asked| asked.name()).unwrap_err(), "no add");
}

#[test]
fn a_size_close_to_the_bound_is_not_asked_in_a_wider_dtype() {
    // 2^62 elements of one byte, not counting the length of 0.
    let suite = broadcheck_spec::Suite::builtin().unwrap();
    let case = suite.get("numpy/sizes/empty-with-two-to-the-62").unwrap();
    assert!(retyped(case, DType::U8).is_some());
    for wider in [DType::I16, DType::F32, DType::F64] {
        assert!(retyped(case, wider).is_none(), "{wider}");
    }
    let small = suite.get("numpy/sizes/thirty-two-bit-count-wraps-to-zero").unwrap();
    assert!(retyped(small, DType::I8).is_some());
}
