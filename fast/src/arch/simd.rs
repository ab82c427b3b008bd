//! The SIMD levels as types. [`Simd`] lists the entry points of a level: functions that are compiled with its
//! instructions and into which the loops of [`generic`](super::generic), [`chain`](super::chain),
//! [`sum`](super::sum) and [`grid`](super::grid) are inlined. [`table`](super::table) stores their addresses.
//!
//! To add a level, implement [`Simd`] for it, [`Vector`] and [`LevelVector`] for its two types of vectors of
//! floats, and [`ChainVector`] and [`LevelIntegers`] for its vectors of integers.

use super::bounds::Bounded;
use super::chain::Link;
use super::choice::{self, Argument, Comparison};
use super::choose::{self, Rule};
use super::condition::{Arguments, Formula};
use super::element::{Bits, Element};
use super::expand::{self, Pairing, Repeat};
use super::grid::{self, GridOperand};
use super::halves::{self, HalfVector, VectorOp};
#[cfg(target_arch = "x86_64")]
use super::integers::Lanes;
use super::integers::LevelIntegers;
use super::level_vector::LevelVector;
use super::nested::{NestedProgram, NestedResult};
use super::ops::{Op1, Op2};
#[cfg(target_arch = "x86_64")]
use super::permuted;
use super::permuted::Permutations;
use super::rows::{EachRow, Rows};
#[cfg(target_arch = "x86_64")]
use super::shuffled;
use super::stream::{self, NonTemporal};
use super::sum::{Folded, Reduction};
use super::{across, generic};
use crate::Level;

/// A level's vectors and entry points. An entry point accepts only vectors of its own level, so `float` in
/// [`table`](super::table) cannot combine a level with the vector of another one.
///
/// # Safety
/// Every function may be called only on a machine that has the level's instructions. There is no other
/// precondition but that of [`Simd::section`].
pub(super) trait Simd: Sized {
    const LEVEL: Level;
    type F64: LevelVector<Element = f64, Level = Self>;
    type F32: LevelVector<Element = f32, Level = Self>;
    type U64: LevelIntegers<Element = u64, Level = Self>;
    type U32: LevelIntegers<Element = u32, Level = Self>;
    type U16: LevelIntegers<Element = u16, Level = Self>;
    type U8: LevelIntegers<Element = u8, Level = Self>;
    /// The vector for conversions of f16, which needs no other instructions than those of the level.
    type Halves: HalfVector;

