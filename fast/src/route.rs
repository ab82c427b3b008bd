//! The choice of how a problem is computed. [`route`] is a pure function from a task to a [`Route`] with
//! everything that running it needs; in particular every kernel has been found.
#![deny(clippy::wildcard_enum_match_arm)]

use crate::Level;
use crate::arch::{CACHE_LINE, ChainOp, Table, is_intel};
use crate::bounds_call::BoundsCall;
use crate::error::NoKernel;
use crate::fold::{FoldCall, SHORTEST_ROW, may_fold, operands, takes_rows};
use crate::grid::grid;
use crate::inline_capacity::{OPERANDS, VALUES};
use crate::lower::Lowered;
use crate::math::MathFunction;
use crate::nested_call::NestedCall;
use crate::one_tile::{MAX_IN_PLACE, SingleCall, as_call};
use crate::pair::{is_fastest, pair};
use crate::parts::{self, Parts, row_major};
use crate::problem::{Computed, Form, Problem};
use crate::program::{
    Goal, Graph, Half, Program, Root, Slope, Step, Target, ValueKind, Work, bank_of, bytes, compared,
    gradient, half, schedule, shortest_row,
};
use crate::rows::RowsCall;
use crate::scratch::REGISTER_BYTES;
use crate::select_call::SelectCall;
use crate::step_call::StepCall;
use crate::sum_call::SumCall;
use crate::tiling::{AccessKind, Axes, OperandLayout, Tiling};
use crate::turned::TurnedCall;
use broadcheck_spec::{DType, Function, Node};
use smallvec::SmallVec;

/// The bytes of registers that a tile may keep live. They share the first-level cache with operands and
/// result.
const LIVE_BYTES: usize = 20 << 10;

/// Results of fewer bytes are not written with non-temporal stores.
const NON_TEMPORAL_BYTES: usize = 8 << 20;

/// Whether so many bytes do not fit into a second-level cache. Functions of `math` and sums of registers
/// prefetch if those of their operands do not (`benches/gradients`). On Intel alone, so do sums of what they
/// compute, and chains with functions if those of their operands and their result do not.
pub(crate) fn are_beyond_caches(bytes: usize) -> bool {
    bytes >= 2 << 20
}

/// How many times as many elements as a register has a tile takes that needs no registers, if it is all or
/// part of the innermost axis.
const WIDE: usize = 8;

/// The most elements of a tile with a transposed operand, which takes a register for each row of a panel.
const PANEL_BLOCK: usize = 1024;

/// The elements of a tile that needs no registers and is added to a gradient, or whose call is one step.
const WIDEST_BLOCK: usize = 32 << 10;

/// Operands of a chain that are listed without an allocation.
const FOLDED: usize = 12;

/// How a problem is computed.
#[derive(Debug)]
pub(crate) enum Route {
    /// There is nothing to compute: the result is empty, or a gradient that is 0 everywhere.
    Nothing,
    /// One call over one tile.
    Single(SingleCall),
    /// One call of two operands in one step over several tiles: one is repeated along a short inner axis,
    /// stores are non-temporal, or rows are short.
    Pair(TiledProgram),
    /// One call of two operands of which one is transposed.
    Turned(TurnedCall),
    /// One call of two operands over long rows.
    Rows(RowsCall),
    /// One `select` by a condition with one value for each row.
    Select(SelectCall),
    /// One chain over rows.
    Fold(FoldCall),
    /// A value against two bounds over rows.
    Bounds(BoundsCall),
    /// Calls of floats that no chain takes, together.
    Nested(NestedCall),
    /// One chain with numbers, one choice, or one call with a repeated operand, over one tile.
    Step(StepCall),
    /// A gradient that is one sum over one tile.
    Sum(SumCall),
    /// A problem of which some values are computed first.
    Parts(Box<Parts>),
    /// Any problem.
    General(TiledProgram),
}

/// A program and the tiles it runs on.
#[derive(Debug)]
pub(crate) struct TiledProgram {
    pub(crate) tiling: Tiling,
    pub(crate) program: Program,
    /// The operand of each access of the tiling.
    pub(crate) used: SmallVec<[u32; OPERANDS]>,
    /// Whether the result is written with non-temporal stores.
    pub(crate) non_temporal: bool,
}

