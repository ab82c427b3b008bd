//! Kernels: one loop per function and kind of argument, written once, compiled for every SIMD level, and
//! chosen from a table when a plan is made.
//!
//! | module | contents |
//! |---|---|
//! | `ops` | what a function does to one element |
//! | `generic`, `chain`, `sum`, `grid`, `expand`, `across` | the loops |
//! | `exp_of` | exp of a sum, a difference or a product |
//! | `permuted`, `shuffled` | repeated elements by permutations, and repeated bytes by shuffles |
//! | `rows` | the rows over which a function of two arguments runs |
//! | `integers` | the vectors of chains of integers |
//! | `few` | two to four calls of integers in one loop |
//! | `frequent` | frequent chains, each as one loop |
//! | `clip` | clips of floats |
//! | `nested` | expressions of floats that no chain takes, in one loop |
//! | `condition` | two comparisons of floats in one loop |
//! | `bounds` | a value against two bounds in one loop |
//! | `choice` | choices among floats, in vectors: maxima and minima, and choices that are added up |
//! | `choose` | choices by a comparison that are stored |
//! | `halves` | the functions of f16 and bf16, and their conversions |
//! | `group` | what the links of a chain do to a group of vectors |
//! | `vector`, `x86_64`, `compare` | the vector type of each level |
//! | `fused` | a multiply-add for machines without one |
//! | `level_vector` | the vectors of floats with the loops that depend on the level |
//! | `simd` | the entry points of each level, into which the loops are inlined |
//! | `table` | the addresses of a level's entry points, by function and element type |
//! | `stream` | non-temporal stores and prefetching |
//! | `processor` | what differs between processors of the same level |
//! | `extent` | how far a kernel reaches into a slice, by checked arithmetic |
//! | `element` | the types whose values are moved as bytes |
//!
//! A condition of constants alone is a `const` block. What is behind a false one is then not generated for
//! the compiler to remove: without these blocks, it has 1.4 times as many instructions to begin with.
//!
//! This directory and the loops of `math` contain the only unsafe code of the crate. An entry point may use
//! its level's instructions, so calling it is unsafe: the machine might lack them. [`Kernel`] makes the call
//! safe. A kernel can only be obtained from a table, and [`table()`] returns a level's table only if the
//! machine has the level.
//!
//! No arguments make a kernel touch memory outside its slices. The kernels that use pointers make an `Extent`
//! of every slice from the lengths and steps that they are given, and panic if a slice is shorter. The others
//! are safe code: where lengths differ, they compute the elements that all slices have. Kernels with
//! non-temporal stores can only be called inside `fenced`, which orders these stores before everything that
//! follows. Nothing outside the crate can call a kernel.
#![allow(unsafe_code, reason = "the only place where a level's entry points are called")]

mod across;
mod bounds;
mod chain;
mod choice;
mod choose;
mod clip;
#[cfg(target_arch = "x86_64")]
mod compare;
mod condition;
mod element;
mod exp_of;
mod expand;
mod extent;
mod few;
mod frequent;
#[cfg(target_arch = "x86_64")]
mod fused;
mod generic;
mod grid;
mod group;
mod halves;
mod integers;
mod level_vector;
mod nested;
mod ops;
mod permuted;
mod processor;
mod rows;
mod shuffled;
mod simd;
mod stream;
mod sum;
mod table;
#[cfg(test)]
mod tests;
pub(crate) mod vector;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use crate::math::{f32, f64, tanh};

pub(crate) use across::ROWS;
pub(crate) use bounds::Bounds;
pub(crate) use chain::{ChainKind, ChainOp, Link};
pub(crate) use choice::{Argument, Comparison};
pub(crate) use choose::{Branch, Rule};
pub(crate) use condition::{Arguments, Condition, Order};
pub(crate) use expand::{MAX_REPEAT, Pairing, Repeat};
pub(crate) use grid::GridOperand;
pub(crate) use group::counted;
pub(crate) use nested::{NestedOp, NestedProgram, NestedResult, Reads, SLOTS};
pub(crate) use permuted::Permutations;
pub(crate) use processor::is_intel;
pub(crate) use rows::Rows;
pub(crate) use stream::{Ahead, LINE as CACHE_LINE, NonTemporal, fenced};
pub(crate) use sum::Reduction;
pub(crate) use table::{CallKernel, FloatKernels, Kernels, Table, table};

/// A kernel of some level: the address of one of its entry points.
#[derive(Clone, Copy)]
pub(crate) struct Kernel<F>(F);

impl<F> std::fmt::Debug for Kernel<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kernel")
    }
}

