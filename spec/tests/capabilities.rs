//! What an implementation supports under one rule set and not under another.

use broadcheck_spec::{
    Capabilities, Data, Expression, Function, Operand, Operation, OperationKind, PartialShape, Request,
    RuleSet, Rules, Shape, Unknown,
};

fn operand(place: usize) -> Expression {
    Expression::operand(place)
}

fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
    Expression::call(function, arguments).unwrap()
}

/// A request over this many vectors of one f64.
fn request(rules: RuleSet, operation: Operation, operands: usize) -> Request {
    let names = ["a", "b", "c"];
    let one =
        |name: &&str| Operand::dense(*name, Shape::from([1].as_slice()), Data::from(vec![1.0f64])).unwrap();
    Request::new(Rules::from(rules), operation, names[..operands].iter().map(one).collect()).unwrap()
}

fn elementwise(rules: RuleSet, expression: Expression, operands: usize) -> Request {
    request(rules, Operation::Elementwise { expression }, operands)
}

#[test]
fn a_rule_set_may_have_fewer_operations_and_functions() {
    let able = Capabilities {
        rule_operations: [(RuleSet::Numpy, vec![OperationKind::Elementwise])].into(),
        rule_functions: [(RuleSet::Pdpd, vec![Function::Add])].into(),
        ..Capabilities::all()
    };
    let broadcast = |rules| {
        let target_shape = Shape::from([2].as_slice());
        able.covers(&request(rules, Operation::Broadcast { target_shape }, 1))
    };
    assert_eq!(broadcast(RuleSet::Numpy), Err("no broadcast under numpy".into()));
    assert_eq!(broadcast(RuleSet::Bidirectional), Ok(()));
    let of = |rules, function| able.covers(&elementwise(rules, call(function, [operand(0), operand(1)]), 2));
    assert_eq!(of(RuleSet::Pdpd, Function::Multiply), Err("no multiply under pdpd".into()));
    assert_eq!(of(RuleSet::Pdpd, Function::Add), Ok(()));
    assert_eq!(of(RuleSet::Numpy, Function::Multiply), Ok(()));
}

#[test]
fn operands_may_have_an_order_under_pdpd() {
    let able = Capabilities { ordered_operands: true, ..Capabilities::all() };
    let sum = |left, right| call(Function::Add, [left, right]);
    let covers = |expression| able.covers(&elementwise(RuleSet::Pdpd, expression, 2));
    for supported in [
        sum(operand(0), operand(1)),
        sum(operand(1), operand(1)),
        sum(call(Function::Negate, [operand(0)]), sum(operand(1), operand(1))),
        sum(sum(operand(0), operand(1)), operand(0)),
        call(Function::Negate, [operand(1)]),
    ] {
        assert_eq!(covers(supported.clone()), Ok(()), "{}", supported.display(&["a", "b"]));
    }
    for other in [
        sum(operand(1), operand(0)),
        sum(operand(1), sum(operand(0), operand(1))),
        call(Function::Select, [call(Function::Less, [operand(0), operand(1)]), operand(0), operand(1)]),
    ] {
        let found = covers(other.clone());
        assert_eq!(
            found,
            Err("no order other than A, B under pdpd".into()),
            "{}",
            other.display(&["a", "b"])
        );
    }
    let three = sum(sum(operand(0), operand(1)), operand(2));
    assert_eq!(
        able.covers(&elementwise(RuleSet::Pdpd, three.clone(), 3)),
        Err("no third operand under pdpd".into())
    );
    assert_eq!(able.covers(&elementwise(RuleSet::Numpy, three, 3)), Ok(()));
    assert_eq!(able.covers(&elementwise(RuleSet::Numpy, sum(operand(1), operand(0)), 2)), Ok(()));
}

#[test]
fn declared_shapes_are_asked_only_if_declared() {
    let shape = |text: &str| text.parse::<PartialShape>().unwrap();
    let with = |declared: &str| {
        let operand = Operand::dense("a", Shape::from([1].as_slice()), Data::from(vec![1.0f64])).unwrap();
        let operand = operand.with_declared(shape(declared)).unwrap();
        let operation = Operation::Elementwise { expression: self::operand(0) };
        Request::new(Rules::Numpy, operation, vec![operand]).unwrap()
    };
    assert_eq!(Capabilities::all().covers(&with("1")), Err("no declared shapes".into()));
    let able = Capabilities { declared: true, unknown: vec![Unknown::Length], ..Capabilities::all() };
    for (declared, expected) in [
        ("1", Ok(())),
        ("?", Ok(())),
        ("..3", Err("no lengths with an upper bound".to_owned())),
        ("1..", Err("no lengths with a lower bound".to_owned())),
        ("1..2", Err("no lengths with a lower bound".to_owned())),
        ("...", Err("no unknown ranks".to_owned())),
    ] {
        assert_eq!(able.covers(&with(declared)), expected, "{declared}");
    }
}
