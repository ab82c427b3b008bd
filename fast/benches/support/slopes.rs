//! Loops for the gradients of common functions, each written for one function, one operand and one way in
//! which that operand is stretched: the cotangent times the derivative, summed to the shape of the operand,
//! or stored if it is not stretched.

use super::kernels::{Body, Exp, Four, Math, Vector, each, read, splat};
use std::marker::PhantomData;

/// The operands of a slope: the cotangent, the operand itself, and up to two others.
pub(crate) type Values<V> = [Four<V>; 4];

/// A cotangent times a derivative.
pub(crate) trait Slope {
    fn slope<V: Vector<Element: Math>>(values: Values<V>) -> Four<V>;
}

macro_rules! slopes {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident($w:ident, $own:ident, $other:ident, $third:ident) $body:expr;
    )*) => { $(
        $(#[doc = $doc])*
        pub(crate) struct $name;

        impl Slope for $name {
            #[inline(always)]
            fn slope<V: Vector<Element: Math>>([$w, $own, $other, $third]: Values<V>) -> Four<V> {
                $body
            }
        }
    )* };
}

slopes! {
    /// Of a sum, by any term.
    OfSum(w, _own, _other, _third) w;
    /// Of a product, by either factor.
    OfProduct(w, _own, other, _third) each!(w, other => w.multiply(other));
    /// Of own / other.
    OfNumerator(w, _own, other, _third) each!(w, other => w.multiply(w.like(V::Element::ONE).divide(other)));
    /// Of other / own.
    OfDenominator(w, own, other, _third) each!(w, own, other => {
        w.multiply(other.divide(own).divide(own).negate())
    });
    /// Of own to the power of other.
    OfBase(w, own, other, _third) {
        let less = each!(other => other.subtract(other.like(V::Element::ONE)));
        let power = power(own, less);
        each!(w, other, power => w.multiply(other.multiply(power)))
    };
    /// Of other to the power of own.
    OfExponent(w, own, other, _third) {
        let power = power(other, own);
        let log = V::Element::log(other);
        each!(w, power, log => w.multiply(power.multiply(log)))
    };
    /// Of exp(own * other).
    OfExp(w, own, other, _third) {
        let value = V::exp(each!(own, other => own.multiply(other)));
        each!(w, value, other => w.multiply(value).multiply(other))
    };
    /// Of log(own + other).
    OfLog(w, own, other, _third) each!(w, own, other => {
        w.multiply(w.like(V::Element::ONE).divide(own.add(other)))
    });
    /// Of tanh(own + other).
    OfTanh(w, own, other, _third) {
        let value = V::Element::inlined_tanh(each!(own, other => own.add(other)));
        each!(w, value => w.multiply(w.like(V::Element::ONE).subtract(value.multiply(value))))
    };
    /// Of the larger one, which takes half of it where both are equal.
    OfMaximum(w, own, other, _third) each!(w, own, other => {
        let (none, half) = (w.like(V::Element::ZERO), w.multiply(w.like(V::Element::HALF)));
        own.choose(other, w, own.choose_equal(other, half, none))
    });
    /// Of (x - m) * r * g by m.
    OfMean(w, _own, r, g) each!(w, r, g => w.multiply(g).multiply(r).negate());
    /// Of (x - m) * r * g by r.
    OfScale(w, m, x, g) each!(w, m, x, g => w.multiply(g).multiply(x.subtract(m)));
    /// Of (x - m) * r * g by g.
    OfGain(w, m, x, r) each!(w, m, x, r => w.multiply(x.subtract(m).multiply(r)));
    /// Of (x - m) * r * g by x.
    OfNormed(w, _own, r, g) each!(w, r, g => w.multiply(g).multiply(r));
}

#[inline(always)]
fn power<V: Vector<Element: Math>>(x: Four<V>, y: Four<V>) -> Four<V> {
    V::Element::power(x, y)
}

