//! Sequences: requests that are asked one after the other, of the same instance or process.
//!
//! A library keeps state between calls: caches of compiled programs, plans, buffers. A cache whose key lacks
//! the dtype, the strides or an attribute gives a right answer until a request comes that differs in this
//! alone. So each sequence alternates between a request and a *neighbour*, which differs from it in one
//! point: request, neighbour, request, neighbour. The neighbours are the request itself, another dtype, value
//! (0 and -0 too), function, order of operands, stride, offset, shape with the same values, attribute of the
//! rule set, length or operation, the operand of a gradient, and a request that is refused. Two more
//! sequences ask all neighbours in a row, forwards and backwards.
//!
//! The operands are a, (n,n), with the elements j mod 7, and b, n elements j mod 5, placed on the second axis
//! unless specified otherwise, and on the first under `leading`. The expected values are computed one by
//! one (see `arithmetic.rs`), from the axis of the result that each arrangement states for every axis of an
//! operand.

use super::arithmetic::{evaluate, number};
use crate::retype::data;
use broadcheck_spec::{
    Case, DType, Data, Expectation, ExpectedRefusal, ExpectedResult, Expression, Function, Operand,
    Operation, Origin, RefusalKind, Request, RuleSet, Rules, Scalar, Shape, Sweep, Tensor,
};
use std::ops::RangeInclusive;

/// The supported lengths.
const LENGTHS: RangeInclusive<usize> = 2..=100;

/// The names of the sweeps, with their rule sets.
pub(super) const NAMES: [(&str, RuleSet); 8] = [
    ("none-sequences", RuleSet::None),
    ("numpy-sequences", RuleSet::Numpy),
    ("pdpd-sequences", RuleSet::Pdpd),
    ("bidirectional-sequences", RuleSet::Bidirectional),
    ("xla-sequences", RuleSet::Xla),
    ("theano-sequences", RuleSet::Theano),
    ("leading-sequences", RuleSet::Leading),
    ("repeat-sequences", RuleSet::Repeat),
];

/// The rule set of a sweep of sequences; `None` for the name of another sweep.
pub(super) fn rules_of(name: &str) -> Option<RuleSet> {
    NAMES.iter().find(|(found, _)| *found == name).map(|&(_, rules)| rules)
}

/// The cases of a sequence, in the order in which they are asked.
pub struct Sequence {
    /// What alternates: `base-and-as-f32`.
    pub id: String,
    /// The cases. The id of each ends with its number and what it asks.
    pub cases: Vec<Case>,
}

/// All sequences of a rule set.
pub(super) struct Sequences {
    rules: RuleSet,
    length: usize,
}

/// A request with its expectation.
#[derive(Clone)]
struct Step {
    name: String,
    request: Request,
    expectation: Expectation,
}

impl Sequences {
    pub(super) fn new(rules: RuleSet, length: usize) -> Result<Sequences, String> {
        if !LENGTHS.contains(&length) {
            let (least, most) = (LENGTHS.start(), LENGTHS.end());
            return Err(format!("with.length: found {length}, expected {least} to {most}"));
        }
        Ok(Sequences { rules, length })
    }

    pub(super) fn count(&self) -> u128 {
        let shortest = Sequences { rules: self.rules, length: *LENGTHS.start() };
        shortest.all().len() as u128
    }

    pub(super) fn expand(&self, sweep: &Sweep) -> Vec<Sequence> {
        let sequence = |(name, steps): (String, Vec<Step>)| {
            let id = format!("{}/{name}", sweep.id);
            let case = |(place, step): (usize, Step)| case(sweep, &format!("{id}/{}", place + 1), step);
            Sequence { cases: steps.into_iter().enumerate().map(case).collect(), id }
        };
        self.all().into_iter().map(sequence).collect()
    }

    fn all(&self) -> Vec<(String, Vec<Step>)> {
        let mut found = Vec::new();
        for (name, base, neighbours) in self.bases() {
            for neighbour in &neighbours {
                let steps = [&base, neighbour, &base, neighbour].map(Step::clone).to_vec();
                found.push((format!("{name}-and-{}", neighbour.name), steps));
            }
            let forwards: Vec<Step> = [base].into_iter().chain(neighbours).collect();
            let backwards = forwards.iter().rev().cloned().collect();
            found.push((format!("{name}-forwards"), forwards));
            found.push((format!("{name}-backwards"), backwards));
        }
        found
    }

