//! The numbers that take the place of unknown lengths.
//!
//! Rule sets compare lengths only with each other and with 1. So each number is represented by its position
//! among those that are tried, its *label*: 0 and 1 are themselves, and the order is kept. Then the labels
//! of lengths near 2^64 are small, and no run is too large.

use broadcheck_spec::{Length, PartialShape, Signature};

/// The most numbers, so that the labels on an axis fit into the bits of a `u128`.
const MOST: usize = 120;

/// How many shapes take the place of an unknown rank, for each rank.
const SHAPES: usize = 150;

/// The numbers to try for a signature, in increasing order: 0, 1, each bound and its neighbours, and two
/// larger ones, which stand for everything that no bound excludes.
pub(super) struct Numbers {
    numbers: Vec<u128>,
    /// Whether some had to be left out.
    pub(super) complete: bool,
}

impl Numbers {
    pub(super) fn of(signature: &Signature) -> Numbers {
        let lengths = || signature.shapes().filter_map(PartialShape::lengths).flatten();
        let bounds: Vec<u128> = lengths()
            .flat_map(|length| [Some(length.min()), length.max()])
            .flatten()
            .map(|bound| bound as u128)
            .collect();
        let top = bounds.iter().copied().max().unwrap_or(1).max(1);
        let near = bounds.iter().flat_map(|&bound| [bound.saturating_sub(1), bound, bound + 1]);
        let mut numbers: Vec<u128> = near.chain([0, 1, top + 1, top + 2]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let complete = numbers.len() <= MOST;
        if !complete {
            numbers.truncate(MOST);
        }
        Numbers { numbers, complete }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The labels of the numbers that a length admits.
    pub(super) fn admitted(&self, length: Length) -> Vec<u8> {
        let within = |number: u128| {
            length.min() as u128 <= number && length.max().is_none_or(|max| number <= max as u128)
        };
        (0u8..).zip(&self.numbers).filter(|&(_, &number)| within(number)).map(|(label, _)| label).collect()
    }

    /// The length whose lowest and highest numbers have these labels.
    pub(super) fn length(&self, lowest: u8, highest: u8) -> Length {
        let bound = |label: u8| usize::try_from(self.numbers[usize::from(label)]).unwrap_or(usize::MAX);
        // Nothing but an unbounded length reaches the largest number.
        let unbounded = usize::from(highest) + 1 == self.len();
        let max = if unbounded { None } else { Some(bound(highest)) };
        Length::bounded(bound(lowest), max).expect("the lowest number comes first")
    }

    /// Shapes that take the place of an unknown rank: all ranks up to `highest`. At most `free` axes vary
    /// freely: the last ones, and those from `start` on. The others are all 1 or all the largest number. Also
    /// whether the free axes have all of the numbers.
    pub(super) fn shapes(&self, highest: usize, free: usize, start: Option<usize>) -> (Vec<Vec<u8>>, bool) {
        let (mut shapes, mut complete) = (Vec::new(), true);
        let largest = u8::try_from(self.len() - 1).unwrap_or(u8::MAX);
        for rank in 0..=highest {
            let free = rank.min(free.max(1));
            let of_free = |count: usize| (0..free).try_fold(1usize, |all, _| all.checked_mul(count));
            let fits = |&count: &usize| of_free(count).is_some_and(|all| all <= SHAPES);
            let count = (2..=self.len()).rev().find(fits).unwrap_or(2);
            complete &= count == self.len();
            let fills: &[u8] = if rank > free { &[1, largest] } else { &[1] };
            let mut starts = vec![rank - free];
            starts.extend(start.filter(|&start| start < rank - free));
            for (&fill, &start) in fills.iter().flat_map(|fill| starts.iter().map(move |start| (fill, start)))
            {
                for mut place in 0..of_free(count).unwrap_or(0) {
                    let mut shape = vec![fill; rank];
                    for axis in (start..start + free).rev() {
                        shape[axis] = self.by_importance(place % count);
                        place /= count;
                    }
                    shapes.push(shape);
                }
            }
        }
        (shapes, complete)
    }

    /// The labels in another order: 1, 2 if there is one, 0, the largest, then all others.
    fn by_importance(&self, place: usize) -> u8 {
        let largest = self.len() - 1;
        let label = match place {
            0 => 1,
            1 => 2.min(largest),
            2 => 0,
            3 => largest,
            other => other - 1,
        };
        u8::try_from(label).unwrap_or(u8::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_spec::{Asked, DType, OperandType, Rules};
    use std::collections::BTreeSet;

    fn numbers(shape: &str) -> Numbers {
        let operand = OperandType::new("a", DType::F32, shape.parse::<PartialShape>().unwrap()).unwrap();
        let target = Asked::TargetShape(PartialShape::Unranked);
        Numbers::of(&Signature::new(Rules::Numpy, target, vec![operand]).unwrap())
    }

    #[test]
    fn the_numbers_are_near_the_bounds() {
        assert_eq!(numbers("?").numbers, [0, 1, 2, 3]);
        assert_eq!(numbers("1..5").numbers, [0, 1, 2, 4, 5, 6, 7]);
        let most = numbers("18446744073709551615");
        assert_eq!(most.numbers[2..], [(1 << 64) - 2, (1 << 64) - 1, 1 << 64, (1 << 64) + 1]);
        assert_eq!(most.length(3, 3), Length::exactly(usize::MAX));
        assert_eq!(most.length(0, 5), Length::UNKNOWN);
    }

    #[test]
    fn a_length_admits_the_numbers_within_its_bounds() {
        let numbers = numbers("1..5");
        let admitted = |text: &str| numbers.admitted(text.parse().unwrap());
        assert_eq!(admitted("?"), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(admitted("1..5"), [1, 2, 3, 4]);
        assert_eq!(admitted("6.."), [5, 6]);
        assert!(admitted("3").is_empty());
    }

    #[test]
    fn shapes_have_every_rank_and_every_number() {
        let numbers = numbers("2x?");
        let (shapes, complete) = numbers.shapes(3, 2, None);
        assert!(complete);
        assert_eq!(shapes.iter().collect::<BTreeSet<_>>().len(), shapes.len());
        assert!(!shapes.contains(&vec![0, 0, 1]));
        assert!(numbers.shapes(3, 2, Some(0)).0.contains(&vec![0, 0, 1]));
        let of_rank = |rank| shapes.iter().filter(|shape| shape.len() == rank).count();
        let count = numbers.len();
        assert_eq!([0, 1, 2, 3].map(of_rank), [1, count, count * count, 2 * count * count]);
    }
}
