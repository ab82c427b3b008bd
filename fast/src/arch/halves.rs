//! Functions of f16 and bf16 over the bits of their values, without registers of f32 in between.
//!
//! What compares, chooses or changes a sign works on the bits, as on integers of 16 bits. Arithmetic converts
//! to f32 and rounds back, element by element: for f16 with the conversions of F16C if the level has them
//! ([`HalfVector`]), otherwise by branchless integer arithmetic, which the compiler vectorises. Both give the
//! same bits, NaNs included. An f32 has more than twice the digits of either format, so that the second
//! rounding of a sum, difference, product, quotient or square root is that of the exact value.
//!
//! A sum of f16 takes about a fifth of the time that it took in registers of f32, and a change of sign a
//! thirtieth (`benches/sweep`).

use super::Kernel;
use super::bounds::{Bounded, Clips};
use super::ops::{
    Abs, Add, Divide, Equal, Greater, GreaterEqual, Less, LessEqual, Maximum, Minimum, Multiply, Negate,
    NotEqual, Op1, Op2, Sqrt, Subtract, round_to_bf16, round_to_f16,
};
use super::simd::Simd;
use super::vector::Vector;
use std::marker::PhantomData;

/// A format of 16 bits: a sign, an exponent and a mantissa.
pub(super) trait Format {
    /// The bits of infinity. Those of a NaN without its sign are greater.
    const INFINITY: u16;
    /// The number with these bits.
    fn widen(bits: u16) -> f32;
    /// The bits of the nearest number, ties to even.
    fn narrow(value: f32) -> u16;
}

pub(super) struct F16;
pub(super) struct Bf16;

/// The bits of a number without its sign.
const SIZE: u16 = 0x7fff;
const SIGN: u16 = 0x8000;

/// 2^112, the ratio of the numbers that f16 and f32 give to the same exponent and mantissa.
const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
/// 2^-112.
const UNBIAS: f32 = f32::from_bits((127 - 112) << 23);

impl Format for F16 {
    const INFINITY: u16 = 0x7c00;

    #[inline(always)]
    fn widen(bits: u16) -> f32 {
        let sign = u32::from(bits & SIGN) << 16;
        let size = u32::from(bits & SIZE) << 13;
        // Exact for subnormal numbers too, which are subnormal before the multiplication and normal after it.
        let number = (f32::from_bits(size) * REBIAS).to_bits();
        // The instruction makes every NaN quiet.
        let quiet = if bits & SIZE > Self::INFINITY { 0x0040_0000 } else { 0 };
        let special = size | 0x7f80_0000 | quiet;
        f32::from_bits(sign | if bits & SIZE >= Self::INFINITY { special } else { number })
    }

    #[allow(
        clippy::cast_possible_truncation,
        reason = "the bits that are cut off are zeros, or those of a NaN"
    )]
    #[inline(always)]
    fn narrow(value: f32) -> u16 {
        let sign = (value.to_bits() >> 16) as u16 & SIGN;
        let size = value.to_bits() & 0x7fff_ffff;
        let rounded = f32::from_bits(round_to_f16(f32::from_bits(size)).to_bits());
        let number = ((rounded * UNBIAS).to_bits() >> 13) as u16;
        let number = if rounded.to_bits() >= 0x7f80_0000 { Self::INFINITY } else { number };
        // The instruction keeps the upper bits of a NaN and makes it quiet.
        let nan = Self::INFINITY | 0x0200 | (size >> 13) as u16 & 0x03ff;
        sign | if size > 0x7f80_0000 { nan } else { number }
    }
}

impl Format for Bf16 {
    const INFINITY: u16 = 0x7f80;

    #[inline(always)]
    fn widen(bits: u16) -> f32 {
        f32::from_bits(u32::from(bits) << 16)
    }

    #[allow(clippy::cast_possible_truncation, reason = "the upper half")]
    #[inline(always)]
    fn narrow(value: f32) -> u16 {
        (round_to_bf16(value).to_bits() >> 16) as u16
    }
}

