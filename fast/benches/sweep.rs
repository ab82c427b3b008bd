//! Every function by dtype and shape, some expressions of several calls, and gradients, each against a loop
//! written for the case in plain Rust and compiled for the level. Log, tanh and power themselves are compared
//! with peers only, because a plain loop over the standard library's functions says little about them; their
//! gradients are compared with loops that call the engine's own functions.
//!
//! `cargo bench --bench sweep -- "x*x+y*y" add` measures only these operations, or `all`, prints all of their
//! cases and writes no results.

mod support;

use broadcheck_fast::{Input, Plan};
use broadcheck_spec::half::{bf16, f16};
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};
use std::collections::BTreeMap;
use std::slice;
use support::data::Aligned;
use support::elements::{Element, map, values, zip};
use support::gradients::{Gradients, OVER, Shares};
use support::kernels::{Body, Exp, Vector, fill, read};
use support::race::{Clock, Competitor, Rounds};
use support::results::{Results, Table, goal_at_most};
use support::{At, call, race, single_thread, x};

/// Two operands: alike, one value, a row or a column against a matrix.
#[derive(Clone, Copy)]
enum Shape {
    Alike(usize),
    Scalar(usize),
    Row(usize, usize),
    Column(usize, usize),
}

impl Shape {
    fn name(self) -> String {
        match self {
            Shape::Alike(count) => format!("{count}"),
            Shape::Scalar(count) => format!("{count} and 1"),
            Shape::Row(rows, width) => format!("{rows}x{width} and row"),
            Shape::Column(rows, width) => format!("{rows}x{width} and column"),
        }
    }

    fn shapes(self) -> [Vec<usize>; 2] {
        match self {
            Shape::Alike(count) => [vec![count], vec![count]],
            Shape::Scalar(count) => [vec![count], vec![1]],
            Shape::Row(rows, width) => [vec![rows, width], vec![width]],
            Shape::Column(rows, width) => [vec![rows, width], vec![rows, 1]],
        }
    }

    /// The loop for the shape.
    #[inline(always)]
    fn run<T: Element, R: Element>(
        self,
        at: At,
        (a, b): (&[T], &[T]),
        out: &mut [R],
        f: impl Fn(T::Wide, T::Wide) -> R::Wide,
    ) {
        match self {
            Shape::Alike(_) => zip(at, (a, b), out, f),
            Shape::Scalar(_) => {
                let b = b[0].widen();
                map(at, a, out, |a| f(a, b));
            }
            Shape::Row(_, width) => {
                for (out, a) in out.chunks_exact_mut(width).zip(a.chunks_exact(width)) {
                    zip(at, (a, &b[..width]), out, &f);
                }
            }
            Shape::Column(_, width) => {
                for ((out, a), b) in out.chunks_exact_mut(width).zip(a.chunks_exact(width)).zip(b) {
                    let b = b.widen();
                    map(at, a, out, |a| f(a, b));
                }
            }
        }
    }
}

const ROUNDS: Rounds = Rounds { count: 15, seconds: 1.5e-4, clock: Clock::Thread };

/// The elements of most cases.
const COUNT: usize = 10_000;

const ALL: [Shape; 10] = [
    Shape::Alike(COUNT),
    Shape::Scalar(COUNT),
    Shape::Row(100, 100),
    Shape::Column(100, 100),
    Shape::Row(2000, 5),
    Shape::Column(2000, 5),
    Shape::Row(500, 20),
    Shape::Column(500, 20),
    Shape::Alike(1_000),
    Shape::Alike(1_000_000),
];
const SOME: &[Shape] = &[ALL[0], ALL[1], ALL[3]];
/// Those of expressions.
const FUSED: [Shape; 7] =
    [ALL[0], ALL[2], ALL[3], ALL[6], ALL[7], Shape::Row(300, 33), Shape::Column(300, 33)];

/// The rows of values against bounds, and their elements.
const BOUNDED: [[usize; 2]; 5] = [[1, 1_000], [1, COUNT], [1, 1_000_000], [100, 100], [300, 33]];

/// A measured case.
struct Case {
    operation: String,
    dtype: &'static str,
    shape: String,
    engine: f64,
    plain: f64,
}

