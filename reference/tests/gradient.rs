//! Gradients, compared with arithmetic by hand (clauses GRAD-1 to GRAD-3).

mod common;

use broadcheck_reference::gradient;
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{Expression, Function, Operand, Rules, Scalar};
use common::{XLA, call, dense, gradient_of, of_operands, op, success, tensor, view, xla};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The gradient of a function of scalars with respect to operand `wrt`.
fn by(function: Function, wrt: usize, arguments: &[f64]) -> f64 {
    one(of_operands(function), wrt, arguments).as_f64().unwrap()
}

/// The gradient of an expression of scalars with respect to operand `wrt`.
fn one(expression: Expression, wrt: usize, arguments: &[f64]) -> Scalar {
    let operands =
        arguments.iter().enumerate().map(|(k, &x)| dense(&format!("x{k}"), &[], vec![x])).collect();
    gradient(&gradient_of(Rules::Numpy, expression, wrt, operands)).unwrap().values().get(0).unwrap()
}

#[track_caller]
fn check(function: Function, arguments: &[f64], expected: &[f64]) {
    for (wrt, &expected) in expected.iter().enumerate() {
        let found = by(function, wrt, arguments);
        let equal = found == expected || (found.is_nan() && expected.is_nan());
        assert!(equal, "{function} {arguments:?} by {wrt}: {found}, expected {expected}");
    }
}

#[test]
fn formulas() {
    check(Function::Add, &[3.0, 4.0], &[1.0, 1.0]);
    check(Function::Subtract, &[3.0, 4.0], &[1.0, -1.0]);
    check(Function::Multiply, &[3.0, 4.0], &[4.0, 3.0]);
    check(Function::Divide, &[3.0, 4.0], &[0.25, -0.1875]);
    check(Function::Negate, &[3.0], &[-1.0]);
    check(Function::Exp, &[0.0], &[1.0]);
    check(Function::Exp, &[-INF], &[0.0]);
    check(Function::Log, &[4.0], &[0.25]);
    check(Function::Log, &[0.0], &[INF]);
    check(Function::Sqrt, &[4.0], &[0.25]);
    check(Function::Sqrt, &[0.0], &[INF]);
    check(Function::Sqrt, &[-1.0], &[NAN]);
    check(Function::Tanh, &[0.0], &[1.0]);
    check(Function::Tanh, &[INF], &[0.0]);
    check(Function::Abs, &[-2.0], &[-1.0]);
    check(Function::Abs, &[2.0], &[1.0]);
    check(Function::Abs, &[0.0], &[0.0]);
    check(Function::Abs, &[-0.0], &[0.0]);
    check(Function::Abs, &[NAN], &[NAN]);
}

#[test]
fn power() {
    // With respect to x: y x^(y-1), and 0 if y = 0 whatever x is.
    check(Function::Power, &[3.0, 2.0], &[6.0]);
    check(Function::Power, &[-2.0, 3.0], &[12.0]);
    check(Function::Power, &[0.0, 0.0], &[0.0, 0.0]);
    check(Function::Power, &[NAN, 0.0], &[0.0, NAN]);
    check(Function::Power, &[0.0, -0.0], &[0.0, 0.0]);
    check(Function::Power, &[0.0, 1.0], &[1.0, 0.0]);
    check(Function::Power, &[0.0, 0.5], &[INF, 0.0]);
    // With respect to y: r log x, and 0 if x = 0 and y >= 0.
    check(Function::Power, &[1.0, 5.0], &[5.0, 0.0]);
    check(Function::Power, &[-0.0, 2.0], &[-0.0, 0.0]);
    check(Function::Power, &[0.0, -1.0], &[-INF, -INF]);
    check(Function::Power, &[-2.0, 2.0], &[-4.0, NAN]);
    // y is even, so y - 1 is odd, but f64 cannot represent y - 1.
    let even = 2f64.powi(54);
    check(Function::Power, &[-1.0, even], &[-even, NAN]);
    check(Function::Power, &[1.0, even], &[even, 0.0]);
    check(Function::Power, &[-1.0, -even], &[even, NAN]);
    // A negative number has no power with a fractional exponent, although y - 1 rounds to -1.
    check(Function::Power, &[-2.0, 1e-300], &[NAN, NAN]);
    check(Function::Power, &[2.0, 1e-300], &[5e-301, 2f64.ln()]);
    check(Function::Power, &[-INF, 0.5], &[0.0, NAN]);
    check(Function::Power, &[-0.0, 0.5], &[INF, 0.0]);
    check(Function::Power, &[-2.0, INF], &[INF, NAN]);
}

