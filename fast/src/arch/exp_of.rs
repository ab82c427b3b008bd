//! exp of a sum, a difference or a product, such as `exp(x * y)` and softmax's `exp(x - max)`: the commonest
//! chains with exp, as one loop each, for rows whose operands are prefetched; other rows have loops in
//! [`frequent`](super::frequent). The constants of exp stay in registers, while a chain, which takes its
//! links one after another for every group of vectors, loads them for each. (On an Intel Xeon of model 106,
//! exp(x*y) mostly takes 0.9 to 0.95 of the time, `benches/quick`.)

use super::chain::{ChainOp, Link};
use super::group::{ahead, counted, exp, fetch};
use super::simd::Section;
use super::vector::Vector;

/// The vectors of a group.
const GROUP: usize = 4;

/// The whole groups of one row, `out`, of exp of a sum, difference or product. The result is the number of
/// elements that were computed. `fetches` says whether operands are prefetched.
///
/// Every vector argument has as many elements as `out`, and every scalar has one.
pub(super) struct Row<'a, V: Vector> {
    first: &'a Link<'a, V::Element>,
    second: &'a Link<'a, V::Element>,
    fetches: bool,
    out: &'a mut [V::Element],
}

impl<'a, V: Vector> Row<'a, V> {
    /// The row of a chain of two links, if the second one is exp.
    ///
    /// f64 in vectors of 32 bytes are left to the chain: the loop takes up to 1.13 times as long.
    #[inline(always)]
    pub(super) fn of(
        first: &'a Link<'a, V::Element>,
        links: &'a [Link<'a, V::Element>],
        fetches: bool,
        out: &'a mut [V::Element],
    ) -> Option<Self> {
        if const { size_of::<V>() < 32 || size_of::<V>() == 32 && size_of::<V::Element>() == 8 } {
            return None;
        }
        let [second, Link { op: ChainOp::Exp, .. }] = links else { return None };
        Some(Row { first, second, fetches, out })
    }
}

impl<V: Vector> Section for Row<'_, V> {
    type Result = usize;

    #[inline(always)]
    unsafe fn compute(self) -> usize {
        let Row { first, second, fetches, out } = self;
        // A value for the whole row comes first. A row has an argument that is not one.
        let (one, arguments) = match (first.scalar, second.scalar) {
            (false, false) => (false, [first, second]),
            (true, false) => (true, [first, second]),
            (false, true) => (true, [second, first]),
            (true, true) => return 0,
        };
        // SAFETY: guaranteed by the caller.
        unsafe {
            match second.op {
                ChainOp::Add => groups_by::<V>(one, arguments, fetches, out, V::add),
                ChainOp::Multiply => groups_by::<V>(one, arguments, fetches, out, V::multiply),
                ChainOp::Subtract if second.scalar => groups::<V, true>(
                    arguments,
                    fetches,
                    out,
                    #[inline(always)]
                    |one, x| x.subtract(one),
                ),
                ChainOp::Subtract => groups_by::<V>(one, arguments, fetches, out, V::subtract),
                ChainOp::SubtractFrom
                | ChainOp::Divide
                | ChainOp::DivideInto
                | ChainOp::Maximum
                | ChainOp::Minimum
                | ChainOp::PlusNext
                | ChainOp::MinusNext
                | ChainOp::TimesNext
                | ChainOp::Square
                | ChainOp::Negate
                | ChainOp::Abs
                | ChainOp::Sqrt
                | ChainOp::Exp
                | ChainOp::Tanh => 0,
            }
        }
    }
}

/// [`groups`], where `one` says whether the first argument is one value.
///
/// # Safety
/// As for [`groups`].
#[inline(always)]
unsafe fn groups_by<V: Vector>(
    one: bool,
    arguments: [&Link<'_, V::Element>; 2],
    fetches: bool,
    out: &mut [V::Element],
    op: impl Fn(V, V) -> V,
) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe {
        match one {
            false => groups::<V, false>(arguments, fetches, out, op),
            true => groups::<V, true>(arguments, fetches, out, op),
        }
    }
}

/// exp of `op` of two arguments, for the whole groups of a row. Returns the number of their elements. With
/// `ONE`, the first argument is one value, which stays in a register; otherwise it is a vector. The second
/// one is a vector.
///
/// # Safety
/// As for [`Row`].
#[inline(always)]
unsafe fn groups<V: Vector, const ONE: bool>(
    [first, second]: [&Link<'_, V::Element>; 2],
    fetches: bool,
    out: &mut [V::Element],
    op: impl Fn(V, V) -> V,
) -> usize {
    let size = GROUP * V::WIDTH;
    let (mut at, end) = (0, out.len() / size * size);
    // SAFETY: the caller guarantees the instructions. A row has an element.
    let one = unsafe { V::splat(first.values[0]) };
    while at < end {
        if fetches {
            let ahead = at + const { ahead::<V::Element>() };
            fetch::<V, GROUP>((first.values, 0, ONE), [0, ahead]);
            fetch::<V, GROUP>((second.values, 0, false), [0, ahead]);
        }
        // SAFETY: the group is inside `out`, and so inside both arguments.
        unsafe {
            let mut a = if ONE { [one; GROUP] } else { read_vectors::<V>(first, at) };
            let b = read_vectors::<V>(second, at);
            counted!(k in GROUP => {
                a[k] = op(a[k], b[k]);
            });
            let a = exp::<V, GROUP>(a);
            let to = out.as_mut_ptr().add(at);
            counted!(k in GROUP => {
                a[k].store(to.add(k * V::WIDTH));
            });
        }
        at += size;
    }
    end
}

/// A group of a vector argument, from element `at` on.
///
/// # Safety
/// The machine has the instructions of `V`, and the argument has the elements.
#[inline(always)]
unsafe fn read_vectors<V: Vector>(link: &Link<'_, V::Element>, at: usize) -> [V; GROUP] {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let from = link.values.as_ptr().add(at);
        let mut vectors = [V::load(from); GROUP];
        counted!(k in GROUP => {
            vectors[k] = V::load(from.add(k * V::WIDTH));
        });
        vectors
    }
}