impl Case {
    fn ratio(&self) -> f64 {
        self.engine / self.plain
    }
}

struct Sweep {
    at: At,
    cases: Vec<Case>,
    /// The only operations that are measured, if any are given.
    only: Vec<String>,
}

impl Sweep {
    fn wants(&self, operation: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == operation)
    }

    /// Compares the plan of a request with a loop that gives the same bits. Both read the same arrays.
    fn case<R: Element>(
        &mut self,
        (operation, dtype, shape): (&str, &'static str, String),
        (request, inputs): (&Request, &[Input<'_>]),
        by_hand: impl Fn(&mut [R]),
    ) {
        if !self.wants(operation) {
            return;
        }
        let plan = Plan::with_level(request, self.at.level()).unwrap();
        let count = plan.shape().iter().product();
        let engine = |out: &mut [R]| plan.run_into(inputs, R::output(out)).unwrap();
        let mut out = values::<R>(count, 7);
        let mut other = values::<R>(count, 8);
        engine(&mut out);
        by_hand(&mut other);
        assert!(*out == *other, "{operation} {dtype} {shape}: the results differ");
        let mut competitors: [Competitor<'_, [R]>; 2] = [&mut |out| engine(out), &mut |out| by_hand(out)];
        let race = race(ROUNDS, &mut *out, &mut competitors);
        let seconds = |competitor| race.seconds(competitor) * 1e9 / count as f64;
        let (engine, plain) = (seconds(0), seconds(1));
        self.cases.push(Case { operation: operation.into(), dtype, shape, engine, plain });
    }

    fn two<T: Element, R: Element>(
        &mut self,
        function: Function,
        shapes: &[Shape],
        f: impl Fn(T::Wide, T::Wide) -> R::Wide + Copy,
    ) {
        let at = self.at;
        for &shape in shapes {
            let request = request_of::<T>(&shape.shapes(), call(function, [x(0), x(1)]));
            let arrays = arrays_of::<T>(&shape.shapes());
            let name = (function.name(), T::DTYPE.name(), shape.name());
            self.case::<R>(name, (&request, &inputs_of(&arrays)), |out| {
                at.run(
                    out,
                    #[inline(always)]
                    |out| shape.run(at, (&arrays[0], &arrays[1]), out, f),
                );
            });
        }
    }

    fn one<T: Element>(&mut self, function: Function, f: impl Fn(T::Wide) -> T::Wide + Copy) {
        let at = self.at;
        for count in [1_000, COUNT] {
            let request = request_of::<T>(&[vec![count]], call(function, [x(0)]));
            let arrays = arrays_of::<T>(&[vec![count]]);
            let name = (function.name(), T::DTYPE.name(), count.to_string());
            self.case::<T>(name, (&request, &inputs_of(&arrays)), |out| {
                at.run(
                    out,
                    #[inline(always)]
                    |out| map(at, &arrays[0], out, f),
                );
            });
        }
    }

    fn select<T: Element>(&mut self) {
        let at = self.at;
        let (c, a, b) = (values::<bool>(COUNT, 3), values::<T>(COUNT, 1), values::<T>(COUNT, 2));
        let operand = |name, data| Operand::dense(name, [COUNT], data).unwrap();
        let operands = vec![
            operand("c", bool::data(c.to_vec())),
            operand("a", T::data(a.to_vec())),
            operand("b", T::data(b.to_vec())),
        ];
        let expression = call(Function::Select, [x(0), x(1), x(2)]);
        let request = Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap();
        let inputs = [bool::input(&c), T::input(&a), T::input(&b)];
        let name = ("select", T::DTYPE.name(), COUNT.to_string());
        self.case::<T>(name, (&request, &inputs), |out| {
            at.run(
                out,
                #[inline(always)]
                |out| {
                    let branches = c.iter().zip(&*a).zip(&*b);
                    out.iter_mut().zip(branches).for_each(|(out, ((c, a), b))| *out = T::select(*c, *a, *b));
                },
            );
        });
    }

    /// An expression of two operands as one loop for each shape.
    fn fused<T: Element, R: Element>(
        &mut self,
        name: &str,
        expression: &Expression,
        f: impl Fn(T::Wide, T::Wide) -> R::Wide + Copy,
    ) {
        let at = self.at;
        for shape in FUSED {
            let request = request_of::<T>(&shape.shapes(), expression.clone());
            let arrays = arrays_of::<T>(&shape.shapes());
            let name = (name, T::DTYPE.name(), shape.name());
            self.case::<R>(name, (&request, &inputs_of(&arrays)), |out| {
                at.run(
                    out,
                    #[inline(always)]
                    |out| shape.run(at, (&arrays[0], &arrays[1]), out, f),
                );
            });
        }
    }

    /// An expression of an operand and two that are one value, or one value in each row, as one loop.
    fn bounded<T: Element, R: Element>(
        &mut self,
        name: &str,
        expression: &Expression,
        f: impl Fn(T::Wide, T::Wide, T::Wide) -> R::Wide + Copy,
    ) {
        let at = self.at;
        for [rows, width] in BOUNDED {
            let (whole, bound, shape) = if rows == 1 {
                (vec![width], vec![1], format!("{width} and 1"))
            } else {
                (vec![rows, width], vec![rows, 1], format!("{rows}x{width} and column"))
            };
            let shapes = [whole, bound.clone(), bound];
            let request = request_of::<T>(&shapes, expression.clone());
            let arrays = arrays_of::<T>(&shapes);
            self.case::<R>((name, T::DTYPE.name(), shape), (&request, &inputs_of(&arrays)), |out| {
                at.run(
                    out,
                    #[inline(always)]
                    |out| {
                        let rows = out.chunks_exact_mut(width).zip(arrays[0].chunks_exact(width));
                        for ((out, x), (a, b)) in rows.zip(arrays[1].iter().zip(&*arrays[2])) {
                            let (a, b) = (a.widen(), b.widen());
                            map(at, x, out, |x| f(x, a, b));
                        }
                    },
                );
            });
        }
    }

    /// The gradients of ten functions by each operand, stretched to square matrices or of their shape.
    fn gradients<T: Element + Exp>(&mut self) {
        if !self.only.is_empty() && !self.only.iter().any(|only| only.starts_with("gradient")) {
            return;
        }
        for side in [32, 100, 1000, 2000] {
            let mut gradients = Gradients::new(self.at, side, ROUNDS);
            gradients.ten_functions::<T>();
            for Shares { gradient, dtype, side, shares } in gradients.measured {
                let stretched = shares.into_iter().zip(OVER);
                for (share, over) in stretched.filter_map(|(share, over)| Some((share?, over))) {
                    let (operation, shape) =
                        (format!("gradient of {gradient}"), format!("{side}x{side} over {over}"));
                    if !self.wants(&operation) {
                        continue;
                    }
                    let (engine, plain) = (share.nanoseconds, share.nanoseconds * share.rate);
                    self.cases.push(Case { operation, dtype, shape, engine, plain });
                }
            }
        }
    }

    fn exp<T: Element + Exp>(&mut self) {
        let at = self.at;
        for count in [1_000, COUNT, 1_000_000] {
            let request = request_of::<T>(&[vec![count]], call(Function::Exp, [x(0)]));
            let arrays = arrays_of::<T>(&[vec![count]]);
            let name = ("exp", T::DTYPE.name(), count.to_string());
            self.case::<T>(name, (&request, &inputs_of(&arrays)), |out| {
                at.run_vectors(out, &ExpOf(&arrays[0]));
            });
        }
    }
}

/// exp of an array.
struct ExpOf<'a, T>(&'a [T]);

impl<T: Exp> Body<T> for ExpOf<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]) {
        fill::<V>(
            out,
            #[inline(always)]
            |at| V::exp(read(self.0, at)),
        );
    }
}

