//! More views: negative strides that do not begin at the end of their buffer, and offsets of every one of
//! several operands.
//!
//! As in `views.rs`, each element shows which elements of the buffers were read.

use super::long::{RequestAndResult, elementwise, fold};
use super::views::{Arrangement, Side, bytes, computed, dtypes, function, gradient, signed};
use crate::retype::data;
use broadcheck_spec::{DType, RuleSet, Rules};

/// Unused elements of a buffer after the one that a reversed view begins with.
const BEYOND: usize = 3;

/// The strides of reversed vectors: beyond the shuffles that kernels have for 1 and 2.
const STRIDES: [usize; 6] = [1, 2, 3, 4, 5, 7];

/// A view that goes backwards, from `BEYOND` elements before the end of its buffer to its second element.
fn backwards(shape: &[usize], strides: &[i64]) -> Side {
    let reach: usize = shape
        .iter()
        .zip(strides)
        .map(|(&length, &stride)| (length - 1) * usize::try_from(stride.min(0).abs()).expect("small"))
        .sum();
    let forward: usize = shape
        .iter()
        .zip(strides)
        .map(|(&length, &stride)| (length - 1) * usize::try_from(stride.max(0)).expect("small"))
        .sum();
    let offset = reach + 1;
    let mut view = Side::view(shape, strides, offset);
    view.length = offset + forward + 1 + BEYOND;
    view
}

/// Vectors of a length with each stride, and matrices with each sign of both strides; the dtypes and the
/// partners take turns.
pub(super) fn reversed(rules: RuleSet, length: usize) -> Vec<Arrangement> {
    let mut all = Vec::new();
    for (place, stride) in STRIDES.into_iter().enumerate() {
        let turn = length + place;
        let dtype = dtypes(rules)[turn % 4];
        let make = move || {
            let view = backwards(&[length], &[-signed(stride)]);
            let partner = match (turn / 4 + place) % 3 {
                0 => Side::dense(rules, &[length], &[false]),
                1 => backwards(&[length], &[-signed(stride % 3 + 1)]),
                _ => Side::view(&[length], &[signed(stride)], 2),
            };
            let (first, second) = if turn.is_multiple_of(2) { (view, partner) } else { (partner, view) };
            computed(rules, dtype, &first, &second, &[length])
        };
        all.push(Arrangement::new(format!("by-{stride}-{dtype}"), make));
    }
    let rows = 5;
    for (place, [outer, inner]) in [[-1, -1], [-1, 1], [1, -1]].into_iter().enumerate() {
        let turn = length + place;
        let dtype = dtypes(rules)[turn % 4];
        let step = signed(1 + turn % 3);
        // Rows with a gap between them, and a stride within them.
        let strides = [outer * (step * signed(length) + 1), inner * step];
        let partner = move |stretched: [bool; 2]| Side::dense(rules, &[rows, length], &stretched);
        let stretched = match turn % 3 {
            _ if rules == RuleSet::None => [false, false],
            0 => [false, false],
            1 => [true, false],
            _ => [false, true],
        };
        let make = move || {
            let view = backwards(&[rows, length], &strides);
            computed(rules, dtype, &view, &partner(stretched), &[rows, length])
        };
        all.push(Arrangement::new(format!("matrix-{place}-{dtype}"), make));
        if rules != RuleSet::None && length.is_multiple_of(3) {
            let make = move || {
                let view = backwards(&[rows, length], &strides);
                gradient(
                    rules,
                    DType::F64,
                    &view,
                    &partner([place == 0, place != 0]),
                    &[rows, length],
                    place % 2,
                )
            };
            all.push(Arrangement::new(format!("gradient-{place}"), make));
        }
    }
    all
}

/// Several operands that are all views with their own offsets, and each operand in turn as the only view: as
/// vectors, and as matrices with gaps between their rows.
pub(super) fn operands(rules: RuleSet, count: usize) -> Vec<Arrangement> {
    let mut all = Vec::new();
    let mut push = |name: String, dtype: DType, shape: &'static [usize], sides: Vec<Side>| {
        all.push(Arrangement::new(name, move || summed(rules, dtype, &sides, shape)));
    };
    let wide = [DType::F64, DType::F32, DType::I16, DType::I64];
    let vector = |place: usize| match place % 4 {
        0 | 1 => Side::view(&[9], &[1], 2 * place + 1),
        2 => Side::view(&[9], &[2], place + 1),
        _ => backwards(&[9], &[-1]),
    };
    let matrix = |place: usize| Side::view(&[3, 5], &[signed(6 + place), 1], place + 1);
    let dense = |shape: &[usize]| Side::dense(rules, shape, &vec![false; shape.len()]);
    for (turn, dtype) in wide.into_iter().enumerate() {
        push(format!("vectors-{dtype}"), dtype, &[9], (0..count).map(vector).collect());
        if turn.is_multiple_of(2) {
            push(format!("matrices-{dtype}"), dtype, &[3, 5], (0..count).map(matrix).collect());
        }
    }
    for place in 0..count {
        let dtype = wide[(place + count) % wide.len()];
        let only = |other: usize| if other == place { vector(1) } else { dense(&[9]) };
        push(format!("vector-{place}-{dtype}"), dtype, &[9], (0..count).map(only).collect());
        let only = |other: usize| if other == place { matrix(place) } else { dense(&[3, 5]) };
        push(format!("matrix-{place}-{dtype}"), dtype, &[3, 5], (0..count).map(only).collect());
    }
    all
}

/// The difference of all operands. Element k of the buffer of each is a residue of another prime.
fn summed(rules: RuleSet, dtype: DType, sides: &[Side], shape: &[usize]) -> RequestAndResult {
    debug_assert!(bytes(dtype) > 1, "nothing wraps");
    let number = |place: usize, k: usize| signed((k * 7 + place * 13) % 97) + 1;
    let (function, value) = function(rules);
    let places: Vec<Vec<usize>> = sides.iter().map(|side| side.places(shape)).collect();
    let element = |i: usize| {
        let numbers = places.iter().enumerate().map(|(place, found)| number(place, found[i]));
        numbers.reduce(value).expect("an operand")
    };
    let values = data(dtype, (0..shape.iter().product()).map(element));
    let operands = sides
        .iter()
        .enumerate()
        .map(|(place, side)| side.operand(&format!("x{place}"), dtype, |k| number(place, k)));
    elementwise(Rules::from(rules), fold(function, sides.len()), operands.collect(), shape, values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_spec::{Data, Operand};

    #[test]
    fn a_reversed_view_by_hand() {
        // Of ten elements, from the fourth back to the second, two at a time.
        let side = backwards(&[2], &[-2]);
        assert_eq!((side.places(&[2]), side.length), (vec![3, 1], 7));
        // Rows forward by 7, columns backward by 3: from the fourth.
        let side = backwards(&[2, 2], &[7, -3]);
        assert_eq!((side.places(&[2, 2]), side.length), (vec![4, 1, 11, 8], 15));
    }

    #[test]
    fn operands_by_hand() {
        let made = |name: &str| {
            let found = operands(RuleSet::Numpy, 4).into_iter().find(|found| found.name == name);
            (found.unwrap_or_else(|| panic!("{name}")).make)()
        };
        let (request, result) = made("vector-3-i64");
        let offsets: Vec<usize> = request.operands().iter().map(Operand::offset).collect();
        assert_eq!(offsets, [0, 0, 0, 3]);
        let Data::I64(values) = result.values() else { panic!("i64") };
        // 1, 14, 27, and of the fourth buffer element 3: 3 * 7 + 39 + 1.
        assert_eq!(values[0], 1 - 14 - 27 - 61);
    }
}
