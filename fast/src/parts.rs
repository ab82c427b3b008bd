//! Parts of a problem that are computed first: values that depend on some of the axes only, such as the root
//! in `x / sqrt(v)` of a matrix and a column. Each is computed into memory of its own, which the rest reads
//! like an operand. Within the rest, it would be computed again for each element along the other axes.
//! (By a column, x / sqrt(y + y) over 300x33 in f64 takes 0.4 of the time, and x \* log(y) over 100x100 a
//! third; `benches/sweep` has the first.)
#![deny(clippy::wildcard_enum_match_arm)]

use crate::buffers::{Input, Output, zeros};
use crate::error::NoKernel;
use crate::inline_capacity::{AXES, VALUES};
use crate::lower::{Lengths, Maps, STRETCHED};
use crate::program::{Graph, Slope, ValueKind};
use crate::route::{Route, Task, TiledProgram, compile};
use crate::tiling::OperandLayout;
use broadcheck_spec::{DType, Data, Function};
use smallvec::SmallVec;
use std::cell::RefCell;

/// The elements of the smallest problem with parts. (For those of 256 elements, the second program takes as
/// long as what it saves.)
const FEWEST: usize = 512;

/// The same for parts of functions that do not take long. They are the same in all of a row, where a program
/// would compute each as one value before the rest of the row. (By a column, exp(x - |y|) over 64x256
/// takes 0.75 of the time in f64.)
const FEWEST_OF_SHORT_FUNCTIONS: usize = 8 << 10;

/// At least how many times as many elements as a part the problem has.
const LARGER: usize = 4;

/// The elements of the largest part whose memory is kept for the next run. The problem has `MUCH_LARGER`
/// times as many elements as a larger part.
const MOST_KEPT: usize = 1 << 16;
const MUCH_LARGER: usize = 16;

/// The most parts of a problem, and the most whose memory is kept.
const MOST: usize = 8;

/// Inputs of a run with parts that are listed without an allocation.
pub(crate) const INPUTS: usize = 6;

thread_local! {
    /// The memory of the latest parts.
    static KEPT: RefCell<Vec<Data>> = const { RefCell::new(Vec::new()) };
}

/// A problem with parts.
#[derive(Debug)]
pub(crate) struct Parts {
    /// In the order in which they are computed. Each may read the ones before it.
    first: Vec<Part>,
    /// Reads the parts as inputs that come after the problem's own.
    pub(crate) rest: Route,
}

/// A part.
#[derive(Debug)]
pub(crate) struct Part {
    tiled: TiledProgram,
    dtype: DType,
    count: usize,
}

/// Whether a function takes so long that computing it anew for every element costs more than a pass over the
/// result of another program.
fn takes_long(function: Function) -> bool {
    use Function as F;
    match function {
        F::Divide | F::Power | F::Sqrt | F::Exp | F::Log | F::Tanh => true,
        F::Add
        | F::Subtract
        | F::Multiply
        | F::Maximum
        | F::Minimum
        | F::Negate
        | F::Abs
        | F::Equal
        | F::NotEqual
        | F::Less
        | F::LessEqual
        | F::Greater
        | F::GreaterEqual
        | F::LogicalAnd
        | F::LogicalOr
        | F::LogicalNot
        | F::Select => false,
    }
}

/// The same for a value.
fn is_long(kind: ValueKind) -> bool {
    match kind {
        ValueKind::Call { function, .. } => takes_long(function),
        ValueKind::Slope { slope, .. } => match slope {
            Slope::PowerByBase | Slope::PowerByExponent => true,
            Slope::Winner => false,
        },
        ValueKind::Operand(_) | ValueKind::Constant(_) => false,
    }
}

/// What a value depends on.
#[derive(Clone, Copy, Default)]
struct Depends {
    /// The axes of the problem along which it may change, as bits.
    axes: u64,
    /// The elements along these axes.
    count: usize,
    /// Whether computing it takes long, or computing one of its arguments.
    is_long: bool,
    /// Whether it may be a part: it is computed, has few enough elements, and pays off.
    may_be_part: bool,
}

/// The axes along which an operand moves, as bits.
fn axes_of(layout: &OperandLayout<'_>, lengths: &[usize]) -> u64 {
    let moves = |&(axis, &length): &(usize, &usize)| {
        let own = layout.map[axis];
        let is_still = own == STRETCHED || layout.strides.is_some_and(|strides| strides[own as usize] == 0);
        length != 1 && !is_still
    };
    lengths.iter().enumerate().filter(moves).fold(0, |bits, (axis, _)| bits | 1 << axis)
}

/// The elements along some axes.
fn count_of(axes: u64, lengths: &[usize]) -> usize {
    let along = lengths.iter().enumerate().filter(|&(axis, _)| axes >> axis & 1 != 0);
    along.fold(1usize, |count, (_, &length)| count.saturating_mul(length))
}

