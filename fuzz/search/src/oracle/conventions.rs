//! Differences that are only conventions: points on which real systems differ, and which a side does not
//! declare that it follows. They are counted, and are no findings.

#![warn(clippy::wildcard_enum_match_arm)]

use crate::generate::is_near;
use broadcheck_judge::compare::{Latitude, Verdict, expectation_of, judge};
use broadcheck_judge::conventions::{excuses, has_gradient_tie};
use broadcheck_reference::Reference;
use broadcheck_spec::{Convention, Expectation, Implementation, Outcome, Request};

/// The convention by which the outcomes of several sides differ, if each outcome is the reference's or is
/// excused by a convention that its side does not follow, and at least one is excused.
pub(super) fn excused(request: &Request, sides: [(&dyn Implementation, &Outcome); 2]) -> Option<Convention> {
    if sides.iter().all(|(side, _)| follows_all(*side)) {
        return None;
    }
    let expectation = expectation_of(&Reference::new().run(request))?;
    let tested = tested(request, &expectation);
    let mut found = None;
    for (side, outcome) in sides {
        let latitude = Latitude::of(side);
        if judge(request, &expectation, outcome, latitude) == Verdict::Passed {
            continue;
        }
        let mut free = tested.iter().filter(|&&convention| !side.capabilities().follows(convention));
        found = Some(*free.find(|&&one| excuses(one, request, &expectation, outcome, latitude))?);
    }
    found
}

/// The first convention that a request tests and an implementation does not follow.
pub(super) fn not_followed(implementation: &dyn Implementation, request: &Request) -> Option<Convention> {
    if follows_all(implementation) {
        return None;
    }
    let expectation = expectation_of(&Reference::new().run(request))?;
    let tested = tested(request, &expectation);
    tested.into_iter().find(|&convention| !implementation.capabilities().follows(convention))
}

fn follows_all(implementation: &dyn Implementation) -> bool {
    Convention::ALL.into_iter().all(|convention| implementation.capabilities().follows(convention))
}

/// The conventions that a request tests, by its expected outcome. [`Convention::ZeroSigns`] is not among
/// them: the judge's latitude covers it.
fn tested(request: &Request, expectation: &Expectation) -> Vec<Convention> {
    let mut tested: Vec<Convention> = Convention::of("", request, expectation).into_iter().collect();
    if request.has_unused_operand() && !tested.contains(&Convention::UnusedOperands) {
        tested.push(Convention::UnusedOperands);
    }
    match expectation {
        // A request that one change would make accepted has a single fault.
        Expectation::Refusal(_) if !is_near(request) => tested.push(Convention::RefusalOrder),
        Expectation::Result(_) if has_gradient_tie(request) => tested.push(Convention::GradientTies),
        Expectation::Refusal(_) | Expectation::Result(_) => {}
    }
    tested
}

#[cfg(test)]
mod tests {
    use crate::oracle::{Judgement, differential};
    use broadcheck_reference::Reference;
    use broadcheck_spec::{
        Capabilities, Convention, Data, Expression, Function, Implementation, Operand, Operation, Outcome,
        Refusal, RefusalKind, Request, Rules, Tensor,
    };

    /// The reference with other answers to some requests, and with these conventions.
    struct Other {
        capabilities: Capabilities,
        answer: fn(&Request) -> Option<Outcome>,
    }

