//! Arrays that are aligned to a cache line, requests over them, and a plan with its inputs.

use broadcheck_fast::{Input, Level, Output, Plan};
use broadcheck_spec::{Data, Expression, Function, Operand, Operation, Request, Rules};
use std::ops::{AddAssign, Deref, DerefMut};

/// The two element types that are measured.
pub(crate) trait Real:
    Copy
    + Default
    + PartialEq
    + PartialOrd
    + std::fmt::Debug
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
    + std::ops::Neg<Output = Self>
    + AddAssign
    + Send
    + Sync
    + 'static
{
    const NAME: &'static str;
    fn of(value: f64) -> Self;
    fn std_exp(self) -> Self;
    fn data(values: Vec<Self>) -> Data;
    fn input(values: &[Self]) -> Input<'_>;
    fn output(values: &mut [Self]) -> Output<'_>;
}

macro_rules! real {
    ($type:ident) => {
        impl Real for $type {
            const NAME: &'static str = stringify!($type);
            fn of(value: f64) -> $type {
                value as $type
            }
            fn std_exp(self) -> $type {
                self.exp()
            }
            fn data(values: Vec<$type>) -> Data {
                values.into()
            }
            fn input(values: &[$type]) -> Input<'_> {
                values.into()
            }
            fn output(values: &mut [$type]) -> Output<'_> {
                values.into()
            }
        }
    };
}

real! { f64 }
real! { f32 }

/// An array that is aligned to a cache line, so that its address does not influence a figure.
pub(crate) struct Aligned<T> {
    values: Vec<T>,
    start: usize,
    count: usize,
}

impl<T: Copy + Default> Aligned<T> {
    pub(crate) fn zeros(count: usize) -> Aligned<T> {
        let values = vec![T::default(); count + 64 / size_of::<T>()];
        let start = values.as_ptr().align_offset(64).min(64 / size_of::<T>());
        Aligned { values, start, count }
    }
}

impl<T: Real> Aligned<T> {
    /// Reproducible numbers between 0.5 and 1.5.
    pub(crate) fn numbers(count: usize, seed: u64) -> Aligned<T> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut array = Aligned::zeros(count);
        array.fill_with(|| T::of(0.5 + next()));
        array
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.values[self.start..self.start + self.count]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[self.start..self.start + self.count]
    }
}

/// The values of the operands.
pub(crate) struct Arrays<T>(pub(crate) Vec<Aligned<T>>);

impl<T: Real> Arrays<T> {
    pub(crate) fn of(shapes: &[&[usize]]) -> Arrays<T> {
        let counts = shapes.iter().map(|shape| shape.iter().product());
        Arrays(counts.zip(1..).map(|(count, seed)| Aligned::numbers(count, seed)).collect())
    }

    pub(crate) fn inputs(&self) -> Vec<Input<'_>> {
        self.0.iter().map(|array| T::input(array)).collect()
    }
}

/// A plan with its operands.
pub(crate) struct Job<'a> {
    pub(crate) plan: Plan,
    inputs: Vec<Input<'a>>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(plan: Plan, inputs: Vec<Input<'a>>) -> Job<'a> {
        Job { plan, inputs }
    }

    pub(crate) fn count(&self) -> usize {
        self.plan.shape().iter().product()
    }

    pub(crate) fn run<T: Real>(&self, out: &mut [T]) {
        self.plan.run_into(&self.inputs, T::output(out)).unwrap();
    }
}

/// A request under numpy. Its values are zeros that are never read, because planning depends only on shapes.
pub(crate) fn request<T: Real>(shapes: &[&[usize]], operation: Operation) -> Request {
    let operand = |(place, shape): (usize, &&[usize])| {
        let values = vec![T::default(); shape.iter().product()];
        Operand::dense(format!("x{place}"), *shape, T::data(values)).unwrap()
    };
    Request::new(Rules::Numpy, operation, shapes.iter().enumerate().map(operand).collect()).unwrap()
}

/// The plan of an operation over dense operands of these shapes.
pub(crate) fn plan_of<T: Real>(level: Level, shapes: &[&[usize]], operation: Operation) -> Plan {
    Plan::with_level(&request::<T>(shapes, operation), level).unwrap()
}

pub(crate) fn elementwise(expression: Expression) -> Operation {
    Operation::Elementwise { expression }
}

pub(crate) fn x(place: usize) -> Expression {
    Expression::operand(place)
}

pub(crate) fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
    Expression::call(function, arguments).unwrap()
}

/// x0 + x1 + … from the left.
pub(crate) fn sum_of(count: usize) -> Expression {
    (1..count).fold(x(0), |sum, place| call(Function::Add, [sum, x(place)]))
}
