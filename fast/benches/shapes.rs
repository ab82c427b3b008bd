//! Compares typical shapes with the memory limit of this machine for the same amount of data and, if there is
//! one, with a handwritten loop for that shape. Also a transposed operand against copying it first, and tiny
//! calls.

mod support;

use broadcheck_fast::{Input, Plan};
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules, Shape};
use support::by_hand;
use support::data::{Aligned, request};
use support::kernels::Exp;
use support::race::Rounds;
use support::{
    Arrays, At, Job, Real, Results, Table, call, elementwise, goal_at_least, goal_at_most, limits, plan_of,
    race, single_thread, sum_of, x,
};

/// A handwritten loop for one case: operands and output.
type Hand<T> = fn(At, &Arrays<T>, &mut [T]);

/// A case: shapes, an expression and, if it is easy to write, a handwritten loop.
struct Case<'a, T> {
    name: &'a str,
    shapes: &'a [&'a [usize]],
    expression: Expression,
    bound: Bound,
    hand: Option<Hand<T>>,
}

/// What limits a case. Beyond the second-level cache and within it, the goal is a share of the rate of moving
/// the bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Memory,
    Cache,
    Arithmetic,
}

/// The memory limit of a case: the fastest of several loops over the arrays of the case.
struct Limit {
    kind: &'static str,
    bytes: usize,
}

fn cases<T: Exp>() -> Vec<Case<'static, T>> {
    let sum = || call(Function::Add, [x(0), x(1)]);
    let memory = |name, shapes, hand| Case { name, shapes, expression: sum(), bound: Bound::Memory, hand };
    let cache = |name, shapes, hand| Case { name, shapes, expression: sum(), bound: Bound::Cache, hand };
    let centred = call(Function::Subtract, [x(0), x(1)]);
    let scaled = call(Function::Multiply, [call(Function::Multiply, [centred, x(2)]), x(3)]);
    let norm = call(Function::Add, [scaled, x(4)]);
    let swish = || {
        let logistic = call(Function::Exp, [call(Function::Negate, [x(0)])]);
        call(Function::Divide, [x(0), call(Function::Add, [x(1), logistic])])
    };
    let norm = |name, shapes, bound| {
        let hand: Hand<T> = by_hand::norm;
        Case { name, shapes, expression: norm.clone(), bound, hand: Some(hand) }
    };
    let swish = |name, shapes| {
        let hand: Hand<T> = by_hand::swish;
        Case { name, shapes, expression: swish(), bound: Bound::Arithmetic, hand: Some(hand) }
    };
    vec![
        memory("matrix + row, 4000x4000", &[&[4000, 4000], &[4000]], Some(by_hand::row)),
        memory("matrix + column, 4000x4000", &[&[4000, 4000], &[4000, 1]], Some(by_hand::column)),
        memory("outer sum, 4000x4000", &[&[4000, 1], &[4000]], Some(by_hand::outer)),
        memory("(1000000,3) + (3)", &[&[1_000_000, 3], &[3]], Some(by_hand::triple)),
        memory(
            "(1000000,3) + (1000000,1)",
            &[&[1_000_000, 3], &[1_000_000, 1]],
            Some(by_hand::triple_column),
        ),
        cache("(10000,3) + (3)", &[&[10_000, 3], &[3]], Some(by_hand::triple)),
        cache("(10000,3) + (10000,1)", &[&[10_000, 3], &[10_000, 1]], Some(by_hand::triple_column)),
        memory("(32,64,56,56) + (64,1,1)", &[&[32, 64, 56, 56], &[64, 1, 1]], None),
        memory("rank 6, alternating, 16^6", &[&[16, 1, 16, 1, 16, 1], &[1, 16, 1, 16, 1, 16]], None),
        norm(
            "(x-m)*r*g+b, 1000x1000",
            &[&[1000, 1000], &[1000, 1], &[1000, 1], &[1000], &[1000]],
            Bound::Memory,
        ),
        norm("(x-m)*r*g+b, 200x200", &[&[200, 200], &[200, 1], &[200, 1], &[200], &[200]], Bound::Arithmetic),
        swish("x/(1+exp(-x)), 100k", &[&[100_000], &[1]]),
        swish("x/(1+exp(-x)), 4M", &[&[4_000_000], &[1]]),
    ]
}

/// The kind of loop that moves what the case must move: reading as many large inputs, and writing the result.
fn limit_of<T: Real>(arrays: &Arrays<T>, out: &[T]) -> Limit {
    let reads = if arrays.0.iter().any(|array| array.len() == out.len()) { 1 } else { 0 };
    let kind = if reads == 1 { "copy" } else { "fill" };
    Limit { kind, bytes: (1 + reads) * size_of_val(out) }
}

