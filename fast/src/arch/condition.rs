//! Conditions of two comparisons of floats in one loop, such as `(low < x) & (x < high)`: a register of bools
//! for each comparison, and one for a value that is compared, take longer than the comparisons
//! (`benches/sweep`).
#![deny(clippy::wildcard_enum_match_arm)]

use super::chain::ChainOp;
use super::ops::{Add, And, Greater, GreaterEqual, Less, LessEqual, Multiply, Op2, Or, Subtract};
use super::simd::Simd;
use super::{Joined, Kernel};
use std::marker::PhantomData;

/// The arguments of a condition.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a, T>(pub(crate) &'a [&'a [T]]);

/// A condition.
pub(super) trait Formula<T> {
    /// Its values, for the elements that all slices have.
    ///
    /// # Panics
    /// If there are not as many arguments as the condition has.
    fn run(arguments: Arguments<'_, T>, out: &mut [bool]);
}

/// The bools of a block, which fill a vector of any level. Of a plain loop over so many arguments, the
/// compiler makes vectors of eight f64, and each of them stores eight bools: that takes 1.1 times as long.
const BLOCK: usize = 64;

/// Stores the value of an expression of an element of each argument, for the elements that all slices have.
macro_rules! in_blocks {
    ($out:ident, [$($argument:ident),*] => $value:expr) => {
        let count = $out.len()$(.min($argument.len()))*;
        $(let $argument = $argument[..count].as_chunks::<BLOCK>();)*
        let (blocks, rest) = $out[..count].as_chunks_mut::<BLOCK>();
        for (at, block) in blocks.iter_mut().enumerate() {
            $(let $argument = &$argument.0[at];)*
            for (at, out) in block.iter_mut().enumerate() {
                $(let $argument = $argument[at];)*
                *out = $value;
            }
        }
        for (at, out) in rest.iter_mut().enumerate() {
            $(let $argument = $argument.1[at];)*
            *out = $value;
        }
    };
}

/// `j(c(a, b), d(p, q))`
struct Two<C, J, D>(PhantomData<(C, J, D)>);
/// `j(c(a, b), d(m(p, q), r))`
struct OfTwo<C, J, M, D>(PhantomData<(C, J, M, D)>);

impl<T, C, J, D> Formula<T> for Two<C, J, D>
where
    T: Copy,
    C: Op2<T, bool>,
    J: Op2<bool, bool>,
    D: Op2<T, bool>,
{
    #[inline(always)]
    fn run(arguments: Arguments<'_, T>, out: &mut [bool]) {
        let &[a, b, p, q] = arguments.0 else {
            panic!("{} arguments of two comparisons", arguments.0.len());
        };
        in_blocks!(out, [a, b, p, q] => J::of(C::of(a, b), D::of(p, q)));
    }
}

impl<T, C, J, M, D> Formula<T> for OfTwo<C, J, M, D>
where
    T: Copy,
    C: Op2<T, bool>,
    J: Op2<bool, bool>,
    M: Op2<T, T>,
    D: Op2<T, bool>,
{
    #[inline(always)]
    fn run(arguments: Arguments<'_, T>, out: &mut [bool]) {
        let &[a, b, p, q, r] = arguments.0 else {
            panic!("{} arguments of two comparisons, one of a value of two", arguments.0.len());
        };
        in_blocks!(out, [a, b, p, q, r] => J::of(C::of(a, b), D::of(M::of(p, q), r)));
    }
}

/// An order between two values. Its number is its place in the lists of [`Conditions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Order {
    /// The order of the same values the other way round.
    pub(crate) fn mirrored(self) -> Order {
        match self {
            Order::Less => Order::Greater,
            Order::LessEqual => Order::GreaterEqual,
            Order::Greater => Order::Less,
            Order::GreaterEqual => Order::LessEqual,
        }
    }
}

/// Two comparisons and how they are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    /// Whether one of them is enough.
    pub(crate) or: bool,
    /// The first one, `a < b` or `a <= b`.
    pub(crate) first: Order,
    /// What makes the first value of the second one of two arguments, if anything does: a sum, a difference
    /// or a product.
    pub(crate) made: Option<ChainOp>,
    pub(crate) second: Order,
}

/// What may make a value, in the order of the lists of [`Conditions`].
const MADE: [ChainOp; 3] = [ChainOp::Add, ChainOp::Subtract, ChainOp::Multiply];

/// The kernels of conditions.
pub(crate) struct Conditions<T: 'static> {
    /// By how the comparisons are joined, and by both.
    two: [[[Joined<T>; 2]; 2]; 2],
    /// By how the comparisons are joined, the first one, the operation and the second one.
    of_two: [[[BySecond<T>; 3]; 2]; 2],
}

/// The kernels of all orders of the second comparison.
type BySecond<T> = [Joined<T>; 4];

impl<T> Conditions<T> {
    /// The kernel of a condition, if there is one.
    pub(crate) fn of(&self, condition: Condition) -> Option<Joined<T>> {
        let Condition { or, first, made, second } = condition;
        let (or, first, second) = (usize::from(or), first as usize, second as usize);
        match made {
            None => self.two[or].get(first)?.get(second).copied(),
            Some(made) => Some(self.of_two[or].get(first)?[MADE.iter().position(|&op| op == made)?][second]),
        }
    }
}

/// The kernels of conditions of a type.
pub(super) const fn conditions<S: Simd, T: Copy>() -> Conditions<T>
where
    Add: Op2<T, T>,
    Subtract: Op2<T, T>,
    Multiply: Op2<T, T>,
    Less: Op2<T, bool>,
    LessEqual: Op2<T, bool>,
    Greater: Op2<T, bool>,
    GreaterEqual: Op2<T, bool>,
{
    macro_rules! list {
        ($($group:ty)*) => { [$(Kernel(S::joined::<T, $group>)),*] };
    }
    macro_rules! two {
        ($join:ty) => {
            [list!(Two<Less, $join, Less> Two<Less, $join, LessEqual>),
             list!(Two<LessEqual, $join, Less> Two<LessEqual, $join, LessEqual>)]
        };
    }
    macro_rules! of_two {
        ($join:ty) => { [of_two!(@first Less, $join), of_two!(@first LessEqual, $join)] };
        (@first $first:ty, $join:ty) => {
            [of_two!(@made $first, $join, Add), of_two!(@made $first, $join, Subtract),
             of_two!(@made $first, $join, Multiply)]
        };
        (@made $first:ty, $join:ty, $made:ty) => {
            list!(
                OfTwo<$first, $join, $made, Less> OfTwo<$first, $join, $made, LessEqual>
                OfTwo<$first, $join, $made, Greater> OfTwo<$first, $join, $made, GreaterEqual>
            )
        };
    }
    Conditions { two: [two!(And), two!(Or)], of_two: [of_two!(And), of_two!(Or)] }
}
