//! Evaluates the expression over a block: one function at a time, each into a register, and each rounded as
//! if it were stored.

use super::blocks::{BLOCK, Block, Register};
use super::convert::{convert, zero};
use super::lanes::{Lane, Lanes};
use super::rewrite::{Kernel, Program, Step};
use broadcheck_reference::apply;
use broadcheck_spec::{DType, Function, Scalar};

/// The arguments of a function.
pub(crate) struct Site<'a> {
    /// For each argument that is an operand, its rank.
    pub(crate) ranks: &'a [Option<usize>],
    /// For each argument that is an operand, its index.
    pub(crate) operands: &'a [Option<usize>],
    /// For each argument that is an operand, whether its stride in the innermost loop is 0.
    pub(crate) splats: &'a [Option<bool>],
}

/// The decisions about evaluation.
#[derive(Clone)]
pub(crate) struct Evaluate {
    /// The dtype in which values of a dtype are computed.
    pub(crate) computed_in: fn(DType) -> DType,
    /// Whether the two arguments are swapped.
    pub(crate) exchanged: fn(&Site<'_>) -> bool,
    /// Whether a function may overwrite its first argument, from whether that is an operand's register.
    pub(crate) overwrites: fn(bool) -> bool,
    /// Whether a function is fused with that of its first argument, so that both round once.
    pub(crate) contracts: fn(Function, Function) -> bool,
    /// The lane whose condition is used for this lane.
    pub(crate) condition: fn(usize) -> usize,
    /// Applies a function to values.
    pub(crate) apply: fn(Function, &[Scalar]) -> Scalar,
    /// Converts a value to the dtype of the result.
    pub(crate) stored: fn(Scalar, DType) -> Scalar,
    /// The register of an intermediate value, from the number of such registers in use.
    pub(crate) temporary: fn(usize) -> usize,
}

impl Default for Evaluate {
    fn default() -> Evaluate {
        Evaluate {
            computed_in: |dtype| dtype,
            exchanged: |_| false,
            // The result of each function is read only once.
            overwrites: |is_operand| !is_operand,
            contracts: |_, _| false,
            condition: |lane| lane,
            apply,
            stored: convert,
            temporary: |number| number,
        }
    }
}

/// What evaluation knows about an operand.
#[derive(Clone, Copy)]
pub(super) struct Input {
    pub(super) rank: usize,
    pub(super) splat: bool,
    pub(super) register: usize,
}

/// The values of the nodes of an expression over a block: the registers, and the register of each node.
pub(super) struct Values {
    pub(super) registers: Vec<Register>,
    pub(super) place: Vec<usize>,
}

/// A call with its arguments.
struct Called<'a> {
    function: Function,
    kernel: Option<Kernel>,
    arguments: &'a [usize],
}

/// What a program is evaluated with.
pub(super) struct Context<'a> {
    pub(super) inputs: &'a [Input],
    pub(super) lanes: &'a Lanes,
    /// Whether the values of all steps must still be available at the end.
    pub(super) keep: bool,
}

impl Evaluate {
    /// Evaluates a block.
    pub(super) fn block(
        &self,
        program: &Program,
        context: &Context<'_>,
        registers: &[Register],
        block: Block,
    ) -> Values {
        let steps = &program.steps;
        let mut values = Values { registers: registers.to_vec(), place: Vec::with_capacity(steps.len()) };
        for step in steps {
            let place = match step {
                Step::Operand(operand) => context.inputs[*operand].register,
                Step::Constant(value) => {
                    values.registers.push([*value; BLOCK]);
                    values.registers.len() - 1
                }
                Step::Call { function, kernel, arguments } => {
                    let called = Called { function: *function, kernel: *kernel, arguments };
                    self.call(&called, steps, context, block, &mut values)
                }
            };
            values.place.push(place);
        }
        values
    }

