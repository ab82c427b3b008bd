//! Checks the sets of admissible values against brute force: every value that errors within the ULPs can lead
//! to must be in the set, and the set must not extend further.

use super::admissible::{Admissible, admissible};
use super::ulp::{distance, from_key, infinity_key, key};
use broadcheck_reference::apply;
use broadcheck_spec::{DType, Exactness, Expression, Function, Node, Scalar};
use std::collections::BTreeSet;

const FLOATS: [DType; 4] = [DType::F64, DType::F32, DType::F16, DType::Bf16];

/// xorshift64*: the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        (self.next() >> 33) % limit
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[usize::try_from(self.below(choices.len() as u64)).unwrap()]
    }

    fn steps(&mut self, most: u32) -> i64 {
        i64::try_from(self.below(2 * u64::from(most) + 1)).unwrap() - i64::from(most)
    }
}

/// A float from a decimal, rounded to the dtype by the crates that define the types.
fn float(dtype: DType, value: f64) -> Scalar {
    use broadcheck_spec::half::{bf16, f16};
    #[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
    match dtype {
        DType::F64 => Scalar::F64(value),
        DType::F32 => Scalar::F32(value as f32),
        DType::F16 => Scalar::F16(f16::from_f64(value)),
        _ => Scalar::Bf16(bf16::from_f64(value)),
    }
}

/// The values that a function within `ulp` may return for these arguments, by the letter of clause V-4: it
/// walks from neighbour to neighbour and treats the two zeros as one point.
fn admitted(function: Function, arguments: &[Scalar], ulp: u32) -> Vec<Scalar> {
    let value = apply(function, arguments);
    let special = |scalar: &Scalar| scalar.as_f64().is_some_and(|x| x == 0.0 || !x.is_finite());
    let one = function == Function::Power && arguments[0].as_f64() == Some(1.0);
    let exact = function.exactness() == Exactness::Exact || one || arguments.iter().any(special);
    let Some(centre) = key(value).filter(|_| !exact) else { return vec![value] };
    let ulp = ulp + reference_error(function, value.dtype());
    let (infinity, reach) = (infinity_key(value.dtype()), i64::from(ulp) + 1);
    let near = (centre - reach).max(-1 - infinity)..=(centre + reach).min(infinity);
    near.filter(|&other| distance(centre, other) <= u64::from(ulp))
        .map(|key| from_key(value.dtype(), key))
        .collect()
}

/// How far the correctly rounded value may be from the reference's, by the reference's accuracy tests.
fn reference_error(function: Function, dtype: DType) -> u32 {
    match (function, dtype) {
        (Function::Exp | Function::Power, DType::F64) => 1,
        _ => 0,
    }
}

/// An expression with every node perturbed: one answer that a correct implementation may give.
fn perturbed(expression: &Expression, operands: &[Scalar], ulp: u32, random: &mut Random) -> Scalar {
    let mut values: Vec<Scalar> = Vec::new();
    for node in expression.nodes() {
        values.push(match node {
            Node::Operand(place) => operands[*place],
            Node::Call(call) => {
                let arguments: Vec<Scalar> = call.arguments().iter().map(|&place| values[place]).collect();
                let choices = admitted(call.function(), &arguments, ulp);
                // Mistakes show at the ends.
                match random.below(4) {
                    0 => choices[0],
                    1 => choices[choices.len() - 1],
                    _ => random.pick(&choices),
                }
            }
        });
    }
    values[values.len() - 1]
}

const UNARY: [Function; 6] =
    [Function::Negate, Function::Abs, Function::Sqrt, Function::Exp, Function::Log, Function::Tanh];
const BINARY: [Function; 7] = [
    Function::Add,
    Function::Subtract,
    Function::Multiply,
    Function::Divide,
    Function::Maximum,
    Function::Minimum,
    Function::Power,
];
const COMPARISONS: [Function; 6] = [
    Function::Equal,
    Function::NotEqual,
    Function::Less,
    Function::LessEqual,
    Function::Greater,
    Function::GreaterEqual,
];

/// The type of an expression: operands 0 to 3 are floats, 4 and 5 integers, 6 is a boolean.
#[derive(Clone, Copy)]
enum Sort {
    Float,
    Integer,
    Truth,
}

