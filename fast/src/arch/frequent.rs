//! Frequent chains, each written out as one loop. A chain takes a jump and a load for each link and group of
//! vectors, even if it reads an operand again, and the loop over a row begins anew for each row. In a loop
//! of its own, an operand that is read again and the values of a row stay in registers.
//!
//! There is a loop for the operations of some links and for what their arguments are, in this notation: `V`
//! is a vector and `S` one value for a row. A number is an argument again, counted from the first one of the
//! chain, which is 0. `N` means that there is no argument.
//!
//! | links | for example |
//! |---|---|
//! | `V; Subtract S; Multiply S; Multiply V; Add V` | `(x - m) * r * g + b` |
//! | `S; Multiply V; Add S; Multiply 1; Add S` | `(a * x + b) * x + c` |
//! | `V; Multiply 0; TimesNext V; Add 2` | `x * x + y * y` |
//! | `V; Subtract S; Exp N` | softmax's `exp(x - max)` |
//!
//! A loop may have one exp, and no other function that takes long.

use super::chain::{ChainOp, Link};
use super::few::{Magnitude, Negated, Root, Squared, Value, value};
use super::group::{ChainVector, DivideInto, SubtractFrom, counted};
use super::ops::{Add, Maximum, Minimum, Multiply, Subtract};
use super::simd::{Section, Simd};
use super::stream::LINE;
use std::marker::PhantomData;

/// The vectors that are computed together.
pub(super) const GROUP: usize = 4;

/// The most links of a loop.
const LINKS: usize = 6;

/// What the argument of a link is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Class {
    Vector,
    Scalar,
    /// The same vector as that of an earlier link. The first argument is that of link 0.
    Again(usize),
    Nothing,
}

/// The bits of a link in a key.
const BITS: u32 = 9;

/// A key, followed by a link. The key of no links is 1.
pub(super) const fn with(key: u64, op: ChainOp, class: Class) -> u64 {
    let class = match class {
        Class::Again(link) => link as u64,
        Class::Vector => 13,
        Class::Scalar => 14,
        Class::Nothing => 15,
    };
    key << BITS | (op as u64) << 4 | class
}

const _: () = assert!((LINKS + 1) * (BITS as usize) < 64 && (ChainOp::Tanh as u32) < 1 << (BITS - 4));

/// The key of a chain that is not too long. `one_row` says that there is no other row.
#[inline(always)]
fn key<T>(first: &Link<'_, T>, links: &[Link<'_, T>], one_row: bool) -> Option<u64> {
    if !(1..=LINKS).contains(&links.len()) {
        return None;
    }
    let mut key = with(1, ChainOp::Add, if first.scalar { Class::Scalar } else { Class::Vector });
    for (at, link) in links.iter().enumerate() {
        let class = if link.op.is_unary() {
            Class::Nothing
        } else if link.scalar {
            Class::Scalar
        } else if first.is_same(link, one_row) {
            Class::Again(0)
        } else {
            let is_same = |earlier: &Link<'_, T>| !earlier.op.is_unary() && earlier.is_same(link, one_row);
            links[..at].iter().position(is_same).map_or(Class::Vector, |at| Class::Again(at + 1))
        };
        key = with(key, link.op, class);
    }
    Some(key)
}

/// A chain with a loop of its own.
trait Frequent {
    const KEY: u64;
    /// What the first argument is, and that of each link.
    const CLASSES: &'static [Class];
    /// The value of all links, or of those in front of exp.
    type Value: Value;
    /// Whether one of the links is exp.
    const HAS_EXP: bool;
    /// What the links after exp make of its value; `()` if there is no exp.
    type After: Value;
}