/// The share of the limit that a case reached.
fn measure<T: Exp>(at: At, case: &Case<'_, T>, table: &mut Table) -> f64 {
    let arrays = Arrays::<T>::of(case.shapes);
    let plan = plan_of::<T>(at.level(), case.shapes, elementwise(case.expression.clone()));
    let job = Job::new(plan, arrays.inputs());
    let mut out = Aligned::<T>::zeros(job.count());
    check(at, case, &arrays, &job, &mut out);

    let limit = limit_of(&arrays, &out);
    let full = arrays.0.iter().find(|array| array.len() == out.len());
    let plain = |out: &mut [T]| match full {
        Some(from) => limits::copy(at, from, out),
        None => limits::fill(at, T::of(2.0), out),
    };
    let library = |out: &mut [T]| match full {
        Some(from) => out.copy_from_slice(from),
        None => limits::fill(at, T::of(2.0), out),
    };
    let past = |out: &mut [T]| match full {
        Some(from) => limits::copy_non_temporal(at, from, out),
        None => limits::fill_non_temporal(at, T::of(2.0), out),
    };
    let by_hand = |out: &mut [T]| match case.hand {
        Some(hand) => hand(at, &arrays, out),
        None => job.run(out),
    };
    let race = race(
        Rounds::usual(),
        &mut *out,
        &mut [
            &mut |out: &mut [T]| job.run(out),
            &mut |out| plain(out),
            &mut |out| library(out),
            &mut |out| past(out),
            &mut |out| by_hand(out),
        ],
    );

    let bytes = size_of_val(&*out) + arrays.0.iter().map(|array| size_of_val(&**array)).sum::<usize>();
    let best = race.best([1, 2, 3]);
    let part = bytes as f64 / limit.bytes as f64 / race.ratio(0, best);
    let rate = |competitor: usize| limit.bytes as f64 / race.seconds(competitor) / 1e9;
    let stores = ["", "plain", "memcpy", "non-temporal"][best];
    table.row(vec![
        case.name.into(),
        T::NAME.into(),
        format!("{:.3}", race.seconds(0) * 1e9 / out.len() as f64),
        format!("{:.1}", bytes as f64 / race.seconds(0) / 1e9),
        format!("{:.1} ({} {stores})", rate(best), limit.kind),
        format!("{:.0} %", 100.0 * part),
        case.hand.map_or("-".into(), |_| format!("{:.2}", race.ratio(0, 4))),
    ]);
    part
}

/// Checks that the handwritten loop computes the same bits.
fn check<T: Real>(at: At, case: &Case<'_, T>, arrays: &Arrays<T>, job: &Job<'_>, out: &mut Aligned<T>) {
    let Some(hand) = case.hand else { return };
    job.run(out);
    let mut other = Aligned::<T>::zeros(out.len());
    hand(at, arrays, &mut other);
    assert!(**out == *other, "{}: the results differ", case.name);
}

fn shapes<T: Exp>(at: At, table: &mut Table, results: &mut Results) {
    let parts: Vec<(f64, Bound, &str)> =
        cases::<T>().iter().map(|case| (measure(at, case, table), case.bound, case.name)).collect();
    for (bound, title) in
        [(Bound::Memory, "beyond the second-level cache"), (Bound::Cache, "within the second-level cache")]
    {
        let of_bound = || parts.iter().filter(|part| part.1 == bound);
        let Some(least) = of_bound().min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        let reached = of_bound().filter(|part| part.0 >= 0.9).count();
        let goal = format!(
            "shapes {title}, {}: lowest share of the machine's limit, of {} ({reached} of {} reach the target)",
            T::NAME,
            least.2,
            of_bound().count(),
        );
        results.goal(goal_at_least(goal, 90.0, 100.0 * least.0, " %"));
    }
}

// ------------------------------------------------------------------ transposed operands

