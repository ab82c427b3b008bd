//! Distances from the correctly rounded results of CORE-MATH, which clause V-4 requires to be at most 1. This
//! module belongs to the crate `tests/accuracy`, which is outside the workspace because CORE-MATH needs a C
//! compiler. In that crate, `cargo test --release` runs a sample; with `-- --ignored --nocapture` it runs
//! 10^8 inputs per f64 function and all 2^32 of f32.

use crate::distance;
use crate::strata::{Random, one, two, two_f32};
use broadcheck_fast::{Level, math};

const SAMPLE: u64 = 240_000;
const ALL: u64 = 100_000_000;

/// The number of inputs, the number of results that were not correctly rounded, and the largest distance.
#[derive(Default, Debug)]
struct Seen {
    count: u64,
    off: u64,
    worst: u64,
    /// The largest error in ULP among results that were not correctly rounded, and its input, if errors are
    /// computed.
    ulp: (f64, f64),
}

impl Seen {
    fn note(&mut self, distance: u64, what: impl Fn() -> String) {
        self.count += 1;
        self.off += u64::from(distance > 0);
        self.worst = self.worst.max(distance);
        assert!(distance <= 1, "distance {} at {}, expected at most 1", distance, what());
    }
}

impl Seen {
    /// Records the error of an f32 result whose exact value is known as an f64.
    fn note_ulp(&mut self, input: f32, got: f32, exact: f64) {
        let error = ulps_f32(f64::from(got), exact);
        if error > self.ulp.0 {
            self.ulp = (error, f64::from(input));
        }
    }
}

/// |got - exact| in units of the last place of the exact value's binade in f32, or of the subnormals. Infinity counts as
/// 2^128.
fn ulps_f32(got: f64, exact: f64) -> f64 {
    let exponent = i32::try_from(exact.abs().to_bits() >> 52).expect("11 bits") - 1023;
    let got = if got.is_infinite() { 2f64.powi(128).copysign(got) } else { got };
    (got - exact).abs() / 2f64.powi((exponent - 23).max(-149))
}

/// Splits the work between two threads.
fn in_two(name: &str, count: u64, run: impl Fn(u64, u64, &mut Seen) + Sync) {
    let all = std::thread::scope(|scope| {
        let run = &run;
        let threads = [1, 2].map(|seed| {
            scope.spawn(move || {
                let mut seen = Seen::default();
                run(seed, count / 2, &mut seen);
                seen
            })
        });
        threads.map(|thread| thread.join().expect("within 1 ULP"))
    });
    let (count, off) = all.iter().fold((0, 0), |sum, seen| (sum.0 + seen.count, sum.1 + seen.off));
    let worst = all.iter().map(|seen| seen.worst).max();
    let ulp = all.iter().map(|seen| seen.ulp).max_by(|a, b| a.0.total_cmp(&b.0)).filter(|ulp| ulp.0 > 0.0);
    let ulp = ulp.map(|(ulp, at)| format!(", worst {ulp:.4} ULP at {at}")).unwrap_or_default();
    println!("{name}: {count} inputs, {off} not correctly rounded, worst distance {worst:?}{ulp}");
}

/// CORE-MATH returns NaN for pow of a signalling NaN and 0. Clause V-4 does not distinguish NaNs.
fn quiet(x: f64) -> f64 {
    if x.is_nan() { f64::NAN } else { x }
}

fn quiet_f32(x: f32) -> f32 {
    if x.is_nan() { f32::NAN } else { x }
}

