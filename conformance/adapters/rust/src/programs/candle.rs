//! How programs for candle are written.

use super::{Dialect, Unwritable, Values, expressed, list, names, nested, program, root, written_type};
use broadcheck_spec::{DType, Data, Expression, Function, Operand, Operation, Request, RuleSet};

/// The program of a request that candle's adapter declares.
///
/// # Errors
/// Why there is none.
pub fn write(request: &Request) -> Result<String, Unwritable> {
    let names = names(request);
    let calls = Calls { broadcasts: request.rules().set() == RuleSet::Numpy };
    let wrt = request.operation().wrt();
    let mut lines = Vec::new();
    for (place, operand) in request.operands().iter().enumerate() {
        lines.push(format!(
            "let {} = {};",
            names[place],
            tensor(operand, &names[place], wrt == Some(place))?
        ));
    }
    let dtypes: Vec<DType> = request.operands().iter().map(Operand::dtype).collect();
    let dtype = match request.operation() {
        Operation::Broadcast { target_shape } => {
            lines.push(format!(
                "let result = {}.broadcast_as({})?;",
                names[0],
                shape(target_shape.lengths())
            ));
            dtypes[0]
        }
        Operation::Elementwise { expression } => {
            let (steps, text) = expressed(&calls, expression, &names, None);
            lines.extend(steps);
            lines.push(format!("let result = {text};"));
            let types = expression.values(|operand| dtypes[operand], dtype_of);
            types[types.len() - 1]
        }
        Operation::Gradient { expression, wrt } => {
            let (steps, text) = expressed(&calls, expression, &names, None);
            let root = root(steps, text, &mut lines);
            lines.push(format!("let gradients = {root}.sum_all()?.backward()?;"));
            let found = format!("gradients.get(&{}).expect(\"candle returns no gradient\")", names[*wrt]);
            lines.push(format!("let result = {found};"));
            dtypes[*wrt]
        }
        Operation::Into { .. } | Operation::Vjp { .. } => {
            return Err(Unwritable("candle has no such operation".into()));
        }
    };
    // Its half-precision numbers are types of another crate.
    let cast = if is_half(dtype) { ".to_dtype(DType::F32)?" } else { "" };
    lines.push(format!("let values = result.flatten_all()?{cast}.to_vec1::<{}>()?;", type_of(dtype)));
    lines.push("println!(\"{:?} {:?} {values:?}\", result.dtype(), result.dims());".into());
    lines.push("Ok(())".into());
    Ok(program(&["candle_core::{DType, Device, Tensor, Var}"], " -> candle_core::Result<()>", &lines))
}

/// The dtype of a function's result, from those of its arguments.
fn dtype_of(function: Function, arguments: &[DType]) -> DType {
    if function.is_predicate() { DType::Bool } else { function.values_of(arguments)[0] }
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::Bf16)
}

/// The type in which candle's values of a dtype are written. Its truth values are numbers of u8.
fn type_of(dtype: DType) -> &'static str {
    if dtype == DType::Bool { "u8" } else { written_type(dtype) }
}

/// candle's name of a dtype.
fn dtype_name(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "F64",
        DType::F32 => "F32",
        DType::F16 => "F16",
        DType::Bf16 => "BF16",
        DType::I64 => "I64",
        DType::I32 => "I32",
        DType::I16 => "I16",
        DType::U32 => "U32",
        DType::U8 | DType::Bool => "U8",
        DType::I8 | DType::U64 | DType::U16 => unreachable!("{dtype} is not declared"),
    }
}

/// A shape, which is a number, a tuple of at most six or an array.
fn shape(lengths: &[usize]) -> String {
    match lengths {
        [length] => length.to_string(),
        [] | [_, _, ..] if lengths.len() <= 6 => format!("({})", list(lengths)),
        _ => format!("&[{}]", list(lengths)),
    }
}

