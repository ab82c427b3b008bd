//! The vectors of floats of each level, with the loops that depend on the level.

use super::chain::{self, ARITHMETIC, ChainWithFunctions, How, LANES, Link, SUMS};
use super::choice::Argument;
use super::expand::{self, Pairing, Repeat};
use super::nested::{self, NestedProgram, NestedResult};
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Portable, Simd};
use super::stream::NonTemporal;
use super::sum::{self, Folded, Reduction, Values};
use super::vector::Vector;
use std::marker::PhantomData;

/// A vector with the loops that depend on its level: on the number of its registers, or on its permutations.
///
/// # Safety
/// The methods of [`Vector`] need no other instructions than those of `Level`.
pub(super) unsafe trait LevelVector: Vector {
    /// The level of the vector. Only the entry points of this level accept the vector.
    type Level: Simd;

    /// [`chain::run`].
    ///
    /// # Safety
    /// The machine has the level's instructions.
    unsafe fn chain<const KIND: u8, const NON_TEMPORAL: bool>(
        first: &Link<'_, Self::Element>,
        links: (&mut [Link<'_, Self::Element>], bool),
        rows: usize,
        out: &mut [Self::Element],
    );

    /// [`nested::run`].
    ///
    /// # Safety
    /// The machine has the level's instructions.
    unsafe fn nested(
        program: &NestedProgram,
        arguments: (&[Argument<'_, Self::Element>], &[Argument<'_, bool>]),
        rows: usize,
        out: NestedResult<'_, Self::Element>,
    );

    /// [`sum::of_values`], for a chain.
    ///
    /// # Safety
    /// The machine has the level's instructions.
    unsafe fn chain_sum<const KIND: u8>(
        values: Folded<'_, '_, '_, Self::Element, KIND>,
        reduction: Reduction,
        sums: &mut [Self::Element],
    );

    /// [`sum::of_values`], for choices.
    ///
    /// # Safety
    /// The machine has the level's instructions.
    unsafe fn choice_sum<P: Values<Element = Self::Element>>(
        values: P,
        reduction: Reduction,
        sums: &mut [Self::Element],
    );

    /// [`sum::of_rows`].
    ///
    /// # Safety
    /// The machine has the level's instructions.
    unsafe fn sum_rows(sums: &mut [Self::Element], values: &[Self::Element]);

    /// `out = f(a, b)` with `b` repeated: plain loops, unless the level's permutations are faster.
    ///
    /// # Safety
    /// The machine has the level's instructions.
    #[inline(always)]
    unsafe fn paired(
        pairing: Pairing,
        a: &[Self::Element],
        b: &[Self::Element],
        repeat: Repeat,
        _stores: Option<&NonTemporal>,
        out: &mut [Self::Element],
    ) {
        expand::check_pair(a, b, repeat, out);
        match pairing {
            Pairing::Add => expand::pair(a, b, repeat, out, Self::Element::add),
            Pairing::Subtract => expand::pair(a, b, repeat, out, Self::Element::subtract),
            Pairing::SubtractFrom => expand::pair(a, b, repeat, out, |a, b| b.subtract(a)),
            Pairing::Multiply => expand::pair(a, b, repeat, out, Self::Element::multiply),
        }
    }
}

/// Implements [`LevelVector`]:
/// - `level`: the level whose instructions the vector uses. Every use of the macro must name the right one.
/// - `group`: the vectors in a group of a chain, half of the level's registers. A chain with functions
///   has groups of twice [`Vector::EXP_GROUP`]: it computes exp in two parts, and pays for a link's branch
///   once.
///   In the caches, exp(x*y) in f64 went from 1.06 of the time of one fused loop to 1.02 (`benches/quick`).
/// - `non_temporal`: `NON_TEMPORAL` if the level has non-temporal stores, otherwise `false`.
/// - `paired`: the kernel with permutations, if there is one.
macro_rules! level_vector {
    (unsafe impl LevelVector for $vector:ident {
        level: $level:ident,
        group: $group:literal,
        non_temporal: $non_temporal:tt,
        $(paired: $paired:path,)?
    }) => {
        // SAFETY: the use of this macro names the level whose instructions the vector uses.
        unsafe impl LevelVector for $vector {
            type Level = $level;

            #[inline(always)]
            unsafe fn chain<const KIND: u8, const NON_TEMPORAL: bool>(
                first: &Link<'_, Self::Element>,
                (links, fetches): (&mut [Link<'_, Self::Element>], bool),
                rows: usize,
                out: &mut [Self::Element],
            ) {
                let how = How::new($non_temporal, fetches);
                // SAFETY: the caller guarantees that the machine has the level's instructions, and so those
                // of this vector.
                unsafe {
                    match KIND {
                        SUMS => chain::run::<$level, Self, $group, SUMS, $non_temporal>(
                            first, (links, how), rows, out,
                        ),
                        ARITHMETIC => chain::run::<$level, Self, $group, ARITHMETIC, $non_temporal>(
                            first, (links, how), rows, out,
                        ),
                        _ => $level::section(ChainWithFunctions::<$level, Self, { 2 * Self::EXP_GROUP }> {
                            first, links, how, rows, out, level: PhantomData,
                        }),
                    }
                }
            }

            #[inline(always)]
            unsafe fn nested(
                program: &NestedProgram,
        arguments: (&[Argument<'_, Self::Element>], &[Argument<'_, bool>]),
                rows: usize,
                out: NestedResult<'_, Self::Element>,
            ) {
                // SAFETY: as in `chain`, for the instructions.
                unsafe { nested::run::<Self, { $group / 2 }>(program, arguments, rows, out) }
            }

            #[inline(always)]
            unsafe fn chain_sum<const KIND: u8>(
                values: Folded<'_, '_, '_, Self::Element, KIND>,
                reduction: Reduction,
                sums: &mut [Self::Element],
            ) {
                // SAFETY: as in `chain`, for the instructions.
                unsafe {
                    sum::of_values::<
                        $level,
                        Self,
                        _,
                        { 2 * Self::EXP_GROUP },
                        { at_most(Self::EXP_GROUP, LANES / 2 / Self::WIDTH) },
                        { LANES / Self::WIDTH },
                        { LANES / 2 / Self::WIDTH },
                        { Self::EXP_GROUP },
                    >(values, reduction, sums);
                }
            }

            #[inline(always)]
            unsafe fn choice_sum<P: Values<Element = Self::Element>>(
                values: P,
                reduction: Reduction,
                sums: &mut [Self::Element],
            ) {
                // SAFETY: as in `chain`, for the instructions.
                unsafe {
                    sum::of_values::<
                        $level,
                        Self,
                        P,
                        { at_most(4, LANES / Self::WIDTH) },
                        { at_most(4, LANES / 2 / Self::WIDTH) },
                        { LANES / Self::WIDTH },
                        { LANES / 2 / Self::WIDTH },
                        1,
                    >(values, reduction, sums);
                }
            }

            #[inline(always)]
            unsafe fn sum_rows(sums: &mut [Self::Element], values: &[Self::Element]) {
                // SAFETY: as in `chain`, for the instructions.
                unsafe {
                    sum::of_rows::<
                        Self,
                        { LANES / 4 / Self::WIDTH },
                        { LANES / 2 / Self::WIDTH },
                        { LANES / Self::WIDTH },
                    >(sums, values);
                }
            }
            $(
                #[inline(always)]
                unsafe fn paired(
                    pairing: Pairing,
                    a: &[Self::Element],
                    b: &[Self::Element],
                    repeat: Repeat,
                    stores: Option<&NonTemporal>,
                    out: &mut [Self::Element],
                ) {
                    // SAFETY: the caller guarantees the level's instructions. The kernel needs no others.
                    unsafe { $paired(pairing, a, b, repeat, stores, out) }
                }
            )?
        }
    };
}

/// The smaller of two numbers of vectors.
const fn at_most(count: usize, most: usize) -> usize {
    if count < most { count } else { most }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::*;
    use std::arch::x86_64::{__m128, __m128d, __m256, __m256d, __m512, __m512d};

    level_vector! {
        unsafe impl LevelVector for __m128d {
            level: Portable,
            group: 8,
            non_temporal: NON_TEMPORAL,
        }
    }
    level_vector! {
        unsafe impl LevelVector for __m128 {
            level: Portable,
            group: 8,
            non_temporal: NON_TEMPORAL,
        }
    }
    level_vector! {
        unsafe impl LevelVector for __m256d {
            level: Avx2,
            group: 8,
            non_temporal: NON_TEMPORAL,
        }
    }
    level_vector! {
        unsafe impl LevelVector for __m256 {
            level: Avx2,
            group: 8,
            non_temporal: NON_TEMPORAL,
        }
    }
    level_vector! {
        unsafe impl LevelVector for __m512d {
            level: Avx512,
            group: 16,
            non_temporal: NON_TEMPORAL,
            paired: expand::pair_f64,
        }
    }
    level_vector! {
        unsafe impl LevelVector for __m512 {
            level: Avx512,
            group: 16,
            non_temporal: NON_TEMPORAL,
            paired: expand::pair_f32,
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
level_vector! {
    unsafe impl LevelVector for f64 {
        level: Portable,
        group: 8,
        non_temporal: false,
    }
}
#[cfg(not(target_arch = "x86_64"))]
level_vector! {
    unsafe impl LevelVector for f32 {
        level: Portable,
        group: 8,
        non_temporal: false,
    }
}
