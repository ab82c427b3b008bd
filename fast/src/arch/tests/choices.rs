//! Choices among floats: the larger and the smaller of two, and one of two by a comparison of two others.
//! Conditions of two comparisons.

use super::{floats, larger, same, tables};
use crate::arch::{
    Argument, Arguments, Branch, CallKernel, ChainOp, Comparison, Condition, Link, Order, Reduction, Rule,
    fenced,
};
use broadcheck_spec::Function;

/// Lengths around those of a vector and of a group of vectors, on every level.
const COUNTS: [usize; 20] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 130];

/// Every two of these numbers meet.
const NUMBERS: [f64; 9] =
    [0.0, -0.0, 1.0, -1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, -5e-324];

#[allow(clippy::cast_possible_truncation, reason = "the numbers of f64 beyond f32 are tested as 0")]
#[test]
fn the_larger_and_the_smaller_of_every_two_numbers() {
    let pairs = || NUMBERS.iter().flat_map(|&a| NUMBERS.iter().map(move |&b| (a, b)));
    let (a, b): (Vec<f64>, Vec<f64>) = pairs().unzip();
    let narrow = |values: &[f64]| -> Vec<f32> { values.iter().map(|&value| value as f32).collect() };
    let (c, d) = (narrow(&a), narrow(&b));
    for table in tables() {
        for (function, sign) in [(Function::Maximum, 1.0), (Function::Minimum, -1.0)] {
            let want = |a: f64, b: f64| sign * larger(sign * a, sign * b);
            let Some(CallKernel::Binary(kernel)) = table.f64.call(function, [false; 3]) else {
                panic!("{}: no kernel of f64 for {function}", table.level);
            };
            let mut out = vec![0.0; a.len()];
            kernel.run(&a, &b, &mut out);
            for (at, &found) in out.iter().enumerate() {
                assert!(same(found, want(a[at], b[at])), "{} {function} {} {}", table.level, a[at], b[at]);
            }
            let Some(CallKernel::Binary(kernel)) = table.f32.call(function, [false; 3]) else {
                panic!("{}: no kernel of f32 for {function}", table.level);
            };
            let mut out = vec![0.0; c.len()];
            kernel.run(&c, &d, &mut out);
            for (at, &found) in out.iter().enumerate() {
                let want = want(f64::from(c[at]), f64::from(d[at]));
                assert!(same(f64::from(found), want), "{} {function} {} {}", table.level, c[at], d[at]);
            }
        }
    }
}

#[test]
fn nans_are_kept_and_of_two_the_first() {
    // Of f64 and of f32: quiet ones, and the last one signals.
    let nans =
        [0x7ff8_0000_0000_0001u64, 0x7ff8_0000_0000_0002, 0xfff8_0000_0000_0003, 0x7ff0_0000_0000_0004];
    let singles = [0x7fc0_0001u32, 0x7fc0_0002, 0xffc0_0003, 0x7f80_0004];
    macro_rules! check {
        ($type:ident, $table:expr, $nans:expr) => {
            for function in [Function::Maximum, Function::Minimum] {
                let Some(CallKernel::Binary(kernel)) = $table.$type.call(function, [false; 3]) else {
                    panic!("{}: no kernel for {function}", $table.level);
                };
                let [a, b, c, d] = $nans.map($type::from_bits);
                for (x, y, want) in
                    [(a, b, a), (c, 1.0, c), (-0.0, c, c), (d, 2.0, d), (b, d, b), (0.5, d, d)]
                {
                    let mut out = [0.0; 40];
                    kernel.run(&[x; 40], &[y; 40], &mut out);
                    let is_wanted = |found: &$type| found.to_bits() == want.to_bits();
                    assert!(out.iter().all(is_wanted), "{} {function} {x:?} {y:?}", $table.level);
                }
            }
        };
    }
    for table in tables() {
        check!(f64, table, nans);
        check!(f32, table, singles);
    }
}

