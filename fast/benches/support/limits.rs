//! What this machine's memory can do: setting, copying and reading arrays, with stores into the caches and past them.
#![allow(unsafe_code, reason = "stores past the caches have no safe form")]

use super::{At, Real};
use broadcheck_fast::Level;

/// Every element set.
pub(crate) fn fill<T: Real>(at: At, value: T, out: &mut [T]) {
    at.run(
        out,
        #[inline(always)]
        |out| out.fill(value),
    );
}

/// A copy in a vectorised loop.
pub(crate) fn copy<T: Real>(at: At, from: &[T], out: &mut [T]) {
    at.run(
        out,
        #[inline(always)]
        |out| {
            for (out, from) in out.iter_mut().zip(from) {
                // An addition, so that the loop is not made a call of `memcpy`: that one is a rival of its own.
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

/// Reads everything: its sum, in as many lanes as hide the additions.
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

/// As [`fill`], past the caches.
pub(crate) fn fill_past<T: Real>(at: At, value: T, out: &mut [T]) {
    let line = [value; 64];
    // SAFETY: nothing that is read depends on the line's place, and `line` holds more than 64 bytes.
    past(at, out, |_| unsafe { load(line.as_ptr().cast()) });
}

/// As [`copy`], past the caches.
pub(crate) fn copy_past<T: Real>(at: At, from: &[T], out: &mut [T]) {
    assert!(from.len() >= out.len());
    // SAFETY: `past` asks for lines that lie in `out`, and `from` is no shorter.
    past(at, out, |byte| unsafe { load(from.as_ptr().cast::<u8>().add(byte)) });
}

/// 64 bytes.
type Line = [u8; 64];

/// # Safety
/// 64 bytes must be readable from `from` on.
#[inline(always)]
unsafe fn load(from: *const u8) -> Line {
    // SAFETY: the caller says so; bytes have no alignment.
    unsafe { from.cast::<Line>().read_unaligned() }
}

/// Stores the line that `line` gives for each byte offset past the caches, over all whole lines of `out`.
#[cfg(target_arch = "x86_64")]
fn past<T>(at: At, out: &mut [T], line: impl Fn(usize) -> Line) {
    use std::arch::x86_64::{__m128i, __m512i, _mm_sfence, _mm_stream_si128, _mm512_stream_si512};
    let (base, bytes) = (out.as_mut_ptr().cast::<u8>(), size_of_val(out));
    let first = base.align_offset(64).min(bytes);
    if at.level() == Level::Avx512 {
        at.run(
            &mut [(); 0],
            #[inline(always)]
            |_| {
                for byte in (first..bytes.saturating_sub(63)).step_by(64) {
                    // SAFETY: `byte + 64 <= bytes`, on a line's boundary; the machine has the level.
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
                    // SAFETY: `byte + 64 <= bytes`, on a line's boundary; SSE2 is part of x86-64.
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

/// There is no store past the caches that stable Rust could ask for: a plain one.
#[cfg(not(target_arch = "x86_64"))]
fn past<T>(_: At, out: &mut [T], line: impl Fn(usize) -> Line) {
    let (base, bytes) = (out.as_mut_ptr().cast::<u8>(), size_of_val(out));
    for byte in (0..bytes.saturating_sub(63)).step_by(64) {
        // SAFETY: `byte + 64 <= bytes`.
        unsafe { base.add(byte).cast::<Line>().write_unaligned(line(byte)) };
    }
}
