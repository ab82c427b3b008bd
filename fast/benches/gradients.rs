//! Compares gradients with only reading their operands, gradients of common functions with loops written for
//! them, and two threads with one.

mod support;

use broadcheck_fast::{Input, Plan};
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};
use std::marker::PhantomData;
use support::data::Aligned;
use support::elements::{Element, values};
use support::kernels::{Body, Exp, Four, Vector, each, fill, read, splat};
use support::race::{Clock, Rounds};
use support::slopes::{self, Loop, Place, Slope};
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

/// How the operand is stretched to a square matrix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stretch {
    /// It is a row.
    Rows,
    /// It is a column.
    Columns,
    /// It is a single value.
    Both,
}

impl Stretch {
    const ALL: [Stretch; 3] = [Stretch::Rows, Stretch::Columns, Stretch::Both];

    fn shape(self, side: usize) -> Vec<usize> {
        match self {
            Stretch::Rows => vec![side],
            Stretch::Columns => vec![side, 1],
            Stretch::Both => vec![1],
        }
    }
}

/// The gradients of common functions, each with a cotangent of the result's shape, as shares of the rate of a
/// loop by hand.
struct Common<'a> {
    at: At,
    side: usize,
    table: &'a mut Table,
    shares: Vec<f64>,
}

impl Common<'_> {
    /// The share of the rate of a loop by hand that the engine reaches in a gradient by operand `wrt`.
    /// The last of the inputs is the cotangent.
    fn share<T: Real>(
        &self,
        (shapes, inputs): (&[&[usize]], Vec<Input<'_>>),
        (expression, wrt): (&Expression, usize),
        by_hand: impl Fn(&mut [T]),
    ) -> f64 {
        let operand = |name: &str, shape: &[usize], input: &Input<'_>| {
            let count = shape.iter().product();
            let is_bool = matches!(input, Input::Bool(_));
            let data = if is_bool { vec![false; count].into() } else { T::data(vec![T::default(); count]) };
            Operand::dense(name, shape, data).unwrap()
        };
        let cotangent = Box::new(operand("w", &[self.side, self.side], &inputs[shapes.len()]));
        let operation = Operation::Vjp { expression: expression.clone(), wrt, target_shape: None, cotangent };
        let names = ["x0", "x1", "x2", "x3", "x4"].iter().zip(shapes).zip(&inputs);
        let operands = names.map(|((name, shape), input)| operand(name, shape, input)).collect();
        let request = Request::new(Rules::Numpy, operation, operands).unwrap();
        let job = Job::new(Plan::with_level(&request, self.at.level()).unwrap(), inputs);
        let mut out = Aligned::<T>::zeros(job.count());
        let mut own = Aligned::<T>::zeros(job.count());
        job.run(&mut out);
        by_hand(&mut own);
        for (out, own) in out.iter().zip(&*own) {
            // Terms of both signs may cancel.
            let (error, rest) = (*out - *own, T::of(1e-6 * self.side as f64));
            assert!(error * error <= T::of(1e-6) * *own * *own + rest * rest, "{out:?} is not {own:?}");
        }
        race(Rounds::usual(), &mut *out, &mut [&mut |out: &mut [T]| job.run(out), &mut |out| by_hand(out)])
            .ratio(1, 0)
    }

    /// A function of two operands, by one of them, of which the other has the shape of the result.
    fn two<T: Exp, S: Slope>(&mut self, name: &str, expression: &Expression, wrt: usize) {
        let (side, at) = (self.side, self.at);
        let whole = [side, side];
        let shares = Stretch::ALL.map(|stretch| {
            let own = stretch.shape(side);
            let shapes = if wrt == 0 { [&own[..], &whole] } else { [&whole, &own[..]] };
            let arrays = Arrays::<T>::of(&[shapes[0], shapes[1], &whole]);
            let place = |array: usize, step| Place { values: &arrays.0[array], step };
            let others = place(1 - wrt, side);
            let operands = [place(2, side), place(wrt, 0), others, place(wrt, 0)];
            let by_row = stretch == Stretch::Columns;
            self.share::<T>((&shapes, arrays.inputs()), (expression, wrt), |out| {
                if stretch == Stretch::Rows {
                    at.run_vectors(out, &rows_of::<T, S, 0b0111, true>(operands, side, false));
                } else {
                    let column = [
                        operands[0],
                        Place { step: usize::from(by_row), ..operands[1] },
                        others,
                        operands[3],
                    ];
                    at.run_vectors(out, &rows_of::<T, S, 0b0101, false>(column, side, by_row));
                }
            })
        });
        self.row::<T>(name, shares.map(Some));
    }

    /// (x-m)*r*g+b by one of its columns m and r, or its rows g and b.
    fn layer_norm<T: Exp>(&mut self) {
        let (side, at) = (self.side, self.at);
        let shapes: [&[usize]; 5] = [&[side, side], &[side, 1], &[side, 1], &[side], &[side]];
        let arrays = Arrays::<T>::of(&[shapes[0], shapes[1], shapes[2], shapes[3], shapes[4], &[side, side]]);
        let place = |array: usize, step| Place { values: &arrays.0[array], step };
        let [x, m, r] = [place(0, side), place(1, 1), place(2, 1)];
        let [g, b, w] = [place(3, 0), place(4, 0), place(5, side)];
        let centred = call(Function::Subtract, [self::x(0), self::x(1)]);
        let scaled = call(Function::Multiply, [centred, self::x(2)]);
        let scaled = call(Function::Multiply, [scaled, self::x(3)]);
        let whole = call(Function::Add, [scaled, self::x(4)]);
        let share = |wrt, by_hand: &dyn Fn(&mut [T])| {
            Some(self.share::<T>((&shapes, arrays.inputs()), (&whole, wrt), by_hand))
        };
        let mean = share(1, &|out| {
            at.run_vectors(out, &rows_of::<T, slopes::OfMean, 0b1001, false>([w, m, r, g], side, true));
        });
        let scale = share(2, &|out| {
            at.run_vectors(out, &rows_of::<T, slopes::OfScale, 0b1101, false>([w, m, x, g], side, true));
        });
        let gain = share(3, &|out| {
            at.run_vectors(out, &rows_of::<T, slopes::OfGain, 0b0101, true>([w, m, x, r], side, false));
        });
        let bias = share(4, &|out| {
            at.run_vectors(out, &rows_of::<T, slopes::OfSum, 0b0001, true>([w, m, r, b], side, false));
        });
        self.row::<T>("(x-m)\\*r\\*g+b by m", [None, mean, None]);
        self.row::<T>("(x-m)\\*r\\*g+b by r", [None, scale, None]);
        self.row::<T>("(x-m)\\*r\\*g+b by g", [gain, None, None]);
        self.row::<T>("(x-m)\\*r\\*g+b by b", [bias, None, None]);
    }

    /// select(c,x,y) by x or y.
    fn select<T: Exp + Element>(&mut self, wrt: usize) {
        let (side, at) = (self.side, self.at);
        let whole = [side, side];
        let conditions = values::<bool>(side * side, 3);
        let expression = call(Function::Select, [x(0), x(1), x(2)]);
        let shares = Stretch::ALL.map(|stretch| {
            let own = stretch.shape(side);
            let shapes = if wrt == 1 { [&whole[..], &own, &whole] } else { [&whole[..], &whole, &own] };
            let arrays = Arrays::<T>::of(&[shapes[1], shapes[2], &whole]);
            let inputs = [bool::input(&conditions)].into_iter().chain(arrays.inputs()).collect();
            let (taken, w) = (wrt == 1, &*arrays.0[2]);
            self.share::<T>((&shapes, inputs), (&expression, wrt), |out| {
                at.run(
                    out,
                    #[inline(always)]
                    |out| slopes::of_select(stretch == Stretch::Rows, taken, (&conditions, w), side, out),
                );
            })
        });
        let name = if wrt == 1 { "select(c,x,y) by x" } else { "select(c,x,y) by y" };
        self.row::<T>(name, shares.map(Some));
    }

    fn row<T: Real>(&mut self, name: &str, shares: [Option<f64>; 3]) {
        self.shares.extend(shares.iter().flatten());
        let cell =
            |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
        let row = [name.to_owned(), T::NAME.to_owned(), format!("{0}x{0}", self.side)];
        self.table.row(row.into_iter().chain(shares.map(cell)).collect());
    }
}

