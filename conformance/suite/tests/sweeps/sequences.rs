//! The sweeps of sequences: an implementation whose answer depends on an earlier request fails them.

use crate::{SHIPPED, shipped};
use broadcheck::run::Status;
use broadcheck::sweeps::run_sweep;
use broadcheck_reference::Reference;
use broadcheck_spec::{Capabilities, Data, Implementation, Operand, Operation, Outcome, Request};
use std::collections::HashMap;
use std::sync::Mutex;

/// The key of a request in a cache. A fault leaves something out.
type Key = fn(&Request) -> String;

/// An implementation that keeps its answers, all or the last one.
struct Caching {
    key: Key,
    all: bool,
    kept: Mutex<HashMap<String, Outcome>>,
}

impl Caching {
    fn new(key: Key, all: bool) -> Caching {
        Caching { key, all, kept: Mutex::default() }
    }
}

impl Implementation for Caching {
    fn name(&self) -> &'static str {
        "caching"
    }
    fn version(&self) -> &'static str {
        "0"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        let key = (self.key)(request);
        let mut kept = self.kept.lock().unwrap();
        if let Some(outcome) = kept.get(&key) {
            return outcome.clone();
        }
        if !self.all {
            kept.clear();
        }
        let outcome = Reference.run(request);
        kept.insert(key, outcome.clone());
        outcome
    }
}

/// What a key consists of.
struct Parts {
    rules: String,
    operation: String,
    operands: Vec<[String; 5]>,
}

const DTYPE: usize = 0;
const SHAPE: usize = 1;
const VALUES: usize = 2;
const STRIDES: usize = 3;
const OFFSET: usize = 4;

fn parts(request: &Request) -> Parts {
    let operand = |operand: &Operand| {
        [
            operand.dtype().to_string(),
            operand.shape().to_string(),
            format!("{:?}", operand.values().iter().collect::<Vec<_>>()),
            format!("{:?}", operand.strides()),
            operand.offset().to_string(),
        ]
    };
    Parts {
        rules: format!("{:?}", request.rules()),
        operation: format!("{:?}", request.operation()),
        operands: request.operands().iter().map(operand).collect(),
    }
}

impl Parts {
    fn without(mut self, part: usize) -> Parts {
        self.operands.iter_mut().for_each(|operand| operand[part].clear());
        self
    }
    fn key(&self) -> String {
        format!("{} {} {:?}", self.rules, self.operation, self.operands)
    }
}

/// What is left out of the key, the sweep that sees it, and the key.
const FAULTS: &[(&str, &str, Key)] = &[
    ("dtype", "numpy", |request| {
        // The values are those of the buffer as f64.
        let mut parts = parts(request).without(DTYPE);
        for (part, operand) in parts.operands.iter_mut().zip(request.operands()) {
            let number = |value: broadcheck_spec::Scalar| {
                value.as_f64().or(value.as_i128().map(|value| value as f64)).unwrap_or(0.0)
            };
            part[VALUES] = format!("{:?}", operand.values().iter().map(number).collect::<Vec<_>>());
        }
        parts.key()
    }),
    ("shape", "numpy", |request| parts(request).without(SHAPE).key()),
    ("shape", "none", |request| parts(request).without(SHAPE).key()),
    ("shape", "theano", |request| parts(request).without(SHAPE).key()),
    ("values", "bidirectional", |request| parts(request).without(VALUES).key()),
    ("the sign of zero", "numpy", |request| {
        let mut parts = parts(request);
        parts
            .operands
            .iter_mut()
            .for_each(|operand| operand[VALUES] = operand[VALUES].replace("-0.0", "0.0"));
        parts.key()
    }),
    ("all values but the first", "xla", |request| {
        let mut parts = parts(request).without(VALUES);
        for (part, operand) in parts.operands.iter_mut().zip(request.operands()) {
            part[VALUES] = format!("{:?}", operand.values().get(0));
        }
        parts.key()
    }),
    ("strides", "numpy", |request| parts(request).without(STRIDES).key()),
    ("strides", "none", |request| parts(request).without(STRIDES).key()),
    ("offset", "xla", |request| parts(request).without(OFFSET).key()),
    ("offset", "pdpd", |request| parts(request).without(OFFSET).key()),
    ("axis", "pdpd", |request| {
        let Parts { operation, operands, .. } = parts(request);
        format!("{operation} {operands:?}")
    }),
    ("broadcast_dimensions", "xla", |request| {
        let Parts { operation, operands, .. } = parts(request);
        format!("{operation} {operands:?}")
    }),
    ("rule set", "bidirectional", |request| {
        let Parts { operation, operands, .. } = parts(request);
        format!("{operation} {operands:?}")
    }),
    ("target", "bidirectional", |request| {
        let Parts { rules, operands, .. } = parts(request);
        format!("{rules} {operands:?}")
    }),
    ("wrt", "theano", |request| {
        let Parts { rules, operands, .. } = parts(request);
        let operation = match request.operation() {
            Operation::Gradient { expression, .. } => format!("gradient {expression:?}"),
            other => format!("{other:?}"),
        };
        format!("{rules} {operation} {operands:?}")
    }),
    ("operation", "none", |request| {
        let Parts { rules, operands, .. } = parts(request);
        format!("{rules} {:?} {operands:?}", request.operation().expression())
    }),
    ("order of arguments", "pdpd", |request| {
        let Parts { rules, operands, .. } = parts(request);
        let functions = request.operation().expression().map(|expression| {
            let calls: Vec<_> = expression.calls().map(broadcheck_spec::Call::function).collect();
            (calls, expression.nodes().len())
        });
        format!("{rules} {:?} {functions:?} {operands:?}", request.operation().kind())
    }),
    ("expression", "theano", |request| {
        let Parts { rules, operands, .. } = parts(request);
        format!("{rules} {:?} {operands:?}", request.operation().kind())
    }),
];

