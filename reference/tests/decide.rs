//! Which refusal is reported if several apply: the order of clause G-6, tested pair by neighbouring pair.

mod common;

use broadcheck_reference::{Reference, align};
use broadcheck_spec::{Capabilities, Function, Implementation, Outcome, RefusalKind, Rules, Unknown};
use common::{
    XLA, broadcast, call, dense, elementwise, gradient_of, kind, of_operands, op, refusal, run, view,
};

fn huge(name: &str, rank: usize) -> broadcheck_spec::Operand {
    view(name, &vec![1 << 40; rank], vec![1.0], &vec![0; rank], 0)
}

#[test]
fn the_reference_declares_its_name_and_capabilities() {
    let reference = Reference::new();
    assert_eq!((reference.name(), reference.version()), ("reference", env!("CARGO_PKG_VERSION")));
    let everything = Capabilities {
        broadcast_in_dim: true,
        permuted: true,
        cotangent: true,
        into: true,
        infer: true,
        declared: true,
        constants: true,
        same: true,
        unknown: Unknown::ALL.to_vec(),
        ..Capabilities::with_all_conventions()
    };
    assert_eq!(reference.capabilities(), &everything);
    assert!(reference.is_exact());
    assert_eq!(reference.allowed_ulp(), 1);
}

#[test]
fn the_number_of_operands_comes_before_types() {
    for rules in [XLA, Rules::Pdpd { axis: Some(-7) }] {
        let operands =
            vec![dense("a", &[2], vec![1i8; 2]), dense("b", &[3], vec![1.0; 3]), dense("c", &[], vec![1.0])];
        let request = elementwise(rules, of_operands(Function::Divide), operands);
        assert_eq!(kind(&request), RefusalKind::OperandCount);
    }
}

#[test]
fn types_are_checked_function_by_function() {
    let operands = || vec![dense("a", &[2], vec![1i8; 2]), dense("b", &[3], vec![1.0; 3])];
    let mixed = call(Function::Divide, [op(0), op(1)]);
    assert_eq!(kind(&elementwise(Rules::None, mixed, operands())), RefusalKind::DTypeMismatch);
    let outer = call(Function::Add, [call(Function::Sqrt, [op(0)]), op(1)]);
    assert_eq!(kind(&elementwise(Rules::None, outer, operands())), RefusalKind::UnsupportedFunction);
}

#[test]
fn types_come_before_derivatives_and_derivatives_before_the_rules() {
    let less = call(Function::Less, [op(0), op(0)]);
    let late = call(Function::LogicalNot, [call(Function::Less, [op(0), op(1)])]);
    let mixed = vec![dense("a", &[2], vec![1.0f64; 2]), dense("b", &[3], vec![1.0f32; 3])];
    assert_eq!(kind(&gradient_of(Rules::None, late, 0, mixed.clone())), RefusalKind::DTypeMismatch);
    assert_eq!(
        kind(&gradient_of(Rules::None, less.clone(), 0, mixed.clone())),
        RefusalKind::UnsupportedFunction
    );
    // A comparison as a condition is not refused, so what remains is the shapes.
    let select = call(Function::Select, [less, op(0), op(0)]);
    assert_eq!(kind(&gradient_of(Rules::None, select, 0, mixed.clone())), RefusalKind::DimensionMismatch);
    let by_the_other = gradient_of(Rules::None, op(0), 1, mixed);
    assert_eq!(kind(&by_the_other), RefusalKind::DimensionMismatch);
    let integers = vec![dense("a", &[2], vec![1i8; 2]), dense("b", &[3], vec![1i8; 3])];
    let request = gradient_of(Rules::None, of_operands(Function::Add), 0, integers);
    assert_eq!(kind(&request), RefusalKind::UnsupportedFunction);
}

#[test]
fn the_rules_come_before_the_size() {
    let request = elementwise(Rules::None, op(0), vec![huge("a", 3), dense("b", &[], vec![1.0])]);
    assert_eq!(kind(&request), RefusalKind::RankMismatch);
    let request = elementwise(Rules::Numpy, op(0), vec![huge("a", 3), dense("b", &[], vec![1.0])]);
    assert_eq!(kind(&request), RefusalKind::TooLarge);
    let request = gradient_of(Rules::Numpy, op(1), 1, vec![huge("a", 3), dense("b", &[], vec![1.0])]);
    assert_eq!(kind(&request), RefusalKind::TooLarge, "the result of the expression");
    let request = broadcast(Rules::Numpy, dense("a", &[2], vec![true; 2]), &[1 << 40, 1 << 40, 3]);
    assert_eq!(kind(&request), RefusalKind::DimensionMismatch);
}

#[test]
fn a_refusal_has_the_axis_and_operand_of_its_kind() {
    let two = dense("a", &[3, 2], vec![1.0; 6]).with_broadcastable(vec![false, true]).unwrap();
    let request = elementwise(Rules::Theano, op(0), vec![dense("b", &[1], vec![1.0]), two]);
    let found = refusal(&request);
    assert_eq!(
        found.to_string(),
        "flag_violation of operand 1 at axis 1: length 2 on an axis flagged broadcastable"
    );
    let request = elementwise(
        Rules::Numpy,
        of_operands(Function::Add),
        vec![dense("a", &[2, 2], vec![1.0; 4]), dense("b", &[3], vec![1.0; 3])],
    );
    let found = refusal(&request);
    assert_eq!(found.to_string(), "dimension_mismatch at axis 1: lengths 2 and 3: those other than 1 differ");
    assert_eq!(align(&request), Err(found));
}

#[test]
fn accepted_requests_that_are_too_large_to_compute_are_skipped() {
    let skipped = |request| match run(&request) {
        Outcome::Skipped { reason } => reason,
        other => panic!("{other:?}"),
    };
    let reason = skipped(elementwise(Rules::Numpy, op(0), vec![huge("a", 1)]));
    assert_eq!(reason, "a result of shape (1099511627776) has more than 268435456 elements");
    let one_more = broadcast(Rules::Numpy, dense("a", &[], vec![1i8]), &[(1 << 28) + 1]);
    skipped(one_more);
    // The result of the expression is too large, the gradient is not.
    let product = || of_operands(Function::Multiply);
    skipped(gradient_of(Rules::Numpy, product(), 1, vec![huge("a", 1), dense("b", &[], vec![1.0])]));
    // The gradient is too large, the result of the expression is empty.
    let none = dense("b", &[1, 0], Vec::<f64>::new());
    skipped(gradient_of(
        Rules::Numpy,
        product(),
        0,
        vec![view("a", &[1 << 40, 1], vec![1.0], &[0, 0], 0), none],
    ));
}
