//! Lower ranks: removes aligned axes together, or a single axis.

use super::Offers;
use crate::shrink::draft::{Draft, End};
use broadcheck_spec::Rules;

pub(in crate::shrink) fn fewer(draft: &Draft) -> Offers<'_> {
    let ranks: Vec<usize> = (0..draft.shape_count()).map(|place| draft.shape(place).len()).collect();
    let highest = ranks.iter().copied().max().unwrap_or(0);
    // Counted from the right, as in most rule sets, or from the first axis.
    let from_first = draft.rules == Rules::Leading;
    let together = ends(0..highest).map(move |(nth, end)| {
        let mut changed = draft.clone();
        for place in 0..draft.shape_count() {
            let rank = draft.shape(place).len();
            if nth < rank {
                changed.remove_axis(place, if from_first { nth } else { rank - 1 - nth }, end);
            }
        }
        changed
    });
    let named = ends(0..highest).filter_map(|(axis, end)| along_the_attribute(draft, axis, end));
    let alone = (0..draft.shape_count()).flat_map(move |place| {
        ends(0..draft.shape(place).len()).map(move |(axis, end)| {
            let mut changed = draft.clone();
            changed.remove_axis(place, axis, end);
            changed
        })
    });
    Box::new(together.chain(named).chain(alone))
}

/// Each axis with each of its ends.
fn ends(axes: std::ops::Range<usize>) -> impl Iterator<Item = (usize, End)> {
    axes.flat_map(|axis| End::BOTH.map(|end| (axis, end)))
}

/// Removes an axis of the higher operand, or of the target, together with the axis that the attribute aligns
/// with it, and changes the attribute so that the other axes stay aligned.
fn along_the_attribute(draft: &Draft, axis: usize, end: End) -> Option<Draft> {
    // A target comes after its only operand.
    if draft.shape_count() != 2 {
        return None;
    }
    let ranks = [0, 1].map(|place| draft.shape(place).len());
    let has_target = draft.pieces.len() == 1;
    let mut changed = draft.clone();
    match &draft.rules {
        Rules::Xla { broadcast_dimensions: Some(list) } => {
            let higher = usize::from(has_target || ranks[1] > ranks[0]);
            let number = i64::try_from(axis).ok()?;
            if axis >= draft.shape(higher).len() {
                return None;
            }
            changed.remove_axis(higher, axis, end);
            if let Some(lower) = list.iter().position(|&named| named == number)
                && lower < draft.shape(1 - higher).len()
            {
                changed.remove_axis(1 - higher, lower, end);
            }
            let moved = |&named: &i64| if named > number { named - 1 } else { named };
            let list = list.iter().filter(|&&named| named != number).map(moved).collect();
            changed.rules = Rules::Xla { broadcast_dimensions: Some(list) };
        }
        Rules::Pdpd { axis: Some(start) } => {
            if axis >= ranks[0] {
                return None;
            }
            changed.remove_axis(0, axis, end);
            match usize::try_from(*start) {
                Ok(start) if axis < start => changed.rules = Rules::Pdpd { axis: Some(start as i64 - 1) },
                Ok(start) if axis - start < ranks[1] => changed.remove_axis(1, axis - start, end),
                _ => {}
            }
        }
        Rules::Pdpd { axis: None }
        | Rules::Xla { broadcast_dimensions: None }
        | Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => return None,
    }
    Some(changed)
}