/// An operand as a tensor, or as the tensor of a variable.
fn tensor(operand: &Operand, name: &str, variable: bool) -> Result<String, Unwritable> {
    let (dtype, lengths) = (operand.dtype(), operand.shape().lengths());
    let shape = shape(lengths);
    let text = if lengths.contains(&0) {
        format!("zeros({shape}, DType::{}, &Device::Cpu)?", dtype_name(dtype))
    } else {
        match Values::new(&numbers(operand.values()), name)? {
            Values::Each(texts) => match lengths {
                [] => format!("new({}, &Device::Cpu)?", texts[0]),
                [_] | [_, _] | [_, _, _] | [_, _, _, _] => {
                    format!("new(&{}, &Device::Cpu)?", nested(&texts, lengths))
                }
                _ => format!("from_slice(&[{}], {shape}, &Device::Cpu)?", list(&texts)),
            },
            Values::Repeated(array) => format!("from_slice(&{array}, {shape}, &Device::Cpu)?"),
            Values::Range(vector) => format!("from_vec({vector}, {shape}, &Device::Cpu)?"),
        }
    };
    let is_cast = is_half(dtype) && !lengths.contains(&0);
    let cast = if is_cast { format!(".to_dtype(DType::{})?", dtype_name(dtype)) } else { String::new() };
    Ok(match (variable, is_cast) {
        (false, _) => format!("Tensor::{text}{cast}"),
        (true, false) => format!("Var::{text}.into_inner()"),
        (true, true) => format!("Var::from_tensor(&Tensor::{text}{cast})?.into_inner()"),
    })
}

/// The values as candle has them: truth values are numbers of u8.
fn numbers(data: &Data) -> Data {
    match data {
        Data::Bool(values) => values.iter().map(|&value| u8::from(value)).collect::<Vec<u8>>().into(),
        other => other.clone(),
    }
}

/// candle's calls, with or without broadcasting.
struct Calls {
    broadcasts: bool,
}

impl Dialect for Calls {
    fn call(&self, function: Function, arguments: &[String], _: usize) -> String {
        let method = self.method(function);
        match arguments {
            [a] => format!("{a}.{method}()?"),
            [a, b] => format!("{a}.{method}(&{b})?"),
            [_, b, c] if self.broadcasts => {
                let [b, c] = [b, c].map(|name| format!("{name}.broadcast_as(&shape)?"));
                format!("condition.{method}(&{b}, &{c})?")
            }
            arguments => format!("{}.{method}(&{}, &{})?", arguments[0], arguments[1], arguments[2]),
        }
    }

    fn before(&self, function: Function, arguments: &[String]) -> Vec<String> {
        if !self.broadcasts || function != Function::Select {
            return Vec::new();
        }
        let shape = |first: &str, second: &str| {
            format!("let shape = {first}.broadcast_shape_binary_op({second}.shape(), \"where_cond\")?;")
        };
        vec![
            shape(&format!("{}.shape()", arguments[0]), &arguments[1]),
            shape("shape", &arguments[2]),
            format!("let condition = {}.broadcast_as(&shape)?;", arguments[0]),
        ]
    }

    fn is_split(&self, expression: &Expression) -> bool {
        self.broadcasts && expression.calls().any(|call| call.function() == Function::Select)
    }
}

impl Calls {
    fn method(&self, function: Function) -> &'static str {
        let (plain, broadcast) = match function {
            Function::Add => ("add", "broadcast_add"),
            Function::Subtract => ("sub", "broadcast_sub"),
            Function::Multiply => ("mul", "broadcast_mul"),
            Function::Divide => ("div", "broadcast_div"),
            Function::Maximum => ("maximum", "broadcast_maximum"),
            Function::Minimum => ("minimum", "broadcast_minimum"),
            Function::Power => ("pow", "broadcast_pow"),
            Function::Equal => ("eq", "broadcast_eq"),
            Function::NotEqual => ("ne", "broadcast_ne"),
            Function::Less => ("lt", "broadcast_lt"),
            Function::LessEqual => ("le", "broadcast_le"),
            Function::Greater => ("gt", "broadcast_gt"),
            Function::GreaterEqual => ("ge", "broadcast_ge"),
            Function::Negate => ("neg", "neg"),
            Function::Abs => ("abs", "abs"),
            Function::Sqrt => ("sqrt", "sqrt"),
            Function::Exp => ("exp", "exp"),
            Function::Log => ("log", "log"),
            Function::Tanh => ("tanh", "tanh"),
            Function::Select => ("where_cond", "where_cond"),
            Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot => {
                unreachable!("{function} is not declared")
            }
        };
        if self.broadcasts { broadcast } else { plain }
    }
}