#[test]
fn maximum_and_minimum() {
    check(Function::Maximum, &[3.0, 4.0], &[0.0, 1.0]);
    check(Function::Minimum, &[3.0, 4.0], &[1.0, 0.0]);
    for function in [Function::Maximum, Function::Minimum] {
        check(function, &[2.0, 2.0], &[0.5, 0.5]);
        check(function, &[-0.0, 0.0], &[0.5, 0.5]);
        check(function, &[NAN, 0.0], &[NAN, NAN]);
        check(function, &[0.0, NAN], &[NAN, NAN]);
    }
}

#[test]
fn select_chooses_one_branch() {
    let request = |condition| {
        let log = call(Function::Log, [op(1)]);
        let expression = call(Function::Select, [op(0), log, op(2)]);
        move |wrt| {
            let operands = vec![
                dense("c", &[], vec![condition]),
                dense("a", &[], vec![0.0]),
                dense("b", &[], vec![5.0]),
            ];
            let gradient = gradient(&gradient_of(Rules::Numpy, expression.clone(), wrt, operands)).unwrap();
            gradient.values().get(0).unwrap()
        }
    };
    // The other branch contributes nothing, rather than 0 times infinity.
    assert_eq!([request(false)(1), request(false)(2)], [Scalar::F64(0.0), Scalar::F64(1.0)]);
    assert_eq!([request(true)(1), request(true)(2)], [Scalar::F64(INF), Scalar::F64(0.0)]);
}

#[test]
fn a_condition_contributes_nothing_even_where_it_contains_w() {
    // where(a > 0, a, 0.5 a), the leaky rectifier, by a and by the slope; at 0 the condition is false.
    let positive = || call(Function::Greater, [op(0), op(1)]);
    let leaky = call(Function::Select, [positive(), op(0), call(Function::Multiply, [op(0), op(2)])]);
    for (a, by_a, by_slope) in [(3.0, 1.0, 0.0), (-2.0, 0.5, -2.0), (0.0, 0.5, 0.0), (NAN, 0.5, NAN)] {
        check_by(&leaky, &[a, 0.0, 0.5], &[(0, by_a), (1, 0.0), (2, by_slope)]);
    }
    // A condition with a derivative of infinity inside: 1 where it holds, and not NaN.
    let root = call(Function::Less, [call(Function::Sqrt, [op(0)]), op(1)]);
    let beside = call(Function::Select, [root, op(0), op(1)]);
    check_by(&beside, &[0.0, 1.0], &[(0, 1.0), (1, 0.0)]);
    // A choice between conditions that contain a, under logic.
    let either = call(Function::Select, [positive(), positive(), call(Function::LogicalNot, [positive()])]);
    let nested = call(Function::Select, [either, call(Function::Negate, [op(0)]), op(1)]);
    check_by(&nested, &[3.0, 1.0], &[(0, -1.0), (1, 0.0)]);
}

/// Checks the gradient by each of these operands, all scalars.
fn check_by(expression: &Expression, values: &[f64], by: &[(usize, f64)]) {
    for &(wrt, expected) in by {
        assert_eq!(one(expression.clone(), wrt, values), Scalar::F64(expected), "{values:?} by {wrt}");
    }
}

#[test]
fn the_losing_side_contributes_nothing() {
    // maximum(log(a), b) at a = 0: b wins, and the infinite derivative of log is not used.
    let expression = call(Function::Maximum, [call(Function::Log, [op(0)]), op(1)]);
    assert_eq!(one(expression, 0, &[0.0, 5.0]), Scalar::F64(0.0));
}

