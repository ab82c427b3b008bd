//! Operands under a short inner axis: a column, of which every element is read several times, and a row, which is read
//! again and again. Compilers make single stores of such; with AVX-512 each vector of the result takes one permutation.

use broadcheck_spec::Function;

/// A function of a value and one that is repeated, `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `b - a`
    SubtractFrom,
    /// `a * b`
    Multiply,
}

impl Pairing {
    /// A function of two arguments, of which the repeated one is the first or the second, 0 or 1.
    pub fn of(function: Function, repeated: u32) -> Option<Pairing> {
        match (function, repeated) {
            (Function::Add, _) => Some(Pairing::Add),
            (Function::Multiply, _) => Some(Pairing::Multiply),
            (Function::Subtract, 1) => Some(Pairing::Subtract),
            (Function::Subtract, _) => Some(Pairing::SubtractFrom),
            _ => None,
        }
    }
}

/// Which values a result's elements take of the repeated argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Each value so many times: once where it lies as the result does.
    Each(usize),
    /// So many values, over and over.
    All(usize),
}

impl Repeat {
    /// How many values it takes for so many elements, of which the first takes the first.
    pub fn values(self, count: usize) -> usize {
        match self {
            Repeat::Each(times) => count.div_ceil(times.max(1)),
            Repeat::All(period) => period,
        }
    }
}

/// `out = f(a, b)` by plain loops, from the first element on; `b` is repeated.
#[inline(always)]
pub(super) fn pair<T: Copy>(a: &[T], b: &[T], repeat: Repeat, out: &mut [T], f: impl Fn(T, T) -> T + Copy) {
    match repeat {
        Repeat::Each(2) => pair_each::<2, T>(a, b, out, f),
        Repeat::Each(3) => pair_each::<3, T>(a, b, out, f),
        Repeat::Each(4) => pair_each::<4, T>(a, b, out, f),
        Repeat::Each(times) => {
            let rows = out.chunks_mut(times.max(1)).zip(a.chunks(times.max(1)));
            for ((out, a), &b) in rows.zip(b) {
                out.iter_mut().zip(a).for_each(|(out, &a)| *out = f(a, b));
            }
        }
        Repeat::All(period) => {
            for (out, a) in out.chunks_mut(period.max(1)).zip(a.chunks(period.max(1))) {
                out.iter_mut().zip(a).zip(b).for_each(|((out, &a), &b)| *out = f(a, b));
            }
        }
    }
}

#[inline(always)]
fn pair_each<const N: usize, T: Copy>(a: &[T], b: &[T], out: &mut [T], f: impl Fn(T, T) -> T) {
    let whole = out.len() / N;
    let rows = out.as_chunks_mut::<N>().0.iter_mut().zip(a.as_chunks::<N>().0);
    for ((out, a), &b) in rows.zip(b) {
        for (out, &a) in out.iter_mut().zip(a) {
            *out = f(a, b);
        }
    }
    if let Some(&b) = b.get(whole) {
        out[whole * N..].iter_mut().zip(&a[whole * N..]).for_each(|(out, &a)| *out = f(a, b));
    }
}

/// Each element `times` times, by plain loops.
pub(super) fn plain<T: Copy>(from: &[T], times: usize, out: &mut [T]) {
    for (out, &value) in out.chunks_mut(times.max(1)).zip(from) {
        out.fill(value);
    }
}

/// The largest number of repetitions that is permuted; beyond it filling is as good.
#[cfg(target_arch = "x86_64")]
const MOST_EXPANDED: usize = 16;

/// The longest axis under which [`Pairing`]s are taken.
pub const MOST: usize = 4;

