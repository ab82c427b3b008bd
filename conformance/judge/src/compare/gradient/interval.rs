//! Intervals of f64, rounded outward: if the operands are inside their intervals, the result is inside its
//! interval.

/// All numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Exactly 0.
    pub const ZERO: Interval = Interval { low: 0.0, high: 0.0 };
    /// Exactly 1.
    pub const ONE: Interval = Interval { low: 1.0, high: 1.0 };
    /// Anything, NaN included.
    pub(crate) const UNKNOWN: Interval = Interval { low: f64::NAN, high: f64::NAN };

    /// One number.
    pub fn point(value: f64) -> Interval {
        Interval { low: value, high: value }
    }

    /// The hull of some numbers, widened by one step on both sides.
    fn around(values: impl IntoIterator<Item = f64>) -> Interval {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        let mut nan = false;
        for value in values {
            nan |= value.is_nan();
            low = low.min(value);
            high = high.max(value);
        }
        if nan {
            return Interval::UNKNOWN;
        }
        Interval { low: low.next_down(), high: high.next_up() }
    }

    /// Whether both ends are finite.
    pub fn is_finite(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// Whether 0 is in the interval.
    pub(crate) fn holds_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// The largest absolute value.
    pub fn size(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The distance between the ends, rounded up.
    pub fn width(self) -> f64 {
        (self.high - self.low).next_up()
    }

    /// The interval widened by this much on both sides.
    pub(crate) fn widened(self, by: f64) -> Interval {
        Interval { low: (self.low - by).next_down(), high: (self.high + by).next_up() }
    }

    /// The negative of each number.
    pub fn negated(self) -> Interval {
        Interval { low: -self.high, high: -self.low }
    }

    /// Every sum of a number of this interval and one of the other.
    pub fn plus(self, other: Interval) -> Interval {
        Interval::around([self.low + other.low, self.high + other.high])
    }

    /// Every difference of a number of this interval and one of the other.
    pub fn minus(self, other: Interval) -> Interval {
        self.plus(other.negated())
    }

    /// Every product of a number of this interval and one of the other.
    pub fn times(self, other: Interval) -> Interval {
        // An exact 0 stays exact: it is the derivative by another operand.
        if self == Interval::ZERO || other == Interval::ZERO {
            return Interval::ZERO;
        }
        let corner = |a: f64, b: f64| a * b;
        Interval::around([
            corner(self.low, other.low),
            corner(self.low, other.high),
            corner(self.high, other.low),
            corner(self.high, other.high),
        ])
    }

    /// Every quotient, if the divisor cannot be 0.
    pub fn over(self, other: Interval) -> Option<Interval> {
        if other.holds_zero() {
            return None;
        }
        if self == Interval::ZERO {
            return Some(Interval::ZERO);
        }
        Some(Interval::around([
            self.low / other.low,
            self.low / other.high,
            self.high / other.low,
            self.high / other.high,
        ]))
    }

    /// The image under a monotonically increasing function that is known to within a few ULPs.
    pub(crate) fn rising(self, function: impl Fn(f64) -> f64) -> Interval {
        let (low, high) = (function(self.low), function(self.high));
        let slack = |value: f64| value.abs() * 8.0 * f64::EPSILON + f64::MIN_POSITIVE;
        Interval { low: low - slack(low), high: high + slack(high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_lie_inside() {
        let a = Interval { low: -2.0, high: 3.0 };
        let b = Interval { low: 4.0, high: 5.0 };
        let holds = |interval: Interval, low: f64, high: f64| {
            interval.low <= low && interval.high >= high && interval.width() < (high - low) * 1.000_001
        };
        assert!(holds(a.plus(b), 2.0, 8.0));
        assert!(holds(a.minus(b), -7.0, -1.0));
        assert!(holds(a.times(b), -10.0, 15.0));
        assert!(holds(a.over(b).unwrap(), -0.5, 0.75));
        assert!(holds(b.rising(f64::exp), 4f64.exp(), 5f64.exp()));
        assert_eq!(b.over(a), None);
        assert_eq!(a.times(Interval::ZERO), Interval::ZERO);
        assert!(!Interval::around([f64::NAN, 1.0]).is_finite());
    }

    #[test]
    fn properties_of_an_interval() {
        let of = |low: f64, high: f64| Interval { low, high };
        for (interval, holds) in [
            (of(-1.0, 1.0), true),
            (of(0.0, 1.0), true),
            (of(-1.0, 0.0), true),
            (of(1.0, 2.0), false),
            (of(-2.0, -1.0), false),
        ] {
            assert_eq!(interval.holds_zero(), holds, "{interval:?}");
        }
        assert_eq!((of(-3.0, 2.0).size(), of(-2.0, 3.0).size(), Interval::ZERO.size()), (3.0, 3.0, 0.0));
        assert!(!of(f64::NEG_INFINITY, 1.0).is_finite() && !of(1.0, f64::INFINITY).is_finite());
        assert!(of(-1.0, 1.0).is_finite() && !Interval::UNKNOWN.is_finite());
        assert_eq!(of(1.0, 2.0).negated(), of(-2.0, -1.0));
        assert_eq!(Interval::around([f64::NAN, 1.0, 2.0]).low.to_bits(), Interval::UNKNOWN.low.to_bits());
        assert_eq!(Interval::ZERO.over(of(1.0, 2.0)), Some(Interval::ZERO));
        assert_eq!(Interval::ZERO.times(of(1.0, 2.0)), Interval::ZERO);
    }

    #[test]
    fn a_widened_interval_is_wider_on_both_sides_by_the_right_amount() {
        let wider = Interval { low: 1.0, high: 2.0 }.widened(0.5);
        assert!(wider.low < 0.5 && wider.low > 0.499_999 && wider.high > 2.5 && wider.high < 2.500_001);
        // 8 ULPs of the value, and the smallest normal number if it is 0.
        let exp = Interval::ONE.rising(f64::exp);
        let room = 8.0 * f64::EPSILON * 1f64.exp();
        for side in [1f64.exp() - exp.low, exp.high - 1f64.exp()] {
            assert!(side > 0.9 * room && side < 1.1 * room, "{side} of {room}");
        }
        let zero = Interval::ZERO.rising(|value| value);
        assert_eq!(zero, Interval { low: -f64::MIN_POSITIVE, high: f64::MIN_POSITIVE });
    }
}
