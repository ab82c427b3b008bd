//! Broadcasting at the speed of memory.
//!
//! One pipeline, read from left to right: the rule set is *lowered* to a stride per operand and axis (0 where it
//! is stretched), axes are *collapsed* and the result is cut into *tiles*, the expression becomes a linear
//! *program* over registers, and the program is run tile by tile with SIMD kernels. The rule sets end at the first
//! step: nothing after it knows which one asked. Code grows with the number of functions, never with the 2^n - 1
//! broadcasting patterns of n operands.
//!
//! | step | module |
//! |---|---|
//! | the rule sets, dtypes and refusals | `lower` |
//! | axes and tiles | `tiling`, `cursor` |
//! | expression, gradient, registers | `program` |
//! | gathering into registers, adding into gradients | `fill` |
//! | a tile | `execute` |
//! | one call alone, in short; over short rows | `single`, `grid` |
//! | threads | `parallel` |
//! | kernels and SIMD levels | `arch` |
//! | exp, log, tanh and power within 1 ULP | [`math`] |
//!
//! [`Fast`] answers requests; a [`Plan`] is made once and run many times, into memory of the caller's if that is
//! wanted.

// Public for `tests/kernels.rs` alone: unit tests would have every kernel compiled a second time.
#[doc(hidden)]
pub mod arch;
mod buffers;
mod cursor;
mod engine;
mod error;
mod execute;
mod few;
mod fill;
mod grid;
mod level;
mod lower;
pub mod math;
mod parallel;
mod plan;
mod program;
mod scratch;
mod single;
mod tiling;

pub use buffers::{Input, Output};
pub use engine::{Fast, Unavailable};
pub use error::{NoPlan, WrongBuffers};
pub use level::{Level, UnknownLevel};
pub use plan::Plan;