fn arrays_of<T: Element>(shapes: &[Vec<usize>]) -> Vec<Aligned<T>> {
    (1..).zip(shapes).map(|(seed, shape)| values(shape.iter().product(), seed)).collect()
}

fn inputs_of<T: Element>(arrays: &[Aligned<T>]) -> Vec<Input<'_>> {
    arrays.iter().map(|array| T::input(array)).collect()
}

fn request_of<T: Element>(shapes: &[Vec<usize>], expression: Expression) -> Request {
    let arrays = arrays_of::<T>(shapes);
    let operand = |(place, (shape, values)): (usize, (&Vec<usize>, &Aligned<T>))| {
        Operand::dense(format!("x{place}"), &shape[..], T::data(values.to_vec())).unwrap()
    };
    let operands = shapes.iter().zip(&arrays).enumerate().map(operand).collect();
    Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap()
}

fn two(function: Function, a: Expression, b: Expression) -> Expression {
    call(function, [a, b])
}

macro_rules! comparisons {
    ($sweep:ident, $type:ident) => {
        $sweep.two::<$type, bool>(Function::Less, &ALL, |a, b| a < b);
        $sweep.two::<$type, bool>(Function::LessEqual, SOME, |a, b| a <= b);
        $sweep.two::<$type, bool>(Function::Greater, SOME, |a, b| a > b);
        $sweep.two::<$type, bool>(Function::GreaterEqual, SOME, |a, b| a >= b);
        $sweep.two::<$type, bool>(Function::Equal, SOME, |a, b| a == b);
        $sweep.two::<$type, bool>(Function::NotEqual, SOME, |a, b| a != b);
        $sweep.select::<$type>();
    };
}

