//! Where the axes of an operand lie under the result, for relations that reshape or view operands.

use broadcheck_spec::Shape;

/// PDPD-3: B without its trailing ones.
pub(super) fn trimmed(b: &Shape) -> &[usize] {
    let kept = b.iter().rposition(|&length| length != 1).map_or(0, |last| last + 1);
    &b[..kept]
}

/// PDPD-1, PDPD-2 and PDPD-4: the axis of A on which B starts; `None` where B has no place there.
pub(super) fn pdpd_start(a: &Shape, b: &Shape, axis: Option<i64>) -> Option<usize> {
    let default = a.rank().checked_sub(b.rank())?;
    let start = match axis {
        None | Some(-1) => default,
        Some(axis) => usize::try_from(axis).ok()?,
    };
    (start + trimmed(b).len() <= a.rank()).then_some(start)
}

/// The axes that a well-formed list of dimensions names.
pub(super) fn in_dim_axes(dimensions: &[i64]) -> Vec<usize> {
    dimensions.iter().filter_map(|&dimension| usize::try_from(dimension).ok()).collect()
}

/// The last `count` axes of a rank.
pub(super) fn last_axes(count: usize, rank: usize) -> Vec<usize> {
    (rank - count..rank).collect()
}

/// Lengths put on these axes of a rank, with 1 on the others.
pub(super) fn spread(lengths: &[usize], axes: &[usize], rank: usize) -> Shape {
    let mut wide = vec![1; rank];
    for (&length, &axis) in lengths.iter().zip(axes) {
        wide[axis] = length;
    }
    Shape::new(wide)
}

/// The strides of a dense row-major tensor, in elements.
pub(super) fn row_major(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * i64::try_from(shape[axis].max(1)).unwrap_or(i64::MAX);
    }
    strides
}

/// The strides that make a view of `result` from a dense operand whose axes lie on these axes of it: those of
/// the operand, and 0 where it has length 1 or no axis. `None` where the result has no such axis: it is what an
/// implementation answered, and may have any shape.
pub(super) fn view_strides(shape: &[usize], axes: &[usize], result: &Shape) -> Option<Vec<i64>> {
    let mut strides = vec![0; result.rank()];
    for ((&length, stride), &axis) in shape.iter().zip(row_major(shape)).zip(axes) {
        let place = strides.get_mut(axis)?;
        if length != 1 {
            *place = stride;
        }
    }
    Some(strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_is_trimmed_and_placed() {
        let [a, b] = [Shape::from([2, 3, 4]), Shape::from([3, 1])];
        assert_eq!(trimmed(&b), [3]);
        assert_eq!(pdpd_start(&a, &b, None), Some(1));
        assert_eq!(pdpd_start(&a, &b, Some(2)), Some(2));
        assert_eq!(pdpd_start(&a, &b, Some(3)), None);
        assert_eq!(pdpd_start(&b, &a, Some(0)), None);
        assert_eq!(spread(&[3], &[1], 3), Shape::from([1, 3, 1]));
        assert_eq!(trimmed(&Shape::from([1, 1])), [0usize; 0]);
    }

    #[test]
    fn a_view_stands_still_where_it_is_broadcast() {
        let result = Shape::from([4, 2, 3]);
        assert_eq!(row_major(&[4, 2, 3]), [6, 3, 1]);
        assert_eq!(view_strides(&[2, 3], &[1, 2], &result), Some(vec![0, 3, 1]));
        assert_eq!(view_strides(&[4, 1], &[0, 2], &result), Some(vec![1, 0, 0]));
        assert_eq!(view_strides(&[], &[], &result), Some(vec![0, 0, 0]));
        assert_eq!(view_strides(&[2], &[2], &Shape::from([2])), None);
    }
}