/// An operand of a loop: where its first row begins, and how far the next row is from that.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a, T> {
    pub(crate) values: &'a [T],
    pub(crate) step: usize,
}

/// A loop over the rows of a matrix. Bit k of `EACH` says whether operand k has a value for each element of a
/// row; otherwise it has one for all of them. If `DOWN`, rows are added to one row.
pub(crate) struct Loop<'a, T, S, const EACH: u8, const DOWN: bool> {
    pub(crate) operands: [Place<'a, T>; 4],
    pub(crate) rows: usize,
    pub(crate) width: usize,
    /// Whether each row has its own sum; otherwise there is one sum of all rows.
    pub(crate) by_row: bool,
    pub(crate) slope: PhantomData<S>,
}

/// The elements of the largest group of vectors.
const GROUP: usize = 64;

impl<T: Exp, S: Slope, const EACH: u8, const DOWN: bool> Loop<'_, T, S, EACH, DOWN> {
    /// The slopes of a group of elements of a row. Those that a row does not have are 0: so is the cotangent.
    #[inline(always)]
    fn group<V: Vector<Element = T>>(&self, row: usize, at: usize, is_whole: bool) -> Four<V> {
        let mut values = [splat::<V>(T::of(1.0)); 4];
        for (k, (value, place)) in values.iter_mut().zip(self.operands).enumerate() {
            let start = row * place.step;
            *value = if EACH & 1 << k == 0 {
                splat::<V>(place.values[start])
            } else if is_whole {
                read::<V>(&place.values[start..start + self.width], at)
            } else {
                let mut rest = [if k == 0 { T::default() } else { T::of(1.0) }; GROUP];
                let given = &place.values[start + at..start + self.width];
                rest[..given.len()].copy_from_slice(given);
                read::<V>(&rest, 0)
            };
        }
        S::slope(values)
    }

    /// Adds the slopes of a row, element by element.
    #[inline(always)]
    fn add_down<V: Vector<Element = T>>(&self, row: usize, out: &mut [T]) {
        let step = 4 * V::WIDTH;
        let whole = self.width - self.width % step;
        for at in (0..whole).step_by(step) {
            let slopes = self.group::<V>(row, at, true);
            add_to::<V>(&mut out[at..at + step], slopes);
        }
        if whole != self.width {
            let mut rest = [T::default(); GROUP];
            add_to::<V>(&mut rest[..step], self.group::<V>(row, whole, false));
            out[whole..].iter_mut().zip(rest).for_each(|(out, slope)| *out += slope);
        }
    }

    /// The sums of the slopes of a row, in lanes, added to others.
    #[inline(always)]
    fn add_across<V: Vector<Element = T>>(&self, row: usize, mut sums: Four<V>) -> Four<V> {
        let step = 4 * V::WIDTH;
        let whole = self.width - self.width % step;
        for at in (0..whole).step_by(step) {
            let slopes = self.group::<V>(row, at, true);
            sums = each!(sums, slopes => sums.add(slopes));
        }
        if whole != self.width {
            let slopes = self.group::<V>(row, whole, false);
            sums = each!(sums, slopes => sums.add(slopes));
        }
        sums
    }
}

impl<T: Exp, S: Slope, const EACH: u8, const DOWN: bool> Body<T> for Loop<'_, T, S, EACH, DOWN> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]) {
        out.fill(T::default());
        let zero = splat::<V>(T::default());
        let mut sums = zero;
        for row in 0..self.rows {
            if DOWN {
                self.add_down::<V>(row, out);
            } else {
                sums = self.add_across::<V>(row, sums);
                if self.by_row {
                    out[row] = total::<V>(sums);
                    sums = zero;
                }
            }
        }
        if !DOWN && !self.by_row {
            out[0] = total::<V>(sums);
        }
    }
}

/// The slopes of such a loop, each stored: the gradient by an operand that is not stretched.
pub(crate) struct Stored<L>(pub(crate) L);

