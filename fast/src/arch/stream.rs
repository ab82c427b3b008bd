//! Non-temporal stores, for results that are larger than the caches and will not be read soon. The cache line
//! is not read before it is written, which saves a third of the memory traffic of a copy.

use std::mem::size_of_val;

/// The bytes of a cache line.
pub(super) const LINE: usize = 64;

/// Prefetches a cache line that will be read once. The address may be invalid.
#[inline(always)]
pub(super) fn prefetch(from: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 machine has SSE. A prefetch has no visible effect and accepts any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_NTA }>(from.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}

/// A type whose values may be copied as bytes.
///
/// # Safety
/// The type has no padding.
pub(super) unsafe trait NoPadding: Copy {}

macro_rules! no_padding {
    ($($type:ty)*) => { $(
        // SAFETY: a primitive type has no padding.
        unsafe impl NoPadding for $type {}
    )* };
}
no_padding! { f64 f32 i64 i32 i16 i8 u64 u32 u16 u8 bool }

/// Copies `from`, which is in the first-level cache, to `to`, with non-temporal stores for whole cache lines.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx")]
pub(super) fn copy<T: NoPadding>(from: &[T], to: &mut [T]) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    let bytes = size_of_val(from).min(size_of_val(to));
    let head = to.as_ptr().align_offset(LINE).saturating_mul(size_of::<T>()).min(bytes);
    let lines = (bytes - head) / LINE;
    let (source, target) = (from.as_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
    // SAFETY: head + lines * 64 <= bytes, which both slices have. If any line is stored, `target + head` is
    // aligned to a cache line. `T` has no padding. The slices do not overlap, because one is borrowed
    // mutably.
    unsafe {
        std::ptr::copy_nonoverlapping(source, target, head);
        for line in 0..lines {
            let at = head + line * LINE;
            let low = _mm256_loadu_si256(source.add(at).cast::<__m256i>());
            let high = _mm256_loadu_si256(source.add(at + 32).cast::<__m256i>());
            _mm256_stream_si256(target.add(at).cast::<__m256i>(), low);
            _mm256_stream_si256(target.add(at + 32).cast::<__m256i>(), high);
        }
        let done = head + lines * LINE;
        std::ptr::copy_nonoverlapping(source.add(done), target.add(done), bytes - done);
    }
}

/// Orders non-temporal stores before everything that follows.
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 machine has SSE, and the instruction has no other precondition.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Copies with ordinary stores, for levels without non-temporal ones.
pub(super) fn plain<T: Copy>(from: &[T], to: &mut [T]) {
    to.copy_from_slice(from);
}
