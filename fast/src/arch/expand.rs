//! A column operand under a short inner axis: every element several times. Compilers make single stores of it; with
//! AVX-512 a vector of elements becomes `times` vectors by as many permutations.

/// Each element `times` times, by plain loops.
pub(super) fn plain<T: Copy>(from: &[T], times: usize, out: &mut [T]) {
    for (out, &value) in out.chunks_mut(times.max(1)).zip(from) {
        out.fill(value);
    }
}

/// The largest number of repetitions that is permuted; beyond it filling is as good.
#[cfg(target_arch = "x86_64")]
const MOST: usize = 16;

/// Each element `times` times.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn avx512<T: Copy>(from: &[T], times: usize, out: &mut [T]) {
    let count = from.len().min(out.len() / times.max(1));
    let width = 64 / size_of::<T>();
    let whole = count - count % width;
    if !(2..=MOST).contains(&times) || !matches!(size_of::<T>(), 4 | 8) {
        return plain(from, times, out);
    }
    let (source, target) = (from.as_ptr().cast::<u8>(), out.as_mut_ptr().cast::<u8>());
    // SAFETY: `whole` elements of `from` are read, 64 bytes at a time, and `whole * times` places of `out` written,
    // which are inside both by the choice of `count`. T is 4 or 8 bytes, and permutations move those as they are.
    unsafe {
        if size_of::<T>() == 8 {
            permute_eight(source, whole / 8, times, target);
        } else {
            permute_four(source, whole / 16, times, target);
        }
    }
    plain(&from[whole..], times, &mut out[whole * times..]);
}

macro_rules! permute {
    ($name:ident $table:ident $width:literal $lane:ty, $permute:ident) => {
        /// For each number of repetitions, and each vector of the result: which element stands in each lane.
        #[cfg(target_arch = "x86_64")]
        #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "places in a vector")]
        static $table: [[[$lane; $width]; MOST]; MOST + 1] = {
            let mut table = [[[0; $width]; MOST]; MOST + 1];
            let mut times = 1;
            while times <= MOST {
                let mut place = 0;
                while place < times * $width {
                    table[times][place / $width][place % $width] = (place / times) as $lane;
                    place += 1;
                }
                times += 1;
            }
            table
        };

        /// # Safety
        /// `vectors` times 64 bytes stand at `from`, and `times` as many places at `to`; `times` is at most `MOST`.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f")]
        unsafe fn $name(from: *const u8, vectors: usize, times: usize, to: *mut u8) {
            use std::arch::x86_64::{_mm512_loadu_si512, _mm512_storeu_si512, $permute};
            let places = &$table[times];
            for at in 0..vectors {
                // SAFETY: the caller's: inside both.
                unsafe {
                    let values = _mm512_loadu_si512(from.add(at * 64).cast());
                    for (which, places) in places[..times].iter().enumerate() {
                        let places = _mm512_loadu_si512(places.as_ptr().cast());
                        let out = to.add((at * times + which) * 64);
                        _mm512_storeu_si512(out.cast(), $permute(places, values));
                    }
                }
            }
        }
    };
}

permute! { permute_eight EIGHT 8 i64, _mm512_permutexvar_epi64 }
permute! { permute_four FOUR 16 i32, _mm512_permutexvar_epi32 }
