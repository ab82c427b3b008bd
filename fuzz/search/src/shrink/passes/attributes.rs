//! Default attributes; otherwise simpler ones.

use super::Offers;
use crate::shrink::draft::Draft;
use broadcheck_spec::Rules;

pub(in crate::shrink) fn plainer(draft: &Draft) -> Offers<'_> {
    let rules: Vec<Rules> = match &draft.rules {
        Rules::Pdpd { axis: Some(axis) } => {
            [None, Some(0), Some(-1), Some(axis / 2), Some(axis - axis.signum())]
                .map(|axis| Rules::Pdpd { axis })
                .to_vec()
        }
        Rules::Xla { broadcast_dimensions: Some(list) } => {
            dimensions(list).map(|list| Rules::Xla { broadcast_dimensions: list }).collect()
        }
        Rules::Pdpd { axis: None }
        | Rules::Xla { broadcast_dimensions: None }
        | Rules::None
        | Rules::Numpy
        | Rules::Bidirectional
        | Rules::Theano
        | Rules::Leading
        | Rules::Repeat => Vec::new(),
    };
    let ruled = rules.into_iter().map(|rules| Draft { rules, ..draft.clone() });
    let without = (0..draft.pieces.len()).map(|place| {
        let mut changed = draft.clone();
        changed.pieces[place].flags = None;
        changed
    });
    let cleared = (0..draft.pieces.len()).flat_map(move |place| {
        let flags = draft.pieces[place].flags.as_deref().unwrap_or_default();
        (0..flags.len()).filter(|&axis| flags[axis]).map(move |axis| {
            let mut changed = draft.clone();
            if let Some(flags) = &mut changed.pieces[place].flags {
                flags[axis] = false;
            }
            changed
        })
    });
    Box::new(ruled.chain(without).chain(cleared))
}

/// No list, an empty one, a shorter one, or one with a smaller number.
fn dimensions(list: &[i64]) -> impl Iterator<Item = Option<Vec<i64>>> {
    let shorter = (0..list.len()).map(|place| {
        let mut list = list.to_vec();
        list.remove(place);
        Some(list)
    });
    let smaller = (0..list.len()).flat_map(|place| {
        [0, list[place] / 2, list[place] - list[place].signum()].map(|less| {
            let mut list = list.to_vec();
            list[place] = less;
            Some(list)
        })
    });
    [None, Some(Vec::new())].into_iter().chain(shorter).chain(smaller)
}
