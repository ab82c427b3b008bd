//! Non-temporal stores, for results that are larger than the caches and will not be read soon. The cache line
//! is not read before it is written, which saves a third of the memory traffic of a copy.

#[cfg(target_arch = "x86_64")]
use super::element::Element;
use std::marker::PhantomData;

/// The bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Prefetches a cache line into every cache. The address may be invalid. A non-temporal prefetch costs more
/// than it gains: on Intel, sums beyond the caches took up to 2.7 times as long with it (`benches/quick`).
#[inline(always)]
pub(super) fn prefetch(from: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 machine has SSE. A prefetch has no visible effect and accepts any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(from.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = from;
}

/// The operands that a function can prefetch while it computes.
const OPERANDS: usize = 3;

/// What will be read next, of up to three operands. A function that takes longer to compute than to read
/// prefetches it as it computes, group by group. (Prefetched in parts of a KiB, the gradient of a power took
/// up to 1.5 times as long beyond the caches, `benches/gradients`: a core can wait for few lines at a time.)
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    /// Of each operand, the first value and the bytes of one.
    operands: [(*const u8, usize); OPERANDS],
    count: usize,
}

impl Ahead {
    /// Nothing.
    pub(crate) const NONE: Ahead = Ahead { operands: [(std::ptr::null(), 0); OPERANDS], count: 0 };

    /// Adds values, as many as will be computed, if there is room for them.
    pub(crate) fn add<T>(&mut self, values: &[T]) {
        if !values.is_empty() && self.count < OPERANDS {
            self.operands[self.count] = (values.as_ptr().cast(), size_of::<T>());
            self.count += 1;
        }
    }

    /// Prefetches the lines of `count` values of each operand from `at` on, while as many are computed.
    #[inline(always)]
    pub(crate) fn fetch(&self, at: usize, count: usize) {
        self.lines(at, count, prefetch);
    }

    #[inline(always)]
    fn lines(&self, at: usize, count: usize, mut each: impl FnMut(*const u8)) {
        let mut operand = 0;
        while operand < self.count {
            let (from, bytes) = self.operands[operand];
            let mut line = 0;
            while line < count * bytes {
                each(from.wrapping_add(at * bytes + line));
                line += LINE;
            }
            operand += 1;
        }
    }
}

/// Copies `from`, which is in the first-level cache, to `to`, with non-temporal stores for whole cache lines.
/// Both have the same length.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx")]
pub(super) fn copy<T: Element>(_: &NonTemporal, from: &[T], to: &mut [T]) {
    use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_stream_si256};
    assert_eq!(from.len(), to.len(), "a copy has another length than its source");
    let bytes = size_of_val(from);
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

/// Permission to use non-temporal stores, which every kernel with such stores asks for. It exists only while
/// [`fenced`] runs, on the thread of its caller, which fences at the end.
///
/// A fence at the end of each kernel would be simpler. But a kernel is called for each tile, and waiting for
/// the stores of a tile took 6 % of the time of large grids and copies.
pub(crate) struct NonTemporal(PhantomData<*const ()>);

/// Runs `body`, with permission to use non-temporal stores if they are `wanted`. In that case all of its
/// stores come before everything that follows, on any thread, even if it unwinds. Until then only the current
/// thread may read what a kernel has stored.
#[inline(always)]
pub(crate) fn fenced<R>(wanted: bool, body: impl FnOnce(Option<&NonTemporal>) -> R) -> R {
    let _fence = Fence { needed: wanted };
    body(wanted.then_some(&NonTemporal(PhantomData)))
}

/// When it is dropped, orders all stores so far before everything that follows, if that is `needed`.
struct Fence {
    needed: bool,
}

impl Drop for Fence {
    #[inline(always)]
    fn drop(&mut self) {
        if self.needed {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: every x86-64 machine has SSE, and the instruction has no other precondition.
            unsafe {
                std::arch::x86_64::_mm_sfence();
            }
            #[cfg(test)]
            FENCES.with(|fences| fences.set(fences.get() + 1));
        }
    }
}

#[cfg(test)]
thread_local! {
    /// The number of fences of this thread, for tests: no test can see that one is missing.
    pub(super) static FENCES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Copies with ordinary stores, for levels without non-temporal ones. Both have the same length.
pub(super) fn plain<T: Copy>(from: &[T], to: &mut [T]) {
    to.copy_from_slice(from);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_what_is_ahead_are_those_of_each_operand() {
        let (wide, narrow, empty) = ([0f64; 64], [0u16; 64], [0f32; 0]);
        let mut ahead = Ahead::NONE;
        ahead.add(&wide);
        ahead.add(&empty);
        ahead.add(&narrow);
        let mut found = Vec::new();
        ahead.lines(16, 32, |line| found.push(line));
        let [wide, narrow] = [wide.as_ptr().cast::<u8>(), narrow.as_ptr().cast::<u8>()];
        // 32 f64 are four lines, behind 16 others, and 32 numbers of two bytes are one.
        let expected = [128, 192, 256, 320].map(|at| wide.wrapping_add(at));
        assert_eq!(found, [&expected[..], &[narrow.wrapping_add(32)]].concat());
    }

    #[test]
    fn no_more_operands_than_there_is_room_for_are_ahead() {
        let values = [[0f32; 16]; OPERANDS + 1];
        let mut ahead = Ahead::NONE;
        values.iter().for_each(|values| ahead.add(values));
        let mut found = Vec::new();
        ahead.lines(0, 16, |line| found.push(line));
        let expected: Vec<*const u8> =
            values[..OPERANDS].iter().map(|values| values.as_ptr().cast()).collect();
        assert_eq!(found, expected);
    }
}
