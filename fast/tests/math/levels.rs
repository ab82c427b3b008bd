//! Every level gives the bits of the scalar function, for every length and with a scalar as one argument.

use super::strata::{Random, one, two, two_f32};
use broadcheck_fast::{Level, math};

/// The number of inputs of each kind: enough for every lane to see every stratum.
const COUNT: u64 = 60_000;

fn bits_f64(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| if value.is_nan() { 0x7ff8 << 48 } else { value.to_bits() }).collect()
}

fn bits_f32(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| if value.is_nan() { 0x7fc0 << 16 } else { value.to_bits() }).collect()
}

/// Lengths around every block size, then the whole.
fn lengths(count: usize) -> impl Iterator<Item = usize> {
    (0..=70).chain([127, 128, 129, 1000, count])
}

/// Each value with the lengths of slices that are shorter than a group of vectors of some level, and with one
/// that is longer.
fn with_some_lengths(values: &[f64]) -> impl Iterator<Item = (f64, usize)> {
    let lengths = |(at, &value)| (0..=70).chain([990 + at]).map(move |count| (value, count));
    values.iter().enumerate().flat_map(lengths)
}

#[test]
#[allow(clippy::cast_possible_truncation, reason = "the nearest f32 is intended")]
fn unary() {
    let mut random = Random::new(7);
    let x: Vec<f64> = (0..COUNT).map(|i| one(&mut random, i)).collect();
    let x32: Vec<f32> = (0..COUNT)
        .map(|i| if i % 2 == 0 { f32::from_bits(random.bits32()) } else { one(&mut random, i) as f32 })
        .collect();
    type F64 = (&'static str, fn(Level, &[f64], &mut [f64]), fn(f64) -> f64);
    type F32 = (&'static str, fn(Level, &[f32], &mut [f32]), fn(f32) -> f32);
    let of_f64: [F64; 3] = [
        ("exp", math::exp_f64, math::exp_f64_scalar),
        ("log", math::log_f64, math::log_f64_scalar),
        ("tanh", math::tanh_f64, math::tanh_f64_scalar),
    ];
    let of_f32: [F32; 3] = [
        ("exp", math::exp_f32, math::exp_f32_scalar),
        ("log", math::log_f32, math::log_f32_scalar),
        ("tanh", math::tanh_f32, math::tanh_f32_scalar),
    ];
    for level in Level::available() {
        for count in lengths(x.len()) {
            for (name, kernel, scalar) in of_f64 {
                let mut out = vec![-7.0; count];
                kernel(level, &x[..count], &mut out);
                let want: Vec<f64> = x[..count].iter().map(|x| scalar(*x)).collect();
                assert_eq!(bits_f64(&out), bits_f64(&want), "{name} f64 {level} {count}");
            }
            for (name, kernel, scalar) in of_f32 {
                let mut out = vec![-7.0; count];
                kernel(level, &x32[..count], &mut out);
                let want: Vec<f32> = x32[..count].iter().map(|x| scalar(*x)).collect();
                assert_eq!(bits_f32(&out), bits_f32(&want), "{name} f32 {level} {count}");
            }
        }
    }
}

#[test]
fn power() {
    let mut random = Random::new(8);
    let (x, y): (Vec<f64>, Vec<f64>) = (0..COUNT).map(|i| two(&mut random, i)).unzip();
    let (x32, y32): (Vec<f32>, Vec<f32>) = (0..COUNT).map(|i| two_f32(&mut random, i)).unzip();
    for level in Level::available() {
        for count in lengths(x.len()) {
            let mut out = vec![-7.0; count];
            math::power_f64(level, &x[..count], &y[..count], &mut out);
            let want: Vec<f64> =
                x[..count].iter().zip(&y).map(|(x, y)| math::power_f64_scalar(*x, *y)).collect();
            assert_eq!(bits_f64(&out), bits_f64(&want), "f64 {level} {count}");
            let mut out = vec![-7.0; count];
            math::power_f32(level, &x32[..count], &y32[..count], &mut out);
            let want: Vec<f32> =
                x32[..count].iter().zip(&y32).map(|(x, y)| math::power_f32_scalar(*x, *y)).collect();
            assert_eq!(bits_f32(&out), bits_f32(&want), "f32 {level} {count}");
        }
    }
}

#[test]
#[allow(clippy::cast_possible_truncation, reason = "the nearest f32 is intended")]
fn power_with_a_scalar() {
    let mut random = Random::new(9);
    let (x, y): (Vec<f64>, Vec<f64>) = (0..COUNT).map(|i| two(&mut random, i)).unzip();
    let (x32, y32): (Vec<f32>, Vec<f32>) = (0..COUNT).map(|i| two_f32(&mut random, i)).unzip();
    let splats = [0.0, -0.0, 1.0, -1.0, 2.0, 3.0, 0.5, -2.5, 1e300, 1e-310, f64::INFINITY, f64::NAN];
    for level in Level::available() {
        for (splat, count) in with_some_lengths(&splats) {
            let (mut by, mut of) = (vec![-7.0; count], vec![-7.0; count]);
            math::power_f64(level, &x[..count], &[splat], &mut by);
            math::power_f64(level, &[splat], &y[..count], &mut of);
            let want: Vec<f64> = x[..count].iter().map(|x| math::power_f64_scalar(*x, splat)).collect();
            assert_eq!(bits_f64(&by), bits_f64(&want), "f64 {level} {count} by {splat:e}");
            let want: Vec<f64> = y[..count].iter().map(|y| math::power_f64_scalar(splat, *y)).collect();
            assert_eq!(bits_f64(&of), bits_f64(&want), "f64 {level} {count} of {splat:e}");
            let splat = splat as f32;
            let (mut by, mut of) = (vec![-7.0; count], vec![-7.0; count]);
            math::power_f32(level, &x32[..count], &[splat], &mut by);
            math::power_f32(level, &[splat], &y32[..count], &mut of);
            let want: Vec<f32> = x32[..count].iter().map(|x| math::power_f32_scalar(*x, splat)).collect();
            assert_eq!(bits_f32(&by), bits_f32(&want), "f32 {level} {count} by {splat:e}");
            let want: Vec<f32> = y32[..count].iter().map(|y| math::power_f32_scalar(splat, *y)).collect();
            assert_eq!(bits_f32(&of), bits_f32(&want), "f32 {level} {count} of {splat:e}");
        }
    }
}

/// The derivative of x^y by x, written with the functions of single numbers.
macro_rules! power_by_base {
    ($type:ident, $x:expr, $y:expr, $power:path, $even_from:expr) => {{
        let (x, y) = ($x, $y);
        let even = y.abs() >= $even_from && y.is_finite();
        let power = $power(if even { x.abs() } else { x }, y - 1.0);
        let signed = if even && x.is_sign_negative() { -power } else { power };
        let none = x < 0.0 && $power(x, y).is_nan();
        if y == 0.0 { 0.0 } else { y * if none { $type::NAN } else { signed } }
    }};
}

#[test]
fn slopes_of_powers() {
    let mut random = Random::new(10);
    let (mut x, mut y): (Vec<f64>, Vec<f64>) = (0..COUNT).map(|i| two(&mut random, i)).unzip();
    let (mut x32, mut y32): (Vec<f32>, Vec<f32>) = (0..COUNT).map(|i| two_f32(&mut random, i)).unzip();
    // Most numbers of some groups need no special care; a few exponents are 0 or 1, or have no ones digit.
    for at in 0..3000 {
        (x[at], y[at]) = (1.0 + at as f64 / 7.0, at as f64 / 500.0 - 3.0);
        (x32[at], y32[at]) = (1.0 + at as f32 / 7.0, at as f32 / 500.0 - 3.0);
    }
    for (at, large) in (3000..).zip([2f32.powi(24), 2f32.powi(53), -(2f32.powi(54)), 0.0, 1.0, -0.0]) {
        (x[at], y[at], x32[at], y32[at]) = (-1.0, f64::from(large), -1.0, large);
    }
    for level in Level::available() {
        for count in lengths(x.len()) {
            let mut out = vec![-7.0; count];
            math::power_by_base_f64(level, &x[..count], &y[..count], &mut out);
            let slope =
                |(x, y): (&f64, &f64)| power_by_base!(f64, *x, *y, math::power_f64_scalar, 2f64.powi(53));
            let want: Vec<f64> = x[..count].iter().zip(&y).map(slope).collect();
            assert_eq!(bits_f64(&out), bits_f64(&want), "f64 {level} {count}");
            let mut out = vec![-7.0; count];
            math::power_by_base_f32(level, &x32[..count], &y32[..count], &mut out);
            let slope =
                |(x, y): (&f32, &f32)| power_by_base!(f32, *x, *y, math::power_f32_scalar, 2f32.powi(24));
            let want: Vec<f32> = x32[..count].iter().zip(&y32).map(slope).collect();
            assert_eq!(bits_f32(&out), bits_f32(&want), "f32 {level} {count}");
        }
        for (splat, count) in with_some_lengths(&[0.0, -0.0, 1.0, 2.0, -2.0, 0.5, 1e300, f64::NAN]) {
            let (mut by, mut of) = (vec![-7.0; count], vec![-7.0; count]);
            math::power_by_base_f64(level, &x[..count], &[splat], &mut by);
            math::power_by_base_f64(level, &[splat], &y[..count], &mut of);
            for at in 0..count {
                let want = [(x[at], splat), (splat, y[at])]
                    .map(|(x, y)| power_by_base!(f64, x, y, math::power_f64_scalar, 2f64.powi(53)));
                assert_eq!(bits_f64(&[by[at], of[at]]), bits_f64(&want), "{level} {splat:e} {at}");
            }
        }
    }
}

/// The derivative of x^y by y, written with the functions of single numbers.
macro_rules! power_by_exponent {
    ($x:expr, $y:expr, $power:path, $log:path) => {{
        let (x, y) = ($x, $y);
        if x == 0.0 && y >= 0.0 { 0.0 } else { $power(x, y) * $log(x) }
    }};
}

#[test]
fn slopes_of_powers_by_the_exponent() {
    let mut random = Random::new(11);
    let (mut x, mut y): (Vec<f64>, Vec<f64>) = (0..COUNT).map(|i| two(&mut random, i)).unzip();
    let (mut x32, mut y32): (Vec<f32>, Vec<f32>) = (0..COUNT).map(|i| two_f32(&mut random, i)).unzip();
    // Most numbers of some groups need no special care.
    for at in 0..3000 {
        (x[at], y[at]) = (at as f64 / 7.0, at as f64 / 500.0 - 3.0);
        (x32[at], y32[at]) = (at as f32 / 7.0, at as f32 / 500.0 - 3.0);
    }
    let zeros = [(0.0, 0.0), (-0.0, 2.5), (0.0, -0.0), (-0.0, -1.0), (0.0, f32::INFINITY), (0.0, f32::NAN)];
    for (at, (base, exponent)) in (3000..).step_by(9).zip(zeros) {
        (x32[at], y32[at]) = (base, exponent);
        (x[at], y[at]) = (f64::from(base), f64::from(exponent));
    }
    for level in Level::available() {
        for count in lengths(x.len()) {
            let mut out = vec![-7.0; count];
            math::power_by_exponent_f64(level, &x[..count], &y[..count], &mut out);
            let slope = |(x, y): (&f64, &f64)| {
                power_by_exponent!(*x, *y, math::power_f64_scalar, math::log_f64_scalar)
            };
            let want: Vec<f64> = x[..count].iter().zip(&y).map(slope).collect();
            assert_eq!(bits_f64(&out), bits_f64(&want), "f64 {level} {count}");
            let mut out = vec![-7.0; count];
            math::power_by_exponent_f32(level, &x32[..count], &y32[..count], &mut out);
            let slope = |(x, y): (&f32, &f32)| {
                power_by_exponent!(*x, *y, math::power_f32_scalar, math::log_f32_scalar)
            };
            let want: Vec<f32> = x32[..count].iter().zip(&y32).map(slope).collect();
            assert_eq!(bits_f32(&out), bits_f32(&want), "f32 {level} {count}");
        }
        for (splat, count) in with_some_lengths(&[0.0, -0.0, 1.0, 2.0, -2.0, 0.5, 1e300, f64::NAN]) {
            let (mut by, mut of) = (vec![-7.0; count], vec![-7.0; count]);
            math::power_by_exponent_f64(level, &x[..count], &[splat], &mut by);
            math::power_by_exponent_f64(level, &[splat], &y[..count], &mut of);
            for at in 0..count {
                let want = [(x[at], splat), (splat, y[at])]
                    .map(|(x, y)| power_by_exponent!(x, y, math::power_f64_scalar, math::log_f64_scalar));
                assert_eq!(bits_f64(&[by[at], of[at]]), bits_f64(&want), "{level} {splat:e} {at}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "lengths differ")]
fn lengths_must_agree() {
    math::exp_f64(Level::detect(), &[1.0, 2.0], &mut [0.0]);
}

/// tanh of f32 is a polynomial of its own in each of eight intervals: around their ends, in the middle and at
/// small numbers it is within 1 ULP of the tanh of f64 of the standard library.
#[test]
#[allow(clippy::cast_possible_truncation, reason = "the nearest f32 is intended")]
fn tanh_of_f32_where_its_intervals_meet() {
    let ends = [0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 11.0].map(|end: f64| (end / 1.49) as f32);
    let others = [1e-30, 1e-3, 0.2, 0.5, 0.9, 1.7, 2.6, 4.1, 6.0, 8.6, 9.01, 10.0];
    for near in ends.into_iter().chain(others) {
        let x: Vec<f32> = (0..2048).map(|at| f32::from_bits(near.to_bits() - 1024 + at)).collect();
        for level in Level::available() {
            let mut out = vec![0.0; x.len()];
            math::tanh_f32(level, &x, &mut out);
            for (&x, &got) in x.iter().zip(&out) {
                let want = f64::from(x).tanh();
                let ulp = f64::from(f32::from_bits((want as f32).to_bits() + 1)) - f64::from(want as f32);
                let ulp = if want as f32 == 1.0 { ulp / 2.0 } else { ulp };
                let error = (f64::from(got) - want).abs() / ulp;
                assert!(error < 0.86, "{level}: tanh {x:e} is {got:e}, {error} ULP off");
            }
        }
    }
}
