//! Kernels accept exactly the lengths that fit, computed here without overflow in 128 bits, among them
//! lengths near 2^64. What they refuse touches no memory, and what they accept stores nothing outside the
//! output. Reads outside are for the address sanitizer and valgrind to find: arguments are allocated with the
//! length that they have, and `.ci/run` runs these tests under both.

use super::{copy_out, tables};
use crate::Level;
use crate::arch::extent::Extent;
use crate::arch::stream::FENCES;
use crate::arch::{
    Argument, Branch, ChainOp, Comparison, GridOperand, Link, Pairing, Permutations, Reduction, Repeat, Rule,
    fenced,
};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Lengths whose products with small numbers, or with one another, are at or beyond a limit of the address
/// space: 2^64 - 1, 2^64 - 15, half of 2^64 and its neighbours, and an eighth and a sixteenth of it with a
/// bit more. Modulo 2^64, `(2^60 + 1) * 16` is 16, `2^63 * 2` is 0, and `(2^64 - 1) * 2` is negative.
const HUGE: [usize; 8] = [
    usize::MAX,
    usize::MAX - 14,
    1 << 63,
    (1 << 63) + 1,
    isize::MAX.cast_unsigned(),
    (1 << 61) + 1,
    (1 << 60) + 1,
    1 << 32,
];

/// Small lengths, then huge ones.
fn lengths(small: &[usize]) -> Vec<usize> {
    small.iter().chain(&HUGE).copied().collect()
}

fn wide(length: usize) -> u128 {
    length as u128
}

/// The elements up to the last one of `count` times `one` elements, `step` apart.
fn reach(one: usize, count: usize, step: usize) -> u128 {
    if count == 0 { 0 } else { (wide(count) - 1) * wide(step) + wide(one) }
}

/// Runs a kernel on an output of `count` elements inside a larger buffer, which it must leave alone. The
/// kernel must panic, before it stores anything, unless the lengths fit.
#[track_caller]
fn check(
    level: Level,
    fit: bool,
    count: usize,
    lengths: impl std::fmt::Debug,
    kernel: impl FnOnce(&mut [f64]),
) {
    #[repr(align(64))]
    struct Buffer([f64; 256]);
    let mut buffer = Buffer([7.0; 256]);
    let ran = catch_unwind(AssertUnwindSafe(|| kernel(&mut buffer.0[64..64 + count])));
    assert_eq!(ran.is_ok(), fit, "{level}: accepted {lengths:?}, expected {fit}");
    let untouched = |values: &[f64]| values.iter().all(|&value| value == 7.0);
    assert!(
        untouched(&buffer.0[..64]) && untouched(&buffer.0[64 + count..]),
        "{level}: {lengths:?} stored outside"
    );
    assert!(fit || untouched(&buffer.0), "{level}: {lengths:?} were refused after something was stored");
}

#[test]
fn extents_are_products_and_sums_that_do_not_overflow() {
    for one in lengths(&[0, 1, 2, 16]) {
        for count in lengths(&[0, 1, 2, 16]) {
            for step in lengths(&[0, 1, 2, 16]) {
                let want = reach(one, count, step);
                let found = Extent::of(one).repeated(count, step).elements();
                let fits = usize::try_from(want).ok().filter(|&elements| elements != usize::MAX);
                assert_eq!(found, fits, "{count} times {one}, {step} apart");
                let fits = Extent::of(one).repeated(count, step).is_within(&[0u8; 31]);
                assert_eq!(fits, want <= 31, "{count} times {one}, {step} apart");
            }
        }
    }
    assert_eq!(Extent::of(2).repeated(3, usize::MAX).repeated(2, 0).elements(), None);
}

#[test]
fn grids_accept_the_lengths_that_fit() {
    for table in tables() {
        for rows in lengths(&[0, 1, 3]) {
            for width in lengths(&[0, 1, 8, 16, 17]) {
                for count in [0, 8, 17, 48] {
                    check_grid(table.level, (rows, width), count, [0, 0], 48);
                }
            }
        }
        for rows in [(1, 8), (2, 8), (3, 16), (2, 12), (1, 48)] {
            for step in lengths(&[1, 8, 17]) {
                for steps in [[step, 0], [0, step], [step, step]] {
                    check_grid(table.level, rows, 48, steps, 48);
                }
            }
        }
        // The last argument with which rows, or blocks of rows, fit, and the first with which they do not.
        for (rows, steps) in [((3, 16), [0, 20]), ((1, 16), [20, 0]), ((3, 16), [0, 21]), ((1, 16), [21, 0])]
        {
            check_grid(table.level, rows, 48, steps, 56);
            check_grid(table.level, rows, 48, steps, 57);
        }
    }
}

