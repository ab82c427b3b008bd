//! exp of a sum, a difference or a product, such as `exp(x * y)` and softmax's `exp(x - max)`: the commonest
//! chains with exp, as one loop each. The constants of exp stay in registers, while a chain, which takes its
//! links one after another for every group of vectors, loads them for each. (On an Intel Xeon of model 106,
//! exp(x*y) mostly takes 0.9 to 0.95 of the time, `benches/quick`.)

use super::chain::{ChainOp, Link};
use super::group::{ahead, counted, exp, fetch, read};
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
        let arguments = [first, second];
        // SAFETY: guaranteed by the caller.
        unsafe {
            match second.op {
                ChainOp::Add => groups::<V>(arguments, fetches, out, V::add),
                ChainOp::Subtract => groups::<V>(arguments, fetches, out, V::subtract),
                ChainOp::Multiply => groups::<V>(arguments, fetches, out, V::multiply),
                ChainOp::SubtractFrom
                | ChainOp::Divide
                | ChainOp::DivideInto
                | ChainOp::Maximum
                | ChainOp::Minimum
                | ChainOp::PlusNext
                | ChainOp::MinusNext
                | ChainOp::TimesNext
                | ChainOp::Negate
                | ChainOp::Abs
                | ChainOp::Sqrt
                | ChainOp::Exp => 0,
            }
        }
    }
}

/// exp of `op` of two arguments, for the whole groups of a row. Returns the number of their elements.
///
/// # Safety
/// As for [`Row`].
#[inline(always)]
unsafe fn groups<V: Vector>(
    [first, second]: [&Link<'_, V::Element>; 2],
    fetches: bool,
    out: &mut [V::Element],
    op: impl Fn(V, V) -> V,
) -> usize {
    let size = GROUP * V::WIDTH;
    let (mut at, end) = (0, out.len() / size * size);
    while at < end {
        if fetches {
            let ahead = at + const { ahead::<V::Element>() };
            fetch::<V, GROUP>((first.values, 0, first.scalar), [0, ahead]);
            fetch::<V, GROUP>((second.values, 0, second.scalar), [0, ahead]);
        }
        // SAFETY: the group is inside `out`, and so inside both arguments.
        unsafe {
            let mut a = read::<V, GROUP, 1>(first, [0, at]);
            let b = read::<V, GROUP, 1>(second, [0, at]);
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
