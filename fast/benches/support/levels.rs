//! Loops that are written once and compiled for the instructions of a level, like those of the engine.
#![allow(unsafe_code, reason = "functions compiled for a level are called here, after checking the machine")]

use super::kernels::{Body, Exp};
use broadcheck_fast::Level;

/// A level that this machine has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct At(Level);

impl At {
    /// The level that the engine chooses by default.
    pub(crate) fn detect() -> At {
        At::new(Level::detect()).unwrap_or(At(Level::Portable))
    }

    /// `None` if the machine lacks the level.
    pub(crate) fn new(level: Level) -> Option<At> {
        level.is_available().then_some(At(level))
    }

    pub(crate) fn level(self) -> Level {
        self.0
    }

    /// Runs a loop that writes to `out`, compiled for the level. `body` must be inlined into this function.
    #[inline(always)]
    pub(crate) fn run<T, R>(self, out: &mut [T], body: impl FnOnce(&mut [T]) -> R) -> R {
        match self.0 {
            // SAFETY: an `At` contains a level that the machine has.
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => unsafe { avx512(out, body) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => unsafe { avx2(out, body) },
            _ => portable(out, body),
        }
    }

    /// Runs a loop over the level's vectors.
    pub(crate) fn run_vectors<T: Exp>(self, out: &mut [T], body: &impl Body<T>) {
        match self.0 {
            Level::Avx512 => self.run(
                out,
                #[inline(always)]
                |out| body.run::<T::Avx512>(out),
            ),
            Level::Avx2 => self.run(
                out,
                #[inline(always)]
                |out| body.run::<T::Avx2>(out),
            ),
            Level::Portable => self.run(
                out,
                #[inline(always)]
                |out| body.run::<T::Portable>(out),
            ),
        }
    }
}

// `out` is a separate argument, so that the compiler knows that it does not overlap anything that `body`
// reads.

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512<T, R>(out: &mut [T], body: impl FnOnce(&mut [T]) -> R) -> R {
    body(out)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn avx2<T, R>(out: &mut [T], body: impl FnOnce(&mut [T]) -> R) -> R {
    body(out)
}

#[inline(never)]
fn portable<T, R>(out: &mut [T], body: impl FnOnce(&mut [T]) -> R) -> R {
    body(out)
}
