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
pub(super) const PASSES: [Pass; 12] = [
    no_destination,
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
        for (place, piece) in changed.pieces.iter_mut().enumerate() {
            piece.name = name(place);
        }
        changed
    }))
}
