//! Shorthands for writing requests.
#![allow(dead_code, reason = "each test file uses only some of these")]

use broadcheck_reference::Reference;
use broadcheck_spec::{
    Data, Expression, Function, Implementation, Operand, Operation, Outcome, Refusal, RefusalKind, Request,
    Rules, Shape, Success, Tensor,
};

pub(crate) fn op(place: usize) -> Expression {
    Expression::operand(place)
}

pub(crate) fn call(function: Function, arguments: impl IntoIterator<Item = Expression>) -> Expression {
    Expression::call(function, arguments).expect("the right arity")
}

/// A function of the operands 0, 1, ….
pub(crate) fn of_operands(function: Function) -> Expression {
    call(function, (0..function.arity()).map(op))
}

pub(crate) fn dense(name: &str, shape: &[usize], values: impl Into<Data>) -> Operand {
    Operand::dense(name, shape, values).expect("a dense operand")
}

pub(crate) fn view(
    name: &str,
    shape: &[usize],
    values: impl Into<Data>,
    strides: &[i64],
    offset: usize,
) -> Operand {
    Operand::view(name, shape, values, Some(strides.to_vec()), offset).expect("a view")
}

pub(crate) fn elementwise(rules: Rules, expression: Expression, operands: Vec<Operand>) -> Request {
    Request::new(rules, Operation::Elementwise { expression }, operands).expect("well-formed")
}

pub(crate) fn gradient_of(
    rules: Rules,
    expression: Expression,
    wrt: usize,
    operands: Vec<Operand>,
) -> Request {
    Request::new(rules, Operation::Gradient { expression, wrt }, operands).expect("well-formed")
}

pub(crate) fn broadcast(rules: Rules, operand: Operand, target: &[usize]) -> Request {
    let operation = Operation::Broadcast { target_shape: Shape::from(target) };
    Request::new(rules, operation, vec![operand]).expect("well-formed")
}

pub(crate) fn run(request: &Request) -> Outcome {
    Reference::new().run(request)
}

pub(crate) fn success(request: &Request) -> Success {
    match run(request) {
        Outcome::Success(success) => success,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn refusal(request: &Request) -> Refusal {
    match run(request) {
        Outcome::Refusal(refusal) => refusal,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn kind(request: &Request) -> RefusalKind {
    refusal(request).kind.expect("the reference names the kind")
}

pub(crate) fn tensor(shape: &[usize], values: impl Into<Data>) -> Tensor {
    Tensor::new(shape, values).expect("one value per element")
}

pub(crate) fn xla(dimensions: &[i64]) -> Rules {
    Rules::Xla { broadcast_dimensions: Some(dimensions.to_vec()) }
}

pub(crate) const XLA: Rules = Rules::Xla { broadcast_dimensions: None };
