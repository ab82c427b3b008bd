//! Kernels of two arguments over several rows against the same kernels over one row at a time. Arguments end
//! with the last value that is needed, and nothing is written outside of the output.

use super::{OF_TWO, tables};
use crate::arch::{Binary, CallKernel, Kernels, Rows};
use broadcheck_spec::Function;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many values an argument has at most.
const MOST: usize = 1100;

/// Widths at the edges of blocks and of halves of a block, of elements of every size.
const WIDTHS: [usize; 24] =
    [1, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 255, 256];

/// The values of one row, or the only one.
fn row<T>(values: &[T], at: usize, step: usize, count: usize) -> &[T] {
    &values[at * step..at * step + count]
}

/// Checks a kernel whose arguments have the given number of values in each row.
fn check<T: Copy, R: Copy + PartialEq + std::fmt::Debug>(
    kernel: Binary<T, R>,
    values: &[T],
    outside: R,
    (count, width, counts): (usize, usize, [usize; 2]),
    name: &str,
) {
    for steps in [[width, 0], [0, width], [width + 3, 1], [2, width + 1]] {
        let reach = |which: usize| (count - 1) * steps[which] + counts[which];
        let (a, b) = (&values[..reach(0)], &values[values.len() - reach(1)..]);
        let mut want = vec![outside; count * width + 1];
        for (at, out) in want.chunks_exact_mut(width).enumerate().take(count) {
            kernel.run(row(a, at, steps[0], counts[0]), row(b, at, steps[1], counts[1]), out);
        }
        let mut out = vec![outside; count * width + 1];
        kernel.run_rows(a, b, &Rows { width, steps }, &mut out[..count * width]);
        assert_eq!(out, want, "{name}: {count} rows of {width}, {steps:?} apart");
    }
}

fn check_all<T: Copy + PartialEq + std::fmt::Debug>(kernels: &Kernels<T>, values: &[T], name: &str) {
    let mut found = 0;
    for function in OF_TWO {
        for scalars in [[false; 3], [false, true, false], [true, false, false]] {
            let Some(kernel) = kernels.call(function, scalars) else { continue };
            let name = format!("{name} {function} {scalars:?}");
            for (width, count) in WIDTHS.into_iter().flat_map(|width| [(width, 1), (width, 4)]) {
                let counts = [scalars[0], scalars[1]].map(|is_scalar| if is_scalar { 1 } else { width });
                let rows = (count, width, counts);
                match kernel {
                    CallKernel::Binary(kernel) => check(kernel, values, values[0], rows, &name),
                    CallKernel::Comparison(kernel) => check(kernel, values, true, rows, &name),
                    CallKernel::Unary(_)
                    | CallKernel::Select(_)
                    | CallKernel::Condition(_)
                    | CallKernel::Clip(_)
                    | CallKernel::Check(_) => {
                        panic!("{name}: not a function of two")
                    }
                }
                found += 1;
            }
        }
    }
    assert!(found > 0, "{name} has no function of two");
}

#[test]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "any numbers will do")]
#[allow(clippy::cast_possible_wrap, clippy::cast_lossless, reason = "any numbers will do")]
fn several_rows_are_computed_like_each_of_them() {
    for table in tables() {
        let name = |dtype: &str| format!("{} {dtype}", table.level);
        check_all(&table.f64, &numbers!(MOST, f64, u8), &name("f64"));
        check_all(&table.f32, &numbers!(MOST, f32, u8), &name("f32"));
        check_all(&table.f16, &numbers!(MOST, u16, u8), &name("f16"));
        check_all(&table.bf16, &numbers!(MOST, u16, u8), &name("bf16"));
        macro_rules! integers {
            ($($type:ident)*) => { $(
                check_all(&table.$type, &numbers!(MOST, $type, i8), &name(stringify!($type)));
            )* };
        }
        integers! { i64 i32 i16 i8 u64 u32 u16 u8 }
        let truths: Vec<bool> = (0..MOST).map(|at| at % 3 == 0 || at % 7 == 1).collect();
        check_all(&table.bool, &truths, &name("bool"));
    }
}

/// Rows that are not inside of both arguments are refused. If a sum has short rows, nothing is stored before.
#[test]
fn rows_outside_of_an_argument_are_refused() {
    for table in tables() {
        for function in [Function::Add, Function::Maximum] {
            let Some(CallKernel::Binary(kernel)) = table.f64.call(function, [false; 3]) else {
                panic!("{function} of f64 has no kernel");
            };
            for width in [1, 4, 8, 20, 31, 32, 40] {
                for step in [101, 1 << 60, 1 << 61, (1 << 61) + 1, 1 << 63, usize::MAX] {
                    for steps in [[step, 0], [0, step], [step, step]] {
                        let is_short = function == Function::Add && (8..32).contains(&width);
                        refuse(kernel, &Rows { width, steps }, is_short);
                    }
                }
            }
            for width in [usize::MAX, isize::MAX.cast_unsigned(), (1 << 61) + 1] {
                // The output is shorter than a row, and so is one row.
                let mut out = [7.0; 3];
                kernel.run_rows(&[1.0; 2], &[1.0; 2], &Rows { width, steps: [usize::MAX; 2] }, &mut out);
                assert_eq!(out[2], 7.0, "{width}: stored what the arguments do not have");
            }
        }
    }
}

/// Runs a kernel over two rows, of which the second is outside of the arguments. If they are short, none may
/// be stored.
fn refuse(kernel: Binary<f64, f64>, rows: &Rows, is_short: bool) {
    let (values, count) = (vec![1.0; 100], 2 * rows.width);
    let mut out = [7.0; 100];
    let ran = catch_unwind(AssertUnwindSafe(|| {
        kernel.run_rows(&values, &values, rows, &mut out[10..10 + count]);
    }));
    assert!(ran.is_err(), "{rows:?} were accepted");
    let untouched = |values: &[f64]| values.iter().all(|&value| value == 7.0);
    assert!(untouched(&out[..10]) && untouched(&out[10 + count..]), "{rows:?} stored outside");
    assert!(!is_short || untouched(&out), "{rows:?} stored before they were refused");
}
