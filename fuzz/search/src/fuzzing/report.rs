//! The results of a run.

use super::{Counts, Found};
use crate::generate::Statistics;
use std::collections::BTreeMap;
use std::time::Duration;

/// The results of a run.
#[derive(Clone, Debug)]
pub struct FuzzReport {
    /// The counts.
    pub counts: Counts,
    /// The distinct disagreements.
    pub findings: Vec<Found>,
    /// Statistics of what was drawn, if requested.
    pub statistics: Option<Statistics>,
    /// Why requests were not compared: each reason without its numbers, and how often it occurred.
    pub reasons: BTreeMap<String, u64>,
    /// The time spent on requests.
    pub elapsed: Duration,
    /// The additional time that all threads together spent on shrinking.
    pub shrinking: Duration,
    /// How many disagreements are yet to be shrunk.
    pub waiting: usize,
    /// Disagreements that were only counted, because so many others had been found.
    pub only_counted: u64,
    /// Whether the run was completed.
    pub complete: bool,
    /// Why the state of the run could not be written at its end.
    pub unsaved: Option<String>,
    /// Why findings could not be written, or a file from before shrinking could not be removed.
    pub unwritten: Vec<String>,
}

impl FuzzReport {
    /// Requests per second, over all threads.
    fn per_second(&self) -> f64 {
        per_second(self.counts.requests, self.elapsed)
    }

    /// The run on one line: how many requests, how fast, and their outcomes.
    pub fn summary(&self) -> String {
        let Counts {
            requests,
            accepted,
            refused,
            vacuous,
            conventions,
            disagreeing,
            repeated,
            neighbours,
            distinct,
        } = self.counts;
        let conventions = match conventions {
            0 => String::new(),
            1 => "; 1 difference in a convention, not reported".into(),
            more => format!("; {more} differences in conventions, not reported"),
        };
        let share = |count: u64| share(count, requests);
        format!(
            "{requests} requests in {:.1} s, {:.0} per second: {} accepted, {} refused, {} not compared, \
             {disagreeing} disagreeing ({distinct} distinct){conventions}; {repeated} sent twice; {neighbours} neighbours; {:.1} s more for shrinking",
            self.elapsed.as_secs_f64(),
            self.per_second(),
            share(accepted),
            share(refused),
            share(vacuous),
            self.shrinking.as_secs_f64(),
        )
    }
}

impl Counts {
    pub(super) fn add(&mut self, more: &Counts) {
        let Counts {
            requests,
            accepted,
            refused,
            vacuous,
            conventions,
            disagreeing,
            repeated,
            neighbours,
            distinct: _,
        } = *more;
        for (sum, more) in [
            (&mut self.requests, requests),
            (&mut self.accepted, accepted),
            (&mut self.refused, refused),
            (&mut self.vacuous, vacuous),
            (&mut self.conventions, conventions),
            (&mut self.disagreeing, disagreeing),
            (&mut self.repeated, repeated),
            (&mut self.neighbours, neighbours),
        ] {
            // A state file may contain any number.
            *sum = sum.saturating_add(more);
        }
    }

    /// A line of progress.
    pub fn progress(&self, elapsed: Duration) -> String {
        format!(
            "{} requests, {:.0} per second, {} accepted, {} refused, {} distinct disagreements",
            self.requests,
            per_second(self.requests, elapsed),
            share(self.accepted, self.requests),
            share(self.refused, self.requests),
            self.distinct
        )
    }

    /// The number of requests that were compared.
    pub fn compared(&self) -> u64 {
        [self.accepted, self.refused, self.conventions, self.disagreeing]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

#[allow(clippy::cast_precision_loss, reason = "a figure to read; no count of requests comes near 2^53")]
fn per_second(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64().max(1e-9)
}

/// `61.5 %`.
#[allow(clippy::cast_precision_loss, reason = "a figure to read; no count of requests comes near 2^53")]
fn share(count: u64, of: u64) -> String {
    format!("{:.1} %", 100.0 * count as f64 / of.max(1) as f64)
}
