//! Finds where rule sets disagree: for each pair of them, the smallest request that they judge differently.
//!
//! Each rule set is tried with its default attributes and in the variants that make it most like the others:
//! pdpd from axis 0, xla with the last axes of the higher operand as dimensions, theano with the axes of
//! length 1 flagged. `bidirectional` has an operand and a target. Compared with it, the other rule sets
//! multiply the operand by ones of the target's shape, which means the same (clause BIDI-3). A request is
//! smaller if it has fewer axes in all, then by the sum of its lengths, then by the rank of the first
//! operand, then by its lengths in order.

#![warn(clippy::wildcard_enum_match_arm)]

use broadcheck::relations::{
    Extent, MAX_ELEMENTS, REQUESTS, Requests, broadcast, dense, difference, elementwise, flagged, of, operand,
};
use broadcheck::run::run_caught;
use broadcheck_spec::{
    Function, Implementation, Operand, OperationKind, Outcome, Request, RuleSet, Rules, Shape,
};
use rayon::prelude::*;
use std::fmt;

/// The largest number of pairs of shapes that is accepted.
const MAX_PAIRS: u128 = 4_000_000;

/// A rule set with attributes that follow from the shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variant {
    /// `none`.
    None,
    /// `numpy`.
    Numpy,
    /// `pdpd` without `axis`.
    Pdpd,
    /// `pdpd` with `axis` 0.
    PdpdFromTheLeft,
    /// `bidirectional`.
    Bidirectional,
    /// `xla` without `broadcast_dimensions`.
    Xla,
    /// `xla` with the last axes of the higher operand as dimensions.
    XlaSuffix,
    /// `theano` without flags: all are false.
    Theano,
    /// `theano` with exactly the axes of length 1 flagged.
    TheanoOnesFlagged,
    /// `leading`.
    Leading,
    /// `repeat`.
    Repeat,
}

impl Variant {
    /// Every variant, by rule set.
    pub const ALL: [Variant; 11] = [
        Variant::None,
        Variant::Numpy,
        Variant::Pdpd,
        Variant::PdpdFromTheLeft,
        Variant::Bidirectional,
        Variant::Xla,
        Variant::XlaSuffix,
        Variant::Theano,
        Variant::TheanoOnesFlagged,
        Variant::Leading,
        Variant::Repeat,
    ];

    /// The rule set.
    pub fn rules(self) -> RuleSet {
        match self {
            Variant::None => RuleSet::None,
            Variant::Numpy => RuleSet::Numpy,
            Variant::Pdpd | Variant::PdpdFromTheLeft => RuleSet::Pdpd,
            Variant::Bidirectional => RuleSet::Bidirectional,
            Variant::Xla | Variant::XlaSuffix => RuleSet::Xla,
            Variant::Theano | Variant::TheanoOnesFlagged => RuleSet::Theano,
            Variant::Leading => RuleSet::Leading,
            Variant::Repeat => RuleSet::Repeat,
        }
    }

    /// A description of its attributes; empty for the defaults.
    pub fn attributes(self) -> &'static str {
        match self {
            Variant::PdpdFromTheLeft => "axis 0",
            Variant::XlaSuffix => "last axes as broadcast_dimensions",
            Variant::TheanoOnesFlagged => "lengths of 1 flagged",
            Variant::None
            | Variant::Numpy
            | Variant::Pdpd
            | Variant::Bidirectional
            | Variant::Xla
            | Variant::Theano
            | Variant::Leading
            | Variant::Repeat => "",
        }
    }

    /// Whether it uses the default attributes of its rule set.
    pub fn is_default(self) -> bool {
        self.attributes().is_empty()
    }

    fn attributes_of(self, first: &Shape, second: &Shape) -> Rules {
        match self {
            Variant::None => Rules::None,
            Variant::Numpy => Rules::Numpy,
            Variant::Pdpd => Rules::Pdpd { axis: None },
            Variant::PdpdFromTheLeft => Rules::Pdpd { axis: Some(0) },
            Variant::Bidirectional => Rules::Bidirectional,
            Variant::Xla => Rules::Xla { broadcast_dimensions: None },
            Variant::XlaSuffix => {
                let (low, high) = (first.rank().min(second.rank()), first.rank().max(second.rank()));
                let dimensions = (high - low..high).map(|axis| i64::try_from(axis).unwrap_or(i64::MAX));
                Rules::Xla { broadcast_dimensions: Some(dimensions.collect()) }
            }
            Variant::Theano | Variant::TheanoOnesFlagged => Rules::Theano,
            Variant::Leading => Rules::Leading,
            Variant::Repeat => Rules::Repeat,
        }
    }

    /// The request of this variant over two shapes. With `onto_target` the second is a target.
    fn request(self, first: &Shape, second: &Shape, onto_target: bool) -> Request {
        let rules = self.attributes_of(first, second);
        if self == Variant::Bidirectional {
            return broadcast(rules, operand(first, 0), second);
        }
        let with_flags = |operand: Operand| {
            if self != Variant::TheanoOnesFlagged {
                return operand;
            }
            let ones: Vec<bool> = operand.shape().iter().map(|&length| length == 1).collect();
            flagged(operand, &ones)
        };
        let first = with_flags(operand(first, 0));
        if onto_target {
            let ones = with_flags(dense(second.clone(), vec![1.0; second.iter().product()], 1));
            return elementwise(rules, of(Function::Multiply, 0, 1), vec![first, ones]);
        }
        difference(rules, vec![first, with_flags(operand(second, 1))])
    }
}

