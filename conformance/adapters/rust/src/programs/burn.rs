//! How programs for burn are written.

use super::{Dialect, Unwritable, Values, expressed, list, names, nested, program, root, written_type};
use broadcheck_spec::{DType, Expression, Function, NumberKind, Operand, Operation, Request};

/// The program of a request that burn's adapter declares. `device` makes the device, without gradients.
///
/// # Errors
/// Why there is none.
pub fn write(request: &Request, device: &str) -> Result<String, Unwritable> {
    let names = names(request);
    let kinds: Vec<NumberKind> = request.operands().iter().map(|operand| operand.dtype().kind()).collect();
    let wrt = request.operation().wrt();
    let device = if wrt.is_some() { format!("{device}.autodiff()") } else { device.to_owned() };
    let mut lines = vec![format!("let device = {device};")];
    for (place, operand) in request.operands().iter().enumerate() {
        let tracked = if wrt == Some(place) { ".require_grad()" } else { "" };
        lines.push(format!("let {} = {}{tracked};", names[place], tensor(operand, &names[place])?));
    }
    let result = match request.operation() {
        Operation::Broadcast { target_shape } => {
            let (rank, target) = (target_shape.rank(), list(target_shape.lengths()));
            format!("{}.expand::<{rank}, Shape>(Shape::from([{target}]))", names[0])
        }
        Operation::Elementwise { expression } => {
            kind(expression, &kinds)?;
            let (steps, text) = expressed(&Calls, expression, &names, None);
            lines.extend(steps);
            text
        }
        Operation::Gradient { expression, wrt } => {
            for (method, kind) in [("require_grad", kinds[*wrt]), ("backward", kind(expression, &kinds)?)] {
                if kind != NumberKind::Float {
                    return Err(Unwritable(format!("`{method}` does not compile for this kind of tensor")));
                }
            }
            let (steps, text) = expressed(&Calls, expression, &names, Some(*wrt));
            let root = root(steps, text, &mut lines);
            lines.push(format!("let gradients = {root}.sum().backward();"));
            format!("{}.grad(&gradients).expect(\"burn returns no gradient\")", names[*wrt])
        }
        Operation::Into { .. } | Operation::Vjp { .. } => {
            return Err(Unwritable("burn has no such operation".into()));
        }
    };
    lines.push(format!("let result = {result}.into_data();"));
    lines.push("println!(\"{:?} {} {result}\", result.dtype(), result.shape());".into());
    Ok(program(&["burn_tensor::{Bool, DType, Device, Int, Shape, Tensor, TensorData}"], "", &lines))
}

/// The kind of an expression's elements, which is part of the type of a tensor.
///
/// # Errors
/// A function does not exist for the kinds of its arguments, so that a program with it does not compile.
fn kind(expression: &Expression, operands: &[NumberKind]) -> Result<NumberKind, Unwritable> {
    let call = |function: Function, arguments: &[NumberKind]| {
        result_kind(function, arguments)
            .ok_or_else(|| Unwritable(format!("`{function}` does not compile for these kinds of tensor")))
    };
    let kinds = expression.try_values(|operand| operands[operand], call)?;
    Ok(kinds[kinds.len() - 1])
}

fn result_kind(function: Function, arguments: &[NumberKind]) -> Option<NumberKind> {
    use NumberKind::{Float, Truth};
    let values = function.values_of(arguments);
    let kind = values[0];
    if values.iter().any(|other| *other != kind) {
        return None;
    }
    let is_number = kind != Truth;
    match function {
        Function::Add | Function::Subtract | Function::Multiply | Function::Divide => {
            is_number.then_some(kind)
        }
        Function::Maximum | Function::Minimum | Function::Negate | Function::Abs => is_number.then_some(kind),
        Function::Power | Function::Sqrt | Function::Exp | Function::Log | Function::Tanh => {
            (kind == Float).then_some(kind)
        }
        Function::Equal | Function::NotEqual => Some(Truth),
        Function::Less | Function::LessEqual | Function::Greater | Function::GreaterEqual => {
            is_number.then_some(Truth)
        }
        Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot => (kind == Truth).then_some(Truth),
        Function::Select => (arguments[0] == Truth).then_some(kind),
    }
}

/// burn's name of a dtype; none of bool, of which the device decides how it is stored.
fn dtype_name(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::F64 => "F64",
        DType::F32 => "F32",
        DType::F16 => "F16",
        DType::Bf16 => "BF16",
        DType::I64 => "I64",
        DType::I32 => "I32",
        DType::I16 => "I16",
        DType::I8 => "I8",
        DType::U64 => "U64",
        DType::U32 => "U32",
        DType::U16 => "U16",
        DType::U8 => "U8",
        DType::Bool => return None,
    })
}

fn tensor(operand: &Operand, name: &str) -> Result<String, Unwritable> {
    let (dtype, lengths) = (operand.dtype(), operand.shape().lengths());
    let shape = list(lengths);
    let data = if lengths.contains(&0) {
        format!("TensorData::new(Vec::<{}>::new(), [{shape}])", written_type(dtype))
    } else {
        match Values::new(operand.values(), name)? {
            Values::Each(texts) if lengths.len() <= 5 => nested(&texts, lengths),
            Values::Each(texts) => format!("TensorData::new(vec![{}], [{shape}])", list(&texts)),
            Values::Repeated(array) => format!("TensorData::new(vec!{array}, [{shape}])"),
            Values::Range(vector) => format!("TensorData::new({vector}, [{shape}])"),
        }
    };
    let kind = match dtype.kind() {
        NumberKind::Float => "",
        NumberKind::Integer => ", Int",
        NumberKind::Truth => ", Bool",
    };
    let options = match dtype_name(dtype) {
        Some(dtype) => format!("(&device, DType::{dtype})"),
        None => "&device".to_owned(),
    };
    Ok(format!("Tensor::<{}{kind}>::from_data({data}, {options})", lengths.len()))
}

/// burn's calls, which consume their arguments.
struct Calls;

impl Dialect for Calls {
    fn call(&self, function: Function, arguments: &[String], _: usize) -> String {
        let method = method(function);
        match arguments {
            [condition, then, other] => format!("{other}.{method}({condition}, {then})"),
            arguments => format!("{}.{method}({})", arguments[0], list(&arguments[1..])),
        }
    }

    fn order(&self, function: Function) -> &'static [usize] {
        if function == Function::Select { &[2, 0, 1] } else { &[0, 1][..function.arity()] }
    }

    fn operand(&self, name: &str, is_last: bool) -> String {
        if is_last { name.to_owned() } else { format!("{name}.clone()") }
    }
}

fn method(function: Function) -> &'static str {
    match function {
        Function::Add => "add",
        Function::Subtract => "sub",
        Function::Multiply => "mul",
        Function::Divide => "div",
        Function::Maximum => "max_pair",
        Function::Minimum => "min_pair",
        Function::Power => "powf",
        Function::Equal => "equal",
        Function::NotEqual => "not_equal",
        Function::Less => "lower",
        Function::LessEqual => "lower_equal",
        Function::Greater => "greater",
        Function::GreaterEqual => "greater_equal",
        Function::LogicalAnd => "bool_and",
        Function::LogicalOr => "bool_or",
        Function::Negate => "neg",
        Function::Abs => "abs",
        Function::Sqrt => "sqrt",
        Function::Exp => "exp",
        Function::Log => "log",
        Function::Tanh => "tanh",
        Function::LogicalNot => "bool_not",
        Function::Select => "mask_where",
    }
}