fn f64_kernels(count: u64) {
    type Unary = (&'static str, fn(f64) -> f64, fn(f64) -> f64);
    let unary: [Unary; 3] = [
        ("exp", math::exp_f64_scalar, core_math::exp),
        ("log", math::log_f64_scalar, core_math::log),
        ("tanh", math::tanh_f64_scalar, core_math::tanh),
    ];
    for (name, ours, right) in unary {
        in_two(name, count, |seed, count, seen| {
            let mut random = Random::new(seed);
            for i in 0..count {
                let x = one(&mut random, i);
                seen.note(distance::f64(ours(x), right(x)), || format!("{name} {x:e}"));
            }
        });
    }
    in_two("power", count, |seed, count, seen| {
        let mut random = Random::new(seed);
        for i in 0..count {
            let (x, y) = two(&mut random, i);
            let (x, y) = (quiet(x), quiet(y));
            let (got, right) = (math::power_f64_scalar(x, y), core_math::pow(x, y));
            seen.note(distance::f64(got, right), || format!("power {x:e} {y:e}"));
        }
    });
    in_two("power f32", count, |seed, count, seen| {
        let mut random = Random::new(seed);
        for i in 0..count {
            let (x, y) = two_f32(&mut random, i);
            let (x, y) = (quiet_f32(x), quiet_f32(y));
            let (got, right) = (math::power_f32_scalar(x, y), core_math::powf(x, y));
            seen.note(distance::f32(got, right), || format!("power {x:e} {y:e}"));
        }
    });
}

/// Every `step`-th block of 4096 f32; all 2^32 for a step of 1.
fn f32_kernels(step: usize) {
    type Unary = (&'static str, fn(Level, &[f32], &mut [f32]), fn(f32) -> f32, fn(f64) -> f64);
    let unary: [Unary; 3] = [
        ("exp f32", math::exp_f32, core_math::expf, core_math::exp),
        ("log f32", math::log_f32, core_math::logf, core_math::log),
        ("tanh f32", math::tanh_f32, core_math::tanhf, core_math::tanh),
    ];
    for (name, ours, right, exact) in unary {
        in_two(name, 1 << 32, |seed, count, seen| {
            let start = if seed == 1 { 0 } else { count };
            let mut out = vec![0.0; 4096];
            for block in (start..start + count).step_by(4096 * step) {
                let first = u32::try_from(block).expect("below 2^32");
                let x: Vec<f32> = (0..4096).map(|i| f32::from_bits(first + i)).collect();
                ours(Level::detect(), &x, &mut out);
                for (x, got) in x.iter().zip(&out) {
                    let apart = distance::f32(*got, right(*x));
                    seen.note(apart, || format!("{name} {x:e}"));
                    if apart > 0 {
                        seen.note_ulp(*x, *got, exact(f64::from(*x)));
                    }
                }
            }
        });
    }
}

/// All 2^16 inputs of a half type: the f32 kernel, rounded once, gives the exact value rounded once, or a
/// neighbour.
macro_rules! halves {
    ($name:ident $half:ident) => {
        #[test]
        fn $name() {
            use half::$half;
            type Unary = (&'static str, fn(f32) -> f32, fn(f64) -> f64);
            let unary: [Unary; 3] = [
                ("exp", math::exp_f32_scalar, core_math::exp),
                ("log", math::log_f32_scalar, core_math::log),
                ("tanh", math::tanh_f32_scalar, core_math::tanh),
            ];
            for (name, ours, right) in unary {
                let mut seen = Seen::default();
                for x in (0..=u16::MAX).map($half::from_bits) {
                    let (got, want) = ($half::from_f32(ours(x.to_f32())), $half::from_f64(right(x.to_f64())));
                    let apart = if got.is_nan() && want.is_nan() {
                        0
                    } else {
                        assert_eq!(got.is_nan(), want.is_nan(), "{name} {x:e}");
                        u64::from(got.to_bits().abs_diff(want.to_bits()))
                    };
                    seen.note(apart, || format!("{name} {x:e}"));
                }
                println!("{name} {}: {seen:?}", stringify!($half));
            }
        }
    };
}

halves! { every_f16 f16 }
halves! { every_bf16 bf16 }

#[test]
fn f64_sampled() {
    f64_kernels(SAMPLE);
}

#[test]
fn f32_sampled() {
    f32_kernels(9973);
}

#[test]
#[ignore = "10^8 inputs per function: about a minute on two cores in a release build, together with the next test"]
fn f64_stratified_hundred_million() {
    f64_kernels(ALL);
}

#[test]
#[ignore = "2^32 inputs per function: about a minute on two cores in a release build, together with the previous test"]
fn f32_all() {
    f32_kernels(1);
}
