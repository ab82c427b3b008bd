//! What an exported case admits at an element beside its expected value: the entries of `result.admitted`.
//!
//! The rule is small on purpose, because every consumer of an export implements it again.

use crate::{NumberKind, Scalar};
use std::cmp::Ordering;

/// One entry of an element's list in `result.admitted`. A value is right if one entry of the list admits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admitted {
    /// Exactly this value: the same bits, or NaN if it is NaN.
    Value(Scalar),
    /// Every number from `lower` to `upper`, which have the dtype of the result. They are compared as
    /// numbers, so -0 equals +0. NaN is never inside.
    Between {
        /// The lower end.
        lower: Scalar,
        /// The upper end.
        upper: Scalar,
    },
}

impl Admitted {
    /// Whether the entry admits a value of the result's dtype.
    ///
    /// ```
    /// use broadcheck_spec::{Admitted, Scalar};
    /// let interval = Admitted::Between { lower: Scalar::F32(0.0), upper: Scalar::F32(1.5) };
    /// assert!(interval.admits(Scalar::F32(1.0)) && interval.admits(Scalar::F32(-0.0)));
    /// assert!(!interval.admits(Scalar::F32(f32::NAN)));
    /// assert!(!Admitted::Value(Scalar::F32(0.0)).admits(Scalar::F32(-0.0)));
    /// ```
    pub fn admits(self, found: Scalar) -> bool {
        match self {
            Admitted::Value(value) => {
                let nan = |scalar: Scalar| scalar.as_f64().is_some_and(f64::is_nan);
                value.to_bits() == found.to_bits() || (nan(value) && nan(found))
            }
            Admitted::Between { lower, upper } => [order(lower, found), order(found, upper)]
                .iter()
                .all(|order| order.is_some_and(Ordering::is_le)),
        }
    }
}

/// How two values of one dtype compare as numbers; `None` if one is NaN, or a boolean.
fn order(one: Scalar, other: Scalar) -> Option<Ordering> {
    match one.dtype().kind() {
        NumberKind::Float => one.as_f64()?.partial_cmp(&other.as_f64()?),
        NumberKind::Integer => one.as_i128()?.partial_cmp(&other.as_i128()?),
        NumberKind::Truth => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    #[test]
    fn a_value_is_compared_by_its_bits_and_nan_with_any_nan() {
        let other_nan = Scalar::F64(f64::from_bits(f64::NAN.to_bits() | 1));
        assert!(Admitted::Value(Scalar::F64(f64::NAN)).admits(other_nan));
        assert!(Admitted::Value(Scalar::F64(-0.0)).admits(Scalar::F64(-0.0)));
        assert!(!Admitted::Value(Scalar::F64(-0.0)).admits(Scalar::F64(0.0)));
        assert!(!Admitted::Value(Scalar::F64(1.0)).admits(other_nan));
        assert!(Admitted::Value(Scalar::Bool(true)).admits(Scalar::Bool(true)));
        assert!(!Admitted::Value(Scalar::Bool(true)).admits(Scalar::Bool(false)));
    }

    #[test]
    fn an_interval_includes_its_ends_both_zeros_and_no_nan() {
        let half = |value: f32| Scalar::F16(f16::from_f32(value));
        let interval = Admitted::Between { lower: half(-1.0), upper: half(-0.0) };
        for inside in [-1.0, -0.5, -0.0, 0.0] {
            assert!(interval.admits(half(inside)), "{inside}");
        }
        for outside in [-1.001, 1e-7, f32::NEG_INFINITY, f32::NAN] {
            assert!(!interval.admits(half(outside)), "{outside}");
        }
        let all = Admitted::Between { lower: half(f32::NEG_INFINITY), upper: half(f32::INFINITY) };
        assert!(all.admits(half(f32::INFINITY)) && !all.admits(half(f32::NAN)));
    }

    #[test]
    fn integers_are_compared_beyond_2_to_the_53() {
        let [lower, upper] = [1u64 << 63, u64::MAX - 1].map(Scalar::U64);
        let interval = Admitted::Between { lower, upper };
        assert!(interval.admits(lower) && interval.admits(upper));
        assert!(!interval.admits(Scalar::U64(u64::MAX)) && !interval.admits(Scalar::U64((1 << 63) - 1)));
    }
}
