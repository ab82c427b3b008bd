//! Chains, and the sums of their values.

use super::{floats, larger, same, tables};
use crate::arch::{ChainOp, Link, Reduction, Table, fenced};
use crate::math;

/// The result of one link.
fn linked(op: ChainOp, a: f64, b: f64) -> f64 {
    match op {
        ChainOp::Add => a + b,
        ChainOp::Subtract => a - b,
        ChainOp::SubtractFrom => b - a,
        ChainOp::Multiply => a * b,
        ChainOp::Divide => a / b,
        ChainOp::DivideInto => b / a,
        ChainOp::Maximum => larger(a, b),
        ChainOp::Minimum => -larger(-a, -b),
        ChainOp::PlusNext | ChainOp::MinusNext | ChainOp::TimesNext => a,
        ChainOp::Square => a * a,
        ChainOp::Negate => -a,
        ChainOp::Abs => a.abs(),
        ChainOp::Sqrt => a.sqrt(),
        ChainOp::Exp => math::exp_f64_scalar(a),
        ChainOp::Tanh => math::tanh_f64_scalar(a),
    }
}

const BINARY: [ChainOp; 8] = [
    ChainOp::Add,
    ChainOp::Subtract,
    ChainOp::SubtractFrom,
    ChainOp::Multiply,
    ChainOp::Divide,
    ChainOp::DivideInto,
    ChainOp::Maximum,
    ChainOp::Minimum,
];
/// The operations of a link whose argument is made of two, and what makes it.
const OF_TWO: [ChainOp; 6] = [
    ChainOp::Add,
    ChainOp::Subtract,
    ChainOp::SubtractFrom,
    ChainOp::Multiply,
    ChainOp::Maximum,
    ChainOp::Minimum,
];
const MAKING: [ChainOp; 3] = [ChainOp::PlusNext, ChainOp::MinusNext, ChainOp::TimesNext];
const UNARY: [ChainOp; 6] =
    [ChainOp::Exp, ChainOp::Negate, ChainOp::Sqrt, ChainOp::Abs, ChainOp::Square, ChainOp::Tanh];

/// Compares a chain of five links over some rows with plain arithmetic. Each bit of `pattern` makes one
/// argument a scalar.
fn check_chain(
    table: &Table,
    all: &[f64],
    pattern: usize,
    op: impl Fn(usize) -> ChainOp,
    rows: usize,
    width: usize,
) {
    let chains = table.f64.chains();
    let argument = |k: usize| {
        let scalar = pattern >> k & 1 == 1;
        let step = if pattern % 5 == k { 0 } else { 3 + k };
        let last = if scalar { 1 } else { width };
        let values = &all[k * 20..k * 20 + (rows - 1) * step + last];
        if op(k).is_unary() && k > 0 {
            Link { op: op(k), values: &[], step: 0, scalar: true }
        } else {
            Link { op: op(k), values, step, scalar }
        }
    };
    let links: Vec<Link<'_, f64>> = (1..6).map(argument).collect();
    let read = |link: &Link<'_, f64>, row: usize, at: usize| {
        let place = row * link.step + if link.scalar { 0 } else { at };
        link.values.get(place).copied().unwrap_or(0.0)
    };
    let want = |row: usize, at: usize| {
        let first = read(&argument(0), row, at);
        let (mut a, mut made): (f64, Option<&Link<'_, f64>>) = (first, None);
        for link in &links {
            let c = read(link, row, at);
            if MAKING.contains(&link.op) {
                made = Some(link);
                continue;
            }
            let argument = match made.take().map(|made| (made.op, read(made, row, at))) {
                Some((ChainOp::PlusNext, b)) => b + c,
                Some((ChainOp::MinusNext, b)) => b - c,
                Some((_, b)) => b * c,
                None => c,
            };
            a = linked(link.op, a, argument);
        }
        a
    };
    for non_temporal in [false, true] {
        // One element more, so that the output has every alignment.
        let count = rows * width;
        let mut out = vec![7.0; count + 1];
        let start = pattern % 2;
        let (links, place) = (&mut links.clone(), &mut out[start..start + count]);
        fenced(non_temporal, |stores| match stores {
            Some(stores) => chains.run_non_temporal(stores, &argument(0), links, rows, place),
            None => chains.run(&argument(0), (links, pattern.is_multiple_of(2)), rows, place),
        });
        for at in 0..count {
            let (row, place) = (at / width, at % width);
            let (found, want) = (out[start + at], want(row, place));
            assert!(same(found, want), "{} {pattern} at {place} of {width} in row {row}", table.level);
        }
        assert_eq!(out[if start == 0 { count } else { 0 }], 7.0, "wrote outside the output");
    }
}