/// A loop over the rows of a square matrix.
fn rows_of<T, S, const EACH: u8, const DOWN: bool>(
    operands: [Place<'_, T>; 4],
    side: usize,
    by_row: bool,
) -> Loop<'_, T, S, EACH, DOWN> {
    Loop { operands, rows: side, width: side, by_row, slope: PhantomData }
}

/// The gradients of ten functions by each operand for which they differ.
fn common<T: Exp + Element>(common: &mut Common<'_>) {
    use Function as F;
    let two = |function| call(function, [x(0), x(1)]);
    let (product, sum) = (two(F::Multiply), two(F::Add));
    common.two::<T, slopes::OfProduct>("x\\*y by x", &product, 0);
    common.two::<T, slopes::OfProduct>("x\\*y by y", &product, 1);
    common.two::<T, slopes::OfNumerator>("x/y by x", &two(F::Divide), 0);
    common.two::<T, slopes::OfDenominator>("x/y by y", &two(F::Divide), 1);
    common.two::<T, slopes::OfBase>("power(x,y) by x", &two(F::Power), 0);
    common.two::<T, slopes::OfExponent>("power(x,y) by y", &two(F::Power), 1);
    common.two::<T, slopes::OfExp>("exp(x\\*y) by x", &call(F::Exp, [product.clone()]), 0);
    common.two::<T, slopes::OfExp>("exp(x\\*y) by y", &call(F::Exp, [product.clone()]), 1);
    common.two::<T, slopes::OfLog>("log(x+y) by x", &call(F::Log, [sum.clone()]), 0);
    common.two::<T, slopes::OfLog>("log(x+y) by y", &call(F::Log, [sum.clone()]), 1);
    common.two::<T, slopes::OfTanh>("tanh(x+y) by x", &call(F::Tanh, [sum.clone()]), 0);
    common.two::<T, slopes::OfTanh>("tanh(x+y) by y", &call(F::Tanh, [sum.clone()]), 1);
    common.two::<T, slopes::OfMaximum>("maximum(x,y) by x", &two(F::Maximum), 0);
    common.two::<T, slopes::OfMaximum>("maximum(x,y) by y", &two(F::Maximum), 1);
    common.select::<T>(1);
    common.select::<T>(2);
    // A sum has the same gradient by each term.
    let four = call(F::Add, [call(F::Add, [sum, x(1)]), x(1)]);
    common.two::<T, slopes::OfSum>("x+y+y+y by x", &four, 0);
    common.layer_norm::<T>();
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

    let header = ["gradient", "dtype", "result", "over rows", "over columns", "over both"];
    let mut table = Table::new("common", &header);
    let mut shares = Vec::new();
    for side in [200, 2000] {
        let mut all = Common { at, side, table: &mut table, shares: Vec::new() };
        common::<f64>(&mut all);
        common::<f32>(&mut all);
        shares.append(&mut all.shares);
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
