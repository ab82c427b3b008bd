//! What must not matter to an answer: a request is asked again in another form, and the answer, brought back to the
//! first form, must be the same. No relation knows an answer.
//!
//! | relation | the other form |
//! |---|---|
//! | `operands-reversed` | the operands listed in the other order |
//! | `dense-operands` | every view as the dense operand that it shows |
//! | `strided-operands` | every dense operand as a view, with gaps, backwards |
//! | `unit-axis-in-front` | one more axis of length 1 |
//! | `axes-reversed` | all axes in the other order, once the ranks are equal |
//! | `as-numpy` | what the rule set accepts, under `numpy` |
//! | `in-stages` | the first function's result as an operand of the rest |

mod axes;
mod naming;
mod operands;
mod stages;

use super::differential::breakage;
use super::signature::{Breakage, Kind, Side, Signature};
use super::{Asked, Disagreement, Judgement, Oracle, subjects};
use broadcheck::run::run_caught;
use broadcheck_judge::compare::{Latitude, Verdict, compare_outcomes};
use broadcheck_judge::describe::summarize_request;
use broadcheck_spec::{Implementation, Outcome, Refusal, Request, Shape, Success, Tensor};

/// The relations hold for the fast engine and for the reference.
pub fn relations(request: &Request) -> Judgement {
    match Relations::new(&subjects().fast).judge(request) {
        Judgement::Disagreement(found) => Judgement::Disagreement(found),
        _ => Relations::new(&subjects().reference).judge(request),
    }
}

/// The relations as an oracle over one implementation.
pub struct Relations<'a> {
    implementation: &'a dyn Implementation,
}

/// A request in another form.
struct Variation {
    name: &'static str,
    request: Request,
    /// Whether it says something of refusals too.
    refusals: Refusals,
    /// The answer to the other form as one to the first.
    back: Box<dyn Fn(Outcome) -> Outcome>,
}

/// What a variation says of a request that is refused.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refusals {
    /// Nothing.
    Nothing,
    /// It is refused in the other form too, with the same kind.
    Kind,
    /// And at the same axis, of the same operand.
    All,
}

/// Makes another form of a request, where it has one.
type Form = fn(&dyn Implementation, &Request) -> Option<Variation>;

const FORMS: [Form; 7] = [
    operands::reversed,
    operands::dense_operands,
    operands::strided_operands,
    axes::in_front,
    axes::reversed,
    naming::as_numpy,
    stages::in_stages,
];

impl<'a> Relations<'a> {
    /// Asks this implementation.
    pub fn new(implementation: &'a dyn Implementation) -> Relations<'a> {
        Relations { implementation }
    }

    /// How the answer to another form differs, if it does.
    fn difference(&self, request: &Request, first: &Outcome, variation: &Variation) -> Option<Disagreement> {
        let refused = matches!(first, Outcome::Refusal(_));
        let covered = self.implementation.capabilities().covers(&variation.request).is_ok();
        if !covered || (refused && variation.refusals == Refusals::Nothing) {
            return None;
        }
        let answer = run_caught(self.implementation, &variation.request);
        match breakage(&answer) {
            Some((Breakage::Skipped, _)) => return None,
            Some((Breakage::Interrupted, _)) => return None,
            Some((breakage, message)) => {
                let detail = format!("{}: {breakage}: {message}", variation.name);
                return Some(self.disagreement(
                    request,
                    Kind::Broke(Side::Right, breakage),
                    detail,
                    first,
                    answer,
                ));
            }
            None => {}
        }
        let back = (variation.back)(answer);
        let (one, other) = (variation.refusals.known(first), variation.refusals.known(&back));
        let Verdict::Failed(difference) =
            compare_outcomes(request, &one, &other, Latitude::of(self.implementation))
        else {
            return None;
        };
        let asked = summarize_request(&variation.request);
        let detail = format!("{} ({asked}): {difference}", variation.name);
        Some(self.disagreement(request, Kind::Relation(variation.name), detail, first, back))
    }

    fn disagreement(
        &self,
        request: &Request,
        kind: Kind,
        detail: String,
        left: &Outcome,
        right: Outcome,
    ) -> Disagreement {
        let signature = Signature::new(self.name(), request, kind);
        Disagreement { signature, detail, left: Some(left.clone()), right: Some(right) }
    }
}

impl Oracle for Relations<'_> {
    fn name(&self) -> String {
        format!("relations-{}", self.implementation.name())
    }

    fn judge(&self, request: &Request) -> Judgement {
        if let Err(reason) = self.implementation.capabilities().covers(request) {
            return Judgement::Vacuous(reason);
        }
        let first = run_caught(self.implementation, request);
        match breakage(&first) {
            Some((Breakage::Skipped, reason)) => return Judgement::Vacuous(reason.into()),
            Some((Breakage::Interrupted, message)) => return Judgement::Vacuous(message.into()),
            Some((breakage, message)) => {
                let signature = Signature::new(self.name(), request, Kind::Broke(Side::Left, breakage));
                return Judgement::broke(signature, message);
            }
            None => {}
        }
        let mut compared = false;
        for form in FORMS {
            let Some(variation) = form(self.implementation, request) else { continue };
            if let Some(found) = self.difference(request, &first, &variation) {
                return Judgement::Disagreement(Box::new(found));
            }
            compared = true;
        }
        match first {
            _ if !compared => Judgement::Vacuous("the request has no other form".into()),
            Outcome::Refusal(_) => Judgement::Held(Asked::Refused),
            _ => Judgement::Held(Asked::Accepted),
        }
    }
}

impl Refusals {
    /// An outcome without what a variation says nothing of.
    fn known(self, outcome: &Outcome) -> Outcome {
        match outcome {
            Outcome::Refusal(refusal) => Outcome::Refusal(match self {
                Refusals::All => refusal.clone(),
                Refusals::Kind => Refusal { axis: None, operand: None, ..refusal.clone() },
                Refusals::Nothing => Refusal::default(),
            }),
            Outcome::Success(success) if self != Refusals::All => {
                Outcome::Success(Success::from(success.tensor.clone()))
            }
            other => other.clone(),
        }
    }
}

/// The outcome unchanged.
fn unchanged() -> Box<dyn Fn(Outcome) -> Outcome> {
    Box::new(|outcome| outcome)
}

/// The result with another shape, where it has as many elements, and nothing beside it.
fn with_shape(outcome: Outcome, shape: &Shape) -> Outcome {
    let Outcome::Success(success) = outcome else { return outcome };
    let found = success.tensor.clone();
    let (_, values) = success.tensor.into_parts();
    Outcome::Success(Success::from(Tensor::new(shape.clone(), values).unwrap_or(found)))
}

#[cfg(test)]
mod tests;