macro_rules! floats {
    ($sweep:ident, $($type:ident)*) => { $(
        $sweep.two::<$type, $type>(Function::Add, &ALL, |a, b| a + b);
        $sweep.two::<$type, $type>(Function::Subtract, SOME, |a, b| a - b);
        $sweep.two::<$type, $type>(Function::Multiply, SOME, |a, b| a * b);
        $sweep.two::<$type, $type>(Function::Divide, &ALL[..7], |a, b| a / b);
        $sweep.two::<$type, $type>(Function::Maximum, &ALL, |a, b| if a > b || a.is_nan() { a } else { b });
        $sweep.two::<$type, $type>(Function::Minimum, SOME, |a, b| if a < b || a.is_nan() { a } else { b });
        comparisons!($sweep, $type);
        $sweep.one::<$type>(Function::Sqrt, |a| a.sqrt());
    )* };
}

macro_rules! integers {
    ($sweep:ident, $($type:ident)*) => { $(
        $sweep.two::<$type, $type>(Function::Add, &ALL, $type::wrapping_add);
        $sweep.two::<$type, $type>(Function::Subtract, SOME, $type::wrapping_sub);
        $sweep.two::<$type, $type>(Function::Multiply, &ALL[..7], $type::wrapping_mul);
        $sweep.two::<$type, $type>(Function::Maximum, SOME, Ord::max);
        $sweep.two::<$type, $type>(Function::Minimum, SOME, Ord::min);
        comparisons!($sweep, $type);
        $sweep.one::<$type>(Function::Negate, $type::wrapping_neg);
        $sweep.fused::<$type, $type>("x*x+y*y", &squares(), |a, b| {
            a.wrapping_mul(a).wrapping_add(b.wrapping_mul(b))
        });
        let product = two(Function::Multiply, two(Function::Add, x(0), x(1)), x(0));
        let folded = two(Function::Multiply, two(Function::Subtract, product, x(1)), x(0));
        $sweep.fused::<$type, $type>("((x+y)*x-y)*x", &folded, |a, b| {
            a.wrapping_add(b).wrapping_mul(a).wrapping_sub(b).wrapping_mul(a)
        });
    )* };
}

fn squares() -> Expression {
    two(Function::Add, two(Function::Multiply, x(0), x(0)), two(Function::Multiply, x(1), x(1)))
}

/// Expressions of a value and two bounds. By hand, no bound is a NaN.
macro_rules! bounded {
    ($sweep:ident, $($type:ident)*) => { $(
        let inside = two(
            Function::LogicalAnd,
            two(Function::LessEqual, x(1), x(0)),
            two(Function::Less, x(0), x(2)),
        );
        $sweep.bounded::<$type, bool>("a<=x and x<b", &inside, |x, a, b| (a <= x) & (x < b));
        let clipped = two(Function::Minimum, two(Function::Maximum, x(0), x(1)), x(2));
        $sweep.bounded::<$type, $type>("min(max(x,a),b)", &clipped, |x, a, b| {
            let x = if x > a { x } else { a };
            if x < b { x } else { b }
        });
        let kept = call(Function::Select, [two(Function::Greater, x(0), x(1)), x(0), x(2)]);
        $sweep.bounded::<$type, $type>("select(x>a,x,b)", &kept, |x, a, b| if x > a { x } else { b });
    )* };
}

