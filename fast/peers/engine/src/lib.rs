//! The engine behind four C functions. A task is created once from JSON and run many times on the caller's
//! memory. It is timed here, so that the overhead of a call from Python is not included.
//!
//! A task is `{"engine": "fast", "dtype": "f64", "shapes": [[3, 1], [4]], "expression": ["add", 0, 1]}`. A
//! number in the expression is the index of an operand. The engine is `fast`, or `ndarray` for expressions
//! that its `Zip` supports.

mod peer;

use broadcheck_fast::{Input, Output, Plan};
use broadcheck_spec::{Data, Expression, Operand, Operation, Request, Rules};
use serde_json::Value;
use std::error::Error;
use std::ffi::{CStr, c_char, c_void};
use std::time::Instant;

/// A task, with the shapes of its operands and its result.
pub struct Task {
    work: Work,
    single: bool,
    shapes: Vec<Vec<usize>>,
    result: Vec<usize>,
}

enum Work {
    Fast(Box<Plan>),
    Ndarray(peer::Formula),
}

/// An element type of a task.
trait Real: peer::Real {
    fn data(values: Vec<Self>) -> Data;
    fn input(values: &[Self]) -> Input<'_>;
    fn output(values: &mut [Self]) -> Output<'_>;
}

macro_rules! real {
    ($($type:ty)*) => { $(impl Real for $type {
        fn data(values: Vec<$type>) -> Data {
            values.into()
        }
        fn input(values: &[$type]) -> Input<'_> {
            values.into()
        }
        fn output(values: &mut [$type]) -> Output<'_> {
            values.into()
        }
    })* };
}

real! { f64 f32 }

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
        let single = task["dtype"] == "f32";
        let operand = |(place, shape): (usize, &Vec<usize>)| {
            let count = shape.iter().product();
            // Planning depends only on shapes, so these values are never read.
            let values =
                if single { <f32 as Real>::data(vec![0.0; count]) } else { vec![0.0f64; count].into() };
            Operand::dense(format!("x{place}"), &shape[..], values)
        };
        let operands: Result<Vec<Operand>, _> = shapes.iter().enumerate().map(operand).collect();
        let operation = Operation::Elementwise { expression: expression(&task["expression"])? };
        let plan = Plan::new(&Request::new(Rules::Numpy, operation, operands?)?)
            .map_err(|error| format!("no plan: {error:?}"))?;
        let result = plan.shape().to_vec();
        let work = match task["engine"].as_str() {
            Some("fast") => Work::Fast(Box::new(plan)),
            Some("ndarray") => Work::Ndarray(peer::Formula::of(&task["expression"])?),
            _ => return Err("the engine is `fast` or `ndarray`".into()),
        };
        Ok(Task { work, single, shapes, result })
    }

    /// The seconds of a number of runs.
    ///
    /// # Safety
    /// `inputs` contains a pointer for each operand, to as many values of the dtype as its shape has.
    /// `output` points to as many writable values as the result has, which nothing else accesses during the
    /// call.
    unsafe fn run<T: Real>(&self, inputs: *const *const c_void, output: *mut c_void, repeats: u64) -> f64 {
        let count = self.result.iter().product();
        // SAFETY: guaranteed by the caller.
        let out = unsafe { std::slice::from_raw_parts_mut(output.cast::<T>(), count) };
        let values: Vec<&[T]> = (self.shapes.iter().enumerate())
            .map(|(place, shape)| {
                let count = shape.iter().product();
                // SAFETY: guaranteed by the caller.
                unsafe { std::slice::from_raw_parts((*inputs.add(place)).cast::<T>(), count) }
            })
            .collect();
        match &self.work {
            Work::Fast(plan) => {
                let inputs: Vec<Input<'_>> = values.iter().map(|values| T::input(values)).collect();
                timed(repeats, || plan.run_into(&inputs, T::output(out)).is_ok())
            }
            Work::Ndarray(formula) => {
                let views = peer::views(&values, &self.shapes);
                timed(repeats, || formula.run(&views, &self.result, out))
            }
        }
    }
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
    unsafe {
        let task = &*task;
        if task.single {
            task.run::<f32>(inputs, output, repeats)
        } else {
            task.run::<f64>(inputs, output, repeats)
        }
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
