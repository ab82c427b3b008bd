//! Kernels: one loop per function and kind of arguments, the same source compiled for every SIMD level, chosen
//! from a table once per run.
//!
//! The only unsafe code of the crate stands in this directory, and beside the loops of `math`. A kernel of a level
//! is an ordinary safe function whose body may use that level's instructions; what is unsafe is to call it on a
//! machine that lacks them. So a [`Kernel`] is called through a method, and a table is handed out by [`table()`]
//! alone, which asks the machine.
#![allow(unsafe_code, reason = "the one place where kernels of a level are called")]

mod across;
mod chain;
mod expand;
mod grid;
mod kernels;
mod ops;
mod stream;
mod table;
pub(crate) mod vector;

use crate::math::{double, single};

pub use across::ROWS;
pub use chain::{ChainOp, LANES, Link};
pub use expand::{MOST, Pairing, Repeat};
pub use grid::{LINE as GRID_LINE, Lie};
pub use ops::{round_to_bf16, round_to_f16};
pub use stream::fence;
pub use table::{FloatParts, Kernels, Scalars, Table, table};

/// A kernel of some level, with the function's type as a plain pointer.
#[derive(Clone, Copy)]
pub struct Kernel<F>(F);

/// `out = f(a)`, element by element.
pub type Unary<T> = Kernel<unsafe fn(&[T], &mut [T])>;
/// `out = f(a, b)`, element by element.
pub type Binary<T, R> = Kernel<unsafe fn(&[T], &[T], &mut [R])>;
/// `out = if c then a else b`, element by element.
pub type Select<T> = Kernel<unsafe fn(&[bool], &[T], &[T], &mut [T])>;
/// `a = f(a)`, element by element.
pub type InPlace<T> = Kernel<unsafe fn(&mut [T])>;
/// The sum of the elements.
pub type Sum<T> = Kernel<unsafe fn(&[T]) -> T>;
/// Each element several times.
pub type Expand<T> = Kernel<unsafe fn(&[T], usize, &mut [T])>;
/// Rows whose elements of one column are neighbours, columns being some steps apart.
pub type Across<T> = Kernel<unsafe fn(&[T], usize, &mut [&mut [T]])>;
/// `out = f(a, b)` with `b` repeated; past the caches where that is asked, and the level can.
pub type Paired<T> = Kernel<unsafe fn(Pairing, &[T], &[T], Repeat, bool, &mut [T])>;
/// A chain from a first argument through links, over a number of rows.
pub type Chain<T> = Kernel<unsafe fn(Link<'_, T>, &mut [Link<'_, T>], usize, &mut [T])>;
/// A chain over a number of places, added to lanes.
pub type ChainSum<T> = Kernel<unsafe fn(Link<'_, T>, &[Link<'_, T>], usize, &mut [T; LANES])>;
/// `out = f(a, b)` over rows of some number and width, again and again; past the caches where that is asked.
pub type Grid<T> = Kernel<unsafe fn(Pairing, Lie<'_, T>, Lie<'_, T>, (usize, usize), bool, &mut [T])>;
/// `a += b`, element by element.
pub type AddTo<T> = Kernel<unsafe fn(&mut [T], &[T])>;

impl<T> Unary<T> {
    #[inline]
    pub fn run(self, a: &[T], out: &mut [T]) {
        // SAFETY: kernels stand in tables alone, and `table` hands out a level's table only where the machine has
        // the level's instructions. Kernels have no other precondition: they are safe functions.
        unsafe { (self.0)(a, out) }
    }
}

impl<T, R> Binary<T, R> {
    #[inline]
    pub fn run(self, a: &[T], b: &[T], out: &mut [R]) {
        // SAFETY: as in `Unary::run`.
        unsafe { (self.0)(a, b, out) }
    }
}

impl<T> Select<T> {
    #[inline]
    pub fn run(self, c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
        // SAFETY: as in `Unary::run`.
        unsafe { (self.0)(c, a, b, out) }
    }
}

impl<T> InPlace<T> {
    #[inline]
    pub fn run(self, a: &mut [T]) {
        // SAFETY: as in `Unary::run`.
        unsafe { (self.0)(a) }
    }
}

impl<T> Sum<T> {
    #[inline]
    pub fn run(self, a: &[T]) -> T {
        // SAFETY: as in `Unary::run`.
        unsafe { (self.0)(a) }
    }
}

impl<T> Expand<T> {
    #[inline]
    pub fn run(self, from: &[T], times: usize, out: &mut [T]) {
        // SAFETY: as in `Unary::run`.
        unsafe { (self.0)(from, times, out) }
    }
}

impl<T> Across<T> {
    #[inline]
    pub fn run(self, from: &[T], step: usize, rows: &mut [&mut [T]]) {
        // SAFETY: as in `Unary::run`; the lengths are checked by the kernel.
        unsafe { (self.0)(from, step, rows) }
    }
}

impl<T> Paired<T> {
    #[inline]
    pub fn run(self, pairing: Pairing, a: &[T], b: &[T], repeat: Repeat, past: bool, out: &mut [T]) {
        // SAFETY: as in `Unary::run`; the lengths are checked by the kernel.
        unsafe { (self.0)(pairing, a, b, repeat, past, out) }
    }
}

impl<T> Chain<T> {
    #[inline]
    pub fn run(self, first: Link<'_, T>, links: &mut [Link<'_, T>], rows: usize, out: &mut [T]) {
        // SAFETY: as in `Unary::run`; the lengths are checked by the kernel.
        unsafe { (self.0)(first, links, rows, out) }
    }
}

impl<T> ChainSum<T> {
    #[inline]
    pub fn run(self, first: Link<'_, T>, links: &[Link<'_, T>], count: usize, lanes: &mut [T; LANES]) {
        // SAFETY: as in `Unary::run`; the lengths are checked by the kernel.
        unsafe { (self.0)(first, links, count, lanes) }
    }
}

impl<T> Grid<T> {
    #[inline]
    pub fn run(
        self,
        pairing: Pairing,
        (a, b): (Lie<'_, T>, Lie<'_, T>),
        rows: (usize, usize),
        past: bool,
        out: &mut [T],
    ) {
        // SAFETY: as in `Unary::run`; lengths and boundaries are checked by the kernel.
        unsafe { (self.0)(pairing, a, b, rows, past, out) }
    }
}

impl<T> AddTo<T> {
    #[inline]
    pub fn run(self, a: &mut [T], b: &[T]) {
        // SAFETY: as in `Unary::run`.
        unsafe { (self.0)(a, b) }
    }
}