/// The values of a graph that become parts, each with its axes. `lengths` are those of the problem, which has
/// `count` elements, and `layout` is that of an operand.
fn find<'a>(
    graph: &Graph,
    root: u32,
    (lengths, count): (&[usize], usize),
    layout: impl Fn(usize) -> OperandLayout<'a>,
) -> SmallVec<[(u32, u64); 2]> {
    let mut found = SmallVec::new();
    let values = &graph.values[..=root as usize];
    if count < FEWEST || lengths.len() > 64 {
        return found;
    }
    let inner = lengths.iter().rposition(|&length| length != 1).unwrap_or(0);
    let mut depends: SmallVec<[Depends; VALUES]> = SmallVec::new();
    for value in values {
        let arguments = value.kind.arguments();
        let axes = match value.kind {
            ValueKind::Operand(place) => axes_of(&layout(place as usize), lengths),
            ValueKind::Constant(_) | ValueKind::Call { .. } | ValueKind::Slope { .. } => {
                arguments.iter().fold(0, |axes, &at| axes | depends[at as usize].axes)
            }
        };
        let elements = count_of(axes, lengths);
        let larger = if elements <= MOST_KEPT { LARGER } else { MUCH_LARGER };
        let is_small = elements > 1 && elements.saturating_mul(larger) <= count;
        let is_long = is_long(value.kind) || arguments.iter().any(|&at| depends[at as usize].is_long);
        let pays_off = is_long || count >= FEWEST_OF_SHORT_FUNCTIONS && axes >> inner & 1 == 0;
        let may_be_part = !arguments.is_empty() && is_small && pays_off && depends.len() < 64;
        depends.push(Depends { axes, count: elements, is_long, may_be_part });
    }
    // A value is a part if a reader of it is not, or has many more elements.
    let readers = graph.readers(root);
    let mut parts = 0u64;
    for (reader, value) in values.iter().enumerate().filter(|&(at, _)| readers[at] != 0) {
        for &at in value.kind.arguments() {
            let (own, of) = (depends[at as usize], depends[reader]);
            let is_same = of.may_be_part && reader != root as usize && of.count / LARGER < own.count;
            if own.may_be_part && !is_same {
                parts |= 1 << at;
            }
        }
    }
    let chosen = (0..=root).take(64).filter(|at| parts >> at & 1 != 0).take(MOST);
    found.extend(chosen.map(|at| (at, depends[at as usize].axes)));
    found
}

/// Plans the parts of a graph, whose problem has the given lengths and number of elements. In the graph,
/// parts become operands, whose places begin at `places`; `layout` is that of the other operands.
///
/// # Errors
/// [`NoKernel`], if the engine has no kernel for an operation of a part.
pub(crate) fn plan<'a>(
    task: Task,
    graph: &mut Graph,
    root: u32,
    (lengths, count): (&[usize], usize),
    (layout, places): (impl Fn(usize) -> OperandLayout<'a>, usize),
) -> Result<(Vec<Part>, Maps), NoKernel> {
    let (mut parts, mut maps) = (Vec::new(), Maps::default());
    for (value, axes) in find(graph, root, (lengths, count), &layout) {
        let along: SmallVec<[usize; AXES]> =
            (0..lengths.len()).filter(|axis| axes >> axis & 1 != 0).collect();
        let own: Lengths = along.iter().map(|&axis| lengths[axis]).collect();
        let (count, dtype) = (own.iter().product(), graph.dtype(value));
        let all =
            |place: usize| if place < places { layout(place) } else { row_major(maps.of(place - places)) };
        let mut inner = Maps::default();
        for place in 0..places + parts.len() {
            let map = all(place).map;
            inner.push(own.len(), |axis| {
                Some(map[along[axis]] as usize).filter(|_| map[along[axis]] != STRETCHED)
            });
        }
        let within = |place: usize| OperandLayout { map: inner.of(place), ..all(place) };
        let task = Task { dtype, count, is_sum: false, is_staged: false, ..task };
        let tiled = compile(task, &graph.only(value), value, (&own, count), within, None)?;
        let place = u32::try_from(places + parts.len()).unwrap_or(u32::MAX);
        graph.values[value as usize].kind = ValueKind::Operand(place);
        parts.push(Part { tiled, dtype, count });
        maps.push(lengths.len(), |axis| along.iter().position(|&own| own == axis));
    }
    if !parts.is_empty() {
        *graph = graph.only(root);
    }
    Ok((parts, maps))
}

/// The layout of a row-major operand.
pub(crate) fn row_major(map: &[u32]) -> OperandLayout<'_> {
    OperandLayout { offset: 0, strides: None, map }
}

impl Parts {
    pub(crate) fn new(first: Vec<Part>, rest: Route) -> Parts {
        Parts { first, rest }
    }

    /// Computes the parts by `run`, which computes a program of some inputs, and calls `body` with all
    /// inputs: the given ones and the parts.
    pub(crate) fn with(
        &self,
        inputs: &[Input<'_>],
        run: impl Fn(&TiledProgram, &[Input<'_>], Output<'_>),
        body: impl FnOnce(&[Input<'_>]),
    ) {
        let mut memory = KEPT.take();
        for (at, part) in self.first.iter().enumerate() {
            let fits = |data: &Data| data.dtype() == part.dtype && data.len() >= part.count;
            let place = memory[at..].iter().position(fits).map_or(memory.len(), |kept| at + kept);
            if place == memory.len() {
                memory.push(zeros(part.dtype, part.count));
            }
            memory.swap(at, place);
            let (before, rest) = memory.split_at_mut(at);
            let (output, _) = Output::from(&mut rest[0]).split(part.count);
            run(&part.tiled, &self.all(inputs, before), output);
        }
        body(&self.all(inputs, &memory[..self.first.len()]));
        memory.retain(|data| data.len() <= MOST_KEPT);
        memory.truncate(MOST);
        KEPT.set(memory);
    }

    /// Inputs with the parts that were computed, whose memory may be longer.
    fn all<'a>(&self, inputs: &[Input<'a>], computed: &'a [Data]) -> SmallVec<[Input<'a>; INPUTS]> {
        let parts = self.first.iter().zip(computed).map(|(part, data)| Input::from(data).first(part.count));
        inputs.iter().copied().chain(parts).collect()
    }
}
