//! The expressions that users write most, each against one loop by hand for its shapes: activations, a
//! softmax, clipping and choosing over vectors, and chains of three to six operations over rows of 16 to 2000
//! elements. exp and tanh are the engine's own in both.
//!
//! `cargo bench --bench expressions -- gelu clip` measures only these, and writes no results.

mod support;

use broadcheck_fast::{Input, Plan};
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};
use support::by_hand::Swish;
use support::data::Aligned;
use support::elements::{Element, values};
use support::kernels::{Body, Exp, Vector, each, fill, read, read_one, splat, store};
use support::race::{Clock, Competitor, Rounds};
use support::results::{Results, Table, goal_at_most};
use support::{At, Real, call, race, single_thread, x};

const ROUNDS: Rounds = Rounds { count: 15, seconds: 4e-4, clock: Clock::Thread };

/// The rows and their elements of the expressions over vectors.
const VECTORS: [Size; 4] = [[1, 1_000], [1, 10_000], [1, 100_000], [1, 4_000_000]];
/// Those over matrices.
const MATRICES: [Size; 8] =
    [[16, 16], [24, 24], [48, 48], [100, 100], [256, 256], [300, 300], [1000, 1000], [2000, 2000]];

/// The number of rows, and of the elements of each.
type Size = [usize; 2];

/// What an operand has for the matrix of the result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A value for each element.
    Matrix,
    /// A value for each column.
    Row,
    /// A value for each row.
    Column,
    /// One value.
    One,
    /// A bool for each row.
    Mask,
}

impl Kind {
    fn shape(self, [rows, width]: Size) -> Vec<usize> {
        match self {
            Kind::Matrix => vec![rows, width],
            Kind::Row => vec![width],
            Kind::Column | Kind::Mask => vec![rows, 1],
            Kind::One => vec![1],
        }
    }
}

/// The values of the operands: those of a [`Kind::Mask`] are bools, and its numbers are not read.
struct Values<T> {
    numbers: Vec<Aligned<T>>,
    mask: Aligned<bool>,
}

impl<T: Element> Values<T> {
    fn of(kinds: &[Kind], size: Size) -> Values<T> {
        let count = |kind: &Kind| kind.shape(size).iter().product();
        let numbers = kinds.iter().zip(1..).map(|(kind, seed)| values(count(kind), seed)).collect();
        Values { numbers, mask: values(size[0], 9) }
    }
}

/// What is measured.
struct Expressions {
    at: At,
    /// The only expressions that are measured, if any are given.
    only: Vec<String>,
    rows: Vec<Measured>,
}

/// The engine's time over that of the loop, for each size.
struct Measured {
    name: &'static str,
    dtype: &'static str,
    /// Whether the sizes are [`MATRICES`].
    over_rows: bool,
    nanoseconds: Vec<f64>,
    ratios: Vec<f64>,
}