/// `pdpd (axis 0)`.
impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.attributes() {
            "" => f.pad(self.rules().name()),
            attributes => f.pad(&format!("{} ({attributes})", self.rules())),
        }
    }
}

/// A pair of variants of different rule sets.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The first variant.
    pub left: Variant,
    /// The second variant.
    pub right: Variant,
    /// The smallest request that they judge differently; `None` if they agree within the bounds.
    pub smallest: Option<Disagreement>,
}

/// Two requests over the same shapes, judged differently.
#[derive(Clone, Debug, PartialEq)]
pub struct Disagreement {
    /// The shapes: two operands, or an operand and a target (or ones of its shape).
    pub shapes: [Shape; 2],
    /// The left variant's request.
    pub left: Request,
    /// The left variant's outcome.
    pub left_outcome: Outcome,
    /// The right variant's request.
    pub right: Request,
    /// The right variant's outcome.
    pub right_outcome: Outcome,
}

/// The smallest disagreement of every pair of variants of different rule sets, pairs of default attributes
/// first. `min_length` is 0, or more to leave out shorter lengths. Shapes over which the implementation does
/// not declare both requests are left out too.
///
/// # Errors
/// The bounds contain too many pairs of shapes, too many elements or no length at all; the implementation
/// does not declare a rule set or operation; or an answer is neither a result nor a refusal.
pub fn diverge(
    extent: &Extent,
    min_length: usize,
    implementation: &dyn Implementation,
) -> Result<Vec<Divergence>, String> {
    check(extent, min_length, implementation)?;
    let pairs = ordered_pairs(extent, min_length);
    let mut found: Vec<Divergence> = variant_pairs()
        .into_par_iter()
        .map(|(left, right)| smallest(left, right, &pairs, implementation))
        .collect::<Result<_, _>>()?;
    found.sort_by_key(|divergence| !(divergence.left.is_default() && divergence.right.is_default()));
    Ok(found)
}

fn check(extent: &Extent, min_length: usize, implementation: &dyn Implementation) -> Result<(), String> {
    if min_length > extent.max_length {
        let greatest = extent.max_length;
        return Err(format!(
            "found the minimum length {min_length} and the maximum length {greatest}, expected a minimum of at \
             most {greatest}"
        ));
    }
    let count = extent.sum_over_pairs(|_, _| 1);
    let rank = u32::try_from(extent.max_rank).unwrap_or(u32::MAX);
    if count > MAX_PAIRS || (extent.max_length as u128).saturating_pow(rank) > MAX_ELEMENTS {
        return Err(format!("{extent}: {count} pairs of shapes, expected at most {MAX_PAIRS}"));
    }
    let capabilities = implementation.capabilities();
    if let Some(rules) = RuleSet::ALL.iter().find(|rules| !capabilities.rules.contains(rules)) {
        return Err(format!("{} does not support the rule set {rules}", implementation.name()));
    }
    for kind in [OperationKind::Elementwise, OperationKind::Broadcast] {
        if !capabilities.operations.contains(&kind) {
            return Err(format!("{} does not support the operation {kind}", implementation.name()));
        }
    }
    // Broadcasts under xla are not compared.
    let compared = |requests: &Requests| {
        (requests.rules, requests.operation()) != (RuleSet::Xla, OperationKind::Broadcast)
    };
    for requests in REQUESTS.into_iter().filter(compared) {
        let covered = requests.covered_by(capabilities, extent);
        covered.map_err(|reason| format!("{}: {reason}", implementation.name()))?;
    }
    Ok(())
}

/// Every ordered pair of shapes, the smallest first.
fn ordered_pairs(extent: &Extent, min_length: usize) -> Vec<[Shape; 2]> {
    let mut shapes = extent.shapes();
    shapes.retain(|shape| shape.iter().all(|&length| length >= min_length));
    let with_all = |first: &Shape| {
        let first = first.clone();
        shapes.iter().map(move |second| [first.clone(), second.clone()]).collect::<Vec<_>>()
    };
    let mut pairs: Vec<[Shape; 2]> = shapes.iter().flat_map(with_all).collect();
    pairs.sort_by_cached_key(|[first, second]| {
        let length: usize = first.iter().chain(second.iter()).sum();
        (first.rank() + second.rank(), length, first.rank(), first.clone(), second.clone())
    });
    pairs
}

fn variant_pairs() -> Vec<(Variant, Variant)> {
    let after =
        |place: usize| Variant::ALL[place + 1..].iter().map(move |&right| (Variant::ALL[place], right));
    let pairs = (0..Variant::ALL.len()).flat_map(after);
    pairs.filter(|(left, right)| left.rules() != right.rules()).collect()
}

