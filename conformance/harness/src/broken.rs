//! Batches that broke a process: which request is reported if none of them breaks it alone, and how many
//! requests the next batches may have.

use super::schedule::{SizedRequest, Unanswered, halve};
use super::session::Fault;
use broadcheck_spec::{ErrorKind, Outcome};
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often a batch and its parts may break a process before the rest of them is asked one by one: twice as
/// often as it takes to find one request of 256. Each time costs a start.
const MOST_BREAKS: usize = 16;

/// The batches of some requests that broke a process.
#[derive(Default)]
pub(super) struct Broken {
    whole: Vec<Whole>,
    parts: Vec<Part>,
}

/// A batch that was no part of another one that broke a process.
struct Whole {
    places: Vec<usize>,
    /// How often it and its parts broke a process.
    breaks: usize,
}

/// A batch that ended a process or was answered wrongly.
struct Part {
    places: Vec<usize>,
    how: String,
}

impl Broken {
    /// Records that a batch broke a process, and lets its requests be asked again: in batches of half its
    /// size, or alone if it broke too often.
    pub(super) fn record<Q>(&mut self, sized: &[SizedRequest<'_, Q>], batch: &Unanswered) {
        let of_batch = |places: &[usize]| places.iter().any(|place| batch.places.contains(place));
        let breaks = match self.whole.iter_mut().find(|whole| of_batch(&whole.places)) {
            Some(whole) => {
                whole.breaks += 1;
                whole.breaks
            }
            None => {
                self.whole.push(Whole { places: batch.places.clone(), breaks: 1 });
                1
            }
        };
        if breaks < MOST_BREAKS {
            halve(sized, &batch.places);
        } else {
            // Those that were answered are not asked again.
            let whole = self.whole.iter().find(|whole| of_batch(&whole.places)).into_iter();
            whole.flat_map(|whole| &whole.places).for_each(|&place| sized[place].together.set(1));
        }
        let how = match &batch.fault {
            // Nothing is wrong unless a request breaks a process again: to build many requests together may
            // take too long.
            Fault::Interrupted | Fault::Broken(ErrorKind::TimedOut, _) => return,
            Fault::Crashed(how) | Fault::Broken(_, how) => how,
        };
        self.parts.push(Part { places: batch.places.clone(), how: how.clone() });
    }

    /// Where none of the requests of a batch broke a process alone, reports the oldest, and lets the next
    /// batches have at most half as many requests; one, if it broke too often.
    pub(super) fn settle<T>(self, outcomes: &mut [Option<Outcome<T>>], most: &AtomicUsize) {
        let is_errored = |place: &usize| matches!(outcomes[*place], Some(Outcome::Errored { .. }));
        for Whole { places, breaks } in &self.whole {
            if !places.iter().any(is_errored) {
                let fewer = if *breaks < MOST_BREAKS { places.len() / 2 } else { 1 };
                most.fetch_min(fewer, Ordering::Relaxed);
            }
        }
        let without_cause = self.parts.into_iter().filter(|part| !part.places.iter().any(is_errored));
        let mut accused: Vec<Part> = Vec::new();
        // A batch comes before its parts.
        for part in without_cause {
            if !accused.iter().any(|whole| whole.places.iter().any(|place| part.places.contains(place))) {
                accused.push(part);
            }
        }
        for Part { places, how } in accused {
            let message = format!("not reproduced alone: in a batch of {} requests, {how}", places.len());
            outcomes[places[0]] = Some(Outcome::errored(ErrorKind::NotReproduced, message));
        }
    }
}