impl Expressions {
    /// Compares an expression with a loop that gives the same bits.
    fn measure<T: Element + Real>(
        &mut self,
        name: &'static str,
        (kinds, expression): (&[Kind], &Expression),
        by_hand: impl Fn(At, Size, &Values<T>, &mut [T]),
    ) {
        if !self.only.is_empty() && !self.only.iter().any(|only| only == name) {
            return;
        }
        let over_rows = kinds.iter().any(|kind| !matches!(kind, Kind::Matrix | Kind::One));
        let sizes: &[Size] = if over_rows { &MATRICES } else { &VECTORS };
        let dtype = <T as Real>::NAME;
        let mut measured = Measured { name, dtype, over_rows, nanoseconds: Vec::new(), ratios: Vec::new() };
        for &size in sizes {
            let values = Values::<T>::of(kinds, size);
            let request = request(kinds, size, expression, &values);
            let plan = Plan::with_level(&request, self.at.level()).unwrap();
            let inputs = inputs(kinds, &values);
            let engine = |out: &mut [T]| plan.run_into(&inputs, <T as Real>::output(out)).unwrap();
            let count = size[0] * size[1];
            let (mut out, mut other) = (Aligned::<T>::zeros(count), Aligned::<T>::zeros(count));
            engine(&mut out);
            by_hand(self.at, size, &values, &mut other);
            assert!(*out == *other, "{name} {dtype} {size:?}: the results differ");
            let mut competitors: [Competitor<'_, [T]>; 2] =
                [&mut |out| engine(out), &mut |out| by_hand(self.at, size, &values, out)];
            let race = race(ROUNDS, &mut *out, &mut competitors);
            measured.nanoseconds.push(race.seconds(0) * 1e9 / count as f64);
            measured.ratios.push(race.ratio(0, 1));
        }
        self.rows.push(measured);
    }
}

fn request<T: Element + Real>(
    kinds: &[Kind],
    size: Size,
    expression: &Expression,
    values: &Values<T>,
) -> Request {
    let operand = |(place, kind): (usize, &Kind)| {
        let data = match kind {
            Kind::Mask => values.mask.to_vec().into(),
            _ => <T as Real>::data(values.numbers[place].to_vec()),
        };
        Operand::dense(format!("x{place}"), kind.shape(size), data).unwrap()
    };
    let operation = Operation::Elementwise { expression: expression.clone() };
    Request::new(Rules::Numpy, operation, kinds.iter().enumerate().map(operand).collect()).unwrap()
}

fn inputs<'a, T: Element + Real>(kinds: &[Kind], values: &'a Values<T>) -> Vec<Input<'a>> {
    let input = |(kind, numbers): (&Kind, &'a Aligned<T>)| match kind {
        Kind::Mask => Input::Bool(&values.mask),
        _ => <T as Real>::input(numbers),
    };
    kinds.iter().zip(&values.numbers).map(input).collect()
}

/// A plain loop over each row. `plain! { matrix x, column m => x - m }` is a function that takes what
/// [`Expressions::measure`] gives it, for the element type `T`. Each operand is of the kind that precedes it.
macro_rules! plain {
    ($($kind:ident $name:ident),* => $value:expr) => {
        |at: At, [rows, width]: Size, values: &Values<T>, out: &mut [T]| {
            let mut place = 0;
            $(
                let $name = plain!(@values $kind values place);
                place += 1;
            )*
            assert_eq!((out.len(), place), (rows * width, values.numbers.len()), "the size is that of the case");
            at.run(
                out,
                #[inline(always)]
                |out| {
                    for (row, out) in out.chunks_exact_mut(width).enumerate() {
                        $(let $name = plain!(@row $kind $name row width);)*
                        for k in 0..width {
                            $(let $name = plain!(@element $kind $name k);)*
                            out[k] = $value;
                        }
                    }
                },
            );
        }
    };
    (@values mask $values:ident $place:ident) => { &*$values.mask };
    (@values $kind:ident $values:ident $place:ident) => { &*$values.numbers[$place] };
    (@row matrix $name:ident $row:ident $width:ident) => { &$name[$row * $width..][..$width] };
    (@row row $name:ident $row:ident $width:ident) => { &$name[..$width] };
    (@row one $name:ident $row:ident $width:ident) => { $name[0] };
    (@row $kind:ident $name:ident $row:ident $width:ident) => { $name[$row] };
    (@element matrix $name:ident $k:ident) => { $name[$k] };
    (@element row $name:ident $k:ident) => { $name[$k] };
    (@element $kind:ident $name:ident $k:ident) => { $name };
}

/// x/2*(1+tanh((x*x*x*b+x)*a)), with what surrounds tanh in the order of [`gelu`].
struct Gelu<'a, T> {
    x: &'a [T],
    constants: [T; 4],
}

impl<T: Exp> Body<T> for Gelu<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]) {
        fill::<V>(
            out,
            #[inline(always)]
            |at| {
                let [a, b, half, one] = self.constants;
                let (a, b, half, one) = (splat::<V>(a), splat::<V>(b), splat::<V>(half), splat::<V>(one));
                let x = read::<V>(self.x, at);
                let inner = each!(x, b, a => x.multiply(x).multiply(x).multiply(b).add(x).multiply(a));
                let tanh = T::inlined_tanh::<V>(inner);
                each!(tanh, one, x, half => tanh.add(one).multiply(x).multiply(half))
            },
        );
    }
}

/// exp(x-max) of rows, each in groups of four vectors and then one by one; the last vector of a row overlaps.
struct Softmax<'a, T> {
    x: &'a [T],
    max: &'a [T],
    width: usize,
}

