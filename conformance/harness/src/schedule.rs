//! Sends requests to a process, several at a time, and records what was unanswered when it breaks.

use super::question::Question;
use super::session::{Fault, Session};
use super::{Options, answer};
use broadcheck_spec::{ErrorKind, Outcome};
use std::collections::VecDeque;
use std::time::Instant;

/// A running process, and how many requests may be sent to it ahead of their answers.
pub(super) struct Worker {
    pub(super) session: Session,
    /// The maximum number of unanswered requests.
    pub(super) window: usize,
    /// Whether its first request is sent alone: if the process crashes then, the cause is certain.
    pub(super) first_alone: bool,
}

/// A request that was sent.
struct Sent {
    place: usize,
    seq: u64,
}

/// The requests that a process did not answer, oldest first, and the reason.
pub(super) struct Unanswered {
    pub(super) places: Vec<usize>,
    pub(super) before: Before,
    pub(super) fault: Fault,
}

/// What a process had answered before it broke, which may have caused it. The number of answers is not
/// recorded: it would differ between runs if several processes share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing: the oldest request is its first.
    Nothing,
    /// Requests of an earlier batch.
    Earlier,
    /// The request that was sent before the oldest unanswered one.
    Previous,
}

/// A request with the maximum number of elements in its answer.
pub(super) struct SizedRequest<'a, Q> {
    pub(super) request: &'a Q,
    pub(super) elements: usize,
}

/// Sends the requests of the queue, with at most a window of them unanswered at any time, and stores the
/// outcomes at their places. The time limit of a request starts when it becomes the oldest unanswered one.
pub(super) fn ask<Q: Question>(
    worker: &mut Worker,
    sized: &[SizedRequest<'_, Q>],
    queue: &mut VecDeque<usize>,
    options: &Options,
    outcomes: &mut [Option<Outcome<Q::Answer>>],
) -> Result<(), Unanswered> {
    let Worker { session, window, first_alone } = worker;
    let mut sent: VecDeque<Sent> = VecDeque::with_capacity(*window);
    let mut since = Instant::now();
    let mut before = if session.seq == 0 { Before::Nothing } else { Before::Earlier };
    loop {
        let window = if *first_alone && before == Before::Nothing { 1 } else { *window };
        while sent.len() < window
            && let Some(place) = queue.pop_front()
        {
            if sent.is_empty() {
                since = Instant::now();
            }
            let SizedRequest { request, elements } = sized[place];
            let seq = session.ask(request.to_value(), elements);
            sent.push_back(Sent { place, seq });
        }
        let Some(&Sent { place, seq }) = sent.front() else { return Ok(()) };
        let invalid = |why| Fault::Broken(ErrorKind::InvalidAnswer, why);
        let answered = session.receive(since, options.time_limit, options).and_then(|line| {
            answer::read(sized[place].request, sized[place].elements, seq, &line).map_err(invalid)
        });
        match answered {
            Ok(outcome) => outcomes[place] = Some(outcome),
            Err(fault) => {
                let places = sent.iter().map(|sent| sent.place).collect();
                return Err(Unanswered { places, before, fault });
            }
        }
        sent.pop_front();
        before = Before::Previous;
        since = Instant::now();
    }
}
