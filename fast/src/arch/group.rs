//! What the links of a [`chain`](super::chain) do to a group of vectors, whose values stay in registers from
//! the first argument to the last link.

use super::chain::{ChainOp, Link, SUMS, WITH_FUNCTIONS};
use super::exp_of;
use super::ops::{Add, Divide, Maximum, Minimum, Multiply, Subtract};
use super::simd::Simd;
use super::stream::{LINE, prefetch};
use super::vector::{Vector, each};

/// Runs a block, which has no `continue`, for each number below a constant: a `for` over the vectors of a
/// group. Such a loop is compiled hundreds of times, and into each copy the functions of a range or an
/// iterator are inlined first: with `for`, here and in [`each`], compiling the crate for the tests takes 1.4
/// times as long.
macro_rules! counted {
    ($k:ident in $count:expr => $block:block) => {{
        let mut $k = 0;
        while $k < $count {
            $block
            $k += 1;
        }
    }};
}
pub(crate) use counted;

/// A vector of one level of which chains are made. Every [`Vector`] of floats is one, and so are the vectors
/// of [`integers`](super::integers).
pub(super) trait ChainVector: Copy {
    /// The element type, which is a vector for the elements that do not fill a whole one.
    type Element: ChainVector<Element = Self::Element> + Default;
    /// The number of elements.
    const WIDTH: usize;
    const ARE_FLOATS: bool;

    /// # Safety
    /// The machine has the level's instructions, and `from` points to `WIDTH` elements.
    unsafe fn read(from: *const Self::Element) -> Self;
    /// A value in every element.
    ///
    /// # Safety
    /// The machine has the level's instructions.
    unsafe fn spread(value: Self::Element) -> Self;
    /// # Safety
    /// `to` points to `WIDTH` writable elements.
    unsafe fn write(self, to: *mut Self::Element);
    /// Stores without going through the caches, on levels that can.
    ///
    /// # Safety
    /// `to` points to `WIDTH` writable elements and is aligned to the size of the vector.
    unsafe fn write_non_temporal(self, to: *mut Self::Element);

    /// The first elements of a row, if there is a loop for the chain. Returns their number. `fetches` says
    /// whether operands are prefetched, and `L` is the level of the vector.
    ///
    /// # Safety
    /// The machine has the level's instructions. In the row, every vector argument has as many elements as
    /// `out`, and every scalar has one.
    unsafe fn begin_row<L: Simd, const KIND: u8>(
        first: &Link<'_, Self::Element>,
        links: &[Link<'_, Self::Element>],
        fetches: bool,
        out: &mut [Self::Element],
    ) -> usize;

    fn add(self, b: Self) -> Self;
    fn subtract(self, b: Self) -> Self;
    fn multiply(self, b: Self) -> Self;

    // What integers do not have. They return `self`, and no limit.
    fn divide(self, b: Self) -> Self;
    fn maximum(self, b: Self) -> Self;
    fn minimum(self, b: Self) -> Self;
    /// `maximum`, for a `b` that is a number and not 0.
    fn at_least(self, b: Self) -> Self;
    /// `minimum`, likewise.
    fn at_most(self, b: Self) -> Self;
    /// Whether an element is a number and not 0.
    fn is_limit(value: Self::Element) -> bool;
    /// Whether it is 0, of either sign.
    fn is_zero(value: Self::Element) -> bool;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;

    fn negate(self) -> Self;
    fn exp<const U: usize>(a: [Self; U]) -> [Self; U];
    fn tanh<const U: usize>(a: [Self; U]) -> [Self; U];
}

/// A binary operation of a link, as a type. With a value of [`ChainOp`], the code of all operations would be
/// generated for each call, and all but one removed again.
pub(super) trait Fold {
    fn of<V: ChainVector>(a: V, b: V) -> V;
}

/// [`ChainOp::SubtractFrom`]
pub(super) struct SubtractFrom;
/// [`ChainOp::DivideInto`]
pub(super) struct DivideInto;
/// [`ChainOp::Maximum`] by a number other than 0.
pub(super) struct AtLeast;
/// [`ChainOp::Maximum`] by 0. Of two zeros, `at_least` keeps the first; their sum is the larger one.
pub(super) struct AtLeastZero;
/// [`ChainOp::Minimum`] by a number other than 0.
pub(super) struct AtMost;

macro_rules! folds {
    ($($op:ident: |$a:ident, $b:ident| $value:expr;)*) => { $(
        impl Fold for $op {
            #[inline(always)]
            fn of<V: ChainVector>($a: V, $b: V) -> V {
                $value
            }
        }
    )* };
}
folds! {
    Add: |a, b| a.add(b);
    Subtract: |a, b| a.subtract(b);
    SubtractFrom: |a, b| b.subtract(a);
    Multiply: |a, b| a.multiply(b);
    Divide: |a, b| a.divide(b);
    DivideInto: |a, b| b.divide(a);
    Maximum: |a, b| a.maximum(b);
    Minimum: |a, b| a.minimum(b);
    AtLeast: |a, b| a.at_least(b);
    AtLeastZero: |a, b| a.at_least(b).add(b);
    AtMost: |a, b| a.at_most(b);
}

impl<V: Vector> ChainVector for V {
    type Element = V::Element;
    const WIDTH: usize = V::WIDTH;
    const ARE_FLOATS: bool = true;

