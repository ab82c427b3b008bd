//! x0 + … + x9 over broadcasting patterns against loops specialised for them, at 1k, 100k and 4M elements; and
//! all 1023 patterns against the pattern in which nothing is broadcast.
#![allow(unsafe_code, reason = "the yardsticks are compiled for the machine's instructions")]

mod support;

use broadcheck_fast::{Level, math};
use broadcheck_spec::Function;
use support::{Job, call, elementwise, quantile, race, single_thread, slice, x};

/// The loop that a compiler would make for one pattern: bit k of `PATTERN` says that operand k is broadcast.
#[inline(always)]
fn specialised<const PATTERN: usize>(operands: &[&[f64]; 10], out: &mut [f64]) {
    let count = out.len();
    let operands: [&[f64]; 10] =
        std::array::from_fn(|k| &operands[k][..if PATTERN >> k & 1 == 1 { 1 } else { count }]);
    for (at, out) in out.iter_mut().enumerate() {
        let read = |k: usize| operands[k][if PATTERN >> k & 1 == 1 { 0 } else { at }];
        let mut sum = read(0) + read(1);
        for k in 2..10 {
            sum += read(k);
        }
        *out = sum;
    }
}

macro_rules! yardsticks {
    ($($pattern:literal)*) => {
        const SAMPLE: &[usize] = &[$($pattern,)*];

        fn yardstick(level: Level, pattern: usize, operands: &[&[f64]; 10], out: &mut [f64]) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            fn avx512<const PATTERN: usize>(operands: &[&[f64]; 10], out: &mut [f64]) {
                specialised::<PATTERN>(operands, out);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2")]
            fn avx2<const PATTERN: usize>(operands: &[&[f64]; 10], out: &mut [f64]) {
                specialised::<PATTERN>(operands, out);
            }
            match (level, pattern) {
                $(
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: the level is the machine's.
                    (Level::Avx512, $pattern) => unsafe { avx512::<$pattern>(operands, out) },
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: the level is the machine's.
                    (Level::Avx2, $pattern) => unsafe { avx2::<$pattern>(operands, out) },
                    (_, $pattern) => specialised::<$pattern>(operands, out),
                )*
                _ => unreachable!("only the sample has yardsticks"),
            }
        }
    };
}

yardsticks! {
    0 1 2 4 512 3 5 768 7 31 992 341 682 85 170 204 819 927 480 511 1022 990 119 73
}

fn shapes(pattern: usize, count: usize) -> Vec<Vec<usize>> {
    (0..10).map(|k| vec![if pattern >> k & 1 == 1 { 1 } else { count }]).collect()
}

fn sum() -> broadcheck_spec::Expression {
    (1..10).fold(x(0), |sum, place| call(Function::Add, [sum, x(place)]))
}

/// exp(x*y) as a hand would write it for one pattern: the product of a block in the first cache, then exp of the block.
fn exp_specialised(level: Level, x: &[f64], y: &[f64], out: &mut [f64]) {
    #[inline(always)]
    fn product(x: &[f64], y: &[f64], out: &mut [f64]) {
        match (x, y) {
            (&[x], y) => out.iter_mut().zip(y).for_each(|(out, y)| *out = x * y),
            (x, &[y]) => out.iter_mut().zip(x).for_each(|(out, x)| *out = x * y),
            (x, y) => out.iter_mut().zip(x).zip(y).for_each(|((out, x), y)| *out = x * y),
        }
    }
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn product_avx512(x: &[f64], y: &[f64], out: &mut [f64]) {
        product(x, y, out);
    }
    let mut block = [0.0; 512];
    for (at, out) in out.chunks_mut(512).enumerate() {
        let part = |values: &'_ [f64]| if values.len() == 1 { 0..1 } else { at * 512..at * 512 + out.len() };
        let (x, y, block) = (&x[part(x)], &y[part(y)], &mut block[..out.len()]);
        match level {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level is the machine's.
            Level::Avx512 => unsafe { product_avx512(x, y, block) },
            _ => product(x, y, block),
        }
        math::exp_f64(level, block, out);
    }
}

