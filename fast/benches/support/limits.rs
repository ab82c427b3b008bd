//! The memory limits of this machine: setting, copying and reading arrays, with ordinary and non-temporal
//! stores.
#![allow(unsafe_code, reason = "non-temporal stores have no safe form")]

use super::{At, Real};
use broadcheck_fast::Level;

/// Sets every element.
pub(crate) fn fill<T: Real>(at: At, value: T, out: &mut [T]) {
    at.run(
        out,
        #[inline(always)]
        |out| out.fill(value),
    );
}

/// Copies in a vectorised loop.
pub(crate) fn copy<T: Real>(at: At, from: &[T], out: &mut [T]) {
    at.run(
        out,
        #[inline(always)]
        |out| {
            for (out, from) in out.iter_mut().zip(from) {
                // An addition, so that the compiler does not replace the loop by `memcpy`, which is a
                // separate competitor.
                *out = *from + T::of(1.0);
            }
        },
    );
}

/// The sum of two arrays in a vectorised loop.
pub(crate) fn triad<T: Real>(at: At, a: &[T], b: &[T], out: &mut [T]) {
    at.run(
        out,
        #[inline(always)]
        |out| {
            for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
                *out = *a + *b;
            }
        },
    );
}

/// Reads everything: its sum, with enough partial sums to hide the latency of the additions.
pub(crate) fn read<T: Real>(at: At, values: &[T]) -> T {
    const LANES: usize = 128;
    let mut lanes = [T::default(); LANES];
    at.run(
        &mut lanes,
        #[inline(always)]
        |lanes| {
            let lanes: &mut [T; LANES] = lanes.try_into().unwrap();
            let mut sums = *lanes;
            for chunk in values.as_chunks::<LANES>().0 {
                for (sum, value) in sums.iter_mut().zip(chunk) {
                    *sum += *value;
                }
            }
            *lanes = sums;
        },
    );
    lanes.into_iter().fold(T::default(), |sum, lane| sum + lane)
}

/// Like [`fill`], with non-temporal stores.
pub(crate) fn fill_non_temporal<T: Real>(at: At, value: T, out: &mut [T]) {
    let line = [value; 64];
    // SAFETY: the same 64 bytes are read for every line, and `line` has more than those.
    non_temporal(at, out, |_| unsafe { load(line.as_ptr().cast()) });
}

/// Like [`copy`], with non-temporal stores.
pub(crate) fn copy_non_temporal<T: Real>(at: At, from: &[T], out: &mut [T]) {
    assert!(from.len() >= out.len());
    // SAFETY: `non_temporal` reads only the lines that are in `out`, and `from` is at least as long.
    non_temporal(at, out, |byte| unsafe { load(from.as_ptr().cast::<u8>().add(byte)) });
}

/// 64 bytes.
type Line = [u8; 64];

/// # Safety
/// 64 bytes must be readable from `from` on.
#[inline(always)]
unsafe fn load(from: *const u8) -> Line {
    // SAFETY: guaranteed by the caller. Bytes need no alignment.
    unsafe { from.cast::<Line>().read_unaligned() }
}

/// Stores the line that `line` returns for each byte offset, with non-temporal stores, for all whole lines of
/// `out`.
#[cfg(target_arch = "x86_64")]
fn non_temporal<T>(at: At, out: &mut [T], line: impl Fn(usize) -> Line) {
    use std::arch::x86_64::{__m128i, __m512i, _mm_sfence, _mm_stream_si128, _mm512_stream_si512};
    let (base, bytes) = (out.as_mut_ptr().cast::<u8>(), size_of_val(out));
    let first = base.align_offset(64).min(bytes);
    if at.level() == Level::Avx512 {
        at.run(
            &mut [(); 0],
            #[inline(always)]
            |_| {
                for byte in (first..bytes.saturating_sub(63)).step_by(64) {
                    // SAFETY: `byte + 64 <= bytes`, aligned to a line, and the machine has the level.
                    unsafe {
                        let line: __m512i = std::mem::transmute(line(byte));
                        _mm512_stream_si512(base.add(byte).cast(), line);
                    }
                }
            },
        );
    } else {
        at.run(
            &mut [(); 0],
            #[inline(always)]
            |_| {
                for byte in (first..bytes.saturating_sub(63)).step_by(64) {
                    // SAFETY: `byte + 64 <= bytes`, aligned to a line. SSE2 is part of x86-64.
                    unsafe {
                        let parts: [__m128i; 4] = std::mem::transmute(line(byte));
                        for (part, place) in parts.into_iter().zip(0..) {
                            _mm_stream_si128(base.add(byte).cast::<__m128i>().add(place), part);
                        }
                    }
                }
            },
        );
    }
    // SAFETY: SSE is part of x86-64.
    unsafe { _mm_sfence() };
}

/// Stable Rust has no non-temporal stores for this target, so this uses ordinary ones.
#[cfg(not(target_arch = "x86_64"))]
fn non_temporal<T>(_: At, out: &mut [T], line: impl Fn(usize) -> Line) {
    let (base, bytes) = (out.as_mut_ptr().cast::<u8>(), size_of_val(out));
    for byte in (0..bytes.saturating_sub(63)).step_by(64) {
        // SAFETY: `byte + 64 <= bytes`.
        unsafe { base.add(byte).cast::<Line>().write_unaligned(line(byte)) };
    }
}
