//! tract: a typed model of each request, optimised and run, under the rule set `numpy`; and its
//! MultiBroadcastTo.
//!
//! The model is built as tract's own importers build theirs: `wire_with_rank_broadcast` makes the ranks
//! equal, and the typed operation broadcasts with `tract_core::broadcast`. tract checks some lengths when it
//! builds the model and some when it runs it; its messages say which error is a refusal. It has no gradients.

use broadcheck_adapters::programs::{self, Programs, Unwritable};
use broadcheck_adapters::{MAX_ELEMENTS, NoResult, evaluate, limit, outcome, serve, shortened, version_of};
use broadcheck_spec::{
    Capabilities, DType, Data, Element, Function, Implementation, Operand, Operation, OperationKind, Outcome,
    Request, RuleSet, Tensor as Answer,
};
use std::process::ExitCode;
use tract_core::internal::*;
use tract_core::ops::array::MultiBroadcastTo;
use tract_core::ops::binary::TypedBinOp;
use tract_core::ops::{logic, math};

fn main() -> ExitCode {
    serve(&Tract { version: version_of("tract-core"), capabilities: capabilities() })
}

struct Tract {
    version: &'static str,
    capabilities: Capabilities,
}

fn capabilities() -> Capabilities {
    Capabilities {
        rules: vec![RuleSet::Numpy],
        operations: vec![OperationKind::Elementwise, OperationKind::Broadcast],
        strided: false,
        function_dtypes: [
            // tract compares numbers, and refuses to negate unsigned integers other than u8.
            (Function::Equal, without(&[DType::Bool])),
            (Function::NotEqual, without(&[DType::Bool])),
            (Function::Negate, without(&[DType::U16, DType::U32, DType::U64])),
        ]
        .into(),
        dtypes: without(&[]),
        unused_operands: false,
        max_elements: MAX_ELEMENTS,
        ..Capabilities::all()
    }
}

/// tract's dtypes without these.
fn without(absent: &[DType]) -> Vec<DType> {
    DType::ALL.into_iter().filter(|dtype| *dtype != DType::Bf16 && !absent.contains(dtype)).collect()
}

impl Implementation for Tract {
    fn name(&self) -> &str {
        "tract"
    }

    fn version(&self) -> &str {
        self.version
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, request: &Request) -> Outcome {
        outcome(answer(request))
    }
}

impl Programs for Tract {
    fn program(&self, request: &Request) -> Result<String, Unwritable> {
        programs::tract::write(request)
    }
}

fn answer(request: &Request) -> Result<Answer, NoResult> {
    let tensors: Vec<Tensor> =
        request.operands().iter().map(read).collect::<TractResult<_>>().map_err(no_result)?;
    let model = model(request, &tensors).map_err(no_result)?;
    let fact = model.output_fact(0).map_err(no_result)?;
    if let Some(shape) = fact.shape.as_concrete() {
        limit(shape)?;
    }
    let ran = || {
        let inputs = tensors.into_iter().map(IntoTValue::into_tvalue).collect();
        model.into_optimized()?.into_runnable()?.run(inputs)
    };
    let mut results = ran().map_err(no_result)?;
    write(&results.remove(0))
}

/// The request as a model, with a source for each operand.
fn model(request: &Request, tensors: &[Tensor]) -> TractResult<TypedModel> {
    let mut model = TypedModel::default();
    let mut sources = Vec::new();
    for (operand, tensor) in request.operands().iter().zip(tensors) {
        let fact = tensor.datum_type().fact(tensor.shape());
        sources.push(model.add_source(operand.name(), fact)?);
    }
    let root = match request.operation() {
        Operation::Broadcast { target_shape } => broadcast(&mut model, sources[0], target_shape.lengths())?,
        Operation::Elementwise { expression }
        | Operation::Into { expression, .. }
        | Operation::Gradient { expression, .. }
        | Operation::Vjp { expression, .. } => {
            let mut calls = 0;
            evaluate(expression, &sources, |function, arguments| {
                calls += 1;
                let name = format!("{function}-{calls}");
                TractResult::Ok(
                    wire_with_rank_broadcast(name, &mut model, operation(function), arguments)?[0],
                )
            })?
        }
    };
    model.select_output_outlets(&[root])?;
    Ok(model)
}

