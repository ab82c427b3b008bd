//! Compares two implementations on the same request.

#![warn(clippy::wildcard_enum_match_arm)]

use super::conventions::{excused, not_followed};
use super::signature::{Breakage, Kind, Side, Signature};
use super::{Answer, Disagreement, Judgement, Oracle};
use broadcheck::run::{run_caught, run_together_until};
use broadcheck_judge::compare::{
    Difference, DifferenceKind, Latitude, Verdict, compare_outcomes, expectation_of,
};
use broadcheck_judge::limits::{answer_elements, covers, covers_request};
use broadcheck_spec::{Convention, DType, ErrorKind, Implementation, Operand, Outcome, Refusal, Request};
use std::time::Instant;

/// Two implementations give the same outcome, for every operation.
///
/// Requests that either side does not declare are not compared. Skipping a declared request is a
/// disagreement, and so is a panic. A difference that is only a convention is a disagreement if both sides
/// declare it.
pub fn differential(left: &dyn Implementation, right: &dyn Implementation, request: &Request) -> Judgement {
    Differential::new(left, right).judge(request)
}

/// [`differential`] as an oracle.
pub struct Differential<'a> {
    left: &'a dyn Implementation,
    right: &'a dyn Implementation,
    latitude: Latitude,
    skips: bool,
    dtypes: Option<&'a [DType]>,
}

impl<'a> Differential<'a> {
    /// Judges the right implementation's outcomes by the left one's.
    pub fn new(left: &'a dyn Implementation, right: &'a dyn Implementation) -> Differential<'a> {
        Differential { left, right, latitude: Latitude::of_both(left, right), skips: false, dtypes: None }
    }

    /// Leaves out requests with operands of other dtypes, so that shrinking keeps to these. Otherwise, if a
    /// system computes one dtype in terms of another, each request would shrink to the known problems of
    /// that.
    #[must_use]
    pub fn only(self, dtypes: &'a [DType]) -> Differential<'a> {
        Differential { dtypes: Some(dtypes), ..self }
    }

    /// Whether a side may skip requests that it declares. There is then nothing to compare.
    #[must_use]
    pub(crate) fn allowing_skips(self, skips: bool) -> Differential<'a> {
        Differential { skips, ..self }
    }

    /// Why there is nothing to compare, if that is so.
    fn beyond(&self, request: &Request) -> Option<String> {
        let left_out = |dtype: &DType| self.dtypes.is_some_and(|dtypes| !dtypes.contains(dtype));
        if let Some(other) = request.operands().iter().map(Operand::dtype).find(left_out) {
            return Some(format!("{other} is left out"));
        }
        [self.left, self.right].into_iter().find_map(|side| {
            let reason = covers_request(side.capabilities(), request).err()?;
            Some(format!("{}: {reason}", side.name()))
        })
    }

    /// Judges the two implementations' outcomes.
    pub(crate) fn compare(&self, request: &Request, left: &Outcome, right: &Outcome) -> Judgement {
        let sides = [(Side::Left, self.left, left), (Side::Right, self.right, right)];
        let broken = sides.into_iter().find_map(|(side, implementation, outcome)| {
            breakage(outcome).map(|(breakage, message)| (side, implementation, breakage, message.to_owned()))
        });
        if let Some((side, implementation, breakage, message)) = broken {
            if breakage == Breakage::Interrupted {
                return Judgement::Vacuous(message);
            }
            if let Some(convention) = self.excused(request, left, right) {
                return Judgement::Convention(convention);
            }
            let detail = format!("{} {breakage}: {message}", implementation.name());
            let skipped = breakage == Breakage::Skipped;
            if skipped && answer_elements(implementation.capabilities(), request).is_err() {
                return Judgement::Vacuous(format!(
                    "beyond the limits of {}: {message}",
                    implementation.name()
                ));
            }
            if skipped && (self.skips || not_followed(implementation, request).is_some()) {
                return Judgement::Vacuous(detail);
            }
            return self.disagreement(request, Kind::Broke(side, breakage), detail, left, right);
        }
        if let Some(reason) = self.flushed(request, left, right) {
            return Judgement::Vacuous(reason);
        }
        let verdict = compare_outcomes(request, left, right, self.latitude);
        let (kind, detail) = match verdict {
            Verdict::Passed if matches!(left, Outcome::Refusal(_)) => {
                return Judgement::Agreed(Answer::Refused);
            }
            Verdict::Passed => return Judgement::Agreed(Answer::Accepted),
            Verdict::Failed(difference) => match self.excused(request, left, right) {
                Some(convention) => return Judgement::Convention(convention),
                None => (kind(&difference, left, right), difference.to_string()),
            },
            Verdict::Skipped(message) | Verdict::Errored(message) => {
                (Kind::Broke(Side::Right, Breakage::Errored), message)
            }
        };
        self.disagreement(request, kind, detail, left, right)
    }

    /// The convention by which the outcomes differ, if it is no disagreement.
    fn excused(&self, request: &Request, left: &Outcome, right: &Outcome) -> Option<Convention> {
        excused(request, [(self.left, left), (self.right, right)])
    }

    /// Why results cannot be compared: one has subnormal numbers of a dtype in which a side flushes them.
    fn flushed(&self, request: &Request, left: &Outcome, right: &Outcome) -> Option<String> {
        [self.left, self.right].into_iter().find_map(|side| {
            let capabilities = side.capabilities();
            if capabilities.flushed_subnormals.is_empty() {
                return None;
            }
            let expectations = [left, right].into_iter().filter_map(expectation_of);
            let reason =
                expectations.into_iter().find_map(|found| covers(capabilities, request, &found).err())?;
            Some(format!("{}: {reason}", side.name()))
        })
    }

    fn disagreement(
        &self,
        request: &Request,
        kind: Kind,
        detail: String,
        left: &Outcome,
        right: &Outcome,
    ) -> Judgement {
        let signature = Signature::new(self.name(), request, kind);
        let (left, right) = (Some(left.clone()), Some(right.clone()));
        Judgement::Disagreement(Box::new(Disagreement { signature, detail, left, right, rewritten: None }))
    }
}

