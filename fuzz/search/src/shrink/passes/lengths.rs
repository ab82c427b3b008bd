//! Smaller lengths.

use super::Offers;
use crate::shrink::cost::length_cost;
use crate::shrink::draft::{Draft, End};

/// Reduces each length everywhere it occurs, so that equal lengths stay equal.
pub(in crate::shrink) fn all_at_once(draft: &Draft) -> Offers<'_> {
    let mut lengths: Vec<usize> =
        (0..draft.shape_count()).flat_map(|place| draft.shape(place).to_vec()).collect();
    lengths.sort_unstable_by_key(|&length| std::cmp::Reverse(length_cost(length)));
    lengths.dedup();
    let pairs = lengths.into_iter().flat_map(|length| smaller(length).map(move |less| (length, less)));
    let ends = pairs.flat_map(|pair| End::BOTH.map(|end| (pair, end)));
    Box::new(ends.map(|((length, less), end)| {
        let mut changed = draft.clone();
        for place in 0..draft.shape_count() {
            for axis in 0..draft.shape(place).len() {
                if draft.shape(place)[axis] == length {
                    changed.set_length(place, axis, less, end);
                }
            }
        }
        changed
    }))
}

/// Reduces two axes of equal length in different shapes together; then each axis alone.
pub(in crate::shrink) fn one_by_one(draft: &Draft) -> Offers<'_> {
    let axes: Vec<(usize, usize)> = (0..draft.shape_count())
        .flat_map(|place| (0..draft.shape(place).len()).map(move |axis| (place, axis)))
        .collect();
    let length = |&(place, axis): &(usize, usize)| draft.shape(place)[axis];
    let pairs: Vec<[(usize, usize); 2]> = axes
        .iter()
        .flat_map(|one| axes.iter().map(move |other| [*one, *other]))
        .filter(|[one, other]| one.0 < other.0 && length(one) == length(other))
        .collect();
    let twice = pairs.into_iter().map(|pair| pair.to_vec());
    let once = axes.clone().into_iter().map(|one| vec![one]);
    Box::new(twice.chain(once).flat_map(move |axes| {
        let before = axes.first().map_or(1, |&(place, axis)| draft.shape(place)[axis]);
        smaller(before).flat_map(|less| End::BOTH.map(|end| (less, end))).map(move |(less, end)| {
            let mut changed = draft.clone();
            for &(place, axis) in &axes {
                changed.set_length(place, axis, less, end);
            }
            changed
        })
    }))
}

/// Cheaper lengths, the boldest step first, down to the next smaller length.
fn smaller(length: usize) -> impl Iterator<Item = usize> {
    let steps =
        (1..usize::BITS).map(move |half| length - (length >> half)).take_while(move |&less| less < length);
    let near = [length.saturating_sub(1)];
    let cheaper = move |less: &usize| length_cost(*less) < length_cost(length);
    [1, 2, 3].into_iter().chain([length / 2]).chain(steps).chain(near).filter(cheaper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_has_cheaper_ones_down_to_its_neighbour() {
        assert_eq!(smaller(0).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(smaller(1).count(), 0);
        assert_eq!(smaller(2).next(), Some(1));
        let of_100: Vec<usize> = smaller(100).collect();
        assert!(of_100.starts_with(&[1, 2, 3, 50, 50, 75]) && of_100.contains(&99));
        assert!(smaller(usize::MAX).count() < 100);
    }
}
