//! Frequent chains, which have loops of their own: every one of them, over rows of every kind.

use super::{larger, same, tables};
use crate::arch::frequent::{Class, TAKEN, chains, chains_with_exp, class, with};
use crate::arch::{ChainOp, Link};
use crate::math;
use crate::{Input, Level, Plan};
use broadcheck_spec::{Expression, Function, Operand, Operation, Request, Rules};

/// The first argument and the links of every chain of the list.
fn all_chains() -> Vec<(Class, Vec<(ChainOp, Class)>)> {
    macro_rules! listed {
        (() $([$first:tt; $($op:ident $class:tt);*])*) => {
            [$((class!($first), vec![$((ChainOp::$op, class!($class))),*])),*]
        };
    }
    let (chains, with_exp) = (chains! { listed () }, chains_with_exp! { listed () });
    chains.into_iter().chain(with_exp).collect()
}

/// Operations of an element type, as far as chains of the list have them.
trait Number: Copy + PartialEq + std::fmt::Debug {
    fn linked(op: ChainOp, a: Self, b: Self) -> Self;
    fn is_same(self, other: Self) -> bool;
}

macro_rules! floats {
    ($($type:ident $exp:ident)*) => { $(
        impl Number for $type {
            #[allow(clippy::cast_possible_truncation, reason = "the larger of two f32 is one")]
            fn linked(op: ChainOp, a: $type, b: $type) -> $type {
                match op {
                    ChainOp::Add => a + b,
                    ChainOp::Subtract => a - b,
                    ChainOp::SubtractFrom => b - a,
                    ChainOp::Multiply => a * b,
                    ChainOp::Square => a * a,
                    ChainOp::Abs => a.abs(),
                    ChainOp::Sqrt => a.sqrt(),
                    ChainOp::DivideInto => b / a,
                    ChainOp::Negate => -a,
                    ChainOp::Exp => math::$exp(a),
                    ChainOp::Maximum => larger(f64::from(a), f64::from(b)) as $type,
                    ChainOp::Minimum => -larger(-f64::from(a), -f64::from(b)) as $type,
                    op => unreachable!("{op:?} is not in the list"),
                }
            }
            fn is_same(self, other: $type) -> bool {
                same(f64::from(self), f64::from(other))
            }
        }
    )* };
}
floats! { f64 exp_f64_scalar f32 exp_f32_scalar }

macro_rules! integers {
    ($($type:ident)*) => { $(
        impl Number for $type {
            fn linked(op: ChainOp, a: $type, b: $type) -> $type {
                match op {
                    ChainOp::Add => a.wrapping_add(b),
                    ChainOp::Subtract => a.wrapping_sub(b),
                    ChainOp::SubtractFrom => b.wrapping_sub(a),
                    ChainOp::Multiply => a.wrapping_mul(b),
                    ChainOp::Square => a.wrapping_mul(a),
                    op => unreachable!("{op:?} is not in the list"),
                }
            }
            fn is_same(self, other: $type) -> bool {
                self == other
            }
        }
    )* };
}
integers! { i64 u32 i16 u8 }

/// The value of the links for an element of each of their arguments, of which the first is before the links.
fn value<T: Number>(links: &[(ChainOp, Class)], arguments: &[T]) -> T {
    let (mut a, mut made) = (arguments[0], None);
    for (&(op, _), &c) in links.iter().zip(&arguments[1..]) {
        let b = match made.take() {
            Some((ChainOp::PlusNext, b)) => T::linked(ChainOp::Add, b, c),
            Some((ChainOp::MinusNext, b)) => T::linked(ChainOp::Subtract, b, c),
            Some((_, b)) => T::linked(ChainOp::Multiply, b, c),
            None => c,
        };
        match op {
            ChainOp::PlusNext | ChainOp::MinusNext | ChainOp::TimesNext => made = Some((op, c)),
            op => a = T::linked(op, a, b),
        }
    }
    a
}

