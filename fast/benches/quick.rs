//! The goals within one process in about a minute: exp(x*y) and the sum of ten against a loop for the
//! pattern, several operations over rows, x/(1+exp(-x)), short inner axes, a transposed operand, some
//! gradients, and tiny calls. Samples only: the figures to publish are those of the other benches.
#![allow(clippy::print_stdout, reason = "a bench prints its results")]

mod support;

use broadcheck_fast::{Input, Plan};
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};
use support::by_pattern::{Ten, agree, exp_of_product, fused, shapes_of, specialised};
use support::data::{Aligned, request};
use support::gradients::{Gradients, OVER, Shares};
use support::kernels::Exp;
use support::race::{Clock, Competitor, Rounds};
use support::{
    Arrays, At, Job, Real, Results, by_hand, call, elementwise, goal_at_least, goal_at_most, limits, plan_of,
    quantile, race, single_thread, slopes, sum_of, x,
};

/// The engine's time over that of a handwritten loop that gives the same bits.
fn against<T: Real>(
    at: At,
    shapes: &[&[usize]],
    expression: Expression,
    by_hand: impl Fn(&Arrays<T>, &mut [T]),
) -> f64 {
    let arrays = Arrays::<T>::of(shapes);
    let job = Job::new(plan_of::<T>(at.level(), shapes, elementwise(expression)), arrays.inputs());
    let mut out = Aligned::<T>::zeros(job.count());
    agree(&mut out, &mut [&mut |out| job.run(out), &mut |out| by_hand(&arrays, out)]);
    let mut competitors: [Competitor<'_, [T]>; 2] =
        [&mut |out| job.run(out), &mut |out| by_hand(&arrays, out)];
    race(rounds(), &mut *out, &mut competitors).ratio(0, 1)
}

fn rounds() -> Rounds {
    Rounds { count: 15, seconds: 1e-3, clock: Clock::Thread }
}

fn exponentials<T: Exp>(at: At, results: &mut Results) {
    for count in [10_000, 100_000] {
        for (name, shapes) in [
            ("nothing broadcast", [[count], [count]]),
            ("x broadcast", [[1], [count]]),
            ("y broadcast", [[count], [1]]),
        ] {
            let ratio = against::<T>(at, &[&shapes[0], &shapes[1]], exp_of_product(), |arrays, out| {
                fused(at, &arrays.0[0], &arrays.0[1], out);
            });
            results.goal(goal_at_most(format!("exp(x*y) {} {count}, {name}", T::NAME), 1.03, ratio, ""));
        }
    }
}

/// The engine's time over that of the loop for one pattern.
fn sum_over<const PATTERN: usize>(at: At, arrays: &Arrays<f64>, out: &mut [f64]) -> f64 {
    let shapes = shapes_of(PATTERN, out.len());
    let shapes: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
    let operands: Ten<'_> = std::array::from_fn(|k| &arrays.0[k][..shapes[k][0]]);
    let inputs = operands.iter().map(|operand| Input::from(*operand)).collect();
    let job = Job::new(plan_of::<f64>(at.level(), &shapes, elementwise(sum_of(10))), inputs);
    let own = |out: &mut [f64]| specialised::<PATTERN>(at, &operands, out);
    agree(out, &mut [&mut |out| job.run(out), &mut |out| own(out)]);
    let seconds = if out.len() > 1_000_000 { 1e-3 } else { 1.5e-4 };
    let count = if out.len() > 1_000_000 { 5 } else { 15 };
    let mut competitors: [Competitor<'_, [f64]>; 2] = [&mut |out| job.run(out), &mut |out| own(out)];
    race(Rounds { count, seconds, clock: Clock::Thread }, out, &mut competitors).ratio(0, 1)
}

/// Of each number of broadcast operands some patterns, and those that were slowest once.
macro_rules! sampled {
    ($call:ident: $($pattern:literal)*) => {
        [$($call::<$pattern> as fn(At, &Arrays<f64>, &mut [f64]) -> f64),*]
    };
}

fn sums(at: At, results: &mut Results) {
    let sample = sampled! { sum_over:
        0 1 5 15 37 77 85 123 170 191 222 240 255 256 300 341 400 444 511 512 555 600 645 666 682 700 703 767
        777 800 888 900 959 991 1007 1015 1019 1021 1022
    };
    for (count, title, every, goals) in [
        (1_000, "1k", 1, [1.15, 1.3, 1.6]),
        (100_000, "100k", 1, [1.03, 1.1, 1.15]),
        (4_000_000, "4M", 4, [0.95, 1.0, 1.1]),
    ] {
        let arrays = Arrays::<f64>::of(&[&[count][..]; 10]);
        let mut out = Aligned::zeros(count);
        let ratios: Vec<f64> =
            sample.iter().step_by(every).map(|ratio| ratio(at, &arrays, &mut out)).collect();
        for ((name, part), goal) in
            [("median", 0.5), ("95th percentile", 0.95), ("worst", 1.0)].iter().zip(goals)
        {
            let name = format!("sum of 10 f64 {title}, {name} of {}", ratios.len());
            results.goal(goal_at_most(name, goal, quantile(&ratios, *part), ""));
        }
    }
}

fn rows<T: Exp>(at: At, results: &mut Results) {
    for side in [16, 24, 32, 48, 64, 100, 200, 256, 300, 1000] {
        let centred = call(Function::Subtract, [x(0), x(1)]);
        let scaled = call(Function::Multiply, [call(Function::Multiply, [centred, x(2)]), x(3)]);
        let norm = call(Function::Add, [scaled, x(4)]);
        let shapes: [&[usize]; 5] = [&[side, side], &[side, 1], &[side, 1], &[side], &[side]];
        let ratio = against::<T>(at, &shapes, norm, |arrays, out| by_hand::norm(at, arrays, out));
        let name = format!("(x-m)*r*g+b {} {side}x{side}", T::NAME);
        results.goal(goal_at_most(name, 1.05, ratio, ""));
    }
    let mixed: [&[usize]; 10] = [
        &[2000, 2000],
        &[2000],
        &[2000, 1],
        &[1],
        &[2000, 2000],
        &[2000, 1],
        &[2000],
        &[2000, 2000],
        &[1],
        &[2000],
    ];
    let ratio = against::<T>(at, &mixed, sum_of(10), |arrays, out| by_hand::mixed_sum(at, arrays, out));
    results.goal(goal_at_most(format!("sum of 10 {} 2000x2000, mixed", T::NAME), 1.05, ratio, ""));
    for (title, count) in [("100k", 100_000), ("4M", 4_000_000)] {
        let logistic = call(Function::Exp, [call(Function::Negate, [x(0)])]);
        let swish = call(Function::Divide, [x(0), call(Function::Add, [x(1), logistic])]);
        let ratio = against::<T>(at, &[&[count], &[1]], swish, |arrays, out| by_hand::swish(at, arrays, out));
        results.goal(goal_at_most(format!("x/(1+exp(-x)) {} {title}", T::NAME), 1.05, ratio, ""));
    }
    for count in [1_000, 10_000] {
        let row = against::<T>(at, &[&[count, 3], &[3]], sum_of(2), |arrays, out| {
            by_hand::triple(at, arrays, out);
        });
        results.goal(goal_at_most(format!("({count},3) + (3) {}", T::NAME), 1.05, row, ""));
        let column = against::<T>(at, &[&[count, 3], &[count, 1]], sum_of(2), |arrays, out| {
            by_hand::triple_column(at, arrays, out);
        });
        results.goal(goal_at_most(format!("({count},3) + ({count},1) {}", T::NAME), 1.05, column, ""));
    }
}

/// A transposed operand over the engine's own copy of it, followed by the sum.
fn transposed<T: Real>(at: At, results: &mut Results) {
    for side in [504, 2000, 2048] {
        let zeros = || T::data(vec![T::default(); side * side]);
        let strides = vec![1, i64::try_from(side).unwrap()];
        let view = || Operand::view("b", [side, side], zeros(), Some(strides.clone()), 0).unwrap();
        let dense = |name| Operand::dense(name, [side, side], zeros()).unwrap();
        let plan = |operation, operands| {
            Plan::with_level(&Request::new(Rules::Numpy, operation, operands).unwrap(), at.level()).unwrap()
        };
        let both = plan(elementwise(sum_of(2)), vec![dense("a"), view()]);
        let copy = plan(Operation::Broadcast { target_shape: [side, side].into() }, vec![view()]);
        let add = plan(elementwise(sum_of(2)), vec![dense("a"), dense("b")]);
        let arrays = Arrays::<T>::of(&[&[side * side], &[side * side]]);
        let mut place = Aligned::<T>::zeros(side * side);
        let mut out = Aligned::<T>::zeros(side * side);
        let inputs = arrays.inputs();
        let race = race(
            rounds(),
            &mut *out,
            &mut [&mut |out: &mut [T]| both.run_into(&inputs, T::output(out)).unwrap(), &mut |out| {
                copy.run_into(&[T::input(&arrays.0[1])], T::output(&mut place)).unwrap();
                add.run_into(&[T::input(&arrays.0[0]), T::input(&place)], T::output(out)).unwrap();
            }],
        );
        let name = format!("a + b transposed {} {side}, over copying first", T::NAME);
        results.goal(goal_at_most(name, 0.5, race.ratio(0, 1), ""));
    }
}

/// Gradients by an operand that is stretched over rows, over columns, over both and not at all.
fn gradients<T: Exp>(at: At, results: &mut Results) {
    use Function as F;
    let two = |function| call(function, [x(0), x(1)]);
    let mut gradients = Gradients::new(at, 200, Rounds::usual());
    gradients.two::<T, slopes::OfProduct>("x*y by y", &two(F::Multiply), 1);
    gradients.two::<T, slopes::OfBase>("power(x,y) by x", &two(F::Power), 0);
    gradients.two::<T, slopes::OfTanh>("tanh(x+y) by y", &call(F::Tanh, [two(F::Add)]), 1);
    gradients.two::<T, slopes::OfMaximum>("maximum(x,y) by x", &two(F::Maximum), 0);
    for Shares { gradient, dtype, side, shares } in gradients.measured {
        for (share, over) in shares.into_iter().flatten().zip(OVER) {
            let name = format!(
                "gradient of {gradient} {dtype} {side}x{side}, over {over}, share of the loop's rate"
            );
            results.goal(goal_at_least(name, 90.0, 100.0 * share.rate, " %"));
        }
    }
}

fn tiny(at: At, results: &mut Results) {
    let nanoseconds = |body: &mut dyn FnMut(&mut [f64])| {
        let mut out = Aligned::<f64>::zeros(6);
        race(rounds(), &mut *out, &mut [body]).seconds(0) * 1e9
    };
    let shapes: [&[usize]; 2] = [&[2, 3], &[3]];
    let arrays = Arrays::<f64>::of(&shapes);
    let small = request::<f64>(&shapes, elementwise(sum_of(2)));
    let job = Job::new(Plan::with_level(&small, at.level()).unwrap(), arrays.inputs());
    let inputs = arrays.inputs();
    results.goal(goal_at_most("tiny call with a plan", 25.0, nanoseconds(&mut |out| job.run(out)), " ns"));
    let planned = nanoseconds(&mut |out| {
        let plan = Plan::with_level(&small, at.level()).unwrap();
        plan.run_into(&inputs, f64::output(out)).unwrap();
    });
    results.goal(goal_at_most("tiny call with planning", 70.0, planned, " ns"));
    let ten = request::<f64>(&[&[1000][..]; 10], elementwise(sum_of(10)));
    let planned = nanoseconds(&mut |_| {
        std::hint::black_box(Plan::with_level(&ten, at.level()).unwrap());
    });
    results.goal(goal_at_most("planning a sum of ten", 600.0, planned, " ns"));
}

/// How much of the time on the wall this thread had the processor, for the reader of the figures.
fn machine(at: At) {
    let mut out = Aligned::<f64>::zeros(100_000);
    let race = race(Rounds::usual(), &mut *out, &mut [&mut |out: &mut [f64]| limits::fill(at, 1.0, out)]);
    println!("CPU time was {:.0} % of the time on the wall", 100.0 * race.share);
}

fn main() {
    single_thread();
    let mut results = Results::new("quick");
    let at = At::detect();
    exponentials::<f64>(at, &mut results);
    exponentials::<f32>(at, &mut results);
    sums(at, &mut results);
    rows::<f64>(at, &mut results);
    rows::<f32>(at, &mut results);
    transposed::<f64>(at, &mut results);
    transposed::<f32>(at, &mut results);
    gradients::<f64>(at, &mut results);
    gradients::<f32>(at, &mut results);
    tiny(at, &mut results);
    machine(at);
    results.write();
}
