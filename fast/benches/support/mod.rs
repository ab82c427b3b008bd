//! Measuring: rivals take turns, round after round, and each figure is the median of its rounds. Only ratios
//! within one run mean anything.
#![allow(dead_code, reason = "each bench uses a part")]
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small counts")]

use broadcheck_fast::{Input, Output, Plan};
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};
use std::time::Instant;

/// How long one round of a rival takes at least.
const ROUND_SECONDS: f64 = 2e-3;

/// How many rounds; `BENCH_ROUNDS` sets it.
pub(crate) fn rounds() -> usize {
    std::env::var("BENCH_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(21)
}

/// The median seconds per call of each rival.
pub(crate) fn race(rivals: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let repeats: Vec<usize> = rivals
        .iter_mut()
        .map(|rival| {
            rival();
            let start = Instant::now();
            rival();
            let once = start.elapsed().as_secs_f64().max(1e-9);
            ((ROUND_SECONDS / once) as usize).clamp(1, 1_000_000)
        })
        .collect();
    let mut times = vec![Vec::new(); rivals.len()];
    for _ in 0..rounds() {
        for ((rival, &repeats), times) in rivals.iter_mut().zip(&repeats).zip(&mut times) {
            let start = Instant::now();
            for _ in 0..repeats {
                rival();
            }
            times.push(start.elapsed().as_secs_f64() / repeats as f64);
        }
    }
    times.iter_mut().map(|times| median(times)).collect()
}

/// The median; `BENCH_QUANTILE` sets another part, as 0.1 on a machine that does other work too.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    let part = std::env::var("BENCH_QUANTILE").ok().and_then(|part| part.parse().ok()).unwrap_or(0.5);
    quantile(values, part)
}

pub(crate) fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * part).round() as usize]
}

pub(crate) fn x(place: usize) -> Expression {
    Expression::operand(place)
}

pub(crate) fn call<const N: usize>(function: Function, arguments: [Expression; N]) -> Expression {
    Expression::call(function, arguments).unwrap()
}

/// Reproducible numbers between 0.5 and 1.5.
pub(crate) fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..count).map(|_| 0.5 + next()).collect()
}

/// A request under numpy, over f64 operands of these shapes.
pub(crate) fn request(shapes: &[&[usize]], operation: Operation) -> Request {
    let operand = |(place, shape): (usize, &&[usize])| {
        let values = numbers(shape.iter().product(), place as u64 + 1);
        Operand::dense(format!("x{place}"), *shape, values).unwrap()
    };
    Request::new(Rules::Numpy, operation, shapes.iter().enumerate().map(operand).collect()).unwrap()
}

pub(crate) fn elementwise(shapes: &[&[usize]], expression: Expression) -> Request {
    request(shapes, Operation::Elementwise { expression })
}

/// A plan with its buffers.
pub(crate) struct Job<'a> {
    pub(crate) plan: Plan,
    pub(crate) inputs: Vec<Input<'a>>,
    pub(crate) output: Vec<f64>,
}

impl<'a> Job<'a> {
    pub(crate) fn new(request: &'a Request) -> Job<'a> {
        let plan = Plan::new(request).unwrap();
        let output = vec![0.0; plan.shape().iter().product()];
        Job {
            plan,
            inputs: request.operands().iter().map(|operand| operand.values().into()).collect(),
            output,
        }
    }

    pub(crate) fn run(&mut self) {
        self.plan.run_into(&self.inputs, Output::from(&mut self.output[..])).unwrap();
    }
}

/// The values of an operand of f64.
pub(crate) fn slice(request: &Request, place: usize) -> &[f64] {
    match Input::from(request.operands()[place].values()) {
        Input::F64(values) => values,
        _ => &[],
    }
}

/// One thread, so that what is compared is the code.
pub(crate) fn single_thread() {
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().unwrap();
}
