//! The program of an expression that is one chain of operands, each of which is read once and in place, over
//! one tile. The scheduler would write the same program, but after a search for common values, for readers
//! and for registers, none of which such an expression has: most of the time of planning a sum of ten went
//! there (`benches/quick`).
#![deny(clippy::wildcard_enum_match_arm)]

use super::chain::{chain_op, swapped};
use super::schedule::{Program, Source, Step, Target, Work};
use crate::scratch::FloatBank;
use crate::tiling::{AccessKind, Tiling};
use broadcheck_spec::{Expression, Node};
use smallvec::SmallVec;

/// Nodes of an expression that needs no allocation.
const NODES: usize = 24;

/// The operands of an expression in the order of its nodes.
pub(crate) fn operands(expression: &Expression) -> impl Iterator<Item = usize> {
    expression.nodes().iter().filter_map(|node| match node {
        Node::Operand(place) => Some(*place),
        Node::Call(_) => None,
    })
}

/// Whether all calls of an expression can be links of a chain, there are two at least, and no operand occurs
/// twice.
#[inline]
pub(crate) fn may_fold(expression: &Expression) -> bool {
    let (mut seen, mut calls) = (0u64, 0);
    for node in expression.nodes() {
        match node {
            Node::Operand(place) => {
                let bit =
                    u32::try_from(*place).ok().and_then(|place| 1u64.checked_shl(place)).unwrap_or(seen);
                if seen & bit != 0 {
                    return false;
                }
                seen |= bit;
            }
            Node::Call(call) if chain_op(call.function()).is_some() => calls += 1,
            Node::Call(_) => return false,
        }
    }
    calls > 1
}

/// The program of such an expression, whose operands are the accesses of a tiling of one tile; `None` if it
/// is not one chain, if an operand must be gathered, or if the chain starts with a scalar.
pub(crate) fn fold(expression: &Expression, bank: FloatBank, tiling: &Tiling) -> Option<Program> {
    let nodes = expression.nodes();
    let mut program = Program::default();
    program.links.reserve_exact(nodes.len() - tiling.accesses.len());
    // Where the operand of each node is read, in the order of the nodes.
    let mut sources: SmallVec<[Option<Source>; NODES]> = SmallVec::new();
    let (mut access, mut chain, mut first) = (0, None, None);
    for (at, node) in nodes.iter().enumerate() {
        let Node::Call(call) = node else {
            sources.push(Some(source(tiling, access)?));
            access += 1;
            continue;
        };
        let op = chain_op(call.function())?;
        let (op, value, other) = match *call.arguments() {
            [a, b] if chain == Some(b) => (swapped(op), b, Some(a)),
            [a, b] => (op, a, Some(b)),
            [a] => (op, a, None),
            _ => return None,
        };
        match chain {
            None => first = sources[value].filter(|source| !source.is_scalar()),
            Some(chain) if chain == value => {}
            Some(_) => return None,
        }
        let given = match other {
            Some(other) => Some(sources[other]?),
            None => None,
        };
        program.links.push((op, given));
        sources.push(None);
        chain = Some(at);
    }
    let end = u32::try_from(program.links.len()).unwrap_or(u32::MAX);
    let work = Work::Chain { bank, first: first?, start: 0, end };
    program.steps.push(Step { work, target: Target::Output, varies: 0, stationary: false });
    program.in_rows = true;
    Some(program)
}

/// Where the operand of an access is read in place.
#[inline]
fn source(tiling: &Tiling, access: usize) -> Option<Source> {
    let place = u32::try_from(access).unwrap_or(u32::MAX);
    match tiling.accesses[access].kind {
        AccessKind::Direct => Some(Source::Operand { access: place, scalar: false }),
        AccessKind::Splat => Some(Source::Operand { access: place, scalar: true }),
        AccessKind::Gather => None,
    }
}
