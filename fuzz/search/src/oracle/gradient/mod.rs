//! Gradients: the [adjoint](broadcheck::relations::ADJOINT) of broadcasting over any request, and central
//! differences of the request's own expression, if it is a gradient of f64.

mod differences;

use super::conventions::not_followed;
use super::relations::disagreement;
use super::signature::{Kind, Signature};
use super::{Answer, Disagreement, Judgement, Oracle, subjects};
use broadcheck::relations::{ADJOINT, Original, Satisfied};
use broadcheck_reference::align;
use broadcheck_spec::{Implementation, Outcome, Request};

/// Checks the gradients of the fast engine and of the reference.
pub fn gradient(request: &Request) -> Judgement {
    match Gradient::new(&subjects().fast).judge(request) {
        Judgement::Disagreement(found) => Judgement::Disagreement(found),
        Judgement::Agreed(_) | Judgement::Vacuous(_) | Judgement::Convention(_) => {
            Gradient::new(&subjects().reference).judge(request)
        }
    }
}

/// [`gradient`] as an oracle over one implementation.
pub struct Gradient<'a> {
    implementation: &'a dyn Implementation,
}

/// The result of comparing with central differences; `None` if nothing could be compared.
type Checked = Option<Result<Answer, Complaint>>;

/// Why a gradient is wrong.
struct Complaint {
    name: &'static str,
    detail: String,
    /// The wrong answer.
    outcome: Outcome,
}

impl<'a> Gradient<'a> {
    /// Checks this implementation.
    pub fn new(implementation: &'a dyn Implementation) -> Gradient<'a> {
        Gradient { implementation }
    }
}

impl Oracle for Gradient<'_> {
    fn name(&self) -> String {
        format!("gradient-{}", self.implementation.name())
    }

    fn judge(&self, request: &Request) -> Judgement {
        let adjoint = match ADJOINT.check(&Original::new(self.implementation, request), 0) {
            Ok(held) => held,
            Err(violation) => {
                return disagreement(self.name(), self.implementation, request, &ADJOINT, *violation);
            }
        };
        match differences::check(self.implementation, request) {
            Some(Ok(answer)) => Judgement::Agreed(answer),
            Some(Err(Complaint { name, detail, outcome })) => {
                if let Some(convention) = not_followed(self.implementation, request) {
                    return Judgement::Convention(convention);
                }
                let signature = Signature::new(self.name(), request, Kind::Relation(name));
                let found =
                    Disagreement { signature, detail, left: None, right: Some(outcome), rewritten: None };
                Judgement::Disagreement(Box::new(found))
            }
            None if adjoint == Satisfied::Vacuous => {
                Judgement::Vacuous("no gradient of it can be checked".into())
            }
            None if align(request).is_err() => Judgement::Agreed(Answer::Refused),
            None => Judgement::Agreed(Answer::Accepted),
        }
    }
}

#[cfg(test)]
mod tests;
