//! Remembers the requests that ended a process twice, so that a run does not pay a start for each repetition.
//!
//! Sweeps send many requests more than once: a library that crashes on one of them would otherwise be started
//! again for each. The third time, the outcome of the second is repeated.

use super::question::Question;
use broadcheck_spec::{ErrorKind, Outcome};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a request must have ended a process before it is not sent again. Once may be chance.
const ENOUGH: usize = 2;

/// The number of requests that are remembered. Each request of a run is compared with all of them.
const MOST: usize = 256;

/// The requests that ended a process, with their outcomes.
pub(super) struct Fatal<Q: Question> {
    seen: Mutex<Vec<Seen<Q>>>,
}

struct Seen<Q: Question> {
    request: Q,
    outcome: Outcome<Q::Answer>,
    times: usize,
}

impl<Q: Question> Default for Fatal<Q> {
    fn default() -> Fatal<Q> {
        Fatal { seen: Mutex::default() }
    }
}

impl<Q: Question> Fatal<Q> {
    fn seen(&self) -> MutexGuard<'_, Vec<Seen<Q>>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a request ended a process, this many times, with this outcome. Ignored unless the process
    /// crashed or did not answer in time.
    pub(super) fn record(&self, request: &Q, outcome: &Outcome<Q::Answer>, times: usize) {
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
    pub(super) fn outcome(&self, request: &Q) -> Option<Outcome<Q::Answer>> {
        let seen = self.seen();
        let known = seen.iter().find(|known| known.times >= ENOUGH && known.request == *request)?;
        Some(known.outcome.clone())
    }
}

fn is_fatal<T>(outcome: &Outcome<T>) -> bool {
    matches!(outcome, Outcome::Errored { kind: ErrorKind::Crashed | ErrorKind::TimedOut, .. })
}
