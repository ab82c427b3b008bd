//! Which values are needed, which reader of each is the last, and which calls are computed together: chains,
//! choices, [`condition`](super::condition)s and values against [`bounds`](super::bounds). A chain is a fold
//! of sums, differences, products, quotients, maxima, minima and a few unary functions, in which each value
//! has one reader, the next call. An argument may be a sum, a difference or a product itself. A choice is a
//! `select`, the comparison that is its condition, and possibly a product that is one of its values.
#![deny(clippy::wildcard_enum_match_arm)]

use super::bounds::{Bounded, bounded};
use super::condition::{Conditional, condition};
use super::graph::{Graph, Slope, ValueKind};
use super::nested::{Nested, nested};
use crate::arch::{Branch, ChainOp, Comparison, Rule};
use crate::inline_capacity::{VALUES, filled};
use crate::tiling::{AccessKind, Tiling};
use broadcheck_spec::{DType, Function};
use smallvec::SmallVec;

/// A fold. It starts with `arguments[0]`, and each binary operation takes the next argument.
pub(super) struct Chain {
    /// The value of the last link.
    pub(super) end: u32,
    pub(super) arguments: SmallVec<[u32; VALUES]>,
    pub(super) ops: SmallVec<[ChainOp; VALUES]>,
}

/// `if x op limit { chosen } else { other }` of floats, whose comparison nobody else reads. One of the two
/// values may be a product that nobody else reads.
pub(super) struct Choice {
    /// The value that it computes.
    pub(super) end: u32,
    pub(super) rule: Rule,
    /// `x`, `limit`, `chosen`, `other` and the factor. If the rule has none, `x` again.
    pub(super) arguments: [u32; 5],
}

impl Choice {
    /// The number of calls.
    fn calls(&self) -> usize {
        match self.rule {
            Rule::By(_) => 2,
            Rule::Scaled { .. } => 3,
        }
    }
}

/// The values that the root needs, and what is computed together among them.
pub(super) struct Chains {
    /// The last reader of each value. What is computed together reads where it ends, and the root's last
    /// reader is the root. [`NOBODY`] for a value that is not needed or is computed inside one of them.
    pub(super) last_use: SmallVec<[u32; VALUES]>,
    pub(super) chains: SmallVec<[Chain; 1]>,
    pub(super) choices: SmallVec<[Choice; 1]>,
    pub(super) conditions: SmallVec<[Conditional; 1]>,
    pub(super) bounded: SmallVec<[Bounded; 1]>,
    pub(super) nested: Vec<Nested>,
    /// The arguments of the root, if it is a choice that can be added up while it is computed: one by a
    /// comparison, or by a condition that is not a scalar.
    pub(super) root_choice: SmallVec<[u32; 4]>,
}

/// The index of no value.
pub(super) const NOBODY: u32 = u32::MAX;

/// What determines whether a value can be computed inside a chain.
#[derive(Clone, Copy)]
pub(super) struct Facts {
    varies: u64,
    pub(super) scalar: bool,
    pub(super) stationary: bool,
}

/// What is looked for.
#[derive(Clone, Copy)]
pub(super) struct Wanted {
    /// Whether values of dtype u16 are the bits of halves.
    pub(super) half_in_bits: bool,
    /// Whether a single link is a chain too, if it is the root.
    pub(super) single: bool,
    /// Whether the root is added up while it is computed.
    pub(super) sums: bool,
    /// Whether there may be nested expressions.
    pub(super) nests: bool,
}

