//! Judges what two implementations infer from any signature: each answer by the runs, then both by each
//! other.

#![warn(clippy::wildcard_enum_match_arm)]

use super::walk::{Found, compared, expectation_of, judged};
use super::{FindingKind, Relation};
use crate::oracle::{Breakage, Disagreement, Kind, Side, Signature as Class, breakage};
use broadcheck::run::infer_caught;
use broadcheck_spec::{Accepts, Expectation, Implementation, Inference, Outcome, Signature};

/// What two implementations infer is what the runs of the signature give.
///
/// The answers are judged as [`exhaust`](super::exhaust) judges them. An answer that is wider than exact is a
/// disagreement only if the implementation [is exact](Implementation::is_exact), or if exactness is asked of
/// both.
pub struct Both<'a> {
    left: &'a dyn Implementation,
    right: &'a dyn Implementation,
    exact: bool,
    skips: bool,
}

/// The judgement of both answers to a signature.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// They are what the runs give.
    Agreed {
        /// How many of the runs are accepted.
        accepted: Accepted,
        /// Whether an answer admits more.
        wider: bool,
    },
    /// There was nothing to compare, for this reason.
    Vacuous(String),
    /// An answer differs only by a convention that its side does not declare.
    Convention,
    /// An answer is wrong, or missing.
    Disagreement(Box<Disagreement>),
}

/// How many of the runs of a signature are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accepted {
    /// All of them.
    All,
    /// Some of them.
    Some,
    /// None of them.
    None,
}

impl Accepted {
    fn of(expectation: &Expectation<Inference>) -> Accepted {
        match expectation {
            Expectation::Refusal(_) => Accepted::None,
            Expectation::Result(result) if result.accepts == Some(Accepts::Always) => Accepted::All,
            Expectation::Result(_) => Accepted::Some,
        }
    }
}

impl<'a> Both<'a> {
    /// Judges these two.
    pub fn new(left: &'a dyn Implementation, right: &'a dyn Implementation) -> Both<'a> {
        Both { left, right, exact: false, skips: false }
    }

    /// Whether an answer that is wider than exact is a disagreement for every implementation.
    #[must_use]
    pub fn exactly(self, exact: bool) -> Both<'a> {
        Both { exact, ..self }
    }

    /// Whether a side may skip signatures that it declares. There is then nothing to compare.
    #[must_use]
    pub(crate) fn allowing_skips(self, skips: bool) -> Both<'a> {
        Both { skips, ..self }
    }

    /// The names of its oracles, as in the signatures of disagreements: the right side against the runs, the
    /// left side against the runs, and both against each other.
    pub(crate) fn names(&self) -> [String; 3] {
        let (left, right) = (self.left.name(), self.right.name());
        [format!("infer-{right}"), format!("infer-{left}"), format!("infer-{left}-{right}")]
    }

    /// Judges the answers to one signature. The relation remembers runs that signatures have in common.
    pub fn judge(&self, signature: &Signature, relation: &mut Relation) -> Verdict {
        for side in [self.left, self.right] {
            if let Err(reason) = side.capabilities().covers_signature(signature) {
                return Verdict::Vacuous(format!("{}: {reason}", side.name()));
            }
        }
        let runs = relation.runs(signature);
        let left = infer_caught(self.left, signature);
        let right = infer_caught(self.right, signature);
        let (mut wider, mut convention) = (false, false);
        // The side under test first.
        for (side, implementation, outcome) in
            [(Side::Right, self.right, &right), (Side::Left, self.left, &left)]
        {
            let exact = self.exact || implementation.is_exact();
            match judged(implementation, signature, &runs, outcome, exact) {
                Found::Exact => {}
                Found::Wider(_) => wider = true,
                Found::Convention => convention = true,
                Found::Finding(kind, detail) => {
                    return self.wrong(signature, (side, implementation), kind, &detail, outcome);
                }
            }
        }
        if convention {
            return Verdict::Convention;
        }
        if !wider && let Some(expectation) = expectation_of(&left) {
            // Not all runs may have been tried.
            let found = compared(self.right, signature, self.left.name(), &expectation, &right);
            if let Found::Finding(kind, detail) = found {
                let [.., oracle] = self.names();
                return disagreement(Class::of_inference(oracle, signature, kind.into()), detail);
            }
        }
        Verdict::Agreed { accepted: Accepted::of(&runs.expectation), wider }
    }

    fn wrong(
        &self,
        signature: &Signature,
        (side, implementation): (Side, &dyn Implementation),
        kind: FindingKind,
        detail: &str,
        outcome: &Outcome<Inference>,
    ) -> Verdict {
        let name = implementation.name();
        let (kind, detail) = match breakage(outcome) {
            None => (Kind::from(kind), format!("{name}: {detail}")),
            Some((Breakage::Interrupted, message)) => return Verdict::Vacuous(message.to_owned()),
            Some((breakage, message)) => {
                let detail = format!("{name} {breakage}: {message}");
                if breakage == Breakage::Skipped && self.skips {
                    return Verdict::Vacuous(detail);
                }
                (Kind::Broke(side, breakage), detail)
            }
        };
        let [right, left, _] = self.names();
        let oracle = if side == Side::Right { right } else { left };
        disagreement(Class::of_inference(oracle, signature, kind), detail)
    }
}

fn disagreement(signature: Class, detail: String) -> Verdict {
    Verdict::Disagreement(Box::new(Disagreement {
        signature,
        detail,
        left: None,
        right: None,
        rewritten: None,
    }))
}
