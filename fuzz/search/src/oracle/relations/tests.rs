use super::*;
use broadcheck_judge::limits::is_as_cheap;
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Capabilities, ErrorKind, Expression, Function, Operand, Operation, Refusal, Rules, Shape,
};

/// The reference, but for requests on which a fault is planted.
struct Faulty(fn(&Request) -> Option<Outcome>);

impl Implementation for Faulty {
    fn name(&self) -> &'static str {
        "faulty"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        (self.0)(request).unwrap_or_else(|| Reference.run(request))
    }
}

fn operand(name: &str, shape: &[usize], first: i32) -> Operand {
    let count: i32 = shape.iter().product::<usize>().try_into().unwrap();
    Operand::dense(name, shape, (first..first + count).map(f64::from).collect::<Vec<f64>>()).unwrap()
}

fn call(function: Function, left: usize, right: usize) -> Expression {
    Expression::call(function, [Expression::operand(left), Expression::operand(right)]).unwrap()
}

fn request(rules: Rules, shapes: &[&[usize]]) -> Request {
    let operands = shapes
        .iter()
        .zip(["a", "b", "c"])
        .zip(1..)
        .map(|((shape, name), place)| operand(name, shape, 10 * place));
    let mut expression = call(Function::Subtract, 0, 1);
    if shapes.len() == 3 {
        expression = Expression::call(Function::Multiply, [Expression::operand(2), expression]).unwrap();
    }
    Request::new(rules, Operation::Elementwise { expression }, operands.collect()).unwrap()
}

/// A sum of a view of one element, of a scalar, and of a vector that does not fit. Its answer has no
/// elements; without the vector it has 2^22.
fn refused_large() -> Request {
    let view = Operand::view("a", [1 << 11, 1 << 11], vec![1.0], Some(vec![0, 0]), 0).unwrap();
    let expression =
        Expression::call(Function::Add, [call(Function::Add, 0, 1), Expression::operand(2)]).unwrap();
    let operands = vec![view, operand("b", &[], 1), operand("c", &[3], 1)];
    Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap()
}

#[test]
fn no_variation_is_expensive() {
    let request = refused_large();
    let without = call(Function::Add, 0, 1);
    let expensive = Request::new(
        Rules::Numpy,
        Operation::Elementwise { expression: without },
        request.operands()[..2].to_vec(),
    );
    assert!(!is_as_cheap(&expensive.unwrap(), &request));
    let frugal = Faulty(|asked| {
        assert!(is_as_cheap(asked, &refused_large()), "{asked:?}");
        None
    });
    assert_eq!(Relations::new(&frugal).judge(&request), Judgement::Agreed(Answer::Refused));
}

fn requests() -> Vec<Request> {
    let pdpd = |axis| Rules::Pdpd { axis };
    let xla = |list: &[i64]| Rules::Xla { broadcast_dimensions: Some(list.to_vec()) };
    let plain = Rules::Xla { broadcast_dimensions: None };
    let mut all = vec![
        request(Rules::Numpy, &[&[2, 1], &[3], &[2, 3]]),
        request(Rules::Numpy, &[&[2, 1], &[0]]),
        request(Rules::Numpy, &[&[2, 4], &[3]]),
        request(Rules::None, &[&[2, 3], &[2, 3]]),
        request(Rules::None, &[&[2, 3], &[3]]),
        request(pdpd(Some(1)), &[&[2, 3, 4], &[3, 1]]),
        request(pdpd(None), &[&[2, 3], &[2]]),
        request(xla(&[0]), &[&[2, 3], &[2]]),
        request(xla(&[1]), &[&[1], &[2, 3]]),
        request(xla(&[-1]), &[&[2, 3], &[2]]),
        request(xla(&[0, 1]), &[&[2, 1], &[1, 3]]),
        request(plain.clone(), &[&[2, 3], &[]]),
        request(plain, &[&[2, 3], &[3]]),
        request(Rules::Theano, &[&[2, 3], &[3]]),
    ];
    let flags = |operand: Operand, flags: &[bool]| operand.with_broadcastable(flags.to_vec()).unwrap();
    let flagged =
        vec![flags(operand("a", &[2, 1], 1), &[false, true]), flags(operand("b", &[3], 9), &[false])];
    let expression = call(Function::Subtract, 0, 1);
    all.push(
        Request::new(Rules::Theano, Operation::Elementwise { expression: expression.clone() }, flagged)
            .unwrap(),
    );
    for wrt in 0..2 {
        let operands = vec![operand("a", &[2, 1], 1), operand("b", &[3], 9)];
        let operation = Operation::Gradient { expression: expression.clone(), wrt };
        all.push(Request::new(Rules::Numpy, operation, operands).unwrap());
    }
    for (rules, target) in [(Rules::Bidirectional, [1, 3]), (Rules::Numpy, [2, 3]), (Rules::Numpy, [1, 3])] {
        let operation = Operation::Broadcast { target_shape: Shape::from(target) };
        all.push(Request::new(rules, operation, vec![operand("a", &[2, 3], 1)]).unwrap());
    }
    let destination = operand("a", &[4], 1);
    let reversed = Operand::of(&destination, "b", [4], Some(vec![-1]), Some(3)).unwrap();
    let operation = Operation::Into { expression, destination: 0 };
    all.push(Request::new(Rules::Numpy, operation, vec![destination, reversed]).unwrap());
    all
}

