//! `exp`, `log`, `tanh` and `power` over slices: own kernels, within 1 ULP (clause V-4), with the same bits
//! at every [`Level`].
//!
//! Each function is one fixed sequence of IEEE additions, multiplications, fused multiply-adds, divisions,
//! bit operations and selects on one element. A fused multiply-add is one instruction on every machine with
//! AVX2 that the level `avx2` accepts, and on most others. The portable level of x86-64 computes the same
//! bits from exact products and sums (`arch/fused.rs`). So the levels agree bit for bit whatever the length
//! of a slice, except that any NaN counts as any other.
//!
//! The functions are written over the vectors of a level, of which a single number is one; log and power once
//! for both types, with the constants of `real.rs`. exp and tanh are links of chains; tanh and the others
//! are loops of their own (`levels.rs`), whose last group of vectors overlaps the one before.
//!
//! exp and log look up tables of sixteen entries (eight for exp in f32), which stay in registers where the
//! level has instructions for it; tanh divides once in f64, and in f32 looks up the coefficients of a
//! polynomial in tables of eight. Where an argument or a result is infinite,
//! subnormal, zero, negative or a NaN, exp, log and power take a second path, which a group of vectors
//! without such numbers skips. The path of an element depends on that element alone, or makes no difference
//! to its bits.
//!
//! # Accuracy
//!
//! For each kernel: the largest distance from the correctly rounded result (CORE-MATH 1.4) in floats, the
//! share of results that are not correctly rounded, and the largest error in ULP, rounded up. The error is
//! computed with MPFR at every result that is not correctly rounded, or with CORE-MATH in f64 for unary f32
//! functions.
//!
//! | kernel | inputs | distance | misrounded | worst ULP | where |
//! |---|---|---|---|---|---|
//! | exp f64 | 10^8 stratified | 1 | 3.22 % | 0.851 | -708.6686826566993 |
//! | log f64 | 10^8 stratified | 1 | 0.01 % | 0.545 | 1.0315793212819084 |
//! | tanh f64 | 10^8 stratified | 1 | 0.25 % | 0.875 | 0.17436204354919016 |
//! | power f64 | 6 * 10^7 stratified | 1 | 3.41 % | 0.834 | 1.6600576567035482e270, -1.1388734403977416 |
//! | exp f32 | all 2^32 | 1 | 0.11 % | 0.793 | -87.61003 |
//! | log f32 | all 2^32 | 1 | 0.0005 % | 0.542 | 1.0316805 |
//! | tanh f32 | all 2^32 | 1 | 0.13 % | 0.847 | -0.695851 |
//! | power f32 | 6 * 10^7 stratified | 1 | 1.32 % | 0.814 | 258.3830261230469, -15.7612943649292 |
//!
//! The strata (`tests/math/strata.rs`) are: any bits, any positive bits, the whole range of finite results,
//! near 0, near 1, near overflow, subnormal arguments and subnormal results; for power also integer exponents
//! and negative bases. The programs and ignored tests of the crate `tests/accuracy`, outside the workspace,
//! measured them. Every `cargo test` compares the engine with a table of correctly rounded values
//! (`tests/table.rs`).
//!
//! f16 and bf16 use the f32 kernels and round once. An error of 0.85 ULP of f32 is about 0.0001 ULP of f16,
//! so only a near-tie can round to the wrong neighbour.
//!
//! # Speed
//!
//! Nanoseconds per element for 4096 elements in cache, as the median of rounds in which the competitors take
//! turns. The machine was a 2-core x86-64 server (AMD EPYC, family 25, model 17) that other processes kept
//! busy; std and libm were called through a pointer. To repeat: `cargo run --release --bin speed` in
//! `tests/accuracy`. The portable column was measured apart, by a loop over the same vectors.
//!
//! | kernel | portable | avx2 | avx512 | std | libm |
//! |---|---|---|---|---|---|
//! | exp f64 | 23.81 | 0.89 | 0.46 | 4.95 | 6.55 |
//! | log f64 | 45.45 | 1.59 | 0.71 | 4.15 | 5.88 |
//! | tanh f64 | 76.12 | 2.43 | 1.34 | 11.19 | 13.14 |
//! | power f64 | 85.45 | 3.09 | 1.81 | 10.39 | 37.35 |
//! | power f64, y = 2.5 | - | 3.14 | 1.82 | 11.71 | 44.04 |
//! | power f64, x = 2.5 | - | 0.99 | 0.68 | 9.80 | 39.31 |
//! | exp f32 | 5.20 | 0.23 | 0.16 | 2.98 | 4.39 |
//! | log f32 | 5.77 | 0.46 | 0.26 | 4.06 | 4.18 |
//! | tanh f32 | 17.64 | 0.76 | 0.49 | 11.09 | 9.65 |
//! | power f32 | 16.11 | 1.14 | 0.79 | 4.45 | 37.31 |
//!
//! The row of tanh f32 is of an earlier algorithm, which divided. On an Intel Xeon (family 6, model 207), it
//! took 21.9, 0.81 and 0.61 ns at the three levels, and the present one takes 10.4, 0.55 and 0.36.
//!
//! The portable level takes some forty instructions for each fused multiply-add in f64 and some twenty-five
//! in f32. Before there were any, its figures were 1.48, 3.28, 7.23 and 11.52 in f64 (exp, log, tanh, power)
//! and 0.70, 1.31, 1.87 and 5.45 in f32. Only x86-64 without AVX2 or FMA pays that.

pub(crate) mod f32;
pub(crate) mod f64;
mod levels;
mod log;
mod power;
mod real;
pub(crate) mod tanh;

use crate::Level;
use crate::arch::{Ahead, ChainOp, Kernels, Link, table, vector};
use crate::route::are_beyond_caches;
use broadcheck_spec::Function;
use real::Real;

