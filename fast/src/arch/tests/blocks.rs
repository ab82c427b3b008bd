//! Rows of every length up to a few blocks: the kernels of whole rows against the same kernels for one
//! element at a time, which have no blocks. Groups of calls in one loop against the calls one after the
//! other.

use super::{OF_TWO, tables};
use crate::arch::{Arguments, CallGroup, CallKernel, ChainOp, Kernels, Table};
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
                    | CallKernel::Linked(_)
                    | CallKernel::Condition(_) => {
                        panic!("{name}: not a function of two")
                    }
                }
            }
        }
        for function in UNARY {
            let Some(CallKernel::Unary(kernel)) = kernels.call(function, [false; 3]) else { continue };
            let want = one_by_one(count, a[0], |at, out| kernel.run(&a[at..=at], out));
            let mut out = vec![a[0]; count + 1];
            kernel.run(&a[..count], &mut out[..count]);
            assert_eq!(out, want, "{} {function} of {count}", table.level);
        }
    }
}

/// All groups of two to four operations that have a loop. Returns how many there are.
fn check_linked<T: Copy + PartialEq + std::fmt::Debug>(
    table: &Table,
    kernels: &Kernels<T>,
    values: &[T],
) -> usize {
    use ChainOp::{Add, Divide, MinusNext, Multiply, PlusNext, Subtract, SubtractFrom, TimesNext};
    let ops = [Add, Subtract, SubtractFrom, Multiply, PlusNext, MinusNext, TimesNext, Divide];
    let call = |op, a: &[T], b: &[T]| {
        let (function, a, b) = match op {
            Add | PlusNext => (Function::Add, a, b),
            Subtract | MinusNext => (Function::Subtract, a, b),
            SubtractFrom => (Function::Subtract, b, a),
            _ => (Function::Multiply, a, b),
        };
        let Some(CallKernel::Binary(kernel)) = kernels.call(function, [false; 3]) else {
            panic!("{function} has no kernel")
        };
        let mut out = vec![values[0]; a.len()];
        kernel.run(a, b, &mut out);
        out
    };
    let mut found = 0;
    // The digits of a number choose the operations.
    for (length, number) in (2..=4).flat_map(|length| (0..8usize.pow(length)).map(move |at| (length, at))) {
        let ops: Vec<ChainOp> = (0..length).map(|at| ops[number >> (3 * at) & 7]).collect();
        let Some(group) = CallGroup::of(&ops) else { continue };
        let Some(CallKernel::Linked(kernel)) = kernels.linked(group) else { panic!("{ops:?}: no kernel") };
        found += 1;
        for count in [0, 1, 31, 64, 100, LONGEST] {
            let arguments: Vec<&[T]> = (0..=ops.len()).map(|from| &values[from..from + count]).collect();
            let mut out = vec![values[0]; count];
            kernel.run(Arguments(&arguments), &mut out);
            let (mut want, mut made): (Vec<T>, Option<Vec<T>>) = (arguments[0].to_vec(), None);
            for (at, &op) in ops.iter().enumerate() {
                let next = arguments[at + 1];
                match op {
                    PlusNext | MinusNext | TimesNext => made = Some(call(op, next, arguments[at + 2])),
                    _ => want = call(op, &want, made.take().as_deref().unwrap_or(next)),
                }
            }
            assert_eq!(out, want, "{} {ops:?} of {count}", table.level);
        }
    }
    found
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
                assert_eq!(check_linked(table, &table.$type, &numbers!(LONGEST + 5, $type, i8)), 42);
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