#[test]
fn all_relations_hold_for_the_reference_and_the_fast_engine() {
    for request in requests() {
        let judged = relations(&request);
        assert!(matches!(judged, Judgement::Agreed(_)), "{judged:?}\n{request:#?}");
    }
}

/// The kinds of disagreement that a fault causes over the requests.
fn kinds_found(fault: fn(&Request) -> Option<Outcome>) -> Vec<String> {
    let faulty = Faulty(fault);
    let judged = requests().into_iter().map(|request| Relations::new(&faulty).judge(&request));
    judged.filter_map(Judgement::disagreement).map(|found| found.signature.kind.to_string()).collect()
}

fn answered(request: &Request, operands: Vec<Operand>) -> Option<Outcome> {
    Some(Reference.run(&broadcheck::relations::rewrite::with_operands(request, operands)?))
}

fn with_rules(request: &Request, rules: Rules) -> Option<Request> {
    broadcheck::relations::rewrite::under(rules, request.operation(), request.operands().to_vec())
}

#[test]
fn each_fault_breaks_the_relation_that_it_belongs_to() {
    let views_ignored: fn(&Request) -> Option<Outcome> = |request| {
        let broken = |operand: &Operand| {
            let count = operand.shape().count()?;
            let kept = operand.values().iter().take(count);
            let values = broadcheck_spec::Data::from_scalars(operand.dtype(), kept).ok()?;
            Operand::dense(operand.name(), operand.shape().clone(), values).ok()
        };
        let viewed = request.operands().iter().any(|operand| operand.strides().is_some());
        let operands: Option<Vec<Operand>> = request.operands().iter().map(broken).collect();
        if viewed { answered(request, operands?) } else { None }
    };
    assert!(kinds_found(views_ignored).contains(&"strided-operands".into()));

    let exchanged: fn(&Request) -> Option<Outcome> = |request| match request.operands() {
        [first, second] if first.rank() < second.rank() => {
            answered(request, vec![second.clone(), first.clone()])
        }
        _ => None,
    };
    assert!(kinds_found(exchanged).contains(&"operands-reversed".into()));

    let deep: fn(&Request) -> Option<Outcome> = |request| {
        let rank = request.operands().iter().map(Operand::rank).max()?;
        (rank > 2).then(|| Outcome::Refusal(Refusal::default()))
    };
    assert!(kinds_found(deep).contains(&"unit-axis-in-front".into()));

    let numpy_only: fn(&Request) -> Option<Outcome> = |request| {
        let three = request.operands().len() == 3;
        (three && request.names().contains(&"stage0")).then(|| Outcome::Refusal(Refusal::default()))
    };
    assert!(kinds_found(numpy_only).is_empty(), "three operands have a fourth for a stage");
    let stored: fn(&Request) -> Option<Outcome> =
        |request| request.names().contains(&"stage0").then(|| Outcome::Refusal(Refusal::default()));
    assert_eq!(kinds_found(stored), ["in-stages"]);

    let stride_0: fn(&Request) -> Option<Outcome> = |request| {
        let still = |operand: &Operand| operand.strides().is_some_and(|strides| strides.contains(&0));
        request.operands().iter().any(still).then(|| Outcome::Refusal(Refusal::default()))
    };
    assert!(kinds_found(stride_0).contains(&"operands-as-views".into()));

    let transposed: fn(&Request) -> Option<Outcome> = |request| {
        let tall = request.operands().iter().any(|operand| operand.shape()[..] == [3, 2]);
        tall.then(|| Outcome::Refusal(Refusal::default()))
    };
    assert!(kinds_found(transposed).contains(&"axes-permuted".into()));

    let onto_target: fn(&Request) -> Option<Outcome> = |request| match request.rules() {
        Rules::Bidirectional => Some(Reference.run(&with_rules(request, Rules::Numpy)?)),
        _ => None,
    };
    assert!(kinds_found(onto_target).contains(&"broadcast-times-ones".into()));
    let beyond_target: fn(&Request) -> Option<Outcome> =
        |request| match (request.rules(), request.operation()) {
            (Rules::Numpy, Operation::Broadcast { .. }) => {
                Some(Reference.run(&with_rules(request, Rules::Bidirectional)?))
            }
            _ => None,
        };
    assert_eq!(kinds_found(beyond_target), ["broadcast-as-bidirectional"]);

    let flags_refused: fn(&Request) -> Option<Outcome> = |request| {
        let flagged = |operand: &Operand| operand.broadcastable().is_some_and(|flags| flags.contains(&true));
        request.operands().iter().any(flagged).then(|| Outcome::Refusal(Refusal::default()))
    };
    assert!(kinds_found(flags_refused).contains(&"ones-flagged-as-numpy".into()));

    let unwritten: fn(&Request) -> Option<Outcome> = |request| {
        let destination = request.destination()?;
        let shape = destination.shape().clone();
        let unchanged = broadcheck_spec::Tensor::new(shape, destination.values().clone()).ok()?;
        Some(Outcome::Success(unchanged.into()))
    };
    assert!(kinds_found(unwritten).contains(&"without-destination".into()));

    let three_added: fn(&Request) -> Option<Outcome> = |request| {
        let expression = request.operation().expression()?;
        let added = expression.calls().filter(|call| call.function() == Function::Add).count();
        (added == 2).then(|| Outcome::Refusal(Refusal::default()))
    };
    assert_eq!(kinds_found(three_added), ["operands-grouped"]);

    let panics: fn(&Request) -> Option<Outcome> = |request| {
        assert!(request.rules().set() != broadcheck_spec::RuleSet::Xla, "on purpose");
        None
    };
    assert!(kinds_found(panics).iter().all(|kind| kind == "left panicked"));
}