impl<T: Exp> Body<T> for Softmax<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]) {
        let rows = out.chunks_exact_mut(self.width).zip(self.x.chunks_exact(self.width)).zip(self.max);
        for ((out, x), max) in rows {
            let max = splat::<V>(*max);
            let mut at = 0;
            while at + 4 * V::WIDTH <= out.len() {
                let x = read::<V>(x, at);
                let exp = V::exp(each!(x, max => x.subtract(max)));
                for (value, out) in exp.into_iter().zip(out[at..].chunks_exact_mut(V::WIDTH)) {
                    store(value, out);
                }
                at += 4 * V::WIDTH;
            }
            while at < out.len() {
                let here = at.min(out.len() - V::WIDTH);
                let [exp] = V::exp([read_one::<V>(x, here).subtract(max[0])]);
                store(exp, &mut out[here..here + V::WIDTH]);
                at += V::WIDTH;
            }
        }
    }
}

fn two(function: Function, a: Expression, b: Expression) -> Expression {
    call(function, [a, b])
}
fn plus(a: Expression, b: Expression) -> Expression {
    two(Function::Add, a, b)
}
fn minus(a: Expression, b: Expression) -> Expression {
    two(Function::Subtract, a, b)
}
fn times(a: Expression, b: Expression) -> Expression {
    two(Function::Multiply, a, b)
}
fn select(condition: Expression, a: Expression, b: Expression) -> Expression {
    call(Function::Select, [condition, a, b])
}

/// (tanh((x*x*x*b+x)*a)+1)*x*half, where x is operand 0 and the constants are the others.
fn gelu() -> Expression {
    let inner = times(plus(times(times(times(x(0), x(0)), x(0)), x(2)), x(0)), x(1));
    times(times(plus(call(Function::Tanh, [inner]), x(4)), x(0)), x(3))
}

/// Expressions over vectors.
fn vectors<T: Exp + Element>(all: &mut Expressions) {
    use Kind::{Matrix, One};
    let logistic = plus(x(1), call(Function::Exp, [call(Function::Negate, [x(0)])]));
    let swish = two(Function::Divide, x(0), logistic);
    all.measure::<T>("x/(1+exp(-x))", (&[Matrix, One], &swish), |at, _, values, out| {
        at.run_vectors(out, &Swish { x: &values.numbers[0], one: values.numbers[1][0] });
    });
    let kinds = [Matrix, One, One, One, One];
    all.measure::<T>("gelu", (&kinds, &gelu()), |at, _, values, out| {
        let constants = std::array::from_fn(|place| values.numbers[place + 1][0]);
        at.run_vectors(out, &Gelu { x: &values.numbers[0], constants });
    });
    let positive = || two(Function::Greater, x(0), x(1));
    let relu = select(positive(), x(0), x(1));
    let by_hand = plain! { matrix x, one zero => if x > zero { x } else { zero } };
    all.measure::<T>("relu", (&[Matrix, One], &relu), by_hand);
    let leaky = select(positive(), x(0), times(x(0), x(2)));
    let by_hand = plain! { matrix x, one zero, one slope => if x > zero { x } else { x * slope } };
    all.measure::<T>("leaky relu", (&[Matrix, One, One], &leaky), by_hand);
    let clip = two(Function::Minimum, two(Function::Maximum, x(0), x(1)), x(2));
    let by_hand = plain! { matrix x, one least, one most => {
        let x = if x > least { x } else { least };
        if x < most { x } else { most }
    } };
    all.measure::<T>("clip", (&[Matrix, One, One], &clip), by_hand);
    let squares = plus(times(x(0), x(0)), times(x(1), x(1)));
    all.measure::<T>("x*x+y*y", (&[Matrix; 2], &squares), plain! { matrix x, matrix y => x * x + y * y });
    let scaled = plus(times(x(0), x(1)), x(2));
    all.measure::<T>(
        "x*a+y",
        (&[Matrix, One, Matrix], &scaled),
        plain! { matrix x, one a, matrix y => x * a + y },
    );
}