/// Expressions of several calls in one float type.
macro_rules! expressions {
    ($sweep:ident, $($type:ident)*) => { $(
        let less = || two(Function::Less, x(0), x(1));
        let product = || two(Function::Multiply, x(0), x(1));
        let clipped = two(Function::Maximum, two(Function::Minimum, x(0), x(1)), product());
        $sweep.fused::<$type, $type>("max(min(x,y),x*y)", &clipped, |a, b| {
            let least = if a < b { a } else { b };
            if least > a * b { least } else { a * b }
        });
        let chosen = call(Function::Select, [less(), x(0), x(1)]);
        $sweep.fused::<$type, $type>("select(x<y,x,y)", &chosen, |a, b| if a < b { a } else { b });
        $sweep.fused::<$type, $type>("x*x+y*y", &squares(), |a, b| a * a + b * b);
        let length = call(Function::Sqrt, [squares()]);
        $sweep.fused::<$type, $type>("sqrt(x*x+y*y)", &length, |a, b| (a * a + b * b).sqrt());
        let root = call(Function::Sqrt, [two(Function::Add, x(1), x(1))]);
        let normal = two(Function::Divide, x(0), root);
        $sweep.fused::<$type, $type>("x/sqrt(y+y)", &normal, |a, b| a / (b + b).sqrt());
        let distance = call(Function::Abs, [two(Function::Subtract, x(0), x(1))]);
        $sweep.fused::<$type, $type>("abs(x-y)", &distance, |a, b| (a - b).abs());
        let sum = || two(Function::Add, x(0), x(1));
        let either = two(Function::LogicalOr, less(), two(Function::Less, product(), x(0)));
        $sweep.fused::<$type, bool>("x<y or x*y<x", &either, |a, b| (a < b) | (a * b < a));
        let difference = two(Function::Subtract, x(0), x(1));
        let factored = two(Function::Multiply, two(Function::Multiply, difference, sum()), x(0));
        $sweep.fused::<$type, $type>("(x-y)*(x+y)*x", &factored, |a, b| (a - b) * (a + b) * a);
        let difference = || two(Function::Subtract, x(0), x(1));
        let ratio = two(Function::Divide, difference(), sum());
        $sweep.fused::<$type, $type>("(x-y)/(x+y)", &ratio, |a, b| (a - b) / (a + b));
        let computed = call(Function::Select, [less(), product(), difference()]);
        $sweep.fused::<$type, $type>("select(x<y,x*y,x-y)", &computed, |a, b| {
            if a < b { a * b } else { a - b }
        });
    )* };
}

/// Negation and the absolute value of halves by hand change one bit.
fn signs(sweep: &mut Sweep) {
    macro_rules! of {
        ($($type:ident)*) => { $(
            for (function, and, xor) in [(Function::Negate, 0xffff, 0x8000), (Function::Abs, 0x7fff, 0)] {
                let at = sweep.at;
                let request = request_of::<$type>(&[vec![COUNT]], call(function, [x(0)]));
                let array = values::<$type>(COUNT, 1);
                let name = (function.name(), $type::DTYPE.name(), COUNT.to_string());
                sweep.case::<$type>(name, (&request, &inputs_of(slice::from_ref(&array))), |out| {
                    at.run(
                        out,
                        #[inline(always)]
                        |out| {
                            let bits = |a: &$type| $type::from_bits(a.to_bits() & and ^ xor);
                            out.iter_mut().zip(&*array).for_each(|(out, a)| *out = bits(a));
                        },
                    );
                });
            }
        )* };
    }
    of! { f16 bf16 }
}

