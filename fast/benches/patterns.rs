//! Compares the engine with a specialised loop for each broadcasting pattern: exp(x*y) in its three patterns,
//! and x0 + … + x9 in all 1023, each against a loop that is compiled for that pattern only.

mod support;

use broadcheck_fast::{Input, Level};
use broadcheck_spec::Expression;
use support::by_pattern::{PATTERNS, Ten, agree, exp_of_product, fused, shapes_of, specialised};
use support::data::Aligned;
use support::kernels::{Body, Exp, Vector, fill, read};
use support::picture::{Panel, draw};
use support::race::{Competitor, Rounds};
use support::{
    Arrays, At, Job, Real, Results, Table, elementwise, goal_at_most, is_quick, plan_of, quantile, race,
    single_thread, sum_of,
};

// ------------------------------------------------------------------ exp(x*y)

/// exp of an array.
struct Plain<'a, T>(&'a [T]);

impl<T: Exp> Body<T> for Plain<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]) {
        fill::<V>(
            out,
            #[inline(always)]
            |at| V::exp(read(self.0, at)),
        );
    }
}

/// The same as two loops: the product of a block, which stays in the first-level cache, then its exp.
fn blocked<T: Exp>(at: At, x: &[T], y: &[T], out: &mut [T]) {
    const BLOCK: usize = 512;
    let mut products = [T::default(); BLOCK];
    for (block, out) in out.chunks_mut(BLOCK).enumerate() {
        let place = block * BLOCK..block * BLOCK + out.len();
        let products = &mut products[..out.len()];
        at.run(
            products,
            #[inline(always)]
            |products| match (x, y) {
                (&[x], y) => products.iter_mut().zip(&y[place]).for_each(|(out, y)| *out = x * *y),
                (x, &[y]) => products.iter_mut().zip(&x[place]).for_each(|(out, x)| *out = *x * y),
                (x, y) => {
                    let pairs = x[place.clone()].iter().zip(&y[place]);
                    products.iter_mut().zip(pairs).for_each(|(out, (x, y))| *out = *x * *y);
                }
            },
        );
        at.run_vectors(out, &Plain(products));
    }
}

fn exponentials<T: Exp>(at: At, table: &mut Table) -> f64 {
    const COUNT: usize = 100_000;
    let mut worst: f64 = 0.0;
    for (name, shapes) in [
        ("nothing broadcast", [[COUNT], [COUNT]]),
        ("x broadcast", [[1], [COUNT]]),
        ("y broadcast", [[COUNT], [1]]),
    ] {
        let shapes = [&shapes[0][..], &shapes[1][..]];
        let arrays = Arrays::<T>::of(&shapes);
        let (a, b) = (&*arrays.0[0], &*arrays.0[1]);
        let job = Job::new(plan_of::<T>(at.level(), &shapes, elementwise(exp_of_product())), arrays.inputs());
        let mut out = Aligned::<T>::zeros(COUNT);
        agree(&mut out, &mut [&mut |out| job.run(out), &mut |out| fused(at, a, b, out)]);
        agree(&mut out, &mut [&mut |out| job.run(out), &mut |out| blocked(at, a, b, out)]);
        let by_std = |out: &mut [T]| {
            for (place, out) in out.iter_mut().enumerate() {
                *out = (a[place.min(a.len() - 1)] * b[place.min(b.len() - 1)]).std_exp();
            }
        };
        let race = race(
            Rounds::usual(),
            &mut *out,
            &mut [
                &mut |out: &mut [T]| job.run(out),
                &mut |out| fused(at, a, b, out),
                &mut |out| blocked(at, a, b, out),
                &mut |out| by_std(out),
            ],
        );
        let best = race.best([1, 2]);
        worst = worst.max(race.ratio(0, best));
        table.row(vec![
            name.into(),
            T::NAME.into(),
            format!("{:.3}", race.seconds(0) * 1e9 / COUNT as f64),
            format!("{:.3}", race.ratio(0, 1)),
            format!("{:.3}", race.ratio(0, 2)),
            format!("{:.2}", race.ratio(0, 3)),
        ]);
    }
    worst
}

// ------------------------------------------------------------------ x0 + … + x9

