//! Writes a request as a program in the interface of the system itself, as the protocol describes under
//! "Programs": everything that is the same for every system.
//!
//! A program imports the system, makes the operands, computes the result and prints its dtype, shape and
//! values. It calls what the adapter calls, and depends on nothing but the system. A module for each system
//! says how it spells things.

pub mod burn;
pub mod candle;
pub mod tract;

use crate::is_differentiable;
use broadcheck_spec::json::{self, Question};
use broadcheck_spec::{
    DType, Data, Expression, Function, Implementation, Node, Operand, Operation, Request, Scalar, Shape,
};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt::{self, Write as _};

/// A longer operand is written if it follows a formula.
const MOST_VALUES: usize = 256;

/// So is one with more values than these, although it could be written out.
const FEW_VALUES: usize = 12;

/// The maximum number of elements of an operand, and of what is printed, whatever they follow.
const MOST_ELEMENTS: usize = 1 << 12;

/// The maximum number of calls of an expression.
const MOST_CALLS: usize = 40;

/// A longer statement is split into one for each call.
const WIDTH: usize = 100;

/// Names in a program that no operand may have, apart from those that begin with `step_`.
const TAKEN: [&str; 18] = [
    "result",
    "values",
    "device",
    "model",
    "output",
    "inputs",
    "shape",
    "broadcast",
    "condition",
    "gradients",
    "root",
    "main",
    "tensor0",
    "tensor1",
    "tensor2",
    "tensor3",
    "tensor4",
    "wire_with_rank_broadcast",
];

/// Rust's keywords, also those without a meaning so far.
const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum \
     extern false final fn for gen if impl in let loop macro match mod move mut override priv pub ref return \
     self static struct super trait true try type typeof unsafe unsized use virtual where while yield";

/// Why a request cannot be written as a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable(pub String);

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot be written because {}", self.0)
    }
}

/// A system that writes programs.
pub trait Programs: Implementation {
    /// The program of a request that the system declares.
    ///
    /// # Errors
    /// Why there is none.
    fn program(&self, request: &Request) -> Result<String, Unwritable>;
}

/// The program of a request as the protocol writes it, with what is expected if the field `expected` says it.
///
/// # Errors
/// Why there is no program, as a sentence.
pub fn program_of(system: &dyn Programs, text: &str) -> Result<String, String> {
    let invalid = |why: &dyn fmt::Display| {
        format!("found no request ({why}), expected one as JSON, as the protocol writes it")
    };
    let fields: Value = serde_json::from_str(text).map_err(|error| invalid(&error))?;
    let expected = fields.get("expected").and_then(Value::as_str).unwrap_or_default().to_owned();
    let request = match json::question_from_value(fields).map_err(|error| invalid(&error))? {
        Question::Run(request) => request,
        Question::Infer(_) => return Err(Unwritable("nothing is run for an inference".into()).to_string()),
    };
    let mut program = check(system, &request)
        .and_then(|()| system.program(&request))
        .map_err(|unwritable| unwritable.to_string())?;
    for line in expected.lines() {
        program.push_str(format!("// {line}").trim_end());
        program.push('\n');
    }
    Ok(program)
}

/// Fails if the system does not declare the request, or if the request is too large for a program.
fn check(system: &dyn Programs, request: &Request) -> Result<(), Unwritable> {
    let undeclared = |reason| Unwritable(format!("{} has {reason}", system.name()));
    system.capabilities().covers(request).map_err(undeclared)?;
    let calls = request.operation().expression().map_or(0, |expression| expression.calls().count());
    if calls > MOST_CALLS {
        return Err(Unwritable(format!("it has {calls} calls, and a program at most {MOST_CALLS}")));
    }
    if let Operation::Gradient { expression, wrt } = request.operation()
        && !is_differentiable(expression, *wrt)
    {
        let name = request.operands()[*wrt].name();
        return Err(Unwritable(format!("the result depends on {name} through conditions only")));
    }
    let operands: Vec<&Shape> = request.operands().iter().map(Operand::shape).collect();
    let result = broadcast(&operands);
    let shapes = operands.into_iter().chain(request.operation().target_shape()).chain(result.as_ref());
    for shape in shapes {
        if shape.extent() > MOST_ELEMENTS as u128 {
            let lengths = list(shape.lengths());
            return Err(Unwritable(format!("the shape ({lengths}) has more than {MOST_ELEMENTS} elements")));
        }
    }
    Ok(())
}

