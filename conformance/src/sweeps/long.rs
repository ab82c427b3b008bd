//! Long runs: lengths at which vectors, blocks, buffers and 16-bit places end, in every arrangement of operands.
//!
//! The small shapes of all other cases fit into one vector. Here each length n from `from` to `to` is asked in the
//! arrangements of its rule set: vectors of n elements, matrices of n / 3 short rows or three long ones, views.
//!
//! The expected values are arithmetic, not an engine's answer. Element j of the first operand is j + 1, of the second
//! (j + 1) · 2^18, of the third (j + 1) · 2^36, and the expression is the difference: which elements were read can be
//! told from each element of the result, and every difference is exact in f64. Each arrangement says by itself which
//! they are. Other dtypes count modulo a prime that they hold; a gradient's sums are of integers below 2^53.

use broadcheck_spec::half::bf16;
use broadcheck_spec::{
    Case, Data, Element, Expectation, ExpectedResult, Expression, Function, Operand, Operation, Origin,
    Request, RuleSet, Rules, Shape, Sweep, Tensor,
};
use std::ops::{RangeInclusive, Sub};

/// The lengths that can be asked for: places up to 2^16 and beyond.
const LENGTHS: RangeInclusive<usize> = 1..=100_000;

/// The rule set of a sweep of long runs; `None` for another sweep's name.
pub(super) fn rules_of(name: &str) -> Option<RuleSet> {
    let rules = name.strip_suffix("-long")?;
    RuleSet::ALL.into_iter().find(|set| set.name() == rules)
}

/// The names of the sweeps.
pub(super) fn names() -> impl Iterator<Item = String> {
    RuleSet::ALL.into_iter().map(|rules| format!("{rules}-long"))
}

/// Every arrangement of a rule set at every length of a range.
pub(super) struct Long {
    rules: RuleSet,
    lengths: RangeInclusive<usize>,
}

impl Long {
    pub(super) fn new(rules: RuleSet, from: usize, to: usize) -> Result<Long, String> {
        for (key, value) in [("from", from), ("to", to)] {
            if !LENGTHS.contains(&value) {
                let (least, most) = (LENGTHS.start(), LENGTHS.end());
                return Err(format!("with.{key}: found {value}, expected {least} to {most}"));
            }
        }
        if from > to {
            return Err(format!("with.to: found {to}, expected {from} or more, as `from` is"));
        }
        Ok(Long { rules, lengths: from..=to })
    }

    pub(super) fn count(&self) -> u128 {
        (self.lengths.clone().count() * arrangements(self.rules).len()) as u128
    }

    pub(super) fn cases(&self, sweep: &Sweep) -> Vec<Case> {
        let at = |n: usize| {
            let case = move |&(name, asked): &Arrangement| case(sweep, (name, n), asked(n));
            arrangements(self.rules).iter().map(case)
        };
        self.lengths.clone().flat_map(at).collect()
    }
}

fn case(sweep: &Sweep, (name, n): (&str, usize), (request, result): Asked) -> Case {
    Case {
        id: format!("{}/{n}-{name}", sweep.id),
        title: format!("{} Here: {name}, n = {n}.", sweep.title),
        clause: sweep.clause.clone(),
        examples: sweep.examples.clone(),
        sources: sweep.sources.clone(),
        origin: Origin::Hand,
        request,
        expectation: Expectation::Result(ExpectedResult::from(result)),
        note: None,
        location: sweep.location.clone(),
    }
}

/// A request and its result.
type Asked = (Request, Tensor);

