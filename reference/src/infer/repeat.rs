//! What is known of a result under `repeat` (clause INFER-14). An axis depends on the others only if both
//! operands can be without elements (REPEAT-4).

use super::{Known, mismatch};
use crate::rules::{is_multiple, repeat_rank};
use broadcheck_spec::{Length, PartialShape, Refusal, RefusalKind};

/// B onto A, or an operand onto a target.
pub(super) fn onto(b: &PartialShape, a: &PartialShape) -> Result<Known, Refusal> {
    for rank in [a.rank(), b.rank()].into_iter().flatten() {
        repeat_rank(rank)?;
    }
    // A shape of unknown rank can have too high a rank.
    let (Some(a), Some(b)) = (a.lengths(), b.lengths()) else {
        return Ok(Known { shape: a.clone(), always: false, flags: None });
    };
    let divided = divided(a, b);
    let lengths = if a.iter().any(|length| length.admits(0)) && b.iter().any(|length| length.admits(0)) {
        // REPEAT-4. Some runs have no elements.
        let emptied = emptied(a);
        match divided {
            Ok(divided) => divided.into_iter().zip(emptied).map(|(one, other)| hull(one, other)).collect(),
            Err(_) => emptied,
        }
    } else {
        divided?
    };
    Ok(Known { shape: PartialShape::Ranked(lengths), always: always(a, b), flags: None })
}

/// One operand: its shape, whose rank may be too high if it is unknown.
pub(super) fn alone(shape: &PartialShape) -> Result<Known, Refusal> {
    if let Some(rank) = shape.rank() {
        repeat_rank(rank)?;
    }
    Ok(Known { shape: shape.clone(), always: shape.rank().is_some(), flags: None })
}

/// REPEAT-2 and REPEAT-3, where B has elements: A's lengths, as far as they can be multiples of B's.
fn divided(a: &[Length], b: &[Length]) -> Result<Vec<Length>, Refusal> {
    if let Some(length) = beyond(a, b).iter().find(|length| !length.admits(1)) {
        let message = format!("B has the length {length} on an axis that A does not have");
        return Err(Refusal::new(RefusalKind::RankMismatch, message));
    }
    let axis = |axis: usize| {
        let length = length_of_b(a, b, axis);
        multiples(a[axis], length).ok_or_else(|| mismatch(&[a[axis], length]).at_axis(axis))
    };
    (0..a.len()).map(axis).collect()
}

/// The lengths of an A without elements: each can be whatever it can be if another one can be 0.
fn emptied(a: &[Length]) -> Vec<Length> {
    let other = |axis: usize| a.iter().enumerate().any(|(at, length)| at != axis && length.admits(0));
    (0..a.len()).map(|axis| if other(axis) { a[axis] } else { Length::exactly(0) }).collect()
}

/// The bounds of the lengths of A that can be a multiple of B's.
fn multiples(a: Length, b: Length) -> Option<Length> {
    if b.admits(1) {
        return Some(a);
    }
    match b.number() {
        Some(0) => a.admits(0).then_some(Length::exactly(0)),
        Some(number) => {
            let low = a.min().checked_next_multiple_of(number)?;
            Length::bounded(low, a.max().map(|max| max - max % number))
        }
        // The only multiple of a larger number that is lower is 0.
        None if a.max().is_some_and(|max| max < b.min()) => a.admits(0).then_some(Length::exactly(0)),
        None if a.admits(0) => Some(a),
        None => Length::bounded(a.min().max(b.min()), a.max()),
    }
}

/// Whether every run is accepted.
fn always(a: &[Length], b: &[Length]) -> bool {
    let without_elements = |lengths: &[Length]| lengths.iter().any(|length| length.number() == Some(0));
    let b: Vec<Length> = match (without_elements(a), without_elements(b)) {
        (true, true) => return true,
        // REPEAT-4. Where B has no elements either, the run is accepted.
        (true, false) => {
            b.iter().filter_map(|length| Length::bounded(length.min().max(1), length.max())).collect()
        }
        (false, _) => b.to_vec(),
    };
    let fits = |axis: usize| always_multiple(a[axis], length_of_b(a, &b, axis));
    beyond(a, &b).iter().all(|length| length.number() == Some(1)) && (0..a.len()).all(fits)
}

/// Whether every length of A is a multiple of every length of B. Of two lengths in a row, only 1 divides
/// both, and few numbers in a row divide one length.
fn always_multiple(a: Length, b: Length) -> bool {
    match (a.number(), b.max()) {
        (Some(0), _) => true,
        (Some(length), Some(max)) => (b.min()..=max).all(|of| is_multiple(length, of)),
        (Some(_), None) => false,
        (None, _) => b.number() == Some(1),
    }
}

/// The axes of B that A does not have.
fn beyond<'a>(a: &[Length], b: &'a [Length]) -> &'a [Length] {
    &b[..b.len().saturating_sub(a.len())]
}

fn length_of_b(a: &[Length], b: &[Length], axis: usize) -> Length {
    (axis + b.len()).checked_sub(a.len()).map_or(Length::exactly(1), |own| b[own])
}

/// The smallest bounds that enclose two lengths.
fn hull(one: Length, other: Length) -> Length {
    let max = one.max().zip(other.max()).map(|(one, other)| one.max(other));
    Length::bounded(one.min().min(other.min()), max).expect("the lower bound is the lowest")
}
