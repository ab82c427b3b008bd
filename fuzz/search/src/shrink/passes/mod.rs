//! The passes that make a request smaller. Each pass offers changed drafts, the boldest first. Drafts that
//! are not well-formed, not cheaper, or do not disagree in the same way are skipped.

mod attributes;
mod axes;
mod expression;
mod lengths;
mod values;
mod views;

use super::cost::{DTYPES, dtype_cost, name};
use super::draft::{Draft, converted};
use broadcheck_spec::{DType, Data};

/// Changed drafts, made lazily.
pub(super) type Offers<'a> = Box<dyn Iterator<Item = Draft> + 'a>;

/// A pass: a way to change a draft.
pub(super) type Pass = for<'a> fn(&'a Draft) -> Offers<'a>;

/// All passes. Those that make the following ones cheaper come first.
pub(super) const PASSES: [Pass; 13] = [
    no_destination,
    plainly_given,
    expression::smaller,
    expression::fewer_operands,
    lengths::all_at_once,
    axes::fewer,
    lengths::one_by_one,
    views::plainer,
    attributes::plainer,
    dtypes,
    expression::plainer_functions,
    values::plainer,
    names,
];

/// No destination, or one whose buffer fewer operands read.
fn no_destination(draft: &Draft) -> Offers<'_> {
    let whole = std::iter::once_with(|| draft.without_destination()).flatten();
    let each = (0..draft.pieces.len()).filter(|&place| draft.pieces[place].reads_destination);
    let copied = each.filter_map(|place| {
        let buffer = draft.pieces[draft.operation.destination()?].values.clone();
        let mut changed = draft.clone();
        changed.pieces[place].take_copy(&buffer);
        Some(changed)
    });
    Box::new(whole.chain(copied))
}

/// No operand given as a constant or as the array of another; fewer of them.
fn plainly_given(draft: &Draft) -> Offers<'_> {
    let is_given = |place: &usize| draft.pieces[*place].constant || draft.pieces[*place].same.is_some();
    let places: Vec<usize> = (0..draft.pieces.len()).filter(is_given).collect();
    let plain = move |places: &[usize]| {
        let mut changed = draft.clone();
        for &place in places {
            (changed.pieces[place].constant, changed.pieces[place].same) = (false, None);
        }
        changed
    };
    let each: Vec<Vec<usize>> = places.iter().map(|&place| vec![place]).collect();
    let all = (!places.is_empty()).then_some(places);
    Box::new(all.into_iter().chain(each).map(move |places| plain(&places)))
}

/// Changes all operands of a dtype to a simpler one.
fn dtypes(draft: &Draft) -> Offers<'_> {
    let mut found: Vec<DType> = draft.pieces.iter().map(|piece| piece.values.dtype()).collect();
    found.sort_by_key(|&dtype| std::cmp::Reverse(dtype_cost(dtype)));
    found.dedup();
    let pairs = found.into_iter().flat_map(|dtype| {
        DTYPES.into_iter().take_while(move |&plainer| plainer != dtype).map(move |plainer| (dtype, plainer))
    });
    Box::new(pairs.map(|(dtype, plainer)| {
        let mut changed = draft.clone();
        for piece in changed.pieces.iter_mut().filter(|piece| piece.values.dtype() == dtype) {
            let values = piece.values.iter().map(|value| converted(value, plainer));
            if let Ok(values) = Data::from_scalars(plainer, values) {
                piece.values = values;
            }
        }
        changed
    }))
}

/// Names the operands a, b, c, …
fn names(draft: &Draft) -> Offers<'_> {
    Box::new(std::iter::once_with(|| {
        let mut changed = draft.clone();
        let renamed: Vec<(String, String)> =
            draft.pieces.iter().enumerate().map(|(place, piece)| (piece.name.clone(), name(place))).collect();
        for (piece, (_, new)) in changed.pieces.iter_mut().zip(&renamed) {
            piece.name.clone_from(new);
            if let Some(same) = &mut piece.same
                && let Some((_, new)) = renamed.iter().find(|(old, _)| old == same)
            {
                same.clone_from(new);
            }
        }
        changed
    }))
}
