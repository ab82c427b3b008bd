//! Compares the kernels of every level that the machine has with plain arithmetic, bit by bit. Levels that it
//! lacks are printed, not skipped silently.

use broadcheck_fast::arch::{
    Across, CallKernel, ChainOp, Expand, GridOperand, LANES, Link, Pairing, Repeat, Table, fence,
    round_to_bf16, round_to_f16, table,
};
use broadcheck_fast::{Level, math};
use broadcheck_spec::Function;
use broadcheck_spec::half::{bf16, f16};
use std::panic::{AssertUnwindSafe, catch_unwind};

fn tables() -> Vec<&'static Table> {
    for level in Level::ALL.into_iter().filter(|level| !level.is_available()) {
        println!("skipped: this machine has no {level}");
    }
    Level::available().map(table).collect()
}

/// Special and random numbers.
fn floats() -> Vec<f64> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        5e-324,
        -5e-324,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let mut state = 1u64;
    let drawn = (0..600).map(|at| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if at % 3 == 0 { special[at % special.len()] } else { f64::from_bits(state) }
    });
    drawn.collect()
}

fn same(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
}

#[test]
fn a_table_has_the_requested_level() {
    let levels: Vec<Level> = tables().iter().map(|table| table.level).collect();
    assert_eq!(levels, Level::available().collect::<Vec<_>>());
}

#[test]
fn binary_functions_match_the_standard() {
    let a = floats();
    let mut b = a.clone();
    b.rotate_left(7);
    let maximum = |a: f64, b: f64| match (a.is_nan() || b.is_nan(), a == b) {
        (true, _) => f64::NAN,
        (_, true) => {
            if a.is_sign_positive() {
                a
            } else {
                b
            }
        }
        _ => {
            if a > b {
                a
            } else {
                b
            }
        }
    };
    type Expected<'a> = (Function, &'a dyn Fn(f64, f64) -> f64);
    let cases: [Expected<'_>; 6] = [
        (Function::Add, &|a, b| a + b),
        (Function::Subtract, &|a, b| a - b),
        (Function::Multiply, &|a, b| a * b),
        (Function::Divide, &|a, b| a / b),
        (Function::Maximum, &maximum),
        (Function::Minimum, &|a, b| -maximum(-a, -b)),
    ];
    for table in tables() {
        for (function, expected) in &cases {
            for count in [0, 1, 7, 8, 31, 33, 600] {
                let mut out = vec![0.0; count];
                for (scalars, first, second) in [
                    ([false, false, false], &a[..count], &b[..count]),
                    ([false, true, false], &a[..count], &b[3..4]),
                    ([true, false, false], &a[5..6], &b[..count]),
                ] {
                    let Some(CallKernel::Binary(kernel)) = table.f64.call(*function, scalars) else {
                        panic!("{}: {function} of f64 has no binary kernel", table.level);
                    };
                    kernel.run(first, second, &mut out);
                    for (at, &found) in out.iter().enumerate() {
                        let want = expected(first[at % first.len()], second[at % second.len()]);
                        assert!(same(found, want), "{} {function} {scalars:?} at {at}", table.level);
                    }
                }
            }
        }
    }
}

/// The result of one link.
fn linked(op: ChainOp, a: f64, b: f64) -> f64 {
    match op {
        ChainOp::Add => a + b,
        ChainOp::Subtract => a - b,
        ChainOp::SubtractFrom => b - a,
        ChainOp::Multiply => a * b,
        ChainOp::Divide => a / b,
        ChainOp::DivideInto => b / a,
        ChainOp::Negate => -a,
        ChainOp::Abs => a.abs(),
        ChainOp::Sqrt => a.sqrt(),
        ChainOp::Exp => math::exp_f64_scalar(a),
    }
}

