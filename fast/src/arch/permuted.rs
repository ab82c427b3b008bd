//! Repeated elements by the permutations of AVX-512: a vector of the result is a permutation of a vector of
//! elements. Which one it is depends on its place and on the number of repetitions alone.

#[cfg(target_arch = "x86_64")]
use super::element::Element;
#[cfg(target_arch = "x86_64")]
use super::expand::{lines, repeat};
#[cfg(target_arch = "x86_64")]
use super::shuffled::wide_bytes;

/// The permutations of the latest long repetition, kept from call to call.
#[derive(Default)]
pub(crate) struct Permutations {
    #[cfg(target_arch = "x86_64")]
    eight: Kept<i64, 8>,
    #[cfg(target_arch = "x86_64")]
    four: Kept<i32, 16>,
    #[cfg(target_arch = "x86_64")]
    two: Kept<i16, 32>,
}

/// The largest number of repetitions whose permutations are compiled in.
#[cfg(target_arch = "x86_64")]
const MOST_COMPILED: usize = 16;

/// The bytes of the longest row of one element that is made by permutations. Lines that are filled take as
/// long for rows of 64 f64, and less for longer ones.
#[cfg(target_arch = "x86_64")]
const LONGEST_ROW: usize = 512;

/// The most permutations that are kept. They share the first-level cache with operands and result.
#[cfg(target_arch = "x86_64")]
const MOST_KEPT: usize = 128;

/// For each vector of the result, until a vector of elements is used up: which element goes into each lane.
/// There are as many vectors as repetitions.
#[cfg(target_arch = "x86_64")]
#[derive(Default)]
struct Kept<I, const WIDTH: usize> {
    vectors: Vec<[I; WIDTH]>,
}

#[cfg(target_arch = "x86_64")]
impl<I: Copy + Default, const WIDTH: usize> Kept<I, WIDTH> {
    /// The permutations of `times` repetitions. `compiled` has those of few repetitions, each after its
    /// number; of one repetition, it has the number of each lane. There are none if other ways to repeat
    /// `count` elements are faster.
    fn of<'a>(
        &'a mut self,
        compiled: &'a [[[I; WIDTH]; MOST_COMPILED]; MOST_COMPILED + 1],
        (count, times): (usize, usize),
    ) -> Option<&'a [[I; WIDTH]]> {
        if (2..=MOST_COMPILED).contains(&times) {
            return Some(&compiled[times][..times]);
        }
        if times < 2 || times > MOST_KEPT.min(LONGEST_ROW / size_of::<I>()) || count < WIDTH {
            return None;
        }
        if self.vectors.len() != times {
            self.vectors.resize(times, [I::default(); WIDTH]);
            lines::<WIDTH, I>(&compiled[1][0], times, self.vectors.as_flattened_mut());
        }
        Some(&self.vectors)
    }
}

/// Repeats each element `times` times.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn avx512<T: Element>(from: &[T], times: usize, permutations: &mut Permutations, out: &mut [T]) {
    let times = times.max(1);
    let count = from.len().min(out.len() / times);
    let (source, from) = from.split_at(count);
    let (target, out) = out.split_at_mut(count * times);
    let (start, end) = (source.as_ptr(), target.as_mut_ptr());
    // SAFETY: this function has the instructions. `source` has `count` elements and `target` `times` as many.
    // T has the size of the elements that are moved, without padding, and they are moved unchanged.
    let done = unsafe {
        match const { size_of::<T>() } {
            8 => permute_eight(start.cast(), (count, times), &mut permutations.eight, end.cast()),
            4 => permute_four(start.cast(), (count, times), &mut permutations.four, end.cast()),
            2 => permute_two(start.cast(), (count, times), &mut permutations.two, end.cast()),
            _ => wide_bytes(source, times, target),
        }
    };
    if !done {
        repeat(source, times, target);
    }
    // The row that the output ends in.
    repeat(from, times, out);
}

/// Defines a function that repeats the elements of vectors, with the permutations of few repetitions.
#[cfg(target_arch = "x86_64")]
macro_rules! permute {
    ($name:ident {
        table: $table:ident,
        width: $width:literal,
        index: $index:ty,
        mask: $mask:ty,
        load: $load:ident,
        store: $store:ident,
        permute: $permute:ident,
    }) => {
        /// For each number of repetitions and each vector of the result: which element goes into each lane.
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            reason = "indices into a vector"
        )]
        static $table: [[[$index; $width]; MOST_COMPILED]; MOST_COMPILED + 1] = {
            let mut table = [[[0; $width]; MOST_COMPILED]; MOST_COMPILED + 1];
            let mut times = 1;
            while times <= MOST_COMPILED {
                let mut place = 0;
                while place < times * $width {
                    table[times][place / $width][place % $width] = (place / times) as $index;
                    place += 1;
                }
                times += 1;
            }
            table
        };

        /// Repeats each of `count` elements `times` times, unless other ways are faster. Returns whether it
        /// did so.
        ///
        /// # Safety
        /// `from` points to `count` readable elements, and `to` to `times` as many writable ones.
        #[target_feature(enable = "avx512f,avx512bw")]
        unsafe fn $name(
            from: *const $index,
            (count, times): (usize, usize),
            kept: &mut Kept<$index, $width>,
            to: *mut $index,
        ) -> bool {
            use std::arch::x86_64::{_mm512_loadu_si512, _mm512_storeu_si512, $load, $permute, $store};
            let Some(permutations) = kept.of(&$table, (count, times)) else { return false };
            for done in (0..count).step_by($width) {
                let here = (count - done).min($width);
                let elements = here * times;
                // SAFETY: the caller guarantees that both are inside. The masks leave out the elements
                // after the last one.
                unsafe {
                    let values = $load(<$mask>::MAX >> ($width - here), from.add(done));
                    let to = to.add(done * times);
                    let (whole, rest) = permutations.split_at(elements / $width);
                    for (at, permutation) in whole.iter().enumerate() {
                        let permutation = _mm512_loadu_si512(permutation.as_ptr().cast());
                        _mm512_storeu_si512(to.add(at * $width).cast(), $permute(permutation, values));
                    }
                    if let Some(permutation) = rest.first() {
                        let permutation = _mm512_loadu_si512(permutation.as_ptr().cast());
                        let mask = !(<$mask>::MAX << (elements % $width));
                        let to = to.add(whole.len() * $width);
                        $store(to, mask, $permute(permutation, values));
                    }
                }
            }
            true
        }
    };
}

#[cfg(target_arch = "x86_64")]
permute! {
    permute_eight {
        table: EIGHT,
        width: 8,
        index: i64,
        mask: u8,
        load: _mm512_maskz_loadu_epi64,
        store: _mm512_mask_storeu_epi64,
        permute: _mm512_permutexvar_epi64,
    }
}
#[cfg(target_arch = "x86_64")]
permute! {
    permute_four {
        table: SIXTEEN,
        width: 16,
        index: i32,
        mask: u16,
        load: _mm512_maskz_loadu_epi32,
        store: _mm512_mask_storeu_epi32,
        permute: _mm512_permutexvar_epi32,
    }
}
#[cfg(target_arch = "x86_64")]
permute! {
    permute_two {
        table: THIRTY_TWO,
        width: 32,
        index: i16,
        mask: u32,
        load: _mm512_maskz_loadu_epi16,
        store: _mm512_mask_storeu_epi16,
        permute: _mm512_permutexvar_epi16,
    }
}