/// Calls `run` for every chain of the list over rows of every kind, and compares the results. `width_of` is
/// the number of elements of a vector.
fn check<T: Number>(
    all: &[T],
    is_float: bool,
    (level, width_of): (Level, usize),
    run: impl Fn(&Link<'_, T>, (&mut [Link<'_, T>], bool), usize, &mut [T]),
) {
    let sizes = [1, 2, 4, 5, 9].map(|vectors| vectors * width_of);
    let widths = sizes.into_iter().flat_map(|size| [size - 1, size, size + 1, size + width_of / 2]);
    for (number, (first, links)) in all_chains().into_iter().enumerate() {
        if !is_float && links.iter().any(|&(op, _)| !op.is_of_integers()) {
            continue;
        }
        let has_exp = links.iter().any(|&(op, _)| op == ChainOp::Exp);
        let kinds =
            widths.clone().filter(|&width| width > 0).flat_map(|width| [1, 2, 7].map(|rows| (rows, width)));
        for (kind, (rows, width)) in kinds.enumerate() {
            let classes: Vec<Class> =
                std::iter::once(first).chain(links.iter().map(|&(_, class)| class)).collect();
            let mut given: Vec<Link<'_, T>> = Vec::new();
            for (at, &class) in classes.iter().enumerate() {
                let op = if at == 0 { ChainOp::Add } else { links[at - 1].0 };
                let step = [0, width, width + 3][(number + kind / 3 + at * 2) % 3];
                let scalar = matches!(class, Class::Scalar);
                let last = if scalar { 1 } else { width };
                let start = at * 211 + number;
                given.push(match class {
                    Class::Again(earlier) => Link { op, ..given[earlier] },
                    Class::Nothing => Link { op, values: &[], step: 0, scalar: true },
                    Class::Vector | Class::Scalar => {
                        Link { op, values: &all[start..start + (rows - 1) * step + last], step, scalar }
                    }
                });
            }
            let read = |link: &Link<'_, T>, row: usize, at: usize| {
                let place = row * link.step + if link.scalar { 0 } else { at };
                link.values.get(place).copied().unwrap_or(all[0])
            };
            let mut out = vec![all[0]; rows * width + 1];
            let before = TAKEN.get().0;
            let fetches = has_exp && kind % 2 == 1;
            run(&given[0], (&mut given[1..].to_vec(), fetches), rows, &mut out[..rows * width]);
            let case = || format!("{level}: {first:?} {links:?}, {rows} rows of {width}");
            // Some rows are left to the loop over groups, among them long ones that are prefetched.
            let whole = width_of * size_of::<T>() == 64 && (1..=2).any(|vectors| width == vectors * width_of);
            let is_long = width * size_of::<T>() >= 512;
            let left = !has_exp && whole || fetches && is_long || !cfg!(target_arch = "x86_64");
            assert_eq!(TAKEN.get().0 - before, usize::from(width >= width_of && !left), "{}", case());
            let mut arguments = [all[0]; 7];
            for (at, &found) in out[..rows * width].iter().enumerate() {
                for (argument, link) in arguments.iter_mut().zip(&given) {
                    *argument = read(link, at / width, at % width);
                }
                let want = value(&links, &arguments);
                assert!(found.is_same(want), "{}: {found:?} at {at}, expected {want:?}", case());
            }
            assert!(out[rows * width].is_same(all[0]), "{}: wrote outside the output", case());
        }
    }
}

#[test]
#[allow(clippy::cast_possible_truncation, reason = "smaller numbers are intended")]
fn frequent_chains_have_the_values_of_their_links() {
    // Every second number is one whose exp is moderate.
    let floats = super::floats().into_iter().cycle().enumerate().take(8000);
    let floats: Vec<f64> =
        floats.map(|(at, x)| if at % 2 == 0 { x } else { (at % 1000) as f64 / 100.0 - 5.0 }).collect();
    let singles: Vec<f32> = floats.iter().map(|&x| x as f32).collect();
    for table in tables() {
        let level = table.level;
        let width = |bytes: usize| (level, level.vector_bytes() / bytes);
        macro_rules! check_all {
            ($($type:ident: $values:expr, $is_float:literal;)*) => { $(
                let chains = table.$type.chains();
                check::<$type>(&$values, $is_float, width(size_of::<$type>()), |first, links, rows, out| {
                    chains.run(first, links, rows, out);
                });
            )* };
        }
        check_all! {
            f64: floats, true;
            f32: singles, true;
            i64: numbers!(8000, i64, u8), false;
            u32: numbers!(8000, u32, u8), false;
            i16: numbers!(8000, i16, u8), false;
            u8: numbers!(8000, u8, u8), false;
        }
    }
}

