//! Draws signatures for the operation `infer`: a request whose lengths are then partly forgotten.
//!
//! The skeleton, its faults, the dtypes and the expression are those of a [request](super::request). Each
//! length is then kept, or replaced by what may be known of it: nothing, or bounds at it or right beside it.
//! So the lengths on an axis often have one number in common, or none, and their bounds are often near 0 and
//! 1. Few lengths are unknown at a time, so that every run of most signatures can be tried.

use super::choices::Choices;
use super::draw::{name, operation};
use super::expressions::dtypes;
use super::faults;
use super::lengths::Size;
use super::profile::{Limits, Profile, RuleOperation};
use super::shapes::accepted;
use broadcheck_spec::{
    Asked, Capabilities, Length, OperandType, Operation, OperationKind, PartialShape, RuleSet, Signature,
    Unknown,
};

/// How many signatures are drawn before giving up on one within the capabilities of a profile.
const MOST_DRAWS: usize = 64;

/// The intended number of elements of a result. Lengths matter only by comparison, so they are small.
const SMALL: Size = Size { budget: 40, large: false, planes: false };

/// Draws a signature. It is always well-formed; the rule set decides what is known of its result. `None` if
/// the profile has none, or none was drawn in many attempts.
pub fn signature(choices: &mut dyn Choices, profile: &Profile) -> Option<Signature> {
    if profile.inferred.is_empty() {
        return None;
    }
    (0..MOST_DRAWS).find_map(|_| {
        let rule_operation = choices.one_of(&profile.inferred);
        drawn(choices, profile, rule_operation).filter(|signature| profile.covers_signature(signature))
    })
}

fn drawn(choices: &mut dyn Choices, profile: &Profile, rule_operation: RuleOperation) -> Option<Signature> {
    let faults = faults::drawn(choices, profile, rule_operation);
    let most_rank = if choices.chance(1, 16) { 6 } else { 3 };
    let least = faults::least_rank(&faults).max(profile.limits.least_rank);
    let most = profile.max_rank.min(most_rank).max(least);
    let few = if choices.chance(1, 16) { 12 } else { 3 };
    let limits = Limits { max_operands: profile.limits.max_operands.min(few), ..profile.limits };
    let mut skeleton = accepted(choices, rule_operation, (least, most), SMALL, limits);
    faults::in_skeleton(choices, &mut skeleton, &faults, profile);
    let mut dtypes = dtypes(choices, &profile.dtypes, skeleton.shapes.len(), false);
    let operation = operation(choices, profile, &skeleton, &mut dtypes, &faults);
    let mut forget = Forget::new(choices, profile);
    let mut operands = Vec::with_capacity(dtypes.len());
    for (place, &dtype) in dtypes.iter().enumerate() {
        let shape = forget.shape(choices, &skeleton.shapes[place]);
        let is_ranked = shape.rank().is_some();
        let operand = OperandType::new(name(place), dtype, shape).ok()?;
        operands.push(match skeleton.flags[place].take() {
            Some(flags) if is_ranked => operand.with_broadcastable(flags).ok()?,
            Some(_) | None => operand,
        });
    }
    let asked = match operation {
        Operation::Broadcast { .. } => Asked::TargetShape(forget.shape(choices, &skeleton.target)),
        Operation::Elementwise { expression }
        | Operation::Into { expression, .. }
        | Operation::Gradient { expression, .. }
        | Operation::Vjp { expression, .. } => Asked::Expression(expression),
    };
    Signature::new(skeleton.rules(), asked, operands).ok()
}

/// Which lengths are forgotten, and what of them.
struct Forget {
    /// How many of 8 lengths.
    eighths: u64,
    /// How many more lengths may be unknown. An unknown rank counts as several.
    left: usize,
    lengths: bool,
    bounds: bool,
    intervals: bool,
    ranks: bool,
}

/// How many unknown lengths of a signature have about as many combinations as an unknown rank.
const RANK: usize = 3;

impl Forget {
    fn new(choices: &mut dyn Choices, profile: &Profile) -> Forget {
        // Many signatures have no bounds at all: most systems know only `?`.
        let plain = choices.chance(1, 4);
        let has = |unknown: Unknown| profile.unknown().contains(&unknown);
        Forget {
            eighths: choices.one_of(&[3, 5, 8, 1, 2]),
            left: if choices.chance(1, 24) { usize::MAX } else { 4 },
            lengths: has(Unknown::Length),
            bounds: has(Unknown::Bound) && (!plain || !has(Unknown::Length)),
            intervals: has(Unknown::Interval) && (!plain || !has(Unknown::Length)),
            // Where the rule set has none, the signature is malformed, and another one is drawn.
            ranks: has(Unknown::Rank) && choices.chance(1, 8),
        }
    }

    fn shape(&mut self, choices: &mut dyn Choices, shape: &[usize]) -> PartialShape {
        if self.ranks && self.left >= RANK && choices.chance(1, 2) {
            self.left -= RANK;
            return PartialShape::Unranked;
        }
        PartialShape::Ranked(shape.iter().map(|&length| self.length(choices, length)).collect())
    }

    /// What is known of a length: mostly something that it complies with.
    fn length(&mut self, choices: &mut dyn Choices, length: usize) -> Length {
        let exactly = Length::exactly(length);
        if !choices.chance(self.eighths, 8) || self.left == 0 {
            return exactly;
        }
        let found = match choices.index(8) {
            0..=2 if self.lengths => Some(Length::UNKNOWN),
            0..=4 if self.bounds => Length::bounded(0, highest(choices, length)),
            5 if self.intervals => Length::bounded(lowest(choices, length).max(1), None),
            6 | 7 if self.intervals => {
                Length::bounded(lowest(choices, length).max(1), highest(choices, length))
            }
            _ => self.lengths.then_some(Length::UNKNOWN),
        };
        let found = found.unwrap_or(exactly);
        self.left -= usize::from(found.number().is_none());
        found
    }
}

/// A lower bound at a length or near it: sometimes above it.
fn lowest(choices: &mut dyn Choices, length: usize) -> usize {
    match choices.index(8) {
        0..=3 => length,
        4 | 5 => length.saturating_sub(1),
        6 => length.saturating_add(1),
        _ => 1,
    }
}

/// An upper bound at a length or near it: sometimes below it, rarely the largest there is.
fn highest(choices: &mut dyn Choices, length: usize) -> Option<usize> {
    Some(match choices.index(16) {
        0..=5 => length,
        6..=9 => length.saturating_add(1),
        10..=12 => length.saturating_add(2),
        13 | 14 => length.saturating_sub(1),
        _ => usize::MAX,
    })
}

/// The rule sets with those of their operations whose results can be inferred.
pub(super) fn inferred(capabilities: &Capabilities) -> Vec<RuleOperation> {
    // An implementation without operations infers those of all of them.
    let has = |set: RuleSet, operation: OperationKind| {
        set.has(operation)
            && (capabilities.operations.is_empty() || capabilities.operations.contains(&operation))
            && capabilities.rule_operations.get(&set).is_none_or(|some| some.contains(&operation))
    };
    let sets = capabilities.rules.iter().filter(|set| !capabilities.without_infer.contains(set));
    let pairs = sets.flat_map(|&set| {
        [OperationKind::Elementwise, OperationKind::Broadcast].map(|operation| (set, operation))
    });
    pairs.filter(|&(set, operation)| capabilities.infer && has(set, operation)).collect()
}