/// A name, and what is asked at a length.
type Arrangement = (&'static str, fn(usize) -> Asked);

/// What is asked under a rule set. `m` is the least number of rows of three that hold n elements.
fn arrangements(rules: RuleSet) -> &'static [Arrangement] {
    match rules {
        RuleSet::None => &[
            ("vectors", |n| difference(Rules::None, [a(&[n]), b(&[n])], &[n], |p| p, |p| p)),
            ("rows-of-three", |n| {
                let m = thirds(n);
                difference(Rules::None, [a(&[m, 3]), b(&[m, 3])], &[m, 3], |p| p, |p| p)
            }),
        ],
        RuleSet::Numpy => NUMPY,
        RuleSet::Pdpd => &[
            ("row", |n| {
                let m = thirds(n);
                difference(pdpd(None), [a(&[m, 3]), b(&[3])], &[m, 3], |p| p, |p| p % 3)
            }),
            ("column-at-axis-0", |n| {
                let m = thirds(n);
                difference(pdpd(Some(0)), [a(&[m, 3]), b(&[m])], &[m, 3], |p| p, |p| p / 3)
            }),
            ("long-row", |n| {
                let m = thirds(n);
                difference(pdpd(None), [a(&[3, m]), b(&[m])], &[3, m], |p| p, move |p| p % m)
            }),
            ("middle-at-axis-1", |n| {
                let m = thirds(n);
                difference(pdpd(Some(1)), [a(&[2, m, 3]), b(&[m])], &[2, m, 3], |p| p, move |p| p / 3 % m)
            }),
            ("gradient-by-column", |n| {
                let m = thirds(n);
                gradient(pdpd(Some(0)), [&[m, 3], &[m]], |p| p / 3)
            }),
            ("gradient-by-row", |n| gradient(pdpd(Some(-1)), [&[thirds(n), 3], &[3]], |p| p % 3)),
        ],
        RuleSet::Bidirectional => &[
            ("column", |n| {
                let m = thirds(n);
                broadcast(Rules::Bidirectional, &[m, 1], &[1, 3], &[m, 3], |p| p / 3)
            }),
            ("row", |n| {
                let m = thirds(n);
                broadcast(Rules::Bidirectional, &[3], &[m, 1], &[m, 3], |p| p % 3)
            }),
            ("long-row", |n| {
                let m = thirds(n);
                broadcast(Rules::Bidirectional, &[m], &[3, 1], &[3, m], move |p| p % m)
            }),
            ("matrix", |n| {
                let m = thirds(n);
                broadcast(Rules::Bidirectional, &[m, 3], &[3], &[m, 3], |p| p)
            }),
        ],
        RuleSet::Xla => &[
            ("row-in-dim-1", |n| {
                let m = thirds(n);
                difference(xla(&[1]), [a(&[m, 3]), b(&[3])], &[m, 3], |p| p, |p| p % 3)
            }),
            ("column-in-dim-0", |n| {
                let m = thirds(n);
                difference(xla(&[0]), [a(&[m, 3]), b(&[m])], &[m, 3], |p| p, |p| p / 3)
            }),
            ("lower-operand-first", |n| {
                let m = thirds(n);
                difference(xla(&[1]), [a(&[m]), b(&[3, m])], &[3, m], move |p| p % m, |p| p)
            }),
            ("middle-in-dim-1", |n| {
                let m = thirds(n);
                difference(xla(&[1]), [a(&[2, m, 3]), b(&[m])], &[2, m, 3], |p| p, move |p| p / 3 % m)
            }),
            ("degenerate", |n| {
                let m = thirds(n);
                let rules = Rules::Xla { broadcast_dimensions: None };
                difference(rules, [a(&[m, 1]), b(&[1, 3])], &[m, 3], |p| p / 3, |p| p % 3)
            }),
            ("in-dim-then-degenerate", |n| {
                let m = thirds(n);
                difference(xla(&[0]), [a(&[1, 3]), b(&[m])], &[m, 3], |p| p % 3, |p| p / 3)
            }),
            ("gradient-by-column", |n| {
                let m = thirds(n);
                gradient(xla(&[0]), [&[m, 3], &[m]], |p| p / 3)
            }),
        ],
        RuleSet::Theano => &[
            ("vectors", |n| difference(Rules::Theano, [a(&[n]), b(&[n])].map(fixed), &[n], |p| p, |p| p)),
            ("flagged-vector", |n| {
                difference(Rules::Theano, [fixed(a(&[n])), flagged(b(&[1]), 0)], &[n], |p| p, |_| 0)
            }),
            ("flagged-row", |n| {
                let m = thirds(n);
                let operands = [fixed(a(&[m, 3])), flagged(b(&[1, 3]), 0)];
                difference(Rules::Theano, operands, &[m, 3], |p| p, |p| p % 3)
            }),
            ("flagged-column", |n| {
                let m = thirds(n);
                let operands = [fixed(a(&[m, 3])), flagged(b(&[m, 1]), 1)];
                difference(Rules::Theano, operands, &[m, 3], |p| p, |p| p / 3)
            }),
            ("mutual", |n| {
                let m = thirds(n);
                let operands = [flagged(a(&[m, 1]), 1), flagged(b(&[1, 3]), 0)];
                difference(Rules::Theano, operands, &[m, 3], |p| p / 3, |p| p % 3)
            }),
        ],
    }
}

