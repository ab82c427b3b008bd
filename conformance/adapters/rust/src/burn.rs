//! burn on one of its CPU backends: its tensors under the rule set `numpy` for operands of equal ranks,
//! `expand`, and gradients with `backward`.
//!
//! In burn the rank of a tensor, and whether it contains floats, integers or bools, is part of its type. Its
//! functions broadcast between operands of the same rank, from 1 upwards. Different ranks and functions that
//! a kind of element does not have do not compile: the capabilities leave them out. Operands of different
//! kinds do not compile either; this is a rule about the request, so it is a refusal. Within a type burn
//! refuses by panicking. Only panics which say that shapes or dtypes are incompatible ([`REFUSALS`]) are
//! caught and answered as refusals.

use crate::programs::{self, Programs, Unwritable};
use crate::{
    MAX_ELEMENTS, NoResult, catching_refusals, evaluate, gradient_operand, is_differentiable, outcome,
    version_of,
};
use broadcheck_spec::{
    Capabilities, DType, Data, Element, Expression, Function, Implementation, Operand, Operation,
    OperationKind, Outcome, RefusalKind, Request, RuleSet, Tensor as Answer,
};
use burn_tensor::{Bool, DType as Type, Device, Int, Shape, Tensor, TensorData};

/// burn with one of its backends.
pub struct Burn {
    name: &'static str,
    device: Device,
    /// What makes the device, as text.
    constructor: &'static str,
    capabilities: Capabilities,
}

/// The highest rank for which this adapter is built.
const MAX_RANK: usize = 8;

impl Burn {
    /// burn on this device, which has the dtypes other than `absent`, and the ranks up to `max_rank`.
    /// `constructor` is the call that makes the device, as programs write it.
    pub fn new(
        name: &'static str,
        device: Device,
        constructor: &'static str,
        absent: &[DType],
        max_rank: usize,
    ) -> Burn {
        let dtypes: Vec<DType> = DType::ALL.into_iter().filter(|dtype| !absent.contains(dtype)).collect();
        let capabilities = Capabilities {
            rules: vec![RuleSet::Numpy],
            operations: vec![OperationKind::Elementwise, OperationKind::Broadcast, OperationKind::Gradient],
            strided: false,
            function_dtypes: Function::ALL
                .iter()
                .map(|&function| (function, having(function, &dtypes)))
                .collect(),
            dtypes,
            min_rank: 1,
            max_rank: Some(max_rank.min(MAX_RANK)),
            equal_ranks: true,
            scalars: false,
            unused_operands: false,
            max_elements: MAX_ELEMENTS,
            ..Capabilities::all()
        };
        Burn { name, device, constructor, capabilities }
    }
}

/// The dtypes among these whose tensors have a function.
fn having(function: Function, dtypes: &[DType]) -> Vec<DType> {
    let (floats, integers, bools) = match function {
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Maximum
        | Function::Minimum
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::Negate
        | Function::Abs => (true, true, false),
        Function::Power | Function::Sqrt | Function::Exp | Function::Log | Function::Tanh => {
            (true, false, false)
        }
        Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot => (false, false, true),
        Function::Equal | Function::NotEqual | Function::Select => (true, true, true),
    };
    let has = |dtype: &DType| match dtype {
        DType::Bool => bools,
        dtype if dtype.is_float() => floats,
        _ => integers,
    };
    dtypes.iter().copied().filter(has).collect()
}

impl Implementation for Burn {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &str {
        version_of("burn-tensor")
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, request: &Request) -> Outcome {
        outcome(catching_refusals(refusal, || answer(request, &self.device)))
    }
}

impl Programs for Burn {
    fn program(&self, request: &Request) -> Result<String, Unwritable> {
        programs::burn::write(request, self.constructor)
    }
}

/// How the messages of panics begin that are refusals, from burn's own checks or from its backends where burn
/// has no check; with the kind if burn's words are unambiguous.
const REFUSALS: [(&str, Option<RefusalKind>); 8] = [
    ("=== Tensor Operation Error ===", None),
    ("broadcast_shape: incompatible dimensions", Some(RefusalKind::DimensionMismatch)),
    ("expand: cannot expand dimension", None),
    ("expand: target rank", None),
    ("The shapes should be broadcastable", None),
    ("storage: dtype mismatch", Some(RefusalKind::DTypeMismatch)),
    ("Data type mismatch", Some(RefusalKind::DTypeMismatch)),
    ("Tensor::backward requires a tracked autodiff tensor", None),
];

/// Whether a panic is a refusal, and of which kind.
fn refusal(panic: &str) -> Option<Option<RefusalKind>> {
    REFUSALS.iter().find(|(words, _)| panic.starts_with(words)).map(|(_, kind)| *kind)
}

/// A burn tensor of any kind.
#[derive(Clone)]
enum Value<const D: usize> {
    Float(Tensor<D>),
    Int(Tensor<D, Int>),
    Bool(Tensor<D, Bool>),
}

