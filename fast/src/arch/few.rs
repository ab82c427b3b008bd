//! Two to four calls of integers as one loop. A chain takes its links one after another for every group of
//! vectors; with short vectors, that takes longer than some calls. There are loops for the commonest groups
//! of links:
//!
//! | links | for example |
//! |---|---|
//! | any two | `(a + b) - c` |
//! | three or four, of which every second is a product, as in Horner's scheme | `((a * b + c) * d) - e` |
//! | a sum or a difference of two products | `a * b + c * d` |
//! | a product of two sums or differences | `(a + b) * (c - d)` |
//!
//! The types of values are also those of [`frequent`](super::frequent) chains.

use super::chain::{ChainOp, Link};
use super::group::{ChainVector, Fold, SubtractFrom, counted};
use super::ops::{Add, Multiply, Subtract};
use super::simd::Section;
use std::marker::PhantomData;

/// The vectors that are computed together.
const GROUP: usize = 4;

/// A value that is made of the first few arguments, as a type: each is compiled into a loop of its own.
pub(super) trait Value {
    /// The index of the last argument.
    const LAST: usize;
    fn of<V: ChainVector, const N: usize>(x: &[V; N]) -> V;
}

/// The first argument.
impl Value for () {
    const LAST: usize = 0;

    #[inline(always)]
    fn of<V: ChainVector, const N: usize>(x: &[V; N]) -> V {
        x[0]
    }
}

/// An operation of a value and the next argument.
impl<A: Value, O: Fold> Value for (A, O) {
    const LAST: usize = A::LAST + 1;

    #[inline(always)]
    fn of<V: ChainVector, const N: usize>(x: &[V; N]) -> V {
        O::of(A::of(x), x[const { A::LAST + 1 }])
    }
}

/// An operation of a value and what another operation makes of the next two arguments.
impl<A: Value, M: Fold, O: Fold> Value for (A, M, O) {
    const LAST: usize = A::LAST + 2;

    #[inline(always)]
    fn of<V: ChainVector, const N: usize>(x: &[V; N]) -> V {
        O::of(A::of(x), M::of(x[const { A::LAST + 1 }], x[const { A::LAST + 2 }]))
    }
}

/// Declares what an operation without an argument makes of a value.
macro_rules! unary {
    ($($name:ident: |$a:ident| $value:expr;)*) => { $(
        pub(super) struct $name<A>(PhantomData<A>);

        impl<A: Value> Value for $name<A> {
            const LAST: usize = A::LAST + 1;

            #[inline(always)]
            fn of<V: ChainVector, const N: usize>(x: &[V; N]) -> V {
                let $a = A::of(x);
                $value
            }
        }
    )* };
}
unary! {
    Squared: |a| a.multiply(a);
    Magnitude: |a| a.abs();
    Root: |a| a.sqrt();
    Negated: |a| a.negate();
}

/// The [`Value`] that links make of another one. exp and the links after it are left out.
macro_rules! value {
    ($value:ty;) => { $value };
    ($value:ty; Exp $($more:ident)*) => { $value };
    ($value:ty; Square $($more:ident)*) => { value!(Squared<$value>; $($more)*) };
    ($value:ty; Abs $($more:ident)*) => { value!(Magnitude<$value>; $($more)*) };
    ($value:ty; Sqrt $($more:ident)*) => { value!(Root<$value>; $($more)*) };
    ($value:ty; Negate $($more:ident)*) => { value!(Negated<$value>; $($more)*) };
    ($value:ty; PlusNext $op:ident $($more:ident)*) => { value!(($value, Add, $op); $($more)*) };
    ($value:ty; MinusNext $op:ident $($more:ident)*) => { value!(($value, Subtract, $op); $($more)*) };
    ($value:ty; TimesNext $op:ident $($more:ident)*) => { value!(($value, Multiply, $op); $($more)*) };
    ($value:ty; $op:ident $($more:ident)*) => { value!(($value, $op); $($more)*) };
}

pub(super) use value;

/// Calls [`groups`] for the links that were found, if they are in the list.
macro_rules! loops {
    ($arguments:expr, $out:expr, $found:expr; $([$($op:ident)*])*) => {
        match $found {
            $([$(ChainOp::$op),*] => groups::<V, _, value!((); $($op)*)>($arguments, $out),)*
            _ => 0,
        }
    };
}

/// The whole groups of one row, `out`, if there is a loop for the links. Its result is the number of elements
/// that were computed.
///
/// Every vector argument has as many elements as `out`, and every scalar has one.
pub(super) struct Row<'a, V: ChainVector> {
    first: &'a Link<'a, V::Element>,
    links: &'a [Link<'a, V::Element>],
    out: &'a mut [V::Element],
}