/// A function of numbers, applied to their bits in a format.
pub(super) struct In<F, O>(PhantomData<(F, O)>);

/// An integer whose order is that of the numbers; both zeros have 0.
#[inline(always)]
fn rank(bits: u16) -> i16 {
    let size = (bits & SIZE).cast_signed();
    if bits & SIGN == 0 { size } else { -size }
}

#[inline(always)]
fn is_nan<F: Format>(bits: u16) -> bool {
    bits & SIZE > F::INFINITY
}

/// Arithmetic in f32.
macro_rules! arithmetic {
    ($($op:ident)*) => { $(
        impl<F: Format> Op2<u16, u16> for In<F, $op> {
            #[inline(always)]
            fn of(a: u16, b: u16) -> u16 {
                F::narrow(<$op as Op2<f32, f32>>::of(F::widen(a), F::widen(b)))
            }
        }
    )* };
}
arithmetic! { Add Subtract Multiply Divide }

impl<F: Format> Op1<u16> for In<F, Sqrt> {
    #[inline(always)]
    fn of(a: u16) -> u16 {
        F::narrow(F::widen(a).sqrt())
    }
}

impl<F: Format> Op1<u16> for In<F, Negate> {
    #[inline(always)]
    fn of(a: u16) -> u16 {
        a ^ SIGN
    }
}

impl<F: Format> Op1<u16> for In<F, Abs> {
    #[inline(always)]
    fn of(a: u16) -> u16 {
        a & SIZE
    }
}

/// Comparisons of ranks, which are false if there is a NaN.
macro_rules! comparisons {
    ($($op:ident $compare:tt)*) => { $(
        impl<F: Format> Op2<u16, bool> for In<F, $op> {
            #[inline(always)]
            fn of(a: u16, b: u16) -> bool {
                (rank(a) $compare rank(b)) & !is_nan::<F>(a) & !is_nan::<F>(b)
            }
        }
    )* };
}
comparisons! { Equal == Less < LessEqual <= Greater > GreaterEqual >= }

impl<F: Format> Op2<u16, bool> for In<F, NotEqual> {
    #[inline(always)]
    fn of(a: u16, b: u16) -> bool {
        (rank(a) != rank(b)) | is_nan::<F>(a) | is_nan::<F>(b)
    }
}

// Numbers of the same rank have the same bits, except for zeros of different signs: there `and` of the bits
// is +0 and `or` is -0.
impl<F: Format> Op2<u16, u16> for In<F, Maximum> {
    #[inline(always)]
    fn of(a: u16, b: u16) -> u16 {
        let larger = if rank(a) > rank(b) { a } else { b };
        let larger = if rank(a) == rank(b) { a & b } else { larger };
        let larger = if is_nan::<F>(b) { b } else { larger };
        if is_nan::<F>(a) { a } else { larger }
    }
}

impl<F: Format> Op2<u16, u16> for In<F, Minimum> {
    #[inline(always)]
    fn of(a: u16, b: u16) -> u16 {
        let smaller = if rank(a) < rank(b) { a } else { b };
        let smaller = if rank(a) == rank(b) { a | b } else { smaller };
        let smaller = if is_nan::<F>(b) { b } else { smaller };
        if is_nan::<F>(a) { a } else { smaller }
    }
}

/// `min(max(x, a), b)`, or the maximum of a minimum if that is first. It is one clip of integers, where both
/// functions would compare ranks and look for NaNs twice.
pub(super) struct Clip<F, const MINIMUM_FIRST: bool>(PhantomData<F>);

/// An integer whose order is that of the numbers, with -0 below +0. The number has the key of that as bits.
#[inline(always)]
fn key(bits: u16) -> i16 {
    let bits = bits.cast_signed();
    bits ^ (bits >> 15 & SIZE.cast_signed())
}

