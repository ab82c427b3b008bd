//! Shrinks signatures of the operation `infer`, and writes them as cases, as it is done for requests.

#![warn(clippy::wildcard_enum_match_arm)]

use super::case::{left_to_do, name};
use super::cost::{Cost, cost};
use super::draft::Draft;
use super::{ATTEMPTS, Again, Limits, Proposal, Shrunk, Sides, propose};
use crate::inference::{self, Both, Relation, Verdict, propose_as, shrink_while};
use crate::oracle::Disagreement;
use broadcheck_judge::describe::describe_signature;
use broadcheck_spec::Signature;
use broadcheck_spec::json::Question;
use std::sync::atomic::Ordering;

/// Shrinks a signature to one on which two implementations, or one and the runs, disagree in the same way.
pub fn shrink_signature(
    oracle: &Both<'_>,
    signature: Signature,
    found: Disagreement,
    limits: &Limits<'_>,
) -> Shrunk<Signature> {
    let mut relation = Relation::default();
    let class = found.signature.clone();
    let stopped = || limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed));
    let mut ask = |signature: &Signature| match oracle.judge(signature, &mut relation) {
        Verdict::Disagreement(again) if again.signature.same_way(&class) => Some(*again),
        Verdict::Disagreement(_) | Verdict::Agreed { .. } | Verdict::Vacuous(_) | Verdict::Convention => None,
    };
    let attempt = |_| if stopped() { None } else { ask(&signature) };
    let Some(disagreement) = (0..ATTEMPTS).find_map(attempt) else {
        let again = if stopped() { Again::NotAsked } else { Again::NotReproduced };
        return Shrunk { again, ..Shrunk::unshrunk(signature, found) };
    };
    let smallest = shrink_while(&signature, disagreement, limits, &mut ask);
    Shrunk {
        request: smallest.signature,
        disagreement: smallest.found,
        steps: smallest.steps,
        minimal: smallest.minimal,
        again: Again::Reproduced,
    }
}

/// Proposes a case file for a request, or for a signature.
///
/// # Errors
/// Those of [`propose`]; or the signature is too large to be written as a case.
pub fn propose_question(shrunk: &Shrunk<Question>, sides: &Sides) -> Result<Proposal, String> {
    match &shrunk.request {
        Question::Run(request) => propose(&shrunk.clone().map(|_| request.clone()), sides),
        Question::Infer(signature) => propose_signature(shrunk, signature, sides),
    }
}

fn propose_signature(
    shrunk: &Shrunk<Question>,
    signature: &Signature,
    sides: &Sides,
) -> Result<Proposal, String> {
    let class = &shrunk.disagreement.signature;
    let (left, right) = (name(&sides.left), name(&sides.right));
    let asked = describe_signature(signature).join("; ");
    let judged = |name: &&str| class.oracle.strip_prefix("infer-") == Some(*name);
    let one = [right, left].into_iter().find(judged);
    let who = one.map_or_else(|| format!("{left} and {right}"), str::to_owned);
    let title = format!("{who}, {}: {asked}.", class.kind);
    let detail = &shrunk.disagreement.detail;
    let found = format!(
        "Found by {}. {} against {}: {detail}.{}",
        sides.found_by,
        sides.right,
        sides.left,
        left_to_do(shrunk.again, shrunk.minimal)
    );
    propose_as(signature, class.slug(), &title, &found)
}

/// The cost of what is asked, to put the simplest of several first: signatures before requests.
pub(crate) fn cost_of_question(question: &Question) -> (Option<Cost>, inference::Cost) {
    match question {
        Question::Run(request) => (Some(cost(&Draft::of(request))), inference::Cost::default()),
        Question::Infer(signature) => (None, inference::cost(signature)),
    }
}
