//! The [relations](broadcheck::relations) of one implementation, over any request.

use super::conventions::not_followed;
use super::differential::breakage;
use super::signature::{Breakage, Kind, Side, Signature};
use super::{Answer, Disagreement, Judgement, Oracle, subjects};
use broadcheck::relations::{Original, RELATIONS, Relation, Satisfied, Violation};
use broadcheck_spec::{Implementation, Outcome, Request};

/// If a relation has more variations than this, only the last is checked. Three axes have six permutations.
const MOST_VARIATIONS: u128 = 6;

/// Checks that the relations hold for the fast engine and for the reference.
pub fn relations(request: &Request) -> Judgement {
    match Relations::new(&subjects().fast).judge(request) {
        Judgement::Disagreement(found) => Judgement::Disagreement(found),
        Judgement::Agreed(_) | Judgement::Vacuous(_) | Judgement::Convention(_) => {
            Relations::new(&subjects().reference).judge(request)
        }
    }
}

/// The relations as an oracle over one implementation.
pub struct Relations<'a> {
    implementation: &'a dyn Implementation,
    only: Option<&'static Relation>,
}

impl<'a> Relations<'a> {
    /// All relations.
    pub fn new(implementation: &'a dyn Implementation) -> Relations<'a> {
        Relations { implementation, only: None }
    }

    /// One relation, with all its variations. A variation that the implementation skips is a disagreement.
    pub fn only(implementation: &'a dyn Implementation, relation: &'static Relation) -> Relations<'a> {
        Relations { implementation, only: Some(relation) }
    }

    /// Checks the relations. Returns whether anything was compared.
    ///
    /// # Errors
    /// The first violation, with its relation.
    pub fn check(&self, original: &Original<'_>) -> Result<bool, (&'static Relation, Box<Violation>)> {
        let relations = RELATIONS.into_iter().filter(|_| self.only.is_none()).chain(self.only);
        let mut compared = false;
        for relation in relations {
            let all = relation.variations(original.request());
            let first = if self.only.is_none() && all > MOST_VARIATIONS { all - 1 } else { 0 };
            for variation in first..all {
                let held = relation.check(original, variation).map_err(|violation| (relation, violation))?;
                compared |= held == Satisfied::Compared;
            }
        }
        Ok(compared)
    }

    /// A request in the form in which [`check`](Self::check) takes it.
    pub fn original<'b>(&'b self, request: &'b Request) -> Original<'b> {
        match self.only {
            None => Original::new(self.implementation, request),
            Some(_) => Original::strict(self.implementation, request),
        }
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
        let original = self.original(request);
        match breakage(original.outcome()) {
            Some((Breakage::Skipped, reason)) if self.only.is_none() => {
                return Judgement::Vacuous(reason.into());
            }
            Some((Breakage::Interrupted, message)) => return Judgement::Vacuous(message.into()),
            Some((breakage, message)) => {
                let signature = Signature::new(self.name(), request, Kind::Broke(Side::Left, breakage));
                return Judgement::broke(signature, message);
            }
            None => {}
        }
        match self.check(&original) {
            Err((relation, violation)) => {
                disagreement(self.name(), self.implementation, request, relation, *violation)
            }
            Ok(false) => Judgement::Vacuous("no relation applies to the request".into()),
            Ok(true) if matches!(original.outcome(), Outcome::Refusal(_)) => {
                Judgement::Agreed(Answer::Refused)
            }
            Ok(true) => Judgement::Agreed(Answer::Accepted),
        }
    }
}

/// A violation as a disagreement, unless the user interrupted a request, or one tests a convention that the
/// implementation does not follow.
pub(super) fn disagreement(
    oracle: String,
    implementation: &dyn Implementation,
    request: &Request,
    relation: &Relation,
    violation: Violation,
) -> Judgement {
    let detail = violation.describe(relation);
    let Violation { left, right, broken, variation, .. } = violation;
    let sides = [(Side::Left, &left), (Side::Right, &right), (Side::Right, &broken)];
    let broke = sides.into_iter().find_map(|(side, outcome)| Some((side, breakage(outcome.as_ref()?)?)));
    let kind = match broke {
        Some((_, (Breakage::Interrupted, message))) => return Judgement::Vacuous(message.into()),
        Some((side, (breakage, _))) => Kind::Broke(side, breakage),
        None => Kind::Relation(relation.name),
    };
    let mut asked = [Some(request), variation.as_ref()].into_iter().flatten();
    if kind == Kind::Relation(relation.name)
        && let Some(convention) = asked.find_map(|asked| not_followed(implementation, asked))
    {
        return Judgement::Convention(convention);
    }
    let signature = Signature::new(oracle, request, kind);
    Judgement::Disagreement(Box::new(Disagreement { signature, detail, left, right, rewritten: None }))
}

#[cfg(test)]
mod tests;
