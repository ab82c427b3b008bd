//! Gradients: broadcasting and summing back are adjoint, and a gradient is what central differences say.
//!
//! The adjoint is asked of the request's shapes, attributes and views, with small integers in place of the values:
//! the result is the product of all operands, and for each operand w, Σ result = Σ w · gradient by w, exactly. The
//! differences are taken of the request's own expression, where it is a gradient of f64.

mod adjoint;
mod differences;

use super::signature::{Kind, Signature};
use super::{Asked, Disagreement, Judgement, Oracle, subjects};
use broadcheck_spec::{Implementation, Outcome, Request};

/// The gradients of the fast engine and of the reference.
pub fn gradient(request: &Request) -> Judgement {
    match Gradient::new(&subjects().fast).judge(request) {
        Judgement::Disagreement(found) => Judgement::Disagreement(found),
        _ => Gradient::new(&subjects().reference).judge(request),
    }
}

/// [`gradient`] as an oracle over one implementation.
pub struct Gradient<'a> {
    implementation: &'a dyn Implementation,
}

/// What a check of gradients found: held or not for a reason in words; `None` where nothing could be compared.
type Checked = Option<Result<Asked, Complaint>>;

/// Why a gradient is wrong.
struct Complaint {
    name: &'static str,
    detail: String,
    /// The answer that is wrong.
    outcome: Outcome,
}

impl<'a> Gradient<'a> {
    /// Asks this implementation.
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