const BINARY: [ChainOp; 6] = [
    ChainOp::Add,
    ChainOp::Subtract,
    ChainOp::SubtractFrom,
    ChainOp::Multiply,
    ChainOp::Divide,
    ChainOp::DivideInto,
];
const UNARY: [ChainOp; 4] = [ChainOp::Exp, ChainOp::Negate, ChainOp::Sqrt, ChainOp::Abs];

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
    let kernels = &table.float_f64;
    let argument = |k: usize| {
        let scalar = pattern >> k & 1 == 1;
        let step = if pattern % 5 == k { 0 } else { 3 + k };
        let last = if scalar { 1 } else { width };
        let values = &all[k * 40..k * 40 + (rows - 1) * step + last];
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
        links.iter().fold(first, |a, link| linked(link.op, a, read(link, row, at)))
    };
    for chain in [kernels.chain, kernels.chain_non_temporal] {
        // One element more, so that the output has every alignment.
        let count = rows * width;
        let mut out = vec![7.0; count + 1];
        let start = pattern % 2;
        chain.run(argument(0), &mut links.clone(), rows, &mut out[start..start + count]);
        fence();
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
        for width in [1, 2, 8, 31, 32, 33, 64, 100, 200, 300] {
            for pattern in 0..64usize {
                let op = |k: usize| if pattern % 3 == 0 { ChainOp::Add } else { BINARY[(k + pattern) % 6] };
                // Chains compute four short rows at once.
                for rows in [1, 3, 4, 9] {
                    check_chain(table, &all, pattern, op, rows, width);
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
                        UNARY[(k / 2 + pattern / 2) % 4]
                    } else {
                        BINARY[(k + pattern / 4) % 6]
                    }
                };
                check_chain(table, &all, pattern, op, 1, width);
                check_chain(table, &all, pattern, op, 4, width);
            }
        }
    }
}

#[test]
#[should_panic(expected = "shorter than its output")]
fn a_chain_does_not_read_past_its_arguments() {
    let values = [1.0; 8];
    let link = |values| Link { op: ChainOp::Add, values, step: 0, scalar: false };
    let mut out = [0.0; 9];
    table(Level::Portable).float_f64.chain.run(link(&values[..]), &mut [], 1, &mut out);
}

#[test]
#[should_panic(expected = "shorter than its output")]
fn a_chain_does_not_read_past_its_last_row() {
    let values = [1.0; 8];
    let link = |values, step| Link { op: ChainOp::Add, values, step, scalar: false };
    let mut out = [0.0; 9];
    let chain = table(Level::Portable).float_f64.chain;
    chain.run(link(&values[..], 1), &mut [link(&values[..], 3)], 3, &mut out);
}

#[test]
fn the_sum_of_a_chain_has_the_bits_of_the_sum_of_its_values() {
    let values: Vec<f64> = (0..700).map(|at| f64::from(at % 89) / 41.0 - 1.0).collect();
    let link = |op, scalar| Link { op, values: &values[3..], step: 0, scalar };
    for table in tables() {
        let kernels = &table.float_f64;
        for (scalar, last) in [(true, ChainOp::Multiply), (false, ChainOp::Exp), (false, ChainOp::Subtract)] {
            let first = link(ChainOp::Add, scalar);
            let mut links = [link(ChainOp::Multiply, false), link(ChainOp::Exp, true), link(last, !scalar)];
            for count in [0, 1, 7, 8, 63, 64, 65, 100, 127, 128, 300, 697] {
                let (mut lanes, mut stored) = ([0.0; LANES], vec![0.0; count]);
                kernels.chain_sum.run(first, &links, count, &mut lanes);
                kernels.chain.run(first, &mut links, 1, &mut stored);
                let (found, want) = (kernels.sum.run(&lanes), kernels.sum.run(&stored));
                assert_eq!(found.to_bits(), want.to_bits(), "{} of {count}", table.level);
            }
        }
    }
}

#[test]
#[should_panic(expected = "shorter than the range that is added up")]
fn the_sum_of_a_chain_does_not_read_past_its_arguments() {
    let link = Link { op: ChainOp::Add, values: &[1.0; 8][..], step: 0, scalar: false };
    let chain = table(Level::Portable).float_f64.chain_sum;
    chain.run(link, &[link], 9, &mut [0.0; LANES]);
}