    /// The requests with their neighbours, by name.
    fn bases(&self) -> Vec<(&'static str, Step, Vec<Step>)> {
        let n = self.length;
        if self.rules == RuleSet::Bidirectional {
            let step =
                |name: &str, to: &[usize]| broadcast(Rules::Bidirectional, name, DType::F64, &[n], to, 0);
            let under_numpy = refused_broadcast(Rules::Numpy, "under-numpy", &[n], &[n, 1]);
            return vec![
                ("broadcast", step("base", &[n, n]), bidirectional(n)),
                ("both-ways", step("base", &[n, 1]), vec![step("itself", &[n, 1]), under_numpy]),
            ];
        }
        let plain = Arrangement::plain(self.rules, n);
        let difference = [Expression::operand(0), Expression::operand(1)];
        let difference = call(Function::Subtract, difference);
        let product = call(Function::Multiply, [0, 1].map(Expression::operand));
        let mut found = vec![
            ("base", plain.step("base", &difference), elementwise(&plain, self.rules, n)),
            ("view", plain.viewed(n, &[row(n), 1], 0).step("base", &difference), views(&plain, n)),
            ("gradient", plain.gradient("base", &product, 1), gradients(&plain, self.rules, n)),
        ];
        if self.rules == RuleSet::Numpy {
            let base = broadcast(Rules::Numpy, "base", DType::F64, &[n], &[n, n], 0);
            found.push(("broadcast", base, one_way(n)));
        }
        if self.rules == RuleSet::Leading {
            let base = broadcast(Rules::Leading, "base", DType::F64, &[n], &[n, n], 0);
            found.push(("broadcast", base, one_way_from_the_first(n)));
        }
        found
    }
}

fn case(sweep: &Sweep, id: &str, step: Step) -> Case {
    Case {
        id: format!("{id}-{}", step.name),
        title: format!("{} Here: {}.", sweep.title, step.name),
        clause: sweep.clause.clone(),
        convention: None,
        examples: sweep.examples.clone(),
        sources: sweep.sources.clone(),
        origin: Origin::Hand,
        request: step.request,
        expectation: step.expectation,
        note: None,
        location: sweep.location.clone(),
    }
}

/// Two operands, with the axis of the result for each axis of each of them, and the result's shape.
#[derive(Clone)]
struct Arrangement {
    rules: Rules,
    operands: [Operand; 2],
    axes: [Vec<usize>; 2],
    shape: Vec<usize>,
}

impl Arrangement {
    /// a (n,n), and b on its second axis, or under `leading` on its first.
    fn plain(rules: RuleSet, n: usize) -> Arrangement {
        let (rules, small, axes) = match rules {
            RuleSet::None => (Rules::None, vec![n, n], vec![0, 1]),
            RuleSet::Theano => (Rules::Theano, vec![1, n], vec![0, 1]),
            RuleSet::Pdpd => (Rules::Pdpd { axis: None }, vec![n], vec![1]),
            RuleSet::Xla => (Rules::Xla { broadcast_dimensions: Some(vec![1]) }, vec![n], vec![1]),
            RuleSet::Numpy | RuleSet::Bidirectional => (Rules::Numpy, vec![n], vec![1]),
            RuleSet::Leading => (Rules::Leading, vec![n], vec![0]),
            RuleSet::Repeat => (Rules::Repeat, vec![n], vec![1]),
        };
        Arrangement::of(rules, (&[n, n], &[0, 1]), (&small, &axes), &[n, n])
    }

    /// Operands of these shapes on these axes of the result.
    fn of(rules: Rules, a: (&[usize], &[usize]), b: (&[usize], &[usize]), shape: &[usize]) -> Arrangement {
        let operands = [
            operand(&rules, "a", a.0, ramp(DType::F64, a.0.iter().product(), 7), None, 0),
            operand(&rules, "b", b.0, ramp(DType::F64, b.0.iter().product(), 5), None, 0),
        ];
        Arrangement { rules, operands, axes: [a.1.to_vec(), b.1.to_vec()], shape: shape.to_vec() }
    }

    /// The same shapes over other values.
    fn with_values(&self, values: [Data; 2]) -> Arrangement {
        let mut found = self.clone();
        for (operand, values) in found.operands.iter_mut().zip(values) {
            let strides = operand.strides().map(<[i64]>::to_vec);
            let offset = operand.offset();
            *operand = self::operand(&self.rules, operand.name(), operand.shape(), values, strides, offset);
        }
        found
    }