fn expression(sort: Sort, depth: u32, random: &mut Random) -> Expression {
    if depth == 0 {
        return Expression::operand(match sort {
            Sort::Float => random.pick(&[0, 1, 2, 3]),
            Sort::Integer => random.pick(&[4, 5]),
            Sort::Truth => 6,
        });
    }
    let choice = random.below(8);
    let (function, sorts) = match (sort, choice) {
        (_, 0) => (Function::Select, vec![Sort::Truth, sort, sort]),
        (Sort::Float, 1..=3) => (random.pick(&UNARY), vec![Sort::Float]),
        (Sort::Float, _) => (random.pick(&BINARY), vec![Sort::Float; 2]),
        (Sort::Integer, 1..=4) => (Function::Select, vec![Sort::Truth, sort, sort]),
        (Sort::Integer, 5) => (Function::Negate, vec![sort]),
        (Sort::Integer, _) => {
            (random.pick(&[Function::Add, Function::Multiply, Function::Minimum]), vec![sort; 2])
        }
        (Sort::Truth, 1) => (Function::LogicalNot, vec![sort]),
        (Sort::Truth, 2) => {
            (random.pick(&[Function::LogicalAnd, Function::LogicalOr, Function::Equal]), vec![sort; 2])
        }
        (Sort::Truth, 3) => (random.pick(&COMPARISONS), vec![Sort::Integer; 2]),
        (Sort::Truth, _) => (random.pick(&COMPARISONS), vec![Sort::Float; 2]),
    };
    let mut arguments: Vec<Expression> =
        sorts.iter().map(|&sort| expression(sort, depth - 1, random)).collect();
    // Comparing a value with itself is open as soon as it is inexact.
    if matches!((sort, choice), (Sort::Truth, 4 | 5)) {
        arguments[1] = arguments[0].clone();
    }
    Expression::call(function, arguments).unwrap()
}

/// Four floats that are near each other, near images of each other, or at the limits of the type.
fn operands(dtype: DType, random: &mut Random) -> Vec<Scalar> {
    let mut values: Vec<Scalar> = Vec::new();
    let infinity = infinity_key(dtype);
    for _ in 0..4 {
        let plain = float(
            dtype,
            random.pick(&[1.0, -1.0, 2.0, 3.0, -3.0, 0.5, -0.5, 0.75, 9.0, -7.5, 80.0, 0.0, -0.0]),
        );
        let edge = random.pick(&[1, -2, 2, infinity, infinity - 1, -1 - infinity, -infinity, 0, -1]);
        let value = match (random.below(24), values.last()) {
            (0, _) => from_key(dtype, edge),
            (1, _) => float(dtype, f64::NAN),
            (2..6, Some(&last)) => apply(random.pick(&UNARY), &[last]),
            (6..9, Some(&last)) => key(last).map_or(last, |key| from_key(dtype, key + random.steps(3))),
            (9..12, _) => from_key(dtype, key(plain).unwrap() + random.steps(3)),
            _ => plain,
        };
        values.push(value);
    }
    values.extend([random.pick(&[1, -1, 7]), 7].map(Scalar::I32));
    values.push(Scalar::Bool(random.below(2) == 0));
    values
}

#[test]
fn every_correct_answer_is_admitted() {
    let mut random = Random(0x0b0a_dc4e_c500_0001);
    let (mut open, mut truths, mut integers, mut nans) = (0, 0, 0, 0);
    for round in 0..8_000u32 {
        let dtype = FLOATS[round as usize % 4];
        let sort =
            random.pick(&[Sort::Float, Sort::Float, Sort::Float, Sort::Integer, Sort::Truth, Sort::Truth]);
        let depth = random.pick(&[2, 3, 3, 4, 4]);
        let expression = expression(sort, depth, &mut random);
        let operands = operands(dtype, &mut random);
        let ulp = random.pick(&[0, 1, 2, 4, 64]);
        let set = admissible(&expression, &operands, ulp);
        for _ in 0..24 {
            let answer = perturbed(&expression, &operands, ulp, &mut random);
            let names = ["a", "b", "c", "d", "i", "j", "p"];
            assert!(
                set.contains(answer),
                "{} at {operands:?} with {ulp} ULP may be {answer:?}, which is not in {set:?}",
                expression.display(&names)
            );
        }
        open += u32::from(set.is_open());
        match &set {
            Admissible::Points(points) if points.len() > 1 => {
                *(if matches!(points[0], Scalar::Bool(_)) { &mut truths } else { &mut integers }) += 1;
            }
            Admissible::Floats(floats) if floats.nan && !floats.ranges.is_empty() => nans += 1,
            _ => {}
        }
    }
    // The test covers what it should: open conditions, integers that depend on them, NaN or a number.
    assert!(open > 1000 && truths > 50 && integers > 20 && nans > 20, "{open} {truths} {integers} {nans}");
}

/// Everything that a function may return if each argument may be any of these values.
fn images(function: Function, arguments: &[Vec<Scalar>], ulp: u32) -> Vec<Scalar> {
    let mut tuples: Vec<Vec<Scalar>> = vec![Vec::new()];
    for choices in arguments {
        let longer = tuples.iter().flat_map(|tuple| {
            choices.iter().map(|&choice| tuple.iter().copied().chain([choice]).collect::<Vec<Scalar>>())
        });
        tuples = longer.collect();
    }
    let mut found: Vec<Scalar> = Vec::new();
    let mut seen = BTreeSet::new();
    for value in tuples.iter().flat_map(|tuple| admitted(function, tuple, ulp)) {
        if seen.insert(key(value).map_or((true, 0), |key| (false, key))) {
            found.push(value);
        }
    }
    found
}

