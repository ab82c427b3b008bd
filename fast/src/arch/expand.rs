//! Operands along a short inner axis: a column, each of whose elements is read several times in a row, and a
//! row that is read over and over. Compilers turn such loops into single stores. With AVX-512 each vector of
//! the result takes one permutation.
#![deny(clippy::wildcard_enum_match_arm)]

use super::element::Element;
use super::extent::Extent;
#[cfg(target_arch = "x86_64")]
use super::group::counted;
#[cfg(target_arch = "x86_64")]
use super::stream::NonTemporal;
use broadcheck_spec::Function;

/// A function of a value `a` and a repeated value `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pairing {
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
    /// The pairing that computes a binary function whose argument number `repeated`, 0 or 1, is the repeated
    /// one; `None` if no pairing does.
    pub(crate) fn of(function: Function, repeated: u32) -> Option<Pairing> {
        use Function as F;
        match function {
            F::Add => Some(Pairing::Add),
            F::Multiply => Some(Pairing::Multiply),
            F::Subtract => Some(if repeated == 1 { Pairing::Subtract } else { Pairing::SubtractFrom }),
            F::Divide
            | F::Power
            | F::Maximum
            | F::Minimum
            | F::Negate
            | F::Abs
            | F::Sqrt
            | F::Exp
            | F::Log
            | F::Tanh
            | F::Equal
            | F::NotEqual
            | F::Less
            | F::LessEqual
            | F::Greater
            | F::GreaterEqual
            | F::LogicalAnd
            | F::LogicalOr
            | F::LogicalNot
            | F::Select => None,
        }
    }
}

/// How the repeated argument is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Each value this many times in a row; 1 for an argument that is not repeated.
    Each(usize),
    /// This many values, over and over.
    All(usize),
}

impl Repeat {
    /// The number of values that `count` elements need, the first of which takes the first value.
    pub(crate) fn values(self, count: usize) -> usize {
        match self {
            Repeat::Each(times) => count.div_ceil(times.max(1)),
            Repeat::All(period) => period,
        }
    }
}

/// Checks that both arguments have the elements that the output needs.
#[inline(always)]
pub(super) fn check_pair<T>(a: &[T], b: &[T], repeat: Repeat, out: &[T]) {
    let (Repeat::Each(times) | Repeat::All(times)) = repeat;
    let needed = [Extent::of(out.len()), Extent::of(repeat.values(out.len()))];
    assert!(
        times > 0 && needed[0].is_within(a) && needed[1].is_within(b),
        "an argument is shorter than the output needs"
    );
}

/// `out = f(a, b)` by plain loops. `b` is repeated.
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

/// Repeats each element `times` times.
#[inline(always)]
pub(super) fn repeat<T: Element>(from: &[T], times: usize, out: &mut [T]) {
    match const { size_of::<T>() } {
        1 if times == 2 => pairs(from, out),
        8 => lines::<8, T>(from, times, out),
        4 => lines::<16, T>(from, times, out),
        2 => lines::<32, T>(from, times, out),
        _ => lines::<64, T>(from, times, out),
    }
}

/// Repeats each element twice.
#[inline(always)]
fn pairs<T: Copy>(from: &[T], out: &mut [T]) {
    let (pairs, half) = out.as_chunks_mut::<2>();
    for (pair, &value) in pairs.iter_mut().zip(from) {
        *pair = [value; 2];
    }
    if let ([half], Some(&value)) = (half, from.get(pairs.len())) {
        *half = value;
    }
}

/// Repeats each element `times` times, in blocks of a cache line of `N` elements. The last block of a row
/// goes on into the next one, which is written after it. (Rows of 20 take 0.3 to 0.75 of the time of filling
/// exactly one row, rows of 33 f32 0.7 and of 33 f64 1.1.)
#[inline(always)]
pub(super) fn lines<const N: usize, T: Copy>(from: &[T], times: usize, out: &mut [T]) {
    let times = times.max(1);
    let count = from.len().saturating_mul(times).min(out.len());
    let (mut rest, mut written) = (&mut out[..count], 0);
    let whole = times.div_ceil(N).saturating_mul(N);
    for &value in from {
        if rest.len() < whole {
            break;
        }
        for block in rest[..whole].as_chunks_mut::<N>().0 {
            *block = [value; N];
        }
        rest = &mut rest[times..];
        written += 1;
    }
    for (row, &value) in rest.chunks_mut(times).zip(&from[written..]) {
        row.fill(value);
    }
}

