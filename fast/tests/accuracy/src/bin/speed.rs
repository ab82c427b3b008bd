//! Nanoseconds per element of every kernel at every level, of the standard library and of the crate libm, for
//! 4096 elements in cache. Competitors take turns, and figures are medians of 41 rounds. `cargo run --release
//! --bin speed`

use broadcheck_fast::{Level, math};
use std::time::Instant;

const COUNT: usize = 4096;
const ROUNDS: usize = 41;

type Competitor<'a> = (String, Box<dyn FnMut() + 'a>);

/// Runs the competitors in turns and prints a row of medians.
fn row(name: &str, competitors: &mut [Competitor<'_>]) {
    let mut times = vec![Vec::new(); competitors.len()];
    for _ in 0..ROUNDS {
        for (times, (_, run)) in times.iter_mut().zip(competitors.iter_mut()) {
            let start = Instant::now();
            for _ in 0..5 {
                run();
            }
            times.push(start.elapsed().as_nanos() as f64 / (5 * COUNT) as f64);
        }
    }
    print!("| {name} |");
    for (times, (competitor, _)) in times.iter_mut().zip(competitors) {
        times.sort_by(f64::total_cmp);
        print!(" {competitor} {:.2} |", times[ROUNDS / 2]);
    }
    println!();
}

macro_rules! unary {
    ($name:literal $type:ident $kernel:path, $std:expr, $libm:expr, $x:expr) => {{
        let x: Vec<$type> = $x.iter().map(|x| *x as $type).collect();
        let mut competitors: Vec<Competitor<'_>> = Vec::new();
        for level in Level::available() {
            let (x, mut out) = (x.clone(), vec![0.0; COUNT]);
            competitors.push((level.to_string(), Box::new(move || $kernel(level, &x, &mut out))));
        }
        let functions: [(&str, fn($type) -> $type); 2] = [("std", $std), ("libm", $libm)];
        for (competitor, function) in functions {
            let (x, mut out) = (x.clone(), vec![0.0; COUNT]);
            competitors.push((
                competitor.to_owned(),
                Box::new(move || {
                    for (out, x) in out.iter_mut().zip(&x) {
                        *out = function(*x);
                    }
                }),
            ));
        }
        row($name, &mut competitors);
    }};
}

macro_rules! binary {
    ($name:literal $type:ident $kernel:expr, $std:expr, $libm:expr, $x:expr, $y:expr) => {{
        let x: Vec<$type> = $x.iter().map(|x| *x as $type).collect();
        let y: Vec<$type> = $y.iter().map(|y| *y as $type).collect();
        let mut competitors: Vec<Competitor<'_>> = Vec::new();
        for level in Level::available() {
            let (x, y, mut out) = (x.clone(), y.clone(), vec![0.0; COUNT]);
            competitors.push((level.to_string(), Box::new(move || $kernel(level, &x, &y, &mut out))));
        }
        let functions: [(&str, fn($type, $type) -> $type); 2] = [("std", $std), ("libm", $libm)];
        for (competitor, function) in functions {
            let (x, y, mut out) = (x.clone(), y.clone(), vec![0.0; COUNT]);
            competitors.push((
                competitor.to_owned(),
                Box::new(move || {
                    for ((out, x), y) in out.iter_mut().zip(&x).zip(&y) {
                        *out = function(*x, *y);
                    }
                }),
            ));
        }
        row($name, &mut competitors);
    }};
}

fn main() {
    let mut state = 1_u64;
    let mut unit = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / 9_007_199_254_740_992.0
    };
    let wide: Vec<f64> = (0..COUNT).map(|_| unit() * 20.0 - 10.0).collect();
    let positive: Vec<f64> = (0..COUNT).map(|_| (unit() * 20.0 - 10.0).exp()).collect();
    let near: Vec<f64> = (0..COUNT).map(|_| unit() * 8.0 - 4.0).collect();
    unary!("exp f64" f64 math::exp_f64, f64::exp, libm::exp, wide);
    unary!("log f64" f64 math::log_f64, f64::ln, libm::log, positive);
    unary!("tanh f64" f64 math::tanh_f64, f64::tanh, libm::tanh, near);
    binary!("power f64" f64 math::power_f64, f64::powf, libm::pow, positive, near);
    binary!("power f64, y = 2.5" f64 |l, x: &[f64], _y: &[f64], out: &mut [f64]| math::power_f64(l, x, &[2.5], out),
        |x, _| x.powf(2.5), |x, _| libm::pow(x, 2.5), positive, near);
    binary!("power f64, x = 2.5" f64 |l, _x: &[f64], y: &[f64], out: &mut [f64]| math::power_f64(l, &[2.5], y, out),
        |_, y| 2.5_f64.powf(y), |_, y| libm::pow(2.5, y), positive, near);
    unary!("exp f32" f32 math::exp_f32, f32::exp, libm::expf, wide);
    unary!("log f32" f32 math::log_f32, f32::ln, libm::logf, positive);
    unary!("tanh f32" f32 math::tanh_f32, f32::tanh, libm::tanhf, near);
    binary!("power f32" f32 math::power_f32, f32::powf, libm::powf, positive, near);
}
