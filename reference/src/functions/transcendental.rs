//! exp, log, tanh and power in f64 (clause V-4). The other dtypes round the f64 result once.
//!
//! | function | crate | documented accuracy | compared with CORE-MATH, 40 million draws |
//! |---|---|---|---|
//! | exp | `libm` | below 1 ULP | at most 1 ULP, 7 % not correctly rounded |
//! | power | `libm` | below 0.70 ULP | at most 1 ULP, 7 % not correctly rounded |
//! | log | `pxfm` | 0.5 ULP | always correctly rounded |
//! | tanh | `pxfm` | 0.5 ULP | always correctly rounded |
//!
//! Both crates are pure Rust, without a build script that compiles C, and document the accuracy of each
//! function, which the standard library does not. `core-math` is proven to be correctly rounded but wraps C.
//! Neither crate is sufficient alone: tanh of `libm` is off by 2 ULP between 0.1 and 0.26, as its source
//! states, and exp and power of `pxfm` 0.1.30 are far off at a few tiny results (exp of -712.9244869262262;
//! 1.374914079567168e154 to the power of -2; the largest f64 to the power of -0.5).
//!
//! In f32, f16 and bf16 the f64 value is rounded once more. An error of 1 ULP of f64 is 2^-29 ULP of f32, so
//! the answer is correctly rounded unless the exact value is that close to the midpoint of two numbers.

pub(crate) use libm::{exp, pow as power};
pub(crate) use pxfm::{f_log as log, f_tanh as tanh};