#[test]
fn paths_without_w_are_left_out() {
    // w + log(b) at b = 0: no 0 times infinity from the other side.
    let expression = call(Function::Add, [op(0), call(Function::Log, [op(1)])]);
    assert_eq!(one(expression, 0, &[2.0, 0.0]), Scalar::F64(1.0));
    // The expression does not read w: +0 of its dtype, whatever the others are.
    let operands = vec![dense("a", &[2], vec![NAN, INF]), dense("w", &[2], vec![f16::ONE; 2])];
    let request = gradient_of(Rules::Numpy, call(Function::Log, [op(0)]), 1, operands);
    assert_eq!(success(&request).tensor, tensor(&[2], vec![f16::from_f32(0.0); 2]));
}

#[test]
fn the_gradient_of_a_bare_operand_is_one() {
    let request = gradient_of(Rules::Numpy, op(0), 0, vec![dense("a", &[2, 2], vec![0f32; 4])]);
    assert_eq!(success(&request).tensor, tensor(&[2, 2], vec![1f32; 4]));
}

fn ramp(name: &str, shape: &[usize]) -> Operand {
    let values: Vec<f64> = (1..=shape.iter().product::<usize>()).map(|value| value as f64).collect();
    dense(name, shape, values)
}

#[test]
fn broadcast_axes_are_summed() {
    let product = |rules, wrt, a: &[usize], b: &[usize]| {
        let request =
            gradient_of(rules, of_operands(Function::Multiply), wrt, vec![ramp("a", a), ramp("b", b)]);
        success(&request).tensor
    };
    assert_eq!(product(Rules::Numpy, 1, &[2, 3], &[3]), tensor(&[3], vec![5.0, 7.0, 9.0]), "leading");
    assert_eq!(product(Rules::Numpy, 1, &[2, 3], &[2, 1]), tensor(&[2, 1], vec![6.0, 15.0]), "trailing");
    assert_eq!(product(Rules::Numpy, 1, &[2, 3], &[]), tensor(&[], vec![21.0]), "all");
    let interior = tensor(&[2, 1, 2], vec![4.0, 6.0, 12.0, 14.0]);
    assert_eq!(product(Rules::Numpy, 1, &[2, 2, 2], &[2, 1, 2]), interior);
    assert_eq!(
        product(Rules::Numpy, 0, &[2, 1], &[1, 3]),
        tensor(&[2, 1], vec![6.0, 6.0]),
        "in both directions"
    );
    let down = Rules::Pdpd { axis: Some(0) };
    assert_eq!(product(down.clone(), 1, &[2, 3], &[2]), tensor(&[2], vec![6.0, 15.0]), "pdpd");
    assert_eq!(product(down, 1, &[2, 3], &[2, 1]), tensor(&[2, 1], vec![6.0, 15.0]), "a dropped axis stays");
    assert_eq!(product(xla(&[0]), 0, &[2], &[2, 3]), tensor(&[2], vec![6.0, 15.0]), "xla, lower");
    assert_eq!(product(xla(&[0]), 0, &[4], &[1, 2]), tensor(&[4], vec![3.0; 4]), "composition, lower");
    assert_eq!(
        product(xla(&[0]), 1, &[4], &[1, 2]),
        tensor(&[1, 2], vec![10.0, 10.0]),
        "composition, higher"
    );
    assert_eq!(product(XLA, 0, &[], &[2, 2]), tensor(&[], vec![10.0]), "xla, scalar");
}

#[test]
fn aesara_sums_to_ten_where_x_is_broadcast() {
    let x = dense("x", &[1], vec![0.0]).with_broadcastable(vec![true]).unwrap();
    let request = gradient_of(Rules::Theano, of_operands(Function::Add), 0, vec![x, ramp("b", &[10])]);
    assert_eq!(gradient(&request).unwrap(), tensor(&[1], vec![10.0]));
    assert_eq!(success(&request).broadcastable, None);
}

#[test]
fn the_gradient_is_zero_at_elements_that_are_never_read() {
    let none = dense("b", &[1, 0], Vec::<f32>::new());
    let operands = vec![dense("a", &[3, 1], vec![1f32; 3]), none];
    let request = gradient_of(Rules::Numpy, of_operands(Function::Multiply), 0, operands);
    assert_eq!(success(&request).tensor, tensor(&[3, 1], vec![0f32; 3]));
}

