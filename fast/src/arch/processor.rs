//! What differs between processors that have the same instructions. Only speed depends on it.

use std::sync::LazyLock;

/// Whether the processor is one of Intel's.
///
/// - Sums of values that they compute prefetch operands beyond the caches. On an Intel Xeon, the gradient of
///   x*y over 2000x2000 gained from it. On an AMD EPYC, whose own prefetching does better, gradients over
///   1000x1000 and 2000x2000 take 0.66 to 1.15 of the time without it, most of them 0.7 to 0.95
///   (`benches/gradients`).
/// - Chains with functions prefetch operands beyond the caches. On an AMD EPYC, chains over 360,000 elements
///   and 1000x1000 take 0.88 to 1.00 of the time without it, and in loops of their own where there are such
///   (1000x1000 is in `benches/expressions`). On processors other than Intel's, their results are stored
///   non-temporally only if the functions do not take longer than memory.
/// - Rows of less than 8 bytes an element that are not whole cache lines are computed one after another;
///   elsewhere, together ([`splits_lines`](super::chain)).
#[inline]
pub(crate) fn is_intel() -> bool {
    static INTEL: LazyLock<bool> = LazyLock::new(|| vendor() == Some(*b"GenuineIntel"));
    *INTEL
}

/// The name that a processor for x86-64 gives to its vendor.
#[cfg(target_arch = "x86_64")]
fn vendor() -> Option<[u8; 12]> {
    let words = std::arch::x86_64::__cpuid(0);
    let mut name = [0; 12];
    for (part, word) in name.as_chunks_mut::<4>().0.iter_mut().zip([words.ebx, words.edx, words.ecx]) {
        *part = word.to_le_bytes();
    }
    Some(name)
}

#[cfg(not(target_arch = "x86_64"))]
fn vendor() -> Option<[u8; 12]> {
    None
}