/// The result that a route computes.
#[derive(Clone, Copy)]
pub(crate) struct Task {
    pub(crate) table: &'static Table,
    /// The dtype of the result.
    pub(crate) dtype: DType,
    /// The number of elements of the result.
    pub(crate) count: usize,
    /// Whether the result is a gradient that is added up. That of an operand that is not stretched is
    /// computed like any result: clearing it and adding to it takes up to twice as long (`benches/sweep`,
    /// gradients over nothing).
    pub(crate) is_sum: bool,
    /// Whether the result is computed in other memory, from which it is copied to where it belongs.
    pub(crate) is_staged: bool,
    /// The format of the halves that are computed in their bits, as integers of 16 bits ([`in_bits`]).
    pub(crate) half: Option<Half>,
}

/// The format of a problem's halves if it is computed in their bits, which needs neither registers of f32 nor
/// conversions where nothing is rounded. The functions of `math` and gradients are computed in f32, and so
/// are the halves of a problem that has another type of 16 bits, too: all values of 16 bits have the same
/// format.
pub(crate) fn in_bits(problem: &Problem<'_>) -> Option<Half> {
    let expression = problem.elementwise()?;
    let has_16_bits = |dtype: &DType| half(*dtype).is_some() || *dtype == DType::U16;
    let mut words = problem.operands().iter().map(|operand| operand.dtype).filter(has_16_bits);
    let first = words.next()?;
    let half = half(first)?;
    if words.any(|dtype| dtype != first) {
        return None;
    }
    let is_math = expression.calls().any(|call| MathFunction::of(call.function()).is_some());
    (!is_math).then_some(half)
}

impl Task {
    /// The dtype as which a dtype is computed.
    fn computed(self, dtype: DType) -> DType {
        if self.half.is_some() && half(dtype).is_some() { DType::U16 } else { dtype }
    }

    /// The same, if a kernel can read the operand where it is: halves that are not computed in their bits are
    /// converted first.
    fn in_place(self, dtype: DType) -> Option<DType> {
        let computed = self.computed(dtype);
        half(computed).is_none().then_some(computed)
    }

    /// Whether the result may be written with non-temporal stores. Halves are not: their conversion takes
    /// longer. Nor are results of long functions, see [`computes_longer`], and rows that a `select` copies.
    fn is_non_temporal(self) -> bool {
        !self.is_sum
            && !self.is_staged
            && self.table.level != Level::Portable
            && half(self.dtype).is_none()
            && self.count.saturating_mul(size_of_dtype(self.dtype)) >= NON_TEMPORAL_BYTES
    }
}

/// Chooses how a lowered problem is computed, whose (underlying) result has `underlying` elements.
///
/// # Errors
/// [`NoKernel`], if the engine has no kernel for an operation of the problem.
#[inline]
pub(crate) fn route(
    task: Task,
    problem: &Problem<'_>,
    lowered: &Lowered,
    underlying: usize,
) -> Result<Route, NoKernel> {
    if underlying == 0 || task.count == 0 {
        return Ok(Route::Nothing);
    }
    let task = Task { dtype: task.computed(task.dtype), ..task };
    if let Some(call) = single(task, problem, lowered) {
        return Ok(Route::Single(call));
    }
    if let Some(two) = OfTwo::of_problem(task, problem, lowered)
        && let Some(route) = route_of_two(task, &two, lowered.loops())
    {
        return Ok(route);
    }
    if !task.is_staged
        && let Some(call) = select_route(task, problem, lowered)
    {
        return Ok(Route::Select(call));
    }
    match fold_route(task, problem, lowered) {
        Some(call) => Ok(Route::Fold(call)),
        None => general(task, problem, lowered, underlying),
    }
}

