//! Counts what was generated, to show that the generator leaves nothing out.

mod corners;
mod count;

use super::near::is_near;
use broadcheck_spec::{Outcome, Request};
use count::Topic;
use std::fmt;

/// One in this many refusals is checked for being a near miss, which takes a hundred times as long as drawing
/// it.
const SAMPLE_EVERY: u64 = 64;

/// Counts of requests, of their parts, and of their outcomes.
///
/// ```
/// use broadcheck_search::generate::{Profile, Seeded, Statistics, request};
/// use broadcheck_spec::Implementation;
/// use broadcheck_search::subjects;
///
/// let reference = broadcheck_reference::Reference::new();
/// let (mut choices, mut statistics) = (Seeded::new(1), Statistics::default());
/// for _ in 0..200 {
///     let request = request(&mut choices, &Profile::all());
///     statistics.add(&request, &reference.run(&request));
/// }
/// assert_eq!(statistics.requests(), 200);
/// assert!(statistics.count("outcome", "accepted") > 100);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statistics {
    requests: u64,
    refused: u64,
    topics: Vec<Topic>,
}

impl Default for Statistics {
    fn default() -> Statistics {
        Statistics { requests: 0, refused: 0, topics: count::topics() }
    }
}

impl Statistics {
    /// Counts a request and its outcome.
    pub fn add(&mut self, request: &Request, outcome: &Outcome) {
        self.requests += 1;
        count::request(request, &mut self.topics);
        count::outcome(request, outcome, &mut self.topics);
        if matches!(outcome, Outcome::Refusal(_)) {
            self.refused += 1;
            if self.refused % SAMPLE_EVERY == 1 {
                count::add(&mut self.topics, "refused (sample)", usize::from(!is_near(request)));
            }
        }
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Statistics) {
        self.requests += other.requests;
        self.refused += other.refused;
        for (topic, other) in self.topics.iter_mut().zip(&other.topics) {
            topic.merge(other);
        }
    }

    /// How many requests were counted.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// The topics, in the order in which they are printed.
    pub fn topics(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.topics.iter().map(|topic| topic.title)
    }

    /// The counts of a topic; nothing if there is no such topic.
    pub fn counts(&self, topic: &str) -> impl Iterator<Item = (&str, u64)> + '_ {
        let topic = self.topics.iter().find(|other| other.title == topic);
        topic.into_iter().flat_map(Topic::counts)
    }

    /// One count; 0 if there is no such topic or name.
    pub fn count(&self, topic: &str, name: &str) -> u64 {
        self.counts(topic).find(|&(other, _)| other == name).map_or(0, |(_, count)| count)
    }
}

/// A paragraph for each topic: `dtype: f64 812  f32 790 …`.
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} requests", self.requests)?;
        for topic in &self.topics {
            let counts: Vec<String> = topic.counts().map(|(name, count)| format!("{name} {count}")).collect();
            writeln!(f, "{}: {}", topic.title, counts.join(", "))?;
        }
        Ok(())
    }
}
