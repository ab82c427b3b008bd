//! Time per unit of work as elements, operands, operations and rank grow, drawn as one picture. A constant
//! means that cost is linear. Also the memory that a run needs besides its result, counted by the allocator.
#![allow(unsafe_code, reason = "a counting allocator")]

mod support;

use broadcheck_spec::{Expression, Function, Operation};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use support::data::Aligned;
use support::picture::{Panel, draw, whole};
use support::race::Rounds;
use support::results::figure;
use support::{
    Arrays, At, Job, Real, Results, Table, call, elementwise, is_quick, limits, plan_of, race, single_thread,
    sum_of, x,
};

// ------------------------------------------------------------------ growth

/// Seconds per call.
fn time<T: Real>(shapes: &[&[usize]], expression: Expression) -> f64 {
    let arrays = Arrays::<T>::of(shapes);
    let plan = plan_of::<T>(At::detect().level(), shapes, elementwise(expression));
    let job = Job::new(plan, arrays.inputs());
    let mut out = Aligned::<T>::zeros(job.count());
    race(Rounds::usual(), &mut *out, &mut [&mut |out: &mut [T]| job.run(out)]).seconds(0)
}

/// Nanoseconds per unit of work as a quantity grows.
struct Curve {
    what: &'static str,
    unit: &'static str,
    lines: Vec<(&'static str, Vec<(f64, f64)>)>,
}

impl Curve {
    fn of(what: &'static str, unit: &'static str, points: Vec<(f64, f64)>) -> Curve {
        Curve { what, unit, lines: vec![("", points)] }
    }