/// The longest inner axis for which [`Pairing`]s are used.
pub(crate) const MAX_REPEAT: usize = 4;

/// The entries of a table of a vector's elements. A vector may begin inside of a group of `N` elements; then
/// it reads the table from that place on.
#[cfg(target_arch = "x86_64")]
const LANES: usize = 16 + MAX_REPEAT;

/// Which value each element takes, if each value is taken `N` times in a row. (With tables that were filled
/// at every run, the last elements one at a time and loops over tiles, (1000,3) + (3) took 1.3 to 2.2 times
/// as long, `benches/quick`.)
#[cfg(target_arch = "x86_64")]
const fn each<const N: usize>() -> [u8; LANES] {
    let (mut values, mut lane) = ([0; LANES], N);
    while lane < LANES {
        values[lane] = values[lane - N] + 1;
        lane += 1;
    }
    values
}

/// The same if `N` values are taken over and over.
#[cfg(target_arch = "x86_64")]
const fn over_and_over<const N: usize>() -> [u8; LANES] {
    let (mut values, mut lane) = ([0; LANES], 1);
    while lane < LANES {
        values[lane] = if values[lane - 1] as usize + 1 < N { values[lane - 1] + 1 } else { 0 };
        lane += 1;
    }
    values
}

/// Defines the kernel for one element type, with its loop over groups.
#[cfg(target_arch = "x86_64")]
macro_rules! paired {
    ($name:ident, $run:ident {
        element: $type:ty,
        width: $width:literal,
        mask: $mask:ty,
        vector: $vector:ident,
        index: $index:ident,
        load: $load:ident,
        load_masked: $load_masked:ident,
        store: $store:ident,
        store_masked: $store_masked:ident,
        store_non_temporal: $store_non_temporal:ident,
        permute: $permute:ident,
        add: $add:ident,
        subtract: $sub:ident,
        multiply: $mul:ident,
    }) => {
        /// `out = f(a, b)` with `b` repeated.
        #[inline]
        #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
        pub(super) fn $name(
            pairing: Pairing,
            a: &[$type],
            b: &[$type],
            repeat: Repeat,
            stores: Option<&NonTemporal>,
            out: &mut [$type],
        ) {
            check_pair(a, b, repeat, out);
            let (Repeat::Each(times) | Repeat::All(times)) = repeat;
            if times > MAX_REPEAT {
                return pair(a, b, repeat, out, |a, b| match pairing {
                    Pairing::Add => a + b,
                    Pairing::Subtract => a - b,
                    Pairing::SubtractFrom => b - a,
                    Pairing::Multiply => a * b,
                });
            }
            use std::arch::x86_64::{$add, $mul, $sub};
            let non_temporal = stores.is_some();
            // SAFETY: this function has the instructions. `a` and `b` have the values for all of `out`, by
            // `check_pair`.
            unsafe {
                macro_rules! by {
                    ($n:literal) => {
                        match pairing {
                            Pairing::Add => $run::<$n>(a, b, repeat, non_temporal, out, |a, b| $add(a, b)),
                            Pairing::Subtract => {
                                $run::<$n>(a, b, repeat, non_temporal, out, |a, b| $sub(a, b))
                            }
                            Pairing::SubtractFrom => {
                                $run::<$n>(a, b, repeat, non_temporal, out, |a, b| $sub(b, a))
                            }
                            Pairing::Multiply => {
                                $run::<$n>(a, b, repeat, non_temporal, out, |a, b| $mul(a, b))
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

        /// Groups of `N` vectors, after which the repeated argument starts a vector again. The elements
        /// before the first aligned vector, if stores are non-temporal, and those after the last group are
        /// vectors of which a part is read and written.
        ///
        /// # Safety
        /// `a` has as many elements as `out`, and `b` the values for them. `N` is the number in `repeat`.
        #[inline]
        #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn $run<const N: usize>(
            a: &[$type],
            b: &[$type],
            repeat: Repeat,
            non_temporal: bool,
            out: &mut [$type],
            f: impl Fn(std::arch::x86_64::$vector, std::arch::x86_64::$vector) -> std::arch::x86_64::$vector,
        ) {
            use std::arch::x86_64::{
                _mm_loadu_si128, $index, $load, $load_masked, $permute, $store, $store_masked,
                $store_non_temporal,
            };
            const { assert!(N <= MAX_REPEAT) };
            let count = out.len();
            let head = if non_temporal { out.as_ptr().align_offset(64).min(count) } else { 0 };
            let end = head + (count - head) / (N * $width) * (N * $width);
            // The first `values` elements of a vector.
            let part = |values: usize| <$mask>::MAX >> ($width - values);
            // Where the values of `count` elements from `at` on begin, and which they are.
            let values = |at: usize, count: usize| (at / N, part((at % N + count - 1) / N + 1));
            let (a, b, out) = (a.as_ptr(), b.as_ptr(), out.as_mut_ptr());
            // SAFETY: the caller guarantees that all elements up to `count` are inside `a` and `out`. The
            // masks restrict each load of `b` to the values for the elements in question, and partial vectors
            // to elements before `count`. Tables have 16 entries from each place inside of a group on. With
            // non-temporal stores, groups start aligned to a vector.
            unsafe {
                // The entries of a table for a vector that begins with element `at`.
                let lanes = |table: &[u8; LANES], at: usize| {
                    $index(_mm_loadu_si128(table[at % N..at % N + 16].as_ptr().cast()))
                };
                let each = |at: usize| lanes(const { &each::<N>() }, at);
                let ring = |at: usize| {
                    $permute(lanes(const { &over_and_over::<N>() }, at), $load_masked(part(N), b))
                };
                // Computes `count` elements, less than a vector or one.
                let partly = |at: usize, count: usize| {
                    let second = match repeat {
                        Repeat::Each(_) => {
                            let (from, mask) = values(at, count);
                            $permute(each(at), $load_masked(mask, b.add(from)))
                        }
                        Repeat::All(_) => ring(at),
                    };
                    let value = f($load_masked(part(count), a.add(at)), second);
                    $store_masked(out.add(at), part(count), value);
                };
                (0..head).step_by($width).for_each(|at| partly(at, $width.min(head - at)));
                let compute = |at: usize, second| {
                    let (value, to) = (f($load(a.add(at)), second), out.add(at));
                    if non_temporal { $store_non_temporal(to, value) } else { $store(to, value) }
                };
                let groups = (head..end).step_by(N * $width).zip((0..).step_by($width));
                if head < end {
                    match repeat {
                        Repeat::Each(_) => {
                            let (mut lanes, mut places) = ([each(head); N], [values(head, $width); N]);
                            counted!(k in N => {
                                let at = head + k * $width;
                                (lanes[k], places[k]) = (each(at), values(at, $width));
                            });
                            for (at, row) in groups {
                                (0..N).for_each(|k| {
                                    let second = $load_masked(places[k].1, b.add(row + places[k].0));
                                    compute(at + k * $width, $permute(lanes[k], second));
                                });
                            }
                        }
                        Repeat::All(_) => {
                            let mut rings = [ring(head); N];
                            counted!(k in N => {
                                rings[k] = ring(head + k * $width);
                            });
                            for (at, _) in groups {
                                (0..N).for_each(|k| compute(at + k * $width, rings[k]));
                            }
                        }
                    }
                }
                (end..count).step_by($width).for_each(|at| partly(at, $width.min(count - at)));
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
paired! {
    pair_f64, pair_groups_f64 {
        element: f64,
        width: 8,
        mask: u8,
        vector: __m512d,
        index: _mm512_cvtepu8_epi64,
        load: _mm512_loadu_pd,
        load_masked: _mm512_maskz_loadu_pd,
        store: _mm512_storeu_pd,
        store_masked: _mm512_mask_storeu_pd,
        store_non_temporal: _mm512_stream_pd,
        permute: _mm512_permutexvar_pd,
        add: _mm512_add_pd,
        subtract: _mm512_sub_pd,
        multiply: _mm512_mul_pd,
    }
}
#[cfg(target_arch = "x86_64")]
paired! {
    pair_f32, pair_groups_f32 {
        element: f32,
        width: 16,
        mask: u16,
        vector: __m512,
        index: _mm512_cvtepu8_epi32,
        load: _mm512_loadu_ps,
        load_masked: _mm512_maskz_loadu_ps,
        store: _mm512_storeu_ps,
        store_masked: _mm512_mask_storeu_ps,
        store_non_temporal: _mm512_stream_ps,
        permute: _mm512_permutexvar_ps,
        add: _mm512_add_ps,
        subtract: _mm512_sub_ps,
        multiply: _mm512_mul_ps,
    }
}