/// Looks at everything that `root` needs.
pub(super) fn find(
    graph: &Graph,
    (root, readers): (u32, &[u32]),
    Wanted { half_in_bits, single, sums, nests }: Wanted,
    tiling: &Tiling,
    access_of: impl Fn(u32) -> u32,
) -> Chains {
    let calls = graph.values.iter().filter(|value| !value.kind.arguments().is_empty()).count();
    let facts = if calls > 1 || single || has_function(graph) {
        facts(graph, root, tiling, access_of)
    } else {
        SmallVec::new()
    };
    let mut found = Chains {
        last_use: filled(NOBODY, root as usize + 1),
        chains: SmallVec::new(),
        choices: SmallVec::new(),
        conditions: SmallVec::new(),
        bounded: SmallVec::new(),
        nested: Vec::new(),
        root_choice: SmallVec::new(),
    };
    let last_use = &mut found.last_use[..];
    last_use[root as usize] = root;
    for at in (0..=root).rev() {
        let arguments = graph.values[at as usize].kind.arguments();
        if arguments.is_empty() || last_use[at as usize] == NOBODY {
            continue;
        }
        let fewest = if single && at == root { 1 } else { 2 };
        let is_half = half_in_bits && graph.dtype(at) == DType::U16;
        let chain =
            if facts.is_empty() || is_half { None } else { chain(graph, &facts, readers, at, fewest) };
        let choice =
            if facts.is_empty() { None } else { choice(graph, &facts, readers, at, !(sums && at == root)) };
        let bounded = if facts.is_empty() { None } else { bounded(graph, &facts, readers, at) };
        let condition = match bounded {
            None if !facts.is_empty() => condition(graph, &facts, readers, at),
            None | Some(_) => None,
        };
        let together = match (&chain, &choice, &bounded, &condition) {
            (Some(chain), _, _, _) => chain.ops.len(),
            (None, Some(choice), _, _) => choice.calls(),
            (None, None, Some(bounded), _) => bounded.calls(),
            (None, None, None, Some(condition)) => condition.calls(),
            (None, None, None, None) => 1,
        };
        let nested = if nests && calls > together && !facts.is_empty() {
            nested(graph, &facts, readers, at, together)
        } else {
            None
        };
        let read = match (&nested, &chain, &choice, &bounded, &condition) {
            (Some(nested), _, _, _, _) => &nested.arguments[..],
            (None, Some(chain), _, _, _) => &chain.arguments,
            (None, None, Some(choice), _, _) => &choice.arguments,
            (None, None, None, Some(bounded), _) => &bounded.arguments,
            (None, None, None, None, Some(condition)) => &condition.arguments,
            (None, None, None, None, None) => arguments,
        };
        for &argument in read {
            let last = &mut last_use[argument as usize];
            *last = if *last == NOBODY { at } else { *last };
        }
        if let Some(nested) = nested {
            found.nested.push(nested);
            continue;
        }
        if at == root && single {
            found.root_choice = match &choice {
                Some(choice) => choice.arguments[..4].into(),
                None => root_choice(graph, &facts, root),
            };
        }
        found.chains.extend(chain);
        found.choices.extend(choice);
        found.conditions.extend(condition);
        found.bounded.extend(bounded);
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
            // An operand that is not needed has no access, and its facts are not used.
            ValueKind::Operand(operand) => match tiling.accesses.get(access_of(operand) as usize) {
                Some(access) => (access.kind == AccessKind::Splat, access.varies),
                None => (false, 0),
            },
            ValueKind::Constant(_) => (true, 0),
            ValueKind::Call { .. } | ValueKind::Slope { .. } => {
                let of = value.kind.arguments().iter().map(|&argument| facts[argument as usize]);
                // mutant: replace | with ^: costs time only; the value stays out of a chain
                of.fold((true, 0), |(scalar, varies), of| (scalar && of.scalar, varies | of.varies))
            }
        };
        facts.push(Facts { varies, scalar, stationary: tiling.is_stationary(varies) });
    }
    facts
}

/// The operation of a call that can be a link of a chain, applied to its first argument, and the arguments.
pub(super) fn link(graph: &Graph, at: u32) -> Option<(ChainOp, u32, Option<u32>)> {
    let value = graph.values[at as usize];
    let ValueKind::Call { function, arguments: [a, b, _] } = value.kind else { return None };
    let op = chain_op(function, value.dtype)?;
    let second = (!op.is_unary()).then_some(b);
    let alike = |argument: u32| graph.dtype(argument) == value.dtype;
    (alike(a) && second.is_none_or(alike)).then_some((op, a, second))
}

/// Whether any value of a graph is a function that is a link of a chain.
pub(super) fn has_function(graph: &Graph) -> bool {
    let is_function = |kind| matches!(kind, ValueKind::Call { function: Function::Exp | Function::Tanh, .. });
    graph.values.iter().any(|value| is_function(value.kind))
}

