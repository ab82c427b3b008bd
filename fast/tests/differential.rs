//! The engine against the interpreter, on every SIMD level that the machine has: random requests, and all small
//! shapes.

mod support;

use broadcheck_fast::{Fast, Level};
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Expression, Function, Implementation, Operand, Operation, Outcome, Request, Rules, Shape,
};
use support::{Random, agree, broadcast, request};

fn engines() -> Vec<Fast> {
    Level::available().map(|level| Fast::with_level(level).unwrap()).collect()
}

/// How many outcomes were of each sort, so that a generator that draws refusals alone does not pass.
#[derive(Default)]
struct Counts {
    successes: usize,
    elements: usize,
    refusals: usize,
}

fn check(request: &Request, engines: &[Fast], seed: u64, counts: &mut Counts) {
    let expected = Reference::new().run(request);
    match &expected {
        Outcome::Success(success) => {
            counts.successes += 1;
            counts.elements += success.tensor.values().len();
        }
        Outcome::Refusal(_) => counts.refusals += 1,
        _ => {}
    }
    for engine in engines {
        if let Err(complaint) = agree(request, &expected, &engine.run(request)) {
            panic!("{} on seed {seed}: {complaint}\n{request:#?}", engine.name());
        }
    }
}

fn sweep(seeds: std::ops::Range<u64>, scale: usize) -> Counts {
    let engines = engines();
    let mut counts = Counts::default();
    for seed in seeds {
        let mut random = Random(seed);
        let drawn = if random.chance(15) { broadcast(&mut random) } else { request(&mut random, scale) };
        let Some(drawn) = drawn else { continue };
        let sizes = drawn.operands().iter().map(|operand| operand.shape().count().unwrap().max(1));
        if sizes.fold(1usize, usize::saturating_mul) > 1 << 22 {
            continue;
        }
        check(&drawn, &engines, seed, &mut counts);
    }
    counts
}

#[test]
fn random_requests_of_small_shapes() {
    let counts = sweep(0..20_000, 1);
    assert!(counts.successes > 8_000 && counts.refusals > 2_000, "{} {}", counts.successes, counts.refusals);
}

#[test]
fn random_requests_that_need_several_tiles() {
    let counts = sweep(1_000_000..1_006_000, 60);
    assert!(counts.successes > 400 && counts.elements > 400_000, "{} {}", counts.successes, counts.elements);
}

fn dense(name: &str, shape: &[usize], first: f64) -> Operand {
    let count = Shape::from(shape).count().unwrap();
    let values: Vec<f64> = (0..count).map(|at| first + at as f64).collect();
    Operand::dense(name, shape, values).unwrap()
}

/// Every shape of rank up to 3 with lengths from this list.
fn shapes(lengths: &[usize], max_rank: usize) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..max_rank {
        last = last
            .iter()
            .flat_map(|shape| lengths.iter().map(move |&length| [&shape[..], &[length]].concat()))
            .collect();
        all.extend(last.clone());
    }
    all
}

#[test]
fn all_small_pairs_under_all_rules() {
    let engines = engines();
    let mut counts = Counts::default();
    let shapes = shapes(&[0, 1, 2, 3], 2);
    let expression =
        Expression::call(Function::Subtract, [Expression::operand(0), Expression::operand(1)]).unwrap();
    for a in &shapes {
        for b in &shapes {
            let mut rules = vec![Rules::None, Rules::Numpy, Rules::Theano];
            rules.extend((-2..4).map(|axis| Rules::Pdpd { axis: Some(axis) }));
            rules.extend(
                [vec![], vec![0], vec![1], vec![2], vec![0, 1], vec![1, 0], vec![-1]]
                    .map(|dims| Rules::Xla { broadcast_dimensions: Some(dims) }),
            );
            for rules in rules {
                for operation in [
                    Operation::Elementwise { expression: expression.clone() },
                    Operation::Gradient { expression: expression.clone(), wrt: 0 },
                    Operation::Gradient { expression: expression.clone(), wrt: 1 },
                ] {
                    let operands = vec![dense("a", a, 1.0), dense("b", b, 100.0)];
                    let request = Request::new(rules.clone(), operation, operands).unwrap();
                    check(&request, &engines, 0, &mut counts);
                }
            }
            for rules in [Rules::Numpy, Rules::Bidirectional] {
                let operation = Operation::Broadcast { target_shape: Shape::from(&b[..]) };
                let request = Request::new(rules, operation, vec![dense("a", a, 1.0)]).unwrap();
                check(&request, &engines, 0, &mut counts);
            }
        }
    }
    assert!(counts.successes > 2_000 && counts.refusals > 5_000, "{} {}", counts.successes, counts.refusals);
}
