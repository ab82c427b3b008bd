//! A value against a bound or two, each of which is one value in a row: a clip of integers or halves, a
//! choice of integers between the value and another one, and whether a number is between two others or
//! outside of them. By functions of two arguments, that takes a register for each of them and more passes
//! (`benches/sweep`). Clips of floats are chains, and their choices are in [`choose`](super::choose).

use super::Kernel;
use super::ops::{And, Op2, Or};
use super::simd::Simd;
use std::marker::PhantomData;

/// A function of a value and two others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bounds {
    /// `min(max(x, a), b)`, or `max(min(x, a), b)` if the minimum is first.
    Clip { minimum_first: bool },
    /// `x` if it is above `a`, or below it, and otherwise `b`.
    Keep { above: bool, or_equal: bool },
    /// Whether x is above `a` and below `b`, or, if one of both is enough, either.
    Check { either: bool, or_equal: [bool; 2] },
}

/// A [`Bounds`], as a type.
pub(super) trait Bounded<T, R> {
    fn of(x: T, bounds: [T; 2]) -> R;
}

/// `g(f(x, a), b)`
struct Clip<F, G>(PhantomData<(F, G)>);

/// `if c(x, a) { x } else { b }`
struct Keep<C>(PhantomData<C>);

/// `c(b, a)`
struct Exchanged<C>(PhantomData<C>);

/// `j(c(a, x), d(x, b))`
struct Check<C, J, D>(PhantomData<(C, J, D)>);

impl<T, F: Op2<T, T>, G: Op2<T, T>> Bounded<T, T> for Clip<F, G> {
    #[inline(always)]
    fn of(x: T, [a, b]: [T; 2]) -> T {
        G::of(F::of(x, a), b)
    }
}

impl<T: Copy, C: Op2<T, bool>> Bounded<T, T> for Keep<C> {
    #[inline(always)]
    fn of(x: T, [a, b]: [T; 2]) -> T {
        if C::of(x, a) { x } else { b }
    }
}

impl<T, R, C: Op2<T, R>> Op2<T, R> for Exchanged<C> {
    #[inline(always)]
    fn of(a: T, b: T) -> R {
        C::of(b, a)
    }
}

impl<T, C, J, D> Bounded<T, bool> for Check<C, J, D>
where
    T: Copy,
    C: Op2<T, bool>,
    J: Op2<bool, bool>,
    D: Op2<T, bool>,
{
    #[inline(always)]
    fn of(x: T, [a, b]: [T; 2]) -> bool {
        J::of(C::of(a, x), D::of(x, b))
    }
}

/// The kernels of clips, by whether the minimum is first.
pub(super) type Clips<T> = [super::Bounded<T, T>; 2];

/// The kernels of choices, by whether the value is above the bound and by whether it may be equal.
pub(super) type Keeps<T> = [[super::Bounded<T, T>; 2]; 2];

/// The kernels of checks, by whether either is enough and by whether each bound is included.
pub(super) type Checks<T> = [[[super::Bounded<T, bool>; 2]; 2]; 2];

/// The kernels of clips by the functions of a type.
pub(super) const fn clips<S: Simd, T: Copy, Max: Op2<T, T>, Min: Op2<T, T>>() -> Clips<T> {
    [Kernel(S::bounded::<T, T, Clip<Max, Min>>), Kernel(S::bounded::<T, T, Clip<Min, Max>>)]
}

/// The kernels of choices by the comparisons of a type.
pub(super) const fn keeps<S: Simd, T: Copy, L: Op2<T, bool>, E: Op2<T, bool>>() -> Keeps<T> {
    [
        [Kernel(S::bounded::<T, T, Keep<L>>), Kernel(S::bounded::<T, T, Keep<E>>)],
        [Kernel(S::bounded::<T, T, Keep<Exchanged<L>>>), Kernel(S::bounded::<T, T, Keep<Exchanged<E>>>)],
    ]
}

/// The kernels of checks by the comparisons of a type.
pub(super) const fn checks<S: Simd, T: Copy, L: Op2<T, bool>, E: Op2<T, bool>>() -> Checks<T> {
    [joined::<S, T, L, E, And>(), joined::<S, T, L, E, Or>()]
}

const fn joined<S: Simd, T: Copy, L: Op2<T, bool>, E: Op2<T, bool>, J: Op2<bool, bool>>()
-> [[super::Bounded<T, bool>; 2]; 2] {
    [
        [Kernel(S::bounded::<T, bool, Check<L, J, L>>), Kernel(S::bounded::<T, bool, Check<L, J, E>>)],
        [Kernel(S::bounded::<T, bool, Check<E, J, L>>), Kernel(S::bounded::<T, bool, Check<E, J, E>>)],
    ]
}