fn exponentials(level: Level) {
    for (name, shapes) in [
        ("nothing broadcast", [[100_000], [100_000]]),
        ("x broadcast", [[1], [100_000]]),
        ("y broadcast", [[100_000], [1]]),
    ] {
        let product = call(Function::Multiply, [x(0), x(1)]);
        let request = elementwise(&[&shapes[0], &shapes[1]], call(Function::Exp, [product]));
        let mut job = Job::new(&request);
        let (a, b) = (slice(&request, 0), slice(&request, 1));
        let (mut out, mut std) = (vec![0.0; 100_000], vec![0.0; 100_000]);
        let mut by_std = || {
            for (at, out) in std.iter_mut().enumerate() {
                *out = (a[at.min(a.len() - 1)] * b[at.min(b.len() - 1)]).exp();
            }
        };
        let times =
            race(&mut [&mut || job.run(), &mut || exp_specialised(level, a, b, &mut out), &mut by_std]);
        assert_eq!(job.output, out, "the same bits");
        println!(
            "exp(x*y), 100k f64, {name}: {:.3} of the specialised loop, {:.2} of std, {:.3} ns per element",
            times[0] / times[1],
            times[0] / times[2],
            times[0] * 1e4
        );
    }
}

fn report(title: &str, ratios: &[(usize, f64)]) {
    let values: Vec<f64> = ratios.iter().map(|&(_, ratio)| ratio).collect();
    let worst = ratios.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    println!(
        "{title}: median {:.3}, 95th percentile {:.3}, worst {:.3} (pattern {:010b})",
        quantile(&values, 0.5),
        quantile(&values, 0.95),
        worst.1,
        worst.0
    );
}

fn main() {
    single_thread();
    let level = Level::detect();
    println!("level {level}; ratios of medians, {} rounds, one thread", support::rounds());
    exponentials(level);
    for (count, name) in [(1_000, "1k"), (100_000, "100k"), (4_000_000, "4M")] {
        let mut ratios = Vec::new();
        let sample = if count > 1_000_000 { &SAMPLE[..6] } else { SAMPLE };
        for &pattern in sample {
            let shapes = shapes(pattern, count);
            let shapes: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
            let request = elementwise(&shapes, sum());
            let mut job = Job::new(&request);
            let operands: [&[f64]; 10] = std::array::from_fn(|k| slice(&request, k));
            let mut out = vec![0.0; count];
            let times =
                race(&mut [&mut || job.run(), &mut || yardstick(level, pattern, &operands, &mut out)]);
            assert_eq!(job.output, out, "the same bits");
            ratios.push((pattern, times[0] / times[1]));
        }
        report(&format!("sum of 10, {name}, {} patterns, over the specialised loop", sample.len()), &ratios);
    }
    for (count, name) in [(1_000, "1k"), (100_000, "100k")] {
        let stride = std::env::var("BENCH_ALL").map_or(31, |_| 1);
        let full = vec![vec![count]; 10];
        let full: Vec<&[usize]> = full.iter().map(|shape| &shape[..]).collect();
        let base = elementwise(&full, sum());
        let mut base = Job::new(&base);
        let mut ratios = Vec::new();
        for pattern in (1..1023).step_by(stride) {
            let shapes = shapes(pattern, count);
            let shapes: Vec<&[usize]> = shapes.iter().map(|shape| &shape[..]).collect();
            let request = elementwise(&shapes, sum());
            let mut job = Job::new(&request);
            let times = race(&mut [&mut || job.run(), &mut || base.run()]);
            ratios.push((pattern, times[0] / times[1]));
        }
        report(&format!("sum of 10, {name}, {} patterns, over no broadcast", ratios.len()), &ratios);
    }
}
