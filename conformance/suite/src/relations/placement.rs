//! Maps the axes of an operand to axes of the result, for relations that reshape operands or view them.

use broadcheck_spec::{Operand, Request, RuleSet, Rules, Shape};

/// The rank of the result, if the request is accepted.
pub(super) fn result_rank(request: &Request) -> usize {
    let target = match request.operation().target_shape() {
        Some(target_shape) if request.rules().set() == RuleSet::Xla => return target_shape.rank(),
        Some(target_shape) => target_shape.rank(),
        None => 0,
    };
    request.operands().iter().map(Operand::rank).fold(target, usize::max)
}

/// The axes of the result to which the axes of an operand are aligned, without the trailing axes that pdpd
/// drops (PDPD-3). `None` if the attributes leave no place for the operand, so that the rule set refuses the
/// request.
pub(super) fn axes_of(request: &Request, place: usize) -> Option<Vec<usize>> {
    let operands = request.operands();
    let shape = operands[place].shape();
    let last_axes = || {
        let rank = result_rank(request);
        Some((rank - shape.rank()..rank).collect())
    };
    match (request.rules(), operands) {
        (Rules::Xla { broadcast_dimensions }, [_]) if request.operation().target_shape().is_some() => {
            target_axes(broadcast_dimensions.as_deref(), shape.rank(), result_rank(request))
        }
        (Rules::Leading, _) => Some((0..shape.rank()).collect()),
        // REPEAT-2. Axes of B that A does not have are none of the result's.
        (Rules::Repeat, _) => {
            let rank = request.operation().target_shape().map_or(operands[0].rank(), Shape::rank);
            Some((rank.checked_sub(shape.rank())?..rank).collect())
        }
        (Rules::None | Rules::Numpy | Rules::Bidirectional | Rules::Theano, _) | (_, [_]) => last_axes(),
        (Rules::Pdpd { .. }, [_, _]) if place == 0 => last_axes(),
        (Rules::Pdpd { axis }, [a, _]) => {
            let start = pdpd_start(a.shape(), shape, *axis)?;
            Some((start..start + trimmed(shape).len()).collect())
        }
        (Rules::Xla { broadcast_dimensions }, [_, _]) => {
            xla_axes(broadcast_dimensions.as_deref(), shape.rank(), operands[1 - place].rank())
        }
        (Rules::Pdpd { .. } | Rules::Xla { .. }, _) => None,
    }
}

/// PDPD-3: B without its trailing ones.
fn trimmed(b: &Shape) -> &[usize] {
    let kept = b.iter().rposition(|&length| length != 1).map_or(0, |last| last + 1);
    &b[..kept]
}

/// PDPD-1, PDPD-2 and PDPD-4: the axis of A at which B starts; `None` if B does not fit there.
fn pdpd_start(a: &Shape, b: &Shape, axis: Option<i64>) -> Option<usize> {
    let default = a.rank().checked_sub(b.rank())?;
    let start = match axis {
        None | Some(-1) => default,
        Some(axis) => usize::try_from(axis).ok()?,
    };
    (start.checked_add(trimmed(b).len())? <= a.rank()).then_some(start)
}

/// XLA-1, XLA-7 and XLA-8: no dimensions or the identity for equal ranks; otherwise strictly increasing axes
/// of the higher operand, one per axis of the lower.
fn xla_axes(dimensions: Option<&[i64]>, own: usize, other: usize) -> Option<Vec<usize>> {
    let all = || (0..own).collect();
    let given = dimensions.unwrap_or(&[]);
    if own == other {
        let identity = given.len() == own && given.iter().zip(0..).all(|(&axis, place)| axis == place);
        return (given.is_empty() || identity).then(all);
    }
    if own > other {
        return Some(all());
    }
    let axes: Option<Vec<usize>> = given.iter().map(|&axis| usize::try_from(axis).ok()).collect();
    axes.filter(|axes| {
        axes.len() == own
            && axes.windows(2).all(|pair| pair[0] < pair[1])
            && axes.last().is_none_or(|&last| last < other)
    })
}

/// XLA-9 to XLA-11: distinct axes of the target, one per axis of the operand.
fn target_axes(dimensions: Option<&[i64]>, own: usize, target: usize) -> Option<Vec<usize>> {
    let axis = |&axis: &i64| usize::try_from(axis).ok().filter(|&axis| axis < target);
    let axes: Vec<usize> = dimensions.unwrap_or(&[]).iter().map(axis).collect::<Option<_>>()?;
    let distinct = axes.iter().enumerate().all(|(place, axis)| !axes[..place].contains(axis));
    (axes.len() == own && distinct).then_some(axes)
}