/// What a function of values of a dtype is as a link of a chain, if it can be one.
pub(crate) fn chain_op(function: Function, dtype: DType) -> Option<ChainOp> {
    let op = match function {
        Function::Add => Some(ChainOp::Add),
        Function::Subtract => Some(ChainOp::Subtract),
        Function::Multiply => Some(ChainOp::Multiply),
        Function::Divide => Some(ChainOp::Divide),
        Function::Negate => Some(ChainOp::Negate),
        Function::Abs => Some(ChainOp::Abs),
        Function::Sqrt => Some(ChainOp::Sqrt),
        Function::Exp => Some(ChainOp::Exp),
        Function::Tanh => Some(ChainOp::Tanh),
        Function::Maximum => Some(ChainOp::Maximum),
        Function::Minimum => Some(ChainOp::Minimum),
        Function::Power
        | Function::Log
        | Function::Equal
        | Function::NotEqual
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::LogicalNot
        | Function::Select => None,
    };
    op.filter(|&op| is_link(op, dtype))
}

/// Whether chains of a dtype have an operation.
fn is_link(op: ChainOp, dtype: DType) -> bool {
    match dtype {
        DType::F64 | DType::F32 => true,
        DType::I64
        | DType::I32
        | DType::I16
        | DType::I8
        | DType::U64
        | DType::U32
        | DType::U16
        | DType::U8 => op.is_of_integers(),
        DType::F16 | DType::Bf16 | DType::Bool => false,
    }
}

/// The same operation if the chain is its second argument.
pub(crate) fn swapped(op: ChainOp) -> ChainOp {
    match op {
        ChainOp::Subtract => ChainOp::SubtractFrom,
        ChainOp::Divide => ChainOp::DivideInto,
        op @ (ChainOp::Add
        | ChainOp::SubtractFrom
        | ChainOp::Multiply
        | ChainOp::DivideInto
        | ChainOp::Maximum
        | ChainOp::Minimum
        | ChainOp::PlusNext
        | ChainOp::MinusNext
        | ChainOp::TimesNext
        | ChainOp::Square
        | ChainOp::Negate
        | ChainOp::Abs
        | ChainOp::Sqrt
        | ChainOp::Exp
        | ChainOp::Tanh) => op,
    }
}

/// The operation and the arguments of a link's argument that is a sum, a difference or a product, if it can
/// be computed inside the chain.
fn argument_of_two(
    (op, argument): (ChainOp, u32),
    inside: impl Fn(u32) -> Option<(ChainOp, u32, Option<u32>)>,
) -> Option<(ChainOp, u32, u32)> {
    if !op.may_take_two() {
        return None;
    }
    let (made, b, c) = inside(argument)?;
    Some((made.for_the_next()?, b, c?))
}

/// The choice that a call is, if it is a `select` of floats by a comparison of floats of the same type.
/// `scales` is whether one of the two values may be a product.
fn choice(graph: &Graph, facts: &[Facts], readers: &[u32], end: u32, scales: bool) -> Option<Choice> {
    let (Function::Select, [condition, chosen, other]) = graph.call(end)? else { return None };
    let (function, [x, limit, _]) = graph.call(condition)?;
    let (comparison, arguments) = comparison(function, [x, limit], [chosen, other])?;
    let (fact, whole) = (facts[condition as usize], facts[end as usize]);
    let dtype = graph.dtype(end);
    let is_alone = readers[condition as usize] == 1 && !fact.scalar && fact.stationary == whole.stationary;
    if !is_alone || !matches!(dtype, DType::F64 | DType::F32) || graph.dtype(x) != dtype {
        return None;
    }
    let or_equal = match comparison {
        Comparison::Greater => Some(false),
        Comparison::GreaterEqual => Some(true),
        Comparison::Equal | Comparison::Wins => None,
    };
    let product = |at: u32| {
        let (fact, readers) = (facts[at as usize], readers[at as usize]);
        let inside = readers == 1 && !fact.scalar && fact.stationary == whole.stationary;
        match link(graph, at).filter(|_| inside)? {
            (ChainOp::Multiply, a, Some(b)) => Some((a, b)),
            _ => None,
        }
    };
    let [x, limit, chosen, other] = arguments;
    if let Some(or_equal) = or_equal.filter(|_| scales) {
        if let Some((other, factor)) = product(other) {
            let rule = Rule::Scaled { or_equal, branch: Branch::Other };
            return Some(Choice { end, rule, arguments: [x, limit, chosen, other, factor] });
        }
        if let Some((chosen, factor)) = product(chosen) {
            let rule = Rule::Scaled { or_equal, branch: Branch::Chosen };
            return Some(Choice { end, rule, arguments: [x, limit, chosen, other, factor] });
        }
    }
    Some(Choice { end, rule: Rule::By(comparison), arguments: [x, limit, chosen, other, x] })
}

