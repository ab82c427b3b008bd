//! Rows of every length up to a few blocks: the kernels of whole rows against the same kernels for one
//! element at a time, which have no blocks. Groups of calls in one loop against the calls one after the
//! other.

use super::{OF_TWO, tables};
use crate::arch::{CallKernel, Kernels, Table};
use broadcheck_spec::Function;

/// Longer than four blocks of elements of one byte, and one that is left over.
const LONGEST: usize = 4 * 64 + 1;

/// Lengths at the edges of blocks of every type, which are multiples of 8 elements.
fn lengths() -> impl Iterator<Item = usize> {
    (0..=LONGEST).filter(|count| *count < 18 || matches!(count % 32, 31 | 0 | 1 | 20))
}

const UNARY: [Function; 3] = [Function::Negate, Function::Abs, Function::Sqrt];

/// What a kernel gives for each element by itself, and where the row ends.
fn one_by_one<R: Copy>(count: usize, outside: R, mut element: impl FnMut(usize, &mut [R])) -> Vec<R> {
    let mut out = vec![outside; count + 1];
    (0..count).for_each(|at| element(at, &mut out[at..=at]));
    out
}

fn check<T: Copy + PartialEq + std::fmt::Debug>(table: &Table, kernels: &Kernels<T>, values: &[T]) {
    let (a, b) = (values, &values[1..]);
    for count in lengths() {
        for function in OF_TWO {
            for scalars in [[false; 3], [false, true, false], [true, false, false]] {
                let Some(kernel) = kernels.call(function, scalars) else { continue };
                let first = if scalars[0] { &a[3..4] } else { &a[..count] };
                let second = if scalars[1] { &b[5..6] } else { &b[..count] };
                let of = |row: &[T], at: usize| [row[if row.len() == 1 { 0 } else { at }]];
                let name = format!("{} {function} {scalars:?} of {count}", table.level);
                match kernel {
                    CallKernel::Binary(kernel) => {
                        let want = one_by_one(count, a[0], |at, out| {
                            kernel.run(&of(first, at), &of(second, at), out);
                        });
                        let mut out = vec![a[0]; count + 1];
                        kernel.run(first, second, &mut out[..count]);
                        assert_eq!(out, want, "{name}");
                    }
                    CallKernel::Comparison(kernel) => {
                        let want = one_by_one(count, true, |at, out| {
                            kernel.run(&of(first, at), &of(second, at), out);
                        });
                        let mut out = vec![true; count + 1];
                        kernel.run(first, second, &mut out[..count]);
                        assert_eq!(out, want, "{name}");
                    }
                    CallKernel::Unary(_)
                    | CallKernel::Select(_)
                    | CallKernel::Condition(_)
                    | CallKernel::Clip(_)
                    | CallKernel::Check(_) => {
                        panic!("{name}: not a function of two")
                    }
                }
            }
        }
        selections(table, kernels, values, count);
        for function in UNARY {
            let Some(CallKernel::Unary(kernel)) = kernels.call(function, [false; 3]) else { continue };
            let want = one_by_one(count, a[0], |at, out| kernel.run(&a[at..=at], out));
            let mut out = vec![a[0]; count + 1];
            kernel.run(&a[..count], &mut out[..count]);
            assert_eq!(out, want, "{} {function} of {count}", table.level);
        }
    }
}

/// `select` by a row of conditions, with branches that are rows or single values.
fn selections<T: Copy + PartialEq + std::fmt::Debug>(
    table: &Table,
    kernels: &Kernels<T>,
    values: &[T],
    count: usize,
) {
    let conditions: Vec<bool> = (0..count).map(|at| at * at % 7 < 3).collect();
    for scalars in [[false, false], [false, true], [true, false], [true, true]] {
        let Some(CallKernel::Select(kernel)) =
            kernels.call(Function::Select, [false, scalars[0], scalars[1]])
        else {
            panic!("{}: no kernel for select", table.level);
        };
        let branch = |k: usize| &values[k..][..if scalars[k] { 1 } else { count }];
        let (a, b) = (branch(0), branch(1));
        let mut out = vec![values[0]; count + 1];
        kernel.run(&conditions, a, b, &mut out[..count]);
        assert_eq!(out.pop(), Some(values[0]));
        for (at, found) in out.into_iter().enumerate() {
            let taken = if conditions[at] { a } else { b };
            let want = taken[if taken.len() == 1 { 0 } else { at }];
            assert_eq!(found, want, "{} select of {scalars:?}, {at} of {count}", table.level);
        }
    }
}

#[test]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "any numbers will do")]
#[allow(clippy::cast_possible_wrap, clippy::cast_lossless, reason = "any numbers will do")]
fn the_end_of_a_row_is_computed_like_its_start() {
    for table in tables() {
        check(table, &table.f64, &numbers!(LONGEST + 3, f64, u8));
        check(table, &table.f32, &numbers!(LONGEST + 3, f32, u8));
        check(table, &table.f16, &numbers!(LONGEST + 3, u16, u8));
        check(table, &table.bf16, &numbers!(LONGEST + 3, u16, u8));
        macro_rules! integers {
            ($($type:ident)*) => { $(
                check(table, &table.$type, &numbers!(LONGEST + 3, $type, i8));
            )* };
        }
        integers! { i64 i32 i16 i8 u64 u32 u16 u8 }
    }
}

#[test]
fn the_end_of_a_row_of_truth_values_is_computed_like_its_start() {
    let values: Vec<bool> = (0..=LONGEST).map(|at| at % 3 == 0 || at % 7 == 1).collect();
    for table in tables() {
        for function in [Function::LogicalAnd, Function::LogicalOr, Function::Equal] {
            for count in lengths() {
                let (a, b) = (&values[..count], &values[values.len() - count..]);
                let Some(CallKernel::Binary(kernel) | CallKernel::Comparison(kernel)) =
                    table.bool.call(function, [false; 3])
                else {
                    panic!("{function} of truth values has no kernel")
                };
                let want = one_by_one(count, true, |at, out| kernel.run(&a[at..=at], &b[at..=at], out));
                let mut out = vec![true; count + 1];
                kernel.run(a, b, &mut out[..count]);
                assert_eq!(out, want, "{} {function} of {count}", table.level);
            }
        }
    }
}
