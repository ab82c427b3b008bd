//! The clause of SEMANTICS.md that decides a query about shapes.

use super::ShapeQuery;
use broadcheck_reference::Alignment;
use broadcheck_spec::{Refusal, RefusalKind, RuleSet, Rules, Shape};

/// The clauses that can decide, with their headings in SEMANTICS.md.
const HEADINGS: [(&str, &str); 28] = [
    ("G-1", "Lengths are not negative, and sizes are checked by arithmetic"),
    ("G-3", "The operands of one function have one dtype"),
    ("G-5", "How many operands a rule set takes, and that all of them count"),
    ("NONE-1", "The ranks are equal"),
    ("NONE-2", "All lengths are equal"),
    ("NUMPY-2", "On each axis all lengths other than 1 are equal"),
    ("NUMPY-3", "The common lengths are the result"),
    ("NUMPY-4", "Rank 0 with rank 0 is rank 0"),
    ("NUMPY-5", "The operation `broadcast` goes in one direction"),
    ("PDPD-1", "B's rank is at most A's"),
    ("PDPD-2", "`axis` is -1 or not negative; -1 aligns at the right"),
    ("PDPD-4", "B lies within A"),
    ("PDPD-5", "Each length of B is 1 or equals A's; A is never stretched"),
    ("PDPD-6", "The result has A's shape"),
    ("BIDI-1", "Aligned at the right and compatible in both directions"),
    ("BIDI-2", "The result is the common shape, which need not be the target"),
    ("XLA-1", "Equal ranks: no dimensions or the identity, and every axis compatible"),
    ("XLA-2", "A scalar goes with anything, without dimensions"),
    ("XLA-3", "Different ranks need dimensions"),
    ("XLA-4", "As many dimensions as the lower rank"),
    ("XLA-5", "Each dimension exists in the higher operand"),
    ("XLA-6", "Dimensions increase strictly"),
    ("XLA-7", "On each named axis the lengths are compatible"),
    ("XLA-8", "Two steps: in-dim, then degenerate"),
    ("THEANO-1", "A flag True promises the length 1"),
    ("THEANO-3", "Axes flagged False are never stretched"),
    ("GRAD-3", "Which expressions have derivatives, and which formulas"),
    ("V-2", "Which function is defined for which dtype"),
];

/// The heading in SEMANTICS.md of a clause that can decide.
pub fn heading(clause: &str) -> Option<&'static str> {
    HEADINGS.iter().find(|(id, _)| *id == clause).map(|(_, heading)| *heading)
}

/// The deciding clause: the one that refuses the query, or the one that defines the result of an accepted
/// query.
pub(super) fn deciding(query: &ShapeQuery, decision: &Result<Alignment, Refusal>) -> &'static str {
    match decision {
        Ok(_) => accepting(query),
        Err(refusal) => refusing(query, refusal),
    }
}

fn accepting(query: &ShapeQuery) -> &'static str {
    let shapes = &query.shapes;
    match &query.rules {
        Rules::Numpy if query.target.is_some() => "NUMPY-5",
        Rules::Numpy if shapes.iter().all(|shape| shape.rank() == 0) => "NUMPY-4",
        Rules::Numpy => "NUMPY-3",
        Rules::None => "NONE-2",
        Rules::Bidirectional => "BIDI-2",
        Rules::Theano => "THEANO-3",
        Rules::Pdpd { .. } | Rules::Xla { .. } if shapes.len() == 1 => "G-5",
        Rules::Pdpd { .. } => "PDPD-6",
        Rules::Xla { .. } if equal_ranks(shapes) => "XLA-1",
        Rules::Xla { .. } if shapes.iter().any(|shape| shape.rank() == 0) => "XLA-2",
        Rules::Xla { .. } => "XLA-8",
    }
}

fn refusing(query: &ShapeQuery, refusal: &Refusal) -> &'static str {
    let set = query.rules.set();
    match refusal.kind {
        Some(RefusalKind::OperandCount) => "G-5",
        Some(RefusalKind::TooLarge) => "G-1",
        Some(RefusalKind::DTypeMismatch) => "G-3",
        Some(RefusalKind::UnsupportedFunction) => "V-2",
        Some(RefusalKind::AxisOutOfRange) => match query.rules {
            Rules::Pdpd { axis: Some(axis) } if axis < -1 => "PDPD-2",
            Rules::Pdpd { .. }
            | Rules::None
            | Rules::Numpy
            | Rules::Bidirectional
            | Rules::Xla { .. }
            | Rules::Theano => "PDPD-4",
        },
        Some(RefusalKind::BroadcastDimensionsNotIdentity) => "XLA-1",
        Some(RefusalKind::BroadcastDimensionsCount) => "XLA-4",
        Some(RefusalKind::BroadcastDimensionOutOfRange) => "XLA-5",
        Some(RefusalKind::BroadcastDimensionsNotIncreasing) => "XLA-6",
        Some(RefusalKind::FlagViolation) => "THEANO-1",
        Some(RefusalKind::NotBroadcastable) => "THEANO-3",
        Some(RefusalKind::RankMismatch) => match set {
            RuleSet::None => "NONE-1",
            RuleSet::Pdpd => "PDPD-1",
            RuleSet::Xla => "XLA-3",
            RuleSet::Numpy | RuleSet::Bidirectional | RuleSet::Theano => "NUMPY-5",
        },
        _ => match set {
            RuleSet::None => "NONE-2",
            RuleSet::Numpy if query.target.is_some() => "NUMPY-5",
            RuleSet::Numpy => "NUMPY-2",
            RuleSet::Pdpd => "PDPD-5",
            RuleSet::Bidirectional => "BIDI-1",
            RuleSet::Xla if equal_ranks(&query.shapes) => "XLA-1",
            RuleSet::Xla => "XLA-7",
            RuleSet::Theano => "THEANO-3",
        },
    }
}

pub(super) fn equal_ranks(shapes: &[Shape]) -> bool {
    shapes.windows(2).all(|pair| pair[0].rank() == pair[1].rank())
}

#[cfg(test)]
mod tests {
    use super::HEADINGS;

    #[test]
    fn headings_match_semantics_md() {
        let page =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/SEMANTICS.md")).unwrap();
        for (id, heading) in HEADINGS {
            assert!(page.contains(&format!("\n### {id}: {heading}\n")), "### {id}: {heading}");
        }
    }
}