/// Checks the kernel of a level on an output of `count` elements and an argument of `available` elements with
/// the given steps, first as the first argument, then as the second, then as the second with one value per
/// row.
fn check_grid(
    level: Level,
    (rows, width): (usize, usize),
    count: usize,
    steps: [usize; 2],
    available: usize,
) {
    let grid = super::table(level).float_f64.grid;
    let values = vec![1.0; available];
    let operand = |steps, scalar| GridOperand { values: &values[..], steps, scalar };
    let block = wide(rows) * wide(width);
    let blocks = usize::try_from(wide(count).checked_div(block).unwrap_or(0)).unwrap_or(0);
    let whole = (1..wide(usize::MAX)).contains(&block) && wide(count).is_multiple_of(block) && width >= 8;
    let fit = |steps: [usize; 2], last| {
        blocks == 0
            || (wide(rows) - 1) * wide(steps[1]) + (wide(blocks) - 1) * wide(steps[0]) + wide(last)
                <= wide(available)
    };
    for (first, second, scalar) in [(steps, [0, 0], false), ([0, 0], steps, false), ([0, 0], steps, true)] {
        let fit = whole && fit(first, width) && fit(second, if scalar { 1 } else { width });
        for non_temporal in [false, true] {
            let fit = fit && (!non_temporal || width.is_multiple_of(8));
            let (a, b) = (operand(first, false), operand(second, scalar));
            check(level, fit, count, (rows, width, first, second), |out| {
                fenced(non_temporal, |stores| grid.run(Pairing::Add, a, b, (rows, width), stores, out));
            });
        }
    }
    check(level, false, count, "a first argument with one value per row", |out| {
        let (a, b) = (operand([0, 0], true), operand([0, 0], false));
        grid.run(Pairing::Add, a, b, (1, count), None, out);
    });
}

#[test]
fn grids_refuse_non_temporal_stores_to_rows_that_are_not_aligned() {
    let values = [1.0; 64];
    let operand = GridOperand { values: &values[..], steps: [0, 0], scalar: false };
    for table in tables() {
        check(table.level, false, 49, "an output that starts after a cache line", |out| {
            let grid = table.float_f64.grid;
            fenced(true, |stores| grid.run(Pairing::Add, operand, operand, (3, 16), stores, &mut out[1..]));
        });
    }
}

#[test]
fn chains_accept_the_lengths_that_fit() {
    for table in tables() {
        for op in [ChainOp::Add, ChainOp::Multiply, ChainOp::Exp, ChainOp::Tanh] {
            for available in [0, 15, 16, 48] {
                for rows in lengths(&[0, 1, 3]) {
                    for count in [0, 3, 48] {
                        check_chain(table.level, op, (rows, count), available);
                    }
                }
            }
        }
    }
}

/// No chain of a plan makes an argument for a link that takes none, which may have no values.
#[test]
fn an_argument_of_two_before_a_function_is_left_out() {
    let values = [4.0; 40];
    for table in tables() {
        for (op, want) in [(ChainOp::Negate, -4.0), (ChainOp::Sqrt, 2.0)] {
            let link = |op, values| Link { op, values, step: 0, scalar: false };
            let mut links = [link(ChainOp::PlusNext, &values[..]), Link { scalar: true, ..link(op, &[]) }];
            let mut out = [0.0; 40];
            table.f64.chains().run(&link(ChainOp::Add, &values), (&mut links, false), 1, &mut out);
            assert_eq!(out, [want; 40], "{}, {op:?}", table.level);
        }
    }
}