/// Clips between every two of the numbers, in both orders, in rows with different bounds. The loop for a row
/// depends on its bounds.
#[test]
fn clips_between_every_two_numbers() {
    let all: Vec<f64> = (0..600).map(|at: usize| NUMBERS[(at * at + at / 9) % NUMBERS.len()] * 3.0).collect();
    let rows = NUMBERS.len() * NUMBERS.len();
    let bounds = |which: usize| -> Vec<f64> {
        (0..rows)
            .map(|at| NUMBERS[if which == 0 { at / NUMBERS.len() } else { at % NUMBERS.len() }])
            .collect()
    };
    let (low, high) = (bounds(0), bounds(1));
    for table in tables() {
        for (minimum_first, width) in
            [false, true].into_iter().flat_map(|first| [8, 17, 64, 75].map(|w| (first, w)))
        {
            let ops = [ChainOp::Maximum, ChainOp::Minimum];
            let [a, b] = if minimum_first { [1, 0] } else { [0, 1] };
            let link = |which: usize| Link {
                op: ops[which],
                values: if which == 0 { &low[..] } else { &high[..] },
                step: 1,
                scalar: true,
            };
            let first =
                Link { op: ChainOp::Add, values: &all[..(rows - 1) * 5 + width], step: 5, scalar: false };
            let mut out = vec![7.0; rows * width];
            let mut links = [link(a), link(b)];
            table.f64.chains().run(&first, (&mut links, false), rows, &mut out);
            for (at, &found) in out.iter().enumerate() {
                let (row, x) = (at / width, all[at / width * 5 + at % width]);
                let (maximum, minimum) = (|x, y| larger(x, y), |x: f64, y: f64| -larger(-x, -y));
                let want = if minimum_first {
                    maximum(minimum(x, high[row]), low[row])
                } else {
                    minimum(maximum(x, low[row]), high[row])
                };
                assert!(same(found, want), "{} {x} {} {}: {found}", table.level, low[row], high[row]);
            }
        }
    }
}

/// Which arguments a choice reads: each its own, or x or the limit again.
const READS: [[usize; 5]; 9] = [
    [0, 1, 2, 3, 4],
    [0, 1, 0, 1, 4],
    [0, 1, 1, 0, 4],
    [0, 1, 0, 0, 4],
    [0, 1, 1, 1, 4],
    [0, 1, 0, 3, 4],
    [0, 1, 1, 3, 4],
    [0, 1, 2, 0, 4],
    [0, 1, 2, 1, 4],
];

