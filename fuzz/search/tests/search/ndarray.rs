//! Tests the crate `ndarray` as an implementation: the shipped cases, and that the adapter neither hides nor
//! adds errors.

use broadcheck::run::{Status, run_cases};
use broadcheck_search::subjects::Ndarray;
use broadcheck_spec::{
    Case, Data, Expression, Function, Implementation, Operand, Operation, Outcome, Request, Rules, Shape,
    Suite, Tensor,
};

/// The numpy cases of the suite.
fn numpy_cases(suite: &Suite) -> Vec<&Case> {
    suite.cases.iter().filter(|case| case.request.rules().set().name() == "numpy").collect()
}

#[test]
fn ndarray_passes_the_numpy_cases() {
    let suite = Suite::builtin().expect("the shipped suite is valid");
    let cases = numpy_cases(&suite);
    let judged = run_cases(&Ndarray::new(), &cases, None);
    let failed: Vec<String> = cases
        .iter()
        .zip(&judged)
        .filter(|(_, judged)| judged.status.is_failure())
        .map(|(case, judged)| format!("{}: {}", case.id, judged.detail))
        .collect();
    assert!(failed.is_empty(), "{} of {} fail:\n{}", failed.len(), cases.len(), failed.join("\n"));
    let passed = judged.iter().filter(|judged| judged.status == Status::Passed).count();
    assert!(passed > 300, "{passed} passed");
}

fn run(operation: Operation, operands: Vec<Operand>) -> Outcome {
    Ndarray::new().run(&Request::new(Rules::Numpy, operation, operands).unwrap())
}

fn add() -> Operation {
    Operation::Elementwise {
        expression: Expression::call(Function::Add, [0, 1].map(Expression::operand)).unwrap(),
    }
}

fn result(outcome: Outcome) -> Tensor {
    match outcome {
        Outcome::Success(success) => success.tensor,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_version_is_the_one_in_the_lock_file() {
    let lock = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = std::fs::read_to_string(lock).unwrap();
    let (_, entry) = lock.split_once("name = \"ndarray\"\nversion = \"").expect("ndarray is a dependency");
    assert_eq!(entry.split_once('"').map(|(version, _)| version), Some(Ndarray::VERSION));
}

#[test]
fn views_reach_ndarray_as_views() {
    // By hand, over the buffer 0 1 2 3 4 5: reversed rows, an offset, a stride of 0, a stride that is never
    // used.
    let view = |shape: &[usize], strides: &[i64], offset| {
        Operand::view("a", shape, vec![0i32, 1, 2, 3, 4, 5], Some(strides.to_vec()), offset).unwrap()
    };
    let bare = || Operation::Elementwise { expression: Expression::operand(0) };
    for (operand, values) in [
        (view(&[2, 3], &[-3, 1], 3), vec![3, 4, 5, 0, 1, 2]),
        (view(&[3, 2], &[-1, 3], 2), vec![2, 5, 1, 4, 0, 3]),
        (view(&[2], &[2], 1), vec![1, 3]),
        (view(&[3], &[0], 4), vec![4, 4, 4]),
        (view(&[1, 2], &[i64::MIN, -5], 5), vec![5, 0]),
        (view(&[], &[], 5), vec![5]),
    ] {
        let shape = operand.shape().clone();
        assert_eq!(result(run(bare(), vec![operand])), Tensor::new(shape, values).unwrap());
    }
    let empty = view(&[0, 2], &[9, 9], 99);
    assert_eq!(result(run(bare(), vec![empty])), Tensor::new([0, 2], Vec::<i32>::new()).unwrap());
}

#[test]
fn sizes_are_refused_or_skipped_before_anything_is_allocated() {
    let scalar = || vec![Operand::dense("a", [], vec![1i8]).unwrap()];
    let broadcast =
        |lengths: &[usize]| run(Operation::Broadcast { target_shape: Shape::from(lengths) }, scalar());
    assert!(matches!(broadcast(&[1 << 62, 2]), Outcome::Refusal(_)), "2^63 elements");
    assert!(matches!(broadcast(&[0, 1 << 40, 1 << 40]), Outcome::Refusal(_)), "2^80 without the zero");
    assert!(matches!(broadcast(&[1 << 62, 1]), Outcome::Skipped { .. }), "2^62 elements");
    assert_eq!(result(broadcast(&[0, 1 << 40])), Tensor::new([0, 1 << 40], Vec::<i8>::new()).unwrap());
    // What is too large to compute is still refused if it would not compile, or if the shapes are
    // incompatible.
    let wide = |dtype: Data| {
        vec![
            Operand::view("a", [1 << 30], vec![1i8], Some(vec![0]), 0).unwrap(),
            Operand::dense("b", [dtype.len()], dtype).unwrap(),
        ]
    };
    assert!(matches!(run(add(), wide(vec![1i8].into())), Outcome::Skipped { .. }));
    assert!(matches!(run(add(), wide(vec![1i16].into())), Outcome::Refusal(_)));
    assert!(matches!(run(add(), wide(vec![1i8, 2].into())), Outcome::Refusal(_)));
}

#[test]
fn ndarray_explains_its_refusals() {
    let operands = vec![
        Operand::dense("a", [2, 3], vec![1i32; 6]).unwrap(),
        Operand::dense("b", [2], vec![1i32; 2]).unwrap(),
    ];
    let Outcome::Refusal(refusal) = run(add(), operands) else { panic!("accepted") };
    assert_eq!(refusal.kind, None);
    assert_eq!(refusal.message, "could not broadcast array from shape: [2] to: [2, 3]");
}