pub use levels::{log_f32, log_f64, tanh_f32, tanh_f64};
pub use levels::{power_by_base_f32, power_by_base_f64, power_by_exponent_f32, power_by_exponent_f64};
pub use levels::{power_f32, power_f64};

/// exp as a chain of one link.
fn exp<T>(kernels: &Kernels<T>, x: &[T], out: &mut [T]) {
    assert_eq!(x.len(), out.len(), "lengths differ");
    let first = Link { op: ChainOp::Add, values: x, step: 0, scalar: false };
    let exp = Link { op: ChainOp::Exp, values: &[], step: 0, scalar: true };
    let fetches = are_beyond_caches(size_of_val(x).saturating_add(size_of_val(out)));
    kernels.chains().run(&first, (&mut [exp], fetches), 1, out);
}

/// e^x, element by element.
///
/// # Panics
///
/// If the lengths differ.
pub fn exp_f64(level: Level, x: &[f64], out: &mut [f64]) {
    exp(&table(level).f64, x, out);
}

/// e^x, element by element.
///
/// # Panics
///
/// If the lengths differ.
pub fn exp_f32(level: Level, x: &[f32], out: &mut [f32]) {
    exp(&table(level).f32, x, out);
}

/// e^x, with the bits of every level.
pub fn exp_f64_scalar(x: f64) -> f64 {
    let [value] = f64::exp([x]);
    value
}

/// e^x, with the bits of every level.
pub fn exp_f32_scalar(x: f32) -> f32 {
    let [value] = f32::exp([x]);
    value
}

/// The natural logarithm, with the bits of every level.
pub fn log_f64_scalar(x: f64) -> f64 {
    let [value] = log::log([x]);
    value
}

/// The natural logarithm, with the bits of every level.
pub fn log_f32_scalar(x: f32) -> f32 {
    let [value] = log::log([x]);
    value
}

/// The hyperbolic tangent, with the bits of every level.
pub fn tanh_f64_scalar(x: f64) -> f64 {
    let [value] = tanh::tanh([x]);
    value
}

/// The hyperbolic tangent, with the bits of every level.
pub fn tanh_f32_scalar(x: f32) -> f32 {
    let [value] = tanh::tanh([x]);
    value
}

/// x^y, with the bits of every level.
pub fn power_f64_scalar(x: f64, y: f64) -> f64 {
    power_scalar(x, y)
}

/// x^y, with the bits of every level.
pub fn power_f32_scalar(x: f32, y: f32) -> f32 {
    power_scalar(x, y)
}

fn power_scalar<T: Real>(x: T, y: T) -> T {
    let ([size], beyond) = power::power(&power::logarithm_of([x]), [y]);
    if beyond { T::power_of_size(x, y, size) } else { size }
}

/// The functions that this module computes, each several times as expensive as an addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MathFunction {
    Exp,
    Log,
    Tanh,
    Power,
    /// The derivative of a power by its base.
    PowerByBase,
    /// The derivative of a power by its exponent.
    PowerByExponent,
}

impl MathFunction {
    /// The function, if this module computes it.
    #[inline]
    #[deny(clippy::wildcard_enum_match_arm)]
    pub(crate) fn of(function: Function) -> Option<MathFunction> {
        use Function as F;
        match function {
            F::Exp => Some(MathFunction::Exp),
            F::Log => Some(MathFunction::Log),
            F::Tanh => Some(MathFunction::Tanh),
            F::Power => Some(MathFunction::Power),
            F::Add
            | F::Subtract
            | F::Multiply
            | F::Divide
            | F::Maximum
            | F::Minimum
            | F::Negate
            | F::Abs
            | F::Sqrt
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

/// An element type that this module computes with.
pub(crate) trait Math: Sized {
    /// A function of `a`, or of `a` and `b`, element by element. Of two arguments, each may be one value for
    /// all elements. What is ahead is prefetched meanwhile, except by exp.
    fn compute(
        function: MathFunction,
        level: Level,
        arguments: (&[Self], &[Self]),
        ahead: Ahead,
        out: &mut [Self],
    );
}

macro_rules! math {
    (impl Math for $type:ident {
        log: $log:ident,
        tanh: $tanh:ident,
        power: $power:ident,
        power_by_base: $by_base:ident,
        power_by_exponent: $by_exponent:ident,
    }) => {
        impl Math for $type {
            fn compute(
                function: MathFunction,
                level: Level,
                (a, b): (&[$type], &[$type]),
                ahead: Ahead,
                out: &mut [$type],
            ) {
                match function {
                    // Prefetching costs more than it saves: over 4,000,000 f16, 1.3 times as long on AMD.
                    MathFunction::Exp => exp(&table(level).$type, a, out),
                    MathFunction::Log => levels::with_ahead::$log(level, a, ahead, out),
                    MathFunction::Tanh => levels::with_ahead::$tanh(level, a, ahead, out),
                    MathFunction::Power => levels::with_ahead::$power(level, a, b, ahead, out),
                    MathFunction::PowerByBase => levels::with_ahead::$by_base(level, a, b, ahead, out),
                    MathFunction::PowerByExponent => {
                        levels::with_ahead::$by_exponent(level, a, b, ahead, out)
                    }
                }
            }
        }
    };
}

math! {
    impl Math for f64 {
        log: log_f64,
        tanh: tanh_f64,
        power: power_f64,
        power_by_base: power_by_base_f64,
        power_by_exponent: power_by_exponent_f64,
    }
}

math! {
    impl Math for f32 {
        log: log_f32,
        tanh: tanh_f32,
        power: power_f32,
        power_by_base: power_by_base_f32,
        power_by_exponent: power_by_exponent_f32,
    }
}
