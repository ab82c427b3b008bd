//! A small array library, written for clarity. It follows the rule set `numpy`, in every dtype except f16 and
//! bf16.
//!
//! BUG=1, 2 or 3 in the environment plants a bug, to show that the cases find it.

use std::cmp::Ordering;
use std::rc::Rc;

pub const DTYPES: [&str; 11] = ["f64", "f32", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool"];
const MAX_COMPUTED: usize = 1 << 24;

fn bug(number: &str) -> bool {
    std::env::var("BUG").is_ok_and(|chosen| chosen == number)
}

/// An element: an `f32` is held as the same `f64`, an integer as the same `i128`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Value {
    Bool(bool),
    Int(i128),
    Float(f64),
}

#[derive(Debug)]
pub struct Refused {
    pub kind: &'static str,
    pub axis: Option<usize>,
}

fn refused<T>(kind: &'static str, axis: Option<usize>) -> Result<T, Refused> {
    Err(Refused { kind, axis })
}

/// A view of a buffer: the element at index i is at offset + the sum of i[k] * strides[k].
#[derive(Clone)]
pub struct Array {
    dtype: String,
    shape: Vec<usize>,
    strides: Vec<isize>,
    offset: usize,
    buffer: Rc<Vec<Value>>,
}

impl Array {
    /// An array with its elements in row-major order.
    pub fn dense(dtype: &str, shape: Vec<usize>, values: Vec<Value>) -> Result<Self, Refused> {
        let strides = dense(&shape);
        Self::view(dtype, shape, values, strides, 0)
    }

    pub fn view(
        dtype: &str,
        shape: Vec<usize>,
        values: Vec<Value>,
        strides: Vec<isize>,
        offset: usize,
    ) -> Result<Self, Refused> {
        Self { dtype: dtype.into(), shape, strides, offset, buffer: values.into() }.checked()
    }

    fn checked(self) -> Result<Self, Refused> {
        let lengths = self.shape.iter().filter(|&&length| length > 0);
        match lengths.copied().try_fold(1_usize, usize::checked_mul) {
            Some(count) if isize::try_from(count).is_ok() => Ok(self),
            _ => refused("too_large", None),
        }
    }

    pub fn dtype(&self) -> &str {
        &self.dtype
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements in row-major order.
    pub fn values(&self) -> Vec<Value> {
        if self.shape.contains(&0) {
            return Vec::new();
        }
        let mut places = vec![self.offset as isize];
        for (&length, &stride) in self.shape.iter().zip(&self.strides) {
            assert!(length <= MAX_COMPUTED / places.len(), "too many elements");
            places = places
                .iter()
                .flat_map(|place| (0..length as isize).map(move |i| place + i * stride))
                .collect();
        }
        places.into_iter().map(|place| self.buffer[usize::try_from(place).unwrap()]).collect()
    }

    /// A view with the shape: axes are aligned at the right, and those of length 1 get the stride 0.
    pub fn broadcast_to(&self, shape: &[usize]) -> Result<Self, Refused> {
        let Some(missing) = shape.len().checked_sub(self.shape.len()) else {
            return refused("rank_mismatch", None);
        };
        let mut strides = vec![0; shape.len()];
        for (axis, &length) in self.shape.iter().enumerate() {
            // With the bug, a length is repeated where it divides the target's.
            let repeats = bug("1") && length > 0 && shape[missing + axis].is_multiple_of(length);
            if length != 1 && length != shape[missing + axis] && !repeats {
                return refused("dimension_mismatch", Some(missing + axis));
            }
            strides[missing + axis] = if length == 1 { 0 } else { self.strides[axis] };
        }
        // With the bug, the result begins where the buffer does.
        let offset = if bug("2") { 0 } else { self.offset };
        Self { shape: shape.into(), strides, offset, ..self.clone() }.checked()
    }
}

fn dense(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1_isize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].wrapping_mul(shape[axis] as isize);
    }
    strides
}

/// On each axis, the one length other than 1.
fn common_shape(arrays: &[Array]) -> Result<Vec<usize>, Refused> {
    let rank = arrays.iter().map(|array| array.shape.len()).max().unwrap_or(0);
    let mut common = vec![1; rank];
    for array in arrays {
        for (axis, &length) in (rank - array.shape.len()..).zip(&array.shape) {
            if length != 1 && common[axis] != 1 && length != common[axis] {
                return refused("dimension_mismatch", Some(axis));
            } else if length != 1 {
                common[axis] = length;
            }
        }
    }
    Ok(common)
}

