//! The rows of a tile: over which rows a gradient is added up while it is computed, and by which rows chains
//! read operands that would be gathered otherwise.
#![deny(clippy::wildcard_enum_match_arm)]

use super::banks::{bank_of, bytes, is_plain_float};
use super::chain::{Chain, NOBODY, has_function};
use super::graph::{Graph, Slope, ValueKind};
use super::steps::Onto;
use crate::fold::SHORTEST_ROW;
use crate::tiling::{AccessKind, Tiling};
use broadcheck_spec::Function;

/// [`SHORTEST_ROW`] for most chains with functions, which compute rows one by one: of shorter rows, several
/// are gathered. (With rows of 128 bytes, exp(x*y) then takes half of the time; with rows of 264 bytes, 0.75
/// to 0.95 by a column, and with rows of 400, 1.1.)
const SHORTEST_ROW_OF_FUNCTION: usize = 400;

/// [`SHORTEST_ROW`] for most choices with a factor by a column, whose loop finds out in every row which
/// arguments are one value. (When no loop knew that, select(x<y,y,y) by a column over rows of 80 to 264 bytes
/// took 1.2 to 1.9 of the time in place, and over rows of 400 0.86.)
const SHORTEST_ROW_OF_CHOICE: usize = 384;

/// [`SHORTEST_ROW`] for the derivative of a maximum. (With rows of 96 to 256 bytes, it takes 0.74 to 0.98 of
/// the time in place by a row and 0.66 to 0.89 by a column; with rows of 80 bytes, 1.14 and 1.04.)
const SHORTEST_ROW_OF_DERIVATIVE: usize = 96;

/// The bytes of the shortest row over which the chain or the choice that is the root of a graph runs in
/// place. `by_column` is whether an operand has one value in each row.
pub(crate) fn shortest_row(graph: &Graph, root: u32, by_column: bool) -> usize {
    let kind = graph.values[root as usize].kind;
    if matches!(kind, ValueKind::Slope { slope: Slope::Winner, .. }) {
        SHORTEST_ROW_OF_DERIVATIVE
    } else if matches!(kind, ValueKind::Call { function: Function::Select, .. }) {
        if by_column && !has_own_loop(graph, root) { SHORTEST_ROW_OF_CHOICE } else { SHORTEST_ROW }
    } else if has_function(graph) && !is_exp_of_two(graph, root) {
        SHORTEST_ROW_OF_FUNCTION
    } else {
        SHORTEST_ROW
    }
}

/// Whether a value is exp of a sum, difference or product of two different operands. Such a chain has a loop
/// over all rows.
fn is_exp_of_two(graph: &Graph, root: u32) -> bool {
    let ValueKind::Call { function: Function::Exp, arguments } = graph.values[root as usize].kind else {
        return false;
    };
    let ValueKind::Call { function, arguments } = graph.values[arguments[0] as usize].kind else {
        return false;
    };
    let is_operand = |&at: &u32| matches!(graph.values[at as usize].kind, ValueKind::Operand(_));
    matches!(function, Function::Add | Function::Subtract | Function::Multiply)
        && arguments[0] != arguments[1]
        && arguments[..2].iter().all(is_operand)
}

/// Whether a choice by a comparison has a loop that knows which of its arguments are one value: one of two
/// values, or of a compared value as it is and multiplied, as in a leaky rectifier.
fn has_own_loop(graph: &Graph, choice: u32) -> bool {
    let Some((Function::Select, [condition, chosen, other])) = graph.call(choice) else { return false };
    let Some((_, [x, limit, _])) = graph.call(condition) else { return false };
    let factors = |value: u32| match graph.call(value) {
        Some((Function::Multiply, [a, b, _])) => Some([a, b]),
        _ => None,
    };
    let is_scaled =
        |value: u32, factors: [u32; 2]| (value == x || value == limit) && factors.contains(&value);
    match (factors(chosen), factors(other)) {
        (None, None) => true,
        (Some(factors), None) => is_scaled(other, factors),
        (None, Some(factors)) => is_scaled(chosen, factors),
        (Some(_), Some(_)) => false,
    }
}

/// [`SHORTEST_ROW_OF_FUNCTION`] for values that are added up while they are computed. (With rows of 256
/// bytes, the gradient of exp(x*y) then takes 0.7 of the time.)
const SHORTEST_ROW_OF_FUNCTION_IN_SUM: usize = 256;

/// [`shortest_row`] for values that are added up while they are computed.
pub(super) fn shortest_row_of_sum(graph: &Graph) -> usize {
    if has_function(graph) { SHORTEST_ROW_OF_FUNCTION_IN_SUM } else { SHORTEST_ROW }
}

/// Where a root is added up while it is computed, if it can be: over rows of at least `shortest` elements, or
/// over whole tiles. That saves a pass over each tile. A tile of a few rows that are shorter is added up
/// after it has been computed. `access` is that of the gradient.
pub(super) fn onto(access: u32, tiling: &Tiling, shortest: usize) -> Option<Onto> {
    match (tiling.accesses[access as usize].kind, tiling.pattern(access as usize)) {
        (AccessKind::Splat | AccessKind::Direct, _) => Some(Onto { access, width: 0 }),
        (AccessKind::Gather, &[(_, 1), (width, 0)] | &[(_, 0), (width, 1)]) if width >= shortest => {
            Some(Onto { access, width: u32::try_from(width).ok()? })
        }
        (AccessKind::Gather, _) => None,
    }
}

/// How often chains read a value.
pub(super) fn readers_in_chains(chains: &[Chain], at: u32) -> usize {
    let arguments = chains.iter().flat_map(|chain| &chain.arguments);
    arguments.filter(|&&argument| argument == at).count()
}

/// The bytes of the shortest row over which a chain with functions computes many rows of a tile. Other chains
/// compute several short rows together.
const SHORTEST_ROW_IN_TILE_OF_FUNCTION: usize = 1024;

/// The elements of the rows by which chains can read the operands that would be gathered otherwise, if each
/// of them has contiguous values or one value in each row of a tile, and the rows are as long for all of
/// them; otherwise 0. `gathered` returns the pattern of an operand that would be gathered. (The gradient of
/// (x-m)*r*g+b by g over 32x32 in f64 took 0.48 of the time, `benches/sweep`.)
pub(super) fn row_width<'a>(
    (graph, readers): (&Graph, &[u32]),
    last_use: &[u32],
    chains: &[Chain],
    gathered: impl Fn(u32) -> Option<&'a [(usize, i64)]>,
) -> usize {
    let mut found = 0;
    for (at, value) in (0u32..).zip(&graph.values[..last_use.len()]) {
        let ValueKind::Operand(operand) = value.kind else { continue };
        let in_chains = readers_in_chains(chains, at);
        if last_use[at as usize] == NOBODY || in_chains == 0 || in_chains != readers[at as usize] as usize {
            continue;
        }
        let Some(pattern) = gathered(operand).filter(|_| is_plain_float(value.dtype)) else { continue };
        let [(_, 0..), (width, 0 | 1)] = *pattern else { return 0 };
        let has_function = chains.iter().any(|chain| chain.ops.iter().any(|op| op.is_function()));
        let shortest = if has_function { SHORTEST_ROW_IN_TILE_OF_FUNCTION } else { SHORTEST_ROW };
        if width * bytes(bank_of(value.dtype)) < shortest || found != 0 && found != width {
            return 0;
        }
        found = width;
    }
    found
}