/// The expression with `$rank` as a constant, because burn's ranks are part of its types.
macro_rules! with_rank {
    ($value:expr, $rank:ident => $body:expr) => {
        match $value {
            1 => with_rank!(@ 1, $rank, $body),
            2 => with_rank!(@ 2, $rank, $body),
            3 => with_rank!(@ 3, $rank, $body),
            4 => with_rank!(@ 4, $rank, $body),
            5 => with_rank!(@ 5, $rank, $body),
            6 => with_rank!(@ 6, $rank, $body),
            7 => with_rank!(@ 7, $rank, $body),
            8 => with_rank!(@ 8, $rank, $body),
            other => unreachable!("rank {other} is not declared"),
        }
    };
    (@ $literal:literal, $rank:ident, $body:expr) => {{
        const $rank: usize = $literal;
        $body
    }};
}

fn answer(request: &Request, device: &Device) -> Result<Answer, NoResult> {
    with_rank!(request.operands()[0].rank(), D => answer_in::<D>(request, device))
}

fn answer_in<const D: usize>(request: &Request, device: &Device) -> Result<Answer, NoResult> {
    let wrt = gradient_operand(request);
    let device = if wrt.is_some() { device.clone().autodiff() } else { device.clone() };
    let read = |operand| read::<D>(operand, &device);
    let mut operands: Vec<Value<D>> = request.operands().iter().map(read).collect();
    match request.operation() {
        Operation::Broadcast { target_shape } => {
            with_rank!(target_shape.rank(), TARGET => {
                write(expand::<D, TARGET>(operands.remove(0), target_shape.lengths()))
            })
        }
        Operation::Elementwise { expression } => write(evaluate(expression, &operands, call)?),
        Operation::Gradient { expression, wrt } => gradient(expression, operands, *wrt),
        Operation::Into { .. } => Err(NoResult::Skipped("no destinations".into())),
        Operation::Vjp { .. } => Err(NoResult::Skipped("no cotangents".into())),
    }
}

fn expand<const D: usize, const TARGET: usize>(value: Value<D>, target: &[usize]) -> Value<TARGET> {
    let target = Shape::from(target.to_vec());
    match value {
        Value::Float(tensor) => Value::Float(tensor.expand::<TARGET, Shape>(target)),
        Value::Int(tensor) => Value::Int(tensor.expand::<TARGET, Shape>(target)),
        Value::Bool(tensor) => Value::Bool(tensor.expand::<TARGET, Shape>(target)),
    }
}

fn gradient<const D: usize>(
    expression: &Expression,
    mut operands: Vec<Value<D>>,
    wrt: usize,
) -> Result<Answer, NoResult> {
    let Value::Float(leaf) = operands[wrt].clone() else {
        return Err(NoResult::refused(None, "`require_grad` does not compile for this kind of tensor"));
    };
    let leaf = leaf.require_grad();
    operands[wrt] = Value::Float(leaf.clone());
    let Value::Float(root) = evaluate(expression, &operands, call)? else {
        return Err(NoResult::refused(None, "`backward` does not compile for this kind of tensor"));
    };
    if !is_differentiable(expression, wrt) {
        return write(Value::Float(leaf.zeros_like()));
    }
    let gradient = leaf.grad(&root.sum().backward());
    write(Value::Float(gradient.ok_or_else(|| NoResult::refused(None, "burn returns no gradient"))?))
}

/// A function of two tensors of floats or of integers.
macro_rules! binary {
    ($function:expr, $a:expr, $b:expr, $kind:ident) => {{
        let (a, b) = ($a.clone(), $b.clone());
        match $function {
            Function::Add => Some($kind(a.add(b))),
            Function::Subtract => Some($kind(a.sub(b))),
            Function::Multiply => Some($kind(a.mul(b))),
            Function::Divide => Some($kind(a.div(b))),
            Function::Maximum => Some($kind(a.max_pair(b))),
            Function::Minimum => Some($kind(a.min_pair(b))),
            Function::Equal => Some(Bool(a.equal(b))),
            Function::NotEqual => Some(Bool(a.not_equal(b))),
            Function::Less => Some(Bool(a.lower(b))),
            Function::LessEqual => Some(Bool(a.lower_equal(b))),
            Function::Greater => Some(Bool(a.greater(b))),
            Function::GreaterEqual => Some(Bool(a.greater_equal(b))),
            _ => None,
        }
    }};
}