/// Checks a chain of a level, whose last link has the given operation, over some rows of an output of `count`
/// elements. One argument has the given number of elements and any step, first as the first argument, then as
/// the last.
fn check_chain(level: Level, op: ChainOp, (rows, count): (usize, usize), available: usize) {
    let chains = super::table(level).f64.chains();
    let values = vec![1.0; available];
    let link = |step, scalar| Link { op: ChainOp::Add, values: &values[..], step, scalar };
    let last = if op.is_function() { &[] } else { &values[..] };
    let last = Link { op, values: last, step: 0, scalar: true };
    let (whole, width) = (rows > 0 && count.is_multiple_of(rows), count.checked_div(rows).unwrap_or(0));
    for step in lengths(&[0, 7, 20, (1 << 62) + 1]) {
        for scalar in [false, true] {
            let needed = reach(if scalar { 1 } else { width }, rows, step).max(wide(width));
            let fit = count == 0 || whole && needed <= wide(available);
            // A first argument is read even if its operation has none.
            let unary = Link { op: ChainOp::Negate, ..link(step, scalar) };
            for (first, links) in [
                (link(step, scalar), [link(0, false), last]),
                (unary, [link(0, false), last]),
                (link(0, false), [last, link(step, scalar)]),
            ] {
                check(level, fit, count, (rows, step, scalar, available), |out| {
                    chains.run(&first, (&mut links.clone(), true), rows, out);
                });
                check(level, fit, count, (rows, step, scalar, available), |out| {
                    fenced(true, |stores| {
                        let stores = stores.expect("they are wanted");
                        chains.run_non_temporal(stores, &first, &mut links.clone(), rows, out);
                    });
                });
            }
        }
    }
}

