//! The relations, with how many instances each has.

use super::space::{AXES, choices, dimensions_count, factorial, flags_count};
use super::{Extent, Relation, adjoint, implications, symmetry, targets, views, visit};
use broadcheck_spec::OperationKind::{Broadcast, Elementwise, Gradient};
use broadcheck_spec::RuleSet::{Bidirectional, None, Numpy, Pdpd, Theano, Xla};

/// Every relation, by the rule set that it is about.
pub static RELATIONS: &[Relation] = &[
    Relation {
        name: "none-is-numpy",
        statement: "What none accepts, numpy accepts with the same result.",
        rules: &[None, Numpy],
        operations: &[Elementwise],
        strided: false,
        count: pairs,
        each: visit::pairs,
        check: implications::none_is_numpy,
    },
    Relation {
        name: "numpy-order-of-operands",
        statement: "numpy accepts two operands in either order or in none, with the same result.",
        rules: &[Numpy],
        operations: &[Elementwise],
        strided: false,
        count: unordered_pairs,
        each: visit::unordered_pairs,
        check: symmetry::order_of_operands,
    },
    Relation {
        name: "numpy-grouping",
        statement: "numpy gives the same for three operands at once, the first two before, the last two before.",
        rules: &[Numpy],
        operations: &[Elementwise],
        strided: false,
        count: triples,
        each: visit::triples,
        check: symmetry::grouping,
    },
    Relation {
        name: "numpy-order-of-axes",
        statement: "Once the ranks are equal, permuting the axes of both operands permutes numpy's result.",
        rules: &[Numpy],
        operations: &[Elementwise],
        strided: false,
        count: pairs_with_orders,
        each: visit::pairs_with_orders,
        check: symmetry::order_of_axes,
    },
    Relation {
        name: "numpy-broadcast-is-bidirectional",
        statement: "numpy's broadcast accepts exactly where bidirectional's result is the target, and gives it.",
        rules: &[Numpy, Bidirectional],
        operations: &[Broadcast],
        strided: false,
        count: pairs,
        each: visit::pairs,
        check: targets::broadcast_is_bidirectional_onto_the_target,
    },
    Relation {
        name: "numpy-broadcast-adjoint",
        statement: "Broadcasting x to the shape of y is adjoint to summing y to the shape of x.",
        rules: &[Numpy],
        operations: &[Elementwise, Broadcast, Gradient],
        strided: false,
        count: pairs,
        each: visit::pairs,
        check: adjoint::broadcast_adjoint,
    },
    Relation {
        name: "numpy-adjoint",
        statement: "Under numpy the sum of a product is that of each factor times the gradient by it.",
        rules: &[Numpy],
        operations: &[Elementwise, Gradient],
        strided: false,
        count: pairs,
        each: visit::pairs,
        check: adjoint::product_adjoint,
    },
    Relation {
        name: "numpy-views",
        statement: "numpy's result is that over views of the result's shape, with stride 0 where it broadcasts.",
        rules: &[Numpy],
        operations: &[Elementwise],
        strided: true,
        count: pairs,
        each: visit::pairs,
        check: views::operands_as_views,
    },
    Relation {
        name: "numpy-broadcast-views",
        statement: "numpy's broadcast is a view of the target's shape, with stride 0 where it broadcasts.",
        rules: &[Numpy],
        operations: &[Elementwise, Broadcast],
        strided: true,
        count: pairs,
        each: visit::pairs,
        check: views::broadcast_as_view,
    },
    Relation {
        name: "pdpd-is-numpy",
        statement: "Where B has a place on A, pdpd is numpy with ones around B, refused where the result is not of A's shape.",
        rules: &[Pdpd, Numpy],
        operations: &[Elementwise],
        strided: false,
        count: pairs_with_axes,
        each: visit::pairs_with_axes,
        check: implications::pdpd_is_numpy,
    },
    Relation {
        name: "pdpd-adjoint",
        statement: "Under pdpd the sum of a product is that of each factor times the gradient by it.",
        rules: &[Pdpd],
        operations: &[Elementwise, Gradient],
        strided: false,
        count: pairs_with_axes,
        each: visit::pairs_with_axes,
        check: adjoint::product_adjoint,
    },
    Relation {
        name: "pdpd-views",
        statement: "pdpd's result is that over views of A's shape, with stride 0 where B is broadcast.",
        rules: &[Pdpd],
        operations: &[Elementwise],
        strided: true,
        count: pairs_with_axes,
        each: visit::pairs_with_axes,
        check: views::operands_as_views,
    },
    Relation {
        name: "bidirectional-is-times-ones",
        statement: "Bidirectional broadcasting to a target is numpy's product with ones of the target's shape.",
        rules: &[Bidirectional, Numpy],
        operations: &[Elementwise, Broadcast],
        strided: false,
        count: pairs,
        each: visit::pairs,
        check: targets::bidirectional_is_times_ones,
    },
    Relation {
        name: "xla-equal-ranks-are-numpy",
        statement: "At equal ranks xla is numpy, with dimensions absent, empty or the identity.",
        rules: &[Xla, Numpy],
        operations: &[Elementwise],
        strided: false,
        count: equal_ranks,
        each: visit::equal_ranks,
        check: implications::xla_is_numpy,
    },
    Relation {
        name: "xla-suffix-dimensions-are-numpy",
        statement: "With the last axes of the higher operand as dimensions, xla is numpy.",
        rules: &[Xla, Numpy],
        operations: &[Elementwise],
        strided: false,
        count: pairs,
        each: visit::suffix_dimensions,
        check: implications::xla_is_numpy,
    },
    Relation {
        name: "xla-in-dim-is-numpy",
        statement: "With strictly increasing dimensions xla is numpy with ones put around the lower operand's axes.",
        rules: &[Xla, Numpy],
        operations: &[Elementwise],
        strided: false,
        count: in_dim,
        each: visit::in_dim,
        check: implications::xla_in_dim_is_numpy,
    },
    Relation {
        name: "xla-order-of-operands",
        statement: "xla gives the same result or the same refusal in either order of the operands.",
        rules: &[Xla],
        operations: &[Elementwise],
        strided: false,
        count: unordered_pairs_with_dimensions,
        each: visit::unordered_pairs_with_dimensions,
        check: symmetry::xla_order_of_operands,
    },
    Relation {
        name: "xla-adjoint",
        statement: "Under xla the sum of a product is that of each factor times the gradient by it.",
        rules: &[Xla],
        operations: &[Elementwise, Gradient],
        strided: false,
        count: absent_or_in_dim,
        each: visit::absent_or_in_dim,
        check: adjoint::product_adjoint,
    },
    Relation {
        name: "xla-views",
        statement: "xla's result is that over views of the result's shape, with stride 0 where an operand is broadcast.",
        rules: &[Xla],
        operations: &[Elementwise],
        strided: true,
        count: absent_or_in_dim,
        each: visit::absent_or_in_dim,
        check: views::operands_as_views,
    },
    Relation {
        name: "theano-is-numpy",
        statement: "What theano accepts, with any flags, numpy accepts with the same result.",
        rules: &[Theano, Numpy],
        operations: &[Elementwise],
        strided: false,
        count: pairs_with_flags,
        each: visit::pairs_with_flags,
        check: implications::theano_is_numpy,
    },
    Relation {
        name: "theano-with-ones-flagged-is-numpy",
        statement: "With exactly the axes of length 1 flagged, theano is numpy.",
        rules: &[Theano, Numpy],
        operations: &[Elementwise],
        strided: false,
        count: pairs,
        each: visit::pairs,
        check: implications::theano_with_ones_flagged,
    },
    Relation {
        name: "theano-order-of-operands",
        statement: "theano accepts two flagged operands in either order or in none, with the same result.",
        rules: &[Theano],
        operations: &[Elementwise],
        strided: false,
        count: unordered_pairs_with_flags,
        each: visit::unordered_pairs_with_flags,
        check: symmetry::order_of_operands,
    },
    Relation {
        name: "theano-adjoint",
        statement: "Under theano the sum of a product is that of each factor times the gradient by it.",
        rules: &[Theano],
        operations: &[Elementwise, Gradient],
        strided: false,
        count: pairs_with_flags,
        each: visit::pairs_with_flags,
        check: adjoint::product_adjoint,
    },
    Relation {
        name: "theano-views",
        statement: "theano's result is that over views of the result's shape, with stride 0 where it broadcasts.",
        rules: &[Theano],
        operations: &[Elementwise],
        strided: true,
        count: pairs_with_flags,
        each: visit::pairs_with_flags,
        check: views::operands_as_views,
    },
];