#[test]
fn grids_apply_a_function_row_by_row() {
    type Function = fn(f64, f64) -> f64;
    let functions: [(Pairing, Function); 4] = [
        (Pairing::Add, |a, b| a + b),
        (Pairing::Subtract, |a, b| a - b),
        (Pairing::SubtractFrom, |a, b| b - a),
        (Pairing::Multiply, |a, b| a * b),
    ];
    let values: Vec<f64> = (0..700).map(|at| f64::from(at) / 7.0).collect();
    // Aligned to a cache line.
    let mut buffer = vec![0.0; 2_000];
    let line = buffer.as_ptr().align_offset(64);
    for table in tables() {
        let grid = table.float_f64.grid;
        for (blocks, rows, width) in [(1, 1, 8), (3, 5, 8), (2, 3, 16), (1, 7, 9), (4, 2, 31), (2, 2, 40)] {
            let count = blocks * rows * width;
            for (which, &(pairing, function)) in functions.iter().enumerate() {
                for (a, b, scalar) in [([0, width], [3, 1], true), ([70, 0], [0, 11], false)] {
                    let operand = |steps, scalar| GridOperand { values: &values[which..], steps, scalar };
                    let non_temporal = width % 8 == 0;
                    let start = if non_temporal { line } else { line + 1 };
                    buffer.fill(-1.0);
                    let out = &mut buffer[start..start + count];
                    grid.run(
                        pairing,
                        (operand(a, false), operand(b, scalar)),
                        (rows, width),
                        non_temporal,
                        out,
                    );
                    fence();
                    let want = |place: usize| {
                        let (block, row, at) = (place / width / rows, place / width % rows, place % width);
                        let [x, y] = [a, b].map(|steps| which + block * steps[0] + row * steps[1]);
                        function(values[x + at], values[if scalar { y } else { y + at }])
                    };
                    let found = &buffer[start..start + count];
                    assert!((0..count).all(|at| same(found[at], want(at))), "{} {pairing:?}", table.level);
                    assert!(
                        buffer[start + count..].iter().all(|&value| value == -1.0),
                        "wrote outside the output"
                    );
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "shorter than the output needs")]
fn a_grid_does_not_read_past_its_last_row() {
    let operand = |steps, scalar| GridOperand { values: &[1.0; 40][..], steps, scalar };
    let grid = table(Level::Portable).float_f64.grid;
    let arguments = (operand([17, 8], false), operand([0, 0], true));
    grid.run(Pairing::Add, arguments, (2, 8), false, &mut [0.0; 64][..48]);
}

/// Runs a kernel on an output of `count` elements inside a larger buffer. It must panic with a message that
/// contains `expected`, before it stores anything.
fn check_refusal(level: Level, expected: &str, count: usize, kernel: impl FnOnce(&mut [f64])) {
    let mut buffer = vec![7.0; count + 128];
    let run = AssertUnwindSafe(|| kernel(&mut buffer[64..64 + count]));
    let panic = catch_unwind(run).expect_err("the kernel accepted the lengths");
    let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref().copied());
    assert!(message.is_some_and(|message| message.contains(expected)), "{level}: {message:?}");
    assert!(buffer.iter().all(|&value| value == 7.0), "{level}: stored something");
}

/// Half of 2^64, and an eighth of it plus 1: times 2 and times 8, they are 0 and 8 if the product wraps.
const HALF: usize = usize::MAX / 2 + 1;
const EIGHTH: usize = usize::MAX / 8 + 2;

#[test]
fn grids_refuse_lengths_whose_products_overflow() {
    let values = [1.0; 48];
    let operand = |steps, scalar| GridOperand { values: &values[..], steps, scalar };
    let (overflow, short) = ("elements in a block of rows overflows", "shorter than the output needs");
    for table in tables() {
        let check = |expected, steps, rows, count| {
            for arguments in [
                (operand(steps, false), operand([0, 0], true)),
                (operand([0, 0], false), operand(steps, false)),
                (operand([0, 0], false), operand(steps, true)),
            ] {
                check_refusal(table.level, expected, count, |out| {
                    table.float_f64.grid.run(Pairing::Add, arguments, rows, false, out);
                });
            }
        };
        check(overflow, [0, 0], (EIGHTH, 8), 8);
        check(overflow, [0, 0], (EIGHTH, 8), 0);
        check(overflow, [0, 0], (HALF, 16), 16);
        check(overflow, [0, 0], (16, HALF), 16);
        check("not made of whole blocks", [0, 0], (1, EIGHTH), 8);
        check("not made of whole blocks", [0, 0], (usize::MAX, 1), 8);
        check(short, [0, HALF], (3, 16), 48);
        check(short, [HALF, 0], (1, 16), 48);
        check(short, [HALF, HALF], (2, 8), 32);
        check(short, [0, usize::MAX], (2, 8), 16);
    }
}

#[test]
fn chains_refuse_lengths_whose_products_overflow() {
    let values = [1.0; 48];
    let link = |step, scalar| Link { op: ChainOp::Add, values: &values[..], step, scalar };
    for table in tables() {
        let kernels = &table.float_f64;
        for chain in [kernels.chain, kernels.chain_non_temporal] {
            for rows in [0, EIGHTH, HALF, usize::MAX] {
                check_refusal(table.level, "not made of whole rows", 48, |out| {
                    chain.run(link(0, false), &mut [link(0, true)], rows, out);
                });
            }
            for (step, rows) in [(HALF, 3), (EIGHTH, 9), (usize::MAX, 2), (usize::MAX - 15, 2)] {
                for scalar in [false, true] {
                    let (far, near) = (link(step, scalar), link(0, false));
                    for (first, mut links) in [(far, [near]), (near, [far])] {
                        check_refusal(table.level, "shorter than its output", 16 * rows, |out| {
                            chain.run(first, &mut links, rows, out);
                        });
                    }
                }
            }
        }
        for count in [HALF, usize::MAX] {
            check_refusal(table.level, "shorter than the range", LANES, |lanes| {
                let lanes = lanes.try_into().expect("as many as there are lanes");
                kernels.chain_sum.run(link(0, true), &[link(0, false)], count, lanes);
            });
        }
    }
}

#[test]
fn transposing_refuses_steps_that_overflow() {
    for table in tables() {
        for (count, step) in [(3, HALF), (9, EIGHTH), (2, usize::MAX)] {
            check_refusal(table.level, "fewer columns than the rows need", 8 * count, |out| {
                let mut rows: Vec<&mut [f64]> = out.chunks_mut(count).collect();
                table.f64.across.run(&[1.0; 64], step, &mut rows);
            });
        }
    }
}

#[test]
fn one_value_may_be_repeated_any_number_of_times() {
    for table in tables() {
        for times in [EIGHTH, HALF, usize::MAX] {
            let mut out = [7.0; 64];
            table.f64.expand.run(&[3.0], times, &mut out[..33]);
            assert_eq!((&out[..33], &out[33..]), (&[3.0; 33][..], &[7.0; 31][..]), "{}", table.level);
            for non_temporal in [false, true] {
                let mut out = [7.0; 64];
                let repeat = Repeat::Each(times);
                let paired = table.float_f64.paired;
                paired.run(Pairing::Subtract, &[5.0; 33], &[3.0], repeat, non_temporal, &mut out[..33]);
                fence();
                assert_eq!((&out[..33], &out[33..]), (&[2.0; 33][..], &[7.0; 31][..]), "{}", table.level);
            }
        }
    }
}

#[test]
fn non_temporal_copies_are_exact() {
    for table in tables() {
        for (start, count) in [(0, 0), (0, 1), (1, 5), (3, 63), (0, 64), (5, 200), (63, 777)] {
            let from: Vec<u8> = (0..=255).cycle().take(count).collect();
            let mut to = vec![9u8; 1000];
            table.u8.copy.run(&from, &mut to[start..start + count]);
            fence();
            assert_eq!(to[start..start + count], from, "{}", table.level);
            assert!(to[..start].iter().chain(&to[start + count..]).all(|&byte| byte == 9));
        }
    }
}

#[test]
fn sums_have_the_same_bits_on_every_level() {
    let values: Vec<f64> = (0..700).map(|at| 1.0 / f64::from(at + 1)).collect();
    for count in [0, 1, 63, 64, 65, 700] {
        let sums: Vec<u64> =
            tables().iter().map(|table| table.float_f64.sum.run(&values[..count]).to_bits()).collect();
        assert!(sums.iter().all(|&sum| sum == sums[0]), "{count}");
        let naive: f64 = values[..count].iter().sum();
        assert!((f64::from_bits(sums[0]) - naive).abs() < 1e-12);
    }
}

#[test]
fn rows_are_added_in_order() {
    let values: Vec<f64> = (0..700).map(|at| 1.0 / f64::from(at + 1)).collect();
    for table in tables() {
        let kernels = &table.float_f64;
        for width in [1, 3, 8, 63, 100] {
            for count in [0, width, 4 * width, 6 * width + width / 2] {
                let mut sums = vec![0.5; width + 1];
                kernels.add_rows.run(&mut sums[..width], &values[..count]);
                let mut want = vec![0.5; width + 1];
                for row in values[..count].chunks(width) {
                    want.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
                }
                assert_eq!(sums, want, "{} {count} by {width}", table.level);
            }
        }
    }
}

#[test]
fn halves_are_rounded_as_by_the_half_crate() {
    // Every f16 and bf16, and the floats around every midpoint between two of them.
    let close = |value: f32| {
        let bits = value.to_bits();
        [bits.wrapping_sub(1), bits, bits.wrapping_add(1)].map(f32::from_bits)
    };
    for bits in 0..=u16::MAX {
        let (narrow, wide) = (f16::from_bits(bits), bf16::from_bits(bits));
        let next = f16::from_bits(bits.wrapping_add(1));
        let middle = f32::midpoint(narrow.to_f32(), next.to_f32());
        for value in close(narrow.to_f32()).into_iter().chain(close(middle)) {
            let (found, want) = (round_to_f16(value), f16::from_f32(value).to_f32());
            assert!(found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan()), "{value:e}");
        }
        let middle = f32::from_bits(wide.to_f32().to_bits() | 0x8000);
        for value in close(wide.to_f32()).into_iter().chain(close(middle)) {
            let (found, want) = (round_to_bf16(value), bf16::from_f32(value).to_f32());
            assert!(found.to_bits() == want.to_bits() || (found.is_nan() && want.is_nan()), "{value:e}");
        }
        let shifted = f32::from_bits(u32::from(bits) << 16);
        assert!(shifted.to_bits() == wide.to_f32().to_bits() || shifted.is_nan());
    }
}

#[test]
fn columns_are_transposed_into_rows() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(table: &Table, kernel: Across<T>, from: &[T], none: T) {
        for height in [1, 3, 4, 7, 8, 12, 16] {
            for (count, step) in [(0, 5), (1, 20), (3, 16), (4, 17), (9, 23), (16, 40), (29, 21)] {
                let mut out = vec![none; height * (count + 1)];
                let mut rows: Vec<&mut [T]> =
                    out.chunks_mut(count + 1).map(|row| &mut row[..count]).collect();
                let reach = if count == 0 { 0 } else { (count - 1) * step + height };
                kernel.run(&from[..reach], step, &mut rows);
                for (row, out) in out.chunks(count + 1).enumerate() {
                    assert_eq!(out[count], none, "wrote outside the output");
                    let want: Vec<T> = (0..count).map(|at| from[at * step + row]).collect();
                    assert_eq!(out[..count], want, "{} {height} by {count}", table.level);
                }
            }
        }
    }
    for table in tables() {
        check(table, table.f64.across, &(0..700).map(f64::from).collect::<Vec<_>>(), -1.0);
        check(table, table.u32.across, &(0..700).collect::<Vec<_>>(), 1_000);
        check(table, table.i16.across, &(0..700).collect::<Vec<_>>(), -1);
    }
}

