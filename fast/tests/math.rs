//! The kernels of exp, log, tanh and power: special values, and every level against the scalar function.

#[path = "math/levels.rs"]
mod levels;
#[path = "math/special.rs"]
mod special;
#[path = "math/strata.rs"]
mod strata;