    fn panel(&self) -> Panel {
        // The overhead of a call over few elements would flatten the rest of the curve.
        let level = |(count, _): &&(f64, f64)| self.what != "elements" || *count >= 1000.0;
        let points = self.lines.iter().flat_map(|line| &line.1);
        let highest = points.filter(level).map(|point| point.1).fold(0.0, f64::max);
        Panel {
            caption: format!("{}: {}", self.what, self.unit),
            logarithmic: true,
            highest: highest * 1.4,
            lines: self.lines.clone(),
        }
    }
}

/// The engine and a plain loop, which have the same caches.
fn elements() -> Curve {
    let powers = if is_quick() { 0..=5 } else { 0..=8 };
    let at = At::detect();
    let (mut own, mut plain) = (Vec::new(), Vec::new());
    for power in powers {
        let count = 10usize.pow(power);
        let shapes: [&[usize]; 2] = [&[count], &[count]];
        let arrays = Arrays::<f64>::of(&shapes);
        let job = Job::new(plan_of::<f64>(at.level(), &shapes, elementwise(sum_of(2))), arrays.inputs());
        let mut out = Aligned::<f64>::zeros(count);
        let race = race(
            Rounds::usual(),
            &mut *out,
            &mut [&mut |out: &mut [f64]| job.run(out), &mut |out| {
                limits::triad(at, &arrays.0[0], &arrays.0[1], out);
            }],
        );
        let point = |competitor: usize| (count as f64, race.seconds(competitor) * 1e9 / count as f64);
        own.push(point(0));
        plain.push(point(1));
    }
    Curve {
        what: "elements",
        unit: "ns per element, x + y",
        lines: vec![("the engine", own), ("a plain loop", plain)],
    }
}

const COUNT: usize = 10_000;
const DOUBLING: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

fn operands() -> Curve {
    let point = |&operands: &usize| {
        let shapes: Vec<&[usize]> = vec![&[COUNT]; operands];
        (operands as f64, time::<f64>(&shapes, sum_of(operands)) * 1e9 / (COUNT * operands) as f64)
    };
    let points = DOUBLING.iter().map(point).collect();
    Curve::of("operands", "ns per element and operand, x0 + x1 + …, 10k elements", points)
}

fn operations() -> Curve {
    // Two alternating functions, so that neither merges with the previous one.
    let step = |value: Expression, at: usize| match at % 2 {
        0 => call(Function::Multiply, [value, x(0)]),
        _ => call(Function::Maximum, [x(1), value]),
    };
    let point = |&operations: &usize| {
        let expression = (0..operations).fold(x(0), step);
        let time = time::<f64>(&[&[COUNT], &[COUNT]], expression);
        (operations as f64, time * 1e9 / (COUNT * operations) as f64)
    };
    let points = DOUBLING.iter().map(point).collect();
    Curve::of("operations", "ns per element and operation, max(y, x*…), 10k elements", points)
}

fn rank() -> Curve {
    let point = |rank: usize| {
        // 65536 elements. Every other axis of the second operand is broadcast, so that no axes collapse.
        let full = vec![1 << (16 / rank); rank];
        let own = |(&length, axis): (&usize, usize)| if axis % 2 == 0 { length } else { 1 };
        let part: Vec<usize> = full.iter().zip(0..).map(own).collect();
        (rank as f64, time::<f64>(&[&full, &part], sum_of(2)) * 1e9 / 65_536.0)
    };
    Curve::of("rank", "ns per element, x + y, 65536 elements", [1, 2, 4, 8, 16].map(point).into())
}

fn growth(results: &mut Results) {
    let mut table = Table::new("growth", &["grows", "ns per", "at"]);
    let curves = [elements(), operands(), operations(), rank()];
    for curve in &curves {
        for (name, points) in &curve.lines {
            let points: Vec<String> =
                points.iter().map(|&(at, time)| format!("{}: {}", whole(at), figure(time))).collect();
            let name =
                if name.is_empty() { curve.what.to_owned() } else { format!("{}, {name}", curve.what) };
            table.row(vec![name, curve.unit.into(), points.join(", ")]);
        }
    }
    results.table(table);
    if !is_quick() {
        draw("growth.svg", &curves.map(|curve| curve.panel())).unwrap();
    }
}

// ------------------------------------------------------------------ memory

/// The system allocator, counting the allocated bytes and their maximum.
struct Counting;

static TAKEN: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded unchanged to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let taken = TAKEN.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(taken, Ordering::Relaxed);
        // SAFETY: the caller's guarantees are forwarded.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let taken = TAKEN.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(taken, Ordering::Relaxed);
        // SAFETY: the caller's guarantees are forwarded.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        TAKEN.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's guarantees are forwarded.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The largest number of bytes that the first run of a plan in a new thread holds besides operands and
/// result.
fn scratch<T: Real>(name: &str, shapes: &[&[usize]], operation: Operation, table: &mut Table) {
    let arrays = Arrays::<T>::of(shapes);
    let job = Job::new(plan_of::<T>(At::detect().level(), shapes, operation), arrays.inputs());
    let mut out = Aligned::<T>::zeros(job.count());
    let bytes = std::thread::scope(|scope| {
        let run = || {
            let before = TAKEN.load(Ordering::Relaxed);
            MOST.store(before, Ordering::Relaxed);
            job.run(&mut out);
            MOST.load(Ordering::Relaxed) - before
        };
        scope.spawn(run).join().unwrap()
    });
    table.row(vec![
        name.into(),
        T::NAME.into(),
        format!("{:.1}", size_of_val(&*out) as f64 / 1024.0),
        format!("{:.1}", bytes as f64 / 1024.0),
    ]);
}

/// A balanced tree of additions, in which as many values are live at once as the tree is deep.
fn tree(leaves: std::ops::Range<usize>) -> Expression {
    let middle = leaves.start + leaves.len() / 2;
    match leaves.len() {
        1 => x(leaves.start),
        _ => call(Function::Multiply, [tree(leaves.start..middle), tree(middle..leaves.end)]),
    }
}

fn memory(results: &mut Results) {
    let mut table =
        Table::new("scratch", &["run", "dtype", "result, KiB", "maximum besides the result, KiB"]);
    let product = || call(Function::Multiply, [x(0), x(1)]);
    for count in [1 << 10, 1 << 20, 1 << 24] {
        let name = format!("exp(x*y), {count} elements");
        let exp = elementwise(call(Function::Exp, [product()]));
        scratch::<f64>(&name, &[&[count], &[count]], exp, &mut table);
    }
    scratch::<f64>("matrix + row, 4000x4000", &[&[4000, 4000], &[4000]], elementwise(sum_of(2)), &mut table);
    scratch::<f64>("sum of 64, 100k", &[&[100_000][..]; 64], elementwise(sum_of(64)), &mut table);
    scratch::<f64>("tree of 64, 100k", &[&[100_000][..]; 64], elementwise(tree(0..64)), &mut table);
    scratch::<f32>("tree of 64, 100k", &[&[100_000][..]; 64], elementwise(tree(0..64)), &mut table);
    for shape in [&[4000][..], &[4000, 1], &[1]] {
        let gradient = Operation::Gradient { expression: product(), wrt: 1 };
        scratch::<f64>(
            &format!("4000x4000 summed to {shape:?}"),
            &[&[4000, 4000], shape],
            gradient,
            &mut table,
        );
    }
    let gradient = Operation::Gradient { expression: product(), wrt: 1 };
    scratch::<f64>("2000x65536 summed to [65536]", &[&[2000, 65536], &[65536]], gradient, &mut table);
    results.table(table);
}

fn main() {
    single_thread();
    let mut results = Results::new("growth");
    growth(&mut results);
    memory(&mut results);
    results.write();
}
