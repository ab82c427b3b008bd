//! What an implementation supports under one rule set and not under another.

use broadcheck_spec::{
    Asked, Capabilities, DType, Data, Expression, Function, Operand, OperandType, Operation, OperationKind,
    PartialShape, Request, RuleSet, Rules, Shape, Signature, Unknown,
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

/// A signature of the negation of a vector, or of its broadcast, with a flag under theano.
fn signature(rules: RuleSet, broadcast: bool, length: &str, flag: Option<bool>) -> Signature {
    let vector = OperandType::new("a", DType::F64, length.parse::<PartialShape>().unwrap()).unwrap();
    let vector = match flag {
        Some(flag) => vector.with_broadcastable(vec![flag]).unwrap(),
        None => vector,
    };
    let asked = if broadcast {
        Asked::TargetShape("2".parse().unwrap())
    } else {
        Asked::Expression(call(Function::Negate, [operand(0)]))
    };
    Signature::new(Rules::from(rules), asked, vec![vector]).unwrap()
}

#[test]
fn a_rule_set_may_be_without_inference() {
    let able = Capabilities {
        operations: vec![],
        infer: true,
        unknown: vec![Unknown::Length],
        without_infer: vec![RuleSet::Pdpd],
        rule_operations: [(RuleSet::Numpy, vec![OperationKind::Elementwise])].into(),
        ..Capabilities::all()
    };
    let covers = |rules, broadcast| able.covers_signature(&signature(rules, broadcast, "?", None));
    assert_eq!(covers(RuleSet::Numpy, false), Ok(()), "without operations, infer is of all of them");
    assert_eq!(covers(RuleSet::Bidirectional, true), Ok(()));
    assert_eq!(covers(RuleSet::Numpy, true), Err("no infer of broadcast under numpy".into()));
    assert_eq!(covers(RuleSet::Pdpd, false), Err("no infer of elementwise under pdpd".into()));
    let runs = Capabilities { operations: vec![OperationKind::Broadcast], ..able };
    let found = runs.covers_signature(&signature(RuleSet::None, false, "?", None));
    assert_eq!(found, Err("no infer of elementwise under none".into()));
}

#[test]
fn a_flag_may_be_a_static_length_of_one() {
    let able = Capabilities {
        infer: true,
        unknown: Unknown::ALL.to_vec(),
        static_flags: true,
        ..Capabilities::all()
    };
    let covers = |length, flag| able.covers_signature(&signature(RuleSet::Theano, false, length, flag));
    for (length, flag) in
        [("1", Some(true)), ("?", Some(false)), ("?", None), ("3", None), ("1..2", Some(false))]
    {
        assert_eq!(covers(length, flag), Ok(()), "{length} {flag:?}");
    }
    for (length, flag) in
        [("1", Some(false)), ("1", None), ("?", Some(true)), ("3", Some(true)), ("..1", Some(true))]
    {
        let reason = "no flags that differ from static lengths of 1";
        assert_eq!(covers(length, flag), Err(reason.into()), "{length} {flag:?}");
    }
    let numpy = able.covers_signature(&signature(RuleSet::Numpy, false, "1", None));
    assert_eq!(numpy, Ok(()), "flags are theano's");
}