/// The arguments of a root that is the derivative of a maximum, or a `select` by a condition that is not a
/// scalar.
fn root_choice(graph: &Graph, facts: &[Facts], root: u32) -> SmallVec<[u32; 4]> {
    let value = graph.values[root as usize];
    let is_choice = match value.kind {
        ValueKind::Slope { slope: Slope::Winner, .. } => true,
        ValueKind::Call { function, arguments: [condition, ..] } => {
            function == Function::Select && !facts[condition as usize].scalar
        }
        ValueKind::Operand(_) | ValueKind::Constant(_) | ValueKind::Slope { .. } => false,
    };
    if is_choice && matches!(value.dtype, DType::F64 | DType::F32) {
        value.kind.arguments().into()
    } else {
        SmallVec::new()
    }
}

/// A comparison as one of those that have kernels, with the arguments in the order of [`Choice`].
fn comparison(
    function: Function,
    [x, limit]: [u32; 2],
    [chosen, other]: [u32; 2],
) -> Option<(Comparison, [u32; 4])> {
    match function {
        Function::Greater => Some((Comparison::Greater, [x, limit, chosen, other])),
        Function::GreaterEqual => Some((Comparison::GreaterEqual, [x, limit, chosen, other])),
        Function::Less => Some((Comparison::Greater, [limit, x, chosen, other])),
        Function::LessEqual => Some((Comparison::GreaterEqual, [limit, x, chosen, other])),
        Function::Equal => Some((Comparison::Equal, [x, limit, chosen, other])),
        Function::NotEqual => Some((Comparison::Equal, [x, limit, other, chosen])),
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Power
        | Function::Maximum
        | Function::Minimum
        | Function::Negate
        | Function::Abs
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::LogicalNot
        | Function::Select => None,
    }
}

/// The chain that ends at a call, if it has `fewest` links. A single exp is a chain too.
fn chain(graph: &Graph, facts: &[Facts], readers: &[u32], end: u32, fewest: usize) -> Option<Chain> {
    let (mut op, mut a, mut b) = link(graph, end)?;
    let inside = |value: u32| {
        let (fact, whole) = (facts[value as usize], facts[end as usize]);
        // The chain computes a scalar at its start once for each row. As a step of its own it would keep a
        // chain over one tile from running alone, which costs a sum of ten at 1k up to half of its time
        // (`benches/quick`). A function takes too long to be computed for each row.
        let cheap = fact.scalar && link(graph, value).is_some_and(|(op, ..)| !op.is_unary());
        let same = fact.stationary == whole.stationary && (fact.scalar == whole.scalar || cheap);
        same.then(|| link(graph, value)).flatten()
    };
    let alone = |value: u32| if readers[value as usize] == 1 { inside(value) } else { None };
    let mut arguments: SmallVec<[u32; VALUES]> = SmallVec::new();
    let mut ops: SmallVec<[ChainOp; VALUES]> = SmallVec::new();
    // From the end to the start.
    loop {
        let next = match (alone(a), b) {
            (Some(next), _) => Some(next),
            // The square of a value that nobody else reads.
            (None, Some(second)) if op == ChainOp::Multiply && a == second => {
                let next = if readers[a as usize] == 2 { inside(a) } else { None };
                (op, b) = if next.is_some() { (ChainOp::Square, None) } else { (op, b) };
                next
            }
            (None, Some(second)) => match alone(second) {
                Some(next) => {
                    (op, a, b) = (swapped(op), second, Some(a));
                    Some(next)
                }
                None => None,
            },
            (None, None) => None,
        };
        ops.push(op);
        match b.and_then(|b| argument_of_two((op, b), alone)) {
            Some((made, b, c)) => {
                ops.push(made);
                arguments.extend([c, b]);
            }
            None => arguments.extend(b),
        }
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