/// One chain over rows, which [`general`] finds too, but later.
fn fold_route(task: Task, problem: &Problem<'_>, lowered: &Lowered) -> Option<FoldCall> {
    let expression = problem.elementwise()?;
    // The bits of halves are no integers.
    if task.is_staged || task.half.is_some() || !may_fold(expression, task.dtype) {
        return None;
    }
    let mut layouts: SmallVec<[OperandLayout<'_>; FOLDED]> = SmallVec::new();
    for place in operands(expression) {
        layouts.push(lowered.layout(&problem.operands()[place], place));
    }
    let axes = Axes::of(lowered.loops(), &layouts);
    FoldCall::of_expression(expression, (task.table.level, task.dtype), &axes, |at| layouts[at].offset)
}

/// The route of an operand that is broadcast to a nonempty shape.
///
/// # Errors
/// As for [`route`].
pub(crate) fn route_of_copy(
    task: Task,
    operand: &Form<'_>,
    shape: &[usize],
    map: &[u32],
) -> Result<Route, NoKernel> {
    if task.count == 0 {
        return Ok(Route::Nothing);
    }
    let mut graph = Graph::default();
    let root = graph.operand(0, operand.dtype);
    let layout = |_| layout(operand, map);
    Ok(Route::General(compile(task, &graph, root, (shape, task.count), layout, None)?))
}

/// One call over one tile, if the problem is that.
#[inline]
fn single(task: Task, problem: &Problem<'_>, lowered: &Lowered) -> Option<SingleCall> {
    let expression = problem.elementwise()?;
    let operands = problem.operands();
    let (function, arguments) = as_call(expression)?;
    if task.count > MAX_IN_PLACE {
        return None;
    }
    let places = arguments.iter().filter_map(|node| match node {
        Node::Operand(place) => Some(*place),
        Node::Call(_) => None,
    });
    let dtype = task.in_place(operands[places.clone().next()?].dtype)?;
    let layouts = places.clone().map(|place| lowered.layout(&operands[place], place));
    let tiling = Tiling::whole(lowered.loops(), task.count, layouts);
    let used = places.map(|place| u32::try_from(place).unwrap_or(u32::MAX));
    SingleCall::of(function, (dtype, task.half), task.table, &tiling, used)
}

/// A call of two operands.
struct OfTwo<'a> {
    function: Function,
    /// What the operands are computed as, if a kernel can read them where they are.
    dtype: Option<DType>,
    /// Their indices among the inputs.
    places: [usize; 2],
    layouts: [OperandLayout<'a>; 2],
}

impl<'a> OfTwo<'a> {
    /// The call that an elementwise problem is.
    fn of_problem<'p: 'a>(task: Task, problem: &Problem<'p>, lowered: &'a Lowered) -> Option<OfTwo<'a>> {
        let expression = problem.elementwise()?;
        let (function, &[Node::Operand(a), Node::Operand(b)]) = as_call(expression)? else { return None };
        let (places, operands) = ([a, b], problem.operands());
        let layouts = places.map(|place| lowered.layout(&operands[place], place));
        Some(OfTwo { function, dtype: task.in_place(operands[a].dtype), places, layouts })
    }

    /// The call that a graph is, such as the derivative of `x * y` by an operand that is not stretched.
    fn of_graph(
        task: Task,
        graph: &Graph,
        root: u32,
        layout: impl Fn(usize) -> OperandLayout<'a>,
    ) -> Option<OfTwo<'a>> {
        let ValueKind::Call { function, arguments: [a, b, _] } = graph.values[root as usize].kind else {
            return None;
        };
        let operand = |at: u32| match graph.values[at as usize].kind {
            ValueKind::Operand(place) => Some(place as usize),
            ValueKind::Call { .. } | ValueKind::Constant(_) | ValueKind::Slope { .. } => None,
        };
        if function.arity() != 2 || a == b {
            return None;
        }
        let places = [operand(a)?, operand(b)?];
        let dtype = task.in_place(graph.dtype(a));
        Some(OfTwo { function, dtype, places, layouts: places.map(layout) })
    }

    /// The call as one over one tile, if it is short enough.
    fn single(&self, task: Task, shape: &[usize]) -> Option<Route> {
        if task.count > MAX_IN_PLACE {
            return None;
        }
        let tiling = Tiling::whole(shape, task.count, self.layouts.iter().copied());
        let used = self.places.iter().map(|&place| u32::try_from(place).unwrap_or(u32::MAX));
        SingleCall::of(self.function, (self.dtype?, task.half), task.table, &tiling, used).map(Route::Single)
    }
}