/// Calls another macro with the chains.
macro_rules! chains {
    ($macro:ident $arguments:tt) => {
        $macro! {
            $arguments
            // One value or two vectors, scaled and moved.
            [V; Multiply S; Add S]
            [V; Multiply S; Add V]
            [V; Multiply V; Add V]
            [V; Multiply V; Add S]
            [V; Subtract S; Multiply S]
            [V; Add V; Multiply S]
            [V; Add V; Multiply S; Subtract S]
            [V; Add S; Multiply S; Subtract S]
            [V; Subtract V; Multiply S; Add 1]
            // Normalizations.
            [V; Subtract S; Multiply S; Multiply V; Add V]
            [V; Subtract S; Multiply S; Multiply S; Add S]
            // Sums of products.
            [V; Multiply S; TimesNext V; Add S]
            [V; Multiply S; TimesNext V; Add S; Add V]
            [V; Multiply S; TimesNext V; Add S; Add S]
            // Squares.
            [V; Multiply 0; Add S]
            [V; Multiply 0; Add V]
            [V; Multiply 0; TimesNext V; Add 2]
            [V; Multiply 0; TimesNext S; Add S]
            [V; Subtract V; Square N]
            [V; Subtract V; Square N; Multiply S]
            [V; Subtract S; Square N; Multiply V]
            // Lengths and distances.
            [V; Multiply 0; TimesNext V; Add 2; Sqrt N]
            [V; Multiply 0; Add S; Sqrt N]
            [V; Subtract V; Abs N]
            [V; Subtract S; Abs N]
            [S; Subtract V; Abs N]
            // Polynomials.
            [V; Multiply S; Add S; Multiply 0; Add S]
            [V; Multiply S; Add S; Multiply 0; Add S; Multiply 0]
            [S; Multiply V; Add S; Multiply 1; Add S]
            [S; Multiply V; Add S; Multiply 1; Add S; Multiply 1]
            [S; Multiply V; Add S; Multiply 1; Add S; Multiply 1; Add S]
            // What surrounds tanh in gelu, and the derivative of tanh.
            [V; Multiply 0; Multiply 0; Multiply S; Add 0; Multiply S]
            [S; Multiply V; PlusNext S; Multiply V]
            [V; Multiply 0; SubtractFrom S; Multiply V]
            // Two operands, each read twice or more.
            [V; Subtract V; PlusNext 0; Multiply 1; Multiply 0]
            [V; Subtract S; PlusNext 0; Multiply S; Multiply 0]
            [V; Add V; Multiply 0; Subtract 1; Multiply 0]
            [V; Add S; Multiply 0; Subtract S; Multiply 0]
            [V; Minimum V; TimesNext 0; Maximum 1]
            [V; Minimum S; TimesNext 0; Maximum S]
        }
    };
}

/// Calls another macro with the chains with exp.
macro_rules! chains_with_exp {
    ($macro:ident $arguments:tt) => {
        $macro! {
            $arguments
            [V; Exp N]
            [V; Add S; Exp N]
            [V; Add V; Exp N]
            [V; Subtract S; Exp N]
            [V; Subtract V; Exp N]
            [V; Multiply S; Exp N]
            [V; Multiply V; Exp N]
            [S; Add V; Exp N]
            [S; Subtract V; Exp N]
            [S; Multiply V; Exp N]
            // Sigmoid and swish.
            [V; Negate N; Exp N; Add S; DivideInto S]
            [V; Negate N; Exp N; Add S; DivideInto 0]
        }
    };
}

/// The class that is noted in a list.
macro_rules! class {
    (V) => {
        Class::Vector
    };
    (S) => {
        Class::Scalar
    };
    (N) => {
        Class::Nothing
    };
    ($link:literal) => {
        Class::Again($link)
    };
}

#[cfg(test)]
pub(super) use {chains, chains_with_exp, class};

