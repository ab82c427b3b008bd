//! Enumerates all small shapes and attributes, and computes their number by arithmetic alone.
//!
//! Code that visits them therefore knows the number in advance, and can check that it visited as many.

use broadcheck_spec::Shape;
use std::fmt;

/// Bounds on shapes: every rank up to `max_rank`, every length from 0 to `max_length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The highest rank.
    pub max_rank: usize,
    /// The longest length.
    pub max_length: usize,
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ranks 0 to {}, lengths 0 to {}", self.max_rank, self.max_length)
    }
}

impl Extent {
    /// Bounds by the highest rank and the longest length.
    pub fn new(max_rank: usize, max_length: usize) -> Extent {
        Extent { max_rank, max_length }
    }

    /// The number of shapes of a rank. Counts saturate at `u128::MAX`, here and below.
    pub(crate) fn shapes_of_rank(&self, rank: usize) -> u128 {
        power(self.max_length as u128 + 1, rank)
    }

    /// The number of shapes.
    pub fn shape_count(&self) -> u128 {
        self.sum_over_ranks(|rank| self.shapes_of_rank(rank))
    }

    /// Σ over all ranks.
    pub fn sum_over_ranks(&self, of: impl Fn(usize) -> u128) -> u128 {
        // Beyond rank 64 every count is already saturated.
        (0..=self.max_rank.min(64)).map(of).fold(0, u128::saturating_add)
    }

    /// Σ over ordered pairs of shapes of something that depends on their ranks alone.
    pub fn sum_over_pairs(&self, of: impl Fn(usize, usize) -> u128) -> u128 {
        let shapes = |rank| self.shapes_of_rank(rank);
        self.sum_over_ranks(|left| {
            self.sum_over_ranks(|right| {
                shapes(left).saturating_mul(shapes(right)).saturating_mul(of(left, right))
            })
        })
    }

    /// The same over unordered pairs of shapes, including a shape with itself.
    pub(crate) fn sum_over_unordered_pairs(&self, of: impl Fn(usize, usize) -> u128) -> u128 {
        let shapes = |rank| self.shapes_of_rank(rank);
        self.sum_over_ranks(|left| {
            (0..=left).fold(0u128, |sum, right| {
                let pairs = if left == right {
                    shapes(left).saturating_mul(shapes(left).saturating_add(1)) / 2
                } else {
                    shapes(left).saturating_mul(shapes(right))
                };
                sum.saturating_add(pairs.saturating_mul(of(left, right)))
            })
        })
    }

    /// Every shape, by rank, then by lengths from the left.
    pub fn shapes(&self) -> Vec<Shape> {
        let mut shapes = vec![Shape::scalar()];
        let mut of_rank = vec![Vec::new()];
        for _ in 0..self.max_rank {
            let longer = |lengths: &Vec<usize>| {
                let lengths = lengths.clone();
                (0..=self.max_length).map(move |length| [&lengths[..], &[length]].concat())
            };
            of_rank = of_rank.iter().flat_map(longer).collect();
            shapes.extend(of_rank.iter().cloned().map(Shape::new));
        }
        shapes
    }
}

/// The values of pdpd's `axis`: absent, and from below the lower limit to above the upper limit for rank 4.
pub(super) fn axes() -> impl Iterator<Item = Option<i64>> {
    std::iter::once(None).chain((-3..=5).map(Some))
}

/// How many values of `axis` there are.
pub(super) const AXES: u128 = 10;

/// The largest number of `broadcast_dimensions` of one wrong length that are all visited. Ranks up to 3 have
/// no more.
const MOST_WRONG_LISTS: u128 = 1000;

/// How many lists of `broadcast_dimensions` [`each_dimensions`] visits.
pub(super) fn dimensions_count(low: usize, high: usize) -> u128 {
    let lists = (0..=low + 1).map(|length| match power(high as u128 + 2, length) {
        all if length == low || all <= MOST_WRONG_LISTS => all,
        _ => 3,
    });
    lists.fold(1, u128::saturating_add)
}

/// Every `broadcast_dimensions` for an operand of rank `low` that is placed on axes of rank `high`: absent,
/// then each list of -1 to `high` (one below and one above what an axis can be) of each length up to `low` +
/// 1.
///
/// A list whose length is not `low` is refused for its length, whatever it contains. If there are
/// more than 1000 of one such length, only three are visited: the first axes, all too low, all too high.
pub(super) fn each_dimensions(low: usize, high: usize, mut visit: impl FnMut(Option<&[i64]>)) {
    let high = signed(high);
    visit(None);
    for length in 0..=low + 1 {
        if length != low && power(u128::from(high.unsigned_abs()) + 2, length) > MOST_WRONG_LISTS {
            visit(Some(&(0..signed(length)).collect::<Vec<_>>()));
            visit(Some(&vec![-1; length]));
            visit(Some(&vec![high; length]));
            continue;
        }
        let mut list = vec![-1; length];
        loop {
            visit(Some(&list));
            let Some(place) = list.iter().rposition(|&dimension| dimension < high) else { break };
            list[place] += 1;
            list[place + 1..].fill(-1);
        }
    }
}

