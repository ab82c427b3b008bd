//! Compares gradients with only reading their operands, gradients of common functions with loops written for
//! them, and two threads with one.

mod support;

use broadcheck_fast::Plan;
use broadcheck_spec::{Expression, Function, Operation};
use support::data::Aligned;
use support::gradients::{Gradients, Share, Shares};
use support::kernels::{Body, Exp, Four, Vector, each, fill, read, splat};
use support::race::{Clock, Rounds};
use support::{
    Arrays, At, Job, Real, Results, Table, call, elementwise, goal_at_least, limits, plan_of, race,
    single_thread, sum_of, x,
};

fn product() -> Expression {
    call(Function::Multiply, [x(0), x(1)])
}

fn exp_of_product() -> Expression {
    call(Function::Exp, [product()])
}

/// Sum-to-shape: the gradient of x*y by y sums x over the axes along which y is stretched.
fn sum_to_shape<T: Real>(at: At, shape: &[usize], table: &mut Table) -> f64 {
    let shapes: [&[usize]; 2] = [&[4000, 4000], shape];
    let arrays = Arrays::<T>::of(&shapes);
    let plan = plan_of::<T>(at.level(), &shapes, Operation::Gradient { expression: product(), wrt: 1 });
    let job = Job::new(plan, arrays.inputs());
    let mut out = Aligned::<T>::zeros(job.count());
    let largest = &*arrays.0[0];
    let mut total = T::default();
    let race = race(
        Rounds::usual(),
        &mut *out,
        &mut [&mut |out: &mut [T]| job.run(out), &mut |_| total += limits::read(at, largest)],
    );
    assert!(total > T::default());
    let part = 100.0 * race.ratio(1, 0);
    table.row(vec![
        format!("4000x4000 summed to {}", text(shape)),
        T::NAME.into(),
        format!("{:.3}", race.seconds(0) * 1e9 / largest.len() as f64),
        format!("{:.1}", size_of_val(largest) as f64 / race.seconds(0) / 1e9),
        format!("{:.1}", size_of_val(largest) as f64 / race.seconds(1) / 1e9),
        format!("{part:.0} %"),
    ]);
    part
}

fn text(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
    format!("({})", lengths.join(","))
}

/// The gradient of exp(x*y) by a broadcast x: the sum of exp(x*y) y, without an intermediate array.
fn fused<T: Exp>(at: At, count: usize, table: &mut Table) -> f64 {
    let shapes: [&[usize]; 2] = [&[1], &[count]];
    let arrays = Arrays::<T>::of(&shapes);
    let gradient = Operation::Gradient { expression: exp_of_product(), wrt: 0 };
    let job = Job::new(plan_of::<T>(at.level(), &shapes, gradient), arrays.inputs());
    let forward = Job::new(plan_of::<T>(at.level(), &shapes, elementwise(exp_of_product())), arrays.inputs());
    let (factor, values) = (arrays.0[0][0], &*arrays.0[1]);
    let mut whole = Aligned::<T>::zeros(count);
    let mut own = [T::default(); 1];
    let mut out = [T::default(); 1];
    let race = race(
        Rounds::usual(),
        &mut out[..],
        &mut [&mut |out: &mut [T]| job.run(out), &mut |_| own[0] = by_hand(at, factor, values), &mut |_| {
            forward.run(&mut whole);
        }],
    );
    assert!((out[0] / own[0] - T::of(1.0)) * (out[0] / own[0] - T::of(1.0)) < T::of(1e-9), "the sums differ");
    table.row(vec![
        format!("exp(x*y) by a broadcast x, {count}"),
        T::NAME.into(),
        format!("{:.3}", race.seconds(0) * 1e9 / count as f64),
        format!("{:.2}", race.ratio(0, 1)),
        format!("{:.2}", race.ratio(0, 2)),
    ]);
    race.ratio(0, 1)
}

/// The same in one loop, with enough partial sums to hide the latency of the additions.
fn by_hand<T: Exp>(at: At, x: T, values: &[T]) -> T {
    let mut lanes = [T::default(); 64];
    at.run_vectors(&mut lanes, &Sum { x, values });
    lanes.into_iter().fold(T::default(), |sum, lane| sum + lane)
}

/// exp(x*y) y.
#[inline(always)]
fn slopes<V: Vector>(x: Four<V>, y: Four<V>) -> Four<V> {
    let power = V::exp(each!(x, y => x.multiply(y)));
    each!(power, y => power.multiply(y))
}

struct Sum<'a, T> {
    x: T,
    values: &'a [T],
}

impl<T: Exp> Body<T> for Sum<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(&self, lanes: &mut [T]) {
        let lanes = &mut lanes[..4 * V::WIDTH];
        let (step, x) = (lanes.len(), splat::<V>(self.x));
        // A rest of zeros adds exp(0) 0 = 0.
        let whole = self.values.len() - self.values.len() % step;
        let mut rest = [T::default(); 64];
        rest[..self.values.len() - whole].copy_from_slice(&self.values[whole..]);
        let y = read::<V>(&rest, 0);
        let mut sums = slopes(x, y);
        for at in (0..whole).step_by(step) {
            let slope = slopes(x, read::<V>(self.values, at));
            sums = each!(sums, slope => sums.add(slope));
        }
        fill::<V>(
            lanes,
            #[inline(always)]
            |_| sums,
        );
    }
}