    #[inline(always)]
    unsafe fn read(from: *const V::Element) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { V::load(from) }
    }

    #[inline(always)]
    unsafe fn spread(value: V::Element) -> V {
        // SAFETY: guaranteed by the caller.
        unsafe { V::splat(value) }
    }

    #[inline(always)]
    unsafe fn write(self, to: *mut V::Element) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.store(to) }
    }

    #[inline(always)]
    unsafe fn write_non_temporal(self, to: *mut V::Element) {
        // SAFETY: guaranteed by the caller.
        unsafe { self.store_non_temporal(to) }
    }

    #[inline(always)]
    unsafe fn begin_row<L: Simd, const KIND: u8>(
        first: &Link<'_, V::Element>,
        links: &[Link<'_, V::Element>],
        fetches: bool,
        out: &mut [V::Element],
    ) -> usize {
        if const { KIND != WITH_FUNCTIONS } {
            return 0;
        }
        match exp_of::Row::<V>::of(first, links, fetches, out) {
            // SAFETY: guaranteed by the caller.
            Some(row) => unsafe { L::section(row) },
            None => 0,
        }
    }

    #[inline(always)]
    fn add(self, b: V) -> V {
        Vector::add(self, b)
    }

    #[inline(always)]
    fn subtract(self, b: V) -> V {
        Vector::subtract(self, b)
    }

    #[inline(always)]
    fn multiply(self, b: V) -> V {
        Vector::multiply(self, b)
    }

    #[inline(always)]
    fn divide(self, b: V) -> V {
        Vector::divide(self, b)
    }

    #[inline(always)]
    fn maximum(self, b: V) -> V {
        Vector::maximum(self, b)
    }

    #[inline(always)]
    fn minimum(self, b: V) -> V {
        Vector::minimum(self, b)
    }

    #[inline(always)]
    fn at_least(self, b: V) -> V {
        Vector::at_least(self, b)
    }

    #[inline(always)]
    fn at_most(self, b: V) -> V {
        Vector::at_most(self, b)
    }

    #[inline(always)]
    fn is_limit(value: V::Element) -> bool {
        let zero = V::Element::default();
        value.any_above(zero) || zero.any_above(value)
    }

    #[inline(always)]
    fn is_zero(value: V::Element) -> bool {
        let zero = V::Element::default();
        !value.any_outside(zero, zero)
    }

    #[inline(always)]
    fn abs(self) -> V {
        Vector::abs(self)
    }

    #[inline(always)]
    fn sqrt(self) -> V {
        Vector::sqrt(self)
    }

    #[inline(always)]
    fn negate(self) -> V {
        Vector::negate(self)
    }

    #[inline(always)]
    fn exp<const U: usize>(a: [V; U]) -> [V; U] {
        exp(a)
    }

    #[inline(always)]
    fn tanh<const U: usize>(a: [V; U]) -> [V; U] {
        tanh(a)
    }
}

