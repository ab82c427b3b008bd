//! The crate `ndarray` as an implementation: its broadcasting under the rule set `numpy`.
//!
//! Every operand becomes an ndarray view; ndarray broadcasts each view to the common shape or refuses to;
//! then `Zip` applies the functions. This tests ndarray's `broadcast`, its views and its traversal: the
//! functions are Rust's operators. It has no gradients.

#![warn(clippy::wildcard_enum_match_arm)]

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    Capabilities, Convention, DType, Data, Element, Expression, Function, Implementation, Node, Operand,
    Operation, OperationKind, Outcome, Refusal, Request, RuleSet, Shape, Success, Tensor,
};
use ndarray::{ArrayD, ArrayView, ArrayViewD, CowArray, IxDyn, ShapeBuilder, Zip};
use num_traits::{Float, PrimInt, WrappingAdd, WrappingMul, WrappingNeg, WrappingSub};

/// What ndarray follows by its checks and Rust's types, and this file by its choice of operands and
/// functions. Not among them: the kind and axis of a refusal, because ndarray's refusals have none; and
/// gradients.
const CONVENTIONS: [Convention; 5] = [
    // `broadcast` checks the product of the lengths of the target before it makes a view.
    Convention::CheckedSizes,
    // An operator of two element types does not compile.
    Convention::SeparateDtypes,
    // `answer` broadcasts every operand.
    Convention::UnusedOperands,
    // `float`, `integer` and `boolean` have the functions of clause V-2.
    Convention::UndefinedFunctions,
    // `larger` is written for this; Rust's `max` may return a zero of either sign.
    Convention::ZeroSigns,
];

/// The crate `ndarray` behind the suite's trait.
pub struct Ndarray {
    capabilities: Capabilities,
}

impl Ndarray {
    /// The version that broadcheck is built with.
    pub const VERSION: &'static str = "0.17.2";

    /// ndarray as an implementation.
    pub fn new() -> Ndarray {
        let capabilities = Capabilities {
            rules: vec![RuleSet::Numpy],
            operations: vec![OperationKind::Elementwise, OperationKind::Broadcast],
            conventions: CONVENTIONS.to_vec(),
            ..Capabilities::all()
        };
        Ndarray { capabilities }
    }
}

impl Default for Ndarray {
    fn default() -> Self {
        Ndarray::new()
    }
}

impl Implementation for Ndarray {
    fn name(&self) -> &str {
        "ndarray"
    }

    fn version(&self) -> &str {
        Ndarray::VERSION
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn run(&self, request: &Request) -> Outcome {
        match answer(request, self.capabilities.max_elements) {
            Ok(tensor) => Outcome::Success(Success::from(tensor)),
            Err(NoResult::Refused(message)) => Outcome::Refusal(Refusal { message, ..Refusal::default() }),
            Err(NoResult::Skipped(reason)) => Outcome::Skipped { reason },
        }
    }
}

/// Why there is no result.
enum NoResult {
    Refused(String),
    Skipped(String),
}

fn refused(message: impl Into<String>) -> NoResult {
    NoResult::Refused(message.into())
}

fn answer(request: &Request, max_elements: usize) -> Result<Tensor, NoResult> {
    let (target, expression) = match request.operation() {
        Operation::Broadcast { target_shape } => (target_shape.to_vec(), &Expression::operand(0)),
        Operation::Elementwise { expression } => (common_shape(request.operands()), expression),
        Operation::Into { .. } => return Err(NoResult::Skipped("no destinations".into())),
        Operation::Gradient { .. } | Operation::Vjp { .. } => {
            return Err(NoResult::Skipped("ndarray has no gradients".into()));
        }
    };
    // All operands take part in the common shape, whether or not the expression reads them.
    let views: Vec<Array<'_>> = request.operands().iter().map(Array::view_of).collect::<Result<_, _>>()?;
    let wide: Vec<Array<'_>> = views.iter().map(|view| view.broadcast(&target)).collect::<Result<_, _>>()?;
    // A limit must not hide a refusal: what Rust's types do not allow is found on arrays without elements.
    let empty: Vec<Array<'_>> =
        request.operands().iter().map(|operand| Array::empty(operand.dtype())).collect();
    evaluate(expression, &empty)?;
    if let Some(count) = Shape::from(&target[..]).count().filter(|&count| count > max_elements) {
        return Err(NoResult::Skipped(format!("{count} elements are above the limit {max_elements}")));
    }
    Ok(evaluate(expression, &wide)?.into_tensor())
}

/// Evaluates the expression function by function. Each result is a new array.
fn evaluate<'a>(expression: &Expression, operands: &[Array<'a>]) -> Result<Array<'a>, NoResult> {
    let mut values: Vec<Array<'a>> = Vec::with_capacity(expression.nodes().len());
    for node in expression.nodes() {
        let value = match node {
            Node::Operand(place) => operands[*place].clone(),
            Node::Call(call) => {
                let arguments: Vec<&Array<'a>> =
                    call.arguments().iter().map(|&place| &values[place]).collect();
                call_function(call.function(), &arguments)?
            }
        };
        values.push(value);
    }
    Ok(values.pop().expect("an expression has a root"))
}

