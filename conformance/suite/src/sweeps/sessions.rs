//! Sessions: requests with one declared signature and different shapes, one after the other.
//!
//! An implementation that builds ahead keeps what it built for a signature and runs it with any lengths that
//! the signature admits. Buffers, strides and checks that were made for the lengths of one run are then wrong
//! for the next: a result that is too short, an accepted request whose lengths do not fit, the answer to the
//! request before. So each session asks a request that fits the rule set, one that does not or that has other
//! lengths, and the first again; a last session asks all of them in a row, forwards and backwards.
//!
//! The operands are a, with the elements 1 + j mod 7, and b, j mod 5; the result is a - b, or a alone for
//! `broadcast`. Each run states the axes of the result on which b, or the operand of `broadcast`, lies, so
//! the expected values need no rule set.

use super::sequences::Sequence;
use broadcheck_spec::{
    Case, Data, Expectation, ExpectedRefusal, ExpectedResult, Expression, Function, Operand, Operation,
    Origin, PartialShape, RefusalKind, Request, RuleSet, Rules, Shape, Sweep, Tensor,
};
use std::ops::RangeInclusive;

/// The supported lengths.
const LENGTHS: RangeInclusive<usize> = 2..=100;

/// The names of the sweeps, with their rule sets.
pub(super) const NAMES: [(&str, RuleSet); 8] = [
    ("none-sessions", RuleSet::None),
    ("numpy-sessions", RuleSet::Numpy),
    ("pdpd-sessions", RuleSet::Pdpd),
    ("bidirectional-sessions", RuleSet::Bidirectional),
    ("xla-sessions", RuleSet::Xla),
    ("theano-sessions", RuleSet::Theano),
    ("leading-sessions", RuleSet::Leading),
    ("repeat-sessions", RuleSet::Repeat),
];

/// The rule set of a sweep of sessions; `None` for the name of another sweep.
pub(super) fn rules_of(name: &str) -> Option<RuleSet> {
    NAMES.iter().find(|(found, _)| *found == name).map(|&(_, rules)| rules)
}

/// All sessions of a rule set.
pub(super) struct Sessions {
    rules: RuleSet,
    length: usize,
}

/// What is declared, and the runs that are asked.
struct Signature {
    name: &'static str,
    rules: Rules,
    /// The declared shapes: of both operands, or of the operand and the target of `broadcast`.
    declared: [&'static str; 2],
    broadcast: bool,
    /// theano: the flags of both operands.
    flags: Option<[Vec<bool>; 2]>,
    runs: Vec<Run>,
}

/// The shapes of a run, and what must come of it.
struct Run {
    shapes: [Vec<usize>; 2],
    outcome: Result<Accepted, (RefusalKind, usize)>,
}

/// An accepted run.
struct Accepted {
    shape: Vec<usize>,
    /// For each operand, the axis of the result of each of its axes.
    axes: [Vec<usize>; 2],
}

impl Sessions {
    pub(super) fn new(rules: RuleSet, length: usize) -> Result<Sessions, String> {
        if !LENGTHS.contains(&length) {
            let (least, most) = (LENGTHS.start(), LENGTHS.end());
            return Err(format!("with.length: found {length}, expected {least} to {most}"));
        }
        Ok(Sessions { rules, length })
    }

    pub(super) fn count(&self) -> u128 {
        let runs = |signature: &Signature| signature.runs.len() as u128 - 1 + 2;
        signatures(self.rules, self.length).iter().map(runs).sum()
    }

