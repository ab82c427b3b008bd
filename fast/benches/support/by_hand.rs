//! Handwritten loops, each for one shape.

use super::kernels::{Body, Exp, Vector, each, fill, read, splat};
use super::{Arrays, At, Real};

pub(crate) fn row<T: Real>(at: At, arrays: &Arrays<T>, out: &mut [T]) {
    let (matrix, row) = (&*arrays.0[0], &*arrays.0[1]);
    let width = row.len();
    at.run(
        out,
        #[inline(always)]
        |out| {
            for (out, matrix) in out.chunks_exact_mut(width).zip(matrix.chunks_exact(width)) {
                out.iter_mut().zip(matrix).zip(row).for_each(|((out, a), b)| *out = *a + *b);
            }
        },
    );
}

pub(crate) fn column<T: Real>(at: At, arrays: &Arrays<T>, out: &mut [T]) {
    let (matrix, column) = (&*arrays.0[0], &*arrays.0[1]);
    let width = matrix.len() / column.len();
    at.run(
        out,
        #[inline(always)]
        |out| {
            let rows = out.chunks_exact_mut(width).zip(matrix.chunks_exact(width));
            for ((out, matrix), value) in rows.zip(column) {
                out.iter_mut().zip(matrix).for_each(|(out, a)| *out = *a + *value);
            }
        },
    );
}

pub(crate) fn outer<T: Real>(at: At, arrays: &Arrays<T>, out: &mut [T]) {
    let (column, row) = (&*arrays.0[0], &*arrays.0[1]);
    at.run(
        out,
        #[inline(always)]
        |out| {
            for (out, value) in out.chunks_exact_mut(row.len()).zip(column) {
                out.iter_mut().zip(row).for_each(|(out, b)| *out = *value + *b);
            }
        },
    );
}

pub(crate) fn triple<T: Real>(at: At, arrays: &Arrays<T>, out: &mut [T]) {
    let (matrix, row) = (&*arrays.0[0], [arrays.0[1][0], arrays.0[1][1], arrays.0[1][2]]);
    at.run(
        out,
        #[inline(always)]
        |out| {
            for (out, a) in out.as_chunks_mut::<3>().0.iter_mut().zip(matrix.as_chunks::<3>().0) {
                *out = [a[0] + row[0], a[1] + row[1], a[2] + row[2]];
            }
        },
    );
}

pub(crate) fn triple_column<T: Real>(at: At, arrays: &Arrays<T>, out: &mut [T]) {
    let (matrix, column) = (&*arrays.0[0], &*arrays.0[1]);
    at.run(
        out,
        #[inline(always)]
        |out| {
            let rows = out.as_chunks_mut::<3>().0.iter_mut().zip(matrix.as_chunks::<3>().0);
            for ((out, a), b) in rows.zip(column) {
                *out = [a[0] + *b, a[1] + *b, a[2] + *b];
            }
        },
    );
}

pub(crate) fn norm<T: Real>(at: At, arrays: &Arrays<T>, out: &mut [T]) {
    let [x, m, r, g, b] = std::array::from_fn(|place| &*arrays.0[place]);
    let width = g.len();
    at.run(
        out,
        #[inline(always)]
        |out| {
            for (row, out) in out.chunks_exact_mut(width).enumerate() {
                let (x, m, r) = (&x[row * width..(row + 1) * width], m[row], r[row]);
                let affine = x.iter().zip(g).zip(b);
                out.iter_mut().zip(affine).for_each(|(out, ((x, g), b))| *out = (*x - m) * r * *g + *b);
            }
        },
    );
}

/// The sum of ten operands of which three are matrices, three are rows, two are columns and two are scalars.
pub(crate) fn mixed_sum<T: Real>(at: At, arrays: &Arrays<T>, out: &mut [T]) {
    let x: [&[T]; 10] = std::array::from_fn(|place| &*arrays.0[place]);
    let width = x[1].len();
    at.run(
        out,
        #[inline(always)]
        |out| {
            for (row, out) in out.chunks_exact_mut(width).enumerate() {
                let matrix = |place: usize| &x[place][row * width..(row + 1) * width];
                let (x0, x4, x7) = (matrix(0), matrix(4), matrix(7));
                let (x1, x6, x9) = (&x[1][..width], &x[6][..width], &x[9][..width]);
                let (x2, x3, x5, x8) = (x[2][row], x[3][0], x[5][row], x[8][0]);
                for (k, out) in out.iter_mut().enumerate() {
                    *out = x0[k] + x1[k] + x2 + x3 + x4[k] + x5 + x6[k] + x7[k] + x8 + x9[k];
                }
            }
        },
    );
}

pub(crate) fn swish<T: Exp>(at: At, arrays: &Arrays<T>, out: &mut [T]) {
    at.run_vectors(out, &Swish { x: &arrays.0[0], one: arrays.0[1][0] });
}

/// x/(one+exp(-x)).
pub(crate) struct Swish<'a, T> {
    pub(crate) x: &'a [T],
    pub(crate) one: T,
}

impl<T: Exp> Body<T> for Swish<'_, T> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]) {
        fill::<V>(
            out,
            #[inline(always)]
            |at| {
                let (x, one) = (read::<V>(self.x, at), splat::<V>(self.one));
                let power = V::exp(each!(x => x.negate()));
                each!(x, one, power => x.divide(one.add(power)))
            },
        );
    }
}
