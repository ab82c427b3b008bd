//! The loops over slices, compiled once per level, and the choice among them: the only unsafe code of `math`.
#![allow(unsafe_code, reason = "functions compiled for a level are called here, after checking the machine")]

use super::real::Real;
use super::vector::{Vector, each};
use super::{log, power, tanh};
use crate::Level;
use crate::arch::{Ahead, counted};

/// A function of one argument over vectors.
trait Function {
    fn of<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U];
}

struct Log;

impl Function for Log {
    #[inline(always)]
    fn of<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U] {
        log::log(x)
    }
}

struct Tanh;

impl Function for Tanh {
    #[inline(always)]
    fn of<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U] {
        tanh::tanh(x)
    }
}

/// The most elements of a group of vectors.
const GROUP: usize = 64;

/// A group of vectors of the values from an index on.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn read<V: Vector, const U: usize>(values: &[V::Element], at: usize) -> [V; U] {
    let values = &values[at..at + U * V::WIDTH];
    // SAFETY: the caller guarantees the instructions, and the slice has the elements.
    unsafe {
        let mut vectors = [V::load(values.as_ptr()); U];
        counted!(k in U => {
            vectors[k] = V::load(values.as_ptr().add(k * V::WIDTH));
        });
        vectors
    }
}

/// Writes a group of vectors from an index on.
#[inline(always)]
fn write<V: Vector, const U: usize>(vectors: [V; U], out: &mut [V::Element], at: usize) {
    let out = &mut out[at..at + U * V::WIDTH];
    counted!(k in U => {
        // SAFETY: the slice has the places.
        unsafe { vectors[k].store(out.as_mut_ptr().add(k * V::WIDTH)) };
    });
}

/// The elements of a slice that is shorter than a group, followed by ones.
#[inline(always)]
fn padded<T: Real>(values: &[T]) -> [T; GROUP] {
    let mut block = [T::ONE; GROUP];
    block[..values.len()].copy_from_slice(values);
    block
}

/// A function over a slice. The last group overlaps the one before. What is shorter than a group is padded
/// and given to `again`, the function that is compiled of this one: so it has the code of a group, which
/// takes long to compile, once. What is ahead is prefetched, except where `out` is shorter than a group.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn unary<V: Vector<Element: Real>, F: Function, const U: usize>(
    x: &[V::Element],
    ahead: Ahead,
    out: &mut [V::Element],
    again: impl Fn(&[V::Element], &mut [V::Element]),
) {
    const { assert!(U * V::WIDTH <= GROUP) };
    assert_eq!(x.len(), out.len(), "lengths differ");
    let (count, step) = (out.len(), U * V::WIDTH);
    if count < step {
        let mut block = [V::Element::ONE; GROUP];
        again(&padded(x)[..step], &mut block[..step]);
        out.copy_from_slice(&block[..count]);
        return;
    }
    let mut at = 0;
    while at < count {
        let start = at.min(count - step);
        ahead.fetch(at, step);
        // SAFETY: the caller guarantees the instructions.
        write(F::of(unsafe { read::<V, U>(x, start) }), out, start);
        at += step;
    }
}

/// What is computed of x and y.
trait Raised {
    /// What x is raised to.
    fn exponent<V: Vector<Element: Real>, const U: usize>(y: [V; U]) -> [V; U];
    /// What the value needs of x besides the power.
    fn of_base<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U];
    /// The value, given |x| to the power of the exponent, where no element needs special care.
    fn value<V: Vector<Element: Real>, const U: usize>(sizes: [V; U], base: [V; U], y: [V; U]) -> [V; U];
    /// The same for any element.
    fn special<T: Real>(x: T, y: T, size: T) -> T;
}

/// x^y.
struct Power;

impl Raised for Power {
    #[inline(always)]
    fn exponent<V: Vector<Element: Real>, const U: usize>(y: [V; U]) -> [V; U] {
        y
    }
    #[inline(always)]
    fn of_base<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U] {
        x
    }
    #[inline(always)]
    fn value<V: Vector<Element: Real>, const U: usize>(sizes: [V; U], _: [V; U], _: [V; U]) -> [V; U] {
        sizes
    }
    #[inline(always)]
    fn special<T: Real>(x: T, y: T, size: T) -> T {
        T::power_of_size(x, y, size)
    }
}