/// The shape of the result if the operands broadcast. It only limits the size of a program.
fn broadcast(shapes: &[&Shape]) -> Option<Shape> {
    let rank = shapes.iter().map(|shape| shape.rank()).max().unwrap_or(0);
    let mut common = vec![1; rank];
    for shape in shapes {
        for (length, &own) in common.iter_mut().rev().zip(shape.lengths().iter().rev()) {
            match (*length, own) {
                (_, 1) => {}
                (1, own) => *length = own,
                (length, own) if length == own => {}
                (_, _) => return None,
            }
        }
    }
    Some(Shape::new(common))
}

/// What is listed with commas.
pub fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

/// What each operand is called in the program: its own name if it can be one.
pub fn names(request: &Request) -> Vec<String> {
    let reserved: HashSet<&str> = KEYWORDS.split(' ').chain(TAKEN).collect();
    let mut names: Vec<String> = Vec::new();
    for (place, operand) in request.operands().iter().enumerate() {
        let name = operand.name();
        let is_lower = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
        let fits = name.starts_with(|letter: char| letter.is_ascii_lowercase())
            && name.chars().all(is_lower)
            && !name.starts_with("step_")
            && !reserved.contains(name);
        let mut name = if fits { name.to_owned() } else { format!("operand_{place}") };
        while names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

/// The values of an operand as text, row-major.
pub enum Values {
    /// Each of them, the first with its type: `1f32`, `2.0`.
    Each(Vec<String>),
    /// An array of one value: `[1f32; 300]`.
    Repeated(String),
    /// A vector of numbers at one distance: `(0..=299).collect::<Vec<i64>>()`.
    Range(String),
}

impl Values {
    /// The values of an operand with this name in the program.
    ///
    /// # Errors
    /// There are too many of them, and they follow no formula.
    pub fn new(data: &Data, name: &str) -> Result<Values, Unwritable> {
        let count = data.len();
        if count > FEW_VALUES {
            if data.iter().all(|value| data.get(0) == Some(value)) {
                let first = data.iter().take(1).map(|value| literal(value, true));
                return Ok(Values::Repeated(format!("[{}; {count}]", first.collect::<String>())));
            }
            if let Some(range) = range(data) {
                return Ok(Values::Range(range));
            }
        }
        if count > MOST_VALUES {
            return Err(Unwritable(format!(
                "the operand {name} has {count} elements that follow no formula, and a program at most \
                 {MOST_VALUES}"
            )));
        }
        let texts = data.iter().enumerate().map(|(place, value)| literal(value, place == 0));
        Ok(Values::Each(texts.collect()))
    }
}

/// The texts as arrays in arrays, of a shape without lengths of 0.
pub fn nested(texts: &[String], shape: &[usize]) -> String {
    let [length, inner @ ..] = shape else { return texts[0].clone() };
    let rows: Vec<String> = texts.chunks(texts.len() / length).map(|row| nested(row, inner)).collect();
    format!("[{}]", list(&rows))
}

/// The type in which the values of a dtype are written. Those of f16 and bf16 are written in f32, which
/// represents each of them: Rust has no literals for them.
pub fn written_type(dtype: DType) -> &'static str {
    match dtype {
        DType::F64 => "f64",
        DType::F32 | DType::F16 | DType::Bf16 => "f32",
        DType::I64 => "i64",
        DType::I32 => "i32",
        DType::I16 => "i16",
        DType::I8 => "i8",
        DType::U64 => "u64",
        DType::U32 => "u32",
        DType::U16 => "u16",
        DType::U8 => "u8",
        DType::Bool => "bool",
    }
}

/// A value as text, in as few digits as give it back.
fn literal(value: Scalar, with_type: bool) -> String {
    let written = written_type(value.dtype());
    let text = match value {
        Scalar::F64(value) if !value.is_finite() => return special(value, written),
        Scalar::F32(value) if !value.is_finite() => return special(value.into(), written),
        Scalar::F16(value) if !value.is_finite() => return special(value.into(), written),
        Scalar::Bf16(value) if !value.is_finite() => return special(value.into(), written),
        Scalar::F64(value) => format!("{value:?}"),
        Scalar::F32(value) => format!("{value:?}"),
        Scalar::F16(value) => format!("{:?}", value.to_f32()),
        Scalar::Bf16(value) => format!("{:?}", value.to_f32()),
        Scalar::Bool(value) => return value.to_string(),
        Scalar::I64(_) | Scalar::I32(_) | Scalar::I16(_) | Scalar::I8(_) => value.literal(),
        Scalar::U64(_) | Scalar::U32(_) | Scalar::U16(_) | Scalar::U8(_) => value.literal(),
    };
    if with_type { format!("{}{written}", text.strip_suffix(".0").unwrap_or(&text)) } else { text }
}

/// A float that is not finite.
fn special(value: f64, written: &str) -> String {
    let name = match value {
        value if value.is_nan() => "NAN",
        value if value > 0.0 => "INFINITY",
        _ => "NEG_INFINITY",
    };
    format!("{written}::{name}")
}

/// A vector of these values, if they are whole numbers at one distance.
fn range(data: &Data) -> Option<String> {
    let whole = |value: Scalar| match value.as_f64() {
        // Minus zero is no integer.
        Some(float)
            if float.fract() == 0.0 && float.abs() < 1e9 && !(float == 0.0 && float.is_sign_negative()) =>
        {
            #[allow(clippy::cast_possible_truncation, reason = "it is whole and small")]
            Some(float as i128)
        }
        Some(_) => None,
        None => value.as_i128(),
    };
    let numbers = data.iter().map(whole).collect::<Option<Vec<i128>>>()?;
    let (first, last) = (*numbers.first()?, *numbers.last()?);
    let step = numbers.get(1)? - first;
    if step == 0 || numbers.windows(2).any(|pair| pair[1] - pair[0] != step) {
        return None;
    }
    let mut text = if step > 0 { format!("({first}..={last})") } else { format!("({last}..={first}).rev()") };
    if step.abs() != 1 {
        write!(text, ".step_by({})", step.abs()).expect("a string takes any text");
    }
    let written = written_type(data.dtype());
    if data.dtype().is_float() {
        write!(text, ".map(|value| value as {written})").expect("a string takes any text");
    }
    Some(format!("{text}.collect::<Vec<{written}>>()"))
}

/// How the calls of a system are written.
pub trait Dialect {
    /// A function of these arguments, which are variables or calls. `number` counts the calls from 1.
    fn call(&self, function: Function, arguments: &[String], number: usize) -> String;

    /// The statements that a call needs before it, if every call is a statement of its own.
    fn before(&self, _function: Function, _arguments: &[String]) -> Vec<String> {
        Vec::new()
    }

    /// The arguments of a function in the order of the text.
    fn order(&self, function: Function) -> &'static [usize] {
        &[0, 1, 2][..function.arity()]
    }

    /// An operand where it is used, which is the last use if `is_last`.
    fn operand(&self, name: &str, _is_last: bool) -> String {
        name.to_owned()
    }

    /// Whether every call of an expression is a statement of its own, however short it is.
    fn is_split(&self, _expression: &Expression) -> bool {
        false
    }
}

