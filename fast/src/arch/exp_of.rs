//! exp of a sum, a difference or a product, such as `exp(x * y)` and softmax's `exp(x - max)`: the commonest
//! chains with exp, as one loop each. The constants of exp stay in registers, while a chain, which takes its
//! links one after another for every group of vectors, loads them for each. (On an Intel Xeon of model 106,
//! exp(x*y) takes 0.84 to 0.96 of the time, `benches/quick`.)

use super::chain::{ChainOp, Link};
use super::group::{ahead, counted, exp, fetch, read};
use super::vector::Vector;

/// The vectors of a group.
const GROUP: usize = 4;

/// Computes one row, into its elements, `out`, if the chain is exp of a sum, difference or product and the
/// row has a group of vectors. Returns whether that is so. `fetches` says whether operands are prefetched.
///
/// # Safety
/// The machine has the instructions of `V`. In the row, every vector argument has as many elements as `out`,
/// and every scalar has one.
#[inline(always)]
pub(super) unsafe fn row<V: Vector>(
    (first, links): (&Link<'_, V::Element>, &[Link<'_, V::Element>]),
    fetches: bool,
    out: &mut [V::Element],
) -> bool {
    let [second, Link { op: ChainOp::Exp, .. }] = links else { return false };
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
            | ChainOp::Exp => false,
        }
    }
}

/// exp of `op` of two arguments, in groups. The last one ends with the row and overlaps the one before.
///
/// # Safety
/// As for [`row`].
#[inline(always)]
unsafe fn groups<V: Vector>(
    [first, second]: [&Link<'_, V::Element>; 2],
    fetches: bool,
    out: &mut [V::Element],
    op: impl Fn(V, V) -> V,
) -> bool {
    let (count, size) = (out.len(), GROUP * V::WIDTH);
    let Some(last) = count.checked_sub(size) else { return false };
    let mut at = 0;
    while at < count {
        let here = at.min(last);
        if fetches {
            let ahead = here + const { ahead::<V::Element>() };
            fetch::<V, GROUP>((first.values, 0, first.scalar), [0, ahead]);
            fetch::<V, GROUP>((second.values, 0, second.scalar), [0, ahead]);
        }
        // SAFETY: the group is inside `out`, and so inside both arguments.
        unsafe {
            let mut a = read::<V, GROUP, 1>(first, [0, here]);
            let b = read::<V, GROUP, 1>(second, [0, here]);
            counted!(k in GROUP => {
                a[k] = op(a[k], b[k]);
            });
            let a = exp::<V, GROUP>(a);
            let to = out.as_mut_ptr().add(here);
            counted!(k in GROUP => {
                a[k].store(to.add(k * V::WIDTH));
            });
        }
        at += size;
    }
    true
}
