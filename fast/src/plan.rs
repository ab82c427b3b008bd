//! Plans: made once for shapes and an expression, run many times on data.
//!
//! No read or write goes outside a buffer. A plan knows for each operand how many values it reaches ([`reach`]), and
//! a run begins by comparing that with the buffers it is given; tiles partition the result, so that a tile's
//! positions are among those that `reach` counted. And nothing rests on that argument: every kernel is handed
//! slices, cut with a check from an operand, a register or the result, and the few that use pointers compare the
//! lengths of those slices first.
//!
//! Planning allocates nothing for up to three operands of up to three axes and a program of up to three steps.
//!
//! Memory besides the result: per thread, registers of 1024 elements, as many as values of the expression live at
//! once (of which a tile touches 20 KiB or less, so long as 64 elements of each fit into that), sixteen for each operand
//! that lies across the result; for a long gradient of up to 65536 elements eight copies of it; for a gradient of halves
//! its sums in f32.

use crate::Level;
use crate::arch::{Table, table};
use crate::buffers::{Input, Output, zeros};
use crate::error::{NoPlan, WrongBuffers};
use crate::execute::Run;
use crate::few::{OPERANDS, VALUES};
use crate::grid::grid;
use crate::lower::{Lengths, Lowered, count, lower};
use crate::parallel;
use crate::program::{Goal, Graph, Kind, Program, Root, Step, Target, bank_of, gradient, is_slow, schedule};
use crate::scratch::MAX_BLOCK;
use crate::single;
use crate::tiling::{Axes, Lying, Tiling};
use broadcheck_spec::half::slice::HalfFloatSliceExt;
use broadcheck_spec::{
    DEFAULT_MAX_ELEMENTS, DType, Function, Node, Operand, Operation, Request, Shape, Tensor,
};
use smallvec::SmallVec;

/// The bytes of registers that a tile may keep live: they share the first cache with operands and result.
const LIVE_BYTES: usize = 20 << 10;

/// From this size on a result is stored past the caches.
const STREAM_BYTES: usize = 8 << 20;

/// The elements of a tile that needs no register, where a single axis is cut.
const WIDE_BLOCK: usize = 8 << 10;

/// The bytes of the shortest row that a chain takes as it stands, rather than many of them gathered: a group's part of one.
const SHORTEST_ROW: usize = 256;

/// The elements of a tile that needs no register and is added into a gradient, or whose call is one step.
const WIDEST_BLOCK: usize = 32 << 10;

/// What is to be done for requests of certain shapes, strides, dtypes and a certain expression, worked out.
///
/// ```
/// use broadcheck_fast::{Input, Output, Plan};
/// use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};
///
/// let expression = Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
/// let matrix = Operand::dense("a", [2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
/// let row = Operand::dense("b", [3], vec![10.0, 20.0, 30.0]).unwrap();
/// let request =
///     Request::new(Rules::Numpy, Operation::Elementwise { expression }, vec![matrix, row]).unwrap();
/// let plan = Plan::new(&request).unwrap();
///
/// let (a, b) = ([0.5; 6], [1.0, 2.0, 3.0]);
/// let mut sum = [0.0; 6];
/// plan.run_into(&[Input::from(&a[..]), Input::from(&b[..])], Output::from(&mut sum[..])).unwrap();
/// assert_eq!(sum, [1.5, 2.5, 3.5, 1.5, 2.5, 3.5]);
/// ```
pub struct Plan(Inner);

/// What a plan has worked out. All of it stands in the plan, which for few operands of few axes has nothing elsewhere.
struct Inner {
    level: Level,
    table: &'static Table,
    shape: Lengths,
    count: usize,
    dtype: DType,
    is_gradient: bool,
    /// Whether the result is stored past the caches.
    stream: bool,
    /// What each operand's buffer must be.
    buffers: SmallVec<[(DType, usize); OPERANDS]>,
    /// The operands that are read, in the order of the tiling's accesses.
    used: SmallVec<[u32; OPERANDS]>,
    /// No tiles for a result without elements, or a gradient that is 0 everywhere.
    tiling: Tiling,
    program: Program,
    /// The function of one call over one tile, which needs no program.
    single: Option<Function>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (mut plan, inner) = (f.debug_struct("Plan"), &self.0);
        plan.field("shape", &inner.shape).field("dtype", &inner.dtype).field("level", &inner.level);
        plan.field("tiling", &inner.tiling).field("program", &inner.program).field("single", &inner.single);
        plan.finish_non_exhaustive()
    }
}

