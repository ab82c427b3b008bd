//! Checks a relation over many requests at a time, for implementations that answer a batch faster.
//!
//! A relation sends one request after another, and the next request may depend on the last answer. So each
//! check is replayed from its beginning with the answers so far, up to the first request without an answer.
//! Those requests of all checks are then sent as one batch. A replay takes far less time than the answer of a
//! process.

use crate::relations::{Original, Relation, Satisfied, Violation};
use crate::run::run_together;
use broadcheck_spec::{Capabilities, ErrorKind, Implementation, Outcome, Request};
use std::sync::{Mutex, PoisonError};

/// The result of [`Relation::check`] for each request and variation, in order.
pub(super) fn check_batch(
    implementation: &dyn Implementation,
    relation: &Relation,
    requests: &[(Request, u128)],
) -> Vec<Result<Satisfied, Box<Violation>>> {
    let mut answers: Vec<Vec<Outcome>> = vec![Vec::new(); requests.len()];
    let mut checked: Vec<Option<_>> = vec![None; requests.len()];
    let mut unchecked: Vec<usize> = (0..requests.len()).collect();
    while !unchecked.is_empty() {
        let mut wanted: Vec<Request> = Vec::new();
        unchecked.retain(|&place| {
            let replay = Replay::new(implementation, &answers[place]);
            let (request, variation) = &requests[place];
            let result = relation.check(&Original::strict(&replay, request), *variation);
            match replay.into_wanted() {
                Some(request) => wanted.push(request),
                None => checked[place] = Some(result),
            }
            checked[place].is_none()
        });
        let outcomes = run_together(implementation, &wanted.iter().collect::<Vec<_>>());
        for (&place, outcome) in unchecked.iter().zip(outcomes) {
            answers[place].push(outcome);
        }
    }
    checked.into_iter().map(|result| result.expect("every request is checked")).collect()
}

/// Returns the answers so far, in order, and records the first request beyond them.
struct Replay<'a> {
    implementation: &'a dyn Implementation,
    answers: &'a [Outcome],
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    sent: usize,
    wanted: Option<Request>,
}

impl<'a> Replay<'a> {
    fn new(implementation: &'a dyn Implementation, answers: &'a [Outcome]) -> Replay<'a> {
        Replay { implementation, answers, progress: Mutex::default() }
    }

    fn into_wanted(self) -> Option<Request> {
        self.progress.into_inner().unwrap_or_else(PoisonError::into_inner).wanted
    }
}

impl Implementation for Replay<'_> {
    fn name(&self) -> &str {
        self.implementation.name()
    }

    fn version(&self) -> &str {
        self.implementation.version()
    }

    fn capabilities(&self) -> &Capabilities {
        self.implementation.capabilities()
    }

    fn run(&self, request: &Request) -> Outcome {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self.answers.get(progress.sent).cloned();
        progress.sent += 1;
        answer.unwrap_or_else(|| {
            progress.wanted.get_or_insert_with(|| request.clone());
            Outcome::errored(ErrorKind::NotStarted, "not answered yet")
        })
    }

    fn allowed_ulp(&self) -> u32 {
        self.implementation.allowed_ulp()
    }
}
