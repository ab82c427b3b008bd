//! The rows over which a kernel of two arguments runs. A call for each row would take longer than a short row
//! itself (`benches/sweep` has rows and columns of 20).

use super::extent::Extent;
use std::slice::ChunksMut;

/// Several rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    /// The elements of a row of the output.
    pub(crate) width: usize,
    /// The distance between the starts of successive rows of each argument, in elements.
    pub(crate) steps: [usize; 2],
}

impl Rows {
    /// The rows for the arguments in the other order.
    pub(super) fn exchanged(&self) -> Rows {
        let Rows { width, steps: [a, b] } = *self;
        Rows { width, steps: [b, a] }
    }

    /// Whether both arguments have values for every row of an output of `count` elements, which is made of
    /// whole rows. `ones` says which of them have one value in each row.
    #[inline(always)]
    pub(super) fn fit<A, B>(&self, a: &[A], b: &[B], ones: [bool; 2], count: usize) -> bool {
        let of = |one: bool, step: usize| {
            let row = Extent::of(if one { 1 } else { self.width });
            row.repeated(count / self.width.max(1), step)
        };
        count.is_multiple_of(self.width)
            && of(ones[0], self.steps[0]).is_within(a)
            && of(ones[1], self.steps[1]).is_within(b)
    }
}

/// The rows of two arguments and of an output. What is left of an argument from the start of a row on is its
/// row, so a row may be longer than the output's.
pub(super) struct EachRow<'a, A, B, R> {
    a: &'a [A],
    b: &'a [B],
    out: ChunksMut<'a, R>,
    steps: [usize; 2],
    /// The positions of the next row.
    at: [usize; 2],
}

impl<'a, A, B, R> EachRow<'a, A, B, R> {
    /// Of `out`, which is one row unless `rows` says otherwise.
    #[inline(always)]
    pub(super) fn new(a: &'a [A], b: &'a [B], rows: Option<&Rows>, out: &'a mut [R]) -> Self {
        let (width, steps) = match rows {
            Some(rows) => (rows.width, rows.steps),
            None => (out.len(), [0, 0]),
        };
        EachRow { a, b, out: out.chunks_mut(width.max(1)), steps, at: [0, 0] }
    }
}

impl<'a, A, B, R> Iterator for EachRow<'a, A, B, R> {
    type Item = (&'a [A], &'a [B], &'a mut [R]);

    /// # Panics
    /// If a row begins beyond the end of an argument.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let out = self.out.next()?;
        let [a, b] = self.at;
        // After the last row, the positions may be beyond everything.
        self.at = [a.saturating_add(self.steps[0]), b.saturating_add(self.steps[1])];
        Some((&self.a[a..], &self.b[b..], out))
    }
}
