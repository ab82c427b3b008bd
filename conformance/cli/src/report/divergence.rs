//! Texts about disagreements of rule sets, shared by the text and the page.

use broadcheck_search::diverge::{Disagreement, Divergence, Variant};
use broadcheck_spec::{Outcome, Shape};

/// The maximum number of values shown of an answer.
const MAX_VALUES: usize = 6;

/// The short name of a variant, such as `pdpd axis 0`.
pub(crate) fn short(variant: Variant) -> String {
    match variant {
        Variant::PdpdFromTheLeft => "pdpd axis 0".into(),
        Variant::XlaSuffix => "xla suffix".into(),
        Variant::TheanoOnesFlagged => "theano flagged".into(),
        other => other.rules().to_string(),
    }
}

/// `(2) and (2,1)`; with `to` if the second is a target.
pub(crate) fn shapes(divergence: &Divergence, smallest: &Disagreement) -> String {
    let onto_target = [divergence.left, divergence.right].contains(&Variant::Bidirectional);
    let word = if onto_target { "to" } else { "and" };
    format!("{} {word} {}", smallest.shapes[0], smallest.shapes[1])
}

/// Both answers: shapes or refusals, with the values if only these differ.
pub(crate) fn answers(smallest: &Disagreement) -> [String; 2] {
    let outcomes = [&smallest.left_outcome, &smallest.right_outcome];
    let shape = |outcome: &Outcome| match outcome {
        Outcome::Success(success) => Some(success.tensor.shape().clone()),
        _ => None,
    };
    let same_shape: Option<Shape> = shape(outcomes[0]).filter(|one| shape(outcomes[1]).as_ref() == Some(one));
    outcomes.map(|outcome| match outcome {
        Outcome::Success(success) if same_shape.is_some() => {
            let values = success.tensor.values();
            let shown: Vec<String> = values.iter().take(MAX_VALUES).map(|value| value.to_string()).collect();
            let more = if values.len() > MAX_VALUES { ", ..." } else { "" };
            format!("{} [{}{more}]", success.tensor.shape(), shown.join(", "))
        }
        Outcome::Success(success) => success.tensor.shape().to_string(),
        Outcome::Refusal(refusal) => refusal.kind.map_or("refused", |kind| kind.name()).to_owned(),
        Outcome::Skipped { reason: what } | Outcome::Errored { message: what, .. } => what.clone(),
    })
}
