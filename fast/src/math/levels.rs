//! The loops over slices, compiled once per level, and the choice among them: the only unsafe code of `math`.
#![allow(unsafe_code, reason = "functions compiled for a level are called here, after checking the machine")]

use super::{f32, f64, power};
use crate::Level;

/// The kernels of one level, which are compiled with the given target features.
macro_rules! kernels {
    ($(#[$features:meta])?) => {
        unary! { [$(#[$features])?] log_f64 { element: f64, function: f64::log } }
        unary! { [$(#[$features])?] tanh_f64 { element: f64, function: f64::tanh } }
        unary! { [$(#[$features])?] log_f32 { element: f32, function: f32::log } }
        unary! { [$(#[$features])?] tanh_f32 { element: f32, function: f32::tanh } }
        power! { [$(#[$features])?] {
            element: f64,
            log: power::log_parts,
            power_of_log: power::power_of_log,
            vectors: power_f64,
            scalar_exponent: power_f64_by,
            scalar_base: power_f64_of,
        } }
        power! { [$(#[$features])?] {
            element: f32,
            log: power::log_wide,
            power_of_log: power::power_of_log_f32,
            vectors: power_f32,
            scalar_exponent: power_f32_by,
            scalar_base: power_f32_of,
        } }
    };
}

macro_rules! unary {
    ([$(#[$features:meta])?] $name:ident { element: $type:ident, function: $kernel:path }) => {
        $(#[$features])?
        pub(crate) fn $name(x: &[$type], out: &mut [$type]) {
            const BLOCK: usize = 128 / size_of::<$type>();
            assert_eq!(x.len(), out.len(), "lengths differ");
            let (x_blocks, x_rest) = x.as_chunks::<BLOCK>();
            let (out_blocks, out_rest) = out.as_chunks_mut::<BLOCK>();
            for (x, out) in x_blocks.iter().zip(out_blocks) {
                for i in 0..BLOCK {
                    out[i] = $kernel(x[i]);
                }
            }
            if !x_rest.is_empty() {
                let mut out = [0.0; BLOCK];
                $name(&padded::<$type, BLOCK>(x_rest), &mut out);
                out_rest.copy_from_slice(&out[..out_rest.len()]);
            }
        }
    };
}

/// The logarithms of a block are computed before its powers. That keeps twice as many vectors in flight and
/// saves a third of the time.
macro_rules! power {
    ([$(#[$features:meta])?] {
        element: $type:ident,
        log: $log:path,
        power_of_log: $power:path,
        vectors: $both:ident,
        scalar_exponent: $by:ident,
        scalar_base: $of:ident,
    }) => {
        $(#[$features])?
        pub(crate) fn $both(x: &[$type], y: &[$type], out: &mut [$type]) {
            assert!(x.len() == out.len() && y.len() == out.len(), "lengths differ");
            let (x_blocks, x_rest) = x.as_chunks::<POWERS>();
            let (y_blocks, y_rest) = y.as_chunks::<POWERS>();
            let (out_blocks, out_rest) = out.as_chunks_mut::<POWERS>();
            let (mut high, mut low) = ([0.0; POWERS], [Default::default(); POWERS]);
            for ((x, y), out) in x_blocks.iter().zip(y_blocks).zip(out_blocks) {
                for i in 0..POWERS {
                    (high[i], low[i]) = $log(x[i].abs());
                }
                for i in 0..POWERS {
                    out[i] = $power(x[i], y[i], (high[i], low[i]));
                }
            }
            if !x_rest.is_empty() {
                let mut out = [0.0; POWERS];
                $both(&padded::<$type, POWERS>(x_rest), &padded::<$type, POWERS>(y_rest), &mut out);
                out_rest.copy_from_slice(&out[..out_rest.len()]);
            }
        }

        $(#[$features])?
        pub(crate) fn $by(x: &[$type], y: $type, out: &mut [$type]) {
            assert_eq!(x.len(), out.len(), "lengths differ");
            let (x_blocks, x_rest) = x.as_chunks::<POWERS>();
            let (out_blocks, out_rest) = out.as_chunks_mut::<POWERS>();
            let (mut high, mut low) = ([0.0; POWERS], [Default::default(); POWERS]);
            for (x, out) in x_blocks.iter().zip(out_blocks) {
                for i in 0..POWERS {
                    (high[i], low[i]) = $log(x[i].abs());
                }
                for i in 0..POWERS {
                    out[i] = $power(x[i], y, (high[i], low[i]));
                }
            }
            if !x_rest.is_empty() {
                let mut out = [0.0; POWERS];
                $by(&padded::<$type, POWERS>(x_rest), y, &mut out);
                out_rest.copy_from_slice(&out[..out_rest.len()]);
            }
        }

        $(#[$features])?
        pub(crate) fn $of(x: $type, y: &[$type], out: &mut [$type]) {
            assert_eq!(y.len(), out.len(), "lengths differ");
            let (y_blocks, y_rest) = y.as_chunks::<POWERS>();
            let (out_blocks, out_rest) = out.as_chunks_mut::<POWERS>();
            let log = $log(x.abs());
            for (y, out) in y_blocks.iter().zip(out_blocks) {
                for i in 0..POWERS {
                    out[i] = $power(x, y[i], log);
                }
            }
            if !y_rest.is_empty() {
                let mut out = [0.0; POWERS];
                $of(x, &padded::<$type, POWERS>(y_rest), &mut out);
                out_rest.copy_from_slice(&out[..out_rest.len()]);
            }
        }
    };
}

/// The number of elements in a block of `power`.
const POWERS: usize = 32;

/// The rest of a slice as a whole block, so that it goes through the same vectorised loop.
#[inline(always)]
fn padded<T: Copy + Default, const N: usize>(rest: &[T]) -> [T; N] {
    let mut block = [T::default(); N];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// For every machine.
pub(crate) mod portable {
    use super::*;
    kernels! {}
}

/// x86-64 with AVX2.
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2 {
    use super::*;
    kernels! { #[target_feature(enable = "avx2")] }
}

/// x86-64 with AVX-512.
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512 {
    use super::*;
    kernels! { #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")] }
}

macro_rules! dispatch {
    ($(#[doc = $doc:literal] fn $name:ident($($x:ident: $type:ty),*; $out:ident);)*) => { $(
        #[doc = $doc]
        ///
        /// # Panics
        ///
        /// If the lengths differ.
        pub fn $name(level: Level, $($x: $type,)* out: &mut [$out]) {
            match level {
                // SAFETY: the guard checks that the machine has the features for which the callee is
                // compiled.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 if level.is_available() => unsafe { avx512::$name($($x,)* out) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 if level.is_available() => unsafe { avx2::$name($($x,)* out) },
                Level::Portable | Level::Avx2 | Level::Avx512 => portable::$name($($x,)* out),
            }
        }
    )* };
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
    /// x^y, element by element.
    fn power_f64(x: &[f64], y: &[f64]; f64);
    /// x^y for one exponent.
    fn power_f64_by(x: &[f64], y: f64; f64);
    /// x^y for one base, whose logarithm is computed once.
    fn power_f64_of(x: f64, y: &[f64]; f64);
    /// x^y, element by element.
    fn power_f32(x: &[f32], y: &[f32]; f32);
    /// x^y for one exponent.
    fn power_f32_by(x: &[f32], y: f32; f32);
    /// x^y for one base, whose logarithm is computed once.
    fn power_f32_of(x: f32, y: &[f32]; f32);
}
