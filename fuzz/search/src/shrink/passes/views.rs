//! Dense operands instead of views; otherwise simpler views.

use super::Offers;
use crate::shrink::draft::{Draft, Piece};
use broadcheck::relations::rewrite::gathered;

pub(in crate::shrink) fn plainer(draft: &Draft) -> Offers<'_> {
    let all = std::iter::once_with(|| {
        let mut changed = draft.clone();
        changed.pieces.iter_mut().try_for_each(|piece| match piece.strides {
            Some(_) => piece.make_dense(),
            None => Some(()),
        })?;
        Some(changed)
    });
    let views = (0..draft.pieces.len()).filter(|&place| draft.pieces[place].strides.is_some());
    let each = views.flat_map(move |place| {
        let rank = draft.pieces[place].shape.len();
        let axes = (0..rank).flat_map(|axis| {
            [Change::Forwards(axis), Change::Still(axis), Change::One(axis), Change::Half(axis)]
        });
        let changes = [Change::Dense, Change::Trimmed, Change::RowMajor].into_iter().chain(axes);
        changes.map(move |change| {
            let mut changed = draft.clone();
            apply(&mut changed.pieces[place], change)?;
            Some(changed)
        })
    });
    Box::new(all.chain(each).flatten())
}

#[derive(Clone, Copy)]
enum Change {
    /// The dense operand that the view shows.
    Dense,
    /// Only the part of the buffer that is reached.
    Trimmed,
    /// The strides of a dense operand, from the start of the buffer.
    RowMajor,
    /// A negative stride reversed.
    Forwards(usize),
    /// A stride of 0.
    Still(usize),
    /// A stride of 1 or -1.
    One(usize),
    /// Half the stride.
    Half(usize),
}

fn apply(piece: &mut Piece, change: Change) -> Option<()> {
    if let Change::Dense = change {
        return piece.make_dense();
    }
    if piece.shape.contains(&0) {
        return None;
    }
    let (shape, strides) = (piece.shape.clone(), piece.strides.as_mut()?);
    let reach = |length: usize, stride: i64| (length as i128 - 1).saturating_mul(stride.into());
    match change {
        Change::Dense => {}
        Change::Trimmed => {
            let reaches = shape.iter().zip(strides.iter()).map(|(&length, &stride)| reach(length, stride));
            let (mut low, mut high) = (piece.offset as i128, piece.offset as i128);
            for reach in reaches {
                low = low.saturating_add(reach.min(0));
                high = high.saturating_add(reach.max(0));
            }
            let (low, high) = (usize::try_from(low).ok()?, usize::try_from(high).ok()?);
            piece.values = gathered(&piece.values, &(low..=high).collect::<Vec<usize>>())?;
            piece.offset -= low;
        }
        Change::RowMajor => {
            let mut step = 1i64;
            for (stride, &length) in strides.iter_mut().zip(&shape).rev() {
                *stride = step;
                step = step.checked_mul(i64::try_from(length).ok()?)?;
            }
            piece.offset = 0;
        }
        Change::Forwards(axis) => {
            if strides[axis] >= 0 {
                return None;
            }
            piece.offset =
                usize::try_from((piece.offset as i128).saturating_add(reach(shape[axis], strides[axis])))
                    .ok()?;
            strides[axis] = strides[axis].checked_neg()?;
        }
        Change::Still(axis) => strides[axis] = 0,
        Change::One(axis) => strides[axis] = strides[axis].signum(),
        Change::Half(axis) => strides[axis] /= 2,
    }
    Some(())
}