    /// With one value changed.
    fn with_value(&self, place: usize, position: usize, value: f64) -> Arrangement {
        let mut values = [0, 1].map(|place: usize| self.operands[place].values().clone());
        if let Data::F64(values) = &mut values[place] {
            values[position] = value;
        }
        self.with_values(values)
    }

    fn as_dtype(&self, dtype: DType) -> Arrangement {
        let [a, b] = [0, 1].map(|place: usize| self.operands[place].values().len());
        self.with_values([ramp(dtype, a, 7), ramp(dtype, b, 5)])
    }

    /// a as a view of a buffer of 2n² + 1 elements.
    fn viewed(&self, n: usize, strides: &[i64], offset: usize) -> Arrangement {
        let values = ramp(DType::F64, 2 * n * n + 1, 7);
        let mut found = self.clone();
        found.operands[0] = operand(&self.rules, "a", &[n, n], values, Some(strides.to_vec()), offset);
        found
    }

    fn request(&self, operation: Operation) -> Request {
        Request::new(self.rules.clone(), operation, self.operands.to_vec()).expect("a well-formed request")
    }

    fn refusal(&self, kind: RefusalKind) -> Step {
        let expression = call(Function::Subtract, [0, 1].map(Expression::operand));
        Step {
            name: "a-refusal".into(),
            request: self.request(Operation::Elementwise { expression }),
            expectation: Expectation::Refusal(ExpectedRefusal {
                kind: Some(kind),
                axis: None,
                operand: None,
            }),
        }
    }

    fn step(&self, name: &str, expression: &Expression) -> Step {
        let operation = Operation::Elementwise { expression: expression.clone() };
        let values = indices(&self.shape).map(|index| {
            let values = [0, 1].map(|place| self.read(place, &index));
            *evaluate(expression, &values).last().expect("a root")
        });
        let values: Vec<Scalar> = values.collect();
        let values = Data::from_scalars(values[0].dtype(), values).expect("values of one dtype");
        let result = Tensor::new(self.shape.clone(), values).expect("one value per element");
        Step {
            name: name.into(),
            request: self.request(operation),
            expectation: Expectation::Result(ExpectedResult::from(result)),
        }
    }

    /// The gradient of a product by one factor: at each of its elements, the sum of the other's.
    fn gradient(&self, name: &str, product: &Expression, wrt: usize) -> Step {
        let shape = self.operands[wrt].shape();
        let mut sums = vec![0.0; shape.iter().product()];
        for index in indices(&self.shape) {
            let own = self.index(wrt, &index);
            let place = own.iter().zip(shape.iter()).fold(0, |place, (&at, &length)| place * length + at);
            sums[place] += self.read(1 - wrt, &index).as_f64().expect("a float");
        }
        let dtype = self.operands[wrt].dtype();
        let sums = sums.into_iter().map(|sum| number(dtype, sum));
        let sums = Data::from_scalars(dtype, sums).expect("values of one dtype");
        let result = Tensor::new(shape.clone(), sums).expect("one value per element");
        Step {
            name: name.into(),
            request: self.request(Operation::Gradient { expression: product.clone(), wrt }),
            expectation: Expectation::Result(ExpectedResult::from(result)),
        }
    }

    /// The index of an operand's element that an index of the result reads.
    fn index(&self, place: usize, index: &[usize]) -> Vec<usize> {
        let lengths = self.operands[place].shape().iter();
        lengths.zip(&self.axes[place]).map(|(&length, &axis)| index[axis] % length).collect()
    }

    fn read(&self, place: usize, index: &[usize]) -> Scalar {
        let operand = &self.operands[place];
        let own = self.index(place, index);
        let position = match operand.strides() {
            None => own
                .iter()
                .zip(operand.shape().iter())
                .fold(0, |position, (&at, &length)| position * length + at),
            Some(strides) => {
                let steps = own.iter().zip(strides).map(|(&at, &stride)| signed(at) * stride);
                usize::try_from(signed(operand.offset()) + steps.sum::<i64>()).expect("a view inside")
            }
        };
        operand.values().get(position).expect("a view inside")
    }
}

fn signed(number: usize) -> i64 {
    i64::try_from(number).expect("small")
}