#[test]
fn chains_fold_from_the_left() {
    let all = floats();
    for table in tables() {
        for width in [1, 2, 8, 13, 16, 23, 31, 32, 33, 64, 100, 200, 300] {
            for pattern in 0..64usize {
                let op = |k: usize| if pattern % 3 == 0 { ChainOp::Add } else { BINARY[(k + pattern) % 8] };
                // Chains compute four, eight or sixteen short rows at once, the last with those before.
                for rows in [1, 3, 4, 9, 16, 21] {
                    check_chain(table, &all, pattern, op, rows, width);
                }
            }
        }
    }
}

/// Most limits that are numbers have faster loops, in which zeros and NaNs must be as in the others.
#[test]
fn limits_of_every_kind() {
    let mut all = floats();
    all.truncate(100);
    all.extend([0.0, -0.0, f64::NAN, -1.5, 2.5]);
    let all = all.repeat(3);
    for table in tables() {
        for limit in [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.5, f64::MIN_POSITIVE, 2.5] {
            for op in [ChainOp::Maximum, ChainOp::Minimum] {
                let limits = [limit];
                let first = Link { op: ChainOp::Add, values: &all, step: 15, scalar: false };
                let link = Link { op, values: &limits, step: 0, scalar: true };
                // As one row, and as short rows, of which several are computed together.
                for rows in [1, all.len() / 15] {
                    let mut out = vec![0.0; all.len()];
                    table.f64.chains().run(&first, (&mut [link], false), rows, &mut out);
                    for (&x, found) in all.iter().zip(out) {
                        let want = linked(op, x, limit);
                        assert!(same(found, want), "{} {op:?} {x} {limit}: {found}", table.level);
                    }
                }
            }
        }
    }
}

#[test]
fn chains_apply_unary_functions() {
    // Half of the numbers are near 0, because exp of the others is infinite or 0.
    let mut all = floats();
    all.iter_mut().step_by(2).enumerate().for_each(|(at, value)| *value = 0.01 * at as f64 - 2.0);
    for table in tables() {
        for width in [1, 2, 7, 8, 31, 64, 100, 300] {
            for pattern in 0..64usize {
                let op = |k: usize| {
                    if (k + pattern).is_multiple_of(2) {
                        UNARY[(k / 2 + pattern / 2) % 6]
                    } else {
                        BINARY[(k + pattern / 4) % 8]
                    }
                };
                for rows in [1, 4, 9, 18] {
                    check_chain(table, &all, pattern, op, rows, width);
                }
                // Several short rows are computed at once, unless a link is a function.
                let simple = |k: usize| if op(k).is_function() { ChainOp::Abs } else { op(k) };
                for rows in [4, 9, 18] {
                    check_chain(table, &all, pattern, simple, rows, width);
                }
            }
        }
    }
}

/// Links 2 and 4 take the arguments of two links. The others are binary, or unary where `functions` says so.
#[test]
fn chains_make_arguments_of_two() {
    let all = floats();
    for table in tables() {
        for width in [1, 2, 8, 19, 31, 33, 64, 100, 300] {
            for pattern in 0..64usize {
                for functions in [false, true] {
                    let op = |k: usize| match k {
                        1 | 3 => MAKING[(k / 2 + pattern) % 3],
                        2 | 4 => OF_TWO[(k / 2 + pattern / 2) % 6],
                        _ if functions => UNARY[pattern % 4],
                        _ => BINARY[pattern % 8],
                    };
                    for rows in [1, 4, 9, 18] {
                        check_chain(table, &all, pattern, op, rows, width);
                    }
                }
            }
        }
    }
}

