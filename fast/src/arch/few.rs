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
use std::marker::PhantomData;

/// The vectors that are computed together.
const GROUP: usize = 4;

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
    // SAFETY: guaranteed by the caller.
    unsafe {
        match links {
            [b, c] => two::<V>([first, b, c], out),
            [b, c, d] => three::<V>([first, b, c, d], out),
            [b, c, d, e] => four::<V>([first, b, c, d, e], out),
            _ => 0,
        }
    }
}

/// # Safety
/// As for [`row`].
#[inline(always)]
unsafe fn two<V: ChainVector>(arguments: [&Link<'_, V::Element>; 3], out: &mut [V::Element]) -> usize {
    /// By the second operation.
    ///
    /// # Safety
    /// As for [`row`].
    #[inline(always)]
    unsafe fn by<V: ChainVector, F: Op>(
        arguments: [&Link<'_, V::Element>; 3],
        out: &mut [V::Element],
    ) -> usize {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match arguments[2].op {
                ChainOp::Add => groups::<V, 3, Two<F, Sum>>(arguments, out),
                ChainOp::Subtract => groups::<V, 3, Two<F, Difference>>(arguments, out),
                ChainOp::SubtractFrom => groups::<V, 3, Two<F, Reversed>>(arguments, out),
                ChainOp::Multiply => groups::<V, 3, Two<F, Product>>(arguments, out),
                _ => 0,
            }
        }
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        match arguments[1].op {
            ChainOp::Add => by::<V, Sum>(arguments, out),
            ChainOp::Subtract => by::<V, Difference>(arguments, out),
            ChainOp::Multiply => by::<V, Product>(arguments, out),
            _ => 0,
        }
    }
}

/// # Safety
/// As for [`row`].
#[inline(always)]
unsafe fn three<V: ChainVector>(arguments: [&Link<'_, V::Element>; 4], out: &mut [V::Element]) -> usize {
    use ChainOp::{Add, MinusNext, Multiply, PlusNext, Subtract, SubtractFrom, TimesNext};
    let [_, b, c, d] = arguments;
    // SAFETY: guaranteed by the caller.
    unsafe {
        match (b.op, c.op, d.op) {
            (Multiply, TimesNext, Add) => groups::<V, 4, Joined<Product, Product, Sum>>(arguments, out),
            (Multiply, TimesNext, Subtract) => {
                groups::<V, 4, Joined<Product, Product, Difference>>(arguments, out)
            }
            (Add, PlusNext, Multiply) => groups::<V, 4, Joined<Sum, Sum, Product>>(arguments, out),
            (Add, MinusNext, Multiply) => groups::<V, 4, Joined<Sum, Difference, Product>>(arguments, out),
            (Subtract, PlusNext, Multiply) => {
                groups::<V, 4, Joined<Difference, Sum, Product>>(arguments, out)
            }
            (Subtract, MinusNext, Multiply) => {
                groups::<V, 4, Joined<Difference, Difference, Product>>(arguments, out)
            }
            (Multiply, Add, Multiply) => groups::<V, 4, Three<Product, Sum, Product>>(arguments, out),
            (Multiply, Subtract, Multiply) => {
                groups::<V, 4, Three<Product, Difference, Product>>(arguments, out)
            }
            (Multiply, SubtractFrom, Multiply) => {
                groups::<V, 4, Three<Product, Reversed, Product>>(arguments, out)
            }
            (Add, Multiply, Add) => groups::<V, 4, Three<Sum, Product, Sum>>(arguments, out),
            (Add, Multiply, Subtract) => groups::<V, 4, Three<Sum, Product, Difference>>(arguments, out),
            (Add, Multiply, SubtractFrom) => groups::<V, 4, Three<Sum, Product, Reversed>>(arguments, out),
            (Subtract, Multiply, Add) => groups::<V, 4, Three<Difference, Product, Sum>>(arguments, out),
            (Subtract, Multiply, Subtract) => {
                groups::<V, 4, Three<Difference, Product, Difference>>(arguments, out)
            }
            (Subtract, Multiply, SubtractFrom) => {
                groups::<V, 4, Three<Difference, Product, Reversed>>(arguments, out)
            }
            _ => 0,
        }
    }
}

/// # Safety
/// As for [`row`].
#[inline(always)]
unsafe fn four<V: ChainVector>(arguments: [&Link<'_, V::Element>; 5], out: &mut [V::Element]) -> usize {
    /// After a product, by the last operation.
    ///
    /// # Safety
    /// As for [`row`].
    #[inline(always)]
    unsafe fn by<V: ChainVector, G: Op>(
        arguments: [&Link<'_, V::Element>; 5],
        out: &mut [V::Element],
    ) -> usize {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match arguments[4].op {
                ChainOp::Add => groups::<V, 5, Four<Product, G, Product, Sum>>(arguments, out),
                ChainOp::Subtract => groups::<V, 5, Four<Product, G, Product, Difference>>(arguments, out),
                ChainOp::SubtractFrom => groups::<V, 5, Four<Product, G, Product, Reversed>>(arguments, out),
                _ => 0,
            }
        }
    }
    /// After a sum or a difference, by the third operation.
    ///
    /// # Safety
    /// As for [`row`].
    #[inline(always)]
    unsafe fn after<V: ChainVector, F: Op>(
        arguments: [&Link<'_, V::Element>; 5],
        out: &mut [V::Element],
    ) -> usize {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match arguments[3].op {
                ChainOp::Add => groups::<V, 5, Four<F, Product, Sum, Product>>(arguments, out),
                ChainOp::Subtract => groups::<V, 5, Four<F, Product, Difference, Product>>(arguments, out),
                ChainOp::SubtractFrom => groups::<V, 5, Four<F, Product, Reversed, Product>>(arguments, out),
                _ => 0,
            }
        }
    }
    use ChainOp::{Add, Multiply, Subtract, SubtractFrom};
    let [_, b, c, d, e] = arguments;
    // SAFETY: guaranteed by the caller.
    unsafe {
        match (b.op, c.op, d.op, e.op) {
            (Multiply, Add, Multiply, _) => by::<V, Sum>(arguments, out),
            (Multiply, Subtract, Multiply, _) => by::<V, Difference>(arguments, out),
            (Multiply, SubtractFrom, Multiply, _) => by::<V, Reversed>(arguments, out),
            (Add, Multiply, _, Multiply) => after::<V, Sum>(arguments, out),
            (Subtract, Multiply, _, Multiply) => after::<V, Difference>(arguments, out),
            _ => 0,
        }
    }
}

/// The values of a formula, for the whole groups of a row. Returns the number of their elements.
///
/// # Safety
/// As for [`row`].
#[inline(always)]
unsafe fn groups<V: ChainVector, const N: usize, F: Formula<N>>(
    arguments: [&Link<'_, V::Element>; N],
    out: &mut [V::Element],
) -> usize {
    let size = GROUP * V::WIDTH;
    let end = out.len() / size * size;
    // SAFETY: a group is inside `out`, and so inside every vector argument. A scalar is read from `spread`,
    // always at its start, which has as many elements as a group.
    unsafe {
        let spread = arguments.map(|link| [V::spread(link.values[0]); GROUP]);
        let mut from = [(arguments[0].values.as_ptr(), usize::MAX); N];
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
                F::of(x).write(to.add(at + k * V::WIDTH));
            });
            at += size;
        }
    }
    end
}

/// A call of two vectors.
trait Op {
    const OP: ChainOp;

    #[inline(always)]
    fn of<V: ChainVector>(a: V, b: V) -> V {
        V::binary(Self::OP, a, b)
    }
}

macro_rules! ops {
    ($($name:ident $op:ident;)*) => { $(
        struct $name;
        impl Op for $name {
            const OP: ChainOp = ChainOp::$op;
        }
    )* };
}
ops! {
    Sum Add;
    Difference Subtract;
    Reversed SubtractFrom;
    Product Multiply;
}

/// Some calls of `N` arguments.
trait Formula<const N: usize> {
    fn of<V: ChainVector>(arguments: [V; N]) -> V;
}

/// `g(f(a, b), c)`
struct Two<F, G>(PhantomData<(F, G)>);
/// `h(g(f(a, b), c), d)`
struct Three<F, G, H>(PhantomData<(F, G, H)>);
/// `i(h(g(f(a, b), c), d), e)`
struct Four<F, G, H, I>(PhantomData<(F, G, H, I)>);
/// `g(f(a, b), h(c, d))`
struct Joined<F, H, G>(PhantomData<(F, H, G)>);

macro_rules! formulas {
    ($($name:ident<$($op:ident),*>: $count:literal, |$arguments:pat_param| $value:expr;)*) => { $(
        impl<$($op: Op),*> Formula<$count> for $name<$($op),*> {
            #[inline(always)]
            fn of<V: ChainVector>($arguments: [V; $count]) -> V {
                $value
            }
        }
    )* };
}
formulas! {
    Two<F, G>: 3, |[a, b, c]| G::of(F::of(a, b), c);
    Three<F, G, H>: 4, |[a, b, c, d]| H::of(G::of(F::of(a, b), c), d);
    Four<F, G, H, I>: 5, |[a, b, c, d, e]| I::of(H::of(G::of(F::of(a, b), c), d), e);
    Joined<F, H, G>: 4, |[a, b, c, d]| G::of(F::of(a, b), H::of(c, d));
}