/// Applies a function to arrays, broadcast to their common shape.
pub fn apply(name: &str, arrays: &[Array]) -> Result<Array, Refused> {
    let dtype = arrays.last().expect("a function has arguments").dtype.clone();
    let typed = if name == "select" { &arrays[1..] } else { arrays };
    if typed.iter().any(|array| array.dtype != dtype) || (name == "select" && arrays[0].dtype != "bool") {
        return refused("dtype_mismatch", None);
    }
    let zero = match dtype.as_str() {
        "bool" => Value::Bool(false),
        "f64" | "f32" => Value::Float(0.0),
        _ => Value::Int(0),
    };
    if compute(name, &vec![zero; typed.len()]).is_none() && name != "select" {
        return refused("unsupported_function", None);
    }
    let shape = common_shape(arrays)?;
    let columns = arrays.iter().map(|array| array.broadcast_to(&shape).map(|view| view.values()));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let rows = (0..columns[0].len()).map(|i| columns.iter().map(|column| column[i]).collect::<Vec<_>>());
    let values: Vec<Value> = rows
        .map(|row| match (name, row[0]) {
            ("select", Value::Bool(true)) => row[1],
            ("select", _) => row[2],
            _ => rounded(&dtype, compute(name, &row).expect("the function is defined for the dtype")),
        })
        .collect();
    let compares = name.contains("equal") || name == "less" || name == "greater";
    Array::dense(if compares { "bool" } else { &dtype }, shape, values)
}

/// A function of elements; `None` if it is not defined for them.
fn compute(name: &str, arguments: &[Value]) -> Option<Value> {
    use Value::{Bool, Float, Int};
    let (x, y) = (*arguments.first()?, *arguments.last()?);
    let order = x.partial_cmp(&y);
    match (name, x, y) {
        ("equal", ..) => return Some(Bool(x == y)),
        ("not_equal", ..) => return Some(Bool(x != y)),
        (_, Bool(x), Bool(y)) => {
            return match name {
                "logical_and" => Some(Bool(x && y)),
                "logical_or" => Some(Bool(x || y)),
                "logical_not" => Some(Bool(!x)),
                _ => None,
            }
        }
        ("less", ..) => return Some(Bool(order == Some(Ordering::Less))),
        ("less_equal", ..) => return Some(Bool(matches!(order, Some(Ordering::Less | Ordering::Equal)))),
        ("greater", ..) => return Some(Bool(order == Some(Ordering::Greater))),
        ("greater_equal", ..) => {
            return Some(Bool(matches!(order, Some(Ordering::Greater | Ordering::Equal))))
        }
        _ => {}
    }
    Some(match (name, x, y) {
        ("add", Int(x), Int(y)) => Int(x + y),
        ("subtract", Int(x), Int(y)) => Int(x - y),
        ("multiply", Int(x), Int(y)) => Int(x.wrapping_mul(y)), // the low 64 bits are right
        ("maximum", Int(x), Int(y)) => Int(x.max(y)),
        ("minimum", Int(x), Int(y)) => Int(x.min(y)),
        ("negate", Int(x), _) => Int(-x),
        ("abs", Int(x), _) => Int(x.abs()),
        ("add", Float(x), Float(y)) => Float(x + y),
        ("subtract", Float(x), Float(y)) => Float(x - y),
        ("multiply", Float(x), Float(y)) => Float(x * y),
        ("divide", Float(x), Float(y)) => Float(x / y),
        ("power", Float(x), Float(y)) => Float(x.powf(y)),
        ("maximum", Float(x), Float(y)) => Float(larger(x, y)),
        ("minimum", Float(x), Float(y)) => Float(-larger(-x, -y)),
        ("negate", Float(x), _) => Float(-x),
        ("abs", Float(x), _) => Float(x.abs()),
        ("sqrt", Float(x), _) => Float(x.sqrt()),
        ("exp", Float(x), _) => Float(x.exp()),
        ("log", Float(x), _) => Float(x.ln()),
        ("tanh", Float(x), _) => Float(x.tanh()),
        _ => return None,
    })
}

fn larger(x: f64, y: f64) -> f64 {
    if bug("3") {
        x.max(y) // returns the number where one of them is NaN
    } else if x.is_nan() || y.is_nan() {
        f64::NAN
    } else if x > y || (x == y && x.is_sign_positive()) {
        x
    } else {
        y
    }
}

/// Brings a value into the dtype: a float is rounded once, an integer wraps.
fn rounded(dtype: &str, value: Value) -> Value {
    match (dtype, value) {
        ("f32", Value::Float(x)) => Value::Float(f64::from(x as f32)),
        ("i64", Value::Int(n)) => Value::Int((n as i64).into()),
        ("i32", Value::Int(n)) => Value::Int((n as i32).into()),
        ("i16", Value::Int(n)) => Value::Int((n as i16).into()),
        ("i8", Value::Int(n)) => Value::Int((n as i8).into()),
        ("u64", Value::Int(n)) => Value::Int((n as u64).into()),
        ("u32", Value::Int(n)) => Value::Int((n as u32).into()),
        ("u16", Value::Int(n)) => Value::Int((n as u16).into()),
        ("u8", Value::Int(n)) => Value::Int((n as u8).into()),
        _ => value,
    }
}