type Loop = fn(At, &Ten<'_>, &mut [f64]);

macro_rules! loops {
    ($($high:literal)*) => { [$(loops!(@ $high 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)),*] };
    (@ $high:literal $($low:literal)*) => { [$(specialised::<{ 16 * $high + $low }>),*] };
}

/// One loop for each pattern, which the engine does not need.
static LOOPS: [[Loop; 16]; 64] = loops! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
};

/// The name of a pattern: the operands that it broadcasts.
fn name(pattern: usize) -> String {
    let broadcast: Vec<String> = (0..10).filter(|k| pattern >> k & 1 == 1).map(|k| format!("x{k}")).collect();
    if broadcast.is_empty() { "nothing".into() } else { broadcast.join(" ") }
}

/// The engine's time over that of the loop for the pattern.
fn against_specialised(at: At, pattern: usize, arrays: &Arrays<f64>, out: &mut [f64], rounds: Rounds) -> f64 {
    let count = out.len();
    let shapes = shapes_of(pattern, count);
    let shapes: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
    let operands: Ten<'_> = std::array::from_fn(|k| &arrays.0[k][..shapes[k][0]]);
    let inputs = operands.iter().map(|operand| Input::from(*operand)).collect();
    let job = Job::new(plan_of::<f64>(at.level(), &shapes, elementwise(sum_of(10))), inputs);
    let own = LOOPS[pattern / 16][pattern % 16];
    agree(out, &mut [&mut |out| job.run(out), &mut |out| own(at, &operands, out)]);
    let race =
        race(rounds, out, &mut [&mut |out: &mut [f64]| job.run(out), &mut |out| own(at, &operands, out)]);
    race.ratio(0, 1)
}

/// Ratios over a set of patterns. The worst of a thousand short measurements is mostly noise, so the worst
/// sixteenth of them is measured again for longer, and only the second figures count.
fn sums(at: At, count: usize, patterns: &[usize]) -> Vec<(f64, usize)> {
    let arrays = Arrays::<f64>::of(&[&[count][..]; 10]);
    let mut out = Aligned::zeros(count);
    let mut ratio =
        |pattern: usize, rounds| (against_specialised(at, pattern, &arrays, &mut out, rounds), pattern);
    let rounds = if count > 1_000_000 { Rounds::usual() } else { Rounds::short() };
    let mut ratios: Vec<(f64, usize)> = patterns.iter().map(|&pattern| ratio(pattern, rounds)).collect();
    ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    if count <= 1_000_000 {
        for entry in ratios.iter_mut().take(patterns.len() / 16) {
            *entry = ratio(entry.1, Rounds::patient());
        }
        ratios.sort_by(|a, b| b.0.total_cmp(&a.0));
    }
    ratios
}

fn all_sums(at: At, results: &mut Results) {
    let mut table = Table::new(
        "sums",
        &[
            "elements",
            "patterns",
            "median",
            "95th percentile",
            "worst",
            "operands broadcast in the worst",
            "second worst",
        ],
    );
    let mut lines = Vec::new();
    let step = if is_quick() { 93 } else { 1 };
    let all: Vec<usize> = (0..PATTERNS).step_by(step).collect();
    let sample: Vec<usize> = (0..PATTERNS).step_by(43).collect();
    let sizes = [
        (1_000, "1k", &all, [1.15, 1.3, 1.6]),
        (100_000, "100k", &all, [1.03, 1.1, 1.15]),
        (4_000_000, "4M", &sample, [0.95, 1.0, 1.1]),
    ];
    for (count, title, patterns, bounds) in sizes {
        let ratios = sums(at, count, patterns);
        let values: Vec<f64> = ratios.iter().map(|&(ratio, _)| ratio).collect();
        let median = quantile(&values, 0.5);
        table.row(vec![
            title.into(),
            ratios.len().to_string(),
            format!("{median:.3}"),
            format!("{:.3}", quantile(&values, 0.95)),
            format!("{:.3}", ratios[0].0),
            name(ratios[0].1),
            format!("{:.3}: {}", ratios[1].0, name(ratios[1].1)),
        ]);
        if count <= 100_000 {
            // The best come first.
            lines.push((
                title,
                values.iter().rev().zip(1..).map(|(&ratio, at)| (f64::from(at), ratio)).collect(),
            ));
        }
        let measured = [median, quantile(&values, 0.95), ratios[0].0];
        for ((name, bound), measured) in
            ["median", "95th percentile", "worst"].iter().zip(bounds).zip(measured)
        {
            let goal = format!("sum of 10 at {title}, {name} over {} loops", ratios.len());
            results.goal(goal_at_most(goal, bound, measured, ""));
        }
    }
    results.table(table);
    if !is_quick() {
        let caption = "x0 + … + x9: time over the specialised loop's, each of 1023 patterns, in order".into();
        draw("patterns.svg", &[Panel { caption, logarithmic: false, highest: 4.0, lines }]).unwrap();
    }
}