/// Writes an expression in a dialect.
struct Expressed<'a, D> {
    dialect: &'a D,
    expression: &'a Expression,
    names: &'a [String],
    /// How often each operand is still used.
    uses: Vec<usize>,
    split: bool,
    calls: usize,
    lines: Vec<String>,
}

/// The lines before an expression, and its text. `kept` is an operand that is used afterwards.
pub fn expressed<D: Dialect>(
    dialect: &D,
    expression: &Expression,
    names: &[String],
    kept: Option<usize>,
) -> (Vec<String>, String) {
    let uses = |operand: usize| {
        let read = expression.nodes().iter().filter(|node| **node == Node::Operand(operand)).count();
        read + usize::from(kept == Some(operand))
    };
    let write = |split| {
        let uses = (0..names.len()).map(uses).collect();
        let mut writer = Expressed { dialect, expression, names, uses, split, calls: 0, lines: Vec::new() };
        let text = writer.text(expression.nodes().len() - 1);
        (writer.lines, text)
    };
    if !dialect.is_split(expression) {
        let (lines, text) = write(false);
        if text.len() <= WIDTH {
            return (lines, text);
        }
    }
    write(true)
}

/// Adds the lines before an expression, and returns its text: a variable if it is split into several lines.
pub fn root(steps: Vec<String>, text: String, lines: &mut Vec<String>) -> String {
    if steps.is_empty() {
        return text;
    }
    lines.extend(steps);
    lines.push(format!("let root = {text};"));
    "root".into()
}

