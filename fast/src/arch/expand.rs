//! Operands along a short inner axis: a column, each of whose elements is read several times in a row, and a
//! row that is read over and over. Compilers turn such loops into single stores. With AVX-512 each vector of
//! the result takes one permutation.
#![deny(clippy::wildcard_enum_match_arm)]

use super::element::Element;
use super::extent::Extent;
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
    match size_of::<T>() {
        8 => lines::<8, T>(from, times, out),
        4 => lines::<16, T>(from, times, out),
        2 => lines::<32, T>(from, times, out),
        _ => lines::<64, T>(from, times, out),
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

/// Defines the kernel for one element type, with its loop over groups.
#[cfg(target_arch = "x86_64")]
macro_rules! paired {
    ($name:ident, $run:ident {
        element: $type:ty,
        width: $width:literal,
        index: $lane:ty,
        mask: $mask:ty,
        vector: $vector:ident,
        load: $load:ident,
        load_masked: $load_masked:ident,
        store: $store:ident,
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
            let non_temporal = stores.is_some();
            let (Repeat::Each(times) | Repeat::All(times)) = repeat;
            let count = out.len();
            // The elements before the first aligned vector, if stores are non-temporal, and those at the end
            // are computed one at a time.
            let head = if non_temporal { out.as_ptr().align_offset(64).min(count) } else { 0 };
            let vectors = if times <= MAX_REPEAT {
                // The length of a group. For the longest repetitions, it would overflow.
                let group = times * $width;
                (count - head) / group * group
            } else {
                0
            };
            let one_element = |at: usize| {
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
            (0..head).chain(head + vectors..count).for_each(|at| out[at] = one_element(at));
            if vectors == 0 {
                return;
            }
            use std::arch::x86_64::{$add, $mul, $sub};
            let place = head..head + vectors;
            // SAFETY: this function has the instructions. `place` is whole groups inside `out` and `a`, and
            // `b` has the values for all of `out`, by `check_pair`. If stores are non-temporal, `place`
            // starts aligned to a vector.
            unsafe {
                macro_rules! by {
                    ($n:literal) => {
                        match pairing {
                            Pairing::Add => {
                                $run::<$n>(a, b, repeat, non_temporal, place, out, |a, b| $add(a, b))
                            }
                            Pairing::Subtract => {
                                $run::<$n>(a, b, repeat, non_temporal, place, out, |a, b| $sub(a, b))
                            }
                            Pairing::SubtractFrom => {
                                $run::<$n>(a, b, repeat, non_temporal, place, out, |a, b| $sub(b, a))
                            }
                            Pairing::Multiply => {
                                $run::<$n>(a, b, repeat, non_temporal, place, out, |a, b| $mul(a, b))
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

        /// Whole groups of `N` vectors. After a group, the repeated argument starts a vector again.
        ///
        /// # Safety
        /// `place` is a multiple of `N` vectors inside `out` and `a`, and `b` has the values for it. With
        /// `non_temporal`, it starts aligned to a vector. `N` is the number in `repeat`.
        #[inline]
        #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
        unsafe fn $run<const N: usize>(
            a: &[$type],
            b: &[$type],
            repeat: Repeat,
            non_temporal: bool,
            place: std::ops::Range<usize>,
            out: &mut [$type],
            f: impl Fn(std::arch::x86_64::$vector, std::arch::x86_64::$vector) -> std::arch::x86_64::$vector,
        ) {
            use std::arch::x86_64::{
                _mm512_loadu_si512, $load, $load_masked, $permute, $store, $store_non_temporal,
            };
            let first = place.start;
            let (mut from, mut mask) = ([0; N], [<$mask>::MAX; N]);
            let (mut lanes, mut ring) = ([[0; $width]; N], [[<$type>::default(); $width]; N]);
            for k in 0..N {
                let phase = (first + k * $width) % N;
                from[k] = (first + k * $width) / N;
                mask[k] = <$mask>::MAX >> ($width - ((phase + $width - 1) / N + 1));
                for lane in 0..$width {
                    #[allow(
                        clippy::cast_possible_truncation,
                        clippy::cast_possible_wrap,
                        reason = "an index into a vector"
                    )]
                    let value = ((phase + lane) / N) as $lane;
                    lanes[k][lane] = value;
                    ring[k][lane] = if let Repeat::All(_) = repeat { b[(phase + lane) % N] } else { b[0] };
                }
            }
            // SAFETY: the caller guarantees that all of `place` is inside `a` and `out`. The mask restricts
            // each load of `b` to the values for those elements.
            unsafe {
                let lanes: [_; N] = std::array::from_fn(|k| _mm512_loadu_si512(lanes[k].as_ptr().cast()));
                let ring: [_; N] = std::array::from_fn(|k| $load(ring[k].as_ptr()));
                let (a, b, out) = (a.as_ptr(), b.as_ptr(), out.as_mut_ptr());
                let each =
                    |k: usize, row: usize| $permute(lanes[k], $load_masked(mask[k], b.add(row + from[k])));
                let value = |at: usize, second| f($load(a.add(at)), second);
                let groups = place.step_by(N * $width).zip((0..).step_by($width));
                match (repeat, non_temporal) {
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
                                $store_non_temporal(
                                    out.add(at + k * $width),
                                    value(at + k * $width, each(k, row)),
                                )
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
                                $store_non_temporal(out.add(at + k * $width), value(at + k * $width, ring[k]))
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
    pair_f64, pair_groups_f64 {
        element: f64,
        width: 8,
        index: i64,
        mask: u8,
        vector: __m512d,
        load: _mm512_loadu_pd,
        load_masked: _mm512_maskz_loadu_pd,
        store: _mm512_storeu_pd,
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
        index: i32,
        mask: u16,
        vector: __m512,
        load: _mm512_loadu_ps,
        load_masked: _mm512_maskz_loadu_ps,
        store: _mm512_storeu_ps,
        store_non_temporal: _mm512_stream_ps,
        permute: _mm512_permutexvar_ps,
        add: _mm512_add_ps,
        subtract: _mm512_sub_ps,
        multiply: _mm512_mul_ps,
    }
}
