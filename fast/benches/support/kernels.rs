//! The engine's own exp, log, tanh and power, from their source, and loops over the vectors for which they
//! are written: a competitor can inline them into its loop as the engine does.
#![allow(dead_code, reason = "only the functions are used")]
#![allow(unsafe_code, reason = "vectors are created here, in loops that are compiled for a level")]

#[cfg(target_arch = "x86_64")]
#[path = "../../src/arch/compare.rs"]
mod compare;
#[path = "../../src/math/f32.rs"]
mod f32;
#[path = "../../src/math/f64.rs"]
mod f64;
#[cfg(target_arch = "x86_64")]
#[path = "../../src/arch/fused.rs"]
mod fused;
#[path = "../../src/math/log.rs"]
mod log;
#[path = "../../src/math/power.rs"]
mod power;
#[path = "../../src/math/real.rs"]
mod real;
#[path = "../../src/math/tanh.rs"]
mod tanh;
#[path = "../../src/arch/vector.rs"]
mod vector;
#[cfg(target_arch = "x86_64")]
#[path = "../../src/arch/x86_64.rs"]
mod x86_64;

use super::Real;
pub(crate) use vector::{Vector, each};

/// The engine's functions over vectors of an element type.
pub(crate) trait Math: real::Real {
    const ONE: Self = <Self as real::Real>::ONE;
    const ZERO: Self = <Self as real::Real>::ZERO;
    const HALF: Self = <Self as real::Real>::HALF;

    #[inline(always)]
    fn log<V: Vector<Element = Self>>(x: Four<V>) -> Four<V> {
        log::log(x)
    }
    /// The hyperbolic tangent, inlined into the loop as no chain has it.
    #[inline(always)]
    fn inlined_tanh<V: Vector<Element = Self>>(x: Four<V>) -> Four<V> {
        tanh::tanh(x)
    }
    /// x^y of numbers for which no element needs special care.
    #[inline(always)]
    fn power<V: Vector<Element = Self>>(x: Four<V>, y: Four<V>) -> Four<V> {
        power::power(&power::logarithm_of(x), y).0
    }
}

impl Math for f64 {}
impl Math for f32 {}

/// An element type with its vectors of each level.
pub(crate) trait Exp: Real + Math {
    type Portable: Vector<Element = Self>;
    type Avx2: Vector<Element = Self>;
    type Avx512: Vector<Element = Self>;
}

#[cfg(target_arch = "x86_64")]
impl Exp for f64 {
    type Portable = std::arch::x86_64::__m128d;
    type Avx2 = std::arch::x86_64::__m256d;
    type Avx512 = std::arch::x86_64::__m512d;
}

#[cfg(target_arch = "x86_64")]
impl Exp for f32 {
    type Portable = std::arch::x86_64::__m128;
    type Avx2 = std::arch::x86_64::__m256;
    type Avx512 = std::arch::x86_64::__m512;
}

#[cfg(not(target_arch = "x86_64"))]
impl Exp for f64 {
    type Portable = f64;
    type Avx2 = f64;
    type Avx512 = f64;
}

#[cfg(not(target_arch = "x86_64"))]
impl Exp for f32 {
    type Portable = f32;
    type Avx2 = f32;
    type Avx512 = f32;
}

/// A loop over the vectors of the level that `At::run_vectors` chooses.
pub(crate) trait Body<T> {
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]);
}

/// Enough vectors to hide the latency of an operation.
pub(crate) type Four<V> = [V; 4];

/// Four vectors from an index on. Only loops that are compiled for a level may call this and the functions
/// below.
#[inline(always)]
pub(crate) fn read<V: Vector>(values: &[V::Element], at: usize) -> Four<V> {
    let values = &values[at..at + 4 * V::WIDTH];
    let at = |k: usize| values[k * V::WIDTH..].as_ptr();
    // SAFETY: the machine has the level of the loop, and the slice has the elements.
    unsafe { [V::load(at(0)), V::load(at(1)), V::load(at(2)), V::load(at(3))] }
}

/// One vector from an index on.
#[inline(always)]
pub(crate) fn read_one<V: Vector>(values: &[V::Element], at: usize) -> V {
    // SAFETY: the machine has the level of the loop, and the slice has the elements.
    unsafe { V::load(values[at..at + V::WIDTH].as_ptr()) }
}

/// Four vectors of one value.
#[inline(always)]
pub(crate) fn splat<V: Vector>(value: V::Element) -> Four<V> {
    // SAFETY: the machine has the level of the loop.
    [unsafe { V::splat(value) }; 4]
}

/// Writes a vector.
#[inline(always)]
pub(crate) fn store<V: Vector>(value: V, out: &mut [V::Element]) {
    assert_eq!(out.len(), V::WIDTH, "a vector has as many places as elements");
    // SAFETY: the slice has the places.
    unsafe { value.store(out.as_mut_ptr()) };
}

/// Fills `out` group by group. The last group overlaps the one before.
#[inline(always)]
pub(crate) fn fill<V: Vector>(out: &mut [V::Element], body: impl Fn(usize) -> Four<V>) {
    let (count, step) = (out.len(), 4 * V::WIDTH);
    let mut at = 0;
    while at < count {
        let start = at.min(count - step);
        let place = &mut out[start..start + step];
        for (k, value) in body(start).into_iter().enumerate() {
            // SAFETY: the slice has the places.
            unsafe { value.store(place.as_mut_ptr().add(k * V::WIDTH)) };
        }
        at += step;
    }
}
