//! Calls with a repeated operand, of every number of elements around a group of vectors, against plain
//! arithmetic.

use super::tables;
use crate::arch::{Paired, Pairing, Repeat, Table, fenced};

type Function = fn(i16, i16) -> i16;

/// The value of `b` that each repetition takes for an element.
fn value_for(repeat: Repeat, at: usize) -> usize {
    match repeat {
        Repeat::Each(times) => at / times,
        Repeat::All(period) => at % period,
    }
}

/// `b` has the values that are needed and no more. The output starts at several places in a cache line, and
/// nothing around it changes.
fn compare<T: Copy + PartialEq + std::fmt::Debug>(
    paired: Paired<T>,
    table: &Table,
    number: impl Fn(i16) -> T,
    (pairing, f): (Pairing, Function),
) {
    let counts = (0..=40).chain([47, 48, 63, 64, 65, 96, 97, 127, 128, 129, 143, 144, 145, 191, 193, 200]);
    for (count, start) in counts.flat_map(|count| [0, 1, 3, 7].map(|start| (count, start))) {
        for repeat in (1..=5).flat_map(|times| [Repeat::Each(times), Repeat::All(times)]) {
            let numbers = |count: usize, factor: i16| -> Vec<i16> {
                (0..count).map(|at| i16::try_from(at).unwrap() * factor % 61 + 2).collect()
            };
            let (whole, part) = (numbers(count, 7), numbers(repeat.values(count), 13));
            let want: Vec<T> =
                (0..count).map(|at| number(f(whole[at], part[value_for(repeat, at)]))).collect();
            let a: Vec<T> = whole.into_iter().map(&number).collect();
            let b: Vec<T> = part.into_iter().map(&number).collect();
            for non_temporal in [false, true] {
                let mut out = vec![number(-7); start + count + 9];
                fenced(non_temporal, |stores| {
                    paired.run(pairing, &a, &b, repeat, stores, &mut out[start..start + count]);
                });
                let level = table.level;
                assert_eq!(out[start..start + count], want, "{level} {pairing:?} {repeat:?} {start}");
                let (before, after) = (&out[..start], &out[start + count..]);
                assert!(
                    before.iter().chain(after).all(|value| *value == number(-7)),
                    "{level} {repeat:?} writes around {count} elements"
                );
            }
        }
    }
}

#[test]
fn repeated_operands_of_any_length() {
    let functions: [(Pairing, Function); 4] = [
        (Pairing::Add, |a, b| a + b),
        (Pairing::Subtract, |a, b| a - b),
        (Pairing::SubtractFrom, |a, b| b - a),
        (Pairing::Multiply, |a, b| a * b),
    ];
    for table in tables() {
        for function in functions {
            compare(table.float_f64.paired, table, f64::from, function);
            compare(table.float_f32.paired, table, f32::from, function);
        }
    }
}
