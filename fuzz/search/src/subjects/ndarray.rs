//! The crate `ndarray` as an implementation: its broadcasting under the rule set `numpy`.
//!
//! Every operand becomes an ndarray view; ndarray broadcasts each view to the common shape or refuses to;
//! then `Zip` applies the functions. This tests ndarray's `broadcast`, its views and its traversal: the
//! functions are Rust's operators. It has no gradients.

use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{
    Capabilities, DType, Data, Element, Expression, Function, Implementation, Node, Operand, Operation,
    OperationKind, Outcome, Refusal, Request, RuleSet, Shape, Success, Tensor,
};
use ndarray::{ArrayD, ArrayView, ArrayViewD, CowArray, IxDyn, ShapeBuilder, Zip};
use num_traits::{Float, PrimInt, WrappingAdd, WrappingMul, WrappingNeg, WrappingSub};

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
            ..Capabilities::with_all_conventions()
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
        Operation::Gradient { .. } => return Err(NoResult::Skipped("ndarray has no gradients".into())),
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
    ($($variant:ident $type:ty;)*) => {
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
    };
}

arrays! {
    F64 f64; F32 f32; F16 f16; Bf16 bf16;
    I64 i64; I32 i32; I16 i16; I8 i8;
    U64 u64; U32 u32; U16 u16; U8 u8;
    Bool bool;
}

/// An argument of a function: a view of an operand, or an earlier result.
type Argument<'a, T> = CowArray<'a, T, IxDyn>;

/// Applies a Rust function to one array. It takes a function pointer so that ndarray's loops are compiled
/// only once for each pair of types.
fn map<T: Copy, R: Copy>(array: &Argument<'_, T>, function: fn(T) -> R) -> ArrayD<R> {
    array.mapv(function)
}

/// Applies a Rust function to two arrays of the same shape.
fn zip<T: Copy, R: Copy>(a: &Argument<'_, T>, b: &Argument<'_, T>, function: fn(T, T) -> R) -> ArrayD<R> {
    Zip::from(a).and(b).map_collect(|&a, &b| function(a, b))
}

/// Applies a function of the format to arrays. What Rust's types do not allow is refused, without a kind.
fn call_function<'a>(function: Function, arguments: &[&Array<'_>]) -> Result<Array<'a>, NoResult> {
    use Array::{Bf16, Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    macro_rules! dispatch {
        (floats $($float:ident)*; integers $($integer:ident)*;) => {
            match arguments {
                [Bool(a)] => (function == Function::LogicalNot).then(|| Bool(map(a, |a| !a).into())),
                [Bool(a), Bool(b)] => logic(function, a, b).map(|array| Bool(array.into())),
                [Bool(condition), Bool(then), Bool(other)] => Some(Bool(select(condition, then, other).into())),
                $([$float(a)] => float_unary(function, a).map(|array| $float(array.into())),
                [$float(a), $float(b)] => {
                    float_binary(function, a, b).map(|array| $float(array.into())).or_else(|| comparison(function, a, b).map(|array| Bool(array.into())))
                }
                [Bool(condition), $float(then), $float(other)] => Some($float(select(condition, then, other).into())),)*
                $([$integer(a)] => integer_unary(function, a).map(|array| $integer(array.into())),
                [$integer(a), $integer(b)] => {
                    integer_binary(function, a, b).map(|array| $integer(array.into())).or_else(|| comparison(function, a, b).map(|array| Bool(array.into())))
                }
                [Bool(condition), $integer(then), $integer(other)] => {
                    Some($integer(select(condition, then, other).into()))
                })*
                _ => None,
            }
        };
    }
    let found = dispatch! {
        floats F64 F32 F16 Bf16;
        integers I64 I32 I16 I8 U64 U32 U16 U8;
    };
    found.ok_or_else(|| refused(format!("`{function}` does not compile for these element types")))
}

fn select<T: Copy>(
    condition: &Argument<'_, bool>,
    then: &Argument<'_, T>,
    other: &Argument<'_, T>,
) -> ArrayD<T> {
    Zip::from(condition).and(then).and(other).map_collect(|&c, &a, &b| if c { a } else { b })
}

fn logic(function: Function, a: &Argument<'_, bool>, b: &Argument<'_, bool>) -> Option<ArrayD<bool>> {
    Some(match function {
        Function::LogicalAnd => zip(a, b, |a, b| a && b),
        Function::LogicalOr => zip(a, b, |a, b| a || b),
        Function::Equal => zip(a, b, |a, b| a == b),
        Function::NotEqual => zip(a, b, |a, b| a != b),
        _ => return None,
    })
}

fn comparison<T: Copy + PartialOrd>(
    function: Function,
    a: &Argument<'_, T>,
    b: &Argument<'_, T>,
) -> Option<ArrayD<bool>> {
    Some(match function {
        Function::Equal => zip(a, b, |a, b| a == b),
        Function::NotEqual => zip(a, b, |a, b| a != b),
        Function::Less => zip(a, b, |a, b| a < b),
        Function::LessEqual => zip(a, b, |a, b| a <= b),
        Function::Greater => zip(a, b, |a, b| a > b),
        Function::GreaterEqual => zip(a, b, |a, b| a >= b),
        _ => return None,
    })
}

fn float_unary<T: Float>(function: Function, a: &Argument<'_, T>) -> Option<ArrayD<T>> {
    Some(match function {
        Function::Negate => map(a, |a| -a),
        Function::Abs => map(a, T::abs),
        Function::Sqrt => map(a, T::sqrt),
        Function::Exp => map(a, T::exp),
        Function::Log => map(a, T::ln),
        Function::Tanh => map(a, T::tanh),
        _ => return None,
    })
}

fn float_binary<T: Float>(function: Function, a: &Argument<'_, T>, b: &Argument<'_, T>) -> Option<ArrayD<T>> {
    Some(match function {
        Function::Add => zip(a, b, |a, b| a + b),
        Function::Subtract => zip(a, b, |a, b| a - b),
        Function::Multiply => zip(a, b, |a, b| a * b),
        Function::Divide => zip(a, b, |a, b| a / b),
        Function::Power => zip(a, b, T::powf),
        Function::Maximum => zip(a, b, larger),
        Function::Minimum => zip(a, b, |a, b| -larger(-a, -b)),
        _ => return None,
    })
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

fn integer_unary<T: PrimInt + WrappingNeg>(function: Function, a: &Argument<'_, T>) -> Option<ArrayD<T>> {
    Some(match function {
        Function::Negate => map(a, |a| a.wrapping_neg()),
        Function::Abs => map(a, |a| if a < T::zero() { a.wrapping_neg() } else { a }),
        _ => return None,
    })
}

fn integer_binary<T: PrimInt + WrappingAdd + WrappingSub + WrappingMul>(
    function: Function,
    a: &Argument<'_, T>,
    b: &Argument<'_, T>,
) -> Option<ArrayD<T>> {
    Some(match function {
        Function::Add => zip(a, b, |a, b| a.wrapping_add(&b)),
        Function::Subtract => zip(a, b, |a, b| a.wrapping_sub(&b)),
        Function::Multiply => zip(a, b, |a, b| a.wrapping_mul(&b)),
        Function::Maximum => zip(a, b, T::max),
        Function::Minimum => zip(a, b, T::min),
        _ => return None,
    })
}
