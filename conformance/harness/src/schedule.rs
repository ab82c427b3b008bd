//! Requests to a process, several at a time, and whose fault it is when it breaks.

use super::session::{Fault, Session};
use super::{Options, answer};
use broadcheck_spec::{ErrorKind, Outcome, Request, json};
use std::collections::VecDeque;
use std::time::Instant;

/// A request on its way.
struct Sent {
    place: usize,
    seq: u64,
}

/// Requests that a process was sent and did not answer, oldest first, and why.
pub(super) struct Unanswered {
    pub(super) places: Vec<usize>,
    pub(super) before: Before,
    pub(super) fault: Fault,
}

/// What a process had answered before it broke, and may have died of. How many they were is not said: that would
/// differ from run to run where several processes share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing: the oldest request is its first.
    Nothing,
    /// Something in an earlier batch.
    Earlier,
    /// The request that was sent before the oldest unanswered one.
    Previous,
}

/// A request with the number of elements that its answer may hold.
pub(super) struct Question<'a> {
    pub(super) request: &'a Request,
    pub(super) elements: usize,
}

/// Asks what is in the queue, with at most `window` requests unanswered at any time, and keeps the outcomes in
/// their places. The clock of a request starts when it becomes the oldest unanswered one.
pub(super) fn ask(
    session: &mut Session,
    questions: &[Question<'_>],
    queue: &mut VecDeque<usize>,
    window: usize,
    options: &Options,
    outcomes: &mut [Option<Outcome>],
) -> Result<(), Unanswered> {
    let mut sent: VecDeque<Sent> = VecDeque::with_capacity(window);
    let mut since = Instant::now();
    let mut before = if session.seq == 0 { Before::Nothing } else { Before::Earlier };
    loop {
        while sent.len() < window
            && let Some(place) = queue.pop_front()
        {
            if sent.is_empty() {
                since = Instant::now();
            }
            let Question { request, elements } = questions[place];
            let seq = session.ask(json::request_to_value(request), elements);
            sent.push_back(Sent { place, seq });
        }
        let Some(&Sent { place, seq }) = sent.front() else { return Ok(()) };
        let invalid = |why| Fault::Broken(ErrorKind::InvalidAnswer, why);
        let answered = session
            .receive(since, options.time_limit, options)
            .and_then(|line| answer::read(questions[place].request, seq, &line).map_err(invalid));
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