impl<F: Format, const MINIMUM_FIRST: bool> Bounded<u16, u16> for Clip<F, MINIMUM_FIRST> {
    #[inline(always)]
    fn of(x: u16, [a, b]: [u16; 2]) -> u16 {
        let clipped =
            if MINIMUM_FIRST { key(x).min(key(a)).max(key(b)) } else { key(x).max(key(a)).min(key(b)) };
        let clipped = key(clipped.cast_unsigned()).cast_unsigned();
        // Of the NaNs, the first one is the result.
        let nan = if is_nan::<F>(a) { a } else { b };
        let clipped = if is_nan::<F>(nan) { nan } else { clipped };
        if is_nan::<F>(x) { x } else { clipped }
    }
}

/// The kernels of clips of a format.
pub(super) const fn clips<S: Simd, F: Format>() -> Clips<u16> {
    [Kernel(S::bounded::<u16, u16, Clip<F, false>>), Kernel(S::bounded::<u16, u16, Clip<F, true>>)]
}

/// A vector of f32 that is converted from f16 and to it.
pub(super) trait HalfVector: Vector<Element = f32> {
    /// # Safety
    /// The machine has the level's instructions, and `from` points to `WIDTH` values.
    unsafe fn widen(from: *const u16) -> Self;
    /// # Safety
    /// `to` points to `WIDTH` writable values.
    unsafe fn narrow(self, to: *mut u16);
}

/// The portable level: the compiler makes vectors of it.
impl HalfVector for f32 {
    #[inline(always)]
    unsafe fn widen(from: *const u16) -> f32 {
        // SAFETY: the caller guarantees one value.
        F16::widen(unsafe { *from })
    }
    #[inline(always)]
    unsafe fn narrow(self, to: *mut u16) {
        // SAFETY: the caller guarantees one writable value.
        unsafe { *to = F16::narrow(self) }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::HalfVector;
    use std::arch::x86_64::*;

    impl HalfVector for __m256 {
        #[inline(always)]
        unsafe fn widen(from: *const u16) -> __m256 {
            // SAFETY: the caller guarantees F16C, which is part of the level, and eight values, of any
            // alignment.
            unsafe { _mm256_cvtph_ps(_mm_loadu_si128(from.cast())) }
        }
        #[inline(always)]
        unsafe fn narrow(self, to: *mut u16) {
            // SAFETY: a vector of the level exists, so the machine has F16C. The caller guarantees eight
            // writable values, of any alignment.
            unsafe { _mm_storeu_si128(to.cast(), _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self)) }
        }
    }

    impl HalfVector for __m512 {
        #[inline(always)]
        unsafe fn widen(from: *const u16) -> __m512 {
            // SAFETY: the caller guarantees the level, and sixteen values, of any alignment.
            unsafe { _mm512_cvtph_ps(_mm256_loadu_si256(from.cast())) }
        }
        #[inline(always)]
        unsafe fn narrow(self, to: *mut u16) {
            // SAFETY: a vector exists, so the machine has the level. The caller guarantees sixteen writable
            // values, of any alignment.
            unsafe { _mm256_storeu_si256(to.cast(), _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self)) }
        }
    }
}

/// Arithmetic of vectors.
pub(super) trait VectorOp {
    fn of<V: Vector>(a: V, b: V) -> V;
}

macro_rules! vector_ops {
    ($($op:ident $method:ident)*) => { $(
        impl VectorOp for $op {
            #[inline(always)]
            fn of<V: Vector>(a: V, b: V) -> V {
                a.$method(b)
            }
        }
    )* };
}
vector_ops! { Add add Subtract subtract Multiply multiply Divide divide Maximum maximum Minimum minimum }

impl VectorOp for Sqrt {
    #[inline(always)]
    fn of<V: Vector>(a: V, _: V) -> V {
        a.sqrt()
    }
}

/// The most elements of a [`HalfVector`].
const WIDEST: usize = 16;

/// Room for one vector, for values that do not fill one.
type Room = [u16; WIDEST];

