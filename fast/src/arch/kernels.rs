//! The loops, written once and compiled for every level.

use super::across;
use super::chain::{self, ARITHMETIC, FUNCTIONS, LANES, Link, SUMS, Sort};
use super::expand;
use super::grid::{self, Lie};
use super::ops::*;
use super::stream;
use super::table::{FloatParts, Kernels, LogicParts, Table};
use super::vector::Vector;
use super::{Binary, Kernel, Pairing, Repeat, Select};
use crate::Level;

/// Adds the upper half of some lanes to the lower one, again and again, in steps of known length.
macro_rules! halve {
    ($lanes:ident $($width:literal)*) => { $(
        for lane in 0..$width {
            $lanes[lane] = O::of($lanes[lane], $lanes[lane + $width]);
        }
    )* };
}

macro_rules! level {
    ($name:ident, $level:ident, $stream:path, $expand:path, $across:path, ($pair_f64:path, $pair_f32:path), $double:ty, $single:ty $(, $features:literal)?) => {
        pub(super) mod $name {
            use super::*;

            $(#[target_feature(enable = $features)])?
            fn one<T: Copy, O: Op1<T>>(a: &[T], out: &mut [T]) {
                for (out, &a) in out.iter_mut().zip(a) {
                    *out = O::of(a);
                }
            }

            $(#[target_feature(enable = $features)])?
            fn vector_vector<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], out: &mut [R]) {
                for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
                    *out = O::of(a, b);
                }
            }

            $(#[target_feature(enable = $features)])?
            fn vector_scalar<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], out: &mut [R]) {
                if let Some(&b) = b.first() {
                    for (out, &a) in out.iter_mut().zip(a) {
                        *out = O::of(a, b);
                    }
                }
            }

            $(#[target_feature(enable = $features)])?
            fn scalar_vector<T: Copy, R, O: Op2<T, R>>(a: &[T], b: &[T], out: &mut [R]) {
                if let Some(&a) = a.first() {
                    for (out, &b) in out.iter_mut().zip(b) {
                        *out = O::of(a, b);
                    }
                }
            }

            $(#[target_feature(enable = $features)])?
            fn select_vv<T: Copy>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
                for (((out, &c), &a), &b) in out.iter_mut().zip(c).zip(a).zip(b) {
                    *out = if c { a } else { b };
                }
            }

            $(#[target_feature(enable = $features)])?
            fn select_sv<T: Copy>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
                if let Some(&a) = a.first() {
                    for ((out, &c), &b) in out.iter_mut().zip(c).zip(b) {
                        *out = if c { a } else { b };
                    }
                }
            }

            $(#[target_feature(enable = $features)])?
            fn select_vs<T: Copy>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
                if let Some(&b) = b.first() {
                    for ((out, &c), &a) in out.iter_mut().zip(c).zip(a) {
                        *out = if c { a } else { b };
                    }
                }
            }

            $(#[target_feature(enable = $features)])?
            fn select_ss<T: Copy>(c: &[bool], a: &[T], b: &[T], out: &mut [T]) {
                if let (Some(&a), Some(&b)) = (a.first(), b.first()) {
                    for (out, &c) in out.iter_mut().zip(c) {
                        *out = if c { a } else { b };
                    }
                }
            }

            $(#[target_feature(enable = $features)])?
            fn sum<T: Copy + Default, O: Op2<T, T>>(a: &[T]) -> T {
                let mut lanes = [T::default(); LANES];
                let (chunks, rest) = a.as_chunks::<LANES>();
                for chunk in chunks {
                    for (lane, &a) in lanes.iter_mut().zip(chunk) {
                        *lane = O::of(*lane, a);
                    }
                }
                for (lane, &a) in lanes.iter_mut().zip(rest) {
                    *lane = O::of(*lane, a);
                }
                halve!(lanes 32 16 8 4 2 1);
                lanes[0]
            }

            $(#[target_feature(enable = $features)])?
            fn add_to<T: Copy, O: Op2<T, T>>(a: &mut [T], b: &[T]) {
                for (a, &b) in a.iter_mut().zip(b) {
                    *a = O::of(*a, b);
                }
            }

            /// Row after row, eight in one pass: the order is that of one row at a time.
            $(#[target_feature(enable = $features)])?
            fn add_rows<T: Copy, O: Op2<T, T>>(a: &mut [T], rows: &[T]) {
                let width = a.len().max(1);
                let mut eights = rows.chunks_exact(8 * width);
                for eight in &mut eights {
                    let (low, high) = eight.split_at(4 * width);
                    let ((low, more), (high, most)) = (low.split_at(2 * width), high.split_at(2 * width));
                    let ((s, t), (u, v)) = (low.split_at(width), more.split_at(width));
                    let ((w, x), (y, z)) = (high.split_at(width), most.split_at(width));
                    for (at, a) in a.iter_mut().enumerate() {
                        let low = O::of(O::of(O::of(O::of(*a, s[at]), t[at]), u[at]), v[at]);
                        *a = O::of(O::of(O::of(O::of(low, w[at]), x[at]), y[at]), z[at]);
                    }
                }
                for row in eights.remainder().chunks(width) {
                    for (a, &b) in a.iter_mut().zip(row) {
                        *a = O::of(*a, b);
                    }
                }
            }

            $(#[target_feature(enable = $features)])?
            fn narrow_f16(a: &mut [f32]) {
                for a in a {
                    *a = round_to_f16(*a);
                }
            }

            $(#[target_feature(enable = $features)])?
            fn narrow_bf16(a: &mut [f32]) {
                for a in a {
                    *a = round_to_bf16(*a);
                }
            }

            $(#[target_feature(enable = $features)])?
            fn chain_f64<const PAST: bool>(first: Link<'_, f64>, links: &mut [Link<'_, f64>], rows: usize, out: &mut [f64]) {
                type Wide = $double;
                const MANY: usize = Wide::MANY;
                const FEW: usize = Wide::FEW;
                // SAFETY: the vectors are this level's, and so are this function's instructions.
                unsafe {
                    match Sort::of(links) {
                        Sort::Sums => chain::run::<Wide, f64, MANY, SUMS, PAST>(first, links, rows, out),
                        Sort::Arithmetic => chain::run::<Wide, f64, MANY, ARITHMETIC, PAST>(first, links, rows, out),
                        Sort::Functions => chain::run::<Wide, f64, FEW, FUNCTIONS, PAST>(first, links, rows, out),
                    }
                }
            }

            $(#[target_feature(enable = $features)])?
            fn chain_f32<const PAST: bool>(first: Link<'_, f32>, links: &mut [Link<'_, f32>], rows: usize, out: &mut [f32]) {
                type Wide = $single;
                const MANY: usize = Wide::MANY;
                const FEW: usize = Wide::FEW;
                // SAFETY: the vectors are this level's, and so are this function's instructions.
                unsafe {
                    match Sort::of(links) {
                        Sort::Sums => chain::run::<Wide, f32, MANY, SUMS, PAST>(first, links, rows, out),
                        Sort::Arithmetic => chain::run::<Wide, f32, MANY, ARITHMETIC, PAST>(first, links, rows, out),
                        Sort::Functions => chain::run::<Wide, f32, FEW, FUNCTIONS, PAST>(first, links, rows, out),
                    }
                }
            }

            $(#[target_feature(enable = $features)])?
            fn chain_sum_f64(first: Link<'_, f64>, links: &[Link<'_, f64>], count: usize, lanes: &mut [f64; LANES]) {
                type Wide = $double;
                // SAFETY: the vectors are this level's, and so are this function's instructions; few of them make a power
                // of two of lanes, 32 at most.
                unsafe { chain::sum::<Wide, f64, { Wide::FEW }>(first, links, count, lanes) }
            }

            $(#[target_feature(enable = $features)])?
            fn chain_sum_f32(first: Link<'_, f32>, links: &[Link<'_, f32>], count: usize, lanes: &mut [f32; LANES]) {
                type Wide = $single;
                // SAFETY: the vectors are this level's, and so are this function's instructions; few of them make a power
                // of two of lanes, 64 at most.
                unsafe { chain::sum::<Wide, f32, { Wide::FEW }>(first, links, count, lanes) }
            }

            $(#[target_feature(enable = $features)])?
            fn grid_f64(pairing: Pairing, a: Lie<'_, f64>, b: Lie<'_, f64>, rows: (usize, usize), past: bool, out: &mut [f64]) {
                // SAFETY: the vectors are this level's, and so are this function's instructions.
                unsafe { grid::run::<$double>(pairing, a, b, rows, past, out) }
            }

            $(#[target_feature(enable = $features)])?
            fn grid_f32(pairing: Pairing, a: Lie<'_, f32>, b: Lie<'_, f32>, rows: (usize, usize), past: bool, out: &mut [f32]) {
                // SAFETY: the vectors are this level's, and so are this function's instructions.
                unsafe { grid::run::<$single>(pairing, a, b, rows, past, out) }
            }

            /// For levels whose vectors are not worth permuting.
            $(#[target_feature(enable = $features)])?
            #[allow(dead_code, reason = "not of use to every level")]
            fn paired<T>(pairing: Pairing, a: &[T], b: &[T], repeat: Repeat, _: bool, out: &mut [T])
            where
                T: Copy + std::ops::Add<Output = T> + std::ops::Sub<Output = T>,
                T: std::ops::Mul<Output = T>,
            {
                match pairing {
                    Pairing::Add => expand::pair(a, b, repeat, out, |a, b| a + b),
                    Pairing::Subtract => expand::pair(a, b, repeat, out, |a, b| a - b),
                    Pairing::SubtractFrom => expand::pair(a, b, repeat, out, |a, b| b - a),
                    Pairing::Multiply => expand::pair(a, b, repeat, out, |a, b| a * b),
                }
            }

            const fn two<T: Copy, R, O: Op2<T, R>>() -> [Binary<T, R>; 3] {
                [
                    Kernel(vector_vector::<T, R, O>),
                    Kernel(vector_scalar::<T, R, O>),
                    Kernel(scalar_vector::<T, R, O>),
                ]
            }

            const fn selects<T: Copy>() -> [Select<T>; 4] {
                [Kernel(select_vv::<T>), Kernel(select_vs::<T>), Kernel(select_sv::<T>), Kernel(select_ss::<T>)]
            }

            macro_rules! numbers {
                ($type:ty, $float:expr) => {
                    Kernels {
                        add: Some(two::<$type, $type, Add>()),
                        subtract: Some(two::<$type, $type, Subtract>()),
                        multiply: Some(two::<$type, $type, Multiply>()),
                        maximum: Some(two::<$type, $type, Maximum>()),
                        minimum: Some(two::<$type, $type, Minimum>()),
                        negate: Some(Kernel(one::<$type, Negate>)),
                        abs: Some(Kernel(one::<$type, Abs>)),
                        equal: two::<$type, bool, Equal>(),
                        not_equal: two::<$type, bool, NotEqual>(),
                        less: Some(two::<$type, bool, Less>()),
                        less_equal: Some(two::<$type, bool, LessEqual>()),
                        greater: Some(two::<$type, bool, Greater>()),
                        greater_equal: Some(two::<$type, bool, GreaterEqual>()),
                        select: selects::<$type>(),
                        stream: Kernel($stream),
                        across: Kernel($across),
                        expand: Kernel($expand),
                        float: $float,
                        logic: None,
                    }
                };
            }

            macro_rules! float {
                ($type:ty, $wide:ty, $chain:ident, $chain_sum:ident, $grid:ident, $paired:path) => {
                    numbers!($type, Some(FloatParts {
                        paired: Kernel($paired),
                        divide: two::<$type, $type, Divide>(),
                        sqrt: Kernel(one::<$type, Sqrt>),
                        sum: Kernel(sum::<$type, Add>),
                        add_to: Kernel(add_to::<$type, Add>),
                        add_rows: Kernel(add_rows::<$type, Add>),
                        chain: Kernel($chain::<false>),
                        chain_past: Kernel($chain::<{ <$wide as Vector>::STREAMS }>),
                        chain_sum: Kernel($chain_sum),
                        grid: Kernel($grid),
                    }))
                };
            }

            pub(in super::super) static TABLE: Table = Table {
                level: Level::$level,
                f64: float!(f64, $double, chain_f64, chain_sum_f64, grid_f64, $pair_f64),
                f32: float!(f32, $single, chain_f32, chain_sum_f32, grid_f32, $pair_f32),
                i64: numbers!(i64, None),
                i32: numbers!(i32, None),
                i16: numbers!(i16, None),
                i8: numbers!(i8, None),
                u64: numbers!(u64, None),
                u32: numbers!(u32, None),
                u16: numbers!(u16, None),
                u8: numbers!(u8, None),
                bool: Kernels {
                    add: None,
                    subtract: None,
                    multiply: None,
                    maximum: None,
                    minimum: None,
                    negate: None,
                    abs: None,
                    equal: two::<bool, bool, Equal>(),
                    not_equal: two::<bool, bool, NotEqual>(),
                    less: None,
                    less_equal: None,
                    greater: None,
                    greater_equal: None,
                    select: selects::<bool>(),
                    stream: Kernel($stream),
                        across: Kernel($across),
                        expand: Kernel($expand),
                    float: None,
                    logic: Some(LogicParts {
                        and: two::<bool, bool, And>(),
                        or: two::<bool, bool, Or>(),
                        not: Kernel(one::<bool, Not>),
                    }),
                },
                narrow_f16: Kernel(narrow_f16),
                narrow_bf16: Kernel(narrow_bf16),
            };
        }
    };
}

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m128, __m128d, __m256, __m256d, __m512, __m512d};

#[cfg(not(target_arch = "x86_64"))]
level!(portable, Portable, stream::plain, expand::plain, across::plain, (paired, paired), f64, f32);
#[cfg(target_arch = "x86_64")]
level!(portable, Portable, stream::plain, expand::plain, across::plain, (paired, paired), __m128d, __m128);
#[cfg(target_arch = "x86_64")]
level!(
    avx2,
    Avx2,
    stream::copy,
    expand::plain,
    across::squares,
    (paired, paired),
    __m256d,
    __m256,
    "avx2,f16c"
);
#[cfg(target_arch = "x86_64")]
level!(
    avx512,
    Avx512,
    stream::copy,
    expand::avx512,
    across::squares,
    (expand::pair_f64, expand::pair_f32),
    __m512d,
    __m512,
    "avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl"
);
