//! Measures the errors of the f64 kernels and the f32 power over stratified inputs, on two threads: the
//! distance in floats from the correctly rounded result (CORE-MATH) and, if that is not 0, the error in ULP
//! (MPFR). `cargo run --release --bin accuracy -- [samples per function] [function]`
use broadcheck_fast::math::{
    exp_f64_scalar, log_f64_scalar, power_f32_scalar, power_f64_scalar, tanh_f64_scalar,
};
use rug::{Assign, Float, ops::Pow};

#[path = "../../math/distance.rs"]
mod distance;
#[path = "../../math/strata.rs"]
mod strata;
use strata::{Random, one, two, two_f32};

#[derive(Clone, Copy, PartialEq)]
enum Function {
    Exp,
    Log,
    Tanh,
    Power,
    PowerF32,
}
use Function::{Exp, Log, Power, PowerF32, Tanh};

#[derive(Default)]
struct Worst {
    samples: u64,
    misrounded: u64,
    distance: u64,
    wrong: u64,
    ulp: f64,
    at: (f64, f64),
}

/// |got - f(x, y)| in units of the last place of the exact value's binade, or of the subnormals.
fn error(function: Function, x: f64, y: f64, got: f64) -> f64 {
    let (mut value, exponent) = (Float::with_val(200, x), Float::with_val(64, y));
    match function {
        Exp => value.exp_mut(),
        Log => value.ln_mut(),
        Tanh => value.tanh_mut(),
        Power | PowerF32 => value.assign(Float::with_val(200, x).pow(&exponent)),
    }
    let (least, bits, most) = if function == PowerF32 { (-149, 24, 128) } else { (-1074, 53, 1024) };
    let last = (value.get_exp().unwrap_or(0) - bits).max(least);
    let got = if got.is_infinite() {
        (Float::with_val(64, 1) << most) * got.signum()
    } else {
        Float::with_val(64, got)
    };
    (Float::with_val(200, &got - &value) >> last).to_f64().abs()
}

fn measure(function: Function, samples: u64, seed: u64) -> Worst {
    let (mut random, mut worst) = (Random::new(seed), Worst { samples, ..Worst::default() });
    for i in 0..samples {
        let (x, y, got, right, apart);
        if function == PowerF32 {
            let (a, b) = two_f32(&mut random, i);
            // CORE-MATH distinguishes signalling from quiet NaNs in pow(NaN, 0); clause V-4 does not.
            let (a, b) = (if a.is_nan() { f32::NAN } else { a }, if b.is_nan() { f32::NAN } else { b });
            let (g, r) = (power_f32_scalar(a, b), core_math::powf(a, b));
            (x, y, got, right) = (f64::from(a), f64::from(b), f64::from(g), f64::from(r));
            apart = distance::f32(g, r);
        } else {
            (x, y) = if function == Power { two(&mut random, i) } else { (one(&mut random, i), 0.0) };
            let (x, y) = (if x.is_nan() { f64::NAN } else { x }, if y.is_nan() { f64::NAN } else { y });
            (got, right) = match function {
                Exp => (exp_f64_scalar(x), core_math::exp(x)),
                Log => (log_f64_scalar(x), core_math::log(x)),
                Tanh => (tanh_f64_scalar(x), core_math::tanh(x)),
                _ => (power_f64_scalar(x, y), core_math::pow(x, y)),
            };
            apart = distance::f64(got, right);
        }
        if apart == u64::MAX {
            worst.wrong += 1;
            println!("wrong at {x:e} {y:e}: found {got:e}, expected {right:e}");
        } else if apart > 0 {
            worst.misrounded += 1;
            worst.distance = worst.distance.max(apart);
            let ulp = error(function, x, y, got);
            if ulp > worst.ulp {
                worst.ulp = ulp;
                worst.at = (x, y);
            }
        }
    }
    worst
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let samples = arguments.next().map_or(1_000_000, |samples| samples.parse::<u64>().expect("a number"));
    let name = arguments.next();
    let all = [("exp", Exp), ("log", Log), ("tanh", Tanh), ("power", Power), ("power-f32", PowerF32)];
    for (function_name, function) in all {
        if name.as_deref().is_some_and(|name| name != function_name) {
            continue;
        }
        let threads: Vec<_> =
            (1..=2).map(|seed| std::thread::spawn(move || measure(function, samples / 2, seed))).collect();
        for thread in threads {
            let w = thread.join().expect("no panic");
            println!(
                "{function_name}: {} samples, at most {} floats from the correctly rounded result, {:.2} % misrounded, {} wrong; worst {:.4} ULP at {:e} {:e}",
                w.samples,
                w.distance,
                100.0 * w.misrounded as f64 / w.samples as f64,
                w.wrong,
                w.ulp,
                w.at.0,
                w.at.1
            );
        }
    }
}