fn smallest(
    left: Variant,
    right: Variant,
    pairs: &[[Shape; 2]],
    implementation: &dyn Implementation,
) -> Result<Divergence, String> {
    let onto_target = left == Variant::Bidirectional || right == Variant::Bidirectional;
    for [first, second] in pairs {
        let requests = [left, right].map(|variant| variant.request(first, second, onto_target));
        if requests.iter().any(|request| implementation.capabilities().covers(request).is_err()) {
            continue;
        }
        let [left_outcome, right_outcome] =
            requests.each_ref().map(|request| run_caught(implementation, request));
        let same = match (&left_outcome, &right_outcome) {
            (Outcome::Success(one), Outcome::Success(other)) => one.tensor == other.tensor,
            (Outcome::Refusal(_), Outcome::Refusal(_)) => true,
            (Outcome::Success(_), Outcome::Refusal(_)) | (Outcome::Refusal(_), Outcome::Success(_)) => false,
            (Outcome::Skipped { reason: what } | Outcome::Errored { message: what, .. }, _)
            | (_, Outcome::Skipped { reason: what } | Outcome::Errored { message: what, .. }) => {
                return Err(format!("{} at {first} and {second}: {what}", implementation.name()));
            }
        };
        if !same {
            let shapes = [first.clone(), second.clone()];
            let [left_request, right_request] = requests;
            let smallest = Some(Disagreement {
                shapes,
                left: left_request,
                left_outcome,
                right: right_request,
                right_outcome,
            });
            return Ok(Divergence { left, right, smallest });
        }
    }
    Ok(Divergence { left, right, smallest: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_reference::Reference;

    fn found(divergences: &[Divergence], left: Variant, right: Variant) -> Option<[String; 2]> {
        let pair = divergences.iter().find(|one| one.left == left && one.right == right).expect("every pair");
        pair.smallest.as_ref().map(|smallest| smallest.shapes.each_ref().map(ToString::to_string))
    }

    #[test]
    fn every_pair_of_rule_sets_has_its_smallest_request() {
        let divergences = diverge(&Extent::new(2, 2), 0, &Reference::new()).unwrap();
        assert_eq!(divergences.len(), 52, "55 pairs of variants, less the pairs within one rule set");
        let both_default = |one: &&Divergence| one.left.is_default() && one.right.is_default();
        assert_eq!(divergences.iter().take(28).filter(both_default).count(), 28);
        let at = |left, right| found(&divergences, left, right);
        let shapes = |first: &str, second: &str| Some([first.to_owned(), second.to_owned()]);
        // numpy stretches a scalar to a vector without elements; none requires equal ranks.
        assert_eq!(at(Variant::None, Variant::Numpy), shapes("()", "(0)"));
        // pdpd never stretches A.
        assert_eq!(at(Variant::Numpy, Variant::Pdpd), shapes("()", "(0)"));
        // Different ranks, neither of them 0, require dimensions.
        assert_eq!(at(Variant::Numpy, Variant::Xla), shapes("(0)", "(0,0)"));
        // A length of 1 without its flag does not broadcast.
        assert_eq!(at(Variant::Numpy, Variant::Theano), shapes("(0)", "(1)"));
        assert_eq!(at(Variant::Numpy, Variant::Bidirectional), None);
        assert_eq!(at(Variant::Numpy, Variant::XlaSuffix), None);
        assert_eq!(at(Variant::Numpy, Variant::TheanoOnesFlagged), None);
        // A vector lies on the last axis of a matrix, or on its first.
        assert_eq!(at(Variant::Numpy, Variant::Leading), shapes("(0)", "(0,1)"));
        // Of two operands, repeat stretches the second alone.
        assert_eq!(at(Variant::Numpy, Variant::Repeat), shapes("()", "(0)"));
        // pdpd from axis 0 does not stretch A either.
        assert_eq!(at(Variant::PdpdFromTheLeft, Variant::XlaSuffix), shapes("()", "(0)"));
    }

    #[test]
    fn lengths_of_zero_can_be_left_out() {
        let divergences = diverge(&Extent::new(2, 2), 1, &Reference::new()).unwrap();
        let shapes = |first: &str, second: &str| Some([first.to_owned(), second.to_owned()]);
        assert_eq!(found(&divergences, Variant::Numpy, Variant::Theano), shapes("(1)", "(2)"));
    }

    #[test]
    fn bounds_and_capabilities_are_checked() {
        let reference = Reference::new();
        assert!(diverge(&Extent::new(9, 9), 0, &reference).unwrap_err().contains("pairs of shapes"));
        let empty = diverge(&Extent::new(2, 3), 4, &reference).unwrap_err();
        assert!(empty.contains("found the minimum length 4 and the maximum length 3"), "{empty}");
        assert!(diverge(&Extent::new(1, 1), 1, &reference).is_ok());
        let ndarray = crate::subjects::Ndarray::new();
        assert_eq!(
            diverge(&Extent::new(1, 1), 0, &ndarray).unwrap_err(),
            "ndarray does not support the rule set none"
        );
    }
}
