//! A small strided engine that is made to be broken: every decision on the way from a request to its answer
//! is a function that a fault can replace.
//!
//! The stages, each in its own file with its decisions and their correct versions: `types`; `shapes`, `pdpd`,
//! `xla`, `theano`, `leading` and `repeat`, which align operands with the result; `sizes`; `strides`, which
//! lowers the operands to strides; `collapse`; `rewrite`, which optimises an expression; `blocks`, which
//! traverses the loop nest in blocks with tails and gathers operands into registers; `evaluate`, which
//! computes an expression, with `lanes`, the innermost loop of a vectorised kernel; `adjoint`, which sums a
//! gradient to its operand's shape; `into`, which writes into a destination; `state`, which is what remains
//! between requests. Without a fault the engine is correct, as the whole suite and the generator's requests
//! confirm. `infer` answers what is known of a result before the run.
//!
//! It shares nothing with the reference except the functions on single values, which the faults are not
//! about.

#![warn(clippy::wildcard_enum_match_arm)]

pub(super) mod adjoint;
pub(super) mod blocks;
pub(super) mod collapse;
pub(super) mod convert;
pub(super) mod evaluate;
pub(super) mod infer;
pub(super) mod into;
pub(super) mod lanes;
pub(super) mod leading;
pub(super) mod pdpd;
pub(super) mod repeat;
pub(super) mod rewrite;
pub(super) mod shapes;
pub(super) mod sizes;
pub(super) mod state;
pub(super) mod strides;
pub(super) mod theano;
pub(super) mod types;
pub(super) mod xla;

use blocks::Source;
use broadcheck_spec::{
    DType, Data, ErrorKind, Inference, Operand, Operation, Outcome, Refusal, RefusalKind, Request, Rules,
    Scalar, Shape, Signature, Success, Tensor,
};
use collapse::LoopNest;
use convert::{convert, zero};
use evaluate::{Context, Input};
use rewrite::{Facts, Program};
use state::{Memory, Plan};
use std::sync::{Mutex, PoisonError};

/// The largest result, in elements. The engine is not meant for large ones.
pub(super) const MAX_ELEMENTS: usize = 1 << 22;

/// How operands are aligned with the result.
#[derive(Clone, Debug)]
pub(super) struct Aligned {
    pub(super) shape: Vec<usize>,
    /// For each operand, for each of its axes, the axis of the result.
    pub(super) axes: Vec<Vec<Option<usize>>>,
    /// For xla: the shape after the in-dim step.
    pub(super) intermediate: Option<Vec<usize>>,
    /// For theano: the flags of the result.
    pub(super) flags: Option<Vec<bool>>,
    /// For repeat: whether the last operand starts again at the end of an axis.
    pub(super) repeats: bool,
}

impl Aligned {
    fn new(shape: Vec<usize>, axes: Vec<Vec<Option<usize>>>) -> Aligned {
        Aligned { shape, axes, intermediate: None, flags: None, repeats: false }
    }
}

/// All decisions.
#[derive(Clone, Default)]
pub(super) struct Decisions {
    pub(super) types: types::Types,
    pub(super) shapes: shapes::Shapes,
    pub(super) pdpd: pdpd::Pdpd,
    pub(super) xla: xla::Xla,
    pub(super) theano: theano::Theano,
    pub(super) leading: leading::Leading,
    pub(super) repeat: repeat::Repeat,
    pub(super) sizes: sizes::Sizes,
    pub(super) strides: strides::Strides,
    pub(super) collapse: collapse::Collapse,
    pub(super) rewrite: rewrite::Rewrite,
    pub(super) blocks: blocks::Blocks,
    pub(super) evaluate: evaluate::Evaluate,
    pub(super) lanes: lanes::Lanes,
    pub(super) adjoint: adjoint::Adjoint,
    pub(super) into: into::Into,
    pub(super) state: state::State,
    pub(super) infer: infer::Infer,
}