/// The length that every axis must have if the operands are compatible; ndarray decides whether they are.
fn common_shape(operands: &[Operand]) -> Vec<usize> {
    let rank = operands.iter().map(Operand::rank).max().unwrap_or(0);
    let length = |axis: usize| {
        let of = |operand: &Operand| {
            let place = (axis + operand.rank()).checked_sub(rank)?;
            Some(operand.shape()[place]).filter(|&length| length != 1)
        };
        operands.iter().find_map(of).unwrap_or(1)
    };
    (0..rank).map(length).collect()
}

/// An operand as an ndarray view. ndarray expects the slice to begin at the lowest element that is read, and
/// negative strides as two's complement in `usize`.
fn view_of<'a, T: Element>(values: &'a [T], operand: &Operand) -> Result<ArrayViewD<'a, T>, NoResult> {
    let shape = IxDyn(operand.shape());
    let failed = |error: ndarray::ShapeError| refused(error.to_string());
    let Some(strides) = operand.strides().filter(|_| !operand.shape().contains(&0)) else {
        return ArrayView::from_shape(shape, values).map_err(failed);
    };
    let reach = |(&length, &stride): (&usize, &i64)| i128::from(stride) * (length as i128 - 1);
    let below: i128 = operand.shape().iter().zip(strides).map(reach).filter(|&reach| reach < 0).sum();
    let lowest = usize::try_from(operand.offset() as i128 + below).expect("a view stays inside its buffer");
    // The stride of an axis of length 1 is never used and may have any size.
    let steps =
        operand.shape().iter().zip(strides).map(|(&length, &stride)| if length == 1 { 0 } else { stride });
    let strides: Vec<usize> = steps
        .map(|stride| isize::try_from(stride).map(isize::cast_unsigned))
        .collect::<Result<_, _>>()
        .expect("a stride that is used stays inside the buffer");
    ArrayView::from_shape(shape.strides(IxDyn(&strides)), &values[lowest..]).map_err(failed)
}

fn broadcast<'a, T: Element>(
    view: &'a CowArray<'_, T, IxDyn>,
    target: &[usize],
) -> Result<CowArray<'a, T, IxDyn>, NoResult> {
    let refusal =
        || refused(format!("could not broadcast array from shape: {:?} to: {target:?}", view.shape()));
    view.broadcast(IxDyn(target)).map(CowArray::from).ok_or_else(refusal)
}

