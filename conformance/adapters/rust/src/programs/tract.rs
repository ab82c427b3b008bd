//! How programs for tract are written: a model with a source for each operand, which is optimised and run.

use super::{Dialect, Unwritable, Values, expressed, list, names, nested, program, written_type};
use broadcheck_spec::{DType, Expression, Function, Operand, Operation, Request};

/// The program of a request that tract's adapter declares.
///
/// # Errors
/// Why there is none.
pub fn write(request: &Request) -> Result<String, Unwritable> {
    let names = names(request);
    let mut lines = vec!["let mut model = TypedModel::default();".to_owned()];
    for (operand, name) in request.operands().iter().zip(&names) {
        lines.push(format!("let {name} = model.add_source({:?}, {})?;", operand.name(), fact(operand)));
    }
    let result = match request.operation() {
        Operation::Broadcast { target_shape } => {
            let shape = match target_shape.lengths() {
                [] => "ShapeFact::scalar()".to_owned(),
                lengths => format!("ShapeFact::from_dims([{}])", list(lengths)),
            };
            lines.push(format!("let broadcast = MultiBroadcastTo {{ shape: {shape} }};"));
            format!("model.wire_node(\"broadcast\", broadcast, &[{}])?[0]", names[0])
        }
        Operation::Elementwise { expression } => {
            let (steps, text) = expressed(&Calls, expression, &names, None);
            lines.extend(steps);
            text
        }
        Operation::Into { .. } | Operation::Gradient { .. } | Operation::Vjp { .. } => {
            return Err(Unwritable("tract has no such operation".into()));
        }
    };
    lines.push(format!("let result = {result};"));
    lines.push("model.select_output_outlets(&[result])?;".into());
    lines.push("let model = model.into_optimized()?.into_runnable()?;".into());
    for (operand, name) in request.operands().iter().zip(&names) {
        lines.push(format!("let {name} = {}.into_tvalue();", tensor(operand, name)?));
    }
    lines.push(format!("let result = model.run(tvec!({}))?.remove(0);", list(&names)));
    lines.push("println!(\"{}\", result.dump(true)?);".into());
    lines.push("Ok(())".into());
    let items = [
        "tract_core::internal::*",
        "tract_core::ops::array::MultiBroadcastTo",
        "tract_core::ops::binary::TypedBinOp",
        "tract_core::ops::{logic, math}",
    ];
    Ok(program(&items, " -> TractResult<()>", &lines))
}

/// tract's type of a dtype.
fn type_of(dtype: DType) -> &'static str {
    if dtype == DType::F16 { "f16" } else { written_type(dtype) }
}

/// What a model knows of an operand.
fn fact(operand: &Operand) -> String {
    let of = type_of(operand.dtype());
    match operand.shape().lengths() {
        [] => format!("{of}::scalar_fact()"),
        lengths => format!("{of}::fact([{}])", list(lengths)),
    }
}

fn tensor(operand: &Operand, name: &str) -> Result<String, Unwritable> {
    let (dtype, lengths) = (operand.dtype(), operand.shape().lengths());
    let shape = list(lengths);
    if lengths.contains(&0) {
        return Ok(format!("Tensor::zero::<{}>(&[{shape}])?", type_of(dtype)));
    }
    let made = match (Values::new(operand.values(), name)?, lengths.len()) {
        (Values::Each(texts), 0) => format!("tensor0({})", texts[0]),
        (Values::Each(texts), rank @ 1..=4) => format!("tensor{rank}(&{})", nested(&texts, lengths)),
        (Values::Each(texts), _) => format!("Tensor::from_shape(&[{shape}], &[{}])?", list(&texts)),
        (Values::Repeated(array), _) => format!("Tensor::from_shape(&[{shape}], &{array})?"),
        (Values::Range(vector), _) => format!("Tensor::from_shape(&[{shape}], &{vector})?"),
    };
    Ok(if dtype == DType::F16 { format!("{made}.cast_to::<f16>()?.into_owned()") } else { made })
}

/// tract's calls, which are nodes of the model.
struct Calls;

impl Dialect for Calls {
    fn call(&self, function: Function, arguments: &[String], number: usize) -> String {
        let (name, operation) = (format!("{function}-{number}"), operation(function));
        format!("wire_with_rank_broadcast({name:?}, &mut model, {operation}, &[{}])?[0]", list(arguments))
    }

    fn is_split(&self, _: &Expression) -> bool {
        // The model can be changed by one call at a time.
        true
    }
}

fn operation(function: Function) -> &'static str {
    match function {
        Function::Add => "math::add()",
        Function::Subtract => "math::sub()",
        Function::Multiply => "math::mul()",
        Function::Divide => "math::div()",
        Function::Maximum => "math::max()",
        Function::Minimum => "math::min()",
        Function::Power => "math::pow()",
        Function::Equal => "TypedBinOp(logic::comp_eq(), None)",
        Function::NotEqual => "TypedBinOp(logic::comp_ne(), None)",
        Function::Less => "TypedBinOp(logic::comp_lt(), None)",
        Function::LessEqual => "TypedBinOp(logic::comp_lte(), None)",
        Function::Greater => "TypedBinOp(logic::comp_gt(), None)",
        Function::GreaterEqual => "TypedBinOp(logic::comp_gte(), None)",
        Function::LogicalAnd => "logic::and()",
        Function::LogicalOr => "logic::or()",
        Function::Negate => "math::neg()",
        Function::Abs => "math::abs()",
        Function::Sqrt => "math::sqrt()",
        Function::Exp => "math::exp()",
        Function::Log => "math::ln()",
        Function::Tanh => "math::tanh()",
        Function::LogicalNot => "logic::not()",
        Function::Select => "logic::Iff",
    }
}