/// Defines the types of kernels by their arguments, each with a method that runs the kernel.
macro_rules! kernels {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident<$($type:ident),*>($($argument:ident: $of:ty),*) $(-> $result:ty)?;
    )*) => { $(
        $(#[doc = $doc])*
        pub(crate) type $name<$($type),*> = Kernel<unsafe fn($($of),*) $(-> $result)?>;

        impl<$($type),*> $name<$($type),*> {
            #[inline]
            pub(crate) fn run(self, $($argument: $of),*) $(-> $result)? {
                // SAFETY: kernels exist only in tables, and `table` returns a level's table only if the
                // machine has the level's instructions. Entry points have no other precondition: they check
                // the lengths and the alignment of their arguments.
                unsafe { (self.0)($($argument),*) }
            }
        }
    )* };
}

/// `out = f(a, b)`, element by element, in one row or in several.
pub(crate) type Binary<T, R> = Kernel<unsafe fn(&[T], &[T], Option<&Rows>, &mut [R])>;

impl<T, R> Binary<T, R> {
    /// One row.
    #[inline]
    pub(crate) fn run(self, a: &[T], b: &[T], out: &mut [R]) {
        // SAFETY: as for the kernels below.
        unsafe { (self.0)(a, b, None, out) }
    }

    /// Several rows.
    ///
    /// # Panics
    /// If a row begins beyond the end of an argument.
    #[inline]
    pub(crate) fn run_rows(self, a: &[T], b: &[T], rows: &Rows, out: &mut [R]) {
        // SAFETY: as for the kernels below.
        unsafe { (self.0)(a, b, Some(rows), out) }
    }
}

kernels! {
    /// `out = f(a)`, element by element.
    Unary<T>(a: &[T], out: &mut [T]);
    /// `out = f(x, a, b)`, element by element, over some rows in each of which `a` and `b` are one value.
    Bounded<T, R>(x: &Argument<'_, T>, bounds: [&Argument<'_, T>; 2], rows: usize, out: &mut [R]);
    /// Two comparisons and what joins them, element by element.
    Joined<T>(arguments: Arguments<'_, T>, out: &mut [bool]);
    /// `out = if c { a } else { b }`, element by element.
    Select<T>(c: &[bool], a: &[T], b: &[T], out: &mut [T]);
    /// `out = if x op limit { a } else { b }`, or what the rule says, element by element, over some rows.
    Choose<T>(
        rule: Rule,
        arguments: &[Argument<'_, T>; 5],
        rows: usize,
        stores: Option<&NonTemporal>,
        out: &mut [T]
    );
    /// A nested expression over a number of rows.
    Nested<T>(
        program: &NestedProgram,
        arguments: (&[Argument<'_, T>], &[Argument<'_, bool>]),
        rows: usize,
        out: NestedResult<'_, T>
    );
    /// Converts the bits of halves to f32, element by element.
    Widen<>(from: &[u16], to: &mut [f32]);
    /// Rounds f32 to the bits of halves, element by element.
    Narrow<>(from: &[f32], to: &mut [u16]);
    /// `a = f(a)`, element by element.
    InPlace<T>(a: &mut [T]);
    /// Copies, with non-temporal stores where they are available.
    CopyOut<T>(stores: &NonTemporal, from: &[T], to: &mut [T]);
    /// Repeats each element a number of times.
    Expand<T>(from: &[T], times: usize, permutations: &mut Permutations, out: &mut [T]);
    /// Transposes columns, which begin a number of elements apart, into rows.
    Across<T>(from: &[T], step: usize, rows: &mut [&mut [T]]);
    /// `out = f(a, b)` with `b` repeated; with non-temporal stores if permitted and available.
    Paired<T>(
        pairing: Pairing,
        a: &[T],
        b: &[T],
        repeat: Repeat,
        stores: Option<&NonTemporal>,
        out: &mut [T]
    );
    /// A chain from its first argument through its links, over a number of rows. The flag says whether to
    /// prefetch operands, which only chains with functions do.
    Chain<T>(first: &Link<'_, T>, links: (&mut [Link<'_, T>], bool), rows: usize, out: &mut [T]);
    /// Rows of a chain's values, added up. The flag says whether to prefetch operands.
    ChainSum<T>(first: &Link<'_, T>, links: (&mut [Link<'_, T>], bool), reduction: Reduction, sums: &mut [T]);
    /// Rows of `if x op limit { a } else { b }`, added up, likewise.
    ChoiceSum<T>(
        comparison: Comparison,
        arguments: ([Argument<'_, T>; 4], bool),
        reduction: Reduction,
        sums: &mut [T]
    );
    /// Rows of `if c { a } else { b }`, added up, likewise. `c` has a value for each element of a row.
    SelectSum<T>(
        c: Argument<'_, bool>,
        branches: ([Argument<'_, T>; 2], bool),
        reduction: Reduction,
        sums: &mut [T]
    );
    /// `out = f(a, b)` over blocks of a number of rows of a width; with non-temporal stores if permitted and
    /// available.
    Grid<T>(
        pairing: Pairing,
        a: GridOperand<'_, T>,
        b: GridOperand<'_, T>,
        rows: (usize, usize),
        stores: Option<&NonTemporal>,
        out: &mut [T]
    );
    /// `a += b`, element by element.
    AddTo<T>(a: &mut [T], b: &[T]);
}
