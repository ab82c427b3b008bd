//! Plans: made once for shapes and an expression, run many times on data.
//!
//! No read or write goes outside a buffer. A plan knows for each operand how many values it reaches ([`reach`]), and
//! a run begins by comparing that with the buffers it is given; tiles partition the result, so that a tile's
//! positions are among those that `reach` counted. And nothing rests on that argument: every kernel is handed
//! slices, cut with a check from an operand, a register or the result, and the few that use pointers compare the
//! lengths of those slices first.
//!
//! Memory besides the result: per thread, registers of 1024 elements, as many as values of the expression live at
//! once (of which a tile touches 20 KiB or less, so long as 64 elements of each fit into that); for a long gradient
//! of up to 65536 elements eight copies of it; for a gradient of halves its sums in f32.

use crate::Level;
use crate::arch::{Table, table};
use crate::buffers::{Input, Output, zeros};
use crate::error::{NoPlan, WrongBuffers};
use crate::execute::Run;
use crate::lower::{Intermediate, Lowered, Under, count, lower};
use crate::parallel;
use crate::program::{Goal, Graph, Kind, Program, gradient, schedule};
use crate::scratch::MAX_BLOCK;
use crate::tiling::{Strided, Tiling, tile};
use broadcheck_spec::half::slice::HalfFloatSliceExt;
use broadcheck_spec::{DEFAULT_MAX_ELEMENTS, DType, Operand, Operation, Request, Shape, Tensor};
use smallvec::SmallVec;

/// The bytes of registers that a tile may keep live: they share the first cache with operands and result.
const LIVE_BYTES: usize = 20 << 10;

/// From this size on a result is stored past the caches.
const STREAM_BYTES: usize = 8 << 20;

