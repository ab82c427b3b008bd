//! The sweeps of sessions: an implementation that builds for the lengths of one run fails them.

use crate::{SHIPPED, shipped};
use broadcheck::declare::{Way, run_declared};
use broadcheck::run::{Status, run_case};
use broadcheck::sweeps::run_sweep;
use broadcheck_reference::Reference;
use broadcheck_spec::{Capabilities, Case, Implementation, Outcome, Request, Shape, Success, Suite, Tensor};
use std::collections::HashMap;
use std::sync::Mutex;

/// What was built for a signature: the first run, and the latest answer that was no refusal.
#[derive(Clone)]
struct Built {
    first: Request,
    latest: Outcome,
}

/// What a faulty implementation makes of the right outcome of a run.
type Fault = fn(&Built, &Request, Outcome) -> Outcome;

/// Builds once for each signature, and runs that with a fault.
struct Builds {
    fault: Fault,
    built: Mutex<HashMap<String, Built>>,
}

impl Builds {
    fn new(fault: Fault) -> Builds {
        Builds { fault, built: Mutex::default() }
    }
}

impl Implementation for Builds {
    fn name(&self) -> &'static str {
        "builds"
    }
    fn version(&self) -> &'static str {
        "0"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        let right = Reference.run(request);
        if request.declared().next().is_none() {
            return right;
        }
        let declared: Vec<String> = request.declared().map(ToString::to_string).collect();
        let operation = request.operation().kind();
        let key = format!("{:?} {operation} {declared:?}", request.rules());
        let mut all = self.built.lock().unwrap();
        let built = all.entry(key).or_insert_with(|| Built { first: request.clone(), latest: right.clone() });
        let answer = (self.fault)(built, request, right);
        if matches!(answer, Outcome::Success(_)) {
            built.latest = answer.clone();
        }
        answer
    }
}

/// A run whose lengths do not fit is answered with the run before.
fn stale(built: &Built, _: &Request, right: Outcome) -> Outcome {
    if matches!(right, Outcome::Refusal(_)) { built.latest.clone() } else { right }
}

/// The result is allocated once, with the shape of the first run.
fn first_shape(built: &Built, _: &Request, right: Outcome) -> Outcome {
    match (Reference.run(&built.first), &right) {
        (Outcome::Success(first), Outcome::Success(_)) => with_shape(&right, first.tensor.shape()),
        _ => right,
    }
}

/// The right elements, repeated or cut off, in another shape.
fn with_shape(outcome: &Outcome, shape: &Shape) -> Outcome {
    let Outcome::Success(success) = outcome else { return outcome.clone() };
    let (values, count) = (success.tensor.values(), shape.count().unwrap());
    if values.is_empty() || values.len() == count {
        return outcome.clone();
    }
    let picked = (0..count).filter_map(|place| values.get(place % values.len()));
    let data = broadcheck_spec::Data::from_scalars(success.tensor.dtype(), picked).unwrap();
    Outcome::Success(Success::from(Tensor::new(shape.clone(), data).unwrap()))
}

/// Nothing is checked at the run: what does not fit is answered with an empty tensor.
fn unchecked(_: &Built, _: &Request, right: Outcome) -> Outcome {
    match right {
        Outcome::Refusal(_) => Outcome::Success(Success::from(Tensor::new([0], Vec::<f32>::new()).unwrap())),
        other => other,
    }
}

/// Which axes are stretched is decided in the first run: a length that is 1 only later is refused.
fn stretched_as_at_first(built: &Built, request: &Request, right: Outcome) -> Outcome {
    let later_one = |(first, now): (&usize, &usize)| *now == 1 && *first != 1;
    let pairs = built.first.operands().iter().zip(request.operands());
    let differs = |(first, now): (&broadcheck_spec::Operand, &broadcheck_spec::Operand)| {
        first.rank() == now.rank() && first.shape().iter().zip(now.shape().iter()).any(later_one)
    };
    if pairs.into_iter().any(differs) { Outcome::Refusal(broadcheck_spec::Refusal::default()) } else { right }
}

/// Right with every run.
fn right(_: &Built, _: &Request, right: Outcome) -> Outcome {
    right
}

const RULES: [&str; 8] = ["none", "numpy", "pdpd", "bidirectional", "xla", "theano", "leading", "repeat"];

fn status(fault: Fault, rules: &str) -> Status {
    run_sweep(&Builds::new(fault), shipped(&format!("{rules}/sessions/short")), None).judged.status
}

#[test]
fn what_is_right_with_every_run_passes() {
    for rules in RULES {
        assert_eq!(status(right, rules), Status::Passed, "{rules}");
    }
    assert_eq!(SHIPPED.iter().filter(|sweep| sweep.sweep.ends_with("-sessions")).count(), 16);
}

#[test]
fn stale_answers_are_found_under_every_rule_set() {
    for rules in RULES {
        for fault in [stale, first_shape, unchecked] {
            assert_eq!(status(fault, rules), Status::Failed, "{rules}");
        }
    }
    // Under `none` and `theano` no length that is 1 at the run is stretched because of that.
    for rules in ["numpy", "pdpd", "bidirectional", "xla"] {
        assert_eq!(status(stretched_as_at_first, rules), Status::Failed, "{rules}");
    }
}

/// A case alone shows nothing, and with declared shapes it does.
#[test]
fn any_case_can_be_asked_with_declared_shapes() {
    let suite = Suite::builtin().unwrap();
    let fault = Builds::new(unchecked);
    let refused: Vec<&Case> = suite.cases.iter().filter(|case| case.id.starts_with("numpy/align/")).collect();
    let mut found = 0;
    for case in refused {
        assert_eq!(
            run_case(&Reference, case, None).status,
            run_case(&fault, case, None).status,
            "{}",
            case.id
        );
        let [right] = &run_declared(&Reference, &[case], None, &Way::ALL)[..] else { panic!() };
        assert!(!right.status.is_failure(), "{}: {}", case.id, right.detail);
        let [wrong] = &run_declared(&fault, &[case], None, &Way::ALL)[..] else { panic!() };
        if wrong.status == Status::Failed {
            assert!(wrong.detail.starts_with("declared a ("), "{}", wrong.detail);
            found += 1;
        }
    }
    assert!(found > 0, "no case of numpy/align is refused");
}