/// `out = f(a, b)` over f16, element by element, for the elements that all slices have. With `ONE_A` or
/// `ONE_B`, that argument is its first value.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn binary<V: HalfVector, O: VectorOp, const ONE_A: bool, const ONE_B: bool>(
    a: &[u16],
    b: &[u16],
    out: &mut [u16],
) {
    const { assert!(V::WIDTH <= WIDEST) };
    let (Some(&first_a), Some(&first_b)) = (a.first(), b.first()) else { return };
    let count = if ONE_A { out.len() } else { out.len().min(a.len()) };
    let count = if ONE_B { count } else { count.min(b.len()) };
    let whole = count - count % V::WIDTH;
    let padded = |values: &[u16], one: bool| {
        let mut room: Room = [0; WIDEST];
        if !one {
            room[..count - whole].copy_from_slice(&values[whole..count]);
        }
        room
    };
    // SAFETY: the caller guarantees the instructions. Each vector is inside `whole`, which is at most the
    // length of `out` and of each argument that is not one value, or in a `Room`, which is at least as long
    // as a vector.
    unsafe {
        let (one_a, one_b) = (V::widen([first_a; WIDEST].as_ptr()), V::widen([first_b; WIDEST].as_ptr()));
        let mut at = 0;
        while at < whole {
            let x = if ONE_A { one_a } else { V::widen(a.as_ptr().add(at)) };
            let y = if ONE_B { one_b } else { V::widen(b.as_ptr().add(at)) };
            O::of(x, y).narrow(out.as_mut_ptr().add(at));
            at += V::WIDTH;
        }
        if whole < count {
            let x = if ONE_A { one_a } else { V::widen(padded(a, ONE_A).as_ptr()) };
            let y = if ONE_B { one_b } else { V::widen(padded(b, ONE_B).as_ptr()) };
            let mut last: Room = [0; WIDEST];
            O::of(x, y).narrow(last.as_mut_ptr());
            out[whole..count].copy_from_slice(&last[..count - whole]);
        }
    }
}

/// `out = f(a)` over f16.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn unary<V: HalfVector, O: VectorOp>(a: &[u16], out: &mut [u16]) {
    // SAFETY: guaranteed by the caller.
    unsafe { binary::<V, O, false, true>(a, a, out) }
}

/// Converts f16 to f32, for the elements that both have.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn widen<V: HalfVector>(from: &[u16], to: &mut [f32]) {
    const { assert!(V::WIDTH <= WIDEST) };
    let count = from.len().min(to.len());
    let whole = count - count % V::WIDTH;
    // SAFETY: as in `binary`.
    unsafe {
        for at in (0..whole).step_by(V::WIDTH) {
            V::widen(from.as_ptr().add(at)).store(to.as_mut_ptr().add(at));
        }
    }
    to[whole..count].iter_mut().zip(&from[whole..count]).for_each(|(to, &from)| *to = F16::widen(from));
}

/// Rounds f32 to f16, for the elements that both have.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn narrow<V: HalfVector>(from: &[f32], to: &mut [u16]) {
    const { assert!(V::WIDTH <= WIDEST) };
    let count = from.len().min(to.len());
    let whole = count - count % V::WIDTH;
    // SAFETY: as in `binary`.
    unsafe {
        for at in (0..whole).step_by(V::WIDTH) {
            V::load(from.as_ptr().add(at)).narrow(to.as_mut_ptr().add(at));
        }
    }
    to[whole..count].iter_mut().zip(&from[whole..count]).for_each(|(to, &from)| *to = F16::narrow(from));
}

/// Converts bf16 to f32, for the elements that both have.
#[inline(always)]
pub(super) fn widen_bf16(from: &[u16], to: &mut [f32]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = Bf16::widen(from));
}

/// Rounds f32 to bf16, for the elements that both have.
#[inline(always)]
pub(super) fn narrow_bf16(from: &[f32], to: &mut [u16]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to = Bf16::narrow(from));
}
