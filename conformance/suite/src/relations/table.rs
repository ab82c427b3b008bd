//! The relation sweeps: relations over all small requests of a rule set.

use super::requests::Attributes::{
    AbsentOrIncreasing, Default, DistinctAxes, EqualRanks, EveryAxis, EveryDimensions, EveryFlags,
    Increasing, LastAxes, OnesFlagged,
};
use super::requests::Template::{Difference, Sum};
use super::requests::has_all;
use super::{
    ADJOINT, AS_NUMPY, AXES_PERMUTED, BROADCAST_ADJOINT, BROADCAST_AS_BIDIRECTIONAL, BROADCAST_TIMES_ONES,
    DIMENSIONS_SORTED, Extent, IN_TWO_STEPS, ONES_FLAGGED_AS_NUMPY, OPERANDS_AS_VIEWS, OPERANDS_GROUPED,
    OPERANDS_REVERSED, OPERANDS_REVERSED_RESULTS, Relation, Requests, Template,
};
use crate::retype::ORDER;
use broadcheck_spec::RuleSet::{Bidirectional, Leading, None, Numpy, Pdpd, Repeat, Theano, Xla};
use broadcheck_spec::{Capabilities, DType, OperationKind, Request, RuleSet, Shape};

/// A relation over an enumeration of requests.
pub struct RelationSweep {
    /// Unique, and begins with the rule set that it is about: `xla-equal-ranks-are-numpy`.
    pub name: &'static str,
    /// What must hold, in a sentence.
    pub statement: &'static str,
    /// The requests.
    pub requests: Requests,
    /// The relation that is checked for each request.
    pub relation: &'static Relation,
}

const fn sweep(
    name: &'static str,
    statement: &'static str,
    requests: Requests,
    relation: &'static Relation,
) -> RelationSweep {
    RelationSweep { name, statement, requests, relation }
}

impl RelationSweep {
    /// The sweep of this name.
    pub fn named(name: &str) -> Option<&'static RelationSweep> {
        RELATION_SWEEPS.iter().find(|sweep| sweep.name == name)
    }

    /// The rule sets of the requests and their variations. The sweep is about the first.
    pub fn rules(&self) -> impl Iterator<Item = RuleSet> {
        std::iter::once(self.requests.rules).chain(self.relation.rules.iter().copied())
    }

    /// The operations of the requests and their variations.
    fn operations(&self) -> impl Iterator<Item = OperationKind> {
        let used = |kind: &OperationKind| {
            self.requests.operation() == *kind || self.relation.operations.contains(kind)
        };
        OperationKind::ALL.into_iter().filter(used)
    }

    /// The rule sets of the requests and their variations, each with an operation that is used under it.
    fn operations_by_rule_set(&self) -> impl Iterator<Item = (RuleSet, OperationKind)> {
        let (rules, kind) = (self.requests.rules, self.requests.operation());
        let other_rules =
            if self.relation.rules.is_empty() { vec![rules] } else { self.relation.rules.to_vec() };
        let other_kinds =
            if self.relation.operations.is_empty() { vec![kind] } else { self.relation.operations.to_vec() };
        let others = other_rules
            .into_iter()
            .flat_map(move |rules| other_kinds.clone().into_iter().map(move |kind| (rules, kind)));
        std::iter::once((rules, kind)).chain(others)
    }

    /// The number of checks within these bounds, by arithmetic.
    pub fn count(&self, extent: &Extent) -> u128 {
        self.requests.weighted_count(extent, self.relation.variations)
    }

    /// Visits the requests whose first two shapes are at these places in `shapes`, once with the number of
    /// each variation. Calling this for all ordered pairs of places visits every check exactly once.
    pub fn each(&self, shapes: &[Shape], first: usize, second: usize, visit: &mut dyn FnMut(&Request, u128)) {
        self.each_in(DType::F64, shapes, first, second, visit);
    }

    /// The same in a dtype that [`covered_by`](RelationSweep::covered_by) returns.
    pub fn each_in(
        &self,
        dtype: DType,
        shapes: &[Shape],
        first: usize,
        second: usize,
        visit: &mut dyn FnMut(&Request, u128),
    ) {
        let variations = (self.relation.variations)(shapes[first].rank().max(shapes[second].rank()));
        self.requests.each_in(dtype, shapes, first, second, &mut |request| {
            (0..variations).for_each(|variation| visit(request, variation));
        });
    }

    /// The first dtype of [`ORDER`] in which the declared capabilities cover the sweep: f64 if possible.
    /// Single requests and variations may still be outside of them, for their ranks for instance.
    ///
    /// # Errors
    /// What the whole sweep needs and is not declared.
    pub fn covered_by(&self, capabilities: &Capabilities, extent: &Extent) -> Result<DType, String> {
        if let Some(rules) = self.rules().find(|rules| !capabilities.rules.contains(rules)) {
            return Err(format!("no rule set {rules}"));
        }
        if let Some(kind) = self.operations().find(|kind| !capabilities.operations.contains(kind)) {
            return Err(format!("no {kind}"));
        }
        if let Some((rules, kind)) =
            self.operations_by_rule_set().find(|&(rules, kind)| !capabilities.has_operation(rules, kind))
        {
            return Err(format!("no operation {kind} under {rules}"));
        }
        if self.relation.strided && !capabilities.strided {
            return Err("no strided views".into());
        }
        let exact = |dtype: &DType| self.is_exact_in(*dtype, extent) && capabilities.dtypes.contains(dtype);
        let candidates: Vec<DType> = ORDER.into_iter().filter(exact).collect();
        let covers = |dtype: DType| {
            self.covers_variations(dtype, capabilities)?;
            self.requests.covered_in(dtype, capabilities, extent)
        };
        if let Some(&dtype) = candidates.iter().find(|&&dtype| covers(dtype).is_ok()) {
            return Ok(dtype);
        }
        let first = candidates.first().copied().unwrap_or(DType::F64);
        covers(first).map(|()| first)
    }

    /// Checks the functions of variations, and that these may call one with two operands.
    fn covers_variations(&self, dtype: DType, capabilities: &Capabilities) -> Result<(), String> {
        has_all(capabilities, self.relation.functions.iter().copied(), dtype)?;
        if self.relation.functions.is_empty() {
            return Ok(());
        }
        if capabilities.max_operands.is_some_and(|most| most < 2) {
            return Err("no more than 1 operand".into());
        }
        if capabilities.max_calls == Some(0) {
            return Err("no more than 0 calls".into());
        }
        Ok(())
    }

    /// Whether every sum that the relation compares is exact in a dtype. Those of gradients are, with small
    /// factors, in f64 and f32.
    fn is_exact_in(&self, dtype: DType, extent: &Extent) -> bool {
        let of_gradients = self.operations().any(|kind| kind == OperationKind::Gradient);
        match dtype {
            DType::F64 => true,
            DType::F32 if of_gradients => extent.shapes_of_rank(extent.max_rank) <= MOST_SUMMED,
            _ => !of_gradients,
        }
    }
}