/// The gain of two threads over one, and that of a copy that is split by hand.
fn threads<T: Real>(at: At, name: &str, expression: Expression, table: &mut Table) -> [f64; 2] {
    const COUNT: usize = 16_000_000;
    let shapes: [&[usize]; 2] = [&[COUNT], &[COUNT]];
    let arrays = Arrays::<T>::of(&shapes);
    let plan: Plan = plan_of::<T>(at.level(), &shapes, elementwise(expression));
    let job = Job::new(plan, arrays.inputs());
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let (one, two) = (pool(1), pool(2));
    let (a, b) = (&*arrays.0[0], &*arrays.0[1]);
    let mut out = Aligned::<T>::zeros(COUNT);
    let past = |a: &[T], out: &mut [T]| limits::copy_non_temporal(at, a, out);
    let race = race(
        Rounds::usual().by(Clock::Wall),
        &mut *out,
        &mut [
            &mut |out: &mut [T]| two.install(|| job.run(out)),
            &mut |out| one.install(|| job.run(out)),
            &mut |out| {
                let (low, high) = out.split_at_mut(COUNT / 2);
                two.join(|| past(&a[..COUNT / 2], low), || past(&b[COUNT / 2..], high));
            },
            &mut |out| past(a, out),
        ],
    );
    table.row(vec![
        name.into(),
        T::NAME.into(),
        format!("{:.3}", race.seconds(1) * 1e9 / COUNT as f64),
        format!("{:.3}", race.seconds(0) * 1e9 / COUNT as f64),
        format!("{:.2}", race.ratio(1, 0)),
        format!("{:.2}", race.ratio(3, 2)),
    ]);
    [race.ratio(1, 0), race.ratio(3, 2)]
}

fn main() {
    single_thread();
    let at = At::detect();
    let mut results = Results::new("gradients");
    let mut table = Table::new(
        "sum-to-shape",
        &["gradient", "dtype", "ns per element read", "GB/s", "only reading, GB/s", "of only reading"],
    );
    let mut least = f64::INFINITY;
    for shape in [&[4000][..], &[4000, 1], &[1]] {
        let part = sum_to_shape::<f64>(at, shape, &mut table).min(sum_to_shape::<f32>(at, shape, &mut table));
        least = least.min(part);
    }
    results.table(table);
    results.goal(goal_at_least("sum-to-shape, lowest share of the rate of only reading", 90.0, least, " %"));

    let mut table = Table::new(
        "fused",
        &["gradient", "dtype", "ns per element", "over one handwritten loop", "over exp(x*y) alone"],
    );
    let mut worst: f64 = 0.0;
    for count in [100_000, 4_000_000] {
        worst = worst.max(fused::<f64>(at, count, &mut table)).max(fused::<f32>(at, count, &mut table));
    }
    results.table(table);
    results.goal(goal_at_least(
        "fused gradient of exp(x*y), lowest share of the rate of a handwritten loop",
        90.0,
        100.0 / worst,
        " %",
    ));

    let header = ["gradient", "dtype", "result", "over rows", "over columns", "over both", "over nothing"];
    let mut table = Table::new("common", &header);
    let mut shares = Vec::new();
    for side in [200, 2000] {
        let mut gradients = Gradients::new(at, side, Rounds::usual());
        gradients.ten_functions::<f64>();
        gradients.ten_functions::<f32>();
        for Shares { gradient, dtype, side, shares: row } in gradients.measured {
            let cell = |share: Option<Share>| {
                share.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share.rate))
            };
            let names = [gradient.to_owned(), dtype.to_owned(), format!("{side}x{side}")];
            table.row(names.into_iter().chain(row.map(cell)).collect());
            shares.extend(row.into_iter().flatten().map(|share| share.rate));
        }
    }
    results.table(table);
    let reached = shares.iter().filter(|&&share| share >= 0.9).count();
    let goal = format!(
        "gradients of ten functions, lowest share of the rate of a handwritten loop \
         ({reached} of {} reach the target)",
        shares.len()
    );
    results.goal(goal_at_least(goal, 90.0, 100.0 * shares.into_iter().fold(f64::INFINITY, f64::min), " %"));

    let mut table = Table::new(
        "threads",
        &[
            "16M elements",
            "dtype",
            "ns, one thread",
            "ns, two threads",
            "gain",
            "gain of a copy split by hand",
        ],
    );
    let adds = [
        threads::<f64>(at, "x + y", sum_of(2), &mut table),
        threads::<f32>(at, "x + y", sum_of(2), &mut table),
    ];
    let exps = [
        threads::<f64>(at, "exp(x*y)", exp_of_product(), &mut table),
        threads::<f32>(at, "exp(x*y)", exp_of_product(), &mut table),
    ];
    results.table(table);
    let share = adds.map(|[gain, of_copy]| 100.0 * gain / of_copy);
    results.goal(goal_at_least(
        "two threads, x + y, 16M, share of the gain of a copy split by hand",
        95.0,
        share[0].min(share[1]),
        " %",
    ));
    let exp = exps[0][0].min(exps[1][0]);
    results.goal(goal_at_least("two threads over one, exp(x*y), 16M", 1.8, exp, ""));
    results.write();
}
