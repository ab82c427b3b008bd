//! The clause of SEMANTICS.md that decides a query about shapes.

use super::ShapeQuery;
use broadcheck_reference::Alignment;
use broadcheck_spec::{
    Asked, Inference, PartialShape, Refusal, RefusalKind, RuleSet, Rules, Shape, Signature, clauses,
};

/// The heading of a clause.
pub fn heading(clause: &str) -> Option<&'static str> {
    clauses::get(clause).map(|clause| clause.heading)
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
        Rules::Numpy if query.destination().is_some() => "INTO-1",
        Rules::Numpy if query.target.is_some() => "NUMPY-5",
        Rules::Numpy if shapes.iter().all(|shape| shape.rank() == 0) => "NUMPY-4",
        Rules::Numpy => "NUMPY-3",
        Rules::None => "NONE-2",
        Rules::Bidirectional => "BIDI-2",
        Rules::Theano => "THEANO-3",
        Rules::Leading if query.target.is_some() => "LEADING-4",
        Rules::Leading => "LEADING-3",
        Rules::Repeat if query.target.is_some() => "REPEAT-6",
        Rules::Repeat if shapes.len() == 1 => "G-5",
        Rules::Repeat if shapes.iter().all(|shape| shape.count() == Some(0)) => "REPEAT-4",
        Rules::Repeat => "REPEAT-5",
        Rules::Xla { .. } if query.target.is_some() => "XLA-13",
        Rules::Pdpd { .. } | Rules::Xla { .. } if shapes.len() == 1 => "G-5",
        Rules::Pdpd { .. } => "PDPD-6",
        Rules::Xla { .. } if equal_ranks(shapes) => "XLA-1",
        Rules::Xla { .. } if shapes.iter().any(|shape| shape.rank() == 0) => "XLA-2",
        Rules::Xla { .. } => "XLA-8",
    }
}

fn refusing(query: &ShapeQuery, refusal: &Refusal) -> &'static str {
    let set = query.rules.set();
    if let Some(clause) = of_dimensions(refusal.kind, query.target.is_some()) {
        return clause;
    }
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
            | Rules::Theano
            | Rules::Leading
            | Rules::Repeat => "PDPD-4",
        },
        Some(RefusalKind::FlagViolation) => "THEANO-1",
        Some(RefusalKind::NotBroadcastable) => "THEANO-3",
        Some(RefusalKind::RankMismatch) => match set {
            RuleSet::None => "NONE-1",
            RuleSet::Pdpd => "PDPD-1",
            RuleSet::Xla => "XLA-3",
            RuleSet::Leading => "LEADING-4",
            RuleSet::Repeat if query.shapes.iter().chain(&query.target).any(|shape| shape.rank() > 4) => {
                "REPEAT-1"
            }
            RuleSet::Repeat if query.target.is_some() => "REPEAT-6",
            RuleSet::Repeat => "REPEAT-2",
            RuleSet::Numpy | RuleSet::Bidirectional | RuleSet::Theano => "NUMPY-5",
        },
        _ => match set {
            RuleSet::None => "NONE-2",
            RuleSet::Numpy if query.target.is_some() => "NUMPY-5",
            RuleSet::Numpy => "NUMPY-2",
            RuleSet::Pdpd => "PDPD-5",
            RuleSet::Bidirectional => "BIDI-1",
            RuleSet::Xla if query.target.is_some() => "XLA-12",
            RuleSet::Xla if equal_ranks(&query.shapes) => "XLA-1",
            RuleSet::Xla => "XLA-7",
            RuleSet::Theano => "THEANO-3",
            RuleSet::Leading if query.target.is_some() => "LEADING-4",
            RuleSet::Leading => "LEADING-2",
            RuleSet::Repeat if query.target.is_some() => "REPEAT-6",
            RuleSet::Repeat => "REPEAT-3",
        },
    }
}

/// The clause of `xla` that refuses dimensions: of two operands, or of an operand and a target.
fn of_dimensions(kind: Option<RefusalKind>, target: bool) -> Option<&'static str> {
    match kind {
        Some(RefusalKind::BroadcastDimensionsNotIdentity) => Some("XLA-1"),
        Some(RefusalKind::BroadcastDimensionsCount) => Some(if target { "XLA-9" } else { "XLA-4" }),
        Some(RefusalKind::BroadcastDimensionOutOfRange) => Some(if target { "XLA-10" } else { "XLA-5" }),
        Some(RefusalKind::BroadcastDimensionsNotIncreasing) => Some("XLA-6"),
        Some(RefusalKind::BroadcastDimensionsNotDistinct) => Some("XLA-11"),
        _ => None,
    }
}

/// The clause that decides what is inferred from a signature.
pub(super) fn inferring(signature: &Signature, decision: &Result<Inference, Refusal>) -> &'static str {
    let kind = decision.as_ref().err().and_then(|refusal| refusal.kind);
    if signature.is_known() && kind.is_none() {
        return "INFER-1";
    }
    let unranked = signature.shapes().any(|shape| *shape == PartialShape::Unranked);
    let of_a_run = match kind {
        Some(RefusalKind::OperandCount) => Some("G-5"),
        Some(RefusalKind::TooLarge) => Some("G-1"),
        Some(RefusalKind::DTypeMismatch | RefusalKind::UnsupportedFunction) => Some("INFER-12"),
        Some(RefusalKind::RankMismatch) if signature.rules().set() == RuleSet::Xla => Some("XLA-3"),
        _ => of_dimensions(kind, matches!(signature.asked(), Asked::TargetShape(_))),
    };
    of_a_run.unwrap_or(match (signature.rules(), signature.asked()) {
        (Rules::Numpy, Asked::TargetShape(_)) => "INFER-7",
        (Rules::Numpy | Rules::Bidirectional, _) if unranked => "INFER-10",
        (Rules::Numpy | Rules::Bidirectional, _) => "INFER-4",
        (Rules::None, _) => "INFER-5",
        (Rules::Xla { .. }, Asked::TargetShape(_)) => "INFER-9",
        (Rules::Pdpd { .. } | Rules::Xla { .. }, _) if signature.operands().len() == 1 => "G-5",
        (Rules::Pdpd { .. }, _) => "INFER-6",
        (Rules::Theano, _) => "INFER-8",
        (Rules::Leading, _) => "INFER-13",
        (Rules::Repeat, _) => "INFER-14",
        (Rules::Xla { .. }, _) => "INFER-9",
    })
}

/// `flag_violation of B at axis 0`: a refusal without its message.
pub(super) fn kind_and_place(refusal: &Refusal, labels: &[String]) -> String {
    let kind = refusal.kind.map_or("without a kind", RefusalKind::name);
    let label = refusal.operand.and_then(|operand| labels.get(operand));
    let operand = label.map(|label| format!(" of {label}")).unwrap_or_default();
    let axis = refusal.axis.map(|axis| format!(" at axis {axis}")).unwrap_or_default();
    format!("{kind}{operand}{axis}")
}

pub(super) fn equal_ranks(shapes: &[Shape]) -> bool {
    shapes.windows(2).all(|pair| pair[0].rank() == pair[1].rank())
}
