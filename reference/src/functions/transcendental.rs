//! exp, log, tanh and power in f64 (clause V-4). The other dtypes round these once.
//!
//! | function | by | accuracy stated | against CORE-MATH, 40 million draws |
//! |---|---|---|---|
//! | exp | `libm` | below 1 ULP | at most 1 ULP, 7 % not correctly rounded |
//! | power | `libm` | below 0.70 ULP | at most 1 ULP, 7 % not correctly rounded |
//! | log | `pxfm` | 0.5 ULP | correctly rounded throughout |
//! | tanh | `pxfm` | 0.5 ULP | correctly rounded throughout |
//!
//! Both crates are Rust throughout, without a build script that compiles C, and state what each function is good
//! for, which the standard library does not. `core-math` is correctly rounded by proof but wraps C. Neither
//! crate serves alone: tanh of `libm` is wrong by 2 ULP between 0.1 and 0.26, as its source says, and exp and
//! power of `pxfm` 0.1.30 are far off at a few tiny results (exp of
//! -712.9244869262262; 1.374914079567168e154 to the power of -2; the largest f64 to the power of -0.5).
//!
//! In f32, f16 and bf16 the f64 value is rounded once more. An error of 1 ULP of f64 is 2^-29 ULP of f32, so the
//! answer is the correctly rounded one unless the exact value lies that close to halfway between two numbers.

pub(crate) use libm::{exp, pow as power};
pub(crate) use pxfm::{f_log as log, f_tanh as tanh};
