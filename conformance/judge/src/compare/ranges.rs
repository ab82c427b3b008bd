//! Sets of floats: ranges of adjacent floats, with or without NaN.

#![warn(clippy::wildcard_enum_match_arm)]

use super::gradient::Interval;
use super::ulp::{from_key, infinity_key, key};
use broadcheck_reference::{apply, round_to};
use broadcheck_spec::{DType, Function, Scalar};

/// More ranges than this are merged into one.
const MOST_RANGES: usize = 16;

/// -0 and +0 as keys.
pub(super) const ZEROS: [i64; 2] = [-1, 0];

/// The keys from `low` to `high`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ValueRange {
    pub(super) low: i64,
    pub(super) high: i64,
}

/// A set of floats of one dtype.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Floats {
    pub(super) dtype: DType,
    pub(super) ranges: Vec<ValueRange>,
    pub(super) nan: bool,
}

/// Values on which every function behaves uniformly: NaN; a single zero or infinity; or numbers of one sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Piece {
    Nan,
    Keys(ValueRange),
}

impl ValueRange {
    pub(super) fn point(key: i64) -> ValueRange {
        ValueRange { low: key, high: key }
    }

    pub(super) fn holds(self, key: i64) -> bool {
        (self.low..=self.high).contains(&key)
    }

    pub(super) fn is_point(self) -> bool {
        self.low == self.high
    }

    /// The same numbers with the opposite sign.
    pub(super) fn mirrored(self) -> ValueRange {
        ValueRange { low: -1 - self.high, high: -1 - self.low }
    }

    /// Every float but NaN and the infinities.
    pub(super) fn finite(dtype: DType) -> ValueRange {
        let infinity = infinity_key(dtype);
        ValueRange { low: -infinity, high: infinity - 1 }
    }

    /// Every float but NaN.
    pub(super) fn whole(dtype: DType) -> ValueRange {
        ValueRange { low: -1 - infinity_key(dtype), high: infinity_key(dtype) }
    }

    /// The floats of a dtype in an interval whose ends have that dtype, with both zeros or none; `None` if an
    /// end is NaN.
    pub(super) fn within(interval: Interval, dtype: DType) -> Option<ValueRange> {
        let end = |value: f64, zero: i64| {
            if value == 0.0 { Some(zero) } else { key(round_to(dtype, value)) }
        };
        let [minus, plus] = ZEROS;
        Some(ValueRange { low: end(interval.low, minus)?, high: end(interval.high, plus)? })
    }

    fn common(self, other: ValueRange) -> Option<ValueRange> {
        let common = ValueRange { low: self.low.max(other.low), high: self.high.min(other.high) };
        (common.low <= common.high).then_some(common)
    }

    /// The range widened by some ULPs. The two zeros count as one point: a range that reaches one reaches the
    /// other, and the step between them costs nothing.
    pub(super) fn widened(self, ulp: u32, dtype: DType) -> ValueRange {
        let ulp = i64::from(ulp);
        let (mut low, mut high) = (self.low.saturating_sub(ulp), self.high.saturating_add(ulp));
        // mutant: replace < with <=: where low is +0, the last expression turns it into -0 as well
        if self.low >= 0 && low < 0 {
            low = low.saturating_sub(1);
        }
        if self.high < 0 && high >= 0 {
            high = high.saturating_add(1);
        }
        let whole = ValueRange::whole(dtype);
        ValueRange {
            low: if low == 0 { -1 } else { low.max(whole.low) },
            high: if high == -1 { 0 } else { high.min(whole.high) },
        }
    }
}

impl Piece {
    /// Both ends, which are equal for NaN and the special values.
    pub(super) fn ends(self, dtype: DType) -> [Scalar; 2] {
        match self {
            Piece::Nan => [nan_of(dtype); 2],
            Piece::Keys(range) => [from_key(dtype, range.low), from_key(dtype, range.high)],
        }
    }

    /// Whether this is a zero, an infinity or NaN, for which the functions of clause V-4 are exact.
    pub(super) fn is_special(self, dtype: DType) -> bool {
        match self {
            Piece::Nan => true,
            Piece::Keys(range) => {
                let infinity = infinity_key(dtype);
                range.is_point() && [-1 - infinity, -1, 0, infinity].contains(&range.low)
            }
        }
    }

    /// The keys, if the sign bit is set.
    pub(super) fn negative(self) -> Option<ValueRange> {
        match self {
            Piece::Keys(range) => (range.high < 0).then_some(range),
            Piece::Nan => None,
        }
    }
}

impl Floats {
    pub(super) fn empty(dtype: DType) -> Floats {
        Floats { dtype, ranges: Vec::new(), nan: false }
    }

    pub(super) fn exactly(value: Scalar) -> Floats {
        let range = key(value).map(ValueRange::point);
        Floats { dtype: value.dtype(), nan: range.is_none(), ranges: range.into_iter().collect() }
    }

    /// Whether a value is in the set. A range that contains one zero also contains the other, unless that
    /// zero is all it contains: the sign of an exact zero is checked (clause V-4).
    pub(super) fn contains(&self, value: Scalar) -> bool {
        let Some(key) = key(value) else { return self.nan };
        let holds = |range: &ValueRange| {
            let zero = ZEROS.contains(&key) && !range.is_point();
            range.holds(key) || (zero && ZEROS.iter().any(|&zero| range.holds(zero)))
        };
        self.ranges.iter().any(holds)
    }

