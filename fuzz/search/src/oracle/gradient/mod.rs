//! Checks gradients: summing back is the adjoint of broadcasting, and a gradient agrees with central
//! differences.
//!
//! The adjoint uses the request's shapes, attributes and views, with small integers as values. The result is
//! the product of all operands, and for each operand w, Σ result = Σ w · gradient by w holds exactly. The
//! differences use the request's own expression, if it is a gradient of f64.

mod adjoint;
mod differences;

use super::signature::{Kind, Signature};
use super::{Asked, Disagreement, Judgement, Oracle, subjects};
use broadcheck_spec::{Implementation, Outcome, Request};

/// Checks the gradients of the fast engine and of the reference.
pub fn gradient(request: &Request) -> Judgement {
    match Gradient::new(&subjects().fast).judge(request) {
        Judgement::Disagreement(found) => Judgement::Disagreement(found),
        Judgement::Held(_) | Judgement::Vacuous(_) => Gradient::new(&subjects().reference).judge(request),
    }
}

/// [`gradient`] as an oracle over one implementation.
pub struct Gradient<'a> {
    implementation: &'a dyn Implementation,
}

/// The result of a check: held, or not for a reason; `None` if nothing could be compared.
type Checked = Option<Result<Asked, Complaint>>;

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
        let checks = [adjoint::check, differences::check];
        let mut held = None;
        for check in checks {
            match check(self.implementation, request) {
                None => {}
                Some(Ok(asked)) => held = held.or(Some(asked)),
                Some(Err(Complaint { name, detail, outcome })) => {
                    let signature = Signature::new(self.name(), request, Kind::Relation(name));
                    let right = Some(outcome);
                    let found = Disagreement { signature, detail, left: None, right };
                    return Judgement::Disagreement(Box::new(found));
                }
            }
        }
        held.map_or_else(|| Judgement::Vacuous("no gradient of it can be checked".into()), Judgement::Held)
    }
}

#[cfg(test)]
mod tests;