macro_rules! arrays {
    ($($variant:ident $type:ty, $kernel:ident;)*) => {
        /// An ndarray of any dtype: a view of an operand, or a result.
        #[derive(Clone)]
        enum Array<'a> { $($variant(CowArray<'a, $type, IxDyn>),)* }

        impl<'a> Array<'a> {
            /// A view of the operand.
            fn view_of(operand: &'a Operand) -> Result<Array<'a>, NoResult> {
                match operand.values() {
                    $(Data::$variant(values) => view_of(values, operand).map(|view| Array::$variant(view.into())),)*
                }
            }

            /// The view broadcast by ndarray, or ndarray's refusal.
            fn broadcast<'b>(&'b self, target: &[usize]) -> Result<Array<'b>, NoResult> {
                match self { $(Array::$variant(view) => broadcast(view, target).map(Array::$variant),)* }
            }

            fn empty(dtype: DType) -> Array<'a> {
                let nothing = IxDyn(&[0]);
                match dtype {
                    $(DType::$variant => Array::$variant(ArrayD::from_elem(nothing, <$type>::default()).into()),)*
                }
            }

            fn into_tensor(self) -> Tensor {
                let (shape, values) = match self {
                    $(Array::$variant(array) => {
                        let shape = Shape::from(array.shape());
                        (shape, Data::from(array.iter().copied().collect::<Vec<$type>>()))
                    })*
                };
                Tensor::new(shape, values).expect("ndarray holds one value per element")
            }
        }

        /// Applies a function of the format to arrays. What Rust's types do not allow is refused, without a
        /// kind.
        fn call_function<'a>(function: Function, arguments: &[&Array<'_>]) -> Result<Array<'a>, NoResult> {
            let found = match arguments {
                $([Array::$variant(a)] => match $kernel(function) {
                    Kernel::Unary(kernel) => Some(Array::$variant(map(a, kernel).into())),
                    Kernel::Binary(_) | Kernel::Comparison(_) | Kernel::Select | Kernel::Undefined => None,
                },
                [Array::$variant(a), Array::$variant(b)] => match $kernel(function) {
                    Kernel::Binary(kernel) => Some(Array::$variant(zip(a, b, kernel).into())),
                    Kernel::Comparison(kernel) => Some(Array::Bool(zip(a, b, kernel).into())),
                    Kernel::Unary(_) | Kernel::Select | Kernel::Undefined => None,
                },
                [Array::Bool(condition), Array::$variant(then), Array::$variant(other)] => {
                    let kernel: Kernel<$type> = $kernel(function);
                    let selected = || Array::$variant(select(condition, then, other).into());
                    matches!(kernel, Kernel::Select).then(selected)
                })*
                _ => None,
            };
            found.ok_or_else(|| refused(format!("`{function}` does not compile for these element types")))
        }
    };
}

arrays! {
    F64 f64, float; F32 f32, float; F16 f16, float; Bf16 bf16, float;
    I64 i64, integer; I32 i32, integer; I16 i16, integer; I8 i8, integer;
    U64 u64, integer; U32 u32, integer; U16 u16, integer; U8 u8, integer;
    Bool bool, boolean;
}

/// An argument of a function: a view of an operand, or an earlier result.
type Argument<'a, T> = CowArray<'a, T, IxDyn>;

/// A function of the format on elements of one type. The kernels are function pointers so that ndarray's
/// loops are compiled only once for each pair of types.
enum Kernel<T> {
    Unary(fn(T) -> T),
    Binary(fn(T, T) -> T),
    Comparison(fn(T, T) -> bool),
    Select,
    /// The function does not exist for this type.
    Undefined,
}

/// Applies a Rust function to one array.
fn map<T: Copy, R: Copy>(array: &Argument<'_, T>, function: fn(T) -> R) -> ArrayD<R> {
    array.mapv(function)
}

/// Applies a Rust function to two arrays of the same shape.
fn zip<T: Copy, R: Copy>(a: &Argument<'_, T>, b: &Argument<'_, T>, function: fn(T, T) -> R) -> ArrayD<R> {
    Zip::from(a).and(b).map_collect(|&a, &b| function(a, b))
}

fn select<T: Copy>(
    condition: &Argument<'_, bool>,
    then: &Argument<'_, T>,
    other: &Argument<'_, T>,
) -> ArrayD<T> {
    Zip::from(condition).and(then).and(other).map_collect(|&c, &a, &b| if c { a } else { b })
}

