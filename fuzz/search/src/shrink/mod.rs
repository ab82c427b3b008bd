//! Shrinks a request that disagrees to one that a person can read (fewer operands, a smaller expression,
//! lower ranks, smaller lengths, dense operands, plain values, default attributes), and writes it as a case.
//!
//! [`shrink`] moves greedily from request to request, each cheaper than the one before, as long as the oracle
//! still disagrees in the same way. It ends when no single step leads to a cheaper request: the request is
//! then locally minimal. It uses nothing but the oracle, so it also shrinks for implementations in other
//! processes; its steps and its time are limited for their sake. If the time limit is not reached, it gives
//! the same result for the same request.

#![warn(clippy::wildcard_enum_match_arm)]

mod case;
mod cost;
mod draft;
mod passes;
mod question;
mod write;

pub(crate) use case::titled;
pub use case::{Proposal, Sides, propose};
pub(crate) use question::cost_of_question;
pub use question::{propose_question, shrink_signature};
pub(crate) use write::{Filed, digest, file_case};
pub use write::{Written, write_case};

use crate::oracle::{Disagreement, Judgement, Oracle};
use broadcheck_judge::limits::is_as_cheap;
use broadcheck_spec::Request;
use cost::cost;
pub(crate) use cost::function_cost;
use draft::Draft;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The limits for shrinking one request.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The largest number of requests.
    pub steps: usize,
    /// The time limit.
    pub time: Duration,
    /// Set to stop early.
    pub stop: Option<&'a AtomicBool>,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits { steps: 5_000, time: Duration::from_secs(20), stop: None }
    }
}

/// The result of shrinking a request, or whatever else `R` is.
#[derive(Clone, Debug)]
pub struct Shrunk<R = Request> {
    /// The smallest request that was found.
    pub request: R,
    /// How it disagrees.
    pub disagreement: Disagreement,
    /// The number of requests that were tried.
    pub steps: usize,
    /// Whether no single step leads further. False if a limit was reached.
    pub minimal: bool,
    /// Whether the disagreement was seen again. If not, nothing was shrunk.
    pub again: Again,
}

/// Whether a disagreement was seen again when its request was repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It was.
    Reproduced,
    /// It was not, although the request was repeated.
    NotReproduced,
    /// The request was not repeated: the run was interrupted, or its time for shrinking had been used.
    NotAsked,
}

impl<R> Shrunk<R> {
    /// A disagreement as it was seen, before it is shrunk.
    pub(crate) fn unshrunk(request: R, disagreement: Disagreement) -> Shrunk<R> {
        Shrunk { request, disagreement, steps: 0, minimal: false, again: Again::NotAsked }
    }

    /// The same with another request.
    pub fn map<S>(self, other: impl FnOnce(R) -> S) -> Shrunk<S> {
        let Shrunk { request, disagreement, steps, minimal, again } = self;
        Shrunk { request: other(request), disagreement, steps, minimal, again }
    }

    /// Whether the disagreement was seen again.
    pub fn reproduced(&self) -> bool {
        self.again == Again::Reproduced
    }
}

/// How often reproducing a disagreement is tried.
const ATTEMPTS: usize = 3;

/// Shrinks a request on which an oracle disagrees to one on which it disagrees in the same way.
pub fn shrink(oracle: &dyn Oracle, request: &Request, found: Disagreement, limits: &Limits<'_>) -> Shrunk {
    let mut search = Search { oracle, limits, began: Instant::now(), steps: 0, tried: HashSet::new() };
    let again = (0..ATTEMPTS).find_map(|_| search.repeat(request, &found));
    let Some(disagreement) = again else {
        // An answer that was interrupted says nothing.
        let again = if search.stopped() { Again::NotAsked } else { Again::NotReproduced };
        return Shrunk { steps: search.steps, again, ..Shrunk::unshrunk(request.clone(), found) };
    };
    let mut best = Draft::of(request);
    let mut shrunk = Shrunk { again: Again::Reproduced, ..Shrunk::unshrunk(request.clone(), disagreement) };
    loop {
        let mut smaller = false;
        for pass in passes::PASSES {
            while let Some((draft, request, disagreement)) = search.first(&best, pass, &shrunk.disagreement) {
                best = draft;
                shrunk = Shrunk { request, disagreement, ..shrunk };
                smaller = true;
            }
        }
        shrunk.steps = search.steps;
        if search.exhausted() {
            return shrunk;
        }
        if !smaller {
            return Shrunk { minimal: true, ..shrunk };
        }
    }
}

/// Judges a request, and shrinks it if the oracle disagrees.
pub fn judge_and_shrink(
    oracle: &dyn Oracle,
    request: &Request,
    limits: &Limits<'_>,
) -> Result<Judgement, Box<Shrunk>> {
    match oracle.judge(request) {
        Judgement::Disagreement(found) => Err(Box::new(shrink(oracle, request, *found, limits))),
        judgement @ (Judgement::Agreed(_) | Judgement::Vacuous(_) | Judgement::Convention(_)) => {
            Ok(judgement)
        }
    }
}

/// The requests that were tried, and what is left of the limits.
struct Search<'a> {
    oracle: &'a dyn Oracle,
    limits: &'a Limits<'a>,
    began: Instant,
    steps: usize,
    tried: HashSet<u64>,
}

impl Search<'_> {
    fn exhausted(&self) -> bool {
        self.steps >= self.limits.steps || self.began.elapsed() >= self.limits.time || self.stopped()
    }

    fn stopped(&self) -> bool {
        self.limits.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// [`Search::ask`], unless the run was interrupted.
    fn repeat(&mut self, request: &Request, as_before: &Disagreement) -> Option<Disagreement> {
        if self.stopped() { None } else { self.ask(request, as_before) }
    }

    /// The disagreement of a request, if it is the same as before.
    fn ask(&mut self, request: &Request, as_before: &Disagreement) -> Option<Disagreement> {
        self.steps += 1;
        let found = self.oracle.judge(request).disagreement()?;
        found.signature.same_way(&as_before.signature).then_some(found)
    }

    /// The first candidate of a pass that is cheaper and still disagrees.
    fn first(
        &mut self,
        best: &Draft,
        pass: passes::Pass,
        as_before: &Disagreement,
    ) -> Option<(Draft, Request, Disagreement)> {
        let before = cost(best);
        let original = best.request()?;
        for offer in pass(best) {
            if self.exhausted() {
                return None;
            }
            if cost(&offer) >= before || !self.tried.insert(offer.fingerprint()) {
                continue;
            }
            let Some(request) = offer.request().filter(|one| is_as_cheap(one, &original)) else { continue };
            if let Some(found) = self.ask(&request, as_before) {
                return Some((offer, request, found));
            }
        }
        None
    }
}