/// The stride of a row.
fn row(n: usize) -> i64 {
    signed(n)
}

/// Every index of a shape in row-major order.
pub(super) fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    (0..shape.iter().product()).map(move |mut place: usize| {
        let mut index = vec![0; shape.len()];
        for (step, &length) in index.iter_mut().zip(shape).rev() {
            *step = place % length;
            place /= length;
        }
        index
    })
}

fn ramp(dtype: DType, count: usize, modulus: usize) -> Data {
    data(dtype, (0..count).map(|j| signed(j % modulus)))
}

fn operand(
    rules: &Rules,
    name: &str,
    shape: &[usize],
    values: Data,
    strides: Option<Vec<i64>>,
    offset: usize,
) -> Operand {
    let operand = if strides.is_some() || offset > 0 {
        Operand::view(name, shape, values, strides, offset).expect("a view inside")
    } else {
        Operand::dense(name, shape, values).expect("one value per element")
    };
    match rules {
        Rules::Theano => {
            let flags = shape.iter().map(|&length| length == 1).collect();
            operand.with_broadcastable(flags).expect("one flag per axis")
        }
        Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Pdpd { .. }
        | Rules::Xla { .. }
        | Rules::Leading
        | Rules::Repeat => operand,
    }
}

fn call(function: Function, arguments: impl IntoIterator<Item = Expression>) -> Expression {
    Expression::call(function, arguments).expect("as many arguments as the function takes")
}

/// The numeric dtypes other than f64.
fn other_dtypes() -> impl Iterator<Item = DType> {
    DType::ALL.into_iter().filter(|dtype| !matches!(dtype, DType::F64 | DType::Bool))
}

/// The neighbours of the difference.
fn elementwise(plain: &Arrangement, rules: RuleSet, n: usize) -> Vec<Step> {
    let [a, b] = [0, 1].map(Expression::operand);
    let difference = call(Function::Subtract, [a.clone(), b.clone()]);
    let mut found = vec![plain.step("itself", &difference)];
    let dtypes = other_dtypes();
    found.extend(dtypes.map(|dtype| plain.as_dtype(dtype).step(&format!("as-{dtype}"), &difference)));
    for (name, place, position, value) in [
        ("another-first-value", 0, 0, 5.0),
        ("another-last-value", 0, n * n - 1, 9.0),
        ("another-value-of-b", 1, 1, 9.0),
        ("minus-zero", 0, 0, -0.0),
    ] {
        found.push(plain.with_value(place, position, value).step(name, &difference));
    }
    for function in [Function::Add, Function::Multiply, Function::Maximum, Function::Less] {
        found.push(plain.step(function.name(), &call(function, [a.clone(), b.clone()])));
    }
    let other_place = |change: Expression| call(Function::Subtract, [a.clone(), change]);
    found.push(plain.step("swapped", &call(Function::Subtract, [b.clone(), a.clone()])));
    found.push(plain.step("left", &call(Function::Subtract, [difference.clone(), b.clone()])));
    found.push(plain.step("right", &other_place(call(Function::Subtract, [b.clone(), b.clone()]))));
    found.push(plain.step("nested", &other_place(difference.clone())));
    found.push(plain.viewed(n, &[row(n), 1], 0).step("a-view", &difference));
    found.push(plain.viewed(n, &[1, row(n)], 0).step("a-transposed-view", &difference));
    let product = call(Function::Multiply, [a, b]);
    found.push(plain.gradient("a-gradient", &product, 0));
    found.push(Arrangement::plain(rules, 1).step("shorter", &difference));
    found.push(Arrangement::plain(rules, 2 * n + 1).step("longer", &difference));
    found.extend(arrangements(rules, n).into_iter().map(|(name, other)| other.step(name, &difference)));
    found.push(refused(rules, n));
    found
}

