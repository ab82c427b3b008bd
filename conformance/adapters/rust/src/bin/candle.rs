//! candle on its CPU: `broadcast_*` under the rule set `numpy` and `broadcast_as`, its other functions under `none`, and
//! gradients by `backward`.
//!
//! candle has no bool. Its comparisons give u8, 1 or 0, and `where_cond` takes u8: a bool is handed over as u8, and an
//! answer is read as bool where a comparison, or an operand that was one, gave it. `where_cond` does not broadcast:
//! under `numpy` its arguments are brought by `broadcast_as` to the shape that candle's `broadcast_shape_binary_op`
//! gives, as candle's own `broadcast_*` do. Logic it has none.

use broadcheck_adapters::{
    Stop, derived_by, evaluate, leaves_out_an_operand, limit, outcome, serve, shortened, version_of,
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
    Capabilities {
        rules: vec![RuleSet::None, RuleSet::Numpy],
        operations: vec![OperationKind::Elementwise, OperationKind::Broadcast, OperationKind::Gradient],
        strided: false,
        functions: Function::ALL.iter().copied().filter(|function| !logic.contains(function)).collect(),
        dtypes: DType::ALL.into_iter().filter(|dtype| !absent.contains(dtype)).collect(),
        max_rank: None,
        max_elements: broadcheck_adapters::MAX_ELEMENTS,
    }
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

/// A tensor, and whether its u8 are truth values.
#[derive(Clone)]
struct Value {
    tensor: Tensor,
    truth: bool,
}

fn answer(request: &Request) -> Result<Answer, Stop> {
    let wrt = derived_by(request);
    let operands = request.operands().iter().enumerate();
    let values = operands.map(|(place, operand)| read(operand, wrt == Some(place)));
    let values: Vec<Value> = values.collect::<Result<_, Error>>().map_err(stop)?;
    match request.operation() {
        Operation::Broadcast { target_shape } => {
            let tensor = values[0].tensor.broadcast_as(target_shape.lengths()).map_err(stop)?;
            write(&Value { tensor, truth: values[0].truth })
        }
        Operation::Elementwise { .. } => write(&result(request, &values)?),
        Operation::Gradient { wrt, .. } => {
            let root = result(request, &values)?.tensor;
            let gradients = root.sum_all().and_then(|sum| sum.backward()).map_err(stop)?;
            let gradient = gradients.get(&values[*wrt].tensor);
            let gradient = gradient.ok_or_else(|| Stop::refused(None, "candle gives no gradient"))?;
            write(&Value { tensor: gradient.clone(), truth: values[*wrt].truth })
        }
    }
}

fn result(request: &Request, operands: &[Value]) -> Result<Value, Stop> {
    let broadcasts = request.rules().set() == RuleSet::Numpy;
    if leaves_out_an_operand(request) && !broadcasts {
        return Err(Stop::skipped("a function of candle has no operand that it does not use"));
    }
    let expression = request.operation().expression().expect("a broadcast has none, and does not come here");
    let value = evaluate(expression, operands, |function, arguments| {
        if broadcasts {
            let shape = common(arguments).map_err(stop)?;
            limit(shape.dims())?;
        }
        call(function, arguments, broadcasts).map_err(stop)
    })?;
    if !leaves_out_an_operand(request) {
        return Ok(value);
    }
    // They take part in the common shape all the same.
    let shape = common(operands).map_err(stop)?;
    limit(shape.dims())?;
    Ok(Value { tensor: value.tensor.broadcast_as(shape).map_err(stop)?, ..value })
}

/// The common shape, by candle.
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

/// An operand as candle's own tensor, or as a variable.
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

/// What candle answers.
fn write(value: &Value) -> Result<Answer, Stop> {
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
    let values = values.map_err(|error: Error| Stop::Errored(shortened(&innermost(&error).to_string())))?;
    Answer::new(tensor.dims(), values).map_err(Stop::Errored)
}

fn truth(value: u8) -> Result<bool, Error> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Error::msg(format!("candle answered {other} where its answer is a truth value"))),
    }
}

/// What candle's errors mean. Those that do not say that the operands do not go together are failures.
fn stop(error: Error) -> Stop {
    let error = innermost(&error);
    let message = shortened(&error.to_string());
    match error {
        Error::DTypeMismatchBinaryOp { .. } => Stop::refused(Some(RefusalKind::DTypeMismatch), message),
        // candle does not say whether it is by the ranks or by the lengths, nor whether the dtype is of an argument or of
        // a condition.
        Error::ShapeMismatchBinaryOp { .. }
        | Error::BroadcastIncompatibleShapes { .. }
        | Error::UnsupportedDTypeForOp(..)
        | Error::BackwardNotSupported { .. }
        | Error::UnexpectedDType { .. } => Stop::refused(None, message),
        _ => Stop::Errored(message),
    }
}

fn innermost(error: &Error) -> &Error {
    match error {
        Error::WithBacktrace { inner, .. } | Error::Context { inner, .. } => innermost(inner),
        other => other,
    }
}
