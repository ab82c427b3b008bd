//! Long runs: lengths at which vectors, blocks, buffers and 16-bit indices end, in every arrangement of
//! operands.
//!
//! The small shapes of most cases fit into one vector. Here each length n from `from` to `to` is tested in
//! every arrangement of a sweep: vectors of n elements, matrices with n short rows or with short columns of
//! n, views.
//!
//! The expected values are computed by arithmetic, not by an engine. Element j of the first operand is j
//! modulo 4093, plus 1; of the second, j modulo 2039, plus 1, times 4096; and the expression is their
//! difference. Each element of the result shows which elements were read, because the moduli are primes and a
//! difference fits into 24 bits: f32 represents it, so even a system that computes in f32 must be exact. Each
//! arrangement states which elements these are.

use super::part::Part;
use super::{cotangents, destinations};
use broadcheck_spec::half::bf16;
use broadcheck_spec::{
    Case, Data, Element, Expectation, ExpectedResult, Expression, Function, Operand, Operation, Origin,
    Request, RuleSet, Rules, Shape, Sweep, Tensor,
};
use std::ops::{RangeInclusive, Sub};

/// The supported lengths: positions up to and beyond 2^16.
const LENGTHS: RangeInclusive<usize> = 1..=100_000;

/// The arrangements of a sweep. They are under one rule set and require the same capabilities.
pub(super) struct Arrangements {
    /// The sweep's name.
    pub(super) name: &'static str,
    pub(super) rules: RuleSet,
    all: &'static [Arrangement],
}

/// Every arrangement of a sweep at every length of a range.
pub(super) struct LongRuns {
    arrangements: &'static Arrangements,
    lengths: RangeInclusive<usize>,
}

impl Arrangements {
    /// The arrangements of the sweep with this name.
    pub(super) fn named(name: &str) -> Option<&'static Arrangements> {
        ARRANGEMENTS.iter().find(|sweep| sweep.name == name)
    }
}

impl LongRuns {
    pub(super) fn new(
        arrangements: &'static Arrangements,
        from: usize,
        to: usize,
    ) -> Result<LongRuns, String> {
        for (key, value) in [("from", from), ("to", to)] {
            if !LENGTHS.contains(&value) {
                let (least, most) = (LENGTHS.start(), LENGTHS.end());
                return Err(format!("with.{key}: found {value}, expected {least} to {most}"));
            }
        }
        if from > to {
            return Err(format!("with.to: found {to}, expected {from} or more, as `from` is"));
        }
        Ok(LongRuns { arrangements, lengths: from..=to })
    }

    pub(super) fn count(&self) -> u128 {
        (self.lengths.clone().count() * self.arrangements.all.len()) as u128
    }

    pub(super) fn cases(&self, sweep: &Sweep, part: Part) -> Vec<Case> {
        let at = |n: usize| self.arrangements.all.iter().map(move |arrangement| (n, arrangement));
        let case =
            |(n, (name, arrange)): (usize, &Arrangement)| case(sweep, &format!("{n}-{name}"), arrange(n));
        part.of(self.lengths.clone().flat_map(at)).map(case).collect()
    }
}