/// The same values in other arrangements.
fn arrangements(rules: RuleSet, n: usize) -> Vec<(&'static str, Arrangement)> {
    let square: (&[usize], &[usize]) = (&[n, n], &[0, 1]);
    let flat = n * n;
    let place =
        |rules: Rules, b: &[usize], axes: &[usize]| Arrangement::of(rules, square, (b, axes), &[n, n]);
    match rules {
        RuleSet::None => vec![
            ("flat", Arrangement::of(Rules::None, (&[flat], &[0]), (&[flat], &[0]), &[flat])),
            (
                "as-a-cube",
                Arrangement::of(Rules::None, (&[1, n, n], &[0, 1, 2]), (&[1, n, n], &[0, 1, 2]), &[1, n, n]),
            ),
        ],
        RuleSet::Numpy | RuleSet::Bidirectional => vec![
            ("as-a-column", place(Rules::Numpy, &[n, 1], &[0, 1])),
            ("as-a-row", place(Rules::Numpy, &[1, n], &[0, 1])),
            ("with-a-scalar", place(Rules::Numpy, &[], &[])),
            ("with-one", place(Rules::Numpy, &[1], &[1])),
            ("outer", Arrangement::of(Rules::Numpy, (&[flat, 1], &[0, 1]), (&[n], &[1]), &[flat, n])),
            (
                "as-a-cube",
                Arrangement::of(Rules::Numpy, (&[n, 1, n], &[0, 1, 2]), (&[n, 1], &[1, 2]), &[n, n, n]),
            ),
        ],
        RuleSet::Leading => vec![
            ("as-a-column", place(Rules::Leading, &[n, 1], &[0, 1])),
            ("as-a-row", place(Rules::Leading, &[1, n], &[0, 1])),
            ("with-a-scalar", place(Rules::Leading, &[], &[])),
            ("with-one", place(Rules::Leading, &[1], &[0])),
            ("outer", Arrangement::of(Rules::Leading, (&[1, flat], &[0, 1]), (&[n], &[0]), &[n, flat])),
            (
                "as-a-cube",
                Arrangement::of(Rules::Leading, (&[n, 1, n], &[0, 1, 2]), (&[1, n], &[0, 1]), &[n, n, n]),
            ),
        ],
        RuleSet::Repeat => vec![
            ("as-a-column", place(Rules::Repeat, &[n, 1], &[0, 1])),
            ("as-a-row", place(Rules::Repeat, &[1, n], &[0, 1])),
            ("with-a-scalar", place(Rules::Repeat, &[], &[])),
            ("with-one", place(Rules::Repeat, &[1], &[1])),
            ("twice", Arrangement::of(Rules::Repeat, (&[n, 2 * n], &[0, 1]), (&[n], &[1]), &[n, 2 * n])),
            (
                "rows-twice",
                Arrangement::of(Rules::Repeat, (&[2 * n, n], &[0, 1]), (&[n, 1], &[0, 1]), &[2 * n, n]),
            ),
            ("flat", Arrangement::of(Rules::Repeat, (&[flat], &[0]), (&[n], &[0]), &[flat])),
        ],
        RuleSet::Pdpd => vec![
            ("axis-0", place(Rules::Pdpd { axis: Some(0) }, &[n], &[0])),
            ("axis-1", place(Rules::Pdpd { axis: Some(1) }, &[n], &[1])),
            ("with-one", place(Rules::Pdpd { axis: Some(0) }, &[1], &[0])),
            (
                "as-a-cube",
                Arrangement::of(
                    Rules::Pdpd { axis: Some(0) },
                    (&[n, 1, n], &[0, 1, 2]),
                    (&[n], &[0]),
                    &[n, 1, n],
                ),
            ),
        ],
        RuleSet::Xla => vec![
            ("in-dim-0", place(Rules::Xla { broadcast_dimensions: Some(vec![0]) }, &[n], &[0])),
            ("as-a-column", place(Rules::Xla { broadcast_dimensions: None }, &[n, 1], &[0, 1])),
            ("with-a-scalar", place(Rules::Xla { broadcast_dimensions: None }, &[], &[])),
            (
                "as-a-cube",
                Arrangement::of(
                    Rules::Xla { broadcast_dimensions: Some(vec![2]) },
                    (&[n, 1, n], &[0, 1, 2]),
                    (&[n], &[2]),
                    &[n, 1, n],
                ),
            ),
        ],
        RuleSet::Theano => vec![
            ("as-a-column", place(Rules::Theano, &[n, 1], &[0, 1])),
            ("with-one", place(Rules::Theano, &[1, 1], &[0, 1])),
            ("of-lower-rank", place(Rules::Theano, &[n], &[1])),
            (
                "as-a-cube",
                Arrangement::of(Rules::Theano, (&[n, 1, n], &[0, 1, 2]), (&[n, 1], &[1, 2]), &[n, n, n]),
            ),
        ],
    }
}

