//! Faults that a relation must report.

use super::{ADJOINT, Held, Original, Violation, broadcast, operand};
use broadcheck_reference::Reference;
use broadcheck_spec::{Capabilities, Implementation, Operation, Outcome, Request, Rules, Shape};

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
) -> Result<Held, Box<Violation>> {
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
    assert_eq!(check(&ADJOINT, |_| None, &request), Ok(Held::Compared));
    let bidirectional = broadcast(Rules::Bidirectional, operand(&Shape::from([3]), 0), &Shape::from([2, 1]));
    assert_eq!(check(&ADJOINT, |_| None, &bidirectional), Ok(Held::Compared));
}
