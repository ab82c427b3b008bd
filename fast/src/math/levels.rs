//! The loops over slices, compiled once per level, and the choice among them: the only unsafe code of `math`.
#![allow(unsafe_code, reason = "functions compiled for a level are called here, after asking the machine")]

use super::{double, power, single};
use crate::Level;

/// The kernels of one level, which the feature names.
macro_rules! kernels {
    ($(#[$feature:meta])?) => {
        unary! { [$(#[$feature])?] log_f64 f64 double::log }
        unary! { [$(#[$feature])?] tanh_f64 f64 double::tanh }
        unary! { [$(#[$feature])?] log_f32 f32 single::log }
        unary! { [$(#[$feature])?] tanh_f32 f32 single::tanh }
        power! { [$(#[$feature])?] f64 power::log_parts, power::power_of_log,
            power_f64 power_f64_by power_f64_of }
        power! { [$(#[$feature])?] f32 power::log_wide, power::power_of_log_f32,
            power_f32 power_f32_by power_f32_of }
    };
}

macro_rules! unary {
    ([$(#[$feature:meta])?] $name:ident $type:ident $kernel:path) => {
        $(#[$feature])?
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

/// Logarithms of a block first, powers second: twice the vectors in flight, a third of the time saved.
macro_rules! power {
    ([$(#[$feature:meta])?] $type:ident $log:path, $power:path, $both:ident $by:ident $of:ident) => {
        $(#[$feature])?
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

        $(#[$feature])?
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

        $(#[$feature])?
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

/// The block of `power`.
const POWERS: usize = 32;

/// The rest of a slice as a whole block, so that it goes through the loop of vectors too.
#[inline(always)]
fn padded<T: Copy + Default, const N: usize>(rest: &[T]) -> [T; N] {
    let mut block = [T::default(); N];
    block[..rest.len()].copy_from_slice(rest);
    block
}

/// What every machine has.
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
    ($($name:ident($($x:ident: $type:ty),*) $out:ident $what:literal;)*) => { $(
        #[doc = $what]
        ///
        /// # Panics
        ///
        /// If the lengths differ.
        pub fn $name(level: Level, $($x: $type,)* out: &mut [$out]) {
            match level {
                // SAFETY: the guard has asked the machine for the features that the callee is compiled for.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 if level.is_available() => unsafe { avx512::$name($($x,)* out) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 if level.is_available() => unsafe { avx2::$name($($x,)* out) },
                _ => portable::$name($($x,)* out),
            }
        }
    )* };
}

dispatch! {
    log_f64(x: &[f64]) f64 "The natural logarithm, element by element.";
    log_f32(x: &[f32]) f32 "The natural logarithm, element by element.";
    tanh_f64(x: &[f64]) f64 "The hyperbolic tangent, element by element.";
    tanh_f32(x: &[f32]) f32 "The hyperbolic tangent, element by element.";
    power_f64(x: &[f64], y: &[f64]) f64 "x^y, element by element.";
    power_f64_by(x: &[f64], y: f64) f64 "x^y, every element to the same power.";
    power_f64_of(x: f64, y: &[f64]) f64 "x^y, the same number to every power: its logarithm is taken once.";
    power_f32(x: &[f32], y: &[f32]) f32 "x^y, element by element.";
    power_f32_by(x: &[f32], y: f32) f32 "x^y, every element to the same power.";
    power_f32_of(x: f32, y: &[f32]) f32 "x^y, the same number to every power: its logarithm is taken once.";
}