/// b with one element too many.
fn refused(rules: RuleSet, n: usize) -> Step {
    let mut found = Arrangement::plain(rules, n);
    let longer: Vec<usize> =
        found.operands[1].shape().iter().map(|&length| if length == n { n + 1 } else { length }).collect();
    let values = ramp(DType::F64, longer.iter().product(), 5);
    found.operands[1] = operand(&found.rules, "b", &longer, values, None, 0);
    found.refusal(match rules {
        RuleSet::Theano => RefusalKind::NotBroadcastable,
        RuleSet::None
        | RuleSet::Numpy
        | RuleSet::Pdpd
        | RuleSet::Bidirectional
        | RuleSet::Xla
        | RuleSet::Leading
        | RuleSet::Repeat => RefusalKind::DimensionMismatch,
    })
}

/// Other views of the same buffer.
fn views(plain: &Arrangement, n: usize) -> Vec<Step> {
    let difference = call(Function::Subtract, [0, 1].map(Expression::operand));
    let (width, end) = (row(n), n * n - 1);
    let views: [(&str, [i64; 2], usize); 10] = [
        ("itself", [width, 1], 0),
        ("offset-1", [width, 1], 1),
        ("offset-of-a-row", [width, 1], n),
        ("transposed", [1, width], 0),
        ("every-second", [2 * width, 2], 0),
        ("every-second-row", [2 * width, 1], 0),
        ("rows-reversed", [-width, 1], n * n - n),
        ("reversed", [-width, -1], end),
        ("one-row", [0, 1], 0),
        ("one-element-per-row", [width, 0], 0),
    ];
    let view = |(name, strides, offset): (&str, [i64; 2], usize)| {
        plain.viewed(n, &strides, offset).step(name, &difference)
    };
    views.into_iter().map(view).collect()
}

/// The neighbours of the gradient of a product by b.
fn gradients(plain: &Arrangement, rules: RuleSet, n: usize) -> Vec<Step> {
    let product = call(Function::Multiply, [0, 1].map(Expression::operand));
    let mut found = vec![
        plain.gradient("itself", &product, 1),
        plain.gradient("by-a", &product, 0),
        plain.step("a-product", &product),
        plain.as_dtype(DType::F32).gradient("as-f32", &product, 1),
        plain.with_value(0, n * n - 1, 9.0).gradient("another-value", &product, 1),
        plain.viewed(n, &[1, row(n)], 0).gradient("a-transposed-view", &product, 1),
        Arrangement::plain(rules, 2 * n + 1).gradient("longer", &product, 1),
        refused(rules, n),
    ];
    found.extend(arrangements(rules, n).into_iter().map(|(name, other)| other.gradient(name, &product, 1)));
    found
}

/// An operand of elements j mod 7 broadcast to a target; element `zero` is 9 if it is not the first.
fn broadcast(rules: Rules, name: &str, dtype: DType, from: &[usize], to: &[usize], changed: usize) -> Step {
    let count = from.iter().product();
    let element = |j: usize| if changed > 0 && j == changed { 9 } else { signed(j % 7) };
    let values = data(dtype, (0..count).map(element));
    let a = operand(&rules, "a", from, values.clone(), None, 0);
    let rank = from.len().max(to.len());
    // Aligned at the right, or under `leading` at the first axis; under `bidirectional`, the target's ones
    // are stretched too.
    let from_first = rules == Rules::Leading;
    let aligned = |shape: &[usize], axis: usize| {
        let own = if from_first { Some(axis) } else { (axis + shape.len()).checked_sub(rank) };
        own.and_then(|own| shape.get(own).copied()).unwrap_or(1)
    };
    let shape: Vec<usize> = (0..rank).map(|axis| aligned(from, axis).max(aligned(to, axis))).collect();
    let read = |index: Vec<usize>| {
        let own = (0..rank).fold(0, |place, axis| {
            let length = aligned(from, axis);
            place * length + if length == 1 { 0 } else { index[axis] }
        });
        values.get(own).expect("an index inside")
    };
    let result = Data::from_scalars(dtype, indices(&shape).map(read)).expect("values of one dtype");
    let result = Tensor::new(shape.clone(), result).expect("one value per element");
    let operation = Operation::Broadcast { target_shape: Shape::from(to) };
    Step {
        name: name.into(),
        request: Request::new(rules, operation, vec![a]).expect("a well-formed request"),
        expectation: Expectation::Result(ExpectedResult::from(result)),
    }
}