/// The route of one call of two operands, if it is faster than tiles with registers.
fn route_of_two(task: Task, two: &OfTwo<'_>, shape: &[usize]) -> Option<Route> {
    let axes = Axes::of(shape, &two.layouts);
    if let Some(route) = pair_route(task, two, &axes) {
        return Some(route);
    }
    // The other routes have no tiles, of which blocks could be made.
    if task.is_staged { None } else { unregistered(task, two, &axes) }
}

/// One call of two operands in one step, if that is the fastest way.
fn pair_route(task: Task, two: &OfTwo<'_>, axes: &Axes) -> Option<Route> {
    let OfTwo { function, ref layouts, places, .. } = *two;
    let (non_temporal, line) = (task.is_non_temporal(), CACHE_LINE / size_of_dtype(task.dtype));
    let mut tiling = Tiling::default();
    let mut attempt = |block: usize, wide: usize| {
        tiling.cut(axes, |place| layouts[place].offset, (block, wide), line);
        let work = pair(function, task.dtype, &tiling, non_temporal)?;
        is_fastest(&work, task.table.level, non_temporal).then_some(work)
    };
    let mut program = Program::default();
    let block = REGISTER_BYTES / size_of_dtype(task.dtype);
    let work = attempt(WIDEST_BLOCK, WIDEST_BLOCK);
    let work = work.or_else(|| if non_temporal { attempt(block, WIDE * block) } else { None });
    let work = match work {
        Some(work) => work,
        None => {
            let (work, block) = grid(function, (task.dtype, task.table.level), axes, WIDEST_BLOCK)?;
            tiling.cut(axes, |place| layouts[place].offset, (block, block), line);
            program.needs[bank_of(task.dtype) as usize].0 = 1;
            work
        }
    };
    program.steps.push(Step { work, target: Target::Output, varies: u64::MAX, stationary: false });
    let used: SmallVec<_> = places.iter().map(|&place| u32::try_from(place).unwrap_or(u32::MAX)).collect();
    if !non_temporal && let Some(call) = StepCall::of_program(&program, &tiling, &used) {
        return Some(Route::Step(call));
    }
    Some(Route::Pair(TiledProgram { tiling, program, used, non_temporal }))
}

/// One call of two operands without registers: one of them is transposed, or there are long rows.
fn unregistered(task: Task, two: &OfTwo<'_>, axes: &Axes) -> Option<Route> {
    let OfTwo { function, dtype, places, ref layouts } = *two;
    let places = [(places[0], layouts[0].offset), (places[1], layouts[1].offset)];
    let (dtype, non_temporal) = ((dtype?, task.half), task.is_non_temporal());
    if let Some(call) = TurnedCall::of(function, dtype, task.table, axes, places, non_temporal) {
        return Some(Route::Turned(call));
    }
    if non_temporal {
        return None;
    }
    RowsCall::of(function, dtype, task.table, axes, places).map(Route::Rows)
}

/// One `select` of operands by a condition with one value for each row.
fn select_route(task: Task, problem: &Problem<'_>, lowered: &Lowered) -> Option<SelectCall> {
    let expression = problem.elementwise()?;
    let (Node::Call(call), &[Node::Operand(c), Node::Operand(a), Node::Operand(b)]) =
        expression.nodes().split_last()?
    else {
        return None;
    };
    if call.function() != Function::Select {
        return None;
    }
    let operands = problem.operands();
    let dtype = task.in_place(operands[a].dtype)?;
    let layouts = [c, a, b].map(|place| lowered.layout(&operands[place], place));
    let axes = Axes::of(lowered.loops(), &layouts);
    let place = |at: usize| ([c, a, b][at], layouts[at].offset);
    SelectCall::of(dtype, &axes, [place(0), place(1), place(2)])
}

