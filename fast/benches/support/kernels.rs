//! The engine's own exp, from its source, so that a rival's loop can have it inlined.
#![allow(dead_code, reason = "exp alone is wanted")]

#[path = "../../src/math/double.rs"]
mod double;
#[path = "../../src/math/single.rs"]
mod single;

/// exp of either type.
pub(crate) trait Exp {
    fn exp(self) -> Self;
}

impl Exp for f64 {
    #[inline(always)]
    fn exp(self) -> f64 {
        double::exp(self)
    }
}

impl Exp for f32 {
    #[inline(always)]
    fn exp(self) -> f32 {
        single::exp(self)
    }
}