impl<'a, V: ChainVector> Row<'a, V> {
    /// The row of a chain, if it has no more links than the loops have.
    #[inline(always)]
    pub(super) fn of(
        first: &'a Link<'a, V::Element>,
        links: &'a [Link<'a, V::Element>],
        out: &'a mut [V::Element],
    ) -> Option<Self> {
        let may_be = (2..=4).contains(&links.len()) && out.len() >= GROUP * V::WIDTH;
        may_be.then_some(Row { first, links, out })
    }
}

impl<V: ChainVector> Section for Row<'_, V> {
    type Result = usize;

    #[inline(always)]
    unsafe fn compute(self) -> usize {
        let Row { first, links, out } = self;
        // SAFETY: guaranteed by the caller. No link of a loop is unary, so all of them have arguments.
        unsafe {
            match links {
                [b, c] => loops! {
                    [first, b, c], out, [b.op, c.op];
                    [Add Add] [Add Subtract] [Add SubtractFrom] [Add Multiply]
                    [Subtract Add] [Subtract Subtract] [Subtract SubtractFrom] [Subtract Multiply]
                    [Multiply Add] [Multiply Subtract] [Multiply SubtractFrom] [Multiply Multiply]
                },
                [b, c, d] => loops! {
                    [first, b, c, d], out, [b.op, c.op, d.op];
                    [Multiply TimesNext Add] [Multiply TimesNext Subtract]
                    [Add PlusNext Multiply] [Add MinusNext Multiply]
                    [Subtract PlusNext Multiply] [Subtract MinusNext Multiply]
                    [Multiply Add Multiply] [Multiply Subtract Multiply] [Multiply SubtractFrom Multiply]
                    [Add Multiply Add] [Add Multiply Subtract] [Add Multiply SubtractFrom]
                    [Subtract Multiply Add] [Subtract Multiply Subtract] [Subtract Multiply SubtractFrom]
                },
                [b, c, d, e] => loops! {
                    [first, b, c, d, e], out, [b.op, c.op, d.op, e.op];
                    [Add Multiply Add Multiply] [Add Multiply Subtract Multiply]
                    [Add Multiply SubtractFrom Multiply] [Subtract Multiply Add Multiply]
                    [Subtract Multiply Subtract Multiply] [Subtract Multiply SubtractFrom Multiply]
                    [Multiply Add Multiply Add] [Multiply Add Multiply Subtract]
                    [Multiply Add Multiply SubtractFrom] [Multiply Subtract Multiply Add]
                    [Multiply Subtract Multiply Subtract] [Multiply Subtract Multiply SubtractFrom]
                    [Multiply SubtractFrom Multiply Add] [Multiply SubtractFrom Multiply Subtract]
                    [Multiply SubtractFrom Multiply SubtractFrom]
                },
                _ => 0,
            }
        }
    }
}

/// Some values, for the whole groups of a row. Returns the number of their elements.
///
/// # Safety
/// As for [`Row`]. No operation is unary.
#[inline(always)]
unsafe fn groups<V: ChainVector, const N: usize, A: Value>(
    arguments: [&Link<'_, V::Element>; N],
    out: &mut [V::Element],
) -> usize {
    const { assert!(N == A::LAST + 1) };
    let size = GROUP * V::WIDTH;
    let end = out.len() / size * size;
    // SAFETY: a group is inside `out`, and so inside every vector argument. A scalar is read from `spread`,
    // always at its start, which has as many elements as a group.
    unsafe {
        let mut spread = [[V::spread(arguments[0].values[0]); GROUP]; N];
        let mut from = [(arguments[0].values.as_ptr(), usize::MAX); N];
        counted!(k in N => {
            spread[k] = [V::spread(arguments[k].values[0]); GROUP];
        });
        // Another loop, because `spread` must not change after a pointer into it is taken.
        counted!(k in N => {
            from[k] = match arguments[k].scalar {
                true => (spread[k].as_ptr().cast(), 0),
                false => (arguments[k].values.as_ptr(), usize::MAX),
            };
        });
        let to = out.as_mut_ptr();
        let mut at = 0;
        while at < end {
            counted!(k in GROUP => {
                let mut x = [V::read(from[0].0.add((at & from[0].1) + k * V::WIDTH)); N];
                counted!(n in N => {
                    x[n] = V::read(from[n].0.add((at & from[n].1) + k * V::WIDTH));
                });
                A::of(&x).write(to.add(at + k * V::WIDTH));
            });
            at += size;
        }
    }
    end
}