    fn call(
        &self,
        call: &Called<'_>,
        steps: &[Step],
        context: &Context<'_>,
        block: Block,
        values: &mut Values,
    ) -> usize {
        let inputs = context.inputs;
        let operands: Vec<Option<usize>> = call
            .arguments
            .iter()
            .map(|&place| if let Step::Operand(operand) = steps[place] { Some(operand) } else { None })
            .collect();
        let ranks: Vec<_> =
            operands.iter().map(|operand| operand.map(|operand| inputs[operand].rank)).collect();
        let splats: Vec<_> =
            operands.iter().map(|operand| operand.map(|operand| inputs[operand].splat)).collect();
        let site = Site { ranks: &ranks, operands: &operands, splats: &splats };
        let mut from: Vec<usize> = call.arguments.iter().map(|&place| values.place[place]).collect();
        if from.len() == 2 && (self.exchanged)(&site) {
            from.swap(0, 1);
        }
        let product =
            self.product(call, steps).map(|factors| factors.map(|operand| inputs[operand].register));
        let mut answer = [zero(DType::Bool); BLOCK];
        for (lane, slot) in answer.iter_mut().enumerate().take(block.count) {
            let mut arguments: Vec<Scalar> =
                from.iter().map(|&place| values.registers[place][lane]).collect();
            if call.function == Function::Select {
                arguments[0] = values.registers[from[0]][(self.condition)(lane)];
            }
            let product = product.map(|[a, b]| [values.registers[a][lane], values.registers[b][lane]]);
            *slot = match product.and_then(|product| contracted(product, arguments[1])) {
                Some(value) => value,
                None => match call.kernel {
                    Some(kernel) => (kernel.by)(&arguments),
                    None => {
                        let arguments = alike(call.function, arguments);
                        let value = (self.apply)(call.function, &arguments);
                        let lane = Lane {
                            function: call.function,
                            arguments: &arguments,
                            splats: &splats,
                            place: block.place + lane,
                            length: block.length,
                            run: block.run,
                        };
                        (context.lanes.value)(&lane, value)
                    }
                },
            };
        }
        let same_dtype = values.registers[from[0]][0].dtype() == answer[0].dtype();
        if !context.keep && same_dtype && (self.overwrites)(operands[0].is_some()) {
            values.registers[from[0]] = answer;
            return from[0];
        }
        let first = inputs.len();
        let place = first + (self.temporary)(values.registers.len().saturating_sub(first));
        match values.registers.get_mut(place) {
            Some(register) => {
                *register = answer;
                place
            }
            None => {
                values.registers.push(answer);
                values.registers.len() - 1
            }
        }
    }

    /// The factors, if the first argument is a product of operands with which this function is fused.
    fn product(&self, call: &Called<'_>, steps: &[Step]) -> Option<[usize; 2]> {
        let Step::Call { function, arguments, .. } = &steps[*call.arguments.first()?] else { return None };
        if !(self.contracts)(call.function, *function) {
            return None;
        }
        match arguments[..] {
            [a, b] => match (&steps[a], &steps[b]) {
                (Step::Operand(a), Step::Operand(b)) => Some([*a, *b]),
                _ => None,
            },
            _ => None,
        }
    }
}

/// a · b + c, rounded once.
fn contracted(product: [Scalar; 2], addend: Scalar) -> Option<Scalar> {
    match (product, addend) {
        ([Scalar::F64(a), Scalar::F64(b)], Scalar::F64(c)) => Some(Scalar::F64(a.mul_add(b, c))),
        ([Scalar::F32(a), Scalar::F32(b)], Scalar::F32(c)) => Some(Scalar::F32(a.mul_add(b, c))),
        _ => None,
    }
}

/// Converts the arguments to one dtype. They already have one, unless a fault accepted several.
fn alike(function: Function, mut arguments: Vec<Scalar>) -> Vec<Scalar> {
    let first = usize::from(function == Function::Select);
    let dtype = arguments[first..].iter().map(|value| value.dtype()).reduce(super::convert::wider);
    if let Some(dtype) = dtype {
        for argument in &mut arguments[first..] {
            *argument = convert(*argument, dtype);
        }
    }
    if first == 1 {
        arguments[0] = convert(arguments[0], DType::Bool);
    }
    arguments
}
