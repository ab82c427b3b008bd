//! candle on its CPU: `broadcast_*` and `broadcast_as` under the rule set `numpy`, its other functions under
//! `none`, and gradients with `backward`.
//!
//! candle has no bool. Its comparisons return a u8 of 1 or 0, and `where_cond` takes a u8. The adapter passes
//! a bool as u8, and reads an answer as bool if it comes from a comparison or a bool operand. `where_cond`
//! does not broadcast: under `numpy` the adapter expands its arguments with `broadcast_as` to the shape that
//! candle's `broadcast_shape_binary_op` returns, as candle's own `broadcast_*` do. candle has no logical
//! functions, and no arithmetic for truth values: of bools the adapter only asks for equality and `select`.

use broadcheck_adapters::programs::{self, Programs, Unwritable};
use broadcheck_adapters::{
    NoResult, evaluate, gradient_operand, is_differentiable, limit, outcome, serve, shortened, version_of,
};
use broadcheck_spec::{
    Capabilities, DType, Data, Function, Implementation, Operand, Operation, OperationKind, Outcome,
    RefusalKind, Request, RuleSet, Tensor as Answer,
};
use candle_core::{DType as Type, Device, Error, Shape, Tensor, Var};
use std::process::ExitCode;

fn main() -> ExitCode {
    serve(&Candle { version: version_of("candle-core"), capabilities: capabilities() })
}

struct Candle {
    version: &'static str,
    capabilities: Capabilities,
}

fn capabilities() -> Capabilities {
    let logic = [Function::LogicalAnd, Function::LogicalOr, Function::LogicalNot];
    let absent = [DType::I8, DType::U16, DType::U64];
    let dtypes: Vec<DType> = DType::ALL.into_iter().filter(|dtype| !absent.contains(dtype)).collect();
    let with_dtypes = |&function: &Function| (function, having(function, &dtypes));
    Capabilities {
        rules: vec![RuleSet::None, RuleSet::Numpy],
        operations: vec![OperationKind::Elementwise, OperationKind::Broadcast, OperationKind::Gradient],
        strided: false,
        functions: Function::ALL.iter().copied().filter(|function| !logic.contains(function)).collect(),
        function_dtypes: Function::ALL.iter().map(with_dtypes).collect(),
        dtypes,
        unused_operands: false,
        max_elements: broadcheck_adapters::MAX_ELEMENTS,
        ..Capabilities::all()
    }
}

/// The dtypes among these for which candle has a function. It panics for the integers without `power`,
/// `sqrt`, `exp`, `log` and `tanh`.
fn having(function: Function, dtypes: &[DType]) -> Vec<DType> {
    let has = |dtype: &DType| match function {
        Function::Power | Function::Sqrt | Function::Exp | Function::Log | Function::Tanh => dtype.is_float(),
        Function::Equal | Function::NotEqual | Function::Select => true,
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
        | Function::Abs => *dtype != DType::Bool,
        Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot => false,
    };
    dtypes.iter().copied().filter(has).collect()
}

