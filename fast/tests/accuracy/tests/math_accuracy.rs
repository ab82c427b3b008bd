//! Compares the kernels of exp, log, tanh and power with correctly rounded values.

#[path = "../../math/accuracy.rs"]
mod accuracy;
#[path = "../../math/distance.rs"]
mod distance;
#[path = "../../math/strata.rs"]
mod strata;