impl<D: Dialect> Expressed<'_, D> {
    /// The text of a node.
    fn text(&mut self, place: usize) -> String {
        let call = match self.expression.nodes()[place] {
            Node::Operand(operand) => {
                self.uses[operand] -= 1;
                return self.dialect.operand(&self.names[operand], self.uses[operand] == 0);
            }
            Node::Call(call) => call,
        };
        let function = call.function();
        let mut arguments = vec![None; function.arity()];
        // What is computed in statements comes before the text, so that the last use of an operand is the
        // last one in the program.
        for &argument in self.dialect.order(function) {
            arguments[argument] = self.variable(call.arguments()[argument]);
        }
        for &argument in self.dialect.order(function) {
            if arguments[argument].is_none() {
                arguments[argument] = Some(self.text(call.arguments()[argument]));
            }
        }
        let arguments: Vec<String> = arguments.into_iter().flatten().collect();
        self.calls += 1;
        self.lines.extend(self.dialect.before(function, &arguments));
        self.dialect.call(function, &arguments, self.calls)
    }

    /// The variable for an argument which is computed in a statement of its own.
    fn variable(&mut self, argument: usize) -> Option<String> {
        if !self.split || matches!(self.expression.nodes()[argument], Node::Operand(_)) {
            return None;
        }
        let text = self.text(argument);
        let variable = format!("step_{}", self.calls);
        self.lines.push(format!("let {variable} = {text};"));
        Some(variable)
    }
}

/// A program with these statements: the imports of those items that it names, and a function `main` of this
/// type. An item is a path, of which the last part is its name.
pub fn program(items: &[&str], returns: &str, statements: &[String]) -> String {
    let body: String = statements.iter().map(|line| format!("    {line}\n")).collect();
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words: HashSet<&str> = body.split(|letter| !is_part(letter)).collect();
    let mut uses = String::new();
    for item in items {
        let (path, name) = item.rsplit_once("::").unwrap_or(("", item));
        let used: Vec<&str> =
            name.trim_matches(['{', '}']).split(", ").filter(|name| words.contains(name)).collect();
        match used.as_slice() {
            [] if name == "*" => writeln!(uses, "use {item};"),
            [] => continue,
            [one] => writeln!(uses, "use {path}::{one};"),
            several => writeln!(uses, "use {path}::{{{}}};", several.join(", ")),
        }
        .expect("a string takes any text");
    }
    format!("{uses}\nfn main(){returns} {{\n{body}}}\n")
}
