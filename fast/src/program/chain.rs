//! Which values are needed and by whom last, and which calls form chains: folds of sums, differences, products,
//! quotients and a few functions of one, in which each value has one reader, the next call.

use super::graph::{Graph, Kind};
use crate::arch::ChainOp;
use crate::few::{VALUES, filled};
use crate::tiling::{Kind as Lies, Tiling};
use broadcheck_spec::{DType, Function};
use smallvec::SmallVec;

/// A fold: `arguments[0]`, then operation by operation, each with the next argument if it takes one.
pub(super) struct Chain {
    /// The value that the last link gives.
    pub(super) end: u32,
    pub(super) arguments: SmallVec<[u32; VALUES]>,
    pub(super) ops: SmallVec<[ChainOp; VALUES]>,
}

/// What the graph looks like from the root.
pub(super) struct Chains {
    /// For each value its last reader, where a chain reads at its end; itself for the root; [`NOBODY`] for a value
    /// that is not needed, or that lives inside a chain.
    pub(super) last_use: SmallVec<[u32; VALUES]>,
    pub(super) chains: SmallVec<[Chain; 1]>,
}

/// No value's place.
pub(super) const NOBODY: u32 = u32::MAX;

/// What decides whether a value can live inside a chain.
#[derive(Clone, Copy)]
struct Facts {
    varies: u64,
    scalar: bool,
    stationary: bool,
}

/// Looks at everything that `root` needs. Where the result is stored past the caches, one link is a chain too:
/// chains store so, other kernels do not.
pub(super) fn find(
    graph: &Graph,
    (root, readers): (u32, &[u32]),
    stream: bool,
    tiling: &Tiling,
    access_of: impl Fn(u32) -> u32,
) -> Chains {
    let calls = graph.values.iter().filter(|value| matches!(value.kind, Kind::Call { .. })).count();
    let exp = |kind| matches!(kind, Kind::Call { function: Function::Exp, .. });
    let facts = if calls > 1 || stream || graph.values.iter().any(|value| exp(value.kind)) {
        facts(graph, root, tiling, access_of)
    } else {
        SmallVec::new()
    };
    let mut found = Chains { last_use: filled(NOBODY, root as usize + 1), chains: SmallVec::new() };
    let last_use = &mut found.last_use[..];
    last_use[root as usize] = root;
    for at in (0..=root).rev() {
        let Kind::Call { function, arguments } = graph.values[at as usize].kind else { continue };
        if last_use[at as usize] == NOBODY {
            continue;
        }
        let fewest = if stream && at == root { 1 } else { 2 };
        let chain = if facts.is_empty() { None } else { chain(graph, &facts, readers, at, fewest) };
        let read = chain.as_ref().map_or(&arguments[..function.arity()], |chain| &chain.arguments);
        for &argument in read {
            let last = &mut last_use[argument as usize];
            *last = if *last == NOBODY { at } else { *last };
        }
        if let Some(chain) = chain {
            found.chains.push(chain);
        }
    }
    found
}

/// The facts of the values up to `root`.
fn facts(
    graph: &Graph,
    root: u32,
    tiling: &Tiling,
    access_of: impl Fn(u32) -> u32,
) -> SmallVec<[Facts; VALUES]> {
    let mut facts: SmallVec<[Facts; VALUES]> = SmallVec::new();
    for value in &graph.values[..=root as usize] {
        let (scalar, varies) = match value.kind {
            // An operand that nobody needs has no access, and nobody asks for its facts.
            Kind::Operand(operand) => match tiling.accesses.get(access_of(operand) as usize) {
                Some(access) => (access.kind == Lies::Splat, access.varies),
                None => (false, 0),
            },
            Kind::Constant(_) => (true, 0),
            Kind::Call { function, arguments } => {
                let of = arguments[..function.arity()].iter().map(|&argument| facts[argument as usize]);
                // mutant: replace | with ^: costs time only; the value stays out of a chain
                of.fold((true, 0), |(scalar, varies), of| (scalar && of.scalar, varies | of.varies))
            }
        };
        facts.push(Facts { varies, scalar, stationary: tiling.is_stationary(varies) });
    }
    facts
}

/// The operation of a call that may be a link of a chain, as applied to its first argument, and its arguments.
fn link(graph: &Graph, at: u32) -> Option<(ChainOp, u32, Option<u32>)> {
    let value = graph.values[at as usize];
    let Kind::Call { function, arguments: [a, b, _] } = value.kind else { return None };
    let op = match function {
        Function::Add => ChainOp::Add,
        Function::Subtract => ChainOp::Subtract,
        Function::Multiply => ChainOp::Multiply,
        Function::Divide => ChainOp::Divide,
        Function::Negate => ChainOp::Negate,
        Function::Abs => ChainOp::Abs,
        Function::Sqrt => ChainOp::Sqrt,
        Function::Exp => ChainOp::Exp,
        _ => return None,
    };
    let second = (!op.is_unary()).then_some(b);
    let alike = |argument: u32| graph.dtype(argument) == value.dtype;
    let is_link = matches!(value.dtype, DType::F64 | DType::F32) && alike(a) && second.is_none_or(alike);
    is_link.then_some((op, a, second))
}

/// The same operation where the chain is its second argument.
fn swapped(op: ChainOp) -> ChainOp {
    match op {
        ChainOp::Subtract => ChainOp::SubtractFrom,
        ChainOp::Divide => ChainOp::DivideInto,
        op => op,
    }
}

/// The chain that ends at a call, if it has so many links; exp is one by itself.
fn chain(graph: &Graph, facts: &[Facts], readers: &[u32], end: u32, fewest: usize) -> Option<Chain> {
    let (mut op, mut a, mut b) = link(graph, end)?;
    let inside = |value: u32| {
        let (fact, whole) = (facts[value as usize], facts[end as usize]);
        let same = fact.stationary == whole.stationary && fact.scalar == whole.scalar;
        (readers[value as usize] == 1 && same).then(|| link(graph, value)).flatten()
    };
    let mut arguments: SmallVec<[u32; VALUES]> = SmallVec::new();
    let mut ops: SmallVec<[ChainOp; VALUES]> = SmallVec::new();
    // From the end to the start.
    loop {
        let next = match (inside(a), b) {
            (Some(next), _) => Some(next),
            (None, Some(second)) => match inside(second) {
                Some(next) => {
                    (op, a, b) = (swapped(op), second, Some(a));
                    Some(next)
                }
                None => None,
            },
            (None, None) => None,
        };
        ops.push(op);
        arguments.extend(b);
        match next {
            Some(next) => (op, a, b) = next,
            None => break,
        }
    }
    if ops.len() < fewest && !ops.contains(&ChainOp::Exp) {
        return None;
    }
    arguments.push(a);
    arguments.reverse();
    ops.reverse();
    Some(Chain { end, arguments, ops })
}
