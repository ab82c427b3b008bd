//! Which values are needed and by whom last, and which calls form chains: folds of sums, differences, products and
//! quotients in which each value has one reader, the next call.

use super::graph::{Graph, Kind};
use crate::arch::ChainOp;
use crate::tiling::{Kind as Lies, Tiling};
use broadcheck_spec::{DType, Function};
use smallvec::{SmallVec, smallvec};

/// A fold: `arguments[0]`, then each further argument by its operation.
pub(super) struct Chain {
    /// The value that the last link gives.
    pub(super) end: u32,
    pub(super) arguments: SmallVec<[u32; 8]>,
    pub(super) ops: SmallVec<[ChainOp; 8]>,
}

/// What the graph looks like from the root.
pub(super) struct Chains {
    /// For each value its last reader, where a chain reads at its end; itself for the root; nothing for a value
    /// that is not needed, or that lives inside a chain.
    pub(super) last_use: SmallVec<[Option<u32>; 8]>,
    pub(super) chains: SmallVec<[Chain; 1]>,
}

/// What decides whether a value can live inside a chain.
#[derive(Clone, Copy, Default)]
struct Facts {
    readers: u32,
    scalar: bool,
    stationary: bool,
}

/// Looks at everything that `root` needs. Where the result is stored past the caches, one link is a chain too:
/// chains store so, other kernels do not.
pub(super) fn find(
    graph: &Graph,
    root: u32,
    stream: bool,
    tiling: &Tiling,
    access_of: impl Fn(usize) -> u32,
) -> Chains {
    let facts = facts(graph, root, tiling, access_of);
    let mut last_use: SmallVec<[Option<u32>; 8]> = smallvec![None; graph.values.len()];
    let mut chains: SmallVec<[Chain; 1]> = SmallVec::new();
    last_use[root as usize] = Some(root);
    for at in (0..=root).rev() {
        let Kind::Call { function, arguments } = graph.values[at as usize].kind else { continue };
        if last_use[at as usize].is_none() {
            continue;
        }
        let fewest = if stream && at == root { 1 } else { 2 };
        if let Some(chain) = chain(graph, &facts, at, fewest) {
            for &argument in &chain.arguments {
                last_use[argument as usize].get_or_insert(at);
            }
            chains.push(chain);
        } else {
            for &argument in &arguments[..function.arity()] {
                last_use[argument as usize].get_or_insert(at);
            }
        }
    }
    Chains { last_use, chains }
}

fn facts(
    graph: &Graph,
    root: u32,
    tiling: &Tiling,
    access_of: impl Fn(usize) -> u32,
) -> SmallVec<[Facts; 8]> {
    let mut facts: SmallVec<[Facts; 8]> = smallvec![Facts::default(); graph.values.len()];
    let mut moved: SmallVec<[u64; 32]> = smallvec![0; graph.values.len()];
    for (at, value) in graph.values.iter().enumerate() {
        let (scalar, varies) = match value.kind {
            Kind::Operand(operand) => {
                let access = &tiling.accesses[access_of(operand) as usize];
                (access.kind == Lies::Splat, access.varies)
            }
            Kind::Constant(_) => (true, 0),
            Kind::Call { function, arguments } => {
                let of = arguments[..function.arity()].iter().map(|&argument| argument as usize);
                of.fold((true, 0), |(scalar, varies), at| (scalar && facts[at].scalar, varies | moved[at]))
            }
        };
        facts[at] = Facts { readers: 0, scalar, stationary: tiling.is_stationary(varies) };
        moved[at] = varies;
    }
    let mut needed: SmallVec<[bool; 32]> = smallvec![false; graph.values.len()];
    needed[root as usize] = true;
    for at in (0..=root as usize).rev() {
        if let (true, Kind::Call { function, arguments }) = (needed[at], graph.values[at].kind) {
            for &argument in &arguments[..function.arity()] {
                needed[argument as usize] = true;
                facts[argument as usize].readers += 1;
            }
        }
    }
    facts
}

/// The two arguments of a call that may be a link of a chain.
fn link(graph: &Graph, at: u32) -> Option<(Function, u32, u32)> {
    let value = graph.values[at as usize];
    let Kind::Call { function, arguments: [a, b, _] } = value.kind else { return None };
    let alike = [a, b].iter().all(|&argument| graph.dtype(argument) == value.dtype);
    let is_link =
        matches!(function, Function::Add | Function::Subtract | Function::Multiply | Function::Divide)
            && matches!(value.dtype, DType::F64 | DType::F32)
            && alike;
    is_link.then_some((function, a, b))
}

/// The chain that ends at a call, if it has so many links.
fn chain(graph: &Graph, facts: &[Facts], end: u32, fewest: usize) -> Option<Chain> {
    let (mut function, mut a, mut b) = link(graph, end)?;
    let inside = |value: u32| {
        let (fact, whole) = (facts[value as usize], facts[end as usize]);
        let same = fact.stationary == whole.stationary && fact.scalar == whole.scalar;
        (fact.readers == 1 && same).then(|| link(graph, value)).flatten()
    };
    let mut arguments: SmallVec<[u32; 8]> = SmallVec::new();
    let mut ops: SmallVec<[ChainOp; 8]> = SmallVec::new();
    // From the end to the start.
    loop {
        let (next, other, swapped) = match (inside(a), inside(b)) {
            (Some(next), _) => (Some(next), b, false),
            (None, Some(next)) => (Some(next), a, true),
            (None, None) => (None, b, false),
        };
        arguments.push(other);
        ops.push(match (function, swapped) {
            (Function::Add, _) => ChainOp::Add,
            (Function::Subtract, false) => ChainOp::Subtract,
            (Function::Subtract, true) => ChainOp::SubtractFrom,
            (Function::Multiply, _) => ChainOp::Multiply,
            (_, false) => ChainOp::Divide,
            (_, true) => ChainOp::DivideInto,
        });
        match next {
            Some(next) => (function, a, b) = next,
            None => break,
        }
    }
    if ops.len() < fewest {
        return None;
    }
    arguments.push(a);
    arguments.reverse();
    ops.reverse();
    Some(Chain { end, arguments, ops })
}