#[test]
fn a_cache_with_a_short_key_is_seen() {
    for &(fault, rules, key) in FAULTS {
        // The last answer alone is enough, and all of them are.
        for all in [false, true] {
            let sweep = shipped(&format!("{rules}/sequences/short"));
            let report = run_sweep(&Caching::new(key, all), sweep, None);
            assert!(report.failed > 0, "{fault}, {rules}: {}", report.judged.detail);
        }
    }
}

/// What an implementation does with its earlier requests.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Refuses what follows a refusal.
    StaysRefused,
    /// Reuses the buffer of the answer before, if it is as long or longer, and leaves its last element.
    ReusesBuffer,
    /// Answers a request that is repeated with the first element of the answer before.
    KeepsFirst,
    /// Answers elementwise after a gradient with an element too much.
    AfterGradient,
}

struct Stateful {
    state: State,
    last: Mutex<Option<(Request, Outcome)>>,
}

impl Implementation for Stateful {
    fn name(&self) -> &'static str {
        "stateful"
    }
    fn version(&self) -> &'static str {
        "0"
    }
    fn capabilities(&self) -> &Capabilities {
        Reference.capabilities()
    }
    fn run(&self, request: &Request) -> Outcome {
        let mut last = self.last.lock().unwrap();
        let mut outcome = Reference.run(request);
        if let Some((asked, before)) = &*last {
            match (self.state, before, &mut outcome) {
                (State::StaysRefused, Outcome::Refusal(_), _) => {
                    // Once.
                    let refusal = before.clone();
                    *last = Some((request.clone(), outcome));
                    return refusal;
                }
                (State::ReusesBuffer, Outcome::Success(before), Outcome::Success(success)) => {
                    if let (Data::F64(old), Data::F64(new)) =
                        (before.tensor.values(), &mut success.tensor.values().clone())
                        && old.len() > new.len()
                        && let Some(end) = new.last_mut()
                    {
                        *end = old[old.len() - 1] + 1.0;
                        let shape = success.tensor.shape().clone();
                        success.tensor = broadcheck_spec::Tensor::new(shape, new.clone()).unwrap();
                    }
                }
                (State::KeepsFirst, _, Outcome::Success(success)) if asked == request => {
                    if let Data::F64(values) = &mut success.tensor.values().clone() {
                        values[0] += 1.0;
                        let shape = success.tensor.shape().clone();
                        success.tensor = broadcheck_spec::Tensor::new(shape, values.clone()).unwrap();
                    }
                }
                (State::AfterGradient, _, Outcome::Success(success))
                    if matches!(asked.operation(), Operation::Gradient { .. })
                        && matches!(request.operation(), Operation::Elementwise { .. }) =>
                {
                    if let Data::F64(values) = &mut success.tensor.values().clone() {
                        values[0] += 1.0;
                        let shape = success.tensor.shape().clone();
                        success.tensor = broadcheck_spec::Tensor::new(shape, values.clone()).unwrap();
                    }
                }
                _ => {}
            }
        }
        *last = Some((request.clone(), outcome.clone()));
        outcome
    }
}

#[test]
fn state_that_is_left_behind_is_seen_under_every_rule_set() {
    for sweep in SHIPPED.iter().filter(|sweep| sweep.id.ends_with("/sequences/short")) {
        for state in [State::StaysRefused, State::ReusesBuffer, State::KeepsFirst, State::AfterGradient] {
            if sweep.id.starts_with("bidirectional") && state == State::AfterGradient {
                continue;
            }
            let report = run_sweep(&Stateful { state, last: Mutex::default() }, sweep, None);
            assert!(report.failed > 0, "{}: {state:?}", sweep.id);
        }
    }
}

#[test]
fn a_failure_names_what_was_asked_before() {
    let sweep = shipped("numpy/sequences/short");
    let stays = Stateful { state: State::StaysRefused, last: Mutex::default() };
    let report = run_sweep(&stays, sweep, None);
    let failure = report
        .failures
        .iter()
        .find(|failure| failure.what == "numpy/sequences/short/base-and-a-refusal")
        .unwrap();
    assert!(failure.detail.starts_with("3-base, after 1-base, 2-a-refusal: "), "{}", failure.detail);
}

#[test]
fn the_reference_passes() {
    for sweep in SHIPPED.iter().filter(|sweep| sweep.sweep.ends_with("-sequences")) {
        let report = run_sweep(&Reference, sweep, None);
        assert_eq!(report.judged.status, Status::Passed, "{}: {}", sweep.id, report.judged.detail);
        assert_eq!(report.passed, sweep.expected_cases, "{}", sweep.id);
    }
}