/// The derivative of x^y by x: 0 if y = 0, otherwise y x^(y-1).
struct PowerByBase;

impl Raised for PowerByBase {
    #[inline(always)]
    fn exponent<V: Vector<Element: Real>, const U: usize>(y: [V; U]) -> [V; U] {
        each!(y => y.subtract(y.like(V::Element::ONE)))
    }
    #[inline(always)]
    fn of_base<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U] {
        x
    }
    #[inline(always)]
    fn value<V: Vector<Element: Real>, const U: usize>(sizes: [V; U], _: [V; U], y: [V; U]) -> [V; U] {
        let zero = y[0].like(V::Element::ZERO);
        each!(y, sizes => y.choose_equal(zero, zero, y.multiply(sizes)))
    }
    #[inline(always)]
    fn special<T: Real>(x: T, y: T, size: T) -> T {
        T::slope_of_size(x, y, size)
    }
}

/// The derivative of x^y by y: 0 if x = 0 and y >= 0, otherwise x^y ln x. Both logarithms of x begin alike.
struct PowerByExponent;

impl Raised for PowerByExponent {
    #[inline(always)]
    fn exponent<V: Vector<Element: Real>, const U: usize>(y: [V; U]) -> [V; U] {
        y
    }
    #[inline(always)]
    fn of_base<V: Vector<Element: Real>, const U: usize>(x: [V; U]) -> [V; U] {
        log::log(x)
    }
    #[inline(always)]
    fn value<V: Vector<Element: Real>, const U: usize>(sizes: [V; U], log: [V; U], _: [V; U]) -> [V; U] {
        each!(sizes, log => sizes.multiply(log))
    }
    #[inline(always)]
    fn special<T: Real>(x: T, y: T, size: T) -> T {
        T::slope_by_exponent_of_size(x, y, size)
    }
}

/// A function of x and y, each of which has a value for each element, or one for all. The last group overlaps
/// the one before. What is shorter than a group is given to `again`, as in [`unary`], and one loop computes
/// all kinds of arguments: compiled for each kind, the functions were a seventh of the crate's machine code.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn powers<V: Vector<Element: Real>, F: Raised, const U: usize>(
    x: &[V::Element],
    y: &[V::Element],
    ahead: Ahead,
    out: &mut [V::Element],
    again: impl Fn(&[V::Element], &[V::Element], &mut [V::Element]),
) {
    const { assert!(U * V::WIDTH <= GROUP && U * V::WIDTH > 1) };
    let (count, step) = (out.len(), U * V::WIDTH);
    let fits = |values: &[V::Element]| values.len() == 1 || values.len() == count;
    assert!(fits(x) && fits(y), "lengths differ");
    if count < step {
        let padded_length = |values: &[V::Element]| if values.len() == count { step } else { 1 };
        let mut block = [V::Element::ONE; GROUP];
        again(&padded(x)[..padded_length(x)], &padded(y)[..padded_length(y)], &mut block[..step]);
        out.copy_from_slice(&block[..count]);
        return;
    }
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        let ones = [V::splat(V::Element::ONE); U];
        let (mut logarithm, mut of_base) = (power::Logarithm::placeholder(ones), ones);
        let mut at = 0;
        while at < count {
            let start = at.min(count - step);
            ahead.fetch(at, step);
            if at == 0 || x.len() > 1 {
                let bases = read_or_spread(x, start);
                (logarithm, of_base) = (power::logarithm_of(bases), F::of_base(bases));
            }
            let given = read_or_spread(y, start);
            let (sizes, beyond) = power::power(&logarithm, F::exponent(given));
            if beyond {
                write(sizes, out, start);
                correct::<V::Element, F>((x, y), start, &mut out[start..start + step]);
            } else {
                write(F::value(sizes, of_base, given), out, start);
            }
            at += step;
        }
    }
}

