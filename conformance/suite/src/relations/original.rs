//! Sends a request and its variations to an implementation, and compares the answers.

use super::Relation;
use crate::run::run_caught;
use broadcheck_judge::compare::{Latitude, Verdict, compare_outcomes, same_outcome};
use broadcheck_judge::describe::summarize_request;
use broadcheck_judge::limits::{answer_elements, is_as_cheap};
use broadcheck_spec::{Convention, DType, Implementation, Operand, Outcome, Refusal, Request, Success};
use std::cell::OnceCell;

/// A request and the implementation that answers it. The request itself is sent at most once.
pub struct Original<'a> {
    implementation: &'a dyn Implementation,
    request: &'a Request,
    strict: bool,
    /// Whether the request is itself a variation, of another request.
    derived: bool,
    outcome: OnceCell<Outcome>,
}

/// How a relation is satisfied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Satisfied {
    /// Answers were compared.
    Compared,
    /// There was nothing to compare: the relation does not apply to this request, or not to a refused one.
    Vacuous,
    /// The request, or a variation without which nothing can be compared, is outside the declared
    /// capabilities, for this reason. Only for [`Original::strict`]; for other requests this is `Vacuous`.
    NotAsked(String),
}

/// Answers that do not agree, or a variation without an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// How the answers differ, or why one is missing.
    pub detail: String,
    /// The variation, if one was sent.
    pub variation: Option<Request>,
    /// The answer to the request itself, if it was compared.
    pub left: Option<Outcome>,
    /// The answer to the variation, in the form of an answer to the request.
    pub right: Option<Outcome>,
    /// The outcome that is not an answer, where that is the violation and it is neither `left` nor `right`.
    pub broken: Option<Outcome>,
}

impl Violation {
    /// The relation, the variation on one line, and the difference.
    pub fn describe(&self, relation: &Relation) -> String {
        match &self.variation {
            Some(variation) => {
                format!("{} ({}): {}", relation.name, summarize_request(variation), self.detail)
            }
            None => format!("{}: {}", relation.name, self.detail),
        }
    }
}

/// Why a check ended early.
pub(super) enum Ended {
    Vacuous,
    /// A request is outside the declared capabilities, for this reason.
    NotAsked(String),
    Violated(Box<Violation>),
}

/// What a relation states if the request is refused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(super) enum Refusals {
    /// Nothing.
    Unspecified,
    /// The variation is refused too, for any reason.
    Refused,
    /// The variation is refused with the same kind.
    Kind,
    /// The variation is refused with the same kind, axis and operand.
    Place,
}