/// The elements of a tile that needs no register, where a single axis is cut.
const WIDE_BLOCK: usize = 8 << 10;

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
pub struct Plan {
    pub(crate) level: Level,
    table: &'static Table,
    shape: Shape,
    count: usize,
    dtype: DType,
    /// What each operand's buffer must be.
    operands: SmallVec<[(DType, usize); 4]>,
    /// The operands that are read, in the order of the tiling's accesses.
    used: SmallVec<[usize; 4]>,
    /// Nothing for a result without elements, or a gradient that is 0 everywhere.
    body: Option<(Tiling, Program)>,
    is_gradient: bool,
    /// Whether the result is stored past the caches.
    stream: bool,
    pub(crate) flags: Option<Vec<bool>>,
    pub(crate) intermediate: Option<Intermediate>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut plan = f.debug_struct("Plan");
        plan.field("shape", &self.shape).field("dtype", &self.dtype).field("level", &self.level);
        if let Some((tiling, program)) = &self.body {
            plan.field("tiling", tiling).field("program", program);
        }
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
        let (lowered, dtype) = lower(request)?;
        let operands = request.operands();
        let underlying = within_limit(&lowered.shape)?;
        let (shape, result) = match request.operation() {
            Operation::Gradient { wrt, .. } => {
                let shape = operands[*wrt].shape();
                (shape.clone(), (operands[*wrt].dtype(), within_limit(shape)?))
            }
            _ => (Shape::from(&lowered.shape[..]), (dtype, underlying)),
        };
        let (dtype, count) = result;
        let table = table(level);
        let mut plan = Plan {
            level: table.level,
            table,
            shape,
            count,
            dtype,
            operands: operands.iter().map(|operand| (operand.dtype(), reach(operand))).collect(),
            used: SmallVec::new(),
            body: None,
            is_gradient: matches!(request.operation(), Operation::Gradient { .. }),
            stream: false,
            flags: None,
            intermediate: None,
        };
        if underlying != 0 && count != 0 {
            plan.fill_body(request, &lowered);
        }
        plan.flags = lowered.flags;
        plan.intermediate = lowered.intermediate;
        Ok(plan)
    }

    /// The plan that brings one operand to a shape, lying under it as given.
    pub(crate) fn of_copy(
        operand: &Operand,
        place: usize,
        shape: &[usize],
        under: &Under,
        level: Level,
    ) -> Plan {
        let strided = strided(operand, under);
        let mut graph = Graph::default();
        let root = graph.operand(place, operand.dtype());
        let goal = Goal::Store(operand.dtype());
        let count = count(shape).unwrap_or(0);
        let body = (count != 0).then(|| compile(&graph, root, goal, shape, &[strided], false, |_| 0));
        Plan {
            level,
            table: table(level),
            shape: Shape::from(shape),
            count,
            dtype: operand.dtype(),
            operands: SmallVec::from_elem((operand.dtype(), reach(operand)), 1),
            used: SmallVec::from_elem(0, 1),
            body,
            is_gradient: false,
            stream: false,
            flags: None,
            intermediate: None,
        }
    }

    fn fill_body(&mut self, request: &Request, lowered: &Lowered) {
        let operands = request.operands();
        let dtype_of = |place: usize| operands[place].dtype();
        let (graph, root, target) = match request.operation() {
            Operation::Broadcast { .. } => {
                let mut graph = Graph::default();
                let root = graph.operand(0, dtype_of(0));
                (graph, root, None)
            }
            Operation::Elementwise { expression } => {
                let (graph, root, _) = Graph::of(expression, dtype_of);
                (graph, root, None)
            }
            Operation::Gradient { expression, wrt } => {
                let (mut graph, _, values) = Graph::of(expression, dtype_of);
                let Some(root) = gradient(&mut graph, expression, &values, *wrt) else { return };
                (graph, root, Some(*wrt))
            }
        };
        for value in &graph.values {
            if let Kind::Operand(place) = value.kind {
                self.used.push(place);
            }
        }
        let mut accesses: SmallVec<[Strided; 4]> =
            self.used.iter().map(|&place| strided(&operands[place], &lowered.operands[place])).collect();
        let goal = match target {
            None => Goal::Store(self.dtype),
            Some(wrt) => {
                let strides = dense_strides(&self.shape);
                accesses.push(under(&strides, 0, &lowered.operands[wrt]));
                Goal::Sum(narrow(accesses.len() - 1))
            }
        };
        let used = &self.used;
        let access_of = |operand: usize| narrow(used.iter().position(|&other| other == operand).unwrap_or(0));
        // Halves are converted as they are stored.
        self.stream = !self.is_gradient
            && self.level != Level::Portable
            && !matches!(self.dtype, DType::F16 | DType::Bf16)
            && self.count.saturating_mul(size_of_dtype(self.dtype)) >= STREAM_BYTES;
        self.body = Some(compile(&graph, root, goal, &lowered.shape, &accesses, self.stream, access_of));
    }

    /// The result's shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The result's dtype.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Computes the result into memory of its own.
    ///
    /// # Errors
    /// [`WrongBuffers`], where the inputs are not what was planned for.
    pub fn run(&self, inputs: &[Input<'_>]) -> Result<Tensor, WrongBuffers> {
        self.check(inputs)?;
        let mut values = zeros(self.dtype, self.count);
        self.compute(inputs, Output::from(&mut values), true);
        // `Tensor::new` compares the same count again.
        Tensor::new(self.shape.clone(), values).map_err(|_| self.wrong_output(0))
    }

    /// Computes the result into a buffer of the caller's.
    ///
    /// # Errors
    /// [`WrongBuffers`], where the buffers are not what was planned for.
    pub fn run_into(&self, inputs: &[Input<'_>], output: Output<'_>) -> Result<(), WrongBuffers> {
        self.check(inputs)?;
        if output.dtype() != self.dtype || output.len() != self.count {
            return Err(WrongBuffers::Output {
                found: (output.dtype(), output.len()),
                expected: (self.dtype, self.count),
            });
        }
        self.compute(inputs, output, false);
        Ok(())
    }

    fn wrong_output(&self, found: usize) -> WrongBuffers {
        WrongBuffers::Output { found: (self.dtype, found), expected: (self.dtype, self.count) }
    }

    fn check(&self, inputs: &[Input<'_>]) -> Result<(), WrongBuffers> {
        if inputs.len() != self.operands.len() {
            return Err(WrongBuffers::Operands { found: inputs.len(), expected: self.operands.len() });
        }
        for (operand, (input, &(dtype, length))) in inputs.iter().zip(&self.operands).enumerate() {
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
        let Some((tiling, program)) = &self.body else { return };
        let run = Run {
            level: self.level,
            table: self.table,
            tiling,
            program,
            inputs,
            used: &self.used,
            stream: self.stream,
        };
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
pub(crate) fn inputs(request: &Request) -> SmallVec<[Input<'_>; 4]> {
    request.operands().iter().map(|operand| Input::from(operand.values())).collect()
}

/// The tiling and the program, with tiles so small that the registers stay in the first cache.
fn compile(
    graph: &Graph,
    root: u32,
    goal: Goal,
    shape: &[usize],
    accesses: &[Strided],
    stream: bool,
    access_of: impl Fn(usize) -> u32 + Copy,
) -> (Tiling, Program) {
    let wide = graph.values.iter().any(|value| matches!(value.dtype, DType::F64 | DType::I64 | DType::U64));
    let block = if wide { MAX_BLOCK / 2 } else { MAX_BLOCK };
    let attempt = |block: usize, wide: usize| {
        let tiling = tile(shape, accesses, block, wide);
        let program = schedule(graph, root, goal, &tiling, stream, access_of);
        (tiling, program)
    };
    let (mut tiling, mut program) = attempt(block, WIDE_BLOCK);
    if tiling.full > block && program.live != 0 {
        (tiling, program) = attempt(block, block);
    }
    if program.live == 0 || program.live * tiling.full <= LIVE_BYTES {
        return (tiling, program);
    }
    let fitting = LIVE_BYTES / program.live;
    let fitting = (fitting - fitting % 32).max(64);
    attempt(fitting, fitting)
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

fn narrow(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

/// How an operand is read under a result.
fn strided(operand: &Operand, map: &Under) -> Strided {
    match operand.strides() {
        Some(strides) => under(strides, operand.offset(), map),
        None => under(&dense_strides(operand.shape()), 0, map),
    }
}

fn under(strides: &[i64], offset: usize, map: &Under) -> Strided {
    Strided { offset, strides: map.iter().map(|own| own.map_or(0, |own| strides[own])).collect() }
}

/// The strides of a row-major tensor. Only asked for shapes that have elements, whose count is in bounds.
fn dense_strides(shape: &[usize]) -> SmallVec<[i64; 6]> {
    let mut strides: SmallVec<[i64; 6]> = SmallVec::from_elem(0, shape.len());
    let mut step: i64 = 1;
    for (stride, &length) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.saturating_mul(i64::try_from(length).unwrap_or(i64::MAX));
    }
    strides
}

/// How long an operand's buffer must be: one more than the highest position it reads. By construction of an
/// operand no position lies below 0.
fn reach(operand: &Operand) -> usize {
    let shape = operand.shape();
    if shape.contains(&0) {
        return 0;
    }
    let Some(strides) = operand.strides() else { return shape.iter().product() };
    let mut highest = operand.offset();
    for (&length, &stride) in shape.iter().zip(strides) {
        let steps = usize::try_from(stride).unwrap_or(0);
        highest = highest.saturating_add((length - 1).saturating_mul(steps));
    }
    highest.saturating_add(1)
}