const NUMPY: &[Arrangement] = &[
    ("vectors", |n| difference(Rules::Numpy, [a(&[n]), b(&[n])], &[n], |p| p, |p| p)),
    ("scalar-second", |n| difference(Rules::Numpy, [a(&[n]), b(&[])], &[n], |p| p, |_| 0)),
    ("one-first", |n| difference(Rules::Numpy, [a(&[1]), b(&[n])], &[n], |_| 0, |p| p)),
    ("row", |n| {
        let m = thirds(n);
        difference(Rules::Numpy, [a(&[m, 3]), b(&[3])], &[m, 3], |p| p, |p| p % 3)
    }),
    ("column", |n| {
        let m = thirds(n);
        difference(Rules::Numpy, [a(&[m, 3]), b(&[m, 1])], &[m, 3], |p| p, |p| p / 3)
    }),
    ("long-row", |n| {
        let m = thirds(n);
        difference(Rules::Numpy, [a(&[3, m]), b(&[m])], &[3, m], |p| p, move |p| p % m)
    }),
    ("short-column", |n| {
        let m = thirds(n);
        difference(Rules::Numpy, [a(&[3, m]), b(&[3, 1])], &[3, m], |p| p, move |p| p / m)
    }),
    ("outer", |n| {
        let m = thirds(n);
        difference(Rules::Numpy, [a(&[m, 1]), b(&[3])], &[m, 3], |p| p / 3, |p| p % 3)
    }),
    ("outer-of-a-long-row", |n| {
        let m = thirds(n);
        difference(Rules::Numpy, [a(&[m]), b(&[3, 1])], &[3, m], move |p| p % m, move |p| p / m)
    }),
    ("middle", |n| {
        let m = thirds(n);
        let (operands, shape) = ([a(&[2, m, 3]), b(&[m, 1])], [2, m, 3]);
        difference(Rules::Numpy, operands, &shape, |p| p, move |p| p / 3 % m)
    }),
    ("three-operands", |n| {
        let m = thirds(n);
        let operands = vec![a(&[m, 3]), b(&[m, 1]), counted("c", &[3], 1 << 36)];
        let values = from(3 * m, |p| count(p) - count(p / 3) * B - count(p % 3) * f64::from(1u32 << 18) * B);
        elementwise(Rules::Numpy, fold(Function::Subtract, 3), operands, &[m, 3], values)
    }),
    ("reversed", |n| {
        let view = lying(&a(&[n]), &[n], &[-1], n - 1);
        difference(Rules::Numpy, [view, b(&[n])], &[n], move |p| n - 1 - p, |p| p)
    }),
    ("every-second", |n| {
        let view = lying(&b(&[2 * n]), &[n], &[2], 1);
        difference(Rules::Numpy, [a(&[n]), view], &[n], |p| p, |p| 2 * p + 1)
    }),
    ("transposed", |n| {
        let m = thirds(n);
        let view = lying(&b(&[m, 3]), &[3, m], &[1, 3], 0);
        difference(Rules::Numpy, [a(&[3, m]), view], &[3, m], |p| p, move |p| p % m * 3 + p / m)
    }),
    ("less", |n| {
        let middle = Operand::dense("b", [], vec![count(n / 2)]).expect("one value");
        let values = from(n, |p| p < n / 2);
        elementwise(Rules::Numpy, fold(Function::Less, 2), vec![a(&[n]), middle], &[n], values)
    }),
    ("select", |n| {
        let condition = Operand::dense("s", [n], from(n, |p| p % 5 < 2)).expect("one value per element");
        let values = from(n, |p| if p % 5 < 2 { count(p) } else { B });
        let arguments = [0, 1, 2].map(Expression::operand);
        let expression = Expression::call(Function::Select, arguments).expect("three arguments");
        elementwise(Rules::Numpy, expression, vec![condition, a(&[n]), b(&[])], &[n], values)
    }),
    ("f32", |n| narrow(n, |p| f32::from(residue(p, 2039)), |k| f32::from(residue(k, 2039)) * 4096.0)),
    ("bf16", |n| narrow(n, |p| bf16::from_f32(f32::from(residue(p, 61))), |_| bf16::from_f32(64.0))),
    ("i32", |n| narrow(n, |p| i32::from(residue(p, 32_749)), |k| i32::from(residue(k, 32_749)) << 15)),
    ("i8", |n| narrow(n, |p| i8::try_from(residue(p, 61)).unwrap_or(0), |_| -61)),
    ("u16", |n| narrow(n, |p| residue(p, 251) + 1000, |k| residue(k, 3) * 256)),
    ("gradient-by-row", |n| gradient(Rules::Numpy, [&[thirds(n), 3], &[3]], |p| p % 3)),
    ("gradient-by-column", |n| {
        let m = thirds(n);
        gradient(Rules::Numpy, [&[m, 3], &[m, 1]], |p| p / 3)
    }),
    ("gradient-by-long-row", |n| {
        let m = thirds(n);
        gradient(Rules::Numpy, [&[3, m], &[m]], move |p| p % m)
    }),
    ("gradient-by-scalar", |n| gradient(Rules::Numpy, [&[n], &[]], |_| 0)),
    ("broadcast-row", |n| {
        let m = thirds(n);
        broadcast(Rules::Numpy, &[3], &[m, 3], &[m, 3], |p| p % 3)
    }),
    ("broadcast-column", |n| {
        let m = thirds(n);
        broadcast(Rules::Numpy, &[m, 1], &[m, 3], &[m, 3], |p| p / 3)
    }),
];

