//! Writes a finding as a case that a person can check, decide on and keep.
//!
//! The expectation is what the runs of the signature give, by the clauses that the reference transcribes. It
//! must be confirmed before the case joins the suite, as that of every proposed case.

use super::{Finding, Relation};
use crate::shrink::{Proposal, titled};
use broadcheck_judge::describe::describe_signature;
use broadcheck_reference::Reference;
use broadcheck_spec::{
    Convention, Expectation, Implementation, InferenceCase, Location, Origin, PartialShape, RuleSet,
    Signature, load_str, write,
};

/// Proposes a case file for a finding. `found_by` is how it was found, so that the run can be repeated.
///
/// # Errors
/// The signature is too large to be written as a case.
pub fn propose(finding: &Finding, found_by: &str) -> Result<Proposal, String> {
    let signature = &finding.signature;
    let implementation = plain(&finding.implementation);
    let id = format!("{}/infer/{implementation}-{}", signature.rules().set(), finding.kind.slug());
    let asked = describe_signature(signature).join("; ");
    let title = format!("{} infers {}: {asked}.", finding.implementation, wrong(finding));
    let found = format!("Found by {found_by}. {}: {}.", finding.implementation, finding.detail);
    propose_as(signature, id, &title, &found)
}

/// Proposes a case file with this id and title. `found` says how it was found and what is wrong.
///
/// # Errors
/// The signature is too large to be written as a case.
pub(crate) fn propose_as(
    signature: &Signature,
    id: String,
    title: &str,
    found: &str,
) -> Result<Proposal, String> {
    let runs = Relation::default().runs(signature);
    let expectation = runs.expectation;
    let clause = clause(signature, &expectation);
    let given =
        if runs.complete { "what the runs of the signature give" } else { "what some runs of it give" };
    let note = format!(
        "{found} The expectation is {given}. Confirm it from the clause, and record the source in the origin."
    );
    let case = InferenceCase {
        id: id.clone(),
        title: titled(title, ""),
        clause: clause.into(),
        convention: Convention::of_inference(clause, signature, &expectation),
        examples: Vec::new(),
        sources: Vec::new(),
        origin: Origin::System(format!("broadcheck reference {}, to be confirmed", Reference.version())),
        request: signature.clone(),
        expectation,
        note: Some(note),
        location: Location::default(),
    };
    let yaml = format!(
        "# A case that broadcheck proposes. Read the note before adding it to a suite.\n{}",
        write::inference_case_to_yaml(&case)
    );
    let loaded =
        load_str(&yaml, "case.yaml").map_err(|errors| format!("it cannot be written as a case: {errors}"))?;
    if loaded.inferences.iter().any(|case| case.request != *signature) {
        return Err("it cannot be written as a case: the text loads as another signature".into());
    }
    Ok(Proposal { id, yaml, decided: true })
}

fn wrong(finding: &Finding) -> &'static str {
    match &finding.kind {
        super::FindingKind::Wider => "more than the runs give",
        super::FindingKind::Runs(_) | super::FindingKind::Difference { .. } => "what the runs contradict",
        super::FindingKind::Broken => "nothing",
    }
}

/// The clause that decides.
fn clause(signature: &Signature, expectation: &Expectation<broadcheck_spec::Inference>) -> &'static str {
    let unranked = signature.shapes().any(|shape| *shape == PartialShape::Unranked);
    match (signature.rules().set(), expectation) {
        (_, Expectation::Refusal(_)) if !signature.is_known() => "INFER-11",
        (_, _) if signature.is_known() => "INFER-1",
        (RuleSet::None, _) => "INFER-5",
        (RuleSet::Pdpd, _) => "INFER-6",
        (RuleSet::Theano, _) => "INFER-8",
        (RuleSet::Leading, _) => "INFER-13",
        (RuleSet::Repeat, _) => "INFER-14",
        (RuleSet::Xla, _) => "INFER-9",
        (RuleSet::Numpy, _) if matches!(signature.asked(), broadcheck_spec::Asked::TargetShape(_)) => {
            "INFER-7"
        }
        (RuleSet::Numpy | RuleSet::Bidirectional, _) if unranked => "INFER-10",
        (RuleSet::Numpy | RuleSet::Bidirectional, _) => "INFER-4",
    }
}

/// A text with only `[a-z0-9-]`.
fn plain(text: &str) -> String {
    let plain = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_lowercase() } else { '-' };
    let text: String = text.chars().map(plain).collect();
    text.trim_matches('-').split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}