impl Oracle for Differential<'_> {
    fn name(&self) -> String {
        format!("{}-{}", self.left.name(), self.right.name())
    }

    fn judge(&self, request: &Request) -> Judgement {
        if let Some(reason) = self.beyond(request) {
            return Judgement::Vacuous(reason);
        }
        let left = run_caught(self.left, request);
        self.compare(request, &left, &run_caught(self.right, request))
    }

    fn batch(&self) -> usize {
        self.left.batch().max(self.right.batch())
    }

    fn judge_many(&self, requests: &[&Request]) -> Vec<Judgement> {
        self.judge_until(requests, None)
    }
}

impl Differential<'_> {
    /// Judges several requests together until a deadline, if there is one. If the time is over before all are
    /// answered, returns the judgements of the first ones only.
    pub(crate) fn judge_until(&self, requests: &[&Request], deadline: Option<Instant>) -> Vec<Judgement> {
        let beyond: Vec<Option<String>> = requests.iter().map(|request| self.beyond(request)).collect();
        let asked: Vec<&Request> =
            requests.iter().zip(&beyond).filter(|(_, beyond)| beyond.is_none()).map(|(r, _)| *r).collect();
        let mut left = run_together_until(self.left, &asked, deadline).into_iter();
        let mut right = run_together_until(self.right, &asked, deadline).into_iter();
        let mut judge = |request: &Request| match (left.next(), right.next()) {
            (Some(left), Some(right)) if deadline.is_some() && (cut_off(&left) || cut_off(&right)) => None,
            (Some(left), Some(right)) => Some(self.compare(request, &left, &right)),
            _ => Some(Judgement::Vacuous("the request was not answered".into())),
        };
        let judged = |(&request, beyond): (&&Request, Option<String>)| {
            beyond.map_or_else(|| judge(request), |reason| Some(Judgement::Vacuous(reason)))
        };
        requests.iter().zip(beyond).map_while(judged).collect()
    }
}

/// Whether a request was not answered because the time was over, or the user interrupted the run.
pub(super) fn cut_off(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Errored { kind: ErrorKind::Interrupted, .. })
}

/// How an implementation failed to answer, with its message.
pub(crate) fn breakage<T>(outcome: &Outcome<T>) -> Option<(Breakage, &str)> {
    match outcome {
        Outcome::Success(_) | Outcome::Refusal(_) => None,
        Outcome::Skipped { reason } => Some((Breakage::Skipped, reason)),
        Outcome::Errored { kind, message } => Some((Breakage::from(*kind), message)),
    }
}