/// Computes the rows by the loop for the links that were found, if they are in the list.
macro_rules! loops {
    (
        ($level:ty, $vector:ty, $key:expr, $first:expr, $links:expr, ($rows:expr, $width:expr), $out:expr)
        $([$first_class:tt; $($op:ident $class:tt);*])*
    ) => { $(
        {
            struct Listed;
            impl Frequent for Listed {
                const KEY: u64 = {
                    let key = with(1, ChainOp::Add, class!($first_class));
                    $(let key = with(key, ChainOp::$op, class!($class));)*
                    key
                };
                const CLASSES: &'static [Class] = &[class!($first_class), $(class!($class)),*];
                type Value = value!((); $($op)*);
                const HAS_EXP: bool = have_exp(&[$(ChainOp::$op),*]);
                type After = after!(1; $($op)*);
            }
            let has_loop = const { <$vector>::ARE_FLOATS || are_of_integers(&[$(ChainOp::$op),*]) };
            if has_loop && $key == Listed::KEY {
                let mut arguments = [$first; Listed::CLASSES.len()];
                for (argument, link) in arguments[1..].iter_mut().zip($links) {
                    *argument = link;
                }
                let rows = Rows::<$vector, Listed, { Listed::CLASSES.len() }> {
                    arguments, rows: $rows, width: $width, out: $out, links: PhantomData,
                };
                <$level>::section(rows);
                #[cfg(test)]
                TAKEN.with(|taken| taken.set((taken.get().0 + 1, $key)));
                return true;
            }
        }
    )* };
}

/// The [`Value`] that the links after exp make of it. `$at` counts the links.
macro_rules! after {
    ($at:expr;) => { () };
    ($at:expr; Exp $($more:ident)*) => { value!(Taken<{ $at }>; $($more)*) };
    ($at:expr; $op:ident $($more:ident)*) => { after!($at + 1; $($more)*) };
}

/// The argument at an index.
struct Taken<const AT: usize>;

impl<const AT: usize> Value for Taken<AT> {
    const LAST: usize = AT;

    #[inline(always)]
    fn of<V: ChainVector, const N: usize>(x: &[V; N]) -> V {
        x[AT]
    }
}

/// Whether exp is among some operations.
const fn have_exp(ops: &[ChainOp]) -> bool {
    match ops {
        [] => false,
        [ChainOp::Exp, ..] => true,
        [_, more @ ..] => have_exp(more),
    }
}

/// Whether integers have all of some operations.
const fn are_of_integers(ops: &[ChainOp]) -> bool {
    let mut at = 0;
    while at < ops.len() {
        if !ops[at].is_of_integers() {
            return false;
        }
        at += 1;
    }
    true
}

/// Computes the rows of a chain, if there is a loop for it: one without exp or, with `HAS_EXP`, one with it.
/// Returns whether it did.
///
/// # Safety
/// The machine has the instructions of `V`. `out` has `rows` rows of `width` elements, at least those of a
/// vector. For each row, every vector argument has as many elements and every scalar has one.
#[inline(always)]
pub(super) unsafe fn rows<L: Simd, V: ChainVector, const HAS_EXP: bool>(
    first: &Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    (rows, width): (usize, usize),
    out: &mut [V::Element],
) -> bool {
    // Rows of one or two whole vectors of 64 bytes, of which a group of a chain takes many, gain nothing:
    // (x-m)*r*g+b over 16x16 takes 1.2 times as long in f64 and 1.3 in f32.
    if const { !HAS_EXP && size_of::<V>() == LINE } && width <= 2 * V::WIDTH && width.is_multiple_of(V::WIDTH)
    {
        return false;
    }
    let Some(key) = key(first, links, rows == 1) else { return false };
    // SAFETY: guaranteed by the caller.
    unsafe {
        if const { HAS_EXP } {
            chains_with_exp! { loops (L, V, key, first, links, (rows, width), out) }
        } else {
            chains! { loops (L, V, key, first, links, (rows, width), out) }
        }
    }
    false
}

/// The rows of a chain.
///
/// `out` has `rows` rows of `width` elements, at least those of a vector. For each row, every argument that
/// is a vector has as many elements and every scalar has one.
struct Rows<'a, V: ChainVector, F, const N: usize> {
    arguments: [&'a Link<'a, V::Element>; N],
    rows: usize,
    width: usize,
    out: &'a mut [V::Element],
    links: PhantomData<F>,
}