/// The route of any problem.
fn general(
    task: Task,
    problem: &Problem<'_>,
    lowered: &Lowered,
    underlying: usize,
) -> Result<Route, NoKernel> {
    let operands = problem.operands();
    let mut graph = Graph::new(task.half.is_some());
    let dtype_of = |place: usize| task.computed(operands[place].dtype);
    let mut target = None;
    let shape = (lowered.loops(), underlying);
    let root = match problem.computed {
        Computed::Broadcast(_) => Some(graph.operand(0, dtype_of(0))),
        Computed::Elementwise(expression) => graph.add(expression, dtype_of).last().copied(),
        Computed::Gradient { expression, wrt, .. } => {
            target = task.is_sum.then(|| lowered.layout_of_gradient(wrt));
            let values = graph.add(expression, dtype_of);
            let weight = problem.cotangent().map(|cotangent| graph.operand(operands.len(), cotangent.dtype));
            gradient(&mut graph, expression, &values, wrt, weight)
        }
    };
    let Some(root) = root else { return Ok(Route::Nothing) };
    // The cotangent comes after the operands.
    let layout = |place: usize| match operands.get(place) {
        Some(operand) => lowered.layout(operand, place),
        None => lowered.layout_of_cotangent(problem.cotangent().unwrap_or(&operands[0]), place),
    };
    // A call of an expression has been tried.
    let is_new = problem.elementwise().is_none_or(|expression| as_call(expression).is_none());
    if is_new
        && !task.is_sum
        && let Some(two) = OfTwo::of_graph(task, &graph, root, layout)
        && let Some(route) = two.single(task, shape.0).or_else(|| route_of_two(task, &two, shape.0))
    {
        return Ok(route);
    }
    let places = problem.with_values().len();
    let (first, maps) = parts::plan(task, &mut graph, root, shape, (layout, places))?;
    let layout =
        |place: usize| if place < places { layout(place) } else { row_major(maps.of(place - places)) };
    let rest = of_graph(task, &graph, root, shape, layout, target)?;
    Ok(if first.is_empty() { rest } else { Route::Parts(Box::new(Parts::new(first, rest))) })
}

/// The route of the value `root` of a graph.
fn of_graph<'a>(
    task: Task,
    graph: &Graph,
    root: u32,
    shape: (&[usize], usize),
    layout: impl Fn(usize) -> OperandLayout<'a>,
    target: Option<OperandLayout<'a>>,
) -> Result<Route, NoKernel> {
    let tiled = compile(task, graph, root, shape, layout, target)?;
    // Gradients of halves are added up in f32.
    if task.is_sum && half(task.dtype).is_none() {
        let sum = SumCall::of_program(&tiled.program, &tiled.tiling, &tiled.used);
        return Ok(sum.map_or(Route::General(tiled), Route::Sum));
    }
    // A result that is staged is computed in blocks of tiles.
    let is_one_call = !tiled.non_temporal && (!task.is_staged || tiled.tiling.tiles == 1);
    if !is_one_call {
        return Ok(Route::General(tiled));
    }
    if let Some(call) = FoldCall::of_program(&tiled.program, &tiled.tiling, &tiled.used) {
        return Ok(Route::Fold(call));
    }
    if let Some(call) = BoundsCall::of_program(&tiled.program, &tiled.tiling, &tiled.used) {
        return Ok(Route::Bounds(call));
    }
    if let Some(call) = NestedCall::of_program(&tiled.program, &tiled.tiling, &tiled.used) {
        return Ok(Route::Nested(call));
    }
    let step = StepCall::of_program(&tiled.program, &tiled.tiling, &tiled.used);
    Ok(step.map_or(Route::General(tiled), Route::Step))
}

