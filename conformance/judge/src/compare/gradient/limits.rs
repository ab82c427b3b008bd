//! How the range of a float affects a gradient (clause V-6). An implementation may keep derivatives and sums
//! in the dtype, and multiply and add them in any order: an intermediate result may overflow or underflow
//! even if the element of the gradient does not.

use broadcheck_reference::round_to;
use broadcheck_spec::DType;

/// The limits of a float dtype. Sums of f16 and bf16 are computed in f32 or wider, and derivatives may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) dtype: DType,
    /// The spacing at 1.
    pub(super) epsilon: f64,
    /// The smallest subnormal.
    pub(super) smallest: f64,
    /// The spacing at 1 of the narrowest dtype in which sums may be computed.
    pub(super) sum_epsilon: f64,
    /// The number below which that dtype represents all integers.
    pub(super) sum_integers: f64,
    /// The smallest subnormal of what derivatives are computed in.
    computed_smallest: f64,
    /// The smallest normal number of what derivatives are computed in.
    computed_normal: f64,
    /// The largest finite number of what derivatives are computed in.
    computed_largest: f64,
}

impl Limits {
    /// # Panics
    /// If the dtype is not a float.
    pub(super) fn of(dtype: DType) -> Limits {
        let two_to = |exponent: i32| 2f64.powi(exponent);
        let in_f32 = |epsilon, smallest| Limits {
            dtype,
            epsilon,
            smallest,
            sum_epsilon: two_to(-23),
            sum_integers: two_to(24),
            computed_smallest: two_to(-149),
            computed_normal: f64::from(f32::MIN_POSITIVE),
            computed_largest: f64::from(f32::MAX),
        };
        match dtype {
            DType::F64 => Limits {
                dtype,
                epsilon: two_to(-52),
                smallest: f64::from_bits(1),
                sum_epsilon: two_to(-52),
                sum_integers: two_to(53),
                computed_smallest: f64::from_bits(1),
                computed_normal: f64::MIN_POSITIVE,
                computed_largest: f64::MAX,
            },
            DType::F32 => in_f32(two_to(-23), two_to(-149)),
            DType::F16 => in_f32(two_to(-10), two_to(-24)),
            DType::Bf16 => in_f32(two_to(-7), two_to(-133)),
            DType::I64 | DType::I32 | DType::I16 | DType::I8 => panic!("{dtype} has no gradient"),
            DType::U64 | DType::U32 | DType::U16 | DType::U8 | DType::Bool => {
                panic!("{dtype} has no gradient")
            }
        }
    }

    /// Whether the dtype has fewer bits than any sum.
    pub(super) fn is_half(self) -> bool {
        self.epsilon > self.sum_epsilon
    }

    /// A number rounded to the dtype, to nearest, ties to even.
    pub(super) fn round(self, value: f64) -> f64 {
        round_to(self.dtype, value).as_f64().expect("a float")
    }

    pub(super) fn represents(self, value: f64) -> bool {
        self.round(value) == value
    }
}

/// The factors of a product, by size: in whatever order they are multiplied, every intermediate product lies
/// between these two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Factors {
    /// The product of those above 1.
    growth: f64,
    /// The product of those below 1, without zeros: a product with 0 loses nothing to underflow.
    decay: f64,
}

impl Factors {
    pub(super) const NONE: Factors = Factors { growth: 1.0, decay: 1.0 };

    pub(super) fn of(value: f64) -> Factors {
        let size = value.abs();
        // mutant: replace > with >=: a factor of 1 gives the same result in either branch
        if size > 1.0 {
            Factors { growth: size, ..Factors::NONE }
        } else if size > 0.0 {
            Factors { decay: size, ..Factors::NONE }
        } else {
            Factors::NONE
        }
    }

    pub(super) fn times(self, other: Factors) -> Factors {
        Factors { growth: self.growth * other.growth, decay: self.decay * other.decay }
    }

    /// The largest error of the product due to underflow.
    pub(super) fn underflow(self, limits: Limits) -> f64 {
        if self.decay < limits.computed_normal { limits.computed_smallest * self.growth } else { 0.0 }
    }

    /// Whether an intermediate product may overflow although `product` is within range; or one may overflow
    /// and another underflow, which gives NaN.
    pub(super) fn overflow(self, product: f64, limits: Limits) -> bool {
        self.growth > limits.computed_largest
            && (product.abs() <= limits.computed_largest || self.decay < limits.computed_normal)
    }
}

/// The positive and the negative terms of a sum.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    positive: f64,
    negative: f64,
    nan: bool,
    /// Whether the terms include +infinity, and -infinity.
    infinite: [bool; 2],
}

impl Sums {
    pub(super) fn add(&mut self, value: f64) {
        self.nan |= value.is_nan();
        self.positive += value.max(0.0);
        self.negative -= value.min(0.0);
        self.infinite[0] |= value == f64::INFINITY;
        self.infinite[1] |= value == f64::NEG_INFINITY;
    }