impl Decisions {
    /// The answer to a request.
    pub(super) fn answer(&self, request: &Request, memory: &Mutex<Memory>) -> Outcome {
        if !self.state.remembers {
            return self.accepted(request, &mut Memory::default()).unwrap_or_else(Outcome::Refusal);
        }
        // A request that panicked leaves the memory as it was, which is what a fault may do.
        let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = &mut *memory;
        let replaced = (self.state.before)(memory, request);
        let asked = replaced.as_ref().unwrap_or(request);
        let key = (self.state.result)(asked);
        let kept = key.and_then(|key| memory.result(key).cloned());
        let outcome = kept.unwrap_or_else(|| self.accepted(asked, memory).unwrap_or_else(Outcome::Refusal));
        if let Some(key) = key {
            memory.keep_result(key, outcome.clone());
        }
        let outcome = (self.state.after)(memory, request, outcome);
        memory.request = Some(request.clone());
        memory.outcome = Some(outcome.clone());
        memory.asked += 1;
        outcome
    }

    /// What is known of the result of a signature before the run.
    pub(super) fn inference(&self, signature: &Signature) -> Outcome<Inference> {
        self.infer.answer(&self.types, &self.xla, (&self.leading, &self.repeat), signature)
    }

    fn accepted(&self, request: &Request, memory: &mut Memory) -> Result<Outcome, Refusal> {
        let key = (self.state.plan)(request);
        if let Some(plan) = key.and_then(|key| memory.plan(key))
            && plan.operands == request.operands().len()
        {
            return Ok(self.run(request, plan));
        }
        let plan = self.planned(request)?;
        if let Some(outcome) = not_computed(request, &plan.aligned) {
            return Ok(outcome);
        }
        let outcome = self.run(request, &plan);
        if let Some(key) = key {
            memory.keep_plan(key, plan);
        }
        Ok(outcome)
    }

    /// Checks a request and decides how it is computed.
    fn planned(&self, request: &Request) -> Result<Plan, Refusal> {
        let operands = request.operands();
        if !(self.shapes.operand_count)(request.rules().set(), operands.len()) {
            return Err(Refusal::new(RefusalKind::OperandCount, "too many operands"));
        }
        let shapes = self.shapes_of(request);
        if !self.types.before_shapes {
            self.align(request, &shapes)?;
        }
        let dtype = self.types.check(request)?;
        if !self.sizes.last {
            self.sizes.check_given(request, &shapes)?;
        }
        let aligned = self.align(request, &shapes)?;
        self.sizes.check_given(request, &shapes)?;
        self.sizes.check_result(request, &aligned)?;
        if let Some(cotangent) = request.cotangent() {
            self.adjoint.check_cotangent(cotangent, dtype, &aligned.shape)?;
        }
        if let Some(place) = request.operation().destination() {
            self.check_destination(request, place, dtype, &aligned.shape)?;
        }
        let all: Vec<&Operand> = operands.iter().collect();
        let program = match request.operation() {
            Operation::Elementwise { expression } | Operation::Into { expression, .. } => {
                self.rewrite.program(expression, &Facts { operands: &all, gradient: false })
            }
            Operation::Gradient { expression, .. } | Operation::Vjp { expression, .. } => {
                self.rewrite.program(expression, &Facts { operands: &all, gradient: true })
            }
            Operation::Broadcast { .. } => Program::operand(0),
        };
        let nest = match not_computed(request, &aligned) {
            // Its element counts may overflow.
            Some(_) => LoopNest { axes: Vec::new(), offsets: Vec::new() },
            None => self.nest(&all, &shapes, &aligned),
        };
        Ok(Plan { dtype, aligned, nest, program, operands: operands.len() })
    }

    fn run(&self, request: &Request, plan: &Plan) -> Outcome {
        match request.operation() {
            Operation::Elementwise { .. } | Operation::Broadcast { .. } => self.elementwise(request, plan),
            Operation::Into { destination, .. } => self.written(request, *destination, plan),
            Operation::Gradient { wrt, .. } | Operation::Vjp { wrt, .. } => {
                self.gradient(request, *wrt, plan)
            }
        }
    }

    /// The lengths of each operand; those of a scalar for an operand that is ignored.
    fn shapes_of(&self, request: &Request) -> Vec<Vec<usize>> {
        let read = |operand: usize| request.operation().expression().is_none_or(|found| found.reads(operand));
        let lengths = |(place, operand): (usize, &Operand)| match (self.shapes.takes_part)(read(place)) {
            true => (self.shapes.lengths)(operand),
            false => Vec::new(),
        };
        let shapes = request.operands().iter().enumerate().map(lengths).collect();
        let used: Vec<bool> = (0..request.operands().len()).map(read).collect();
        (self.shapes.given)(shapes, &used)
    }

