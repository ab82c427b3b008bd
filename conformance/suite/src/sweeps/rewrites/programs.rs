//! Programs that keep up to 40 values alive at a time.

use super::super::arithmetic::{evaluate, number};
use super::rows::buffer;
use super::values::least_length;
use super::{Asked, Turn, call};
use broadcheck_spec::{DType, Expression, Function, Operand, Scalar, Tensor};

/// The numbers of operands of a program: around the numbers of registers of processors.
pub(super) const LIVE: [usize; 8] = [7, 8, 15, 16, 17, 31, 33, 40];

/// The shapes of a program, by name.
const SHAPES: [&str; 4] = ["right", "left", "balanced", "twice"];

/// How the operands of a program are arranged, by name: all vectors, or every second one of length 1, or
/// every third a scalar.
const PLACES: [&str; 3] = ["vectors", "ones", "scalars"];

/// Programs that keep many values alive: `[f, x0, [g, x1, [f, x2, ...]]]` keeps every operand but the last
/// until the end, and a balanced tree the results of its left halves.
pub(super) fn programs(dtype: DType, turn: Turn) -> Vec<Asked> {
    let mut found = Vec::new();
    for (number, live) in LIVE.into_iter().enumerate() {
        for (turned, shape) in SHAPES.into_iter().enumerate() {
            let expression = program(shape, live);
            let is_next = |&(place, _): &(usize, &str)| turn.takes(number + turned + place);
            for (_, places) in PLACES.into_iter().enumerate().filter(is_next) {
                let length = least_length(dtype);
                let count = |place: usize| match places {
                    "vectors" => length,
                    "ones" => {
                        if place % 2 == 1 {
                            1
                        } else {
                            length
                        }
                    }
                    _ => {
                        if place % 3 == 1 {
                            1
                        } else {
                            length
                        }
                    }
                };
                let value = |place: usize, j: usize| element(dtype, place, j.min(count(place) - 1));
                let operand = |place: usize| {
                    let values = (0..count(place)).map(|j| value(place, j)).collect();
                    let shape =
                        if places == "scalars" && count(place) == 1 { vec![] } else { vec![count(place)] };
                    Operand::dense(format!("x{place}"), shape, buffer(dtype, values))
                        .expect("one value per element")
                };
                let result = |j: usize| {
                    let operands: Vec<Scalar> = (0..live).map(|place| value(place, j)).collect();
                    *evaluate(&expression, &operands).last().expect("a root")
                };
                let result = Tensor::new([length], buffer(dtype, (0..length).map(result).collect()));
                found.push(Asked {
                    name: format!("{dtype}-{shape}-{live}-{places}"),
                    expression: expression.clone(),
                    operands: (0..live).map(operand).collect(),
                    result: result.expect("one value per element"),
                });
            }
        }
    }
    found
}

/// A number that depends on the operand and the position; for floats no integer, so that sums are rounded.
fn element(dtype: DType, operand: usize, j: usize) -> Scalar {
    let step = (operand * 37 + j * 11) % 61;
    let value = i32::try_from(step).expect("at most 60") - 30;
    number(dtype, if dtype.is_float() { f64::from(value) * 0.7 } else { f64::from(value) })
}

/// The number of programs of a dtype.
pub(super) fn count_of_programs(turn: Turn) -> usize {
    let numbers = (0..LIVE.len()).flat_map(|live| (0..SHAPES.len()).map(move |shape| live + shape));
    let programs = numbers.flat_map(|number| (0..PLACES.len()).map(move |place| number + place));
    programs.filter(|&number| turn.takes(number)).count()
}

/// An expression over the operands 0 to `live` - 1.
pub(super) fn program(shape: &str, live: usize) -> Expression {
    const FUNCTIONS: [Function; 4] =
        [Function::Subtract, Function::Add, Function::Maximum, Function::Subtract];
    let function = |place: usize| FUNCTIONS[place % FUNCTIONS.len()];
    let x = Expression::operand;
    match shape {
        "right" => {
            (0..live - 1).rev().fold(x(live - 1), |rest, place| call(function(place), [x(place), rest]))
        }
        "left" => (1..live).fold(x(0), |rest, place| call(function(place), [rest, x(place)])),
        "balanced" => {
            let mut level: Vec<Expression> = (0..live).map(x).collect();
            let mut number = 0;
            while level.len() > 1 {
                let pairs = level.chunks(2).map(|pair| match pair {
                    [left, right] => {
                        number += 1;
                        call(function(number), [left.clone(), right.clone()])
                    }
                    _ => pair[0].clone(),
                });
                level = pairs.collect();
            }
            level.swap_remove(0)
        }
        // Every operand is read again at the end, in the opposite order.
        _ => {
            let first = (1..live).fold(x(0), |rest, place| call(function(place), [rest, x(place)]));
            (0..live).rev().fold(first, |rest, place| call(Function::Subtract, [x(place), rest]))
        }
    }
}