/// The tiles and the program that compute `root` under a shape of `count` elements. Tiles are so small that
/// the registers stay in the first-level cache. `target` is the layout of a gradient.
pub(crate) fn compile<'a>(
    task: Task,
    graph: &Graph,
    root: u32,
    (shape, count): (&[usize], usize),
    layout: impl Fn(usize) -> OperandLayout<'a>,
    target: Option<OperandLayout<'a>>,
) -> Result<TiledProgram, NoKernel> {
    let readers = graph.readers(root);
    let mut used: SmallVec<[u32; OPERANDS]> = SmallVec::new();
    let mut layouts: SmallVec<[OperandLayout<'_>; VALUES]> = SmallVec::new();
    for (value, _) in graph.values.iter().zip(&readers).filter(|&(_, &readers)| readers != 0) {
        if let ValueKind::Operand(place) = value.kind {
            used.push(place);
            layouts.push(layout(place as usize));
        }
    }
    let non_temporal = task.is_non_temporal();
    let goal = match target {
        None => Goal::Store(task.dtype),
        Some(gradient) => {
            layouts.push(gradient);
            Goal::Sum(u32::try_from(used.len()).unwrap_or(u32::MAX))
        }
    };
    let (dtype, level) = (graph.dtype(root), task.table.level);
    let scheduled = Root { graph, value: root, readers: &readers, goal };
    let access_of = |operand: u32| {
        let place = used.iter().position(|&used| used == operand);
        u32::try_from(place.unwrap_or(used.len())).unwrap_or(u32::MAX)
    };
    let (mut tiling, mut program) = (Tiling::default(), Program::default());
    let (block, line) = (REGISTER_BYTES / widest(graph), CACHE_LINE / widest(graph));
    let (mut is_one_tile, mut gathers, mut is_nested) = (false, false, false);
    // By a column, the bounds of a value are one value in each row, but not in a tile of several rows.
    let bounded = if task.is_sum { None } else { compared(graph, root) };
    let may_have_bounds = |program: &Program| bounded.is_some() && !program.ends_with_bounds();
    if count <= block {
        tiling = Tiling::whole(shape, count, layouts.iter().copied());
        schedule((task.table, task.half), &mut program, scheduled, &tiling, non_temporal, access_of)?;
        is_one_tile = program.live * count <= LIVE_BYTES;
        gathers = program.gathers_for_rows(&tiling) || may_have_bounds(&program);
        is_nested = program.ends_with_nested();
        if is_one_tile && (task.is_sum || !gathers && !program.prepares_for_few(&tiling)) {
            return Ok(TiledProgram { tiling, program, used, non_temporal });
        }
    }
    let axes = Axes::of(shape, &layouts);
    let by_column = axes.axis(0).is_some_and(|(_, steps)| steps.contains(&0));
    let shortest = shortest_row(graph, root, by_column);
    let bytes_of = |row: usize| row.saturating_mul(size_of_dtype(task.dtype));
    let takes_rows = |row: usize| match bounded {
        Some(compared) => {
            let shortest = if size_of_dtype(compared) == 1 { SHORTEST_ROW_OF_BYTES } else { SHORTEST_ROW };
            by_column && row.saturating_mul(size_of_dtype(compared)) >= shortest
        }
        None => bytes_of(row) >= shortest && takes_rows(level, dtype, bytes_of(row)),
    };
    let is_long_for_nested = |row: usize, is_nested: bool| {
        !is_nested || bytes_of(row) >= SHORTEST_ROWS_OF_NESTED[usize::from(!by_column)]
    };
    let is_long_for_few = |row: usize| bytes_of(row) >= SHORTEST_ROW_OF_FEW;
    let row = axes.innermost();
    let panel = |tiling: &mut Tiling| {
        if !task.is_sum && tiling.loops.len() > 1 {
            let expensive = expensive_values(graph, tiling, access_of);
            tiling.choose_panel(expensive.into_iter());
        }
    };
    let mut attempt = |block: usize, wide: usize| -> Result<Attempt, NoKernel> {
        tiling.cut(&axes, |place| layouts[place].offset, (block, wide), line);
        panel(&mut tiling);
        if tiling.panel != 0 && tiling.full > PANEL_BLOCK {
            tiling.cut(&axes, |place| layouts[place].offset, (PANEL_BLOCK, PANEL_BLOCK), line);
            panel(&mut tiling);
        }
        schedule((task.table, task.half), &mut program, scheduled, &tiling, non_temporal, access_of)?;
        let gathers = !task.is_sum && (program.gathers_for_rows(&tiling) || may_have_bounds(&program));
        let prepares = !task.is_sum && program.prepares_for_few(&tiling);
        let (live, in_rows, powers) = (program.live, program.in_rows, program.powers_of_vectors());
        let nested = program.ends_with_nested();
        Ok(Attempt { full: tiling.full, live, gathers, prepares, in_rows, powers, nested })
    };
    'attempts: {
        // One tile would gather operands for its last step, or compute something for all of its rows first.
        // If the rows are long enough, the step runs over them in place.
        if is_one_tile {
            let pays_off = row < count && (gathers || is_long_for_few(row)) && takes_rows(row);
            if pays_off && is_long_for_nested(row, is_nested) && !attempt(row, row)?.in_rows {
                attempt(count, count)?;
            }
            break 'attempts;
        }
        // A gradient of operands that are read in place takes many rows at once.
        if task.is_sum && attempt(WIDEST_BLOCK, WIDEST_BLOCK)?.live == 0 {
            break 'attempts;
        }
        let mut made = attempt(block, WIDE * block)?;
        if made.full > block && made.live != 0 {
            made = attempt(block, block)?;
        }
        if made.live * made.full > LIVE_BYTES {
            let fitting = LIVE_BYTES / made.live;
            let fitting = (fitting - fitting % 32).max(64);
            made = attempt(fitting, fitting)?;
        }
        // With one base or one exponent in each row, a power takes half of the time.
        if made.powers > 0 && (SHORTEST_ROW_OF_POWER..made.full).contains(&row) {
            if attempt(row, row)?.powers < made.powers {
                break 'attempts;
            }
            attempt(made.full, made.full)?;
        }
        // If the last step can run over rows in place, nothing is gathered for it, or what comes before it is
        // computed for one row only.
        let pays_off = made.gathers || made.prepares && is_long_for_few(row);
        let takes_rows = takes_rows(row) && is_long_for_nested(row, made.nested);
        if pays_off && row < made.full && takes_rows && !attempt(row, row)?.in_rows {
            attempt(made.full, made.full)?;
        }
    }
    let non_temporal = non_temporal && (is_intel() || !computes_longer(&program, &tiling, task.dtype));
    Ok(TiledProgram { tiling, program, used, non_temporal })
}