    impl Implementation for Other {
        fn name(&self) -> &'static str {
            "other"
        }
        fn version(&self) -> &'static str {
            "1"
        }
        fn capabilities(&self) -> &Capabilities {
            &self.capabilities
        }
        fn run(&self, request: &Request) -> Outcome {
            (self.answer)(request).unwrap_or_else(|| Reference::new().run(request))
        }
    }

    /// The convention by which an answer differs if it is not declared; `None` for a disagreement. If the
    /// convention is declared, the answer must be a disagreement.
    fn excused(request: &Request, answer: fn(&Request) -> Option<Outcome>) -> Option<Convention> {
        let all = Other { capabilities: Capabilities::with_all_conventions(), answer };
        let judged = differential(&Reference::new(), &all, request);
        assert!(matches!(judged, Judgement::Disagreement(_)), "{judged:?}");
        let none = Other { capabilities: Capabilities::all(), answer };
        match differential(&Reference::new(), &none, request) {
            Judgement::Convention(convention) => Some(convention),
            Judgement::Disagreement(_) => None,
            other @ (Judgement::Agreed(_) | Judgement::Vacuous(_)) => panic!("{other:?}"),
        }
    }

    fn operand(name: &str, shape: &[usize], data: impl Into<Data>) -> Operand {
        Operand::dense(name, shape, data).unwrap()
    }

    fn elementwise(expression: Expression, operands: Vec<Operand>) -> Request {
        Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap()
    }

    fn both(function: Function) -> Expression {
        Expression::call(function, [Expression::operand(0), Expression::operand(1)]).unwrap()
    }

    fn result(shape: &[usize], data: impl Into<Data>) -> Option<Outcome> {
        Some(Outcome::Success(Tensor::new(shape, data).unwrap().into()))
    }

    fn refusal(kind: RefusalKind) -> Option<Outcome> {
        Some(Outcome::Refusal(Refusal { kind: Some(kind), ..Refusal::default() }))
    }

    #[test]
    fn a_promoted_result_is_a_convention_and_another_shape_is_not() {
        let operands = vec![operand("a", &[1], vec![1i32]), operand("b", &[2], vec![1.0f64, 2.0])];
        let mixed = elementwise(both(Function::Add), operands);
        let promoted = |_: &Request| result(&[2], vec![2.0f64, 3.0]);
        assert_eq!(excused(&mixed, promoted), Some(Convention::SeparateDtypes));
        assert_eq!(excused(&mixed, |_| result(&[1], vec![2.0f64])), None);
    }

    #[test]
    fn an_operand_that_is_not_used_may_be_ignored() {
        let operands = vec![operand("a", &[1], vec![5.0f64]), operand("b", &[2], vec![1.0f64, 2.0])];
        let unused = elementwise(Expression::operand(0), operands);
        assert_eq!(excused(&unused, |_| result(&[1], vec![5.0f64])), Some(Convention::UnusedOperands));
        assert_eq!(excused(&unused, |_| result(&[1], vec![6.0f64])), None);
    }

    #[test]
    fn a_single_fault_has_one_kind_and_of_several_any_may_be_reported() {
        let sum = |shapes: [&[usize]; 2]| {
            let of = |name, shape: &[usize]| operand(name, shape, vec![1.0f64; shape.iter().product()]);
            elementwise(both(Function::Add), vec![of("a", shapes[0]), of("b", shapes[1])])
        };
        let other = |_: &Request| refusal(RefusalKind::NotBroadcastable);
        assert_eq!(excused(&sum([&[2], &[3]]), other), None);
        assert_eq!(excused(&sum([&[2, 4], &[3, 5]]), other), Some(Convention::RefusalOrder));
        // A result is wrong in any case.
        assert_eq!(excused(&sum([&[2, 4], &[3, 5]]), |_| result(&[2, 4], vec![0.0f64; 8])), None);
    }

    #[test]
    fn the_halves_of_a_tie_are_a_convention_and_other_elements_are_not() {
        let operands = vec![operand("a", &[2], vec![1.0f64, 3.0]), operand("b", &[2], vec![1.0f64, 2.0])];
        let operation = Operation::Gradient { expression: both(Function::Maximum), wrt: 0 };
        let tie = Request::new(Rules::Numpy, operation, operands).unwrap();
        assert_eq!(excused(&tie, |_| result(&[2], vec![1.0f64, 1.0])), Some(Convention::GradientTies));
        assert_eq!(excused(&tie, |_| result(&[2], vec![1.0f64, 0.0])), None);
    }
}
