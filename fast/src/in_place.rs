//! Writing into a destination, whose buffer operands may read (clauses INTO-1 to INTO-4): as if every operand
//! had been read before anything is written.
//!
//! | operands that read the buffer | the destination | how |
//! |---|---|---|
//! | none | row-major | the route writes into it |
//! | none | another view | a block is computed, then written |
//! | only those that read each element where it is written | any | a block is computed, then written |
//! | others | any | the whole result is computed, then written |
//!
//! Borrowing keeps the first way honest: no buffer is an input and the output at once.

use crate::buffers::{Input, Output, Stored, zeros};
use crate::dispatch::by_dtype;
use crate::error::WrongBuffers;
use crate::inline_capacity::{AXES, OPERANDS};
use crate::parts::INPUTS;
use crate::plan::{Plan, reach};
use crate::problem::{Form, Problem};
use crate::route::{Route, TiledProgram};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Data};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;

/// The elements of a block. With its operands it stays in the second-level cache.
const BLOCK: usize = 8 << 10;

thread_local! {
    /// The memory of the last blocks.
    static STAGE: RefCell<Option<Data>> = const { RefCell::new(None) };
}

/// The lengths and the strides of axes, outermost first. Strides wrap: a negative one is in two's
/// complement.
type Steps = SmallVec<[(usize, usize); AXES]>;

/// The inputs of a run, with parts.
type Inputs<'a> = SmallVec<[Input<'a>; INPUTS]>;

/// Where a result is written, and which operands read that buffer.
#[derive(Debug)]
pub(crate) struct Destination {
    /// For each operand, whether it is the destination or reads its buffer.
    shares: SmallVec<[bool; OPERANDS]>,
    /// The number of values that the buffer must have.
    reach: usize,
    way: Way,
    offset: usize,
    /// The axes, without those of length 1.
    axes: Steps,
}

/// How the result gets there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Directly,
    InBlocks,
    AsAWhole,
}

impl Destination {
    /// The destination of an accepted problem, if it has one.
    pub(crate) fn of(problem: &Problem<'_>) -> Option<Destination> {
        let (destination, expression) = (problem.destination()?, problem.expression()?);
        let operands = problem.operands();
        let shares: SmallVec<[bool; OPERANDS]> = problem.shares().collect();
        let mut readers = (0..operands.len()).filter(|&at| shares[at] && expression.reads(at)).peekable();
        let way = if readers.peek().is_none() && is_row_major(destination) {
            Way::Directly
        } else if readers.all(|at| is_same(&operands[at], destination)) {
            Way::InBlocks
        } else {
            Way::AsAWhole
        };
        let sharing = (0..operands.len()).filter(|&at| shares[at]);
        let reach = sharing.map(|at| reach(&operands[at])).max().unwrap_or(0);
        Some(Destination { shares, reach, way, offset: destination.offset, axes: steps(destination) })
    }

    /// Whether the result is computed in other memory first.
    pub(crate) fn is_staged(&self) -> bool {
        self.way != Way::Directly
    }

    /// The inputs of all operands, of which some are `buffer`.
    fn inputs<'a>(&self, others: &[Input<'a>], buffer: Input<'a>) -> Inputs<'a> {
        let mut others = others.iter();
        self.shares
            .iter()
            .filter_map(|&shares| if shares { Some(buffer) } else { others.next().copied() })
            .collect()
    }

    /// Writes elements of the result, from element `start` on.
    fn write<T: Stored>(&self, values: &[T], start: usize, buffer: &mut [T]) {
        let Some((&(width, step), outer)) = self.axes.split_last() else {
            buffer[self.offset] = values[0];
            return;
        };
        let (mut row, mut from, mut left) = (start / width, start % width, values);
        while !left.is_empty() {
            let (here, rest) = left.split_at(left.len().min(width - from));
            let mut position = self.row(row, outer).wrapping_add(from.wrapping_mul(step));
            if step == 1 {
                buffer[position..position + here.len()].copy_from_slice(here);
            } else {
                for &value in here {
                    buffer[position] = value;
                    position = position.wrapping_add(step);
                }
            }
            (row, from, left) = (row + 1, 0, rest);
        }
    }

    /// The position in the buffer of the first element of a row.
    fn row(&self, mut row: usize, outer: &[(usize, usize)]) -> usize {
        let mut position = self.offset;
        for &(length, step) in outer.iter().rev() {
            position = position.wrapping_add((row % length).wrapping_mul(step));
            row /= length;
        }
        position
    }
}