/// A group of vectors of the values from an index on, or of the one value in every element.
///
/// # Safety
/// The machine has the instructions of `V`.
#[inline(always)]
unsafe fn read_or_spread<V: Vector, const U: usize>(values: &[V::Element], at: usize) -> [V; U] {
    // SAFETY: the caller guarantees the instructions.
    unsafe {
        match values {
            [value] => [V::splat(*value); U],
            values => read(values, at),
        }
    }
}

/// Replaces the powers of |x| in a group, from an index on, by the values.
#[inline(always)]
fn correct<T: Real, F: Raised>((x, y): (&[T], &[T]), start: usize, group: &mut [T]) {
    let get = |values: &[T], k: usize| if let [value] = values { *value } else { values[start + k] };
    for (k, out) in group.iter_mut().enumerate() {
        *out = F::special(get(x, k), get(y, k), *out);
    }
}

/// The kernels of one level, which are compiled with the given target features: over its vectors, of which
/// a group of that many is computed at once.
macro_rules! kernels {
    ([$($feature:meta)?] $f64:ty, $f32:ty, log: $log:literal, group: $group:literal) => {
        $(#[$feature])?
        pub(crate) fn log_f64(x: &[f64], ahead: Ahead, out: &mut [f64]) {
            // SAFETY: this function is compiled with the instructions of the vectors, so its caller checks
            // that the machine has them. So do the following.
            unsafe { unary::<$f64, Log, $log>(x, ahead, out, |x, out| log_f64(x, Ahead::NONE, out)) }
        }
        $(#[$feature])?
        pub(crate) fn log_f32(x: &[f32], ahead: Ahead, out: &mut [f32]) {
            // SAFETY: as above.
            unsafe { unary::<$f32, Log, $log>(x, ahead, out, |x, out| log_f32(x, Ahead::NONE, out)) }
        }
        $(#[$feature])?
        pub(crate) fn tanh_f64(x: &[f64], ahead: Ahead, out: &mut [f64]) {
            // SAFETY: as above.
            unsafe { unary::<$f64, Tanh, $group>(x, ahead, out, |x, out| tanh_f64(x, Ahead::NONE, out)) }
        }
        $(#[$feature])?
        pub(crate) fn tanh_f32(x: &[f32], ahead: Ahead, out: &mut [f32]) {
            // SAFETY: as above.
            unsafe { unary::<$f32, Tanh, $group>(x, ahead, out, |x, out| tanh_f32(x, Ahead::NONE, out)) }
        }
        $(#[$feature])?
        pub(crate) fn power_by_base_f64(x: &[f64], y: &[f64], ahead: Ahead, out: &mut [f64]) {
            // SAFETY: as above.
            unsafe {
                powers::<$f64, PowerByBase, $group>(x, y, ahead, out, |x, y, out| {
                    power_by_base_f64(x, y, Ahead::NONE, out);
                });
            }
        }
        $(#[$feature])?
        pub(crate) fn power_by_exponent_f64(x: &[f64], y: &[f64], ahead: Ahead, out: &mut [f64]) {
            // SAFETY: as above.
            unsafe {
                powers::<$f64, PowerByExponent, $group>(x, y, ahead, out, |x, y, out| {
                    power_by_exponent_f64(x, y, Ahead::NONE, out);
                });
            }
        }
        $(#[$feature])?
        pub(crate) fn power_f64(x: &[f64], y: &[f64], ahead: Ahead, out: &mut [f64]) {
            // SAFETY: as above.
            unsafe {
                powers::<$f64, Power, $group>(x, y, ahead, out, |x, y, out| {
                    power_f64(x, y, Ahead::NONE, out);
                });
            }
        }
        $(#[$feature])?
        pub(crate) fn power_by_base_f32(x: &[f32], y: &[f32], ahead: Ahead, out: &mut [f32]) {
            // SAFETY: as above.
            unsafe {
                powers::<$f32, PowerByBase, $group>(x, y, ahead, out, |x, y, out| {
                    power_by_base_f32(x, y, Ahead::NONE, out);
                });
            }
        }
        $(#[$feature])?
        pub(crate) fn power_by_exponent_f32(x: &[f32], y: &[f32], ahead: Ahead, out: &mut [f32]) {
            // SAFETY: as above.
            unsafe {
                powers::<$f32, PowerByExponent, $group>(x, y, ahead, out, |x, y, out| {
                    power_by_exponent_f32(x, y, Ahead::NONE, out);
                });
            }
        }
        $(#[$feature])?
        pub(crate) fn power_f32(x: &[f32], y: &[f32], ahead: Ahead, out: &mut [f32]) {
            // SAFETY: as above.
            unsafe {
                powers::<$f32, Power, $group>(x, y, ahead, out, |x, y, out| {
                    power_f32(x, y, Ahead::NONE, out);
                });
            }
        }
    };
}

/// For every machine.
pub(crate) mod portable {
    use super::*;
    #[cfg(target_arch = "x86_64")]
    kernels! { [] std::arch::x86_64::__m128d, std::arch::x86_64::__m128, log: 2, group: 2 }
    #[cfg(not(target_arch = "x86_64"))]
    kernels! { [] f64, f32, log: 4, group: 4 }
}

/// x86-64 with AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    use super::*;
    kernels! {
        [target_feature(enable = "avx2,fma")]
        std::arch::x86_64::__m256d, std::arch::x86_64::__m256, log: 4, group: 4
    }
}

/// x86-64 with AVX-512.
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512 {
    use super::*;
    kernels! {
        [target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
        std::arch::x86_64::__m512d, std::arch::x86_64::__m512, log: 2, group: 4
    }
}

macro_rules! dispatch {
    ($(#[doc = $doc:literal] fn $name:ident($($x:ident: $type:ty),*; $out:ident);)*) => { $(
        #[doc = $doc]
        ///
        /// # Panics
        ///
        /// If the lengths differ.
        pub fn $name(level: Level, $($x: $type,)* out: &mut [$out]) {
            with_ahead::$name(level, $($x,)* Ahead::NONE, out);
        }
    )*

    /// The same functions, which prefetch what is ahead.
    pub(super) mod with_ahead {
        use super::*;
        $(
            pub(in crate::math) fn $name(level: Level, $($x: $type,)* ahead: Ahead, out: &mut [$out]) {
                match level {
                    // SAFETY: the guard checks that the machine has the features for which the callee is
                    // compiled.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 if level.is_available() => unsafe { avx512::$name($($x,)* ahead, out) },
                    // SAFETY: as above.
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 if level.is_available() => unsafe { avx2::$name($($x,)* ahead, out) },
                    Level::Portable | Level::Avx2 | Level::Avx512 => portable::$name($($x,)* ahead, out),
                }
            }
        )*
    } };
}

dispatch! {
    /// The natural logarithm, element by element.
    fn log_f64(x: &[f64]; f64);
    /// The natural logarithm, element by element.
    fn log_f32(x: &[f32]; f32);
    /// The hyperbolic tangent, element by element.
    fn tanh_f64(x: &[f64]; f64);
    /// The hyperbolic tangent, element by element.
    fn tanh_f32(x: &[f32]; f32);
    /// x^y; x or y may be one value for all elements.
    fn power_f64(x: &[f64], y: &[f64]; f64);
    /// The derivative of x^y by x; x or y may be one value for all elements.
    fn power_by_base_f64(x: &[f64], y: &[f64]; f64);
    /// The derivative of x^y by y; x or y may be one value for all elements.
    fn power_by_exponent_f64(x: &[f64], y: &[f64]; f64);
    /// x^y; x or y may be one value for all elements.
    fn power_f32(x: &[f32], y: &[f32]; f32);
    /// The derivative of x^y by x; x or y may be one value for all elements.
    fn power_by_base_f32(x: &[f32], y: &[f32]; f32);
    /// The derivative of x^y by y; x or y may be one value for all elements.
    fn power_by_exponent_f32(x: &[f32], y: &[f32]; f32);
}
