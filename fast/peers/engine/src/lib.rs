//! The engine behind four C functions. A task is created once from JSON and run many times on the caller's
//! memory. It is timed here, so that the overhead of a call from Python is not included.
//!
//! A task is `{"engine": "fast", "dtypes": ["f64", "f64"], "shapes": [[3, 1], [4]], "expression":
//! ["add", 0, 1]}`. A number in the expression is the index of an operand. The engine is `fast`, or `ndarray`
//! for expressions of f64 or of f32 that its `Zip` supports.

mod peer;

use broadcheck_fast::{Input, Level, Output, Plan};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{DType, Data, Expression, Operand, Operation, Request, Rules};
use serde_json::Value;
use std::error::Error;
use std::ffi::{CStr, CString, c_char, c_void};
use std::time::Instant;

/// A task, with the dtypes and shapes of its operands and its result.
pub struct Task {
    work: Work,
    dtypes: Vec<DType>,
    shapes: Vec<Vec<usize>>,
    result: Vec<usize>,
    /// The name of the dtype of the result.
    dtype: CString,
}

enum Work {
    Fast(Box<Plan>),
    Ndarray(peer::Formula),
}

fn expression(value: &Value) -> Result<Expression, Box<dyn Error>> {
    if let Some(place) = value.as_u64() {
        return Ok(Expression::operand(usize::try_from(place)?));
    }
    let list = value.as_array().ok_or("an expression is a number or a list")?;
    let name = list.first().and_then(Value::as_str).ok_or("a list begins with a function's name")?;
    let arguments: Result<Vec<Expression>, _> = list[1..].iter().map(expression).collect();
    Ok(Expression::call(name.parse()?, arguments?)?)
}

impl Task {
    fn new(text: &str) -> Result<Task, Box<dyn Error>> {
        let task: Value = serde_json::from_str(text)?;
        let shapes: Vec<Vec<usize>> = serde_json::from_value(task["shapes"].clone())?;
        let names: Vec<String> = serde_json::from_value(task["dtypes"].clone())?;
        let dtypes = names.iter().map(|name| name.parse()).collect::<Result<Vec<DType>, _>>()?;
        let operand = |((place, shape), &dtype): ((usize, &Vec<usize>), &DType)| {
            // Planning depends only on shapes, so these values are never read.
            Operand::dense(format!("x{place}"), &shape[..], zeros(dtype, shape.iter().product()))
        };
        let operands: Result<Vec<Operand>, _> = shapes.iter().enumerate().zip(&dtypes).map(operand).collect();
        let operation = Operation::Elementwise { expression: expression(&task["expression"])? };
        let plan = Plan::new(&Request::new(Rules::Numpy, operation, operands?)?)
            .map_err(|error| format!("no plan: {error:?}"))?;
        let (result, dtype) = (plan.shape().to_vec(), CString::new(plan.dtype().name())?);
        let work = match task["engine"].as_str() {
            Some("fast") => Work::Fast(Box::new(plan)),
            Some("ndarray") => Work::Ndarray(peer::Formula::of(&task["expression"])?),
            _ => return Err("the engine is `fast` or `ndarray`".into()),
        };
        Ok(Task { work, dtypes, shapes, result, dtype })
    }

    /// The seconds of a number of runs.
    ///
    /// # Safety
    /// `inputs` contains a pointer for each operand, to as many values of its dtype as its shape has.
    /// `output` points to as many writable values as the result has, which nothing else accesses during the
    /// call.
    unsafe fn run(&self, inputs: *const *const c_void, output: *mut c_void, repeats: u64) -> f64 {
        let count = self.result.iter().product();
        match &self.work {
            Work::Fast(plan) => {
                let operands = self.shapes.iter().zip(&self.dtypes).enumerate();
                let inputs: Vec<Input<'_>> = operands
                    // SAFETY: guaranteed by the caller.
                    .map(|(place, (shape, dtype))| unsafe {
                        input(*dtype, *inputs.add(place), shape.iter().product())
                    })
                    .collect();
                // SAFETY: guaranteed by the caller.
                timed(repeats, || plan.run_into(&inputs, unsafe { out(plan.dtype(), output, count) }).is_ok())
            }
            Work::Ndarray(formula) => {
                let is = |dtype| self.dtypes.iter().all(|&other| other == dtype);
                // SAFETY: guaranteed by the caller.
                unsafe {
                    if is(DType::F64) {
                        self.run_ndarray::<f64>(formula, inputs, output, repeats)
                    } else if is(DType::F32) {
                        self.run_ndarray::<f32>(formula, inputs, output, repeats)
                    } else {
                        f64::NAN
                    }
                }
            }
        }
    }