/// Each element `times` times.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) fn avx512<T: Copy>(from: &[T], times: usize, out: &mut [T]) {
    let count = from.len().min(out.len() / times.max(1));
    // mutant: replace / with *: costs time only; more elements than there are, so all go one by one
    let width = 64 / size_of::<T>();
    let whole = count - count % width;
    if !(2..=MOST_EXPANDED).contains(&times) || !matches!(size_of::<T>(), 4 | 8) {
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
        static $table: [[[$lane; $width]; MOST_EXPANDED]; MOST_EXPANDED + 1] = {
            let mut table = [[[0; $width]; MOST_EXPANDED]; MOST_EXPANDED + 1];
            let mut times = 1;
            while times <= MOST_EXPANDED {
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
        /// `vectors` times 64 bytes stand at `from`, and `times` as many places at `to`; `times` is at most `MOST_EXPANDED`.
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

#[cfg(target_arch = "x86_64")]
macro_rules! paired {
    ($name:ident $run:ident $width:literal $type:ty, $lane:ty, $mask:ty, $whole:ident
     $load:ident $part:ident $store:ident $stream:ident $permute:ident $add:ident $sub:ident $mul:ident) => {
        /// `out = f(a, b)` with `b` repeated, `past` the caches where that is asked.
        #[target_feature(enable = "avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
        pub(super) fn $name(
            pairing: Pairing,
            a: &[$type],
            b: &[$type],
            repeat: Repeat,
            past: bool,
            out: &mut [$type],
        ) {
            let (Repeat::Each(times) | Repeat::All(times)) = repeat;
            let count = out.len();
            assert!(
                times > 0 && a.len() >= count && b.len() >= repeat.values(count),
                "arguments are as long as the output asks"
            );
            // One element after the other up to the boundary that stores past the caches need, and at the end.
            let head = if past { out.as_ptr().align_offset(64).min(count) } else { 0 };
            let group = times * $width;
            let vectors = if times <= MOST { (count - head) / group * group } else { 0 };
            let single = |at: usize| {
                let b = match repeat {
                    Repeat::Each(times) => b[at / times],
                    Repeat::All(period) => b[at % period],
                };
                match pairing {
                    Pairing::Add => a[at] + b,
                    Pairing::Subtract => a[at] - b,
                    Pairing::SubtractFrom => b - a[at],
                    Pairing::Multiply => a[at] * b,
                }
            };
            (0..head).chain(head + vectors..count).for_each(|at| out[at] = single(at));
            if vectors == 0 {
                return;
            }
            use std::arch::x86_64::{$add, $mul, $sub};
            let place = head..head + vectors;
            // SAFETY: the instructions are this function's. `place` is whole groups inside `out`, and inside `a`; `b`
            // has the values of all of `out`, by the assertion. With `past` it begins on a vector's boundary.
            unsafe {
                macro_rules! by {
                    ($n:literal) => {
                        match pairing {
                            Pairing::Add => $run::<$n>(a, b, repeat, past, place, out, |a, b| $add(a, b)),
                            Pairing::Subtract => {
                                $run::<$n>(a, b, repeat, past, place, out, |a, b| $sub(a, b))
                            }
                            Pairing::SubtractFrom => {
                                $run::<$n>(a, b, repeat, past, place, out, |a, b| $sub(b, a))
                            }
                            Pairing::Multiply => {
                                $run::<$n>(a, b, repeat, past, place, out, |a, b| $mul(a, b))
                            }
                        }
                    };
                }
                match times {
                    2 => by!(2),
                    3 => by!(3),
                    4 => by!(4),
                    _ => by!(1),
                }
            }
        }

        /// Whole groups of `N` vectors, after which the repeated argument starts a vector anew.
        ///
        /// # Safety
        /// The places are a multiple of `N` vectors, inside `out` and `a`, and `b` has the values that they ask for;
        /// with `past`, they begin on a vector's boundary. `N` is the number in `repeat`.
        #[inline]
        #[target_feature(enable = "avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn $run<const N: usize>(
            a: &[$type],
            b: &[$type],
            repeat: Repeat,
            past: bool,
            place: std::ops::Range<usize>,
            out: &mut [$type],
            f: impl Fn(std::arch::x86_64::$whole, std::arch::x86_64::$whole) -> std::arch::x86_64::$whole,
        ) {
            use std::arch::x86_64::{_mm512_loadu_si512, $load, $part, $permute, $store, $stream};
            let first = place.start;
            let (mut from, mut mask) = ([0; N], [<$mask>::MAX; N]);
            let (mut lanes, mut ring) = ([[0; $width]; N], [[<$type>::default(); $width]; N]);
            for k in 0..N {
                let phase = (first + k * $width) % N;
                from[k] = (first + k * $width) / N;
                mask[k] = <$mask>::MAX >> ($width - ((phase + $width - 1) / N + 1));
                for lane in 0..$width {
                    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a lane")]
                    let value = ((phase + lane) / N) as $lane;
                    lanes[k][lane] = value;
                    ring[k][lane] = if let Repeat::All(_) = repeat { b[(phase + lane) % N] } else { b[0] };
                }
            }
            // SAFETY: the caller's: all of `place` lies inside `a` and `out`. The mask leaves the values of those
            // elements alone.
            unsafe {
                let lanes: [_; N] = std::array::from_fn(|k| _mm512_loadu_si512(lanes[k].as_ptr().cast()));
                let ring: [_; N] = std::array::from_fn(|k| $load(ring[k].as_ptr()));
                let (a, b, out) = (a.as_ptr(), b.as_ptr(), out.as_mut_ptr());
                let each = |k: usize, row: usize| $permute(lanes[k], $part(mask[k], b.add(row + from[k])));
                let value = |at: usize, second| f($load(a.add(at)), second);
                let groups = place.step_by(N * $width).zip((0..).step_by($width));
                match (repeat, past) {
                    (Repeat::Each(_), false) => {
                        for (at, row) in groups {
                            (0..N).for_each(|k| {
                                $store(out.add(at + k * $width), value(at + k * $width, each(k, row)))
                            });
                        }
                    }
                    (Repeat::Each(_), true) => {
                        for (at, row) in groups {
                            (0..N).for_each(|k| {
                                $stream(out.add(at + k * $width), value(at + k * $width, each(k, row)))
                            });
                        }
                    }
                    (Repeat::All(_), false) => {
                        for (at, _) in groups {
                            (0..N).for_each(|k| {
                                $store(out.add(at + k * $width), value(at + k * $width, ring[k]))
                            });
                        }
                    }
                    (Repeat::All(_), true) => {
                        for (at, _) in groups {
                            (0..N).for_each(|k| {
                                $stream(out.add(at + k * $width), value(at + k * $width, ring[k]))
                            });
                        }
                    }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
paired! {
    pair_f64 run_f64 8 f64, i64, u8, __m512d
    _mm512_loadu_pd _mm512_maskz_loadu_pd _mm512_storeu_pd _mm512_stream_pd _mm512_permutexvar_pd
    _mm512_add_pd _mm512_sub_pd _mm512_mul_pd
}
#[cfg(target_arch = "x86_64")]
paired! {
    pair_f32 run_f32 16 f32, i32, u16, __m512
    _mm512_loadu_ps _mm512_maskz_loadu_ps _mm512_storeu_ps _mm512_stream_ps _mm512_permutexvar_ps
    _mm512_add_ps _mm512_sub_ps _mm512_mul_ps
}
