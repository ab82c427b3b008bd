//! The sweeps of three and four operands: an implementation that overlooks an operand fails them.

use crate::{Faulty, SHIPPED, shipped};
use broadcheck::run::Status;
use broadcheck::sweeps::run_sweep;
use broadcheck_reference::Reference;
use broadcheck_spec::{Implementation, Operand, Operation, Outcome, Request, Rules};

/// What an implementation does to an operand before it looks at the request.
type Fault = fn(&Request, usize, &Operand) -> Operand;

/// The answer to a request whose operands the fault has changed.
fn changed(request: &Request, fault: Fault) -> Option<Outcome> {
    let Operation::Elementwise { .. } = request.operation() else { return None };
    let (rules, operation, operands) = request.clone().into_parts();
    let changed = operands.iter().enumerate().map(|(place, operand)| fault(request, place, operand));
    Some(Reference.run(&Request::new(rules, operation, changed.collect()).unwrap()))
}

fn is_used(request: &Request, place: usize) -> bool {
    request.operation().expression().is_some_and(|expression| expression.reads(place))
}

/// The first element alone, of length 1.
fn one(operand: &Operand, flag: bool) -> Operand {
    let first = operand.values().get(0).and_then(broadcheck_spec::Scalar::as_f64).unwrap_or(0.0);
    let one = Operand::dense(operand.name(), [1], vec![first]).unwrap();
    match operand.broadcastable() {
        Some(_) => one.with_broadcastable(vec![flag]).unwrap(),
        None => one,
    }
}

/// The operand without its flag.
fn plain(operand: &Operand) -> Operand {
    match operand.broadcastable() {
        Some(_) => operand.clone().with_broadcastable(vec![false]).unwrap(),
        None => operand.clone(),
    }
}

fn is_theano(request: &Request) -> bool {
    *request.rules() == Rules::Theano
}

const FAULTS: &[(&str, &str, Fault)] = &[
    ("does not check an unused third operand", "numpy", |request, place, operand| {
        if place == 2 && !is_used(request, 2) { one(operand, true) } else { operand.clone() }
    }),
    ("does not check an unused last operand", "theano", |request, place, operand| {
        let is_last = place + 1 == request.operands().len();
        if is_last && !is_used(request, place) { one(operand, true) } else { operand.clone() }
    }),
    ("overlooks the flag of an unused operand", "theano", |request, place, operand| {
        if is_used(request, place) { operand.clone() } else { plain(operand) }
    }),
    ("overlooks the flag of the third operand", "theano", |request, place, operand| {
        if is_theano(request) && place == 2 { plain(operand) } else { operand.clone() }
    }),
    ("takes a third operand without elements as one", "numpy", |_, place, operand| {
        if place == 2 && operand.shape().contains(&0) { one(operand, true) } else { operand.clone() }
    }),
    ("reads the first element of the fourth operand", "numpy", |_, place, operand| {
        if place == 3 { one(operand, true) } else { operand.clone() }
    }),
];

#[test]
fn overlooked_operands_are_seen() {
    for &(fault, rules, change) in FAULTS {
        let sweep = shipped(&format!("{rules}/combinations/four"));
        let report = run_sweep(&Faulty(|request: &Request| changed(request, change)), sweep, None);
        assert!(report.failed > 0, "{fault}: {}", report.judged.detail);
    }
}

#[test]
fn the_reference_passes() {
    for sweep in SHIPPED.iter().filter(|sweep| sweep.sweep.ends_with("-operands")) {
        let report = run_sweep(&Reference, sweep, None);
        assert_eq!(report.judged.status, Status::Passed, "{}: {}", sweep.id, report.judged.detail);
        assert_eq!(report.passed, sweep.expected_cases, "{}", sweep.id);
    }
}