impl Plan {
    /// The plan of a request: its rule set decided, its axes collapsed, its expression compiled. The values of its
    /// operands are not looked at.
    ///
    /// # Errors
    /// [`NoPlan`], where the rule set refuses the request, or it is too large to be computed.
    pub fn new(request: &Request) -> Result<Plan, NoPlan> {
        Plan::with_level(request, Level::detect())
    }

    /// The same for a SIMD level; the portable one where the machine lacks it.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn with_level(request: &Request, level: Level) -> Result<Plan, NoPlan> {
        let mut lowered = Lowered::default();
        match Plan::sizes(request, &mut lowered) {
            Ok(sizes) => Plan::of(request, level, &lowered, sizes),
            Err(error) => Err(error),
        }
    }

    /// Lowers a request: the dtype and the number of elements of its (underlying) result, and the number of the answer's.
    #[inline]
    fn sizes(request: &Request, lowered: &mut Lowered) -> Result<(DType, usize, usize), NoPlan> {
        let dtype = lower(request, lowered)?;
        let underlying = within_limit(&lowered.shape)?;
        let count = match request.operation() {
            Operation::Gradient { wrt, .. } => within_limit(request.operands()[*wrt].shape())?,
            _ => underlying,
        };
        Ok((dtype, underlying, count))
    }

    /// The plan of a request that has been lowered.
    #[inline(never)]
    fn of(
        request: &Request,
        level: Level,
        lowered: &Lowered,
        (dtype, underlying, count): (DType, usize, usize),
    ) -> Result<Plan, NoPlan> {
        let mut made = Ok(Plan::empty(level, dtype, count));
        if let Ok(plan) = &mut made {
            plan.0.work_out(request, lowered, underlying);
        }
        made
    }

    /// The plan that brings one operand to a shape, lying under it as given.
    pub(crate) fn of_copy(operand: &Operand, shape: &[usize], map: &[u32], level: Level) -> Plan {
        let mut plan = Plan::empty(level, operand.dtype(), count(shape).unwrap_or(0));
        let inner = &mut plan.0;
        inner.shape = shape.into();
        inner.buffers.push((operand.dtype(), reach(operand)));
        let mut graph = Graph::default();
        let root = graph.operand(0, operand.dtype());
        if inner.count != 0 {
            inner.compile(&graph, root, (shape, inner.count), |_| lying(operand, map), None);
        }
        plan
    }

    /// A plan that does nothing yet.
    #[inline]
    fn empty(level: Level, dtype: DType, count: usize) -> Plan {
        let table = table(level);
        Plan(Inner {
            level: table.level,
            table,
            shape: Lengths::new(),
            count,
            dtype,
            is_gradient: false,
            stream: false,
            buffers: SmallVec::new(),
            used: SmallVec::new(),
            tiling: Tiling::default(),
            program: Program::default(),
            single: None,
        })
    }

    /// The result's shape.
    pub fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    /// The result's dtype.
    pub fn dtype(&self) -> DType {
        self.0.dtype
    }

    /// Computes the result into memory of its own.
    ///
    /// # Errors
    /// [`WrongBuffers`], where the inputs are not what was planned for.
    pub fn run(&self, inputs: &[Input<'_>]) -> Result<Tensor, WrongBuffers> {
        let inner = &self.0;
        inner.check(inputs)?;
        let mut values = zeros(inner.dtype, inner.count);
        inner.compute(inputs, Output::from(&mut values), true);
        // `Tensor::new` compares the same count again.
        Tensor::new(Shape::from(&inner.shape[..]), values).map_err(|_| inner.wrong_output(0))
    }

    /// Computes the result into a buffer of the caller's.
    ///
    /// # Errors
    /// [`WrongBuffers`], where the buffers are not what was planned for.
    pub fn run_into(&self, inputs: &[Input<'_>], output: Output<'_>) -> Result<(), WrongBuffers> {
        let inner = &self.0;
        inner.check(inputs)?;
        if output.dtype() != inner.dtype || output.len() != inner.count {
            return Err(WrongBuffers::Output {
                found: (output.dtype(), output.len()),
                expected: (inner.dtype, inner.count),
            });
        }
        inner.compute(inputs, output, false);
        Ok(())
    }
}

impl Inner {
    /// Works out a request that is accepted, whose (underlying) result has so many elements.
    fn work_out(&mut self, request: &Request, lowered: &Lowered, underlying: usize) {
        let operands = request.operands();
        for operand in operands {
            self.buffers.push((operand.dtype(), reach(operand)));
        }
        if let Operation::Gradient { wrt, .. } = request.operation() {
            self.is_gradient = true;
            self.dtype = operands[*wrt].dtype();
        }
        let is_empty = underlying == 0 || self.count == 0;
        if !is_empty && self.single(request, lowered).or_else(|| self.pair(request, lowered)).is_none() {
            self.general(request, lowered, underlying);
        }
        // One by one: the list that has just been made is not copied faster.
        self.shape.extend(match request.operation() {
            Operation::Gradient { wrt, .. } => operands[*wrt].shape().lengths().iter().copied(),
            _ => lowered.shape.iter().copied(),
        });
    }

    /// Fills in the tiling of one call over one tile, where that is what is asked for.
    fn single(&mut self, request: &Request, lowered: &Lowered) -> Option<()> {
        let Operation::Elementwise { expression } = request.operation() else { return None };
        let (function, arguments) = single::call(expression, request.operands())?;
        if self.count > MAX_BLOCK {
            return None;
        }
        let lies = |node: &Node| match node {
            Node::Operand(place) => Some(lying(&request.operands()[*place], lowered.maps.of(*place))),
            Node::Call(_) => None,
        };
        self.tiling.whole(&lowered.shape, self.count, arguments.iter().filter_map(lies));
        if !single::is_small(&self.tiling) {
            self.tiling = Tiling::default();
            return None;
        }
        for node in arguments {
            if let Node::Operand(place) = node {
                self.used.push(u32::try_from(*place).unwrap_or(u32::MAX));
            }
        }
        self.single = Some(function);
        Some(())
    }

    /// Fills in the tiling and the one step of a call of two operands, where one is repeated under a short inner axis, the
    /// result is stored past the caches, or its rows are short.
    fn pair(&mut self, request: &Request, lowered: &Lowered) -> Option<()> {
        let Operation::Elementwise { expression } = request.operation() else { return None };
        let (function, [Node::Operand(a), Node::Operand(b)]) = single::call(expression, request.operands())?
        else {
            return None;
        };
        let operands = [*a, *b].map(|place| lying(&request.operands()[place], lowered.maps.of(place)));
        let axes = Axes::of(&lowered.shape, &operands);
        let stream = self.is_streamed();
        let mut attempt = |block: usize, wide: usize| {
            self.tiling.cut(&axes, |place| operands[place].offset, block, wide);
            let work = single::pair(function, self.dtype, &self.tiling, stream)?;
            single::is_worth(&work, self.level, stream).then_some(work)
        };
        let work = attempt(WIDEST_BLOCK, WIDEST_BLOCK);
        let work = work.or_else(|| if stream { attempt(MAX_BLOCK, WIDE_BLOCK) } else { None });
        let Some(work) = work.or_else(|| {
            let (work, block) = grid(function, self.dtype, &axes, WIDEST_BLOCK)?;
            self.tiling.cut(&axes, |place| operands[place].offset, block, block);
            self.program.needs[bank_of(self.dtype) as usize].0 = 1;
            Some(work)
        }) else {
            self.tiling = Tiling::default();
            return None;
        };
        self.used.extend([*a, *b].map(|place| u32::try_from(place).unwrap_or(u32::MAX)));
        self.stream = stream;
        self.program.steps.push(Step { work, target: Target::Output, varies: u64::MAX, stationary: false });
        Some(())
    }

    /// Whether the result is stored past the caches. Halves are not: what takes their time is the conversion.
    fn is_streamed(&self) -> bool {
        !self.is_gradient
            && self.level != Level::Portable
            && !matches!(self.dtype, DType::F16 | DType::Bf16)
            && self.count.saturating_mul(size_of_dtype(self.dtype)) >= STREAM_BYTES
    }

    /// Fills in the tiling and the program of any request.
    fn general(&mut self, request: &Request, lowered: &Lowered, underlying: usize) {
        let operands = request.operands();
        let mut graph = Graph::default();
        let dtype_of = |place: usize| operands[place].dtype();
        let mut target = None;
        let root = match request.operation() {
            Operation::Broadcast { .. } => Some(graph.operand(0, dtype_of(0))),
            Operation::Elementwise { expression } => graph.add(expression, dtype_of).last().copied(),
            Operation::Gradient { expression, wrt } => {
                target = Some(lowered.maps.of(*wrt));
                let values = graph.add(expression, dtype_of);
                gradient(&mut graph, expression, &values, *wrt)
            }
        };
        if let Some(root) = root {
            let lies = |place: usize| lying(&operands[place], lowered.maps.of(place));
            self.compile(&graph, root, (&lowered.shape, underlying), lies, target);
        }
    }

    /// Fills in the tiling and the program that compute `root` under a shape of so many elements, with tiles so small
    /// that the registers stay in the first cache. `target` is the map of the operand by which a gradient is taken.
    fn compile<'a>(
        &mut self,
        graph: &Graph,
        root: u32,
        (shape, count): (&[usize], usize),
        lies: impl Fn(usize) -> Lying<'a>,
        target: Option<&'a [u32]>,
    ) {
        let readers = graph.readers(root);
        let mut operands: SmallVec<[Lying<'_>; VALUES]> = SmallVec::new();
        for (value, _) in graph.values.iter().zip(&readers).filter(|&(_, &readers)| readers != 0) {
            if let Kind::Operand(place) = value.kind {
                self.used.push(place);
                operands.push(lies(place as usize));
            }
        }
        self.stream = self.is_streamed();
        let goal = match target {
            None => Goal::Store(self.dtype),
            Some(map) => {
                operands.push(Lying { offset: 0, strides: None, map });
                Goal::Sum(u32::try_from(self.used.len()).unwrap_or(u32::MAX))
            }
        };
        let root = Root { graph, value: root, readers: &readers, goal };
        let access_of = |operand: u32| {
            let place = self.used.iter().position(|&used| used == operand);
            u32::try_from(place.unwrap_or(self.used.len())).unwrap_or(u32::MAX)
        };
        if count <= MAX_BLOCK {
            self.tiling = Tiling::default();
            self.tiling.whole(shape, count, operands.iter().copied());
            schedule(&mut self.program, root, &self.tiling, self.stream, access_of);
            if self.program.live * count <= LIVE_BYTES {
                return;
            }
        }
        let axes = Axes::of(shape, &operands);
        let mut attempt = |block: usize, wide: usize| {
            self.tiling.cut(&axes, |place| operands[place].offset, block, wide);
            if !self.is_gradient && self.tiling.loops.len() > 1 {
                let dear = dear(graph, &self.tiling, access_of);
                self.tiling.choose_panel(dear.into_iter());
            }
            schedule(&mut self.program, root, &self.tiling, self.stream, access_of);
            let gathers = !self.is_gradient && self.program.gathers_for_chain(&self.tiling);
            (self.tiling.full, self.program.live, gathers, self.program.in_rows)
        };
        // A gradient of what stands in memory takes many rows at once.
        if self.is_gradient && attempt(WIDEST_BLOCK, WIDEST_BLOCK).1 == 0 {
            return;
        }
        let (mut full, mut live, mut gathers, _) = attempt(MAX_BLOCK, WIDE_BLOCK);
        if full > MAX_BLOCK && live != 0 {
            (full, live, gathers, _) = attempt(MAX_BLOCK, MAX_BLOCK);
        }
        if live * full > LIVE_BYTES {
            let fitting = LIVE_BYTES / live;
            let fitting = (fitting - fitting % 32).max(64);
            (full, _, gathers, _) = attempt(fitting, fitting);
        }
        // Where a chain takes rows as they stand, nothing is gathered for it.
        let row = axes.innermost();
        let shortest = SHORTEST_ROW / size_of_dtype(self.dtype);
        if gathers && (shortest..full).contains(&row) && !attempt(row, row).3 {
            attempt(full, full);
        }
    }

    fn wrong_output(&self, found: usize) -> WrongBuffers {
        WrongBuffers::Output { found: (self.dtype, found), expected: (self.dtype, self.count) }
    }

    fn check(&self, inputs: &[Input<'_>]) -> Result<(), WrongBuffers> {
        if inputs.len() != self.buffers.len() {
            return Err(WrongBuffers::Operands { found: inputs.len(), expected: self.buffers.len() });
        }
        for (operand, (input, &(dtype, length))) in inputs.iter().zip(&self.buffers).enumerate() {
            if input.dtype() != dtype {
                return Err(WrongBuffers::DType { operand, found: input.dtype(), expected: dtype });
            }
            if input.len() < length {
                return Err(WrongBuffers::Length { operand, found: input.len(), expected: length });
            }
        }
        Ok(())
    }

    /// Runs the program. The buffers have been checked: every position that a tile reads lies inside them.
    fn compute(&self, inputs: &[Input<'_>], mut output: Output<'_>, cleared: bool) {
        if self.is_gradient && !cleared {
            output.clear();
        }
        if self.tiling.tiles == 0 {
            return;
        }
        if let Some(function) = self.single {
            return single::run(function, self.table, &self.tiling, &self.used, inputs, output);
        }
        let run = Run {
            level: self.level,
            table: self.table,
            tiling: &self.tiling,
            program: &self.program,
            inputs,
            used: &self.used,
            stream: self.stream,
        };
        if self.tiling.tiles == 1
            && !self.stream
            && let Some(chain) = single::whole_chain(&self.program)
        {
            return single::run_chain(&run, chain, output);
        }
        match output {
            Output::F16(values) if self.is_gradient => {
                let mut sums = vec![0.0f32; values.len()];
                parallel::gradient(&run, Output::F32(&mut sums));
                values.convert_from_f32_slice(&sums);
            }
            Output::Bf16(values) if self.is_gradient => {
                let mut sums = vec![0.0f32; values.len()];
                parallel::gradient(&run, Output::F32(&mut sums));
                values.convert_from_f32_slice(&sums);
            }
            output if self.is_gradient => parallel::gradient(&run, output),
            output => parallel::result(&run, output),
        }
    }
}

/// The values of a request's operands, as a plan takes them.
pub(crate) fn inputs(request: &Request) -> SmallVec<[Input<'_>; OPERANDS]> {
    request.operands().iter().map(|operand| Input::from(operand.values())).collect()
}

/// For each slow function of an expression the loops that move it.
fn dear(graph: &Graph, tiling: &Tiling, access_of: impl Fn(u32) -> u32) -> SmallVec<[u64; 4]> {
    let mut dear = SmallVec::new();
    let mut varies: SmallVec<[u64; VALUES]> = SmallVec::new();
    for value in &graph.values {
        varies.push(match value.kind {
            Kind::Operand(place) => {
                tiling.accesses.get(access_of(place) as usize).map_or(0, |access| access.varies)
            }
            Kind::Constant(_) => 0,
            Kind::Call { function, arguments } => {
                let arguments = arguments[..function.arity()].iter();
                arguments.fold(0, |bits, &argument| bits | varies[argument as usize])
            }
        });
        if matches!(value.kind, Kind::Call { function, .. } if is_slow(function)) {
            dear.extend(varies.last().copied());
        }
    }
    dear
}

fn size_of_dtype(dtype: DType) -> usize {
    match dtype {
        DType::F64 | DType::I64 | DType::U64 => 8,
        DType::F32 | DType::I32 | DType::U32 => 4,
        DType::F16 | DType::Bf16 | DType::I16 | DType::U16 => 2,
        DType::I8 | DType::U8 | DType::Bool => 1,
    }
}

fn within_limit(shape: &[usize]) -> Result<usize, NoPlan> {
    let found = count(shape).unwrap_or(usize::MAX);
    if found > DEFAULT_MAX_ELEMENTS { Err(NoPlan::TooManyElements { found }) } else { Ok(found) }
}

/// How an operand is read under a result.
fn lying<'a>(operand: &'a Operand, map: &'a [u32]) -> Lying<'a> {
    match operand.strides() {
        None => Lying { offset: 0, strides: None, map },
        strides => Lying { offset: operand.offset(), strides, map },
    }
}

/// How long an operand's buffer must be: one more than the highest position it reads. By construction of an
/// operand no position lies below 0.
fn reach(operand: &Operand) -> usize {
    let Some(strides) = operand.strides() else { return operand.values().len() };
    let shape = operand.shape();
    if shape.contains(&0) {
        return 0;
    }
    let mut highest = operand.offset();
    for (&length, &stride) in shape.iter().zip(strides) {
        let steps = usize::try_from(stride).unwrap_or(0);
        highest = highest.saturating_add((length - 1).saturating_mul(steps));
    }
    highest.saturating_add(1)
}
