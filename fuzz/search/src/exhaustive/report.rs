//! What a run has counted.

use super::Finding;
use broadcheck::relations::Extent;
use broadcheck_spec::{OperationKind, RuleSet};
use std::time::Duration;

/// The outcome of a run. Nothing in it but `elapsed` depends on how the work was spread over threads.
#[derive(Clone, Debug)]
pub struct ExhaustReport {
    /// The bounds on shapes.
    pub extent: Extent,
    /// The checks: answers judged against the first implementation's, and instances of relations in which two
    /// answers were compared.
    pub checks: u64,
    /// The answers that were asked for, of all implementations.
    pub answers: u64,
    /// The requests, by rule set and operation.
    pub families: Vec<FamilyCount>,
    /// The relations, by implementation.
    pub relations: Vec<RelationCount>,
    /// How many findings there are.
    pub finding_count: u64,
    /// The first findings.
    pub findings: Vec<Finding>,
    /// Whether the run came to its end.
    pub complete: bool,
    /// How long it took.
    pub elapsed: Duration,
}

impl ExhaustReport {
    /// Whether there was something to check, everything was, and all of it held.
    pub fn held(&self) -> bool {
        self.complete && self.checks > 0 && self.finding_count == 0
    }

    /// Whether nothing was asked of an implementation: it declares nothing of what is within the bounds.
    pub fn asked_nothing(&self, name: &str) -> bool {
        let of_family = |family: &FamilyCount| {
            family.requests > 0 && family.implementations.iter().any(|one| one.implementation == name)
        };
        let of_relation = |one: &RelationCount| one.implementation == name && one.compared + one.vacuous > 0;
        !self.families.iter().any(of_family) && !self.relations.iter().any(of_relation)
    }

    /// The count of a rule set's requests, over its operations: requests, accepted, refused.
    pub fn of_rules(&self, rules: RuleSet) -> [u64; 3] {
        let families = self.families.iter().filter(|family| family.rules == rules);
        families.fold([0; 3], |[requests, accepted, refused], family| {
            [requests + family.requests, accepted + family.accepted, refused + family.refused]
        })
    }
}

/// The requests of one rule set and operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FamilyCount {
    /// The rule set.
    pub rules: RuleSet,
    /// The operation.
    pub operation: OperationKind,
    /// The requests asked; 0 where no implementation declares them.
    pub requests: u64,
    /// Those that the first of the implementations that declare them accepts.
    pub accepted: u64,
    /// Those that it refuses.
    pub refused: u64,
    /// The implementations that declare them; the first is the one that the others are judged against.
    pub implementations: Vec<AnswerCount>,
}

/// One implementation's answers to the requests of a family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerCount {
    /// The implementation.
    pub implementation: String,
    /// The answers judged against the first one's; 0 for the first itself.
    pub compared: u64,
    /// Those that differ, or broke.
    pub findings: u64,
}

/// One relation for one implementation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelationCount {
    /// The relation's name.
    pub relation: &'static str,
    /// The implementation.
    pub implementation: String,
    /// The instances in which two answers were compared, violations included.
    pub compared: u64,
    /// The instances in which there was nothing to compare.
    pub vacuous: u64,
    /// The instances in which the relation does not hold.
    pub violated: u64,
    /// Why it was not run: outside what the implementation declares.
    pub skipped: Option<String>,
}
