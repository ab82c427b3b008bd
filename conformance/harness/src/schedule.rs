//! Sends requests to a process, several at a time, and records what was unanswered when it breaks.

use super::batch::{self, Answers};
use super::question::Question;
use super::session::{Fault, Session};
use super::{Options, answer};
use broadcheck_spec::{ErrorKind, Outcome};
use std::cell::Cell;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many times as long as a request a batch may take.
pub(super) const BATCH_TIMES: u32 = 3;

/// The maximum number of elements of the operands and answers of a batch together: a message is one line, and
/// takes many times as much memory while it is written and read.
const MOST_ELEMENTS: usize = 1 << 20;

/// A running process, and how many requests may be sent to it ahead of their answers.
pub(super) struct Worker {
    pub(super) session: Session,
    /// The maximum number of unanswered requests.
    pub(super) window: usize,
    /// The maximum number of requests in a message. If it is more than 1, one message at a time is
    /// unanswered.
    pub(super) batch: usize,
    /// Whether its first request is sent alone: if the process crashes then, the cause is certain.
    pub(super) first_alone: bool,
}

/// A message that was sent: a request, or a batch of them.
struct Sent {
    places: Vec<usize>,
    /// The number of the first request.
    seq: u64,
}

/// The requests that a process did not answer, oldest first, and the reason.
pub(super) struct Unanswered {
    pub(super) places: Vec<usize>,
    pub(super) before: Before,
    pub(super) fault: Fault,
    /// Whether they were one batch of several requests.
    pub(super) together: bool,
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
    /// The maximum number of requests in a batch that contains it.
    pub(super) together: Cell<usize>,
}

/// Sends the requests of the queue, with at most a window of them unanswered at any time, and stores the
/// outcomes at their places. The time limit of a request starts when it becomes the oldest unanswered one.
///
/// A request of a batch that has no answer of its own returns to the queue, for a smaller batch.
pub(super) fn ask<Q: Question>(
    worker: &mut Worker,
    sized: &[SizedRequest<'_, Q>],
    queue: &mut VecDeque<usize>,
    options: &Options,
    outcomes: &mut [Option<Outcome<Q::Answer>>],
) -> Result<(), Unanswered> {
    let Worker { session, window, batch, first_alone } = worker;
    let batch = if Q::IN_BATCHES { *batch } else { 1 };
    let mut sent: VecDeque<Sent> = VecDeque::with_capacity(*window);
    let mut since = Instant::now();
    let mut before = if session.seq == 0 { Before::Nothing } else { Before::Earlier };
    loop {
        let alone = batch > 1 || *first_alone && before == Before::Nothing;
        let window = if alone { 1 } else { *window };
        while sent.len() < window && !queue.is_empty() {
            if sent.is_empty() {
                since = Instant::now();
            }
            let places = next(sized, queue, batch);
            let seq = send(session, sized, &places);
            sent.push_back(Sent { places, seq });
        }
        let Some(first) = sent.front() else { return Ok(()) };
        let limit = time_limit(options, first.places.len());
        let read = session.receive(since, limit, options).and_then(|line| {
            let stored = store(sized, first, &line, outcomes);
            stored.map_err(|why| Fault::Broken(ErrorKind::InvalidAnswer, why))
        });
        match read {
            Ok(again) => again.into_iter().rev().for_each(|place| queue.push_front(place)),
            Err(fault) => {
                let together = first.places.len() > 1;
                let places = sent.into_iter().flat_map(|sent| sent.places).collect();
                return Err(Unanswered { places, before, fault, together });
            }
        }
        sent.pop_front();
        before = Before::Previous;
        since = Instant::now();
    }
}

/// How long the answer to a message with this number of requests may take.
pub(super) fn time_limit(options: &Options, count: usize) -> Duration {
    if count > 1 { options.time_limit * BATCH_TIMES } else { options.time_limit }
}

/// Takes the requests of the next message out of the queue: as many as each of them allows, and as are not
/// too large together.
fn next<Q: Question>(sized: &[SizedRequest<'_, Q>], queue: &mut VecDeque<usize>, batch: usize) -> Vec<usize> {
    let mut places = Vec::new();
    let (mut most, mut elements) = (batch, 0usize);
    while let Some(&place) = queue.front() {
        let one = &sized[place];
        most = most.min(one.together.get());
        elements = elements.saturating_add(one.elements).saturating_add(one.request.values());
        if !places.is_empty() && (places.len() >= most || elements > MOST_ELEMENTS) {
            break;
        }
        places.push(place);
        queue.pop_front();
    }
    places
}

/// Sends one request as `run`, and several as `batch`. Returns the number of the first.
fn send<Q: Question>(session: &mut Session, sized: &[SizedRequest<'_, Q>], places: &[usize]) -> u64 {
    match places {
        [place] => session.ask(sized[*place].request.to_value(), sized[*place].elements),
        _ => {
            let elements = elements(sized, places);
            session.ask_together(places.iter().map(|&place| sized[place].request.to_value()), elements)
        }
    }
}

/// The maximum number of elements in the answers to these requests.
fn elements<Q>(sized: &[SizedRequest<'_, Q>], places: &[usize]) -> usize {
    places.iter().fold(0, |sum, &place| sum.saturating_add(sized[place].elements))
}

/// Stores the outcomes of a line at their places. Returns the places that are to be asked again: what a batch
/// reports as an error may be the fault of another of its requests.
fn store<Q: Question>(
    sized: &[SizedRequest<'_, Q>],
    sent: &Sent,
    line: &[u8],
    outcomes: &mut [Option<Outcome<Q::Answer>>],
) -> Result<Vec<usize>, String> {
    if let [place] = sent.places[..] {
        let SizedRequest { request, elements, .. } = sized[place];
        outcomes[place] = Some(answer::read(request, elements, sent.seq, line)?);
        return Ok(Vec::new());
    }
    let requests: Vec<&Q> = sent.places.iter().map(|&place| sized[place].request).collect();
    match batch::read(&requests, elements(sized, &sent.places), sent.seq, line)? {
        Answers::Unbatched => {
            halve(sized, &sent.places);
            Ok(sent.places.clone())
        }
        Answers::Each(answers) => {
            let mut again = Vec::new();
            for (&place, outcome) in sent.places.iter().zip(answers) {
                if matches!(outcome, Outcome::Errored { .. }) {
                    sized[place].together.set(1);
                    again.push(place);
                } else {
                    outcomes[place] = Some(outcome);
                }
            }
            Ok(again)
        }
    }
}

/// Lets these requests of one batch be asked again only in batches of half its size.
pub(super) fn halve<Q>(sized: &[SizedRequest<'_, Q>], places: &[usize]) {
    places.iter().for_each(|&place| sized[place].together.set(places.len().div_ceil(2)));
}