/// Lengths on these axes of a rank, with 1 on the others.
pub(super) fn spread(lengths: &[usize], axes: &[usize], rank: usize) -> Vec<usize> {
    let mut wide = vec![1; rank];
    for (&length, &axis) in lengths.iter().zip(axes) {
        wide[axis] = length;
    }
    wide
}

/// The operand as a view of shape `result`, with stride 0 where it has length 1 or no axis. `None` if there
/// is no such view: `result` is the answer of an implementation and may be any shape.
pub(super) fn view_of(operand: &Operand, axes: &[usize], result: &Shape) -> Option<Operand> {
    let own = match operand.strides() {
        Some(strides) => strides.to_vec(),
        None => row_major(operand.shape())?,
    };
    let mut strides = vec![0; result.rank()];
    for ((&length, stride), &axis) in operand.shape().iter().zip(own).zip(axes) {
        let place = strides.get_mut(axis)?;
        if length != 1 {
            *place = stride;
        }
    }
    let values = operand.values().clone();
    Operand::view(operand.name(), result.clone(), values, Some(strides), operand.offset()).ok()
}

/// The strides of a dense row-major tensor, in elements.
pub(super) fn row_major(shape: &[usize]) -> Option<Vec<i64>> {
    let mut strides = vec![1i64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].checked_mul(i64::try_from(shape[axis].max(1)).ok()?)?;
    }
    Some(strides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pdpd_trims_b_and_places_it() {
        let [a, b] = [Shape::from([2, 3, 4]), Shape::from([3, 1])];
        assert_eq!(trimmed(&b), [3]);
        assert_eq!(pdpd_start(&a, &b, None), Some(1));
        assert_eq!(pdpd_start(&a, &b, Some(2)), Some(2));
        assert_eq!(pdpd_start(&a, &b, Some(3)), None);
        assert_eq!(pdpd_start(&b, &a, Some(0)), None);
        assert_eq!(spread(&[3], &[1], 3), [1, 3, 1]);
        assert_eq!(trimmed(&Shape::from([1, 1])), [0usize; 0]);
    }

    #[test]
    fn xla_places_the_lower_operand_by_its_dimensions() {
        assert_eq!(xla_axes(Some(&[0, 2]), 2, 3), Some(vec![0, 2]));
        assert_eq!(xla_axes(Some(&[0, 2]), 3, 2), Some(vec![0, 1, 2]));
        assert_eq!(xla_axes(Some(&[0, 1]), 2, 2), Some(vec![0, 1]));
        assert_eq!(xla_axes(None, 0, 2), Some(vec![]));
        for (list, own, other) in
            [(&[2, 0][..], 2, 3), (&[1], 2, 3), (&[3], 1, 3), (&[-1], 1, 3), (&[1, 0], 2, 2)]
        {
            assert_eq!(xla_axes(Some(list), own, other), None, "{list:?}");
        }
        assert_eq!(xla_axes(None, 1, 2), None);
    }

    #[test]
    fn a_broadcast_is_placed_on_distinct_axes_of_the_target() {
        assert_eq!(target_axes(Some(&[2, 0]), 2, 3), Some(vec![2, 0]));
        assert_eq!(target_axes(None, 0, 3), Some(vec![]));
        for (list, own) in [(&[0, 0][..], 2), (&[0], 2), (&[0, 1], 1), (&[-1], 1), (&[3], 1)] {
            assert_eq!(target_axes(Some(list), own, 3), None, "{list:?}");
        }
        assert_eq!(target_axes(None, 2, 2), None);
    }

    #[test]
    fn a_view_has_stride_0_where_it_is_broadcast() {
        let result = Shape::from([4, 2, 3]);
        let view = |shape: &[usize], axes: &[usize]| {
            let operand = Operand::dense("a", shape, vec![0i8; shape.iter().product()]).unwrap();
            view_of(&operand, axes, &result).and_then(|view| view.strides().map(<[i64]>::to_vec))
        };
        assert_eq!(row_major(&[4, 2, 3]), Some(vec![6, 3, 1]));
        assert_eq!(view(&[2, 3], &[1, 2]), Some(vec![0, 3, 1]));
        assert_eq!(view(&[4, 1], &[0, 2]), Some(vec![1, 0, 0]));
        assert_eq!(view(&[], &[]), Some(vec![0, 0, 0]));
        assert_eq!(view(&[2], &[3]), None, "there is no axis 3");
        assert_eq!(view(&[2], &[2]), None, "3 elements of 2");
    }
}
