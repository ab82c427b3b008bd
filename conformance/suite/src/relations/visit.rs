//! The instances of each relation, by their first two shapes.

use super::space::{axes, each_dimensions, flags, increasing_dimensions, permutations, signed};
use super::{Attributes, Instance};
use broadcheck_spec::Shape;

/// Visits the instances whose first two shapes stand at these places.
pub(super) type Each = fn(&[Shape], usize, usize, &mut dyn FnMut(&Instance));

type Visit<'a> = &'a mut dyn FnMut(&Instance);

fn pair(shapes: &[Shape], first: usize, second: usize, attributes: Attributes) -> Instance {
    Instance { shapes: vec![shapes[first].clone(), shapes[second].clone()], attributes }
}

/// Every ordered pair.
pub(super) fn pairs(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    visit(&pair(shapes, first, second, Attributes::None));
}

/// Every unordered pair.
pub(super) fn unordered_pairs(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    if first <= second {
        pairs(shapes, first, second, visit);
    }
}

/// Every ordered triple.
pub(super) fn triples(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    let mut instance = pair(shapes, first, second, Attributes::None);
    instance.shapes.push(Shape::scalar());
    for third in shapes {
        instance.shapes[2].clone_from(third);
        visit(&instance);
    }
}

/// Every ordered pair with every `axis`.
pub(super) fn pairs_with_axes(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    let mut instance = pair(shapes, first, second, Attributes::None);
    for axis in axes() {
        instance.attributes = Attributes::Axis(axis);
        visit(&instance);
    }
}

/// Every ordered pair with every pattern of flags, violations included.
pub(super) fn pairs_with_flags(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    let mut instance = pair(shapes, first, second, Attributes::None);
    for left in flags(shapes[first].rank()) {
        for right in flags(shapes[second].rank()) {
            instance.attributes = Attributes::Flags([left.clone(), right]);
            visit(&instance);
        }
    }
}

/// Every unordered pair with every pattern of flags.
pub(super) fn unordered_pairs_with_flags(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    if first <= second {
        pairs_with_flags(shapes, first, second, visit);
    }
}

/// Every unordered pair with every list of dimensions, absurd ones included.
pub(super) fn unordered_pairs_with_dimensions(
    shapes: &[Shape],
    first: usize,
    second: usize,
    visit: Visit<'_>,
) {
    if first > second {
        return;
    }
    let mut instance = pair(shapes, first, second, Attributes::None);
    each_dimensions(shapes[first].rank(), shapes[second].rank(), |list| {
        instance.attributes = Attributes::Dimensions(list.map(<[i64]>::to_vec));
        visit(&instance);
    });
}

/// Every ordered pair of one rank, with dimensions absent, empty and the identity.
pub(super) fn equal_ranks(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    let rank = shapes[first].rank();
    if rank != shapes[second].rank() {
        return;
    }
    let mut lists = vec![None, Some(Vec::new()), Some((0..signed(rank)).collect())];
    lists.dedup();
    for list in lists {
        visit(&pair(shapes, first, second, Attributes::Dimensions(list)));
    }
}

/// Every ordered pair, with the last axes of the higher operand as dimensions.
pub(super) fn suffix_dimensions(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    let ranks = [shapes[first].rank(), shapes[second].rank()];
    let (low, high) = (ranks[0].min(ranks[1]), ranks[0].max(ranks[1]));
    let list = (signed(high - low)..signed(high)).collect();
    visit(&pair(shapes, first, second, Attributes::Dimensions(Some(list))));
}

/// Every ordered pair of different ranks, with every list of dimensions that increases strictly.
pub(super) fn in_dim(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    if shapes[first].rank() == shapes[second].rank() {
        return;
    }
    let mut instance = pair(shapes, first, second, Attributes::None);
    for list in increasing_dimensions(shapes[first].rank(), shapes[second].rank()) {
        instance.attributes = Attributes::Dimensions(Some(list));
        visit(&instance);
    }
}

/// Every ordered pair without dimensions, and those of [`in_dim`].
pub(super) fn absent_or_in_dim(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    visit(&pair(shapes, first, second, Attributes::Dimensions(None)));
    in_dim(shapes, first, second, visit);
}

/// Every ordered pair with every order of the result's axes.
pub(super) fn pairs_with_orders(shapes: &[Shape], first: usize, second: usize, visit: Visit<'_>) {
    let mut instance = pair(shapes, first, second, Attributes::None);
    for order in permutations(shapes[first].rank().max(shapes[second].rank())) {
        instance.attributes = Attributes::Order(order);
        visit(&instance);
    }
}
