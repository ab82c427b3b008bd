//! Verdicts on gradients: how far they may be off, and what is left open.

use crate::{answered, call, difference, e, expected, operand, request, tensor};
use broadcheck_judge::compare::{DifferenceKind, Latitude, Verdict, judge};
use broadcheck_spec::{Data, Expression, Function, Operation, Tensor};

/// The verdict on a gradient with respect to `a`.
fn gradient(expression: &Expression, operands: &[(&[usize], Data)], want: Tensor, got: Tensor) -> Verdict {
    let operation = Operation::Gradient { expression: expression.clone(), wrt: 0 };
    judge(&request(operation, operands), &expected(want), &answered(got), Latitude::ANY)
}

#[test]
fn a_gradient_may_be_off_by_the_bound_but_not_by_a_term() {
    // sum(a * b) by a, with the shapes (1) and (10): ten times 0.1. By hand: 10 * 2^-52 * 1 = 2.2e-15.
    let multiply = call(Function::Multiply, [operand(0), operand(1)]);
    let operands: [(&[usize], Data); 2] = [(&[1], vec![5.0f64].into()), (&[10], vec![0.1f64; 10].into())];
    let verdict =
        |value: f64| gradient(&multiply, &operands, tensor(&[1], vec![1.0f64]), tensor(&[1], vec![value]));
    for right in [1.0, 1.0 + 2.0e-15, 1.0 - 2.0e-15] {
        assert_eq!(verdict(right), Verdict::Passed, "{right}");
    }
    for wrong in [0.9, 1.1, 1.0 + 2.7e-15, 0.0, f64::NAN, f64::INFINITY] {
        assert_eq!(difference(verdict(wrong)).kind, DifferenceKind::Values, "{wrong}");
    }
    let message = difference(verdict(0.9)).detail;
    let start = "element (0): expected 1.0, got 0.9: V-6 admits 0.99999999999999";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn the_order_of_summation_is_free_but_no_term_may_be_lost() {
    let term = |i: u32| f32::from(u16::try_from(i * 7919 % 1000 + 250).unwrap()) / 1000.0;
    let terms: Vec<f32> = (0..1000).map(term).collect();
    let multiply = call(Function::Multiply, [operand(0), operand(1)]);
    let operands: [(&[usize], Data); 2] = [(&[], vec![2.0f32].into()), (&[1000], terms.clone().into())];
    // By hand: the terms are 0.250, 0.251, ... 1.249 in some order, and these decimals sum to 749.5.
    let verdict =
        |sum: f32| gradient(&multiply, &operands, tensor(&[], vec![749.5f32]), tensor(&[], vec![sum]));
    let in_order: f32 = terms.iter().sum();
    let backwards: f32 = terms.iter().rev().sum();
    let in_parts: f32 = terms.chunks(32).map(|part| part.iter().sum::<f32>()).sum();
    for sum in [in_order, backwards, in_parts] {
        assert_eq!(verdict(sum), Verdict::Passed, "{sum}");
    }
    for lost in [0, 499, 999] {
        let sum: f32 =
            terms.iter().enumerate().filter(|&(place, _)| place != lost).map(|(_, term)| term).sum();
        assert!(matches!(verdict(sum), Verdict::Failed(_)), "without term {lost}");
    }
}

#[test]
fn a_gradient_may_be_off_by_what_inner_ulps_cause_and_no_more() {
    // power(a, exp(a)) by a at 3.625, from two implementations that are both within an ULP of exp. The
    // exponent is 38, and one ULP of it is about 48 ULPs of the result.
    let verdict = |exponent: Expression, want: f64, got: f64| {
        let power = call(Function::Power, [operand(0), exponent]);
        let operands: [(&[usize], Data); 1] = [(&[1], vec![3.625f64].into())];
        gradient(&power, &operands, tensor(&[1], vec![want]), tensor(&[1], vec![got]))
    };
    let exp = || call(Function::Exp, [operand(0)]);
    let (one, other) = (5.706288778747983e22, 5.706288778748036e22);
    assert_eq!(verdict(exp(), one, other), Verdict::Passed);
    assert!(matches!(verdict(exp(), one, 5.7062887e22), Verdict::Failed(_)));
    assert!(matches!(verdict(exp(), one, f64::NAN), Verdict::Failed(_)));
    // Without an inner function: power(a, a), whose derivative is about 200.
    assert!(matches!(verdict(operand(0), 200.0, 200.000_000_001), Verdict::Failed(_)));
}

#[test]
fn a_gradient_may_be_undefined_if_its_value_may() {
    // power(-1, exp(log 3)): the exponent is 3, or a neighbour of 3 for which -1 has no power.
    let exponent = call(Function::Exp, [call(Function::Log, [operand(1)])]);
    let power = call(Function::Power, [operand(0), exponent]);
    let verdict = |base: f64, got: f64| {
        let one = |value: f64| -> (&'static [usize], Data) { (&[1], vec![value].into()) };
        gradient(&power, &[one(base), one(3.0)], tensor(&[1], vec![3.0f64]), tensor(&[1], vec![got]))
    };
    assert_eq!([verdict(-1.0, 3.0), verdict(-1.0, f64::NAN)], [Verdict::Passed, Verdict::Passed]);
    assert!(matches!(verdict(1.0, f64::NAN), Verdict::Failed(_)));
}

#[test]
fn a_gradient_may_be_off_by_the_rounding_of_an_exponent_and_no_more() {
    // power(a, b) by a: b - 1 in f32 is off by up to 2^-22 at -4.8, which log(a), about 4.6, turns into
    // 1.2e-6 of the whole. The bound by the count is 9 * 2^-23 = 1.1e-6.
    let power = call(Function::Power, [operand(0), operand(1)]);
    let one = |value: f32| -> (&'static [usize], Data) { (&[1], vec![value].into()) };
    let operands = [one(0.009_765_625), one(-3.808_281_7)];
    let verdict = |got: f32| {
        gradient(&power, &operands, tensor(&[1], vec![-17_652_957_184f32]), tensor(&[1], vec![got]))
    };
    assert_eq!(verdict(-17_652_977_664.0), Verdict::Passed);
    assert!(matches!(verdict(-17_653_100_000.0), Verdict::Failed(_)));
}

#[test]
fn an_inexact_constant_factor_is_tracked() {
    // exp(b) * a by a is exp(b), and (exp(b) - e) * a is almost 0: only the ULPs of exp remain.
    let verdict = |expression: &Expression, want: f64, got: f64| {
        let one = |value: f64| -> (&'static [usize], Data) { (&[1], vec![value].into()) };
        let operands = [one(2.0), one(1.0), one(e(0)[0])];
        gradient(expression, &operands, tensor(&[1], vec![want]), tensor(&[1], vec![got]))
    };
    let exp = || call(Function::Exp, [operand(1)]);
    let product = call(Function::Multiply, [exp(), operand(0)]);
    assert_eq!(verdict(&product, e(0)[0], e(3)[0]), Verdict::Passed);
    assert!(matches!(verdict(&product, e(0)[0], e(200)[0]), Verdict::Failed(_)));
    let difference = call(Function::Subtract, [exp(), operand(2)]);
    let cancelled = call(Function::Multiply, [difference, operand(0)]);
    assert_eq!(verdict(&cancelled, 0.0, e(4)[0] - e(0)[0]), Verdict::Passed);
    assert!(matches!(verdict(&cancelled, 0.0, e(200)[0] - e(0)[0]), Verdict::Failed(_)));
}

#[test]
fn f32_need_not_represent_what_underflows_on_the_way_to_a_gradient() {
    // c * (a / b) by b at a = 1, b = c = 2^100 is -2^-100, by way of -2^-200.
    let large = 2f32.powi(100);
    let quotient = call(Function::Divide, [operand(1), operand(0)]);
    let product = call(Function::Multiply, [operand(2), quotient]);
    let one = |value: f32| -> (&'static [usize], Data) { (&[1], vec![value].into()) };
    let verdict = |got: f32| {
        let operands = [one(large), one(1.0), one(large)];
        gradient(&product, &operands, tensor(&[1], vec![-large.recip()]), tensor(&[1], vec![got]))
    };
    assert_eq!([verdict(0.0), verdict(-large.recip())], [Verdict::Passed, Verdict::Passed]);
    for wrong in [-1.0, 2f32.powi(-48), f32::NAN] {
        assert!(matches!(verdict(wrong), Verdict::Failed(_)), "{wrong}");
    }
}

#[test]
fn zeros_nan_and_infinities_of_gradients() {
    let operands = |a: f64| -> [(&'static [usize], Data); 1] { [(&[1], vec![a].into())] };
    let verdict = |function, a: f64, want: f64, got: f64| {
        let one = |value: f64| tensor(&[1], vec![value]);
        gradient(&call(function, [operand(0)]), &operands(a), one(want), one(got))
    };
    assert_eq!(verdict(Function::Abs, 0.0, 0.0, -0.0), Verdict::Passed);
    // 1/(2 sqrt 0) is infinite, and the derivative of abs at NaN is NaN. Nothing else passes.
    assert_eq!(verdict(Function::Sqrt, 0.0, f64::INFINITY, f64::INFINITY), Verdict::Passed);
    assert_eq!(verdict(Function::Abs, f64::NAN, f64::NAN, f64::NAN), Verdict::Passed);
    for (function, at, want, got) in [
        (Function::Sqrt, 0.0, f64::INFINITY, f64::MAX),
        (Function::Sqrt, 0.0, f64::INFINITY, f64::NEG_INFINITY),
        (Function::Sqrt, 0.0, f64::INFINITY, f64::NAN),
        (Function::Abs, f64::NAN, f64::NAN, 1.0),
        (Function::Abs, f64::NAN, f64::NAN, f64::INFINITY),
        (Function::Abs, 2.0, 1.0, f64::NAN),
    ] {
        assert!(matches!(verdict(function, at, want, got), Verdict::Failed(_)), "{want} {got}");
    }
}

#[test]
fn a_gradient_may_follow_either_branch_of_an_open_condition() {
    let condition = call(Function::Less, [call(Function::Exp, [operand(1)]), operand(2)]);
    let negative = call(Function::Negate, [operand(0)]);
    let expression = call(Function::Select, [condition, operand(0), negative]);
    let verdict = |limit: f64, value: f64| {
        let one = |value: f64| -> (&'static [usize], Data) { (&[1], vec![value].into()) };
        let operands = [one(5.0), one(1.0), one(limit)];
        gradient(&expression, &operands, tensor(&[1], vec![1.0f64]), tensor(&[1], vec![value]))
    };
    assert_eq!(verdict(e(2)[0], 1.0), Verdict::Passed);
    assert_eq!(verdict(e(2)[0], -1.0), Verdict::Passed);
    assert_eq!(verdict(3.0, 1.0), Verdict::Passed);
    assert!(matches!(verdict(3.0, -1.0), Verdict::Failed(_)), "the condition is not open");
}

#[test]
fn a_gradient_may_give_either_side_of_an_open_maximum() {
    // By hand: the derivative of maximum(exp a, b) by a is e if exp a wins, half of it for a tie, otherwise
    // 0.
    let expression = call(Function::Maximum, [call(Function::Exp, [operand(0)]), operand(1)]);
    let verdict = |other: f64, value: f64| {
        let operands: [(&[usize], Data); 2] = [(&[1], vec![1.0f64].into()), (&[1], vec![other].into())];
        gradient(&expression, &operands, tensor(&[1], vec![0.0f64]), tensor(&[1], vec![value]))
    };
    for value in [0.0, e(0)[0], e(0)[0] / 2.0] {
        assert_eq!(verdict(e(2)[0], value), Verdict::Passed, "{value}");
    }
    assert!(matches!(verdict(3.0, e(0)[0]), Verdict::Failed(_)));
}
