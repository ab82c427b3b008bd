//! Plans: made once for shapes and an expression, run many times on data.
//!
//! No read or write goes outside a buffer. A plan knows how many values of each operand it reaches
//! ([`reach`]), and a run starts by comparing that with the buffers it is given. Tiles partition the result,
//! so the positions of a tile are among those that `reach` counts. Safety does not depend on this argument:
//! every kernel gets slices, cut with bounds checks from an operand, a register or the result, and the few
//! kernels that use pointers first compare the lengths of those slices.
//!
//! Running a plan cannot fail after that check, because its [`Route`] contains every kernel that it needs.
//!
//! Planning allocates nothing for up to three operands of up to three axes and a program of up to three
//! steps, unless some values are computed first or calls are [nested](crate::nested_call).
//!
//! Besides the result, running needs this memory:
//! - per thread, registers of 8 KiB, as many as values of the expression are live at once, and
//!   sixteen for each transposed operand. A tile uses at most 20 KiB of them, if 64 elements of each fit into
//!   that.
//! - for a long gradient of up to 65536 elements, eight copies of it.
//! - for a gradient of f16 or bf16, its sums in f32.
//! - for each value that is computed first because it depends on some axes only, of which there are at most
//!   eight, its elements: at most 65536, or a sixteenth of those of the (underlying) result. The thread keeps
//!   the memory of up to 65536 of each.
//! - for [nested](crate::nested_call) calls, 16 KiB of the stack.
//! - per thread, with AVX-512, at most 8 KiB for each of three widths of elements, from which columns are
//!   expanded.

use crate::Level;
use crate::arch::{Table, is_intel, table};
use crate::buffers::{Input, Output, zeros};
use crate::error::{NoPlan, WrongBuffers};
use crate::execute::Run;
use crate::in_place::Destination;
use crate::inline_capacity::OPERANDS;
use crate::lower::{Lengths, Lowered, count, lower};
use crate::parallel;
use crate::parts::{INPUTS, Parts};
use crate::problem::{Form, Problem};
use crate::route::{
    Route, Task, TiledProgram, are_beyond_caches, in_bits, route, route_of_copy, size_of_dtype,
};
use crate::signature::{SignaturePlan, Wanted};
use crate::tiny::{TinyCall, TinyOperand};
use broadcheck_spec::half::slice::HalfFloatSliceExt;
use broadcheck_spec::{DEFAULT_MAX_ELEMENTS, DType, Operation, Request, Shape, Signature, Tensor};
use smallvec::SmallVec;
use std::ops::Range;

/// How to compute requests with certain shapes, strides, dtypes and a certain expression.
///
/// ```
/// use broadcheck_fast::{Input, Output, Plan};
/// use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};
///
/// let arguments = [Expression::operand(0), Expression::operand(1)];
/// let expression = Expression::call(Function::Add, arguments).unwrap();
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
    task: Task,
    shape: Lengths,
    /// The dtype and the smallest length of each operand's buffer.
    buffers: SmallVec<[(DType, usize); OPERANDS]>,
    route: Route,
    /// Where the result is written, if the request says that.
    destination: Option<Box<Destination>>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut plan = f.debug_struct("Plan");
        plan.field("shape", &self.shape)
            .field("dtype", &self.task.dtype)
            .field("level", &self.task.table.level)
            .field("buffers", &self.buffers);
        plan.field("route", &self.route).finish_non_exhaustive()
    }
}

impl Plan {
    /// The plan of a request, at the level of [`Level::detect`]. The values of its operands are not read.
    ///
    /// # Errors
    /// [`NoPlan`], if the rule set refuses the request or the engine cannot compute it.
    pub fn new(request: &Request) -> Result<Plan, NoPlan> {
        Plan::with_level(request, Level::detect())
    }