    /// Whether a partial sum may overflow although `sum` does not, or partial sums may overflow to both
    /// infinities. With a NaN or infinities of both signs among the terms, every implementation gets NaN.
    pub(super) fn overflow(&self, sum: f64, limits: Limits) -> bool {
        if self.nan || self.infinite == [true, true] {
            return false;
        }
        let beyond = [self.positive, self.negative].map(|part| part > limits.computed_largest);
        beyond == [true, true] || (beyond != [false, false] && sum.abs() <= limits.computed_largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: f64 = f32::MAX as f64;
    const NORMAL: f64 = f32::MIN_POSITIVE as f64;

    /// 2 to a power, by its bits.
    fn two_to(exponent: i64) -> f64 {
        let bits = if exponent < -1022 { 1 << (1074 + exponent) } else { (1023 + exponent) << 52 };
        f64::from_bits(bits.unsigned_abs())
    }

    #[test]
    fn limits_of_the_dtype_and_of_the_dtype_computed_in() {
        for (dtype, epsilon, smallest, computed) in [
            (DType::F64, -52, -1074, [two_to(-1074), f64::MIN_POSITIVE, f64::MAX]),
            (DType::F32, -23, -149, [two_to(-149), NORMAL, MAX]),
            (DType::F16, -10, -24, [two_to(-149), NORMAL, MAX]),
            (DType::Bf16, -7, -133, [two_to(-149), NORMAL, MAX]),
        ] {
            let limits = Limits::of(dtype);
            assert_eq!((limits.epsilon, limits.smallest), (two_to(epsilon), two_to(smallest)), "{dtype}");
            let found = [limits.computed_smallest, limits.computed_normal, limits.computed_largest];
            assert_eq!(found, computed, "{dtype}");
        }
    }

    #[test]
    fn factors_above_and_below_1_are_separate() {
        let of = |growth: f64, decay: f64| Factors { growth, decay };
        for (value, factors) in [
            (2.0, of(2.0, 1.0)),
            (-2.0, of(2.0, 1.0)),
            (-0.5, of(1.0, 0.5)),
            (1.0, Factors::NONE),
            (0.0, Factors::NONE),
        ] {
            assert_eq!(Factors::of(value), factors, "{value}");
        }
        assert_eq!(of(2.0, 0.5).times(of(3.0, 0.25)), of(6.0, 0.125));
    }

    #[test]
    fn a_product_underflows_below_the_normal_numbers_and_overflows_beyond_the_largest() {
        let limits = Limits::of(DType::F32);
        let of = |growth: f64, decay: f64| Factors { growth, decay };
        assert_eq!(of(8.0, NORMAL).underflow(limits), 0.0);
        assert_eq!(of(8.0, NORMAL.next_down()).underflow(limits), two_to(-146));
        let beyond = MAX.next_up();
        for (factors, product, overflows) in [
            (of(MAX, 0.5), 1.0, false),
            (of(beyond, 0.5), 1.0, true),
            (of(beyond, 0.5), -MAX, true),
            (of(beyond, 0.5), beyond, false),
            (of(beyond, NORMAL), beyond, false),
            (of(beyond, NORMAL.next_down()), beyond, true),
        ] {
            assert_eq!(factors.overflow(product, limits), overflows, "{factors:?} to {product}");
        }
    }

    #[test]
    fn a_sum_overflows_if_only_a_partial_sum_does() {
        let overflows = |values: &[f64], sum: f64| {
            let mut sums = Sums::default();
            values.iter().for_each(|&value| sums.add(value));
            sums.overflow(sum, Limits::of(DType::F32))
        };
        let beyond = MAX.next_up();
        for (values, sum, expected) in [
            (&[MAX][..], MAX, false),
            (&[-MAX], -MAX, false),
            (&[beyond, -1.0], MAX, true),
            (&[-beyond, 1.0], -MAX, true),
            (&[beyond, -1.0], beyond, false),
            (&[beyond, -beyond], beyond, true),
            (&[MAX, MAX, -MAX], MAX, true),
            (&[-MAX, -MAX, MAX], -MAX, true),
            (&[MAX, -MAX], 0.0, false),
            (&[f64::INFINITY], f64::INFINITY, false),
            (&[f64::INFINITY, -beyond], f64::INFINITY, true),
            (&[f64::NEG_INFINITY, beyond], f64::NEG_INFINITY, true),
            (&[f64::INFINITY, f64::NEG_INFINITY], f64::NAN, false),
            (&[f64::NAN, beyond, -beyond], f64::NAN, false),
            (&[f64::NAN, 1.0, beyond, -beyond], 0.0, false),
        ] {
            assert_eq!(overflows(values, sum), expected, "{values:?}");
        }
    }
}