/// The lists of dimensions that XLA's text allows for different ranks: strictly increasing axes of the higher
/// operand, one per axis of the lower. Increasing order from the left.
pub(super) fn increasing_dimensions(one_rank: usize, other_rank: usize) -> Vec<Vec<i64>> {
    let (low, high) = (one_rank.min(other_rank), one_rank.max(other_rank));
    let mut lists = vec![Vec::new()];
    for _ in 0..low {
        let longer = |list: &Vec<i64>| {
            let list = list.clone();
            let next = list.last().map_or(0, |last| last + 1);
            (next..signed(high)).map(move |dimension| [&list[..], &[dimension]].concat())
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

/// Every list of distinct axes of rank `high`, one per axis of rank `low`. Increasing order from the left.
pub(super) fn distinct_dimensions(low: usize, high: usize) -> Vec<Vec<i64>> {
    let mut lists = vec![Vec::new()];
    for _ in 0..low {
        let longer = |list: &Vec<i64>| {
            let list = list.clone();
            let others = (0..signed(high)).filter(|axis| !list.contains(axis)).collect::<Vec<_>>();
            others.into_iter().map(move |axis| [&list[..], &[axis]].concat())
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

/// How many lists [`distinct_dimensions`] gives for these ranks.
pub(super) fn arrangements(low: usize, high: usize) -> u128 {
    if low > high {
        return 0;
    }
    (high - low + 1..=high).fold(1u128, |product, factor| product.saturating_mul(factor as u128))
}

/// The binomial coefficient: how many lists [`increasing_dimensions`] gives for these ranks.
pub(super) fn choices(one_rank: usize, other_rank: usize) -> u128 {
    let (low, high) = (one_rank.min(other_rank) as u128, one_rank.max(other_rank) as u128);
    (0..low).fold(1, |product, step| product * (high - step) / (step + 1))
}

/// Every pattern of flags of a rank.
pub(super) fn flags(rank: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1usize << rank).map(move |bits| (0..rank).map(|axis| bits >> axis & 1 == 1).collect())
}

/// How many patterns of flags two operands have together.
pub(super) fn flags_count(one_rank: usize, other_rank: usize) -> u128 {
    power(2, one_rank + other_rank)
}

/// How many orders of `rank` axes there are.
pub(super) fn factorial(rank: usize) -> u128 {
    (1..=rank as u128).fold(1, u128::saturating_mul)
}

/// `base` to the power of `exponent`, saturating at `u128::MAX`.
fn power(base: u128, exponent: usize) -> u128 {
    base.saturating_pow(u32::try_from(exponent).unwrap_or(u32::MAX))
}

/// A rank in the type of `broadcast_dimensions`.
pub(super) fn signed(rank: usize) -> i64 {
    i64::try_from(rank).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_visited_is_the_number_counted() {
        let extent = Extent::new(3, 2);
        assert_eq!(extent.shapes().len() as u128, extent.shape_count());
        assert_eq!(extent.shape_count(), 1 + 3 + 9 + 27);
        assert_eq!(axes().count() as u128, AXES);
        for (low, high) in [(0, 0), (0, 2), (1, 1), (1, 3), (2, 3), (3, 3), (3, 4), (4, 4)] {
            let mut lists = Vec::new();
            each_dimensions(low, high, |list| lists.push(list.map(<[i64]>::to_vec)));
            assert_eq!(lists.len() as u128, dimensions_count(low, high));
            lists.sort();
            lists.dedup();
            assert_eq!(lists.len() as u128, dimensions_count(low, high), "each once");
            assert_eq!(increasing_dimensions(low, high).len() as u128, choices(low, high));
            assert_eq!(distinct_dimensions(low, high).len() as u128, arrangements(low, high));
            assert_eq!(
                flags(low).count() * flags(high).count(),
                usize::try_from(flags_count(low, high)).unwrap()
            );
        }
        assert_eq!(dimensions_count(1, 3), 1 + 1 + 5 + 25);
        assert_eq!(dimensions_count(3, 3), 1 + 1 + 5 + 25 + 125 + 625);
        assert_eq!(dimensions_count(3, 4), 1 + 1 + 6 + 36 + 216 + 3);
        assert_eq!(dimensions_count(4, 4), 1 + 1 + 6 + 36 + 216 + 1296 + 3);
        assert_eq!((factorial(0), factorial(4)), (1, 24));
        assert_eq!(distinct_dimensions(2, 3), [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]);
        assert_eq!((arrangements(2, 1), arrangements(3, 4), arrangements(0, 0)), (0, 24, 1));
    }

    #[test]
    fn pairs_are_counted_by_their_ranks() {
        let extent = Extent::new(2, 3);
        let shapes = extent.shape_count();
        assert_eq!(extent.sum_over_pairs(|_, _| 1), shapes * shapes);
        assert_eq!(extent.sum_over_unordered_pairs(|_, _| 1), shapes * (shapes + 1) / 2);
    }

    #[test]
    fn absurd_bounds_saturate() {
        let extent = Extent::new(usize::MAX, usize::MAX);
        assert_eq!(extent.sum_over_pairs(dimensions_count), u128::MAX);
        assert_eq!(Extent::new(500, 3).sum_over_pairs(|_, _| 1), u128::MAX);
    }

    #[test]
    fn lists_of_dimensions_reach_beyond_every_limit() {
        let mut lists = Vec::new();
        each_dimensions(1, 2, |list| lists.push(list.map(<[i64]>::to_vec)));
        assert!(lists.contains(&Some(vec![-1])) && lists.contains(&Some(vec![2])));
        assert!(lists.contains(&Some(vec![1, 1])) && lists.contains(&Some(vec![])));
        assert_eq!(increasing_dimensions(2, 3), [[0, 1], [0, 2], [1, 2]]);
    }
}
