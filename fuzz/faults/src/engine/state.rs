//! What an engine keeps between requests. Without a fault it keeps nothing that an answer depends on.

use super::Aligned;
use super::collapse::LoopNest;
use super::rewrite::Program;
use broadcheck_spec::{DType, Operation, Outcome, Request, Rules};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The plans or results that a cache holds before it is emptied.
const CAPACITY: usize = 512;

/// How a request is computed.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(super) dtype: DType,
    pub(super) aligned: Aligned,
    pub(super) nest: LoopNest,
    pub(super) program: Program,
    pub(super) operands: usize,
}

/// What is kept.
#[derive(Default)]
pub(crate) struct Memory {
    plans: HashMap<u64, Plan>,
    results: HashMap<u64, Outcome>,
    /// The request before this one.
    pub(crate) request: Option<Request>,
    /// Its answer.
    pub(crate) outcome: Option<Outcome>,
    /// The number of requests before this one.
    pub(crate) asked: usize,
    /// A number that a fault keeps.
    pub(crate) number: usize,
}

impl Memory {
    pub(super) fn plan(&self, key: u64) -> Option<&Plan> {
        self.plans.get(&key)
    }

    pub(super) fn keep_plan(&mut self, key: u64, plan: Plan) {
        if self.plans.len() >= CAPACITY {
            self.plans.clear();
        }
        self.plans.insert(key, plan);
    }

    pub(super) fn result(&self, key: u64) -> Option<&Outcome> {
        self.results.get(&key)
    }

    pub(super) fn keep_result(&mut self, key: u64, outcome: Outcome) {
        if self.results.len() >= CAPACITY {
            self.results.clear();
        }
        self.results.insert(key, outcome);
    }
}

/// The decisions about what is kept.
#[derive(Clone)]
pub(crate) struct State {
    /// Whether there is a memory at all. Without one, requests can be answered in parallel.
    pub(crate) remembers: bool,
    /// The key under which the plan of a request is kept; `None` if it is not.
    pub(crate) plan: fn(&Request) -> Option<u64>,
    /// The key under which a result is kept; `None` if it is not.
    pub(crate) result: fn(&Request) -> Option<u64>,
    /// The request that is answered instead of this one, if there is one.
    pub(crate) before: fn(&mut Memory, &Request) -> Option<Request>,
    /// The answer, from the correct one.
    pub(crate) after: fn(&mut Memory, &Request, Outcome) -> Outcome,
}

impl Default for State {
    fn default() -> State {
        State {
            remembers: false,
            plan: |_| None,
            result: |_| None,
            before: |_, _| None,
            after: |_, _, outcome| outcome,
        }
    }
}

/// A part of a request that a key may leave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    RuleSet,
    /// `axis` or `broadcast_dimensions`.
    Attribute,
    Kind,
    Functions,
    /// The order of the operands in the expression.
    Order,
    Wrt,
    Target,
    Lengths,
    Strides,
    Offsets,
    DTypes,
    Flags,
    Values,
}

/// The key of a request, without some parts of it.
pub(crate) fn key(request: &Request, without: &[Part]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let has = |part: Part| !without.contains(&part);
    if has(Part::RuleSet) {
        request.rules().set().hash(&mut hasher);
    }
    if has(Part::Attribute) {
        match request.rules() {
            Rules::Pdpd { axis } => axis.hash(&mut hasher),
            Rules::Xla { broadcast_dimensions } => broadcast_dimensions.hash(&mut hasher),
            Rules::None
            | Rules::Numpy
            | Rules::Theano
            | Rules::Bidirectional
            | Rules::Leading
            | Rules::Repeat => {}
        }
    }
    if has(Part::Kind) {
        request.operation().kind().hash(&mut hasher);
    }
    match request.operation() {
        Operation::Broadcast { target_shape } if has(Part::Target) => target_shape.hash(&mut hasher),
        Operation::Broadcast { target_shape } => target_shape.rank().hash(&mut hasher),
        Operation::Gradient { wrt, .. } if has(Part::Wrt) => wrt.hash(&mut hasher),
        Operation::Vjp { wrt, target_shape, cotangent, .. } => {
            (wrt, target_shape, cotangent.shape(), cotangent.dtype()).hash(&mut hasher);
        }
        Operation::Into { destination, .. } => destination.hash(&mut hasher),
        Operation::Gradient { .. } | Operation::Elementwise { .. } => {}
    }
    if let Some(expression) = request.operation().expression() {
        for node in expression.nodes() {
            match node {
                broadcheck_spec::Node::Operand(operand) if has(Part::Order) => operand.hash(&mut hasher),
                broadcheck_spec::Node::Operand(_) => {}
                broadcheck_spec::Node::Call(call) if has(Part::Functions) => {
                    call.function().hash(&mut hasher);
                }
                broadcheck_spec::Node::Call(call) => call.arguments().hash(&mut hasher),
            }
        }
    }
    for operand in request.operands() {
        operand.reads_destination().hash(&mut hasher);
        operand.rank().hash(&mut hasher);
        if has(Part::Lengths) {
            operand.shape().hash(&mut hasher);
        }
        if has(Part::Strides) {
            operand.strides().hash(&mut hasher);
        }
        if has(Part::Offsets) {
            operand.offset().hash(&mut hasher);
        }
        if has(Part::DTypes) {
            operand.dtype().hash(&mut hasher);
        }
        if has(Part::Flags) {
            operand.broadcastable().hash(&mut hasher);
        }
        if has(Part::Values) {
            for value in operand.values().iter() {
                value.to_bits().hash(&mut hasher);
            }
        }
    }
    hasher.finish()
}