impl<'a> Original<'a> {
    /// A request of any origin. A variation that the implementation does not declare, or skips, is not
    /// compared.
    pub fn new(implementation: &'a dyn Implementation, request: &'a Request) -> Original<'a> {
        Original { implementation, request, strict: false, derived: false, outcome: OnceCell::new() }
    }

    /// A request of a sweep. Variations outside the declared capabilities are not sent, and the reason is
    /// returned. To skip a declared one is a violation.
    pub fn strict(implementation: &'a dyn Implementation, request: &'a Request) -> Original<'a> {
        Original { strict: true, ..Original::new(implementation, request) }
    }

    /// The request.
    pub fn request(&self) -> &'a Request {
        self.request
    }

    /// The dtype in which integers replace the values of operands: that of all operands in a sweep, whose
    /// dtype the implementation has; otherwise f64.
    pub(super) fn dtype(&self) -> DType {
        let mut dtypes = self.request.operands().iter().map(Operand::dtype);
        match dtypes.next() {
            Some(first) if self.strict && dtypes.all(|dtype| dtype == first) => first,
            _ => DType::F64,
        }
    }

    /// The outcome of the request itself.
    pub fn outcome(&self) -> &Outcome {
        self.outcome.get_or_init(|| run_caught(self.implementation, self.request))
    }

    /// A variation as a request that has variations itself.
    pub(super) fn of_variation<'b>(&self, variation: &'b Request) -> Result<Original<'b>, Ended>
    where
        'a: 'b,
    {
        let Original { implementation, strict, .. } = *self;
        self.may_ask(variation)?;
        Ok(Original { implementation, request: variation, strict, derived: true, outcome: OnceCell::new() })
    }

    /// Checks that a sweep may send the request itself.
    pub(super) fn may_be_asked(&self) -> Result<(), Ended> {
        if self.strict { self.is_covered(self.request) } else { Ok(()) }
    }

    /// Checks that a request is within the declared capabilities.
    fn is_covered(&self, request: &Request) -> Result<(), Ended> {
        self.implementation.capabilities().covers(request).map_err(|reason| self.not_asked(reason))
    }

    /// The end of a check without a request that is outside the declared capabilities.
    fn not_asked(&self, reason: String) -> Ended {
        if self.strict { Ended::NotAsked(reason) } else { Ended::Vacuous }
    }

    /// Whether the implementation supports strided views.
    pub(super) fn takes_views(&self) -> bool {
        self.implementation.capabilities().strided
    }

    /// The outcome, if it is a result or a refusal.
    pub(super) fn answer(&self) -> Result<&Outcome, Ended> {
        let outcome = self.outcome();
        match self.failure(self.request, outcome) {
            None => Ok(outcome),
            Some(Ok(ended)) => Err(ended),
            Some(Err(detail)) => Err(self.violation(detail, None, None)),
        }
    }

    /// The result. A refused request is not compared.
    pub(super) fn success(&self) -> Result<&Success, Ended> {
        match self.answer()? {
            Outcome::Success(success) => Ok(success),
            _ => Err(Ended::Vacuous),
        }
    }

    /// Checks that a variation may be sent.
    fn may_ask(&self, variation: &Request) -> Result<(), Ended> {
        self.is_covered(variation)?;
        // The requests of a sweep are small.
        if self.strict || is_as_cheap(variation, self.request) { Ok(()) } else { Err(Ended::Vacuous) }
    }

    /// Sends a variation. Returns its outcome, if that is a result or a refusal.
    pub(super) fn ask(&self, variation: &Request) -> Result<Outcome, Ended> {
        self.may_ask(variation)?;
        let outcome = run_caught(self.implementation, variation);
        match self.failure(variation, &outcome) {
            None => Ok(outcome),
            Some(Ok(ended)) => Err(ended),
            Some(Err(detail)) => Err(self.violated(detail, Some(variation), outcome)),
        }
    }

    /// For an outcome that is not an answer: the end of the check if a skip is allowed, otherwise what is
    /// wrong.
    fn failure(&self, request: &Request, outcome: &Outcome) -> Option<Result<Ended, String>> {
        match outcome {
            Outcome::Success(_) | Outcome::Refusal(_) => None,
            Outcome::Skipped { .. } if !self.strict => Some(Ok(Ended::Vacuous)),
            Outcome::Skipped { reason } => {
                Some(match answer_elements(self.implementation.capabilities(), request) {
                    Err(limit) => Ok(Ended::NotAsked(limit)),
                    Ok(_) => Err(format!("skipped although declared: {reason}")),
                })
            }
            Outcome::Errored { message, .. } => Some(Err(message.clone())),
        }
    }

    /// Sends a variation. Its answer, converted to one to the request itself, must agree with the request's.
    pub(super) fn compare(
        &self,
        variation: &Request,
        refusals: Refusals,
        as_original: impl FnOnce(Outcome) -> Outcome,
    ) -> Result<(), Ended> {
        if refusals == Refusals::Unspecified {
            self.success()?;
        }
        self.answer()?;
        let other = as_original(self.ask(variation)?);
        self.agrees(variation, refusals, other)
    }

    /// Checks that the answer to a variation, in the form of an answer to the request, agrees with the
    /// request's. The common case allocates nothing.
    pub(super) fn agrees(
        &self,
        variation: &Request,
        refusals: Refusals,
        other: Outcome,
    ) -> Result<(), Ended> {
        let first = self.answer()?;
        let both_refuse = matches!((first, &other), (Outcome::Refusal(_), Outcome::Refusal(_)));
        if same_outcome(first, &other)
            || (both_refuse && (refusals <= Refusals::Refused || !self.orders_refusals()))
        {
            return Ok(());
        }
        let (one, two) = (refusals.compared(first), refusals.compared(&other));
        match compare_outcomes(self.request, &one, &two, Latitude::of(self.implementation)) {
            Verdict::Failed(difference) => Err(self.violated(difference.to_string(), Some(variation), other)),
            Verdict::Passed | Verdict::Skipped(_) | Verdict::Errored(_) => Ok(()),
        }
    }

    /// Whether the reasons of two refusals can be compared. Which of several faults is reported is a
    /// convention (clause G-6).
    pub(super) fn orders_refusals(&self) -> bool {
        self.implementation.capabilities().follows(Convention::RefusalOrder)
    }

    /// A violation, described in words, by the answer to a variation.
    pub(super) fn violated(
        &self,
        detail: impl Into<String>,
        variation: Option<&Request>,
        right: Outcome,
    ) -> Ended {
        self.violation(detail.into(), variation, Some(right))
    }

    /// The answers to a derived request, and to its variations, are no answers to the request under test:
    /// such a violation names the derived request, and keeps only an outcome that is not an answer.
    fn violation(&self, detail: String, variation: Option<&Request>, right: Option<Outcome>) -> Ended {
        let left = self.outcome.get().cloned();
        Ended::Violated(Box::new(if self.derived {
            let is_answer = |outcome: &Outcome| matches!(outcome, Outcome::Success(_) | Outcome::Refusal(_));
            let broken = right.into_iter().chain(left).find(|outcome| !is_answer(outcome));
            Violation { detail, variation: Some(self.request.clone()), left: None, right: None, broken }
        } else {
            Violation { detail, variation: variation.cloned(), left, right, broken: None }
        }))
    }
}

impl Refusals {
    /// The outcome without the parts that are not compared.
    fn compared(self, outcome: &Outcome) -> Outcome {
        match outcome {
            Outcome::Refusal(refusal) => Outcome::Refusal(match self {
                Refusals::Place => refusal.clone(),
                Refusals::Kind => Refusal { axis: None, operand: None, ..refusal.clone() },
                Refusals::Refused | Refusals::Unspecified => Refusal::default(),
            }),
            Outcome::Success(success) if self != Refusals::Place => {
                Outcome::Success(Success::from(success.tensor.clone()))
            }
            // The buffer belongs to the destination of its own request.
            Outcome::Success(success) => Outcome::Success(Success { buffer: None, ..success.clone() }),
            other => other.clone(),
        }
    }
}