    fn align(&self, request: &Request, shapes: &[Vec<usize>]) -> Result<Aligned, Refusal> {
        match (request.rules(), request.operation().target_shape()) {
            (Rules::Numpy, Some(target_shape)) => self.shapes.onto_target(&shapes[0], target_shape),
            (Rules::Xla { broadcast_dimensions }, Some(target_shape)) => {
                self.xla.onto_target(&shapes[0], target_shape, broadcast_dimensions.as_deref())
            }
            (Rules::Repeat, Some(target_shape)) => self.repeat.onto_target(&shapes[0], target_shape),
            (Rules::Repeat, _) if shapes.len() == 2 => self.repeat.align(&shapes[0], &shapes[1]),
            (Rules::Repeat, _) => self.repeat.alone(&self.shapes, shapes),
            (Rules::Leading, Some(target_shape)) => {
                self.leading.onto_target(&self.shapes, &shapes[0], target_shape)
            }
            (_, Some(target_shape)) => self.shapes.toward_target(&shapes[0], target_shape),
            (Rules::None, _) => self.shapes.none(shapes),
            (Rules::Leading, _) => self.leading.align(&self.shapes, shapes),
            (Rules::Theano, _) => self.theano.align(request.operands(), shapes),
            (Rules::Pdpd { axis }, _) if shapes.len() == 2 => self.pdpd.align(&shapes[0], &shapes[1], *axis),
            (Rules::Xla { broadcast_dimensions }, _) if shapes.len() == 2 => {
                self.xla.align(shapes, broadcast_dimensions.as_deref())
            }
            // A single operand, or more than the rule set takes, which only a fault accepts.
            (Rules::Pdpd { .. } | Rules::Xla { .. }, _) => self.shapes.numpy(shapes),
            (Rules::Numpy | Rules::Bidirectional, _) => self.shapes.numpy(shapes),
        }
    }

    /// The loop nest for some operands under a result.
    fn nest(&self, operands: &[&Operand], shapes: &[Vec<usize>], aligned: &Aligned) -> LoopNest {
        let nest = self.strides.lower(operands, shapes, aligned);
        self.collapse.collapsed(self.repeat.cut(nest, shapes, aligned))
    }

    fn elementwise(&self, request: &Request, plan: &Plan) -> Outcome {
        let operands: Vec<&Operand> = request.operands().iter().collect();
        let aligned = &plan.aligned;
        let values = self.computed(&plan.program, &operands, &plan.nest, aligned, plan.dtype);
        let tensor = match tensor(plan.dtype, &aligned.shape, values) {
            Ok(tensor) => tensor,
            Err(message) => return Outcome::errored(ErrorKind::Reported, message),
        };
        let intermediate = aligned.intermediate.as_ref().and_then(|shape| {
            let lower = usize::from(operands[0].rank() > operands[1].rank());
            let axes = vec![aligned.axes[lower].clone()];
            let aligned = Aligned::new(shape.clone(), axes);
            within_limit(shape).then_some(())?;
            let (operands, shapes) = ([operands[lower]], [self.shapes_of(request)[lower].clone()]);
            let dtype = operands[0].dtype();
            let nest = self.nest(&operands, &shapes, &aligned);
            let values = self.computed(&Program::operand(0), &operands, &nest, &aligned, dtype);
            self::tensor(dtype, shape, values).ok()
        });
        Outcome::Success(Success { tensor, intermediate, broadcastable: aligned.flags.clone(), buffer: None })
    }

    /// The values of a program, row-major.
    fn computed(
        &self,
        program: &Program,
        operands: &[&Operand],
        nest: &LoopNest,
        aligned: &Aligned,
        dtype: DType,
    ) -> Vec<Scalar> {
        let (sources, inputs) = (self.sources(operands), self.inputs(operands, nest));
        let context = Context { inputs: &inputs, lanes: &self.lanes, keep: false };
        let mut values = vec![zero(dtype); aligned.shape.iter().product()];
        self.blocks.walk(nest, &sources, |piece, registers| {
            let block = self.evaluate.block(program, &context, registers, piece);
            let root = block.registers[block.place[block.place.len() - 1]];
            for (lane, &value) in root.iter().enumerate().take(piece.count) {
                if let Some(slot) = values.get_mut(piece.at + lane) {
                    *slot = (self.evaluate.stored)(value, dtype);
                }
            }
            // If a fault overwrites an operand's register, the next block sees that as well.
            registers.copy_from_slice(&block.registers[..registers.len()]);
        });
        values
    }

