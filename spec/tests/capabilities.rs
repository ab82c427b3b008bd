//! What an implementation supports under one rule set and not under another, and before a run.

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
fn views_may_be_read_forwards_only() {
    let forwards = Capabilities { negative_strides: false, ..Capabilities::all() };
    for (lengths, strides, backwards) in [
        (vec![2], vec![1], false),
        (vec![2], vec![-1], true),
        (vec![1], vec![-1], false),
        (vec![2, 1], vec![0, -9], false),
        (vec![1, 2], vec![3, -1], true),
    ] {
        let offset = usize::from(backwards);
        let shape = Shape::new(lengths);
        let view = Operand::view("a", shape, Data::from(vec![1.0f64, 2.0]), Some(strides.clone()), offset);
        let operation = Operation::Elementwise { expression: operand(0) };
        let request = Request::new(Rules::Numpy, operation, vec![view.unwrap()]).unwrap();
        let found = if backwards { Err("no negative strides".into()) } else { Ok(()) };
        assert_eq!(forwards.covers(&request), found, "{strides:?}");
        assert_eq!(Capabilities::all().covers(&request), Ok(()), "{strides:?}");
    }
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

/// Harnesses declared `broadcast` and `xla` together before `xla` had a `broadcast`.
#[test]
fn a_broadcast_under_xla_and_a_cotangent_need_a_word() {
    let vector = |name: &str| Operand::dense(name, [1], vec![1.0f64]).unwrap();
    let of = |list: &[i64], operation: Operation| {
        let rules = Rules::Xla { broadcast_dimensions: Some(list.to_vec()) };
        let rank = Shape::new(vec![1; list.len()]);
        let operand = Operand::dense("a", rank, vec![1.0f64]).unwrap();
        Request::new(rules, operation, vec![operand]).unwrap()
    };
    let target = || Shape::from([2, 2, 2]);
    let broadcast = |list: &[i64]| of(list, Operation::Broadcast { target_shape: target() });
    let old = Capabilities::all();
    let named = Capabilities { broadcast_in_dim: true, ..Capabilities::all() };
    let permuted = Capabilities { permuted: true, ..named.clone() };
    assert_eq!(old.covers(&broadcast(&[0])), Err("no broadcast under xla".into()));
    assert_eq!(named.covers(&broadcast(&[0, 2])), Ok(()));
    assert_eq!(named.covers(&broadcast(&[1, 1])), Ok(()), "refused in any order");
    assert_eq!(named.covers(&broadcast(&[2, 0])), Err("no broadcast_dimensions that decrease".into()));
    assert_eq!(permuted.covers(&broadcast(&[2, 0])), Ok(()));
    let list = |list: &[i64]| Rules::Xla { broadcast_dimensions: Some(list.to_vec()) };
    let inferring = |able: &Capabilities, shape: &str, dimensions: &[i64]| {
        let able = Capabilities { infer: true, unknown: Unknown::ALL.to_vec(), ..able.clone() };
        able.covers_signature(&self::target(list(dimensions), shape, "?x?"))
    };
    assert_eq!(inferring(&old, "?", &[0]), Err("no broadcast under xla".into()));
    assert_eq!(inferring(&named, "?", &[0]), Ok(()));
    assert_eq!(inferring(&named, "?x?", &[1, 0]), Err("no broadcast_dimensions that decrease".into()));

    let vjp = |target_shape: Option<Shape>| Operation::Vjp {
        expression: Expression::operand(0),
        wrt: 0,
        target_shape,
        cotangent: Box::new(vector("g")),
    };
    let weighted = request(RuleSet::Numpy, vjp(None), 1);
    assert_eq!(old.covers(&weighted), Err("no cotangents".into()));
    let able = Capabilities { cotangent: true, ..Capabilities::all() };
    assert_eq!(able.covers(&weighted), Ok(()));
    let onto = |able: &Capabilities| able.covers(&of(&[0], vjp(Some(target()))));
    assert_eq!(onto(&able), Err("no broadcast under xla".into()));
    assert_eq!(onto(&Capabilities { cotangent: true, ..named }), Ok(()));
    let no_broadcast =
        Capabilities { operations: vec![OperationKind::Gradient], cotangent: true, ..Capabilities::all() };
    let whole = request(RuleSet::Numpy, vjp(Some(Shape::from([2]))), 1);
    assert_eq!(no_broadcast.covers(&whole), Err("no broadcast under numpy".into()));
}

#[test]
fn a_destination_needs_a_word() {
    let operands = vec![
        Operand::dense("a", [1], vec![1.0f64]).unwrap(),
        Operand::dense("d", [1], vec![2.0f64]).unwrap(),
    ];
    let operation = Operation::Into { expression: Expression::operand(0), destination: 1 };
    let request = Request::new(Rules::Numpy, operation, operands).unwrap();
    assert_eq!(Capabilities::all().covers(&request), Err("no destinations".into()));
    let able = Capabilities { into: true, unused_operands: false, ..Capabilities::all() };
    assert_eq!(able.covers(&request), Ok(()), "a destination is used");
    let two = Capabilities { max_operands: Some(1), ..able };
    assert_eq!(two.covers(&request), Err("no more than 1 operand".into()));
}

fn partial(text: &str) -> PartialShape {
    text.parse().unwrap()
}

/// The sum of vectors, or the operand alone, of these shapes.
fn signature(rules: Rules, dtype: DType, shapes: &[&str]) -> Signature {
    let typed = |(place, shape): (usize, &&str)| {
        OperandType::new(["a", "b", "c"][place], dtype, partial(shape)).unwrap()
    };
    let sum = (1..shapes.len()).fold(operand(0), |sum, place| call(Function::Add, [sum, operand(place)]));
    let operands = shapes.iter().enumerate().map(typed).collect();
    Signature::new(rules, Asked::Expression(sum), operands).unwrap()
}

fn target(rules: Rules, shape: &str, target: &str) -> Signature {
    let operand = OperandType::new("a", DType::F32, partial(shape)).unwrap();
    Signature::new(rules, Asked::TargetShape(partial(target)), vec![operand]).unwrap()
}

/// An implementation that infers everything.
fn inferring() -> Capabilities {
    Capabilities { infer: true, unknown: Unknown::ALL.to_vec(), ..Capabilities::all() }
}

#[test]
fn nothing_is_inferred_unless_declared() {
    let signature = signature(Rules::Numpy, DType::F32, &["2", "3"]);
    assert_eq!(Capabilities::all().covers_signature(&signature), Err("no infer".into()));
    assert_eq!(inferring().covers_signature(&signature), Ok(()));
    let known = Capabilities { infer: true, ..Capabilities::all() };
    assert_eq!(known.covers_signature(&signature), Ok(()));
}

#[test]
fn what_may_be_unknown_is_declared() {
    let only =
        |unknown: &[Unknown]| Capabilities { infer: true, unknown: unknown.to_vec(), ..Capabilities::all() };
    for (shape, needed, reason) in [
        ("?", Unknown::Length, "no unknown lengths"),
        ("..3", Unknown::Bound, "no lengths with an upper bound"),
        ("2..", Unknown::Interval, "no lengths with a lower bound"),
        ("1..3", Unknown::Interval, "no lengths with a lower bound"),
        ("...", Unknown::Rank, "no unknown ranks"),
    ] {
        let others: Vec<Unknown> = Unknown::ALL.into_iter().filter(|&unknown| unknown != needed).collect();
        for signature in [
            signature(Rules::Numpy, DType::F32, &["3", shape]),
            target(Rules::Bidirectional, "3", shape),
            target(Rules::Numpy, shape, "3"),
        ] {
            assert_eq!(only(&[needed]).covers_signature(&signature), Ok(()), "{shape}");
            assert_eq!(only(&others).covers_signature(&signature), Err(reason.into()), "{shape}");
        }
    }
}

/// What is not supported of a run is not asked before it either.
#[test]
fn other_limits_hold_for_infer() {
    let sum = |rules: Rules, shapes: &[&str]| signature(rules, DType::F16, shapes);
    let refused = |able: &Capabilities, signature: &Signature, reason: &str| {
        assert_eq!(able.covers_signature(signature), Err(reason.into()));
    };
    let pair = sum(Rules::Numpy, &["?", "?x3"]);
    refused(&Capabilities { rules: vec![RuleSet::None], ..inferring() }, &pair, "no rule set numpy");
    refused(
        &Capabilities { operations: vec![OperationKind::Broadcast], ..inferring() },
        &pair,
        "no elementwise under numpy",
    );
    refused(
        &Capabilities { operations: vec![OperationKind::Elementwise], ..inferring() },
        &target(Rules::Numpy, "?", "3"),
        "no broadcast under numpy",
    );
    refused(&Capabilities { dtypes: vec![DType::F32], ..inferring() }, &pair, "no f16");
    refused(&Capabilities { functions: vec![Function::Multiply], ..inferring() }, &pair, "no add");
    refused(
        &Capabilities { function_dtypes: [(Function::Add, vec![DType::F32])].into(), ..inferring() },
        &pair,
        "no add of f16",
    );
    refused(&Capabilities { max_rank: Some(1), ..inferring() }, &pair, "no rank above 1");
    refused(&Capabilities { min_rank: 2, ..inferring() }, &pair, "no rank below 2");
    refused(&Capabilities { equal_ranks: true, ..inferring() }, &pair, "no operands of different ranks");
    refused(
        &Capabilities { equal_ranks: true, ..inferring() },
        &sum(Rules::Numpy, &["...", "?"]),
        "no operands of different ranks",
    );
    refused(&Capabilities { scalars: false, ..inferring() }, &sum(Rules::Numpy, &["?", "()"]), "no scalars");
    refused(
        &Capabilities { max_operands: Some(2), ..inferring() },
        &sum(Rules::Numpy, &["?", "1", "?"]),
        "no more than 2 operands",
    );
    refused(&Capabilities { max_calls: Some(0), ..inferring() }, &pair, "no more than 0 calls");
    let unused = Signature::new(
        Rules::Numpy,
        Asked::Expression(operand(0)),
        sum(Rules::Numpy, &["?", "3"]).operands().to_vec(),
    )
    .unwrap();
    refused(&Capabilities { unused_operands: false, ..inferring() }, &unused, "no unused operands");
    let small = Capabilities { large_sizes: false, ..inferring() };
    refused(&small, &sum(Rules::Numpy, &["4294967296x4294967296", "?"]), "no sizes beyond memory");
    // A bound is not a size.
    assert_eq!(small.covers_signature(&sum(Rules::Numpy, &["..4294967296x4294967296", "?"])), Ok(()));
    let ordered = Capabilities { ordered_operands: true, ..inferring() };
    let swapped = Signature::new(
        Rules::Pdpd { axis: None },
        Asked::Expression(call(Function::Add, [operand(1), operand(0)])),
        sum(Rules::Numpy, &["?", "3"]).operands().to_vec(),
    );
    refused(&ordered, &swapped.unwrap(), "no order other than A, B under pdpd");
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

#[test]
fn less_may_be_unknown_of_declared_shapes() {
    let request = |rules: Rules, declared: &str, flag: Option<bool>| {
        let operand = Operand::dense("a", Shape::from([1].as_slice()), Data::from(vec![1.0f64])).unwrap();
        let operand = match flag {
            Some(flag) => operand.with_broadcastable(vec![flag]).unwrap(),
            None => operand,
        };
        let operand = operand.with_declared(declared.parse().unwrap()).unwrap();
        let operation = Operation::Elementwise { expression: self::operand(0) };
        Request::new(rules, operation, vec![operand]).unwrap()
    };
    let able = Capabilities {
        declared: true,
        unknown: Unknown::ALL.to_vec(),
        declared_unknown: Some(vec![Unknown::Length]),
        without_declared: vec![RuleSet::None],
        static_flags: true,
        ..Capabilities::all()
    };
    let covers = |rules, declared, flag| able.covers(&request(rules, declared, flag));
    assert_eq!(covers(Rules::Numpy, "?", None), Ok(()));
    assert_eq!(covers(Rules::Numpy, "...", None), Err("no unknown ranks".into()));
    assert_eq!(covers(Rules::None, "?", None), Err("no declared shapes under none".into()));
    assert_eq!(covers(Rules::Theano, "?", Some(false)), Ok(()));
    assert_eq!(covers(Rules::Theano, "1", Some(true)), Ok(()));
    let flags = Err("no flags that differ from static lengths of 1".into());
    assert_eq!(covers(Rules::Theano, "?", Some(true)), flags);
    assert_eq!(covers(Rules::Theano, "1", Some(false)), flags);
}