    /// The plan of a request at a SIMD level, or at the portable level if the machine lacks it.
    ///
    /// # Errors
    /// As for [`Plan::new`].
    pub fn with_level(request: &Request, level: Level) -> Result<Plan, NoPlan> {
        let table = table(level);
        if let Operation::Elementwise { expression } = request.operation()
            && let Some(tiny) = TinyCall::of(request.rules(), expression, request.operands(), table)
        {
            return Ok(Plan::of_tiny(&tiny, table));
        }
        Plan::of_problem(&Problem::of(request), level)
    }

    /// The plan of a tiny call.
    #[inline(always)]
    pub(crate) fn of_tiny<O: TinyOperand>(tiny: &TinyCall<'_, O>, table: &'static Table) -> Plan {
        let (dtype, count) = (tiny.dtype, tiny.count);
        Plan {
            task: Task { table, dtype, count, is_sum: false, is_staged: false, half: None },
            shape: tiny.shape(),
            buffers: tiny.buffers(),
            route: Route::Single(tiny.call()),
            destination: None,
        }
    }

    /// The plan that computes the values of a signature, whose lengths may be unknown, at the level of
    /// [`Level::detect`]. [`SignaturePlan::new`] makes the plans of gradients, too.
    ///
    /// # Errors
    /// [`NoPlan`], if the rule set refuses every run; if every length is known, as for [`Plan::new`].
    pub fn for_signature(signature: &Signature) -> Result<SignaturePlan, NoPlan> {
        SignaturePlan::new(signature, Wanted::Value, Level::detect())
    }

    /// The plan of a problem.
    ///
    /// # Errors
    /// As for [`Plan::new`].
    #[inline]
    pub(crate) fn of_problem(problem: &Problem<'_>, level: Level) -> Result<Plan, NoPlan> {
        let mut lowered = Lowered::default();
        match Plan::sizes(problem, &mut lowered) {
            Ok(sizes) => Plan::of(problem, level, &lowered, sizes),
            Err(error) => Err(error),
        }
    }

    /// Lowers a problem. Returns the dtype and the number of elements of its (underlying) result, and the
    /// number of elements of its answer.
    #[inline]
    fn sizes(problem: &Problem<'_>, lowered: &mut Lowered) -> Result<(DType, usize, usize), NoPlan> {
        let dtype = lower(problem, lowered)?;
        let underlying = within_limit(&lowered.shape)?;
        let count = match problem.wrt() {
            Some(wrt) => within_limit(wrt.shape)?,
            None => underlying,
        };
        Ok((dtype, underlying, count))
    }

    /// The plan of a lowered problem.
    #[inline(never)]
    fn of(
        problem: &Problem<'_>,
        level: Level,
        lowered: &Lowered,
        (dtype, underlying, count): (DType, usize, usize),
    ) -> Result<Plan, NoPlan> {
        let (dtype, shape) = match problem.wrt() {
            Some(wrt) => (wrt.dtype, wrt.shape),
            None => (dtype, &lowered.shape[..]),
        };
        let is_sum = lowered.is_sum(problem);
        let destination = Destination::of(problem).map(Box::new);
        let is_staged = destination.as_ref().is_some_and(|destination| destination.is_staged());
        let task = Task { table: table(level), dtype, count, is_sum, is_staged, half: in_bits(problem) };
        let mut buffers: SmallVec<[(DType, usize); OPERANDS]> = SmallVec::new();
        buffers.reserve_exact(problem.with_values().len());
        for form in problem.with_values() {
            buffers.push((form.dtype, reach(form)));
        }
        Ok(Plan {
            task,
            shape: shape.into(),
            buffers,
            route: route(task, problem, lowered, underlying)?,
            destination,
        })
    }