    fn gradient(&self, request: &Request, wrt: usize, plan: &Plan) -> Outcome {
        let operands: Vec<&Operand> = request.operands().iter().collect();
        let aligned = &plan.aligned;
        let (sources, inputs) = (self.sources(&operands), self.inputs(&operands, &plan.nest));
        let context = Context { inputs: &inputs, lanes: &self.lanes, keep: true };
        let weights = self.adjoint.weights_of(request.cotangent(), &aligned.shape);
        let mut arrived = vec![0.0; aligned.shape.iter().product()];
        self.blocks.walk(&plan.nest, &sources, |piece, registers| {
            let block = self.evaluate.block(&plan.program, &context, registers, piece);
            for lane in 0..piece.count {
                if let Some(slot) = arrived.get_mut(piece.at + lane) {
                    let weight = weights.get(piece.at + lane).copied().unwrap_or(f64::NAN);
                    *slot = self.adjoint.lane(&plan.program, wrt, &block, lane, weight);
                }
            }
        });
        let cut = self.repeat.summed(&self.shapes_of(request), aligned, wrt);
        let (shape, sums) = if aligned.repeats && aligned.shape.contains(&0) {
            // REPEAT-4: nothing arrives, whatever the lengths of B are.
            let own = operands[wrt].shape();
            (own.to_vec(), vec![0.0; own.iter().product()])
        } else {
            self.adjoint.sum_to_shape(arrived, operands[wrt], cut.as_ref().unwrap_or(aligned), wrt)
        };
        let dtype = operands[wrt].dtype();
        let values = sums.into_iter().map(|sum| convert(Scalar::F64(sum), dtype)).collect();
        match tensor(dtype, &shape, values) {
            Ok(tensor) => Outcome::Success(Success::from(tensor)),
            Err(message) => Outcome::errored(ErrorKind::Reported, message),
        }
    }

    fn sources<'a>(&self, operands: &[&'a Operand]) -> Vec<Source<'a>> {
        let source = |operand: &&'a Operand| Source {
            data: operand.values(),
            dtype: (self.evaluate.computed_in)(operand.dtype()),
        };
        operands.iter().map(source).collect()
    }

    fn inputs(&self, operands: &[&Operand], nest: &LoopNest) -> Vec<Input> {
        let inner = |operand: usize| nest.axes.last().map_or(0, |axis| axis.strides[operand]);
        let input = |(place, operand): (usize, &&Operand)| Input {
            rank: operand.rank(),
            splat: inner(place) == 0,
            register: (self.blocks.register)(place),
        };
        operands.iter().enumerate().map(input).collect()
    }
}

/// The outcome of a request that is accepted but not computed, because it has too many elements, by the limit
/// or by a fault.
fn not_computed(request: &Request, aligned: &Aligned) -> Option<Outcome> {
    let wrt = request.operation().wrt().map(|wrt| request.operands()[wrt].shape().lengths());
    let shapes = [Some(&aligned.shape[..]), wrt];
    let too_large = shapes.into_iter().flatten().find(|shape| !within_limit(shape))?;
    let shape = Shape::from(too_large);
    Some(match shape.count() {
        Some(_) => Outcome::Skipped { reason: format!("a result of shape {shape} exceeds the limit") },
        None => Outcome::errored(ErrorKind::Reported, format!("no memory for shape {shape}")),
    })
}

fn within_limit(shape: &[usize]) -> bool {
    Shape::from(shape).count().is_some_and(|count| count <= MAX_ELEMENTS)
}

fn tensor(dtype: DType, shape: &[usize], values: Vec<Scalar>) -> Result<Tensor, String> {
    let data = Data::from_scalars(dtype, values);
    let data = data.map_err(|value| format!("a value of {} in a result of {dtype}", value.dtype()))?;
    Tensor::new(shape, data)
}
