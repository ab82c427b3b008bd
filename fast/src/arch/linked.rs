//! Several calls of integers in one loop: a register between two calls takes longer than most of them
//! (`benches/sweep`). There are loops for the commonest groups of calls:
//!
//! | group | for example |
//! |---|---|
//! | any two | `(a + b) - c` |
//! | three or four, of which every second is a product, as in Horner's scheme | `((a * b + c) * d) - e` |
//! | a sum or a difference of two products | `a * b + c * d` |
//! | a product of two sums or differences | `(a + b) * (c - d)` |
//!
//! Floats have [`chain`](super::chain)s.
#![deny(clippy::wildcard_enum_match_arm)]

use super::chain::ChainOp;
use super::element::Integer;
use super::ops::{Add, Exchanged, Multiply, Op2, Subtract};
use super::simd::Simd;
use super::{Grouped, Kernel};
use std::marker::PhantomData;
use std::mem::transmute;

/// The arguments of a group of calls.
#[derive(Clone, Copy)]
pub(crate) struct Arguments<'a, T>(pub(crate) &'a [&'a [T]]);

/// A group of calls.
pub(super) trait Formula<T, R> {
    /// The values of the group, for the elements that all slices have.
    ///
    /// # Panics
    /// If there are not as many arguments as the group has.
    fn run(arguments: Arguments<'_, T>, out: &mut [R]);
}

/// `g(f(a, b), c)`
struct Two<F, G>(PhantomData<(F, G)>);
/// `h(g(f(a, b), c), d)`
struct Three<F, G, H>(PhantomData<(F, G, H)>);
/// `i(h(g(f(a, b), c), d), e)`
struct Four<F, G, H, I>(PhantomData<(F, G, H, I)>);
/// `g(f(a, b), h(c, d))`
struct Joined<F, H, G>(PhantomData<(F, H, G)>);

/// Implements [`Formula`] by an expression of the named arguments.
macro_rules! formula {
    ($name:ident<$($op:ident),*>, [$first:ident, $($argument:ident),*] => $value:expr) => {
        impl<T: Copy, $($op: Op2<T, T>),*> Formula<T, T> for $name<$($op),*> {
            #[inline(always)]
            fn run(arguments: Arguments<'_, T>, out: &mut [T]) {
                let &[$first, $($argument),*] = arguments.0 else {
                    panic!("{} arguments for another number of calls", arguments.0.len())
                };
                formula!(@loop out, $first, $($argument),* => $value);
            }
        }
    };
    (@loop $out:ident, $a:ident, $b:ident, $c:ident => $value:expr) => {
        for ((($out, &$a), &$b), &$c) in $out.iter_mut().zip($a).zip($b).zip($c) {
            *$out = $value;
        }
    };
    (@loop $out:ident, $a:ident, $b:ident, $c:ident, $d:ident => $value:expr) => {
        for (((($out, &$a), &$b), &$c), &$d) in $out.iter_mut().zip($a).zip($b).zip($c).zip($d) {
            *$out = $value;
        }
    };
    (@loop $out:ident, $a:ident, $b:ident, $c:ident, $d:ident, $e:ident => $value:expr) => {
        for ((((($out, &$a), &$b), &$c), &$d), &$e) in $out.iter_mut().zip($a).zip($b).zip($c).zip($d).zip($e) {
            *$out = $value;
        }
    };
}
formula! { Two<F, G>, [a, b, c] => G::of(F::of(a, b), c) }
formula! { Three<F, G, H>, [a, b, c, d] => H::of(G::of(F::of(a, b), c), d) }
formula! { Four<F, G, H, I>, [a, b, c, d, e] => I::of(H::of(G::of(F::of(a, b), c), d), e) }
formula! { Joined<F, H, G>, [a, b, c, d] => G::of(F::of(a, b), H::of(c, d)) }

/// A group of calls that has a loop. The numbers are places in the lists of [`LinkedKernels`], of the calls
/// that may be one or the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallGroup {
    Two(usize, usize),
    /// Three calls, of which the second is a product.
    SumFirst(usize, usize),
    /// Three calls, of which the first and the third are products.
    ProductFirst(usize),
    /// Four calls, of which the second and the fourth are products.
    FourSumFirst(usize, usize),
    /// Four calls, of which the first and the third are products.
    FourProductFirst(usize, usize),
    /// A sum or a difference of two products.
    OfProducts(usize),
    /// A product of two sums or differences.
    OfSums(usize, usize),
}

impl CallGroup {
    /// The group of the operations of a chain, if there is one.
    pub(crate) fn of(ops: &[ChainOp]) -> Option<CallGroup> {
        use ChainOp::{MinusNext, Multiply, PlusNext, TimesNext};
        match *ops {
            [f, g] => Some(CallGroup::Two(plain(f)?, any(g)?)),
            [Multiply, TimesNext, g] => Some(CallGroup::OfProducts(plain_sum(g)?)),
            [f, PlusNext, Multiply] => Some(CallGroup::OfSums(plain_sum(f)?, 0)),
            [f, MinusNext, Multiply] => Some(CallGroup::OfSums(plain_sum(f)?, 1)),
            [Multiply, g, Multiply] => Some(CallGroup::ProductFirst(sum(g)?)),
            [f, Multiply, h] => Some(CallGroup::SumFirst(plain_sum(f)?, sum(h)?)),
            [Multiply, g, Multiply, i] => Some(CallGroup::FourProductFirst(sum(g)?, sum(i)?)),
            [f, Multiply, h, Multiply] => Some(CallGroup::FourSumFirst(plain_sum(f)?, sum(h)?)),
            _ => None,
        }
    }
}

/// The place of a sum, or of a difference either way round.
fn sum(op: ChainOp) -> Option<usize> {
    any(op).filter(|&at| at < 3)
}

/// The place of a sum or a difference whose arguments are not exchanged.
fn plain_sum(op: ChainOp) -> Option<usize> {
    any(op).filter(|&at| at < 2)
}

/// The place of a sum, a difference or a product whose arguments are not exchanged, as they are not in the
/// first call.
pub(super) fn plain(op: ChainOp) -> Option<usize> {
    match any(op)? {
        at @ (0 | 1) => Some(at),
        3 => Some(2),
        _ => None,
    }
}

/// The place of an operation that integers have.
fn any(op: ChainOp) -> Option<usize> {
    match op {
        ChainOp::Add => Some(0),
        ChainOp::Subtract => Some(1),
        ChainOp::SubtractFrom => Some(2),
        ChainOp::Multiply => Some(3),
        ChainOp::Divide
        | ChainOp::DivideInto
        | ChainOp::Maximum
        | ChainOp::Minimum
        | ChainOp::PlusNext
        | ChainOp::MinusNext
        | ChainOp::TimesNext
        | ChainOp::Negate
        | ChainOp::Abs
        | ChainOp::Sqrt
        | ChainOp::Exp => None,
    }
}

/// The kernels of the groups.
pub(super) struct LinkedKernels<T: 'static> {
    two: [[Grouped<T, T>; 4]; 3],
    sum_first: [[Grouped<T, T>; 3]; 2],
    product_first: [Grouped<T, T>; 3],
    four_sum_first: [[Grouped<T, T>; 3]; 2],
    four_product_first: [[Grouped<T, T>; 3]; 3],
    of_products: [Grouped<T, T>; 2],
    of_sums: [[Grouped<T, T>; 2]; 2],
}

