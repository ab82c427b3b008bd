//! The results of a run.

use super::{Counts, Found, InferredCounts};
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
    /// The run on one line: how many requests and signatures, how fast, and their outcomes.
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
            declared,
            rewritten,
            inferred,
            distinct,
        } = self.counts;
        let seconds = self.elapsed.as_secs_f64();
        let rate = per_second(requests.max(inferred.signatures), self.elapsed);
        let shrinking = format!("{:.1} s more for shrinking", self.shrinking.as_secs_f64());
        if requests == 0 && inferred.signatures > 0 {
            let outcomes = inferred.outcomes();
            return format!(
                "{} signatures in {seconds:.1} s, {rate:.0} per second: {outcomes} ({distinct} distinct); {shrinking}",
                inferred.signatures
            );
        }
        let inferred = match inferred.signatures {
            0 => String::new(),
            count => format!("; {count} signatures: {}", inferred.outcomes()),
        };
        let declared = match declared {
            0 => String::new(),
            count => format!("; {count} with declared shapes"),
        };
        let rewritten = match rewritten {
            0 => String::new(),
            count => format!("; {count} rewritten"),
        };
        let share = |count: u64| share(count, requests);
        format!(
            "{requests} requests in {seconds:.1} s, {rate:.0} per second: {} accepted, {} refused, {} not compared, \
             {disagreeing} disagreeing ({distinct} distinct){}; {repeated} sent twice; {neighbours} neighbours{declared}{rewritten}{inferred}; {shrinking}",
            share(accepted),
            share(refused),
            share(vacuous),
            in_conventions(conventions),
        )
    }
}

/// The differences that are not reported.
fn in_conventions(count: u64) -> String {
    match count {
        0 => String::new(),
        1 => "; 1 difference in a convention, not reported".into(),
        more => format!("; {more} differences in conventions, not reported"),
    }
}

impl InferredCounts {
    /// The shares of all signatures: `30.1 % always accepted, 45.2 % depending on the lengths, ...`.
    fn outcomes(&self) -> String {
        let InferredCounts { signatures, always, depends, refused, wider, vacuous, conventions, disagreeing } =
            *self;
        let share = |count: u64| share(count, signatures);
        let wider = match wider {
            0 => String::new(),
            count => format!(", {count} with wider answers"),
        };
        format!(
            "{} always accepted, {} depending on the lengths, {} refused, {} not compared{wider}, {disagreeing} \
             disagreeing{}",
            share(always),
            share(depends),
            share(refused),
            share(vacuous),
            in_conventions(conventions).replace("; ", ", "),
        )
    }

    fn add(&mut self, more: &InferredCounts) {
        let InferredCounts { signatures, always, depends, refused, wider, vacuous, conventions, disagreeing } =
            *more;
        for (sum, more) in [
            (&mut self.signatures, signatures),
            (&mut self.always, always),
            (&mut self.depends, depends),
            (&mut self.refused, refused),
            (&mut self.wider, wider),
            (&mut self.vacuous, vacuous),
            (&mut self.conventions, conventions),
            (&mut self.disagreeing, disagreeing),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// The number of signatures to which answers were compared.
    fn compared(&self) -> u64 {
        [self.always, self.depends, self.refused, self.conventions, self.disagreeing]
            .into_iter()
            .fold(0, u64::saturating_add)
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
            declared,
            rewritten,
            inferred,
            distinct: _,
        } = *more;
        self.inferred.add(&inferred);
        for (sum, more) in [
            (&mut self.requests, requests),
            (&mut self.accepted, accepted),
            (&mut self.refused, refused),
            (&mut self.vacuous, vacuous),
            (&mut self.conventions, conventions),
            (&mut self.disagreeing, disagreeing),
            (&mut self.repeated, repeated),
            (&mut self.neighbours, neighbours),
            (&mut self.declared, declared),
            (&mut self.rewritten, rewritten),
        ] {
            // A state file may contain any number.
            *sum = sum.saturating_add(more);
        }
    }

    /// A line of progress.
    pub fn progress(&self, elapsed: Duration) -> String {
        let signatures = self.inferred.signatures;
        let (what, count) = if self.requests == 0 && signatures > 0 {
            ("signatures", signatures)
        } else {
            ("requests", self.requests)
        };
        let (accepted, refused) = match what {
            "requests" => (self.accepted, self.refused),
            _ => (self.inferred.always.saturating_add(self.inferred.depends), self.inferred.refused),
        };
        format!(
            "{count} {what}, {:.0} per second, {} accepted, {} refused, {} distinct disagreements",
            per_second(count, elapsed),
            share(accepted, count),
            share(refused, count),
            self.distinct
        )
    }

    /// The number of requests and signatures that were compared.
    pub fn compared(&self) -> u64 {
        [self.accepted, self.refused, self.conventions, self.disagreeing, self.inferred.compared()]
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
