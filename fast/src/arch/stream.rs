//! Stores that go past the caches: for results that are larger than those, which nobody reads soon. The cache line
//! is not read before it is written, which saves a third of the traffic of a copy.

use std::mem::size_of_val;

/// The bytes of a cache line.
pub(super) const LINE: usize = 64;

/// Asks for a cache line that will be read once; one that does not exist is not asked for.
#[inline(always)]
pub(super) fn prefetch(from: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE; a prefetch reads nothing that the program sees, and any address will do.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_NTA }>(from.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}

/// Copies `from`, which is in the first cache, to `to`, past the caches where lines are whole.
///
/// # Safety
/// The machine has AVX (which AVX2 implies); `T` has no padding.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
pub(super) unsafe fn copy<T: Copy>(from: &[T], to: &mut [T]) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    let bytes = size_of_val(from).min(size_of_val(to));
    let head = to.as_ptr().align_offset(LINE).saturating_mul(size_of::<T>()).min(bytes);
    let lines = (bytes - head) / LINE;
    let (source, target) = (from.as_ptr().cast::<u8>(), to.as_mut_ptr().cast::<u8>());
    // SAFETY: head + lines * 64 <= bytes, which both slices have; `target + head` stands on a line's boundary
    // whenever a line is stored; the slices do not overlap, as one is borrowed to be changed.
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

/// Makes streamed stores visible in order with what follows.
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has SSE, and the instruction has no other precondition.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Copies by ordinary stores: for levels that do not stream.
pub(super) fn plain<T: Copy>(from: &[T], to: &mut [T]) {
    to.copy_from_slice(from);
}