/// a + b transposed, read in place, against copying b into order first, with the engine and with a
/// handwritten loop.
fn transposed<T: Real>(at: At, side: usize, table: &mut Table) -> [f64; 2] {
    let view = || {
        let values = T::data(vec![T::default(); side * side]);
        let strides = i64::try_from(side).unwrap();
        Operand::view("b", [side, side], values, Some(vec![1, strides]), 0).unwrap()
    };
    let dense = Operand::dense("a", [side, side], T::data(vec![T::default(); side * side])).unwrap();
    let plan = |operation, operands| {
        Plan::with_level(&Request::new(Rules::Numpy, operation, operands).unwrap(), at.level()).unwrap()
    };
    let direct = plan(elementwise(sum_of(2)), vec![dense, view()]);
    let copy = plan(Operation::Broadcast { target_shape: Shape::from([side, side]) }, vec![view()]);
    let arrays = Arrays::<T>::of(&[&[side, side], &[side, side]]);
    let (a, b) = (&*arrays.0[0], &*arrays.0[1]);
    let add = plan_of::<T>(at.level(), &[&[side, side], &[side, side]], elementwise(sum_of(2)));

    let mut out = Aligned::<T>::zeros(side * side);
    let (mut first, mut second) = (Aligned::<T>::zeros(side * side), Aligned::<T>::zeros(side * side));
    let race = race(
        Rounds::usual(),
        &mut *out,
        &mut [
            &mut |out: &mut [T]| direct.run_into(&[T::input(a), T::input(b)], T::output(out)).unwrap(),
            &mut |out| {
                copy.run_into(&[T::input(b)], T::output(&mut first)).unwrap();
                add.run_into(&[T::input(a), T::input(&first)], T::output(out)).unwrap();
            },
            &mut |out| {
                transpose(side, b, &mut second);
                limits::triad(at, a, &second, out);
            },
        ],
    );
    assert!(*first == *second, "the copies differ");
    table.row(vec![
        format!("a + b transposed, {side}x{side}"),
        T::NAME.into(),
        format!("{:.3}", race.seconds(0) * 1e9 / (side * side) as f64),
        format!("{:.2}", race.ratio(0, 1)),
        format!("{:.2}", race.ratio(0, 2)),
    ]);
    [race.ratio(0, 1), race.ratio(0, 2)]
}

/// A transposition over squares that fit into the first-level cache.
fn transpose<T: Real>(side: usize, from: &[T], out: &mut [T]) {
    const SQUARE: usize = 16;
    for top in (0..side).step_by(SQUARE) {
        for left in (0..side).step_by(SQUARE) {
            let right = (left + SQUARE).min(side);
            for row in top..(top + SQUARE).min(side) {
                for (column, out) in (left..right).zip(&mut out[row * side + left..row * side + right]) {
                    *out = from[column * side + row];
                }
            }
        }
    }
}

// ------------------------------------------------------------------ tiny calls

fn tiny<T: Real>(at: At, table: &mut Table) -> (f64, f64) {
    let shapes: [&[usize]; 2] = [&[2, 3], &[3]];
    let request = request::<T>(&shapes, elementwise(sum_of(2)));
    let arrays = Arrays::<T>::of(&shapes);
    let inputs: Vec<Input<'_>> = arrays.inputs();
    let plan = Plan::with_level(&request, at.level()).unwrap();
    let mut out = [T::default(); 6];
    let race = race(
        Rounds::usual(),
        &mut out[..],
        &mut [&mut |out: &mut [T]| plan.run_into(&inputs, T::output(out)).unwrap(), &mut |out| {
            let plan = Plan::with_level(&request, at.level()).unwrap();
            plan.run_into(&inputs, T::output(out)).unwrap();
        }],
    );
    let nanoseconds = |competitor: usize| race.seconds(competitor) * 1e9;
    table.row(vec![
        "(2,3) + (3)".into(),
        T::NAME.into(),
        format!("{:.0}", nanoseconds(0)),
        format!("{:.0}", nanoseconds(1)),
    ]);
    (nanoseconds(0), nanoseconds(1))
}

fn main() {
    single_thread();
    let at = At::detect();
    let mut results = Results::new("shapes");
    let mut table = Table::new(
        "limits",
        &[
            "shape",
            "dtype",
            "ns per element",
            "GB/s",
            "the limit's GB/s",
            "of the limit",
            "over a handwritten loop",
        ],
    );
    shapes::<f64>(at, &mut table, &mut results);
    shapes::<f32>(at, &mut table, &mut results);
    results.table(table);

    let mut table = Table::new(
        "transposed",
        &["", "dtype", "ns per element", "over copying first", "over copying first by hand"],
    );
    let mut worst = [0.0f64; 2];
    for side in [500, 1000, 2000, 4000] {
        for ratios in [transposed::<f64>(at, side, &mut table), transposed::<f32>(at, side, &mut table)] {
            worst = [worst[0].max(ratios[0]), worst[1].max(ratios[1])];
        }
    }
    results.table(table);
    results.goal(goal_at_most("a transposed operand, over copying it first", 0.5, worst[0], ""));
    results.goal(goal_at_most("a transposed operand, over copying it first by hand", 0.85, worst[1], ""));

    let mut table = Table::new("tiny", &["one call", "dtype", "ns with a plan", "ns with planning"]);
    let (with_plan, planning) = tiny::<f64>(at, &mut table);
    tiny::<f32>(at, &mut table);
    results.table(table);
    results.goal(goal_at_most("tiny call with a plan", 25.0, with_plan, " ns"));
    results.goal(goal_at_most("tiny call with planning", 70.0, planning, " ns"));
    results.write();
}
