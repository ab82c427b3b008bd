//! The requests of a pair of shapes, and how many there are over all pairs.

use broadcheck::relations::{
    AXES, Extent, axes, broadcast, difference, dimensions_count, each_dimensions, flagged, flags,
    flags_count, operand,
};
use broadcheck_spec::{Operand, OperationKind, Request, RuleSet, Rules, Shape};

/// The requests of one rule set and operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The rule set.
    pub rules: RuleSet,
    /// The operation.
    pub operation: OperationKind,
}

/// Every family. `numpy` has two: `elementwise`, and `broadcast` of the one shape to the other.
pub const FAMILIES: [Family; 7] = [
    Family { rules: RuleSet::None, operation: OperationKind::Elementwise },
    Family { rules: RuleSet::Numpy, operation: OperationKind::Elementwise },
    Family { rules: RuleSet::Numpy, operation: OperationKind::Broadcast },
    Family { rules: RuleSet::Pdpd, operation: OperationKind::Elementwise },
    Family { rules: RuleSet::Bidirectional, operation: OperationKind::Broadcast },
    Family { rules: RuleSet::Xla, operation: OperationKind::Elementwise },
    Family { rules: RuleSet::Theano, operation: OperationKind::Elementwise },
];

impl Family {
    /// How many requests there are within bounds, by arithmetic.
    pub fn count(&self, extent: &Extent) -> u128 {
        extent.sum_over_pairs(|one, other| match self.rules {
            RuleSet::None | RuleSet::Numpy | RuleSet::Bidirectional => 1,
            RuleSet::Pdpd => AXES,
            RuleSet::Xla => dimensions_count(one, other),
            // Every pattern, and no flags at all.
            RuleSet::Theano => flags_count(one, other).saturating_add(1),
        })
    }

    /// Visits the requests of an ordered pair of shapes: two operands, or an operand and a target.
    pub(super) fn each(&self, first: &Shape, second: &Shape, visit: &mut dyn FnMut(&Request)) {
        match (self.rules, self.operation) {
            (RuleSet::Bidirectional, _) => visit(&broadcast(Rules::Bidirectional, operand(first, 0), second)),
            (_, OperationKind::Broadcast) => visit(&broadcast(Rules::Numpy, operand(first, 0), second)),
            (RuleSet::None, _) => visit(&difference(Rules::None, pair(first, second))),
            (RuleSet::Numpy, _) => visit(&difference(Rules::Numpy, pair(first, second))),
            (RuleSet::Pdpd, _) => {
                let mut request = Reused(Some(difference(Rules::Pdpd { axis: None }, pair(first, second))));
                axes().for_each(|axis| visit(request.with(Rules::Pdpd { axis })));
            }
            (RuleSet::Xla, _) => {
                let rules =
                    |list: Option<&[i64]>| Rules::Xla { broadcast_dimensions: list.map(<[i64]>::to_vec) };
                let mut request = Reused(Some(difference(rules(None), pair(first, second))));
                each_dimensions(first.rank(), second.rank(), |list| visit(request.with(rules(list))));
            }
            (RuleSet::Theano, _) => each_flagged(first, second, visit),
        }
    }
}

fn pair(first: &Shape, second: &Shape) -> Vec<Operand> {
    vec![operand(first, 0), operand(second, 1)]
}

fn each_flagged(first: &Shape, second: &Shape, visit: &mut dyn FnMut(&Request)) {
    visit(&difference(Rules::Theano, pair(first, second)));
    for left in flags(first.rank()) {
        let left = flagged(operand(first, 0), &left);
        for right in flags(second.rank()) {
            let right = flagged(operand(second, 1), &right);
            visit(&difference(Rules::Theano, vec![left.clone(), right]));
        }
    }
}

/// A request whose operands are used again under other attributes: there are thousands of them per pair.
struct Reused(Option<Request>);

impl Reused {
    fn with(&mut self, rules: Rules) -> &Request {
        let (_, operation, operands) = self.0.take().expect("put back below").into_parts();
        self.0.insert(Request::new(rules, operation, operands).expect("a well-formed request"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_visits_as_many_requests_as_it_counts() {
        for extent in [Extent::new(0, 0), Extent::new(2, 2), Extent::new(3, 1)] {
            let shapes = extent.shapes();
            for family in FAMILIES {
                let mut visited = 0u128;
                for first in &shapes {
                    for second in &shapes {
                        family.each(first, second, &mut |request| {
                            assert_eq!(request.rules().set(), family.rules);
                            assert_eq!(request.operation().kind(), family.operation);
                            visited += 1;
                        });
                    }
                }
                assert_eq!(visited, family.count(&extent), "{family:?} over {extent}");
            }
        }
    }
}
