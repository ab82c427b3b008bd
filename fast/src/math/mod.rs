//! `exp log tanh power` over slices: own kernels, within 1 ULP (clause V-4), the same bits at every [`Level`].
//!
//! Each function is one fixed sequence of IEEE additions, multiplications, divisions, bit operations and selects on one
//! element: no fused multiply-add, which not every machine has. So levels agree bit for bit (any NaN being any NaN),
//! whatever the length.
//!
//! log, tanh and power have neither branch nor table. Their source is the scalar call (`log_f64_scalar`) and the body of
//! a plain loop over blocks that is compiled for each level, and that the compiler vectorises whole; the rest of a slice
//! goes through the same loop as a padded block. exp is written over the vectors of a level, of which a single number is
//! one, for chains have it in their loop. It looks up a table of sixteen entries (eight for f32), which lies in registers
//! where the level has instructions for that; and near the ends of the range it goes a second way, which a group of vectors
//! is spared that holds no such number. Which way an element goes rests on the element alone.
//!
//! # Accuracy
//!
//! Distance from the correctly rounded result (CORE-MATH 1.4) in floats, how many results are not correctly rounded, and
//! the largest error in ULP, rounded up (MPFR, at every result not correctly rounded; for unary f32, CORE-MATH in f64).
//!
//! | kernel | inputs | distance | misrounded | worst ULP | where |
//! |---|---|---|---|---|---|
//! | exp f64 | 10^8 stratified | 1 | 3.42 % | 0.833 | -708.8027842887227 |
//! | log f64 | 10^8 stratified | 1 | 0.25 % | 0.714 | 0.706968648968528 |
//! | tanh f64 | 10^8 stratified | 1 | 1.82 % | 0.851 | 0.5416197160768914 |
//! | power f64 | 10^8 stratified | 1 | 1.33 % | 0.798 | 15.965077023554805, -255.82406488247037 |
//! | exp f32 | all 2^32 | 1 | 0.15 % | 0.770 | -87.46758 |
//! | log f32 | all 2^32 | 1 | 0.024 % | 0.721 | 1.4091772 |
//! | tanh f32 | all 2^32 | 1 | 0.094 % | 0.812 | 0.5470427 |
//! | power f32 | 10^8 stratified | 1 | 0.01 % | 0.501 | 1.25145107e33, 0.83515483 |
//!
//! The strata (`tests/math/strata.rs`): any bits, any positive bits, the whole range of finite results, near 0, near 1,
//! near overflow, subnormal arguments, subnormal results; for power also whole exponents and negative bases. Measured by
//! the crate in `tests/accuracy`, outside the workspace: its programs and its ignored tests. In every `cargo test`,
//! `tests/table.rs` compares the engine with a table of correctly rounded values.
//!
//! f16 and bf16 go through the f32 kernels with one rounding: over all 2^16 inputs, exp, log and tanh are the correctly
//! rounded value but for three bf16 results (exp two, log one), which are its neighbour. For power an error of 0.51 ULP
//! of f32 is 0.0001 ULP of f16, so that only a near-tie can round to the neighbour.
//!
//! # Speed
//!
//! Nanoseconds per element, 4096 elements in cache, medians of rounds in which rivals take turns, the middle one of three
//! runs, on a 2-core x86-64 server (AMD EPYC) while other work ran on it; std and libm are called through a pointer.
//! `cargo run --release --bin speed` in `tests/accuracy`.
//!
//! | kernel | portable | avx2 | avx512 | std | libm |
//! |---|---|---|---|---|---|
//! | exp f64 | 1.48 | 0.90 | 0.33 | 3.15 | 5.59 |
//! | log f64 | 3.28 | 1.35 | 0.68 | 2.42 | 4.48 |
//! | tanh f64 | 7.23 | 2.29 | 1.11 | 7.76 | 10.18 |
//! | power f64 | 11.52 | 5.16 | 2.76 | 7.94 | 28.25 |
//! | power f64, y = 2.5 | 10.80 | 4.96 | 2.50 | 7.91 | 28.17 |
//! | power f64, x = 2.5 | 4.59 | 2.32 | 1.04 | 7.87 | 27.58 |
//! | exp f32 | 0.70 | 0.25 | 0.12 | 1.93 | 4.14 |
//! | log f32 | 1.31 | 0.49 | 0.25 | 1.88 | 3.19 |
//! | tanh f32 | 1.87 | 0.86 | 0.43 | 8.35 | 7.19 |
//! | power f32 | 5.45 | 2.48 | 1.60 | 2.93 | 25.93 |
//!
//! The portable level (two f64 at a time, selects of three instructions) is slower than the standard library's tables for
//! log and power; it is for machines that have nothing wider, and gives the same bits.

pub(crate) mod double;
mod levels;
mod power;
pub(crate) mod single;

use crate::Level;
use crate::arch::{ChainOp, Link, table, vector};

pub use levels::{log_f32, log_f64, tanh_f32, tanh_f64};
pub use levels::{power_f32, power_f32_by, power_f32_of, power_f64, power_f64_by, power_f64_of};

macro_rules! exps {
    ($($name:ident $scalar:ident $type:ident $kernel:path;)*) => { $(
        /// e^x, element by element.
        ///
        /// # Panics
        ///
        /// If the lengths differ.
        pub fn $name(level: Level, x: &[$type], out: &mut [$type]) {
            assert_eq!(x.len(), out.len(), "lengths differ");
            if let Some(parts) = table(level).$type.float() {
                let first = Link { op: ChainOp::Add, values: x, step: 0, scalar: false };
                let exp = Link { op: ChainOp::Exp, values: &[], step: 0, scalar: true };
                parts.chain.run(first, &mut [exp], 1, out);
            }
        }

        /// e^x: the bits of every level.
        pub fn $scalar(x: $type) -> $type {
            let [value] = $kernel([x]);
            value
        }
    )* };
}

exps! {
    exp_f64 exp_f64_scalar f64 double::exp;
    exp_f32 exp_f32_scalar f32 single::exp;
}

macro_rules! scalars {
    ($($name:ident($($x:ident),*) $type:ident $kernel:path, $what:literal;)*) => { $(
        #[doc = $what]
        pub fn $name($($x: $type),*) -> $type {
            $kernel($($x),*)
        }
    )* };
}

scalars! {
    log_f64_scalar(x) f64 double::log, "The natural logarithm: the bits of every level.";
    tanh_f64_scalar(x) f64 double::tanh, "The hyperbolic tangent: the bits of every level.";
    power_f64_scalar(x, y) f64 power::power_f64, "x^y: the bits of every level.";
    log_f32_scalar(x) f32 single::log, "The natural logarithm: the bits of every level.";
    tanh_f32_scalar(x) f32 single::tanh, "The hyperbolic tangent: the bits of every level.";
    power_f32_scalar(x, y) f32 power::power_f32, "x^y: the bits of every level.";
}
