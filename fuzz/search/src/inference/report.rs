//! The counts and findings of a run.

use super::{Bounds, Finding};
use broadcheck_spec::RuleSet;
use std::time::Duration;

/// The outcome of a run. Only `elapsed` depends on how the work was spread over threads.
#[derive(Clone, Debug)]
pub struct InferReport {
    /// The bounds.
    pub bounds: Bounds,
    /// The signatures, by rule set.
    pub rules: Vec<RulesCount>,
    /// How many findings there are.
    pub finding_count: u64,
    /// The first findings.
    pub findings: Vec<Finding>,
    /// The first answers that are wider than exact and no findings, for each implementation.
    pub wider: Vec<Finding>,
    /// Whether the run was completed rather than ended early.
    pub complete: bool,
    /// How long it took.
    pub elapsed: Duration,
}

impl InferReport {
    /// Whether the run is complete, at least one answer was judged, and none failed.
    pub fn held(&self) -> bool {
        let expressible = self.rules.iter().all(|count| count.inexpressible == 0);
        self.complete && self.answers() > 0 && self.finding_count == 0 && expressible
    }

    /// The number of signatures.
    pub fn signatures(&self) -> u64 {
        self.rules.iter().map(|count| count.signatures).sum()
    }

    /// The number of answers that were judged.
    pub fn answers(&self) -> u64 {
        self.rules.iter().flat_map(|count| &count.implementations).map(AnswerCount::judged).sum()
    }

    /// Whether an implementation got no signature, because it declares none within the bounds.
    pub fn asked_nothing(&self, name: &str) -> bool {
        let mut of_name = self
            .rules
            .iter()
            .flat_map(|count| &count.implementations)
            .filter(|one| one.implementation == name);
        of_name.all(|one| one.judged() == 0)
    }
}

/// The signatures of one rule set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesCount {
    /// The rule set.
    pub rules: RuleSet,
    /// The signatures.
    pub signatures: u64,
    /// Those of which every run is accepted.
    pub always: u64,
    /// Those of which some runs are accepted.
    pub depends: u64,
    /// Those of which no run is accepted.
    pub refused: u64,
    /// The concretisations that were tried, over all signatures.
    pub runs: u64,
    /// The signatures with more concretisations than were tried.
    pub sampled: u64,
    /// The signatures whose accepted results no shape expresses, against INFER-3. It must be 0.
    pub inexpressible: u64,
    /// The implementations.
    pub implementations: Vec<AnswerCount>,
}

/// One implementation's answers to the signatures of a rule set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerCount {
    /// The implementation.
    pub implementation: String,
    /// The answers that are what the runs give.
    pub exact: u64,
    /// Those that admit more, and are no findings.
    pub wider: u64,
    /// Those that differ only by a convention that the implementation does not declare.
    pub conventions: u64,
    /// Those that are wrong, missing, or wider where that is a finding.
    pub failed: u64,
    /// Those that were also compared with the first implementation's.
    pub compared: u64,
    /// The signatures outside what the implementation declares.
    pub not_asked: u64,
}

impl AnswerCount {
    /// The answers that were judged.
    pub fn judged(&self) -> u64 {
        self.exact + self.wider + self.conventions + self.failed
    }
}