/// The expression of a chain, over matrices and columns, which are numbered in the order of its arguments,
/// and which of them are matrices.
fn expression(first: Class, links: &[(ChainOp, Class)]) -> (Expression, Vec<bool>) {
    let (mut matrices, mut operands) = (Vec::new(), Vec::new());
    let mut operand = |class| {
        let place = match class {
            Class::Again(link) => operands[link],
            Class::Vector | Class::Scalar | Class::Nothing => {
                matrices.push(matches!(class, Class::Vector));
                matrices.len() - 1
            }
        };
        operands.push(place);
        Expression::operand(place)
    };
    let call = |function, arguments: &[&Expression]| {
        Expression::call(function, arguments.iter().map(|&argument| argument.clone())).unwrap()
    };
    let two = |function, a: &Expression, b: &Expression| call(function, &[a, b]);
    let mut a = operand(first);
    let mut made: Option<(Function, Expression)> = None;
    for &(op, class) in links {
        if matches!(class, Class::Nothing) {
            a = match op {
                ChainOp::Exp => call(Function::Exp, &[&a]),
                ChainOp::Negate => call(Function::Negate, &[&a]),
                ChainOp::Abs => call(Function::Abs, &[&a]),
                ChainOp::Sqrt => call(Function::Sqrt, &[&a]),
                ChainOp::Square => two(Function::Multiply, &a, &a),
                op => unreachable!("{op:?} is not in the list"),
            };
            operand(Class::Again(0));
            continue;
        }
        let mut b = operand(class);
        if let Some((function, earlier)) = made.take() {
            b = two(function, &earlier, &b);
        }
        match op {
            ChainOp::PlusNext => made = Some((Function::Add, b)),
            ChainOp::MinusNext => made = Some((Function::Subtract, b)),
            ChainOp::TimesNext => made = Some((Function::Multiply, b)),
            ChainOp::Add => a = two(Function::Add, &a, &b),
            ChainOp::Subtract => a = two(Function::Subtract, &a, &b),
            ChainOp::SubtractFrom => a = two(Function::Subtract, &b, &a),
            ChainOp::Multiply => a = two(Function::Multiply, &a, &b),
            ChainOp::DivideInto => a = two(Function::Divide, &b, &a),
            ChainOp::Maximum => a = two(Function::Maximum, &a, &b),
            ChainOp::Minimum => a = two(Function::Minimum, &a, &b),
            op => unreachable!("{op:?} is not in the list"),
        }
    }
    (a, matrices)
}

/// Every loop is for a chain that plans contain. In chains with exp, one of two vectors is a row. It is long,
/// because a short one would be repeated in a register.
#[test]
#[cfg(target_arch = "x86_64")]
fn every_frequent_chain_is_that_of_an_expression() {
    let mut missing = Vec::new();
    for (first, links) in all_chains() {
        let (expression, matrices) = expression(first, &links);
        let has_exp = links.iter().any(|&(op, _)| op == ChainOp::Exp);
        let (rows, width) = (40, if has_exp { 133 } else { 37 });
        let lengths = |at: usize| match matrices[at] {
            true if has_exp && at == 1 && matrices[0] => [1, width],
            true => [rows, width],
            false => [rows, 1],
        };
        let values: Vec<Vec<f64>> =
            (0..matrices.len()).map(|at| vec![1.5; lengths(at).iter().product()]).collect();
        let operands = values
            .iter()
            .enumerate()
            .map(|(at, values)| Operand::dense(format!("x{at}"), lengths(at), values.clone()).unwrap());
        let operation = Operation::Elementwise { expression };
        let request = Request::new(Rules::Numpy, operation, operands.collect()).unwrap();
        let plan = Plan::new(&request).unwrap();
        let inputs: Vec<Input<'_>> = values.iter().map(|values| Input::F64(values)).collect();
        TAKEN.set((0, 0));
        plan.run(&inputs).unwrap();
        let start = with(1, ChainOp::Add, first);
        let key = links.iter().fold(start, |key, &(op, class)| with(key, op, class));
        if TAKEN.get().1 != key {
            missing.push(format!("{first:?} {links:?}: {}", plan.route_name()));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}
