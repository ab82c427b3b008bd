//! The loop of each broadcasting pattern of exp(x*y) and x0 + … + x9, compiled for that pattern only.

use super::kernels::{Body, Exp, Vector, each, fill, read, splat};
use super::race::Competitor;
use super::{At, Real, call, x};
use broadcheck_spec::{Expression, Function};

/// exp(x*y).
pub(crate) fn exp_of_product() -> Expression {
    call(Function::Exp, [call(Function::Multiply, [x(0), x(1)])])
}

/// exp(x*y) for one pattern, written by hand as one loop.
pub(crate) fn fused<T: Exp>(at: At, x: &[T], y: &[T], out: &mut [T]) {
    match (x, y) {
        (&[x], y) => at.run_vectors(out, &Scaled(x, y)),
        (x, &[y]) => at.run_vectors(out, &Scaled(y, x)),
        (x, y) => at.run_vectors(out, &Both(x, y)),
    }
}

/// exp(x*y) of a scalar and an array, in either order.
struct Scaled<'a, T>(T, &'a [T]);

impl<T: Exp> Body<T> for Scaled<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]) {
        fill::<V>(
            out,
            #[inline(always)]
            |at| {
                let (x, y) = (splat::<V>(self.0), read::<V>(self.1, at));
                V::exp(each!(x, y => x.multiply(y)))
            },
        );
    }
}

/// exp(x*y) of two arrays.
struct Both<'a, T>(&'a [T], &'a [T]);

impl<T: Exp> Body<T> for Both<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]) {
        fill::<V>(
            out,
            #[inline(always)]
            |at| {
                let (x, y) = (read::<V>(self.0, at), read::<V>(self.1, at));
                V::exp(each!(x, y => x.multiply(y)))
            },
        );
    }
}

/// Competitors that must compute the same bits.
pub(crate) fn agree<T: Real>(out: &mut [T], competitors: &mut [Competitor<'_, [T]>]) {
    let mut answers = competitors.iter_mut().map(|competitor| {
        out.fill(T::default());
        competitor(out);
        out.to_vec()
    });
    let first = answers.next();
    assert!(answers.all(|answer| Some(answer) == first), "the results differ");
}

/// The operands of a sum of ten.
pub(crate) type Ten<'a> = [&'a [f64]; 10];

/// Bit k of a pattern says whether operand k is broadcast. All bits at once is not a pattern of ten operands.
pub(crate) const PATTERNS: usize = 1023;

/// The loop that is compiled for one pattern.
pub(crate) fn specialised<const PATTERN: usize>(at: At, operands: &Ten<'_>, out: &mut [f64]) {
    at.run(
        out,
        #[inline(always)]
        |out| {
            let count = out.len();
            let operands: Ten<'_> =
                std::array::from_fn(|k| &operands[k][..if PATTERN >> k & 1 == 1 { 1 } else { count }]);
            for (place, out) in out.iter_mut().enumerate() {
                let read = |k: usize| operands[k][if PATTERN >> k & 1 == 1 { 0 } else { place }];
                let mut sum = read(0) + read(1);
                for k in 2..10 {
                    sum += read(k);
                }
                *out = sum;
            }
        },
    );
}

/// The shapes of ten operands of `count` elements under a pattern.
pub(crate) fn shapes_of(pattern: usize, count: usize) -> Vec<Vec<usize>> {
    (0..10).map(|k| vec![if pattern >> k & 1 == 1 { 1 } else { count }]).collect()
}
