//! Faults that a relation must report.

use super::{
    ADJOINT, AS_NUMPY, OPERANDS_AS_VIEWS, OPERANDS_REVERSED, Original, RelationSweep, Satisfied, Violation,
    broadcast, difference, of, operand,
};
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Capabilities, DType, Data, Function, Implementation, Operand, Operation, Outcome, Refusal, RefusalKind,
    Request, RuleSet, Rules, Scalar, Shape, Tensor,
};

/// The reference, except for requests that a fault answers.
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

/// Checks the first variation of a relation, strictly, as the sweeps do.
fn check(
    relation: &super::Relation,
    fault: fn(&Request) -> Option<Outcome>,
    request: &Request,
) -> Result<Satisfied, Box<Violation>> {
    relation.check(&Original::strict(&Faulty(fault), request), 0)
}

#[test]
fn adjoint_requires_the_target_of_a_broadcast() {
    let ignores_target: fn(&Request) -> Option<Outcome> = |request| {
        let Operation::Broadcast { .. } = request.operation() else { return None };
        let operand = &request.operands()[0];
        Some(Reference.run(&broadcast(Rules::Numpy, operand.clone(), operand.shape())))
    };
    let request = broadcast(Rules::Numpy, operand(&Shape::from([3]), 0), &Shape::from([2, 3]));
    let violation = check(&ADJOINT, ignores_target, &request).unwrap_err();
    assert_eq!(violation.detail, "the result has shape (3), expected (2,3)");
    assert_eq!(check(&ADJOINT, |_| None, &request), Ok(Satisfied::Compared));
    let bidirectional = broadcast(Rules::Bidirectional, operand(&Shape::from([3]), 0), &Shape::from([2, 1]));
    assert_eq!(check(&ADJOINT, |_| None, &bidirectional), Ok(Satisfied::Compared));
}

#[test]
fn order_sweeps_compare_the_reason_of_a_refusal_under_xla_only() {
    // Another kind and axis where the operand of the higher rank comes first.
    let asymmetric: fn(&Request) -> Option<Outcome> = |request| {
        let [one, other] = request.operands() else { return None };
        let kind = if one.rank() > other.rank() {
            RefusalKind::RankMismatch
        } else {
            RefusalKind::DimensionMismatch
        };
        let refusal = Refusal { kind: Some(kind), axis: Some(one.rank()), ..Refusal::default() };
        Some(Outcome::Refusal(refusal))
    };
    let operands = || vec![operand(&Shape::from([3]), 0), operand(&Shape::from([2, 4]), 1)];
    for (rules, sweep) in [
        (RuleSet::Numpy, "numpy-order-of-operands"),
        (RuleSet::Theano, "theano-order-of-operands"),
        (RuleSet::Xla, "xla-order-of-operands"),
    ] {
        let request = difference(rules.into(), operands());
        let sweep = RelationSweep::named(sweep).unwrap();
        assert_eq!(check(sweep.relation, asymmetric, &request).is_err(), rules == RuleSet::Xla, "{rules}");
        assert!(check(&OPERANDS_REVERSED, asymmetric, &request).is_err(), "{rules}");
    }
}

#[test]
fn what_xla_gives_no_place_must_be_refused() {
    // XLA-1, XLA-3 to XLA-6: absent at unequal ranks, too many, out of range, decreasing, not the identity.
    let as_first: fn(&Request) -> Option<Outcome> = |request| {
        let operand = &request.operands()[0];
        Some(Reference.run(&broadcast(Rules::Numpy, operand.clone(), operand.shape())))
    };
    let shape = |rank: usize| Shape::new(vec![2; rank]);
    for (dimensions, ranks) in [
        (None, [3, 1]),
        (Some(vec![0, 1]), [3, 1]),
        (Some(vec![3]), [3, 1]),
        (Some(vec![1, 0]), [3, 2]),
        (Some(vec![1, 0]), [2, 2]),
    ] {
        let rules = Rules::Xla { broadcast_dimensions: dimensions };
        let request = difference(rules, vec![operand(&shape(ranks[0]), 0), operand(&shape(ranks[1]), 1)]);
        for relation in [&AS_NUMPY, &OPERANDS_AS_VIEWS] {
            let violation = check(relation, as_first, &request).unwrap_err();
            assert!(violation.detail.starts_with("accepted, although broadcast_dimensions"), "{violation:?}");
            assert_eq!(check(relation, |_| None, &request), Ok(Satisfied::Vacuous), "{request:?}");
        }
    }
    let scalar = Rules::Xla { broadcast_dimensions: None };
    let scalar = difference(scalar, vec![operand(&shape(2), 0), operand(&shape(0), 1)]);
    assert_eq!(check(&AS_NUMPY, |_| None, &scalar), Ok(Satisfied::Compared), "XLA-2");
}

/// A broadcast whose gradient has two elements exchanged.
#[test]
fn adjoint_reports_elements_of_a_gradient_that_are_exchanged() {
    let exchanged: fn(&Request) -> Option<Outcome> = |request| {
        let Operation::Gradient { wrt: 0, .. } = request.operation() else { return None };
        let Outcome::Success(success) = Reference.run(request) else { return None };
        let (shape, values) = success.tensor.into_parts();
        let mut values: Vec<Scalar> = values.iter().collect();
        values.swap(0, 25);
        let values = Data::from_scalars(DType::F64, values).ok()?;
        Some(Outcome::Success(Tensor::new(shape, values).ok()?.into()))
    };
    // Values that are not integers are replaced.
    let halves = Data::from(vec![0.5; 50]);
    let x = Operand::dense("a", [50], halves).unwrap();
    let target = Shape::from([1, 50]);
    let request = broadcast(Rules::Numpy, x.clone(), &target);
    assert_eq!(check(&ADJOINT, |_| None, &request), Ok(Satisfied::Compared));
    assert!(check(&ADJOINT, exchanged, &request).is_err());
    let y = Operand::dense("b", [1, 50], vec![0.5; 50]).unwrap();
    let operation = Operation::Gradient { expression: of(Function::Multiply, 0, 1), wrt: 0 };
    let request = Request::new(Rules::Numpy, operation, vec![x, y]).unwrap();
    assert_eq!(check(&ADJOINT, |_| None, &request), Ok(Satisfied::Compared));
    assert!(check(&ADJOINT, exchanged, &request).is_err());
}