/// The product of two operands with this many elements, and with factors up to 3, has a sum that is exact in
/// f32.
const MOST_SUMMED: u128 = 1000;

/// Every relation sweep, ordered by the rule set that it is about.
pub static RELATION_SWEEPS: &[RelationSweep] = &[
    sweep(
        "none-is-numpy",
        "What none accepts, numpy accepts with the same result.",
        Requests::new(None, Difference, Default),
        &AS_NUMPY,
    ),
    sweep(
        "numpy-order-of-operands",
        "numpy accepts two operands in both orders, with the same result, or in neither.",
        Requests::unordered(Numpy, Default),
        &OPERANDS_REVERSED_RESULTS,
    ),
    sweep(
        "numpy-grouping",
        "numpy gives the same sum for a, b and c at once, for (a + b) + c, and for a + (b + c).",
        Requests::new(Numpy, Sum, Default),
        &OPERANDS_GROUPED,
    ),
    sweep(
        "numpy-order-of-axes",
        "Once the ranks are equal, permuting the axes of both operands permutes numpy's result.",
        Requests::new(Numpy, Difference, Default),
        &AXES_PERMUTED,
    ),
    sweep(
        "numpy-broadcast-is-bidirectional",
        "numpy's broadcast accepts exactly if bidirectional gives the target's shape, with the same result.",
        Requests::new(Numpy, Template::Broadcast, Default),
        &BROADCAST_AS_BIDIRECTIONAL,
    ),
    sweep(
        "numpy-broadcast-adjoint",
        "Broadcasting x to the shape of y is adjoint to summing y to the shape of x.",
        Requests::new(Numpy, Template::Broadcast, Default),
        &ADJOINT,
    ),
    sweep(
        "numpy-adjoint",
        "Under numpy, the sum of a product equals the sum of each factor times its gradient.",
        Requests::new(Numpy, Template::Gradient, Default),
        &ADJOINT,
    ),
    sweep(
        "numpy-views",
        "numpy gives the same result for views of the result's shape, with stride 0 on broadcast axes.",
        Requests::new(Numpy, Difference, Default),
        &OPERANDS_AS_VIEWS,
    ),
    sweep(
        "numpy-broadcast-views",
        "numpy's broadcast equals a view of the target's shape, with stride 0 on broadcast axes.",
        Requests::new(Numpy, Template::Broadcast, Default),
        &OPERANDS_AS_VIEWS,
    ),
    sweep(
        "pdpd-is-numpy",
        "If B fits on A, pdpd equals numpy with ones around B, but refuses results of another shape than A's.",
        Requests::new(Pdpd, Difference, EveryAxis),
        &AS_NUMPY,
    ),
    sweep(
        "pdpd-adjoint",
        "Under pdpd, the sum of a product equals the sum of each factor times its gradient.",
        Requests::new(Pdpd, Template::Gradient, EveryAxis),
        &ADJOINT,
    ),
    sweep(
        "pdpd-views",
        "pdpd gives the same result for views of A's shape, with stride 0 on broadcast axes.",
        Requests::new(Pdpd, Difference, EveryAxis),
        &OPERANDS_AS_VIEWS,
    ),
    sweep(
        "bidirectional-is-times-ones",
        "Bidirectional broadcasting to a target equals numpy's product with ones of the target's shape.",
        Requests::new(Bidirectional, Template::Broadcast, Default),
        &BROADCAST_TIMES_ONES,
    ),
    sweep(
        "xla-equal-ranks-are-numpy",
        "At equal ranks, xla equals numpy, with dimensions absent, empty or the identity.",
        Requests::new(Xla, Difference, EqualRanks),
        &AS_NUMPY,
    ),
    sweep(
        "xla-suffix-dimensions-are-numpy",
        "With the last axes of the higher operand as dimensions, xla equals numpy.",
        Requests::new(Xla, Difference, LastAxes),
        &AS_NUMPY,
    ),
    sweep(
        "xla-in-dim-is-numpy",
        "With increasing dimensions, xla equals numpy with ones inserted around the lower operand's axes.",
        Requests::new(Xla, Difference, Increasing),
        &AS_NUMPY,
    ),
    sweep(
        "xla-order-of-operands",
        "xla gives the same result or the same refusal in either order of the operands.",
        Requests::unordered(Xla, EveryDimensions),
        &OPERANDS_REVERSED,
    ),
    sweep(
        "xla-adjoint",
        "Under xla, the sum of a product equals the sum of each factor times its gradient.",
        Requests::new(Xla, Template::Gradient, AbsentOrIncreasing),
        &ADJOINT,
    ),
    sweep(
        "xla-views",
        "xla gives the same result for views of the result's shape, with stride 0 on broadcast axes.",
        Requests::new(Xla, Difference, AbsentOrIncreasing),
        &OPERANDS_AS_VIEWS,
    ),
    sweep(
        "xla-broadcast-is-numpy",
        "With distinct dimensions, xla's broadcast is numpy's, of the operand transposed and with ones inserted.",
        Requests::new(Xla, Template::Broadcast, DistinctAxes),
        &AS_NUMPY,
    ),
    sweep(
        "xla-broadcast-sorted",
        "xla's broadcast with dimensions that decrease is that of the operand transposed, with increasing ones.",
        Requests::new(Xla, Template::Broadcast, DistinctAxes),
        &DIMENSIONS_SORTED,
    ),
    sweep(
        "xla-broadcast-in-two-steps",
        "xla's broadcast equals one onto the target with its axes rotated, followed by one onto the target.",
        Requests::new(Xla, Template::Broadcast, DistinctAxes),
        &IN_TWO_STEPS,
    ),
    sweep(
        "xla-broadcast-adjoint",
        "Broadcasting x onto a target is adjoint to the gradient with a cotangent of the target's shape.",
        Requests::new(Xla, Template::Broadcast, DistinctAxes),
        &BROADCAST_ADJOINT,
    ),
    sweep(
        "xla-broadcast-views",
        "xla's broadcast equals a view of the target's shape, with stride 0 on broadcast axes.",
        Requests::new(Xla, Template::Broadcast, DistinctAxes),
        &OPERANDS_AS_VIEWS,
    ),
    sweep(
        "theano-is-numpy",
        "What theano accepts, with any flags, numpy accepts with the same result.",
        Requests::new(Theano, Difference, EveryFlags),
        &AS_NUMPY,
    ),
    sweep(
        "theano-with-ones-flagged-is-numpy",
        "With exactly the axes of length 1 flagged, theano equals numpy.",
        Requests::new(Theano, Difference, OnesFlagged),
        &ONES_FLAGGED_AS_NUMPY,
    ),
    sweep(
        "theano-order-of-operands",
        "theano accepts two flagged operands in both orders, with the same result, or in neither.",
        Requests::unordered(Theano, EveryFlags),
        &OPERANDS_REVERSED_RESULTS,
    ),
    sweep(
        "theano-adjoint",
        "Under theano, the sum of a product equals the sum of each factor times its gradient.",
        Requests::new(Theano, Template::Gradient, EveryFlags),
        &ADJOINT,
    ),
    sweep(
        "theano-views",
        "theano gives the same result for views of the result's shape, with stride 0 on broadcast axes.",
        Requests::new(Theano, Difference, EveryFlags),
        &OPERANDS_AS_VIEWS,
    ),
    sweep(
        "leading-is-numpy-reversed",
        "leading equals numpy with the axes of every shape reversed.",
        Requests::new(Leading, Difference, Default),
        &AS_NUMPY,
    ),
    sweep(
        "leading-broadcast-is-numpy-reversed",
        "leading's broadcast equals numpy's with the axes of both shapes reversed.",
        Requests::new(Leading, Template::Broadcast, Default),
        &AS_NUMPY,
    ),
    sweep(
        "leading-gradient-is-numpy-reversed",
        "A gradient under leading equals numpy's with the axes of every shape reversed.",
        Requests::new(Leading, Template::Gradient, Default),
        &AS_NUMPY,
    ),
    sweep(
        "leading-order-of-operands",
        "leading accepts two operands in both orders, with the same result, or in neither.",
        Requests::unordered(Leading, Default),
        &OPERANDS_REVERSED_RESULTS,
    ),
    sweep(
        "leading-adjoint",
        "Under leading, the sum of a product equals the sum of each factor times its gradient.",
        Requests::new(Leading, Template::Gradient, Default),
        &ADJOINT,
    ),
    sweep(
        "leading-views",
        "leading gives the same result for views of the result's shape, with stride 0 on broadcast axes.",
        Requests::new(Leading, Difference, Default),
        &OPERANDS_AS_VIEWS,
    ),
    sweep(
        "leading-broadcast-views",
        "leading's broadcast equals a view of the target's shape, with stride 0 on broadcast axes.",
        Requests::new(Leading, Template::Broadcast, Default),
        &OPERANDS_AS_VIEWS,
    ),
    sweep(
        "repeat-is-numpy-cut",
        "repeat equals numpy with each repeated axis cut in two, and refuses what cannot be cut.",
        Requests::new(Repeat, Difference, Default),
        &AS_NUMPY,
    ),
    sweep(
        "repeat-broadcast-is-numpy-cut",
        "repeat's broadcast equals numpy's with each repeated axis cut in two.",
        Requests::new(Repeat, Template::Broadcast, Default),
        &AS_NUMPY,
    ),
    sweep(
        "repeat-gradient-is-numpy-cut",
        "A gradient under repeat equals numpy's with each repeated axis cut in two.",
        Requests::new(Repeat, Template::Gradient, Default),
        &AS_NUMPY,
    ),
    sweep(
        "repeat-adjoint",
        "Under repeat, the sum of a product equals the sum of each factor times its gradient.",
        Requests::new(Repeat, Template::Gradient, Default),
        &ADJOINT,
    ),
    sweep(
        "repeat-views",
        "repeat gives the same result for views of A's shape, with stride 0 where a 1 is repeated.",
        Requests::new(Repeat, Difference, Default),
        &OPERANDS_AS_VIEWS,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sweep_visits_the_number_of_checks_that_it_counts() {
        for extent in [Extent::new(0, 0), Extent::new(1, 3), Extent::new(2, 2), Extent::new(3, 1)] {
            let shapes = extent.shapes();
            for sweep in RELATION_SWEEPS {
                let mut visited = 0u128;
                for first in 0..shapes.len() {
                    for second in 0..shapes.len() {
                        sweep.each(&shapes, first, second, &mut |_, _| visited += 1);
                    }
                }
                assert_eq!(visited, sweep.count(&extent), "{} over {extent}", sweep.name);
            }
        }
    }

    #[test]
    fn names_are_unique_and_begin_with_the_rule_set() {
        for (place, sweep) in RELATION_SWEEPS.iter().enumerate() {
            assert!(sweep.name.starts_with(sweep.requests.rules.name()), "{}", sweep.name);
            assert!(RELATION_SWEEPS[..place].iter().all(|other| other.name != sweep.name), "{}", sweep.name);
        }
    }
}