impl Implementation for Candle {
    fn name(&self) -> &str {
        "candle"
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

impl Programs for Candle {
    fn program(&self, request: &Request) -> Result<String, Unwritable> {
        programs::candle::write(request)
    }
}

/// A tensor, and whether its u8 are truth values.
#[derive(Clone)]
struct Value {
    tensor: Tensor,
    truth: bool,
}

fn answer(request: &Request) -> Result<Answer, NoResult> {
    let wrt = gradient_operand(request);
    let operands = request.operands().iter().enumerate();
    let values = operands.map(|(place, operand)| read(operand, wrt == Some(place)));
    let values: Vec<Value> = values.collect::<Result<_, Error>>().map_err(no_result)?;
    match request.operation() {
        Operation::Broadcast { target_shape } => {
            let tensor = values[0].tensor.broadcast_as(target_shape.lengths()).map_err(no_result)?;
            write(&Value { tensor, truth: values[0].truth })
        }
        Operation::Elementwise { .. } => write(&result(request, &values)?),
        Operation::Into { .. } => Err(NoResult::Skipped("no destinations".into())),
        Operation::Vjp { .. } => Err(NoResult::Skipped("no cotangents".into())),
        Operation::Gradient { expression, wrt } => {
            let root = result(request, &values)?.tensor;
            let floats = root.dtype().is_float() && values[*wrt].tensor.dtype().is_float();
            if floats && !is_differentiable(expression, *wrt) {
                let zeros = values[*wrt].tensor.zeros_like().map_err(no_result)?;
                return write(&Value { tensor: zeros, truth: false });
            }
            let gradients = root.sum_all().and_then(|sum| sum.backward()).map_err(no_result)?;
            let gradient = gradients.get(&values[*wrt].tensor);
            let gradient = gradient.ok_or_else(|| NoResult::refused(None, "candle returns no gradient"))?;
            write(&Value { tensor: gradient.clone(), truth: values[*wrt].truth })
        }
    }
}

fn result(request: &Request, operands: &[Value]) -> Result<Value, NoResult> {
    let broadcasts = request.rules().set() == RuleSet::Numpy;
    let expression =
        request.operation().expression().expect("a broadcast, which has none, is handled elsewhere");
    evaluate(expression, operands, |function, arguments| {
        if broadcasts {
            let shape = common(arguments).map_err(no_result)?;
            limit(shape.dims())?;
        }
        call(function, arguments, broadcasts).map_err(no_result)
    })
}

/// The common shape, as candle computes it.
fn common(values: &[Value]) -> Result<Shape, Error> {
    let scalar = Shape::from(());
    values.iter().try_fold(scalar, |shape, value| {
        shape.broadcast_shape_binary_op(value.tensor.shape(), "broadcast_shape_binary_op")
    })
}

fn call(function: Function, arguments: &[Value], broadcasts: bool) -> Result<Value, Error> {
    let a = &arguments[0].tensor;
    if function.arity() == 1 {
        let tensor = unary(function, a)?;
        return Ok(Value { tensor, truth: false });
    }
    let b = &arguments[1].tensor;
    if function == Function::Select {
        let c = &arguments[2].tensor;
        let tensor = if broadcasts {
            let shape = common(arguments)?;
            a.broadcast_as(&shape)?.where_cond(&b.broadcast_as(&shape)?, &c.broadcast_as(&shape)?)?
        } else {
            a.where_cond(b, c)?
        };
        return Ok(Value { tensor, truth: arguments[1].truth });
    }
    let tensor = if broadcasts { broadcast_binary(function, a, b)? } else { binary(function, a, b)? };
    Ok(Value { tensor, truth: compares(function) })
}

fn compares(function: Function) -> bool {
    use Function::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    matches!(function, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
}

fn unary(function: Function, a: &Tensor) -> Result<Tensor, Error> {
    match function {
        Function::Negate => a.neg(),
        Function::Abs => a.abs(),
        Function::Sqrt => a.sqrt(),
        Function::Exp => a.exp(),
        Function::Log => a.log(),
        Function::Tanh => a.tanh(),
        _ => unreachable!("{function} is not declared"),
    }
}

fn broadcast_binary(function: Function, a: &Tensor, b: &Tensor) -> Result<Tensor, Error> {
    match function {
        Function::Add => a.broadcast_add(b),
        Function::Subtract => a.broadcast_sub(b),
        Function::Multiply => a.broadcast_mul(b),
        Function::Divide => a.broadcast_div(b),
        Function::Maximum => a.broadcast_maximum(b),
        Function::Minimum => a.broadcast_minimum(b),
        Function::Power => a.broadcast_pow(b),
        Function::Equal => a.broadcast_eq(b),
        Function::NotEqual => a.broadcast_ne(b),
        Function::Less => a.broadcast_lt(b),
        Function::LessEqual => a.broadcast_le(b),
        Function::Greater => a.broadcast_gt(b),
        Function::GreaterEqual => a.broadcast_ge(b),
        _ => unreachable!("{function} is not declared"),
    }
}

fn binary(function: Function, a: &Tensor, b: &Tensor) -> Result<Tensor, Error> {
    match function {
        Function::Add => a.add(b),
        Function::Subtract => a.sub(b),
        Function::Multiply => a.mul(b),
        Function::Divide => a.div(b),
        Function::Maximum => a.maximum(b),
        Function::Minimum => a.minimum(b),
        Function::Power => a.pow(b),
        Function::Equal => a.eq(b),
        Function::NotEqual => a.ne(b),
        Function::Less => a.lt(b),
        Function::LessEqual => a.le(b),
        Function::Greater => a.gt(b),
        Function::GreaterEqual => a.ge(b),
        _ => unreachable!("{function} is not declared"),
    }
}

/// An operand as a candle tensor, or as a variable.
fn read(operand: &Operand, variable: bool) -> Result<Value, Error> {
    let shape = operand.shape().lengths();
    macro_rules! tensor {
        ($values:expr) => {
            Tensor::from_slice($values, shape, &Device::Cpu)?
        };
    }
    let tensor = match operand.values() {
        Data::F64(values) => tensor!(values),
        Data::F32(values) => tensor!(values),
        Data::F16(values) => tensor!(values),
        Data::Bf16(values) => tensor!(values),
        Data::I64(values) => tensor!(values),
        Data::I32(values) => tensor!(values),
        Data::I16(values) => tensor!(values),
        Data::U32(values) => tensor!(values),
        Data::U8(values) => tensor!(values),
        Data::Bool(values) => tensor!(&values.iter().map(|&value| u8::from(value)).collect::<Vec<_>>()),
        Data::I8(_) | Data::U64(_) | Data::U16(_) => unreachable!("{} is not declared", operand.dtype()),
    };
    let tensor = if variable { Var::from_tensor(&tensor)?.into_inner() } else { tensor };
    Ok(Value { tensor, truth: operand.dtype() == DType::Bool })
}

/// candle's answer as a tensor of the protocol.
fn write(value: &Value) -> Result<Answer, NoResult> {
    let tensor = &value.tensor;
    limit(tensor.dims())?;
    let values = (|| {
        let flat = tensor.flatten_all()?;
        Ok(match tensor.dtype() {
            Type::F64 => Data::from(flat.to_vec1::<f64>()?),
            Type::F32 => flat.to_vec1::<f32>()?.into(),
            Type::F16 => flat.to_vec1::<broadcheck_spec::half::f16>()?.into(),
            Type::BF16 => flat.to_vec1::<broadcheck_spec::half::bf16>()?.into(),
            Type::I64 => flat.to_vec1::<i64>()?.into(),
            Type::I32 => flat.to_vec1::<i32>()?.into(),
            Type::I16 => flat.to_vec1::<i16>()?.into(),
            Type::U32 => flat.to_vec1::<u32>()?.into(),
            Type::U8 if value.truth => {
                flat.to_vec1::<u8>()?.into_iter().map(truth).collect::<Result<Vec<bool>, Error>>()?.into()
            }
            Type::U8 => flat.to_vec1::<u8>()?.into(),
            other => return Err(Error::msg(format!("candle answered with the dtype {other:?}"))),
        })
    })();
    let values =
        values.map_err(|error: Error| NoResult::Errored(shortened(&innermost(&error).to_string())))?;
    Answer::new(tensor.dims(), values).map_err(NoResult::Errored)
}

fn truth(value: u8) -> Result<bool, Error> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Error::msg(format!("candle answered {other}, expected a truth value of 0 or 1"))),
    }
}

/// What candle's errors mean. An error is a refusal only if it says that the operands are incompatible.
fn no_result(error: Error) -> NoResult {
    let error = innermost(&error);
    let message = shortened(&error.to_string());
    match error {
        Error::DTypeMismatchBinaryOp { .. } => NoResult::refused(Some(RefusalKind::DTypeMismatch), message),
        // candle does not say whether ranks or lengths differ, nor whether the dtype is that of an argument
        // or a condition.
        Error::ShapeMismatchBinaryOp { .. }
        | Error::BroadcastIncompatibleShapes { .. }
        | Error::UnsupportedDTypeForOp(..)
        | Error::BackwardNotSupported { .. }
        | Error::UnexpectedDType { .. } => NoResult::refused(None, message),
        _ => NoResult::Errored(message),
    }
}

fn innermost(error: &Error) -> &Error {
    match error {
        Error::WithBacktrace { inner, .. } | Error::Context { inner, .. } => innermost(inner),
        other => other,
    }
}
