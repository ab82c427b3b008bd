//! The vector type of each level behind one trait. Code written over [`Vector`] is compiled once per level
//! and keeps its values in registers, where plain loops would spill them to memory.
//!
//! Creating a vector is unsafe because it needs the level's instructions. A vector that exists proves that
//! the machine has them, so the operations on vectors are safe.

/// The number of entries in a table for [`Vector::look_up`].
pub(crate) const ENTRIES: usize = 16;

/// A vector of one level. A single number is a vector too, of width 1.
pub(crate) trait Vector: Copy {
    /// The element type, which serves as the vector for the elements that do not fill a whole one.
    type Element: Vector<Element = Self::Element> + Default;
    /// The number of elements.
    const WIDTH: usize;
    /// The number of vectors for which [`exp`](Vector::exp) has enough registers.
    const EXP_GROUP: usize;
    /// 1, as a condition that holds.
    const HOLDS: Self::Element;

    /// # Safety
    /// The machine has the level's instructions, and `from` points to `WIDTH` elements.
    unsafe fn load(from: *const Self::Element) -> Self;
    /// The first `count` elements, at most `WIDTH` of them, and zeros.
    ///
    /// # Safety
    /// The machine has the level's instructions, and `from` points to `count` elements.
    unsafe fn load_first(from: *const Self::Element, count: usize) -> Self;
    /// # Safety
    /// The machine has the level's instructions.
    unsafe fn splat(value: Self::Element) -> Self;
    /// # Safety
    /// `to` points to `WIDTH` writable elements.
    unsafe fn store(self, to: *mut Self::Element);
    /// Stores without going through the caches, on levels that can.
    ///
    /// # Safety
    /// `to` points to `WIDTH` writable elements and is aligned to the size of the vector.
    unsafe fn store_non_temporal(self, to: *mut Self::Element);

    /// `value` in every element. `self` is ignored; it proves that the machine has the instructions.
    fn like(self, value: Self::Element) -> Self;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn divide(self, other: Self) -> Self;
    /// `self * by + other`, rounded once.
    fn multiply_add(self, by: Self, other: Self) -> Self;
    fn negate(self) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// `if self > most { most } else { self }`: a NaN stays.
    fn at_most(self, most: Self) -> Self;
    /// `if self < least { least } else { self }`: a NaN stays.
    fn at_least(self, least: Self) -> Self;
    /// The larger of two numbers. +0 is larger than -0. If there is a NaN, it is the result, of two the first
    /// (clause V-3).
    fn maximum(self, other: Self) -> Self;
    /// The smaller of two numbers, likewise.
    fn minimum(self, other: Self) -> Self;
    /// `if self == limit { equal } else { other }`.
    fn choose_equal(self, limit: Self, equal: Self, other: Self) -> Self;
    /// `if self >= limit { above } else { other }`.
    fn choose_at_least(self, limit: Self, above: Self, other: Self) -> Self;
    /// `if self > limit { above } else { other }`.
    fn choose(self, limit: Self, above: Self, other: Self) -> Self;
    /// `if condition { then } else { other }`, for each element.
    ///
    /// # Safety
    /// `condition` points to `WIDTH` values.
    unsafe fn select(condition: *const bool, then: Self, other: Self) -> Self;
    /// Stores whether each element is not 0.
    ///
    /// # Safety
    /// `to` points to `WIDTH` writable values.
    unsafe fn store_conditions(self, to: *mut bool);
    /// The sum of all elements: the upper half is added to the lower half until one is left.
    fn sum_of_lanes(self) -> Self::Element;
    /// Whether any element is greater than its element of `limit`.
    fn any_above(self, limit: Self) -> bool;
    /// Whether any element is below its element of `least`, above that of `most`, or a NaN.
    fn any_outside(self, least: Self, most: Self) -> bool;
    /// Shifts the bits of each element left.
    fn shift_left(self, by: i32) -> Self;
    /// Shifts the bits of each element right, filling with zeros.
    fn shift_right(self, by: i32) -> Self;
    fn and_bits(self, other: Self) -> Self;
    fn or_bits(self, other: Self) -> Self;
    /// Adds the bits of each element as integers.
    fn add_bits(self, other: Self) -> Self;
    /// Subtracts the bits of each element as integers.
    fn subtract_bits(self, other: Self) -> Self;
    /// For each element, the table entry that its low four bits select. In f32 it may be the low three bits:
    /// the second half of the table must repeat the first.
    fn look_up(self, table: &[Self::Element; ENTRIES]) -> Self;
    /// For each element, the table entry that its low four bits select.
    fn look_up_whole(self, table: &[Self::Element; ENTRIES]) -> Self;
    /// e^x, for several vectors at once.
    fn exp<const U: usize>(x: [Self; U]) -> [Self; U];
    /// The hyperbolic tangent, likewise.
    fn tanh<const U: usize>(x: [Self; U]) -> [Self; U];
}

