//! What the public functions guarantee beyond what requests can test: exact limits, and the documented
//! panics.

mod common;

use broadcheck_reference::{Reference, align, align_shapes, apply, exceeds_limit};
use broadcheck_spec::half::f16;
use broadcheck_spec::{Convention, Function, Implementation, Request, Rules, Scalar, Shape};
use common::{elementwise, op, view};
use std::panic::catch_unwind;

#[test]
fn every_convention_is_followed() {
    assert_eq!(Reference::new().capabilities().conventions, Convention::ALL);
}

#[test]
fn a_result_of_the_maximum_size_is_computed() {
    let of = |count: usize| -> Request {
        elementwise(Rules::None, op(0), vec![view("a", &[count], vec![1.0], &[0], 0)])
    };
    let exceeds = |count: usize| {
        let request = of(count);
        exceeds_limit(&request, &align(&request).expect("accepted")).is_some()
    };
    assert!(!exceeds(1 << 28), "2^28 elements are computed (clause G-1)");
    assert!(exceeds((1 << 28) + 1));
}

#[test]
fn a_function_panics_on_arguments_that_it_does_not_accept() {
    let (truth, number) = (Scalar::Bool(true), Scalar::F64(1.0));
    let refused =
        |function: Function, arguments: &[Scalar]| catch_unwind(|| apply(function, arguments)).is_err();
    assert!(refused(Function::Add, &[truth, number, number]), "only select takes three arguments");
    assert!(!refused(Function::Select, &[truth, number, number]));
    assert!(refused(Function::Negate, &[truth]), "only logical_not negates bools");
    assert!(!refused(Function::LogicalNot, &[truth]));
    assert!(refused(Function::Add, &[number]));
    assert!(refused(Function::Add, &[]));
}

#[test]
fn lists_in_messages_are_joined_with_and() {
    let message = |lengths: &[usize], dimensions: &[i64]| {
        let shape = Shape::from(lengths);
        let rules = Rules::Xla { broadcast_dimensions: Some(dimensions.to_vec()) };
        align_shapes(&rules, &[shape.clone(), shape], &[]).expect_err("refused").message
    };
    let rest = "expected none or the identity";
    assert_eq!(message(&[2], &[7]), format!("broadcast_dimensions (7) with equal ranks of 1: {rest}"));
    assert_eq!(
        message(&[2], &[0, 1]),
        format!("broadcast_dimensions (0 and 1) with equal ranks of 1: {rest}")
    );
    assert_eq!(
        message(&[2], &[0, 1, 2]),
        format!("broadcast_dimensions (0, 1 and 2) with equal ranks of 1: {rest}")
    );
}

#[test]
fn a_power_of_halves_rounds_once() {
    // 18.4375^2.8125 = 3629.0000043… and 37.125^2.875 = 32567.9992… (mpmath): rounded to f32 first, both
    // would be ties, 3629 and 32568.
    let power = |a: f32, b: f32| apply(Function::Power, &[a, b].map(|x| Scalar::F16(f16::from_f32(x))));
    assert_eq!(power(18.4375, 2.8125), Scalar::F16(f16::from_f32(3630.0)), "not 3628");
    assert_eq!(power(37.125, 2.875), Scalar::F16(f16::from_f32(32560.0)), "not 32576");
}