/// The case of a sweep with this name.
pub(super) fn case(sweep: &Sweep, name: &str, (request, result): RequestAndResult) -> Case {
    Case {
        id: format!("{}/{name}", sweep.id),
        title: format!("{} Here: {name}.", sweep.title),
        clause: sweep.clause.clone(),
        convention: None,
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
pub(super) type RequestAndResult = (Request, Tensor);

/// A name, and the request and result for a length.
pub(super) type Arrangement = (&'static str, fn(usize) -> RequestAndResult);

/// The arrangements of every sweep of long runs.
pub(super) static ARRANGEMENTS: &[Arrangements] = &[
    Arrangements {
        name: "none-long",
        rules: RuleSet::None,
        all: &[
            ("vectors", |n| difference(Rules::None, [a(&[n]), b(&[n])], &[n], |p| p, |p| p)),
            ("rows-of-three", |n| difference(Rules::None, [a(&[n, 3]), b(&[n, 3])], &[n, 3], |p| p, |p| p)),
        ],
    },
    Arrangements {
        name: "numpy-long",
        rules: RuleSet::Numpy,
        all: &[
            ("vectors", |n| difference(Rules::Numpy, [a(&[n]), b(&[n])], &[n], |p| p, |p| p)),
            ("scalar-second", |n| difference(Rules::Numpy, [a(&[n]), b(&[])], &[n], |p| p, |_| 0)),
            ("one-first", |n| difference(Rules::Numpy, [a(&[1]), b(&[n])], &[n], |_| 0, |p| p)),
            ("row", |n| difference(Rules::Numpy, [a(&[n, 3]), b(&[3])], &[n, 3], |p| p, |p| p % 3)),
            ("column", |n| difference(Rules::Numpy, [a(&[n, 3]), b(&[n, 1])], &[n, 3], |p| p, |p| p / 3)),
            ("long-row", |n| difference(Rules::Numpy, [a(&[3, n]), b(&[n])], &[3, n], |p| p, move |p| p % n)),
            ("short-column", |n| {
                difference(Rules::Numpy, [a(&[3, n]), b(&[3, 1])], &[3, n], |p| p, move |p| p / n)
            }),
            ("outer", |n| difference(Rules::Numpy, [a(&[n, 1]), b(&[3])], &[n, 3], |p| p / 3, |p| p % 3)),
            ("outer-of-a-long-row", |n| {
                difference(Rules::Numpy, [a(&[n]), b(&[3, 1])], &[3, n], move |p| p % n, move |p| p / n)
            }),
            ("middle", |n| {
                difference(Rules::Numpy, [a(&[2, n, 3]), b(&[n, 1])], &[2, n, 3], |p| p, move |p| p / 3 % n)
            }),
            ("three-operands", |n| {
                let operands =
                    vec![a(&[n, 3]), counted("b", &[n, 1], 509, 4096), counted("c", &[3], 3, 1 << 21)];
                let read = |p| count(p, 4093, 1) - count(p / 3, 509, 4096) - count(p % 3, 3, 1 << 21);
                elementwise(Rules::Numpy, fold(Function::Subtract, 3), operands, &[n, 3], from(3 * n, read))
            }),
            ("less", |n| {
                let operands = vec![a(&[n]), Operand::dense("b", [], vec![64.0]).expect("one value")];
                let values = from(n, |p| p % 4093 < 63);
                elementwise(Rules::Numpy, fold(Function::Less, 2), operands, &[n], values)
            }),
            ("select", |n| {
                let condition =
                    Operand::dense("s", [n], from(n, |p| p % 5 < 2)).expect("one value per element");
                let values = from(n, |p| if p % 5 < 2 { count(p, 4093, 1) } else { 4096.0 });
                let arguments = [0, 1, 2].map(Expression::operand);
                let expression = Expression::call(Function::Select, arguments).expect("three arguments");
                elementwise(Rules::Numpy, expression, vec![condition, a(&[n]), b(&[])], &[n], values)
            }),
        ],
    },
    Arrangements {
        name: "numpy-long-views",
        rules: RuleSet::Numpy,
        all: &[
            ("reversed", |n| {
                let view = strided_view(&a(&[n]), &[n], &[-1], n - 1);
                difference(Rules::Numpy, [view, b(&[n])], &[n], move |p| n - 1 - p, |p| p)
            }),
            ("every-second", |n| {
                let view = strided_view(&b(&[2 * n]), &[n], &[2], 1);
                difference(Rules::Numpy, [a(&[n]), view], &[n], |p| p, |p| 2 * p + 1)
            }),
            ("transposed", |n| {
                let view = strided_view(&b(&[n, 3]), &[3, n], &[1, 3], 0);
                difference(Rules::Numpy, [a(&[3, n]), view], &[3, n], |p| p, move |p| p % n * 3 + p / n)
            }),
        ],
    },
    // Rows that are adjacent in memory: more of them than are transposed at once, and a remainder.
    Arrangements {
        name: "numpy-long-across",
        rules: RuleSet::Numpy,
        all: &[
            ("f64", |n| {
                let view = strided_view(&b(&[n, 17]), &[17, n], &[1, 17], 0);
                difference(Rules::Numpy, [a(&[17, n]), view], &[17, n], |p| p, move |p| p % n * 17 + p / n)
            }),
            ("f64-in-two-batches", |n| {
                let batch = i64::try_from(17 * n).expect("at most LENGTHS");
                let view = strided_view(&b(&[2, n, 17]), &[2, 17, n], &[batch, 1, 17], 0);
                let place = move |p| p / (17 * n) * (17 * n) + p % n * 17 + p / n % 17;
                difference(Rules::Numpy, [a(&[17, 1]), view], &[2, 17, n], move |p| p / n % 17, place)
            }),
            ("f32", |n| across(n, |p| f32::from(residue(p, 4093)), |k| f32::from(residue(k, 2039)) * 4096.0)),
            ("i16", |n| {
                let at_most = |j, modulus| i16::try_from(residue(j, modulus)).unwrap_or(0);
                across(n, move |p| at_most(p, 16_381), move |k| at_most(k, 16_381) - 16_384)
            }),
        ],
    },
    Arrangements {
        name: "numpy-long-dtypes",
        rules: RuleSet::Numpy,
        all: &[
            ("f32", |n| narrow(n, |p| f32::from(residue(p, 4093)), |k| f32::from(residue(k, 2039)) * 4096.0)),
            ("bf16", |n| narrow(n, |p| bf16::from_f32(f32::from(residue(p, 61))), |_| bf16::from_f32(64.0))),
            ("i32", |n| {
                narrow(n, |p| i32::from(residue(p, 32_749)), |k| i32::from(residue(k, 32_749)) << 15)
            }),
            ("u16", |n| narrow(n, |p| residue(p, 251) + 1000, |k| residue(k, 3) * 256)),
            ("i8", |n| narrow(n, |p| i8::try_from(residue(p, 61)).unwrap_or(0), |_| -61)),
        ],
    },
    Arrangements {
        name: "numpy-long-gradients",
        rules: RuleSet::Numpy,
        all: &[
            ("by-row", |n| gradient(Rules::Numpy, [&[n, 3], &[3]], |p| p % 3)),
            ("by-column", |n| gradient(Rules::Numpy, [&[n, 3], &[n, 1]], |p| p / 3)),
            ("by-long-row", |n| gradient(Rules::Numpy, [&[3, n], &[n]], move |p| p % n)),
            ("by-short-column", |n| gradient(Rules::Numpy, [&[3, n], &[3, 1]], move |p| p / n)),
            ("by-scalar", |n| gradient(Rules::Numpy, [&[n], &[]], |_| 0)),
        ],
    },
    Arrangements { name: "numpy-long-cotangents", rules: RuleSet::Numpy, all: cotangents::NUMPY },
    Arrangements {
        name: "numpy-long-broadcasts",
        rules: RuleSet::Numpy,
        all: &[
            ("row", |n| broadcast(Rules::Numpy, &[3], &[n, 3], &[n, 3], |p| p % 3)),
            ("column", |n| broadcast(Rules::Numpy, &[n, 1], &[n, 3], &[n, 3], |p| p / 3)),
            ("long-row", |n| broadcast(Rules::Numpy, &[n], &[3, n], &[3, n], move |p| p % n)),
        ],
    },
    Arrangements { name: "numpy-long-into", rules: RuleSet::Numpy, all: destinations::SEPARATE },
    Arrangements { name: "numpy-long-overlaps", rules: RuleSet::Numpy, all: destinations::OVERLAPS },
    Arrangements {
        name: "pdpd-long",
        rules: RuleSet::Pdpd,
        all: &[
            ("row", |n| sum(pdpd(None), [a(&[n, 3]), b(&[3])], &[n, 3], |p| p, |p| p % 3)),
            ("column-at-axis-0", |n| sum(pdpd(Some(0)), [a(&[n, 3]), b(&[n])], &[n, 3], |p| p, |p| p / 3)),
            ("long-row", |n| sum(pdpd(None), [a(&[3, n]), b(&[n])], &[3, n], |p| p, move |p| p % n)),
            ("middle-at-axis-1", |n| {
                sum(pdpd(Some(1)), [a(&[2, n, 3]), b(&[n])], &[2, n, 3], |p| p, move |p| p / 3 % n)
            }),
        ],
    },
    Arrangements {
        name: "pdpd-long-gradients",
        rules: RuleSet::Pdpd,
        all: &[
            ("by-column", |n| gradient(pdpd(Some(0)), [&[n, 3], &[n]], |p| p / 3)),
            ("by-row", |n| gradient(pdpd(Some(-1)), [&[n, 3], &[3]], |p| p % 3)),
        ],
    },
    Arrangements { name: "pdpd-long-cotangents", rules: RuleSet::Pdpd, all: cotangents::PDPD },
    Arrangements {
        name: "bidirectional-long",
        rules: RuleSet::Bidirectional,
        all: &[
            ("column", |n| broadcast(Rules::Bidirectional, &[n, 1], &[1, 3], &[n, 3], |p| p / 3)),
            ("row", |n| broadcast(Rules::Bidirectional, &[3], &[n, 1], &[n, 3], |p| p % 3)),
            ("long-row", |n| broadcast(Rules::Bidirectional, &[n], &[3, 1], &[3, n], move |p| p % n)),
            ("matrix", |n| broadcast(Rules::Bidirectional, &[n, 3], &[3], &[n, 3], |p| p)),
        ],
    },
    Arrangements {
        name: "bidirectional-long-cotangents",
        rules: RuleSet::Bidirectional,
        all: cotangents::BIDIRECTIONAL,
    },
    Arrangements {
        name: "xla-long",
        rules: RuleSet::Xla,
        all: &[
            ("row-in-dim-1", |n| difference(xla(&[1]), [a(&[n, 3]), b(&[3])], &[n, 3], |p| p, |p| p % 3)),
            ("column-in-dim-0", |n| difference(xla(&[0]), [a(&[n, 3]), b(&[n])], &[n, 3], |p| p, |p| p / 3)),
            ("lower-operand-first", |n| {
                difference(xla(&[1]), [a(&[n]), b(&[3, n])], &[3, n], move |p| p % n, |p| p)
            }),
            ("middle-in-dim-1", |n| {
                difference(xla(&[1]), [a(&[2, n, 3]), b(&[n])], &[2, n, 3], |p| p, move |p| p / 3 % n)
            }),
            ("degenerate", |n| {
                difference(
                    Rules::Xla { broadcast_dimensions: None },
                    [a(&[n, 1]), b(&[1, 3])],
                    &[n, 3],
                    |p| p / 3,
                    |p| p % 3,
                )
            }),
            ("in-dim-then-degenerate", |n| {
                difference(xla(&[0]), [a(&[1, 3]), b(&[n])], &[n, 3], |p| p % 3, |p| p / 3)
            }),
        ],
    },
    Arrangements {
        name: "xla-long-gradients",
        rules: RuleSet::Xla,
        all: &[
            ("by-column", |n| gradient(xla(&[0]), [&[n, 3], &[n]], |p| p / 3)),
            ("by-row", |n| gradient(xla(&[1]), [&[n, 3], &[3]], |p| p % 3)),
        ],
    },
    Arrangements { name: "xla-long-cotangents", rules: RuleSet::Xla, all: cotangents::XLA },
    Arrangements {
        name: "theano-long",
        rules: RuleSet::Theano,
        all: &[
            ("vectors", |n| difference(Rules::Theano, [fixed(a(&[n])), fixed(b(&[n]))], &[n], |p| p, |p| p)),
            ("flagged-vector", |n| {
                difference(Rules::Theano, [fixed(a(&[n])), flagged(b(&[1]), 0)], &[n], |p| p, |_| 0)
            }),
            ("flagged-row", |n| {
                difference(
                    Rules::Theano,
                    [fixed(a(&[n, 3])), flagged(b(&[1, 3]), 0)],
                    &[n, 3],
                    |p| p,
                    |p| p % 3,
                )
            }),
            ("flagged-column", |n| {
                difference(
                    Rules::Theano,
                    [fixed(a(&[n, 3])), flagged(b(&[n, 1]), 1)],
                    &[n, 3],
                    |p| p,
                    |p| p / 3,
                )
            }),
            ("mutual", |n| {
                difference(
                    Rules::Theano,
                    [flagged(a(&[n, 1]), 1), flagged(b(&[1, 3]), 0)],
                    &[n, 3],
                    |p| p / 3,
                    |p| p % 3,
                )
            }),
        ],
    },
    Arrangements { name: "theano-long-cotangents", rules: RuleSet::Theano, all: cotangents::THEANO },
    Arrangements {
        name: "leading-long",
        rules: RuleSet::Leading,
        all: &[
            ("vectors", |n| difference(Rules::Leading, [a(&[n]), b(&[n])], &[n], |p| p, |p| p)),
            ("scalar-second", |n| difference(Rules::Leading, [a(&[n]), b(&[])], &[n], |p| p, |_| 0)),
            ("column", |n| difference(Rules::Leading, [a(&[n, 3]), b(&[n])], &[n, 3], |p| p, |p| p / 3)),
            ("row", |n| difference(Rules::Leading, [a(&[n, 3]), b(&[1, 3])], &[n, 3], |p| p, |p| p % 3)),
            ("short-column", |n| {
                difference(Rules::Leading, [a(&[3]), b(&[3, n])], &[3, n], move |p| p / n, |p| p)
            }),
            ("long-row", |n| {
                difference(Rules::Leading, [a(&[3, n]), b(&[1, n])], &[3, n], |p| p, move |p| p % n)
            }),
            ("outer", |n| difference(Rules::Leading, [a(&[n]), b(&[1, 3])], &[n, 3], |p| p / 3, |p| p % 3)),
            ("middle", |n| {
                let operands = [a(&[2, n, 3]), b(&[1, n])];
                difference(Rules::Leading, operands, &[2, n, 3], |p| p, move |p| p / 3 % n)
            }),
        ],
    },
    Arrangements {
        name: "leading-long-gradients",
        rules: RuleSet::Leading,
        all: &[
            ("by-column", |n| gradient(Rules::Leading, [&[n, 3], &[n]], |p| p / 3)),
            ("by-row", |n| gradient(Rules::Leading, [&[n, 3], &[1, 3]], |p| p % 3)),
            ("by-long-row", |n| gradient(Rules::Leading, [&[3, n], &[1, n]], move |p| p % n)),
            ("by-short-column", |n| gradient(Rules::Leading, [&[3, n], &[3]], move |p| p / n)),
            ("by-scalar", |n| gradient(Rules::Leading, [&[n], &[]], |_| 0)),
        ],
    },
    Arrangements { name: "leading-long-cotangents", rules: RuleSet::Leading, all: cotangents::LEADING },
    Arrangements {
        name: "leading-long-broadcasts",
        rules: RuleSet::Leading,
        all: &[
            ("column", |n| broadcast(Rules::Leading, &[n], &[n, 3], &[n, 3], |p| p / 3)),
            ("row", |n| broadcast(Rules::Leading, &[1, 3], &[n, 3], &[n, 3], |p| p % 3)),
            ("long-row", |n| broadcast(Rules::Leading, &[1, n], &[3, n], &[3, n], move |p| p % n)),
            ("short-column", |n| broadcast(Rules::Leading, &[3], &[3, n], &[3, n], move |p| p / n)),
        ],
    },
    Arrangements {
        name: "repeat-long",
        rules: RuleSet::Repeat,
        all: &[
            ("vectors", |n| difference(Rules::Repeat, [a(&[n]), b(&[n])], &[n], |p| p, |p| p)),
            ("scalar", |n| difference(Rules::Repeat, [a(&[n]), b(&[])], &[n], |p| p, |_| 0)),
            ("triples", |n| difference(Rules::Repeat, [a(&[3 * n]), b(&[3])], &[3 * n], |p| p, |p| p % 3)),
            ("thrice", |n| {
                difference(Rules::Repeat, [a(&[3 * n]), b(&[n])], &[3 * n], |p| p, move |p| p % n)
            }),
            ("row", |n| difference(Rules::Repeat, [a(&[n, 3]), b(&[3])], &[n, 3], |p| p, |p| p % 3)),
            ("column", |n| difference(Rules::Repeat, [a(&[n, 3]), b(&[n, 1])], &[n, 3], |p| p, |p| p / 3)),
            ("pairs-of-rows", |n| {
                let operands = [a(&[4, n]), b(&[2, n])];
                difference(Rules::Repeat, operands, &[4, n], |p| p, move |p| p % (2 * n))
            }),
            ("columns-twice", |n| {
                let operands = [a(&[2 * n, 3]), b(&[n, 1])];
                difference(Rules::Repeat, operands, &[2 * n, 3], |p| p, move |p| p / 3 % n)
            }),
            ("both-axes", |n| {
                let operands = [a(&[4, 2 * n]), b(&[2, n])];
                let own = move |p: usize| p / (2 * n) % 2 * n + p % n;
                difference(Rules::Repeat, operands, &[4, 2 * n], |p| p, own)
            }),
        ],
    },
    Arrangements {
        name: "repeat-long-gradients",
        rules: RuleSet::Repeat,
        all: &[
            ("by-scalar", |n| gradient(Rules::Repeat, [&[n], &[]], |_| 0)),
            ("by-triple", |n| gradient(Rules::Repeat, [&[3 * n], &[3]], |p| p % 3)),
            ("by-a-third", |n| gradient(Rules::Repeat, [&[3 * n], &[n]], move |p| p % n)),
            ("by-row", |n| gradient(Rules::Repeat, [&[n, 3], &[3]], |p| p % 3)),
            ("by-column", |n| gradient(Rules::Repeat, [&[n, 3], &[n, 1]], |p| p / 3)),
            ("by-columns-twice", |n| gradient(Rules::Repeat, [&[2 * n, 3], &[n, 1]], move |p| p / 3 % n)),
        ],
    },
    Arrangements { name: "repeat-long-cotangents", rules: RuleSet::Repeat, all: cotangents::REPEAT },
    Arrangements {
        name: "repeat-long-broadcasts",
        rules: RuleSet::Repeat,
        all: &[
            ("triples", |n| broadcast(Rules::Repeat, &[3], &[3 * n], &[3 * n], |p| p % 3)),
            ("thrice", |n| broadcast(Rules::Repeat, &[n], &[3 * n], &[3 * n], move |p| p % n)),
            ("row", |n| broadcast(Rules::Repeat, &[3], &[n, 3], &[n, 3], |p| p % 3)),
            ("columns-twice", |n| {
                broadcast(Rules::Repeat, &[n, 1], &[2 * n, 3], &[2 * n, 3], move |p| p / 3 % n)
            }),
        ],
    },
];

/// j modulo a number of at most 16 bits, plus 1, times a factor.
pub(super) fn count(j: usize, modulus: usize, factor: u32) -> f64 {
    (f64::from(residue(j, modulus)) + 1.0) * f64::from(factor)
}

/// j modulo a number of at most 16 bits.
pub(super) fn residue(j: usize, modulus: usize) -> u16 {
    u16::try_from(j % modulus).unwrap_or(u16::MAX)
}

pub(super) fn from<T>(elements: usize, value: impl Fn(usize) -> T) -> Vec<T> {
    (0..elements).map(value).collect()
}

fn counted(name: &str, shape: &[usize], modulus: usize, factor: u32) -> Operand {
    let values = from(shape.iter().product(), |j| count(j, modulus, factor));
    Operand::dense(name, shape, values).expect("one value per element")
}

/// The first operand.
pub(super) fn a(shape: &[usize]) -> Operand {
    counted("a", shape, 4093, 1)
}

/// The second operand.
pub(super) fn b(shape: &[usize]) -> Operand {
    counted("b", shape, 2039, 4096)
}

/// A view of an operand's values.
pub(super) fn strided_view(operand: &Operand, shape: &[usize], strides: &[i64], offset: usize) -> Operand {
    let values = operand.values().clone();
    Operand::view(operand.name(), shape, values, Some(strides.to_vec()), offset).expect("a view inside")
}

/// The operand with no axis flagged.
pub(super) fn fixed(operand: Operand) -> Operand {
    let flags = vec![false; operand.rank()];
    operand.with_broadcastable(flags).expect("one flag per axis")
}

/// The operand with one axis flagged.
pub(super) fn flagged(operand: Operand, axis: usize) -> Operand {
    let flags = (0..operand.rank()).map(|at| at == axis).collect();
    operand.with_broadcastable(flags).expect("one flag per axis")
}

pub(super) fn pdpd(axis: Option<i64>) -> Rules {
    Rules::Pdpd { axis }
}

pub(super) fn xla(dimensions: &[i64]) -> Rules {
    Rules::Xla { broadcast_dimensions: Some(dimensions.to_vec()) }
}

/// `[f, [f, a, b], c]`.
pub(super) fn fold(function: Function, operands: usize) -> Expression {
    (1..operands).fold(Expression::operand(0), |fold, place| {
        Expression::call(function, [fold, Expression::operand(place)]).expect("two arguments")
    })
}

/// The expression over the operands, with this result.
pub(super) fn elementwise(
    rules: Rules,
    expression: Expression,
    operands: Vec<Operand>,
    shape: &[usize],
    values: impl Into<Data>,
) -> RequestAndResult {
    let operation = Operation::Elementwise { expression };
    (Request::new(rules, operation, operands).expect("a well-formed request"), tensor(shape, values))
}

/// A tensor of these values.
pub(super) fn tensor(shape: &[usize], values: impl Into<Data>) -> Tensor {
    Tensor::new(Shape::from(shape), values).expect("one value per element")
}

/// a - b, where element p of the result reads element `left(p)` of a and `right(p)` of b.
fn difference(
    rules: Rules,
    operands: [Operand; 2],
    shape: &[usize],
    left: impl Fn(usize) -> usize,
    right: impl Fn(usize) -> usize,
) -> RequestAndResult {
    let values = from(shape.iter().product(), |p| count(left(p), 4093, 1) - count(right(p), 2039, 4096));
    elementwise(rules, fold(Function::Subtract, 2), Vec::from(operands), shape, values)
}

/// a + b: pdpd's cases of long runs are not about the order of operands, and systems have their own rules for
/// subtraction there.
fn sum(
    rules: Rules,
    operands: [Operand; 2],
    shape: &[usize],
    left: impl Fn(usize) -> usize,
    right: impl Fn(usize) -> usize,
) -> RequestAndResult {
    let values = from(shape.iter().product(), |p| count(left(p), 4093, 1) + count(right(p), 2039, 4096));
    elementwise(rules, fold(Function::Add, 2), Vec::from(operands), shape, values)
}

/// a - b in another dtype, with the shapes (n, 3) and (n, 1).
fn narrow<T: Element + Copy + Sub<Output = T>>(
    n: usize,
    a: impl Fn(usize) -> T,
    b: impl Fn(usize) -> T,
) -> RequestAndResult
where
    Data: From<Vec<T>>,
{
    let values = from(3 * n, |p| a(p) - b(p / 3));
    let operand = |name: &str, shape: &[usize], values: Vec<T>| Operand::dense(name, shape, values);
    let a = operand("a", &[n, 3], from(3 * n, a)).expect("one value per element");
    let b = operand("b", &[n, 1], from(n, b)).expect("one value per element");
    elementwise(Rules::Numpy, fold(Function::Subtract, 2), vec![a, b], &[n, 3], values)
}

/// a - b in another dtype, with the shapes (n) and (17, n). The 17 elements of a column of b are adjacent in
/// memory.
fn across<T: Element + Copy + Sub<Output = T>>(
    n: usize,
    a: impl Fn(usize) -> T,
    b: impl Fn(usize) -> T,
) -> RequestAndResult
where
    Data: From<Vec<T>>,
{
    let values = from(17 * n, |p| a(p % n) - b(p % n * 17 + p / n));
    let a = Operand::dense("a", [n], from(n, a)).expect("one value per element");
    let b = Operand::view("b", [17, n], from(17 * n, b), Some(vec![1, 17]), 0).expect("a view inside");
    elementwise(Rules::Numpy, fold(Function::Subtract, 2), vec![a, b], &[17, n], values)
}

/// The gradient of the sum of a · b by b, where a has the shape of the result and its element p is multiplied
/// by element `place(p)` of b. The elements of a, p mod 1009 + 1, are summed there.
fn gradient(rules: Rules, [large, small]: [&[usize]; 2], place: impl Fn(usize) -> usize) -> RequestAndResult {
    let values = from(large.iter().product(), |p| f64::from(residue(p, 1009)) + 1.0);
    let mut sums = vec![0.0; small.iter().product()];
    for (p, value) in values.iter().enumerate() {
        sums[place(p)] += value;
    }
    let operands = vec![Operand::dense("a", large, values).expect("one value per element"), b(small)];
    let operation = Operation::Gradient { expression: fold(Function::Multiply, 2), wrt: 1 };
    (Request::new(rules, operation, operands).expect("a well-formed request"), tensor(small, sums))
}

/// One operand broadcast to a shape, where element p of the result is element `place(p)` of the operand.
fn broadcast(
    rules: Rules,
    operand: &[usize],
    target: &[usize],
    shape: &[usize],
    place: impl Fn(usize) -> usize,
) -> RequestAndResult {
    let operation = Operation::Broadcast { target_shape: Shape::from(target) };
    let request = Request::new(rules, operation, vec![a(operand)]).expect("a well-formed request");
    (request, tensor(shape, from(shape.iter().product(), |p| count(place(p), 4093, 1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(sweep: &str, name: &str, n: usize) -> RequestAndResult {
        let sweep = Arrangements::named(sweep).unwrap();
        let arrangement = sweep.all.iter().find(|(found, _)| *found == name).unwrap();
        arrangement.1(n)
    }

    #[test]
    fn arrangements_by_hand() {
        let tensor =
            |shape: &[usize], values: &[f64]| Tensor::new(Shape::from(shape), values.to_vec()).unwrap();
        let column = [4097.0, 4098.0, 4099.0, 8196.0, 8197.0, 8198.0];
        assert_eq!(arranged("pdpd-long", "column-at-axis-0", 2).1, tensor(&[2, 3], &column));
        // a is 1 to 6, and b is, by columns, 1, 4, 2, 5, 3, 6 times 4096.
        let transposed = [-4095.0, -16382.0, -8189.0, -20476.0, -12283.0, -24570.0];
        assert_eq!(arranged("numpy-long-views", "transposed", 2).1, tensor(&[3, 2], &transposed));
        // a is 0 and 1; the first row of b is its first and its eighteenth value, 0 and 17 times 4096, and so
        // on.
        let across = arranged("numpy-long-across", "f32", 2).1;
        let Data::F32(values) = across.values() else { panic!("f32") };
        assert_eq!(values[..4], [0.0, 1.0 - 17.0 * 4096.0, -4096.0, 1.0 - 18.0 * 4096.0]);
        // 1 + 4, 2 + 5, 3 + 6.
        assert_eq!(arranged("numpy-long-gradients", "by-row", 2).1, tensor(&[3], &[5.0, 7.0, 9.0]));
        assert_eq!(arranged("numpy-long", "select", 4).1, tensor(&[4], &[1.0, 2.0, 4096.0, 4096.0]));
        assert_eq!(
            arranged("bidirectional-long", "row", 2).1,
            tensor(&[2, 3], &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
        );
    }

    #[test]
    fn limits_are_named() {
        let arrangements = Arrangements::named("xla-long").unwrap();
        let refused = |from, to| LongRuns::new(arrangements, from, to).err().unwrap();
        assert_eq!(refused(0, 3), "with.from: found 0, expected 1 to 100000");
        assert_eq!(refused(1, 100_001), "with.to: found 100001, expected 1 to 100000");
        assert_eq!(refused(5, 4), "with.to: found 4, expected 5 or more, as `from` is");
    }
}
