//! Checks many instances of a relation at a time, for implementations that answer several requests faster together.
//!
//! A relation asks one request after the other, and what it asks next may follow from what was answered. So each
//! instance is checked again from its beginning with the answers that are there, until it wants one more; the
//! requests that are wanted by all instances are asked together. A check takes far less time than a process's
//! answer.

use crate::relations::{Held, Instance, Relation};
use crate::run::run_caught;
use broadcheck_spec::{Capabilities, ErrorKind, Implementation, Outcome, Request};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// What [`Relation::check`] says of each instance, in order.
pub(super) fn check_together(
    implementation: &dyn Implementation,
    relation: &Relation,
    instances: &[Instance],
) -> Vec<Result<Held, String>> {
    let mut answers: Vec<Vec<Outcome>> = vec![Vec::new(); instances.len()];
    let mut checked: Vec<Option<Result<Held, String>>> = vec![None; instances.len()];
    let mut unchecked: Vec<usize> = (0..instances.len()).collect();
    while !unchecked.is_empty() {
        let mut wanted: Vec<Request> = Vec::new();
        unchecked.retain(|&place| {
            let replay = Replay::new(implementation, &answers[place]);
            let held = relation.check(&replay, &instances[place]);
            match replay.into_wanted() {
                Some(request) => wanted.push(request),
                None => checked[place] = Some(held),
            }
            checked[place].is_none()
        });
        for (&place, outcome) in unchecked.iter().zip(ask_together(implementation, &wanted)) {
            answers[place].push(outcome);
        }
    }
    checked.into_iter().map(|held| held.expect("every instance is checked")).collect()
}

/// One outcome per request. After a panic, or where there is not one outcome each, they are asked one by one.
fn ask_together(implementation: &dyn Implementation, requests: &[Request]) -> Vec<Outcome> {
    let requests: Vec<&Request> = requests.iter().collect();
    let outcomes = catch_unwind(AssertUnwindSafe(|| implementation.run_many(&requests))).unwrap_or_default();
    if outcomes.len() == requests.len() {
        return outcomes;
    }
    requests.into_iter().map(|request| run_caught(implementation, request)).collect()
}

/// Gives the answers that are there, in order, and keeps the first request beyond them.
struct Replay<'a> {
    implementation: &'a dyn Implementation,
    answers: &'a [Outcome],
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    asked: usize,
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
        let answer = self.answers.get(progress.asked).cloned();
        progress.asked += 1;
        answer.unwrap_or_else(|| {
            progress.wanted.get_or_insert_with(|| request.clone());
            Outcome::errored(ErrorKind::NotStarted, "not answered yet")
        })
    }

    fn allowed_ulp(&self) -> u32 {
        self.implementation.allowed_ulp()
    }

    fn orders_zeros(&self) -> bool {
        self.implementation.orders_zeros()
    }
}
