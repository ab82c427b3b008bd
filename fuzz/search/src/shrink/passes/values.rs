//! Plain values (1, 2, 3, …) if any values show the disagreement; otherwise as few and as short ones as
//! possible.

use super::Offers;
use crate::shrink::cost::value_cost;
use crate::shrink::draft::{Draft, converted, plain};
use broadcheck_spec::{Data, Scalar};
use std::ops::Range;

/// Operands with more values than this are not changed value by value.
const MOST_ALONE: usize = 128;

pub(in crate::shrink) fn plainer(draft: &Draft) -> Offers<'_> {
    let all = std::iter::once_with(|| {
        let ranges: Vec<(usize, Range<usize>)> =
            draft.pieces.iter().map(|piece| 0..piece.values.len()).enumerate().collect();
        with_plain(draft, &ranges)
    });
    let parts = (0..draft.pieces.len()).flat_map(move |place| {
        let ranges = ranges(draft.pieces[place].values.len());
        ranges.into_iter().map(move |range| with_plain(draft, &[(place, range)]))
    });
    let single = (0..draft.pieces.len()).flat_map(move |place| {
        let values = &draft.pieces[place].values;
        let count = if values.len() <= MOST_ALONE { values.len() } else { 0 };
        (0..count).flat_map(move |at| {
            let value = values.get(at);
            shorter(value).into_iter().map(move |shorter| with_value(draft, place, at, shorter))
        })
    });
    Box::new(all.chain(parts).chain(single).flatten())
}

/// The whole range, its halves, their halves, down to single values if there are not too many.
fn ranges(count: usize) -> Vec<Range<usize>> {
    let mut all = Vec::new();
    let mut size = count;
    while size > 0 && (count <= MOST_ALONE || count / size <= MOST_ALONE) {
        all.extend((0..count).step_by(size).map(|start| start..(start + size).min(count)));
        size /= 2;
    }
    all
}

fn with_plain(draft: &Draft, ranges: &[(usize, Range<usize>)]) -> Option<Draft> {
    let mut changed = draft.clone();
    for (place, range) in ranges {
        let values = &mut changed.pieces[*place].values;
        let dtype = values.dtype();
        let made = values
            .iter()
            .enumerate()
            .map(|(at, value)| if range.contains(&at) { plain(dtype, at, *place) } else { value });
        *values = Data::from_scalars(dtype, made).ok()?;
    }
    Some(changed)
}

fn with_value(draft: &Draft, place: usize, at: usize, new: Scalar) -> Option<Draft> {
    let mut changed = draft.clone();
    let values = &mut changed.pieces[place].values;
    let made = values.iter().enumerate().map(|(other, value)| if other == at { new } else { value });
    *values = Data::from_scalars(values.dtype(), made).ok()?;
    Some(changed)
}

/// Values that are simpler than this one: 1, 0, 2, its integer part, one with half the digits.
fn shorter(value: Option<Scalar>) -> Vec<Scalar> {
    let Some(value) = value else { return Vec::new() };
    let dtype = value.dtype();
    let mut all: Vec<Scalar> = [1.0, 0.0, 2.0].map(|plain| converted(Scalar::F64(plain), dtype)).to_vec();
    if let Some(float) = value.as_f64().filter(|float| float.is_finite()) {
        let cut = |bits: u32| f64::from_bits(float.to_bits() >> bits << bits);
        let tries =
            [float.trunc(), float.round(), float.abs(), cut(50), cut(48), cut(42), cut(26), float / 2.0];
        all.extend(tries.map(|float| converted(Scalar::F64(float), dtype)));
    } else if let Some(whole) = value.as_i128() {
        let tries = [whole.abs(), whole / 2, whole - whole.signum()];
        let narrow = tries.into_iter().filter_map(|whole| i64::try_from(whole).ok());
        all.extend(narrow.map(|whole| converted(Scalar::I64(whole), dtype)));
    }
    all.retain(|&other| value_cost(other) < value_cost(value));
    all
}