/// Evaluates an expression for each vector of an array, or element by element of several arrays. This is a
/// macro because a closure that the compiler does not inline is compiled without the level's instructions.
/// A `for` would take long to compile.
macro_rules! each {
    ($first:ident $(, $more:ident)* => $body:expr) => {{
        let mut all = $first;
        let mut k = 0;
        while k < all.len() {
            let $first = all[k];
            $(let $more = $more[k];)*
            all[k] = $body;
            k += 1;
        }
        all
    }};
}
pub(crate) use each;

/// Whether the absolute value of any element exceeds `limit`. A NaN does not.
#[inline(always)]
pub(crate) fn any_beyond<V: Vector, const U: usize>(x: [V; U], zero: V, limit: V) -> bool {
    let mut most = zero;
    for x in x {
        most = most.at_least(x.abs());
    }
    most.any_above(limit)
}

/// A vector of width 1: the same operations for the elements that do not fill a whole vector.
macro_rules! scalar {
    (impl Vector for $type:ident { exp: $exp:path, tanh: $tanh:path }) => {
        #[allow(clippy::cast_possible_truncation, reason = "only the low four bits are used")]
        impl Vector for $type {
            type Element = $type;
            const WIDTH: usize = 1;
            const EXP_GROUP: usize = 4;
            const HOLDS: $type = 1.0;

            #[inline(always)]
            unsafe fn load(from: *const $type) -> $type {
                // SAFETY: the caller guarantees one element.
                unsafe { *from }
            }
            #[inline(always)]
            unsafe fn load_first(from: *const $type, count: usize) -> $type {
                // SAFETY: the caller guarantees `count` elements.
                if count == 0 { 0.0 } else { unsafe { *from } }
            }
            #[inline(always)]
            unsafe fn splat(value: $type) -> $type {
                value
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $type) {
                // SAFETY: the caller guarantees one writable element.
                unsafe { *to = self }
            }
            #[inline(always)]
            unsafe fn store_non_temporal(self, to: *mut $type) {
                // SAFETY: the caller guarantees one writable element.
                unsafe { *to = self }
            }
            #[inline(always)]
            fn like(self, value: $type) -> $type {
                value
            }
            #[inline(always)]
            fn add(self, other: $type) -> $type {
                self + other
            }
            #[inline(always)]
            fn subtract(self, other: $type) -> $type {
                self - other
            }
            #[inline(always)]
            fn multiply(self, other: $type) -> $type {
                self * other
            }
            #[inline(always)]
            fn divide(self, other: $type) -> $type {
                self / other
            }
            #[inline(always)]
            fn multiply_add(self, by: $type, other: $type) -> $type {
                self.mul_add(by, other)
            }
            #[inline(always)]
            fn negate(self) -> $type {
                -self
            }
            #[inline(always)]
            fn abs(self) -> $type {
                $type::abs(self)
            }
            #[inline(always)]
            fn sqrt(self) -> $type {
                $type::sqrt(self)
            }
            #[inline(always)]
            fn at_most(self, most: $type) -> $type {
                if self > most { most } else { self }
            }
            #[inline(always)]
            fn at_least(self, least: $type) -> $type {
                if self < least { least } else { self }
            }
            // Equal numbers have equal bits, except for zeros of different signs: there `and` of the bits is
            // +0 and `or` is -0. If `other` is a NaN, both comparisons fail and the result is `other`.
            #[inline(always)]
            fn maximum(self, other: $type) -> $type {
                let larger = if self > other { self } else { other };
                let larger = if self == other { self.and_bits(other) } else { larger };
                if self.is_nan() { self } else { larger }
            }
            #[inline(always)]
            fn minimum(self, other: $type) -> $type {
                let smaller = if self < other { self } else { other };
                let smaller = if self == other { self.or_bits(other) } else { smaller };
                if self.is_nan() { self } else { smaller }
            }
            #[inline(always)]
            fn choose_equal(self, limit: $type, equal: $type, other: $type) -> $type {
                if self == limit { equal } else { other }
            }
            #[inline(always)]
            fn choose_at_least(self, limit: $type, above: $type, other: $type) -> $type {
                if self >= limit { above } else { other }
            }
            #[inline(always)]
            fn choose(self, limit: $type, above: $type, other: $type) -> $type {
                if self > limit { above } else { other }
            }
            #[inline(always)]
            unsafe fn select(condition: *const bool, then: $type, other: $type) -> $type {
                // SAFETY: the caller guarantees one value.
                if unsafe { *condition } { then } else { other }
            }
            #[inline(always)]
            unsafe fn store_conditions(self, to: *mut bool) {
                // SAFETY: the caller guarantees one value.
                unsafe { to.write(self != 0.0) }
            }
            #[inline(always)]
            fn sum_of_lanes(self) -> $type {
                self
            }
            #[inline(always)]
            fn any_above(self, limit: $type) -> bool {
                self > limit
            }
            #[inline(always)]
            fn any_outside(self, least: $type, most: $type) -> bool {
                !(least..=most).contains(&self)
            }
            #[inline(always)]
            fn shift_left(self, by: i32) -> $type {
                $type::from_bits(self.to_bits() << by)
            }
            #[inline(always)]
            fn shift_right(self, by: i32) -> $type {
                $type::from_bits(self.to_bits() >> by)
            }
            #[inline(always)]
            fn and_bits(self, other: $type) -> $type {
                $type::from_bits(self.to_bits() & other.to_bits())
            }
            #[inline(always)]
            fn or_bits(self, other: $type) -> $type {
                $type::from_bits(self.to_bits() | other.to_bits())
            }
            #[inline(always)]
            fn add_bits(self, other: $type) -> $type {
                $type::from_bits(self.to_bits().wrapping_add(other.to_bits()))
            }
            #[inline(always)]
            fn subtract_bits(self, other: $type) -> $type {
                $type::from_bits(self.to_bits().wrapping_sub(other.to_bits()))
            }
            #[inline(always)]
            fn look_up(self, table: &[$type; ENTRIES]) -> $type {
                table[self.to_bits() as usize % ENTRIES]
            }
            #[inline(always)]
            fn look_up_whole(self, table: &[$type; ENTRIES]) -> $type {
                self.look_up(table)
            }
            #[inline(always)]
            fn exp<const U: usize>(x: [$type; U]) -> [$type; U] {
                $exp(x)
            }
            #[inline(always)]
            fn tanh<const U: usize>(x: [$type; U]) -> [$type; U] {
                $tanh(x)
            }
        }
    };
}

scalar! { impl Vector for f64 { exp: super::f64::exp, tanh: super::tanh::tanh_f64 } }
scalar! { impl Vector for f32 { exp: super::f32::exp, tanh: super::tanh::tanh_f32 } }