/// The axes of an operand, without those of length 1: their strides are never used.
fn steps(operand: &Form<'_>) -> Steps {
    let lengths = operand.shape.iter().copied();
    let mut axes: Steps = match operand.strides {
        Some(strides) => lengths.zip(strides.iter().map(|&stride| wrapped(stride))).collect(),
        None => {
            let mut step = 1usize;
            let mut axes: Steps = lengths.rev().map(|length| (length, 0)).collect();
            for axis in &mut axes {
                axis.1 = step;
                step = step.saturating_mul(axis.0);
            }
            axes.reverse();
            axes
        }
    };
    axes.retain(|&mut (length, _)| length != 1);
    axes
}

/// A stride in two's complement. One that does not fit belongs to an axis that is never walked.
fn wrapped(stride: i64) -> usize {
    isize::try_from(stride).unwrap_or(0).cast_unsigned()
}

/// Whether the elements of an operand are one run of its buffer, in row-major order.
fn is_row_major(operand: &Form<'_>) -> bool {
    let mut run = 1usize;
    steps(operand).iter().rev().all(|&(length, step)| {
        let continues = step == run;
        run = run.saturating_mul(length);
        continues
    })
}

/// Whether an operand reads, for each element of the result, the place where that element goes. The problem
/// is accepted, so axes of the same lengths are aligned.
fn is_same(operand: &Form<'_>, destination: &Form<'_>) -> bool {
    operand.offset == destination.offset && steps(operand) == steps(destination)
}

/// Memory for this many elements of the result, or more.
fn stage(dtype: DType, count: usize) -> Data {
    let kept = STAGE.take().filter(|data| data.dtype() == dtype && data.len() >= count);
    kept.unwrap_or_else(|| zeros(dtype, count.max(count.next_power_of_two().min(BLOCK))))
}

/// Keeps memory for the next block.
fn keep(stage: Data) {
    if stage.len() <= BLOCK {
        STAGE.set(Some(stage));
    }
}

/// A request in place: its destination, and the buffers of the other operands.
#[derive(Clone, Copy)]
struct Writing<'a> {
    plan: &'a Plan,
    destination: &'a Destination,
    others: &'a [Input<'a>],
    /// The parts that have been computed.
    parts: &'a [Input<'a>],
}