impl<T> LinkedKernels<T> {
    pub(super) fn of(&self, group: CallGroup) -> Grouped<T, T> {
        match group {
            CallGroup::Two(f, g) => self.two[f][g],
            CallGroup::SumFirst(f, h) => self.sum_first[f][h],
            CallGroup::ProductFirst(g) => self.product_first[g],
            CallGroup::FourSumFirst(f, h) => self.four_sum_first[f][h],
            CallGroup::FourProductFirst(g, i) => self.four_product_first[g][i],
            CallGroup::OfProducts(g) => self.of_products[g],
            CallGroup::OfSums(f, h) => self.of_sums[f][h],
        }
    }
}

/// The kernels of a type of integers, compiled for its [`Element::Bits`](super::element::Element::Bits): all
/// bits are the same.
pub(super) const fn linked<S: Simd, T: Integer>() -> LinkedKernels<T>
where
    Add: Op2<T::Bits, T::Bits>,
    Subtract: Op2<T::Bits, T::Bits>,
    Multiply: Op2<T::Bits, T::Bits>,
{
    const fn of<T: Integer>(kernel: Grouped<T::Bits, T::Bits>) -> Grouped<T, T> {
        // SAFETY: both are addresses of functions, whose arguments differ only in the elements of slices.
        // Such functions may be called as one another, and by `Element` the elements have the same size and
        // alignment. Every pattern of bits is a valid integer.
        unsafe { transmute::<Grouped<T::Bits, T::Bits>, Grouped<T, T>>(kernel) }
    }
    macro_rules! list {
        ($($group:ty)*) => { [$(of(Kernel(S::grouped::<T::Bits, T::Bits, $group>))),*] };
    }
    type From = Exchanged<Subtract>;
    LinkedKernels {
        two: [
            list!(Two<Add, Add> Two<Add, Subtract> Two<Add, From> Two<Add, Multiply>),
            list!(Two<Subtract, Add> Two<Subtract, Subtract> Two<Subtract, From> Two<Subtract, Multiply>),
            list!(Two<Multiply, Add> Two<Multiply, Subtract> Two<Multiply, From> Two<Multiply, Multiply>),
        ],
        sum_first: [
            list!(Three<Add, Multiply, Add> Three<Add, Multiply, Subtract> Three<Add, Multiply, From>),
            list!(
                Three<Subtract, Multiply, Add> Three<Subtract, Multiply, Subtract>
                Three<Subtract, Multiply, From>
            ),
        ],
        product_first: list!(
            Three<Multiply, Add, Multiply> Three<Multiply, Subtract, Multiply> Three<Multiply, From, Multiply>
        ),
        four_sum_first: [
            list!(
                Four<Add, Multiply, Add, Multiply> Four<Add, Multiply, Subtract, Multiply>
                Four<Add, Multiply, From, Multiply>
            ),
            list!(
                Four<Subtract, Multiply, Add, Multiply> Four<Subtract, Multiply, Subtract, Multiply>
                Four<Subtract, Multiply, From, Multiply>
            ),
        ],
        four_product_first: [
            list!(
                Four<Multiply, Add, Multiply, Add> Four<Multiply, Add, Multiply, Subtract>
                Four<Multiply, Add, Multiply, From>
            ),
            list!(
                Four<Multiply, Subtract, Multiply, Add> Four<Multiply, Subtract, Multiply, Subtract>
                Four<Multiply, Subtract, Multiply, From>
            ),
            list!(
                Four<Multiply, From, Multiply, Add> Four<Multiply, From, Multiply, Subtract>
                Four<Multiply, From, Multiply, From>
            ),
        ],
        of_products: list!(Joined<Multiply, Multiply, Add> Joined<Multiply, Multiply, Subtract>),
        of_sums: [
            list!(Joined<Add, Add, Multiply> Joined<Add, Subtract, Multiply>),
            list!(Joined<Subtract, Add, Multiply> Joined<Subtract, Subtract, Multiply>),
        ],
    }
}
