//! The engine's own exp, from its source, and loops over the vectors that it is written for: a rival has it in its loop as the
//! engine does.
#![allow(dead_code, reason = "exp alone is wanted")]
#![allow(unsafe_code, reason = "vectors are made here, where a level's loops are compiled")]

#[path = "../../src/math/double.rs"]
mod double;
#[path = "../../src/math/single.rs"]
mod single;
#[path = "../../src/arch/vector.rs"]
mod vector;

use super::Real;
pub(crate) use vector::{Vector, each};

/// An element type with its vectors of each level.
pub(crate) trait Exp: Real {
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

/// A loop over the vectors of a level, which `At::run_vectors` chooses.
pub(crate) trait Body<T> {
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]);
}

/// As many vectors as hide the time that one operation takes.
pub(crate) type Four<V> = [V; 4];

/// Four vectors from a place on. Only loops that a level runs may call this and what follows.
#[inline(always)]
pub(crate) fn read<V: Vector>(values: &[V::Element], at: usize) -> Four<V> {
    let values = &values[at..at + 4 * V::WIDTH];
    let at = |k: usize| values[k * V::WIDTH..].as_ptr();
    // SAFETY: the level of the loop has the instructions; the slice has so many elements.
    unsafe { [V::load(at(0)), V::load(at(1)), V::load(at(2)), V::load(at(3))] }
}

/// Four vectors of one value.
#[inline(always)]
pub(crate) fn splat<V: Vector>(value: V::Element) -> Four<V> {
    // SAFETY: the level of the loop has the instructions.
    [unsafe { V::splat(value) }; 4]
}

/// Fills `out` group by group; the last one overlaps the one before.
#[inline(always)]
pub(crate) fn fill<V: Vector>(out: &mut [V::Element], body: impl Fn(usize) -> Four<V>) {
    let (count, step) = (out.len(), 4 * V::WIDTH);
    let mut at = 0;
    while at < count {
        let start = at.min(count - step);
        let place = &mut out[start..start + step];
        for (k, value) in body(start).into_iter().enumerate() {
            // SAFETY: the slice has so many places.
            unsafe { value.store(place.as_mut_ptr().add(k * V::WIDTH)) };
        }
        at += step;
    }
}