impl<T: Exp, S: Slope, const EACH: u8, const DOWN: bool> Body<T> for Stored<Loop<'_, T, S, EACH, DOWN>> {
    #[inline(always)]
    fn run<V: Vector<Element = T>>(&self, out: &mut [T]) {
        let (step, width) = (4 * V::WIDTH, self.0.width);
        let whole = width - width % step;
        for (row, out) in out.chunks_exact_mut(width).enumerate() {
            for at in (0..whole).step_by(step) {
                store_to::<V>(&mut out[at..at + step], self.0.group::<V>(row, at, true));
            }
            if whole != width {
                let mut rest = [T::default(); GROUP];
                store_to::<V>(&mut rest[..step], self.0.group::<V>(row, whole, false));
                out[whole..].copy_from_slice(&rest[..width - whole]);
            }
        }
    }
}

/// Adds a group of vectors to as many elements.
#[inline(always)]
fn add_to<V: Vector>(out: &mut [V::Element], values: Four<V>) {
    let sums = read::<V>(out, 0);
    store_to::<V>(out, each!(sums, values => sums.add(values)));
}

/// Stores a group of vectors as so many elements.
#[inline(always)]
fn store_to<V: Vector>(out: &mut [V::Element], values: Four<V>) {
    for (k, value) in values.into_iter().enumerate() {
        let place = &mut out[k * V::WIDTH..(k + 1) * V::WIDTH];
        super::kernels::store(value, place);
    }
}

/// The sum of all lanes.
#[inline(always)]
fn total<V: Vector<Element: Exp>>([a, b, c, d]: Four<V>) -> V::Element {
    let mut lanes = [V::Element::default(); GROUP];
    let lanes = &mut lanes[..V::WIDTH];
    super::kernels::store(a.add(b).add(c.add(d)), lanes);
    lanes.iter().fold(V::Element::default(), |sum: V::Element, &lane| sum.add(lane))
}

/// Those elements of `w` for which a condition is `taken`; 0 in place of the others.
#[inline(always)]
pub(crate) fn of_whole_select<T: Exp>(taken: bool, (conditions, w): (&[bool], &[T]), out: &mut [T]) {
    for (out, (w, condition)) in out.iter_mut().zip(w.iter().zip(conditions)) {
        *out = if *condition == taken { *w } else { T::default() };
    }
}

/// The sum of those elements of `w` for which a condition is `taken`: of columns to a row, or of rows to a
/// column or to a single value.
#[inline(always)]
pub(crate) fn of_select<T: Exp>(
    down: bool,
    taken: bool,
    (conditions, w): (&[bool], &[T]),
    side: usize,
    out: &mut [T],
) {
    const LANES: usize = GROUP;
    out.fill(T::default());
    let slope = |w: T, condition: bool| if condition == taken { w } else { T::default() };
    let last = out.len() - 1;
    for (row, (conditions, w)) in conditions.chunks_exact(side).zip(w.chunks_exact(side)).enumerate() {
        if down {
            let slopes = w.iter().zip(conditions);
            out.iter_mut().zip(slopes).for_each(|(out, (w, condition))| *out += slope(*w, *condition));
            continue;
        }
        let mut lanes = [T::default(); LANES];
        let (chunks, rest) = w.as_chunks::<LANES>();
        let (condition_chunks, condition_rest) = conditions.as_chunks::<LANES>();
        for (w, conditions) in chunks.iter().zip(condition_chunks) {
            let slopes = w.iter().zip(conditions);
            lanes.iter_mut().zip(slopes).for_each(|(lane, (w, condition))| *lane += slope(*w, *condition));
        }
        let slopes = rest.iter().zip(condition_rest);
        lanes.iter_mut().zip(slopes).for_each(|(lane, (w, condition))| *lane += slope(*w, *condition));
        out[row.min(last)] += lanes.into_iter().fold(T::default(), |sum, lane| sum + lane);
    }
}