impl<V: ChainVector, F: Frequent, const N: usize> Section for Rows<'_, V, F, N> {
    type Result = ();

    #[inline(always)]
    unsafe fn compute(self) {
        const {
            let last = if F::HAS_EXP { F::After::LAST } else { F::Value::LAST };
            assert!(N == F::CLASSES.len() && N == last + 1 && N <= LINKS + 1 && V::WIDTH > 1);
        }
        let Rows { arguments, rows, width, out, .. } = self;
        let (mut from, mut steps) = ([arguments[0].values.as_ptr(); N], [0; N]);
        counted!(n in N => {
            (from[n], steps[n]) = (arguments[n].values.as_ptr(), arguments[n].step);
        });
        let mut to = out.as_mut_ptr();
        // SAFETY: guaranteed by the caller. Every vector is inside its row.
        unsafe {
            let mut ones = [V::spread(V::Element::default()); N];
            for _ in 0..rows {
                counted!(n in N => {
                    if matches!(F::CLASSES[n], Class::Scalar) {
                        ones[n] = V::spread(*from[n]);
                    }
                });
                let mut at = 0;
                while width - at >= GROUP * V::WIDTH {
                    group::<V, F, N, GROUP>(&from, &ones, at, to.add(at));
                    at += GROUP * V::WIDTH;
                }
                // The last vector ends with the row.
                while at < width {
                    let here = at.min(width - V::WIDTH);
                    group::<V, F, N, 1>(&from, &ones, here, to.add(here));
                    at += V::WIDTH;
                }
                to = to.wrapping_add(width);
                counted!(n in N => {
                    from[n] = from[n].wrapping_add(steps[n]);
                });
            }
        }
    }
}

/// `U` vectors of a row, from element `at` on, which are stored at `to`.
///
/// # Safety
/// The machine has the instructions of `V`. Each argument that is a vector has `U * V::WIDTH` elements from
/// `from[n] + at` on, and each scalar is in `ones`. `to` points to `U * V::WIDTH` writable elements.
#[inline(always)]
unsafe fn group<V: ChainVector, F: Frequent, const N: usize, const U: usize>(
    from: &[*const V::Element; N],
    ones: &[V; N],
    at: usize,
    to: *mut V::Element,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let mut a = [ones[0]; U];
        counted!(k in U => {
            a[k] = F::Value::of(&arguments::<V, F, N>(from, ones, at + k * V::WIDTH));
        });
        if const { F::HAS_EXP } {
            a = V::exp(a);
            counted!(k in U => {
                let mut x = arguments::<V, F, N>(from, ones, at + k * V::WIDTH);
                // exp has no argument, so its place among them is free.
                x[const { F::Value::LAST + 1 }] = a[k];
                a[k] = F::After::of(&x);
            });
        }
        counted!(k in U => {
            a[k].write(to.add(k * V::WIDTH));
        });
    }
}

/// One vector of each argument of a row, from element `at` on. What is not used is not read.
///
/// # Safety
/// The machine has the instructions of `V`. From the address of each argument that is a vector, the row has
/// the elements.
#[inline(always)]
unsafe fn arguments<V: ChainVector, F: Frequent, const N: usize>(
    from: &[*const V::Element; N],
    ones: &[V; N],
    at: usize,
) -> [V; N] {
    let mut x = *ones;
    counted!(n in N => {
        match F::CLASSES[n] {
            // SAFETY: guaranteed by the caller.
            Class::Vector => x[n] = unsafe { V::read(from[n].add(at)) },
            Class::Again(link) => x[n] = x[link],
            Class::Scalar | Class::Nothing => {}
        }
    });
    x
}

#[cfg(test)]
thread_local! {
    /// How often a loop was taken on this thread, and the key of the last one, for tests: the results are
    /// those of any chain.
    pub(super) static TAKEN: std::cell::Cell<(usize, u64)> = const { std::cell::Cell::new((0, 0)) };
}