    /// The plan that broadcasts one operand to a shape with the given map.
    ///
    /// # Errors
    /// [`NoPlan::TooManyElements`], if the shape has more elements than the engine computes, and
    /// [`NoPlan::NoKernel`], if the engine cannot copy the operand's dtype.
    pub(crate) fn of_copy(
        operand: &Form<'_>,
        shape: &[usize],
        map: &[u32],
        level: Level,
    ) -> Result<Plan, NoPlan> {
        let dtype = operand.dtype;
        let count = within_limit(shape)?;
        let table = table(level);
        let task = Task { table, dtype, count, is_sum: false, is_staged: false, half: None };
        Ok(Plan {
            task,
            shape: shape.into(),
            buffers: std::iter::once((dtype, reach(operand))).collect(),
            route: route_of_copy(task, operand, shape, map)?,
            destination: None,
        })
    }

    /// The shape of the result.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The dtype of the result.
    pub fn dtype(&self) -> DType {
        self.task.dtype
    }

    /// The name of the way in which the plan computes, for those who count which ways their requests take:
    ///
    /// | name | what is computed so |
    /// |---|---|
    /// | `nothing` | an empty result, or a gradient that is 0 everywhere |
    /// | `call` | one call over one tile |
    /// | `pair` | one call of two operands in one step: one is repeated, rows are short, or the result is large |
    /// | `transposed` | one call of two operands of which one is transposed |
    /// | `rows` | one call of two operands over long rows |
    /// | `select of rows` | one `select` by a condition with one value for each row |
    /// | `chain` | calls over one row, each with the result of the one before |
    /// | `chain of rows` | the same over many rows at once |
    /// | `choice of rows` | one choice by a comparison over many rows, or parts of one row, at once |
    /// | `bounds` | a value against two bounds, such as a range check, over one row or many |
    /// | `nested` | at the end calls of floats, or a condition of them, that no chain takes, in one loop |
    /// | `condition` | at the end two comparisons and what joins them, in one loop |
    /// | `step` | one chain with numbers among its arguments, or one choice, over one tile |
    /// | `sum` | a gradient over one tile that is added up, as one sum of a chain or of choices |
    /// | `gradient` | any other gradient that is added up |
    /// | `parts` | first values that depend on some axes only, such as `sqrt(v)` of a column, then the rest |
    /// | `tiles` | anything else |
    ///
    /// The gradient by an operand that is not stretched is not added up: its elements are computed like those
    /// of a result.
    pub fn route_name(&self) -> &'static str {
        match &self.route {
            Route::Nothing => "nothing",
            Route::Single(_) => "call",
            Route::Pair(_) => "pair",
            Route::Turned(_) => "transposed",
            Route::Rows(_) => "rows",
            Route::Select(_) => "select of rows",
            Route::Fold(call) => {
                if call.rows == 1 {
                    "chain"
                } else {
                    "chain of rows"
                }
            }
            Route::Bounds(_) => "bounds",
            Route::Nested(_) => "nested",
            Route::Step(call) => {
                if call.is_pair() {
                    "pair"
                } else {
                    "step"
                }
            }
            Route::Sum(_) => "sum",
            Route::General(_) if self.task.is_sum => "gradient",
            Route::General(tiled) if tiled.program.ends_with_nested() => "nested",
            Route::General(tiled) if tiled.program.in_rows => {
                if tiled.program.ends_with_choice() {
                    "choice of rows"
                } else {
                    "chain of rows"
                }
            }
            Route::General(tiled) if tiled.program.ends_with_condition() => "condition",
            Route::Parts(_) => "parts",
            Route::General(_) => "tiles",
        }
    }

    pub(crate) fn route(&self) -> &Route {
        &self.route
    }

    pub(crate) fn destination(&self) -> Option<&Destination> {
        self.destination.as_deref()
    }

    /// Computes the result into new memory, also if the request has a destination.
    ///
    /// # Errors
    /// [`WrongBuffers`], if the inputs do not match the plan.
    pub fn run(&self, inputs: &[Input<'_>]) -> Result<Tensor, WrongBuffers> {
        self.check(inputs)?;
        let mut values = zeros(self.task.dtype, self.task.count);
        self.compute(inputs, &mut Output::from(&mut values), true);
        // `Tensor::new` compares the same count again.
        Tensor::new(Shape::from(&self.shape[..]), values).map_err(|_| self.wrong_output(self.task.dtype, 0))
    }

    /// Computes the result into the caller's buffer, which is none of the inputs. To write into an operand,
    /// or into a view, see [`Plan::run_in_place`].
    ///
    /// # Errors
    /// [`WrongBuffers`], if the buffers do not match the plan.
    pub fn run_into(&self, inputs: &[Input<'_>], mut output: Output<'_>) -> Result<(), WrongBuffers> {
        self.write_into(inputs, &mut output)
    }

    /// The same as [`Plan::run_into`] for an output that is not moved.
    #[inline(always)]
    pub(crate) fn write_into(
        &self,
        inputs: &[Input<'_>],
        output: &mut Output<'_>,
    ) -> Result<(), WrongBuffers> {
        self.check(inputs)?;
        if output.dtype() != self.task.dtype || output.len() != self.task.count {
            return Err(self.wrong_output(output.dtype(), output.len()));
        }
        self.compute(inputs, output, false);
        Ok(())
    }

    fn wrong_output(&self, dtype: DType, count: usize) -> WrongBuffers {
        WrongBuffers::Output { found: (dtype, count), expected: (self.task.dtype, self.task.count) }
    }

    pub(crate) fn check(&self, inputs: &[Input<'_>]) -> Result<(), WrongBuffers> {
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

    /// Runs the route. The buffers have been checked, so every position that a tile reads is inside them.
    /// `cleared` says whether the output is all zeros.
    pub(crate) fn compute(&self, inputs: &[Input<'_>], output: &mut Output<'_>, cleared: bool) {
        let is_zero = matches!(self.route, Route::Nothing);
        if (self.task.is_sum || is_zero) && !cleared {
            output.clear();
        }
        self.compute_by(&self.route, inputs, output);
    }

    /// The same by a route of the plan, without clearing the output.
    #[inline]
    pub(crate) fn compute_by(&self, route: &Route, inputs: &[Input<'_>], output: &mut Output<'_>) {
        if self.task.half.is_some() {
            let bits: SmallVec<[Input<'_>; OPERANDS]> = inputs.iter().copied().map(Input::bits).collect();
            self.take_route(route, &bits, &mut output.all().bits());
        } else {
            self.take_route(route, inputs, output);
        }
    }

    /// The output is passed on as it is: moving it takes longer than a short call, because a processor waits
    /// for what was just written in other pieces than it is read.
    #[inline(always)]
    fn take_route(&self, route: &Route, inputs: &[Input<'_>], output: &mut Output<'_>) {
        match route {
            Route::Nothing => {}
            Route::Single(call) => call.run(inputs, output),
            Route::Turned(call) => call.run(self.task.table, inputs, output.all()),
            Route::Rows(call) => call.run(inputs, output),
            Route::Select(call) => call.run(inputs, output),
            Route::Fold(call) => call.run(self.task.table, inputs, output),
            Route::Bounds(call) => call.run(inputs, output),
            Route::Nested(call) => call.run(self.task.table, inputs, output),
            Route::Step(call) => call.run(self.task.table, inputs, output),
            Route::Sum(call) => call.run(self.task.table, inputs, output),
            Route::Parts(parts) => self.take_parts(parts, inputs, output),
            Route::Pair(tiled) | Route::General(tiled) => self.run_tiles(tiled, inputs, output.all()),
        }
    }

    /// A route that reads parts, which are computed first.
    #[inline(never)]
    fn take_parts(&self, parts: &Parts, inputs: &[Input<'_>], output: &mut Output<'_>) {
        self.with_parts(parts, inputs, |inputs| self.take_route(&parts.rest, inputs, output));
    }

    /// Computes the parts of the problem and calls `body` with the inputs and the parts. Inputs are in the
    /// form in which they are computed.
    pub(crate) fn with_parts(&self, parts: &Parts, inputs: &[Input<'_>], body: impl FnOnce(&[Input<'_>])) {
        let run = |tiled: &TiledProgram, inputs: &[Input<'_>], output: Output<'_>| {
            parallel::result(&self.tiles(tiled, inputs), output);
        };
        parts.with(inputs, run, body);
    }

    /// The form in which an input is computed.
    pub(crate) fn as_read<'a>(&self, input: Input<'a>) -> Input<'a> {
        if self.task.half.is_some() { input.bits() } else { input }
    }

    /// Computes a range of tiles of the route on this thread. `output` is the part of the result in them.
    pub(crate) fn compute_tiles(
        &self,
        tiled: &TiledProgram,
        tiles: Range<usize>,
        inputs: &[Input<'_>],
        output: Output<'_>,
    ) {
        let inputs = inputs.iter().map(|&input| self.as_read(input));
        let inputs: SmallVec<[Input<'_>; INPUTS]> = inputs.collect();
        let output = if self.task.half.is_some() { output.bits() } else { output };
        parallel::run_here(&self.tiles(tiled, &inputs), tiles, output);
    }

    fn tiles<'a>(&'a self, tiled: &'a TiledProgram, inputs: &'a [Input<'a>]) -> Run<'a> {
        let read = inputs.iter().map(Input::bytes).sum::<usize>();
        let written = self.task.count.saturating_mul(size_of_dtype(self.task.dtype));
        Run {
            table: self.task.table,
            tiling: &tiled.tiling,
            program: &tiled.program,
            inputs,
            used: &tiled.used,
            non_temporal: tiled.non_temporal,
            fetches: are_beyond_caches(read),
            fetches_for_sums: are_beyond_caches(read) && is_intel(),
            fetches_for_functions: are_beyond_caches(read.saturating_add(written)) && is_intel(),
        }
    }

    fn run_tiles(&self, tiled: &TiledProgram, inputs: &[Input<'_>], output: Output<'_>) {
        let run = self.tiles(tiled, inputs);
        match output {
            output if !self.task.is_sum => parallel::result(&run, output),
            Output::F16(values) => {
                let mut sums = vec![0.0f32; values.len()];
                parallel::gradient(&run, Output::F32(&mut sums));
                values.convert_from_f32_slice(&sums);
            }
            Output::Bf16(values) => {
                let mut sums = vec![0.0f32; values.len()];
                parallel::gradient(&run, Output::F32(&mut sums));
                values.convert_from_f32_slice(&sums);
            }
            output => parallel::gradient(&run, output),
        }
    }
}

/// The values of a request's operands and then of its cotangent, as the inputs of its plan.
pub(crate) fn inputs(request: &Request) -> SmallVec<[Input<'_>; OPERANDS]> {
    request.with_values().map(|operand| Input::from(operand.values())).collect()
}

/// The number of elements of a shape, unless it has more than the engine computes (clause G-1).
fn within_limit(shape: &[usize]) -> Result<usize, NoPlan> {
    let found = count(shape).unwrap_or(usize::MAX);
    if found > DEFAULT_MAX_ELEMENTS { Err(NoPlan::TooManyElements { found }) } else { Ok(found) }
}

/// The number of values that an operand's buffer must have: one more than the highest position that the
/// operand reads. By construction, an operand reads no position below 0.
pub(crate) fn reach(operand: &Form<'_>) -> usize {
    let Some(strides) = operand.strides else { return operand.values };
    let shape = operand.shape;
    if shape.contains(&0) {
        return 0;
    }
    let mut highest = operand.offset;
    for (&length, &stride) in shape.iter().zip(strides) {
        let steps = usize::try_from(stride).unwrap_or(0);
        highest = highest.saturating_add((length - 1).saturating_mul(steps));
    }
    highest.saturating_add(1)
}