/// Whether the functions of the chain at the end take longer than moving its operands and its result to and
/// from memory. Ordinary stores then have time to read the lines that they overwrite. Non-temporal stores
/// come in bursts, and a core can have only a few of them in flight. (On an AMD EPYC, over 4,000,000 elements
/// in f64 and f32, x/(1+exp(-x)), gelu and exp(x-max) take 0.8 to 0.93 of the time with ordinary stores and
/// without prefetching, and exp(x*y) 1.2 times as long, `benches/expressions`. By a row, which stays in the
/// caches but counts here, exp(x*y) of f64 takes 1.1 times as long.)
fn computes_longer(program: &Program, tiling: &Tiling, dtype: DType) -> bool {
    let Some(&Step { work: Work::Chain { start, end, .. }, .. }) = program.steps.last() else { return false };
    let links = &program.links[start as usize..end as usize];
    let is_double = size_of_dtype(dtype) == 8;
    // In units of the time that it takes to move a vector.
    let time = |op: ChainOp| match op {
        ChainOp::Exp => 2,
        ChainOp::Tanh if is_double => 6,
        ChainOp::Tanh => 3,
        ChainOp::Divide | ChainOp::DivideInto => 1,
        ChainOp::Add
        | ChainOp::Subtract
        | ChainOp::SubtractFrom
        | ChainOp::Multiply
        | ChainOp::Maximum
        | ChainOp::Minimum
        | ChainOp::PlusNext
        | ChainOp::MinusNext
        | ChainOp::TimesNext
        | ChainOp::Square
        | ChainOp::Negate
        | ChainOp::Abs
        | ChainOp::Sqrt => 0,
    };
    let read = tiling.accesses.iter().filter(|access| access.kind != AccessKind::Splat).count();
    let has_function = links.iter().any(|(op, _)| op.is_function());
    has_function && links.iter().map(|&(op, _)| time(op)).sum::<usize>() > read
}