/// x\*x+y\*y where both factors of a product begin at one place. They may be the same, and are not read twice
/// then, or a row and its first element, or other rows.
#[test]
fn factors_that_begin_at_one_place() {
    macro_rules! check {
        ($type:ident, $add:expr, $multiply:expr) => {
            let all: Vec<$type> = (0..6000u16).map(|at| <$type>::from(at % 239)).collect();
            for (width, rows) in [(1, 1), (7, 18), (16, 9), (100, 5), (300, 1), (300, 3), (1100, 2)] {
                for pattern in 0..4096usize {
                    // Most patterns are left out, of long rows the most. All pairs of factors remain.
                    if pattern % (if width > 16 { 37 } else { 7 }) != 0 {
                        continue;
                    }
                    let steps = [0, width, width + 3, width];
                    // Of each factor, whether it has one value in each row, and the distance of its rows.
                    let factor = |k: usize| {
                        let of_it = pattern >> (3 * k) & 7;
                        (of_it == 7 || of_it == 5, steps[of_it & 3])
                    };
                    let link = |op, k: usize| {
                        let (scalar, step) = factor(k);
                        Link { op, values: &all[k / 2..], step, scalar }
                    };
                    let value = |k: usize, row: usize, at: usize| {
                        let (scalar, step) = factor(k);
                        all[k / 2 + row * step + if scalar { 0 } else { at }]
                    };
                    let links =
                        [link(ChainOp::Multiply, 1), link(ChainOp::TimesNext, 2), link(ChainOp::Add, 3)];
                    for table in tables() {
                        let mut out = vec![<$type>::default(); rows * width];
                        let first = link(ChainOp::Add, 0);
                        table.$type.chains().run(&first, (&mut links.clone(), false), rows, &mut out);
                        for (place, out) in out.iter().enumerate() {
                            let [a, b, c, d] = [0, 1, 2, 3].map(|k| value(k, place / width, place % width));
                            let want = $add($multiply(a, b), $multiply(c, d));
                            assert!(*out == want, "{} {pattern} {place} of {rows}x{width}", table.level);
                        }
                    }
                }
            }
        };
    }
    check!(f64, |a, b| a + b, |a, b| a * b);
    check!(f32, |a, b| a + b, |a, b| a * b);
    check!(u16, u16::wrapping_add, u16::wrapping_mul);
}

macro_rules! sums_have_the_bits_of_their_values {
    ($name:ident, $type:ident, $kernels:ident) => {
        #[test]
        fn $name() {
            let values: Vec<$type> = (0..6300u16).map(|at| <$type>::from(at % 89) / 41.0 - 1.0).collect();
            for table in tables() {
                let kernels = &table.$kernels;
                for (scalar, unary, last) in [
                    (true, ChainOp::Exp, ChainOp::Multiply),
                    (false, ChainOp::Negate, ChainOp::Exp),
                    (true, ChainOp::Tanh, ChainOp::Multiply),
                    (false, ChainOp::Square, ChainOp::Tanh),
                    (false, ChainOp::Negate, ChainOp::Subtract),
                    (true, ChainOp::Sqrt, ChainOp::Abs),
                ] {
                    let chain_sum = kernels.chain_sum(unary.is_function() || last.is_function());
                    // What is left of a row is a vector, half of a group, most of one, or all of these.
                    for (count, step) in
                        [1, 7, 8, 9, 17, 41, 63, 64, 65, 100, 104, 127, 128, 129, 172, 300, 644, 697]
                            .iter()
                            .flat_map(|&n| [(n, 0), (n, n), (n, n + 2)])
                    {
                        // Two bands of rows, and one row.
                        let (rows, fetches) = (9, count % 2 == 0);
                        let link = |op, scalar| {
                            let length = (rows - 1) * step + if scalar { 1 } else { count };
                            Link { op, values: &values[3..3 + length], step, scalar }
                        };
                        let first = link(ChainOp::Add, scalar);
                        let links = [link(ChainOp::Multiply, false), link(unary, true), link(last, !scalar)];
                        let mut stored = vec![0.0; rows * count];
                        table.$type.chains().run(&first, (&mut links.clone(), fetches), rows, &mut stored);
                        let mut found: Vec<$type> = values[..rows].to_vec();
                        let mut want = found.clone();
                        let across = Reduction::Across { width: count };
                        chain_sum.run(&first, (&mut links.clone(), fetches), across, &mut found);
                        kernels.sum_rows.run(&mut want, &stored);
                        for (found, want) in found.iter().zip(&want) {
                            assert_eq!(found.to_bits(), want.to_bits(), "{} of {count}", table.level);
                        }
                        // Row by row, to one row.
                        for rows in [0, 1, 2, 3, 4, 5, 8, 9] {
                            let down = Reduction::Down { rows };
                            let mut sums = values[..count].to_vec();
                            chain_sum.run(&first, (&mut links.clone(), fetches), down, &mut sums);
                            for (at, found) in sums.iter().enumerate() {
                                let column = stored[at..].iter().step_by(count).take(rows);
                                let want = column.fold(values[at], |sum, value| sum + value);
                                assert_eq!(
                                    found.to_bits(),
                                    want.to_bits(),
                                    "{}, {at} of {count}, {rows} rows",
                                    table.level
                                );
                            }
                        }
                    }
                }
            }
        }
    };
}
sums_have_the_bits_of_their_values! { the_sum_of_a_chain_of_f64_has_the_bits_of_the_sum_of_its_values, f64, float_f64 }
sums_have_the_bits_of_their_values! { the_sum_of_a_chain_of_f32_has_the_bits_of_the_sum_of_its_values, f32, float_f32 }