impl Writing<'_> {
    fn run(&self, buffer: &mut Output<'_>) {
        let Writing { plan, destination, others, .. } = *self;
        let count = plan.shape().iter().product();
        match (destination.way, plan.route()) {
            (_, Route::Nothing) => {}
            (Way::Directly, _) => {
                // The expression does not read the buffer.
                let inputs = destination.inputs(others, Input::empty(plan.dtype()));
                plan.compute(&inputs, &mut buffer.part(destination.offset, count), false);
            }
            (Way::InBlocks, Route::Parts(parts)) => {
                // No part reads the buffer: it has fewer elements than the result, and an operand in the
                // buffer has as many.
                let inputs = destination.inputs(others, Input::empty(plan.dtype()));
                let inputs: Inputs<'_> = inputs.into_iter().map(|input| plan.as_read(input)).collect();
                plan.with_parts(parts, &inputs, |all| {
                    Writing { parts: &all[inputs.len()..], ..*self }.in_blocks(&parts.rest, buffer);
                });
            }
            (Way::InBlocks, route) => self.in_blocks(route, buffer),
            (Way::AsAWhole, route) => self.as_a_whole(route, buffer),
        }
    }

    /// Computes a result whose elements are read where they are written, if at all.
    fn in_blocks(&self, route: &Route, buffer: &mut Output<'_>) {
        match route {
            Route::Pair(tiled) | Route::General(tiled) if tiled.tiling.tiles > 1 => {
                self.blocks(tiled, 0..tiled.tiling.tiles, buffer);
            }
            route => self.as_a_whole(route, buffer),
        }
    }

    /// Computes all of the result before any of it is written.
    fn as_a_whole(&self, route: &Route, buffer: &mut Output<'_>) {
        let count = self.plan.shape().iter().product();
        self.staged(0, count, buffer, |inputs, mut stage| {
            self.plan.compute_by(route, inputs, &mut stage);
        });
    }

    /// Computes a range of tiles block by block. Each element is read with the others of its block, and no
    /// other block reads its place.
    fn blocks(&self, tiled: &TiledProgram, tiles: Range<usize>, buffer: &mut Output<'_>) {
        let tiling = &tiled.tiling;
        let (start, count) = (tiling.start(tiles.start), tiling.start(tiles.end) - tiling.start(tiles.start));
        let middle = tiling.split_point(tiles.start + tiles.len() / 2);
        if count > BLOCK && middle > tiles.start {
            self.blocks(tiled, tiles.start..middle, buffer);
            return self.blocks(tiled, middle..tiles.end, buffer);
        }
        self.staged(start, count, buffer, |inputs, stage| {
            self.plan.compute_tiles(tiled, tiles.clone(), inputs, stage);
        });
    }

    /// Computes `count` elements from element `start` on into other memory, then writes them.
    fn staged(
        &self,
        start: usize,
        count: usize,
        buffer: &mut Output<'_>,
        compute: impl FnOnce(&[Input<'_>], Output<'_>),
    ) {
        let dtype = self.plan.dtype();
        let mut stage = stage(dtype, count);
        let mut inputs = self.destination.inputs(self.others, buffer.as_input());
        inputs.extend_from_slice(self.parts);
        compute(&inputs, Output::from(&mut stage).part(0, count));
        drop(inputs);
        by_dtype!(dtype, T => {
            let computed = T::input(&Input::from(&stage));
            self.destination.write(&computed[..count], start, T::output(buffer));
        });
        keep(stage);
    }
}

impl Plan {
    /// Computes the result of a request with `into` and writes it into `buffer`, the destination's, at the
    /// places of the destination's elements (clauses INTO-1 to INTO-4). The result is as if every operand had
    /// been read before anything was written; no other place of the buffer changes. `inputs` are the buffers
    /// of the operands other than the destination and those that read its buffer.
    ///
    /// Needs memory for the result if an operand reads places that are written for other elements, otherwise
    /// for a block of it, or none. Blocks are computed by one thread. Values that depend on some axes only
    /// may be computed before them, and need memory of their own.
    ///
    /// # Errors
    /// [`WrongBuffers`], if the plan's request has no destination or the buffers do not match the plan. Then
    /// nothing has been written.
    ///
    /// ```
    /// use broadcheck_fast::{Output, Plan};
    /// use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};
    ///
    /// // a += a[::-1]
    /// let arguments = [Expression::operand(0), Expression::operand(1)];
    /// let expression = Expression::call(Function::Add, arguments).unwrap();
    /// let a = Operand::dense("a", [4], vec![0.0; 4]).unwrap();
    /// let reversed = Operand::of(&a, "b", [4], Some(vec![-1]), Some(3)).unwrap();
    /// let operation = Operation::Into { expression, destination: 0 };
    /// let plan = Plan::new(&Request::new(Rules::Numpy, operation, vec![a, reversed]).unwrap()).unwrap();
    ///
    /// let mut values = [0.0, 1.0, 2.0, 3.0];
    /// plan.run_in_place(&[], Output::from(&mut values[..])).unwrap();
    /// assert_eq!(values, [3.0; 4]);
    /// ```
    pub fn run_in_place(&self, inputs: &[Input<'_>], mut buffer: Output<'_>) -> Result<(), WrongBuffers> {
        let destination = self.destination().ok_or(WrongBuffers::NoDestination)?;
        let own = destination.shares.iter().filter(|&&shares| !shares).count();
        if inputs.len() != own {
            return Err(WrongBuffers::Operands { found: inputs.len(), expected: own });
        }
        if buffer.dtype() != self.dtype() || buffer.len() < destination.reach {
            let (found, expected) = ((buffer.dtype(), buffer.len()), (self.dtype(), destination.reach));
            return Err(WrongBuffers::Output { found, expected });
        }
        self.check(&destination.inputs(inputs, buffer.as_input()))?;
        Writing { plan: self, destination, others: inputs, parts: &[] }.run(&mut buffer);
        Ok(())
    }
}