    unsafe fn unary<T: Copy, O: Op1<T>>(a: &[T], out: &mut [T]);
    unsafe fn vector_vector<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], rows: Option<&Rows>, out: &mut [R]);
    unsafe fn vector_scalar<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], rows: Option<&Rows>, out: &mut [R]);
    unsafe fn scalar_vector<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], rows: Option<&Rows>, out: &mut [R]);
    /// `O` of b and a. This and the two that follow are the kernels of a > b, which is b < a, and of s + a,
    /// which is a + s: calls of other kernels, not more loops to compile.
    unsafe fn vector_vector_exchanged<T: Copy, R, O: Op2<T, R>>(
        a: &[T],
        b: &[T],
        rows: Option<&Rows>,
        out: &mut [R],
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::vector_vector::<T, R, O>(b, a, rows.map(Rows::exchanged).as_ref(), out) }
    }
    /// `O` of b, one value, and a.
    unsafe fn vector_scalar_exchanged<T: Copy, R, O: Op2<T, R>>(
        a: &[T],
        b: &[T],
        rows: Option<&Rows>,
        out: &mut [R],
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::scalar_vector::<T, R, O>(b, a, rows.map(Rows::exchanged).as_ref(), out) }
    }
    /// `O` of b and a, one value.
    unsafe fn scalar_vector_exchanged<T: Copy, R, O: Op2<T, R>>(
        a: &[T],
        b: &[T],
        rows: Option<&Rows>,
        out: &mut [R],
    ) {
        // SAFETY: guaranteed by the caller.
        unsafe { Self::vector_scalar::<T, R, O>(b, a, rows.map(Rows::exchanged).as_ref(), out) }
    }
    unsafe fn joined<T: Copy, F: Formula<T>>(arguments: Arguments<'_, T>, out: &mut [bool]);
    unsafe fn bounded<T: Copy, R, O: Bounded<T, R>>(
        x: &Argument<'_, T>,
        bounds: [&Argument<'_, T>; 2],
        rows: usize,
        out: &mut [R],
    );
    unsafe fn select_vectors<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]);
    unsafe fn select_scalar_vector<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]);
    unsafe fn select_vector_scalar<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]);
    unsafe fn select_scalars<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]);
    unsafe fn in_place<T: Copy, O: Op1<T>>(a: &mut [T]);
    unsafe fn f16_unary<O: VectorOp>(a: &[u16], out: &mut [u16]);
    unsafe fn f16_binary<O: VectorOp, const ONE_A: bool, const ONE_B: bool>(
        a: &[u16],
        b: &[u16],
        rows: Option<&Rows>,
        out: &mut [u16],
    );
    unsafe fn widen_f16(from: &[u16], to: &mut [f32]);
    unsafe fn narrow_f16(from: &[f32], to: &mut [u16]);
    unsafe fn widen_bf16(from: &[u16], to: &mut [f32]);
    unsafe fn narrow_bf16(from: &[f32], to: &mut [u16]);
    unsafe fn sum_rows<V: LevelVector<Level = Self>>(sums: &mut [V::Element], values: &[V::Element]);
    unsafe fn add_to<T: Copy, O: Op2<T, T>>(a: &mut [T], b: &[T]);
    unsafe fn add_rows<T: Copy, O: Op2<T, T>>(a: &mut [T], rows: &[T]);
    unsafe fn chain<V: LevelVector<Level = Self>, const KIND: u8, const NON_TEMPORAL: bool>(
        first: &Link<'_, V::Element>,
        links: (&mut [Link<'_, V::Element>], bool),
        rows: usize,
        out: &mut [V::Element],
    );
    unsafe fn integers<V: LevelIntegers<Level = Self>, const NON_TEMPORAL: bool>(
        first: &Link<'_, V::Element>,
        links: (&mut [Link<'_, V::Element>], bool),
        rows: usize,
        out: &mut [V::Element],
    );
    unsafe fn chain_sum<V: LevelVector<Level = Self>, const KIND: u8>(
        first: &Link<'_, V::Element>,
        links: (&mut [Link<'_, V::Element>], bool),
        reduction: Reduction,
        sums: &mut [V::Element],
    );
    unsafe fn choice_sum<V: LevelVector<Level = Self>>(
        comparison: Comparison,
        arguments: ([Argument<'_, V::Element>; 4], bool),
        reduction: Reduction,
        sums: &mut [V::Element],
    );
    unsafe fn select_sum<V: LevelVector<Level = Self>>(
        condition: Argument<'_, bool>,
        branches: ([Argument<'_, V::Element>; 2], bool),
        reduction: Reduction,
        sums: &mut [V::Element],
    );
    unsafe fn choice<V: LevelVector<Level = Self>, O: VectorOp, const ONE_A: bool, const ONE_B: bool>(
        a: &[V::Element],
        b: &[V::Element],
        rows: Option<&Rows>,
        out: &mut [V::Element],
    );
    unsafe fn choose<V: LevelVector<Level = Self>>(
        rule: Rule,
        arguments: &[Argument<'_, V::Element>; 5],
        rows: usize,
        stores: Option<&NonTemporal>,
        out: &mut [V::Element],
    );
    unsafe fn nested<V: LevelVector<Level = Self>>(
        program: &NestedProgram,
        arguments: (&[Argument<'_, V::Element>], &[Argument<'_, bool>]),
        rows: usize,
        out: NestedResult<'_, V::Element>,
    );
    unsafe fn grid<V: LevelVector<Level = Self>>(
        pairing: Pairing,
        a: GridOperand<'_, V::Element>,
        b: GridOperand<'_, V::Element>,
        rows: (usize, usize),
        stores: Option<&NonTemporal>,
        out: &mut [V::Element],
    );
    unsafe fn paired<V: LevelVector<Level = Self>>(
        pairing: Pairing,
        a: &[V::Element],
        b: &[V::Element],
        repeat: Repeat,
        stores: Option<&NonTemporal>,
        out: &mut [V::Element],
    );

    /// Copies with non-temporal stores where the level has them.
    unsafe fn copy<T: Element>(stores: &NonTemporal, from: &[T], to: &mut [T]);
    /// Repeats each element `times` times.
    unsafe fn expand<T: Element>(from: &[T], times: usize, permutations: &mut Permutations, out: &mut [T]);
    /// Transposes columns that are `step` apart into rows.
    unsafe fn across<T: Element>(from: &[T], step: usize, rows: &mut [&mut [T]]);

    /// Computes a section of another entry point, in a function of its own. The conditions of the section
    /// must hold, too.
    unsafe fn section<S: Section>(section: S) -> S::Result;
}

/// A section of an entry point, such as the short rows of a chain. The compiler takes longer for a loop the
/// larger its function is, so sections are functions of their own. (Together with fewer copies of some loops,
/// that took the time to compile the crate from 135 to 87 s.)
///
/// Its vectors are those of the level by which it is called.
pub(super) trait Section {
    type Result;

    /// # Safety
    /// The machine has the level's instructions. The conditions of the section hold.
    unsafe fn compute(self) -> Self::Result;
}

/// The entry points whose source is the same for every level, compiled with the given target features.
macro_rules! entry_points {
    (
        target_features: [$($features:literal)?], vectors: [$f64:ty, $f32:ty], halves: $halves:ty,
        integers: [$u64:ty, $u32:ty, $u16:ty, $u8:ty]
    ) => {
        type F64 = $f64;
        type F32 = $f32;
        type U64 = $u64;
        type U32 = $u32;
        type U16 = $u16;
        type U8 = $u8;
        type Halves = $halves;

        $(#[target_feature(enable = $features)])?
        unsafe fn unary<T: Copy, O: Op1<T>>(a: &[T], out: &mut [T]) {
            generic::unary::<T, O>(a, out);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn vector_vector<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], rows: Option<&Rows>, out: &mut [R]) {
            generic::vector_vector::<T, R, O>(a, b, rows, out);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn vector_scalar<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], rows: Option<&Rows>, out: &mut [R]) {
            generic::vector_scalar::<T, R, O>(a, b, rows, out);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn scalar_vector<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], rows: Option<&Rows>, out: &mut [R]) {
            generic::scalar_vector::<T, R, O>(a, b, rows, out);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn joined<T: Copy, F: Formula<T>>(arguments: Arguments<'_, T>, out: &mut [bool]) {
            F::run(arguments, out);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn bounded<T: Copy, R, O: Bounded<T, R>>(
            x: &Argument<'_, T>,
            bounds: [&Argument<'_, T>; 2],
            rows: usize,
            out: &mut [R],
        ) {
            generic::bounded::<T, R, O>(x, bounds, rows, out);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn select_vectors<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
            generic::select_vectors(c, a, b, out);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn select_scalar_vector<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
            generic::select_scalar_vector(c, a, b, out);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn select_vector_scalar<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
            generic::select_vector_scalar(c, a, b, out);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn select_scalars<T: Bits>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
            generic::select_scalars(c, a, b, out);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn in_place<T: Copy, O: Op1<T>>(a: &mut [T]) {
            generic::in_place::<T, O>(a);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn f16_unary<O: VectorOp>(a: &[u16], out: &mut [u16]) {
            // SAFETY: the caller guarantees the level's instructions, and the vector needs no others.
            unsafe { halves::unary::<Self::Halves, O>(a, out) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn f16_binary<O: VectorOp, const ONE_A: bool, const ONE_B: bool>(
            a: &[u16],
            b: &[u16],
            rows: Option<&Rows>,
            out: &mut [u16],
        ) {
            for (a, b, out) in EachRow::new(a, b, rows, out) {
                // SAFETY: as in `f16_unary`.
                unsafe { halves::binary::<Self::Halves, O, ONE_A, ONE_B>(a, b, out) }
            }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn widen_f16(from: &[u16], to: &mut [f32]) {
            // SAFETY: as in `f16_unary`.
            unsafe { halves::widen::<Self::Halves>(from, to) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn narrow_f16(from: &[f32], to: &mut [u16]) {
            // SAFETY: as in `f16_unary`.
            unsafe { halves::narrow::<Self::Halves>(from, to) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn widen_bf16(from: &[u16], to: &mut [f32]) {
            halves::widen_bf16(from, to);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn narrow_bf16(from: &[f32], to: &mut [u16]) {
            halves::narrow_bf16(from, to);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn sum_rows<V: LevelVector<Level = Self>>(sums: &mut [V::Element], values: &[V::Element]) {
            // SAFETY: as in `chain`.
            unsafe { V::sum_rows(sums, values) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn add_to<T: Copy, O: Op2<T, T>>(a: &mut [T], b: &[T]) {
            generic::add_to::<T, O>(a, b);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn add_rows<T: Copy, O: Op2<T, T>>(a: &mut [T], rows: &[T]) {
            generic::add_rows::<T, O>(a, rows);
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn chain<V: LevelVector<Level = Self>, const KIND: u8, const NON_TEMPORAL: bool>(
            first: &Link<'_, V::Element>,
            links: (&mut [Link<'_, V::Element>], bool),
            rows: usize,
            out: &mut [V::Element],
        ) {
            // SAFETY: `V` is a vector of this level by its bound, and the caller guarantees the level's
            // instructions.
            unsafe { V::chain::<KIND, NON_TEMPORAL>(first, links, rows, out) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn integers<V: LevelIntegers<Level = Self>, const NON_TEMPORAL: bool>(
            first: &Link<'_, V::Element>,
            (links, _): (&mut [Link<'_, V::Element>], bool),
            rows: usize,
            out: &mut [V::Element],
        ) {
            // SAFETY: as in `chain`.
            unsafe { V::chain::<NON_TEMPORAL>(first, links, rows, out) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn chain_sum<V: LevelVector<Level = Self>, const KIND: u8>(
            first: &Link<'_, V::Element>,
            (links, fetches): (&mut [Link<'_, V::Element>], bool),
            reduction: Reduction,
            sums: &mut [V::Element],
        ) {
            // SAFETY: as in `chain`.
            unsafe { V::chain_sum::<KIND>(Folded { first: *first, links, fetches }, reduction, sums) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn choice_sum<V: LevelVector<Level = Self>>(
            comparison: Comparison,
            arguments: ([Argument<'_, V::Element>; 4], bool),
            reduction: Reduction,
            sums: &mut [V::Element],
        ) {
            // SAFETY: as in `chain`.
            unsafe { choice::choice_sum::<V>(comparison, arguments, reduction, sums) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn select_sum<V: LevelVector<Level = Self>>(
            condition: Argument<'_, bool>,
            branches: ([Argument<'_, V::Element>; 2], bool),
            reduction: Reduction,
            sums: &mut [V::Element],
        ) {
            // SAFETY: as in `chain`.
            unsafe { choice::select_sum::<V>(condition, branches, reduction, sums) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn choice<V: LevelVector<Level = Self>, O: VectorOp, const ONE_A: bool, const ONE_B: bool>(
            a: &[V::Element],
            b: &[V::Element],
            rows: Option<&Rows>,
            out: &mut [V::Element],
        ) {
            // SAFETY: as in `chain`.
            unsafe { choice::binary::<V, O, ONE_A, ONE_B>(a, b, rows, out) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn choose<V: LevelVector<Level = Self>>(
            rule: Rule,
            arguments: &[Argument<'_, V::Element>; 5],
            rows: usize,
            stores: Option<&NonTemporal>,
            out: &mut [V::Element],
        ) {
            // SAFETY: as in `chain`.
            unsafe { choose::choose::<V>(rule, arguments, rows, stores, out) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn nested<V: LevelVector<Level = Self>>(
            program: &NestedProgram,
        arguments: (&[Argument<'_, V::Element>], &[Argument<'_, bool>]),
            rows: usize,
            out: NestedResult<'_, V::Element>,
        ) {
            // SAFETY: as in `chain`.
            unsafe { V::nested(program, arguments, rows, out) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn grid<V: LevelVector<Level = Self>>(
            pairing: Pairing,
            a: GridOperand<'_, V::Element>,
            b: GridOperand<'_, V::Element>,
            rows: (usize, usize),
            stores: Option<&NonTemporal>,
            out: &mut [V::Element],
        ) {
            // SAFETY: as in `chain`.
            unsafe { grid::run::<V>(pairing, a, b, rows, stores, out) }
        }

        $(#[target_feature(enable = $features)])?
        unsafe fn paired<V: LevelVector<Level = Self>>(
            pairing: Pairing,
            a: &[V::Element],
            b: &[V::Element],
            repeat: Repeat,
            stores: Option<&NonTemporal>,
            out: &mut [V::Element],
        ) {
            // SAFETY: as in `chain`.
            unsafe { V::paired(pairing, a, b, repeat, stores, out) }
        }

        $(#[target_feature(enable = $features)])?
        #[inline(never)]
        unsafe fn section<S: Section>(section: S) -> S::Result {
            // SAFETY: guaranteed by the caller.
            unsafe { section.compute() }
        }
    };
}

pub(super) use portable::Portable;

// The compiler makes one unit of all functions that it generates for the types of a module, and compiles
// units in parallel. So each level is a module: with one module for all, the crate took 1.4 times as long to
// compile.

mod portable {
    /// What the compilation target has, which on x86-64 is SSE2.
    pub(crate) struct Portable;
}

impl Simd for Portable {
    const LEVEL: Level = Level::Portable;
    #[cfg(target_arch = "x86_64")]
    entry_points! {
        target_features: [],
        vectors: [std::arch::x86_64::__m128d, std::arch::x86_64::__m128],
        halves: f32,
        integers: [
            Lanes<u64, std::arch::x86_64::__m128i>, Lanes<u32, std::arch::x86_64::__m128i>,
            Lanes<u16, std::arch::x86_64::__m128i>, Lanes<u8, std::arch::x86_64::__m128i>
        ]
    }
    #[cfg(not(target_arch = "x86_64"))]
    entry_points! { target_features: [], vectors: [f64, f32], halves: f32, integers: [u64, u32, u16, u8] }

    unsafe fn copy<T: Element>(_: &NonTemporal, from: &[T], to: &mut [T]) {
        stream::plain(from, to);
    }

    unsafe fn expand<T: Element>(from: &[T], times: usize, _: &mut Permutations, out: &mut [T]) {
        expand::repeat(from, times, out);
    }

    unsafe fn across<T: Element>(from: &[T], step: usize, rows: &mut [&mut [T]]) {
        across::plain(from, step, rows);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    /// x86-64 with AVX2, FMA and F16C.
    pub(crate) struct Avx2;
}
#[cfg(target_arch = "x86_64")]
pub(super) use avx2::Avx2;

#[cfg(target_arch = "x86_64")]
impl Simd for Avx2 {
    const LEVEL: Level = Level::Avx2;
    entry_points! {
        target_features: ["avx2,fma,f16c"],
        vectors: [std::arch::x86_64::__m256d, std::arch::x86_64::__m256],
        halves: std::arch::x86_64::__m256,
        integers: [
            Lanes<u64, std::arch::x86_64::__m256i>, Lanes<u32, std::arch::x86_64::__m256i>,
            Lanes<u16, std::arch::x86_64::__m256i>, Lanes<u8, std::arch::x86_64::__m256i>
        ]
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn copy<T: Element>(stores: &NonTemporal, from: &[T], to: &mut [T]) {
        stream::copy(stores, from, to);
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn expand<T: Element>(from: &[T], times: usize, _: &mut Permutations, out: &mut [T]) {
        shuffled::repeat(from, times, out);
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn across<T: Element>(from: &[T], step: usize, rows: &mut [&mut [T]]) {
        across::squares(from, step, rows);
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    /// x86-64 with AVX-512 (F, BW, DQ, VL).
    pub(crate) struct Avx512;
}
#[cfg(target_arch = "x86_64")]
pub(super) use avx512::Avx512;

#[cfg(target_arch = "x86_64")]
impl Simd for Avx512 {
    const LEVEL: Level = Level::Avx512;
    entry_points! {
        target_features: ["avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"],
        vectors: [std::arch::x86_64::__m512d, std::arch::x86_64::__m512],
        halves: std::arch::x86_64::__m512,
        integers: [
            Lanes<u64, std::arch::x86_64::__m512i>, Lanes<u32, std::arch::x86_64::__m512i>,
            Lanes<u16, std::arch::x86_64::__m512i>, Lanes<u8, std::arch::x86_64::__m512i>
        ]
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn copy<T: Element>(stores: &NonTemporal, from: &[T], to: &mut [T]) {
        stream::copy(stores, from, to);
    }

    #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn expand<T: Element>(from: &[T], times: usize, permutations: &mut Permutations, out: &mut [T]) {
        permuted::avx512(from, times, permutations, out);
    }

    #[target_feature(enable = "avx2,fma,f16c")]
    unsafe fn across<T: Element>(from: &[T], step: usize, rows: &mut [&mut [T]]) {
        across::squares(from, step, rows);
    }
}
