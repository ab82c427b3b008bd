//! Hostile but well-formed requests: many axes, many elements with stride 0, huge lengths together with a 0,
//! deep and wide expressions. Each is answered without a panic, and without allocating what the shapes
//! suggest.

mod common;

use broadcheck_spec::{Expression, Function, Operation, Outcome, RefusalKind, Rules, Scalar};
use common::{
    XLA, call, dense, elementwise, gradient_of, kind, of_operands, op, run, success, tensor, view, xla,
};

const HUGE: usize = 1 << 40;

#[test]
fn rank_64() {
    let mut shape = vec![1; 64];
    shape[0] = 2;
    shape[63] = 3;
    let a = || dense("a", &shape, vec![1i32, 2, 3, 4, 5, 6]);
    let b = dense("b", &[3], vec![10i32, 20, 30]);
    let request = elementwise(Rules::Numpy, of_operands(Function::Add), vec![a(), b.clone()]);
    assert_eq!(success(&request).tensor, tensor(&shape, vec![11i32, 22, 33, 14, 25, 36]));
    let request = elementwise(xla(&[63]), of_operands(Function::Add), vec![b, a()]);
    assert_eq!(success(&request).intermediate.unwrap().values().get(5), Some(Scalar::I32(30)));
    let twos = view("a", &[2; 64], vec![1.0], &[0; 64], 0);
    let request = elementwise(Rules::Numpy, op(0), vec![twos]);
    assert_eq!(kind(&request), RefusalKind::TooLarge);
}

#[test]
fn huge_lengths_together_with_a_zero() {
    let empty = |name: &str, shape: &[usize]| dense(name, shape, Vec::<f64>::new());
    let request = elementwise(Rules::None, op(0), vec![empty("a", &[HUGE, 0, 2])]);
    assert_eq!(success(&request).tensor.shape().to_vec(), [HUGE, 0, 2]);
    let request = elementwise(Rules::None, op(0), vec![empty("a", &[HUGE, 0, HUGE])]);
    assert_eq!(kind(&request), RefusalKind::TooLarge);
    let request = elementwise(Rules::None, op(0), vec![empty("a", &[0, usize::MAX])]);
    assert_eq!(kind(&request), RefusalKind::TooLarge);
    let request = gradient_of(Rules::Numpy, op(0), 0, vec![empty("a", &[0, HUGE])]);
    assert!(success(&request).tensor.values().is_empty());
}

#[test]
fn a_huge_intermediate_of_an_empty_result_is_omitted() {
    let wide = view("a", &[HUGE, 1], vec![1.0], &[0, 0], 0);
    let none = dense("b", &[1, 1, 0], Vec::<f64>::new());
    let request = elementwise(xla(&[1, 2]), of_operands(Function::Add), vec![wide, none]);
    let answer = success(&request);
    assert_eq!(answer.tensor.shape().to_vec(), [1, HUGE, 0]);
    assert_eq!(answer.intermediate, None);
}

#[test]
fn stride_0_over_more_elements_than_fit_in_memory() {
    let all = |name: &str| view(name, &[HUGE, 1 << 22], vec![1.0], &[0, 0], 0);
    for rules in [Rules::None, Rules::Numpy, Rules::Theano, Rules::Pdpd { axis: None }, XLA] {
        let request = elementwise(rules, of_operands(Function::Add), vec![all("a"), all("b")]);
        assert!(matches!(run(&request), Outcome::Skipped { .. }));
        let (rules, operation, operands) = request.into_parts();
        let expression = operation.expression().unwrap().clone();
        let gradient = Operation::Gradient { expression, wrt: 0 };
        let request = broadcheck_spec::Request::new(rules, gradient, operands).unwrap();
        assert!(matches!(run(&request), Outcome::Skipped { .. }));
    }
    let max = view("a", &[usize::MAX, usize::MAX], vec![1.0], &[0, 0], 0);
    let request = elementwise(Rules::Numpy, op(0), vec![max]);
    assert_eq!(kind(&request), RefusalKind::TooLarge);
}

fn deep(calls: usize) -> Expression {
    (0..calls).fold(op(0), |inner, _| call(Function::Negate, [inner]))
}

#[test]
fn ten_thousand_functions_deep() {
    let operand = || vec![dense("a", &[2], vec![1.0, 2.0])];
    let request = elementwise(Rules::Numpy, deep(10_001), operand());
    assert_eq!(success(&request).tensor, tensor(&[2], vec![-1.0, -2.0]));
    let request = gradient_of(Rules::Numpy, deep(10_001), 0, operand());
    assert_eq!(success(&request).tensor, tensor(&[2], vec![-1.0, -1.0]));
}

#[test]
fn two_thousand_operands() {
    let operands: Vec<_> = (0..2_000).map(|place| dense(&format!("a{place}"), &[1], vec![1i64])).collect();
    let sum = (1..2_000).fold(op(0), |sum, place| call(Function::Add, [sum, op(place)]));
    let request = elementwise(Rules::Theano, sum, operands);
    assert_eq!(success(&request).tensor, tensor(&[1], vec![2_000i64]));
}