fn pairs(extent: &Extent) -> u128 {
    extent.sum_over_pairs(|_, _| 1)
}

fn unordered_pairs(extent: &Extent) -> u128 {
    extent.sum_over_unordered_pairs(|_, _| 1)
}

fn triples(extent: &Extent) -> u128 {
    pairs(extent).saturating_mul(extent.shape_count())
}

fn pairs_with_axes(extent: &Extent) -> u128 {
    extent.sum_over_pairs(|_, _| AXES)
}

fn pairs_with_flags(extent: &Extent) -> u128 {
    extent.sum_over_pairs(flags_count)
}

fn unordered_pairs_with_flags(extent: &Extent) -> u128 {
    extent.sum_over_unordered_pairs(flags_count)
}

fn unordered_pairs_with_dimensions(extent: &Extent) -> u128 {
    extent.sum_over_unordered_pairs(dimensions_count)
}

fn pairs_with_orders(extent: &Extent) -> u128 {
    extent.sum_over_pairs(|one, other| factorial(one.max(other)))
}

/// Absent, empty and the identity; at rank 0 the last two are the same.
fn equal_ranks(extent: &Extent) -> u128 {
    extent.sum_over_pairs(|one, other| match (one, other) {
        (0, 0) => 2,
        (one, other) if one == other => 3,
        _ => 0,
    })
}

fn in_dim(extent: &Extent) -> u128 {
    extent.sum_over_pairs(|one, other| if one == other { 0 } else { choices(one, other) })
}

fn absent_or_in_dim(extent: &Extent) -> u128 {
    pairs(extent).saturating_add(in_dim(extent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relation_visits_as_many_instances_as_it_counts() {
        for extent in [Extent::new(0, 0), Extent::new(1, 3), Extent::new(2, 2), Extent::new(3, 1)] {
            let shapes = extent.shapes();
            for relation in RELATIONS {
                let mut visited = 0u128;
                for first in 0..shapes.len() {
                    for second in 0..shapes.len() {
                        relation.each(&shapes, first, second, &mut |_| visited += 1);
                    }
                }
                assert_eq!(visited, relation.count(&extent), "{} over {extent}", relation.name);
            }
        }
    }

    #[test]
    fn names_are_unique_and_begin_with_the_rule_set() {
        for (place, relation) in RELATIONS.iter().enumerate() {
            assert!(relation.name.starts_with(relation.rules[0].name()), "{}", relation.name);
            assert!(RELATIONS[..place].iter().all(|other| other.name != relation.name), "{}", relation.name);
        }
    }
}