/// A sum of three operands that is asked instead of the request.
fn is_sum_of_three(request: &Request) -> bool {
    let added = |expression: &Expression| {
        expression.calls().filter(|call| call.function() == Function::Add).count() == 2
    };
    request.operation().expression().is_some_and(added)
}

#[test]
fn answers_to_a_derived_request_are_not_sides_of_the_disagreement() {
    let refused: fn(&Request) -> Option<Outcome> =
        |request| is_sum_of_three(request).then(|| Outcome::Refusal(Refusal::default()));
    let asked = request(Rules::Numpy, &[&[2, 1], &[3], &[2, 3]]);
    let found = Relations::new(&Faulty(refused)).judge(&asked).disagreement().unwrap();
    assert_eq!(found.signature.kind, Kind::Relation("operands-grouped"));
    assert_eq!((found.left, found.right), (None, None));
    assert!(found.detail.contains("[add, [add, a, b], c]"), "{}", found.detail);
}

#[test]
fn an_outcome_of_a_derived_request_may_be_broken_or_interrupted() {
    let errored = |kind| Outcome::Errored { kind, message: "on purpose".into() };
    let asked = request(Rules::Numpy, &[&[2, 1], &[3], &[2, 3]]);
    let crashed: fn(&Request) -> Option<Outcome> = |request| {
        is_sum_of_three(request)
            .then(|| Outcome::Errored { kind: ErrorKind::Crashed, message: "on purpose".into() })
    };
    let found = Relations::new(&Faulty(crashed)).judge(&asked).disagreement().unwrap();
    assert_eq!(found.signature.kind, Kind::Broke(Side::Right, Breakage::Crashed));
    let interrupted: fn(&Request) -> Option<Outcome> = |request| {
        is_sum_of_three(request)
            .then(|| Outcome::Errored { kind: ErrorKind::Interrupted, message: "on purpose".into() })
    };
    let judged = Relations::new(&Faulty(interrupted)).judge(&asked);
    assert!(matches!(judged, Judgement::Vacuous(_)), "{judged:?}");
    // An outcome of the request itself is the left side.
    let violation = Violation {
        detail: String::new(),
        variation: None,
        left: Some(errored(ErrorKind::Interrupted)),
        right: None,
        broken: None,
    };
    let judged = disagreement("x".into(), &Reference, &asked, &broadcheck::relations::ADJOINT, violation);
    assert!(matches!(judged, Judgement::Vacuous(_)), "{judged:?}");
}