/// exp of a sum, difference or product, which is a loop of its own, is exp of the values of that. Some are so
/// large or small that exp has another way for them.
macro_rules! exp_of_two {
    ($name:ident, $type:ty, $kernels:ident) => {
        #[test]
        fn $name() {
            let all: Vec<$type> =
                (0..2000u16).map(|at| <$type>::from(at % 97) / 9.0 - 5.0).map(|x| x * x * x).collect();
            type Function = fn($type, $type) -> $type;
            let functions: [(ChainOp, Function); 4] = [
                (ChainOp::Add, |a, b| a + b),
                (ChainOp::Subtract, |a, b| a - b),
                (ChainOp::SubtractFrom, |a, b| b - a),
                (ChainOp::Multiply, |a, b| a * b),
            ];
            let widths = [1, 8, 16, 31, 32, 33, 63, 64, 65, 72, 100, 127, 129, 300];
            for (table, width) in tables().into_iter().flat_map(|table| widths.map(|width| (table, width))) {
                let chain = table.$kernels.chains();
                let (rows, none) = (3, Link { op: ChainOp::Exp, values: &[][..], step: 0, scalar: true });
                for (op, f) in functions {
                    for (scalar, start) in [[false; 2], [true, false], [false, true], [true; 2]]
                        .into_iter()
                        .flat_map(|scalar| [(scalar, 0), (scalar, 1)])
                    {
                        let link = |which: usize| {
                            let values = &all[which * 700..]
                                [..2 * (width + 2) + if scalar[which] { 1 } else { width }];
                            Link { op, values, step: width + 2, scalar: scalar[which] }
                        };
                        let read = |which: usize, row: usize, at: usize| {
                            let Link { values, step, .. } = link(which);
                            values[row * step + if scalar[which] { 0 } else { at }]
                        };
                        let values: Vec<$type> = (0..rows * width)
                            .map(|at| (at / width, at % width))
                            .map(|(row, at)| f(read(0, row, at), read(1, row, at)))
                            .collect();
                        let first = Link { op: ChainOp::Add, values: &values, step: width, scalar: false };
                        let mut want = vec![0.0; rows * width];
                        chain.run(&first, (&mut [none], false), rows, &mut want);
                        let mut found = vec![-3.0; start + rows * width + 1];
                        let place = &mut found[start..start + rows * width];
                        chain.run(&link(0), (&mut [link(1), none], start == 0), rows, place);
                        assert_eq!(
                            found[start..start + rows * width],
                            want,
                            "{} {op:?} {width}",
                            table.level
                        );
                        assert!(
                            found[..start].iter().all(|&value| value == -3.0) && found.ends_with(&[-3.0]),
                            "wrote outside the output"
                        );
                    }
                }
            }
        }
    };
}
exp_of_two! { exp_of_two_f64_is_exp_of_their_value, f64, f64 }
exp_of_two! { exp_of_two_f32_is_exp_of_their_value, f32, f32 }