    pub(super) fn expand(&self, sweep: &Sweep) -> Vec<Sequence> {
        signatures(self.rules, self.length).iter().flat_map(|signature| signature.sessions(sweep)).collect()
    }
}

impl Signature {
    /// The first run with each other, between which it is asked again; then all of them.
    fn sessions(&self, sweep: &Sweep) -> Vec<Sequence> {
        let all: Vec<usize> = (0..self.runs.len()).collect();
        let pairs = all[1..].iter().map(|&other| (format!("{}-and-back", other + 1), vec![0, other, 0]));
        let forwards = ("forwards".to_owned(), all.clone());
        let backwards = ("backwards".to_owned(), all.iter().rev().copied().collect());
        let session = |(name, places): (String, Vec<usize>)| {
            let id = format!("{}/{}-{name}", sweep.id, self.name);
            let case =
                |(step, &place): (usize, &usize)| self.case(sweep, &format!("{id}/{}", step + 1), place);
            Sequence { cases: places.iter().enumerate().map(case).collect(), id }
        };
        pairs.chain([forwards, backwards]).map(session).collect()
    }

    fn case(&self, sweep: &Sweep, id: &str, place: usize) -> Case {
        let run = &self.runs[place];
        let [a, b] = &run.shapes;
        let shown = |shape: &Vec<usize>| Shape::new(shape.clone()).to_string();
        let runs = format!("{} and {}", shown(a), shown(b));
        Case {
            id: format!("{id}-run-{}", place + 1),
            title: format!("{} Here: {} with {runs}.", sweep.title, self.name),
            clause: sweep.clause.clone(),
            convention: None,
            examples: sweep.examples.clone(),
            sources: sweep.sources.clone(),
            origin: Origin::Hand,
            request: self.request(run),
            expectation: run.expectation(self.broadcast),
            note: None,
            location: sweep.location.clone(),
        }
    }

    fn request(&self, run: &Run) -> Request {
        let declared = |place: usize| -> PartialShape { self.declared[place].parse().expect("a shape") };
        let operand = |place: usize| {
            let shape = Shape::new(run.shapes[place].clone());
            let values = Data::F32(values(place, shape.iter().product()));
            let operand = Operand::dense(["a", "b"][place], shape, values).expect("one value per element");
            let operand = match &self.flags {
                Some(flags) => operand.with_broadcastable(flags[place].clone()).expect("one flag per axis"),
                None => operand,
            };
            operand.with_declared(declared(place)).expect("a shape that the signature admits")
        };
        if self.broadcast {
            let target_shape = Shape::new(run.shapes[1].clone());
            let operation = Operation::Broadcast { target_shape };
            return Request::new(self.rules.clone(), operation, vec![operand(0)])
                .and_then(|request| request.with_declared_target(declared(1)))
                .expect("a well-formed request");
        }
        let difference = [Expression::operand(0), Expression::operand(1)];
        let expression = Expression::call(Function::Subtract, difference).expect("two arguments");
        let operation = Operation::Elementwise { expression };
        Request::new(self.rules.clone(), operation, vec![operand(0), operand(1)])
            .expect("a well-formed request")
    }
}

impl Run {
    fn expectation(&self, broadcast: bool) -> Expectation {
        let accepted = match &self.outcome {
            Ok(accepted) => accepted,
            &Err((kind, axis)) => {
                let axis = kind.has_axis().then_some(axis);
                return Expectation::Refusal(ExpectedRefusal { kind: Some(kind), axis, operand: None });
            }
        };
        let shape = Shape::new(accepted.shape.clone());
        let read = |place: usize, index: &[usize]| self.read(place, &accepted.axes[place], index);
        let element = |index: Vec<usize>| read(0, &index) - if broadcast { 0.0 } else { read(1, &index) };
        let values: Vec<f32> = super::sequences::indices(&accepted.shape).map(element).collect();
        let tensor = Tensor::new(shape, Data::F32(values)).expect("one value per element");
        Expectation::Result(ExpectedResult::from(tensor))
    }