/// How two outcomes differ, including which side accepts and the refusal kinds.
fn kind(difference: &Difference, left: &Outcome, right: &Outcome) -> Kind {
    let refusal = |outcome: &Outcome| match outcome {
        Outcome::Refusal(Refusal { kind, .. }) => *kind,
        Outcome::Success(_) | Outcome::Skipped { .. } | Outcome::Errored { .. } => None,
    };
    match difference.kind {
        // The judge of one answer does not find the last.
        DifferenceKind::Values | DifferenceKind::Optimiser => Kind::Values,
        DifferenceKind::Shape => Kind::Shape,
        DifferenceKind::DType => Kind::DType,
        DifferenceKind::Extra => Kind::Extra,
        DifferenceKind::Refusal => Kind::Refusal(refusal(left), refusal(right)),
        DifferenceKind::WronglyRefused => Kind::Acceptance { accepts: Side::Left, refusal: refusal(right) },
        DifferenceKind::WronglyAccepted => Kind::Acceptance { accepts: Side::Right, refusal: refusal(left) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_reference::Reference;
    use broadcheck_spec::{Capabilities, Expression, Function, Operation, Rules};

    /// An implementation with the reference's capabilities and these answers.
    struct Other(fn(&Request) -> Outcome);

    impl Implementation for Other {
        fn name(&self) -> &'static str {
            "other"
        }
        fn version(&self) -> &'static str {
            "1"
        }
        fn capabilities(&self) -> &Capabilities {
            Reference.capabilities()
        }
        fn run(&self, request: &Request) -> Outcome {
            (self.0)(request)
        }
    }

    fn sum(shapes: [&[usize]; 2]) -> Request {
        let operand = |name, shape: &[usize]| {
            let values: Vec<f64> = (0..shape.iter().product()).map(|place: usize| place as f64).collect();
            Operand::dense(name, shape, values).unwrap()
        };
        let expression =
            Expression::call(Function::Add, [Expression::operand(0), Expression::operand(1)]).unwrap();
        let operands = vec![operand("a", shapes[0]), operand("b", shapes[1])];
        Request::new(Rules::Numpy, Operation::Elementwise { expression }, operands).unwrap()
    }

    fn judged(answer: fn(&Request) -> Outcome, shapes: [&[usize]; 2]) -> Option<Kind> {
        let judgement = differential(&Reference, &Other(answer), &sum(shapes));
        judgement.disagreement().map(|disagreement| disagreement.signature.kind)
    }

    #[test]
    fn equal_outcomes_agree() {
        let same = |request: &Request| Reference.run(request);
        let judgement = |shapes| differential(&Reference, &Other(same), &sum(shapes));
        assert_eq!(judgement([&[2, 1], &[3]]), Judgement::Agreed(Answer::Accepted));
        assert_eq!(judgement([&[2], &[3]]), Judgement::Agreed(Answer::Refused));
    }

    #[test]
    fn every_difference_has_its_kind() {
        let refuse: fn(&Request) -> Outcome = |_| Outcome::Refusal(Refusal::default());
        let accepts = Kind::Acceptance { accepts: Side::Left, refusal: None };
        assert_eq!(judged(refuse, [&[2], &[2]]), Some(accepts));
        assert_eq!(judged(refuse, [&[2], &[3]]), None, "a refusal without a kind matches any refusal");
        let panics: fn(&Request) -> Outcome = |_| panic!("on purpose");
        assert_eq!(judged(panics, [&[2], &[2]]), Some(Kind::Broke(Side::Right, Breakage::Panicked)));
        let skips: fn(&Request) -> Outcome = |_| Outcome::Skipped { reason: "tired".into() };
        assert_eq!(judged(skips, [&[2], &[2]]), Some(Kind::Broke(Side::Right, Breakage::Skipped)));
        let plain: fn(&Request) -> Outcome = |_| Reference.run(&sum([&[2], &[2]]));
        assert_eq!(judged(plain, [&[2], &[1]]), Some(Kind::Values));
        assert_eq!(judged(plain, [&[1, 2], &[1]]), Some(Kind::Shape));
        let accepts = Kind::Acceptance {
            accepts: Side::Right,
            refusal: Some(broadcheck_spec::RefusalKind::DimensionMismatch),
        };
        assert_eq!(judged(plain, [&[3], &[2]]), Some(accepts));
    }

    #[test]
    fn requests_of_excluded_dtypes_are_not_sent() {
        let other = Other(|_| panic!("asked"));
        let judged = |dtypes: &[DType]| {
            Differential::new(&Reference, &other).only(dtypes).judge(&sum([&[2], &[2]])).disagreement()
        };
        assert!(judged(&[DType::F32]).is_none());
        assert!(judged(&[DType::F32, DType::F64]).is_some());
    }

    #[test]
    fn batches_are_judged_like_single_requests() {
        let plain: fn(&Request) -> Outcome = |_| Reference.run(&sum([&[2], &[2]]));
        let other = Other(plain);
        let oracle = Differential::new(&Reference, &other);
        let requests = [sum([&[2], &[2]]), sum([&[3], &[1]]), sum([&[2], &[3]])];
        let together = oracle.judge_many(&requests.iter().collect::<Vec<_>>());
        let alone: Vec<Judgement> = requests.iter().map(|request| oracle.judge(request)).collect();
        assert_eq!(together, alone);
        assert_eq!(together[0], Judgement::Agreed(Answer::Accepted));
    }
}