fn float<T: Float>(function: Function) -> Kernel<T> {
    match function {
        Function::Add => Kernel::Binary(|a, b| a + b),
        Function::Subtract => Kernel::Binary(|a, b| a - b),
        Function::Multiply => Kernel::Binary(|a, b| a * b),
        Function::Divide => Kernel::Binary(|a, b| a / b),
        Function::Maximum => Kernel::Binary(larger),
        Function::Minimum => Kernel::Binary(|a, b| -larger(-a, -b)),
        Function::Power => Kernel::Binary(T::powf),
        Function::Equal => Kernel::Comparison(|a, b| a == b),
        Function::NotEqual => Kernel::Comparison(|a, b| a != b),
        Function::Less => Kernel::Comparison(|a, b| a < b),
        Function::LessEqual => Kernel::Comparison(|a, b| a <= b),
        Function::Greater => Kernel::Comparison(|a, b| a > b),
        Function::GreaterEqual => Kernel::Comparison(|a, b| a >= b),
        Function::Negate => Kernel::Unary(|a| -a),
        Function::Abs => Kernel::Unary(T::abs),
        Function::Sqrt => Kernel::Unary(T::sqrt),
        Function::Exp => Kernel::Unary(T::exp),
        Function::Log => Kernel::Unary(T::ln),
        Function::Tanh => Kernel::Unary(T::tanh),
        Function::Select => Kernel::Select,
        Function::LogicalAnd | Function::LogicalOr | Function::LogicalNot => Kernel::Undefined,
    }
}

/// The larger value; NaN if either is NaN; +0 above -0 (clause V-3). Rust's `max` would return a number for
/// NaN.
fn larger<T: Float>(a: T, b: T) -> T {
    if a.is_nan() || b.is_nan() {
        T::nan()
    } else if a > b || (a == b && b.is_sign_negative()) {
        a
    } else {
        b
    }
}

fn integer<T: PrimInt + WrappingAdd + WrappingSub + WrappingMul + WrappingNeg>(
    function: Function,
) -> Kernel<T> {
    match function {
        Function::Add => Kernel::Binary(|a, b| a.wrapping_add(&b)),
        Function::Subtract => Kernel::Binary(|a, b| a.wrapping_sub(&b)),
        Function::Multiply => Kernel::Binary(|a, b| a.wrapping_mul(&b)),
        Function::Maximum => Kernel::Binary(T::max),
        Function::Minimum => Kernel::Binary(T::min),
        Function::Equal => Kernel::Comparison(|a, b| a == b),
        Function::NotEqual => Kernel::Comparison(|a, b| a != b),
        Function::Less => Kernel::Comparison(|a, b| a < b),
        Function::LessEqual => Kernel::Comparison(|a, b| a <= b),
        Function::Greater => Kernel::Comparison(|a, b| a > b),
        Function::GreaterEqual => Kernel::Comparison(|a, b| a >= b),
        Function::Negate => Kernel::Unary(|a| a.wrapping_neg()),
        Function::Abs => Kernel::Unary(|a| if a < T::zero() { a.wrapping_neg() } else { a }),
        Function::Select => Kernel::Select,
        Function::Divide
        | Function::Power
        | Function::LogicalAnd
        | Function::LogicalOr
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh
        | Function::LogicalNot => Kernel::Undefined,
    }
}

fn boolean(function: Function) -> Kernel<bool> {
    match function {
        Function::LogicalAnd => Kernel::Binary(|a, b| a && b),
        Function::LogicalOr => Kernel::Binary(|a, b| a || b),
        Function::LogicalNot => Kernel::Unary(|a| !a),
        Function::Equal => Kernel::Comparison(|a, b| a == b),
        Function::NotEqual => Kernel::Comparison(|a, b| a != b),
        Function::Select => Kernel::Select,
        Function::Add
        | Function::Subtract
        | Function::Multiply
        | Function::Divide
        | Function::Maximum
        | Function::Minimum
        | Function::Power
        | Function::Less
        | Function::LessEqual
        | Function::Greater
        | Function::GreaterEqual
        | Function::Negate
        | Function::Abs
        | Function::Sqrt
        | Function::Exp
        | Function::Log
        | Function::Tanh => Kernel::Undefined,
    }
}
