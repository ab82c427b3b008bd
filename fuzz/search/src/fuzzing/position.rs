//! Which requests of a run are done, so that a later run can continue it.

use std::collections::BTreeMap;
use std::ops::Range;

/// Hands out the numbers of the requests in order, without those that are done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Positions {
    next: u64,
    /// The requests that are done, as disjoint ranges: the end of each by its start.
    done: BTreeMap<u64, u64>,
}

impl Positions {
    /// Continues after these.
    pub(super) fn after(done: &[(u64, u64)]) -> Positions {
        let mut positions = Positions::default();
        done.iter().for_each(|&(start, end)| positions.finish(start..end));
        positions
    }

    /// The next numbers below `end` that are not done, up to a multiple of `size`; `None` if there are none.
    /// A continued run therefore gets the same batches as one that was not interrupted.
    pub(super) fn take(&mut self, size: u64, end: u64) -> Option<Range<u64>> {
        while let Some((_, &done)) =
            self.done.range(..=self.next).next_back().filter(|(_, end)| **end > self.next)
        {
            self.next = done;
        }
        let until = (self.next / size.max(1)).saturating_add(1).saturating_mul(size.max(1)).min(end);
        let until = self.done.range(self.next..).next().map_or(until, |(&start, _)| until.min(start));
        let taken = self.next..until;
        self.next = self.next.max(until);
        (!taken.is_empty()).then_some(taken)
    }

    /// Records that these are done.
    pub(super) fn finish(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let Range { mut start, mut end } = range;
        let touching: Vec<u64> = self
            .done
            .range(..=end)
            .filter(|(_, its_end)| **its_end >= start)
            .map(|(start, _)| *start)
            .collect();
        for other in touching {
            let its_end = self.done.remove(&other).unwrap_or(end);
            (start, end) = (start.min(other), end.max(its_end));
        }
        self.done.insert(start, end);
    }

    /// The requests that are done, as ranges in order.
    pub(super) fn done(&self) -> Vec<(u64, u64)> {
        self.done.iter().map(|(&start, &end)| (start, end)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_handed_out_once() {
        let mut positions = Positions::default();
        assert_eq!(positions.take(64, 100), Some(0..64));
        assert_eq!(positions.take(64, 100), Some(64..100));
        assert_eq!(positions.take(64, 100), None);
        // The second batch ended first, and the first was cut short.
        positions.finish(64..100);
        positions.finish(0..10);
        assert_eq!(positions.done(), [(0, 10), (64, 100)]);
        let mut again = Positions::after(&positions.done());
        assert_eq!(again.take(64, 300), Some(10..64));
        assert_eq!(again.take(64, 300), Some(100..128), "batches end where they would have ended");
        again.finish(10..64);
        assert_eq!(again.done(), [(0, 100)]);
        assert_eq!(again.take(64, 300), Some(128..192));
    }

    #[test]
    fn the_last_number_does_not_overflow() {
        let mut positions = Positions::after(&[(0, u64::MAX - 3)]);
        assert_eq!(positions.take(64, u64::MAX), Some(u64::MAX - 3..u64::MAX));
        assert_eq!(positions.take(64, u64::MAX), None);
    }
}