#[test]
fn a_view_has_a_gradient_per_element_not_per_buffer_position() {
    let repeated = view("a", &[2, 2], vec![3.0, 4.0], &[0, 1], 0);
    let request =
        gradient_of(Rules::Numpy, of_operands(Function::Multiply), 0, vec![repeated, ramp("b", &[2, 2])]);
    assert_eq!(success(&request).tensor, tensor(&[2, 2], vec![1.0, 2.0, 3.0, 4.0]));
}

#[test]
fn sums_are_computed_in_f64_and_rounded_once() {
    // 300 ones: if every partial sum is rounded to bf16, the sum stops at 256.
    let ones = vec![bf16::ONE; 300];
    let operands = vec![dense("w", &[1], vec![bf16::ONE]), dense("b", &[300], ones)];
    let request = gradient_of(Rules::Numpy, of_operands(Function::Multiply), 0, operands);
    assert_eq!(success(&request).tensor, tensor(&[1], vec![bf16::from_f32(300.0)]));
    // 2^24 + 1 + 1 in f32
    let operands = vec![dense("w", &[1], vec![1f32]), dense("b", &[3], vec![16_777_216f32, 1.0, 1.0])];
    let request = gradient_of(Rules::Numpy, of_operands(Function::Multiply), 0, operands);
    assert_eq!(success(&request).tensor, tensor(&[1], vec![16_777_218f32]));
}

#[test]
fn forward_values_are_rounded_to_the_dtype() {
    // exp(w) at 1 in f16 is 2.71875, and so is its derivative.
    let request =
        gradient_of(Rules::Numpy, of_operands(Function::Exp), 0, vec![dense("w", &[], vec![f16::ONE])]);
    assert_eq!(success(&request).tensor, tensor(&[], vec![f16::from_f32(2.71875)]));
}

#[test]
fn smooth_expressions_agree_with_central_differences() {
    let f = |function, arguments: &[Expression]| call(function, arguments.to_vec());
    let product = f(Function::Multiply, &[op(0), op(1)]);
    let expressions = [
        f(Function::Exp, std::slice::from_ref(&product)),
        f(Function::Tanh, &[f(Function::Divide, &[op(0), op(1)])]),
        f(Function::Power, &[op(0), op(1)]),
        f(Function::Subtract, &[f(Function::Sqrt, &[product]), f(Function::Log, &[op(0)])]),
        f(
            Function::Multiply,
            &[f(Function::Tanh, &[f(Function::Tanh, &[op(0)])]), f(Function::Negate, &[op(1)])],
        ),
        f(Function::Abs, &[f(Function::Maximum, &[f(Function::Divide, &[op(1), op(0)]), op(0)])]),
    ];
    let a = vec![0.7, 1.3, 0.4];
    let b = vec![0.9, 0.35];
    // The error of a central difference over 2h is of the order h² + eps/h, here 1e-10 times derivatives of
    // a few dozens; a wrong formula is wrong in the first digits.
    let step = 1e-5;
    for expression in &expressions {
        let operands =
            |a: &[f64], b: &[f64]| vec![dense("a", &[3], a.to_vec()), dense("b", &[2, 1], b.to_vec())];
        let total = |a: &[f64], b: &[f64]| -> f64 {
            let request = common::elementwise(Rules::Numpy, expression.clone(), operands(a, b));
            success(&request).tensor.values().iter().map(|value| value.as_f64().unwrap()).sum()
        };
        for wrt in [0, 1] {
            let request = gradient_of(Rules::Numpy, expression.clone(), wrt, operands(&a, &b));
            for (place, found) in success(&request).tensor.values().iter().enumerate() {
                let moved = |by: f64| {
                    let mut points = [a.clone(), b.clone()];
                    points[wrt][place] += by;
                    total(&points[0], &points[1])
                };
                let expected = (moved(step) - moved(-step)) / (2.0 * step);
                let (found, text) = (found.as_f64().unwrap(), expression.display(&["a", "b"]));
                assert!((found - expected).abs() < 1e-7, "{text} by {wrt} at {place}: {found}, {expected}");
            }
        }
    }
}