    /// The element of an operand under an index of the result. An axis of length 1 is stretched, and under
    /// `repeat` every other one repeated.
    fn read(&self, place: usize, axes: &[usize], index: &[usize]) -> f32 {
        let shape = &self.shapes[place];
        let position = shape
            .iter()
            .zip(axes)
            .fold(0, |position, (&length, &axis)| position * length + index[axis] % length);
        values(place, position + 1)[position]
    }
}

/// The first elements of an operand.
fn values(place: usize, count: usize) -> Vec<f32> {
    let element = |j: usize| if place == 0 { 1 + j % 7 } else { j % 5 };
    (0..count).map(|j| f32::from(u8::try_from(element(j)).expect("a small number"))).collect()
}

/// An accepted run of two operands whose axes are the last of the result's.
fn fits(a: &[usize], b: &[usize], result: &[usize]) -> Run {
    let last = |shape: &[usize]| (result.len() - shape.len()..result.len()).collect();
    placed(a, (b, last(b)), (result, last(a)))
}

/// An accepted run of two operands whose axes are the first of the result's.
fn fits_first(a: &[usize], b: &[usize], result: &[usize]) -> Run {
    let first = |shape: &[usize]| (0..shape.len()).collect();
    placed(a, (b, first(b)), (result, first(a)))
}

/// An accepted run with the axes of the result on which the operands lie.
fn placed(a: &[usize], (b, on_b): (&[usize], Vec<usize>), (result, on_a): (&[usize], Vec<usize>)) -> Run {
    let accepted = Accepted { shape: result.to_vec(), axes: [on_a, on_b] };
    Run { shapes: [a.to_vec(), b.to_vec()], outcome: Ok(accepted) }
}

fn refused(a: &[usize], b: &[usize], kind: RefusalKind, axis: usize) -> Run {
    Run { shapes: [a.to_vec(), b.to_vec()], outcome: Err((kind, axis)) }
}

fn mismatch(a: &[usize], b: &[usize], axis: usize) -> Run {
    refused(a, b, RefusalKind::DimensionMismatch, axis)
}

/// The signatures of a rule set with their runs. The first run of each is accepted, and no two are equal.
fn signatures(rules: RuleSet, n: usize) -> Vec<Signature> {
    let of = |name, declared, runs| Signature {
        name,
        rules: Rules::from(rules),
        declared,
        broadcast: false,
        flags: None,
        runs,
    };
    let m = n + 1;
    match rules {
        RuleSet::None => vec![
            of(
                "vectors",
                ["?", "?"],
                vec![
                    fits(&[n], &[n], &[n]),
                    mismatch(&[n], &[m], 0),
                    fits(&[m], &[m], &[m]),
                    mismatch(&[1], &[n], 0),
                    fits(&[1], &[1], &[1]),
                    fits(&[0], &[0], &[0]),
                    mismatch(&[n], &[0], 0),
                ],
            ),
            of(
                "rows",
                ["2x?", "?x?"],
                vec![
                    fits(&[2, n], &[2, n], &[2, n]),
                    mismatch(&[2, n], &[2, m], 1),
                    mismatch(&[2, n], &[1, n], 0),
                    fits(&[2, m], &[2, m], &[2, m]),
                ],
            ),
            of(
                "bounded",
                ["..101", "1.."],
                vec![fits(&[n], &[n], &[n]), mismatch(&[m], &[n], 0), fits(&[m], &[m], &[m])],
            ),
        ],
        RuleSet::Numpy => vec![
            of(
                "vectors",
                ["?", "?"],
                vec![
                    fits(&[n], &[n], &[n]),
                    mismatch(&[n], &[m], 0),
                    fits(&[1], &[n], &[n]),
                    fits(&[m], &[1], &[m]),
                    fits(&[m], &[m], &[m]),
                    fits(&[1], &[0], &[0]),
                    mismatch(&[m], &[n], 0),
                ],
            ),
            of(
                "rows",
                ["?x?", "?"],
                vec![
                    fits(&[2, n], &[n], &[2, n]),
                    mismatch(&[2, n], &[m], 1),
                    fits(&[2, 1], &[m], &[2, m]),
                    fits(&[3, n], &[1], &[3, n]),
                    fits(&[1, n], &[n], &[1, n]),
                    mismatch(&[n, 2], &[n + 2], 1),
                    fits(&[0, n], &[n], &[0, n]),
                ],
            ),
            of(
                "half-known",
                ["?x3", "?x1"],
                vec![
                    fits(&[n, 3], &[n, 1], &[n, 3]),
                    mismatch(&[n, 3], &[m, 1], 0),
                    fits(&[1, 3], &[m, 1], &[m, 3]),
                    fits(&[m, 3], &[1, 1], &[m, 3]),
                ],
            ),
            of(
                "bounded",
                ["..101", "1.."],
                vec![
                    fits(&[n], &[n], &[n]),
                    mismatch(&[n], &[m], 0),
                    fits(&[1], &[m], &[m]),
                    fits(&[n], &[1], &[n]),
                ],
            ),
            of(
                "any-rank",
                ["...", "..."],
                vec![
                    fits(&[2, n], &[n], &[2, n]),
                    fits(&[n], &[2, n], &[2, n]),
                    mismatch(&[2, n], &[m], 1),
                    fits(&[], &[m], &[m]),
                    fits(&[2, 1, n], &[3, 1], &[2, 3, n]),
                ],
            ),
            Signature {
                broadcast: true,
                ..of(
                    "broadcast",
                    ["?", "?x?"],
                    vec![
                        fits(&[n], &[2, n], &[2, n]),
                        mismatch(&[n], &[2, m], 1),
                        fits(&[1], &[3, m], &[3, m]),
                        mismatch(&[n], &[n, 1], 1),
                        fits(&[1], &[2, 0], &[2, 0]),
                    ],
                )
            },
        ],
        RuleSet::Leading => vec![
            of(
                "columns",
                ["?x?", "?"],
                vec![
                    fits_first(&[n, 2], &[n], &[n, 2]),
                    mismatch(&[n, 2], &[m], 0),
                    fits_first(&[1, 2], &[m], &[m, 2]),
                    fits_first(&[n, 3], &[1], &[n, 3]),
                    fits_first(&[n, 1], &[n], &[n, 1]),
                    mismatch(&[2, n + 2], &[n + 2], 0),
                    fits_first(&[n, 0], &[n], &[n, 0]),
                ],
            ),
            of(
                "any-rank",
                ["...", "..."],
                vec![
                    fits_first(&[n, 2], &[n], &[n, 2]),
                    fits_first(&[n], &[n, 2], &[n, 2]),
                    mismatch(&[n, 2], &[m], 0),
                    fits_first(&[], &[m], &[m]),
                    fits_first(&[n, 1, 2], &[1, 3], &[n, 3, 2]),
                ],
            ),
            Signature {
                broadcast: true,
                ..of(
                    "broadcast",
                    ["?", "?x?"],
                    vec![
                        fits_first(&[n], &[n, 2], &[n, 2]),
                        mismatch(&[n], &[m, 2], 0),
                        fits_first(&[1], &[m, 3], &[m, 3]),
                        mismatch(&[n], &[1, n], 0),
                        fits_first(&[1], &[0, 2], &[0, 2]),
                    ],
                )
            },
        ],
        RuleSet::Repeat => vec![
            of(
                "vectors",
                ["?", "?"],
                vec![
                    fits(&[2 * n], &[n], &[2 * n]),
                    mismatch(&[2 * n], &[2 * n + 1], 0),
                    fits(&[n], &[n], &[n]),
                    fits(&[3 * m], &[m], &[3 * m]),
                    fits(&[m], &[1], &[m]),
                    mismatch(&[n], &[2 * n], 0),
                    fits(&[0], &[n], &[0]),
                ],
            ),
            of(
                "rows",
                ["?x?", "?"],
                vec![
                    fits(&[2, n], &[n], &[2, n]),
                    mismatch(&[2, n], &[m], 1),
                    fits(&[3, 2 * n], &[n], &[3, 2 * n]),
                    fits(&[3, m], &[1], &[3, m]),
                    fits(&[1, 3 * n], &[n], &[1, 3 * n]),
                ],
            ),
            of(
                "any-rank",
                ["...", "..."],
                vec![
                    fits(&[2, n], &[n], &[2, n]),
                    fits(&[2 * n, 4], &[n, 2], &[2 * n, 4]),
                    mismatch(&[2, n], &[m], 1),
                    fits(&[m], &[], &[m]),
                ],
            ),
            Signature {
                broadcast: true,
                ..of(
                    "broadcast",
                    ["?", "?x?"],
                    vec![
                        fits(&[n], &[2, 2 * n], &[2, 2 * n]),
                        mismatch(&[n], &[2, m], 1),
                        fits(&[1], &[3, m], &[3, m]),
                        mismatch(&[n], &[n, 1], 1),
                        fits(&[n], &[2, 0], &[2, 0]),
                    ],
                )
            },
        ],
        RuleSet::Pdpd => {
            let on_first = |a: [usize; 2], b: usize| placed(&a, (&[b], vec![0]), (&a, vec![0, 1]));
            vec![
                of(
                    "rows",
                    ["?x?", "?"],
                    vec![
                        fits(&[2, n], &[n], &[2, n]),
                        mismatch(&[2, n], &[m], 1),
                        mismatch(&[2, 1], &[n], 1),
                        fits(&[3, m], &[1], &[3, m]),
                        fits(&[3, m], &[m], &[3, m]),
                    ],
                ),
                Signature {
                    rules: Rules::Pdpd { axis: Some(0) },
                    ..of(
                        "columns",
                        ["?x?", "?"],
                        vec![
                            on_first([n, 2], n),
                            mismatch(&[n, 2], &[m], 0),
                            on_first([m, 3], 1),
                            mismatch(&[1, n], &[n], 0),
                            on_first([m, n], m),
                        ],
                    )
                },
            ]
        }
        RuleSet::Bidirectional => vec![Signature {
            broadcast: true,
            ..of(
                "vectors",
                ["?", "?"],
                vec![
                    fits(&[n], &[n], &[n]),
                    mismatch(&[n], &[m], 0),
                    fits(&[n], &[1], &[n]),
                    fits(&[1], &[m], &[m]),
                    fits(&[1], &[0], &[0]),
                ],
            )
        }],
        RuleSet::Xla => vec![
            of(
                "vectors",
                ["?", "?"],
                vec![
                    fits(&[n], &[n], &[n]),
                    mismatch(&[n], &[m], 0),
                    fits(&[1], &[m], &[m]),
                    fits(&[m], &[1], &[m]),
                ],
            ),
            Signature {
                rules: Rules::Xla { broadcast_dimensions: Some(vec![0]) },
                ..of("columns", ["?x?", "?"], {
                    let named = |a: [usize; 2], b: usize, result: [usize; 2]| {
                        placed(&a, (&[b], vec![0]), (&result, vec![0, 1]))
                    };
                    vec![
                        named([n, 2], n, [n, 2]),
                        mismatch(&[n, 2], &[m], 0),
                        named([1, 3], m, [m, 3]),
                        named([m, 3], 1, [m, 3]),
                    ]
                })
            },
        ],
        RuleSet::Theano => {
            let unequal = |a: &[usize], b: &[usize], axis| refused(a, b, RefusalKind::NotBroadcastable, axis);
            vec![
                Signature {
                    flags: Some([vec![false], vec![false]]),
                    ..of(
                        "vectors",
                        ["?", "?"],
                        vec![
                            fits(&[n], &[n], &[n]),
                            unequal(&[n], &[m], 0),
                            unequal(&[1], &[n], 0),
                            fits(&[m], &[m], &[m]),
                            fits(&[1], &[1], &[1]),
                        ],
                    )
                },
                Signature {
                    flags: Some([vec![false, false], vec![true, false]]),
                    ..of(
                        "rows",
                        ["?x?", "1x?"],
                        vec![
                            fits(&[2, n], &[1, n], &[2, n]),
                            unequal(&[2, n], &[1, m], 1),
                            unequal(&[2, n], &[1, 1], 1),
                            fits(&[3, m], &[1, m], &[3, m]),
                        ],
                    )
                },
            ]
        }
    }
}