/// The factor of the second operand.
const B: f64 = 262_144.0;

/// The number of rows of three that hold n elements.
fn thirds(n: usize) -> usize {
    n.div_ceil(3)
}

/// j + 1.
#[allow(clippy::cast_precision_loss, reason = "at most 200,000")]
fn count(j: usize) -> f64 {
    (j + 1) as f64
}

/// j modulo a number of at most 16 bits.
fn residue(j: usize, modulus: usize) -> u16 {
    u16::try_from(j % modulus).unwrap_or(u16::MAX)
}

fn from<T>(elements: usize, value: impl Fn(usize) -> T) -> Vec<T> {
    (0..elements).map(value).collect()
}

#[allow(clippy::cast_precision_loss, reason = "a power of two")]
fn counted(name: &str, shape: &[usize], factor: u64) -> Operand {
    let values = from(shape.iter().product(), |j| count(j) * factor as f64);
    Operand::dense(name, shape, values).expect("one value per element")
}

/// The first operand: element j is j + 1.
fn a(shape: &[usize]) -> Operand {
    counted("a", shape, 1)
}

/// The second: element j is (j + 1) · 2^18.
fn b(shape: &[usize]) -> Operand {
    counted("b", shape, 1 << 18)
}

/// A view of an operand's values.
fn lying(operand: &Operand, shape: &[usize], strides: &[i64], offset: usize) -> Operand {
    let values = operand.values().clone();
    Operand::view(operand.name(), shape, values, Some(strides.to_vec()), offset).expect("a view inside")
}

/// No axis may stretch.
fn fixed(operand: Operand) -> Operand {
    let flags = vec![false; operand.rank()];
    operand.with_broadcastable(flags).expect("one flag per axis")
}

/// One axis may stretch.
fn flagged(operand: Operand, axis: usize) -> Operand {
    let flags = (0..operand.rank()).map(|at| at == axis).collect();
    operand.with_broadcastable(flags).expect("one flag per axis")
}

fn pdpd(axis: Option<i64>) -> Rules {
    Rules::Pdpd { axis }
}

fn xla(dimensions: &[i64]) -> Rules {
    Rules::Xla { broadcast_dimensions: Some(dimensions.to_vec()) }
}

/// `[f, [f, a, b], c]`.
fn fold(function: Function, operands: usize) -> Expression {
    (1..operands).fold(Expression::operand(0), |fold, place| {
        Expression::call(function, [fold, Expression::operand(place)]).expect("two arguments")
    })
}

fn elementwise(
    rules: Rules,
    expression: Expression,
    operands: Vec<Operand>,
    shape: &[usize],
    values: impl Into<Data>,
) -> Asked {
    let operation = Operation::Elementwise { expression };
    (Request::new(rules, operation, operands).expect("a well-formed request"), tensor(shape, values))
}

fn tensor(shape: &[usize], values: impl Into<Data>) -> Tensor {
    Tensor::new(Shape::from(shape), values).expect("one value per element")
}