#[test]
#[should_panic(expected = "fewer columns than the rows need")]
fn transposing_does_not_read_past_the_last_column() {
    let (mut one, mut other) = ([0.0; 3], [0.0; 3]);
    table(Level::Portable).f64.across.run(&[1.0; 9], 4, &mut [&mut one, &mut other]);
}

#[test]
fn expansion_repeats_each_element() {
    fn check<T: Copy + PartialEq + std::fmt::Debug>(table: &Table, kernel: Expand<T>, from: &[T], zero: T) {
        for times in 1..20 {
            for count in [0, 1, 7, 8, 16, 17, 33, 50] {
                let mut out = vec![zero; count * times + 1];
                kernel.run(&from[..count], times, &mut out[..count * times]);
                let want: Vec<T> = from[..count].iter().flat_map(|&value| vec![value; times]).collect();
                assert_eq!(out[..count * times], want, "{} {count} by {times}", table.level);
                assert_eq!(out[count * times], zero, "wrote outside the output");
                // The source has more elements than the output needs.
                let mut out = vec![zero; 50 * times];
                kernel.run(from, times, &mut out[..count * times]);
                assert_eq!(out[..count * times], want, "{} {count} by {times}", table.level);
                assert!(out[count * times..].iter().all(|&value| value == zero), "wrote outside the output");
            }
        }
    }
    for table in tables() {
        check(table, table.f64.expand, &(1..51).map(f64::from).collect::<Vec<_>>(), 0.0);
        check(table, table.i32.expand, &(1..51).collect::<Vec<_>>(), 0);
        check(table, table.u8.expand, &(1..51).collect::<Vec<_>>(), 0);
    }
}
