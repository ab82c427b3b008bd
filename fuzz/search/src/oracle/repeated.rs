//! Sends an implementation the same request twice. An answer that depends on thread scheduling, uninitialised
//! memory or earlier requests will differ between the runs.

use super::differential::cut_off;
use super::signature::{Kind, Signature};
use super::{Answer, Disagreement, Judgement, Oracle};
use broadcheck::run::{run_caught, run_together_until};
use broadcheck_judge::compare::same_outcome;
use broadcheck_spec::{ErrorKind, Implementation, Outcome, Request};
use std::time::Instant;

/// The same request gives the same outcome twice, to the bit.
pub(crate) struct Repeated<'a> {
    implementation: &'a dyn Implementation,
}

impl<'a> Repeated<'a> {
    /// Checks this implementation.
    pub(crate) fn new(implementation: &'a dyn Implementation) -> Repeated<'a> {
        Repeated { implementation }
    }

    fn compare(&self, request: &Request, first: Outcome, second: Outcome) -> Judgement {
        match (&first, &second) {
            (Outcome::Success(_), _) if same_outcome(&first, &second) => {
                return Judgement::Agreed(Answer::Accepted);
            }
            (Outcome::Refusal(_), _) if same_outcome(&first, &second) => {
                return Judgement::Agreed(Answer::Refused);
            }
            // Failing both times is for the other oracles to report.
            (Outcome::Skipped { .. }, Outcome::Skipped { .. })
            | (Outcome::Errored { .. }, Outcome::Errored { .. }) => {
                return Judgement::Vacuous("the request was not answered".into());
            }
            (_, Outcome::Errored { kind: ErrorKind::Interrupted, message }) => {
                return Judgement::Vacuous(message.clone());
            }
            _ => {}
        }
        let detail = format!("{} gives different answers to the same request", self.implementation.name());
        let signature = Signature::new(self.name(), request, Kind::Nondeterministic);
        let (left, right) = (Some(first), Some(second));
        Judgement::Disagreement(Box::new(Disagreement { signature, detail, left, right, rewritten: None }))
    }
}

impl Oracle for Repeated<'_> {
    fn name(&self) -> String {
        format!("repeated-{}", self.implementation.name())
    }

    fn judge(&self, request: &Request) -> Judgement {
        if let Err(reason) = self.implementation.capabilities().covers(request) {
            return Judgement::Vacuous(reason);
        }
        let first = run_caught(self.implementation, request);
        self.compare(request, first, run_caught(self.implementation, request))
    }

    fn batch(&self) -> usize {
        self.implementation.batch()
    }

    fn judge_many(&self, requests: &[&Request]) -> Vec<Judgement> {
        if self.implementation.batch() <= 1 {
            return requests.iter().map(|request| self.judge(request)).collect();
        }
        self.judge_until(requests, None)
    }
}

impl Repeated<'_> {
    /// Judges several requests together until a deadline, if there is one. If the time is over before all are
    /// answered, returns the judgements of the first ones only.
    pub(crate) fn judge_until(&self, requests: &[&Request], deadline: Option<Instant>) -> Vec<Judgement> {
        let first = run_together_until(self.implementation, requests, deadline);
        let second = run_together_until(self.implementation, requests, deadline);
        let judge = |(request, (one, two)): (&&Request, (Outcome, Outcome))| {
            let over = deadline.is_some() && (cut_off(&one) || cut_off(&two));
            (!over).then(|| self.compare(request, one, two))
        };
        requests.iter().zip(first.into_iter().zip(second)).map_while(judge).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use broadcheck_reference::Reference;
    use broadcheck_spec::{Capabilities, Expression, Operand, Operation, Rules, Tensor};
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Returns how often it was called.
    struct Counting(AtomicU32);

    impl Implementation for Counting {
        fn name(&self) -> &'static str {
            "counting"
        }
        fn version(&self) -> &'static str {
            "1"
        }
        fn capabilities(&self) -> &Capabilities {
            Reference.capabilities()
        }
        fn run(&self, _: &Request) -> Outcome {
            let asked = f64::from(self.0.fetch_add(1, Ordering::Relaxed));
            Outcome::Success(Tensor::new([1], vec![asked]).unwrap().into())
        }
    }

    #[test]
    fn an_answer_that_changes_is_reported() {
        let operation = Operation::Elementwise { expression: Expression::operand(0) };
        let operand = Operand::dense("a", [1], vec![1.0]).unwrap();
        let request = Request::new(Rules::Numpy, operation, vec![operand]).unwrap();
        assert_eq!(Repeated::new(&Reference).judge(&request), Judgement::Agreed(Answer::Accepted));
        let counting = Counting(AtomicU32::new(0));
        let found = Repeated::new(&counting).judge(&request).disagreement().unwrap();
        assert_eq!(found.signature.kind, Kind::Nondeterministic);
        assert_eq!(found.signature.slug(), "numpy/repeated-counting/unsteady/plain-f64");
    }
}