fn broadcast(model: &mut TypedModel, source: OutletId, target: &[usize]) -> TractResult<OutletId> {
    let shape = ShapeFact::from_dims(target.iter().map(ToDim::to_dim));
    Ok(model.wire_node("broadcast", MultiBroadcastTo { shape }, &[source])?[0])
}

fn operation(function: Function) -> Box<dyn TypedOp> {
    match function {
        Function::Add => math::add().into(),
        Function::Subtract => math::sub().into(),
        Function::Multiply => math::mul().into(),
        Function::Divide => math::div().into(),
        Function::Maximum => math::max().into(),
        Function::Minimum => math::min().into(),
        Function::Power => math::pow().into(),
        Function::Equal => TypedBinOp(logic::comp_eq(), None).into(),
        Function::NotEqual => TypedBinOp(logic::comp_ne(), None).into(),
        Function::Less => TypedBinOp(logic::comp_lt(), None).into(),
        Function::LessEqual => TypedBinOp(logic::comp_lte(), None).into(),
        Function::Greater => TypedBinOp(logic::comp_gt(), None).into(),
        Function::GreaterEqual => TypedBinOp(logic::comp_gte(), None).into(),
        Function::LogicalAnd => logic::and().into(),
        Function::LogicalOr => logic::or().into(),
        Function::Negate => math::neg().into(),
        Function::Abs => math::abs().into(),
        Function::Sqrt => math::sqrt().into(),
        Function::Exp => math::exp().into(),
        Function::Log => math::ln().into(),
        Function::Tanh => math::tanh().into(),
        Function::LogicalNot => logic::not().into(),
        Function::Select => logic::Iff.into(),
    }
}

fn read(operand: &Operand) -> TractResult<Tensor> {
    let shape = operand.shape().lengths();
    match operand.values() {
        Data::F64(values) => Tensor::from_shape(shape, values),
        Data::F32(values) => Tensor::from_shape(shape, values),
        Data::F16(values) => Tensor::from_shape(shape, values),
        Data::I64(values) => Tensor::from_shape(shape, values),
        Data::I32(values) => Tensor::from_shape(shape, values),
        Data::I16(values) => Tensor::from_shape(shape, values),
        Data::I8(values) => Tensor::from_shape(shape, values),
        Data::U64(values) => Tensor::from_shape(shape, values),
        Data::U32(values) => Tensor::from_shape(shape, values),
        Data::U16(values) => Tensor::from_shape(shape, values),
        Data::U8(values) => Tensor::from_shape(shape, values),
        Data::Bool(values) => Tensor::from_shape(shape, values),
        Data::Bf16(_) => unreachable!("bf16 is not declared"),
    }
}

/// tract's answer as a tensor of the protocol.
fn write(tensor: &Tensor) -> Result<Answer, NoResult> {
    let values = match tensor.datum_type() {
        DatumType::F64 => elements::<f64>(tensor),
        DatumType::F32 => elements::<f32>(tensor),
        DatumType::F16 => elements::<f16>(tensor),
        DatumType::I64 => elements::<i64>(tensor),
        DatumType::I32 => elements::<i32>(tensor),
        DatumType::I16 => elements::<i16>(tensor),
        DatumType::I8 => elements::<i8>(tensor),
        DatumType::U64 => elements::<u64>(tensor),
        DatumType::U32 => elements::<u32>(tensor),
        DatumType::U16 => elements::<u16>(tensor),
        DatumType::U8 => elements::<u8>(tensor),
        DatumType::Bool => elements::<bool>(tensor),
        other => Err(format_err!("tract answered with the dtype {other:?}")),
    };
    let values = values.map_err(|error| NoResult::Errored(format!("{error:#}")))?;
    Answer::new(tensor.shape(), values).map_err(NoResult::Errored)
}

fn elements<T: Datum + Element>(tensor: &Tensor) -> TractResult<Data> {
    Ok(T::into_data(tensor.to_plain_array_view::<T>()?.iter().copied().collect()))
}

/// tract's messages for incompatible operands, or for an operation that it does not have for these types.
const REFUSALS: [&str; 8] = [
    "Can not broadcast",
    "Broadcasting ",
    "would lose",
    "No super type",
    "does not support",
    "Condition failed",
    "Tensor datum type error",
    "Bool is not a number",
];

fn no_result(error: TractError) -> NoResult {
    let message = shortened(&format!("{error:#}"));
    if REFUSALS.iter().any(|words| message.contains(words)) {
        NoResult::refused(None, message)
    } else {
        NoResult::Errored(message)
    }
}
