//! The crate ndarray as a peer: the expressions that its `Zip` supports, into an existing output.
#![forbid(unsafe_code)]

use ndarray::{ArrayViewD, ArrayViewMutD, Ix1, Ix2, IxDyn, Zip};
use serde_json::{Value, json};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// An element type.
pub(crate) trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    fn exp(self) -> Self;
}

impl Real for f64 {
    fn exp(self) -> f64 {
        f64::exp(self)
    }
}

impl Real for f32 {
    fn exp(self) -> f32 {
        f32::exp(self)
    }
}

/// The expressions that are computed with `Zip`.
#[derive(Clone, Copy)]
pub(crate) enum Formula {
    Sum,
    ExpOfProduct,
    Norm,
    Swish,
}

impl Formula {
    pub(crate) fn of(expression: &Value) -> Result<Formula, String> {
        let known = [
            (json!(["add", 0, 1]), Formula::Sum),
            (json!(["exp", ["multiply", 0, 1]]), Formula::ExpOfProduct),
            (json!(["add", ["multiply", ["multiply", ["subtract", 0, 1], 2], 3], 4]), Formula::Norm),
            (json!(["divide", 0, ["add", 1, ["exp", ["negate", 0]]]]), Formula::Swish),
        ];
        let found = known.into_iter().find(|(text, _)| text == expression);
        found.map(|(_, formula)| formula).ok_or_else(|| format!("{expression} has no formula here"))
    }

    /// Computes the result. Returns whether it was written.
    pub(crate) fn run<T: Real>(self, x: &[ArrayViewD<'_, T>], shape: &[usize], out: &mut [T]) -> bool {
        let Ok(out) = ArrayViewMutD::from_shape(IxDyn(shape), out) else { return false };
        // Ranks that are known at compile time are faster, and users have them too.
        match shape.len() {
            1 => out.into_dimensionality::<Ix1>().is_ok_and(|out| self.zip(x, out)),
            2 => out.into_dimensionality::<Ix2>().is_ok_and(|out| self.zip(x, out)),
            _ => self.zip(x, out),
        }
    }

    fn zip<T: Real, D: ndarray::Dimension>(
        self,
        x: &[ArrayViewD<'_, T>],
        out: ndarray::ArrayViewMut<'_, T, D>,
    ) -> bool {
        let shape = out.raw_dim();
        let views: Option<Vec<_>> = x.iter().map(|x| x.broadcast(shape.clone())).collect();
        let Some(views) = views else { return false };
        let zip = Zip::from(out);
        match (self, &views[..]) {
            (Formula::Sum, [x, y]) => zip.and(x).and(y).for_each(|out, &x, &y| *out = x + y),
            (Formula::ExpOfProduct, [x, y]) => zip.and(x).and(y).for_each(|out, &x, &y| *out = (x * y).exp()),
            (Formula::Norm, [x, m, r, g, b]) => zip
                .and(x)
                .and(m)
                .and(r)
                .and(g)
                .and(b)
                .for_each(|out, &x, &m, &r, &g, &b| *out = (x - m) * r * g + b),
            (Formula::Swish, [x, one]) => {
                zip.and(x).and(one).for_each(|out, &x, &one| *out = x / (one + (-x).exp()))
            }
            _ => return false,
        }
        true
    }
}

/// The operands with their shapes.
pub(crate) fn views<'a, T>(values: &[&'a [T]], shapes: &[Vec<usize>]) -> Vec<ArrayViewD<'a, T>> {
    let view = |(values, shape): (&&'a [T], &Vec<usize>)| ArrayViewD::from_shape(IxDyn(shape), values).ok();
    values.iter().zip(shapes).filter_map(view).collect()
}