fn call<const D: usize>(function: Function, arguments: &[Value<D>]) -> Result<Value<D>, NoResult> {
    use Value::{Bool, Float, Int};
    let value = match arguments {
        [Float(a)] => float_unary(function, a.clone()).map(Float),
        [Int(a)] => match function {
            Function::Negate => Some(Int(a.clone().neg())),
            Function::Abs => Some(Int(a.clone().abs())),
            _ => None,
        },
        [Bool(a)] => (function == Function::LogicalNot).then(|| Bool(a.clone().bool_not())),
        [Float(a), Float(b)] if function == Function::Power => Some(Float(a.clone().powf(b.clone()))),
        [Float(a), Float(b)] => binary!(function, a, b, Float),
        [Int(a), Int(b)] => binary!(function, a, b, Int),
        [Bool(a), Bool(b)] => logic(function, a.clone(), b.clone()).map(Bool),
        [Bool(condition), Float(then), Float(other)] => {
            Some(Float(other.clone().mask_where(condition.clone(), then.clone())))
        }
        [Bool(condition), Int(then), Int(other)] => {
            Some(Int(other.clone().mask_where(condition.clone(), then.clone())))
        }
        [Bool(condition), Bool(then), Bool(other)] => {
            Some(Bool(other.clone().mask_where(condition.clone(), then.clone())))
        }
        _ => None,
    };
    value.ok_or_else(|| {
        NoResult::refused(None, format!("`{function}` does not compile for these kinds of tensor"))
    })
}

fn float_unary<const D: usize>(function: Function, a: Tensor<D>) -> Option<Tensor<D>> {
    Some(match function {
        Function::Negate => a.neg(),
        Function::Abs => a.abs(),
        Function::Sqrt => a.sqrt(),
        Function::Exp => a.exp(),
        Function::Log => a.log(),
        Function::Tanh => a.tanh(),
        _ => return None,
    })
}

fn logic<const D: usize>(
    function: Function,
    a: Tensor<D, Bool>,
    b: Tensor<D, Bool>,
) -> Option<Tensor<D, Bool>> {
    Some(match function {
        Function::LogicalAnd => a.bool_and(b),
        Function::LogicalOr => a.bool_or(b),
        Function::Equal => a.equal(b),
        Function::NotEqual => a.not_equal(b),
        _ => return None,
    })
}

fn read<const D: usize>(operand: &Operand, device: &Device) -> Value<D> {
    let shape = operand.shape().lengths();
    macro_rules! tensor {
        ($values:expr, $type:expr) => {
            Tensor::from_data(TensorData::new($values.clone(), shape.to_vec()), (device, $type))
        };
    }
    match operand.values() {
        Data::F64(values) => Value::Float(tensor!(values, Type::F64)),
        Data::F32(values) => Value::Float(tensor!(values, Type::F32)),
        Data::F16(values) => Value::Float(tensor!(values, Type::F16)),
        Data::Bf16(values) => Value::Float(tensor!(values, Type::BF16)),
        Data::I64(values) => Value::Int(tensor!(values, Type::I64)),
        Data::I32(values) => Value::Int(tensor!(values, Type::I32)),
        Data::I16(values) => Value::Int(tensor!(values, Type::I16)),
        Data::I8(values) => Value::Int(tensor!(values, Type::I8)),
        Data::U64(values) => Value::Int(tensor!(values, Type::U64)),
        Data::U32(values) => Value::Int(tensor!(values, Type::U32)),
        Data::U16(values) => Value::Int(tensor!(values, Type::U16)),
        Data::U8(values) => Value::Int(tensor!(values, Type::U8)),
        Data::Bool(values) => {
            Value::Bool(Tensor::from_data(TensorData::new(values.clone(), shape.to_vec()), device))
        }
    }
}

/// burn's answer as a tensor of the protocol.
fn write<const D: usize>(value: Value<D>) -> Result<Answer, NoResult> {
    let data = match value {
        Value::Float(tensor) => tensor.into_data(),
        Value::Int(tensor) => tensor.into_data(),
        Value::Bool(tensor) => tensor.into_data(),
    };
    let shape = data.shape().as_slice().to_vec();
    let values = match data.dtype() {
        Type::F64 => elements::<f64>(&data),
        Type::F32 => elements::<f32>(&data),
        Type::F16 => elements::<burn_tensor::f16>(&data),
        Type::BF16 => elements::<burn_tensor::bf16>(&data),
        Type::I64 => elements::<i64>(&data),
        Type::I32 => elements::<i32>(&data),
        Type::I16 => elements::<i16>(&data),
        Type::I8 => elements::<i8>(&data),
        Type::U64 => elements::<u64>(&data),
        Type::U32 => elements::<u32>(&data),
        Type::U16 => elements::<u16>(&data),
        Type::U8 => elements::<u8>(&data),
        Type::Bool(_) => elements::<bool>(&data),
        other => return Err(NoResult::Errored(format!("burn answered with the dtype {other:?}"))),
    };
    Answer::new(shape, values).map_err(NoResult::Errored)
}

fn elements<T: Element + burn_tensor::Element>(data: &TensorData) -> Data {
    T::into_data(data.iter::<T>().collect())
}