    /// Whether a zero of either sign is in the set.
    pub(super) fn holds_zero(&self) -> bool {
        self.ranges.iter().any(|range| ZEROS.iter().any(|&zero| range.holds(zero)))
    }

    /// The set in pieces, also split at these keys.
    pub(super) fn pieces(&self, cuts: &[i64]) -> Vec<Piece> {
        let infinity = infinity_key(self.dtype);
        let mut points = vec![-1 - infinity, -1, 0, infinity];
        points.extend(cuts);
        points.sort_unstable();
        let mut regions = Vec::new();
        for pair in points.windows(2) {
            regions.push(ValueRange::point(pair[0]));
            regions.push(ValueRange { low: pair[0] + 1, high: pair[1] - 1 });
        }
        regions.push(ValueRange::point(infinity));
        let common = |range: &ValueRange| {
            let range = *range;
            regions.iter().filter_map(move |&region| range.common(region)).map(Piece::Keys)
        };
        let nan = self.nan.then_some(Piece::Nan);
        self.ranges.iter().flat_map(common).chain(nan).collect()
    }

    /// Adds another set's values.
    pub(super) fn join(&mut self, other: &Floats) {
        self.ranges.extend(&other.ranges);
        self.nan |= other.nan;
    }

    /// The same set with as few ranges as possible; a larger set if it needs too many.
    pub(super) fn merged(mut self) -> Floats {
        self.ranges.sort_unstable();
        let mut merged: Vec<ValueRange> = Vec::new();
        for range in self.ranges {
            match merged.last_mut() {
                Some(last) if range.low <= last.high.saturating_add(1) => {
                    last.high = last.high.max(range.high);
                }
                _ => merged.push(range),
            }
        }
        if let [first, .., last] = merged[..]
            && merged.len() > MOST_RANGES
        {
            merged = vec![ValueRange { low: first.low, high: last.high }];
        }
        Floats { ranges: merged, ..self }
    }
}

fn nan_of(dtype: DType) -> Scalar {
    let zero = from_key(dtype, 0);
    apply(Function::Divide, &[zero, zero])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(low: i64, high: i64) -> ValueRange {
        ValueRange { low, high }
    }

    #[test]
    fn the_zeros_count_as_one_point_of_a_widened_range() {
        // By hand: key 1 is the smallest subnormal, 0 is +0, -1 is -0, -2 the negative number nearest to 0.
        let widened = |low, high, ulp| range(low, high).widened(ulp, DType::F32);
        assert_eq!(widened(9, 9, 4), range(5, 13));
        assert_eq!(widened(4, 4, 4), range(-1, 8), "reaches +0 and so -0");
        assert_eq!(widened(1, 1, 4), range(-4, 5), "1, ±0, -2, -3, -4");
        assert_eq!(widened(0, 0, 4), range(-5, 4));
        assert_eq!(widened(-1, -1, 4), range(-5, 4), "from -0 as from +0");
        assert_eq!(widened(-2, -2, 4), range(-6, 3));
        assert_eq!(widened(-5, -5, 4), range(-9, 0), "reaches -0 and so +0");
        assert_eq!(widened(-3, 2, 1), range(-4, 3));
        let infinity = infinity_key(DType::F32);
        assert_eq!(widened(infinity, infinity, 2), range(infinity - 2, infinity));
        assert_eq!(widened(-1 - infinity, 0, 1).low, -1 - infinity);
        assert_eq!(widened(7, 7, 0), range(7, 7));
    }

    #[test]
    fn pieces_are_special_values_and_numbers_of_one_sign() {
        let infinity = infinity_key(DType::F16);
        let set = Floats { dtype: DType::F16, ranges: vec![range(-7, infinity)], nan: true };
        let keys = |low, high| Piece::Keys(range(low, high));
        assert_eq!(
            set.pieces(&[]),
            [
                keys(-7, -2),
                keys(-1, -1),
                keys(0, 0),
                keys(1, infinity - 1),
                keys(infinity, infinity),
                Piece::Nan
            ]
        );
        let cut = Floats { nan: false, ranges: vec![range(8, 12)], ..set };
        assert_eq!(cut.pieces(&[10]), [keys(8, 9), keys(10, 10), keys(11, 12)]);
    }

    #[test]
    fn the_sign_of_a_zero_is_checked_only_if_it_is_exact() {
        let minus_zero = Scalar::F64(-0.0);
        let set = |low, high| Floats { dtype: DType::F64, ranges: vec![range(low, high)], nan: false };
        assert!(!set(0, 0).contains(minus_zero));
        assert!(set(0, 3).contains(minus_zero));
        assert!(!set(1, 3).contains(minus_zero));
        assert!(set(-4, -1).contains(Scalar::F64(0.0)));
        assert!(!set(-1, -1).contains(Scalar::F64(0.0)));
        assert!(!set(0, 3).contains(Scalar::F64(f64::NAN)));
    }

    #[test]
    fn ranges_merge_if_they_touch_or_if_there_are_too_many() {
        let set = |ranges| Floats { dtype: DType::F64, ranges, nan: false }.merged().ranges;
        assert_eq!(set(vec![range(5, 6), range(1, 2), range(3, 3)]), [range(1, 3), range(5, 6)]);
        assert_eq!(set(vec![range(1, 9), range(2, 3)]), [range(1, 9)]);
        assert_eq!(set((0..17).map(|place| ValueRange::point(2 * place)).collect()), [range(0, 32)]);
        assert_eq!(set((0..16).map(|place| ValueRange::point(2 * place)).collect()).len(), 16);
    }
}