fn refused_broadcast(rules: Rules, name: &str, from: &[usize], to: &[usize]) -> Step {
    let step = broadcast(rules, name, DType::F64, from, from, 0);
    let (rules, _, operands) = step.request.into_parts();
    let operation = Operation::Broadcast { target_shape: Shape::from(to) };
    let kind = Some(RefusalKind::DimensionMismatch);
    Step {
        request: Request::new(rules, operation, operands).expect("a well-formed request"),
        expectation: Expectation::Refusal(ExpectedRefusal { kind, axis: None, operand: None }),
        name: step.name,
    }
}

/// The neighbours of a broadcast in one direction.
fn one_way(n: usize) -> Vec<Step> {
    let step = |name, from: &[usize], to: &[usize]| broadcast(Rules::Numpy, name, DType::F64, from, to, 0);
    let mut found = vec![
        step("itself", &[n], &[n, n]),
        step("another-target", &[n], &[3, n]),
        step("another-rank", &[n], &[1, n, n]),
        step("longer", &[n], &[2 * n + 1, n]),
        step("as-a-column", &[n, 1], &[n, n]),
        step("as-a-row", &[1, n], &[n, n]),
        step("one", &[1], &[n, n]),
        broadcast(Rules::Numpy, "another-value", DType::F64, &[n], &[n, n], 1),
        refused_broadcast(Rules::Numpy, "a-refusal", &[n], &[n, n + 1]),
    ];
    found.extend(
        other_dtypes().map(|dtype| broadcast(Rules::Numpy, &format!("as-{dtype}"), dtype, &[n], &[n, n], 0)),
    );
    found
}

/// The neighbours of a broadcast in one direction under `leading`.
fn one_way_from_the_first(n: usize) -> Vec<Step> {
    let typed = |name: &str, dtype, from: &[usize], to: &[usize], changed| {
        broadcast(Rules::Leading, name, dtype, from, to, changed)
    };
    let step = |name, from: &[usize], to: &[usize]| typed(name, DType::F64, from, to, 0);
    let mut found = vec![
        step("itself", &[n], &[n, n]),
        step("another-target", &[n], &[n, 3]),
        step("another-rank", &[n], &[n, n, 1]),
        step("longer", &[n], &[n, 2 * n + 1]),
        step("as-a-column", &[n, 1], &[n, n]),
        step("as-a-row", &[1, n], &[n, n]),
        step("one", &[1], &[n, n]),
        typed("another-value", DType::F64, &[n], &[n, n], 1),
        broadcast(Rules::Numpy, "under-numpy", DType::F64, &[n], &[n, n], 0),
        refused_broadcast(Rules::Leading, "a-refusal", &[n], &[n + 1, n]),
    ];
    found.extend(other_dtypes().map(|dtype| typed(&format!("as-{dtype}"), dtype, &[n], &[n, n], 0)));
    found
}

/// The neighbours of a broadcast in both directions; also the same request in one.
fn bidirectional(n: usize) -> Vec<Step> {
    let rules = Rules::Bidirectional;
    let step =
        |name, from: &[usize], to: &[usize]| broadcast(Rules::Bidirectional, name, DType::F64, from, to, 0);
    let mut found = vec![
        step("itself", &[n], &[n, n]),
        step("another-target", &[n], &[n, 1]),
        step("another-rank", &[n], &[n, 1, n]),
        step("longer", &[n], &[2 * n + 1, n]),
        step("as-a-column", &[n, 1], &[n, n]),
        step("as-a-column-on-a-row", &[n, 1], &[n]),
        step("one", &[1], &[n, n]),
        broadcast(rules.clone(), "another-value", DType::F64, &[n], &[n, n], 1),
        broadcast(Rules::Numpy, "under-numpy", DType::F64, &[n], &[n, n], 0),
        refused_broadcast(Rules::Numpy, "refused-under-numpy", &[n], &[n, 1]),
        refused_broadcast(rules.clone(), "a-refusal", &[n], &[n, n + 1]),
    ];
    found.extend(
        other_dtypes().map(|dtype| broadcast(rules.clone(), &format!("as-{dtype}"), dtype, &[n], &[n, n], 0)),
    );
    found
}