#[test]
fn one_of_two_by_a_comparison() {
    let all: Vec<f64> = floats().into_iter().cycle().take(600).collect();
    let wanted = |rule: Rule, [x, limit, chosen, other, factor]: [f64; 5]| {
        let (comparison, chosen, other) = match rule {
            Rule::By(comparison) => (comparison, chosen, other),
            Rule::Scaled { or_equal, branch } => {
                let comparison = if or_equal { Comparison::GreaterEqual } else { Comparison::Greater };
                match branch {
                    Branch::Chosen => (comparison, chosen * factor, other),
                    Branch::Other => (comparison, chosen, other * factor),
                }
            }
        };
        let takes = match comparison {
            Comparison::Greater => x > limit,
            Comparison::GreaterEqual => x >= limit,
            Comparison::Equal => x == limit,
            Comparison::Wins => {
                let share = if x == limit { chosen * other } else { f64::NAN };
                return if x > limit {
                    chosen
                } else if x < limit {
                    0.0
                } else {
                    share
                };
            }
        };
        if takes { chosen } else { other }
    };
    let comparisons = [Comparison::Greater, Comparison::GreaterEqual, Comparison::Equal, Comparison::Wins];
    let scaled = [false, true]
        .into_iter()
        .flat_map(|or_equal| [Branch::Chosen, Branch::Other].map(|branch| Rule::Scaled { or_equal, branch }));
    let rules: Vec<Rule> = comparisons.into_iter().map(Rule::By).chain(scaled).collect();
    for table in tables() {
        for (&rule, reads) in rules.iter().flat_map(|rule| READS.map(|reads| (rule, reads))) {
            let patterns = if matches!(rule, Rule::By(_)) { 16usize } else { 32 };
            // Of the arguments that are read again, a few lengths are enough.
            let counts =
                COUNTS.into_iter().filter(|count| reads == READS[0] || [1, 33, 65, 130].contains(count));
            for (count, pattern) in counts.flat_map(|n| (0..patterns).map(move |k| (n, k))) {
                let ones: [bool; 5] = reads.map(|k| pattern >> k & 1 == 1);
                // What is read again is one value if the first one is.
                if (2..4).any(|k| reads[k] != k && pattern >> k & 1 == 1) {
                    continue;
                }
                for (rows, step) in [(1, 0), (3, 0), (3, count), (2, count + 3)] {
                    // The limit is often the number that it is compared with.
                    let arguments: [Argument<'_, f64>; 5] = std::array::from_fn(|k| {
                        let start = if reads == READS[0] { [0, 0, 41, 83, 17][k] } else { reads[k] * 7 };
                        let width = if ones[k] { 1 } else { count };
                        let values = &all[start..start + (rows - 1) * step + width];
                        Argument { values, step, scalar: ones[k] }
                    });
                    let (whole, start) = (rows * count, pattern % 3);
                    let mut out = vec![7.0; start + whole + 1];
                    // Non-temporal stores begin where a vector is aligned.
                    fenced((pattern + count) % 2 == 0, |stores| {
                        let out = &mut out[start..start + whole];
                        table.float_f64.choose.run(rule, &arguments, rows, stores, out);
                    });
                    let read = |k: usize, at: usize| {
                        arguments[k].values[at / count * step + if ones[k] { 0 } else { at % count }]
                    };
                    for (at, &found) in out[start..start + whole].iter().enumerate() {
                        let want = wanted(rule, [0, 1, 2, 3, 4].map(|k| read(k, at)));
                        assert!(
                            same(found, want),
                            "{} {rule:?} {pattern} {reads:?} {at} of {rows} times {count}",
                            table.level
                        );
                    }
                    let outside = out[..start].iter().chain(&out[start + whole..]);
                    assert!(outside.eq(&vec![7.0; start + 1]), "wrote outside the output");
                }
            }
        }
    }
}

/// Choices that are added up have the bits of choices that are stored and then added up, in every kind of
/// row: dense rows, the same row again, rows with gaps, and one value for each row.
#[test]
fn sums_of_choices_have_the_bits_of_the_sums_of_their_values() {
    let all: Vec<f64> = floats().into_iter().cycle().take(1500).collect();
    let conditions: Vec<bool> = (0..all.len()).map(|at| at * at % 7 < 3).collect();
    let comparisons = [Comparison::Greater, Comparison::GreaterEqual, Comparison::Equal, Comparison::Wins];
    let (rows, select) = (6, Function::Select);
    for table in tables() {
        let kernels = &table.float_f64;
        let Some(CallKernel::Select(stored_select)) = table.f64.call(select, [false; 3]) else {
            panic!("{}: no kernel for {select}", table.level);
        };
        for (width, pattern) in COUNTS.into_iter().chain([200]).flat_map(|n| (0..16).map(move |k| (n, k))) {
            for step in [0, width, width + 3] {
                let fetches = pattern % 3 == 0;
                let scalar: [bool; 4] = std::array::from_fn(|k| pattern >> k & 1 == 1);
                // The limit is often the number that it is compared with.
                let start = |k: usize| [0, 0, 41, 83][k];
                let arguments: [Argument<'_, f64>; 4] = std::array::from_fn(|k| {
                    let length = (rows - 1) * step + if scalar[k] { 1 } else { width };
                    Argument { values: &all[start(k)..start(k) + length], step, scalar: scalar[k] }
                });
                let length = (rows - 1) * step + width;
                let condition = Argument { values: &conditions[5..5 + length], step, scalar: false };
                // Every argument in full.
                let full: [Vec<f64>; 4] = std::array::from_fn(|k| {
                    let value =
                        |row: usize, at: usize| all[start(k) + row * step + if scalar[k] { 0 } else { at }];
                    (0..rows * width).map(|at| value(at / width, at % width)).collect()
                });
                let mut stored = vec![0.0; rows * width];
                let check = |stored: &[f64], sum: &dyn Fn(Reduction, &mut [f64])| {
                    let mut found = [0.25, 0.5, 0.75, 1.0, 1.25, 1.5];
                    let mut want = found;
                    sum(Reduction::Across { width }, &mut found);
                    kernels.sum_rows.run(&mut want, stored);
                    for (found, want) in found.into_iter().zip(want) {
                        assert!(same(found, want), "{} {pattern} {width} {step}", table.level);
                    }
                    let mut found: Vec<f64> = all[7..7 + width].to_vec();
                    sum(Reduction::Down { rows }, &mut found);
                    for (at, found) in found.into_iter().enumerate() {
                        let column = stored[at..].iter().step_by(width);
                        let want = column.fold(all[7 + at], |sum, value| sum + value);
                        assert!(same(found, want), "{} {pattern} {at} of {width} {step}", table.level);
                    }
                };
                for comparison in comparisons {
                    let given: [Argument<'_, f64>; 5] =
                        [0, 1, 2, 3, 0].map(|k| Argument { values: &full[k][..], step: 0, scalar: false });
                    kernels.choose.run(Rule::By(comparison), &given, 1, None, &mut stored);
                    check(&stored, &|reduction, sums| {
                        kernels.choice_sum.run(comparison, (arguments, fetches), reduction, sums);
                    });
                }
                let taken: Vec<bool> =
                    (0..rows * width).map(|at| conditions[5 + at / width * step + at % width]).collect();
                stored_select.run(&taken, &full[2], &full[3], &mut stored);
                check(&stored, &|reduction, sums| {
                    kernels.select_sum.run(
                        condition,
                        ([arguments[2], arguments[3]], fetches),
                        reduction,
                        sums,
                    );
                });
            }
        }
    }
}

