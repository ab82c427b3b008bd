//! Broadcasting at the speed of memory.
//!
//! A request goes through one pipeline. The rule set is *lowered* to a stride per operand and axis, which is
//! 0 for a stretched axis. Axes are *collapsed* and the result is cut into *tiles*. The expression becomes a
//! linear *program* over registers, which runs tile by tile with SIMD kernels. Only the first step knows the
//! rule set. The amount of code grows with the number of functions, not with the 2^n - 1 broadcasting
//! patterns of n operands.
//!
//! | step | module |
//! |---|---|
//! | a request, or the views of a run, without values | `problem` |
//! | rule sets, dtypes and refusals | `lower` |
//! | the choice among the ways below | `route` |
//! | axes and tiles | `tiling`, `cursor` |
//! | expression, gradient, registers | `program` |
//! | running a tile | `execute` |
//! | gathering into registers, adding to gradients | `fill` |
//! | a single call over one tile | `one_tile` |
//! | a single chain over rows | `fold` |
//! | a gradient of one tile that is a single sum | `sum_call` |
//! | a single call with a repeated operand, or over short rows | `pair`, `grid` |
//! | a single call over long rows, or with a transposed operand | `rows`, `turned` |
//! | writing into a destination that operands may read | `in_place` |
//! | threads | `parallel` |
//! | plans for lengths that are known only at the run | `signature`, `view` |
//! | requests with declared shapes | `declared` |
//! | kernels and SIMD levels | `arch` |
//! | exp, log, tanh and power within 1 ULP | [`math`] |
//!
//! [`Fast`] answers requests. A [`Plan`] is made once and run many times, optionally into the caller's
//! memory or in place. A [`SignaturePlan`] is made before all lengths are known, and run with any of them.

mod arch;
mod bounds_call;
mod buffers;
mod cursor;
mod declared;
mod dispatch;
mod engine;
mod error;
mod execute;
mod fill;
mod fold;
mod given;
mod grid;
mod in_place;
mod infer;
mod inline_capacity;
mod level;
mod lower;
pub mod math;
mod nested_call;
mod one_tile;
mod pair;
mod parallel;
mod parts;
mod plan;
mod problem;
mod program;
mod route;
mod rows;
mod scratch;
mod select_call;
mod signature;
mod step_call;
mod sum_call;
mod tiling;
mod tiny;
mod turned;
mod view;

pub use buffers::{Input, Output};
pub use engine::{Fast, Unavailable};
pub use error::{Misfit, NoKernel, NoPlan, WrongBuffers};
pub use infer::infer;
pub use level::{Level, UnknownLevel};
pub use plan::Plan;
pub use signature::{SignaturePlan, Wanted};
pub use view::View;

// With the address sanitizer, each program that contains the kernels takes minutes to compile. So there is
// only one: the tests of the directory `tests` are unit tests.
#[cfg(all(test, sanitized))]
extern crate self as broadcheck_fast;
#[cfg(all(test, sanitized))]
#[path = "../tests/sanitized/mod.rs"]
mod sanitized;