    /// The same for `ndarray`.
    ///
    /// # Safety
    /// As for [`Task::run`], for operands and a result of type `T`.
    unsafe fn run_ndarray<T: peer::Real>(
        &self,
        formula: &peer::Formula,
        inputs: *const *const c_void,
        output: *mut c_void,
        repeats: u64,
    ) -> f64 {
        let values: Vec<&[T]> = (self.shapes.iter().enumerate())
            .map(|(place, shape)| {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    std::slice::from_raw_parts((*inputs.add(place)).cast::<T>(), shape.iter().product())
                }
            })
            .collect();
        // SAFETY: guaranteed by the caller.
        let out = unsafe { std::slice::from_raw_parts_mut(output.cast::<T>(), self.result.iter().product()) };
        let views = peer::views(&values, &self.shapes);
        timed(repeats, || formula.run(&views, &self.result, out))
    }
}

macro_rules! buffers {
    ($($variant:ident $type:ty;)*) => {
        /// As many zeros.
        fn zeros(dtype: DType, count: usize) -> Data {
            match dtype { $(DType::$variant => Data::from(vec![<$type>::default(); count]),)* }
        }

        /// The values of an operand.
        ///
        /// # Safety
        /// There are as many values of the dtype.
        unsafe fn input<'a>(dtype: DType, from: *const c_void, count: usize) -> Input<'a> {
            match dtype {
                $(DType::$variant => {
                    // SAFETY: guaranteed by the caller.
                    Input::from(unsafe { std::slice::from_raw_parts(from.cast::<$type>(), count) })
                })*
            }
        }

        /// The places of a result.
        ///
        /// # Safety
        /// There are as many places of the dtype, which nothing else accesses.
        unsafe fn out<'a>(dtype: DType, to: *mut c_void, count: usize) -> Output<'a> {
            match dtype {
                $(DType::$variant => {
                    // SAFETY: guaranteed by the caller.
                    Output::from(unsafe { std::slice::from_raw_parts_mut(to.cast::<$type>(), count) })
                })*
            }
        }
    };
}

buffers! {
    F64 f64; F32 f32; F16 f16; Bf16 bf16;
    I64 i64; I32 i32; I16 i16; I8 i8;
    U64 u64; U32 u32; U16 u16; U8 u8;
    Bool bool;
}

/// The seconds of a number of calls, or NaN if one fails.
fn timed(repeats: u64, mut call: impl FnMut() -> bool) -> f64 {
    let start = Instant::now();
    for _ in 0..repeats {
        if !call() {
            return f64::NAN;
        }
    }
    start.elapsed().as_secs_f64()
}

/// Limits the engine to one thread. Must be called before anything else.
#[unsafe(no_mangle)]
pub extern "C" fn peers_single_thread() {
    // It fails if it has been called before.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).build_global();
}

/// Creates a task from JSON. Returns null if that fails.
///
/// # Safety
/// `text` is a string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_task(text: *const c_char) -> *mut Task {
    // SAFETY: guaranteed by the caller.
    let text = unsafe { CStr::from_ptr(text) };
    match text.to_str().map_err(Into::into).and_then(Task::new) {
        Ok(task) => Box::into_raw(Box::new(task)),
        Err(_) => std::ptr::null_mut(),
    }
}

/// Runs a task a number of times and returns the seconds.
///
/// # Safety
/// `task` comes from [`peers_task`], and the pointers meet the requirements of [`Task::run`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_run(
    task: *const Task,
    inputs: *const *const c_void,
    output: *mut c_void,
    repeats: u64,
) -> f64 {
    // SAFETY: guaranteed by the caller.
    unsafe { (*task).run(inputs, output, repeats) }
}

/// The name of the dtype of a task's result, which lives as long as the task.
///
/// # Safety
/// `task` comes from [`peers_task`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_dtype(task: *const Task) -> *const c_char {
    // SAFETY: guaranteed by the caller.
    unsafe { (*task).dtype.as_ptr() }
}

/// The number of the level that the engine chooses: 0 for the portable one, then `avx2` and `avx512`.
#[unsafe(no_mangle)]
pub extern "C" fn peers_level() -> u32 {
    match Level::detect() {
        Level::Portable => 0,
        Level::Avx2 => 1,
        Level::Avx512 => 2,
    }
}

/// Frees a task.
///
/// # Safety
/// `task` comes from [`peers_task`] and is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn peers_drop(task: *mut Task) {
    // SAFETY: guaranteed by the caller.
    drop(unsafe { Box::from_raw(task) });
}