#[test]
fn sums_accept_the_lengths_that_fit() {
    for table in tables() {
        let kernels = &table.float_f64;
        for available in [0, 1, 48, 64] {
            let (values, conditions) = (vec![1.0; available], vec![true; available]);
            let rows = [(0, 0), (1, 0), (1, usize::MAX), (2, 0), (2, 1), (2, 16), (3, usize::MAX)];
            for ((rows, step), scalar) in rows.into_iter().flat_map(|rows| [(rows, false), (rows, true)]) {
                for width in lengths(&[0, 1, 48, 49, 64, 65]) {
                    let reach = |scalar| wide(rows - 1) * wide(step) + if scalar { 1 } else { wide(width) };
                    let fits = |scalar| rows == 0 || width == 0 || reach(scalar) <= wide(available);
                    let (one, both) = (fits(scalar), fits(scalar) && fits(false));
                    let link = |scalar| Link { op: ChainOp::Multiply, values: &values[..], step, scalar };
                    let argument = |scalar| Argument { values: &values[..], step, scalar };
                    let condition = |scalar| Argument { values: &conditions[..], step, scalar };
                    let fetches = step != 1;
                    let sizes = if width <= 65 {
                        vec![(Reduction::Down { rows }, width), (Reduction::Across { width }, rows)]
                    } else {
                        vec![(Reduction::Across { width }, rows)]
                    };
                    for (reduction, sums) in sizes {
                        let case = (reduction, step, scalar, available);
                        check(table.level, both, sums, case, |sums| {
                            kernels.chain_sum(false).run(
                                &link(scalar),
                                (&mut [link(false)], fetches),
                                reduction,
                                sums,
                            );
                        });
                        check(table.level, both, sums, case, |sums| {
                            kernels.chain_sum(true).run(
                                &link(false),
                                (&mut [link(scalar)], fetches),
                                reduction,
                                sums,
                            );
                        });
                        for at in 0..4 {
                            let arguments = [0, 1, 2, 3].map(|k| argument(k == at && scalar));
                            check(table.level, both, sums, case, |sums| {
                                kernels.choice_sum.run(
                                    Comparison::Greater,
                                    (arguments, fetches),
                                    reduction,
                                    sums,
                                );
                            });
                        }
                        for at in 0..2 {
                            let branches = [0, 1].map(|k| argument(k == at && scalar));
                            check(table.level, both, sums, case, |sums| {
                                kernels.select_sum.run(
                                    condition(false),
                                    (branches, fetches),
                                    reduction,
                                    sums,
                                );
                            });
                        }
                        check(table.level, one && !scalar, sums, case, |sums| {
                            let branches = [argument(scalar); 2];
                            kernels.select_sum.run(condition(scalar), (branches, fetches), reduction, sums);
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn choices_accept_the_lengths_that_fit() {
    let enough = vec![1.0; 128];
    for table in tables() {
        for available in [0, 1, 48, 64] {
            let values = vec![1.0; available];
            for (rows, step) in [(0, 0), (1, 0), (1, usize::MAX), (2, 0), (2, 1), (2, 16), (3, usize::MAX)] {
                for count in [0usize, 1, 8, 24, 48, 64, 65, 90] {
                    // One argument is shorter than the others, and may be one value in each row.
                    let by = Rule::By(Comparison::Greater);
                    let scaled = Rule::Scaled { or_equal: false, branch: Branch::Other };
                    let each = (0..5).flat_map(|at| [(at, false), (at, true)]);
                    for ((at, scalar), rule) in each.flat_map(|at| [(at, by), (at, scaled)]) {
                        let whole = rows > 0 && count.is_multiple_of(rows);
                        let width = count.checked_div(rows).unwrap_or(0);
                        let needed = reach(if scalar { 1 } else { width }, rows, step);
                        let is_read = at < 4 || rule == scaled;
                        let fit = count == 0 || whole && (!is_read || needed <= wide(available));
                        check(table.level, fit, count, (rows, step, at, scalar, available), |out| {
                            let arguments = [0, 1, 2, 3, 4].map(|k| {
                                if k == at {
                                    Argument { values: &values[..], step, scalar }
                                } else {
                                    Argument { values: &enough[..], step: 0, scalar: false }
                                }
                            });
                            fenced(at % 2 == 0, |stores| {
                                table.float_f64.choose.run(rule, &arguments, rows, stores, out);
                            });
                        });
                    }
                }
            }
        }
    }
}

#[test]
fn repetition_accepts_the_lengths_that_fit() {
    for table in tables() {
        for times in lengths(&[0, 1, 2, 3, 4, 5, 17]) {
            for count in [0, 1, 17, 48, 64] {
                let each =
                    usize::try_from(wide(count).div_ceil(wide(times.max(1)))).expect("at most `count`");
                for (repeat, needed) in [(Repeat::Each(times), each), (Repeat::All(times), times)] {
                    let needed = needed.min(70);
                    for (whole, part) in [
                        (count, needed),
                        (count, needed.saturating_sub(1)),
                        (count.saturating_sub(1), needed),
                    ] {
                        let fit = whole >= count
                            && match repeat {
                                Repeat::Each(_) => part >= each,
                                Repeat::All(_) => part >= times,
                            }
                            && times > 0;
                        let (a, b) = (vec![5.0; whole], vec![3.0; part]);
                        for non_temporal in [false, true] {
                            check(table.level, fit, count, (repeat, whole, part), |out| {
                                let paired = table.float_f64.paired;
                                fenced(non_temporal, |stores| {
                                    paired.run(Pairing::Subtract, &a, &b, repeat, stores, out);
                                });
                                assert!(out.iter().all(|&value| value == 2.0));
                            });
                        }
                    }
                }
                // Repetition fills what both slices have.
                let from: Vec<f64> = (0..20).map(f64::from).collect();
                check(table.level, true, count, times, |out| {
                    table.f64.expand.run(&from, times, &mut Permutations::default(), out);
                    let want = |at: usize| from.get(at / times.max(1)).copied().unwrap_or(7.0);
                    assert!((0..count).all(|at| out[at] == want(at)));
                });
            }
        }
    }
}

#[test]
fn transposing_accepts_the_lengths_that_fit() {
    for table in tables() {
        for (height, count) in [(1, 1), (1, 9), (8, 3), (8, 8), (4, 12), (16, 4), (3, 0)] {
            for step in lengths(&[0, 1, 4, 8, 17]) {
                let needed = reach(height, count, step);
                let least = usize::try_from(needed).unwrap_or(usize::MAX).min(200);
                for available in [least, least.saturating_sub(1)] {
                    let from = vec![1.0; available];
                    check(
                        table.level,
                        needed <= wide(available),
                        height * count,
                        (height, count, step),
                        |out| {
                            let mut rows: Vec<&mut [f64]> = out.chunks_mut(count.max(1)).collect();
                            table.f64.across.run(&from, step, &mut rows);
                        },
                    );
                }
            }
        }
        check(table.level, false, 24, "rows of different lengths", |out| {
            let (one, other) = out.split_at_mut(8);
            table.f64.across.run(&[1.0; 64], 2, &mut [one, other]);
        });
    }
}

#[test]
fn copies_have_the_length_of_their_source() {
    for table in tables() {
        for (from, to) in [(0, 0), (64, 64), (63, 64), (64, 63), (0, 1), (1, 0)] {
            check(table.level, from == to, to, (from, to), |out| {
                copy_out(table.f64.copy, &vec![1.0; from], out);
            });
        }
    }
}

#[test]
fn non_temporal_stores_end_with_a_fence() {
    let fences = |run: &dyn Fn()| {
        let before = FENCES.get();
        let ran = catch_unwind(AssertUnwindSafe(run));
        (FENCES.get() - before, ran.is_ok())
    };
    assert_eq!(fences(&|| fenced(true, |stores| assert!(stores.is_some()))), (1, true));
    assert_eq!(fences(&|| fenced(false, |stores| assert!(stores.is_none()))), (0, true));
    assert_eq!(fences(&|| fenced(true, |_| panic!("between the stores and the fence"))), (1, false));
}