const ORDERS: [Order; 4] = [Order::Less, Order::LessEqual, Order::Greater, Order::GreaterEqual];

fn is_ordered(order: Order, a: f64, b: f64) -> bool {
    match order {
        Order::Less => a < b,
        Order::LessEqual => a <= b,
        Order::Greater => a > b,
        Order::GreaterEqual => a >= b,
    }
}

/// All conditions that have kernels, over numbers of which many are equal, infinite or NaN.
#[test]
fn two_comparisons_and_what_joins_them() {
    let all: Vec<f64> = (0..9 * 140).map(|at| NUMBERS[at * at % 9 + at / 9 % 2 * (at % 3) / 2]).collect();
    let made = [None, Some(ChainOp::Add), Some(ChainOp::Subtract), Some(ChainOp::Multiply)];
    let mut found = 0;
    for (table, or) in tables().into_iter().flat_map(|table| [(table, false), (table, true)]) {
        for (first, second) in ORDERS.iter().flat_map(|&first| ORDERS.map(|second| (first, second))) {
            for made in made {
                let condition = Condition { or, first, made, second };
                let Some(CallKernel::Condition(kernel)) = table.float_f64.condition(condition) else {
                    continue;
                };
                found += 1;
                for count in COUNTS {
                    let arguments: [&[f64]; 5] = [0, 1, 2, 3, 4].map(|k| &all[k * 211..k * 211 + count]);
                    let arguments = &arguments[..if made.is_some() { 5 } else { 4 }];
                    let mut out = vec![true; count + 1];
                    kernel.run(Arguments(arguments), &mut out[..count]);
                    for (at, &found) in out[..count].iter().enumerate() {
                        let value = |k: usize| arguments[k][at];
                        let (x, limit) = match made {
                            None => (value(2), value(3)),
                            Some(ChainOp::Add) => (value(2) + value(3), value(4)),
                            Some(ChainOp::Subtract) => (value(2) - value(3), value(4)),
                            Some(_) => (value(2) * value(3), value(4)),
                        };
                        let both = [is_ordered(first, value(0), value(1)), is_ordered(second, x, limit)];
                        let want = if or { both[0] | both[1] } else { both[0] & both[1] };
                        assert_eq!(found, want, "{} {condition:?} at {at} of {count}", table.level);
                    }
                }
            }
        }
    }
    // Two orders by two without a value of two, and by four for each of three operations.
    assert_eq!(found, tables().len() * 2 * (2 * 2 + 2 * 4 * 3));
}