/// How many elements ahead operands are prefetched.
pub(super) const fn ahead<T>() -> usize {
    2048 / size_of::<T>()
}

/// The values of `U` vectors of the chain: from element `at` on, the same number of each of `ROWS` rows from
/// `row` on.
///
/// # Safety
/// The machine has the instructions of `V`. From `at` on, each row of every vector argument has
/// `U / ROWS * V::WIDTH` elements; a scalar has one. Unless `KIND` is `SUMS`, unary links need no argument.
#[inline(always)]
pub(super) unsafe fn compute<V: ChainVector, const U: usize, const ROWS: usize, const KIND: u8>(
    first: &Link<'_, V::Element>,
    links: &[Link<'_, V::Element>],
    from: [usize; 2],
) -> [V; U] {
    // SAFETY: the caller guarantees that all offsets are inside.
    unsafe {
        let mut a = read::<V, U, ROWS>(first, from);
        let mut rest = links;
        if const { KIND == SUMS && U <= 8 && ROWS == 1 && V::WIDTH > 1 } {
            // One branch for three links, which pays off when few vectors share the branch.
            let (threes, left) = links.as_chunks::<3>();
            rest = left;
            for links in threes {
                match (links[0].scalar, links[1].scalar, links[2].scalar) {
                    (false, false, false) => add_three::<V, U, false, false, false>(&mut a, links, from),
                    (false, false, true) => add_three::<V, U, false, false, true>(&mut a, links, from),
                    (false, true, false) => add_three::<V, U, false, true, false>(&mut a, links, from),
                    (false, true, true) => add_three::<V, U, false, true, true>(&mut a, links, from),
                    (true, false, false) => add_three::<V, U, true, false, false>(&mut a, links, from),
                    (true, false, true) => add_three::<V, U, true, false, true>(&mut a, links, from),
                    (true, true, false) => add_three::<V, U, true, true, false>(&mut a, links, from),
                    (true, true, true) => add_three::<V, U, true, true, true>(&mut a, links, from),
                }
            }
        }
        if const { KIND == SUMS } {
            while !rest.is_empty() {
                // One loop for each kind of argument. The compiler would merge two branches into one, with
                // every argument in a register.
                while let [link, others @ ..] = rest
                    && !link.scalar
                {
                    fold_shared::<V, U, ROWS, Add>(&mut a, link, from);
                    rest = others;
                }
                while let [link, others @ ..] = rest
                    && link.scalar
                {
                    fold::<V, U, ROWS, true, Add>(&mut a, link, from);
                    rest = others;
                }
            }
            return a;
        }
        // The square of an operand, which is not read again. Beyond the first-level cache, that takes as long
        // as another operand.
        if let [link, others @ ..] = rest
            && link.op == ChainOp::Multiply
            && link.is_same(first, ROWS == 1 && from[0] == 0)
        {
            a = squares(a);
            rest = others;
        }
        while let [link, others @ ..] = rest {
            rest = others;
            // One jump for the operation and the kind of its argument.
            match (link.op, link.scalar) {
                (ChainOp::Add, false) => fold_shared::<V, U, ROWS, Add>(&mut a, link, from),
                (ChainOp::Add, true) => fold::<V, U, ROWS, true, Add>(&mut a, link, from),
                (ChainOp::Subtract, false) => fold_shared::<V, U, ROWS, Subtract>(&mut a, link, from),
                (ChainOp::Subtract, true) => fold::<V, U, ROWS, true, Subtract>(&mut a, link, from),
                (ChainOp::SubtractFrom, false) => fold::<V, U, ROWS, false, SubtractFrom>(&mut a, link, from),
                (ChainOp::SubtractFrom, true) => fold::<V, U, ROWS, true, SubtractFrom>(&mut a, link, from),
                (ChainOp::Multiply, false) => fold_shared::<V, U, ROWS, Multiply>(&mut a, link, from),
                (ChainOp::Multiply, true) => fold::<V, U, ROWS, true, Multiply>(&mut a, link, from),
                (ChainOp::Divide, false) => fold::<V, U, ROWS, false, Divide>(&mut a, link, from),
                (ChainOp::Divide, true) => fold::<V, U, ROWS, true, Divide>(&mut a, link, from),
                (ChainOp::DivideInto, false) => fold::<V, U, ROWS, false, DivideInto>(&mut a, link, from),
                (ChainOp::DivideInto, true) => fold::<V, U, ROWS, true, DivideInto>(&mut a, link, from),
                (ChainOp::Maximum, false) => fold::<V, U, ROWS, false, Maximum>(&mut a, link, from),
                (ChainOp::Maximum, true) => limit::<V, U, ROWS, Maximum, AtLeast, true>(&mut a, link, from),
                (ChainOp::Minimum, false) => fold::<V, U, ROWS, false, Minimum>(&mut a, link, from),
                (ChainOp::Minimum, true) => limit::<V, U, ROWS, Minimum, AtMost, false>(&mut a, link, from),
                (ChainOp::PlusNext | ChainOp::MinusNext | ChainOp::TimesNext, _) => {
                    // A unary link may have no argument.
                    if let [next, others @ ..] = others
                        && !next.op.is_unary()
                    {
                        fold_two::<V, U, ROWS>(&mut a, link, next, from);
                        rest = others;
                    }
                }
                (ChainOp::Square, _) => a = squares(a),
                (ChainOp::Negate, _) => a = each!(a => a.negate()),
                (ChainOp::Abs, _) => a = each!(a => a.abs()),
                (ChainOp::Sqrt, _) => a = each!(a => a.sqrt()),
                (ChainOp::Exp, _) => {
                    if const { KIND == WITH_FUNCTIONS } {
                        a = V::exp(a);
                    }
                }
                (ChainOp::Tanh, _) => {
                    if const { KIND == WITH_FUNCTIONS } {
                        a = V::tanh(a);
                    }
                }
            }
        }
        a
    }
}

/// exp of a group, as many vectors at a time as there are registers for.
#[inline(always)]
pub(super) fn exp<V: Vector, const U: usize>(mut a: [V; U]) -> [V; U] {
    const {
        assert!(V::EXP_GROUP == 4 || V::EXP_GROUP == 2);
        assert!(U <= V::EXP_GROUP || U.is_multiple_of(V::EXP_GROUP));
    }
    // Loops, because a closure might not be inlined, and would then lack the level's instructions.
    if const { V::EXP_GROUP == 4 && U > 4 } {
        for part in a.as_chunks_mut::<4>().0 {
            *part = <V as Vector>::exp(*part);
        }
    } else if const { V::EXP_GROUP == 2 && U > 2 } {
        for part in a.as_chunks_mut::<2>().0 {
            *part = <V as Vector>::exp(*part);
        }
    } else {
        a = <V as Vector>::exp(a);
    }
    a
}

/// tanh of a group, four vectors at a time.
#[inline(always)]
fn tanh<V: Vector, const U: usize>(mut a: [V; U]) -> [V; U] {
    const { assert!(U <= 4 || U.is_multiple_of(4)) };
    if const { U > 4 } {
        for part in a.as_chunks_mut::<4>().0 {
            *part = <V as Vector>::tanh(*part);
        }
    } else {
        a = <V as Vector>::tanh(a);
    }
    a
}

/// Prefetches what a later group will read of an argument: of a row, from element `at` on. Of one value in
/// each row, nothing is prefetched. Neither the row nor the elements need exist. On Intel, the
/// hardware prefetcher stops at the end of every page, and does not look far enough ahead of a chain that
/// computes functions.
#[inline(always)]
pub(super) fn fetch<V: ChainVector, const U: usize>(
    (values, step, scalar): (&[V::Element], usize, bool),
    [row, at]: [usize; 2],
) {
    if !scalar {
        let at = row.wrapping_mul(step).wrapping_add(at);
        let from = values.as_ptr().wrapping_add(at).cast::<u8>();
        for line in 0..(U * size_of::<V>()).div_ceil(LINE) {
            prefetch(from.wrapping_add(line * LINE));
        }
    }
}

/// `U` vectors of an argument, from element `at` of each row on, the first of which is `row`.
///
/// # Safety
/// As for [`compute`].
#[inline(always)]
pub(super) unsafe fn read<V: ChainVector, const U: usize, const ROWS: usize>(
    link: &Link<'_, V::Element>,
    [row, at]: [usize; 2],
) -> [V; U] {
    // SAFETY: the caller guarantees that all offsets are inside.
    unsafe {
        let from = link.values.as_ptr().add(row * link.step);
        let mut a = [V::spread(*from); U];
        if !link.scalar {
            counted!(k in U => {
                let (row, column) = (k / (U / ROWS), k % (U / ROWS));
                a[k] = V::read(from.add(row * link.step + at + column * V::WIDTH));
            });
        } else if ROWS > 1 {
            counted!(k in U => {
                a[k] = V::spread(*from.add(k / (U / ROWS) * link.step));
            });
        }
        a
    }
}

/// Applies one link. `SCALAR` says whether its argument is a scalar.
///
/// # Safety
/// As for [`compute`].
#[inline(always)]
unsafe fn fold<V: ChainVector, const U: usize, const ROWS: usize, const SCALAR: bool, O: Fold>(
    a: &mut [V; U],
    link: &Link<'_, V::Element>,
    [row, at]: [usize; 2],
) {
    // SAFETY: the caller guarantees that all offsets are inside.
    unsafe {
        let from = link.values.as_ptr().add(row * link.step);
        counted!(k in U => {
            let (row, column) = (k / (U / ROWS), k % (U / ROWS));
            let from = from.add(row * link.step);
            let b = if SCALAR { V::spread(*from) } else { V::read(from.add(at + column * V::WIDTH)) };
            a[k] = O::of(a[k], b);
        });
    }
}

/// Applies a maximum or minimum by one value: `O`, or the faster `L` if the value is a number and not 0.
/// (Then a NaN and the signs of zeros need no care. Of 1,000 f32, values between two limits take a third of
/// the time, `benches/expressions`.) With `MAXIMUM`, there is a loop for 0, too, as in a rectifier.
///
/// # Safety
/// As for [`compute`].
#[inline(always)]
unsafe fn limit<V: ChainVector, const U: usize, const ROWS: usize, O: Fold, L: Fold, const MAXIMUM: bool>(
    a: &mut [V; U],
    link: &Link<'_, V::Element>,
    from: [usize; 2],
) {
    let [row, _] = from;
    // SAFETY: the caller guarantees that all offsets are inside.
    unsafe {
        let (is_one, value) = (ROWS == 1 || link.step == 0, *link.values.as_ptr().add(row * link.step));
        if is_one && V::is_limit(value) {
            fold::<V, U, ROWS, true, L>(a, link, from);
        } else if const { MAXIMUM } && is_one && V::is_zero(value) {
            fold::<V, U, ROWS, true, AtLeastZero>(a, link, from);
        } else {
            fold::<V, U, ROWS, true, O>(a, link, from);
        }
    }
}

/// Applies one link whose argument is a vector, of a sum, difference or product, which most chains of rows
/// are made of. With vectors of 64 bytes, an argument that is the same in all rows is read once for all of
/// them. (Over rows of one to six vectors, (x-m)*r*g+b took 0.74 to 0.94 of the time, `benches/quick`, before
/// it had a loop of its own. With vectors of 32 bytes, it took 1.07 to 1.15.)
///
/// # Safety
/// As for [`compute`].
#[inline(always)]
unsafe fn fold_shared<V: ChainVector, const U: usize, const ROWS: usize, O: Fold>(
    a: &mut [V; U],
    link: &Link<'_, V::Element>,
    from: [usize; 2],
) {
    // SAFETY: the caller guarantees that all offsets are inside.
    unsafe {
        if const { ROWS == 1 || size_of::<V>() < 64 } || link.step != 0 {
            return fold::<V, U, ROWS, false, O>(a, link, from);
        }
        let from = link.values.as_ptr().add(from[1]);
        counted!(column in U / ROWS => {
            let b = V::read(from.add(column * V::WIDTH));
            counted!(row in ROWS => {
                let k = row * (U / ROWS) + column;
                a[k] = O::of(a[k], b);
            });
        });
    }
}

/// Applies the operation of `next` with an argument that `link` makes of its own and that of `next`.
///
/// # Safety
/// As for [`compute`].
#[inline(always)]
unsafe fn fold_two<V: ChainVector, const U: usize, const ROWS: usize>(
    a: &mut [V; U],
    link: &Link<'_, V::Element>,
    next: &Link<'_, V::Element>,
    from: [usize; 2],
) {
    const { assert!(U <= 4 * PART && (U < PART || U.is_multiple_of(PART))) };
    // SAFETY: guaranteed by the caller.
    unsafe {
        fold_two_of_part::<V, U, ROWS, 0>(a, link, next, from);
        if const { U >= 2 * PART } {
            fold_two_of_part::<V, U, ROWS, PART>(a, link, next, from);
        }
        if const { U >= 3 * PART } {
            fold_two_of_part::<V, U, ROWS, { 2 * PART }>(a, link, next, from);
        }
        if const { U >= 4 * PART } {
            fold_two_of_part::<V, U, ROWS, { 3 * PART }>(a, link, next, from);
        }
    }
}

/// How many vectors of a group take an argument of two links together. The value and the argument of a whole
/// group would need more registers than there are.
const PART: usize = 4;

/// [`fold_two`] for the vectors of a group from `FROM` on, as many as are in a part.
///
/// # Safety
/// As for [`compute`].
#[inline(always)]
unsafe fn fold_two_of_part<V: ChainVector, const U: usize, const ROWS: usize, const FROM: usize>(
    a: &mut [V; U],
    link: &Link<'_, V::Element>,
    next: &Link<'_, V::Element>,
    from: [usize; 2],
) {
    // SAFETY: guaranteed by the caller.
    let b = unsafe { read_part::<V, U, ROWS, FROM>(link, from) };
    let c = match link.is_same(next, ROWS == 1 && from[0] == 0) {
        true => b,
        // SAFETY: as above.
        false => unsafe { read_part::<V, U, ROWS, FROM>(next, from) },
    };
    // Each operation is a constant, so that its loop is compiled by itself.
    let b = match link.op {
        ChainOp::PlusNext => pairs::<V, PART, Add>(b, c),
        ChainOp::MinusNext => pairs::<V, PART, Subtract>(b, c),
        ChainOp::TimesNext => pairs::<V, PART, Multiply>(b, c),
        // `compute` calls this for the operations above alone.
        ChainOp::Add
        | ChainOp::Subtract
        | ChainOp::SubtractFrom
        | ChainOp::Multiply
        | ChainOp::Divide
        | ChainOp::DivideInto
        | ChainOp::Maximum
        | ChainOp::Minimum
        | ChainOp::Square
        | ChainOp::Negate
        | ChainOp::Abs
        | ChainOp::Sqrt
        | ChainOp::Tanh
        | ChainOp::Exp => b,
    };
    // A group may have fewer vectors than a part. What is computed for the others is dropped. The vectors are
    // moved one by one: a call of `copy_from_slice` that is not inlined would keep the group in memory, in
    // every link of every chain.
    let mut x = [a[FROM]; PART];
    counted!(k in if U < PART { U } else { PART } => {
        x[k] = a[FROM + k];
    });
    let x = match next.op {
        ChainOp::Add => pairs::<V, PART, Add>(x, b),
        ChainOp::Subtract => pairs::<V, PART, Subtract>(x, b),
        ChainOp::SubtractFrom => pairs::<V, PART, SubtractFrom>(x, b),
        ChainOp::Multiply => pairs::<V, PART, Multiply>(x, b),
        ChainOp::Maximum => pairs::<V, PART, Maximum>(x, b),
        ChainOp::Minimum => pairs::<V, PART, Minimum>(x, b),
        // `ChainOp::may_take_two` excludes these.
        ChainOp::Divide
        | ChainOp::DivideInto
        | ChainOp::PlusNext
        | ChainOp::MinusNext
        | ChainOp::TimesNext
        | ChainOp::Square
        | ChainOp::Negate
        | ChainOp::Abs
        | ChainOp::Sqrt
        | ChainOp::Tanh
        | ChainOp::Exp => x,
    };
    counted!(k in if U < PART { U } else { PART } => {
        a[FROM + k] = x[k];
    });
}

/// The square of each vector.
#[inline(always)]
fn squares<V: ChainVector, const U: usize>(a: [V; U]) -> [V; U] {
    each!(a => a.multiply(a))
}

/// A binary operation of each pair of vectors.
#[inline(always)]
fn pairs<V: ChainVector, const N: usize, O: Fold>(a: [V; N], b: [V; N]) -> [V; N] {
    each!(a, b => O::of(a, b))
}

/// The vectors of an argument from `FROM` on, as many as are in a part of a group of `U`.
///
/// # Safety
/// As for [`compute`].
#[inline(always)]
unsafe fn read_part<V: ChainVector, const U: usize, const ROWS: usize, const FROM: usize>(
    link: &Link<'_, V::Element>,
    [row, at]: [usize; 2],
) -> [V; PART] {
    // SAFETY: the caller guarantees that all offsets are inside.
    unsafe {
        let from = link.values.as_ptr().add(row * link.step);
        let mut part = [V::spread(*from); PART];
        counted!(k in if U < PART { U } else { PART } => {
            let (row, column) = ((FROM + k) / (U / ROWS), (FROM + k) % (U / ROWS));
            let from = from.add(row * link.step);
            if !link.scalar {
                part[k] = V::read(from.add(at + column * V::WIDTH));
            } else if ROWS > 1 {
                part[k] = V::spread(*from);
            }
        });
        part
    }
}

/// Adds the arguments of three links. `X`, `Y` and `Z` say which of them are scalars.
///
/// # Safety
/// As for [`compute`].
#[inline(always)]
unsafe fn add_three<V: ChainVector, const U: usize, const X: bool, const Y: bool, const Z: bool>(
    a: &mut [V; U],
    links: &[Link<'_, V::Element>; 3],
    [row, at]: [usize; 2],
) {
    // SAFETY: the caller guarantees that all offsets are inside.
    unsafe {
        let [one, two, three] = links;
        let x = one.values.as_ptr().add(row * one.step);
        let y = two.values.as_ptr().add(row * two.step);
        let z = three.values.as_ptr().add(row * three.step);
        let (one, two, three) = (V::spread(*x), V::spread(*y), V::spread(*z));
        counted!(k in U => {
            let at = at + k * V::WIDTH;
            let b = if X { one } else { V::read(x.add(at)) };
            let c = if Y { two } else { V::read(y.add(at)) };
            let d = if Z { three } else { V::read(z.add(at)) };
            a[k] = a[k].add(b).add(c).add(d);
        });
    }
}