#[test]
fn the_set_extends_no_further_than_correct_answers() {
    let mut random = Random(0x0b0a_dc4e_c500_0002);
    let operand = Expression::operand;
    let mut compared = 0;
    for round in 0..3_000u32 {
        let dtype = FLOATS[round as usize % 4];
        let (f, g) = (random.pick(&UNARY), random.pick(&UNARY));
        let outer = random.pick(&BINARY);
        let operands = operands(dtype, &mut random);
        let arms = [Expression::call(f, [operand(0)]).unwrap(), Expression::call(g, [operand(1)]).unwrap()];
        let expression = Expression::call(outer, arms).unwrap();
        let arms = [images(f, &[vec![operands[0]]], 2), images(g, &[vec![operands[1]]], 2)];
        let right = images(outer, &arms, 2);
        let Admissible::Floats(set) = admissible(&expression, &operands, 2) else { panic!("floats") };
        // A power of a negative number depends on which exponents are integers: there the set may be larger.
        let negative = |value: &Scalar| key(*value).is_some_and(|key| key < 0);
        if outer == Function::Power && arms[0].iter().any(negative) {
            continue;
        }
        let keys: BTreeSet<i64> = right.iter().filter_map(|&value| key(value)).collect();
        let nan = right.iter().any(|&value| key(value).is_none());
        let text = format!("{} at {:?}", expression.display(&["a", "b"]), &operands[..2]);
        assert_eq!(set.nan, nan, "NaN of {text}");
        let low = set.ranges.first().map(|range| range.low);
        let high = set.ranges.last().map(|range| range.high);
        assert_eq!((low, high), (keys.first().copied(), keys.last().copied()), "{text}");
        compared += u32::from(keys.len() > 1);
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn one_function_admits_exactly_its_ulps() {
    for dtype in FLOATS {
        for function in [Function::Exp, Function::Log, Function::Tanh] {
            let argument = float(dtype, 0.75);
            let centre = key(apply(function, &[argument])).unwrap();
            let expression = Expression::call(function, [Expression::operand(0)]).unwrap();
            for ulp in [0u32, 1, 4] {
                let set = admissible(&expression, &[argument], ulp);
                for steps in -8i64..=8 {
                    let admitted = set.contains(from_key(dtype, centre + steps));
                    assert_eq!(
                        admitted,
                        steps.unsigned_abs() <= u64::from(ulp + reference_error(function, dtype)),
                        "{function} {dtype} {steps}"
                    );
                }
            }
        }
    }
}

/// The set of a single power of two operands.
fn power_set(base: Scalar, exponent: Scalar, ulp: u32) -> Admissible {
    let expression = Expression::call(Function::Power, [0, 1].map(Expression::operand)).unwrap();
    admissible(&expression, &[base, exponent], ulp)
}

#[test]
fn power_is_exact_for_the_arguments_in_the_clause() {
    let f = Scalar::F64;
    // By hand, from IEEE 754-2019, 9.2.1.
    for (base, exponent, value) in [
        (f64::NAN, 0.0, 1.0),
        (f64::NAN, -0.0, 1.0),
        (1.0, f64::NAN, 1.0),
        (1.0, 2.5, 1.0),
        (-1.0, f64::INFINITY, 1.0),
        (-1.0, f64::NEG_INFINITY, 1.0),
        (-2.0, 0.5, f64::NAN),
        (-0.0, 3.0, -0.0),
        (-0.0, -3.0, f64::NEG_INFINITY),
        (-0.0, 2.5, 0.0),
        (0.5, f64::INFINITY, 0.0),
    ] {
        assert_eq!(power_set(f(base), f(exponent), 4), Admissible::exactly(f(value)), "{base} to {exponent}");
    }
    let set = power_set(f(-2.0), f(3.0), 4);
    assert!(set.contains(f(-8.0)) && set.contains(f(-8.0f64.next_up())) && !set.contains(f(8.0)));
}

#[test]
fn a_power_of_minus_zero_to_an_exponent_near_an_odd_number_has_either_sign() {
    // pow(-0, exp(log 3)) is -0 if the exponent comes out as 3, and +0 at its neighbours.
    let exponent = Expression::call(Function::Log, [Expression::operand(1)]).unwrap();
    let exponent = Expression::call(Function::Exp, [exponent]).unwrap();
    let expression = Expression::call(Function::Power, [Expression::operand(0), exponent]).unwrap();
    let set = |base| admissible(&expression, &[Scalar::F64(base), Scalar::F64(3.0)], 4);
    for right in [0.0, -0.0] {
        assert!(set(-0.0).contains(Scalar::F64(right)), "{right}");
    }
    assert!(!set(-0.0).contains(Scalar::F64(f64::NAN)));
    assert!(!set(0.0).contains(Scalar::F64(-0.0)));
    // A negative number has such a power only if the exponent comes out as an integer.
    for right in [f64::NAN, -8.0] {
        assert!(set(-2.0).contains(Scalar::F64(right)), "{right}");
    }
    assert!(!set(-2.0).contains(Scalar::F64(7.9)) && !set(-2.0).contains(Scalar::F64(0.0)));
}