/// Expressions over rows.
fn matrices<T: Exp + Element>(all: &mut Expressions) {
    use Kind::{Column, Mask, Matrix, One, Row};
    let softmax = call(Function::Exp, [minus(x(0), x(1))]);
    all.measure::<T>("exp(x-max)", (&[Matrix, Column], &softmax), |at, [_, width], values, out| {
        at.run_vectors(out, &Softmax { x: &values.numbers[0], max: &values.numbers[1], width });
    });
    let chosen = select(x(0), x(1), x(2));
    let by_hand = plain! { mask c, matrix a, matrix b => if c { a } else { b } };
    all.measure::<T>("where(column,a,b)", (&[Mask, Matrix, Matrix], &chosen), by_hand);
    let norm = plus(times(times(minus(x(0), x(1)), x(2)), x(3)), x(4));
    let by_hand = plain! { matrix x, column m, column r, row g, row b => (x - m) * r * g + b };
    all.measure::<T>("(x-m)*r*g+b", (&[Matrix, Column, Column, Row, Row], &norm), by_hand);
    let affine = minus(times(plus(x(0), x(1)), x(2)), x(3));
    let by_hand = plain! { matrix x, row b, one s, column t => (x + b) * s - t };
    all.measure::<T>("(x+b)*s-t", (&[Matrix, Row, One, Column], &affine), by_hand);
    let difference = || minus(x(0), x(1));
    let weighted = times(times(difference(), difference()), x(2));
    let by_hand = plain! { matrix x, row y, column w => (x - y) * (x - y) * w };
    all.measure::<T>("(x-y)*(x-y)*w", (&[Matrix, Row, Column], &weighted), by_hand);
    let blend = plus(plus(times(x(0), x(1)), times(x(2), x(3))), x(4));
    let by_hand = plain! { matrix x, column a, matrix y, column b, row c => x * a + y * b + c };
    all.measure::<T>("x*a+y*b+c", (&[Matrix, Column, Matrix, Column, Row], &blend), by_hand);
    let mut polynomial = x(1);
    for place in 2..5 {
        polynomial = plus(times(polynomial, x(0)), x(place));
    }
    let by_hand =
        plain! { matrix x, column a, column b, column c, column d => ((a * x + b) * x + c) * x + d };
    all.measure::<T>("((a*x+b)*x+c)*x+d", (&[Matrix, Column, Column, Column, Column], &polynomial), by_hand);
}

/// A table of the sizes, and the worst ratio of each expression.
fn report(rows: &[Measured], results: &mut Results) {
    for (table, over_rows, sizes) in [("vectors", false, &VECTORS[..]), ("rows", true, &MATRICES)] {
        let name =
            |[rows, width]: &Size| if over_rows { format!("{rows}x{width}") } else { width.to_string() };
        let names: Vec<String> = sizes.iter().map(name).collect();
        let header = ["expression", "dtype"].into_iter().chain(names.iter().map(String::as_str));
        let mut table = Table::new(table, &header.collect::<Vec<_>>());
        for row in rows.iter().filter(|row| row.over_rows == over_rows) {
            let cells = row.ratios.iter().zip(&row.nanoseconds);
            let cells = cells.map(|(ratio, nanoseconds)| format!("{ratio:.2} ({nanoseconds:.3} ns)"));
            table.row([row.name.into(), row.dtype.into()].into_iter().chain(cells).collect());
        }
        results.table(table);
    }
    let mut names: Vec<&str> = Vec::new();
    for row in rows.iter().filter(|row| row.dtype == <f64 as Real>::NAME) {
        names.push(row.name);
    }
    for name in names {
        let ratios = rows.iter().filter(|row| row.name == name).flat_map(|row| &row.ratios);
        let (count, met) = (ratios.clone().count(), ratios.clone().filter(|&&ratio| ratio <= LIMIT).count());
        let goal =
            format!("{name}, worst over the loop ({met} of {count} sizes and dtypes reach the target)");
        results.goal(goal_at_most(goal, LIMIT, ratios.copied().fold(0.0, f64::max), ""));
    }
}

/// The goal of every ratio.
const LIMIT: f64 = 1.05;

fn main() {
    single_thread();
    let mut results = Results::new("expressions");
    let only: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let all_of_them = only.is_empty();
    let mut all = Expressions { at: At::detect(), only, rows: Vec::new() };
    vectors::<f64>(&mut all);
    vectors::<f32>(&mut all);
    matrices::<f64>(&mut all);
    matrices::<f32>(&mut all);
    report(&all.rows, &mut results);
    if all_of_them {
        results.write();
    }
}
