//! Two to four calls of integers as one loop. A chain takes its links one after another for every group of
//! vectors; with short vectors, that takes longer than some calls. There are loops for the commonest groups
//! of links:
//!
//! | links | for example |
//! |---|---|
//! | any two | `(a + b) - c` |
//! | three or four, of which every second is a product, as in Horner's scheme | `((a * b + c) * d) - e` |
//! | a sum or a difference of two products | `a * b + c * d` |
//! | a product of two sums or differences | `(a + b) * (c - d)` |

use super::chain::{ChainOp, Link};
use super::group::{ChainVector, counted};

/// The vectors that are computed together.
const GROUP: usize = 4;

/// Calls [`groups`] with the operations of the links as constants, if they are in the list, so that each list
/// of operations is compiled into a loop of its own.
macro_rules! loops {
    ($arguments:expr, $out:expr, $found:expr; $([$($op:ident)*])*) => {
        match $found {
            $([$(ChainOp::$op),*] => groups::<V, _, _>($arguments, [$(ChainOp::$op),*], $out),)*
            _ => 0,
        }
    };
}

/// Computes the whole groups of one row, into its elements, `out`, if there is a loop for the links. Returns
/// how many elements these are.
///
/// # Safety
/// The machine has the instructions of `V`. In the row, every vector argument has as many elements as `out`,
/// and every scalar has one.
#[inline(always)]
pub(super) unsafe fn row<V: ChainVector>(
    first: &Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    out: &mut [V::Element],
) -> usize {
    if out.len() < GROUP * V::WIDTH {
        return 0;
    }
    // SAFETY: guaranteed by the caller. No link of a loop is unary, so all of them have arguments.
    unsafe {
        match links {
            [b, c] => loops! {
                [first, b, c], out, [b.op, c.op];
                [Add Add] [Add Subtract] [Add SubtractFrom] [Add Multiply]
                [Subtract Add] [Subtract Subtract] [Subtract SubtractFrom] [Subtract Multiply]
                [Multiply Add] [Multiply Subtract] [Multiply SubtractFrom] [Multiply Multiply]
            },
            [b, c, d] => loops! {
                [first, b, c, d], out, [b.op, c.op, d.op];
                [Multiply TimesNext Add] [Multiply TimesNext Subtract]
                [Add PlusNext Multiply] [Add MinusNext Multiply]
                [Subtract PlusNext Multiply] [Subtract MinusNext Multiply]
                [Multiply Add Multiply] [Multiply Subtract Multiply] [Multiply SubtractFrom Multiply]
                [Add Multiply Add] [Add Multiply Subtract] [Add Multiply SubtractFrom]
                [Subtract Multiply Add] [Subtract Multiply Subtract] [Subtract Multiply SubtractFrom]
            },
            [b, c, d, e] => loops! {
                [first, b, c, d, e], out, [b.op, c.op, d.op, e.op];
                [Add Multiply Add Multiply] [Add Multiply Subtract Multiply]
                [Add Multiply SubtractFrom Multiply] [Subtract Multiply Add Multiply]
                [Subtract Multiply Subtract Multiply] [Subtract Multiply SubtractFrom Multiply]
                [Multiply Add Multiply Add] [Multiply Add Multiply Subtract]
                [Multiply Add Multiply SubtractFrom] [Multiply Subtract Multiply Add]
                [Multiply Subtract Multiply Subtract] [Multiply Subtract Multiply SubtractFrom]
                [Multiply SubtractFrom Multiply Add] [Multiply SubtractFrom Multiply Subtract]
                [Multiply SubtractFrom Multiply SubtractFrom]
            },
            _ => 0,
        }
    }
}

/// The values of some operations, for the whole groups of a row. Returns the number of their elements.
///
/// # Safety
/// As for [`row`]. No operation is unary.
#[inline(always)]
unsafe fn groups<V: ChainVector, const N: usize, const OPS: usize>(
    arguments: [&Link<'_, V::Element>; N],
    ops: [ChainOp; OPS],
    out: &mut [V::Element],
) -> usize {
    let size = GROUP * V::WIDTH;
    let end = out.len() / size * size;
    // SAFETY: a group is inside `out`, and so inside every vector argument. A scalar is read from `spread`,
    // always at its start, which has as many elements as a group.
    unsafe {
        let mut spread = [[V::spread(arguments[0].values[0]); GROUP]; N];
        let mut from = [(arguments[0].values.as_ptr(), usize::MAX); N];
        counted!(k in N => {
            spread[k] = [V::spread(arguments[k].values[0]); GROUP];
        });
        // Another loop, because `spread` must not change after a pointer into it is taken.
        counted!(k in N => {
            from[k] = match arguments[k].scalar {
                true => (spread[k].as_ptr().cast(), 0),
                false => (arguments[k].values.as_ptr(), usize::MAX),
            };
        });
        let to = out.as_mut_ptr();
        let mut at = 0;
        while at < end {
            counted!(k in GROUP => {
                let mut x = [V::read(from[0].0.add((at & from[0].1) + k * V::WIDTH)); N];
                counted!(n in N => {
                    x[n] = V::read(from[n].0.add((at & from[n].1) + k * V::WIDTH));
                });
                value(x, ops).write(to.add(at + k * V::WIDTH));
            });
            at += size;
        }
    }
    end
}

/// The value of some operations, which take the arguments one after another.
#[inline(always)]
fn value<V: ChainVector, const N: usize, const OPS: usize>(x: [V; N], ops: [ChainOp; OPS]) -> V {
    const { assert!(N == OPS + 1) };
    let mut a = x[0];
    // The argument of the next operation, if it is made of two.
    let mut made = None;
    counted!(k in OPS => {
        let b = x[k + 1];
        match ops[k] {
            ChainOp::PlusNext if k + 1 < OPS => made = Some(V::binary(ChainOp::Add, b, x[k + 2])),
            ChainOp::MinusNext if k + 1 < OPS => made = Some(V::binary(ChainOp::Subtract, b, x[k + 2])),
            ChainOp::TimesNext if k + 1 < OPS => made = Some(V::binary(ChainOp::Multiply, b, x[k + 2])),
            op => {
                let b = if let Some(two) = made { two } else { b };
                (a, made) = (V::binary(op, a, b), None);
            }
        }
    });
    a
}
