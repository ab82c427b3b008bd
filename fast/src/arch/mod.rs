//! Kernels: one loop per function and kind of argument, written once, compiled for every SIMD level, and
//! chosen from a table when a plan is made.
//!
//! | module | contents |
//! |---|---|
//! | `ops` | what a function does to one element |
//! | `generic`, `chain`, `grid`, `expand`, `across` | the loops |
//! | `vector`, `x86_64` | the vector type of each level |
//! | `simd` | the entry points of each level, into which the loops are inlined |
//! | `table` | the addresses of a level's entry points, by function and element type |
//! | `stream` | non-temporal stores and prefetching |
//!
//! This directory and the loops of `math` contain the only unsafe code of the crate. An entry point may use
//! its level's instructions, so calling it is unsafe: the machine might lack them. [`Kernel`] makes the call
//! safe. A kernel can only be obtained from a table, and [`table()`] returns a level's table only if the
//! machine has the level.
#![allow(unsafe_code, reason = "the only place where a level's entry points are called")]

mod across;
mod chain;
mod expand;
mod generic;
mod grid;
mod ops;
mod simd;
mod stream;
mod table;
pub(crate) mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::math::{f32, f64};

pub use across::ROWS;
pub use chain::{ChainOp, LANES, Link};
pub use expand::{MAX_REPEAT, Pairing, Repeat};
pub use grid::{GridOperand, LINE as GRID_LINE};
pub use ops::{round_to_bf16, round_to_f16};
pub use stream::fence;
pub use table::{CallKernel, FloatKernels, Kernels, Scalars, Table, table};

/// A kernel of some level: the address of one of its entry points.
#[derive(Clone, Copy)]
pub struct Kernel<F>(F);

impl<F> std::fmt::Debug for Kernel<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kernel")
    }
}

/// `out = f(a)`, element by element.
pub type Unary<T> = Kernel<unsafe fn(&[T], &mut [T])>;
/// `out = f(a, b)`, element by element.
pub type Binary<T, R> = Kernel<unsafe fn(&[T], &[T], &mut [R])>;
/// `out = if c { a } else { b }`, element by element.
pub type Select<T> = Kernel<unsafe fn(&[bool], &[T], &[T], &mut [T])>;
/// `a = f(a)`, element by element.
pub type InPlace<T> = Kernel<unsafe fn(&mut [T])>;
/// The sum of the elements.
pub type Sum<T> = Kernel<unsafe fn(&[T]) -> T>;
/// Repeats each element a number of times.
pub type Expand<T> = Kernel<unsafe fn(&[T], usize, &mut [T])>;
/// Transposes columns, which begin a number of elements apart, into rows.
pub type Across<T> = Kernel<unsafe fn(&[T], usize, &mut [&mut [T]])>;
/// `out = f(a, b)` with `b` repeated; with non-temporal stores if requested and available.
pub type Paired<T> = Kernel<unsafe fn(Pairing, &[T], &[T], Repeat, bool, &mut [T])>;
/// A chain from its first argument through its links, over a number of rows.
pub type Chain<T> = Kernel<unsafe fn(Link<'_, T>, &mut [Link<'_, T>], usize, &mut [T])>;
/// The values of a chain over a number of elements, added to partial sums.
pub type ChainSum<T> = Kernel<unsafe fn(Link<'_, T>, &[Link<'_, T>], usize, &mut [T; LANES])>;
/// `out = f(a, b)` over blocks of rows; with non-temporal stores if requested and available.
pub type Grid<T> =
    Kernel<unsafe fn(Pairing, GridOperand<'_, T>, GridOperand<'_, T>, (usize, usize), bool, &mut [T])>;
/// `a += b`, element by element.
pub type AddTo<T> = Kernel<unsafe fn(&mut [T], &[T])>;

impl<T> Unary<T> {
    #[inline]
    pub fn run(self, a: &[T], out: &mut [T]) {
        // SAFETY: kernels exist only in tables, and `table` returns a level's table only if the machine has
        // the level's instructions. Entry points have no other precondition.
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
        // SAFETY: as in `Unary::run`. The kernel checks the lengths.
        unsafe { (self.0)(from, step, rows) }
    }
}

impl<T> Paired<T> {
    #[inline]
    pub fn run(self, pairing: Pairing, a: &[T], b: &[T], repeat: Repeat, non_temporal: bool, out: &mut [T]) {
        // SAFETY: as in `Unary::run`. The kernel checks the lengths.
        unsafe { (self.0)(pairing, a, b, repeat, non_temporal, out) }
    }
}

impl<T> Chain<T> {
    #[inline]
    pub fn run(self, first: Link<'_, T>, links: &mut [Link<'_, T>], rows: usize, out: &mut [T]) {
        // SAFETY: as in `Unary::run`. The kernel checks the lengths.
        unsafe { (self.0)(first, links, rows, out) }
    }
}

impl<T> ChainSum<T> {
    #[inline]
    pub fn run(self, first: Link<'_, T>, links: &[Link<'_, T>], count: usize, lanes: &mut [T; LANES]) {
        // SAFETY: as in `Unary::run`. The kernel checks the lengths.
        unsafe { (self.0)(first, links, count, lanes) }
    }
}

impl<T> Grid<T> {
    #[inline]
    pub fn run(
        self,
        pairing: Pairing,
        (a, b): (GridOperand<'_, T>, GridOperand<'_, T>),
        rows: (usize, usize),
        non_temporal: bool,
        out: &mut [T],
    ) {
        // SAFETY: as in `Unary::run`. The kernel checks the lengths and the alignment.
        unsafe { (self.0)(pairing, a, b, rows, non_temporal, out) }
    }
}

impl<T> AddTo<T> {
    #[inline]
    pub fn run(self, a: &mut [T], b: &[T]) {
        // SAFETY: as in `Unary::run`.
        unsafe { (self.0)(a, b) }
    }
}
