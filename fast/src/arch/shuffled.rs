//! Repeated bytes by the shuffles of AVX2: the bytes of a vector of the result are among 16 that follow one
//! another. (There are permutations of all bytes of a vector only beyond the features of the levels.)

#[cfg(target_arch = "x86_64")]
use super::element::Element;
#[cfg(target_arch = "x86_64")]
use super::expand;

/// The most repetitions. Filling lines takes less time for longer rows.
#[cfg(target_arch = "x86_64")]
const MOST: usize = 64;

/// The bytes of the widest vector.
#[cfg(target_arch = "x86_64")]
const WIDEST: usize = 64;

/// The bytes that a vector of the result takes its own from.
#[cfg(target_arch = "x86_64")]
const SOURCE: usize = 16;

/// For each number of repetitions: which byte each byte of a result is. A vector that begins with a later
/// repetition begins as much later here.
#[cfg(target_arch = "x86_64")]
#[allow(clippy::cast_possible_truncation, reason = "at most 127")]
static PLACES: [[u8; MOST + WIDEST]; MOST + 1] = {
    let mut places = [[0; MOST + WIDEST]; MOST + 1];
    let mut times = 1;
    while times <= MOST {
        let mut at = 0;
        while at < MOST + WIDEST {
            places[times][at] = (at / times) as u8;
            at += 1;
        }
        times += 1;
    }
    places
};

/// Whether the bytes of a vector of `width` bytes are among [`SOURCE`], wherever it begins.
#[cfg(target_arch = "x86_64")]
const fn are_near(width: usize, times: usize) -> bool {
    times != 0 && (times - 1 + width - 1) / times < SOURCE
}

/// Repeats each element `times` times.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn repeat<T: Element>(from: &[T], times: usize, out: &mut [T]) {
    let times = times.max(1);
    let (source, from) = from.split_at(from.len().min(out.len() / times));
    let (target, out) = out.split_at_mut(source.len() * times);
    if !bytes(source, times, target) {
        expand::repeat(source, times, target);
    }
    // The row that the output ends in.
    expand::repeat(from, times, out);
}

/// Repeats each byte `times` times, unless other ways are faster. Returns whether it did so. `out` has
/// `times` times as many elements as `from`.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn bytes<T: Element>(from: &[T], times: usize, out: &mut [T]) -> bool {
    use std::arch::x86_64::{
        __m256i, _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_shuffle_epi8, _mm256_storeu_si256,
    };
    const WIDTH: usize = size_of::<__m256i>();
    if const { size_of::<T>() != 1 } || times > MOST || !are_near(WIDTH, times) || out.len() < WIDTH {
        return false;
    }
    // SAFETY: this function has the instructions. `each_vector` passes a vector of the result, one of places
    // and `SOURCE` bytes.
    each_vector::<T, WIDTH>(
        from,
        times,
        out,
        #[inline(always)]
        |source, places, to| unsafe {
            let places = _mm256_loadu_si256(places.cast());
            let bytes = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(source), places);
            _mm256_storeu_si256(to.cast(), bytes);
        },
    );
    true
}

/// The same in vectors of AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw")]
pub(super) fn wide_bytes<T: Element>(from: &[T], times: usize, out: &mut [T]) -> bool {
    use std::arch::x86_64::{
        __m512i, _mm512_broadcast_i32x4, _mm512_loadu_si512, _mm512_shuffle_epi8, _mm512_storeu_si512,
    };
    const WIDTH: usize = size_of::<__m512i>();
    if const { size_of::<T>() != 1 } || times > MOST || !are_near(WIDTH, times) || out.len() < WIDTH {
        return bytes(from, times, out);
    }
    // SAFETY: as in `bytes`.
    each_vector::<T, WIDTH>(
        from,
        times,
        out,
        #[inline(always)]
        |source, places, to| unsafe {
            let places = _mm512_loadu_si512(places.cast());
            let bytes = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(source), places);
            _mm512_storeu_si512(to.cast(), bytes);
        },
    );
    true
}

/// Calls `store` for each vector of `WIDTH` bytes of a result: with the bytes that it takes its own from,
/// which of them each one is, and where it is. The last vector ends with the result.
///
/// # Panics
/// If the result has less than a vector, or vectors need more bytes than [`SOURCE`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn each_vector<T: Element, const WIDTH: usize>(
    from: &[T],
    times: usize,
    out: &mut [T],
    store: impl Fn(std::arch::x86_64::__m128i, *const u8, *mut u8),
) {
    use std::arch::x86_64::_mm_loadu_si128;
    const { assert!(WIDTH <= WIDEST) }
    let count = out.len();
    assert!(size_of::<T>() == 1, "elements that are not bytes");
    assert!(from.len().checked_mul(times) == Some(count) && count >= WIDTH && times <= MOST);
    assert!(are_near(WIDTH, times));
    // The last bytes, and as many that are not used.
    let mut last = [0_u8; 2 * SOURCE];
    let first = from.len().saturating_sub(SOURCE);
    // SAFETY: every x86-64 machine has the instructions. T has one byte, which is moved unchanged. `at` is at
    // most a vector before the end of the result, and `place` is the byte at `at / times`, which is one of
    // `from`. Either there are `SOURCE` bytes from there on, or it is after `first`, and `last` has as many
    // from there on. `repetition` is less than `times`, and the row of `PLACES` has a vector from there on.
    unsafe {
        let (bytes, to) = (from.as_ptr().cast::<u8>(), out.as_mut_ptr().cast::<u8>());
        last.as_mut_ptr().copy_from_nonoverlapping(bytes.add(first), from.len() - first);
        let row = PLACES[times].as_ptr();
        let vector = |at: usize, place: usize, repetition: usize| {
            let is_inside = place + SOURCE <= from.len();
            let source = if is_inside { bytes.add(place) } else { last.as_ptr().add(place - first) };
            store(_mm_loadu_si128(source.cast()), row.add(repetition), to.add(at));
        };
        let (whole, part) = (WIDTH / times, WIDTH % times);
        let (mut place, mut repetition) = (0, 0);
        for at in (0..=count - WIDTH).step_by(WIDTH) {
            vector(at, place, repetition);
            // Without a branch, which would be mispredicted.
            let over = (repetition + part).wrapping_sub(times);
            let is_next = over < times;
            place += whole + usize::from(is_next);
            repetition = if is_next { over } else { repetition + part };
        }
        let at = count - WIDTH;
        vector(at, at / times, at % times);
    }
}