// ------------------------------------------------------------------ the levels

fn levels(results: &mut Results) {
    let levels: Vec<Level> = Level::available().collect();
    let names = levels.iter().map(|level| level.name());
    let header: Vec<&str> = ["ns per element", "dtype"].into_iter().chain(names).collect();
    let mut table = Table::new("levels", &header);
    level_row::<f64>(&mut table, "exp(x*y), 100k", &levels, &[&[100_000], &[100_000]], &exp_of_product());
    level_row::<f32>(&mut table, "exp(x*y), 100k", &levels, &[&[100_000], &[100_000]], &exp_of_product());
    level_row::<f64>(&mut table, "sum of 10, 1k", &levels, &[&[1_000][..]; 10], &sum_of(10));
    level_row::<f64>(&mut table, "sum of 10, 100k", &levels, &[&[100_000][..]; 10], &sum_of(10));
    level_row::<f32>(&mut table, "sum of 10, 100k", &levels, &[&[100_000][..]; 10], &sum_of(10));
    level_row::<f64>(&mut table, "matrix + row, 300x300", &levels, &[&[300, 300], &[300]], &sum_of(2));
    level_row::<f64>(&mut table, "(10000,3) + (3)", &levels, &[&[10_000, 3], &[3]], &sum_of(2));
    level_row::<f64>(&mut table, "matrix + row, 4000x4000", &levels, &[&[4000, 4000], &[4000]], &sum_of(2));
    results.table(table);
}

fn level_row<T: Real>(
    table: &mut Table,
    name: &str,
    levels: &[Level],
    shapes: &[&[usize]],
    sum: &Expression,
) {
    let arrays = Arrays::<T>::of(shapes);
    let jobs: Vec<Job<'_>> = levels
        .iter()
        .map(|&level| Job::new(plan_of::<T>(level, shapes, elementwise(sum.clone())), arrays.inputs()))
        .collect();
    let count = jobs[0].count();
    let mut out = Aligned::<T>::zeros(count);
    let mut runs: Vec<_> = jobs.iter().map(|job| move |out: &mut [T]| job.run(out)).collect();
    let mut competitors: Vec<Competitor<'_, [T]>> = Vec::new();
    for run in &mut runs {
        competitors.push(run);
    }
    let race = race(Rounds::usual(), &mut *out, &mut competitors);
    let times = (0..levels.len()).map(|level| format!("{:.3}", race.seconds(level) * 1e9 / count as f64));
    table.row([name.to_owned(), T::NAME.to_owned()].into_iter().chain(times).collect());
}

fn main() {
    single_thread();
    let mut results = Results::new("patterns");
    let at = At::detect();
    let mut table = Table::new(
        "exp",
        &[
            "exp(x*y), 100k",
            "dtype",
            "ns per element",
            "over one fused loop",
            "over two loops in blocks",
            "over std",
        ],
    );
    let double = exponentials::<f64>(at, &mut table);
    let single = exponentials::<f32>(at, &mut table);
    results.table(table);
    results.goal(goal_at_most(
        "exp(x*y) f64, worst pattern over the best specialised loop",
        1.03,
        double,
        "",
    ));
    results.goal(goal_at_most(
        "exp(x*y) f32, worst pattern over the best specialised loop",
        1.03,
        single,
        "",
    ));
    all_sums(at, &mut results);
    levels(&mut results);
    results.write();
}