/// The bytes of the widest type in which a graph is computed. (A register of it has the fewest elements.)
fn widest(graph: &Graph) -> usize {
    graph.values.iter().map(|value| bytes(bank_of(value.dtype))).max().unwrap_or(8)
}

/// The bytes of the shortest row that is a tile of its own if there are few tiles, so that what comes before
/// the last step is computed for one row. (By a row, select(x<y,x,y) of f32 over 300x33 would take 1.5 times
/// as long.)
const SHORTEST_ROW_OF_FEW: usize = 160;

/// [`SHORTEST_ROW`] for nested expressions, if one of the operands is a column and if none is. They take
/// longer over the ends of rows than it takes to gather: over 300x33 in f64, (x-y)/(x+y) by a row takes 0.42
/// of the time if y is gathered, by a column 0.56, over 100x100 0.86 and 1.27, and over 80x128 1.19 and 1.48.
const SHORTEST_ROWS_OF_NESTED: [usize; 2] = [512, 1024];

/// [`SHORTEST_ROW`] for bytes against bounds, which are computed in blocks that go beyond the end of a row.
/// (With rows of 4 to 63 u8, a range check and a clip take 0.2 to 0.4 of the time in place.)
const SHORTEST_ROW_OF_BYTES: usize = 4;

/// What an attempt at tiles and a program came to.
struct Attempt {
    /// The elements of a tile.
    full: usize,
    /// The bytes of live registers per element.
    live: usize,
    /// [`Program::gathers_for_rows`].
    gathers: bool,
    /// [`Program::prepares_for_few`].
    prepares: bool,
    /// Whether the last step computes several tiles at once.
    in_rows: bool,
    /// [`Program::powers_of_vectors`].
    powers: usize,
    /// [`Program::ends_with_nested`].
    nested: bool,
}

/// The elements of the shortest row that is a tile of its own if a power has one base or exponent in it.
/// (With rows of 100, a tile takes longer than the power.)
const SHORTEST_ROW_OF_POWER: usize = 256;

/// Whether a value is computed by a function of `math`.
fn is_expensive(kind: ValueKind) -> bool {
    match kind {
        ValueKind::Call { function, .. } => MathFunction::of(function).is_some(),
        ValueKind::Slope { slope, .. } => match slope {
            Slope::PowerByBase | Slope::PowerByExponent => true,
            Slope::Winner => false,
        },
        ValueKind::Operand(_) | ValueKind::Constant(_) => false,
    }
}

/// For each call of an expensive function, the loops that change its value.
fn expensive_values(graph: &Graph, tiling: &Tiling, access_of: impl Fn(u32) -> u32) -> SmallVec<[u64; 4]> {
    let mut expensive = SmallVec::new();
    let mut varies: SmallVec<[u64; VALUES]> = SmallVec::new();
    for value in &graph.values {
        let loops = match value.kind {
            ValueKind::Operand(place) => {
                tiling.accesses.get(access_of(place) as usize).map_or(0, |access| access.varies)
            }
            ValueKind::Constant(_) => 0,
            ValueKind::Call { .. } | ValueKind::Slope { .. } => {
                let arguments = value.kind.arguments().iter();
                let loops = arguments.fold(0, |bits, &argument| bits | varies[argument as usize]);
                if is_expensive(value.kind) {
                    expensive.push(loops);
                }
                loops
            }
        };
        varies.push(loops);
    }
    expensive
}

/// The bytes of an element.
pub(crate) fn size_of_dtype(dtype: DType) -> usize {
    match dtype {
        DType::F64 | DType::I64 | DType::U64 => 8,
        DType::F32 | DType::I32 | DType::U32 => 4,
        DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 2,
        DType::I8 | DType::U8 | DType::Bool => 1,
    }
}

/// The layout of an operand under a result with the given map.
fn layout<'a>(operand: &Form<'a>, map: &'a [u32]) -> OperandLayout<'a> {
    let offset = if operand.strides.is_none() { 0 } else { operand.offset };
    OperandLayout { offset, strides: operand.strides, map }
}

#[cfg(test)]
mod tests;
