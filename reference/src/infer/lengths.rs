//! What an axis says of its result when its lengths are known only by their bounds: the clauses of
//! SEMANTICS.md that decide it on one axis.

use broadcheck_spec::Length;
use std::collections::BTreeSet;

/// What is known of the result on one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    /// The result's length: every value that an accepted run can give, and no other.
    pub(super) length: Length,
    /// Whether no run is refused because of this axis.
    pub(super) always: bool,
}

/// INFER-4: lengths of which each may be stretched if it is 1. `None` if no run is accepted.
pub(super) fn stretched(lengths: &[Length]) -> Option<Axis> {
    let long: Vec<Length> = lengths.iter().copied().filter(|length| !length.admits(1)).collect();
    let length = if long.is_empty() {
        // Each can be 1, so each can be the result's while all others are 1.
        from_lowest_to_highest(lengths)
    } else {
        common(&long)?
    };
    let not_surely_one = lengths.iter().filter(|length| length.number() != Some(1)).count();
    Some(Axis { length, always: others_than_one(lengths).len() <= 1 || not_surely_one <= 1 })
}

/// INFER-5: lengths that must be equal. Also the axes flagged False of INFER-8. `None` if no run is accepted.
pub(super) fn equal(lengths: &[Length]) -> Option<Axis> {
    let length = common(lengths)?;
    let one_number = length.number().is_some() && lengths.iter().all(|other| *other == length);
    Some(Axis { length, always: lengths.len() == 1 || one_number })
}

/// INFER-6 and INFER-7: a length that is stretched onto another if it is 1, while the other stays as it is.
/// `None` if no run is accepted.
pub(super) fn stretched_onto(target: Length, length: Length) -> Option<Axis> {
    let result = if length.admits(1) { target } else { common(&[target, length])? };
    let always = others_than_one(&[length]).iter().all(|&other| target.number() == Some(other));
    Some(Axis { length: result, always })
}

/// The values that all of the lengths admit.
fn common(lengths: &[Length]) -> Option<Length> {
    let min = lengths.iter().map(|length| length.min()).max().unwrap_or(0);
    let max = lengths.iter().filter_map(|length| length.max()).min();
    Length::bounded(min, max)
}

/// From the lowest to the highest value that any of the lengths admits.
fn from_lowest_to_highest(lengths: &[Length]) -> Length {
    let min = lengths.iter().map(|length| length.min()).min().unwrap_or(0);
    let highest: Option<Vec<usize>> = lengths.iter().map(|length| length.max()).collect();
    let max = highest.map(|highest| highest.into_iter().max().unwrap_or(0));
    Length::bounded(min, max).expect("each of the lengths is from its lowest to its highest value")
}

/// The values other than 1 that the lengths admit, at most two of each length.
fn others_than_one(lengths: &[Length]) -> BTreeSet<usize> {
    let of_one = |length: &Length| {
        let highest = length.max().unwrap_or(usize::MAX);
        (length.min()..=highest).filter(|&value| value != 1).take(2).collect::<Vec<_>>()
    };
    lengths.iter().flat_map(of_one).collect()
}