/// The figures of some cases.
fn figures<'a>(cases: impl Iterator<Item = &'a Case>) -> Table {
    let header = ["operation", "dtype", "shape", "ns per element", "by hand", "ratio"];
    let mut table = Table::new("worst", &header);
    for case in cases {
        table.row(vec![
            case.operation.clone(),
            case.dtype.into(),
            case.shape.clone(),
            format!("{:.4}", case.engine),
            format!("{:.4}", case.plain),
            format!("{:.2}", case.ratio()),
        ]);
    }
    table
}

/// The largest ratio of each operation and dtype, the worst cases, and the goals.
fn report(cases: &[Case], results: &mut Results) {
    let mut dtypes: Vec<&str> = Vec::new();
    let mut cells: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for case in cases {
        if !dtypes.contains(&case.dtype) {
            dtypes.push(case.dtype);
        }
        let cell = cells.entry(&case.operation).or_default().entry(case.dtype).or_insert(0.0);
        *cell = cell.max(case.ratio());
    }
    let header: Vec<&str> = ["operation"].into_iter().chain(dtypes.iter().copied()).collect();
    let mut table = Table::new("heat", &header);
    let mut rows: Vec<(&&str, &BTreeMap<&str, f64>)> = cells.iter().collect();
    let worst = |row: &BTreeMap<&str, f64>| row.values().copied().fold(0.0, f64::max);
    rows.sort_by(|a, b| worst(b.1).total_cmp(&worst(a.1)));
    for (operation, row) in rows {
        let cell = |dtype: &&str| row.get(dtype).map_or("-".to_owned(), |ratio| format!("{ratio:.2}"));
        table.row([(*operation).to_owned()].into_iter().chain(dtypes.iter().map(cell)).collect());
    }
    results.table(table);
    let mut sorted: Vec<&Case> = cases.iter().collect();
    sorted.sort_by(|a, b| b.ratio().total_cmp(&a.ratio()));
    results.table(figures(sorted.iter().copied().take(40)));
    let count = cases.len() as f64;
    let mean = (cases.iter().map(|case| case.ratio().ln()).sum::<f64>() / count).exp();
    let over = |limit: f64| cases.iter().filter(|case| case.ratio() > limit).count() as f64;
    results.goal(goal_at_most(
        format!("sweep of {count} cases, geometric mean over the plain loop"),
        0.95,
        mean,
        "",
    ));
    results.goal(goal_at_most("sweep, share of cases over 1.2", 5.0, 100.0 * over(1.2) / count, " %"));
    results.goal(goal_at_most("sweep, cases over 1.5", 0.0, over(1.5), ""));
    results.goal(goal_at_most("sweep, worst case", 1.5, sorted[0].ratio(), ""));
}

fn main() {
    single_thread();
    let mut results = Results::new("sweep");
    let names = || std::env::args().skip(1).filter(|argument| !argument.starts_with("--"));
    let only = if names().any(|name| name == "all") { Vec::new() } else { names().collect() };
    let mut sweep = Sweep { at: At::detect(), cases: Vec::new(), only };
    floats!(sweep, f64 f32 f16 bf16);
    sweep.one::<f64>(Function::Abs, f64::abs);
    sweep.one::<f64>(Function::Negate, |a| -a);
    sweep.one::<f32>(Function::Abs, f32::abs);
    sweep.one::<f32>(Function::Negate, |a| -a);
    signs(&mut sweep);
    sweep.exp::<f64>();
    sweep.exp::<f32>();
    sweep.gradients::<f64>();
    sweep.gradients::<f32>();
    expressions!(sweep, f64 f32);
    integers!(sweep, i64 i32 i16 i8 u64 u32 u16 u8);
    bounded!(sweep, f64 f32 f16 bf16 i64 i32 i16 i8 u64 u32 u16 u8);
    sweep.two::<bool, bool>(Function::LogicalAnd, &ALL, |a, b| a & b);
    sweep.two::<bool, bool>(Function::LogicalOr, SOME, |a, b| a | b);
    sweep.two::<bool, bool>(Function::Equal, SOME, |a, b| a == b);
    sweep.one::<bool>(Function::LogicalNot, |a| !a);
    sweep.select::<bool>();
    if names().next().is_none() {
        report(&sweep.cases, &mut results);
        results.write();
    } else {
        figures(sweep.cases.iter());
    }
}