/// a - b, where element p of the result reads element `left(p)` of a and `right(p)` of b.
fn difference(
    rules: Rules,
    operands: [Operand; 2],
    shape: &[usize],
    left: impl Fn(usize) -> usize,
    right: impl Fn(usize) -> usize,
) -> Asked {
    let values = from(shape.iter().product(), |p| count(left(p)) - count(right(p)) * B);
    elementwise(rules, fold(Function::Subtract, 2), Vec::from(operands), shape, values)
}

/// a - b in another dtype, a being (m, 3) and b (m, 1).
fn narrow<T: Element + Copy + Sub<Output = T>>(
    n: usize,
    a: impl Fn(usize) -> T,
    b: impl Fn(usize) -> T,
) -> Asked
where
    Data: From<Vec<T>>,
{
    let m = thirds(n);
    let values = from(3 * m, |p| a(p) - b(p / 3));
    let operand = |name: &str, shape: &[usize], values: Vec<T>| Operand::dense(name, shape, values);
    let a = operand("a", &[m, 3], from(3 * m, a)).expect("one value per element");
    let b = operand("b", &[m, 1], from(m, b)).expect("one value per element");
    elementwise(Rules::Numpy, fold(Function::Subtract, 2), vec![a, b], &[m, 3], values)
}

/// The gradient of the sum of a · b by b, where a is as large as the result and its element p meets element `place(p)`
/// of b: there the elements of a are added up, which are p mod 1009 + 1.
fn gradient(rules: Rules, [large, small]: [&[usize]; 2], place: impl Fn(usize) -> usize) -> Asked {
    let values = from(large.iter().product(), |p| f64::from(residue(p, 1009)) + 1.0);
    let mut sums = vec![0.0; small.iter().product()];
    for (p, value) in values.iter().enumerate() {
        sums[place(p)] += value;
    }
    let operands = vec![Operand::dense("a", large, values).expect("one value per element"), b(small)];
    let operation = Operation::Gradient { expression: fold(Function::Multiply, 2), wrt: 1 };
    (Request::new(rules, operation, operands).expect("a well-formed request"), tensor(small, sums))
}

/// One operand brought to a shape, where element p of the result is element `place(p)` of it.
fn broadcast(
    rules: Rules,
    operand: &[usize],
    target: &[usize],
    shape: &[usize],
    place: impl Fn(usize) -> usize,
) -> Asked {
    let operation = Operation::Broadcast { target_shape: Shape::from(target) };
    let request = Request::new(rules, operation, vec![a(operand)]).expect("a well-formed request");
    (request, tensor(shape, from(shape.iter().product(), |p| count(place(p)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(rules: RuleSet, name: &str, n: usize) -> Asked {
        let arrangement = arrangements(rules).iter().find(|(found, _)| *found == name).unwrap();
        arrangement.1(n)
    }

    #[test]
    fn arrangements_by_hand() {
        let b = 262_144.0;
        // Two rows of three: 1 to 6, less 1, 1, 1, 2, 2, 2 times 2^18.
        let (_, column) = asked(RuleSet::Pdpd, "column-at-axis-0", 5);
        let values = vec![1.0 - b, 2.0 - b, 3.0 - b, 4.0 - 2.0 * b, 5.0 - 2.0 * b, 6.0 - 2.0 * b];
        assert_eq!(column, Tensor::new([2, 3], values).unwrap());
        let (_, transposed) = asked(RuleSet::Numpy, "transposed", 5);
        let read = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let values: Vec<f64> = (1u32..=6).zip(read).map(|(a, read)| f64::from(a) - read * b).collect();
        assert_eq!(transposed, Tensor::new([3, 2], values).unwrap());
        // 1 + 4, 2 + 5, 3 + 6.
        let (_, sums) = asked(RuleSet::Numpy, "gradient-by-row", 6);
        assert_eq!(sums, Tensor::new([3], vec![5.0, 7.0, 9.0]).unwrap());
        let (_, select) = asked(RuleSet::Numpy, "select", 4);
        assert_eq!(select, Tensor::new([4], vec![1.0, 2.0, b, b]).unwrap());
    }

    #[test]
    fn limits_are_named() {
        let refused = |from, to| Long::new(RuleSet::Xla, from, to).err().unwrap();
        assert_eq!(refused(0, 3), "with.from: found 0, expected 1 to 100000");
        assert_eq!(refused(1, 100_001), "with.to: found 100001, expected 1 to 100000");
        assert_eq!(refused(5, 4), "with.to: found 4, expected 5 or more, as `from` is");
    }
}
