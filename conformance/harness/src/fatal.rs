//! Remembers the requests that ended a process twice, so that a run does not pay a start for each repetition.
//!
//! Sweeps send many requests more than once: a library that crashes on one of them would otherwise be started
//! again for each. The third time, the outcome of the second is repeated.

use broadcheck_spec::{ErrorKind, Outcome, Request};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a request must have ended a process before it is not sent again. Once may be chance.
const ENOUGH: usize = 2;

/// The number of requests that are remembered. Each request of a run is compared with all of them.
const MOST: usize = 256;

/// The requests that ended a process, with their outcomes.
#[derive(Default)]
pub(super) struct Fatal {
    seen: Mutex<Vec<Seen>>,
}

struct Seen {
    request: Request,
    outcome: Outcome,
    times: usize,
}

impl Fatal {
    fn seen(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a request ended a process, this many times, with this outcome. Ignored unless the process
    /// crashed or did not answer in time.
    pub(super) fn record(&self, request: &Request, outcome: &Outcome, times: usize) {
        if !is_fatal(outcome) {
            return;
        }
        let mut seen = self.seen();
        if let Some(known) = seen.iter_mut().find(|known| known.request == *request) {
            known.times += times;
            known.outcome = outcome.clone();
        } else if seen.len() < MOST {
            seen.push(Seen { request: request.clone(), outcome: outcome.clone(), times });
        }
    }

    /// The outcome of a request that is not to be sent again.
    pub(super) fn outcome(&self, request: &Request) -> Option<Outcome> {
        let seen = self.seen();
        let known = seen.iter().find(|known| known.times >= ENOUGH && known.request == *request)?;
        Some(known.outcome.clone())
    }
}

fn is_fatal(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Errored { kind: ErrorKind::Crashed | ErrorKind::TimedOut, .. })
}
